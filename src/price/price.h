/*
 * What tokens cost, by a dated table (data/prices.txt) that a user's own file may correct. Money is integer
 * nano-dollars. A model that is in no table, or tokens of a kind that it has no price for, cost an unknown
 * amount; that is never the same as nothing.
 */
#ifndef PRICE_PRICE_H
#define PRICE_PRICE_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRICE_MODELS_MAX = 1024, PRICE_NAME_MAX = 128, PRICE_FILE_MAX = 1 << 20 };

enum price_kind {
	PRICE_INPUT, /* in no cache */
	PRICE_OUTPUT,
	PRICE_CACHE_READ,
	PRICE_CACHE_WRITE_5M,
	PRICE_CACHE_WRITE_1H,
	PRICE_KINDS
};

/* Pico-dollars a token (a dollar per million tokens is a million of them); -1: not known. */
struct price_tier {
	int64_t each[PRICE_KINDS];
};

struct price_model {
	char name[PRICE_NAME_MAX];
	struct price_tier usual;
	int64_t above; /* a prompt of more tokens is priced by `large`; 0: there is no such limit */
	struct price_tier large;
	int64_t fast; /* thousandths; 0: there is no fast mode */
	bool own;     /* from the user's file */
};

struct price_table {
	char date[16];
	struct price_model *models;
	size_t count;
	int64_t search_nusd; /* a web search */
	int64_t us;          /* thousandths */
};

/* What was used. Kinds of input have nothing in common; output includes what was thought. -1 is as 0. */
struct price_use {
	int64_t tokens[PRICE_KINDS];
	int64_t searches;
	bool fast;
	bool us; /* bound to a country */
	bool several; /* a sum over requests: how large each prompt was is not known, and it is priced as small */
};

/* The built-in table. Returns 0, or -1 with err set: only a build can be that wrong. */
int price_table_init(struct price_table *ret_table, struct error *err);
void price_table_release(struct price_table *table);

/* Adds the lines of a file of the same form; `name` is for messages. Returns 0, or -1 with err set: the
 * table is as it was before. */
int price_table_add(struct price_table *table, const char *text, size_t size, const char *name,
		    struct error *err);

/* Adds the user's own file below their folder of settings, if there is one. Returns 0, or -1 with err set. */
int price_table_add_file(struct price_table *table, const char *path, struct error *err);

/* The entry that a model's name leads to; NULL: it is not known. */
const struct price_model *price_find(const struct price_table *table, const char *model);

/* Returns 0 and what it costs, rounded up to a nano-dollar, or -1: that is not known. */
int price_cost(const struct price_table *table, const char *model, const struct price_use *use,
	       int64_t *ret_nusd);

/* "input", "output", "cache read"... */
const char *price_kind_name(enum price_kind kind);

#endif
