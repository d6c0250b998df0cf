/*
 * Serves requests on the supervisor's control socket (control.h). Each request is recorded before
 * it is carried out.
 */
#ifndef LOOP_SUPERVISE_SERVE_H
#define LOOP_SUPERVISE_SERVE_H

#include "loop/supervise/supervisor.h"

enum { SERVE_CLIENTS = 16 };

struct serve_client {
	struct serve *serve;
	int fd; /* or -1 */
};

struct serve {
	struct supervisor *sup;
	int control;
	struct serve_client clients[SERVE_CLIENTS];
};

void serve_init(struct serve *serve);

/* Listens until serve_close(). Returns 0, or -1 with err set. */
int serve_open(struct serve *serve, struct supervisor *sup, struct error *err);
void serve_close(struct serve *serve);

#endif
