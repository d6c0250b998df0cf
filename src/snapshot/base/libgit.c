/* How this program uses libgit2. */
#include "snapshot/base/libgit.h"

#include <stddef.h>

void libgit_init(void)
{
	static const int levels[] = { GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
				      GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_PROGRAMDATA };

	git_libgit2_init();
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
	libgit_sync(true);
}

void libgit_sync(bool sync)
{
	git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, sync ? 1 : 0);
}

const char *libgit_reason(void)
{
	const git_error *last = git_error_last();

	return last ? last->message : "no reason given";
}

int libgit_error(const char *what, struct error *err)
{
	return error_set(err, "%s: %s", what, libgit_reason());
}

int libgit_tree(git_repository *repository, const git_oid *commit, git_oid *ret_tree,
		struct error *err)
{
	git_commit *object = NULL;

	if (git_oid_is_zero(commit)) {
		*ret_tree = *commit;
		return 0;
	}
	if (git_commit_lookup(&object, repository, commit) < 0)
		return libgit_error("read a commit", err);
	*ret_tree = *git_commit_tree_id(object);
	git_commit_free(object);
	return 0;
}
