/* The changes of a loop: its files, their diffs, and signs that the checks are weakened. */
#include "screen/panel.h"

#include "screen/compact.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

static bool is_running(const struct watched_changes *changes)
{
	return changes->job.work.pid > 0;
}

void panel_changes_start(struct watched *watched, enum view_changes_kind kind)
{
	struct watched_changes *changes = &watched->changes;
	const struct view_changes_request request = {
		.state = watched->state,
		.loop = &watched->loop,
		.kind = kind,
		.path = kind == VIEW_CHANGES_DIFF ? changes->path : NULL,
	};
	struct error err;

	if (is_running(changes) && kind == changes->kind && kind != VIEW_CHANGES_DIFF)
		return;
	if (is_running(changes))
		view_changes_cancel(&changes->job);
	mem_replace(&changes->trouble, NULL);
	changes->kind = kind;
	if (view_changes_start(&request, &changes->job, &err) < 0)
		mem_replace(&changes->trouble, err.text);
	watched->stale = true;
}

static int take(struct watched_changes *changes, struct error *err)
{
	struct view_changes files;
	struct view_diff diff;
	json_t *findings;

	switch (changes->kind) {
	case VIEW_CHANGES_FILES:
		if (view_changes_end_files(&changes->job, &files, err) < 0)
			return -1;
		view_changes_release(&changes->files);
		changes->files = files;
		changes->read = true;
		return 0;
	case VIEW_CHANGES_DIFF:
		if (view_changes_end_diff(&changes->job, &diff, err) < 0)
			return -1;
		view_changes_release_diff(&changes->diff);
		changes->diff = diff;
		return 0;
	case VIEW_CHANGES_FINDINGS:
		if (view_changes_end_findings(&changes->job, &findings, err) < 0)
			return -1;
		json_decref(changes->findings);
		changes->findings = findings;
		changes->found = true;
		return 0;
	}
	return 0;
}

void panel_changes_end(struct watched *watched)
{
	struct error err;

	if (is_running(&watched->changes) && take(&watched->changes, &err) < 0)
		mem_replace(&watched->changes.trouble, err.text);
	watched->stale = true;
}

void panel_changes_close(struct watched *watched)
{
	struct watched_changes *changes = &watched->changes;

	if (is_running(changes))
		view_changes_cancel(&changes->job);
	view_changes_release(&changes->files);
	view_changes_release_diff(&changes->diff);
	json_decref(changes->findings);
	free(changes->path);
	free(changes->trouble);
	*changes = (struct watched_changes){ .job = VIEW_CHANGES_JOB_INIT };
}

/* ---- lines ---- */

static enum canvas_style style_of(const char *line, size_t size)
{
	static const struct {
		const char *begin;
		enum canvas_style style;
	} known[] = {
		{ "diff ", CANVAS_bold },   { "--- ", CANVAS_bold },
		{ "+++ ", CANVAS_bold },    { "rename ", CANVAS_bold },
		{ "new file", CANVAS_dim }, { "deleted file", CANVAS_dim },
		{ "old mode", CANVAS_dim }, { "new mode", CANVAS_dim },
		{ "@@", CANVAS_hunk },      { "+", CANVAS_added },
		{ "-", CANVAS_removed },    { "Binary ", CANVAS_dim },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (size >= strlen(known[i].begin) &&
		    memcmp(line, known[i].begin, strlen(known[i].begin)) == 0)
			return known[i].style;
	return CANVAS_plain;
}

static void add_diff(struct watched_changes *changes, struct sheet *sheet)
{
	const char *text = buffer_text(&changes->diff.text);

	sheet_line(sheet, SHEET_NO_MARK);
	sheet_printf(sheet, CANVAS_title, " %s", changes->path);
	sheet_add(sheet, CANVAS_dim, "   (Esc: all files)");
	while (*text && !sheet->full) {
		size_t size = strcspn(text, "\n");
		AUTO_FREE char *line = strndup(text, size < SHEET_BYTES ? size : SHEET_BYTES);

		sheet_text(sheet, SHEET_NO_MARK, style_of(line, strlen(line)), line);
		text += size + (text[size] == '\n');
	}
	if (changes->diff.cut)
		sheet_text(sheet, SHEET_NO_MARK, CANVAS_warning,
			   " The diff is longer than can be shown (ringfence diff prints it all).");
}

static const char *letter_of(const char *status)
{
	return strcmp(status, "added") == 0     ? "A"
	       : strcmp(status, "deleted") == 0 ? "D"
	       : strcmp(status, "renamed") == 0 ? "R"
						: "M";
}

static enum canvas_style letter_style(const char *letter)
{
	return *letter == 'A' ? CANVAS_good : *letter == 'D' ? CANVAS_bad : CANVAS_warning;
}

static void add_file(struct sheet *sheet, const struct view_change *item, size_t index)
{
	const char *letter = letter_of(item->status);

	sheet_line(sheet, index);
	sheet_printf(sheet, letter_style(letter), " %s ", letter);
	if (item->binary)
		sheet_add(sheet, CANVAS_dim, "      binary  ");
	else {
		sheet_printf(sheet, CANVAS_added, "%6s ", compact_lines('+', item->added).text);
		sheet_printf(sheet, CANVAS_removed, "%6s ", compact_lines('-', item->removed).text);
	}
	if (item->from)
		sheet_printf(sheet, CANVAS_dim, "%s \u203a ", item->from);
	sheet_add(sheet, CANVAS_plain, item->path);
}

static void add_files(const struct watched_changes *changes, struct sheet *sheet)
{
	const struct view_changes *files = &changes->files;

	sheet_line(sheet, SHEET_NO_MARK);
	sheet_printf(sheet, CANVAS_title, " %zu file%s changed", files->count + files->unlisted,
		     files->count + files->unlisted == 1 ? "" : "s");
	sheet_printf(sheet, CANVAS_added, "  +%llu", (unsigned long long)files->added);
	sheet_printf(sheet, CANVAS_removed, " -%llu", (unsigned long long)files->removed);
	if (files->count)
		sheet_add(sheet, CANVAS_dim, "   (Enter: the diff)");
	for (size_t i = 0; i < files->count; i++)
		add_file(sheet, &files->items[i], i);
	if (files->unlisted) {
		sheet_line(sheet, SHEET_NO_MARK);
		sheet_printf(sheet, CANVAS_dim, " and %zu more", files->unlisted);
	}
}

void panel_changes(struct watched *watched, struct sheet *sheet)
{
	struct watched_changes *changes = &watched->changes;

	if (changes->trouble)
		sheet_block(sheet, SHEET_NO_MARK, CANVAS_warning, NULL, 1, changes->trouble);
	else if (changes->path && changes->diff.text.data)
		add_diff(changes, sheet);
	else if (changes->read && !changes->path)
		add_files(changes, sheet);
	else
		sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim, " comparing ...");
}

/* ---- findings ---- */

static void add_finding(struct sheet *sheet, const json_t *finding, size_t index)
{
	const char *action = jsonget_text(finding, "action");

	sheet_line(sheet, index);
	sheet_printf(sheet, strcmp(action, "stop") == 0 ? CANVAS_bad : CANVAS_warning, " %-7s",
		     action);
	sheet_printf(sheet, CANVAS_bold, "%s", jsonget_text(finding, "path"));
	if (jsonget_number(finding, "line"))
		sheet_printf(sheet, CANVAS_bold, ":%lld",
			     (long long)jsonget_number(finding, "line"));
	sheet_printf(sheet, CANVAS_plain, "  %s", jsonget_text(finding, "says"));
	sheet_block(sheet, index, CANVAS_dim, NULL, 8, jsonget_text(finding, "evidence"));
}

void panel_findings(struct watched *watched, struct sheet *sheet)
{
	const struct watched_changes *changes = &watched->changes;
	size_t index;
	const json_t *finding;

	if (changes->trouble)
		sheet_block(sheet, SHEET_NO_MARK, CANVAS_warning, NULL, 1, changes->trouble);
	else if (!changes->found)
		sheet_text(sheet, SHEET_NO_MARK, CANVAS_dim, " comparing ...");
	else if (!json_array_size(changes->findings))
		sheet_text(sheet, SHEET_NO_MARK, CANVAS_good,
			   " \u2713 no sign that the changes weaken the checks");
	json_array_foreach(changes->findings, index, finding) add_finding(sheet, finding, index);
}
