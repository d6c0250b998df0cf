/*
 * The screen as a whole, without a terminal: where a person is, what a key does there, what is
 * under way. Events go in; a canvas comes out.
 */
#ifndef SCREEN_APP_H
#define SCREEN_APP_H

#include "screen/app_state.h"

/* loop: to attach to; NULL: all loops. Returns 0, or -1 with err set. */
int app_open(struct app *app, const char *state, const char *loop, int64_t now_ms,
	     struct error *err);
void app_close(struct app *app);

/* Reads what has changed, once a second; and, more often, whether a log has grown: returns whether
 * it has. */
void app_tick(struct app *app, int64_t now_ms);
bool app_poll(struct app *app);

void app_key(struct app *app, uint32_t key, bool pasted);
void app_click(struct app *app, int row, int col);
void app_wheel(struct app *app, int lines);

void app_draw(struct app *app, struct canvas *canvas);

/* Returns what is printed after the end: which loops go on. The caller frees it. */
char *app_farewell(struct app *app);

#endif
