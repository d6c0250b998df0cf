/* Targets and cookies: see web_query.h. */
#include "serve/web_query.h"

#include <stdbool.h>
#include <string.h>

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes a name or a value in place. Returns false for a bad escape or a control character. */
static bool decode(char *text)
{
	char *out = text;

	for (; *text; text++) {
		char c = *text == '+' ? ' ' : *text;

		if (*text == '%') {
			int high = digit(text[1]);
			int low = high < 0 ? -1 : digit(text[2]);

			if (low < 0)
				return false;
			c = (char)(high << 4 | low);
			text += 2;
		}
		if ((unsigned char)c < ' ' && c != '\t' && c != '\n')
			return false;
		if (c == '\x7f')
			return false;
		*out++ = c;
	}
	*out = '\0';
	return true;
}

static int add_item(struct web_query *query, char *item, struct error *err)
{
	char *value = strchr(item, '=');

	if (query->count == WEB_QUERY_MOST)
		return error_with(err, ERROR_INVALID, "the address has more than %d parameters",
				  WEB_QUERY_MOST);
	if (value)
		*value++ = '\0';
	else
		value = item + strlen(item);
	if (!decode(item) || !decode(value))
		return error_with(err, ERROR_INVALID,
				  "a parameter of the address has an invalid escape");
	query->items[query->count++] = (struct web_query_item){ item, value };
	return 0;
}

int web_query_parse(const char *target, struct web_query *ret_query, struct error *err)
{
	size_t size = strlen(target);
	char *at, *next;

	*ret_query = (struct web_query){ .path = ret_query->bytes };
	if (size >= WEB_QUERY_TARGET)
		return error_with(err, ERROR_INVALID, "the address is longer than %d bytes",
				  WEB_QUERY_TARGET - 1);
	if (*target != '/')
		return error_with(err, ERROR_INVALID, "the target must be a path");
	memcpy(ret_query->bytes, target, size + 1);
	at = strchr(ret_query->bytes, '?');
	if (at)
		*at++ = '\0';
	for (; at && *at; at = next) {
		next = strchr(at, '&');
		if (next)
			*next++ = '\0';
		if (*at && add_item(ret_query, at, err) < 0)
			return -1;
	}
	return 0;
}

const char *web_query_get(const struct web_query *query, const char *name)
{
	for (size_t i = 0; i < query->count; i++)
		if (strcmp(query->items[i].name, name) == 0)
			return query->items[i].value;
	return NULL;
}

const char *web_query_cookie(const char *header, const char *name, size_t *ret_size)
{
	size_t length = strlen(name);

	while (*header) {
		header += strspn(header, "; \t");
		*ret_size = strcspn(header, ";");
		if (*ret_size > length && strncmp(header, name, length) == 0 &&
		    header[length] == '=') {
			*ret_size -= length + 1;
			return header + length + 1;
		}
		header += *ret_size;
	}
	return NULL;
}
