/* Task lists in JSON: prd.json, beads and issues of GitHub. */
#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "worklist/worklist_build.h"
#include "worklist/worklist_place.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1 << 20 };

/* Returns a text or a number as text, or NULL. The caller frees it. */
static char *word_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value)  ? mem_format("%lld", (long long)json_integer_value(value))
	       : json_is_string(value) ? mem_dup(json_string_value(value))
				       : NULL;
}

static void add_section(struct buffer *text, const char *title, const char *content)
{
	if (content && *content)
		buffer_printf(text, "%s%s%s%s", text->used ? "\n\n" : "", title, *title ? "\n" : "",
			      content);
}

/* Adds a list of texts as lines. */
static void add_points(struct buffer *text, const char *title, const json_t *points)
{
	AUTO_BUFFER struct buffer lines = BUFFER_INIT(TEXT_BYTES);
	size_t index;
	const json_t *point;

	json_array_foreach(points, index, point)
	{
		if (json_is_string(point))
			buffer_printf(&lines, "%s- %s", lines.used ? "\n" : "",
				      json_string_value(point));
	}
	add_section(text, title, buffer_text(&lines));
}

/* Begins an item with the title of an object; *ret_item is NULL if the object has none, and is left
 * out. Returns 0, or -1 with err set. */
static int begin(struct worklist_build *build, const json_t *object, size_t line,
		 struct worklist_item **ret_item)
{
	const char *title = jsonget_string(object, "title");

	*ret_item = NULL;
	if (!title || !*title) {
		worklist_build_note(build, line, "an entry without a title: left out");
		return 0;
	}
	*ret_item = worklist_build_item(build, line);
	if (!*ret_item)
		return -1;
	worklist_build_title(*ret_item, title, strlen(title));
	return 0;
}

/* A part of the prompt. */
struct section {
	const char *title, *key;
	bool points; /* a list of texts */
};

/* Begins an item like begin(), with its id and a prompt of these sections. */
static int begin_with_text(struct worklist_build *build, const json_t *object, size_t line,
			   const struct section *sections, struct worklist_item **ret_item)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TEXT_BYTES);
	AUTO_FREE char *id = word_of(object, "id");

	if (begin(build, object, line, ret_item) < 0)
		return -1;
	if (!*ret_item)
		return 0;
	worklist_build_id(build, *ret_item, id);
	for (const struct section *at = sections; at->key; at++)
		if (at->points)
			add_points(&text, at->title, json_object_get(object, at->key));
		else
			add_section(&text, at->title, jsonget_string(object, at->key));
	worklist_build_prompt(build, *ret_item, buffer_text(&text));
	return 0;
}

static void add_depends(struct worklist_item *item, const json_t *list)
{
	size_t index;
	const json_t *value;

	json_array_foreach(list, index, value)
	{
		if (json_is_string(value))
			list_add(&item->depends, json_string_value(value));
		else if (json_is_integer(value))
			list_printf(&item->depends, "%lld", (long long)json_integer_value(value));
	}
}

/* The member that says whether an entry is done: its values, and the whole member. */
struct member {
	const char *key, *done, *open, *inserted;
};

static const struct member passes = { "passes", "true", "false", "\"passes\": true, " };
static const struct member status = { "status", "\"closed\"", "\"open\"",
				      "\"status\": \"closed\", " };

/* Adds the place of the member's value, or where the member can be inserted. */
static void add_mark(struct worklist_build *build, struct worklist_item *item,
		     const struct worklist_place *object, const struct member *member)
{
	struct worklist_mark mark = {
		.at = object->at + 1, .set = item->done, .done = member->inserted, .open = ""
	};
	struct worklist_place value;

	if (worklist_place_member(build->bytes, object, member->key, &value))
		mark = (struct worklist_mark){ .at = value.at,
					       .size = value.size,
					       .set = item->done,
					       .done = member->done,
					       .open = member->open };
	worklist_build_mark(item, &mark);
}

/* ---- prd.json ---- */

static int read_story(struct worklist_build *build, const json_t *story,
		      const struct worklist_place *place, size_t line)
{
	static const struct section sections[] = {
		{ "", "description", false },
		{ "Acceptance criteria:", "acceptanceCriteria", true },
		{ "Notes:", "notes", false },
		{ 0 },
	};
	struct worklist_item *item;

	if (begin_with_text(build, story, line, sections, &item) < 0)
		return -1;
	if (!item)
		return 0;
	add_depends(item, json_object_get(story, "dependsOn"));
	item->priority = jsonget_number(story, "priority");
	item->done = jsonget_flag(story, "passes");
	add_mark(build, item, place, &passes);
	return 0;
}

/* Reads the entries of an array with one of the functions here. */
static int read_entries(struct worklist_build *build, const json_t *array,
			const struct worklist_place *place,
			int (*read)(struct worklist_build *build, const json_t *entry,
				    const struct worklist_place *place, size_t line))
{
	struct worklist_place_walk walk = worklist_place_begin(build->bytes, place);
	struct worklist_place at;
	size_t index, line;
	const json_t *entry;
	int result = 0;

	json_array_foreach(array, index, entry)
	{
		if (result < 0 || !worklist_place_next(&walk, &at, &line))
			break;
		if (json_is_object(entry))
			result = read(build, entry, &at, line);
		else
			worklist_build_note(build, line, "not an object: left out");
	}
	return result;
}

int worklist_prd_read(struct worklist_build *build, const json_t *root)
{
	struct worklist_place all = worklist_place_whole(build->bytes);
	struct worklist_place list;

	if (!worklist_place_member(build->bytes, &all, "userStories", &list))
		return error_with(build->err, ERROR_INVALID, "'%s' has no userStories",
				  build->path);
	return read_entries(build, json_object_get(root, "userStories"), &list, read_story);
}

/* ---- issues of GitHub ---- */

static int read_issue(struct worklist_build *build, const json_t *issue,
		      const struct worklist_place *place, size_t line)
{
	const char *body = jsonget_string(issue, "body");
	AUTO_FREE char *id = NULL;
	struct worklist_item *item;

	(void)place; /* an export is not written back */
	if (!json_is_integer(json_object_get(issue, "number"))) {
		worklist_build_note(build, line, "an entry without a number: left out");
		return 0;
	}
	if (begin(build, issue, line, &item) < 0)
		return -1;
	if (!item)
		return 0;
	item->number = (size_t)jsonget_number(issue, "number");
	id = mem_format("issue-%zu", item->number);
	worklist_build_id(build, item, id);
	worklist_build_prompt(build, item, body);
	worklist_build_references(item, body ? body : "");
	item->done = strcasecmp(jsonget_text(issue, "state"), "closed") == 0;
	return 0;
}

int worklist_github_read(struct worklist_build *build, const json_t *root)
{
	struct worklist_place all = worklist_place_whole(build->bytes);

	return read_entries(build, root, &all, read_issue);
}

/* ---- beads ---- */

/* Only these keep an issue from being started. */
static void add_blockers(struct worklist_item *item, const json_t *issue)
{
	size_t index;
	const json_t *dependency;

	json_array_foreach(json_object_get(issue, "dependencies"), index, dependency)
	{
		const char *on = jsonget_string(dependency, "depends_on_id");

		if (on && strcmp(jsonget_text(dependency, "type"), "blocks") == 0)
			list_add(&item->depends, on);
	}
}

static int read_bead(struct worklist_build *build, const json_t *issue,
		     const struct worklist_place *place, size_t line)
{
	static const struct section sections[] = {
		{ "", "description", false },
		{ "Design:", "design", false },
		{ "Acceptance criteria:", "acceptance_criteria", false },
		{ "Notes:", "notes", false },
		{ 0 },
	};
	struct worklist_item *item;

	if (begin_with_text(build, issue, line, sections, &item) < 0)
		return -1;
	if (!item)
		return 0;
	add_blockers(item, issue);
	item->priority = jsonget_number(issue, "priority");
	item->done = strcmp(jsonget_text(issue, "status"), "closed") == 0;
	add_mark(build, item, place, &status);
	return 0;
}

static int read_bead_line(struct worklist_build *build, const char *at, size_t size, size_t line)
{
	const struct worklist_place place = {
		(size_t)(at - build->bytes) + strspn(at, " \t\xef\xbb\xbf"), size
	};
	json_error_t why;
	json_t *issue;
	int result = 0;

	if (strspn(at, " \t\r") >= size)
		return 0;
	issue = json_loadb(build->bytes + place.at, size - (place.at - (size_t)(at - build->bytes)),
			   0, &why);
	if (!json_is_object(issue))
		worklist_build_note(build, line, "invalid JSON: left out");
	else if (strcmp(jsonget_text(issue, "issue_type"), "epic") == 0)
		worklist_build_note(build, line, "an epic: its own issues are the tasks");
	else if (strcmp(jsonget_text(issue, "status"), "tombstone") != 0)
		result = read_bead(build, issue, &place, line);
	json_decref(issue);
	return result;
}

/* An epic or a deleted issue blocks nothing. */
static void drop_unknown(struct worklist_build *build)
{
	for (size_t i = build->first; i < build->list->count; i++) {
		struct worklist_item *item = &build->list->items[i];
		struct list known = { 0 };

		for (size_t k = 0; k < item->depends.count; k++)
			if (worklist_model_find(build->list, item->depends.items[k]))
				list_add(&known, item->depends.items[k]);
			else
				worklist_build_note(
					build, item->line,
					"'%s' depends on '%s', which is not a task: ignored",
					item->id, item->depends.items[k]);
		list_release(&item->depends);
		item->depends = known;
	}
}

int worklist_beads_read(struct worklist_build *build)
{
	const char *at = build->bytes;
	size_t line = 1;
	int result = 0;

	while (*at && result == 0) {
		size_t size = strcspn(at, "\n");

		result = read_bead_line(build, at, size, line++);
		at += size + (at[size] == '\n');
	}
	if (result == 0)
		drop_unknown(build);
	return result;
}
