/* What the loop does next, and why: failures, breakers, progress, confidence, decisions. */
#include "unit.h"

#include "guard/guard.h"

#include "util/mem.h"

#include <string.h>

/* 2026-11-18 12:20:00 UTC. */
#define NOW INT64_C(1795004400)
#define USD INT64_C(1000000000)

static const struct {
	const char *sentence;
	struct guard_facts facts;
	enum guard_failure failure;
} classes[] = {
	{ "work and no check is no failure", { .output_bytes = 9 }, GUARD_FAILURE_NONE },
	{ "a file changed without a word is no failure",
	  { .files_changed = 1 },
	  GUARD_FAILURE_NONE },
	{ "a typed rate limit is a provider limit, also with status 0",
	  { .has_result = true, .stream_error = GUARD_STREAM_RATE_LIMIT },
	  GUARD_FAILURE_PROVIDER_LIMIT },
	{ "429 is a provider limit",
	  { .exit_code = 1, .http_status = 429 },
	  GUARD_FAILURE_PROVIDER_LIMIT },
	{ "a provider limit explains a hang",
	  { .idle = true, .signal = 15, .http_status = 429 },
	  GUARD_FAILURE_PROVIDER_LIMIT },
	{ "529 is overloaded", { .exit_code = 1, .http_status = 529 }, GUARD_FAILURE_OVERLOADED },
	{ "503 is overloaded", { .http_status = 503 }, GUARD_FAILURE_OVERLOADED },
	{ "a typed overload is overloaded",
	  { .stream_error = GUARD_STREAM_OVERLOADED },
	  GUARD_FAILURE_OVERLOADED },
	{ "no way to the model server is unreachable, whatever the agent says to it",
	  { .exit_code = 1, .stream_error = GUARD_STREAM_UNREACHABLE, .denials = 1 },
	  GUARD_FAILURE_UNREACHABLE },
	{ "401 is authentication",
	  { .exit_code = 1, .http_status = 401 },
	  GUARD_FAILURE_AUTHENTICATION },
	{ "403 is authentication", { .http_status = 403 }, GUARD_FAILURE_AUTHENTICATION },
	{ "an account without money needs a person",
	  { .stream_error = GUARD_STREAM_BILLING },
	  GUARD_FAILURE_AUTHENTICATION },
	{ "our budget is a budget",
	  { .stream_error = GUARD_STREAM_BUDGET, .exit_code = 1 },
	  GUARD_FAILURE_BUDGET },
	{ "no output for too long is a hang",
	  { .idle = true, .signal = 9, .output_bytes = 9 },
	  GUARD_FAILURE_HANG },
	{ "too long is a timeout", { .timed_out = true, .signal = 15 }, GUARD_FAILURE_TIMEOUT },
	{ "an agent that was ended after its result is no failure",
	  { .idle = true, .signal = 15, .has_result = true, .output_bytes = 9 },
	  GUARD_FAILURE_NONE },
	{ "a signal is a crash", { .signal = 11, .output_bytes = 9 }, GUARD_FAILURE_CRASH },
	{ "a status without a result is a crash",
	  { .exit_code = 1, .output_bytes = 9 },
	  GUARD_FAILURE_CRASH },
	{ "a status after a good result is none",
	  { .exit_code = 143, .has_result = true, .output_bytes = 9 },
	  GUARD_FAILURE_NONE },
	{ "a bad result with status 0 is a crash",
	  { .has_result = true, .result_error = true, .output_bytes = 9 },
	  GUARD_FAILURE_CRASH },
	{ "a failure after a denial is a denial",
	  { .exit_code = 1, .denials = 2, .output_bytes = 9 },
	  GUARD_FAILURE_DENIAL },
	{ "a denial that the agent got over is none",
	  { .denials = 2, .has_result = true, .output_bytes = 9 },
	  GUARD_FAILURE_NONE },
	{ "nothing at all is a no-op", { .has_result = true }, GUARD_FAILURE_NO_OP },
	{ "a failing check is a failed check",
	  { .output_bytes = 9, .checks = 2, .checks_passed = 1 },
	  GUARD_FAILURE_CHECK_FAILED },
	{ "a vacuous check is a failed check",
	  { .output_bytes = 9, .checks = 2, .checks_passed = 2, .checks_vacuous = 1 },
	  GUARD_FAILURE_CHECK_FAILED },
	{ "passing checks are no failure",
	  { .output_bytes = 9, .checks = 2, .checks_passed = 2 },
	  GUARD_FAILURE_NONE },
	{ "a crash explains a failing check",
	  { .exit_code = 1, .checks = 1 },
	  GUARD_FAILURE_CRASH },
};

static void failures(void)
{
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
		CHECK(classes[i].sentence, guard_classify(&classes[i].facts) == classes[i].failure);
	for (int i = 0; i < GUARD_FAILURES; i++) {
		AUTO_FREE char *sentence = mem_format("failure %d has a name", i);

		CHECK(sentence, guard_failure_name((enum guard_failure)i)[0]);
	}
}

static const struct guard_outcome good = { .progress = true };
static const struct guard_outcome idle = { 0 };
static const struct guard_outcome bad = { .error = true, .signature = 7 };
static const struct guard_outcome busy = { .error = true, .progress = true, .signature = 7 };
static const struct guard_outcome other = { .error = true, .signature = 8 };
static const struct guard_outcome interrupted = { .interrupted = true };

/* Feeds letters: + good, . idle, e error, p the same with progress, o another error, i interrupted. Returns a state a letter. */
static bool feeds(enum guard_breaker_kind kind, uint32_t open_at, const char *outcomes,
		  const char *states)
{
	struct guard_breaker breaker;
	bool right = true;

	guard_breaker_init(&breaker, kind);
	if (open_at != UINT32_MAX)
		breaker.open_at = open_at;
	for (size_t i = 0; outcomes[i]; i++) {
		const struct guard_outcome *outcome = outcomes[i] == '+'   ? &good
						      : outcomes[i] == '.' ? &idle
						      : outcomes[i] == 'e' ? &bad
						      : outcomes[i] == 'p' ? &busy
						      : outcomes[i] == 'o' ? &other
									   : &interrupted;

		right &= "CHO"[guard_breaker_feed(&breaker, outcome, NOW)] == states[i];
	}
	return right;
}

static void breakers(void)
{
	enum { DEFAULT = UINT32_MAX };
	struct guard_breaker breaker;
	struct guard_breaker stored;

	CHECK("five errors in a row open", feeds(GUARD_BREAKER_ERRORS, DEFAULT, "eoeoe", "CCCCO"));
	CHECK("a good iteration between errors closes",
	      feeds(GUARD_BREAKER_ERRORS, DEFAULT, "eeee+eeeee", "CCCCCCCCCO"));
	CHECK("five times the same error opens",
	      feeds(GUARD_BREAKER_SAME_ERROR, DEFAULT, "eeeee", "CCCCO"));
	CHECK("with progress in between, twice as many do",
	      feeds(GUARD_BREAKER_SAME_ERROR, 2, "ppppp", "CCCOO"));
	CHECK("until there is none", feeds(GUARD_BREAKER_SAME_ERROR, 2, "ppe", "CCO"));
	CHECK("other breakers have no such patience", feeds(GUARD_BREAKER_ERRORS, 2, "pp", "CO"));
	CHECK("another error begins anew",
	      feeds(GUARD_BREAKER_SAME_ERROR, DEFAULT, "eeoeeoo", "CCCCCCC"));
	CHECK("no progress is half-open after two and open after five",
	      feeds(GUARD_BREAKER_NO_PROGRESS, DEFAULT, ".....", "CHHHO"));
	CHECK("progress closes a half-open breaker",
	      feeds(GUARD_BREAKER_NO_PROGRESS, DEFAULT, "...+..", "CHHCCH"));
	CHECK("five interruptions in a row open",
	      feeds(GUARD_BREAKER_INTERRUPTED, DEFAULT, "iiiii", "CCCCO"));
	CHECK("interruptions do not touch the other counts",
	      feeds(GUARD_BREAKER_ERRORS, DEFAULT, "eeiieee", "CCCCCCO"));
	CHECK("a threshold can be set", feeds(GUARD_BREAKER_ERRORS, 1, "e", "O"));
	CHECK("0 switches a breaker off", feeds(GUARD_BREAKER_ERRORS, 0, "eeeeeee", "CCCCCCC"));

	guard_breaker_init(&breaker, GUARD_BREAKER_SAME_ERROR);
	for (int i = 0; i < 5; i++)
		guard_breaker_feed(&breaker, &bad, NOW);
	CHECK("an open breaker stays open until it has cooled down",
	      guard_breaker_state(&breaker, NOW + GUARD_COOL_DOWN_S - 1) == GUARD_OPEN &&
		      guard_breaker_state(&breaker, NOW + GUARD_COOL_DOWN_S) == GUARD_HALF_OPEN);
	memcpy(&stored, &breaker, sizeof stored);
	CHECK("a bad outcome after the cool-down opens it again at once",
	      guard_breaker_feed(&stored, &bad, NOW + 4000) == GUARD_OPEN && stored.tripped == 2 &&
		      guard_breaker_cool_at(&stored) == NOW + 4000 + GUARD_COOL_DOWN_S);
	CHECK("a good outcome after the cool-down closes it",
	      guard_breaker_feed(&breaker, &good, NOW + 4000) == GUARD_CLOSED &&
		      breaker.count == 0);
	stored.cool_down_s = 0;
	CHECK("without a cool-down it stays open until it is reset",
	      guard_breaker_state(&stored, INT64_MAX) == GUARD_OPEN &&
		      guard_breaker_cool_at(&stored) == -1);
	stored.open_at = 10;
	CHECK("a raised threshold lets the loop go on",
	      guard_breaker_state(&stored, NOW) == GUARD_HALF_OPEN &&
		      guard_breaker_feed(&stored, &bad, NOW) == GUARD_CLOSED);
	stored.open_at = 3;
	guard_breaker_feed(&stored, &bad, NOW);
	guard_breaker_reset(&stored);
	CHECK("a reset closes and keeps the thresholds",
	      guard_breaker_state(&stored, NOW) == GUARD_CLOSED && stored.open_at == 3);
	breaker.opened_at = INT64_MAX;
	breaker.cool_down_s = INT64_MAX;
	CHECK("a cool-down cannot overflow", guard_breaker_cool_at(&breaker) == INT64_MAX);
}

static struct guard_snapshot tree(char name, uint32_t boxes, uint32_t checks, int64_t tests)
{
	return (struct guard_snapshot){ .tree = { (unsigned char)name },
					.files_changed = 1,
					.boxes_ticked = boxes,
					.checks_passing = checks,
					.tests_passing = tests };
}

static void progress(void)
{
	struct guard_snapshot earlier[] = { tree('B', 1, 1, 4), tree('A', 1, 1, 5),
					    tree('B', 1, 0, 4), tree('0', 0, 0, 0) };
	struct guard_snapshot same = tree('B', 1, 1, 4);
	struct guard_snapshot now = tree('C', 1, 1, 4);
	struct guard_progress p;

	CHECK("a new tree is progress",
	      guard_progressed(&now, earlier, 4, &p) && p.tree && !p.tests);
	now = tree('A', 1, 1, 5);
	CHECK("A, B, A, B is no progress, and is noticed",
	      !guard_progressed(&now, earlier, 4, &p) && p.oscillates);
	CHECK("the same tree twice is no oscillation",
	      !guard_progressed(&same, earlier, 4, &p) && !p.oscillates);
	CHECK("a tree is new again when it is long ago", guard_progressed(&now, earlier, 1, NULL));
	now = tree('A', 2, 1, 4);
	CHECK("a box ticked is progress",
	      guard_progressed(&now, earlier, 4, &p) && p.boxes && !p.tree);
	now = tree('A', 1, 2, 4);
	CHECK("a check more is progress", guard_progressed(&now, earlier, 4, &p) && p.checks);
	now = tree('A', 1, 1, 6);
	CHECK("a test more is progress", guard_progressed(&now, earlier, 4, &p) && p.tests);
	now = tree('A', 1, 1, 5);
	CHECK("winning back a test is none", !guard_progressed(&now, earlier, 4, NULL));
	now = (struct guard_snapshot){ .tree = { 'Z' } };
	CHECK("a new tree without a changed file is none",
	      !guard_progressed(&now, earlier, 4, NULL));
	CHECK("without anything before it, a change is progress",
	      guard_progressed(&same, NULL, 0, &p) && p.tree && !p.oscillates);
}

static void confidence(void)
{
	static const struct {
		const char *sentence;
		struct guard_evidence evidence;
		uint32_t confidence, completion;
	} samples[] = {
		{ "no evidence is no confidence", { 0 }, 0, 0 },
		{ "all checks are all", { .checks = 2, .checks_held = 2 }, 1000, 1000 },
		{ "everything is all",
		  { .checks = 2,
		    .checks_held = 2,
		    .boxes_ticked = 5,
		    .promise_wanted = true,
		    .promised = true },
		  1000,
		  1000 },
		{ "a promise alone is not enough",
		  { .promise_wanted = true, .promised = true },
		  600,
		  1000 },
		{ "a promise does not outweigh a failing check",
		  { .checks = 1, .boxes_ticked = 9, .promised = true },
		  400,
		  400 },
		{ "a failing check caps the confidence",
		  { .checks = 10, .checks_held = 9, .boxes_ticked = 9, .promised = true },
		  500,
		  940 },
		{ "tests say how far a failing check is",
		  { .checks = 1, .tests_passed = 30, .tests_failed = 10 },
		  0,
		  750 },
		{ "a failing check is never the whole",
		  { .checks = 1, .tests_passed = 30 },
		  0,
		  999 },
		{ "open boxes count",
		  { .checks = 1, .checks_held = 1, .boxes_open = 1, .boxes_ticked = 1 },
		  833,
		  833 },
		{ "a missing promise counts",
		  { .checks = 1, .checks_held = 1, .promise_wanted = true },
		  857,
		  857 },
		{ "boxes alone are evidence", { .boxes_open = 1, .boxes_ticked = 3 }, 750, 750 },
		{ "large numbers do not overflow",
		  { .checks = UINT32_MAX,
		    .checks_held = UINT32_MAX - 1,
		    .boxes_open = UINT32_MAX,
		    .boxes_ticked = UINT32_MAX,
		    .tests_passed = INT64_MAX,
		    .tests_failed = INT64_MAX },
		  500,
		  833 },
	};

	for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
		uint32_t sure = guard_confidence(&samples[i].evidence);
		uint32_t complete = guard_completion(&samples[i].evidence);

		if (sure != samples[i].confidence || complete != samples[i].completion)
			printf("# %u, %u\n", sure, complete);
		CHECK(samples[i].sentence,
		      sure == samples[i].confidence && complete == samples[i].completion);
	}
}

/* A loop after its third iteration: the agent did some work, one check of two passes. */
static struct guard_input usual(void)
{
	static const struct guard_snapshot before = { .tree = { 'A' } };
	struct guard_input in = {
		.now = NOW,
		.started_at = NOW - 600,
		.iterations = 2,
		.cost_nusd = 3 * USD,
		.limits = GUARD_LIMITS_DEFAULT,
		.rules = { .checks = true },
		.facts = { .has_result = true,
			   .output_bytes = 100,
			   .files_changed = 1,
			   .checks = 2,
			   .checks_passed = 1 },
		.signature = 42,
		.snapshot = { .tree = { 'B' }, .files_changed = 1 },
		.earlier = &before,
		.earlier_count = 1,
	};

	for (int i = 0; i < GUARD_BREAKERS; i++)
		guard_breaker_init(&in.breakers[i], (enum guard_breaker_kind)i);
	return in;
}

static struct guard_decision decided(const struct guard_input *in)
{
	struct guard_decision d;

	guard_decide(in, &d);
	return d;
}

static struct guard_decision allowed(const struct guard_input *in)
{
	struct guard_decision d;

	guard_before(in, &d);
	return d;
}

static bool says(const struct guard_decision *d, const char *words)
{
	for (uint32_t i = 0; i < d->reason_count; i++)
		if (strstr(d->reasons[i], words))
			return true;
	for (uint32_t i = 0; i < d->reason_count; i++)
		printf("# %s\n", d->reasons[i]);
	return false;
}

static void completion(void)
{
	struct guard_input in = usual();
	struct guard_decision d = decided(&in);

	CHECK("a failing check goes on at once",
	      d.action == GUARD_GO_ON && d.should_continue && d.counts_as_iteration &&
		      d.iterations == 3 && d.failure == GUARD_FAILURE_CHECK_FAILED &&
		      says(&d, "1 of 2 checks passed"));
	in.promised = true;
	d = decided(&in);
	CHECK("a promise does not outvote a failing check",
	      d.action == GUARD_GO_ON && d.confidence <= 500 && says(&d, "it does not count"));
	in.rules = (struct guard_rules){ .promise = true };
	d = decided(&in);
	CHECK("nor where only the promise is a rule", d.action == GUARD_GO_ON);
	in.facts.checks = 0;
	d = decided(&in);
	CHECK("a promise is enough where it is the only rule and no check fails",
	      d.action == GUARD_DONE && d.completion == 1000 && !d.should_continue &&
		      says(&d, "the promise was given"));
	in = usual();
	in.facts.checks_passed = 2;
	d = decided(&in);
	CHECK("passing checks are done",
	      d.action == GUARD_DONE && d.confidence == 1000 && says(&d, "2 of 2 checks passed"));
	in.facts.checks_vacuous = 1;
	d = decided(&in);
	CHECK("a vacuous check is not", d.action == GUARD_GO_ON && says(&d, "ran no test"));
	in = usual();
	in.facts.checks_passed = 2;
	in.rules = (struct guard_rules){ .checks = true, .promise = true, .boxes = true };
	in.boxes = (struct guard_boxes){ .open = 1, .ticked = 4 };
	in.promised = true;
	d = decided(&in);
	CHECK("an open box is not done", d.action == GUARD_GO_ON && says(&d, "1 box is open"));
	in.boxes.open = 0;
	in.promised = false;
	d = decided(&in);
	CHECK("a missing promise is not done", d.action == GUARD_GO_ON && says(&d, "not given"));
	in.promised = true;
	d = decided(&in);
	CHECK("all rules together are done", d.action == GUARD_DONE && d.reason_count == 4);
	in.boxes.ticked = 0;
	d = decided(&in);
	CHECK("a list without boxes proves nothing",
	      d.action == GUARD_GO_ON && says(&d, "no boxes"));
	in = usual();
	in.rules = (struct guard_rules){ 0 };
	in.facts.checks = 0;
	in.promised = true;
	CHECK("without a rule nothing is done", decided(&in).action == GUARD_GO_ON);
	in = usual();
	in.facts.checks_passed = 2;
	in.iterations = 19;
	in.cost_nusd = 25 * USD;
	CHECK("done at the limit is done", decided(&in).action == GUARD_DONE);
	in.facts.checks = in.facts.checks_passed = 0;
	CHECK("no check at all is not done", decided(&in).action == GUARD_LIMIT);
}

static void waiting(void)
{
	struct guard_input in = usual();
	struct guard_decision d;

	in.facts =
		(struct guard_facts){ .exit_code = 1, .http_status = 429, .reset_at = NOW + 7200 };
	d = decided(&in);
	CHECK("a provider's limit is waited out to the stated time",
	      d.action == GUARD_WAIT && d.wait_until == NOW + 7200 && d.should_continue &&
		      says(&d, "2026-11-18 14:20:00 UTC"));
	CHECK("and uses up no iteration", !d.counts_as_iteration && d.iterations == 2 &&
						  d.breakers[GUARD_BREAKER_ERRORS].count == 0);
	in.facts.reset_at = NOW + 7 * 86400;
	d = decided(&in);
	CHECK("a wait beyond the total time ends with that limit",
	      d.action == GUARD_LIMIT && d.limit == GUARD_LIMIT_TIME && says(&d, "--max-time"));
	in.limits.total_s = 0;
	CHECK("without a total time it is waited out", decided(&in).wait_until == NOW + 7 * 86400);
	in.facts.reset_at = INT64_MAX;
	d = decided(&in);
	CHECK("a time that cannot be is not believed", d.wait_until == NOW + 30);
	in.facts.reset_at = NOW - 5;
	d = decided(&in);
	CHECK("a time that is over is waited for a little",
	      d.wait_until == NOW + 30 && d.waits == 1);
	in.facts.reset_at = NOW + 1;
	in.waits = GUARD_STATED_WAITS - 1;
	CHECK("a second can be stated three times", decided(&in).wait_until == NOW + 1);
	in.waits = GUARD_STATED_WAITS;
	CHECK("but not again and again", decided(&in).wait_until == NOW + 240);
	in.facts.reset_at = NOW + 7200;
	CHECK("a later time is believed", decided(&in).wait_until == NOW + 7200);
	in.waits = 0;
	in.facts.http_status = 529;
	in.facts.reset_at = 0;
	in.waits = 3;
	d = decided(&in);
	CHECK("overload doubles the wait", d.action == GUARD_WAIT && d.wait_until == NOW + 240 &&
						   d.waits == 4 && !d.counts_as_iteration);
	CHECK("from 30 s to 15 min", guard_back_off_s(0) == 30 && guard_back_off_s(4) == 480 &&
					     guard_back_off_s(5) == 900 &&
					     guard_back_off_s(UINT32_MAX) == 900);
	in = usual();
	in.waits = 3;
	CHECK("an iteration that worked ends the row of waits", decided(&in).waits == 0);
	in = usual();
	in.facts = (struct guard_facts){ .http_status = 429, .checks = 1, .checks_passed = 1 };
	CHECK("an agent that could not work has not finished", decided(&in).action == GUARD_WAIT);
	in.facts.files_changed = 3;
	CHECK("one that could may have", decided(&in).action == GUARD_DONE);
}

/* A model server that is gone: waited for a while, and then a person is needed. */
static void unreachable(void)
{
	struct guard_input in = usual();
	struct guard_decision d;

	in.facts = (struct guard_facts){ .exit_code = 1, .stream_error = GUARD_STREAM_UNREACHABLE };
	in.unreached = "127.0.0.1:8080 cannot be reached: Connection refused";
	d = decided(&in);
	CHECK("a model server that is gone is waited for, by its name",
	      d.action == GUARD_WAIT && d.wait_until == NOW + 30 && d.waits == 1 &&
		      strcmp(d.reasons[0], "the model server at 127.0.0.1:8080 cannot be reached: "
					   "Connection refused") == 0 &&
		      says(&d, "waiting until 2026-11-18 12:20:30 UTC"));
	CHECK("and uses up no iteration", !d.counts_as_iteration && d.iterations == 2 &&
						  d.breakers[GUARD_BREAKER_ERRORS].count == 0);
	in.waits = GUARD_UNREACHABLE_WAITS - 1;
	d = decided(&in);
	CHECK("the last wait is a quarter of an hour",
	      d.action == GUARD_WAIT && d.wait_until == NOW + 900);
	in.waits = d.waits;
	d = decided(&in);
	CHECK("then it pauses, and says what helps",
	      d.action == GUARD_PAUSE && !d.should_continue && !d.counts_as_iteration &&
		      says(&d, "is it running") && says(&d, "ringfence resume"));
	CHECK("after which it is waited for as long again", d.waits == 0);
	in.unreached = NULL;
	CHECK("without its name there is a sentence, too",
	      (d = decided(&in), says(&d, "the model server cannot be reached, after 6 waits")));
	in = usual();
	in.facts = (struct guard_facts){ .stream_error = GUARD_STREAM_UNREACHABLE };
	in.started_at = NOW - 8 * 3600 + 10;
	d = decided(&in);
	CHECK("a wait beyond the total time is a limit",
	      d.action == GUARD_LIMIT && d.limit == GUARD_LIMIT_TIME && says(&d, "--max-time"));
}

static void pauses(void)
{
	struct guard_input in = usual();
	struct guard_decision d;

	in.facts = (struct guard_facts){ .exit_code = 1, .http_status = 401 };
	d = decided(&in);
	CHECK("authentication pauses for a person, without an iteration",
	      d.action == GUARD_PAUSE && !d.should_continue && !d.counts_as_iteration &&
		      says(&d, "ringfence resume"));
	in = usual();
	in.cost_nusd = 15 * USD;
	d = decided(&in);
	CHECK("the cost warning pauses, and names itself", d.action == GUARD_PAUSE && d.warned &&
								   says(&d, "US$ 15.00") &&
								   says(&d, "--warn-cost"));
	in.warned = true;
	CHECK("once", decided(&in).action == GUARD_GO_ON && decided(&in).warned);
	in.warned = false;
	in.limits.pause_on_warning = false;
	d = decided(&in);
	CHECK("or only warns",
	      d.action == GUARD_GO_ON && d.warned && says(&d, "the warning level of US$ 15.00"));
	in.limits.cost_warning_nusd = 0;
	CHECK("or not at all", !decided(&in).warned);
}

static void limits(void)
{
	struct guard_input in = usual();
	struct guard_decision d;

	in.iterations = 19;
	d = decided(&in);
	CHECK("the last iteration ends with a limit that names itself",
	      d.action == GUARD_LIMIT && d.limit == GUARD_LIMIT_ITERATIONS && !d.should_continue &&
		      says(&d, "all 20 iterations are used up; --max-iterations"));
	in.limits.iterations = 0;
	CHECK("0 is no limit", decided(&in).action == GUARD_GO_ON);
	in = usual();
	in.started_at = NOW - 8 * 3600;
	d = decided(&in);
	CHECK("the total time ends with a limit that names itself",
	      d.limit == GUARD_LIMIT_TIME && says(&d, "limit of 8 h; --max-time"));
	in = usual();
	in.cost_nusd = 25 * USD + 370000000;
	d = decided(&in);
	CHECK("the total cost ends with a limit that names itself",
	      d.limit == GUARD_LIMIT_COST &&
		      says(&d, "US$ 25.37 has reached its limit of US$ 25.00; --max-cost"));
	in.started_at = INT64_MIN;
	in.cost_nusd = INT64_MAX;
	in.iterations = UINT32_MAX;
	CHECK("numbers at their ends do not overflow", decided(&in).action == GUARD_LIMIT);
	in = usual();
	in.facts.stream_error = GUARD_STREAM_BUDGET;
	d = decided(&in);
	CHECK("an iteration's own budget ends the iteration, not the loop",
	      d.action == GUARD_GO_ON && d.counts_as_iteration &&
		      d.failure == GUARD_FAILURE_BUDGET);
}

static void unchosen(void)
{
	struct guard_input in = usual();
	struct guard_decision d;

	in.rules = (struct guard_rules){ .checks = true, .promise = true };
	in.found = "make check";
	in.iterations = 19;
	in.facts.checks = 1;
	in.facts.checks_passed = 1;
	d = decided(&in);
	CHECK("a limit says that a check passes which nobody chose, and how it is enough",
	      d.action == GUARD_LIMIT &&
		      strcmp(d.reasons[0],
			     "all 20 iterations are used up; --max-iterations changes it; the check "
			     "'make check' passes, but nobody chose it, and the agent did not say "
			     "that it is done; for ringfence run --check 'make check' it is enough") ==
			      0);
	in.facts.checks_passed = 0;
	CHECK("not while it fails", !strstr(decided(&in).reasons[0], "nobody"));
	in.facts.checks_passed = in.facts.checks_vacuous = 1;
	CHECK("nor where it ran nothing", !strstr(decided(&in).reasons[0], "nobody"));
	in.facts.checks_vacuous = 0;
	in.found = NULL;
	CHECK("nor of one that was chosen", !strstr(decided(&in).reasons[0], "nobody"));
	in.found = "make check";
	in.iterations = 20;
	in.facts = (struct guard_facts){ 0 };
	CHECK("nor before an iteration, where it is not known",
	      !strstr(allowed(&in).reasons[0], "nobody"));

	in.iterations = 5;
	in.facts = (struct guard_facts){ .checks = 1, .checks_passed = 1, .output_bytes = 3 };
	in.snapshot = *in.earlier;
	in.breakers[GUARD_BREAKER_NO_PROGRESS].count = 4;
	d = decided(&in);
	CHECK("without progress that is said instead of what helps a task which is too large",
	      d.action == GUARD_FAILED && d.breaker == GUARD_BREAKER_NO_PROGRESS &&
		      says(&d, "changes it): the check 'make check' passes, but nobody chose it") &&
		      !strstr(d.reasons[0], "stronger model"));
}

static void poor(void)
{
	struct guard_input in = usual();
	struct guard_decision d;

	in.facts.stream_error = GUARD_STREAM_BUDGET;
	in.snapshot = *in.earlier;
	in.breakers[GUARD_BREAKER_NO_PROGRESS].count = 4;
	d = decided(&in);
	CHECK("without progress for want of money the advice is more money",
	      d.action == GUARD_FAILED && d.breaker == GUARD_BREAKER_NO_PROGRESS &&
		      says(&d, "too little for this task: raise --budget") &&
		      !strstr(d.reasons[0], "stronger model"));
}

static void tripping(void)
{
	struct guard_input in = usual();
	struct guard_decision d = { 0 };

	in.facts = (struct guard_facts){ .signal = 11, .output_bytes = 3 };
	in.snapshot = *in.earlier;
	in.signature = 0;
	for (int i = 0; i < 5; i++) {
		d = decided(&in);
		memcpy(in.breakers, d.breakers, sizeof in.breakers);
		in.iterations = d.iterations;
		if (i == 2)
			CHECK("a half-open breaker warns",
			      d.action == GUARD_GO_ON &&
				      says(&d, "3 iterations without progress: at 5"));
	}
	CHECK("five errors in a row fail, with what to do and the flag",
	      d.action == GUARD_FAILED && d.breaker == GUARD_BREAKER_ERRORS && !d.should_continue &&
		      says(&d,
			   "5 errors in a row (the limit is 5, --max-errors changes it): look at the log"));
	CHECK("a second open breaker is named, too", says(&d, "--max-no-progress"));
	CHECK("what happened once is said in the singular",
	      strcmp(guard_breaker_counted(GUARD_BREAKER_ERRORS, 1), "error") == 0 &&
		      strcmp(guard_breaker_counted(GUARD_BREAKER_ERRORS, 2), "errors in a row") ==
			      0);
	d = allowed(&in);
	CHECK("no iteration starts with an open breaker",
	      d.action == GUARD_FAILED && d.breaker == GUARD_BREAKER_ERRORS && !d.should_continue);
	in.now += GUARD_COOL_DOWN_S;
	d = allowed(&in);
	CHECK("after the cool-down one may", d.action == GUARD_GO_ON && d.should_continue);

	in = usual();
	for (int i = 0; i < 9; i++) {
		d = decided(&in);
		memcpy(in.breakers, d.breakers, sizeof in.breakers);
	}
	CHECK("the same failing check may come nine times while something new is tried",
	      d.action == GUARD_GO_ON);
	d = decided(&in);
	CHECK("but not ten times", d.action == GUARD_FAILED);
	in = usual();
	in.snapshot = *in.earlier;
	in.breakers[GUARD_BREAKER_NO_PROGRESS].open_at = 0;
	for (int i = 0; i < 5; i++) {
		CHECK("so far it goes on", d.action == GUARD_GO_ON || i == 0);
		d = decided(&in);
		memcpy(in.breakers, d.breakers, sizeof in.breakers);
	}
	CHECK("without that, the same failing check five times fails",
	      d.action == GUARD_FAILED && d.breaker == GUARD_BREAKER_SAME_ERROR &&
		      says(&d, "--max-same-error"));
	in = usual();
	for (int i = 0; i < 3; i++) {
		in.snapshot.tests_passing = i + 1;
		d = decided(&in);
		memcpy(in.breakers, d.breakers, sizeof in.breakers);
	}
	CHECK("not while more and more tests pass", d.action == GUARD_GO_ON);
	in = usual();
	in.facts = (struct guard_facts){ .interrupted = true };
	for (int i = 0; i < 4; i++) {
		d = decided(&in);
		memcpy(in.breakers, d.breakers, sizeof in.breakers);
	}
	CHECK("an interrupted iteration is repeated and uses up none",
	      d.action == GUARD_GO_ON && !d.counts_as_iteration && d.iterations == 2 &&
		      says(&d, "will be repeated"));
	d = decided(&in);
	CHECK("until there are five in a row",
	      d.action == GUARD_FAILED && d.breaker == GUARD_BREAKER_INTERRUPTED);
	in = usual();
	in.facts = (struct guard_facts){ .exit_code = 1, .denials = 3, .output_bytes = 1 };
	d = decided(&in);
	CHECK("a denial is told from a failure",
	      d.action == GUARD_GO_ON && says(&d, "the fence refused 3 acts"));
}

static void early(void)
{
	struct guard_input in = usual();
	struct guard_decision d;

	in.rules = (struct guard_rules){ 0 };
	in.facts.checks = 0;
	in.boxes = (struct guard_boxes){ .ticked = 5 };
	in.promised = true;
	d = decided(&in);
	CHECK("without a rule, high confidence stops early, and that is not done",
	      d.action == GUARD_EARLY && !d.should_continue && d.completion < 1000 &&
		      says(&d, "--early-stop"));
	in.iterations = 0;
	CHECK("not before enough iterations", decided(&in).action == GUARD_GO_ON);
	in.iterations = 5;
	in.limits.early_confidence = 0;
	CHECK("not if it is off", decided(&in).action == GUARD_GO_ON);
	in.limits.early_confidence = 950;
	in.boxes.open = 1;
	CHECK("not with an open box", decided(&in).action == GUARD_GO_ON);
	in.boxes.open = 0;
	in.rules.checks = true;
	CHECK("not where a rule does not hold", decided(&in).action == GUARD_GO_ON);
}

static void before(void)
{
	struct guard_input in = usual();
	struct guard_decision d = allowed(&in);

	CHECK("an iteration may start",
	      d.action == GUARD_GO_ON && d.should_continue && d.iterations == 2);
	in.iterations = 20;
	d = allowed(&in);
	CHECK("not beyond the iterations",
	      d.action == GUARD_LIMIT && d.limit == GUARD_LIMIT_ITERATIONS);
	in = usual();
	in.now = NOW + 8 * 3600;
	CHECK("not beyond the time", allowed(&in).limit == GUARD_LIMIT_TIME);
	in = usual();
	in.cost_nusd = 25 * USD;
	CHECK("not beyond the money", allowed(&in).limit == GUARD_LIMIT_COST);
	in.cost_nusd = 16 * USD;
	CHECK("not beyond a warning that nobody has seen", allowed(&in).action == GUARD_PAUSE);
	in.warned = true;
	CHECK("but after it", allowed(&in).action == GUARD_GO_ON);
	for (int i = 0; i < GUARD_ACTIONS; i++) {
		AUTO_FREE char *sentence = mem_format("action %d has a name", i);

		CHECK(sentence, guard_action_name((enum guard_action)i)[0]);
	}
}

int main(void)
{
	failures();
	breakers();
	progress();
	confidence();
	completion();
	waiting();
	unreachable();
	pauses();
	limits();
	unchosen();
	poor();
	tripping();
	early();
	before();
	return unit_failures > 0;
}
