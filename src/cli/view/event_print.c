/* The events of a loop as text: see event_print.h. */
#include "cli/view/event_print.h"

#include "alert/alert.h"
#include "cli/loops.h"
#include "cli/view/cost_text.h"
#include "cli/view/edited_text.h"
#include "cli/view/event_review.h"
#include "cli/view/event_run.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <string.h>

/* Prints an event as JSON. Takes ownership of the data. */
static void print_raw(struct event_text *view, const struct journal_event *event, json_t *data)
{
	static const char *const inner[] = { "breakers", "snapshot", "excerpt", "reflection" };
	json_t *line = json_pack("{s:s, s:I, s:I}", "event", event->kind, "seq",
				 (json_int_t)event->seq, "at_ms", (json_int_t)event->at_ms);

	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		json_object_del(data, inner[i]);
	if (json_object_get(data, "config")) { /* the caller knows its own request */
		json_object_clear(data);
		json_object_set_new(data, "id", json_string(view->loop->id));
		json_object_set_new(data, "project",
				    json_string(view->loop->state.options.project));
	}
	json_object_update_missing(line, data);
	json_decref(data);
	event_text_object(view, line);
}

static void print_begun(struct event_text *view, const json_t *data, int64_t at_ms)
{
	const struct loop_state *state = &view->loop->state;
	const struct decision_limits *limits = &state->options.limits;
	AUTO_BUFFER struct buffer left = BUFFER_INIT(256);
	int64_t left_ms = limits->total_s * 1000 - (at_ms - state->created_ms - state->rested_ms);

	if (limits->iterations)
		buffer_printf(&left, " of %u", limits->iterations);
	if ((int)jsonget_number(data, "attempt") > 1)
		buffer_printf(&left, ", attempt %d", (int)jsonget_number(data, "attempt"));
	if (limits->total_s && left_ms > 60000) {
		buffer_add_text(&left, ", time left ");
		text_add_duration(&left, (uint64_t)left_ms / 60000 * 60000);
	}
	if (state->spent_nusd)
		buffer_printf(&left, ", US$ %.2f", (double)state->spent_nusd / 1e9);
	if (state->spent_nusd && limits->cost_nusd)
		buffer_printf(&left, " of %.2f", (double)limits->cost_nusd / 1e9);
	if (state->spent_nusd)
		buffer_printf(&left, "%s%s", state->options.replay ? " replayed" : " spent",
			      cost_text_mark(state->spent_nusd, state->estimated_nusd));
	event_text_paint(view, COLOR_BOLD, "iteration %d%s%s%s: running %s",
			 (int)jsonget_number(data, "iteration"), buffer_text(&left),
			 json_object_get(data, "phase") ? ", phase " : "",
			 jsonget_text(data, "phase"),
			 json_object_get(data, "agent") ? jsonget_text(data, "agent")
							: "the agent");
	event_text_begin_agent(view, (unsigned int)jsonget_number(data, "iteration"),
			       (unsigned int)jsonget_number(data, "attempt"));
}

static void print_interrupted(struct event_text *view, const json_t *data)
{
	event_text_end_agent(view);
	event_text_print(view, "  iteration %d was interrupted%s; it does not count",
			 (int)jsonget_number(data, "iteration"),
			 jsonget_flag(data, "told")    ? " by your message"
			 : jsonget_flag(data, "alert") ? " by an alert"
						       : "");
}

/* Returns what an alert does besides being reported, or NULL. */
static const char *alert_does(const json_t *data)
{
	static const char *const does[] = { [ALERT_ASK] = "the loop pauses, and asks",
					    [ALERT_PAUSE] = "the loop pauses",
					    [ALERT_ABORT] = "the loop is aborted" };
	int action = alert_action_find(jsonget_text(data, "then"));

	return action > ALERT_NOTIFY ? does[action] : NULL;
}

/* Prints the beginning of a message of the user. */
static void print_told(struct event_text *view, const json_t *data)
{
	char text[TOLD_SHORT];

	told_shorten(jsonget_text(data, "text"), text, sizeof text);
	event_text_print(view, "  you told the agent%s: %s",
			 jsonget_flag(data, "now") ? ", without delay" : "", text);
}

static void print_edited(struct event_text *view, const json_t *paths, json_int_t count)
{
	AUTO_FREE char *shown = edited_text_paths(paths, (size_t)count);

	event_text_print(
		view,
		"  you changed in the project, beside the draft: %s; ringfence apply keeps "
		"your changes, or names conflicts",
		shown);
}

/* Prints only problems and notices: checkpoints are routine. */
static void print_checkpointed(struct event_text *view, const json_t *data)
{
	const json_t *left = json_object_get(data, "not_kept");
	const json_t *first = json_array_get(left, 0);
	const json_t *repaired = json_object_get(data, "repaired");
	const json_t *edited = json_object_get(data, "edited");

	if (json_object_get(data, "error"))
		event_text_print(view, "  could not take a checkpoint: %s",
				 jsonget_text(data, "error"));
	if (json_object_get(data, "notice"))
		event_text_print(view, "  checkpoint: %s", jsonget_text(data, "notice"));
	if (jsonget_flag(data, "recovered"))
		event_text_print(view, "  finished an interrupted rollback first");
	if (json_array_size(edited))
		print_edited(view, edited, jsonget_number(data, "edited_count"));
	if (json_array_size(repaired))
		event_text_print(
			view,
			"  restored from the last checkpoint: %zu files that were empty after a reboot (first: %s)",
			json_array_size(repaired), json_string_value(json_array_get(repaired, 0)));
	if (first && (int)jsonget_number(data, "number") == 0)
		event_text_print(
			view,
			"  not in checkpoint 0: %zu (first: %s: %s); a rollback leaves them alone",
			json_array_size(left), jsonget_text(first, "path"),
			jsonget_text(first, "why"));
}

static void print_retried(struct event_text *view, const json_t *data)
{
	event_text_print(view, "  '%s' is tried again: %s", jsonget_text(data, "task"),
			 jsonget_text(data, "error"));
}

static void print_git(struct event_text *view, const json_t *data)
{
	int locks = (int)jsonget_number(data, "unlocked");

	if (locks)
		event_text_print(view,
				 "  removed %d lock file%s that a killed git left (first: %.300s)",
				 locks, locks == 1 ? "" : "s", jsonget_text(data, "lock"));
	else if (strcmp(jsonget_text(data, "mode"), "read-only") == 0)
		event_text_print(view, "  git is read-only inside the fence: %s",
				 jsonget_text(data, "why"));
	else if (strcmp(jsonget_text(data, "mode"), "private") == 0 && *jsonget_text(data, "why"))
		event_text_print(view, "  %s", jsonget_text(data, "why"));
	else if (jsonget_flag(data, "submodules"))
		event_text_print(view, "  git is read-only in submodules");
}

static void print_imported(struct event_text *view, const json_t *data)
{
	const char *ref = jsonget_text(data, "ref");
	const char *branch = text_after_prefix(ref, "refs/heads/");
	struct list trouble;

	if (json_object_get(data, "error"))
		event_text_print(view, "  could not import the commits: %s",
				 jsonget_text(data, "error"));
	if ((int)jsonget_number(data, "refs") > 0 && *ref)
		event_text_print(view, "  committed%s: %s is %.10s",
				 view->closes ? " what the agent left" : "", branch ? branch : ref,
				 jsonget_text(data, "commit"));
	loop_state_git_trouble(data, &trouble);
	for (size_t i = 0; i < trouble.count; i++)
		event_text_print(view, "  %s", trouble.items[i]);
	list_release(&trouble);
}

static void print_wait(struct event_text *view, const json_t *data)
{
	AUTO_FREE char *until = clock_text(jsonget_number(data, "until_ms"), CLOCK_SECOND);

	event_text_print(view, "  waiting until %s: %s", until, jsonget_text(data, "reason"));
}

/* Prints "paused by you", but "paused: the disk is full". */
static void print_outcome(struct event_text *view, enum color colour, const char *outcome,
			  const json_t *data)
{
	const char *reason = jsonget_text(data, "reason");

	event_text_paint(view, colour, "%s%s %s", outcome,
			 text_after_prefix(reason, "by ") ? "" : ":", reason);
}

static void print_finished(struct event_text *view, const json_t *data)
{
	bool refused = jsonget_flag(data, "refused");

	if (*jsonget_text(data, "uncommitted"))
		event_text_print(view, "  %s", jsonget_text(data, "uncommitted"));
	print_outcome(view, COLOR_BOLD, refused ? "refused" : jsonget_text(data, "status"), data);
}

static void print_data(struct event_text *view, int kind, const json_t *data, int64_t at_ms)
{
	view->closes = kind == LOOP_EVENT_closing || (view->closes && kind != LOOP_EVENT_resumed);
	if (kind == LOOP_EVENT_closing) /* LOOP_EVENT_finished repeats it */
		return;
	if (loops_failure_text(data))
		event_text_print(view, "  %s", loops_failure_text(data));
	switch (kind) {
	case LOOP_EVENT_checked:
		event_run_checked(view, data);
		break;
	case LOOP_EVENT_held_out:
		event_run_apart(view, "final check", data);
		break;
	case LOOP_EVENT_probed:
		event_run_apart(view, "phase check", data);
		break;
	case LOOP_EVENT_changed:
		if (jsonget_flag(data, "next_phase") && json_object_get(data, "reason"))
			event_text_print(view, "  %s", jsonget_text(data, "reason"));
		break;
	case LOOP_EVENT_examined:
		event_review_examined(view, data);
		break;
	case LOOP_EVENT_proved:
	case LOOP_EVENT_mutated:
		event_review_trial(view, kind, data);
		break;
	case LOOP_EVENT_mutating:
		event_text_print(view,
				 "  every rule holds; changing lines of the agent, one by one, "
				 "to see which checks notice");
		break;
	case LOOP_EVENT_reviewing:
		event_review_begins(view, data);
		break;
	case LOOP_EVENT_reviewed:
		event_review_ended(view, data);
		break;
	case LOOP_EVENT_rechecks:
		event_text_paint(
			view, COLOR_BOLD,
			"iteration %d: the agent has done its part; only its end is missing",
			(int)jsonget_number(data, "iteration"));
		break;
	case LOOP_EVENT_checkpointed:
		print_checkpointed(view, data);
		break;
	case LOOP_EVENT_retried:
		print_retried(view, data);
		break;
	case LOOP_EVENT_git:
		print_git(view, data);
		break;
	case LOOP_EVENT_imported:
		print_imported(view, data);
		break;
	case LOOP_EVENT_begun:
		print_begun(view, data, at_ms);
		break;
	case LOOP_EVENT_ended:
		event_run_ended(view, data);
		break;
	case LOOP_EVENT_interrupted:
		print_interrupted(view, data);
		break;
	case LOOP_EVENT_continued:
		event_text_print(view, "  %s%s",
				 view->stops ? "" : "continuing: ", jsonget_text(data, "reason"));
		break;
	case LOOP_EVENT_asked:
		view->stops |= strcmp(jsonget_text(data, "wish"), "reset") != 0;
		break;
	case LOOP_EVENT_alerted:
		event_text_paint(view, COLOR_RED, "  ALERT: %s%s%s", jsonget_text(data, "text"),
				 alert_does(data) ? "; " : "",
				 alert_does(data) ? alert_does(data) : "");
		break;
	case LOOP_EVENT_told:
		print_told(view, data);
		break;
	case LOOP_EVENT_resumed:
		view->stops = false;
		break;
	case LOOP_EVENT_waits:
		print_wait(view, data);
		break;
	case LOOP_EVENT_paused:
		print_outcome(view, COLOR_PLAIN, "paused", data);
		break;
	case LOOP_EVENT_finished:
		print_finished(view, data);
		break;
	default:
		break;
	}
}

void event_print(struct event_text *view, const struct journal_event *event)
{
	json_t *data = json_loads(event->data, 0, NULL);

	int kind = loop_event_find(event->kind);

	if (view->json) {
		print_raw(view, event, data);
		return;
	}
	if (!view->quiet || kind == LOOP_EVENT_paused || kind == LOOP_EVENT_finished)
		print_data(view, kind, data, event->at_ms);
	json_decref(data);
}
