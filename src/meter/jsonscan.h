/*
 * Finds a few values in JSON that arrives in pieces.
 *
 * Pure functions in constant memory: no tree is built, and values that are not in the table are
 * skipped. Values are identified by their path of keys, so the same word inside a string, or deeper
 * down, does not match. Keys are compared after unescaping ("\u0061" is an a). Values in the table
 * are parsed strictly. Skipped values are only checked for matching brackets and legal characters,
 * since the final recipient parses them again.
 */
#ifndef METER_JSONSCAN_H
#define METER_JSONSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JSONSCAN_NONE = 0,    /* not in the table */
	JSONSCAN_ROOT = 1,    /* the whole value; the first row of every table */
	JSONSCAN_DEPTH = 16,  /* maximum length of a path; deeper values set `deep` */
	JSONSCAN_NEST = 1024, /* maximum nesting in skipped values; deeper is invalid */
	JSONSCAN_TEXT = 128,  /* bytes kept of a string, unless there is more room */
	JSONSCAN_KEY = 29,    /* maximum length of a key in a table */
	JSONSCAN_KEYS = 128,  /* maximum number of keys of one object in a table */
};

/* A row of a table, identified by its index. The key is stored in the row to save a cache miss:
 * between two events of a stream, other work evicts the caches. */
struct jsonscan_node {
	uint8_t parent; /* an earlier row */
	uint8_t like;   /* the row whose children this one has, or 0: its own */
	uint8_t size;   /* of the key */
	char key[JSONSCAN_KEY];
};

/* The key "[]" matches every element of a list. Two spellings of a key, with and without
 * underscores, are one key; their rows must be next to each other. JSONSCAN_LIKE is for values that
 * are nested in their own kind, such as content within content. */
#define JSONSCAN_NODE(parent, key) JSONSCAN_LIKE(parent, 0, key)
#define JSONSCAN_LIKE(parent, like, key)           \
	{                                          \
		parent, like, sizeof(key) - 1, key \
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
	const char *text; /* of a string or number, as far as kept; NUL-terminated */
	size_t kept;
	uint64_t bytes;      /* approximate length of a string; more than `kept` if it was cut */
	uint64_t number;     /* of a number: rounded up and clamped to 0..2^53 */
	uint64_t start, end; /* offsets in the input; for an object or list only the start */
};

/* Called at the start of an object or list, and at the end of any other value. */
typedef void jsonscan_fn(void *context, const struct jsonscan_value *value);

/* Called for a key that is not in the table, in an object that is, if its value is not null. A long
 * key is cut. */
typedef void jsonscan_unknown_fn(void *context, size_t parent, const char *key);

struct jsonscan {
	const struct jsonscan_node *nodes; /* row JSONSCAN_ROOT is the first one used */
	size_t count;
	jsonscan_fn *report;
	jsonscan_unknown_fn *unknown; /* or NULL */
	void *context;
	char *room; /* for longer strings than JSONSCAN_TEXT; or NULL */
	size_t room_size;

	/* jsonscan_reset() clears everything from here up to `small`. */
	bool wrong;  /* the part that was parsed is not valid JSON */
	bool folded; /* a key differs from one in the table only in case, or might to some parsers:
	              * it has letters that are not ASCII */
	bool twice;  /* a key of the table occurs twice in one object, in one or two spellings */
	bool deep;   /* a value of the table was skipped because it is nested too deeply */

	uint64_t offset; /* bytes fed so far */
	uint64_t start;
	unsigned int state;
	size_t depth;
	uint8_t stack[JSONSCAN_DEPTH]; /* the nodes of the open brackets */
	bool list[JSONSCAN_DEPTH];
	uint32_t members[JSONSCAN_DEPTH];
	uint64_t seen[JSONSCAN_DEPTH][JSONSCAN_KEYS / 64]; /* one bit per key of the table */
	size_t skipped; /* open brackets within a skipped value */
	bool skipping_string;
	uint8_t node; /* of the current value */
	bool escaped;
	unsigned int hex; /* digits of \uXXXX still to be read */
	uint32_t unit;
	size_t used; /* of `text` */
	uint64_t bytes;

	/* Not cleared by a reset: only the parts in use according to the fields above are valid. */
	char small[JSONSCAN_TEXT];  /* the current text, without `room` */
	char odd[JSONSCAN_KEY + 3]; /* the first key that is folded, occurs twice or is too deep */
	uint64_t kinds[JSONSCAN_NEST / 64]; /* one bit per skipped bracket; set for a list */
};

/* Starts over with the same table and function. */
void jsonscan_reset(struct jsonscan *scan);

/* Feeds bytes. Input after an error is ignored. */
void jsonscan_feed(struct jsonscan *scan, const char *bytes, size_t size);

/* Returns true if the value is complete. A number at the top level never is. */
bool jsonscan_done(const struct jsonscan *scan);

/* Returns how many bytes of an incomplete string of this node have been read. */
uint64_t jsonscan_pending(const struct jsonscan *scan, size_t node);

#endif
