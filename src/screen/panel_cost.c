/* The cost of a loop, its tokens, and what it has used of the machine. */
#include "screen/panel.h"

#include "screen/compact.h"
#include "util/mem.h"
#include "view/view_tools.h"

#include <string.h>

enum { BAR = 28 };

static uint64_t input_of(const uint64_t tokens[PRICE_KINDS])
{
	uint64_t sum = 0;

	for (int i = 0; i < PRICE_KINDS; i++)
		sum += i == PRICE_OUTPUT ? 0 : tokens[i];
	return sum;
}

static void add_use(struct sheet *sheet, const char *name, const struct view_use *use)
{
	struct compact in = compact_count(input_of(use->tokens));
	struct compact out = compact_count(use->tokens[PRICE_OUTPUT]);
	struct compact cost = compact_usd(use->cost_nusd);

	sheet_line(sheet, SHEET_NO_MARK);
	sheet_printf(sheet, CANVAS_plain, " %-30.30s %8llu %8s %8s %9s", name,
		     (unsigned long long)use->requests, in.text, out.text, cost.text);
}

static void add_models(const struct view_iterations *all, struct sheet *sheet)
{
	sheet_title(sheet, " Models");
	sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim,
		   " MODEL                          REQUESTS       IN      OUT       US$");
	for (size_t i = 0; i < all->models.count; i++)
		add_use(sheet, all->models.items[i], &all->totals[i]);
	add_use(sheet, "all", &all->total);
	if (all->trouble)
		sheet_block(sheet, SHEET_NO_MARK, CANVAS_warning, NULL, 1, all->trouble);
}

static int64_t cost_of(const struct view_iteration *item)
{
	return item->cost_nusd > 0 ? item->cost_nusd : 0;
}

static uint64_t tokens_of(const struct view_iteration *item)
{
	return input_of(item->tokens) + item->tokens[PRICE_OUTPUT];
}

/* A bar for the cost of each iteration, and one for its tokens. */
static void add_graph(const struct view_iterations *all, struct sheet *sheet)
{
	int64_t most = 1;
	uint64_t most_tokens = 1;

	for (size_t i = 0; i < all->count; i++) {
		most = cost_of(&all->items[i]) > most ? cost_of(&all->items[i]) : most;
		most_tokens = tokens_of(&all->items[i]) > most_tokens ? tokens_of(&all->items[i])
								      : most_tokens;
	}
	sheet_title(sheet, " Iterations");
	sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim,
		   "    #      US$                               TOKENS");
	for (size_t i = 0; i < all->count; i++) {
		const struct view_iteration *item = &all->items[i];
		struct compact cost = compact_usd(cost_of(item));
		struct compact tokens = compact_count(tokens_of(item));
		AUTO_FREE char *bar = compact_bar((uint64_t)cost_of(item), (uint64_t)most, BAR);
		AUTO_FREE char *other = compact_bar(tokens_of(item), most_tokens, BAR / 2);

		if (!item->iteration)
			continue;
		sheet_line(sheet, i);
		sheet_printf(sheet, CANVAS_plain, " %4u %8s ", item->iteration, cost.text);
		sheet_add(sheet, CANVAS_good, bar);
		sheet_printf(sheet, CANVAS_plain, " %7s ", tokens.text);
		sheet_add(sheet, CANVAS_info, other);
	}
}

static void add_machine(struct watched *watched, struct sheet *sheet)
{
	struct view_tools tools;
	struct compact cpu, memory;

	view_tools_read(&watched->loop, &watched->iterations, 0, &tools);
	cpu = compact_time((int64_t)tools.cpu_ms);
	memory = compact_bytes(tools.peak_bytes);
	sheet_title(sheet, " Machine");
	sheet_line(sheet, SHEET_NO_MARK);
	sheet_printf(sheet, CANVAS_plain,
		     " CPU time %s, at most %s of memory, of all runs that ended", cpu.text,
		     memory.text);
	for (size_t i = 0; i < tools.hosts.count && i < 20; i++) {
		struct compact in = compact_bytes(tools.traffic[i].bytes_in);
		struct compact out = compact_bytes(tools.traffic[i].bytes_out);

		sheet_line(sheet, SHEET_NO_MARK);
		sheet_printf(sheet, tools.traffic[i].refusals ? CANVAS_warning : CANVAS_plain,
			     " %-40.40s %10s in %10s out", tools.hosts.items[i].text, in.text,
			     out.text);
	}
	view_tools_release(&tools);
}

void panel_cost(struct watched *watched, struct sheet *sheet)
{
	const struct view_limits *limits = &watched->limits;
	struct compact cost = compact_usd(limits->cost_nusd);
	struct compact rate = compact_usd(limits->rate_nusd);
	const struct view_limit *most = &limits->of[VIEW_LIMIT_cost];

	sheet_line(sheet, SHEET_NO_MARK);
	sheet_printf(sheet, CANVAS_title, " US$ %s", cost.text);
	if (most->total)
		sheet_printf(sheet, CANVAS_plain, " of %g", (double)most->total / 1e9);
	if (limits->rate_nusd)
		sheet_printf(sheet, CANVAS_dim, ", %s an hour", rate.text);
	if (watched->iterations.replay)
		sheet_add(sheet, CANVAS_dim, "; a replay: nobody was paid");
	else if (limits->estimated_nusd)
		sheet_add(sheet, CANVAS_dim, "; partly estimated");
	add_graph(&watched->iterations, sheet);
	if (watched->iterations.metered)
		add_models(&watched->iterations, sheet);
	add_machine(watched, sheet);
}

void panel_prompt(struct watched *watched, struct sheet *sheet)
{
	AUTO_PROMPT struct prompt prompt = PROMPT_INIT;

	client_prompt(&watched->loop, &prompt);
	sheet_line(sheet, SHEET_NO_MARK);
	sheet_printf(sheet, CANVAS_dim, " The next prompt, as things stand: about %zu tokens",
		     prompt_tokens(prompt.text.used));
	sheet_block(sheet, SHEET_NO_MARK, CANVAS_plain, NULL, 1, buffer_text(&prompt.text));
}
