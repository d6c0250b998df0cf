/* Findings of a loop: see loop_findings.h. */
#include "loop/run/loop_findings.h"

#include "loop/run/loop_checkpoint.h"
#include "loop/state/loop_report.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

static bool is_known(const json_t *list, const json_t *known)
{
	return json_array_size(list) == json_array_size(known) &&
	       (!json_array_size(list) || json_equal(list, known));
}

/* Records what was found, unless it is known. */
static int record(struct supervisor *sup, json_t *answer, const char *failed, struct error *err)
{
	json_t *findings = json_object_get(answer, "findings");
	json_t *pinned = json_object_get(answer, "pinned");
	json_t *data;

	if (!failed && is_known(findings, sup->state.findings) &&
	    is_known(pinned, sup->state.pinned))
		return 0;
	data = json_pack("{s:i, s:I, s:O?, s:O?, s:I}", "iteration", (int)sup->state.iteration,
			 "checkpoint", (json_int_t)sup->state.checkpoint, "findings", findings,
			 "pinned", pinned, "count", (json_int_t)jsonget_number(answer, "count"));
	if (failed)
		json_object_set_new(data, "error", loop_report_text(failed));
	return supervisor_append(sup, LOOP_EVENT_examined, data, err);
}

int loop_findings_take(struct supervisor *sup, const char *pinned, char **ret_failed,
		       struct error *err)
{
	char *failed = NULL;
	json_t *answer = NULL;
	int result;

	*ret_failed = NULL;
	if (!sup->state.options.findings || sup->state.checkpoint < 0 ||
	    sup->state.checkpoint_error)
		return 0;
	result = loop_checkpoint_examine(sup, pinned, &answer, &failed, err);
	if (result == 0 && !sup->leaving)
		result = record(sup, answer, failed, err);
	json_decref(answer);
	*ret_failed = failed;
	return result;
}
