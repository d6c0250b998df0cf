/*
 * The Landlock mechanism: for machines that forbid user namespaces.
 *
 * There are no namespaces and no mounts. ringfence-init supervises the command as without a fence,
 * and confines it: Landlock has the rules of the plan (tree/grant.h), seccomp refuses what Landlock
 * does not know, and acts that neither can judge are performed outside (watch/perform.h). The
 * table in fence_weaker.c lists what is weaker than in other fences.
 */
#include "fence/fence_result.h"
#include "fence/fence_weaker.h"
#include "fence/mechanism/mechanism.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ABI_TRUNCATE = 3, ABI_SCOPES = 6 };

static long landlock_abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0,
		       1 /* LANDLOCK_CREATE_RULESET_VERSION */);
}

int mechanism_landlock_detect(struct error *err)
{
	/* Before, a command could truncate any file of the user. */
	if (landlock_abi() < ABI_TRUNCATE)
		return error_set(err, "no fence: --fence landlock needs Linux 6.2 or newer, with "
				      "landlock in the lsm= list");
	return 0;
}

static int refuse_covers(const struct fence_plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].source)
			return error_set(
				err,
				"--fence landlock cannot show '%s' at '%s', which needs mounts; "
				"use --git read-only, or another fence",
				plan->rules[i].source, plan->rules[i].path);
	return 0;
}

int mechanism_landlock_plan(struct fence_plan *plan, struct error *err)
{
	const struct fence_spec *spec = plan->spec;

	if (mechanism_refuse_image(plan, err) < 0)
		return -1;
	if (plan->identity.mapped)
		return error_set(err, "--fence landlock cannot lend files of root to another user; "
				      "switch to a regular user first");
	if (spec->draft)
		return error_set(
			err,
			"--fence landlock cannot show a draft at the path of its project, which "
			"needs mounts; run in place (exec without --draft, run --workspace "
			"in-place), or in a clone if the project must stay as it is");
	if (spec->listen_count)
		return error_set(err, "--listen needs a fence with its own network; the fence "
				      "landlock has none");
	if (spec->login)
		return error_set(err, "--fence landlock cannot show a login file to the command");
	plan->weaker = fence_weaker_shared(landlock_abi() >= ABI_SCOPES);
	return refuse_covers(plan, err);
}

int mechanism_landlock_start(struct mechanism_start *start, struct error *err)
{
	return mechanism_none_start(start, err);
}

int mechanism_landlock_mount(struct mechanism_start *start, struct tree *tree, struct error *err)
{
	return mechanism_none_mount(start, tree, err);
}

void mechanism_landlock_classify(const char *complaints, int status, struct error *err)
{
	mechanism_none_classify(complaints, status, err);
}

void mechanism_landlock_end(struct mechanism_start *start, const int *status)
{
	mechanism_none_end(start, status);
}
