/*
 * The two protocols that models are asked in: Anthropic Messages, and OpenAI Chat Completions, which local servers speak.
 *
 * The same conversation always becomes the same bytes: no time, no chance, no name of this machine. What was said before
 * stays as it was, so that the provider's cache has it.
 */
#ifndef BUILTIN_MODEL_DIALECT_H
#define BUILTIN_MODEL_DIALECT_H

#include "builtin/model/conversation.h"
#include "builtin/model/reply.h"
#include "provider/provider.h"

#include <stdbool.h>
#include <stdint.h>

enum { DIALECT_REQUEST = 31 << 20 }; /* bytes; the gateway takes 32 MiB */

struct dialect_request {
	const char *model;
	const char *system;
	const struct conversation *talk;
	uint64_t most; /* output tokens */
	bool local;    /* a server that knows the older names */
	bool no_tools; /* they are shown, and must not be called */
};

struct dialect {
	enum provider_id provider;
	const char *path;        /* behind the base URL */
	const char *models_path; /* likewise: GET tells which there are */
	const char *lines;       /* of the head */
	const char *model;       /* where none is named */
	struct reply_reader reader;
	void (*write)(const struct dialect_request *request, struct buffer *out);
};

extern const struct dialect dialect_anthropic, dialect_chat;

#endif
