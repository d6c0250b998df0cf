/* Packs. */
#include "snapshot/store/pack.h"

#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/store/sha1.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define TEMPORARY "ringfence-temporary" /* prefix of the temporary files of checkpoints */

enum { BLOCK = 1 << 16, MOST_OBJECTS = 1 << 24, PACK_VERSION = 2, HEADER = 12 };

struct object {
	unsigned char id[NODE_ID];
	uint32_t crc;
	uint64_t offset;
};

struct pack {
	struct checkpoint_repo *repo;
	bool complete;
	int folder; /* objects/pack */
	int fd;     /* -1 until an object is added */
	struct object *objects;
	size_t count;
	uint32_t *table; /* hash table by id: the number of an object, from 1 */
	size_t slots;
	uint64_t size;
	z_stream deflater;
	bool deflating;
	unsigned char *out; /* output buffer */
	size_t used;
	char *temporary_pack, *temporary_index;
	char name[64]; /* of the files, once sealed: "pack-ID." */
};

struct pack *pack_new(struct checkpoint_repo *repo, bool complete, const char *prefix)
{
	struct pack *pack = mem_zero(sizeof *pack);
	AUTO_FREE char *path = mem_format("%s/objects/pack", repo->path);

	pack->repo = repo;
	pack->complete = complete;
	pack->fd = -1;
	pack->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	pack->out = mem_alloc(BLOCK);
	/* git and libgit2 treat any file that ends in .idx as a pack index. */
	pack->temporary_pack = mem_format("%s-pack", prefix ? prefix : TEMPORARY);
	pack->temporary_index = mem_format("%s-idx", prefix ? prefix : TEMPORARY);
	return pack;
}

const char *pack_name(const struct pack *pack)
{
	return pack->name;
}

size_t pack_count(const struct pack *pack)
{
	return pack->count;
}

uint64_t pack_bytes(const struct pack *pack)
{
	return pack->size;
}

void pack_free(struct pack *pack)
{
	if (!pack)
		return;
	if (pack->deflating)
		deflateEnd(&pack->deflater);
	if (pack->fd >= 0) {
		close(pack->fd);
		unlinkat(pack->folder, pack->temporary_pack, 0);
		unlinkat(pack->folder, pack->temporary_index, 0);
	}
	fd_close(&pack->folder);
	free(pack->objects);
	free(pack->table);
	free(pack->out);
	free(pack->temporary_pack);
	free(pack->temporary_index);
	free(pack);
}

/* Reports whether a pack was renamed into place without its index. */
static bool lacks_index(int folder, const char *name)
{
	size_t size = strlen(name);

	if (size < 6 || strcmp(name + size - 5, ".pack") != 0)
		return false;

	AUTO_FREE char *index = mem_format("%.*s.idx", (int)size - 5, name);

	return faccessat(folder, index, F_OK, 0) < 0 && errno == ENOENT;
}

void pack_clean(const char *repository)
{
	AUTO_FREE char *path = mem_format("%s/objects/pack", repository);
	DIR *folder = opendir(path);

	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (strncmp(entry->d_name, TEMPORARY, strlen(TEMPORARY)) == 0 ||
		    lacks_index(dirfd(folder), entry->d_name))
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}

static int flush(struct pack *pack, struct error *err)
{
	if (fd_write_all(pack->fd, pack->out, pack->used) < 0)
		return error_sys(err, "write a pack");
	pack->used = 0;
	return 0;
}

static int append(struct pack *pack, const void *bytes, size_t size, uint32_t *crc,
		  struct error *err)
{
	const unsigned char *at = bytes;

	*crc = (uint32_t)crc32(*crc, at, (uInt)size);
	pack->size += size;
	while (size > 0) {
		size_t part = size < BLOCK - pack->used ? size : BLOCK - pack->used;

		memcpy(pack->out + pack->used, at, part);
		pack->used += part;
		at += part;
		size -= part;
		if (pack->used == BLOCK && flush(pack, err) < 0)
			return -1;
	}
	return 0;
}

static int start_file(struct pack *pack, struct error *err)
{
	static const unsigned char header[HEADER] = { 'P', 'A', 'C', 'K', 0, 0, 0, PACK_VERSION };
	uint32_t crc = 0;

	if (pack->fd >= 0)
		return 0;
	if (pack->folder >= 0)
		pack->fd = openat(pack->folder, pack->temporary_pack,
				  O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0444);
	if (pack->fd < 0)
		return error_sys(err, "write a pack");
	if (deflateInit(&pack->deflater, Z_BEST_SPEED) != Z_OK)
		return error_set(err, "zlib: initialization failed");
	pack->deflating = true;
	return append(pack, header, sizeof header, &crc, err);
}

static size_t slot_of(const struct pack *pack, const unsigned char *id)
{
	uint64_t key;

	memcpy(&key, id, sizeof key);

	size_t slot = key & (pack->slots - 1);

	while (pack->table[slot] &&
	       memcmp(pack->objects[pack->table[slot] - 1].id, id, NODE_ID) != 0)
		slot = (slot + 1) & (pack->slots - 1);
	return slot;
}

bool pack_has(const struct pack *pack, const unsigned char *id)
{
	return pack->slots && pack->table[slot_of(pack, id)];
}

static void grow(struct pack *pack)
{
	enum { SMALLEST = 1024 };

	if (2 * (pack->count + 1) <= pack->slots)
		return;
	pack->slots = pack->slots ? 2 * pack->slots : SMALLEST;
	free(pack->table);
	pack->table = mem_zero(pack->slots * sizeof *pack->table);
	pack->objects = mem_resize(pack->objects, pack->slots / 2, sizeof *pack->objects);
	for (size_t i = 0; i < pack->count; i++)
		pack->table[slot_of(pack, pack->objects[i].id)] = (uint32_t)i + 1;
}

/* Encodes type and size, lowest bits first. */
static size_t make_head(git_object_t type, size_t size, unsigned char *ret_head)
{
	size_t used = 0;
	unsigned char byte = (unsigned char)(type << 4 | (size & 15));

	for (size >>= 4; size; size >>= 7) {
		ret_head[used++] = byte | 0x80;
		byte = size & 0x7f;
	}
	ret_head[used++] = byte;
	return used;
}

static int append_deflated(struct pack *pack, const void *bytes, size_t size, uint32_t *crc,
			   struct error *err)
{
	unsigned char out[BLOCK / 4];
	int result;

	deflateReset(&pack->deflater);
	pack->deflater.next_in = (unsigned char *)bytes;
	pack->deflater.avail_in = (uInt)size;
	do {
		pack->deflater.next_out = out;
		pack->deflater.avail_out = sizeof out;
		result = deflate(&pack->deflater, Z_FINISH);
		if (append(pack, out, sizeof out - pack->deflater.avail_out, crc, err) < 0)
			return -1;
	} while (result == Z_OK || result == Z_BUF_ERROR);
	return result == Z_STREAM_END ? 0 : error_set(err, "zlib: compression failed");
}

int pack_add(struct pack *pack, git_object_t type, const void *bytes, size_t size,
	     unsigned char ret_id[NODE_ID], struct error *err)
{
	unsigned char head[16];
	struct object *object;
	uint32_t crc = 0;
	git_oid id;
	size_t slot;

	if (checkpoint_repo_git(pack->repo, err) < 0)
		return -1;
	/* git_odb_hash() refuses a crafted collision. */
	if (git_odb_hash(&id, bytes, size, type) < 0)
		return libgit_error("hash an object", err);
	grow(pack);
	slot = slot_of(pack, id.id);
	memcpy(ret_id, id.id, NODE_ID);
	if (pack->table[slot] || (!pack->complete && git_odb_exists_ext(pack->repo->odb, &id,
									GIT_ODB_LOOKUP_NO_REFRESH)))
		return 0;
	if (pack->count == MOST_OBJECTS)
		return error_set(err, "a pack cannot hold more than %d objects", MOST_OBJECTS);
	if (start_file(pack, err) < 0)
		return -1;
	object = &pack->objects[pack->count];
	*object = (struct object){ .offset = pack->size };
	memcpy(object->id, id.id, NODE_ID);
	if (append(pack, head, make_head(type, size, head), &crc, err) < 0 ||
	    append_deflated(pack, bytes, size, &crc, err) < 0)
		return -1;
	object->crc = crc;
	pack->table[slot] = (uint32_t)++pack->count;
	return 0;
}

int pack_copy(struct pack *pack, const git_oid *id, struct error *err)
{
	git_odb_object *object = NULL;
	unsigned char same[NODE_ID];
	int result;

	if (checkpoint_repo_git(pack->repo, err) < 0)
		return -1;
	if (git_odb_read(&object, pack->repo->odb, id) < 0)
		return libgit_error("read an object from a checkpoint", err);
	result = pack_add(pack, git_odb_object_type(object), git_odb_object_data(object),
			  git_odb_object_size(object), same, err);
	git_odb_object_free(object);
	return result;
}

/* The number of objects is known only now, but is at the start of the hashed bytes. */
static int write_trailer(struct pack *pack, unsigned char ret_sum[SHA1_SIZE], struct error *err)
{
	uint32_t count = htonl((uint32_t)pack->count);
	struct sha1 sha1;
	uint32_t crc = 0;
	ssize_t n;

	if (flush(pack, err) < 0)
		return -1;
	if (pwrite(pack->fd, &count, sizeof count, 8) != sizeof count ||
	    lseek(pack->fd, 0, SEEK_SET) < 0)
		return error_sys(err, "write a pack");
	sha1_init(&sha1);
	while ((n = read(pack->fd, pack->out, BLOCK)) > 0)
		sha1_add(&sha1, pack->out, (size_t)n);
	if (n < 0)
		return error_sys(err, "read back a pack");
	sha1_end(&sha1, ret_sum);
	if (append(pack, ret_sum, SHA1_SIZE, &crc, err) < 0 || flush(pack, err) < 0)
		return -1;
	return fsync(pack->fd) < 0 ? error_sys(err, "sync a pack") : 0;
}

static int by_id(const void *a, const void *b)
{
	return memcmp(((const struct object *)a)->id, ((const struct object *)b)->id, NODE_ID);
}

static void add_number(struct buffer *out, uint32_t number)
{
	uint32_t swapped = htonl(number);

	buffer_add(out, &swapped, sizeof swapped);
}

/* Index version 2: fan-out table, ids, CRCs, offsets. */
static void make_index(struct pack *pack, const unsigned char *pack_sum, struct buffer *out)
{
	static const unsigned char magic[8] = { 0xff, 't', 'O', 'c', 0, 0, 0, 2 };
	unsigned char sum[SHA1_SIZE];
	struct sha1 sha1;
	uint32_t far = 0;
	size_t at = 0;

	qsort(pack->objects, pack->count, sizeof *pack->objects, by_id);
	buffer_add(out, magic, sizeof magic);
	for (int first = 0; first < 256; first++) {
		while (at < pack->count && pack->objects[at].id[0] <= first)
			at++;
		add_number(out, (uint32_t)at);
	}
	for (size_t i = 0; i < pack->count; i++)
		buffer_add(out, pack->objects[i].id, NODE_ID);
	for (size_t i = 0; i < pack->count; i++)
		add_number(out, pack->objects[i].crc);
	for (size_t i = 0; i < pack->count; i++) {
		uint64_t offset = pack->objects[i].offset;

		add_number(out, offset > INT32_MAX ? (1U << 31 | far) : (uint32_t)offset);
		far += offset > INT32_MAX;
	}
	for (size_t i = 0; i < pack->count; i++) {
		uint64_t offset = pack->objects[i].offset;

		if (offset > INT32_MAX) {
			add_number(out, (uint32_t)(offset >> 32));
			add_number(out, (uint32_t)offset);
		}
	}
	buffer_add(out, pack_sum, SHA1_SIZE);
	sha1_init(&sha1);
	sha1_add(&sha1, out->data, out->used);
	sha1_end(&sha1, sum);
	buffer_add(out, sum, sizeof sum);
}

static int write_index(struct pack *pack, const unsigned char *sum, struct error *err)
{
	AUTO_BUFFER struct buffer index = BUFFER_INIT((size_t)1 << 31);
	AUTO_FD fd = openat(pack->folder, pack->temporary_index,
			    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0444);

	make_index(pack, sum, &index);
	if (fd < 0 || buffer_overflowed(&index) || fd_write_all(fd, index.data, index.used) < 0 ||
	    fsync(fd) < 0)
		return error_sys(err, "write the index of a pack");
	return 0;
}

int pack_seal(struct pack *pack, struct error *err)
{
	unsigned char sum[SHA1_SIZE];
	char hex[2 * SHA1_SIZE + 1];

	if (pack->fd < 0 || *pack->name)
		return 0;
	fault_point();
	if (write_trailer(pack, sum, err) < 0 || write_index(pack, sum, err) < 0)
		return -1;
	for (int i = 0; i < SHA1_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
	snprintf(pack->name, sizeof pack->name, "pack-%s.", hex);
	return 0;
}

int pack_finish(struct pack *pack, struct error *err)
{
	AUTO_FREE char *name = NULL;
	AUTO_FREE char *index = NULL;

	if (pack->fd < 0)
		return 0;
	if (pack_seal(pack, err) < 0)
		return -1;
	name = mem_format("%spack", pack->name);
	index = mem_format("%sidx", pack->name);
	fault_point();
	if (renameat(pack->folder, pack->temporary_pack, pack->folder, name) < 0)
		return error_sys(err, "rename a finished pack");
	fault_point();
	/* The pack is in place before the index that names it. */
	if (renameat(pack->folder, pack->temporary_index, pack->folder, index) < 0 ||
	    fsync(pack->folder) < 0)
		return error_sys(err, "rename a finished pack");
	fault_point();
	fd_close(&pack->fd);
	git_odb_refresh(pack->repo->odb);
	return 0;
}

uint64_t pack_total(const char *repository)
{
	AUTO_FREE char *path = mem_format("%s/objects/pack", repository);
	DIR *folder = opendir(path);
	uint64_t total = 0;
	struct stat status;

	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (entry->d_name[0] != '.' &&
		    fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
			total += (uint64_t)status.st_size;
	if (folder)
		closedir(folder);
	return total;
}

void pack_replace(const struct pack *pack)
{
	int copy = fcntl(pack->folder, F_DUPFD_CLOEXEC, 0);
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);

	/* Remove indexes first: without its index a pack is never opened. */
	for (int round = 0; folder && round < 2; round++) {
		rewinddir(folder);
		for (struct dirent *entry; (entry = readdir(folder));)
			if (strncmp(entry->d_name, "pack-", 5) == 0 &&
			    (!*pack->name ||
			     strncmp(entry->d_name, pack->name, strlen(pack->name)) != 0) &&
			    (round == 1 || strstr(entry->d_name, ".idx")))
				unlinkat(pack->folder, entry->d_name, 0);
		fault_point();
	}
	if (folder)
		closedir(folder);
}
