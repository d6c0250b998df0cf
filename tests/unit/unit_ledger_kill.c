/* An owner is killed at each of its steps, and then those who recover its ledger at each of theirs:
 * in the end every request that was under way has one line, and nothing else was paid. */
#include "unit.h"

#include "gateway/open_requests.h"
#include "gateway/owner/ledger.h"
#include "gateway/owner/spend_file.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum { CENT = 10000000, REQUESTS = 3, LEASED = 40 * CENT };

static const uint64_t costs[REQUESTS] = { 2 * CENT, 3 * CENT, 5 * CENT };

/* This survives a process that is killed. */
static struct seen {
	bool open[REQUESTS]; /* the provider may have been sent it */
	bool waited;         /* for another process that had the lock */
} * seen;

static char folder[UNIT_PATH];
static char *day;
static struct error err;
static int steps_left = -1; /* until this process is killed; -1: it lives on */

static void step(void)
{
	if (steps_left >= 0 && steps_left-- == 0)
		raise(SIGKILL);
}

int __real_fd_write_all(int fd, const void *data, size_t size);
int __wrap_fd_write_all(int fd, const void *data, size_t size);
int __real_spend_file_write(struct spend_file *spend_file, struct error *ret_err);
int __wrap_spend_file_write(struct spend_file *spend_file, struct error *ret_err);
void __real_open_requests_end(struct open_requests *table, uint64_t id);
void __wrap_open_requests_end(struct open_requests *table, uint64_t id);
void __real_open_requests_init(struct open_requests *table);
void __wrap_open_requests_init(struct open_requests *table);
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __wrap_fdatasync(int fd);

int __wrap_fd_write_all(int fd, const void *data, size_t size)
{
	step();

	int result = __real_fd_write_all(fd, data, size);

	step();
	return result;
}

int __wrap_spend_file_write(struct spend_file *spend_file, struct error *ret_err)
{
	step();

	int result = __real_spend_file_write(spend_file, ret_err);

	step();
	return result;
}

void __wrap_open_requests_end(struct open_requests *table, uint64_t id)
{
	step();
	__real_open_requests_end(table, id);
	step();
}

void __wrap_open_requests_init(struct open_requests *table)
{
	step();
	__real_open_requests_init(table);
	step();
}

/* No power is cut here. */
int __wrap_fdatasync(int fd)
{
	(void)fd;
	step();
	return 0;
}

/* The process that holds a lock until somebody waits for it, or -1. */
static int dying = -1;

/* A process that finds the lock taken lets its holder end. */
int __wrap_flock(int fd, int operation)
{
	int result = __real_flock(fd, operation);
	int before = errno;

	if (dying >= 0 && result < 0) {
		seen->waited = true;
		fd_close(&dying);
	}
	errno = before;
	return result;
}

static struct ledger *open_ledger(uint64_t period)
{
	const struct ledger_options options = {
		.folder = folder, .day = day, .period = period, .iteration = (uint32_t)period
	};
	struct ledger *ledger = NULL;

	if (ledger_open(&options, &ledger, &err) < 0)
		printf("# %s\n", err.text);
	return ledger;
}

/* As a gateway would. */
static void open_request(const struct ledger *ledger, size_t number)
{
	struct open_requests *table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED,
					   ledger_open_requests(ledger), 0);

	seen->open[number] = true;
	open_requests_update(open_requests_begin(table, number + 1), costs[number], 0,
			     costs[number]);
	munmap(table, sizeof *table); /* a mapping would keep the lock of the file */
}

static void add_line(struct ledger *ledger, size_t number)
{
	const struct ledger_row row = {
		.id = number + 1, .route = "messages", .cost_nusd = costs[number], .known = 1
	};

	ledger_add(ledger, &row, &err);
}

enum ending { IN_ORDER, GATEWAY_KILLED, OWNER_KILLED };

/* The first request is answered; two more are under way at the end. */
static void spend(enum ending ending)
{
	struct ledger *ledger = open_ledger(1);
	char why[LEDGER_WHY];
	uint64_t granted;
	uint64_t left;

	for (size_t i = 0; i < 2; i++)
		ledger_lease(ledger, LEASED / 2, false, &granted, &left, why, &err);
	for (size_t i = 0; i < REQUESTS; i++)
		open_request(ledger, i);
	for (size_t i = 0; i < (ending == IN_ORDER ? REQUESTS : 1); i++)
		add_line(ledger, i);
	if (ending == OWNER_KILLED)
		raise(SIGKILL);
	ledger_end_lease(ledger, ending == IN_ORDER, &err);
	ledger_close(ledger);
}

static void spend_in_order(void)
{
	spend(IN_ORDER);
}

static void lose_gateway(void)
{
	spend(GATEWAY_KILLED);
}

static void lose_owner(void)
{
	spend(OWNER_KILLED);
}

static void recover(void)
{
	ledger_close(open_ledger(2));
}

/* Acts in a child, which is killed at a step. Returns whether it was. */
static bool act(void (*action)(void), int steps)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) {
		steps_left = steps;
		action();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status);
}

static uint64_t held(const char *path)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	struct spend_file_record record = { 0 };

	if (fd >= 0 && spend_file_read(fd, path, &record, &err) < 0)
		printf("# %s\n", err.text);
	return record.total;
}

static uint64_t held_by_loop(void)
{
	AUTO_FREE char *path = path_join(folder, "spend");

	return held(path);
}

/* Returns the cost of the requests that may have been sent. */
static uint64_t owed(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < REQUESTS; i++)
		sum += seen->open[i] ? costs[i] : 0;
	return sum;
}

static char *read_lines(void)
{
	AUTO_FREE char *path = path_join(folder, "ledger.jsonl");
	struct buffer bytes = BUFFER_INIT(1 << 20);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fd_read_all(fd, &bytes) < 0)
		return mem_dup("");
	buffer_text(&bytes);
	return bytes.data;
}

static size_t count(const char *lines, const char *text)
{
	size_t found = 0;

	for (const char *at = strstr(lines, text); at; at = strstr(at + 1, text))
		found++;
	return found;
}

/* Whether each request that may have been sent has one line, with its cost, and no other line has
 * one. */
static bool is_exact(void)
{
	AUTO_FREE char *lines = read_lines();
	size_t expected = 0;

	for (size_t i = 0; i < REQUESTS; i++) {
		AUTO_FREE char *line = mem_format("\"cost_nusd\":%llu,\"id\":%zu,",
						  (unsigned long long)costs[i], i + 1);

		expected += seen->open[i];
		if (count(lines, line) != seen->open[i])
			return false;
	}
	return count(lines, "\n") == expected && held_by_loop() == owed();
}

static bool is_enough(void)
{
	return held_by_loop() >= owed() && held(day) >= owed();
}

static void forget(void)
{
	static const char *const names[] = { "spend", "ledger.jsonl", "open-requests" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		AUTO_FREE char *path = path_join(folder, names[i]);

		unlink(path);
	}
	unlink(day);
	*seen = (struct seen){ 0 };
}

struct tally {
	int kills, inexact, too_low, day_too_high;
};

/* Kills the owner at a step, and the next one, which recovers its ledger, at another. Returns
 * false if the owner has no such step; clears *ret_again if the other one has none. */
static bool kill_twice(void (*action)(void), int first, int second, struct tally *tally,
		       bool *ret_again)
{
	bool killed;

	forget();
	killed = act(action, first);
	tally->too_low += !is_enough();
	*ret_again = act(recover, second);
	tally->too_low += !is_enough();
	act(recover, -1);
	tally->kills += killed + *ret_again;
	tally->too_low += !is_enough();
	tally->day_too_high += held(day) > owed() + LEASED;
	if (!is_exact() && tally->inexact++ == 0) {
		AUTO_FREE char *lines = read_lines();

		printf("# killed at steps %d and %d, %llu is owed, %llu held:\n%s", first, second,
		       (unsigned long long)owed(), (unsigned long long)held_by_loop(), lines);
	}
	return killed;
}

static void at_each_step(void (*action)(void), const char *name)
{
	struct tally tally = { 0 };
	bool killed = true;

	for (int first = 0; killed; first++) {
		bool again = true;

		for (int second = 0; again; second++)
			killed = kill_twice(action, first, second, &tally, &again);
	}
	printf("# %s: %d kills, %d wrong, %d too low, %d days too high\n", name, tally.kills,
	       tally.inexact, tally.too_low, tally.day_too_high);
	CHECK("there are many steps", tally.kills > 500);
	CHECK("each request that may have been sent is paid once", tally.inexact == 0);
	CHECK("the spend files never have less than may have been spent", tally.too_low == 0);
	CHECK("a day has at most the whole grant too much", tally.day_too_high == 0);
}

/* Locks of a process that is killed are freed one after another. */
static void keep_lock(int end)
{
	AUTO_FREE char *path = path_join(folder, "spend.lock");
	AUTO_FD fd = open(path, O_RDWR | O_CLOEXEC);
	char byte;

	if (flock(fd, LOCK_SH) < 0 || write(end, "", 1) != 1)
		_exit(1);
	_exit(read(end, &byte, 1) != 0);
}

static void while_it_dies(void)
{
	int ends[2];
	pid_t child;
	char byte;

	forget();
	act(lose_owner, -1);
	CHECK("an owner was killed with money that it had not spent",
	      held_by_loop() == LEASED && owed() == 10 * CENT);
	child = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ? -1 : fork();
	if (child == 0) {
		close(ends[0]);
		keep_lock(ends[1]);
	}
	close(ends[1]);
	CHECK("it has not freed its last lock", child > 0 && read(ends[0], &byte, 1) == 1);
	dying = ends[0];
	recover();
	fd_close(&dying);
	waitpid(child, NULL, 0);
	CHECK("the next owner waits for it", seen->waited);
	act(recover, -1);
	CHECK("and charges what the open requests cost, not the whole grant", is_exact());
}

int main(void)
{
	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED || !unit_temp(folder))
		return 1;
	day = path_join(folder, "day");
	at_each_step(spend_in_order, "in order");
	at_each_step(lose_gateway, "the gateway is killed");
	while_it_dies();
	free(day);
	munmap(seen, sizeof *seen);
	return unit_failures > 0;
}
