/* Git LFS in the user's repository. */
#include "snapshot/apply/lfs_work.h"

#include "lfs/lfs_folders.h"
#include "lfs/lfs_store.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, ATTRIBUTES_BYTES = 1 << 20 };

#define TEMPORARY "ringfence-content"

struct lfs_work {
	const struct user_repo *user;
	git_tree *tree; /* NULL: the files of the work tree */
	struct lfs_folders *folders;
};

static int read_from_tree(struct lfs_work *work, const char *path, struct buffer *text)
{
	git_tree_entry *entry = NULL;
	git_blob *blob = NULL;
	int result = -1;

	if (git_tree_entry_bypath(&entry, work->tree, path) == 0 &&
	    S_ISREG(git_tree_entry_filemode(entry)) &&
	    git_blob_lookup(&blob, work->user->repository, git_tree_entry_id(entry)) == 0) {
		buffer_add(text, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
		result = 0;
	}
	git_blob_free(blob);
	git_tree_entry_free(entry);
	return result;
}

static int read_from_disk(const struct user_repo *user, const char *path, struct buffer *text)
{
	AUTO_FD fd = fd_openat2(user->work_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
				RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);
	struct stat status;

	return fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ? -1
									    : fd_read_all(fd, text);
}

static int read_attributes(void *context, const char *folder, struct buffer *text)
{
	struct lfs_work *work = context;
	AUTO_FREE char *path = *folder ? path_join(folder, ".gitattributes")
				       : mem_dup(".gitattributes");

	return work->tree ? read_from_tree(work, path, text)
			  : read_from_disk(work->user, path, text);
}

/* If a tree cannot be read, it has no attributes; the caller notices when it reads the tree. */
struct lfs_work *lfs_work_new(const struct user_repo *user, const git_oid *tree)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(ATTRIBUTES_BYTES);
	AUTO_FREE char *path = path_join(user->common, "info/attributes");
	struct lfs_work *work = mem_zero(sizeof *work);
	bool own = fd_read_path(path, &text) == 0;

	work->user = user;
	if (!tree || git_oid_is_zero(tree) ||
	    git_tree_lookup(&work->tree, user->repository, tree) < 0)
		work->tree = NULL;
	work->folders = lfs_folders_new(read_attributes, work, own ? &text : NULL);
	return work;
}

void lfs_work_free(struct lfs_work *work)
{
	if (!work)
		return;
	lfs_folders_free(work->folders);
	git_tree_free(work->tree);
	free(work);
}

bool lfs_work_has(struct lfs_work *work, const char *path)
{
	return lfs_folders_has(work->folders, path);
}

bool lfs_work_read(git_repository *repository, const git_oid *id, struct lfs_pointer *ret_pointer)
{
	git_blob *blob = NULL;
	bool found = git_blob_lookup(&blob, repository, id) == 0 &&
		     lfs_pointer_read(git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob),
				      ret_pointer);

	git_blob_free(blob);
	return found && !ret_pointer->extended;
}

int lfs_work_open(const struct user_repo *user, const struct lfs_pointer *pointer)
{
	AUTO_FREE char *path = path_join(user->lfs, "objects");
	AUTO_FD objects = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return objects < 0 ? -1 : lfs_store_open(objects, pointer);
}

bool lfs_work_pointer(struct lfs_work *work, const char *path, const git_oid *blob,
		      struct lfs_pointer **ret_pointer)
{
	struct lfs_pointer pointer;
	AUTO_FD content = -1;

	*ret_pointer = NULL;
	if (!lfs_work_has(work, path) || !lfs_work_read(work->user->repository, blob, &pointer))
		return false;
	content = lfs_work_open(work->user, &pointer);
	if (content < 0)
		return false;
	*ret_pointer = mem_zero(sizeof **ret_pointer);
	**ret_pointer = pointer;
	return true;
}

bool lfs_work_matches(int fd, const struct lfs_pointer *pointer)
{
	AUTO_FREE char *piece = mem_alloc(PIECE);
	char hex[SHA256_HEX];
	struct sha256 sha256;
	struct stat status;
	ssize_t n;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    (uint64_t)status.st_size != pointer->size || lseek(fd, 0, SEEK_SET) < 0)
		return false;
	sha256_init(&sha256);
	while ((n = read(fd, piece, PIECE)) > 0)
		sha256_add(&sha256, piece, (size_t)n);
	sha256_end(&sha256, hex);
	return n == 0 && strcmp(hex, pointer->hex) == 0;
}

/* Stores the rest of a file after its beginning. */
static int store(const struct user_repo *user, int fd, const char *bytes, size_t size,
		 struct lfs_pointer *ret_pointer, struct error *err)
{
	struct lfs_store_entry entry;
	AUTO_FD lfs = -1;

	mkdir(user->lfs, 0777);
	lfs = open(user->lfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lfs < 0)
		return error_sys(err, "open '%s'", user->lfs);
	if (lfs_store_begin(lfs, TEMPORARY, &entry, err) < 0)
		return -1;
	if (lfs_store_add(&entry, bytes, size, err) < 0 ||
	    lfs_store_add_file(&entry, fd, UINT64_MAX, err) < 0) {
		lfs_store_drop(&entry);
		return -1;
	}
	return lfs_store_end(&entry, NULL, ret_pointer, err);
}

int lfs_work_clean(const struct user_repo *user, int fd, char ret_text[LFS_POINTER_BYTES],
		   size_t *ret_size, struct error *err)
{
	char head[LFS_POINTER_BYTES];
	struct lfs_pointer pointer;
	size_t size = 0;
	ssize_t n;

	while (size < sizeof head && (n = read(fd, head + size, sizeof head - size)) != 0) {
		if (n < 0)
			return error_sys(err, "read a file in Git LFS");
		size += (size_t)n;
	}
	if (!size || lfs_pointer_read(head, size, &pointer)) {
		memcpy(ret_text, head, size);
		*ret_size = size;
		return 0;
	}
	if (store(user, fd, head, size, &pointer, err) < 0)
		return -1;
	*ret_size = lfs_pointer_write(&pointer, ret_text);
	return 0;
}
