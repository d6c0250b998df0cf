/*
 * The caller's terminal on one side, the fence's own on the other.
 *
 * Nothing inside ever holds a descriptor of the caller's terminal; its bytes are carried. The
 * caller's is put into raw mode while the command runs and restored whatever happens short of kill
 * -9.
 */
#ifndef FENCE_RUN_TERMINAL_H
#define FENCE_RUN_TERMINAL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct terminal {
	int outer;  /* the caller's; -1: there is none */
	int inner;  /* the outer end of the fence's; -1: not yet, or over */
	bool reads; /* stdin is the terminal */
	bool raw;
	struct termios saved;
	char in[4096], out[16384];
	size_t in_from, in_to; /* what was typed and not yet taken */
};

void terminal_init(struct terminal *terminal);

/* The fence's terminal has come: from here on bytes are carried. */
void terminal_attach(struct terminal *terminal, int inner);

/* A job in the background does not read the terminal; nothing says when it comes to the foreground.
 */
bool terminal_waits(const struct terminal *terminal);
void terminal_check_foreground(struct terminal *terminal);

void terminal_resize(struct terminal *terminal);
void terminal_restore(struct terminal *terminal);

/* Adds what to wait for (2 entries), and serves it. */
void terminal_watch(const struct terminal *terminal, struct pollfd watched[2]);
void terminal_serve(struct terminal *terminal, const struct pollfd watched[2]);

/* Stops this process as Ctrl-Z would, with the terminal in order, and takes it up again afterwards.
 */
void terminal_stop(struct terminal *terminal);

#endif
