/* From what is set to what a gateway is told about models: see models.h. */
#include "cli/models.h"

#include "cli/notice.h"
#include "cli/prices.h"
#include "config/file.h"
#include "gateway/cassette.h"
#include "gateway/keys.h"
#include "gateway/models.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/state.h"
#include "util/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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

void models_tell(const struct list *texts, struct buffer *out)
{
	const char *between = "; models of ";
	const char *tape = list_behind(texts, "replay ");

	if (tape) {
		AUTO_FREE char *shown = text_escaped(tape);

		buffer_printf(out, "; models from the tape %s, at no cost", shown);
		return;
	}
	for (size_t i = 0; i < texts->count; i++) {
		const char *name = text_behind(texts->items[i], "upstream ");

		if (name)
			buffer_printf(out, "%s%.*s", between, (int)strcspn(name, " "), name);
		between = name ? ", " : between;
	}
	if (texts->count)
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
static int find_tape(const struct applied *applied, const struct config_value *value,
		     char **ret_path, struct error *err)
{
	AUTO_FREE char *here = getcwd(NULL, 0);
	const char *base = value->layer == CONFIG_FLAG && here ? here : applied->place.project;
	AUTO_FREE char *typed = strncmp(value->text, "~/", 2) == 0
					? path_join(applied->place.identity.home, value->text + 2)
					: path_absolute(value->text, base);
	AUTO_FREE char *folder = strndup(typed, (size_t)(path_name(typed) - typed));
	AUTO_FREE char *real = realpath(folder && *folder ? folder : "/", NULL);

	if (!real)
		return error_sys(err, "--%s '%s': its folder", value->setting->key, value->text);
	*ret_path = path_join(strcmp(real, "/") == 0 ? "" : real, path_name(typed));
	return 0;
}

/* Models that are on a tape cost what they did, and local ones nothing. */
static void add_taped(const struct applied *applied, const struct tape *tape, struct list *texts)
{
	for (size_t i = 0; i < REQUEST_PROVIDERS; i++) {
		bool priced = false;
		bool there = false;

		if (is_passed(&applied->spec.env, i))
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
static int add_tape(const struct applied *applied, struct list *texts, struct error *err)
{
	const struct config_value *record = config_get(&applied->config, SETTING_RECORD);
	const struct config_value *replay = config_get(&applied->config, SETTING_REPLAY);
	AUTO_FREE char *path = NULL;
	struct tape tape;

	if (find_tape(applied, record->number ? record : replay, &path, err) < 0 ||
	    cassette_look(path, record->number, &tape, err) < 0)
		return -1;
	if (replay->number)
		add_taped(applied, &tape, texts);
	tape_release(&tape);
	list_printf(texts, "%s %s", record->number ? "record" : "replay", path);
	list_printf(texts, "project %s", applied->place.project);
	list_printf(texts, "home %s", applied->place.identity.home);
	if (replay->number && config_get(&applied->config, SETTING_REPLAY_PACE)->number)
		list_add(texts, "pace original");
	return 0;
}

/* --- all of it */

int models_texts(const struct applied *applied, struct list *ret_texts, struct error *err)
{
	const struct config *config = &applied->config;
	const struct config_value *ca = config_get(config, SETTING_UPSTREAM_CA);
	const struct config_value *proxy = config_get(config, SETTING_UPSTREAM_PROXY);
	const char *usual_proxy = getenv("HTTPS_PROXY") ? getenv("HTTPS_PROXY")
							: getenv("https_proxy");
	struct list texts = { 0 };

	if (config_get(config, SETTING_RECORD)->number &&
	    config_get(config, SETTING_REPLAY)->number)
		return error_set(err, "--record and --replay exclude each other");
	for (size_t i = 0; i < REQUEST_PROVIDERS; i++)
		if (!is_passed(&applied->spec.env, i) &&
		    !config_get(config, SETTING_REPLAY)->number)
			add_provider(config, i, &texts);
	if (texts.count == 0 && config_get(config, SETTING_RECORD)->number)
		return error_set(
			err,
			"--record: there is no key of a model provider, and so nothing to record");
	if (models_taped(config) && add_tape(applied, &texts, err) < 0) {
		list_release(&texts);
		return -1;
	}
	if (texts.count == 0)
		return 0;
	if (ca->number)
		list_printf(&texts, "ca %s", ca->text);
	if (proxy->number)
		list_printf(&texts, "proxy %s", proxy->text);
	else if (usual_proxy && *usual_proxy && !applied->place.identity.switched)
		list_printf(&texts, "proxy %s", usual_proxy);
	if (strcmp(config_get(config, SETTING_UNKNOWN_MODEL)->text, "refuse") == 0)
		list_add(&texts, "unknown refuse");
	if (add_prices(&applied->place, &texts, err) < 0) {
		list_release(&texts);
		return -1;
	}
	*ret_texts = texts;
	return 0;
}

int models_books(const struct applied *applied, struct books_options *ret_options,
		 char **ret_folder, char **ret_day, struct error *err)
{
	const struct config_value *budget = config_get(&applied->config, SETTING_BUDGET);
	struct timespec now;

	*ret_folder = path_join(applied->place.state, "gateway");
	*ret_day = path_join(applied->place.state, "day.spend");
	if (make_folders(*ret_folder, 0700) < 0)
		return error_sys(err, "make '%s'", *ret_folder);
	clock_gettime(CLOCK_REALTIME, &now);
	*ret_options = (struct books_options){
		.folder = *ret_folder,
		.day = *ret_day,
		/* Without a loop there is no iteration: only what was asked for limits it. */
		.limits = { [BOOKS_ITERATION] = budget->layer == CONFIG_BUILT_IN ? 0
										 : budget->number,
			    [BOOKS_DAY] =
				    config_get(&applied->config, SETTING_DAILY_BUDGET)->number },
		.period = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
	};
	return 0;
}

void models_tell_cost(const struct books_news *news)
{
	AUTO_BUFFER struct buffer amount = BUFFER_INIT(64);
	uint64_t input = 0;

	if (news->requests == 0 && news->cost_nusd == 0)
		return;
	for (size_t i = 0; i < PRICE_KINDS; i++)
		input += i == PRICE_OUTPUT ? 0 : news->tokens[i];
	price_add_usd(&amount, news->cost_nusd, 2);
	noticef("%s US$ %s: %" PRIu64 " %s, %" PRIu64 " tokens in, %" PRIu64
		" out (ringfence cost tells more)",
		news->replay ? "a replay: models would have cost" : "models cost",
		buffer_text(&amount), news->requests, news->requests == 1 ? "request" : "requests",
		input, news->tokens[PRICE_OUTPUT]);
}
