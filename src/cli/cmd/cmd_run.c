/* ringfence run: an agent in the fence, again and again, until the work is done. */
#include "cli/cli.h"
#include "cli/loops.h"
#include "cli/settings/choice.h"
#include "cli/settings/effective.h"
#include "cli/settings/effective_models.h"
#include "cli/settings/goal.h"
#include "cli/settings/loop_limits.h"
#include "cli/settings/preflight.h"
#include "cli/settings/prices.h"
#include "cli/view/announce.h"
#include "cli/view/follow.h"
#include "cli/view/notice.h"
#include "cli/view/page.h"
#include "cli/view/policy_text.h"
#include "fence/fence.h"
#include "loop/client.h"
#include "ops/op_apply.h"
#include "ops/op_worktree.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/state_folder.h"

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
	struct op_worktree_result worktree;
	json_t *frozen; /* what the journal gets */
	struct buffer text;
	struct client_loop loop;
	struct choice choice;
	struct goal goal;
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

/* The user's own prices; ours are in the program. */
static int add_prices(const struct run_options *asked, struct error *err)
{
	AUTO_BUFFER struct buffer own = { 0 };
	struct price_table table;

	if (prices_load_with(&asked->effective.place, &table, &own, err) < 0)
		return -1;
	price_table_release(&table);
	if (own.used &&
	    json_object_set_new(asked->frozen, "prices", json_string(buffer_text(&own))) < 0)
		return error_set(err, "your prices.txt is no UTF-8");
	return 0;
}

/* What is recorded or replayed is said wherever the loop is. */
static void add_tape(const struct run_options *asked)
{
	const struct model_access *access = &asked->effective.spec.models;
	const char *replay = model_access_tape(access, MODEL_ACCESS_REPLAY);
	const char *record = model_access_tape(access, MODEL_ACCESS_RECORD);

	if (replay)
		json_object_set_new(asked->frozen, "replay", json_string(replay));
	if (record)
		json_object_set_new(asked->frozen, "record", json_string(record));
}

/* All that the loop is to be, decided once. */
static int freeze(struct run_options *asked, struct error *err)
{
	AUTO_FREE char *here = getcwd(NULL, 0);
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
	asked->frozen =
		json_pack("{s:s, s:s, s:s, s:s, s:s, s:s?, s:s?, s:s, s:s?, s:s?, s:O, s:o}",
			  "project", asked->effective.place.project, "objective", asked->objective,
			  "agent", asked->choice.agent->name, "agent_command",
			  asked->choice.command, "agent_format", asked->choice.format, "model",
			  asked->choice.model, "login", asked->choice.login, "session",
			  config_get(config, SETTING_SESSION)->text, "promise", asked->goal.promise,
			  "tasks", asked->goal.tasks, "checks", asked->goal.checks, "fence",
			  spec_json_write(&asked->effective.spec, here ? here : "/"));
	if (!asked->frozen)
		return error_set(err,
				 "a text or a path that is no UTF-8 cannot be kept in a journal");
	if (asked->worktree.root) {
		json_object_set_new(asked->frozen, "origin", json_string(asked->worktree.origin));
		json_object_set_new(asked->frozen, "work_tree", json_string(asked->worktree.root));
	}
	if (asked->goal.found)
		json_object_set_new(asked->frozen, "check_found", json_true());
	add_tape(asked);
	loop_limits_freeze(asked->frozen, config);
	return add_prices(asked, err);
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

/* Would the fence be made? Nothing is started that is refused a moment later. */
static int plan(struct run_options *asked, struct fence_plan *ret_plan, struct error *err)
{
	static char *const nothing[] = { (char *)"true", NULL };

	asked->effective.spec.command = nothing;
	if (fence_plan_make(&asked->effective.spec, ret_plan, err) < 0)
		return -1;
	for (size_t i = 0; i < ret_plan->notices.count; i++)
		notice(ret_plan->notices.items[i]);
	notice_found(&ret_plan->recovered);
	if (ret_plan->weaker & FENCE_WEAKER_NO_FENCE)
		notice("NO FENCE: the agent runs without a fence, with all of your rights (--i-accept-no-fence)");
	if (find_programs(asked, ret_plan, err) == 0)
		return 0;
	fence_plan_release(ret_plan);
	return -1;
}

/* Where the agent's sessions are kept: beside the state, if a fence may write there. */
static int place_sessions(const struct run_options *asked, const struct fence_plan *made,
			  struct error *err)
{
	AUTO_FREE char *folder = mem_format("%s-sessions", made->state);
	AUTO_FREE char *within = path_join(folder, ".");
	struct error why;

	if (!asked->choice.agent->resume || made->weaker & FENCE_WEAKER_NO_FENCE)
		return 0;
	if (state_folder_make(folder, 0700) == 0 && access(within, W_OK) == 0 &&
	    fence_plan_permits(made, true, folder, &why) == 0) {
		json_object_set_new(asked->frozen, "sessions", json_string(folder));
		return 0;
	}
	if (strcmp(config_get(&asked->effective.config, SETTING_SESSION)->text, "continue") == 0)
		return error_set(
			err,
			"--session continue needs a folder for sessions, and '%s' cannot be one",
			folder);
	notice_format("the agent's sessions are not kept: '%s' cannot be a folder for them",
		      folder);
	return 0;
}

static int show(const struct run_options *asked, const struct fence_plan *plan, struct error *err)
{
	AUTO_BUFFER struct buffer prompt = BUFFER_INIT(1 << 20);

	if (client_preview(asked->frozen, policy_text_private_git(&asked->effective, plan), &prompt,
			   err) < 0)
		return cli_fail(err);
	if (asked->json) {
		loops_print_line(json_pack("{s:o, s:O}", "prompt",
					   client_text(buffer_text(&prompt)), "config",
					   asked->frozen));
		return cli_printed();
	}
	printf("# The first prompt, on the agent's stdin\n\n%s\n", buffer_text(&prompt));
	printf("# The agent: %s, by sh -c\n\n%s\n\n# The policy\n\n", asked->choice.agent->title,
	       asked->choice.command);
	policy_text_print(&asked->effective, plan, true);
	return cli_printed();
}

static int start(struct run_options *asked, const struct fence_plan *plan, struct error *err)
{
	/* A program wants nothing but the id of what it starts in the background. */
	bool person = !asked->json && (!asked->detach || isatty(1));
	int code;

	if (client_create(asked->effective.place.state, asked->worktree.id, asked->frozen,
			  &asked->loop, err) < 0)
		return cli_fail(err);
	op_worktree_release(&asked->worktree); /* from now on it is the loop's */
	if (person) {
		printf("loop %s\n", asked->loop.id);
		announce_loop(&asked->effective, plan, &asked->choice, &asked->goal);
	}
	if (asked->detach && asked->json) {
		loops_print_line(client_json(&asked->loop));
		return cli_printed();
	}
	if (asked->detach) {
		if (person)
			puts("in the background (ringfence logs -f, status, pause, abort)");
		printf("%s\n", asked->loop.id);
		return cli_printed();
	}
	code = follow_loop(&asked->loop, 0, asked->json);
	client_look(&asked->loop);
	if (asked->loop.state.options.work_tree && !asked->loop.alive && !asked->json) {
		AUTO_FREE char *result =
			mem_format("its result is the branch ringfence/%s (ringfence apply %s)",
				   asked->loop.id, asked->loop.id);

		page_print(result, 0);
	}
	return code;
}

/* A disk that is nearly full already is no place to begin. */
static int find_room(const struct run_options *asked, struct error *err)
{
	const struct effective *effective = &asked->effective;
	int64_t least = (int64_t)config_get(&effective->config, SETTING_MIN_FREE)->number;
	AUTO_FREE char *here = client_room(effective->place.project, least);
	AUTO_FREE char *there = client_room(effective->place.state, least);

	if (!here && !there)
		return 0;
	return error_set(err, "%.1500s", here ? here : there);
}

/* The built-in agent can do nothing without a model; any other may have ways of its own. */
static int find_models(const struct run_options *asked, struct error *err)
{
	if (strcmp(asked->choice.agent->name, "builtin") != 0 ||
	    config_get(&asked->effective.config, SETTING_REPLAY)->number)
		return 0;
	return effective_models_listen(&asked->effective.spec.models, err);
}

static int finish_apply(const struct run_options *asked, struct error *err)
{
	const struct fence_place *place = &asked->effective.place;
	enum op_status status = op_apply_finish(place->state, place->project, err);

	if (status == OP_DONE)
		notice("an apply that was cut off has been finished first");
	return op_failed(status) ? -1 : 0;
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

static int make_worktree(struct run_options *asked, struct error *err)
{
	struct fence_place *place = &asked->effective.place;
	const struct op_worktree_request request = { .state = place->state,
						     .project = place->project };
	AUTO_FREE char *here = getcwd(NULL, 0);

	if (op_failed(op_worktree(&request, &asked->worktree, err)))
		return -1;
	notice_names(
		"what you have not committed stays where it is, and is not in the loop's work tree",
		&asked->worktree.uncommitted, asked->worktree.uncommitted_count);
	notice_names("submodules are empty folders in the loop's work tree",
		     &asked->worktree.submodules, asked->worktree.submodules.count);
	op_worktree_enter(&asked->worktree, here ? here : place->project, &asked->effective.spec,
			  place);
	return 0;
}

static int load_and_run(struct run_options *asked, struct error *err)
{
	struct fence_plan made;
	int code;

	if (asked->no_fence)
		asked->effective.spec.accepted_weaker |= FENCE_WEAKER_NO_FENCE;
	if (effective_loop(&asked->effective, err) < 0)
		return effective_fail(&asked->effective.config, err);
	if (!asked->dry)
		fence_enter_scope(&asked->effective.spec);
	notice_config(&asked->effective.config, true);
	if (!asked->dry && (find_room(asked, err) < 0 || finish_apply(asked, err) < 0))
		return cli_fail(err);
	if (asked->apart && !asked->dry && make_worktree(asked, err) < 0)
		return cli_fail(err);
	if (freeze(asked, err) < 0 || (!asked->dry && find_models(asked, err) < 0) ||
	    plan(asked, &made, err) < 0)
		return cli_fail(err);
	if (place_sessions(asked, &made, err) < 0)
		code = cli_fail(err);
	else
		code = asked->dry ? show(asked, &made, err) : start(asked, &made, err);
	fence_plan_release(&made);
	return code;
}

static int run_run(const struct cli_command *command, char **argv)
{
	struct run_options asked = { .text = BUFFER_INIT(OBJECTIVE_BYTES + 1),
				     .worktree = OP_WORKTREE_INIT };
	struct error err;
	char **rest;
	int code;

	effective_init(&asked.effective);
	rest = cli_begin(command, argv, &asked, &code);
	if (rest)
		code = read_objective(&asked, rest, &err) < 0 ? cli_fail(&err)
							      : load_and_run(&asked, &err);
	if (asked.worktree.id)
		op_worktree_undo(asked.effective.place.state, &asked.worktree);
	client_loop_release(&asked.loop);
	json_decref(asked.frozen);
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
