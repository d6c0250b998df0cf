/* Plots: see plot.h. */
#include "report/plot.h"

#include "util/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In units of the SVG, which is scaled to the page. */
enum { WIDTH = 560, HEIGHT = 190, LEFT = 68, RIGHT = 8, TOP = 12, BOTTOM = 24, TICKS = 4 };

void plot_release(struct plot *plot)
{
	free(plot->values);
	free(plot->numbers);
	*plot = (struct plot){ 0 };
}

void plot_add(struct plot *plot, uint32_t number, const double values[PLOT_SERIES])
{
	plot->values = mem_extend(plot->values, plot->count, sizeof *plot->values);
	plot->numbers = mem_extend(plot->numbers, plot->count, sizeof *plot->numbers);
	memcpy(plot->values[plot->count], values, sizeof *plot->values);
	plot->numbers[plot->count++] = number;
	plot->joined = 1;
}

/* Writes the average of some points over a point that is not after them. */
static void join(struct plot *plot, size_t into, size_t from, size_t count)
{
	double sums[PLOT_SERIES] = { 0 };

	for (size_t i = from; i < from + count; i++)
		for (size_t k = 0; k < PLOT_SERIES; k++)
			sums[k] += plot->values[i][k] / (double)count;
	memcpy(plot->values[into], sums, sizeof sums);
	plot->numbers[into] = plot->numbers[from];
}

void plot_thin(struct plot *plot)
{
	size_t each = (plot->count + PLOT_MOST - 1) / PLOT_MOST;
	size_t count = 0;

	if (each <= 1)
		return;
	for (size_t at = 0; at < plot->count; at += each)
		join(plot, count++, at, at + each < plot->count ? each : plot->count - at);
	plot->count = count;
	plot->joined *= each;
}

double plot_total(const struct plot *plot, size_t point)
{
	double total = 0;

	for (size_t k = 0; k < plot->series_count; k++)
		total += plot->values[point][k];
	return total;
}

static double largest(const struct plot *plot)
{
	double most = 0;

	for (size_t i = 0; i < plot->count; i++)
		most = fmax(most, plot_total(plot, i));
	return most;
}

bool plot_is_empty(const struct plot *plot)
{
	return plot->count == 0 || largest(plot) <= 0;
}

/* Returns the distance of the lines across: 1, 2 or 5 times a power of ten; of times, whole units
 * that people use. */
static double step_of(const struct plot *plot, double most)
{
	static const double times[] = { 1e3, 2e3,  5e3,  1e4,  3e4,   6e4,   12e4, 3e5,
					6e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5 };
	static const double factors[] = { 1, 2, 5 };
	double power = pow(10, floor(log10(most / TICKS)));

	for (size_t i = 0; plot->unit == FIGURE_MS && i < sizeof times / sizeof *times; i++)
		if (times[i] * TICKS >= most && most > 2000)
			return times[i];
	for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
		if (power * factors[i] * TICKS >= most)
			return plot->unit == FIGURE_COUNT ? fmax(1, power * factors[i])
							  : power * factors[i];
	return power * 10;
}

static void add_text(struct html *html, double x, double y, const char *class_name,
		     const char *text)
{
	html_open(html, "text");
	html_number(html, "x", x);
	html_number(html, "y", y);
	html_attribute(html, "class", class_name);
	html_text(html, text);
	html_close(html);
}

/* Draws the lines across, with their values. Returns the value at the top. */
static double draw_axis(struct html *html, const struct plot *plot, double most)
{
	double step = step_of(plot, most);
	double top = ceil(most / step - 1e-9) * step;

	for (int i = 0; i <= (int)(top / step + 0.5); i++) {
		double at = step * i;
		double y = TOP + (HEIGHT - TOP - BOTTOM) * (1 - at / top);
		AUTO_FREE char *value = figure_of(plot->unit, at);
		AUTO_FREE char *line = mem_format("M%d %.1fH%d", LEFT, y, WIDTH - RIGHT);

		html_open(html, "path");
		html_attribute(html, "d", line);
		html_attribute(html, "class", at > 0 ? "grid" : "axis");
		html_close(html);
		add_text(html, LEFT - 6, y + 4, "tick end", at > 0 ? value : "0");
	}
	return top;
}

/* The text that a browser shows when a pointer rests on a bar. */
static void add_title(struct html *html, const struct plot *plot, size_t point)
{
	html_open(html, "title");
	if (plot->joined > 1)
		html_printf(html, "iterations from %u, average", plot->numbers[point]);
	else if (plot->numbers[point])
		html_printf(html, "iteration %u", plot->numbers[point]);
	else
		html_text(html, "before the first iteration");
	for (size_t k = 0; k < plot->series_count; k++) {
		AUTO_FREE char *value = figure_of(plot->unit, plot->values[point][k]);

		html_printf(html, "\n%s: %s", plot->series[k], value);
	}
	html_close(html);
}

/* Returns the number of a series' colour in the style sheet. */
static int color_of(const struct plot *plot, size_t series)
{
	static const int numbers[] = { [PLOT_GREEN] = 1, [PLOT_RED] = 4 };

	return plot->colors[series] == PLOT_BY_ORDER ? (int)series : numbers[plot->colors[series]];
}

static void draw_bar(struct html *html, const struct plot *plot, size_t point, double top)
{
	double slot = (double)(WIDTH - LEFT - RIGHT) / (double)plot->count;
	double wide = fmin(slot > 12 ? slot - 2 : slot * 0.85, 36);
	double x = LEFT + slot * (double)point + (slot - wide) / 2;
	double y = HEIGHT - BOTTOM;

	html_open(html, "g");
	add_title(html, plot, point);
	for (size_t k = 0; k < plot->series_count; k++) {
		double high = (HEIGHT - TOP - BOTTOM) * plot->values[point][k] / top;

		if (high <= 0)
			continue;
		y -= high;
		AUTO_FREE char *name = mem_format("s%d", color_of(plot, k));
		AUTO_FREE char *box = mem_format("M%.1f %.1fh%.1fv%.1fh-%.1fz", x, y, wide, high,
						 wide);

		html_open(html, "path");
		html_attribute(html, "class", name);
		html_attribute(html, "d", box);
		html_close(html);
	}
	html_close(html);
}

/* Names the first, the last, and some iterations between them. */
static void draw_numbers(struct html *html, const struct plot *plot)
{
	enum { LABELS = 8 };
	size_t each = (plot->count + LABELS - 1) / LABELS;
	double slot = (double)(WIDTH - LEFT - RIGHT) / (double)plot->count;

	for (size_t i = 0; i < plot->count; i += each) {
		AUTO_FREE char *number = plot->numbers[i] ? mem_format("%u", plot->numbers[i])
							  : mem_dup("start");

		add_text(html, LEFT + slot * ((double)i + 0.5), HEIGHT - 8, "tick middle", number);
	}
}

static void add_legend(struct html *html, const struct plot *plot)
{
	html_open(html, "p");
	html_attribute(html, "class", "legend");
	for (size_t k = 0; k < plot->series_count && plot->series_count > 1; k++) {
		AUTO_FREE char *name = mem_format("key k%d", color_of(plot, k));

		html_open(html, "span");
		html_open(html, "i");
		html_attribute(html, "class", name);
		html_close(html);
		html_text(html, plot->series[k]);
		html_close(html);
	}
	if (plot->joined > 1)
		html_printf(html, "Each bar is the average of %zu iterations.", plot->joined);
	html_close(html);
}

void plot_html(struct html *html, const struct plot *plot)
{
	double top;

	html_open(html, "figure");
	html_open(html, "figcaption");
	html_text(html, plot->title);
	html_close(html);
	html_open(html, "svg");
	html_attribute(html, "viewBox", "0 0 560 190");
	html_attribute(html, "role", "img");
	html_attribute(html, "aria-label", plot->title);
	top = draw_axis(html, plot, largest(plot));
	for (size_t i = 0; i < plot->count; i++)
		draw_bar(html, plot, i, top);
	draw_numbers(html, plot);
	html_close(html);
	add_legend(html, plot);
	html_close(html);
}

void plot_blocks(struct buffer *out, const struct plot *plot, size_t most)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	size_t each = (plot->count + most - 1) / most;
	double top = largest(plot);

	for (size_t at = 0; at < plot->count; at += each) {
		double high = 0;

		for (size_t i = at; i < at + each && i < plot->count; i++)
			high = fmax(high, plot_total(plot, i));
		buffer_add_text(out, blocks[high > 0 ? (size_t)(high / top * 7.99) : 0]);
	}
}
