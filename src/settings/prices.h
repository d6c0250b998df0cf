/* The price table, with the user's own prices on top. */
#ifndef SETTINGS_PRICES_H
#define SETTINGS_PRICES_H

#include "fence/fence_place.h"
#include "price/price.h"
#include "util/buffer.h"
#include "util/error.h"

/* Loads the table and the user's prices.txt, if it exists. Returns 0, or -1 with err set. */
int prices_load(const struct fence_place *place, struct price_table *ret_table, struct error *err);

/* Also returns the text of prices.txt, which the caller always releases. */
int prices_load_with(const struct fence_place *place, struct price_table *ret_table,
		     struct buffer *ret_own, struct error *err);

#endif
