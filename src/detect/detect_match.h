/*
 * Patterns for lines of code. A pattern is literal text, except:
 *
 *	<	a word begins here, or the line does
 *	>	a word ends here, or the line does
 *	~	any number of blanks, or none
 *	#	a number
 *	@	an identifier
 *	*	anything, as little as possible
 *	\	the next character is literal
 */
#ifndef DETECT_DETECT_MATCH_H
#define DETECT_DETECT_MATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Returns where the pattern first matches in the line, or NULL. *ret_end is the end of the match;
 * it may be NULL. */
const char *detect_match(const char *pattern, const char *line, const char **ret_end);

/* Returns the first pattern of a list, which ends with NULL, that matches, or NULL. */
const char *detect_match_any(const char *const *patterns, const char *line);

/* The character is part of an identifier. */
bool detect_match_is_word(char character);

#endif
