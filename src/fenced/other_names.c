/* Files with names elsewhere: see other_names.h. */
#include "fenced/other_names.h"

#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A name of a file that has several. The folder tells whether two names are the same one, because
 * the paths of a phase may be written in several ways. */
struct name {
	dev_t device;
	ino_t inode;
	nlink_t links;
	ino_t folder;
	char *path; /* in the project */
};

struct names {
	struct name *items;
	size_t count;
	const char *above; /* the path of the folder that is walked */
	struct error *err;
};

static void names_release(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i].path);
	free(names->items);
}

/* Adds an entry of a folder if it is a file that has several names. */
static void add_entry(struct names *names, int folder, const char *name, const char *path)
{
	struct stat status;
	struct stat above;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_nlink < 2 || fstat(folder, &above) < 0)
		return;
	names->items = mem_extend(names->items, names->count, sizeof *names->items);
	names->items[names->count++] = (struct name){ status.st_dev, status.st_ino, status.st_nlink,
						      above.st_ino, mem_dup(path) };
}

static enum dirwalk_verdict visit(void *context, const struct dirwalk_entry *entry)
{
	struct names *names = context;
	AUTO_FREE char *path = path_join(names->above, entry->path);

	if (entry->closed) {
		error_with(names->err, ERROR_REFUSED,
			   "'%s' cannot be read, so a file in it may have another name (a hard "
			   "link), under which a phase that may write here would change it",
			   path);
		return DIRWALK_STOP;
	}
	if (entry->type == DT_REG)
		add_entry(names, entry->folder, entry->name, path);
	return DIRWALK_ON;
}

static int open_beneath(int root, const char *path, int flags)
{
	return fd_openat2(root, *path ? path : ".", flags, 0,
			  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* Adds the names at a path, or below it. A path that is missing, or not allowed, is left to the
 * run. */
static int add_path(struct names *names, int root, const char *path)
{
	const struct dirwalk walk = { .visit = visit, .context = names, .deepest = DIRWALK_DEPTH };
	AUTO_FREE char *above = path_folder(path);
	AUTO_FD around = open_beneath(root, above, O_PATH | O_DIRECTORY);
	AUTO_FD folder = open_beneath(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

	names->above = path;
	if (folder >= 0)
		return dirwalk_tree(&walk, folder, NULL, names->err);
	if (errno == EACCES)
		return error_sys(names->err, "read '%s', where a phase may write", path);
	if (around >= 0)
		add_entry(names, around, path_name(path), path);
	return 0;
}

static int compare(const void *one, const void *other)
{
	const struct name *a = one;
	const struct name *b = other;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->folder != b->folder)
		return a->folder < b->folder ? -1 : 1;
	return strcmp(path_name(a->path), path_name(b->path));
}

static bool is_same_file(const struct name *a, const struct name *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/* Returns how many different names of the file at `i` were found. They are adjacent. */
static size_t count_names(const struct names *names, size_t i)
{
	size_t found = 1;

	for (size_t k = i + 1; k < names->count && is_same_file(&names->items[k], &names->items[i]);
	     k++)
		found += compare(&names->items[k], &names->items[k - 1]) != 0;
	return found;
}

static int check(struct names *names)
{
	if (names->count)
		qsort(names->items, names->count, sizeof *names->items, compare);
	for (size_t i = 0; i < names->count; i++) {
		const struct name *name = &names->items[i];

		if ((i && is_same_file(name, name - 1)) || count_names(names, i) >= name->links)
			continue;
		return error_with(names->err, ERROR_REFUSED,
				  "'%s' has another name (a hard link), under which a phase that "
				  "may write here would change it: replace it by a copy",
				  name->path);
	}
	return 0;
}

int other_names_refuse(const char *files, const char *project, const struct fence_paths *paths,
		       struct error *err)
{
	AUTO_FD root = open(files, O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t size = strlen(project) + 1;
	struct names names = { .err = err };
	int result = 0;

	if (root < 0)
		return error_sys(err, "open '%s'", files);
	for (size_t i = 0; i < paths->count && result == 0; i++) {
		const struct fence_path *path = &paths->items[i];

		if (path->made && path_within(path->path, project) && path->path[size - 1] == '/')
			result = add_path(&names, root, path->path + size);
	}
	if (result == 0)
		result = check(&names);
	names_release(&names);
	return result;
}
