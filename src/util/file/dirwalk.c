/* Folder walks: see dirwalk.h. Calls getdents64 directly: one call returns the names and types of
 * many entries. */
#include "util/file/dirwalk.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_PATH = 1 << 20, MOST_NAMES = 1 << 30 };

/* A folder on the path to the current position. Only the deepest ones are open; ".." reopens the
 * others. */
struct level {
	int fd;
	const char *name;     /* within the parent folder */
	struct buffer inside; /* NUL-terminated names of subfolders to enter */
	size_t next;          /* offset of the next name */
	size_t path;          /* length of the parent folder's path */
	size_t from, to;      /* the wanted paths below this folder, in walk->only */
};

struct walker {
	const struct dirwalk *walk;
	struct error *err;
	struct buffer path;
	struct level *levels;
	struct dirwalk_folder *above; /* one entry per level */
	size_t count, room;
	bool *changed;     /* may be NULL */
	char chunk[65536]; /* shared by all levels: each folder is read to its end before the
			    * next is entered */
};

struct linux_dirent {
	uint64_t inode;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

static unsigned char find_type(int folder, const char *name)
{
	struct stat status;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return (unsigned char)IFTODT(status.st_mode);
}

int dirwalk_has_entries(const char *folder)
{
	DIR *dir = opendir(folder);
	int count = 0;

	if (!dir)
		return -1;
	while (count < 3 && readdir(dir))
		count++;
	closedir(dir);
	return count == 3; /* more than "." and ".." */
}

int dirwalk_look(int fd, struct dirwalk_folder *ret_folder)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -1;
	*ret_folder = (struct dirwalk_folder){ status.st_dev, status.st_ino, status.st_ctim };
	return 0;
}

bool dirwalk_same(const struct dirwalk_folder *a, const struct dirwalk_folder *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Appends a name to the path. Returns the previous length. */
static size_t path_down(struct walker *walker, const char *name)
{
	size_t used = walker->path.used;

	if (walker->walk->no_paths)
		return used;
	if (used)
		buffer_add(&walker->path, "/", 1);
	buffer_add_text(&walker->path, name);
	return used;
}

static enum dirwalk_verdict call(struct walker *walker, dirwalk_fn *function, size_t depth,
				 const char *name, unsigned char type, bool closed)
{
	const struct dirwalk_entry entry = {
		.folder = walker->levels[depth].fd,
		.name = name,
		.path = walker->walk->no_paths ? NULL : buffer_text(&walker->path),
		.type = type,
		.above = walker->above,
		.depth = (unsigned int)depth,
		.closed = closed,
	};

	return function(walker->walk->context, &entry);
}

/* Visits an entry of the deepest level. */
static enum dirwalk_verdict visit(struct walker *walker, const char *name, unsigned char type,
				  bool closed)
{
	size_t used = path_down(walker, name);
	enum dirwalk_verdict verdict = call(walker, walker->walk->visit, walker->count - 1, name,
					    type, closed);

	walker->path.used = used;
	return verdict;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static int visit_chunk(struct walker *walker, struct level *level, long size)
{
	for (long at = 0; at < size;) {
		const struct linux_dirent *entry =
			(const struct linux_dirent *)(walker->chunk + at);
		unsigned char type = entry->type;
		enum dirwalk_verdict verdict;

		at += entry->size;
		if (is_dots(entry->name))
			continue;
		if (type == DT_UNKNOWN)
			type = find_type(level->fd, entry->name);
		verdict = visit(walker, entry->name, type, false);
		if (verdict == DIRWALK_STOP)
			return -1;
		if (verdict == DIRWALK_ON && type == DT_DIR)
			buffer_add(&level->inside, entry->name, strlen(entry->name) + 1);
	}
	return 0;
}

/* ---- walks of some entries ---- */

/* A slash comes before all other characters, so that everything below a folder is together. */
static int rank(char c)
{
	return c == '\0' ? 0 : c == '/' ? 1 : 2 + (unsigned char)c;
}

static int by_path(const void *a, const void *b)
{
	const char *left = *(char *const *)a;
	const char *right = *(char *const *)b;

	while (*left && *left == *right) {
		left++;
		right++;
	}
	return rank(*left) - rank(*right);
}

void dirwalk_sort(struct list *paths)
{
	size_t kept = 0;

	if (paths->count)
		qsort(paths->items, paths->count, sizeof *paths->items, by_path);
	for (size_t i = 0; i < paths->count; i++) {
		if (kept && strcmp(paths->items[kept - 1], paths->items[i]) == 0)
			free(paths->items[i]);
		else
			paths->items[kept++] = paths->items[i];
	}
	if (paths->items)
		paths->items[kept] = NULL;
	paths->count = kept;
}

/* Reports whether a path is below the folder with this path. */
static bool is_below(const char *path, const char *folder, size_t size)
{
	return !size || (strncmp(path, folder, size) == 0 && path[size] == '/');
}

/* Finds the wanted paths below the deepest level. */
static void find_wanted(struct walker *walker)
{
	const struct list *only = walker->walk->only;
	struct level *level = &walker->levels[walker->count - 1];
	bool is_root = walker->count == 1;
	size_t end = is_root ? only->count : level[-1].to;
	const char *path = buffer_text(&walker->path);

	level->from = is_root ? 0 : level[-1].from;
	while (!is_root && level->from < end && by_path(&only->items[level->from], &path) <= 0)
		level->from++;
	level->to = level->from;
	while (level->to < end && is_below(only->items[level->to], path, walker->path.used))
		level->to++;
	if (!is_root) /* its folders are entered in the order of their paths */
		level[-1].from = level->to;
}

/* Visits the wanted entries of the deepest level and queues its subfolders. */
static int visit_wanted(struct walker *walker)
{
	const struct list *only = walker->walk->only;
	struct level *level = &walker->levels[walker->count - 1];
	size_t skip = walker->path.used + (walker->path.used > 0);
	size_t next;

	for (size_t i = level->from; i < level->to; i = next) {
		size_t size = strcspn(only->items[i] + skip, "/");
		AUTO_FREE char *name = strndup(only->items[i] + skip, size);
		unsigned char type = find_type(level->fd, name);
		enum dirwalk_verdict verdict;

		for (next = i + 1; next < level->to &&
				   strncmp(only->items[next], only->items[i], skip + size) == 0 &&
				   only->items[next][skip + size] == '/';)
			next++;
		if (type == DT_UNKNOWN)
			continue;
		verdict = visit(walker, name, type, false);
		if (verdict == DIRWALK_STOP)
			return -1;
		if (verdict == DIRWALK_ON && type == DT_DIR)
			buffer_add(&level->inside, name, size + 1);
	}
	return 0;
}

/* Visits the entries of the deepest level and queues its subfolders. */
static int read_level(struct walker *walker)
{
	struct level *level = &walker->levels[walker->count - 1];

	if (walker->walk->only) {
		find_wanted(walker);
		return visit_wanted(walker);
	}
	for (;;) {
		long n = syscall(SYS_getdents64, level->fd, walker->chunk, sizeof walker->chunk);

		if (n == 0 || (n < 0 && errno == ENOENT))
			return 0;
		if (n < 0)
			return error_sys(walker->err, "read the folder '%s'",
					 buffer_text(&walker->path));
		if (visit_chunk(walker, level, n) < 0)
			return -1;
	}
}

static void make_room(struct walker *walker)
{
	if (walker->count < walker->room)
		return;
	walker->room = walker->room ? 2 * walker->room : 32;
	walker->levels = mem_resize(walker->levels, walker->room, sizeof *walker->levels);
	walker->above = mem_resize(walker->above, walker->room, sizeof *walker->above);
}

/* Enters a folder. Takes ownership of fd. */
static int enter(struct walker *walker, int fd, const char *name)
{
	size_t depth = walker->count;

	make_room(walker);
	walker->levels[depth] = (struct level){
		.fd = fd, .name = name, .inside = BUFFER_INIT(MOST_NAMES), .path = walker->path.used
	};
	walker->count++;
	if (depth) {
		walker->levels[depth].path = path_down(walker, name);
		if (depth >= DIRWALK_OPEN)
			fd_close(&walker->levels[depth - DIRWALK_OPEN].fd);
	}
	if (dirwalk_look(fd, &walker->above[depth]) < 0)
		return error_sys(walker->err, "stat the folder '%s'", buffer_text(&walker->path));
	return read_level(walker);
}

/* Returns a descriptor, or -1 with errno; EACCES also if the entries can be listed but not
 * reached. */
static int open_folder(const struct walker *walker, int folder, const char *name)
{
	AUTO_FD fd = -1;

	errno = ENAMETOOLONG;
	if (walker->count <= walker->walk->deepest)
		fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && faccessat(fd, ".", F_OK, AT_EACCESS) < 0)
		return -1;
	return fd_steal(&fd);
}

static int go_down(struct walker *walker, struct level *level)
{
	const char *name = level->inside.data + level->next;
	int fd = open_folder(walker, level->fd, name);

	level->next += strlen(name) + 1;
	if (fd >= 0)
		return enter(walker, fd, name);
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return 0;
	if (errno != EACCES && errno != EPERM && errno != ENAMETOOLONG)
		return error_sys(walker->err, "open the folder '%s' in '%s'", name,
				 buffer_text(&walker->path));
	return visit(walker, name, DT_DIR, true) == DIRWALK_STOP ? -1 : 0;
}

/* Reopens a level through ".." of the one below it. If that folder was moved, ".." leads
 * elsewhere. */
static int open_again(struct walker *walker, size_t depth, int below)
{
	AUTO_FD fd = openat(below, "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirwalk_folder now;

	if (fd < 0 || dirwalk_look(fd, &now) < 0)
		return error_sys(walker->err, "return to the parent folder");
	if (now.device != walker->above[depth].device || now.inode != walker->above[depth].inode)
		return error_set(walker->err, "a folder was moved during the walk");
	walker->levels[depth].fd = fd_steal(&fd);
	return 0;
}

static void release_level(struct level *level)
{
	buffer_release(&level->inside);
	fd_close(&level->fd);
}

static void note_change(struct walker *walker, const struct level *level, size_t depth)
{
	struct dirwalk_folder now;

	if (walker->changed &&
	    (dirwalk_look(level->fd, &now) < 0 || !dirwalk_same(&walker->above[depth], &now)))
		*walker->changed = true;
}

static int go_up(struct walker *walker)
{
	size_t depth = --walker->count;
	struct level *level = &walker->levels[depth];
	int result = 0;

	note_change(walker, level, depth);
	if (depth && walker->levels[depth - 1].fd < 0)
		result = open_again(walker, depth - 1, level->fd);
	if (depth && result == 0 && walker->walk->leave &&
	    call(walker, walker->walk->leave, depth - 1, level->name, DT_DIR, false) ==
		    DIRWALK_STOP)
		result = -1;
	walker->path.used = level->path;
	release_level(level);
	return result;
}

static void walker_free(struct walker *walker)
{
	while (walker->count)
		release_level(&walker->levels[--walker->count]);
	buffer_release(&walker->path);
	free(walker->levels);
	free(walker->above);
	free(walker);
}

int dirwalk_tree(const struct dirwalk *walk, int root, bool *ret_changed, struct error *err)
{
	int fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct walker *walker;
	int result;

	if (fd < 0)
		return error_sys(err, "open the folder");
	walker = mem_alloc(sizeof *walker); /* not zeroed: the chunk is large */
	walker->walk = walk;
	walker->err = err;
	walker->path = BUFFER_INIT(MOST_PATH);
	walker->levels = NULL;
	walker->above = NULL;
	walker->count = walker->room = 0;
	walker->changed = ret_changed;
	if (ret_changed)
		*ret_changed = false;
	result = enter(walker, fd, "");
	while (result == 0 && walker->count) {
		struct level *level = &walker->levels[walker->count - 1];

		result = level->next < level->inside.used ? go_down(walker, level) : go_up(walker);
	}
	walker_free(walker);
	return result;
}

/* --- removal */

/* Gives the owner access to a folder. Opened with O_PATH, because a symlink could replace it. */
static void open_up(int folder, const char *name)
{
	AUTO_FD fd = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	char link[32];

	if (fd < 0 || fstat(fd, &status) < 0 || (status.st_mode & 0700) == 0700)
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	chmod(link, 0700);
}

static void add_bytes(int folder, const char *name, uint64_t *bytes)
{
	struct stat status;

	if (bytes && fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		*bytes += (uint64_t)status.st_blocks * 512;
}

static enum dirwalk_verdict remove_entry(void *context, const struct dirwalk_entry *entry)
{
	if (entry->closed)
		return DIRWALK_PAST;
	add_bytes(entry->folder, entry->name, context);
	if (entry->type == DT_DIR)
		open_up(entry->folder, entry->name);
	else
		unlinkat(entry->folder, entry->name, 0);
	return DIRWALK_ON;
}

static enum dirwalk_verdict remove_folder(void *context, const struct dirwalk_entry *entry)
{
	(void)context;
	unlinkat(entry->folder, entry->name, AT_REMOVEDIR);
	return DIRWALK_ON;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the walk's callback adds to bytes */
int dirwalk_remove(int folder, const char *name, uint64_t *bytes)
{
	const struct dirwalk walk = { .visit = remove_entry,
				      .leave = remove_folder,
				      .context = bytes,
				      .deepest = DIRWALK_ANY_DEPTH,
				      .no_paths = true };
	AUTO_FD root = -1;
	struct error ignored;

	if (find_type(folder, name) != DT_DIR)
		return unlinkat(folder, name, 0);
	open_up(folder, name);
	root = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (root < 0)
		return -1;
	dirwalk_tree(&walk, root, NULL, &ignored); /* anything left over makes the next call fail */
	return unlinkat(folder, name, AT_REMOVEDIR);
}
