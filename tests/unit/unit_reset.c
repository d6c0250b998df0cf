/* Reset times in providers' messages. */
#include "unit.h"

#include "decision/reset.h"

#include "util/mem.h"

#include <string.h>

/* A zone is its winter offset and, between two UTC times, an hour more. */
struct summer {
	const char *name;
	int32_t winter;
	int64_t begin, end;
};

/*
 * 2026 and 2027 as in the zone database; Kathmandu's offset is not a whole hour, Apia is far ahead.
 */
static const struct summer zones[] = {
	{ "Europe/Vilnius", 7200, 1774746000, 1792890000 },
	{ "America/New_York", -18000, 1772953200, 1793512800 },
	{ "America/Chicago", -21600, 1772956800, 1793516400 },
	{ "America/Denver", -25200, 1772960400, 1793520000 },
	{ "America/Los_Angeles", -28800, 1772964000, 1793523600 },
	{ "Asia/Kathmandu", 20700, 0, 0 },
	{ "Pacific/Apia", 46800, 0, 0 },
	{ "Etc/GMT+12", -43200, 0, 0 },
	{ "Japan", 32400, 0, 0 },
	{ "IST", 19800, 0, 0 },
};

/* The context names the zone of the test machine. */
static int offset(void *context, const char *name, int64_t utc, int32_t *ret_seconds)
{
	name = name ? name : context;
	for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
		if (strcmp(zones[i].name, name) != 0)
			continue;
		*ret_seconds = zones[i].winter +
			       (utc >= zones[i].begin && utc < zones[i].end ? 3600 : 0);
		return 0;
	}
	return -1;
}

static char vilnius[] = "Europe/Vilnius";
static char new_york[] = "America/New_York";

struct sample {
	const char *text;
	int64_t expected; /* seconds from now, or REFUSED */
};

enum { MINUTE = 60, HOUR = 3600, DAY = 86400, REFUSED = -1000000 };

static void table(const char *what, const struct sample *samples, size_t count, int64_t now,
		  char *here)
{
	const struct civil_zone zone = { .offset = offset, .context = here };

	for (size_t i = 0; i < count; i++) {
		AUTO_FREE char *sentence = mem_format("%s: '%s'", what, samples[i].text);
		int64_t time = now + REFUSED;
		int done = reset_time(samples[i].text, strlen(samples[i].text), now, &zone, &time);

		if (time - now != samples[i].expected)
			printf("# got %lld\n", (long long)(time - now));
		CHECK(sentence, time - now == samples[i].expected &&
					(done == 0) == (samples[i].expected != REFUSED));
	}
}

#define TABLE(what, samples, now, here) \
	table(what, samples, sizeof(samples) / sizeof(samples)[0], now, here)

/* Wednesday, 18 November 2026, 14:20:00 in Vilnius: 12:20 UTC. */
#define WEDNESDAY INT64_C(1795004400)

static const struct sample clocks[] = {
	{ "You've hit your limit · resets 5pm (Europe/Vilnius)", 2 * HOUR + 40 * MINUTE },
	{ "You've hit your limit \xc2\xb7 resets 5pm", 2 * HOUR + 40 * MINUTE },
	{ "You're out of extra usage · resets 9pm", 6 * HOUR + 40 * MINUTE },
	{ "Claude usage limit reached. Your limit will reset at 7pm", 4 * HOUR + 40 * MINUTE },
	{ "Claude usage limit reached. Your limit will reset at 7pm (America/New_York).",
	  11 * HOUR + 40 * MINUTE },
	{ "You've hit your usage limit. Upgrade to Pro or try again at 3:05 PM.", 45 * MINUTE },
	/* As the programs in the tests print them. */
	{ "You\xe2\x80\x99ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit "
	  "https://chatgpt.com/settings/usage to purchase more credits or try again at 3:05 PM.",
	  45 * MINUTE },
	{ "You've hit your 5-hour limit \xc2\xb7 resets 3:05pm (Europe/Vilnius)", 45 * MINUTE },
	{ "[API Error: You exceeded your current quota. Please retry in 7200s.", 2 * HOUR },
	{ "try again at 3:05\xe2\x80\xafPM.", 45 * MINUTE },
	{ "try again at 3:05\xc2\xa0p.m.", 45 * MINUTE },
	{ "resets 12am", 9 * HOUR + 40 * MINUTE },
	{ "resets 12pm", 21 * HOUR + 40 * MINUTE },
	{ "resets 12:30 A.M.", 10 * HOUR + 10 * MINUTE },
	{ "resets 2pm", 23 * HOUR + 40 * MINUTE },
	{ "resets 2:20pm", 0 },
	{ "resets 14:19", -60 },
	{ "resets 14:18", DAY - 2 * MINUTE },
	{ "resets at 17:00", 2 * HOUR + 40 * MINUTE },
	{ "resets at 17:00:30", 2 * HOUR + 40 * MINUTE + 30 },
	{ "resets 00:00", 9 * HOUR + 40 * MINUTE },
	{ "resets 9:30", 19 * HOUR + 10 * MINUTE },
	{ "Resets at 5.30 pm", 3 * HOUR + 10 * MINUTE },
	{ "RESETS 5PM", 2 * HOUR + 40 * MINUTE },
	{ "resets: **5 Pm**", 2 * HOUR + 40 * MINUTE },
	{ "resets – 5pm", 2 * HOUR + 40 * MINUTE },
	{ "limit reached — resets 5pm — upgrade for more", 2 * HOUR + 40 * MINUTE },
	{ "limit reached • resets 5pm • 3 requests left", 2 * HOUR + 40 * MINUTE },
	{ "resets 5pm UTC", 4 * HOUR + 40 * MINUTE },
	{ "resets 5pm (UTC)", 4 * HOUR + 40 * MINUTE },
	{ "resets 5pm (GMT+1)", 3 * HOUR + 40 * MINUTE },
	{ "resets 5pm UTC-05:00", 9 * HOUR + 40 * MINUTE },
	{ "resets 9am PST", 4 * HOUR + 40 * MINUTE },
	{ "resets 9 AM Pacific Time", 4 * HOUR + 40 * MINUTE },
	{ "resets 9am PT", 4 * HOUR + 40 * MINUTE },
	{ "resets 5pm (Asia/Kathmandu)", 22 * HOUR + 55 * MINUTE },
	{ "resets 5pm Asia/Kathmandu.", 22 * HOUR + 55 * MINUTE },
	{ "resets 2am (Pacific/Apia)", 40 * MINUTE },
	{ "resets 1am (Etc/GMT+12)", 40 * MINUTE },
	{ "resets 10pm (Japan)", 40 * MINUTE },
	{ "resets 6pm IST", 10 * MINUTE },
	{ "resets 5pm Asia and beyond", 2 * HOUR + 40 * MINUTE },
	{ "resets 5pm MARS/", 2 * HOUR + 40 * MINUTE },
	{ "resets 5pm (local time)", 2 * HOUR + 40 * MINUTE },
	{ "resets at noon", 21 * HOUR + 40 * MINUTE },
	{ "Please wait until midnight.", 9 * HOUR + 40 * MINUTE },
	{ "Quota exceeded. Available again at 15:00", 40 * MINUTE },
	{ "resets 5pm and then again at 9pm", 2 * HOUR + 40 * MINUTE },
};

static const struct sample dates[] = {
	{ "resets Nov 20, 5pm", 2 * DAY + 2 * HOUR + 40 * MINUTE },
	{ "resets Nov 20 at 5pm (Europe/Vilnius)", 2 * DAY + 2 * HOUR + 40 * MINUTE },
	{ "resets November 20th, 2026 5:00 PM", 2 * DAY + 2 * HOUR + 40 * MINUTE },
	{ "try again at Nov 20th, 2026 3:05 PM.", 2 * DAY + 45 * MINUTE },
	{ "resets 20 Nov 2026 17:00", 2 * DAY + 2 * HOUR + 40 * MINUTE },
	{ "resets at 5pm on Nov 20", 2 * DAY + 2 * HOUR + 40 * MINUTE },
	{ "resets on the 20th of November at 5pm", 2 * DAY + 2 * HOUR + 40 * MINUTE },
	{ "resets Nov 20", DAY + 9 * HOUR + 40 * MINUTE },
	{ "resets Fri, Nov 20, 5pm", 2 * DAY + 2 * HOUR + 40 * MINUTE },
	{ "resets Dec 1", 12 * DAY + 9 * HOUR + 40 * MINUTE },
	{ "resets Fri 5pm", 2 * DAY + 2 * HOUR + 40 * MINUTE },
	{ "resets Wednesday at 3pm", 40 * MINUTE },
	{ "resets Wed 2pm", 7 * DAY - 20 * MINUTE },
	{ "resets tomorrow at 9:30", 19 * HOUR + 10 * MINUTE },
	{ "resets at 9:30 tomorrow", 19 * HOUR + 10 * MINUTE },
	{ "resets today at 5pm", 2 * HOUR + 40 * MINUTE },
	{ "resets tonight at 9pm", 6 * HOUR + 40 * MINUTE },
	{ "resets at 2026-11-18T17:00:00+02:00", 2 * HOUR + 40 * MINUTE },
	{ "2026-11-18T15:00:00Z", 2 * HOUR + 40 * MINUTE },
	{ "2026-11-18T15:00:00.123Z", 2 * HOUR + 40 * MINUTE },
	{ "2026-11-18T10:00:00-0500", 2 * HOUR + 40 * MINUTE },
	{ "\"2026-11-18 17:00\"", 2 * HOUR + 40 * MINUTE },
	{ "anthropic-ratelimit-requests-reset: 2026-11-18T12:21:00Z", MINUTE },
	{ "\"quotaResetTimeStamp\": \"2026-11-18T12:21:00Z\"", MINUTE },
	{ "Retry-After: Wed, 18 Nov 2026 12:30:00 GMT", 10 * MINUTE },
	{ "1795004500", 100 },
	{ "1795004500123", 101 },
	{ "1795004500.25", 101 },
	{ "Claude AI usage limit reached|1795008000", HOUR },
	{ "{\"status\":\"rejected\",\"resetsAt\":1795008000,\"rateLimitType\":\"five_hour\"}",
	  HOUR },
	{ "x-ratelimit-reset: 1795008000000", HOUR },
};

static const struct sample delays[] = {
	{ "try again in 2 hours 15 minutes", 2 * HOUR + 15 * MINUTE },
	{ "try again in 1 minute", MINUTE },
	{ "try again in a minute", MINUTE },
	{ "try again in 1 hour and 1 minute", HOUR + MINUTE },
	{ "try again in 1 day", DAY },
	{ "try again in 1 week", 7 * DAY },
	{ "try again in 1 second", 1 },
	{ "in 45s", 45 },
	{ "retry-after: 120", 120 },
	{ "Retry-After: 0", 0 },
	{ "retry_after=30, remaining=0", 30 },
	{ "retry-after-ms: 1500", 2 },
	{ "\"retryDelay\": \"34.074824224s\"", 35 },
	{ "x-ratelimit-reset-requests: 6m0s", 6 * MINUTE },
	{ "{\"resets_in_seconds\": 3600}", HOUR },
	{ "Rate limit reached. Please try again in 20ms.", 1 },
	{ "Please try again in 1h30m.", HOUR + 30 * MINUTE },
	{ "try again in an hour", HOUR },
	{ "try again in about 5 minutes", 5 * MINUTE },
	{ "try again in 1 day, 3 hours and 2 minutes.", DAY + 3 * HOUR + 2 * MINUTE },
	{ "resets in 1.5 hours", HOUR + 30 * MINUTE },
	{ "Please wait 30 seconds before you retry.", 30 },
	{ "resets in 7 days", 7 * DAY },
	{ "resets in 8 days", 8 * DAY },
	{ "resets in 30 days", 30 * DAY },
	{ "resets in 35 days", 35 * DAY },
	{ "5 minutes of extra usage left · resets in 3h", 3 * HOUR },
	{ "Please retry after 10 minutes", 10 * MINUTE },
	{ "Your quota will reset after 4h2m1s.", 4 * HOUR + 2 * MINUTE + 1 },
};

/* In the zone of the text, 12:20 UTC is the time that each sample has less an hour. */
static const struct sample abbreviated[] = {
	{ "resets 1:20pm UTC", HOUR },     { "resets 1:20pm GMT", HOUR },
	{ "resets 13:20z", HOUR },         { "resets 8:20am EST", HOUR },
	{ "resets 9:20am EDT", HOUR },     { "resets 7:20am CST", HOUR },
	{ "resets 8:20am CDT", HOUR },     { "resets 6:20am MST", HOUR },
	{ "resets 7:20am MDT", HOUR },     { "resets 5:20am PST", HOUR },
	{ "resets 6:20am PDT", HOUR },     { "resets 2:20pm CET", HOUR },
	{ "resets 3:20pm CEST", HOUR },    { "resets 3:20pm EET", HOUR },
	{ "resets 4:20pm EEST", HOUR },    { "resets 8:20am ET", HOUR },
	{ "resets 7:20am CT", HOUR },      { "resets 6:20am MT", HOUR },
	{ "resets 5:20am PT", HOUR },      { "resets 8:20am Eastern", HOUR },
	{ "resets 7:20am Central", HOUR }, { "resets 6:20am Mountain", HOUR },
	{ "resets 5:20am Pacific", HOUR },
};

static const struct sample offsets[] = {
	{ "resets 13:20+0", HOUR },
	{ "resets 15:20 +02:00", HOUR },
	{ "resets 15:20 UTC+2", HOUR },
	{ "resets 15:20 UTC+02", HOUR },
	{ "resets 15:20 UTC+0200", HOUR },
	{ "resets 18:50 UTC+05:30", HOUR },
	{ "resets 18:50 UTC+0530", HOUR },
	{ "resets 9:50 UTC-0330", HOUR },
	{ "resets 3:20 UTC+14", HOUR },
	{ "resets 3:20 UTC+15", REFUSED },
	{ "resets 14:19 UTC+0059", HOUR },
	{ "resets 14:19 UTC+0060", REFUSED },
	{ "resets 14:19 UTC+00:60", REFUSED },
	{ "resets 15:20 UTC+200", REFUSED },
	{ "resets 15:20 UTC+02000", REFUSED },
	{ "resets 15:20 UTC+2x", REFUSED },
};

/* The character between the digits is read as a colon, a blank or nothing. */
static const struct sample characters[] = {
	{ "resets\xc2\xb7 5pm", 2 * HOUR + 40 * MINUTE },
	{ "resets\xe2\x80\xa2 5pm", 2 * HOUR + 40 * MINUTE },
	{ "resets\xe2\x80\xa7 5pm", 2 * HOUR + 40 * MINUTE },
	{ "resets\xe2\x88\x99 5pm", 2 * HOUR + 40 * MINUTE },
	{ "resets\xe2\x8b\x85 5pm", 2 * HOUR + 40 * MINUTE },
	{ "resets\xe3\x83\xbb 5pm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5\xc2\xa0pm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5\xe2\x80\x80pm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5\xe2\x80\x8apm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5\xe2\x80\xafpm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5\xe2\x81\x9fpm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5\xe3\x80\x80pm", 2 * HOUR + 40 * MINUTE },
	{ "resets 17\xe2\x88\xb6"
	  "00",
	  2 * HOUR + 40 * MINUTE },
	{ "resets 17\xef\xbc\x9a"
	  "00",
	  2 * HOUR + 40 * MINUTE },
	{ "resets 5p\xc2\xadm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5p\xe2\x80\x8bm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5p\xe2\x80\x8fm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5p\xe2\x80\xaam", 2 * HOUR + 40 * MINUTE },
	{ "resets 5p\xe2\x80\xaem", 2 * HOUR + 40 * MINUTE },
	{ "resets 5p\xe2\x81\xa0m", 2 * HOUR + 40 * MINUTE },
	{ "resets 5p\xe2\x81\xa9m", 2 * HOUR + 40 * MINUTE },
	{ "resets 5p\xef\xbb\xbfm", 2 * HOUR + 40 * MINUTE },
	{ "2026\xe2\x80\x90"
	  "11\xe2\x80\x95"
	  "18T15:00:00Z",
	  2 * HOUR + 40 * MINUTE },
	{ "2026\xe2\x88\x92"
	  "11\xef\xbc\x8d"
	  "18T15:00:00Z",
	  2 * HOUR + 40 * MINUTE },
	{ "resets 5\x1fpm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5\x7fpm", 2 * HOUR + 40 * MINUTE },
	{ "resets 5\xc3\xa4pm", REFUSED },
	{ "resets 5\xe2\x80\xa0pm", REFUSED },
	{ "resets 5p\xe2\x81\xaam", REFUSED },
};

static const struct sample garbage[] = {
	{ "", REFUSED },
	{ "resets", REFUSED },
	{ "resets soon", REFUSED },
	{ "5 minutes of extra usage left", REFUSED },
	{ "API Error: 529 {\"type\":\"overloaded_error\"}", REFUSED },
	{ "resets 13pm", REFUSED },
	{ "resets 0am", REFUSED },
	{ "resets 25:00", REFUSED },
	{ "resets 24:00", REFUSED },
	{ "resets 9:60", REFUSED },
	{ "resets 9", REFUSED },
	{ "resets at 17h", REFUSED },
	{ "resets 5pmx", REFUSED },
	{ "resets 5pm (Mars/Olympus)", REFUSED },
	{ "resets 5pm (../../etc/passwd)", 2 * HOUR + 40 * MINUTE },
	{ "resets 5pm XYZT", REFUSED },
	{ "resets Nov 31, 5pm", REFUSED },
	{ "resets Feb 29, 5pm", REFUSED },
	{ "resets Nov 20, 25:00", REFUSED },
	{ "resets Nov 20, 13pm", REFUSED },
	{ "resets Nov 20, 2025, 5pm", REFUSED },
	{ "resets Nov 17, 5pm", REFUSED },
	{ "resets today at 9am", REFUSED },
	{ "resets Dec 24, 5pm", REFUSED },
	{ "resets in 36 days", REFUSED },
	{ "resets in 99999999999999999999 hours", REFUSED },
	{ "reset 5 minutes ago", REFUSED },
	{ "retry 3 times in vain", REFUSED },
	{ "retry-after: 99999999", REFUSED },
	{ "retry-after: -5", REFUSED },
	{ "1795003000", REFUSED },
	{ "1799999999", REFUSED },
	{ "17950045001231234", REFUSED },
	{ "999999999999999999999999999999", REFUSED },
	{ "2026-13-18T15:00:00Z", REFUSED },
	{ "2026-11-18T15:00:00+25:00", REFUSED },
	{ "9999-12-31T23:59:59Z", REFUSED },
	{ "the preset 5pm", REFUSED },
	{ "120", REFUSED },
	{ "\xff\xfe\x80", REFUSED },
};

/* 25 October 2026, 02:50 in Vilnius, still summer: clocks go from 4 to 3 at 01:00 UTC. */
#define BEFORE_BACK INT64_C(1792885800)

static const struct sample back[] = {
	{ "resets 2:55am", 5 * MINUTE },
	{ "resets 3:30am", HOUR + 40 * MINUTE },
	{ "resets 4am", 2 * HOUR + 10 * MINUTE },
	{ "resets 2:40am", DAY + HOUR - 10 * MINUTE },
	{ "resets in 2 hours", 2 * HOUR },
	{ "resets 2026-10-25T03:30:00+03:00", 40 * MINUTE },
};

/* 01:40 UTC of the same day: 03:40, the second time. */
static const struct sample after_back[] = {
	{ "resets 3:45am", 5 * MINUTE },
	{ "resets 3:30am", DAY - 10 * MINUTE },
};

/* 29 March 2026, 02:50 in Vilnius: clocks go from 3 to 4 at 01:00 UTC. */
#define BEFORE_FORWARD INT64_C(1774745400)

static const struct sample forward[] = {
	{ "resets 2:55am", 5 * MINUTE },
	{ "resets 3:30am", 40 * MINUTE },
	{ "resets 4am", 10 * MINUTE },
	{ "resets 5am", HOUR + 10 * MINUTE },
	{ "resets tomorrow at 2:50", DAY - HOUR },
};

/* 31 December 2026, 20:00 in New York. */
static const struct sample new_year[] = {
	{ "resets Jan 2, 5pm", DAY + 21 * HOUR },
	{ "resets Dec 31, 9pm", HOUR },
	{ "resets 1am", 5 * HOUR },
	{ "resets Jan 1", 4 * HOUR },
};

/* Each unit, after the number 2. */
static void units(void)
{
	static const struct {
		const char *names;
		int64_t seconds;
	} all[] = {
		{ "ms msec msecs millisecond milliseconds", 1 },
		{ "s sec secs second seconds", 2 },
		{ "m min mins minute minutes", 2 * MINUTE },
		{ "h hr hrs hour hours", 2 * HOUR },
		{ "d day days", 2 * DAY },
		{ "week weeks", 14 * DAY },
		{ "w month fortnights", REFUSED },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		for (const char *at = all[i].names; *at; at += strspn(at, " ")) {
			int size = (int)strcspn(at, " ");
			AUTO_FREE char *text = mem_format("resets in 2 %.*s", size, at);
			const struct sample sample = { text, all[i].seconds };

			table("a unit", &sample, 1, WEDNESDAY, vilnius);
			at += size;
		}
}

/* Each word that may stand between "resets" and the time, and each name of a month and a day. */
static void words(void)
{
	static const char fillers[] =
		"at on after until is time for around about approx approximately "
		"by the your again another will be date available limit reset "
		"usage";
	static const char *const days[] = { "Wed", "Thu", "Fri", "Sat", "Sun", "Mon", "Tue" };
	static const char *const whole[] = { "Wednesday", "Thursday", "Friday", "Saturday",
					     "Sunday",    "Monday",   "Tuesday" };

	for (const char *at = fillers; *at; at += strspn(at, " ")) {
		int size = (int)strcspn(at, " ");
		AUTO_FREE char *text = mem_format("resets %.*s 5pm", size, at);
		const struct sample sample = { text, 2 * HOUR + 40 * MINUTE };

		table("a word before the time", &sample, 1, WEDNESDAY, vilnius);
		at += size;
	}
	for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
		AUTO_FREE char *brief = mem_format("resets %s 5pm", days[i]);
		AUTO_FREE char *full = mem_format("resets %s 5pm", whole[i]);
		const int64_t expected = (int64_t)i * DAY + 2 * HOUR + 40 * MINUTE;
		const struct sample samples[] = { { brief, expected }, { full, expected } };

		TABLE("a day", samples, WEDNESDAY, vilnius);
	}
}

/* Each month of 2026, five days before its 15th at 12:00 UTC. */
static void months(void)
{
	static const struct {
		const char *name;
		int days; /* before it in the year */
	} all[] = {
		{ "January", 0 },     { "February", 31 }, { "March", 59 },     { "April", 90 },
		{ "May", 120 },       { "June", 151 },    { "July", 181 },     { "August", 212 },
		{ "September", 243 }, { "October", 273 }, { "November", 304 }, { "December", 334 },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		AUTO_FREE char *full = mem_format("resets %s 15, 12:00 UTC", all[i].name);
		AUTO_FREE char *brief = mem_format("resets 15 %.3s 2026 12:00 UTC", all[i].name);
		const struct sample samples[] = { { full, 5 * DAY }, { brief, 5 * DAY } };

		TABLE("a month", samples, INT64_C(1768046400) + (int64_t)all[i].days * DAY,
		      vilnius);
	}
}

static void limits(void)
{
	const struct civil_zone zone = { .offset = offset, .context = vilnius };
	char long_text[5000];
	int64_t time = 7;

	memset(long_text, 'x', sizeof long_text);
	memcpy(long_text + sizeof long_text - 12, " resets 5pm ", 12);
	CHECK("text after the maximum is not read",
	      reset_time(long_text, sizeof long_text, WEDNESDAY, &zone, &time) == -1);
	memcpy(long_text, "resets 5pm \0", 12);
	CHECK("a text may contain NUL",
	      reset_time(long_text, sizeof long_text, WEDNESDAY, &zone, &time) == 0);
	time = 7;
	CHECK("without zones a civil time is refused, and nothing else",
	      reset_time("resets 5pm", 10, WEDNESDAY, NULL, &time) == -1 && time == 7 &&
		      reset_time("in 45s", 6, WEDNESDAY, NULL, &time) == 0);
	CHECK("a broken clock is refused",
	      reset_time("in 45s", 6, -1, &zone, &time) == -1 &&
		      reset_time("in 45s", 6, INT64_MAX, &zone, &time) == -1);
}

int main(void)
{
	TABLE("a clock", clocks, WEDNESDAY, vilnius);
	TABLE("a date", dates, WEDNESDAY, vilnius);
	TABLE("a delay", delays, WEDNESDAY, vilnius);
	TABLE("an abbreviated zone", abbreviated, WEDNESDAY, vilnius);
	TABLE("an offset", offsets, WEDNESDAY, vilnius);
	units();
	words();
	months();
	TABLE("a character", characters, WEDNESDAY, vilnius);
	TABLE("garbage", garbage, WEDNESDAY, vilnius);
	TABLE("before clocks go back", back, BEFORE_BACK, vilnius);
	TABLE("after clocks went back", after_back, BEFORE_BACK + HOUR + 50 * MINUTE, vilnius);
	TABLE("before clocks go forward", forward, BEFORE_FORWARD, vilnius);
	TABLE("at the end of a year", new_year, INT64_C(1798765200), new_york);
	limits();
	return unit_failures > 0;
}
