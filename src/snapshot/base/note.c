/* Small state files. */
#include "snapshot/base/note.h"

#include "snapshot/base/fault.h"
#include "util/file/durable.h"
#include "util/file/fd.h"

#include <fcntl.h>

int note_write(int temporary_folder, const char *temporary_name, int folder, const char *name,
	       const void *bytes, size_t size)
{
	AUTO_FD fd = openat(temporary_folder, temporary_name,
			    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	fault_point();
	if (fd < 0 || fd_write_all(fd, bytes, size) < 0 ||
	    durable_name(fd, temporary_folder, temporary_name, folder, name) < 0)
		return -1;
	fault_point();
	return 0;
}
