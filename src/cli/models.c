/* From what is set to what a gateway is told about models: see models.h. */
#include "cli/models.h"

#include "cli/prices.h"
#include "config/file.h"
#include "gateway/keys.h"
#include "gateway/models.h"
#include "util/mem.h"
#include "util/path.h"

#include <stdlib.h>
#include <string.h>

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

static const char *usual_key(size_t provider)
{
	for (const char *const *name = usual_keys[provider]; *name; name++) {
		const char *value = getenv(*name);

		if (value && *value)
			return *name;
	}
	return NULL;
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
			    : usual_places[provider]);
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
	if (prices_load(place, &table, err) < 0 || prices_own(place, &own, NULL, err) < 0)
		return -1;
	price_table_release(&table);
	if (own.used > 0)
		list_printf(texts, "prices %s", buffer_text(&own));
	return 0;
}

int models_texts(const struct applied *applied, struct list *ret_texts, struct error *err)
{
	const struct config *config = &applied->config;
	const struct config_value *ca = config_get(config, SETTING_UPSTREAM_CA);
	const struct config_value *proxy = config_get(config, SETTING_UPSTREAM_PROXY);
	const char *usual_proxy = getenv("HTTPS_PROXY") ? getenv("HTTPS_PROXY")
							: getenv("https_proxy");
	struct list texts = { 0 };

	for (size_t i = 0; i < REQUEST_PROVIDERS; i++)
		add_provider(config, i, &texts);
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
