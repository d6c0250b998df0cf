/* Excerpts of a check's output: see excerpt.h. */
#include "decision/excerpt.h"

#include "decision/lines.h"

#include <stdio.h>
#include <string.h>

#define CUT " [...]"

enum {
	MARK_MAX = 48,  /* size of a line that reports a gap */
	LINE_EXTRA = 3, /* the quote and the newline */
	LINES_BEFORE = 3,
	LINES_AFTER = 6,
};

/* The parts of the output to show, and the room for them. */
struct excerpt {
	const char *start, *end;     /* of the output */
	const char *head, *head_end; /* the first piece */
	const char *tail, *tail_end; /* the second; it never starts before the first ends */
	size_t left;                 /* bytes left to use */
	size_t line_max;
};

static bool passed(const char *line)
{
	static const char *const begins[] = { "ok ",          "pass ",        "--- pass",
					      "\xe2\x9c\x93", "\xe2\x9c\x94", "\xe2\x88\x9a" };
	size_t size = strlen(line);

	line += strspn(line, " ");
	for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
		if (lines_begins(line, begins[i]))
			return true;
	return lines_find(line, "... ok") ||
	       (size > 7 && lines_find(line, " passed") == line + strlen(line) - 7);
}

/* "0 errors", "no failures", "errors: 0", "failures=0": the line denies the failure. */
static bool denied(const char *line, const char *word)
{
	const char *after = word;

	if ((word - line >= 2 && lines_begins(word - 2, "0 ") &&
	     (word - line == 2 || !lines_digit(word[-3]))) ||
	    (word - line >= 3 && lines_begins(word - 3, "no ")))
		return true;
	while (lines_letter(*after))
		after++;
	if (*after != ':' && *after != '=')
		return false;
	after += 1 + strspn(after + 1, " ");
	return *after == '0' && !lines_digit(after[1]);
}

bool excerpt_looks_failed(const char *line)
{
	static const char *const words[] = { "error",        "fail",         "assert",
					     "panic",        "traceback",    "expected",
					     "exception",    "fatal",        "not ok",
					     "undefined",    "mismatch",     "segmentation fault",
					     "\xe2\x9c\x97", "\xe2\x9c\x95", "\xe2\x9c\x96" };

	if (!line[0] || !line[1] || passed(line))
		return false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		const char *at = line;

		for (; (at = lines_find(at, words[i])); at++)
			if (!denied(line, at))
				return true;
	}
	return false;
}

static const char *next_line(const struct excerpt *e, const char *at)
{
	const char *newline = memchr(at, '\n', (size_t)(e->end - at));

	return newline ? newline + 1 : e->end;
}

/* Returns the start of the line that ends before `at`. */
static const char *previous_line(const struct excerpt *e, const char *at)
{
	const char *newline = memrchr(e->start, '\n', (size_t)(at - 1 - e->start));

	return newline ? newline + 1 : e->start;
}

/* Cleans the line between the two pointers. Returns the bytes it needs in the excerpt. */
static size_t clean(const struct excerpt *e, const char *from, const char *to, char *out)
{
	const char *at = from;
	struct lines_line line = { .text = from };
	bool cut = false;
	size_t size;

	lines_next(&at, to, &line);
	size = lines_clean(&line, out, e->line_max + 1, &cut);
	if (cut)
		memcpy(out + size, CUT, sizeof CUT);
	return size + (cut ? sizeof CUT - 1 : 0) + LINE_EXTRA;
}

/* Reserves room for the line, if there is enough. */
static bool reserve(struct excerpt *e, size_t *room, const char *from, const char *to)
{
	char line[EXCERPT_LINE_MAX + sizeof CUT];
	size_t cost = clean(e, from, to, line);

	if (cost > *room || cost > e->left)
		return false;
	*room -= cost;
	e->left -= cost;
	return true;
}

/* Moves *edge forward to the limit, or as far as the room and the line count allow. */
static void forward(struct excerpt *e, const char **edge, const char *limit, size_t room,
		    size_t lines)
{
	while (*edge < limit && lines-- > 0) {
		const char *next = next_line(e, *edge);

		if (!reserve(e, &room, *edge, next))
			return;
		*edge = next;
	}
}

static void backward(struct excerpt *e, const char **edge, const char *limit, size_t room,
		     size_t lines)
{
	while (*edge > limit && lines-- > 0) {
		const char *previous = previous_line(e, *edge);

		if (!reserve(e, &room, previous, *edge))
			return;
		*edge = previous;
	}
}

/* Finds the starts of the first and the last line that look like failures. */
static void find_failures(const struct excerpt *e, const char **ret_first, const char **ret_last)
{
	char line[EXCERPT_LINE_MAX + sizeof CUT];

	for (const char *at = e->start; at < e->end;) {
		const char *next = next_line(e, at);

		clean(e, at, next, line);
		if (excerpt_looks_failed(line)) {
			*ret_first = *ret_first ? *ret_first : at;
			*ret_last = at;
		}
		at = next;
	}
}

/*
 * The pieces grow towards each other; then the tail grows to the end, then the head to the start.
 */
static void choose(struct excerpt *e)
{
	const char *first = NULL;
	const char *last = NULL;
	size_t half = e->left / 2;

	find_failures(e, &first, &last);
	e->head = e->head_end = first ? first : e->start;
	e->tail = e->tail_end = last ? last : e->end;
	if (first)
		backward(e, &e->head, e->start, half / 4, LINES_BEFORE);
	if (last)
		forward(e, &e->tail_end, e->end, half / 2, LINES_AFTER);
	forward(e, &e->head_end, e->tail, e->left / 2, SIZE_MAX);
	backward(e, &e->tail, e->head_end, e->left, SIZE_MAX);
	if (e->tail != e->head_end)
		return;
	forward(e, &e->tail_end, e->end, e->left, SIZE_MAX);
	backward(e, &e->head, e->start, e->left, SIZE_MAX);
}

static void add_piece(struct buffer *out, const struct excerpt *e, const char *from, const char *to)
{
	char line[EXCERPT_LINE_MAX + sizeof CUT];

	while (from < to) {
		const char *next = next_line(e, from);

		clean(e, from, next, line);
		buffer_add_text(out, "> ");
		buffer_add_text(out, line);
		buffer_add_text(out, "\n");
		from = next;
	}
}

static void add_mark(struct buffer *out, const struct excerpt *e, const char *from, const char *to)
{
	size_t count = 0;
	char mark[MARK_MAX];

	for (; from < to; from = next_line(e, from))
		count++;
	if (count == 0)
		return;
	snprintf(mark, sizeof mark, "[... %zu line%s left out ...]\n", count,
		 count == 1 ? "" : "s");
	buffer_add_text(out, mark);
}

void excerpt_make(struct buffer *out, const char *output, size_t size, size_t max)
{
	struct excerpt e = { .start = output, .end = output + size };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(max);

	e.left = max > (size_t)3 * MARK_MAX ? max - (size_t)3 * MARK_MAX : 0;
	e.line_max = e.left / 8 < EXCERPT_LINE_MAX ? e.left / 8 : EXCERPT_LINE_MAX;
	choose(&e);
	add_mark(&text, &e, e.start, e.head);
	add_piece(&text, &e, e.head, e.head_end);
	add_mark(&text, &e, e.head_end, e.tail);
	add_piece(&text, &e, e.tail, e.tail_end);
	add_mark(&text, &e, e.tail_end, e.end);
	buffer_add(out, buffer_text(&text), text.used);
}

void excerpt_head(struct buffer *out, const char *text, size_t size, size_t max)
{
	struct excerpt e = { .start = text, .end = text + size, .line_max = EXCERPT_LINE_MAX };
	size_t room = max > MARK_MAX ? max - MARK_MAX : 0;

	e.head = e.head_end = e.start;
	e.left = room;
	forward(&e, &e.head_end, e.end, room, SIZE_MAX);
	add_piece(out, &e, e.head, e.head_end);
	add_mark(out, &e, e.head_end, e.end);
}

/* Is this the end of every failure, which says nothing about this one? That is what make reports,
 * "make: *** [Makefile:2: check] Error 1", and what `node --test` counts after "# fail 2". */
static bool is_trailer(const char *line)
{
	static const char *const counts[] = { "# cancelled 0", "# skipped 0", "# todo 0",
					      "# duration_ms " };

	if (strncmp(line, "make", 4) == 0 && strstr(line, ": *** "))
		return true;
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		if (strncmp(line, counts[i], strlen(counts[i])) == 0)
			return true;
	return false;
}

static size_t last_line(const char *output, size_t size, bool trailers, char *out, size_t room)
{
	const char *end = output + size;

	while (end > output) {
		const char *before = memrchr(output, '\n', (size_t)(end - output));
		const char *start = before ? before + 1 : output;
		struct lines_line line;

		if (lines_next(&start, end, &line) &&
		    lines_clean(&line, out, room, NULL) > strspn(out, " ") &&
		    (trailers || !is_trailer(out)))
			return strlen(out);
		end = before ? before : output;
	}
	out[0] = '\0';
	return 0;
}

/* Is there a letter, of any script? */
static bool has_word(const char *line)
{
	while (*line && !lines_letter(*line) && !((unsigned char)*line & 0x80))
		line++;
	return *line;
}

size_t excerpt_first_line(const char *excerpt, char *out, size_t room)
{
	const char *end = excerpt + strlen(excerpt);
	struct lines_line line;

	while (lines_next(&excerpt, end, &line)) {
		if (line.size < 2 || strncmp(line.text, "> ", 2) != 0)
			continue; /* our own line about a gap */
		line.text += 2;
		line.size -= 2;
		if (lines_clean(&line, out, room, NULL) && has_word(out))
			return strlen(out);
	}
	out[0] = '\0';
	return 0;
}

size_t excerpt_last_line(const char *output, size_t size, char *out, size_t room)
{
	size_t used = last_line(output, size, false, out, room);

	return used ? used : last_line(output, size, true, out, room);
}
