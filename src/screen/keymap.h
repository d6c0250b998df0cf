/*
 * The keys of the screen as one table: what a key does, from which the help, the footer and
 * docs/watch.md are made. The keys of actions on a loop are those of ops/op_action.h.
 */
#ifndef SCREEN_KEYMAP_H
#define SCREEN_KEYMAP_H

#include "ops/op_action.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stdint.h>

/* Keys without a character, beyond all characters. */
enum keymap_key {
	KEYMAP_UP = 0x110000,
	KEYMAP_DOWN,
	KEYMAP_LEFT,
	KEYMAP_RIGHT,
	KEYMAP_PAGE_UP,
	KEYMAP_PAGE_DOWN,
	KEYMAP_HOME,
	KEYMAP_END,
	KEYMAP_BACK_TAB,
	KEYMAP_DELETE,
	KEYMAP_CTRL = 0x1f, /* the key with Ctrl: 'c' & KEYMAP_CTRL */
	KEYMAP_TAB = '\t',
	KEYMAP_ENTER = '\n',
	KEYMAP_ESCAPE = 0x1b,
	KEYMAP_BACKSPACE = 0x7f,
};

#define KEYMAP_COMMANDS(X) \
	X(up)              \
	X(down)            \
	X(page_up)         \
	X(page_down)       \
	X(top)             \
	X(bottom)          \
	X(open)            \
	X(back)            \
	X(next_tab)        \
	X(previous_tab)    \
	X(tab)             \
	X(search)          \
	X(next)            \
	X(previous)        \
	X(follow)          \
	X(fold)            \
	X(earlier)         \
	X(later)           \
	X(help)            \
	X(redraw)          \
	X(suspend)         \
	X(quit)

enum keymap_command {
#define KEYMAP_COMMAND(name) KEYMAP_COMMAND_##name,
	KEYMAP_COMMANDS(KEYMAP_COMMAND)
#undef KEYMAP_COMMAND
		KEYMAP_COMMAND_COUNT
};

/* Where a key works. */
enum keymap_place { KEYMAP_LIST = 1, KEYMAP_LOOP = 2, KEYMAP_ANY = 3 };

enum { KEYMAP_KEYS = 9 };

struct keymap_row {
	enum keymap_place place;
	uint32_t keys[KEYMAP_KEYS]; /* ends with 0, if there are fewer */
	const char *hint;           /* in the footer; or NULL */
	const char *about;
};

const struct keymap_row *keymap_row(enum keymap_command command);

/* Finds what a key does in a place. Returns 0, or -1 if it does nothing there. For the command
 * `tab`, *ret_number is the digit. */
int keymap_find(uint32_t key, enum keymap_place place, enum keymap_command *ret_command,
		int *ret_number);

/* Finds an action by its key. Returns 0, or -1. */
int keymap_find_action(uint32_t key, enum op_action *ret_action);

/* Appends the name of a key, such as "PgDn". */
void keymap_add_name(struct buffer *out, uint32_t key);

/* Returns the keys of a command, such as "j Down". The caller frees it. */
char *keymap_names(enum keymap_command command);

/* Appends the keys as tables of Markdown, for the documentation. */
void keymap_reference(struct buffer *out);

#endif
