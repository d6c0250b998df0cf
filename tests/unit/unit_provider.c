/* The table of providers, and a run's way to them. */
#include "unit.h"

#include "provider/model_access.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static bool is_word(const char *text)
{
	return text && *text && !strpbrk(text, " \t\r\n");
}

static bool are_words(const char *const *list)
{
	bool words = list != NULL;

	for (; words && *list; list++)
		words = is_word(*list);
	return words;
}

/* Every field, by name: one that is added is added here as well. */
static bool is_whole(const struct provider *row)
{
	struct url url;
	struct error err;

	return is_word(row->name) && url_parse(row->base_url, &url, &err) == 0 && url.tls &&
	       !url.path[0] && is_word(row->base_variable) && row->base_path &&
	       (!row->base_path[0] || strcmp(row->base_path, row->api_path) == 0) &&
	       is_word(row->api_path) && row->api_path[0] == '/' && are_words(row->keys) &&
	       row->keys[0] && are_words(row->logins) && are_words(row->own) && row->own[0] &&
	       row->key_line && strchr(row->key_line, ':') &&
	       row->key_line[strlen(row->key_line) - 1] == ' ' &&
	       (!row->token_start || is_word(row->token_start)) &&
	       (!row->head_mark || is_word(row->head_mark));
}

/* No two providers share a variable. */
static bool is_alone(enum provider_id id)
{
	const struct provider *row = provider_at(id);
	bool alone = true;

	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		bool same = i == id;

		alone = alone && provider_has_variable(provider_at(i), row->base_variable) == same;
		for (const char *const *key = row->keys; *key; key++)
			alone = alone && provider_has_key(provider_at(i), *key) == same &&
				provider_has_variable(provider_at(i), *key) == same;
		for (const char *const *login = row->logins; *login; login++)
			alone = alone && provider_has_variable(provider_at(i), *login) == same;
	}
	return alone;
}

/* Commands of an agent must get no variable by which a provider is reached. */
static bool is_kept_from_commands(const struct provider *row, const char *variable)
{
	const char *const *start = row->own;

	while (*start && strncmp(variable, *start, strlen(*start)) != 0)
		start++;
	return *start != NULL;
}

static void rows(void)
{
	bool whole = true;
	bool found = true;
	bool alone = true;
	bool kept = true;

	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct provider *row = provider_at(i);

		whole = whole && is_whole(row);
		found = found && provider_find(row->name, strlen(row->name)) == i;
		alone = alone && is_alone(i);
		kept = kept && is_kept_from_commands(row, row->base_variable);
		for (const char *const *key = row->keys; *key; key++)
			kept = kept && is_kept_from_commands(row, *key);
	}
	CHECK("every row of the table is whole", whole);
	CHECK("every provider is found by its name", found);
	CHECK("no two providers share a variable", alone);
	CHECK("no variable of a provider is for commands", kept);
	CHECK("a part of a name, and a longer one, are not found",
	      provider_find("open", 4) == PROVIDER_COUNT &&
		      provider_find("openai2", 7) == PROVIDER_COUNT &&
		      provider_find("", 0) == PROVIDER_COUNT);
}

static void words(void)
{
	AUTO_FREE char *names = provider_names("=");
	AUTO_FREE char *keys = provider_key_names();
	enum provider_id id = PROVIDER_COUNT;
	const char *value = provider_split("openai=a=b", &id);

	CHECK("names are listed for people", strcmp(names, "anthropic=, openai= or gemini=") == 0);
	CHECK("variables are listed for people",
	      strcmp(keys, "ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY") == 0);
	CHECK("NAME=VALUE is split at its first sign",
	      value && strcmp(value, "a=b") == 0 && id == PROVIDER_OPENAI &&
		      !provider_split("openai", &id) && !provider_split("other=x", &id));
	CHECK("a key has the header of its provider, and a token is a bearer",
	      strcmp(provider_key_line(provider_at(PROVIDER_ANTHROPIC), "sk-ant-api"),
		     "x-api-key: ") == 0 &&
		      strcmp(provider_key_line(provider_at(PROVIDER_ANTHROPIC), "sk-ant-oat1"),
			     "Authorization: Bearer ") == 0 &&
		      strcmp(provider_key_line(provider_at(PROVIDER_OPENAI), "sk-ant-oat1"),
			     "Authorization: Bearer ") == 0 &&
		      strcmp(provider_key_line(provider_at(PROVIDER_GEMINI), "AI"),
			     "x-goog-api-key: ") == 0);
}

static bool comes_back(const char *text)
{
	struct url url;
	struct error err;

	if (url_parse(text, &url, &err) < 0)
		return false;

	AUTO_FREE char *again = url_text(&url);

	return strcmp(text, again) == 0;
}

static bool refused(const char *text)
{
	struct url url = { .host = "before" };
	struct error err;

	return url_parse(text, &url, &err) < 0 && strcmp(url.host, "before") == 0;
}

static void urls(void)
{
	struct url url;
	struct error err;

	CHECK("a URL comes back as it was written",
	      comes_back("https://a.example") && comes_back("http://a.example:80/v1/") &&
		      comes_back("http://u:p@w@[::1]:3128") && comes_back("http://127.0.0.1/a/b"));
	CHECK("without a port it is the scheme's",
	      url_parse("https://a", &url, &err) == 0 && url_port(&url) == 443 &&
		      url_parse("http://a", &url, &err) == 0 && url_port(&url) == 80);
	CHECK("anything else is refused",
	      refused("") && refused("a.example") && refused("ftp://a") && refused("http://") &&
		      refused("http://a:0") && refused("http://a:65536") &&
		      refused("http://a:1x") && refused("http://@a") && refused("http://a/%20") &&
		      refused("http://a//b") && refused("http://a/../b"));
}

static void sources(void)
{
	static const char *const texts[] = { "env:NAME", "file:/a/b c", "command:pass show x" };
	bool same = true;
	struct key_source source = { 0 };
	struct error err;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		same = same && key_source_parse(texts[i], &source, &err) == 0;

		AUTO_FREE char *again = key_source_text(&source);

		same = same && again && strcmp(again, texts[i]) == 0;
		key_source_release(&source);
	}
	CHECK("a source of a key comes back as it was written", same);
	CHECK("no source has no text", key_source_text(&source) == NULL);
	CHECK("a key itself, a relative path and nothing are refused",
	      key_source_parse("sk-ant-1", &source, &err) < 0 &&
		      key_source_parse("file:a", &source, &err) < 0 &&
		      key_source_parse("env:", &source, &err) < 0 &&
		      key_source_parse("command:", &source, &err) < 0);
}

static void accesses(void)
{
	struct model_access access = { 0 };
	struct model_access_upstream *upstream = &access.upstreams[PROVIDER_OPENAI];
	struct error err;

	CHECK("nothing is no way to models", !model_access_is_set(&access));
	CHECK("a local server is one",
	      model_access_upstream_parse("local:http://127.0.0.1:11434", upstream, &err) == 0 &&
		      upstream->local && upstream->url.port == 11434 &&
		      model_access_is_set(&access));
	CHECK("a mistake changes nothing",
	      model_access_upstream_parse("local:127.0.0.1", upstream, &err) < 0 &&
		      upstream->local && upstream->url.port == 11434);
	CHECK("another server costs",
	      model_access_upstream_parse("https://a.example", upstream, &err) == 0 &&
		      !upstream->local);
	access.tape.mode = MODEL_ACCESS_REPLAY;
	access.tape.path = mem_dup("/t");
	CHECK("a tape has one use",
	      strcmp(model_access_tape(&access, MODEL_ACCESS_REPLAY), "/t") == 0 &&
		      !model_access_tape(&access, MODEL_ACCESS_RECORD));
	model_access_release(&access);
	CHECK("what is released is nothing", !model_access_is_set(&access));
}

int main(void)
{
	rows();
	words();
	urls();
	sources();
	accesses();
	return unit_failures > 0;
}
