/* What the commands for loops share: see loops.h. */
#include "cli/loops.h"

#include "cli/settings/effective.h"
#include "cli/view/page.h"
#include "failure/failure.h"
#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char loops_exit_table[] = "  0    completed: every rule holds (with --detach: started)\n"
				"  1    failed: a breaker opened\n"
				"  2    a limit of the loop was reached; which one is said\n"
				"  3    paused; ringfence resume goes on\n"
				"  4    aborted by a person\n"
				"  5    interrupted, or left to go on in the background\n"
				"  125  refused, or the fence failed; the reason is said\n";

int loops_run(const struct cli_command *command, char **argv, loops_fn *act)
{
	struct loops_options asked = { .changes = json_object() };
	struct error err;
	int code;

	asked.rest = cli_begin(command, argv, &asked, &code);
	if (asked.rest)
		code = effective_find(asked.project, &asked.place, &err) < 0 ? cli_fail(&err)
									     : act(&asked, &err);
	client_loop_release(&asked.loop);
	fence_place_release(&asked.place);
	json_decref(asked.changes);
	return code;
}

int loops_target(const struct loops_options *asked, struct op_target *ret_target, struct error *err)
{
	const char *id = asked->rest[0];

	if (id && asked->rest[1])
		return error_set(err, "one loop is meant; '%s' is too much", asked->rest[1]);
	*ret_target = (struct op_target){ .state = asked->place.state,
					  .project = asked->place.project,
					  .loop = id };
	return 0;
}

int loops_find(struct loops_options *asked, struct error *err)
{
	struct op_target target;

	if (loops_target(asked, &target, err) < 0)
		return -1;
	return client_find(target.state, target.loop, target.project, &asked->loop, err);
}

int loops_find_sound(struct loops_options *asked, struct error *err)
{
	if (loops_find(asked, err) < 0)
		return -1;
	return asked->loop.damaged ? error_set(err, "%s", asked->loop.trouble) : 0;
}

static void print(json_t *object, size_t flags)
{
	/* What a terminal could take for a command is written as \uNNNN. */
	AUTO_FREE char *text = json_dumps(object, flags | JSON_ENSURE_ASCII);

	json_decref(object);
	puts(text ? text : "{}");
}

void loops_print(json_t *object)
{
	print(object, JSON_INDENT(2));
}

void loops_print_line(json_t *object)
{
	print(object, JSON_COMPACT);
	fflush(stdout);
}

int loops_say(const struct loops_options *asked, struct client_loop *loop, const char *sentence)
{
	AUTO_FREE char *shown = text_escaped(sentence);

	if (asked->json) {
		client_look(loop);
		loops_print(client_json(loop));
	} else {
		page_print(shown, 0);
	}
	return cli_printed();
}

const char *loops_failure_words(const json_t *decision)
{
	const char *name = json_string_value(json_object_get(decision, "failure"));

	return failure_from_stream(name) == FAILURE_NO_OP ? failure_row(FAILURE_NO_OP)->what : NULL;
}

int loops_exit_code(const struct client_loop *loop)
{
	static const struct {
		const char *status;
		int code;
	} codes[] = {
		{ "completed", LOOPS_COMPLETED }, { "failed", LOOPS_FAILED },
		{ "limit", LOOPS_LIMIT },         { "paused", LOOPS_PAUSED },
		{ "aborted", LOOPS_ABORTED },
	};
	const char *status = client_status(loop);

	if (loop->damaged || loop->state.fence_failed || loop->state.refused)
		return LOOPS_REFUSED;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (strcmp(codes[i].status, status) == 0)
			return codes[i].code;
	return LOOPS_INTERRUPTED;
}
