/* From settings to the fence spec: see effective.h. */
#include "settings/effective.h"

#include "alert/alert.h"
#include "gateway/proxy/rule.h"
#include "notify/notify_target.h"
#include "project/hosts.h"
#include "settings/effective_models.h"
#include "util/container_engine.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first words of accept-weaker; the names of limits follow. */
enum { WEAKER_LANDLOCK, WEAKER_ABSTRACT_SOCKETS };

static const enum setting_id limit_settings[] = {
	[FENCE_LIMIT_MEMORY] = SETTING_MEMORY,       [FENCE_LIMIT_CPUS] = SETTING_CPU_COUNT,
	[FENCE_LIMIT_PROCESSES] = SETTING_PROCESSES, [FENCE_LIMIT_OPEN_FILES] = SETTING_OPEN_FILES,
	[FENCE_LIMIT_FILE_SIZE] = SETTING_FILE_SIZE, [FENCE_LIMIT_TMP_SIZE] = SETTING_TMP_SIZE,
	[FENCE_LIMIT_DISK] = SETTING_DISK,           [FENCE_LIMIT_TIME] = SETTING_TIMEOUT,
};

_Static_assert(sizeof limit_settings / sizeof *limit_settings == FENCE_LIMIT_COUNT,
	       "every limit has a setting");

enum setting_id effective_limit_setting(enum fence_limit limit)
{
	return limit_settings[limit];
}

/* Returns FENCE_LIMIT_COUNT for other settings. */
static enum fence_limit limit_of(enum setting_id id)
{
	int limit = 0;

	while (limit < FENCE_LIMIT_COUNT && limit_settings[limit] != id)
		limit++;
	return (enum fence_limit)limit;
}

void effective_init(struct effective *effective)
{
	*effective = (struct effective){ 0 };
	config_init(&effective->config);
}

void effective_release(struct effective *effective)
{
	fence_spec_release(&effective->spec);
	fence_place_release(&effective->place);
	config_release(&effective->config);
}

/* Is this one word, which is more likely a set than a host? */
static bool is_unknown_name(const char *text)
{
	return !hosts_is_set(text) && *text && strcmp(text, "localhost") != 0 &&
	       !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789-_")];
}

/* The message must not have the value: it may be a secret that was written in the wrong place. */
static int validate_target(const char *text, struct error *err)
{
	struct notify_target target;
	struct error why;

	if (notify_target_read(text, env_home(), &target, &why) < 0)
		return error_set(err, "notify: %s", why.text);
	notify_target_release(&target);
	return 0;
}

/* Validates values whose syntax is the fence's or the gateway's. */
static int validate(const struct setting *setting, const char *text, struct error *err)
{
	enum fence_limit limit = limit_of(setting->id);
	struct alert_settings alerts = { 0 };
	struct fence_listen listen;
	struct rule rule;
	struct error why;
	uint64_t value;

	if (setting->id == SETTING_ALLOW && hosts_nearest_set(text))
		return error_set(err, "%s %s: did you mean %s? (for a host of that name: %s:443)",
				 setting->key, text, hosts_nearest_set(text), text);
	if (setting->id == SETTING_ALLOW && is_unknown_name(text)) {
		AUTO_FREE char *names = hosts_names();

		return error_set(err,
				 "%s %s: there is no set of this name, only %s (for a host of that "
				 "name: %s:443)",
				 setting->key, text, names, text);
	}
	if (setting->id == SETTING_ALLOW && !hosts_is_set(text) &&
	    rule_parse(text, &rule, &why) < 0)
		return error_set(err, "%s: %s", setting->key, why.text);
	if (setting->id == SETTING_NOTIFY)
		return validate_target(text, err);
	if (setting->id == SETTING_ALERT && alert_change(&alerts, text, &why) < 0)
		return error_set(err, "%s: %s", setting->key, why.text);
	if (setting->id == SETTING_MODEL_KEY || setting->id == SETTING_UPSTREAM)
		return effective_models_validate(setting, text, err);
	if (limit != FENCE_LIMIT_COUNT && limit != FENCE_LIMIT_TIME && strcmp(text, "none") != 0)
		return fence_limit_parse(limit, text, &value, err);
	if (setting->id != SETTING_LISTEN)
		return 0;
	if (fence_listen_parse(text, &listen, err) < 0)
		return -1;
	free(listen.socket);
	return 0;
}

int effective_set(void *options, const struct setting *setting, const char *value,
		  struct error *err)
{
	struct effective *effective = options;

	return config_add_flag(&effective->config, setting, value, validate, err);
}

int effective_find(const char *project, struct fence_place *ret_place, struct error *err)
{
	if (fence_place_find(project, ret_place, err) == 0)
		return 0;
	if (project && project[0] != '~' && access(project, F_OK) < 0 && errno == ENOENT)
		error_set(err, "--project '%s': there is no such folder", project);
	return -1;
}

/* A folder below a project is a project of its own, to which the settings above do not apply. */
static void notice_above(const char *project, struct list *notices)
{
	AUTO_FREE char *folder = mem_dup(project);

	for (char *slash; (slash = strrchr(folder, '/')) && slash > folder;) {
		*slash = '\0';

		AUTO_FREE char *file = path_join(folder, CONFIG_FILE);

		if (access(file, F_OK) == 0) {
			list_printf(notices, "%s does not apply in this folder (use --project %s)",
				    file, folder);
			return;
		}
	}
}

int effective_load(struct effective *effective, struct error *err)
{
	struct fence_place *place = &effective->place;

	if (effective_find(effective->spec.project, place, err) < 0)
		return -1;

	const struct config_place where = {
		.project = place->project,
		.home = place->identity.home,
		.state = place->state,
		.uid = place->identity.caller,
		.foreign = place->identity.switched,
		.validate = validate,
	};

	if (!effective->spec.project)
		notice_above(place->project, &effective->config.notices);
	return config_load(&effective->config, &where, err);
}

static void add_path(struct fence_paths *paths, const struct config_value *value)
{
	fence_paths_add(paths, value->path, value->origin);
	paths->items[paths->count - 1].weak = value->narrows;
}

/* An option's variable must be set. A file serves many machines; its variables may be unset. */
static void add_variable(struct fence_spec *spec, const struct config_value *value)
{
	if (value->layer == CONFIG_FLAG || strchr(value->text, '=') || env_get(value->text))
		list_add(&spec->env, value->text);
}

static int add_listen(struct fence_spec *spec, const struct config_value *value, struct error *err)
{
	struct fence_listen listen;

	if (fence_listen_parse(value->text, &listen, err) < 0)
		return -1;
	spec->listens = mem_resize(spec->listens, spec->listen_count + 1, sizeof listen);
	spec->listens[spec->listen_count++] = listen;
	return 0;
}

static void accept_weaker(struct fence_spec *spec, const struct config_value *value)
{
	if (value->number == WEAKER_LANDLOCK)
		spec->accepted_weaker |= FENCE_WEAKER_LANDLOCK;
	else if (value->number == WEAKER_ABSTRACT_SOCKETS)
		spec->accepted_weaker |= FENCE_WEAKER_ABSTRACT_SOCKETS;
	else
		spec->accepted_limits |= 1u << fence_limit_find(value->text);
}

static int add_entry(struct fence_spec *spec, const struct config_value *value, struct error *err)
{
	switch (value->setting->id) {
	case SETTING_WRITE:
		add_path(&spec->write, value);
		return 0;
	case SETTING_READ:
		add_path(&spec->read, value);
		return 0;
	case SETTING_HIDE:
		add_path(&spec->hide, value);
		return 0;
	case SETTING_ENV:
		add_variable(spec, value);
		return 0;
	case SETTING_LISTEN:
		return add_listen(spec, value, err);
	case SETTING_ACCEPT_WEAKER:
		accept_weaker(spec, value);
		return 0;
	default:
		return 0;
	}
}

/* Adds a rule, or the hosts of a named set. */
static int add_allowed(struct effective *effective, const struct config_value *value,
		       struct error *err)
{
	const struct hosts_place place = { .home = effective->place.identity.home,
					   .project = effective->place.project,
					   .foreign = effective->place.identity.switched };
	__attribute__((cleanup(list_release))) struct list hosts = { 0 };

	if (!hosts_is_set(value->text)) {
		fence_paths_add(&effective->spec.allow, value->text, value->origin);
		return 0;
	}
	if (hosts_find(value->text, &place, &hosts, err) < 0)
		return -1;

	AUTO_FREE char *origin = mem_format("%s %s", value->origin, value->text);
	size_t before = effective->spec.allow.count;

	/* Tool configurations may add single hosts only; addresses and wildcards need --allow. */
	for (size_t i = 0; i < hosts.count; i++) {
		struct rule rule;

		if (rule_parse(hosts.items[i], &rule, err) == 0 && !rule.below &&
		    !rule.target.address.family)
			fence_paths_add(&effective->spec.allow, hosts.items[i], origin);
	}
	if (effective->spec.allow.count == before)
		return error_set(
			err,
			"allow %s: your configuration names '%s', which is not a host name; allow it yourself (--allow)",
			value->text, hosts.items[0]);
	return 0;
}

/* Sets the network. Allowing a host implies net: list, unless this or a higher layer sets net. */
static int add_network(struct effective *effective, struct error *err)
{
	const struct config *config = &effective->config;
	const struct config_value *net = config_get(config, SETTING_NET);
	struct fence_spec *spec = &effective->spec;

	spec->net = (enum fence_net)net->number;
	spec->net_origin = net->origin;
	spec->net_caps = (struct outlet_caps){
		.connections = config_get(config, SETTING_NET_CONNECTIONS)->number,
		.bytes_in = config_get(config, SETTING_NET_IN)->number,
		.bytes_out = config_get(config, SETTING_NET_OUT)->number,
	};
	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		if (value->setting->id == SETTING_ALLOW && value->state == CONFIG_ACTIVE &&
		    value->layer > net->layer && spec->net != FENCE_NET_LIST) {
			spec->net = FENCE_NET_LIST;
			spec->net_origin = value->origin;
		}
		if (value->setting->id == SETTING_ALLOW && value->layer == CONFIG_FLAG &&
		    spec->net != FENCE_NET_LIST)
			list_printf(&effective->config.notices,
				    "--allow %s has no effect: the network is %s (%s)", value->text,
				    net->text, net->origin);
	}
	for (size_t i = 0; spec->net == FENCE_NET_LIST && i < config->count; i++)
		if (config->values[i].setting->id == SETTING_ALLOW &&
		    config->values[i].state == CONFIG_ACTIVE &&
		    add_allowed(effective, &config->values[i], err) < 0)
			return -1;
	return 0;
}

static void add_patterns(struct fence_spec *spec, const struct ignore *ignore)
{
	struct fence_patterns *patterns = &spec->patterns;

	patterns->items = mem_resize(patterns->items, ignore->count, sizeof *patterns->items);
	for (size_t i = 0; i < ignore->count; i++) {
		struct glob glob = ignore->items[i].glob;

		glob.text = mem_dup(glob.text);
		patterns->items[patterns->count++] =
			(struct fence_pattern){ glob, mem_dup(ignore->items[i].origin) };
	}
}

static int check_image(const struct config *config, struct error *err)
{
	const char *image = config_text(config, SETTING_IMAGE);
	struct error why;

	if (image && container_engine_check_image(image, &why) < 0)
		return error_with(err, why.status, "%s: %s",
				  config_get(config, SETTING_IMAGE)->origin, why.text);
	return 0;
}

int effective_spec(struct effective *effective, struct error *err)
{
	const struct config *config = &effective->config;
	struct fence_spec *spec = &effective->spec;

	if (effective_load(effective, err) < 0)
		return -1;
	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].state == CONFIG_ACTIVE &&
		    add_entry(spec, &config->values[i], err) < 0)
			return -1;
	if (add_network(effective, err) < 0 || check_image(config, err) < 0)
		return -1;
	add_patterns(spec, &config->ignore);
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++)
		spec->limits[i] = config_get(config, limit_settings[i])->number;
	spec->mechanism = config_get(config, SETTING_FENCE)->text;
	spec->image = config_text(config, SETTING_IMAGE);
	spec->read_only = config_get(config, SETTING_READ_ONLY)->number;
	spec->read_only_origin = config_get(config, SETTING_READ_ONLY)->origin;
	spec->denials = config_get(config, SETTING_DENIALS)->number;
	spec->trace_reads = config_get(config, SETTING_TRACE_READS)->number;
	spec->raw_terminal = config_get(config, SETTING_RAW_TERMINAL)->number;
	spec->place = &effective->place;
	return effective_models(effective, config_get(config, SETTING_MODELS)->number, err);
}

void effective_taint(const struct effective *effective, struct taint *ret_taint)
{
	const struct config *config = &effective->config;

	taint_init(ret_taint, env_home());
	taint_add(ret_taint, effective->place.project);
	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].setting->id == SETTING_WRITE &&
		    config->values[i].state == CONFIG_ACTIVE)
			taint_add(ret_taint, config->values[i].path);
}

int effective_models(struct effective *effective, bool wanted, struct error *err)
{
	struct fence_spec *spec = &effective->spec;

	wanted = wanted || effective_models_taped(&effective->config);
	/* On the host's network another run may use the port; without a fence keys are in reach. */
	if (!wanted || model_access_is_set(&spec->models) || spec->net == FENCE_NET_OPEN ||
	    spec->accepted_weaker & FENCE_WEAKER_NO_FENCE ||
	    strcmp(config_get(&effective->config, SETTING_AGENT_LOGIN)->text, "file") == 0)
		return effective_models_taped(&effective->config) &&
				       !model_access_is_set(&spec->models)
			       ? error_set(
					 err,
					 "--record and --replay need the gateway, which does not run without a fence, with net: open or with agent-login: file")
			       : 0;
	if (effective_models_access(effective, &spec->models, err) < 0)
		return -1;
	/* Only models are reachable: the list of hosts is empty. */
	if (model_access_is_set(&spec->models) && spec->net == FENCE_NET_NONE) {
		spec->net = FENCE_NET_LIST;
		spec->net_origin = "models";
	}
	return 0;
}

json_t *effective_words(const struct config *config, enum setting_id id)
{
	json_t *list = json_array();

	for (size_t i = 0; i < config->count; i++)
		if (config->values[i].setting->id == id && config->values[i].state == CONFIG_ACTIVE)
			json_array_append_new(list, json_string(config->values[i].text));
	return list;
}

uint64_t effective_loop_number(const struct config *config, enum setting_id id)
{
	const struct config_value *value = config_get(config, id);
	bool own = value->layer == CONFIG_PROJECT && config->trust != CONFIG_TRUST;
	struct error ignored;
	uint64_t fallback;

	if (!value->setting->in_loop || (value->layer != CONFIG_BUILT_IN && !own) ||
	    setting_parse(value->setting, value->setting->in_loop, &fallback, &ignored) < 0)
		return value->number;
	/* An untrusted project file may only tighten the loop's defaults as well. */
	return own && !setting_widens(value->setting, value->number, fallback) ? value->number
									       : fallback;
}

int effective_loop(struct effective *effective, struct error *err)
{
	const struct config *config = &effective->config;
	struct fence_spec *spec = &effective->spec;

	if (effective_spec(effective, err) < 0)
		return -1;
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		spec->limits[i] = effective_loop_number(config, limit_settings[i]);
		if (i != FENCE_LIMIT_TIME &&
		    config_get(config, limit_settings[i])->layer == CONFIG_BUILT_IN)
			spec->accepted_limits |= 1u << i;
	}
	return effective_models(effective, effective_loop_number(config, SETTING_MODELS), err);
}
