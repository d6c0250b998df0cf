/* Figures as short texts of a known width, so that columns do not move. */
#ifndef SCREEN_FIGURES_H
#define SCREEN_FIGURES_H

#include <stddef.h>
#include <stdint.h>

enum { FIGURES_BYTES = 64 };

struct figures {
	char text[FIGURES_BYTES];
};

/* "5s", "3m05s", "2h14m", "3d02h"; "-" below 0. */
struct figures figures_time(int64_t ms);

/* "0.42", "12.30", "1234" US dollars. */
struct figures figures_usd(int64_t nusd);

/* "950", "12.3k", "4.1M". */
struct figures figures_count(uint64_t count);

/* Lines that were added or removed: "+12"; "" for none. */
struct figures figures_lines(char sign, uint64_t lines);

/* "12.4 MiB". */
struct figures figures_bytes(uint64_t bytes);

/* Returns a bar of this many columns, of which `part` of `whole` is full. The caller frees it. */
char *figures_bar(uint64_t part, uint64_t whole, int columns);

#endif
