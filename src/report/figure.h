/* Amounts, times and counts as people read them. The caller frees the texts. */
#ifndef REPORT_FIGURE_H
#define REPORT_FIGURE_H

#include <stdint.h>

enum figure_unit { FIGURE_COUNT, FIGURE_USD, FIGURE_MS };

char *figure_usd(int64_t nusd);     /* "0.0148", "1.25": in US$ */
char *figure_count(uint64_t count); /* "950", "12,345", "1.23 M" */
char *figure_time(int64_t ms);      /* "0.4 s", "35 s", "4m10s", "2h5m" */
char *figure_moment(int64_t ms);    /* "2026-11-19 02:00" in local time; "-" for 0 */
char *figure_bytes(uint64_t bytes); /* "120 B", "1.5 MiB" */
char *figure_of(enum figure_unit unit, double value);

#endif
