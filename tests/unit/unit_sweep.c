/* The sweep: what it moves, what it leaves, and malformed records. */
#include "fence/fence_plan.h"
#include "unit.h"

#include "fence/after/sweep.h"
#include "fence/plan/known.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
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

static bool nobody(void *context, const char *path)
{
	(void)context;
	(void)path;
	return false;
}

static int sweep_by(const char *bytes, size_t size, const char *quarantine, const char *id,
		    struct fence_found *found, struct error *err)
{
	struct list notices = { 0 };
	const struct sweep_place place = {
		.quarantine = quarantine, .id = id, .left = nobody, .notices = &notices
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

int main(void)
{
	char root[UNIT_PATH];
	struct buffer record = BUFFER_INIT(100000);
	struct fence_found found = { 0 };
	struct error err;

	if (!unit_temp(root) || chdir(root) < 0 || mkdir("p", 0755) < 0 ||
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
	buffer_release(&record);
	chmod("p/a/locked", 0755);
	nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return unit_failures > 0;
}
