/* ringfence suggest: suggest rules that would have allowed harmless denials. */
#include "cli/cli.h"
#include "cli/view/notice.h"
#include "fence/fence_place.h"
#include "fence/fence_report.h"
#include "settings/effective.h"
#include "settings/suggest.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/json.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

struct suggest_options {
	struct effective effective;
	bool json;
};

static const struct cli_option options[] = {
	OPTION_PROJECT(struct suggest_options, effective.spec.project),
	OPTION_JSON(struct suggest_options, json),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence suggest                    the last run in this project\n"
		      "  ringfence suggest report.json\n"
		      "  ringfence suggest | patch -p0 ~/.config/ringfence/config.yml\n" },
	{ 0 },
};

/* Reads a report. A kept report that does not exist counts as one without denials. Returns NULL
 * with err set. */
static json_t *read_report(const char *path, bool kept, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(64 << 20);
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	json_error_t where;
	json_t *report;

	if (fd < 0 && kept && errno == ENOENT)
		return json_pack("{s:[]}", "denials");
	if (fd < 0 || fd_read_all(fd, &bytes) < 0) {
		error_sys(err, "read the report '%s'", path);
		return NULL;
	}
	report = json_loadb(bytes.data ? bytes.data : "", bytes.used, 0, &where);
	if (!report)
		error_set(err, "'%s' is not a report: line %d: %s", path, where.line, where.text);
	return report;
}

static void print_json(const struct suggest_list *all)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(64 << 20);
	struct json json = JSON_INIT(&out);

	json_open(&json, NULL, '{');
	json_open(&json, "offered", '[');
	for (size_t i = 0; i < all->count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "key", all->items[i].key);
		json_text(&json, "value", all->items[i].path);
		json_text(&json, "risk", all->items[i].risk);
		json_number(&json, "allows", all->items[i].allows);
		json_close(&json);
	}
	json_close(&json);
	json_open(&json, "withheld", '[');
	for (size_t i = 0; i < all->withheld_count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "kind", all->withheld[i].kind);
		json_text(&json, "target", all->withheld[i].target);
		json_text(&json, "why", all->withheld[i].why);
		json_close(&json);
	}
	json_close(&json);
	json_close(&json);
	fputs(buffer_text(&out), stdout);
}

static void print_withheld(const struct suggest_list *all)
{
	for (size_t i = 0; i < all->withheld_count; i++)
		notice_format("not suggested: %s %s (%s)", all->withheld[i].kind,
			      all->withheld[i].target, all->withheld[i].why);
}

/* Prints entries for a file that cannot be patched. */
static void print_entries(const struct suggest_list *all)
{
	notice("cannot make a diff of your config.yml (it has a list on one line, or no newline at its "
	       "end); add by hand:");
	for (size_t i = 0; i < all->count; i++) {
		AUTO_BUFFER struct buffer path = BUFFER_INIT(8192);

		text_json(&path, all->items[i].path);
		printf("%s: [%s]  # %s\n", all->items[i].key, buffer_text(&path),
		       all->items[i].risk);
	}
}

/* Prints a diff against the user's own config.yml. */
static void print_diff(const struct suggest_options *opts, const struct suggest_list *all)
{
	const struct fence_identity *identity = &opts->effective.place.identity;
	AUTO_FREE char *path = config_user_path(identity->home, identity->switched);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	AUTO_BUFFER struct buffer diff = BUFFER_INIT(64 << 20);
	AUTO_FD fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;

	if (fd >= 0)
		fd_read_all(fd, &text);
	if (!path || suggest_by_hand(all, &opts->effective.config, buffer_text(&text))) {
		print_entries(all);
		return;
	}
	suggest_diff(all, &opts->effective.config, identity->home, path, buffer_text(&text), &diff);
	fputs(buffer_text(&diff), stdout);
}

static void report_nothing(json_t *report, bool kept)
{
	if (kept && !json_array_size(json_object_get(report, "denials")))
		notice("the last run here has no recorded denials; denied reads are recorded only with: "
		       "ringfence exec --trace-reads -- COMMAND");
	else
		notice("nothing to suggest");
}

static int show(struct suggest_options *opts, json_t *report, bool kept, struct error *err)
{
	static char *const nothing[] = { (char *)"true", NULL };
	struct suggest_list all;

	opts->effective.spec.command = nothing;
	if (suggest(report, &opts->effective.spec, &all, err) < 0)
		return cli_fail(err);
	if (opts->json) {
		print_json(&all);
	} else {
		print_withheld(&all);
		if (all.count)
			print_diff(opts, &all);
		else
			report_nothing(report, kept);
	}
	suggest_list_release(&all);
	return cli_flush();
}

static int load_and_show(struct suggest_options *opts, const char *path, struct error *err)
{
	struct effective *effective = &opts->effective;
	AUTO_FREE char *kept = NULL;
	json_t *report;
	int code;

	/* Read the report with the caller's rights: root may become the project's owner below. */
	report = path ? read_report(path, false, err) : NULL;
	if (path && !report)
		return cli_fail(err);
	if (report && !effective->spec.project)
		effective->spec.project = jsonget_string(report, "project");
	if (effective_spec(effective, err) < 0) {
		json_decref(report);
		return cli_fail_config(&effective->config, err);
	}
	if (!report) {
		kept = fence_report_kept(effective->place.state, effective->place.project);
		report = read_report(kept, true, err);
	}
	code = report ? show(opts, report, !path, err) : cli_fail(err);
	json_decref(report);
	return code;
}

static int run_suggest(const struct cli_command *command, char **argv)
{
	struct suggest_options opts = { 0 };
	struct error err;
	char **rest;
	int code;

	effective_init(&opts.effective);
	rest = cli_parse(command, argv, &opts, &code);
	if (rest)
		code = load_and_show(&opts, *rest, &err);
	effective_release(&opts.effective);
	return code;
}

const struct cli_command cmd_suggest = {
	.name = "suggest",
	.args = "[--json] [--project DIR] [REPORT]",
	.max_args = 1,
	.summary = "suggest rules that would have allowed what was denied",
	.description =
		"Reads the denials of the last run here, or of a report, and prints the smallest set of "
		"rules that would have allowed the harmless ones, each with its risk, as a diff of your own "
		"config.yml. Every suggestion was tried before; none is applied automatically. Secrets and "
		"files that the host executes are never suggested.",
	.options = options,
	.sections = sections,
	.run = run_suggest,
};
