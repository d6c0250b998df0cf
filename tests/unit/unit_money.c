/* Reservations: promised money is there, returned money is used again, and the end is final. */
#include "unit.h"

#include "meter/money.h"

enum { FLOOR = 1024 };

static struct price_table table;
static const struct price_model *opus;

/* US$ 4 and 20 per million, times 1.1 for a region: 1000 output tokens are 22,000,000
 * nano-dollars. */
static struct money_want want(uint64_t input, uint64_t output)
{
	return (struct money_want){ .table = &table,
				    .model = opus,
				    .input = input,
				    .output = output,
				    .answers = 1,
				    .floor = FLOOR };
}

static void reserving(void)
{
	struct money_want one = want(1000, 500);
	uint64_t cost = price_most(&table, opus, 1000, 500, false);
	struct money money = { .left = 3 * cost };
	uint64_t reserved[4] = { 0 };
	uint64_t output = 0;
	uint64_t need = 0;

	CHECK("the first asks its owner",
	      money_reserve(&money, &one, &reserved[0], &output, &need) == MONEY_ASK &&
		      need == cost);
	money.asking = true;
	CHECK("while that is under way, others wait",
	      money_reserve(&money, &one, &reserved[1], &output, &need) == MONEY_WAIT);
	money_grant(&money, 3 * cost, 0);
	CHECK("three fit, side by side",
	      money_reserve(&money, &one, &reserved[0], &output, &need) == MONEY_GO &&
		      output == 500 &&
		      money_reserve(&money, &one, &reserved[1], &output, &need) == MONEY_GO &&
		      money_reserve(&money, &one, &reserved[2], &output, &need) == MONEY_GO &&
		      money.reserved == 3 * cost);
	CHECK("a fourth waits for what may come back",
	      money_reserve(&money, &one, &reserved[3], &output, &need) == MONEY_WAIT);
	money_settle(&money, &reserved[0], cost - 1);
	money_settle(&money, &reserved[1], cost);
	money_settle(&money, &reserved[2], cost);
	CHECK("when nothing can come back, it is over",
	      money_reserve(&money, &one, &reserved[3], &output, &need) == MONEY_OVER);
	CHECK("what was spent is exact",
	      money.spent == 3 * cost - 1 && money.reserved == 0 && money_overdrawn(&money) == 0);
}

static void asking_ahead(void)
{
	struct money money = { .granted = 100, .spent = 30, .left = 1000 };

	CHECK("the missing part of a request like the last is requested in "
	      "advance",
	      money_ahead(&money, 90) == 20);
	CHECK("nothing is requested if there is enough for it", money_ahead(&money, 70) == 0);
	money.reserved = 60;
	CHECK("reserved money is not available for it", money_ahead(&money, 70) == 60);
	money.asking = true;
	CHECK("the owner gets one question at a time", money_ahead(&money, 70) == 0);
	money = (struct money){ .granted = 100, .spent = 30, .left = 4 * 90 - 1 };
	CHECK("nothing is requested in advance when money is short", money_ahead(&money, 90) == 0);
	money = (struct money){ .granted = 100, .spent = 30, .left = 1000, .latched = true };
	CHECK("nor when it is used up", money_ahead(&money, 90) == 0);
}

static void clamping(void)
{
	uint64_t dear = price_most(&table, opus, 10000, 128000, false);
	struct money money = { .granted = dear / 2 };
	struct money_want big = want(10000, 128000);
	uint64_t reserved = 0;
	uint64_t other = 0;
	uint64_t output = 0;
	uint64_t need = 0;

	CHECK("too much output is cut to what half of the money pays for",
	      money_reserve(&money, &big, &reserved, &output, &need) == MONEY_GO &&
		      output > FLOOR && output < 128000 && reserved <= dear / 4 + 1);
	CHECK("so a second one also finds some",
	      money_reserve(&money, &big, &other, &output, &need) == MONEY_GO && output > FLOOR);
	CHECK("never more than there is", money.reserved <= money.granted);

	struct money little = { .granted = price_most(&table, opus, 10000, FLOOR, false) };

	CHECK("the floor is given if it fits",
	      money_reserve(&little, &big, &reserved, &output, &need) == MONEY_GO &&
		      output == FLOOR);
	little = (struct money){ .granted = price_most(&table, opus, 10000, FLOOR, false) - 1 };
	CHECK("below the floor it is over",
	      money_reserve(&little, &big, &reserved, &output, &need) == MONEY_OVER);

	struct money_want several = want(100, 1000);

	several.answers = 4;
	little = (struct money){ .granted = price_most(&table, opus, 100, 4000, false) };
	CHECK("several answers are paid for each",
	      money_reserve(&little, &several, &reserved, &output, &need) == MONEY_GO &&
		      output == 1000 && reserved == little.granted);
}

static void learning(void)
{
	struct money money = { .granted = 2000000000 };
	struct money_want large = want(1000000, 8000);
	uint64_t reserved = 0;
	uint64_t output = 0;
	uint64_t need = 0;

	CHECK("a large request does not fit by its bytes",
	      money_reserve(&money, &large, &reserved, &output, &need) == MONEY_OVER);
	large.likely = 150000;
	CHECK("it fits by what was learnt from similar requests",
	      money_reserve(&money, &large, &reserved, &output, &need) == MONEY_GO);
	large = want(1000, 100);
	large.likely = 1;
	money = (struct money){ .granted = 2000000000 };
	CHECK("where the bytes fit, they are what counts",
	      money_reserve(&money, &large, &reserved, &output, &need) == MONEY_GO &&
		      reserved == price_most(&table, opus, 1000, 100, false));
}

static void guessing(void)
{
	struct money_learnt learnt = { 0 };
	struct money money = { .granted = 2000000000 };
	struct money_want large = want(1000000, 1000);
	uint64_t reserved = 0;
	uint64_t other = 0;
	uint64_t output = 0;
	uint64_t need = 0;

	money_learn(&learnt, MONEY_LEARNT - 1, 5000);
	CHECK("nothing is learnt from a small request", money_guess(&learnt, 100000) == 0);
	money_learn(&learnt, 100000, 40000);
	CHECK("the estimate is 1.5 times the learnt tokens", money_guess(&learnt, 50000) == 30001);
	money_learn(&learnt, 200000, 10);
	CHECK("a lower ratio for a larger request only raises the largest size",
	      money_guess(&learnt, 200000) == 120001);
	CHECK("beyond the largest request seen, each byte counts",
	      money_guess(&learnt, 1200000) == 1120001);
	money_learn(&learnt, 100000, 60000);
	CHECK("a higher ratio raises the estimate", money_guess(&learnt, 100000) == 90001);
	learnt = (struct money_learnt){ 0 };
	money_learn(&learnt, 1000000, 1);
	CHECK("a token never has more than four bytes", money_guess(&learnt, 1000000) == 375001);
	money_learn(&learnt, 1000000, UINT64_MAX);
	CHECK("an implausible number counts as a large one",
	      money_guess(&learnt, 1000000) > UINT32_MAX);

	large.likely = 100000;
	CHECK("only one request at a time uses an estimate",
	      money_reserve(&money, &large, &reserved, &output, &need) == MONEY_GO &&
		      money_reserve(&money, &large, &other, &output, &need) == MONEY_WAIT);
	money_settle(&money, &reserved, price_most(&table, opus, 1000000, 1000, false));
	CHECK("a wrong estimate is the last: the excess is requested, and "
	      "nothing is left",
	      money_overdrawn(&money) > 0 &&
		      money_reserve(&money, &large, &other, &output, &need) == MONEY_OVER);
}

static void ends(void)
{
	struct money money = { .granted = 1000, .left = 0 };
	uint64_t reserved = 0;
	uint64_t output = 0;
	uint64_t need = 0;
	struct money_want free_one = want(1000000, 128000);

	money_adjust(&money, &reserved, 400);
	money_adjust(&money, &reserved, 300);
	CHECK("an adjustment changes the reservation", money.reserved == 300 && reserved == 300);
	money_settle(&money, &reserved, 1200);
	CHECK("an overdraft is known", money_overdrawn(&money) == 200 && reserved == 0);
	free_one.free = true;
	CHECK("a free request always fits",
	      money_reserve(&money, &free_one, &reserved, &output, &need) == MONEY_GO &&
		      reserved == 0 && output == 128000);
	money.latched = true;
	free_one.free = false;
	CHECK("after the latch nothing does",
	      money_reserve(&money, &free_one, &reserved, &output, &need) == MONEY_OVER);

	struct money unlimited = { .left = MONEY_NO_LIMIT };
	struct money_want big = want(100000, 128000);

	CHECK("without a limit the owner is asked as well: it keeps the ledger",
	      money_reserve(&unlimited, &big, &reserved, &output, &need) == MONEY_ASK &&
		      need == price_most(&table, opus, 100000, 128000, false));
}

int main(void)
{
	struct error err;

	if (price_table_init(&table, &err) < 0)
		return 1;
	opus = price_find(&table, "claude-opus-5-5");
	reserving();
	asking_ahead();
	clamping();
	learning();
	guessing();
	ends();
	price_table_release(&table);
	return unit_failures > 0;
}
