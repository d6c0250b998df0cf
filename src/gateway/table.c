/* The host table: see table.h. */
#include "gateway/table.h"

#include <stdio.h>
#include <string.h>

enum { MARK = 0x52464754 };

const char *const table_verdicts[TABLE_VERDICTS] = { "none", "allowed", "refused", "capped",
						     "failed" };

void table_init(struct table *table)
{
	memset(table, 0, sizeof *table);
	table->mark = MARK;
	snprintf(table->rows[TABLE_ROWS].host, sizeof table->rows[0].host, "others");
}

bool table_sound(const struct table *table)
{
	if (table->mark != MARK || table->used > TABLE_ROWS)
		return false;
	for (size_t i = 0; i <= TABLE_ROWS; i++)
		if (!memchr(table->rows[i].host, '\0', sizeof table->rows[i].host) ||
		    table->rows[i].verdict >= TABLE_VERDICTS)
			return false;
	return true;
}

static bool only_refused(const struct table_row *row)
{
	return row->connections == 0;
}

struct table_row *table_find(struct table *table, const struct gateway_target *target, bool refused)
{
	uint32_t strangers = 0;

	for (uint32_t i = 0; i < table->used; i++) {
		struct table_row *row = &table->rows[i];

		if (row->port == target->port && strcmp(row->host, target->host) == 0)
			return row;
		strangers += only_refused(row);
	}
	if (table->used == TABLE_ROWS || (refused && strangers >= TABLE_REFUSED))
		return &table->rows[TABLE_ROWS];

	struct table_row *row = &table->rows[table->used];

	/* The row is whole before it counts: a kill may come between any two of these. */
	memset(row, 0, sizeof *row);
	memcpy(row->host, target->host, sizeof row->host);
	row->port = target->port;
	__atomic_store_n(&table->used, table->used + 1, __ATOMIC_RELEASE);
	return row;
}

bool table_read(const struct table *table, size_t index, struct table_row *ret_row)
{
	uint32_t used = __atomic_load_n(&table->used, __ATOMIC_ACQUIRE);

	if (index > TABLE_ROWS || (index < TABLE_ROWS && index >= used))
		return false;
	memcpy(ret_row, &table->rows[index], sizeof *ret_row);
	ret_row->host[sizeof ret_row->host - 1] = '\0';
	for (char *at = ret_row->host; *at; at++)
		if (*at < 0x21 || *at > 0x7e)
			*at = '?';
	memset(ret_row->host + strlen(ret_row->host), 0,
	       sizeof ret_row->host - strlen(ret_row->host));
	if (ret_row->port > 65535)
		ret_row->port = 0;
	if (ret_row->verdict >= TABLE_VERDICTS)
		ret_row->verdict = TABLE_NONE;
	return index < TABLE_ROWS || ret_row->verdict != TABLE_NONE;
}
