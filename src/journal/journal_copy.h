/*
 * A copy of a journal's files in a temporary folder. SQLite writes a file of its own even to read
 * one, which it cannot do on a disk that is full or read-only.
 */
#ifndef JOURNAL_JOURNAL_COPY_H
#define JOURNAL_JOURNAL_COPY_H

#include "util/error.h"

/* Copies a database with its log. The caller frees *ret_copy, the path of the copied database, and
 * removes the copy. Returns 0, or -1 with err set. */
int journal_copy_make(const char *path, char **ret_copy, struct error *err);
void journal_copy_remove(const char *copy);

/* Says why the folder of a journal cannot be written: "its disk is full". */
const char *journal_copy_reason(const char *path);

#endif
