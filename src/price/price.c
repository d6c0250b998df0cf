/* What tokens cost: see price.h. */
#include "price/price.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_digits(const char *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* What may stand behind a model's name without making it another model. */
static bool is_variant(const char *rest)
{
	size_t size = strlen(rest);

	if (!size || strcmp(rest, "-latest") == 0 || strcmp(rest, "[1m]") == 0)
		return true;
	if (*rest == '@')
		return true;
	if (*rest != '-')
		return false;
	if (size == 9)
		return is_digits(rest + 1, 8);
	return size == 11 && is_digits(rest + 1, 4) && rest[5] == '-' && is_digits(rest + 6, 2) &&
	       rest[8] == '-' && is_digits(rest + 9, 2);
}

const struct price_model *price_find(const struct price_table *table, const char *model)
{
	const char *slash = strrchr(model, '/');
	const char *name = slash ? slash + 1 : model;

	/* The latest entry of a name counts: the user's come behind ours. */
	for (size_t i = table->count; i-- > 0;) {
		const struct price_model *at = &table->models[i];
		size_t size = strlen(at->name);

		if (strcmp(at->name, model) == 0 ||
		    (strncmp(at->name, name, size) == 0 && is_variant(name + size)))
			return at;
	}
	return NULL;
}

static int64_t used(const struct price_use *use, int kind)
{
	return use->tokens[kind] > 0 ? use->tokens[kind] : 0;
}

static bool is_large(const struct price_model *model, const struct price_use *use)
{
	__int128 prompt = 0;

	for (int i = 0; i < PRICE_KINDS; i++)
		if (i != PRICE_OUTPUT)
			prompt += used(use, i);
	return model->above && !use->several && prompt > model->above;
}

int price_cost(const struct price_table *table, const char *model, const struct price_use *use,
	       int64_t *ret_nusd)
{
	enum { PICO = 1000, THOUSANDTHS = 1000 };
	const struct price_model *entry = price_find(table, model);
	const struct price_tier *tier;
	__int128 sum = 0;
	__int128 parts = PICO;

	if (!entry || (use->fast && !entry->fast))
		return -1;
	tier = is_large(entry, use) ? &entry->large : &entry->usual;
	for (int i = 0; i < PRICE_KINDS; i++) {
		if (!used(use, i))
			continue;
		if (tier->each[i] < 0)
			return -1;
		sum += (__int128)used(use, i) * tier->each[i];
	}
	if (use->fast) {
		sum *= entry->fast;
		parts *= THOUSANDTHS;
	}
	if (use->us) {
		sum *= table->us;
		parts *= THOUSANDTHS;
	}
	sum = (sum + parts - 1) / parts;
	if (use->searches > 0)
		sum += (__int128)use->searches * table->search_nusd;
	if (sum > INT64_MAX)
		return -1;
	*ret_nusd = (int64_t)sum;
	return 0;
}

void price_table_release(struct price_table *table)
{
	free(table->models);
	*table = (struct price_table){ 0 };
}

const char *price_kind_name(enum price_kind kind)
{
	static const char *const names[] = {
		[PRICE_INPUT] = "input",
		[PRICE_OUTPUT] = "output",
		[PRICE_CACHE_READ] = "cache read",
		[PRICE_CACHE_WRITE_5M] = "cache write 5m",
		[PRICE_CACHE_WRITE_1H] = "cache write 1h",
	};

	_Static_assert(sizeof names / sizeof *names == PRICE_KINDS, "every kind has a name");
	return kind < PRICE_KINDS ? names[kind] : "";
}
