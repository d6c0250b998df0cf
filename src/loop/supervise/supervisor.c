/* The data of a loop's supervisor: see supervisor.h. */
#include "loop/supervise/supervisor.h"

#include "loop/run/leftovers.h"
#include "loop/state/loop_folder.h"
#include "loop/state/loop_report.h"
#include "loop/state/spec_json.h"
#include "notify/notify_start.h"
#include "util/clock.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Smaller jumps of the clock are ignored. */
enum { JUMP_MS = 10000 };

static int64_t beat_due_ms(void *context)
{
	const struct supervisor *sup = context;

	return sup->heart.beat_ms + SUPERVISOR_HEARTBEAT_MS;
}

static void serve_heart(void *context, bool readable)
{
	(void)readable;
	if (wait_set_steady_ms() >= beat_due_ms(context))
		supervisor_beat(context);
}

void supervisor_init(struct supervisor *sup, const char *folder)
{
	*sup = (struct supervisor){ .folder = folder,
				    .lock = -1,
				    .run.runner = RUNNER_INIT,
				    .checkpoint.job = SNAPSHOT_JOB_INIT,
				    .watch = { .index = FENCE_INDEX_INIT, .file = -1 } };
	loop_state_init(&sup->state);
	sup->survey.memory = survey_memory_new();
	sup->survey.checkpoint = -1;
	wait_set_add(&sup->waits, &(struct wait_set_watch){ .due_ms = beat_due_ms,
							    .serve = serve_heart,
							    .context = sup });
}

void supervisor_release(struct supervisor *sup)
{
	journal_close(sup->store);
	free(sup->verification.pins);
	free(sup->verification.pinned);
	free(sup->verification.own);
	free(sup->verification.why);
	fence_index_release(&sup->watch.index);
	fd_close(&sup->watch.file);
	fence_covers_release(&sup->git.covers);
	fence_spec_release(&sup->fence);
	price_table_release(&sup->prices);
	loop_state_release(&sup->state);
	survey_memory_free(sup->survey.memory);
}

/* Loads the built-in prices and the user's own, as stored when the loop started. */
static int load_prices(struct supervisor *sup, struct error *err)
{
	const char *own = sup->state.options.prices;

	if (price_table_init(&sup->prices, err) < 0)
		return -1;
	return own ? price_table_add(&sup->prices, "prices.txt", own, strlen(own), err) : 0;
}

/* Takes away the providers whose key is not set any more. resume_permits() has made sure that the
 * loop can do without. */
static void drop_keyless(struct fence_spec *fence)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		struct model_access_upstream *upstream = &fence->models.upstreams[i];

		if (upstream->key.kind == KEY_SOURCE_ENV && !env_has(upstream->key.value))
			upstream->set = false;
	}
	if (fence->net == FENCE_NET_LIST && !fence->allow.count &&
	    !model_access_is_set(&fence->models))
		fence->net = FENCE_NET_NONE;
}

int supervisor_open(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *journal = path_join(sup->folder, "journal.db");

	/* The runner of a killed supervisor also holds the lock until it is gone. */
	sup->lock = loop_folder_await_lock(sup->folder, err);
	if (sup->lock < 0)
		return -1;
	loop_report_trouble(sup->folder, NULL);
	if (journal_open(journal, JOURNAL_WRITE, &sup->store, err) < 0 ||
	    loop_state_read(sup->store, &sup->state, err) < 0 ||
	    spec_json_read(sup->state.options.fence, &sup->fence, err) < 0)
		return -1;
	if (loop_state_is_scripted(&sup->state))
		drop_keyless(&sup->fence);
	return load_prices(sup, err);
}

char *supervisor_iteration(const struct supervisor *sup, struct error *err)
{
	uint32_t attempt = sup->state.attempt ? sup->state.attempt : 1;
	char *folder = loop_folder_iteration(sup->folder, sup->state.iteration, attempt);

	if (state_folder_make(folder, 0700) == 0)
		return folder;
	error_sys(err, "create '%s'", folder);
	free(folder);
	return NULL;
}

void supervisor_beat(struct supervisor *sup)
{
	struct error err;

	sup->heart.beat_ms = wait_set_steady_ms();
	sup->heart.stale = false;
	if (json_array_size(json_object_get(sup->state.config, "notify")))
		notify_start(sup->folder); /* again, if it was killed */
	if (loop_report_state(sup->folder, &sup->state, clock_wall_ms(), &err) < 0)
		fprintf(stderr, "%s\n", err.text);
}

int supervisor_append(struct supervisor *sup, enum loop_event kind, json_t *data, struct error *err)
{
	AUTO_FREE char *text = json_dumps(data, JSON_COMPACT);
	struct journal_event event = { .seq = sup->state.last_seq + 1,
				       .at_ms = clock_wall_ms(),
				       .kind = loop_event_name(kind),
				       .data = text };

	json_decref(data);
	if (!text)
		return error_set(err, "an event cannot be written as JSON");
	if (journal_append(sup->store, loop_event_can_wait(kind) ? JOURNAL_LATER : JOURNAL_NOW,
			   event.at_ms, event.kind, event.data, err) < 0 ||
	    loop_state_fold(&sup->state, &event, err) < 0)
		return -1;
	sup->heart.stale = true;
	return 0;
}

int64_t supervisor_jump_ms(int64_t apart_before_ms, int64_t apart_ms)
{
	int64_t jump = apart_ms - apart_before_ms;

	return jump > JUMP_MS || jump < -JUMP_MS ? jump : 0;
}

int supervisor_clock(struct supervisor *sup, struct error *err)
{
	int64_t apart_ms = clock_wall_ms() - wait_set_steady_ms();
	int64_t jump_ms = sup->heart.apart_ms ? supervisor_jump_ms(sup->heart.apart_ms, apart_ms)
					      : 0;

	sup->heart.apart_ms = apart_ms; /* follows a clock that is adjusted gradually */
	if (!jump_ms || sup->state.step == LOOP_STEP_finished)
		return 0;
	return supervisor_append(sup, LOOP_EVENT_changed,
				 json_pack("{s:I}", "down_ms", (json_int_t)jump_ms), err);
}

void supervisor_wait(struct supervisor *sup, int64_t at_most_ms)
{
	int64_t now_ms;
	struct error err;

	if (supervisor_clock(sup, &err) < 0)
		fprintf(stderr, "%s\n", err.text); /* the next event reports it again */
	/* Nothing depends on the file, so it is written when there is time. */
	if (sup->heart.stale)
		supervisor_beat(sup);
	now_ms = clock_wall_ms();
	wait_set_round(&sup->waits, at_most_ms == INT64_MAX
					    ? INT64_MAX
					    : wait_set_steady_ms() + (at_most_ms - now_ms));
}
