/* Walking trees: see walk.h. getdents64 by hand: one call tells names and types, and no entry needs
 * a stat. */
#include "fence/plan/walk.h"

#include "util/buffer.h"
#include "util/fd.h"
#include "util/list.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct walk {
	walk_fn *visit;
	void *context;
	struct error *err;
	struct buffer path;
	bool changed;
	struct walk_folder above[WALK_DEPTH + 1];
	char chunk[65536]; /* shared by all levels: a folder is read to its end before its folders
			      are entered */
};

struct linux_dirent {
	uint64_t inode;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

static unsigned char find_type(int dir, const char *name)
{
	struct stat status;

	if (fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return (unsigned char)IFTODT(status.st_mode);
}

int walk_look(int fd, struct walk_folder *ret_folder)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return -1;
	*ret_folder = (struct walk_folder){ status.st_dev, status.st_ino, status.st_ctim };
	return 0;
}

bool walk_same(const struct walk_folder *a, const struct walk_folder *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static enum walk_verdict visit(struct walk *walk, int dir, unsigned int depth, const char *name,
			       unsigned char type, bool closed)
{
	size_t used = walk->path.used;

	if (used)
		buffer_add_text(&walk->path, "/");
	buffer_add_text(&walk->path, name);

	enum walk_verdict verdict = walk->visit(walk->context,
						&(struct walk_entry){
							.dir = dir,
							.name = name,
							.path = buffer_text(&walk->path),
							.type = type,
							.above = walk->above,
							.depth = depth,
							.closed = closed,
						});

	walk->path.used = used;
	return verdict;
}

/* Visits the entries of one folder; those to enter are added to folders. */
static int read_folder(struct walk *walk, int dir, unsigned int depth, struct list *folders)
{
	for (;;) {
		long n = syscall(SYS_getdents64, dir, walk->chunk, sizeof walk->chunk);

		if (n < 0)
			return errno == ENOENT ? 0
					       : error_sys(walk->err, "read the folder '%s'",
							   buffer_text(&walk->path));
		if (n == 0)
			return 0;
		for (long at = 0; at < n;) {
			const struct linux_dirent *entry =
				(const struct linux_dirent *)(walk->chunk + at);
			const char *name = entry->name;
			unsigned char type = entry->type;

			at += entry->size;
			if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
				continue;
			if (type == DT_UNKNOWN)
				type = find_type(dir, name);

			enum walk_verdict verdict = visit(walk, dir, depth, name, type, false);

			if (verdict == WALK_STOP)
				return -1;
			if (verdict == WALK_ON && type == DT_DIR)
				list_add(folders, name);
		}
	}
}

/* -1 with errno; EACCES also for a folder whose entries can be listed but not reached. */
static int open_folder(int dir, const char *name, unsigned int depth)
{
	AUTO_FD fd = -1;

	errno = ENAMETOOLONG;
	if (depth < WALK_DEPTH)
		fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && faccessat(fd, ".", F_OK, AT_EACCESS) < 0)
		return -1;
	return fd_steal(&fd);
}

static int walk_folder(struct walk *walk, int dir, unsigned int depth)
{
	struct list folders = { 0 };
	struct walk_folder after;
	int result;

	if (walk_look(dir, &walk->above[depth]) < 0)
		return error_sys(walk->err, "look at the folder '%s'", buffer_text(&walk->path));
	result = read_folder(walk, dir, depth, &folders);

	for (size_t i = 0; result == 0 && i < folders.count; i++) {
		const char *name = folders.items[i];
		AUTO_FD inner = open_folder(dir, name, depth);

		if (inner < 0) {
			if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
				continue;
			if (errno != EACCES && errno != EPERM && errno != ENAMETOOLONG) {
				result = error_sys(walk->err, "open the folder '%s' in '%s'", name,
						   buffer_text(&walk->path));
				break;
			}
			if (visit(walk, dir, depth, name, DT_DIR, true) == WALK_STOP)
				result = -1;
			continue;
		}

		size_t used = walk->path.used;

		if (used)
			buffer_add_text(&walk->path, "/");
		buffer_add_text(&walk->path, name);
		result = walk_folder(walk, inner, depth + 1);
		walk->path.used = used;
	}
	list_release(&folders);
	if (result == 0 && (walk_look(dir, &after) < 0 || !walk_same(&walk->above[depth], &after)))
		walk->changed = true;
	return result;
}

int walk_tree(int root, walk_fn *visit_fn, void *context, bool *ret_changed, struct error *err)
{
	AUTO_FD dir = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct walk *walk = mem_alloc(sizeof *walk);

	if (dir < 0) {
		mem_free_pointer(&walk);
		return error_sys(err, "open the folder");
	}
	walk->visit = visit_fn;
	walk->context = context;
	walk->err = err;
	walk->path = BUFFER_INIT(1 << 20);
	walk->changed = false;

	int result = walk_folder(walk, dir, 0);

	if (ret_changed)
		*ret_changed = walk->changed;
	buffer_release(&walk->path);
	mem_free_pointer(&walk);
	return result;
}
