/* The gateway's till: see budget.h. */
#include "gateway/model/budget.h"

#include "gateway/call.h"
#include "gateway/engine.h"

#include <stdio.h>
#include <string.h>

void budget_init(struct engine *engine)
{
	engine->budget.money.left =
		MONEY_NO_LIMIT; /* until the owner says otherwise: it is always asked first */
}

void budget_ask(struct engine *engine, uint64_t nusd, bool must)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_LEASE };

	message.u.lease = (struct owner_protocol_lease){ .nusd = nusd, .must = must };
	engine->budget.money.asking = true;
	if (owner_protocol_send(engine->owner.fd, &message, NULL, 0, true) < 0)
		engine->loop.over = true;
}

void budget_granted(struct engine *engine, const struct owner_protocol_message *message)
{
	const struct owner_protocol_grant *grant = &message->u.grant;
	struct budget *budget = &engine->budget;

	money_grant(&budget->money, grant->nusd, grant->left);
	snprintf(budget->why, sizeof budget->why, "%s", grant->why);
	/* Spent already, and beyond what there was: that is the end. */
	if (grant->must && grant->why[0])
		budget_latch(engine);
	budget_changed(engine);
}

void budget_tell(struct engine *engine, const struct ledger_row *row)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_ROW };

	message.u.row = *row;
	if (owner_protocol_send(engine->owner.fd, &message, NULL, 0, true) < 0)
		engine->loop.over = true;
}

void budget_tell_unreached(struct engine *engine, const char *why)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_UNREACHED };

	snprintf(message.u.text, sizeof message.u.text, "%s", why);
	if (owner_protocol_send(engine->owner.fd, &message, NULL, 0, true) < 0)
		engine->loop.over = true;
}

void budget_changed(struct engine *engine)
{
	struct budget *budget = &engine->budget;
	uint64_t over = money_overdrawn(&budget->money);
	struct call *next;

	if (over > 0 && !budget->money.asking) {
		budget_ask(engine, over, true);
		return;
	}
	if (budget->money.latched)
		return; /* nobody waits any more */
	/* In their order; the first that has to wait keeps the others waiting, so that nobody starves. */
	for (struct call *call = budget->calls; call; call = next) {
		next = call_next(call);
		if (call_waits(call) && !call_pay(call))
			return;
	}
}

void budget_ask_ahead(struct engine *engine)
{
	uint64_t nusd = money_ahead(&engine->budget.money, engine->budget.usual);

	if (nusd > 0)
		budget_ask(engine, nusd, false);
}

void budget_latch(struct engine *engine)
{
	struct budget *budget = &engine->budget;
	struct call *next;

	if (budget->money.latched)
		return;
	budget->money.latched = true;
	for (struct call *call = budget->calls; call; call = next) {
		next = call_next(call);
		call_cut(call);
	}
}

void budget_close(struct engine *engine)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_CLOSED };

	message.u.refused = engine->budget.refused;
	engine->budget.money.latched = true;
	while (engine->budget.calls)
		call_abandon(engine->budget.calls);
	(void)owner_protocol_send(engine->owner.fd, &message, NULL, 0, true);
	engine->loop.over = true;
}

void budget_learn(struct budget *budget, const struct price_model *model, uint64_t bytes,
		  uint64_t tokens)
{
	size_t i = 0;

	while (i < budget->learnt_count && budget->learnt[i].model != model)
		i++;
	if (i == BUDGET_MODELS)
		return;
	budget->learnt[i].model = model;
	budget->learnt_count += i == budget->learnt_count;
	money_learn(&budget->learnt[i].like, bytes, tokens);
}

uint64_t budget_guess(const struct budget *budget, const struct price_model *model, uint64_t bytes)
{
	for (size_t i = 0; i < budget->learnt_count; i++)
		if (budget->learnt[i].model == model)
			return money_guess(&budget->learnt[i].like, bytes);
	return 0;
}
