/* Names as they are stored in git trees. */
#include "snapshot/store/stored_name.h"

#include <ctype.h>
#include <string.h>

#define MARK   "ringfence"
#define PLAIN  MARK "%"
#define PIECES MARK "#"

/*
 * HFS+ ignores certain non-ASCII characters; NTFS ignores trailing dots and spaces and everything
 * after a colon, and has the short name GIT~1.
 */
bool stored_name_is_git(const char *name)
{
	char plain[8];
	size_t used = 0;

	for (; *name && *name != ':' && *name != '\\'; name++) {
		if ((unsigned char)*name >= 0x80)
			continue;
		if (used == sizeof plain - 1) {
			if (*name != '.' && *name != ' ')
				return false;
			continue;
		}
		plain[used++] = (char)tolower((unsigned char)*name);
	}
	while (used && (plain[used - 1] == '.' || plain[used - 1] == ' '))
		used--;
	plain[used] = '\0';
	return strcmp(plain, ".git") == 0 || (strncmp(plain, "git~", 4) == 0);
}

void stored_name_store(struct buffer *out, const char *name, bool chunked)
{
	if (chunked)
		buffer_add_text(out, PIECES);
	else if (stored_name_is_git(name) || strncmp(name, MARK, strlen(MARK)) == 0)
		buffer_add_text(out, PLAIN);
	buffer_add_text(out, name);
}

static bool is_name(const char *name)
{
	return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
}

const char *stored_name_read(const char *stored, bool *ret_chunked)
{
	const char *name = stored;

	*ret_chunked = strncmp(stored, PIECES, strlen(PIECES)) == 0;
	if (*ret_chunked || strncmp(stored, PLAIN, strlen(PLAIN)) == 0)
		name += strlen(PLAIN);
	else if (stored_name_is_git(stored) || strncmp(stored, MARK, strlen(MARK)) == 0)
		return NULL;
	return is_name(name) ? name : NULL;
}
