/* Finds git directories among ordinary files. */
#include "snapshot/apply/bare.h"

#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Reports whether a path exists in the new tree or on disk. */
static bool exists(const struct bare *bare, git_tree *tree, const char *folder, size_t size,
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

/* folder: ends with a slash; empty for the root. */
static bool is_bare(const struct bare *bare, git_tree *tree, const char *folder, size_t size)
{
	return exists(bare, tree, folder, size, "HEAD") &&
	       exists(bare, tree, folder, size, "objects") &&
	       exists(bare, tree, folder, size, "refs");
}

bool bare_contains(struct bare *bare, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t size = slash ? (size_t)(slash + 1 - path) : 0;
	git_tree *tree = NULL;

	/* Paths are sorted, so the last answer is often valid. */
	if (bare->folder && strlen(bare->folder) == size && strncmp(bare->folder, path, size) == 0)
		return bare->answer;
	free(bare->folder);
	bare->folder = mem_format("%.*s", (int)size, path);
	bare->answer = true; /* if in doubt */
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
