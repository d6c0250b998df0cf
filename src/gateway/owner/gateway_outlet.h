/* The gateway as the outlet of a fence (util/outlet.h). */
#ifndef GATEWAY_OWNER_GATEWAY_OUTLET_H
#define GATEWAY_OWNER_GATEWAY_OUTLET_H

#include "gateway/owner/ledger.h"
#include "provider/model_access.h"
#include "util/outlet.h"
#include "util/taint.h"

/* Returns an outlet that has a token but is not started, or NULL with err set if there are no
 * random bytes. */
struct outlet *gateway_outlet_new(struct error *err);

/* Gives the outlet access to models. Call it before the outlet starts. `access` is borrowed
 * until the outlet is freed. Reads the keys, none from what an agent can change (taint), and opens
 * the ledger, which is closed with the outlet. Returns 0, or -1 with err set. */
int gateway_outlet_models(struct outlet *outlet, const struct model_access *access,
			  const struct taint *taint, const struct ledger_options *ledger,
			  struct error *err);

/* Returns the path of the tape being recorded or replayed, or NULL. */
const char *gateway_outlet_tape(const struct outlet *outlet);

/* Returns the results of the ledger after the outlet was stopped, or false if it had no models. */
bool gateway_outlet_news(const struct outlet *outlet, struct ledger_news *ret_news);

void gateway_outlet_free(struct outlet *outlet);

#endif
