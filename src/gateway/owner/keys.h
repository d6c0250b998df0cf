/*
 * From where a key is to what it is. For the gateway's owner: the texts of models.h, in which "source NAME env:VARIABLE",
 * "source NAME file:PATH" and "source NAME command:LINE" become "key NAME KEY".
 */
#ifndef GATEWAY_OWNER_KEYS_H
#define GATEWAY_OWNER_KEYS_H

#include "util/error.h"
#include "util/list.h"

/* Is this a source? Returns 0, or -1 with a sentence. */
int keys_check(const char *source, struct error *err);

/* Reads the keys. The caller wipes *ret_texts with keys_wipe(). Returns 0, or -1 with err set, in which no key appears. */
int keys_resolve(const struct list *texts, struct list *ret_texts, struct error *err);
void keys_wipe(struct list *texts);

#endif
