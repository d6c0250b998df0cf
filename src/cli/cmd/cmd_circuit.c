/* ringfence circuit: the breakers of a loop. */
#include "cli/loops.h"

#include "util/mem.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct cli_option options[] = { LOOPS_JSON, LOOPS_PROJECT, { 0 } };

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence circuit\n  ringfence circuit reset\n" },
	{ 0 },
};

static const char *state_name(const struct breaker *breaker)
{
	static const char *const names[] = { [BREAKER_CLOSED] = "closed",
					     [BREAKER_HALF_OPEN] = "half-open",
					     [BREAKER_OPEN] = "open" };

	return names[breaker_state(breaker, time(NULL))];
}

static int show(const struct loops_options *asked)
{
	json_t *list = json_array();

	for (int i = 0; i < BREAKER_COUNT; i++) {
		const struct breaker *breaker = &asked->loop.state.breakers[i];
		const char *name = breaker_name((enum breaker_kind)i);

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:i, s:i, s:i}", "name", name, "state",
						state_name(breaker), "count", (int)breaker->count,
						"open_at", (int)breaker->open_at, "tripped",
						(int)breaker->tripped));
		if (!asked->json)
			printf("%-10s %s: %u of %u\n", state_name(breaker), name, breaker->count,
			       breaker->open_at);
	}

	if (asked->json)
		loops_print(json_pack("{s:s, s:o}", "id", asked->loop.id, "breakers", list));
	else
		json_decref(list);
	return cli_printed();
}

static int act(struct loops_options *asked, struct error *err)
{
	const char *word = asked->rest[0];
	bool reset = word && strcmp(word, "reset") == 0;

	if (reset || (word && strcmp(word, "show") == 0))
		asked->rest++;
	if (loops_find_sound(asked, err) < 0)
		return cli_fail(err);
	if (!reset)
		return show(asked);
	if (client_ask(&asked->loop, "reset", false, err) < 0)
		return cli_fail(err);
	client_look(&asked->loop);
	return show(asked);
}

static int run_circuit(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, act);
}

const struct cli_command cmd_circuit = {
	.name = "circuit",
	.args = "[show|reset] [--json] [LOOP]",
	.most = 2,
	.mixed = true,
	.help = "show or reset the breakers of a loop",
	.about =
		"A breaker counts what goes wrong in a row: errors, the same error, iterations without progress, interruptions. An "
		"open one ends the loop. They survive a restart; ringfence resume closes them, too.",
	.options = options,
	.sections = sections,
	.run = run_circuit,
};
