/* A text that a person types: see editor.h. */
#include "screen/editor.h"

#include "util/text/text.h"

#include <string.h>

void editor_clear(struct editor *editor)
{
	editor->size = editor->at = 0;
	editor->text[0] = '\0';
}

static size_t encode(uint32_t point, char bytes[4])
{
	if (point < 0x80) {
		bytes[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		bytes[0] = (char)(0xc0 | point >> 6);
		bytes[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		bytes[0] = (char)(0xe0 | point >> 12);
		bytes[1] = (char)(0x80 | (point >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (point & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | point >> 18);
	bytes[1] = (char)(0x80 | (point >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (point >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (point & 0x3f));
	return 4;
}

void editor_type(struct editor *editor, uint32_t point)
{
	char bytes[4];
	uint32_t read;
	size_t size = encode(point, bytes);

	if (point == '\t')
		bytes[0] = ' ';
	else if ((text_is_unsafe(point) && point != '\n') || point > 0x10ffff)
		return;
	if (text_utf8(bytes, size, &read) != size || editor->size + size > EDITOR_MOST)
		return;
	memmove(editor->text + editor->at + size, editor->text + editor->at,
		editor->size - editor->at + 1);
	memcpy(editor->text + editor->at, bytes, size);
	editor->at += size;
	editor->size += size;
}

void editor_add(struct editor *editor, const char *text)
{
	size_t left = strlen(text);
	uint32_t point;
	size_t size;

	for (; (size = text_utf8(text, left, &point)); text += size, left -= size)
		editor_type(editor, point);
}

static size_t before(const struct editor *editor)
{
	size_t at = editor->at;

	while (at > 0 && ((unsigned char)editor->text[--at] & 0xc0) == 0x80)
		;
	return at;
}

/* Removes the text between a place and the cursor. */
static void cut(struct editor *editor, size_t from)
{
	memmove(editor->text + from, editor->text + editor->at, editor->size - editor->at + 1);
	editor->size -= editor->at - from;
	editor->at = from;
}

void editor_backspace(struct editor *editor)
{
	cut(editor, before(editor));
}

void editor_delete(struct editor *editor)
{
	size_t at = editor->at;

	editor_right(editor);
	cut(editor, at);
}

void editor_left(struct editor *editor)
{
	editor->at = before(editor);
}

void editor_right(struct editor *editor)
{
	uint32_t point;

	editor->at += text_utf8(editor->text + editor->at, editor->size - editor->at, &point);
}

void editor_home(struct editor *editor)
{
	while (editor->at > 0 && editor->text[editor->at - 1] != '\n')
		editor->at--;
}

void editor_end(struct editor *editor)
{
	editor->at += strcspn(editor->text + editor->at, "\n");
}

void editor_cut_line(struct editor *editor)
{
	size_t at = editor->at;
	size_t from;

	editor_home(editor);
	from = editor->at;
	editor->at = at;
	cut(editor, from);
}

void editor_cut_word(struct editor *editor)
{
	size_t from = editor->at;

	while (from > 0 && editor->text[from - 1] == ' ')
		from--;
	while (from > 0 && editor->text[from - 1] != ' ' && editor->text[from - 1] != '\n')
		from--;
	cut(editor, from);
}
