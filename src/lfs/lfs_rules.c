/* Which files are in Git LFS. */
#include "lfs/lfs_rules.h"

#include "util/mem.h"
#include "util/text/glob.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#define BLANK " \t\r"
#define MACRO "[attr]"

struct rule {
	struct glob glob;
	enum lfs_rules_answer answer;
};

struct macro {
	char *name;
	enum lfs_rules_answer answer;
};

struct lfs_rules {
	const struct lfs_rules *root;
	struct rule *items;
	size_t count;
	void *macros; /* a tree (tsearch) */
	size_t macro_count;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct macro *)a)->name, ((const struct macro *)b)->name);
}

static void free_macro(void *node)
{
	struct macro *macro = node;

	free(macro->name);
	free(macro);
}

void lfs_rules_free(struct lfs_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++)
		glob_release(&rules->items[i].glob);
	tdestroy(rules->macros, free_macro);
	free(rules->items);
	free(rules);
}

static enum lfs_rules_answer find_macro(const struct lfs_rules *rules, const char *name)
{
	const struct macro wanted = { .name = (char *)name };
	void *found = NULL;

	for (; rules && !found; rules = rules->root)
		found = tfind(&wanted, &rules->macros, by_name);
	return found ? (*(struct macro **)found)->answer : LFS_RULES_SILENT;
}

/* Reads one word, such as "filter=lfs" or "-filter". */
static enum lfs_rules_answer read_word(const struct lfs_rules *rules, const char *word)
{
	const char *name = word + (*word == '-' || *word == '!');

	if (strcmp(word, "filter=lfs") == 0)
		return LFS_RULES_YES;
	if (strcmp(name, "filter") == 0 || strncmp(word, "filter=", 7) == 0)
		return LFS_RULES_NO;
	return name == word ? find_macro(rules, word) : LFS_RULES_SILENT;
}

/* Reads the attributes of a line; the last one that says something decides. */
static enum lfs_rules_answer read_words(const struct lfs_rules *rules, char *words)
{
	enum lfs_rules_answer answer = LFS_RULES_SILENT;

	for (char *word; (word = strsep(&words, BLANK));) {
		enum lfs_rules_answer said = read_word(rules, word);

		answer = said == LFS_RULES_SILENT ? answer : said;
	}
	return answer;
}

static bool is_octal(const char *at)
{
	return at[0] >= '0' && at[0] <= '3' && at[1] >= '0' && at[1] <= '7' && at[2] >= '0' &&
	       at[2] <= '7';
}

/*
 * Undoes the quotes of a pattern, in place. Returns the rest of the line, or NULL if it is not
 * quoted well.
 */
static char *unquote(char *text)
{
	static const char letters[] = "abfnrtv\\\"";
	static const char meant[] = "\a\b\f\n\r\t\v\\\"";
	char *to = text;

	for (char *at = text + 1; *at; at++) {
		const char *letter;

		if (*at == '"') {
			*to = '\0';
			return at + 1;
		}
		if (*at != '\\') {
			*to++ = *at;
		} else if (is_octal(at + 1)) {
			*to++ = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
			at += 3;
		} else if (at[1] && (letter = strchr(letters, at[1]))) {
			*to++ = meant[letter - letters];
			at++;
		} else {
			return NULL;
		}
	}
	return NULL;
}

/* The last of several macros with one name counts. */
static void add_macro(struct lfs_rules *rules, const char *name, char *words)
{
	enum lfs_rules_answer answer = read_words(rules, words);
	struct macro *macro;
	void *found;

	if (rules->root || answer == LFS_RULES_SILENT || rules->macro_count == LFS_RULES_MOST)
		return;
	macro = mem_zero(sizeof *macro);
	*macro = (struct macro){ mem_dup(name), answer };
	found = tsearch(macro, &rules->macros, by_name);
	if (!found)
		abort();
	if (*(struct macro **)found == macro) {
		rules->macro_count++;
	} else {
		(*(struct macro **)found)->answer = answer;
		free_macro(macro);
	}
}

static void add_pattern(struct lfs_rules *rules, const char *pattern, char *words)
{
	struct rule rule = { .answer = read_words(rules, words) };

	if (rule.answer == LFS_RULES_SILENT || rules->count == LFS_RULES_MOST ||
	    glob_read(pattern, &rule.glob) != GLOB_PATTERN)
		return;
	rules->items = mem_extend(rules->items, rules->count, sizeof *rules->items);
	rules->items[rules->count++] = rule;
}

static void add_line(struct lfs_rules *rules, char *line)
{
	char *pattern = line + strspn(line, BLANK);
	char *words = pattern;

	if (*pattern == '"')
		words = unquote(pattern);
	else
		strsep(&words, BLANK);
	if (!words || !*pattern)
		return;
	if (strncmp(pattern, MACRO, strlen(MACRO)) == 0)
		add_macro(rules, pattern + strlen(MACRO), words);
	else
		add_pattern(rules, pattern, words);
}

struct lfs_rules *lfs_rules_read(const char *bytes, size_t size, const struct lfs_rules *root)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct lfs_rules *rules = mem_zero(sizeof *rules);

	rules->root = root;
	if (size >= 3 && memcmp(bytes, mark, 3) == 0) {
		bytes += 3;
		size -= 3;
	}
	while (size > 0) {
		const char *end = memchr(bytes, '\n', size);
		size_t length = end ? (size_t)(end - bytes) : size;
		AUTO_FREE char *line = strndup(bytes, length);

		if (line)
			add_line(rules, line);
		length += end != NULL;
		bytes += length;
		size -= length;
	}
	return rules;
}

bool lfs_rules_matter(const struct lfs_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		if (rules->items[i].answer == LFS_RULES_YES)
			return true;
	return false;
}

enum lfs_rules_answer lfs_rules_match(const struct lfs_rules *rules, const char *path,
				      uint64_t *steps)
{
	for (size_t i = rules->count; i-- > 0;) {
		const struct rule *rule = &rules->items[i];

		if (!rule->glob.folders && glob_matches(&rule->glob, path, false, steps))
			return rule->answer;
		if (*steps == 0)
			break;
	}
	return LFS_RULES_SILENT;
}
