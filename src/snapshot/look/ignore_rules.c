/* The ignore rules of a loop. */
#include "snapshot/look/ignore_rules.h"

#include "util/list.h"
#include "util/mem.h"
#include "util/text/glob.h"

#include <stdlib.h>
#include <string.h>

/* Bounds the work for one path. */
enum { MOST_STEPS = 100000 };

struct rule {
	char *base;
	char *line; /* as written */
	struct glob glob;
	bool negated;
};

struct ignore_rules {
	struct rule *items;
	size_t count;
	struct list tracked; /* sorted by ignore_rules_ready() */
	struct list kept;
};

struct ignore_rules *ignore_rules_new(void)
{
	return mem_zero(sizeof(struct ignore_rules));
}

void ignore_rules_free(struct ignore_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->count; i++) {
		free(rules->items[i].base);
		free(rules->items[i].line);
		glob_release(&rules->items[i].glob);
	}
	free(rules->items);
	list_release(&rules->tracked);
	list_release(&rules->kept);
	free(rules);
}

static void add_line(struct ignore_rules *rules, const char *base, const char *line)
{
	struct rule rule = { .negated = line[0] == '!' };

	if (rules->count == IGNORE_RULES_MOST ||
	    glob_read(line + rule.negated, &rule.glob) != GLOB_PATTERN)
		return;
	rule.base = mem_dup(base);
	rule.line = mem_dup(line);
	rules->items = mem_extend(rules->items, rules->count, sizeof *rules->items);
	rules->items[rules->count++] = rule;
}

void ignore_rules_add(struct ignore_rules *rules, const char *base, const char *bytes, size_t size)
{
	while (size > 0) {
		const char *end = memchr(bytes, '\n', size);
		size_t length = end ? (size_t)(end - bytes) : size;
		AUTO_FREE char *line = strndup(bytes, length);
		size_t used = line ? strlen(line) : 0;

		if (used && line[used - 1] == '\r')
			line[used - 1] = '\0';
		if (line)
			add_line(rules, base, line);
		length += end != NULL;
		bytes += length;
		size -= length;
	}
}

void ignore_rules_track(struct ignore_rules *rules, const char *path)
{
	list_add(&rules->tracked, path);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void ignore_rules_ready(struct ignore_rules *rules)
{
	if (rules->tracked.count)
		qsort(rules->tracked.items, rules->tracked.count, sizeof *rules->tracked.items,
		      by_text);
}

void ignore_rules_keep(struct ignore_rules *rules, const char *path)
{
	list_add(&rules->kept, path);
}

void ignore_rules_settle(struct ignore_rules *rules)
{
	list_release(&rules->tracked);
	rules->tracked = rules->kept;
	rules->kept = (struct list){ 0 };
	ignore_rules_ready(rules);
}

bool ignore_rules_match(const struct ignore_rules *rules, const char *path, bool is_folder)
{
	uint64_t steps = MOST_STEPS;

	for (size_t i = rules->count; i-- > 0;) {
		const struct rule *rule = &rules->items[i];
		size_t size = strlen(rule->base);
		const char *below = path;

		if (size && (strncmp(path, rule->base, size) != 0 || path[size] != '/'))
			continue;
		below += size ? size + 1 : 0;
		if (glob_matches(&rule->glob, below, is_folder, &steps))
			return !rule->negated;
		if (steps == 0)
			return false; /* too expensive to decide: save it */
	}
	return false;
}

bool ignore_rules_omit(const struct ignore_rules *rules, const char *path, bool is_folder)
{
	bool matches = ignore_rules_match(rules, path, is_folder);

	for (const char *slash = path; !matches && (slash = strchr(slash, '/')); slash++) {
		AUTO_FREE char *folder = mem_format("%.*s", (int)(slash - path), path);

		matches = ignore_rules_match(rules, folder, true);
	}
	return matches && !ignore_rules_tracked(rules, path);
}

bool ignore_rules_tracked(const struct ignore_rules *rules, const char *path)
{
	size_t size = strlen(path);
	size_t at = 0;
	size_t end = rules->tracked.count;

	while (at < end) {
		size_t middle = at + (end - at) / 2;

		if (strcmp(rules->tracked.items[middle], path) < 0)
			at = middle + 1;
		else
			end = middle;
	}
	/* The path itself or the first one below it. Names such as "path-2" sort between them. */
	for (; at < rules->tracked.count; at++) {
		const char *found = rules->tracked.items[at];

		if (strncmp(found, path, size) != 0 || ((unsigned char)found[size] > '/'))
			return false;
		if (!found[size] || found[size] == '/')
			return true;
	}
	return false;
}

static void add_text(struct buffer *out, char kind, const char *text)
{
	if (kind)
		buffer_add(out, &kind, 1);
	buffer_add(out, text, strlen(text) + 1);
}

void ignore_rules_write(const struct ignore_rules *rules, struct buffer *out)
{
	for (size_t i = 0; i < rules->count; i++) {
		add_text(out, 'i', rules->items[i].base);
		add_text(out, '\0', rules->items[i].line);
	}
	for (size_t i = 0; i < rules->tracked.count; i++)
		add_text(out, 't', rules->tracked.items[i]);
}

int ignore_rules_read(const char *bytes, size_t size, struct ignore_rules **ret_rules,
		      struct error *err)
{
	struct ignore_rules *rules = ignore_rules_new();
	const char *at = bytes;
	const char *end = bytes + size;

	if (size && end[-1] != '\0')
		goto damaged;
	while (at < end) {
		const char *text = at + 1;

		if (*at == 't') {
			ignore_rules_track(rules, text);
		} else if (*at == 'i' && text + strlen(text) + 1 < end) {
			const char *base = text;

			text += strlen(text) + 1;
			add_line(rules, base, text);
		} else {
			goto damaged;
		}
		at = text + strlen(text) + 1;
	}
	ignore_rules_ready(rules);
	*ret_rules = rules;
	return 0;
damaged:
	ignore_rules_free(rules);
	return error_set(err, "the loop's ignore rules are damaged");
}
