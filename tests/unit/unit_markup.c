/* Untrusted text in HTML and Markdown. */
#include "unit.h"

#include "util/mem.h"
#include "util/text/html.h"
#include "util/text/markdown.h"

#include <string.h>

static bool is(struct buffer *out, const char *expected)
{
	bool same = strcmp(buffer_text(out), expected) == 0;

	if (!same)
		printf("# got %s\n", buffer_text(out));
	buffer_release(out);
	return same;
}

static bool html_is(const char *text, const char *expected)
{
	struct html html = HTML_INIT(1000);

	html_text(&html, text);
	return is(&html.out, expected);
}

static bool link_is(const char *target, const char *expected)
{
	struct html html = HTML_INIT(1000);

	html_open(&html, "a");
	html_link(&html, target);
	html_close(&html);
	return is(&html.out, expected);
}

static bool number_is(double number, const char *expected)
{
	struct html html = HTML_INIT(1000);

	html_void(&html, "i");
	html_number(&html, "x", number);
	html_literal(&html, "");
	return is(&html.out, expected);
}

static void pages(void)
{
	struct html html = HTML_INIT(1000);

	CHECK("markup in HTML text is text",
	      html_is("<b a='1' c=\"&\">", "&lt;b a=&#39;1&#39; c=&quot;&amp;&quot;&gt;"));
	CHECK("lines and tabs stay in HTML", html_is("a\n\tb", "a\n\tb"));
	CHECK("control characters and marks are visible in HTML",
	      html_is("a\x1b[1m\r\xe2\x80\xae\xf3\xa0\x80\x81",
		      "a\\u{1b}[1m\\u{d}\\u{202e}\\u{e0001}"));
	CHECK("invalid UTF-8 is replaced in HTML",
	      html_is("\xffg\xe2\x82", "\xef\xbf\xbdg\xef\xbf\xbd\xef\xbf\xbd"));
	CHECK("a place in a page is linked", link_is("#a", "<a href=\"#a\"></a>"));
	CHECK("a path on the same server is linked",
	      link_is("/a?b&c", "<a href=\"/a?b&amp;c\"></a>"));
	CHECK("a script is not linked", link_is("javascript:alert(1)", "<a href=\"#\"></a>"));
	CHECK("another server is not linked", link_is("//example.com", "<a href=\"#\"></a>"));
	CHECK("another server is not linked with a backslash",
	      link_is("/\\example.com", "<a href=\"#\"></a>"));
	CHECK("numbers have two decimals at most", number_is(-1.256, "<i x=\"-1.26\">"));
	CHECK("numbers end without zeros", number_is(20, "<i x=\"20\">"));
	CHECK("numbers stay numbers",
	      number_is(1e308 * 10, "<i x=\"0\">") && number_is(1e300, "<i x=\"0\">"));
	html_open(&html, "p");
	html_attribute(&html, "title", "\"><script>");
	html_text(&html, "x");
	html_attribute(&html, "class", "late");
	html_open(&html, "i");
	html_close(&html);
	html_close(&html);
	html_close(&html);
	CHECK("attributes are quoted, and tags are closed in order",
	      is(&html.out, "<p title=\"&quot;&gt;&lt;script&gt;\">x<i></i></p>"));
}

static void depth(void)
{
	AUTO_HTML struct html html = HTML_INIT(1000);

	for (size_t i = 0; i < HTML_DEPTH; i++)
		html_open(&html, "i");
	CHECK("tags can be nested", !buffer_overflowed(&html.out));
	html_open(&html, "i");
	CHECK("one tag more is too deep", buffer_overflowed(&html.out));
}

typedef void write_fn(struct buffer *out, const char *text);

static bool writes(write_fn *write, const char *text, const char *expected)
{
	struct buffer out = BUFFER_INIT(1000);

	write(&out, text);
	return is(&out, expected);
}

static void names(void)
{
	CHECK("nobody is mentioned",
	      writes(markdown_text, "by @you, a@b.c", "by \\@&#8203;you, a\\@&#8203;b.c"));
	CHECK("no issue is referenced", writes(markdown_text, "fixes #1 o/r#2 gh-3 !4 #",
					       "fixes \\#&#8203;1 o/r\\#&#8203;2 gh-&#8203;3 "
					       "\\!&#8203;4 \\#&#8203;"));
	CHECK("no address becomes a link",
	      writes(markdown_text, "http://a.b www.c.d", "http:&#8203;//a.b www.&#8203;c.d"));
	CHECK("no command is given", writes(markdown_lines, "/close", "\\/close"));
}

static void lines(void)
{
	CHECK("links and images are text",
	      writes(markdown_text, "![a](b) [c]", "\\!&#8203;\\[a\\]\\(b\\) \\[c\\]"));
	CHECK("HTML is text in Markdown", writes(markdown_text, "<b>&lt;", "&lt;b&gt;&amp;lt;"));
	CHECK("emphasis, code and cells are text",
	      writes(markdown_text, "*a* _b_ `c` ~~d~~ | \\",
		     "\\*a\\* \\_b\\_ \\`c\\` \\~&#8203;\\~&#8203;d\\~&#8203;\\~ \\| \\\\"));
	CHECK("lists, headings and rules are text",
	      writes(markdown_lines, "- a\n12. b\n# c\n---\n=\n3) d\n+ e",
		     "\\- a\\\n12\\. b\\\n\\# c\\\n\\---\\\n\\=\\\n3\\) d\\\n\\+ e"));
	CHECK("ordinary marks stay as they are",
	      writes(markdown_text, "1.5 a-b = 3/2: x", "1.5 a-b = 3/2: x"));
	CHECK("lines are joined in a cell", writes(markdown_text, "\n a\r\n\n  b \n", "a b"));
	CHECK("paragraphs stay paragraphs, and indented lines are not code",
	      writes(markdown_lines, "a\n\n\n     b\nc\n", "a\n\nb\\\nc"));
	CHECK("control characters and marks are visible in Markdown",
	      writes(markdown_text, "a\x1b\xe2\x80\xae\xff", "a\\\\u{1b}\\\\u{202e}\xef\xbf\xbd"));
}

static void code(void)
{
	CHECK("a path is code", writes(markdown_code, "src/a_b.c", "`src/a_b.c`"));
	CHECK("backticks do not end code", writes(markdown_code, "`a``", "``` `a`` ```"));
	CHECK("code with a bar is text, which does not end a cell",
	      writes(markdown_code, "a|[b]", "a\\|\\[b\\]"));
	CHECK("blank code is nothing", writes(markdown_code, " \n", ""));
	CHECK("code is one line", writes(markdown_code, "a\n\x1b", "`a \\u{1b}`"));
	CHECK("a block is longer than any fence in it",
	      writes(markdown_block, "a\n````\n@b", "`````\na\n````\n@b\n`````\n"));
	CHECK("an empty block is a block", writes(markdown_block, "", "```\n```\n"));
}

int main(void)
{
	pages();
	depth();
	names();
	lines();
	code();
	return unit_failures > 0;
}
