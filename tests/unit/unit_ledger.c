/* The ledger: a crash never lowers the recorded spend, and concurrent owners cannot exceed a
 * limit. */
#include "unit.h"

#include "failure/failure.h"
#include "gateway/open_requests.h"
#include "gateway/owner/ledger.h"
#include "gateway/owner/ledger_sums.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CENT = 10000000 };

static char folder[UNIT_PATH];
static char *day;
static struct error err;
static bool shared; /* several owners use the folder, which belongs to no loop */

static struct ledger *open_ledger(uint64_t iteration_limit, uint64_t loop_limit, uint64_t day_limit,
				  uint64_t period)
{
	const struct ledger_options options = { .folder = folder,
						.day = day,
						.limits = { iteration_limit, loop_limit,
							    day_limit },
						.budget_of = "this iteration",
						.budget_option = "--budget",
						.period = period,
						.iteration = shared ? 0 : (uint32_t)period,
						.agent = "claude" };
	struct ledger *ledger = NULL;

	if (ledger_open(&options, &ledger, &err) < 0)
		printf("# %s\n", err.text);
	return ledger;
}

static uint64_t total(void)
{
	uint64_t sum = UINT64_MAX;
	uint64_t key;
	uint64_t held;

	if (ledger_read(folder, &sum, &key, &held, &err) < 0)
		printf("# %s\n", err.text);
	return sum;
}

static uint64_t lease(struct ledger *ledger, uint64_t nusd, bool must, uint64_t *ret_left,
		      char why[LEDGER_WHY])
{
	uint64_t granted = UINT64_MAX;

	if (ledger_lease(ledger, nusd, must, &granted, ret_left, why, &err) < 0)
		printf("# %s\n", err.text);
	return granted;
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

static void leasing(void)
{
	struct ledger *ledger = open_ledger(100 * CENT, 150 * CENT, 0, 1);
	struct ledger_row row = { .route = "messages",
				  .model = "m\x1b",
				  .cost_nusd = 7 * CENT,
				  .status = 200,
				  .known = 1 };
	char why[LEDGER_WHY];
	uint64_t left;

	CHECK("a grant is slightly more than requested, and held at once",
	      lease(ledger, 15 * CENT, false, &left, why) == 20 * CENT && total() == 20 * CENT &&
		      left == 80 * CENT && !why[0]);
	CHECK("a request beyond the limit gets what is left, and the limit is "
	      "named",
	      lease(ledger, 90 * CENT, false, &left, why) == 80 * CENT && left == 0 &&
		      strcmp(why,
			     "a request could cost US$ 1.10, but only US$ 1.00 is left of this "
			     "iteration's US$ 1.00; --budget changes it") == 0);
	CHECK("then nothing is left",
	      lease(ledger, 1, false, &left, why) == 0 && total() == 100 * CENT);
	CHECK("money that is already spent is recorded in any case",
	      lease(ledger, 3, true, &left, why) == 3 && total() == 100 * CENT + 3 &&
		      strcmp(why,
			     "the budget for this iteration is used up: US$ 1.00 (--budget)") == 0);
	ledger_add(ledger, &row, &err);
	CHECK("the unused part is returned in order",
	      ledger_end_lease(ledger, true, &err) == 0 && total() == 7 * CENT);
	CHECK("the lines add up to the spend file", ledger_spent(ledger) == 7 * CENT);
	ledger_close(ledger);
	ledger = open_ledger(100 * CENT, 150 * CENT, 0, 2);
	CHECK("another iteration starts at 0, the loop does not",
	      lease(ledger, 145 * CENT, false, &left, why) == 100 * CENT && total() == 107 * CENT);
	ledger_end_lease(ledger, true, &err);
	ledger_close(ledger);
	ledger = open_ledger(0, 10 * CENT, 0, 3);
	CHECK("the limit of the loop is named",
	      lease(ledger, 9 * CENT, false, &left, why) == 3 * CENT &&
		      strcmp(why,
			     "a request could cost US$ 0.09, but only US$ 0.03 is left of this "
			     "loop's US$ 0.10; --max-cost changes it") == 0);
	ledger_end_lease(ledger, true, &err);
	ledger_close(ledger);

	AUTO_FREE char *lines = read_lines();

	CHECK("the ledger has a line, with clean strings",
	      strstr(lines, "\"route\":\"messages\"") && strstr(lines, "\"cost_nusd\":70000000") &&
		      strstr(lines, "\\u001b") && strstr(lines, "\"agent\":\"claude\""));
}

/* As a gateway would: a request has cost this much so far. */
static void open_request(const struct ledger *ledger, uint64_t id, uint64_t nusd)
{
	struct open_requests *table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED,
					   ledger_open_requests(ledger), 0);

	open_requests_update(open_requests_begin(table, id), nusd, 0, nusd);
	munmap(table, sizeof *table); /* a mapping would keep the lock of the file */
}

/* A child that leases money, has one request in its ledger and others under way, and is killed. */
static void spend_and_die(size_t requests)
{
	static uint64_t id; /* of the first; unique in the ledger */
	pid_t child;

	id += 1000;
	child = fork();

	if (child == 0) {
		struct ledger *ledger = open_ledger(0, 0, 0, 4);
		struct ledger_row row = {
			.id = id, .route = "chat", .cost_nusd = 2 * CENT, .known = 1
		};
		char why[LEDGER_WHY];
		uint64_t left;

		lease(ledger, 25 * CENT, false, &left, why);
		open_request(ledger, id, 2 * CENT);
		for (size_t i = 0; i < requests; i++)
			open_request(ledger, id + 1 + i, 3 * CENT);
		ledger_add(ledger, &row, &err);
		/* As if it were killed before it could free the slot. */
		open_request(ledger, id, 2 * CENT);
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
}

static void killed_within(void)
{
	uint64_t before = total();
	struct ledger_news news;
	struct ledger *ledger;
	char why[LEDGER_WHY];
	uint64_t left;

	unlink(day);
	spend_and_die(2);
	CHECK("until somebody looks, the open lease of a killed owner counts as spent",
	      total() == before + 30 * CENT);
	ledger = open_ledger(0, 0, 30 * CENT, 5);

	AUTO_FREE char *lines = read_lines();

	CHECK("then only what its open requests have cost, each in a line of its own",
	      total() == before + 8 * CENT &&
		      strstr(lines, "\"cost_nusd\":30000000,\"id\":1001,\"estimated\"") &&
		      strstr(lines, "\"cost_nusd\":30000000,\"id\":1002,\"estimated\""));
	ledger_get_news(ledger, &news);
	CHECK("which is not a result of the next run",
	      news.estimated_nusd == 0 && news.cost_nusd == 0);
	CHECK("the rest is returned to the day",
	      lease(ledger, 22 * CENT, false, &left, why) == 22 * CENT);
	open_request(ledger, 9, 5 * CENT);
	ledger_end_lease(ledger, false, &err);
	CHECK("a killed gateway costs what its open requests have cost",
	      total() == before + 13 * CENT && ledger_spent(ledger) == 5 * CENT);
	lease(ledger, CENT, false, &left, why);
	open_request(ledger, 10, 20 * CENT);
	ledger_end_lease(ledger, false, &err);
	CHECK("even if that is more than it was granted", total() == before + 33 * CENT);
	ledger_close(ledger);
	unlink(day);
}

/* A child that is killed when it owes more than its lease: in a line, or in an open request. */
static void owe_and_die(bool in_line)
{
	pid_t child = fork();

	if (child == 0) {
		struct ledger *ledger = open_ledger(0, 0, 0, 30);
		struct ledger_row row = { .id = 100 + in_line, .cost_nusd = 25 * CENT, .known = 1 };
		char why[LEDGER_WHY];
		uint64_t left;

		lease(ledger, 10 * CENT, false, &left, why);
		open_request(ledger, row.id, row.cost_nusd);
		if (in_line)
			ledger_add(ledger, &row, &err);
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
}

static void killed_beyond(void)
{
	for (int in_line = 0; in_line <= 1; in_line++) {
		uint64_t before = total();
		struct ledger *ledger;
		char why[LEDGER_WHY];
		uint64_t left;

		unlink(day);
		owe_and_die(in_line);
		ledger = open_ledger(0, 0, 30 * CENT, 31);
		CHECK("a killed owner is charged for more than its lease if it cost more",
		      total() == before + 25 * CENT);
		CHECK("and so is the day", lease(ledger, 30 * CENT, false, &left, why) == 5 * CENT);
		ledger_end_lease(ledger, true, &err);
		ledger_close(ledger);
	}
	unlink(day);
}

/* A child whose whole lease is in lines when it is killed, with another request under way. */
static void settle_and_die(void)
{
	pid_t child = fork();

	if (child == 0) {
		struct ledger *ledger = open_ledger(0, 0, 0, 32);
		struct ledger_row row = { .id = 200, .cost_nusd = 25 * CENT, .known = 1 };
		char why[LEDGER_WHY];
		uint64_t left;

		lease(ledger, 10 * CENT, false, &left, why);
		open_request(ledger, 200, 25 * CENT);
		open_request(ledger, 201, 5 * CENT);
		ledger_add(ledger, &row, &err);
		lease(ledger, 15 * CENT, true, &left, why);
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
}

static void killed_after(void)
{
	const struct ledger_options options = {
		.folder = folder, .day = day, .period = 33, .iteration = 33
	};
	uint64_t before = total();

	settle_and_die();
	CHECK("an owner is killed whose lines have all that it was granted",
	      total() == before + 25 * CENT);
	CHECK("its open request is charged all the same",
	      ledger_recover(&options, &err) == 0 && total() == before + 30 * CENT);

	AUTO_FREE char *lines = read_lines();

	CHECK("in a line with its id",
	      strstr(lines, "\"cost_nusd\":50000000,\"id\":201,\"estimated\":true"));
	unlink(day);
}

/* A table that covers less than the lease: the rest is charged as well. */
static void uncovered(void)
{
	AUTO_FREE char *path = path_join(folder, "open-requests");
	AUTO_FD fd = open(path, O_RDWR | O_CLOEXEC);
	struct open_requests *table = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED,
					   fd, 0);
	uint64_t before = total();

	spend_and_die(1);
	table->leased = 20 * CENT;
	munmap(table, sizeof *table);
	ledger_close(open_ledger(0, 0, 0, 34));
	CHECK("what the table does not cover counts as spent, beside what it knows",
	      total() == before + (2 + 3 + 8) * CENT);

	AUTO_FREE char *lines = read_lines();

	CHECK("in a line without an id",
	      strstr(lines, "\"cost_nusd\":80000000,\"estimated\":true"));
	unlink(day);
}

/* The cost of a request while nobody looks. */
static void open_costs(void)
{
	static struct open_requests table;
	struct open_requests_slot *slot;
	uint64_t nusd = 0;

	open_requests_init(&table);
	slot = open_requests_begin(&table, 7);
	CHECK("a request that is not sent costs nothing",
	      open_requests_cost(&table, open_requests_now_ms(), &nusd) && nusd == 0);
	open_requests_update(slot, 100, 50, 1000);
	CHECK("one that streams costs more with time",
	      open_requests_cost(&table, slot->at_ms + 2000, &nusd) && nusd == 200);
	CHECK("up to its reservation",
	      open_requests_cost(&table, slot->at_ms + 3600000, &nusd) && nusd == 1000);
	open_requests_end(&table, 7);
	CHECK("and nothing once it is in the ledger",
	      open_requests_cost(&table, slot->at_ms, &nusd) && nusd == 0);
	for (uint64_t i = 1; i <= OPEN_REQUESTS_SLOTS; i++)
		slot = open_requests_begin(&table, i);
	CHECK("a full table is still sound", slot && open_requests_cost(&table, 0, &nusd));
	CHECK("one that is too small for all is not",
	      !open_requests_begin(&table, 1000) && !open_requests_cost(&table, 0, &nusd));
	open_requests_init(&table);
	table.boot[0] = 'x';
	CHECK("nor is one of another boot", !open_requests_cost(&table, 0, &nusd));
	open_requests_init(&table);
	open_requests_update(open_requests_begin(&table, 1), UINT64_MAX, 0, 0);
	CHECK("nor is nonsense", !open_requests_cost(&table, 0, &nusd));
}

/* A killed owner whose table is lost. */
static void killed(void)
{
	uint64_t before = total();
	AUTO_FREE char *table = path_join(folder, "open-requests");

	spend_and_die(0);
	unlink(table);
	CHECK("after a kill -9 the open lease counts as spent", total() == before + 30 * CENT);

	struct ledger *ledger = open_ledger(0, 0, 0, 5);
	AUTO_FREE char *lines = read_lines();

	CHECK("and gets a line of its own, so that the lines and the spend file "
	      "agree",
	      strstr(lines, "\"route\":\"lost\"") &&
		      strstr(lines, "\"cost_nusd\":280000000,\"estimated\":true"));
	ledger_close(ledger);
	ledger = open_ledger(0, 0, 0, 6);

	AUTO_FREE char *again = read_lines();

	CHECK("once", strcmp(lines, again) == 0);
	ledger_close(ledger);
}

/* A child that leases money and lives on. */
static void beside(void)
{
	int ready[2];
	int done[2];
	char byte;
	pid_t child = pipe(ready) < 0 || pipe(done) < 0 ? -1 : fork();

	if (child == 0) {
		struct ledger *ledger = open_ledger(0, 0, 0, 20);
		struct ledger_row row = { .route = "alive", .cost_nusd = 3 * CENT, .known = 1 };
		char why[LEDGER_WHY];
		uint64_t left;

		close(done[1]);
		lease(ledger, 25 * CENT, false, &left, why);
		ledger_add(ledger, &row, &err);
		if (write(ready[1], "", 1) != 1 || read(done[0], &byte, 1) != 0)
			_exit(1);
		_exit(ledger_end_lease(ledger, true, &err) == 0 ? 0 : 1);
	}
	close(done[0]);
	CHECK("another owner holds a lease", child > 0 && read(ready[0], &byte, 1) == 1);

	AUTO_FREE char *before = read_lines();
	uint64_t held = total();
	struct ledger *ledger = open_ledger(0, 0, 0, 21);
	AUTO_FREE char *after = read_lines();
	int status = -1;

	CHECK("a ledger opened beside a living lease does not take it for lost",
	      ledger && strcmp(before, after) == 0 && total() == held);
	CHECK("and has a table of open requests of its own", ledger_open_requests(ledger) >= 0);
	close(done[1]);
	waitpid(child, &status, 0);
	CHECK("and the rest of the lease is returned in order",
	      status == 0 && total() == held - 30 * CENT + 3 * CENT);
	ledger_close(ledger);
	close(ready[0]);
	close(ready[1]);
}

/* The kernel refuses every lock while this is set; see the link options. */
static bool no_locks;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
	if (!no_locks)
		return __real_flock(fd, operation);
	errno = ENOLCK;
	return -1;
}

static void unlockable(void)
{
	struct ledger *ledger = open_ledger(0, 0, 0, 22);
	uint64_t granted = 7;
	uint64_t left = 7;
	uint64_t before = total();
	char why[LEDGER_WHY] = "";

	no_locks = true;
	CHECK("without its lock nothing is leased, and the reason is an error",
	      ledger_lease(ledger, CENT, false, &granted, &left, why, &err) < 0 &&
		      strstr(err.text, "lock '") && granted == 7 && left == 7);
	CHECK("nor is a ledger opened", !open_ledger(0, 0, 0, 23) && strstr(err.text, "lock"));
	no_locks = false;
	CHECK("and nothing counts as spent", total() == before);
	CHECK("with it, money is leased again", lease(ledger, CENT, false, &left, why) > 0 &&
							ledger_end_lease(ledger, true, &err) == 0);
	ledger_close(ledger);
}

static void days(void)
{
	struct ledger *one;
	struct ledger *two;
	char why[LEDGER_WHY];
	uint64_t left;

	unlink(day);
	shared = true;
	one = open_ledger(0, 0, 50 * CENT, 7);
	two = open_ledger(0, 0, 50 * CENT, 8);
	CHECK("concurrent owners share a day",
	      lease(one, 30 * CENT, false, &left, why) == 30 * CENT &&
		      lease(two, 30 * CENT, false, &left, why) == 20 * CENT &&
		      strstr(why, "today") && lease(one, 1, false, &left, why) == 0);
	ledger_end_lease(one, true, &err);
	CHECK("one owner can use what another returns",
	      lease(two, 30 * CENT, false, &left, why) == 30 * CENT);
	open_request(two, 1, 50 * CENT);
	ledger_end_lease(two, false, &err);
	ledger_close(one);
	ledger_close(two);
	one = open_ledger(0, 0, 50 * CENT, 9);
	CHECK("the day remembers what was lost", lease(one, 1, false, &left, why) == 0);
	ledger_close(one);
}

/* Changes the local date: two time zones more than a day apart never have the same date. */
static void move_to(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static void midnight(void)
{
	struct ledger_row row = { .route = "messages", .known = 1, .cost_nusd = 4 * CENT };
	char why[LEDGER_WHY];
	struct ledger *one;
	struct ledger *two;
	uint64_t left;

	unlink(day);
	move_to("WEST+12");
	one = open_ledger(0, 0, 30 * CENT, 50);
	two = open_ledger(0, 0, 30 * CENT, 51);
	CHECK("a lease of 10 cents before midnight",
	      lease(one, 10 * CENT, false, &left, why) == 10 * CENT && left == 20 * CENT);
	CHECK("of which 4 are spent before it", ledger_add(one, &row, &err) == 0);
	move_to("EAST-14");
	CHECK("and 4 after it", ledger_add(one, &row, &err) == 0);
	CHECK("counts for the new day with the open part at midnight: 6 of 30 "
	      "are used",
	      lease(two, 1, false, &left, why) == 10 * CENT && left == 14 * CENT);
	CHECK("and the unused part is returned to it",
	      ledger_end_lease(one, true, &err) == 0 &&
		      lease(two, 11 * CENT, false, &left, why) == 16 * CENT && left == 0);
	CHECK("the day before is another one",
	      (move_to("WEST+12"), lease(two, 1, true, &left, why) == 1));
	ledger_close(one);
	ledger_close(two);
	move_to("UTC");
}

/* Many processes at once request more money than there is. */
static void crowd(void)
{
	enum { CROWD = 8, EACH = 20 };
	uint64_t before;
	pid_t children[CROWD];
	int failed = 0;

	unlink(day);
	before = total();
	for (size_t i = 0; i < CROWD; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			struct ledger *ledger = open_ledger(0, 0, 50 * CENT, 10);
			char why[LEDGER_WHY];
			uint64_t left;

			for (int j = 0; ledger && j < EACH; j++)
				lease(ledger, CENT, false, &left, why);
			_exit(ledger ? 0 : 1);
		}
	}
	for (size_t i = 0; i < CROWD; i++) {
		int status = -1;

		waitpid(children[i], &status, 0);
		failed += status != 0;
	}
	CHECK("all of a crowd can open the ledger at once", failed == 0);
	CHECK("a crowd gets all there is, to the last nano-dollar, and no more",
	      total() - before == 50 * CENT);
}

static void damage(void)
{
	AUTO_FREE char *path = path_join(folder, "spend");
	char bytes[112];
	uint64_t before = total();
	AUTO_FD fd = open(path, O_RDWR | O_CLOEXEC);
	struct ledger *ledger = open_ledger(0, 0, 0, 11);
	char why[LEDGER_WHY];
	uint64_t left;

	CHECK("a record to tear", lease(ledger, CENT, false, &left, why) >= CENT);
	open_request(ledger, 1, CENT);
	CHECK("the lease ends", ledger_end_lease(ledger, false, &err) == 0);
	ledger_close(ledger);
	CHECK("is read", pread(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);

	uint64_t after = total();
	bool written = true;
	bool held = after > before;

	for (size_t i = 0; i < sizeof bytes; i++) {
		char torn = (char)~bytes[i];

		written = written && pwrite(fd, &torn, 1, (off_t)i) == 1;
		held = held && total() >= before;
		written = written && pwrite(fd, &bytes[i], 1, (off_t)i) == 1;
	}
	CHECK("each of its bytes is torn once", written);
	CHECK("a torn record leaves the one before it", held && total() == after);
	memset(bytes, 0x55, sizeof bytes);
	CHECK("without a valid record nothing is spent",
	      pwrite(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes &&
		      !open_ledger(0, 0, 0, 12) && strstr(err.text, "damaged"));
}

static void put(const char *name, const char *text)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		printf("# cannot write %s\n", path);
}

static void torn(void)
{
	AUTO_FREE char *spend = path_join(folder, "spend");
	struct ledger_row row = { .route = "messages", .cost_nusd = CENT, .known = 1 };
	struct ledger *ledger;

	unlink(spend); /* damaged before */
	put("ledger.jsonl", "{\"at_ms\":1,\"route\":\"messages\",\"cost_nusd\":99");
	ledger = open_ledger(0, 0, 0, 8);
	ledger_add(ledger, &row, &err);
	ledger_close(ledger);

	AUTO_FREE char *lines = read_lines();

	CHECK("a torn last line does not swallow the next one",
	      strstr(lines, "\"cost_nusd\":99\n{\"at_ms\""));
}

static void garbage(void)
{
	AUTO_FREE char *spend = path_join(folder, "spend");
	AUTO_FREE char *lines = path_join(folder, "ledger.jsonl");
	struct ledger_options options = { .folder = folder, .period = 9, .spent = 3 * CENT };
	struct ledger *ledger = NULL;
	uint64_t booked = 0;

	unlink(spend);
	unlink(lines);
	put("spend", "garbage");
	CHECK("a spend file of other bytes is an error, not an empty one",
	      ledger_open(&options, &ledger, &err) < 0 && strstr(err.text, "damaged"));
	unlink(spend);
	CHECK("a spend file that was removed counts what is known to be spent",
	      ledger_open(&options, &ledger, &err) == 0 && total() == 3 * CENT);
	ledger_close(ledger);

	AUTO_FREE char *after = read_lines();

	CHECK("and says so in a line",
	      strstr(after, "\"route\":\"lost\"") && strstr(after, "\"cost_nusd\":30000000"));
	CHECK("the spend file knows what the lines must add up to",
	      ledger_booked(folder, &booked, &err) == 0 && booked == 3 * CENT);
}

static void add_up(void *context, const struct ledger_sums_item *item)
{
	ledger_sums_add(context, item);
}

static void sums(void)
{
	static const char lines[] =
		"{\"at_ms\":5,\"iteration\":1,\"agent\":\"a b\",\"model\":\"m\",\"input\":7,\"cost_nusd\":10}\n"
		"torn {\"cost_nusd\":1000}\n"
		"{\"at_ms\":9,\"iteration\":3,\"agent\":\"a b\",\"model\":\"m\",\"input\":1,\"cost_nusd\":20,"
		"\"estimated\":true}\n"
		"{\"at_ms\":2,\"agent\":\"a b\",\"model\":\"m\",\"replay\":true,\"cost_nusd\":5}\n";
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ledger_sums made = { 0 };
	struct ledger_sums again = { 0 };
	uint64_t total_nusd;

	fd_replace_file(fd, "ledger.jsonl", lines, strlen(lines), 0600);
	CHECK("the whole lines of a ledger are added up",
	      ledger_sums_read(folder, add_up, &made, &total_nusd, &err) == 0 && total_nusd == 35 &&
		      made.count == 2);
	CHECK("a sum knows its costs, and its first and last line",
	      made.items[0].cost_nusd == 30 && made.items[0].estimated_nusd == 20 &&
		      made.items[0].tokens[PRICE_INPUT] == 8 && made.items[0].requests == 2 &&
		      made.items[0].first_ms == 5 && made.items[0].last_ms == 9 &&
		      made.items[0].first_iteration == 1 && made.items[0].last_iteration == 3);
	CHECK("a replay has its own sum", made.items[1].replay && made.items[1].cost_nusd == 5);

	AUTO_FREE char *text = ledger_sums_text(&made);
	bool read = ledger_sums_parse(text, &again) == 0;
	AUTO_FREE char *second = ledger_sums_text(&again);

	CHECK("sums are the same after they were text",
	      read && strcmp(text, second) == 0 && strcmp(again.items[0].agent, "a b") == 0);
	ledger_sums_release(&made);
	ledger_sums_release(&again);
	CHECK("a ledger that is not there costs nothing",
	      unlinkat(fd, "ledger.jsonl", 0) == 0 &&
		      ledger_sums_read(folder, add_up, &made, &total_nusd, &err) == 0 &&
		      total_nusd == 0 && made.count == 0);
	text[strlen(text) - 3] = 'x';
	CHECK("a malformed text is refused",
	      ledger_sums_parse(text, &again) < 0 && ledger_sums_parse("0 a b", &again) < 0);
}

/* Every field of a line, and the sums for the owner. */
static void rows(void)
{
	const struct ledger_row known = { .route = "messages",
					  .provider = "anthropic",
					  .model = "m",
					  .as = "as-m",
					  .child = "helper",
					  .tokens = { 1, 2, 3, 4, 5 },
					  .searches = 6,
					  .cost_nusd = 7,
					  .status = 200,
					  .known = 1,
					  .first_ms = 8,
					  .duration_ms = 9 };
	const struct ledger_row unknown = { .route = "chat",
					    .provider = "openai",
					    .model = "other",
					    .as = "as-m",
					    .error = "no\x1b model\x7f",
					    .cost_nusd = 10,
					    .status = 404,
					    .failure = FAILURE_UNREACHABLE,
					    .estimated = 1,
					    .free = 1,
					    .retry_at_ms = 11 };
	shared = false;

	struct ledger *ledger = open_ledger(0, 0, 0, 77);
	struct ledger_news news;

	ledger_get_news(ledger, &news);
	CHECK("at first there is no news", !news.over && news.requests == 0 && !news.stray[0]);
	if (ledger_add(ledger, &known, &err) < 0 || ledger_add(ledger, &unknown, &err) < 0)
		abort();

	AUTO_FREE char *lines = read_lines();

	CHECK("a line has all that is known of a request",
	      strstr(lines, ",\"iteration\":77,\"agent\":\"claude\",\"child\":\"helper\","
			    "\"route\":\"messages\",\"provider\":\"anthropic\",\"model\":\"m\","
			    "\"input\":1,\"output\":2,\"write_5m\":3,\"write_1h\":4,\"read\":5,"
			    "\"searches\":6,\"cost_nusd\":7,\"estimated\":false,\"status\":200,"
			    "\"first_ms\":8,\"duration_ms\":9}\n"));
	CHECK("a line says by which prices an unknown model counts, and why a request failed",
	      strstr(lines, "\"model\":\"other\",\"counted_as\":\"as-m\",\"input\":0,") &&
		      strstr(lines,
			     "\"estimated\":true,\"status\":404,\"failure\":\"unreachable\",") &&
		      strstr(lines, "\"retry_at_ms\":11,"));
	ledger_add_refused(ledger, 1);
	ledger_add_stray(ledger, "a\x1b[0mb");
	ledger_add_stray(ledger, "second");
	ledger_add_tape(ledger, "t\x7f");
	ledger_get_news(ledger, &news);
	CHECK("the news adds everything up",
	      news.over && news.refused == 1 && news.requests == 2 && news.free_requests == 1 &&
		      news.cost_nusd == 17 && news.estimated_nusd == 10 &&
		      news.tokens[PRICE_READ] == 5 && ledger_input(&news) == 1 + 3 + 4 + 5);
	CHECK("the news is about the last request",
	      news.failure == FAILURE_UNREACHABLE && news.retry_at_ms == 11);
	CHECK("of texts, the first counts, without control characters",
	      strcmp(news.unreached, "no? model?") == 0 && strcmp(news.stray, "a?[0mb") == 0 &&
		      strcmp(news.tape, "t?") == 0);
	ledger_close(ledger);
}

int main(void)
{
	AUTO_FREE char *command = NULL;

	if (!unit_temp(folder))
		return 1;
	day = path_join(folder, "day");
	leasing();
	open_costs();
	killed_within();
	killed_beyond();
	killed_after();
	uncovered();
	killed();
	beside();
	unlockable();
	days();
	midnight();
	crowd();
	damage();
	torn();
	garbage();
	sums();
	rows();
	free(day);
	command = mem_format("rm -r %s", folder);
	return system(command) != 0 || unit_failures > 0; /* NOLINT(cert-env33-c): our own folder */
}
