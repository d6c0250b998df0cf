/*
 * Finds a few values in JSON that comes in pieces.
 *
 * Pure functions, in constant memory, at the speed of a look at each byte: nothing is built, and what is not
 * asked for is skipped. Values are named by the path of keys to them, so that the same word within a text, or
 * deeper, means nothing. Keys are compared as they are meant ("\u0061" is an a). What is looked at is judged
 * strictly, what is skipped only by its brackets, which must match, and by the letters that can stand there: whoever
 * passes the bytes on has them judged again.
 */
#ifndef METER_SCAN_H
#define METER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SCAN_NONE = 0,    /* no node: nobody asks for it */
	SCAN_ROOT = 1,    /* the whole; the first row of every table */
	SCAN_DEPTH = 12,  /* of paths */
	SCAN_NEST = 1024, /* brackets within each other in what is skipped; more is no JSON */
	SCAN_TEXT = 128,  /* bytes that are kept of a text */
	SCAN_KEY = 30,    /* the longest key that can be asked for */
};

/* A row of a table; its number is its name. The key is in the row and not elsewhere: between two events of a stream
 * others use the processor's caches, and each page that has to be found again is dear. */
struct scan_node {
	uint8_t parent; /* a row before it */
	uint8_t size;   /* of the key */
	char key[SCAN_KEY];
};

/* "[]" is every element of a list. */
#define SCAN_NODE(parent, key)               \
	{                                    \
		parent, sizeof(key) - 1, key \
	}

enum scan_kind {
	SCAN_OBJECT,
	SCAN_LIST,
	SCAN_STRING,
	SCAN_NUMBER,
	SCAN_TRUE,
	SCAN_FALSE,
	SCAN_NULL,
	SCAN_END /* of an object or list; number: its members */
};

struct scan_value {
	size_t node;
	enum scan_kind kind;
	const char *text; /* of a string or number, as far as it is kept; ends with NUL */
	size_t kept;
	uint64_t bytes;  /* of a string: its length, roughly; more than kept if it was cut */
	uint64_t number; /* of a number: rounded up; below 0 is 0, beyond 2^53 is that */
	uint64_t start,
		end; /* where it stands in what was fed; of an object or list only the start */
};

/* An object or list that begins, or anything else that is whole. */
typedef void scan_fn(void *context, const struct scan_value *value);

struct scan {
	const struct scan_node *nodes; /* row SCAN_ROOT is the first that counts */
	size_t count;
	scan_fn *tell;
	void *context;

	/* From here on, scan_reset() clears all up to text. */
	bool wrong;  /* this is no JSON, as far as it was looked at */
	bool folded; /* a key differs from one that is asked for only by large and small letters */

	uint64_t offset; /* bytes that were fed */
	uint64_t start;
	unsigned int state;
	size_t depth;
	uint8_t stack[SCAN_DEPTH]; /* the nodes of what is open */
	bool list[SCAN_DEPTH];
	uint32_t members[SCAN_DEPTH];
	size_t skipped; /* brackets that are open within something that nobody asks for */
	bool skipping_string;
	uint8_t node; /* of the value that is being read */
	bool escaped;
	unsigned int hex; /* digits of \uXXXX that are still to come */
	uint32_t unit;
	size_t used; /* of text */
	uint64_t bytes;

	/* What the numbers above do not reach into is left from before, and nobody's. */
	char text[SCAN_TEXT];
	uint64_t kinds[SCAN_NEST / 64]; /* a bit for each that is skipped: a list */
};

/* Begins anew, with the same table and function. */
void scan_reset(struct scan *scan);

/* Feeds bytes. After something wrong, everything is passed over. */
void scan_feed(struct scan *scan, const char *bytes, size_t size);

/* Is the whole value there? (Of a number at the top nobody can tell.) */
bool scan_done(const struct scan *scan);

/* Of a string of this node that is not whole yet: how much of it was there. */
uint64_t scan_pending(const struct scan *scan, size_t node);

#endif
