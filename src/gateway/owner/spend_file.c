/* The spend file: see spend_file.h. */
#include "gateway/owner/spend_file.h"

#include "util/file/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char mark[8] = "rfspend1";

static uint64_t checksum(const struct spend_file_record *record)
{
	const unsigned char *bytes = (const unsigned char *)record;
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < offsetof(struct spend_file_record, sum); i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	return sum;
}

static bool is_whole(const struct spend_file_record *record)
{
	return memcmp(record->mark, mark, sizeof mark) == 0 && record->sum == checksum(record);
}

int spend_file_read(int fd, const char *path, struct spend_file_record *ret_record,
		    struct error *err)
{
	struct spend_file_record both[2] = { 0 };
	ssize_t n = pread(fd, both, sizeof both, 0);
	struct spend_file_record best = { 0 };

	if (n < 0)
		return error_sys(err, "read '%s'", path);
	for (size_t i = 0; i < 2; i++)
		if (is_whole(&both[i]) && both[i].number >= best.number)
			best = both[i];
	/* The first record written is the second in the file. If it is torn and is the only one,
	 * nothing was granted yet, and there is nothing before it. */
	if (n > 0 && best.number == 0 &&
	    memcmp(&both[0], &(struct spend_file_record){ 0 }, sizeof both[0]) != 0)
		return error_set(err,
				 "'%s' is damaged, so the amount spent is unknown; remove it to "
				 "start from zero",
				 path);
	*ret_record = best;
	return 0;
}

int spend_file_open(struct spend_file *spend_file, char *path, struct error *err)
{
	spend_file->path = path;
	spend_file->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (spend_file->fd < 0)
		return error_sys(err, "open '%s'", path);
	return 0;
}

int spend_file_lock(struct spend_file *spend_file, struct error *err)
{
	while (flock(spend_file->fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return error_sys(err, "lock '%s'", spend_file->path);
	return spend_file_read(spend_file->fd, spend_file->path, &spend_file->now, err);
}

void spend_file_unlock(struct spend_file *spend_file)
{
	flock(spend_file->fd, LOCK_UN);
}

/* The new record replaces the older one. The first one makes the file last as well. */
int spend_file_write(struct spend_file *spend_file, struct error *err)
{
	struct spend_file_record next = spend_file->now;

	memcpy(next.mark, mark, sizeof mark);
	next.number++;
	next.sum = checksum(&next);
	if (pwrite(spend_file->fd, &next, sizeof next, (off_t)(next.number % 2 * sizeof next)) !=
		    (ssize_t)sizeof next ||
	    fdatasync(spend_file->fd) < 0 ||
	    (next.number == 1 && durable_sync_name(spend_file->path) < 0))
		return error_sys(err, "write '%s'", spend_file->path);
	spend_file->now = next;
	return 0;
}

void spend_file_enter(struct spend_file *spend_file, uint64_t period)
{
	if (spend_file->now.period == period)
		return;
	spend_file->now.period = period;
	spend_file->now.held = 0;
	spend_file->leased = 0;
}

void spend_file_add(struct spend_file *spend_file, uint64_t nusd)
{
	spend_file->now.total += nusd;
	spend_file->now.held += nusd;
	spend_file->leased += nusd;
}

void spend_file_return(struct spend_file *spend_file, uint64_t nusd)
{
	uint64_t here = nusd < spend_file->leased ? nusd : spend_file->leased;

	spend_file->now.total -= nusd < spend_file->now.total ? nusd : spend_file->now.total;
	spend_file->now.held -= here < spend_file->now.held ? here : spend_file->now.held;
	spend_file->leased = 0;
}
