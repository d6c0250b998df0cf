/* ringfence exec and ringfence shell: run one command in the fence. */
#include "cli/cli.h"
#include "cli/drafts.h"
#include "cli/output_file.h"
#include "cli/short_id.h"
#include "cli/view/cost_text.h"
#include "cli/view/notice.h"
#include "fence/fence.h"
#include "fenced/fenced.h"
#include "loop/client.h"
#include "ops/op_draft.h"
#include "settings/effective.h"
#include "settings/effective_models.h"
#include "settings/hint.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct exec_options {
	struct effective effective;
	const char *report_path;
	struct output_file report;
	bool no_fence;
	bool draft;
	const char *in;
};

_Static_assert(offsetof(struct exec_options, effective) == 0,
	       "effective_set() needs it to be the first member");

static const struct cli_option options[] = {
	OPTION_PROJECT(struct exec_options, effective.spec.project),
	OPTION_TEXT("cwd", "DIR", "start in this folder, which must be in the project",
		    struct exec_options, effective.spec.cwd),
	OPTION_TEXT("report", "FILE", "write a report of the run as JSON", struct exec_options,
		    report_path),
	OPTION_FLAG("draft", "rehearse: changes to the project go to a new draft",
		    struct exec_options, draft),
	OPTION_TEXT("in", "DRAFT", "rehearse in this draft, or in that of a loop",
		    struct exec_options, in),
	OPTION_FLAG("i-accept-no-fence", "run WITHOUT any fence", struct exec_options, no_fence),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS",
	  "  the command's own; 128+N  signal N; 123  a limit, which is named; 124  time\n"
	  "  125  refused, or no fence; 126, 127  not executable, or not found\n" },
	{ "EXAMPLES",
	  "  ringfence exec -- make test\n"
	  "  ringfence exec --read ~/.cargo/registry -- cargo test --offline\n"
	  "  ringfence exec --models auto --budget 5 -- claude -p \"Explain main.c\"\n" },
	{ 0 },
};

/* The settings of models count if the command uses them (--models). */
static bool has_setting(const struct setting *setting)
{
	return !setting->loop_only || setting->id == SETTING_MODELS ||
	       effective_models_uses(setting);
}

/* Refuses --models if the command would run without access to models. */
static int check_models(const struct effective *effective, struct error *err)
{
	const struct config_value *wanted = config_get(&effective->config, SETTING_MODELS);
	const struct fence_spec *spec = &effective->spec;

	if (wanted->layer != CONFIG_FLAG || !wanted->number || model_access_is_set(&spec->models))
		return 0;
	if (spec->net == FENCE_NET_OPEN || spec->accepted_weaker & FENCE_WEAKER_NO_FENCE)
		return error_set(err,
				 "--models needs the network of the fence: remove --net open and "
				 "--i-accept-no-fence (without a fence: ringfence gateway -- "
				 "COMMAND)");
	return effective_models_refuse(err);
}

static void notice_no_fence(const struct fence_plan *plan, const char *verb)
{
	if (plan->weaker & FENCE_WEAKER_NO_FENCE)
		notice_format(
			"NO FENCE: %s without a fence, with all your rights (--i-accept-no-fence)",
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

/* Returns a hint for a command that is not executable, or NULL. */
static char *hint_executable(const struct fence_plan *plan)
{
	const char *name = plan->spec->command[0];
	AUTO_FREE char *path = path_absolute(name, plan->cwd);
	struct stat status;

	if (!strchr(name, '/') || stat(path, &status) < 0)
		return NULL;
	if (S_ISDIR(status.st_mode))
		return mem_dup(" (it is a folder)");
	if (status.st_mode & 0111)
		return NULL;
	return mem_format(" (chmod +x %s, or: sh %s)", name, name);
}

static char *hint_found(const struct fence_plan *plan)
{
	AUTO_FREE char *read = NULL;
	AUTO_FREE char *path = hint_hidden(plan, plan->spec->command[0], &read);

	return path ? mem_format(
			      " (it is at %s on the host, which is not visible in the fence: --read %s)",
			      path, read)
		    : NULL;
}

/* Returns a hint if the disk of the state folder is full, or NULL. */
static char *hint_full(const struct fence_plan *plan)
{
	struct statvfs disk;

	if (statvfs(plan->state, &disk) < 0 || disk.f_bavail)
		return NULL;
	return mem_format(" (the disk of '%s' is full: free some space; ringfence clean --older 7d "
			  "--all removes old loops)",
			  plan->state);
}

static void report_failure(const struct fence_plan *plan, const struct fence_result *result)
{
	AUTO_FREE char *hint = result->code == FENCE_EXIT_NOT_EXECUTABLE ? hint_executable(plan)
			       : result->code == FENCE_EXIT_NOT_FOUND    ? hint_found(plan)
			       : result->code == FENCE_EXIT_NOT_SET_UP   ? hint_full(plan)
									 : NULL;
	struct error err;

	error_set(&err, "%s%s", result->why, hint ? hint : "");
	cli_fail(&err);
}

/* Says how a command can commit, if this one failed because .git is read-only. */
static void notice_git(const struct fence_result *result)
{
	for (size_t i = 0; result->code && i < result->denials.count; i++) {
		const char *target = result->denials.items[i].target;
		size_t size = strlen(target);

		if (!strstr(target, "/.git/") || size < 5 ||
		    strcmp(target + size - 5, ".lock") != 0)
			continue;
		notice("exec cannot commit: .git is read-only, because this machine runs what is in "
		       "it; in a loop, a command can: ringfence run \"OBJECTIVE\" --agent-command "
		       "'COMMAND' -m 1");
		return;
	}
}

static void report_result(const struct fence_plan *plan, const struct fence_result *result)
{
	for (size_t i = 0; i < result->warnings.count; i++)
		notice(result->warnings.items[i]);
	for (size_t i = 0; i < result->host_count; i++)
		if (strcmp(result->hosts[i].verdict, "failed") == 0)
			notice_format(
				"%s:%u is allowed, but could not be reached from this machine",
				result->hosts[i].host, result->hosts[i].port);
	notice_found(&result->found, plan->project);
	notice_no_fence(plan, "this command ran");
	notice_limit(result);
	notice_git(result);
	if (result->why[0])
		report_failure(plan, result);
}

static void report_plan(const struct fence_plan *plan, bool first)
{
	for (size_t i = 0; first && i < plan->notices.count; i++)
		notice(plan->notices.items[i]);
	if (first)
		notice_no_fence(plan, "this command runs");
	notice_found(&plan->recovered, plan->project);
}

static void report_before(const struct fence_plan *plan)
{
	notice_found(&plan->recovered, plan->project);
}

/* Reports a finished run, and returns the exit status. */
static int finish(const struct output_file *report, const struct fenced *run, struct error *err)
{
	AUTO_BUFFER struct buffer json = BUFFER_INIT(64 << 20);
	int code = run->result.code;

	if (run->planned)
		report_result(&run->plan, &run->result);
	else
		cli_fail(err);
	fenced_report(run, true, &json);
	if (output_file_write(report, &json, err) < 0)
		code = cli_fail(err);
	if (run->metered)
		cost_text_print(&run->news);
	return code;
}

/* Opens the draft that the command runs in, if there is one already. */
static int open_draft(const struct exec_options *opts, struct effective *effective,
		      struct draft_record *record, struct error *err)
{
	struct list kept = { 0 };
	const char *id;
	int result;

	if (!opts->in)
		return 0;
	id = short_id_resolve(&effective->place, opts->in, &kept, err);
	result = id ? drafts_open(id, effective, record, err) : -1;
	list_release(&kept);
	if (result < 0 ||
	    op_draft_show_git(effective->place.state, record, &effective->spec, err) < 0)
		return -1;
	if (record->lock < 0)
		notice_format("loop %s is running, so its draft can only be read", record->id);
	return 0;
}

/* Saves the result in a draft, or removes a new one in which nothing ran. Returns the exit status.
 */
static int leave_draft(const struct exec_options *opts, struct drafts_making *making,
		       bool run_started, const struct drafts_run *ended, struct error *err)
{
	const char *state = opts->effective.place.state;
	struct draft_record *record = &making->new.record;

	if (opts->draft && !run_started)
		op_draft_new_abandon(&making->new, state);
	else if (record->lock >= 0 && (run_started || !record->of_loop))
		return drafts_leave(state, record, ended, err);
	return ended->code;
}

static int load_and_run(struct exec_options *opts, struct error *err)
{
	struct effective *effective = &opts->effective;
	AUTO_FREE char *folder = NULL;
	AUTO_FREE char *day = NULL;
	struct ledger_options ledger = { 0 };
	struct drafts_making draft = { .effective = effective, .new = OP_DRAFT_NEW_INIT };
	const struct fenced_making making = { drafts_begin, drafts_wait, drafts_make, &draft };
	struct draft_record *record = &draft.new.record;
	struct drafts_run ended;
	bool run_started;
	struct fenced run;
	int code;

	if (opts->no_fence)
		effective->spec.accepted_weaker |= FENCE_WEAKER_NO_FENCE;
	if (effective_spec(effective, err) < 0) {
		code = cli_fail_config(&effective->config, err);
		return output_file_write_refused(&opts->report, code, err) < 0 ? cli_fail(err)
									       : code;
	}
	if (check_models(effective, err) < 0)
		return cli_fail(err);
	fence_enter_scope(&effective->place, &effective->spec);
	if (effective->spec.net == FENCE_NET_LIST && model_access_is_set(&effective->spec.models) &&
	    effective_models_ledger(effective, &ledger, &folder, &day, err) < 0)
		return cli_fail(err);
	notice_config(&effective->config, notice_is_general);
	notice_part(effective);
	if (open_draft(opts, effective, record, err) < 0)
		return cli_fail(err);
	fenced_run(&(struct fenced_request){ .spec = &effective->spec,
					     .ledger = &ledger,
					     .draft = record->layers,
					     .making = opts->draft ? &making : NULL,
					     .draft_read_only = opts->in && record->lock < 0,
					     .before = report_before,
					     .planned = report_plan,
					     .notice = notice },
		   &run, err);
	ended.code = finish(&opts->report, &run, err);
	run_started = run.planned;
	drafts_hosts(&run.result, &ended.refused);
	fenced_release(&run);
	code = leave_draft(opts, &draft, run_started, &ended, err);
	draft_record_release(record);
	fence_covers_release(&effective->spec.covers);
	list_release(&ended.refused);
	return code;
}

static int run_exec(const struct cli_command *command, char **argv)
{
	struct exec_options opts = { .report = OUTPUT_FILE_INIT };
	struct error err;
	char **rest;
	int code;

	effective_init(&opts.effective);
	rest = cli_parse(command, argv, &opts, &code);
	opts.effective.spec.command = rest;
	if (rest && !*rest) {
		error_set(
			&err,
			"exec needs a command: ringfence exec -- COMMAND (ringfence exec --help)");
		code = cli_fail(&err);
	} else if (rest && opts.draft && opts.in) {
		error_set(&err,
			  "use --draft or --in, not both: --draft makes a new draft, and --in "
			  "continues one");
		code = cli_fail(&err);
	} else if (rest && opts.report_path &&
		   output_file_open(&opts.report, opts.report_path, &err) < 0) {
		code = cli_fail(&err);
	} else if (rest) {
		code = load_and_run(&opts, &err);
	}
	output_file_release(&opts.report);
	effective_release(&opts.effective);
	return code;
}

const struct cli_command cmd_exec = {
	.name = "exec",
	.args = "[options] [--] COMMAND [ARGUMENT...]",
	.max_args = CLI_ANY,
	.summary = "run one command in the fence",
	.description =
		"Runs a command that can change only the project, without network, home and keys. New files "
		"that the host would run (git hooks, editor tasks) go to quarantine.",
	.options = options,
	.set = effective_set,
	.has_setting = has_setting,
	.sections = sections,
	.run = run_exec,
};

/* ---- ringfence shell ---- */

static const struct cli_option shell_options[] = {
	OPTION_PROJECT(struct exec_options, effective.spec.project),
	{ 0 },
};

static const struct cli_section shell_sections[] = {
	{ "EXAMPLES",
	  "  ringfence shell                          in the newest loop of the project\n"
	  "  ringfence exec --in LOOP -- git log -3   one command, in scripts\n" },
	{ 0 },
};

/* Returns the id of the project's newest loop, which the caller frees, or NULL with err set. */
static char *find_newest(const char *project, struct error *err)
{
	struct fence_place place;
	struct client_loop loop = { 0 };
	char *id = NULL;

	if (fence_place_find(project, &place, err) < 0)
		return NULL;
	if (client_find(place.state, NULL, place.project, &loop, err) == 0)
		id = mem_dup(loop.id);
	client_loop_release(&loop);
	fence_place_release(&place);
	return id;
}

static int open_shell(struct exec_options *opts, const char *id, struct error *err)
{
	const char *shell = env_get("SHELL");
	char *command[] = { (char *)(shell && *shell == '/' ? shell : "/bin/sh"), NULL };
	AUTO_FREE char *newest = id ? NULL : find_newest(opts->effective.spec.project, err);

	if (!id && !newest)
		return cli_fail(err);
	opts->in = id ? id : newest;
	opts->effective.spec.command = command;
	return load_and_run(opts, err);
}

static int run_shell(const struct cli_command *command, char **argv)
{
	struct exec_options opts = { .report = OUTPUT_FILE_INIT };
	struct error err;
	char **rest;
	int code;

	effective_init(&opts.effective);
	rest = cli_parse(command, argv, &opts, &code);
	if (rest && !isatty(0)) {
		error_set(&err, "shell needs a terminal (in scripts: ringfence exec --in LOOP -- "
				"COMMAND)");
		code = cli_fail(&err);
	} else if (rest) {
		code = open_shell(&opts, rest[0], &err);
	}
	effective_release(&opts.effective);
	return code;
}

const struct cli_command cmd_shell = {
	.name = "shell",
	.args = "[options] [LOOP]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "open a shell in the draft of a loop, in its fence",
	.description =
		"Opens your shell where the agent of the loop works: at the project's path, with the "
		"loop's changes and its git directory, in a fence with your settings. Use it to look "
		"around, and to fix something by hand; ringfence apply takes that over with the rest. "
		"While the loop is running, everything can only be read. LOOP may also be a draft of "
		"ringfence exec --draft.",
	.options = shell_options,
	.set = effective_set,
	.has_setting = has_setting,
	.sections = shell_sections,
	.run = run_shell,
};
