/* Sockets in a folder: see local_socket.h. */
#include "util/file/local_socket.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Returns a descriptor, which must be open while the address is used, or -1 with err set. */
static int address_of(const char *folder, const char *name, struct sockaddr_un *ret_address,
		      struct error *err)
{
	AUTO_FD fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_sys(err, "open '%s'", folder);
	*ret_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(ret_address->sun_path, sizeof ret_address->sun_path, "/proc/self/fd/%d/%s", fd,
		 name);
	return fd_steal(&fd);
}

int local_socket_listen(const char *folder, const char *name, int type, struct error *err)
{
	struct sockaddr_un address;
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_FD base = address_of(folder, name, &address, err);
	AUTO_FD fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (base < 0)
		return -1;
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
	    listen(fd, 16) < 0)
		return error_sys(err, "listen on '%s'", path);
	return fd_steal(&fd);
}

int local_socket_connect(const char *folder, const char *name, int type, struct error *err)
{
	struct sockaddr_un address;
	AUTO_FD base = address_of(folder, name, &address, err);
	AUTO_FD fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (base < 0)
		return -1;
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
		return error_sys(err, "connect to '%s/%s'", folder, name);
	return fd_steal(&fd);
}
