/* ringfence history: the iterations of a loop, with their verdicts. */
#include "cli/loops.h"

#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

static const struct option options[] = { LOOPS_JSON, LOOPS_PROJECT, { 0 } };

static const struct section sections[] = {
	{ "EXAMPLES", "  ringfence history --json | jq '.iterations[].reasons'\n" },
	{ 0 },
};

/* Iterations as they are put together from events. */
struct history {
	json_t *list;
	json_t *open; /* the one that has begun, owned by the list */
};

static void begin(struct history *history, const json_t *data, int64_t at_ms)
{
	history->open = json_pack("{s:O, s:O, s:I, s:s, s:n, s:[]}", "iteration",
				  json_object_get(data, "iteration"), "attempt",
				  json_object_get(data, "attempt"), "began_ms", (json_int_t)at_ms,
				  "verdict", "running", "reason", "checks");
	if (history->open)
		json_array_append_new(history->list, history->open);
}

static void copy(struct history *history, const json_t *data, const char *key)
{
	json_t *value = json_object_get(data, key);

	if (value)
		json_object_set(history->open, key, value);
}

static void end(struct history *history, const json_t *data, const char *verdict, int64_t at_ms)
{
	static const char *const keys[] = { "reason",     "reasons", "failure",   "completion",
					    "confidence", "counts",  "progressed" };

	copy(history, data, "cost_nusd"); /* of a try that was cut off */
	json_object_set_new(history->open, "verdict", json_string(verdict));
	json_object_set_new(history->open, "ended_ms", json_integer((json_int_t)at_ms));
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		copy(history, data, keys[i]);
	history->open = NULL;
}

static void take_data(struct history *history, int kind, const json_t *data, int64_t at_ms)
{
	static const char *const keys[] = { "code",        "signal",    "timed_out", "idle",
					    "duration_ms", "cost_nusd", "tokens",    "session",
					    "error",       "message",   "reset_at" };
	const char *action = json_string_value(json_object_get(data, "action"));
	const char *status = json_string_value(json_object_get(data, "status"));

	if (kind == LOOP_EVENT_begun) {
		begin(history, data, at_ms);
		return;
	}
	if (!history->open)
		return;
	if (kind == LOOP_EVENT_ended)
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
			copy(history, data, keys[i]);
	else if (kind == LOOP_EVENT_checked)
		json_array_append_new(json_object_get(history->open, "checks"),
				      json_pack("{s:O, s:O, s:O, s:O, s:b}", "command",
						json_object_get(data, "command"), "code",
						json_object_get(data, "code"), "passed",
						json_object_get(data, "passed"), "vacuous",
						json_object_get(data, "vacuous"), "new",
						json_is_true(json_object_get(data, "new"))));
	else if (kind == LOOP_EVENT_interrupted)
		end(history, data, "interrupted", at_ms);
	else if (kind == LOOP_EVENT_continued || kind == LOOP_EVENT_waits ||
		 kind == LOOP_EVENT_paused || kind == LOOP_EVENT_finished)
		end(history, data, action ? action : status ? status : "ended", at_ms);
}

static int take_event(void *context, const struct store_event *event, struct error *err)
{
	json_t *data = json_loads(event->data, 0, NULL);

	(void)err;
	take_data(context, loop_event_find(event->kind), data, event->at_ms);
	json_decref(data);
	return 0;
}

static void print_iteration(const json_t *entry)
{
	const char *reason = json_string_value(json_object_get(entry, "reason"));
	AUTO_FREE char *shown = text_escaped(reason ? reason : "");
	json_int_t attempt = json_integer_value(json_object_get(entry, "attempt"));
	AUTO_FREE char *try = attempt > 1 ? mem_format(".%d", (int)attempt) : mem_dup("");

	printf("%3d%-3s %-12s %s\n", (int)json_integer_value(json_object_get(entry, "iteration")),
	       try, json_string_value(json_object_get(entry, "verdict")), shown);
}

static int show(struct loops_options *asked, struct error *err)
{
	struct history history = { .list = json_array() };
	size_t index;
	json_t *entry;

	if (loops_find(asked, err) < 0 ||
	    client_events(&asked->loop, 0, take_event, &history, err) < 0) {
		json_decref(history.list);
		return cli_fail(err);
	}
	if (asked->json) {
		loops_print(
			json_pack("{s:s, s:o}", "id", asked->loop.id, "iterations", history.list));
	} else {
		json_array_foreach(history.list, index, entry) print_iteration(entry);
		json_decref(history.list);
	}
	return cli_printed();
}

static int run_history(const struct command *command, char **argv)
{
	return loops_run(command, argv, show);
}

const struct command cmd_history = {
	.name = "history",
	.args = "[--json] [LOOP]",
	.most = 1,
	.mixed = true,
	.help = "the iterations of a loop, with verdicts and reasons",
	.about =
		"One line for each iteration, and for each try that was interrupted and does not count.",
	.options = options,
	.sections = sections,
	.run = run_history,
};
