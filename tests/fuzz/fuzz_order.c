// sources: src/fence/init/order.c src/fence/run/wire.c
/* An order as init reads it. */
#include "fuzz.h"

#include "fence/init/order.h"

#include <stdlib.h>
#include <string.h>

void fuzz_order(const uint8_t *data, size_t size)
{
	struct order order;
	struct error err;

	if (order_read((const char *)data, size, &order, &err) < 0)
		return;
	if (!order.arguments[0] || order.arguments[order.argument_count] ||
	    strlen(order.cwd) >= size)
		abort();
	order_release(&order);
}

FUZZ_TARGET(fuzz_order)
