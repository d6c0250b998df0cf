/*
 * The sweep moves entries that the host would execute, and that did not exist before the run, out
 * of the project.
 *
 * Mounts protect existing files. They cannot prevent a missing `.claude/settings.json` from being
 * created, nor the parent of a protected folder from being renamed. So after the run, when nothing
 * inside is alive and before anything on the host reads the tree, every such entry that
 * the baseline does not know is moved to quarantine. A known entry could not be changed inside all
 * the time, and is left alone wherever it is now.
 */
#include "fence/after/sweep.h"
#include "fence/fence_kept.h"
#include "fence/plan/known.h"
#include "fence/plan/names.h"
#include "fence/plan/scan.h"
#include "fence/plan/secret.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"
#include "util/text/glob.h"

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

/* Entries that a search for a moved folder looks at, per tree. */
enum { MOST_SEARCHED = 100000 };

struct sweeping {
	struct baseline *baseline;
	const struct baseline_root *root;
	const struct sweep_place *place;
	char *own_prefix;           /* of names that this sweep gives */
	struct fence_inode *placed; /* what it put aside within a tree */
	size_t placed_count;
	struct names_walk names;
	uint64_t look_budget; /* bytes left for looking at content, as in a scan */
	struct fence_found *found;
	unsigned int stuck;
	int root_fd;
	int near; /* see open_near_quarantine(); -1 until needed */
	char *near_name;
	unsigned int near_count;
	uint64_t steps;   /* left for matching patterns */
	uint64_t secrets; /* new entries that the next run would have to hide */
};

/* Returns the present path of what was at this path when the record was written, or the reverse.
 * The caller frees it. */
static char *path_now(const struct baseline_root *root, const char *path)
{
	return root ? mem_format("%s%s", root->now, path + strlen(root->path)) : mem_dup(path);
}

static char *path_then(const struct baseline *baseline, const char *path)
{
	const struct baseline_root *deepest = NULL;

	for (size_t i = 0; i < baseline->root_count; i++) {
		const struct baseline_root *root = &baseline->roots[i];

		if (!root->gone && path_within(path, root->now) &&
		    (!deepest || strlen(root->now) > strlen(deepest->now)))
			deepest = root;
	}
	return deepest ? mem_format("%s%s", deepest->path, path + strlen(deepest->now)) : NULL;
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

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void add_placed(struct sweeping *sweeping, int folder, const char *name)
{
	sweeping->placed = mem_resize(sweeping->placed, sweeping->placed_count + 1,
				      sizeof *sweeping->placed);
	if (known_identify(folder, name, &sweeping->placed[sweeping->placed_count]) == 0)
		sweeping->placed_count++;
}

/* Reports whether this sweep put the entry here. Its name alone proves nothing. */
static bool is_placed(const struct sweeping *sweeping, const struct dirwalk_entry *entry)
{
	struct fence_inode inode;

	if (!starts_with(entry->name, sweeping->own_prefix) ||
	    known_identify(entry->folder, entry->name, &inode) < 0)
		return false;
	for (size_t i = 0; i < sweeping->placed_count; i++)
		if (memcmp(&sweeping->placed[i], &inode, sizeof inode) == 0)
			return true;
	return false;
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
	sweeping->near_name = mem_format("%s-%u", sweeping->own_prefix, sweeping->near_count++);
	if (mkdirat(sweeping->root_fd, sweeping->near_name, 0700) < 0)
		return -1;
	add_placed(sweeping, sweeping->root_fd, sweeping->near_name);
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
	return mem_format("%s/%s/%s", sweeping->root->now, sweeping->near_name, name);
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

/* Renames an entry where it is, and removes its permissions, even if it keeps its name. Returns its
 * new path, which the caller frees, or NULL. */
static char *quarantine_here(struct sweeping *sweeping, const struct dirwalk_entry *entry,
			     const char *then)
{
	AUTO_FREE char *path = path_now(sweeping->root, then);
	AUTO_FREE char *name = mem_format("%s-here-%zu", sweeping->own_prefix,
					  sweeping->found->count);
	bool moved = move(entry, entry->folder, name) == 0;

	int closed = fchmodat(entry->folder, moved ? name : entry->name, 0, AT_SYMLINK_NOFOLLOW);

	(void)closed; /* a symlink has no permissions */
	if (!moved)
		return NULL;
	add_placed(sweeping, entry->folder, name);
	return mem_format("%.*s%s", (int)(path_name(path) - path), path, name);
}

/* Moves an entry to a path in the quarantine that mirrors its own. Returns that path, or NULL. */
static char *quarantine_mirrored(const struct sweeping *sweeping, const char *folder,
				 const struct dirwalk_entry *entry, const char *path)
{
	const char *project = sweeping->baseline->project;
	const char *relative = path_within(path, project) && strcmp(path, project) != 0
				       ? path + strlen(project) + 1
				       : path + 1;
	AUTO_FREE char *deep = mem_format("deep-%zu/%s", sweeping->found->count, path_name(path));

	if (strlen(relative) + strlen(folder) > PATH_MAX - 64 ||
	    strlen(relative) + strlen(sweeping->root->path) > PATH_MAX - 128)
		relative = deep; /* a path that mirrors it would be too long */

	AUTO_FREE char *place = make_place(folder, relative);

	return place && move(entry, AT_FDCWD, place) == 0 ? mem_dup(place) : NULL;
}

/* Moves an entry into the folder that was prepared before the run. */
static char *quarantine_flat(const struct sweeping *sweeping, const char *folder,
			     const struct dirwalk_entry *entry)
{
	AUTO_FREE char *place = mem_format("%s/full-%zu-%.200s", folder, sweeping->found->count,
					   entry->name);

	return move(entry, AT_FDCWD, place) == 0 ? mem_dup(place) : NULL;
}

/*
 * Moves an entry to the run's quarantine. If the disk is full, no folder can be created, and the
 * one that was prepared takes it. An entry cannot be renamed across file systems, and copying can
 * fail half-way; it then goes to an inaccessible folder at the root of its tree. The last resort is
 * another name.
 */
static void quarantine(struct sweeping *sweeping, const struct dirwalk_entry *entry,
		       const char *path, const char *reason)
{
	struct fence_found *found = sweeping->found;
	AUTO_FREE char *folder = path_join(sweeping->place->quarantine, sweeping->place->id);
	char *place = quarantine_mirrored(sweeping, folder, entry, path);

	if (!place)
		place = quarantine_flat(sweeping, folder, entry);
	if (!place)
		place = quarantine_near(sweeping, entry);
	if (!place)
		place = quarantine_here(sweeping, entry, path);
	if (!place && faccessat(entry->folder, entry->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	    errno == ENOENT)
		return; /* the sweep of another run was faster */
	if (!place)
		sweeping->stuck++;
	found->items = mem_extend(found->items, found->count, sizeof *found->items);
	found->items[found->count++] = (struct fence_found_item){ path_now(sweeping->root, path),
								  mem_dup(reason), place };
	if (place && sweeping->place->state)
		fence_kept_add(sweeping->place->state, sweeping->place->id,
			       &found->items[found->count - 1]);
}

static bool known(const struct sweeping *sweeping, const struct dirwalk_entry *entry,
		  const char *path)
{
	return baseline_knows(sweeping->baseline, sweeping->root, entry->folder, entry->name, path);
}

/* Reports whether an entry belongs to a run beside this one, which still uses it and will sweep. */
static bool left_to_another(const struct sweeping *sweeping, const struct dirwalk_entry *entry,
			    const char *path)
{
	AUTO_FREE char *now = path_now(sweeping->root, path);

	return baseline_has_other(sweeping->baseline, sweeping->root, entry->folder, entry->name) &&
	       sweeping->place->left(sweeping->place->context, now);
}

/* Reports whether a folder was hidden throughout the run, and so is the user's own. */
static bool hidden(const struct sweeping *sweeping, const struct dirwalk_entry *entry,
		   const struct names_found *names)
{
	const struct baseline *baseline = sweeping->baseline;
	bool named = names->by[NAMES_SECRET] || starts_with(entry->name, SCAN_NEAR_QUARANTINE);

	for (size_t i = 0; !named && i < baseline->hidden_count; i++)
		named = strcmp(path_name(baseline->hidden[i]), entry->name) == 0;
	if (!named)
		return false;

	AUTO_FREE char *path = path_join(sweeping->root->path, entry->path);

	return known(sweeping, entry, path);
}

/* Reports whether the user's ignore patterns hide an entry. */
static bool ignored(struct sweeping *sweeping, const struct dirwalk_entry *entry)
{
	const struct baseline *baseline = sweeping->baseline;

	if (strcmp(sweeping->root->path, baseline->project) != 0)
		return false;
	for (size_t i = 0; i < baseline->pattern_count; i++)
		if (glob_matches(&baseline->patterns[i], entry->path, entry->type == DT_DIR,
				 &sweeping->steps))
			return true;
	return false;
}

/* Reports whether a symlink with these classes leads to a secret that the command can write. */
static bool leads_to_secret(struct sweeping *sweeping, const struct dirwalk_entry *entry,
			    const struct names_found *names)
{
	AUTO_FREE char *path = path_join(sweeping->root->now, entry->path);
	AUTO_FREE char *real = names_secret(names) ? realpath(path, NULL) : NULL;
	AUTO_FREE char *then = real ? path_then(sweeping->baseline, real) : NULL;

	return then && baseline_root(sweeping->baseline, then) &&
	       secret_file(names, AT_FDCWD, real, &sweeping->look_budget);
}

/* Reports whether the next run would hide an entry, or the target of a symlink. Looks at entries
 * that the baseline knows as well, because the next scan spends its budget on them. */
static bool is_secret(struct sweeping *sweeping, const struct dirwalk_entry *entry,
		      struct names_found names)
{
	if (!names.by[NAMES_SECRET] && ignored(sweeping, entry))
		names.by[NAMES_SECRET] = "pattern";
	if (entry->type == DT_LNK)
		return leads_to_secret(sweeping, entry, &names);
	return entry->type == DT_SOCK ||
	       (entry->type == DT_DIR && starts_with(entry->name, SCAN_NEAR_QUARANTINE)) ||
	       secret_file(&names, entry->folder, entry->name, &sweeping->look_budget);
}

/* Reports whether the command made an entry that the next run would have to hide. */
static bool is_new_secret(struct sweeping *sweeping, const struct dirwalk_entry *entry,
			  const struct names_found *names)
{
	return is_secret(sweeping, entry, *names) &&
	       !baseline_has_secret(sweeping->baseline, sweeping->root, entry->folder, entry->name);
}

/* Returns whether a file is new or changed since the run began. */
static bool changed(const struct sweeping *sweeping, const struct dirwalk_entry *entry)
{
	struct fence_seen now;

	if (scan_seen(sweeping->root->path, entry, &now) < 0)
		return false;
	return !baseline_saw(sweeping->baseline, sweeping->root, &now);
}

/* Returns whether another file can be listed. The first one of each tool always can. */
static bool has_room(const struct fence_found *found, const char *by)
{
	if (found->flagged_count < FENCE_MOST_FLAGGED)
		return true;
	for (size_t i = 0; i < found->flagged_count; i++)
		if (found->flagged[i].by == by)
			return false;
	return true;
}

/* Files that a tool obeys when it starts are left in place, but reported. */
static void flag(struct sweeping *sweeping, const struct dirwalk_entry *entry, const char *by)
{
	struct fence_found *found = sweeping->found;

	if (!by || entry->type == DT_DIR || !has_room(found, by) || !changed(sweeping, entry))
		return;
	found->flagged = mem_resize(found->flagged, found->flagged_count + 1,
				    sizeof *found->flagged);
	found->flagged[found->flagged_count++] =
		(struct fence_flagged){ path_join(sweeping->root->now, entry->path), by };
}

static enum dirwalk_verdict examine_ordinary(struct sweeping *sweeping,
					     const struct dirwalk_entry *entry,
					     const struct names_found *names)
{
	flag(sweeping, entry, names->by[NAMES_START]);
	if (!is_new_secret(sweeping, entry, names))
		return DIRWALK_ON;

	AUTO_FREE char *path = path_join(sweeping->root->path, entry->path);

	sweeping->secrets++;
	if (strlen(path) < PATH_MAX)
		return DIRWALK_ON;
	quarantine(sweeping, entry, path, "a secret with a path that is too long to hide");
	return DIRWALK_PAST;
}

static enum dirwalk_verdict examine(void *context, const struct dirwalk_entry *entry)
{
	struct sweeping *sweeping = context;
	const struct names_found names = names_entry(&sweeping->names, entry);
	const char *reason = entry->closed ? "unreadable" : scan_executed(&names, entry);

	if (is_placed(sweeping, entry))
		return DIRWALK_PAST;
	if (entry->type == DT_DIR && !entry->closed && hidden(sweeping, entry, &names))
		return DIRWALK_PAST;
	if (!reason)
		return examine_ordinary(sweeping, entry, &names);

	AUTO_FREE char *path = path_join(sweeping->root->path, entry->path);

	if (baseline_exempts(sweeping->baseline, path))
		return DIRWALK_ON;
	if (!known(sweeping, entry, path) && !left_to_another(sweeping, entry, path))
		quarantine(sweeping, entry, path, reason);
	return DIRWALK_PAST;
}

static enum dirwalk_verdict put_secret_away(void *context, const struct dirwalk_entry *entry)
{
	struct sweeping *sweeping = context;
	const struct names_found names = names_entry(&sweeping->names, entry);
	AUTO_FREE char *path = path_join(sweeping->root->path, entry->path);

	if (is_placed(sweeping, entry) ||
	    (entry->type == DT_DIR && hidden(sweeping, entry, &names)))
		return DIRWALK_PAST;
	/* examine() left it, and passed over it: it is the user's own, such as a git directory. */
	if (scan_executed(&names, entry) && !baseline_exempts(sweeping->baseline, path))
		return DIRWALK_PAST;
	if (entry->closed || !is_new_secret(sweeping, entry, &names))
		return DIRWALK_ON;

	quarantine(sweeping, entry, path, "one of too many new secrets to hide");
	return DIRWALK_PAST;
}

/* Recreates a protected symlink if it is gone, but not through symlinks that may have been planted
 * above it. */
static int restore_link(const char *path, const char *target, struct error *err)
{
	AUTO_FREE char *parent = path_folder(path);
	AUTO_FD folder = -1;

	if (!*target) /* an empty target: nothing to restore */
		return 0;
	folder = fd_openat2(AT_FDCWD, parent, O_PATH | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);
	if (folder < 0 || symlinkat(target, folder, path_name(path)) == 0 || errno == EEXIST)
		return 0; /* a folder that is gone needs no symlink */
	return error_sys(err, "restore the symlink '%s'", path);
}

/* Opens a folder by a path. The command may have removed the owner's permissions. */
static int open_folder(const char *path, int flags)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);

	if (fd < 0 && errno == EACCES && stat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
	    chmod(path, (status.st_mode & 07777) | 0700) == 0)
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	return fd;
}

static int open_root(const struct baseline_root *root)
{
	AUTO_FREE char *held = mem_format("/proc/self/fd/%d", root->held);
	AUTO_FD fd = root->held >= 0 ? open_folder(held, 0) : open_folder(root->now, O_NOFOLLOW);
	struct fence_inode inode;

	if (fd >= 0 && root->held < 0 &&
	    (known_identify(fd, ".", &inode) < 0 || !baseline_is_same(root, &inode))) {
		errno = ESTALE;
		return -1;
	}
	return fd_steal(&fd);
}

/* Makes a root the current one. Returns 1, 0 if the folder was deleted, or -1 with errno. */
static int enter_root(struct sweeping *sweeping, struct baseline_root *root)
{
	struct stat status;

	sweeping->root = root;
	sweeping->names = (struct names_walk){ .root = root->path };
	sweeping->look_budget = SECRET_BUDGET;
	if (root->gone)
		return 0;
	sweeping->root_fd = open_root(root);
	if (sweeping->root_fd < 0 || fstat(sweeping->root_fd, &status) < 0)
		return -1;
	root->device = status.st_dev;
	return 1;
}

static void leave_root(struct sweeping *sweeping)
{
	close_near_quarantine(sweeping);
	fd_close(&sweeping->root_fd);
}

static int walk_root(struct sweeping *sweeping, struct baseline_root *root, dirwalk_fn *visit,
		     struct error *err)
{
	int result = enter_root(sweeping, root);

	if (result < 0)
		error_sys(err, "sweep '%s'", root->path);
	if (result > 0)
		result = dirwalk_tree(&(struct dirwalk){ .visit = visit,
							 .context = sweeping,
							 .deepest = DIRWALK_DEPTH },
				      sweeping->root_fd, NULL, err);
	leave_root(sweeping);
	return result;
}

static int walk_roots(struct sweeping *sweeping, dirwalk_fn *visit, struct error *err)
{
	const struct baseline *baseline = sweeping->baseline;
	int result = 0;

	for (size_t i = 0; result == 0 && i < baseline->root_count; i++)
		result = walk_root(sweeping, &baseline->roots[i], visit, err);
	return result;
}

/* Opens the folder of a path in the current root, without following a symlink. */
static int open_parent(const struct sweeping *sweeping, const char *path)
{
	AUTO_FREE char *parent = path_folder(path + strlen(sweeping->root->path) + 1);

	return fd_openat2(sweeping->root_fd, *parent ? parent : ".", O_RDONLY | O_DIRECTORY, 0,
			  RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH);
}

/* Quarantines one entry of the current root, unless it is known. */
static void examine_entry(struct sweeping *sweeping, const char *path, const char *reason)
{
	AUTO_FD folder = open_parent(sweeping, path);
	struct stat status;

	if (folder < 0 || fstatat(folder, path_name(path), &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;

	const struct dirwalk_entry entry = { .folder = folder,
					     .name = path_name(path),
					     .type = (unsigned char)IFTODT(status.st_mode) };

	if (!known(sweeping, &entry, path) && !left_to_another(sweeping, &entry, path))
		quarantine(sweeping, &entry, path, reason);
}

/* Examines the entry that was at a path when the record was written. */
static void examine_path(struct sweeping *sweeping, const char *path, const char *reason)
{
	struct baseline_root *root = baseline_root(sweeping->baseline, path);

	if (!root || baseline_exempts(sweeping->baseline, path))
		return;
	if (enter_root(sweeping, root) > 0)
		examine_entry(sweeping, path, reason);
	leave_root(sweeping);
}

/* Restores a protected symlink, and examines its target. A target was read-only; a new target in
 * the project was made by the command. */
static int examine_link(struct sweeping *sweeping, const struct baseline_link *link,
			struct error *err)
{
	const struct baseline_root *root = baseline_root(sweeping->baseline, link->path);

	if (root && root->gone)
		return 0;

	AUTO_FREE char *path = path_now(root, link->path);

	if (restore_link(path, link->target, err) < 0)
		return -1;

	AUTO_FREE char *real = realpath(path, NULL);
	AUTO_FREE char *then = real ? path_then(sweeping->baseline, real) : NULL;

	if (then)
		examine_path(sweeping, then, "target of a protected symlink");
	return 0;
}

/* Examines the paths that the host reaches in another way than by a name. */
static int examine_paths(struct sweeping *sweeping, struct error *err)
{
	const struct baseline *baseline = sweeping->baseline;
	int result = 0;

	for (size_t i = 0; i < baseline->content_count; i++)
		examine_path(sweeping, baseline->contents[i].path,
			     "changed under another name of the same file");
	for (size_t i = 0; result == 0 && i < baseline->link_count; i++)
		result = examine_link(sweeping, &baseline->links[i], err);
	return result;
}

/* After a power cut, no entry may be back in its place while the record is gone. */
static int sync_roots(const struct baseline *baseline, struct error *err)
{
	for (size_t i = 0; i < baseline->root_count; i++) {
		AUTO_FD root = baseline->roots[i].gone ? -1 : open_root(&baseline->roots[i]);

		if (root >= 0 && syncfs(root) < 0)
			return error_sys(err, "sync the disk of '%s'", baseline->roots[i].path);
	}
	return 0;
}

/* A search for a moved root in a tree. */
struct search {
	const struct baseline_root *root;
	const char *folder;
	char *found; /* its path */
	unsigned int left;
};

static enum dirwalk_verdict compare(void *context, const struct dirwalk_entry *entry)
{
	struct search *search = context;
	struct fence_inode inode;

	if (!search->left--)
		return DIRWALK_STOP;
	if (entry->type != DT_DIR || known_identify(entry->folder, entry->name, &inode) < 0 ||
	    !baseline_is_same(search->root, &inode))
		return DIRWALK_ON;
	search->found = path_join(search->folder, entry->path);
	return DIRWALK_STOP;
}

/* Returns the path of a root in the tree of a folder, which the caller frees, or NULL. */
static char *search_root(const struct baseline_root *root, const char *folder)
{
	struct search search = { .root = root, .folder = folder, .left = MOST_SEARCHED };
	AUTO_FD tree = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error ignored;

	if (tree >= 0)
		dirwalk_tree(&(struct dirwalk){ .visit = compare,
						.context = &search,
						.deepest = DIRWALK_DEPTH },
			     tree, NULL, &ignored);
	return search.found;
}

/* Returns whether a root is at its path, perhaps on a device that has another number since a
 * reboot. */
static bool is_in_place(struct baseline_root *root)
{
	const uint64_t before = root->device;
	struct fence_inode inode;

	if (known_identify(AT_FDCWD, root->path, &inode) < 0)
		return false;
	root->device = inode.device;
	if (baseline_is_same(root, &inode))
		return true;
	root->device = before;
	return false;
}

/* Finds a root that nobody holds by its identity: at its path, in the folder above it, or where the
 * caller says. Returns 0, or -1 with err set. */
static int find_lost(const struct sweep_place *place, struct baseline_root *root, struct error *err)
{
	AUTO_FREE char *above = mem_dup(root->path);

	*strrchr(above, '/') = '\0';
	if (is_in_place(root))
		root->now = mem_dup(root->path);
	if (!root->now && *above)
		root->now = search_root(root, above);
	if (!root->now && place->search)
		root->now = search_root(root, place->search);
	if (!root->now)
		return error_set(err,
				 "'%s' was moved or deleted, and is not nearby (if it was moved, "
				 "move it back and try again)",
				 root->path);
	return 0;
}

/* Finds a root by the descriptor that is open on it. */
static void find_held(struct baseline_root *root)
{
	AUTO_FREE char *link = mem_format("/proc/self/fd/%d", root->held);
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof path - 1);
	struct stat status;

	root->gone = fstat(root->held, &status) == 0 && status.st_nlink == 0;
	/* A path that is too long has no text; the sweep only needs it to report entries. */
	root->now = n > 0 && path[0] == '/' ? mem_format("%.*s", (int)n, path)
					    : mem_dup(root->path);
}

static int find_roots(struct baseline *baseline, const struct sweep_place *place, struct error *err)
{
	for (size_t i = 0; i < baseline->root_count; i++) {
		struct baseline_root *root = &baseline->roots[i];

		if (root->held >= 0)
			find_held(root);
		else if (find_lost(place, root, err) < 0)
			return -1;
		if (!root->gone && strcmp(root->now, root->path) != 0)
			list_printf(place->notices, "%s was moved during the run; swept as %s",
				    root->path, root->now);
	}
	return 0;
}

static int sweep_all(struct sweeping *sweeping, struct error *err)
{
	if (walk_roots(sweeping, examine, err) < 0 || examine_paths(sweeping, err) < 0)
		return -1;
	/* Otherwise the next run would be refused, and a loop would end. */
	if (sweeping->secrets > sweeping->baseline->room &&
	    walk_roots(sweeping, put_secret_away, err) < 0)
		return -1;
	if (sweeping->stuck)
		return error_set(
			err,
			"could not move %u entries that the host would execute out of the project; they are listed above",
			sweeping->stuck);
	return 0;
}

int sweep(struct baseline *baseline, const struct sweep_place *place, struct fence_found *found,
	  struct error *err)
{
	AUTO_FREE char *own_prefix = mem_format(SCAN_NEAR_QUARANTINE "%s", place->id);
	struct sweeping sweeping = { .baseline = baseline,
				     .place = place,
				     .own_prefix = own_prefix,
				     .found = found,
				     .root_fd = -1,
				     .near = -1,
				     .steps = SCAN_MOST_STEPS };

	if (baseline->foreign)
		return error_set(
			err,
			"the record of this run in '%s' was written by another version of Ringfence",
			baseline->project);

	size_t before = found->count;
	int result = find_roots(baseline, place, err);

	if (result == 0)
		result = sweep_all(&sweeping, err);

	if (result == 0 && found->count > before)
		result = sync_roots(baseline, err);
	free(sweeping.placed);
	return result;
}
