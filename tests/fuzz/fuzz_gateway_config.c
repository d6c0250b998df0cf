// sources: src/gateway/post.c src/gateway/models.c src/gateway/table.c src/gateway/rule.c src/gateway/address.c src/meter/request.c src/meter/scan.c src/price/price.c src/price/table.c
/* The configuration as the gateway reads it, and the host table as its owner does. */
#include "fuzz.h"

#include "gateway/post.h"
#include "gateway/table.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static void check_table(const uint8_t *data, size_t size)
{
	AUTO_FREE struct table *table = mem_zero(sizeof *table);
	struct table_row row;

	memcpy(table, data, size < sizeof *table ? size : sizeof *table);
	(void)table_sound(table);
	for (size_t i = 0; i < TABLE_ROWS + 2; i++) {
		if (!table_read(table, i, &row))
			continue;
		if (i > TABLE_ROWS || !memchr(row.host, '\0', sizeof row.host) ||
		    row.port > 65535 || row.verdict >= TABLE_VERDICTS)
			abort();
		for (const char *at = row.host; *at; at++)
			if (*at <= ' ' || *at > '~')
				abort();
	}
}

void fuzz_gateway_config(const uint8_t *data, size_t size)
{
	struct post_config config;
	struct error err;

	if (post_config_read((const char *)data, size, &config, &err) == 0) {
		if (config.rule_count > GATEWAY_RULES || config.caps.connections == 0 ||
		    strlen(config.token) != POST_TOKEN - 1)
			abort();
		post_config_release(&config);
	}
	check_table(data, size);
}

FUZZ_TARGET(fuzz_gateway_config)
