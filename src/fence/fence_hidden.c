/* Lists hidden paths: see fence_hidden.h. */
#include "fence/fence_hidden.h"

#include "fence/fence_plan.h"
#include "fence/plan/names.h"
#include "util/file/path.h"

#include <dirent.h>
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

const char *fence_hidden_name(const char *path)
{
	static const enum names_class classes[] = { NAMES_SECRET, NAMES_SECRET_OR_CERTIFICATE };
	const struct names_found above = names_above("", path);
	const struct names_found last = names_find("", path, DT_REG);

	if (above.by[NAMES_SECRET])
		return above.by[NAMES_SECRET];
	for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
		if (last.by[classes[i]])
			return last.by[classes[i]];
	return NULL;
}
