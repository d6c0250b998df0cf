/* Decisions of the loop and their reasons: failures, breakers, progress, confidence. */
#include "unit.h"

#include "decision/all.h"

#include "util/buffer.h"
#include "util/mem.h"

#include <string.h>

/* 2026-11-18 12:20:00 UTC. */
#define NOW INT64_C(1795004400)
#define USD INT64_C(1000000000)

static const struct {
	const char *sentence;
	struct failure_facts facts;
	enum failure failure;
	unsigned int http_status; /* of the response that ended the turn; 0: none */
} classes[] = {
	{ "work without a check is not a failure", { .output_bytes = 9 }, FAILURE_NONE },
	{ "a silent file change is not a failure", { .files_changed = 1 }, FAILURE_NONE },
	{ "a typed rate limit is a provider limit, also with status 0",
	  { .has_result = true, .reported = FAILURE_RATE_LIMIT },
	  FAILURE_RATE_LIMIT },
	{ "429 is a provider limit", { .exit_code = 1 }, FAILURE_RATE_LIMIT, 429 },
	{ "a provider limit explains a hang",
	  { .idle = true, .signal = 15 },
	  FAILURE_RATE_LIMIT,
	  429 },
	{ "529 is overloaded", { .exit_code = 1 }, FAILURE_OVERLOADED, 529 },
	{ "503 is overloaded", { 0 }, FAILURE_OVERLOADED, 503 },
	{ "a typed overload is overloaded",
	  { .reported = FAILURE_OVERLOADED },
	  FAILURE_OVERLOADED },
	{ "no way to the model server is unreachable, whatever the agent says to it",
	  { .exit_code = 1, .reported = FAILURE_UNREACHABLE, .denials = 1 },
	  FAILURE_UNREACHABLE },
	{ "401 is authentication", { .exit_code = 1 }, FAILURE_AUTHENTICATION, 401 },
	{ "403 is a lack of permission", { 0 }, FAILURE_PERMISSION, 403 },
	{ "an account without money needs a person",
	  { .reported = FAILURE_BILLING },
	  FAILURE_BILLING },
	{ "our budget is a budget",
	  { .reported = FAILURE_BUDGET, .exit_code = 1 },
	  FAILURE_BUDGET },
	{ "no output for too long is a hang",
	  { .idle = true, .signal = 9, .output_bytes = 9 },
	  FAILURE_HANG },
	{ "too long is a timeout", { .timed_out = true, .signal = 15 }, FAILURE_TIMEOUT },
	{ "stopping an agent after its result is not a failure",
	  { .idle = true, .signal = 15, .has_result = true, .output_bytes = 9 },
	  FAILURE_NONE },
	{ "a signal is a crash", { .signal = 11, .output_bytes = 9 }, FAILURE_CRASH },
	{ "a status without a result is a crash",
	  { .exit_code = 1, .output_bytes = 9 },
	  FAILURE_CRASH },
	{ "an exit status after a good result is not a failure",
	  { .exit_code = 143, .has_result = true, .output_bytes = 9 },
	  FAILURE_NONE },
	{ "a bad result with status 0 is a crash",
	  { .has_result = true, .result_error = true, .output_bytes = 9 },
	  FAILURE_CRASH },
	{ "a failure after a denial is a denial",
	  { .exit_code = 1, .denials = 2, .output_bytes = 9 },
	  FAILURE_DENIAL },
	{ "a request to a model that failed explains a failure better than a denial",
	  { .exit_code = 1, .denials = 2, .request_failed = true, .output_bytes = 9 },
	  FAILURE_CRASH },
	{ "a denial that the agent worked around is not a failure",
	  { .denials = 2, .has_result = true, .output_bytes = 9 },
	  FAILURE_NONE },
	{ "nothing at all is a no-op", { .has_result = true }, FAILURE_NO_OP },
	{ "a failing check is a failed check",
	  { .output_bytes = 9, .checks = 2, .checks_passed = 1 },
	  FAILURE_CHECK_FAILED },
	{ "a vacuous check is a failed check",
	  { .output_bytes = 9, .checks = 2, .checks_passed = 2, .checks_vacuous = 1 },
	  FAILURE_CHECK_FAILED },
	{ "passing checks are not a failure",
	  { .output_bytes = 9, .checks = 2, .checks_passed = 2 },
	  FAILURE_NONE },
	{ "a crash explains a failing check", { .exit_code = 1, .checks = 1 }, FAILURE_CRASH },
};

static void denials(void)
{
	CHECK("a denial in the last ten seconds explains a failure, an earlier one does not",
	      failure_denial_explains(5000, 0, 15000) && !failure_denial_explains(4999, 0, 15000));
	CHECK("nor does one before the last answered request to a model",
	      failure_denial_explains(5000, 5000, 5010) &&
		      !failure_denial_explains(5000, 5001, 5010));
	CHECK("one that was heard of after the end does", failure_denial_explains(5020, 1, 5010));
}

static void failures(void)
{
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
		struct failure_facts facts = classes[i].facts;

		if (classes[i].http_status)
			facts.reported = failure_from_http(classes[i].http_status, NULL, NULL);
		CHECK(classes[i].sentence, failure_of(&facts) == classes[i].failure);
	}
}

static const struct breaker_outcome good = { .progress = true };
static const struct breaker_outcome idle = { 0 };
static const struct breaker_outcome bad = { .error = true, .signature = 7 };
static const struct breaker_outcome busy = { .error = true, .progress = true, .signature = 7 };
static const struct breaker_outcome other = { .error = true, .signature = 8 };
static const struct breaker_outcome interrupted = { .interrupted = true };

/*
 * Feeds letters: + good, . idle, e error, p the same error with progress, o another error, i
 * interrupted. Returns one state per letter.
 */
static bool feeds(enum breaker_kind kind, uint32_t open_at, const char *outcomes,
		  const char *states)
{
	struct breaker breaker;
	bool right = true;

	breaker_init(&breaker, kind);
	if (open_at != UINT32_MAX)
		breaker.open_at = open_at;
	for (size_t i = 0; outcomes[i]; i++) {
		const struct breaker_outcome *outcome = outcomes[i] == '+'   ? &good
							: outcomes[i] == '.' ? &idle
							: outcomes[i] == 'e' ? &bad
							: outcomes[i] == 'p' ? &busy
							: outcomes[i] == 'o' ? &other
									     : &interrupted;

		right &= "CHO"[breaker_feed(&breaker, outcome, NOW)] == states[i];
	}
	return right;
}

static void breakers(void)
{
	enum { DEFAULT = UINT32_MAX };
	struct breaker breaker;
	struct breaker stored;

	CHECK("five errors in a row open", feeds(BREAKER_ERRORS, DEFAULT, "eoeoe", "CCCCO"));
	CHECK("a good iteration between errors closes",
	      feeds(BREAKER_ERRORS, DEFAULT, "eeee+eeeee", "CCCCCCCCCO"));
	CHECK("five occurrences of the same error open",
	      feeds(BREAKER_SAME_ERROR, DEFAULT, "eeeee", "CCCCO"));
	CHECK("with progress in between, twice as many are needed",
	      feeds(BREAKER_SAME_ERROR, 2, "ppppp", "CCCOO"));
	CHECK("until progress ends", feeds(BREAKER_SAME_ERROR, 2, "ppe", "CCO"));
	CHECK("other breakers have no such patience", feeds(BREAKER_ERRORS, 2, "pp", "CO"));
	CHECK("another error starts a new count",
	      feeds(BREAKER_SAME_ERROR, DEFAULT, "eeoeeoo", "CCCCCCC"));
	CHECK("no progress is half-open after two and open after five",
	      feeds(BREAKER_NO_PROGRESS, DEFAULT, ".....", "CHHHO"));
	CHECK("progress closes a half-open breaker",
	      feeds(BREAKER_NO_PROGRESS, DEFAULT, "...+..", "CHHCCH"));
	CHECK("five interruptions in a row open",
	      feeds(BREAKER_INTERRUPTED, DEFAULT, "iiiii", "CCCCO"));
	CHECK("interruptions do not touch the other counts",
	      feeds(BREAKER_ERRORS, DEFAULT, "eeiieee", "CCCCCCO"));
	CHECK("a threshold can be set", feeds(BREAKER_ERRORS, 1, "e", "O"));
	CHECK("0 turns a breaker off", feeds(BREAKER_ERRORS, 0, "eeeeeee", "CCCCCCC"));

	breaker_init(&breaker, BREAKER_SAME_ERROR);
	for (int i = 0; i < 5; i++)
		breaker_feed(&breaker, &bad, NOW);
	CHECK("an open breaker stays open until it has cooled down",
	      breaker_state(&breaker, NOW + BREAKER_COOL_DOWN_S - 1) == BREAKER_OPEN &&
		      breaker_state(&breaker, NOW + BREAKER_COOL_DOWN_S) == BREAKER_HALF_OPEN);
	memcpy(&stored, &breaker, sizeof stored);
	CHECK("a bad outcome after the cool-down opens it again at once",
	      breaker_feed(&stored, &bad, NOW + 4000) == BREAKER_OPEN && stored.tripped == 2 &&
		      breaker_cool_at(&stored) == NOW + 4000 + BREAKER_COOL_DOWN_S);
	CHECK("a good outcome after the cool-down closes it",
	      breaker_feed(&breaker, &good, NOW + 4000) == BREAKER_CLOSED && breaker.count == 0);
	stored.cool_down_s = 0;
	CHECK("without a cool-down it stays open until it is reset",
	      breaker_state(&stored, INT64_MAX) == BREAKER_OPEN && breaker_cool_at(&stored) == -1);
	stored.open_at = 10;
	CHECK("a raised threshold lets the loop continue",
	      breaker_state(&stored, NOW) == BREAKER_HALF_OPEN &&
		      breaker_feed(&stored, &bad, NOW) == BREAKER_CLOSED);
	stored.open_at = 3;
	breaker_feed(&stored, &bad, NOW);
	breaker_reset(&stored);
	CHECK("a reset closes the breaker and keeps the thresholds",
	      breaker_state(&stored, NOW) == BREAKER_CLOSED && stored.open_at == 3);
	breaker.opened_at = INT64_MAX;
	breaker.cool_down_s = INT64_MAX;
	CHECK("a cool-down cannot overflow", breaker_cool_at(&breaker) == INT64_MAX);
}

static struct progress_snapshot tree(char name, uint32_t boxes, uint32_t checks, int64_t tests)
{
	return (struct progress_snapshot){ .tree = { (unsigned char)name },
					   .files_changed = 1,
					   .boxes_ticked = boxes,
					   .checks_passing = checks,
					   .tests_passing = tests };
}

static void progress(void)
{
	struct progress_snapshot earlier[] = { tree('B', 1, 1, 4), tree('A', 1, 1, 5),
					       tree('B', 1, 0, 4), tree('0', 0, 0, 0) };
	struct progress_snapshot same = tree('B', 1, 1, 4);
	struct progress_snapshot now = tree('C', 1, 1, 4);
	struct progress p;

	CHECK("a new tree is progress", progress_made(&now, earlier, 4, &p) && p.tree && !p.tests);
	now = tree('A', 1, 1, 5);
	CHECK("A, B, A, B is not progress, and is noticed",
	      !progress_made(&now, earlier, 4, &p) && p.oscillates);
	CHECK("the same tree twice is not an oscillation",
	      !progress_made(&same, earlier, 4, &p) && !p.oscillates);
	CHECK("a tree is new again when it is long ago", progress_made(&now, earlier, 1, NULL));
	now = tree('A', 2, 1, 4);
	CHECK("a box ticked is progress",
	      progress_made(&now, earlier, 4, &p) && p.boxes && !p.tree);
	now = tree('A', 1, 2, 4);
	CHECK("one more passing check is progress",
	      progress_made(&now, earlier, 4, &p) && p.checks);
	now = tree('A', 1, 1, 6);
	CHECK("one more passing test is progress", progress_made(&now, earlier, 4, &p) && p.tests);
	now = tree('A', 1, 1, 5);
	CHECK("regaining a test is not progress", !progress_made(&now, earlier, 4, NULL));
	now = (struct progress_snapshot){ .tree = { 'Z' } };
	CHECK("a new tree without a changed file is not progress",
	      !progress_made(&now, earlier, 4, NULL));
	CHECK("without anything before it, a change is progress",
	      progress_made(&same, NULL, 0, &p) && p.tree && !p.oscillates);
}

static void confidence(void)
{
	static const struct {
		const char *sentence;
		struct confidence_evidence evidence;
		uint32_t confidence, completion;
	} samples[] = {
		{ "without evidence there is no confidence", { 0 }, 0, 0 },
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
		uint32_t sure = confidence_estimate(&samples[i].evidence);
		uint32_t complete = confidence_completion(&samples[i].evidence);

		if (sure != samples[i].confidence || complete != samples[i].completion)
			printf("# %u, %u\n", sure, complete);
		CHECK(samples[i].sentence,
		      sure == samples[i].confidence && complete == samples[i].completion);
	}
}

/* A loop after its third iteration: the agent did some work, one check of two passes. */
static struct decision_input usual(void)
{
	static const struct progress_snapshot before = { .tree = { 'A' } };
	struct decision_input in = {
		.now = NOW,
		.started_at = NOW - 600,
		.iterations = 2,
		.cost_nusd = 3 * USD,
		.limits = DECISION_LIMITS_DEFAULT,
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

	for (int i = 0; i < BREAKER_COUNT; i++)
		breaker_init(&in.breakers[i], (enum breaker_kind)i);
	return in;
}

static struct decision decided(const struct decision_input *in)
{
	struct decision d;

	decision_make(in, &d);
	return d;
}

static struct decision allowed(const struct decision_input *in)
{
	struct decision d;

	decision_before(in, &d);
	return d;
}

static bool says(const struct decision *d, const char *words)
{
	for (uint32_t i = 0; i < d->reason_count; i++)
		if (strstr(d->reasons[i], words))
			return true;
	for (uint32_t i = 0; i < d->reason_count; i++)
		printf("# %s\n", d->reasons[i]);
	return false;
}

/* How long a loop may run, in the words of the limit. */
static void durations(void)
{
	static const struct {
		int64_t seconds;
		const char *words;
	} limits[] = { { 45, " 45 s" },     { 60, " 1 min" },  { 90, " 90 s" },    { 3600, " 1 h" },
		       { 5400, " 90 min" }, { 28800, " 8 h" }, { 3661, " 3661 s" } };
	struct decision_input in = usual();

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		AUTO_FREE char *sentence = mem_format("a limit of%s is written so",
						      limits[i].words);
		struct decision d;

		in.limits.total_s = limits[i].seconds;
		in.started_at = NOW - limits[i].seconds;
		d = allowed(&in);
		CHECK(sentence, d.action == DECISION_LIMIT && says(&d, limits[i].words));
	}
}

/* An agent that only a person can help. */
static void blocked(void)
{
	struct decision_input in = usual();
	struct decision d;
	char words[800];

	in.blocked = "create the account";
	in.waits = 2;
	d = decided(&in);
	CHECK("a blocked agent pauses its loop, and uses up no iteration",
	      d.action == DECISION_PAUSE && d.blocked && !d.should_continue &&
		      !d.counts_as_iteration && d.iterations == in.iterations &&
		      says(&d, "blocked: \"create the account\" (to answer: ringfence answer"));
	CHECK("the first reason says so", strstr(d.reasons[0], "blocked: ") == d.reasons[0]);
	in.breakers[BREAKER_ERRORS].count = 4;
	in.breakers[BREAKER_ERRORS].open_at = 5;
	in.breakers[BREAKER_NO_PROGRESS].count = 3;
	d = decided(&in);
	CHECK("no breaker counts it",
	      d.breakers[BREAKER_ERRORS].count == 4 && d.breakers[BREAKER_NO_PROGRESS].count == 3);
	in.limits.iterations = in.iterations + 1;
	CHECK("it is not the last iteration's limit either", decided(&in).action == DECISION_PAUSE);
	in.facts.checks_passed = 2;
	d = decided(&in);
	CHECK("if every rule holds, the loop is done all the same",
	      d.action == DECISION_DONE && !d.blocked);
	in.final_failed = true;
	CHECK("unless a final check fails", decided(&in).blocked);
	in = usual();
	in.blocked = "x";
	in.facts.interrupted = true;
	CHECK("an agent that was cut off has not said it", !decided(&in).blocked);
	in.facts.interrupted = in.facts.has_result = false;
	in.facts.reported = FAILURE_RATE_LIMIT;
	d = decided(&in);
	CHECK("nor one that its provider kept from work", !d.blocked && d.action == DECISION_WAIT);
	in = usual();
	in.blocked = "a decision";
	in.findings_stop = 1;
	in.findings_told = false;
	d = decided(&in);
	CHECK("the agent keeps its chance to take something back",
	      d.action == DECISION_PAUSE && d.blocked && !d.findings_told);
	in = usual();
	in.blocked = "a decision";
	in.phase = (struct phase_facts){ .name = "plan", .next = "work", .held = true };
	d = decided(&in);
	CHECK("a phase is not over either", d.blocked && !d.next_phase);
	in.blocked = NULL;
	d = decided(&in);
	CHECK("and is without those words", d.next_phase);
	memset(words, 'w', sizeof words);
	words[sizeof words - 1] = '\0';
	in = usual();
	in.blocked = words;
	d = decided(&in);
	CHECK("a long text is cut, and the advice stays",
	      says(&d, "w [...]\" (to answer: ringfence answer TEXT)"));
}

/* Messages of the user that no agent has read yet. */
static void unread(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.facts.checks_passed = 2;
	in.unread = 1;
	d = decided(&in);
	CHECK("a loop is not done while a message is unread",
	      d.action == DECISION_GO_ON && d.should_continue && d.counts_as_iteration &&
		      says(&d, "every rule holds, but the agent has not read yet"));
	in.mutate = true;
	in.review.wanted = true;
	CHECK("mutants and a reviewer wait for the work that is still to come",
	      decided(&in).action == DECISION_GO_ON);
	in.mutate = in.review.wanted = false;
	in.limits.iterations = in.iterations + 1;
	d = decided(&in);
	CHECK("a limit ends the loop all the same, and the message is named",
	      d.action == DECISION_LIMIT && says(&d, "has not read yet what you told it"));
	in.unread = 0;
	CHECK("without the message it is done", decided(&in).action == DECISION_DONE);
}

static void completion(void)
{
	struct decision_input in = usual();
	struct decision d = decided(&in);

	CHECK("after a failing check the loop continues at once",
	      d.action == DECISION_GO_ON && d.should_continue && d.counts_as_iteration &&
		      d.iterations == 3 && d.failure == FAILURE_CHECK_FAILED &&
		      says(&d, "1 of 2 checks passed"));
	in.promised = true;
	d = decided(&in);
	CHECK("a promise does not outvote a failing check",
	      d.action == DECISION_GO_ON && d.confidence <= 500 &&
		      says(&d, "it does not count while a check fails"));
	in.rules = (struct decision_rules){ .promise = true };
	d = decided(&in);
	CHECK("nor where only the promise is a rule", d.action == DECISION_GO_ON);
	in.facts.checks = 0;
	d = decided(&in);
	CHECK("a promise is enough where it is the only rule and no check fails",
	      d.action == DECISION_DONE && d.completion == 1000 && !d.should_continue &&
		      says(&d, "the promise was given"));
	in = usual();
	in.facts.checks_passed = 2;
	d = decided(&in);
	CHECK("passing checks are done", d.action == DECISION_DONE && d.confidence == 1000 &&
						 says(&d, "2 of 2 checks passed"));
	in.facts.checks_vacuous = 1;
	d = decided(&in);
	CHECK("a vacuous check is not", d.action == DECISION_GO_ON && says(&d, "ran no test"));
	in = usual();
	in.facts.checks_passed = 2;
	in.rules = (struct decision_rules){ .checks = true, .promise = true, .boxes = true };
	in.boxes = (struct boxes){ .open = 1, .ticked = 4 };
	in.promised = true;
	d = decided(&in);
	CHECK("an open box is not done", d.action == DECISION_GO_ON && says(&d, "1 box is open"));
	in.boxes.open = 0;
	in.promised = false;
	d = decided(&in);
	CHECK("a missing promise is not done", d.action == DECISION_GO_ON && says(&d, "not given"));
	CHECK("the words say that only the promise is missing",
	      says(&d, "the checks pass, but the agent did not end with the promise"));
	in.facts.checks_passed = 1;
	d = decided(&in);
	CHECK("but not while a check fails", says(&d, "not done yet"));
	in.facts.checks_passed = 2;
	in.promised = true;
	d = decided(&in);
	CHECK("all rules together are done", d.action == DECISION_DONE && d.reason_count == 4);
	in.boxes.ticked = 0;
	d = decided(&in);
	CHECK("a list without boxes proves nothing",
	      d.action == DECISION_GO_ON && says(&d, "no boxes"));
	in = usual();
	in.rules = (struct decision_rules){ 0 };
	in.facts.checks = 0;
	in.promised = true;
	CHECK("without a rule nothing is done", decided(&in).action == DECISION_GO_ON);
	in = usual();
	in.facts.checks_passed = 2;
	in.iterations = 19;
	in.cost_nusd = 25 * USD;
	CHECK("done at the limit is done", decided(&in).action == DECISION_DONE);
	in.facts.checks = in.facts.checks_passed = 0;
	CHECK("no check at all is not done", decided(&in).action == DECISION_LIMIT);
}

/* A second opinion: asked for when everything else holds, and needed to be done. */
static void opinions(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.review = (struct decision_review){ .wanted = true, .most_rounds = 2 };
	CHECK("nobody reviews work that is not done", decided(&in).action == DECISION_GO_ON);
	in.facts.checks_passed = 2;
	d = decided(&in);
	CHECK("work that is done waits for the second opinion",
	      d.action == DECISION_REVIEW && d.should_continue && d.completion < 1000);
	in.review.runs = 1;
	CHECK("a review that was cut off is repeated", decided(&in).action == DECISION_REVIEW);
	in.review.runs = DECISION_REVIEW_RUNS;
	d = decided(&in);
	CHECK("but not for ever", d.action == DECISION_PAUSE && d.recheck && says(&d, "cut off"));
	in.review.runs = in.review.unanswered = 1;
	in.review.why = "its answer could not be read: no JSON";
	CHECK("an answer that cannot be read is asked for again",
	      decided(&in).action == DECISION_REVIEW);
	in.review.unanswered = 2;
	d = decided(&in);
	CHECK("once; then a person decides, and no iteration is used up",
	      d.action == DECISION_PAUSE && d.recheck && !d.counts_as_iteration &&
		      d.iterations == 2 && says(&d, "no JSON") && says(&d, "ringfence resume"));
	in.review.unanswered = 1;
	in.review.failure = FAILURE_RATE_LIMIT;
	in.review.reset_at = NOW + 7200;
	d = decided(&in);
	CHECK("the limit of the reviewer's provider is waited for",
	      d.action == DECISION_WAIT && d.recheck && d.wait_until == NOW + 7200 &&
		      d.iterations == 2);
	in.review.failure = FAILURE_AUTHENTICATION;
	d = decided(&in);
	CHECK("its login needs a person", d.action == DECISION_PAUSE && d.recheck);
	in.review.failure = FAILURE_BUDGET;
	CHECK("a budget that is used up is not used up again",
	      decided(&in).action == DECISION_PAUSE);
	in.review = (struct decision_review){ .wanted = true, .most_rounds = 2 };
	in.cost_nusd = 25 * USD;
	CHECK("no review begins without money", decided(&in).limit == DECISION_LIMIT_COST);
	in.cost_nusd = 0;
	in.iterations = 19;
	CHECK("but in the last iteration", decided(&in).action == DECISION_REVIEW);
	in.review.given = true;
	d = decided(&in);
	CHECK("an opinion without blocking findings is the end",
	      d.action == DECISION_DONE && says(&d, "no blocking findings"));
	in.review.blocking = 1;
	CHECK("blocking findings in the last iteration are a limit",
	      decided(&in).limit == DECISION_LIMIT_ITERATIONS);
	in.iterations = 2;
	d = decided(&in);
	CHECK("blocking findings reopen the loop",
	      d.action == DECISION_GO_ON && d.review_rounds == 1 && d.iterations == 3 &&
		      says(&d, "the reviewer has blocking findings"));
	in.review.rounds = 1;
	d = decided(&in);
	CHECK("until a person has to decide", d.action == DECISION_PAUSE && d.review_rounds == 2 &&
						      !d.recheck && says(&d, "round 2 of 2") &&
						      says(&d, "--review-rounds"));
	in.review.most_rounds = 0;
	CHECK("unless rounds are unlimited", decided(&in).action == DECISION_GO_ON);
	in.facts.checks_passed = 1;
	CHECK("a failing check keeps the rounds", decided(&in).review_rounds == 1);
	in.facts.checks_passed = 2;
	in.findings_review = 1;
	in.review.given = false;
	in.findings_review = 0;
	in.final_failed = true;
	CHECK("no opinion is asked for while a final check fails",
	      decided(&in).action == DECISION_GO_ON);
	in.final_failed = false;
	in.findings_review = 1;
	CHECK("signs of weaker checks come before the opinion",
	      (d = decided(&in), d.action == DECISION_PAUSE && !d.recheck));
}

/* Mutants: tried when everything else holds, and before anybody gives an opinion. */
static void mutants(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.mutate = true;
	CHECK("nobody tries mutants of work that is not done",
	      decided(&in).action == DECISION_GO_ON);
	in.facts.checks_passed = 2;
	in.review.wanted = true;
	d = decided(&in);
	CHECK("mutants come before an opinion",
	      d.action == DECISION_MUTATE && d.should_continue && d.completion < 1000);
	in.final_failed = true;
	CHECK("a failing final check comes before mutants", decided(&in).action == DECISION_GO_ON);
	in.final_failed = false;
	in.findings_review = 1;
	CHECK("so do signs of weaker checks", decided(&in).action == DECISION_PAUSE);
	in.mutate = in.review.wanted = false;
	in.untested = 1;
	d = decided(&in);
	CHECK("untested lines that need a person are named", d.action == DECISION_PAUSE &&
								     says(&d, "no check notices") &&
								     says(&d, "--accept-findings"));
	in.findings_review = in.untested = 0;
	CHECK("without any, the work is done", decided(&in).action == DECISION_DONE);
}

/* Several agents: who works next, at a provider's limit and when the work is stalled. */
static void agents(void)
{
	struct decision_input in = usual();
	struct decision_agents *all = &in.agents;
	struct decision d;

	*all = (struct decision_agents){ .count = 2,
					 .rungs = 2,
					 .climb_after = 2,
					 .patience_s = 600,
					 .names = { "claude", "codex", "opus", "best" } };
	in.facts = (struct failure_facts){ .exit_code = 1,
					   .reported = FAILURE_RATE_LIMIT,
					   .reset_at = NOW + 600 };
	CHECK("a limit within the patience is waited for", decided(&in).action == DECISION_WAIT);
	in.facts.reset_at = NOW + 7200;
	d = decided(&in);
	CHECK("a longer one hands over, without an iteration",
	      d.action == DECISION_GO_ON && d.limited_until == NOW + 7200 && d.waits == 0 &&
		      !d.counts_as_iteration && d.iterations == 2 &&
		      says(&d, "codex takes over until then (--patience 10 min)"));
	all->limited_until[0] = NOW + 7200;
	all->current = 1;
	CHECK("the second agent works meanwhile", decision_next_agent(all, NOW) == 1);
	CHECK("and the first one after that", decision_next_agent(all, NOW + 7200) == 0);
	in.facts.reset_at = NOW + 9000;
	d = decided(&in);
	CHECK("if all are at their limits, the first limit that ends is waited for",
	      d.action == DECISION_WAIT && d.wait_until == NOW + 7200 &&
		      d.limited_until == NOW + 9000);
	all->limited_until[1] = NOW + 9000;
	CHECK("by the agent that it is for", decision_next_agent(all, NOW) == 0);
	in.facts.reported = FAILURE_OVERLOADED;
	CHECK("a provider that is overloaded is not a limit",
	      (d = decided(&in), d.action == DECISION_WAIT && !d.limited_until));
	in.facts.reported = FAILURE_RATE_LIMIT;
	all->limited_until[0] = 0;
	all->patience_s = 0;
	CHECK("without a patience nobody takes over", decided(&in).action == DECISION_WAIT);
	all->count = 1;
	all->rungs = 0;
	all->current = 0;
	all->patience_s = 600;
	CHECK("nor if there is nobody else",
	      (d = decided(&in), d.action == DECISION_WAIT && !d.limited_until));

	in = usual();
	*all = (struct decision_agents){ .count = 1,
					 .rungs = 2,
					 .climb_after = 2,
					 .stalled = 1,
					 .names = { "claude", "opus", "best" } };
	in.earlier = &in.snapshot;
	in.earlier_count = 1;
	d = decided(&in);
	CHECK("iterations without progress climb a step",
	      d.level == 1 && d.stalled == 0 && says(&d, "climbing to opus"));
	all->level = 1;
	CHECK("where the stronger agent works", decision_next_agent(all, NOW) == 1);
	all->limited_until[1] = NOW + 1;
	CHECK("unless its provider refuses", decision_next_agent(all, NOW) == 0);
	d = decided(&in);
	CHECK("and another step", d.level == 2 && says(&d, "climbing to best"));
	all->level = 2;
	d = decided(&in);
	CHECK("but not beyond the last one", d.level == 2 && d.stalled == 2);
	in.earlier_count = 0;
	d = decided(&in);
	CHECK("progress goes a step down",
	      d.level == 1 && d.stalled == 0 && says(&d, "back to opus"));
	all->level = 1;
	CHECK("and down to the first agent",
	      (d = decided(&in), d.level == 0 && says(&d, "progress: back to claude")));
	in.facts.reported = FAILURE_RATE_LIMIT;
	in.facts.checks = 0;
	d = decided(&in);
	CHECK("an iteration that does not count changes nothing", d.level == 1 && d.stalled == 1);
}

static void opinion(const char *sentence, const char *message, uint32_t blocking, uint32_t advice)
{
	struct error err;
	json_t *findings = review_read(message, strlen(message), &err);

	CHECK(sentence, findings && review_count(findings, "blocking") == blocking &&
				review_count(findings, "advice") == advice);
	json_decref(findings);
}

/* The message cannot be read, for this reason. */
static void no_opinion(const char *message, const char *why)
{
	struct error err = { 0 };
	AUTO_FREE char *sentence = mem_format("an answer is not an opinion: %s", why);
	json_t *findings = review_read(message, strlen(message), &err);

	if (!strstr(err.text, why))
		printf("# %s\n", err.text);
	CHECK(sentence, !findings && strstr(err.text, why));
	json_decref(findings);
}

#define BLOCKS "{\"severity\": \"blocking\", \"text\": \"broken\"}"

static void answers(void)
{
	AUTO_BUFFER struct buffer many = BUFFER_INIT(1 << 16);
	AUTO_FREE char *big = mem_zero(REVIEW_TEXT_MAX + 2);
	AUTO_FREE char *texts = NULL;

	opinion("an object alone is an answer", " {\"findings\": []}\n", 0, 0);
	opinion("the last block of JSON is the answer",
		"As in\n```json\n{\"findings\": []}\n```\nbut:\n```\n{\"findings\": [" BLOCKS
		"]}\n```\n",
		1, 0);
	opinion("a block that began before the message does not confuse",
		"}\n```\nso\n```json\n{\"findings\": [{\"severity\": \"advice\", \"text\": \"x\", "
		"\"file\": \"a\", \"line\": 3}, " BLOCKS "]}\n```",
		1, 1);
	no_opinion("", "it is empty");
	no_opinion("Looks good to me.", "does not end with a block of JSON");
	no_opinion("```c\nint x;\n```", "does not end with a block of JSON");
	no_opinion("[]", "an object with the list");
	no_opinion("{\"findings\": {}}", "an object with the list");
	no_opinion("{\"findings\": [], \"verdict\": \"fine\"}", "unknown key \"verdict\"");
	no_opinion("{\"findings\": [], \"findings\": []}", "duplicate");
	no_opinion("{\"findings\": [3]}", "must be an object");
	no_opinion("{\"findings\": [{\"severity\": \"fatal\", \"text\": \"x\"}]}", "severity");
	no_opinion("{\"findings\": [{\"severity\": \"advice\"}]}", "\"text\" must be");
	no_opinion("{\"findings\": [{\"severity\": \"advice\", \"text\": \"\"}]}", "not empty");
	no_opinion("{\"findings\": [{\"severity\": \"advice\", \"text\": \"x\", \"line\": 3}]}",
		   "needs a \"file\"");
	no_opinion("{\"findings\": [{\"severity\": \"advice\", \"text\": \"x\", \"file\": \"a\", "
		   "\"line\": 0}]}",
		   "a number from 1");
	buffer_add_text(&many, "{\"findings\": [" BLOCKS);
	for (int i = 0; i < REVIEW_FINDINGS_MAX; i++)
		buffer_add_text(&many, ", " BLOCKS);
	buffer_add_text(&many, "]}");
	no_opinion(buffer_text(&many), "more than 20 findings");
	memset(big, 'x', REVIEW_TEXT_MAX + 1);
	texts = mem_format("{\"findings\": [{\"severity\": \"advice\", \"text\": \"%s\"}]}", big);
	no_opinion(texts, "more than 1000 bytes");
}

static void waiting(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.facts = (struct failure_facts){ .exit_code = 1,
					   .reported = FAILURE_RATE_LIMIT,
					   .reset_at = NOW + 7200 };
	d = decided(&in);
	CHECK("the loop waits for a provider until the stated time",
	      d.action == DECISION_WAIT && d.wait_until == NOW + 7200 && d.should_continue &&
		      says(&d, "2026-11-18 14:20:00 UTC"));
	CHECK("and that does not use up an iteration",
	      !d.counts_as_iteration && d.iterations == 2 && d.breakers[BREAKER_ERRORS].count == 0);
	in.facts.reset_at = NOW + 7 * 86400;
	d = decided(&in);
	CHECK("a wait beyond the total time ends with that limit",
	      d.action == DECISION_LIMIT && d.limit == DECISION_LIMIT_TIME &&
		      says(&d, "--max-time"));
	in.limits.total_s = 0;
	CHECK("without a total time it is waited out", decided(&in).wait_until == NOW + 7 * 86400);
	in.facts.reset_at = INT64_MAX;
	d = decided(&in);
	CHECK("an impossible time is ignored",
	      d.wait_until == NOW + 30 && says(&d, "did not state until when"));
	in.facts.reset_at = NOW + 30 * 86400;
	d = decided(&in);
	CHECK("a monthly limit is waited out",
	      d.action == DECISION_WAIT && d.wait_until == NOW + 30 * 86400 &&
		      says(&d, "waiting until 2026-12-18 12:20:00 UTC"));
	in.facts.reset_at = NOW + 36 * 86400;
	d = decided(&in);
	CHECK("a time further ahead is named, and the loop tries again before",
	      d.wait_until == NOW + 30 && says(&d, "2026-12-24 12:20:00 UTC") &&
		      says(&d, "more than 35 days ahead"));
	in.facts.reset_at = NOW - 5;
	d = decided(&in);
	CHECK("after a time in the past the loop waits briefly",
	      d.wait_until == NOW + 30 && d.waits == 1);
	in.facts.reset_at = NOW + 1;
	in.waits = DECISION_STATED_WAITS - 1;
	CHECK("a second can be stated three times", decided(&in).wait_until == NOW + 1);
	in.waits = DECISION_STATED_WAITS;
	CHECK("but not again and again", decided(&in).wait_until == NOW + 240);
	in.facts.reset_at = NOW + 7200;
	CHECK("a later time is believed", decided(&in).wait_until == NOW + 7200);
	in.waits = 0;
	in.facts.reported = FAILURE_OVERLOADED;
	in.facts.reset_at = 0;
	in.waits = 3;
	d = decided(&in);
	CHECK("overload doubles the wait", d.action == DECISION_WAIT && d.wait_until == NOW + 240 &&
						   d.waits == 4 && !d.counts_as_iteration);
	CHECK("from 30 s to 15 min",
	      decision_back_off_s(0) == 30 && decision_back_off_s(4) == 480 &&
		      decision_back_off_s(5) == 900 && decision_back_off_s(UINT32_MAX) == 900);
	in = usual();
	in.waits = 3;
	CHECK("an iteration that worked ends the row of waits", decided(&in).waits == 0);
	in = usual();
	in.facts = (struct failure_facts){ .reported = FAILURE_RATE_LIMIT,
					   .checks = 1,
					   .checks_passed = 1 };
	CHECK("an agent that could not work has not finished",
	      decided(&in).action == DECISION_WAIT);
	in.facts.files_changed = 3;
	CHECK("one that could may have", decided(&in).action == DECISION_DONE);
}

/* A model server that is gone: the loop waits for a while, then needs a person. */
static void unreachable(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.facts = (struct failure_facts){ .exit_code = 1, .reported = FAILURE_UNREACHABLE };
	in.unreached = "127.0.0.1:8080 cannot be reached: Connection refused";
	d = decided(&in);
	CHECK("a model server that is gone is waited for, by its name",
	      d.action == DECISION_WAIT && d.wait_until == NOW + 30 && d.waits == 1 &&
		      strcmp(d.reasons[0], "the model server at 127.0.0.1:8080 cannot be reached: "
					   "Connection refused") == 0 &&
		      says(&d, "waiting until 2026-11-18 12:20:30 UTC"));
	CHECK("and that does not use up an iteration",
	      !d.counts_as_iteration && d.iterations == 2 && d.breakers[BREAKER_ERRORS].count == 0);
	in.waits = 5;
	d = decided(&in);
	CHECK("the last wait is a quarter of an hour",
	      d.action == DECISION_WAIT && d.wait_until == NOW + 900);
	in.waits = d.waits;
	d = decided(&in);
	CHECK("then it pauses and suggests a remedy",
	      d.action == DECISION_PAUSE && !d.should_continue && !d.counts_as_iteration &&
		      says(&d, "is it running") && says(&d, "ringfence resume"));
	CHECK("after which the waits start over", d.waits == 0);
	in.limits.unreachable = 7;
	CHECK("unless the user has more patience", decided(&in).action == DECISION_WAIT);
	in.limits.unreachable = 0;
	in.waits = 99;
	CHECK("or waits for as long as the loop may take", decided(&in).action == DECISION_WAIT);
	in.limits.unreachable = 6;
	in.waits = 6;
	in.unreached = NULL;
	CHECK("without its name there is still a sentence",
	      (d = decided(&in), says(&d, "the model server cannot be reached, after 6 waits")));
	in = usual();
	in.facts = (struct failure_facts){ .reported = FAILURE_UNREACHABLE };
	in.started_at = NOW - 8 * 3600 + 10;
	d = decided(&in);
	CHECK("a wait beyond the total time is a limit", d.action == DECISION_LIMIT &&
								 d.limit == DECISION_LIMIT_TIME &&
								 says(&d, "--max-time"));
}

static void pauses(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.facts = (struct failure_facts){ .exit_code = 1, .reported = FAILURE_AUTHENTICATION };
	d = decided(&in);
	CHECK("authentication pauses for a person, without an iteration",
	      d.action == DECISION_PAUSE && !d.should_continue && !d.counts_as_iteration &&
		      says(&d, "ringfence resume"));
	in = usual();
	in.cost_nusd = 15 * USD;
	d = decided(&in);
	CHECK("the cost warning pauses, and names itself", d.action == DECISION_PAUSE && d.warned &&
								   says(&d, "US$ 15.00") &&
								   says(&d, "--warn-cost"));
	in.warned = true;
	CHECK("once", decided(&in).action == DECISION_GO_ON && decided(&in).warned);
	in.warned = false;
	in.limits.pause_on_warning = false;
	d = decided(&in);
	CHECK("or only warns",
	      d.action == DECISION_GO_ON && d.warned && says(&d, "the warning level of US$ 15.00"));
	in.limits.cost_warning_nusd = 0;
	CHECK("or not at all", !decided(&in).warned);
}

static void limits(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.iterations = 19;
	d = decided(&in);
	CHECK("the last iteration ends with a limit that names itself",
	      d.action == DECISION_LIMIT && d.limit == DECISION_LIMIT_ITERATIONS &&
		      !d.should_continue &&
		      says(&d,
			   "all 20 iterations are used up (change the limit with --max-iterations)"));
	in.limits.iterations = 0;
	CHECK("0 turns a limit off", decided(&in).action == DECISION_GO_ON);
	in = usual();
	in.started_at = NOW - 8 * 3600;
	d = decided(&in);
	CHECK("the total time ends with a limit that names itself",
	      d.limit == DECISION_LIMIT_TIME &&
		      says(&d, "limit of 8 h (change it with --max-time)"));
	in = usual();
	in.cost_nusd = 25 * USD + 370000000;
	d = decided(&in);
	CHECK("the total cost ends with a limit that names itself",
	      d.limit == DECISION_LIMIT_COST &&
		      says(&d,
			   "US$ 25.37 has reached its limit of US$ 25.00 (change it with --max-cost)"));
	in.estimated_nusd = 1;
	d = decided(&in);
	CHECK("an estimate in it is called so",
	      says(&d, "US$ 25.37 (partly estimated) has reached"));
	in.estimated_nusd = in.cost_nusd;
	d = decided(&in);
	CHECK("and so is an estimate of all", says(&d, "US$ 25.37 (estimated) has reached"));
	in.started_at = INT64_MIN;
	in.cost_nusd = INT64_MAX;
	in.iterations = UINT32_MAX;
	CHECK("numbers at their ends do not overflow", decided(&in).action == DECISION_LIMIT);
	in = usual();
	in.facts.reported = FAILURE_BUDGET;
	d = decided(&in);
	CHECK("an iteration's own budget ends the iteration, not the loop",
	      d.action == DECISION_GO_ON && d.counts_as_iteration && d.failure == FAILURE_BUDGET);
}

static void unchosen(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.rules = (struct decision_rules){ .checks = true, .promise = true };
	in.found = "make check";
	in.iterations = 19;
	in.facts.checks = 1;
	in.facts.checks_passed = 1;
	d = decided(&in);
	CHECK("a limit mentions a passing check that nobody chose, and how to stop on it",
	      d.action == DECISION_LIMIT &&
		      strcmp(d.reasons[0],
			     "all 20 iterations are used up (change the limit with --max-iterations); the check "
			     "'make check' passes, but nobody chose it and the agent did not say that "
			     "it is done; to stop as soon as it passes: ringfence run --check 'make check'") ==
			      0);
	in.facts.checks_passed = 0;
	CHECK("not while it fails", !strstr(decided(&in).reasons[0], "nobody"));
	in.facts.checks_passed = in.facts.checks_vacuous = 1;
	CHECK("nor where it ran nothing", !strstr(decided(&in).reasons[0], "nobody"));
	in.facts.checks_vacuous = 0;
	in.found = NULL;
	CHECK("nor if the check was chosen", !strstr(decided(&in).reasons[0], "nobody"));
	in.found = "make check";
	in.iterations = 20;
	in.facts = (struct failure_facts){ 0 };
	CHECK("nor before an iteration, when that is unknown",
	      !strstr(allowed(&in).reasons[0], "nobody"));

	in.iterations = 5;
	in.facts = (struct failure_facts){ .checks = 1, .checks_passed = 1, .output_bytes = 3 };
	in.snapshot = *in.earlier;
	in.breakers[BREAKER_NO_PROGRESS].count = 4;
	d = decided(&in);
	CHECK("without progress it replaces the advice for a task that is too large",
	      d.action == DECISION_FAILED && d.breaker == BREAKER_NO_PROGRESS &&
		      says(&d,
			   "--max-no-progress): the check 'make check' passes, but nobody chose it") &&
		      !strstr(d.reasons[0], "stronger model"));
}

static void poor(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.facts.reported = FAILURE_BUDGET;
	in.snapshot = *in.earlier;
	in.breakers[BREAKER_NO_PROGRESS].count = 4;
	d = decided(&in);
	CHECK("without progress for lack of budget the advice is a larger budget",
	      d.action == DECISION_FAILED && d.breaker == BREAKER_NO_PROGRESS &&
		      says(&d, "too small for this task: raise --budget") &&
		      !strstr(d.reasons[0], "stronger model"));
}

static void tripping(void)
{
	struct decision_input in = usual();
	struct decision d = { 0 };

	in.facts = (struct failure_facts){ .signal = 11, .output_bytes = 3 };
	in.snapshot = *in.earlier;
	in.signature = 0;
	for (int i = 0; i < 5; i++) {
		d = decided(&in);
		memcpy(in.breakers, d.breakers, sizeof in.breakers);
		in.iterations = d.iterations;
		if (i == 2)
			CHECK("a half-open breaker warns",
			      d.action == DECISION_GO_ON &&
				      says(&d,
					   "3 iterations without progress; the loop stops at 5"));
	}
	CHECK("five errors in a row fail, with advice and the option",
	      d.action == DECISION_FAILED && d.breaker == BREAKER_ERRORS && !d.should_continue &&
		      says(&d,
			   "5 errors in a row (the limit is 5; change it with --max-errors): see the log"));
	CHECK("a second open breaker is also named", says(&d, "--max-no-progress"));
	CHECK("a single occurrence is reported in the singular",
	      strcmp(breaker_counted(BREAKER_ERRORS, 1), "error") == 0 &&
		      strcmp(breaker_counted(BREAKER_ERRORS, 2), "errors in a row") == 0);
	d = allowed(&in);
	CHECK("no iteration starts with an open breaker",
	      d.action == DECISION_FAILED && d.breaker == BREAKER_ERRORS && !d.should_continue);
	in.now += BREAKER_COOL_DOWN_S;
	d = allowed(&in);
	CHECK("after the cool-down one may", d.action == DECISION_GO_ON && d.should_continue);

	in = usual();
	for (int i = 0; i < 9; i++) {
		d = decided(&in);
		memcpy(in.breakers, d.breakers, sizeof in.breakers);
	}
	CHECK("the same check may fail nine times while something new is tried",
	      d.action == DECISION_GO_ON);
	d = decided(&in);
	CHECK("but not ten times", d.action == DECISION_FAILED);
	in = usual();
	in.snapshot = *in.earlier;
	in.breakers[BREAKER_NO_PROGRESS].open_at = 0;
	for (int i = 0; i < 5; i++) {
		CHECK("so far it continues", d.action == DECISION_GO_ON || i == 0);
		d = decided(&in);
		memcpy(in.breakers, d.breakers, sizeof in.breakers);
	}
	CHECK("without that, the same failing check five times fails",
	      d.action == DECISION_FAILED && d.breaker == BREAKER_SAME_ERROR &&
		      says(&d, "--max-same-error"));
	in = usual();
	for (int i = 0; i < 3; i++) {
		in.snapshot.tests_passing = i + 1;
		d = decided(&in);
		memcpy(in.breakers, d.breakers, sizeof in.breakers);
	}
	CHECK("not while more and more tests pass", d.action == DECISION_GO_ON);
	in = usual();
	in.facts = (struct failure_facts){ .interrupted = true };
	for (int i = 0; i < 4; i++) {
		d = decided(&in);
		memcpy(in.breakers, d.breakers, sizeof in.breakers);
	}
	CHECK("an interrupted iteration is repeated and does not count",
	      d.action == DECISION_GO_ON && !d.counts_as_iteration && d.iterations == 2 &&
		      says(&d, "will be repeated"));
	d = decided(&in);
	CHECK("until there are five in a row",
	      d.action == DECISION_FAILED && d.breaker == BREAKER_INTERRUPTED);
	in = usual();
	in.facts = (struct failure_facts){ .exit_code = 1, .denials = 3, .output_bytes = 1 };
	d = decided(&in);
	CHECK("a denial is distinguished from a failure",
	      d.action == DECISION_GO_ON && says(&d, "the fence denied 3 operations"));
}

static void unruled(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.rules = (struct decision_rules){ 0 };
	in.facts.checks = 0;
	in.boxes = (struct boxes){ .ticked = 5 };
	in.promised = true;
	d = decided(&in);
	CHECK("without a rule, even high confidence proves nothing",
	      d.action == DECISION_GO_ON && d.should_continue && d.confidence >= 950 &&
		      d.completion < 1000);
}

/* The same input again and again, as in a loop that gets no further. */
static struct decision repeated(struct decision_input *in, int count)
{
	struct decision d = { 0 };

	for (int i = 0; i < BREAKER_COUNT; i++)
		breaker_reset(&in->breakers[i]);
	for (int i = 0; i < count; i++) {
		d = decided(in);
		memcpy(in->breakers, d.breakers, sizeof in->breakers);
	}
	return d;
}

/* Two checks pass, nine of ten boxes are ticked, and the agent changes nothing. */
static struct decision_input stuck(void)
{
	static const struct progress_snapshot nothing;
	struct decision_input in = usual();

	in.facts.checks_passed = 2;
	in.facts.files_changed = 0;
	in.snapshot = nothing;
	in.earlier = &nothing;
	in.earlier_count = 1;
	in.rules = (struct decision_rules){ .checks = true, .boxes = true };
	in.boxes = (struct boxes){ .open = 1, .ticked = 9 };
	return in;
}

static void early(void)
{
	struct decision_input in = stuck();
	struct decision d;

	d = repeated(&in, 1);
	CHECK("one iteration without progress stops nothing",
	      d.action == DECISION_GO_ON && d.confidence == 966 && !d.progressed);
	d = repeated(&in, 2);
	CHECK("two do if only what no check can verify is missing, and this is not a success",
	      d.action == DECISION_LIMIT && d.limit == DECISION_LIMIT_EARLY && !d.should_continue &&
		      d.completion < 1000 &&
		      says(&d, "stopped early, although not every rule holds: 2 iterations brought "
			       "no progress, at a confidence of 0.97 (--early-stop 0.95, "
			       "--early-stop-after 2); 1 box is open, 9 ticked"));
	in.limits.early_stop_after = 3;
	CHECK("after as many as are set", repeated(&in, 2).action == DECISION_GO_ON &&
						  repeated(&in, 3).limit == DECISION_LIMIT_EARLY);
	in.limits.early_stop_after = 0;
	CHECK("or never", repeated(&in, 4).action == DECISION_GO_ON);
	in = stuck();
	in.limits.early_stop = 967;
	CHECK("not below the confidence that is set", repeated(&in, 4).action == DECISION_GO_ON);
	in.limits.early_stop = 966;
	CHECK("but at it", repeated(&in, 2).limit == DECISION_LIMIT_EARLY);
	in.limits.early_stop = 0;
	CHECK("nor without one", repeated(&in, 4).action == DECISION_GO_ON);
	in = stuck();
	in.limits.early_stop = 1;
	in.facts.checks_passed = 1;
	CHECK("never while a check fails", repeated(&in, 4).action == DECISION_GO_ON);
	in.facts.checks_passed = 2;
	in.facts.has_result = false;
	in.facts.timed_out = true;
	CHECK("nor if the agent fails", repeated(&in, 4).action == DECISION_GO_ON);
	in.facts.timed_out = false;
	in.findings_stop = 1;
	CHECK("nor while the changes weaken the checks", repeated(&in, 2).action == DECISION_GO_ON);
	in.findings_stop = 0;
	in.unread = 1;
	CHECK("nor while the agent has not read a message",
	      repeated(&in, 2).action == DECISION_GO_ON);
	in.unread = 0;
	CHECK("the control: it stops", repeated(&in, 2).limit == DECISION_LIMIT_EARLY);
	in.boxes = (struct boxes){ .ticked = 10 };
	in.rules.promise = true;
	d = repeated(&in, 2);
	CHECK("a missing promise is named",
	      d.limit == DECISION_LIMIT_EARLY && says(&d, "); the promise was not given"));
	in.promised = true;
	CHECK("and a loop that is done is done", repeated(&in, 2).action == DECISION_DONE);
}

static void results(void)
{
	struct decision_input in = stuck();

	in.snapshot.files_changed = 1;
	in.snapshot.tree[0] ^= 1;
	CHECK("a new state of the files is progress", decided(&in).progressed);
	in.limits.results_only = true;
	CHECK("unless only results count", !decided(&in).progressed);
	in.snapshot.tests_passing++;
	CHECK("such as another test that passes", decided(&in).progressed);
}

static void before(void)
{
	struct decision_input in = usual();
	struct decision d = allowed(&in);

	CHECK("an iteration may start",
	      d.action == DECISION_GO_ON && d.should_continue && d.iterations == 2);
	in.iterations = 20;
	d = allowed(&in);
	CHECK("not beyond the iterations",
	      d.action == DECISION_LIMIT && d.limit == DECISION_LIMIT_ITERATIONS);
	in = usual();
	in.now = NOW + 8 * 3600;
	CHECK("not beyond the time", allowed(&in).limit == DECISION_LIMIT_TIME);
	in = usual();
	in.cost_nusd = 25 * USD;
	CHECK("not beyond the money", allowed(&in).limit == DECISION_LIMIT_COST);
	in.cost_nusd = 16 * USD;
	CHECK("not beyond a warning that nobody has seen", allowed(&in).action == DECISION_PAUSE);
	in.warned = true;
	CHECK("but after it", allowed(&in).action == DECISION_GO_ON);
	for (int i = 0; i < DECISION_ACTIONS; i++) {
		AUTO_FREE char *sentence = mem_format("action %d has a name", i);

		CHECK(sentence, decision_action_name((enum decision_action)i)[0]);
	}
}

/* Signs that the changes weaken the checks. */
static void findings(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.facts.checks_passed = in.facts.checks;
	CHECK("without findings, passing checks are the end", decided(&in).action == DECISION_DONE);
	in.findings_review = 2;
	d = decided(&in);
	CHECK("a finding that needs a review pauses a loop that would be done",
	      d.action == DECISION_PAUSE && !d.should_continue && d.completion == 999 &&
		      says(&d, "every rule holds, but there are 2 signs"));
	in.facts.checks_passed = 1;
	CHECK("but not one that has work left", decided(&in).action == DECISION_GO_ON);
	in.findings_review = 0;
	in.findings_stop = 1;
	d = decided(&in);
	CHECK("the agent may take back a finding that stops the loop",
	      d.action == DECISION_GO_ON && d.findings_told &&
		      says(&d, "the changes weaken the checks"));
	in.facts.checks_passed = in.facts.checks;
	CHECK("also if the checks pass", decided(&in).action == DECISION_GO_ON);
	in.findings_told = true;
	d = decided(&in);
	CHECK("but only once", d.action == DECISION_PAUSE && says(&d, "there is 1 sign"));
	in.facts.checks_passed = 1;
	d = decided(&in);
	CHECK("also if the checks fail",
	      d.action == DECISION_PAUSE && says(&d, "the agent was told, but there still is 1"));
	in.findings_stop = 0;
	d = decided(&in);
	CHECK("what was taken back is forgotten", d.action == DECISION_GO_ON && !d.findings_told);
}

int main(void)
{
	failures();
	denials();
	breakers();
	progress();
	confidence();
	durations();
	completion();
	blocked();
	unread();
	opinions();
	mutants();
	answers();
	agents();
	waiting();
	unreachable();
	pauses();
	limits();
	unchosen();
	poor();
	tripping();
	unruled();
	early();
	results();
	before();
	findings();
	return unit_failures > 0;
}
