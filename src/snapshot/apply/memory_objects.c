/* Objects in memory: see memory_objects.h. */
#include "snapshot/apply/memory_objects.h"

#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "util/mem.h"

#include <git2/sys/odb_backend.h>
#include <stdlib.h>
#include <string.h>

/* A merge makes as many as files were changed on both sides, and the trees above them. */
enum { FIRST = 1000, MOST_BYTES = 1 << 30, SMALLEST = 64 };

struct draft {
	git_oid id;
	git_object_t type;
	size_t size;
	void *bytes;
};

struct memory_objects {
	git_odb_backend backend; /* first: libgit2 knows no more of it */
	struct draft *items;
	size_t count;
	size_t bytes;
	size_t *table; /* by id: the number of an item, and one more; 0: nothing is here */
	size_t slots;
};

static size_t *slot_of(const struct memory_objects *drafts, const git_oid *id)
{
	size_t slot;

	memcpy(&slot, id->id, sizeof slot);
	for (slot &= drafts->slots - 1; drafts->table[slot];
	     slot = (slot + 1) & (drafts->slots - 1))
		if (git_oid_equal(&drafts->items[drafts->table[slot] - 1].id, id))
			break;
	return &drafts->table[slot];
}

/* At least half of it is empty. */
static void grow(struct memory_objects *drafts)
{
	if (drafts->items && 2 * (drafts->count + 1) <= drafts->slots)
		return;
	free(drafts->table);
	drafts->slots = drafts->slots ? 2 * drafts->slots : SMALLEST;
	drafts->table = mem_zero(drafts->slots * sizeof *drafts->table);
	drafts->items = mem_resize(drafts->items, drafts->slots, sizeof *drafts->items);
	for (size_t i = 0; i < drafts->count; i++)
		*slot_of(drafts, &drafts->items[i].id) = i + 1;
}

static const struct draft *find(const git_odb_backend *backend, const git_oid *id)
{
	const struct memory_objects *drafts = (const struct memory_objects *)backend;

	size_t found = drafts->slots ? *slot_of(drafts, id) : 0;

	return found ? &drafts->items[found - 1] : NULL;
}

static int has(git_odb_backend *backend, const git_oid *id)
{
	return find(backend, id) != NULL;
}

static int read_head(size_t *size, git_object_t *type, git_odb_backend *backend, const git_oid *id)
{
	const struct draft *draft = find(backend, id);

	if (!draft)
		return GIT_ENOTFOUND;
	*size = draft->size;
	*type = draft->type;
	return 0;
}

static int read_all(void **bytes, size_t *size, git_object_t *type, git_odb_backend *backend,
		    const git_oid *id)
{
	const struct draft *draft = find(backend, id);

	if (!draft)
		return GIT_ENOTFOUND;
	*bytes = git_odb_backend_data_alloc(backend, draft->size + 1);
	if (!*bytes)
		return GIT_ERROR;
	memcpy(*bytes, draft->bytes, draft->size);
	((char *)*bytes)[draft->size] = '\0';
	*size = draft->size;
	*type = draft->type;
	return 0;
}

static int keep(git_odb_backend *backend, const git_oid *id, const void *bytes, size_t size,
		git_object_t type)
{
	struct memory_objects *drafts = (struct memory_objects *)backend;

	if (find(backend, id))
		return 0;
	if (size > MOST_BYTES - drafts->bytes) {
		git_error_set_str(GIT_ERROR_ODB, "the new objects are larger than 1 GiB");
		return GIT_ERROR;
	}
	grow(drafts);
	drafts->items[drafts->count] = (struct draft){
		.id = *id, .type = type, .size = size, .bytes = mem_alloc(size + 1)
	};
	memcpy(drafts->items[drafts->count].bytes, bytes, size);
	*slot_of(drafts, id) = ++drafts->count;
	drafts->bytes += size;
	return 0;
}

static void drop(git_odb_backend *backend)
{
	struct memory_objects *drafts = (struct memory_objects *)backend;

	for (size_t i = 0; i < drafts->count; i++)
		free(drafts->items[i].bytes);
	free(drafts->items);
	free(drafts->table);
	free(drafts);
}

int memory_objects_begin(git_repository *repository, struct memory_objects **ret_drafts,
			 struct error *err)
{
	struct memory_objects *drafts = mem_zero(sizeof *drafts);
	git_odb *odb = NULL;
	int result = 0;

	if (git_odb_init_backend(&drafts->backend, GIT_ODB_BACKEND_VERSION) < 0 ||
	    git_repository_odb(&odb, repository) < 0) {
		free(drafts);
		return libgit_error("open the objects of the repository", err);
	}
	drafts->backend.read = read_all;
	drafts->backend.read_header = read_head;
	drafts->backend.write = keep;
	drafts->backend.exists = has;
	drafts->backend.free = drop;
	if (git_odb_add_backend(odb, &drafts->backend, FIRST) < 0) {
		result = libgit_error("open the objects of the repository", err);
		free(drafts);
	} else {
		*ret_drafts = drafts;
	}
	git_odb_free(odb);
	return result;
}

int memory_objects_keep(struct memory_objects *drafts, git_repository *repository, bool sync,
			struct error *err)
{
	git_buf path = { 0 };
	git_odb *disk = NULL;
	int result = 0;

	git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, sync ? 1 : 0);
	if (git_repository_item_path(&path, repository, GIT_REPOSITORY_ITEM_OBJECTS) < 0 ||
	    git_odb_open(&disk, path.ptr) < 0)
		result = libgit_error("open the objects of the repository", err);
	for (size_t i = 0; i < drafts->count && result == 0; i++) {
		const struct draft *draft = &drafts->items[i];
		git_oid id;

		fault_point();
		if (git_odb_write(&id, disk, draft->bytes, draft->size, draft->type) < 0)
			result = libgit_error("write an object into the repository", err);
	}
	git_odb_free(disk);
	git_buf_dispose(&path);
	return result;
}
