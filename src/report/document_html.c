/* A report as one HTML page: see document.h. */
#include "report/document.h"

#include "util/mem.h"
#include "util/text/base64.h"
#include "util/text/sha256.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The page runs nothing and loads nothing; its policy names the hash of this style sheet. */
#define STYLE                                                                                      \
	":root{color-scheme:light dark;--bg:#fff;--card:#f6f8fa;--line:#d8dee4;--text:#1f2328;"    \
	"--dim:#59636e;--good:#1a7f37;--bad:#cf222e;--warn:#9a6700;--link:#0969da;"                \
	"--s0:#0969da;--s1:#1a7f37;--s2:#bf8700;--s3:#8250df;--s4:#cf222e}"                        \
	"@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--card:#161b22;--line:#30363d;"      \
	"--text:#e6edf3;--dim:#9198a1;--good:#3fb950;--bad:#f85149;--warn:#d29922;"                \
	"--link:#4493f8;--s0:#4493f8;--s1:#3fb950;--s2:#d29922;--s3:#ab7df8;--s4:#f85149}}"        \
	"*{box-sizing:border-box}"                                                                 \
	"body{margin:0;background:var(--bg);color:var(--text);"                                    \
	"font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"Noto Sans\",sans-serif}"             \
	".page{max-width:1180px;margin:0 auto;padding:28px 24px 48px}"                             \
	"a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}"              \
	"h1{font-size:25px;line-height:1.25;margin:0 0 6px;overflow-wrap:anywhere}"                \
	"h2{font-size:18px;margin:0 0 12px;padding-top:22px;overflow-wrap:anywhere}"               \
	"p{margin:0 0 10px;overflow-wrap:anywhere}.dim,.sub{color:var(--dim)}"                     \
	".status{display:inline-block;margin:10px 0 18px;padding:3px 12px;border-radius:999px;"    \
	"border:1px solid currentColor;font-weight:600}"                                           \
	".good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}"                   \
	".figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(128px,1fr));"         \
	"gap:10px;margin:0}"                                                                       \
	".figures div{background:var(--card);border:1px solid var(--line);border-radius:8px;"      \
	"padding:10px 12px}"                                                                       \
	".figures dt{color:var(--dim);font-size:13px}"                                             \
	".figures dd{margin:0;font-size:17px;font-weight:600;overflow-wrap:anywhere;"              \
	"font-variant-numeric:tabular-nums}"                                                       \
	".columns{display:grid;grid-template-columns:190px minmax(0,1fr);gap:28px}"                \
	"nav{padding-top:26px}nav ol{position:sticky;top:16px;list-style:none;margin:0;padding:0;" \
	"max-height:calc(100vh - 32px);overflow:auto;font-size:14px}"                              \
	"nav a{display:block;padding:3px 10px;border-left:2px solid var(--line);color:var(--dim);" \
	"overflow-wrap:anywhere}nav a:hover{color:var(--text);border-color:var(--link)}"           \
	"section{border-bottom:1px solid var(--line);padding-bottom:18px}"                         \
	"section:last-child{border:0}"                                                             \
	"blockquote{margin:0 0 12px;padding:8px 14px;border-left:3px solid var(--line);"           \
	"background:var(--card);white-space:pre-wrap;overflow-wrap:anywhere}"                      \
	".facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 18px;"        \
	"margin:0 0 12px}.facts dt{color:var(--dim)}.facts dd{margin:0;overflow-wrap:anywhere}"    \
	".scroll{overflow-x:auto;margin:0 0 12px}"                                                 \
	"table{border-collapse:collapse;font-size:14px}"                                           \
	"th{color:var(--dim);font-weight:500;font-size:13px;text-align:left;white-space:nowrap}"   \
	"th,td{padding:5px 20px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}"     \
	"tr:last-child td{border-bottom:0}td code{overflow-wrap:anywhere}"                         \
	"td{max-width:640px;overflow-wrap:break-word}"                                             \
	".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"                \
	"code{font:13px/1.45 ui-monospace,\"DejaVu Sans Mono\",monospace;white-space:pre-wrap}"    \
	".plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));" \
	"gap:14px;margin-bottom:12px}"                                                             \
	"figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;"   \
	"padding:10px 12px;min-width:0;break-inside:avoid}"                                        \
	"figcaption{font-weight:600;font-size:14px;margin-bottom:4px}"                             \
	"svg{display:block;width:100%;height:auto}"                                                \
	".grid{stroke:var(--line);fill:none}.axis{stroke:var(--dim);fill:none}"                    \
	".tick{fill:var(--dim);font-size:11px}.end{text-anchor:end}.middle{text-anchor:middle}"    \
	".s0{fill:var(--s0)}.s1{fill:var(--s1)}.s2{fill:var(--s2)}"                                \
	".s3{fill:var(--s3)}.s4{fill:var(--s4)}"                                                   \
	".legend{color:var(--dim);font-size:13px;margin:4px 0 0;display:flex;flex-wrap:wrap;"      \
	"gap:2px 14px}.key{display:inline-block;width:10px;height:10px;border-radius:2px;"         \
	"margin-right:6px}.k0{background:var(--s0)}.k1{background:var(--s1)}"                      \
	".k2{background:var(--s2)}.k3{background:var(--s3)}.k4{background:var(--s4)}"              \
	"footer{color:var(--dim);font-size:13px;padding-top:18px}"                                 \
	"@media(max-width:800px){.page{padding:18px 14px 36px}.columns{display:block}"             \
	"nav{padding-top:18px}nav ol{position:static;max-height:none;display:flex;"                \
	"flex-wrap:wrap;gap:2px 14px}nav a{border:0;padding:2px 0}"                                \
	".figures{grid-template-columns:repeat(2,minmax(0,1fr))}"                                  \
	".tick{font-size:15px}"                                                                    \
	"td:first-child code{display:block;min-width:11em}td:last-child{min-width:9em}"            \
	".n:last-child{min-width:0}.facts{grid-template-columns:minmax(0,1fr);gap:0}"              \
	".facts dd{margin-bottom:8px}}"                                                            \
	"@media print{:root{--bg:#fff;--card:#fff;--text:#000;--dim:#444;--line:#bbb}"             \
	"body{font-size:11px}.page{max-width:none;padding:0}nav{display:none}"                     \
	".columns{display:block}tr,.figures div{break-inside:avoid}h2{break-after:avoid}"          \
	".scroll{overflow:visible}a{color:inherit}}"

static const char style[] = STYLE;

static unsigned char nibble(char digit)
{
	return (unsigned char)(isdigit((unsigned char)digit) ? digit - '0' : digit - 'a' + 10);
}

/* Appends the policy by which a browser runs nothing, loads nothing, and uses only our styles. */
static void add_policy(struct html *html)
{
	AUTO_BUFFER struct buffer policy = BUFFER_INIT(256);
	char hex[SHA256_HEX];
	unsigned char hash[(SHA256_HEX - 1) / 2];

	sha256_hex(style, sizeof style - 1, hex);
	for (size_t i = 0; i < sizeof hash; i++)
		hash[i] = (unsigned char)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
	buffer_add_text(&policy, "default-src 'none'; base-uri 'none'; form-action 'none'; "
				 "style-src 'sha256-");
	base64_add(&policy, hash, sizeof hash);
	buffer_add_text(&policy, "'");
	html_void(html, "meta");
	html_attribute(html, "http-equiv", "Content-Security-Policy");
	html_attribute(html, "content", buffer_text(&policy));
}

static const char *class_of(enum document_tone tone)
{
	static const char *const classes[] = {
		[DOCUMENT_GOOD] = "good", [DOCUMENT_BAD] = "bad",   [DOCUMENT_WARNING] = "warn",
		[DOCUMENT_DIM] = "dim",   [DOCUMENT_NUMBER] = NULL,
	};

	return classes[tone];
}

static void add_cell(struct html *html, const struct document_cell *cell)
{
	AUTO_FREE char *target = cell->target ? mem_format("#%s", cell->target) : NULL;

	if (target) {
		html_open(html, "a");
		html_link(html, target);
	}
	if (cell->tone == DOCUMENT_CODE) {
		html_open(html, "code");
		html_text(html, cell->text);
		html_close(html);
	} else if (class_of(cell->tone)) {
		html_open(html, "span");
		html_attribute(html, "class", class_of(cell->tone));
		html_text(html, cell->text);
		html_close(html);
	} else {
		html_text(html, cell->text);
	}
	if (target)
		html_close(html);
}

static void add_row(struct html *html, const struct document_block *block, size_t first)
{
	html_open(html, "tr");
	for (size_t i = 0; i < block->column_count; i++) {
		html_open(html, "td");
		if (block->columns[i].number)
			html_attribute(html, "class", "n");
		add_cell(html, &block->cells[first + i]);
		html_close(html);
	}
	html_close(html);
	html_literal(html, "\n");
}

static void add_table(struct html *html, const struct document_block *block)
{
	html_open(html, "div");
	html_attribute(html, "class", "scroll");
	html_open(html, "table");
	html_open(html, "thead");
	html_open(html, "tr");
	for (size_t i = 0; i < block->column_count; i++) {
		html_open(html, "th");
		if (block->columns[i].number)
			html_attribute(html, "class", "n");
		html_text(html, block->columns[i].title);
		html_close(html);
	}
	html_close(html);
	html_close(html);
	html_open(html, "tbody");
	for (size_t i = 0; i + block->column_count <= block->cell_count; i += block->column_count)
		add_row(html, block, i);
	html_close(html);
	html_close(html);
	html_close(html);
}

/* Names and values; figures are boxes of their own. */
static void add_facts(struct html *html, const struct document_cell *cells, size_t count,
		      bool boxes)
{
	html_open(html, "dl");
	html_attribute(html, "class", boxes ? "figures" : "facts");
	for (size_t i = 0; i + 1 < count; i += 2) {
		if (boxes)
			html_open(html, "div");
		html_open(html, "dt");
		html_text(html, cells[i].text);
		html_close(html);
		html_open(html, "dd");
		add_cell(html, &cells[i + 1]);
		html_close(html);
		if (boxes)
			html_close(html);
	}
	html_close(html);
}

static void add_text(struct html *html, const struct document_block *block)
{
	html_open(html, "p");
	if (block->kind == DOCUMENT_NOTE)
		html_attribute(html, "class", "dim");
	html_text(html, block->text);
	html_close(html);
}

static void add_block(struct html *html, const struct document_block *block)
{
	switch (block->kind) {
	case DOCUMENT_FACTS:
		add_facts(html, block->cells, block->cell_count, false);
		break;
	case DOCUMENT_TABLE:
		add_table(html, block);
		break;
	case DOCUMENT_PLOT:
		plot_html(html, &block->plot);
		break;
	case DOCUMENT_QUOTE:
		html_open(html, "blockquote");
		html_text(html, block->text);
		html_close(html);
		break;
	default:
		add_text(html, block);
		break;
	}
	html_literal(html, "\n");
}

static bool is_plot(const struct document_section *section, size_t block)
{
	return block < section->count && section->blocks[block].kind == DOCUMENT_PLOT;
}

/* Plots that follow each other stand beside each other. */
static void add_section(struct html *html, const struct document_section *section)
{
	html_open(html, "section");
	html_attribute(html, "id", section->id);
	html_open(html, "h2");
	html_text(html, section->title);
	html_close(html);
	for (size_t i = 0; i < section->count; i++) {
		if (is_plot(section, i) && (i == 0 || !is_plot(section, i - 1))) {
			html_open(html, "div");
			html_attribute(html, "class", "plots");
		}
		add_block(html, &section->blocks[i]);
		if (is_plot(section, i) && !is_plot(section, i + 1))
			html_close(html);
	}
	html_close(html);
	html_literal(html, "\n");
}

static void add_head(struct html *html, const struct document *document)
{
	html_literal(html, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
	add_policy(html);
	html_literal(html,
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		     "<meta name=\"referrer\" content=\"no-referrer\">");
	html_open(html, "title");
	html_text(html, document->title);
	html_close(html);
	html_literal(html, "<style>" STYLE "</style></head>\n<body><div class=\"page\">");
}

static void add_contents(struct html *html, const struct document *document)
{
	html_literal(html, "<nav aria-label=\"Contents\"><ol>");
	for (size_t i = 0; i < document->count; i++) {
		AUTO_FREE char *target = mem_format("#%s", document->sections[i].id);

		html_open(html, "li");
		html_open(html, "a");
		html_link(html, target);
		html_text(html, document->sections[i].title);
		html_close(html);
		html_close(html);
	}
	html_literal(html, "</ol></nav>\n");
}

static void add_title(struct html *html, const struct document *document)
{
	const char *tone = class_of(document->status.tone);
	AUTO_FREE char *classes = mem_format("status %s", tone ? tone : "");

	html_open(html, "header");
	html_open(html, "h1");
	html_text(html, document->title);
	html_close(html);
	html_open(html, "div");
	html_attribute(html, "class", "sub");
	html_text(html, document->subtitle);
	html_close(html);
	html_open(html, "div");
	html_attribute(html, "class", classes);
	html_text(html, document->status.text);
	html_close(html);
	add_facts(html, document->figures, document->figure_count, true);
	html_close(html);
}

void document_html(const struct document *document, struct html *html)
{
	add_head(html, document);
	add_title(html, document);
	html_literal(html, "<div class=\"columns\">");
	add_contents(html, document);
	html_open(html, "main");
	for (size_t i = 0; i < document->count; i++)
		add_section(html, &document->sections[i]);
	html_close(html);
	html_literal(html, "</div>\n");
	html_open(html, "footer");
	html_text(html, document->footer);
	html_close(html);
	html_literal(html, "</div></body></html>\n");
}
