/* ringfence config: every value with where it comes from, and the reference of settings. */
#include "cli/apply.h"
#include "cli/cli.h"
#include "cli/reference.h"
#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

struct config_options {
	const char *project;
	bool json;
	bool explain;
	bool reference;
};

#define OPTIONS struct config_options *asked = options

static int take_project(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)err;
	asked->project = value;
	return 0;
}

static int take_json(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)value;
	(void)err;
	asked->json = true;
	return 0;
}

static int take_explain(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)value;
	(void)err;
	asked->explain = true;
	return 0;
}

static int take_reference(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)value;
	(void)err;
	asked->reference = true;
	return 0;
}

static const struct option options[] = {
	{ "project", "DIR", "the project's folder (default: the current one)", take_project },
	{ "json", NULL, "as JSON", take_json },
	{ "explain", NULL, "the reference of all settings, or of the one that is named",
	  take_explain },
	{ "reference", NULL, "the reference as a document (docs/configuration.md)",
	  take_reference },
	{ 0 },
};

/* A row of the table: a value, or a list that has none. */
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

		if (value->setting == setting && value->state != CONFIG_REPLACED)
			add_row(rows, setting, value->text, value->origin,
				value->state == CONFIG_INACTIVE
					? "  NOT ACTIVE: it widens the fence (ringfence trust)"
					: "");
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
		add_setting_rows(&rows, config, &settings[i]);
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

static void add_strings(struct buffer *json, const char *name, const struct list *list)
{
	buffer_printf(json, "  \"%s\": [", name);
	for (size_t i = 0; i < list->count; i++) {
		buffer_add_text(json, i ? ", " : "");
		text_json(json, list->items[i]);
	}
	buffer_add_text(json, "]");
}

static void add_value(struct buffer *json, const char *key, const char *text, const char *origin,
		      const char *state, bool first)
{
	buffer_printf(json, "%s\n    {\"key\": \"%s\", \"value\": ", first ? "" : ",", key);
	text_json(json, text);
	buffer_add_text(json, ", \"origin\": ");
	text_json(json, origin);
	buffer_printf(json, ", \"state\": \"%s\"}", state);
}

static void print_json(const struct fence_place *place, const struct config *config)
{
	static const char *const trusts[] = { "nothing widens", "untrusted", "changed", "trusted" };
	AUTO_BUFFER struct buffer json = BUFFER_INIT(64 << 20);
	bool first = true;

	buffer_add_text(&json, "{\n  \"project\": ");
	text_json(&json, place->project);
	buffer_add_text(&json, ",\n");
	add_strings(&json, "files", &config->files);
	buffer_printf(&json, ",\n  \"trust\": \"%s\",\n", trusts[config->trust]);
	add_strings(&json, "notices", &config->notices);
	buffer_add_text(&json, ",\n  \"values\": [");
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		if (value->state == CONFIG_REPLACED)
			continue;
		add_value(&json, value->setting->key, value->text, value->origin,
			  value->state == CONFIG_INACTIVE ? "inactive" : "active", first);
		first = false;
	}
	buffer_add_text(&json, "\n  ],\n  \"patterns\": [");
	for (size_t i = 0; i < config->ignore.count; i++)
		add_value(&json, "hide", config->ignore.items[i].text,
			  config->ignore.items[i].origin, "active", i == 0);
	buffer_add_text(&json, config->ignore.count ? "\n  ]\n}\n" : "]\n}\n");
	fputs(buffer_text(&json), stdout);
}

static int show(const struct config_options *asked, struct error *err)
{
	struct fence_place place = { 0 };
	struct config config;
	int code;

	config_init(&config);
	if (apply_load(asked->project, &place, &config, err) < 0) {
		code = apply_fail(&config, err);
	} else {
		if (asked->json)
			print_json(&place, &config);
		else
			print_table(&config);
		code = cli_printed();
	}
	config_release(&config);
	fence_place_release(&place);
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
		if (setting && setting != &settings[i])
			continue;
		if (!setting && i > 0)
			printf("\n");
		reference_explain(&settings[i]);
	}
	return cli_printed();
}

static int run_config(const struct command *command, char **argv)
{
	struct config_options asked = { 0 };
	struct error err;
	bool help = false;
	char **rest = cli_parse(command, argv, &asked, &help, &err);
	const char *key = rest && asked.explain ? *rest : NULL;

	if (help)
		return cli_print_help(command);
	if (rest && rest[key ? 1 : 0]) {
		error_set(&err, "config takes no argument '%s' (ringfence config --explain KEY)",
			  rest[key ? 1 : 0]);
		return cli_fail(&err);
	}
	if (!rest)
		return cli_fail(&err);
	if (asked.explain)
		return explain(key, &err);
	if (asked.reference) {
		reference_print();
		return cli_printed();
	}
	return show(&asked, &err);
}

const struct command cmd_config = {
	.name = "config",
	.args = "[--json] [--project DIR] | --explain [KEY] | --reference",
	.help = "show every setting with where its value comes from",
	.about =
		"Shows what holds for a project: each value with the file and line, or the built-in table, that it comes from. What a "
		"project's ringfence.yml asks for and does not get is marked.",
	.options = options,
	.sections = (const struct section[]){ { 0 } },
	.run = run_config,
};
