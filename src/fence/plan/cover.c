/* Rules for paths that are mounted over others: see cover.h. */
#include "fence/plan/cover.h"

#include "fence/plan/ruleset.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Stats a path that must not pass through a symlink. */
static int stat_real(const char *path, struct stat *ret_status, struct error *err)
{
	AUTO_FD fd = fd_openat2(AT_FDCWD, path, O_PATH, 0, RESOLVE_NO_SYMLINKS);

	return fd < 0 || fstat(fd, ret_status) < 0 ? error_sys(err, "open '%s'", path) : 0;
}

/* Returns the host path of a cover's mount point: in the source of an earlier cover or in the
 * project. Returns NULL if the fence creates it. The caller frees it. */
static char *mount_point(const struct fence_plan *plan, size_t index)
{
	const struct fence_covers *covers = &plan->spec->covers;
	const char *path = covers->items[index].path;

	for (size_t i = index; i-- > 0;)
		if (path_within(path, covers->items[i].path))
			return path_join(covers->items[i].source,
					 path + strlen(covers->items[i].path) + 1);
	return path_within(path, plan->project) ? mem_dup(path) : NULL;
}

static int add_one(struct fence_plan *plan, size_t index, struct error *err)
{
	const struct fence_cover *cover = &plan->spec->covers.items[index];
	AUTO_FREE char *place = mount_point(plan, index);
	struct stat source;
	struct stat status = { 0 };
	struct fence_rule *rule;

	if (stat_real(cover->source, &source, err) < 0 ||
	    (place && stat_real(place, &status, err) < 0))
		return -1;
	if (place && S_ISDIR(status.st_mode) != S_ISDIR(source.st_mode))
		return error_set(err, "'%s' changed while the fence was being set up; try again",
				 place);
	ruleset_add(plan, cover->path, &status, cover->writable ? WIRE_WRITE : WIRE_READ,
		    "private git", true);
	rule = &plan->rules[plan->rule_count - 1];
	rule->is_dir = S_ISDIR(source.st_mode);
	rule->source = mem_dup(cover->source);
	rule->source_device = source.st_dev;
	rule->source_inode = source.st_ino;
	return 0;
}

int cover_add(struct fence_plan *plan, struct error *err)
{
	const struct fence_covers *covers = &plan->spec->covers;
	size_t kept = 0;

	for (size_t i = 0; i < plan->rule_count; i++)
		for (size_t k = 0; plan->rules[i].asked && k < covers->count; k++)
			if (path_within(plan->rules[i].path, covers->items[k].path)) {
				list_printf(
					&plan->notices,
					"%s names %s: the fence uses the project's own git directory",
					plan->rules[i].origin, plan->rules[i].path);
				return 0;
			}
	for (size_t i = 0; i < plan->rule_count; i++) {
		struct fence_rule rule = plan->rules[i];
		bool covered = false;

		for (size_t k = 0; k < covers->count && !covered; k++)
			covered = path_within(rule.path, covers->items[k].path);
		if (!covered) {
			plan->rules[kept++] = rule;
			continue;
		}
		free(rule.path);
		free(rule.origin);
	}
	plan->rule_count = kept;
	for (size_t i = 0; i < covers->count; i++)
		if (add_one(plan, i, err) < 0)
			return -1;
	return 0;
}
