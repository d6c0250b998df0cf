/* Objects of others: see source.h. */
#include "snapshot/source.h"

#include "util/fd.h"
#include "util/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <git2/sys/odb_backend.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

enum { MOST_PACKS = 2000, HEAD_BYTES = 64, BLOCK = 1 << 16 };

static int open_folder(int above, const char *name)
{
	return openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool is_file(int folder, const char *name)
{
	struct stat status;

	return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

/* One pack, by the name of its index. */
static int add_pack(struct source *source, const char *name, struct error *err)
{
	size_t size = strlen(name) - strlen(".idx");
	AUTO_FREE char *pack = mem_format("%.*s.pack", (int)size, name);
	AUTO_FREE char *path = mem_format("/proc/self/fd/%d/%s", source->packs, name);
	git_odb_backend *backend = NULL;

	if (!is_file(source->packs, name) || !is_file(source->packs, pack))
		return 0; /* what is in it is not there */
	if (git_odb_backend_one_pack(&backend, path) < 0)
		return 0;
	if (git_odb_add_backend(source->packed, backend, 1) < 0) {
		backend->free(backend);
		return error_set(err, "open a pack");
	}
	source->empty = false;
	return 0;
}

static int add_packs(struct source *source, struct error *err)
{
	int copy = fcntl(source->packs, F_DUPFD_CLOEXEC, 3);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	int count = 0;
	int result = 0;

	for (struct dirent *entry; dir && result == 0 && (entry = readdir(dir));) {
		const char *end = strrchr(entry->d_name, '.');

		if (!end || strcmp(end, ".idx") != 0)
			continue;
		result = ++count > MOST_PACKS
				 ? error_set(err, "there are more than %d packs", MOST_PACKS)
				 : add_pack(source, entry->d_name, err);
	}
	if (dir)
		closedir(dir);
	return result;
}

/* Is there a folder for loose objects? */
static bool has_loose(int objects)
{
	int copy = fcntl(objects, F_DUPFD_CLOEXEC, 3);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	bool found = false;

	for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
		found = strlen(entry->d_name) == 2 && isxdigit((unsigned char)entry->d_name[0]);
	if (dir)
		closedir(dir);
	return found;
}

int source_open(int git, uint64_t most_bytes, struct source *ret_source, struct error *err)
{
	*ret_source = (struct source){ .objects = open_folder(git, "objects"),
				       .packs = -1,
				       .empty = true,
				       .most_bytes = most_bytes };
	if (ret_source->objects < 0)
		return 0;
	ret_source->empty = !has_loose(ret_source->objects);
	ret_source->packs = open_folder(ret_source->objects, "pack");
	if (git_odb_new(&ret_source->packed) < 0)
		return error_set(err, "begin to read objects");
	return ret_source->packs < 0 ? 0 : add_packs(ret_source, err);
}

void source_close(struct source *source)
{
	git_odb_free(source->packed);
	fd_close(&source->packs);
	fd_close(&source->objects);
	*source = (struct source){ .objects = -1, .packs = -1 };
}

static int too_large(const struct source *source, struct error *err)
{
	return error_set(err, "an object of more than %llu MiB",
			 (unsigned long long)(source->most_bytes >> 20));
}

/* "blob 123" with a NUL behind it. */
static bool read_head(const char *head, size_t size, struct source_object *object, size_t *ret_used)
{
	const char *stop = memchr(head, '\0', size);
	const char *space = stop ? memchr(head, ' ', (size_t)(stop - head)) : NULL;
	char type[16] = "";
	char *end;

	if (!space || space - head >= (ptrdiff_t)sizeof type || !isdigit((unsigned char)space[1]))
		return false;
	memcpy(type, head, (size_t)(space - head));
	object->type = git_object_string2type(type);
	errno = 0;
	object->size = strtoull(space + 1, &end, 10);
	*ret_used = (size_t)(stop - head) + 1;
	return errno == 0 && end == stop && object->type >= GIT_OBJECT_COMMIT &&
	       object->type <= GIT_OBJECT_TAG;
}

/* Fills the object from a stream of which the head is known; no byte more than it says. */
static int inflate_rest(z_stream *stream, int fd, const char *head, size_t have,
			struct source_object *object, struct error *err)
{
	unsigned char block[BLOCK];
	unsigned char beyond;
	int result = Z_OK;
	size_t filled = have;

	if (have > object->size)
		return error_set(err, "an object that is longer than it says");
	object->bytes = mem_alloc(object->size + 1);
	memcpy(object->bytes, head, have);
	object->bytes[object->size] = '\0';
	while (result != Z_STREAM_END) {
		size_t room = object->size - filled;

		if (stream->avail_in == 0) {
			ssize_t n = read(fd, block, sizeof block);

			if (n <= 0)
				return error_set(err, "an object that is cut off");
			stream->next_in = block;
			stream->avail_in = (uInt)n;
		}
		stream->next_out = room ? (unsigned char *)object->bytes + filled : &beyond;
		stream->avail_out = room > (1 << 30) ? 1 << 30 : room ? (uInt)room : 1;

		uInt before = stream->avail_out;

		result = inflate(stream, Z_NO_FLUSH);
		if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
			return error_set(err, "an object that is damaged");
		if (!room && stream->avail_out != before)
			return error_set(err, "an object that is longer than it says");
		filled += room ? before - stream->avail_out : 0;
	}
	return filled == object->size ? 0
				      : error_set(err, "an object that is shorter than it says");
}

static int read_loose(struct source *source, int fd, struct source_object *object,
		      struct error *err)
{
	unsigned char block[4096];
	unsigned char head[HEAD_BYTES];
	z_stream stream = { 0 };
	ssize_t n = read(fd, block, sizeof block);
	size_t used;
	int result;

	if (n <= 0)
		return error_set(err, "an object that is empty");
	if (inflateInit(&stream) != Z_OK)
		return error_set(err, "zlib cannot begin");
	stream.next_in = block;
	stream.avail_in = (uInt)n;
	stream.next_out = head;
	stream.avail_out = sizeof head;
	result = inflate(&stream, Z_NO_FLUSH);

	size_t have = sizeof head - stream.avail_out;

	if ((result != Z_OK && result != Z_STREAM_END) ||
	    !read_head((char *)head, have, object, &used))
		result = error_set(err, "an object that is damaged");
	else if (object->size > source->most_bytes)
		result = too_large(source, err);
	else if (result == Z_STREAM_END && have - used != object->size)
		result = error_set(err, "an object that is not as long as it says");
	else if (result == Z_STREAM_END) {
		object->bytes = mem_alloc(object->size + 1);
		memcpy(object->bytes, head + used, object->size);
		object->bytes[object->size] = '\0';
		result = 0;
	} else {
		result = inflate_rest(&stream, fd, (char *)head + used, have - used, object, err);
	}
	inflateEnd(&stream);
	if (result < 0) {
		free(object->bytes);
		object->bytes = NULL;
	}
	return result;
}

static int open_loose(const struct source *source, const git_oid *id)
{
	struct open_how how = { .flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH |
					   RESOLVE_NO_XDEV };
	char path[GIT_OID_HEXSZ + 2];
	AUTO_FD fd = -1;
	struct stat status;

	git_oid_pathfmt(path, id);
	path[GIT_OID_HEXSZ + 1] = '\0';
	fd = (int)syscall(SYS_openat2, source->objects, path, &how, sizeof how);
	return fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? fd_steal(&fd) : -1;
}

static int read_packed(struct source *source, const git_oid *id, struct source_object *object,
		       struct error *err)
{
	git_odb_object *found = NULL;
	git_object_t type;
	size_t size;
	int result = git_odb_read_header(&size, &type, source->packed, id);

	if (result == GIT_ENOTFOUND)
		return 0;
	if (result == 0 && size > source->most_bytes)
		return too_large(source, err);
	if (result < 0 || git_odb_read(&found, source->packed, id) < 0)
		return error_set(err, "an object that is damaged");
	object->type = git_odb_object_type(found);
	object->size = git_odb_object_size(found);
	if (object->size > source->most_bytes) {
		git_odb_object_free(found);
		return too_large(source, err);
	}
	object->bytes = mem_alloc(object->size + 1);
	memcpy(object->bytes, git_odb_object_data(found), object->size);
	object->bytes[object->size] = '\0';
	git_odb_object_free(found);
	return 1;
}

int source_read(struct source *source, const git_oid *id, struct source_object *ret_object,
		struct error *err)
{
	AUTO_FD fd = source->objects < 0 ? -1 : open_loose(source, id);

	*ret_object = (struct source_object){ 0 };
	if (fd >= 0)
		return read_loose(source, fd, ret_object, err) < 0 ? -1 : 1;
	return source->packed ? read_packed(source, id, ret_object, err) : 0;
}
