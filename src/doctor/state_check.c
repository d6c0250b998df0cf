/* Damage in the state folder: see state_check.h. */
#include "doctor/state_check.h"

#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file for each entry of a folder, or the entry itself. */
static const struct kind {
	const char *folder, *file;
	const char *with; /* without this file, the entry was never complete; or NULL */
	const char *remedy;
} kinds[] = {
	{ "loops", "journal.db", "lock", "the loop is lost; remove it: ringfence clean LOOP" },
	{ "snapshots", "HEAD", NULL, "the next checkpoint of this project writes it again" },
	{ "snapshots", "config", NULL, "the next checkpoint of this project writes it again" },
	{ "runs", NULL, NULL,
	  "a run was cut off: check your projects for new hooks and settings, then remove it" },
	{ "trust", NULL, NULL, "remove it, and agree again: ringfence trust" },
};

struct finding {
	size_t count;
	char *first;
	const char *remedy;
};

static void look_at(struct finding *finding, const struct kind *kind, const char *entry)
{
	AUTO_FREE char *path = kind->file ? path_join(entry, kind->file) : mem_dup(entry);
	AUTO_FREE char *with = kind->with ? path_join(entry, kind->with) : NULL;
	struct stat status;

	if (with && access(with, F_OK) < 0)
		return;
	if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size)
		return;
	if (!finding->count++) {
		finding->first = mem_dup(path);
		finding->remedy = kind->remedy;
	}
}

static void look_in(struct finding *finding, const struct kind *kind, const char *state)
{
	AUTO_FREE char *folder = path_join(state, kind->folder);
	DIR *dir = opendir(folder);

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		AUTO_FREE char *path = path_join(folder, entry->d_name);

		if (entry->d_name[0] != '.') /* temporary files of killed processes may be empty */
			look_at(finding, kind, path);
	}
	if (dir)
		closedir(dir);
}

size_t state_check_find(const char *state, char **ret_first, const char **ret_remedy)
{
	struct finding finding = { 0 };

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		look_in(&finding, &kinds[i], state);
	*ret_first = finding.first;
	*ret_remedy = finding.remedy;
	return finding.count;
}
