/* ringfence rollback and ringfence restore: bring back a project, or a part, from a checkpoint. */
#include "cli/checkpoints.h"
#include "cli/confirm.h"
#include "cli/view/notice.h"
#include "ops/op_rollback.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STOP \
	OPTION_FLAG("stop", "if the loop is running, abort it first", struct loops_options, stop)
#define YES OPTION_FLAG("yes", "do not ask", struct loops_options, yes)

static const struct cli_option rollback_options[] = {
	STOP, YES, CHECKPOINTS_LOOP, LOOPS_JSON, LOOPS_PROJECT, { 0 },
};

static const struct cli_option restore_options[] = {
	OPTION_TEXT("from", "N", "use this checkpoint (default: the state before the loop)",
		    struct loops_options, from),
	STOP,
	YES,
	CHECKPOINTS_LOOP,
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section rollback_sections[] = {
	{ "EXAMPLES", "  ringfence rollback --yes       undo everything the loop did\n"
		      "  ringfence rollback 3           go back to checkpoint 3\n" },
	{ 0 },
};

static const struct cli_section restore_sections[] = {
	{ "EXAMPLES", "  ringfence restore src/main.c\n"
		      "  ringfence restore tests --from 3\n" },
	{ 0 },
};

/* Prints how much will change in each file. */
static int show_changes(const struct op_rollback_request *request, const struct client_loop *loop,
			struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	snapshot_begin(&work, "diff", request->target.state, loop->state.options.project, loop->id);
	snapshot_tell_number(&work, "from", request->checkpoint);
	snapshot_tell(&work, "style", "stat");
	snapshot_tell_number(&work, "ignored", loop->state.options.checkpoint_ignored);
	snapshot_tell_number(&work, "terminal", 1);
	if (loop->state.options.draft)
		snapshot_tell(&work, "draft", loop->state.options.draft);
	if (request->path)
		snapshot_tell(&work, "only", request->path);
	printf("since checkpoint %lld:\n", (long long)request->checkpoint);
	fflush(stdout);
	result = snapshot_run(&work, STDOUT_FILENO, &answer, err);
	snapshot_release(&work);
	json_decref(answer);
	return result;
}

static int report_json(const struct op_rollback_result *result)
{
	static const char *const applied[] = {
		[OP_DRAFT_APPLIED_FILES] = "files",
		[OP_DRAFT_APPLIED_COMMITS] = "commits",
	};
	const char *tree = result->loop.state.options.work_tree;

	json_object_set_new(result->details, "id", json_string(result->loop.id));
	json_object_set_new(result->details, "worktree", tree ? client_text(tree) : json_null());
	json_object_set_new(result->details, "applied",
			    result->applied ? json_string(applied[result->applied]) : json_null());
	loops_print(json_incref(result->details));
	return cli_flush();
}

/* Tells what became of the branch of a loop on a draft. */
static void report_branch(const struct op_rollback_result *result)
{
	const struct client_loop *loop = &result->loop;
	const char *commit = loop->state.git_commit;

	if (result->behind)
		notice_format(
			"the branch ringfence/%s does not follow in full: %s (ringfence apply %s "
			"takes over the draft's files)",
			loop->id, result->behind, loop->id);
	else if (loop->state.options.draft && loop->state.step == LOOP_STEP_finished && commit)
		printf("the branch ringfence/%s follows: its last commit is %.10s\n", loop->id,
		       commit);
}

/* Tells what a rollback leaves alone because the user has applied it. */
static void report_applied(const struct op_rollback_result *result)
{
	const struct client_loop *loop = &result->loop;
	const struct loop_options *options = &loop->state.options;

	if (result->applied == OP_DRAFT_APPLIED_FILES)
		printf("what was applied stays in your project (to undo that: ringfence apply --undo "
		       "%s)\n",
		       loop->id);
	else if (result->applied == OP_DRAFT_APPLIED_COMMITS &&
		 (options->draft || options->work_tree))
		printf("your branch keeps the loop's commits (to undo them: git revert, or git "
		       "reset)\n");
	else if (result->applied == OP_DRAFT_APPLIED_COMMITS)
		printf("HEAD is ahead of these files: your branch keeps the loop's commits (to commit "
		       "the rollback as well: git commit -a; to drop the commits: git reset)\n");
}

static int report(const struct loops_options *opts, const struct op_rollback_request *request,
		  const struct op_rollback_result *result)
{
	AUTO_FREE char *what = op_rollback_subject(request, &result->loop);

	if (opts->json)
		return report_json(result);
	printf("%s is back at checkpoint %lld: %lld written, %lld removed, %lld modes changed\n",
	       what, (long long)request->checkpoint, (long long)result->written,
	       (long long)result->removed, (long long)result->adjusted);
	for (size_t i = 0; i < result->kept.count; i++) {
		AUTO_FREE char *name = text_escaped(result->kept.items[i]);

		printf("  kept, because it contains ignored or unreadable files: %s\n", name);
	}
	if (result->loop.state.options.work_tree || result->loop.state.options.draft)
		puts("your project is unchanged");
	report_applied(result);
	report_branch(result);
	printf("the previous state is checkpoint %lld (to undo: ringfence rollback %lld)\n",
	       (long long)result->saved, (long long)result->saved);
	return cli_flush();
}

/* Shows what will change, and asks. Returns 0 for yes, or the exit status. */
static int ask(struct op_rollback_request *request, const struct op_rollback_result *result,
	       char token[SHA256_HEX], struct error *err)
{
	if (!confirm_possible("use --yes", err) || show_changes(request, &result->loop, err) < 0)
		return cli_fail(err);
	if (confirm_answer(&result->question, token, &request->answer))
		return 0;
	puts("nothing was changed");
	return 1;
}

/* Rolls back once the user agrees. Asks again if the project changed in the meantime. */
static int perform(const struct loops_options *opts, struct op_rollback_request *request,
		   struct error *err)
{
	char token[SHA256_HEX];
	int code;

	for (;;) {
		struct op_rollback_result result;
		enum op_status status = op_rollback(request, &result, err);

		notice_found(&result.quarantined, result.loop.state.options.project
							  ? result.loop.state.options.project
							  : "");
		if (status == OP_ASKS)
			code = ask(request, &result, token, err);
		else
			code = op_failed(status) ? cli_fail(err) : report(opts, request, &result);
		op_rollback_release(&result);
		if (status != OP_ASKS || code)
			return code;
	}
}

/* number: NULL for the state before the loop. */
static int roll_back(const struct loops_options *opts, const char *number, const char *path,
		     struct error *err)
{
	struct op_rollback_request request = { .target = { .state = opts->place.state,
							   .project = opts->place.project,
							   .loop = opts->loop_id },
					       .path = path,
					       .stop = opts->stop,
					       .answer.to_all = opts->yes };

	if (number && checkpoints_check_number(number, err) < 0)
		return cli_fail(err);
	request.checkpoint = number ? strtoll(number, NULL, 10) : opts->loop.state.start;
	return perform(opts, &request, err);
}

static int rollback(struct loops_options *opts, struct error *err)
{
	if (checkpoints_find(opts, err) < 0)
		return cli_fail(err);
	opts->loop_id = opts->loop.id;
	return roll_back(opts, opts->rest[0], NULL, err);
}

static int restore(struct loops_options *opts, struct error *err)
{
	AUTO_FREE char *path = NULL;

	if (!opts->rest[0]) {
		error_set(err, "restore needs a path: ringfence restore src/main.c");
		return cli_fail(err);
	}
	if (checkpoints_find(opts, err) == 0)
		path = checkpoints_path(opts, opts->rest[0], err);
	if (path && !*path) {
		error_set(
			err,
			"restore needs a path inside the project; for the whole project use ringfence "
			"rollback");
		return cli_fail(err);
	}
	opts->loop_id = opts->loop.id;
	return path ? roll_back(opts, opts->from, path, err) : cli_fail(err);
}

static int run_rollback(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, rollback);
}

static int run_restore(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, restore);
}

const struct cli_command cmd_rollback = {
	.name = "rollback",
	.args = "[--stop] [--yes] [N]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "roll the project back to a checkpoint",
	.description =
		"Restores every file, folder, link and mode to checkpoint N (default: the state before "
		"the loop). The present state becomes a checkpoint first, so that the rollback itself can "
		"be undone. Ignored files and the project's .git are left alone. If it is interrupted, the "
		"next command finishes it.",
	.options = rollback_options,
	.sections = rollback_sections,
	.run = run_rollback,
};

const struct cli_command cmd_restore = {
	.name = "restore",
	.args = "[--from N] [--stop] [--yes] PATH",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "restore one file or folder from a checkpoint",
	.description = "Like ringfence rollback, but for one path; everything else stays as it is.",
	.options = restore_options,
	.sections = restore_sections,
	.run = run_restore,
};
