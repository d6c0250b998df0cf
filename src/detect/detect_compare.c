/* Comparing tests: see detect_compare.h. */
#include "detect/detect_compare.h"

#include "detect/detect_match.h"
#include "util/mem.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A test, and where it is. */
struct place {
	struct detect_pair *pair;
	struct detect_test *test;
};

/* ---- what is still there ---- */

/* A word, a number or a string in a line. */
struct token {
	const char *at;
	size_t size;
	bool literal;
};

/* Takes the next token from *text. Returns false at the end of the line. */
static bool next_token(const char **text, struct token *ret_token)
{
	const char *at = *text;
	const char *end;

	while (*at && !detect_match_is_word(*at) && !strchr("\"'`", *at))
		at++;
	end = at + (*at != '\0');
	if (*at && strchr("\"'`", *at)) {
		const char *close = strchr(end, *at);

		end = close ? close : end + strlen(end);
		*ret_token = (struct token){ at + 1, (size_t)(end - at - 1), true };
		end += close != NULL;
	} else {
		bool number = isdigit((unsigned char)*at);

		while (detect_match_is_word(*end) || (number && *end == '.'))
			end++;
		*ret_token = (struct token){ at, (size_t)(end - at), number };
	}
	*text = end;
	return *at != '\0';
}

static bool holds_tests(const struct detect_pair *pair)
{
	return pair->is.test || pair->new_tests.count;
}

static void add_words(struct textset *words, const char *text)
{
	struct token token;

	while (next_token(&text, &token)) {
		AUTO_FREE char *word = mem_format("%.*s", (int)token.size, token.at);

		textset_add(words, word);
	}
}

/* Collects the words of all lines that were added to tests. */
static void collect_words(struct detect_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct detect_pair *pair = &pairs->items[i];

		for (size_t line = 0; holds_tests(pair) && line < pair->after.count; line++)
			if (pair->added[line])
				add_words(&pairs->words, pair->after.items[line].text);
	}
}

/* Reports whether a line that was added to a test has the token. */
static bool is_in_added(const struct detect_pairs *pairs, const struct token *token)
{
	AUTO_FREE char *word = mem_format("%.*s", (int)token->size, token->at);

	return textset_has(&pairs->words, word);
}

/* Words of the language of assertions say nothing about what is tested. */
static bool is_assertion_word(const struct token *token)
{
	return strncasecmp(token->at, "assert", 6) == 0 || strncmp(token->at, "expect", 6) == 0 ||
	       strncmp(token->at, "self", 4) == 0 || strncmp(token->at, "to", 2) == 0;
}

/* Reports whether an assertion is still made in added lines of tests, as part of a table of cases,
 * or by a helper: all its values are there, and most of its words. */
static bool has_moved(const struct detect_pairs *pairs, const char *text)
{
	size_t values = 0, words = 0, found = 0;
	struct token token;

	while (next_token(&text, &token)) {
		if (!token.literal && is_assertion_word(&token))
			continue;
		if (token.literal && !is_in_added(pairs, &token))
			return false;
		values += token.literal;
		words += !token.literal;
		found += !token.literal && is_in_added(pairs, &token);
	}
	return values && found * 2 >= words;
}

/* Reports whether new code of tests asserts something, so that values may have moved there. */
static bool has_new_assertion(struct detect_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct detect_pair *pair = &pairs->items[i];

		for (size_t line = 0;
		     holds_tests(pair) && line < pair->after.count && detect_pairs_step(pairs);
		     line++)
			if (pair->added[line] &&
			    detect_tests_asserts(&pair->after.items[line], pair->is.language) &&
			    !detect_tests_is_trivial(&pair->after.items[line], pair->is.language))
				return true;
	}
	return false;
}

/* Returns the line that has the values of an assertion: in Go, the condition before t.Error(). */
static const struct detect_line *values_of(const struct place *old, size_t line)
{
	enum { NEARBY = 40 };
	const struct detect_lines *lines = &old->pair->before;
	size_t from = line;

	if (old->pair->was.language != DETECT_GO)
		return &lines->items[line];
	while (from > old->test->first && line - from < NEARBY &&
	       strncmp(lines->items[from].code, "if ", 3) != 0)
		from--;
	return &lines->items[strncmp(lines->items[from].code, "if ", 3) == 0 ? from : line];
}

/* Counts the assertions of an old test that are gone, with their values. */
static size_t count_lost(struct detect_pairs *pairs, const struct place *old)
{
	bool moved = has_new_assertion(pairs);
	size_t lost = 0;

	for (size_t i = old->test->first; i < old->test->end; i++) {
		const struct detect_line *line = &old->pair->before.items[i];

		if (!old->pair->removed[i] || !line->asserts)
			continue;
		lost += !(moved && has_moved(pairs, values_of(old, i)->text));
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

		for (size_t t = 0; t < pair->new_tests.count && detect_pairs_step(pairs); t++) {
			struct detect_test *test = &pair->new_tests.items[t];

			if (test->matched || (here && pair != old->pair) || !*test->name ||
			    strcmp(test->name, old->test->name) != 0)
				continue;
			*ret_new = (struct place){ pair, test };
			return true;
		}
	}
	return false;
}

/* Reports whether two lines differ in one word at most: a name that was changed everywhere. */
static bool is_similar(struct detect_pairs *pairs, const char *one, const char *other)
{
	struct token a, b;
	size_t different = 0;
	bool more = next_token(&one, &a);

	while (more && next_token(&other, &b) && detect_pairs_step(pairs)) {
		bool same = a.size == b.size && memcmp(a.at, b.at, a.size) == 0;

		if (!same && (a.literal || b.literal))
			return false;
		different += !same;
		if (different > 1)
			return false;
		more = next_token(&one, &a);
	}
	return !more && !next_token(&other, &b);
}

/* Counts the lines that two tests have in common. */
static size_t count_common(struct detect_pairs *pairs, const struct place *old,
			   const struct place *new)
{
	size_t common = 0;

	for (size_t i = old->test->declared + 1; i < old->test->end; i++) {
		const char *text = old->pair->before.items[i].text;
		bool found = false;

		for (size_t k = new->test->declared + 1;
		     *text &&k < new->test->end && !found &&detect_pairs_step(pairs); k++)
			found = strlen(text) > 3 &&
				is_similar(pairs, text, new->pair->after.items[k].text);
		common += found;
	}
	return common;
}

static size_t count_lines(const struct place *old)
{
	size_t count = 0;

	for (size_t i = old->test->declared + 1; i < old->test->end; i++)
		count += strlen(old->pair->before.items[i].text) > 3;
	return count;
}

/* Finds the renamed test: at least half of its lines are the same. */
static bool find_renamed(struct detect_pairs *pairs, const struct place *old, struct place *ret_new)
{
	size_t best = 0;

	for (size_t i = 0; i < pairs->count; i++) {
		struct detect_pair *pair = &pairs->items[i];

		for (size_t t = 0; t < pair->new_tests.count && detect_pairs_step(pairs); t++) {
			struct place new = { pair, &pair->new_tests.items[t] };
			size_t common = new.test->matched ? 0 : count_common(pairs, old, &new);

			if (common > best) {
				best = common;
				*ret_new = new;
			}
		}
	}
	return best && best * 2 >= count_lines(old);
}

/* ---- what a test lost ---- */

/* Statements of one version: those of a test, or those that are in no test. */
struct span {
	const struct detect_lines *lines;
	const bool *skip; /* these are not in it, or NULL */
	size_t first, end;
};

/* Counts the statements with this key. */
static long count_key(struct detect_pairs *pairs, const struct span *span, const char *key)
{
	long count = 0;

	for (size_t i = span->first; i < span->end && detect_pairs_step(pairs); i++)
		count += !(span->skip && span->skip[i]) &&
			 strcmp(span->lines->items[i].key, key) == 0;
	return count;
}

/* Names of literals that tell people what is tested, as in a key: without blanks. */
static const char *const titles[] = { "name:\"",  "title:\"", "desc:\"",    "description:\"",
				      "label:\"", "msg:\"",   "message:\"", NULL };

/* Returns the part of a key before the message of a Python assertion. */
static size_t without_message(const char *key)
{
	size_t size = strlen(key);
	const char *quote = size > 1 && key[size - 1] == '"' ? memrchr(key, '"', size - 1) : NULL;

	return quote && quote > key && quote[-1] == ',' && strncmp(key, "assert ", 7) == 0
		       ? (size_t)(quote - key)
		       : size;
}

/* Returns the end of the literal that a title is, or `at`. */
static const char *title_end(const char *key, const char *at)
{
	for (const char *const *title = titles; *title; title++) {
		bool begins = strncmp(at, *title, strlen(*title)) == 0 &&
			      (at == key || !detect_match_is_word(at[-1]));
		const char *close = begins ? strchr(at + strlen(*title), '"') : NULL;

		if (close)
			return close + 1;
	}
	return at;
}

/* Reports whether two keys differ only in what they say to people. */
static bool says_otherwise(const char *one, const char *other)
{
	const char *a = one, *b = other;
	const char *a_end = one + without_message(one), *b_end = other + without_message(other);

	while (a < a_end && b < b_end) {
		const char *after = title_end(one, a), *after_other = title_end(other, b);
		bool title = after > a && after_other > b;

		if (!title && *a != *b)
			return false;
		a = title ? after : a + 1;
		b = title ? after_other : b + 1;
	}
	return a >= a_end && b >= b_end;
}

/* Reports whether a new statement has taken the place of an old one that differs in a literal. */
static bool replaces(struct detect_pairs *pairs, const struct span *old, const struct span *new,
		     const struct detect_line *line)
{
	if (count_key(pairs, new, line->key) <= count_key(pairs, old, line->key))
		return false;
	for (size_t i = old->first; i < old->end && detect_pairs_step(pairs); i++) {
		const struct detect_line *was = &old->lines->items[i];

		if (!(old->skip && old->skip[i]) &&
		    detect_lines_same_shape(was->shape, line->shape) &&
		    !says_otherwise(was->key, line->key) &&
		    count_key(pairs, old, was->key) > count_key(pairs, new, was->key))
			return true;
	}
	return false;
}

static void report_expected(struct detect_pairs *pairs, const struct detect_pair *pair,
			    const struct span *old, const struct span *new)
{
	for (size_t i = new->first; i < new->end; i++) {
		const struct detect_line *line = &new->lines->items[i];

		if (!(new->skip &&new->skip[i]) && line->expects &&
		    !detect_tests_is_trivial(line, pair->is.language) &&
		    replaces(pairs, old, new, line))
			detect_pair_report(pairs, pair, DETECT_EXPECTED_CHANGED, false, i);
	}
}

static void report_expected_in_test(struct detect_pairs *pairs, const struct place *old,
				    const struct place *new)
{
	const struct span was = { &old->pair->before, NULL, old->test->first, old->test->end };
	const struct span is = { &new->pair->after, NULL, new->test->first, new->test->end };

	report_expected(pairs, new->pair, &was, &is);
}

/* Returns which statements are in tests. The caller frees it. */
static bool *in_tests(const struct detect_lines *lines, const struct detect_tests *tests)
{
	bool *in = mem_zero(lines->count + 1);

	for (size_t t = 0; t < tests->count; t++)
		for (size_t i = tests->items[t].first; i < tests->items[t].end; i++)
			in[i] = true;
	return in;
}

/* Tables of cases, and expected values, that several tests share. */
static void report_shared(struct detect_pairs *pairs, const struct detect_pair *pair)
{
	AUTO_FREE bool *in_old = in_tests(&pair->before, &pair->old_tests);
	AUTO_FREE bool *in_new = in_tests(&pair->after, &pair->new_tests);
	const struct span was = { &pair->before, in_old, 0, pair->before.count };
	const struct span is = { &pair->after, in_new, 0, pair->after.count };

	if (pair->was.test && pair->is.test)
		report_expected(pairs, pair, &was, &is);
}

static void report_weak(struct detect_pairs *pairs, const struct place *new)
{
	for (size_t i = new->test->first; i < new->test->end; i++)
		if (new->pair->added[i] && new->pair->after.items[i].weak) {
			detect_pair_report(pairs, new->pair, DETECT_ASSERTION_WEAKENED, false, i);
			return;
		}
}

/* Returns what an assignment gives a name to, such as `f(1)` in `const want = f(1);`, if it calls
 * something, or NULL. *ret_name is the name. */
static const char *assigned(const char *code, struct token *ret_name)
{
	const char *equals = strchr(code, '=');
	const char *end = equals;

	if (!equals || equals == code || !strchr(equals, '(') || strchr("=~>", equals[1]))
		return NULL;
	while (end > code && strchr(" :", end[-1]))
		end--;
	ret_name->at = end;
	while (ret_name->at > code && detect_match_is_word(ret_name->at[-1]))
		ret_name->at--;
	ret_name->size = (size_t)(end - ret_name->at);
	return ret_name->size ? equals + 1 + strspn(equals + 1, " ") : NULL;
}

static bool has_word(const char *text, const struct token *word)
{
	struct token token;

	while (next_token(&text, &token))
		if (!token.literal && token.size == word->size &&
		    strncmp(token.at, word->at, word->size) == 0)
			return true;
	return false;
}

/* Reports whether an assertion compares a call with a name for the result of the same call. */
static bool repeats_call(struct detect_pairs *pairs, const struct place *new, size_t line)
{
	const struct detect_line *lines = new->pair->after.items;

	for (size_t i = line; i-- > new->test->first &&detect_pairs_step(pairs);) {
		struct token name;
		const char *call = assigned(lines[i].text, &name);
		size_t size = call ? strlen(call) : 0;
		const char *found;

		size -= size && call[size - 1] == ';';
		found = size ? memmem(lines[line].text, strlen(lines[line].text), call, size)
			     : NULL;
		if (found && has_word(lines[line].text, &name))
			return true;
	}
	return false;
}

static void report_repeated(struct detect_pairs *pairs, const struct place *new)
{
	for (size_t i = new->test->declared + 1; i < new->test->end; i++)
		if (new->pair->added[i] && new->pair->after.items[i].asserts &&
		    repeats_call(pairs, new, i))
			detect_pair_report(pairs, new->pair, DETECT_ASSERTION_TRIVIAL, false, i);
}

/* A test that has got a way out before its last assertion. */
static void report_early_end(struct detect_pairs *pairs, const struct place *new)
{
	const struct detect_line *lines = new->pair->after.items;
	size_t last = new->test->end;

	while (last > new->test->declared && !lines[last - 1].asserts)
		last--;
	for (size_t i = new->test->declared + 1; i < last; i++)
		if (new->pair->added[i] && detect_lines_same_shape(lines[i].shape, "return")) {
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

	report_expected_in_test(pairs, old, new);
	report_early_end(pairs, new);
	if (!lost)
		return;
	report_repeated(pairs, new);
	if (was->assertions && !is->assertions)
		detect_pair_report(pairs, new->pair, DETECT_TEST_EMPTIED, false, is->declared);
	else if (is->assertions - is->weak < strong && is->weak > was->weak)
		report_weak(pairs, new);
	else if (is->assertions < was->assertions)
		detect_pair_report(pairs, new->pair, DETECT_ASSERTION_REMOVED, false, is->declared);
}

/* A test without an assertion of its own, such as a Go test that only calls t.Run, is reported as
 * well. */
static void report_deleted(struct detect_pairs *pairs, const struct place *old)
{
	const struct detect_line *line = &old->pair->before.items[old->test->declared];
	bool asserted = old->test->assertions > 0;

	if (asserted && !count_lost(pairs, old) && old->pair->removed[old->test->declared] &&
	    has_new_assertion(pairs))
		return; /* all its values are in other tests now */
	detect_pair_report_text(pairs, old->pair, DETECT_TEST_DELETED, line->number,
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
	collect_words(pairs);
	for (enum pass pass = 0; pass < PASSES; pass++)
		each_old(pairs, match, pass);
	each_old(pairs, miss, PASSES);
	for (size_t i = 0; i < pairs->count; i++) {
		report_shared(pairs, &pairs->items[i]);
		report_unread(pairs, &pairs->items[i]);
	}
}
