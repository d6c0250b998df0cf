/* Dialogs: see dialog.h. */
#include "screen/dialog.h"

#include "project/path_group.h"
#include "screen/compact.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH_MOST = 76, ITEMS_MOST = 200 };

void dialog_close(struct dialog *dialog)
{
	sheet_release(&dialog->sheet);
	free(dialog->title);
	free(dialog->loop);
	json_decref(dialog->checkpoints);
	dialog->title = dialog->loop = NULL;
	dialog->checkpoints = NULL;
	dialog->scroll = (struct scroll){ 0 };
	dialog->grouped = false;
	memset(dialog->leaves, 0, sizeof dialog->leaves);
	dialog->kind = DIALOG_NONE;
}

static void open_as(struct dialog *dialog, enum dialog_kind kind, const char *title)
{
	dialog_close(dialog);
	dialog->kind = kind;
	dialog->title = mem_dup(title);
	dialog->scroll.plain = kind != DIALOG_CHOICE;
	sheet_clear(&dialog->sheet, WIDTH_MOST - 4);
}

static void open_action(struct dialog *dialog, enum dialog_kind kind, enum op_action action,
			const char *loop)
{
	AUTO_FREE char *id = mem_dup(loop); /* it may be the dialog's own */

	open_as(dialog, kind, op_action_form(action)->title);
	dialog->action = action;
	dialog->loop = mem_dup(id);
}

void dialog_help(struct dialog *dialog)
{
	struct sheet *sheet = &dialog->sheet;

	open_as(dialog, DIALOG_HELP, "Keys");
	for (int i = 0; i < KEYMAP_COMMAND_COUNT; i++) {
		AUTO_FREE char *names = keymap_names((enum keymap_command)i);

		sheet_line(sheet, SHEET_NO_MARK);
		sheet_printf(sheet, CANVAS_key, "%s", names);
		sheet_column(sheet, 26);
		sheet_add(sheet, CANVAS_plain, keymap_row((enum keymap_command)i)->about);
	}
	sheet_title(sheet, "On a loop, when it makes sense");
	for (int i = 0; i < OP_ACTION_COUNT; i++) {
		const struct op_action_form *form = op_action_form((enum op_action)i);

		sheet_line(sheet, SHEET_NO_MARK);
		sheet_printf(sheet, CANVAS_key, "%c ", form->key);
		sheet_printf(sheet, CANVAS_bold, "%s", form->title);
		sheet_column(sheet, 26);
		sheet_add(sheet, CANVAS_plain, form->about);
	}
	sheet_title(sheet, "Mouse");
	sheet_text(sheet, SHEET_NO_MARK, CANVAS_plain,
		   "A click selects a line, a second one opens it. The wheel scrolls.");
}

void dialog_note(struct dialog *dialog, const char *title, const char *text)
{
	open_as(dialog, DIALOG_NOTE, title);
	sheet_block(&dialog->sheet, SHEET_NO_MARK, CANVAS_plain, NULL, 0, text);
}

static void add_item(struct sheet *sheet, const struct op_item *item)
{
	sheet_line(sheet, SHEET_NO_MARK);
	sheet_printf(sheet, CANVAS_warning, "  %s", item->name ? item->name : "");
	if (item->value)
		sheet_printf(sheet, CANVAS_dim, "  %.60s", item->value);
	if (item->why)
		sheet_block(sheet, SHEET_NO_MARK, CANVAS_plain, NULL, 4, item->why);
}

/* Finds a group by its name in JSON. */
static enum path_group group_named(const char *name)
{
	int at = 0;

	while (at + 1 < PATH_GROUP_COUNT && strcmp(path_group_name((enum path_group)at), name) != 0)
		at++;
	return (enum path_group)at;
}

enum { BOX = 3 }; /* the place of the cross in the line of a group: "1 [x]" */

/* Adds the groups of files that an apply changes, each with its key. */
static void add_groups(struct dialog *dialog, const json_t *details)
{
	struct sheet *sheet = &dialog->sheet;
	size_t index;
	const json_t *group;

	json_array_foreach(json_object_get(details, "groups"), index, group)
	{
		enum path_group which = group_named(jsonget_text(group, "group"));
		long long paths = (long long)jsonget_number(group, "paths");

		dialog->grouped = true;
		sheet_line(sheet, (size_t)which);
		sheet_printf(sheet, path_group_asks(which) ? CANVAS_warning : CANVAS_plain,
			     "%c [x] %-30s", index < 9 ? (char)('1' + index) : ' ',
			     path_group_title(which));
		sheet_printf(sheet, CANVAS_dim, "%5lld file%s", paths, paths == 1 ? " " : "s");
		sheet_printf(sheet, CANVAS_added, " %7s",
			     compact_lines('+', (uint64_t)jsonget_number(group, "added")).text);
		sheet_printf(sheet, CANVAS_removed, " %7s",
			     compact_lines('-', (uint64_t)jsonget_number(group, "removed")).text);
	}
}

/* Leaves the group with this digit out, or takes it in again. */
static void toggle_group(struct dialog *dialog, uint32_t digit)
{
	for (size_t i = 0; i < dialog->sheet.count; i++) {
		const struct sheet_line *line = &dialog->sheet.items[i];
		bool *leaves;

		if (line->mark >= PATH_GROUP_COUNT || (uint32_t)line->text[0] != digit)
			continue;
		leaves = &dialog->leaves[line->mark];
		*leaves = !*leaves;
		line->text[BOX] = *leaves ? ' ' : 'x';
	}
}

void dialog_question(struct dialog *dialog, enum op_action action, const char *loop,
		     const struct op_action_result *result)
{
	const struct op_question *question = &result->question;
	struct sheet *sheet = &dialog->sheet;

	open_action(dialog, DIALOG_QUESTION, action, loop);
	memcpy(dialog->token, question->token, sizeof dialog->token);
	sheet_block(sheet, SHEET_NO_MARK, CANVAS_bold, NULL, 0,
		    question->text ? question->text : "Go on?");
	if (json_array_size(json_object_get(result->details, "groups")) || question->count)
		sheet_line(sheet, SHEET_NO_MARK);
	add_groups(dialog, result->details);
	for (size_t i = 0; i < question->count && i < ITEMS_MOST; i++)
		add_item(sheet, &question->items[i]);
	if (question->count > ITEMS_MOST) {
		sheet_line(sheet, SHEET_NO_MARK);
		sheet_printf(sheet, CANVAS_warning, "  and %zu more", question->count - ITEMS_MOST);
	}
}

void dialog_text(struct dialog *dialog, enum op_action action, const char *loop)
{
	open_action(dialog, DIALOG_TEXT, action, loop);
	editor_clear(&dialog->editor);
}

void dialog_choice(struct dialog *dialog, enum op_action action, const char *loop,
		   json_t *checkpoints)
{
	struct sheet *sheet = &dialog->sheet;
	size_t index;
	const json_t *entry;

	open_action(dialog, DIALOG_CHOICE, action, loop);
	dialog->checkpoints = checkpoints;
	json_array_foreach(json_object_get(checkpoints, "checkpoints"), index, entry)
	{
		AUTO_FREE char *when = clock_text(jsonget_number(entry, "at_ms"), CLOCK_SECOND);

		sheet_line(sheet, index);
		sheet_printf(sheet, CANVAS_bold, " %4lld  ",
			     (long long)jsonget_number(entry, "number"));
		sheet_printf(sheet, CANVAS_dim, "%s  ", when);
		sheet_printf(sheet, CANVAS_plain, "%-7s", jsonget_text(entry, "kind"));
		if (jsonget_number(entry, "iteration"))
			sheet_printf(sheet, CANVAS_plain, " iteration %lld",
				     (long long)jsonget_number(entry, "iteration"));
	}
	if (!sheet->count)
		sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim, " no checkpoints");
}

void dialog_search(struct dialog *dialog, const char *text)
{
	open_as(dialog, DIALOG_SEARCH, "/");
	editor_clear(&dialog->editor);
	editor_add(&dialog->editor, text);
}

/* ---- keys ---- */

/* Handles a key of the text that is typed. Returns whether it was one. */
static bool edit(struct editor *editor, uint32_t key)
{
	switch (key) {
	case KEYMAP_LEFT:
		editor_left(editor);
		return true;
	case KEYMAP_RIGHT:
		editor_right(editor);
		return true;
	case KEYMAP_HOME:
	case 'a' & KEYMAP_CTRL:
		editor_home(editor);
		return true;
	case KEYMAP_END:
	case 'e' & KEYMAP_CTRL:
		editor_end(editor);
		return true;
	case KEYMAP_BACKSPACE:
		editor_backspace(editor);
		return true;
	case KEYMAP_DELETE:
		editor_delete(editor);
		return true;
	case 'u' & KEYMAP_CTRL:
		editor_cut_line(editor);
		return true;
	case 'w' & KEYMAP_CTRL:
		editor_cut_word(editor);
		return true;
	default:
		return false;
	}
}

static enum dialog_answer key_in_editor(struct dialog *dialog, uint32_t key, bool pasted)
{
	if (pasted) {
		editor_type(&dialog->editor,
			    key == '\n' && dialog->kind == DIALOG_SEARCH ? ' ' : key);
		return DIALOG_STAYS;
	}
	if (edit(&dialog->editor, key))
		return DIALOG_STAYS;
	if (key == KEYMAP_ESCAPE || key == ('c' & KEYMAP_CTRL))
		return DIALOG_CLOSES;
	if (key == KEYMAP_ENTER)
		return DIALOG_YES;
	editor_type(&dialog->editor, key == ('o' & KEYMAP_CTRL) ? '\n' : key);
	return DIALOG_STAYS;
}

static void move_by(struct scroll *scroll, long lines)
{
	if (scroll->plain)
		scroll_wheel(scroll, lines);
	else
		scroll_move(scroll, lines);
}

/* Moves in a text that is longer than the dialog. Returns whether the key does so. */
static bool move(struct dialog *dialog, uint32_t key)
{
	struct scroll *scroll = &dialog->scroll;
	enum keymap_command command;
	int number;

	if (keymap_find(key, KEYMAP_ANY, &command, &number) < 0)
		return false;
	switch (command) {
	case KEYMAP_COMMAND_up:
		move_by(scroll, -1);
		return true;
	case KEYMAP_COMMAND_down:
		move_by(scroll, 1);
		return true;
	case KEYMAP_COMMAND_page_up:
		move_by(scroll, -(long)scroll->rows);
		return true;
	case KEYMAP_COMMAND_page_down:
		move_by(scroll, (long)scroll->rows);
		return true;
	case KEYMAP_COMMAND_top:
		scroll_to(scroll, 0);
		return true;
	case KEYMAP_COMMAND_bottom:
		scroll_to(scroll, SIZE_MAX);
		return true;
	default:
		return false;
	}
}

enum dialog_answer dialog_key(struct dialog *dialog, uint32_t key, bool pasted)
{
	if (dialog->kind == DIALOG_TEXT || dialog->kind == DIALOG_SEARCH)
		return key_in_editor(dialog, key, pasted);
	if (pasted || move(dialog, key))
		return DIALOG_STAYS;
	if (dialog->grouped && key >= '1' && key <= '9')
		toggle_group(dialog, key);
	if (dialog->kind == DIALOG_QUESTION)
		return key == 'y' || key == 'Y' ? DIALOG_YES
		       : key == 'n' || key == 'N' || key == KEYMAP_ESCAPE || key == 'q' ||
				       key == ('c' & KEYMAP_CTRL)
			       ? DIALOG_CLOSES
			       : DIALOG_STAYS;
	if (dialog->kind == DIALOG_CHOICE && key == KEYMAP_ENTER)
		return dialog_checkpoint(dialog) >= 0 ? DIALOG_YES : DIALOG_STAYS;
	return key == KEYMAP_ESCAPE || key == 'q' || key == '?' || key == KEYMAP_ENTER ||
			       key == ('c' & KEYMAP_CTRL)
		       ? DIALOG_CLOSES
		       : DIALOG_STAYS;
}

void dialog_wheel(struct dialog *dialog, long lines)
{
	move_by(&dialog->scroll, lines);
}

int64_t dialog_checkpoint(const struct dialog *dialog)
{
	const json_t *list = json_object_get(dialog->checkpoints, "checkpoints");
	const json_t *entry = json_array_get(list, dialog->scroll.at);

	return entry ? jsonget_number(entry, "number") : -1;
}

/* ---- drawing ---- */

static const char *hint_of(const struct dialog *dialog)
{
	switch (dialog->kind) {
	case DIALOG_QUESTION:
		return dialog->grouped ? "y yes   n no   1-9 leave out" : "y yes   n no";
	case DIALOG_TEXT:
		return "Enter send   Ctrl-O new line   Esc cancel";
	case DIALOG_CHOICE:
		return "Enter choose   Esc cancel";
	default:
		return "Esc close";
	}
}

/* Draws a box and clears its inside. */
static void draw_box(const struct dialog *dialog, struct canvas *canvas, int row, int rows, int col,
		     int cols)
{
	for (int i = 0; i < rows; i++)
		canvas_rule(canvas, row + i, col, col + cols, CANVAS_plain, " ");
	canvas_rule(canvas, row, col, col + cols, CANVAS_dim, "\u2500");
	canvas_rule(canvas, row + rows - 1, col, col + cols, CANVAS_dim, "\u2500");
	canvas_put(canvas, row, col, col + 1, CANVAS_dim, "\u250c");
	canvas_put(canvas, row, col + cols - 1, col + cols, CANVAS_dim, "\u2510");
	canvas_put(canvas, row + rows - 1, col, col + 1, CANVAS_dim, "\u2514");
	canvas_put(canvas, row + rows - 1, col + cols - 1, col + cols, CANVAS_dim, "\u2518");
	for (int i = 1; i < rows - 1; i++) {
		canvas_put(canvas, row + i, col, col + 1, CANVAS_dim, "\u2502");
		canvas_put(canvas, row + i, col + cols - 1, col + cols, CANVAS_dim, "\u2502");
	}
	canvas_printf(canvas, row, col + 2, col + cols - 2, CANVAS_title, " %s ", dialog->title);
	canvas_printf(canvas, row + rows - 1, col + 2, col + cols - 2, CANVAS_key, " %s ",
		      hint_of(dialog));
}

/* Fills the sheet with the typed text, and finds the cursor in it. */
static void layout_text(struct dialog *dialog, int width, int *ret_row, int *ret_col)
{
	const struct editor *editor = &dialog->editor;
	size_t at = 0;

	sheet_clear(&dialog->sheet, width);
	*ret_row = *ret_col = 0;
	for (;;) {
		size_t line = strcspn(editor->text + at, "\n");
		size_t fits = canvas_fitting(editor->text + at, line, width - 1);
		size_t size = fits < line ? fits : line;
		AUTO_FREE char *text = strndup(editor->text + at, size);

		sheet_text(&dialog->sheet, SHEET_NO_MARK, CANVAS_plain, text);
		if (editor->at >= at && (editor->at < at + size || size == line) &&
		    editor->at <= at + size) {
			AUTO_FREE char *left = strndup(editor->text + at, editor->at - at);

			*ret_row = (int)dialog->sheet.count - 1;
			*ret_col = canvas_columns(left, 0);
		}
		at += size;
		if (size == line && !editor->text[at])
			return;
		at += size == line;
	}
}

static void draw_search(const struct dialog *dialog, struct canvas *canvas)
{
	AUTO_FREE char *left = strndup(dialog->editor.text, dialog->editor.at);
	int row = canvas->rows - 1;

	canvas_rule(canvas, row, 0, canvas->cols, CANVAS_plain, " ");
	canvas_put(canvas, row, 1, canvas->cols, CANVAS_key, "/");
	canvas_put(canvas, row, 2, canvas->cols - 1, CANVAS_plain, dialog->editor.text);
	canvas->cursor_row = row;
	canvas->cursor_col = 2 + canvas_columns(left, 2);
	if (canvas->cursor_col >= canvas->cols)
		canvas->cursor_col = canvas->cols - 1;
}

void dialog_draw(struct dialog *dialog, struct canvas *canvas)
{
	int cols = canvas->cols - 4 < WIDTH_MOST ? canvas->cols - 4 : WIDTH_MOST;
	int most = canvas->rows - 4;
	int row, rows, col, cursor_row = 0, cursor_col = 0;
	bool typed = dialog->kind == DIALOG_TEXT;

	if (dialog->kind == DIALOG_NONE)
		return;
	if (dialog->kind == DIALOG_SEARCH) {
		draw_search(dialog, canvas);
		return;
	}
	if (typed)
		layout_text(dialog, cols - 4, &cursor_row, &cursor_col);
	rows = (int)dialog->sheet.count + 2;
	if (typed && rows < 6)
		rows = 6;
	rows = rows < most ? rows : most;
	row = (canvas->rows - rows) / 2;
	col = (canvas->cols - cols) / 2;
	draw_box(dialog, canvas, row, rows, col, cols);
	scroll_fit(&dialog->scroll, dialog->sheet.count, rows - 2);
	if (typed)
		scroll_to(&dialog->scroll, (size_t)cursor_row);
	sheet_draw(&dialog->sheet, &dialog->scroll, canvas, row + 1, rows - 2, col + 2,
		   col + cols - 2);
	if (!typed)
		return;
	canvas->cursor_row = row + 1 + cursor_row - (int)dialog->scroll.top;
	canvas->cursor_col = col + 2 + cursor_col;
}
