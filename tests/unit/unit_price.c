/* Model prices: the table, names, tiers, and sums without drift. */
#include "unit.h"

#include "price/price.h"

#include "util/buffer.h"

#include <stdlib.h>
#include <string.h>

static struct price_table table;

static bool is(const char *name, const char *model)
{
	const struct price_model *found = price_find(&table, name);

	return model ? found && strcmp(found->name, model) == 0 : !found;
}

static void names(void)
{
	CHECK("a name of the table means itself", is("claude-opus-5-5", "claude-opus-5-5"));
	CHECK("a date after a name does not matter",
	      is("claude-sonnet-4-5-20250929", "claude-sonnet-4-5") &&
		      is("gpt-5.5-2026-04-14", "gpt-5.5") &&
		      is("gemini-2.5-pro-001", "gemini-2.5-pro") &&
		      is("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"));
	CHECK("clients' markers do not matter",
	      is("claude-sonnet-4-5[1m]", "claude-sonnet-4-5") &&
		      is("claude-opus-5-latest", "claude-opus-5") &&
		      is("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"));
	CHECK("a provider prefix does not matter",
	      is("anthropic/claude-haiku-4-5", "claude-haiku-4-5") &&
		      is("openrouter/anthropic/claude-haiku-4.5", "claude-haiku-4-5") &&
		      is("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5") &&
		      is("models/gemini-3.8-flash", "gemini-3.8-flash"));
	CHECK("case does not matter", is("GPT-6-Sol", "gpt-6-sol"));
	CHECK("a preview in the table stays one",
	      is("gemini-3.1-pro-preview", "gemini-3.1-pro-preview"));
	CHECK("a longer name is another model",
	      is("gpt-5.5-mini", NULL) && is("claude-opus-5-5-5", NULL) &&
		      is("claude-opus-3", NULL) && is("claude-opus-5-1-20250805", NULL) &&
		      is("gpt-6-sol-pro", NULL) && is("gpt-4o-audio-preview", NULL));
	CHECK("an empty name has no model", is("", NULL) && is("/", NULL) &&
						    is("anthropic.", NULL) &&
						    is("-20250929", NULL) && is("[1m]", NULL));
}

static uint64_t cost(const char *name, struct price_use use)
{
	return price_cost(&table, price_find(&table, name), &use, NULL);
}

static void costs(void)
{
	const struct price_model *as = NULL;

	CHECK("a million tokens cost what the table says",
	      cost("claude-opus-5-5", (struct price_use){ { 1000000 } }) == UINT64_C(4000000000) &&
		      cost("claude-opus-5-5", (struct price_use){ { [PRICE_READ] = 1000000 } }) ==
			      200000000);
	CHECK("kinds add up", cost("claude-sonnet-4-5", (struct price_use){ { 1, 1, 1, 1, 1 } }) ==
				      3000 + 15000 + 3750 + 6000 + 300);
	CHECK("a kind without a price is not free",
	      cost("gpt-5.5", (struct price_use){ { [PRICE_WRITE_1H] = 1 } }) == 5000 &&
		      cost("gpt-6-sol", (struct price_use){ { [PRICE_WRITE_1H] = 1 } }) == 2500);
	CHECK("fast doubles the tokens, not the searches",
	      cost("claude-opus-5-5", (struct price_use){ { 10, 1 }, 1, .fast = true }) ==
		      2 * (40000 + 20000) + 10000000);
	CHECK("fast mode without a factor is priced as the most expensive fast "
	      "mode",
	      cost("claude-haiku-4-5", (struct price_use){ { 1 }, .fast = true }) == 2500);
	CHECK("a region costs more, and a fraction is rounded up",
	      cost("claude-opus-5-5", (struct price_use){ { 10 }, .geo = "us" }) == 44000 &&
		      cost("gemini-3.8-flash",
			   (struct price_use){ { [PRICE_READ] = 1 }, .geo = "us" }) == 83 &&
		      cost("claude-opus-5-5", (struct price_use){ { 10 }, .geo = "global" }) ==
			      40000);
	CHECK("an unknown model is priced as the most expensive one",
	      price_cost(&table, NULL, &(struct price_use){ { 1, 1 } }, &as) == 210000 && as &&
		      price_cost(&table, NULL, &(struct price_use){ { 300000, 1 } }, &as) ==
			      UINT64_C(300000) * 60000 + 270000 &&
		      strcmp(as->name, "gpt-5.5-pro") == 0);
	CHECK("excessive numbers are capped",
	      cost("gpt-6-astra", (struct price_use){ { UINT64_MAX, UINT64_MAX, UINT64_MAX,
							UINT64_MAX, UINT64_MAX },
						      UINT64_MAX }) == INT64_MAX);
}

static void tiers(void)
{
	CHECK("at the boundary the lower price holds, one above the higher, for the whole request",
	      cost("claude-haiku-5-5", (struct price_use){ { 100000, 1 } }) == 100000 * 100 + 500 &&
		      cost("claude-haiku-5-5", (struct price_use){ { 100001, 1 } }) ==
			      100001 * 500 + 2500 &&
		      cost("claude-haiku-5-5", (struct price_use){ { 99999, 1 } }) ==
			      99999 * 100 + 500);
	CHECK("cached input counts for the boundary",
	      cost("claude-haiku-5-5", (struct price_use){ { 1, 0, 0, 0, 100000 } }) ==
		      500 + 100000 * 50);
	CHECK("output does not",
	      cost("claude-haiku-5-5", (struct price_use){ { 1, 200000 } }) == 100 + 200000 * 500);
	CHECK("the boundaries of others",
	      cost("gpt-5.5", (struct price_use){ { 272000 } }) == UINT64_C(272000) * 5000 &&
		      cost("gpt-5.5", (struct price_use){ { 272001 } }) ==
			      UINT64_C(272001) * 10000 &&
		      cost("gemini-2.5-pro", (struct price_use){ { 200001, 2 } }) ==
			      UINT64_C(200001) * 2500 + 2 * 15000);
}

static void sums(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 1000000; i++)
		sum += cost("claude-sonnet-5",
			    (struct price_use){ { i % 7, i % 11, i % 3, 0, i % 13 } });

	uint64_t expected = 0;
	uint64_t kinds[4] = { 0 };

	for (uint64_t i = 0; i < 1000000; i++) {
		kinds[0] += i % 7;
		kinds[1] += i % 11;
		kinds[2] += i % 3;
		kinds[3] += i % 13;
	}
	expected = kinds[0] * 2000 + kinds[1] * 10000 + kinds[2] * 2500 + kinds[3] * 200;
	CHECK("a million requests add up to the nano-dollar", sum == expected);
}

/* For every model and size, the reservation covers the charge. */
static bool covers(bool fast)
{
	static const uint64_t sizes[] = { 0, 1, 99999, 100000, 100001, 200001, 272001, 1000000 };

	for (size_t m = 0; m <= table.count; m++) {
		const struct price_model *model = m < table.count ? &table.models[m] : NULL;

		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
			for (size_t kind = 0; kind < PRICE_KINDS; kind++) {
				struct price_use use = { .fast = fast, .geo = "us" };

				use.tokens[kind] = sizes[i];
				use.tokens[PRICE_OUTPUT] = 1000;
				if (price_cost(&table, model, &use, NULL) >
				    price_most(&table, model, kind == PRICE_OUTPUT ? 0 : sizes[i],
					       1000, fast))
					return false;
			}
	}
	return true;
}

static void reserves(void)
{
	const struct price_model *opus = price_find(&table, "claude-opus-5-5");
	uint64_t nusd = price_most(&table, opus, 1000, 500, false);

	CHECK("what is reserved covers every kind, size and region", covers(false) && covers(true));
	CHECK("so much output fits into the money, and no more",
	      price_most_output(&table, opus, 1000, false, nusd, 100000) == 500 &&
		      price_most_output(&table, opus, 1000, false, nusd - 1, 100000) == 499 &&
		      price_most_output(&table, opus, 1000, false, nusd, 10) == 10 &&
		      price_most_output(&table, opus, 1000, false, 0, 10) == 0);
}

/* Adds a user's text to a fresh table. Returns the error message, or NULL. */
static const char *add(const char *text, struct price_table *ret_table)
{
	static struct error err;

	if (price_table_init(ret_table, &err) < 0)
		return err.text;
	return price_table_add(ret_table, "mine", text, strlen(text), &err) < 0 ? err.text : NULL;
}

static bool refused(const char *text, const char *why)
{
	struct price_table own;
	const char *wrong = add(text, &own);
	bool held = wrong && strstr(wrong, why) && own.count == table.count;

	price_table_release(&own);
	return held;
}

static void own_prices(void)
{
	struct price_table own;
	const char *wrong = add(
		"# mine\r\n\r\nmodel local 0 0 - - - # free\r\nmodel gpt-5.5 1 2 - - 0.5\nabove 5 "
		"2 4 - - 1\ndated 2027-01-02\nweb-search 0.02\ngeo us 1\ngeo eu 1.25",
		&own);
	const struct price_model *local = price_find(&own, "local");
	const struct price_model *gpt = price_find(&own, "gpt-5.5");

	CHECK("a user's own model is added, and may be free",
	      !wrong && local && local->own && own.count == table.count + 1 &&
		      price_cost(&own, local, &(struct price_use){ { 1, 2, 3, 4, 5 } }, NULL) == 0);
	CHECK("a model of a known name is replaced as a whole",
	      gpt && gpt->own && gpt->tier_count == 2 &&
		      price_cost(&own, gpt, &(struct price_use){ { 6, 1 } }, NULL) ==
			      6 * 2000 + 4000);
	CHECK("regions and searches are replaced",
	      own.search_nusd == 20000000 && own.geo_count == 2 && own.geos[0].factor == 1000);
	CHECK("both dates are kept",
	      strcmp(own.dated, table.dated) == 0 && strcmp(own.own_dated, "2027-01-02") == 0);
	price_table_release(&own);
	CHECK("an error names the line",
	      refused("\nmodel x 1 2\n", "mine:2: a model line needs a name and five prices") &&
		      refused("model x 1 2 3 4 .5", "mine:1: invalid price") &&
		      refused("model x 1 2 3 4 0.0001", "invalid price") &&
		      refused("model x - 2 3 4 5", "need a price") &&
		      refused("model x 1 2 3 4 -5", "invalid price") &&
		      refused("model x 1 2 3 4 5 slow=2", "fast=FACTOR") &&
		      refused("model x 1 2 3 4 5 fast=0.5", "fast=FACTOR") &&
		      refused("above 5 1 2 3 4 5", "must follow its model") &&
		      refused("model x 1 2 3 4 5\nabove 0 1 2 3 4 5", "mine:2: above needs") &&
		      refused("model x 1 2 3 4 5\nmodel x 1 2 3 4 5", "duplicate model") &&
		      refused("model x\x1b 1 2 3 4 5", "invalid model name") &&
		      refused("dated yesterday", "invalid date") &&
		      refused("prices", "unknown line") && refused("geo us", "geo needs") &&
		      refused("web-search free", "web-search needs") &&
		      refused("model x 1 2 3 4 5 fast=2 y", "too many words"));
}

static bool usd(uint64_t nusd, unsigned int least, const char *expected)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(64);

	price_add_usd(&out, nusd, least);
	return strcmp(buffer_text(&out), expected) == 0;
}

static void money(void)
{
	CHECK("amounts are written with all their digits",
	      usd(0, 2, "0.00") && usd(1, 2, "0.000000001") && usd(1250000000, 2, "1.25") &&
		      usd(1200000000, 2, "1.20") && usd(UINT64_C(25000000000), 0, "25") &&
		      usd(123456789, 2, "0.123456789"));
}

int main(void)
{
	struct error err;

	CHECK("the built-in table is read, and dated",
	      price_table_init(&table, &err) == 0 && strlen(table.dated) == 10);
	names();
	costs();
	tiers();
	sums();
	reserves();
	own_prices();
	money();
	price_table_release(&table);
	return unit_failures > 0;
}
