/* The loops that a batch waits for: see batch_watch.h. */
#include "batch/batch_watch.h"

#include "util/file/fd.h"
#include "util/mem.h"

#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

int batch_watch_init(struct batch_watch *watch, const char *state, size_t count, struct error *err)
{
	*watch = (struct batch_watch){ .state = state,
				       .inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK),
				       .loops = mem_zero((count + 1) * sizeof *watch->loops),
				       .count = count };
	return watch->inotify < 0 ? error_sys(err, "watch the loops of the batch") : 0;
}

void batch_watch_release(struct batch_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		batch_watch_drop(watch, i);
	fd_close(&watch->inotify);
	free(watch->loops);
}

void batch_watch_drop(struct batch_watch *watch, size_t task)
{
	struct batch_watch_loop *at = &watch->loops[task];

	if (at->loop.id && at->descriptor >= 0)
		inotify_rm_watch(watch->inotify, at->descriptor);
	client_loop_release(&at->loop);
	*at = (struct batch_watch_loop){ .descriptor = -1 };
}

/* The supervisor of a loop replaces its state.json after each event. The loop is read after the
 * watch was added, so no event is missed. */
int batch_watch_add(struct batch_watch *watch, size_t task, const char *id, struct error *err)
{
	struct batch_watch_loop *at = &watch->loops[task];

	batch_watch_drop(watch, task);
	if (client_find(watch->state, id, NULL, &at->loop, err) < 0)
		return -1;
	at->descriptor = inotify_add_watch(watch->inotify, at->loop.folder, IN_MOVED_TO);
	at->changed = true;
	return 0;
}

static void note(struct batch_watch *watch, int descriptor)
{
	for (size_t i = 0; i < watch->count; i++)
		if (watch->loops[i].loop.id && watch->loops[i].descriptor == descriptor)
			watch->loops[i].changed = true;
}

void batch_watch_read(struct batch_watch *watch, bool all)
{
	char events[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t size;

	while ((size = read(watch->inotify, events, sizeof events)) > 0)
		for (char *at = events; at < events + size;) {
			const struct inotify_event *event = (const struct inotify_event *)at;

			all = all || (event->mask & IN_Q_OVERFLOW);
			note(watch, event->wd);
			at += sizeof *event + event->len;
		}
	for (size_t i = 0; all && i < watch->count; i++)
		watch->loops[i].changed = watch->loops[i].loop.id != NULL;
}

bool batch_watch_has_changed(const struct batch_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		if (watch->loops[i].changed)
			return true;
	return false;
}

struct client_loop *batch_watch_changed(struct batch_watch *watch, size_t task)
{
	struct batch_watch_loop *at = &watch->loops[task];

	if (!at->loop.id || !at->changed)
		return NULL;
	at->changed = false;
	client_refresh(&at->loop);
	return &at->loop;
}
