/*
 * The two model protocols: Anthropic Messages, and OpenAI Chat Completions, which local servers
 * also speak.
 *
 * Requests are deterministic: no time, no random values, no machine name. Earlier messages
 * always become the same bytes, so that the provider's cache stays valid.
 */
#ifndef BUILTIN_MODEL_DIALECT_H
#define BUILTIN_MODEL_DIALECT_H

#include "builtin/model/conversation.h"
#include "builtin/model/reply.h"
#include "provider/provider.h"

#include <stdbool.h>
#include <stdint.h>

enum { DIALECT_REQUEST = 31 << 20 }; /* bytes; the gateway accepts 32 MiB */

struct dialect_request {
	const char *model;
	const char *system;
	const struct conversation *conversation;
	uint64_t most; /* output tokens */
	bool local;    /* a local server, which expects the older names */
	bool no_tools; /* tools are listed but must not be called */
};

struct dialect {
	enum provider_id provider;
	const char *path;        /* appended to the base URL */
	const char *models_path; /* same, for GET: lists the models */
	const char *lines;       /* extra header lines */
	const char *model;       /* the default */
	struct reply_reader reader;
	void (*write)(const struct dialect_request *request, struct buffer *out);
};

extern const struct dialect dialect_anthropic, dialect_chat;

#endif
