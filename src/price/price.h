/*
 * What a request to a model costs.
 *
 * Pure functions on a dated table (prices.txt, built in; a user's own text of the same form goes on top). Money
 * is in whole nano-dollars: US$ 1 for a million tokens is 1,000 of them for each token, so nothing is lost by
 * adding up. What is multiplied is rounded up. A model that is not in the table is never free: a request to it costs
 * what it would with the dearest model that is.
 */
#ifndef PRICE_PRICE_H
#define PRICE_PRICE_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PRICE_NAME = 64, /* bytes of a model's name, with the end of the string */
	PRICE_MODELS = 512,
	PRICE_TIERS = 4, /* of a model */
	PRICE_GEO = 16,  /* bytes of a region's name */
	PRICE_GEOS = 8,
	PRICE_MOST_BYTES = 1 << 18, /* of a table's text */
};

/* Tokens by what they cost. The kinds are disjoint: input is what no cache had a part in. */
enum price_kind {
	PRICE_INPUT,
	PRICE_OUTPUT,
	PRICE_WRITE_5M,
	PRICE_WRITE_1H,
	PRICE_READ,
	PRICE_KINDS
};

extern const char *const price_kind_names[PRICE_KINDS]; /* "input", ..., as the table has them */

struct price_tier {
	uint64_t above;             /* holds for more input tokens than these */
	uint64_t nusd[PRICE_KINDS]; /* for one token */
	bool priced[PRICE_KINDS]; /* false: there is no such kind; it counts as the dearest input */
};

struct price_model {
	char name[PRICE_NAME];
	uint64_t fast; /* thousandths; 0: it has no fast mode */
	struct price_tier tiers[PRICE_TIERS];
	size_t tier_count;
	bool own; /* from the user's text */
};

struct price_table {
	struct price_model *models;
	size_t count;
	char dated[11];     /* 2026-11-17: the built-in prices */
	char own_dated[11]; /* the user's; empty: not said */
	uint64_t search_nusd;
	struct price_geo {
		char name[PRICE_GEO];
		uint64_t factor; /* thousandths */
	} geos[PRICE_GEOS];
	size_t geo_count;
};

/* What was used. */
struct price_use {
	uint64_t tokens[PRICE_KINDS];
	uint64_t searches;
	bool fast;
	char geo[PRICE_GEO]; /* empty: none */
};

/* The table that is built in. Returns 0, or -1 with err set: then it was built wrong. */
int price_table_init(struct price_table *table, struct error *err);
void price_table_release(struct price_table *table);

/* Puts a user's text on top; `file` is what it is called in messages. Returns 0, or -1 with err set and the table
 * as it was. */
int price_table_add(struct price_table *table, const char *file, const char *text, size_t size,
		    struct error *err);

/*
 * The model that a name means, or NULL. A name may have a provider in front (anthropic/..., models/...,
 * us.anthropic....), and behind it a date, a revision or what a client marks (-20250929, -2026-04-14, -001, -latest,
 * -preview-05-06, @20250929, :0, [1m]). Points are hyphens, letters are small. Nothing else is guessed:
 * gpt-5.5-mini is not gpt-5.5.
 */
const struct price_model *price_find(const struct price_table *table, const char *name);

/* What it costs; model NULL: unknown. *ret_as (may be NULL) is the model it was counted as. Numbers that no
 * provider can mean are cut off at 2^40 tokens. */
uint64_t price_cost(const struct price_table *table, const struct price_model *model,
		    const struct price_use *use, const struct price_model **ret_as);

/*
 * What a request can cost at most: so many input tokens, of whichever kind, and output tokens, in whichever region.
 * price_most_output() is the other way round: how many output tokens fit into the money, at most `most`.
 */
uint64_t price_most(const struct price_table *table, const struct price_model *model,
		    uint64_t input, uint64_t output, bool fast);
uint64_t price_most_output(const struct price_table *table, const struct price_model *model,
			   uint64_t input, bool fast, uint64_t nusd, uint64_t most);

/* Appends "1.25" for so many nano-dollars: all digits that there are, and at least `least` behind the point. */
struct buffer;
void price_add_usd(struct buffer *out, uint64_t nusd, unsigned int least);

#endif
