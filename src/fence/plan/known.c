/* The entries that a plan knows: see known.h. */
#include "fence/plan/known.h"

#include "fence/plan/ruleset.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Larger files with other names are not known. */
enum { MOST_HASHED = 16 << 20 };

static int look(int folder, const char *name, struct statx *ret_status)
{
	return statx(folder, name, AT_SYMLINK_NOFOLLOW,
		     STATX_TYPE | STATX_NLINK | STATX_INO | STATX_BTIME, ret_status);
}

static bool has_birth(const struct statx *status)
{
	return status->stx_mask & STATX_BTIME && status->stx_btime.tv_sec;
}

static struct fence_inode inode_of(const struct statx *status)
{
	struct fence_inode inode = {
		.device = makedev(status->stx_dev_major, status->stx_dev_minor),
		.inode = status->stx_ino,
	};

	if (has_birth(status)) {
		inode.birth_s = status->stx_btime.tv_sec;
		inode.birth_ns = status->stx_btime.tv_nsec;
	}
	return inode;
}

int known_identify(int folder, const char *name, struct fence_inode *ret_inode)
{
	struct statx status;

	if (look(folder, name, &status) < 0)
		return -1;
	*ret_inode = inode_of(&status);
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
	if ((plan->known_count & (plan->known_count - 1)) == 0) /* grow at powers of two */
		plan->known = mem_resize(plan->known,
					 plan->known_count ? plan->known_count * 2 : 16,
					 sizeof *plan->known);
	plan->known[plan->known_count] = (struct fence_known){ .path = mem_dup(path) };
	return &plan->known[plan->known_count++];
}

static void add_content(struct fence_plan *plan, const char *path, const struct statx *status)
{
	char hash[SHA256_HEX];

	if (known_hash(AT_FDCWD, path, hash) < 0)
		return;

	struct fence_known *known = add(plan, path);

	known->inode = inode_of(status);
	memcpy(known->content, hash, sizeof hash);
}

void known_add(struct fence_plan *plan, const char *path)
{
	struct statx status;

	if (look(AT_FDCWD, path, &status) < 0)
		return;

	bool is_file = S_ISREG(status.stx_mode);

	if (is_file && status.stx_nlink > 1)
		list_printf(
			&plan->notices,
			"%s has %u hard links; if it is changed under another name, it is quarantined",
			path, status.stx_nlink);
	if (is_file && (status.stx_nlink > 1 || !has_birth(&status)))
		add_content(plan, path, &status);
	else
		add(plan, path)->inode = inode_of(&status);
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
	struct statx status;

	if (look(AT_FDCWD, path, &status) == 0 && S_ISREG(status.stx_mode) && status.stx_nlink > 1)
		add_content(plan, path, &status);
}

void known_add_secret(struct fence_plan *plan, int folder, const char *name)
{
	struct fence_inode inode;

	if (known_identify(folder, name, &inode) < 0)
		return;
	if ((plan->secret_count & (plan->secret_count - 1)) == 0)
		plan->secrets = mem_resize(plan->secrets,
					   plan->secret_count ? plan->secret_count * 2 : 16,
					   sizeof *plan->secrets);
	plan->secrets[plan->secret_count++] = inode;
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
