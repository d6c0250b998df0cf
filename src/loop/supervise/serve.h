/*
 * Answering those who ask a supervisor for something, over its control socket (control.h): each wish is
 * written down before it is obeyed.
 */
#ifndef LOOP_SUPERVISE_SERVE_H
#define LOOP_SUPERVISE_SERVE_H

#include "loop/supervise/supervisor.h"

enum { SERVE_CLIENTS = 16 };

struct serve_client {
	struct serve *serve;
	int fd; /* -1: none */
};

struct serve {
	struct supervisor *sup;
	int control;
	struct serve_client clients[SERVE_CLIENTS];
};

void serve_init(struct serve *serve);

/* Listens from here on, until serve_close(). Returns 0, or -1 with err set. */
int serve_open(struct serve *serve, struct supervisor *sup, struct error *err);
void serve_close(struct serve *serve);

#endif
