/* One iteration: see web_iteration.h. */
#include "serve/answer/web_iteration.h"

#include "serve/answer/web_logs.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"
#include "view/view_denials.h"
#include "view/view_history.h"
#include "view/view_iterations.h"
#include "view/view_json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_DENIALS = 1000 };

/* Finds an attempt, or the last one of an iteration if attempt is 0. Returns NULL if there is none.
 */
static const struct view_iteration *find(const struct view_iterations *all, uint32_t iteration,
					 uint32_t attempt)
{
	for (size_t i = all->count; i-- > 0;) {
		const struct view_iteration *item = &all->items[i];

		if (item->iteration == iteration && (!attempt || item->attempt == attempt))
			return item;
	}
	return NULL;
}

/* ---- the parts ---- */

/* Returns the command of a check, or NULL if it is not known any more. */
static const char *command_of(const struct loop_options *options, const struct view_iteration *item,
			      const struct view_check *check)
{
	size_t own = options->checks.count;
	size_t index = check->index + (check->kind == VIEW_CHECK_FINAL ? own : 0);

	if (check->kind != VIEW_CHECK_PHASE)
		return index < loop_options_check_count(options)
			       ? loop_options_check(options, index)
			       : NULL;
	for (uint32_t i = 0; item->phase && i < options->phase_count; i++)
		if (strcmp(options->phases[i].name, item->phase) == 0 &&
		    check->index < loop_phase_checks(&options->phases[i]))
			return loop_phase_check(&options->phases[i], check->index);
	return NULL;
}

/* The checks of the item, with their commands. */
static json_t *checks_json(const struct client_loop *loop, const struct view_iteration *item,
			   const json_t *item_json)
{
	json_t *list = json_deep_copy(json_object_get(item_json, "checks"));

	for (size_t i = 0; i < item->check_count; i++)
		json_object_set_new(json_array_get(list, i), "command",
				    view_json_text(command_of(&loop->state.options, item,
							      &item->checks[i])));
	return list;
}

static json_t *denial_json(const json_t *denial, const char *run)
{
	AUTO_FREE char *line = view_denials_line(denial);
	const char *harmless = jsonget_string(denial, "harmless");

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "run", view_json_text(run), "text",
			 view_json_text(line), "kind", view_json_text(jsonget_text(denial, "kind")),
			 "target", view_json_text(jsonget_text(denial, "target")), "rule",
			 view_json_text(jsonget_text(denial, "rule")), "count",
			 jsonget_number(denial, "count"), "harmless", view_json_text(harmless));
}

/* Adds the denials of a run: "" for the agent, or "check-1." */
static void add_denials(json_t *list, const struct client_loop *loop,
			const struct view_iteration *item, const char *name)
{
	AUTO_FREE char *run = *name ? mem_format("%.*s", (int)strlen(name) - 1, name)
				    : mem_dup("agent");
	json_t *denials = view_denials_read(loop, item->iteration, item->attempt, name);
	size_t i;
	const json_t *denial;

	json_array_foreach(denials, i, denial)
	{
		if (json_array_size(list) < MOST_DENIALS)
			json_array_append_new(list, denial_json(denial, run));
	}
	json_decref(denials);
}

/* A run that left a log may have left a report. */
static json_t *denials_json(const struct client_loop *loop, const struct view_iteration *item,
			    const json_t *logs)
{
	static const char end[] = "stdout";
	json_t *list = json_array();
	size_t i;
	const json_t *log;

	json_array_foreach(logs, i, log)
	{
		const char *name = jsonget_text(log, "log");
		size_t size = strlen(name);

		if (size < sizeof end - 1 || strcmp(name + size - (sizeof end - 1), end) != 0)
			continue;

		AUTO_FREE char *run = mem_format("%.*s", (int)(size - (sizeof end - 1)), name);

		add_denials(list, loop, item, run);
	}
	return list;
}

struct examined {
	const struct view_iteration *item;
	bool inside; /* the events are those of the item */
	json_t *findings;
};

static int note_findings(void *context, const struct journal_event *event, struct error *err)
{
	struct examined *examined = context;
	int kind = loop_event_find(event->kind);
	json_t *data;

	(void)err;
	if (kind != LOOP_EVENT_begun && kind != LOOP_EVENT_rechecks && kind != LOOP_EVENT_examined)
		return 0;
	data = json_loads(event->data, 0, NULL);
	if (kind != LOOP_EVENT_examined) {
		examined->inside = jsonget_number(data, "iteration") == examined->item->iteration &&
				   jsonget_number(data, "attempt") == examined->item->attempt;
	} else if (examined->inside && json_is_array(json_object_get(data, "findings"))) {
		json_decref(examined->findings);
		examined->findings = json_incref(json_object_get(data, "findings"));
	}
	json_decref(data);
	return 0;
}

static json_t *findings_json(const struct client_loop *loop, const struct view_iteration *item)
{
	struct examined examined = { .item = item, .findings = json_array() };
	struct error ignored;

	client_events(loop, 0, note_findings, &examined, &ignored);
	return examined.findings;
}

static json_t *history_json(const struct client_loop *loop, const struct view_iteration *item)
{
	struct view_history history;
	struct error ignored;
	json_t *found = NULL;
	json_t *entry;
	size_t i;

	if (view_history_read(loop, &history, &ignored) < 0)
		return json_null();
	json_array_foreach(history.list, i, entry)
	{
		if (jsonget_number(entry, "iteration") == item->iteration &&
		    jsonget_number(entry, "attempt") == item->attempt)
			found = entry;
	}
	found = found ? json_incref(found) : json_null();
	json_decref(history.list);
	json_decref(history.told);
	return found;
}

static json_t *prompt_json(const char *folder)
{
	AUTO_FREE char *path = mem_format("%s/prompt.md", folder);
	struct stat info;

	return stat(path, &info) < 0 ? json_null()
				     : json_pack("{s:I}", "size", (json_int_t)info.st_size);
}

/* ---- together ---- */

static json_t *answer_json(const struct client_loop *loop, const struct view_iterations *all,
			   const struct view_iteration *item)
{
	AUTO_FREE char *folder = web_logs_folder(loop, item->iteration,
						 item->attempt ? item->attempt : 1);
	json_t *item_json = view_json_iteration(loop, all, item);
	json_t *logs = web_logs_list(folder);

	json_object_set_new(item_json, "index", json_integer((json_int_t)(item - all->items)));
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "checks",
			 checks_json(loop, item, item_json), "item", item_json, "history",
			 history_json(loop, item), "findings", findings_json(loop, item), "denials",
			 denials_json(loop, item, logs), "logs", logs, "prompt",
			 prompt_json(folder));
}

static int answer_found(const struct web_ask *ask, const struct client_loop *loop,
			uint32_t iteration, uint32_t attempt, struct web_ask_answer *answer,
			struct error *err)
{
	struct view_iterations all;
	const struct view_iteration *item;
	int result = 0;

	if (view_iterations_read(loop, &all, err) < 0)
		return -1;
	item = find(&all, iteration, attempt);
	if (item)
		answer->json = answer_json(loop, &all, item);
	else
		result = error_with(err, ERROR_NOT_FOUND, "loop %s has no iteration %.20s",
				    loop->id, ask->words[1]);
	view_iterations_release(&all);
	return result;
}

int web_iteration_answer(const struct web_ask *ask, struct web_ask_answer *answer,
			 struct error *err)
{
	struct client_loop loop;
	uint64_t iteration = 0;
	int64_t attempt;
	int result;

	if (strcmp(ask->words[1], "0") != 0 && text_count(ask->words[1], &iteration) < 0)
		return error_with(err, ERROR_NOT_FOUND, "'%.20s' is not the number of an iteration",
				  ask->words[1]);
	if (web_ask_number(ask, "attempt", 1, UINT32_MAX, 0, &attempt, err) < 0 ||
	    web_ask_readable(ask, answer, &loop, err) < 0)
		return -1;
	result = answer_found(ask, &loop, (uint32_t)iteration, (uint32_t)attempt, answer, err);
	client_loop_release(&loop);
	return result;
}
