/* Roots that were moved, held or deleted while a command ran: where they are swept, and what is
 * reported. */
#include "unit.h"

#include "fence/after/sweep.h"
#include "fence/plan/known.h"
#include "fence/run/wire.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <string.h>

enum { VERSION = 2 };

static char folder[UNIT_PATH];
static char *project, *moved, *away, *quarantine;
static struct buffer record = BUFFER_INIT(10000);
static struct fence_found found;
static struct list notices;
static struct error err;

static void make_folder(const char *path)
{
	if (mkdir(path, 0700) < 0)
		abort();
}

static void plant(const char *root)
{
	AUTO_FREE char *path = path_join(root, ".mcp.json");
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		abort();
}

static bool is_planted(const char *root)
{
	AUTO_FREE char *path = path_join(root, ".mcp.json");

	return access(path, F_OK) == 0;
}

/* A project, and the record of a run in it. */
static void begin(void)
{
	const uint32_t version = VERSION;
	const uint64_t room = 1000;
	struct fence_inode inode;

	make_folder(project);
	if (known_identify(AT_FDCWD, project, &inode) < 0)
		abort();
	record.used = 0;
	wire_add(&record, WIRE_VERSION, &version, sizeof version);
	wire_add_string(&record, WIRE_CWD, project);
	wire_add_string(&record, WIRE_ROOT, project);
	wire_add(&record, WIRE_ROOT_INODE, &inode, sizeof inode);
	wire_add(&record, WIRE_ROOM, &room, sizeof room);
}

/* Sweeps; `held` is open on the root, or -1. Returns what sweep() does. */
static int sweep_it(const char *search, int held)
{
	const struct sweep_place place = {
		.quarantine = quarantine, .id = "run", .search = search, .notices = &notices
	};
	struct baseline baseline;
	int result;

	fence_found_release(&found);
	list_release(&notices);
	if (baseline_read(record.data, record.used, &baseline, &err) < 0)
		abort();
	baseline.roots[0].held = held;
	result = sweep(&baseline, &place, &found, &err);
	baseline_release(&baseline);
	return result;
}

static bool says_moved(const char *now)
{
	AUTO_FREE char *text = mem_format("%s was moved during the run; swept as %s", project, now);

	return notices.count == 1 && strcmp(notices.items[0], text) == 0;
}

static void rename_it(const char *from, const char *to)
{
	if (rename(from, to) < 0)
		abort();
}

static void remove_it(const char *path)
{
	if (rmdir(path) < 0)
		abort();
}

static void in_place(void)
{
	begin();
	plant(project);
	CHECK("a project in its place is swept, without a notice",
	      sweep_it(NULL, -1) == 0 && found.count == 1 && !is_planted(project) &&
		      notices.count == 0);
	remove_it(project);
}

static void moved_away(void)
{
	begin();
	plant(project);
	rename_it(project, moved);
	CHECK("a project that was renamed is found beside its path, and the notice says where",
	      sweep_it(NULL, -1) == 0 && found.count == 1 && !is_planted(moved) &&
		      says_moved(moved));
	plant(moved);
	rename_it(moved, away);
	CHECK("one that is not nearby is an error, which says what to do",
	      sweep_it(NULL, -1) < 0 && strstr(err.text, "move it back and try again") &&
		      is_planted(away));

	AUTO_FREE char *search = path_folder(away);

	CHECK("it is found in the folder that the caller names",
	      sweep_it(search, -1) == 0 && found.count == 1 && !is_planted(away) &&
		      says_moved(away));
	make_folder(project);
	plant(project);
	CHECK("another folder in its place is not swept",
	      sweep_it(search, -1) == 0 && found.count == 0 && is_planted(project));
	remove_it(away);
	CHECK("nor if the project is nowhere", sweep_it(search, -1) < 0 && is_planted(project));

	AUTO_FREE char *planted = path_join(project, ".mcp.json");

	unlink(planted);
	remove_it(project);
}

static void held(void)
{
	begin();
	plant(project);

	AUTO_FD fd = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK("a project that is held in its place is swept without a notice",
	      sweep_it(NULL, fd) == 0 && found.count == 1 && !is_planted(project) &&
		      notices.count == 0);
	plant(project);
	rename_it(project, away);
	CHECK("one that is held is found wherever it is",
	      sweep_it(NULL, fd) == 0 && found.count == 1 && !is_planted(away) && says_moved(away));
	remove_it(away);
	CHECK("one that was deleted is nothing to report",
	      sweep_it(NULL, fd) == 0 && found.count == 0 && notices.count == 0);
}

int main(void)
{
	if (!unit_temp(folder))
		return 1;

	AUTO_FREE char *above = path_join(folder, "above");
	AUTO_FREE char *other = path_join(folder, "other");

	project = path_join(above, "project");
	moved = path_join(above, "renamed");
	away = path_join(other, "away");
	quarantine = path_join(folder, "quarantine");
	make_folder(above);
	make_folder(other);
	make_folder(quarantine);
	in_place();
	moved_away();
	held();
	fence_found_release(&found);
	list_release(&notices);
	buffer_release(&record);
	free(project);
	free(moved);
	free(away);
	free(quarantine);
	return unit_failures > 0;
}
