/* Copies of journals: see journal_copy.h. */
#include "journal/journal_copy.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { CHUNK = 65536 };

/* The files of a database; SQLite makes the last one. */
static const char *const suffixes[] = { "", "-wal", "-shm" };

static int copy_file(const char *from, const char *to, struct error *err)
{
	AUTO_FD in = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_FD out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	AUTO_FREE char *chunk = mem_alloc(CHUNK);
	ssize_t n = 0;

	if (in < 0 && errno == ENOENT)
		return 0;
	if (in < 0 || out < 0)
		return error_sys(err, "copy '%s'", from);
	while ((n = read(in, chunk, CHUNK)) > 0)
		if (fd_write_all(out, chunk, (size_t)n) < 0)
			return error_sys(err, "copy '%s' to '%s'", from, to);
	return n < 0 ? error_sys(err, "read '%s'", from) : 0;
}

/* Creates a private folder on a disk that can be written. The caller frees it; NULL with errno. */
static char *make_folder(void)
{
	static const char *const places[] = { "/tmp", "/dev/shm", "/var/tmp" };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		AUTO_FREE char *real = realpath(places[i], NULL);
		char *folder = real ? path_join(real, "ringfence-XXXXXX") : NULL;

		if (folder && mkdtemp(folder))
			return folder;
		free(folder);
	}
	return NULL;
}

int journal_copy_make(const char *path, char **ret_copy, struct error *err)
{
	AUTO_FREE char *folder = make_folder();
	char *copy;

	if (!folder)
		return error_sys(err, "create a temporary folder for a copy of '%s'", path);
	copy = path_join(folder, "journal.db");
	for (size_t i = 0; i < 2; i++) {
		AUTO_FREE char *from = mem_format("%s%s", path, suffixes[i]);
		AUTO_FREE char *to = mem_format("%s%s", copy, suffixes[i]);

		if (copy_file(from, to, err) < 0) {
			journal_copy_remove(copy);
			free(copy);
			return -1;
		}
	}
	*ret_copy = copy;
	return 0;
}

void journal_copy_remove(const char *copy)
{
	AUTO_FREE char *folder = path_folder(copy);

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		AUTO_FREE char *file = mem_format("%s%s", copy, suffixes[i]);

		unlink(file);
	}
	rmdir(folder);
}

const char *journal_copy_reason(const char *path)
{
	AUTO_FREE char *folder = path_folder(path);
	struct statvfs disk;

	if (statvfs(folder, &disk) < 0)
		return "its disk cannot be examined";
	if (disk.f_flag & ST_RDONLY)
		return "its disk is read-only";
	if (access(folder, W_OK) < 0)
		return "you cannot write to it";
	return "its disk is full";
}
