/*
 * Writing JSON: what is opened is closed, and commas, line ends and quotes are in their places.
 *
 * Every function takes the key of an entry, or NULL within a list and for the whole. The entries of
 * the whole, and lists or objects in a list of it, get a line each.
 */
#ifndef UTIL_JSON_H
#define UTIL_JSON_H

#include "util/buffer.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSON_DEEPEST = 8 };

struct json {
	struct buffer *out;
	size_t depth;
	struct json_level {
		char close;
		bool used;
		bool lines;
	} levels[JSON_DEEPEST];
};

#define JSON_INIT(buffer) ((struct json){ .out = (buffer) })

/* Opens an object with '{' or a list with '['; json_close() closes the innermost. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json);

/* text may be NULL, which is null. */
void json_text(struct json *json, const char *key, const char *text);
void json_number(struct json *json, const char *key, uint64_t number);
void json_flag(struct json *json, const char *key, bool flag);
void json_list(struct json *json, const char *key, const struct list *list);

#endif
