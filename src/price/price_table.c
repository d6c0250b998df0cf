/* Reads a table of prices. The format is lines of words, so that people can compare it with a
 * provider's page and with its last version, and because the gateway has no YAML parser. */
#include "price/price.h"

#include "util/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char built_in[] =
#include "prices.inc"
	;

const char *const price_kind_names[PRICE_KINDS] = { "input", "output", "write-5m", "write-1h",
						    "read" };

enum { WORDS = 8, MOST_THOUSANDTHS = 1000000000 };

struct reader {
	struct price_table table;  /* the result; the reader owns its models */
	struct price_model *model; /* from the last model line, for its tiers */
	bool own;
	const char *file;
	unsigned int line;
	char *words[WORDS];
	size_t count;
	struct error *err;
};

static int invalid(const struct reader *reader, const char *what)
{
	return error_set(reader->err, "%s:%u: %s", reader->file, reader->line, what);
}

/* Reads "2" or "0.125", in thousandths. */
static int read_thousandths(const char *word, uint64_t *ret_value)
{
	uint64_t value = 0;
	unsigned int decimals = 0;
	bool point = false;

	if (!isdigit((unsigned char)*word))
		return -1;
	for (; *word; word++) {
		if (*word == '.' && !point && isdigit((unsigned char)word[1])) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*word) || (point && ++decimals > 3))
			return -1;
		value = value * 10 + (uint64_t)(*word - '0');
		if (value > MOST_THOUSANDTHS)
			return -1;
	}
	for (; decimals < 3; decimals++)
		value *= 10;
	*ret_value = value;
	return value > MOST_THOUSANDTHS ? -1 : 0;
}

static int read_tier(struct reader *reader, struct price_tier *tier)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < PRICE_KINDS; i++) {
		const char *word = reader->words[2 + i];

		tier->priced[i] = strcmp(word, "-") != 0;
		if (!tier->priced[i])
			continue;
		/* US$ 0.001 per million tokens is one nano-dollar per token. */
		if (read_thousandths(word, &tier->nusd[i]) < 0)
			return invalid(
				reader,
				"invalid price: expected a number such as 2 or 0.125 (US$ per "
				"million tokens), or -");
		if (i != PRICE_OUTPUT && tier->nusd[i] > highest)
			highest = tier->nusd[i];
	}
	if (!tier->priced[PRICE_INPUT] || !tier->priced[PRICE_OUTPUT])
		return invalid(reader, "input and output need a price (0: free)");
	for (size_t i = 0; i < PRICE_KINDS; i++)
		if (!tier->priced[i])
			tier->nusd[i] = highest;
	return 0;
}

static bool good_name(const char *name)
{
	if (strlen(name) >= PRICE_NAME)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("-._:/@", *name))
			return false;
	return true;
}

/* Returns the entry to fill: the built-in model of this name, or a new one. Returns NULL if the
 * name is a duplicate or the table is full. */
static struct price_model *entry_for(struct reader *reader, const char *name)
{
	struct price_table *table = &reader->table;

	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->models[i].name, name) == 0)
			return table->models[i].own == reader->own ? NULL : &table->models[i];
	return table->count < PRICE_MODELS ? &table->models[table->count++] : NULL;
}

static int read_model(struct reader *reader)
{
	struct price_model model = { .tier_count = 1, .own = reader->own };

	if (reader->count < 7)
		return invalid(reader,
			       "a model line needs a name and five prices: input output write-5m "
			       "write-1h read");
	if (!good_name(reader->words[1]))
		return invalid(reader,
			       "invalid model name: expected up to 63 letters, digits and - . _ : "
			       "/ @");
	snprintf(model.name, sizeof model.name, "%s", reader->words[1]);
	if (read_tier(reader, &model.tiers[0]) < 0)
		return -1;
	if (reader->count == 8 &&
	    (strncmp(reader->words[7], "fast=", 5) != 0 ||
	     read_thousandths(reader->words[7] + 5, &model.fast) < 0 || model.fast < 1000))
		return invalid(reader, "only fast=FACTOR, at least 1, may follow the prices");
	reader->model = entry_for(reader, model.name);
	if (!reader->model)
		return invalid(reader, "duplicate model, or more than 512 models");
	*reader->model = model;
	return 0;
}

static int read_above(struct reader *reader)
{
	struct price_model *model = reader->model;
	struct price_tier tier = { 0 };
	char *end;

	if (!model || model->tier_count == PRICE_TIERS)
		return invalid(reader,
			       "an above line must follow its model, at most three per model");
	if (reader->count != 7)
		return invalid(reader,
			       "an above line needs a number of tokens and five prices: input "
			       "output write-5m write-1h read");
	if (strlen(reader->words[1]) > 9 || !isdigit((unsigned char)*reader->words[1]))
		return invalid(reader, "above needs a number of tokens, such as 200000");
	tier.above = strtoull(reader->words[1], &end, 10);
	if (*end || tier.above <= model->tiers[model->tier_count - 1].above)
		return invalid(reader,
			       "above needs a number of tokens larger than the one in the line "
			       "before");
	if (read_tier(reader, &tier) < 0)
		return -1;
	model->tiers[model->tier_count++] = tier;
	return 0;
}

static int read_dated(struct reader *reader)
{
	static const char form[] = "9999-99-99";
	const char *word = reader->count == 2 ? reader->words[1] : "";

	for (size_t i = 0; i < sizeof form; i++)
		if (form[i] == '9' ? !isdigit((unsigned char)word[i]) : word[i] != form[i])
			return invalid(reader, "invalid date: expected a date such as 2026-11-17");
	memcpy(reader->own ? reader->table.own_dated : reader->table.dated, word, sizeof form);
	return 0;
}

static int read_search(struct reader *reader)
{
	uint64_t value;

	if (reader->count != 2 || read_thousandths(reader->words[1], &value) < 0)
		return invalid(reader, "web-search needs a price in US$, such as 0.01");
	reader->table.search_nusd = value * 1000000;
	return 0;
}

static int read_geo(struct reader *reader)
{
	struct price_table *table = &reader->table;
	uint64_t factor;
	size_t at = 0;

	if (reader->count != 3 || strlen(reader->words[1]) >= PRICE_GEO ||
	    !good_name(reader->words[1]) || read_thousandths(reader->words[2], &factor) < 0)
		return invalid(reader, "geo needs a region and a factor, such as: geo us 1.1");
	while (at < table->geo_count && strcmp(table->geos[at].name, reader->words[1]) != 0)
		at++;
	if (at == PRICE_GEOS)
		return invalid(reader, "more than 8 regions");
	snprintf(table->geos[at].name, sizeof table->geos[at].name, "%s", reader->words[1]);
	table->geos[at].factor = factor;
	table->geo_count = at == table->geo_count ? at + 1 : table->geo_count;
	return 0;
}

static int read_line(struct reader *reader)
{
	static const struct {
		const char *word;
		int (*read)(struct reader *reader);
	} lines[] = {
		{ "model", read_model },       { "above", read_above }, { "dated", read_dated },
		{ "web-search", read_search }, { "geo", read_geo },
	};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (strcmp(reader->words[0], lines[i].word) == 0)
			return lines[i].read(reader);
	return invalid(reader, "unknown line: expected model, above, dated, web-search, geo or #");
}

static int read_text(struct reader *reader, char *text)
{
	char *line;
	char *word;
	char *rest;

	while ((line = strsep(&text, "\n"))) {
		reader->line++;
		line[strcspn(line, "#")] = '\0';
		reader->count = 0;
		for (word = strtok_r(line, " \t\r", &rest); word;
		     word = strtok_r(NULL, " \t\r", &rest)) {
			if (reader->count == WORDS)
				return invalid(reader, "too many words in this line");
			reader->words[reader->count++] = word;
		}
		if (reader->count > 0 && read_line(reader) < 0)
			return -1;
	}
	return 0;
}

int price_table_add(struct price_table *table, const char *file, const char *text, size_t size,
		    struct error *err)
{
	struct reader reader = {
		.table = *table, .own = table->dated[0], .file = file, .err = err
	};
	AUTO_FREE char *copy = NULL;

	if (size > PRICE_MOST_BYTES)
		return error_set(err, "%s: a price table must not exceed %d bytes", file,
				 (int)PRICE_MOST_BYTES);
	if (memchr(text, '\0', size))
		return error_set(err, "%s: a price table must be text without NUL bytes", file);
	copy = mem_alloc(size + 1);
	memcpy(copy, text, size);
	copy[size] = '\0';
	reader.table.models = mem_alloc(PRICE_MODELS * sizeof *table->models);
	if (table->count > 0)
		memcpy(reader.table.models, table->models, table->count * sizeof *table->models);
	if (read_text(&reader, copy) < 0) {
		free(reader.table.models);
		return -1;
	}
	free(table->models);
	*table = reader.table;
	table->models = mem_resize(table->models, table->count ? table->count : 1,
				   sizeof *table->models);
	return 0;
}

int price_table_init(struct price_table *table, struct error *err)
{
	*table = (struct price_table){ 0 };
	return price_table_add(table, "prices.txt", built_in, sizeof built_in - 1, err);
}

void price_table_release(struct price_table *table)
{
	free(table->models);
	*table = (struct price_table){ 0 };
}
