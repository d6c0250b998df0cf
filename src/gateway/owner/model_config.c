/* The gateway's configuration of models: see model_config.h. */
#include "gateway/owner/model_config.h"

#include "util/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Removes an API prefix that the paths of requests already have. */
static void drop_api_path(char *prefix)
{
	size_t size = strlen(prefix);

	while (size > 0 && prefix[size - 1] == '/')
		prefix[--size] = '\0';
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const char *path = provider_at(i)->api_path;
		size_t length = strlen(path);

		if (size >= length && strcmp(prefix + size - length, path) == 0) {
			prefix[size - length] = '\0';
			return;
		}
	}
}

int model_config_place_make(const struct url *url, struct model_config_place *ret_place,
			    struct error *err)
{
	struct model_config_place place = { .set = true, .tls = url->tls };
	struct error why;

	if (rule_target_parse(url->host, url_port(url), &place.target, &why) < 0)
		return error_set(err, "'%s': %.500s", url->host, why.text);
	memcpy(place.prefix, url->path, sizeof place.prefix);
	memcpy(place.credential, url->credential, sizeof place.credential);
	drop_api_path(place.prefix);
	*ret_place = place;
	return 0;
}

/* --- writing */

static void write_upstream(const struct model_access_upstream *upstream, const char *name,
			   const char *key, struct list *texts)
{
	AUTO_FREE char *url = url_text(&upstream->url);

	if (!upstream->set)
		return;
	list_printf(texts, "upstream %s %s", name, url);
	if (upstream->local)
		list_printf(texts, "free %s", name);
	if (key)
		list_printf(texts, "key %s %s", name, key);
}

static void write_tape(const struct model_access_tape *tape, uint64_t mark, struct list *texts)
{
	if (tape->mode == MODEL_ACCESS_LIVE)
		return;
	list_printf(texts, "%s %s", tape->mode == MODEL_ACCESS_RECORD ? "record" : "replay",
		    tape->path);
	list_printf(texts, "mark %" PRIu64, mark);
	if (tape->project)
		list_printf(texts, "project %s", tape->project);
	if (tape->home)
		list_printf(texts, "home %s", tape->home);
	if (tape->paced)
		list_add(texts, "pace original");
}

void model_config_write(const struct model_access *access, const struct keys *keys, uint64_t mark,
			struct list *ret_texts)
{
	struct list texts = { 0 };
	AUTO_FREE char *proxy = url_text(&access->proxy);

	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		write_upstream(&access->upstreams[i], provider_at(i)->name, keys->values[i],
			       &texts);
	write_tape(&access->tape, mark, &texts);
	if (access->proxy.host[0])
		list_printf(&texts, "proxy %s", proxy);
	if (access->ca)
		list_printf(&texts, "ca %s", access->ca);
	if (access->refuse_unknown)
		list_add(&texts, "unknown refuse");
	for (size_t i = 0; i < PROVIDER_TOOL_COUNT; i++)
		if (access->tools & PROVIDER_TOOL_BIT(i))
			list_printf(&texts, "tool %s", provider_tool_names[i]);
	if (access->any_host)
		list_add(&texts, "hosts any");
	if (access->prices)
		list_printf(&texts, "prices %s", access->prices);
	*ret_texts = texts;
}

/* --- reading */

static int read_place(const char *text, struct model_config_place *ret_place, struct error *err)
{
	struct url url;

	return url_parse(text, &url, err) < 0 ? -1 : model_config_place_make(&url, ret_place, err);
}

static int read_key(struct model_config_provider *provider, const char *key, struct error *err)
{
	size_t size = strlen(key);

	if (size == 0 || size >= sizeof provider->key)
		return error_set(err, "a key is empty or longer than %d bytes",
				 MODEL_CONFIG_KEY - 1);
	for (size_t i = 0; i < size; i++)
		if (key[i] <= 0x20 || key[i] > 0x7e)
			return error_set(err, "a key contains invalid characters");
	snprintf(provider->key, sizeof provider->key, "%s", key);
	return 0;
}

static int read_provider(struct model_config *models, const char *text, struct error *err)
{
	size_t word = strcspn(text, " ");
	const char *name = text + word + (text[word] == ' ');
	size_t size = strcspn(name, " ");
	const char *value = name + size + (name[size] == ' ');
	enum provider_id id = provider_find(name, size);
	struct model_config_provider *provider = &models->providers[id];

	if (id == PROVIDER_COUNT) {
		AUTO_FREE char *known = provider_names("");

		return error_set(err, "unknown provider '%.*s' (expected %s)",
				 (int)(size < 40 ? size : 40), name, known);
	}
	if (strncmp(text, "upstream ", 9) == 0)
		return read_place(value, &provider->place, err);
	if (strncmp(text, "key ", 4) == 0)
		return read_key(provider, value, err);
	if (strncmp(text, "free ", 5) == 0) {
		provider->free = true;
		return 0;
	}
	return error_set(err, "the configuration of models is invalid");
}

/* Parses a text about the tape. Returns false if it is about something else. */
static bool read_tape(struct model_config_tape *tape, const char *text)
{
	if (strncmp(text, "record ", 7) == 0)
		tape->mode = MODEL_ACCESS_RECORD;
	else if (strncmp(text, "replay ", 7) == 0)
		tape->mode = MODEL_ACCESS_REPLAY;
	else if (strncmp(text, "mark ", 5) == 0)
		tape->mark = strtoull(text + 5, NULL, 10);
	else if (strncmp(text, "project ", 8) == 0)
		snprintf(tape->project, sizeof tape->project, "%s", text + 8);
	else if (strncmp(text, "home ", 5) == 0)
		snprintf(tape->home, sizeof tape->home, "%s", text + 5);
	else if (strcmp(text, "pace original") == 0)
		tape->paced = true;
	else
		return false;
	return true;
}

/* Parses a text about what a provider may do on its own. Returns false if it is about something
 * else. */
static bool read_tools(struct model_config *models, const char *text)
{
	enum provider_tool tool = strncmp(text, "tool ", 5) == 0 ? provider_tool_find(text + 5)
								 : PROVIDER_TOOL_COUNT;

	if (strcmp(text, "hosts any") == 0)
		models->any_host = true;
	else if (tool < PROVIDER_TOOL_COUNT)
		models->tools |= PROVIDER_TOOL_BIT(tool);
	else
		return false;
	return true;
}

static int read_text(struct model_config *models, const char *text, struct error *err)
{
	if (read_tape(&models->tape, text) || read_tools(models, text))
		return 0;
	if (strncmp(text, "proxy ", 6) == 0) {
		if (read_place(text + 6, &models->proxy, err) < 0)
			return -1;
		return models->proxy.tls
			       ? error_set(err, "a proxy over TLS is not supported: use http://")
			       : 0;
	}
	if (strncmp(text, "ca ", 3) == 0) {
		if (text[3] != '/' || strlen(text + 3) >= sizeof models->ca)
			return error_set(err, "the path of the CA certificates must be absolute");
		snprintf(models->ca, sizeof models->ca, "%s", text + 3);
		return 0;
	}
	if (strcmp(text, "unknown refuse") == 0) {
		models->refuse_unknown = true;
		return 0;
	}
	if (strncmp(text, "prices ", 7) == 0)
		return price_table_add(&models->prices, "your prices.txt", text + 7,
				       strlen(text + 7), err);
	return read_provider(models, text, err);
}

int model_config_read(const struct list *texts, struct model_config *ret_models, struct error *err)
{
	struct model_config models = { 0 };

	if (texts->count > MODEL_CONFIG_TEXTS)
		return error_set(err, "the configuration of models is too long");
	if (price_table_init(&models.prices, err) < 0)
		return -1;
	for (size_t i = 0; i < texts->count; i++) {
		if (read_text(&models, texts->items[i], err) < 0) {
			model_config_release(&models);
			return -1;
		}
	}
	if (models.tape.mode == MODEL_ACCESS_REPLAY && models.tape.mark == 0)
		models.tape.mark = 1;
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		models.active |= models.providers[i].place.set;
	*ret_models = models;
	explicit_bzero(&models, sizeof models);
	return 0;
}

void model_config_release(struct model_config *models)
{
	price_table_release(&models->prices);
	explicit_bzero(models, sizeof *models);
}
