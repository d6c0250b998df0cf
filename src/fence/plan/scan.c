/* Scans a tree for files that need protection: see scan.h. */
#include "fence/plan/scan.h"

#include "fence/fence_index.h"
#include "fence/fence_place.h"
#include "fence/plan/known.h"
#include "fence/plan/names.h"
#include "fence/plan/protection.h"
#include "fence/plan/ruleset.h"
#include "fence/plan/secret.h"
#include "gitconfig/gitdir.h"
#include "gitconfig/gitprograms.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/symlinks.h"
#include "util/mem.h"
#include "util/text/sha256.h"

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

struct scan {
	struct protection protection;
	bool draft; /* the host does not see this tree: only secrets, and what it leads to
		       elsewhere, need protection */
	struct error *err;
	const struct fence_pattern *patterns; /* relative to the project's root */
	size_t pattern_count;
	uint64_t steps; /* left for matching patterns */
	struct names_walk names;
	struct fence_index *record; /* is being made, or NULL */
};

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

const char *scan_executed(const struct names_found *names, const struct dirwalk_entry *entry)
{
	const char *reason = names->by[NAMES_ALONE];

	if (!reason && is_bare_repository(entry))
		reason = "bare git repository";
	return reason;
}

/* Records the folders above a protected entry. */
static void add_witnesses(struct scan *scan, const struct dirwalk_entry *entry)
{
	struct fence_plan *plan = scan->protection.plan;
	const char *end = entry->path;

	for (unsigned int level = 0; level <= entry->depth; level++) {
		const struct dirwalk_folder *folder = &entry->above[level];
		size_t size = level ? (size_t)(end - entry->path) : 0;
		bool there = false;

		for (size_t i = plan->witness_count; i-- > 0 && !there;)
			there = plan->witnesses[i].inode == folder->inode &&
				plan->witnesses[i].device == folder->device;
		if (!there) {
			plan->witnesses = mem_extend(plan->witnesses, plan->witness_count,
						     sizeof *plan->witnesses);
			plan->witnesses[plan->witness_count++] = (struct fence_witness){
				.path = size ? mem_format("%s/%.*s", scan->protection.root,
							  (int)size, entry->path)
					     : mem_dup(scan->protection.root),
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

	ruleset_add_existing(plan, path, WIRE_HIDE, origin, false);
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
	return protection_check_count(&scan->protection, scan->err);
}

/* Hides a folder without scanning it. */
static enum dirwalk_verdict hide_folder(struct fence_plan *plan, const char *path, const char *why)
{
	ruleset_add_existing(plan, path, WIRE_HIDE, why, false);
	known_add_hidden(plan, path);
	return DIRWALK_PAST;
}

int scan_seen(const char *root, const struct dirwalk_entry *entry, struct fence_seen *ret_seen)
{
	struct stat status;
	struct stat target = { 0 }; /* of a symlink */
	char hash[SHA256_HEX];

	if (fstatat(entry->folder, entry->name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (S_ISLNK(status.st_mode))
		fstatat(entry->folder, entry->name, &target, 0);

	AUTO_FREE char *text = mem_format("%ju %jd %ld %s/%s", (uintmax_t)target.st_ino,
					  (intmax_t)target.st_ctim.tv_sec, target.st_ctim.tv_nsec,
					  root, entry->path);

	*ret_seen = (struct fence_seen){ .device = status.st_dev,
					 .inode = status.st_ino,
					 .changed_s = status.st_ctim.tv_sec,
					 .changed_ns = status.st_ctim.tv_nsec };
	sha256_hex(text, strlen(text), hash);
	memcpy(ret_seen->place, hash, sizeof ret_seen->place);
	return 0;
}

/* Records a file that a tool obeys when it starts, so that the sweep recognizes a changed one. */
static void add_seen(struct scan *scan, const struct dirwalk_entry *entry)
{
	struct fence_plan *plan = scan->protection.plan;
	struct fence_seen seen;

	if (scan_seen(scan->protection.root, entry, &seen) < 0)
		return;
	plan->seen = mem_extend(plan->seen, plan->seen_count, sizeof *plan->seen);
	plan->seen[plan->seen_count++] = seen;
}

/* Why an entry needs protection. */
struct special {
	const char *ignored; /* the origin of the pattern that hides it, or NULL */
	struct names_found names;
	bool secret; /* by its name or a pattern; the look at a symlink's target comes later */
	const char *executed;
	bool put_aside; /* by an earlier sweep */
};

/* In a draft, a name alone hides nothing that a command has made there. */
static bool is_own(const struct scan *scan, const struct dirwalk_entry *entry)
{
	AUTO_FREE char *path = scan->draft ? path_join(scan->protection.root, entry->path) : NULL;

	return path && protection_is_own(scan->protection.plan, path);
}

/* Returns whether an entry is in a folder with a name of secrets. A scan comes there only if a
 * command has made the folder; but it may have moved the user's files to it. */
static bool is_in_own_folder(const struct scan *scan)
{
	return scan->draft && scan->names.above.by[NAMES_SECRET];
}

static bool is_secret(struct scan *scan, const struct dirwalk_entry *entry,
		      const struct names_found *names)
{
	bool inner = is_in_own_folder(scan);

	if (entry->type == DT_LNK)
		return names_secret(names);
	if ((!inner && !names_secret(names)) || is_own(scan, entry))
		return false;
	return inner ||
	       secret_file(names, entry->folder, entry->name, &scan->protection.look_budget);
}

static bool is_put_aside(const struct dirwalk_entry *entry)
{
	return entry->type == DT_DIR &&
	       strncmp(entry->name, SCAN_NEAR_QUARANTINE, strlen(SCAN_NEAR_QUARANTINE)) == 0;
}

static struct special classify(struct scan *scan, const struct dirwalk_entry *entry)
{
	struct special special = { .ignored = ignored_by(scan, entry),
				   .names = names_entry(&scan->names, entry) };

	if (special.ignored)
		special.names.by[NAMES_SECRET] = special.ignored;
	special.secret = special.ignored || is_secret(scan, entry, &special.names);
	special.executed = scan_executed(&special.names, entry);
	special.put_aside = is_put_aside(entry);
	return special;
}

/* Return whether an entry is a symlink, or a file, in a folder that the host executes. */
static bool is_executed_link(const struct scan *scan, const struct dirwalk_entry *entry)
{
	return entry->type == DT_LNK && scan->names.above.by[NAMES_ALONE];
}

static bool is_inner_file(const struct scan *scan, const struct dirwalk_entry *entry)
{
	return entry->type == DT_REG && !scan->draft && scan->names.above.by[NAMES_ALONE];
}

static bool is_ordinary(const struct scan *scan, const struct special *special,
			const struct dirwalk_entry *entry)
{
	return !special->secret && !special->executed && !entry->closed && !special->put_aside &&
	       entry->type != DT_SOCK && !is_executed_link(scan, entry);
}

/* Returns whether an entry itself will be hidden, apart from its symlink's target. */
static bool is_hidden(const struct special *special, const struct dirwalk_entry *entry)
{
	return (special->secret && entry->type != DT_LNK) || special->put_aside ||
	       entry->type == DT_SOCK;
}

/* Adds the rule for an entry, and decides whether to scan below it. */
static enum dirwalk_verdict protect(struct scan *scan, const struct dirwalk_entry *entry,
				    const struct special *special, const char *path, bool is_git)
{
	struct fence_plan *plan = scan->protection.plan;

	if (special->executed && !scan->draft)
		known_add(plan, path);
	else if (special->secret && entry->type == DT_DIR)
		known_add_hidden(plan, path);
	else if (special->secret)
		known_report_names(plan, path);
	if (entry->type == DT_SOCK)
		ruleset_add_existing(plan, path, WIRE_HIDE, "socket", false);
	else if (special->ignored)
		hide_ignored(plan, path, special->ignored);
	else if (special->secret)
		ruleset_add_existing(plan, path, WIRE_HIDE, "secret", false);
	else if (special->executed && is_head(entry->name)) {
		if (protection_add_bare(&scan->protection, path, scan->err) < 0)
			return DIRWALK_STOP;
	} else if (special->executed)
		protection_make_read_only(&scan->protection, path);
	else
		return DIRWALK_ON;

	/* A git directory is large and read-only as a whole; other protected folders may still
	 * contain secrets. */
	return is_git || special->secret ? DIRWALK_PAST : DIRWALK_ON;
}

/* Decides about an entry, and adds what it needs to the plan. */
static enum dirwalk_verdict judge_entry(struct scan *scan, const struct dirwalk_entry *entry,
					const struct special *found)
{
	struct fence_plan *plan = scan->protection.plan;
	const struct special special = *found;
	bool is_git = special.executed && strcasecmp(entry->name, ".git") == 0;

	if (special.names.by[NAMES_START] && entry->type != DT_DIR && !scan->draft)
		add_seen(scan, entry);
	if (is_hidden(&special, entry))
		known_add_secret(plan, entry->folder, entry->name);
	if (is_ordinary(scan, &special, entry) && !is_inner_file(scan, entry))
		return DIRWALK_ON;

	AUTO_FREE char *path = path_join(scan->protection.root, entry->path);

	if (is_ordinary(scan, &special, entry)) {
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

		if (git &&
		    protection_add_repository(&scan->protection, git, work_tree, scan->err) < 0)
			return DIRWALK_STOP;
	}
	if (entry->type == DT_LNK) {
		if (protection_add_link(&scan->protection, path,
					special.executed || !special.secret,
					special.secret ? &special.names : NULL))
			known_add_secret(plan, entry->folder, entry->name);
		return DIRWALK_ON;
	}
	if (special.executed && !scan->draft && protection_exempts(plan, path, special.executed))
		return DIRWALK_ON;
	return protect(scan, entry, &special, path, is_git);
}

/* ---- recording ---- */

/* Returns whether judge_entry() may do more than go on, here or in a view that shows other contents
 * or permissions. */
static bool is_notable(const struct scan *scan, const struct dirwalk_entry *entry,
		       const struct names_found *names)
{
	return names->by[NAMES_ALONE] || names_secret(names) || is_in_own_folder(scan) ||
	       entry->closed || entry->type == DT_SOCK || is_head(entry->name) ||
	       is_put_aside(entry) || is_executed_link(scan, entry) || is_inner_file(scan, entry) ||
	       (names->by[NAMES_START] && !scan->draft);
}

static void record(struct scan *scan, const struct dirwalk_entry *entry,
		   const struct names_found *names, enum dirwalk_verdict verdict)
{
	if (is_notable(scan, entry, names))
		fence_index_add(scan->record, entry->path);
	if (entry->type == DT_DIR && verdict == DIRWALK_ON && !entry->closed)
		fence_index_add_folder(scan->record, entry->folder, entry->name, entry->path);
}

static enum dirwalk_verdict visit_entry(void *context, const struct dirwalk_entry *entry)
{
	struct scan *scan = context;
	const struct special special = classify(scan, entry);
	enum dirwalk_verdict verdict = judge_entry(scan, entry, &special);

	if (scan->record)
		record(scan, entry, &special.names, verdict);
	return verdict;
}

/* Records an entry of a layer. A plan is made later, for the view. */
static enum dirwalk_verdict visit_layer(void *context, const struct dirwalk_entry *entry)
{
	struct scan *scan = context;
	struct names_found names = names_entry(&scan->names, entry);

	if (entry->closed) {
		error_set(scan->err, "the folder '%s' cannot be read", entry->path);
		return DIRWALK_STOP;
	}
	if (is_notable(scan, entry, &names) || ignored_by(scan, entry))
		fence_index_add(scan->record, entry->path);
	return DIRWALK_ON;
}

/* Records the entries of a folder that a view shows over the project. Returns 0, or -1 with err
 * set, also if a folder in it cannot be read. */
static int record_layer(const char *folder, const struct fence_spec *spec,
			struct fence_index *index, struct error *err)
{
	AUTO_FD root = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct scan scan = { .draft = true,
			     .err = err,
			     .patterns = spec->patterns.items,
			     .pattern_count = spec->patterns.count,
			     .steps = SCAN_MOST_STEPS,
			     .names = { .root = spec->place->project },
			     .record = index };
	const struct dirwalk walk = { .visit = visit_layer,
				      .context = &scan,
				      .deepest = DIRWALK_DEPTH };

	if (root < 0)
		return error_sys(err, "open '%s'", folder);
	if (dirwalk_tree(&walk, root, NULL, err) < 0)
		return -1;
	return scan.pattern_count && !scan.steps
		       ? error_set(err, "matching the ignore patterns takes too long")
		       : 0;
}

int fence_index_view(const struct fence_index *project, const struct fence_spec *spec,
		     const struct list *layers, struct fence_index *ret_index, struct error *err)
{
	*ret_index = FENCE_INDEX_INIT;
	for (size_t i = 0; i < project->paths.count; i++)
		fence_index_add(ret_index, project->paths.items[i]);
	for (size_t i = 0; i < layers->count; i++)
		if (record_layer(layers->items[i], spec, ret_index, err) < 0)
			return -1;
	fence_index_settle(ret_index);
	return 0;
}

/* The sizes of what a scan adds to, so that it can be undone. */
struct mark {
	size_t rules, known, secrets, seen, links, witnesses, exempt, notices;
};

static struct mark mark(const struct fence_plan *plan)
{
	return (struct mark){ .rules = plan->rule_count,
			      .known = plan->known_count,
			      .secrets = plan->secret_count,
			      .seen = plan->seen_count,
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
	plan->seen_count = mark->seen;
}

/* Scans once, everything or the given paths. *ret_changed is whether the tree changed in the
 * meantime. */
static int scan_once(struct scan *scan, int root, const struct list *only, bool *ret_changed)
{
	struct protection *protection = &scan->protection;
	const struct dirwalk walk = {
		.visit = visit_entry, .context = scan, .deepest = DIRWALK_DEPTH, .only = only
	};
	struct symlinks symlinks = { 0 };
	int result;

	scan->names = (struct names_walk){ .root = protection->root };
	protection->look_budget = SECRET_BUDGET;
	protection->programs = gitprograms_new(protection->plan->identity.home);
	protection->symlinks = &symlinks;
	if (scan->record) {
		fence_index_clear(scan->record);
		fence_index_add_folder(scan->record, root, "", "");
	}
	result = protection_add_parent_repository(protection, scan->err);
	if (result == 0)
		result = dirwalk_tree(&walk, root, ret_changed, scan->err);
	gitprograms_free(protection->programs);
	symlinks_release(&symlinks);
	return result;
}

int scan_tree(struct fence_plan *plan, size_t rule, struct error *err)
{
	enum { TRIES = 8 };
	const dev_t device = plan->rules[rule].device;
	const ino_t inode = plan->rules[rule].inode;
	AUTO_FREE char *path = mem_dup(plan->rules[rule].path); /* adding rules moves them */
	struct stat status;
	AUTO_FD root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct scan scan = { .protection = { .plan = plan, .root = path },
			     .draft = plan->rules[rule].draft,
			     .err = err };
	struct fence_index *index = plan->rules[rule].project ? plan->spec->index : NULL;
	const struct list *only = index && index->complete ? &index->paths : NULL;
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
	scan.record = only ? NULL : index;
	for (int i = 0; i < TRIES && changed; i++) {
		undo_to(plan, &before);
		/* If something changes, the index may be out of date. */
		if (scan_once(&scan, root, i == 0 ? only : NULL, &changed) < 0)
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
	if (scan.record)
		fence_index_settle(scan.record);
	return 0;
}
