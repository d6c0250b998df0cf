/* The table of providers, and a run's access to models. */
#include "unit.h"

#include "agent/adapter.h"
#include "config/setting.h"
#include "meter/request.h"
#include "provider/model_access.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <ctype.h>
#include <fcntl.h>
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

/* Checks every field by name; add new fields here. */
static bool is_whole(const struct provider *row)
{
	struct url url;
	struct error err;

	return is_word(row->name) && url_parse(row->base_url, &url, &err) == 0 && url.tls &&
	       !url.path[0] && is_word(row->base_variable) && row->base_path &&
	       (!row->base_path[0] || strcmp(row->base_path, row->api_path) == 0) &&
	       is_word(row->api_path) && row->api_path[0] == '/' && are_words(row->keys) &&
	       row->keys[0] && are_words(row->logins) && are_words(row->own) && row->own[0] &&
	       is_word(row->key_header) && !strchr(row->key_header, ':') &&
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
		kept = kept && provider_owns(row->base_variable);
		for (const char *const *key = row->keys; *key; key++)
			kept = kept && provider_owns(*key);
	}
	CHECK("every row of the table is complete", whole);
	CHECK("every provider is found by its name", found);
	CHECK("no two providers share a variable", alone);
	CHECK("no variable of a provider is for commands", kept);
	CHECK("a part of a name, and a longer one, are not found",
	      provider_find("open", 4) == PROVIDER_COUNT &&
		      provider_find("openai2", 7) == PROVIDER_COUNT &&
		      provider_find("", 0) == PROVIDER_COUNT);
}

static bool is_sent(enum provider_id id, const char *key, const char *line)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(256);

	provider_add_key(provider_at(id), key, &out);
	return strcmp(buffer_text(&out), line) == 0;
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
	      is_sent(PROVIDER_ANTHROPIC, "sk-ant-api", "x-api-key: sk-ant-api\r\n") &&
		      is_sent(PROVIDER_ANTHROPIC, "sk-ant-oat1",
			      "Authorization: Bearer sk-ant-oat1\r\n") &&
		      is_sent(PROVIDER_OPENAI, "sk", "Authorization: Bearer sk\r\n") &&
		      is_sent(PROVIDER_GEMINI, "AI", "x-goog-api-key: AI\r\n"));
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

	CHECK("a URL is formatted as it was written",
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
	CHECK("a key source is formatted as it was written", same);
	CHECK("no source has no text", key_source_text(&source) == NULL);
	CHECK("a key itself, a relative path and empty sources are refused",
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

	CHECK("an empty model access is not set", !model_access_is_set(&access));
	CHECK("a local server sets it",
	      model_access_upstream_parse("local:http://127.0.0.1:11434", upstream, &err) == 0 &&
		      upstream->local && upstream->url.port == 11434 &&
		      model_access_is_set(&access));
	CHECK("a mistake changes nothing",
	      model_access_upstream_parse("local:127.0.0.1", upstream, &err) < 0 &&
		      upstream->local && upstream->url.port == 11434);
	CHECK("any other server is not free",
	      model_access_upstream_parse("https://a.example", upstream, &err) == 0 &&
		      !upstream->local);
	access.tape.mode = MODEL_ACCESS_REPLAY;
	access.tape.path = mem_dup("/t");
	CHECK("a tape has one mode",
	      strcmp(model_access_tape(&access, MODEL_ACCESS_REPLAY), "/t") == 0 &&
		      !model_access_tape(&access, MODEL_ACCESS_RECORD));
	model_access_release(&access);
	CHECK("a released model access is empty", !model_access_is_set(&access));
}

/* --- providers in documentation and scripts */

static void add_list(struct buffer *out, const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		buffer_printf(out, "%s`%s`", i ? ", " : "", names[i]);
}

static bool is_documented(const char *document, const struct provider *row)
{
	AUTO_BUFFER struct buffer line = BUFFER_INIT(1024);

	buffer_printf(&line, "\n| %s | ", row->name);
	add_list(&line, row->keys);
	buffer_printf(&line, " | `%s` | `%s` | `%s` |\n", row->base_url, row->base_variable,
		      row->key_header);
	return strstr(document, buffer_text(&line));
}

/* Returns true if this path is a route of the provider, with any method. */
static bool is_route(const char *path, size_t size, enum provider_id id)
{
	static const char *const methods[] = { "POST", "GET" };
	struct request_target target;

	for (size_t i = 0; i < 2; i++)
		if (request_find(methods[i], strlen(methods[i]), path, size,
				 id == PROVIDER_ANTHROPIC, &target) == 0 &&
		    target.route->provider == id)
			return true;
	return false;
}

/* Checks the provider's row in the table of paths, in which paths are quoted with backticks. */
static bool has_true_paths(const char *document, enum provider_id id)
{
	AUTO_FREE char *start = mem_format("\n| %s | `/", provider_at(id)->name);
	const char *at = strstr(document, start);
	const char *end = at ? strchr(at + 1, '\n') : NULL;
	size_t count = 0;

	while (end && (at = memchr(at, '`', (size_t)(end - at)))) {
		size_t size = strcspn(at + 1, "`");

		if (!is_route(at + 1, size, id))
			return false;
		at += size + 2;
		count++;
	}
	return count > 0;
}

static void documents(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	AUTO_FD fd = open(CORPUS "/../../../docs/models.md", O_RDONLY | O_CLOEXEC);
	bool rows_are = fd >= 0 && fd_read_all(fd, &text) == 0;
	bool paths_are = rows_are;

	for (size_t i = 0; rows_are && i < PROVIDER_COUNT; i++) {
		rows_are = is_documented(buffer_text(&text), provider_at(i));
		paths_are = paths_are && has_true_paths(buffer_text(&text), i);
	}
	CHECK("docs/models.md has the row of every provider", rows_are);
	CHECK("docs/models.md names only paths that are routes", paths_are);
}

static void settings(void)
{
	const struct setting *setting = setting_at(SETTING_MODEL_KEY);
	bool names = true;
	bool keys = true;

	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct provider *row = provider_at(i);

		names = names && strstr(setting->help, row->name);
		for (const char *const *key = row->keys; *key; key++)
			keys = keys && strstr(setting->more, *key);
	}
	CHECK("the help on model-key names every provider", names);
	CHECK("the reference on model-key names every variable", keys);
}

/* Returns true if every base URL that a script reads has a variable in the table. */
static bool reads_known_variables(const char *script)
{
	for (const char *at = script; (at = strstr(at, "_BASE_URL")); at++) {
		const char *start = at;
		bool known = false;

		while (start > script && (isupper((unsigned char)start[-1]) || start[-1] == '_'))
			start--;
		for (size_t i = 0; i < PROVIDER_COUNT; i++) {
			const char *name = provider_at(i)->base_variable;

			known = known || strncmp(start, name, strlen(name)) == 0;
		}
		if (!known)
			return false;
	}
	return true;
}

static void agents(void)
{
	const struct adapter *agent;
	bool known = true;

	for (size_t i = 0; (agent = adapter_at(i)); i++)
		known = known && (!agent->setup || reads_known_variables(agent->setup));
	CHECK("the scripts of agents read variables that the fence sets", known);
}

int main(void)
{
	rows();
	words();
	urls();
	sources();
	accesses();
	documents();
	settings();
	agents();
	return unit_failures > 0;
}
