/* The gateway as the outlet of a fence (util/outlet.h). */
#ifndef GATEWAY_OWNER_GATEWAY_OUTLET_H
#define GATEWAY_OWNER_GATEWAY_OUTLET_H

#include "gateway/owner/ledger.h"
#include "provider/model_access.h"
#include "util/outlet.h"

/* One that has not begun; its token is chosen. NULL with err set: there is no randomness. */
struct outlet *gateway_outlet_new(struct error *err);

/*
 * Before it starts: lets it lead to models. `access` is borrowed until the outlet is freed. This
 * reads the keys and opens the ledger, which is closed with the outlet. Returns 0, or -1 with err set.
 */
int gateway_outlet_models(struct outlet *outlet, const struct model_access *access,
			  const struct ledger_options *books, struct error *err);

/* The tape that it records or replays; NULL: none. */
const char *gateway_outlet_tape(const struct outlet *outlet);

/* After it was stopped: what that cost. False: it did not lead to any. */
bool gateway_outlet_news(const struct outlet *outlet, struct ledger_news *ret_news);

void gateway_outlet_free(struct outlet *outlet);

#endif
