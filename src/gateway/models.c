/* What the gateway is told about models: see models.h. */
#include "gateway/models.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes "user:password@" off. */
static int read_credential(const char **at, struct models_place *place, struct error *err)
{
	const char *end = *at + strcspn(*at, "/");
	const char *sign = memrchr(*at, '@', (size_t)(end - *at));
	size_t size = sign ? (size_t)(sign - *at) : 0;

	if (!sign)
		return 0;
	if (size == 0 || size >= sizeof place->credential)
		return error_set(err, "a URL has a user name and password that are too long");
	memcpy(place->credential, *at, size);
	*at = sign + 1;
	return 0;
}

static int read_host(const char *at, size_t size, struct models_place *place, struct error *err)
{
	char host[GATEWAY_HOST];
	const char *colon = memrchr(at, ':', size);
	unsigned long port = place->tls ? 443 : 80;
	size_t length = size;

	if (colon && !memchr(colon, ']', size - (size_t)(colon - at))) {
		char *end;

		length = (size_t)(colon - at);
		port = isdigit((unsigned char)colon[1]) ? strtoul(colon + 1, &end, 10) : 0;
		if (port == 0 || port > UINT16_MAX || end != at + size)
			return error_set(err, "the port is not a number between 1 and 65535");
	}
	if (length > 2 && at[0] == '[' && at[length - 1] == ']') {
		at++;
		length -= 2;
	}
	if (length == 0 || length >= sizeof host)
		return error_set(err, "it names no host");
	memcpy(host, at, length);
	host[length] = '\0';
	return rule_target_parse(host, (uint16_t)port, &place->target, err);
}

/* The paths of requests have these in front already. */
static void drop_version(char *prefix)
{
	static const char *const versions[] = { "/v1", "/v1beta" };
	size_t size = strlen(prefix);

	while (size > 0 && prefix[size - 1] == '/')
		prefix[--size] = '\0';
	for (size_t i = 0; i < 2; i++) {
		size_t length = strlen(versions[i]);

		if (size >= length && strcmp(prefix + size - length, versions[i]) == 0) {
			prefix[size - length] = '\0';
			return;
		}
	}
}

int models_place_parse(const char *url, struct models_place *ret_place, struct error *err)
{
	struct models_place place = { .set = true };
	const char *at = NULL;
	struct error why;
	size_t host;

	if (strncmp(url, "https://", 8) == 0) {
		place.tls = true;
		at = url + 8;
	} else if (strncmp(url, "http://", 7) == 0) {
		at = url + 7;
	}
	if (!at)
		return error_set(err, "a URL begins with https:// or http://");
	if (read_credential(&at, &place, err) < 0)
		return -1;
	host = strcspn(at, "/");
	if (read_host(at, host, &place, &why) < 0)
		return error_set(err, "'%.*s': %.500s", (int)host, at, why.text);
	at += host;
	if (strlen(at) >= sizeof place.prefix ||
	    strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/") !=
		    strlen(at) ||
	    strstr(at, "//") || strstr(at, "/."))
		return error_set(err, "the path of a URL has letters, digits and - . _ / only");
	snprintf(place.prefix, sizeof place.prefix, "%s", at);
	drop_version(place.prefix);
	*ret_place = place;
	return 0;
}

static struct models_provider *find(struct models *models, const char *name, size_t size)
{
	for (size_t i = 0; i < REQUEST_PROVIDERS; i++)
		if (strlen(request_provider_names[i]) == size &&
		    memcmp(request_provider_names[i], name, size) == 0)
			return &models->providers[i];
	return NULL;
}

static int read_key(struct models_provider *provider, const char *key, struct error *err)
{
	size_t size = strlen(key);

	if (size == 0 || size >= sizeof provider->key)
		return error_set(err, "a key is empty, or longer than %d bytes", MODELS_KEY - 1);
	for (size_t i = 0; i < size; i++)
		if (key[i] <= 0x20 || key[i] > 0x7e)
			return error_set(err, "a key has bytes that no key has");
	snprintf(provider->key, sizeof provider->key, "%s", key);
	return 0;
}

static int read_provider(struct models *models, const char *text, struct error *err)
{
	size_t word = strcspn(text, " ");
	const char *name = text + word + (text[word] == ' ');
	size_t size = strcspn(name, " ");
	const char *value = name + size + (name[size] == ' ');
	struct models_provider *provider = find(models, name, size);

	if (!provider)
		return error_set(err, "there is no provider '%.*s' (anthropic, openai, gemini)",
				 (int)(size < 40 ? size : 40), name);
	if (strncmp(text, "upstream ", 9) == 0)
		return models_place_parse(value, &provider->place, err);
	if (strncmp(text, "key ", 4) == 0)
		return read_key(provider, value, err);
	if (strncmp(text, "free ", 5) == 0) {
		provider->free = true;
		return 0;
	}
	return error_set(err, "the configuration of models is strange");
}

/* What there is to know about a tape. Returns false: it is something else. */
static bool read_tape(struct models_tape *tape, const char *text)
{
	static const struct {
		const char *word;
		enum models_tape_mode mode;
	} modes[] = { { "record ", MODELS_RECORD }, { "replay ", MODELS_REPLAY } };

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (strncmp(text, modes[i].word, strlen(modes[i].word)) == 0) {
			tape->mode = modes[i].mode;
			return true;
		}
	if (strncmp(text, "mark ", 5) == 0)
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

static int read_text(struct models *models, const char *text, struct error *err)
{
	if (read_tape(&models->tape, text))
		return 0;
	if (strncmp(text, "proxy ", 6) == 0) {
		if (models_place_parse(text + 6, &models->proxy, err) < 0)
			return -1;
		return models->proxy.tls
			       ? error_set(
					 err,
					 "a proxy that is itself reached by TLS is not supported: write http://")
			       : 0;
	}
	if (strncmp(text, "ca ", 3) == 0) {
		if (text[3] != '/' || strlen(text + 3) >= sizeof models->ca)
			return error_set(err, "the file of certificates is no absolute path");
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

int models_read(const struct list *texts, struct models *ret_models, struct error *err)
{
	struct models models = { 0 };

	if (texts->count > MODELS_TEXTS)
		return error_set(err, "the configuration of models is too long");
	if (price_table_init(&models.prices, err) < 0)
		return -1;
	for (size_t i = 0; i < texts->count; i++) {
		if (read_text(&models, texts->items[i], err) < 0) {
			models_release(&models);
			return -1;
		}
	}
	if (models.tape.mode == MODELS_REPLAY && models.tape.mark == 0)
		models.tape.mark = 1;
	for (size_t i = 0; i < REQUEST_PROVIDERS; i++)
		models.active |= models.providers[i].place.set;
	*ret_models = models;
	explicit_bzero(&models, sizeof models);
	return 0;
}

void models_release(struct models *models)
{
	price_table_release(&models->prices);
	explicit_bzero(models, sizeof *models);
}
