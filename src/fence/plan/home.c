/* Entries of the home folder: see home.h. */
#include "fence/plan/home.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

/* Ignores case, as some file systems do. */
static unsigned int hash(const char *name, size_t size)
{
	uint32_t sum = 0x811c9dc5;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ (uint32_t)tolower((unsigned char)name[i])) * 0x01000193;
	return (sum ^ sum >> 16) % (sizeof(((struct home *)0)->seen) * 8);
}

static bool is_ascii(const char *name)
{
	while (*name > 0)
		name++;
	return !*name;
}

void home_read(const char *path, struct home *ret_home)
{
	struct home home = { 0 };
	struct statfs status;
	DIR *dir = opendir(path);

	/* An automounter may not list what it would mount. */
	if (!dir) {
		home.unsure = errno != ENOENT;
	} else if (fstatfs(dirfd(dir), &status) < 0 || status.f_type == AUTOFS_SUPER_MAGIC) {
		home.unsure = true;
	} else {
		errno = 0;
		for (struct dirent *entry; (entry = readdir(dir));) {
			unsigned int bit = hash(entry->d_name, strlen(entry->d_name));

			home.seen[bit / 64] |= 1ULL << bit % 64;
			/* A non-ASCII name may have other spellings. */
			home.unsure |= !is_ascii(entry->d_name);
		}
		home.unsure |= errno != 0;
	}
	if (dir)
		closedir(dir);
	*ret_home = home;
}

bool home_may_have(const struct home *home, const char *place)
{
	unsigned int bit = hash(place, strcspn(place, "/"));

	return home->unsure || home->seen[bit / 64] & 1ULL << bit % 64;
}
