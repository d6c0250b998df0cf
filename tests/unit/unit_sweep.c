/* The sweep: what it moves, what it leaves, and malformed records. */
#include "fence/fence_plan.h"
#include "unit.h"

#include "fence/after/sweep.h"
#include "fence/plan/known.h"
#include "fence/plan/ruleset.h"
#include "fence/plan/scan.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, "x", 1) != 1)
		abort();
	close(fd);
}

static void remember(struct buffer *record, const char *root, const char *name)
{
	AUTO_FREE char *path = path_join(root, name);
	struct fence_inode inode;
	char both[sizeof inode + 200];

	if (known_identify(AT_FDCWD, path, &inode) < 0)
		abort();
	memcpy(both, &inode, sizeof inode);
	memcpy(both + sizeof inode, path, strlen(path) + 1);
	wire_add(record, WIRE_KNOWN, both, sizeof inode + strlen(path) + 1);
}

static void remember_content(struct buffer *record, const char *root, const char *name)
{
	AUTO_FREE char *path = path_join(root, name);
	char both[SHA256_HEX + 200];

	if (known_hash(AT_FDCWD, path, both) < 0)
		abort();
	memcpy(both + SHA256_HEX, path, strlen(path) + 1);
	wire_add(record, WIRE_CONTENT, both, SHA256_HEX + strlen(path) + 1);
}

/* The path of an entry that a run beside this one still uses, or NULL. */
static const char *used_by_another;

static bool is_left(void *context, const char *path)
{
	(void)context;
	return used_by_another && strcmp(path, used_by_another) == 0;
}

static int sweep_by(const char *bytes, size_t size, const char *quarantine, const char *id,
		    struct fence_found *found, struct error *err)
{
	struct list notices = { 0 };
	const struct sweep_place place = {
		.quarantine = quarantine, .id = id, .left = is_left, .notices = &notices
	};
	struct baseline baseline;
	int result;

	if (baseline_read(bytes, size, &baseline, err) < 0)
		return -1;
	result = sweep(&baseline, &place, found, err);
	baseline_release(&baseline);
	list_release(&notices);
	return result;
}

/* Starts a record of a version, with one writable folder. */
static void begin(struct buffer *record, uint32_t version, const char *root)
{
	struct fence_inode inode;
	uint64_t room = 1000;

	if (known_identify(AT_FDCWD, root, &inode) < 0)
		abort();
	if (version)
		wire_add(record, WIRE_VERSION, &version, sizeof version);
	wire_add_string(record, WIRE_CWD, root);
	wire_add_string(record, WIRE_ROOT, root);
	wire_add(record, WIRE_ROOT_INODE, &inode, sizeof inode);
	wire_add(record, WIRE_ROOM, &room, sizeof room);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static bool there(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void damaged(struct buffer *record, const char *quarantine)
{
	struct fence_found found = { 0 };
	struct error err;
	bool refused = true;

	for (size_t size = 1; size < record->used; size += 3) {
		char *copy = mem_alloc(record->used);

		memcpy(copy, record->data, record->used);
		copy[size] = (char)0xff;
		/* It may still be a record of other paths; reading it must not crash, and a
		 * truncated one is refused. */
		refused = refused &&
			  (sweep_by(copy, size, quarantine, "torn", &found, &err) < 0 || size > 30);
		free(copy);
	}
	CHECK("a truncated record is refused", refused);
	CHECK("an empty record is refused", sweep_by("", 0, quarantine, "none", &found, &err) < 0);
	fence_found_release(&found);
}

static void versions(const char *project, const char *quarantine)
{
	struct buffer old = BUFFER_INIT(10000);
	struct buffer later = BUFFER_INIT(10000);
	struct fence_found found = { 0 };
	struct baseline baseline;
	struct error err;

	begin(&old, 0, project);
	wire_add(&old, WIRE_KNOWN, "an inode without a birth", 16);
	begin(&later, 3, project);
	CHECK("records of other versions are refused",
	      sweep_by(old.data, old.used, quarantine, "old", &found, &err) < 0 &&
		      sweep_by(later.data, later.used, quarantine, "new", &found, &err) < 0 &&
		      found.count == 0);
	CHECK("the places of an old record are known",
	      baseline_read(old.data, old.used, &baseline, &err) == 0 && baseline.foreign &&
		      baseline_overlaps(&baseline, project) &&
		      !baseline_overlaps(&baseline, "/elsewhere"));
	baseline_release(&baseline);
	buffer_release(&old);
	buffer_release(&later);
}

/* A run on the folder "v", as another one that starts beside it sees it. */
static void vouching(const char *root)
{
	AUTO_FREE char *folder = path_join(root, "v");
	AUTO_FREE char *mine = path_join(folder, ".envrc");
	AUTO_FREE char *inner = path_join(folder, ".vscode/.mcp.json");
	AUTO_FREE char *plant = path_join(folder, ".mcp.json");
	AUTO_FREE char *outside = path_join(root, "outside");
	struct fence_known known[] = {
		{ .path = mine }, { .path = inner }, { .path = plant }, { .path = outside }
	};
	struct buffer record = BUFFER_INIT(10000);
	struct baseline baseline;
	struct error err;

	if (mkdir(folder, 0755) < 0 || mkdir("v/.vscode", 0755) < 0)
		abort();
	write_file(mine);
	begin(&record, 2, folder);
	remember(&record, folder, ".envrc");
	remember(&record, folder, ".vscode");
	for (size_t i = 1; i < sizeof known / sizeof *known; i++)
		write_file(known[i].path);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		known_identify(AT_FDCWD, known[i].path, &known[i].inode);
	if (baseline_read(record.data, record.used, &baseline, &err) < 0)
		abort();
	CHECK("a run vouches for what it knows, and for what is in a folder that it knows",
	      baseline_vouches(&baseline, &known[0]) && baseline_vouches(&baseline, &known[1]));
	CHECK("a run does not vouch for what is new to it",
	      !baseline_vouches(&baseline, &known[2]));
	CHECK("a run vouches for what it cannot write", baseline_vouches(&baseline, &known[3]));
	known[0].inode.birth_ns ^= 1;
	CHECK("the number of an inode is not enough", !baseline_vouches(&baseline, &known[0]));
	baseline_release(&baseline);
	buffer_release(&record);
}

static void contents(const char *root, const char *quarantine)
{
	AUTO_FREE char *folder = path_join(root, "c");
	struct buffer record = BUFFER_INIT(10000);
	struct fence_found found = { 0 };
	struct error err;

	if (mkdir(folder, 0755) < 0)
		abort();
	write_file("c/.envrc");
	write_file("c/.vimrc");
	begin(&record, 2, folder);
	remember_content(&record, folder, ".envrc");
	remember_content(&record, folder, ".vimrc");
	if (unlink("c/.envrc") < 0 || rename("c/.vimrc", "c/.exrc") < 0)
		abort();
	write_file("c/.envrc");
	CHECK("a file is known by its content, at its path only",
	      sweep_by(record.data, record.used, quarantine, "3", &found, &err) == 0 &&
		      found.count == 1 && there("c/.envrc") && there("q/3/.exrc"));
	fence_found_release(&found);
	buffer_release(&record);
}

/* --- from a plan to a sweep */

/* Adds a rule for an entry of the folder, or for the folder itself (""). */
static struct fence_rule *add_rule(struct fence_plan *plan, const char *folder, const char *name,
				   enum wire_access access)
{
	char *path = *name ? path_join(folder, name) : mem_dup(folder);
	struct stat status;

	if (stat(path, &status) < 0)
		abort();
	plan->rules = mem_extend(plan->rules, plan->rule_count, sizeof *plan->rules);
	plan->rules[plan->rule_count] = (struct fence_rule){ .path = path,
							     .access = access,
							     .is_dir = S_ISDIR(status.st_mode),
							     .device = status.st_dev,
							     .inode = status.st_ino };
	return &plan->rules[plan->rule_count++];
}

static void add_seen(struct fence_plan *plan, const char *root, const char *name)
{
	AUTO_FREE char *path = path_join(root, name);
	const struct dirwalk_entry entry = { .folder = AT_FDCWD, .name = path, .path = name };

	plan->seen = mem_extend(plan->seen, plan->seen_count, sizeof *plan->seen);
	if (scan_seen(root, &entry, &plan->seen[plan->seen_count++]) < 0)
		abort();
}

static void add_known(struct fence_plan *plan, const char *folder, const char *name,
		      void (*add)(struct fence_plan *plan, const char *path))
{
	AUTO_FREE char *path = path_join(folder, name);

	add(plan, path);
}

static void add_secret(struct fence_plan *plan, const char *path)
{
	known_add_secret(plan, AT_FDCWD, path);
}

static void release_plan(struct fence_plan *plan)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		free(plan->rules[i].path);
	for (size_t i = 0; i < plan->known_count; i++)
		free(plan->known[i].path);
	free(plan->rules);
	free(plan->known);
	free(plan->seen);
	free(plan->secrets);
	free(plan->others);
	list_release(&plan->exempt);
	list_release(&plan->notices);
}

/* Makes the entries of a project before a run. Entries that follow are new. */
static void make_project(const char *folder)
{
	if (mkdir(folder, 0755) < 0 || mkdir("t/hid", 0755) < 0 || mkdir("t/over", 0755) < 0 ||
	    mkdir("t/read", 0755) < 0 || mkdir("t/.vscode", 0755) < 0 ||
	    mkdir("t/.husky", 0755) < 0 || mkdir("t/.cursor", 0755) < 0)
		abort();
	write_file("t/.env");
	write_file("t/conftest.py");
	write_file("t/AGENTS.md");
	write_file("t/over/.envrc");
	write_file("t/hid/.envrc");
}

static void write_record(const struct fence_spec *spec, char *folder, char *exempt,
			 struct buffer *record)
{
	struct fence_plan plan = { .project = folder, .spec = spec };
	int root = open(folder, O_PATH | O_CLOEXEC);

	add_rule(&plan, folder, "", WIRE_WRITE);
	add_rule(&plan, folder, "hid", WIRE_HIDE)->exact = true;
	add_rule(&plan, folder, "over", WIRE_WRITE)->source = folder;
	add_rule(&plan, folder, "read", WIRE_READ);
	add_known(&plan, folder, ".vscode", known_add);
	add_known(&plan, folder, "hid", known_add_hidden);
	add_known(&plan, folder, ".cursor", known_add_other);
	add_known(&plan, folder, ".env", add_secret);
	add_seen(&plan, folder, "conftest.py");
	add_seen(&plan, folder, "AGENTS.md");
	add_seen(&plan, folder, ".env");
	list_add(&plan.exempt, exempt);
	baseline_write(&plan, &root, record);
	release_plan(&plan);
	close(root);
}

static bool has_flagged(const struct fence_found *found, const char *name)
{
	for (size_t i = 0; i < found->flagged_count; i++)
		if (strcmp(path_name(found->flagged[i].path), name) == 0)
			return true;
	return false;
}

static bool has_moved(const struct fence_found *found, const char *end, const char *reason)
{
	for (size_t i = 0; i < found->count; i++) {
		const struct fence_found_item *item = &found->items[i];

		if (strcmp(path_name(item->path), end) == 0 && strcmp(item->reason, reason) == 0)
			return item->kept && there(item->kept) && !there(item->path);
	}
	return false;
}

static void read_back(const struct buffer *record, const char *folder, const char *exempt)
{
	AUTO_FREE char *hidden = path_join(folder, "hid");
	AUTO_FREE char *below = path_join(exempt, "pre-commit");
	struct baseline baseline;
	struct error err;

	if (baseline_read(record->data, record->used, &baseline, &err) < 0)
		abort();
	CHECK("a record has the project, and each folder that the run itself can write",
	      !baseline.foreign && strcmp(baseline.project, folder) == 0 &&
		      baseline.root_count == 1 && strcmp(baseline.roots[0].path, folder) == 0 &&
		      baseline.roots[0].inode.inode && baseline.roots[0].held == -1);
	CHECK("a record has the folders that an option hides",
	      baseline.hidden_count == 1 && strcmp(baseline.hidden[0], hidden) == 0);
	CHECK("a record has what is known, secret, seen, or made by others",
	      baseline.known_count == 2 && baseline.secret_count == 1 && baseline.seen_count == 3 &&
		      baseline.other_count == 1 && baseline.content_count == 0);
	CHECK("a record has the patterns as they were written",
	      baseline.pattern_count == 2 && baseline.patterns[0].rooted &&
		      baseline.patterns[0].folders && !baseline.patterns[1].rooted &&
		      !baseline.patterns[1].folders &&
		      strcmp(baseline.patterns[1].text, "*.token") == 0);
	CHECK("a record says how many more entries can be hidden",
	      baseline.room == RULESET_MOST - 4);
	CHECK("an exempt folder exempts itself and what is in it, and nothing else",
	      baseline_exempts(&baseline, exempt) && baseline_exempts(&baseline, below) &&
		      !baseline_exempts(&baseline, folder) && !baseline_exempts(&baseline, hidden));
	CHECK("a path is below the root that contains it, and a root is not below itself",
	      baseline_root(&baseline, hidden) == &baseline.roots[0] &&
		      !baseline_root(&baseline, folder) && !baseline_root(&baseline, "/elsewhere"));
	CHECK("an entry that is gone is neither secret nor another's",
	      !baseline_has_secret(&baseline, &baseline.roots[0], AT_FDCWD, "t/gone") &&
		      !baseline_has_other(&baseline, &baseline.roots[0], AT_FDCWD, "t/gone"));
	baseline_release(&baseline);
}

static void identities(void)
{
	const struct baseline_root born = { .inode = { 1, 2, 3, 4 }, .device = 1 };
	const struct baseline_root unborn = { .inode = { 1, 2, 0, 0 }, .device = 1 };

	CHECK("a root with a birth time is the same on a device with another number",
	      baseline_is_same(&born, &(struct fence_inode){ 9, 2, 3, 4 }) &&
		      !baseline_is_same(&born, &(struct fence_inode){ 1, 5, 3, 4 }) &&
		      !baseline_is_same(&born, &(struct fence_inode){ 1, 2, 5, 4 }) &&
		      !baseline_is_same(&born, &(struct fence_inode){ 1, 2, 3, 5 }));
	CHECK("a root without a birth time is the same only on its device",
	      baseline_is_same(&unborn, &(struct fence_inode){ 1, 2, 0, 0 }) &&
		      !baseline_is_same(&unborn, &(struct fence_inode){ 9, 2, 0, 0 }));
}

static void round_trip(const char *root, const char *quarantine)
{
	AUTO_FREE char *folder = path_join(root, "t");
	AUTO_FREE char *exempt = path_join(folder, ".husky");
	AUTO_FREE char *other = path_join(folder, ".cursor");
	struct fence_pattern items[2] = { 0 };
	const struct fence_spec spec = { .patterns = { items, 2 } };
	struct buffer record = BUFFER_INIT(100000);
	struct fence_found found = { 0 };
	struct error err;

	make_project(folder);
	glob_read("/a/", &items[0].glob);
	glob_read("*.token", &items[1].glob);
	write_record(&spec, folder, exempt, &record);
	read_back(&record, folder, exempt);

	write_file("t/.husky/pre-commit");
	write_file("t/.husky/.envrc");
	write_file("t/AGENTS.md.new");
	write_file("t/CLAUDE.md");
	write_file("t/.npmrc");
	if (rename("t/AGENTS.md.new", "t/AGENTS.md") < 0 || mkdir("t/.githooks", 0755) < 0)
		abort();
	used_by_another = other;
	CHECK("a sweep by a plan's record succeeds",
	      sweep_by(record.data, record.used, quarantine, "4", &found, &err) == 0);
	CHECK("entries of a folder that the user made writable by name stay",
	      there("t/.husky/pre-commit") && there("t/.husky/.envrc"));
	CHECK("new entries elsewhere are moved, with the reason",
	      has_moved(&found, ".githooks", "git hooks") &&
		      has_moved(&found, ".envrc", "direnv") && found.count == 2);
	CHECK("that includes a folder which another source was mounted over",
	      !there("t/over/.envrc"));
	CHECK("a hidden folder is left alone with all that is in it", there("t/hid/.envrc"));
	CHECK("an entry that a run beside this one still uses is left to its sweep", there(other));
	CHECK("new and changed files that tools obey are flagged, and others are not",
	      has_flagged(&found, "AGENTS.md") && has_flagged(&found, "CLAUDE.md") &&
		      has_flagged(&found, ".npmrc") && !has_flagged(&found, "conftest.py") &&
		      found.flagged_count == 3);
	used_by_another = NULL;
	fence_found_release(&found);
	found = (struct fence_found){ 0 };
	CHECK("an entry that no run uses any more is moved",
	      sweep_by(record.data, record.used, quarantine, "5", &found, &err) == 0 &&
		      found.count == 1 && has_moved(&found, ".cursor", "Cursor"));
	fence_found_release(&found);
	glob_release(&items[0].glob);
	glob_release(&items[1].glob);
	buffer_release(&record);
}

/* More new secrets than the next run could hide. */
static void many_secrets(const char *root, const char *quarantine)
{
	AUTO_FREE char *folder = path_join(root, "s");
	AUTO_FREE char *old = path_join(folder, ".env");
	struct buffer record = BUFFER_INIT(10000);
	struct buffer roomy = BUFFER_INIT(10000);
	const uint64_t room = 1;
	struct fence_found found = { 0 };
	struct fence_inode inode;
	struct error err;

	if (mkdir(folder, 0755) < 0 || mkdir("s/sub", 0755) < 0)
		abort();
	write_file(old);
	if (known_identify(AT_FDCWD, old, &inode) < 0)
		abort();
	begin(&record, 2, folder);
	wire_add(&record, WIRE_ROOM, &room, sizeof room);
	wire_add(&record, WIRE_SECRET, &inode, sizeof inode);
	begin(&roomy, 2, folder);
	wire_add(&roomy, WIRE_SECRET, &inode, sizeof inode);
	write_file("s/.env.local");
	CHECK("as many new secrets as can be hidden stay",
	      sweep_by(record.data, record.used, quarantine, "6", &found, &err) == 0 &&
		      found.count == 0);
	write_file("s/sub/id_rsa");
	write_file("s/sub/ordinary");
	CHECK("where there is room, more stay",
	      sweep_by(roomy.data, roomy.used, quarantine, "7", &found, &err) == 0 &&
		      found.count == 0);
	CHECK("of more, all are moved, but those from before the run stay",
	      sweep_by(record.data, record.used, quarantine, "8", &found, &err) == 0 &&
		      found.count == 2 &&
		      has_moved(&found, ".env.local", "one of too many new secrets to hide") &&
		      has_moved(&found, "id_rsa", "one of too many new secrets to hide") &&
		      there(old) && there("s/sub/ordinary"));
	fence_found_release(&found);
	buffer_release(&record);
	buffer_release(&roomy);
}

/* Protected symlinks, and what the command put where they lead. */
static void link_targets(const char *root, const char *quarantine)
{
	AUTO_FREE char *folder = path_join(root, "l");
	AUTO_FREE char *link = path_join(folder, ".codex");
	AUTO_FREE char *outside = path_join(root, "outside-l");
	char target[16];
	struct buffer record = BUFFER_INIT(10000);
	struct fence_found found = { 0 };
	struct error err;

	if (mkdir(folder, 0755) < 0 || symlink("target", link) < 0)
		abort();
	begin(&record, 2, folder);
	wire_add_string(&record, WIRE_LINK, link);
	wire_add_string(&record, WIRE_LINK, "target");
	write_file("l/target");
	CHECK("a new target of a protected symlink is moved, and the symlink stays",
	      sweep_by(record.data, record.used, quarantine, "12", &found, &err) == 0 &&
		      found.count == 1 &&
		      has_moved(&found, "target", "target of a protected symlink") && there(link));
	write_file(outside);
	if (unlink(link) < 0 || symlink(outside, link) < 0)
		abort();
	CHECK("another symlink in its place is moved, and the old one is back",
	      sweep_by(record.data, record.used, quarantine, "13", &found, &err) == 0 &&
		      found.count == 2 && there("q/13/.codex") &&
		      readlink(link, target, sizeof target) == 6 &&
		      memcmp(target, "target", 6) == 0);
	CHECK("a file outside, where it led, stays", there(outside));
	fence_found_release(&found);
	buffer_release(&record);
}

/* Roots that are not where they were. */
static void moved_roots(const char *root, const char *quarantine)
{
	AUTO_FREE char *folder = path_join(root, "m");
	struct buffer record = BUFFER_INIT(10000);
	struct fence_found found = { 0 };
	struct error err;

	if (mkdir(folder, 0755) < 0)
		abort();
	begin(&record, 2, folder);
	write_file("m/.envrc");
	if (rename("m", "m2") < 0)
		abort();
	CHECK("a root that was moved nearby is found and swept",
	      sweep_by(record.data, record.used, quarantine, "9", &found, &err) == 0 &&
		      found.count == 1 && !there("m2/.envrc") && there("q/9/.envrc"));
	if (mkdir(folder, 0755) < 0)
		abort();
	write_file("m/.envrc");
	CHECK("another folder at its path is not swept for it",
	      sweep_by(record.data, record.used, quarantine, "10", &found, &err) == 0 &&
		      found.count == 1 && there("m/.envrc"));
	if (rmdir("m2") < 0)
		abort();
	CHECK("a root that is gone is an error",
	      sweep_by(record.data, record.used, quarantine, "11", &found, &err) < 0 &&
		      strstr(err.text, "is not nearby") && there("m/.envrc"));
	fence_found_release(&found);
	buffer_release(&record);
}

enum { PLAIN_UID = 12321 };

/* Root could move everything. */
static bool become_user(const char *folder)
{
	return geteuid() != 0 || (chown(folder, PLAIN_UID, PLAIN_UID) == 0 &&
				  setegid(PLAIN_UID) == 0 && seteuid(PLAIN_UID) == 0);
}

/* The sanitizer looks for leaks as the user who started this, in a dumpable process. */
static bool become_self(void)
{
	return seteuid(getuid()) == 0 && setegid(getgid()) == 0 &&
	       prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0;
}

int main(void)
{
	char root[UNIT_PATH];
	struct buffer record = BUFFER_INIT(100000);
	struct fence_found found = { 0 };
	struct error err;

	if (!unit_temp(root) || !become_user(root) || chdir(root) < 0 || mkdir("p", 0755) < 0 ||
	    mkdir("p/.vscode", 0755) < 0 || mkdir("p/a", 0755) < 0 || mkdir("q", 0700) < 0 ||
	    symlink("elsewhere", "p/.codex") < 0)
		return 1;

	AUTO_FREE char *project = path_join(root, "p");
	AUTO_FREE char *link = path_join(root, "p/.codex");
	AUTO_FREE char *quarantine = path_join(root, "q");

	write_file("p/.mcp.json");
	begin(&record, 2, project);
	remember(&record, project, ".vscode");
	remember(&record, project, ".mcp.json");
	wire_add_string(&record, WIRE_LINK, link);
	wire_add_string(&record, WIRE_LINK, "elsewhere");
	CHECK("an unchanged project is left alone",
	      sweep_by(record.data, record.used, quarantine, "1", &found, &err) == 0 &&
		      found.count == 0);

	/* Acts like a command: moves existing entries, plants new ones, and hides one in a folder
	 * that forbids changes. */
	if (mkdir("p/.claude", 0755) < 0 || rename("p/.vscode", "p/a/.vscode") < 0 ||
	    mkdir("p/.vscode", 0755) < 0 || unlink("p/.codex") < 0 ||
	    mkdir("p/a/locked", 0755) < 0 || mkdir("p/a/locked/.git", 0555) < 0 ||
	    chmod("p/a/locked", 0555) < 0 || mkdir("p/bare", 0755) < 0 ||
	    mkdir("p/bare/objects", 0755) < 0 || mkdir("p/bare/refs", 0755) < 0)
		return 1;
	write_file("p/.claude/settings.json");
	write_file("p/.vscode/tasks.json");
	write_file("p/bare/HEAD");
	write_file("p/ordinary");
	CHECK("a sweep succeeds",
	      sweep_by(record.data, record.used, quarantine, "2", &found, &err) == 0);
	CHECK("the four new entries are moved", found.count == 4);
	CHECK("a new folder moves from the project to quarantine as a whole",
	      !there("p/.claude") && there("q/2/.claude/settings.json"));
	CHECK("a known folder is recognised wherever it is",
	      there("p/a/.vscode") && !there("p/.vscode") && there("q/2/.vscode/tasks.json"));
	CHECK("a folder that forbids changes protects nothing",
	      !there("p/a/locked/.git") && there("q/2/a/locked/.git"));
	CHECK("a bare repository loses its HEAD",
	      !there("p/bare/HEAD") && there("q/2/bare/HEAD") && there("p/bare/objects"));
	CHECK("a protected symlink is restored", there("p/.codex"));
	CHECK("ordinary files and known ones stay", there("p/ordinary") && there("p/.mcp.json"));
	fence_found_release(&found);
	damaged(&record, quarantine);
	versions(project, quarantine);
	vouching(root);
	contents(root, quarantine);
	identities();
	round_trip(root, quarantine);
	many_secrets(root, quarantine);
	link_targets(root, quarantine);
	moved_roots(root, quarantine);
	buffer_release(&record);
	chmod("p/a/locked", 0755);
	nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return !become_self() || unit_failures > 0;
}
