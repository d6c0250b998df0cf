// sources: src/gateway/owner_protocol.c src/provider/provider.c src/provider/url.c
// sources: src/gateway/owner/model_config.c src/gateway/host_table.c src/gateway/proxy/rule.c
// sources: src/gateway/proxy/address.c src/price/price.c src/price/price_table.c
/* The configuration as the gateway reads it, and the host table as its owner reads it. */
#include "fuzz.h"

#include "gateway/host_table.h"
#include "gateway/owner_protocol.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static void check_table(const uint8_t *data, size_t size)
{
	AUTO_FREE struct host_table *table = mem_zero(sizeof *table);
	struct host_table_row row;

	memcpy(table, data, size < sizeof *table ? size : sizeof *table);
	(void)host_table_sound(table);
	for (size_t i = 0; i < HOST_TABLE_ROWS + 2; i++) {
		if (!host_table_read(table, i, &row))
			continue;
		if (i > HOST_TABLE_ROWS || !memchr(row.host, '\0', sizeof row.host) ||
		    row.port > 65535 || row.verdict >= HOST_TABLE_VERDICTS)
			abort();
		for (const char *at = row.host; *at; at++)
			if (*at <= ' ' || *at > '~')
				abort();
	}
}

/*
 * Any sequence of messages: nothing is served before the gateway is ready, and no message is legal
 * after the end.
 */
static void walk(const uint8_t *data, size_t size)
{
	enum owner_protocol_state state = OWNER_PROTOCOL_NEW;

	for (size_t i = 0; i < size; i++) {
		enum owner_protocol_state next = owner_protocol_next(state, data[i]);

		if (next >= OWNER_PROTOCOL_STATES || (state == OWNER_PROTOCOL_OVER && next) ||
		    (data[i] == OWNER_PROTOCOL_LEASE && next && state < OWNER_PROTOCOL_SERVING))
			abort();
		state = next ? next : state;
	}
}

void fuzz_owner_protocol(const uint8_t *data, size_t size)
{
	struct owner_protocol_config config;
	struct error err;

	if (owner_protocol_config_read((const char *)data, size, &config, &err) == 0) {
		if (config.rule_count > GATEWAY_RULES || config.caps.connections == 0 ||
		    strlen(config.token) != OWNER_PROTOCOL_TOKEN - 1)
			abort();
		owner_protocol_config_release(&config);
	}
	check_table(data, size);
	walk(data, size);
}

FUZZ_TARGET(fuzz_owner_protocol)
