/* Saying no: to the owner first, then to the client. See engine.h. */
#include "gateway/engine.h"

#include "util/mem.h"

#include <arpa/inet.h>
#include <netinet/in.h>
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

void refuse_write(struct visit *visit, unsigned int status, const char *lines, const char *text)
{
	AUTO_FREE char *head = mem_format("HTTP/1.1 %u %s\r\n%s"
					  "Content-Type: text/plain; charset=utf-8\r\n"
					  "Content-Length: %zu\r\nConnection: close\r\n\r\n"
					  "ringfence: %s\n",
					  status, phrase(status), lines,
					  strlen("ringfence: \n") + strlen(text), text);

	if (side_say(&visit->client, head) < 0)
		visit_end(visit);
	else
		visit_finish(visit);
}

/* Foreign text, as it may stand in a head and on a terminal. */
static void clean(char *text)
{
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			*text = '?';
}

static void write_sentence(const struct refusal *refusal, char *ret_text, size_t room)
{
	char shown[GATEWAY_TEXT];

	rule_target_text(&refusal->target, shown);
	snprintf(ret_text, room, "%s %s%s%s%s", shown, refusal->reason,
		 refusal->remedy[0] ? "; " : "", refusal->remedy,
		 refusal->remedy[0] ? " would allow it" : "");
}

/* To a tunnel that is open there is only TLS's own way to say it. */
static void end_tunnel(struct visit *visit)
{
	static const uint8_t access_denied[] = { 21, 3, 1, 0, 2, 2, 49 };

	if (visit->tls && side_send(&visit->client, access_denied, sizeof access_denied) == 0)
		visit_finish(visit);
	else
		visit_reset(visit);
}

static void end_socks(struct visit *visit)
{
	uint8_t reply[SOCKS_REPLY];

	socks_write_reply(SOCKS_REFUSED, reply);
	if (side_send(&visit->client, reply, sizeof reply) < 0)
		visit_end(visit);
	else
		visit_finish(visit);
}

void refuse_answer(struct visit *visit)
{
	const struct refusal *refusal = visit->refusal;

	event_loop_alarm_stop(&visit->alarm);
	visit->engine->held_count -= visit->stage == STAGE_HELD;
	visit->stage = STAGE_HEAD;
	if (refusal->cut) {
		visit_reset(visit);
	} else if (visit->open && !visit->within) {
		end_tunnel(visit);
	} else if (visit->socks && !visit->within) {
		end_socks(visit);
	} else {
		char text[1000];

		write_sentence(refusal, text, sizeof text);

		AUTO_FREE char *line = mem_format("X-Ringfence-Denied: %s\r\n", text);

		refuse_write(visit, refusal->status, line, text);
	}
}

/* Not more than some in a second: a client that tries all names must not keep the owner busy. */
static bool may_tell(struct engine *engine)
{
	if (engine->loop.now_ms >= engine->second_ms + 1000) {
		engine->second_ms = engine->loop.now_ms;
		engine->told = 0;
	}
	if (engine->told == ENGINE_TOLD || engine->held_count == ENGINE_HELD)
		return false;
	engine->told++;
	return true;
}

static bool tell(struct visit *visit, struct refusal *refusal)
{
	struct engine *engine = visit->engine;
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_REFUSED };
	struct owner_protocol_refusal *told = &message.u.refusal;

	if (!may_tell(engine))
		return false;
	refusal->id = message.id = ++engine->last_id;
	address_to(&visit->peer, visit->peer_port, &told->client);
	memcpy(told->host, refusal->target.host, sizeof told->host);
	told->port = refusal->target.port;
	memcpy(told->reason, refusal->reason, sizeof told->reason);
	memcpy(told->remedy, refusal->remedy, sizeof told->remedy);
	return owner_protocol_send(engine->owner.fd, &message, NULL, 0, false) == 0;
}

void refuse(struct visit *visit, unsigned int status, const struct rule_target *target,
	    enum host_table_verdict verdict, const char *remedy, const char *format, ...)
{
	struct engine *engine = visit->engine;
	struct refusal *refusal = mem_zero(sizeof *refusal);
	struct host_table_row *row = host_table_find(engine->table, target, true, engine->active);
	va_list args;

	va_start(args, format);
	vsnprintf(refusal->reason, sizeof refusal->reason, format, args);
	va_end(args);
	clean(refusal->reason);
	refusal->status = status;
	refusal->cut = visit->stage == STAGE_EXCHANGE || visit->stage == STAGE_TUNNEL;
	snprintf(refusal->remedy, sizeof refusal->remedy, "%s", remedy);
	refusal->target = *target;
	row->refusals++;
	if (row->verdict != HOST_TABLE_ALLOWED || verdict == HOST_TABLE_CAPPED)
		row->verdict = verdict;
	free(visit->refusal);
	visit->refusal = refusal;
	event_loop_alarm_stop(&visit->alarm);
	if (!tell(visit, refusal)) { /* then it is only counted, in the table */
		refuse_answer(visit);
		return;
	}
	visit->stage = STAGE_HELD;
	engine->held_count++;
	event_loop_alarm_start(&engine->loop, &engine->held, &visit->alarm);
}

void refuse_release(struct engine *engine, uint32_t id)
{
	for (struct visit *visit = engine->visits; visit; visit = visit->next) {
		if (visit->stage == STAGE_HELD && visit->refusal->id == id) {
			refuse_answer(visit);
			return;
		}
	}
}
