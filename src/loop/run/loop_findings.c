/* Findings of a loop: see loop_findings.h. */
#include "loop/run/loop_findings.h"

#include "loop/run/loop_checkpoint.h"
#include "loop/state/loop_report.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

/* Records what was found, unless it is known. */
static int record(struct supervisor *sup, json_t *answer, const char *failed, struct error *err)
{
	json_t *findings = json_object_get(answer, "findings");
	json_t *data;

	if (!failed && json_array_size(findings) == json_array_size(sup->state.findings) &&
	    (!json_array_size(findings) || json_equal(findings, sup->state.findings)))
		return 0;
	data = json_pack("{s:i, s:I, s:O?, s:I}", "iteration", (int)sup->state.iteration,
			 "checkpoint", (json_int_t)sup->state.checkpoint, "findings", findings,
			 "count", (json_int_t)jsonget_number(answer, "count"));
	if (failed)
		json_object_set_new(data, "error", loop_report_text(failed));
	return supervisor_append(sup, LOOP_EVENT_examined, data, err);
}

int loop_findings_take(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *failed = NULL;
	json_t *answer = NULL;
	int result;

	if (!sup->state.options.findings || sup->state.checkpoint < 0 ||
	    sup->state.checkpoint_error)
		return 0;
	result = loop_checkpoint_examine(sup, &answer, &failed, err);
	if (result == 0 && !sup->leaving)
		result = record(sup, answer, failed, err);
	json_decref(answer);
	return result;
}
