// sources:
/* Untrusted text in HTML: nothing that it contains is markup, in text or in an attribute. */
#include "fuzz.h"

#include "util/mem.h"
#include "util/text/html.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

static const char before[] = "<a title=\"";
static const char within[] = "\">";
static const char after[] = "</a>";

/* Returns the text after the literal. */
static const char *expect(const char *at, const char *literal)
{
	const char *rest = text_after_prefix(at, literal);

	if (!rest)
		abort();
	return rest;
}

/* Checks an escaped text up to the markup that follows it, and returns that. */
static const char *check_text(const char *at)
{
	uint32_t point = 0;

	for (size_t length; *at && *at != '<' && *at != '"'; at += length) {
		length = text_utf8(at, strlen(at), &point);
		if (length == 0 || point == '>' || point == '\'' ||
		    (text_is_unsafe(point) && point != '\n' && point != '\t'))
			abort();
		if (point == '&' && !text_after_prefix(at, "&amp;") &&
		    !text_after_prefix(at, "&lt;") && !text_after_prefix(at, "&gt;") &&
		    !text_after_prefix(at, "&quot;") && !text_after_prefix(at, "&#39;"))
			abort();
	}
	return at;
}

void fuzz_html(const uint8_t *data, size_t size)
{
	AUTO_HTML struct html html = HTML_INIT(16 << 20);
	AUTO_FREE char *text = mem_alloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	html_open(&html, "a");
	html_attribute(&html, "title", text);
	html_bytes(&html, (const char *)data, size);
	html_close(&html);
	if (*expect(check_text(expect(check_text(expect(buffer_text(&html.out), before)), within)),
		    after))
		abort();
}

FUZZ_TARGET(fuzz_html)
