/* Layers of views: see view_layer.h. */
#include "snapshot/undo/view_layer.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int view_layer_folder(const struct view_layer *layer, const char *path, struct error *err)
{
	AUTO_FD folder = dup(layer->folder);

	for (const char *end = strchr(path, '/'); end && folder >= 0; end = strchr(end + 1, '/')) {
		AUTO_FREE char *above = strndup(path, (size_t)(end - path));
		const struct node *node = node_at(layer->modes, above);
		mode_t mode = node && node->kind == NODE_FOLDER ? node->mode : 0777;
		int inner;

		if (mkdirat(folder, path_name(above), mode | 0700) < 0 && errno != EEXIST)
			return error_sys(err, "create the folder of '%s' in a view", path);
		inner = openat(folder, path_name(above),
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		fd_close(&folder);
		folder = inner;
	}
	return folder < 0 ? error_sys(err, "open the folder of '%s' in a view", path)
			  : fd_steal(&folder);
}

int view_layer_create(int folder, const char *name, struct error *err)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? error_sys(err, "create '%s' in a view", name) : fd;
}

int view_layer_write(const struct view_layer *layer, const char *path, const char *bytes,
		     size_t size, mode_t mode, struct error *err)
{
	AUTO_FD folder = view_layer_folder(layer, path, err);
	AUTO_FD fd = folder < 0 ? -1 : view_layer_create(folder, path_name(path), err);

	if (fd < 0)
		return -1;
	return fd_write_all(fd, bytes, size) < 0 || fchmod(fd, mode) < 0
		       ? error_sys(err, "write '%s' in a view", path)
		       : 0;
}
