/* The live region: a pure function of what happens, the limits and the width. */
#include "cli/view/live_text.h"
#include "cli/view/page.h"
#include "unit.h"

#include "util/mem.h"
#include "view/view_tail.h"

#include <stdlib.h>
#include <string.h>

enum { NOW_S = 1800000000 };
#define NOW_MS ((int64_t)NOW_S * 1000)
#define USD    INT64_C(1000000000)

static struct view_now now;
static struct view_limits limits;

/* An agent at work in iteration 3, after 12 minutes. */
static void reset(void)
{
	now = (struct view_now){ .step = LOOP_STEP_agent,
				 .status = "running",
				 .since_ms = NOW_MS - 95000,
				 .iteration = 3,
				 .attempt = 1,
				 .agent = "claude",
				 .doing = (char *)"Edit src/parser.c" };
	limits = (struct view_limits){
		.of = { [VIEW_LIMIT_iterations] = { 3, 20, 150 },
			[VIEW_LIMIT_time] = { 750000, 28800000, 26 },
			[VIEW_LIMIT_cost] = { 42 * USD / 100, 25 * USD, 16 } },
		.elapsed_ms = 750000,
		.cost_nusd = 42 * USD / 100,
		.rate_nusd = 2 * USD,
	};
}

/* Returns the region as text; valid until the next call. */
static const char *shown(int width, bool utf8, bool color)
{
	static char result[16384];
	AUTO_BUFFER struct buffer out = BUFFER_INIT(sizeof result - 1);
	const struct live_text text = { .now = &now,
					.limits = &limits,
					.now_ms = NOW_MS,
					.width = width,
					.utf8 = utf8,
					.color = color };

	live_text_add(&text, &out);
	snprintf(result, sizeof result, "%s", buffer_text(&out));
	return result;
}

/* Removes colours, in place. */
static void strip(char *text)
{
	view_tail_plain(text);
}

/* Every line ends with a newline, is narrower than the terminal, and has no control characters. */
static bool fits(int width, bool utf8)
{
	AUTO_FREE char *text = mem_dup(shown(width, utf8, true));
	int lines = 0;
	char *rest = NULL;

	strip(text);
	if (!*text || text[strlen(text) - 1] != '\n')
		return false;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		for (const char *at = line; *at; at++)
			if ((unsigned char)*at < 0x20 || *at == 0x7f)
				return false;
		if (page_columns(line) >= width)
			return false;
		lines++;
	}
	return lines >= 2 && lines <= LIVE_TEXT_LINES;
}

static bool fits_everywhere(void)
{
	for (int width = LIVE_TEXT_NARROW; width <= 240; width++)
		if (!fits(width, true) || !fits(width, false))
			return false;
	return true;
}

static void check_goldens(void)
{
	reset();
	CHECK("80 columns have all limits on one line",
	      strcmp(shown(80, false, false), "| claude: Edit src/parser.c                        "
					      "                       1m35s\n"
					      "  iteration 3/20 ##-----  time 12m30s/8h #------  "
					      "US$ 0.42/25 #------  2.00/h\n") == 0);
	CHECK("40 columns have a line for each limit",
	      strcmp(shown(40, false, false), "| claude: Edit src/parser.c       1m35s\n"
					      "  iteration 3/20 ##-----------\n"
					      "  time 12m30s/8h #------------\n"
					      "  US$ 0.42/25    #------------  2.00/h\n") == 0);
	CHECK("200 columns are not used up",
	      strcmp(shown(200, false, false),
		     "| claude: Edit src/parser.c                                 "
		     "                                            1m35s\n"
		     "  iteration 3/20 ###--------------  time 12m30s/8h #--------"
		     "--------  US$ 0.42/25 #----------------  2.00/h\n") == 0);
	CHECK("with UTF-8, bars and spinner are finer",
	      strstr(shown(80, true, false), "\u280b claude: ") &&
		      strstr(shown(80, true, false), "3/20 \u2501\u2501\u2500\u2500"));
	CHECK("without colours there is no escape character", !strchr(shown(80, true, false), 033));
	CHECK("with colours there is", strchr(shown(80, true, true), 033));
}

static void check_steps(void)
{
	reset();
	now.step = LOOP_STEP_checks;
	now.check = "npm test";
	now.check_number = 2;
	now.check_count = 3;
	now.line = (char *)"12 passing";
	CHECK("a check is shown with the last line that it printed",
	      strstr(shown(80, false, false), "| check 2/3 npm test: 12 passing "));
	now.check = "a very long command line that leaves no room for its output && another";
	CHECK("a long command leaves room for it",
	      strstr(shown(80, false, false), "a very long command line th...: 12 passing "));
	now.step = LOOP_STEP_waiting;
	now.until_ms = NOW_MS + 125000;
	now.reason = (char *)"the provider's limit";
	CHECK("a wait tells until when and why, and how long it still takes",
	      strstr(shown(80, false, false), "- waiting until ") &&
		      strstr(shown(80, false, false), ": the provider's limit  ") &&
		      strstr(shown(80, false, false), " 2m05s\n"));
	reset();
	now.wish = LOOP_WISH_PAUSE;
	CHECK("a requested pause is shown",
	      strstr(shown(80, false, false), "| pausing after this iteration; claude: Edit"));
	reset();
	now.agent = NULL;
	now.doing = NULL;
	CHECK("an agent that has not printed anything is at work",
	      strstr(shown(80, false, false), "| the agent: at work "));
	limits.of[VIEW_LIMIT_iterations].total = limits.of[VIEW_LIMIT_cost].total = 0;
	CHECK("without a limit there is no bar",
	      strstr(shown(120, false, false), "  iteration 3  time 12m30s/8h #") &&
		      strstr(shown(120, false, false), "  US$ 0.42  2.00/h\n"));
}

static void check_widths(void)
{
	static const char *const texts[] = {
		"Edit src/parser.c",
		"\u65e5\u672c\u8a9e\u306e\u30d5\u30a1\u30a4\u30eb\u540d.c \u65e5\u672c\u8a9e\u306e\u30d5"
		"\u30a1\u30a4\u30eb\u540d\u65e5\u672c\u8a9e\u306e\u30d5\u30a1\u30a4\u30eb\u540d\u65e5\u672c"
		"\u8a9e\u306e\u30d5\u30a1\u30a4\u30eb\u540d\u65e5\u672c\u8a9e\u306e\u30d5\u30a1\u30a4\u30eb",
		"e\u0301a\u0308o\u0302\u0301e\u0301a\u0308o\u0302\u0301e\u0301a\u0308o\u0302\u0301",
		"\033[2J\033[31mred\033[m \a\b\r\n\t \u202eevil \xff\xfe \x9b",
		"\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600\U0001f600",
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		reset();
		now.doing = (char *)texts[i];
		CHECK("no line is as wide as the terminal", fits_everywhere());
	}
	reset();
	limits.cost_nusd = 123456 * USD;
	limits.rate_nusd = 99999 * USD;
	limits.elapsed_ms = INT64_C(3600000) * 12345;
	limits.of[VIEW_LIMIT_iterations] = (struct view_limit){ 123456, 1000000, 123 };
	limits.of[VIEW_LIMIT_cost] = (struct view_limit){ limits.cost_nusd, 1000000 * USD, 1000 };
	CHECK("no line with large numbers is as wide as the terminal", fits_everywhere());
}

static void check_cut(void)
{
	AUTO_FREE char *long_text = NULL;

	reset();
	now.doing = (char *)"\u65e5\u672c\u8a9e\u306e\u30d5\u30a1\u30a4\u30eb\u540d";
	CHECK("a text that is too long is cut between wide characters",
	      strstr(shown(30, true, false), "claude: \u65e5\u672c\u8a9e\u306e\u30d5\u2026 "));
	now.doing = (char *)"xxxxxxxxxxxx e\u0301e\u0301e\u0301e\u0301";
	long_text = mem_dup(shown(30, true, false));
	CHECK("a combining character stays with its letter", !strstr(long_text, "e\u2026"));
}

static void check_heartbeat(void)
{
	const struct live_text text = { .now = &now, .limits = &limits, .now_ms = NOW_MS };
	AUTO_FREE char *line = NULL;

	reset();
	line = live_text_heartbeat(&text);
	CHECK("a heartbeat is one line with everything",
	      strcmp(line, "  ... iteration 3/20, time 12m30s/8h, US$ 0.42/25; claude: Edit "
			   "src/parser.c") == 0);
}

static void check_limits(void)
{
	struct loop_state state;
	struct view_limits of;

	loop_state_init(&state);
	state.created_ms = NOW_MS - 7200000;
	state.rested_ms = 3600000;
	state.iteration = 3;
	state.options.limits.iterations = 4;
	state.options.limits.total_s = 7200;
	state.options.limits.cost_nusd = 10 * USD;
	view_limits_sum(&state, 20 * USD, NOW_MS, &of);
	CHECK("pauses do not count as time",
	      of.elapsed_ms == 3600000 && of.of[VIEW_LIMIT_time].permille == 500);
	CHECK("more than a limit is the whole limit", of.of[VIEW_LIMIT_cost].permille == 1000);
	CHECK("the rate is of the time at work", of.rate_nusd == 20 * USD);
	state.step = LOOP_STEP_paused;
	state.step_ms = NOW_MS - 1800000;
	view_limits_tick(&of, &state, NOW_MS);
	CHECK("the clock of a paused loop stands still", of.elapsed_ms == 1800000);
	state.created_ms = NOW_MS - 1000;
	state.rested_ms = 0;
	state.step = LOOP_STEP_agent;
	view_limits_tick(&of, &state, NOW_MS);
	CHECK("the rate of a loop that has just begun is not known", of.rate_nusd == 0);
	loop_state_release(&state);
}

static bool last_is(const char *log, const char *wanted)
{
	AUTO_FREE char *line = view_tail_line(log, strlen(log));

	return wanted ? line && strcmp(line, wanted) == 0 : !line;
}

static void check_tail(void)
{
	CHECK("the last line that is not blank counts", last_is("one\ntwo\n\n \r\n", "two"));
	CHECK("of a progress bar, the last state counts", last_is("a\n10%\r20%\r", "20%"));
	CHECK("colours are removed, tabs are spaces", last_is("\033[1;31mred\033[m\tx", "red x"));
	CHECK("an empty log has no last line", last_is(" \n", NULL));
}

int main(void)
{
	check_goldens();
	check_steps();
	check_widths();
	check_cut();
	check_heartbeat();
	check_limits();
	check_tail();
	return unit_failures > 0;
}
