/* Requests: see web_request.h. */
#include "serve/web_request.h"

#include "serve/web_asset.h"
#include "serve/web_guard.h"
#include "serve/web_query.h"
#include "serve/web_reply.h"
#include "util/clock.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct web_request {
	struct web_site *site;
	struct MHD_Connection *connection;
	char *target;
	bool judged; /* it may be answered */
	struct web_query query;
	struct web_route_match match;
	struct buffer body;

	/* While a job works for it. */
	struct web_request *next;
	struct web_job *job;
	bool answered, timed_out;
	int answer;
};

/* Sent by the page in each request. Where the browser makes the request, as for a stream or a
 * download, it is a parameter. */
#define CSRF_HEADER    "X-Ringfence-Token"
#define CSRF_PARAMETER "key"

void *web_request_begin(void *site, const char *target, struct MHD_Connection *connection)
{
	struct web_request *request = mem_zero(sizeof *request);

	*request = (struct web_request){ .site = site,
					 .connection = connection,
					 .target = mem_dup(target),
					 .body = BUFFER_INIT(WEB_REQUEST_BODY),
					 .answer = -1 };
	return request;
}

static void stop_waiting(struct web_request *request)
{
	struct web_request **at = &request->site->waiting;

	while (*at && *at != request)
		at = &(*at)->next;
	if (*at)
		*at = request->next;
	request->job = NULL;
}

void web_request_complete(void *site, struct MHD_Connection *connection, void **request,
			  enum MHD_RequestTerminationCode code)
{
	struct web_request *over = *request;

	(void)site;
	(void)connection;
	(void)code;
	*request = NULL;
	if (!over)
		return;
	if (over->job)
		web_job_abandon(over->job);
	stop_waiting(over);
	fd_close(&over->answer);
	buffer_release(&over->body);
	free(over->target);
	free(over);
}

/* ---- the head ---- */

static enum MHD_Result note_header(void *context, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	struct web_guard_head *head = context;
	const struct {
		const char *name;
		const char **value;
	} known[] = {
		{ "Host", &head->host },           { "Origin", &head->origin },
		{ "Sec-Fetch-Site", &head->site }, { "Sec-Fetch-Mode", &head->mode },
		{ "Cookie", &head->cookie },       { "Authorization", &head->authorization },
		{ "Content-Type", &head->type },   { CSRF_HEADER, &head->csrf },
	};

	(void)kind;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strcasecmp(known[i].name, name) != 0)
			continue;
		if (*known[i].value)
			head->repeated = true;
		*known[i].value = value ? value : "";
	}
	return MHD_YES;
}

static const char *header(const struct web_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* Reads the head. Returns MHD_YES if the body may come, after an error was queued as well. */
static enum MHD_Result judge(struct web_request *request, const char *method)
{
	struct web_site *site = request->site;
	struct web_guard_head head = { .method = method };
	struct web_guard_refusal refusal;
	const char *length = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
	struct error err;

	MHD_get_connection_values(request->connection, MHD_HEADER_KIND, note_header, &head);
	if (web_query_parse(request->target, &request->query, &err) < 0)
		return web_reply_error(request->connection, MHD_HTTP_BAD_REQUEST, "invalid",
				       err.text);
	web_route_find(request->query.path, &request->match);
	if (!head.csrf &&
	    (request->match.route == WEB_ROUTE_events || request->match.route == WEB_ROUTE_report))
		head.csrf = web_query_get(&request->query, CSRF_PARAMETER);
	if (web_guard_check(&site->keys, site->port, request->match.route, &head, clock_wall_ms(),
			    &refusal) < 0)
		return refusal.code == MHD_HTTP_UNAUTHORIZED &&
				       request->match.route == WEB_ROUTE_page
			       ? web_reply_login(request->connection)
			       : web_reply_error(request->connection, refusal.code, refusal.status,
						 refusal.message);
	if (length && strtoull(length, NULL, 10) > WEB_REQUEST_BODY)
		return web_reply_error(request->connection, MHD_HTTP_CONTENT_TOO_LARGE, "too-large",
				       "the body has more than 64 KiB");
	request->judged = true;
	return MHD_YES;
}

/* ---- answers of the server itself ---- */

static enum MHD_Result answer_asset(const struct web_request *request)
{
	const char *known = header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
	struct MHD_Response *response;
	struct web_asset asset;
	bool same;

	if (web_asset_find(request->query.path, &asset) < 0)
		return web_reply_error(request->connection, MHD_HTTP_NOT_FOUND, "not-found",
				       "there is no such address");
	same = known && strstr(known, asset.etag);
	response = web_reply_bytes(asset.type, asset.bytes, same ? 0 : asset.size);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, asset.etag);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	return web_reply_send(request->connection, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK,
			      response);
}

static enum MHD_Result answer_login(const struct web_request *request)
{
	struct web_keys *keys = &request->site->keys;
	const char *token = web_query_get(&request->query, "token");
	char session[WEB_KEYS_SESSION], csrf[SHA256_HEX];
	AUTO_FREE char *cookie = NULL;
	AUTO_FREE char *location = NULL;
	struct MHD_Response *response;

	if (!token || !web_keys_take(keys, token, clock_wall_ms()) ||
	    web_keys_session(keys, clock_wall_ms(), session) < 0)
		return web_reply_login(request->connection);
	cookie = mem_format("%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%lld", keys->cookie,
			    session, (long long)(WEB_KEYS_SESSION_MS / 1000));
	web_keys_csrf(keys, session, strlen(session), csrf);
	location = mem_format("/#key=%s", csrf);
	response = web_reply_bytes("text/plain; charset=utf-8", "", 0);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, cookie);
	MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, location);
	return web_reply_send(request->connection, MHD_HTTP_SEE_OTHER, response);
}

static enum MHD_Result answer_session(const struct web_request *request)
{
	char host[256] = "";
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);

	gethostname(host, sizeof host - 1);
	buffer_printf(&text, "{\"version\":\"%s\",\"time_ms\":%lld,\"host\":", RINGFENCE_VERSION,
		      (long long)clock_wall_ms());
	text_json(&text, host);
	buffer_add_text(&text, "}\n");
	return web_reply_send(request->connection, MHD_HTTP_OK,
			      web_reply_bytes("application/json", text.data, text.used));
}

static enum MHD_Result answer_events(const struct web_request *request)
{
	struct error err;

	if (web_stream_open(&request->site->streams, request->connection, &request->query,
			    header(request, "Last-Event-ID"), &err) == 0)
		return MHD_YES;
	return err.status == ERROR_INVALID
		       ? web_reply_error(request->connection, MHD_HTTP_BAD_REQUEST, "invalid",
					 err.text)
		       : web_reply_error(request->connection, MHD_HTTP_SERVICE_UNAVAILABLE, "busy",
					 err.text);
}

/* ---- answers of jobs ---- */

static void end_job(void *context, int answer, bool timed_out)
{
	struct web_request *request = context;

	stop_waiting(request);
	request->answered = true;
	request->answer = answer;
	request->timed_out = timed_out;
	request->site->resumed = true;
	MHD_resume_connection(request->connection);
}

/* Writes what the process needs to know. */
static void write_job(const struct web_request *request, struct buffer *out)
{
	const char *comma = "";

	buffer_printf(out, "{\"route\":\"%s\",\"words\":[\"%s\",\"%s\"],\"query\":{",
		      web_route_name(request->match.route), request->match.words[0],
		      request->match.words[1]);
	for (size_t i = 0; i < request->query.count; i++) {
		buffer_add_text(out, comma);
		text_json(out, request->query.items[i].name);
		buffer_add_text(out, ":");
		text_json(out, request->query.items[i].value);
		comma = ",";
	}
	buffer_add_text(out, "},\"body\":");
	text_json_bytes(out, request->body.used ? request->body.data : "", request->body.used);
	buffer_add_text(out, "}");
}

static enum MHD_Result begin_job(struct web_request *request)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(16 * WEB_REQUEST_BODY);
	bool acts = web_route_how(request->match.route) == WEB_ROUTE_ACT;
	struct error err;

	write_job(request, &text);
	request->job = web_job_add(&request->site->jobs, acts, text.data, text.used, end_job,
				   request, &err);
	if (!request->job)
		return web_reply_error(request->connection, MHD_HTTP_SERVICE_UNAVAILABLE, "busy",
				       err.text);
	request->next = request->site->waiting;
	request->site->waiting = request;
	MHD_suspend_connection(request->connection);
	return MHD_YES;
}

static enum MHD_Result end_answer(struct web_request *request)
{
	if (request->timed_out)
		return web_reply_error(request->connection, MHD_HTTP_GATEWAY_TIMEOUT, "timed-out",
				       web_route_how(request->match.route) == WEB_ROUTE_ACT
					       ? "the action takes long; it goes on"
					       : "reading took too long");
	return web_reply_file(request->connection, fd_steal(&request->answer));
}

void web_request_end_all(struct web_site *site)
{
	while (site->waiting) {
		struct web_request *request = site->waiting;

		web_job_abandon(request->job);
		end_job(request, -1, false);
	}
}

static enum MHD_Result answer(struct web_request *request)
{
	switch (request->match.route) {
	case WEB_ROUTE_page:
	case WEB_ROUTE_asset:
		return answer_asset(request);
	case WEB_ROUTE_login:
		return answer_login(request);
	case WEB_ROUTE_session:
		return answer_session(request);
	case WEB_ROUTE_events:
		return answer_events(request);
	default:
		return request->answered ? end_answer(request) : begin_job(request);
	}
}

enum MHD_Result web_request_handle(void *site, struct MHD_Connection *connection, const char *url,
				   const char *method, const char *version, const char *upload,
				   size_t *upload_size, void **request_place)
{
	struct web_request *request = *request_place;

	(void)site;
	(void)connection;
	(void)url;
	(void)version;
	if (!request->judged)
		return judge(request, method);
	if (!*upload_size)
		return answer(request);
	buffer_add(&request->body, upload, *upload_size);
	*upload_size = 0;
	/* A body of unknown size that is too large: nobody reads the rest. */
	return buffer_overflowed(&request->body) ? MHD_NO : MHD_YES;
}
