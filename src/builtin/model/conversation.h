/*
 * A conversation with a model, independent of the protocol: messages made of blocks.
 *
 * A user message holds texts and tool results. A model message holds texts, tool calls, and opaque
 * blocks that the provider wants back unchanged. Each call has its result in the next message, in
 * the same order.
 */
#ifndef BUILTIN_MODEL_CONVERSATION_H
#define BUILTIN_MODEL_CONVERSATION_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	CONVERSATION_BLOCKS = 128,       /* in a message */
	CONVERSATION_BLOCK = 8 << 20,    /* bytes of a block */
	CONVERSATION_MESSAGES = 4096,    /* in a conversation */
	CONVERSATION_SESSION = 48 << 20, /* bytes of a saved session */
};

enum conversation_block_kind {
	BLOCK_TEXT,
	BLOCK_CALL,   /* of a tool; its text is the arguments, a JSON object */
	BLOCK_RESULT, /* of a tool */
	BLOCK_OPAQUE, /* the provider's own JSON object, sent back unchanged */
	BLOCK_KINDS
};

struct conversation_block {
	enum conversation_block_kind kind;
	struct buffer text;
	char *id;      /* of a call and its result */
	char *name;    /* of the tool */
	size_t number; /* the provider's index, while receiving */
	bool failed;   /* a result: the call failed */
	bool broken;   /* a call whose arguments are not a JSON object; `raw` has them */
	bool dropped;  /* the text was removed to save space */
	char *raw;
	char *signature; /* of a thinking block, while receiving */
};

struct conversation_message {
	bool model; /* from the model; else from the user */
	struct conversation_block *blocks;
	size_t count;
};

struct conversation {
	struct conversation_message *items;
	size_t count;
};

void conversation_message_release(struct conversation_message *message);

/* Appends a block; returns NULL if there are too many. The pointer is valid until the next call. */
struct conversation_block *conversation_message_add(struct conversation_message *message,
						    enum conversation_block_kind kind);

/* Returns the number of calls in the message. */
size_t conversation_message_calls(const struct conversation_message *message);

/* Appends all texts of the message. */
void conversation_message_text(const struct conversation_message *message, struct buffer *out);

void conversation_release(struct conversation *conversation);

/*
 * Appends the message, taking ownership. Returns 0, or -1 with err set if the conversation is too
 * long.
 */
int conversation_add(struct conversation *conversation, struct conversation_message *message,
		     struct error *err);

/* Appends a user message with one text. */
int conversation_add_text(struct conversation *conversation, const char *text, size_t size,
			  struct error *err);

/* Removes the messages from `from` up to but not including `to`. */
void conversation_remove(struct conversation *conversation, size_t from, size_t to);

/*
 * Writes a conversation as JSON, and reads it back. Reading validates everything, because others
 * could write to the file. Returns 0, or -1 with err set.
 */
void conversation_write(const struct conversation *conversation, struct buffer *out);
int conversation_read(const char *bytes, size_t size, struct conversation *ret_conversation,
		      struct error *err);

#endif
