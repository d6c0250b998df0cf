/* Protects paths that the command could write: see protection.h. */
#include "fence/plan/protection.h"

#include "fence/plan/known.h"
#include "fence/plan/ruleset.h"
#include "fence/plan/secret.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than a fence can hold, but few enough to find quickly. */
enum { MOST_FOUND = 20000 };

struct below {
	struct protection *protection;
	const char *path;
};

static void protect_links_below(struct protection *protection, const char *path);

int protection_check_count(const struct protection *protection, struct error *err)
{
	if (protection->plan->rule_count <= MOST_FOUND &&
	    protection->plan->link_count <= MOST_FOUND)
		return 0;
	return error_set(err,
			 "'%s' contains more than %d paths to protect; hide whole folders (--hide)",
			 protection->root, MOST_FOUND);
}

static bool is_named_by_user(const struct fence_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].exact && plan->rules[i].access == WIRE_WRITE &&
		    strcmp(plan->rules[i].path, path) == 0)
			return true;
	return false;
}

bool protection_exempts(struct fence_plan *plan, const char *path, const char *why)
{
	if (!is_named_by_user(plan, path))
		return false;
	if (list_has(&plan->exempt, path))
		return true;
	list_printf(
		&plan->notices,
		"%s is writable (--write); the host will execute what the command puts there (%s)",
		path, why);
	list_add(&plan->exempt, path);
	return true;
}

bool protection_in_reach(const struct fence_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].lent && path_within(path, plan->rules[i].path) &&
		    strcmp(path, plan->rules[i].path) != 0)
			return true;
	return false;
}

void protection_make_read_only(struct protection *protection, const char *path)
{
	if (protection_in_reach(protection->plan, path))
		ruleset_add_existing(protection->plan, path, WIRE_READ, "executed by the host",
				     false);
}

void protection_keep_link(struct fence_plan *plan, const char *path, const char *target)
{
	plan->links = mem_extend(plan->links, plan->link_count, sizeof *plan->links);
	plan->links[plan->link_count++] = (struct fence_link){ mem_dup(path), mem_dup(target) };
}

/* Returns whether a path is in a folder of which the command sees everything that is not hidden. */
static bool is_visible(const struct fence_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if ((plan->rules[i].lent || plan->rules[i].draft) &&
		    path_within(path, plan->rules[i].path) &&
		    strcmp(path, plan->rules[i].path) != 0)
			return true;
	return false;
}

/* Protects the file that a path leads to: hides a secret, and makes a file that the host executes
 * read-only if the command could write it. `names` has the classes of a secret, or is NULL. Returns
 * whether the file is hidden. */
static bool protect_target(struct protection *protection, const char *path, bool executed,
			   const struct names_found *names)
{
	struct fence_plan *plan = protection->plan;
	AUTO_FREE char *real = realpath(path, NULL);
	struct stat status;
	bool secret;

	if (!real || stat(real, &status) < 0)
		return false;
	executed = executed && protection_in_reach(plan, real);
	if (!executed && !is_visible(plan, real))
		return false;
	if (executed && protection_exempts(plan, real, path))
		return false;
	secret = names && !protection_is_own(plan, real) &&
		 secret_file(names, AT_FDCWD, real, &protection->look_budget);
	if (!executed && !secret)
		return false;
	if (executed)
		known_add(plan, real);
	ruleset_add(plan, real, &status, secret ? WIRE_HIDE : WIRE_READ,
		    secret ? "secret" : "executed by the host", false);
	if (executed && !secret && S_ISDIR(status.st_mode))
		protect_links_below(protection, real);
	return secret;
}

bool protection_add_link(struct protection *protection, const char *path, bool executed,
			 const struct names_found *secret)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof target - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	if (executed && protection_in_reach(protection->plan, path))
		protection_keep_link(protection->plan, path, target);
	return protect_target(protection, path, executed, secret);
}

static enum dirwalk_verdict visit_link(void *context, const struct dirwalk_entry *entry)
{
	struct below *below = context;
	AUTO_FREE char *path = path_join(below->path, entry->path);

	if (entry->type == DT_LNK)
		protection_add_link(below->protection, path, true, NULL);
	else if (entry->type == DT_REG)
		known_add_inner(below->protection->plan, path);
	return DIRWALK_ON;
}

/* Protects the targets of symlinks in a folder that the host executes. */
static void protect_links_below(struct protection *protection, const char *path)
{
	enum { MOST_NESTED = 8 };
	AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct below below = { protection, path };
	const struct dirwalk walk = { .visit = visit_link,
				      .context = &below,
				      .deepest = DIRWALK_DEPTH };
	struct error err;

	if (fd < 0 || protection->nested >= MOST_NESTED)
		return;
	protection->nested++;
	dirwalk_tree(&walk, fd, NULL, &err);
	protection->nested--;
}

/* Records a symlink on the way to a protected file, if the command could replace it. */
static void pass_entry(void *context, const char *path, const char *target)
{
	struct protection *protection = context;

	if (target && protection_in_reach(protection->plan, path))
		protection_keep_link(protection->plan, path, target);
}

char *protection_watch(struct protection *protection, const char *path)
{
	size_t before = protection->plan->link_count;
	char *end = symlinks_follow(protection->symlinks, path, pass_entry, protection);

	if (protection->plan->link_count == before && !protection_in_reach(protection->plan, end)) {
		free(end);
		return NULL;
	}
	protection_keep_link(protection->plan, path, ""); /* nothing to restore */
	return end;
}

void protection_add_path(struct protection *protection, const char *path,
			 const struct names_found *secret)
{
	AUTO_FREE char *end = protection_watch(protection, path);

	protect_target(protection, path, end != NULL, secret);
}
