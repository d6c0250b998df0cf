/* ringfence land: bring the result of a loop or a batch to a forge. */
#include "cli/confirm.h"
#include "cli/loops.h"
#include "cli/view/follow.h"
#include "cli/view/interrupt.h"
#include "cli/view/land_text.h"
#include "cli/view/notice.h"
#include "land/land_wait.h"
#include "ops/op_land.h"
#include "settings/effective.h"
#include "settings/loop_limits.h"
#include "util/clock.h"
#include "util/env.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	CI_FAILED = 1, /* also: declined */
	CI_LATE = 2,
	LOOP_STOPPED = 3,
	MOST_FIXES = 20,
};

struct land_options {
	struct effective effective; /* first: effective_set() finds it here */
	const char *remote, *into, *forge, *api, *ci_timeout, *fix;
	bool unfinished, dry, json, no_wait, merge;
	bool yes, yes_executed, yes_ci, yes_pinned, yes_secrets;
	json_t *changes; /* limits for a loop that is resumed */
};

static const struct cli_option options[] = {
	OPTION_TEXT("remote", "REMOTE", "push to this remote (default: as git would choose)",
		    struct land_options, remote),
	OPTION_TEXT("into", "BRANCH", "the branch to merge into (default: the default branch)",
		    struct land_options, into),
	OPTION_FLAG("no-wait", "do not wait for CI", struct land_options, no_wait),
	OPTION_TEXT("ci-timeout", "DURATION", "wait this long for CI (default 1h)",
		    struct land_options, ci_timeout),
	OPTION_TEXT("fix", "NUMBER",
		    "if CI fails, let the loop work on it with the logs, so many times (default 0)",
		    struct land_options, fix),
	OPTION_FLAG("merge", "merge the request when CI has passed", struct land_options, merge),
	OPTION_FLAG("unfinished", "also land work that is not completed, as a draft",
		    struct land_options, unfinished),
	OPTION_FLAG("dry-run", "change nothing; show what would be pushed, and the request",
		    struct land_options, dry),
	OPTION_TEXT("forge", "FORGE",
		    "github, gitlab or gitea, where the host does not tell; gh: use only gh",
		    struct land_options, forge),
	OPTION_TEXT("api", "URL", "the URL of the forge's API", struct land_options, api),
	OPTION_FLAG("yes", "a yes to all files that CI or other machines run, and to pinned files",
		    struct land_options, yes),
	OPTION_FLAG("yes-executed", "a yes to the files that machines execute unasked",
		    struct land_options, yes_executed),
	OPTION_FLAG("yes-ci", "a yes to the files that CI runs", struct land_options, yes_ci),
	OPTION_FLAG("yes-pinned", "a yes to the pinned files that the agent changed",
		    struct land_options, yes_pinned),
	OPTION_FLAG("yes-secrets", "a yes to what looks like credentials", struct land_options,
		    yes_secrets),
	OPTION_JSON(struct land_options, json),
	OPTION_PROJECT(struct land_options, effective.spec.project),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS",
	  "  0    landed, and CI has passed; or there is none, or nobody waited\n"
	  "  1    landed, and CI has failed; or you declined, and nothing was pushed\n"
	  "  2    landed, and CI has not ended in time\n"
	  "  3    the loop that worked on CI's failure was not completed\n"
	  "  125  refused, or a step failed; the reason is printed\n" },
	{ "EXAMPLES", "  ringfence land --dry-run\n"
		      "  ringfence land\n"
		      "  ringfence land 20260102-030405-abcd --fix 2 --merge\n"
		      "  ringfence land --unfinished --no-wait\n" },
	{ 0 },
};

static bool has_setting(const struct setting *setting)
{
	return setting->id == SETTING_FORGE_TOKEN || loop_limits_has(setting);
}

static int set(void *options_, const struct setting *setting, const char *value, struct error *err)
{
	struct land_options *opts = options_;
	struct error wrong;
	uint64_t number;

	if (!loop_limits_has(setting))
		return effective_set(&opts->effective, setting, value, err);
	if (setting_parse(setting, value, &number, &wrong) < 0)
		return error_set(err, "--%s", wrong.text);
	loop_limits_set(opts->changes, setting, number);
	return 0;
}

/* ---- output ---- */

/* A line for people, or an object for programs. Takes ownership of both. */
static void say(const struct land_options *opts, char *text, json_t *object)
{
	if (opts->json) {
		loops_print_line(object);
	} else {
		fputs(text, stdout);
		fflush(stdout);
		json_decref(object);
	}
	free(text);
}

static void sleep_ms(uint64_t ms)
{
	const struct timespec time = { .tv_sec = (time_t)(ms / 1000),
				       .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&time, NULL);
}

static void wait_for(void *context, uint64_t ms, const char *why)
{
	(void)context;
	notice_format("waiting %" PRIu64 " s: %s", (ms + 999) / 1000, why);
	sleep_ms(ms);
}

/* ---- asking ---- */

static void show(const struct op_question *question)
{
	for (size_t i = 0; i < question->count; i++)
		notice_format("%s: %s", question->items[i].name, question->items[i].why);
}

/* Returns 0 for yes, or the exit status. */
static int ask(const struct land_options *opts, const struct op_land_result *result,
	       char token[SHA256_HEX], struct op_land_request *request, struct error *err)
{
	const struct op_question *question = &result->question;
	struct error unused;

	show(question);
	if (!opts->json && confirm_possible("use --yes", &unused)) {
		if (confirm_answer(question, token, &request->answer))
			return 0;
		puts("nothing was pushed");
		return CI_FAILED;
	}
	error_set(err,
		  "%zu path%s a yes before CI or others get %s: review %s (git diff "
		  "HEAD...ringfence/%s), then use --yes-ci, --yes-executed, --yes-pinned or --yes",
		  question->count, question->count == 1 ? " needs" : "s need",
		  question->count == 1 ? "it" : "them", question->count == 1 ? "it" : "them",
		  result->loop.id);
	return cli_fail(err);
}

/* ---- CI ---- */

/* Reports a state that differs from the last one, which is *said. Returns whether it does. */
static bool report_ci(const struct land_options *opts, const struct land_ci *ci, char **said)
{
	AUTO_FREE char *line = ci->count ? land_text_ci(ci) : mem_dup("");

	if (*said && strcmp(*said, line) == 0)
		return false;
	if (ci->count)
		say(opts, mem_format("%s\n", line), land_text_ci_json(ci));
	else if (!*said)
		notice("waiting for CI to begin (--no-wait does not)");
	free(*said);
	*said = mem_dup(line);
	return true;
}

/* Waits until all jobs have ended. Returns 0 with *ret_ci, or the exit status. */
static int wait_for_ci(const struct land_options *opts, struct op_land_result *result,
		       uint64_t most_ms, struct land_ci *ret_ci, struct error *err)
{
	AUTO_FREE char *said = NULL;
	struct land_wait wait;

	land_wait_begin(&wait, clock_steady_ms(), most_ms, opts->merge);
	for (;;) {
		enum land_wait_step step;
		uint64_t pause_ms;
		bool changed;

		if (op_failed(op_land_ci(result, ret_ci, err)))
			return cli_fail(err);
		changed = report_ci(opts, ret_ci, &said);
		step = land_wait_next(&wait, ret_ci, changed, clock_steady_ms(), &pause_ms);
		if (step == LAND_WAIT_OVER)
			return 0;
		land_ci_release(ret_ci);
		if (step == LAND_WAIT_LATE) {
			notice("CI has not ended in time (to wait on: ringfence land)");
			return CI_LATE;
		}
		sleep_ms(pause_ms);
	}
}

/* ---- after CI ---- */

static int merge(const struct land_options *opts, struct op_land_result *result, bool passed,
		 struct error *err)
{
	if (!opts->merge)
		return 0;
	if (!passed) {
		error_with(err, ERROR_REFUSED,
			   "no CI ran for %.10s, so the %s is not merged: --merge needs CI that "
			   "has passed",
			   result->commit, result->client.forge->request);
		return cli_fail(err);
	}
	if (op_failed(op_land_merge(result, err)))
		return cli_fail(err);
	say(opts, mem_format("merged: %s\n", result->request.url), land_text_json(result));
	return 0;
}

static void print_logs(const struct land_options *opts, const char *logs)
{
	if (opts->json)
		loops_print_line(json_pack("{s:s, s:s}", "event", "logs", "text", logs));
	else
		printf("%s\n", logs);
}

/* Lets the loop work on the failure. Returns 0 when it is completed, or the exit status. */
static int fix(const struct land_options *opts, const struct op_land_request *request,
	       struct op_land_result *result, const char *logs, struct error *err)
{
	struct follow_options how = { .json = opts->json };
	enum op_status status = op_land_fix(request, result, logs, &how.after, err);
	int code;

	if (op_failed(status))
		return cli_fail(err);
	if (!opts->json)
		printf("loop %s works on the failure of CI\n", result->loop.id);
	fflush(stdout);
	client_refresh(&result->loop);
	code = follow_loop(&result->loop, &how);
	interrupt_release();
	return code == LOOPS_COMPLETED ? 0 : LOOP_STOPPED;
}

/* ---- the whole ---- */

/* Returns 0 with the result, or the exit status; *ret_over for a dry run. */
static int land(const struct land_options *opts, struct op_land_request *request,
		struct op_land_result *ret_result, bool *ret_over, struct error *err)
{
	char token[SHA256_HEX];

	for (;;) {
		enum op_status status = op_land(request, ret_result, err);
		int code = 0;

		if (status == OP_ASKS)
			code = ask(opts, ret_result, token, request, err);
		else if (op_failed(status) || ret_result->secrets.count)
			show(&ret_result->secrets);
		if (op_failed(status))
			code = cli_fail(err);
		if (status == OP_UNCHANGED) {
			*ret_over = true;
			show(&ret_result->question);
			say(opts, land_text_preview(ret_result), land_text_json(ret_result));
		}
		if (status == OP_DONE)
			say(opts, land_text_result(ret_result), land_text_json(ret_result));
		if (status != OP_ASKS || code)
			return code;
		op_land_release(ret_result);
	}
}

/* The state of all rounds. */
struct rounds {
	uint64_t ci_ms;           /* how long CI may take */
	uint64_t fixes;           /* how often the loop may still work on a failure */
	char failed[LAND_COMMIT]; /* the commit that CI has failed for */
	bool again;               /* there is something to land again */
};

/* Is this the commit for which CI has failed already? Nothing would be different. */
static bool is_known(const struct rounds *rounds, const struct op_land_result *result)
{
	if (strcmp(rounds->failed, result->commit) != 0)
		return false;
	notice("the loop has committed nothing new, and CI has failed for what is there");
	return true;
}

/* CI has failed: prints the logs, and lets the loop work on them if it may. Returns the exit
 * status. */
static int take_failure(const struct land_options *opts, const struct op_land_request *request,
			struct op_land_result *result, const struct land_ci *ci,
			struct rounds *rounds, struct error *err)
{
	AUTO_FREE char *logs = op_land_logs(result, ci);
	int code;

	print_logs(opts, logs);
	if (!rounds->fixes)
		return CI_FAILED;
	rounds->fixes--;
	memcpy(rounds->failed, result->commit, sizeof rounds->failed);
	code = fix(opts, request, result, logs, err);
	rounds->again = code == 0;
	return code;
}

/* One round: lands, waits for CI, and merges or lets the loop work on it. Returns the exit
 * status. */
static int go_round(const struct land_options *opts, struct op_land_request *request,
		    struct rounds *rounds, struct error *err)
{
	struct op_land_result result;
	struct land_ci ci = { 0 };
	bool over = false;
	int code = land(opts, request, &result, &over, err);

	rounds->again = false;
	if (code == 0 && !over && !opts->no_wait && result.request.url) {
		code = is_known(rounds, &result)
			       ? CI_FAILED
			       : wait_for_ci(opts, &result, rounds->ci_ms, &ci, err);
		if (code == 0 && !ci.count)
			notice("no CI runs for this commit");
		if (code == 0 && ci.count && land_ci_state(&ci) == LAND_CI_FAILED)
			code = take_failure(opts, request, &result, &ci, rounds, err);
		else if (code == 0)
			code = merge(opts, &result, ci.count > 0, err);
	}
	land_ci_release(&ci);
	op_land_release(&result);
	return code;
}

static int read_token(const struct land_options *opts, struct key_source *ret_token,
		      struct error *err)
{
	const char *text = config_text(&opts->effective.config, SETTING_FORGE_TOKEN);
	const char *rest = text ? text_after_prefix(text, "file:~/") : NULL;
	AUTO_FREE char *whole = rest   ? mem_format("file:%s/%s", env_home(), rest)
				: text ? mem_dup(text)
				       : NULL;
	struct error why;

	if (whole && key_source_parse(whole, ret_token, &why) < 0)
		return error_set(err, "forge-token: %s", why.text);
	return 0;
}

static int read_numbers(const struct land_options *opts, struct rounds *ret_rounds,
			struct error *err)
{
	uint64_t *ret_ms = &ret_rounds->ci_ms;
	uint64_t *ret_fixes = &ret_rounds->fixes;

	*ret_rounds = (struct rounds){ .ci_ms = 3600000 };
	if (opts->ci_timeout && text_duration_ms(opts->ci_timeout, ret_ms) < 0)
		return error_set(err, "--ci-timeout '%.50s' is not a duration such as 30m",
				 opts->ci_timeout);
	if (opts->fix && strcmp(opts->fix, "0") != 0 &&
	    (text_count(opts->fix, ret_fixes) < 0 || *ret_fixes > MOST_FIXES))
		return error_set(err, "--fix '%.50s' is not a number up to %d", opts->fix,
				 MOST_FIXES);
	if ((opts->merge || *ret_fixes) && opts->no_wait)
		return error_set(err, "--merge and --fix need to wait for CI: use them without "
				      "--no-wait");
	if (opts->forge && strcmp(opts->forge, "gh") != 0 &&
	    land_forge_named(opts->forge) == LAND_KIND_UNKNOWN)
		return error_set(err, "--forge '%.50s': it is github, gitlab, gitea or gh",
				 opts->forge);
	return 0;
}

static int run_rounds(const struct land_options *opts, const char *id, struct error *err)
{
	const struct fence_place *place = &opts->effective.place;
	struct op_land_request request = {
		.state = place->state,
		.project = place->project,
		.id = id,
		.remote = opts->remote,
		.into = opts->into,
		.forge = opts->forge,
		.api = opts->api,
		.unfinished = opts->unfinished,
		.secrets = opts->yes_secrets,
		.yes = { [PATH_GROUP_EXECUTED] = opts->yes_executed,
			 [PATH_GROUP_CI] = opts->yes_ci,
			 [PATH_GROUP_PINNED] = opts->yes_pinned },
		.answer.to_all = opts->yes,
		.dry = opts->dry,
		.asks = !opts->json && isatty(STDIN_FILENO) && isatty(STDERR_FILENO),
		.wait = wait_for,
		.changes = opts->changes,
		.before = loops_prepare,
		.before_context = place,
	};
	struct rounds rounds;
	int code;

	if (read_numbers(opts, &rounds, err) < 0 || read_token(opts, &request.token, err) < 0)
		return cli_fail(err);
	do
		code = go_round(opts, &request, &rounds, err);
	while (rounds.again);
	key_source_release(&request.token);
	return code ? code : cli_flush();
}

static int land_argument(struct land_options *opts, char **rest, struct error *err)
{
	struct loops_options loops = { .place = opts->effective.place, .rest = rest };
	const char *id = rest[0];
	int code = loops_resolve(&loops, &id, err) < 0 ? cli_fail(err) : run_rounds(opts, id, err);

	list_release(&loops.words);
	return code;
}

static int run_land(const struct cli_command *command, char **argv)
{
	struct land_options opts = { .changes = json_object() };
	struct error err;
	int code;
	char **rest;

	effective_init(&opts.effective);
	rest = cli_parse(command, argv, &opts, &code);
	if (rest)
		code = effective_load(&opts.effective, &err) < 0
			       ? cli_fail_config(&opts.effective.config, &err)
			       : land_argument(&opts, rest, &err);
	effective_release(&opts.effective);
	json_decref(opts.changes);
	return code;
}

const struct cli_command cmd_land = {
	.name = "land",
	.args = "[options] [LOOP|BATCH]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "push a result, and open a pull request for it",
	.description =
		"Pushes the commits of a completed loop as the branch ringfence/LOOP with your own git, "
		"and opens a pull request (GitHub, Gitea) or a merge request (GitLab), or updates the one "
		"that is open. It says what was checked, what it cost and what was found. Then waits for "
		"CI. Nothing is merged without --merge. If land is interrupted, do it again.",
	.options = options,
	.set = set,
	.has_setting = has_setting,
	.settings_of = "run",
	.sections = sections,
	.run = run_land,
};
