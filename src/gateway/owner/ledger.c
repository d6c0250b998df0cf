/* The books of a gateway's owner: see ledger.h. */
#include "gateway/owner/ledger.h"

#include "failure/failure.h"
#include "gateway/owner/spend_file.h"
#include "meter/money.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum {
	STEP_NUSD = 100000000
}; /* US$ 0.10: what a crash can add to the spend, beyond what was on its way */

enum { ROUND_NUSD = 100000 }; /* US$ 0.0001: as exact as amounts need be in a sentence */

struct ledger {
	struct spend_file loop, day;
	uint64_t lease_day; /* for which what is open of the lease counts */
	bool has_day;
	int ledger;
	int alive; /* whose lock says that somebody spends from this folder */
	uint64_t limits[LEDGER_SCOPES];
	uint64_t period;
	uint32_t iteration;
	bool replay;
	char *agent;
	uint64_t
		own; /* granted to this owner in its period: others that share the folder begin periods of theirs */
	uint64_t granted; /* of the lease */
	uint64_t booked;  /* lines of the lease */
	uint64_t before;  /* lines of leases before it */
	uint64_t fresh;   /* lines that the purse does not know of yet */
	struct ledger_news news;
};

/* Days of this machine's clock on the wall. */
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

/* The scope with the least left, and how much that is. */
static enum ledger_scope narrowest(const struct ledger *books, uint64_t *ret_left)
{
	uint64_t held = books->loop.now.held > books->own ? books->loop.now.held : books->own;
	const uint64_t left[LEDGER_SCOPES] = {
		[LEDGER_ITERATION] = rest(books->limits[LEDGER_ITERATION], held),
		[LEDGER_LOOP] = rest(books->limits[LEDGER_LOOP], books->loop.now.total),
		[LEDGER_DAY] = books->has_day ? rest(books->limits[LEDGER_DAY], books->day.now.held)
					      : MONEY_NO_LIMIT,
	};
	size_t least = 0;

	for (size_t i = 1; i < LEDGER_SCOPES; i++)
		if (left[i] < left[least])
			least = i;
	*ret_left = left[least];
	return least;
}

/* What was granted and has no line yet. */
static uint64_t open_lease(const struct ledger *books)
{
	return books->granted > books->booked ? books->granted - books->booked : 0;
}

/* Money counts for the day on which it is spent: what is open of a lease goes over into the next one. */
static void enter_day(struct ledger *books)
{
	uint64_t now = today();

	spend_file_enter(&books->day, now);
	if (books->lease_day && books->lease_day != now) {
		books->day.now.held += open_lease(books);
		books->day.leased = open_lease(books);
	}
	books->lease_day = now;
}

static int lock_both(struct ledger *books, struct error *err)
{
	if (spend_file_lock(&books->loop, err) < 0)
		return -1;
	spend_file_enter(&books->loop, books->period);
	if (books->has_day && spend_file_lock(&books->day, err) < 0) {
		spend_file_unlock(&books->loop);
		return -1;
	}
	if (books->has_day)
		enter_day(books);
	return 0;
}

static int write_both(struct ledger *books, struct error *err)
{
	/* Lines that the purse counts as written must be. */
	if (books->fresh > 0 && fdatasync(books->ledger) < 0)
		return error_sys(err, "write the ledger beside '%s'", books->loop.path);
	books->loop.now.booked += books->fresh;
	books->fresh = 0;
	if (books->has_day && spend_file_write(&books->day, err) < 0)
		return -1;
	return spend_file_write(&books->loop, err);
}

static void unlock_both(struct ledger *books)
{
	if (books->has_day)
		spend_file_unlock(&books->day);
	spend_file_unlock(&books->loop);
}

static void add_rounded(struct buffer *out, uint64_t nusd, bool up)
{
	uint64_t odd = nusd % ROUND_NUSD;

	price_add_usd(out, nusd - odd + (up && odd ? ROUND_NUSD : 0), 2);
}

/* need: what a request could cost, of which nothing is spent yet; 0: it is spent. */
static void say_why(const struct ledger *books, enum ledger_scope scope, uint64_t need,
		    uint64_t left, char ret_why[LEDGER_WHY])
{
	static const struct {
		const char *of, *key;
	} names[LEDGER_SCOPES] = {
		[LEDGER_ITERATION] = { "this iteration", "budget" },
		[LEDGER_LOOP] = { "this loop", "max-cost" },
		[LEDGER_DAY] = { "today", "daily-budget" },
	};
	AUTO_BUFFER struct buffer text = BUFFER_INIT(2 * LEDGER_WHY);
	const char *of = scope == LEDGER_ITERATION && !books->iteration ? "this run"
									: names[scope].of;

	if (need > 0 && left > 0) {
		buffer_add_text(&text, "a request could cost US$ ");
		add_rounded(&text, need, true);
		buffer_add_text(&text, ", and US$ ");
		add_rounded(&text, left, false);
		buffer_printf(&text, " is left of %s's US$ ", of);
		price_add_usd(&text, books->limits[scope], 2);
		buffer_printf(&text, "; --%s changes it", names[scope].key);
	} else {
		buffer_printf(&text, "the money of %s is used up: US$ ", of);
		price_add_usd(&text, books->limits[scope], 2);
		buffer_printf(&text, " (%s)", names[scope].key);
	}
	snprintf(ret_why, LEDGER_WHY, "%s", buffer_text(&text));
}

int ledger_lease(struct ledger *books, uint64_t nusd, bool must, uint64_t *ret_granted,
		 uint64_t *ret_left, char ret_why[LEDGER_WHY], struct error *err)
{
	uint64_t wanted = must ? nusd : (nusd + STEP_NUSD - 1) / STEP_NUSD * STEP_NUSD;
	enum ledger_scope scope;
	uint64_t left;
	int result = 0;

	if (lock_both(books, err) < 0)
		return -1;
	scope = narrowest(books, &left);
	if (!must && wanted > left)
		wanted = left;
	ret_why[0] = '\0';
	if (nusd > left) {
		/* What is open is the request's, too: while others have a part of it they are waited for. */
		say_why(books, scope, must ? 0 : open_lease(books) + nusd, open_lease(books) + left,
			ret_why);
		books->news.scope = scope;
		memcpy(books->news.why, ret_why, sizeof books->news.why);
	}
	if (wanted > 0) {
		books->own += wanted;
		spend_file_add(&books->loop, wanted);
		spend_file_add(&books->day, wanted);
		result = write_both(books, err);
	}
	narrowest(books, &left);
	unlock_both(books);
	if (result < 0)
		return -1;
	books->granted += wanted;
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

/* Midnight has passed, and nobody has asked for money since: says so to the purse of the day. */
static int turn_day(struct ledger *books, struct error *err)
{
	int result;

	if (!books->has_day || !books->lease_day || books->lease_day == today())
		return 0;
	if (lock_both(books, err) < 0)
		return -1;
	result = write_both(books, err);
	unlock_both(books);
	return result;
}

/* The first one counts. */
static void add_text(char *into, size_t room, const char *text)
{
	if (into[0])
		return;
	snprintf(into, room, "%.*s", (int)room - 1, text); /* the text may have no end */
	/* The gateway has read foreign bytes. */
	for (char *at = into; *at; at++)
		if (*at == '\x7f' || (unsigned char)*at < 0x20)
			*at = '?';
}

int ledger_add(struct ledger *books, const struct ledger_row *row, struct error *err)
{
	static const char *const kinds[PRICE_KINDS] = { "input", "output", "write_5m", "write_1h",
							"read" };
	AUTO_BUFFER struct buffer line = BUFFER_INIT(8192);
	int turned = turn_day(books, err);

	buffer_printf(&line, "{\"at_ms\":%" PRId64, clock_wall_ms());
	if (books->iteration)
		add_number(&line, "iteration", books->iteration);
	add_field(&line, "agent", books->agent, 64);
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
	buffer_printf(&line, ",\"estimated\":%s", row->estimated ? "true" : "false");
	add_number(&line, "status", row->status);
	if (row->failure > FAILURE_NONE && row->failure < FAILURES)
		add_field(&line, "failure", failure_row(row->failure)->ledger_name, 64);
	add_field(&line, "error", row->error, sizeof row->error);
	if (row->retry_at_ms > 0)
		add_number(&line, "retry_at_ms", (uint64_t)row->retry_at_ms);
	add_number(&line, "first_ms", row->first_ms);
	add_number(&line, "duration_ms", row->duration_ms);
	if (books->replay)
		buffer_add_text(&line, ",\"replay\":true");
	buffer_add_text(&line, "}\n");
	books->booked += row->cost_nusd;
	books->fresh += row->cost_nusd;
	books->news.requests += row->provider[0] != '\0'; /* what was lost is none */
	books->news.free_requests += row->provider[0] && row->free;
	for (size_t i = 0; i < PRICE_KINDS; i++)
		books->news.tokens[i] += row->tokens[i];
	books->news.failure = row->failure;
	books->news.retry_at_ms = row->retry_at_ms;
	books->news.unreached[0] = '\0';
	if (row->failure == FAILURE_UNREACHABLE)
		add_text(books->news.unreached, LEDGER_ERROR, row->error);
	if (fd_write_all(books->ledger, buffer_text(&line), line.used) < 0)
		return error_sys(err, "write the ledger beside '%s'", books->loop.path);
	return turned; /* the line is there all the same */
}

/* What was granted and is in no line gets one. */
static int add_lost(struct ledger *books, uint64_t nusd, struct error *err)
{
	const struct ledger_row row = {
		.route = "lost", .cost_nusd = nusd, .estimated = 1, .known = 1
	};

	return nusd > 0 ? ledger_add(books, &row, err) : 0;
}

int ledger_end_lease(struct ledger *books, bool in_order, struct error *err)
{
	uint64_t unused = books->granted > books->booked ? books->granted - books->booked : 0;
	int result = 0;

	if (!in_order)
		result = add_lost(books, unused, err);
	if ((books->granted > 0 || books->fresh > 0) && lock_both(books, err) == 0) {
		if (in_order)
			books->own -= unused < books->own ? unused : books->own;
		spend_file_take(&books->loop, in_order ? unused : 0);
		spend_file_take(&books->day, in_order ? unused : 0);
		result = write_both(books, err);
		unlock_both(books);
	}
	books->before += books->booked;
	books->granted = books->booked = 0;
	books->loop.leased = books->day.leased = 0;
	return result;
}

uint64_t ledger_spent(const struct ledger *books)
{
	return books->before + books->booked;
}

void ledger_add_refused(struct ledger *books, uint32_t count)
{
	books->news.refused += count;
}

void ledger_add_failure(struct ledger *books, uint32_t failure, const char *text)
{
	books->news.failure = failure;
	books->news.retry_at_ms = 0;
	books->news.unreached[0] = '\0';
	if (failure == FAILURE_UNREACHABLE)
		add_text(books->news.unreached, LEDGER_ERROR, text);
}

void ledger_add_stray(struct ledger *books, const char *text)
{
	add_text(books->news.stray, LEDGER_STRAY, text);
}

void ledger_add_tape(struct ledger *books, const char *text)
{
	add_text(books->news.tape, LEDGER_TAPE, text);
}

void ledger_tell(const struct ledger *books, struct ledger_news *ret_news)
{
	*ret_news = books->news;
	ret_news->over = books->news.refused > 0;
	ret_news->cost_nusd = ledger_spent(books);
	ret_news->replay = books->replay;
}

uint64_t ledger_input(const struct ledger_news *news)
{
	uint64_t input = 0;

	for (size_t i = 0; i < PRICE_KINDS; i++)
		input += i == PRICE_OUTPUT ? 0 : news->tokens[i];
	return input;
}

/* The sum of the lines that are there. */
static int sum_ledger(int fd, uint64_t *ret_sum)
{
	static const char key[] = "\"cost_nusd\":";
	AUTO_FREE char *line = NULL;
	int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = again >= 0 ? fdopen(again, "r") : NULL;
	uint64_t sum = 0;
	size_t room = 0;

	if (!file || fseek(file, 0, SEEK_SET) < 0)
		return -1;
	while (getline(&line, &room, file) > 0) {
		const char *at = strstr(line, key);

		sum += at ? strtoull(at + sizeof key - 1, NULL, 10) : 0;
	}
	fclose(file);
	*ret_sum = sum;
	return 0;
}

/* An owner that was killed left a lease open. If nobody else spends from here, what is in no line was its own. */
static int recover(struct ledger *books, struct error *err)
{
	uint64_t lines;

	if (flock(books->alive, LOCK_EX | LOCK_NB) < 0) {
		/* Whoever looks after them at this moment needs no longer than that. */
		while (flock(books->alive, LOCK_SH) < 0)
			if (errno != EINTR)
				return error_sys(err, "lock the books beside '%s'",
						 books->loop.path);
		return 0;
	}
	if (spend_file_lock(&books->loop, err) < 0)
		return -1;

	int result = 0;

	if (books->loop.now.total > books->loop.now.booked) {
		if (sum_ledger(books->ledger, &lines) < 0)
			result = error_sys(err, "read the ledger beside '%s'", books->loop.path);
		else if (books->loop.now.total > lines)
			result = add_lost(books, books->loop.now.total - lines, err);
		books->loop.now.booked = books->loop.now.total;
		if (result == 0)
			result = spend_file_write(&books->loop, err);
	}
	books->booked = books->fresh = 0; /* that is not of our own lease */
	spend_file_unlock(&books->loop);
	flock(books->alive, LOCK_SH);
	return result;
}

int ledger_open(const struct ledger_options *options, struct ledger **ret_books, struct error *err)
{
	struct ledger *books = mem_zero(sizeof *books);
	AUTO_FREE char *ledger = path_join(options->folder, "ledger.jsonl");
	AUTO_FREE char *alive = path_join(options->folder, "spend.lock");

	books->loop.fd = books->day.fd = books->ledger = books->alive = -1;
	books->has_day = options->day && !options->replay;
	books->replay = options->replay;
	memcpy(books->limits, options->limits, sizeof books->limits);
	books->period = options->period;
	books->iteration = options->iteration;
	books->agent = mem_dup(options->agent ? options->agent : "");
	books->ledger = open(ledger, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	books->alive = open(alive, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (books->ledger < 0 || books->alive < 0) {
		error_sys(err, "open the ledger in '%s'", options->folder);
		ledger_close(books);
		return -1;
	}
	if (spend_file_open(&books->loop, path_join(options->folder, "spend"), err) < 0 ||
	    (books->has_day && spend_file_open(&books->day, mem_dup(options->day), err) < 0) ||
	    recover(books, err) < 0) {
		ledger_close(books);
		return -1;
	}
	*ret_books = books;
	return 0;
}

void ledger_close(struct ledger *books)
{
	if (!books)
		return;
	if (books->ledger >= 0)
		fdatasync(books->ledger);
	fd_close(&books->loop.fd);
	fd_close(&books->day.fd);
	fd_close(&books->ledger);
	fd_close(&books->alive);
	free(books->loop.path);
	free(books->day.path);
	free(books->agent);
	free(books);
}

int ledger_read(const char *folder, uint64_t *ret_total, uint64_t *ret_period_key,
		uint64_t *ret_period, struct error *err)
{
	AUTO_FREE char *path = path_join(folder, "spend");
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct spend_file_record record = { 0 };

	if (fd < 0 && errno != ENOENT)
		return error_sys(err, "open '%s'", path);
	if (fd >= 0 && spend_file_read(fd, path, &record, err) < 0)
		return -1;
	*ret_total = record.total;
	*ret_period_key = record.period;
	*ret_period = record.held;
	return 0;
}
