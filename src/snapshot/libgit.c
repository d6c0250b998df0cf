/* libgit2: see libgit.h. */
#include "snapshot/libgit.h"

#include <git2.h>
#include <stddef.h>

void libgit_begin(void)
{
	static const int levels[] = { GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
				      GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_PROGRAMDATA };

	git_libgit2_init();
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
}

const char *libgit_reason(void)
{
	const git_error *last = git_error_last();

	return last ? last->message : "no reason was given";
}

int libgit_trouble(const char *what, struct error *err)
{
	return error_set(err, "%s: %s", what, libgit_reason());
}
