/* A key source: the variable, file or command that a provider's key is read from. Never the key. */
#ifndef PROVIDER_KEY_SOURCE_H
#define PROVIDER_KEY_SOURCE_H

#include "util/error.h"

enum key_source_kind {
	KEY_SOURCE_NONE,
	KEY_SOURCE_ENV,     /* a variable's name */
	KEY_SOURCE_FILE,    /* an absolute path */
	KEY_SOURCE_COMMAND, /* a command line for sh -c */
};

struct key_source {
	enum key_source_kind kind;
	char *value; /* NULL for KEY_SOURCE_NONE */
};

/* Parses "env:NAME", "file:/PATH" or "command:LINE". Returns 0, or -1 with err set. */
int key_source_parse(const char *text, struct key_source *ret_source, struct error *err);

/* Formats the source as text, or returns NULL for KEY_SOURCE_NONE. The caller frees. */
char *key_source_text(const struct key_source *source);

void key_source_release(struct key_source *source);

#endif
