/* Rights on the paths of the host: see grant.h. */
#include "fence/tree/grant.h"

#include "fence/plan/defaults.h"
#include "fence/plan/known.h"
#include "fence/plan/ruleset.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAY_BOTH = WIRE_MAY_READ | WIRE_MAY_WRITE };

struct making {
	const struct fence_plan *plan;
	struct grant_list *grants;
};

static unsigned int rights_of(const struct fence_rule *rule)
{
	if (rule->access == WIRE_WRITE)
		return MAY_BOTH;
	return rule->access == WIRE_READ ? WIRE_MAY_READ : 0;
}

static int refuse_moved(const char *path, struct error *err)
{
	return error_set(err, "'%s' changed while the fence was being set up; try again", path);
}

/* Landlock knows files, not paths: refuses a folder that was at another path, where there are rules
 * for it or below it, when the plan was made. */
static int check_not_moved(const struct fence_plan *plan, const char *path,
			   const struct fence_inode *inode, struct error *err)
{
	for (size_t i = 0; i < plan->witness_count; i++)
		if (plan->witnesses[i].inode == inode->inode &&
		    plan->witnesses[i].device == inode->device &&
		    strcmp(plan->witnesses[i].path, path) != 0)
			return refuse_moved(path, err);
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].is_dir && plan->rules[i].inode == inode->inode &&
		    plan->rules[i].device == inode->device &&
		    strcmp(plan->rules[i].path, path) != 0)
			return refuse_moved(path, err);
	return 0;
}

/* Takes away what a rule for the same file, under another name, does not allow. */
static unsigned int limit_rights(const struct fence_plan *plan, const struct fence_inode *inode,
				 unsigned int rights)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].inode == inode->inode && plan->rules[i].device == inode->device)
			rights &= rights_of(&plan->rules[i]) | WIRE_MAY_LIST | WIRE_MAY_USE;
	return rights;
}

/* Checks that the rules still are for the files that were planned. */
static int check_rules(const struct fence_plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];
		struct fence_inode now;

		if (known_identify(AT_FDCWD, rule->path, &now) < 0 || now.inode != rule->inode ||
		    now.device != rule->device)
			return refuse_moved(rule->path, err);
	}
	return 0;
}

static int add(struct making *making, const char *path, unsigned int rights, bool optional,
	       struct error *err)
{
	enum { ROOM = 256 };
	struct grant_list *list = making->grants;
	struct fence_inode inode;

	if (known_identify(AT_FDCWD, path, &inode) < 0)
		return optional && errno == ENOENT ? 0 : error_sys(err, "look at '%s'", path);
	if (check_not_moved(making->plan, path, &inode, err) < 0)
		return -1;
	rights = limit_rights(making->plan, &inode, rights);
	if (!rights)
		return 0;
	if (list->count == GRANT_MOST)
		return error_set(err,
				 "more than %d entries of folders would need a Landlock rule of "
				 "their own; hide or allow whole folders, or use another fence",
				 GRANT_MOST);
	if (list->count % ROOM == 0)
		list->items = mem_resize(list->items, list->count + ROOM, sizeof *list->items);
	list->items[list->count++] = (struct grant){
		.path = mem_dup(path), .rights = rights, .inode = inode, .optional = optional
	};
	return 0;
}

/* Adds a path of the system by its real name, if it exists. */
static int add_system_path(struct making *making, const char *path, unsigned int rights,
			   struct error *err)
{
	AUTO_FREE char *real = realpath(path, NULL);

	return real ? add(making, real, rights, true, err) : 0;
}

static int add_system(struct making *making, struct error *err)
{
	for (const char *const *at = defaults_shown; *at; at++)
		if (add_system_path(making, *at, WIRE_MAY_READ, err) < 0)
			return -1;
	for (const char *const *at = defaults_devices; *at; at++)
		if (add_system_path(making, *at, WIRE_MAY_USE, err) < 0)
			return -1;
	return add_system_path(making, "/proc", WIRE_MAY_READ, err);
}

/* Adds the entries of /etc that every fence shows, and which anybody may read. */
static int add_etc(struct making *making, struct error *err)
{
	DIR *dir = opendir("/etc");
	int result = dir ? 0 : error_sys(err, "list '/etc'");

	for (struct dirent *entry; result == 0 && (entry = readdir(dir));) {
		AUTO_FREE char *path = path_join("/etc", entry->d_name);

		if (entry->d_name[0] != '.' && defaults_etc_shows(path))
			result = add_system_path(making, path, WIRE_MAY_READ, err);
	}
	if (dir)
		closedir(dir);
	for (const char *const *at = defaults_etc_mounts; result == 0 && *at; at++)
		result = add_system_path(making, *at, WIRE_MAY_READ, err);
	if (result == 0)
		result = add_system_path(making, "/etc/ssl/openssl.cnf", WIRE_MAY_READ, err);
	if (result == 0 && making->plan->spec->net == FENCE_NET_OPEN)
		result = add_system_path(making, "/etc/resolv.conf", WIRE_MAY_READ, err);
	return result;
}

/* Returns the rights that all rules below a path share, at most `rights`. *ret_any: there is a
 * rule. */
static unsigned int shared_below(const struct fence_plan *plan, const char *path,
				 unsigned int rights, bool *ret_any)
{
	*ret_any = false;
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];

		if (strcmp(rule->path, path) == 0 || !path_within(rule->path, path))
			continue;
		*ret_any = true;
		rights &= rights_of(rule);
	}
	return rights;
}

static bool has_rule(const struct fence_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (strcmp(plan->rules[i].path, path) == 0)
			return true;
	return false;
}

static int grant_below(struct making *making, const char *path, unsigned int rights,
		       unsigned int already, bool optional, struct error *err);

/* Grants rights to the entries of a folder that have no rule of their own. */
static int split(struct making *making, const char *folder, unsigned int rights,
		 unsigned int already, struct error *err)
{
	DIR *dir = opendir(folder);
	int result = dir ? 0 : error_sys(err, "list '%s'", folder);

	for (struct dirent *entry; result == 0 && (entry = readdir(dir));) {
		AUTO_FREE char *path = path_join(folder, entry->d_name);

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    entry->d_type == DT_LNK || has_rule(making->plan, path))
			continue;
		result = grant_below(making, path, rights, already, true, err);
	}
	if (dir)
		closedir(dir);
	return result;
}

/* Grants rights to a path and all below it, except where rules below allow less. `already`: the
 * rights that a grant above it has. */
static int grant_below(struct making *making, const char *path, unsigned int rights,
		       unsigned int already, bool optional, struct error *err)
{
	bool any;
	unsigned int whole = shared_below(making->plan, path, rights, &any);

	if (!(whole & WIRE_MAY_READ) && rights & WIRE_MAY_READ) {
		making->grants->splits_reading = true;
		if (add(making, path, WIRE_MAY_LIST, optional, err) < 0)
			return -1;
	}
	if (whole & ~already && add(making, path, whole, optional, err) < 0)
		return -1;
	return whole == rights ? 0 : split(making, path, rights, already | whole, err);
}

static int add_rules(struct making *making, struct error *err)
{
	for (size_t i = 0; i < making->plan->rule_count; i++) {
		const struct fence_rule *rule = &making->plan->rules[i];
		unsigned int rights = rights_of(rule);

		if (rule->source)
			return error_set(err,
					 "'%s' would have to be shown as '%s', which needs mounts",
					 rule->source, rule->path);
		if (rights && grant_below(making, rule->path, rights, 0, false, err) < 0)
			return -1;
	}
	return 0;
}

static int add_own(struct making *making, struct error *err)
{
	return add(making, making->plan->home, MAY_BOTH, false, err) < 0
		       ? -1
		       : add(making, making->plan->tmp, MAY_BOTH, false, err);
}

static int by_path(const void *a, const void *b)
{
	return path_compare(((const struct grant *)a)->path, ((const struct grant *)b)->path);
}

int grant_make(const struct fence_plan *plan, struct grant_list *ret_grants, struct error *err)
{
	struct grant_list grants = { 0 };
	struct making making = { plan, &grants };

	if (add_system(&making, err) < 0 || add_etc(&making, err) < 0 ||
	    add_own(&making, err) < 0 || add_rules(&making, err) < 0 ||
	    check_rules(plan, err) < 0) {
		grant_release(&grants);
		return -1;
	}
	qsort(grants.items, grants.count, sizeof *grants.items, by_path);
	*ret_grants = grants;
	return 0;
}

void grant_release(struct grant_list *grants)
{
	for (size_t i = 0; i < grants->count; i++)
		free(grants->items[i].path);
	free(grants->items);
	*grants = (struct grant_list){ 0 };
}

void grant_describe(const struct grant_list *grants, struct buffer *order)
{
	for (size_t i = 0; i < grants->count; i++) {
		const struct grant *at = &grants->items[i];
		const struct wire_grant wire = { .device = at->inode.device,
						 .inode = at->inode.inode,
						 .rights = at->rights,
						 .optional = at->optional };

		wire_add_grant(order, &wire, at->path);
	}
}

static int find(const void *path, const void *grant)
{
	return path_compare(path, ((const struct grant *)grant)->path);
}

static bool is_same(const struct grant *grant)
{
	struct fence_inode now;

	return known_identify(AT_FDCWD, grant->path, &now) == 0 &&
	       now.device == grant->inode.device && now.inode == grant->inode.inode &&
	       now.birth_s == grant->inode.birth_s && now.birth_ns == grant->inode.birth_ns;
}

/* Reports whether a grant at exactly this path has the right. A path can have several. */
static bool covers_here(const struct grant_list *grants, const char *path, enum wire_right right)
{
	const struct grant *found = bsearch(path, grants->items, grants->count,
					    sizeof *grants->items, find);

	if (!found)
		return false;
	while (found > grants->items && strcmp(found[-1].path, path) == 0)
		found--;
	for (; found < grants->items + grants->count && strcmp(found->path, path) == 0; found++)
		if (found->rights & right)
			return is_same(found);
	return false;
}

bool grant_covers(const struct grant_list *grants, const char *path, enum wire_right right)
{
	AUTO_FREE char *at = mem_dup(path);

	while (*at) {
		if (covers_here(grants, at, right))
			return true;
		*strrchr(at, '/') = '\0';
	}
	return false;
}

static bool is_own(const struct fence_plan *plan, const char *path)
{
	return plan->own && (path_within(path, plan->home) || path_within(path, plan->tmp));
}

static bool forbids(const struct fence_plan *plan, const char *path,
		    const struct fence_inode *inode, enum wire_right right)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].inode == inode->inode &&
		    plan->rules[i].device == inode->device &&
		    !(rights_of(&plan->rules[i]) & right) && strcmp(plan->rules[i].path, path) != 0)
			return true;
	return false;
}

/* Reports whether a file or folder of a rule is at a path or above it now, although it had another
 * path when the plan was made: somebody outside has moved it. */
static bool is_in_moved(const struct fence_plan *plan, const char *path, enum wire_right right)
{
	AUTO_FREE char *at = mem_dup(path);
	struct fence_inode inode;

	for (; *at; *strrchr(at, '/') = '\0')
		if (known_identify(AT_FDCWD, at, &inode) == 0 && forbids(plan, at, &inode, right))
			return true;
	return false;
}

static bool is_allowed(const struct fence_plan *plan, const char *path, enum wire_right right)
{
	const struct fence_rule *rule = ruleset_find(plan, path);

	return is_own(plan, path) ||
	       (rule && rights_of(rule) & right && !is_in_moved(plan, path, right));
}

bool grant_is_writable(const struct fence_plan *plan, const char *path)
{
	return is_allowed(plan, path, WIRE_MAY_WRITE);
}

bool grant_is_readable(const struct fence_plan *plan, const char *path)
{
	return is_allowed(plan, path, WIRE_MAY_READ);
}
