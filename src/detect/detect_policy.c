/* Actions on findings: see detect_policy.h. */
#include "detect/detect_policy.h"

#include <string.h>

void detect_policy_init(struct detect_policy *policy)
{
	for (enum detect_kind kind = 0; kind < DETECT_KIND_COUNT; kind++)
		policy->actions[kind] = detect_kind_action(kind);
}

static bool find_action(const char *name, enum detect_action *ret_action)
{
	for (enum detect_action action = 0; action < DETECT_ACTION_COUNT; action++) {
		if (strcmp(name, detect_action_name(action)) != 0)
			continue;
		*ret_action = action;
		return true;
	}
	return false;
}

bool detect_policy_change(struct detect_policy *policy, const char *change)
{
	const char *equals = strchr(change, '=');
	size_t size = equals ? (size_t)(equals - change) : 0;
	bool all = size == 3 && strncmp(change, "all", size) == 0;
	enum detect_action action;
	bool known = all;

	if (!equals || !find_action(equals + 1, &action))
		return false;
	for (enum detect_kind kind = 0; kind < DETECT_KIND_COUNT; kind++) {
		const char *name = detect_kind_name(kind);

		if (!all && (strlen(name) != size || strncmp(name, change, size) != 0))
			continue;
		policy->actions[kind] = action;
		known = true;
	}
	return known;
}
