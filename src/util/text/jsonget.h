/* Reads members of JSON objects (jansson). A missing member, or one of another type, yields a
 * default. */
#ifndef UTIL_TEXT_JSONGET_H
#define UTIL_TEXT_JSONGET_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Defaults to NULL. */
static inline const char *jsonget_string(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* Defaults to the empty string. */
static inline const char *jsonget_text(const json_t *object, const char *key)
{
	const char *text = jsonget_string(object, key);

	return text ? text : "";
}

/* Defaults to 0. */
static inline json_int_t jsonget_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* Reads a number below `count`; any other is 0. */
static inline uint32_t jsonget_index(const json_t *object, const char *key, uint32_t count)
{
	json_int_t value = jsonget_number(object, key);

	return value > 0 && value < (json_int_t)count ? (uint32_t)value : 0;
}

static inline bool jsonget_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

#endif
