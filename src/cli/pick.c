/* Choosing the parts of a draft: see pick.h. */
#include "cli/pick.h"

#include "cli/view/changes_text.h"
#include "cli/view/color.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PART = 1 << 16 }; /* of a line, printed at once */

/* An answer that also counts for what follows. */
enum standing { ASK, ALL, NONE };

/* The parts that are asked about. */
enum part { WHOLE_FILE, MODE, HUNK, SPLITTABLE_HUNK };

static const struct {
	const char *word, *letters;
} parts[] = {
	[WHOLE_FILE] = { "file", "ynq?" },
	[MODE] = { "mode change", "ynqad?" },
	[HUNK] = { "hunk", "ynqad?" },
	[SPLITTABLE_HUNK] = { "hunk", "ynqads?" },
};

/* Precedes the choice of a file whose mode is left (snapshot/undo/hunks.h). */
#define OLD_MODE "m"

struct picking {
	struct pick *pick;
	const struct apply_changes_item *item;
	struct buffer choice; /* of the current file: a character for each run so far */
	enum standing file;   /* for the rest of the file */
	bool quit;            /* nothing more is taken */
	size_t part, parts;   /* for "(2/5)" */
};

/* ---- printing ---- */

/* Prints a line of a file; control characters become \xNN, but tabs and backslashes stay. */
static void print_safely(const char *text)
{
	while (*text) {
		AUTO_BUFFER struct buffer part = BUFFER_INIT(4 * MOST_PART);
		size_t size = strcspn(text, "\t\\");

		size = text_first(text, size, MOST_PART);
		text_escape_bytes(&part, text, size);
		fputs(buffer_text(&part), stdout);
		text += size;
		for (; *text == '\t' || *text == '\\'; text++)
			putchar(*text);
	}
}

static void print_line(const char *line)
{
	enum color paint = *line == '+' ? COLOR_GREEN : *line == '-' ? COLOR_RED : COLOR_PLAIN;

	fputs(color_on(paint), stdout);
	print_safely(line);
	puts(color_off(paint));
}

static bool is_change(const json_t *line)
{
	const char *text = json_string_value(line);

	return text && (*text == '+' || *text == '-');
}

/* Prints a hunk, or with `only` not negative only that run and the lines around it. The header has
 * the line numbers of the whole hunk. */
static void print_hunk(const json_t *hunk, long only)
{
	const json_t *lines = json_object_get(hunk, "lines");
	long run = -1;
	bool inside = false;
	size_t index;
	json_t *line;

	if (only < 0) {
		print_safely(jsonget_text(hunk, "header"));
		putchar('\n');
	}
	json_array_foreach(lines, index, line)
	{
		const char *text = json_string_value(line);

		if (is_change(line) && !inside)
			run++;
		inside = is_change(line) || (inside && *text == '\\');
		if (only < 0 || run == only || (!inside && run + 1 == only))
			print_line(text);
	}
}

/* Counts the runs of changed lines; see snapshot/undo/hunks.h. */
static size_t count_runs(const json_t *hunk)
{
	const json_t *lines = json_object_get(hunk, "lines");
	size_t runs = 0;
	bool inside = false;
	size_t index;
	json_t *line;

	json_array_foreach(lines, index, line)
	{
		const char *text = json_string_value(line);

		runs += is_change(line) && !inside;
		inside = is_change(line) || (inside && text && *text == '\\');
	}
	return runs;
}

static void print_help(enum part part)
{
	const char *what = parts[part].word;

	printf("y - apply this %s\nn - do not apply this %s\n", what, what);
	puts("q - quit; apply neither this nor anything after it");
	if (strchr(parts[part].letters, 'a'))
		printf("a - apply this %s and everything that follows in the file\n"
		       "d - apply neither this %s nor anything that follows in the file\n",
		       what, what);
	if (part == SPLITTABLE_HUNK)
		puts("s - split this hunk into smaller ones");
	puts("? - print this help");
}

/* ---- asking ---- */

/* Returns one of the letters that are possible. The end of the input quits. */
static char ask(const struct picking *at, enum part part)
{
	const char *letters = parts[part].letters;
	char answer[16];

	for (;;) {
		const char *end;

		printf("%s(%zu/%zu) Apply this %s [", color_on(COLOR_BOLD), at->part, at->parts,
		       parts[part].word);
		for (const char *letter = letters; *letter; letter++)
			printf("%s%c", letter > letters ? "," : "", *letter);
		printf("]?%s ", color_off(COLOR_BOLD));
		fflush(stdout);
		if (!fgets(answer, sizeof answer, stdin)) {
			putchar('\n');
			return 'q';
		}
		end = strchr(answer, '\n');
		if (end == answer + 1 && *answer != '?' && strchr(letters, *answer))
			return *answer;
		for (int next; !end && (next = getchar()) != '\n' && next != EOF;)
			;
		print_help(part);
	}
}

/* Asks about a part of a file that is shown already. Returns the letter. */
static char ask_part_of(struct picking *at, enum part part)
{
	char letter = ask(at, part);

	at->quit = letter == 'q';
	if (letter == 'a' || letter == 'd')
		at->file = letter == 'a' ? ALL : NONE;
	return letter;
}

static void note(struct picking *at, bool taken, size_t runs)
{
	at->pick->taken += taken;
	while (runs-- > 0)
		buffer_add_text(&at->choice, taken ? "1" : "0");
}

/* Asks about a hunk, or about one of its runs. Returns the letter. */
static char ask_part(struct picking *at, const json_t *hunk, long only, size_t runs)
{
	char letter;

	if (at->quit || at->file != ASK) {
		note(at, !at->quit && at->file == ALL, runs);
		return 'n';
	}
	print_hunk(hunk, only);
	letter = ask_part_of(at, runs > 1 ? SPLITTABLE_HUNK : HUNK);
	if (letter != 's')
		note(at, letter == 'y' || letter == 'a', runs);
	return letter;
}

static void ask_hunk(struct picking *at, const json_t *hunk)
{
	size_t runs = count_runs(hunk);

	at->part++;
	if (ask_part(at, hunk, -1, runs) != 's')
		return;
	printf("split into %zu hunks\n", runs);
	at->parts += runs - 1;
	for (size_t i = 0; i < runs; i++) {
		at->part += i > 0;
		ask_part(at, hunk, (long)i, 1);
	}
}

static void leave(struct pick *pick, uint64_t number, const char *choice)
{
	pick->parts = mem_extend(pick->parts, pick->count, sizeof *pick->parts);
	pick->parts[pick->count++] = (struct op_draft_apply_part){ number, choice ? mem_dup(choice)
										  : NULL };
}

static bool has_mode(const struct apply_changes_item *item)
{
	return item->old_mode != item->new_mode;
}

/* Asks about the new mode of a file. Returns whether it is taken. */
static bool ask_mode(struct picking *at)
{
	char letter;

	at->part++;
	printf("old mode %04o\nnew mode %04o\n", at->item->old_mode, at->item->new_mode);
	letter = ask_part_of(at, MODE);
	at->pick->taken += letter == 'y' || letter == 'a';
	return letter == 'y' || letter == 'a';
}

static void ask_hunks(struct picking *at)
{
	const json_t *hunks = at->item->hunks;
	bool takes_mode, leaves_mode;
	const char *choice;
	size_t index;
	json_t *hunk;

	at->choice = BUFFER_INIT(SIZE_MAX / 2);
	takes_mode = has_mode(at->item) && ask_mode(at);
	leaves_mode = has_mode(at->item) && !takes_mode;
	if (leaves_mode)
		buffer_add_text(&at->choice, OLD_MODE);
	json_array_foreach(hunks, index, hunk)
	{
		ask_hunk(at, hunk);
	}
	choice = buffer_text(&at->choice);
	if (!strchr(choice, '1') && !takes_mode)
		leave(at->pick, at->item->number, NULL);
	else if (strchr(choice, '0') || leaves_mode)
		leave(at->pick, at->item->number, choice);
	buffer_release(&at->choice);
}

/* Asks about a change that is applied as a whole or not at all. */
static void ask_file(struct picking *at)
{
	size_t index;
	json_t *hunk;
	char letter;

	at->part++;
	json_array_foreach(at->item->hunks, index, hunk)
	{
		print_hunk(hunk, -1);
	}
	letter = ask(at, WHOLE_FILE);
	at->quit = letter == 'q';
	if (letter == 'y')
		at->pick->taken++;
	else
		leave(at->pick, at->item->number, NULL);
}

/* ---- the whole ---- */

static bool has_parts(const struct apply_changes_item *item)
{
	return item->status == APPLY_CHANGES_MODIFIED && json_array_size(item->hunks) > 0;
}

/* Returns whether this is the first path of a renamed file; the second one is asked about. */
static bool is_twin(const struct apply_changes *changes, size_t index)
{
	return index + 1 < changes->count &&
	       changes->items[index].number == changes->items[index + 1].number;
}

void pick_ask(const struct apply_changes *changes, struct pick *ret_pick)
{
	struct picking at = { .pick = ret_pick };

	*ret_pick = (struct pick){ 0 };
	for (size_t i = 0; i < changes->count; i++) {
		const struct apply_changes_item *item = &changes->items[i];
		AUTO_FREE char *line = changes_text_line(item);

		if (is_twin(changes, i))
			continue;
		if (at.quit) {
			leave(ret_pick, item->number, NULL);
			continue;
		}
		at.item = item;
		at.file = ASK;
		at.part = 0;
		at.parts = has_parts(item) ? json_array_size(item->hunks) + has_mode(item) : 1;
		printf("%s%s%s\n", color_on(COLOR_BOLD), line, color_off(COLOR_BOLD));
		if (has_parts(item))
			ask_hunks(&at);
		else
			ask_file(&at);
	}
}

void pick_release(struct pick *pick)
{
	for (size_t i = 0; i < pick->count; i++)
		free(pick->parts[i].choice);
	free(pick->parts);
	*pick = (struct pick){ 0 };
}
