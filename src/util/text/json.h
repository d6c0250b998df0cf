/*
 * A JSON writer that takes care of brackets, commas, line breaks and quotes.
 *
 * Every function takes the key of an entry, or NULL inside a list and for the top-level value.
 * Entries of the top-level value, and lists or objects in its lists, get a line each.
 */
#ifndef UTIL_TEXT_JSON_H
#define UTIL_TEXT_JSON_H

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

/* Opens an object with '{' or a list with '['; json_close() closes the innermost one. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json);

/* A NULL text is written as null. */
void json_text(struct json *json, const char *key, const char *text);

/* Adds bytes as a text; a NUL becomes U+FFFD, as everything that is not UTF-8. */
void json_bytes(struct json *json, const char *key, const char *bytes, size_t size);
void json_number(struct json *json, const char *key, uint64_t number);
void json_flag(struct json *json, const char *key, bool flag);
void json_list(struct json *json, const char *key, const struct list *list);

#endif
