/* Building a list: see worklist_build.h. */
#include "worklist/worklist_build.h"

#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLUG = 40, TITLE = 1000, PROMPT_BYTES = 1 << 20 };

struct worklist_item *worklist_build_item(struct worklist_build *build, size_t line)
{
	struct worklist *list = build->list;
	struct worklist_item *item;

	if (list->count == WORKLIST_ITEMS_MAX) {
		error_with(build->err, ERROR_INVALID, "there are more than %d tasks",
			   WORKLIST_ITEMS_MAX);
		return NULL;
	}
	list->items = mem_extend(list->items, list->count, sizeof *list->items);
	item = &list->items[list->count++];
	*item = (struct worklist_item){ .file = list->files.count - 1,
					.line = line,
					.number = list->count - build->first };
	return item;
}

void worklist_build_note(struct worklist_build *build, size_t line, const char *format, ...)
{
	struct list *notes = &build->list->notes;
	char text[512];
	va_list arguments;

	if (notes->count >= WORKLIST_NOTES_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	list_printf(notes, "%s:%zu: %.*s", build->path, line,
		    (int)text_first(text, strlen(text), sizeof text - 1), text);
}

void worklist_build_title(struct worklist_item *item, const char *text, size_t size)
{
	while (size && isspace((unsigned char)*text)) {
		text++;
		size--;
	}
	while (size && isspace((unsigned char)text[size - 1]))
		size--;
	item->title = strndup(text, text_first(text, size, TITLE));
	for (char *at = item->title; *at; at++)
		if (*at == '\n' || *at == '\r' || *at == '\t')
			*at = ' ';
}

/* Writes the letters and digits of a title, with hyphens between them. */
static void make_slug(const char *title, char *ret_slug)
{
	size_t used = 0;

	for (; *title && used < SLUG; title++) {
		unsigned char letter = (unsigned char)*title;

		if (isalnum(letter) && letter < 0x80)
			ret_slug[used++] = (char)tolower(letter);
		else if (used && ret_slug[used - 1] != '-')
			ret_slug[used++] = '-';
	}
	while (used && ret_slug[used - 1] == '-')
		used--;
	ret_slug[used] = '\0';
}

static bool has_id(const struct worklist_build *build, const struct worklist_item *but,
		   const char *id)
{
	for (size_t i = build->first; i < build->list->count; i++) {
		const struct worklist_item *item = &build->list->items[i];

		if (item != but && item->id && strcmp(item->id, id) == 0)
			return true;
	}
	return false;
}

void worklist_build_id(struct worklist_build *build, struct worklist_item *item, const char *given)
{
	char slug[SLUG + 1];
	const char *wanted = given;

	if (!given || !*given) {
		make_slug(item->title, slug);
		wanted = *slug ? slug : "task";
	}
	item->id = mem_format("%.200s", wanted);
	for (size_t i = 2; has_id(build, item, item->id); i++) {
		free(item->id);
		item->id = mem_format("%.200s-%zu", wanted, i);
	}
	if (given && *given && strcmp(item->id, given) != 0)
		worklist_build_note(build, item->line,
				    "another task is called '%.200s': this one is '%s'", given,
				    item->id);
}

void worklist_build_mark(struct worklist_item *item, const struct worklist_mark *mark)
{
	item->marks = mem_extend(item->marks, item->mark_count, sizeof *item->marks);
	item->marks[item->mark_count++] = *mark;
}

void worklist_build_prompt(struct worklist_build *build, struct worklist_item *item,
			   const char *text)
{
	AUTO_BUFFER struct buffer prompt = BUFFER_INIT(PROMPT_BYTES);

	buffer_printf(&prompt, "%s\n", item->title);
	if (text && *text)
		buffer_printf(&prompt, "\n%s\n", text);
	buffer_printf(&prompt,
		      "\nThis is one task of the list %s. Do only this one, and leave the list as "
		      "it is: it is ticked when the result is verified.\n",
		      build->path);
	item->prompt = mem_dup(buffer_text(&prompt));
}

/* ---- references in prose ---- */

static bool is_id_letter(char letter)
{
	return isalnum((unsigned char)letter) || letter == '-' || letter == '_' || letter == '.';
}

/* Adds the references after a phrase: words of ids and numbers, with commas or "and" between. */
static const char *add_references(struct worklist_item *item, const char *at)
{
	for (;;) {
		size_t size = 0;

		at += strspn(at, " \t:,`*");
		if (strncasecmp(at, "and ", 4) == 0)
			at += 4 + strspn(at + 4, " \t`*");
		size = *at == '#';
		while (is_id_letter(at[size]))
			size++;
		while (size && at[size - 1] == '.') /* the end of the sentence */
			size--;
		if (!size || size > 200)
			return at;
		list_printf(&item->depends, "%.*s", (int)size, at);
		at += size;
		if (!strchr(" \t,`*", *at) || !*at)
			return at;
		/* Another one follows only after a comma or "and". */
		if (at[strspn(at, " \t`*")] != ',' &&
		    strncasecmp(at + strspn(at, " \t`*"), "and ", 4) != 0)
			return at;
	}
}

void worklist_build_references(struct worklist_item *item, const char *text)
{
	static const char *const phrases[] = { "depends on", "blocked by", "requires" };

	while (*text) {
		size_t size = 0;

		for (size_t i = 0; !size && i < sizeof phrases / sizeof *phrases; i++)
			if (strncasecmp(text, phrases[i], strlen(phrases[i])) == 0)
				size = strlen(phrases[i]);
		text = size ? add_references(item, text + size) : text + 1;
	}
}
