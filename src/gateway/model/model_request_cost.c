/* The cost of a request to a model, while it streams and at its end: see model_request.h. */
#include "gateway/model/model_request.h"

#include "failure/failure.h"
#include "util/clock.h"

#include <stdio.h>
#include <string.h>

enum { BYTES_OF_LONG_TOKENS = 8, TOKENS_PER_S = 300, TOKENS_AT_ONCE = 16 };

static uint64_t cost_of(const struct model_request *request, const struct price_use *use,
			const struct price_model **ret_as)
{
	*ret_as = request->model;
	if (request->upstream->provider->free)
		return 0;
	return price_cost(&request->engine->config.models.prices, request->model, use, ret_as);
}

/* The input is known exactly once the response begins. The output counts as reserved, unless it
 * is already more. */
void model_request_true_up(struct model_request *request)
{
	struct usage_reader *reader = &request->reader;
	const struct price_model *as;
	struct price_use use;
	uint64_t output;
	uint64_t cost;

	if (!request->priced || request->state != MODEL_REQUEST_ANSWERED ||
	    request->status >= 300 || !reader->usage.has_input)
		return;
	use = reader->usage.use;
	use.fast |= request->body.fast;
	/* Tokens are rarely longer than this, so more text means that the provider exceeded the
	 * limit. */
	output = reader->usage.text_bytes / BYTES_OF_LONG_TOKENS;
	if (output < request->body.most * request->body.answers)
		output = request->body.most * request->body.answers;
	if (use.tokens[PRICE_OUTPUT] < output)
		use.tokens[PRICE_OUTPUT] = output;
	cost = cost_of(request, &use, &as);
	if (cost == request->reserved)
		return;
	money_adjust(&request->engine->budget.money, &request->reserved, cost);
	budget_changed(&request->engine->budget);
}

static uint64_t input_of(const struct price_use *use)
{
	return use->tokens[PRICE_INPUT] + use->tokens[PRICE_READ] + use->tokens[PRICE_WRITE_5M] +
	       use->tokens[PRICE_WRITE_1H];
}

/* The input of a response that did not report it: a token per byte, which nothing exceeds. If the
 * server broke off, which no agent can bring about, as many as such text usually has. */
static uint64_t unreported_input(const struct model_request *request)
{
	uint64_t guess = budget_guess(&request->engine->budget, request->model, request->size);

	if (!request->unreached[0])
		return request->size;
	return guess ? guess : request->size * 3 / (2 * (uint64_t)MONEY_LONGEST);
}

/* Estimates the usage of an incomplete response: the larger of the reported and the observed
 * numbers. */
static void estimate(struct model_request *request, struct price_use *use)
{
	uint64_t output = request->state == MODEL_REQUEST_ANSWERED
				  ? usage_estimate(&request->reader)
				  : 0;
	uint64_t most = request->body.most * request->body.answers;

	/* Thoughts are not shown, and a response that is not streamed is generated to its end
	 * even if nobody listens. */
	bool streams = request->body.stream &&
		       (request->state != MODEL_REQUEST_ANSWERED || request->reader.stream);
	uint64_t ms = request->engine->loop.now_ms - request->began_ms;
	uint64_t unseen = streams ? (TOKENS_AT_ONCE + ms * TOKENS_PER_S / 1000) *
					    request->body.answers
				  : most;

	output = output < unseen ? unseen : output;
	if (!request->reader.usage.has_input || request->state != MODEL_REQUEST_ANSWERED)
		use->tokens[PRICE_INPUT] = unreported_input(request) +
					   request_body_elsewhere(&request->body);
	output = output < most ? output : most;
	if (use->tokens[PRICE_OUTPUT] < output)
		use->tokens[PRICE_OUTPUT] = output;
	use->fast |= request->body.fast;
}

static void fill(struct model_request *request, struct ledger_row *row)
{
	const struct engine *engine = request->engine;
	bool known = request->model || request->upstream->provider->free;

	snprintf(row->route, sizeof row->route, "%s", request->target.route->name);
	snprintf(row->provider, sizeof row->provider, "%s",
		 provider_at(request->target.route->provider)->name);
	snprintf(row->model, sizeof row->model, "%s", request->body.model);
	memcpy(row->child, request->child, sizeof row->child);
	row->status = request->status;
	row->known = known;
	row->free = request->upstream->provider->free;
	row->began_ms = request->began_ms;
	row->duration_ms = (uint32_t)(engine->loop.now_ms - request->began_ms);
	row->first_ms = request->first_ms ? (uint32_t)(request->first_ms - request->began_ms) : 0;
	if (request->unreached[0]) {
		memcpy(row->error, request->unreached, sizeof row->error);
		row->failure = FAILURE_UNREACHABLE;
	} else if (request->state == MODEL_REQUEST_ANSWERED) {
		/* Only plain words, as all error types are: never something that could be a key
		 * in disguise. */
		if (!request->reader.usage.error[strspn(
			    request->reader.usage.error,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")])
			snprintf(row->error, sizeof row->error, "%s", request->reader.usage.error);
		else
			snprintf(row->error, sizeof row->error, "other");
		row->failure = failure_from_http(request->status, request->reader.usage.error,
						 request->reader.usage.message);
		shape_limit_body(&request->limit, &request->reader.usage, clock_wall_ms());
		row->retry_at_ms = row->failure == FAILURE_RATE_LIMIT ||
						   row->failure == FAILURE_OVERLOADED
					   ? request->limit.at_ms
					   : 0;
	}
}

/* Returns true if the provider cannot have charged for it: the request was incomplete, it was
 * refused, or nothing of an answer came before the provider soon broke off. A client that leaves
 * first is not free: the provider goes on without it. */
static bool is_unbilled(const struct model_request *request, bool sent)
{
	const struct engine *engine = request->engine;
	uint64_t waited = request->sent ? engine->loop.now_ms - request->sent_ms : 0;

	if (request->state != MODEL_REQUEST_ANSWERED && !sent)
		return true;
	if (request->state == MODEL_REQUEST_ANSWERED && request->status >= 300)
		return !request->reader.usage.has_output;
	if (request->state == MODEL_REQUEST_ANSWERED && request->reader.usage.error[0])
		return !usage_billable(&request->reader);
	return request->unreached[0] && !usage_began(&request->reader) && !request->opaque &&
	       !request->foreign && waited < engine->config.caps.unanswered_ms;
}

/* Finds what the request costs if nothing more comes. sent: the provider has the whole request.
 * Returns whether the numbers are final. */
static bool use_so_far(struct model_request *request, bool sent, struct price_use *ret_use,
		       const struct price_model **ret_as, uint64_t *ret_nusd)
{
	const struct usage *usage = &request->reader.usage;
	bool answered = request->state == MODEL_REQUEST_ANSWERED;
	bool exact = answered && usage->has_input && usage->has_output && usage->ended;
	struct price_use use = { 0 };
	uint64_t cost;

	if (answered)
		use = usage->use;
	if (!exact && is_unbilled(request, sent))
		exact = true;
	else if (!exact)
		estimate(request, &use);
	use.fast |= request->body.fast && input_of(&use) > 0;
	cost = cost_of(request, &use, ret_as);
	if (!exact && !usage->has_input && cost > request->reserved)
		cost = request->reserved;
	if (request->opaque && cost < request->reserved)
		cost = request->reserved;
	*ret_use = use;
	*ret_nusd = cost;
	return exact;
}

void model_request_open(struct model_request *request)
{
	struct engine *engine = request->engine;
	uint64_t now = (uint64_t)clock_wall_ms() * 1000000;

	/* Unique in a ledger: requests are not sent that fast for long. */
	engine->last_open = now > engine->last_open ? now : engine->last_open + 1;
	request->slot = open_requests_begin(engine->open, engine->last_open);
}

/* Returns by how much the cost grows in a second, as far as nobody can see it: see estimate(). */
static uint64_t rate_of(struct model_request *request, const struct price_use *use, uint64_t cost)
{
	struct price_use later = *use;
	const struct price_model *as;
	uint64_t then;

	later.tokens[PRICE_OUTPUT] += TOKENS_PER_S * request->body.answers;
	then = cost_of(request, &later, &as);
	return request->body.stream && then > cost ? then - cost : 0;
}

void model_request_note(struct model_request *request)
{
	const struct price_model *as;
	struct price_use use;
	uint64_t cost;
	bool exact;

	if (!request->slot)
		return;
	exact = use_so_far(request, true, &use, &as, &cost);
	open_requests_update(request->slot, cost, exact ? 0 : rate_of(request, &use, cost),
			     cost > request->reserved ? cost : request->reserved);
}

void model_request_settle(struct model_request *request)
{
	struct engine *engine = request->engine;
	struct ledger_row row = { 0 };
	struct price_use use;
	const struct price_model *as = NULL;
	bool exact;

	if (!request->priced) {
		if (request->unreached[0])
			budget_report_failure(&engine->budget, FAILURE_UNREACHABLE,
					      request->unreached);
		return;
	}
	request->priced = false;
	exact = use_so_far(request, request->sent, &use, &as, &row.cost_nusd);
	fill(request, &row);
	row.estimated = !exact;
	row.searches = use.searches;
	memcpy(row.tokens, use.tokens, sizeof row.tokens);
	snprintf(row.as, sizeof row.as, "%s", as ? as->name : "");
	if (exact && request_body_elsewhere(&request->body) == 0)
		budget_learn(&engine->budget, request->model, request->size, input_of(&use));
	money_settle(&engine->budget.money, &request->reserved, row.cost_nusd);
	if (request->slot) { /* the owner frees it */
		open_requests_update(request->slot, row.cost_nusd, 0, row.cost_nusd);
		row.id = request->slot->id;
		request->slot = NULL;
	}
	budget_report(&engine->budget, &row);
	runaway_add(&engine->runaway, request->hash, &row, engine->loop.now_ms);
	request->state = MODEL_REQUEST_OVER;
	budget_changed(&engine->budget);
	budget_ask_ahead(&engine->budget);
}
