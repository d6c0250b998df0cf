/* ringfence exec: one command in the fence. */
#include "cli/apply.h"
#include "cli/cli.h"
#include "cli/notice.h"
#include "cli/report.h"
#include "fence/fence.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct exec_options {
	struct fence_spec spec;
	struct fence_place place;
	struct config config;
	const char *report_path;
	struct report report;
};

#define OPTIONS struct exec_options *asked = options

static int take_project(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)err;
	asked->spec.project = value;
	return 0;
}

static int take_cwd(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)err;
	asked->spec.cwd = value;
	return 0;
}

static int take_no_fence(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)value;
	(void)err;
	asked->spec.accepted_weaker |= FENCE_WEAKER_NO_FENCE;
	return 0;
}

static int take_report(void *options, const char *value, struct error *err)
{
	OPTIONS;

	(void)err;
	asked->report_path = value;
	return 0;
}

static int take_setting(void *options, const struct setting *setting, const char *value,
			struct error *err)
{
	OPTIONS;

	return config_add_flag(&asked->config, setting, value, apply_judge, err);
}

static const struct option options[] = {
	{ "project", "DIR", "the project's folder (default: the current one)", take_project },
	{ "cwd", "DIR", "where to start inside; must be in the project", take_cwd },
	{ "report", "FILE", "write what happened as JSON", take_report },
	{ "i-accept-no-fence", NULL, "run WITHOUT any fence", take_no_fence },
	{ 0 },
};

static const struct section sections[] = {
	{ "EXIT STATUS", "  the command's own, or\n"
			 "  123  it failed and had run into a limit; which one is said\n"
			 "  124  it ran out of time\n"
			 "  125  refused, no fence, or the fence broke; the reason is said\n"
			 "  126  the command is not executable\n"
			 "  127  the command was not found\n"
			 "  128+N  it was killed by signal N\n" },
	{ "EXAMPLES",
	  "  ringfence exec -- make test\n"
	  "  ringfence exec --write src --hide fixtures/private -- sh\n"
	  "  ringfence exec --listen 127.0.0.1:5432=/run/postgresql/.s.PGSQL.5432 -- npm test\n" },
	{ 0 },
};

static void notice_no_fence(const struct fence_plan *plan, const char *verb)
{
	if (plan->weaker & FENCE_WEAKER_NO_FENCE)
		fprintf(stderr,
			"[ringfence] NO FENCE: %s without a fence, with all of your rights (--i-accept-no-fence)\n",
			verb);
}

static void notice_limit(const struct fence_result *result)
{
	enum fence_limit limit = result->tripped;

	if (limit == FENCE_LIMIT_COUNT)
		return;

	AUTO_FREE char *value = fence_limit_text(limit, result->limits[limit].value);
	AUTO_FREE char *text = mem_format("the command ran into its limit: %s (%s)",
					  fence_limit_name(limit), value);

	notice(text);
}

static void tell_result(const struct fence_plan *plan, const struct fence_result *result)
{
	for (size_t i = 0; i < result->warnings.count; i++)
		notice(result->warnings.items[i]);
	notice_found(&result->found);
	notice_no_fence(plan, "this command ran");
	notice_limit(result);
	if (result->why[0]) {
		struct error err;

		error_set(&err, "%s", result->why);
		cli_fail(&err);
	}
}

/* Plans and runs, again if the project changed in between (somebody saves a file, a log begins). */
static int plan_and_run(const struct exec_options *asked, struct error *err)
{
	enum { TRIES = 8 };
	struct fence_result result = { 0 };
	int code = 0;

	for (int i = 0; i == 0 || (result.changed && i < TRIES); i++) {
		struct fence_plan plan;

		fence_result_release(&result);
		if (fence_plan_make(&asked->spec, &plan, err) < 0) {
			code = cli_fail(err);
			return report_write_refused(&asked->report, code, err) < 0 ? cli_fail(err)
										   : code;
		}
		if (i == 0) {
			for (size_t k = 0; k < plan.notices.count; k++)
				notice(plan.notices.items[k]);
			notice_no_fence(&plan, "this command runs");
		}
		notice_found(&plan.recovered);
		fence_run(&plan, notice, &result);
		code = result.code;
		if (!result.changed || i == TRIES - 1) {
			tell_result(&plan, &result);
			if (report_write(&asked->report, &plan, &result, err) < 0)
				code = cli_fail(err);
		}
		fence_plan_release(&plan);
	}
	fence_result_release(&result);
	return code;
}

static int load_and_run(struct exec_options *asked, struct error *err)
{
	if (apply_load(asked->spec.project, &asked->place, &asked->config, err) < 0 ||
	    apply_config(&asked->config, &asked->spec, err) < 0) {
		int code = apply_fail(&asked->config, err);

		return report_write_refused(&asked->report, code, err) < 0 ? cli_fail(err) : code;
	}
	fence_enter_scope(&asked->spec);
	notice_config(&asked->config);
	asked->spec.place = &asked->place;
	return plan_and_run(asked, err);
}

static int run_exec(const struct command *command, char **argv)
{
	struct exec_options asked = { .report = REPORT_INIT };
	struct error err;
	bool help = false;
	int code;

	config_init(&asked.config);
	asked.spec.command = cli_parse(command, argv, &asked, &help, &err);
	if (help) {
		code = cli_print_help(command);
	} else if (!asked.spec.command) {
		code = cli_fail(&err);
	} else if (!asked.spec.command[0]) {
		error_set(
			&err,
			"exec needs a command: ringfence exec -- COMMAND (ringfence exec --help)");
		code = cli_fail(&err);
	} else if (asked.report_path && report_open(&asked.report, asked.report_path, &err) < 0) {
		code = cli_fail(&err);
	} else {
		code = load_and_run(&asked, &err);
	}
	report_release(&asked.report);
	fence_spec_release(&asked.spec);
	fence_place_release(&asked.place);
	config_release(&asked.config);
	return code;
}

const struct command cmd_exec = {
	.name = "exec",
	.args = "[options] [--] COMMAND [ARGUMENT...]",
	.help = "run one command in the fence",
	.about =
		"Runs a command where it can change only the project and reach nothing else: no network, no home, no keys, no "
		"other process. What it plants for the host to run later (git hooks, editor and agent settings) is taken out of the "
		"project afterwards and kept in quarantine.",
	.options = options,
	.set = take_setting,
	.sections = sections,
	.run = run_exec,
};
