/* One HTTP request with libcurl. */
#ifndef HTTPS_HTTPS_TRANSFER_H
#define HTTPS_HTTPS_TRANSFER_H

#include "https/https_message.h"
#include "https/https_wire.h"

/* Carries out an order, with redirects. The caller releases *ret. Returns 0, or -1 with err set;
 * https.h lists the statuses. */
int https_transfer(const struct https_wire_order *order, struct https_response *ret,
		   struct error *err);

#endif
