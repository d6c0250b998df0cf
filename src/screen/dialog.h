/*
 * Questions, texts and help over the screen. There is one dialog at a time, because there is one
 * variable of this type: to open another one closes the first.
 */
#ifndef SCREEN_DIALOG_H
#define SCREEN_DIALOG_H

#include "ops/op_action.h"
#include "screen/canvas.h"
#include "screen/editor.h"
#include "screen/keymap.h"
#include "screen/scroll.h"
#include "screen/sheet.h"

#include <jansson.h>
#include <stdbool.h>

enum dialog_kind {
	DIALOG_NONE,
	DIALOG_HELP,
	DIALOG_NOTE,     /* a text */
	DIALOG_QUESTION, /* yes or no */
	DIALOG_TEXT,     /* for an action */
	DIALOG_CHOICE,   /* a checkpoint */
	DIALOG_SEARCH,   /* a line at the bottom */
};

/* The effect of a key in a dialog. */
enum dialog_answer {
	DIALOG_STAYS,
	DIALOG_CLOSES, /* or no */
	DIALOG_YES,    /* or the text, the checkpoint */
};

struct dialog {
	enum dialog_kind kind;
	char *title;
	struct sheet sheet;
	struct scroll scroll;
	struct editor editor;
	enum op_action action;
	char *loop; /* that the action is for */
	char token[SHA256_HEX];
	json_t *checkpoints;
	bool grouped;                  /* the question is about groups of files ... */
	bool leaves[PATH_GROUP_COUNT]; /* ... of which these are left out */
};

void dialog_close(struct dialog *dialog);

void dialog_help(struct dialog *dialog);
void dialog_note(struct dialog *dialog, const char *title, const char *text);

/* Asks the question of an action, with its items and, of an apply, the groups of files, which can
 * be left out one by one. */
void dialog_question(struct dialog *dialog, enum op_action action, const char *loop,
		     const struct op_action_result *result);
void dialog_text(struct dialog *dialog, enum op_action action, const char *loop);

/* Takes ownership of the list of checkpoints. */
void dialog_choice(struct dialog *dialog, enum op_action action, const char *loop,
		   json_t *checkpoints);
void dialog_search(struct dialog *dialog, const char *text);

/* Handles a key. `pasted`: a character of a paste, which is never a command. */
enum dialog_answer dialog_key(struct dialog *dialog, uint32_t key, bool pasted);
void dialog_wheel(struct dialog *dialog, long lines);

/* The checkpoint of the cursor, or -1. */
int64_t dialog_checkpoint(const struct dialog *dialog);

void dialog_draw(struct dialog *dialog, struct canvas *canvas);

#endif
