/* The home of a run: see run_home.h. */
#include "fence/run/run_home.h"

#include "fence/mechanism/mechanism.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char shelf_name[] = "homes";
static const char lock_name[] = "lock";

/* Keeps runs apart, even of processes with the same number in different pid namespaces. */
static unsigned long random_number(void)
{
	unsigned long number = 0;

	if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0)
		number = (unsigned long)time(NULL);
	return number;
}

void run_home_choose(struct fence_plan *plan)
{
	if (!mechanism_shares_host(plan->mechanism)) {
		plan->home = plan->identity.home[0] ? mem_dup(plan->identity.home)
						    : path_join("/home", plan->identity.name);
		plan->tmp = mem_dup("/tmp");
		return;
	}
	plan->own = mem_format("%s/%s/%d-%016lx", plan->state, shelf_name, getpid(),
			       random_number());
	plan->home = path_join(plan->own, "home");
	plan->tmp = path_join(plan->own, "tmp");
}

/* Removes a folder whose run has ended: nobody holds its lock. */
static void remove_if_dead(int shelf, const char *name)
{
	AUTO_FREE char *path = path_join(name, lock_name);
	AUTO_FD lock = openat(shelf, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
		dirwalk_remove(shelf, name, NULL);
}

static void remove_dead(int shelf)
{
	int copy = dup(shelf);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			remove_if_dead(shelf, entry->d_name);
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
}

/* The lock is made, and held, before the folder has its name. */
static int make_folder(const struct fence_plan *plan, int shelf, int *ret_lock)
{
	AUTO_FREE char *name = mem_format(".%s", path_name(plan->own));
	AUTO_FD folder = -1;
	AUTO_FD lock = -1;

	if (mkdirat(shelf, name, 0700) < 0 ||
	    (folder = openat(shelf, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
	    (lock = openat(folder, lock_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0 ||
	    flock(lock, LOCK_EX | LOCK_NB) < 0 ||
	    mkdirat(folder, path_name(plan->home), 0700) < 0 ||
	    mkdirat(folder, path_name(plan->tmp), 0700) < 0 ||
	    renameat(shelf, name, shelf, path_name(plan->own)) < 0)
		return -1;
	*ret_lock = fd_steal(&lock);
	return 0;
}

int run_home_make(const struct fence_plan *plan, int *ret_lock, struct error *err)
{
	AUTO_FREE char *path = path_join(plan->state, shelf_name);
	AUTO_FD shelf = -1;

	*ret_lock = -1;
	if (!plan->own)
		return 0;
	if (state_folder_make(path, 0700) < 0 ||
	    (shelf = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return error_sys(err, "create '%s'", path);
	remove_dead(shelf);
	return make_folder(plan, shelf, ret_lock) < 0 ? error_sys(err, "create '%s'", plan->own)
						      : 0;
}

int run_home_remove(const struct fence_plan *plan, int *lock, struct error *err)
{
	int result = plan->own && *lock >= 0 ? dirwalk_remove(AT_FDCWD, plan->own, NULL) : 0;

	if (result < 0)
		error_sys(err, "remove '%s'", plan->own);
	fd_close(lock);
	return result;
}
