/*
 * The providers of models, each described once. Every name, variable, address and header of a
 * provider comes from this table, so a new provider is a new row.
 */
#ifndef PROVIDER_PROVIDER_H
#define PROVIDER_PROVIDER_H

#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum provider_id { PROVIDER_ANTHROPIC, PROVIDER_OPENAI, PROVIDER_GEMINI, PROVIDER_COUNT };

/* Names of variables, for the tables of agents, which need constants. */
#define PROVIDER_ANTHROPIC_KEY   "ANTHROPIC_API_KEY"
#define PROVIDER_ANTHROPIC_BASE  "ANTHROPIC_BASE_URL"
#define PROVIDER_ANTHROPIC_TOKEN "ANTHROPIC_AUTH_TOKEN"
#define PROVIDER_ANTHROPIC_OAUTH "CLAUDE_CODE_OAUTH_TOKEN"
#define PROVIDER_OPENAI_KEY      "OPENAI_API_KEY"
#define PROVIDER_OPENAI_BASE     "OPENAI_BASE_URL"
#define PROVIDER_OPENAI_CODEX    "CODEX_API_KEY"
#define PROVIDER_GEMINI_KEY      "GEMINI_API_KEY"
#define PROVIDER_GEMINI_BASE     "GOOGLE_GEMINI_BASE_URL"

/* One provider. Lists end in NULL; a row without something says so. */
struct provider {
	const char *name;          /* in settings, ledgers and tapes */
	const char *base_url;      /* its own servers */
	const char *base_variable; /* names another base URL to its clients */
	const char *base_path;     /* clients expect it at the end of a base URL; may be empty */
	const char *api_path;      /* the paths of all requests begin with it */
	const char *const *keys;   /* variables with an API key; clients read the first one */
	const char *const *logins; /* other variables by which its clients log in */
	const char *const *own;    /* variables that begin so are not for commands of an agent */
	const char *key_header;    /* carries the key; "Authorization" as a bearer token */
	const char *token_start;   /* a key that begins so is a bearer token; NULL: none does */
	const char *head_mark;     /* the header of its clients alone; NULL: they have none */
};

const struct provider *provider_at(enum provider_id id);

/* The provider with this name, or PROVIDER_COUNT: there is none. The name need not end in a NUL. */
enum provider_id provider_find(const char *name, size_t size);

/* Splits "NAME=VALUE". Returns the value, or NULL if no provider has this name. */
const char *provider_split(const char *text, enum provider_id *ret_id);

/* Does this variable hold an API key of the provider? */
bool provider_has_key(const struct provider *provider, const char *variable);

/* Does this variable decide how clients of the provider log in, or where they look for it? */
bool provider_has_variable(const struct provider *provider, const char *variable);

/* Is this variable, "NAME=VALUE", about a provider? Commands that an agent runs do not get it. */
bool provider_owns(const char *variable);

/* Appends the line of a request's head that carries this key. */
void provider_add_key(const struct provider *provider, const char *key, struct buffer *out);

/* Lists for messages: "anthropic=, openai= or gemini=" if `after` is "=", and the first key
 * variable of each provider. The caller frees. */
char *provider_names(const char *after);
char *provider_key_names(void);

#endif
