/* Copies of folder trees: see tree_copy.h. */
#include "draft/tree_copy.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { STEP = 16 << 20, ROOM = 1 << 16, ATTRIBUTES = 1 << 16, PATH_BYTES = 1 << 17 };

#define USER_ATTRIBUTE  "user."
#define LAYER_ATTRIBUTE "trusted.overlay." /* root's marks; those of others are user attributes */

/* The first copy of a file that has several names. */
struct linked {
	dev_t device;
	ino_t inode;
	char *path;
};

struct copying {
	struct tree_copy *copy;
	struct buffer path; /* of the current entry */
	struct linked *linked;
	size_t linked_count, linked_room; /* a hash table; the room is a power of two */
	bool shares;
	dev_t unshared; /* a device whose files cannot be shared */
	struct error *err;
};

/* An entry of the tree. */
struct item {
	int from, to; /* the folders that contain it; `to` is -1 while measuring */
	const char *name;
	struct stat status;
	int depth;
};

typedef int item_fn(struct copying *at, const struct item *item);

static int fail(struct copying *at, const char *what)
{
	return error_sys(at->err, "%s '%s'", what, buffer_text(&at->path));
}

/* ---- walking ---- */

static bool is_omitted(const struct tree_copy *copy, const struct stat *status)
{
	return S_ISDIR(status->st_mode) && status->st_dev == copy->omitted_device &&
	       status->st_ino == copy->omitted_inode;
}

/* Uses an entry, if it still exists. */
static int use_entry(struct copying *at, struct item *item, item_fn *use)
{
	size_t used = at->path.used;
	int result;

	if (fstatat(item->from, item->name, &item->status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    is_omitted(at->copy, &item->status))
		return 0;
	buffer_printf(&at->path, "%s%s", used ? "/" : "", item->name);
	result = use(at, item);
	at->path.used = used;
	return result;
}

/* Uses all entries of a folder. Takes ownership of `from`. */
static int each_entry(struct copying *at, int from, int to, int depth, item_fn *use)
{
	DIR *dir = fdopendir(from);
	int result = 0;

	if (!dir) {
		close(from);
		return fail(at, "read the folder");
	}
	for (struct dirent *entry; result == 0 && (entry = readdir(dir));) {
		struct item item = {
			.from = from, .to = to, .name = entry->d_name, .depth = depth
		};

		if (strcmp(item.name, ".") != 0 && strcmp(item.name, "..") != 0)
			result = use_entry(at, &item, use);
	}
	closedir(dir);
	return result;
}

static int open_source(const struct item *item, int flags)
{
	return openat(item->from, item->name,
		      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
}

/* ---- measuring ---- */

static int measure_item(struct copying *at, const struct item *item)
{
	int folder;

	if (S_ISREG(item->status.st_mode))
		at->copy->all_bytes += (uint64_t)item->status.st_blocks * 512;
	if (!S_ISDIR(item->status.st_mode))
		return 0;
	if (item->depth == TREE_COPY_DEEPEST)
		return error_with(at->err, ERROR_REFUSED,
				  "'%s' is deeper than %d folders, and cannot be copied",
				  buffer_text(&at->path), TREE_COPY_DEEPEST);
	folder = open_source(item, O_DIRECTORY);
	return folder < 0 ? 0 : each_entry(at, folder, -1, item->depth + 1, measure_item);
}

/* Returns whether this file system can share contents. */
static bool can_share(int folder)
{
	AUTO_FD one = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	AUTO_FD other = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return one >= 0 && other >= 0 && ioctl(other, FICLONE, one) == 0;
}

static bool will_share(const struct tree_copy *copy)
{
	struct stat from, to;

	return fstat(copy->from, &from) == 0 && fstat(copy->to, &to) == 0 &&
	       from.st_dev == to.st_dev && can_share(copy->to);
}

static int walk(struct copying *at, int to, item_fn *use)
{
	int from = openat(at->copy->from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result;

	if (from < 0)
		return error_sys(at->err, "read the folder to copy");
	at->path = (struct buffer)BUFFER_INIT(PATH_BYTES);
	result = each_entry(at, from, to, 0, use);
	buffer_release(&at->path);
	return result;
}

int tree_copy_measure(struct tree_copy *copy, struct error *err)
{
	struct copying at = { .copy = copy, .err = err };

	copy->all_bytes = 0;
	if (walk(&at, -1, measure_item) < 0)
		return -1;
	if (will_share(copy))
		copy->all_bytes = 0;
	return 0;
}

/* ---- contents ---- */

static void advance(struct copying *at, uint64_t bytes)
{
	struct tree_copy *copy = at->copy;

	copy->done_bytes += bytes;
	if (copy->progress)
		copy->progress(copy->progress_context, copy->done_bytes, copy->all_bytes);
}

static ssize_t copy_step(int from, int to, off_t *at, size_t size)
{
	char room[ROOM];
	off_t there = *at;
	ssize_t n = copy_file_range(from, at, to, &there, size, 0);

	if (n >= 0 || errno == ENOSPC || errno == EDQUOT || errno == EIO)
		return n;
	/* The file systems cannot do it, or not between them. */
	n = pread(from, room, size < sizeof room ? size : sizeof room, *at);
	for (ssize_t done = 0; done < n;) {
		ssize_t written = pwrite(to, room + done, (size_t)(n - done), *at + done);

		if (written < 0)
			return -1;
		done += written;
	}
	*at += n > 0 ? n : 0;
	return n;
}

static int copy_range(struct copying *at, int from, int to, off_t begin, off_t end)
{
	while (begin < end) {
		off_t left = end - begin;
		ssize_t n = copy_step(from, to, &begin, left < STEP ? (size_t)left : STEP);

		if (n < 0)
			return fail(at, "copy");
		if (n == 0) /* the file became shorter */
			break;
		advance(at, (uint64_t)n);
	}
	return 0;
}

/* Copies the parts that are not holes, and sets the size. */
static int copy_parts(struct copying *at, int from, int to, off_t size)
{
	off_t end = 0;

	while (end < size) {
		off_t begin = lseek(from, end, SEEK_DATA);

		if (begin < 0 && errno == ENXIO)
			break;
		if (begin < 0) /* the file system knows no holes */
			begin = end;
		end = lseek(from, begin, SEEK_HOLE);
		if (end < 0)
			end = size;
		if (copy_range(at, from, to, begin, end < size ? end : size) < 0)
			return -1;
	}
	return ftruncate(to, size) < 0 ? fail(at, "copy") : 0;
}

static bool share(struct copying *at, const struct item *item, int from, int to)
{
	if (!at->shares || item->status.st_dev == at->unshared)
		return false;
	if (ioctl(to, FICLONE, from) == 0)
		return true;
	at->unshared = item->status.st_dev;
	return false;
}

static int copy_content(struct copying *at, const struct item *item, int from, int to)
{
	off_t size = item->status.st_size;

	if (size == 0 || share(at, item, from, to))
		return 0;
	if ((uint64_t)item->status.st_blocks * 512 < (uint64_t)size)
		return copy_parts(at, from, to, size);
	return copy_range(at, from, to, 0, size);
}

/* ---- attributes ---- */

static bool is_copied(const struct tree_copy *copy, const char *attribute)
{
	return strncmp(attribute, USER_ATTRIBUTE, strlen(USER_ATTRIBUTE)) == 0 ||
	       (copy->layer && strncmp(attribute, LAYER_ATTRIBUTE, strlen(LAYER_ATTRIBUTE)) == 0);
}

/* Attributes that cannot be copied are left out, as cp does. */
static void copy_attributes(const struct tree_copy *copy, int from, int to)
{
	char names[ATTRIBUTES];
	char value[ATTRIBUTES];
	ssize_t size = flistxattr(from, names, sizeof names);

	for (ssize_t i = 0; i < size; i += (ssize_t)strlen(names + i) + 1) {
		const char *name = names + i;
		ssize_t n = is_copied(copy, name) ? fgetxattr(from, name, value, sizeof value) : -1;

		if (n >= 0)
			fsetxattr(to, name, value, (size_t)n, 0);
	}
}

static int set_stat(struct copying *at, int fd, const struct stat *status)
{
	const struct timespec times[2] = { status->st_atim, status->st_mtim };

	if (fchmod(fd, status->st_mode & 07777) < 0 || futimens(fd, times) < 0)
		return fail(at, "set the mode and times of the copy of");
	return 0;
}

/* ---- hard links ---- */

static struct linked *find_linked(struct copying *at, const struct stat *status)
{
	size_t place = (status->st_ino * 31 + status->st_dev) & (at->linked_room - 1);

	while (at->linked[place].path && (at->linked[place].device != status->st_dev ||
					  at->linked[place].inode != status->st_ino))
		place = (place + 1) & (at->linked_room - 1);
	return &at->linked[place];
}

static void grow_linked(struct copying *at)
{
	struct copying bigger = { .linked_room = at->linked_room ? at->linked_room * 2 : 64 };

	if (at->linked_count * 2 < at->linked_room)
		return;
	bigger.linked = mem_zero(bigger.linked_room * sizeof *bigger.linked);
	for (size_t i = 0; i < at->linked_room; i++) {
		const struct linked *old = &at->linked[i];
		const struct stat status = { .st_dev = old->device, .st_ino = old->inode };

		if (old->path)
			*find_linked(&bigger, &status) = *old;
	}
	free(at->linked);
	at->linked = bigger.linked;
	at->linked_room = bigger.linked_room;
}

/* Makes a name of a file that is already copied. Returns false if it is not, or cannot be linked.
 */
static bool link_item(struct copying *at, const struct item *item)
{
	struct linked *known;

	if (item->status.st_nlink < 2)
		return false;
	grow_linked(at);
	known = find_linked(at, &item->status);
	if (known->path)
		return linkat(at->copy->to, known->path, item->to, item->name, 0) == 0;
	*known = (struct linked){ item->status.st_dev, item->status.st_ino,
				  mem_dup(buffer_text(&at->path)) };
	at->linked_count++;
	return false;
}

/* ---- entries ---- */

static bool is_emptied(struct copying *at, const struct item *item)
{
	const struct tree_copy *copy = at->copy;

	return copy->empties && copy->empties(copy->empties_context, buffer_text(&at->path),
					      S_ISDIR(item->status.st_mode));
}

/* Remembers a copy that has no content. */
static int add_emptied(struct copying *at, int fd)
{
	struct tree_copy *copy = at->copy;
	struct stat status;

	if (fstat(fd, &status) < 0)
		return fail(at, "examine the copy of");
	copy->emptied = mem_extend(copy->emptied, copy->emptied_count, sizeof *copy->emptied);
	copy->emptied[copy->emptied_count++] = status.st_ino;
	return 0;
}

/* Creates an empty file or folder. */
static int copy_emptied(struct copying *at, const struct item *item)
{
	bool is_folder = S_ISDIR(item->status.st_mode);
	AUTO_FD to = -1;

	if (!is_folder || mkdirat(item->to, item->name, 0700) == 0)
		to = openat(item->to, item->name,
			    O_NOFOLLOW | O_CLOEXEC |
				    (is_folder ? O_RDONLY | O_DIRECTORY
					       : O_WRONLY | O_CREAT | O_EXCL),
			    0600);
	if (to < 0)
		return fail(at, "create a copy of");
	return add_emptied(at, to) < 0 ? -1 : set_stat(at, to, &item->status);
}

static int copy_unreadable(struct copying *at, const struct item *item)
{
	if (errno == ENOENT)
		return 0;
	at->copy->left_out++;
	return copy_emptied(at, item);
}

static int copy_file(struct copying *at, const struct item *item)
{
	AUTO_FD from = -1;
	AUTO_FD to = -1;

	if (link_item(at, item))
		return 0;
	from = open_source(item, 0);
	if (from < 0)
		return copy_unreadable(at, item);
	to = openat(item->to, item->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (to < 0)
		return fail(at, "create a copy of");
	if (copy_content(at, item, from, to) < 0)
		return -1;
	copy_attributes(at->copy, from, to);
	return set_stat(at, to, &item->status);
}

static int copy_item(struct copying *at, const struct item *item);

static int copy_folder(struct copying *at, const struct item *item)
{
	int from = open_source(item, O_DIRECTORY);
	AUTO_FD to = -1;

	if (from < 0)
		return copy_unreadable(at, item);
	if (mkdirat(item->to, item->name, 0700) == 0)
		to = openat(item->to, item->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (to < 0) {
		fd_close(&from);
		return fail(at, "create a copy of");
	}
	copy_attributes(at->copy, from, to);
	if (each_entry(at, from, to, item->depth + 1, copy_item) < 0)
		return -1;
	return set_stat(at, to, &item->status);
}

static int set_times(struct copying *at, const struct item *item)
{
	const struct timespec times[2] = { item->status.st_atim, item->status.st_mtim };

	return utimensat(item->to, item->name, times, AT_SYMLINK_NOFOLLOW) < 0
		       ? fail(at, "set the times of the copy of")
		       : 0;
}

static int copy_symlink(struct copying *at, const struct item *item)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(item->from, item->name, target, sizeof target - 1);

	if (n < 0)
		return 0;
	target[n] = '\0';
	if (symlinkat(target, item->to, item->name) < 0)
		return fail(at, "create a copy of");
	return set_times(at, item);
}

/* Copies a named pipe or a socket, which has no content. */
static int copy_special(struct copying *at, const struct item *item)
{
	if (mknodat(item->to, item->name, item->status.st_mode, 0) < 0 ||
	    fchmodat(item->to, item->name, item->status.st_mode & 07777, 0) < 0)
		return fail(at, "create a copy of");
	return set_times(at, item);
}

/* Copies a mark of overlayfs for a deleted file, which anybody may make. */
static int copy_mark(struct copying *at, const struct item *item)
{
	return mknodat(item->to, item->name, item->status.st_mode, 0) < 0
		       ? fail(at, "create a copy of")
		       : 0;
}

static bool is_mark(const struct copying *at, const struct item *item)
{
	return at->copy->layer && S_ISCHR(item->status.st_mode) && item->status.st_rdev == 0;
}

static int copy_item(struct copying *at, const struct item *item)
{
	switch (item->status.st_mode & S_IFMT) {
	case S_IFREG:
		return is_emptied(at, item) ? copy_emptied(at, item) : copy_file(at, item);
	case S_IFDIR:
		return is_emptied(at, item) ? copy_emptied(at, item) : copy_folder(at, item);
	case S_IFLNK:
		return copy_symlink(at, item);
	case S_IFIFO:
	case S_IFSOCK:
		return copy_special(at, item);
	default:
		if (is_mark(at, item))
			return copy_mark(at, item);
		at->copy->left_out++;
		return 0;
	}
}

static void release_linked(struct copying *at)
{
	for (size_t i = 0; i < at->linked_room; i++)
		free(at->linked[i].path);
	free(at->linked);
}

int tree_copy_run(struct tree_copy *copy, struct error *err)
{
	struct copying at = { .copy = copy, .shares = can_share(copy->to), .err = err };
	struct stat status;
	int result;

	copy->done_bytes = 0;
	copy->left_out = 0;
	result = walk(&at, copy->to, copy_item);
	release_linked(&at);
	if (result < 0)
		return -1;
	if (fstat(copy->from, &status) < 0)
		return error_sys(err, "examine the copied folder");
	copy_attributes(copy, copy->from, copy->to);
	at.path = (struct buffer)BUFFER_INIT(PATH_BYTES);
	result = set_stat(&at, copy->to, &status);
	buffer_release(&at.path);
	return result;
}

int tree_copy_entry(int from, const char *name, int to, uint64_t *left_out, struct error *err)
{
	struct tree_copy copy = { .from = from, .to = to };
	struct copying at = {
		.copy = &copy, .path = BUFFER_INIT(PATH_BYTES), .shares = true, .err = err
	};
	struct item item = { .from = from, .to = to, .name = name };
	int result = use_entry(&at, &item, copy_item);

	release_linked(&at);
	buffer_release(&at.path);
	free(copy.emptied);
	if (left_out)
		*left_out += copy.left_out;
	return result;
}
