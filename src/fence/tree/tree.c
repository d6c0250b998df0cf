/* The file tree of a fence: see tree.h. */
#include "fence/tree/tree.h"

#include "fence/plan/defaults.h"
#include "fence/tree/stage.h"
#include "fence/watch/limit.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool is_empty(const char *folder)
{
	DIR *dir = opendir(folder);
	size_t count = 0;

	while (dir && count < 3 && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return dir && count < 3; /* itself, and the one above */
}

/* A folder of the host's own; an empty /opt is not worth a mount. */
static bool shown(const char *place)
{
	struct stat status;

	return lstat(place, &status) == 0 && S_ISDIR(status.st_mode) &&
	       (strcmp(place, "/opt") != 0 || status.st_nlink > 2 || !is_empty(place));
}

/* Shows a place of the host, at the same path or at another one. */
static int show_path(const struct stage *stage, const char *source, const char *path, bool is_dir,
		     unsigned int how, struct error *err)
{
	const struct stage_target target = { .path = path, .is_dir = is_dir };

	return stage_show_path(stage, source, &target, how, err);
}

/* Empty files take memory too. One for each page, as the kernel has it by itself. */
static uint64_t inodes_for(uint64_t size)
{
	enum { PAGE = 4096, LEAST = 1024 };

	return size / PAGE < LEAST ? LEAST : size / PAGE;
}

static int add_tmpfs(const struct stage *stage, const char *path, const char *mode,
		     const struct fence_rule *judged, struct error *err)
{
	const struct stage_target target = { .path = path, .is_dir = true, .judged = judged };
	AUTO_BUFFER struct buffer options = BUFFER_INIT(200);

	buffer_printf(&options, "mode=%s,uid=%u,gid=%u", mode, stage->identity->uid,
		      stage->identity->gid);
	if (stage->tmp_size)
		buffer_printf(&options, ",size=%llu,nr_inodes=%llu",
			      (unsigned long long)stage->tmp_size,
			      (unsigned long long)inodes_for(stage->tmp_size));

	return stage_file_system(stage, "tmpfs", buffer_text(&options), &target, err);
}

/* The system, read-only; what is a symlink on the host is one inside. */
static int add_system(const struct stage *stage, struct error *err)
{
	for (const char *const *at = defaults_shown; *at; at++) {
		const char *place = *at;
		char target[PATH_MAX];
		ssize_t n = readlink(place, target, sizeof target - 1);

		if (n > 0) {
			target[n] = '\0';
			if (stage_symlink(stage, target, place, err) < 0)
				return -1;
		} else if (shown(place) &&
			   show_path(stage, place, place, true, STAGE_READ_ONLY, err) < 0) {
			return -1;
		}
	}
	return 0;
}

static int add_devices(const struct stage *stage, struct error *err)
{
	static const struct {
		const char *content;
		const char *path;
	} links[] = {
		{ "/proc/self/fd", "/dev/fd" },       { "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" }, { "/proc/self/fd/2", "/dev/stderr" },
		{ "/proc/kcore", "/dev/core" },       { "pts/ptmx", "/dev/ptmx" },
	};
	const struct stage_target terminals = { .path = "/dev/pts", .is_dir = true };

	if (add_tmpfs(stage, "/dev", "755", NULL, err) < 0 ||
	    stage_folder(stage, "/dev/shm", err) < 0 ||
	    stage_show_files(stage, defaults_devices, "/dev", STAGE_DEVICES, err) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(links); i++)
		if (stage_symlink(stage, links[i].content, links[i].path, err) < 0)
			return -1;
	return stage_file_system(stage, "devpts", "newinstance,ptmxmode=0666,mode=620", &terminals,
				 err);
}

static int add_etc(const struct stage *stage, const char *etc, struct error *err)
{
	if (show_path(stage, etc, "/etc", true, STAGE_READ_ONLY, err) < 0)
		return -1;
	for (const char *const *path = defaults_etc_mounts; *path; path++) {
		struct stat status;

		if (lstat(*path, &status) == 0 && S_ISDIR(status.st_mode) &&
		    show_path(stage, *path, *path, true, STAGE_READ_ONLY, err) < 0)
			return -1;
	}
	return 0;
}

/* The folder of the user's that is lent, as it lies on the stage. */
struct loan {
	const char *path;
	int fd;
};

/* The very file that the policy judged, or an error: it may have been swapped since. */
static int open_rule(const struct fence_rule *rule, const struct loan *loan, struct error *err)
{
	bool below = loan->path && path_within(rule->path, loan->path) &&
		     strcmp(rule->path, loan->path) != 0;
	AUTO_FD fd = below ? fd_openat2(loan->fd, rule->path + strlen(loan->path) + 1, O_PATH, 0,
					RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH)
			   : fd_openat2(AT_FDCWD, rule->path, O_PATH, 0, RESOLVE_NO_SYMLINKS);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_sys(err, "open '%s' (did it change while the fence was made?)",
				 rule->path);
	if (status.st_dev != rule->device || status.st_ino != rule->inode)
		return error_set(err, "'%s' changed while the fence was made; start again",
				 rule->path);
	return fd_steal(&fd);
}

/* What is shown instead of something: by itself, lent if anything is. What is only read may be readable as it is. */
static int open_cover(const struct fence_rule *rule, struct stage *stage, struct error *err)
{
	const struct fence_rule itself = { .path = rule->source,
					   .device = rule->source_device,
					   .inode = rule->source_inode };
	AUTO_FD fd = open_rule(&itself, &(struct loan){ .fd = -1 }, err);
	int lent;

	if (fd < 0 || stage->mapping < 0)
		return fd_steal(&fd);
	lent = stage_lend(stage, fd, err);
	if (lent >= 0 || rule->access != WIRE_WRITE)
		return lent >= 0 ? lent : fd_steal(&fd);
	return error_set(
		err,
		"'%s' is root's, and its file system cannot lend it to another uid; use --git read-only, or keep the "
		"state on another one (RINGFENCE_STATE_DIR)",
		rule->source);
}

/* The source of a rule that shows something: what is in a folder that is lent is reached through it. */
static int open_source(const struct fence_rule *rule, struct stage *stage, struct loan *loan,
		       struct error *err)
{
	AUTO_FD fd = open_rule(rule, loan, err);

	if (fd < 0 || !rule->lent || stage->mapping < 0 ||
	    (loan->path && path_within(rule->path, loan->path)))
		return fd_steal(&fd);

	int lent = stage_lend(stage, fd, err);

	if (lent >= 0) {
		fd_close(&loan->fd);
		*loan = (struct loan){ rule->path, fcntl(lent, F_DUPFD_CLOEXEC, 3) };
	}
	return lent;
}

/* Is the place of a rule in something that an earlier rule shows? Then it is there, or it changed. */
static bool is_there(const struct fence_plan *plan, size_t index)
{
	for (size_t i = index; i-- > 0;)
		if (path_within(plan->rules[index].path, plan->rules[i].path))
			return plan->rules[i].access != WIRE_HIDE_AROUND;
	return false;
}

static int open_hidden(const struct fence_plan *plan, const char *name, struct error *err)
{
	AUTO_FREE char *path = path_join(plan->state, name);
	int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? error_sys(err, "open '%s'", path) : fd;
}

static int add_rules(struct stage *stage, const struct fence_plan *plan, struct error *err)
{
	AUTO_FD file = open_hidden(plan, "hidden/file", err);
	AUTO_FD folder = file < 0 ? -1 : open_hidden(plan, "hidden/folder", err);
	struct loan loan = { .fd = -1 };
	int result = folder < 0 ? -1 : 0;

	for (size_t i = 0; result == 0 && i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];
		const struct stage_target target = { .path = rule->path,
						     .is_dir = rule->is_dir,
						     .judged = is_there(plan, i) ? rule : NULL };
		AUTO_FD source = -1;

		if (rule->access == WIRE_HIDE) {
			result = stage_show(stage, rule->is_dir ? folder : file, &target,
					    STAGE_READ_ONLY, err);
		} else if (rule->access == WIRE_HIDE_AROUND) {
			result = add_tmpfs(stage, rule->path, "755", target.judged, err);
		} else {
			source = rule->source ? open_cover(rule, stage, err)
					      : open_source(rule, stage, &loan, err);
			result = source < 0
					 ? -1
					 : stage_show(stage, source, &target,
						      rule->access == WIRE_WRITE ? 0
										 : STAGE_READ_ONLY,
						      err);
		}
	}
	for (size_t i = 0; result == 0 && i < plan->rule_count; i++)
		if (plan->rules[i].access == WIRE_HIDE_AROUND)
			result = stage_seal(stage, plan->rules[i].path, err);
	fd_close(&loan.fd);
	return result;
}

/* Something of the user's is in /var/tmp: then it is a folder of its own. */
static bool needs_var_tmp(const struct fence_plan *plan)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (path_within(plan->rules[i].path, "/var/tmp"))
			return true;
	return path_within(plan->home, "/var/tmp");
}

static int add_var_tmp(const struct stage *stage, const struct fence_plan *plan, struct error *err)
{
	if (stage_folder(stage, "/var", err) < 0)
		return -1;
	return needs_var_tmp(plan) ? add_tmpfs(stage, "/var/tmp", "1777", NULL, err)
				   : stage_symlink(stage, "/tmp", "/var/tmp", err);
}

static int fill(struct stage *stage, const struct fence_plan *plan, const char *etc,
		struct error *err)
{
	if (add_system(stage, err) < 0 || stage_folder(stage, "/proc", err) < 0 ||
	    add_devices(stage, err) < 0 || add_tmpfs(stage, "/tmp", "1777", NULL, err) < 0 ||
	    add_var_tmp(stage, plan, err) < 0 || add_etc(stage, etc, err) < 0 ||
	    add_tmpfs(stage, plan->home, "700", NULL, err) < 0 || add_rules(stage, plan, err) < 0 ||
	    show_path(stage, plan->init, TREE_INIT, false, STAGE_READ_ONLY, err) < 0)
		return -1;
	return stage_seal(stage, "/", err);
}

char *tree_build(const struct fence_plan *plan, const char *etc, const char *needed,
		 struct error *err)
{
	const char *const all_needed[] = { plan->state, plan->init, etc, needed, NULL };
	mode_t mask = umask(0);
	struct stage stage;
	int result = stage_begin(&stage, plan, all_needed, err);

	stage.tmp_size = limit_tmp_size(plan->spec);
	if (result == 0)
		result = fill(&stage, plan, etc, err);
	umask(mask);
	return result < 0 ? NULL : stage.place;
}

/* A part of the system: this very folder, read-only. */
static void describe_system(struct buffer *order, const char *source, const char *path)
{
	struct wire_rule wire = { .access = WIRE_READ };
	struct stat status;

	if (lstat(source, &status) < 0 || S_ISLNK(status.st_mode))
		return;
	wire.device = status.st_dev;
	wire.inode = status.st_ino;
	wire_add_rule(order, &wire, path);
}

int tree_describe(struct buffer *order, const struct fence_plan *plan, const char *etc,
		  struct error *err)
{
	AUTO_FREE char *file_path = path_join(plan->state, "hidden/file");
	AUTO_FREE char *folder_path = path_join(plan->state, "hidden/folder");
	struct stat file;
	struct stat folder;

	if (stat(file_path, &file) < 0 || stat(folder_path, &folder) < 0)
		return error_sys(err, "look at '%s'", file_path);
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];
		const struct stat *hidden = rule->is_dir ? &folder : &file;
		struct wire_rule wire = { .device = rule->device,
					  .inode = rule->inode,
					  .access = rule->access };

		if (rule->access == WIRE_HIDE) {
			wire.device = hidden->st_dev;
			wire.inode = hidden->st_ino;
		} else if (rule->source) {
			wire.device = rule->source_device;
			wire.inode = rule->source_inode;
		}
		wire_add_rule(order, &wire, rule->path);
	}
	for (const char *const *place = defaults_shown; *place; place++)
		if (shown(*place))
			describe_system(order, *place, *place);
	describe_system(order, etc, "/etc");
	for (const char *const *path = defaults_etc_mounts; *path; path++)
		describe_system(order, *path, *path);
	describe_system(order, plan->init, TREE_INIT);
	wire_add_string(order, WIRE_SCRATCH, "/tmp");
	if (needs_var_tmp(plan) && strcmp(plan->home, "/var/tmp") != 0)
		wire_add_string(order, WIRE_SCRATCH, "/var/tmp");
	wire_add_string(order, WIRE_SCRATCH, "/dev/shm");
	wire_add_string(order, WIRE_SCRATCH, plan->home);
	return 0;
}
