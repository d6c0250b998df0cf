/* Reads the key that a key source names. */
#ifndef PROVIDER_KEY_READ_H
#define PROVIDER_KEY_READ_H

#include "provider/key_source.h"
#include "util/error.h"
#include "util/taint.h"

/*
 * Reads a key, which must not be empty. name: whose it is, for messages. Only its first word
 * counts. A command or a file that an agent can change (taint) is refused. The caller wipes and
 * frees *ret_key. Returns 0, or -1 with err set; the message never has the key.
 */
int key_read(const struct key_source *source, const char *name, const struct taint *taint,
	     char **ret_key, struct error *err);

/* Wipes and frees a key, or NULL. */
void key_read_wipe(char *key);

#endif
