/* Whether a visit may go where it wants, and the way there: see engine.h. */
#include "gateway/engine.h"

#include "gateway/proxy/route.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct rule *judge_rule(const struct engine *engine, const struct rule_target *target)
{
	const struct rule *found = NULL;

	for (size_t i = 0; i < engine->config.rule_count; i++) {
		const struct rule *rule = &engine->config.rules[i];

		if (!rule_allows(rule, target))
			continue;
		found = rule;
		if (rule->target.port) /* says more than one without */
			break;
	}
	return found;
}

void judge_fail(struct visit *visit, unsigned int status, enum socks_reply reply,
		const char *format, ...)
{
	uint8_t bytes[SOCKS_REPLY];
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (visit->open && !visit->within) {
		visit_end(visit);
		return;
	}
	if (!visit->socks || visit->within) {
		refuse_write(visit, status, "", text);
		return;
	}
	/* Before its request, SOCKS has no way to say what is wrong. */
	if (visit->stage == STAGE_METHODS || visit->stage == STAGE_PASSWORD) {
		visit_end(visit);
		return;
	}
	socks_write_reply(reply, bytes);
	if (side_send(&visit->client, bytes, sizeof bytes) < 0)
		visit_end(visit);
	else
		visit_finish(visit);
}

static void fail_target(struct visit *visit, unsigned int status, enum socks_reply reply,
			const char *why)
{
	char shown[GATEWAY_TEXT];

	rule_target_text(&visit->target, shown);
	if (visit->row->verdict != HOST_TABLE_ALLOWED)
		visit->row->verdict = HOST_TABLE_FAILED;
	judge_fail(visit, status, reply, "%s: %s", shown, why);
}

static void connected(void *context, int fd, int error)
{
	struct visit *visit = context;
	struct engine *engine = visit->engine;

	visit->dial = NULL;
	if (fd < 0) {
		fail_target(visit, error == ETIMEDOUT ? 504 : 502,
			    error == ECONNREFUSED ? SOCKS_CONNECTION_REFUSED : SOCKS_UNREACHABLE,
			    strerror(error));
		return;
	}
	visit_use_server(visit, fd);
	visit->row->connections++;
	visit->row->verdict = HOST_TABLE_ALLOWED;
	event_loop_alarm_start(&engine->loop, &engine->idle, &visit->alarm);
	if (visit->exchange)
		exchange_send(visit);
	else
		tunnel_open(visit);
	visit_advance(visit);
}

/* Does a rule name this very address? */
static bool named(const struct engine *engine, const struct address *address, uint16_t port)
{
	struct rule_target target = { .address = *address, .port = port };

	address_text(address, target.host);
	return judge_rule(engine, &target);
}

/* Why an address must not be connected to; NULL if it may. */
static const char *forbidden(const struct engine *engine, const struct address *address,
			     uint16_t port)
{
	const char *special = address_special(address);

	if (!special && route_ask(engine->routes, address) == ROUTE_OWN)
		special = "this machine itself";
	return special && named(engine, address, port) ? NULL : special;
}

static void go_to(struct visit *visit, const struct address *addresses, size_t count)
{
	struct engine *engine = visit->engine;
	struct address allowed[RESOLVER_ADDRESSES];
	const struct address *bad = NULL;
	const char *why = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const char *special = forbidden(engine, &addresses[i], visit->target.port);

		if (!special) {
			allowed[kept++] = addresses[i];
		} else if (!bad) {
			bad = &addresses[i];
			why = special;
		}
	}
	if (kept == 0 && bad) {
		struct rule_target that = { .address = *bad, .port = visit->target.port };
		char rule[GATEWAY_TEXT];
		char remedy[GATEWAY_TEXT + 10];

		address_text(bad, that.host);
		rule_target_rule(&that, rule);
		snprintf(remedy, sizeof remedy, "--allow %s", rule);
		refuse(visit, 403, &visit->target, HOST_TABLE_REFUSED_HOST, remedy,
		       "leads to %s: %s", that.host, why);
		return;
	}
	visit->dial = dial_start(&engine->loop, &engine->stagger, allowed, kept, visit->target.port,
				 connected, visit);
}

static void resolved(void *context, const struct resolver_answer *answer)
{
	struct visit *visit = context;

	visit->question = NULL;
	if (visit->stage != STAGE_DIAL)
		return;
	if (answer->wrong)
		fail_target(visit, 502, SOCKS_UNREACHABLE, answer->wrong);
	else
		go_to(visit, answer->addresses, answer->count);
}

/* Caps that are known before a connection is made. Returns false if the visit has been refused. */
static bool there_is_room(struct visit *visit)
{
	struct engine *engine = visit->engine;
	const struct caps *caps = &engine->config.caps;

	/* Those that came when there was no room; meanwhile there may be some. */
	if (visit->spare && engine->visit_count > caps->connections) {
		refuse(visit, 503, &visit->target, HOST_TABLE_CAPPED, "",
		       "has to wait: the limit of %u connections at once is reached (--net-connections)",
		       (unsigned int)caps->connections);
		return false;
	}
	if (!visit_count_in(visit, 0) || !visit_count_out(visit, 0))
		return false;
	if (engine->active[visit->row - engine->table->rows] >= caps->host_connections) {
		refuse(visit, 503, &visit->target, HOST_TABLE_CAPPED, "",
		       "has to wait: the limit of %u connections at once to one host is reached",
		       (unsigned int)caps->host_connections);
		return false;
	}
	return true;
}

void judge_go(struct visit *visit)
{
	struct engine *engine = visit->engine;
	const struct rule *rule = judge_rule(engine, &visit->target);

	if (!rule) {
		char text[GATEWAY_TEXT];
		char remedy[GATEWAY_TEXT + 10];

		rule_target_rule(&visit->target, text);
		snprintf(remedy, sizeof remedy, "--allow %s", text);
		refuse(visit, 403, &visit->target, HOST_TABLE_REFUSED_HOST, remedy,
		       "is " GATEWAY_NOT_LISTED);
		return;
	}
	visit->free_port = rule->target.port && rule->target.port != 443 && rule->target.port != 80;
	visit->row = host_table_find(engine->table, &visit->target, false, engine->active);
	if (!there_is_room(visit))
		return;
	engine->active[visit->row - engine->table->rows]++;
	visit->counted = true;
	visit->stage = STAGE_DIAL;
	event_loop_alarm_start(&engine->loop, &engine->connecting, &visit->alarm);
	if (visit->target.address.family)
		go_to(visit, &visit->target.address, 1);
	else
		visit->question = resolver_ask(engine->resolver, visit->target.host, resolved,
					       visit);
}
