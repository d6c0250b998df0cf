/*
 * What an agent does, in lines for people, made of its typed output as it comes: its words, its tools, and what goes wrong with
 * them. `run` tells it while the loop works, `logs` afterwards.
 */
#ifndef CLI_VIEW_AGENT_TEXT_H
#define CLI_VIEW_AGENT_TEXT_H

#include "agent/agent.h"
#include "cli/view/color.h"
#include "loop/client.h"
#include "util/buffer.h"

/* Gets a line without its end, and where it goes on if it is wrapped; foreign text in it is as it came. */
typedef void agent_text_fn(void *context, enum color colour, const char *line, int indent);

/* Gets bytes of lines that are no events, ends of lines among them. */
typedef void agent_text_pass_fn(void *context, const char *bytes, size_t size);

struct agent_text {
	agent_text_fn *tell;
	agent_text_pass_fn *pass; /* NULL: they are left out */
	void *context;
	bool whole; /* all that it says, also at its end, and its errors; else the first line of each text */

	char *path; /* of the log that is read; NULL: none */
	int fd;     /* -1: it is not there yet */
	struct agent_reader *reader;
	struct buffer line; /* for pass: the one that is being read */
	bool grows;         /* as its format says */
	bool foreign;       /* it is no event */
	bool over;          /* it is too long to be one, and passed on as it comes */
	char *said;         /* what was told last of its words; NULL: it has done something since */
};

/* Begins with output of a format, and ends, telling what an unfinished line says; between them bytes are fed. One that is closed
 * can be closed again. */
void agent_text_open(struct agent_text *live, const struct agent_format *format);
void agent_text_feed(struct agent_text *live, const char *bytes, size_t size);
void agent_text_close(struct agent_text *live);

/* Output that is for people already is not made of events, and is not told. */
bool agent_text_tells(const struct agent_format *format);

/* The same with the log of an iteration: begins, tells what has come since, tells the rest and ends. */
void agent_text_begin(struct agent_text *live, const struct client_loop *loop, int iteration,
		      int attempt);
void agent_text_look(struct agent_text *live);
void agent_text_end(struct agent_text *live);

#endif
