/* Refusals: reported to the owner first, then to the client. See connection.h. */
#include "gateway/proxy/connection.h"

#include "util/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *phrase(unsigned int status)
{
	static const struct {
		unsigned int status;
		const char *phrase;
	} phrases[] = {
		{ 400, "Bad Request" },
		{ 403, "Forbidden" },
		{ 407, "Proxy Authentication Required" },
		{ 408, "Request Timeout" },
		{ 431, "Request Header Fields Too Large" },
		{ 502, "Bad Gateway" },
		{ 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" },
	};

	for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "Error";
}

void connection_refusal_write(struct connection *connection, unsigned int status, const char *lines,
			      const char *text)
{
	AUTO_FREE char *head = mem_format("HTTP/1.1 %u %s\r\n%s"
					  "Content-Type: text/plain; charset=utf-8\r\n"
					  "Content-Length: %zu\r\nConnection: close\r\n\r\n"
					  "ringfence: %s\n",
					  status, phrase(status), lines,
					  strlen("ringfence: \n") + strlen(text), text);

	if (connection_side_say(&connection->client, head) < 0)
		connection_end(connection);
	else
		connection_finish(connection);
}

/* Makes untrusted text safe for headers and terminals. */
static void clean(char *text)
{
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			*text = '?';
}

static void write_sentence(const struct connection_refusal *refusal, char *ret_text, size_t room)
{
	char shown[GATEWAY_TEXT];

	rule_target_text(&refusal->target, shown);
	snprintf(ret_text, room, "%s %s%s%s%s", shown, refusal->reason,
		 refusal->remedy[0] ? "; " : "", refusal->remedy,
		 refusal->remedy[0] ? " would allow it" : "");
}

/* An open tunnel can only be refused with a TLS alert. */
static void end_tunnel(struct connection *connection)
{
	static const uint8_t access_denied[] = { 21, 3, 1, 0, 2, 2, 49 };

	if (connection->tls &&
	    connection_side_send(&connection->client, access_denied, sizeof access_denied) == 0)
		connection_finish(connection);
	else
		connection_reset(connection);
}

static void end_socks(struct connection *connection)
{
	uint8_t reply[SOCKS_REPLY];

	socks_write_reply(SOCKS_REFUSED, reply);
	if (connection_side_send(&connection->client, reply, sizeof reply) < 0)
		connection_end(connection);
	else
		connection_finish(connection);
}

void connection_refusal_answer(struct connection *connection)
{
	const struct connection_refusal *refusal = connection->refusal;

	event_loop_alarm_stop(&connection->alarm);
	connection->engine->held_count -= connection->stage == CONNECTION_STAGE_HELD;
	connection->stage = CONNECTION_STAGE_HEAD;
	if (refusal->cut) {
		connection_reset(connection);
	} else if (connection->open && !connection->within) {
		end_tunnel(connection);
	} else if (connection->socks && !connection->within) {
		end_socks(connection);
	} else {
		char text[1000];

		write_sentence(refusal, text, sizeof text);

		AUTO_FREE char *line = mem_format("X-Ringfence-Denied: %s\r\n", text);

		connection_refusal_write(connection, refusal->status, line, text);
	}
}

/* Limits the reports per second: a client that tries many names must not keep the owner busy. */
static bool may_report(struct engine *engine)
{
	if (engine->loop.now_ms >= engine->second_ms + 1000) {
		engine->second_ms = engine->loop.now_ms;
		engine->reported = 0;
	}
	if (engine->reported == ENGINE_REPORTED || engine->held_count == ENGINE_HELD)
		return false;
	engine->reported++;
	return true;
}

static bool report(struct connection *connection, struct connection_refusal *refusal)
{
	struct engine *engine = connection->engine;
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_REFUSED };
	struct owner_protocol_refusal *out = &message.u.refusal;

	if (!may_report(engine))
		return false;
	refusal->id = message.id = ++engine->last_id;
	address_to(&connection->peer, connection->peer_port, &out->client);
	memcpy(out->host, refusal->target.host, sizeof out->host);
	out->port = refusal->target.port;
	memcpy(out->reason, refusal->reason, sizeof out->reason);
	memcpy(out->remedy, refusal->remedy, sizeof out->remedy);
	return owner_protocol_send(engine->owner.fd, &message, NULL, 0, false) == 0;
}

void connection_refuse(struct connection *connection, unsigned int status,
		       const struct rule_target *target, enum host_table_verdict verdict,
		       const char *remedy, const char *format, ...)
{
	struct engine *engine = connection->engine;
	struct connection_refusal *refusal = mem_zero(sizeof *refusal);
	struct host_table_row *row = host_table_find(engine->table, target, true, engine->active);
	va_list args;

	va_start(args, format);
	vsnprintf(refusal->reason, sizeof refusal->reason, format, args);
	va_end(args);
	clean(refusal->reason);
	refusal->status = status;
	refusal->cut = connection->stage == CONNECTION_STAGE_EXCHANGE ||
		       connection->stage == CONNECTION_STAGE_TUNNEL;
	snprintf(refusal->remedy, sizeof refusal->remedy, "%s", remedy);
	refusal->target = *target;
	row->refusals++;
	if (row->verdict != HOST_TABLE_ALLOWED || verdict == HOST_TABLE_CAPPED)
		row->verdict = verdict;
	free(connection->refusal);
	connection->refusal = refusal;
	event_loop_alarm_stop(&connection->alarm);
	if (!report(connection, refusal)) { /* not reported, only counted in the table */
		connection_refusal_answer(connection);
		return;
	}
	connection->stage = CONNECTION_STAGE_HELD;
	engine->held_count++;
	event_loop_alarm_start(&engine->loop, &engine->held, &connection->alarm);
}

void connection_refusal_release(struct engine *engine, uint32_t id)
{
	for (struct connection *connection = engine->connections; connection;
	     connection = connection->next) {
		if (connection->stage == CONNECTION_STAGE_HELD && connection->refusal->id == id) {
			connection_refusal_answer(connection);
			return;
		}
	}
}
