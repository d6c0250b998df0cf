/* Our own list of tasks, in YAML. */
#include "config/yaml.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "worklist/worklist_build.h"

#include <stdlib.h>
#include <string.h>

enum { NUSD_PER_THOUSANDTH = 1000000 };

/* The kind of value that a key sets. */
enum kind { TEXT, LIST, NUMBER, MONEY, FLAG };

static const struct key {
	const char *name;
	enum kind kind;
	size_t offset;
} keys[] = {
	{ "title", TEXT, offsetof(struct worklist_item, title) },
	{ "prompt", TEXT, offsetof(struct worklist_item, prompt) },
	{ "agent", TEXT, offsetof(struct worklist_item, agent) },
	{ "model", TEXT, offsetof(struct worklist_item, model) },
	{ "checks", LIST, offsetof(struct worklist_item, checks) },
	{ "pins", LIST, offsetof(struct worklist_item, pins) },
	{ "depends", LIST, offsetof(struct worklist_item, depends) },
	{ "files", LIST, offsetof(struct worklist_item, files) },
	{ "priority", NUMBER, offsetof(struct worklist_item, priority) },
	{ "budget", MONEY, offsetof(struct worklist_item, budget_nusd) },
	{ "done", FLAG, offsetof(struct worklist_item, done) },
	/* as other tools call them */
	{ "description", TEXT, offsetof(struct worklist_item, prompt) },
	{ "completed", FLAG, offsetof(struct worklist_item, done) },
};

static int refuse(struct worklist_build *build, struct problem_position at, const char *key,
		  const char *what)
{
	return error_with(build->err, ERROR_INVALID, "%s:%u: %s must be %s", build->path, at.line,
			  key, what);
}

/* A list may also be one text. */
static int set_list(struct worklist_build *build, const struct yaml_node *node,
		    struct list *ret_list)
{
	if (node->kind == YAML_SCALAR) {
		list_add(ret_list, node->text);
		return 0;
	}
	for (size_t i = 0; node->kind == YAML_LIST && i < node->count; i++) {
		if (node->items[i]->kind != YAML_SCALAR)
			return refuse(build, node->items[i]->at, node->key, "a list of texts");
		list_add(ret_list, node->items[i]->text);
	}
	return node->kind == YAML_LIST ? 0 : refuse(build, node->at, node->key, "a list of texts");
}

static int set_number(struct worklist_build *build, const struct yaml_node *node,
		      int64_t *ret_number)
{
	char *end;
	long long number = strtoll(node->text, &end, 10);

	if (!*node->text || *end || number < -1000000 || number > 1000000)
		return refuse(build, node->at, node->key, "a whole number");
	*ret_number = number;
	return 0;
}

static int set_money(struct worklist_build *build, const struct yaml_node *node, int64_t *ret_nusd)
{
	uint64_t thousandths;

	if (text_thousandths(node->text, &thousandths) < 0 || thousandths > 1000000000)
		return refuse(build, node->at, node->key, "an amount in US$, such as 2.50");
	*ret_nusd = (int64_t)thousandths * NUSD_PER_THOUSANDTH;
	return 0;
}

static int set_flag(struct worklist_build *build, const struct yaml_node *node, bool *ret_flag)
{
	if (strcmp(node->text, "true") != 0 && strcmp(node->text, "false") != 0)
		return refuse(build, node->at, node->key, "true or false");
	*ret_flag = strcmp(node->text, "true") == 0;
	return 0;
}

static void set_text(const struct yaml_node *node, char **ret_text)
{
	free(*ret_text);
	*ret_text = mem_dup(node->text);
}

static int set_value(struct worklist_build *build, struct worklist_item *item,
		     const struct key *key, const struct yaml_node *node)
{
	char *field = (char *)item + key->offset;

	if (key->kind == LIST)
		return set_list(build, node, (struct list *)(void *)field);
	if (node->kind != YAML_SCALAR)
		return refuse(build, node->at, node->key, "a text");
	if (key->kind == NUMBER)
		return set_number(build, node, (int64_t *)(void *)field);
	if (key->kind == MONEY)
		return set_money(build, node, (int64_t *)(void *)field);
	if (key->kind == FLAG)
		return set_flag(build, node, (bool *)(void *)field);
	set_text(node, (char **)(void *)field);
	return 0;
}

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static const struct yaml_node *member(const struct yaml_node *map, const char *name)
{
	for (size_t i = 0; i < map->count; i++)
		if (map->items[i]->key && strcmp(map->items[i]->key, name) == 0)
			return map->items[i];
	return NULL;
}

/* ---- marks ---- */

/* Returns the offset of a position, usually one after the last. Columns are characters. */
static size_t offset_of(struct worklist_build *build, struct problem_position at)
{
	const char *text;
	uint32_t point;

	if (build->line + 1 > at.line)
		build->line = build->offset = 0;
	for (; build->line + 1 < at.line && build->bytes[build->offset]; build->line++) {
		build->offset += strcspn(build->bytes + build->offset, "\n");
		build->offset += build->bytes[build->offset] == '\n';
	}
	text = build->bytes + build->offset;
	for (unsigned int column = 1; column < at.column && *text; column++)
		text += text_utf8(text, strnlen(text, 4), &point);
	return (size_t)(text - build->bytes);
}

/* Returns what is inserted before the first key of a map, by the key's column; it is a constant. */
static const char *insertion(const char *before, unsigned int column)
{
	static const char *const texts[] = {
		"done: true\n",       "done: true\n ",       "done: true\n  ",
		"done: true\n   ",    "done: true\n    ",    "done: true\n     ",
		"done: true\n      ", "done: true\n       ", "done: true\n        ",
	};

	if (*before == '{')
		return "done: true, ";
	return column - 1 < sizeof texts / sizeof *texts ? texts[column - 1] : NULL;
}

static void add_mark(struct worklist_build *build, struct worklist_item *item,
		     const struct yaml_node *map)
{
	const struct yaml_node *ours = member(map, "done");
	const struct yaml_node *done = ours ? ours : member(map, "completed");
	size_t at = offset_of(build, done ? done->at : map->items[0]->key_at);
	const char *before = build->bytes + at;
	const char *text;

	if (done) {
		if (!done->quoted)
			worklist_build_mark(item,
					    &(struct worklist_mark){ at, strlen(done->text),
								     item->done, "true", "false" });
		return;
	}
	while (before > build->bytes && strchr(" \t\r\n", before[-1]))
		before--;
	text = insertion(before > build->bytes ? before - 1 : "", map->items[0]->key_at.column);
	if (text)
		worklist_build_mark(item, &(struct worklist_mark){ at, 0, false, text, "" });
}

/* ---- tasks ---- */

static int read_keys(struct worklist_build *build, struct worklist_item *item,
		     const struct yaml_node *map)
{
	for (size_t i = 0; i < map->count; i++) {
		const struct yaml_node *node = map->items[i];
		const struct key *key = node->key ? find_key(node->key) : NULL;

		if (key && set_value(build, item, key, node) < 0)
			return -1;
		if (!key && node->key && strcmp(node->key, "id") != 0)
			worklist_build_note(build, node->at.line, "unknown key '%s': ignored",
					    node->key);
	}
	return 0;
}

/* A task needs a title or a prompt; the title is the first line of the prompt. */
static int name_task(struct worklist_build *build, struct worklist_item *item,
		     const struct yaml_node *map)
{
	AUTO_FREE char *prompt = item->prompt;
	AUTO_FREE char *title = item->title;
	const struct yaml_node *id = member(map, "id");
	const char *from = title ? title : prompt;

	item->prompt = item->title = NULL;
	if (!from || !*from)
		return error_with(build->err, ERROR_INVALID,
				  "%s:%zu: a task needs a title or a prompt", build->path,
				  item->line);
	worklist_build_title(item, from, strcspn(from, "\n"));
	worklist_build_id(build, item, id && id->kind == YAML_SCALAR ? id->text : NULL);
	worklist_build_prompt(build, item,
			      prompt && strcmp(prompt, item->title) != 0 ? prompt : NULL);
	return 0;
}

static int read_task(struct worklist_build *build, const struct yaml_node *map,
		     const struct list *checks)
{
	struct worklist_item *item;

	if (map->kind != YAML_MAP || !map->count)
		return error_with(build->err, ERROR_INVALID,
				  "%s:%u: a task must be a map with a title or a prompt",
				  build->path, map->at.line);
	item = worklist_build_item(build, map->at.line);
	if (!item || read_keys(build, item, map) < 0 || name_task(build, item, map) < 0)
		return -1;
	add_mark(build, item, map);
	for (size_t i = 0; i < checks->count; i++)
		if (!list_has(&item->checks, checks->items[i]))
			list_add(&item->checks, checks->items[i]);
	return 0;
}

/* The file is a list of tasks, or a map with such a list and checks for all of them. */
static int read_root(struct worklist_build *build, const struct yaml_node *root)
{
	const struct yaml_node *tasks = root->kind == YAML_MAP ? member(root, "tasks") : root;
	const struct yaml_node *common = root->kind == YAML_MAP ? member(root, "checks") : NULL;
	struct list checks = { 0 };
	int result = 0;

	if (!tasks || tasks->kind != YAML_LIST)
		return error_with(build->err, ERROR_INVALID,
				  "'%s' must be a list of tasks, or have one as `tasks`",
				  build->path);
	if (common)
		result = set_list(build, common, &checks);
	for (size_t i = 0; result == 0 && i < tasks->count; i++)
		result = read_task(build, tasks->items[i], &checks);
	list_release(&checks);
	return result;
}

int worklist_yaml_read(struct worklist_build *build)
{
	struct yaml_node *root = NULL;
	struct list problems = { 0 };
	int result = yaml_tree_read(build->path, build->bytes, build->size, &root, &problems);

	if (result < 0)
		error_with(build->err, ERROR_INVALID, "%s",
			   problems.count ? problems.items[0] : "invalid YAML");
	else if (root)
		result = read_root(build, root);
	yaml_tree_free(root);
	list_release(&problems);
	return result;
}
