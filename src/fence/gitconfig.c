/* Reading git configurations: see gitconfig.h. */
#include "fence/gitconfig.h"

#include <string.h>
#include <strings.h>

/* The value of a line: without blanks around it, quotes and a comment behind it. */
static char *trim(char *value)
{
	size_t size;

	value += strspn(value, " \t\"");
	size = strcspn(value, "\"\r#;");
	while (size > 0 && strchr(" \t", value[size - 1]))
		size--;
	value[size] = '\0';
	return value;
}

void gitconfig_each_path(char *text, gitconfig_fn *found, void *context)
{
	for (char *line; (line = strsep(&text, "\n"));) {
		char *value = strchr(line, '=');
		size_t size;

		if (!value)
			continue;
		*value++ = '\0';
		if (*line == '[' && strchr(line, ']')) /* "[core] hooksPath = x" */
			line = strchr(line, ']') + 1;
		line += strspn(line, " \t");
		size = strcspn(line, " \t");
		value = trim(value);
		if (!*value)
			continue;
		if (size == 9 && strncasecmp(line, "hooksPath", size) == 0)
			found(context, true, value);
		else if (size == 4 && strncasecmp(line, "path", size) == 0)
			found(context, false, value);
	}
}
