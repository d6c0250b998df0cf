/* ringfence init: write a first ringfence.yml for a project. */
#include "cli/cli.h"
#include "project/project.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char file_name[] = "ringfence.yml";

struct init_options {
	const char *project;
	bool print;
	bool force;
};

static const struct cli_option options[] = {
	OPTION_PROJECT(struct init_options, project),
	OPTION_FLAG("print", "print the file instead of writing it", struct init_options, print),
	OPTION_FLAG("force", "replace an existing file", struct init_options, force),
	{ 0 },
};

/* Adds a list entry, quoted if YAML could read it as something other than text. */
static void add_entry(struct buffer *out, const char *text)
{
	buffer_add_text(out, "  - ");
	if ((isalnum((unsigned char)text[0]) || strchr("./~", text[0])) &&
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ./_~-") ==
		    strlen(text))
		buffer_add_text(out, text);
	else
		text_json(out, text);
	buffer_add_text(out, "\n");
}

static void add_list(struct buffer *out, const char *comment, const char *key,
		     const struct list *entries, const char *example)
{
	buffer_printf(out, "\n# %s\n", comment);
	if (!entries || !entries->count) {
		buffer_printf(out, "# %s:\n%s", key, example);
		return;
	}
	buffer_printf(out, "%s:\n", key);
	for (size_t i = 0; i < entries->count; i++)
		add_entry(out, entries->items[i]);
}

static void compose(const struct project *project, struct buffer *out)
{
	buffer_add_text(
		out,
		"# Rules for commands that Ringfence runs here. All keys: ringfence config --explain\n"
		"# Values that widen the fence are inactive until `ringfence trust`.\n");
	if (project->count)
		buffer_add_text(out, "# Found:");
	for (size_t i = 0; i < project->count; i++)
		buffer_printf(out, "%s %s (%s)", i ? "," : "", project->kinds[i].name,
			      project->kinds[i].evidence);
	if (project->count)
		buffer_add_text(out, ".\n");
	add_list(out, "The work is done when these commands succeed.", "check", &project->checks,
		 "#   - make test\n");
	add_list(out, "Readable in addition to the project.", "read", NULL, "#   - ~/datasets\n");
	add_list(out, "Hidden, in addition to .env files, keys and credentials.", "hide",
		 &project->secrets, "#   - config/production.yml\n");
	add_list(out, "Writable. If anything is listed here, the rest of the project is read-only.",
		 "write", NULL, "#   - src\n#   - tests\n");
}

/* Writes the file, never through a symlink, and never over an existing file without --force. */
static int store(const char *folder, const struct buffer *text, bool force, struct error *err)
{
	AUTO_FREE char *path = path_join(folder, file_name);
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_sys(err, "open '%s'", folder);
	if ((force ? durable_replace : durable_create)(fd, file_name, text->data, text->used,
						       0644) == 0)
		return 0;
	if (errno == EEXIST)
		return error_set(err, "'%s' already exists; use --force to replace it", path);
	return error_sys(err, "write '%s'", path);
}

static void report(const struct project *project)
{
	printf("wrote %s", file_name);
	for (size_t i = 0; i < project->count; i++)
		printf("%s%s", i ? ", " : " for ", project->kinds[i].name);
	printf("\n");
	if (project->checks.count)
		puts("to activate its checks: ringfence trust");
	printf("to see the rules in effect: ringfence policy\n");
}

static int write_config(const struct init_options *opts, struct error *err)
{
	AUTO_FREE char *folder = realpath(opts->project ? opts->project : ".", NULL);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	struct project project;
	int result = 0;

	if (!folder && errno == ENOENT && opts->project)
		return error_set(err, "--project '%s': there is no such folder", opts->project);
	if (!folder)
		return error_sys(err, "--project '%s'", opts->project ? opts->project : ".");
	if (project_detect(folder, &project, err) < 0)
		return -1;
	compose(&project, &text);
	if (opts->print)
		fputs(buffer_text(&text), stdout);
	else if ((result = store(folder, &text, opts->force, err)) == 0)
		report(&project);
	project_release(&project);
	return result;
}

static int run_init(const struct cli_command *command, char **argv)
{
	struct init_options opts = { 0 };
	struct error err;
	int code;

	if (!cli_parse(command, argv, &opts, &code))
		return code;
	if (write_config(&opts, &err) < 0)
		return cli_fail(&err);
	return cli_flush();
}

const struct cli_command cmd_init = {
	.name = "init",
	.args = "[--project DIR] [--print] [--force]",
	.summary = "write a first ringfence.yml",
	.description =
		"Detects what the project is made of (node, python, rust, go, C, java, or several) and "
		"writes a small, commented ringfence.yml: commands that check the work, and files "
		"to hide.",
	.options = options,
	.sections = (const struct cli_section[]){ { 0 } },
	.run = run_init,
};
