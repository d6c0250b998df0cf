/* Where a path leads for a process, and how often a folder is looked up for it. */
#include "unit.h"

#include "fence/watch/inside.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[PATH_MAX];
static struct inside inside = INSIDE_INIT;
static struct inside_entry entry;

static bool leads_to(const char *given, bool follow, const char *wanted)
{
	AUTO_FREE char *whole = mem_format("%s/%s", base, given);
	AUTO_FREE char *real = path_join(base, wanted);
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s", whole);
	inside_resolve(&inside, follow, path, &entry);
	return strcmp(path, real) == 0;
}

static void make_tree(void)
{
	AUTO_FREE char *target = path_join(base, "real/none");

	mkdir("real", 0700);
	mkdir("other", 0700);
	close(open("real/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	if (symlink("real", "folder") < 0 || symlink("file", "real/link") < 0 ||
	    symlink(target, "dangling") < 0 || symlink("none", "real/relative") < 0 ||
	    symlink("turning", "turning") < 0)
		CHECK("symlinks can be made", false);
}

static void check_paths(void)
{
	CHECK("a file is there", leads_to("real/file", true, "real/file") && entry.there &&
					 entry.folder && entry.file);
	CHECK("a new file has a folder",
	      leads_to("real/new", true, "real/new") && !entry.there && entry.folder);
	CHECK("a folder is there, and is not a file",
	      leads_to("real", true, "real") && entry.there && !entry.file);
	CHECK("a file below another has no folder",
	      leads_to("real/file/x", true, "real/file/x") && !entry.there && !entry.folder);
	CHECK("a file in a missing folder has no folder",
	      leads_to("none/x", true, "none/x") && !entry.there && !entry.folder);
	CHECK("a folder that is a symlink is followed",
	      leads_to("folder/new", false, "real/new") && entry.folder);
	CHECK("a symlink at the end is followed if the call does",
	      leads_to("real/link", true, "real/file") && entry.there);
	CHECK("a symlink at the end is not followed if the call does not",
	      leads_to("real/link", false, "real/link") && entry.there && !entry.file);
	CHECK("a dangling symlink leads to its target",
	      leads_to("dangling", true, "real/none") && !entry.there && entry.folder);
	CHECK("dots and slashes at the end are resolved",
	      leads_to("folder/.", true, "real") && leads_to("folder/../real", true, "real") &&
		      leads_to("folder/", true, "real") && leads_to("real//new", true, "real/new"));
}

static void check_missing(void)
{
	CHECK("a new folder may end in slashes", leads_to("real/new/", true, "real/new") &&
							 leads_to("real/new//", true, "real/new") &&
							 !entry.there && entry.folder);
	CHECK("a relative symlink that dangles leads beside itself",
	      leads_to("real/relative", true, "real/none") && !entry.there && entry.folder);
	CHECK("it is not followed if the call does not",
	      leads_to("real/relative", false, "real/relative") && entry.there);
	CHECK("dots after a missing folder are resolved as text",
	      leads_to("none/../y", true, "y") && leads_to("none/./x/..", true, "none") &&
		      !entry.there && !entry.folder);
	CHECK("a symlink to itself leads nowhere",
	      leads_to("turning", true, "turning") && !entry.there);
}

static void check_lookups(void)
{
	size_t before;
	bool held = true;

	inside_forget(&inside);
	before = inside.count;
	for (int i = 0; i < 1000; i++) {
		char name[32];

		snprintf(name, sizeof name, "real/%d", i);
		held = held && leads_to(name, true, name);
	}
	CHECK("a thousand new files in a folder need one look at the folder",
	      held && inside.count - before == 1);
}

static void check_forgetting(void)
{
	if (unlink("folder") < 0 || symlink("other", "folder") < 0)
		CHECK("a symlink can be replaced", false);
	inside_forget(&inside);
	CHECK("a forgotten folder is looked up again", leads_to("folder/new", true, "other/new"));
}

int main(void)
{
	char name[UNIT_PATH];

	if (!unit_temp(name) || !realpath(name, base) || chdir(base) < 0)
		return 1;
	make_tree();
	CHECK("a process's root can be opened", inside_open(&inside, getpid()) == 0);
	check_paths();
	check_missing();
	check_lookups();
	check_forgetting();
	inside_close(&inside);
	return unit_failures > 0;
}
