/* Signs that a change weakens the checks: see detect.h. */
#include "detect/detect.h"

#include "detect/detect_compare.h"
#include "detect/detect_features.h"
#include "detect/detect_packages.h"
#include "detect/detect_pair.h"
#include "detect/detect_rules.h"
#include "util/file/path.h"

#include <stdlib.h>
#include <string.h>

/* Reports whether a version was too large for detect_lines_read(), or for the caller. */
static bool is_large(const struct detect_text *text)
{
	return text->large || text->size > DETECT_LINES_BYTES;
}

/* A file that would have been examined if it were smaller. */
static void report_large(struct detect_pairs *pairs, const struct detect_pair *pair)
{
	const struct detect_file *file = &pair->is;
	const struct detect_change *change = pair->change;
	bool known = file->language != DETECT_OTHER || file->test || file->script ||
		     file->settings || file->recorded || file->lockfile;

	if (known && (is_large(&change->before) || is_large(&change->after)))
		detect_pair_report_text(pairs, pair, DETECT_NOT_EXAMINED, 0,
					path_name(change->path));
}

static int by_place(const void *a, const void *b)
{
	const struct detect_finding *one = a, *other = b;
	int order = strcmp(one->path, other->path);

	if (order == 0)
		order = (one->line > other->line) - (one->line < other->line);
	if (order == 0)
		order = (int)one->kind - (int)other->kind;
	return order ? order : strcmp(one->evidence, other->evidence);
}

static bool is_same(const struct detect_finding *one, const struct detect_finding *other)
{
	return one->kind == other->kind && one->line == other->line &&
	       strcmp(one->path, other->path) == 0 && strcmp(one->evidence, other->evidence) == 0;
}

/* A test may be in another one: what is found in both is reported once. */
static void remove_repeated(struct detect_findings *findings)
{
	size_t kept = 0;

	for (size_t i = 0; i < findings->count; i++) {
		struct detect_finding *finding = &findings->items[i];

		if (kept && is_same(finding, &findings->items[kept - 1])) {
			free(finding->path);
			free(finding->evidence);
		} else {
			findings->items[kept++] = *finding;
		}
	}
	findings->count = kept;
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
	for (size_t i = 0; i < pairs.count; i++)
		report_large(&pairs, &pairs.items[i]);
	detect_pairs_release(&pairs);
	if (ret_findings->count)
		qsort(ret_findings->items, ret_findings->count, sizeof *ret_findings->items,
		      by_place);
	remove_repeated(ret_findings);
}
