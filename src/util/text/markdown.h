/*
 * Untrusted text in Markdown, as GitHub, GitLab and Gitea read it. It stays text: no links, images,
 * @mentions, #references, commands such as /close, HTML, or anything else that is markup. Where a
 * backslash does not help, because names are looked up after the markup, an invisible &#8203;
 * separates a mark from its name. Control characters and marks that reorder or hide text become
 * visible, such as \u{202e}; invalid UTF-8 becomes U+FFFD.
 *
 * A text that has to be copied exactly, such as a path or a command, is better written as code.
 */
#ifndef UTIL_TEXT_MARKDOWN_H
#define UTIL_TEXT_MARKDOWN_H

#include "util/buffer.h"

/* On one line: in a sentence, a heading, a list item or a cell of a table. */
void markdown_text(struct buffer *out, const char *text);

/* Lines and paragraphs. The text begins on a line of its own; no newline follows it. */
void markdown_lines(struct buffer *out, const char *text);

/* `code` on one line, also in a cell of a table. */
void markdown_code(struct buffer *out, const char *text);

/* A block of code, between lines of its own. */
void markdown_block(struct buffer *out, const char *text);

#endif
