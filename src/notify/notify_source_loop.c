/* News of a loop: see notify_source.h. */
#include "notify/notify_source.h"

#include "util/mem.h"
#include "util/text/jsonget.h"

#include <string.h>

/* A shorter wait for a provider is usual. */
enum { LONG_WAIT_MS = 30 * 60 * 1000 };

/* Parts of the state that an event may change. */
struct before {
	enum loop_wish wish;
	bool alerted; /* an alert wishes it */
	bool over, warned;
};

static char *finished(const struct loop_state *state, const struct before *before,
		      enum notify_event *ret_event)
{
	const char *status = state->status ? state->status : "";
	bool done = strcmp(status, "completed") == 0;

	/* The user knows; and it was closed again after a rollback. */
	if (before->over || (strcmp(status, "aborted") == 0 && !before->alerted))
		return NULL;
	*ret_event = done ? NOTIFY_EVENT_done : NOTIFY_EVENT_failed;
	return mem_format("%s: %s (iteration %u, US$ %.2f)", status,
			  state->reason ? state->reason : "", state->iteration,
			  (double)state->spent_nusd / 1e9);
}

static char *paused(const struct loop_state *state, const struct before *before, const json_t *data,
		    enum notify_event *ret_event)
{
	bool by_user = before->wish == LOOP_WISH_PAUSE && !before->alerted;

	*ret_event = state->blocked || jsonget_flag(data, "asks") ? NOTIFY_EVENT_blocked
								  : NOTIFY_EVENT_paused;
	if (state->blocked)
		return mem_format("blocked: \"%s\" (to answer: ringfence answer TEXT)",
				  state->blocked);
	return by_user ? NULL : mem_dup(state->reason ? state->reason : "paused");
}

/* An alert that pauses the loop is told with the pause. */
static char *alerted(const json_t *data, enum notify_event *ret_event)
{
	int action = alert_action_find(jsonget_text(data, "then"));

	*ret_event = NOTIFY_EVENT_alert;
	return action == ALERT_NOTIFY ? mem_dup(jsonget_text(data, "text")) : NULL;
}

static char *waits(const struct loop_state *state, const struct journal_event *event,
		   enum notify_event *ret_event)
{
	*ret_event = NOTIFY_EVENT_warning;
	return state->wait_until_ms - event->at_ms > LONG_WAIT_MS
		       ? mem_format("waits: %s", state->reason ? state->reason : "")
		       : NULL;
}

static char *warned(const struct loop_state *state, enum notify_event *ret_event)
{
	*ret_event = NOTIFY_EVENT_warning;
	return mem_format("the loop has cost US$ %.2f, and --warn-cost is US$ %.2f",
			  (double)state->spent_nusd / 1e9,
			  (double)state->options.limits.cost_warning_nusd / 1e9);
}

static char *tell(const struct loop_state *state, const struct before *before,
		  const struct journal_event *event, const json_t *data,
		  enum notify_event *ret_event)
{
	switch (loop_event_find(event->kind)) {
	case LOOP_EVENT_finished:
		return finished(state, before, ret_event);
	case LOOP_EVENT_paused:
		return paused(state, before, data, ret_event);
	case LOOP_EVENT_alerted:
		return alerted(data, ret_event);
	case LOOP_EVENT_waits:
		return waits(state, event, ret_event);
	case LOOP_EVENT_continued:
		return state->warned && !before->warned ? warned(state, ret_event) : NULL;
	default:
		return NULL;
	}
}

int notify_source_fold_loop(struct notify_source *source, const struct journal_event *event,
			    struct error *err)
{
	struct loop_state *state = &source->loop;
	const struct before before = {
		.wish = state->wish,
		.alerted = state->wish != LOOP_WISH_NONE && state->wish_why,
		.over = source->over,
		.warned = state->warned,
	};
	enum notify_event kind = NOTIFY_EVENT_done;
	json_t *data;
	char *text;

	if (loop_state_fold(state, event, err) < 0)
		return -1;
	if (loop_event_find(event->kind) == LOOP_EVENT_finished)
		source->over = true;
	else if (loop_event_find(event->kind) == LOOP_EVENT_resumed)
		source->over = false;
	data = json_loads(event->data, 0, NULL);
	text = tell(state, &before, event, data, &kind);
	json_decref(data);
	if (text)
		notify_list_add(&source->news, event->seq, event->at_ms, kind, text);
	return 0;
}
