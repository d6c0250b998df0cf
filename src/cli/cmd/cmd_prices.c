/* ringfence prices: show the price table that costs are computed with. */
#include "cli/cli.h"
#include "fence/fence_place.h"
#include "settings/effective.h"
#include "settings/prices.h"
#include "util/mem.h"
#include "util/text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct prices_options {
	bool json;
};

static const struct cli_option options[] = {
	OPTION_JSON(struct prices_options, json),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "FILES",
	  "  ~/.config/ringfence/prices.txt\n"
	  "      Your own prices, in the following form: US$ per million tokens, and - for\n"
	  "      a kind of token that the model does not have. A built-in model of the same\n"
	  "      name is replaced.\n"
	  "\n"
	  "      #     name            input  output  write-5m  write-1h   read\n"
	  "      model claude-opus-5-5     4      20         5         8   0.20  fast=2\n"
	  "      model gpt-5.5             5      30         -         -   0.50\n"
	  "      above 272000             10      45         -         -      1\n" },
	{ "EXAMPLES", "  ringfence prices\n"
		      "  ringfence prices anthropic/claude-sonnet-4-5-20250929\n" },
	{ 0 },
};

/* Adds a price per million tokens, as providers state it. */
static void add_price(struct buffer *out, const struct price_tier *tier, size_t kind)
{
	if (tier->priced[kind])
		price_add_usd(out, tier->nusd[kind] * 1000000, 2);
	else
		buffer_add_text(out, "-");
}

static void print_tier(const struct price_model *model, size_t index)
{
	const struct price_tier *tier = &model->tiers[index];

	if (index == 0)
		printf("%-26s", model->name);
	else
		printf("  above %-18" PRIu64, tier->above);
	for (size_t kind = 0; kind < PRICE_KINDS; kind++) {
		AUTO_BUFFER struct buffer text = BUFFER_INIT(64);

		add_price(&text, tier, kind);
		printf("%10s", buffer_text(&text));
	}
	if (index == 0 && model->fast)
		printf("  fast x%g", (double)model->fast / 1000);
	printf("%s\n", index == 0 && model->own ? "  (yours)" : "");
}

static void print_head(const struct price_table *table)
{
	printf("US$ per million tokens, as of %s", table->dated);
	if (table->own_dated[0])
		printf(" (yours: %s)", table->own_dated);
	printf("\n\n%-26s", "model");
	for (size_t kind = 0; kind < PRICE_KINDS; kind++)
		printf("%10s", price_kind_names[kind]);
	printf("\n");
}

static void print_tail(const struct price_table *table)
{
	AUTO_BUFFER struct buffer search = BUFFER_INIT(64);

	price_add_usd(&search, table->search_nusd, 2);
	printf("\nWeb search: US$ %s.", buffer_text(&search));
	for (size_t i = 0; i < table->geo_count; i++)
		printf(" Region \"%s\": x%g.", table->geos[i].name,
		       (double)table->geos[i].factor / 1000);
	printf(" The prices after \"above\" apply\n"
	       "to the whole request if it has more input tokens. Requests for a model that is\n"
	       "not listed are refused (see: ringfence config unknown-model).\n");
}

static void json_tier(struct json *json, const struct price_tier *tier)
{
	json_open(json, NULL, '{');
	json_number(json, "above", tier->above);
	for (size_t kind = 0; kind < PRICE_KINDS; kind++) {
		AUTO_FREE char *key = mem_format("%s_nusd", price_kind_names[kind]);

		for (char *at = strchr(key, '-'); at; at = strchr(at, '-'))
			*at = '_';
		if (tier->priced[kind])
			json_number(json, key, tier->nusd[kind]);
		else
			json_text(json, key, NULL);
	}
	json_close(json);
}

static void json_model(struct json *json, const struct price_model *model)
{
	json_open(json, NULL, '{');
	json_text(json, "name", model->name);
	json_text(json, "origin", model->own ? "own" : "built-in");
	if (model->fast)
		json_number(json, "fast_thousandths", model->fast);
	json_open(json, "tiers", '[');
	for (size_t i = 0; i < model->tier_count; i++)
		json_tier(json, &model->tiers[i]);
	json_close(json);
	json_close(json);
}

static void print_json(const struct price_table *table, const char *name,
		       const struct price_model *one)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct json json = JSON_INIT(&out);

	json_open(&json, NULL, '{');
	json_text(&json, "dated", table->dated);
	json_text(&json, "own_dated", table->own_dated[0] ? table->own_dated : NULL);
	json_number(&json, "web_search_nusd", table->search_nusd);
	json_open(&json, "geo", '[');
	for (size_t i = 0; i < table->geo_count; i++) {
		json_open(&json, NULL, '{');
		json_text(&json, "name", table->geos[i].name);
		json_number(&json, "thousandths", table->geos[i].factor);
		json_close(&json);
	}
	json_close(&json);
	if (name) {
		json_text(&json, "asked", name);
		json_flag(&json, "known", one != NULL);
	}
	json_open(&json, "models", '[');
	for (size_t i = 0; i < table->count; i++)
		if (!name || one == &table->models[i])
			json_model(&json, &table->models[i]);
	json_close(&json);
	json_close(&json);
	fputs(buffer_text(&out), stdout);
}

static void print_text(const struct price_table *table, const struct price_model *one)
{
	print_head(table);
	for (size_t i = 0; i < table->count; i++) {
		const struct price_model *model = &table->models[i];

		for (size_t tier = 0; (!one || one == model) && tier < model->tier_count; tier++)
			print_tier(model, tier);
	}
	if (!one)
		print_tail(table);
}

static int show(const struct price_table *table, const char *name, bool as_json)
{
	const struct price_model *one = name ? price_find(table, name) : NULL;
	struct error err;
	int code;

	if (as_json)
		print_json(table, name, one);
	else if (!name || one)
		print_text(table, one);
	code = cli_flush();
	if (!name || one || code)
		return code;
	error_set(&err,
		  "'%s' has no price, so requests are refused; add to "
		  "~/.config/ringfence/prices.txt: model %s INPUT OUTPUT - - - "
		  "(or see: ringfence config unknown-model)",
		  name, name);
	cli_fail(&err);
	return 1;
}

static int run_prices(const struct cli_command *command, char **argv)
{
	struct prices_options opts = { 0 };
	struct fence_place place;
	struct price_table table;
	struct error err;
	char **rest;
	int code;

	rest = cli_parse(command, argv, &opts, &code);
	if (!rest)
		return code;
	if (effective_find(NULL, &place, &err) < 0)
		return cli_fail(&err);
	code = prices_load(&place, &table, &err);
	fence_place_release(&place);
	if (code < 0)
		return cli_fail(&err);
	code = show(&table, rest[0], opts.json);
	price_table_release(&table);
	return code;
}

const struct cli_command cmd_prices = {
	.name = "prices",
	.args = "[--json] [MODEL]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "show model prices",
	.description =
		"Prints the built-in price table with your own prices added, or the prices of one model. "
		"MODEL may start with a provider and end with a date. The exit status is 1 if the model "
		"is unknown.",
	.options = options,
	.sections = sections,
	.run = run_prices,
};
