// sources: src/fence/init/order.c src/fence/run/wire.c
/* An order as init reads it. */
#include "fuzz.h"

#include "fence/init/order.h"
#include "fence/run/wire.h"

#include <stdlib.h>
#include <string.h>

/*
 * Any sequence of messages: a refused one changes nothing, and no message is legal after the end.
 */
static void walk(const uint8_t *data, size_t size)
{
	enum wire_state state = WIRE_STATE_NEW;

	for (size_t i = 0; i < size; i++) {
		enum wire_state next = wire_step(state, data[i]);

		if (next >= WIRE_STATES || (state == WIRE_STATE_OVER && next) ||
		    (next == WIRE_STATE_RUNNING && state < WIRE_STATE_STARTING))
			abort();
		state = next ? next : state;
	}
}

void fuzz_order(const uint8_t *data, size_t size)
{
	struct order order;
	struct error err;

	walk(data, size);
	if (order_read((const char *)data, size, &order, &err) < 0)
		return;
	if (!order.arguments[0] || order.arguments[order.argument_count] ||
	    strlen(order.cwd) >= size)
		abort();
	order_release(&order);
}

FUZZ_TARGET(fuzz_order)
