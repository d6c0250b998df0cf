/* The user's global git configuration. */
#include "snapshot/base/gituser.h"

#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *gituser_home(void)
{
	const char *home = env_home();
	const struct passwd *entry;
	struct stat status;

	if (*home && stat(home, &status) == 0 && status.st_uid == getuid())
		return mem_dup(home);
	entry = getpwuid(getuid());
	return mem_dup(entry && *entry->pw_dir ? entry->pw_dir : "/");
}

char *gituser_file(const char *home, const char *name)
{
	AUTO_FREE char *folder = env_config_folder(home, false);

	return path_join(folder, name);
}

char *gituser_path(const char *value, const char *base)
{
	AUTO_FREE char *home = gituser_home();

	return strncmp(value, "~/", 2) == 0 ? path_join(home, value + 2)
					    : path_absolute(value, base);
}

/* repository: for conditional includes, or NULL. */
static git_config *read_own(git_repository *repository)
{
	AUTO_FREE char *home = gituser_home();
	AUTO_FREE char *first = path_join(home, ".gitconfig");
	AUTO_FREE char *second = gituser_file(home, "git/config");
	const struct {
		const char *path;
		git_config_level_t level;
	} files[] = { { "/etc/gitconfig", GIT_CONFIG_LEVEL_SYSTEM },
		      { second, GIT_CONFIG_LEVEL_XDG },
		      { first, GIT_CONFIG_LEVEL_GLOBAL } };
	git_config *config = NULL;

	git_config_new(&config);
	/* "~" in an include means the home, but only while these files are read. */
	git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, home);
	/* A malformed file is skipped; git itself reports it. */
	for (size_t i = 0; config && i < sizeof files / sizeof *files; i++)
		if (access(files[i].path, R_OK) == 0)
			git_config_add_file_ondisk(config, files[i].path, files[i].level,
						   repository, 0);
	git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, "");
	return config;
}

static char *read_setting(git_config *config, const char *key)
{
	git_buf value = { 0 };
	char *copy = NULL;

	if (config && git_config_get_string_buf(&value, config, key) == 0 && value.size)
		copy = mem_dup(value.ptr);
	git_buf_dispose(&value);
	git_config_free(config);
	return copy;
}

char *gituser_setting(git_repository *repository, const char *key)
{
	git_config *config = NULL;
	char *found;

	if (repository)
		git_repository_config(&config, repository);
	found = read_setting(config, key);
	return found ? found : read_setting(read_own(repository), key);
}
