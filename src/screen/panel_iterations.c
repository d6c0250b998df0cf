/* The iterations of a loop, and the checks in them. */
#include "screen/panel.h"

#include "screen/compact.h"
#include "util/mem.h"

#include <string.h>

const struct view_iteration *panel_iteration(const struct watched *watched, size_t mark)
{
	return mark < watched->iterations.count ? &watched->iterations.items[mark] : NULL;
}

static enum canvas_style style_of(const struct view_iteration *item)
{
	if (strcmp(item->action, "done") == 0)
		return CANVAS_good;
	if (strcmp(item->action, "running") == 0)
		return CANVAS_info;
	if (strcmp(item->action, "go on") == 0)
		return CANVAS_plain;
	return CANVAS_warning;
}

static void add_number(struct sheet *sheet, const struct view_iteration *item)
{
	if (!item->iteration)
		sheet_printf(sheet, CANVAS_dim, " before   ");
	else if (item->attempt > 1)
		sheet_printf(sheet, CANVAS_plain, " %4u.%-3u ", item->iteration, item->attempt);
	else
		sheet_printf(sheet, CANVAS_plain, " %4u     ", item->iteration);
}

static void add_iteration(const struct watched *watched, struct sheet *sheet, size_t index)
{
	const struct view_iteration *item = &watched->iterations.items[index];
	struct compact time = compact_time(view_iterations_lasted_ms(item, watched->now_ms));
	struct compact cost = compact_usd(item->cost_nusd > 0 ? item->cost_nusd : 0);

	sheet_line(sheet, index);
	add_number(sheet, item);
	sheet_printf(sheet, style_of(item), "%-12.12s", item->action);
	sheet_printf(sheet, CANVAS_plain, "%7s %8s ", time.text, cost.text);
	if (item->check_count)
		sheet_printf(sheet,
			     item->checks_passing == (int64_t)item->check_count ? CANVAS_good
										: CANVAS_bad,
			     "%4lld/%-3zu", (long long)item->checks_passing, item->check_count);
	else
		sheet_add(sheet, CANVAS_dim, "   -    ");
	if (item->files_changed >= 0)
		sheet_printf(sheet, CANVAS_plain, "%5lld ", (long long)item->files_changed);
	else
		sheet_add(sheet, CANVAS_dim, "    - ");
	if (item->denials > 0)
		sheet_printf(sheet, CANVAS_warning, "%6lld ", (long long)item->denials);
	else
		sheet_add(sheet, CANVAS_dim, "     - ");
	sheet_printf(sheet, item->ended ? CANVAS_bad : CANVAS_dim, " %s",
		     item->ended    ? item->ended
		     : item->reason ? item->reason
				    : "");
}

void panel_iterations(struct watched *watched, struct sheet *sheet)
{
	sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim,
		   "    #     DECISION        TIME      US$ CHECKS FILES DENIED  WHY");
	if (watched->iterations.dropped) {
		sheet_line(sheet, SHEET_NO_MARK);
		sheet_printf(sheet, CANVAS_dim, " %zu older iterations are not listed",
			     watched->iterations.dropped);
	}
	for (size_t i = 0; i < watched->iterations.count; i++)
		add_iteration(watched, sheet, i);
}

/* ---- checks ---- */

static const struct loop_state_check *result_of(const struct loop_state *state, size_t index)
{
	return state->checks && index < loop_options_check_count(&state->options)
		       ? &state->checks[index]
		       : NULL;
}

static void add_outcome(struct sheet *sheet, const struct loop_state_check *check)
{
	struct compact time = compact_time(check ? check->duration_ms : -1);

	if (!check || !check->ran) {
		sheet_add(sheet, CANVAS_dim, "not run yet  ");
		return;
	}
	sheet_printf(sheet, check->passed && !check->vacuous ? CANVAS_good : CANVAS_bad, "%s ",
		     check->passed && !check->vacuous ? "\u2713 passed"
		     : check->passed                  ? "\u2717 empty "
						      : "\u2717 failed");
	sheet_printf(sheet, CANVAS_dim, "%7s", time.text);
	if (check->counted)
		sheet_printf(sheet, CANVAS_dim, "  %lld passed, %lld failed",
			     (long long)check->tests_passed, (long long)check->tests_failed);
}

static void add_check(const struct loop_state *state, struct sheet *sheet, size_t index)
{
	const struct loop_state_check *check = result_of(state, index);
	bool final = index >= state->options.checks.count;

	sheet_line(sheet, index);
	sheet_printf(sheet, CANVAS_bold, " %s", loop_options_check(&state->options, index));
	if (final)
		sheet_add(sheet, CANVAS_dim, "  (final: the agent never sees it)");
	sheet_line(sheet, index);
	sheet_add(sheet, CANVAS_plain, "   ");
	add_outcome(sheet, check);
	if (check && check->unproven)
		sheet_block(sheet, index, CANVAS_warning, NULL, 3, check->unproven);
	if (check && check->ran && !check->passed && check->excerpt)
		sheet_block(sheet, index, CANVAS_plain, NULL, 3, check->excerpt);
	sheet_line(sheet, SHEET_NO_MARK);
}

void panel_checks(struct watched *watched, struct sheet *sheet)
{
	const struct loop_state *state = &watched->loop.state;
	size_t count = loop_options_check_count(&state->options);

	for (size_t i = 0; i < count; i++)
		add_check(state, sheet, i);
	if (!count)
		sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim, " this loop has no checks");
}
