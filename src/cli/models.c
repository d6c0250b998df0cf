/* From what is set to what a gateway is told about models: see models.h. */
#include "cli/models.h"

#include "cli/settings/prices.h"
#include "cli/view/notice.h"
#include "config/config_file.h"
#include "fence/fence_place.h"
#include "gateway/models.h"
#include "gateway/owner/cassette.h"
#include "gateway/owner/keys.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/state_folder.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char *const usual_places[REQUEST_PROVIDERS] = {
	[REQUEST_ANTHROPIC] = "https://api.anthropic.com",
	[REQUEST_OPENAI] = "https://api.openai.com",
	[REQUEST_GEMINI] = "https://generativelanguage.googleapis.com",
};

static const char *const usual_keys[REQUEST_PROVIDERS][3] = {
	[REQUEST_ANTHROPIC] = { "ANTHROPIC_API_KEY", NULL },
	[REQUEST_OPENAI] = { "OPENAI_API_KEY", NULL },
	[REQUEST_GEMINI] = { "GEMINI_API_KEY", "GOOGLE_API_KEY", NULL },
};

/* "anthropic=..." of this provider; NULL: it is another's. */
static const char *value_for(const char *text, size_t provider)
{
	size_t size = strlen(request_provider_names[provider]);

	return strncmp(text, request_provider_names[provider], size) == 0 && text[size] == '='
		       ? text + size + 1
		       : NULL;
}

int models_judge(const struct setting *setting, const char *text, struct error *err)
{
	struct models_place place;
	struct error why;
	const char *value = NULL;
	int result;

	for (size_t i = 0; i < REQUEST_PROVIDERS && !value; i++)
		value = value_for(text, i);
	if (!value)
		return error_set(err,
				 "%s: '%.100s' does not begin with anthropic=, openai= or gemini=",
				 setting->key, text);
	if (setting->id == SETTING_MODEL_KEY)
		result = keys_check(value, &why);
	else
		result = models_place_parse(strncmp(value, "local:", 6) == 0 ? value + 6 : value,
					    &place, &why);
	return result < 0 ? error_set(err, "%s: %.500s", setting->key, why.text) : 0;
}

/* The last that holds of a list, for a provider. */
static const char *find(const struct config *config, enum setting_id id, size_t provider)
{
	const char *found = NULL;

	for (size_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];
		const char *text = value->setting->id == id && value->state == CONFIG_ACTIVE
					   ? value_for(value->text, provider)
					   : NULL;

		found = text ? text : found;
	}
	return found;
}

/* Where the provider's own clients would look for it. */
static const char *usual_place(size_t provider)
{
	static const char *const names[REQUEST_PROVIDERS] = {
		[REQUEST_ANTHROPIC] = "ANTHROPIC_BASE_URL",
		[REQUEST_OPENAI] = "OPENAI_BASE_URL",
		[REQUEST_GEMINI] = "GOOGLE_GEMINI_BASE_URL",
	};
	const char *place = getenv(names[provider]);

	return place && *place ? place : usual_places[provider];
}

static const char *usual_key(size_t provider)
{
	for (const char *const *name = usual_keys[provider]; *name; name++) {
		const char *value = getenv(*name);

		if (value && *value)
			return *name;
	}
	return NULL;
}

bool models_lead(const struct list *texts, const char *variable)
{
	for (size_t i = 0; i < texts->count; i++)
		for (size_t provider = 0; provider < REQUEST_PROVIDERS; provider++) {
			const char *named = text_behind(texts->items[i], "upstream ");

			if (!named || !text_behind(named, request_provider_names[provider]))
				continue;
			for (const char *const *key = usual_keys[provider]; *key; key++)
				if (strcmp(*key, variable) == 0)
					return true;
		}
	return false;
}

/* Is the provider of "openai http://..." a server that costs nothing? */
static bool is_local(const struct list *texts, const char *upstream)
{
	size_t size = strcspn(upstream, " ");

	for (size_t i = 0; i < texts->count; i++) {
		const char *name = text_behind(texts->items[i], "free ");

		if (name && strlen(name) == size && strncmp(name, upstream, size) == 0)
			return true;
	}
	return false;
}

/* Is it said, within a second, that nobody listens there? */
static bool is_silent(const char *host, uint16_t port)
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

int models_listen(const struct list *texts, struct error *err)
{
	AUTO_FREE char *silent = NULL;
	struct models_place place;

	for (size_t i = 0; i < texts->count; i++) {
		const char *upstream = text_behind(texts->items[i], "upstream ");
		const char *url = upstream ? upstream + strcspn(upstream, " ") + 1 : NULL;

		if (!url)
			continue;
		if (!is_local(texts, upstream) || models_place_parse(url, &place, err) < 0)
			return 0;
		if (strcmp(place.target.host, "localhost") == 0
			    ? !is_silent("127.0.0.1", place.target.port) ||
				      !is_silent("::1", place.target.port)
			    : !is_silent(place.target.host, place.target.port))
			return 0;
		free(silent);
		silent = mem_dup(url);
	}
	return silent ? error_set(
				err,
				"no model server listens at %.300s: start it there, or name another with --upstream "
				"openai=local:URL",
				silent)
		      : 0;
}

void models_tell(const struct list *texts, struct buffer *out)
{
	const char *between = "; models of ";
	const char *tape = list_behind(texts, "replay ");
	bool paid = false;

	if (tape) {
		AUTO_FREE char *shown = text_escaped(tape);

		buffer_printf(out, "; models from the tape %s, at no cost", shown);
		return;
	}
	for (size_t i = 0; i < texts->count; i++) {
		const char *name = text_behind(texts->items[i], "upstream ");

		if (!name)
			continue;
		buffer_printf(out, "%s%.*s", between, (int)strcspn(name, " "), name);
		if (is_local(texts, name)) {
			AUTO_FREE char *shown = text_escaped(name + strcspn(name, " ") + 1);

			buffer_printf(out, " at %.300s, at no cost", shown);
		} else {
			paid = true;
		}
		between = ", ";
	}
	if (paid)
		buffer_add_text(out, " by the gateway, which keeps the key and the budget");
}

/* Is the key of a provider passed into the fence? Then that is what is wanted, and no gateway is in between. */
static bool is_passed(const struct list *env, size_t provider)
{
	static const char *const names[REQUEST_PROVIDERS][5] = {
		[REQUEST_ANTHROPIC] = { "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
					"CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL", NULL },
		[REQUEST_OPENAI] = { "OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL", NULL },
		[REQUEST_GEMINI] = { "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL",
				     NULL },
	};

	for (const char *const *name = names[provider]; *name; name++)
		for (size_t i = 0; i < env->count; i++)
			if (strncmp(env->items[i], *name, strlen(*name)) == 0 &&
			    strchr("=", env->items[i][strlen(*name)]))
				return true;
	return false;
}

static void add_provider(const struct config *config, size_t provider, struct list *texts)
{
	const char *name = request_provider_names[provider];
	const char *place = find(config, SETTING_UPSTREAM, provider);
	const char *source = find(config, SETTING_MODEL_KEY, provider);
	const char *variable = usual_key(provider);
	bool local = place && strncmp(place, "local:", 6) == 0;

	if (!place && !source && !variable)
		return;
	list_printf(texts, "upstream %s %s", name,
		    local   ? place + 6
		    : place ? place
			    : usual_place(provider));
	if (local)
		list_printf(texts, "free %s", name);
	/* A local server gets no key, unless one is named for it. */
	if (source)
		list_printf(texts, "source %s %s", name, source);
	else if (variable && !local)
		list_printf(texts, "source %s env:%s", name, variable);
}

static int add_prices(const struct fence_place *place, struct list *texts, struct error *err)
{
	AUTO_BUFFER struct buffer own = BUFFER_INIT(PRICE_MOST_BYTES);
	struct price_table table;

	/* Read and judged here, so that a mistake is told before anything begins. */
	if (prices_load_with(place, &table, &own, err) < 0)
		return -1;
	price_table_release(&table);
	if (own.used > 0)
		list_printf(texts, "prices %s", buffer_text(&own));
	return 0;
}

/* --- tapes */

/* Where a tape is: as it was typed here, or in the project where a file names it. Its folder is a real one. */
static int find_tape(const struct effective *effective, const struct config_value *value,
		     char **ret_path, struct error *err)
{
	AUTO_FREE char *here = getcwd(NULL, 0);
	const char *base = value->layer == CONFIG_FLAG && here ? here : effective->place.project;
	AUTO_FREE char *typed = strncmp(value->text, "~/", 2) == 0
					? path_join(effective->place.identity.home, value->text + 2)
					: path_absolute(value->text, base);
	AUTO_FREE char *folder = strndup(typed, (size_t)(path_name(typed) - typed));
	AUTO_FREE char *real = realpath(folder && *folder ? folder : "/", NULL);

	if (!real)
		return error_sys(err, "--%s '%s': its folder", value->setting->key, value->text);
	*ret_path = path_join(strcmp(real, "/") == 0 ? "" : real, path_name(typed));
	return 0;
}

/* Models that are on a tape cost what they did, and local ones nothing. */
static void add_taped(const struct effective *effective, const struct tape *tape,
		      struct list *texts)
{
	for (size_t i = 0; i < REQUEST_PROVIDERS; i++) {
		bool priced = false;
		bool there = false;

		if (is_passed(&effective->spec.env, i))
			continue;
		for (size_t j = 0; j < tape->count; j++) {
			const struct tape_exchange *exchange = &tape->exchanges[j];
			bool mine = strcmp(exchange->talk.provider, request_provider_names[i]) == 0;

			there |= mine;
			priced |= mine && !exchange->free;
		}
		list_printf(texts, "upstream %s http://tape.invalid", request_provider_names[i]);
		if (there && !priced)
			list_printf(texts, "free %s", request_provider_names[i]);
	}
}

bool models_taped(const struct config *config)
{
	return config_get(config, SETTING_RECORD)->number ||
	       config_get(config, SETTING_REPLAY)->number;
}

/* What is to be said of a tape; of a replay, that is all that there is. */
static int add_tape(const struct effective *effective, struct list *texts, struct error *err)
{
	const struct config_value *record = config_get(&effective->config, SETTING_RECORD);
	const struct config_value *replay = config_get(&effective->config, SETTING_REPLAY);
	AUTO_FREE char *path = NULL;
	struct tape tape;

	if (find_tape(effective, record->number ? record : replay, &path, err) < 0 ||
	    cassette_look(path, record->number, &tape, err) < 0)
		return -1;
	if (replay->number)
		add_taped(effective, &tape, texts);
	tape_release(&tape);
	list_printf(texts, "%s %s", record->number ? "record" : "replay", path);
	list_printf(texts, "project %s", effective->place.project);
	list_printf(texts, "home %s", effective->place.identity.home);
	if (replay->number && config_get(&effective->config, SETTING_REPLAY_PACE)->number)
		list_add(texts, "pace original");
	return 0;
}

/* --- all of it */

int models_texts(const struct effective *effective, struct list *ret_texts, struct error *err)
{
	const struct config *config = &effective->config;
	const struct config_value *ca = config_get(config, SETTING_UPSTREAM_CA);
	const struct config_value *proxy = config_get(config, SETTING_UPSTREAM_PROXY);
	const char *usual_proxy = getenv("HTTPS_PROXY") ? getenv("HTTPS_PROXY")
							: getenv("https_proxy");
	struct list texts = { 0 };

	if (config_get(config, SETTING_RECORD)->number &&
	    config_get(config, SETTING_REPLAY)->number)
		return error_set(err, "--record and --replay do not go together");
	for (size_t i = 0; i < REQUEST_PROVIDERS; i++)
		if (!is_passed(&effective->spec.env, i) &&
		    !config_get(config, SETTING_REPLAY)->number)
			add_provider(config, i, &texts);
	if (texts.count == 0 && config_get(config, SETTING_RECORD)->number)
		return error_set(
			err,
			"--record: there is no key of a model provider, and so nothing to record");
	if (models_taped(config) && add_tape(effective, &texts, err) < 0) {
		list_release(&texts);
		return -1;
	}
	if (texts.count == 0)
		return 0;
	if (ca->number)
		list_printf(&texts, "ca %s", ca->text);
	if (proxy->number)
		list_printf(&texts, "proxy %s", proxy->text);
	else if (usual_proxy && *usual_proxy && !effective->place.identity.switched)
		list_printf(&texts, "proxy %s", usual_proxy);
	if (strcmp(config_get(config, SETTING_UNKNOWN_MODEL)->text, "refuse") == 0)
		list_add(&texts, "unknown refuse");
	if (add_prices(&effective->place, &texts, err) < 0) {
		list_release(&texts);
		return -1;
	}
	*ret_texts = texts;
	return 0;
}

int models_books(const struct effective *effective, struct ledger_options *ret_options,
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
		/* Without a loop there is no iteration: only what was asked for limits it. */
		.limits = { [LEDGER_ITERATION] = budget->layer == CONFIG_BUILT_IN ? 0
										  : budget->number,
			    [LEDGER_DAY] =
				    config_get(&effective->config, SETTING_DAILY_BUDGET)->number },
		.period = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
	};
	return 0;
}

char *models_cost_words(const struct models_use *use)
{
	AUTO_BUFFER struct buffer amount = BUFFER_INIT(64);
	AUTO_FREE char *asked =
		mem_format("%" PRIu64 " %s, %" PRIu64 " tokens in, %" PRIu64 " out", use->requests,
			   use->requests == 1 ? "request" : "requests", use->input, use->output);

	if (use->requests == 0 && use->cost_nusd == 0)
		return NULL;
	if (use->cost_nusd == 0 && use->free_requests == use->requests)
		return mem_format("a local model, at no cost: %s", asked);
	price_add_usd(&amount, use->cost_nusd, 2);
	return mem_format("%s US$ %s: %s",
			  use->replay ? "a replay: models would have cost" : "models cost",
			  buffer_text(&amount), asked);
}

void models_tell_cost(const struct ledger_news *news)
{
	const struct models_use use = { .requests = news->requests,
					.free_requests = news->free_requests,
					.input = ledger_input(news),
					.output = news->tokens[PRICE_OUTPUT],
					.cost_nusd = news->cost_nusd,
					.replay = news->replay };
	AUTO_FREE char *words = models_cost_words(&use);

	if (words)
		notice_format("%s (ringfence cost tells more)", words);
}
