/* ringfence config: show every setting and its origin, and print the reference of settings. */
#include "cli/cli.h"
#include "cli/view/reference.h"
#include "fence/fence_place.h"
#include "settings/effective.h"
#include "util/mem.h"
#include "util/text/json.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>

struct config_options {
	const char *project;
	bool json;
	bool explain;
	bool reference;
};

static const struct cli_option options[] = {
	OPTION_PROJECT(struct config_options, project),
	OPTION_JSON(struct config_options, json),
	OPTION_FLAG("explain", "explain all settings, or only KEY", struct config_options, explain),
	OPTION_FLAG("reference", "print the reference of all settings (docs/configuration.md)",
		    struct config_options, reference),
	{ 0 },
};

/* A row of the table: a value, or an empty list. */
struct row {
	const struct setting *setting;
	char *text;
	char *origin;
	const char *mark;
};

struct rows {
	struct row *items;
	size_t count;
};

static void add_row(struct rows *rows, const struct setting *setting, const char *text,
		    const char *origin, const char *mark)
{
	rows->items = mem_resize(rows->items, rows->count + 1, sizeof *rows->items);
	rows->items[rows->count++] = (struct row){ setting, text_escaped(text),
						   text_escaped(origin), mark };
}

static void add_setting_rows(struct rows *rows, const struct config *config,
			     const struct setting *setting)
{
	size_t before = rows->count;

	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		if (value->setting != setting || value->state == CONFIG_REPLACED)
			continue;
		add_row(rows, setting, value->text, value->origin,
			value->state == CONFIG_INACTIVE
				? "  NOT ACTIVE: widens the fence (ringfence trust)"
				: "");
		if (value->layer == CONFIG_BUILT_IN && setting->in_loop)
			add_row(rows, setting, setting->in_loop, "built-in, in a loop", "");
	}
	for (size_t i = 0; setting->id == SETTING_HIDE && i < config->ignore.count; i++)
		add_row(rows, setting, config->ignore.items[i].text, config->ignore.items[i].origin,
			"  (pattern)");
	if (rows->count == before)
		add_row(rows, setting, "[]", "built-in", "");
}

static size_t shorter(size_t size, size_t most)
{
	return size < most ? size : most;
}

static void print_rows(const struct rows *rows)
{
	enum { WIDEST_VALUE = 48, WIDEST_ORIGIN = 40 };
	size_t key = 0;
	size_t text = 0;
	size_t origin = 0;

	for (size_t i = 0; i < rows->count; i++) {
		size_t sizes[] = { strlen(rows->items[i].setting->key),
				   shorter(strlen(rows->items[i].text), WIDEST_VALUE),
				   shorter(strlen(rows->items[i].origin), WIDEST_ORIGIN) };

		key = sizes[0] > key ? sizes[0] : key;
		text = sizes[1] > text ? sizes[1] : text;
		origin = sizes[2] > origin ? sizes[2] : origin;
	}
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->items[i];
		bool same = i > 0 && rows->items[i - 1].setting == row->setting;

		printf("%-*s  %-*s  %-*s%s\n", (int)key, same ? "" : row->setting->key, (int)text,
		       row->text, *row->mark ? (int)origin : 0, row->origin, row->mark);
	}
}

static void print_table(const struct config *config)
{
	struct rows rows = { 0 };

	for (size_t i = 0; i < SETTING_ID_COUNT; i++)
		add_setting_rows(&rows, config, setting_at(i));
	print_rows(&rows);
	for (size_t i = 0; i < rows.count; i++) {
		mem_free_pointer(&rows.items[i].text);
		mem_free_pointer(&rows.items[i].origin);
	}
	mem_free_pointer(&rows.items);
	for (size_t i = 0; i < config->notices.count; i++) {
		AUTO_FREE char *shown = text_escaped(config->notices.items[i]);

		printf("%s%s\n", i == 0 ? "\n" : "", shown);
	}
}

static void add_value(struct json *json, const char *key, const char *text, const char *origin,
		      const char *state, const char *in_loop)
{
	json_open(json, NULL, '{');
	json_text(json, "key", key);
	json_text(json, "value", text);
	if (in_loop)
		json_text(json, "in_loop", in_loop);
	json_text(json, "origin", origin);
	json_text(json, "state", state);
	json_close(json);
}

static void print_json(const struct fence_place *place, const struct config *config)
{
	static const char *const trusts[] = { "nothing widens", "untrusted", "changed", "trusted" };
	AUTO_BUFFER struct buffer out = BUFFER_INIT(64 << 20);
	struct json json = JSON_INIT(&out);

	json_open(&json, NULL, '{');
	json_text(&json, "project", place->project);
	json_list(&json, "files", &config->files);
	json_text(&json, "trust", trusts[config->trust]);
	json_list(&json, "notices", &config->notices);
	json_open(&json, "values", '[');
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		if (value->state != CONFIG_REPLACED)
			add_value(&json, value->setting->key, value->text, value->origin,
				  value->state == CONFIG_INACTIVE ? "inactive" : "active",
				  value->layer == CONFIG_BUILT_IN ? value->setting->in_loop : NULL);
	}
	json_close(&json);
	json_open(&json, "patterns", '[');
	for (size_t i = 0; i < config->ignore.count; i++)
		add_value(&json, "hide", config->ignore.items[i].text,
			  config->ignore.items[i].origin, "active", NULL);
	json_close(&json);
	json_close(&json);
	fputs(buffer_text(&out), stdout);
}

static int show(const struct config_options *opts, struct error *err)
{
	struct effective effective;
	int code;

	effective_init(&effective);
	effective.spec.project = opts->project;
	if (effective_load(&effective, err) < 0) {
		code = cli_fail_config(&effective.config, err);
	} else {
		if (opts->json)
			print_json(&effective.place, &effective.config);
		else
			print_table(&effective.config);
		code = cli_flush();
	}
	effective_release(&effective);
	return code;
}

static int explain(const char *key, struct error *err)
{
	const char *nearest = NULL;
	const struct setting *setting = key ? setting_find(key, &nearest) : NULL;

	if (key && !setting) {
		error_set(err, "there is no setting '%s'%s%s%s (ringfence config --explain)", key,
			  nearest ? "; did you mean '" : "", nearest ? nearest : "",
			  nearest ? "'?" : "");
		return cli_fail(err);
	}
	for (size_t i = 0; i < SETTING_ID_COUNT; i++) {
		if (setting && setting != setting_at(i))
			continue;
		if (!setting && i > 0)
			printf("\n");
		reference_explain(setting_at(i));
	}
	return cli_flush();
}

static int run_config(const struct cli_command *command, char **argv)
{
	struct config_options opts = { 0 };
	struct error err;
	int code;
	char **rest = cli_parse(command, argv, &opts, &code);

	if (!rest)
		return code;
	if (opts.explain || *rest)
		return explain(*rest, &err);
	if (opts.reference) {
		reference_print();
		return cli_flush();
	}
	return show(&opts, &err);
}

const struct cli_command cmd_config = {
	.name = "config",
	.args = "[--json] [--project DIR] | KEY | --explain | --reference",
	.max_args = 1,
	.summary = "show every setting and where its value comes from",
	.description =
		"Shows the settings in effect for a project, each with its origin: a file and line, or "
		"built-in. Values of the project's ringfence.yml that are not active are marked. With KEY, "
		"explains that setting.",
	.options = options,
	.sections = (const struct cli_section[]){ { 0 } },
	.run = run_config,
};
