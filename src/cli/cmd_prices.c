/* ringfence prices: what models cost, as far as this program knows. */
#include "cli/cli.h"
#include "cli/prices.h"
#include "fence/fence.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>

struct prices_options {
	bool json;
};

static const struct option options[] = {
	OPTION_JSON(struct prices_options, json),
	{ 0 },
};

static const struct section sections[] = {
	{ "EXIT STATUS", "  0  there are prices to show\n"
			 "  1  the price of that model is not known\n" },
	{ 0 },
};

int prices_load(struct price_table *ret_table, struct error *err)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	AUTO_FREE char *path = xdg && xdg[0] == '/' ? path_join(xdg, "ringfence/prices.txt")
						    : path_join(home ? home : "/nonexistent",
								".config/ringfence/prices.txt");

	if (price_table_init(ret_table, err) < 0)
		return -1;
	if (price_table_add_file(ret_table, path, err) == 0)
		return 0;
	price_table_release(ret_table);
	return -1;
}

/* Dollars per million tokens, without zeros that say nothing. */
static void print_price(int64_t pico)
{
	enum { MILLION = 1000000, WIDTH = 9 };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);

	if (pico < 0) {
		printf("%*s", WIDTH, "?");
		return;
	}
	buffer_printf(&text, "%lld.%06lld", (long long)(pico / MILLION),
		      (long long)(pico % MILLION));
	while (text.data[text.used - 1] == '0')
		text.used--;
	if (text.data[text.used - 1] == '.')
		text.used--;
	printf("%*s", WIDTH, buffer_text(&text));
}

static void print_tier(const char *name, const struct price_tier *tier)
{
	printf("%-26s", name);
	for (int i = 0; i < PRICE_KINDS; i++)
		print_price(tier->each[i]);
	printf("\n");
}

static void print_model(const struct price_model *model)
{
	AUTO_FREE char *name = text_escaped(model->name);

	print_tier(name, &model->usual);
	if (model->above) {
		AUTO_FREE char *above = mem_format("  above %lld tokens", (long long)model->above);

		print_tier(above, &model->large);
	}
}

static void print_text(const struct price_table *table, const struct price_model *only)
{
	printf("US$ per million tokens, of %s\n\n%-26s%9s%9s%9s%9s%9s\n", table->date, "model",
	       "in", "out", "read", "write5m", "write1h");
	for (size_t i = 0; i < table->count; i++) {
		const struct price_model *at = &table->models[i];

		if (only ? at == only : price_find(table, at->name) == at)
			print_model(at);
	}
}

static void tier_json(struct json *json, const char *key, const struct price_tier *tier)
{
	static const char *const keys[] = { "input", "output", "cache_read", "cache_write_5m",
					    "cache_write_1h" };

	json_open(json, key, '{');
	for (int i = 0; i < PRICE_KINDS; i++)
		if (tier->each[i] >= 0)
			json_number(json, keys[i], (uint64_t)tier->each[i]);
	json_close(json);
}

static void print_json(const struct price_table *table, const struct price_model *only)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct json json = JSON_INIT(&out);

	json_open(&json, NULL, '{');
	json_text(&json, "date", table->date);
	json_text(&json, "unit", "pico-dollars a token");
	json_number(&json, "web_search_nusd", (uint64_t)table->search_nusd);
	json_open(&json, "models", '[');
	for (size_t i = 0; i < table->count; i++) {
		const struct price_model *at = &table->models[i];

		if (only ? at != only : price_find(table, at->name) != at)
			continue;
		json_open(&json, NULL, '{');
		json_text(&json, "name", at->name);
		tier_json(&json, "prices", &at->usual);
		if (at->above) {
			json_number(&json, "above", (uint64_t)at->above);
			tier_json(&json, "prices_above", &at->large);
		}
		if (at->fast)
			json_number(&json, "fast_thousandths", (uint64_t)at->fast);
		json_flag(&json, "own", at->own);
		json_close(&json);
	}
	json_close(&json);
	json_close(&json);
	fputs(buffer_text(&out), stdout);
}

static int show(const struct prices_options *asked, const char *name, struct error *err)
{
	const struct price_model *only = NULL;
	struct price_table table;

	if (prices_load(&table, err) < 0)
		return cli_fail(err);
	if (name && !(only = price_find(&table, name))) {
		AUTO_FREE char *shown = text_escaped(name);

		error_set(
			err,
			"the price of '%.100s' is not known (%s); a line in ~/.config/ringfence/prices.txt sets "
			"it: NAME in=US$ out=US$",
			shown, table.date);
		price_table_release(&table);
		cli_fail(err);
		return 1;
	}
	if (asked->json)
		print_json(&table, only);
	else
		print_text(&table, only);
	price_table_release(&table);
	return cli_printed();
}

static int run_prices(const struct command *command, char **argv)
{
	struct prices_options asked = { 0 };
	struct error err;
	int code;
	char **rest = cli_begin(command, argv, &asked, &code);

	return rest ? show(&asked, *rest, &err) : code;
}

const struct command cmd_prices = {
	.name = "prices",
	.args = "[MODEL] [--json]",
	.most = 1,
	.mixed = true,
	.help = "what models cost, and since when that is known",
	.about =
		"Shows the table by which tokens are turned into money where an agent does not do it. Lines of the same form in "
		"~/.config/ringfence/prices.txt replace or add to it. The cost of a model that is not in it is unknown, and said to be.",
	.options = options,
	.sections = sections,
	.run = run_prices,
};
