/* ringfence circuit: show or reset the breakers of a loop. */
#include "cli/loops.h"

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

static int show(const struct loops_options *opts)
{
	json_t *list = json_array();

	for (int i = 0; i < BREAKER_COUNT; i++) {
		const struct breaker *breaker = &opts->loop.state.breakers[i];
		const char *name = breaker_name((enum breaker_kind)i);

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:i, s:i, s:i}", "name", name, "state",
						state_name(breaker), "count", (int)breaker->count,
						"open_at", (int)breaker->open_at, "tripped",
						(int)breaker->tripped));
		if (!opts->json)
			printf("%-10s %s: %u of %u\n", state_name(breaker), name, breaker->count,
			       breaker->open_at);
	}

	if (opts->json)
		loops_print(json_pack("{s:s, s:o}", "id", opts->loop.id, "breakers", list));
	else
		json_decref(list);
	return cli_flush();
}

static int act(struct loops_options *opts, struct error *err)
{
	const char *word = opts->rest[0];
	bool reset = word && strcmp(word, "reset") == 0;

	if (reset || (word && strcmp(word, "show") == 0))
		opts->rest++;
	if (loops_find_readable(opts, err) < 0)
		return cli_fail(err);
	if (!reset)
		return show(opts);
	if (client_ask(&opts->loop, CONTROL_REQUEST_reset, false, err) < 0)
		return cli_fail(err);
	client_refresh(&opts->loop);
	return show(opts);
}

static int run_circuit(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, act);
}

const struct cli_command cmd_circuit = {
	.name = "circuit",
	.args = "[show|reset] [--json] [LOOP]",
	.max_args = 2,
	.options_anywhere = true,
	.summary = "show or reset the breakers of a loop",
	.description =
		"A breaker counts failures in a row: errors, the same error, iterations without progress, "
		"or interruptions. An open breaker ends the loop. Breakers survive a restart; ringfence "
		"resume also resets them.",
	.options = options,
	.sections = sections,
	.run = run_circuit,
};
