/*
 * The fields of a request to a model, and what each one does: one table per format.
 *
 * The tables are allow lists. A field that is not in a closed object's list, and a tool or content
 * type that is not in the format's list, is refused, because it could make the provider act for the
 * client (a way out of the fence) or cost more than was reserved. docs/models.md has the decisions
 * in words.
 */
#ifndef METER_SCHEMA_H
#define METER_SCHEMA_H

#include "meter/jsonscan.h"
#include "meter/usage.h"
#include "provider/provider_tool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum schema_role {
	SCHEMA_PASS,   /* has no effect outside the answer; its unknown members pass as well */
	SCHEMA_CLOSED, /* an object whose unknown members are refused; `words` pass (see below) */
	SCHEMA_LIST,   /* must be a list */
	SCHEMA_NEEDS,  /* refused without the tool */
	SCHEMA_NEVER,  /* refused; `words` is the reason */
	SCHEMA_WORDS,  /* must be one of `words` */

	/* values that decide the cost, or that are edited */
	SCHEMA_MODEL,
	SCHEMA_STREAM,
	SCHEMA_LIMIT, /* of output tokens */
	SCHEMA_ANSWERS,
	SCHEMA_SPEED,
	SCHEMA_TIER,
	SCHEMA_GEO,
	SCHEMA_STORED, /* refers to input that is stored at the provider */
	SCHEMA_OPTIONS,
	SCHEMA_USAGE,
	SCHEMA_CONFIG,
	SCHEMA_THINKING,

	/* content: closed objects */
	SCHEMA_BLOCK,     /* a text, a content block, or a list of blocks */
	SCHEMA_TYPE,      /* of a block */
	SCHEMA_ID,        /* of a block: without content, the block is a reference */
	SCHEMA_MEDIA,     /* data or a file that must have a SCHEMA_MIME */
	SCHEMA_MIME,      /* of the data in a block */
	SCHEMA_ORIGIN,    /* the source of a block: an object, or a text as SCHEMA_CITED */
	SCHEMA_SOURCE,    /* the type of a block's source */
	SCHEMA_CODED,     /* the data of a source: base64, unless the source's type is text */
	SCHEMA_CITED,     /* the address of a result that the block includes */
	SCHEMA_DATA,      /* base64; a URL in its place is treated as one */
	SCHEMA_URL,       /* fetched by the provider, unless it includes the data */
	SCHEMA_IMAGE_URL, /* the same, for an image */
	SCHEMA_FILE,      /* the id of a stored file */

	/* tools */
	SCHEMA_TOOL,
	SCHEMA_TOOL_TYPE,
	SCHEMA_MCP_URL,
	SCHEMA_CONNECTOR, /* an MCP server without a URL */
	SCHEMA_FETCHER,   /* a tool that fetches any URL */
	SCHEMA_DOMAINS,   /* the list that limits a tool that fetches */
	SCHEMA_DOMAIN,
	SCHEMA_PLACE, /* where a shell runs */
	SCHEMA_LIVE,  /* false: a search uses no network */

	SCHEMA_ROLES
};

struct schema_field {
	uint8_t role; /* enum schema_role */
	uint8_t tool; /* of SCHEMA_NEEDS: enum provider_tool */
	/* of a closed object: the further members that have no effect outside the answer, by their
	 * exact keys, separated by blanks */
	const char *words;
};

/* A known word of a type: patterns separated by blanks; in a pattern, '*' at the end matches any
 * rest and '#' at the end matches digits and underscores. */
struct schema_types {
	const char *pass;                       /* harmless */
	const char *needs[PROVIDER_TOOL_COUNT]; /* refused without the tool; may be NULL */
	const char *unpriced;                   /* refused: cannot be metered, or not limited */
};

struct schema {
	const struct jsonscan_node *nodes;
	const struct schema_field *fields;
	size_t count;
	struct schema_types blocks, tools;
	const char *cites;     /* the types of blocks that have a SCHEMA_CITED */
	const char *limit_key; /* inserted if a request names no limit */
};

/* The schema of a format. */
const struct schema *schema_of(enum usage_format format);

extern const struct schema schema_anthropic, schema_chat, schema_responses, schema_gemini;

/* Returns true if one of the patterns matches the word. Case is ignored. */
bool schema_matches(const char *patterns, const char *word);

/* Returns true if the list has exactly this word. */
bool schema_lists(const char *words, const char *word);

/* Rows of a table: X(name, parent, key, like, role, tool, words). */
#define SCHEMA_NAME(name, parent, key, like, role, tool, words) name,
#define SCHEMA_NODE(name, parent, key, like, role, tool, words) \
	[name] = JSONSCAN_LIKE(parent, like, key),
#define SCHEMA_FIELD(name, parent, key, like, role, tool, words) [name] = { role, tool, words },

#endif
