/* The prices that hold for this user. */
#ifndef CLI_PRICES_H
#define CLI_PRICES_H

#include "price/price.h"

/* The built-in table with the user's own file. Returns 0, or -1 with err set. */
int prices_load(struct price_table *ret_table, struct error *err);

#endif
