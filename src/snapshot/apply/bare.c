/* Finds git directories among ordinary files. */
#include "snapshot/apply/bare.h"

#include "gitconfig/gitdir.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A folder, which may be in the tree, on disk, or partly in both. */
struct place {
	const struct bare *bare;
	const git_tree *tree;
	const char *folder; /* ends with a slash; empty for the root */
};

void bare_add(struct bare *bare, const char *path)
{
	AUTO_FREE char *folded = gitdir_fold(path);
	char *rest = folded;

	for (char *name; (name = strsep(&rest, "/"));) {
		if (gitdir_is_part(name)) {
			AUTO_FREE char *part = mem_format("%s%s", folded, rest ? "/" : "");

			textset_add(&bare->coming, part);
		}
		if (rest)
			rest[-1] = '/';
	}
}

/* Two spellings of a path may be one on disk. A folder was added with a slash. */
static bool is_coming(const struct place *place, const char *path, bool file)
{
	AUTO_FREE char *folded = gitdir_fold(path);
	AUTO_FREE char *folder = mem_format("%s/", folded);

	return textset_has(&place->bare->coming, folded) ||
	       (!file && textset_has(&place->bare->coming, folder));
}

static bool is_in_tree(const struct place *place, const char *path, bool file)
{
	git_tree_entry *entry = NULL;
	bool found = git_tree_entry_bypath(&entry, place->tree, path) == 0 &&
		     !(file && git_tree_entry_type(entry) == GIT_OBJECT_TREE);

	git_tree_entry_free(entry);
	return found;
}

static bool is_on_disk(const struct place *place, const char *path, bool file)
{
	struct stat status;

	return fstatat(place->bare->work, path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !(file && S_ISDIR(status.st_mode));
}

static bool is_there(void *context, const char *name, bool file)
{
	const struct place *place = context;
	AUTO_FREE char *path = mem_format("%s%s", place->folder, name);

	return is_coming(place, path, file) || is_in_tree(place, path, file) ||
	       is_on_disk(place, path, file);
}

static bool is_git(const struct bare *bare, const git_tree *tree, const char *path, size_t size)
{
	AUTO_FREE char *folder = mem_format("%.*s", (int)size, path);
	struct place place = { bare, tree, folder };

	return gitdir_classify(is_there, &place) != GITDIR_NONE;
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
	bare->answer = is_git(bare, tree, path, 0);
	for (const char *at = path; !bare->answer && (at = strchr(at, '/')); at++)
		bare->answer = is_git(bare, tree, path, (size_t)(at + 1 - path));
	git_tree_free(tree);
	return bare->answer;
}

void bare_set_tree(struct bare *bare, const git_oid *tree)
{
	if (git_oid_equal(&bare->tree, tree))
		return;
	bare->tree = *tree;
	free(bare->folder);
	bare->folder = NULL;
}

void bare_release(struct bare *bare)
{
	textset_release(&bare->coming);
	free(bare->folder);
	bare->folder = NULL;
}
