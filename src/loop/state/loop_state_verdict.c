/* The values that every decision carries, in the state of a loop: see loop_state.h. */
#include "loop/state/loop_state.h"

#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *loop_state_breakers_json(const struct breaker *breakers)
{
	json_t *list = json_array();

	for (int i = 0; i < BREAKER_COUNT; i++) {
		char signature[20];

		snprintf(signature, sizeof signature, "%016llx",
			 (unsigned long long)breakers[i].signature);
		json_array_append_new(list,
				      json_pack("{s:i, s:i, s:i, s:s, s:I}", "state",
						(int)breakers[i].state, "count",
						(int)breakers[i].count, "tripped",
						(int)breakers[i].tripped, "signature", signature,
						"opened_at", (json_int_t)breakers[i].opened_at));
	}
	return list;
}

static void read_breakers(struct loop_state *state, const json_t *list)
{
	size_t index;
	json_t *entry;

	json_array_foreach(list, index, entry)
	{
		const char *signature = jsonget_string(entry, "signature");

		if (index >= BREAKER_COUNT)
			break;
		state->breakers[index].state = (uint32_t)jsonget_number(entry, "state");
		state->breakers[index].count = (uint32_t)jsonget_number(entry, "count");
		state->breakers[index].tripped = (uint32_t)jsonget_number(entry, "tripped");
		state->breakers[index].signature = signature ? strtoull(signature, NULL, 16) : 0;
		state->breakers[index].opened_at = jsonget_number(entry, "opened_at");
	}
}

json_t *loop_state_snapshot_json(const struct progress_snapshot *snapshot)
{
	char tree[2 * PROGRESS_TREE_SIZE + 1];

	for (int i = 0; i < PROGRESS_TREE_SIZE; i++)
		snprintf(tree + 2 * i, 3, "%02x", snapshot->tree[i]);
	return json_pack("{s:s, s:i, s:i, s:i, s:I}", "tree", tree, "files_changed",
			 (int)snapshot->files_changed, "boxes_ticked", (int)snapshot->boxes_ticked,
			 "checks_passing", (int)snapshot->checks_passing, "tests_passing",
			 (json_int_t)snapshot->tests_passing);
}

void loop_state_read_snapshot(struct loop_state *state, const json_t *data)
{
	struct progress_snapshot snapshot = {
		.files_changed = (uint32_t)jsonget_number(data, "files_changed"),
		.boxes_ticked = (uint32_t)jsonget_number(data, "boxes_ticked"),
		.checks_passing = (uint32_t)jsonget_number(data, "checks_passing"),
		.tests_passing = jsonget_number(data, "tests_passing"),
	};
	const char *tree = jsonget_string(data, "tree");

	if (!tree || strlen(tree) != 2 * PROGRESS_TREE_SIZE)
		return;
	for (int i = 0; i < PROGRESS_TREE_SIZE; i++) {
		char byte[3] = { tree[2 * i], tree[2 * i + 1], '\0' };

		snapshot.tree[i] = (unsigned char)strtoul(byte, NULL, 16);
	}
	memmove(state->earlier + 1, state->earlier, (LOOP_EARLIER - 1) * sizeof *state->earlier);
	state->earlier[0] = snapshot;
	if (state->earlier_count < LOOP_EARLIER)
		state->earlier_count++;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void loop_state_sum_add(struct loop_state_sum *sum, const struct loop_state_past *past)
{
	sum->first = sum->count && sum->first < past->iteration ? sum->first : past->iteration;
	sum->last = larger(sum->last, past->iteration);
	sum->count++;
	sum->progressed += past->progressed;
	sum->failed += past->failure != FAILURE_NONE && past->failure != FAILURE_CHECK_FAILED;
	sum->boxes_ticked = larger(sum->boxes_ticked, past->boxes_ticked);
	sum->checks_passing = larger(sum->checks_passing, past->checks_passing);
	if (past->tests_passing > sum->tests_passing)
		sum->tests_passing = past->tests_passing;
}

/* Makes room for the latest iteration: the oldest one is only summed up. */
static struct loop_state_past *add_past(struct loop_state *state)
{
	if (state->past_count == LOOP_PAST) {
		struct loop_state_past *oldest = &state->past[--state->past_count];

		loop_state_sum_add(&state->older, oldest);
		free(oldest->message);
		free(oldest->told);
	}
	memmove(state->past + 1, state->past, state->past_count * sizeof *state->past);
	state->past_count++;
	return state->past;
}

/* Remembers an iteration for later prompts. A wait without a message has nothing to tell. */
static void read_past(struct loop_state *state, const json_t *data)
{
	const char *message = jsonget_string(data, "reflection");
	const json_t *snapshot = json_object_get(data, "snapshot");
	enum failure failure = FAILURE_NONE;
	struct loop_state_past *past;

	if (!jsonget_flag(data, "counts") && (!message || !*message))
		return;
	if (jsonget_string(data, "failure"))
		failure_find(jsonget_string(data, "failure"), &failure);
	past = add_past(state);
	*past = (struct loop_state_past){
		.iteration = state->iteration,
		.progressed = jsonget_flag(data, "progressed"),
		.failure = failure,
		.files_changed = (uint32_t)jsonget_number(snapshot, "files_changed"),
		.boxes_ticked = (uint32_t)jsonget_number(snapshot, "boxes_ticked"),
		.checks_passing = (uint32_t)jsonget_number(snapshot, "checks_passing"),
		.tests_passing = jsonget_number(snapshot, "tests_passing"),
		.message = message && *message ? mem_dup(message) : NULL,
	};
}

/* Joins the messages in the prompt of the iteration, in short, and forgets them. */
static char *take_told(struct loop_state *state)
{
	AUTO_BUFFER struct buffer all = BUFFER_INIT(TOLD_MOST * (TOLD_BYTES + 1));
	char text[TOLD_SHORT];
	size_t kept = 0;

	for (size_t i = 0; i < state->told_count; i++) {
		if (!state->told[i].given) {
			state->told[kept++] = state->told[i];
			continue;
		}
		buffer_printf(&all, "%s\n", state->told[i].text);
		free(state->told[i].text);
	}
	state->told_count = kept;
	return all.used && told_shorten(buffer_text(&all), text, sizeof text) ? mem_dup(text)
									      : NULL;
}

void loop_state_next_phase(struct loop_state *state)
{
	struct loop_state_phase *phase = &state->phase;

	if (phase->at + 1 >= state->options.phase_count)
		return;
	phase->at++;
	phase->used = 0;
	phase->spent_nusd = 0;
	free(phase->failed);
	free(phase->output);
	phase->failed = phase->output = NULL;
	state->level = state->stalled = 0;
}

/* Counts an iteration of the phase, which may be its last. */
static void read_phase(struct loop_state *state, const json_t *data)
{
	if (jsonget_flag(data, "counts")) {
		state->phase.used++;
		state->phase.sums[state->phase.at].iterations++;
	}
	if (jsonget_flag(data, "next_phase"))
		loop_state_next_phase(state);
}

void loop_state_read_verdict(struct loop_state *state, const json_t *data)
{
	read_breakers(state, json_object_get(data, "breakers"));
	if (json_object_get(data, "warned"))
		state->warned = jsonget_flag(data, "warned");
	/* Not only by a decision: the checks of an iteration may not have run. */
	state->recheck = state->recheck || jsonget_flag(data, "recheck");
	/* The loop ended between iterations, by a limit or by the user. */
	if (!json_object_get(data, "used"))
		return;
	state->used = (uint32_t)jsonget_number(data, "used");
	state->waits = (uint32_t)jsonget_number(data, "waits");
	state->findings_told = jsonget_flag(data, "findings_told");
	state->pins_told = jsonget_flag(data, "pins_told");
	state->review.rounds = (uint32_t)jsonget_number(data, "review_rounds");
	state->recheck = jsonget_flag(data, "recheck");
	state->only_findings = jsonget_flag(data, "only_findings");
	state->level = jsonget_index(data, "level", loop_state_agents(state).rungs + 1);
	state->stalled = (uint32_t)jsonget_number(data, "stalled");
	if (json_object_get(data, "limited_until_ms"))
		state->limited_ms[state->agent] = jsonget_number(data, "limited_until_ms");
	state->final_failures = (uint32_t)jsonget_number(data, "final_failures");
	state->completion = (uint32_t)jsonget_number(data, "completion");
	state->confidence = (uint32_t)jsonget_number(data, "confidence");
	loop_state_read_snapshot(state, json_object_get(data, "snapshot"));
	read_past(state, data);
	if (jsonget_flag(data, "counts")) /* else the iteration is repeated, with the messages */
		state->past[0].told = take_told(state);
	read_phase(state, data);
}
