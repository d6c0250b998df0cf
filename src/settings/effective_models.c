/* Access to models: see effective_models.h. */
#include "settings/effective_models.h"

#include "config/config_file.h"
#include "fence/fence_place.h"
#include "gateway/owner/cassette.h"
#include "gateway/owner/model_config.h"
#include "settings/prices.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Parses a value of `upstream` and checks its host, so that mistakes are reported at once. */
static int read_upstream(const char *value, struct model_access_upstream *ret_upstream,
			 struct error *err)
{
	struct model_access_upstream upstream = { .key = ret_upstream->key };
	struct model_config_place ignored;

	if (model_access_upstream_parse(value, &upstream, err) < 0 ||
	    model_config_place_make(&upstream.url, &ignored, err) < 0)
		return -1;
	*ret_upstream = upstream;
	return 0;
}

int effective_models_validate(const struct setting *setting, const char *text, struct error *err)
{
	struct model_access_upstream upstream = { 0 };
	enum provider_id id;
	const char *value = provider_split(text, &id);
	struct error why;
	int result;

	if (!value) {
		AUTO_FREE char *starts = provider_names("=");

		return error_set(err, "%s: '%.100s' does not begin with %s", setting->key, text,
				 starts);
	}
	result = setting->id == SETTING_MODEL_KEY ? key_source_parse(value, &upstream.key, &why)
						  : read_upstream(value, &upstream, &why);
	key_source_release(&upstream.key);
	return result < 0 ? error_set(err, "%s: %.500s", setting->key, why.text) : 0;
}

bool effective_models_uses(const struct setting *setting)
{
	switch (setting->id) {
	case SETTING_MODEL_KEY:
	case SETTING_UPSTREAM:
	case SETTING_UPSTREAM_CA:
	case SETTING_UPSTREAM_PROXY:
	case SETTING_UNKNOWN_MODEL:
	case SETTING_PROVIDER_TOOLS:
	case SETTING_RECORD:
	case SETTING_REPLAY:
	case SETTING_REPLAY_PACE:
	case SETTING_BUDGET:
	case SETTING_DAILY_BUDGET:
		return true;
	default:
		return false;
	}
}

int effective_models_refuse(struct error *err)
{
	AUTO_FREE char *variables = provider_key_names();

	return error_set(
		err,
		"there is no key for a model provider: set %s, or use --model-key, or --upstream for a "
		"local server",
		variables);
}

/* The last active value of a list setting for this provider, or NULL. */
static const char *find_value(const struct config *config, enum setting_id id,
			      enum provider_id provider)
{
	const char *found = NULL;

	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		enum provider_id whose;
		const char *text = value->setting->id == id && value->state == CONFIG_ACTIVE
					   ? provider_split(value->text, &whose)
					   : NULL;

		found = text && whose == provider ? text : found;
	}
	return found;
}

/* The URL that the provider's own clients would use. */
static const char *usual_url(const struct provider *provider)
{
	const char *url = env_get(provider->base_variable);

	return url && *url ? url : provider->base_url;
}

/* The variable that holds the provider's key, or NULL. */
static const char *usual_key(const struct provider *provider)
{
	for (const char *const *name = provider->keys; *name; name++)
		if (env_has(*name))
			return *name;
	return NULL;
}

bool effective_models_has_key(const struct model_access *access, const char *variable)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		if (access->upstreams[i].set && provider_has_key(provider_at(i), variable))
			return true;
	return false;
}

/* Whether the address refuses a connection within a second. */
static bool is_refused(const char *host, uint16_t port)
{
	struct address address;
	struct sockaddr_storage place;
	struct pollfd answer = { .events = POLLOUT };
	int why = 0;
	socklen_t size = sizeof why;
	socklen_t length;
	AUTO_FD fd = -1;

	if (address_parse(host, &address) < 0)
		return false;
	fd = socket(address.family == 4 ? AF_INET : AF_INET6,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	length = address_to(&address, port, &place);
	if (connect(fd, (struct sockaddr *)&place, length) < 0)
		why = errno;
	answer.fd = fd;
	if (why == EINPROGRESS &&
	    (poll(&answer, 1, 1000) <= 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size) < 0))
		return false;
	return why == ECONNREFUSED;
}

/* Whether all addresses of this server refuse connections. */
static bool refuses_connections(const struct url *url)
{
	struct model_config_place place;
	struct error ignored;
	uint16_t port = url_port(url);

	if (model_config_place_make(url, &place, &ignored) < 0)
		return false;
	return strcmp(place.target.host, "localhost") == 0
		       ? is_refused("127.0.0.1", port) && is_refused("::1", port)
		       : is_refused(place.target.host, port);
}

int effective_models_check_listening(const struct model_access *access, struct error *err)
{
	const struct url *refused = NULL;

	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct model_access_upstream *upstream = &access->upstreams[i];

		if (!upstream->set)
			continue;
		if (!upstream->local || !refuses_connections(&upstream->url))
			return 0;
		refused = &upstream->url;
	}
	if (!refused)
		return 0;

	AUTO_FREE char *url = url_text(refused);

	return error_set(
		err,
		"no model server listens at %.300s: start it there, or name another with --upstream "
		"openai=local:URL",
		url);
}

static void describe_tape(const char *path, struct buffer *out)
{
	AUTO_FREE char *shown = text_escaped(path);

	buffer_printf(out, "; models from the tape %s, at no cost", shown);
}

static void describe_local(const struct url *url, struct buffer *out)
{
	AUTO_FREE char *text = url_text(url);
	AUTO_FREE char *shown = text_escaped(text);

	buffer_printf(out, " at %.300s, at no cost", shown);
}

void effective_models_describe(const struct model_access *access, struct buffer *out)
{
	const char *between = "; models of ";
	const char *tape = model_access_tape(access, MODEL_ACCESS_REPLAY);
	bool paid = false;

	if (tape) {
		describe_tape(tape, out);
		return;
	}
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct model_access_upstream *upstream = &access->upstreams[i];

		if (!upstream->set)
			continue;
		buffer_printf(out, "%s%s", between, provider_at(i)->name);
		if (upstream->local)
			describe_local(&upstream->url, out);
		paid = paid || !upstream->local;
		between = ", ";
	}
	if (paid)
		buffer_add_text(
			out, " through the gateway, which holds the key and enforces the budget");
}

/* Whether the user passes the provider's key into the fence, which bypasses the gateway. */
static bool is_passed(const struct list *env, const struct provider *provider)
{
	for (size_t i = 0; i < env->count; i++) {
		AUTO_FREE char *name = mem_format("%.*s", (int)strcspn(env->items[i], "="),
						  env->items[i]);

		if (provider_has_variable(provider, name))
			return true;
	}
	return false;
}

static int add_provider(const struct config *config, enum provider_id id,
			struct model_access_upstream *upstream, struct error *err)
{
	const struct provider *provider = provider_at(id);
	const char *named = find_value(config, SETTING_UPSTREAM, id);
	const char *source = find_value(config, SETTING_MODEL_KEY, id);
	const char *variable = usual_key(provider);

	struct error why;

	if (!named && !source && !variable)
		return 0;
	if (model_access_upstream_parse(named ? named : usual_url(provider), upstream, &why) < 0)
		return error_set(err, "%s: %.500s", named ? "upstream" : provider->base_variable,
				 why.text);
	if (source)
		return key_source_parse(source, &upstream->key, err);
	/* A local server gets a key only if one is named for it. */
	if (variable && !upstream->local)
		upstream->key = (struct key_source){ KEY_SOURCE_ENV, mem_dup(variable) };
	return 0;
}

static int add_prices(const struct fence_place *place, struct model_access *access,
		      struct error *err)
{
	AUTO_BUFFER struct buffer own = BUFFER_INIT(PRICE_MOST_BYTES);
	struct price_table table;

	/* Read here, so that mistakes are reported before the run starts. */
	if (prices_load_with(place, &table, &own, err) < 0)
		return -1;
	price_table_release(&table);
	if (own.used > 0)
		access->prices = mem_dup(buffer_text(&own));
	return 0;
}

/* --- tapes */

/* Resolves the path of a tape: an option is relative to the current directory, a file's value to
 * the project. The folder must exist. */
static int find_tape(const struct effective *effective, const struct config_value *value,
		     char **ret_path, struct error *err)
{
	AUTO_FREE char *here = getcwd(NULL, 0);
	const char *base = value->layer == CONFIG_FLAG && here ? here : effective->place.project;
	AUTO_FREE char *typed = strncmp(value->text, "~/", 2) == 0
					? path_join(effective->place.identity.home, value->text + 2)
					: path_absolute(value->text, base);
	AUTO_FREE char *folder = path_folder(typed);
	AUTO_FREE char *real = realpath(*folder ? folder : "/", NULL);

	if (!real)
		return error_sys(err, "--%s '%s': find its folder", value->setting->key,
				 value->text);
	*ret_path = path_join(strcmp(real, "/") == 0 ? "" : real, path_name(typed));
	return 0;
}

/* Replayed requests are priced as they were recorded; local models stay free. */
static int add_taped(const struct effective *effective, const struct tape *tape,
		     struct model_access *access, struct error *err)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct provider *provider = provider_at(i);
		struct model_access_upstream *upstream = &access->upstreams[i];
		bool priced = false;
		bool there = false;

		if (is_passed(&effective->spec.env, provider))
			continue;
		for (size_t j = 0; j < tape->count; j++) {
			const struct tape_exchange *exchange = &tape->exchanges[j];
			bool mine = strcmp(exchange->talk.provider, provider->name) == 0;

			there |= mine;
			priced |= mine && !exchange->free;
		}
		if (model_access_upstream_parse("http://tape.invalid", upstream, err) < 0)
			return -1;
		upstream->local = there && !priced;
	}
	return 0;
}

bool effective_models_taped(const struct config *config)
{
	return config_get(config, SETTING_RECORD)->number ||
	       config_get(config, SETTING_REPLAY)->number;
}

/* Adds the tape. A replay reaches nothing else. */
static int add_tape(const struct effective *effective, struct model_access *access,
		    struct error *err)
{
	const struct config_value *record = config_get(&effective->config, SETTING_RECORD);
	const struct config_value *replay = config_get(&effective->config, SETTING_REPLAY);
	AUTO_FREE char *path = NULL;
	struct tape tape;
	int result = 0;

	if (find_tape(effective, record->number ? record : replay, &path, err) < 0 ||
	    cassette_look(path, record->number, &tape, err) < 0)
		return -1;
	if (replay->number)
		result = add_taped(effective, &tape, access, err);
	tape_release(&tape);
	access->tape = (struct model_access_tape){
		.mode = record->number ? MODEL_ACCESS_RECORD : MODEL_ACCESS_REPLAY,
		.path = mem_dup(path),
		.project = mem_dup(effective->place.project),
		.home = mem_dup(effective->place.identity.home),
		.paced = replay->number &&
			 config_get(&effective->config, SETTING_REPLAY_PACE)->number,
	};
	return result;
}

/* --- access */

static int add_upstreams(const struct effective *effective, struct model_access *access,
			 struct error *err)
{
	const struct config *config = &effective->config;
	bool record = config_get(config, SETTING_RECORD)->number;
	bool replay = config_get(config, SETTING_REPLAY)->number;

	if (record && replay)
		return error_set(err, "--record and --replay cannot be combined");
	for (size_t i = 0; i < PROVIDER_COUNT && !replay; i++)
		if (!is_passed(&effective->spec.env, provider_at(i)) &&
		    add_provider(config, i, &access->upstreams[i], err) < 0)
			return -1;
	if (record && !model_access_is_set(access))
		return error_set(
			err,
			"--record: no key of a model provider is set, so there is nothing to record");
	return effective_models_taped(config) ? add_tape(effective, access, err) : 0;
}

static int add_proxy(const struct effective *effective, struct url *proxy, struct error *err)
{
	const struct config_value *set = config_get(&effective->config, SETTING_UPSTREAM_PROXY);
	const char *usual = env_get("HTTPS_PROXY") ? env_get("HTTPS_PROXY")
						   : env_get("https_proxy");
	struct error why;

	if (set->number)
		return url_parse(set->text, proxy, &why) < 0
			       ? error_set(err, "%s: %.500s", set->setting->key, why.text)
			       : 0;
	if (!usual || !*usual || effective->place.identity.switched)
		return 0;
	return url_parse(usual, proxy, &why) < 0 ? error_set(err, "HTTPS_PROXY: %.500s", why.text)
						 : 0;
}

/* The things that a provider may do on its own, as bits. "none" removes those of lower layers. */
static unsigned int allowed_tools(const struct config *config)
{
	unsigned int tools = 0;

	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		bool is_tool = value->setting->id == SETTING_PROVIDER_TOOLS &&
			       value->state == CONFIG_ACTIVE;
		enum provider_tool tool = is_tool ? provider_tool_find(value->text)
						  : PROVIDER_TOOL_COUNT;

		if (tool < PROVIDER_TOOL_COUNT)
			tools |= PROVIDER_TOOL_BIT(tool);
		else if (is_tool && strcmp(value->text, "none") == 0)
			tools = 0;
	}
	return tools;
}

/* Adds the certificates, the proxy and the prices. */
static int add_transport_and_prices(const struct effective *effective, struct model_access *access,
				    struct error *err)
{
	const struct config *config = &effective->config;
	const struct config_value *ca = config_get(config, SETTING_UPSTREAM_CA);

	if (ca->number)
		access->ca = mem_dup(ca->text);
	access->refuse_unknown = strcmp(config_get(config, SETTING_UNKNOWN_MODEL)->text,
					"refuse") == 0;
	access->tools = allowed_tools(config);
	if (add_proxy(effective, &access->proxy, err) < 0)
		return -1;
	return add_prices(&effective->place, access, err);
}

int effective_models_access(const struct effective *effective, struct model_access *ret_access,
			    struct error *err)
{
	struct model_access access = { 0 };

	if (add_upstreams(effective, &access, err) < 0 ||
	    (model_access_is_set(&access) &&
	     add_transport_and_prices(effective, &access, err) < 0)) {
		model_access_release(&access);
		return -1;
	}
	*ret_access = access;
	return 0;
}

int effective_models_ledger(const struct effective *effective, struct ledger_options *ret_options,
			    char **ret_folder, char **ret_day, struct error *err)
{
	const struct config_value *budget = config_get(&effective->config, SETTING_BUDGET);
	struct timespec now;

	*ret_folder = path_join(effective->place.state, "gateway");
	*ret_day = path_join(effective->place.state, "day.spend");
	if (state_folder_make(*ret_folder, 0700) < 0)
		return error_sys(err, "make '%s'", *ret_folder);
	clock_gettime(CLOCK_REALTIME, &now);
	*ret_options = (struct ledger_options){
		.folder = *ret_folder,
		.day = *ret_day,
		/* Without a loop, the default budget of an iteration does not apply. */
		.limits = { [LEDGER_ITERATION] = budget->layer == CONFIG_BUILT_IN ? 0
										  : budget->number,
			    [LEDGER_DAY] =
				    config_get(&effective->config, SETTING_DAILY_BUDGET)->number },
		.period = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
	};
	return 0;
}
