/* Features: see detect_features.h. */
#include "detect/detect_features.h"

#include "detect/detect_match.h"
#include "util/mem.h"
#include "util/textset.h"

#include <stdlib.h>
#include <string.h>

/* ---- names that others use ---- */

/* A pattern, after which the name stands. */
struct feature {
	const char *pattern;
	enum detect_language language;
	bool top;    /* only without indentation */
	bool quoted; /* the name is a string */
};

static const struct feature features[] = {
	{ "<export function ", DETECT_JAVASCRIPT, true, false },
	{ "<export async function ", DETECT_JAVASCRIPT, true, false },
	{ "<export const ", DETECT_JAVASCRIPT, true, false },
	{ "<export let ", DETECT_JAVASCRIPT, true, false },
	{ "<export class ", DETECT_JAVASCRIPT, true, false },
	{ "<export abstract class ", DETECT_JAVASCRIPT, true, false },
	{ "<export interface ", DETECT_JAVASCRIPT, true, false },
	{ "<export type ", DETECT_JAVASCRIPT, true, false },
	{ "<export enum ", DETECT_JAVASCRIPT, true, false },
	{ "<export default function ", DETECT_JAVASCRIPT, true, false },
	{ "<export default class ", DETECT_JAVASCRIPT, true, false },
	{ "<module.exports.", DETECT_JAVASCRIPT, true, false },
	{ "<exports.", DETECT_JAVASCRIPT, true, false },
	{ "<app.@~(", DETECT_JAVASCRIPT, false, true },
	{ "<router.@~(", DETECT_JAVASCRIPT, false, true },
	{ ".option~(", DETECT_JAVASCRIPT, false, true },
	{ ".command~(", DETECT_JAVASCRIPT, false, true },
	{ "<def ", DETECT_PYTHON, true, false },
	{ "<async def ", DETECT_PYTHON, true, false },
	{ "<class ", DETECT_PYTHON, true, false },
	{ "\\@@.route~(", DETECT_PYTHON, false, true },
	{ "\\@@.get~(", DETECT_PYTHON, false, true },
	{ "\\@@.post~(", DETECT_PYTHON, false, true },
	{ "\\@@.put~(", DETECT_PYTHON, false, true },
	{ "\\@@.delete~(", DETECT_PYTHON, false, true },
	{ ".add_argument~(", DETECT_PYTHON, false, true },
	{ "\\@click.option~(", DETECT_PYTHON, false, true },
	{ "<func ", DETECT_GO, true, false },
	{ "<type ", DETECT_GO, true, false },
	{ ".HandleFunc~(", DETECT_GO, false, true },
	{ "<flag.@~(", DETECT_GO, false, true },
	{ "<pub fn ", DETECT_RUST, false, false },
	{ "<pub async fn ", DETECT_RUST, false, false },
	{ "<pub struct ", DETECT_RUST, false, false },
	{ "<pub enum ", DETECT_RUST, false, false },
	{ "<pub trait ", DETECT_RUST, false, false },
	{ "<pub const ", DETECT_RUST, false, false },
	{ "<pub type ", DETECT_RUST, false, false },
	{ "<public class ", DETECT_JAVA, false, false },
	{ "<public interface ", DETECT_JAVA, false, false },
	{ "<public record ", DETECT_JAVA, false, false },
	{ "<public enum ", DETECT_JAVA, false, false },
	{ "Mapping~(", DETECT_JAVA, false, true },
	{ "<class ", DETECT_RUBY, true, false },
	{ "<module ", DETECT_RUBY, true, false },
	{ "<def ", DETECT_RUBY, false, false },
};

/* A method of Java and a function in a C header have their name before the parenthesis. */
static const struct feature before_parenthesis[] = {
	{ "<public *@~(", DETECT_JAVA, false, false },
	{ "<@~(", DETECT_C, true, false },
};

static char *slice(const char *from, size_t size)
{
	return mem_format("%.*s", (int)size, from);
}

static char *word_after(const char *at)
{
	size_t size = 0;

	while (detect_match_is_word(at[size]))
		size++;
	return size ? slice(at, size) : NULL;
}

static char *string_after(const char *at)
{
	const char *open = at + strspn(at, " ");
	const char *close;

	if (!*open || !strchr("\"'`", *open))
		return NULL;
	close = strchr(open + 1, *open);
	return close ? slice(open + 1, (size_t)(close - open - 1)) : NULL;
}

static char *word_before_parenthesis(const char *start, const char *end)
{
	const char *from;

	while (end > start && !detect_match_is_word(end[-1]))
		end--;
	for (from = end; from > start && detect_match_is_word(from[-1]);)
		from--;
	return slice(from, (size_t)(end - from));
}

/* A name that others cannot use is not a feature. */
static bool is_public(enum detect_language language, const char *name)
{
	if (language == DETECT_GO)
		return *name < 'a' || *name > 'z';
	return *name && *name != '_';
}

/* Returns the feature that a line declares, or NULL. The caller frees it. */
static char *feature_of(const char *path, enum detect_language language,
			const struct detect_line *line)
{
	const char *end;

	for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
		const struct feature *each = &features[i];
		char *name;

		if (each->language != language || (each->top && line->indent) ||
		    !detect_match(each->pattern, line->code, &end))
			continue;
		end = line->text + (end - line->code);
		name = each->quoted ? string_after(end) : word_after(end);
		if (name && is_public(language, name))
			return name;
		free(name);
	}
	for (size_t i = 0; i < sizeof before_parenthesis / sizeof *before_parenthesis; i++) {
		const struct feature *each = &before_parenthesis[i];
		const char *start;

		if (each->language != language || (each->top && line->indent) ||
		    (language == DETECT_C && !strstr(path, ".h")))
			continue;
		start = detect_match(each->pattern, line->code, &end);
		if (start)
			return word_before_parenthesis(start, end);
	}
	return NULL;
}

static void collect(const struct detect_pairs *pairs, struct textset *names)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct detect_pair *pair = &pairs->items[i];

		for (size_t line = 0; line < pair->after.count; line++) {
			AUTO_FREE char *name = feature_of(pair->change->path, pair->is.language,
							  &pair->after.items[line]);

			if (name)
				textset_add(names, name);
		}
	}
}

/* Reports whether a declaration got another name: an added line of the file is otherwise equal. */
static bool is_renamed(struct detect_pairs *pairs, const struct detect_pair *pair, size_t line,
		       const char *name)
{
	const char *old = pair->before.items[line].text;
	const char *at = strstr(old, name);
	size_t head = at ? (size_t)(at - old) : 0;
	const char *tail = at ? at + strlen(name) : "";

	for (size_t i = 0; at && i < pair->after.count && detect_pairs_step(pairs); i++) {
		const char *new = pair->after.items[i].text;
		size_t size = strlen(new);

		if (pair->added[i] && size > head + strlen(tail) && *tail &&
		    strncmp(new, old, head) == 0 && strcmp(new + size - strlen(tail), tail) == 0)
			return true;
	}
	return false;
}

static void report_gone(struct detect_pairs *pairs, const struct detect_pair *pair,
			struct textset *names)
{
	for (size_t line = 0; !pair->was.test && line < pair->before.count; line++) {
		AUTO_FREE char *name = !pair->removed[line] ? NULL
							    : feature_of(pair->change->old_path,
									 pair->was.language,
									 &pair->before.items[line]);

		if (name && !is_renamed(pairs, pair, line, name) && textset_add(names, name))
			detect_pair_report_text(pairs, pair, DETECT_FEATURE_REMOVED,
						pair->before.items[line].number, name);
	}
}

/* ---- tests that replace what they test ---- */

static const char *const mocks[] = { "<jest.mock~(",
				     "<vi.mock~(",
				     "<patch~(",
				     "<mock.patch~(",
				     "<jest.doMock~(",
				     "<proxyquire~(",
				     "<mocker.patch~(",
				     "<monkeypatch.setattr~(",
				     "<allow~(",
				     "<allow_any_instance_of~(",
				     NULL };

/* Returns the name of the file without folders, marks of tests, and endings: calc for
 * tests/test_calc.py. The caller frees it. */
static char *subject_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t size;

	if (strncmp(name, "test_", 5) == 0)
		name += 5;
	size = strcspn(name, ".");
	if (size > 5 && (strncmp(name + size - 5, "_test", 5) == 0 ||
			 strncmp(name + size - 5, "_spec", 5) == 0))
		size -= 5;
	return slice(name, size);
}

/* Reports whether a mocked module, such as "../src/calc" or "shop.calc.total", is the subject. */
static bool names_subject(const char *text, const char *subject)
{
	AUTO_FREE char *in_path = mem_format("/%s>", subject);
	AUTO_FREE char *in_module = mem_format("<%s.", subject);
	AUTO_FREE char *alone = mem_format("(~%s>", subject);

	return *subject && (detect_match(in_path, text, NULL) ||
			    detect_match(in_module, text, NULL) || detect_match(alone, text, NULL));
}

static void report_mocks(struct detect_pairs *pairs, const struct detect_pair *pair)
{
	AUTO_FREE char *subject = subject_of(pair->change->path);

	for (size_t line = 0; pair->is.test && line < pair->after.count; line++)
		if (pair->added[line] && detect_match_any(mocks, pair->after.items[line].code) &&
		    names_subject(pair->after.items[line].text, subject))
			detect_pair_report(pairs, pair, DETECT_SUBJECT_MOCKED, false, line);
}

/* ---- results by input value ---- */

/* On the shape of a line, in which all literals are 0. */
static const char *const by_value[] = {
	"<if(*==0*)return0", "<case0:return0", "<return0if*==0>", "<return0unless*!=0", "==0?0:",
	"<0=\\>0,",          "<0=\\>0.to_",    "<0=\\>0.into~(",  "<0=\\>return",       NULL
};

static void report_values(struct detect_pairs *pairs, const struct detect_pair *pair)
{
	enum { MANY = 2 };
	const char *condition = NULL;
	size_t count = 0;
	size_t first = 0;

	for (size_t line = 0; line < pair->after.count; line++) {
		const char *shape = pair->after.items[line].shape;
		bool two = condition &&
			   (strcmp(shape, "return0") == 0 || strcmp(shape, "return0;") == 0);

		if (!*shape)
			continue;
		if (pair->added[line] && (two || detect_match_any(by_value, shape))) {
			first = count ? first : line;
			count++;
		}
		condition = pair->added[line] && (detect_match("<if*==0>", shape, NULL) ||
						  detect_match("<elif*==0>", shape, NULL) ||
						  detect_match("<case0:", shape, NULL))
				    ? shape
				    : NULL;
	}
	if (count >= MANY && !pair->is.test && pair->is.language != DETECT_OTHER)
		detect_pair_report(pairs, pair, DETECT_RESULT_HARD_CODED, false, first);
}

void detect_features_compare(struct detect_pairs *pairs)
{
	struct textset names = { 0 };

	collect(pairs, &names);
	for (size_t i = 0; i < pairs->count; i++) {
		report_gone(pairs, &pairs->items[i], &names);
		report_mocks(pairs, &pairs->items[i]);
		report_values(pairs, &pairs->items[i]);
	}
	textset_release(&names);
}
