/* Scans a tree for files that need protection: see scan.h. */
#include "fence/plan/scan.h"

#include "fence/plan/defaults.h"
#include "fence/plan/known.h"
#include "gitconfig/gitdir.h"
#include "gitconfig/gitprograms.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/symlinks.h"
#include "util/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than a fence can hold, but few enough to find quickly. */
enum { MOST_FOUND = 20000 };

struct scan {
	struct fence_plan *plan;
	const char *root;
	struct error *err;
	unsigned int nested;                  /* depth of folders reached through links */
	const struct fence_pattern *patterns; /* relative to the project's root */
	size_t pattern_count;
	uint64_t steps; /* left for matching patterns */
	struct gitprograms *programs;
	struct symlinks *symlinks;
	struct dirwalk_folder last; /* see is_inner_file() */
	bool last_executed;
};

struct below {
	struct scan *scan;
	const char *path;
};

static void protect_links_below(struct scan *scan, const char *path);

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

static bool is_head(const char *name)
{
	AUTO_FREE char *folded = NULL;

	if (tolower((unsigned char)*name) != 'h' && (unsigned char)*name < 0x80)
		return false;
	folded = gitdir_fold(name);
	return strcmp(folded, "head") == 0;
}

/* Git obeys a git directory under any name. Testing only at HEAD makes ordinary folders free. */
static bool is_bare_repository(const struct dirwalk_entry *entry)
{
	return is_head(entry->name) && gitdir_classify_folder(entry->folder) == GITDIR_WHOLE;
}

const char *scan_executed(const struct dirwalk_entry *entry)
{
	const char *reason = defaults_name(entry->name, entry->type == DT_DIR).executed;

	if (!reason && is_bare_repository(entry))
		reason = "bare git repository";
	return reason;
}

static bool is_named_by_user(const struct fence_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (plan->rules[i].exact && plan->rules[i].access == WIRE_WRITE &&
		    strcmp(plan->rules[i].path, path) == 0)
			return true;
	return false;
}

/* Leaves a path to the command, as the user asked. */
static void exempt(struct fence_plan *plan, const char *path, const char *why)
{
	for (size_t i = 0; i < plan->exempt.count; i++)
		if (strcmp(plan->exempt.items[i], path) == 0)
			return;
	list_printf(
		&plan->notices,
		"%s is writable (--write); the host will execute what the command puts there (%s)",
		path, why);
	list_add(&plan->exempt, path);
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

/* Protects the file that a path leads to, if the command could write it. */
static void protect_target(struct scan *scan, const char *path, bool executed, bool secret)
{
	struct fence_plan *plan = scan->plan;
	AUTO_FREE char *real = realpath(path, NULL);
	struct stat status;

	if (!real || !in_writable_root(plan, real) || stat(real, &status) < 0)
		return;
	if (executed && is_named_by_user(plan, real)) {
		exempt(plan, real, path);
		return;
	}
	if (executed)
		known_add(plan, real);
	scan_add_rule(plan, real, &status, secret ? WIRE_HIDE : WIRE_READ,
		      secret ? "secret" : "executed by the host", false);
	if (executed && !secret && S_ISDIR(status.st_mode))
		protect_links_below(scan, real);
}

/* A mount cannot cover a symlink. Protects its target, and lets the sweep restore the link
 * itself. */
static void protect_link(struct scan *scan, const char *path, bool executed, bool secret)
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

static enum dirwalk_verdict visit_link(void *context, const struct dirwalk_entry *entry)
{
	struct below *below = context;
	AUTO_FREE char *path = path_join(below->path, entry->path);

	if (entry->type == DT_LNK)
		protect_link(below->scan, path, true, false);
	else if (entry->type == DT_REG)
		known_add_inner(below->scan->plan, path);
	return DIRWALK_ON;
}

/* Protects the targets of symlinks in a folder that the host executes. */
static void protect_links_below(struct scan *scan, const char *path)
{
	enum { MOST_NESTED = 8 };
	AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct below below = { scan, path };
	const struct dirwalk walk = { .visit = visit_link,
				      .context = &below,
				      .deepest = DIRWALK_DEPTH };
	struct error err;

	if (fd < 0 || scan->nested >= MOST_NESTED)
		return;
	scan->nested++;
	dirwalk_tree(&walk, fd, NULL, &err);
	scan->nested--;
}

/* Records a symlink on the way to a protected file, if the command could replace it. */
static void pass_link(void *context, const char *link, const char *target)
{
	struct scan *scan = context;

	if (in_writable_root(scan->plan, link))
		add_link(scan->plan, link, target);
}

/* Watches a path that leads to a file, so that the sweep finds a new file there. Returns the real
 * path of the file, which the caller frees, or NULL if the command cannot replace it. */
static char *watch(struct scan *scan, const char *path)
{
	size_t before = scan->plan->link_count;
	char *end = symlinks_follow(scan->symlinks, path, pass_link, scan);

	if (scan->plan->link_count == before && !in_writable_root(scan->plan, end)) {
		free(end);
		return NULL;
	}
	add_link(scan->plan, path, ""); /* nothing to restore */
	return end;
}

/* Protects a path that the host is told to use, and its target; watches for it if it is missing. */
static void protect_path(struct scan *scan, const char *path, bool secret)
{
	AUTO_FREE char *end = watch(scan, path);

	if (end)
		protect_target(scan, path, true, secret);
}

static void protect_named(void *context, const char *path)
{
	protect_path(context, path, false);
}

void scan_protect_path(struct fence_plan *plan, struct symlinks *symlinks, const char *path,
		       bool secret)
{
	struct scan scan = { .plan = plan, .symlinks = symlinks };

	protect_path(&scan, path, secret);
}

static int check_count(const struct scan *scan)
{
	if (scan->plan->rule_count <= MOST_FOUND && scan->plan->link_count <= MOST_FOUND)
		return 0;
	return error_set(scan->err,
			 "'%s' contains more than %d paths to protect; hide whole folders (--hide)",
			 scan->root, MOST_FOUND);
}

static int protect_config(struct scan *scan, const char *git, const char *work_tree)
{
	if (gitprograms_each(scan->programs, git, work_tree, protect_named, scan, scan->err) < 0)
		return -1;
	return check_count(scan);
}

/* Remembers the files of a git directory that have other names; skips objects. */
static void know_git_files(struct scan *scan, const char *git)
{
	static const char *const places[] = { "", "hooks", "info" };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		AUTO_FREE char *path = path_join(git, places[i]);
		DIR *dir = in_writable_root(scan->plan, git) ? opendir(path) : NULL;

		for (struct dirent *entry; dir && (entry = readdir(dir));) {
			AUTO_FREE char *inner = path_join(path, entry->d_name);

			if (entry->d_type == DT_REG)
				known_add_inner(scan->plan, inner);
		}
		if (dir)
			closedir(dir);
	}
}

/* Protects the parts that git obeys of a git directory that stays writable; watches for missing
 * ones. */
static void protect_parts(struct scan *scan, const char *git)
{
	static const char *const parts[] = { "HEAD",    "config",      "config.worktree",
					     "hooks",   "info",        "objects",
					     "refs",    "packed-refs", "commondir",
					     "modules", "worktrees" };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		AUTO_FREE char *path = path_join(git, parts[i]);

		if (access(path, F_OK) < 0)
			free(watch(scan, path));
		else
			scan_add_existing(scan->plan, path, WIRE_READ, "executed by the host",
					  false);
	}
}

/* Protects the common directory of a git directory. It may be large, so only protect_config()
 * searches it for symlinks. */
static void protect_common(struct scan *scan, const char *common)
{
	AUTO_FREE char *end = watch(scan, common);
	AUTO_FREE char *real = realpath(common, NULL);
	struct stat status;

	if (real && strcmp(real, scan->root) == 0) {
		protect_parts(scan, real);
	} else if (end && stat(end, &status) == 0 && in_writable_root(scan->plan, end)) {
		known_add(scan->plan, end);
		scan_add_rule(scan->plan, end, &status, WIRE_READ, "executed by the host", false);
	}
}

/* A git directory reads its configuration and hooks from the folder that its commondir names. */
static int protect_repository(struct scan *scan, const char *git, const char *work_tree)
{
	AUTO_FREE char *common = gitdir_pointer(git, "commondir", "");

	if (common) {
		protect_common(scan, common);
		know_git_files(scan, common);
	}
	know_git_files(scan, git);
	return protect_config(scan, git, work_tree);
}

/* Returns the git directory that git would use in a folder, or NULL. The caller frees it. */
static char *find_repository(const char *folder)
{
	AUTO_FREE char *git = gitdir_find(folder);
	AUTO_FD fd = git ? -1 : open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (!git && fd >= 0 && gitdir_classify_folder(fd) == GITDIR_WHOLE)
		return mem_dup(folder);
	return git ? mem_dup(git) : NULL;
}

/* Git searches upwards for a repository, so the root may be inside one. */
static int protect_parent_repository(struct scan *scan)
{
	AUTO_FREE char *folder = mem_dup(scan->root);
	char *git;
	int result = 0;

	do {
		*strrchr(folder, '/') = '\0';
		git = find_repository(*folder ? folder : "/");
	} while (!git && *folder);
	if (git)
		result = protect_repository(scan, git, *folder ? folder : "/");
	free(git);
	return result;
}

/* Returns whether a path is below a folder that the host executes. */
static bool is_below_executed(const char *path)
{
	AUTO_FREE char *copy = mem_dup(path);
	char *rest = copy;

	for (char *name; (name = strsep(&rest, "/")) && rest;)
		if (defaults_name(name, true).executed)
			return true;
	return false;
}

/* A .pem file with only certificates is not a secret, and TLS fails without it. */
static bool is_public_file(const struct dirwalk_entry *entry)
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

/* Returns whether an entry is a file in a folder that the host executes. Remembers the answer,
 * because the entries of a folder come one after the other. */
static bool is_inner_file(struct scan *scan, const struct dirwalk_entry *entry)
{
	const struct dirwalk_folder *folder = &entry->above[entry->depth];

	if (entry->type != DT_REG)
		return false;
	if (scan->last.inode != folder->inode || scan->last.device != folder->device)
		scan->last_executed = is_below_executed(entry->path);
	scan->last = *folder;
	return scan->last_executed;
}

/* Records the folders above a protected entry. */
static void add_witnesses(struct scan *scan, const struct dirwalk_entry *entry)
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
			return error_set(err,
					 "'%s' changed while the fence was being set up; try again",
					 witness->path);
	}
	return 0;
}

/* Returns the origin of the first pattern that hides this entry, or NULL. */
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

/* Checks that one more path can be protected. Returns 0, or -1 with the scan's err set. */
static int check_room(const struct scan *scan, const char *path)
{
	if (strlen(path) >= PATH_MAX)
		return error_set(
			scan->err,
			"a path of %zu bytes, '%.60s...%.60s', is too long to protect; shorten it",
			strlen(path), path, path + strlen(path) - 60);
	return check_count(scan);
}

/* Hides a folder without scanning it. */
static enum dirwalk_verdict hide_folder(struct fence_plan *plan, const char *path, const char *why)
{
	scan_add_existing(plan, path, WIRE_HIDE, why, false);
	known_add_hidden(plan, path);
	return DIRWALK_PAST;
}

/* Protects a git directory with another name than .git, given its HEAD. */
static int protect_bare(struct scan *scan, const char *head)
{
	AUTO_FREE char *path = mem_format("%.*s", (int)(path_name(head) - 1 - head), head);

	if (strcmp(path, scan->root) == 0)
		protect_parts(scan, path);
	else
		scan_add_existing(scan->plan, path, WIRE_READ, "executed by the host", false);
	return protect_repository(scan, path, path);
}

/* Why an entry needs protection. */
struct special {
	const char *ignored; /* the origin of the pattern that hides it, or NULL */
	const char *secret;
	const char *executed;
	bool put_aside; /* by an earlier sweep */
};

static struct special classify(struct scan *scan, const struct dirwalk_entry *entry)
{
	const char *ignored = ignored_by(scan, entry);

	return (struct special){
		.ignored = ignored,
		.secret = ignored ? ignored
				  : defaults_name(entry->name, entry->type == DT_DIR).secret,
		.executed = scan_executed(entry),
		.put_aside = entry->type == DT_DIR && strncmp(entry->name, SCAN_NEAR_QUARANTINE,
							      strlen(SCAN_NEAR_QUARANTINE)) == 0,
	};
}

static bool is_ordinary(const struct special *special, const struct dirwalk_entry *entry)
{
	return !special->secret && !special->executed && !entry->closed && !special->put_aside &&
	       entry->type != DT_SOCK && !(entry->type == DT_LNK && is_below_executed(entry->path));
}

/* Adds the rule for an entry, and decides whether to scan below it. */
static enum dirwalk_verdict protect(struct scan *scan, const struct dirwalk_entry *entry,
				    const struct special *special, const char *path, bool is_git)
{
	struct fence_plan *plan = scan->plan;

	if (special->executed)
		known_add(plan, path);
	else if (special->secret && entry->type == DT_DIR)
		known_add_hidden(plan, path);
	if (entry->type == DT_SOCK)
		scan_add_existing(plan, path, WIRE_HIDE, "socket", false);
	else if (special->ignored)
		hide_ignored(plan, path, special->ignored);
	else if (special->secret && !is_public_file(entry))
		scan_add_existing(plan, path, WIRE_HIDE, "secret", false);
	else if (special->executed && is_head(entry->name)) {
		if (protect_bare(scan, path) < 0)
			return DIRWALK_STOP;
	} else if (special->executed)
		scan_add_existing(plan, path, WIRE_READ, "executed by the host", false);
	else
		return DIRWALK_ON;

	/* A git directory is large and read-only as a whole; other protected folders may still
	 * contain secrets. */
	return is_git || special->secret ? DIRWALK_PAST : DIRWALK_ON;
}

static enum dirwalk_verdict visit_entry(void *context, const struct dirwalk_entry *entry)
{
	struct scan *scan = context;
	struct fence_plan *plan = scan->plan;
	const struct special special = classify(scan, entry);
	bool is_git = special.executed && strcasecmp(entry->name, ".git") == 0;

	if (special.secret || entry->type == DT_SOCK)
		known_add_secret(plan, entry->folder, entry->name);
	if (is_ordinary(&special, entry) && !is_inner_file(scan, entry))
		return DIRWALK_ON;

	AUTO_FREE char *path = path_join(scan->root, entry->path);

	if (is_ordinary(&special, entry)) {
		known_add_inner(plan, path);
		return DIRWALK_ON;
	}
	if (check_room(scan, path) < 0)
		return DIRWALK_STOP;
	add_witnesses(scan, entry);
	if (special.put_aside)
		return hide_folder(plan, path, "quarantine");
	if (entry->closed) {
		list_printf(&plan->notices, "hidden because it cannot be scanned: %s", path);
		return hide_folder(plan, path, "unreadable");
	}
	if (is_git) {
		AUTO_FREE char *work_tree = path_absolute("..", path);
		AUTO_FREE char *git = gitdir_find(work_tree);

		if (git && protect_repository(scan, git, work_tree) < 0)
			return DIRWALK_STOP;
	}
	if (entry->type == DT_LNK) {
		protect_link(scan, path, special.executed || !special.secret, special.secret);
		return DIRWALK_ON;
	}
	if (special.executed && is_named_by_user(plan, path)) {
		exempt(plan, path, special.executed);
		return DIRWALK_ON;
	}
	return protect(scan, entry, &special, path, is_git);
}

/* The sizes of what a scan adds to, so that it can be undone. */
struct mark {
	size_t rules, known, secrets, links, witnesses, exempt, notices;
};

static struct mark mark(const struct fence_plan *plan)
{
	return (struct mark){ .rules = plan->rule_count,
			      .known = plan->known_count,
			      .secrets = plan->secret_count,
			      .links = plan->link_count,
			      .witnesses = plan->witness_count,
			      .exempt = plan->exempt.count,
			      .notices = plan->notices.count };
}

static void undo_to(struct fence_plan *plan, const struct mark *mark)
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
	while (plan->known_count > mark->known)
		free(plan->known[--plan->known_count].path);
	plan->secret_count = mark->secrets;
}

int scan_tree(struct fence_plan *plan, size_t rule, struct error *err)
{
	enum { TRIES = 8 };
	const dev_t device = plan->rules[rule].device;
	const ino_t inode = plan->rules[rule].inode;
	AUTO_FREE char *path = mem_dup(plan->rules[rule].path); /* adding rules moves them */
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
		return error_set(err, "'%s' changed while it was being scanned; try again", path);
	if (strcmp(path, plan->project) == 0) {
		scan.steps = SCAN_MOST_STEPS;
		scan.patterns = plan->spec->patterns.items;
		scan.pattern_count = plan->spec->patterns.count;
	}
	for (int i = 0; i < TRIES && changed; i++) {
		struct symlinks symlinks = { 0 };

		undo_to(plan, &before);
		scan.programs = gitprograms_new(plan->identity.home);
		scan.symlinks = &symlinks;

		const struct dirwalk walk = { .visit = visit_entry,
					      .context = &scan,
					      .deepest = DIRWALK_DEPTH };
		int result = protect_parent_repository(&scan) < 0
				     ? -1
				     : dirwalk_tree(&walk, root, &changed, err);

		gitprograms_free(scan.programs);
		symlinks_release(&symlinks);
		if (result < 0)
			return -1;
	}
	if (scan.pattern_count && !scan.steps)
		return error_set(
			err,
			"matching the ignore patterns takes too long on this project (%s and others); list folders instead",
			scan.patterns[0].origin);
	if (changed)
		return error_set(
			err,
			"'%s' changes too fast to be scanned; stop the process that changes it, and try again",
			path);
	return 0;
}
