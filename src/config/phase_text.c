/* Phases in a configuration file: see phase_text.h. */
#include "config/phase_text.h"

#include "config/setting.h"
#include "util/buffer.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <jansson.h>
#include <string.h>

/* The kinds of values. */
enum kind { NAME, TEXT, FILE_PATH, LIST, PATHS, UNTIL, CHOICE, LIKE_SETTING };

struct key {
	const char *name;
	enum kind kind;
};

static const struct key keys[] = {
	{ "name", NAME },
	{ "prompt", TEXT },
	{ "prompt-file", FILE_PATH },
	{ "agent", TEXT },
	{ "model", TEXT },
	{ "escalate", LIST },
	{ "write", PATHS },
	{ "until", UNTIL },
	{ "max-iterations", LIKE_SETTING },
	{ "max-cost", LIKE_SETTING },
	{ "budget", LIKE_SETTING },
	{ "timeout", LIKE_SETTING },
	{ "on-limit", CHOICE },
};

enum { KEYS = sizeof keys / sizeof *keys };

/* Each byte may be a line with a prefix. */
enum { DESCRIBED_BYTES = 8 * YAML_MOST_BYTES };

static const char *const untils[] = {
	[PHASE_TEXT_DONE] = "done",
	[PHASE_TEXT_PROMISE] = "promise",
	[PHASE_TEXT_FILE] = "file",
	[PHASE_TEXT_CHECK] = "check",
	[PHASE_TEXT_ITERATIONS] = "iterations",
};

/* A phase that is being read. */
struct reading {
	const char *file, *folder;
	struct list *problems;
	json_t *phase;
};

const char *phase_text_until_name(enum phase_text_until kind)
{
	return untils[kind];
}

static bool takes_argument(enum phase_text_until kind)
{
	return kind == PHASE_TEXT_FILE || kind == PHASE_TEXT_CHECK || kind == PHASE_TEXT_ITERATIONS;
}

/* A path in the project, as a phase may name it: it can only narrow what the loop may do. Git's own
 * files belong to git. */
static bool is_inside(const char *path)
{
	AUTO_FREE char *full = path_absolute(path, "/p");
	AUTO_FREE char *slashed = mem_format("%s/", full);

	return *path && path[0] != '/' && path[0] != '~' && path_within(full, "/p") &&
	       strcmp(full, "/p") != 0 && !strcasestr(slashed, "/.git/");
}

/* Is the whole text one quoted word? The shell would look for a program of that name. */
static bool is_quoted(const char *text)
{
	const char *end = strchr(text + 1, text[0]);

	return (text[0] == '"' || text[0] == '\'') && end && !end[1];
}

static int check_argument(enum phase_text_until kind, const char *rest, struct error *err)
{
	uint64_t number;

	if (takes_argument(kind) != (*rest != '\0'))
		return error_set(err, "until: '%s' %s", untils[kind],
				 *rest ? "takes no argument" : "needs an argument");
	if (kind == PHASE_TEXT_CHECK && is_quoted(rest))
		return error_set(err,
				 "until: 'check %.200s': leave out the quotes around the command",
				 rest);
	if (kind == PHASE_TEXT_FILE && !is_inside(rest))
		return error_set(err, "until: 'file %.200s' must be a path in the project", rest);
	if (kind == PHASE_TEXT_ITERATIONS && text_count(rest, &number) < 0)
		return error_set(err, "until: 'iterations %.200s' needs a whole number above 0",
				 rest);
	return 0;
}

int phase_text_until(const char *text, enum phase_text_until *ret_kind, const char **ret_rest,
		     struct error *err)
{
	size_t size = strcspn(text, " ");
	const char *rest = text + size + strspn(text + size, " ");

	for (int i = 0; i < PHASE_TEXT_UNTIL_COUNT; i++) {
		if (strlen(untils[i]) != size || strncmp(untils[i], text, size) != 0)
			continue;
		if (check_argument((enum phase_text_until)i, rest, err) < 0)
			return -1;
		*ret_kind = (enum phase_text_until)i;
		*ret_rest = rest;
		return 0;
	}
	return error_set(err,
			 "until must be done, promise, 'file PATH', 'check COMMAND' or 'iterations "
			 "NUMBER', not '%.200s'",
			 text);
}

static int check_name(const char *text, struct error *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-";
	size_t size = strlen(text);

	if (size && size <= PHASE_TEXT_NAME_BYTES && strspn(text, allowed) == size &&
	    strcmp(text, "none") != 0)
		return 0;
	return error_set(
		err,
		"the name of a phase has letters, digits, - and _ (at most %d), and is not "
		"'none'; not '%.200s'",
		(int)PHASE_TEXT_NAME_BYTES, text);
}

static int check_value(const struct key *key, const char *text, struct error *err)
{
	enum phase_text_until until;
	const char *rest;
	uint64_t number;

	if (!*text)
		return error_set(err, "%s has an empty value", key->name);
	switch (key->kind) {
	case NAME:
		return check_name(text, err);
	case UNTIL:
		return phase_text_until(text, &until, &rest, err);
	case LIKE_SETTING:
		return setting_parse(setting_find(key->name, NULL), text, &number, err);
	case CHOICE:
		return strcmp(text, "pause") == 0 || strcmp(text, "next") == 0
			       ? 0
			       : error_set(err, "%s must be pause or next, not '%.200s'", key->name,
					   text);
	case PATHS:
		return is_inside(text) || strcmp(text, "none") == 0
			       ? 0
			       : error_set(
					 err,
					 "%s must be a path in the project, or none, not '%.200s'",
					 key->name, text);
	default:
		return 0;
	}
}

/* Returns the value of a key as it is stored, or NULL after a problem. */
static json_t *read_scalar(const struct reading *reading, const struct key *key,
			   const struct yaml_node *node)
{
	AUTO_FREE char *path = NULL;
	struct error err;

	if (node->kind != YAML_SCALAR) {
		problem_add(reading->problems, reading->file, node->at,
			    "%s of a phase must be a single value, not %s", key->name,
			    yaml_kind_name(node->kind));
		return NULL;
	}
	if (check_value(key, node->text, &err) < 0) {
		problem_add(reading->problems, reading->file, node->at, "%s", err.text);
		return NULL;
	}
	if (key->kind == FILE_PATH)
		path = path_absolute(node->text, reading->folder);
	return json_string(path ? path : node->text);
}

static bool is_list(const struct key *key)
{
	return key->kind == LIST || key->kind == PATHS || key->kind == UNTIL;
}

/* A single value is a list of one. */
static void read_list(const struct reading *reading, const struct key *key,
		      const struct yaml_node *node)
{
	struct yaml_node *const one = (struct yaml_node *)node;
	struct yaml_node *const *items = node->kind == YAML_LIST ? node->items : &one;
	size_t count = node->kind == YAML_LIST ? node->count : 1;
	json_t *list = json_array();

	if (count == 0 || (key->kind == UNTIL && count > PHASE_TEXT_CONDITIONS))
		problem_add(reading->problems, reading->file, node->at,
			    count ? "%s of a phase has more than %d entries"
				  : "%s is an empty list",
			    key->name, (int)PHASE_TEXT_CONDITIONS);
	for (size_t i = 0; i < count; i++) {
		json_t *value = read_scalar(reading, key, items[i]);

		if (value)
			json_array_append_new(list, value);
	}
	json_object_set_new(reading->phase, key->name, list);
}

static const struct key *find_key(const char *name, const char **ret_nearest)
{
	size_t distance = (size_t)-1;

	*ret_nearest = NULL;
	for (size_t i = 0; i < KEYS; i++) {
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
		if (text_is_nearer(name, keys[i].name, &distance))
			*ret_nearest = keys[i].name;
	}
	return NULL;
}

/* Returns the names of all keys. The caller frees it. */
static char *name_keys(void)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT(1024);

	for (size_t i = 0; i < KEYS; i++)
		buffer_printf(&names, "%s%s", i ? ", " : "", keys[i].name);
	return mem_dup(buffer_text(&names));
}

static void read_key(const struct reading *reading, const struct yaml_node *node)
{
	const char *nearest;
	const struct key *key = find_key(node->key, &nearest);
	AUTO_FREE char *all = name_keys();

	if (!key)
		problem_add(reading->problems, reading->file, node->key_at,
			    "a phase has no key '%.200s'%s%s%s (its keys: %s)", node->key,
			    nearest ? "; did you mean '" : "", nearest ? nearest : "",
			    nearest ? "'?" : "", all);
	else if (is_list(key))
		read_list(reading, key, node);
	else
		json_object_set_new(reading->phase, key->name, read_scalar(reading, key, node));
}

/* Checks what concerns several keys. */
static void check_whole(const struct reading *reading, const struct yaml_node *node)
{
	const json_t *write = json_object_get(reading->phase, "write");

	if (!json_object_get(reading->phase, "name"))
		problem_add(reading->problems, reading->file, node->at, "a phase needs a name");
	if (json_object_get(reading->phase, "prompt") &&
	    json_object_get(reading->phase, "prompt-file"))
		problem_add(reading->problems, reading->file, node->at,
			    "a phase has a prompt or a prompt-file, not both");
	for (size_t i = 0; json_array_size(write) > 1 && i < json_array_size(write); i++)
		if (strcmp(json_string_value(json_array_get(write, i)), "none") == 0)
			problem_add(reading->problems, reading->file, node->at,
				    "write: none stands alone");
}

char *phase_text_read(const struct yaml_node *node, const char *file, const char *folder,
		      struct list *problems)
{
	const struct reading reading = { file, folder, problems, json_object() };
	size_t before = problems->count;
	char *text = NULL;

	if (node->kind != YAML_MAP)
		problem_add(problems, file, node->at, "a phase must be a map with a name, not %s",
			    yaml_kind_name(node->kind));
	for (size_t i = 0; node->kind == YAML_MAP && i < node->count; i++)
		read_key(&reading, node->items[i]);
	if (problems->count == before)
		check_whole(&reading, node);
	if (problems->count == before)
		text = json_dumps(reading.phase, JSON_COMPACT);
	json_decref(reading.phase);
	return text;
}

/* Returns the name of a phase, or NULL. */
static const char *name_of(const struct yaml_node *node)
{
	for (size_t i = 0; node->kind == YAML_MAP && i < node->count; i++)
		if (strcmp(node->items[i]->key, "name") == 0)
			return node->items[i]->text;
	return NULL;
}

void phase_text_check_list(const struct yaml_node *node, const char *file, struct list *problems)
{
	if (node->kind != YAML_LIST)
		problem_add(problems, file, node->at,
			    "phases must be a list of phases, each with a name, not %s",
			    yaml_kind_name(node->kind));
	if (node->kind == YAML_LIST && node->count > PHASE_TEXT_MOST)
		problem_add(problems, file, node->at, "more than %d phases", (int)PHASE_TEXT_MOST);
	for (size_t i = 0; i < node->count; i++)
		for (size_t k = 0; name_of(node->items[i]) && k < i; k++)
			if (name_of(node->items[k]) &&
			    strcmp(name_of(node->items[i]), name_of(node->items[k])) == 0)
				problem_add(problems, file, node->items[i]->at,
					    "two phases have the name '%.200s'",
					    name_of(node->items[i]));
}

char *phase_text_name(const char *text)
{
	json_t *phase = json_loads(text, 0, NULL);
	const char *name = json_string_value(json_object_get(phase, "name"));
	char *result = mem_dup(name ? name : text);

	json_decref(phase);
	return result;
}

static void describe_value(const json_t *value, struct buffer *out)
{
	size_t index;
	const json_t *entry;

	if (json_array_size(value) == 1)
		value = json_array_get(value, 0);
	if (json_is_string(value))
		text_add_block(out, json_string_value(value));
	json_array_foreach(value, index, entry)
	{
		buffer_add_text(out, "\n  -");
		text_add_block(out, json_string_value(entry));
	}
}

char *phase_text_describe(const char *text)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(DESCRIBED_BYTES);
	json_t *phase = json_loads(text, 0, NULL);
	const char *key;
	json_t *value;

	json_object_foreach(phase, key, value)
	{
		if (strcmp(key, "name") == 0)
			continue;
		buffer_printf(&out, "\n%s:", key);
		describe_value(value, &out);
	}
	json_decref(phase);
	return mem_dup(buffer_text(&out));
}

int phase_text_names(const char *text, struct list *ret_names, struct error *err)
{
	for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		AUTO_FREE char *name = mem_format("%.*s", (int)strcspn(at, ","), at);

		if (strcmp(text, "none") != 0 && check_name(name, err) < 0)
			return -1;
		if (strcmp(text, "none") != 0)
			list_add(ret_names, name);
	}
	return 0;
}
