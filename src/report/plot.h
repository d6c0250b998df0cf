/*
 * Plots with a stacked bar for each iteration, as inline SVG. More than PLOT_MOST points are
 * thinned: each bar is then the average of several.
 */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "report/figure.h"
#include "util/text/html.h"

#include <stddef.h>
#include <stdint.h>

enum { PLOT_SERIES = 4, PLOT_MOST = 120 };

enum plot_color { PLOT_BY_ORDER, PLOT_GREEN, PLOT_RED };

struct plot {
	const char *title;
	enum figure_unit unit;
	const char *series[PLOT_SERIES];     /* their names; literals */
	enum plot_color colors[PLOT_SERIES]; /* default: in this order */
	size_t series_count;
	double (*values)[PLOT_SERIES]; /* of each point */
	uint32_t *numbers;             /* of each point: its iteration */
	size_t count;
	size_t joined; /* points in a bar, once it was thinned; else 1 */
};

void plot_release(struct plot *plot);
void plot_add(struct plot *plot, uint32_t number, const double values[PLOT_SERIES]);
void plot_thin(struct plot *plot);

/* Returns whether there is anything to see. */
bool plot_is_empty(const struct plot *plot);

/* Returns the sum of all series of a point. */
double plot_total(const struct plot *plot, size_t point);

void plot_html(struct html *html, const struct plot *plot);

/* Appends one line of blocks, such as "▁▃█", with at most `most` of them. */
void plot_blocks(struct buffer *out, const struct plot *plot, size_t most);

#endif
