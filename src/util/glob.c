/*
 * Patterns as in .gitignore: see glob.h.
 *
 * Within a name and over names alike only the last star is ever tried again: what an earlier one
 * could take, the later one can take too. So no pattern takes more than its length times the path's.
 */
#include "util/glob.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Is this character in the class that begins behind "["? *ret_end is behind its "]", or NULL if
 * there is none. */
static bool in_class(const char *at, const char *stop, unsigned char c, const char **ret_end)
{
	bool negated = at < stop && (*at == '!' || *at == '^');
	bool found = false;

	*ret_end = NULL;
	at += negated;
	for (const char *first = at; at < stop && (*at != ']' || at == first); at++) {
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

/* Does the one-character pattern at `at` mean c? *ret_next is behind it. */
static bool one(const char *at, const char *stop, char c, const char **ret_next)
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

/* A name against the part of a pattern between two slashes. */
static bool name_matches(const char *pattern, size_t size, const char *name, size_t length)
{
	const char *stop = pattern + size;
	const char *end = name + length;
	const char *star = NULL; /* behind the last one */
	const char *taken = NULL;
	const char *next;

	while (name < end) {
		if (pattern < stop && *pattern == '*') {
			star = ++pattern;
			taken = name;
		} else if (pattern < stop && one(pattern, stop, *name, &next)) {
			pattern = next;
			name++;
		} else if (star) {
			pattern = star;
			name = ++taken;
		} else {
			return false;
		}
	}
	while (pattern < stop && *pattern == '*')
		pattern++;
	return pattern == stop;
}

static size_t part(const char *at)
{
	return strcspn(at, "/");
}

static const char *behind(const char *at)
{
	at += part(at);
	return at + (*at == '/');
}

static bool any_folders(const char *pattern)
{
	return part(pattern) == 2 && pattern[0] == '*' && pattern[1] == '*';
}

/* A path against a pattern, name by name; "**" at the end wants something below. */
static bool path_matches(const char *pattern, const char *path)
{
	const char *star = NULL;
	const char *taken = NULL;

	while (*path) {
		if (*pattern && any_folders(pattern)) {
			star = pattern = behind(pattern);
			if (!*star)
				return true;
			taken = path;
		} else if (*pattern && name_matches(pattern, part(pattern), path, part(path))) {
			pattern = behind(pattern);
			path = behind(path);
		} else if (star) {
			pattern = star;
			path = taken = behind(taken);
		} else {
			return false;
		}
	}
	return !*pattern;
}

/* The length without spaces at the end that no backslash keeps. */
static size_t trimmed(const char *line, size_t size)
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
	size_t size = trimmed(line, strlen(line));

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

bool glob_matches(const struct glob *glob, const char *path, bool is_dir)
{
	const char *name = strrchr(path, '/');

	if (glob->folders && !is_dir)
		return false;
	if (glob->rooted)
		return path_matches(glob->text, path);
	name = name ? name + 1 : path;
	return name_matches(glob->text, strlen(glob->text), name, strlen(name));
}
