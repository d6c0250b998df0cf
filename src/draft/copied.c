/* The record of a copied tree: see copied.h. */
#include "draft/copied.h"

#include "util/buffer.h"
#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Missing from the headers of Debian 12. */
#define XFS_MAGIC      0x58465342
#define BCACHEFS_MAGIC 0xca451a4e

enum { MOST_BYTES = 1 << 30, DEEPEST = 300 };

static const char magic[8] = "RFCOPY1";

struct header {
	char magic[8];
	uint64_t timed;
};

/* An entry in the file; its name follows, with a NUL, then its entries. */
struct stored {
	uint64_t inode;
	int64_t changed_ns;
	uint32_t count;
	uint16_t name; /* its length */
	uint8_t is_folder, emptied;
};

struct writing {
	const struct copied_request *request;
	struct buffer out;
	struct error *err;
};

/* ---- writing ---- */

/* On others, such as tmpfs, a file that is mapped into memory changes without a new time. */
static bool is_timed(int tree)
{
	struct statfs status;

	if (fstatfs(tree, &status) < 0)
		return false;
	switch ((unsigned long)status.f_type) {
	case EXT4_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
	case XFS_MAGIC:
	case BCACHEFS_MAGIC:
		return true;
	default:
		return false;
	}
}

static bool is_emptied(const struct copied_request *request, ino_t inode)
{
	for (size_t i = 0; i < request->emptied_count; i++)
		if (request->emptied[i] == inode)
			return true;
	return false;
}

static void add_stored(struct writing *at, const struct stat *status, const char *name)
{
	const struct stored stored = { .inode = status->st_ino,
				       .changed_ns = (int64_t)status->st_ctim.tv_sec * 1000000000 +
						     status->st_ctim.tv_nsec,
				       .name = (uint16_t)strlen(name),
				       .is_folder = S_ISDIR(status->st_mode),
				       .emptied = is_emptied(at->request, status->st_ino) };

	buffer_add(&at->out, &stored, sizeof stored);
	buffer_add(&at->out, name, strlen(name) + 1);
}

static int add_entries(struct writing *at, int folder, size_t above);

static int add_entry(struct writing *at, int folder, const char *name)
{
	size_t place = at->out.used;
	struct stat status;
	int inner;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return error_sys(at->err, "examine the copy of '%s'", name);
	add_stored(at, &status, name);
	if (!S_ISDIR(status.st_mode))
		return 0;
	inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* A folder that cannot be read was copied without its entries. */
	return inner < 0 ? 0 : add_entries(at, inner, place);
}

/* Adds the entries of a folder, which it closes, and sets their number in the entry above. */
static int add_entries(struct writing *at, int folder, size_t above)
{
	struct dirent **list = NULL;
	int count = scandirat(folder, ".", &list, NULL, NULL);
	uint32_t used = 0;
	int result = count < 0 ? error_sys(at->err, "read the copy") : 0;

	for (int i = 0; i < count; i++) {
		const char *name = list[i]->d_name;

		if (result == 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
			result = add_entry(at, folder, name);
			used++;
		}
		free(list[i]);
	}
	free(list);
	close(folder);
	if (result == 0 && !buffer_overflowed(&at->out))
		memcpy(at->out.data + above + offsetof(struct stored, count), &used, sizeof used);
	return result;
}

static int add_tree(struct writing *at)
{
	int folder = openat(at->request->tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct header header = { .timed = is_timed(at->request->tree) };
	struct stat status;

	if (folder < 0 || fstat(folder, &status) < 0) {
		fd_close(&folder);
		return error_sys(at->err, "examine the copy");
	}
	memcpy(header.magic, magic, sizeof magic);
	buffer_add(&at->out, &header, sizeof header);
	add_stored(at, &status, "");
	return add_entries(at, folder, sizeof header);
}

int copied_write(const struct copied_request *request, int folder, const char *name,
		 struct error *err)
{
	struct writing at = { .request = request, .out = BUFFER_INIT(MOST_BYTES), .err = err };
	int result = add_tree(&at);

	if (result == 0 && buffer_overflowed(&at.out))
		result = error_set(err, "the project has too many files to copy");
	if (result == 0 && durable_create(folder, name, at.out.data, at.out.used, 0600) < 0)
		result = error_sys(err, "write the record of the copy");
	buffer_release(&at.out);
	return result;
}

/* ---- reading ---- */

struct reading {
	char *at;
	size_t left;
};

static bool take(struct reading *reading, void *target, size_t size)
{
	if (reading->left < size)
		return false;
	memcpy(target, reading->at, size);
	reading->at += size;
	reading->left -= size;
	return true;
}

static bool read_entry(struct reading *reading, struct copied_entry *ret_entry, int depth)
{
	struct stored stored;

	if (!take(reading, &stored, sizeof stored) || reading->left <= stored.name ||
	    reading->at[stored.name] || depth == DEEPEST ||
	    stored.count > reading->left / sizeof stored)
		return false;
	*ret_entry = (struct copied_entry){ .name = reading->at,
					    .inode = stored.inode,
					    .changed_ns = stored.changed_ns,
					    .is_folder = stored.is_folder,
					    .emptied = stored.emptied };
	reading->at += stored.name + 1U;
	reading->left -= stored.name + 1U;
	ret_entry->inner = mem_zero((stored.count + 1U) * sizeof *ret_entry->inner);
	while (ret_entry->count < stored.count)
		if (!read_entry(reading, &ret_entry->inner[ret_entry->count++], depth + 1))
			return false;
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct copied_entry *one = a, *other = b;

	return strcmp(one->name, other->name);
}

static void sort_entries(struct copied_entry *entry)
{
	for (size_t i = 0; i < entry->count; i++)
		sort_entries(&entry->inner[i]);
	if (entry->count)
		qsort(entry->inner, entry->count, sizeof *entry->inner, by_name);
}

static void list_emptied(struct copied *copied, const struct copied_entry *folder,
			 const char *above)
{
	for (size_t i = 0; i < folder->count; i++) {
		const struct copied_entry *entry = &folder->inner[i];
		AUTO_FREE char *path = *above ? path_join(above, entry->name)
					      : mem_dup(entry->name);

		if (entry->emptied) {
			copied->emptied = mem_extend(copied->emptied, copied->emptied_count,
						     sizeof *copied->emptied);
			copied->emptied[copied->emptied_count++] =
				(struct copied_emptied){ entry->inode, mem_dup(path) };
		}
		list_emptied(copied, entry, path);
	}
}

int copied_read(int folder, const char *name, struct copied *ret_copied, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(MOST_BYTES);
	struct reading reading;
	struct header header;
	struct stat status;

	*ret_copied = (struct copied){ 0 };
	if (fd_read_file(folder, name, &bytes) < 0 || fstatat(folder, name, &status, 0) < 0)
		return error_sys(err, "read the record of the copy");
	ret_copied->written_ns = (int64_t)status.st_ctim.tv_sec * 1000000000 +
				 status.st_ctim.tv_nsec;
	reading = (struct reading){ bytes.data, bytes.used };
	ret_copied->names = bytes.data;
	bytes.data = NULL;
	if (!take(&reading, &header, sizeof header) ||
	    memcmp(header.magic, magic, sizeof magic) != 0 ||
	    !read_entry(&reading, &ret_copied->top, 0) || reading.left)
		return error_with(err, ERROR_INVALID,
				  "the record of the draft's copy is damaged (to remove the draft: "
				  "ringfence discard)");
	ret_copied->timed = header.timed;
	sort_entries(&ret_copied->top);
	list_emptied(ret_copied, &ret_copied->top, "");
	return 0;
}

static void release_entry(struct copied_entry *entry)
{
	for (size_t i = 0; i < entry->count; i++)
		release_entry(&entry->inner[i]);
	free(entry->inner);
}

void copied_release(struct copied *copied)
{
	release_entry(&copied->top);
	for (size_t i = 0; i < copied->emptied_count; i++)
		free(copied->emptied[i].path);
	free(copied->emptied);
	free(copied->names);
	*copied = (struct copied){ 0 };
}

const struct copied_entry *copied_find(const struct copied_entry *folder, const char *name)
{
	const struct copied_entry wanted = { .name = name };

	return folder->count ? bsearch(&wanted, folder->inner, folder->count, sizeof *folder->inner,
				       by_name)
			     : NULL;
}
