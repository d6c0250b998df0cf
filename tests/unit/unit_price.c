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

/* The longest name and table that are accepted, and one byte more. */
static void sizes(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(PRICE_MOST_BYTES + 2);
	char line[PRICE_NAME + 40];
	char name[PRICE_NAME + 1];
	struct price_table own;
	struct error err;

	memset(name, 'x', sizeof name);
	snprintf(line, sizeof line, "model %.*s 1 2 3 4 5", PRICE_NAME - 1, name);
	CHECK("the longest name is accepted", !add(line, &own) && own.count == table.count + 1);
	price_table_release(&own);
	snprintf(line, sizeof line, "model %.*s 1 2 3 4 5", PRICE_NAME, name);
	CHECK("a longer name is refused", refused(line, "invalid model name"));
	while (text.used < PRICE_MOST_BYTES)
		buffer_add(&text, "#", 1);
	if (price_table_init(&own, &err) < 0)
		abort();
	CHECK("the longest table is accepted",
	      price_table_add(&own, "mine", text.data, text.used, &err) == 0);
	buffer_add(&text, "#", 1);
	CHECK("a longer table is refused",
	      price_table_add(&own, "mine", text.data, text.used, &err) < 0 &&
		      strstr(err.text, "must not exceed"));
	price_table_release(&own);
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

/* --- each price */

/* A second copy of prices.txt, so that a price cannot change or vanish by mistake: the model, the
 * number of input tokens above which it applies, the factor of fast mode in thousandths, and
 * nano-dollars per token (-1: not priced) for input, output, both cache writes and cache reads. */
static const struct {
	const char *name;
	uint64_t above;
	uint64_t fast;
	int64_t nusd[PRICE_KINDS];
} prices[] = {
	{ "claude-fable-5-2", 0, 0, { 8000, 40000, 10000, 16000, 200 } },
	{ "claude-fable-5-1", 0, 0, { 10000, 50000, 12500, 20000, 250 } },
	{ "claude-fable-5", 0, 0, { 10000, 50000, 12500, 20000, 1000 } },
	{ "claude-opus-5-5", 0, 2000, { 4000, 20000, 5000, 8000, 200 } },
	{ "claude-opus-5", 0, 2000, { 5000, 25000, 6250, 10000, 500 } },
	{ "claude-opus-4-8", 0, 2000, { 5000, 25000, 6250, 10000, 500 } },
	{ "claude-opus-4-7", 0, 0, { 5000, 25000, 6250, 10000, 500 } },
	{ "claude-opus-4-6", 0, 0, { 5000, 25000, 6250, 10000, 500 } },
	{ "claude-opus-4-5", 0, 0, { 5000, 25000, 6250, 10000, 500 } },
	{ "claude-opus-4-1", 0, 0, { 15000, 75000, 18750, 30000, 1500 } },
	{ "claude-opus-4-0", 0, 0, { 15000, 75000, 18750, 30000, 1500 } },
	{ "claude-opus-4", 0, 0, { 15000, 75000, 18750, 30000, 1500 } },
	{ "claude-sonnet-5-5", 0, 0, { 2000, 10000, 2500, 4000, 100 } },
	{ "claude-sonnet-5", 0, 0, { 2000, 10000, 2500, 4000, 200 } },
	{ "claude-sonnet-4-6", 0, 0, { 3000, 15000, 3750, 6000, 300 } },
	{ "claude-sonnet-4-5", 0, 0, { 3000, 15000, 3750, 6000, 300 } },
	{ "claude-haiku-5-5", 0, 0, { 100, 500, 125, 200, 10 } },
	{ "claude-haiku-5-5", 100000, 0, { 500, 2500, 625, 1000, 50 } },
	{ "claude-haiku-4-5", 0, 0, { 1000, 5000, 1250, 2000, 100 } },
	{ "gpt-6-astra", 0, 2000, { 10000, 50000, 12500, -1, 1000 } },
	{ "gpt-6-astra", 272000, 2000, { 20000, 75000, 25000, -1, 2000 } },
	{ "gpt-6.1-sol", 0, 2000, { 2000, 10000, 2500, -1, 100 } },
	{ "gpt-6.1-sol", 272000, 2000, { 4000, 15000, 5000, -1, 200 } },
	{ "gpt-6-sol", 0, 2000, { 2000, 10000, 2500, -1, 200 } },
	{ "gpt-6-sol", 272000, 2000, { 4000, 15000, 5000, -1, 400 } },
	{ "gpt-6.1-terra", 0, 2000, { 1000, 5000, 1250, -1, 50 } },
	{ "gpt-6.1-terra", 272000, 2000, { 2000, 7500, 2500, -1, 100 } },
	{ "gpt-6-luna", 0, 2000, { 100, 500, 125, -1, 10 } },
	{ "gpt-6-luna", 272000, 2000, { 200, 750, 250, -1, 20 } },
	{ "gpt-5.6", 0, 2000, { 4000, 20000, 5000, -1, 400 } },
	{ "gpt-5.6", 272000, 2000, { 8000, 30000, 10000, -1, 800 } },
	{ "gpt-5.6-sol", 0, 2000, { 4000, 20000, 5000, -1, 400 } },
	{ "gpt-5.6-sol", 272000, 2000, { 8000, 30000, 10000, -1, 800 } },
	{ "gpt-5.6-terra", 0, 2000, { 2000, 12000, 2500, -1, 200 } },
	{ "gpt-5.6-terra", 272000, 2000, { 4000, 18000, 5000, -1, 400 } },
	{ "gpt-5.6-luna", 0, 2000, { 200, 1200, 250, -1, 20 } },
	{ "gpt-5.6-luna", 272000, 2000, { 400, 1800, 500, -1, 40 } },
	{ "gpt-daybreak-blue", 0, 0, { 4000, 20000, 5000, -1, 400 } },
	{ "gpt-daybreak-blue", 272000, 0, { 8000, 30000, 10000, -1, 800 } },
	{ "gpt-daybreak-red", 0, 0, { 12500, 75000, 15625, -1, 1250 } },
	{ "gpt-5.5", 0, 2500, { 5000, 30000, -1, -1, 500 } },
	{ "gpt-5.5", 272000, 2500, { 10000, 45000, -1, -1, 1000 } },
	{ "gpt-5.5-pro", 0, 0, { 30000, 180000, -1, -1, -1 } },
	{ "gpt-5.5-pro", 272000, 0, { 60000, 270000, -1, -1, -1 } },
	{ "gpt-5.4", 0, 2000, { 2500, 15000, -1, -1, 250 } },
	{ "gpt-5.4", 272000, 2000, { 5000, 22500, -1, -1, 500 } },
	{ "gpt-5.4-pro", 0, 0, { 30000, 180000, -1, -1, -1 } },
	{ "gpt-5.4-pro", 272000, 0, { 60000, 270000, -1, -1, -1 } },
	{ "gpt-5.4-mini", 0, 2000, { 750, 4500, -1, -1, 75 } },
	{ "gpt-5.4-nano", 0, 0, { 200, 1250, -1, -1, 20 } },
	{ "gpt-5.3-codex", 0, 0, { 1750, 14000, -1, -1, 175 } },
	{ "gpt-5.3-codex-spark", 0, 0, { 1750, 14000, -1, -1, 175 } },
	{ "gpt-5.2", 0, 0, { 1750, 14000, -1, -1, 175 } },
	{ "gpt-5.2-codex", 0, 0, { 1750, 14000, -1, -1, 175 } },
	{ "gpt-5.1", 0, 0, { 1250, 10000, -1, -1, 125 } },
	{ "gpt-5.1-codex", 0, 0, { 1250, 10000, -1, -1, 125 } },
	{ "gpt-5.1-codex-max", 0, 0, { 1250, 10000, -1, -1, 125 } },
	{ "gpt-5", 0, 0, { 1250, 10000, -1, -1, 125 } },
	{ "gpt-5-codex", 0, 0, { 1250, 10000, -1, -1, 125 } },
	{ "gpt-5-mini", 0, 0, { 250, 2000, -1, -1, 25 } },
	{ "gpt-5-nano", 0, 0, { 50, 400, -1, -1, 5 } },
	{ "gpt-4.1", 0, 0, { 2000, 8000, -1, -1, 500 } },
	{ "gpt-4.1-mini", 0, 0, { 400, 1600, -1, -1, 100 } },
	{ "gpt-4.1-nano", 0, 0, { 100, 400, -1, -1, 25 } },
	{ "gpt-4o-2024-05-13", 0, 0, { 5000, 15000, -1, -1, -1 } },
	{ "gpt-4o", 0, 0, { 2500, 10000, -1, -1, 1250 } },
	{ "gpt-4o-mini", 0, 0, { 150, 600, -1, -1, 75 } },
	{ "o4-mini", 0, 0, { 1100, 4400, -1, -1, 275 } },
	{ "o3", 0, 0, { 2000, 8000, -1, -1, 500 } },
	{ "o3-mini", 0, 0, { 1100, 4400, -1, -1, 550 } },
	{ "gemini-3.8-flash", 0, 0, { 750, 3750, -1, -1, 75 } },
	{ "gemini-3.7-flash", 0, 0, { 750, 3750, -1, -1, 75 } },
	{ "gemini-3.6-flash", 0, 0, { 750, 3750, -1, -1, 75 } },
	{ "gemini-3.5-flash", 0, 0, { 1500, 9000, -1, -1, 150 } },
	{ "gemini-3.5-flash-lite", 0, 0, { 300, 2500, -1, -1, 30 } },
	{ "gemini-3-flash-preview", 0, 0, { 500, 3000, -1, -1, 50 } },
	{ "gemini-3.1-flash-lite", 0, 0, { 250, 1500, -1, -1, 25 } },
	{ "gemini-3.1-pro-preview", 0, 0, { 2000, 12000, -1, -1, 200 } },
	{ "gemini-3.1-pro-preview", 200000, 0, { 4000, 18000, -1, -1, 400 } },
	{ "gemini-3.1-pro-preview-customtools", 0, 0, { 2000, 12000, -1, -1, 200 } },
	{ "gemini-3.1-pro-preview-customtools", 200000, 0, { 4000, 18000, -1, -1, 400 } },
	{ "gemini-3-pro-preview", 0, 0, { 2000, 12000, -1, -1, 200 } },
	{ "gemini-3-pro-preview", 200000, 0, { 4000, 18000, -1, -1, 400 } },
	{ "gemini-2.5-pro", 0, 0, { 1250, 10000, -1, -1, 125 } },
	{ "gemini-2.5-pro", 200000, 0, { 2500, 15000, -1, -1, 250 } },
	{ "gemini-2.5-flash", 0, 0, { 300, 2500, -1, -1, 30 } },
	{ "gemini-2.5-flash-lite", 0, 0, { 100, 400, -1, -1, 10 } },
};

static const struct price_tier *find_tier(const struct price_model *model, uint64_t above)
{
	for (size_t i = 0; model && i < model->tier_count; i++)
		if (model->tiers[i].above == above)
			return &model->tiers[i];
	return NULL;
}

static bool is_priced(size_t row)
{
	const struct price_model *model = price_find(&table, prices[row].name);
	const struct price_tier *tier = find_tier(model, prices[row].above);
	bool held = tier && strcmp(model->name, prices[row].name) == 0 &&
		    model->fast == prices[row].fast;

	for (size_t kind = 0; held && kind < PRICE_KINDS; kind++)
		held = tier->priced[kind] == (prices[row].nusd[kind] >= 0) &&
		       (!tier->priced[kind] ||
			tier->nusd[kind] == (uint64_t)prices[row].nusd[kind]);
	if (!held)
		printf("# another price: %s above %llu\n", prices[row].name,
		       (unsigned long long)prices[row].above);
	return held;
}

static void each_price(void)
{
	static const char *const kinds[] = { "input", "output", "write-5m", "write-1h", "read" };
	size_t tier_count = 0;
	bool held = true;

	for (size_t i = 0; i < sizeof prices / sizeof *prices; i++)
		held = is_priced(i) && held;
	for (size_t i = 0; i < table.count; i++)
		tier_count += table.models[i].tier_count;
	CHECK("each model has its prices, tiers and factor", held);
	CHECK("there are no other models and tiers", tier_count == sizeof prices / sizeof *prices);
	CHECK("a web search and a region have their prices",
	      table.search_nusd == 10000000 && table.geo_count == 1 &&
		      strcmp(table.geos[0].name, "us") == 0 && table.geos[0].factor == 1100);
	for (size_t kind = 0; kind < PRICE_KINDS; kind++)
		held = price_kind_names[kind] && strcmp(price_kind_names[kind], kinds[kind]) == 0 &&
		       held;
	CHECK("each kind of token has its name", held);
}

int main(void)
{
	struct error err;

	CHECK("the built-in table is read, and dated",
	      price_table_init(&table, &err) == 0 && strlen(table.dated) == 10);
	each_price();
	names();
	costs();
	tiers();
	sums();
	reserves();
	own_prices();
	sizes();
	money();
	price_table_release(&table);
	return unit_failures > 0;
}
