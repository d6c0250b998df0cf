// sources:
/* Untrusted text in Markdown: nothing that it contains is markup, a mention, a reference or a
 * command. */
#include "fuzz.h"

#include "util/mem.h"
#include "util/text/markdown.h"
#include "util/text/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Returns the length of an escape or an entity at this place, or 0. */
static size_t escape_length(const char *at)
{
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&#8203;" };

	if (*at == '\\' && at[1] == '\n')
		return 1;
	if (*at == '\\' && ispunct((unsigned char)at[1]))
		return 2;
	for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
		if (text_after_prefix(at, entities[i]))
			return strlen(entities[i]);
	return 0;
}

/* A number and a mark begin a list. */
static bool begins_list(const char *line)
{
	size_t digits = strspn(line, "0123456789");

	return digits && (line[digits] == '.' || line[digits] == ')') &&
	       (line[digits + 1] == '\0' || isspace((unsigned char)line[digits + 1]));
}

/* The first character of a line, which is not empty, begins no block and no command. */
static void check_line(const char *line)
{
	if (isspace((unsigned char)*line) || strchr("-+=/:>#", *line) || begins_list(line))
		abort();
}

/* After an escaped mark, no name follows at once. */
static void check_name(char mark, const char *next)
{
	if (strchr("@#!~$^", mark) && (*next || strchr("@#", mark)) &&
	    !isspace((unsigned char)*next) && !text_after_prefix(next, "&#8203;") &&
	    !text_after_prefix(next, "\\\n"))
		abort();
}

static bool is_address(const char *at)
{
	return text_after_prefix(at, "://") ||
	       (strncasecmp(at, "www.", 4) == 0 && !text_after_prefix(at + 4, "&#8203;"));
}

static void check_markdown(const char *text)
{
	uint32_t point = 0;
	size_t length;

	for (const char *at = text; *at; at += length) {
		bool first = at == text || at[-1] == '\n';

		if (first && *at != '\n')
			check_line(at);
		length = escape_length(at);
		if (length == 2)
			check_name(at[1], at + 2);
		if (length)
			continue;
		length = text_utf8(at, strlen(at), &point);
		if (length == 0 || (text_is_unsafe(point) && point != '\n') ||
		    (point && point < 0x80 && strchr("\\`*_[]()<>#~|!$^@&", (int)point)) ||
		    is_address(at))
			abort();
	}
}

/* Code lasts until the fence with which it began. */
static void check_fence(const char *text)
{
	size_t fence = strspn(text, "`");
	size_t size = strlen(text);
	size_t run = 0;

	for (size_t at = fence; at < size; at += run ? run : 1) {
		run = strspn(text + at, "`");
		if (run >= fence && at + run < size - (text[size - 1] == '\n'))
			abort();
	}
}

void fuzz_markdown(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = mem_alloc(size + 1);
	AUTO_BUFFER struct buffer cell = BUFFER_INIT(16 << 20);
	AUTO_BUFFER struct buffer lines = BUFFER_INIT(16 << 20);
	AUTO_BUFFER struct buffer code = BUFFER_INIT(16 << 20);
	AUTO_BUFFER struct buffer block = BUFFER_INIT(16 << 20);

	memcpy(text, data, size);
	text[size] = '\0';
	markdown_text(&cell, text);
	markdown_lines(&lines, text);
	markdown_code(&code, text);
	markdown_block(&block, text);
	check_markdown(buffer_text(&cell));
	check_markdown(buffer_text(&lines));
	if (strchr(buffer_text(&cell), '\n') || strchr(buffer_text(&code), '\n'))
		abort();
	if (*buffer_text(&code) == '`')
		check_fence(code.data);
	else
		check_markdown(code.data);
	check_fence(buffer_text(&block));
}

FUZZ_TARGET(fuzz_markdown)
