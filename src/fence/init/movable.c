/* Movable folders: see movable.h. */
#include "fence/init/movable.h"

#include "fence/run/wire.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/list.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/stat.h> /* struct statx, which musl lacks */

#define PLACE  WIRE_MOVABLE_PLACE
#define NEW    "new"
#define NOTE   "note"
#define LOCKED "locked"
#define KEEP   "keep" /* the place is never empty: see is_movable() */

/* Larger folders are left to the caller, which copies them. Most of the time is for copying files
 * to the upper layer, each of which overlayfs syncs. */
enum { MOST_ENTRIES = 20000, MOST_DEPTH = 64, MOST_MS = 60000, MOST_ROUNDS = 100 };
static const uint64_t MOST_BYTES = 1ULL << 30;

/* A folder before anything was copied. */
struct seen {
	ino_t inode;
	struct timespec changed;
};

struct work {
	int project;
	int place; /* PROJECT/PLACE */
	uint64_t mount;
	uint64_t entries, bytes;
	uint64_t deadline_ms;
	unsigned int copiers, turn; /* they take turns; this one's */
	struct seen *seen;
	size_t seen_count;
};

/* A folder that is being replaced, as its note describes it. */
struct note {
	mode_t mode;
	struct timespec changed;
	char path[PATH_MAX];
};

static int fail(int error)
{
	errno = error;
	return -1;
}

static int find_mount(int fd, uint64_t *ret_mount)
{
	struct statx status;

	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0)
		return -1;
	*ret_mount = status.stx_mnt_id;
	return 0;
}

/* Opens a folder that is not a symlink and not a mount. Returns a descriptor, or -1 with errno. */
static int open_folder(const struct work *work, int folder, const char *name)
{
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return fail(EINVAL);

	AUTO_FD fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	uint64_t mount;

	if (fd < 0 || find_mount(fd, &mount) < 0)
		return -1;
	return mount == work->mount ? fd_steal(&fd) : fail(EBUSY);
}

/* Opens the folder that contains `path`, step by step. *ret_name points into the path. */
static int open_above(const struct work *work, const char *path, const char **ret_name)
{
	AUTO_FREE char *way = mem_dup(path);
	AUTO_FD folder = openat(work->project, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *name = way;

	for (char *end; folder >= 0 && (end = strchr(name, '/')); name = end + 1) {
		*end = '\0';

		int next = open_folder(work, folder, name);

		close(folder);
		folder = next;
	}
	*ret_name = path + (name - way);
	return fd_steal(&folder);
}

/* Lists the names in a folder. Returns 0, or -1 with errno. */
static int list_names(int folder, struct list *ret_names)
{
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = copy < 0 ? NULL : fdopendir(copy); /* owns the descriptor */
	int error;

	if (!stream) {
		fd_close(&copy);
		return -1;
	}
	for (struct dirent *entry; errno = 0, (entry = readdir(stream));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			list_add(ret_names, entry->d_name);
	error = errno;
	closedir(stream);
	return error ? fail(error) : 0;
}

typedef int entry_fn(struct work *work, int folder, const char *name, int argument);

/* Calls a function for each entry of a folder, as far as it returns 0. Entries that vanish
 * meanwhile do not matter. Returns 0, or -1 with errno. */
static int each_entry(struct work *work, int folder, entry_fn *act, int argument)
{
	struct list names = { 0 };
	int result = list_names(folder, &names);

	for (size_t i = 0; i < names.count && result == 0; i++) {
		result = act(work, folder, names.items[i], argument);
		if (result < 0 && errno == ENOENT)
			result = 0;
	}

	int error = errno;

	list_release(&names);
	errno = error;
	return result;
}

/* ---- before anything moves ---- */

static int judge(struct work *work, int folder, const char *name, int depth);

/* Judges the contents of a folder. It can be replaced by its owner, who must be able to read it. */
static int judge_folder(struct work *work, int folder, const char *name, int depth)
{
	AUTO_FD fd = depth > MOST_DEPTH ? fail(E2BIG) : open_folder(work, folder, name);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -1;
	if (status.st_uid != geteuid())
		return fail(EPERM);
	work->seen = mem_extend(work->seen, work->seen_count, sizeof *work->seen);
	work->seen[work->seen_count++] = (struct seen){ status.st_ino, status.st_mtim };
	return each_entry(work, fd, judge, depth + 1);
}

/* Refuses what cannot be moved, or takes too long. */
static int judge(struct work *work, int folder, const char *name, int depth)
{
	struct statx status;

	if (syscall(SYS_statx, folder, name, AT_SYMLINK_NOFOLLOW,
		    STATX_TYPE | STATX_SIZE | STATX_MNT_ID, &status) < 0)
		return -1;
	if (status.stx_mnt_id != work->mount)
		return fail(EBUSY);
	if (S_ISREG(status.stx_mode))
		work->bytes += status.stx_size;
	if (++work->entries > MOST_ENTRIES || work->bytes > MOST_BYTES)
		return fail(E2BIG);
	return S_ISDIR(status.stx_mode) ? judge_folder(work, folder, name, depth) : 0;
}

/* Has files copied to the upper layer, so that moving them later takes no time: sets their time of
 * access to what it is. Only the owner may do so; other files are copied when they move. */
static int copy_up(struct work *work, int folder, const char *name, int unused)
{
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (clock_steady_ms() > work->deadline_ms)
		return fail(ETIMEDOUT);
	if (S_ISDIR(status.st_mode)) {
		AUTO_FD fd = open_folder(work, folder, name);

		return fd < 0 ? -1 : each_entry(work, fd, copy_up, unused);
	}

	const struct timespec times[] = { status.st_atim, { .tv_nsec = UTIME_OMIT } };

	if (work->entries++ % work->copiers == work->turn)
		utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW);
	return 0;
}

static int copy_share(struct work *work, int folder, const char *name, unsigned int turn)
{
	work->turn = turn;
	work->entries = 0;
	return copy_up(work, folder, name, 0);
}

/* Overlayfs syncs each file, and the disk syncs several at once. */
static int copy_together(struct work *work, int folder, const char *name)
{
	pid_t copiers[MOVABLE_COPIERS] = { 0 };
	int result = 0;

	if (work->entries < work->copiers)
		work->copiers = 1;
	for (unsigned int turn = 1; turn < work->copiers; turn++) {
		copiers[turn] = fork();
		if (copiers[turn] == 0)
			_exit(copy_share(work, folder, name, turn) < 0);
	}
	for (unsigned int turn = 0; turn < work->copiers; turn++) {
		int status = 0;

		if (copiers[turn] > 0)
			waitpid(copiers[turn], &status, 0);
		else if (copy_share(work, folder, name, turn) < 0)
			result = -1;
		if (status)
			result = fail(ETIMEDOUT);
	}
	return result;
}

/* ---- moving ---- */

/* Reports whether overlayfs would rename a folder. The place is never empty, so nothing moves. A
 * folder that its owner may not write (EACCES) gives no answer. */
static bool is_movable(const struct work *work, int folder, const char *name)
{
	return renameat(folder, name, work->project, PLACE) < 0 && errno != EXDEV &&
	       errno != EACCES;
}

static int move_entry(struct work *work, int folder, const char *name, int to);

/* Somebody has made a folder of this name again while the first one was away: joins them. */
static int join_folders(struct work *work, int folder, const char *name, int to)
{
	AUTO_FD from_inner = open_folder(work, folder, name);
	AUTO_FD to_inner = from_inner < 0 ? -1 : open_folder(work, to, name);

	if (to_inner < 0 || each_entry(work, from_inner, move_entry, to_inner) < 0)
		return -1;
	return unlinkat(folder, name, AT_REMOVEDIR);
}

/* Moves a folder that its owner may not write, which the kernel refuses: makes it writable for that
 * time. A note of its own has its mode. */
static int move_locked(struct work *work, int folder, const char *name, int to)
{
	AUTO_FD fd = open_folder(work, folder, name);
	AUTO_FREE char *text = NULL;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -1;
	if (status.st_mode & S_IWUSR)
		return fail(EACCES);
	text = mem_format("%o %s", status.st_mode & 07777, name);
	if (symlinkat(text, work->place, LOCKED) < 0 ||
	    fchmod(fd, (status.st_mode & 07777) | S_IWUSR) < 0)
		return -1;

	int result = renameat(folder, name, to, name);
	int error = errno;

	if (fchmod(fd, status.st_mode & 07777) < 0 || unlinkat(work->place, LOCKED, 0) < 0)
		return -1;
	errno = error;
	return result;
}

/* Restores the mode of a folder that was being moved from one of two folders to the other. */
static int lock_again(const struct work *work, int one, int other)
{
	char text[PATH_MAX];
	ssize_t size = readlinkat(work->place, LOCKED, text, sizeof text - 1);
	char *name;

	if (size < 0)
		return errno == ENOENT ? 0 : -1;
	text[size] = '\0';

	mode_t mode = (mode_t)strtoul(text, &name, 8);
	AUTO_FD first = *name == ' ' ? open_folder(work, one, name + 1) : fail(EINVAL);
	AUTO_FD second = *name == ' ' ? open_folder(work, other, name + 1) : fail(EINVAL);

	if ((first >= 0 && fchmod(first, mode) < 0) || (second >= 0 && fchmod(second, mode) < 0))
		return -1;
	return unlinkat(work->place, LOCKED, 0);
}

static int move_entry(struct work *work, int folder, const char *name, int to)
{
	if (renameat(folder, name, to, name) == 0)
		return 0;
	if (errno == EACCES)
		return move_locked(work, folder, name, to);
	return errno == ENOTEMPTY || errno == EEXIST ? join_folders(work, folder, name, to) : -1;
}

static int copy_attribute(int from, int to, const char *name)
{
	enum { MOST_VALUE = 65536 };
	AUTO_FREE char *value = mem_zero(MOST_VALUE);
	ssize_t size = fgetxattr(from, name, value, MOST_VALUE);

	if (size < 0)
		return errno == ENODATA ? 0 : -1;
	return fsetxattr(to, name, value, (size_t)size, 0);
}

/* Copies a folder's attributes and access list. The kernel sets those of security modules
 * (security.*). */
static int copy_attributes(int from, int to)
{
	enum { MOST_NAMES = 65536 };
	AUTO_FREE char *names = mem_zero(MOST_NAMES);
	ssize_t size = flistxattr(from, names, MOST_NAMES);

	if (size < 0)
		return errno == ENOTSUP ? 0 : -1;
	for (const char *name = names; name < names + size; name += strlen(name) + 1)
		if (strncmp(name, "security.", 9) != 0 && copy_attribute(from, to, name) < 0)
			return -1;
	return 0;
}

static int set_status(int fd, const struct note *note)
{
	const struct timespec times[] = { { .tv_nsec = UTIME_OMIT }, note->changed };
	struct stat status;

	if (fstat(fd, &status) < 0 || futimens(fd, times) < 0)
		return -1;
	return (status.st_mode & 07777) == note->mode ? 0 : fchmod(fd, note->mode);
}

static int write_note(const struct work *work, const struct note *note)
{
	AUTO_FREE char *text = mem_format("%o %lld.%09ld %s", note->mode,
					  (long long)note->changed.tv_sec, note->changed.tv_nsec,
					  note->path);

	return symlinkat(text, work->place, NOTE);
}

static int read_note(const struct work *work, struct note *ret_note)
{
	char text[PATH_MAX];
	ssize_t size = readlinkat(work->place, NOTE, text, sizeof text - 1);
	char *at = text;

	if (size < 0)
		return -1;
	text[size] = '\0';
	ret_note->mode = (mode_t)strtoul(at, &at, 8);
	if (*at != ' ')
		return fail(EINVAL);
	ret_note->changed.tv_sec = strtoll(at, &at, 10);
	if (*at != '.')
		return fail(EINVAL);
	ret_note->changed.tv_nsec = strtol(at + 1, &at, 10);
	if (*at != ' ' || !at[1])
		return fail(EINVAL);
	snprintf(ret_note->path, sizeof ret_note->path, "%s", at + 1);
	return 0;
}

/* Moves everything to the new folder, which then replaces the old one; in rounds, because others
 * may add entries. */
static int replace(struct work *work, int folder, const char *name, int old, int new)
{
	for (int round = 0; round < MOST_ROUNDS; round++) {
		if (each_entry(work, old, move_entry, new) < 0)
			return -1;
		if (renameat(work->place, NEW, folder, name) == 0)
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return -1;
	}
	return -1;
}

/* Moves everything back. If even that fails, the note stays. */
static int undo(struct work *work, int old, int new, const struct note *note)
{
	int error = errno;

	if (each_entry(work, new, move_entry, old) == 0 && set_status(old, note) == 0 &&
	    unlinkat(work->place, NEW, AT_REMOVEDIR) == 0)
		unlinkat(work->place, NOTE, 0);
	return fail(error);
}

/* Gives the new folder what only its owner may give, and lets the owner move the entries. The
 * fence's filter refuses to set setuid and setgid bits: the new folder has them from its parent, or
 * never. */
static int fit(int old, int new, const struct note *note)
{
	const mode_t refused = S_ISUID | S_ISGID;
	struct stat was, is;

	if (fstat(old, &was) < 0 || fchown(new, (uid_t)-1, was.st_gid) < 0 || fstat(new, &is) < 0)
		return -1;
	if (note->mode & refused ? (is.st_mode & 07777) != note->mode
				 : fchmod(new, note->mode | 0700) < 0)
		return fail(EPERM);
	if ((was.st_mode & 0700) != 0700 && fchmod(old, note->mode | 0700) < 0)
		return -1;
	return copy_attributes(old, new);
}

/* Follows a note to its end. There is no new folder if it has replaced the old one. */
static int follow_note(struct work *work, int folder, const char *name, const struct note *note)
{
	AUTO_FD old = open_folder(work, folder, name);
	AUTO_FD new = old < 0 ? -1 : open_folder(work, work->place, NEW);

	if (old < 0 || (new < 0 && errno != ENOENT))
		return -1;
	if (new >= 0 && (lock_again(work, old, new) < 0 || fit(old, new, note) < 0 ||
			 replace(work, folder, name, old, new) < 0))
		return undo(work, old, new, note);
	if (set_status(new >= 0 ? new : old, note) < 0)
		return -1;
	return unlinkat(work->place, NOTE, 0);
}

static int convert(struct work *work, int folder, const char *name, const char *path);

/* Converts the folders in a folder. */
static int convert_inner(struct work *work, int fd, const char *path)
{
	struct list names = { 0 };
	int result = list_names(fd, &names);

	for (size_t i = 0; i < names.count && result == 0; i++) {
		AUTO_FREE char *inner = mem_format("%s/%s", path, names.items[i]);
		struct stat status;

		if (fstatat(fd, names.items[i], &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(status.st_mode) && !is_movable(work, fd, names.items[i]))
			result = convert(work, fd, names.items[i], inner);
	}

	int error = errno;

	list_release(&names);
	errno = error;
	return result;
}

/* Returns when a folder was changed. Each copy of a file changes its folder, and overlayfs sets the
 * time back to the one that it saw before; of two copies at once, that may be the wrong one. */
static struct timespec changed_of(const struct work *work, const struct stat *status)
{
	for (size_t i = 0; i < work->seen_count; i++)
		if (work->seen[i].inode == status->st_ino)
			return work->seen[i].changed;
	return status->st_mtim;
}

/* Replaces a folder, after those in it. */
static int convert(struct work *work, int folder, const char *name, const char *path)
{
	AUTO_FD fd = open_folder(work, folder, name);
	struct stat status;
	struct note note;

	if (fd < 0 || fstat(fd, &status) < 0 || convert_inner(work, fd, path) < 0)
		return -1;
	note = (struct note){ .mode = status.st_mode & 07777,
			      .changed = changed_of(work, &status) };
	if (snprintf(note.path, sizeof note.path, "%s", path) >= (int)sizeof note.path)
		return fail(ENAMETOOLONG);
	if (mkdirat(work->place, NEW, (note.mode & 0777) | 0700) < 0 || write_note(work, &note) < 0)
		return -1;
	return follow_note(work, folder, name, &note);
}

/* ---- the place ---- */

static int open_work(const char *project, struct work *ret_work)
{
	*ret_work = (struct work){ .project = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
				   .place = -1,
				   .deadline_ms = clock_steady_ms() + MOST_MS };
	return ret_work->project < 0 ? -1 : find_mount(ret_work->project, &ret_work->mount);
}

static int open_place(struct work *work)
{
	work->place = open_folder(work, work->project, PLACE);
	return work->place < 0 ? -1 : 0;
}

/* Removes the place if nothing in it is unfinished. */
static void close_work(struct work *work)
{
	int error = errno;

	if (work->place >= 0) {
		unlinkat(work->place, NEW, AT_REMOVEDIR);
		unlinkat(work->place, KEEP, AT_REMOVEDIR);
		unlinkat(work->project, PLACE, AT_REMOVEDIR);
	}
	fd_close(&work->place);
	fd_close(&work->project);
	free(work->seen);
	errno = error;
}

bool movable_interrupted(const char *project)
{
	AUTO_FREE char *place = mem_format("%s/" PLACE, project);
	struct stat status;

	return lstat(place, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Reports whether the folder of a note is gone, or never was one. */
static bool is_gone(const struct work *work, int folder, const char *name)
{
	AUTO_FD fd = folder < 0 ? -1 : open_folder(work, folder, name);

	return fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP ||
			  errno == EINVAL || errno == ENAMETOOLONG);
}

/* Finishes what the place holds. If the folder is gone, fails with ENOENT, and with `last` gives
 * up: the note is removed. */
static int finish(struct work *work, bool last)
{
	const char *name;
	struct note note;

	if (open_place(work) < 0 || read_note(work, &note) < 0) /* nothing moved, or not ours */
		return errno == ENOENT || errno == ENOTDIR || errno == EINVAL ? 0 : -1;

	AUTO_FD folder = open_above(work, note.path, &name);

	if (is_gone(work, folder, name))
		return last && unlinkat(work->place, NOTE, 0) < 0 ? -1 : fail(ENOENT);
	if (folder >= 0 && follow_note(work, folder, name, &note) == 0)
		return 0;
	/* If there is no note any more, it was undone. */
	return readlinkat(work->place, NOTE, note.path, sizeof note.path) < 0 ? 0 : -1;
}

int movable_finish(const char *project, bool last, struct error *err)
{
	struct work work;
	int result = open_work(project, &work) < 0 ? -1 : finish(&work, last);

	close_work(&work);
	if (result < 0 && errno == ENOENT)
		return error_set(err,
				 "finish the interrupted rename of a folder: it is gone, and what "
				 "was in it is in '" PLACE "/" NEW "' of the draft; move or remove "
				 "that with the next command");
	return result < 0
		       ? error_sys(err,
				   "finish the interrupted rename of a folder (see '%s/" PLACE "')",
				   project)
		       : 0;
}

static int make(struct work *work, const char *path)
{
	const char *name;
	AUTO_FD folder = open_above(work, path, &name);

	if (folder < 0 || mkdirat(work->project, PLACE, 0700) < 0 || open_place(work) < 0 ||
	    mkdirat(work->place, KEEP, 0700) < 0)
		return -1;
	if (faccessat(folder, ".", W_OK | X_OK, 0) < 0 || is_movable(work, folder, name))
		return 0;
	if (judge_folder(work, folder, name, 0) < 0 || copy_together(work, folder, name) < 0)
		return -1;
	return convert(work, folder, name, path);
}

int movable_make(const char *project, const char *path, unsigned int copiers, struct error *err)
{
	struct work work;
	int result = open_work(project, &work);

	umask(0); /* new folders have the modes of the old ones */
	work.copiers = copiers < MOVABLE_COPIERS ? copiers : MOVABLE_COPIERS;
	if (result == 0)
		result = make(&work, path);

	close_work(&work);
	return result < 0 ? error_sys(err, "make '%s' movable", path) : 0;
}
