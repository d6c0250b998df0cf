/* ringfence resume: a loop goes on where it was. */
#include "cli/loops.h"
#include "cli/settings/loop_limits.h"
#include "cli/view/follow.h"
#include "fence/fence.h"
#include "fence/fence_spec.h"
#include "ops/op_resume.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>

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

static enum op_status resume_one(const struct loops_options *asked, const char *id,
				 struct op_resume_result *ret_result, struct error *err)
{
	const struct op_resume_request request = { .target = { .state = asked->place.state,
							       .loop = id },
						   .changes = asked->changes,
						   .before = enter_scope };

	return op_resume(&request, ret_result, err);
}

/* Each on its own: one that cannot go on does not hold up the others. */
static int resume_each(const struct loops_options *asked, const struct client_loops *all,
		       json_t *list, struct error *err)
{
	int code = 0;

	for (size_t i = 0; i < all->count; i++) {
		struct op_resume_result result;

		if (strcmp(client_status(&all->items[i]), "interrupted") != 0)
			continue;
		if (op_failed(resume_one(asked, all->items[i].id, &result, err)))
			code = cli_fail(err);
		else if (asked->json)
			json_array_append_new(list, client_json(&result.loop));
		else
			printf("the loop %s goes on\n", result.loop.id);
		op_resume_release(&result);
	}
	return code;
}

static int resume_all(const struct loops_options *asked, struct error *err)
{
	json_t *list = json_array();
	struct client_loops all;
	int code;

	if (client_list(asked->place.state, &all, err) < 0) {
		json_decref(list);
		return cli_fail(err);
	}
	code = resume_each(asked, &all, list, err);
	if (asked->json)
		loops_print(json_pack("{s:O}", "loops", list));
	json_decref(list);
	client_loops_release(&all);
	return code ? code : cli_printed();
}

/* A loop that runs is only looked on at; nothing is asked of it. */
static bool only_follows(const struct loops_options *asked)
{
	const struct client_loop *loop = &asked->loop;

	return asked->follow && loop->alive && !loop->damaged && !op_resume_has_stopped(loop) &&
	       !json_object_size(asked->changes);
}

static int follow_running(struct loops_options *asked)
{
	struct client_loop *loop = &asked->loop;

	if (!asked->json)
		printf("the loop %s is running: iteration %u\n", loop->id, loop->state.iteration);
	fflush(stdout);
	return follow_loop(loop, loop->state.last_seq, asked->json);
}

static int tell(const struct loops_options *asked, struct op_resume_result *result)
{
	AUTO_FREE char *text = mem_format("the loop %s goes on (ringfence logs -f %s)",
					  result->loop.id, result->loop.id);

	return asked->follow ? follow_loop(&result->loop, result->seen, asked->json)
			     : loops_say(asked, &result->loop, text);
}

static int resume(struct loops_options *asked, struct error *err)
{
	struct op_resume_result result;
	int code;

	if (asked->all)
		return resume_all(asked, err);
	if (loops_find(asked, err) < 0)
		return cli_fail(err);
	if (only_follows(asked))
		return follow_running(asked);
	code = op_failed(resume_one(asked, asked->loop.id, &result, err)) ? cli_fail(err)
									  : tell(asked, &result);
	op_resume_release(&result);
	return code;
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
