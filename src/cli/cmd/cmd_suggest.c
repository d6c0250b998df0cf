/* ringfence suggest: what to set so that harmless things are not denied again. */
#include "cli/cli.h"
#include "cli/settings/effective.h"
#include "cli/settings/suggest.h"
#include "cli/view/notice.h"
#include "fence/fence_place.h"
#include "fence/fence_report.h"
#include "util/fd.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

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
	{ "EXAMPLES", "  ringfence suggest                    for the last run in this project\n"
		      "  ringfence suggest report.json\n"
		      "  ringfence suggest | patch -p0 ~/.config/ringfence/config.yml\n" },
	{ 0 },
};

/* What to work on: a report, or one without denials where none was kept. NULL with err set. */
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
		error_set(err, "'%s' is no report: line %d: %s", path, where.line, where.text);
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
		notice_format("not offered: %s %s (%s)", all->withheld[i].kind,
			      all->withheld[i].target, all->withheld[i].why);
}

/* What cannot be a diff is printed as it would stand in the file. */
static void print_entries(const struct suggest_list *all)
{
	notice("no diff can extend your config.yml (a list in one line, or no newline at its end); add by hand:");
	for (size_t i = 0; i < all->count; i++) {
		AUTO_BUFFER struct buffer path = BUFFER_INIT(8192);

		text_json(&path, all->items[i].path);
		printf("%s: [%s]  # %s\n", all->items[i].key, buffer_text(&path),
		       all->items[i].risk);
	}
}

/* The user's own file; the diff is against what is in it now. */
static void print_diff(const struct suggest_options *asked, const struct suggest_list *all)
{
	const struct fence_identity *identity = &asked->effective.place.identity;
	AUTO_FREE char *path = config_user_path(identity->home, identity->switched);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	AUTO_BUFFER struct buffer diff = BUFFER_INIT(64 << 20);
	AUTO_FD fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;

	if (fd >= 0)
		fd_read_all(fd, &text);
	if (!path || suggest_by_hand(all, &asked->effective.config, buffer_text(&text))) {
		print_entries(all);
		return;
	}
	suggest_diff(all, &asked->effective.config, identity->home, path, buffer_text(&text),
		     &diff);
	fputs(buffer_text(&diff), stdout);
}

static void tell_nothing(json_t *report, bool kept)
{
	if (kept && !json_array_size(json_object_get(report, "denials")))
		notice("no denial is known of the last run here; reads are only traced with: "
		       "ringfence exec --trace-reads -- COMMAND");
	else
		notice("there is nothing to suggest");
}

static int show(struct suggest_options *asked, json_t *report, bool kept, struct error *err)
{
	static char *const nothing[] = { (char *)"true", NULL };
	struct suggest_list all;

	asked->effective.spec.command = nothing;
	if (suggest(report, &asked->effective.spec, &all, err) < 0)
		return cli_fail(err);
	if (asked->json) {
		print_json(&all);
	} else {
		print_withheld(&all);
		if (all.count)
			print_diff(asked, &all);
		else
			tell_nothing(report, kept);
	}
	suggest_list_release(&all);
	return cli_printed();
}

static int load_and_show(struct suggest_options *asked, const char *path, struct error *err)
{
	struct effective *effective = &asked->effective;
	AUTO_FREE char *kept = NULL;
	json_t *report;
	int code;

	/* Read with the rights of who asked: root may become the project's owner below. */
	report = path ? read_report(path, false, err) : NULL;
	if (path && !report)
		return cli_fail(err);
	if (report && !effective->spec.project)
		effective->spec.project = json_string_value(json_object_get(report, "project"));
	if (effective_spec(effective, err) < 0) {
		json_decref(report);
		return effective_fail(&effective->config, err);
	}
	if (!report) {
		kept = fence_report_kept(effective->place.state, effective->place.project);
		report = read_report(kept, true, err);
	}
	code = report ? show(asked, report, !path, err) : cli_fail(err);
	json_decref(report);
	return code;
}

static int run_suggest(const struct cli_command *command, char **argv)
{
	struct suggest_options asked = { 0 };
	struct error err;
	char **rest;
	int code;

	effective_init(&asked.effective);
	rest = cli_begin(command, argv, &asked, &code);
	if (rest)
		code = load_and_show(&asked, *rest, &err);
	effective_release(&asked.effective);
	return code;
}

const struct cli_command cmd_suggest = {
	.name = "suggest",
	.args = "[--json] [--project DIR] [REPORT]",
	.most = 1,
	.help = "rules that would have allowed what was denied",
	.about =
		"Reads what was denied in the last run here (or in a report) and prints the smallest set of rules that would have "
		"allowed the harmless part of it, each with its risk, as a diff to your own config.yml. It was tried before it is "
		"offered, and it is never applied by itself. Secrets and what the host executes are never offered.",
	.options = options,
	.sections = sections,
	.run = run_suggest,
};
