/* The cost of a request: see price.h. */
#include "price/price.h"

#include "util/buffer.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TOKENS_MOST_BITS = 40, WHOLE = 1000 };

/* 128 bits hold any product of a table value and the bounded number of tokens. */
typedef unsigned __int128 wide;

static uint64_t bounded(uint64_t tokens)
{
	const uint64_t most = UINT64_C(1) << TOKENS_MOST_BITS;

	return tokens < most ? tokens : most;
}

/* Multiplies by two factors in thousandths and rounds up: the provider's rounding is unknown,
 * and must not push the cost over a budget. */
static uint64_t multiplied(wide nusd, uint64_t a, uint64_t b)
{
	wide product = nusd * a * b;
	wide whole = (product + WHOLE * WHOLE - 1) / (WHOLE * WHOLE);

	return whole < INT64_MAX ? (uint64_t)whole : INT64_MAX;
}

static uint64_t added(uint64_t a, uint64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* If the table has no factor for this model's fast mode, assume the highest factor in the table. */
static uint64_t fast_factor(const struct price_table *table, const struct price_model *model)
{
	uint64_t most = WHOLE;

	if (model->fast)
		return model->fast;
	for (size_t i = 0; i < table->count; i++)
		if (table->models[i].fast > most)
			most = table->models[i].fast;
	return most;
}

static const struct price_geo *find_geo(const struct price_table *table, const char *name)
{
	for (size_t i = 0; i < table->geo_count; i++)
		if (strcmp(table->geos[i].name, name) == 0)
			return &table->geos[i];
	return NULL;
}

bool price_has_geo(const struct price_table *table, const char *name)
{
	return find_geo(table, name) != NULL;
}

static uint64_t highest_geo(const struct price_table *table)
{
	uint64_t most = WHOLE;

	for (size_t i = 0; i < table->geo_count; i++)
		if (table->geos[i].factor > most)
			most = table->geos[i].factor;
	return most;
}

/* A region that the table does not have is priced as the most expensive one. */
static uint64_t geo_factor(const struct price_table *table, const char *name)
{
	const struct price_geo *geo = find_geo(table, name);

	if (geo)
		return geo->factor;
	return !name[0] || strcmp(name, "global") == 0 || strcmp(name, "not_available") == 0
		       ? WHOLE
		       : highest_geo(table);
}

static uint64_t cost_of(const struct price_table *table, const struct price_model *model,
			const struct price_use *use)
{
	const struct price_tier *tier = &model->tiers[0];
	uint64_t input = 0;
	wide sum = 0;

	for (size_t i = 0; i < PRICE_KINDS; i++)
		input += i == PRICE_OUTPUT ? 0 : bounded(use->tokens[i]);
	for (size_t i = 1; i < model->tier_count; i++)
		if (input > model->tiers[i].above)
			tier = &model->tiers[i];
	for (size_t i = 0; i < PRICE_KINDS; i++)
		sum += (wide)bounded(use->tokens[i]) * tier->nusd[i];
	return multiplied(sum, use->fast ? fast_factor(table, model) : WHOLE,
			  geo_factor(table, use->geo));
}

uint64_t price_cost(const struct price_table *table, const struct price_model *model,
		    const struct price_use *use, const struct price_model **ret_as)
{
	wide searches = (wide)bounded(use->searches) * table->search_nusd;
	const struct price_model *as = model;
	uint64_t cost = 0;

	for (size_t i = 0; !model && i < table->count; i++) {
		uint64_t other = cost_of(table, &table->models[i], use);

		if (as && other <= cost)
			continue;
		as = &table->models[i];
		cost = other;
	}
	if (model)
		cost = cost_of(table, model, use);
	if (ret_as)
		*ret_as = as;
	return added(cost, multiplied(searches, WHOLE, WHOLE));
}

static uint64_t most_of(const struct price_table *table, const struct price_model *model,
			uint64_t input, uint64_t output, bool fast)
{
	uint64_t in = 0;
	uint64_t out = 0;

	for (size_t i = 0; i < model->tier_count; i++) {
		const struct price_tier *tier = &model->tiers[i];

		if (i > 0 && input <= tier->above)
			break;
		for (size_t kind = 0; kind < PRICE_KINDS; kind++) {
			uint64_t *rate = kind == PRICE_OUTPUT ? &out : &in;

			*rate = tier->nusd[kind] > *rate ? tier->nusd[kind] : *rate;
		}
	}
	return multiplied((wide)bounded(input) * in + (wide)bounded(output) * out,
			  fast ? fast_factor(table, model) : WHOLE, highest_geo(table));
}

uint64_t price_most(const struct price_table *table, const struct price_model *model,
		    uint64_t input, uint64_t output, bool fast)
{
	uint64_t most = 0;

	if (model)
		return most_of(table, model, input, output, fast);
	for (size_t i = 0; i < table->count; i++) {
		uint64_t other = most_of(table, &table->models[i], input, output, fast);

		most = other > most ? other : most;
	}
	return most;
}

uint64_t price_most_output(const struct price_table *table, const struct price_model *model,
			   uint64_t input, bool fast, uint64_t nusd, uint64_t most)
{
	uint64_t low = 0;
	uint64_t high = bounded(most);

	while (low < high) {
		uint64_t middle = low + (high - low + 1) / 2;

		if (price_most(table, model, input, middle, fast) <= nusd)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Compares names in lower case, with hyphens for dots. */
static bool same_name(const char *a, size_t size, const char *b)
{
	if (strlen(b) != size)
		return false;
	for (size_t i = 0; i < size; i++) {
		int x = a[i] == '.' ? '-' : tolower((unsigned char)a[i]);
		int y = b[i] == '.' ? '-' : tolower((unsigned char)b[i]);

		if (x != y)
			return false;
	}
	return true;
}

static const struct price_model *find_exactly(const struct price_table *table, const char *name,
					      size_t size)
{
	for (size_t i = 0; i < table->count; i++)
		if (same_name(name, size, table->models[i].name))
			return &table->models[i];
	return NULL;
}

/* Returns the size of the name without its last suffix, or the same size if it has none. In the
 * patterns, 9 matches any digit. */
static size_t without_suffix(const char *name, size_t size)
{
	static const char *const forms[] = { "-99999999", "-9999-99-99", "-99-99",   "-999",
					     "-v9",       "-latest",     "-preview", "-default" };

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		size_t length = strlen(forms[i]);
		size_t at = 0;

		if (length >= size)
			continue;
		while (at < length) {
			char byte = name[size - length + at];

			if (forms[i][at] == '9' ? !isdigit((unsigned char)byte)
						: tolower((unsigned char)byte) != forms[i][at])
				break;
			at++;
		}
		if (at == length)
			return size - length;
	}
	return size;
}

const struct price_model *price_find(const struct price_table *table, const char *name)
{
	static const char bedrock[] = "anthropic.";
	const struct price_model *model = find_exactly(table, name, strlen(name));
	const char *slash = strrchr(name, '/');
	const char *vendor;
	size_t size;

	if (model)
		return model;
	name = slash ? slash + 1 : name;
	vendor = strstr(name, bedrock);
	name = vendor ? vendor + sizeof bedrock - 1 : name;
	model = find_exactly(table, name, strlen(name));
	size = strcspn(name, "@:[");
	while (!model && size > 0) {
		size_t rest = without_suffix(name, size);

		model = find_exactly(table, name, size);
		if (rest == size)
			break;
		size = rest;
	}
	return model;
}

void price_add_usd(struct buffer *out, uint64_t nusd, unsigned int least)
{
	enum { DIGITS = 9 };
	char digits[24];
	size_t size = DIGITS;

	snprintf(digits, sizeof digits, "%09" PRIu64, nusd % UINT64_C(1000000000));
	while (size > least && size > 0 && digits[size - 1] == '0')
		size--;
	buffer_printf(out, "%" PRIu64 "%s%.*s", nusd / UINT64_C(1000000000), size ? "." : "",
		      (int)size, digits);
}
