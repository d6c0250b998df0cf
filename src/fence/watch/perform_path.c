/*
 * Paths of a command that shares the host's file tree: see perform.h.
 *
 * Two kinds of acts end up here. Landlock does not govern modes and times, so these are always set
 * here, on a file that was opened and judged first. And new entries of a split folder have no
 * grant: what the plan allows there is done here, relative to folders that were opened and judged.
 * A protected file stays where it is meanwhile, because folders above it cannot be renamed.
 */
#include "fence/watch/perform.h"

#include "fence/plan/ruleset.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define CONTINUE PERFORM_ANSWER(PERFORM_CONTINUE)

/* A call that is being performed. */
struct act {
	const struct perform_context *performer;
	const uint64_t *arguments;
	struct perform_caller caller;
	bool in_helper;
};

/* A name in an open folder. */
struct entry {
	int folder;
	char name[NAME_MAX + 1];
	char real[PATH_MAX]; /* its real path */
};

static void entry_close(struct entry *entry)
{
	fd_close(&entry->folder);
}

#define AUTO_ENTRY __attribute__((cleanup(entry_close))) struct entry

static struct perform_answer result_of(int result)
{
	return PERFORM_ERRNO(result < 0 ? errno : 0);
}

/* Splits a located path at its last name. Returns false if it has none that can be created. */
static bool split(const char *text, char ret_above[PATH_MAX], char ret_name[NAME_MAX + 1])
{
	size_t size = strlen(text);
	size_t start;

	while (size > 1 && text[size - 1] == '/')
		size--;
	for (start = size; start > 0 && text[start - 1] != '/';)
		start--;
	if (size - start > NAME_MAX || size == start)
		return false;
	snprintf(ret_name, NAME_MAX + 1, "%.*s", (int)(size - start), text + start);
	snprintf(ret_above, PATH_MAX, "%.*s", (int)start, text);
	return strcmp(ret_name, ".") != 0 && strcmp(ret_name, "..") != 0;
}

/* Opens the folder of a path. Returns 0, or an errno. */
static int find_entry(const char *text, struct entry *ret_entry)
{
	char above[PATH_MAX];
	char real[PATH_MAX];

	ret_entry->folder = -1;
	if (!split(text, above, ret_entry->name))
		return EINVAL;
	ret_entry->folder = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (ret_entry->folder < 0)
		return errno;
	if (!perform_real_path(ret_entry->folder, real) ||
	    snprintf(ret_entry->real, PATH_MAX, "%s/%s", real[1] ? real : "", ret_entry->name) >=
		    PATH_MAX)
		return EACCES;
	return 0;
}

static int read_entry(const struct act *act, int folder, uint64_t address, struct entry *ret_entry)
{
	char text[PATH_MAX];
	int why = perform_read_path(&act->caller, folder, address, text);

	ret_entry->folder = -1;
	return why ? why : find_entry(text, ret_entry);
}

/* Reports whether the plan allows to create, remove or rename this entry. */
static bool is_open(const struct act *act, const struct entry *entry)
{
	return grant_is_writable(act->performer->plan, entry->real);
}

/* Reports whether Landlock also allows that: it then decides. */
static bool is_granted(const struct act *act, const struct entry *entry)
{
	AUTO_FREE char *above = path_folder(entry->real);

	above[strlen(above) - 1] = '\0';
	return grant_covers(act->performer->grants, above, WIRE_MAY_WRITE);
}

/* Reports whether a path has something below it that the command may not change. */
static bool has_protected(const struct act *act, const char *path)
{
	const struct fence_plan *plan = act->performer->plan;

	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].access != WIRE_WRITE && path_within(plan->rules[i].path, path))
			return true;
	return false;
}

/* Reports whether a file is one that a rule protects, by whatever path it was reached. */
static bool is_protected_file(const struct act *act, const struct stat *status)
{
	const struct fence_plan *plan = act->performer->plan;

	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].access != WIRE_WRITE && plan->rules[i].inode == status->st_ino &&
		    plan->rules[i].device == status->st_dev)
			return true;
	return false;
}

/* Opens a file to look at it. Returns a descriptor, or -1 with errno. */
static int open_target(const char *text, bool follow)
{
	return open(text, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
}

/* Reports whether the plan lets the command change a file. Pipes and memory files have no path. */
static bool may_change(const struct act *act, int target)
{
	static const char memory[] = "/memfd:";
	char real[PATH_MAX];
	struct stat status;

	if (!perform_real_path(target, real) || strncmp(real, memory, strlen(memory)) == 0)
		return true;
	return fstat(target, &status) == 0 && !is_protected_file(act, &status) &&
	       grant_is_writable(act->performer->plan, real);
}

static struct perform_answer set_mode(int target, mode_t mode)
{
	char link[32];

	snprintf(link, sizeof link, "/proc/self/fd/%d", target);
	return result_of(chmod(link, mode & 01777)); /* the filter has refused setuid bits */
}

static struct perform_answer act_mode(const struct act *act, int folder, uint64_t address,
				      mode_t mode)
{
	char text[PATH_MAX];
	int why = perform_read_path(&act->caller, folder, address, text);
	AUTO_FD target = why ? -1 : open_target(text, true);

	if (target < 0)
		return PERFORM_ERRNO(why ? why : errno);
	return may_change(act, target) ? set_mode(target, mode) : PERFORM_ERRNO(EPERM);
}

/* Opens the file behind a descriptor of the caller. */
static int open_descriptor(const struct act *act, int number)
{
	char text[PATH_MAX];

	perform_locate(&act->caller, number, "", text);
	return open_target(text, true);
}

static struct perform_answer act_descriptor_mode(const struct act *act)
{
	AUTO_FD target = open_descriptor(act, (int)act->arguments[0]);

	if (target < 0)
		return PERFORM_ERRNO(errno == ENOENT ? EBADF : errno);
	return may_change(act, target) ? set_mode(target, (mode_t)act->arguments[1])
				       : PERFORM_ERRNO(EPERM);
}

static struct perform_answer act_times(const struct act *act)
{
	struct timespec times[2];
	bool now = !act->arguments[2];
	char text[PATH_MAX];
	int why = 0;

	if (!now &&
	    perform_copy(&act->caller, act->arguments[2], times, sizeof times) != sizeof times)
		return PERFORM_ERRNO(EFAULT);
	if (act->arguments[1])
		why = perform_read_path(&act->caller, (int)act->arguments[0], act->arguments[1],
					text);

	AUTO_FD target = why ? -1
			 : !act->arguments[1]
				 ? open_descriptor(act, (int)act->arguments[0])
				 : open_target(text, !(act->arguments[3] & AT_SYMLINK_NOFOLLOW));

	if (target < 0)
		return PERFORM_ERRNO(why ? why : errno);
	return may_change(act, target)
		       ? result_of(utimensat(target, "", now ? NULL : times, AT_EMPTY_PATH))
		       : PERFORM_ERRNO(EPERM);
}

/* Opens a file for the caller, with the flags of its call that still have a meaning. */
static struct perform_answer hand_over(int folder, const char *name, int flags, mode_t mode)
{
	static const int ours = O_NONBLOCK | O_CLOEXEC | O_NOCTTY; /* never wait for a lease */
	AUTO_FD fd = openat(folder, name, flags | ours, mode);

	if (fd < 0)
		return PERFORM_ERRNO(errno);
	if (!(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return (struct perform_answer){ .kind = PERFORM_RESULT,
					.fd = fd_steal(&fd),
					.close_on_exec = flags & O_CLOEXEC };
}

/* Opens an existing file that was judged. */
static struct perform_answer open_judged(const struct act *act, int target, int flags)
{
	char link[32];
	struct stat status;

	snprintf(link, sizeof link, "/proc/self/fd/%d", target);
	if (fstat(target, &status) < 0 || is_protected_file(act, &status))
		return CONTINUE;        /* Landlock refuses */
	if (S_ISFIFO(status.st_mode)) { /* may wait for the other end */
		int fd = act->in_helper ? open(link, (flags & ~O_CREAT) | O_CLOEXEC) : -1;

		if (!act->in_helper)
			return PERFORM_ANSWER(PERFORM_IN_HELPER);
		return fd < 0 ? PERFORM_ERRNO(errno)
			      : (struct perform_answer){ .kind = PERFORM_RESULT,
							 .fd = fd,
							 .close_on_exec = flags & O_CLOEXEC };
	}
	if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
		return CONTINUE;
	if (S_ISDIR(status.st_mode) && flags & O_CREAT)
		return PERFORM_ERRNO(EISDIR);
	return hand_over(AT_FDCWD, link, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW), 0);
}

static struct perform_answer open_existing(const struct act *act, int target, int flags,
					   mode_t mode)
{
	bool temporary = (flags & O_TMPFILE) == O_TMPFILE;
	bool writes = flags & (O_ACCMODE | O_TRUNC | O_CREAT) || temporary;
	enum wire_right right = writes ? WIRE_MAY_WRITE : WIRE_MAY_READ;
	const struct perform_context *performer = act->performer;
	char real[PATH_MAX];

	if (!perform_real_path(target, real) ||
	    !(writes ? grant_is_writable(performer->plan, real)
		     : grant_is_readable(performer->plan, real)) ||
	    grant_covers(performer->grants, real, right))
		return CONTINUE;
	if (flags & O_CREAT && flags & O_EXCL)
		return PERFORM_ERRNO(EEXIST);
	return temporary ? hand_over(target, ".", flags, mode & ~act->caller.umask)
			 : open_judged(act, target, flags);
}

static struct perform_answer open_new(const struct act *act, const char *text, int flags,
				      mode_t mode)
{
	AUTO_ENTRY entry;

	if (find_entry(text, &entry) || !is_open(act, &entry) || is_granted(act, &entry))
		return CONTINUE;
	return hand_over(entry.folder, entry.name, flags | O_EXCL | O_NOFOLLOW,
			 mode & ~act->caller.umask);
}

/* Replaces a path to a dangling symlink by the path that it leads to. */
static void follow_missing(char text[PATH_MAX])
{
	enum { MOST_LINKS = 8 };

	for (int i = 0; i < MOST_LINKS; i++) {
		AUTO_ENTRY entry;
		char target[PATH_MAX];
		ssize_t n = find_entry(text, &entry) ? -1
						     : readlinkat(entry.folder, entry.name, target,
								  sizeof target - 1);

		if (n <= 0)
			return;
		target[n] = '\0';
		*strrchr(entry.real, '/') = '\0';
		if (snprintf(text, PATH_MAX, "%s%s%s", target[0] == '/' ? "" : entry.real,
			     target[0] == '/' ? "" : "/", target) >= PATH_MAX)
			return;
	}
}

static struct perform_answer act_open(const struct act *act, int folder, uint64_t address,
				      int flags, mode_t mode)
{
	bool follow = !(flags & O_NOFOLLOW) && !(flags & O_CREAT && flags & O_EXCL);
	char text[PATH_MAX];

	if (flags & O_PATH || perform_read_path(&act->caller, folder, address, text))
		return CONTINUE;

	AUTO_FD target = open_target(text, follow);

	if (target >= 0)
		return open_existing(act, target, flags, mode);
	if (errno != ENOENT || !(flags & O_CREAT))
		return CONTINUE;
	if (follow)
		follow_missing(text);
	return open_new(act, text, flags, mode);
}

static struct perform_answer act_truncate(const struct act *act)
{
	char text[PATH_MAX];
	char link[32];
	char real[PATH_MAX];
	struct stat status;

	if (perform_read_path(&act->caller, AT_FDCWD, act->arguments[0], text))
		return CONTINUE;

	AUTO_FD target = open_target(text, true);

	if (target < 0 || fstat(target, &status) < 0 || !S_ISREG(status.st_mode) ||
	    !may_change(act, target) || !perform_real_path(target, real) ||
	    grant_covers(act->performer->grants, real, WIRE_MAY_WRITE))
		return CONTINUE;
	snprintf(link, sizeof link, "/proc/self/fd/%d", target);

	AUTO_FD fd = open(link, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? PERFORM_ERRNO(errno) : result_of(ftruncate(fd, (off_t)act->arguments[1]));
}

enum { MAKE_FOLDER, MAKE_NODE, REMOVE_FILE, REMOVE_FOLDER };

static struct perform_answer do_to(const struct act *act, const struct entry *entry, int what,
				   mode_t mode)
{
	switch (what) {
	case MAKE_FOLDER:
		return result_of(mkdirat(entry->folder, entry->name, mode & ~act->caller.umask));
	case MAKE_NODE:
		if (mode & S_IFMT && !S_ISREG(mode) && !S_ISFIFO(mode) && !S_ISSOCK(mode))
			return CONTINUE;
		return result_of(mknodat(entry->folder, entry->name, mode & ~act->caller.umask, 0));
	default:
		return result_of(unlinkat(entry->folder, entry->name,
					  what == REMOVE_FOLDER ? AT_REMOVEDIR : 0));
	}
}

/* Makes or removes one entry. */
static struct perform_answer act_entry(const struct act *act, int folder, uint64_t address,
				       int what, mode_t mode)
{
	AUTO_ENTRY entry;

	if (read_entry(act, folder, address, &entry) || !is_open(act, &entry) ||
	    is_granted(act, &entry))
		return CONTINUE;
	if (has_protected(act, entry.real))
		return PERFORM_ERRNO(EBUSY); /* as for a mount point */
	return do_to(act, &entry, what, mode);
}

static struct perform_answer act_symlink(const struct act *act, uint64_t content, int folder,
					 uint64_t address)
{
	char target[PATH_MAX];
	size_t size = perform_copy(&act->caller, content, target, sizeof target);
	AUTO_ENTRY entry;

	if (read_entry(act, folder, address, &entry) || !is_open(act, &entry) ||
	    is_granted(act, &entry) || !memchr(target, '\0', size))
		return CONTINUE;
	return result_of(symlinkat(target, entry.folder, entry.name));
}

static struct perform_answer act_rename(const struct act *act, int from_folder, uint64_t from,
					int to_folder, uint64_t to, unsigned int flags)
{
	AUTO_ENTRY old;
	AUTO_ENTRY new;

	new.folder = -1;
	if (read_entry(act, from_folder, from, &old) || read_entry(act, to_folder, to, &new) ||
	    !is_open(act, &old) || !is_open(act, &new))
		return CONTINUE;
	if (has_protected(act, old.real) || has_protected(act, new.real))
		return PERFORM_ERRNO(EBUSY);
	if (is_granted(act, &old) && is_granted(act, &new))
		return CONTINUE;
	return result_of(renameat2(old.folder, old.name, new.folder, new.name,
				   flags & (RENAME_NOREPLACE | RENAME_EXCHANGE)));
}

static struct perform_answer act_link(const struct act *act, int from_folder, uint64_t from,
				      int to_folder, uint64_t to, int flags)
{
	char text[PATH_MAX];
	char link[32];
	AUTO_ENTRY entry;
	char empty = 1;

	entry.folder = -1;
	if (flags & AT_EMPTY_PATH)
		perform_copy(&act->caller, from, &empty, 1);
	if (empty == '\0')
		perform_locate(&act->caller, from_folder, "", text);
	else if (perform_read_path(&act->caller, from_folder, from, text))
		return CONTINUE;

	AUTO_FD target = open_target(text, flags & AT_SYMLINK_FOLLOW || empty == '\0');

	if (target < 0 || read_entry(act, to_folder, to, &entry) || !is_open(act, &entry) ||
	    !may_change(act, target))
		return CONTINUE;
	if (is_granted(act, &entry) && !(flags & AT_SYMLINK_FOLLOW) && empty)
		return CONTINUE;
	snprintf(link, sizeof link, "/proc/self/fd/%d", target);
	return result_of(linkat(AT_FDCWD, link, entry.folder, entry.name, AT_SYMLINK_FOLLOW));
}

static struct perform_answer act_old_call(const struct act *act, int number)
{
	const uint64_t *of = act->arguments;

	switch (number) {
#ifdef SYS_open /* absent on newer architectures */
	case SYS_open:
		return act_open(act, AT_FDCWD, of[0], (int)of[1], (mode_t)of[2]);
	case SYS_creat:
		return act_open(act, AT_FDCWD, of[0], O_CREAT | O_WRONLY | O_TRUNC, (mode_t)of[1]);
	case SYS_mkdir:
		return act_entry(act, AT_FDCWD, of[0], MAKE_FOLDER, (mode_t)of[1]);
	case SYS_mknod:
		return act_entry(act, AT_FDCWD, of[0], MAKE_NODE, (mode_t)of[1]);
	case SYS_unlink:
		return act_entry(act, AT_FDCWD, of[0], REMOVE_FILE, 0);
	case SYS_rmdir:
		return act_entry(act, AT_FDCWD, of[0], REMOVE_FOLDER, 0);
	case SYS_symlink:
		return act_symlink(act, of[0], AT_FDCWD, of[1]);
	case SYS_rename:
		return act_rename(act, AT_FDCWD, of[0], AT_FDCWD, of[1], 0);
	case SYS_link:
		return act_link(act, AT_FDCWD, of[0], AT_FDCWD, of[1], 0);
	case SYS_chmod:
		return act_mode(act, AT_FDCWD, of[0], (mode_t)of[1]);
#endif
	default:
		return CONTINUE; /* a call that only reports ask about */
	}
}

static struct perform_answer act_call(const struct act *act, int number)
{
	const uint64_t *of = act->arguments;

	switch (number) {
	case SYS_openat:
		return act_open(act, (int)of[0], of[1], (int)of[2], (mode_t)of[3]);
	case SYS_mkdirat:
		return act_entry(act, (int)of[0], of[1], MAKE_FOLDER, (mode_t)of[2]);
	case SYS_mknodat:
		return act_entry(act, (int)of[0], of[1], MAKE_NODE, (mode_t)of[2]);
	case SYS_unlinkat:
		return act_entry(act, (int)of[0], of[1],
				 of[2] & AT_REMOVEDIR ? REMOVE_FOLDER : REMOVE_FILE, 0);
	case SYS_symlinkat:
		return act_symlink(act, of[0], (int)of[1], of[2]);
	case SYS_renameat:
		return act_rename(act, (int)of[0], of[1], (int)of[2], of[3], 0);
	case SYS_renameat2:
		return act_rename(act, (int)of[0], of[1], (int)of[2], of[3], (unsigned int)of[4]);
	case SYS_linkat:
		return act_link(act, (int)of[0], of[1], (int)of[2], of[3], (int)of[4]);
	case SYS_fchmodat:
		return act_mode(act, (int)of[0], of[1], (mode_t)of[2]);
	case SYS_fchmod:
		return act_descriptor_mode(act);
	case SYS_utimensat:
		return act_times(act);
	case SYS_truncate:
		return act_truncate(act);
	default:
		return act_old_call(act, number);
	}
}

struct perform_answer perform_bind_path(const struct perform_context *performer,
					const struct perform_caller *caller, int socket,
					const char *path)
{
	const struct act act = { .performer = performer, .caller = *caller };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char text[PATH_MAX];
	AUTO_ENTRY entry;
	mode_t mask;
	int result;

	entry.folder = -1;
	if (perform_locate(caller, AT_FDCWD, path, text) || find_entry(text, &entry) ||
	    !is_open(&act, &entry) || is_granted(&act, &entry) ||
	    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", entry.folder,
		     entry.name) >= (int)sizeof address.sun_path)
		return CONTINUE;
	mask = umask(caller->umask);
	result = bind(socket, (struct sockaddr *)&address, sizeof address);
	umask(mask);
	return result_of(result);
}

struct perform_answer perform_path(const struct perform_context *performer,
				   const struct seccomp_notif *call, bool in_helper)
{
	struct act act = { .performer = performer,
			   .arguments = (const uint64_t *)call->data.args,
			   .in_helper = in_helper };
	int why = perform_find_caller((pid_t)call->pid, &act.caller);
	mode_t mask;
	struct perform_answer answer;

	if (why)
		return PERFORM_ERRNO(why);
	mask = umask(0); /* the caller's own is applied */
	answer = act_call(&act, call->data.nr);
	umask(mask);
	return answer;
}
