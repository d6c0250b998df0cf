/* Amounts, times and counts: see figure.h. */
#include "report/figure.h"

#include "util/buffer.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/text.h"

char *figure_usd(int64_t nusd)
{
	double usd = (double)nusd / 1e9;

	return nusd > 0 && usd < 1 ? mem_format("%.4f", usd) : mem_format("%.2f", usd);
}

char *figure_count(uint64_t count)
{
	if (count >= 1000000000)
		return mem_format("%.2f G", (double)count / 1e9);
	if (count >= 1000000)
		return mem_format("%.2f M", (double)count / 1e6);
	if (count >= 1000)
		return mem_format("%u,%03u", (unsigned int)(count / 1000),
				  (unsigned int)(count % 1000));
	return mem_format("%u", (unsigned int)count);
}

char *figure_time(int64_t ms)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);
	int64_t second = 1000, minute = 60 * second;
	int64_t unit = ms < 60 * minute ? second : minute;

	if (ms < 10 * second)
		return mem_format("%.1f s", (double)(ms > 0 ? ms : 0) / 1000);
	if (ms < minute)
		return mem_format("%d s", (int)(ms / second));
	text_add_duration(&text, (uint64_t)(ms / unit * unit));
	return mem_dup(buffer_text(&text));
}

char *figure_moment(int64_t ms)
{
	return ms > 0 ? clock_text(ms, CLOCK_MINUTE) : mem_dup("-");
}

char *figure_bytes(uint64_t bytes)
{
	return bytes < 1024 ? mem_format("%u B", (unsigned int)bytes) : text_size(bytes);
}

char *figure_of(enum figure_unit unit, double value)
{
	switch (unit) {
	case FIGURE_USD:
		return figure_usd((int64_t)(value * 1e9));
	case FIGURE_MS:
		return figure_time((int64_t)value);
	default:
		return figure_count((uint64_t)(value + 0.5));
	}
}
