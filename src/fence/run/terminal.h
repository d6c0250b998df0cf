/*
 * Connects the caller's terminal with the fence's own.
 *
 * No process inside ever holds a descriptor of the caller's terminal; bytes are copied. The
 * caller's terminal is in raw mode while the command runs and is restored in every case except
 * SIGKILL. The command's output is filtered (terminal_filter.h), unless the caller wants it raw.
 */
#ifndef FENCE_RUN_TERMINAL_H
#define FENCE_RUN_TERMINAL_H

#include "fence/run/terminal_filter.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

enum { TERMINAL_CHUNK = 16384 };

struct terminal {
	int outer;  /* the caller's, or -1 */
	int inner;  /* the outer end of the fence's, or -1 */
	bool reads; /* stdin is the terminal */
	bool raw;
	bool unfiltered;
	struct termios saved;
	struct terminal_filter filter;
	char in[4096], out[TERMINAL_CHUNK], filtered[TERMINAL_FILTER_ROOM(TERMINAL_CHUNK)];
	size_t in_from, in_to; /* typed bytes not yet forwarded */
};

/* With `unfiltered`, the command's output reaches the caller's terminal as it is. */
void terminal_init(struct terminal *terminal, bool unfiltered);

/* Starts forwarding; takes ownership of the outer end of the fence's terminal. */
void terminal_attach(struct terminal *terminal, int inner);

/* A background job must not read the terminal, and no event announces that it has come to the
 * foreground: while terminal_waits(), call terminal_check_foreground() regularly. */
bool terminal_waits(const struct terminal *terminal);
void terminal_check_foreground(struct terminal *terminal);

void terminal_resize(struct terminal *terminal);

/* Gives the terminal back: its settings, and the modes that the command has turned on. Waits a
 * moment for answers of the terminal that the command has asked for, so that no shell reads
 * them. */
void terminal_restore(struct terminal *terminal);

/* Fill in and serve the two poll entries. */
void terminal_watch(const struct terminal *terminal, struct pollfd watched[2]);
void terminal_serve(struct terminal *terminal, const struct pollfd watched[2]);

/* Stops this process as Ctrl-Z would, with the terminal restored, and resumes forwarding
 * afterwards. */
void terminal_stop(struct terminal *terminal);

#endif
