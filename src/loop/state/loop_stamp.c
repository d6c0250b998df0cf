/* Stamps of loops: see loop_stamp.h. */
#include "loop/state/loop_stamp.h"

#include "loop/state/loop_folder.h"
#include "util/clock.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <sys/stat.h>

/* The kernel's time of a change has steps of some milliseconds. */
enum { YOUNG_MS = 50 };

static const char *const names[LOOP_STAMP_FILES] = { "journal.db", "journal.db-wal", "state.json",
						     "trouble.txt" };

bool loop_stamp_file(const char *path, struct loop_stamp_file *ret_file)
{
	struct stat info;

	*ret_file = (struct loop_stamp_file){ 0 };
	if (lstat(path, &info) < 0)
		return false;
	*ret_file = (struct loop_stamp_file){
		.inode = info.st_ino,
		.size = (uint64_t)info.st_size,
		.changed_ns = (int64_t)info.st_ctim.tv_sec * 1000000000 + info.st_ctim.tv_nsec,
	};
	return clock_wall_ms() - ret_file->changed_ns / 1000000 < YOUNG_MS;
}

void loop_stamp_read(const char *folder, struct loop_stamp *ret_stamp)
{
	struct loop_stamp stamp = { .locked = loop_folder_is_locked(folder) };

	stamp.kept = !stamp.locked && loop_folder_is_kept(folder);
	for (int i = 0; i < LOOP_STAMP_FILES; i++) {
		AUTO_FREE char *path = path_join(folder, names[i]);

		stamp.young |= loop_stamp_file(path, &stamp.files[i]);
	}
	*ret_stamp = stamp;
}

bool loop_stamp_same_file(const struct loop_stamp_file *earlier, const struct loop_stamp_file *now)
{
	return earlier->inode == now->inode && earlier->size == now->size &&
	       earlier->changed_ns == now->changed_ns;
}

bool loop_stamp_same(const struct loop_stamp *earlier, const struct loop_stamp *now)
{
	for (int i = 0; i < LOOP_STAMP_FILES; i++)
		if (!loop_stamp_same_file(&earlier->files[i], &now->files[i]))
			return false;
	return !earlier->young && earlier->locked == now->locked && earlier->kept == now->kept;
}
