/* Git directories among ordinary files: see bare.h. */
#include "snapshot/apply/bare.h"

#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* In the tree that comes, or on the disk. */
static bool has(const struct bare *bare, git_tree *tree, const char *folder, size_t size,
		const char *name)
{
	AUTO_FREE char *path = mem_format("%.*s%s", (int)size, folder, name);
	git_tree_entry *entry = NULL;
	struct stat status;
	bool found = git_tree_entry_bypath(&entry, tree, path) == 0 ||
		     fstatat(bare->work, path, &status, AT_SYMLINK_NOFOLLOW) == 0;

	git_tree_entry_free(entry);
	return found;
}

/* A folder with a slash at its end, or the root: nothing. */
static bool is_bare(const struct bare *bare, git_tree *tree, const char *folder, size_t size)
{
	return has(bare, tree, folder, size, "HEAD") && has(bare, tree, folder, size, "objects") &&
	       has(bare, tree, folder, size, "refs");
}

bool bare_holds(struct bare *bare, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t size = slash ? (size_t)(slash + 1 - path) : 0;
	git_tree *tree = NULL;

	/* Paths come sorted. */
	if (bare->folder && strlen(bare->folder) == size && strncmp(bare->folder, path, size) == 0)
		return bare->answer;
	free(bare->folder);
	bare->folder = mem_format("%.*s", (int)size, path);
	bare->answer = true; /* if it cannot be told */
	if (git_tree_lookup(&tree, bare->repository, &bare->tree) < 0)
		return bare->answer;
	bare->answer = is_bare(bare, tree, path, 0);
	for (const char *at = path; !bare->answer && (at = strchr(at, '/')); at++)
		bare->answer = is_bare(bare, tree, path, (size_t)(at + 1 - path));
	git_tree_free(tree);
	return bare->answer;
}

void bare_release(struct bare *bare)
{
	free(bare->folder);
	bare->folder = NULL;
}
