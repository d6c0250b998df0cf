/* Sets up the gateway, and serves its owner and its listening sockets. */
#ifndef GATEWAY_SERVER_H
#define GATEWAY_SERVER_H

#include "gateway/engine.h"

/* spending: the operations on requests that wait for money (budget.h). */
int server_init(struct engine *engine, int owner, const struct budget_spending *spending,
		struct error *err);

#endif
