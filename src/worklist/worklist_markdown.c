/* Task lists in Markdown: boxes, and plans with a section for each task. */
#include "decision/boxes.h"
#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "worklist/worklist_build.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

enum { TAB = 4, BODY_BYTES = 1 << 20, HEADINGS = 7 };

/* A line, and what it is. */
struct line {
	const char *text;
	size_t size; /* without its end */
	size_t number, indent;
	size_t level; /* of a heading, or 0 */
	enum boxes_kind kind;
	const char *mark; /* of a box */
	bool code;        /* in a fence that is closed later */
};

/* The lines of a text. A fence that is never closed hides nothing, as for boxes_count(). */
struct reader {
	const char *at, *end;
	size_t number;
	struct boxes_fence fence;
	const char *unclosed; /* the line of a fence that is never closed, or NULL */
};

static const char *line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline : end;
}

static size_t indent_of(const char *text, size_t size)
{
	size_t indent = 0;

	for (size_t i = 0; i < size && (text[i] == ' ' || text[i] == '\t'); i++)
		indent += text[i] == '\t' ? TAB - indent % TAB : 1;
	return indent;
}

static size_t level_of(const char *text, size_t size)
{
	size_t level = 0;

	while (level < size && text[level] == '#')
		level++;
	return level && level < HEADINGS && level < size && text[level] == ' ' ? level : 0;
}

static bool next_line(struct reader *reader, struct line *ret_line)
{
	const char *end;
	struct line line = { .text = reader->at, .number = ++reader->number };
	struct boxes_fence before = reader->fence;

	if (reader->at >= reader->end)
		return false;
	end = line_end(reader->at, reader->end);
	reader->at = end < reader->end ? end + 1 : end;
	line.size = (size_t)(end - line.text);
	if (line.size && line.text[line.size - 1] == '\r')
		line.size--;
	line.indent = indent_of(line.text, line.size);
	line.kind = boxes_read(&reader->fence, line.text, line.size, &line.mark);
	if (line.text == reader->unclosed) {
		reader->fence = before;
		line.kind = BOXES_NONE;
	}
	line.code = before.mark || line.kind == BOXES_FENCE;
	line.level = line.code ? 0 : level_of(line.text, line.size);
	if (line.code)
		line.kind = BOXES_NONE;
	*ret_line = line;
	return true;
}

static struct reader start_reader(const char *bytes, size_t size)
{
	const char *first = bytes + (strncmp(bytes, BYTE_ORDER_MARK, 3) == 0 ? 3 : 0);
	struct reader reader = { .at = first, .end = bytes + size };
	const char *opened = NULL;
	struct line line;

	while (next_line(&reader, &line))
		if (reader.fence.mark && line.code && !opened)
			opened = line.text;
		else if (!reader.fence.mark)
			opened = NULL;
	return (struct reader){ .at = first, .end = bytes + size, .unclosed = opened };
}

/* ---- sections ---- */

/* Reports whether a heading says that its tasks need not be done. */
static bool is_optional(const char *text, size_t size)
{
	static const char *const words[] = { "optional", "nice to have", "nice-to-have",
					     "stretch" };
	AUTO_FREE char *heading = strndup(text, size);

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(heading, words[i]))
			return true;
	return false;
}

/* The position of the reader of boxes. */
struct place {
	struct worklist_build *build;
	bool open;       /* an item is being read: the last one */
	size_t indent;   /* of its box */
	size_t skipped;  /* the level of an optional section, or 0 */
	size_t left_out; /* boxes in it */
	size_t heading;  /* the line of its heading */
	struct buffer body;
};

static struct worklist_item *last_item(struct worklist_build *build)
{
	return &build->list->items[build->list->count - 1];
}

/* The end of an item: everything about it is known. */
static void end_item(struct place *place)
{
	struct worklist_item *item;

	if (!place->open)
		return;
	item = last_item(place->build);
	worklist_build_references(item, item->title);
	worklist_build_references(item, buffer_text(&place->body));
	worklist_build_prompt(place->build, item, buffer_text(&place->body));
	place->open = false;
	place->body.used = 0;
}

static void end_section(struct place *place)
{
	if (place->left_out)
		worklist_build_note(place->build, place->heading,
				    "%zu open task%s in an optional section: left out",
				    place->left_out, place->left_out == 1 ? "" : "s");
	place->skipped = place->left_out = 0;
}

static void read_heading(struct place *place, const struct line *line)
{
	end_item(place);
	if (place->skipped && line->level <= place->skipped)
		end_section(place);
	if (!place->skipped && is_optional(line->text, line->size)) {
		place->skipped = line->level;
		place->heading = line->number;
	}
}

/* Returns the size of an id that a title begins with, as in "T1: ..." or "US-001 - ...", or 0. */
static size_t own_id(const char *title)
{
	size_t letters = strspn(title, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
	size_t size = letters + (title[letters] == '-');
	size_t digits = strspn(title + size, "0123456789.");

	while (digits && title[size + digits - 1] == '.')
		digits--;
	return letters && letters <= 10 && digits && digits <= 10 && title[size + digits] == ':'
		       ? size + digits
		       : 0;
}

static void add_mark(struct worklist_build *build, struct worklist_item *item,
		     const struct line *line)
{
	const struct worklist_mark mark = { .at = (size_t)(line->mark - build->bytes),
					    .size = 1,
					    .set = line->kind == BOXES_TICKED,
					    .done = "x",
					    .open = " " };

	worklist_build_mark(item, &mark);
}

static int begin_item(struct place *place, const struct line *line)
{
	struct worklist_build *build = place->build;
	const char *text = line->mark + 2;
	struct worklist_item *item;
	AUTO_FREE char *id = NULL;

	if (text + strspn(text, " \t") >= line->text + line->size) {
		worklist_build_note(build, line->number, "a box without text: left out");
		return 0;
	}
	item = worklist_build_item(build, line->number);
	if (!item)
		return -1;
	worklist_build_title(item, text, line->size - (size_t)(text - line->text));
	if (own_id(item->title))
		id = strndup(item->title, own_id(item->title));
	worklist_build_id(build, item, id);
	item->done = line->kind == BOXES_TICKED;
	add_mark(build, item, line);
	place->open = true;
	place->indent = line->indent;
	return 0;
}

/* Adds a line to the item that is open: nested boxes, and text that is indented more than it. */
static void add_line(struct place *place, const struct line *line)
{
	size_t cut = 0;

	while (cut < line->size && cut <= place->indent &&
	       (line->text[cut] == ' ' || line->text[cut] == '\t'))
		cut++;
	buffer_add(&place->body, line->text + cut, line->size - cut);
	buffer_add(&place->body, "\n", 1);
	if (line->kind == BOXES_OPEN || line->kind == BOXES_TICKED)
		add_mark(place->build, last_item(place->build), line);
}

static bool is_blank(const struct line *line)
{
	for (size_t i = 0; i < line->size; i++)
		if (!isspace((unsigned char)line->text[i]))
			return false;
	return true;
}

static int read_line(struct place *place, const struct line *line)
{
	bool box = line->kind == BOXES_OPEN || line->kind == BOXES_TICKED;
	bool inside = place->open && line->indent > place->indent;

	if (line->level) {
		read_heading(place, line);
	} else if (place->skipped) {
		place->left_out += line->kind == BOXES_OPEN;
	} else if (box && !inside) {
		end_item(place);
		return begin_item(place, line);
	} else if (inside && !is_blank(line)) {
		add_line(place, line);
	} else if (place->open && !is_blank(line)) {
		end_item(place);
	}
	return 0;
}

int worklist_markdown_read(struct worklist_build *build)
{
	struct place place = { .build = build, .body = BUFFER_INIT(BODY_BYTES) };
	struct reader reader = start_reader(build->bytes, build->size);
	struct line line;
	int result = 0;

	while (result == 0 && next_line(&reader, &line))
		result = read_line(&place, &line);
	if (result == 0)
		end_item(&place);
	end_section(&place);
	buffer_release(&place.body);
	return result;
}

/* ---- plans ---- */

/* Returns the text after "Task N:" in a heading, with the number, or NULL. */
static const char *task_heading(const struct line *line, const char **ret_word, size_t *ret_number)
{
	static const char *const words[] = { "task", "iteration" };
	const char *at = line->text + line->level + 1;
	char *end;

	if (line->level != 3)
		return NULL;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t size = strlen(words[i]);

		if (strncasecmp(at, words[i], size) != 0 || at[size] != ' ' ||
		    !isdigit((unsigned char)at[size + 1]))
			continue;
		*ret_number = strtoul(at + size + 1, &end, 10);
		*ret_word = words[i];
		return end <= line->text + line->size ? end + (*end == ':') : NULL;
	}
	return NULL;
}

bool worklist_plan_is(const char *bytes, size_t size)
{
	AUTO_FREE char *text = strndup(bytes, size);
	struct reader reader = start_reader(text, size);
	struct line line;
	const char *word;
	size_t number;

	while (next_line(&reader, &line))
		if (task_heading(&line, &word, &number))
			return true;
	return false;
}

/* Adds the command of a list item, which may be inline code. */
static void add_command(struct list *checks, const struct line *line)
{
	const char *at = line->text + strspn(line->text, " \t");
	const char *end = line->text + line->size;

	/* A line across the page, `---`, is not an item. */
	if (end - at < 2 || (*at != '-' && *at != '*' && *at != '+') ||
	    !isspace((unsigned char)at[1]))
		return;
	at++;
	at += strspn(at, " \t`");
	while (end > at && (isspace((unsigned char)end[-1]) || end[-1] == '`'))
		end--;
	if (end > at)
		list_printf(checks, "%.*s", (int)(end - at), at);
}

static void end_task(struct place *place, size_t open, size_t ticked)
{
	struct worklist_item *item;

	if (!place->open)
		return;
	item = last_item(place->build);
	item->done = ticked && !open;
	worklist_build_prompt(place->build, item, buffer_text(&place->body));
	place->open = false;
	place->body.used = 0;
}

/* Tasks of a plan build on each other, so each depends on the one before it. */
static int begin_task(struct place *place, const struct line *line, const char *word, size_t number,
		      const char *title)
{
	struct worklist_build *build = place->build;
	const char *before = build->list->count > build->first ? last_item(build)->id : NULL;
	AUTO_FREE char *id = mem_format("%s-%zu", word, number);
	struct worklist_item *item = worklist_build_item(build, line->number);

	if (!item)
		return -1;
	worklist_build_title(item, title, (size_t)(line->text + line->size - title));
	worklist_build_id(build, item, id);
	if (before)
		list_add(&item->depends, before);
	place->open = true;
	return 0;
}

static void copy_checks(struct worklist_build *build, const struct list *checks)
{
	for (size_t i = build->first; i < build->list->count; i++)
		for (size_t k = 0; k < checks->count; k++)
			list_add(&build->list->items[i].checks, checks->items[k]);
}

/* The position of the reader of a plan. */
struct plan {
	struct place place;
	struct list checks;
	size_t open, ticked; /* boxes of the task */
	bool commands;       /* in the section of validation commands */
};

static bool is_about_commands(const struct line *line)
{
	AUTO_FREE char *heading = strndup(line->text, line->size);

	return strcasestr(heading, "validation commands");
}

static int read_plan_line(struct plan *plan, const struct line *line)
{
	const char *word;
	size_t number;
	const char *title = line->level ? task_heading(line, &word, &number) : NULL;

	if (line->level && line->level <= 3) {
		end_task(&plan->place, plan->open, plan->ticked);
		plan->open = plan->ticked = 0;
		plan->commands = !title && is_about_commands(line);
	}
	if (title)
		return begin_task(&plan->place, line, word, number, title);
	if (plan->commands) {
		add_command(&plan->checks, line);
	} else if (plan->place.open) {
		plan->open += line->kind == BOXES_OPEN;
		plan->ticked += line->kind == BOXES_TICKED;
		add_line(&plan->place, line);
	}
	return 0;
}

int worklist_plan_read(struct worklist_build *build)
{
	struct plan plan = { .place = { .build = build, .body = BUFFER_INIT(BODY_BYTES) } };
	struct reader reader = start_reader(build->bytes, build->size);
	struct line line;
	int result = 0;

	while (result == 0 && next_line(&reader, &line))
		result = read_plan_line(&plan, &line);
	end_task(&plan.place, plan.open, plan.ticked);
	copy_checks(build, &plan.checks);
	list_release(&plan.checks);
	buffer_release(&plan.place.body);
	return result;
}
