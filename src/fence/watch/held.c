/* Renames that wait: see held.h. */
#include "fence/watch/held.h"

#include "fence/fence_spec.h"
#include "fence/run/wire.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Returns the part of a path below the project, or NULL if it is not there. */
static const char *below_project(const struct fence_plan *plan, const char *path)
{
	size_t size = strlen(plan->project);

	return path_within(path, plan->project) && path[size] == '/' ? path + size + 1 : NULL;
}

/* Reports whether overlayfs has marked a folder of the upper layer as one that nothing below it
 * shines through. Only root can mark with "trusted". */
static bool is_opaque(int upper, const char *folder)
{
	AUTO_FD fd = fd_openat2(upper, folder, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
	char link[32];
	char mark = 0;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (fd >= 0 && getxattr(link, "user.overlay.opaque", &mark, 1) != 1)
		getxattr(link, "trusted.overlay.opaque", &mark, 1);
	return mark == 'y';
}

/* Reports whether a folder is known to be movable, because the project itself does not have it.
 * Programs rename many folders that they have just made. A wrong answer costs time, or EXDEV. */
static bool is_movable(const char *layers, const char *folder)
{
	AUTO_FREE char *above = mem_dup(folder);
	AUTO_FREE char *path = path_join(layers, "upper");
	AUTO_FD upper = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (char *end = above; upper >= 0 && end; end = strrchr(above, '/')) {
		if (end != above)
			*end = '\0';
		if (is_opaque(upper, above))
			return true;
	}
	return false;
}

static void add_folder(const struct fence_plan *plan, const struct attempt_path *path,
		       struct held_rename *rename)
{
	const char *below = below_project(plan, path->path);

	if (path->is_folder && strlen(below) < sizeof((struct wire_message *)0)->text &&
	    !path_within(below, WIRE_MOVABLE_PLACE) && !is_movable(plan->spec->layers, below))
		rename->folders[rename->count++] = mem_dup(below);
}

static void drop_first(struct held *held)
{
	for (size_t i = 0; i < held->items[0].count; i++)
		free(held->items[0].folders[i]);
	held->count--;
	memmove(held->items, held->items + 1, held->count * sizeof *held->items);
}

/* Tells init what to do next. Callers that were killed do not wait any more. */
static void start_first(struct held *held)
{
	struct wire_message message = { .type = WIRE_MAKE_MOVABLE };
	const struct held_rename *first = held->items;

	while (held->count && ioctl(held->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &first->id) < 0)
		drop_first(held);
	if (!held->count)
		return;
	snprintf(message.text, sizeof message.text, "%s", first->folders[first->done]);
	wire_send(held->control, &message, -1); /* fails only if init is gone, and all with it */
}

bool held_take(struct held *held, struct attempt_context *context, const struct seccomp_notif *call)
{
	const struct fence_plan *plan = context->plan;
	struct attempt_rename paths;
	struct held_rename rename = { .id = call->id };

	if (!plan->spec->layers || held->count == HELD_MOST ||
	    !attempt_renames_folder(context, call, &paths) ||
	    !below_project(plan, paths.from.path) || !below_project(plan, paths.to.path))
		return false;
	add_folder(plan, &paths.from, &rename);
	if (paths.exchange)
		add_folder(plan, &paths.to, &rename);
	if (!rename.count)
		return false;
	if (!held->items)
		held->items = mem_zero(HELD_MOST * sizeof *held->items);
	held->items[held->count++] = rename;
	if (held->count == 1)
		start_first(held);
	return true;
}

void held_continue(struct held *held)
{
	struct seccomp_notif_resp answer = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	if (!held->count) /* init says so unasked */
		return;
	if (++held->items[0].done == held->items[0].count) {
		answer.id = held->items[0].id;
		ioctl(held->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
		drop_first(held);
	}
	start_first(held);
}

void held_release(struct held *held)
{
	while (held->count)
		drop_first(held);
	free(held->items);
	held->items = NULL;
}
