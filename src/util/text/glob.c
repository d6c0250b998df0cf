/*
 * Patterns as in .gitignore: see glob.h.
 *
 * Both within a name and across names, only the last star is ever retried: anything an earlier star
 * could match, the later one can match as well. A match therefore takes at most pattern length
 * times path length steps, times the length of a character class; the caller bounds the sum.
 */
#include "util/text/glob.h"

#include "util/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A named class such as "[:space:]", which Git LFS writes into patterns for names with spaces. */
static const struct named {
	const char *name;
	int (*has)(int c);
} named[] = {
	{ "[:alnum:]", isalnum }, { "[:alpha:]", isalpha }, { "[:blank:]", isblank },
	{ "[:cntrl:]", iscntrl }, { "[:digit:]", isdigit }, { "[:graph:]", isgraph },
	{ "[:lower:]", islower }, { "[:print:]", isprint }, { "[:punct:]", ispunct },
	{ "[:space:]", isspace }, { "[:upper:]", isupper }, { "[:xdigit:]", isxdigit },
};

/* Returns the named class that begins here, or NULL. */
static const struct named *find_named(const char *at, const char *stop)
{
	for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
		size_t size = strlen(named[i].name);

		if ((size_t)(stop - at) >= size && memcmp(at, named[i].name, size) == 0)
			return &named[i];
	}
	return NULL;
}

/* Reports whether c is in the class that starts after "[". *ret_end points past its "]", or is NULL
 * if the class is not closed. */
static bool in_class(const char *at, const char *stop, unsigned char c, const char **ret_end)
{
	bool negated = at < stop && (*at == '!' || *at == '^');
	bool found = false;

	*ret_end = NULL;
	at += negated;
	for (const char *first = at; at < stop && (*at != ']' || at == first); at++) {
		const struct named *class = *at == '[' ? find_named(at, stop) : NULL;

		if (class) {
			found = found || class->has(c);
			at += strlen(class->name) - 1;
			continue;
		}
		if (*at == '\\' && at + 1 < stop)
			at++;

		unsigned char low = (unsigned char)*at;
		unsigned char high = low;

		if (at + 2 < stop && at[1] == '-' && at[2] != ']') {
			at += 2;
			if (*at == '\\' && at + 1 < stop)
				at++;
			high = (unsigned char)*at;
		}
		found = found || (low <= c && c <= high);
	}
	if (at < stop)
		*ret_end = at + 1;
	return found != negated;
}

/* Reports whether the one-character pattern at `at` matches c. *ret_next points past it. */
static bool match_one(const char *at, const char *stop, char c, const char **ret_next)
{
	const char *end = NULL;
	bool held;

	*ret_next = at + 1;
	switch (*at) {
	case '?':
		return true;
	case '[':
		held = in_class(at + 1, stop, (unsigned char)c, &end);
		if (!end)
			return c == '[';
		*ret_next = end;
		return held;
	case '\\':
		if (at + 1 < stop) {
			*ret_next = at + 2;
			return at[1] == c;
		}
		return c == '\\';
	default:
		return *at == c;
	}
}

static void take_steps(uint64_t *steps, size_t count)
{
	*steps -= count < *steps ? count : *steps;
}

/* Matches a name against one component of a pattern. */
static bool name_matches(const char *pattern, size_t size, const char *name, size_t length,
			 uint64_t *steps)
{
	const char *stop = pattern + size;
	const char *end = name + length;
	const char *star = NULL; /* after the last star */
	const char *taken = NULL;
	const char *next;

	while (name < end && *steps) {
		const char *at = pattern;

		next = at;
		if (pattern < stop && *pattern == '*') {
			star = ++pattern;
			taken = name;
		} else if (pattern < stop && match_one(pattern, stop, *name, &next)) {
			pattern = next;
			name++;
		} else if (star) {
			pattern = star;
			name = ++taken;
		} else {
			return false;
		}
		take_steps(steps, next > at ? (size_t)(next - at) : 1);
	}
	while (pattern < stop && *pattern == '*')
		pattern++;
	return *steps && pattern == stop;
}

static size_t component_length(const char *at)
{
	return strcspn(at, "/");
}

static const char *next_component(const char *at)
{
	at += component_length(at);
	return at + (*at == '/');
}

static bool is_double_star(const char *pattern)
{
	return component_length(pattern) == 2 && pattern[0] == '*' && pattern[1] == '*';
}

/* Matches a path against a pattern, component by component; a trailing "**" requires something
 * below. */
static bool path_matches(const char *pattern, const char *path, uint64_t *steps)
{
	const char *star = NULL;
	const char *taken = NULL;

	while (*path && *steps) {
		take_steps(steps, 1);
		if (*pattern && is_double_star(pattern)) {
			star = pattern = next_component(pattern);
			if (!*star)
				return true;
			taken = path;
		} else if (*pattern && name_matches(pattern, component_length(pattern), path,
						    component_length(path), steps)) {
			pattern = next_component(pattern);
			path = next_component(path);
		} else if (star) {
			pattern = star;
			path = taken = next_component(taken);
		} else {
			return false;
		}
	}
	return *steps && !*pattern;
}

/* The length without trailing spaces, unless a backslash escapes them. */
static size_t trimmed_length(const char *line, size_t size)
{
	while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\t')) {
		size_t slashes = 0;

		while (slashes + 1 < size && line[size - 2 - slashes] == '\\')
			slashes++;
		if (slashes % 2)
			break;
		size--;
	}
	return size;
}

enum glob_line glob_read(const char *line, struct glob *ret_glob)
{
	struct glob glob = { 0 };
	size_t size = trimmed_length(line, strlen(line));

	if (size == 0 || line[0] == '#')
		return GLOB_NOTHING;
	if (line[0] == '!')
		return GLOB_NEGATED;
	if (size > GLOB_LONGEST)
		return GLOB_WRONG;
	if (line[size - 1] == '/') {
		glob.folders = true;
		while (size > 0 && line[size - 1] == '/')
			size--;
	}
	if (size > 0 && line[0] == '/') {
		glob.rooted = true;
		while (size > 0 && line[0] == '/') {
			line++;
			size--;
		}
	}
	if (size == 0)
		return GLOB_WRONG;
	glob.text = mem_zero(size + 1);
	memcpy(glob.text, line, size);
	if (strstr(glob.text, "//")) {
		glob_release(&glob);
		return GLOB_WRONG;
	}
	glob.rooted = glob.rooted || strchr(glob.text, '/');
	*ret_glob = glob;
	return GLOB_PATTERN;
}

void glob_release(struct glob *glob)
{
	free(glob->text);
	*glob = (struct glob){ 0 };
}

bool glob_matches(const struct glob *glob, const char *path, bool is_dir, uint64_t *steps)
{
	const char *name = strrchr(path, '/');

	if (glob->folders && !is_dir)
		return false;
	if (glob->rooted)
		return path_matches(glob->text, path, steps);
	name = name ? name + 1 : path;
	return name_matches(glob->text, strlen(glob->text), name, strlen(name), steps);
}
