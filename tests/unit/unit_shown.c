/* Only the commits that a person was shown are applied, whatever happens before the yes. */
#include "ops/apply_pins.h"
#include "ops/apply_question.h"
#include "ops/op_apply.h"
#include "snapshot/snapshot.h"
#include "unit.h"
#include "util/mem.h"

#include <jansson.h>

static const char *tip, *outcome; /* the loop's commit and its tree, as they are now */
static int applied;

static int run(struct snapshot_work *work, json_t **ret_answer)
{
	applied += !list_has(&work->arguments, "dry=1");
	*ret_answer = json_pack("{s:s, s:s, s:s, s:s}", "kind", "forward", "branch", "main",
				"theirs", tip, "tree", outcome);
	return 0;
}

#define snapshot_run(work, output, ret_answer, err)     ((void)(err), run(work, ret_answer))
#define op_find(target, ret_loop, err)                  ((void)(target), (void)(err), OP_DONE)
#define apply_question_make(answer, question, err)      0
#define apply_pins_find(state, loop, number, pins, why) ((void)(loop), 0)
#define client_running(state, project)                  NULL
#define client_subject(options)                         mem_dup("do it")
#include "../../src/ops/op_apply.c"

static enum op_status apply(const json_t *shown, struct op_apply_result *ret_result)
{
	const struct op_apply_request request = {
		.target = { .state = "/w/state", .project = "/w/p", .loop = "one" },
		.dry = !shown,
		.shown = shown
	};
	struct error err;

	return op_apply(&request, ret_result, &err);
}

/* Looks at the result, lets it become another one, and agrees. Returns the status. */
static enum op_status agree(const char *next_tip, const char *next_outcome)
{
	struct op_apply_result seen, done;
	enum op_status status;

	tip = "1111";
	outcome = "aaaa";
	applied = 0;
	CHECK("a preview changes nothing", apply(NULL, &seen) == OP_UNCHANGED && applied == 0);
	tip = next_tip;
	outcome = next_outcome;
	status = apply(seen.details, &done);
	op_apply_release(&seen);
	op_apply_release(&done);
	return status;
}

int main(void)
{
	CHECK("what was shown is applied", agree("1111", "aaaa") == OP_DONE && applied == 1);
	CHECK("later commits of the loop are not",
	      agree("2222", "aaaa") == OP_RUNNING && applied == 0);
	CHECK("nor is another result of the same commits",
	      agree("1111", "bbbb") == OP_RUNNING && applied == 0);
	return unit_failures > 0;
}
