/*
 * The sweep moves entries that the host would execute, and that did not exist before the run, out
 * of the project.
 *
 * Mounts protect existing files. They cannot prevent a missing `.claude/settings.json` from being
 * created, nor the parent of a protected folder from being renamed. So after the run, when nothing
 * inside is alive and before anything on the host reads the tree, every such entry whose inode was
 * not known before is moved to quarantine. A known entry was mounted read-only all the time, and is
 * left alone wherever it is now.
 */
#include "fence/after/sweep.h"
#include "fence/plan/defaults.h"
#include "fence/plan/scan.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* A parsed record. */
struct record {
	const char *project;
	const char **roots;
	size_t root_count;
	uint64_t *root_devices;
	size_t root_device_count;
	struct fence_known *known;
	size_t known_count;
	const char **links; /* path, target, path, target, ... */
	size_t link_count;
	const char **exempt;
	size_t exempt_count;
	const char **hidden; /* folders hidden by an option or a pattern */
	size_t hidden_count;
};

struct sweeping {
	const struct record *record;
	const char *root;
	const char *quarantine; /* the folder of all quarantines */
	const char *id;
	struct fence_found *found;
	unsigned int stuck;
	int root_fd;
	int near; /* see open_near_quarantine(); -1 until needed */
	char *near_name;
	unsigned int near_count;
	uint64_t old_device, new_device; /* of the root, when recorded and now */
};

void sweep_record(const struct fence_plan *plan, struct buffer *record)
{
	wire_add_string(record, WIRE_CWD, plan->project);
	for (size_t i = 0; i < plan->rule_count; i++)
		/* A place that another source is mounted over was never written to, nor was the
		 * source. */
		if (plan->rules[i].access == WIRE_WRITE && plan->rules[i].is_dir &&
		    !plan->rules[i].source) {
			uint64_t device = plan->rules[i].device;

			wire_add_string(record, WIRE_ROOT, plan->rules[i].path);
			wire_add(record, WIRE_ROOT_DEVICE, &device, sizeof device);
		}
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *rule = &plan->rules[i];
		const struct fence_known folder = { rule->device, rule->inode };

		if (rule->access >= WIRE_HIDE && (rule->exact || rule->ignored) && rule->is_dir) {
			wire_add_string(record, WIRE_HIDDEN, rule->path);
			wire_add(record, WIRE_KNOWN, &folder, sizeof folder);
		}
	}
	for (size_t i = 0; i < plan->known_count; i++)
		wire_add(record, WIRE_KNOWN, &plan->known[i], sizeof plan->known[i]);
	for (size_t i = 0; i < plan->link_count; i++) {
		wire_add_string(record, WIRE_LINK, plan->links[i].path);
		wire_add_string(record, WIRE_LINK, plan->links[i].target);
	}
	for (size_t i = 0; i < plan->exempt.count; i++)
		wire_add_string(record, WIRE_EXEMPT, plan->exempt.items[i]);
}

static void add(const char ***list, size_t *count, const char *text)
{
	*list = mem_resize(*list, *count + 1, sizeof **list);
	(*list)[(*count)++] = text;
}

static void record_release(struct record *record)
{
	free(record->roots);
	free(record->root_devices);
	free(record->known);
	free(record->links);
	free(record->exempt);
	free(record->hidden);
}

static int record_read(const char *bytes, size_t size, struct record *record, struct error *err)
{
	struct wire_reader reader = { .at = bytes, .left = size };
	struct wire_record at;
	int more;

	while ((more = wire_next(&reader, &at)) > 0) {
		const char *text = wire_string(&at, 0);

		if (at.tag == WIRE_KNOWN && at.size == sizeof *record->known) {
			record->known = mem_resize(record->known, record->known_count + 1,
						   sizeof *record->known);
			memcpy(&record->known[record->known_count++], at.data, at.size);
		} else if (at.tag == WIRE_CWD && text && text[0] == '/') {
			record->project = text;
		} else if (at.tag == WIRE_ROOT && text && text[0] == '/') {
			add(&record->roots, &record->root_count, text);
		} else if (at.tag == WIRE_ROOT_DEVICE && at.size == sizeof(uint64_t)) {
			record->root_devices = mem_resize(record->root_devices,
							  record->root_device_count + 1,
							  sizeof(uint64_t));
			memcpy(&record->root_devices[record->root_device_count++], at.data,
			       at.size);
		} else if (at.tag == WIRE_LINK && text) {
			add(&record->links, &record->link_count, text);
		} else if (at.tag == WIRE_HIDDEN && text) {
			add(&record->hidden, &record->hidden_count, text);
		} else if (at.tag == WIRE_EXEMPT && text) {
			add(&record->exempt, &record->exempt_count, text);
		} else {
			return error_set(err, "the run record is damaged (tag %u)", at.tag);
		}
	}
	if (more < 0 || !record->project || record->link_count % 2 ||
	    record->root_device_count != record->root_count)
		return error_set(err, "the run record is damaged or truncated");
	return 0;
}

bool sweep_concerns(const char *bytes, size_t size, const char *path)
{
	struct record record = { 0 };
	struct error err;
	bool concerned = false;

	if (record_read(bytes, size, &record, &err) == 0) {
		concerned = path_within(path, record.project) || path_within(record.project, path);
		for (size_t i = 0; !concerned && i < record.root_count; i++)
			concerned = path_within(path, record.roots[i]) ||
				    path_within(record.roots[i], path);
	}
	record_release(&record);
	return concerned;
}

static bool known(const struct sweeping *sweeping, const struct dirwalk_entry *entry)
{
	const struct record *record = sweeping->record;
	struct stat status;

	if (fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;

	/* Device numbers may change at a reboot. */
	uint64_t device = status.st_dev == sweeping->new_device ? sweeping->old_device
								: status.st_dev;

	for (size_t k = 0; k < record->known_count; k++)
		if (record->known[k].device == device && record->known[k].inode == status.st_ino)
			return true;
	return false;
}

static bool known_link(const struct record *record, const struct dirwalk_entry *entry,
		       const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(entry->folder, entry->name, target, sizeof target - 1);

	if (n < 0)
		return false;
	target[n] = '\0';
	for (size_t i = 0; i < record->link_count; i += 2)
		if (strcmp(record->links[i], path) == 0 &&
		    strcmp(record->links[i + 1], target) == 0)
			return true;
	return false;
}

static bool exempt(const struct record *record, const char *path)
{
	for (size_t i = 0; i < record->exempt_count; i++)
		if (path_within(path, record->exempt[i]))
			return true;
	return false;
}

/* Returns a free name for a path below folder, and creates its parent folders. The caller frees it;
 * NULL with errno on failure. */
static char *make_place(const char *folder, const char *path)
{
	char *place = path_join(folder, path);
	AUTO_FREE char *parent = mem_dup(place);

	*strrchr(parent, '/') = '\0';
	if (state_folder_make(parent, 0700) < 0) {
		free(place);
		return NULL;
	}
	for (unsigned int n = 1; faccessat(AT_FDCWD, place, F_OK, AT_SYMLINK_NOFOLLOW) == 0; n++) {
		free(place);
		place = mem_format("%s/%s.%u", folder, path, n);
	}
	return place;
}

/* Moves an entry. If a folder's permissions forbid it, they were set by the command: open them
 * first. */
static int move(const struct dirwalk_entry *entry, int folder, const char *place)
{
	struct stat above;

	if (renameat(entry->folder, entry->name, folder, place) == 0)
		return 0;
	if (errno != EACCES && errno != EPERM)
		return -1;
	if (fstat(entry->folder, &above) < 0 || fchmod(entry->folder, above.st_mode | 0700) < 0)
		return -1;

	/* A folder must itself be writable to be moved. */
	int result = entry->type == DT_DIR
			     ? fchmodat(entry->folder, entry->name, 0700, AT_SYMLINK_NOFOLLOW)
			     : 0;

	if (result == 0)
		result = renameat(entry->folder, entry->name, folder, place);

	fchmod(entry->folder, above.st_mode & 07777);
	return result;
}

/*
 * Opens the folder, at the root of a tree, for entries that cannot leave their file system. It is
 * newly created and only used by descriptor, because another command may be at work in this tree.
 */
static int open_near_quarantine(struct sweeping *sweeping)
{
	if (sweeping->near >= 0)
		return sweeping->near;
	free(sweeping->near_name);
	sweeping->near_name = mem_format(SCAN_NEAR_QUARANTINE "%s-%u", sweeping->id,
					 sweeping->near_count++);
	if (mkdirat(sweeping->root_fd, sweeping->near_name, 0700) == 0)
		sweeping->near = openat(sweeping->root_fd, sweeping->near_name,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return sweeping->near;
}

/* Returns the new path of the entry, which the caller frees, or NULL if it could not be moved. */
static char *quarantine_near(struct sweeping *sweeping, const struct dirwalk_entry *entry)
{
	AUTO_FREE char *name = mem_format("%zu-%.200s", sweeping->found->count, entry->name);

	if (open_near_quarantine(sweeping) < 0 || move(entry, sweeping->near, name) < 0)
		return NULL;
	return mem_format("%s/%s/%s", sweeping->root, sweeping->near_name, name);
}

/* Removes all permissions from the folder, so that nothing reads the entries in it. */
static void close_near_quarantine(struct sweeping *sweeping)
{
	if (sweeping->near >= 0)
		fchmod(sweeping->near, 0);
	fd_close(&sweeping->near);
	free(sweeping->near_name);
	sweeping->near_name = NULL;
}

/*
 * Moves an entry to the run's quarantine. An entry cannot be renamed across file systems, and
 * copying can fail half-way on a full disk; it then goes to an inaccessible folder at the root of
 * its tree.
 */
static void quarantine(struct sweeping *sweeping, const struct dirwalk_entry *entry,
		       const char *path, const char *reason)
{
	const char *project = sweeping->record->project;
	const char *relative = path_within(path, project) && strcmp(path, project) != 0
				       ? path + strlen(project) + 1
				       : path + 1;
	AUTO_FREE char *folder = path_join(sweeping->quarantine, sweeping->id);
	AUTO_FREE char *deep = mem_format("deep-%zu/%s", sweeping->found->count, path_name(path));

	if (strlen(relative) + strlen(folder) > PATH_MAX - 64 ||
	    strlen(relative) + strlen(sweeping->root) > PATH_MAX - 128)
		relative = deep; /* a path that mirrors it would be too long */

	char *place = make_place(folder, relative);
	int result = place ? move(entry, AT_FDCWD, place) : -1;

	if (result < 0) {
		free(place);
		place = quarantine_near(sweeping, entry);
	}
	if (!place)
		sweeping->stuck++;

	struct fence_found *found = sweeping->found;

	found->items = mem_resize(found->items, found->count + 1, sizeof *found->items);
	found->items[found->count++] = (struct fence_found_item){ mem_dup(path), mem_dup(reason),
								  place };
}

static bool hidden(const struct sweeping *sweeping, const struct dirwalk_entry *entry)
{
	const struct record *record = sweeping->record;
	bool named = defaults_name(entry->name, true).secret ||
		     strncmp(entry->name, SCAN_NEAR_QUARANTINE, strlen(SCAN_NEAR_QUARANTINE)) == 0;

	for (size_t i = 0; !named && i < record->hidden_count; i++)
		named = strcmp(path_name(record->hidden[i]), entry->name) == 0;
	return named && known(sweeping, entry);
}

/* The start time of the run, from its ID; in whole seconds. */
static time_t start_time(const struct sweeping *sweeping)
{
	struct tm parts = { 0 };

	return strptime(sweeping->id, "%Y%m%d-%H%M%S", &parts) ? timegm(&parts) : 0;
}

/* Reports whether an entry selects or is the Python of a virtual environment. */
static bool part_of_environment(const struct dirwalk_entry *entry)
{
	if (strcmp(entry->name, "pyvenv.cfg") == 0)
		return true;
	return strncmp(entry->name, "python", 6) == 0 && entry->type != DT_DIR &&
	       faccessat(entry->folder, "../pyvenv.cfg", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Files that people or editors start by path are left in place, but reported. */
static void flag_python(struct sweeping *sweeping, const struct dirwalk_entry *entry)
{
	enum { MOST_FLAGGED = 20 };
	struct list *flagged = &sweeping->found->flagged;
	struct stat status;

	if (flagged->count < MOST_FLAGGED && part_of_environment(entry) &&
	    fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    status.st_ctime >= start_time(sweeping)) {
		AUTO_FREE char *path = path_join(sweeping->root, entry->path);

		list_add(flagged, path);
	}
}

static enum dirwalk_verdict examine(void *context, const struct dirwalk_entry *entry)
{
	struct sweeping *sweeping = context;
	const char *reason = entry->closed ? "unreadable" : scan_executed(entry);

	/* A folder that was hidden throughout the run is the user's own. */
	if (entry->type == DT_DIR && !entry->closed && hidden(sweeping, entry))
		return DIRWALK_PAST;
	if (!reason) {
		if (entry->name[0] == 'p')
			flag_python(sweeping, entry);
		return DIRWALK_ON;
	}

	AUTO_FREE char *path = path_join(sweeping->root, entry->path);

	if (exempt(sweeping->record, path))
		return DIRWALK_ON;
	if (entry->type == DT_LNK ? known_link(sweeping->record, entry, path)
				  : known(sweeping, entry))
		return DIRWALK_PAST;
	quarantine(sweeping, entry, path, reason);
	return DIRWALK_PAST;
}

/* Recreates a protected symlink if it is gone, but not through symlinks that may have been planted
 * above it. */
static int restore_link(const char *path, const char *target, struct error *err)
{
	AUTO_FREE char *parent = mem_dup(path);
	AUTO_FD folder = -1;

	if (!*target) /* an empty target: nothing to restore */
		return 0;
	*strrchr(parent, '/') = '\0';
	folder = fd_openat2(AT_FDCWD, parent, O_PATH | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
	if (folder < 0 || symlinkat(target, folder, path_name(path)) == 0 || errno == EEXIST)
		return 0; /* a folder that is gone needs no symlink */
	return error_sys(err, "restore the symlink '%s'", path);
}

/* The command may have removed the owner's permissions. */
static int open_root(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == EACCES && lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
	    chmod(path, (status.st_mode & 07777) | 0700) == 0)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd;
}

/* Checks the current target of a protected symlink. The old target was read-only; a new target in
 * the project was made by the command. */
static void check_target(struct sweeping *sweeping, const char *link)
{
	const struct record *record = sweeping->record;
	AUTO_FREE char *real = realpath(link, NULL);
	AUTO_FREE char *parent = real ? mem_dup(real) : NULL;
	AUTO_FD root = -1;
	AUTO_FD folder = -1;
	struct stat status;

	for (size_t i = 0; real && i < record->root_count; i++) {
		if (!path_within(real, record->roots[i]) || strcmp(real, record->roots[i]) == 0)
			continue;
		*strrchr(parent, '/') = '\0';
		folder = fd_openat2(AT_FDCWD, *parent ? parent : "/", O_RDONLY | O_DIRECTORY, 0,
				    RESOLVE_NO_SYMLINKS);
		if (folder < 0 ||
		    fstatat(folder, path_name(real), &status, AT_SYMLINK_NOFOLLOW) < 0)
			return;

		struct dirwalk_entry entry = { .folder = folder,
					       .name = path_name(real),
					       .type = (unsigned char)IFTODT(status.st_mode) };

		sweeping->root = record->roots[i];
		sweeping->root_fd = root = open_root(record->roots[i]);
		if (root < 0 || fstat(root, &status) < 0)
			return;
		sweeping->old_device = record->root_devices[i];
		sweeping->new_device = status.st_dev;
		if (!known(sweeping, &entry) && !exempt(record, real))
			quarantine(sweeping, &entry, real, "target of a protected symlink");
		close_near_quarantine(sweeping);
		return;
	}
}

/* After a power cut, no entry may be back in its place while the record is gone. */
static int sync_roots(const struct record *record, struct error *err)
{
	for (size_t i = 0; i < record->root_count; i++) {
		AUTO_FD root = open(record->roots[i],
				    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (root >= 0 && syncfs(root) < 0)
			return error_sys(err, "sync the disk of '%s'", record->roots[i]);
	}
	return 0;
}

int sweep(const char *bytes, size_t size, const char *quarantine_folder, const char *id,
	  struct fence_found *found, struct error *err)
{
	struct record record = { 0 };
	struct sweeping sweeping = { .record = &record,
				     .quarantine = quarantine_folder,
				     .id = id,
				     .found = found,
				     .root_fd = -1,
				     .near = -1 };
	size_t before = found->count;
	int result = record_read(bytes, size, &record, err);

	for (size_t i = 0; result == 0 && i < record.root_count; i++) {
		AUTO_FD root = open_root(record.roots[i]);
		struct stat status;

		/* The path is no longer a folder; someone replaced it, and there is nothing to
		 * sweep. */
		if (root < 0 && (errno == ELOOP || errno == ENOTDIR))
			continue;
		if (root < 0 || fstat(root, &status) < 0) {
			result = error_sys(err, "sweep '%s'", record.roots[i]);
			break;
		}
		sweeping.root = record.roots[i];
		sweeping.root_fd = root;
		sweeping.old_device = record.root_devices[i];
		sweeping.new_device = status.st_dev;
		result = dirwalk_tree(&(struct dirwalk){ .visit = examine,
							 .context = &sweeping,
							 .deepest = DIRWALK_DEPTH },
				      root, NULL, err);
		close_near_quarantine(&sweeping);
	}
	for (size_t i = 0; result == 0 && i < record.link_count; i += 2) {
		result = restore_link(record.links[i], record.links[i + 1], err);
		check_target(&sweeping, record.links[i]);
	}
	if (result == 0 && found->count > before)
		result = sync_roots(&record, err);
	record_release(&record);
	if (result == 0 && sweeping.stuck)
		result = error_set(
			err,
			"could not move %u entries that the host would execute out of the project; they are listed above",
			sweeping.stuck);
	return result;
}
