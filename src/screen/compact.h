/* Times, amounts and counts as short texts, so that columns do not move. Reports have longer ones
 * (report/figure.h). */
#ifndef SCREEN_COMPACT_H
#define SCREEN_COMPACT_H

#include <stddef.h>
#include <stdint.h>

enum { COMPACT_BYTES = 64 };

struct compact {
	char text[COMPACT_BYTES];
};

/* "5s", "3m05s", "2h14m", "3d02h"; "-" below 0. */
struct compact compact_time(int64_t ms);

/* "0.42", "12.30", "1234" US dollars. */
struct compact compact_usd(int64_t nusd);

/* "950", "12.3k", "4.1M". */
struct compact compact_count(uint64_t count);

/* Lines that were added or removed: "+12"; "" for none. */
struct compact compact_lines(char sign, uint64_t lines);

/* "12.4 MiB". */
struct compact compact_bytes(uint64_t bytes);

/* Returns a bar of this many columns, of which `part` of `whole` is full. The caller frees it. */
char *compact_bar(uint64_t part, uint64_t whole, int columns);

#endif
