/* Lists of tasks: see worklist.h. */
#include "worklist/worklist.h"

#include "util/mem.h"
#include "util/text/text.h"
#include "worklist/worklist_build.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static bool is_text(const char *bytes, size_t size)
{
	uint32_t point;
	size_t step;

	for (size_t i = 0; i < size; i += step) {
		step = text_utf8(bytes + i, size - i, &point);
		if (!step || !bytes[i])
			return false;
	}
	return true;
}

static bool has_ending(const char *path, const char *ending)
{
	size_t size = strlen(path);

	return size >= strlen(ending) && strcasecmp(path + size - strlen(ending), ending) == 0;
}

static bool is_json(const char *text, size_t size)
{
	json_t *value = json_loadb(text, size, 0, NULL);

	json_decref(value);
	return value;
}

/* An empty array is a list of no issues. */
static enum worklist_format format_of_json(const json_t *root)
{
	if (json_is_array(json_object_get(root, "userStories")))
		return WORKLIST_PRD;
	return json_is_array(root) && (!json_array_size(root) ||
				       json_object_get(json_array_get(root, 0), "number"))
		       ? WORKLIST_GITHUB
		       : WORKLIST_FORMATS;
}

static int read_json(struct worklist_build *build, const json_t *root,
		     enum worklist_format *ret_format)
{
	*ret_format = format_of_json(root);
	if (*ret_format == WORKLIST_PRD)
		return worklist_prd_read(build, root);
	if (*ret_format == WORKLIST_GITHUB)
		return worklist_github_read(build, root);
	return error_with(build->err, ERROR_INVALID,
			  "'%s' is JSON, but neither a prd.json (with userStories) nor a list of "
			  "issues (gh issue list --json number,title,body,state)",
			  build->path);
}

/* Reads a text that begins like JSON; beads are one object in each line. */
static int read_objects(struct worklist_build *build, const char *start,
			enum worklist_format *ret_format)
{
	json_error_t why;
	json_t *root = json_loadb(start, strlen(start), 0, &why);
	int result;

	if (!root && *start == '{' && is_json(start, strcspn(start, "\n"))) {
		*ret_format = WORKLIST_BEADS;
		return worklist_beads_read(build);
	}
	if (!root)
		return error_with(build->err, ERROR_INVALID, "'%s' is invalid JSON: line %d: %s",
				  build->path, why.line, why.text);
	result = read_json(build, root, ret_format);
	json_decref(root);
	return result;
}

/* Chooses the reader by the name and the content. */
static int read_any(struct worklist_build *build, enum worklist_format *ret_format)
{
	const char *start = build->bytes + strspn(build->bytes, " \t\r\n\xef\xbb\xbf");

	if (has_ending(build->path, ".yml") || has_ending(build->path, ".yaml")) {
		*ret_format = WORKLIST_YAML;
		return worklist_yaml_read(build);
	}
	if (has_ending(build->path, ".jsonl")) {
		*ret_format = WORKLIST_BEADS;
		return worklist_beads_read(build);
	}
	if (*start == '{' || *start == '[')
		return read_objects(build, start, ret_format);
	if (worklist_plan_is(build->bytes, build->size)) {
		*ret_format = WORKLIST_PLAN;
		return worklist_plan_read(build);
	}
	*ret_format = WORKLIST_MARKDOWN;
	return worklist_markdown_read(build);
}

int worklist_add(struct worklist *list, const char *path, const char *bytes, size_t size,
		 struct error *err)
{
	struct worklist_build build = { .list = list,
					.path = path,
					.bytes = bytes,
					.size = size,
					.first = list->count,
					.err = err };
	enum worklist_format format;

	if (size > WORKLIST_BYTES_MAX)
		return error_with(err, ERROR_INVALID, "'%s' is larger than %d MiB", path,
				  WORKLIST_BYTES_MAX >> 20);
	if (!is_text(bytes, size))
		return error_with(err, ERROR_INVALID, "'%s' is not a text in UTF-8", path);

	AUTO_FREE char *text = strndup(bytes, size);

	build.bytes = text;
	list_add(&list->files, path);
	list->formats = mem_extend(list->formats, list->files.count - 1, sizeof *list->formats);
	list->formats[list->files.count - 1] = WORKLIST_MARKDOWN;
	if (read_any(&build, &format) < 0)
		return -1;
	list->formats[list->files.count - 1] = format;
	if (list->count == build.first)
		worklist_build_note(&build, 1, "no task was found (read as %s)",
				    worklist_model_format(format));
	return 0;
}

/* ---- dependencies ---- */

/* Does the format have dependencies in prose, where a word may be no reference? */
static bool is_prose(enum worklist_format format)
{
	return format == WORKLIST_MARKDOWN || format == WORKLIST_GITHUB;
}

/* Returns the item that a reference of another one means, or NULL. */
static const struct worklist_item *resolve(const struct worklist *list,
					   const struct worklist_item *of, const char *reference)
{
	char *end = NULL;
	unsigned long number = *reference == '#' ? strtoul(reference + 1, &end, 10) : 0;

	for (size_t i = 0; end && end > reference + 1 && !*end && i < list->count; i++)
		if (list->items[i].file == of->file && list->items[i].number == number)
			return &list->items[i];
	return worklist_model_find(list, reference);
}

/* Is this a number or an id such as T1, and no word of a sentence? */
static bool is_reference(const char *text)
{
	size_t letters = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_");
	size_t digits = strspn(text + letters, "0123456789.");

	return *text == '#' || (letters && digits && !text[letters + digits]);
}

static int resolve_all(struct worklist *list, struct worklist_item *item, struct error *err)
{
	bool prose = is_prose(list->formats[item->file]);
	const char *file = list->files.items[item->file];
	struct list ids = { 0 };

	for (size_t i = 0; i < item->depends.count; i++) {
		const char *reference = item->depends.items[i];
		const struct worklist_item *found = resolve(list, item, reference);

		if (found && found != item && !list_has(&ids, found->id)) {
			list_add(&ids, found->id);
		} else if (!found && !prose) {
			list_release(&ids);
			return error_with(
				err, ERROR_INVALID,
				"%s:%zu: '%s' depends on '%.200s', which is not in the list", file,
				item->line, item->id, reference);
		} else if (!found && is_reference(reference) &&
			   list->notes.count < WORKLIST_NOTES_MAX) {
			list_printf(
				&list->notes,
				"%s:%zu: '%s' depends on %.200s, which is not in the list: ignored",
				file, item->line, item->id, reference);
		}
	}
	list_release(&item->depends);
	item->depends = ids;
	return 0;
}

static int refuse_duplicates(const struct worklist *list, struct error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct worklist_item *item = &list->items[i];
		const struct worklist_item *first = worklist_model_find(list, item->id);

		if (first != item)
			return error_with(err, ERROR_INVALID,
					  "%s:%zu and %s:%zu have the same id '%s'",
					  list->files.items[first->file], first->line,
					  list->files.items[item->file], item->line, item->id);
	}
	return 0;
}

/* Follows the dependencies, deepest first, without recursion: the list may be one long chain. */
enum visit { VISIT_NEW, VISIT_OPEN, VISIT_DONE };

struct walk {
	const struct worklist *list;
	unsigned char *visited;
	size_t *path, *next; /* the items on the way, and which dependency of each is next */
	size_t depth;
};

static int name_circle(const struct walk *walk, size_t first, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1024);
	size_t start = 0;

	while (walk->path[start] != first)
		start++;
	for (size_t i = start; i < walk->depth; i++)
		buffer_printf(&text, "%s -> ", walk->list->items[walk->path[i]].id);
	buffer_add_text(&text, walk->list->items[first].id);
	return error_with(err, ERROR_INVALID, "the dependencies form a circle: %.1000s",
			  buffer_text(&text));
}

static int walk_from(struct walk *walk, size_t first, struct error *err)
{
	walk->depth = 0;
	for (size_t at = first;;) {
		if (walk->visited[at] == VISIT_NEW) {
			walk->visited[at] = VISIT_OPEN;
			walk->path[walk->depth] = at;
			walk->next[walk->depth++] = 0;
		}

		const struct worklist_item *item = &walk->list->items[at];
		size_t *next = &walk->next[walk->depth - 1];

		if (*next < item->depends.count) {
			const struct worklist_item *below =
				worklist_model_find(walk->list, item->depends.items[(*next)++]);
			size_t index = (size_t)(below - walk->list->items);

			if (walk->visited[index] == VISIT_OPEN)
				return name_circle(walk, index, err);
			if (walk->visited[index] == VISIT_NEW)
				at = index;
			continue;
		}
		walk->visited[at] = VISIT_DONE;
		if (--walk->depth == 0)
			return 0;
		at = walk->path[walk->depth - 1];
	}
}

static int refuse_circles(const struct worklist *list, struct error *err)
{
	struct walk walk = { .list = list,
			     .visited = mem_zero(list->count + 1),
			     .path = mem_zero((list->count + 1) * sizeof *walk.path),
			     .next = mem_zero((list->count + 1) * sizeof *walk.next) };
	int result = 0;

	for (size_t i = 0; result == 0 && i < list->count; i++)
		if (walk.visited[i] == VISIT_NEW)
			result = walk_from(&walk, i, err);
	free(walk.visited);
	free(walk.path);
	free(walk.next);
	return result;
}

int worklist_finish(struct worklist *list, struct error *err)
{
	if (refuse_duplicates(list, err) < 0)
		return -1;
	for (size_t i = 0; i < list->count; i++)
		if (resolve_all(list, &list->items[i], err) < 0)
			return -1;
	return refuse_circles(list, err);
}

/* ---- ticks ---- */

static int by_place(const void *a, const void *b)
{
	const struct worklist_mark *left = a;
	const struct worklist_mark *right = b;

	return (left->at > right->at) - (left->at < right->at);
}

/* The places of all items that are to change. */
struct marks {
	struct worklist_mark *items;
	size_t count;
};

static void replace_marks(struct marks *marks, bool done, const char *bytes, size_t size,
			  struct buffer *out)
{
	size_t at = 0;

	if (marks->count)
		qsort(marks->items, marks->count, sizeof *marks->items, by_place);
	for (size_t i = 0; i < marks->count; i++) {
		const struct worklist_mark *mark = &marks->items[i];

		if (mark->set == done || mark->at < at)
			continue;
		buffer_add(out, bytes + at, mark->at - at);
		buffer_add_text(out, done ? mark->done : mark->open);
		at = mark->at + mark->size;
	}
	buffer_add(out, bytes + at, size - at);
}

/* Adds the places of one item. Returns whether there are any. */
static bool take_marks(const struct worklist_item *item, bool done, struct marks *marks)
{
	if (item->done == done)
		return false;
	for (size_t i = 0; i < item->mark_count; i++) {
		marks->items = mem_extend(marks->items, marks->count, sizeof *marks->items);
		marks->items[marks->count++] = item->marks[i];
	}
	return item->mark_count > 0;
}

/* An id such as T1 may be that of another task by now. */
static const struct worklist_item *find_task(const struct worklist *list,
					     const struct worklist_task *task,
					     struct list *problems)
{
	const struct worklist_item *item = worklist_model_find(list, task->id);

	if (item && (!task->title || strcmp(item->title, task->title) == 0))
		return item;
	if (item)
		list_printf(problems, "'%s' is another task now: '%.200s'", task->id, item->title);
	else
		list_printf(problems, "'%s' has no task '%s' any more", list->files.items[0],
			    task->id);
	return NULL;
}

long worklist_tick_all(const char *path, const char *bytes, size_t size,
		       const struct worklist_task *tasks, size_t count, bool done,
		       struct buffer *ret_bytes, struct list *problems, struct error *err)
{
	struct worklist list = { 0 };
	struct marks marks = { 0 };
	long ticked = worklist_add(&list, path, bytes, size, err);

	for (size_t i = 0; ticked >= 0 && i < count; i++) {
		const struct worklist_item *item = find_task(&list, &tasks[i], problems);

		ticked += item && take_marks(item, done, &marks);
	}
	if (ticked > 0)
		replace_marks(&marks, done, bytes, size, ret_bytes);
	if (ticked > 0 && buffer_overflowed(ret_bytes))
		ticked = error_with(err, ERROR_INVALID, "'%s' is too large", path);
	free(marks.items);
	worklist_model_release(&list);
	return ticked;
}

int worklist_tick(const char *path, const char *bytes, size_t size, const char *id, bool done,
		  struct buffer *ret_bytes, struct error *err)
{
	const struct worklist_task task = { .id = id };
	struct list problems = { 0 };
	int result = (int)worklist_tick_all(path, bytes, size, &task, 1, done, ret_bytes, &problems,
					    err);

	if (problems.count)
		result = error_with(err, ERROR_NOT_FOUND, "%s", problems.items[0]);
	list_release(&problems);
	return result;
}

/* ---- JSON ---- */

static json_t *list_json(const struct list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

json_t *worklist_item_json(const struct worklist *list, const struct worklist_item *item)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:b, s:s, s:I}", "id",
				 item->id, "title", item->title, "prompt", item->prompt, "checks",
				 list_json(&item->checks), "pins", list_json(&item->pins), "files",
				 list_json(&item->files), "depends", list_json(&item->depends),
				 "priority", (json_int_t)item->priority, "done", item->done, "list",
				 list->files.items[item->file], "line", (json_int_t)item->line);

	if (item->budget_nusd)
		json_object_set_new(json, "limit_nusd", json_integer(item->budget_nusd));
	if (item->agent)
		json_object_set_new(json, "agent", json_string(item->agent));
	if (item->model)
		json_object_set_new(json, "model", json_string(item->model));
	return json;
}
