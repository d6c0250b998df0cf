/* The gateway's budget: see budget.h. */
#include "gateway/model/budget.h"

#include <stdio.h>
#include <string.h>

void budget_init(struct budget *budget, struct event_loop *loop, int owner_fd,
		 const struct budget_spending *spending)
{
	budget->loop = loop;
	budget->owner_fd = owner_fd;
	budget->spending = spending;
	budget->money.left =
		MONEY_NO_LIMIT; /* until the first grant: the owner is always asked first */
}

void budget_enter(struct budget *budget, struct budget_spender *spender)
{
	spender->prev = budget->last;
	if (budget->last)
		budget->last->next = spender;
	else
		budget->first = spender;
	budget->last = spender;
}

void budget_leave(struct budget *budget, struct budget_spender *spender)
{
	if (spender->prev)
		spender->prev->next = spender->next;
	else
		budget->first = spender->next;
	if (spender->next)
		spender->next->prev = spender->prev;
	else
		budget->last = spender->prev;
}

void budget_ask(struct budget *budget, uint64_t nusd, bool must)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_LEASE };

	message.u.lease = (struct owner_protocol_lease){ .nusd = nusd, .must = must };
	budget->money.asking = true;
	if (owner_protocol_send(budget->owner_fd, &message, NULL, 0, true) < 0)
		budget->loop->over = true;
}

void budget_granted(struct budget *budget, const struct owner_protocol_message *message)
{
	const struct owner_protocol_grant *grant = &message->u.grant;

	money_grant(&budget->money, grant->nusd, grant->left);
	snprintf(budget->why, sizeof budget->why, "%s", grant->why);
	/* The money is already spent and exceeds the limit: end all requests. */
	if (grant->must && grant->why[0])
		budget_latch(budget);
	budget_changed(budget);
}

void budget_report(struct budget *budget, const struct ledger_row *row)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_ROW };

	message.u.row = *row;
	if (owner_protocol_send(budget->owner_fd, &message, NULL, 0, true) < 0)
		budget->loop->over = true;
}

void budget_report_failure(struct budget *budget, enum failure failure, const char *why)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_FAILURE, .id = failure };

	snprintf(message.u.text, sizeof message.u.text, "%s", why);
	if (owner_protocol_send(budget->owner_fd, &message, NULL, 0, true) < 0)
		budget->loop->over = true;
}

void budget_changed(struct budget *budget)
{
	uint64_t over = money_overdrawn(&budget->money);
	struct budget_spender *next;

	if (over > 0 && !budget->money.asking) {
		budget_ask(budget, over, true);
		return;
	}
	if (budget->money.latched)
		return; /* nothing waits any more */
	/* In order of arrival. The first request that must wait keeps the later ones waiting, so
	 * that none starves. */
	for (struct budget_spender *at = budget->first; at; at = next) {
		next = at->next;
		if (budget->spending->waits(at) && !budget->spending->pay(at))
			return;
	}
}

void budget_ask_ahead(struct budget *budget)
{
	uint64_t nusd = money_ahead(&budget->money, budget->usual);

	if (nusd > 0)
		budget_ask(budget, nusd, false);
}

void budget_latch(struct budget *budget)
{
	struct budget_spender *next;

	if (budget->money.latched)
		return;
	budget->money.latched = true;
	for (struct budget_spender *at = budget->first; at; at = next) {
		next = at->next;
		budget->spending->cut(at);
	}
}

void budget_close(struct budget *budget)
{
	struct owner_protocol_message message = { .type = OWNER_PROTOCOL_CLOSED };

	message.u.refused = budget->refused;
	budget->money.latched = true;
	while (budget->first)
		budget->spending->abandon(budget->first);
	(void)owner_protocol_send(budget->owner_fd, &message, NULL, 0, true);
	budget->loop->over = true;
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
