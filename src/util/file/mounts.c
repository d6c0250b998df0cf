/* The mount table: see mounts.h. */
#include "util/file/mounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* Decodes blanks and similar characters, which the kernel writes as a backslash and three octal
 * digits. */
static void unescape(char *text)
{
	char *out = text;

	for (const char *in = text; *in; out++) {
		if (in[0] == '\\' && strspn(in + 1, "01234567") >= 3) {
			*out = (char)((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
			in += 4;
		} else {
			*out = *in++;
		}
	}
	*out = '\0';
}

int mounts_each(mounts_fn *look, void *context, struct error *err)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	int result = 0;

	if (!file)
		return error_sys(err, "read /proc/self/mountinfo");
	while (result == 0 && getline(&line, &room, file) > 0) {
		char *rest = line; /* id parent major:minor root path ... */
		char *fields[5] = { 0 };
		char *colon;

		for (int i = 0; i < 5; i++)
			fields[i] = strsep(&rest, " ");
		if (!fields[4] || !(colon = strchr(fields[2], ':')))
			continue;
		unescape(fields[4]);
		result = look(context,
			      makedev((unsigned)strtoul(fields[2], NULL, 10),
				      (unsigned)strtoul(colon + 1, NULL, 10)),
			      fields[4], err);
	}
	free(line);
	fclose(file);
	return result;
}
