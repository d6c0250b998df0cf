// sources: src/price/price.c src/price/price_table.c
/* A user's price table, with the name of a model in its last line. */
#include "fuzz.h"

#include "price/price.h"

#include <stdlib.h>
#include <string.h>

static void judge(const struct price_table *table, const struct price_model *model)
{
	struct price_use use = { .tokens = { 250000, 1000, 7, 7, 7 }, .geo = "us" };
	uint64_t known = price_cost(table, model, &use, NULL);

	if (price_cost(table, NULL, &use, NULL) < known)
		abort();
	if (price_most(table, model, 250021, 1000, false) < known)
		abort();
}

void fuzz_price(const uint8_t *data, size_t size)
{
	struct price_table table;
	struct error err;
	char name[PRICE_NAME * 2];

	if (price_table_init(&table, &err) < 0)
		abort();
	price_table_add(&table, "fuzz", (const char *)data, size, &err);
	for (size_t i = 0; i < table.count; i++) {
		if (price_find(&table, table.models[i].name) == NULL)
			abort();
		judge(&table, &table.models[i]);
	}

	size_t length = size < sizeof name ? size : sizeof name - 1;

	if (length > 0)
		memcpy(name, data + size - length, length);
	name[length] = '\0';
	price_find(&table, name);
	price_table_release(&table);
}

FUZZ_TARGET(fuzz_price)
