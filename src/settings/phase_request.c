/* The phases of a loop: see phase_request.h. */
#include "settings/phase_request.h"

#include "loop/client.h"
#include "settings/loop_limits.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { PROMPT_BYTES = 1 << 20 };

/* A loop must be able to read every request. */
_Static_assert((int)PHASE_TEXT_MOST <= (int)LOOP_PHASES_MAX, "phases of a loop");
_Static_assert((int)PHASE_TEXT_CONDITIONS <= (int)LOOP_PHASE_CONDITIONS_MAX,
	       "conditions of a phase");

/* The means to make phases. */
struct making {
	struct effective *effective;
	const char *promise;
	struct choice_list *agents;
	struct list *notices;
};

static int read_prompt(const char *path, struct buffer *text, struct error *err)
{
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_sys(err, "read prompt-file '%s'", path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, "prompt-file '%s' is not a regular file", path);
	return fd_read_all(fd, text) < 0 ? error_sys(err, "read prompt-file '%s'", path) : 0;
}

static int add_prompt(const json_t *phase, json_t *terms, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(PROMPT_BYTES);
	const char *file = jsonget_string(phase, "prompt-file");

	if (json_object_get(phase, "prompt"))
		json_object_set(terms, "prompt", json_object_get(phase, "prompt"));
	if (!file)
		return 0;
	if (read_prompt(file, &text, err) < 0)
		return -1;
	if (json_object_set_new(terms, "prompt", json_string(buffer_text(&text))) < 0)
		return error_set(err, "prompt-file '%s' is not valid UTF-8", file);
	return 0;
}

/* `none` is an empty list. */
static void add_write(const json_t *phase, json_t *terms)
{
	const json_t *write = json_object_get(phase, "write");
	bool none = write && strcmp(json_string_value(json_array_get(write, 0)), "none") == 0;

	if (write)
		json_object_set_new(terms, "write",
				    none ? json_array() : json_copy((json_t *)write));
}

/* Refuses what the loop may not do: a phase only narrows it. */
static int check_write(const struct making *making, const json_t *terms, struct error *err)
{
	const struct fence_spec *spec = &making->effective->spec;

	if (json_array_size(json_object_get(terms, "write")) && spec->read_only &&
	    !spec->write.count)
		return error_set(err, "write: the project is read-only (%s)",
				 spec->read_only_origin ? spec->read_only_origin : "--read-only");
	if (json_object_get(terms, "write") && spec->accepted_weaker & FENCE_WEAKER_NO_FENCE)
		list_printf(making->notices,
			    "NO FENCE: nothing keeps the phase '%s' from changing other files",
			    jsonget_text(terms, "name"));
	return 0;
}

static int add_condition(const struct making *making, const char *text, json_t *list,
			 struct error *err)
{
	enum phase_text_until kind;
	const char *rest;
	uint64_t count = 0;

	if (phase_text_until(text, &kind, &rest, err) < 0)
		return -1;
	if (kind == PHASE_TEXT_PROMISE)
		rest = making->promise ? making->promise : PROMISE_DEFAULT;
	if (kind == PHASE_TEXT_ITERATIONS)
		text_count(rest, &count);
	json_array_append_new(list,
			      json_pack("{s:s, s:s, s:I}", "kind", phase_text_until_name(kind),
					"text", kind == PHASE_TEXT_ITERATIONS ? "" : rest, "count",
					(json_int_t)count));
	return 0;
}

/* By default, the rules of the loop end a phase. */
static int add_until(const struct making *making, const json_t *phase, json_t *terms,
		     struct error *err)
{
	json_t *list = json_array();
	size_t index;
	const json_t *text;

	json_object_set_new(terms, "until", list);
	json_array_foreach(json_object_get(phase, "until"), index, text)
	{
		if (add_condition(making, json_string_value(text), list, err) < 0)
			return -1;
	}
	return json_array_size(list)
		       ? 0
		       : add_condition(making, phase_text_until_name(PHASE_TEXT_DONE), list, err);
}

static int add_limits(const json_t *phase, json_t *terms, struct error *err)
{
	static const enum setting_id ids[] = { SETTING_MAX_ITERATIONS, SETTING_MAX_COST,
					       SETTING_BUDGET, SETTING_TIMEOUT };

	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
		const struct setting *setting = setting_at(ids[i]);
		const char *text = jsonget_string(phase, setting->key);
		uint64_t number;

		if (text && setting_parse(setting, text, &number, err) < 0)
			return -1;
		if (text)
			loop_limits_set(terms, setting, number);
	}
	if (strcmp(jsonget_text(phase, "on-limit"), "next") == 0)
		json_object_set_new(terms, "skips", json_true());
	return 0;
}

static int add_agents(const struct making *making, const json_t *phase, struct phase_request *made,
		      struct error *err)
{
	const struct choice_team_request team = { .effective = making->effective,
						  .agents = jsonget_string(phase, "agent"),
						  .model = jsonget_string(phase, "model") };
	size_t index;
	const json_t *rung;

	made->own_agents = team.agents || team.model;
	if (made->own_agents &&
	    choice_add_team(&team, making->agents, &made->agents, making->notices, err) < 0)
		return -1;
	made->own_rungs = json_object_get(phase, "escalate");
	json_array_foreach(json_object_get(phase, "escalate"), index, rung)
	{
		const struct choice_team_request one = { .effective = making->effective,
							 .agents = json_string_value(rung) };
		struct choice_team added;

		if (choice_add_team(&one, making->agents, &added, making->notices, err) < 0)
			return -1;
		if (index == 0)
			made->rungs.first = added.first;
		made->rungs.count += added.count;
	}
	return 0;
}

static int make_phase(const struct making *making, const json_t *phase, struct phase_request *made,
		      struct error *err)
{
	struct error why;

	made->terms = json_pack("{s:O}", "name", json_object_get(phase, "name"));
	add_write(phase, made->terms);
	if (check_write(making, made->terms, &why) == 0 &&
	    add_prompt(phase, made->terms, &why) == 0 &&
	    add_until(making, phase, made->terms, &why) == 0 &&
	    add_limits(phase, made->terms, &why) == 0 && add_agents(making, phase, made, &why) == 0)
		return 0;
	return error_with(err, why.status, "phase '%s': %s", jsonget_text(phase, "name"), why.text);
}

/* Returns the phases of the settings, by their names, as a JSON object. The caller frees it. */
static json_t *all_phases(const struct config *config)
{
	json_t *all = json_object();

	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		json_t *phase;

		if (value->setting->id != SETTING_PHASES || value->state != CONFIG_ACTIVE ||
		    value->layer == CONFIG_FLAG)
			continue;
		phase = json_loads(value->text, 0, NULL);
		json_object_set_new(all, jsonget_text(phase, "name"), phase);
	}
	return all;
}

/* Lists the names of the phases to run: those of the options, or all. Returns 0, or -1 with err
 * set. */
static int choose_names(const struct config *config, json_t *all, struct list *ret_names,
			struct error *err)
{
	bool named = false;
	const char *name;
	json_t *phase;

	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		if (value->setting->id != SETTING_PHASES || value->layer != CONFIG_FLAG)
			continue;
		named = true;
		if (phase_text_names(value->text, ret_names, err) < 0)
			return -1;
	}
	json_object_foreach(all, name, phase) if (!named) list_add(ret_names, name);
	return 0;
}

/* Without the phases of the project, the loop would be a different one. */
static int refuse_inactive(const struct config *config, struct error *err)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		if (value->setting->id == SETTING_PHASES && value->layer == CONFIG_FLAG &&
		    strcmp(value->text, "none") == 0)
			return 0;
	}
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		if (value->setting->id == SETTING_PHASES && value->state == CONFIG_INACTIVE)
			return error_set(
				err,
				"phases (%s) is inactive: run ringfence trust, or go without: "
				"--phases none",
				value->origin);
	}
	return 0;
}

static int unknown_phase(json_t *all, const char *name, struct error *err)
{
	AUTO_BUFFER struct buffer known = BUFFER_INIT(4096);
	const char *one;
	json_t *phase;

	json_object_foreach(all, one, phase)
	{
		buffer_printf(&known, "%s%s", known.used ? ", " : "", one);
	}
	return error_set(err, "--phases: no file has a phase '%.100s' (there %s %s)", name,
			 json_object_size(all) == 1 ? "is" : "are",
			 known.used ? buffer_text(&known) : "none");
}

static int make_all(const struct making *making, json_t *all, const struct list *names,
		    struct phase_request_list *list, struct error *err)
{
	for (size_t i = 0; i < names->count; i++) {
		const json_t *phase = json_object_get(all, names->items[i]);

		if (!phase)
			return unknown_phase(all, names->items[i], err);
		if (list->count == PHASE_TEXT_MOST)
			return error_set(err, "--phases: a loop has at most %d phases",
					 (int)PHASE_TEXT_MOST);
		if (make_phase(making, phase, &list->items[list->count++], err) < 0)
			return -1;
	}
	return 0;
}

int phase_request_make(struct effective *effective, const char *promise, struct choice_list *agents,
		       struct phase_request_list *ret_list, struct list *notices, struct error *err)
{
	const struct config *config = &effective->config;
	const struct making making = { effective, promise, agents, notices };
	struct list names = { 0 };
	json_t *all;
	int result;

	*ret_list = (struct phase_request_list){ 0 };
	all = all_phases(config);
	result = choose_names(config, all, &names, err);
	if (result == 0)
		result = refuse_inactive(config, err);
	if (result == 0)
		result = make_all(&making, all, &names, ret_list, err);
	list_release(&names);
	json_decref(all);
	return result;
}

void phase_request_release(struct phase_request_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		json_decref(list->items[i].terms);
	*list = (struct phase_request_list){ 0 };
}

void phase_request_add_until(const json_t *terms, struct buffer *out)
{
	size_t index;
	const json_t *condition;

	json_array_foreach(json_object_get(terms, "until"), index, condition)
	{
		const char *kind = jsonget_text(condition, "kind");
		AUTO_FREE char *text = text_escaped(jsonget_text(condition, "text"));

		buffer_printf(out, "%s%s", index ? ", " : "", kind);
		if (jsonget_number(condition, "count"))
			buffer_printf(out, " %lld", (long long)jsonget_number(condition, "count"));
		else if (*text && strcmp(kind, "promise") != 0)
			buffer_printf(out, " %.200s", text);
	}
}
