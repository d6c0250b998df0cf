/* The tape of a run, on the owner's side: see cassette.h. */
#include "gateway/owner/cassette.h"

#include "gateway/model/reel.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 200, LOCK_NAP_MS = 10 };

struct cassette {
	char *path;
	bool record;
	uint64_t mark;
	int tape;
	int used; /* for a replay */
};

/* Follows no symlink in any component of the path: the command inside the fence may have created
 * one. */
static int open_tape(const char *path, bool record, struct error *err)
{
	int flags = (record ? O_RDWR | O_APPEND | O_CREAT : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK |
		    O_NOCTTY;
	AUTO_FD fd = fd_openat2(AT_FDCWD, path, flags, record ? 0600 : 0,
				RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	struct stat status;

	if (fd < 0)
		return error_sys(err, "open the tape '%s'%s", path,
				 errno == ELOOP ? " (symbolic links in its path are not followed)"
						: "");
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return error_set(err, "the tape '%s' is not a regular file", path);
	return fd_steal(&fd);
}

static int read_tape(int fd, const char *path, struct buffer *bytes, struct tape *ret_tape,
		     struct error *err)
{
	struct error why;

	if (lseek(fd, 0, SEEK_SET) < 0 || fd_read_all(fd, bytes) < 0)
		return error_sys(err, "read the tape '%s'", path);
	if (tape_read(buffer_text(bytes), bytes->used, ret_tape, &why) < 0)
		return error_set(err, "the tape '%s', %s", path, why.text);
	return 0;
}

/* A process that was just killed may hold the lock for a moment. */
static int lock(int fd, const char *path, struct error *err)
{
	const struct timespec nap = { .tv_nsec = LOCK_NAP_MS * 1000000L };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_sys(err, "lock the tape '%s'", path);
		nanosleep(&nap, NULL);
	}
	return error_with(err, ERROR_BUSY,
			  "the tape '%s' is being recorded by another run; wait for it to "
			  "end, or use another tape",
			  path);
}

int cassette_repair(const struct cassette *cassette, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(TAPE_MOST);
	struct tape tape;
	size_t size;

	if (!cassette->record)
		return 0;
	if (read_tape(cassette->tape, cassette->path, &bytes, &tape, err) < 0)
		return -1;
	size = tape.size;
	if (tape.torn && ftruncate(cassette->tape, (off_t)size) < 0)
		size = SIZE_MAX;
	tape_release(&tape);
	if (size == SIZE_MAX || (size == 0 && fd_write_all(cassette->tape, tape_first_line,
							   strlen(tape_first_line)) < 0))
		return error_sys(err, "write the tape '%s'", cassette->path);
	return 0;
}

static uint64_t checksum(const struct buffer *bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes->used; i++)
		hash = (hash ^ (unsigned char)bytes->data[i]) * UINT64_C(0x100000001b3);
	return hash | 1;
}

/* Keeps the marks of earlier runs, except those of an interrupted run, which is repeated. Clears
 * all marks if they belong to another tape. */
static void clear_stale_marks(struct reel_marks *marks, uint64_t tape, uint64_t settled)
{
	if (marks->tape != tape)
		memset(marks, 0, sizeof *marks);
	marks->tape = tape;
	for (size_t i = 0; i < TAPE_EXCHANGES; i++)
		if (marks->used[i] > settled)
			marks->used[i] = 0;
}

static int open_marks(struct cassette *cassette, const struct ledger_options *ledger, uint64_t tape,
		      struct error *err)
{
	AUTO_FREE char *path = path_join(ledger->folder, "replay.used");
	AUTO_FD fd = ledger->iteration ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)
				       : memfd_create("ringfence-used", MFD_CLOEXEC);
	struct reel_marks *marks = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof *marks) == 0)
		marks = mmap(NULL, sizeof *marks, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (marks == MAP_FAILED)
		return error_sys(err, "create '%s'", path);
	clear_stale_marks(marks, tape, ledger->settled);
	munmap(marks, sizeof *marks);
	cassette->used = fd_steal(&fd);
	return 0;
}

static int open_replay(struct cassette *cassette, const struct ledger_options *ledger,
		       struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(TAPE_MOST);
	AUTO_FD fd = open_tape(cassette->path, false, err);
	struct tape tape;

	if (fd < 0 || read_tape(fd, cassette->path, &bytes, &tape, err) < 0)
		return -1;
	tape_release(&tape);
	cassette->tape = fd_memory("ringfence-tape", bytes.data, bytes.used);
	if (cassette->tape < 0)
		return error_sys(err, "copy the tape '%s'", cassette->path);
	return open_marks(cassette, ledger, checksum(&bytes), err);
}

static int open_record(struct cassette *cassette, struct error *err)
{
	cassette->tape = open_tape(cassette->path, true, err);
	if (cassette->tape < 0 || lock(cassette->tape, cassette->path, err) < 0)
		return -1;
	return cassette_repair(cassette, err);
}

int cassette_open(const struct model_access_tape *tape, const struct ledger_options *ledger,
		  struct cassette **ret_cassette, struct error *err)
{
	bool record = tape->mode == MODEL_ACCESS_RECORD;
	struct cassette *cassette = NULL;

	*ret_cassette = NULL;
	if (tape->mode == MODEL_ACCESS_LIVE)
		return 0;
	cassette = mem_zero(sizeof *cassette);
	*cassette = (struct cassette){ mem_dup(tape->path), record, ledger->period, -1, -1 };
	if ((record ? open_record(cassette, err) : open_replay(cassette, ledger, err)) < 0) {
		cassette_close(cassette);
		return -1;
	}
	*ret_cassette = cassette;
	return 0;
}

int cassette_look(const char *path, bool record, struct tape *ret_tape, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(TAPE_MOST);
	AUTO_FD fd = -1;

	if (record && access(path, F_OK) < 0 && errno == ENOENT) {
		AUTO_FREE char *folder = path_folder(path);

		if (access(folder, W_OK) < 0)
			return error_sys(err, "create the tape '%s'", path);
		*ret_tape = (struct tape){ 0 };
		return 0;
	}
	fd = open_tape(path, false, err);
	return fd < 0 ? -1 : read_tape(fd, path, &bytes, ret_tape, err);
}

uint64_t cassette_mark(const struct cassette *cassette)
{
	return cassette ? cassette->mark : 0;
}

bool cassette_is_replay(const struct cassette *cassette)
{
	return cassette && !cassette->record;
}

const char *cassette_path(const struct cassette *cassette)
{
	return cassette->path;
}

size_t cassette_descriptors(const struct cassette *cassette, int ret_fds[2])
{
	ret_fds[0] = cassette->tape;
	ret_fds[1] = cassette->used;
	return cassette->used < 0 ? 1 : 2;
}

void cassette_close(struct cassette *cassette)
{
	if (!cassette)
		return;
	if (cassette->record && cassette->tape >= 0)
		fsync(cassette->tape); /* an iteration that counts has its exchanges on disk */
	fd_close(&cassette->tape);
	fd_close(&cassette->used);
	free(cassette->path);
	free(cassette);
}
