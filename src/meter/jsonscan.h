/*
 * Finds a few values in JSON that comes in pieces.
 *
 * Pure functions, in constant memory, at the speed of a look at each byte: nothing is built, and what is not
 * asked for is skipped. Values are named by the path of keys to them, so that the same word within a text, or
 * deeper, means nothing. Keys are compared as they are meant ("\u0061" is an a). What is looked at is judged
 * strictly, what is skipped only by its brackets, which must match, and by the letters that can stand there: whoever
 * passes the bytes on has them judged again.
 */
#ifndef METER_JSONSCAN_H
#define METER_JSONSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JSONSCAN_NONE = 0,    /* no node: nobody asks for it */
	JSONSCAN_ROOT = 1,    /* the whole; the first row of every table */
	JSONSCAN_DEPTH = 12,  /* of paths */
	JSONSCAN_NEST = 1024, /* brackets within each other in what is skipped; more is no JSON */
	JSONSCAN_TEXT = 128,  /* bytes that are kept of a text */
	JSONSCAN_KEY = 30,    /* the longest key that can be asked for */
};

/* A row of a table; its number is its name. The key is in the row and not elsewhere: between two events of a stream
 * others use the processor's caches, and each page that has to be found again is dear. */
struct jsonscan_node {
	uint8_t parent; /* a row before it */
	uint8_t size;   /* of the key */
	char key[JSONSCAN_KEY];
};

/* "[]" is every element of a list. */
#define JSONSCAN_NODE(parent, key)           \
	{                                    \
		parent, sizeof(key) - 1, key \
	}

enum jsonscan_kind {
	JSONSCAN_OBJECT,
	JSONSCAN_LIST,
	JSONSCAN_STRING,
	JSONSCAN_NUMBER,
	JSONSCAN_TRUE,
	JSONSCAN_FALSE,
	JSONSCAN_NULL,
	JSONSCAN_END /* of an object or list; number: its members */
};

struct jsonscan_value {
	size_t node;
	enum jsonscan_kind kind;
	const char *text; /* of a string or number, as far as it is kept; ends with NUL */
	size_t kept;
	uint64_t bytes;  /* of a string: its length, roughly; more than kept if it was cut */
	uint64_t number; /* of a number: rounded up; below 0 is 0, beyond 2^53 is that */
	uint64_t start,
		end; /* where it stands in what was fed; of an object or list only the start */
};

/* An object or list that begins, or anything else that is whole. */
typedef void jsonscan_fn(void *context, const struct jsonscan_value *value);

struct jsonscan {
	const struct jsonscan_node *nodes; /* row JSONSCAN_ROOT is the first that counts */
	size_t count;
	jsonscan_fn *tell;
	void *context;

	/* From here on, jsonscan_reset() clears all up to text. */
	bool wrong;  /* this is no JSON, as far as it was looked at */
	bool folded; /* a key differs from one that is asked for only by large and small letters */

	uint64_t offset; /* bytes that were fed */
	uint64_t start;
	unsigned int state;
	size_t depth;
	uint8_t stack[JSONSCAN_DEPTH]; /* the nodes of what is open */
	bool list[JSONSCAN_DEPTH];
	uint32_t members[JSONSCAN_DEPTH];
	size_t skipped; /* brackets that are open within something that nobody asks for */
	bool skipping_string;
	uint8_t node; /* of the value that is being read */
	bool escaped;
	unsigned int hex; /* digits of \uXXXX that are still to come */
	uint32_t unit;
	size_t used; /* of text */
	uint64_t bytes;

	/* What the numbers above do not reach into is left from before, and nobody's. */
	char text[JSONSCAN_TEXT];
	uint64_t kinds[JSONSCAN_NEST / 64]; /* a bit for each that is skipped: a list */
};

/* Begins anew, with the same table and function. */
void jsonscan_reset(struct jsonscan *scan);

/* Feeds bytes. After something wrong, everything is passed over. */
void jsonscan_feed(struct jsonscan *scan, const char *bytes, size_t size);

/* Is the whole value there? (Of a number at the top nobody can tell.) */
bool jsonscan_done(const struct jsonscan *scan);

/* Of a string of this node that is not whole yet: how much of it was there. */
uint64_t jsonscan_pending(const struct jsonscan *scan, size_t node);

#endif
