/* Lists hidden paths: see fence_hidden.h. */
#include "fence/fence_hidden.h"

#include "fence/fence_plan.h"
#include "util/file/path.h"

#include <string.h>

void fence_hidden_list(const struct fence_spec *spec, struct list *ret_paths)
{
	static char *const nothing[] = { (char *)"true", NULL };
	struct fence_spec idle = *spec;
	size_t size = strlen(spec->project);
	struct fence_plan plan;
	struct error ignored;

	idle.command = nothing;
	if (fence_plan_make(&idle, &plan, &ignored) < 0)
		return;
	for (size_t i = 0; i < plan.rule_count; i++) {
		const struct fence_rule *rule = &plan.rules[i];

		if (rule->access == WIRE_HIDE && path_within(rule->path, spec->project) &&
		    rule->path[size] == '/')
			list_add(ret_paths, rule->path + size + 1);
	}
	fence_plan_release(&plan);
}
