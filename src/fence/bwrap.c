/*
 * The bubblewrap mechanism: every namespace, mounts as the rules say, ringfence-init as process 1.
 *
 * Sources of the user's folders are given as descriptors (--bind-fd) that were opened without
 * following symlinks and compared with what the policy saw; so nobody can swap them meanwhile.
 * Where the mounts landed is checked by init.
 */
#include "fence/builtin.h"
#include "fence/etc.h"
#include "fence/fence.h"
#include "fence/identity.h"
#include "fence/remedy.h"
#include "fence/stage.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/mounts.h"
#include "util/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where init is found inside. */
#define INIT_INSIDE "/run/ringfence/init"

/* The system's own, not one that somebody put into PATH. */
static const char *find_bwrap(void)
{
	static const char *const places[] = { "/usr/bin/bwrap", "/bin/bwrap",
					      "/usr/local/bin/bwrap",
					      "/run/current-system/sw/bin/bwrap" };
	const char *chosen = getenv("RINGFENCE_BWRAP");

	if (chosen && chosen[0] == '/')
		return chosen;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return places[0];
}

int bwrap_detect(struct error *err)
{
	const char *bwrap = find_bwrap();
	struct stat status;

	if (stat(bwrap, &status) < 0 || !S_ISREG(status.st_mode) || access(bwrap, X_OK) < 0)
		return remedy_missing_bwrap(bwrap, err);
	return 0;
}

/* What of the walls that may be given up is really missing on this kernel. */
static unsigned int missing_here(const struct fence_plan *plan)
{
	enum { ABI_USABLE = 2, ABI_SCOPES = 6 };
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   1 /* LANDLOCK_CREATE_RULESET_VERSION */);
	unsigned int missing = 0;

	if (abi < ABI_USABLE)
		missing |= FENCE_WEAKER_LANDLOCK;
	if (abi < ABI_SCOPES && plan->spec->net == FENCE_NET_OPEN)
		missing |= FENCE_WEAKER_ABSTRACT_SOCKETS;
	return missing;
}

/* Root's folders are lent one mount each: what is mounted inside of one would not come along. */
static int refuse_nested(void *context, uint64_t device, const char *path, struct error *err)
{
	const struct fence_plan *plan = context;

	(void)device;
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].lent && path_within(path, plan->rules[i].path) &&
		    strcmp(path, plan->rules[i].path) != 0)
			return error_set(
				err,
				"'%s' is mounted inside of root's '%s', and a mount inside of it cannot be lent "
				"to another uid; unmount it, or give the project to a user (chown -R)",
				path, plan->rules[i].path);
	return 0;
}

int bwrap_plan(struct fence_plan *plan, struct error *err)
{
	AUTO_FREE char *bwrap = realpath(find_bwrap(), NULL);
	const struct fence_rule *rule = bwrap ? fence_plan_decide(plan, bwrap) : NULL;

	/* Whoever can write it decides whether there is a fence. */
	if (rule && rule->access == WIRE_WRITE)
		return error_set(err, "no fence: '%s' is inside of what the command may write",
				 bwrap);
	plan->weaker = plan->spec->accepted_weaker & missing_here(plan);
	return plan->identity.mapped ? mounts_each(refuse_nested, plan, err) : 0;
}

static void arg(struct buffer *args, const char *text)
{
	buffer_add(args, text, strlen(text) + 1);
}

#define ARGS(args, ...)                                                      \
	do {                                                                 \
		const char *const list_[] = { __VA_ARGS__ };                 \
		for (size_t i_ = 0; i_ < sizeof list_ / sizeof *list_; i_++) \
			arg(args, list_[i_]);                                \
	} while (0)

static void arg_number(struct buffer *args, unsigned long number)
{
	char text[24];

	snprintf(text, sizeof text, "%lu", number);
	arg(args, text);
}

/* bwrap closes the descriptor when it has mounted it. */
static void bind_descriptor(struct buffer *args, const char *how, int fd, const char *target)
{
	arg(args, how);
	arg_number(args, (unsigned long)fd);
	arg(args, target);
}

/* A descriptor that bwrap inherits. */
static int keep(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
	return fd;
}

/* The system, read-only; what is a symlink on the host is one inside. */
static const char *const system_places[] = { "/usr",   "/bin",    "/sbin", "/lib",      "/lib32",
					     "/lib64", "/libx32", "/opt",  "/nix/store" };

/* A folder of the host's own; an /opt without folders in it is not worth a mount. */
static bool shown(const char *place)
{
	struct stat status;

	return lstat(place, &status) == 0 && S_ISDIR(status.st_mode) &&
	       (status.st_nlink != 2 || strcmp(place, "/opt") != 0);
}

static void add_system(struct buffer *args)
{
	for (size_t i = 0; i < sizeof system_places / sizeof *system_places; i++) {
		const char *place = system_places[i];
		char target[PATH_MAX];
		ssize_t n = readlink(place, target, sizeof target - 1);

		if (n > 0) {
			target[n] = '\0';
			ARGS(args, "--symlink", target, place);
		} else if (shown(place)) {
			ARGS(args, "--ro-bind", place, place);
		}
	}
	ARGS(args, "--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp",
	     "--symlink", "/tmp", "/var/tmp");
}

/* The folder of the user's that a rule is in, as it lies on the stage. */
struct root {
	const char *path;
	int fd;
};

/* The very file that the policy judged, or an error: it may have been swapped since. */
static int open_rule(const struct fence_rule *rule, const struct root *root, struct error *err)
{
	bool below = root->path && path_within(rule->path, root->path) &&
		     strcmp(rule->path, root->path) != 0;
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS | (below ? RESOLVE_BENEATH : 0) };
	AUTO_FD fd = (int)syscall(SYS_openat2, below ? root->fd : AT_FDCWD,
				  below ? rule->path + strlen(root->path) + 1 : rule->path, &how,
				  sizeof how);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return error_sys(err, "open '%s' (did it change while the fence was made?)",
				 rule->path);
	if (status.st_dev != rule->device || status.st_ino != rule->inode)
		return error_set(err, "'%s' changed while the fence was made; start again",
				 rule->path);
	return fd_steal(&fd);
}

/* The source of a rule that shows something: what is in one of the user's folders is reached
 * through that folder. */
static int find_source(const struct fence_rule *rule, struct stage *stage, struct root *root,
		       struct error *err)
{
	bool below = root->path && path_within(rule->path, root->path);
	int fd = open_rule(rule, root, err);

	if (fd < 0 || below || (fd = stage_put(stage, fd, rule->lent, err)) < 0)
		return fd;
	if (rule->lent)
		*root = (struct root){ rule->path, dup(fd) }; /* bwrap closes the one it gets */
	return fd;
}

static int open_hidden(const struct fence_plan *plan, const char *name, struct stage *stage,
		       struct error *err)
{
	AUTO_FREE char *path = path_join(plan->state, name);
	int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? error_sys(err, "open '%s'", path) : stage_put(stage, fd, false, err);
}

static int add_rules(struct buffer *args, const struct fence_plan *plan, struct stage *stage,
		     struct error *err)
{
	AUTO_FD file = open_hidden(plan, "hidden/file", stage, err);
	AUTO_FD folder = open_hidden(plan, "hidden/folder", stage, err);
	struct root root = { .fd = -1 };

	if (file < 0 || folder < 0)
		return -1;
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];
		int fd = -1;

		if (rule->access == WIRE_HIDE) {
			bind_descriptor(args, "--ro-bind-fd", dup(rule->is_dir ? folder : file),
					rule->path);
		} else if (rule->access == WIRE_HIDE_AROUND) {
			ARGS(args, "--tmpfs", rule->path);
		} else {
			if ((fd = find_source(rule, stage, &root, err)) < 0)
				return -1;
			bind_descriptor(args,
					rule->access == WIRE_WRITE ? "--bind-fd" : "--ro-bind-fd",
					keep(fd), rule->path);
		}
	}
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].access == WIRE_HIDE_AROUND)
			ARGS(args, "--remount-ro", plan->rules[i].path);
	return 0;
}

static int make_arguments(struct buffer *args, const struct fence_plan *plan, const char *etc_path,
			  struct error *err)
{
	struct stage stage = STAGE_INIT;
	int init;
	int etc;

	if (plan->identity.mapped && stage_begin(&stage, plan, err) < 0)
		return -1;
	if ((init = open(plan->init, O_PATH | O_CLOEXEC)) < 0)
		return error_sys(err, "open '%s'", plan->init);
	if ((etc = open(etc_path, O_PATH | O_CLOEXEC)) < 0)
		return error_sys(err, "open '%s'", etc_path);
	if ((init = keep(stage_put(&stage, init, false, err))) < 0)
		return -1;
	ARGS(args, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
	     "--unshare-cgroup", "--disable-userns", "--new-session", "--die-with-parent",
	     "--as-pid-1", "--hostname", "ringfence", "--cap-drop", "ALL", "--uid");
	arg_number(args, plan->identity.uid);
	arg(args, "--gid");
	arg_number(args, plan->identity.gid);
	if (plan->spec->net == FENCE_NET_NONE)
		arg(args, "--unshare-net");
	add_system(args);
	if ((etc = keep(stage_put(&stage, etc, false, err))) < 0)
		return -1;
	bind_descriptor(args, "--ro-bind-fd", etc, "/etc");
	for (const char *const *path = builtin_etc_mounts; *path; path++)
		if (access(*path, F_OK) == 0)
			ARGS(args, "--ro-bind", *path, *path);
	ARGS(args, "--perms", "0700", "--tmpfs", plan->home);
	if (add_rules(args, plan, &stage, err) < 0)
		return -1;
	bind_descriptor(args, "--ro-bind-fd", init, INIT_INSIDE);
	ARGS(args, "--remount-ro", "/");
	return 0;
}

static int become_bwrap(const struct fence_start *start, int order, const char *etc,
			struct error *err)
{
	struct buffer args = BUFFER_INIT(8 << 20);
	struct rlimit files;
	char number[16];

	if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    files.rlim_cur < start->plan->rule_count + 256) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (fence_prepare_child(start, order, err) < 0)
		return -1;
	if (make_arguments(&args, start->plan, etc, err) < 0)
		return -1;
	if (start->plan->identity.mapped && identity_drop(&start->plan->identity, err) < 0)
		return -1;

	int list = keep(fd_memory("ringfence-bwrap", args.data, args.used));

	if (list < 0 || buffer_overflowed(&args))
		return error_sys(err, "hand over the arguments");
	snprintf(number, sizeof number, "%d", list);

	char *const arguments[] = { (char *)"bwrap", (char *)"--args", number, (char *)INIT_INSIDE,
				    NULL };
	char *const environment[] = { NULL };

	execve(find_bwrap(), arguments, environment);
	return error_sys(err, "start '%s'", find_bwrap());
}

/* A part of the system, for init's canaries: this very folder, read-only. */
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

/* What each rule must look like from inside, for init's canaries. */
static int describe_rules(struct buffer *order, const struct fence_plan *plan, const char *etc,
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
		}
		wire_add_rule(order, &wire, rule->path);
	}
	for (size_t i = 0; i < sizeof system_places / sizeof *system_places; i++)
		if (shown(system_places[i]))
			describe_system(order, system_places[i], system_places[i]);
	describe_system(order, etc, "/etc");
	for (const char *const *path = builtin_etc_mounts; *path; path++)
		describe_system(order, *path, *path);
	describe_system(order, plan->init, INIT_INSIDE);
	wire_add_string(order, WIRE_SCRATCH, "/tmp");
	wire_add_string(order, WIRE_SCRATCH, "/dev/shm");
	wire_add_string(order, WIRE_SCRATCH, plan->home);
	return 0;
}

int bwrap_start(const struct fence_start *start, pid_t *ret_pid, struct error *err)
{
	AUTO_FREE char *etc = NULL;
	AUTO_FD order = -1;

	if (etc_prepare(start->plan, &etc, err) < 0 ||
	    describe_rules(start->order, start->plan, etc, err) < 0)
		return -1;
	order = fd_memory("ringfence-order", start->order->data, start->order->used);
	if (order < 0 || buffer_overflowed(start->order))
		return error_sys(err, "hand over the order");

	pid_t child = fork();

	if (child < 0)
		return error_sys(err, "start a process");
	if (child == 0) {
		become_bwrap(start, order, etc, err);
		dprintf(start->complaints, "ringfence: %s", err->text);
		_exit(FENCE_EXIT_NOT_SET_UP);
	}
	*ret_pid = child;
	return 0;
}

void bwrap_classify(const char *complaints, int status, struct error *err)
{
	static const char own[] = "ringfence: ";
	static const char *const namespaces[] = { "new namespace", "uid map", "setgroups",
						  "loopback", "user namespaces" };
	AUTO_FREE char *line = strndup(complaints, strcspn(complaints, "\n"));

	(void)status;
	if (strncmp(complaints, own, strlen(own)) == 0) {
		error_set(err, "%s", complaints + strlen(own));
		return;
	}
	for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
		if (strstr(complaints, namespaces[i])) {
			remedy_namespaces(line, err);
			return;
		}
	}
	if (strstr(complaints, "Unknown option") || strncmp(complaints, "usage:", 6) == 0)
		error_set(
			err,
			"no fence: this bubblewrap is too old (%s); --bind-fd came with 0.10, and with the security updates of "
			"0.8 in Debian 12 and of 0.9 in Ubuntu 24.04",
			line);
	else
		error_set(err, "no fence: bubblewrap ended before the fence was up%s%s",
			  *complaints ? ": " : "", line);
}
