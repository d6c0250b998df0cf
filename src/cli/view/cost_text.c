/* Cost as text: see cost_text.h. */
#include "cli/view/cost_text.h"

#include "cli/view/notice.h"
#include "price/price.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <inttypes.h>

char *cost_text(const struct cost_text_use *use)
{
	AUTO_BUFFER struct buffer amount = BUFFER_INIT(128);
	AUTO_FREE char *asked =
		mem_format("%" PRIu64 " %s, %" PRIu64 " tokens in, %" PRIu64 " out", use->requests,
			   use->requests == 1 ? "request" : "requests", use->input, use->output);

	if (use->requests == 0 && use->cost_nusd == 0)
		return NULL;
	if (use->cost_nusd == 0 && use->free_requests == use->requests)
		return mem_format("a local model, at no cost: %s", asked);
	price_add_usd(&amount, use->cost_nusd, 2);
	if (use->estimated_nusd > 0 && use->estimated_nusd < use->cost_nusd) {
		buffer_add_text(&amount, " (US$ ");
		price_add_usd(&amount, use->estimated_nusd, 2);
		buffer_add_text(&amount, " estimated)");
	} else if (use->estimated_nusd > 0) {
		buffer_add_text(&amount, " (estimated)");
	}
	return mem_format("%s US$ %s: %s",
			  use->replay ? "a replay: models would have cost" : "models cost",
			  buffer_text(&amount), asked);
}

const char *cost_text_mark(int64_t cost_nusd, int64_t estimated_nusd)
{
	if (estimated_nusd <= 0)
		return "";
	return estimated_nusd < cost_nusd ? " (partly estimated)" : " (estimated)";
}

void cost_text_print(const struct ledger_news *news)
{
	const struct cost_text_use use = { .requests = news->requests,
					   .free_requests = news->free_requests,
					   .input = ledger_input(news),
					   .output = news->tokens[PRICE_OUTPUT],
					   .cost_nusd = news->cost_nusd,
					   .estimated_nusd = news->estimated_nusd,
					   .replay = news->replay };
	AUTO_FREE char *words = cost_text(&use);

	if (words)
		notice_format("%s (details: ringfence cost)", words);
}
