/* ringfence rollback and ringfence restore: the project, or a part of it, as it was. */
#include "cli/checkpoints.h"
#include "cli/confirm.h"
#include "cli/view/notice.h"
#include "ops/op_rollback.h"
#include "util/mem.h"
#include "util/text.h"

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
	OPTION_TEXT("from", "N", "from this checkpoint (default: 0, the state before the loop)",
		    struct loops_options, from),
	STOP,
	YES,
	CHECKPOINTS_LOOP,
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section rollback_sections[] = {
	{ "EXAMPLES", "  ringfence rollback --yes       undo everything that the loop did\n"
		      "  ringfence rollback 3           go back to checkpoint 3\n" },
	{ 0 },
};

static const struct cli_section restore_sections[] = {
	{ "EXAMPLES", "  ringfence restore src/main.c\n"
		      "  ringfence restore tests --from 3\n" },
	{ 0 },
};

/* How much will change, file by file, on stdout. */
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
	if (request->path)
		snapshot_tell(&work, "only", request->path);
	printf("since checkpoint %lld:\n", (long long)request->checkpoint);
	fflush(stdout);
	result = snapshot_run(&work, STDOUT_FILENO, &answer, err);
	snapshot_release(&work);
	json_decref(answer);
	return result;
}

static int tell_json(const struct op_rollback_result *result)
{
	json_object_set_new(result->details, "id", json_string(result->loop.id));
	loops_print(json_incref(result->details));
	return cli_printed();
}

static int tell(const struct loops_options *asked, const struct op_rollback_request *request,
		const struct op_rollback_result *result)
{
	AUTO_FREE char *shown = request->path ? text_escaped(request->path) : NULL;
	AUTO_FREE char *what = shown ? mem_format("'%s'", shown) : mem_dup("the project");

	if (asked->json)
		return tell_json(result);
	printf("%s is as in checkpoint %lld: %lld written, %lld removed, %lld modes set\n", what,
	       (long long)request->checkpoint, (long long)result->written,
	       (long long)result->removed, (long long)result->adjusted);
	for (size_t i = 0; i < result->kept.count; i++) {
		AUTO_FREE char *name = text_escaped(result->kept.items[i]);

		printf("  kept, because ignored or unreadable files are in it: %s\n", name);
	}
	printf("what was there before is checkpoint %lld (ringfence rollback %lld)\n",
	       (long long)result->saved, (long long)result->saved);
	return cli_printed();
}

/* Shows what will change, and asks. Returns 0 for yes, or the exit status. */
static int ask(const struct op_rollback_request *request, const struct op_rollback_result *result,
	       struct error *err)
{
	if (!confirm_possible("--yes goes on without asking", err) ||
	    show_changes(request, &result->loop, err) < 0)
		return cli_fail(err);
	if (confirm(&result->question))
		return 0;
	puts("nothing was changed");
	return 1;
}

/* Until it is done, or the answer is no: a question comes again if something changes meanwhile. */
static int perform(const struct loops_options *asked, struct op_rollback_request *request,
		   struct error *err)
{
	char token[SHA256_HEX];
	int code;

	for (;;) {
		struct op_rollback_result result;
		enum op_status status = op_rollback(request, &result, err);

		notice_found(&result.quarantined);
		if (status == OP_ASKS)
			code = ask(request, &result, err);
		else
			code = op_failed(status) ? cli_fail(err) : tell(asked, request, &result);
		memcpy(token, result.question.token, sizeof token);
		op_rollback_release(&result);
		if (status != OP_ASKS || code)
			return code;
		request->answer.token = token;
	}
}

static int go_back(const struct loops_options *asked, const char *number, const char *path,
		   struct error *err)
{
	struct op_rollback_request request = { .target = { .state = asked->place.state,
							   .project = asked->place.project,
							   .loop = asked->loop_id },
					       .path = path,
					       .stop = asked->stop,
					       .answer.to_all = asked->yes };

	if (checkpoints_number(number, err) < 0)
		return cli_fail(err);
	request.checkpoint = strtoll(number, NULL, 10);
	return perform(asked, &request, err);
}

static int rollback(struct loops_options *asked, struct error *err)
{
	return go_back(asked, asked->rest[0] ? asked->rest[0] : "0", NULL, err);
}

static int restore(struct loops_options *asked, struct error *err)
{
	AUTO_FREE char *path = NULL;

	if (!asked->rest[0]) {
		error_set(err, "restore needs a path: ringfence restore src/main.c");
		return cli_fail(err);
	}
	if (checkpoints_find(asked, err) == 0)
		path = checkpoints_path(asked, asked->rest[0], err);
	if (path && !*path) {
		error_set(err, "all of the project is what ringfence rollback brings back");
		return cli_fail(err);
	}
	asked->loop_id = asked->loop.id;
	return path ? go_back(asked, asked->from ? asked->from : "0", path, err) : cli_fail(err);
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
	.most = 1,
	.mixed = true,
	.help = "bring the project back to a checkpoint",
	.about =
		"Makes every file, folder, link and mode what it was at checkpoint N (default: 0, the state before the loop). "
		"What is there now becomes a checkpoint first, so that this can be undone, too. Ignored files and the "
		"project's .git are left alone. If it is cut off, the next command finishes it.",
	.options = rollback_options,
	.sections = rollback_sections,
	.run = run_rollback,
};

const struct cli_command cmd_restore = {
	.name = "restore",
	.args = "[--from N] [--stop] [--yes] PATH",
	.most = 1,
	.mixed = true,
	.help = "bring one file or folder back from a checkpoint",
	.about = "As ringfence rollback, for one path; everything else stays as it is.",
	.options = restore_options,
	.sections = restore_sections,
	.run = run_restore,
};
