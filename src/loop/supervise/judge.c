/* Facts and decisions: see judge.h. */
#include "loop/supervise/judge.h"

#include "draft/draft.h"
#include "loop/state/loop_accepted.h"
#include "loop/state/loop_report.h"
#include "loop/supervise/zone.h"
#include "util/buffer.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/text/shell.h"
#include "util/text/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TASKS_BYTES = 10 << 20, LINE_BYTES = 300 };

static json_t *signature_text(uint64_t signature)
{
	char text[20];

	snprintf(text, sizeof text, "%016llx", (unsigned long long)signature);
	return json_string(text);
}

/* Adds how the run was fenced. */
static json_t *with_fence(json_t *data, const struct runner_result *result)
{
	json_object_set_new(data, "mechanism", json_string(result->mechanism));
	json_object_set_new(data, "weaker", json_integer(result->weaker));
	json_object_set_new(data, "weaker_limits", json_integer(result->weaker_limits));
	return data;
}

/* Returns why a success proves nothing although tests seem to have run, or NULL. The caller frees
 * it. */
static char *unproven(const struct judge_check_facts *facts, const struct check_output *output)
{
	if (!output->summary && (facts->summary || check_summary_expected(facts->command)))
		return mem_dup("its test runner did not reach its end: there is no summary");
	if (output->total >= 0 && output->total < facts->least)
		return mem_format("it ran %lld tests, and %lld before the loop",
				  (long long)output->total, (long long)facts->least);
	return NULL;
}

/* Adds the names of the failed tests, if the output has them. */
static void add_failing(json_t *data, const char *output, size_t size)
{
	enum { MOST = 5 };
	struct list names = { 0 };
	json_t *list = json_array();

	failed_tests_read(output, size, &names);
	for (size_t i = 0; i < names.count && i < MOST; i++)
		json_array_append_new(list, loop_report_text(names.items[i]));
	if (names.count) {
		json_object_set(data, "failing", list);
		json_object_set_new(data, "failing_count", json_integer((json_int_t)names.count));
	}
	json_decref(list);
	list_release(&names);
}

json_t *judge_check(const struct judge_check_facts *facts, const struct runner_result *result,
		    const char *output, size_t size)
{
	AUTO_BUFFER struct buffer excerpt = BUFFER_INIT(facts->most);
	AUTO_FREE char *why = NULL;
	struct check_output check;
	bool passed = result->kind == FENCE_OK;

	check_output_read(output, size, &check);
	if (passed && !check.vacuous)
		why = unproven(facts, &check);
	if (!passed)
		excerpt_make(&excerpt, output, size, facts->most);

	json_t *data =
		json_pack("{s:i, s:o, s:i, s:s, s:b, s:b, s:b, s:b, s:I, s:I, s:I, s:o, s:I, s:o}",
			  "index", (int)facts->index, "command", loop_report_text(facts->command),
			  "code", result->code, "kind", fence_exit_name(result->kind), "passed",
			  passed, "vacuous", passed && (check.vacuous || why), "counted",
			  check.counted, "summary", check.summary, "total", (json_int_t)check.total,
			  "tests_passed", (json_int_t)check.passed, "tests_failed",
			  (json_int_t)check.failed, "signature",
			  signature_text(passed ? 0 : excerpt_signature(output, size)),
			  "duration_ms", (json_int_t)result->duration_ms, "excerpt",
			  loop_report_text(buffer_text(&excerpt)));

	if (why)
		json_object_set_new(data, "unproven", json_string(why));
	if (!passed) {
		judge_add_last_line(data, output, size);
		add_failing(data, output, size);
	}
	return with_fence(data, result);
}

json_t *judge_own_check(const json_t *data)
{
	static const char *const keys[] = { "code",         "passed",       "vacuous",
					    "tests_passed", "tests_failed", "duration_ms",
					    "last_line",    "unproven" };
	json_t *own = json_object();

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_object_get(data, keys[i]))
			json_object_set(own, keys[i], json_object_get(data, keys[i]));
	return own;
}

void judge_add_last_line(json_t *data, const char *output, size_t size)
{
	char line[LINE_BYTES];

	if (excerpt_last_line(output, size, line, sizeof line))
		json_object_set_new(data, "last_line", loop_report_text(line));
}

static void add_number(json_t *object, const char *key, int64_t number)
{
	if (number >= 0)
		json_object_set_new(object, key, json_integer((json_int_t)number));
}

void judge_add_heard(json_t *data, const struct agent_summary *heard)
{
	const struct agent_tokens *tokens = &heard->tokens;
	json_t *counts = json_object();

	add_number(data, "cost_nusd", heard->cost_nusd);
	add_number(data, "agent_cost_nusd", heard->agent_nusd);
	if (heard->estimated_nusd > 0)
		add_number(data, "estimated_nusd", heard->estimated_nusd);
	add_number(counts, "input", tokens->input);
	add_number(counts, "output", tokens->output);
	add_number(counts, "cache_read", tokens->cache_read);
	add_number(counts, "cache_write_5m", tokens->cache_write_5m);
	add_number(counts, "cache_write_1h", tokens->cache_write_1h);
	add_number(counts, "reasoning", tokens->reasoning);
	if (json_object_size(counts))
		json_object_set(data, "tokens", counts);
	json_decref(counts);
	if (heard->unpriced) /* an unknown cost is not zero */
		json_object_set_new(data, "unpriced", json_true());
	if (heard->session)
		json_object_set_new(data, "session", loop_report_text(heard->session));
}

/* Returns when a limit ends: as reported, or read from the provider's message. */
static int64_t reset_of(const struct agent_summary *heard, int64_t now_ms)
{
	int64_t when = 0;

	if (heard->reset_at || heard->error != FAILURE_RATE_LIMIT || !heard->message)
		return heard->reset_at;
	reset_time(heard->message, strlen(heard->message), now_ms / 1000, &zone_system, &when);
	return when;
}

/* The gateway's own count. */
static json_t *metered_json(const struct ledger_news *news)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:b}", "requests", (json_int_t)news->requests,
			 "free_requests", (json_int_t)news->free_requests, "input",
			 (json_int_t)ledger_input(news), "output",
			 (json_int_t)news->tokens[PRICE_OUTPUT], "estimated_nusd",
			 (json_int_t)news->estimated_nusd, "replay", news->replay);
}

json_t *judge_end(const struct runner_result *result, const struct judge_end_facts *facts,
		  const char *final, size_t size, int64_t now_ms)
{
	const struct agent_summary *heard = facts->heard;
	bool signalled = result->kind == FENCE_SIGNALLED;
	enum failure error = heard->error;

	json_t *data = json_pack("{s:i, s:i, s:b, s:b, s:i, s:I, s:I, s:s, s:i, s:i, s:o}", "code",
				 signalled ? 0 : result->code, "signal",
				 signalled ? result->code - FENCE_EXIT_SIGNAL : 0, "timed_out",
				 runner_out_of_time(result), "idle", facts->idle, "denials",
				 (int)result->denials, "output_bytes", (json_int_t)facts->bytes,
				 "duration_ms", (json_int_t)result->duration_ms, "kind",
				 fence_exit_name(result->kind), "canaries_held",
				 (int)result->canaries_held, "canaries_total",
				 (int)result->canaries_total, "final",
				 loop_report_bytes(final, size));

	json_object_set_new(data, "denials_late", json_integer(result->denials_late));
	judge_add_heard(data, heard);
	if (result->metered) {
		json_object_set_new(data, "refused_requests",
				    json_integer((json_int_t)result->news.refused));
		json_object_set_new(data, "metered", metered_json(&result->news));
		json_object_set_new(data, "request_failed",
				    json_boolean(result->news.failure != FAILURE_NONE));
	}
	if (result->metered && result->news.policy_refused && error != FAILURE_REFUSED) {
		json_object_set_new(data, "policy_refused",
				    json_integer(result->news.policy_refused));
		json_object_set_new(data, "policy_why", loop_report_text(result->news.policy_why));
	}
	if (result->metered && result->news.tape[0])
		json_object_set_new(data, "not_recorded", loop_report_text(result->news.tape));
	json_object_set_new(data, "error", json_string(failure_row(error)->stream_name));
	if (result->news.unreached[0] && (uint32_t)error == result->news.failure)
		json_object_set_new(data, "unreached", loop_report_text(result->news.unreached));
	json_object_set_new(data, "over_budget", json_boolean(facts->over_budget));
	if (result->metered && result->news.over)
		json_object_set_new(data, "refused_why", loop_report_text(result->news.why));
	if (*facts->limit)
		json_object_set_new(data, "limit", json_string(facts->limit));
	json_object_set_new(data, "finished", json_boolean(heard->finished));
	json_object_set_new(data, "ok", json_boolean(heard->ok));
	json_object_set_new(data, "reset_at", json_integer((json_int_t)reset_of(heard, now_ms)));
	json_object_set_new(data, "tool_calls", json_integer((json_int_t)heard->tool_calls));
	json_object_set_new(data, "tool_errors", json_integer((json_int_t)heard->tool_errors));
	json_object_set_new(data, "unknown_events", json_integer((json_int_t)heard->unknown));
	if (heard->message)
		json_object_set_new(data, "message", loop_report_text(heard->message));
	return with_fence(data, result);
}

json_t *judge_interrupted(const struct loop_state *state, const struct agent_summary *heard,
			  int64_t now_ms)
{
	struct breaker breakers[BREAKER_COUNT];
	const struct breaker_outcome outcome = { .interrupted = true };
	json_t *data;

	memcpy(breakers, state->breakers, sizeof breakers);
	for (int i = 0; i < BREAKER_COUNT; i++)
		breaker_feed(&breakers[i], &outcome, now_ms / 1000);
	data = json_pack("{s:i, s:i, s:o}", "iteration", (int)state->iteration, "attempt",
			 (int)state->attempt, "breakers", loop_state_breakers_json(breakers));
	/* After the agent's end, its cost is already recorded. */
	if (state->step == LOOP_STEP_agent)
		judge_add_heard(data, heard);
	return data;
}

json_t *judge_restarted(const struct loop_state *state, const struct agent_summary *heard,
			const char *by)
{
	json_t *data = json_pack("{s:i, s:i, s:b}", "iteration", (int)state->iteration, "attempt",
				 (int)state->attempt, by, 1);

	judge_add_heard(data, heard);
	return data;
}

json_t *judge_review(json_t *ended, const char *final, size_t size)
{
	json_t *findings;
	struct error why;

	/* A reviewer that failed has no opinion, whatever it said before. */
	if (loop_state_failure(ended) != FAILURE_NONE)
		return ended;
	findings = review_read(final, size, &why);
	if (findings)
		json_object_set_new(ended, "findings", findings);
	else
		json_object_set_new(ended, "unreadable", loop_report_text(why.text));
	return ended;
}

json_t *judge_review_lost(const struct agent_summary *heard)
{
	json_t *data = json_pack("{s:b}", "lost", 1);

	judge_add_heard(data, heard);
	return data;
}

bool judge_absent(const struct loop_options *options, const char *line, int code, bool is_check)
{
	AUTO_FREE char *program = shell_program(line, env_home());
	AUTO_FREE char *path = NULL;
	struct stat status;

	if (code != FENCE_EXIT_NOT_FOUND && code != FENCE_EXIT_NOT_EXECUTABLE)
		return false;
	if (!is_check || !program)
		return true;
	path = strchr(program, '/') ? path_absolute(program, options->project)
				    : process_find(program);
	if (!path)
		return true;
	if (stat(path, &status) < 0)
		return !path_within(path, options->project);
	/* The program exists, so the status is its own. */
	return !S_ISREG(status.st_mode) || access(path, X_OK) < 0;
}

/* Opens a file of the agent's, by its path in the project. */
static int open_file(const struct loop_options *options, const char *path)
{
	AUTO_FD project = open(options->project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const int flags = O_RDONLY | O_NONBLOCK;

	return options->draft
		       ? draft_open_file(options->project, options->draft, path, flags)
		       : fd_openat2(project, path, flags, 0, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Counts the boxes of the task list. The file belongs to the agent. */
static void count_boxes(const struct loop_options *options, struct boxes *ret_boxes)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TASKS_BYTES);
	AUTO_FD file = options->tasks ? open_file(options, options->tasks) : -1;
	struct stat status;

	*ret_boxes = (struct boxes){ 0 };
	if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	    fd_read_all(file, &text) == 0)
		boxes_count(buffer_text(&text), text.used, ret_boxes);
}

struct sums {
	uint32_t passed, vacuous, held;
	uint32_t own; /* fail, but not with the agent's version of pinned files */
	int64_t tests_passed, tests_failed;
	uint64_t signature;
};

static struct sums sum_checks(const struct loop_state *state)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < state->options.checks.count; i++) {
		const struct loop_state_check *check = &state->checks[i];

		sums.passed += check->passed;
		sums.vacuous += check->passed && check->vacuous;
		sums.held += check->passed && !check->vacuous;
		sums.own += check->own_held && !(check->passed && !check->vacuous);
		sums.tests_passed += check->counted ? check->tests_passed : 0;
		sums.tests_failed += check->counted ? check->tests_failed : 0;
		if (!check->passed && !sums.signature)
			sums.signature = check->signature;
	}
	return sums;
}

void judge_snapshot(const struct loop_state *state, const struct survey *survey,
		    struct progress_snapshot *ret_snapshot)
{
	struct sums sums = sum_checks(state);
	struct boxes boxes;

	count_boxes(&state->options, &boxes);
	*ret_snapshot = (struct progress_snapshot){
		.files_changed = (uint32_t)survey->changed,
		.boxes_ticked = boxes.ticked,
		.checks_passing = sums.held,
		.tests_passing = sums.tests_passed,
	};
	for (int i = 0; i < PROGRESS_TREE_SIZE; i++) {
		char byte[3] = { survey->tree[2 * i], survey->tree[2 * i + 1], '\0' };

		ret_snapshot->tree[i] = (unsigned char)strtoul(byte, NULL, 16);
	}
}

bool judge_done_already(const struct loop_state *state)
{
	return judge_done_but_finals(state) && !state->final_failed &&
	       state->finals_done == json_array_size(state->options.final_checks);
}

bool judge_done_but_finals(const struct loop_state *state)
{
	const struct loop_options *options = &state->options;
	struct sums sums = sum_checks(state);
	bool merges = options->with && !json_array_size(options->conflicts);
	struct boxes boxes;

	/* Only an agent can resolve conflicts, give a promise or read a message, final checks are
	 * for its work, and phases need one. The work of two loops that are merged without
	 * conflicts is done, if the final checks say so as well. */
	if ((options->with && !merges) || state->told_count ||
	    (!merges && (json_array_size(options->final_checks) || options->promise ||
			 options->phase_count || (!options->checks.count && !options->tasks))))
		return false;
	count_boxes(options, &boxes);
	return sums.held == options->checks.count &&
	       (!options->tasks || (boxes.ticked && !boxes.open));
}

/* Describes the phase before an iteration. */
static struct phase_facts phase_of(const struct loop_state *state)
{
	const struct loop_options *options = &state->options;
	const struct loop_phase *phase = loop_state_phase(state);
	uint32_t next = state->phase.at + 1;

	if (!phase)
		return (struct phase_facts){ 0 };
	return (struct phase_facts){
		.name = phase->name,
		.next = next < options->phase_count ? options->phases[next].name : NULL,
		.iterations = state->phase.used,
		.most_iterations = phase->iterations,
		.cost_nusd = state->phase.spent_nusd,
		.most_nusd = phase->cost_nusd,
		.skips = phase->skips,
	};
}

static void fill_common(const struct loop_state *state, int64_t now_ms,
			struct decision_input *input)
{
	int64_t active_ms = now_ms - state->created_ms - state->rested_ms;

	*input = (struct decision_input){
		.now = now_ms / 1000,
		/*
		 * In whole seconds, so that a limit that stopped the loop still holds when it is
		 * resumed.
		 */
		.started_at = now_ms / 1000 - active_ms / 1000,
		.iterations = state->used,
		.cost_nusd = state->spent_nusd,
		.estimated_nusd = state->estimated_nusd,
		.warned = state->warned,
		.waits = state->waits,
		.limits = state->options.limits,
		.rules = { .checks = state->options.checks.count > 0,
			   .promise = state->options.promise,
			   .boxes = state->options.tasks },
		.phase = phase_of(state),
		.found = state->options.check_found && state->options.promise
				 ? state->options.checks.items[0]
				 : NULL,
		.earlier = state->earlier,
		.earlier_count = state->earlier_count,
	};
	memcpy(input->breakers, state->breakers, sizeof input->breakers);
}

void judge_before(const struct loop_state *state, int64_t now_ms, struct decision *ret_decision)
{
	struct decision_input input;

	fill_common(state, now_ms, &input);
	decision_before(&input, ret_decision);
}

static const char *status_of(enum decision_action action)
{
	static const char *const names[] = {
		[DECISION_DONE] = "completed",
		[DECISION_LIMIT] = "limit",
		[DECISION_FAILED] = "failed",
	};

	return action == DECISION_DONE || action == DECISION_LIMIT || action == DECISION_FAILED
		       ? names[action]
		       : NULL;
}

static json_t *decision_json(const struct loop_state *state, const struct decision *decision,
			     const struct progress_snapshot *snapshot, const char *blocked)
{
	size_t most = (size_t)state->options.prompt.message_bytes;
	AUTO_BUFFER struct buffer reflection = BUFFER_INIT(most);
	const char *status = status_of(decision->action);
	json_t *reasons = json_array();

	for (uint32_t i = 0; i < decision->reason_count; i++)
		json_array_append_new(reasons, loop_report_text(decision->reasons[i]));
	if (state->final && *state->final)
		excerpt_make(&reflection, state->final, strlen(state->final), most);

	json_t *data = json_pack(
		"{s:i, s:s, s:b, s:s, s:o, s:o, s:i, s:i, s:b, s:b, s:I, s:i, s:i, s:b, s:o, s:o, s:o}",
		"iteration", (int)state->iteration, "action",
		decision_action_name(decision->action), "should_continue",
		decision->should_continue, "failure", failure_row(decision->failure)->name,
		"reason", loop_report_text(decision->reason_count ? decision->reasons[0] : ""),
		"reasons", reasons, "completion", (int)decision->completion, "confidence",
		(int)decision->confidence, "progressed", decision->progressed, "counts",
		decision->counts_as_iteration, "until_ms", (json_int_t)decision->wait_until * 1000,
		"used", (int)decision->iterations, "waits", (int)decision->waits, "warned",
		decision->warned, "breakers", loop_state_breakers_json(decision->breakers),
		"snapshot", loop_state_snapshot_json(snapshot), "reflection",
		loop_report_text(buffer_text(&reflection)));

	if (decision->final_failures)
		json_object_set_new(data, "final_failures", json_integer(decision->final_failures));
	if (decision->pins_told)
		json_object_set_new(data, "pins_told", json_true());
	if (decision->findings_told)
		json_object_set_new(data, "findings_told", json_true());
	if (decision->review_rounds)
		json_object_set_new(data, "review_rounds", json_integer(decision->review_rounds));
	if (decision->next_phase)
		json_object_set_new(data, "next_phase", json_true());
	if (decision->level)
		json_object_set_new(data, "level", json_integer(decision->level));
	if (decision->stalled)
		json_object_set_new(data, "stalled", json_integer(decision->stalled));
	if (decision->limited_until)
		json_object_set_new(data, "limited_until_ms",
				    json_integer((json_int_t)decision->limited_until * 1000));
	if (decision->only_findings)
		json_object_set_new(data, "only_findings", json_true());
	if (decision->recheck)
		json_object_set_new(data, "recheck", json_true());
	if (decision->blocked)
		json_object_set_new(data, "blocked", loop_report_text(blocked));
	if (status)
		json_object_set_new(data, "status", json_string(status));
	return data;
}

/* Did the agent finish its final message? A stream that was cut off may end anywhere. */
static bool has_final_message(const struct loop_state *state)
{
	const struct failure_facts *facts = &state->facts;

	if (facts->has_result || loop_state_part(state)->format->ends)
		return facts->has_result && !facts->result_error;
	return true;
}

static bool has_promised(const struct loop_state *state, const char *promise)
{
	return state->final && has_final_message(state) &&
	       promise_found(state->final, strlen(state->final), promise);
}

/* Reads what a person must do before the agent can go on, if it says so. */
static bool is_blocked(const struct loop_state *state, char *out, size_t room)
{
	return state->final && has_final_message(state) &&
	       blocked_read(state->final, strlen(state->final), out, room);
}

/* Is there such a file, with something in it? It belongs to the agent. */
static bool has_file(const struct loop_options *options, const char *path)
{
	AUTO_FD file = open_file(options, path);
	struct stat status;

	return file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	       status.st_size > 0;
}

/* The rules of the loop are judged elsewhere. */
static bool condition_holds(const struct loop_state *state,
			    const struct loop_phase_condition *condition)
{
	switch (condition->kind) {
	case LOOP_PHASE_promise:
		return has_promised(state, condition->text);
	case LOOP_PHASE_file:
		return has_file(&state->options, condition->text);
	case LOOP_PHASE_check:
		return !state->phase.check_failed;
	case LOOP_PHASE_iterations:
		return state->phase.used + 1 >= condition->count;
	default:
		return true;
	}
}

/* Judges what ends the phase, after an iteration. */
static void judge_phase(const struct loop_state *state, struct phase_facts *facts)
{
	const struct loop_phase *phase = loop_state_phase(state);

	if (!phase)
		return;
	facts->held = state->phase.checks_done == loop_phase_checks(phase);
	facts->needs_rules = loop_phase_has(phase, LOOP_PHASE_done);
	for (uint32_t i = 0; i < phase->until_count; i++)
		facts->held = facts->held && condition_holds(state, &phase->until[i]);
}

/* The agent's changes are in the survey only before the review. */
static uint32_t changed_files(const struct loop_state *state, const struct survey *survey)
{
	return survey->changed ? (uint32_t)survey->changed : state->review.changed;
}

static struct decision_review review_of(const struct loop_state *state)
{
	const struct loop_state_review *review = &state->review;

	return (struct decision_review){
		.wanted = state->options.reviewer.command,
		.given = review->given,
		.blocking = review->given ? review_count(review->findings, "blocking") : 0,
		.rounds = review->rounds,
		.most_rounds = state->options.review_rounds,
		.runs = review->runs,
		.unanswered = review->unanswered,
		.failure = review->failure,
		.reset_at = review->reset_at,
		.unreached = review->unreached,
		.why = review->why,
	};
}

void judge_after(const struct loop_state *state, const struct survey *survey, int64_t now_ms,
		 struct decision *ret_decision, json_t **ret_data)
{
	struct sums sums = sum_checks(state);
	struct decision_input input;
	char blocked[BLOCKED_MAX];

	fill_common(state, now_ms, &input);
	input.facts = state->facts;
	input.unreached = state->unreached;
	input.policy_why = state->policy_why;
	input.facts.files_changed = changed_files(state, survey);
	input.agents = loop_state_agents(state);
	input.review = review_of(state);
	input.facts.checks = (uint32_t)state->options.checks.count;
	input.facts.checks_passed = sums.passed;
	input.facts.checks_vacuous = sums.vacuous;
	input.tests_passed = sums.tests_passed;
	input.tests_failed = sums.tests_failed;
	input.findings_review = loop_accepted_count_open(state->accepted, state->findings,
							 "review");
	input.findings_stop = loop_accepted_count_open(state->accepted, state->findings, "stop");
	input.untested = loop_accepted_count_open(state->accepted, state->mutants.untested,
						  "review") +
			 loop_accepted_count_open(state->accepted, state->mutants.untested, "stop");
	input.findings_review += loop_accepted_count_open(state->accepted, state->mutants.untested,
							  "review");
	input.findings_stop += loop_accepted_count_open(state->accepted, state->mutants.untested,
							"stop");
	input.mutate = state->options.mutants && !state->mutants.tried;
	input.findings_told = state->findings_told;
	input.checks_own = sums.own;
	input.pins_told = state->pins_told;
	input.final_failed = state->final_failed;
	input.final_failures = state->final_failures;
	input.final_tries = state->options.final_tries;
	input.signature = sums.signature;
	input.promised = has_promised(state, state->options.promise);
	input.blocked = is_blocked(state, blocked, sizeof blocked) ? blocked : NULL;
	input.unread = loop_state_unread(state);
	judge_phase(state, &input.phase);
	count_boxes(&state->options, &input.boxes);
	judge_snapshot(state, survey, &input.snapshot);
	input.snapshot.files_changed = input.facts.files_changed;
	decision_make(&input, ret_decision);
	*ret_data = decision_json(state, ret_decision, &input.snapshot, input.blocked);
}
