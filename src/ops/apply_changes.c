/* Changes that apply makes in a project: see apply_changes.h. */
#include "ops/apply_changes.h"

#include "fence/fence_hidden.h"
#include "ops/apply_pins.h"
#include "ops/apply_question.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	char letter;
} statuses[] = {
	[APPLY_CHANGES_ADDED] = { "added", 'A' },
	[APPLY_CHANGES_DELETED] = { "deleted", 'D' },
	[APPLY_CHANGES_MODIFIED] = { "modified", 'M' },
	[APPLY_CHANGES_RENAMED] = { "renamed", 'R' },
};

char apply_changes_letter(enum apply_changes_status status)
{
	return statuses[status].letter;
}

/* ---- reading ---- */

/* A word that is not in the table, such as "mode", means a file that was there before. */
static enum apply_changes_status status_of(const char *word)
{
	for (int i = 0; i < APPLY_CHANGES_STATUSES; i++)
		if (strcmp(word, statuses[i].word) == 0)
			return (enum apply_changes_status)i;
	return APPLY_CHANGES_MODIFIED;
}

static bool is_deleted(const struct apply_changes_item *item)
{
	return item->status == APPLY_CHANGES_DELETED;
}

static void read_item(const json_t *change, const json_t *pins, const struct apply_targets *targets,
		      struct apply_changes_item *item)
{
	const char *from = jsonget_string(change, "from");
	const char *pinned = apply_pins_why(pins, jsonget_text(change, "path"));
	const char *secret = fence_hidden_name(jsonget_text(change, "path"));
	bool ci = false;

	*item = (struct apply_changes_item){
		.number = (uint64_t)jsonget_number(change, "number"),
		.path = mem_dup(jsonget_text(change, "path")),
		.from = from ? mem_dup(from) : NULL,
		.status = status_of(jsonget_text(change, "status")),
		.why = apply_question_why(targets, change, &ci),
		.binary = jsonget_flag(change, "binary"),
		.added = (uint64_t)jsonget_number(change, "added"),
		.removed = (uint64_t)jsonget_number(change, "removed"),
		.bytes = (uint64_t)jsonget_number(change, "bytes"),
		.hunks = json_incref(json_object_get(change, "hunks")),
		.old_mode = (unsigned int)jsonget_number(change, "old_mode"),
		.new_mode = (unsigned int)jsonget_number(change, "new_mode"),
	};
	item->group = path_group_of(item->path, &(struct path_group_facts){
							.executed = item->why && !ci,
							.ci = item->why && ci,
							.pinned = pinned,
							.secret = secret && !is_deleted(item),
							.ignored = jsonget_flag(change, "ignored"),
							.binary = item->binary,
							.bytes = item->bytes });
	if (item->group == PATH_GROUP_PINNED)
		item->why = mem_dup(pinned);
	if (item->group == PATH_GROUP_SECRET)
		item->why = mem_dup(secret);
}

int apply_changes_read(const json_t *answer, const json_t *pins, struct apply_changes *ret_changes,
		       struct error *err)
{
	const json_t *list = json_object_get(answer, "changes");
	struct apply_targets *targets = NULL;
	struct apply_changes changes = { 0 };
	size_t index;
	json_t *change;

	if (json_object_get(answer, "obeyed") && apply_targets_new(answer, &targets, err) < 0)
		return -1;
	changes.items = mem_zero((json_array_size(list) + 1) * sizeof *changes.items);
	json_array_foreach(list, index, change)
	{
		read_item(change, pins, targets, &changes.items[changes.count++]);
	}
	apply_targets_free(targets);
	*ret_changes = changes;
	return 0;
}

void apply_changes_release(struct apply_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		free(changes->items[i].path);
		free(changes->items[i].from);
		free(changes->items[i].why);
		json_decref(changes->items[i].hunks);
	}
	free(changes->items);
	*changes = (struct apply_changes){ 0 };
}

/* ---- groups ---- */

struct apply_changes_sum apply_changes_sum(const struct apply_changes *changes,
					   enum path_group group)
{
	struct apply_changes_sum sum = { 0 };

	for (size_t i = 0; i < changes->count; i++) {
		const struct apply_changes_item *item = &changes->items[i];

		if (item->group != group)
			continue;
		sum.paths++;
		sum.added += item->added;
		sum.removed += item->removed;
		sum.bytes += item->bytes;
	}
	return sum;
}

void apply_changes_ask(const struct apply_changes *changes, enum path_group group, const char *tree,
		       struct op_question *ret_question)
{
	*ret_question = (struct op_question){ 0 };
	for (size_t i = 0; path_group_asks(group) && i < changes->count; i++) {
		const struct apply_changes_item *item = &changes->items[i];
		const struct op_item asked = { .name = item->path,
					       .where = (char *)tree,
					       .why = item->why };

		if (item->group == group)
			op_question_add(ret_question, &asked);
	}
	op_question_set(ret_question,
			group == PATH_GROUP_PINNED ? OP_QUESTION_PINNED : OP_QUESTION_EXECUTED,
			mem_format("Apply %s, %s?",
				   ret_question->count == 1 ? "this file" : "these files",
				   path_group_title(group)));
}

/* ---- JSON ---- */

json_t *apply_changes_json(const struct apply_changes *changes)
{
	json_t *list = json_array();

	for (size_t i = 0; i < changes->count; i++) {
		const struct apply_changes_item *item = &changes->items[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s*, s:s, s:b, s:I, s:I, s:I, s:s*}",
						"path", item->path, "status",
						statuses[item->status].word, "from", item->from,
						"group", path_group_name(item->group), "binary",
						item->binary, "added", (json_int_t)item->added,
						"removed", (json_int_t)item->removed, "bytes",
						(json_int_t)item->bytes, "why", item->why));
	}
	return list;
}

json_t *apply_changes_groups_json(const struct apply_changes *changes)
{
	json_t *list = json_array();

	for (int i = 0; i < PATH_GROUP_COUNT; i++) {
		struct apply_changes_sum sum = apply_changes_sum(changes, (enum path_group)i);

		if (!sum.paths)
			continue;
		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:I, s:b}", "group",
						      path_group_name((enum path_group)i), "paths",
						      (json_int_t)sum.paths, "added",
						      (json_int_t)sum.added, "removed",
						      (json_int_t)sum.removed, "bytes",
						      (json_int_t)sum.bytes, "needs_yes",
						      path_group_asks((enum path_group)i)));
	}
	return list;
}
