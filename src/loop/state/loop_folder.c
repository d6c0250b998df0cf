/* The folders of loops: see loop_folder.h. */
#include "loop/state/loop_folder.h"

#include "util/file/durable.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/id.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 200 };

char *loop_folder_loops(const char *state, struct error *err)
{
	char *loops = path_join(state, "loops");

	if (state_folder_make(loops, 0700) == 0)
		return loops;
	error_sys(err, "make '%s'", loops);
	free(loops);
	return NULL;
}

int loop_folder_new(const char *loops, char **ret_id, char **ret_folder, struct error *err)
{
	for (int tries = 0; tries < 100; tries++) {
		AUTO_FREE char *id = id_new();
		AUTO_FREE char *folder = path_join(loops, id);

		if (mkdir(folder, 0700) == 0 && durable_sync_name(folder) == 0) {
			*ret_id = id;
			*ret_folder = folder;
			id = folder = NULL;
			return 0;
		}
		if (errno != EEXIST)
			return error_sys(err, "make '%s'", folder);
	}
	return error_set(err, "cannot find a free id for a loop in '%s'", loops);
}

int loop_folder_claim(const char *loops, const char *id, struct error *err)
{
	AUTO_FREE char *folder = path_join(loops, id);
	AUTO_FREE char *journal = path_join(folder, "journal.db");

	if (!id_is_valid(id))
		return error_with(err, ERROR_INVALID,
				  "'%.100s' is not a valid id of a loop: it is a date, a time and "
				  "four letters, as in 20260102-030405-abcd",
				  id);
	if (access(journal, F_OK) == 0)
		return error_with(err, ERROR_EXISTS, "the loop %s exists already", id);
	if ((mkdir(folder, 0700) < 0 && errno != EEXIST) || durable_sync_name(folder) < 0)
		return error_sys(err, "make '%s'", folder);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int loop_folder_list(const char *loops, struct list *ret_ids, struct error *err)
{
	DIR *dir = opendir(loops);

	if (!dir)
		return error_sys(err, "read '%s'", loops);
	for (struct dirent *entry; (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			list_add(ret_ids, entry->d_name);
	closedir(dir);
	if (ret_ids->count)
		qsort(ret_ids->items, ret_ids->count, sizeof *ret_ids->items, by_name);
	return 0;
}

char *loop_folder_state(const char *folder)
{
	return strndup(folder, strlen(folder) - strlen(path_name(folder)) - strlen("/loops/"));
}

char *loop_folder_iteration(const char *folder, unsigned int iteration, unsigned int attempt)
{
	return attempt > 1 ? mem_format("%s/iterations/%u.%u", folder, iteration, attempt)
			   : mem_format("%s/iterations/%u", folder, iteration);
}

int loop_folder_lock(const char *folder, struct error *err)
{
	AUTO_FREE char *path = path_join(folder, "lock");
	AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return error_sys(err, "open '%s'", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return error_sys(err, "lock '%s'", path);
	return fd_steal(&fd);
}

int loop_folder_await_lock(const char *folder, struct error *err)
{
	int lock = loop_folder_lock(folder, err);

	for (int i = 0; lock < 0 && err->status == ERROR_BUSY && i < LOCK_TRIES; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
		lock = loop_folder_lock(folder, err);
	}
	return lock;
}

bool loop_folder_is_locked(const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "lock");
	AUTO_FD fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;
}

/* Such a lock can be looked at without taking it, so nobody who looks is in a keeper's way. */
int loop_folder_keep(const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "kept");
	AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct flock shared = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fd >= 0 && fcntl(fd, F_OFD_SETLK, &shared) == 0 ? fd_steal(&fd) : -1;
}

bool loop_folder_is_kept(const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "kept");
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fd >= 0 && fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

int loop_folder_write(const char *folder, const char *name, const char *text, size_t size,
		      struct error *err)
{
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fd_replace_file(fd, name, text, size, 0600) < 0)
		return error_sys(err, "write '%s/%s'", folder, name);
	return 0;
}
