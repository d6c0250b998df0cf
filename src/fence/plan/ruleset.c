/* The rules of a plan: see ruleset.h. */
#include "fence/plan/ruleset.h"

#include "fence/plan/defaults.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void ruleset_add(struct fence_plan *plan, const char *path, const struct stat *status,
		 enum wire_access access, const char *origin, bool exact)
{
	plan->rules = mem_extend(plan->rules, plan->rule_count, sizeof *plan->rules);
	plan->rules[plan->rule_count++] = (struct fence_rule){
		.path = mem_dup(path),
		.access = access,
		.origin = mem_dup(origin),
		.exact = exact,
		.is_dir = S_ISDIR(status->st_mode),
		.device = status->st_dev,
		.inode = status->st_ino,
	};
}

void ruleset_add_existing(struct fence_plan *plan, const char *path, enum wire_access access,
			  const char *origin, bool exact)
{
	struct stat status;

	if (lstat(path, &status) == 0 && !S_ISLNK(status.st_mode))
		ruleset_add(plan, path, &status, access, origin, exact);
}

/* Of two rules that apply to a path, the deeper one wins, then the exact one, then the stricter. */
static bool beats(const struct fence_rule *a, const struct fence_rule *b)
{
	size_t left = strlen(a->path);
	size_t right = strlen(b->path);

	if (left != right)
		return left > right;
	if (a->exact != b->exact)
		return a->exact;
	return a->access > b->access;
}

const struct fence_rule *fence_plan_decide(const struct fence_plan *plan, const char *path)
{
	const struct fence_rule *best = NULL;

	for (size_t i = 0; i < plan->rule_count; i++)
		if (path_within(path, plan->rules[i].path) &&
		    (!best || beats(&plan->rules[i], best)))
			best = &plan->rules[i];
	return best;
}

static int by_path(const void *a, const void *b)
{
	const struct fence_rule *left = a;
	const struct fence_rule *right = b;
	int order = path_compare(left->path, right->path);

	if (order)
		return order;
	return beats(left, right) ? -1 : beats(right, left);
}

/* Returns the rule that a weak rule yields to, or NULL. */
static const struct fence_rule *find_stronger(const struct fence_plan *plan,
					      const struct fence_rule *rule)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *other = &plan->rules[i];

		if (!other->weak && !other->project && path_within(rule->path, other->path))
			return other;
	}
	return NULL;
}

void ruleset_drop_weak(struct fence_plan *plan)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		struct fence_rule *rule = &plan->rules[i];
		const struct fence_rule *other = rule->weak ? find_stronger(plan, rule) : NULL;

		if (!other)
			continue;
		list_printf(&plan->notices, "%s: no effect on %s, another rule applies (%s)",
			    rule->origin, rule->path, other->origin);
		free(rule->path);
		free(rule->origin);
		*rule = plan->rules[--plan->rule_count];
		i--;
	}
}

void ruleset_collapse(struct fence_plan *plan)
{
	size_t *stack = mem_zero((plan->rule_count + 1) *
				 sizeof *stack); /* kept rules above the current one */
	size_t depth = 0;
	size_t kept = 0;
	char *decided = NULL; /* the previous path; the winning rule is sorted first */

	qsort(plan->rules, plan->rule_count, sizeof *plan->rules, by_path);
	for (size_t i = 0; i < plan->rule_count; i++) {
		struct fence_rule rule = plan->rules[i];
		struct fence_rule *above = NULL;
		bool drop;

		while (depth > 0 && !path_within(rule.path, plan->rules[stack[depth - 1]].path))
			depth--;
		if (depth > 0)
			above = &plan->rules[stack[depth - 1]];
		if (decided && strcmp(decided, rule.path) == 0)
			drop = true;
		else if (!above)
			drop = rule.access == WIRE_HIDE && !defaults_is_system(rule.path);
		else if (above->access == WIRE_HIDE || above->access == WIRE_HIDE_AROUND)
			drop = rule.access == WIRE_HIDE || !rule.exact;
		else
			drop = above->access == rule.access && !rule.source;
		free(decided);
		decided = mem_dup(rule.path);
		if (drop) {
			free(rule.path);
			free(rule.origin);
			free(rule.source);
			continue;
		}
		if (above && above->access == WIRE_HIDE)
			above->access = WIRE_HIDE_AROUND;
		plan->rules[kept] = rule;
		stack[depth++] = kept++;
	}
	plan->rule_count = kept;
	free(decided);
	free(stack);
}

static int by_exact_path(const void *path, const void *rule)
{
	return path_compare(path, ((const struct fence_rule *)rule)->path);
}

const struct fence_rule *ruleset_find(const struct fence_plan *plan, const char *path)
{
	AUTO_FREE char *at = mem_dup(path);
	const struct fence_rule *rule = NULL;

	while (!rule && *at) {
		rule = bsearch(at, plan->rules, plan->rule_count, sizeof *plan->rules,
			       by_exact_path);
		*strrchr(at, '/') = '\0';
	}
	return rule;
}

int ruleset_refuse_too_many(const struct fence_plan *plan, struct error *err)
{
	size_t best = 0;
	size_t most = 0;

	if (plan->rule_count <= RULESET_MOST)
		return 0;

	/* Find the folder with the most rules. They are sorted, so its entries are neighbours. */
	for (size_t i = 0, first = 0; i < plan->rule_count; i++) {
		const char *a = plan->rules[first].path;
		const char *b = plan->rules[i].path;
		size_t size = (size_t)(path_name(a) - a);

		if (size != (size_t)(path_name(b) - b) || strncmp(a, b, size) != 0)
			first = i;
		if (i - first + 1 > most) {
			most = i - first + 1;
			best = first;
		}
	}

	AUTO_FREE char *folder = mem_dup(plan->rules[best].path);

	*strrchr(folder, '/') = '\0';
	if (plan->spec->before && path_within(folder, plan->project) &&
	    strcmp(folder, plan->project) != 0)
		return error_set(
			err,
			"the draft has too much to hide or protect: %zu paths, and the limit of the "
			"fence is %d; %zu of them are in '%s' of the draft: bring it back to an earlier "
			"checkpoint (ringfence checkpoints, ringfence rollback N), or hide the whole "
			"folder (--hide '%s')",
			plan->rule_count, RULESET_MOST, most, folder + strlen(plan->project) + 1,
			folder);
	return error_set(
		err,
		"%zu rules exceed the fence's limit of %d; %zu of them are in '%s': hide the whole folder "
		"(--hide '%s')",
		plan->rule_count, RULESET_MOST, most, folder, folder);
}
