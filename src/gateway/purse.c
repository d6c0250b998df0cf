/* Money that is held, on the disk: see purse.h. */
#include "gateway/purse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char mark[8] = "rfspend1";

static uint64_t checksum(const struct purse_record *record)
{
	const unsigned char *bytes = (const unsigned char *)record;
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < offsetof(struct purse_record, sum); i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	return sum;
}

static bool is_whole(const struct purse_record *record)
{
	return memcmp(record->mark, mark, sizeof mark) == 0 && record->sum == checksum(record);
}

int purse_read(int fd, const char *path, struct purse_record *ret_record, struct error *err)
{
	struct purse_record both[2] = { 0 };
	ssize_t n = pread(fd, both, sizeof both, 0);
	struct purse_record best = { 0 };

	if (n < 0)
		return error_sys(err, "read '%s'", path);
	for (size_t i = 0; i < 2; i++)
		if (is_whole(&both[i]) && both[i].number >= best.number)
			best = both[i];
	/* The first record is the second in the file. If it is torn and nothing came after it, nothing was granted. */
	if (n > 0 && best.number == 0 && both[0].number != 0)
		return error_set(
			err,
			"'%s' is damaged: what was spent is not known; remove it to begin anew",
			path);
	*ret_record = best;
	return 0;
}

int purse_open(struct purse *purse, char *path, struct error *err)
{
	purse->path = path;
	purse->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (purse->fd < 0)
		return error_sys(err, "open '%s'", path);
	return 0;
}

int purse_lock(struct purse *purse, struct error *err)
{
	while (flock(purse->fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return error_sys(err, "lock '%s'", purse->path);
	return purse_read(purse->fd, purse->path, &purse->now, err);
}

void purse_unlock(struct purse *purse)
{
	flock(purse->fd, LOCK_UN);
}

/* The next record comes in the place of the older one. */
int purse_write(struct purse *purse, struct error *err)
{
	struct purse_record next = purse->now;

	memcpy(next.mark, mark, sizeof mark);
	next.number++;
	next.sum = checksum(&next);
	if (pwrite(purse->fd, &next, sizeof next, (off_t)(next.number % 2 * sizeof next)) !=
		    (ssize_t)sizeof next ||
	    fdatasync(purse->fd) < 0)
		return error_sys(err, "write '%s'", purse->path);
	purse->now = next;
	return 0;
}

void purse_enter(struct purse *purse, uint64_t period)
{
	if (purse->now.period == period)
		return;
	purse->now.period = period;
	purse->now.held = 0;
	purse->leased = 0;
}

void purse_add(struct purse *purse, uint64_t nusd)
{
	purse->now.total += nusd;
	purse->now.held += nusd;
	purse->leased += nusd;
}

void purse_take(struct purse *purse, uint64_t nusd)
{
	uint64_t here = nusd < purse->leased ? nusd : purse->leased;

	purse->now.total -= nusd < purse->now.total ? nusd : purse->now.total;
	purse->now.held -= here < purse->now.held ? here : purse->now.held;
	purse->leased = 0;
}
