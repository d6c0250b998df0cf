/* The host table: see host_table.h. */
#include "gateway/host_table.h"

#include <stdio.h>
#include <string.h>

enum { MARK = 0x52464754 };

const char *const host_table_verdicts[HOST_TABLE_VERDICTS] = { "none", "allowed", "refused",
							       "capped", "failed" };

void host_table_init(struct host_table *table)
{
	memset(table, 0, sizeof *table);
	table->mark = MARK;
	snprintf(table->rows[HOST_TABLE_ROWS].host, sizeof table->rows[0].host, "others");
}

bool host_table_sound(const struct host_table *table)
{
	if (table->mark != MARK || table->used > HOST_TABLE_ROWS)
		return false;
	for (size_t i = 0; i <= HOST_TABLE_ROWS; i++)
		if (!memchr(table->rows[i].host, '\0', sizeof table->rows[i].host) ||
		    table->rows[i].verdict >= HOST_TABLE_VERDICTS)
			return false;
	return true;
}

static bool never_reached(const struct host_table_row *row)
{
	return row->connections == 0;
}

static void begin(struct host_table_row *row, const struct rule_target *target)
{
	memset(row, 0, sizeof *row);
	memcpy(row->host, target->host, sizeof row->host);
	row->port = target->port;
}

/* Finds the row of a host that was never reached and has no connection. Moves its counts to the
 * last row. */
static struct host_table_row *replace(struct host_table *table, const struct rule_target *target,
				      const uint32_t *active)
{
	struct host_table_row *others = &table->rows[HOST_TABLE_ROWS];

	for (uint32_t i = 0; i < table->used; i++) {
		struct host_table_row *row = &table->rows[i];

		if (!never_reached(row) || active[i])
			continue;
		others->refusals += row->refusals;
		if (others->verdict == HOST_TABLE_NONE)
			others->verdict = row->verdict;
		begin(row, target);
		return row;
	}
	return others;
}

struct host_table_row *host_table_find(struct host_table *table, const struct rule_target *target,
				       bool refused, const uint32_t *active)
{
	uint32_t strangers = 0;

	for (uint32_t i = 0; i < table->used; i++) {
		struct host_table_row *row = &table->rows[i];

		if (row->port == target->port && strcmp(row->host, target->host) == 0)
			return row;
		strangers += never_reached(row);
	}
	if (refused && (table->used == HOST_TABLE_ROWS || strangers >= HOST_TABLE_REFUSED))
		return &table->rows[HOST_TABLE_ROWS];
	if (table->used == HOST_TABLE_ROWS)
		return replace(table, target, active);

	struct host_table_row *row = &table->rows[table->used];

	/* Complete the row before it counts: the process may be killed between any two of these
	 * steps. */
	begin(row, target);
	__atomic_store_n(&table->used, table->used + 1, __ATOMIC_RELEASE);
	return row;
}

bool host_table_read(const struct host_table *table, size_t index, struct host_table_row *ret_row)
{
	uint32_t used = __atomic_load_n(&table->used, __ATOMIC_ACQUIRE);

	if (index > HOST_TABLE_ROWS || (index < HOST_TABLE_ROWS && index >= used))
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
	if (ret_row->verdict >= HOST_TABLE_VERDICTS)
		ret_row->verdict = HOST_TABLE_NONE;
	return index < HOST_TABLE_ROWS || ret_row->verdict != HOST_TABLE_NONE;
}
