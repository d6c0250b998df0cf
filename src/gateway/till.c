/* The gateway's till: see till.h. */
#include "gateway/till.h"

#include "gateway/call.h"
#include "gateway/engine.h"

#include <stdio.h>
#include <string.h>

void till_init(struct engine *engine)
{
	engine->till.money.left =
		MONEY_NO_LIMIT; /* until the owner says otherwise: it is always asked first */
}

void till_ask(struct engine *engine, uint64_t nusd, bool must)
{
	struct post_message message = { .type = POST_LEASE };

	message.u.lease = (struct post_lease){ .nusd = nusd, .must = must };
	engine->till.money.asking = true;
	if (post_send(engine->owner.fd, &message, NULL, 0, true) < 0)
		engine->loop.over = true;
}

void till_granted(struct engine *engine, const struct post_message *message)
{
	const struct post_grant *grant = &message->u.grant;
	struct till *till = &engine->till;

	money_grant(&till->money, grant->nusd, grant->left);
	snprintf(till->why, sizeof till->why, "%s", grant->why);
	/* Spent already, and beyond what there was: that is the end. */
	if (grant->must && grant->why[0])
		till_latch(engine);
	till_changed(engine);
}

void till_tell(struct engine *engine, const struct books_row *row)
{
	struct post_message message = { .type = POST_ROW };

	message.u.row = *row;
	if (post_send(engine->owner.fd, &message, NULL, 0, true) < 0)
		engine->loop.over = true;
}

void till_tell_unreached(struct engine *engine, const char *why)
{
	struct post_message message = { .type = POST_UNREACHED };

	snprintf(message.u.text, sizeof message.u.text, "%s", why);
	if (post_send(engine->owner.fd, &message, NULL, 0, true) < 0)
		engine->loop.over = true;
}

void till_changed(struct engine *engine)
{
	struct till *till = &engine->till;
	uint64_t over = money_overdrawn(&till->money);
	struct call *next;

	if (over > 0 && !till->money.asking) {
		till_ask(engine, over, true);
		return;
	}
	if (till->money.latched)
		return; /* nobody waits any more */
	/* In their order; the first that has to wait keeps the others waiting, so that nobody starves. */
	for (struct call *call = till->calls; call; call = next) {
		next = call_next(call);
		if (call_waits(call) && !call_pay(call))
			return;
	}
}

void till_ask_ahead(struct engine *engine)
{
	uint64_t nusd = money_ahead(&engine->till.money, engine->till.usual);

	if (nusd > 0)
		till_ask(engine, nusd, false);
}

void till_latch(struct engine *engine)
{
	struct till *till = &engine->till;
	struct call *next;

	if (till->money.latched)
		return;
	till->money.latched = true;
	for (struct call *call = till->calls; call; call = next) {
		next = call_next(call);
		call_cut(call);
	}
}

void till_close(struct engine *engine)
{
	struct post_message message = { .type = POST_CLOSED };

	message.u.refused = engine->till.refused;
	engine->till.money.latched = true;
	while (engine->till.calls)
		call_abandon(engine->till.calls);
	(void)post_send(engine->owner.fd, &message, NULL, 0, true);
	engine->loop.over = true;
}

void till_learn(struct till *till, const struct price_model *model, uint64_t bytes, uint64_t tokens)
{
	size_t i = 0;

	while (i < till->learnt_count && till->learnt[i].model != model)
		i++;
	if (i == TILL_MODELS)
		return;
	till->learnt[i].model = model;
	till->learnt_count += i == till->learnt_count;
	money_learn(&till->learnt[i].like, bytes, tokens);
}

uint64_t till_guess(const struct till *till, const struct price_model *model, uint64_t bytes)
{
	for (size_t i = 0; i < till->learnt_count; i++)
		if (till->learnt[i].model == model)
			return money_guess(&till->learnt[i].like, bytes);
	return 0;
}
