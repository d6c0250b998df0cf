/* The history of a loop: see view_history.h. */
#include "view/view_history.h"

#include "util/text/jsonget.h"

#include <string.h>

/* The iterations of a loop, assembled from its events. */
struct history {
	json_t *list;
	json_t *open; /* the iteration that has begun but not ended, owned by the list */
	json_t *told; /* messages of the user that no iteration has ended with yet */
	size_t given; /* how many of them the last agent that has begun had */
};

static void copy(struct history *history, const json_t *data, const char *key)
{
	json_t *value = json_object_get(data, key);

	if (value)
		json_object_set(history->open, key, value);
}

static void begin(struct history *history, const json_t *data, int64_t at_ms)
{
	history->open = json_pack("{s:O, s:O, s:I, s:s, s:n, s:[]}", "iteration",
				  json_object_get(data, "iteration"), "attempt",
				  json_object_get(data, "attempt"), "began_ms", (json_int_t)at_ms,
				  "verdict", "running", "reason", "checks");
	if (history->open)
		json_array_append_new(history->list, history->open);
	copy(history, data, "agent");
	copy(history, data, "phase");
}

/* The prompt of an agent that begins has all messages until then. */
static void give_told(struct history *history)
{
	if (json_array_size(history->told))
		json_object_set_new(history->open, "told", json_copy(history->told));
	history->given = json_array_size(history->told);
}

/* An iteration that counts is not repeated, and nor are its messages. */
static void take_told(struct history *history)
{
	while (history->given) {
		json_array_remove(history->told, 0);
		history->given--;
	}
}

static void end(struct history *history, const json_t *data, const char *verdict, int64_t at_ms)
{
	static const char *const keys[] = { "reason",     "reasons", "failure",    "completion",
					    "confidence", "counts",  "progressed", "blocked" };

	/* an interrupted attempt has its cost in the last event */
	copy(history, data, "cost_nusd");
	copy(history, data, "estimated_nusd");
	json_object_set_new(history->open, "verdict", json_string(verdict));
	json_object_set_new(history->open, "ended_ms", json_integer((json_int_t)at_ms));
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		copy(history, data, keys[i]);
	if (strcmp(verdict, "interrupted") == 0)
		json_object_set_new(
			history->open, "reason",
			json_string(
				jsonget_flag(data, "told")
					? "you told the agent something with --now; the iteration "
					  "is repeated"
				: jsonget_flag(data, "alert")
					? "an alert paused the loop; the iteration is repeated"
					: "Ringfence, this machine or the fence's first process was "
					  "stopped; the iteration is repeated"));
	if (jsonget_flag(data, "counts"))
		take_told(history);
	history->open = NULL;
}

static json_t *check_of(const json_t *data)
{
	static const char *const keys[] = { "command",   "code",        "passed", "vacuous",
					    "limit",     "duration_ms", "denied", "quarantined",
					    "put_aside", "flagged",     "own",    "unviewed" };
	json_t *check = json_pack("{s:b}", "new", jsonget_flag(data, "new"));

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_object_get(data, keys[i]))
			json_object_set(check, keys[i], json_object_get(data, keys[i]));
	return check;
}

/* Adds the agent's trouble with git. */
static void add_trouble(struct history *history, const json_t *data)
{
	struct list trouble;
	json_t *texts = json_array();

	loop_state_git_trouble(data, &trouble);
	for (size_t i = 0; i < trouble.count; i++)
		json_array_append_new(texts, json_string(trouble.items[i]));
	if (jsonget_string(data, "error"))
		json_array_append_new(texts, json_string(jsonget_string(data, "error")));
	if (json_array_size(texts))
		json_object_set(history->open, "git", texts);
	json_decref(texts);
	list_release(&trouble);
}

static void add_review(struct history *history, const json_t *data)
{
	static const char *const keys[] = { "findings",    "unreadable", "lost", "error",
					    "limit",       "cost_nusd",  "code", "estimated_nusd",
					    "duration_ms", "metered" };
	json_t *reviews = json_object_get(history->open, "reviews");
	json_t *review = json_object();

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_object_get(data, keys[i]))
			json_object_set(review, keys[i], json_object_get(data, keys[i]));
	if (!reviews) {
		reviews = json_array();
		json_object_set_new(history->open, "reviews", reviews);
	}
	json_array_append_new(reviews, review);
}

static void add_mutants(struct history *history, const json_t *data)
{
	json_t *mutants = json_copy((json_t *)data);
	json_t *findings = json_object_get(data, "findings");

	json_object_del(mutants, "findings");
	json_object_set_new(mutants, "untested", findings ? json_incref(findings) : json_array());
	json_object_set_new(history->open, "mutants", mutants);
}

/* Adds the pinned files that the agent has changed, and what the checks see of each. */
static void add_pinned(struct history *history, const json_t *data)
{
	json_t *pinned = json_object();
	size_t index;
	const json_t *file;

	json_array_foreach(json_object_get(data, "pinned"), index, file)
		json_object_set(pinned, jsonget_text(file, "path"), json_object_get(file, "shown"));
	json_object_set_new(history->open, "pinned", pinned);
}

/* Adds a check to a list that most iterations do not have. */
static void add_check(struct history *history, const char *key, const json_t *data)
{
	json_t *list = json_object_get(history->open, key);

	if (!list) {
		json_object_set_new(history->open, key, json_array());
		list = json_object_get(history->open, key);
	}
	json_array_append_new(list, check_of(data));
}

static void add_alert(struct history *history, const json_t *data)
{
	if (!json_object_get(history->open, "alerts"))
		json_object_set_new(history->open, "alerts", json_array());
	json_array_append(json_object_get(history->open, "alerts"), json_object_get(data, "text"));
}

static void add_data(struct history *history, int kind, const json_t *data, int64_t at_ms)
{
	static const char *const keys[] = {
		"code",        "signal",          "timed_out",      "idle",        "duration_ms",
		"cost_nusd",   "agent_cost_nusd", "tokens",         "session",     "error",
		"message",     "reset_at",        "limit",          "over_budget", "denials",
		"denied",      "quarantined",     "put_aside",      "flagged",     "metered",
		"refused_why", "estimated_nusd",  "policy_refused", "policy_why"
	};
	const char *action = jsonget_string(data, "action");
	const char *status = jsonget_string(data, "status");

	if (kind == LOOP_EVENT_told)
		json_array_append(history->told, json_object_get(data, "text"));
	if (kind == LOOP_EVENT_begun || kind == LOOP_EVENT_rechecks) {
		begin(history, data, at_ms);
		if (kind == LOOP_EVENT_begun)
			give_told(history);
		return;
	}
	if (!history->open)
		return;
	if (kind == LOOP_EVENT_alerted)
		add_alert(history, data);
	else if (kind == LOOP_EVENT_ended)
		for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
			copy(history, data, keys[i]);
	else if (kind == LOOP_EVENT_imported)
		add_trouble(history, data);
	else if (kind == LOOP_EVENT_examined)
		add_pinned(history, data);
	else if (kind == LOOP_EVENT_checked)
		json_array_append_new(json_object_get(history->open, "checks"), check_of(data));
	else if (kind == LOOP_EVENT_mutated)
		add_mutants(history, data);
	else if (kind == LOOP_EVENT_reviewed)
		add_review(history, data);
	else if (kind == LOOP_EVENT_held_out)
		add_check(history, "final_checks", data);
	else if (kind == LOOP_EVENT_probed)
		add_check(history, "phase_checks", data);
	else if (kind == LOOP_EVENT_interrupted)
		end(history, data, "interrupted", at_ms);
	else if (kind == LOOP_EVENT_continued || kind == LOOP_EVENT_waits ||
		 kind == LOOP_EVENT_paused || kind == LOOP_EVENT_finished)
		end(history, data, action ? action : status ? status : "ended", at_ms);
}

static int add_event(void *context, const struct journal_event *event, struct error *err)
{
	json_t *data = json_loads(event->data, 0, NULL);

	(void)err;
	add_data(context, loop_event_find(event->kind), data, event->at_ms);
	json_decref(data);
	return 0;
}

int view_history_read(const struct client_loop *loop, struct view_history *ret_history,
		      struct error *err)
{
	struct history history = { .list = json_array(), .told = json_array() };

	if (client_events(loop, 0, add_event, &history, err) < 0) {
		json_decref(history.list);
		json_decref(history.told);
		return -1;
	}
	*ret_history = (struct view_history){ history.list, history.told };
	return 0;
}
