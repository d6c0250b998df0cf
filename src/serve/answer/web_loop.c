/* A loop: see web_loop.h. */
#include "serve/answer/web_loop.h"

#include "ops/op_action.h"
#include "util/clock.h"
#include "util/mem.h"
#include "view/activity.h"
#include "view/view_json.h"
#include "view/view_limits.h"
#include "view/view_now.h"

#include <string.h>
#include <sys/stat.h>

/* ---- the present ---- */

static const char *wish_name(enum loop_wish wish)
{
	return wish == LOOP_WISH_PAUSE ? "pause" : wish == LOOP_WISH_ABORT ? "abort" : NULL;
}

static json_t *now_json(const struct view_now *now)
{
	return json_pack("{s:s, s:o, s:I, s:i, s:i, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}",
			 "step", loop_event_step_name(now->step), "wish",
			 view_json_text(wish_name(now->wish)), "since_ms",
			 (json_int_t)now->since_ms, "iteration", (int)now->iteration, "attempt",
			 (int)now->attempt, "agent", view_json_text(now->agent), "doing",
			 view_json_text(now->doing), "check", view_json_text(now->check),
			 "check_number", (int)now->check_number, "check_count",
			 (int)now->check_count, "line", view_json_text(now->line), "until_ms",
			 view_json_number(now->until_ms ? now->until_ms : -1), "reason",
			 view_json_text(now->reason));
}

/* The log that grows in this step. */
static json_t *transcript_json(const struct client_loop *loop, const struct view_now *now)
{
	AUTO_FREE char *agent = activity_log(loop, now->iteration, now->attempt);
	AUTO_FREE char *name = now->step == LOOP_STEP_review
				       ? mem_format("review-%u.stdout", loop->state.review.runs)
			       : now->check ? mem_format("%s-%zu.stdout", now->check_file,
							 now->check_number)
					    : mem_dup("stdout");
	AUTO_FREE char *path = mem_format("%.*s/%s.log", (int)(strrchr(agent, '/') - agent), agent,
					  name);
	struct stat info = { 0 };

	if (stat(path, &info) < 0)
		info.st_size = 0;
	return json_pack("{s:i, s:i, s:s, s:I}", "iteration", (int)now->iteration, "attempt",
			 (int)now->attempt, "log", name, "size", (json_int_t)info.st_size);
}

static json_t *actions_json(const struct client_loop *loop)
{
	static const char *const inputs[] = { [OP_ACTION_NOTHING] = "nothing",
					      [OP_ACTION_TEXT] = "text",
					      [OP_ACTION_CHECKPOINT] = "checkpoint" };
	json_t *list = json_array();

	for (int i = 0; i < OP_ACTION_COUNT; i++) {
		const struct op_action_form *form = op_action_form((enum op_action)i);
		const char key[] = { form->key, '\0' };

		if (!op_action_is_offered((enum op_action)i, loop))
			continue;
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "name",
						      form->name, "title", form->title, "about",
						      form->about, "key", key, "input",
						      inputs[form->input], "loses", form->loses));
	}
	return list;
}

static bool ticks(const struct client_loop *loop)
{
	return loop->alive && loop->state.step != LOOP_STEP_finished &&
	       loop->state.step != LOOP_STEP_paused;
}

json_t *web_loop_present(const struct client_loop *loop)
{
	AUTO_FREE char *reason = loop->damaged ? NULL : client_reason(loop);
	json_t *object = json_pack("{s:s, s:s, s:b, s:o, s:n, s:n, s:o}", "id", loop->id, "status",
				   client_status(loop), "damaged", loop->damaged, "reason",
				   view_json_text(loop->damaged ? loop->trouble : reason), "now",
				   "transcript", "actions", actions_json(loop));
	struct view_limits limits;
	struct view_now now;

	if (loop->damaged)
		return object;
	view_limits_read(loop, clock_wall_ms(), &limits);
	view_now_read(loop, &now);
	json_object_set_new(object, "journal", json_integer((json_int_t)loop->state.last_seq));
	json_object_set_new(object, "ticks", json_boolean(ticks(loop)));
	json_object_set_new(object, "cost_nusd", json_integer((json_int_t)limits.cost_nusd));
	json_object_set_new(object, "now", now_json(&now));
	json_object_set_new(object, "transcript", transcript_json(loop, &now));
	view_now_release(&now);
	return object;
}

void web_loop_clock(json_t *object, const struct client_loop *loop, int64_t now_ms)
{
	json_t *list = json_object();
	struct view_limits limits;

	json_object_set_new(object, "time_ms", json_integer((json_int_t)now_ms));
	json_object_set_new(object, "limits", list);
	if (loop->damaged) {
		json_object_set_new(object, "limits", json_null());
		return;
	}
	view_limits_read(loop, now_ms, &limits);
	for (int i = 0; i < VIEW_LIMIT_COUNT; i++)
		json_object_set_new(list, view_limits_name((enum view_limit_kind)i),
				    json_pack("{s:I, s:I, s:i}", "used",
					      (json_int_t)limits.of[i].used, "total",
					      (json_int_t)limits.of[i].total, "permille",
					      (int)limits.of[i].permille));
	json_object_update_new(list, json_pack("{s:I, s:I, s:I, s:I}", "elapsed_ms",
					       (json_int_t)limits.elapsed_ms, "cost_nusd",
					       (json_int_t)limits.cost_nusd, "estimated_nusd",
					       (json_int_t)limits.estimated_nusd, "rate_nusd",
					       (json_int_t)limits.rate_nusd));
}

/* ---- everything ---- */

static void add_check(json_t *list, const char *kind, size_t index, const char *command)
{
	json_array_append_new(list, json_pack("{s:s, s:i, s:o}", "kind", kind, "index", (int)index,
					      "command", view_json_text(command)));
}

static json_t *checks_json(const struct loop_state *state)
{
	const struct loop_options *options = &state->options;
	const struct loop_phase *phase = loop_state_phase(state);
	size_t own = options->checks.count;
	json_t *list = json_array();

	for (size_t i = 0; i < loop_options_check_count(options); i++)
		add_check(list, i < own ? "check" : "final", i < own ? i : i - own,
			  loop_options_check(options, i));
	for (size_t i = 0; phase && i < loop_phase_checks(phase); i++)
		add_check(list, "phase", i, loop_phase_check(phase, i));
	return list;
}

static json_t *told_json(const struct loop_state *state)
{
	json_t *list = json_array();

	for (size_t i = 0; i < state->told_count; i++)
		json_array_append_new(list, json_pack("{s:o, s:b}", "text",
						      view_json_text(state->told[i].text), "given",
						      state->told[i].given));
	return list;
}

static json_t *list_of(json_t *list)
{
	return json_is_array(list) ? json_incref(list) : json_array();
}

static void add_all(json_t *object, const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;

	json_object_update_new(object,
			       json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "loop",
					 client_json(loop), "objective",
					 view_json_text(state->options.objective), "final",
					 view_json_text(state->final), "blocked",
					 view_json_text(state->blocked), "checks",
					 checks_json(state), "findings", list_of(state->findings),
					 "review", list_of(state->review.findings), "untested",
					 list_of(state->mutants.untested), "told",
					 told_json(state)));
}

int web_loop_answer(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	struct client_loop loop;

	if (web_ask_loop(ask, &loop, err) < 0)
		return -1;
	answer->json = web_loop_present(&loop);
	web_loop_clock(answer->json, &loop, clock_wall_ms());
	if (!loop.damaged)
		add_all(answer->json, &loop);
	client_loop_release(&loop);
	return 0;
}
