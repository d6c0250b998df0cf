/* Moving in the tabs of a loop, and searching: see watched.h. */
#include "screen/panel.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

struct scroll *watched_scroll(struct watched *watched)
{
	return &watched->scrolls[watched->tab];
}

void watched_keep_cursor(struct watched *watched)
{
	struct watched_log *log = &watched->log;
	const struct scroll *scroll = &watched->scrolls[WATCHED_LOG];
	size_t mark = scroll->at < watched->sheet.count ? watched->sheet.items[scroll->at].mark
							: SHEET_NO_MARK;
	size_t at = scroll->at;

	if (mark == SHEET_NO_MARK && at + 1 < watched->sheet.count)
		mark = watched->sheet.items[++at].mark;
	if (mark >= log->transcript.window.count)
		return;
	log->kept = (struct watched_place){ log->transcript.window.items[mark].offset,
					    log->transcript.window.items[mark].ordinal };
	log->kept_line = at - sheet_find(&watched->sheet, mark);
	log->kept_row = scroll->at - scroll->top;
}

/* ---- moving ---- */

void watched_set_tab(struct watched *watched, int tab)
{
	watched->tab = (enum watched_tab)((tab + WATCHED_TABS) % WATCHED_TABS);
	watched->stale = true;
	if (watched->tab == WATCHED_CHANGES && !watched->changes.path)
		panel_changes_start(watched, VIEW_CHANGES_FILES);
	else if (watched->tab == WATCHED_CHANGES && !watched->changes.diff.text.data)
		panel_changes_start(watched, VIEW_CHANGES_DIFF);
	if (watched->tab == WATCHED_FINDINGS)
		panel_changes_start(watched, VIEW_CHANGES_FINDINGS);
}

/* Loads the part of the transcript before or after the window when the cursor is at its edge. */
static void extend(struct watched *watched, long lines)
{
	struct watched_log *log = &watched->log;
	const struct scroll *scroll = &watched->scrolls[WATCHED_LOG];

	if (watched->tab != WATCHED_LOG || !log->open)
		return;
	if (lines < 0)
		log->follow = false;
	if (!watched->stale)
		watched_keep_cursor(watched);
	if (lines < 0 && scroll->at == 0 && !view_transcript_at_begin(&log->transcript))
		watched->stale |= view_transcript_earlier(&log->transcript);
	if (lines > 0 && scroll_at_end(scroll) && !view_transcript_at_end(&log->transcript))
		watched->stale |= view_transcript_later(&log->transcript);
}

void watched_move(struct watched *watched, long lines)
{
	scroll_move(watched_scroll(watched), lines);
	extend(watched, lines);
}

void watched_wheel(struct watched *watched, long lines)
{
	scroll_wheel(watched_scroll(watched), lines);
	extend(watched, lines);
}

void watched_top(struct watched *watched)
{
	if (watched->tab == WATCHED_LOG && watched->log.open) {
		watched->log.follow = false;
		view_transcript_to(&watched->log.transcript, 0);
		watched->log.kept = (struct watched_place){ 0 };
		watched->log.kept_line = watched->log.kept_row = 0;
		watched->stale = true;
	}
	scroll_to(watched_scroll(watched), 0);
}

void watched_bottom(struct watched *watched)
{
	if (watched->tab == WATCHED_LOG && watched->log.open) {
		view_transcript_to_end(&watched->log.transcript);
		watched->log.follow = watched->log.iteration == watched->loop.state.iteration ||
				      !watched->loop.state.iteration;
		watched->stale = true;
	}
	scroll_to(watched_scroll(watched), SIZE_MAX);
}

void watched_follow(struct watched *watched)
{
	watched->log.follow = true;
	panel_log_open(watched);
	watched_set_tab(watched, WATCHED_LOG);
	watched_bottom(watched);
}

void watched_fold_all(struct watched *watched)
{
	if (watched->tab != WATCHED_LOG)
		return;
	watched->log.kept_line = 0;
	watched->log.unfolded = !watched->log.unfolded;
	watched->log.toggled_count = 0;
	watched->stale = true;
}

/* Shows the transcript of an attempt. */
static void show_attempt(struct watched *watched, uint32_t iteration, uint32_t attempt)
{
	watched->log.follow = false;
	watched->log.iteration = iteration;
	watched->log.attempt = attempt ? attempt : 1;
	watched->scrolls[WATCHED_LOG] = (struct scroll){ .rows = 1 };
	watched->log.kept = (struct watched_place){ 0 };
	panel_log_open(watched);
	watched->stale = true;
}

bool watched_step(struct watched *watched, int step)
{
	const struct view_iterations *all = &watched->iterations;
	size_t at = 0;

	while (at < all->count && (all->items[at].iteration != watched->log.iteration ||
				   all->items[at].attempt != watched->log.attempt))
		at++;
	if (at == all->count || (step < 0 && at == 0) || (step > 0 && at + 1 == all->count))
		return false;
	at = step < 0 ? at - 1 : at + 1;
	if (!all->items[at].iteration)
		return false;
	show_attempt(watched, all->items[at].iteration, all->items[at].attempt);
	return true;
}

/* Opens the diff of a file. */
static bool open_file(struct watched *watched, size_t mark)
{
	struct watched_changes *changes = &watched->changes;

	if (changes->path || mark >= changes->files.count)
		return false;
	changes->path = mem_dup(changes->files.items[mark].path);
	changes->file = mark;
	view_changes_release_diff(&changes->diff);
	panel_changes_start(watched, VIEW_CHANGES_DIFF);
	*watched_scroll(watched) = (struct scroll){ 0 };
	return true;
}

bool watched_act(struct watched *watched)
{
	const struct scroll *scroll = watched_scroll(watched);
	const struct view_iteration *item;
	size_t mark = scroll->at < watched->sheet.count ? watched->sheet.items[scroll->at].mark
							: SHEET_NO_MARK;

	if (mark == SHEET_NO_MARK)
		return false;
	switch (watched->tab) {
	case WATCHED_LOG:
		watched->log.kept_line = 0;
		watched->log.follow = false;
		return panel_log_toggle(watched, mark);
	case WATCHED_ITERATIONS:
	case WATCHED_COST:
		item = panel_iteration(watched, mark);
		if (!item || !item->iteration)
			return false;
		show_attempt(watched, item->iteration, item->attempt);
		watched_set_tab(watched, WATCHED_LOG);
		watched_top(watched);
		return true;
	case WATCHED_CHANGES:
		return open_file(watched, mark);
	default:
		return false;
	}
}

bool watched_back(struct watched *watched)
{
	struct watched_changes *changes = &watched->changes;
	struct scroll *scroll = &watched->scrolls[WATCHED_CHANGES];

	if (watched->tab != WATCHED_CHANGES || !changes->path)
		return false;
	free(changes->path);
	changes->path = NULL;
	watched->stale = true;
	if (!changes->read)
		panel_changes_start(watched, VIEW_CHANGES_FILES);
	/* The cursor goes back to the file, below the title. */
	scroll->count = changes->file + 2;
	scroll_to(scroll, changes->file + 1);
	return true;
}

/* ---- searching ---- */

/* Searches the whole transcript, of which a window is in memory. */
static bool search_log(struct watched *watched, const char *text, bool backwards)
{
	struct watched_log *log = &watched->log;
	struct view_search search = { .text = text, .backwards = backwards };

	search.offset = log->kept.offset;
	search.ordinal = log->kept.ordinal;
	if (view_transcript_search(&log->transcript, &search, UINT64_MAX) != VIEW_FOUND)
		return false;
	log->follow = false;
	if (view_transcript_find(&log->transcript, search.offset, search.ordinal) >=
		    log->transcript.window.count ||
	    search.offset < log->transcript.begin)
		view_transcript_to(&log->transcript, search.offset);
	log->kept = (struct watched_place){ search.offset, search.ordinal };
	log->kept_line = 0;
	log->kept_row = watched->scrolls[WATCHED_LOG].rows / 3;
	watched->stale = true;
	return true;
}

bool watched_search(struct watched *watched, const char *text, bool backwards)
{
	struct scroll *scroll = watched_scroll(watched);
	size_t at;

	if (!watched->sought || strcmp(text, watched->sought) != 0) {
		free(watched->sought);
		watched->sought = mem_dup(text);
	}
	if (watched->tab == WATCHED_LOG)
		return search_log(watched, watched->sought, backwards);
	at = sheet_search(&watched->sheet, watched->sought, scroll->at, backwards);
	if (at == watched->sheet.count)
		return false;
	scroll_to(scroll, at);
	return true;
}
