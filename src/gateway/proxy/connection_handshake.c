/* Reads a client's request, in HTTP or SOCKS5: see connection.h. */
#include "gateway/proxy/connection.h"

#include "gateway/model/model_request.h"
#include "util/text/consttime.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool connection_handshake_first(struct connection *connection)
{
	if (connection->input.used == 0)
		return false;
	connection->socks = connection->input.data[0] == SOCKS_VERSION;
	connection->stage = connection->socks ? CONNECTION_STAGE_METHODS : CONNECTION_STAGE_HEAD;
	return true;
}

/* --- SOCKS5 */

static bool fail_socks(struct connection *connection, const char *why)
{
	connection_access_fail(connection, 400, SOCKS_FAILED, "%s", why);
	return false;
}

static bool select_method(struct connection *connection, uint8_t method)
{
	const uint8_t bytes[2] = { SOCKS_VERSION, method };

	if (connection_side_send(&connection->client, bytes, sizeof bytes) < 0) {
		connection_end(connection);
		return false;
	}
	return true;
}

bool connection_handshake_methods(struct connection *connection)
{
	struct socks_methods methods;
	ssize_t size = socks_read_methods((const uint8_t *)buffer_text(&connection->input),
					  connection->input.used, &methods);

	if (size == 0)
		return false;
	if (size < 0)
		return fail_socks(connection, "this is not SOCKS5");
	connection_consume(connection, (size_t)size);
	/* A client that offers a password must give the right one: a wrong one is meant for
	 * another proxy. */
	if (methods.password) {
		connection->stage = CONNECTION_STAGE_PASSWORD;
		return select_method(connection, 2);
	}
	if (connection->own || !methods.none) {
		if (select_method(connection, 0xff))
			connection_finish(connection);
		return false;
	}
	connection->stage = CONNECTION_STAGE_REQUEST;
	return select_method(connection, 0);
}

bool connection_handshake_password(struct connection *connection)
{
	struct socks_password given;
	ssize_t size = socks_read_password((const uint8_t *)buffer_text(&connection->input),
					   connection->input.used, &given);
	uint8_t verdict[2] = { 1, 0 };

	if (size == 0)
		return false;
	if (size < 0)
		return fail_socks(connection, "invalid SOCKS5 user name and password");
	connection_consume(connection, (size_t)size);

	bool none = !given.user[0] && !given.password[0];
	bool right = strcmp(given.user, "ringfence") == 0 &&
		     consttime_equal(given.password, strlen(given.password),
				     connection->engine->config.token);

	if (!right && (!none || connection->own))
		verdict[1] = 1;
	if (connection_side_send(&connection->client, verdict, sizeof verdict) < 0) {
		connection_end(connection);
		return false;
	}
	if (verdict[1]) {
		connection_finish(connection);
		return false;
	}
	connection->stage = CONNECTION_STAGE_REQUEST;
	return true;
}

/* Refuses an invalid host, or an address in a spelling that hides it. */
static void refuse_invalid_host(struct connection *connection, const char *host, uint16_t port,
				const struct error *why)
{
	struct rule_target shown = { .port = port };

	/* Only shown as text, never looked up. */
	snprintf(shown.host, sizeof shown.host, "%s", host[0] ? host : "?");
	for (char *at = shown.host; *at; at++)
		if (*at <= ' ' || *at > '~')
			*at = '?';
	connection_refuse(connection, 403, &shown, HOST_TABLE_REFUSED_HOST, "",
			  "is refused: %.200s", why->text);
}

bool connection_handshake_request(struct connection *connection)
{
	struct socks_request request;
	struct error why;
	ssize_t size = socks_read_request((const uint8_t *)buffer_text(&connection->input),
					  connection->input.used, &request);

	if (size == 0)
		return false;
	if (size < 0)
		return fail_socks(connection, "invalid SOCKS5 request");
	connection_consume(connection, (size_t)size);
	if (request.command != 1) {
		connection_access_fail(connection, 400, SOCKS_NO_COMMAND,
				       "only CONNECT is supported in SOCKS5");
		return false;
	}
	if (!request.known) {
		connection_access_fail(connection, 400, SOCKS_NO_ADDRESS,
				       "unknown SOCKS5 address type");
		return false;
	}
	if (rule_target_parse(request.host, request.port, &connection->target, &why) < 0) {
		refuse_invalid_host(connection, request.host, request.port, &why);
		return false;
	}
	connection_access_check(connection);
	return connection->stage != CONNECTION_STAGE_DIAL;
}

/* --- HTTP */

/* Returns true if the client is authorised; otherwise it got a response. */
static bool check_token(struct connection *connection, const struct http_request *request)
{
	struct http_text given = request->authorization;
	static const char scheme[] = "Basic ";
	size_t skip = sizeof scheme - 1;

	if (connection->within || (!given.at && !connection->own))
		return true;
	if (given.at && given.size > skip && strncasecmp(given.at, scheme, skip) == 0 &&
	    consttime_equal(given.at + skip, given.size - skip, connection->engine->credential))
		return true;
	connection_refusal_write(connection, 407,
				 "Proxy-Authenticate: Basic realm=\"ringfence\"\r\n",
				 given.at ? "wrong token; inside the fence no token is needed"
					  : "the token of this run is required as the password");
	return false;
}

/* The server trusts the Host header, so it must be the host that was checked. */
static bool check_host(struct connection *connection, const struct http_request *request,
		       const struct rule_target *target)
{
	struct rule_target named;
	struct error why;

	if (!request->has_host || request->connect)
		return true;
	/* Clients often omit the port in Host, some even where it matters. */
	if (rule_target_parse(request->host_line, target->port, &named, &why) < 0 ||
	    strcmp(named.host, target->host) != 0 ||
	    (request->host_port != target->port && request->host_port != 80)) {
		connection_refuse(connection, 403, target, HOST_TABLE_REFUSED_HOST, "",
				  "was requested with a different Host header (%.100s:%u)",
				  request->host_line, request->host_port);
		return false;
	}
	return true;
}

static bool find_target(struct connection *connection, const struct http_request *request,
			struct rule_target *ret_target)
{
	struct error why;

	if (connection->within) {
		*ret_target = connection->target;
		return true;
	}
	if (rule_target_parse(request->host, request->port, ret_target, &why) < 0) {
		refuse_invalid_host(connection, request->host, request->port, &why);
		return false;
	}
	return true;
}

/* Returns true if this is the address at which the client reached the gateway, and models are
 * there. Clients that ignore NO_PROXY ask the proxy for it. */
static bool is_gateway(const struct connection *connection, const struct rule_target *target)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4; /* the port is at the same offset in v6 */
		struct sockaddr_in6 v6;
	} here = { .v6 = { 0 } };
	socklen_t size = sizeof here;
	struct address address;

	return !connection->within && connection->engine->config.models.active &&
	       getsockname(connection->client.source.fd, &here.any, &size) == 0 &&
	       address_from(&here.any, &address) == 0 &&
	       address_equal(&address, &target->address) && ntohs(here.v4.sin_port) == target->port;
}

/* A request elsewhere cannot use the server connection of an earlier one. */
static void leave_server(struct connection *connection)
{
	connection_drop_server(connection);
	connection_exchange_free(connection->exchange);
	connection->exchange = NULL;
}

/* Handles a request through the proxy to the gateway itself, which is treated like a direct one. A
 * tunnel to it leads to the next head of the same connection. */
static bool handle_gateway(struct connection *connection, const struct http_request *request,
			   size_t head)
{
	struct engine *engine = connection->engine;

	leave_server(connection);
	if (!request->connect)
		return model_request_head(connection, HTTP_PROXY, head);
	connection_consume(connection, head);
	connection->scanned = 0;
	if (connection_side_say(&connection->client,
				"HTTP/1.1 200 Connection established\r\n\r\n") < 0) {
		connection_end(connection);
		return false;
	}
	event_loop_alarm_start(&engine->loop, &engine->header, &connection->alarm);
	return true;
}

/* Handles a complete head. Returns true if the connection made progress. */
static bool handle_head(struct connection *connection, const struct http_request *request,
			size_t head)
{
	struct rule_target target;

	if (!check_token(connection, request) || !find_target(connection, request, &target))
		return false;
	if (is_gateway(connection, &target))
		return handle_gateway(connection, request, head);
	if (request->connect) {
		leave_server(connection);
		connection->target = target;
		connection_consume(connection, head);
		connection_access_check(connection);
		return connection->stage != CONNECTION_STAGE_DIAL;
	}
	if (!check_host(connection, request, &target))
		return false;
	if (request->message.upgrade) {
		connection_refuse(
			connection, 403, &target, HOST_TABLE_REFUSED_HOST, "",
			"was asked to switch protocols (Upgrade), which cannot be checked; "
			"use TLS instead");
		return false;
	}

	/* Each further request on a connection is checked like the first. */
	bool reusable = connection_access_rule(connection->engine, &target) &&
			connection_exchange_reusable(connection, request, &target);

	if (!reusable && !connection->within)
		connection_drop_server(connection);
	connection->target = target;
	if (connection_exchange_begin(connection, request, head) < 0) {
		connection_access_fail(connection, 431, SOCKS_FAILED,
				       "the head of the request is too long");
		return false;
	}
	if (reusable || connection->within) {
		connection_exchange_send(connection);
		return connection->stage == CONNECTION_STAGE_HEAD;
	}
	connection_access_check(connection);
	return connection->stage == CONNECTION_STAGE_HEAD;
}

static bool has_path(const struct buffer *input)
{
	const char *blank = memchr(input->data, ' ', input->used);

	return blank && blank + 1 < input->data + input->used && blank[1] == '/';
}

bool connection_handshake_head(struct connection *connection)
{
	struct buffer *input = &connection->input;
	struct http_request request;
	const char *wrong = NULL;
	ssize_t head;

	/* Requests are handled one by one: not before the client has read the last response. */
	if (input->used == 0 || connection->client.kept)
		return false;
	head = http_head_size(input->data, input->used, connection->scanned);
	connection->scanned = input->used;
	if (head == 0 && input->used < input->max)
		return false;
	if (head == 0) {
		connection_access_fail(connection, 431, SOCKS_FAILED,
				       "the head of the request is longer than %zu bytes",
				       input->max);
		return false;
	}
	/* A path instead of a full URI: a request to a model, not to the proxy. */
	if (head > 0 && !connection->within && connection->engine->config.models.active &&
	    has_path(input))
		return model_request_head(connection, HTTP_ORIGIN, (size_t)head);
	wrong = head < 0 ? "a line does not end in CR LF"
			 : http_request_read(input->data, (size_t)head,
					     connection->within ? HTTP_ORIGIN : HTTP_PROXY,
					     &request);
	if (wrong) {
		connection_access_fail(connection, 400, SOCKS_FAILED, "bad request: %s", wrong);
		return false;
	}
	return handle_head(connection, &request, (size_t)head);
}
