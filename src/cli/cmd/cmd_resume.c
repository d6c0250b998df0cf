/* ringfence resume: a loop goes on where it was. */
#include "cli/loops.h"
#include "cli/settings/loop_limits.h"
#include "cli/view/follow.h"

#include "fence/fence.h"
#include "fence/fence_spec.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>

enum { GONE_MS = 5000 };

static bool takes(const struct setting *setting)
{
	return loop_limits_has(setting);
}

static int change(void *options, const struct setting *setting, const char *value,
		  struct error *err)
{
	struct loops_options *asked = options;
	struct error wrong;
	uint64_t number;

	if (setting_parse(setting, value, &number, &wrong) < 0)
		return error_set(err, "--%s", wrong.text);
	loop_limits_set(asked->changes, setting, number);
	return 0;
}

static const struct cli_option options[] = {
	OPTION_FLAG("all", "every interrupted loop of yours, as after a reboot",
		    struct loops_options, all),
	OPTION_FLAG("follow", "stay in the foreground, as run does; also of one that runs (-f)",
		    struct loops_options, follow),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_alias aliases[] = {
	{ "-m", "--max-iterations" },
	{ "-f", "--follow" },
	{ "--no-pause-on-warning", "--pause-on-warning=false" },
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", "  0    it goes on\n  125  refused; the reason is said\n"
			 "  With --follow as ringfence run.\n" },
	{ 0 },
};

/* In a scope of systemd's, where its limits need one; the program begins again there. */
static void enter_scope(const struct client_loop *loop)
{
	struct fence_spec spec;
	struct error ignored;

	if (spec_json_read(loop->state.options.fence, &spec, &ignored) < 0)
		return;
	fence_enter_scope(&spec);
	fence_spec_release(&spec);
}

/* Each for itself: one that cannot go on keeps no other from it. */
static int resume_all(struct loops_options *asked, struct error *err)
{
	struct client_loops all;
	json_t *list = json_array();
	int code = 0;

	if (client_list(asked->place.state, &all, err) < 0) {
		json_decref(list);
		return cli_fail(err);
	}
	for (size_t i = 0; i < all.count; i++) {
		struct client_loop *loop = &all.items[i];

		if (strcmp(client_status(loop), "interrupted") != 0)
			continue;
		enter_scope(loop);
		if (client_resume(asked->place.state, loop, asked->changes, err) < 0)
			code = cli_fail(err);
		else if (asked->json)
			json_array_append_new(list, client_json(loop));
		else
			printf("the loop %s goes on\n", loop->id);
	}
	if (asked->json)
		loops_print(json_pack("{s:O}", "loops", list));
	json_decref(list);
	client_loops_release(&all);
	return code ? code : cli_printed();
}

static bool has_stopped(const struct client_loop *loop)
{
	return !loop->damaged &&
	       (loop->state.phase == LOOP_PHASE_paused || loop->state.phase == LOOP_PHASE_finished);
}

static int resume(struct loops_options *asked, struct error *err)
{
	if (asked->all)
		return resume_all(asked, err);
	if (loops_find(asked, err) < 0)
		return cli_fail(err);

	/* One that has just stopped is gone in a moment. */
	if (asked->loop.alive && has_stopped(&asked->loop) &&
	    client_wait_gone(&asked->loop, GONE_MS))
		client_look(&asked->loop);

	int64_t seen = asked->loop.state.last_seq;

	/* One that runs is looked on at; nothing is asked of it. */
	if (asked->follow && asked->loop.alive && !asked->loop.damaged &&
	    !has_stopped(&asked->loop) && !json_object_size(asked->changes)) {
		if (!asked->json)
			printf("the loop %s is running: iteration %u\n", asked->loop.id,
			       asked->loop.state.iteration);
		fflush(stdout);
		return follow_loop(&asked->loop, seen, asked->json);
	}
	if (!asked->loop.damaged && !asked->loop.alive)
		enter_scope(&asked->loop);
	if (client_resume(asked->place.state, &asked->loop, asked->changes, err) < 0)
		return cli_fail(err);
	if (asked->follow)
		return follow_loop(&asked->loop, seen, asked->json);

	AUTO_FREE char *text = mem_format("the loop %s goes on (ringfence logs -f %s)",
					  asked->loop.id, asked->loop.id);

	return loops_say(asked, text);
}

static int run_resume(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, resume);
}

const struct cli_command cmd_resume = {
	.name = "resume",
	.args = "[--all] [--max-iterations N] [...] [--json] [LOOP]",
	.most = 1,
	.mixed = true,
	.help = "go on with a loop that is paused, interrupted or ended",
	.about =
		"Goes on where the loop was, with what it has used up; limits that are named hold from now on, and breakers are "
		"closed. An iteration that was cut off is done again and does not count twice.",
	.options = options,
	.aliases = aliases,
	.set = change,
	.takes = takes,
	.sections = sections,
	.run = run_resume,
};
