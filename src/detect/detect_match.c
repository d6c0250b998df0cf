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

/* Returns the end of the match at `at`, or NULL. */
static const char *match_here(const char *pattern, const char *line, const char *at)
{
	for (; *pattern; pattern++) {
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
		case '*':
			for (;; at++) {
				const char *end = match_here(pattern + 1, line, at);

				if (end || !*at)
					return end;
			}
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
		const char *end;

		at = first ? strchr(at, first) : at;
		end = at ? match_here(pattern, line, at) : NULL;
		if (end && ret_end)
			*ret_end = end;
		if (end || !at || !*at)
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
