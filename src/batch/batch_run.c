/* A batch that runs: see batch_run.h. */
#include "batch/batch_run.h"

#include "batch/batch_fold.h"
#include "util/clock.h"
#include "util/mem.h"

int batch_run_append(struct batch_run *run, enum batch_event kind, json_t *data, struct error *err)
{
	AUTO_FREE char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
	struct journal_event event = { .seq = run->state.last_seq + 1,
				       .at_ms = clock_wall_ms(),
				       .kind = batch_event_name(kind),
				       .data = text };

	json_decref(data);
	if (!text)
		return error_set(err, "an event cannot be written as JSON");
	run->stale = true;
	return journal_append(run->store, JOURNAL_NOW, event.at_ms, event.kind, text, err) < 0
		       ? -1
		       : batch_fold(&run->state, &event, err);
}

/* The reason may have a path that is not valid UTF-8. */
int batch_run_append_task(struct batch_run *run, enum batch_event kind, size_t task,
			  const char *reason, struct error *err)
{
	return batch_run_append(run, kind,
				json_pack("{s:s, s:o*}", "task", run->state.tasks[task].id,
					  "reason", reason ? client_text(reason) : NULL),
				err);
}
