/* Comparing tests: see detect_compare.h. */
#include "detect/detect_compare.h"

#include "detect/detect_match.h"
#include "util/mem.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A test, and where it is. */
struct place {
	struct detect_pair *pair;
	struct detect_test *test;
};

/* ---- what is still there ---- */

/* Calls a function for each literal (a number or a string) of a line, until it returns false. */
static bool each_literal(const char *text,
			 bool (*visit)(void *context, const char *at, size_t size), void *context)
{
	for (const char *at = text; *at;) {
		const char *end = at + 1;

		if (strchr("\"'`", *at)) {
			const char *close = strchr(end, *at);

			end = close ? close + 1 : end;
			if (close && !visit(context, at + 1, (size_t)(close - at - 1)))
				return false;
		} else if (detect_match_is_word(*at)) {
			while (detect_match_is_word(*end) || *end == '.')
				end++;
			if (isdigit((unsigned char)*at) && !visit(context, at, (size_t)(end - at)))
				return false;
		}
		at = end;
	}
	return true;
}

struct search {
	const struct detect_pairs *pairs;
	size_t literals;
};

static bool added_line_has(const struct detect_pair *pair, const char *at, size_t size)
{
	for (size_t i = 0; i < pair->after.count; i++)
		if (pair->added[i] &&
		    memmem(pair->after.items[i].text, strlen(pair->after.items[i].text), at, size))
			return true;
	return false;
}

static bool is_in_added(void *context, const char *at, size_t size)
{
	struct search *search = context;

	search->literals++;
	for (size_t i = 0; i < search->pairs->count; i++)
		if (search->pairs->items[i].is.test &&
		    added_line_has(&search->pairs->items[i], at, size))
			return true;
	return false;
}

/* Reports whether the values of an assertion are in added lines of tests: in a table of cases, or
 * in the arguments of a helper. */
static bool values_moved(const struct detect_pairs *pairs, const char *text)
{
	struct search search = { .pairs = pairs };

	return each_literal(text, is_in_added, &search) && search.literals;
}

/* Reports whether new code of tests asserts something, so that values may have moved there. */
static bool has_new_assertion(const struct detect_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct detect_pair *pair = &pairs->items[i];

		for (size_t line = 0; pair->is.test && line < pair->after.count; line++)
			if (pair->added[line] &&
			    detect_tests_asserts(&pair->after.items[line], pair->is.language) &&
			    !detect_tests_is_trivial(&pair->after.items[line], pair->is.language))
				return true;
	}
	return false;
}

/* Counts the assertions of an old test that are gone, and whose values are gone, too. */
static size_t count_lost(const struct detect_pairs *pairs, const struct place *old)
{
	bool moved = has_new_assertion(pairs);
	size_t lost = 0;

	for (size_t i = old->test->first; i < old->test->end; i++) {
		const struct detect_line *line = &old->pair->before.items[i];

		if (!old->pair->removed[i] || !detect_tests_asserts(line, old->pair->was.language))
			continue;
		lost += !(moved && values_moved(pairs, line->text));
	}
	return lost;
}

/* ---- pairs of tests ---- */

/* Finds a test after the change that has no counterpart yet. `here` limits it to one file. */
static bool find_named(struct detect_pairs *pairs, const struct place *old, bool here,
		       struct place *ret_new)
{
	for (size_t i = 0; i < pairs->count; i++) {
		struct detect_pair *pair = &pairs->items[i];

		for (size_t t = 0; t < pair->new_tests.count; t++) {
			struct detect_test *test = &pair->new_tests.items[t];

			if (test->matched || (here && pair != old->pair) ||
			    strcmp(test->name, old->test->name) != 0)
				continue;
			*ret_new = (struct place){ pair, test };
			return true;
		}
	}
	return false;
}

/* Counts the lines of one test that another one has, too. */
static size_t count_common(const struct place *old, const struct place *new)
{
	size_t common = 0;

	for (size_t i = old->test->line; i < old->test->end; i++) {
		const char *text = old->pair->before.items[i].text;
		bool found = false;

		for (size_t k = new->test->line; *text &&k < new->test->end && !found; k++)
			found = strcmp(text, new->pair->after.items[k].text) == 0 &&
				strlen(text) > 3;
		common += found;
	}
	return common;
}

static size_t count_lines(const struct place *old)
{
	size_t count = 0;

	for (size_t i = old->test->line; i < old->test->end; i++)
		count += strlen(old->pair->before.items[i].text) > 3;
	return count;
}

/* Finds the renamed test: at least half of its lines are the same. */
static bool find_renamed(struct detect_pairs *pairs, const struct place *old, struct place *ret_new)
{
	size_t best = 0;

	for (size_t i = 0; i < pairs->count; i++) {
		struct detect_pair *pair = &pairs->items[i];

		for (size_t t = 0; t < pair->new_tests.count; t++) {
			struct place new = { pair, &pair->new_tests.items[t] };
			size_t common = new.test->matched ? 0 : count_common(old, &new);

			if (common > best) {
				best = common;
				*ret_new = new;
			}
		}
	}
	return best && best * 2 >= count_lines(old);
}

/* ---- what a test lost ---- */

static void report_expected(struct detect_pairs *pairs, const struct place *new)
{
	for (size_t i = new->test->line; i < new->test->end; i++) {
		const struct detect_pair *pair = new->pair;

		if (pair->added[i] &&
		    detect_tests_asserts(&pair->after.items[i], pair->is.language) &&
		    !detect_tests_is_trivial(&pair->after.items[i], pair->is.language) &&
		    detect_pair_replaced(pair, i) != SIZE_MAX)
			detect_pair_report(pairs, pair, DETECT_EXPECTED_CHANGED, false, i);
	}
}

static void report_weak(struct detect_pairs *pairs, const struct place *new)
{
	for (size_t i = new->test->first; i < new->test->end; i++)
		if (new->pair->added[i] &&
		    detect_tests_is_weak(&new->pair->after.items[i], new->pair->is.language)) {
			detect_pair_report(pairs, new->pair, DETECT_ASSERTION_WEAKENED, false, i);
			return;
		}
}

static void compare(struct detect_pairs *pairs, const struct place *old, const struct place *new)
{
	const struct detect_test *was = old->test;
	const struct detect_test *is = new->test;
	size_t lost = count_lost(pairs, old);
	size_t strong = was->assertions - was->weak;

	report_expected(pairs, new);
	if (!lost)
		return;
	if (was->assertions && !is->assertions)
		detect_pair_report(pairs, new->pair, DETECT_TEST_EMPTIED, false, is->line - 1);
	else if (is->assertions - is->weak < strong && is->weak > was->weak)
		report_weak(pairs, new);
	else if (is->assertions < was->assertions)
		detect_pair_report(pairs, new->pair, DETECT_ASSERTION_REMOVED, false, is->line - 1);
}

/* A test that only groups others, such as a Go test with t.Run, or has no assertion of its own, is
 * compared as well: its name is enough to be missed. */
static void report_deleted(struct detect_pairs *pairs, const struct place *old)
{
	const struct detect_line *line = &old->pair->before.items[old->test->line - 1];
	bool asserted = old->test->assertions > 0;

	if (asserted && !count_lost(pairs, old) && old->pair->removed[old->test->line - 1] &&
	    has_new_assertion(pairs))
		return; /* all its values are in other tests now */
	detect_pair_report_text(pairs, old->pair, DETECT_TEST_DELETED, old->test->line,
				*old->test->name ? old->test->name : line->text);
}

/* ---- all tests ---- */

enum pass { SAME_FILE, SAME_NAME, RENAMED, PASSES };

static bool find(struct detect_pairs *pairs, enum pass pass, const struct place *old,
		 struct place *ret_new)
{
	return pass == RENAMED ? find_renamed(pairs, old, ret_new)
			       : find_named(pairs, old, pass == SAME_FILE, ret_new);
}

/* Takes each old test that has no counterpart yet. */
static void each_old(struct detect_pairs *pairs,
		     void (*visit)(struct detect_pairs *pairs, enum pass pass, struct place *old),
		     enum pass pass)
{
	for (size_t i = 0; i < pairs->count; i++)
		for (size_t t = 0; t < pairs->items[i].old_tests.count; t++) {
			struct place old = { &pairs->items[i],
					     &pairs->items[i].old_tests.items[t] };

			if (!old.test->matched)
				visit(pairs, pass, &old);
		}
}

static void match(struct detect_pairs *pairs, enum pass pass, struct place *old)
{
	struct place new;

	if (!find(pairs, pass, old, &new))
		return;
	old->test->matched = new.test->matched = true;
	compare(pairs, old, &new);
}

static void miss(struct detect_pairs *pairs, enum pass pass, struct place *old)
{
	(void)pass;
	report_deleted(pairs, old);
}

/* Test files in languages that are not read: only their absence is seen. */
static void report_unread(struct detect_pairs *pairs, struct detect_pair *pair)
{
	if (pair->change->after.data || !pair->was.test || pair->old_tests.count ||
	    pair->was.recorded || (pair->was.language == DETECT_OTHER && !pair->was.script))
		return;
	detect_pair_report_text(pairs, pair, DETECT_TEST_DELETED, 0, pair->change->old_path);
}

void detect_compare_tests(struct detect_pairs *pairs)
{
	for (enum pass pass = 0; pass < PASSES; pass++)
		each_old(pairs, match, pass);
	each_old(pairs, miss, PASSES);
	for (size_t i = 0; i < pairs->count; i++)
		report_unread(pairs, &pairs->items[i]);
}
