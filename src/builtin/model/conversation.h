/*
 * A conversation with a model, as both protocols can tell it: messages of blocks.
 *
 * A user's message holds texts and results of tools, the model's holds texts, calls, and what is passed back to the
 * provider as it came. Each call of a message has its result in the next one, in the same order.
 */
#ifndef BUILTIN_MODEL_CONVERSATION_H
#define BUILTIN_MODEL_CONVERSATION_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	CONVERSATION_BLOCKS = 128,       /* of a message */
	CONVERSATION_BLOCK = 8 << 20,    /* bytes of one */
	CONVERSATION_MESSAGES = 4096,    /* of a conversation */
	CONVERSATION_SESSION = 48 << 20, /* bytes of one that is kept */
};

enum conversation_block_kind {
	BLOCK_TEXT,
	BLOCK_CALL,   /* of a tool; the text is its arguments, a JSON object */
	BLOCK_RESULT, /* of a tool */
	BLOCK_OPAQUE, /* the provider's own: a JSON object that it wants back as it is */
	BLOCK_KINDS
};

struct conversation_block {
	enum conversation_block_kind kind;
	struct buffer text;
	char *id;      /* of a call, and of its result */
	char *name;    /* of the tool */
	size_t number; /* the provider's, while the answer comes */
	bool failed;   /* a result: of what went wrong */
	bool broken;   /* a call: its arguments are no JSON object; `raw` has what came */
	bool dropped;  /* the text was taken out to save room */
	char *raw;
	char *signature; /* of a thought, while the answer comes */
};

struct conversation_message {
	bool model; /* the model's; else the user's */
	struct conversation_block *blocks;
	size_t count;
};

struct conversation {
	struct conversation_message *items;
	size_t count;
};

void conversation_message_release(struct conversation_message *message);

/* A new block at the end; NULL: there are too many. It lives until the next one is added. */
struct conversation_block *conversation_message_add(struct conversation_message *message,
						    enum conversation_block_kind kind);

/* How many calls are in it. */
size_t conversation_message_calls(const struct conversation_message *message);

/* What it says, one text after another. */
void conversation_message_text(const struct conversation_message *message, struct buffer *out);

void conversation_release(struct conversation *talk);

/* Takes the message over. Returns 0, or -1 with err set: the conversation is too long. */
int conversation_add(struct conversation *talk, struct conversation_message *message,
		     struct error *err);

/* Adds a user's message of one text. */
int conversation_say(struct conversation *talk, const char *text, size_t size, struct error *err);

/* Takes messages out, from one to before another. */
void conversation_remove(struct conversation *talk, size_t from, size_t to);

/* A conversation as JSON, and back. Reading judges everything: it was kept where others could write. Returns 0, or -1
 * with err set. */
void conversation_write(const struct conversation *talk, struct buffer *out);
int conversation_read(const char *bytes, size_t size, struct conversation *ret_talk,
		      struct error *err);

#endif
