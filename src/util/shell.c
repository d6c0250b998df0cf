/* Command lines: see shell.h. */
#include "util/shell.h"

#include "util/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const char blanks[] = " \t\n";

/* NAME=VALUE, without anything that a shell would replace or unquote? */
static bool is_assignment(const char *word, size_t size)
{
	const char *sign = memchr(word, '=', size);

	if (!sign || sign == word || isdigit((unsigned char)*word))
		return false;
	for (const char *at = word; at < sign; at++)
		if (!isalnum((unsigned char)*at) && *at != '_')
			return false;
	return true;
}

char *shell_program(const char *line, const char *home)
{
	for (;;) {
		size_t size;

		line += strspn(line, blanks);
		/* A word that ends where a command does is whole; every other sign is the shell's. */
		size = strcspn(line, " \t\n;&|<>()\"'`$\\*?[]{}#!");
		if (!size || (line[size] && !strchr(" \t\n;&|<>", line[size])))
			return NULL;
		if (is_assignment(line, size)) {
			line += size;
			continue;
		}
		if (line[0] != '~')
			return strndup(line, size);
		return line[1] == '/' && home && *home
			       ? mem_format("%s%.*s", home, (int)(size - 1), line + 1)
			       : NULL;
	}
}
