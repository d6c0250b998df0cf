/* Times, amounts and counts as short texts: see compact.h. */
#include "screen/compact.h"

#include "util/buffer.h"

#include <stdio.h>

struct compact compact_time(int64_t ms)
{
	struct compact out;
	long long s = ms / 1000;

	if (ms < 0)
		snprintf(out.text, sizeof out.text, "-");
	else if (s < 60)
		snprintf(out.text, sizeof out.text, "%llds", s);
	else if (s < 3600)
		snprintf(out.text, sizeof out.text, "%lldm%02llds", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out.text, sizeof out.text, "%lldh%02lldm", s / 3600, s / 60 % 60);
	else
		snprintf(out.text, sizeof out.text, "%lldd%02lldh", s / 86400, s / 3600 % 24);
	return out;
}

struct compact compact_usd(int64_t nusd)
{
	struct compact out;
	double usd = (double)nusd / 1e9;

	snprintf(out.text, sizeof out.text, usd < 1000 ? "%.2f" : "%.0f", usd);
	return out;
}

/* Prints a number with one of four units. */
static struct compact scaled(double value, double step, const char *const units[4])
{
	struct compact out;
	int unit = 0;

	while (value >= step && unit < 3) {
		value /= step;
		unit++;
	}
	snprintf(out.text, sizeof out.text, unit ? "%.1f%s" : "%.0f%s", value, units[unit]);
	return out;
}

struct compact compact_count(uint64_t count)
{
	static const char *const units[4] = { "", "k", "M", "G" };

	return scaled((double)count, 1000, units);
}

struct compact compact_lines(char sign, uint64_t lines)
{
	struct compact out = { "" };

	if (lines)
		snprintf(out.text, sizeof out.text, "%c%llu", sign, (unsigned long long)lines);
	return out;
}

struct compact compact_bytes(uint64_t bytes)
{
	static const char *const units[4] = { " B", " KiB", " MiB", " GiB" };

	return scaled((double)bytes, 1024, units);
}

char *compact_bar(uint64_t part, uint64_t whole, int columns)
{
	struct buffer out = BUFFER_INIT(4096);
	int full = whole ? (int)((double)part / (double)whole * columns + 0.999) : 0;

	for (int i = 0; i < columns; i++)
		buffer_add_text(&out, i < full ? "\u2501" : "\u2500");
	buffer_text(&out);
	return out.data;
}
