/* The agent's main loop: see turn.h. */
#include "builtin/turn.h"

#include "builtin/emit.h"
#include "util/mem.h"
#include "util/text/sha256.h"

#include <stdlib.h>
#include <string.h>

enum { REMEMBERED = 32 };

/* Hashes of the latest calls with their results, in a ring. */
struct repeats {
	char seen[REMEMBERED][SHA256_HEX];
	size_t next;
};

struct state {
	struct turn *turn;
	struct repeats repeats;
	size_t calls; /* so far */
	long requests;
	/* value of `requests` when the model was first warned of repeating itself; 0: never */
	long warned_at;
	int nudges;
	bool repeating; /* the model repeats itself: end the turn */
};

static size_t count_repeats(struct repeats *repeats, const struct conversation_block *call,
			    const struct buffer *result)
{
	AUTO_BUFFER struct buffer all = BUFFER_INIT(3 * CONVERSATION_BLOCK);
	char hash[SHA256_HEX];
	size_t times = 1;

	buffer_add_text(&all, call->name);
	buffer_add(&all, "", 1);
	buffer_add(&all, call->text.data, call->text.used);
	buffer_add(&all, "", 1);
	buffer_add(&all, result->data, result->used);
	sha256_hex(all.data, all.used, hash);
	for (size_t i = 0; i < REMEMBERED; i++)
		times += strcmp(repeats->seen[i], hash) == 0;
	memcpy(repeats->seen[repeats->next], hash, sizeof hash);
	repeats->next = (repeats->next + 1) % REMEMBERED;
	return times;
}

static int fail(const char *kind, const char *text, int64_t reset_at)
{
	emit_error(kind, text, reset_at);
	return -1;
}

static void run_call(struct state *state, const struct conversation_block *call, bool was_cut,
		     struct conversation_block *result)
{
	struct tool_context *ctx = state->turn->ctx;
	AUTO_BUFFER struct buffer target = BUFFER_INIT(4096);
	size_t times;

	result->id = mem_dup(call->id);
	tool_target(call->name, buffer_text((struct buffer *)&call->text), &target);
	emit_tool(call->name, buffer_text(&target));
	if (call->broken) {
		result->failed = true;
		buffer_printf(
			&result->text,
			"The arguments of this call are not a JSON object, so nothing was done. %sThey start with: %.300s",
			was_cut ? "Your reply was cut off at its length limit: use smaller pieces. "
				: "",
			call->raw);
	} else {
		result->failed = !tool_call(ctx, call->name,
					    buffer_text((struct buffer *)&call->text),
					    &result->text);
	}
	for (size_t i = 0; i < ctx->files.count; i++)
		emit_file(ctx->files.items[i]);
	times = count_repeats(&state->repeats, call, &result->text);
	/* After a first change, repeating an earlier call makes sense: a test, for example. */
	if (ctx->files.count && times == 1) {
		state->repeats = (struct repeats){ 0 };
		count_repeats(&state->repeats, call, &result->text);
	}
	list_release(&ctx->files);
	emit_result(!result->failed, result->text.data, result->text.used);
	if (times >= TURN_WARN_REPEATS)
		buffer_printf(
			&result->text,
			"\n\n[You have made this call and got this result %zu times. It will not change: "
			"try something else, or report what blocks you and end.]",
			times);
	/* The model must have seen the warning. */
	if (times >= TURN_WARN_REPEATS && !state->warned_at)
		state->warned_at = state->requests;
	state->repeating = state->repeating ||
			   (times >= TURN_MAX_REPEATS && state->requests > state->warned_at);
}

/* Runs all calls of the reply in order; their results become one message. */
static int run_calls(struct state *state, const struct conversation_message *answer, bool was_cut,
		     struct error *err)
{
	struct conversation_message results = { 0 };

	for (size_t i = 0; i < answer->count; i++) {
		if (answer->blocks[i].kind != BLOCK_CALL)
			continue;
		state->calls++;
		run_call(state, &answer->blocks[i], was_cut,
			 conversation_message_add(&results, BLOCK_RESULT));
	}
	window_trim(&state->turn->window, &results);
	if (conversation_add(&state->turn->conversation, &results, err) == 0)
		return 0;
	conversation_message_release(&results);
	return -1;
}

static void write_request(struct turn *turn, bool no_tools, struct buffer *out)
{
	const struct dialect_request request = { .model = turn->completion->model,
						 .system = turn->system,
						 .conversation = &turn->conversation,
						 .most = turn->window.output,
						 .local = turn->completion->local,
						 .no_tools = no_tools };

	*out = BUFFER_INIT(DIALECT_REQUEST);
	turn->completion->dialect->write(&request, out);
}

static void learn(struct turn *turn, uint64_t bytes, const struct reply *answer)
{
	const uint64_t *tokens = answer->usage.usage.use.tokens;

	if (answer->usage.usage.has_input)
		window_learn(&turn->window, bytes,
			     tokens[PRICE_INPUT] + tokens[PRICE_READ] + tokens[PRICE_WRITE_5M] +
				     tokens[PRICE_WRITE_1H]);
}

/*
 * Asks the model for a summary and replaces the conversation with it. Returns 0, or -1 if that
 * failed.
 */
static int summarize(struct state *state)
{
	static const char request[] =
		"The conversation is about to be shortened to save space. Write down, for yourself, all that you need to "
		"continue: the task, what you found out, what you changed in which files, what is left to do, and what "
		"did not work. Do not call tools.";
	struct turn *turn = state->turn;
	AUTO_BUFFER struct buffer body = { 0 };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(CONVERSATION_BLOCK);
	struct reply answer;
	struct completion_end end;
	struct error err;
	int result = -1;

	if (conversation_add_text(&turn->conversation, request, sizeof request - 1, &err) < 0)
		return -1;
	write_request(turn, true, &body);
	conversation_remove(&turn->conversation, turn->conversation.count - 1,
			    turn->conversation.count);
	state->requests++;
	completion_request(turn->completion, buffer_text(&body), body.used, state->calls, &answer,
			   &end);
	if (end.failure == FAILURE_NONE) {
		learn(turn, body.used, &answer);
		conversation_message_text(&answer.message, &text);
		if (text.used)
			result = window_summarize(&turn->conversation, buffer_text(&text),
						  text.used, &err);
	}
	reply_release(&answer);
	return result;
}

/* Protocols require the results of all calls before any other message. */
static bool is_answered(const struct conversation *conversation)
{
	return conversation->count > 1 && !conversation->items[conversation->count - 1].model;
}

/*
 * Builds the request, shortening the conversation until it fits. Returns 0, or -1 if it cannot fit.
 */
static int fit(struct state *state, struct buffer *body)
{
	struct turn *turn = state->turn;
	bool requests = false;

	for (;;) {
		uint64_t most = (turn->window.tokens - turn->window.output) * 1000 /
				turn->window.permille;
		size_t saved;

		buffer_release(body);
		write_request(turn, false, body);
		if (!buffer_overflowed(body) && window_fits(&turn->window, body->used))
			return 0;
		/*
		 * Shrink to 60%, so that this is not needed again at once and the provider's cache
		 * stays useful.
		 */
		saved = window_drop(&turn->conversation,
				    body->used - (size_t)(most * 6 / 10 < body->used ? most * 6 / 10
										     : body->used));
		if (saved)
			continue;
		if (!requests && is_answered(&turn->conversation) && turn->conversation.count > 3) {
			requests = true;
			if (summarize(state) == 0)
				continue;
		}
		if (!window_forget(&turn->conversation))
			return -1;
	}
}

/* Sends the request, shortening the conversation if the provider finds it too long. */
static int completion(struct state *state, struct reply *answer, struct completion_end *end)
{
	struct turn *turn = state->turn;

	for (int shrinks = 0;; shrinks++) {
		AUTO_BUFFER struct buffer body = { 0 };
		/*
		 * A request that does not fit is sent anyway: the provider may count differently.
		 */
		bool fits = fit(state, &body) == 0;

		state->requests++;
		completion_request(turn->completion, buffer_text(&body), body.used, state->calls,
				   answer, end);
		if (end->failure == FAILURE_NONE)
			learn(turn, body.used, answer);
		if (end->failure != FAILURE_TOO_LONG || !fits || shrinks == TURN_SHRINKS)
			return end->failure == FAILURE_NONE ? 0 : -1;
		window_shrink(&turn->window, body.used);
		emit_retry(0, end->why.text);
		reply_release(answer);
	}
}

static const char continue_text[] =
	"Your reply was cut off at its length limit. Continue where it ended, in smaller pieces.";
static const char final_text[] =
	"You ended without a message. Report in a few lines what you did and what you learned. If the task asks "
	"for a specific text at the end of your last message, add it only if its condition is met.";

/* Handles a reply without tool calls. Returns 1 if it is final, 0 to continue, -1 on failure. */
static int handle_final(struct state *state, enum reply_stop stop, const struct buffer *text)
{
	struct turn *turn = state->turn;
	struct error err;
	const char *nudge = NULL;

	if (stop == REPLY_REFUSAL)
		return fail("error", "the model refuses to continue (its stop reason is a refusal)",
			    0);
	if (stop == REPLY_LENGTH)
		nudge = continue_text;
	else if (stop == REPLY_WINDOW)
		window_shrink(&turn->window, turn->window.tokens * 1000 / turn->window.permille);
	else if (!text->used && stop != REPLY_PAUSE)
		nudge = final_text;
	if (!nudge && stop != REPLY_PAUSE && stop != REPLY_WINDOW)
		return 1;
	if (++state->nudges > TURN_NUDGES)
		return fail("error",
			    "the model does not finish, although it was asked to repeatedly", 0);
	if (stop == REPLY_WINDOW)
		nudge = continue_text;
	return nudge && conversation_add_text(&turn->conversation, nudge, strlen(nudge), &err) < 0
		       ? fail("error", err.text, 0)
		       : 0;
}

/* Sends one request and handles the reply. Returns as handle_final(). */
static int step(struct state *state, struct buffer *last)
{
	struct turn *turn = state->turn;
	struct reply answer;
	struct completion_end end;
	struct error err;
	enum reply_stop stop;
	bool calls;
	bool cut;
	int result;

	if (completion(state, &answer, &end) < 0) {
		reply_release(&answer);
		return fail(completion_event(&end), end.why.text, end.reset_at);
	}
	stop = answer.stop;
	cut = stop == REPLY_LENGTH || answer.cut;
	calls = conversation_message_calls(&answer.message) > 0;
	buffer_release(last);
	*last = BUFFER_INIT(CONVERSATION_BLOCK);
	conversation_message_text(&answer.message, last);
	while (last->used && strchr(" \t\r\n", last->data[last->used - 1]) &&
	       last->data[last->used - 1])
		last->used--; /* blanks alone are not a message */
	/* The final message is printed by emit_final(). */
	if (last->used && (calls || stop == REPLY_LENGTH || stop == REPLY_PAUSE))
		emit_text(last->data, last->used);
	if (conversation_add(&turn->conversation, &answer.message, &err) < 0) {
		reply_release(&answer);
		return fail("error", err.text, 0);
	}
	reply_release(&answer);
	if (!calls)
		return handle_final(state, stop, last);
	state->nudges = 0;
	result = run_calls(state, &turn->conversation.items[turn->conversation.count - 1], cut,
			   &err);
	return result < 0 ? fail("error", err.text, 0) : 0;
}

int turn_run(struct turn *turn)
{
	struct state state = { .turn = turn };
	AUTO_BUFFER struct buffer last = BUFFER_INIT(CONVERSATION_BLOCK);
	int result = 0;

	for (size_t i = 0; i < turn->conversation.count; i++)
		state.calls += conversation_message_calls(&turn->conversation.items[i]);
	while (result == 0) {
		if (state.requests >= turn->most) {
			AUTO_FREE char *text = mem_format(
				"the model has not finished after %ld requests (--max-turns)",
				state.requests);

			return fail("error", text, 0);
		}
		if (state.repeating)
			return fail(
				"error",
				"the model is going in circles: it repeats the same call with the same result",
				0);
		result = step(&state, &last);
	}
	if (result < 0)
		return -1;
	emit_final(true, buffer_text(&last), last.used, turn->session);
	return 0;
}
