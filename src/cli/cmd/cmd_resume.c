/* ringfence resume and ringfence answer: continue a loop where it stopped. */
#include "alert/alert.h"
#include "batch/batch_client.h"
#include "cli/loops.h"
#include "cli/message.h"
#include "cli/view/follow.h"
#include "cli/view/notice.h"
#include "ops/op_resume.h"
#include "settings/loop_limits.h"
#include "settings/prices.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>

static bool has_setting(const struct setting *setting)
{
	return loop_limits_has(setting) || setting->id == SETTING_UNKNOWN_MODEL ||
	       setting->id == SETTING_PROVIDER_TOOLS || setting->id == SETTING_UNPIN ||
	       setting->id == SETTING_ALERT;
}

/* The changes to the access to models, named as in models_json.h. */
static json_t *model_changes(json_t *changes)
{
	json_t *models = json_object_get(changes, "models");

	if (models)
		return models;
	json_object_set_new(changes, "models", json_object());
	return json_object_get(changes, "models");
}

/* Appends a text to a list, which is made if needed. */
static void add_text(json_t *changes, const char *key, const char *text)
{
	json_t *list = json_object_get(changes, key);

	if (!list) {
		json_object_set_new(changes, key, json_array());
		list = json_object_get(changes, key);
	}
	json_array_append_new(list, json_string(text));
}

static int change(void *options, const struct setting *setting, const char *value,
		  struct error *err)
{
	struct loops_options *opts = options;
	struct alert_settings alerts = { 0 };
	struct error wrong;
	uint64_t number;

	if (setting_parse(setting, value, &number, &wrong) < 0)
		return error_set(err, "--%s", wrong.text);
	if (setting->id == SETTING_ALERT && alert_change(&alerts, value, &wrong) < 0)
		return error_set(err, "--%s: %s", setting->key, wrong.text);
	if (setting->id == SETTING_UNKNOWN_MODEL)
		json_object_set_new(model_changes(opts->changes), "refuse_unknown",
				    json_boolean(number == 0));
	else if (setting->id == SETTING_PROVIDER_TOOLS)
		add_text(model_changes(opts->changes), "provider_tools", value);
	else if (setting->id == SETTING_UNPIN || setting->id == SETTING_ALERT)
		add_text(opts->changes, setting->key, value);
	else
		loop_limits_set(opts->changes, setting, number);
	return 0;
}

static const struct cli_option options[] = {
	OPTION_FLAG("all", "continue all your interrupted loops and batches, as after a reboot",
		    struct loops_options, all),
	OPTION_FLAG("accept-findings",
		    "accept all signs that the changes weaken the checks (see diff --findings)",
		    struct loops_options, accept_findings),
	OPTION_FLAG("next-phase", "go on with the next phase, although this one is not over",
		    struct loops_options, next_phase),
	OPTION_FLAG("follow",
		    "stay in the foreground, as run does; also attaches to a running loop (-f)",
		    struct loops_options, follow),
	OPTION_FLAG("quiet", "with --follow, print only how the loop ends (-q)",
		    struct loops_options, quiet),
	OPTION_FLAG("verbose", "with --follow, name everything that the fence denies (-v)",
		    struct loops_options, verbose),
	FOLLOW_HEARTBEAT(struct loops_options, heartbeat),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_option answer_options[] = {
	OPTION_FLAG("follow", "stay in the foreground, as run does (-f)", struct loops_options,
		    follow),
	OPTION_FLAG("quiet", "with --follow, print only how the loop ends (-q)",
		    struct loops_options, quiet),
	OPTION_FLAG("verbose", "with --follow, name everything that the fence denies (-v)",
		    struct loops_options, verbose),
	FOLLOW_HEARTBEAT(struct loops_options, heartbeat),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_alias answer_aliases[] = {
	{ "-f", "--follow" },
	{ "-q", "--quiet" },
	{ "-v", "--verbose" },
	{ 0 },
};

static const struct cli_section answer_sections[] = {
	{ "EXAMPLES", "  ringfence answer \"The token is in ci/token now\"\n" },
	{ 0 },
};

static const struct cli_alias aliases[] = {
	{ "-m", "--max-iterations" },
	{ "-f", "--follow" },
	{ "-q", "--quiet" },
	{ "-v", "--verbose" },
	{ "--no-pause-on-warning", "--pause-on-warning=false" },
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", "  0    the loop continues\n  125  refused; the reason is printed\n"
			 "  With --follow: as ringfence run.\n" },
	{ 0 },
};

/* Reads the user's prices again: a loop that paused because of a missing one continues with it. */
static int add_prices(const struct loops_options *opts, const struct client_loop *loop,
		      json_t *changes, struct error *err)
{
	AUTO_BUFFER struct buffer own = { 0 };
	struct price_table table;
	json_t *models = json_object_get(loop->state.options.fence, "models");
	json_t *prices;

	if (json_array_size(json_object_get(models, "upstreams")) == 0)
		return 0;
	if (prices_load_with(&opts->place, &table, &own, err) < 0)
		return -1;
	price_table_release(&table);
	prices = own.used > 0 ? json_string(buffer_text(&own)) : json_null();
	if (!json_equal(prices, json_object_get(models, "prices")))
		json_object_set(model_changes(changes), "prices", prices);
	json_decref(prices);
	return 0;
}

/* answer: for an agent that is blocked, or NULL. */
static enum op_status resume_one(const struct loops_options *opts, const struct client_loop *loop,
				 const char *answer, struct op_resume_result *ret_result,
				 struct error *err)
{
	json_t *changes = json_deep_copy(opts->changes);
	const struct op_resume_request request = { .target = { .state = opts->place.state,
							       .loop = loop->id },
						   .changes = changes,
						   .answer = answer,
						   .before = loops_prepare,
						   .context = &opts->place };
	enum op_status status = OP_FAILED;

	if (opts->accept_findings)
		json_object_set_new(changes, "accept_findings", json_true());
	if (opts->next_phase)
		json_object_set_new(changes, "next_phase", json_true());
	*ret_result = (struct op_resume_result){ 0 };
	if (loop->damaged || add_prices(opts, loop, changes, err) == 0)
		status = op_resume(&request, ret_result, err);
	json_decref(changes);
	return status;
}

/* Resumes each interrupted loop; a loop that cannot continue does not stop the others. */
static int resume_each(const struct loops_options *opts, const struct client_loops *all,
		       json_t *list, struct error *err)
{
	int code = 0;

	for (size_t i = 0; i < all->count; i++) {
		struct op_resume_result result;

		if (strcmp(client_status(&all->items[i]), "interrupted") != 0)
			continue;
		if (op_failed(resume_one(opts, &all->items[i], NULL, &result, err)))
			code = cli_fail(err);
		else if (opts->json)
			json_array_append_new(list, client_json(&result.loop));
		else
			printf("loop %s continues\n", result.loop.id);
		op_resume_release(&result);
	}
	return code;
}

/* Continues interrupted batches, which begin the loops that are still to come. */
static int resume_batches(const struct loops_options *opts, json_t *list, struct error *err)
{
	struct batch_clients all;
	json_t *nothing = json_object();
	int code = 0;

	if (batch_client_list(opts->place.state, &all, err) < 0)
		code = cli_fail(err);
	for (size_t i = 0; i < all.count; i++) {
		struct batch_client *batch = &all.items[i];

		if (strcmp(batch_client_status(batch), "interrupted") != 0)
			continue;
		if (batch_client_resume(batch, nothing, err) < 0)
			code = cli_fail(err);
		else if (opts->json)
			json_array_append_new(list, json_string(batch->id));
		else
			printf("batch %s continues\n", batch->id);
	}
	json_decref(nothing);
	batch_clients_release(&all);
	return code;
}

static int resume_all(const struct loops_options *opts, struct error *err)
{
	const struct client_query query = { .newest = 0 }; /* none that has ended */
	json_t *loops = json_array();
	json_t *batches = json_array();
	struct client_loops all = { 0 };
	int code = client_list(opts->place.state, &query, &all, err) < 0
			   ? cli_fail(err)
			   : resume_each(opts, &all, loops, err);
	int other = resume_batches(opts, batches, err);

	if (opts->json)
		loops_print(json_pack("{s:O, s:O}", "loops", loops, "batches", batches));
	json_decref(loops);
	json_decref(batches);
	client_loops_release(&all);
	return code ? code : other ? other : cli_flush();
}

/* Returns whether --follow only attaches to a running loop, without changing anything. */
static bool only_follows(const struct loops_options *opts)
{
	const struct client_loop *loop = &opts->loop;

	return opts->follow && loop->alive && !loop->damaged && !op_resume_has_stopped(loop) &&
	       !json_object_size(opts->changes);
}

/* Reads how the loop is followed. */
static int read_follow(const struct loops_options *opts, struct follow_options *ret_follow,
		       struct error *err)
{
	*ret_follow = (struct follow_options){ .json = opts->json,
					       .quiet = opts->quiet,
					       .verbose = opts->verbose };
	return follow_read(ret_follow, opts->heartbeat, err);
}

static int follow_running(struct loops_options *opts, struct follow_options *follow)
{
	struct client_loop *loop = &opts->loop;

	if (!opts->json && !opts->quiet)
		printf("loop %s is running: iteration %u\n", loop->id, loop->state.iteration);
	fflush(stdout);
	follow->after = loop->state.last_seq;
	return follow_loop(loop, follow);
}

/* Says how a batch goes on that has paused because of this loop. */
static void notice_batch(const struct loops_options *opts, const struct client_loop *loop)
{
	struct batch_client batch;
	struct error none;

	if (batch_client_find(opts->place.state, NULL, loop->state.options.project, &batch, &none) <
	    0)
		return;
	for (size_t i = 0; batch.state.paused && i < batch.state.count; i++)
		if (batch.state.tasks[i].loop && strcmp(batch.state.tasks[i].loop, loop->id) == 0)
			notice_format("its batch is paused (to continue that: ringfence work "
				      "--resume %s)",
				      batch.id);
	batch_client_release(&batch);
}

static int report(const struct loops_options *opts, struct follow_options *follow,
		  struct op_resume_result *result)
{
	AUTO_FREE char *text = mem_format("loop %s continues (to follow it: ringfence logs -f %s)",
					  result->loop.id, result->loop.id);

	notice_batch(opts, &result->loop);
	follow->after = result->seen;
	return opts->follow ? follow_loop(&result->loop, follow)
			    : loops_report(opts, &result->loop, text);
}

static int resume(struct loops_options *opts, struct error *err)
{
	struct op_resume_result result;
	struct follow_options follow;
	int code;

	if (read_follow(opts, &follow, err) < 0)
		return cli_fail(err);
	if (opts->all)
		return resume_all(opts, err);
	if (loops_find(opts, err) < 0)
		return cli_fail(err);
	if (only_follows(opts))
		return follow_running(opts, &follow);
	code = op_failed(resume_one(opts, &opts->loop, NULL, &result, err))
		       ? cli_fail(err)
		       : report(opts, &follow, &result);
	op_resume_release(&result);
	return code;
}

static int run_resume(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, resume);
}

static int answer(struct loops_options *opts, struct error *err)
{
	struct op_target target;
	struct op_resume_result result;
	struct follow_options follow;
	AUTO_FREE char *text = message_read(opts, "answer", &target, err);
	int code;

	if (!text || read_follow(opts, &follow, err) < 0 ||
	    op_find(&target, &opts->loop, err) != OP_DONE)
		return cli_fail(err);
	code = op_failed(resume_one(opts, &opts->loop, text, &result, err))
		       ? cli_fail(err)
		       : report(opts, &follow, &result);
	op_resume_release(&result);
	return code;
}

static int run_answer(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, answer);
}

const struct cli_command cmd_resume = {
	.name = "resume",
	.args = "[--all] [--max-iterations N] [...] [--json] [LOOP]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "continue a paused, interrupted or ended loop",
	.description =
		"Continues where the loop stopped. Iterations, time and cost so far still count; limits "
		"given here replace the old ones, and breakers are reset. An interrupted iteration is "
		"repeated and counts only once.",
	.options = options,
	.aliases = aliases,
	.set = change,
	.has_setting = has_setting,
	.sections = sections,
	.run = run_resume,
};

const struct cli_command cmd_answer = {
	.name = "answer",
	.args = "[--follow] [--json] [LOOP] TEXT|-",
	.max_args = CLI_ANY,
	.options_anywhere = true,
	.summary = "answer an agent that is blocked, and continue",
	.description =
		"Tells the agent of a loop that is paused because it is blocked what you did or decided "
		"(- reads it from stdin), and resumes the loop; as ringfence tell and ringfence resume. If "
		"the loop cannot continue, the answer is not recorded.",
	.options = answer_options,
	.aliases = answer_aliases,
	.sections = answer_sections,
	.run = run_answer,
};
