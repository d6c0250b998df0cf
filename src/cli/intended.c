/* A loop that is not started: see intended.h. */
#include "cli/intended.h"

#include "cli/objective.h"
#include "cli/view/notice.h"
#include "settings/preflight.h"

#include <stddef.h>

_Static_assert(offsetof(struct intended, effective) == 0,
	       "effective_set() needs it to be the first member");

/* Every setting is an option, except those of what a loop does not have: a terminal, and drafts of
 * commands. */
bool intended_has_setting(const struct setting *setting)
{
	return setting->id != SETTING_RAW_TERMINAL && setting->id != SETTING_DRAFTS_SIZE &&
	       setting->id != SETTING_DRAFTS_AGE;
}

const struct cli_alias intended_aliases[] = {
	{ "-p", "--prompt-file" },
	{ "-m", "--max-iterations" },
	{ "-q", "--quiet" },
	{ "-v", "--verbose" },
	{ "--completion", "--promise" },
	{ "--completion-promise", "--promise" },
	{ "--worktree", "--workspace=worktree" },
	{ "--no-pause-on-warning", "--pause-on-warning=false" },
	{ 0 },
};

void intended_init(struct intended *intended)
{
	*intended = (struct intended){ .text = BUFFER_INIT(OBJECTIVE_BYTES + 1) };
	effective_init(&intended->effective);
}

static void release(struct intended *intended)
{
	if (intended->planned)
		fence_plan_release(&intended->plan);
	if (intended->begun)
		loop_request_release(&intended->request);
	buffer_release(&intended->text);
	effective_release(&intended->effective);
}

/* Each step is tried, so that the user sees everything that is wrong. */
static void choose(struct intended *intended)
{
	static char *const nothing[] = { (char *)"true", NULL };
	struct effective *effective = &intended->effective;
	struct loop_request *request = &intended->request;

	intended->agent_failed = loop_request_choose_agent(request, &intended->agent_error) < 0 ||
				 loop_request_find_models(request, &intended->agent_error) < 0;
	intended->goal_failed = goal_decide(effective, &request->goal, &intended->goal_error) < 0;
	intended->project_failed = preflight_unwritable(&effective->spec, effective->place.project,
							&intended->project_error) < 0;
	effective->spec.command = nothing;
	intended->planned = fence_plan_make(&effective->spec, &intended->plan,
					    &intended->plan_error) == 0;
	intended->plan_failed = !intended->planned;
}

static int load(struct intended *intended, const char *command, char **arguments)
{
	const struct objective_source source = { .command = command,
						 .arguments = arguments,
						 .file = intended->prompt_file,
						 .example = intended->example };
	struct effective *effective = &intended->effective;
	struct error err;

	if (objective_read(&source, &intended->text, &intended->objective, &err) < 0)
		return cli_fail(&err);
	if (intended->no_fence)
		effective->spec.accepted_weaker |= FENCE_WEAKER_NO_FENCE;
	if (effective_loop(effective, &err) < 0)
		return cli_fail_config(&effective->config, &err);
	notice_config(&effective->config, NULL);
	loop_request_begin(&intended->request, effective);
	intended->begun = true;
	choose(intended);
	return 0;
}

int intended_finish(struct intended *intended, const char *command, char **arguments, int code,
		    int (*use)(const struct intended *intended))
{
	if (arguments)
		code = load(intended, command, arguments);
	if (arguments && code == 0)
		code = use(intended);
	release(intended);
	return code;
}

struct preflight_loop intended_loop(const struct intended *intended)
{
	return (struct preflight_loop){
		.effective = &intended->effective,
		.request = &intended->request,
		.plan = intended->planned ? &intended->plan : NULL,
		.agent_error = intended->agent_failed ? &intended->agent_error : NULL,
		.goal_error = intended->goal_failed ? &intended->goal_error : NULL,
		.plan_error = intended->plan_failed ? &intended->plan_error : NULL,
		.project_error = intended->project_failed ? &intended->project_error : NULL,
		.probe = true,
	};
}
