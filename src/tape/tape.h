/*
 * Tapes: recorded exchanges with models, as text that people can read, compare and keep with the
 * code.
 *
 * A tape consists of lines of UTF-8. The first one is "ringfence tape 1". Empty lines and
 * comments (#) may stand between exchanges. An exchange is
 *
 *	exchange POST /v1/messages?beta=true
 *	route messages anthropic             kind of request, and provider
 *	model "claude-opus-5-5"
 *	stream                               if streaming was requested
 *	free                                 if it cost nothing: a local model
 *	system 8714 3f9a2c11d0b7e455         bytes and hash of the client's own prompt
 *	tools Bash Edit Read                 names only
 *	after 77aa01b2c3d4 5                 continues the message of that name, the fifth
 *	message 9c0d17ab22e1 user            a new message, named for later reference
 *	  its text, indented by two spaces
 *	answer 200                           HTTP status; missing without an answer
 *	header content-type: text/event-stream
 *	at 312                               milliseconds since the request was sent
 *	|data: {"type":"message_start"}      bytes that arrived then: a line
 *	>data: {"ty                          the same without its newline
 *	!>\xff\x00                           either, with binary bytes as \xNN, and \\
 *	end 340                              or "cut 340" if the answer is incomplete
 *
 * An exchange without its last line was torn by a crash and is ignored. A message's name is for
 * people and for "after"; conversations are compared by their text (tape_normalize()), so people
 * may edit the messages. Pure functions on bytes; nothing here touches a file.
 */
#ifndef TAPE_TAPE_H
#define TAPE_TAPE_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TAPE_MOST = 64 << 20,   /* bytes of a tape */
	TAPE_EXCHANGES = 10000, /* on a tape */
	TAPE_MESSAGES = 200000, /* in all exchanges */
	TAPE_LINE = 256 << 10,  /* bytes of a line */
	TAPE_BODY = 16 << 20,   /* bytes of an answer */
	TAPE_BURSTS = 65536,    /* pieces of an answer */
	TAPE_HEADERS = 32,      /* header lines of an answer */
	TAPE_LABEL = 13,        /* 12 digits and a NUL */
	TAPE_KEY = 17,          /* 16 digits and a NUL */
	TAPE_WORD = 16,         /* bytes of a route or a provider */
	TAPE_MODEL = 128,       /* as in a ledger */
	TAPE_ROLE = 24,         /* of a message */
	TAPE_PATH = 512,        /* with its query */
	TAPE_TOOLS = 2048,      /* bytes of all names */
	TAPE_DIFFERENCE = 900,  /* a sentence that describes where two conversations differ */
	TAPE_NAMES = 12,        /* texts with a placeholder */
};

extern const char tape_first_line[]; /* with its newline */

/* --- requests */

/*
 * Texts that differ between machines and runs, such as the project's folder or a token, and the
 * placeholders written for them.
 */
struct tape_names {
	struct {
		const char *text;
		const char *stand_in;
		bool path; /* replace only a complete path */
	} items[TAPE_NAMES];
	size_t count;
};

void tape_names_add(struct tape_names *names, const char *text, const char *stand_in, bool path);

/* One message of a request's conversation. */
struct tape_turn {
	char role[TAPE_ROLE];
	char *text; /* lines, each with a newline */
	size_t size;
	char key[TAPE_KEY]; /* of the conversation up to here, see tape_key() */
};

struct tape_talk {
	char route[TAPE_WORD], provider[TAPE_WORD];
	char model[TAPE_MODEL];
	bool stream;
	char system[48]; /* "BYTES HASH", or empty */
	char tools[TAPE_TOOLS];
	struct tape_turn *turns;
	size_t count;
};

/*
 * Reads the body of a request. The caller has set route, provider, model and stream. A body that is
 * not JSON becomes one message. Data that a client adds for itself (cache marks, session ids) is
 * left out.
 */
void tape_talk_read(struct tape_talk *talk, const char *bytes, size_t size,
		    const struct tape_names *names);
void tape_talk_release(struct tape_talk *talk);

/* Converts a model's name to its form on tapes: one line of ASCII, cut if it is too long. */
void tape_model(char ret_model[TAPE_MODEL], const char *text, size_t size);

/*
 * Appends a text with volatile parts replaced: dates, times, durations, ids, process ids, temporary
 * folders.
 */
void tape_normalize(struct buffer *out, const char *text, size_t size);

/* Returns the key of a conversation: that of `before` (empty: no messages) plus this message. */
void tape_key(const char *before, const char *role, const char *text, size_t size,
	      char ret_key[TAPE_KEY]);

/* --- tapes */

struct tape_message {
	char label[TAPE_LABEL];
	char role[TAPE_ROLE];
	char key[TAPE_KEY];
	uint32_t before; /* number of the previous message, from 1; 0: this is the first */
	uint32_t place;  /* position in its conversation, from 1 */
	char *text;
	size_t size;
};

struct tape_burst {
	uint32_t at_ms;
	size_t start; /* offset in the body */
};

struct tape_exchange {
	char method[8];
	char path[TAPE_PATH];
	struct tape_talk talk; /* without its turns; see `last` */
	uint32_t last;         /* number of its last message, from 1; 0: no messages */
	bool free;
	unsigned int status; /* 0: no answer */
	char *headers;       /* lines "name: value", each with a newline */
	struct buffer body;
	struct tape_burst *bursts;
	size_t burst_count;
	uint32_t end_ms;
	bool whole;
	size_t line; /* of the tape, where the exchange begins */
};

struct tape {
	struct tape_message *messages;
	size_t message_count, message_room;
	struct tape_exchange *exchanges;
	size_t count, room;
	size_t written; /* further exchanges that were written but are not kept here */
	size_t size;    /* bytes up to the end of the last complete exchange */
	bool torn;      /* an incomplete exchange follows */
	struct tape_index {
		uint32_t *slots;
		size_t size, used;
	} by_key, by_label; /* of messages */
};

/* Reads a tape; no bytes are an empty tape. Returns 0, or -1 with err set, which names the line. */
int tape_read(const char *bytes, size_t size, struct tape *ret_tape, struct error *err);
void tape_release(struct tape *tape);

/*
 * Adds a message that has been written, copying it. Returns its number, or 0 if the tape is full.
 */
uint32_t tape_add_message(struct tape *tape, const char *label, const char *role, uint32_t before,
			  const char *text, size_t size);

/*
 * Returns the number of the message with this key, or of the last one with this name; 0 if the tape
 * has no such message.
 */
uint32_t tape_find_message(const struct tape *tape, const char key[TAPE_KEY]);
uint32_t tape_find_label(const struct tape *tape, const char *label);

/*
 * Appends an exchange as text. Messages that are on the tape are referred to by name; others are
 * written out and added to the tape. exchange->talk holds the conversation. Returns 0, or -1 if the
 * tape is full; the output must not be used then.
 */
int tape_write(struct tape *tape, const struct tape_exchange *exchange, struct buffer *out);

void tape_exchange_release(struct tape_exchange *exchange);

/* Adds bytes that arrived at this time. Bytes that arrive close together become one burst. */
void tape_exchange_add(struct tape_exchange *exchange, uint32_t at_ms, const char *bytes,
		       size_t size);

/* --- matching requests */

/*
 * Returns the exchange that answers this conversation: the most similar unused one (used[i] is 0),
 * the first of several. If all are used, `repeat` allows the last one. Returns SIZE_MAX if there is
 * none.
 */
size_t tape_find(const struct tape *tape, const struct tape_talk *talk, const uint64_t *used,
		 bool repeat);

/*
 * Describes where a conversation that is not on the tape departs from it: a sentence of printable
 * text.
 */
void tape_difference(const struct tape *tape, const struct tape_talk *talk, const uint64_t *used,
		     char ret_text[TAPE_DIFFERENCE]);

#endif
