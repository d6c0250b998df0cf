/* The screen without a terminal: cells, lists, keys, typed text, and dialogs. */
#include "unit.h"

#include "screen/canvas.h"
#include "screen/compact.h"
#include "screen/dialog.h"
#include "screen/editor.h"
#include "screen/fleet.h"
#include "screen/keymap.h"
#include "screen/scroll.h"
#include "screen/sheet.h"
#include "util/mem.h"

#include <locale.h>
#include <string.h>

static struct canvas begin(int rows, int cols)
{
	struct canvas canvas = { .utf8 = true };

	canvas_resize(&canvas, rows, cols);
	return canvas;
}

static bool shows(const struct canvas *canvas, int row, const char *wanted)
{
	AUTO_FREE char *text = canvas_row_text(canvas, row);

	if (strcmp(text, wanted) != 0)
		printf("# row %d: '%s'\n", row, text);
	return strcmp(text, wanted) == 0;
}

/* Draws a text alone. */
static bool draws(const char *text, int cols, const char *wanted)
{
	struct canvas canvas = begin(1, cols);
	bool same;

	canvas_put(&canvas, 0, 0, cols, CANVAS_plain, text);
	same = shows(&canvas, 0, wanted);
	canvas_release(&canvas);
	return same;
}

static void test_canvas(void)
{
	struct canvas canvas = begin(2, 10);

	CHECK("a text that fits is drawn as it is", draws("0123456789", 10, "0123456789"));
	CHECK("a longer text ends with dots", draws("0123456789a", 10, "012345678\u2026"));
	CHECK("a terminal's commands are shown, not obeyed",
	      draws("a\033[31mb", 20, "a\\x1b[31mb"));
	CHECK("direction marks are shown", draws("a\u202eb", 20, "a\\xe2\\x80\\xaeb"));
	CHECK("bytes that are not UTF-8 are shown", draws("a\xff", 20, "a\\xff"));
	CHECK("a wide character has two columns", draws("\u65e5\u672c", 4, "\u65e5\u672c"));
	CHECK("a wide character is not cut in half", draws("a\u65e5\u672c", 4, "a\u65e5\u2026"));
	CHECK("a combining character has no column", draws("e\u0301x", 2, "e\u0301x"));
	CHECK("further combining characters are left out",
	      draws("e\u0301\u0301\u0301\u0301\u0301x", 2, "e\u0301\u0301x"));
	CHECK("a tab goes to the next stop", draws("a\tb", 10, "a   b"));
	canvas_put(&canvas, 5, 0, 10, CANVAS_plain, "outside");
	canvas_put(&canvas, 0, -3, 10, CANVAS_plain, "abcdef");
	CHECK("nothing is drawn outside", shows(&canvas, 0, "def") && shows(&canvas, 1, ""));
	CHECK("a text at the right ends there",
	      canvas_put_right(&canvas, 1, 0, 10, CANVAS_plain, "end") == 7 &&
		      shows(&canvas, 1, "       end"));
	CHECK("a text at the right that does not fit is left out",
	      canvas_put_right(&canvas, 1, 8, 10, CANVAS_plain, "long") == 10);
	canvas.utf8 = false;
	canvas_clear(&canvas);
	canvas_put(&canvas, 0, 0, 10, CANVAS_plain, "\u2713 \u65e5 \u00e9");
	CHECK("without UTF-8 there is only ASCII", shows(&canvas, 0, "+ ?  ?"));
	canvas_release(&canvas);
}

static void test_scroll(void)
{
	struct scroll scroll = { 0 };

	scroll_fit(&scroll, 100, 10);
	scroll_move(&scroll, 12);
	CHECK("the list scrolls as little as the cursor needs", scroll.at == 12 && scroll.top == 3);
	scroll_move(&scroll, -100);
	CHECK("the cursor stops at the beginning", scroll.at == 0 && scroll.top == 0);
	scroll_to(&scroll, SIZE_MAX);
	CHECK("the cursor stops at the end", scroll.at == 99 && scroll.top == 90);
	scroll_fit(&scroll, 5, 10);
	CHECK("a list that becomes short has the cursor at its end",
	      scroll.at == 4 && scroll.top == 0);
	scroll_fit(&scroll, 0, 10);
	scroll_move(&scroll, 1);
	CHECK("an empty list has no other line", scroll.at == 0 && scroll_at_end(&scroll));
	scroll_fit(&scroll, 100, 10);
	scroll_wheel(&scroll, 20);
	CHECK("the wheel takes the cursor along", scroll.top == 20 && scroll.at == 20);
	scroll_wheel(&scroll, -3);
	CHECK("the wheel leaves a cursor that is visible", scroll.top == 17 && scroll.at == 20);
}

static void test_sheet(void)
{
	struct sheet sheet = { 0 };
	struct scroll scroll = { 0 };
	struct canvas canvas = begin(4, 30);

	sheet_clear(&sheet, 20);
	sheet_block(&sheet, 7, CANVAS_plain, "* ", 2, "one two three four five\r\n\nlast");
	scroll_fit(&scroll, sheet.count, 4);
	sheet_draw(&sheet, &scroll, &canvas, 0, 4, 0, 30);
	CHECK("a block wraps at words, after an indent",
	      sheet.count == 4 && shows(&canvas, 0, "* one two three four") &&
		      shows(&canvas, 1, "  five") && shows(&canvas, 2, "") &&
		      shows(&canvas, 3, "  last"));
	CHECK("all lines of a block have its mark",
	      sheet_find(&sheet, 7) == 0 && sheet.items[3].mark == 7);
	CHECK("the line of the cursor is marked",
	      canvas_at(&canvas, 0, 29)->marked && !canvas_at(&canvas, 1, 0)->marked);
	CHECK("a search goes on after the cursor", sheet_search(&sheet, "FIVE", 0, false) == 1);
	CHECK("a search begins again at the end", sheet_search(&sheet, "one", 3, false) == 0);
	CHECK("a search goes backwards", sheet_search(&sheet, "last", 0, true) == 3);
	CHECK("a search may find nothing", sheet_search(&sheet, "six", 0, false) == 4);
	sheet_clear(&sheet, 20);
	for (int i = 0; i < SHEET_MOST + 10; i++)
		sheet_text(&sheet, 1, CANVAS_plain, "x");
	CHECK("a sheet has a maximum, and tells so",
	      sheet.count == SHEET_MOST + 1 &&
		      strstr(sheet.items[SHEET_MOST].text, "more lines") != NULL);
	sheet_release(&sheet);
	canvas_release(&canvas);
}

static void test_search(void)
{
	struct dialog dialog = { 0 };

	dialog_search(&dialog, "größe 日");
	CHECK("a filter is edited as it was typed", strcmp(dialog.editor.text, "größe 日") == 0);
	dialog_close(&dialog);
}

static void test_editor(void)
{
	static struct editor editor;

	editor_clear(&editor);
	editor_add(&editor, "one two");
	editor_type(&editor, 0x65e5);
	editor_backspace(&editor);
	CHECK("a character of several bytes is removed as one",
	      strcmp(editor.text, "one two") == 0);
	editor_home(&editor);
	editor_delete(&editor);
	CHECK("Del removes the character at the cursor", strcmp(editor.text, "ne two") == 0);
	editor_end(&editor);
	editor_cut_word(&editor);
	CHECK("a word is removed", strcmp(editor.text, "ne ") == 0);
	editor_add(&editor, "\nsecond");
	editor_cut_line(&editor);
	CHECK("a line is removed, the others stay", strcmp(editor.text, "ne \n") == 0);
	editor_type(&editor, 0x1b);
	editor_type(&editor, 0x202e);
	CHECK("characters that cannot be seen are not typed", strcmp(editor.text, "ne \n") == 0);
	editor_clear(&editor);
	editor_backspace(&editor);
	editor_delete(&editor);
	editor_left(&editor);
	editor_right(&editor);
	CHECK("an empty text stays empty", editor.size == 0 && editor.at == 0);
	for (int i = 0; i < EDITOR_MOST + 10; i++)
		editor_type(&editor, 'x');
	CHECK("a text has a maximum", editor.size == EDITOR_MOST);
}

/* Does another row that works in the same place, or an action, have this key? */
static bool is_taken(int command, uint32_t key)
{
	enum op_action action;

	for (int i = 0; i < KEYMAP_COMMAND_COUNT; i++)
		for (int k = 0; k < KEYMAP_KEYS && keymap_row(i)->keys[k]; k++)
			if (i != command && keymap_row(i)->keys[k] == key &&
			    (keymap_row(i)->place & keymap_row(command)->place))
				return true;
	return keymap_find_action(key, &action) == 0;
}

static void test_keys(void)
{
	bool unique = true, described = true;
	enum keymap_command command;
	enum op_action action;
	int number;

	for (int i = 0; i < KEYMAP_COMMAND_COUNT; i++) {
		described &= keymap_row(i)->about != NULL && keymap_row(i)->keys[0] != 0;
		for (int k = 0; k < KEYMAP_KEYS && keymap_row(i)->keys[k]; k++)
			unique &= !is_taken(i, keymap_row(i)->keys[k]);
	}
	CHECK("no key does two things", unique);
	CHECK("each command has a key, and is described", described);
	CHECK("a digit tells which tab", keymap_find('3', KEYMAP_LOOP, &command, &number) == 0 &&
						 command == KEYMAP_COMMAND_tab && number == 3);
	CHECK("a key of a loop does nothing in a list",
	      keymap_find('F', KEYMAP_LOOP, &command, &number) == 0 &&
		      keymap_find('F', KEYMAP_LIST, &command, &number) < 0);
	CHECK("actions have their keys", keymap_find_action('x', &action) == 0 &&
						 action == OP_ACTION_abort &&
						 keymap_find_action('?', &action) < 0);
}

static bool is(struct compact shown, const char *wanted)
{
	return strcmp(shown.text, wanted) == 0;
}

static void test_figures(void)
{
	AUTO_FREE char *none = compact_bar(0, 10, 4);
	AUTO_FREE char *some = compact_bar(1, 1000, 4);

	CHECK("times are short",
	      is(compact_time(59999), "59s") && is(compact_time(185000), "3m05s") &&
		      is(compact_time(8040000), "2h14m") && is(compact_time(266400000), "3d02h") &&
		      is(compact_time(-1), "-"));
	CHECK("costs are short",
	      is(compact_usd(420000000), "0.42") && is(compact_usd(1234560000000), "1235"));
	CHECK("counts are short",
	      is(compact_count(950), "950") && is(compact_count(12345), "12.3k"));
	CHECK("sizes are short", is(compact_bytes(13002342), "12.4 MiB"));
	CHECK("a bar shows that a little is used",
	      strcmp(none, "\u2500\u2500\u2500\u2500") == 0 &&
		      strcmp(some, "\u2501\u2500\u2500\u2500") == 0);
}

static void test_dialogs(void)
{
	static struct dialog dialog;
	struct op_action_result result = { 0 };
	const struct op_item item = { .name = (char *)"Makefile", .why = (char *)"make runs it" };
	struct canvas canvas = begin(24, 80);
	AUTO_FREE char *row = NULL;

	op_question_add(&result.question, &item);
	op_question_set(&result.question, OP_QUESTION_ACT, mem_dup("Apply it?"));
	dialog_help(&dialog);
	dialog_question(&dialog, OP_ACTION_apply, "id", &result);
	CHECK("a dialog takes the place of the one before",
	      dialog.kind == DIALOG_QUESTION && strcmp(dialog.token, result.question.token) == 0);
	dialog_draw(&dialog, &canvas);
	for (int i = 0; i < canvas.rows && (!row || !strstr(row, "Makefile")); i++) {
		free(row);
		row = canvas_row_text(&canvas, i);
	}
	CHECK("a question lists its files", row && strstr(row, "Makefile"));
	CHECK("no key but y means yes", dialog_key(&dialog, KEYMAP_ENTER, false) == DIALOG_STAYS &&
						dialog_key(&dialog, ' ', false) == DIALOG_STAYS &&
						dialog_key(&dialog, 'y', true) == DIALOG_STAYS &&
						dialog_key(&dialog, 'y', false) == DIALOG_YES);
	CHECK("n and Esc mean no",
	      dialog_key(&dialog, 'n', false) == DIALOG_CLOSES &&
		      dialog_key(&dialog, KEYMAP_ESCAPE, false) == DIALOG_CLOSES);
	result.details = json_pack("{s:[{s:s, s:i}, {s:s, s:i}]}", "groups", "group", "tests",
				   "paths", 2, "group", "source", "paths", 1);
	dialog_question(&dialog, OP_ACTION_apply, "id", &result);
	dialog_key(&dialog, '2', false);
	CHECK("a group of files is left out",
	      dialog.leaves[PATH_GROUP_SOURCE] && !dialog.leaves[PATH_GROUP_TESTS]);
	dialog_key(&dialog, '2', false);
	dialog_key(&dialog, '1', true);
	CHECK("a group is taken in again",
	      !dialog.leaves[PATH_GROUP_SOURCE] && !dialog.leaves[PATH_GROUP_TESTS]);
	json_decref(result.details);
	dialog_text(&dialog, OP_ACTION_tell, "id");
	dialog_key(&dialog, 'q', false);
	dialog_key(&dialog, '\n', true);
	dialog_key(&dialog, 'y', true);
	CHECK("a paste is text, with its lines", strcmp(dialog.editor.text, "q\ny") == 0);
	dialog_draw(&dialog, &canvas);
	CHECK("the cursor is behind the text", canvas.cursor_row > 0);
	CHECK("Enter sends the text", dialog_key(&dialog, KEYMAP_ENTER, false) == DIALOG_YES);
	dialog_choice(&dialog, OP_ACTION_roll_back, "id",
		      json_pack("{s:[{s:i}, {s:i}]}", "checkpoints", "number", 0, "number", 4));
	dialog_draw(&dialog, &canvas);
	dialog_key(&dialog, 'j', false);
	CHECK("a checkpoint is chosen",
	      dialog_checkpoint(&dialog) == 4 &&
		      dialog_key(&dialog, KEYMAP_ENTER, false) == DIALOG_YES);
	dialog_close(&dialog);
	op_question_release(&result.question);
	canvas_release(&canvas);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	test_canvas();
	test_scroll();
	test_sheet();
	test_editor();
	test_search();
	test_keys();
	test_figures();
	test_dialogs();
	return unit_failures != 0;
}
