/* Checks whether a provider may do what a request asks for: see request.h. */
#include "meter/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PATH_MOST = 160, HOST_MOST = 128 };

/* Writes the place of a field as in "tools[].type". */
static void write_path(const struct schema *schema, size_t row, char *ret_path, size_t room)
{
	const struct jsonscan_node *node = &schema->nodes[row];
	bool element = strcmp(node->key, "[]") == 0;
	size_t used;

	ret_path[0] = '\0';
	if (row == JSONSCAN_ROOT || room < 2)
		return;
	write_path(schema, node->parent, ret_path, room);
	used = strlen(ret_path);
	snprintf(ret_path + used, room - used, "%s%s", used && !element ? "." : "", node->key);
}

struct path {
	char text[PATH_MOST];
};

static struct path path_of(const struct request_body *body, size_t row)
{
	struct path path;

	write_path(body->schema, row, path.text, sizeof path.text);
	return path;
}

void request_check_name(const struct request_body *body, size_t row, const char *key,
			char ret_name[REQUEST_FIELD])
{
	struct path path = path_of(body, row);

	snprintf(ret_name, REQUEST_FIELD, "%s%s%.60s", path.text, path.text[0] && key[0] ? "." : "",
		 key);
}

static bool is_allowed(const struct request_body *body, enum provider_tool tool)
{
	return (body->policy.tools & PROVIDER_TOOL_BIT(tool)) != 0;
}

/* Returns true if the value is a text without NUL bytes that was kept as a whole. */
static bool is_word(const struct jsonscan_value *value)
{
	return value->kind == JSONSCAN_STRING && value->bytes == value->kept &&
	       strlen(value->text) == value->kept;
}

/* Returns true if a value, seen at its start or, for a list, at its end, is more than nothing. */
static bool is_set(const struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_END)
		return body->scan.list[body->scan.depth] && value->number > 0;
	return value->kind != JSONSCAN_NULL && value->kind != JSONSCAN_FALSE &&
	       value->kind != JSONSCAN_LIST;
}

/* Returns true at the end of an object. */
static bool ends_object(const struct request_body *body, const struct jsonscan_value *value)
{
	return value->kind == JSONSCAN_END && !body->scan.list[body->scan.depth];
}

static void deny_tool(struct request_body *body, size_t row, enum provider_tool tool,
		      const char *what)
{
	request_body_deny(body, "%s: %s; 'provider-tools: %s' would allow it",
			  path_of(body, row).text, what, provider_tool_names[tool]);
}

static bool require(struct request_body *body, size_t row, enum provider_tool tool,
		    const char *what)
{
	if (is_allowed(body, tool))
		return true;
	deny_tool(body, row, tool, what);
	return false;
}

/* Returns true if the table has rows for members of an object here, or for elements of a list. */
static bool reads(const struct schema *schema, size_t row, bool elements)
{
	size_t parent = schema->nodes[row].like ? schema->nodes[row].like : row;

	for (size_t i = parent + 1; i < schema->count; i++)
		if (schema->nodes[i].parent == parent &&
		    (strcmp(schema->nodes[i].key, "[]") == 0) == elements)
			return true;
	return false;
}

/* --- addresses */

struct place {
	char host[HOST_MOST];
	uint16_t port;
	char rule[HOST_MOST + 8]; /* as in the setting `allow`: with an unusual port */
};

/* Reads the port after a host. Returns 0 for anything but a colon and a number. */
static uint16_t read_port(const char *text, size_t size, uint16_t usual)
{
	unsigned long port = 0;

	if (size == 0)
		return usual;
	if (text[0] != ':' || size < 2 || size > 6)
		return 0;
	for (size_t i = 1; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		port = port * 10 + (unsigned long)(text[i] - '0');
	}
	return port <= UINT16_MAX ? (uint16_t)port : 0;
}

static void write_rule(struct place *place)
{
	bool v6 = strchr(place->host, ':') != NULL;
	const char *open = v6 ? "[" : "";
	const char *close = v6 ? "]" : "";

	if (place->port == 443 || place->port == 80)
		snprintf(place->rule, sizeof place->rule, "%s", place->host);
	else
		snprintf(place->rule, sizeof place->rule, "%s%s%s:%u", open, place->host, close,
			 (unsigned int)place->port);
}

/* Finds host and port of a URL. Spellings that two parsers could read differently have none: user
 * names, escapes, and hosts that are cut off. */
static bool find_place(const struct jsonscan_value *value, struct place *ret_place)
{
	const char *text = value->text;
	bool tls = strncasecmp(text, "https://", 8) == 0;
	size_t start = tls ? 8 : 7;
	size_t size;
	size_t host;

	if (strlen(text) != value->kept || (!tls && strncasecmp(text, "http://", 7) != 0))
		return false;
	text += start;
	size = strcspn(text, "/?#");
	if (!text[size] && value->bytes != value->kept)
		return false;
	host = text[0] == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":/?#");
	if (host == 0 || host > size || host >= HOST_MOST || strcspn(text, "@\\%") < size ||
	    strcspn(text, " \t\r\n") < size)
		return false;
	ret_place->port = read_port(text + host, size - host, tls ? 443 : 80);
	if (text[0] == '[')
		snprintf(ret_place->host, HOST_MOST, "%.*s", (int)host - 2, text + 1);
	else
		snprintf(ret_place->host, HOST_MOST, "%.*s", (int)host, text);
	write_rule(ret_place);
	return ret_place->port != 0;
}

static bool allows(const struct request_body *body, const char *host, uint16_t port)
{
	return !body->policy.allows || body->policy.allows(body->policy.context, host, port);
}

/* Checks a URL that a tool of the provider would reach. */
static void check_place(struct request_body *body, const struct jsonscan_value *value,
			enum provider_tool tool)
{
	struct path path = path_of(body, value->node);
	struct place place;
	bool listed;

	if (!find_place(value, &place)) {
		request_body_deny(body, "%s: '%.80s' is not a URL that can be checked", path.text,
				  value->text);
		return;
	}
	listed = allows(body, place.host, place.port);
	if (is_allowed(body, tool) && listed)
		return;
	if (listed)
		request_body_deny(
			body,
			"%s: the provider would connect to %s; 'provider-tools: %s' would allow it",
			path.text, place.rule, provider_tool_names[tool]);
	else
		request_body_deny(body,
				  "%s: the provider would connect to %s, which is not in the allow "
				  "list; 'provider-tools: %s' and 'allow: %s' would allow it",
				  path.text, place.rule, provider_tool_names[tool], place.rule);
}

/* Files that are stored at Google have URLs as well. */
static bool is_stored(const struct request_body *body, const char *url)
{
	const char *own = provider_at(body->route->provider)->base_url;
	size_t size = strlen(own);

	return strncasecmp(url, "gs://", 5) == 0 ||
	       (body->route->provider == PROVIDER_GEMINI && strncmp(url, own, size) == 0 &&
		url[size] == '/');
}

static struct request_block *block_of(struct request_body *body)
{
	return &body->blocks[body->block_count > 0 ? body->block_count - 1 : 0];
}

static void check_url(struct request_body *body, const struct jsonscan_value *value)
{
	struct request_block *block = block_of(body);

	if (value->kind == JSONSCAN_NULL || value->kind == JSONSCAN_END ||
	    (value->kind == JSONSCAN_OBJECT && reads(body->schema, value->node, false)))
		return;
	if (value->kind != JSONSCAN_STRING) {
		request_body_refuse(body, "%s must be a text", path_of(body, value->node).text);
		return;
	}
	block->image |= body->schema->fields[value->node].role == SCHEMA_IMAGE_URL;
	if (strncasecmp(value->text, "data:", 5) == 0)
		return;
	block->named = true;
	if (is_stored(body, value->text))
		require(body, value->node, PROVIDER_TOOL_FILES,
			"the provider would read a stored file");
	else
		check_place(body, value, PROVIDER_TOOL_WEB_FETCH);
}

/* Returns true for a text in base64, in either alphabet. */
static bool is_coded(const struct jsonscan_value *value)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789+/-_=\r\n";

	return value->kind == JSONSCAN_STRING && strspn(value->text, alphabet) == value->kept;
}

/* Some servers accept a URL in the place of data. */
static void check_data(struct request_body *body, const struct jsonscan_value *value)
{
	if (!is_coded(value))
		check_url(body, value);
}

/* The type of the source, which decides, can follow. */
static void check_coded(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind != JSONSCAN_NULL && !is_coded(value))
		block_of(body)->raw = (uint8_t)value->node;
}

static void check_cited(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind != JSONSCAN_NULL && value->kind != JSONSCAN_END)
		block_of(body)->cited = (uint8_t)value->node;
}

static void check_origin(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind != JSONSCAN_OBJECT)
		check_cited(body, value);
}

static void check_file(struct request_body *body, const struct jsonscan_value *value)
{
	if (!is_set(body, value))
		return;
	block_of(body)->named = true;
	require(body, value->node, PROVIDER_TOOL_FILES, "the provider would read a stored file");
}

/* --- types */

/* Checks the type of a tool or block. Returns true if it is known and allowed. */
static bool check_type(struct request_body *body, const struct jsonscan_value *value,
		       const struct schema_types *types)
{
	struct path path = path_of(body, value->node);
	const char *word = value->text;

	if (value->kind == JSONSCAN_NULL)
		return true;
	if (!is_word(value)) {
		request_body_refuse(body, "%s must be a short text", path.text);
		return false;
	}
	if (schema_matches(types->pass, word))
		return true;
	for (size_t i = 0; i < PROVIDER_TOOL_COUNT; i++)
		if (schema_matches(types->needs[i], word)) {
			char what[160];

			snprintf(what, sizeof what, "the provider itself would run '%s'", word);
			return require(body, value->node, i, what);
		}
	if (schema_matches(types->unpriced, word)) {
		request_body_deny(body,
				  "%s: '%s' would run at the provider or has another price, and "
				  "cannot be metered",
				  path.text, word);
		return false;
	}
	if (is_allowed(body, PROVIDER_TOOL_OTHER))
		return true;
	request_body_deny(body,
			  "%s: '%s' is unknown here, and the provider might run or fetch it; "
			  "'provider-tools: other' would allow it",
			  path.text, word);
	return false;
}

static void check_block_type(struct request_body *body, const struct jsonscan_value *value)
{
	struct request_block *block = block_of(body);

	if (!check_type(body, value, &body->schema->blocks) || value->kind != JSONSCAN_STRING)
		return;
	block->image |= strstr(value->text, "image") != NULL;
	block->named |= strcmp(value->text, "item_reference") == 0;
	block->cites = schema_matches(body->schema->cites, value->text);
}

static void check_source(struct request_body *body, const struct jsonscan_value *value)
{
	static const struct schema_types sources = {
		.pass = "base64 text content url",
		.needs = { [PROVIDER_TOOL_FILES] = "file" },
	};

	if (!check_type(body, value, &sources) || value->kind != JSONSCAN_STRING)
		return;
	block_of(body)->named |= strcmp(value->text, "url") == 0 ||
				 strcmp(value->text, "file") == 0;
	block_of(body)->plain = strcmp(value->text, "text") == 0;
}

/* Audio and video have other prices than text, which the table does not have. */
static void check_mime(struct request_body *body, const struct jsonscan_value *value)
{
	static const char known[] =
		"image/* text/* application/pdf application/json application/x-ipynb+json "
		"application/xml application/rtf application/javascript application/x-javascript "
		"application/typescript application/x-typescript application/x-python "
		"application/x-python-code application/yaml application/x-yaml application/toml "
		"application/sql application/x-sh";
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789/+-.";

	if (value->kind == JSONSCAN_NULL)
		return;
	block_of(body)->typed = true;
	if (!is_word(value))
		request_body_refuse(body, "%s must be a short text",
				    path_of(body, value->node).text);
	else if (value->text[strspn(value->text, letters)] || !schema_matches(known, value->text))
		request_body_deny(body, "%s: '%s' has another price and cannot be metered",
				  path_of(body, value->node).text, value->text);
	else
		block_of(body)->image |= strncasecmp(value->text, "image/", 6) == 0;
}

static void check_media(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_OBJECT)
		block_of(body)->typed = false;
	else if (ends_object(body, value) && !block_of(body)->typed)
		request_body_deny(body,
				  "%s has no mimeType: audio and video have another price and "
				  "cannot be metered",
				  path_of(body, value->node).text);
}

/* A block is complete: its type and what it refers to decide what is reserved. */
static void end_block(struct request_body *body, const struct request_block *block)
{
	bool named = block->named || (block->id && !block->filled);

	if (block->cited && !block->cites)
		request_body_deny(body,
				  "%s: the provider might fetch this address; it is allowed only "
				  "in the results of a search",
				  path_of(body, block->cited).text);
	if (block->raw && !block->plain)
		request_body_refuse(body, "%s must be base64", path_of(body, block->raw).text);
	body->images += named && block->image;
	body->documents += named && !block->image;
}

static void check_block(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind != JSONSCAN_END && value->kind != JSONSCAN_NULL &&
	    strcmp(body->schema->nodes[value->node].key, "[]") != 0)
		block_of(body)->filled = true;
	if (value->kind == JSONSCAN_OBJECT && body->block_count < JSONSCAN_DEPTH)
		body->blocks[body->block_count++] = (struct request_block){ 0 };
	else if (ends_object(body, value) && body->block_count > 0)
		end_block(body, &body->blocks[--body->block_count]);
}

/* Tools are the content of some items. */
static void check_list(struct request_body *body, const struct jsonscan_value *value)
{
	uint8_t parent = body->schema->nodes[value->node].parent;

	if (value->kind == JSONSCAN_END && value->number > 0 &&
	    body->schema->fields[parent].role == SCHEMA_BLOCK)
		block_of(body)->filled = true;
}

/* --- tools */

static struct request_tool *tool_of(struct request_body *body)
{
	return &body->tools[body->tool_count > 0 ? body->tool_count - 1 : 0];
}

static void check_tool_type(struct request_body *body, const struct jsonscan_value *value)
{
	const struct schema_types *types = &body->schema->tools;
	struct request_tool *tool = tool_of(body);

	if (!check_type(body, value, types) || value->kind != JSONSCAN_STRING)
		return;
	tool->shell = strcasecmp(value->text, "shell") == 0;
	tool->fetches = schema_matches("web_fetch*", value->text);
	/* OpenAI's search opens pages. */
	tool->searches = body->route->provider == PROVIDER_OPENAI &&
			 schema_matches(types->needs[PROVIDER_TOOL_WEB_SEARCH], value->text);
}

/* A tool is complete: what it can reach must be limited to the network policy. */
static void end_tool(struct request_body *body, size_t row, const struct request_tool *tool)
{
	struct path path = path_of(body, row);

	if (tool->shell && !tool->here)
		request_body_deny(body,
				  "%s: the shell would run at the provider; only an 'environment' "
				  "of the type 'local' is allowed",
				  path.text);
	if (!body->policy.allows)
		return;
	if (tool->fetches && !tool->limited)
		request_body_deny(body,
				  "%s: the provider would fetch any URL; 'allowed_domains' must "
				  "name domains that the allow list has, with their subdomains",
				  path.text);
	if (tool->searches && !tool->cached)
		request_body_deny(body,
				  "%s: the provider would open any page; 'external_web_access' "
				  "must be false",
				  path.text);
}

static void check_tool(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_OBJECT && body->tool_count < JSONSCAN_DEPTH)
		body->tools[body->tool_count++] = (struct request_tool){ 0 };
	else if (ends_object(body, value) && body->tool_count > 0)
		end_tool(body, value->node, &body->tools[--body->tool_count]);
	else if (value->kind != JSONSCAN_END)
		request_body_refuse(body, "%s must be an object", path_of(body, value->node).text);
}

/* A domain includes its subdomains. */
static void check_domain(struct request_body *body, const struct jsonscan_value *value)
{
	char below[HOST_MOST + 8];
	char host[HOST_MOST];
	size_t size = is_word(value) ? strcspn(value->text, "/") : 0;

	snprintf(host, sizeof host, "%.*s", (int)size, value->text);
	snprintf(below, sizeof below, "any.%s", host);
	if (size == 0 || !allows(body, host, 443) || !allows(body, below, 443))
		tool_of(body)->limited = false;
}

static void check_domains(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_LIST)
		tool_of(body)->limited = true;
	else if (value->kind != JSONSCAN_END || value->number == 0)
		tool_of(body)->limited = false;
}

/* A tool that fetches any URL cannot be limited to hosts. */
static void check_fetcher(struct request_body *body, const struct jsonscan_value *value)
{
	if (!is_set(body, value) || !require(body, value->node, PROVIDER_TOOL_WEB_FETCH,
					     "the provider would fetch any URL"))
		return;
	if (body->policy.allows)
		request_body_deny(body,
				  "%s: the provider would fetch any URL, which the network policy "
				  "does not allow",
				  path_of(body, value->node).text);
}

static void check_connector(struct request_body *body, const struct jsonscan_value *value)
{
	if (!is_set(body, value) || !require(body, value->node, PROVIDER_TOOL_MCP,
					     "the provider would use a service of its own choice"))
		return;
	if (body->policy.allows)
		request_body_deny(body,
				  "%s: a connector names no host, and the network policy allows "
				  "only its own",
				  path_of(body, value->node).text);
}

static void check_server(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_STRING)
		check_place(body, value, PROVIDER_TOOL_MCP);
	else if (value->kind != JSONSCAN_NULL)
		request_body_refuse(body, "%s must be a text", path_of(body, value->node).text);
}

/* --- other fields */

static void check_needed(struct request_body *body, const struct jsonscan_value *value)
{
	enum provider_tool tool = body->schema->fields[value->node].tool;

	if (!is_set(body, value))
		return;
	body->elsewhere |= tool == PROVIDER_TOOL_FILES;
	require(body, value->node, tool, "the provider would act on it");
}

static void check_words(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_NULL)
		return;
	if (!is_word(value))
		request_body_refuse(body, "%s must be a short text",
				    path_of(body, value->node).text);
	else if (!schema_matches(body->schema->fields[value->node].words, value->text))
		request_body_deny(body, "%s: '%s' has no known price, and is refused",
				  path_of(body, value->node).text, value->text);
}

/* The words for the usual price and for the other one. Google's have a prefix. */
static void check_speed(struct request_body *body, const struct jsonscan_value *value)
{
	static const char usual[] = "auto default standard standard_only flex scale unspecified";
	static const char fast[] = "priority fast";
	static const char prefix[] = "SERVICE_TIER_";
	const char *word = value->text;

	if (value->kind == JSONSCAN_NULL)
		return;
	if (is_word(value) && strncasecmp(word, prefix, sizeof prefix - 1) == 0)
		word += sizeof prefix - 1;
	if (!is_word(value) || (!schema_matches(usual, word) && !schema_matches(fast, word)))
		request_body_deny(body, "%s: '%s' has no known price, and is refused",
				  path_of(body, value->node).text,
				  value->kind == JSONSCAN_STRING ? value->text : "this value");
	body->fast |= is_word(value) && schema_matches(fast, word);
}

static void check_geo(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_NULL || (is_word(value) && strcmp(value->text, "global") == 0))
		return;
	if (!is_word(value) || value->kept >= sizeof body->geo || value->kept == 0)
		request_body_deny(body, "%s: it has no known price, and is refused",
				  path_of(body, value->node).text);
	else
		memcpy(body->geo, value->text, value->kept + 1);
}

/* A list where an object is expected, or the reverse, would not be read here, but perhaps by the
 * provider. */
static void check_kind(struct request_body *body, const struct jsonscan_value *value)
{
	enum schema_role role = body->schema->fields[value->node].role;

	if (value->kind == JSONSCAN_LIST && reads(body->schema, value->node, false) &&
	    !reads(body->schema, value->node, true))
		request_body_refuse(body, "%s must not be a list", path_of(body, value->node).text);
	if ((role == SCHEMA_LIST ||
	     (role == SCHEMA_NEEDS && reads(body->schema, value->node, true))) &&
	    value->kind != JSONSCAN_LIST && value->kind != JSONSCAN_END &&
	    value->kind != JSONSCAN_NULL)
		request_body_refuse(body, "%s must be a list", path_of(body, value->node).text);
	if ((role == SCHEMA_CLOSED || role == SCHEMA_MEDIA ||
	     (role == SCHEMA_ORIGIN && value->kind != JSONSCAN_STRING)) &&
	    value->kind != JSONSCAN_OBJECT && value->kind != JSONSCAN_END &&
	    value->kind != JSONSCAN_NULL)
		request_body_refuse(body, "%s must be an object", path_of(body, value->node).text);
}

static void check_never(struct request_body *body, const struct jsonscan_value *value)
{
	if (is_set(body, value))
		request_body_deny(body, "%s is refused: %s", path_of(body, value->node).text,
				  body->schema->fields[value->node].words);
}

static void check_stored(struct request_body *body, const struct jsonscan_value *value)
{
	body->elsewhere |= is_set(body, value);
}

static void check_shell(struct request_body *body, const struct jsonscan_value *value)
{
	tool_of(body)->here = is_word(value) && strcmp(value->text, "local") == 0;
}

static void check_live(struct request_body *body, const struct jsonscan_value *value)
{
	tool_of(body)->cached = value->kind == JSONSCAN_FALSE;
}

static void check_id(struct request_body *body, const struct jsonscan_value *value)
{
	block_of(body)->id |= is_set(body, value);
}

/* The check of each role; the other roles need none. */
static void (*const checks[SCHEMA_ROLES])(struct request_body *body,
					  const struct jsonscan_value *value) = {
	[SCHEMA_NEEDS] = check_needed,    [SCHEMA_NEVER] = check_never,
	[SCHEMA_WORDS] = check_words,     [SCHEMA_SPEED] = check_speed,
	[SCHEMA_TIER] = check_speed,      [SCHEMA_GEO] = check_geo,
	[SCHEMA_STORED] = check_stored,   [SCHEMA_BLOCK] = check_block,
	[SCHEMA_TYPE] = check_block_type, [SCHEMA_ID] = check_id,
	[SCHEMA_MEDIA] = check_media,     [SCHEMA_MIME] = check_mime,
	[SCHEMA_SOURCE] = check_source,   [SCHEMA_ORIGIN] = check_origin,
	[SCHEMA_CODED] = check_coded,     [SCHEMA_CITED] = check_cited,
	[SCHEMA_DATA] = check_data,       [SCHEMA_URL] = check_url,
	[SCHEMA_IMAGE_URL] = check_url,   [SCHEMA_FILE] = check_file,
	[SCHEMA_TOOL] = check_tool,       [SCHEMA_TOOL_TYPE] = check_tool_type,
	[SCHEMA_MCP_URL] = check_server,  [SCHEMA_CONNECTOR] = check_connector,
	[SCHEMA_FETCHER] = check_fetcher, [SCHEMA_DOMAINS] = check_domains,
	[SCHEMA_DOMAIN] = check_domain,   [SCHEMA_PLACE] = check_shell,
	[SCHEMA_LIVE] = check_live,       [SCHEMA_LIST] = check_list,
};

void request_check_value(struct request_body *body, const struct jsonscan_value *value)
{
	const uint8_t role = body->schema->fields[value->node].role;

	check_kind(body, value);
	if (checks[role])
		checks[role](body, value);
}

static bool is_closed(enum schema_role role)
{
	return role == SCHEMA_CLOSED || role == SCHEMA_CONFIG || role == SCHEMA_BLOCK ||
	       role == SCHEMA_MEDIA || role == SCHEMA_ORIGIN || role == SCHEMA_IMAGE_URL ||
	       role == SCHEMA_TOOL;
}

/* The user's own server may have settings of its own, but it also fetches what content names. */
void request_check_unknown(struct request_body *body, size_t parent, const char *key)
{
	const struct schema_field *field = &body->schema->fields[parent];
	bool setting = parent == JSONSCAN_ROOT || field->role == SCHEMA_CONFIG;
	char name[REQUEST_FIELD];

	if (field->role == SCHEMA_BLOCK && !schema_lists("role status", key))
		block_of(body)->filled = true;
	if (!is_closed(field->role) || schema_lists(field->words, key) ||
	    (body->policy.local && setting) || is_allowed(body, PROVIDER_TOOL_OTHER))
		return;
	request_check_name(body, parent, key, name);
	request_body_deny(body,
			  "%s is a field that is unknown here: the provider might act on it, or "
			  "charge more; 'provider-tools: other' would allow it",
			  name);
}

/* Some models search the web without a tool. Only some formats report how often. */
void request_check_model(struct request_body *body)
{
	static const char *const words[] = { "-search", "deep-research", ":online" };
	bool counted = body->route->format == USAGE_RESPONSES;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (!strcasestr(body->model, words[i]) ||
		    (counted && is_allowed(body, PROVIDER_TOOL_WEB_SEARCH)))
			continue;
		request_body_deny(body, "the model '%s' searches the web; %s", body->model,
				  counted ? "'provider-tools: web-search' would allow it"
					  : "the number of its searches is not in the answer");
	}
}
