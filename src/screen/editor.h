/* A text that a person types: characters, a cursor between them, and lines. At most EDITOR_MOST
 * bytes; what would exceed it is not accepted. */
#ifndef SCREEN_EDITOR_H
#define SCREEN_EDITOR_H

#include <stddef.h>
#include <stdint.h>

enum { EDITOR_MOST = 16000 };

struct editor {
	char text[EDITOR_MOST + 1]; /* valid UTF-8 */
	size_t size;
	size_t at; /* the cursor */
};

void editor_clear(struct editor *editor);

/* Types a text. */
void editor_add(struct editor *editor, const char *text);

/* Types a character; control characters other than newline are ignored. */
void editor_type(struct editor *editor, uint32_t point);
void editor_backspace(struct editor *editor);
void editor_delete(struct editor *editor);
void editor_left(struct editor *editor);
void editor_right(struct editor *editor);

/* Within the line of the cursor. */
void editor_home(struct editor *editor);
void editor_end(struct editor *editor);

/* Remove the text before the cursor in its line, and the word before the cursor. */
void editor_cut_line(struct editor *editor);
void editor_cut_word(struct editor *editor);

#endif
