// sources: src/https/https_wire.c src/https/https_message.c -ljansson
/* Orders as ringfence-https reads them, and its answers as ringfence reads them. */
#include "fuzz.h"

#include "https/https_wire.h"

#include <stdlib.h>
#include <string.h>

/* An order that was accepted can be written, and read again. */
static void check_order(const struct https_wire_order *order)
{
	struct buffer out = BUFFER_INIT(HTTPS_WIRE_MOST + HTTPS_WIRE_MOST);
	struct https_wire_order again;
	struct error err;

	if (strpbrk(order->request.url, "\r\n ") || order->request.size > HTTPS_BODY)
		abort();
	for (size_t i = 0; i < order->headers.count; i++)
		if (strpbrk(order->headers.items[i], "\r\n"))
			abort();
	if (https_wire_write_order(&out, order, &err) < 0 ||
	    https_wire_read_order(out.data, out.used, &again, &err) < 0)
		abort();
	https_wire_release_order(&again);
	buffer_release(&out);
}

void fuzz_https_wire(const uint8_t *data, size_t size)
{
	struct https_wire_order order;
	struct https_response response;
	struct error err;

	if (https_wire_read_order((const char *)data, size, &order, &err) == 0) {
		check_order(&order);
		https_wire_release_order(&order);
	}
	if (https_wire_read_response((const char *)data, size, &response, &err) == 0) {
		if (response.status < 100 || response.status > 999)
			abort();
		https_message_release(&response);
	}
}

FUZZ_TARGET(fuzz_https_wire)
