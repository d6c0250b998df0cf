/* Related git directories: see gitrelated.h. */
#include "gitconfig/gitrelated.h"

#include "gitconfig/gitdir.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/textset.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* More than any repository has, but few enough to read quickly. */
enum { MOST_FOLDERS = 20000 };

struct gitrelated {
	struct textset pairs;   /* git directories with work trees that were found */
	struct textset entered; /* real paths of folders whose entries were read */
	size_t folders_left;
};

struct search {
	struct gitrelated *related;
	gitrelated_fn *found;
	void *context;
	struct error *err;
};

static int enter(struct search *search, const char *git);

struct gitrelated *gitrelated_new(void)
{
	struct gitrelated *related = mem_zero(sizeof *related);

	related->folders_left = MOST_FOLDERS;
	return related;
}

void gitrelated_free(struct gitrelated *related)
{
	if (!related)
		return;
	textset_release(&related->pairs);
	textset_release(&related->entered);
	free(related);
}

static int report(struct search *search, const char *git, const char *work_tree)
{
	AUTO_FREE char *pair = mem_format("%s\n%s", git, work_tree);

	if (!textset_add(&search->related->pairs, pair))
		return 0;
	return search->found(search->context, git, work_tree, search->err);
}

/* Reports a directory with the work tree that it names itself, and everything related. */
static int visit(struct search *search, const char *git)
{
	AUTO_FREE char *work_tree = gitdir_work_tree(git);

	return report(search, git, work_tree) < 0 ? -1 : enter(search, git);
}

/* Decides whether to read a folder. Returns 1, 0 if it was read before, or -1. */
static int begin(struct search *search, const char *folder)
{
	struct gitrelated *related = search->related;
	AUTO_FREE char *real = realpath(folder, NULL);

	if (!real || !textset_add(&related->entered, real))
		return 0;
	if (!related->folders_left)
		return error_set(
			search->err,
			"there are more than %d git directories and folders around them, including '%s'; "
			"remove some",
			MOST_FOLDERS, folder);
	related->folders_left--;
	return 1;
}

static bool may_be_folder(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
	       (entry->d_type == DT_DIR || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN);
}

/* Visits the git directories in a folder. The name of a submodule may contain slashes. */
static int visit_below(struct search *search, const char *folder)
{
	DIR *dir = opendir(folder);
	int result = dir ? begin(search, folder) : 0;

	for (struct dirent *entry; result > 0 && (entry = readdir(dir));) {
		AUTO_FREE char *path = path_join(folder, entry->d_name);

		if (!may_be_folder(entry))
			continue;
		if ((gitdir_classify_path(path) == GITDIR_WHOLE ? visit(search, path)
								: visit_below(search, path)) < 0)
			result = -1;
	}
	if (dir)
		closedir(dir);
	return result < 0 ? -1 : 0;
}

static int enter(struct search *search, const char *git)
{
	AUTO_FREE char *common = NULL;
	AUTO_FREE char *work_trees = path_join(git, "worktrees");
	AUTO_FREE char *modules = path_join(git, "modules");
	int result = begin(search, git);

	if (result <= 0)
		return result;
	common = gitdir_pointer(git, "commondir", "");
	if ((common && visit(search, common) < 0) || visit_below(search, work_trees) < 0)
		return -1;
	return visit_below(search, modules);
}

int gitrelated_each(struct gitrelated *related, const char *git, const char *work_tree,
		    gitrelated_fn *found, void *context, struct error *err)
{
	struct search search = { related, found, context, err };

	return report(&search, git, work_tree) < 0 ? -1 : visit(&search, git);
}
