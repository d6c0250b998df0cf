/* ringfence status: show loop status. */
#include "cli/batches.h"
#include "cli/loops.h"
#include "cli/view/batch_text.h"
#include "cli/view/cost_text.h"
#include "cli/view/edited_text.h"
#include "cli/view/estimate_text.h"
#include "cli/view/page.h"
#include "cli/view/trial_text.h"
#include "land/land_record.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct cli_option options[] = {
	OPTION_FLAG("all", "show all loops of every project", struct loops_options, all),
	OPTION_TEXT(
		"limit", "N",
		"show this many of the newest, and all running ones (default: 10; with --all or "
		"--json: all)",
		struct loops_options, limit),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "STATES", "  starting     the checks run for the first time\n"
		    "  running      an iteration is under way\n"
		    "  restarting   the supervisor was killed; another one is being started\n"
		    "  waiting      for the model provider, until the time shown\n"
		    "  paused       continue with ringfence resume\n"
		    "  interrupted  the supervisor is gone; continue with ringfence resume\n"
		    "  completed    every rule holds\n"
		    "  limit        a limit of the loop was reached\n"
		    "  failed       a breaker opened, or the fence failed\n"
		    "  aborted      ended by you\n" },
	{ "EXAMPLES", "  ringfence status --json | jq -r '.loops[].status'\n"
		      "  ringfence status --json --limit 1\n" },
	{ 0 },
};

enum { OBJECTIVE_BYTES = 100, MOST_SHOWN = 10 };

/* Returns the first line of the objective, shortened between characters. The caller frees it. */
static char *shorten(const char *objective)
{
	size_t size = strcspn(objective, "\n");
	bool whole = !objective[size] || !objective[size + 1];

	if (size > OBJECTIVE_BYTES) {
		whole = false;
		size = text_first(objective, size, OBJECTIVE_BYTES);
	}

	return mem_format("%.*s%s", (int)size, objective, whole ? "" : " ...");
}

/* Returns what a running loop is doing, or NULL if its status already says it. */
static const char *activity(const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;

	if (!loop->alive || loop->restarting || loop->damaged)
		return NULL;
	if (state->wish == LOOP_WISH_PAUSE)
		return "will pause after this iteration";
	if (state->wish == LOOP_WISH_ABORT)
		return "being aborted";
	if (state->step == LOOP_STEP_agent)
		return "the agent is working";
	if (state->step == LOOP_STEP_mutants)
		return "every rule holds; changed lines are tried";
	if (state->step == LOOP_STEP_review)
		return "every rule holds; the reviewer is working";
	return state->step == LOOP_STEP_checks || state->step == LOOP_STEP_baseline
		       ? "the checks are running"
		       : NULL;
}

/* Prints an indented line about a loop, wrapped on a terminal and with control characters escaped.
 * */
static __attribute__((format(printf, 1, 2))) void line(const char *format, ...)
{
	enum { INDENT = 4 };
	va_list arguments;

	va_start(arguments, format);

	AUTO_FREE char *text = mem_format_list(format, arguments);
	AUTO_FREE char *shown = text_escaped(text);

	va_end(arguments);
	printf("%*s", INDENT, "");
	page_print(shown, INDENT);
}

static void print_tape(const struct loop_state *state)
{
	if (state->options.replay)
		line("a replay of %s: no model is used, and nothing is paid",
		     state->options.replay);
	else if (state->options.record)
		line("recorded to %s", state->options.record);
	if (state->not_recorded)
		line("NOT complete: %s", state->not_recorded);
}

static void print_git(const struct loop_state *state)
{
	const char *branch = state->git_ref ? text_after_prefix(state->git_ref, "refs/heads/")
					    : NULL;

	if (state->git_ref)
		line("committed: %s is %.10s", branch ? branch : state->git_ref,
		     state->git_commit ? state->git_commit : "?");
	if (state->git_why && state->git_mode && strcmp(state->git_mode, "private") == 0)
		line("%s", state->git_why);
	if (state->git_error)
		line("the commits were not imported: %s", state->git_error);
	for (size_t i = 0; i < state->git_trouble.count; i++)
		line("%s", state->git_trouble.items[i]);
	if (state->uncommitted)
		line("%s", state->uncommitted);
}

/* Prints who works, if it is not the first agent. */
static void print_agent(const struct loop_state *state)
{
	uint32_t preferred = loop_state_agent_at(state, 0);
	const struct loop_part *first = &state->options.agents[preferred];
	const struct loop_part *part = &state->options.agents[state->agent];
	int64_t until_ms = state->limited_ms[preferred];
	AUTO_FREE char *until = clock_text(until_ms, CLOCK_SECOND);

	if (!state->agent)
		return;
	if (until_ms / 1000 > time(NULL))
		line("%s works: the provider of %s is at its limit until %s", loop_part_name(part),
		     loop_part_name(first), until);
	else
		line("%s works", loop_part_name(part));
}

/* Prints the phase that is under way, or was last. */
static void print_phase(const struct loop_state *state)
{
	const struct loop_phase *phase = loop_state_phase(state);

	if (phase)
		line("phase %s, %u of %u: %u iteration%s, US$ %.2f", phase->name,
		     state->phase.at + 1, state->options.phase_count,
		     state->phase.sums[state->phase.at].iterations,
		     state->phase.sums[state->phase.at].iterations == 1 ? "" : "s",
		     (double)state->phase.sums[state->phase.at].spent_nusd / 1e9);
}

/* Prints the last opinion of the reviewer. */
static void print_review(const struct loop_state *state)
{
	const struct loop_state_review *review = &state->review;
	AUTO_FREE char *found = loops_review_text(review->findings);

	if (review->findings)
		line("reviewed by %s: %s, US$ %.2f", state->options.reviewer.agent, found,
		     (double)review->spent_nusd / 1e9);
	else if (review->spent_nusd)
		line("reviews by %s: US$ %.2f", state->options.reviewer.agent,
		     (double)review->spent_nusd / 1e9);
}

/* Prints how many mutants were noticed, and the lines that are untested. */
static void print_mutants(const struct loop_state *state)
{
	const struct loop_state_mutants *mutants = &state->mutants;
	json_t *counts = json_pack("{s:i, s:i, s:i, s:i, s:s?}", "tried", (int)mutants->done,
				   "noticed", (int)mutants->noticed, "survived",
				   (int)mutants->survived, "invalid", (int)mutants->invalid, "why",
				   mutants->why);
	AUTO_FREE char *text = trial_text_mutants(counts);
	size_t index;
	const json_t *finding;

	json_decref(counts);
	if (!mutants->tried)
		return;
	line("%s", text);
	json_array_foreach(mutants->untested, index, finding)
	{
		AUTO_FREE char *untested = trial_text_untested(finding);

		line("%s", untested);
	}
}

/* Prints the messages of the user that no iteration has ended with yet. */
static void print_told(const struct loop_state *state)
{
	for (size_t i = 0; i < state->told_count; i++) {
		const struct loop_state_told *told = &state->told[i];
		char text[TOLD_SHORT];

		told_shorten(told->text, text, sizeof text);
		line("you told the agent%s: %s", told->given ? "" : ", which has not read it yet",
		     text);
	}
}

/* Prints the alerts of this iteration, and those that still hold. */
static void print_alerts(const struct loop_state *state)
{
	for (int i = 0; i < ALERT_COUNT; i++)
		if (state->alert_texts[i])
			line("ALERT: %s", state->alert_texts[i]);
}

/* Returns how long a loop has worked, and two spaces; or "" if its supervisor is gone, because
 * nobody knows when it stopped. Seconds matter only in the first hour. The caller frees it. */
static char *elapsed(const struct client_loop *loop)
{
	enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };
	enum loop_step step = loop->state.step;
	uint64_t ms = (uint64_t)estimate_text_worked_ms(loop);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);

	if (!loop->alive && step != LOOP_STEP_finished && step != LOOP_STEP_paused)
		return mem_dup("");
	text_add_duration(&text,
			  ms < HOUR ? (ms + SECOND) / SECOND * SECOND : ms / MINUTE * MINUTE);
	return mem_format("%s  ", buffer_text(&text));
}

static void print_landed(const struct client_loop *loop)
{
	struct land_record record;

	land_record_read(loop->folder, &record);
	if (record.page) {
		AUTO_FREE char *page = text_escaped(record.page);

		line("%s: %s", record.merged ? "merged" : "landed", page);
	}
	land_record_release(&record);
}

static void print_loop(const char *place, const struct client_loop *loop, bool with_project)
{
	const struct loop_state *state = &loop->state;
	AUTO_FREE char *reason = client_reason(loop);
	AUTO_FREE char *objective = shorten(state->options.objective ? state->options.objective
								     : "");
	AUTO_FREE char *worked = elapsed(loop);
	AUTO_FREE char *age = text_age((int64_t)time(NULL) * 1000 - state->created_ms);
	AUTO_FREE char *draft = loops_draft_text(place, loop);
	AUTO_FREE char *edited = edited_text_sentence(state->edited);
	AUTO_FREE char *most = state->options.limits.iterations
				       ? mem_format(" of %u", state->options.limits.iterations)
				       : mem_dup("");
	AUTO_FREE char *spent =
		state->spent_nusd
			? mem_format("  US$ %.2f%s", (double)state->spent_nusd / 1e9,
				     cost_text_mark(state->spent_nusd, state->estimated_nusd))
			: mem_dup("");

	printf("%s  ", loop->id);
	if (state->options.name)
		printf("%s  ", state->options.name);
	printf("%-11s", client_status(loop));
	if (!loop->damaged)
		printf("  iteration %u%s%s  %s%s", state->iteration, most, spent, worked, age);
	printf("\n");
	if (with_project)
		line("in %s", state->options.origin    ? state->options.origin
			      : state->options.project ? state->options.project
						       : "an unknown project");
	if (*objective)
		line("%s", objective);
	if (activity(loop))
		line("%s", activity(loop));
	else if (reason && *reason)
		line("%s", reason);
	if (state->options.work_tree)
		line("work tree %s, branch ringfence/%s", state->options.work_tree, loop->id);
	if (draft)
		line("%s", draft);
	if (edited)
		line("%s", edited);
	print_landed(loop);
	print_alerts(state);
	print_told(state);
	print_phase(state);
	print_agent(state);
	print_mutants(state);
	print_review(state);
	print_tape(state);
	print_git(state);
	if (state->options.agent_count && state->options.agents[state->agent].login)
		line("LOGIN IN THE FENCE: the agent has a copy of %s",
		     state->options.agents[state->agent].login);
}

/* Is a loop left out because newer ones were shown? */
static bool is_left_out(const struct client_loop *loop, size_t shown, size_t most)
{
	return shown >= most && !loop->alive;
}

/* Prints the newest loops and batches, oldest first. */
static void print_json(const struct loops_options *opts, const struct client_loops *all,
		       const struct batch_clients *batches, size_t most)
{
	json_t *list = json_array();
	json_t *whole = json_pack("{s:o, s:o}", "loops", list, "batches",
				  batches_json(batches, opts->place.state,
					       opts->all ? NULL : opts->place.project, most));
	size_t left = all->unread;

	for (size_t i = all->count; i-- > 0;)
		if (is_left_out(&all->items[i], json_array_size(list), most))
			left++;
		else
			json_array_insert_new(list, 0, client_json(&all->items[i]));
	if (most != CLIENT_ALL)
		json_object_set_new(whole, "not_shown", json_integer((json_int_t)left));

	loops_print(whole);
}

/* The loops and batches to print, the newest first; those before `loop` and `batch` are left. */
struct listing {
	const struct loops_options *opts;
	const struct client_loops *loops;
	const struct batch_clients *batches;
	size_t loop, batch;
	size_t most, shown, left;
};

static void print_next_loop(struct listing *at)
{
	const struct client_loop *loop = &at->loops->items[--at->loop];

	if (is_left_out(loop, at->shown, at->most)) {
		at->left++;
		return;
	}
	loops_notice(loop);
	print_loop(at->opts->place.state, loop, at->opts->all || !loop->state.options.project);
	at->shown++;
}

static void print_next_batch(struct listing *at)
{
	const struct batch_client *batch = &at->batches->items[--at->batch];
	const struct loops_options *opts = at->opts;

	if (!opts->all && batch->state.project &&
	    strcmp(batch->state.project, opts->place.project) != 0)
		return;
	if (at->shown >= at->most && batch->state.finished) {
		at->left++;
		return;
	}
	batch_text_print_short(batch, batches_is_applied(opts->place.state, batch), opts->all);
	at->shown++;
}

static bool is_batch_next(const struct listing *at)
{
	if (!at->batch || !at->loop)
		return at->batch;
	return at->batches->items[at->batch - 1].state.created_ms >
	       at->loops->items[at->loop - 1].state.created_ms;
}

static void print_text(const struct loops_options *opts, const struct client_loops *all,
		       const struct batch_clients *batches, size_t most)
{
	struct listing at = { .opts = opts,
			      .loops = all,
			      .batches = batches,
			      .loop = all->count,
			      .batch = batches->count,
			      .most = most,
			      .left = all->unread };

	while (at.loop || at.batch)
		if (is_batch_next(&at))
			print_next_batch(&at);
		else
			print_next_loop(&at);
	if (at.left)
		printf("%zu older not shown (--limit N, --all, or --json)\n", at.left);
	if (!at.shown)
		puts(opts->all ? "there are no loops"
			       : "this project has no loops (see: ringfence status --all)");
}

/* Returns 0, or -1 with err set. */
static int read_limit(const struct loops_options *opts, size_t *ret_most, struct error *err)
{
	uint64_t number = 0;

	*ret_most = opts->all || opts->json ? CLIENT_ALL : MOST_SHOWN;
	if (!opts->limit)
		return 0;
	if (text_count(opts->limit, &number) < 0)
		return error_set(err, "--limit needs a number of loops such as 5, not '%.40s'",
				 opts->limit);
	*ret_most = (size_t)number;
	return 0;
}

static int show_one(struct loops_options *opts, struct error *err)
{
	if (loops_find(opts, err) < 0)
		return cli_fail(err);
	if (opts->json)
		loops_print(json_pack("{s:[o]}", "loops", client_json(&opts->loop)));
	else
		print_loop(opts->place.state, &opts->loop, true);
	return cli_flush();
}

static int show(struct loops_options *opts, struct error *err)
{
	struct client_query query = { .project = opts->all ? NULL : opts->place.project };
	struct batch_clients batches = { 0 };
	struct client_loops all = { 0 };
	int code = 0;

	if (opts->rest[0])
		return show_one(opts, err);
	/* Without batches, for instance on a disk that can only be read, there are still loops. */
	if (batch_client_list(opts->place.state, &batches, err) < 0)
		batches = (struct batch_clients){ 0 };
	/* A batch stands for its loops. */
	query.folds = opts->json ? NULL : batches_has;
	query.context = &batches;
	if (read_limit(opts, &query.newest, err) < 0 ||
	    client_list(opts->place.state, &query, &all, err) < 0)
		code = cli_fail(err);
	else if (opts->json)
		print_json(opts, &all, &batches, query.newest);
	else
		print_text(opts, &all, &batches, query.newest);
	client_loops_release(&all);
	batch_clients_release(&batches);
	return code ? code : cli_flush();
}

static int run_status(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, show);
}

const struct cli_command cmd_status = {
	.name = "status",
	.args = "[--all] [--limit N] [--json] [LOOP]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "show loop status",
	.description =
		"Shows the last loops of a project, or all loops of every project, newest first: state, "
		"iteration, time worked, age, objective, and what the loop is doing or why it stopped. JSON output "
		"contains all loops of the project, oldest first, unless --limit is given.",
	.options = options,
	.sections = sections,
	.run = run_status,
};
