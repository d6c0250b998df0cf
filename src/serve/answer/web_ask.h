/* A request that a process answers, and its answer; with what the answers share. */
#ifndef SERVE_ANSWER_WEB_ASK_H
#define SERVE_ANSWER_WEB_ASK_H

#include "loop/client.h"
#include "serve/web_route.h"
#include "util/buffer.h"
#include "util/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { WEB_ASK_MOST = 64 << 20 }; /* bytes of an answer */

struct web_ask {
	const char *state; /* Ringfence's state folder */
	enum web_route route;
	const char *words[WEB_ROUTE_WORDS];
	const json_t *query; /* untrusted texts */
	const char *body;    /* untrusted; "" if there is none */

	/* Called before an action resumes a loop (ops/op_resume.h); it may start this process
	 * again, which then answers the same request. Or NULL. */
	void (*before)(const void *context, const struct client_loop *loop);
	const void *context;
};

/* With json or with text. The caller of the function releases it. */
struct web_ask_answer {
	json_t *json;
	struct buffer text;
	const char *type; /* of the text */

	/* After a failure: */
	const char *status; /* a word for programs; NULL: by the error's status */
	json_t *details;    /* beside the error, or NULL */
};

/* Answers a request. Returns 0, or -1 with err set. */
typedef int web_ask_fn(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err);

/* Reads a parameter. web_ask_number() sets *ret_number to the fallback if there is none. Returns 0,
 * or -1 with err set if it is not a number between least and most. */
const char *web_ask_text(const struct web_ask *ask, const char *name);
int web_ask_number(const struct web_ask *ask, const char *name, int64_t least, int64_t most,
		   int64_t fallback, int64_t *ret_number, struct error *err);

/* Finds the loop that is the first word. web_ask_readable() fails for one whose journal cannot be
 * read. The caller releases it. Return 0, or -1 with err set. */
int web_ask_loop(const struct web_ask *ask, struct client_loop *ret_loop, struct error *err);
int web_ask_readable(const struct web_ask *ask, struct web_ask_answer *answer,
		     struct client_loop *ret_loop, struct error *err);

#endif
