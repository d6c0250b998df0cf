/* Run records, their locks, and recovery: see run_record.h. */
#include "fence/run/run_record.h"
#include "fence/after/sweep.h"
#include "fence/plan/known.h"

#include "fence/watch/cgroup.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	MOST_RECORD = 64 << 20,
	/* Modes of a record: */
	RUNNING = 0600,
	SWEEPING = 0640,
	SWEPT = 0700, /* only waits for its removal */
};

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

static char *quarantine_path(const char *state, const char *id)
{
	return mem_format("%s/quarantine/%s", state, id);
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
 * system does not support that, a file with the temporary name. *ret_named reports which.
 */
static int open_temporary(const char *folder, const char *temporary, bool *ret_named)
{
	int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	*ret_named = fd < 0;
	return fd >= 0 ? fd : open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static int publish(int fd, bool named, const char *temporary, const char *path)
{
	char link[64];

	if (named)
		return rename(temporary, path);
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

static void release_roots(struct run_record *run)
{
	for (size_t i = 0; i < run->root_count; i++)
		fd_close(&run->roots[i]);
	free(run->roots);
	run->roots = NULL;
	run->root_count = 0;
	buffer_release(&run->record);
}

/* Opens the folder of a rule, which must still be the one that was planned. */
static int hold_root(struct run_record *run, const struct fence_rule *rule, struct error *err)
{
	AUTO_FD root = open(rule->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (root < 0 || fstat(root, &status) < 0)
		return error_sys(err, "open '%s'", rule->path);
	if (status.st_dev != rule->device || status.st_ino != rule->inode)
		return error_set(err, "'%s' changed while the fence was being set up; try again",
				 rule->path);
	run->roots = mem_extend(run->roots, run->root_count, sizeof *run->roots);
	run->roots[run->root_count++] = fd_steal(&root);
	return 0;
}

static int hold_roots(struct run_record *run, const struct fence_plan *plan, struct error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < plan->rule_count; i++)
		if (baseline_is_root(&plan->rules[i]))
			result = hold_root(run, &plan->rules[i], err);
	return result;
}

/* The record gets its name only when it is locked and complete. */
static int write_record(const struct fence_plan *plan, struct run_record *ret_run,
			struct error *err)
{
	const struct buffer *record = &ret_run->record;
	AUTO_FREE char *id = new_id();
	AUTO_FREE char *runs = path_join(plan->state, "runs");
	AUTO_FREE char *path = path_join(runs, id);
	AUTO_FREE char *temporary = mem_format("%s/.%s", runs, id);
	AUTO_FREE char *quarantine = quarantine_path(plan->state, id);
	AUTO_FD lock = -1;
	bool named = false;

	lock = open_temporary(runs, temporary, &named);
	if (lock < 0 || (mkdir(quarantine, 0700) < 0 && state_folder_make(quarantine, 0700) < 0))
		return error_sys(err, "write the run's record '%s'", path);
	if (buffer_overflowed(record))
		errno = EFBIG;
	if (buffer_overflowed(record) || flock(lock, LOCK_EX | LOCK_NB) < 0 ||
	    fd_write_all(lock, record->data, record->used) < 0 ||
	    publish(lock, named, temporary, path) < 0) {
		error_sys(err, "write the run's record '%s'", path);
		if (named)
			unlink(temporary);
		rmdir(quarantine);
		return -1;
	}
	ret_run->id = id;
	ret_run->path = path;
	ret_run->lock = fd_steal(&lock);
	id = path = NULL;
	return 0;
}

int run_record_begin(const struct fence_plan *plan, struct run_record *ret_run, struct error *err)
{
	struct run_record run = { .lock = -1, .record = BUFFER_INIT(MOST_RECORD) };
	int result = hold_roots(&run, plan, err);

	if (result == 0) {
		baseline_write(plan, run.roots, &run.record);
		result = write_record(plan, &run, err);
	}
	if (result < 0)
		release_roots(&run);
	else
		*ret_run = run;
	return result;
}

/* The name was made after the file: file systems that have a journal sync both. */
int run_record_sync(const struct run_record *run, struct error *err)
{
	return fsync(run->lock) < 0 ? error_sys(err, "sync the run's record '%s'", run->path) : 0;
}

int run_record_hold(const char *state)
{
	AUTO_FREE char *path = path_join(state, "scan.lock");
	AUTO_FD lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (lock >= 0 && flock(lock, LOCK_SH) < 0)
		return -1;
	return fd_steal(&lock);
}

/* Locks the folder of records for the moment of a removal. Gives up if its holder was stopped. */
static bool lock_removals(int runs)
{
	enum { TRIES = 100 };

	for (int i = 0; i < TRIES; i++) {
		if (flock(runs, LOCK_EX | LOCK_NB) == 0)
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

static void remove_swept(DIR *runs)
{
	struct stat status;

	for (struct dirent *at; (at = readdir(runs));)
		if (fstatat(dirfd(runs), at->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode) && (status.st_mode & 0777) == SWEPT)
			unlinkat(dirfd(runs), at->d_name, 0);
}

/*
 * Removes the record of a run that has been swept, and those that earlier runs had to leave, unless
 * somebody scans: that ringfence may have seen what these runs made, and must still find their
 * records. It removes them when its own run ends. A record that stays is marked, so that it is not
 * swept by again.
 */
static void remove_record(const char *state, int record)
{
	AUTO_FREE char *lock_path = path_join(state, "scan.lock");
	AUTO_FREE char *folder = path_join(state, "runs");
	AUTO_FD lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	DIR *runs = opendir(folder);

	fchmod(record, SWEPT);
	if (runs && lock >= 0 && lock_removals(dirfd(runs)) && flock(lock, LOCK_EX | LOCK_NB) == 0)
		remove_swept(runs);
	if (runs)
		closedir(runs);
}

/* A run whose sweep looks for other runs that are responsible for an entry. */
struct looking {
	const char *state;
	const char *id;
};

/* Reports whether the run of a record is alive, and its sweep has not begun. */
static bool is_running(int record)
{
	struct stat status;

	return fstat(record, &status) == 0 && (status.st_mode & 0777) == RUNNING &&
	       status.st_nlink > 0 && flock(record, LOCK_SH | LOCK_NB) < 0;
}

/* Reports whether a run will still sweep an entry. If its sweep has begun, it may have passed the
 * entry already; if it was killed, nobody may start for a long time. */
static bool will_sweep(int folder, const char *name, const struct fence_known *entry)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(MOST_RECORD);
	AUTO_FD file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct baseline baseline;
	struct error damaged;

	if (name[0] == '.' || file < 0 || !is_running(file) || fd_read_all(file, &record) < 0 ||
	    baseline_read(record.data, record.used, &baseline, &damaged) < 0)
		return false;

	bool its_own = !baseline.foreign && !baseline_vouches(&baseline, entry) && is_running(file);

	baseline_release(&baseline);
	return its_own;
}

static bool left_to_others(void *context, const char *path)
{
	const struct looking *looking = context;
	AUTO_FREE char *runs = path_join(looking->state, "runs");
	struct fence_known entry = { .path = mem_dup(path) };
	DIR *folder = opendir(runs);
	bool left = false;

	if (folder && known_identify(AT_FDCWD, path, &entry.inode) == 0)
		for (struct dirent *at; !left && (at = readdir(folder));)
			left = strcmp(at->d_name, looking->id) != 0 &&
			       will_sweep(dirfd(folder), at->d_name, &entry);
	if (folder)
		closedir(folder);
	free(entry.path);
	return left;
}

/* Sweeps by the record of a run, whose roots it holds or not. The folder in the quarantine goes if
 * nothing was put there. */
static int sweep_record(const struct run_record *run, const struct fence_plan *plan,
			struct fence_found *found, struct list *notices, struct error *err)
{
	AUTO_FREE char *all = path_join(plan->state, "quarantine");
	AUTO_FREE char *own = quarantine_path(plan->state, run->id);
	struct looking looking = { plan->state, run->id };
	const struct sweep_place place = { .quarantine = all,
					   .state = plan->state,
					   .id = run->id,
					   .left = left_to_others,
					   .context = &looking,
					   .search = plan->project,
					   .notices = notices };
	struct baseline baseline;
	int result;

	if (baseline_read(run->record.data, run->record.used, &baseline, err) < 0)
		return -1;
	for (size_t i = 0; i < run->root_count && i < baseline.root_count; i++)
		baseline.roots[i].held = run->roots[i];
	fchmod(run->lock, SWEEPING);
	result = sweep(&baseline, &place, found, err);
	baseline_release(&baseline);
	rmdir(own);
	return result;
}

int run_record_end(struct run_record *run, const struct fence_plan *plan, struct fence_found *found,
		   struct list *notices, struct error *err)
{
	int result = sweep_record(run, plan, found, notices, err);

	/* If something could not be moved, the record stays and the next start tries again. */
	if (result == 0)
		remove_record(plan->state, run->lock);
	release_roots(run);
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

/* Reports whether a record's places overlap with path. False if the record is damaged. */
static bool concerns(const struct buffer *record, const char *path)
{
	struct baseline baseline;
	struct error err;

	if (baseline_read(record->data, record->used, &baseline, &err) < 0)
		return false;

	bool overlaps = baseline_overlaps(&baseline, path);

	baseline_release(&baseline);
	return overlaps;
}

/* Sweeps by the record at `name` and removes it, if its run is dead. */
static int recover_one(struct fence_plan *plan, int folder, const char *name, struct error *err)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(MOST_RECORD);
	AUTO_FREE char *path = mem_format("%s/runs/%s", plan->state, name);
	AUTO_FD lock = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	struct error why;

	if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0 || fstat(lock, &status) < 0 ||
	    status.st_nlink == 0)
		return 0;     /* alive, or removed in the meantime */
	if (name[0] == '.') { /* temporary, perhaps still being written: its run never started */
		if (time(NULL) - status.st_mtime > 60)
			unlinkat(folder, name, 0);
		return 0;
	}
	if ((status.st_mode & 0777) == SWEPT) {
		list_add(&plan->ended, name);
		remove_record(plan->state, lock);
		return 0;
	}
	recover_groups();
	if (fd_read_all(lock, &record) < 0)
		return error_sys(err, "read the record of run %s", name);

	const struct run_record run = { .id = (char *)name, .lock = lock, .record = record };

	if (sweep_record(&run, plan, &plan->recovered, &plan->notices, &why) < 0) {
		error_set(
			err,
			"cannot sweep a killed run: %s; check its project for new hooks and settings, then "
			"remove '%s'",
			why.text, path);
		if (concerns(&record, plan->project))
			return -1;
		list_add(&plan->notices, err->text);
		return 0;
	}
	list_add(&plan->ended, name);
	remove_record(plan->state, lock);
	return 0;
}

static int each_record(struct fence_plan *plan,
		       int each(struct fence_plan *plan, int folder, const char *name,
				struct error *err),
		       struct error *err)
{
	AUTO_FREE char *path = path_join(plan->state, "runs");
	DIR *folder = opendir(path);
	int result = 0;

	if (!folder)
		return errno == ENOENT ? 0 : error_sys(err, "read '%s'", path);
	for (struct dirent *entry; result == 0 && (entry = readdir(folder));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			result = each(plan, dirfd(folder), entry->d_name, err);
	closedir(folder);
	return result;
}

int run_record_recover(struct fence_plan *plan, struct error *err)
{
	return each_record(plan, recover_one, err);
}

/* Keeps what another run vouches for. */
static void keep_vouched(struct fence_plan *plan, const struct baseline *other)
{
	size_t known = 0;
	size_t links = 0;

	for (size_t i = 0; i < plan->known_count; i++) {
		if (plan->known[i].hidden || baseline_vouches(other, &plan->known[i])) {
			plan->known[known++] = plan->known[i];
		} else {
			known_add_other(plan, plan->known[i].path);
			free(plan->known[i].path);
		}
	}
	plan->known_count = known;
	for (size_t i = 0; i < plan->link_count; i++) {
		/* An empty target only adds a path to examine. */
		if (!*plan->links[i].target || baseline_vouches_link(other, &plan->links[i])) {
			plan->links[links++] = plan->links[i];
		} else {
			known_add_other(plan, plan->links[i].path);
			free(plan->links[i].path);
			free(plan->links[i].target);
		}
	}
	plan->link_count = links;
}

static int inherit_one(struct fence_plan *plan, int folder, const char *name, struct error *err)
{
	AUTO_BUFFER struct buffer record = BUFFER_INIT(MOST_RECORD);
	struct baseline other;
	struct error damaged;
	int result = 0;

	if (name[0] == '.' || list_has(&plan->ended, name) ||
	    fd_read_file(folder, name, &record) < 0 ||
	    baseline_read(record.data, record.used, &other, &damaged) < 0)
		return 0; /* temporary; or gone; or damaged, which recovery has reported */
	if (!other.foreign)
		keep_vouched(plan, &other);
	else if (baseline_overlaps(&other, plan->project))
		result = error_set(
			err,
			"another version of Ringfence is at work on this project (%s/runs/%s); try again "
			"when it has ended",
			plan->state, name);
	baseline_release(&other);
	return result;
}

int run_record_inherit(struct fence_plan *plan, struct error *err)
{
	return each_record(plan, inherit_one, err);
}
