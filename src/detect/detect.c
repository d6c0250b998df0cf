/* Signs that a change weakens the checks: see detect.h. */
#include "detect/detect.h"

#include "detect/detect_compare.h"
#include "detect/detect_features.h"
#include "detect/detect_packages.h"
#include "detect/detect_pair.h"
#include "detect/detect_rules.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum detect_action action;
	const char *says;
} kinds[] = {
#define DETECT_KIND(id, name, action, says) [DETECT_##id] = { name, DETECT_##action, says },
	DETECT_KINDS(DETECT_KIND)
#undef DETECT_KIND
};

const char *detect_kind_name(enum detect_kind kind)
{
	return kinds[kind].name;
}

const char *detect_kind_says(enum detect_kind kind)
{
	return kinds[kind].says;
}

enum detect_action detect_kind_action(enum detect_kind kind)
{
	return kinds[kind].action;
}

const char *detect_action_name(enum detect_action action)
{
	static const char *const names[] = { [DETECT_NOTE] = "note",
					     [DETECT_TELL] = "tell",
					     [DETECT_REVIEW] = "review",
					     [DETECT_STOP] = "stop" };

	return names[action];
}

static int by_place(const void *a, const void *b)
{
	const struct detect_finding *one = a, *other = b;
	int order = strcmp(one->path, other->path);

	if (order == 0)
		order = (one->line > other->line) - (one->line < other->line);
	return order ? order : (int)one->kind - (int)other->kind;
}

void detect_run(const struct detect_change *changes, size_t count,
		struct detect_findings *ret_findings)
{
	struct detect_pairs pairs;

	*ret_findings = (struct detect_findings){ 0 };
	detect_pairs_read(changes, count, ret_findings, &pairs);
	detect_rules_apply(&pairs);
	detect_compare_tests(&pairs);
	detect_features_compare(&pairs);
	detect_packages_compare(&pairs);
	detect_pairs_release(&pairs);
	if (ret_findings->count)
		qsort(ret_findings->items, ret_findings->count, sizeof *ret_findings->items,
		      by_place);
}

void detect_findings_release(struct detect_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].path);
		free(findings->items[i].evidence);
	}
	free(findings->items);
	*findings = (struct detect_findings){ 0 };
}
