/* Calls to the API of a forge: see land_client.h. */
#include "land/land_client.h"

#include "https/https.h"
#include "land/land_gh.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	TIMEOUT_MS = 30000,
	ANSWER_BYTES = 8 << 20,
	TRIES = 4,
	FIRST_RETRY_MS = 1000,
	MOST_LIMIT_MS = 3600000, /* the longest wait for a limit */
	UNTOLD_LIMIT_MS = 60000, /* for one whose end is not told */
};

void land_client_release(struct land_client *client)
{
	if (client->token)
		explicit_bzero(client->token, strlen(client->token));
	free(client->token);
	free(client->api);
	free(client->host);
	land_program_release(&client->gh);
	*client = (struct land_client){ 0 };
}

/* ---- one request ---- */

/* Returns the URL of a call; the caller frees it. GitHub's GraphQL is beside the REST API. */
static char *url_of(const struct land_client *client, const struct land_call *call)
{
	size_t size = strlen(client->api);

	if (call->graphql && size > 3 && strcmp(client->api + size - 3, "/v3") == 0)
		size -= 3;
	return mem_format("%.*s%s", (int)size, client->api, call->path);
}

static int send_https(const struct land_client *client, const struct land_call *call,
		      const char *body, struct https_response *ret_response, struct error *err)
{
	AUTO_FREE char *url = url_of(client, call);
	struct list headers = { 0 };
	struct list secrets = { 0 };
	struct https_request request = { .method = call->method,
					 .url = url,
					 .headers = &headers,
					 .secrets = &secrets,
					 .body = body,
					 .size = body ? strlen(body) : 0,
					 .timeout_ms = TIMEOUT_MS,
					 .most_bytes = call->text ? LAND_LOG : ANSWER_BYTES,
					 .keep_end = call->text };
	int result;

	for (size_t i = 0; client->forge->headers[i]; i++)
		list_add(&headers, client->forge->headers[i]);
	list_add(&headers, "User-Agent: ringfence");
	if (body)
		list_add(&headers, "Content-Type: application/json");
	if (client->token)
		list_printf(&secrets, "%s%s", client->forge->authority, client->token);
	result = https_send(&request, ret_response, err);
	for (size_t i = 0; i < secrets.count; i++)
		explicit_bzero(secrets.items[i], strlen(secrets.items[i]));
	list_release(&secrets);
	list_release(&headers);
	return result;
}

static int run_gh(const struct land_client *client, const struct land_call *call, const char *body,
		  struct buffer *output, struct buffer *errors, struct error *err)
{
	struct list arguments = { 0 };
	const struct land_program_run run = { .arguments = &arguments,
					      .input = body,
					      .most_ms = TIMEOUT_MS,
					      .output = output,
					      .errors = errors };
	int code;

	list_add(&arguments, "api");
	list_add(&arguments, "--include");
	list_add(&arguments, "--hostname");
	list_add(&arguments, client->host);
	list_add(&arguments, "--method");
	list_add(&arguments, call->method);
	for (size_t i = 0; client->forge->headers[i]; i++) {
		list_add(&arguments, "--header");
		list_add(&arguments, client->forge->headers[i]);
	}
	if (body) {
		list_add(&arguments, "--input");
		list_add(&arguments, "-");
	}
	/* "graphql" has no slash: it is a word of gh's own. */
	list_add(&arguments, call->path + (*call->path == '/'));
	code = land_program_run(&client->gh, &run, err);
	list_release(&arguments);
	return code;
}

/* gh fails for a status such as 404 as well; its answer counts. */
static int send_gh(const struct land_client *client, const struct land_call *call, const char *body,
		   struct https_response *ret_response, struct error *err)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(LAND_GH_BYTES);
	AUTO_BUFFER struct buffer errors = BUFFER_INIT(64 << 10);
	int code = run_gh(client, call, body, &output, &errors, err);

	if (code < 0)
		return -1;
	if (buffer_overflowed(&output))
		return error_with(err, ERROR_NO_SPACE, "gh printed more than 64 MiB");
	if (land_gh_read(buffer_text(&output), output.used, ret_response) < 0)
		return error_with(err, ERROR_IO, "gh api ended with status %d: %.500s", code,
				  buffer_text(&errors));
	return 0;
}

static int send_once(const struct land_client *client, const struct land_call *call,
		     struct https_response *ret_response, struct error *err)
{
	AUTO_FREE char *body = call->body ? json_dumps(call->body, JSON_COMPACT) : NULL;

	*ret_response = (struct https_response){ 0 };
	return client->gh.path ? send_gh(client, call, body, ret_response, err)
			       : send_https(client, call, body, ret_response, err);
}

/* ---- limits and failures ---- */

static bool number_in(const struct https_response *response, const char *name, uint64_t *ret)
{
	const char *text = https_header(response, name);

	if (!text || !isdigit((unsigned char)*text))
		return false;
	*ret = strtoull(text, NULL, 10);
	return true;
}

/* Returns how long a limit of the server lasts, or 0 if the answer is not about one. GitHub also
 * says so with 403. */
static uint64_t limit_ms(const struct https_response *response)
{
	static const char *const resets[] = { "x-ratelimit-reset", "ratelimit-reset" };
	uint64_t now_s = (uint64_t)clock_wall_ms() / 1000;
	uint64_t number = 0, left = 1;
	bool told = number_in(response, "retry-after", &number);

	number_in(response, "x-ratelimit-remaining", &left);
	if (response->status != 429 && !(response->status == 403 && (told || left == 0)))
		return 0;
	if (told)
		return number < MOST_LIMIT_MS ? number * 1000 + 1 : UINT64_MAX;
	for (size_t i = 0; i < sizeof resets / sizeof *resets; i++)
		if (number_in(response, resets[i], &number) && number > now_s)
			return (number - now_s) * 1000;
	return UNTOLD_LIMIT_MS;
}

static bool is_server_trouble(const struct https_response *response)
{
	return response->status >= 500 || response->status == 408;
}

static bool is_network_trouble(const struct error *err)
{
	return err->status == ERROR_IO || err->status == ERROR_BUSY || err->status == ERROR_DIED;
}

/* Sends, waits for limits, and tries a GET again. Other requests are repeated only if the server
 * did not take them. */
static int exchange(struct land_client *client, const struct land_call *call,
		    struct https_response *ret_response, struct error *err)
{
	bool again = strcmp(call->method, "GET") == 0;
	uint64_t pause_ms = FIRST_RETRY_MS;

	for (int i = 1;; i++, pause_ms *= 2) {
		int result = send_once(client, call, ret_response, err);
		uint64_t limit = result == 0 ? limit_ms(ret_response) : 0;
		bool trouble = result == 0 ? is_server_trouble(ret_response)
					   : is_network_trouble(err);

		if (i == TRIES || limit > MOST_LIMIT_MS || (!limit && !(trouble && again)))
			return result;
		if (result == 0)
			https_message_release(ret_response);
		client->wait(client->context, limit ? limit : pause_ms,
			     limit ? "a limit of the server" : "the server does not answer");
	}
}

/* ---- answers ---- */

/* A server may repeat the token in a message or a log. */
static void mask(const struct land_client *client, char *bytes, size_t size)
{
	const char *token = client->token;
	size_t length = token ? strlen(token) : 0;

	for (char *at = bytes;
	     length && (at = memmem(at, (size_t)(bytes + size - at), token, length));)
		memset(at, '*', length);
}

static void add_words(struct buffer *out, const json_t *value)
{
	size_t index;
	const json_t *entry;

	if (json_is_string(value))
		buffer_printf(out, "%s%s", out->used ? "; " : "", json_string_value(value));
	json_array_foreach(value, index, entry)
	{
		add_words(out, json_is_string(entry) ? entry : json_object_get(entry, "message"));
	}
}

/* Returns what the server says about a failure; the caller frees it. */
static char *words_of(const struct land_client *client, const struct https_response *response)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);
	json_t *answer = json_loadb(response->body.data ? response->body.data : "",
				    response->body.used, 0, NULL);
	AUTO_FREE char *text = NULL;

	add_words(&out, json_object_get(answer, "message"));
	add_words(&out, json_object_get(answer, "errors"));
	add_words(&out, json_object_get(answer, "error"));
	json_decref(answer);
	text = mem_dup(buffer_text(&out));
	mask(client, text, strlen(text));
	text[text_first(text, strlen(text), 400)] = '\0';
	return mem_dup(text);
}

static enum error_status status_of(unsigned int status)
{
	switch (status) {
	case 401:
	case 403:
		return ERROR_DENIED;
	case 404:
		return ERROR_NOT_FOUND;
	case 409:
		return ERROR_EXISTS;
	case 408:
	case 429:
		return ERROR_BUSY;
	default:
		return status >= 500 ? ERROR_BUSY : ERROR_INVALID;
	}
}

static const char *advice_of(const struct land_client *client, unsigned int status)
{
	if (status == 401)
		return client->gh.path ? "log in with: gh auth login"
				       : "the token is not valid, or has expired";
	if (status == 403)
		return "the token may not do this";
	if (status == 404)
		return "there is no such repository, or the token may not see it";
	return status >= 500 || status == 429 ? "try again later" : NULL;
}

static int refuse(const struct land_client *client, const struct https_response *response,
		  struct error *err)
{
	AUTO_FREE char *words = words_of(client, response);
	const char *advice = advice_of(client, response->status);

	return error_with(err, status_of(response->status),
			  "%s answered with HTTP status %u%s%s%s%s%s", client->forge->title,
			  response->status, *words ? ": " : "", words, advice ? " (" : "",
			  advice ? advice : "", advice ? ")" : "");
}

static int parse(const struct land_client *client, const struct https_response *response,
		 json_t **ret_answer, struct error *err)
{
	json_t *answer;

	if (response->status < 200 || response->status > 299)
		return refuse(client, response, err);
	/* Success without words. */
	if (!response->body.used) {
		*ret_answer = json_object();
		return 0;
	}
	answer = json_loadb(response->body.data, response->body.used, JSON_REJECT_DUPLICATES, NULL);
	if (!answer)
		return error_with(err, ERROR_PROTOCOL,
				  "the answer of %s is not JSON: is '%s' the URL of its API?",
				  client->forge->title, client->api);
	*ret_answer = answer;
	return 0;
}

int land_client_call(struct land_client *client, struct land_call *call, json_t **ret_answer,
		     struct error *err)
{
	struct https_response response;
	int result = exchange(client, call, &response, err);

	if (result == 0) {
		result = parse(client, &response, ret_answer, err);
		https_message_release(&response);
	}
	/* GraphQL reports failures with status 200. */
	if (result == 0 && call->graphql && json_object_get(*ret_answer, "errors")) {
		json_decref(*ret_answer);
		result = error_with(err, ERROR_INVALID, "%s refused the mutation",
				    client->forge->title);
	}
	land_call_release(call);
	return result;
}

int land_client_log(struct land_client *client, const char *path, struct buffer *ret_log,
		    struct error *err)
{
	struct land_call call = { .method = "GET", .path = mem_dup(path), .text = true };
	struct https_response response;
	int result = exchange(client, &call, &response, err);

	if (result == 0 && (response.status < 200 || response.status > 299))
		result = refuse(client, &response, err);
	else if (result == 0)
		buffer_add(ret_log,
			   response.body.data + (response.body.used > LAND_LOG
							 ? response.body.used - LAND_LOG
							 : 0),
			   response.body.used > LAND_LOG ? LAND_LOG : response.body.used);
	if (ret_log->used)
		mask(client, ret_log->data, ret_log->used);
	https_message_release(&response);
	land_call_release(&call);
	return result;
}

enum land_kind land_client_probe(const char *origin)
{
	static const struct {
		const char *path;
		enum land_kind kind;
		unsigned int status;
		const char *key;
	} signs[] = {
		{ "/api/v1/version", LAND_KIND_gitea, 200, "version" },
		/* GitLab tells its version only with a token. */
		{ "/api/v4/version", LAND_KIND_gitlab, 401, "message" },
		{ "/api/v3/meta", LAND_KIND_github, 200, "installed_version" },
	};
	enum land_kind kind = LAND_KIND_UNKNOWN;

	for (size_t i = 0; i < sizeof signs / sizeof *signs && !kind; i++) {
		AUTO_FREE char *url = mem_format("%s%s", origin, signs[i].path);
		const struct https_request request = { .url = url, .timeout_ms = 15000 };
		struct https_response response = { 0 };
		struct error none;
		json_t *answer;

		if (https_send(&request, &response, &none) < 0)
			return LAND_KIND_UNKNOWN;
		answer = json_loadb(response.body.data ? response.body.data : "",
				    response.body.used, 0, NULL);
		if (response.status == signs[i].status && jsonget_string(answer, signs[i].key))
			kind = signs[i].kind;
		json_decref(answer);
		https_message_release(&response);
	}
	return kind;
}
