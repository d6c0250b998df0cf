/*
 * A writer of HTML and SVG. Tags and the names of attributes are literals; all other text is
 * escaped, so that it can only ever be text:
 *
 *	html_open(&html, "td");
 *	html_attribute(&html, "title", path);
 *	html_text(&html, line);
 *	html_close(&html);
 *
 * Control characters and marks that reorder or hide text become visible, such as \u{202e}; invalid
 * UTF-8 becomes U+FFFD.
 */
#ifndef UTIL_TEXT_HTML_H
#define UTIL_TEXT_HTML_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum { HTML_DEPTH = 32 }; /* the most tags that are open at once; one more counts as overflow */

struct html {
	struct buffer out;
	const char *open[HTML_DEPTH];
	size_t depth;
	bool in_tag; /* the last tag takes attributes until text or another tag follows */
};

#define HTML_INIT(maximum) ((struct html){ .out = BUFFER_INIT(maximum) })

void html_release(struct html *html);

#define AUTO_HTML __attribute__((cleanup(html_release)))

/* Only literals compile. html_literal() writes markup as it is. */
#define html_open(html, tag)              html_open_tag(html, "" tag "")
#define html_void(html, tag)              html_void_tag(html, "" tag "")
#define html_attribute(html, name, value) html_add_attribute(html, "" name "", value)
#define html_number(html, name, value)    html_add_number(html, "" name "", value)
#define html_literal(html, markup)        html_add_literal(html, "" markup "")

void html_open_tag(struct html *html, const char *tag);
void html_void_tag(struct html *html, const char *tag); /* such as <br>: it is never closed */
void html_add_attribute(struct html *html, const char *name, const char *value);
void html_add_number(struct html *html, const char *name, double value); /* two decimals at most */
void html_add_literal(struct html *html, const char *markup);

/* Closes the tag that was opened last. */
void html_close(struct html *html);

/* The target of a link: a place in this page (#...) or on this server (/...). Any other becomes
 * "#", because a link may run a script or lead elsewhere. */
void html_link(struct html *html, const char *target);

void html_text(struct html *html, const char *text);
void html_bytes(struct html *html, const char *bytes, size_t size);
void html_printf(struct html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends escaped text, which can stand between tags and in quotes. */
void html_escape(struct buffer *out, const char *bytes, size_t size);

#endif
