/* ringfence cost: show what models have cost, from the ledgers. */
#include "cli/cli.h"
#include "cli/short_id.h"
#include "cli/view/notice.h"
#include "cli/view/page.h"
#include "fence/fence_place.h"
#include "gateway/owner/ledger.h"
#include "gateway/owner/ledger_sums.h"
#include "loop/client.h"
#include "price/price.h"
#include "settings/effective.h"
#include "util/buffer.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct cost_options {
	const char *by;
	const char *project;
	bool json;
	bool csv;
};

static const struct cli_option options[] = {
	OPTION_TEXT("by", "model|iteration|day|agent|loop",
		    "print one line per model, iteration, ... (default: model)",
		    struct cost_options, by),
	OPTION_JSON(struct cost_options, json),
	OPTION_FLAG("csv", "print CSV", struct cost_options, csv),
	OPTION_PROJECT(struct cost_options, project),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "FILES", "  STATE/loops/ID/ledger.jsonl, STATE/gateway/ledger.jsonl\n"
		   "      One line of JSON per request: time, model, tokens by kind, cost in\n"
		   "      nano-dollars, and whether the cost is exact or estimated.\n" },
	{ "EXAMPLES", "  ringfence cost\n"
		      "  ringfence cost --by iteration 20260102-030405-abcd\n"
		      "  ringfence cost --by day --csv > cost.csv\n" },
	{ 0 },
};

struct sum {
	char *name;
	uint64_t requests;
	uint64_t tokens[PRICE_KINDS];
	uint64_t cost_nusd, estimated_nusd;
};

struct sums {
	const char *by;
	struct sum *items; /* sorted by name */
	size_t count;
	struct sum total;
	bool replays;           /* count replays in the total */
	uint64_t replayed_nusd; /* what they would have cost */
	uint64_t missing_nusd;  /* spent, but in no line any more */
};

static void format_day(uint64_t at_ms, char ret_day[16])
{
	time_t at = (time_t)(at_ms / 1000);
	struct tm parts = { 0 };

	localtime_r(&at, &parts);
	strftime(ret_day, 16, "%Y-%m-%d", &parts);
}

/* Returns the name of the group that a line of a ledger belongs to. The caller frees it. */
static char *name_of(const struct sums *sums, const struct ledger_sums_item *item, const char *loop)
{
	if (strcmp(sums->by, "loop") == 0)
		return mem_dup(loop);
	if (strcmp(sums->by, "iteration") == 0)
		return mem_format("%s %4" PRIu64, loop, item->first_iteration);
	if (strcmp(sums->by, "agent") == 0)
		return mem_format("%s%s%s", item->agent, *item->child ? " " : "", item->child);
	if (strcmp(sums->by, "day") == 0) {
		char day[16];

		format_day(item->first_ms, day);
		return mem_dup(day);
	}
	return mem_dup(item->lost ? "(lost in a crash)" : item->model);
}

/* The same, with replays, which cost nothing, in groups of their own. */
static char *group_of(const struct sums *sums, const struct ledger_sums_item *item,
		      const char *loop)
{
	AUTO_FREE char *name = item->replay ? name_of(sums, item, loop) : NULL;

	return name ? mem_format("%s (replay)", name) : name_of(sums, item, loop);
}

/* Do all lines of this sum belong to one group? */
static bool is_one_group(const struct sums *sums, const struct ledger_sums_item *item)
{
	char first[16];
	char last[16];

	if (strcmp(sums->by, "iteration") == 0)
		return item->first_iteration == item->last_iteration;
	if (strcmp(sums->by, "day") != 0)
		return true;
	format_day(item->first_ms, first);
	format_day(item->last_ms, last);
	return strcmp(first, last) == 0;
}

/* Finds the sum with this name, which is freed or kept. */
static struct sum *find(struct sums *sums, char *name)
{
	size_t low = 0;
	size_t high = sums->count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(sums->items[middle].name, name);

		if (order == 0) {
			free(name);
			return &sums->items[middle];
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	sums->items = mem_extend(sums->items, sums->count, sizeof *sums->items);
	memmove(&sums->items[low + 1], &sums->items[low],
		(sums->count++ - low) * sizeof *sums->items);
	sums->items[low] = (struct sum){ .name = name };
	return &sums->items[low];
}

static void add(struct sum *sum, const struct ledger_sums_item *item)
{
	sum->requests += item->requests;
	sum->cost_nusd += item->cost_nusd;
	sum->estimated_nusd += item->estimated_nusd;
	for (size_t i = 0; i < PRICE_KINDS; i++)
		sum->tokens[i] += item->tokens[i];
}

static void add_item(struct sums *sums, const struct ledger_sums_item *item, const char *loop)
{
	sums->replayed_nusd += item->replay ? item->cost_nusd : 0;
	add(find(sums, group_of(sums, item, loop)), item);
	if (!item->replay || sums->replays)
		add(&sums->total, item);
}

/* A ledger whose lines were removed or damaged is not a small cost. Returns whether it is whole. */
static bool check_lines(struct sums *sums, const char *folder, uint64_t found_nusd)
{
	AUTO_FREE char *path = path_join(folder, "ledger.jsonl");
	uint64_t booked = 0;
	struct error err;

	if (ledger_booked(folder, &booked, &err) < 0) {
		notice(err.text);
		return false;
	}
	if (booked <= found_nusd)
		return true;
	sums->missing_nusd += booked - found_nusd;
	notice_format("lines are missing in '%s': US$ %.6f was spent, and they add up to US$ %.6f",
		      path, (double)booked / 1e9, (double)found_nusd / 1e9);
	return false;
}

/* The lines of one ledger. */
struct lines {
	struct sums *sums;
	const char *loop;
	struct ledger_sums own;
};

static void add_line(void *context, const struct ledger_sums_item *item)
{
	struct lines *lines = context;

	add_item(lines->sums, item, lines->loop);
	ledger_sums_add(&lines->own, item);
}

/* Reads a ledger. *ret_text: its sums, which the caller frees, or NULL if it is not whole. */
static int read_ledger(struct sums *sums, const char *folder, const char *loop, char **ret_text,
		       struct error *err)
{
	struct lines lines = { .sums = sums, .loop = loop };
	uint64_t found_nusd;
	int result = ledger_sums_read(folder, add_line, &lines, &found_nusd, err);

	*ret_text = result == 0 && check_lines(sums, folder, found_nusd)
			    ? ledger_sums_text(&lines.own)
			    : NULL;
	ledger_sums_release(&lines.own);
	return result;
}

/* Adds the sums that were kept of a ledger. Returns false if they are not enough. */
static bool add_kept(struct sums *sums, const char *text, const char *loop)
{
	struct ledger_sums kept = { 0 };
	bool enough = text && ledger_sums_parse(text, &kept) == 0;

	for (size_t i = 0; i < kept.count && enough; i++)
		enough = is_one_group(sums, &kept.items[i]);
	for (size_t i = 0; i < kept.count && enough; i++)
		add_item(sums, &kept.items[i], loop);
	ledger_sums_release(&kept);
	return enough;
}

static int add_loop(void *context, const char *loops, const char *id, const char *line,
		    char **ret_line, struct error *err)
{
	AUTO_FREE char *folder = NULL;
	AUTO_FREE char *text = NULL;

	if (add_kept(context, line, id))
		return 0;
	folder = path_join(loops, id);
	if (read_ledger(context, folder, id, &text, err) < 0)
		return -1;
	if (!line) {
		*ret_line = text;
		text = NULL;
	}
	return 0;
}

static int read_one(struct sums *sums, const char *state, const char *id, struct error *err)
{
	AUTO_FREE char *text = NULL;
	struct client_loop loop;
	int result;

	if (client_find(state, id, NULL, &loop, err) < 0)
		return -1;
	sums->replays = true; /* the user asked for this loop */
	result = read_ledger(sums, loop.folder, loop.id, &text, err);
	client_loop_release(&loop);
	return result;
}

static int read_all(struct sums *sums, const char *state, const char *id, struct error *err)
{
	AUTO_FREE char *alone = path_join(state, "gateway");
	AUTO_FREE char *text = NULL;

	if (id)
		return read_one(sums, state, id, err);
	if (read_ledger(sums, alone, "gateway", &text, err) < 0)
		return -1;
	return client_each(state, ".costs", add_loop, sums, err);
}

static json_t *sum_json(const struct sum *sum, const char *by)
{
	json_t *object = json_object();

	if (sum->name)
		json_object_set_new(object, by, client_text(sum->name));
	json_object_set_new(object, "requests", json_integer((json_int_t)sum->requests));
	for (size_t i = 0; i < PRICE_KINDS; i++)
		json_object_set_new(object, ledger_sums_kinds[i],
				    json_integer((json_int_t)sum->tokens[i]));
	json_object_set_new(object, "cost_nusd", json_integer((json_int_t)sum->cost_nusd));
	json_object_set_new(object, "estimated_nusd",
			    json_integer((json_int_t)sum->estimated_nusd));
	return object;
}

static void print_json(const struct sums *sums)
{
	json_t *list = json_array();
	json_t *whole;

	for (size_t i = 0; i < sums->count; i++)
		json_array_append_new(list, sum_json(&sums->items[i], sums->by));
	whole = json_pack("{s:s, s:o, s:o, s:I, s:I}", "by", sums->by, "lines", list, "total",
			  sum_json(&sums->total, sums->by), "replayed_nusd",
			  (json_int_t)sums->replayed_nusd, "missing_nusd",
			  (json_int_t)sums->missing_nusd);
	json_dumpf(whole, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(whole);
}

/* Prints a CSV field in quotes, and keeps a spreadsheet from reading it as a formula. */
static void print_field(const char *name)
{
	AUTO_FREE char *shown = text_escaped(name);

	printf("\"%s", strchr("=+-@", shown[0]) && shown[0] ? "'" : "");
	for (const char *at = shown; *at; at++)
		printf(*at == '"' ? "\"\"" : "%c", *at);
	printf("\"");
}

static void print_csv(const struct sums *sums)
{
	printf("%s,requests,input,output,write_5m,write_1h,read,cost_usd,estimated_usd\n",
	       sums->by);
	for (size_t i = 0; i < sums->count; i++) {
		const struct sum *sum = &sums->items[i];
		AUTO_BUFFER struct buffer cost = BUFFER_INIT(64);
		AUTO_BUFFER struct buffer guess = BUFFER_INIT(64);

		price_add_usd(&cost, sum->cost_nusd, 2);
		price_add_usd(&guess, sum->estimated_nusd, 2);
		print_field(sum->name);
		printf(",%" PRIu64, sum->requests);
		for (size_t kind = 0; kind < PRICE_KINDS; kind++)
			printf(",%" PRIu64, sum->tokens[kind]);
		printf(",%s,%s\n", buffer_text(&cost), buffer_text(&guess));
	}
}

/* The columns of the table: a name, then numbers. */
enum { NAME, REQUESTS, INPUT, OUTPUT, READ, WRITTEN, COST, COLUMNS };

struct row {
	char *cells[COLUMNS];
	bool estimated;
};

static char *digits(uint64_t number)
{
	return mem_format("%" PRIu64, number);
}

static void fill_row(struct row *row, const struct sum *sum, const char *name)
{
	AUTO_BUFFER struct buffer cost = BUFFER_INIT(64);

	price_add_usd(&cost, sum->cost_nusd, 2);
	row->cells[NAME] = text_escaped(name);
	row->cells[REQUESTS] = digits(sum->requests);
	row->cells[INPUT] = digits(sum->tokens[PRICE_INPUT]);
	row->cells[OUTPUT] = digits(sum->tokens[PRICE_OUTPUT]);
	row->cells[READ] = digits(sum->tokens[PRICE_READ]);
	row->cells[WRITTEN] = digits(sum->tokens[PRICE_WRITE_5M] + sum->tokens[PRICE_WRITE_1H]);
	row->cells[COST] = mem_dup(buffer_text(&cost));
	row->estimated = sum->estimated_nusd > 0;
}

/* Fits columns to their contents. On a narrower terminal, names are printed above their numbers. */
static void print_rows(const struct row *rows, size_t count)
{
	static const char mark[] = " ~";
	int widths[COLUMNS] = { 0 };
	int width = 0;
	int marked = 0;
	bool above;

	for (int at = 0; at < COLUMNS; at++) {
		for (size_t i = 0; i < count; i++)
			if (page_columns(rows[i].cells[at]) > widths[at])
				widths[at] = page_columns(rows[i].cells[at]);
		width += widths[at] + (at == NAME ? 0 : 2);
	}
	for (size_t i = 0; i < count; i++)
		if (rows[i].estimated)
			marked = (int)strlen(mark);
	above = page_width() && width + marked > page_width();
	for (size_t i = 0; i < count; i++) {
		const char *name = rows[i].cells[NAME];

		printf("%s%*s", name, above ? 0 : widths[NAME] - page_columns(name), "");
		if (above)
			printf("\n");
		for (int at = NAME + 1; at < COLUMNS; at++)
			printf("  %*s", widths[at], rows[i].cells[at]);
		puts(rows[i].estimated ? mark : "");
	}
}

static void print_table(const struct sums *sums)
{
	static const char *const heads[COLUMNS] = {
		[REQUESTS] = "requests", [INPUT] = "input",      [OUTPUT] = "output",
		[READ] = "cached",       [WRITTEN] = "to cache", [COST] = "US$",
	};
	size_t count = sums->count + 2;
	struct row *rows = mem_zero(count * sizeof *rows);

	for (int at = 0; at < COLUMNS; at++)
		rows[0].cells[at] = mem_dup(at == NAME ? sums->by : heads[at]);
	for (size_t i = 0; i < sums->count; i++)
		fill_row(&rows[i + 1], &sums->items[i], sums->items[i].name);
	fill_row(&rows[count - 1], &sums->total, "total");
	print_rows(rows, count);
	for (size_t i = 0; i < count; i++)
		for (int at = 0; at < COLUMNS; at++)
			free(rows[i].cells[at]);
	free(rows);
}

static void print_text(const struct sums *sums)
{
	print_table(sums);
	if (sums->total.estimated_nusd)
		printf("\n~ partly estimated: an answer was cut off or never came, or a gateway was killed.\n");
	if (sums->replayed_nusd) {
		AUTO_BUFFER struct buffer line = BUFFER_INIT(256);

		buffer_add_text(&line, "US$ ");
		price_add_usd(&line, sums->replayed_nusd, 2);
		buffer_printf(&line, " is for replays, which cost nothing%s.",
			      sums->replays ? "" : "; it is not in the total");
		printf("\n");
		page_print(buffer_text(&line), 0);
	}
}

static int show(const struct cost_options *opts, const char *id)
{
	static const char *const words[] = { "model", "iteration", "day", "agent", "loop" };
	struct sums sums = { .by = opts->by ? opts->by : "model" };
	struct list kept = { 0 };
	struct fence_place place;
	struct error err;
	bool known = false;
	int result;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		known |= strcmp(sums.by, words[i]) == 0;
	if (!known) {
		error_set(&err, "--by must be model, iteration, day, agent or loop, not '%.40s'",
			  sums.by);
		return cli_fail(&err);
	}
	if (effective_find(opts->project, &place, &err) < 0)
		return cli_fail(&err);
	if (id && !(id = short_id_resolve(&place, id, &kept, &err)))
		result = -1;
	else
		result = read_all(&sums, place.state, id, &err);
	list_release(&kept);
	fence_place_release(&place);
	if (result < 0)
		return cli_fail(&err);
	if (opts->json)
		print_json(&sums);
	else if (opts->csv)
		print_csv(&sums);
	else
		print_text(&sums);
	for (size_t i = 0; i < sums.count; i++)
		free(sums.items[i].name);
	free(sums.items);
	return cli_flush();
}

static int run_cost(const struct cli_command *command, char **argv)
{
	struct cost_options opts = { 0 };
	char **rest;
	int code;

	rest = cli_parse(command, argv, &opts, &code);
	return rest ? show(&opts, rest[0]) : code;
}

const struct cli_command cmd_cost = {
	.name = "cost",
	.args = "[--by WORD] [--json|--csv] [LOOP]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "show what models have cost, by model, iteration or day",
	.description =
		"Adds up the ledgers of one loop, or of all loops and gateways. Costs are those that the "
		"gateway computed with the prices at that time (ringfence prices); the agent's own figures "
		"are in ringfence history.",
	.options = options,
	.sections = sections,
	.run = run_cost,
};
