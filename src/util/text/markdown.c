/* Markdown: see markdown.h. */
#include "util/text/markdown.h"

#include "util/text/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const char separator[] = "&#8203;"; /* a space without width */

/* Appends a character that is not ASCII markup. Returns the bytes that were read. */
static size_t add_character(struct buffer *out, const char *text, const char *backslash)
{
	uint32_t point = 0;
	size_t length = text_utf8(text, strlen(text), &point);

	if (length == 0)
		buffer_add_text(out, "\xef\xbf\xbd");
	else if (text_is_unsafe(point))
		buffer_printf(out, "%su{%x}", backslash, point);
	else
		buffer_add(out, text, length);
	return length ? length : 1;
}

/* Does this character begin a list, a heading or an underline when it is first in a line? */
static bool marks_line(char character)
{
	return character && strchr("-+=/:", character);
}

/* "1. " and "1) " begin a numbered list. */
static bool ends_number(const char *line, const char *at, char next)
{
	if (next && next != ' ' && next != '\t')
		return false;
	return (*at == '.' || *at == ')') && at > line && isdigit((unsigned char)at[-1]) &&
	       strspn(line, "0123456789") == (size_t)(at - line);
}

/* Does a name follow that is looked up after the markup: a person, an issue, an address? The next
 * character is 0 at the end of the line, where another text may follow. */
static bool names_follow(const char *line, const char *at, char next)
{
	bool blank = next == ' ' || next == '\t';

	if (*at == '@' || *at == '#')
		return !blank;
	if (strchr("!~%$^", *at))
		return next && !blank;
	if (*at == ':')
		return next == '/';
	if (*at == '.')
		return at - line >= 3 && strncasecmp(at - 3, "www", 3) == 0;
	return *at == '-' && at - line >= 2 && strncasecmp(at - 2, "gh", 2) == 0;
}

static void add_ascii(struct buffer *out, const char *line, const char *at, char next)
{
	if (*at == '&')
		buffer_add_text(out, "&amp;");
	else if (*at == '<')
		buffer_add_text(out, "&lt;");
	else if (*at == '>')
		buffer_add_text(out, "&gt;");
	else if (strchr("\\`*_{}[]()#~|!$^@", *at) || (at == line && marks_line(*at)) ||
		 ends_number(line, at, next))
		buffer_printf(out, "\\%c", *at);
	else
		buffer_add(out, *at == '\t' ? " " : at, 1);
	if (names_follow(line, at, next))
		buffer_add_text(out, separator);
}

/* Appends a line. Space at its start and end would be markup. */
static void add_line(struct buffer *out, const char *line, size_t size)
{
	const char *end;

	while (size && isspace((unsigned char)line[0]))
		line++, size--;
	while (size && isspace((unsigned char)line[size - 1]))
		size--;
	end = line + size;
	for (const char *at = line; at < end;)
		if ((*at >= ' ' && *at < 0x7f) || *at == '\t') {
			add_ascii(out, line, at, (char)(at + 1 < end ? at[1] : '\0'));
			at++;
		} else {
			at += add_character(out, at, "\\\\");
		}
}

/* Calls add_line for each line of the text that is not blank, with something between them. */
static void add_lines(struct buffer *out, const char *text, const char *within, const char *apart)
{
	const char *between = "";
	size_t size;

	for (; *text; text += size, text += *text == '\n') {
		size = strcspn(text, "\n");
		if (strspn(text, " \t\r\v\f") >= size) {
			between = *between ? apart : "";
			continue;
		}
		buffer_add_text(out, between);
		add_line(out, text, size);
		between = within;
	}
}

void markdown_text(struct buffer *out, const char *text)
{
	add_lines(out, text, " ", " ");
}

void markdown_lines(struct buffer *out, const char *text)
{
	add_lines(out, text, "\\\n", "\n\n");
}

/* The longest run of backticks. */
static size_t longest_fence(const char *text)
{
	size_t most = 0;

	for (; *text; text++) {
		size_t run = strspn(text, "`");

		most = run > most ? run : most;
		text += run ? run - 1 : 0;
	}
	return most;
}

static void add_fence(struct buffer *out, size_t size)
{
	for (; size; size--)
		buffer_add_text(out, "`");
}

static void add_code(struct buffer *out, const char *text, bool one_line)
{
	while (*text)
		if (*text == '\n' || *text == '\t') {
			buffer_add(out, one_line ? " " : text, 1);
			text++;
		} else {
			text += add_character(out, text, "\\");
		}
}

void markdown_code(struct buffer *out, const char *text)
{
	size_t fence = longest_fence(text) + 1;

	/* A bar ends a cell even in code, and blanks cannot be code. */
	if (strchr(text, '|') || strspn(text, " \t\n") == strlen(text)) {
		markdown_text(out, text);
		return;
	}
	add_fence(out, fence);
	buffer_add_text(out, fence > 1 ? " " : "");
	add_code(out, text, true);
	buffer_add_text(out, fence > 1 ? " " : "");
	add_fence(out, fence);
}

void markdown_block(struct buffer *out, const char *text)
{
	size_t fence = longest_fence(text) + 1;
	size_t size = strlen(text);

	fence = fence < 3 ? 3 : fence;
	add_fence(out, fence);
	buffer_add_text(out, "\n");
	add_code(out, text, false);
	buffer_add_text(out, size && text[size - 1] != '\n' ? "\n" : "");
	add_fence(out, fence);
	buffer_add_text(out, "\n");
}
