/* Where the key of a provider is: a variable, a file, or the output of a command. Never the key. */
#ifndef PROVIDER_KEY_SOURCE_H
#define PROVIDER_KEY_SOURCE_H

#include "util/error.h"

enum key_source_kind {
	KEY_SOURCE_NONE,
	KEY_SOURCE_ENV,     /* NAME */
	KEY_SOURCE_FILE,    /* an absolute path */
	KEY_SOURCE_COMMAND, /* a line for sh -c */
};

struct key_source {
	enum key_source_kind kind;
	char *value; /* NULL with KEY_SOURCE_NONE */
};

/* Reads "env:NAME", "file:/PATH" or "command:LINE". Returns 0, or -1 with err set. */
int key_source_parse(const char *text, struct key_source *ret_source, struct error *err);

/* The same as text; the caller frees. NULL: there is none. */
char *key_source_text(const struct key_source *source);

void key_source_release(struct key_source *source);

#endif
