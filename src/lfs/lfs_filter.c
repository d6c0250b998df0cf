/* Git's filter "lfs". */
#include "lfs/lfs_filter.h"

#include "lfs/lfs_store.h"
#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

/* The beginning of the input, or the whole input if it could be a pointer. */
struct head {
	char bytes[LFS_POINTER_BYTES];
	size_t size;
	struct lfs_pointer pointer;
	bool is_pointer;
};

static int read_head(struct head *head, struct error *err)
{
	ssize_t n;

	head->size = 0;
	while (head->size < sizeof head->bytes &&
	       (n = read(STDIN_FILENO, head->bytes + head->size,
			 sizeof head->bytes - head->size)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read from git");
		head->size += (size_t)n;
	}
	head->is_pointer = lfs_pointer_read(head->bytes, head->size, &head->pointer);
	return 0;
}

static int answer(const void *bytes, size_t size, struct error *err)
{
	return fd_write_all(STDOUT_FILENO, bytes, size) < 0 ? error_sys(err, "write to git") : 0;
}

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* An empty file stays one, as with git-lfs. */
static int clean(const char *store, struct error *err)
{
	struct lfs_store_entry entry;
	struct lfs_pointer made;
	struct head head;
	char text[LFS_POINTER_BYTES];
	char temporary[32];
	AUTO_FD lfs = -1;

	if (read_head(&head, err) < 0)
		return -1;
	if (head.is_pointer || !head.size)
		return answer(head.bytes, head.size, err);
	mkdir(store, 0777);
	lfs = open_folder(store);
	if (lfs < 0)
		return error_sys(err, "open '%s'", store);
	snprintf(temporary, sizeof temporary, "clean-%ld", (long)getpid());
	if (lfs_store_begin(lfs, temporary, &entry, err) < 0)
		return -1;
	if (lfs_store_add(&entry, head.bytes, head.size, err) < 0 ||
	    lfs_store_add_file(&entry, STDIN_FILENO, UINT64_MAX, err) < 0) {
		lfs_store_drop(&entry);
		return -1;
	}
	if (lfs_store_end(&entry, NULL, &made, err) < 0)
		return -1;
	return answer(text, lfs_pointer_write(&made, text), err);
}

static int copy_rest(int from, struct error *err)
{
	char piece[PIECE];
	ssize_t n;

	while ((n = read(from, piece, sizeof piece)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_sys(err, "read the content of an LFS file");
		if (answer(piece, (size_t)n, err) < 0)
			return -1;
	}
	return 0;
}

/* Opens the content of a pointer in an objects folder. Returns -1 if it is not there. */
static int open_content(const char *objects, const struct lfs_pointer *pointer)
{
	AUTO_FD folder = open_folder(objects);

	return folder < 0 ? -1 : lfs_store_open(folder, pointer);
}

static int smudge(const char *store, const char *others, struct error *err)
{
	AUTO_FD content = -1;
	struct head head;
	char objects[4096];

	if (read_head(&head, err) < 0)
		return -1;
	snprintf(objects, sizeof objects, "%s/objects", store);
	if (head.is_pointer && !head.pointer.extended) {
		content = open_content(objects, &head.pointer);
		if (content < 0)
			content = open_content(others, &head.pointer);
	}
	if (content >= 0)
		return copy_rest(content, err);
	return answer(head.bytes, head.size, err) < 0 ? -1 : copy_rest(STDIN_FILENO, err);
}

int lfs_filter_run(int argc, char *const *argv, struct error *err)
{
	if (argc == 3 && strcmp(argv[1], LFS_FILTER_CLEAN) == 0)
		return clean(argv[2], err);
	if (argc == 4 && strcmp(argv[1], LFS_FILTER_SMUDGE) == 0)
		return smudge(argv[2], argv[3], err);
	return error_set(err, "unknown words on the command line");
}
