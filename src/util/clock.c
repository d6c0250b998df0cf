/* Times as text: see clock.h. */
#include "util/clock.h"

#include "util/mem.h"

#include <string.h>

/* The part of "2026-11-19 02:00:05 CET" that each form shows. */
static const struct {
	size_t from, size;
} forms[] = {
	[CLOCK_ZONE] = { 0, 63 },
	[CLOCK_SECOND] = { 0, 19 },
	[CLOCK_MINUTE] = { 0, 16 },
	[CLOCK_TIME] = { 11, 8 },
};

char *clock_text(int64_t at_ms, enum clock_form form)
{
	time_t at = (time_t)(at_ms / 1000);
	char text[64];
	struct tm parts;

	if (!localtime_r(&at, &parts) ||
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z", &parts) == 0)
		return mem_dup("?");
	return mem_format("%.*s", (int)forms[form].size, text + forms[form].from);
}
