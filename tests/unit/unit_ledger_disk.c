/* The ledger on a disk that fails: lines must be on disk before the spend file counts them. */
#include "unit.h"

#include "gateway/owner/ledger.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <string.h>

enum { CENT = 10000000 };

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);

static char folder[UNIT_PATH];
static char *day;
static struct error err;
static int syncs; /* of the lines */
static bool fails;

static bool is_lines(int fd)
{
	char link[32];
	char path[256];
	ssize_t size;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	size = readlink(link, path, sizeof path - 1);
	path[size > 0 ? size : 0] = '\0';
	return strcmp(path_name(path), "ledger.jsonl") == 0;
}

int __wrap_fdatasync(int fd)
{
	if (!is_lines(fd))
		return __real_fdatasync(fd);
	syncs++;
	errno = EIO;
	return fails ? -1 : 0;
}

static bool lease(struct ledger *ledger)
{
	char why[LEDGER_WHY];
	uint64_t granted = 0;
	uint64_t left = 0;

	return ledger_lease(ledger, CENT, false, &granted, &left, why, &err) == 0 && granted > 0;
}

static uint64_t booked(void)
{
	uint64_t nusd = UINT64_MAX;

	return ledger_booked(folder, &nusd, &err) == 0 ? nusd : UINT64_MAX;
}

static uint64_t total_of(const char *of)
{
	uint64_t total = UINT64_MAX;
	uint64_t key;
	uint64_t held;

	return ledger_read(of, &total, &key, &held, &err) == 0 ? total : UINT64_MAX;
}

static void lines(struct ledger *ledger)
{
	const struct ledger_row row = { .route = "messages",
					.provider = "anthropic",
					.model = "m",
					.cost_nusd = 7 * CENT,
					.status = 200,
					.known = 1 };

	CHECK("without a new line, no line is synced", lease(ledger) && syncs == 0);
	CHECK("a line alone is not counted yet",
	      ledger_add(ledger, &row, &err) == 0 && booked() == 0);
	CHECK("it is synced, and then counted",
	      lease(ledger) && syncs == 1 && booked() == 7 * CENT);
	CHECK("once", lease(ledger) && syncs == 1 && booked() == 7 * CENT);
	fails = true;
	CHECK("a line that cannot be synced grants nothing, and says which file",
	      ledger_add(ledger, &row, &err) == 0 && !lease(ledger) &&
		      strstr(err.text, "write the ledger beside") && booked() == 7 * CENT);
	fails = false;
	CHECK("it is counted when the disk works again", lease(ledger) && booked() == 14 * CENT);
}

int main(void)
{
	struct ledger_options options = { .folder = folder,
					  .limits = { 0, 100 * CENT, 0 },
					  .period = 1,
					  .iteration = 1,
					  .agent = "claude" };
	struct ledger *ledger = NULL;

	if (!unit_temp(folder))
		return 1;
	day = path_join(folder, "day");
	options.day = day;
	if (ledger_open(&options, &ledger, &err) < 0)
		return 1;
	lines(ledger);
	CHECK("the sum of the loop is at least what its lines cost",
	      total_of(folder) >= 14 * CENT && total_of(folder) != UINT64_MAX);
	ledger_close(ledger);
	free(day);
	return unit_failures > 0;
}
