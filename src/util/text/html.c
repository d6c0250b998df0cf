/* HTML: see html.h. */
#include "util/text/html.h"

#include "util/text/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void html_release(struct html *html)
{
	buffer_release(&html->out);
}

/* The entity of a character that is markup, or NULL. */
static const char *entity(uint32_t point)
{
	switch (point) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void html_escape(struct buffer *out, const char *bytes, size_t size)
{
	for (size_t at = 0; at < size;) {
		uint32_t point = 0;
		size_t length = text_utf8(bytes + at, size - at, &point);
		const char *escaped = length ? entity(point) : "\xef\xbf\xbd";

		if (escaped)
			buffer_add_text(out, escaped);
		else if (point != '\n' && point != '\t' && text_is_unsafe(point))
			buffer_printf(out, "\\u{%x}", point);
		else
			buffer_add(out, bytes + at, length);
		at += length ? length : 1;
	}
}

/* The last tag takes no more attributes. */
static void end_tag(struct html *html)
{
	if (html->in_tag)
		buffer_add_text(&html->out, ">");
	html->in_tag = false;
}

void html_void_tag(struct html *html, const char *tag)
{
	end_tag(html);
	buffer_printf(&html->out, "<%s", tag);
	html->in_tag = true;
}

void html_open_tag(struct html *html, const char *tag)
{
	html_void_tag(html, tag);
	if (html->depth < HTML_DEPTH)
		html->open[html->depth++] = tag;
	else
		html->out.overflow = true;
}

void html_close(struct html *html)
{
	end_tag(html);
	if (html->depth > 0)
		buffer_printf(&html->out, "</%s>", html->open[--html->depth]);
}

void html_add_attribute(struct html *html, const char *name, const char *value)
{
	if (!html->in_tag) /* after text, it would be text itself */
		return;
	buffer_printf(&html->out, " %s=\"", name);
	html_escape(&html->out, value, strlen(value));
	buffer_add_text(&html->out, "\"");
}

void html_add_number(struct html *html, const char *name, double value)
{
	char number[64];
	char *end = number + snprintf(number, sizeof number, "%.2f", isfinite(value) ? value : 0);

	if (end > number + sizeof number - 1) /* no coordinate is this large */
		end = number + snprintf(number, sizeof number, "0.00");
	while (end[-1] == '0')
		end--;
	*(end[-1] == '.' ? end - 1 : end) = '\0';
	html_add_attribute(html, name, number);
}

void html_add_literal(struct html *html, const char *markup)
{
	end_tag(html);
	buffer_add_text(&html->out, markup);
}

void html_link(struct html *html, const char *target)
{
	bool here = target[0] == '#' || (target[0] == '/' && target[1] != '/' && target[1] != '\\');

	html_add_attribute(html, "href", here ? target : "#");
}

void html_bytes(struct html *html, const char *bytes, size_t size)
{
	end_tag(html);
	html_escape(&html->out, bytes, size);
}

void html_text(struct html *html, const char *text)
{
	html_bytes(html, text, strlen(text));
}

void html_printf(struct html *html, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	html_text(html, text);
}
