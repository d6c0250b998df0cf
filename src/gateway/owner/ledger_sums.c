/* Lines of a ledger and their sums: see ledger_sums.h. */
#include "gateway/owner/ledger_sums.h"

#include "util/buffer.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/word.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOST = 1, REPLAY = 2, MOST_BYTES = 1 << 20, NUMBERS = 7 + PRICE_KINDS };

const char *const ledger_sums_kinds[PRICE_KINDS] = { "input", "output", "write_5m", "write_1h",
						     "read" };

static void release(struct ledger_sums_item *item)
{
	free(item->model);
	free(item->agent);
	free(item->child);
}

void ledger_sums_release(struct ledger_sums *sums)
{
	for (size_t i = 0; i < sums->count; i++)
		release(&sums->items[i]);
	free(sums->items);
	*sums = (struct ledger_sums){ 0 };
}

static bool is_same(const struct ledger_sums_item *a, const struct ledger_sums_item *b)
{
	return a->lost == b->lost && a->replay == b->replay && strcmp(a->model, b->model) == 0 &&
	       strcmp(a->agent, b->agent) == 0 && strcmp(a->child, b->child) == 0;
}

static void widen(uint64_t *first, uint64_t *last, uint64_t other_first, uint64_t other_last)
{
	*first = other_first < *first ? other_first : *first;
	*last = other_last > *last ? other_last : *last;
}

static void add_to(struct ledger_sums_item *sum, const struct ledger_sums_item *item)
{
	widen(&sum->first_ms, &sum->last_ms, item->first_ms, item->last_ms);
	widen(&sum->first_iteration, &sum->last_iteration, item->first_iteration,
	      item->last_iteration);
	sum->requests += item->requests;
	sum->cost_nusd += item->cost_nusd;
	sum->estimated_nusd += item->estimated_nusd;
	for (size_t i = 0; i < PRICE_KINDS; i++)
		sum->tokens[i] += item->tokens[i];
}

void ledger_sums_add(struct ledger_sums *sums, const struct ledger_sums_item *item)
{
	struct ledger_sums_item *added;

	for (size_t i = 0; i < sums->count; i++) {
		if (is_same(&sums->items[i], item)) {
			add_to(&sums->items[i], item);
			return;
		}
	}
	sums->items = mem_extend(sums->items, sums->count, sizeof *sums->items);
	added = &sums->items[sums->count++];
	*added = *item;
	added->model = mem_dup(item->model);
	added->agent = mem_dup(item->agent);
	added->child = mem_dup(item->child);
}

static uint64_t number(const json_t *row, const char *key)
{
	json_int_t value = jsonget_number(row, key);

	return value > 0 ? (uint64_t)value : 0;
}

/* A reviewer is another agent, even if it is the same program. */
static void name_reviewer(json_t *row)
{
	AUTO_FREE char *name = mem_format("%s (review)", jsonget_text(row, "agent"));

	if (jsonget_flag(row, "review"))
		json_object_set_new(row, "agent", json_string(name));
}

/* The texts belong to the row. */
static void read_row(json_t *row, struct ledger_sums_item *ret_item)
{
	name_reviewer(row);
	*ret_item = (struct ledger_sums_item){
		.model = (char *)jsonget_text(row, "model"),
		.agent = (char *)jsonget_text(row, "agent"),
		.child = (char *)jsonget_text(row, "child"),
		.lost = strcmp(jsonget_text(row, "route"), "lost") == 0,
		.replay = jsonget_flag(row, "replay"),
		.first_ms = number(row, "at_ms"),
		.first_iteration = number(row, "iteration"),
		.requests = 1,
		.cost_nusd = number(row, "cost_nusd"),
	};
	ret_item->last_ms = ret_item->first_ms;
	ret_item->last_iteration = ret_item->first_iteration;
	ret_item->estimated_nusd = jsonget_flag(row, "estimated") ? ret_item->cost_nusd : 0;
	for (size_t i = 0; i < PRICE_KINDS; i++)
		ret_item->tokens[i] = number(row, ledger_sums_kinds[i]);
}

int ledger_sums_read(const char *folder, ledger_sums_fn *take, void *context, uint64_t *ret_nusd,
		     struct error *err)
{
	AUTO_FREE char *path = path_join(folder, "ledger.jsonl");
	FILE *file = fopen(path, "re");
	AUTO_FREE char *line = NULL;
	size_t room = 0;

	*ret_nusd = 0;
	if (!file && errno != ENOENT)
		return error_sys(err, "open '%s'", path);
	while (file && getline(&line, &room, file) > 0) {
		json_t *row = json_loads(line, 0, NULL);
		struct ledger_sums_item item;

		if (json_is_object(row)) {
			read_row(row, &item);
			*ret_nusd += item.cost_nusd;
			take(context, &item);
		}
		json_decref(row);
	}
	if (file)
		fclose(file);
	return 0;
}

/* Lists the numbers of an item in the order of the text. */
static void list_numbers(struct ledger_sums_item *item, uint64_t *ret_numbers[NUMBERS])
{
	uint64_t *const first[NUMBERS - PRICE_KINDS] = {
		&item->first_ms, &item->last_ms,   &item->first_iteration, &item->last_iteration,
		&item->requests, &item->cost_nusd, &item->estimated_nusd,
	};

	memcpy(ret_numbers, first, sizeof first);
	for (size_t i = 0; i < PRICE_KINDS; i++)
		ret_numbers[NUMBERS - PRICE_KINDS + i] = &item->tokens[i];
}

char *ledger_sums_text(const struct ledger_sums *sums)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);

	for (size_t i = 0; i < sums->count; i++) {
		struct ledger_sums_item *item = &sums->items[i];
		uint64_t *numbers[NUMBERS];

		buffer_printf(&text, "%s%d ", i ? " " : "",
			      (item->lost ? LOST : 0) | (item->replay ? REPLAY : 0));
		word_add(&text, item->model);
		buffer_add(&text, " ", 1);
		word_add(&text, item->agent);
		buffer_add(&text, " ", 1);
		word_add(&text, item->child);
		list_numbers(item, numbers);
		for (size_t number = 0; number < NUMBERS; number++)
			buffer_printf(&text, " %" PRIu64, *numbers[number]);
	}
	return buffer_overflowed(&text) ? NULL : mem_dup(buffer_text(&text));
}

static int read_numbers(const char **at, struct ledger_sums_item *item)
{
	uint64_t *numbers[NUMBERS];

	list_numbers(item, numbers);
	for (size_t i = 0; i < NUMBERS; i++)
		if (word_take_number(at, numbers[i]) < 0)
			return -1;
	return 0;
}

static int read_item(const char **at, struct ledger_sums_item *ret_item)
{
	uint64_t flags = 0;

	*ret_item = (struct ledger_sums_item){ 0 };
	if (word_take_number(at, &flags) < 0)
		return -1;
	ret_item->lost = flags & LOST;
	ret_item->replay = flags & REPLAY;
	ret_item->model = word_take_text(at);
	ret_item->agent = word_take_text(at);
	ret_item->child = word_take_text(at);
	if (ret_item->child && ret_item->agent && ret_item->model &&
	    read_numbers(at, ret_item) == 0)
		return 0;
	release(ret_item);
	return -1;
}

int ledger_sums_parse(const char *text, struct ledger_sums *ret_sums)
{
	*ret_sums = (struct ledger_sums){ 0 };
	while (*text) {
		struct ledger_sums_item item;

		if (read_item(&text, &item) < 0) {
			ledger_sums_release(ret_sums);
			return -1;
		}
		ret_sums->items = mem_extend(ret_sums->items, ret_sums->count,
					     sizeof *ret_sums->items);
		ret_sums->items[ret_sums->count++] = item;
	}
	return 0;
}
