/* Kinds of signs: see detect_finding.h. */
#include "detect/detect_finding.h"

#include <stdlib.h>

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
	static const char *const names[] = { [DETECT_OFF] = "off",
					     [DETECT_NOTE] = "note",
					     [DETECT_TELL] = "tell",
					     [DETECT_REVIEW] = "review",
					     [DETECT_STOP] = "stop" };

	return names[action];
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
