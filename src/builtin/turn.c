/* The agent's work: see turn.h. */
#include "builtin/turn.h"

#include "builtin/say.h"
#include "util/mem.h"
#include "util/sha256.h"

#include <stdlib.h>
#include <string.h>

enum { REMEMBERED = 32 };

/* Calls with their results, as hashes: the last ones, in a ring. */
struct circles {
	char seen[REMEMBERED][SHA256_HEX];
	size_t next;
};

struct state {
	struct turn *turn;
	struct circles circles;
	size_t calls; /* so far */
	long asked;
	long told; /* how many it had been asked when it was told that it goes round */
	int nudges;
	bool circling; /* it goes round, and is to end */
};

static size_t note_call(struct circles *circles, const struct conversation_block *call,
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
		times += strcmp(circles->seen[i], hash) == 0;
	memcpy(circles->seen[circles->next], hash, sizeof hash);
	circles->next = (circles->next + 1) % REMEMBERED;
	return times;
}

static int fail(const char *kind, const char *text, int64_t reset_at)
{
	say_trouble(kind, text, reset_at);
	return -1;
}

static void do_call(struct state *state, const struct conversation_block *call, bool was_cut,
		    struct conversation_block *result)
{
	struct tool_context *bench = state->turn->bench;
	AUTO_BUFFER struct buffer target = BUFFER_INIT(4096);
	size_t times;

	result->id = mem_dup(call->id);
	tool_target(call->name, buffer_text((struct buffer *)&call->text), &target);
	say_tool(call->name, buffer_text(&target));
	if (call->broken) {
		result->failed = true;
		buffer_printf(
			&result->text,
			"The arguments of this call are no JSON object, so nothing was done. %sThey began: %.300s",
			was_cut ? "Your answer was cut off at its limit: do it in smaller pieces. "
				: "",
			call->raw);
	} else {
		result->failed = !tool_call(bench, call->name,
					    buffer_text((struct buffer *)&call->text),
					    &result->text);
	}
	for (size_t i = 0; i < bench->files.count; i++)
		say_file(bench->files.items[i]);
	times = note_call(&state->circles, call, &result->text);
	/* What has changed something for the first time may be followed by what was done before, with a reason. */
	if (bench->files.count && times == 1) {
		state->circles = (struct circles){ 0 };
		note_call(&state->circles, call, &result->text);
	}
	list_release(&bench->files);
	say_result(!result->failed, result->text.data, result->text.used);
	if (times >= TURN_TELL)
		buffer_printf(
			&result->text,
			"\n\n[This is the %zuth time that you make this call and get this result. It will not "
			"change: do something else, or say what is in the way and end.]",
			times);
	/* It must have had the chance to hear it. */
	if (times >= TURN_TELL && !state->told)
		state->told = state->asked;
	state->circling = state->circling || (times >= TURN_CIRCLE && state->asked > state->told);
}

/* All calls of the answer, one after another; their results are one message, in order. */
static int do_calls(struct state *state, const struct conversation_message *answer, bool was_cut,
		    struct error *err)
{
	struct conversation_message results = { 0 };

	for (size_t i = 0; i < answer->count; i++) {
		if (answer->blocks[i].kind != BLOCK_CALL)
			continue;
		state->calls++;
		do_call(state, &answer->blocks[i], was_cut,
			conversation_message_add(&results, BLOCK_RESULT));
	}
	window_trim(&state->turn->window, &results);
	if (conversation_add(&state->turn->talk, &results, err) == 0)
		return 0;
	conversation_message_release(&results);
	return -1;
}

static void write_request(struct turn *turn, bool no_tools, struct buffer *out)
{
	const struct dialect_request request = { .model = turn->ask->model,
						 .system = turn->system,
						 .talk = &turn->talk,
						 .most = turn->window.output,
						 .local = turn->ask->local,
						 .no_tools = no_tools };

	*out = BUFFER_INIT(DIALECT_REQUEST);
	turn->ask->dialect->write(&request, out);
}

static void learn(struct turn *turn, uint64_t bytes, const struct reply *answer)
{
	const uint64_t *tokens = answer->usage.usage.use.tokens;

	if (answer->usage.usage.has_input)
		window_learn(&turn->window, bytes,
			     tokens[PRICE_INPUT] + tokens[PRICE_READ] + tokens[PRICE_WRITE_5M] +
				     tokens[PRICE_WRITE_1H]);
}

/* Has the model sum up what was done. Returns 0, or -1: it could not. */
static int sum_up(struct state *state)
{
	static const char wish[] =
		"The conversation is about to be cut to save room. Say now, for yourself, all that you need to go on: what was asked "
		"for, what you found out, what you changed in which files, what is left to do, and what did not work. Call no "
		"tools.";
	struct turn *turn = state->turn;
	AUTO_BUFFER struct buffer body = { 0 };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(CONVERSATION_BLOCK);
	struct reply answer;
	struct completion_end end;
	struct error err;
	int result = -1;

	if (conversation_say(&turn->talk, wish, sizeof wish - 1, &err) < 0)
		return -1;
	write_request(turn, true, &body);
	conversation_remove(&turn->talk, turn->talk.count - 1, turn->talk.count);
	state->asked++;
	completion_request(turn->ask, buffer_text(&body), body.used, state->calls, &answer, &end);
	if (end.failure == FAILURE_NONE) {
		learn(turn, body.used, &answer);
		conversation_message_text(&answer.message, &text);
		if (text.used)
			result = window_sum_up(&turn->talk, buffer_text(&text), text.used, &err);
	}
	reply_release(&answer);
	return result;
}

/* The model's last message must have its results before anything else is asked. */
static bool is_whole(const struct conversation *talk)
{
	return talk->count > 1 && !talk->items[talk->count - 1].model;
}

/* Makes the request; cuts the conversation until it fits. Returns 0, or -1: it cannot be made to. */
static int fit(struct state *state, struct buffer *body)
{
	struct turn *turn = state->turn;
	bool asked = false;

	for (;;) {
		uint64_t most = (turn->window.tokens - turn->window.output) * 1000 /
				turn->window.permille;
		size_t saved;

		buffer_release(body);
		write_request(turn, false, body);
		if (!buffer_overflowed(body) && window_fits(&turn->window, body->used))
			return 0;
		/* To a good half, so that this is not needed again at once, and the cache has something to hold on to. */
		saved = window_drop(&turn->talk,
				    body->used - (size_t)(most * 6 / 10 < body->used ? most * 6 / 10
										     : body->used));
		if (saved)
			continue;
		if (!asked && is_whole(&turn->talk) && turn->talk.count > 3) {
			asked = true;
			if (sum_up(state) == 0)
				continue;
		}
		if (!window_forget(&turn->talk))
			return -1;
	}
}

/* Asks, and cuts the conversation where the provider finds it too long. */
static int ask(struct state *state, struct reply *answer, struct completion_end *end)
{
	struct turn *turn = state->turn;

	for (int shrinks = 0;; shrinks++) {
		AUTO_BUFFER struct buffer body = { 0 };
		/* What cannot be made to fit is sent all the same: the provider may count otherwise. */
		bool fits = fit(state, &body) == 0;

		state->asked++;
		completion_request(turn->ask, buffer_text(&body), body.used, state->calls, answer,
				   end);
		if (end->failure == FAILURE_NONE)
			learn(turn, body.used, answer);
		if (!end->too_long || !fits || shrinks == TURN_SHRINKS)
			return end->failure == FAILURE_NONE ? 0 : -1;
		window_shrink(&turn->window, body.used);
		say_retry(0, end->why.text);
		reply_release(answer);
	}
}

static const char go_on[] =
	"Your answer was cut off at its limit. Go on where it ended, in smaller pieces.";
static const char last_word[] =
	"You ended without a word. Say in a few lines what you did and what you learnt; where the task asks for a certain text at "
	"the end of your last message, and only if it is earned, end with it.";

/* The answer calls no tools. Returns 1: that was the last word; 0: go on; -1: it has failed. */
static int settle(struct state *state, enum reply_stop stop, const struct buffer *text)
{
	struct turn *turn = state->turn;
	struct error err;
	const char *nudge = NULL;

	if (stop == REPLY_REFUSAL)
		return fail("error", "the model refuses to go on (its stop reason is a refusal)",
			    0);
	if (stop == REPLY_LENGTH)
		nudge = go_on;
	else if (stop == REPLY_WINDOW)
		window_shrink(&turn->window, turn->window.tokens * 1000 / turn->window.permille);
	else if (!text->used && stop != REPLY_PAUSE)
		nudge = last_word;
	if (!nudge && stop != REPLY_PAUSE && stop != REPLY_WINDOW)
		return 1;
	if (++state->nudges > TURN_NUDGES)
		return fail("error",
			    "the model does not come to an end, however often it is asked to go on",
			    0);
	if (stop == REPLY_WINDOW)
		nudge = go_on;
	return nudge && conversation_say(&turn->talk, nudge, strlen(nudge), &err) < 0
		       ? fail("error", err.text, 0)
		       : 0;
}

/* One question and what follows from it. Returns as settle(). */
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

	if (ask(state, &answer, &end) < 0) {
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
		last->used--; /* nothing but blanks is no word */
	/* The last word is said as such. */
	if (last->used && (calls || stop == REPLY_LENGTH || stop == REPLY_PAUSE))
		say_text(last->data, last->used);
	if (conversation_add(&turn->talk, &answer.message, &err) < 0) {
		reply_release(&answer);
		return fail("error", err.text, 0);
	}
	reply_release(&answer);
	if (!calls)
		return settle(state, stop, last);
	state->nudges = 0;
	result = do_calls(state, &turn->talk.items[turn->talk.count - 1], cut, &err);
	return result < 0 ? fail("error", err.text, 0) : 0;
}

int turn_work(struct turn *turn)
{
	struct state state = { .turn = turn };
	AUTO_BUFFER struct buffer last = BUFFER_INIT(CONVERSATION_BLOCK);
	int result = 0;

	for (size_t i = 0; i < turn->talk.count; i++)
		state.calls += conversation_message_calls(&turn->talk.items[i]);
	while (result == 0) {
		if (state.asked >= turn->most) {
			AUTO_FREE char *text = mem_format(
				"the model was asked %ld times, and has not ended (--max-turns)",
				state.asked);

			return fail("error", text, 0);
		}
		if (state.circling)
			return fail(
				"error",
				"the model goes round in circles: the same call with the same result, again and again",
				0);
		result = step(&state, &last);
	}
	if (result < 0)
		return -1;
	say_final(true, buffer_text(&last), last.used, turn->session);
	return 0;
}
