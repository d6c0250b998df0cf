/* Finding what must be protected: see scan.h. */
#include "fence/plan/scan.h"

#include "fence/plan/defaults.h"
#include "gitconfig/gitdir.h"
#include "gitconfig/gitprograms.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Far above what a fence can hold, and far below what takes long. */
enum { MOST_FOUND = 20000 };

/* A second or so. */
static const uint64_t MOST_STEPS = 500000000;

struct scan {
	struct fence_plan *plan;
	const char *root;
	struct error *err;
	unsigned int nested; /* folders that links have led to, one behind the other */
	const struct fence_pattern *patterns; /* they are meant from the project's root on */
	size_t pattern_count;
	uint64_t steps; /* that matching may still take */
	struct gitprograms *programs;
};

struct below {
	struct scan *scan;
	const char *path;
};

static void take_links_below(struct scan *scan, const char *path);

void scan_add_rule(struct fence_plan *plan, const char *path, const struct stat *status,
		   enum wire_access access, const char *origin, bool exact)
{
	if ((plan->rule_count & (plan->rule_count - 1)) == 0) /* grow at powers of two */
		plan->rules = mem_resize(plan->rules, plan->rule_count ? plan->rule_count * 2 : 16,
					 sizeof *plan->rules);
	plan->rules[plan->rule_count++] = (struct fence_rule){
		.path = mem_dup(path),
		.access = access,
		.origin = mem_dup(origin),
		.exact = exact,
		.is_dir = S_ISDIR(status->st_mode),
		.device = status->st_dev,
		.inode = status->st_ino,
	};
}

void scan_add_existing(struct fence_plan *plan, const char *path, enum wire_access access,
		       const char *origin, bool exact)
{
	struct stat status;

	if (lstat(path, &status) == 0 && !S_ISLNK(status.st_mode))
		scan_add_rule(plan, path, &status, access, origin, exact);
}

static bool beside(const struct dirwalk_entry *entry, const char *name)
{
	return faccessat(entry->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Git takes any folder with HEAD, objects and refs for a repository (or with HEAD and commondir, which
 * says where the others are), and its config for orders. Seen from its HEAD, so that ordinary folders
 * cost nothing.
 */
static bool bare_repository(const struct dirwalk_entry *entry)
{
	return strcasecmp(entry->name, "HEAD") == 0 &&
	       ((beside(entry, "objects") && beside(entry, "refs")) || beside(entry, "commondir"));
}

const char *scan_executed(const struct dirwalk_entry *entry)
{
	const char *reason = defaults_name(entry->name, entry->type == DT_DIR).executed;

	if (!reason && bare_repository(entry))
		reason = "bare git repository";
	return reason;
}

static bool named_by_user(const struct fence_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].exact && plan->rules[i].access == WIRE_WRITE &&
		    strcmp(plan->rules[i].path, path) == 0)
			return true;
	return false;
}

static void remember(struct fence_plan *plan, const struct stat *status)
{
	if ((plan->known_count & (plan->known_count - 1)) == 0)
		plan->known = mem_resize(plan->known,
					 plan->known_count ? plan->known_count * 2 : 16,
					 sizeof *plan->known);
	plan->known[plan->known_count++] = (struct fence_known){ status->st_dev, status->st_ino };
}

static bool in_writable_root(const struct fence_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].lent && path_within(path, plan->rules[i].path) &&
		    strcmp(path, plan->rules[i].path) != 0)
			return true;
	return false;
}

static void add_link(struct fence_plan *plan, const char *path, const char *target)
{
	plan->links = mem_resize(plan->links, plan->link_count + 1, sizeof *plan->links);
	plan->links[plan->link_count++] = (struct fence_link){ mem_dup(path), mem_dup(target) };
}

/* Protects what the host reads through another path. */
static void protect_target(struct scan *scan, const char *path, bool executed, bool secret)
{
	struct fence_plan *plan = scan->plan;
	AUTO_FREE char *real = realpath(path, NULL);
	struct stat status;

	if (!real || !in_writable_root(plan, real) || stat(real, &status) < 0)
		return;
	if (executed)
		remember(plan, &status);
	scan_add_rule(plan, real, &status, secret ? WIRE_HIDE : WIRE_READ,
		      secret ? "secret" : "executed by the host", false);
	if (executed && !secret && S_ISDIR(status.st_mode))
		take_links_below(scan, real);
}

/* A special symlink cannot be covered by a mount: its target is, and the link itself is put back if
 * it disappears. */
static void take_link(struct scan *scan, const char *path, bool executed, bool secret)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof target - 1);

	if (n <= 0)
		return;
	target[n] = '\0';
	if (executed)
		add_link(scan->plan, path, target);
	protect_target(scan, path, executed, secret);
}

static enum dirwalk_verdict look_for_links(void *context, const struct dirwalk_entry *entry)
{
	struct below *below = context;
	AUTO_FREE char *path = path_join(below->path, entry->path);

	if (entry->type == DT_LNK)
		take_link(below->scan, path, true, false);
	return DIRWALK_ON;
}

/* Symlinks in a folder that the host executes lead to what it executes. */
static void take_links_below(struct scan *scan, const char *path)
{
	enum { MOST_NESTED = 8 };
	AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct below below = { scan, path };
	const struct dirwalk walk = { .visit = look_for_links,
				      .context = &below,
				      .deepest = DIRWALK_DEPTH };
	struct error err;

	if (fd < 0 || scan->nested >= MOST_NESTED)
		return;
	scan->nested++;
	dirwalk_tree(&walk, fd, NULL, &err);
	scan->nested--;
}

/* A path that git's configuration names, and wherever it leads: protected if it is there, watched if it is not. */
static void take_named(void *context, const char *path)
{
	struct scan *scan = context;
	AUTO_FREE char *real = realpath(path, NULL);

	if (!in_writable_root(scan->plan, path) && !(real && in_writable_root(scan->plan, real)))
		return;
	add_link(scan->plan, path, ""); /* nothing to put back */
	protect_target(scan, path, true, false);
}

static int check_count(const struct scan *scan)
{
	if (scan->plan->rule_count <= MOST_FOUND && scan->plan->link_count <= MOST_FOUND)
		return 0;
	return error_set(
		scan->err,
		"'%s' holds more than %d things to protect; hide folders as a whole (--hide)",
		scan->root, MOST_FOUND);
}

static int take_config(struct scan *scan, const char *git, const char *work_tree)
{
	if (gitprograms_each(scan->programs, git, work_tree, take_named, scan, scan->err) < 0)
		return -1;
	return check_count(scan);
}

/* The configuration of the repository that a folder is the work tree of. Returns whether it is one, or -1. */
static int take_work_tree(struct scan *scan, const char *work_tree)
{
	AUTO_FREE char *git = gitdir_find(work_tree);

	if (!git)
		return 0;
	return take_config(scan, git, work_tree) < 0 ? -1 : 1;
}

/* The one that the scanned folder lies in: git looks upwards, until it finds one. */
static int take_above(struct scan *scan)
{
	AUTO_FREE char *folder = mem_dup(scan->root);
	int found;

	do {
		*strrchr(folder, '/') = '\0';
		found = take_work_tree(scan, *folder ? folder : "/");
	} while (!found && *folder);
	return found < 0 ? -1 : 0;
}

/* A git directory is read-only as a whole; what it leads to outside of itself is found here. Its
 * objects are not looked through. */
static void take_git(struct scan *scan, const char *git)
{
	static const char *const places[] = { "", "hooks", "info" };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		AUTO_FREE char *path = path_join(git, places[i]);
		DIR *dir = opendir(path);

		for (struct dirent *entry; dir && (entry = readdir(dir));) {
			AUTO_FREE char *inner = path_join(path, entry->d_name);

			if (entry->d_type == DT_LNK)
				take_link(scan, inner, true, false);
		}
		if (dir)
			closedir(dir);
	}
}

/* The project itself is a git directory: it stays writable, but for the parts that git obeys. */
static void take_bare_root(struct scan *scan)
{
	static const char *const parts[] = { "HEAD",    "config",      "config.worktree",
					     "hooks",   "info",        "objects",
					     "refs",    "packed-refs", "commondir",
					     "modules", "worktrees" };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		AUTO_FREE char *path = path_join(scan->root, parts[i]);

		scan_add_existing(scan->plan, path, WIRE_READ, "executed by the host", false);
	}
}

/* Is it somewhere below a folder that the host executes? */
static bool below_executed(const char *path)
{
	AUTO_FREE char *copy = mem_dup(path);
	char *rest = copy;

	for (char *name; (name = strsep(&rest, "/")) && rest;)
		if (defaults_name(name, true).executed)
			return true;
	return false;
}

/* A .pem with certificates only is no secret, and TLS fails without it. */
static bool public_file(const struct dirwalk_entry *entry)
{
	struct buffer text = BUFFER_INIT(4 << 20);
	size_t size = strlen(entry->name);
	AUTO_FD fd = -1;

	if (entry->type != DT_REG || size < 4 || strcasecmp(entry->name + size - 4, ".pem") != 0)
		return false;
	fd = openat(entry->folder, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	bool public = fd >= 0 && fd_read_all(fd, &text) == 0 &&
		      defaults_public_certificates(buffer_text(&text), text.used);

	buffer_release(&text);
	return public;
}

/* Remembers the folders above an entry that matters. */
static void take_witnesses(struct scan *scan, const struct dirwalk_entry *entry)
{
	struct fence_plan *plan = scan->plan;
	const char *end = entry->path;

	for (unsigned int level = 0; level <= entry->depth; level++) {
		const struct dirwalk_folder *folder = &entry->above[level];
		size_t size = level ? (size_t)(end - entry->path) : 0;
		bool there = false;

		for (size_t i = plan->witness_count; i-- > 0 && !there;)
			there = plan->witnesses[i].inode == folder->inode &&
				plan->witnesses[i].device == folder->device;
		if (!there) {
			if ((plan->witness_count & (plan->witness_count - 1)) == 0)
				plan->witnesses = mem_resize(plan->witnesses,
							     plan->witness_count
								     ? plan->witness_count * 2
								     : 16,
							     sizeof *plan->witnesses);
			plan->witnesses[plan->witness_count++] = (struct fence_witness){
				.path = size ? mem_format("%s/%.*s", scan->root, (int)size,
							  entry->path)
					     : mem_dup(scan->root),
				.device = folder->device,
				.inode = folder->inode,
				.changed = folder->changed,
			};
		}
		if (level < entry->depth)
			end = strchr(level ? end + 1 : end, '/');
	}
}

int fence_plan_holds(const struct fence_plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->witness_count; i++) {
		const struct fence_witness *witness = &plan->witnesses[i];
		const struct dirwalk_folder before = { witness->device, witness->inode,
						       witness->changed };
		AUTO_FD fd = open(witness->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		struct dirwalk_folder now;

		if (fd < 0 || dirwalk_look(fd, &now) < 0 || !dirwalk_same(&before, &now))
			return error_set(err, "'%s' changed while the fence was made; start again",
					 witness->path);
	}
	return 0;
}

/* Where the first pattern comes from that hides this entry; NULL if none does. */
static const char *ignored_by(struct scan *scan, const struct dirwalk_entry *entry)
{
	for (size_t i = 0; i < scan->pattern_count; i++)
		if (glob_matches(&scan->patterns[i].glob, entry->path, entry->type == DT_DIR,
				 &scan->steps))
			return scan->patterns[i].origin;
	return NULL;
}

static void hide_ignored(struct fence_plan *plan, const char *path, const char *origin)
{
	size_t before = plan->rule_count;

	scan_add_existing(plan, path, WIRE_HIDE, origin, false);
	if (plan->rule_count > before)
		plan->rules[before].ignored = plan->rules[before].asked = true;
}

/* Can one more be protected? Returns 0, or -1 with the scan's err set. */
static int check_room(const struct scan *scan, const char *path)
{
	if (strlen(path) >= PATH_MAX)
		return error_set(
			scan->err,
			"a path of %zu bytes, '%.60s...%.60s', is too long to be protected; shorten it",
			strlen(path), path, path + strlen(path) - 60);
	return check_count(scan);
}

/* What nobody looks into. */
static enum dirwalk_verdict hide_folder(struct fence_plan *plan, const struct dirwalk_entry *entry,
					const char *path, const char *why)
{
	struct stat status;

	scan_add_existing(plan, path, WIRE_HIDE, why, false);
	if (fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		remember(plan, &status);
	return DIRWALK_PAST;
}

static void remember_entry(struct fence_plan *plan, const struct dirwalk_entry *entry,
			   const char *path)
{
	struct stat status;

	if (fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISREG(status.st_mode) && status.st_nlink > 1)
		list_printf(&plan->notices,
			    "%s has %lu names (hard links); it is protected under this one only",
			    path, (unsigned long)status.st_nlink);
	remember(plan, &status);
}

/* A git directory of another name, by its HEAD. */
static int take_bare(struct scan *scan, const char *head)
{
	AUTO_FREE char *path = mem_format("%.*s", (int)(strlen(head) - strlen("/HEAD")), head);

	if (strcmp(path, scan->root) == 0)
		take_bare_root(scan);
	else
		scan_add_existing(scan->plan, path, WIRE_READ, "executed by the host", false);
	take_git(scan, path);
	return take_config(scan, path, path);
}

static enum dirwalk_verdict look(void *context, const struct dirwalk_entry *entry)
{
	struct scan *scan = context;
	struct fence_plan *plan = scan->plan;
	const char *ignored = ignored_by(scan, entry);
	const char *secret = ignored ? ignored
				     : defaults_name(entry->name, entry->type == DT_DIR).secret;
	const char *executed = scan_executed(entry);
	bool put_aside = entry->type == DT_DIR && entry->depth == 0 &&
			 strncmp(entry->name, SCAN_NEAR_QUARANTINE, strlen(SCAN_NEAR_QUARANTINE)) ==
				 0;

	if (!secret && !executed && !entry->closed && !put_aside && entry->type != DT_SOCK &&
	    !(entry->type == DT_LNK && below_executed(entry->path)))
		return DIRWALK_ON;

	AUTO_FREE char *path = path_join(scan->root, entry->path);
	bool is_git = executed && strcasecmp(entry->name, ".git") == 0;

	if (check_room(scan, path) < 0)
		return DIRWALK_STOP;
	take_witnesses(scan, entry);
	if (put_aside) /* from an earlier sweep */
		return hide_folder(plan, entry, path, "quarantine");
	if (entry->closed) {
		list_printf(&plan->notices, "hidden, because it cannot be looked into: %s", path);
		return hide_folder(plan, entry, path, "unreadable");
	}
	if (is_git) {
		AUTO_FREE char *work_tree = path_absolute("..", path);

		if (take_work_tree(scan, work_tree) < 0)
			return DIRWALK_STOP;
	}
	if (entry->type == DT_LNK) {
		take_link(scan, path, executed || !secret, secret);
		return DIRWALK_ON;
	}
	if (executed && named_by_user(plan, path)) {
		list_printf(
			&plan->notices,
			"%s is writable by --write; your machine will run what is put there (%s)",
			path, executed);
		list_add(&plan->exempt, path);
		return DIRWALK_ON;
	}
	if (executed || secret)
		remember_entry(plan, entry, path);
	if (entry->type == DT_SOCK)
		scan_add_existing(plan, path, WIRE_HIDE, "socket", false);
	else if (ignored)
		hide_ignored(plan, path, ignored);
	else if (secret && !public_file(entry))
		scan_add_existing(plan, path, WIRE_HIDE, "secret", false);
	else if (executed && strcasecmp(entry->name, "HEAD") == 0) {
		if (take_bare(scan, path) < 0)
			return DIRWALK_STOP;
	} else if (executed)
		scan_add_existing(plan, path, WIRE_READ, "executed by the host", false);
	else
		return DIRWALK_ON;

	/* A git directory is large and all read-only; other protected folders may still hold
	 * secrets. */
	if (is_git) {
		take_git(scan, path);
		return DIRWALK_PAST;
	}
	return secret ? DIRWALK_PAST : DIRWALK_ON;
}

/* What a scan adds to, to take it back. */
struct mark {
	size_t rules, known, links, witnesses, exempt, notices;
};

static struct mark mark(const struct fence_plan *plan)
{
	return (struct mark){ plan->rule_count,    plan->known_count,  plan->link_count,
			      plan->witness_count, plan->exempt.count, plan->notices.count };
}

static void take_back(struct fence_plan *plan, const struct mark *mark)
{
	while (plan->rule_count > mark->rules) {
		free(plan->rules[--plan->rule_count].path);
		free(plan->rules[plan->rule_count].origin);
	}
	while (plan->link_count > mark->links) {
		free(plan->links[--plan->link_count].path);
		free(plan->links[plan->link_count].target);
	}
	while (plan->witness_count > mark->witnesses)
		free(plan->witnesses[--plan->witness_count].path);
	while (plan->exempt.count > mark->exempt)
		free(plan->exempt.items[--plan->exempt.count]);
	while (plan->notices.count > mark->notices)
		free(plan->notices.items[--plan->notices.count]);
	plan->known_count = mark->known;
}

int scan_tree(struct fence_plan *plan, size_t rule, struct error *err)
{
	enum { TRIES = 8 };
	const dev_t device = plan->rules[rule].device;
	const ino_t inode = plan->rules[rule].inode;
	AUTO_FREE char *path = mem_dup(plan->rules[rule].path); /* rules move when some are added */
	struct stat status;
	AUTO_FD root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct scan scan = { .plan = plan, .root = path, .err = err };
	const struct mark before = mark(plan);
	bool changed = true;

	if (root < 0 && errno == ENOTDIR)
		return 0;
	if (root < 0 || fstat(root, &status) < 0)
		return error_sys(err, "open '%s'", path);
	if (status.st_dev != device || status.st_ino != inode)
		return error_set(err, "'%s' changed while it was looked through; start again",
				 path);
	if (strcmp(path, plan->project) == 0) {
		scan.steps = MOST_STEPS;
		scan.patterns = plan->spec->patterns.items;
		scan.pattern_count = plan->spec->patterns.count;
	}
	for (int i = 0; i < TRIES && changed; i++) {
		take_back(plan, &before);
		scan.programs = gitprograms_new(plan->identity.home);

		const struct dirwalk walk = { .visit = look,
					      .context = &scan,
					      .deepest = DIRWALK_DEPTH };
		int result = take_above(&scan) < 0 ? -1 : dirwalk_tree(&walk, root, &changed, err);

		gitprograms_free(scan.programs);
		if (result < 0)
			return -1;
	}
	if (scan.pattern_count && !scan.steps)
		return error_set(
			err,
			"the patterns of the ignore files take too long on this project (%s and others); name folders instead",
			scan.patterns[0].origin);
	if (changed)
		return error_set(
			err,
			"'%s' changes so fast that it cannot be looked through; stop what changes it, and start again",
			path);
	return 0;
}
