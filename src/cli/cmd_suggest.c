/* ringfence suggest: what to set so that harmless things are not denied again. */
#include "cli/apply.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "cli/suggest.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct suggest_options {
	struct fence_spec spec;
	struct fence_place place;
	struct config config;
	bool json;
};

static int take_project(void *options, const char *value, struct error *err)
{
	(void)err;
	((struct suggest_options *)options)->spec.project = value;
	return 0;
}

static int take_json(void *options, const char *value, struct error *err)
{
	(void)value;
	(void)err;
	((struct suggest_options *)options)->json = true;
	return 0;
}

static const struct option options[] = {
	{ "project", "DIR", "the project's folder (default: the current one)", take_project },
	{ "json", NULL, "as JSON", take_json },
	{ 0 },
};

static const struct section sections[] = {
	{ "EXAMPLES", "  ringfence suggest                    for the last run in this project\n"
		      "  ringfence suggest report.json\n"
		      "  ringfence suggest | patch -p0 ~/.config/ringfence/config.yml\n" },
	{ 0 },
};

static json_t *read_report(const char *path, bool kept, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(64 << 20);
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	json_error_t where;
	json_t *report;

	if (fd < 0 && kept && errno == ENOENT) {
		error_set(err, "nothing was denied in the last run here; to look at another one: "
			       "ringfence suggest REPORT");
		return NULL;
	}
	if (fd < 0 || fd_read_all(fd, &bytes) < 0) {
		error_sys(err, "read the report '%s'", path);
		return NULL;
	}
	report = json_loadb(bytes.data ? bytes.data : "", bytes.used, 0, &where);
	if (!report)
		error_set(err, "'%s' is no report: line %d: %s", path, where.line, where.text);
	return report;
}

static void print_json(const struct suggestions *all)
{
	AUTO_BUFFER struct buffer json = BUFFER_INIT(64 << 20);

	buffer_add_text(&json, "{\n  \"offered\": [");
	for (size_t i = 0; i < all->count; i++) {
		buffer_printf(&json, "%s\n    {\"key\": \"%s\", \"value\": ", i ? "," : "",
			      all->items[i].key);
		text_json(&json, all->items[i].path);
		buffer_add_text(&json, ", \"risk\": ");
		text_json(&json, all->items[i].risk);
		buffer_printf(&json, ", \"allows\": %zu}", all->items[i].allows);
	}
	buffer_add_text(&json, "\n  ],\n  \"withheld\": [");
	for (size_t i = 0; i < all->withheld_count; i++) {
		buffer_add_text(&json, i ? ",\n    {\"kind\": " : "\n    {\"kind\": ");
		text_json(&json, all->withheld[i].kind);
		buffer_add_text(&json, ", \"target\": ");
		text_json(&json, all->withheld[i].target);
		buffer_add_text(&json, ", \"why\": ");
		text_json(&json, all->withheld[i].why);
		buffer_add_text(&json, "}");
	}
	buffer_add_text(&json, "\n  ]\n}\n");
	fputs(buffer_text(&json), stdout);
}

static void print_withheld(const struct suggestions *all)
{
	for (size_t i = 0; i < all->withheld_count; i++) {
		AUTO_FREE char *target = text_escaped(all->withheld[i].target);
		AUTO_FREE char *why = text_escaped(all->withheld[i].why);

		fprintf(stderr, "[ringfence] not offered: %s %s (%s)\n", all->withheld[i].kind,
			target, why);
	}
}

/* The user's own file; the diff is against what is in it now. */
static void print_diff(const struct suggest_options *asked, const struct suggestions *all)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = asked->place.identity.home;
	AUTO_FREE char *folder = xdg && xdg[0] == '/' ? mem_dup(xdg) : path_join(home, ".config");
	AUTO_FREE char *path = path_join(folder, "ringfence/config.yml");
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	AUTO_BUFFER struct buffer diff = BUFFER_INIT(64 << 20);
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		fd_read_all(fd, &text);
	suggest_diff(all, &asked->config, home, path, buffer_text(&text), &diff);
	fputs(buffer_text(&diff), stdout);
}

static int show(struct suggest_options *asked, json_t *report, struct error *err)
{
	static char *const nothing[] = { (char *)"true", NULL };
	struct suggestions all;

	asked->spec.command = nothing;
	asked->spec.place = &asked->place;
	if (suggest(report, &asked->spec, &all, err) < 0)
		return cli_fail(err);
	if (asked->json) {
		print_json(&all);
	} else {
		print_withheld(&all);
		if (all.count)
			print_diff(asked, &all);
		else
			fprintf(stderr, "[ringfence] there is nothing to suggest\n");
	}
	suggestions_release(&all);
	return cli_printed();
}

static int load_and_show(struct suggest_options *asked, const char *path, struct error *err)
{
	AUTO_FREE char *kept = NULL;
	json_t *report;
	int code;

	/* Read with the rights of who asked: root may become the project's owner below. */
	report = path ? read_report(path, false, err) : NULL;
	if (path && !report)
		return cli_fail(err);
	if (report && !asked->spec.project)
		asked->spec.project = json_string_value(json_object_get(report, "project"));
	if (apply_load(asked->spec.project, &asked->place, &asked->config, err) < 0 ||
	    apply_config(&asked->config, &asked->spec, err) < 0) {
		json_decref(report);
		return apply_fail(&asked->config, err);
	}
	if (!report) {
		kept = report_kept_path(asked->place.state, asked->place.project);
		report = read_report(kept, true, err);
	}
	code = report ? show(asked, report, err) : cli_fail(err);
	json_decref(report);
	return code;
}

static int run_suggest(const struct command *command, char **argv)
{
	struct suggest_options asked = { 0 };
	struct error err;
	bool help = false;
	char **rest;
	int code;

	config_init(&asked.config);
	rest = cli_parse(command, argv, &asked, &help, &err);
	if (!rest || (!help && *rest && cli_no_more(command, rest + 1, &err) < 0))
		code = cli_fail(&err);
	else if (help)
		code = cli_print_help(command);
	else
		code = load_and_show(&asked, *rest, &err);
	fence_spec_release(&asked.spec);
	fence_place_release(&asked.place);
	config_release(&asked.config);
	return code;
}

const struct command cmd_suggest = {
	.name = "suggest",
	.args = "[--json] [--project DIR] [REPORT]",
	.help = "rules that would have allowed what was denied",
	.about =
		"Reads what was denied in the last run here (or in a report) and prints the smallest set of rules that would have "
		"allowed the harmless part of it, each with its risk, as a diff to your own config.yml. It was tried before it is "
		"offered, and it is never applied by itself. Secrets and what the host executes are never offered.",
	.options = options,
	.sections = sections,
	.run = run_suggest,
};
