/* Tables and rows that loops and gateways pass on: a second copy, and each row alone. */
#include "unit.h"

#include "fence/watch/verdict.h"
#include "gateway/host_table.h"
#include "gateway/proxy/http.h"
#include "loop/state/loop_event.h"
#include "loop/state/models_json.h"
#include "util/mem.h"

#include <jansson.h>
#include <string.h>

static bool is_listed(const char *name, const char *list)
{
	AUTO_FREE char *padded = mem_format(" %s ", list);
	AUTO_FREE char *word = mem_format(" %s ", name);

	return strstr(padded, word) != NULL;
}

static void events(void)
{
	static const char waiting[] =
		"started checked held_out probed proved mutating mutant mutated baselined "
		"interrupted continued waited checkpointed examined retried git imported";
	bool held = true;
	bool found = true;

	for (enum loop_event event = 0; event < LOOP_EVENT_COUNT; event++) {
		const char *name = loop_event_name(event);

		held = loop_event_can_wait(event) == is_listed(name, waiting) && held;
		found = loop_event_find(name) == (int)event && found;
	}
	CHECK("only events that can be determined again wait for the next one", held);
	CHECK("each event is found by its name", found && loop_event_find("none") == -1);
}

static void verdicts(void)
{
	static const char *const kinds[VERDICT_ACTS] = {
		[VERDICT_READ] = "read",     [VERDICT_LOOK] = "read",
		[VERDICT_LINK] = "link",     [VERDICT_CONNECT] = "connect",
		[VERDICT_CHANGE] = "write",  [VERDICT_REMOVE] = "remove",
		[VERDICT_CREATE] = "create", [VERDICT_WRITE] = "write",
	};
	bool held = true;

	for (enum verdict_act act = 0; act < VERDICT_ACTS; act++)
		held = verdict_kind(act, true) &&
		       strcmp(verdict_kind(act, true), kinds[act]) == 0 && held;
	CHECK("each act has its word", held);
}

/* Each tool alone survives a journal. */
static void tools(void)
{
	bool held = true;

	for (size_t i = 0; i < PROVIDER_TOOL_COUNT; i++) {
		const struct model_access access = { .tools = PROVIDER_TOOL_BIT(i) };
		struct model_access same = { 0 };
		struct error err;
		json_t *json = models_json_write(&access);

		held = models_json_read(json, &same, &err) == 0 && same.tools == access.tools &&
		       held;
		model_access_release(&same);
		json_decref(json);
	}
	CHECK("each tool of a provider is read as it was written", held);
}

static void hosts(void)
{
	AUTO_FREE struct host_table *table = mem_zero(sizeof *table);
	struct host_table_row row;

	host_table_init(table);
	CHECK("an empty table has no rows",
	      !host_table_read(table, 0, &row) && !host_table_read(table, HOST_TABLE_ROWS, &row));
	table->used = 2;
	snprintf(table->rows[0].host, sizeof table->rows[0].host, "a\x1f\x7f~!");
	table->rows[0].port = 65535;
	table->rows[0].verdict = HOST_TABLE_VERDICTS - 1;
	table->rows[1].port = 65536;
	table->rows[1].verdict = HOST_TABLE_VERDICTS;
	CHECK("a row is read without characters that a terminal would obey",
	      host_table_read(table, 0, &row) && strcmp(row.host, "a??~!") == 0 &&
		      row.port == 65535 && row.verdict == HOST_TABLE_VERDICTS - 1);
	CHECK("impossible numbers are dropped",
	      host_table_read(table, 1, &row) && row.port == 0 && row.verdict == HOST_TABLE_NONE);
	CHECK("rows after the last are not read", !host_table_read(table, 2, &row));
	table->rows[HOST_TABLE_ROWS].verdict = HOST_TABLE_ALLOWED;
	CHECK("the row of all others is read if it was used",
	      host_table_read(table, HOST_TABLE_ROWS, &row) &&
		      !host_table_read(table, HOST_TABLE_ROWS + 1, &row));
	memset(table->rows[0].host, 'a', sizeof table->rows[0].host);
	CHECK("a name without an end is cut",
	      host_table_read(table, 0, &row) && strlen(row.host) == sizeof row.host - 1);
}

static bool is(const char *text, const char *word)
{
	return http_text_is((struct http_text){ .at = text, .size = strlen(text) }, word);
}

static void words(void)
{
	CHECK("a word of a head is compared as a whole, in any case",
	      is("Host", "host") && is("HOST", "host") && !is("hosts", "host") &&
		      !is("hos", "host") && !is("hose", "host") && !is("", "host"));
}

int main(void)
{
	events();
	verdicts();
	tools();
	hosts();
	words();
	return unit_failures > 0;
}
