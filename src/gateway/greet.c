/* What a client asks for, by HTTP or SOCKS5: see engine.h. */
#include "gateway/engine.h"

#include "gateway/call.h"
#include "util/consttime.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool greet_first(struct visit *visit)
{
	if (visit->input.used == 0)
		return false;
	visit->socks = visit->input.data[0] == SOCKS_VERSION;
	visit->stage = visit->socks ? STAGE_METHODS : STAGE_HEAD;
	return true;
}

/* --- SOCKS5 */

static bool socks_wrong(struct visit *visit, const char *why)
{
	judge_fail(visit, 400, SOCKS_FAILED, "%s", why);
	return false;
}

static bool select_method(struct visit *visit, uint8_t method)
{
	const uint8_t bytes[2] = { SOCKS_VERSION, method };

	if (side_send(&visit->client, bytes, sizeof bytes) < 0) {
		visit_end(visit);
		return false;
	}
	return true;
}

bool greet_methods(struct visit *visit)
{
	struct socks_methods methods;
	ssize_t size = socks_read_methods((const uint8_t *)buffer_text(&visit->input),
					  visit->input.used, &methods);

	if (size == 0)
		return false;
	if (size < 0)
		return socks_wrong(visit, "this is not SOCKS5");
	visit_consume(visit, (size_t)size);
	/* Who offers a password is asked for it: a wrong one says that somebody else is meant. */
	if (methods.password) {
		visit->stage = STAGE_PASSWORD;
		return select_method(visit, 2);
	}
	if (visit->own || !methods.none) {
		if (select_method(visit, 0xff))
			visit_finish(visit);
		return false;
	}
	visit->stage = STAGE_REQUEST;
	return select_method(visit, 0);
}

bool greet_password(struct visit *visit)
{
	struct socks_password given;
	ssize_t size = socks_read_password((const uint8_t *)buffer_text(&visit->input),
					   visit->input.used, &given);
	uint8_t verdict[2] = { 1, 0 };

	if (size == 0)
		return false;
	if (size < 0)
		return socks_wrong(visit, "this is no user name and password");
	visit_consume(visit, (size_t)size);

	bool none = !given.user[0] && !given.password[0];
	bool right = strcmp(given.user, "ringfence") == 0 &&
		     consttime_equal(given.password, strlen(given.password),
				     visit->engine->config.token);

	if (!right && (!none || visit->own))
		verdict[1] = 1;
	if (side_send(&visit->client, verdict, sizeof verdict) < 0) {
		visit_end(visit);
		return false;
	}
	if (verdict[1]) {
		visit_finish(visit);
		return false;
	}
	visit->stage = STAGE_REQUEST;
	return true;
}

/* A host that is none, or an address in a spelling that hides it. */
static void refuse_odd(struct visit *visit, const char *host, uint16_t port,
		       const struct error *why)
{
	struct rule_target shown = { .port = port };

	/* As text, for whoever reads of it; it is never looked up. */
	snprintf(shown.host, sizeof shown.host, "%s", host[0] ? host : "?");
	for (char *at = shown.host; *at; at++)
		if (*at <= ' ' || *at > '~')
			*at = '?';
	refuse(visit, 403, &shown, HOST_TABLE_REFUSED_HOST, "", "is refused: %.200s", why->text);
}

bool greet_request(struct visit *visit)
{
	struct socks_request request;
	struct error why;
	ssize_t size = socks_read_request((const uint8_t *)buffer_text(&visit->input),
					  visit->input.used, &request);

	if (size == 0)
		return false;
	if (size < 0)
		return socks_wrong(visit, "this is no request of SOCKS5");
	visit_consume(visit, (size_t)size);
	if (request.command != 1) {
		judge_fail(visit, 400, SOCKS_NO_COMMAND, "of SOCKS5, only CONNECT is known");
		return false;
	}
	if (!request.known) {
		judge_fail(visit, 400, SOCKS_NO_ADDRESS, "this kind of address is unknown");
		return false;
	}
	if (rule_target_parse(request.host, request.port, &visit->target, &why) < 0) {
		refuse_odd(visit, request.host, request.port, &why);
		return false;
	}
	judge_go(visit);
	return visit->stage != STAGE_DIAL;
}

/* --- HTTP */

/* Returns true if the client may ask; else it has its answer. */
static bool check_token(struct visit *visit, const struct http_request *request)
{
	struct http_text given = request->authorization;
	static const char scheme[] = "Basic ";
	size_t skip = sizeof scheme - 1;

	if (visit->within || (!given.at && !visit->own))
		return true;
	if (given.at && given.size > skip && strncasecmp(given.at, scheme, skip) == 0 &&
	    consttime_equal(given.at + skip, given.size - skip, visit->engine->credential))
		return true;
	refuse_write(
		visit, 407, "Proxy-Authenticate: Basic realm=\"ringfence\"\r\n",
		given.at ? "this is not the token of this run, and inside the fence none is needed"
			 : "the token of this run is needed as a password");
	return false;
}

/* Host is whom the server behind believes: it must be the one that was judged. */
static bool check_host(struct visit *visit, const struct http_request *request,
		       const struct rule_target *target)
{
	struct rule_target named;
	struct error why;

	if (!request->has_host || request->connect)
		return true;
	/* The port of Host is often left out, by some even where it matters. */
	if (rule_target_parse(request->host_line, target->port, &named, &why) < 0 ||
	    strcmp(named.host, target->host) != 0 ||
	    (request->host_port != target->port && request->host_port != 80)) {
		refuse(visit, 403, target, HOST_TABLE_REFUSED_HOST, "",
		       "was asked for with another Host (%.100s:%u)", request->host_line,
		       request->host_port);
		return false;
	}
	return true;
}

static bool find_target(struct visit *visit, const struct http_request *request,
			struct rule_target *ret_target)
{
	struct error why;

	if (visit->within) {
		*ret_target = visit->target;
		return true;
	}
	if (rule_target_parse(request->host, request->port, ret_target, &why) < 0) {
		refuse_odd(visit, request->host, request->port, &why);
		return false;
	}
	return true;
}

/* Decides about a whole head. Returns true if the visit has got on. */
static bool take_head(struct visit *visit, const struct http_request *request, size_t head)
{
	struct rule_target target;

	if (!check_token(visit, request) || !find_target(visit, request, &target))
		return false;
	if (request->connect) {
		/* What was kept of a request before it is of no use to a tunnel. */
		visit_drop_server(visit);
		exchange_free(visit->exchange);
		visit->exchange = NULL;
		visit->target = target;
		visit_consume(visit, head);
		judge_go(visit);
		return visit->stage != STAGE_DIAL;
	}
	if (!check_host(visit, request, &target))
		return false;
	if (request->message.upgrade) {
		refuse(visit, 403, &target, HOST_TABLE_REFUSED_HOST, "",
		       "was asked for another protocol (Upgrade), which cannot be judged; over TLS it can pass");
		return false;
	}

	/* What follows a request on its connection is a request of its own, and judged anew. */
	bool reusable = judge_rule(visit->engine, &target) &&
			exchange_reusable(visit, request, &target);

	if (!reusable && !visit->within)
		visit_drop_server(visit);
	visit->target = target;
	if (exchange_begin(visit, request, head) < 0) {
		judge_fail(visit, 431, SOCKS_FAILED, "the head of the request is too long");
		return false;
	}
	if (reusable || visit->within) {
		exchange_send(visit);
		return visit->stage == STAGE_HEAD;
	}
	judge_go(visit);
	return visit->stage == STAGE_HEAD;
}

static bool has_path(const struct buffer *input)
{
	const char *blank = memchr(input->data, ' ', input->used);

	return blank && blank + 1 < input->data + input->used && blank[1] == '/';
}

bool greet_head(struct visit *visit)
{
	struct buffer *input = &visit->input;
	struct http_request request;
	const char *wrong = NULL;
	ssize_t head;

	/* One after the other: the next request is not looked at before the answer is taken. */
	if (input->used == 0 || visit->client.kept)
		return false;
	head = http_head_size(input->data, input->used, visit->scanned);
	visit->scanned = input->used;
	if (head == 0 && input->used < input->max)
		return false;
	if (head == 0) {
		judge_fail(visit, 431, SOCKS_FAILED,
			   "the head of the request has more than %zu bytes", input->max);
		return false;
	}
	/* A path instead of a whole URI: this is not for a proxy, but for a model. */
	if (head > 0 && !visit->within && visit->engine->config.models.active && has_path(input))
		return call_head(visit, (size_t)head);
	wrong = head < 0 ? "a line does not end in CR LF"
			 : http_request_read(input->data, (size_t)head,
					     visit->within ? HTTP_ORIGIN : HTTP_PROXY, &request);
	if (wrong) {
		judge_fail(visit, 400, SOCKS_FAILED, "bad request: %s", wrong);
		return false;
	}
	return take_head(visit, &request, (size_t)head);
}
