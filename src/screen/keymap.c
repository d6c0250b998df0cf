/* The keys of the screen: see keymap.h. */
#include "screen/keymap.h"

#include "util/mem.h"

#include <stdlib.h>

#define CTRL(letter) ((letter)&KEYMAP_CTRL)

static const struct keymap_row rows[KEYMAP_COMMAND_COUNT] = {
	[KEYMAP_COMMAND_up] = { KEYMAP_ANY, { 'k', KEYMAP_UP, CTRL('p') }, NULL, "Move up." },
	[KEYMAP_COMMAND_down] = { KEYMAP_ANY, { 'j', KEYMAP_DOWN, CTRL('n') }, NULL, "Move down." },
	[KEYMAP_COMMAND_page_up] = { KEYMAP_ANY,
				     { KEYMAP_PAGE_UP, CTRL('b'), CTRL('u') },
				     NULL,
				     "Move up a page." },
	[KEYMAP_COMMAND_page_down] = { KEYMAP_ANY,
				       { KEYMAP_PAGE_DOWN, ' ', CTRL('f'), CTRL('d') },
				       NULL,
				       "Move down a page." },
	[KEYMAP_COMMAND_top] = { KEYMAP_ANY, { 'g', KEYMAP_HOME }, NULL, "Go to the beginning." },
	[KEYMAP_COMMAND_bottom] = { KEYMAP_ANY, { 'G', KEYMAP_END }, NULL, "Go to the end." },
	[KEYMAP_COMMAND_open] = { KEYMAP_ANY,
				  { KEYMAP_ENTER, 'l', KEYMAP_RIGHT },
				  "open",
				  "Open; fold a tool call; allow a denial." },
	[KEYMAP_COMMAND_back] = { KEYMAP_ANY,
				  { KEYMAP_ESCAPE, 'h', KEYMAP_LEFT, KEYMAP_BACKSPACE },
				  "back",
				  "Go back." },
	[KEYMAP_COMMAND_next_tab] = { KEYMAP_ANY, { KEYMAP_TAB, ']' }, "tabs", "Next tab." },
	[KEYMAP_COMMAND_previous_tab] = { KEYMAP_ANY,
					  { KEYMAP_BACK_TAB, '[' },
					  NULL,
					  "Previous tab." },
	[KEYMAP_COMMAND_tab] = { KEYMAP_ANY,
				 { '1', '2', '3', '4', '5', '6', '7', '8' },
				 NULL,
				 "Open this tab." },
	[KEYMAP_COMMAND_search] = { KEYMAP_ANY,
				    { '/' },
				    NULL,
				    "Search; in a list of loops, filter." },
	[KEYMAP_COMMAND_next] = { KEYMAP_LOOP, { 'n' }, NULL, "Find the next match." },
	[KEYMAP_COMMAND_previous] = { KEYMAP_LOOP, { 'N' }, NULL, "Find the match before." },
	[KEYMAP_COMMAND_follow] = { KEYMAP_LOOP, { 'F' }, NULL, "Follow the end of the log." },
	[KEYMAP_COMMAND_fold] = { KEYMAP_LOOP, { 'o' }, NULL, "Open or close all tool calls." },
	[KEYMAP_COMMAND_earlier] = { KEYMAP_LOOP, { '<', ',' }, NULL, "The iteration before." },
	[KEYMAP_COMMAND_later] = { KEYMAP_LOOP, { '>', '.' }, NULL, "The next iteration." },
	[KEYMAP_COMMAND_help] = { KEYMAP_ANY, { '?' }, "help", "Show the keys." },
	[KEYMAP_COMMAND_redraw] = { KEYMAP_ANY, { CTRL('l') }, NULL, "Draw the screen again." },
	[KEYMAP_COMMAND_suspend] = { KEYMAP_ANY,
				     { CTRL('z') },
				     NULL,
				     "Suspend (continue with fg)." },
	[KEYMAP_COMMAND_quit] = { KEYMAP_ANY,
				  { 'q', 'Q', CTRL('c') },
				  "quit",
				  "Quit. Loops go on." },
};

const struct keymap_row *keymap_row(enum keymap_command command)
{
	return &rows[command];
}

int keymap_find(uint32_t key, enum keymap_place place, enum keymap_command *ret_command,
		int *ret_number)
{
	for (int i = 0; i < KEYMAP_COMMAND_COUNT; i++)
		for (int k = 0; (rows[i].place & place) && k < KEYMAP_KEYS && rows[i].keys[k]; k++)
			if (rows[i].keys[k] == key) {
				*ret_command = (enum keymap_command)i;
				*ret_number = k + 1;
				return 0;
			}
	return -1;
}

int keymap_find_action(uint32_t key, enum op_action *ret_action)
{
	for (int i = 0; i < OP_ACTION_COUNT; i++)
		if ((uint32_t)op_action_form((enum op_action)i)->key == key) {
			*ret_action = (enum op_action)i;
			return 0;
		}
	return -1;
}

void keymap_add_name(struct buffer *out, uint32_t key)
{
	static const struct {
		uint32_t key;
		const char *name;
	} names[] = {
		{ KEYMAP_UP, "Up" },
		{ KEYMAP_DOWN, "Down" },
		{ KEYMAP_LEFT, "Left" },
		{ KEYMAP_RIGHT, "Right" },
		{ KEYMAP_PAGE_UP, "PgUp" },
		{ KEYMAP_PAGE_DOWN, "PgDn" },
		{ KEYMAP_HOME, "Home" },
		{ KEYMAP_END, "End" },
		{ KEYMAP_BACK_TAB, "Shift-Tab" },
		{ KEYMAP_DELETE, "Del" },
		{ KEYMAP_TAB, "Tab" },
		{ KEYMAP_ENTER, "Enter" },
		{ KEYMAP_ESCAPE, "Esc" },
		{ KEYMAP_BACKSPACE, "Backspace" },
		{ ' ', "Space" },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].key == key) {
			buffer_add_text(out, names[i].name);
			return;
		}
	if (key < ' ')
		buffer_printf(out, "Ctrl-%c", (char)(key + 'a' - 1));
	else
		buffer_printf(out, "%c", (char)key);
}

char *keymap_names(enum keymap_command command)
{
	const struct keymap_row *row = &rows[command];
	struct buffer out = BUFFER_INIT(256);

	if (command == KEYMAP_COMMAND_tab)
		return mem_dup("1 ... 8");
	for (int k = 0; k < KEYMAP_KEYS && row->keys[k]; k++) {
		buffer_add_text(&out, k ? " " : "");
		keymap_add_name(&out, row->keys[k]);
	}
	buffer_text(&out);
	return out.data;
}

void keymap_reference(struct buffer *out)
{
	buffer_add_text(out, "| key | what it does |\n| --- | --- |\n");
	for (int i = 0; i < KEYMAP_COMMAND_COUNT; i++) {
		AUTO_FREE char *names = keymap_names((enum keymap_command)i);

		buffer_printf(out, "| `%s` | %s |\n", names, rows[i].about);
	}
	buffer_add_text(out, "\n| key | on a loop |\n| --- | --- |\n");
	for (int i = 0; i < OP_ACTION_COUNT; i++) {
		const struct op_action_form *form = op_action_form((enum op_action)i);

		buffer_printf(out, "| `%c` | %s: %s |\n", form->key, form->title, form->about);
	}
}
