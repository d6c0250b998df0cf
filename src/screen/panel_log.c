/* The transcript of an agent: messages, and tool calls that are folded to a line each. */
#include "screen/panel.h"

#include "screen/compact.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "view/activity.h"

#include <stdlib.h>
#include <string.h>

/* The format of what the agent of this iteration prints. */
static const struct agent_format *format_of(const struct watched *watched, uint32_t iteration)
{
	const struct loop_options *options = &watched->loop.state.options;

	for (size_t i = watched->iterations.count; i-- > 0;) {
		const struct view_iteration *item = &watched->iterations.items[i];

		if (item->iteration == iteration && item->part < DECISION_AGENTS_MAX)
			return options->agents[item->part].format;
	}
	return loop_state_part(&watched->loop.state)->format;
}

void panel_log_close(struct watched *watched)
{
	struct watched_log *log = &watched->log;

	if (log->open)
		view_transcript_close(&log->transcript);
	log->open = false;
	log->toggled_count = 0;
	json_decref(watched->denials);
	watched->denials = NULL;
}

void panel_log_open(struct watched *watched)
{
	struct watched_log *log = &watched->log;
	const struct loop_state *state = &watched->loop.state;
	AUTO_FREE char *path = NULL;

	if (log->follow) {
		log->iteration = state->iteration ? state->iteration : 1;
		log->attempt = state->attempt ? state->attempt : 1;
	}
	path = activity_log(&watched->loop, log->iteration, log->attempt);
	if (log->open && strcmp(path, log->transcript.path) == 0)
		return;
	panel_log_close(watched);
	view_transcript_open(&log->transcript, path, format_of(watched, log->iteration));
	log->open = true;
	watched->stale = true;
}

/* ---- folding ---- */

static size_t toggled_at(const struct watched_log *log, const struct view_entry *entry)
{
	size_t i = 0;

	while (i < log->toggled_count && (log->toggled[i].offset != entry->offset ||
					  log->toggled[i].ordinal != entry->ordinal))
		i++;
	return i;
}

static bool is_open(const struct watched_log *log, const struct view_entry *entry)
{
	return log->unfolded != (toggled_at(log, entry) < log->toggled_count);
}

static bool folds(const struct view_entry *entry)
{
	return entry->kind == VIEW_ENTRY_call || entry->kind == VIEW_ENTRY_thinking ||
	       entry->kind == VIEW_ENTRY_result;
}

bool panel_log_toggle(struct watched *watched, size_t mark)
{
	struct watched_log *log = &watched->log;
	const struct view_entry *entry;
	size_t at;

	if (!log->open || mark >= log->transcript.window.count)
		return false;
	entry = &log->transcript.window.items[mark];
	if (!folds(entry))
		return false;
	at = toggled_at(log, entry);
	if (at < log->toggled_count)
		log->toggled[at] = log->toggled[--log->toggled_count];
	else if (log->toggled_count < WATCHED_TOGGLED)
		log->toggled[log->toggled_count++] = (struct watched_place){ entry->offset,
									     entry->ordinal };
	watched->stale = true;
	return true;
}

/* ---- lines ---- */

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

enum { LINE = 500 }; /* bytes of a line that stands for more */

/* Adds how a tool call ended to its line. */
static void add_result(struct sheet *sheet, const struct view_entry *result)
{
	struct compact size = compact_bytes(result->size);

	sheet_printf(sheet, result->ok ? CANVAS_good : CANVAS_bad, "  %s",
		     result->ok ? "\u2713" : "\u2717");
	if (result->text && *result->text)
		sheet_printf(sheet, CANVAS_dim, " %s", size.text);
}

static void add_output(struct sheet *sheet, size_t mark, const struct view_entry *result)
{
	if (result->text && *result->text)
		sheet_block(sheet, mark, result->ok ? CANVAS_dim : CANVAS_bad, NULL, 4,
			    result->text);
}

static void add_changed(struct sheet *sheet, size_t mark, const struct view_entry *entry)
{
	sheet_line(sheet, mark);
	sheet_printf(sheet, CANVAS_info, "   changed %s", or_empty(entry->target));
}

/* Returns the result of a call, or NULL. Only files that it has changed stand in between. */
static const struct view_entry *result_of(const struct view_entries *window, size_t mark)
{
	size_t i = mark + 1;

	while (i < window->count && window->items[i].kind == VIEW_ENTRY_changed)
		i++;
	return i < window->count && window->items[i].kind == VIEW_ENTRY_result ? &window->items[i]
									       : NULL;
}

/* Adds a call with its result. Returns how many entries these are. */
static size_t add_call(const struct watched_log *log, struct sheet *sheet, size_t mark)
{
	const struct view_entries *window = &log->transcript.window;
	const struct view_entry *call = &window->items[mark];
	const struct view_entry *result = result_of(window, mark);
	bool open = is_open(log, call);
	AUTO_FREE char *target = text_first_line(call->target, LINE);

	sheet_line(sheet, mark);
	sheet_printf(sheet, CANVAS_info, " %s %s", open ? "\u25be" : "\u25b8",
		     call->name ? call->name : "tool");
	sheet_printf(sheet, CANVAS_plain, " %s", or_empty(target));
	if (result)
		add_result(sheet, result);
	if (open && call->target && strchr(call->target, '\n'))
		sheet_block(sheet, mark, CANVAS_plain, NULL, 4, call->target);
	if (open && result)
		add_output(sheet, mark, result);
	if (!result)
		return 1;
	for (const struct view_entry *entry = call + 1; entry < result; entry++)
		add_changed(sheet, mark, entry);
	return (size_t)(result - call) + 1;
}

static void add_folded(const struct watched_log *log, struct sheet *sheet, size_t mark,
		       const char *what)
{
	const struct view_entry *entry = &log->transcript.window.items[mark];
	bool open = is_open(log, entry);
	AUTO_FREE char *line = text_first_line(entry->text, LINE);

	sheet_line(sheet, mark);
	sheet_printf(sheet, CANVAS_dim, " %s %s", open ? "\u25be" : "\u25b8", what);
	if (open)
		sheet_block(sheet, mark, CANVAS_dim, NULL, 4, or_empty(entry->text));
	else
		sheet_printf(sheet, CANVAS_dim, " %s", or_empty(line));
}

static void add_final(struct sheet *sheet, size_t mark, const struct view_entry *entry)
{
	sheet_text(sheet, mark, entry->ok ? CANVAS_good : CANVAS_bad,
		   entry->ok ? " \u2713 the agent ended its turn" : " \u2717 the agent failed");
	if (entry->text && *entry->text)
		sheet_block(sheet, mark, CANVAS_plain, NULL, 3, entry->text);
}

/* Adds an entry. Returns how many entries the lines have. */
static size_t add_entry(const struct watched_log *log, struct sheet *sheet, size_t mark)
{
	const struct view_entry *entry = &log->transcript.window.items[mark];

	switch (entry->kind) {
	case VIEW_ENTRY_call:
		return add_call(log, sheet, mark);
	case VIEW_ENTRY_started:
		sheet_text(sheet, mark, CANVAS_dim, " the agent begins");
		break;
	case VIEW_ENTRY_message:
		sheet_block(sheet, mark, CANVAS_plain, " \u2022 ", 3, or_empty(entry->text));
		break;
	case VIEW_ENTRY_thinking:
		add_folded(log, sheet, mark, "thinks:");
		break;
	case VIEW_ENTRY_result:
		add_folded(log, sheet, mark, "result:");
		break;
	case VIEW_ENTRY_changed:
		add_changed(sheet, mark, entry);
		break;
	case VIEW_ENTRY_trouble:
		sheet_line(sheet, mark);
		sheet_printf(sheet, CANVAS_bad, " ! %s %s", or_empty(entry->name),
			     or_empty(entry->text));
		break;
	case VIEW_ENTRY_final:
		add_final(sheet, mark, entry);
		break;
	default:
		sheet_block(sheet, mark, CANVAS_plain, NULL, 1, or_empty(entry->text));
		break;
	}
	return 1;
}

/* Adds why the loop needs a person, if the line for that is too short. */
static void add_need(const struct watched *watched, struct sheet *sheet)
{
	if (watched->needs && canvas_columns(watched->needs, 3) > sheet->width - 3)
		sheet_block(sheet, SHEET_NO_MARK, CANVAS_urgent, " ! ", 3, watched->needs);
}

void panel_log(struct watched *watched, struct sheet *sheet)
{
	const struct watched_log *log = &watched->log;
	const struct view_entries *window = &log->transcript.window;

	if (!log->open)
		return;
	if (!view_transcript_at_begin(&log->transcript))
		sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim, " ... (go on up for earlier lines)");
	for (size_t i = 0; i < window->count && !sheet->full;)
		i += add_entry(log, sheet, i);
	if (view_transcript_at_end(&log->transcript))
		add_need(watched, sheet);
	else
		sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim, " ... (go on down for later lines)");
	if (!sheet->count)
		sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim, " no output yet");
}
