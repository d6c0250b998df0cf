/* The gateway as the outlet of a fence (util/outlet.h). */
#ifndef GATEWAY_OUTLET_H
#define GATEWAY_OUTLET_H

#include "util/outlet.h"

/* One that has not begun; its token is chosen. NULL with err set: there is no randomness. */
struct outlet *gateway_outlet_new(struct error *err);
void gateway_outlet_free(struct outlet *outlet);

#endif
