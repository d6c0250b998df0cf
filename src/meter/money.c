/* The gateway's budget arithmetic: see money.h. */
#include "meter/money.h"

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a > MONEY_NO_LIMIT - b ? MONEY_NO_LIMIT : a + b;
}

void money_learn(struct money_learnt *learnt, uint64_t bytes, uint64_t tokens)
{
	if (bytes < MONEY_LEARNT || tokens == 0)
		return;
	if (tokens > UINT32_MAX) /* implausible; also keeps products in range */
		tokens = UINT32_MAX;
	if (learnt->bytes == 0 || tokens * learnt->bytes > learnt->tokens * bytes) {
		learnt->tokens = tokens;
		learnt->bytes = bytes;
	}
	if (bytes > learnt->largest)
		learnt->largest = bytes;
}

uint64_t money_guess(const struct money_learnt *learnt, uint64_t bytes)
{
	uint64_t like = bytes < learnt->largest ? bytes : learnt->largest;
	uint64_t tokens;

	if (learnt->bytes == 0)
		return 0;
	tokens = like * learnt->tokens / learnt->bytes;
	if (tokens < like / MONEY_LONGEST)
		tokens = like / MONEY_LONGEST;
	return tokens * 3 / 2 + 1 + (bytes - like);
}

static uint64_t unused(const struct money *money)
{
	uint64_t used = sum(money->spent, money->reserved);

	return money->granted > used ? money->granted - used : 0;
}

static uint64_t most_cost(const struct money_want *want, uint64_t input, uint64_t output)
{
	if (want->free)
		return 0;
	return price_most(want->table, want->model, input, output * want->answers, want->fast);
}

enum money_verdict money_reserve(struct money *money, const struct money_want *want,
				 uint64_t *ret_reserved, uint64_t *ret_output, uint64_t *ret_nusd)
{
	uint64_t here = unused(money);
	uint64_t reach = sum(here, money->left);
	uint64_t floor = want->output < want->floor ? want->output : want->floor;
	uint64_t input = want->input;
	uint64_t output = want->output;
	uint64_t least;
	uint64_t cost;

	if (money->latched && !want->free)
		return MONEY_OVER;
	/* One token per byte is the safe bound. If that is too expensive, use the estimate from
	 * earlier requests: the real number is known before the answer begins, and an excess
	 * ends all requests. */
	if (want->likely && want->likely < input && money->reserved == 0 &&
	    most_cost(want, input, output) > reach)
		input = want->likely; /* one at a time, so a wrong estimate happens once */
	least = most_cost(want, input, floor);
	cost = most_cost(want, input, output);
	if (least > reach) {
		*ret_nusd = least - here;
		return money->reserved > 0 || money->asking ? MONEY_WAIT : MONEY_OVER;
	}
	if (cost > reach) {
		uint64_t share = reach / 2 > least ? reach / 2 : least;

		output = price_most_output(want->table, want->model, input, want->fast, share,
					   want->output * want->answers) /
			 want->answers;
		output = output < floor ? floor : output;
		cost = most_cost(want, input, output);
	}
	if (cost > here) {
		*ret_nusd = cost - here;
		return money->asking ? MONEY_WAIT : MONEY_ASK;
	}
	money->reserved = sum(money->reserved, cost);
	*ret_reserved = cost;
	*ret_output = output;
	return MONEY_GO;
}

void money_grant(struct money *money, uint64_t nusd, uint64_t left)
{
	money->granted = sum(money->granted, nusd);
	money->left = left;
	money->asking = false;
}

void money_adjust(struct money *money, uint64_t *reserved, uint64_t nusd)
{
	money->reserved = money->reserved > *reserved ? money->reserved - *reserved : 0;
	money->reserved = sum(money->reserved, nusd);
	*reserved = nusd;
}

void money_settle(struct money *money, uint64_t *reserved, uint64_t cost)
{
	money_adjust(money, reserved, 0);
	money->spent = sum(money->spent, cost);
}

uint64_t money_ahead(const struct money *money, uint64_t usual)
{
	uint64_t here = unused(money);

	if (money->asking || money->latched || here >= usual || money->left / 4 < usual)
		return 0;
	return usual - here;
}

uint64_t money_overdrawn(const struct money *money)
{
	uint64_t used = sum(money->spent, money->reserved);

	return used > money->granted ? used - money->granted : 0;
}
