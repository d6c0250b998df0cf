/* The cost of a request to a model, while it streams and at its end: see model_request.h. */
#include "gateway/model/model_request.h"

#include "failure/failure.h"

#include <stdio.h>
#include <string.h>

enum { BYTES_OF_LONG_TOKENS = 8, TOKENS_PER_S = 300 };

static uint64_t cost_of(const struct model_request *call, const struct price_use *use,
			const struct price_model **ret_as)
{
	*ret_as = call->model;
	if (call->upstream->provider->free)
		return 0;
	return price_cost(&call->engine->config.models.prices, call->model, use, ret_as);
}

/* The input is known exactly once the response begins. The output counts as reserved, unless it
 * is already more. */
void model_request_true_up(struct model_request *call)
{
	struct usage_reader *reader = &call->reader;
	const struct price_model *as;
	struct price_use use;
	uint64_t output;
	uint64_t cost;

	if (!call->priced || call->state != MODEL_REQUEST_ANSWERED || call->status >= 300 ||
	    !reader->usage.has_input)
		return;
	use = reader->usage.use;
	use.fast |= call->body.fast;
	/* Tokens are rarely longer than this, so more text means that the provider exceeded the
	 * limit. */
	output = reader->usage.text_bytes / BYTES_OF_LONG_TOKENS;
	if (output < call->body.most * call->body.answers)
		output = call->body.most * call->body.answers;
	if (use.tokens[PRICE_OUTPUT] < output)
		use.tokens[PRICE_OUTPUT] = output;
	cost = cost_of(call, &use, &as);
	if (cost == call->reserved)
		return;
	money_adjust(&call->engine->budget.money, &call->reserved, cost);
	budget_changed(&call->engine->budget);
}

static uint64_t input_of(const struct price_use *use)
{
	return use->tokens[PRICE_INPUT] + use->tokens[PRICE_READ] + use->tokens[PRICE_WRITE_5M] +
	       use->tokens[PRICE_WRITE_1H];
}

/* Estimates the usage of an incomplete response: the larger of the reported and the observed
 * numbers. */
static void estimate(struct model_request *call, struct price_use *use)
{
	uint64_t output = call->state == MODEL_REQUEST_ANSWERED ? usage_estimate(&call->reader) : 0;
	uint64_t most = call->body.most * call->body.answers;

	/* Thoughts are not shown, and a response that is not streamed is generated to its end
	 * even if nobody listens. */
	uint64_t unseen = call->body.stream ? (call->engine->loop.now_ms - call->began_ms) *
						      TOKENS_PER_S / 1000
					    : most;

	output = output < unseen ? unseen : output;
	if (!call->reader.usage.has_input || call->state != MODEL_REQUEST_ANSWERED)
		use->tokens[PRICE_INPUT] = call->size + request_body_elsewhere(&call->body);
	output = output < most ? output : most;
	if (use->tokens[PRICE_OUTPUT] < output)
		use->tokens[PRICE_OUTPUT] = output;
	use->fast |= call->body.fast;
}

static void fill(struct model_request *call, struct ledger_row *row)
{
	const struct engine *engine = call->engine;
	bool known = call->model || call->upstream->provider->free;

	snprintf(row->route, sizeof row->route, "%s", call->target.route->name);
	snprintf(row->provider, sizeof row->provider, "%s",
		 provider_at(call->target.route->provider)->name);
	snprintf(row->model, sizeof row->model, "%s", call->body.model);
	memcpy(row->child, call->child, sizeof row->child);
	row->status = call->status;
	row->known = known;
	row->free = call->upstream->provider->free;
	row->duration_ms = (uint32_t)(engine->loop.now_ms - call->began_ms);
	row->first_ms = call->first_ms ? (uint32_t)(call->first_ms - call->began_ms) : 0;
	if (call->state == MODEL_REQUEST_ANSWERED) {
		/* Only plain words, as all error types are: never something that could be a key
		 * in disguise. */
		if (!call->reader.usage.error[strspn(
			    call->reader.usage.error,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")])
			snprintf(row->error, sizeof row->error, "%s", call->reader.usage.error);
		else
			snprintf(row->error, sizeof row->error, "other");
		row->failure = failure_from_http(call->status, call->reader.usage.error,
						 call->reader.usage.message);
		row->retry_at_ms = row->failure == FAILURE_RATE_LIMIT ||
						   row->failure == FAILURE_OVERLOADED
					   ? call->limit.at_ms
					   : 0;
	} else if (call->unreached[0]) {
		memcpy(row->error, call->unreached, sizeof row->error);
		row->failure = FAILURE_UNREACHABLE;
	}
}

void model_request_settle(struct model_request *call)
{
	struct engine *engine = call->engine;
	const struct usage *usage = &call->reader.usage;
	struct ledger_row row = { 0 };
	struct price_use use = { 0 };
	const struct price_model *as = NULL;
	bool answered = call->state == MODEL_REQUEST_ANSWERED;
	bool refused = answered && call->status >= 300;
	bool exact = answered && usage->has_input && usage->has_output && usage->ended;

	if (!call->priced) {
		if (call->unreached[0])
			budget_report_failure(&engine->budget, FAILURE_UNREACHABLE,
					      call->unreached);
		return;
	}
	call->priced = false;
	if (answered)
		use = usage->use;
	/* The provider does not charge for a request that was incomplete or that it refused. */
	if (refused && !usage->has_output)
		exact = true;
	else if (!call->sent && !answered)
		exact = true;
	else if (!exact)
		estimate(call, &use);
	use.fast |= call->body.fast && input_of(&use) > 0;
	fill(call, &row);
	row.cost_nusd = cost_of(call, &use, &as);
	if (!exact && !usage->has_input && row.cost_nusd > call->reserved)
		row.cost_nusd = call->reserved;
	if (call->opaque && row.cost_nusd < call->reserved)
		row.cost_nusd = call->reserved;
	row.estimated = !exact;
	row.searches = use.searches;
	memcpy(row.tokens, use.tokens, sizeof row.tokens);
	snprintf(row.as, sizeof row.as, "%s", as ? as->name : "");
	if (exact && request_body_elsewhere(&call->body) == 0)
		budget_learn(&engine->budget, call->model, call->size, input_of(&use));
	money_settle(&engine->budget.money, &call->reserved, row.cost_nusd);
	budget_report(&engine->budget, &row);
	call->state = MODEL_REQUEST_OVER;
	budget_changed(&engine->budget);
	budget_ask_ahead(&engine->budget);
}
