/* Images: see container_image.h. */
#include "fence/mechanism/container_image.h"

#include "fence/tree/graft.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The file of an image at a path. */
struct found {
	enum { FOUND_NOTHING, FOUND_FILE, FOUND_FOLDER, FOUND_SYMLINK, FOUND_ERROR } what;
	bool empty;
	uint64_t device, inode;
	char text[PATH_MAX]; /* a symlink's content, or the error */
};

/* A process in the container that looks at paths there. */
struct looker {
	int socket;
	pid_t pid;
};

/* Looks at a path. Returns a detached read-only mount of a folder, or -1. */
static int look(const char *path, struct found *ret_found)
{
	struct error err;
	struct stat status;
	ssize_t n = readlink(path, ret_found->text, sizeof ret_found->text - 1);
	int mount;

	if (n > 0) {
		ret_found->what = FOUND_SYMLINK;
		return -1;
	}
	if (lstat(path, &status) < 0)
		return -1;
	ret_found->what = S_ISDIR(status.st_mode) ? FOUND_FOLDER : FOUND_FILE;
	ret_found->device = status.st_dev;
	ret_found->inode = status.st_ino;
	if (ret_found->what == FOUND_FILE)
		return -1;
	ret_found->empty = dirwalk_has_entries(path) == 0;
	mount = graft_cut_read_only(path, &err);
	if (mount < 0) {
		ret_found->what = FOUND_ERROR;
		memcpy(ret_found->text, err.text, sizeof err.text);
	}
	return mount;
}

static int answer(int socket, const char *path)
{
	AUTO_FREE struct found *found = mem_zero(sizeof *found);
	AUTO_FD mount = look(path, found);

	return fd_send(socket, found, sizeof *found, &mount, mount >= 0, 0);
}

/* In a process that the launcher started: enters the container, and answers. */
static int run_looker(const void *argument, size_t size, int socket)
{
	struct found failed = { .what = FOUND_ERROR };
	struct pollfd waiting = { .fd = socket, .events = POLLIN };
	char path[PATH_MAX];
	int fds[FD_PASSED];
	struct error err;
	int kind;

	(void)argument;
	(void)size;
	while (poll(&waiting, 1, -1) < 0 && errno == EINTR)
		;
	if (fd_receive(socket, &kind, sizeof kind, fds) <= 0)
		return 1;
	if (graft_enter(fds[0], &err) < 0) {
		memcpy(failed.text, err.text, sizeof err.text);
		return fd_send(socket, &failed, sizeof failed, NULL, 0, 0);
	}
	for (ssize_t n; (n = recv(socket, path, sizeof path - 1, 0)) > 0;) {
		path[n] = '\0';
		if (answer(socket, path) < 0)
			return 1;
	}
	return 0;
}

static int look_inside(const struct looker *looker, const char *path, struct found *ret_found,
		       int *ret_mount, struct error *err)
{
	struct pollfd waiting = { .fd = looker->socket, .events = POLLIN };
	int fds[FD_PASSED] = { -1, -1 };

	if (send(looker->socket, path, strlen(path), MSG_NOSIGNAL) < 0)
		return error_sys(err, "look at '%s' in the image", path);
	while (poll(&waiting, 1, -1) < 0 && errno == EINTR)
		;
	if (fd_receive(looker->socket, ret_found, sizeof *ret_found, fds) <= 0)
		return error_set(err, "no fence: the process that looks at the image was killed");
	ret_found->text[sizeof ret_found->text - 1] = '\0';
	if (ret_found->what == FOUND_ERROR)
		return error_set(err, "no fence: %s", ret_found->text);
	*ret_mount = fds[0];
	return 0;
}

/* Sets an entry to what the image has there; the host's folder stays if the image has none. */
static int fill(struct tree *tree, struct tree_entry *entry, const struct looker *looker,
		struct error *err)
{
	AUTO_FREE struct found *found = mem_zero(sizeof *found);
	int mount = -1;
	int result = look_inside(looker, entry->path, found, &mount, err);

	if (result == 0 && found->what == FOUND_SYMLINK) {
		tree_set_symlink(tree, entry, found->text);
	} else if (result == 0 && found->what == FOUND_FOLDER) {
		*entry = (struct tree_entry){ .kind = TREE_GIVEN,
					      .path = entry->path,
					      .given = mount,
					      .is_dir = true,
					      .device = found->device,
					      .inode = found->inode };
	} else if (result == 0) {
		entry->kind = TREE_NOTHING;
	}
	return result;
}

/* Finds out whether the image has files in this folder. */
static int has_files(const struct looker *looker, const char *folder, bool *ret_has,
		     struct error *err)
{
	AUTO_FREE struct found *found = mem_zero(sizeof *found);
	AUTO_FD mount = -1;
	int result = look_inside(looker, folder, found, &mount, err);

	*ret_has = found->what == FOUND_FOLDER && !found->empty;
	return result;
}

/* A file of ours needs one in the image to cover: the image is read-only. */
static int keep_cover(struct tree_entry *entry, const struct looker *looker, struct error *err)
{
	AUTO_FREE struct found *found = mem_zero(sizeof *found);
	AUTO_FD mount = -1;
	int result = look_inside(looker, entry->path, found, &mount, err);

	if (found->what != FOUND_FILE)
		entry->kind = TREE_NOTHING;
	return result;
}

static int fill_all(struct tree *tree, const struct looker *looker, struct error *err)
{
	bool system = false;
	bool opt = false;
	int result = has_files(looker, "/usr", &system, err);

	if (result == 0 && !system)
		result = has_files(looker, "/opt", &opt, err);
	if (result == 0 && !system)
		result = tree_use_host(tree, opt, err);
	for (size_t i = 0; i < tree->count && result == 0; i++) {
		struct tree_entry *entry = &tree->items[i];

		if (entry->kind == TREE_IMAGE)
			result = fill(tree, entry, looker, err);
		else if (entry->covers_image)
			result = keep_cover(entry, looker, err);
	}
	return result;
}

int container_image_add(const struct launcher *launcher, int process, struct tree *tree,
			struct error *err)
{
	const int nothing = 0;
	struct looker looker;
	int ends[2];
	int result = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_sys(err, "create a socket pair");
	looker.socket = ends[0];
	looker.pid = launcher_run(launcher, run_looker, "", 0, ends[1], err);
	close(ends[1]);
	if (looker.pid > 0 && fd_send(ends[0], &nothing, sizeof nothing, &process, 1, 0) < 0)
		error_sys(err, "look at the image");
	else if (looker.pid > 0)
		result = fill_all(tree, &looker, err);
	shutdown(ends[0], SHUT_RDWR); /* the process may have a copy */
	close(ends[0]);
	while (looker.pid > 0 && waitpid(looker.pid, NULL, 0) < 0 && errno == EINTR)
		;
	return result;
}
