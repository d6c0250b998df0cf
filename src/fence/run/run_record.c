/* Run records, their locks, and recovery: see run_record.h. */
#include "fence/run/run_record.h"
#include "fence/after/sweep.h"

#include "fence/watch/cgroup.h"
#include "util/file/fd.h"
#include "util/file/path.h"
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

/* The unreadable placeholders and the canary are created once and then reused. */
int run_record_prepare(const char *state, struct error *err)
{
	static const char *const folders[] = { "runs", "quarantine", "sockets", "hidden" };
	AUTO_FREE char *hidden_file = path_join(state, "hidden/file");
	AUTO_FREE char *hidden_folder = path_join(state, "hidden/folder");
	AUTO_FREE char *canary = path_join(state, "canary");

	AUTO_FREE char *runs = path_join(state, "runs");

	if (access(hidden_folder, F_OK) == 0 &&
	    access(runs, F_OK) == 0) /* the last one created and the most used one */
		return 0;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		AUTO_FREE char *path = path_join(state, folders[i]);

		if (state_folder_make(path, 0700) < 0)
			return error_sys(
				err,
				"create the state folder '%s' (set RINGFENCE_STATE_DIR to use another one)",
				path);
	}

	AUTO_FD file = open(hidden_file, O_RDONLY | O_CREAT | O_CLOEXEC, 0);
	AUTO_FD other = open(canary, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if ((file < 0 && errno != EACCES) || other < 0 ||
	    (mkdir(hidden_folder, 0) < 0 && errno != EEXIST))
		return error_sys(err, "prepare the state folder '%s'", state);
	return 0;
}

static char *new_id(void)
{
	unsigned int random = 0;
	time_t now = time(NULL);
	struct tm parts;
	char text[32];

	if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
		random = (unsigned int)getpid();
	gmtime_r(&now, &parts);
	strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
	return mem_format("%s-%08x", text, random);
}

/*
 * Opens an unnamed file, so that nothing is left behind if this process is killed now; if the file
 * system does not support that, a file with the draft's name. *ret_named reports which.
 */
static int open_draft(const char *folder, const char *draft, bool *ret_named)
{
	int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	*ret_named = fd < 0;
	return fd >= 0 ? fd : open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static int publish(int fd, bool named, const char *draft, const char *path)
{
	char link[64];

	if (named)
		return rename(draft, path);
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* The record gets its name only when it is locked and complete. */
int run_record_begin(const struct fence_plan *plan, struct run_record *ret_run, struct error *err)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(64 << 20);
	AUTO_FREE char *id = new_id();
	AUTO_FREE char *runs = path_join(plan->state, "runs");
	AUTO_FREE char *path = path_join(runs, id);
	AUTO_FREE char *draft = mem_format("%s/.%s", runs, id);
	AUTO_FD lock = -1;
	bool named = false;

	lock = open_draft(runs, draft, &named);
	if (lock < 0)
		return error_sys(err, "write the run's record '%s'", path);
	sweep_record(plan, &record);
	if (flock(lock, LOCK_EX | LOCK_NB) < 0 ||
	    fd_write_all(lock, record.data, record.used) < 0 ||
	    publish(lock, named, draft, path) < 0) {
		error_sys(err, "write the run's record '%s'", path);
		if (named)
			unlink(draft);
		return -1;
	}
	ret_run->id = id;
	ret_run->path = path;
	ret_run->lock = fd_steal(&lock);
	id = path = NULL;
	return 0;
}

/* The name was made after the file: file systems that have a journal sync both. */
int run_record_sync(const struct run_record *run, struct error *err)
{
	return fsync(run->lock) < 0 ? error_sys(err, "sync the run's record '%s'", run->path) : 0;
}

int run_record_end(struct run_record *run, const struct fence_plan *plan, struct fence_found *found,
		   struct error *err)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(64 << 20);
	AUTO_FREE char *quarantine = path_join(plan->state, "quarantine");
	int result;

	sweep_record(plan, &record);
	result = sweep(record.data, record.used, quarantine, run->id, found, err);

	/* If something could not be moved, the record stays and the next start tries again. */
	if (result == 0)
		unlink(run->path);
	fd_close(&run->lock);
	free(run->id);
	free(run->path);
	return result;
}

/* Removes the control groups of killed runs, which no process has locked. */
static void recover_groups(void)
{
	struct cgroup_place place;

	cgroup_place_find(&place);
	cgroup_recover(&place);
	cgroup_place_release(&place);
}

/* Sweeps by the record at `name` and removes it, if its run is dead. */
static int recover_one(struct fence_plan *plan, int folder, const char *name, struct error *err)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(64 << 20);
	AUTO_FREE char *quarantine = path_join(plan->state, "quarantine");
	AUTO_FD lock = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	struct error why;

	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0 || fstat(lock, &status) < 0 ||
	    status.st_nlink == 0)
		return 0;     /* alive, or removed in the meantime */
	if (name[0] == '.') { /* a draft, perhaps still being written: its run never started */
		if (time(NULL) - status.st_mtime > 60)
			unlinkat(folder, name, 0);
		return 0;
	}
	recover_groups();
	if (fd_read_all(lock, &record) < 0)
		return error_sys(err, "read the record of run %s", name);
	if (sweep(record.data, record.used, quarantine, name, &plan->recovered, &why) < 0) {
		error_set(
			err,
			"cannot sweep a killed run: %s; check its project for new hooks and settings, then "
			"remove '%s/runs/%s'",
			why.text, plan->state, name);
		if (sweep_concerns(record.data, record.used, plan->project))
			return -1;
		list_add(&plan->notices, err->text);
		return 0;
	}
	unlinkat(folder, name, 0);
	return 0;
}

int run_record_recover(struct fence_plan *plan, struct error *err)
{
	AUTO_FREE char *path = path_join(plan->state, "runs");
	DIR *folder = opendir(path);
	int result = 0;

	if (!folder)
		return errno == ENOENT ? 0 : error_sys(err, "read '%s'", path);
	for (struct dirent *entry; result == 0 && (entry = readdir(folder));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = recover_one(plan, dirfd(folder), entry->d_name, err);
	closedir(folder);
	return result;
}
