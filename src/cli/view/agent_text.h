/*
 * Turns an agent's typed output into lines for people as it arrives: its messages, its tool calls
 * and their failures. `run` prints them while the loop works, `logs` afterwards.
 */
#ifndef CLI_VIEW_AGENT_TEXT_H
#define CLI_VIEW_AGENT_TEXT_H

#include "agent/agent.h"
#include "cli/view/color.h"
#include "loop/client.h"
#include "util/buffer.h"

/* Receives a line without its newline, and the indent of its continuation if it is wrapped. The
 * line holds untrusted text, not escaped. */
typedef void agent_text_fn(void *context, enum color colour, const char *line, int indent);

/* Receives the bytes of lines that are not events, including newlines. */
typedef void agent_text_pass_fn(void *context, const char *bytes, size_t size);

struct agent_text {
	agent_text_fn *print;
	agent_text_pass_fn *pass; /* NULL: such lines are dropped */
	void *context;
	bool whole; /* print whole messages and errors; else the first line of each message */

	char *path; /* of the log being followed, or NULL */
	int fd;     /* -1 until the log exists */
	struct agent_reader *reader;
	struct buffer line; /* for pass: the line being read */
	bool grows;         /* the format repeats earlier text in each message */
	bool foreign;       /* the line is not an event */
	bool over;          /* the line is too long for an event and is passed on as it arrives */
	char *printed;      /* the last message printed; NULL after any other activity */
};

/* Opens a stream of this format; bytes are fed to it; closing prints an unfinished line. Closing
 * twice is harmless. */
void agent_text_open(struct agent_text *view, const struct agent_format *format);
void agent_text_feed(struct agent_text *view, const char *bytes, size_t size);
void agent_text_close(struct agent_text *view);

/* Whether output of this format consists of events. Plain output is already for people. */
bool agent_text_supports(const struct agent_format *format);

/* The same for the log of an iteration: starts to follow it, passes over what is there already,
 * prints new output, prints the rest and stops. */
void agent_text_begin(struct agent_text *view, const struct client_loop *loop, int iteration,
		      int attempt);
void agent_text_skip(struct agent_text *view);
void agent_text_poll(struct agent_text *view);
void agent_text_end(struct agent_text *view);

#endif
