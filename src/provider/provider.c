/* The table of providers: see provider.h. */
#include "provider/provider.h"

#include "util/mem.h"

#include <string.h>

static const char *const anthropic_keys[] = { PROVIDER_ANTHROPIC_KEY, NULL };
static const char *const anthropic_logins[] = { PROVIDER_ANTHROPIC_TOKEN, PROVIDER_ANTHROPIC_OAUTH,
						NULL };
static const char *const anthropic_own[] = { "ANTHROPIC_", NULL };

static const char *const openai_keys[] = { PROVIDER_OPENAI_KEY, NULL };
static const char *const openai_logins[] = { PROVIDER_OPENAI_CODEX, NULL };
static const char *const openai_own[] = { "OPENAI_", NULL };

static const char *const gemini_keys[] = { PROVIDER_GEMINI_KEY, "GOOGLE_API_KEY", NULL };
static const char *const gemini_logins[] = { NULL };
static const char *const gemini_own[] = { "GEMINI_", "GOOGLE_GEMINI_", "GOOGLE_API_KEY", NULL };

static const char bearer_header[] = "Authorization";

/* Rows must be complete. */
#pragma GCC diagnostic error "-Wmissing-field-initializers"
static const struct provider table[] = {
	[PROVIDER_ANTHROPIC] = {
		/* name */ "anthropic",
		/* base_url */ "https://api.anthropic.com",
		/* base_variable */ PROVIDER_ANTHROPIC_BASE,
		/* base_path */ "",
		/* api_path */ "/v1",
		/* keys */ anthropic_keys,
		/* logins */ anthropic_logins,
		/* own */ anthropic_own,
		/* key_header */ "x-api-key",
		/* token_start */ "sk-ant-oat",
		/* head_mark */ "anthropic-version",
		/* usual_model */ PROVIDER_ANTHROPIC_MODEL,
	},
	[PROVIDER_OPENAI] = {
		/* name */ "openai",
		/* base_url */ "https://api.openai.com",
		/* base_variable */ PROVIDER_OPENAI_BASE,
		/* base_path */ "/v1",
		/* api_path */ "/v1",
		/* keys */ openai_keys,
		/* logins */ openai_logins,
		/* own */ openai_own,
		/* key_header */ bearer_header,
		/* token_start */ NULL,
		/* head_mark */ NULL,
		/* usual_model */ PROVIDER_OPENAI_MODEL,
	},
	[PROVIDER_GEMINI] = {
		/* name */ "gemini",
		/* base_url */ "https://generativelanguage.googleapis.com",
		/* base_variable */ PROVIDER_GEMINI_BASE,
		/* base_path */ "",
		/* api_path */ "/v1beta",
		/* keys */ gemini_keys,
		/* logins */ gemini_logins,
		/* own */ gemini_own,
		/* key_header */ "x-goog-api-key",
		/* token_start */ NULL,
		/* head_mark */ NULL,
		/* usual_model */ "gemini-3.1-pro-preview",
	},
};

_Static_assert(sizeof table / sizeof *table == PROVIDER_COUNT, "every provider has its row");

const struct provider *provider_at(enum provider_id id)
{
	return &table[id];
}

enum provider_id provider_find(const char *name, size_t size)
{
	enum provider_id id = 0;

	while (id < PROVIDER_COUNT &&
	       (strlen(table[id].name) != size || memcmp(table[id].name, name, size) != 0))
		id++;
	return id;
}

const char *provider_split(const char *text, enum provider_id *ret_id)
{
	size_t size = strcspn(text, "=");
	enum provider_id id = text[size] ? provider_find(text, size) : PROVIDER_COUNT;

	if (id == PROVIDER_COUNT)
		return NULL;
	*ret_id = id;
	return text + size + 1;
}

static bool has(const char *const *names, const char *name)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

bool provider_has_key(const struct provider *provider, const char *variable)
{
	return has(provider->keys, variable);
}

bool provider_has_variable(const struct provider *provider, const char *variable)
{
	return has(provider->keys, variable) || has(provider->logins, variable) ||
	       strcmp(provider->base_variable, variable) == 0;
}

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool provider_owns(const char *variable)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		for (const char *const *start = table[i].own; *start; start++)
			if (begins(variable, *start))
				return true;
	return false;
}

void provider_add_key(const struct provider *provider, const char *key, struct buffer *out)
{
	bool bearer = provider->key_header == bearer_header ||
		      (provider->token_start && begins(key, provider->token_start));

	if (bearer)
		buffer_printf(out, "%s: Bearer %s\r\n", bearer_header, key);
	else
		buffer_printf(out, "%s: %s\r\n", provider->key_header, key);
}

/* Joins words with a suffix each: "a", "a or b", "a, b or c". */
static char *join(const char *const *words, size_t count, const char *after)
{
	char *text = mem_dup("");

	for (size_t i = 0; i < count; i++) {
		AUTO_FREE char *before = text;

		text = mem_format("%s%s%s%s", before,
				  i == 0           ? ""
				  : i + 1 == count ? " or "
						   : ", ",
				  words[i], after);
	}
	return text;
}

char *provider_names(const char *after)
{
	const char *names[PROVIDER_COUNT];

	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		names[i] = table[i].name;
	return join(names, PROVIDER_COUNT, after);
}

char *provider_key_names(void)
{
	const char *names[PROVIDER_COUNT];

	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		names[i] = table[i].keys[0];
	return join(names, PROVIDER_COUNT, "");
}
