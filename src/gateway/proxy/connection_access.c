/* Checks a connection's target, resolves it and connects: see connection.h. */
#include "gateway/proxy/connection.h"

#include "gateway/proxy/route.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct rule *connection_access_rule(const struct engine *engine,
					  const struct rule_target *target)
{
	const struct rule *found = NULL;

	for (size_t i = 0; i < engine->config.rule_count; i++) {
		const struct rule *rule = &engine->config.rules[i];

		if (!rule_allows(rule, target))
			continue;
		found = rule;
		if (rule->target.port) /* more specific than a rule without a port */
			break;
	}
	return found;
}

void connection_access_fail(struct connection *connection, unsigned int status,
			    enum socks_reply reply, const char *format, ...)
{
	uint8_t bytes[SOCKS_REPLY];
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (connection->open && !connection->within) {
		connection_end(connection);
		return;
	}
	if (!connection->socks || connection->within) {
		connection_refusal_write(connection, status, "", text);
		return;
	}
	/* Before its request, SOCKS has no way to report an error. */
	if (connection->stage == CONNECTION_STAGE_METHODS ||
	    connection->stage == CONNECTION_STAGE_PASSWORD) {
		connection_end(connection);
		return;
	}
	socks_write_reply(reply, bytes);
	if (connection_side_send(&connection->client, bytes, sizeof bytes) < 0)
		connection_end(connection);
	else
		connection_finish(connection);
}

static void fail_target(struct connection *connection, unsigned int status, enum socks_reply reply,
			const char *why)
{
	char shown[GATEWAY_TEXT];

	rule_target_text(&connection->target, shown);
	if (connection->row->verdict != HOST_TABLE_ALLOWED)
		connection->row->verdict = HOST_TABLE_FAILED;
	connection_access_fail(connection, status, reply, "%s: %s", shown, why);
}

static void on_connected(void *context, int fd, int error)
{
	struct connection *connection = context;
	struct engine *engine = connection->engine;

	connection->dial = NULL;
	if (fd < 0) {
		fail_target(connection, error == ETIMEDOUT ? 504 : 502,
			    error == ECONNREFUSED ? SOCKS_CONNECTION_REFUSED : SOCKS_UNREACHABLE,
			    strerror(error));
		return;
	}
	connection_use_server(connection, fd);
	connection->row->connections++;
	connection->row->verdict = HOST_TABLE_ALLOWED;
	event_loop_alarm_start(&engine->loop, &engine->idle, &connection->alarm);
	if (connection->exchange)
		connection_exchange_send(connection);
	else
		connection_tunnel_open(connection);
	connection_advance(connection);
}

/* Returns true if a rule names this address itself. */
static bool is_named(const struct engine *engine, const struct address *address, uint16_t port)
{
	struct rule_target target = { .address = *address, .port = port };

	address_text(address, target.host);
	return connection_access_rule(engine, &target);
}

/* Returns why an address must not be on_connected to, or NULL. */
static const char *why_forbidden(const struct engine *engine, const struct address *address,
				 uint16_t port)
{
	const char *special = address_special(address);

	if (!special && route_ask(engine->routes, address) == ROUTE_OWN)
		special = "this machine itself";
	return special && is_named(engine, address, port) ? NULL : special;
}

static void connect_to(struct connection *connection, const struct address *addresses, size_t count)
{
	struct engine *engine = connection->engine;
	struct address allowed[RESOLVER_ADDRESSES];
	const struct address *bad = NULL;
	const char *why = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const char *special = why_forbidden(engine, &addresses[i], connection->target.port);

		if (!special) {
			allowed[kept++] = addresses[i];
		} else if (!bad) {
			bad = &addresses[i];
			why = special;
		}
	}
	if (kept == 0 && bad) {
		struct rule_target that = { .address = *bad, .port = connection->target.port };
		char rule[GATEWAY_TEXT];

		address_text(bad, that.host);
		rule_target_rule(&that, rule);
		/* Also the notice of the denial names the cure. */
		connection_refuse(connection, 403, &connection->target, HOST_TABLE_REFUSED_HOST, "",
				  "leads to %s: %s; if it is meant, also: --allow %s", that.host,
				  why, rule);
		return;
	}
	connection->dial = dial_start(&engine->loop, &engine->stagger, allowed, kept,
				      connection->target.port, on_connected, connection);
}

static void on_resolved(void *context, const struct resolver_answer *answer)
{
	struct connection *connection = context;

	connection->question = NULL;
	if (connection->stage != CONNECTION_STAGE_DIAL)
		return;
	if (answer->wrong)
		fail_target(connection, 502, SOCKS_UNREACHABLE, answer->wrong);
	else
		connect_to(connection, answer->addresses, answer->count);
}

/* Checks the caps that are known before connecting. Returns false if the connection was refused. */
static bool check_caps(struct connection *connection)
{
	struct engine *engine = connection->engine;
	const struct caps *caps = &engine->config.caps;

	/* It was accepted above the cap; by now there may be room. */
	if (connection->spare && engine->connection_count > caps->connections) {
		connection_refuse(connection, 503, &connection->target, HOST_TABLE_CAPPED, "",
				  "has to wait: the limit of %u connections at once is reached "
				  "(raise it with --net-connections)",
				  (unsigned int)caps->connections);
		return false;
	}
	if (!connection_count_in(connection, 0) || !connection_count_out(connection, 0))
		return false;
	if (engine->active[connection->row - engine->table->rows] >= caps->host_connections) {
		connection_refuse(
			connection, 503, &connection->target, HOST_TABLE_CAPPED, "",
			"has to wait: the limit of %u connections at once to one host is reached",
			(unsigned int)caps->host_connections);
		return false;
	}
	return true;
}

void connection_access_check(struct connection *connection)
{
	struct engine *engine = connection->engine;
	const struct rule *rule = connection_access_rule(engine, &connection->target);

	if (!rule) {
		char text[GATEWAY_TEXT];
		char remedy[GATEWAY_TEXT + 10];

		rule_target_rule(&connection->target, text);
		snprintf(remedy, sizeof remedy, "--allow %s", text);
		connection_refuse(connection, 403, &connection->target, HOST_TABLE_REFUSED_HOST,
				  remedy, "is " GATEWAY_NOT_LISTED);
		return;
	}
	connection->free_port = rule->target.port && rule->target.port != 443 &&
				rule->target.port != 80;
	connection->row = host_table_find(engine->table, &connection->target, false,
					  engine->active);
	if (!check_caps(connection))
		return;
	engine->active[connection->row - engine->table->rows]++;
	connection->counted = true;
	connection->stage = CONNECTION_STAGE_DIAL;
	event_loop_alarm_start(&engine->loop, &engine->connecting, &connection->alarm);
	if (connection->target.address.family)
		connect_to(connection, &connection->target.address, 1);
	else
		connection->question = resolver_ask(engine->resolver, connection->target.host,
						    on_resolved, connection);
}
