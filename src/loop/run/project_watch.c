/* Notices changes to the project: see project_watch.h. */
#include "loop/run/project_watch.h"

#include "util/file/fd.h"
#include "util/file/file_system.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INDEX_BYTES = 64 << 20 };

/* Others need watches as well: an editor has one for each folder. */
enum { SHARE = 4 };

/* Returns how many folders this process may watch. */
static size_t most_watches(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);

	if (fd_read_path("/proc/sys/fs/inotify/max_user_watches", &text) < 0)
		return 0;
	return (size_t)strtoull(buffer_text(&text), NULL, 10) / SHARE;
}

static void reset(struct supervisor_watch *watch)
{
	fence_index_release(&watch->index);
	watch->looked = watch->looking = false;
}

static bool has_event(const struct supervisor_watch *watch)
{
	char events[4096];

	return read(watch->index.watch, events, sizeof events) > 0;
}

static int look_at_root(const char *project, struct dirwalk_folder *ret_root)
{
	AUTO_FD root = open(project, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return root < 0 ? -1 : dirwalk_look(root, ret_root);
}

/* Reports whether another folder has the project's path now. A folder above was moved then, or
 * something was mounted: neither causes an event. */
static bool is_replaced(const struct supervisor_watch *watch, const char *project)
{
	struct dirwalk_folder now;

	return look_at_root(project, &now) < 0 || !dirwalk_same(&watch->root, &now);
}

/* Reports whether the index is that of the project as it is now. */
static bool is_current(struct supervisor_watch *watch, const char *project)
{
	if (!watch->index.complete)
		return false;
	if (!is_replaced(watch, project) && !has_event(watch))
		return true;
	reset(watch);
	return false;
}

static void begin_again(struct supervisor_watch *watch, const char *project)
{
	reset(watch);
	watch->index.most = most_watches();
	if (!watch->off && watch->index.most && file_system_is_local(project) &&
	    look_at_root(project, &watch->root) == 0)
		watch->index.watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

void project_watch_begin(struct supervisor *sup)
{
	struct supervisor_watch *watch = &sup->watch;
	const char *project = sup->state.options.project;

	if (!sup->state.options.draft || is_current(watch, project))
		return;
	begin_again(watch, project);
	fd_close(&watch->file);
	if (watch->index.watch >= 0)
		watch->file = memfd_create("index", MFD_CLOEXEC);
}

static void read_index(struct supervisor_watch *watch)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(INDEX_BYTES);

	if (watch->file < 0 || lseek(watch->file, 0, SEEK_SET) < 0 ||
	    fd_read_all(watch->file, &text) < 0)
		return;
	for (size_t at = 0; at < text.used; at += strlen(text.data + at) + 1)
		fence_index_add(&watch->index, text.data + at);
	fence_index_settle(&watch->index);
}

void project_watch_end(struct supervisor *sup, const struct runner_result *result)
{
	struct supervisor_watch *watch = &sup->watch;

	if (watch->index.complete)
		return;
	if (result->index == RUNNER_INDEX_MADE)
		read_index(watch);
	watch->off = watch->off || result->index == RUNNER_INDEX_UNWATCHED;
	fd_close(&watch->file);
	if (!watch->index.complete)
		reset(watch);
}

bool project_watch_has_changed(struct supervisor *sup)
{
	sup->watch.looking = is_current(&sup->watch, sup->state.options.project);
	return !sup->watch.looking || !sup->watch.looked;
}

void project_watch_looked(struct supervisor *sup)
{
	sup->watch.looked = sup->watch.looking;
}
