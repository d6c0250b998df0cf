/* Merging small packs: see pack.h. */
#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/store/pack.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/list.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SMALL = 32, SMALL_BYTES = 4 << 20 };

/* An index of version 2, as make_index() writes it. */
enum { FAN_OUT = 8, IDS = FAN_OUT + 256 * 4 };

/* Lists packs that are worth merging, as "pack-ID". */
static void list_small(int folder, struct list *ret_names)
{
	int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct stat status;

	if (dir)
		rewinddir(dir);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		size_t size = strlen(entry->d_name);

		if (text_after_prefix(entry->d_name, "pack-") && size > 5 &&
		    strcmp(entry->d_name + size - 5, ".pack") == 0 &&
		    fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    status.st_size < SMALL_BYTES)
			list_printf(ret_names, "%.*s", (int)size - 5, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* Copies all objects of a pack that its index names. */
static int copy_pack(struct pack *pack, int folder, const char *name, struct error *err)
{
	AUTO_FREE char *path = mem_format("%s.idx", name);
	AUTO_FD fd = openat(folder, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_BUFFER struct buffer index = BUFFER_INIT(16 * SMALL_BYTES);
	uint32_t count;

	if (fd < 0 || fd_read_all(fd, &index) < 0)
		return error_sys(err, "read '%s'", path);
	if (index.used < IDS)
		return error_set(err, "'%s' is not the index of a pack", path);
	memcpy(&count, index.data + IDS - sizeof count, sizeof count);
	count = ntohl(count);
	if ((index.used - IDS) / NODE_ID < count)
		return error_set(err, "'%s' is not the index of a pack", path);
	for (uint32_t i = 0; i < count; i++) {
		git_oid id;

		memcpy(id.id, index.data + IDS + (size_t)i * NODE_ID, NODE_ID);
		if (!pack_has(pack, id.id) && pack_copy(pack, &id, err) < 0)
			return -1;
	}
	return 0;
}

/* Removes indexes first: without its index a pack is never opened. */
static void remove_packs(int folder, const struct list *names, const char *kept)
{
	static const char *const endings[] = { "idx", "pack" };

	for (size_t round = 0; round < 2; round++) {
		fault_point();
		for (size_t i = 0; i < names->count; i++) {
			AUTO_FREE char *name = mem_format("%s.%s", names->items[i], endings[round]);

			if (strncmp(name, kept, strlen(kept)) != 0)
				unlinkat(folder, name, 0);
		}
	}
}

int pack_merge(struct checkpoint_repo *repo, struct error *err)
{
	AUTO_FREE char *path = mem_format("%s/objects/pack", repo->path);
	AUTO_FD folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct list names = { 0 };
	struct pack *pack;
	int result = 0;

	if (folder < 0)
		return error_sys(err, "open '%s'", path);
	list_small(folder, &names);
	if (names.count <= MOST_SMALL) {
		list_release(&names);
		return 0;
	}
	pack = pack_new(repo, true, NULL);
	for (size_t i = 0; i < names.count && result == 0; i++)
		result = copy_pack(pack, folder, names.items[i], err);
	if (result == 0)
		result = pack_finish(pack, err);
	if (result == 0 && *pack_name(pack))
		remove_packs(folder, &names, pack_name(pack));
	pack_free(pack);
	list_release(&names);
	return result;
}
