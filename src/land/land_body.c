/* The text of a request: see land_body.h. */
#include "land/land_body.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <string.h>

#define BEGIN "<!-- ringfence: begin; what follows is replaced -->"
#define END   "<!-- ringfence: end -->"

char *land_body_title(const char *objective)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(LAND_TITLE + 8);
	size_t size;

	objective += strspn(objective, " \t\r\n#");
	size = text_first(objective, strcspn(objective, "\r\n"), LAND_TITLE);
	for (size_t at = 0; at < size;) {
		uint32_t point;
		size_t length = text_utf8(objective + at, size - at, &point);

		if (length && !text_is_unsafe(point))
			buffer_add(&out, objective + at, length);
		else
			buffer_add_text(&out, " ");
		at += length ? length : 1;
	}
	return mem_dup(out.used ? buffer_text(&out) : "Work of an agent");
}

/* Finds the last mark; text that we quote may contain one. */
static const char *last_end(const char *text)
{
	const char *found = NULL;

	for (const char *at = text; (at = strstr(at, END)); at++)
		found = at;
	return found;
}

char *land_body_with(const char *body, const char *ours)
{
	const char *begin = strstr(body, BEGIN);
	const char *end = begin ? last_end(begin) : NULL;
	size_t size = strlen(body);

	if (begin && end)
		return mem_format("%.*s" BEGIN "\n%s\n" END "%s", (int)(begin - body), body, ours,
				  end + strlen(END));
	while (size && strchr(" \r\n", body[size - 1]))
		size--;
	return mem_format("%.*s%s" BEGIN "\n%s\n" END "\n", (int)size, body, size ? "\n\n" : "",
			  ours);
}
