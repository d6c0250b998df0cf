/* Patterns for lines of code: see detect_match.h. */
#include "detect/detect_match.h"

#include <ctype.h>
#include <string.h>

bool detect_match_is_word(char character)
{
	return isalnum((unsigned char)character) || character == '_' || character == '$';
}

static bool is_edge(const char *line, const char *at, bool begins)
{
	bool inside = begins ? at > line && detect_match_is_word(at[-1])
			     : detect_match_is_word(*at);

	return !inside;
}

/* Matches a pattern up to its next `*`. Returns the end of the match at `at`, or NULL. */
static const char *match_part(const char *pattern, const char *line, const char *at)
{
	for (; *pattern && *pattern != '*'; pattern++) {
		const char *start = at;

		switch (*pattern) {
		case '<':
		case '>':
			if (!is_edge(line, at, *pattern == '<'))
				return NULL;
			break;
		case '~':
			while (*at == ' ' || *at == '\t')
				at++;
			break;
		case '#':
			while (isdigit((unsigned char)*at) || *at == '_')
				at++;
			if (at == start)
				return NULL;
			break;
		case '@':
			while (detect_match_is_word(*at))
				at++;
			if (at == start)
				return NULL;
			break;
		case '\\':
			pattern++;
			/* fall through */
		default:
			if (*at++ != *pattern)
				return NULL;
		}
	}
	return at;
}

/* Returns what follows the next `*`, or NULL. */
static const char *part_after(const char *pattern)
{
	for (; *pattern && *pattern != '*'; pattern++)
		pattern += *pattern == '\\';
	return *pattern ? pattern + 1 : NULL;
}

/* Returns the end of the match at `at`, or NULL. Each part is taken where it is found first: what
 * follows is not found after a later one either. *ret_none is set if there is none further on. */
static const char *match_here(const char *pattern, const char *line, const char *at, bool *ret_none)
{
	const char *end = match_part(pattern, line, at);

	while (end && (pattern = part_after(pattern))) {
		for (at = end; !(end = match_part(pattern, line, at)) && *at;)
			at++;
		*ret_none = !end;
	}
	return end;
}

/* Returns the character with which every match begins, or NUL if there are several. */
static char first_of(const char *pattern)
{
	pattern += *pattern == '<';
	if (*pattern == '\\')
		return pattern[1];
	return strchr("<>~#@*", *pattern) ? '\0' : *pattern;
}

const char *detect_match(const char *pattern, const char *line, const char **ret_end)
{
	char first = first_of(pattern);

	for (const char *at = line;; at++) {
		bool none = false;
		const char *end;

		at = first ? strchr(at, first) : at;
		end = at ? match_here(pattern, line, at, &none) : NULL;
		if (end && ret_end)
			*ret_end = end;
		if (end || none || !at || !*at)
			return end ? at : NULL;
	}
}

const char *detect_match_any(const char *const *patterns, const char *line)
{
	for (; *patterns; patterns++)
		if (detect_match(*patterns, line, NULL))
			return *patterns;
	return NULL;
}
