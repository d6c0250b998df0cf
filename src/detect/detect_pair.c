/* Changed files: see detect_pair.h. */
#include "detect/detect_pair.h"

#include "detect/detect_statements.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVIDENCE = 160, MOST_STEPS = 50 * 1000 * 1000 };

/* ---- lines that are new or gone ---- */

/* A line of either side, with its mark. */
struct entry {
	const char *text;
	bool *mark;
	bool old;
	size_t order; /* keeps the sort stable */
};

struct entries {
	struct entry *items;
	size_t count;
};

static int by_text(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;
	int order = strcmp(one->text, other->text);

	return order ? order : (one->order > other->order) - (one->order < other->order);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): mark_group() sets the marks */
static void collect(struct entries *entries, const struct detect_lines *lines, bool *marks,
		    bool old)
{
	for (size_t i = 0; i < lines->count; i++) {
		if (!*lines->items[i].text)
			continue;
		entries->items = mem_extend(entries->items, entries->count, sizeof *entries->items);
		entries->items[entries->count] = (struct entry){ lines->items[i].key, &marks[i],
								 old, entries->count };
		entries->count++;
	}
}

/* Marks, among lines with one text, those that the other side does not have as often. */
static void mark_group(struct entry *group, size_t count)
{
	size_t old = 0;
	size_t kept;

	for (size_t i = 0; i < count; i++)
		old += group[i].old;
	kept = old < count - old ? old : count - old;
	for (size_t i = 0, seen[2] = { 0, 0 }; i < count; i++)
		*group[i].mark = seen[group[i].old]++ >= kept;
}

static void mark_lines(struct detect_pairs *pairs)
{
	struct entries entries = { 0 };

	for (size_t i = 0; i < pairs->count; i++) {
		struct detect_pair *pair = &pairs->items[i];

		collect(&entries, &pair->before, pair->removed, true);
		collect(&entries, &pair->after, pair->added, false);
	}
	if (entries.count)
		qsort(entries.items, entries.count, sizeof *entries.items, by_text);
	for (size_t i = 0, end; i < entries.count; i = end) {
		for (end = i + 1; end < entries.count &&
				  strcmp(entries.items[end].text, entries.items[i].text) == 0;)
			end++;
		mark_group(&entries.items[i], end - i);
	}
	free(entries.items);
}

/* ---- reading ---- */

static void read_pair(const struct detect_change *change, struct detect_pair *pair)
{
	*pair = (struct detect_pair){ .change = change,
				      .was = detect_file_of(change->old_path),
				      .is = detect_file_of(change->path) };
	detect_statements_read(&change->before, pair->was.language, &pair->before);
	detect_statements_read(&change->after, pair->is.language, &pair->after);
	pair->removed = mem_zero(pair->before.count + 1);
	pair->added = mem_zero(pair->after.count + 1);
	if (pair->was.test || pair->was.language == DETECT_RUST)
		detect_tests_find(&pair->before, pair->was.language, &pair->old_tests);
	if (pair->is.test || pair->is.language == DETECT_RUST)
		detect_tests_find(&pair->after, pair->is.language, &pair->new_tests);
}

void detect_pairs_read(const struct detect_change *changes, size_t count,
		       struct detect_findings *findings, struct detect_pairs *ret_pairs)
{
	*ret_pairs =
		(struct detect_pairs){ .items = mem_zero((count + 1) * sizeof *ret_pairs->items),
				       .count = count,
				       .findings = findings,
				       .steps = MOST_STEPS };
	for (size_t i = 0; i < count; i++)
		read_pair(&changes[i], &ret_pairs->items[i]);
	mark_lines(ret_pairs);
}

void detect_pairs_release(struct detect_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		struct detect_pair *pair = &pairs->items[i];

		detect_lines_release(&pair->before);
		detect_lines_release(&pair->after);
		detect_tests_release(&pair->old_tests);
		detect_tests_release(&pair->new_tests);
		free(pair->removed);
		free(pair->added);
	}
	textset_release(&pairs->words);
	free(pairs->items);
	*pairs = (struct detect_pairs){ 0 };
}

/* ---- findings ---- */

void detect_pair_report_text(struct detect_pairs *pairs, const struct detect_pair *pair,
			     enum detect_kind kind, size_t line, const char *evidence)
{
	struct detect_findings *findings = pairs->findings;
	size_t size = text_first(evidence, strlen(evidence), MOST_EVIDENCE);

	findings->items = mem_extend(findings->items, findings->count, sizeof *findings->items);
	findings->items[findings->count++] =
		(struct detect_finding){ .kind = kind,
					 .path = mem_dup(pair->change->path),
					 .line = line,
					 .evidence = mem_format("%.*s", (int)size, evidence) };
}

void detect_pair_report(struct detect_pairs *pairs, const struct detect_pair *pair,
			enum detect_kind kind, bool old, size_t line)
{
	const struct detect_lines *lines = old ? &pair->before : &pair->after;

	detect_pair_report_text(pairs, pair, kind, lines->items[line].number,
				lines->items[line].text);
}

bool detect_pairs_step(struct detect_pairs *pairs)
{
	pairs->steps -= pairs->steps > 0;
	return pairs->steps > 0;
}

size_t detect_pair_replaced(struct detect_pairs *pairs, const struct detect_pair *pair,
			    size_t added)
{
	for (size_t i = 0; i < pair->before.count && detect_pairs_step(pairs); i++)
		if (pair->removed[i] && detect_lines_same_shape(pair->before.items[i].shape,
								pair->after.items[added].shape))
			return i;
	return SIZE_MAX;
}
