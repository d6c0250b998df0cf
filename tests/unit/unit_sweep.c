/* The sweep: what it moves, what it leaves, and malformed records. */
#include "fence/fence_plan.h"
#include "unit.h"

#include "fence/after/sweep.h"
#include "fence/run/run_record.h"
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

static void remember(struct buffer *record, const char *path)
{
	struct stat status;
	struct fence_known known;

	if (lstat(path, &status) < 0)
		abort();
	known = (struct fence_known){ status.st_dev, status.st_ino };
	wire_add(record, WIRE_KNOWN, &known, sizeof known);
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
			  (sweep(copy, size, quarantine, "torn", &found, &err) < 0 || size > 30);
		free(copy);
	}
	CHECK("a truncated record is refused", refused);
	CHECK("an empty record is refused", sweep("", 0, quarantine, "none", &found, &err) < 0);
	fence_found_release(&found);
}

int main(void)
{
	char root[] = "/tmp/ringfence-unit-XXXXXX";
	struct buffer record = BUFFER_INIT(100000);
	struct fence_found found = { 0 };
	struct error err;
	struct stat status;
	uint64_t device;

	if (!mkdtemp(root) || chdir(root) < 0 || mkdir("p", 0755) < 0 ||
	    mkdir("p/.vscode", 0755) < 0 || mkdir("p/a", 0755) < 0 || mkdir("q", 0700) < 0 ||
	    symlink("elsewhere", "p/.codex") < 0)
		return 1;

	AUTO_FREE char *project = path_join(root, "p");
	AUTO_FREE char *link = path_join(root, "p/.codex");
	AUTO_FREE char *quarantine = path_join(root, "q");

	write_file("p/.mcp.json");
	wire_add_string(&record, WIRE_CWD, project);
	wire_add_string(&record, WIRE_ROOT, project);
	if (stat(project, &status) < 0)
		return 1;
	device = status.st_dev;
	wire_add(&record, WIRE_ROOT_DEVICE, &device, sizeof device);
	remember(&record, "p/.vscode");
	remember(&record, "p/.mcp.json");
	wire_add_string(&record, WIRE_LINK, link);
	wire_add_string(&record, WIRE_LINK, "elsewhere");
	CHECK("an unchanged project is left alone",
	      sweep(record.data, record.used, quarantine, "1", &found, &err) == 0 &&
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
	      sweep(record.data, record.used, quarantine, "2", &found, &err) == 0);
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
	buffer_release(&record);
	chmod("p/a/locked", 0755);
	nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return unit_failures > 0;
}
