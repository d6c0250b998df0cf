/*
 * The head of a journal's chain, in a file of its own beside the database (journal.head): the
 * number and the hash of the last event that is certainly on disk. Without it, a journal whose last
 * events were deleted would look complete.
 */
#ifndef JOURNAL_JOURNAL_HEAD_H
#define JOURNAL_JOURNAL_HEAD_H

#include "util/text/sha256.h"

#include <stdint.h>

struct journal_head {
	int64_t seq; /* 0: unknown */
	char hash[SHA256_HEX];
};

/* Reads the head of the journal at this path. A missing or torn file is an unknown head. */
void journal_head_read(const char *path, struct journal_head *ret_head);

/* Writes it, as well as possible: an older head only proves less. */
void journal_head_write(const char *path, int64_t seq, const char *hash);

#endif
