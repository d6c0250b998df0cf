/* Reads the contents of files into a repository. */
#include "snapshot/look/content.h"

#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

/*
 * File timestamps have the resolution of a clock tick. A dirty mapped page can change without
 * updating them until it is written back, which takes about half a minute.
 */
static const int64_t tick_ns = SECOND_NS / 20;
static const int64_t mapped_ns = 60 * SECOND_NS;

static const uint64_t most_bytes = UINT64_C(32) << 30;

static int64_t in_ns(struct timespec time)
{
	return (int64_t)time.tv_sec * SECOND_NS + time.tv_nsec;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return in_ns(now);
}

void content_set_stat(const struct stat *status, struct node *node)
{
	node->mode = status->st_mode & 07777;
	node->size = (uint64_t)status->st_size;
	node->device = status->st_dev;
	node->inode = status->st_ino;
	node->links = status->st_nlink;
	node->modified_ns = in_ns(status->st_mtim);
	node->changed_ns = in_ns(status->st_ctim);
}

bool content_looks_same(const struct node *known, const struct node *node)
{
	return known->kind == node->kind && !known->unsure && known->inode == node->inode &&
	       known->size == node->size && known->modified_ns == node->modified_ns &&
	       known->changed_ns == node->changed_ns && known->mode == node->mode;
}

static void skip(struct node *node, enum node_why why)
{
	node->kind = NODE_SKIPPED;
	node->why = why;
}

/* Reads up to `size` bytes at an offset. Returns the number of bytes, or -1 with errno set. */
static ssize_t read_at(int fd, char *room, size_t size, off_t offset)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = pread(fd, room + used, size - used, offset + (off_t)used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

static bool is_zero(const char *bytes, size_t size)
{
	return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static void add_entry(struct buffer *tree, const char *name, const unsigned char *id)
{
	buffer_printf(tree, "100644 %s", name);
	buffer_add(tree, "", 1);
	buffer_add(tree, id, NODE_ID);
}

/*
 * Returns the offset of the first chunk at or after `offset` that is not a hole, or the size if
 * there is none.
 */
static off_t next_piece(int fd, off_t offset, off_t size)
{
	off_t data = lseek(fd, offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? size : offset;
	return data / CONTENT_PIECE * CONTENT_PIECE;
}

/* Returns 1 if the file could not be read. */
static int read_pieces(struct content *content, int fd, off_t size, struct node *node,
		       struct error *err)
{
	AUTO_BUFFER struct buffer tree = BUFFER_INIT(1 << 26);
	unsigned char id[NODE_ID];
	char name[32];

	for (off_t at = 0; (at = next_piece(fd, at, size)) < size; at += CONTENT_PIECE) {
		off_t left = size - at;
		ssize_t n = read_at(fd, content->room,
				    left < CONTENT_PIECE ? (size_t)left : CONTENT_PIECE, at);

		if (n < 0)
			return 1;
		content->read += (uint64_t)n;
		if (is_zero(content->room, (size_t)n))
			continue;
		if (pack_add(content->pack, GIT_OBJECT_BLOB, content->room, (size_t)n, id, err) < 0)
			return -1;
		snprintf(name, sizeof name, "%012llx", (unsigned long long)at);
		add_entry(&tree, name, id);
	}
	snprintf(name, sizeof name, "%lld", (long long)size);
	if (pack_add(content->pack, GIT_OBJECT_BLOB, name, strlen(name), id, err) < 0)
		return -1;
	add_entry(&tree, "size", id);
	node->chunked = true;
	return pack_add(content->pack, GIT_OBJECT_TREE, tree.data, tree.used, node->id, err);
}

static int read_whole(struct content *content, int fd, size_t size, struct node *node,
		      struct error *err)
{
	ssize_t n = read_at(fd, content->room, size, 0);

	if (n < 0)
		return 1;
	content->read += (uint64_t)n;
	node->chunked = false;
	node->size = (uint64_t)n;
	return pack_add(content->pack, GIT_OBJECT_BLOB, content->room, (size_t)n, node->id, err);
}

int content_open(const struct content *content, int folder, const struct node *node, int flags,
		 bool *ret_lent)
{
	enum { ALWAYS = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };
	int fd = openat(folder, node->name, flags | ALWAYS);

	*ret_lent = false;
	if (fd >= 0 || errno != EACCES || content->live)
		return fd;

	AUTO_FD place = openat(folder, node->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char path[64];

	/*
	 * chmod() on the /proc link is the only way to change a mode without following a symlink.
	 */
	snprintf(path, sizeof path, "/proc/self/fd/%d", place);
	if (place < 0 || chmod(path, node->mode | 0700) < 0) {
		errno = EACCES;
		return -1;
	}
	*ret_lent = true;
	fd = openat(folder, node->name, flags | ALWAYS);
	if (fd < 0) {
		chmod(path, node->mode);
		errno = EACCES;
	}
	return fd;
}

void content_restore_mode(int fd, const struct node *node)
{
	if (fchmod(fd, node->mode) < 0)
		errno = 0;
}

int content_file(struct content *content, int folder, struct node *node, struct error *err)
{
	int64_t began_ns = now_ns();
	bool lent;
	AUTO_FD fd = content_open(content, folder, node, O_RDONLY, &lent);
	struct stat before, after;
	int result;

	if (lent && fd >= 0)
		content_restore_mode(fd, node);
	if (fd < 0 || fstat(fd, &before) < 0 || !S_ISREG(before.st_mode)) {
		skip(node, fd < 0 && errno == EACCES   ? NODE_WHY_PERMISSION
			   : fd < 0 && errno == EAGAIN ? NODE_WHY_BUSY
						       : NODE_WHY_UNREADABLE);
		return 0;
	}
	if ((uint64_t)before.st_blocks * 512 > most_bytes) {
		skip(node, NODE_WHY_LARGE);
		return 0;
	}
	content_set_stat(&before, node);
	result = before.st_size > CONTENT_PIECE
			 ? read_pieces(content, fd, before.st_size, node, err)
			 : read_whole(content, fd, (size_t)before.st_size, node, err);
	if (result > 0 || fstat(fd, &after) < 0) {
		skip(node, NODE_WHY_UNREADABLE);
		return 0;
	}
	content->files++;
	node->unsure = node->changed_ns >= began_ns - (content->live ? mapped_ns : tick_ns);
	if (in_ns(after.st_ctim) != node->changed_ns || after.st_size != before.st_size) {
		node->unsure = true;
		content->torn++;
	}
	return result;
}

int content_link(struct content *content, int folder, struct node *node, struct error *err)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(folder, node->name, target, sizeof target);

	if (n < 0) {
		skip(node, NODE_WHY_UNREADABLE);
		return 0;
	}
	/* A symlink is immutable and a new one has another inode, but inode numbers are reused. */
	node->unsure = node->changed_ns >= now_ns() - tick_ns;
	return pack_add(content->pack, GIT_OBJECT_BLOB, target, (size_t)n, node->id, err);
}
