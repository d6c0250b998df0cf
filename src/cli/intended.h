/*
 * A loop as the user would start it with `run`, for commands that only look ahead. They take the
 * options of `run`; nothing is created or started.
 */
#ifndef CLI_INTENDED_H
#define CLI_INTENDED_H

#include "cli/cli.h"
#include "fence/fence_plan.h"
#include "preflight/preflight_loop.h"
#include "settings/effective.h"
#include "settings/loop_request.h"
#include "util/buffer.h"

/* The first member of a command's options. A step that fails leaves its error. */
struct intended {
	struct effective effective;
	const char *prompt_file, *example;
	bool apply, detach, dry, quiet, verbose; /* ignored, like the next one */
	const char *heartbeat;
	bool json, no_fence;
	const char *objective; /* or NULL */
	struct buffer text;
	struct loop_request request;
	struct fence_plan plan;
	bool begun, planned;
	bool agent_failed, goal_failed, plan_failed, project_failed;
	struct error agent_error, goal_error, plan_error, project_error;
};

/* Rows of an option table. */
#define INTENDED_OPTIONS(type)                                                                     \
	OPTION_TEXT("prompt-file", "FILE", "read the objective from this file (-p)", type,         \
		    intended.prompt_file),                                                         \
		OPTION_TEXT("example", "NAME", "as for run", type, intended.example),              \
		OPTION_PROJECT(type, intended.effective.spec.project),                             \
		OPTION_JSON(type, intended.json),                                                  \
		OPTION_FLAG("apply", "as for run, without effect here", type, intended.apply),     \
		OPTION_FLAG("detach", "as for run, without effect here", type, intended.detach),   \
		OPTION_FLAG("dry-run", "as for run, without effect here", type, intended.dry),     \
		OPTION_FLAG("quiet", "as for run, without effect here", type, intended.quiet),     \
		OPTION_FLAG("verbose", "as for run, without effect here", type, intended.verbose), \
		OPTION_TEXT("heartbeat", "DURATION", "as for run, without effect here", type,      \
			    intended.heartbeat),                                                   \
		OPTION_FLAG("i-accept-no-fence", "as for run", type, intended.no_fence)

/* Fields of a command's entry. */
#define INTENDED_COMMAND                                                            \
	.max_args = CLI_ANY, .options_anywhere = true, .aliases = intended_aliases, \
	.set = effective_set, .has_setting = intended_has_setting, .settings_of = "run"

/* The settings that are options of `run`, and the aliases of its options. */
bool intended_has_setting(const struct setting *setting);
extern const struct cli_alias intended_aliases[];

void intended_init(struct intended *intended);

/*
 * Completes a command after cli_parse(), which returned `arguments` and set `code`. If there are
 * arguments: loads the settings, chooses agent and goal, plans the fence, and calls `use`, unless
 * an error about options or settings was reported. Releases the loop in any case. Returns the exit
 * status.
 */
int intended_finish(struct intended *intended, const char *command, char **arguments, int code,
		    int (*use)(const struct intended *intended));

/* The loop for the preflight; borrows everything. */
struct preflight_loop intended_loop(const struct intended *intended);

#endif
