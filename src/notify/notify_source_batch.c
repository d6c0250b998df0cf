/* News of a batch: see notify_source.h. Its loops have no notifiers, because a batch has an event
 * for the end of each. */
#include "notify/notify_source.h"

#include "batch/batch_fold.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <string.h>

static size_t count(const struct batch_state *state, enum batch_step step)
{
	size_t sum = 0;

	for (size_t i = 0; i < state->count; i++)
		sum += state->tasks[i].step == step;
	return sum;
}

static char *sums(const struct batch_state *state)
{
	size_t failed = count(state, BATCH_STEP_failed);
	size_t held = count(state, BATCH_STEP_held);
	AUTO_FREE char *bad = failed ? mem_format(", %zu failed", failed) : mem_dup("");
	AUTO_FREE char *waits = held ? mem_format(", %zu wait for you", held) : mem_dup("");

	return mem_format("%zu of %zu tasks done%s%s", count(state, BATCH_STEP_landed),
			  state->count, bad, waits);
}

static char *finished(const struct batch_state *state, enum notify_event *ret_event)
{
	const char *status = state->status ? state->status : "";
	AUTO_FREE char *tally = sums(state);

	if (strcmp(status, "aborted") == 0)
		return NULL;
	*ret_event = strcmp(status, "completed") == 0 ? NOTIFY_EVENT_done : NOTIFY_EVENT_failed;
	return mem_format("%s: %s", status, tally);
}

static char *paused(const struct batch_state *state, bool by_user, enum notify_event *ret_event)
{
	AUTO_FREE char *tally = sums(state);

	*ret_event = NOTIFY_EVENT_paused;
	return by_user ? NULL
		       : mem_format("the work list is paused: %s (%s)",
				    state->reason ? state->reason : "", tally);
}

static const char *task_name(const struct batch_state *state, const json_t *data)
{
	const char *id = jsonget_text(data, "task");
	long task = batch_state_find(state, id);
	const char *title = task < 0 ? "" : jsonget_text(state->tasks[task].item, "title");

	return *title ? title : id;
}

static char *about_task(const struct batch_state *state, const json_t *data, const char *what)
{
	return mem_format("task \"%s\" %s: %s", task_name(state, data), what,
			  jsonget_text(data, "reason"));
}

static char *tell(const struct batch_state *state, bool by_user, const char *kind,
		  const json_t *data, enum notify_event *ret_event)
{
	int event = batch_event_find(kind);

	if (event == BATCH_EVENT_finished)
		return finished(state, ret_event);
	if (event == BATCH_EVENT_paused)
		return paused(state, by_user, ret_event);
	*ret_event = NOTIFY_EVENT_blocked;
	if (event == BATCH_EVENT_held)
		return by_user ? NULL : about_task(state, data, "waits for you");
	*ret_event = NOTIFY_EVENT_warning;
	if (event == BATCH_EVENT_refused ||
	    (event == BATCH_EVENT_ended && strcmp(jsonget_text(data, "status"), "completed") != 0 &&
	     strcmp(jsonget_text(data, "status"), "aborted") != 0))
		return about_task(state, data, "has failed");
	return NULL;
}

int notify_source_fold_batch(struct notify_source *source, const struct journal_event *event,
			     struct error *err)
{
	struct batch_state *state = &source->batch_sums;
	/* A wish to pause has a reason unless the user has it. */
	bool by_user = state->wish != BATCH_WISH_NONE && !state->reason;
	enum notify_event kind = NOTIFY_EVENT_done;
	json_t *data;
	char *text;

	if (batch_fold(state, event, err) < 0)
		return -1;
	data = json_loads(event->data, 0, NULL);
	text = tell(state, by_user, event->kind, data, &kind);
	json_decref(data);
	if (text)
		notify_list_add(&source->news, event->seq, event->at_ms, kind, text);
	return 0;
}
