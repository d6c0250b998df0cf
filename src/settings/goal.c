/* When a loop is done: see goal.h. */
#include "settings/goal.h"

#include "detect/detect_policy.h"
#include "fence/fence_place.h"
#include "loop/client.h"
#include "project/project.h"
#include "settings/preflight.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_findings(const json_t *changes, struct error *err)
{
	struct detect_policy policy;
	size_t index;
	const json_t *change;

	detect_policy_init(&policy);
	json_array_foreach(changes, index, change)
	{
		if (!detect_policy_change(&policy, json_string_value(change)))
			return error_set(err,
					 "--findings '%s': use KIND=ACTION, such as "
					 "expected-changed=note (actions: off, note, tell, review, "
					 "stop; kinds: docs/checks.md)",
					 json_string_value(change));
	}
	return 0;
}

/* Makes the path of the task list relative to the project, and checks that it exists. */
static int place_tasks(const char *project, const char **tasks, struct error *err)
{
	if (!*tasks)
		return 0;
	if ((*tasks)[0] == '/') {
		if (!path_within(*tasks, project) || strcmp(*tasks, project) == 0)
			return error_set(err, "--tasks '%s' is not in the project '%s'", *tasks,
					 project);
		*tasks += strlen(project) + 1;
	}
	return preflight_missing(project, *tasks, err);
}

/* Adds the project's first check. It runs in the fence, so it needs no consent. */
static int find_check(const struct fence_place *place, struct goal *goal, struct error *err)
{
	struct project project;

	if (project_detect(place->project, &project, err) < 0)
		return -1;
	goal->found = project.checks.count;
	if (goal->found)
		json_array_append_new(goal->checks, json_string(project.checks.items[0]));
	project_release(&project);
	return 0;
}

/* Finds the folder of held-out files. The agent must not reach it. */
static int place_held_out(const struct effective *effective, struct goal *goal, struct error *err)
{
	const char *project = effective->place.project;
	const char *folder = config_text(&effective->config, SETTING_HOLD_OUT);
	AUTO_FREE char *here = getcwd(NULL, 0);
	AUTO_FREE char *home = mem_format("%s/", env_home());
	AUTO_FREE char *path = !folder ? NULL
			       : strncmp(folder, "~/", 2) == 0
				       ? path_absolute(folder + 2, home)
				       : path_absolute(folder, here ? here : "/");
	struct stat status;

	if (!folder)
		return 0;
	goal->hold_out = realpath(path, NULL);
	if (!goal->hold_out || stat(goal->hold_out, &status) < 0 || !S_ISDIR(status.st_mode))
		return error_set(err, "--hold-out '%s' is not a folder", folder);
	if (path_within(goal->hold_out, project) || path_within(project, goal->hold_out))
		return error_set(
			err,
			"--hold-out '%s' must be outside the project '%s', where the agent "
			"does not see it",
			folder, project);
	if (!json_array_size(goal->final_checks))
		return error_set(err, "--hold-out is for final checks: add --final-check COMMAND");
	return 0;
}

/* Folders of the checks must be inside the project, and not the project or its repository. */
static int check_caches(const json_t *folders, struct error *err)
{
	size_t index;
	const json_t *folder;

	json_array_foreach(folders, index, folder)
	{
		const char *path = json_string_value(folder);
		AUTO_FREE char *whole = path_absolute(path, "/p");
		AUTO_FREE char *plain = mem_format("/p/%s", path);

		if (strcmp(whole, plain) != 0 || path_within(whole, "/p/.git"))
			return error_set(err,
					 "--check-cache '%s': use the path of a folder in the "
					 "project, such as target or web/dist",
					 path);
	}
	return 0;
}

int goal_decide(const struct effective *effective, struct goal *ret_goal, struct error *err)
{
	const struct config *config = &effective->config;
	struct goal goal = { .promise = config_text(config, SETTING_PROMISE),
			     .tasks = config_text(config, SETTING_TASKS),
			     .prove_check = config_get(config, SETTING_PROVE_CHECK)->number };

	if (preflight_inactive(config, SETTING_CHECK, SETTING_CHECK, err) < 0 ||
	    place_tasks(effective->place.project, &goal.tasks, err) < 0)
		return -1;
	goal.findings = effective_words(config, SETTING_FINDINGS);
	goal.pin = effective_words(config, SETTING_PIN);
	goal.final_checks = effective_words(config, SETTING_FINAL_CHECK);
	goal.unpin = effective_words(config, SETTING_UNPIN);
	goal.check_cache = effective_words(config, SETTING_CHECK_CACHE);
	if (check_findings(goal.findings, err) < 0 || check_caches(goal.check_cache, err) < 0 ||
	    place_held_out(effective, &goal, err) < 0) {
		goal_release(&goal);
		return -1;
	}
	goal.checks = effective_words(config, SETTING_CHECK);
	if (!goal.promise && !json_array_size(goal.checks)) {
		/* A check that nobody chose may pass from the start: also require ticked boxes, or
		 * the promise. */
		goal.promise = goal.tasks ? NULL : PROMISE_DEFAULT;
		if (find_check(&effective->place, &goal, err) < 0) {
			goal_release(&goal);
			return -1;
		}
	}
	*ret_goal = goal;
	return 0;
}

void goal_release(struct goal *goal)
{
	json_decref(goal->checks);
	json_decref(goal->findings);
	json_decref(goal->pin);
	json_decref(goal->final_checks);
	free(goal->hold_out);
	json_decref(goal->unpin);
	json_decref(goal->check_cache);
	*goal = (struct goal){ 0 };
}
