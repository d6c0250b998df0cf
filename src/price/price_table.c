/*
 * Reads a table of prices: words in lines, because a person compares it with a provider's page, a reviewer
 * with the table before, and the gateway has no reader of YAML.
 */
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
	struct price_table table;  /* what it becomes; its models are the reader's own */
	struct price_model *model; /* of the last model line, for its tiers */
	bool own;
	const char *file;
	unsigned int line;
	char *words[WORDS];
	size_t count;
	struct error *err;
};

static int wrong(const struct reader *reader, const char *what)
{
	return error_set(reader->err, "%s:%u: %s", reader->file, reader->line, what);
}

/* "2", "0.125": thousandths. */
static int read_thousandths(const char *word, uint64_t *ret_value)
{
	uint64_t value = 0;
	unsigned int behind = 0;
	bool point = false;

	if (!isdigit((unsigned char)*word))
		return -1;
	for (; *word; word++) {
		if (*word == '.' && !point && isdigit((unsigned char)word[1])) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*word) || (point && ++behind > 3))
			return -1;
		value = value * 10 + (uint64_t)(*word - '0');
		if (value > MOST_THOUSANDTHS)
			return -1;
	}
	for (; behind < 3; behind++)
		value *= 10;
	*ret_value = value;
	return value > MOST_THOUSANDTHS ? -1 : 0;
}

static int read_tier(struct reader *reader, struct price_tier *tier)
{
	uint64_t dearest = 0;

	for (size_t i = 0; i < PRICE_KINDS; i++) {
		const char *word = reader->words[2 + i];

		tier->priced[i] = strcmp(word, "-") != 0;
		if (!tier->priced[i])
			continue;
		/* A thousandth of a dollar for a million tokens is a nano-dollar for one. */
		if (read_thousandths(word, &tier->nusd[i]) < 0)
			return wrong(
				reader,
				"a price is a number such as 2 or 0.125 (US$ for a million tokens), or -");
		if (i != PRICE_OUTPUT && tier->nusd[i] > dearest)
			dearest = tier->nusd[i];
	}
	if (!tier->priced[PRICE_INPUT] || !tier->priced[PRICE_OUTPUT])
		return wrong(reader, "input and output must have a price (0: free)");
	for (size_t i = 0; i < PRICE_KINDS; i++)
		if (!tier->priced[i])
			tier->nusd[i] = dearest;
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

/* A place for it: that of the model of this name from below, or a new one. */
static struct price_model *place_of(struct reader *reader, const char *name)
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
		return wrong(
			reader,
			"a model has a name and five prices: input output write-5m write-1h read");
	if (!good_name(reader->words[1]))
		return wrong(
			reader,
			"a model's name has up to 63 letters, digits and hyphens, points, _ : / or @");
	snprintf(model.name, sizeof model.name, "%s", reader->words[1]);
	if (read_tier(reader, &model.tiers[0]) < 0)
		return -1;
	if (reader->count == 8 &&
	    (strncmp(reader->words[7], "fast=", 5) != 0 ||
	     read_thousandths(reader->words[7] + 5, &model.fast) < 0 || model.fast < 1000))
		return wrong(reader, "behind the prices there can be fast=FACTOR, at least 1");
	reader->model = place_of(reader, model.name);
	if (!reader->model)
		return wrong(reader, "this model is here twice, or there are more than 512");
	*reader->model = model;
	return 0;
}

static int read_above(struct reader *reader)
{
	struct price_model *model = reader->model;
	struct price_tier tier = { 0 };
	char *end;

	if (!model || model->tier_count == PRICE_TIERS)
		return wrong(reader,
			     "an above line stands behind its model, at most three of them");
	if (reader->count != 7)
		return wrong(
			reader,
			"an above line has a number of tokens and five prices: input output write-5m write-1h read");
	if (strlen(reader->words[1]) > 9 || !isdigit((unsigned char)*reader->words[1]))
		return wrong(reader, "above what is a number of tokens, such as 200000");
	tier.above = strtoull(reader->words[1], &end, 10);
	if (*end || tier.above <= model->tiers[model->tier_count - 1].above)
		return wrong(reader,
			     "above what is a number of tokens that grows from line to line");
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
			return wrong(reader, "a date is written as 2026-11-17");
	memcpy(reader->own ? reader->table.own_dated : reader->table.dated, word, sizeof form);
	return 0;
}

static int read_search(struct reader *reader)
{
	uint64_t value;

	if (reader->count != 2 || read_thousandths(reader->words[1], &value) < 0)
		return wrong(reader, "web-search has a price in US$, such as 0.01");
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
		return wrong(reader, "geo has a region and a factor, such as: geo us 1.1");
	while (at < table->geo_count && strcmp(table->geos[at].name, reader->words[1]) != 0)
		at++;
	if (at == PRICE_GEOS)
		return wrong(reader, "there are more than 8 regions");
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
	return wrong(reader, "a line begins with model, above, dated, web-search, geo or #");
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
				return wrong(reader, "this line has too many words");
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
		return error_set(err, "%s: a table of prices has at most %d bytes", file,
				 (int)PRICE_MOST_BYTES);
	if (memchr(text, '\0', size))
		return error_set(err, "%s: a table of prices is text, and has no NUL in it", file);
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
