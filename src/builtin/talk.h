/*
 * A conversation with a model, as both protocols can tell it: messages of blocks.
 *
 * A user's message holds texts and results of tools, the model's holds texts, calls, and what is passed back to the
 * provider as it came. Each call of a message has its result in the next one, in the same order.
 */
#ifndef BUILTIN_TALK_H
#define BUILTIN_TALK_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	TALK_BLOCKS = 128,       /* of a message */
	TALK_BLOCK = 8 << 20,    /* bytes of one */
	TALK_MESSAGES = 4096,    /* of a conversation */
	TALK_SESSION = 48 << 20, /* bytes of one that is kept */
};

enum block_kind {
	BLOCK_TEXT,
	BLOCK_CALL,   /* of a tool; the text is its arguments, a JSON object */
	BLOCK_RESULT, /* of a tool */
	BLOCK_OPAQUE, /* the provider's own: a JSON object that it wants back as it is */
	BLOCK_KINDS
};

struct block {
	enum block_kind kind;
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

struct message {
	bool model; /* the model's; else the user's */
	struct block *blocks;
	size_t count;
};

struct talk {
	struct message *items;
	size_t count;
};

void message_release(struct message *message);

/* A new block at the end; NULL: there are too many. It lives until the next one is added. */
struct block *message_add(struct message *message, enum block_kind kind);

/* How many calls are in it. */
size_t message_calls(const struct message *message);

/* What it says, one text after another. */
void message_text(const struct message *message, struct buffer *out);

void talk_release(struct talk *talk);

/* Takes the message over. Returns 0, or -1 with err set: the conversation is too long. */
int talk_add(struct talk *talk, struct message *message, struct error *err);

/* Adds a user's message of one text. */
int talk_say(struct talk *talk, const char *text, size_t size, struct error *err);

/* Takes messages out, from one to before another. */
void talk_remove(struct talk *talk, size_t from, size_t to);

/* A conversation as JSON, and back. Reading judges everything: it was kept where others could write. Returns 0, or -1
 * with err set. */
void talk_write(const struct talk *talk, struct buffer *out);
int talk_read(const char *bytes, size_t size, struct talk *ret_talk, struct error *err);

#endif
