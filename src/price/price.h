/*
 * The cost of a request to a model.
 *
 * Pure functions on a dated table: prices.txt is built in, and a user's file in the same format
 * overrides it. Amounts are whole nano-dollars: US$ 1 per million tokens is 1,000 nano-dollars per
 * token, so sums are exact. Products are rounded up. A model that is not in the table is never
 * free: it is priced as the most expensive model in the table.
 */
#ifndef PRICE_PRICE_H
#define PRICE_PRICE_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PRICE_NAME = 64, /* bytes of a model's name, including the NUL */
	PRICE_MODELS = 512,
	PRICE_TIERS = 4, /* per model */
	PRICE_GEO = 16,  /* bytes of a region's name */
	PRICE_GEOS = 8,
	PRICE_MOST_BYTES = 1 << 18, /* of a table's text */
};

/* Tokens by price. The kinds are disjoint: input tokens are those that no cache was involved in. */
enum price_kind {
	PRICE_INPUT,
	PRICE_OUTPUT,
	PRICE_WRITE_5M,
	PRICE_WRITE_1H,
	PRICE_READ,
	PRICE_KINDS
};

extern const char *const price_kind_names[PRICE_KINDS]; /* "input" and so on, as in the table */

struct price_tier {
	uint64_t above;             /* applies above this many input tokens */
	uint64_t nusd[PRICE_KINDS]; /* per token */
	bool priced[PRICE_KINDS];   /* false: priced as the most expensive input kind */
};

struct price_model {
	char name[PRICE_NAME];
	uint64_t fast; /* factor in thousandths; 0: no fast mode */
	struct price_tier tiers[PRICE_TIERS];
	size_t tier_count;
	bool own; /* from the user's file */
};

struct price_table {
	struct price_model *models;
	size_t count;
	char dated[11];     /* date of the built-in prices: 2026-11-17 */
	char own_dated[11]; /* date of the user's prices, or empty */
	uint64_t search_nusd;
	struct price_geo {
		char name[PRICE_GEO];
		uint64_t factor; /* thousandths */
	} geos[PRICE_GEOS];
	size_t geo_count;
};

/* The usage of one request. */
struct price_use {
	uint64_t tokens[PRICE_KINDS];
	uint64_t searches;
	bool fast;
	char geo[PRICE_GEO]; /* region, or empty */
};

/* Loads the built-in table. Returns 0, or -1 with err set if the built-in text is invalid. */
int price_table_init(struct price_table *table, struct error *err);
void price_table_release(struct price_table *table);

/* Adds a user's text on top; `file` is its name in messages. Returns 0, or -1 with err set and
 * the table unchanged. */
int price_table_add(struct price_table *table, const char *file, const char *text, size_t size,
		    struct error *err);

/*
 * Finds the model for a name, or returns NULL. The name may have a provider prefix (anthropic/...,
 * models/..., us.anthropic....) and a suffix: a date, a revision or a client's marker (-20250929,
 * -2026-04-14, -001, -latest, -preview-05-06, @20250929, :0, [1m]). Case is ignored, and dots match
 * hyphens. Nothing else is guessed: gpt-5.5-mini is not gpt-5.5.
 */
const struct price_model *price_find(const struct price_table *table, const char *name);

/* Returns true if the table has a factor for this region. */
bool price_has_geo(const struct price_table *table, const char *name);

/* Returns the cost. A NULL model is unknown. Sets *ret_as (may be NULL) to the model whose
 * prices were used. Token counts are capped at 2^40. */
uint64_t price_cost(const struct price_table *table, const struct price_model *model,
		    const struct price_use *use, const struct price_model **ret_as);

/* price_most() returns the most that a request can cost with this many tokens: input tokens of
 * any kind, in any region. price_most_output() is the inverse: how many output tokens this much
 * money pays for, at most `most`. */
uint64_t price_most(const struct price_table *table, const struct price_model *model,
		    uint64_t input, uint64_t output, bool fast);
uint64_t price_most_output(const struct price_table *table, const struct price_model *model,
			   uint64_t input, bool fast, uint64_t nusd, uint64_t most);

/* Appends an amount of nano-dollars in US$, such as "1.25", exactly and with at least `least`
 * decimals. */
struct buffer;
void price_add_usd(struct buffer *out, uint64_t nusd, unsigned int least);

#endif
