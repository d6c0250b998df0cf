/* Reads objects of a private git directory. */
#include "snapshot/object/object_source.h"

#include "snapshot/object/unpack.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PACKS = 2000, HEAD_BYTES = 64 };

/* A few minutes of work. */
static const uint64_t most_work = UINT64_C(32) << 30;

static int open_folder(int above, const char *name)
{
	return openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* An unreadable pack is skipped: its objects are reported as missing. */
static int add_packs(struct object_source *source, struct error *err)
{
	AUTO_FD folder = open_folder(source->objects, "pack");
	int copy = folder < 0 ? -1 : fcntl(folder, F_DUPFD_CLOEXEC, 3);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	int result = 0;

	for (struct dirent *entry; dir && result == 0 && (entry = readdir(dir));) {
		const char *end = strrchr(entry->d_name, '.');
		struct packread pack;

		if (!end || strcmp(end, ".idx") != 0 ||
		    !packread_open(folder, entry->d_name, &pack))
			continue;
		source->packs = mem_resize(source->packs, source->pack_count + 1,
					   sizeof *source->packs);
		source->packs[source->pack_count++] = pack;
		source->empty = false;
		if (source->pack_count > MOST_PACKS)
			result = error_set(err, "there are more than %d packs", MOST_PACKS);
	}
	if (dir)
		closedir(dir);
	return result;
}

/* Reports whether there is a folder of loose objects. */
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

int object_source_open(int git, uint64_t most_bytes, struct object_source *ret_source,
		       struct error *err)
{
	*ret_source = (struct object_source){ .objects = open_folder(git, "objects"),
					      .empty = true,
					      .limits = { most_bytes, most_work } };
	if (ret_source->objects < 0)
		return 0;
	ret_source->empty = !has_loose(ret_source->objects);
	return add_packs(ret_source, err);
}

void object_source_close(struct object_source *source)
{
	for (size_t i = 0; i < source->pack_count; i++)
		packread_close(&source->packs[i]);
	free(source->packs);
	fd_close(&source->objects);
	*source = (struct object_source){ .objects = -1 };
}

/* Parses "blob 123\\0". */
static bool read_head(const char *head, size_t size, struct packread_object *object,
		      size_t *ret_used)
{
	static const char *const names[] = { "", "commit", "tree", "blob", "tag" };
	const char *stop = memchr(head, '\0', size);
	const char *space = stop ? memchr(head, ' ', (size_t)(stop - head)) : NULL;
	char *end;

	if (!space || !isdigit((unsigned char)space[1]))
		return false;
	for (enum fsck_type type = FSCK_COMMIT; type <= FSCK_TAG; type++)
		if (strlen(names[type]) == (size_t)(space - head) &&
		    memcmp(names[type], head, strlen(names[type])) == 0)
			object->type = type;
	errno = 0;
	object->size = strtoull(space + 1, &end, 10);
	*ret_used = (size_t)(stop - head) + 1;
	return errno == 0 && end == stop && object->type != FSCK_ANY;
}

static int read_loose(struct object_source *source, struct unpack *unpack,
		      struct packread_object *object, struct error *err)
{
	char head[HEAD_BYTES];
	size_t have = unpack_read(unpack, head, sizeof head);
	size_t used;

	if (!read_head(head, have, object, &used))
		return error_set(err, "a damaged object");
	if (object->size > source->limits.most_bytes || object->size > source->limits.work)
		return error_set(err, "an object larger than %llu MiB",
				 (unsigned long long)(source->limits.most_bytes >> 20));
	source->limits.work -= object->size;
	have -= used;
	if (have > object->size)
		return error_set(err, "an object longer than its header says");
	object->bytes = mem_alloc(object->size + 1);
	memcpy(object->bytes, head + used, have);
	have += unpack_read(unpack, object->bytes + have, object->size - have);
	object->bytes[object->size] = '\0';
	if (have == object->size && unpack_is_whole(unpack))
		return 1;
	free(object->bytes);
	object->bytes = NULL;
	return error_set(err, "a damaged object, or one with a wrong size");
}

static int open_loose(const struct object_source *source, const unsigned char *id)
{
	char path[2 * FSCK_ID + 2];
	AUTO_FD fd = -1;
	struct stat status;

	snprintf(path, sizeof path, "%02x/", id[0]);
	for (size_t i = 1; i < FSCK_ID; i++)
		snprintf(path + 1 + 2 * i, 3, "%02x", id[i]);
	fd = fd_openat2(source->objects, path, O_RDONLY | O_NONBLOCK, 0,
			RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_NO_XDEV);
	return fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? fd_steal(&fd) : -1;
}

bool object_source_has(const struct object_source *source, const unsigned char id[FSCK_ID])
{
	AUTO_FD fd = source->objects < 0 ? -1 : open_loose(source, id);
	bool found = fd >= 0;

	for (size_t i = 0; i < source->pack_count && !found; i++)
		found = packread_has(&source->packs[i], id);
	return found;
}

int object_source_read(struct object_source *source, const unsigned char id[FSCK_ID],
		       struct packread_object *ret_object, struct error *err)
{
	AUTO_FD fd = source->objects < 0 ? -1 : open_loose(source, id);
	int result = 0;

	*ret_object = (struct packread_object){ 0 };
	if (fd >= 0) {
		struct unpack *unpack = mem_alloc(sizeof *unpack);

		unpack_begin(unpack, fd, 0);
		result = read_loose(source, unpack, ret_object, err);
		unpack_end(unpack);
		free(unpack);
		return result;
	}
	for (size_t i = 0; i < source->pack_count && result == 0; i++)
		result = packread_find(&source->packs[i], id, &source->limits, ret_object, err);
	return result;
}
