/*
 * Tapes: exchanges with models as a text that a person can read, compare and keep beside the code.
 *
 * A tape is lines of UTF-8. The first one is "ringfence tape 1"; lines that begin with # and empty ones may stand
 * between exchanges. An exchange is
 *
 *	exchange POST /v1/messages?beta=true
 *	route messages anthropic             which request it is, and whose
 *	model "claude-opus-5-5"
 *	stream                               if the answer was asked for in events
 *	free                                 if it cost nothing: a local model
 *	system 8714 3f9a2c11d0b7e455         bytes and hash of what the client itself says with every request
 *	tools Bash Edit Read                 names only
 *	after 77aa01b2c3d4 5                 the conversation up to the message of that name, its fifth
 *	message 9c0d17ab22e1 user            what is new in it, each with a name for those that follow
 *	  what it says, as text, two spaces in front
 *	answer 200                           no such line: there was none
 *	header content-type: text/event-stream
 *	at 312                               milliseconds since the request left: what came then
 *	|data: {"type":"message_start"}      a line with its end
 *	>data: {"ty                          the same without one
 *	!>\xff\x00                           either, with bytes that are no text as \xNN, and \\
 *	end 340                              or "cut 340": it did not come to its end
 *
 * An exchange without its last line is torn: a crash left it, and it is as if it were not there. A message's name is for the
 * eye and for "after"; what counts when conversations are compared is what messages say (tape_plain()), so a
 * person may change them. Pure functions on bytes; nothing here touches a file.
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
	TAPE_EXCHANGES = 10000, /* on it */
	TAPE_MESSAGES = 200000, /* in all of them */
	TAPE_LINE = 256 << 10,  /* bytes of a line */
	TAPE_BODY = 16 << 20,   /* of an answer */
	TAPE_BURSTS = 65536,    /* in which it came */
	TAPE_HEADERS = 32,      /* lines of its head */
	TAPE_LABEL = 13,        /* 12 digits and the end of the string */
	TAPE_KEY = 17,          /* 16 digits */
	TAPE_WORD = 16,         /* of routes and providers */
	TAPE_MODEL = 128,       /* as in a ledger */
	TAPE_ROLE = 24,         /* of a message */
	TAPE_PATH = 512,        /* with its query */
	TAPE_TOOLS = 2048,      /* bytes of their names */
	TAPE_DIFFERENCE = 900,  /* a sentence on where two conversations part */
	TAPE_NAMES = 12,        /* texts that something stands for */
};

extern const char tape_first_line[]; /* with its end */

/* --- what a request says */

/* Texts that differ between machines and runs, and what is written for them: the project's folder, a token. */
struct tape_names {
	struct {
		const char *text;
		const char *stand_in;
		bool path; /* only where a path ends there */
	} items[TAPE_NAMES];
	size_t count;
};

void tape_names_add(struct tape_names *names, const char *text, const char *stand_in, bool path);

/* What the conversation of a request consists of. */
struct tape_turn {
	char role[TAPE_ROLE];
	char *text; /* lines, each with its end */
	size_t size;
	char key[TAPE_KEY]; /* of the whole conversation up to here, see tape_plain() */
};

struct tape_talk {
	char route[TAPE_WORD], provider[TAPE_WORD];
	char model[TAPE_MODEL];
	bool stream;
	char system[48]; /* "BYTES HASH"; empty: none */
	char tools[TAPE_TOOLS];
	struct tape_turn *turns;
	size_t count;
};

/*
 * Reads the body of a request; route, provider, model and stream are the caller's, and in *talk already. A body that is no
 * JSON is one message. What a client adds for itself (cache marks, ids of sessions) is left out.
 */
void tape_talk_read(struct tape_talk *talk, const char *bytes, size_t size,
		    const struct tape_names *names);
void tape_talk_release(struct tape_talk *talk);

/* The name of a model as a tape has it: one line of ASCII, of what is too long the beginning. */
void tape_model(char ret_model[TAPE_MODEL], const char *text, size_t size);

/* Appends a text without what differs each time: dates, times, durations, ids, numbers of processes, temporary folders. */
void tape_plain(struct buffer *out, const char *text, size_t size);

/* The key of a conversation that was `before` (empty: nothing) when this is said. */
void tape_key(const char *before, const char *role, const char *text, size_t size,
	      char ret_key[TAPE_KEY]);

/* --- what is on a tape */

struct tape_message {
	char label[TAPE_LABEL];
	char role[TAPE_ROLE];
	char key[TAPE_KEY];
	uint32_t before; /* the number of the message before it, from 1; 0: none */
	uint32_t place;  /* which of its conversation, from 1 */
	char *text;
	size_t size;
};

struct tape_burst {
	uint32_t at_ms;
	size_t start; /* in the body */
};

struct tape_exchange {
	char method[8];
	char path[TAPE_PATH];
	struct tape_talk talk; /* its turns are none: */
	uint32_t last;         /* the number of its last message, from 1; 0: none */
	bool free;
	unsigned int status; /* 0: there was no answer */
	char *headers;       /* lines "name: value", each with its end */
	struct buffer body;
	struct tape_burst *bursts;
	size_t burst_count;
	uint32_t end_ms;
	bool whole;
	size_t line; /* of the tape, where it begins */
};

struct tape {
	struct tape_message *messages;
	size_t message_count, message_room;
	struct tape_exchange *exchanges;
	size_t count, room;
	size_t written; /* exchanges behind those, which nobody keeps */
	size_t size;    /* bytes up to the end of the last whole exchange */
	bool torn;      /* there was more */
	struct tape_index {
		uint32_t *slots;
		size_t size, used;
	} by_key, by_label; /* of messages */
};

/* Reads a tape. Nothing at all is an empty one. Returns 0, or -1 with err set, in which the line is named. */
int tape_read(const char *bytes, size_t size, struct tape *ret_tape, struct error *err);
void tape_release(struct tape *tape);

/* Adds a message that has been written; the tape takes a copy. Returns its number, or 0: there is no more room. */
uint32_t tape_add_message(struct tape *tape, const char *label, const char *role, uint32_t before,
			  const char *text, size_t size);

/* The number of the message with which this conversation ends, or of the last one with this name; 0: it is not on the tape. */
uint32_t tape_find_message(const struct tape *tape, const char key[TAPE_KEY]);
uint32_t tape_find_label(const struct tape *tape, const char *label);

/*
 * Appends an exchange as text: messages that the tape has are named, the others are written out and added to it. exchange->talk has the
 * conversation. Returns 0, or -1: the tape has no room for it (and nothing of it may be used).
 */
int tape_write(struct tape *tape, const struct tape_exchange *exchange, struct buffer *out);

void tape_exchange_release(struct tape_exchange *exchange);

/* A burst: bytes that came at this time. Those that come close together are one. */
void tape_exchange_add(struct tape_exchange *exchange, uint32_t at_ms, const char *bytes,
		       size_t size);

/* --- which exchange answers a request */

/*
 * The exchange for this conversation: among those that are not used (used[i] is 0) the one that is most like it, the
 * first if there are several; repeat: if all are used, the last one. SIZE_MAX: there is none.
 */
size_t tape_find(const struct tape *tape, const struct tape_talk *talk, const uint64_t *used,
		 bool repeat);

/* Where a conversation that is not on the tape leaves it: a sentence of printable text. */
void tape_difference(const struct tape *tape, const struct tape_talk *talk, const uint64_t *used,
		     char ret_text[TAPE_DIFFERENCE]);

#endif
