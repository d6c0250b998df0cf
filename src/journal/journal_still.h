/*
 * The bytes of a journal that nobody writes, such as that of a loop that has ended. Reading these
 * is several times faster than SQLite's way, which makes two files and takes a dozen locks, even
 * for a reader.
 */
#ifndef JOURNAL_JOURNAL_STILL_H
#define JOURNAL_JOURNAL_STILL_H

#include "util/buffer.h"

#include <stdbool.h>

enum { JOURNAL_STILL_BYTES = 16 << 20 }; /* of the largest such journal */

/*
 * Reads a database into the buffer. Returns false if SQLite must read the file: it is being written
 * or was lately, a writer was killed, its disk cannot be written (SQLite says why), or it is not a
 * database with a log.
 */
bool journal_still_read(const char *path, struct buffer *bytes);

#endif
