/* What an agent does, told as its typed output comes: its words, its tools, and what goes wrong with them. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "agent/agent.h"
#include "loop/client.h"

/* Gets a line without its end; foreign text in it is as it came. */
typedef void live_fn(void *context, const char *line);

struct live {
	live_fn *tell;
	void *context;
	char *path; /* of the log that is read; NULL: none */
	int fd;     /* -1: it is not there yet */
	struct agent_reader *reader;
};

/* Begins with an iteration's output. Plain output is not told: it is anything. */
void live_begin(struct live *live, const struct client_loop *loop, int iteration, int attempt);

/* Tells what has come since. */
void live_look(struct live *live);

/* Tells the rest, and ends. */
void live_end(struct live *live);

#endif
