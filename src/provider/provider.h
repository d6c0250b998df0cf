/*
 * The providers of models, each described once. Every name, variable, address and header of a
 * provider comes from this table, so a new provider is a new row.
 */
#ifndef PROVIDER_PROVIDER_H
#define PROVIDER_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>

enum provider_id { PROVIDER_ANTHROPIC, PROVIDER_OPENAI, PROVIDER_GEMINI, PROVIDER_COUNT };

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
	const char *key_line;      /* of a request's head, up to the key */
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

/* The start of the header line that carries this key. */
const char *provider_key_line(const struct provider *provider, const char *key);

/* Lists for messages: "anthropic=, openai= or gemini=" if `after` is "=", and the first key variable
 * of each provider. The caller frees. */
char *provider_names(const char *after);
char *provider_key_names(void);

#endif
