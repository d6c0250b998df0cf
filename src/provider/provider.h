/* The table of model providers. Every name, variable, address and header of a provider comes
 * from here, so a new provider is a new row. */
#ifndef PROVIDER_PROVIDER_H
#define PROVIDER_PROVIDER_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum provider_id { PROVIDER_ANTHROPIC, PROVIDER_OPENAI, PROVIDER_GEMINI, PROVIDER_COUNT };

/* Names of models and variables, as constants for other tables. */
#define PROVIDER_ANTHROPIC_MODEL "claude-sonnet-5-5"
#define PROVIDER_OPENAI_MODEL    "gpt-6-sol"
#define PROVIDER_ANTHROPIC_KEY   "ANTHROPIC_API_KEY"
#define PROVIDER_ANTHROPIC_BASE  "ANTHROPIC_BASE_URL"
#define PROVIDER_ANTHROPIC_TOKEN "ANTHROPIC_AUTH_TOKEN"
#define PROVIDER_ANTHROPIC_OAUTH "CLAUDE_CODE_OAUTH_TOKEN"
#define PROVIDER_OPENAI_KEY      "OPENAI_API_KEY"
#define PROVIDER_OPENAI_BASE     "OPENAI_BASE_URL"
#define PROVIDER_OPENAI_CODEX    "CODEX_API_KEY"
#define PROVIDER_GEMINI_KEY      "GEMINI_API_KEY"
#define PROVIDER_GEMINI_BASE     "GOOGLE_GEMINI_BASE_URL"

/* One provider. Lists end with NULL. */
struct provider {
	const char *name;          /* in settings, ledgers and tapes */
	const char *base_url;      /* the provider's own servers */
	const char *base_variable; /* the variable that gives clients another base URL */
	const char *base_path;     /* the path clients expect in a base URL; may be empty */
	const char *api_path;      /* the prefix of every request's path */
	const char *const *keys;   /* variables with an API key; clients read the first */
	const char *const *logins; /* other variables that clients log in with */
	const char *const *own;    /* prefixes of variables hidden from an agent's commands */
	const char *key_header;    /* carries the key; "Authorization" as a bearer token */
	const char *token_start;   /* prefix of keys that are bearer tokens, or NULL */
	const char *head_mark;     /* a header sent only by its clients, or NULL */
	const char *usual_model;   /* of the built-in agent, and for estimates */
};

const struct provider *provider_at(enum provider_id id);

/* Finds a provider by name, or returns PROVIDER_COUNT. The name need not be NUL-terminated. */
enum provider_id provider_find(const char *name, size_t size);

/* Splits "NAME=VALUE". Returns the value, or NULL if there is no provider of this name. */
const char *provider_split(const char *text, enum provider_id *ret_id);

/* Returns true if this variable holds an API key of the provider. */
bool provider_has_key(const struct provider *provider, const char *variable);

/* Returns true if this variable decides how the provider's clients log in, or to which server. */
bool provider_has_variable(const struct provider *provider, const char *variable);

/* Returns true if this variable ("NAME=VALUE") belongs to a provider and is hidden from the
 * commands that an agent runs. */
bool provider_owns(const char *variable);

/* Appends the request header that carries this key. */
void provider_add_key(const struct provider *provider, const char *key, struct buffer *out);

/* Lists for messages: provider names with a suffix, such as "anthropic=, openai= or gemini=" for
 * "=", and the first key variable of each provider. The caller frees. */
char *provider_names(const char *after);
char *provider_key_names(void);

#endif
