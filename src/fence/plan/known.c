/* The entries that a plan knows: see known.h. */
#include "fence/plan/known.h"

#include "fence/plan/ruleset.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

/* Larger files with other names are not known. */
enum { MOST_HASHED = 16 << 20 };

/* An entry as the file system describes it. */
struct look {
	struct fence_inode inode;
	bool is_file;
	unsigned int names; /* hard links */
};

/* An entry on an overlay gets the birth time of a copy when somebody changes it. */
static bool has_birth(int fd, const struct statx *status)
{
	struct statfs system;

	return status->stx_mask & STATX_BTIME && status->stx_btime.tv_sec &&
	       fstatfs(fd, &system) == 0 && system.f_type != OVERLAYFS_SUPER_MAGIC;
}

static int look(int folder, const char *name, struct look *ret_look)
{
	AUTO_FD fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct statx status;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH,
			    STATX_TYPE | STATX_NLINK | STATX_INO | STATX_BTIME, &status) < 0)
		return -1;
	*ret_look = (struct look){
		.inode = { .device = makedev(status.stx_dev_major, status.stx_dev_minor),
			   .inode = status.stx_ino },
		.is_file = S_ISREG(status.stx_mode),
		.names = status.stx_nlink,
	};
	if (has_birth(fd, &status)) {
		ret_look->inode.birth_s = status.stx_btime.tv_sec;
		ret_look->inode.birth_ns = status.stx_btime.tv_nsec;
	}
	return 0;
}

int known_identify(int folder, const char *name, struct fence_inode *ret_inode)
{
	struct look found;

	if (look(folder, name, &found) < 0)
		return -1;
	*ret_inode = found.inode;
	return 0;
}

int known_hash(int folder, const char *name, char ret_hash[SHA256_HEX])
{
	AUTO_BUFFER struct buffer content = BUFFER_INIT(MOST_HASHED);

	if (fd_read_file(folder, name, &content) < 0)
		return -1;
	sha256_hex(content.data ? content.data : "", content.used, ret_hash);
	return 0;
}

static struct fence_known *add(struct fence_plan *plan, const char *path)
{
	plan->known = mem_extend(plan->known, plan->known_count, sizeof *plan->known);
	plan->known[plan->known_count] = (struct fence_known){ .path = mem_dup(path) };
	return &plan->known[plan->known_count++];
}

static void add_content(struct fence_plan *plan, const char *path, const struct look *found)
{
	char hash[SHA256_HEX];

	if (known_hash(AT_FDCWD, path, hash) < 0)
		return;

	struct fence_known *known = add(plan, path);

	known->inode = found->inode;
	memcpy(known->content, hash, sizeof hash);
}

void known_add(struct fence_plan *plan, const char *path)
{
	struct look found;

	if (look(AT_FDCWD, path, &found) < 0)
		return;
	if (found.is_file && found.names > 1)
		list_printf(
			&plan->notices,
			"%s has %u hard links; if it is changed under another name, it is quarantined",
			path, found.names);
	if (found.is_file && (found.names > 1 || !found.inode.birth_s))
		add_content(plan, path, &found);
	else
		add(plan, path)->inode = found.inode;
}

void known_add_hidden(struct fence_plan *plan, const char *path)
{
	struct fence_inode inode;

	if (known_identify(AT_FDCWD, path, &inode) < 0)
		return;

	struct fence_known *known = add(plan, path);

	known->inode = inode;
	known->hidden = true;
}

void known_add_inner(struct fence_plan *plan, const char *path)
{
	struct look found;

	if (look(AT_FDCWD, path, &found) == 0 && found.is_file && found.names > 1)
		add_content(plan, path, &found);
}

static void add_inode(struct fence_inode **list, size_t *count, int folder, const char *name)
{
	struct fence_inode inode;

	if (known_identify(folder, name, &inode) < 0)
		return;
	*list = mem_extend(*list, *count, sizeof **list);
	(*list)[(*count)++] = inode;
}

void known_add_secret(struct fence_plan *plan, int folder, const char *name)
{
	add_inode(&plan->secrets, &plan->secret_count, folder, name);
}

void known_report_names(struct fence_plan *plan, const char *path)
{
	struct look found;

	if (look(AT_FDCWD, path, &found) == 0 && found.is_file && found.names > 1)
		list_printf(&plan->notices,
			    "%s has %u hard links; it is hidden under this name only", path,
			    found.names);
}

void known_add_other(struct fence_plan *plan, const char *path)
{
	add_inode(&plan->others, &plan->other_count, AT_FDCWD, path);
}

/* A path that another source is mounted over cannot be written, nor reached. */
static bool is_writable(const struct fence_plan *plan, const char *path)
{
	const struct fence_rule *rule = ruleset_find(plan, path);

	return rule && rule->access == WIRE_WRITE && !rule->source;
}

void known_settle(struct fence_plan *plan)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].access >= WIRE_HIDE && plan->rules[i].is_dir &&
		    (plan->rules[i].exact || plan->rules[i].ignored))
			known_add_hidden(plan, plan->rules[i].path);
	for (size_t i = 0; i < plan->known_count; i++) {
		if (is_writable(plan, plan->known[i].path))
			free(plan->known[i].path);
		else
			plan->known[kept++] = plan->known[i];
	}
	plan->known_count = kept;
}
