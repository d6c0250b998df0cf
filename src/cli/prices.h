/* The table of prices with the user's own on top. */
#ifndef CLI_PRICES_H
#define CLI_PRICES_H

#include "fence/fence.h"
#include "price/price.h"
#include "util/buffer.h"
#include "util/error.h"

/* Reads prices.txt beside the user's own settings, if it is there. Returns 0, or -1 with err set. */
int prices_load(const struct fence_place *place, struct price_table *ret_table, struct error *err);

/* The user's own text, as it is; *ret_shown (may be NULL) is what the file is called, and the caller's to free. Nothing
 * is added where there is none. */
int prices_own(const struct fence_place *place, struct buffer *out, char **ret_shown,
	       struct error *err);

#endif
