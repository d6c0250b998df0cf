/* Protects in a draft what the project itself leads to: see protection.h. */
#include "fence/plan/protection.h"
#include "fence/plan/ruleset.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Adds a rule again, unless the draft has something else at that path. */
static void add_rule(struct fence_plan *plan, const struct fence_rule *rule)
{
	AUTO_FREE char *real = realpath(rule->path, NULL);
	size_t before = plan->rule_count;

	if (!real || strcmp(real, rule->path) != 0)
		return;
	ruleset_add_existing(plan, real, rule->access, rule->origin, rule->exact);
	if (plan->rule_count > before)
		plan->rules[before].ignored = rule->ignored;
}

static void add_known(struct fence_plan *plan, const struct fence_known *known)
{
	struct fence_known copy = *known;

	copy.path = mem_dup(known->path);
	plan->known = mem_extend(plan->known, plan->known_count, sizeof *plan->known);
	plan->known[plan->known_count++] = copy;
}

void protection_add_original(struct fence_plan *plan, const struct fence_plan *before)
{
	for (size_t i = 0; i < before->rule_count; i++) {
		const struct fence_rule *rule = &before->rules[i];

		if (!rule->project && !rule->asked && !rule->source)
			add_rule(plan, rule);
	}
	for (size_t i = 0; i < before->known_count; i++)
		if (protection_in_reach(plan, before->known[i].path))
			add_known(plan, &before->known[i]);
	for (size_t i = 0; i < before->link_count; i++)
		if (protection_in_reach(plan, before->links[i].path))
			protection_keep_link(plan, before->links[i].path, before->links[i].target);
}

bool protection_is_own(const struct fence_plan *plan, const char *path)
{
	const struct fence_made *made = plan->spec->made;
	size_t size = strlen(plan->project);

	return made && path_within(path, plan->project) && path[size] == '/' &&
	       made->has(made->own, path + size + 1);
}
