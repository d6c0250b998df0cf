/* Objects in memory. */
#include "snapshot/apply/memory_objects.h"

#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "util/mem.h"

#include <git2/sys/odb_backend.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<git2/sys/errors.h>) /* newer than libgit2 1.5: git_error_set_str() */
#include <git2/sys/errors.h>
#endif

/* A merge creates one object for each file that both sides changed, and the trees above. */
enum { FIRST = 1000, MOST_BYTES = 1 << 30, SMALLEST = 64 };

struct object {
	git_oid id;
	git_object_t type;
	size_t size;
	void *bytes;
};

struct memory_objects {
	git_odb_backend backend; /* first member: libgit2 passes a pointer to it */
	struct object *items;
	size_t count;
	size_t bytes;
	size_t *table; /* hash table by id: index of an item plus one, or 0 */
	size_t slots;
};

static size_t *slot_of(const struct memory_objects *memory, const git_oid *id)
{
	size_t slot;

	memcpy(&slot, id->id, sizeof slot);
	for (slot &= memory->slots - 1; memory->table[slot];
	     slot = (slot + 1) & (memory->slots - 1))
		if (git_oid_equal(&memory->items[memory->table[slot] - 1].id, id))
			break;
	return &memory->table[slot];
}

/* Keeps at least half of the table empty. */
static void grow(struct memory_objects *memory)
{
	if (memory->items && 2 * (memory->count + 1) <= memory->slots)
		return;
	free(memory->table);
	memory->slots = memory->slots ? 2 * memory->slots : SMALLEST;
	memory->table = mem_zero(memory->slots * sizeof *memory->table);
	memory->items = mem_resize(memory->items, memory->slots, sizeof *memory->items);
	for (size_t i = 0; i < memory->count; i++)
		*slot_of(memory, &memory->items[i].id) = i + 1;
}

static const struct object *find(const git_odb_backend *backend, const git_oid *id)
{
	const struct memory_objects *memory = (const struct memory_objects *)backend;

	size_t found = memory->slots ? *slot_of(memory, id) : 0;

	return found ? &memory->items[found - 1] : NULL;
}

static int has(git_odb_backend *backend, const git_oid *id)
{
	return find(backend, id) != NULL;
}

static int read_head(size_t *size, git_object_t *type, git_odb_backend *backend, const git_oid *id)
{
	const struct object *object = find(backend, id);

	if (!object)
		return GIT_ENOTFOUND;
	*size = object->size;
	*type = object->type;
	return 0;
}

static int read_all(void **bytes, size_t *size, git_object_t *type, git_odb_backend *backend,
		    const git_oid *id)
{
	const struct object *object = find(backend, id);

	if (!object)
		return GIT_ENOTFOUND;
	*bytes = git_odb_backend_data_alloc(backend, object->size + 1);
	if (!*bytes)
		return GIT_ERROR;
	memcpy(*bytes, object->bytes, object->size);
	((char *)*bytes)[object->size] = '\0';
	*size = object->size;
	*type = object->type;
	return 0;
}

static int write_object(git_odb_backend *backend, const git_oid *id, const void *bytes, size_t size,
			git_object_t type)
{
	struct memory_objects *memory = (struct memory_objects *)backend;

	if (find(backend, id))
		return 0;
	if (size > MOST_BYTES - memory->bytes) {
		git_error_set_str(GIT_ERROR_ODB, "the new objects are larger than 1 GiB");
		return GIT_ERROR;
	}
	grow(memory);
	memory->items[memory->count] = (struct object){
		.id = *id, .type = type, .size = size, .bytes = mem_alloc(size + 1)
	};
	memcpy(memory->items[memory->count].bytes, bytes, size);
	*slot_of(memory, id) = ++memory->count;
	memory->bytes += size;
	return 0;
}

static void free_backend(git_odb_backend *backend)
{
	struct memory_objects *memory = (struct memory_objects *)backend;

	for (size_t i = 0; i < memory->count; i++)
		free(memory->items[i].bytes);
	free(memory->items);
	free(memory->table);
	free(memory);
}

int memory_objects_begin(git_repository *repository, struct memory_objects **ret_memory,
			 struct error *err)
{
	struct memory_objects *memory = mem_zero(sizeof *memory);
	git_odb *odb = NULL;
	int result = 0;

	if (git_odb_init_backend(&memory->backend, GIT_ODB_BACKEND_VERSION) < 0 ||
	    git_repository_odb(&odb, repository) < 0) {
		free(memory);
		return libgit_error("open the objects of the repository", err);
	}
	memory->backend.read = read_all;
	memory->backend.read_header = read_head;
	memory->backend.write = write_object;
	memory->backend.exists = has;
	memory->backend.free = free_backend;
	if (git_odb_add_backend(odb, &memory->backend, FIRST) < 0) {
		result = libgit_error("open the objects of the repository", err);
		free(memory);
	} else {
		*ret_memory = memory;
	}
	git_odb_free(odb);
	return result;
}

int memory_objects_write(struct memory_objects *memory, git_repository *repository, bool sync,
			 struct error *err)
{
	git_buf path = { 0 };
	git_odb *disk = NULL;
	int result = 0;

	libgit_sync(sync);
	if (git_repository_item_path(&path, repository, GIT_REPOSITORY_ITEM_OBJECTS) < 0 ||
	    git_odb_open(&disk, path.ptr) < 0)
		result = libgit_error("open the objects of the repository", err);
	for (size_t i = 0; i < memory->count && result == 0; i++) {
		const struct object *object = &memory->items[i];
		git_oid id;

		fault_point();
		if (git_odb_write(&id, disk, object->bytes, object->size, object->type) < 0)
			result = libgit_error("write an object to the repository", err);
	}
	libgit_sync(true);
	git_odb_free(disk);
	git_buf_dispose(&path);
	return result;
}
