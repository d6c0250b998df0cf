/* ringfence run: start an agent in the fence, again and again, until the work is done. */
#include "cli/cli.h"
#include "cli/drafts.h"
#include "cli/intended.h"
#include "cli/loops.h"
#include "cli/objective.h"
#include "cli/short_id.h"
#include "cli/view/announce.h"
#include "cli/view/follow.h"
#include "cli/view/notice.h"
#include "cli/view/page.h"
#include "cli/view/policy_text.h"
#include "cli/view/preflight_text.h"
#include "cli/view/prompt_text.h"
#include "fence/fence.h"
#include "loop/client.h"
#include "ops/op_draft_apply.h"
#include "ops/op_start.h"
#include "settings/effective.h"
#include "settings/loop_request.h"
#include "settings/outlook.h"
#include "util/id.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run_options {
	struct effective effective;
	const char *objective;
	const char *prompt_file;
	const char *example;
	const char *from;
	const char *with;
	const char *loop_id;
	const char *name;
	struct list words; /* ids that short words stood for */
	bool apply;
	bool detach;
	bool dry;
	bool json;
	bool no_fence;
	bool quiet;
	bool verbose;
	const char *heartbeat;
	struct follow_options follow;
	struct buffer text;
	struct loop_request request;
	struct op_start_result start;
};

_Static_assert(offsetof(struct run_options, effective) == 0,
	       "effective_set() needs it to be the first member");

static const struct cli_option options[] = {
	OPTION_TEXT("prompt-file", "FILE", "read the objective from this file (-p)",
		    struct run_options, prompt_file),
	OPTION_TEXT("example", "NAME",
		    "use an example prompt, with OBJECTIVE as its details (see: ringfence prompts)",
		    struct run_options, example),
	OPTION_PROJECT(struct run_options, effective.spec.project),
	OPTION_TEXT("from", "LOOP", "begin with the result of this loop, instead of your files",
		    struct run_options, from),
	OPTION_TEXT("with", "LOOP",
		    "merge the changes of this loop into that; the agent resolves conflicts",
		    struct run_options, with),
	OPTION_TEXT("name", "NAME",
		    "call the loop by this name; other commands take it in place of the id",
		    struct run_options, name),
	OPTION_TEXT("loop-id", "ID", "give the loop this id, of the usual form; for scripts",
		    struct run_options, loop_id),
	OPTION_FLAG("apply",
		    "when the loop is completed, take its draft over, unless a file needs a yes or "
		    "there is a conflict",
		    struct run_options, apply),
	OPTION_FLAG("detach", "continue in the background; the last line printed is the loop's id",
		    struct run_options, detach),
	OPTION_FLAG("dry-run", "show the prompt and the policy; start nothing", struct run_options,
		    dry),
	OPTION_FLAG("json", "print one JSON object per line, the result last", struct run_options,
		    json),
	OPTION_FLAG("quiet", "print only how the loop ends (-q)", struct run_options, quiet),
	OPTION_FLAG("verbose", "name everything that the fence denies (-v)", struct run_options,
		    verbose),
	FOLLOW_HEARTBEAT(struct run_options, heartbeat),
	OPTION_FLAG("i-accept-no-fence", "run WITHOUT any fence", struct run_options, no_fence),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", loops_exit_table },
	{ "EXAMPLES",
	  "  ringfence run \"Fix the failing tests\" --check \"npm test\" --agent claude\n"
	  "  ringfence run -p PROMPT.md --tasks TASKS.md --agent-command my-agent --detach\n" },
	{ 0 },
};

static int read_objective(struct run_options *opts, char **rest, struct error *err)
{
	const struct objective_source source = { .command = "run",
						 .arguments = rest,
						 .file = opts->prompt_file,
						 .example = opts->example };

	if (objective_read(&source, &opts->text, &opts->objective, err) < 0)
		return -1;
	return opts->objective
		       ? 0
		       : error_set(err, "run needs an objective: ringfence run \"Fix the failing "
					"tests\" --check \"make test\" (see: ringfence run "
					"--help)");
}

/* Chooses the agent and the goal. */
static int choose(struct run_options *opts, struct error *err)
{
	int result = loop_request_choose(&opts->request, opts->objective, err);

	notice_all(&opts->request.notices);
	return result;
}

static void notice_plan(const struct fence_plan *made)
{
	notice_all(&made->notices);
	notice_found(&made->recovered, made->project);
	if (made->weaker & FENCE_WEAKER_NO_FENCE)
		notice("NO FENCE: the agent runs without a fence, with all your rights (--i-accept-no-fence)");
}

/* Estimates cost and time. A loop about which nothing is known has no estimate. */
static void estimate(struct run_options *opts)
{
	struct outlook outlook;
	struct error ignored;

	if (outlook_make(&opts->request, opts->objective, OUTLOOK_QUICK, &outlook, &ignored) < 0)
		return;
	if (outlook_is_known(&outlook))
		loop_request_set_estimate(&opts->request, outlook_json(&outlook));
	outlook_release(&outlook);
}

/* Plans the loop, and prints notices about it. */
static int plan(struct run_options *opts, struct error *err)
{
	struct op_start_result *start = &opts->start;
	enum op_status status;

	estimate(opts);
	status = op_start_plan(&opts->request.start, start, err);
	if (start->planned)
		notice_plan(&start->plan);
	if (start->no_sessions)
		notice_format("the agent's sessions are not kept: cannot write to the folder '%s'",
			      start->no_sessions);
	return op_failed(status) ? -1 : loop_request_check(&opts->request, &start->plan, err);
}

static int show(const struct run_options *opts, struct error *err)
{
	const struct fence_plan *made = &opts->start.plan;
	AUTO_FREE char *trials = announce_trials(&opts->effective.config);
	AUTO_PROMPT struct prompt prompt = PROMPT_INIT;

	if (client_preview(opts->start.config, policy_text_private_git(&opts->effective, made),
			   &prompt, err) < 0)
		return cli_fail(err);
	if (opts->json) {
		loops_print_line(json_pack("{s:o, s:o, s:O}", "prompt",
					   client_text(buffer_text(&prompt.text)), "parts",
					   prompt_text_sizes(&prompt), "config",
					   opts->start.config));
		return cli_flush();
	}
	printf("# The first prompt, on the agent's stdin\n\n%s\n", buffer_text(&prompt.text));
	prompt_text_print_sizes(&prompt);
	printf("\n# The agent: %s, started with sh -c\n\n%s\n\n",
	       opts->request.agents.items[0].agent->title, opts->request.agents.items[0].command);
	if (trials)
		printf("# Trials of the checks\n\n%s\n\n", trials);
	puts("# The policy\n");
	policy_text_print(&opts->effective, made, true);
	return cli_flush();
}

/* Counts the changes that need a yes. */
static size_t count_asked(const struct op_draft_apply_result *result)
{
	size_t count = 0;

	for (int i = 0; i < PATH_GROUP_COUNT; i++)
		count += result->questions[i].count;
	return count;
}

/* Takes the draft of a completed loop over, or says what waits. */
static int apply(const struct client_loop *loop, const struct run_options *opts, struct error *err)
{
	const struct list everything = { 0 };
	const struct op_draft_apply_request request = { .state = opts->effective.place.state,
							.id = loop->id,
							.paths = &everything };
	struct op_draft_apply_result result;
	enum op_status status = op_draft_apply(&request, &result, err);
	int code = LOOPS_COMPLETED;

	if (status == OP_DONE)
		notice_format("applied (to undo this: ringfence apply --undo %s)", loop->id);
	else if (status == OP_ASKS)
		notice_format(
			"not applied: %zu changed path%s a yes (to be asked: ringfence apply %s)",
			count_asked(&result), count_asked(&result) == 1 ? " needs" : "s need",
			loop->id);
	else if (status == OP_REFUSED && result.conflicts.count)
		notice_format("not applied: %s (to see where: ringfence apply --dry-run %s)",
			      err->text, loop->id);
	else if (op_failed(status))
		code = cli_fail(err);
	op_draft_apply_release(&result);
	return code;
}

/* A loop applies nothing by itself: this command does, when it has followed the loop to its end. */
static int check_apply(const struct run_options *opts, struct error *err)
{
	if (!opts->apply)
		return 0;
	if (opts->request.start.workspace != OP_START_DRAFT)
		return error_set(err,
				 "--apply takes a draft over: use it without --workspace, or with "
				 "--workspace draft");
	if (opts->detach)
		return error_set(err, "use --apply or --detach, not both (afterwards: ringfence "
				      "apply)");
	return 0;
}

static void notice_names(const char *before, const struct list *names, size_t count)
{
	enum { SHOWN = 5 };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);

	for (size_t i = 0; i < names->count && i < SHOWN; i++)
		buffer_printf(&text, "%s%s", i ? ", " : "", names->items[i]);
	if (count > SHOWN)
		buffer_printf(&text, " and %zu more", count - SHOWN);
	if (count)
		notice_format("%s: %s", before, buffer_text(&text));
}

static int start(struct run_options *opts, struct error *err)
{
	/* With --detach, a script that reads stdout gets only the loop's id. */
	bool person = !opts->json && !opts->quiet && (!opts->detach || isatty(1));
	struct client_loop *loop = &opts->start.loop;
	struct drafts_progress progress;
	int code;

	drafts_notice_progress(&opts->request.start.draft, &progress);
	opts->request.start.progress = drafts_saving();
	if (op_failed(op_start(&opts->request.start, &opts->start, err)))
		return cli_fail(err);
	drafts_notice_made(&opts->start.made.made);
	if (opts->start.made.notice)
		notice(opts->start.made.notice);
	if (opts->start.made.conflicts.texts.count)
		notice_names("conflicts for the agent to resolve",
			     &opts->start.made.conflicts.texts,
			     opts->start.made.conflicts.texts.count);
	if (person) {
		printf("loop %s\n", loop->id);
		announce_loop(&opts->request, &opts->start.plan);
	}
	if (opts->detach && opts->json) {
		loops_print_line(client_json(loop));
		return cli_flush();
	}
	if (opts->detach) {
		if (person)
			puts("running in the background (see ringfence logs -f, status, pause, abort)");
		printf("%s\n", loop->id);
		return cli_flush();
	}
	code = follow_loop(loop, &opts->follow);
	client_refresh(loop);
	if (loop->state.options.work_tree && !loop->alive && !opts->json && !opts->quiet) {
		AUTO_FREE char *result = mem_format(
			"the result is the branch ringfence/%s (to merge it: ringfence apply %s)",
			loop->id, loop->id);

		page_print(result, 0);
	}
	return opts->apply && code == LOOPS_COMPLETED ? apply(loop, opts, err) : code;
}

/* Reads how the loop is followed. */
static int read_follow(struct run_options *opts, struct error *err)
{
	opts->follow = (struct follow_options){ .json = opts->json,
						.quiet = opts->quiet,
						.verbose = opts->verbose };
	return follow_read(&opts->follow, opts->heartbeat, err);
}

/* Checks disk space, finishes an interrupted apply, and creates the work tree. */
static int prepare(struct run_options *opts, struct error *err)
{
	struct op_worktree_result *tree = &opts->start.worktree;
	enum op_status status = op_start_prepare(&opts->request.start, &opts->start, err);

	if (opts->start.recovered)
		notice("finished an interrupted apply first");
	notice_names(
		"your uncommitted changes stay where they are, and are not in the loop's work tree",
		&tree->uncommitted, tree->uncommitted_count);
	notice_names("submodules are empty folders in the loop's work tree", &tree->submodules,
		     tree->submodules.count);
	return op_failed(status) ? -1 : 0;
}

/* Prints what the user should know before the loop starts; refuses nothing. */
static void examine(const struct run_options *opts)
{
	const struct preflight_loop loop = { .effective = &opts->effective,
					     .request = &opts->request,
					     .plan = &opts->start.plan };
	struct preflight_items items = { 0 };

	preflight_loop_examine(&loop, &preflight_loop_quick, &items);
	preflight_text_notice(&items);
	preflight_items_release(&items);
}

/* Checks the name of the loop, and finds the loops that it begins with. */
static int read_words(struct run_options *opts, struct error *err)
{
	const char **const words[] = { &opts->from, &opts->with };

	if (opts->name && !id_is_name(opts->name))
		return error_with(
			err, ERROR_INVALID,
			"--name '%.60s' cannot be a name: it needs a letter, then up to 39 "
			"letters, digits and . _ -",
			opts->name);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (*words[i] && !(*words[i] = short_id_resolve(&opts->effective.place, *words[i],
								&opts->words, err)))
			return -1;
	opts->request.start.from = opts->from;
	opts->request.start.with = opts->with;
	opts->request.start.loop_id = opts->loop_id;
	opts->request.start.name = opts->name;
	return 0;
}

static int load_and_run(struct run_options *opts, struct error *err)
{
	if (opts->no_fence)
		opts->effective.spec.accepted_weaker |= FENCE_WEAKER_NO_FENCE;
	if (effective_loop(&opts->effective, err) < 0)
		return cli_fail_config(&opts->effective.config, err);
	if (!opts->dry)
		fence_enter_scope(&opts->effective.place, &opts->effective.spec);
	notice_config(&opts->effective.config, NULL);
	notice_part(&opts->effective);
	loop_request_begin(&opts->request, &opts->effective);
	if (read_words(opts, err) < 0 || check_apply(opts, err) < 0 ||
	    (!opts->dry && prepare(opts, err) < 0) || choose(opts, err) < 0 ||
	    (!opts->dry && loop_request_find_models(&opts->request, err) < 0) ||
	    plan(opts, err) < 0)
		return cli_fail(err);
	if (opts->dry)
		return show(opts, err);
	examine(opts);
	return start(opts, err);
}

static int run_run(const struct cli_command *command, char **argv)
{
	struct run_options opts = { .text = BUFFER_INIT(OBJECTIVE_BYTES + 1),
				    .start = OP_START_INIT };
	struct error err;
	char **rest;
	int code;

	effective_init(&opts.effective);
	rest = cli_parse(command, argv, &opts, &code);
	if (rest)
		code = read_objective(&opts, rest, &err) < 0 || read_follow(&opts, &err) < 0
			       ? cli_fail(&err)
			       : load_and_run(&opts, &err);
	op_start_release(&opts.request.start, &opts.start);
	loop_request_release(&opts.request);
	list_release(&opts.words);
	buffer_release(&opts.text);
	effective_release(&opts.effective);
	return code;
}

const struct cli_command cmd_run = {
	.name = "run",
	.args = "[OBJECTIVE | -p FILE] [--check COMMAND] [options]",
	.max_args = CLI_ANY,
	.options_anywhere = true,
	.summary = "run an agent in the fence until the work is done",
	.description =
		"Starts the agent with a prompt on its stdin, runs the checks, and repeats this until all "
		"rules hold: every check exits 0 and ran something, the promise was given, all boxes are "
		"ticked. All this happens on a draft of the project: your files do not change until "
		"ringfence apply takes the result over. A supervisor in the background does the work, "
		"so the loop survives the end of this command and can continue after Ctrl-C.",
	.options = options,
	.aliases = intended_aliases,
	.set = effective_set,
	.has_setting = intended_has_setting,
	.sections = sections,
	.run = run_run,
};
