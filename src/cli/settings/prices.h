/* The table of prices with the user's own on top. */
#ifndef CLI_SETTINGS_PRICES_H
#define CLI_SETTINGS_PRICES_H

#include "fence/fence_place.h"
#include "price/price.h"
#include "util/buffer.h"
#include "util/error.h"

/* Reads prices.txt beside the user's own settings, if it is there. Returns 0, or -1 with err set. */
int prices_load(const struct fence_place *place, struct price_table *ret_table, struct error *err);

/* The same, and the text of that file, which the caller releases in any case. */
int prices_load_with(const struct fence_place *place, struct price_table *ret_table,
		     struct buffer *ret_own, struct error *err);

#endif
