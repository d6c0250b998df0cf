/* Processes that die and are started again: see retry.h. */
#include "loop/run/retry.h"

#include "loop/state/loop_report.h"

/* A task is tried this often in all. */
enum { MOST_TRIES = 3 };

int retry_after(struct supervisor *sup, const char *task, const struct error *why, int *tries,
		struct error *err)
{
	if (why->status != ERROR_DIED || ++*tries >= MOST_TRIES)
		return 0;
	return supervisor_append(sup, LOOP_EVENT_retried,
				 json_pack("{s:s, s:o}", "task", task, "error",
					   loop_report_text(why->text)),
				 err) < 0
		       ? -1
		       : 1;
}
