/* The pins of a loop: see pin_list.h. */
#include "settings/pin_list.h"

#include "settings/goal.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add(struct pin_list *list, enum pins_kind kind, const char *pattern, const char *why,
		const char *origin)
{
	list->items = mem_extend(list->items, list->count, sizeof *list->items);
	list->items[list->count++] = (struct pin_list_item){
		.kind = kind,
		.pattern = mem_dup(pattern),
		.why = mem_dup(why),
		.origin = mem_dup(origin),
	};
}

static void add_setting(struct pin_list *list, const struct config *config, enum setting_id id,
			enum pins_kind kind)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		if (value->setting->id == id && value->state == CONFIG_ACTIVE)
			add(list, kind, value->text, pins_kind_says(kind), value->origin);
	}
}

/* Returns where a check is set. */
static const char *origin_of(const struct config *config, const char *check)
{
	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].setting->id == SETTING_CHECK &&
		    config->values[i].state == CONFIG_ACTIVE &&
		    strcmp(config->values[i].text, check) == 0)
			return config->values[i].origin;
	return "found in the project";
}

/* Adds what a check names. A word such as the target of make may name no file. */
static void add_check(struct pin_list *list, const char *project, const char *check,
		      const char *origin)
{
	AUTO_FREE char *named = mem_format("named by the check '%s'", check);
	struct pins pins = { 0 };
	const char *pattern;

	pins_add_check(&pins, project, check);
	for (size_t i = 0; i < pins.scripts.count; i++) {
		AUTO_FREE char *path = path_join(project, pins.scripts.items[i]);

		if (access(path, F_OK) == 0)
			add(list, PINS_SCRIPT, path + strlen(project), named, origin);
	}
	for (size_t i = 0; i < pins.readers.count; i++) {
		const char *reader = pins.readers.items[i];
		AUTO_FREE char *read = mem_format("read by %s, which the check '%s' names", reader,
						  check);

		for (size_t k = 0; (pattern = pins_reader_pattern(reader, k)); k++)
			add(list, PINS_SCRIPT, pattern, read, origin);
	}
	pins_release(&pins);
}

static void add_all(struct pin_list *list, const struct effective *effective, const json_t *checks)
{
	const struct config *config = &effective->config;
	enum pins_kind kind;
	const char *pattern;
	size_t index;
	json_t *check;

	add_setting(list, config, SETTING_UNPIN, PINS_NOT);
	add_setting(list, config, SETTING_PIN, PINS_CHOSEN);
	json_array_foreach(checks, index, check)
	{
		const char *line = json_string_value(check);

		add_check(list, effective->place.project, line, origin_of(config, line));
	}
	for (size_t i = 0; (kind = pins_built_in(i)); i++)
		for (size_t k = 0; (pattern = pins_pattern(kind, k)); k++)
			add(list, kind, pattern, pins_kind_says(kind), "built-in");
}

/* Returns the setting that turns pins off, or NULL. */
static const char *switched_off(const struct config *config)
{
	if (!effective_loop_number(config, SETTING_CHECK_VIEW))
		return "check-view is false";
	return effective_loop_number(config, SETTING_CHECKPOINTS) ? NULL : "checkpoints is false";
}

void pin_list_make(const struct effective *effective, struct pin_list *ret_list)
{
	const char *off = switched_off(&effective->config);
	struct pin_list list = { 0 };
	struct goal goal = { 0 };
	struct error err;

	if (off)
		list.nothing = mem_dup(off);
	else if (goal_decide(effective, &goal, &err) < 0)
		list.nothing = mem_format("a loop would not start: %s", err.text);
	else if (!json_array_size(goal.checks))
		list.nothing = mem_dup("there is no check");
	else
		add_all(&list, effective, goal.checks);
	goal_release(&goal);
	*ret_list = list;
}

void pin_list_release(struct pin_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].pattern);
		free(list->items[i].why);
		free(list->items[i].origin);
	}
	free(list->items);
	free(list->nothing);
	*list = (struct pin_list){ 0 };
}
