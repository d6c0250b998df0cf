/* Sentences: see decision_reason.h. */
#include "decision/decision_reason.h"

#include "decision/civil.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void decision_reason_add(struct decision *d, const char *format, ...)
{
	va_list args;

	if (d->reason_count == DECISION_REASONS_MAX)
		return;
	va_start(args, format);
	vsnprintf(d->reasons[d->reason_count++], DECISION_REASON_SIZE, format, args);
	va_end(args);
}

void decision_reason_append(struct decision *d, const char *text)
{
	char *last = d->reasons[d->reason_count - 1];
	size_t size = strlen(last);

	snprintf(last + size, DECISION_REASON_SIZE - size, "; %s", text);
}

struct decision_brief decision_reason_money(int64_t nusd)
{
	struct decision_brief b;
	int64_t cents = nusd / 10000000;

	snprintf(b.text, sizeof b.text, "US$ %" PRId64 ".%02" PRId64, cents / 100,
		 cents < 0 ? -(cents % 100) : cents % 100);
	return b;
}

struct decision_brief decision_reason_cost(const struct decision_input *in)
{
	struct decision_brief b;

	snprintf(b.text, sizeof b.text, "%.24s%s", decision_reason_money(in->cost_nusd).text,
		 in->estimated_nusd <= 0              ? ""
		 : in->estimated_nusd < in->cost_nusd ? " (partly estimated)"
						      : " (estimated)");
	return b;
}

struct decision_brief decision_reason_duration(int64_t seconds)
{
	struct decision_brief b;

	if (seconds >= 3600 && seconds % 3600 == 0)
		snprintf(b.text, sizeof b.text, "%" PRId64 " h", seconds / 3600);
	else if (seconds >= 60 && seconds % 60 == 0)
		snprintf(b.text, sizeof b.text, "%" PRId64 " min", seconds / 60);
	else
		snprintf(b.text, sizeof b.text, "%" PRId64 " s", seconds);
	return b;
}

struct decision_brief decision_reason_time(int64_t time)
{
	struct decision_brief b;
	int64_t year = 0;
	int64_t month = 0;
	int64_t day = 0;

	if (time < 0 || time > INT64_C(250000000000)) {
		snprintf(b.text, sizeof b.text, "%" PRId64, time);
		return b;
	}
	civil_date(time / 86400, &year, &month, &day);
	snprintf(b.text, sizeof b.text, "%04d-%02d-%02d %02d:%02d:%02d UTC", (int)year, (int)month,
		 (int)day, (int)(time % 86400 / 3600), (int)(time % 3600 / 60), (int)(time % 60));
	return b;
}
