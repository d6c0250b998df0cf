/* The actions of a person on a loop: see op_action.h. */
#include "ops/op_action.h"

#include "loop/state/loop_accepted.h"
#include "ops/op_abort.h"
#include "ops/op_clean.h"
#include "ops/op_pause.h"
#include "ops/op_resume.h"
#include "ops/op_rollback.h"
#include "ops/op_tell.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

/* The words of client_status(), as bits. */
enum status {
#define STATUS(name) STATUS_##name,
	LOOP_STATUSES(STATUS)
#undef STATUS
		STATUS_COUNT
};

#define IN(name) (1U << STATUS_##name)
#define ALIVE    (IN(starting) | IN(running) | IN(waiting) | IN(restarting))
#define STOPPED  (IN(paused) | IN(interrupted))
#define ENDED    (IN(completed) | IN(limit) | IN(failed) | IN(aborted))

static bool has_checkpoint(const struct client_loop *loop)
{
	return loop->state.checkpoint >= 0;
}

static bool has_result(const struct client_loop *loop)
{
	const struct loop_options *of = &loop->state.options;

	return loop->state.checkpoint > 0 && (of->draft || of->work_tree || loop->state.git_ref);
}

static bool is_blocked(const struct client_loop *loop)
{
	return loop->state.blocked != NULL;
}

static bool has_findings_to_accept(const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;

	return state->only_findings ||
	       loop_accepted_count_open(state->accepted, state->findings, "stop") > 0;
}

static bool wishes_nothing(const struct client_loop *loop)
{
	return loop->state.wish == LOOP_WISH_NONE;
}

static const struct {
	uint32_t statuses;
	bool damaged; /* also for one whose journal cannot be read */
	bool (*fits)(const struct client_loop *loop); /* NULL: every loop with such a status */
	struct op_action_form form;
} actions[OP_ACTION_COUNT] = {
	[OP_ACTION_pause] = { ALIVE,
			      false,
			      wishes_nothing,
			      { "pause", "Pause", "Stops the loop after its current iteration.",
				'p', OP_ACTION_NOTHING, false } },
	[OP_ACTION_resume] = { STOPPED | IN(limit) | IN(failed) | IN(aborted),
			       false,
			       NULL,
			       { "resume", "Resume", "Continues the loop where it stopped.", 'r',
				 OP_ACTION_NOTHING, false } },
	[OP_ACTION_answer] = { IN(paused),
			       false,
			       is_blocked,
			       { "answer", "Answer",
				 "Answers the agent, which is blocked, and continues.", 'a',
				 OP_ACTION_TEXT, false } },
	[OP_ACTION_accept] = { IN(paused),
			       false,
			       has_findings_to_accept,
			       { "accept", "Accept findings",
				 "Accepts all signs that the changes weaken the checks, and "
				 "continues.",
				 'f', OP_ACTION_NOTHING, false } },
	[OP_ACTION_tell] = { ALIVE | STOPPED | IN(limit) | IN(failed) | IN(aborted),
			     false,
			     NULL,
			     { "tell", "Tell", "Adds a message to the agent's next prompt.", 't',
			       OP_ACTION_TEXT, false } },
	[OP_ACTION_abort] = { ALIVE | STOPPED,
			      false,
			      NULL,
			      { "abort", "Abort", "Ends the loop and everything that it started.",
				'x', OP_ACTION_NOTHING, true } },
	[OP_ACTION_roll_back] = { STOPPED | ENDED,
				  false,
				  has_checkpoint,
				  { "roll-back", "Roll back", "Restores files from a checkpoint.",
				    'b', OP_ACTION_CHECKPOINT, true } },
	[OP_ACTION_apply] = { STOPPED | ENDED,
			      false,
			      has_result,
			      { "apply", "Apply", "Brings the loop's changes into your project.",
				'y', OP_ACTION_NOTHING, false } },
	[OP_ACTION_clean] = { ENDED,
			      true,
			      NULL,
			      { "clean", "Remove", "Removes the loop with logs and checkpoints.",
				'd', OP_ACTION_NOTHING, true } },
};

const struct op_action_form *op_action_form(enum op_action action)
{
	return &actions[action].form;
}

int op_action_find(const char *name, enum op_action *ret_action)
{
	for (int i = 0; i < OP_ACTION_COUNT; i++)
		if (strcmp(actions[i].form.name, name) == 0) {
			*ret_action = (enum op_action)i;
			return 0;
		}
	return -1;
}

static uint32_t status_bit(const char *status)
{
	static const char *const names[STATUS_COUNT] = {
#define STATUS(name) #name,
		LOOP_STATUSES(STATUS)
#undef STATUS
	};

	for (int i = 0; i < STATUS_COUNT; i++)
		if (strcmp(names[i], status) == 0)
			return 1U << i;
	return 0;
}

bool op_action_is_offered(enum op_action action, const struct client_loop *loop)
{
	if (loop->damaged)
		return actions[action].damaged && !loop->alive;
	return (actions[action].statuses & status_bit(client_status(loop))) &&
	       (!actions[action].fits || actions[action].fits(loop));
}

/* ---- questions and results ---- */

/* Asks, unless the user has agreed to exactly this. Takes ownership of text. */
static enum op_status ask(const struct op_action_request *request, struct op_action_result *result,
			  char *text)
{
	const struct op_answer answer = { .token = request->token };

	op_question_set(&result->question, OP_QUESTION_ACT, text);
	return op_agreed(&answer, &result->question) ? OP_DONE : OP_ASKS;
}

/* Takes the question of another operation over. */
static void take_question(struct op_action_result *result, struct op_question *question)
{
	op_question_release(&result->question);
	result->question = *question;
	*question = (struct op_question){ 0 };
}

static struct op_target target_of(const struct op_action_request *request)
{
	return (struct op_target){ .state = request->state, .loop = request->loop };
}

/* ---- one function for each action ---- */

typedef enum op_status run_fn(const struct op_action_request *request,
			      const struct client_loop *loop, struct op_action_result *result,
			      struct error *err);

static enum op_status run_pause(const struct op_action_request *request,
				const struct client_loop *loop, struct op_action_result *result,
				struct error *err)
{
	const struct op_pause_request pause = { .target = target_of(request) };
	struct op_pause_result done;
	enum op_status status =
		ask(request, result,
		    mem_format("Pause loop %s after its current iteration?", loop->id));

	if (status != OP_DONE)
		return status;
	status = op_pause(&pause, &done, err);
	op_pause_release(&done);
	result->text = mem_format("loop %s will pause after its current iteration", loop->id);
	return status;
}

static enum op_status resume_with(const struct op_action_request *request,
				  const struct client_loop *loop, const char *answer,
				  struct op_action_result *result, struct error *err)
{
	json_t *changes = request->changes ? json_deep_copy(request->changes) : json_object();
	const struct op_resume_request resume = { .target = target_of(request),
						  .changes = changes,
						  .answer = answer,
						  .before = request->before,
						  .context = request->context };
	struct op_resume_result done;
	enum op_status status;

	if (request->action == OP_ACTION_accept)
		json_object_set_new(changes, "accept_findings", json_true());
	status = op_resume(&resume, &done, err);
	op_resume_release(&done);
	json_decref(changes);
	result->text = mem_format("loop %s continues", loop->id);
	return status;
}

static enum op_status run_resume(const struct op_action_request *request,
				 const struct client_loop *loop, struct op_action_result *result,
				 struct error *err)
{
	enum op_status status = ask(request, result,
				    mem_format("Continue loop %s where it stopped?", loop->id));

	return status == OP_DONE ? resume_with(request, loop, NULL, result, err) : status;
}

static enum op_status run_accept(const struct op_action_request *request,
				 const struct client_loop *loop, struct op_action_result *result,
				 struct error *err)
{
	size_t index;
	json_t *finding;
	enum op_status status;

	json_array_foreach(loop->state.findings, index, finding)
	{
		const struct op_item item = { .name = (char *)jsonget_text(finding, "path"),
					      .value = (char *)jsonget_text(finding, "action"),
					      .why = (char *)jsonget_text(finding, "says") };

		op_question_add(&result->question, &item);
	}
	status = ask(request, result,
		     mem_format("Accept these signs that the changes weaken the checks, and "
				"continue loop %s?",
				loop->id));
	return status == OP_DONE ? resume_with(request, loop, NULL, result, err) : status;
}

/* Returns the cleaned text, which the caller frees, or NULL with err set. */
static char *text_of(const struct op_action_request *request, struct error *err)
{
	const char *text = request->text ? request->text : "";

	return told_clean(text, strlen(text), err);
}

/* A typed text is a decision: there is no question. */
static enum op_status run_answer(const struct op_action_request *request,
				 const struct client_loop *loop, struct op_action_result *result,
				 struct error *err)
{
	AUTO_FREE char *text = text_of(request, err);

	return text ? resume_with(request, loop, text, result, err) : OP_INVALID;
}

static char *fate_text(const struct client_loop *loop, enum op_tell_fate fate)
{
	if (fate == OP_TELL_AGAIN)
		return mem_format("the agent of loop %s is stopped, and begins its iteration again "
				  "with the message",
				  loop->id);
	if (fate == OP_TELL_STOPPED)
		return mem_format("the agent of loop %s gets the message when the loop continues",
				  loop->id);
	return mem_format("the agent of loop %s gets the message with its next prompt", loop->id);
}

/* Only to stop an agent needs a yes. */
static enum op_status run_tell(const struct op_action_request *request,
			       const struct client_loop *loop, struct op_action_result *result,
			       struct error *err)
{
	AUTO_FREE char *text = text_of(request, err);
	const struct op_tell_request tell = { .target = target_of(request),
					      .text = text,
					      .now = request->now };
	struct op_tell_result done;
	enum op_status status = OP_DONE;

	if (!text)
		return OP_INVALID;
	if (request->now)
		status = ask(request, result,
			     mem_format("Stop the agent of loop %s, and begin its iteration again "
					"with the message?",
					loop->id));
	if (status != OP_DONE)
		return status;
	status = op_tell(&tell, &done, err);
	result->text = fate_text(loop, done.fate);
	op_tell_release(&done);
	return status;
}

static enum op_status run_abort(const struct op_action_request *request,
				const struct client_loop *loop, struct op_action_result *result,
				struct error *err)
{
	const struct op_abort_request abort = { .target = target_of(request), .now = request->now };
	struct op_abort_result done;
	enum op_status status = ask(request, result,
				    mem_format("Abort loop %s? All of its processes are %s.",
					       loop->id, request->now ? "killed" : "ended"));

	if (status != OP_DONE)
		return status;
	status = op_abort(&abort, &done, err);
	op_abort_release(&done);
	result->text = mem_format("loop %s was aborted; none of its processes is left", loop->id);
	return status;
}

static enum op_status run_roll_back(const struct op_action_request *request,
				    const struct client_loop *loop, struct op_action_result *result,
				    struct error *err)
{
	const struct op_rollback_request rollback = { .target = target_of(request),
						      .checkpoint = request->checkpoint,
						      .answer.token = request->token };
	AUTO_FREE char *subject = op_rollback_subject(&rollback, loop);
	struct op_rollback_result done;
	enum op_status status = op_rollback(&rollback, &done, err);

	take_question(result, &done.question);
	result->text = status == OP_UNCHANGED
			       ? mem_format("nothing to do: %s is as in checkpoint %lld", subject,
					    (long long)request->checkpoint)
			       : mem_format("rolled back %s to checkpoint %lld; the state before "
					    "that is checkpoint %lld",
					    subject, (long long)request->checkpoint,
					    (long long)done.saved);
	op_rollback_release(&done);
	return status;
}

static enum op_status run_clean(const struct op_action_request *request,
				const struct client_loop *loop, struct op_action_result *result,
				struct error *err)
{
	const struct op_clean_request clean = { .state = request->state,
						.loop = loop->id,
						.now_ms = clock_wall_ms(),
						.answer.token = request->token };
	struct op_clean_result done;
	enum op_status status = op_clean(&clean, &done, err);

	take_question(result, &done.question);
	result->text = mem_format("loop %s was removed%s", loop->id,
				  done.kept_branches.count ? "; its branch was kept" : "");
	op_clean_release(&done);
	return status;
}

static run_fn *const runs[OP_ACTION_COUNT] = {
	[OP_ACTION_pause] = run_pause,         [OP_ACTION_resume] = run_resume,
	[OP_ACTION_answer] = run_answer,       [OP_ACTION_accept] = run_accept,
	[OP_ACTION_tell] = run_tell,           [OP_ACTION_abort] = run_abort,
	[OP_ACTION_roll_back] = run_roll_back, [OP_ACTION_apply] = op_action_apply,
	[OP_ACTION_clean] = run_clean,
};

/* Keeps of the result what belongs to the status. */
static void tidy(struct op_action_result *result, enum op_status status)
{
	if (status != OP_ASKS)
		op_question_release(&result->question);
	if (status != OP_DONE && status != OP_UNCHANGED) {
		free(result->text);
		result->text = NULL;
	}
}

enum op_status op_action_run(const struct op_action_request *request,
			     struct op_action_result *ret_result, struct error *err)
{
	const struct op_target target = target_of(request);
	struct client_loop loop = { 0 };
	enum op_status status;

	*ret_result = (struct op_action_result){ 0 };
	status = op_find(&target, &loop, err);
	if (status == OP_DONE || (status == OP_DAMAGED && actions[request->action].damaged))
		status = runs[request->action](request, &loop, ret_result, err);
	tidy(ret_result, status);
	client_loop_release(&loop);
	return status;
}

void op_action_release(struct op_action_result *result)
{
	free(result->text);
	op_question_release(&result->question);
	json_decref(result->details);
	*result = (struct op_action_result){ 0 };
}
