/* ringfence run: an agent in the fence, again and again, until the work is done. */
#include "cli/cli.h"
#include "cli/loops.h"
#include "cli/settings/choice.h"
#include "cli/settings/effective.h"
#include "cli/settings/effective_models.h"
#include "cli/settings/goal.h"
#include "cli/settings/loop_limits.h"
#include "cli/settings/effective_models.h"
#include "cli/settings/preflight.h"
#include "cli/settings/prices.h"
#include "cli/view/announce.h"
#include "cli/view/follow.h"
#include "cli/view/notice.h"
#include "cli/view/page.h"
#include "cli/view/policy_text.h"
#include "fence/fence.h"
#include "loop/client.h"
#include "ops/op_start.h"
#include "util/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OBJECTIVE_BYTES = 256 << 10 };

struct run_options {
	struct effective effective;
	const char *objective;
	const char *prompt_file;
	bool detach;
	bool dry;
	bool json;
	bool no_fence;
	bool apart;
	struct buffer text;
	struct choice choice;
	struct goal goal;
	struct buffer prices; /* the user's own; ours are in the program */
	json_t *limits;
	char *here;
	struct op_start_request request;
	struct op_start_result start;
};

_Static_assert(offsetof(struct run_options, effective) == 0, "where apply_set() looks for it");

static const struct cli_option options[] = {
	OPTION_TEXT("prompt-file", "FILE", "the objective is in this file (-p)", struct run_options,
		    prompt_file),
	OPTION_PROJECT(struct run_options, effective.spec.project),
	OPTION_FLAG("worktree",
		    "in a work tree of its own, on the branch ringfence/LOOP (ringfence apply)",
		    struct run_options, apart),
	OPTION_FLAG("detach", "go on in the background; the last line is the loop's id",
		    struct run_options, detach),
	OPTION_FLAG("dry-run", "show the prompt and the policy, and start nothing",
		    struct run_options, dry),
	OPTION_FLAG("json", "one JSON object a line, the result last", struct run_options, json),
	OPTION_FLAG("i-accept-no-fence", "run WITHOUT any fence", struct run_options, no_fence),
	{ 0 },
};

/* Every setting is for a loop. */
static bool takes(const struct setting *setting)
{
	return setting;
}

static const struct cli_alias aliases[] = {
	{ "-p", "--prompt-file" },
	{ "-m", "--max-iterations" },
	{ "--completion", "--promise" },
	{ "--completion-promise", "--promise" },
	{ "--no-pause-on-warning", "--pause-on-warning=false" },
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", loops_exit_table },
	{ "EXAMPLES",
	  "  ringfence run \"Fix the failing tests\" --check \"npm test\" --agent claude\n"
	  "  ringfence run -p PROMPT.md --tasks TASKS.md --agent-command my-agent --detach\n" },
	{ 0 },
};

static int read_objective(struct run_options *asked, char **rest, struct error *err)
{
	AUTO_FD fd = -1;

	asked->objective = *rest;
	if (*rest && rest[1])
		return error_set(
			err,
			"run takes one objective; put it in quotation marks (ringfence run --help)");
	if (asked->objective && asked->prompt_file)
		return error_set(err, "run takes an objective or --prompt-file, not both");
	if (asked->prompt_file) {
		fd = open(asked->prompt_file, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fd_read_all(fd, &asked->text) < 0)
			return error_sys(err, "read --prompt-file '%s'", asked->prompt_file);
		asked->objective = buffer_text(&asked->text);
	}
	if (!asked->objective || strspn(asked->objective, " \t\n") == strlen(asked->objective))
		return error_set(
			err,
			"run needs an objective: ringfence run \"Fix the failing tests\" --check \"make test\" "
			"(ringfence run --help)");
	if (strlen(asked->objective) > OBJECTIVE_BYTES)
		return error_set(err, "the objective is longer than %d bytes", OBJECTIVE_BYTES);
	return 0;
}

static int load_prices(struct run_options *asked, struct error *err)
{
	struct price_table table;

	if (prices_load_with(&asked->effective.place, &table, &asked->prices, err) < 0)
		return -1;
	price_table_release(&table);
	return 0;
}

/* Which agent, and until when. */
static int choose(struct run_options *asked, struct error *err)
{
	const struct config *config = &asked->effective.config;

	if (preflight_inactive(config, SETTING_AGENT_COMMAND, SETTING_AGENT, err) < 0 ||
	    preflight_inactive(config, SETTING_AGENT, SETTING_AGENT_COMMAND, err) < 0 ||
	    preflight_unwritable(&asked->effective.spec, asked->effective.place.project, err) < 0 ||
	    choice_make(&asked->effective, &asked->choice, err) < 0 ||
	    goal_decide(&asked->effective, &asked->goal, err) < 0)
		return -1;
	if (!json_array_size(asked->goal.checks))
		notice_format(
			"no --check is configured, and none was found in the project: only the agent's word%s will count",
			asked->goal.tasks ? " and ticks" : "");
	loop_limits_set_all(asked->limits, config);
	return load_prices(asked, err);
}

static void fill_request(struct run_options *asked)
{
	struct op_start_request *request = &asked->request;

	request->objective = asked->objective;
	request->agent = (struct op_start_agent){
		.adapter = asked->choice.agent,
		.command = asked->choice.command,
		.format = asked->choice.format,
		.model = asked->choice.model,
		.login = asked->choice.login,
		.session = config_get(&asked->effective.config, SETTING_SESSION)->text,
	};
	request->goal = (struct op_start_goal){ .checks = asked->goal.checks,
						.found = asked->goal.found,
						.promise = asked->goal.promise,
						.tasks = asked->goal.tasks };
	request->limits = asked->limits;
	request->prices = buffer_text(&asked->prices);
}

/* Are the programs of the agent and of the checks there? */
static int find_programs(const struct run_options *asked, const struct fence_plan *plan,
			 struct error *err)
{
	size_t index;
	json_t *check;

	if (plan->weaker & FENCE_WEAKER_NO_FENCE)
		return 0;
	if (preflight_hidden(plan, "the agent's command", asked->choice.command, err) < 0)
		return -1;
	json_array_foreach(asked->goal.checks, index, check)
	{
		AUTO_FREE char *what = mem_format("the check '%.300s'", json_string_value(check));

		if (preflight_hidden(plan, what, json_string_value(check), err) < 0)
			return -1;
	}
	return 0;
}

static void notice_plan(const struct fence_plan *made)
{
	for (size_t i = 0; i < made->notices.count; i++)
		notice(made->notices.items[i]);
	notice_found(&made->recovered);
	if (made->weaker & FENCE_WEAKER_NO_FENCE)
		notice("NO FENCE: the agent runs without a fence, with all of your rights (--i-accept-no-fence)");
}

/* Decides what the loop will be, and says what is worth knowing about it. */
static int plan(struct run_options *asked, struct error *err)
{
	struct op_start_result *start = &asked->start;
	enum op_status status;

	fill_request(asked);
	status = op_start_plan(&asked->request, start, err);
	if (start->planned)
		notice_plan(&start->plan);
	if (start->no_sessions)
		notice_format("the agent's sessions are not kept: '%s' cannot be a folder for them",
			      start->no_sessions);
	return op_failed(status) ? -1 : find_programs(asked, &start->plan, err);
}

static int show(const struct run_options *asked, struct error *err)
{
	const struct fence_plan *made = &asked->start.plan;
	AUTO_BUFFER struct buffer prompt = BUFFER_INIT(1 << 20);

	if (client_preview(asked->start.config, policy_text_private_git(&asked->effective, made),
			   &prompt, err) < 0)
		return cli_fail(err);
	if (asked->json) {
		loops_print_line(json_pack("{s:o, s:O}", "prompt",
					   client_text(buffer_text(&prompt)), "config",
					   asked->start.config));
		return cli_printed();
	}
	printf("# The first prompt, on the agent's stdin\n\n%s\n", buffer_text(&prompt));
	printf("# The agent: %s, by sh -c\n\n%s\n\n# The policy\n\n", asked->choice.agent->title,
	       asked->choice.command);
	policy_text_print(&asked->effective, made, true);
	return cli_printed();
}

static int start(struct run_options *asked, struct error *err)
{
	/* A program wants nothing but the id of what it starts in the background. */
	bool person = !asked->json && (!asked->detach || isatty(1));
	struct client_loop *loop = &asked->start.loop;
	int code;

	if (op_failed(op_start(&asked->request, &asked->start, err)))
		return cli_fail(err);
	if (person) {
		printf("loop %s\n", loop->id);
		announce_loop(&asked->effective, &asked->start.plan, &asked->choice, &asked->goal);
	}
	if (asked->detach && asked->json) {
		loops_print_line(client_json(loop));
		return cli_printed();
	}
	if (asked->detach) {
		if (person)
			puts("in the background (ringfence logs -f, status, pause, abort)");
		printf("%s\n", loop->id);
		return cli_printed();
	}
	code = follow_loop(loop, 0, asked->json);
	client_look(loop);
	if (loop->state.options.work_tree && !loop->alive && !asked->json) {
		AUTO_FREE char *result =
			mem_format("its result is the branch ringfence/%s (ringfence apply %s)",
				   loop->id, loop->id);

		page_print(result, 0);
	}
	return code;
}

/* The built-in agent can do nothing without a model; any other may have ways of its own. */
static int find_models(const struct run_options *asked, struct error *err)
{
	if (strcmp(asked->choice.agent->name, "builtin") != 0 ||
	    config_get(&asked->effective.config, SETTING_REPLAY)->number)
		return 0;
	return effective_models_check_listening(&asked->effective.spec.models, err);
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

/* Room, and a work tree. */
static int prepare(struct run_options *asked, struct error *err)
{
	struct op_worktree_result *tree = &asked->start.worktree;
	enum op_status status = op_start_prepare(&asked->request, &asked->start, err);

	if (asked->start.recovered)
		notice("an apply that was cut off has been finished first");
	notice_names(
		"what you have not committed stays where it is, and is not in the loop's work tree",
		&tree->uncommitted, tree->uncommitted_count);
	notice_names("submodules are empty folders in the loop's work tree", &tree->submodules,
		     tree->submodules.count);
	return op_failed(status) ? -1 : 0;
}

static void begin_request(struct run_options *asked)
{
	struct effective *effective = &asked->effective;

	asked->here = getcwd(NULL, 0);
	asked->request = (struct op_start_request){
		.place = &effective->place,
		.spec = &effective->spec,
		.here = asked->here ? asked->here : "/",
		.worktree = asked->apart,
		.min_free_bytes = (int64_t)config_get(&effective->config, SETTING_MIN_FREE)->number,
	};
}

static int load_and_run(struct run_options *asked, struct error *err)
{
	if (asked->no_fence)
		asked->effective.spec.accepted_weaker |= FENCE_WEAKER_NO_FENCE;
	if (effective_loop(&asked->effective, err) < 0)
		return effective_fail(&asked->effective.config, err);
	if (!asked->dry)
		fence_enter_scope(&asked->effective.spec);
	notice_config(&asked->effective.config, true);
	begin_request(asked);
	if ((!asked->dry && prepare(asked, err) < 0) || choose(asked, err) < 0 ||
	    (!asked->dry && find_models(asked, err) < 0) || plan(asked, err) < 0)
		return cli_fail(err);
	return asked->dry ? show(asked, err) : start(asked, err);
}

static int run_run(const struct cli_command *command, char **argv)
{
	struct run_options asked = { .text = BUFFER_INIT(OBJECTIVE_BYTES + 1),
				     .limits = json_object(),
				     .start = OP_START_INIT };
	struct error err;
	char **rest;
	int code;

	effective_init(&asked.effective);
	rest = cli_begin(command, argv, &asked, &code);
	if (rest)
		code = read_objective(&asked, rest, &err) < 0 ? cli_fail(&err)
							      : load_and_run(&asked, &err);
	op_start_release(&asked.request, &asked.start);
	json_decref(asked.limits);
	buffer_release(&asked.prices);
	free(asked.here);
	choice_release(&asked.choice);
	goal_release(&asked.goal);
	buffer_release(&asked.text);
	effective_release(&asked.effective);
	return code;
}

const struct cli_command cmd_run = {
	.name = "run",
	.args = "[OBJECTIVE | -p FILE] [--check COMMAND] [options]",
	.most = CLI_ANY,
	.mixed = true,
	.help = "run an agent in the fence, again and again, until the work is done",
	.about =
		"Starts the agent with a prompt on its stdin, runs the checks, and begins again until all rules hold: every check "
		"ends with 0 and ran something, the promise was given, all boxes are ticked. A supervisor in the background does "
		"the work and survives what this command does not; it goes on after Ctrl-C if you want it to.",
	.options = options,
	.aliases = aliases,
	.set = effective_set,
	.takes = takes,
	.sections = sections,
	.run = run_run,
};
