/* The ledger: a crash never lowers the recorded spend, and concurrent owners cannot exceed a
 * limit. */
#include "unit.h"

#include "failure/failure.h"
#include "gateway/owner/ledger.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CENT = 10000000 };

static char folder[] = "/tmp/unit-ledger-XXXXXX";
static char *day;
static struct error err;

static struct ledger *open_ledger(uint64_t iteration_limit, uint64_t loop_limit, uint64_t day_limit,
				  uint64_t period)
{
	const struct ledger_options options = { .folder = folder,
						.day = day,
						.limits = { iteration_limit, loop_limit,
							    day_limit },
						.period = period,
						.iteration = (uint32_t)period,
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
		      strcmp(why, "the budget for this iteration is used up: US$ 1.00 (budget)") ==
			      0);
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

/* A child that leases money and is killed. */
static void killed(void)
{
	uint64_t before = total();
	pid_t child = fork();

	if (child == 0) {
		struct ledger *ledger = open_ledger(0, 0, 0, 4);
		struct ledger_row row = { .route = "chat", .cost_nusd = 2 * CENT, .known = 1 };
		char why[LEDGER_WHY];
		uint64_t left;

		lease(ledger, 25 * CENT, false, &left, why);
		ledger_add(ledger, &row, &err);
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
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

static void days(void)
{
	struct ledger *one;
	struct ledger *two;
	char why[LEDGER_WHY];
	uint64_t left;

	unlink(day);
	one = open_ledger(0, 0, 50 * CENT, 7);
	two = open_ledger(0, 0, 50 * CENT, 8);
	CHECK("concurrent owners share a day",
	      lease(one, 30 * CENT, false, &left, why) == 30 * CENT &&
		      lease(two, 30 * CENT, false, &left, why) == 20 * CENT &&
		      strstr(why, "today") && lease(one, 1, false, &left, why) == 0);
	ledger_end_lease(one, true, &err);
	CHECK("one owner can use what another returns",
	      lease(two, 30 * CENT, false, &left, why) == 30 * CENT);
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

	lease(ledger, CENT, false, &left, why);
	ledger_end_lease(ledger, false, &err);
	ledger_close(ledger);
	if (pread(fd, bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return;

	uint64_t after = total();
	bool held = after > before;

	for (size_t i = 0; i < sizeof bytes; i++) {
		char torn = (char)~bytes[i];

		if (pwrite(fd, &torn, 1, (off_t)i) != 1)
			return;
		held = held && total() >= before;
		if (pwrite(fd, &bytes[i], 1, (off_t)i) != 1)
			return;
	}
	CHECK("a torn record leaves the one before it", held && total() == after);
	memset(bytes, 0x55, sizeof bytes);
	if (pwrite(fd, bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return;
	CHECK("without a valid record nothing is spent",
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

	if (!mkdtemp(folder))
		return 1;
	day = path_join(folder, "day");
	leasing();
	killed();
	days();
	midnight();
	crowd();
	damage();
	torn();
	garbage();
	rows();
	free(day);
	command = mem_format("rm -r %s", folder);
	return system(command) != 0 || unit_failures > 0; /* NOLINT(cert-env33-c): our own folder */
}
