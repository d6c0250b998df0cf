/* Layers and active values: see config.h. */
#include "config/config.h"

#include "config/config_file.h"
#include "config/phase_text.h"
#include "config/trust.h"
#include "config/yaml.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static struct config_value *add_value(struct config *config, const struct setting *setting,
				      enum config_layer layer, const char *text, uint64_t number,
				      const char *origin)
{
	config->values = mem_resize(config->values, config->count + 1, sizeof *config->values);
	config->values[config->count] = (struct config_value){
		.setting = setting,
		.layer = layer,
		.text = mem_dup(text),
		.number = number,
		.origin = mem_dup(origin),
	};
	return &config->values[config->count++];
}

void config_init(struct config *config)
{
	*config = (struct config){ 0 };
	for (size_t i = 0; i < SETTING_ID_COUNT; i++) {
		struct error err;
		uint64_t number;

		if (!setting_at(i)->fallback)
			continue;
		if (setting_parse(setting_at(i), setting_at(i)->fallback, &number, &err) < 0)
			abort();
		add_value(config, setting_at(i), CONFIG_BUILT_IN, setting_at(i)->fallback, number,
			  "built-in");
	}
}

void config_release(struct config *config)
{
	for (size_t i = 0; i < config->count; i++) {
		free(config->values[i].text);
		free(config->values[i].path);
		free(config->values[i].origin);
		free(config->values[i].meaning);
	}
	free(config->values);
	ignore_release(&config->ignore);
	list_release(&config->files);
	list_release(&config->notices);
	list_release(&config->problems);
	*config = (struct config){ 0 };
}

static int parse_value(const struct setting *setting, const char *text,
		       config_validate_fn *validate, uint64_t *ret_number, struct error *err)
{
	if (setting_parse(setting, text, ret_number, err) < 0)
		return -1;
	return validate ? validate(setting, text, err) : 0;
}

int config_add_flag(struct config *config, const struct setting *setting, const char *text,
		    config_validate_fn *validate, struct error *err)
{
	AUTO_FREE char *origin = mem_format("--%s", setting->key);
	struct error wrong;
	uint64_t number;

	if (parse_value(setting, text, validate, &number, &wrong) < 0)
		return error_set(err, "--%s", wrong.text);
	add_value(config, setting, CONFIG_FLAG, text, number, origin)->path =
		setting->type == SETTING_PATHS ? mem_dup(text) : NULL;
	return 0;
}

/* A file that is being added as a layer. */
struct source {
	struct config *config;
	enum config_layer layer;
	const char *file;
	const char *folder;
	const struct config_place *place;
};

static char *absolute(const struct source *source, const char *text)
{
	const char *home = source->place->home;

	if (text[0] == '~' && (text[1] == '/' || !text[1]) && home[0]) {
		AUTO_FREE char *joined = path_join(home, text[1] ? text + 2 : ".");

		return path_absolute(joined, "/");
	}
	return path_absolute(text, source->folder);
}

static void add_scalar(const struct source *source, const struct setting *setting,
		       const struct yaml_node *node, bool entry)
{
	AUTO_FREE char *origin = mem_format("%s:%u", source->file, node->at.line);
	struct list *problems = &source->config->problems;
	struct config_value *value;
	struct error err;
	uint64_t number;

	if (node->kind != YAML_SCALAR) {
		AUTO_FREE char *allowed = setting_allowed(setting);

		problem_add(problems, source->file, node->at,
			    entry ? "an entry of %s must be a single value (%s), not %s"
				  : "%s must be %s, not %s",
			    setting->key, entry ? setting->value : allowed,
			    yaml_kind_name(node->kind));
		return;
	}
	if (!*node->text && !node->quoted) {
		AUTO_FREE char *allowed = setting_allowed(setting);

		problem_add(problems, source->file, node->at, "%s has no value; it must be %s%s",
			    setting->key, allowed,
			    setting_is_list(setting) ? " ([] is an empty list)" : "");
		return;
	}
	if (parse_value(setting, node->text, source->place->validate, &number, &err) < 0) {
		problem_add(problems, source->file, node->at, "%s", err.text);
		return;
	}
	value = add_value(source->config, setting, source->layer, node->text, number, origin);
	if (setting->type == SETTING_PATHS)
		value->path = absolute(source, node->text);
}

static void add_phases(const struct source *source, const struct setting *setting,
		       const struct yaml_node *node)
{
	phase_text_check_list(node, source->file, &source->config->problems);
	for (size_t i = 0; node->kind == YAML_LIST && i < node->count; i++) {
		AUTO_FREE char *origin = mem_format("%s:%u", source->file, node->items[i]->at.line);
		AUTO_FREE char *text = phase_text_read(node->items[i], source->file, source->folder,
						       &source->config->problems);

		if (text)
			add_value(source->config, setting, source->layer, text, 0, origin);
	}
}

static void add_setting(const struct source *source, const struct yaml_node *node)
{
	const char *nearest = NULL;
	const struct setting *setting = setting_find(node->key, &nearest);

	if (!setting) {
		problem_add(
			&source->config->problems, source->file, node->key_at,
			"there is no setting '%.200s'%s%s%s (ringfence config --explain lists them)",
			node->key, nearest ? "; did you mean '" : "", nearest ? nearest : "",
			nearest ? "'?" : "");
	} else if (setting->trust == SETTING_OWN && source->layer == CONFIG_PROJECT) {
		problem_add(&source->config->problems, source->file, node->key_at,
			    "a project cannot set %s: it belongs in your own config.yml, or is an "
			    "option (--%s)",
			    setting->key, setting->key);
	} else if (setting->type == SETTING_MAPS) {
		add_phases(source, setting, node);
	} else if (node->kind == YAML_LIST && setting_is_list(setting)) {
		for (size_t i = 0; i < node->count; i++)
			add_scalar(source, setting, node->items[i], true);
	} else {
		add_scalar(source, setting, node, false);
	}
}

int config_add_text(struct config *config, enum config_layer layer, const char *file,
		    const char *folder, const struct config_place *place, const char *text,
		    size_t size)
{
	const struct source source = { config, layer, file, folder, place };
	size_t before = config->problems.count;
	struct yaml_node *root = NULL;

	if (yaml_tree_read(file, text, size, &root, &config->problems) < 0)
		return -1;
	if (root && root->kind != YAML_MAP)
		problem_add(&config->problems, file, root->at,
			    "a configuration consists of lines of 'setting: value', not %s",
			    yaml_kind_name(root->kind));
	for (size_t i = 0; root && root->kind == YAML_MAP && i < root->count; i++)
		add_setting(&source, root->items[i]);
	yaml_tree_free(root);
	list_add(&config->files, file);
	return config->problems.count > before ? -1 : 0;
}

/* Whether a lower layer already has this list entry. */
static bool is_in_lower_layer(const struct config *config, const struct config_value *value)
{
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *other = &config->values[i];

		if (other->setting == value->setting && other->layer < value->layer &&
		    strcmp(other->path ? other->path : other->text,
			   value->path ? value->path : value->text) == 0)
			return true;
	}
	return false;
}

/* The value of a lower layer that this one replaces. */
static const struct config_value *find_replaced(const struct config *config,
						const struct config_value *value)
{
	const struct config_value *found = NULL;

	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].setting == value->setting &&
		    config->values[i].layer < value->layer)
			found = &config->values[i];
	return found;
}

/* Each byte may be a line with a prefix. */
enum { MEANING_BYTES = 8 * YAML_MOST_BYTES };

static char *describe_phase(const struct config_value *value)
{
	AUTO_FREE char *keys = phase_text_describe(value->text);

	return mem_format("%s%s", value->setting->widens,
			  *keys ? keys : " nothing but its name is set");
}

static char *describe_meaning(const struct config_value *value, const struct config_value *before)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(MEANING_BYTES);
	const char *text = value->path ? value->path : value->text;

	if (value->setting->type == SETTING_MAPS)
		return describe_phase(value);
	buffer_add_text(&out, value->setting->widens);
	text_add_block(&out, text);
	if (before) {
		buffer_add_text(&out, strchr(text, '\n') ? "\nnot" : ", not");
		text_add_block(&out, before->text);
	}
	return mem_dup(buffer_text(&out));
}

/* Sets the meaning of a project's value if it widens the values of lower layers. */
static void set_meaning(const struct config *config, const struct config_place *place,
			struct config_value *value)
{
	const struct config_value *before;

	if (value->setting->trust == SETTING_FREE)
		return;
	if (value->setting->id == SETTING_WRITE && path_within(value->path, place->project)) {
		value->narrows = true;
	} else if (setting_is_list(value->setting)) {
		if (!is_in_lower_layer(config, value))
			value->meaning = describe_meaning(value, NULL);
	} else {
		before = find_replaced(config, value);
		if (setting_widens(value->setting, value->number, before->number))
			value->meaning = describe_meaning(value, before);
	}
}

/* Hashes the widening values as trust shows them. Line numbers are left out, so that a new comment
 * changes nothing. */
static void hash_difference(struct config *config)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64 << 20);

	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].meaning) {
			text_escape(&text, config->values[i].setting->key);
			buffer_add_text(&text, ": ");
			text_escape(&text, config->values[i].text);
			buffer_add_text(&text, "\n\t");
			text_escape(&text, config->values[i].meaning);
			buffer_add_text(&text, "\n");
		}
	if (text.used)
		sha256_hex(text.data, text.used, config->hash);
}

static void decide_trust(struct config *config, const char *agreed)
{
	if (!config->hash[0])
		config->trust = CONFIG_NOTHING_WIDENS;
	else if (!agreed)
		config->trust = CONFIG_UNTRUSTED;
	else
		config->trust = strcmp(agreed, config->hash) == 0 ? CONFIG_TRUST : CONFIG_CHANGED;
	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].meaning && config->trust != CONFIG_TRUST)
			config->values[i].state = CONFIG_INACTIVE;
}

/* For a setting that is not a list, the last active value wins. */
static void replace_scalars(struct config *config)
{
	struct config_value *last[SETTING_ID_COUNT] = { 0 };

	for (size_t i = 0; i < config->count; i++) {
		struct config_value *value = &config->values[i];

		if (setting_is_list(value->setting) || value->state != CONFIG_ACTIVE)
			continue;
		if (last[value->setting->id])
			last[value->setting->id]->state = CONFIG_REPLACED;
		last[value->setting->id] = value;
	}
}

/* Phases are one list: those of a higher file replace those of a lower one. */
static void replace_phases(struct config *config)
{
	enum config_layer highest = CONFIG_BUILT_IN;

	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].setting->type == SETTING_MAPS &&
		    config->values[i].state == CONFIG_ACTIVE &&
		    config->values[i].layer != CONFIG_FLAG)
			highest = config->values[i].layer;
	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].setting->type == SETTING_MAPS &&
		    config->values[i].layer < highest)
			config->values[i].state = CONFIG_REPLACED;
}

/* Whether this is a `write` for a path in the project that is not from the project's file. */
static bool overrides_project(const struct config_value *value, const struct config_place *place)
{
	const char *path = value->path ? value->path : value->text;
	bool at_home = path[0] == '~' && (path[1] == '/' || !path[1]);
	AUTO_FREE char *full = at_home ? mem_format("%s%s", place->home, path + 1) : mem_dup(path);

	/* A relative path is from an option, and relative to the current directory. */
	return value->setting->id == SETTING_WRITE && value->layer != CONFIG_PROJECT &&
	       (full[0] != '/' || path_within(full, place->project));
}

/*
 * A `write` is cancelled by a read-only of a higher layer. A `write` that only narrows is also
 * cancelled by any other layer's `write` for the project.
 */
static void cancel_writes(struct config *config, const struct config_place *place)
{
	const struct config_value *read_only = config_get(config, SETTING_READ_ONLY);
	const struct config_value *other = NULL;

	for (size_t i = 0; i < config->count; i++)
		if (overrides_project(&config->values[i], place))
			other = &config->values[i];
	for (size_t i = 0; i < config->count; i++) {
		struct config_value *value = &config->values[i];
		const struct config_value *by = NULL;

		if (value->setting->id != SETTING_WRITE || value->state != CONFIG_ACTIVE)
			continue;
		if (read_only->number && (value->layer < read_only->layer ||
					  (value->narrows && read_only->layer != CONFIG_PROJECT)))
			by = read_only;
		else if (value->narrows && other)
			by = other;
		if (!by)
			continue;
		value->state = CONFIG_REPLACED;
		list_printf(&config->notices,
			    "%s write: %s is ignored: %s decides what is writable", value->origin,
			    value->text, by->origin);
	}
}

static int by_layer(const void *a, const void *b)
{
	const struct config_value *left = a;
	const struct config_value *right = b;

	return (int)left->layer - (int)right->layer;
}

/* Sorts by layer: options were added first, because they name the project. Must be stable, which
 * qsort() is not. */
static void sort(struct config *config)
{
	for (size_t i = 1; i < config->count; i++) {
		struct config_value value = config->values[i];
		size_t at = i;

		while (at > 0 && by_layer(&config->values[at - 1], &value) > 0) {
			config->values[at] = config->values[at - 1];
			at--;
		}
		config->values[at] = value;
	}
}

void config_settle(struct config *config, const struct config_place *place, const char *agreed)
{
	sort(config);
	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].layer == CONFIG_PROJECT)
			set_meaning(config, place, &config->values[i]);
	hash_difference(config);
	decide_trust(config, agreed);
	replace_scalars(config);
	replace_phases(config);
	cancel_writes(config, place);
}

char *config_user_path(const char *home, bool foreign)
{
	AUTO_FREE char *folder = home[0] ? env_config_folder(home, foreign) : NULL;

	return folder ? path_join(folder, "ringfence/config.yml") : NULL;
}

/* The path with the home folder shortened to "~". The caller frees. */
static char *shown_path(const struct config_place *place, const char *path)
{
	if (place->home[0] && path_within(path, place->home))
		return mem_format("~%s", path + strlen(place->home));
	return mem_dup(path);
}

static int load_user(struct config *config, const struct config_place *place, struct error *err)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(YAML_MOST_BYTES);
	AUTO_FREE char *path = config_user_path(place->home, place->foreign);
	AUTO_FREE char *shown = path ? shown_path(place, path) : NULL;
	AUTO_FREE char *folder = NULL;
	bool exists = false;

	if (!path)
		return 0;
	folder = path_folder(path);
	if (config_file_read_user(path, shown, place->project, place->uid, &bytes, &exists, err) <
	    0)
		return -1;
	if (exists)
		config_add_text(config, CONFIG_USER, shown, folder, place, buffer_text(&bytes),
				bytes.used);
	return 0;
}

static int load_project(struct config *config, const struct config_place *place, struct error *err)
{
	static const char *const ignores[] = { ".ringfenceignore", ".claudeignore" };
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(YAML_MOST_BYTES);
	AUTO_FD fd = open(place->project, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool exists = false;

	if (fd < 0)
		return error_sys(err, "open the project '%s'", place->project);
	if (config_file_read_project(fd, CONFIG_FILE, &bytes, &exists, err) < 0)
		return -1;
	if (exists)
		config_add_text(config, CONFIG_PROJECT, CONFIG_FILE, place->project, place,
				buffer_text(&bytes), bytes.used);
	for (size_t i = 0; i < sizeof ignores / sizeof *ignores; i++) {
		AUTO_BUFFER struct buffer lines = BUFFER_INIT(IGNORE_MOST_BYTES);

		if (config_file_read_project(fd, ignores[i], &lines, &exists, err) < 0)
			return -1;
		if (!exists)
			continue;
		ignore_read(&config->ignore, ignores[i], buffer_text(&lines), lines.used,
			    &config->notices, &config->problems);
		list_add(&config->files, ignores[i]);
	}
	return 0;
}

int config_load(struct config *config, const struct config_place *place, struct error *err)
{
	struct trust trust = { 0 };

	if (load_user(config, place, err) < 0 || load_project(config, place, err) < 0)
		return -1;
	if (config->problems.count)
		return error_set(err, "%s", config->problems.items[0]);
	if (trust_find(place->state, place->project, &trust, err) < 0)
		return -1;
	config_settle(config, place, trust.path ? trust.hash : NULL);
	if (config->trust == CONFIG_CHANGED)
		list_add(&config->notices,
			 CONFIG_FILE " has changed since you trusted it: run ringfence trust");
	trust_release(&trust);
	return 0;
}

const struct config_value *config_get(const struct config *config, enum setting_id id)
{
	for (size_t i = config->count; i-- > 0;)
		if (config->values[i].setting->id == id && config->values[i].state == CONFIG_ACTIVE)
			return &config->values[i];
	return NULL;
}

const char *config_text(const struct config *config, enum setting_id id)
{
	const struct config_value *value = config_get(config, id);

	return value->number ? value->text : NULL;
}

char *config_inactive_line(const struct config_value *value)
{
	return mem_format("%s %s: %s is inactive: it widens the fence (ringfence trust)",
			  value->origin, value->setting->key, value->text);
}
