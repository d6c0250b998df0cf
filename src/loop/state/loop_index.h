/*
 * An index of loops that have ended, so that commands need not read each of them: a file in
 * STATE/loops with a line of text per loop (`.index`: see client_list.c; `.costs`: see
 * ledger_sums.h; `.paces`: see settings/outlook.c).
 *
 * An index is a copy and never the truth. It is made while loops are read, and any process may
 * replace it. A file that is missing, damaged or from another version has no lines, and a folder
 * that cannot be written keeps the index that it has. A line is void once its loop has been
 * reopened: before a client writes to a loop that may have ended, it calls loop_index_reopen(),
 * which adds the id to STATE/loops/.reopened. The index knows how far it has seen that list.
 */
#ifndef LOOP_STATE_LOOP_INDEX_H
#define LOOP_STATE_LOOP_INDEX_H

#include "util/error.h"

#include <stddef.h>
#include <stdint.h>

struct loop_index;

/*
 * Reads an index. Loops may be added to it whose end was seen after this call. Never fails, but the
 * index may be empty. Its owner frees it.
 */
struct loop_index *loop_index_load(const char *loops, const char *name);
void loop_index_free(struct loop_index *index);

/* Returns the line of a loop, or NULL. It is valid until the index is freed. */
const char *loop_index_get(struct loop_index *index, const char *id);

/* Sets the line of a loop that has ended and had none. The text must not contain a newline. */
void loop_index_set(struct loop_index *index, const char *id, const char *text);

/* Drops all lines: one of them was contradicted. */
void loop_index_forget(struct loop_index *index);

/* Writes the index if lines were set, with the lines that were set or got. */
void loop_index_save(struct loop_index *index);

/* Withdraws the lines of the loop in this folder, before something is written to it. The caller
 * holds its lock. Returns 0, or -1 with err set. */
int loop_index_reopen(const char *folder, struct error *err);

/* The list of reopened loops as it was at one moment. */
struct loop_index_mark {
	uint64_t inode, changed_ns, size;
};

/* The hash at the beginning of an index, over everything after its first space. */
uint64_t loop_index_hash(const char *bytes, size_t size);

/* Checks and splits the bytes of an index, which are changed. *ret_mark: how far it has seen the
 * list of reopened loops. Returns the number of lines, or -1 if the bytes are not an index of this
 * name. *ret_lines: the id of each, NUL, its text, NUL; the caller frees the array. */
long loop_index_parse(char *bytes, size_t size, const char *name, struct loop_index_mark *ret_mark,
		      char ***ret_lines);

#endif
