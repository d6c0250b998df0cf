/* Routes to models: see request.h. */
#include "meter/request.h"

#include <ctype.h>
#include <string.h>

static const struct request_route routes[] = {
	{ "messages", "POST", "/v1/messages", PROVIDER_ANTHROPIC, USAGE_ANTHROPIC, .billed = true },
	{ "count", "POST", "/v1/messages/count_tokens", PROVIDER_ANTHROPIC, USAGE_ANTHROPIC },
	{ "chat", "POST", "/v1/chat/completions", PROVIDER_OPENAI, USAGE_CHAT, .billed = true },
	{ "responses", "POST", "/v1/responses", PROVIDER_OPENAI, USAGE_RESPONSES, .billed = true },
	{ "models", "GET", "/v1/models", PROVIDER_OPENAI, USAGE_CHAT },
	{ "models", "GET", "/v1/models/*", PROVIDER_OPENAI, USAGE_CHAT },
	{ "generate", "POST", "/v1beta/models/*:generateContent", PROVIDER_GEMINI, USAGE_GEMINI,
	  .billed = true },
	{ "generate", "POST", "/v1beta/models/*:streamGenerateContent", PROVIDER_GEMINI,
	  USAGE_GEMINI, .billed = true, .stream = true },
	{ "count", "POST", "/v1beta/models/*:countTokens", PROVIDER_GEMINI, USAGE_GEMINI },
	{ "models", "GET", "/v1beta/models", PROVIDER_GEMINI, USAGE_GEMINI },
	{ "models", "GET", "/v1beta/models/*", PROVIDER_GEMINI, USAGE_GEMINI },
};

/* Anthropic's model list has the same path as OpenAI's. */
static const struct request_route anthropic_models[] = {
	{ "models", "GET", "/v1/models", PROVIDER_ANTHROPIC, USAGE_ANTHROPIC },
	{ "models", "GET", "/v1/models/*", PROVIDER_ANTHROPIC, USAGE_ANTHROPIC },
};

/* Returns the length of the model name at the start of the text. */
static size_t name_size(const char *text, size_t size)
{
	size_t i = 0;

	while (i < size && i < REQUEST_MODEL - 1 &&
	       (isalnum((unsigned char)text[i]) || text[i] == '-' || text[i] == '_' ||
		(text[i] == '.' && i > 0)))
		i++;
	return i;
}

static bool matches(const struct request_route *route, const char *path, size_t size,
		    char ret_model[REQUEST_MODEL])
{
	const char *star = strchr(route->path, '*');
	size_t before = star ? (size_t)(star - route->path) : strlen(route->path);
	const char *suffix = star ? star + 1 : "";
	size_t name;

	ret_model[0] = '\0';
	if (size < before || memcmp(path, route->path, before) != 0)
		return false;
	if (!star)
		return size == before;
	name = name_size(path + before, size - before);
	if (name == 0 || size - before - name != strlen(suffix) ||
	    memcmp(path + before + name, suffix, strlen(suffix)) != 0)
		return false;
	memcpy(ret_model, path + before, name);
	ret_model[name] = '\0';
	return true;
}

static bool is_one_of(const char *part, size_t size)
{
	static const char *const known[] = { "alt=sse", "alt=json", "beta=true" };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i]) == size && memcmp(known[i], part, size) == 0)
			return true;
	return false;
}

/* Copies the query without keys. Only plain characters are allowed in it. */
static int add_query(struct request_target *target, size_t used, const char *query, size_t size)
{
	char mark = '?';

	while (size > 0) {
		const char *end = memchr(query, '&', size);
		size_t part = end ? (size_t)(end - query) : size;
		bool part_dropped = false;

		for (size_t i = 0; i < part; i++)
			if (!isalnum((unsigned char)query[i]) && !strchr("-._~=,:", query[i]))
				return -1;
		/* Google omits values that "fields" does not name, and "alt" can change the
		 * format. */
		if (target->route->billed && !is_one_of(query, part))
			part_dropped = true;
		if (part > 0 && !part_dropped && (part < 4 || strncasecmp(query, "key=", 4) != 0)) {
			if (used + part + 2 > REQUEST_TARGET)
				return -1;
			target->target[used++] = mark;
			memcpy(target->target + used, query, part);
			used += part;
			target->target[used] = '\0';
			mark = '&';
		}
		query += part + (end != NULL);
		size -= part + (end != NULL);
	}
	return 0;
}

static const struct request_route *search(const struct request_route *table, size_t count,
					  const char *method, size_t method_size, const char *path,
					  size_t path_size, char ret_model[REQUEST_MODEL])
{
	for (size_t i = 0; i < count; i++)
		if (strlen(table[i].method) == method_size &&
		    memcmp(table[i].method, method, method_size) == 0 &&
		    matches(&table[i], path, path_size, ret_model))
			return &table[i];
	return NULL;
}

int request_find(const char *method, size_t method_size, const char *target, size_t target_size,
		 bool anthropic, struct request_target *ret_target)
{
	const char *query = memchr(target, '?', target_size);
	size_t size = query ? (size_t)(query - target) : target_size;
	struct request_target found = { 0 };

	if (size >= REQUEST_TARGET)
		return -1;
	if (anthropic)
		found.route = search(anthropic_models,
				     sizeof anthropic_models / sizeof *anthropic_models, method,
				     method_size, target, size, found.model);
	if (!found.route)
		found.route = search(routes, sizeof routes / sizeof *routes, method, method_size,
				     target, size, found.model);
	if (!found.route)
		return -1;
	memcpy(found.target, target, size);
	if (query && add_query(&found, size, query + 1, target_size - size - 1) < 0)
		return -1;
	*ret_target = found;
	return 0;
}
