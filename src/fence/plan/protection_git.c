/* Protects git directories: see protection.h. */
#include "fence/plan/known.h"
#include "fence/plan/protection.h"
#include "fence/plan/ruleset.h"
#include "gitconfig/gitdir.h"
#include "gitconfig/gitprograms.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void protect_named(void *context, const char *path)
{
	protection_add_path(context, path, NULL);
}

static int protect_config(struct protection *protection, const char *git, const char *work_tree,
			  struct error *err)
{
	if (gitprograms_each(protection->programs, git, work_tree, protect_named, protection, err) <
	    0)
		return -1;
	return protection_check_count(protection, err);
}

/* Remembers the files of a git directory that have other names; skips objects. */
static void know_git_files(struct protection *protection, const char *git)
{
	static const char *const places[] = { "", "hooks", "info" };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		AUTO_FREE char *path = path_join(git, places[i]);
		DIR *dir = protection_in_reach(protection->plan, git) ? opendir(path) : NULL;

		for (struct dirent *entry; dir && (entry = readdir(dir));) {
			AUTO_FREE char *inner = path_join(path, entry->d_name);

			if (entry->d_type == DT_REG)
				known_add_inner(protection->plan, inner);
		}
		if (dir)
			closedir(dir);
	}
}

/* Protects the parts that git obeys of a git directory that stays writable; watches for missing
 * ones. */
static void protect_parts(struct protection *protection, const char *git)
{
	static const char *const parts[] = { "HEAD",    "config",      "config.worktree",
					     "hooks",   "info",        "objects",
					     "refs",    "packed-refs", "commondir",
					     "modules", "worktrees" };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		AUTO_FREE char *path = path_join(git, parts[i]);

		if (access(path, F_OK) < 0)
			free(protection_watch(protection, path));
		else
			protection_make_read_only(protection, path);
	}
}

/* Protects the common directory of a git directory. It may be large, so only protect_config()
 * searches it for symlinks. */
static void protect_common(struct protection *protection, const char *common)
{
	AUTO_FREE char *end = protection_watch(protection, common);
	AUTO_FREE char *real = realpath(common, NULL);
	struct stat status;

	if (real && strcmp(real, protection->root) == 0) {
		protect_parts(protection, real);
	} else if (end && stat(end, &status) == 0 && protection_in_reach(protection->plan, end)) {
		known_add(protection->plan, end);
		ruleset_add(protection->plan, end, &status, WIRE_READ, "executed by the host",
			    false);
	}
}

/* A git directory reads its configuration and hooks from the folder that its commondir names. */
int protection_add_repository(struct protection *protection, const char *git, const char *work_tree,
			      struct error *err)
{
	AUTO_FREE char *common = gitdir_pointer(git, "commondir", "");

	if (common) {
		protect_common(protection, common);
		know_git_files(protection, common);
	}
	know_git_files(protection, git);
	return protect_config(protection, git, work_tree, err);
}

int protection_add_bare(struct protection *protection, const char *head, struct error *err)
{
	AUTO_FREE char *path = mem_format("%.*s", (int)(path_name(head) - 1 - head), head);

	if (strcmp(path, protection->root) == 0)
		protect_parts(protection, path);
	else
		protection_make_read_only(protection, path);
	return protection_add_repository(protection, path, path, err);
}

/* Returns the git directory that git would use in a folder, or NULL. The caller frees it. */
static char *find_repository(const char *folder)
{
	char *git = gitdir_find(folder);

	if (!git && gitdir_classify_path(folder) == GITDIR_WHOLE)
		git = mem_dup(folder);
	return git;
}

int protection_add_parent_repository(struct protection *protection, struct error *err)
{
	AUTO_FREE char *folder = mem_dup(protection->root);
	char *git;
	int result = 0;

	do {
		*strrchr(folder, '/') = '\0';
		git = find_repository(*folder ? folder : "/");
	} while (!git && *folder);
	if (git)
		result = protection_add_repository(protection, git, *folder ? folder : "/", err);
	free(git);
	return result;
}
