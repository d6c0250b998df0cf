/* The ledger of a gateway's owner: see ledger.h. */
#include "gateway/owner/ledger.h"

#include "failure/failure.h"
#include "gateway/open_requests.h"
#include "gateway/owner/spend_file.h"
#include "meter/money.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	STEP_NUSD = 100000000
}; /* US$ 0.10: how much a crash can add to the recorded spend, beyond open requests */

enum { LOCK_TRIES = 500 }; /* of ten milliseconds: a gateway ends with its owner */

enum { ROUND_NUSD = 100000 }; /* US$ 0.0001: the precision of amounts in messages */

struct ledger {
	struct spend_file loop, day;
	uint64_t lease_day; /* the day that the open part of the lease is charged to */
	bool has_day;
	int lines_fd;
	int alive; /* locked while somebody spends from this folder */
	int open_fd;
	bool alone;                 /* nobody else spends from this folder, but may be dying */
	struct open_requests *open; /* the table of open requests, or NULL */
	uint64_t limits[LEDGER_SCOPES];
	const char *budget_of, *budget_option;
	uint64_t budget_whole;
	uint64_t period;
	uint32_t iteration;
	bool replay;
	char *agent;
	bool review;
	/* granted to this owner in its period; other owners of the folder have their own periods */
	uint64_t own;
	uint64_t granted; /* by the lease */
	uint64_t booked;  /* in lines of the lease */
	uint64_t before;  /* in lines of earlier leases */
	uint64_t fresh;   /* in lines that the spend file does not count yet */
	bool torn;        /* the last line in the file has no end */
	struct ledger_news news;
};

/* The local date, as a number. */
static uint64_t today(void)
{
	time_t now = time(NULL);
	struct tm parts;

	localtime_r(&now, &parts);
	return (uint64_t)(parts.tm_year + 1900) * 10000 + (uint64_t)(parts.tm_mon + 1) * 100 +
	       (uint64_t)parts.tm_mday;
}

static uint64_t rest(uint64_t limit, uint64_t held)
{
	if (limit == 0)
		return MONEY_NO_LIMIT;
	return limit > held ? limit - held : 0;
}

/* Finds the scope with the least money left, and how much that is. */
static enum ledger_scope narrowest(const struct ledger *ledger, uint64_t *ret_left)
{
	uint64_t held = ledger->loop.now.held > ledger->own ? ledger->loop.now.held : ledger->own;
	const uint64_t left[LEDGER_SCOPES] = {
		[LEDGER_ITERATION] = rest(ledger->limits[LEDGER_ITERATION], held),
		[LEDGER_LOOP] = rest(ledger->limits[LEDGER_LOOP], ledger->loop.now.total),
		[LEDGER_DAY] = ledger->has_day
				       ? rest(ledger->limits[LEDGER_DAY], ledger->day.now.held)
				       : MONEY_NO_LIMIT,
	};
	size_t least = 0;

	for (size_t i = 1; i < LEDGER_SCOPES; i++)
		if (left[i] < left[least])
			least = i;
	*ret_left = left[least];
	return least;
}

/* The part of the grant that has no line yet. */
static uint64_t open_lease(const struct ledger *ledger)
{
	return ledger->granted > ledger->booked ? ledger->granted - ledger->booked : 0;
}

/* more: about to be leased. A process that is killed while it writes that has not passed it on. */
static void note_lease(const struct ledger *ledger, uint64_t more)
{
	if (ledger->open)
		ledger->open->leased = open_lease(ledger) + more;
}

/* Money is charged to the day on which it is spent, so the open part of a lease moves to the new
 * day. */
static void enter_day(struct ledger *ledger)
{
	uint64_t now = today();

	spend_file_enter(&ledger->day, now);
	if (ledger->lease_day && ledger->lease_day != now) {
		ledger->day.now.held += open_lease(ledger);
		ledger->day.leased = open_lease(ledger);
	}
	ledger->lease_day = now;
	if (ledger->open)
		ledger->open->day = now;
}

static int lock_both(struct ledger *ledger, struct error *err)
{
	if (spend_file_lock(&ledger->loop, err) < 0)
		return -1;
	spend_file_enter(&ledger->loop, ledger->period);
	if (ledger->has_day && spend_file_lock(&ledger->day, err) < 0) {
		spend_file_unlock(&ledger->loop);
		return -1;
	}
	if (ledger->has_day)
		enter_day(ledger);
	return 0;
}

/* less: money is returned. A process that is killed between the two files leaves the day too high,
 * never too low. */
static int write_both(struct ledger *ledger, bool less, struct error *err)
{
	/* Lines must be on disk before the spend file counts them. */
	if (ledger->fresh > 0 && fdatasync(ledger->lines_fd) < 0)
		return error_sys(err, "write the ledger beside '%s'", ledger->loop.path);
	ledger->loop.now.booked += ledger->fresh;
	ledger->fresh = 0;
	if (less && spend_file_write(&ledger->loop, err) < 0)
		return -1;
	if (ledger->has_day && spend_file_write(&ledger->day, err) < 0)
		return -1;
	return less ? 0 : spend_file_write(&ledger->loop, err);
}

static void unlock_both(struct ledger *ledger)
{
	if (ledger->has_day)
		spend_file_unlock(&ledger->day);
	spend_file_unlock(&ledger->loop);
}

static void add_rounded(struct buffer *out, uint64_t nusd, bool up)
{
	uint64_t odd = nusd % ROUND_NUSD;

	price_add_usd(out, nusd - odd + (up && odd ? ROUND_NUSD : 0), 2);
}

/* `need`: what a request could cost, or 0 if the money is already spent. */
static void explain_limit(const struct ledger *ledger, enum ledger_scope scope, uint64_t need,
			  uint64_t left, char ret_why[LEDGER_WHY])
{
	const struct {
		const char *of, *option;
		uint64_t limit;
	} names[LEDGER_SCOPES] = {
		[LEDGER_ITERATION] = { ledger->budget_of, ledger->budget_option,
				       ledger->budget_whole },
		[LEDGER_LOOP] = { "this loop", "--max-cost", ledger->limits[LEDGER_LOOP] },
		[LEDGER_DAY] = { "today", "--daily-budget", ledger->limits[LEDGER_DAY] },
	}, *name = &names[scope];
	AUTO_BUFFER struct buffer text = BUFFER_INIT(2 * LEDGER_WHY);

	if (need > 0 && left > 0) {
		buffer_add_text(&text, "a request could cost US$ ");
		add_rounded(&text, need, true);
		buffer_add_text(&text, ", but only US$ ");
		add_rounded(&text, left, false);
		buffer_printf(&text, " is left of %s's US$ ", name->of);
		price_add_usd(&text, name->limit, 2);
		buffer_printf(&text, "; %s changes it", name->option);
	} else {
		buffer_printf(&text, "the budget for %s is used up: US$ ", name->of);
		price_add_usd(&text, name->limit, 2);
		buffer_printf(&text, " (%s)", name->option);
	}
	snprintf(ret_why, LEDGER_WHY, "%s", buffer_text(&text));
}

int ledger_lease(struct ledger *ledger, uint64_t nusd, bool must, uint64_t *ret_granted,
		 uint64_t *ret_left, char ret_why[LEDGER_WHY], struct error *err)
{
	uint64_t wanted = must ? nusd : (nusd + STEP_NUSD - 1) / STEP_NUSD * STEP_NUSD;
	enum ledger_scope scope;
	uint64_t left;
	int result = 0;

	if (lock_both(ledger, err) < 0)
		return -1;
	scope = narrowest(ledger, &left);
	if (!must && wanted > left)
		wanted = left;
	ret_why[0] = '\0';
	if (nusd > left) {
		/* The open part of the lease is available as well: the request waits for other
		 * requests to return theirs. */
		explain_limit(ledger, scope, must ? 0 : open_lease(ledger) + nusd,
			      open_lease(ledger) + left, ret_why);
		ledger->news.scope = scope;
		memcpy(ledger->news.why, ret_why, sizeof ledger->news.why);
	}
	if (wanted > 0) {
		note_lease(ledger, wanted);
		ledger->own += wanted;
		spend_file_add(&ledger->loop, wanted);
		spend_file_add(&ledger->day, wanted);
		result = write_both(ledger, false, err);
	}
	narrowest(ledger, &left);
	unlock_both(ledger);
	if (result < 0)
		return -1;
	ledger->granted += wanted;
	*ret_granted = wanted;
	*ret_left = left;
	return 0;
}

static void add_field(struct buffer *line, const char *key, const char *text, size_t room)
{
	if (!text[0])
		return;
	buffer_printf(line, ",\"%s\":", key);
	text_json_bytes(line, text, strnlen(text, room));
}

static void add_number(struct buffer *line, const char *key, uint64_t number)
{
	buffer_printf(line, ",\"%s\":%" PRIu64, key, number);
}

/* Moves the open lease to the new day if midnight has passed since the last grant. */
static int turn_day(struct ledger *ledger, struct error *err)
{
	int result;

	if (!ledger->has_day || !ledger->lease_day || ledger->lease_day == today())
		return 0;
	if (lock_both(ledger, err) < 0)
		return -1;
	result = write_both(ledger, false, err);
	unlock_both(ledger);
	return result;
}

/* Only the first text counts. */
static void add_text(char *into, size_t room, const char *text)
{
	if (into[0])
		return;
	snprintf(into, room, "%.*s", (int)room - 1, text); /* the text may not be terminated */
	/* The gateway's text is untrusted. */
	for (char *at = into; *at; at++)
		if (*at == '\x7f' || (unsigned char)*at < 0x20)
			*at = '?';
}

int ledger_add(struct ledger *ledger, const struct ledger_row *row, struct error *err)
{
	static const char *const kinds[PRICE_KINDS] = { "input", "output", "write_5m", "write_1h",
							"read" };
	AUTO_BUFFER struct buffer line = BUFFER_INIT(8192);
	int turned = turn_day(ledger, err);

	buffer_printf(&line, "%s{\"at_ms\":%" PRId64, ledger->torn ? "\n" : "", clock_wall_ms());
	if (ledger->iteration)
		add_number(&line, "iteration", ledger->iteration);
	add_field(&line, "agent", ledger->agent, 64);
	if (ledger->review)
		buffer_add_text(&line, ",\"review\":true");
	add_field(&line, "child", row->child, sizeof row->child);
	add_field(&line, "route", row->route, sizeof row->route);
	add_field(&line, "provider", row->provider, sizeof row->provider);
	add_field(&line, "model", row->model, sizeof row->model);
	if (!row->known)
		add_field(&line, "counted_as", row->as, sizeof row->as);
	for (size_t i = 0; i < PRICE_KINDS; i++)
		add_number(&line, kinds[i], row->tokens[i]);
	if (row->searches)
		add_number(&line, "searches", row->searches);
	add_number(&line, "cost_nusd", row->cost_nusd);
	if (row->id)
		add_number(&line, "id", row->id);
	buffer_printf(&line, ",\"estimated\":%s", row->estimated ? "true" : "false");
	add_number(&line, "status", row->status);
	if (row->failure > FAILURE_NONE && row->failure < FAILURES)
		add_field(&line, "failure", failure_row(row->failure)->ledger_name, 64);
	add_field(&line, "error", row->error, sizeof row->error);
	if (row->retry_at_ms > 0)
		add_number(&line, "retry_at_ms", (uint64_t)row->retry_at_ms);
	add_number(&line, "first_ms", row->first_ms);
	add_number(&line, "duration_ms", row->duration_ms);
	if (ledger->replay)
		buffer_add_text(&line, ",\"replay\":true");
	buffer_add_text(&line, "}\n");
	ledger->booked += row->cost_nusd;
	ledger->fresh += row->cost_nusd;
	ledger->news.requests += row->provider[0] != '\0'; /* a lost grant is not a request */
	ledger->news.estimated_nusd += row->estimated ? row->cost_nusd : 0;
	ledger->news.free_requests += row->provider[0] && row->free;
	for (size_t i = 0; i < PRICE_KINDS; i++)
		ledger->news.tokens[i] += row->tokens[i];
	ledger->news.failure = row->failure;
	if (row->failure == FAILURE_NONE && row->status >= 200 && row->status < 300)
		ledger->news.asked_ms = row->began_ms;
	ledger->news.retry_at_ms = row->retry_at_ms;
	ledger->news.unreached[0] = '\0';
	if (row->failure == FAILURE_UNREACHABLE)
		add_text(ledger->news.unreached, LEDGER_ERROR, row->error);
	if (row->failure == FAILURE_MODEL_NOT_FOUND)
		add_text(ledger->news.unreached, LEDGER_ERROR, row->model);
	ledger->torn = fd_write_all(ledger->lines_fd, buffer_text(&line), line.used) < 0;
	if (ledger->torn)
		return error_sys(err, "write the ledger beside '%s'", ledger->loop.path);
	note_lease(ledger, 0);
	if (ledger->open)
		open_requests_end(ledger->open, row->id);
	return turned; /* the line was written in any case */
}

/* Writes a line for money that was granted but is in no line. id: of its request, or 0. */
static int add_lost(struct ledger *ledger, uint64_t id, uint64_t nusd, struct error *err)
{
	const struct ledger_row row = {
		.id = id, .route = "lost", .cost_nusd = nusd, .estimated = 1, .known = 1
	};

	return nusd > 0 ? ledger_add(ledger, &row, err) : 0;
}

/* Returns whether the table knows what is under way, with how much of the lease it covers. */
static bool is_covered(const struct ledger *ledger, uint64_t now_ms, uint64_t *ret_covered)
{
	uint64_t unused;

	if (!ledger->open || !open_requests_cost(ledger->open, now_ms, &unused))
		return false;
	*ret_covered = ledger->open->leased;
	return true;
}

/* Adds a line for each open request, which frees its slot, and before them one for the part of the
 * open lease that the table does not cover. If this process is killed within, the next owner adds
 * the lines that are missing, and none twice. */
static int add_open(struct ledger *ledger, struct error *err)
{
	uint64_t open = open_lease(ledger);
	uint64_t now_ms = open_requests_now_ms();
	uint64_t covered = 0;
	uint64_t nusd = 0;

	if (!is_covered(ledger, now_ms, &covered))
		return add_lost(ledger, 0, open, err);
	if (open > covered && add_lost(ledger, 0, open - covered, err) < 0)
		return -1;
	for (size_t i = 0; i < OPEN_REQUESTS_SLOTS; i++) {
		uint64_t id = open_requests_cost_of(ledger->open, i, now_ms, &nusd);

		if (id && add_lost(ledger, id, nusd, err) < 0)
			return -1;
	}
	return 0;
}

/* Adds what was booked beyond the lease, or returns the unused rest. */
static void settle_lease(struct ledger *ledger)
{
	uint64_t over = ledger->booked > ledger->granted ? ledger->booked - ledger->granted : 0;
	uint64_t unused = open_lease(ledger);

	spend_file_add(&ledger->loop, over);
	spend_file_add(&ledger->day, over);
	ledger->own += over;
	ledger->own -= unused < ledger->own ? unused : ledger->own;
	spend_file_return(&ledger->loop, unused);
	spend_file_return(&ledger->day, unused);
}

int ledger_end_lease(struct ledger *ledger, bool in_order, struct error *err)
{
	int result = 0;

	if (!in_order && ledger->granted > 0)
		result = add_open(ledger, err);
	if ((ledger->granted > 0 || ledger->fresh > 0) && lock_both(ledger, err) == 0) {
		settle_lease(ledger);
		result = write_both(ledger, ledger->granted > ledger->booked, err);
		unlock_both(ledger);
	}
	ledger->before += ledger->booked;
	ledger->granted = ledger->booked = 0;
	ledger->loop.leased = ledger->day.leased = 0;
	if (ledger->open)
		open_requests_init(ledger->open);
	return result;
}

int ledger_open_requests(const struct ledger *ledger)
{
	return ledger->open ? ledger->open_fd : -1;
}

uint64_t ledger_spent(const struct ledger *ledger)
{
	return ledger->before + ledger->booked;
}

void ledger_add_refused(struct ledger *ledger, uint32_t count)
{
	ledger->news.refused += count;
}

void ledger_add_failure(struct ledger *ledger, uint32_t failure, const char *text)
{
	ledger->news.failure = failure;
	if (failure == FAILURE_REFUSED) {
		ledger->news.policy_refused++;
		add_text(ledger->news.policy_why, LEDGER_ERROR, text);
	}
	ledger->news.retry_at_ms = 0;
	ledger->news.unreached[0] = '\0';
	if (failure == FAILURE_UNREACHABLE || failure == FAILURE_REFUSED ||
	    failure == FAILURE_RUNAWAY)
		add_text(ledger->news.unreached, LEDGER_ERROR, text);
}

void ledger_add_stray(struct ledger *ledger, const char *text)
{
	add_text(ledger->news.stray, LEDGER_STRAY, text);
}

void ledger_add_tape(struct ledger *ledger, const char *text)
{
	add_text(ledger->news.tape, LEDGER_TAPE, text);
}

void ledger_get_news(const struct ledger *ledger, struct ledger_news *ret_news)
{
	*ret_news = ledger->news;
	ret_news->over = ledger->news.refused > 0;
	ret_news->cost_nusd = ledger_spent(ledger);
	ret_news->replay = ledger->replay;
}

uint64_t ledger_input(const struct ledger_news *news)
{
	uint64_t input = 0;

	for (size_t i = 0; i < PRICE_KINDS; i++)
		input += i == PRICE_OUTPUT ? 0 : news->tokens[i];
	return input;
}

/* Whether an owner was killed, or the disk was full, within a line. */
static bool is_torn(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char last = '\n';

	return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

/* Returns the number that follows a key in a line, or 0. */
static uint64_t number_in(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* Adds up the lines in the file, and frees the slots of their requests. Lines without an end do not
 * count; see is_torn(). */
static int sum_ledger(struct ledger *ledger, uint64_t *ret_sum)
{
	AUTO_FREE char *line = NULL;
	int again = fcntl(ledger->lines_fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = again >= 0 ? fdopen(again, "r") : NULL;
	uint64_t sum = 0;
	size_t room = 0;

	if (!file || fseek(file, 0, SEEK_SET) < 0)
		return -1;
	while (getline(&line, &room, file) > 0) {
		if (!strstr(line, "}\n"))
			continue;
		sum += number_in(line, "\"cost_nusd\":");
		if (ledger->open)
			open_requests_end(ledger->open, number_in(line, "\"id\":"));
	}
	fclose(file);
	*ret_sum = sum;
	return 0;
}

/* Corrects the day that a killed owner had charged, by what it has really spent. */
static int correct_day(struct ledger *ledger, uint64_t charged, uint64_t spent, struct error *err)
{
	struct spend_file_record *now = &ledger->day.now;
	uint64_t unused = charged > spent ? charged - spent : 0;
	uint64_t over = spent > charged ? spent - charged : 0;
	int result = 0;

	if (unused == over || !ledger->has_day)
		return 0;
	if (spend_file_lock(&ledger->day, err) < 0)
		return -1;
	if (over || now->period == ledger->open->day) {
		now->total += over - (unused < now->total ? unused : now->total);
		now->held += over - (unused < now->held ? unused : now->held);
		result = spend_file_write(&ledger->day, err);
	}
	spend_file_unlock(&ledger->day);
	return result;
}

/* Records the total of the loop, and corrects the day; in the order of write_both(). */
static int record_total(struct ledger *ledger, uint64_t total, bool leased, struct error *err)
{
	struct spend_file_record *now = &ledger->loop.now;
	uint64_t charged = now->total;

	if (leased && total > charged && correct_day(ledger, charged, total, err) < 0)
		return -1;
	now->held = now->held + total > charged ? now->held + total - charged : 0;
	now->total = now->booked = total;
	if (spend_file_write(&ledger->loop, err) < 0)
		return -1;
	return leased && total < charged ? correct_day(ledger, charged, total, err) : 0;
}

/* Books what a killed owner has spent, which may be more than its lease, and returns the rest of
 * the lease. leased: money that is in no line was leased. */
static int book_open(struct ledger *ledger, bool leased, struct error *err)
{
	const struct spend_file_record *now = &ledger->loop.now;
	uint64_t missing; /* lines that are certainly booked, but are not there */
	uint64_t lines;

	if (sum_ledger(ledger, &lines) < 0)
		return error_sys(err, "read the ledger beside '%s'", ledger->loop.path);
	if (!leased) {
		if (now->total > lines && add_lost(ledger, 0, now->total - lines, err) < 0)
			return -1;
		return record_total(ledger, now->total, leased, err);
	}
	missing = now->booked > lines ? now->booked - lines : 0;
	if (add_lost(ledger, 0, missing, err) < 0)
		return -1;
	/* Its lease is ours until it is settled, so that its lines count against it. */
	lines += missing;
	ledger->granted = now->total > lines ? now->total - lines : 0;
	ledger->booked = 0;
	if (add_open(ledger, err) < 0)
		return -1;
	return record_total(ledger, lines + ledger->booked, leased, err);
}

static bool is_unsettled(const struct ledger *ledger)
{
	uint64_t open;

	if (ledger->loop.now.total > ledger->loop.now.booked)
		return true;
	/* Requests can cost more than was leased. */
	return ledger->open && open_requests_cost(ledger->open, open_requests_now_ms(), &open) &&
	       open > 0;
}

/* Waits until a process that was killed has freed its lock. Returns 0, or -1 with errno. */
static int lock_soon(int fd)
{
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK || i == LOCK_TRIES)
			return -1;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return 0;
}

/* Takes the lock of all who spend from this folder. The kernel frees the locks of a killed owner
 * one after another, the table's before this one. */
static int lock_alive(const struct ledger *ledger)
{
	return ledger->alone ? lock_soon(ledger->alive) : flock(ledger->alive, LOCK_EX | LOCK_NB);
}

/* If an owner was killed, its lease is still open. If nobody else spends from this folder, all
 * money that is in no line was its own. */
static int recover(struct ledger *ledger, uint64_t spent, struct error *err)
{
	int result = 0;
	bool leased;

	if (lock_alive(ledger) < 0) {
		/* Another owner holds the lock only while it recovers. */
		while (flock(ledger->alive, LOCK_SH) < 0)
			if (errno != EINTR)
				return error_sys(err, "lock the ledger beside '%s'",
						 ledger->loop.path);
		return 0;
	}
	if (spend_file_lock(&ledger->loop, err) < 0)
		return -1;
	ledger->torn = is_torn(ledger->lines_fd);
	leased = ledger->loop.now.total >= spent; /* otherwise the file was lost */
	if (!leased)
		ledger->loop.now.total = spent;
	if (is_unsettled(ledger))
		result = book_open(ledger, leased, err);
	/* not part of our own lease */
	ledger->granted = ledger->booked = ledger->fresh = 0;
	ledger->news = (struct ledger_news){ 0 };
	spend_file_unlock(&ledger->loop);
	flock(ledger->alive, LOCK_SH);
	return result;
}

/* Returns the table's descriptor, locked, or -1. */
static int lock_table_file(const char *path)
{
	AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd >= 0 && lock_soon(fd) == 0 ? fd_steal(&fd) : -1;
}

/* Opens the table of a loop's folder, when the last gateway that used it is gone: it shares the
 * lock. Owners that share a folder cannot share a table. If a gateway does not end, a new file
 * replaces its table: the next owner would take what is in the old one for ours. *ret_alone: nobody
 * else has a table. */
static int open_table_file(const char *folder, bool *ret_alone)
{
	AUTO_FREE char *path = path_join(folder, "open-requests");
	AUTO_FD fd = lock_table_file(path);

	*ret_alone = fd >= 0;
	if (fd < 0 && unlink(path) == 0)
		fd = lock_table_file(path);
	/* A page without a block would be SIGBUS on a full disk. */
	if (fd < 0 || posix_fallocate(fd, 0, sizeof(struct open_requests)) != 0)
		return -1;
	return fd_steal(&fd);
}

/* Without a table, a crash costs the whole lease; nothing else changes. */
static void open_table(struct ledger *ledger, const struct ledger_options *options)
{
	void *memory = MAP_FAILED;

	ledger->open_fd = options->iteration ? open_table_file(options->folder, &ledger->alone)
					     : memfd_create("ringfence-open", MFD_CLOEXEC);
	if (ledger->open_fd >= 0 && ftruncate(ledger->open_fd, sizeof(struct open_requests)) == 0)
		memory = mmap(NULL, sizeof(struct open_requests), PROT_READ | PROT_WRITE,
			      MAP_SHARED, ledger->open_fd, 0);
	ledger->open = memory == MAP_FAILED ? NULL : memory;
}

int ledger_open(const struct ledger_options *options, struct ledger **ret_ledger, struct error *err)
{
	struct ledger *ledger = mem_zero(sizeof *ledger);
	AUTO_FREE char *lines = path_join(options->folder, "ledger.jsonl");
	AUTO_FREE char *alive = path_join(options->folder, "spend.lock");

	ledger->loop.fd = ledger->day.fd = ledger->lines_fd = ledger->alive = -1;
	ledger->open_fd = -1;
	ledger->has_day = options->day && !options->replay;
	ledger->replay = options->replay;
	memcpy(ledger->limits, options->limits, sizeof ledger->limits);
	ledger->budget_of = options->budget_of ? options->budget_of : "this run";
	ledger->budget_option = options->budget_option ? options->budget_option : "--budget";
	ledger->budget_whole = options->budget_whole ? options->budget_whole
						     : options->limits[LEDGER_ITERATION];
	ledger->period = options->period;
	ledger->iteration = options->iteration;
	ledger->agent = mem_dup(options->agent ? options->agent : "");
	ledger->review = options->review;
	ledger->lines_fd = open(lines, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	ledger->alive = open(alive, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (ledger->lines_fd < 0 || ledger->alive < 0) {
		error_sys(err, "open the ledger in '%s'", options->folder);
		ledger_close(ledger);
		return -1;
	}
	if (spend_file_open(&ledger->loop, path_join(options->folder, "spend"), err) < 0 ||
	    (ledger->has_day && spend_file_open(&ledger->day, mem_dup(options->day), err) < 0)) {
		ledger_close(ledger);
		return -1;
	}
	open_table(ledger, options);
	if (recover(ledger, options->spent, err) < 0) {
		ledger_close(ledger);
		return -1;
	}
	if (ledger->open)
		open_requests_init(ledger->open);
	*ret_ledger = ledger;
	return 0;
}

/* A missing file counts as 0. */
static int read_spend(const char *folder, struct spend_file_record *ret_record, struct error *err)
{
	AUTO_FREE char *path = path_join(folder, "spend");
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	*ret_record = (struct spend_file_record){ 0 };
	if (fd < 0 && errno != ENOENT)
		return error_sys(err, "open '%s'", path);
	return fd >= 0 ? spend_file_read(fd, path, ret_record, err) : 0;
}

int ledger_recover(const struct ledger_options *options, struct error *err)
{
	struct spend_file_record record;
	struct ledger *ledger;

	if (read_spend(options->folder, &record, err) < 0)
		return -1;
	if (record.number == 0)
		return 0; /* nothing was ever leased */
	if (ledger_open(options, &ledger, err) < 0)
		return -1;
	ledger_close(ledger);
	return 0;
}

void ledger_close(struct ledger *ledger)
{
	if (!ledger)
		return;
	if (ledger->lines_fd >= 0)
		fdatasync(ledger->lines_fd);
	fd_close(&ledger->loop.fd);
	fd_close(&ledger->day.fd);
	fd_close(&ledger->lines_fd);
	fd_close(&ledger->alive);
	if (ledger->open)
		munmap(ledger->open, sizeof *ledger->open);
	fd_close(&ledger->open_fd);
	free(ledger->loop.path);
	free(ledger->day.path);
	free(ledger->agent);
	free(ledger);
}

int ledger_booked(const char *folder, uint64_t *ret_nusd, struct error *err)
{
	struct spend_file_record record;

	if (read_spend(folder, &record, err) < 0)
		return -1;
	*ret_nusd = record.booked;
	return 0;
}

int ledger_read(const char *folder, uint64_t *ret_total, uint64_t *ret_period_key,
		uint64_t *ret_period, struct error *err)
{
	struct spend_file_record record;

	if (read_spend(folder, &record, err) < 0)
		return -1;
	*ret_total = record.total;
	*ret_period_key = record.period;
	*ret_period = record.held;
	return 0;
}
