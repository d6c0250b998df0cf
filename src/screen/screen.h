/*
 * `ringfence watch` and `ringfence attach`: a screen on a terminal that shows loops and acts on
 * them. It only reads, and asks supervisors: a loop does not notice whether anybody watches.
 *
 * The screen is a child process. The caller waits for it and gives the terminal back as it was,
 * whatever becomes of the child.
 */
#ifndef SCREEN_SCREEN_H
#define SCREEN_SCREEN_H

#include "util/error.h"

/*
 * Shows all loops of a state folder, or one. Returns 0 after the person has quit, with a sentence
 * about the loops that go on, which the caller frees; or -1 with err set: there is no terminal that
 * can be used, or the screen has died.
 */
int screen_run(const char *state, const char *loop, char **ret_farewell, struct error *err);

#endif
