/* One run of a check: see check_run.h. */
#include "loop/supervise/check_run.h"

#include "loop/state/loop_report.h"
#include "loop/supervise/judge.h"
#include "loop/supervise/step_end.h"
#include "util/text/text.h"

enum { LIMIT_BYTES = 128 };

/* Pinned tests cannot become fewer, unless the user has unpinned some. */
static struct judge_check_facts facts_of(const struct supervisor *sup,
					 const struct check_run_request *run)
{
	const struct loop_options *options = &sup->state.options;
	const struct loop_state_check *before = run->apart ? NULL : &sup->state.checks[run->index];
	bool pinned = run->view && !json_array_size(options->unpin);

	return (struct judge_check_facts){
		.index = run->index,
		.command = run->command,
		.summary = before && before->summary_before,
		.least = before && pinned ? before->total_before : 0,
		.most = (size_t)options->prompt.output_bytes,
	};
}

json_t *check_run(struct supervisor *sup, const struct check_run_request *run, int *ret_ended,
		  struct error *err)
{
	AUTO_BUFFER struct buffer own = BUFFER_INIT(1 << 20);
	struct buffer *text = run->output ? run->output : &own;
	struct judge_check_facts facts;
	struct runner_result result;
	json_t *data;
	bool ended;
	const struct work work = { .command = run->command,
				   .final = run->final,
				   .view = run->view,
				   .input = "",
				   .timeout_ms = run->timeout_ms
							 ? run->timeout_ms
							 : sup->state.options.check_timeout_ms,
				   .folder = run->folder,
				   .name = run->name };

	*ret_ended = -1;
	if (work_run(sup, &work, &result, err) < 0)
		return NULL;
	sink_text(&sup->run.output, text);
	sink_text(&sup->run.complaints, text);
	ended = step_end_cut(sup, &result, ret_ended, err);
	work_forget(sup);
	if (ended)
		return NULL;
	facts = facts_of(sup, run);
	data = judge_check(&facts, &result, buffer_text(text), text->used);
	json_object_set_new(data, "new",
			    json_boolean(sup->state.step == LOOP_STEP_checks && !run->apart &&
					 result.kind != FENCE_OK &&
					 sup->state.checks[run->index].held_before));
	if (runner_out_of_time(&result)) {
		AUTO_BUFFER struct buffer limit = BUFFER_INIT(LIMIT_BYTES);

		buffer_add_text(&limit, "--check-timeout ");
		text_add_duration(&limit, (uint64_t)work.timeout_ms);
		json_object_set_new(data, "limit", json_string(buffer_text(&limit)));
	}
	loop_report_add_found(run->folder, run->name, data);
	return data;
}
