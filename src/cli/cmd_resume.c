/* ringfence resume: a loop goes on where it was. */
#include "cli/follow.h"
#include "cli/loops.h"

#include "util/mem.h"

#include <stdio.h>
#include <string.h>

/* A limit that is changed: the name in the journal, and its setting. */
static int change(void *options, const char *key, enum setting_id id, const char *value,
		  struct error *err)
{
	struct loops_options *asked = options;
	struct error wrong;
	uint64_t number;

	if (setting_parse(&settings[id], value, &number, &wrong) < 0)
		return error_set(err, "--%s", wrong.text);
	if (settings[id].type == SETTING_SWITCH)
		json_object_set_new(asked->changes, key, json_boolean(number));
	else
		json_object_set_new(asked->changes, key, json_integer((json_int_t)number));
	return 0;
}

#define CHANGE(name, key, id)                                                       \
	static int take_##name(void *options, const char *value, struct error *err) \
	{                                                                           \
		return change(options, key, id, value, err);                        \
	}
CHANGE(iterations, "max_iterations", SETTING_MAX_ITERATIONS)
CHANGE(time, "max_time_ms", SETTING_MAX_TIME)
CHANGE(timeout, "timeout_ms", SETTING_TIMEOUT)
CHANGE(idle, "idle_ms", SETTING_IDLE_TIMEOUT)
CHANGE(check, "check_timeout_ms", SETTING_CHECK_TIMEOUT)
CHANGE(cost, "max_cost_nusd", SETTING_MAX_COST)
CHANGE(warning, "warn_cost_nusd", SETTING_WARN_COST)
#undef CHANGE

static int take_follow(void *options, const char *value, struct error *err)
{
	(void)value;
	(void)err;
	((struct loops_options *)options)->follow = true;
	return 0;
}

static const struct option options[] = {
	{ "all", NULL, "every interrupted loop of yours, as after a reboot", loops_take_all },
	{ "follow", NULL, "stay in the foreground, as run does", take_follow },
	{ "max-iterations", "COUNT", "another limit from now on, as the following",
	  take_iterations },
	{ "max-time", "TIME", "time of the loop as a whole", take_time },
	{ "timeout", "TIME", "time of one iteration", take_timeout },
	{ "idle-timeout", "TIME", "time without output", take_idle },
	{ "check-timeout", "TIME", "time of a check", take_check },
	{ "max-cost", "DOLLARS", "money of the loop as a whole", take_cost },
	{ "warn-cost", "DOLLARS", "the cost at which a warning is due", take_warning },
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct alias aliases[] = {
	{ "-m", "--max-iterations" },
	{ "-f", "--follow" },
	{ 0 },
};

static const struct section sections[] = {
	{ "EXIT STATUS", "  0    it goes on\n  125  refused; the reason is said\n"
			 "  With --follow as ringfence run.\n" },
	{ 0 },
};

/* In a scope of systemd's, where its limits need one; the program begins again there. */
static void enter_scope(const struct client_loop *loop)
{
	struct fence_spec spec;
	struct error ignored;

	if (frozen_thaw(loop->state.options.fence, &spec, &ignored) < 0)
		return;
	fence_enter_scope(&spec);
	fence_spec_release(&spec);
}

/* Each for itself: one that cannot go on keeps no other from it. */
static int resume_all(struct loops_options *asked, struct error *err)
{
	struct client_loops all;
	int code = 0;

	if (client_list(asked->place.state, &all, err) < 0)
		return cli_fail(err);
	for (size_t i = 0; i < all.count; i++) {
		struct client_loop *loop = &all.items[i];

		if (strcmp(client_status(loop), "interrupted") != 0)
			continue;
		enter_scope(loop);
		if (client_resume(asked->place.state, loop, asked->changes, err) < 0)
			code = cli_fail(err);
		else
			printf("the loop %s goes on\n", loop->id);
	}
	client_loops_release(&all);
	return code ? code : cli_printed();
}

static int resume(struct loops_options *asked, struct error *err)
{
	if (asked->all)
		return resume_all(asked, err);
	if (loops_find(asked, err) < 0)
		return cli_fail(err);

	int64_t seen = asked->loop.state.last_seq;

	if (!asked->loop.damaged && !asked->loop.alive)
		enter_scope(&asked->loop);
	if (client_resume(asked->place.state, &asked->loop, asked->changes, err) < 0)
		return cli_fail(err);
	if (asked->follow)
		return follow_loop(&asked->loop, seen);

	AUTO_FREE char *text = mem_format("the loop %s goes on (ringfence logs -f %s)",
					  asked->loop.id, asked->loop.id);

	return loops_say(asked, text);
}

static int run_resume(const struct command *command, char **argv)
{
	return loops_run(command, argv, resume);
}

const struct command cmd_resume = {
	.name = "resume",
	.args = "[--all] [--max-iterations N] [...] [LOOP]",
	.help = "go on with a loop that is paused, interrupted or ended",
	.about =
		"Goes on where the loop was, with what it has used up; limits that are named hold from now on, and breakers are "
		"closed. An iteration that was cut off is done again and does not count twice.",
	.options = options,
	.aliases = aliases,
	.sections = sections,
	.run = run_resume,
};
