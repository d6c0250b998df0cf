/* The live region of a loop as text: see live_text.h. */
#include "cli/view/live_text.h"

#include "cli/view/page.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "view/view_tail.h"

#include <stdlib.h>
#include <string.h>

enum {
	METERS = 3,
	GAP = 2,       /* columns between meters */
	BAR_LEAST = 5, /* columns of a bar */
	BAR_MOST = 20,
	WIDTH_MOST = 110,  /* columns that the region fills on a wide terminal */
	COMMAND_MOST = 30, /* columns of a check's command, if it also has a last line */
	MINUTE_MS = 60000,
	HOUR_MS = 3600000,
	WARN_PERMILLE = 850,
};

/* Appends "5s", "3m05s", "2h14m". */
static void add_time(struct buffer *out, int64_t ms)
{
	long long seconds = ms > 0 ? (long long)ms / 1000 : 0;

	if (seconds < 60)
		buffer_printf(out, "%llds", seconds);
	else if (seconds < 3600)
		buffer_printf(out, "%lldm%02llds", seconds / 60, seconds % 60);
	else
		buffer_printf(out, "%lldh%02lldm", seconds / 3600, seconds / 60 % 60);
}

static void add_usd(struct buffer *out, int64_t nusd)
{
	buffer_printf(out, "%.2f", (double)nusd / 1e9);
}

/* Appends untrusted text, escaped. */
static void add_safe(struct buffer *out, const char *text)
{
	AUTO_FREE char *line = mem_dup(text);

	view_tail_plain(line);
	text_escape(out, line);
}

static const char *dots(const struct live_text *text)
{
	return text->utf8 ? "\u2026" : "...";
}

/* Appends a text, cut to the columns. It may have a character that is wider than the dots. */
static void add_cut(const struct live_text *text, struct buffer *out, const char *line, int columns)
{
	int left = columns - page_columns(dots(text));

	if (page_columns(line) <= columns)
		buffer_add_text(out, line);
	else if (left > 0)
		buffer_printf(out, "%.*s%s", (int)page_first(line, left), line, dots(text));
}

/* Appends the check that runs, its command, and the last line that it has printed. */
static void add_check(const struct live_text *text, struct buffer *out)
{
	const struct view_now *now = text->now;
	AUTO_BUFFER struct buffer command = BUFFER_INIT(1 << 16);

	if (!now->check) {
		buffer_add_text(out, "looking at the result");
		return;
	}
	buffer_add_text(out, "check ");
	if (now->check_count > 1)
		buffer_printf(out, "%zu/%zu ", now->check_number, now->check_count);
	add_safe(&command, now->check);
	add_cut(text, out, buffer_text(&command), now->line ? COMMAND_MOST : 1 << 12);
	if (now->line) {
		buffer_add_text(out, ": ");
		add_safe(out, now->line);
	}
}

static void add_agent(const struct view_now *now, struct buffer *out)
{
	if (now->step == LOOP_STEP_review)
		buffer_add_text(out, "review by ");
	add_safe(out, now->agent ? now->agent : "the agent");
	buffer_add_text(out, ": ");
	add_safe(out, now->doing ? now->doing : "at work");
}

static void add_wait(const struct view_now *now, struct buffer *out)
{
	AUTO_FREE char *until = clock_text(now->until_ms, CLOCK_TIME);

	buffer_printf(out, "waiting until %s", until);
	if (now->reason) {
		buffer_add_text(out, ": ");
		add_safe(out, now->reason);
	}
}

/* Appends the sentence that tells what happens. */
static void add_now(const struct live_text *text, struct buffer *out)
{
	static const char *const sentences[LOOP_STEP_COUNT] = {
		[LOOP_STEP_new] = "starting",  [LOOP_STEP_ready] = "preparing the next iteration",
		[LOOP_STEP_paused] = "paused", [LOOP_STEP_closing] = "committing the rest",
		[LOOP_STEP_finished] = "over",
	};
	const struct view_now *now = text->now;

	if (now->wish == LOOP_WISH_PAUSE)
		buffer_add_text(out, "pausing after this iteration; ");
	else if (now->wish == LOOP_WISH_ABORT)
		buffer_add_text(out, "aborting; ");
	if (strcmp(now->status, "restarting") == 0)
		buffer_add_text(out, "restarting the supervisor");
	else if (sentences[now->step])
		buffer_add_text(out, sentences[now->step]);
	else if (now->step == LOOP_STEP_waiting)
		add_wait(now, out);
	else if (now->step == LOOP_STEP_mutants)
		buffer_printf(out, "trying change %zu/%zu of the agent's lines", now->check_number,
			      now->check_count);
	else if (now->step == LOOP_STEP_agent || now->step == LOOP_STEP_review)
		add_agent(now, out);
	else
		add_check(text, out);
}

static const char *paint(const struct live_text *text, const char *code)
{
	return text->color ? code : "";
}

/* Appends the first line: spinner, what happens, and at the right end for how long. */
static void add_first(const struct live_text *text, struct buffer *out)
{
	static const char *const fine[] = { "\u280b", "\u2819", "\u2839", "\u2838", "\u283c",
					    "\u2834", "\u2826", "\u2827", "\u2807", "\u280f" };
	static const char *const plain[] = { "|", "/", "-", "\\" };
	AUTO_BUFFER struct buffer line = BUFFER_INIT(1 << 16);
	AUTO_BUFFER struct buffer cut = BUFFER_INIT(1 << 16);
	AUTO_BUFFER struct buffer since = BUFFER_INIT(64);
	bool rests = text->now->step == LOOP_STEP_waiting || text->now->step == LOOP_STEP_paused;
	const char *frame = rests        ? "-"
			    : text->utf8 ? fine[text->spin % (sizeof fine / sizeof *fine)]
					 : plain[text->spin % (sizeof plain / sizeof *plain)];
	int room;

	add_time(&since, rests && text->now->until_ms ? text->now->until_ms - text->now_ms
						      : text->now_ms - text->now->since_ms);
	add_now(text, &line);
	room = text->width - 1 - 2 - GAP - (int)since.used;
	add_cut(text, &cut, buffer_text(&line), room);
	buffer_printf(out, "%s%s%s %s%*s%s%s%s\n", paint(text, "\033[32m"), frame,
		      paint(text, "\033[m"), buffer_text(&cut),
		      GAP + room - page_columns(buffer_text(&cut)), "", paint(text, "\033[2m"),
		      buffer_text(&since), paint(text, "\033[m"));
}

/* One limit as it is shown: "iteration 3/20 ----". */
struct meter {
	struct buffer label;
	uint32_t permille;
	bool limited; /* it has a bar */
};

static void add_total_time(struct buffer *out, int64_t ms)
{
	if (ms % HOUR_MS == 0)
		buffer_printf(out, "%lldh", (long long)(ms / HOUR_MS));
	else if (ms < HOUR_MS && ms % MINUTE_MS == 0)
		buffer_printf(out, "%lldm", (long long)(ms / MINUTE_MS));
	else
		add_time(out, ms);
}

static void fill_meters(const struct live_text *text, struct meter meters[METERS])
{
	static const enum view_limit_kind kinds[METERS] = { VIEW_LIMIT_iterations, VIEW_LIMIT_time,
							    VIEW_LIMIT_cost };
	const struct view_limits *limits = text->limits;
	const struct view_limit *of = limits->of;

	for (int i = 0; i < METERS; i++)
		meters[i] = (struct meter){ .label = BUFFER_INIT(128),
					    .permille = of[kinds[i]].permille,
					    .limited = of[kinds[i]].total > 0 };
	buffer_printf(&meters[0].label, "iteration %lld", (long long)of[kinds[0]].used);
	if (meters[0].limited)
		buffer_printf(&meters[0].label, "/%lld", (long long)of[kinds[0]].total);
	buffer_add_text(&meters[1].label, "time ");
	add_time(&meters[1].label, limits->elapsed_ms);
	if (meters[1].limited) {
		buffer_add_text(&meters[1].label, "/");
		add_total_time(&meters[1].label, of[kinds[1]].total);
	}
	buffer_add_text(&meters[2].label, "US$ ");
	add_usd(&meters[2].label, limits->cost_nusd);
	if (meters[2].limited) {
		buffer_add_text(&meters[2].label, "/");
		buffer_printf(&meters[2].label, "%g", (double)of[kinds[2]].total / 1e9);
	}
}

static void release_meters(struct meter meters[METERS])
{
	for (int i = 0; i < METERS; i++)
		buffer_release(&meters[i].label);
}

/* Appends a bar of this many columns. A part that is used up incompletely is shown as used. */
static void add_bar(const struct live_text *text, struct buffer *out, uint32_t permille,
		    int columns)
{
	int full = (int)(((uint64_t)permille * (unsigned)columns + 999) / 1000);
	const char *used = text->utf8 ? "\u2501" : "#";
	const char *rest = text->utf8 ? "\u2500" : "-";

	buffer_add_text(out, paint(text, permille >= WARN_PERMILLE ? "\033[33m" : "\033[32m"));
	for (int i = 0; i < full; i++)
		buffer_add_text(out, used);
	buffer_printf(out, "%s%s", paint(text, "\033[m"), paint(text, "\033[2m"));
	for (int i = full; i < columns; i++)
		buffer_add_text(out, rest);
	buffer_add_text(out, paint(text, "\033[m"));
}

/* Appends the cost of an hour, if it is known and there is room for it. */
static void add_rate(const struct live_text *text, struct buffer *out, int room)
{
	AUTO_BUFFER struct buffer rate = BUFFER_INIT(64);

	if (!text->limits->rate_nusd)
		return;
	add_usd(&rate, text->limits->rate_nusd);
	buffer_add_text(&rate, "/h");
	if (GAP + (int)rate.used <= room)
		buffer_printf(out, "%*s%s%s%s", GAP, "", paint(text, "\033[2m"), buffer_text(&rate),
			      paint(text, "\033[m"));
}

/* Returns how many columns each bar has if all meters are on one line; below BAR_LEAST, they do not
 * fit. */
static int bar_columns(const struct live_text *text, const struct meter meters[METERS])
{
	int used = GAP * (METERS - 1) + 2; /* and an indent */
	int bars = 0;

	for (int i = 0; i < METERS; i++) {
		used += (int)meters[i].label.used + meters[i].limited;
		bars += meters[i].limited;
	}
	if (text->limits->rate_nusd)
		used += GAP + (int)sizeof "00.00/h" - 1;
	if (!bars)
		return text->width - 1 >= used ? BAR_LEAST : 0;
	used = (text->width - 1 - used) / bars;
	return used < BAR_MOST ? used : BAR_MOST;
}

static void add_row(const struct live_text *text, struct buffer *out, struct meter meters[METERS],
		    int bar)
{
	int used = 2;

	buffer_add_text(out, "  ");
	for (int i = 0; i < METERS; i++) {
		buffer_printf(out, "%*s%s", i ? GAP : 0, "", buffer_text(&meters[i].label));
		used += (i ? GAP : 0) + (int)meters[i].label.used;
		if (!meters[i].limited)
			continue;
		buffer_add_text(out, " ");
		add_bar(text, out, meters[i].permille, bar);
		used += 1 + bar;
	}
	add_rate(text, out, text->width - 1 - used);
	buffer_add_text(out, "\n");
}

/* Appends the meters one below the other. */
static void add_column(const struct live_text *text, struct buffer *out,
		       struct meter meters[METERS])
{
	int wide = 0;
	int rate = text->limits->rate_nusd ? GAP + (int)sizeof "00.00/h" - 1 : 0;
	int bar;

	for (int i = 0; i < METERS; i++)
		wide = (int)meters[i].label.used > wide ? (int)meters[i].label.used : wide;
	bar = text->width - 1 - 2 - wide - 1 - rate;
	bar = bar < BAR_MOST ? bar : BAR_MOST;
	for (int i = 0; i < METERS; i++) {
		int used = 2;
		AUTO_BUFFER struct buffer label = BUFFER_INIT(256);

		add_cut(text, &label, buffer_text(&meters[i].label), text->width - 1 - 2);
		buffer_printf(out, "  %s", buffer_text(&label));
		used += page_columns(buffer_text(&label));
		if (meters[i].limited && bar >= BAR_LEAST) {
			buffer_printf(out, "%*s", 1 + wide - (int)label.used, "");
			add_bar(text, out, meters[i].permille, bar);
			used = 2 + wide + 1 + bar;
		}
		if (i == METERS - 1)
			add_rate(text, out, text->width - 1 - used);
		buffer_add_text(out, "\n");
	}
}

void live_text_add(const struct live_text *whole, struct buffer *out)
{
	struct live_text part = *whole;
	const struct live_text *text = &part;
	struct meter meters[METERS];
	int bar;

	if (part.width > WIDTH_MOST)
		part.width = WIDTH_MOST;
	fill_meters(text, meters);
	bar = bar_columns(text, meters);
	add_first(text, out);
	if (bar >= BAR_LEAST)
		add_row(text, out, meters, bar);
	else
		add_column(text, out, meters);
	release_meters(meters);
}

char *live_text_heartbeat(const struct live_text *text)
{
	AUTO_BUFFER struct buffer now = BUFFER_INIT(1 << 16);
	AUTO_BUFFER struct buffer line = BUFFER_INIT(1 << 16);
	struct meter meters[METERS];

	fill_meters(text, meters);
	for (int i = 0; i < METERS; i++)
		buffer_printf(&line, "%s%s", i ? ", " : "", buffer_text(&meters[i].label));
	release_meters(meters);
	add_now(text, &now);
	return mem_format("  ... %s; %s", buffer_text(&line), buffer_text(&now));
}
