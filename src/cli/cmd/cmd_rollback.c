/* ringfence rollback and ringfence restore: the project, or a part of it, as it was. */
#include "cli/checkpoints.h"
#include "cli/view/notice.h"

#include "fence/fence_quarantine.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_MS = 60000 };

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

/* Nobody else works in the project, and nobody begins. Returns the lock, or -1 with err set. */
static int make_quiet(struct loops_options *asked, struct error *err)
{
	struct client_loop *loop = &asked->loop;
	AUTO_FREE char *running = client_running(asked->place.state, loop->state.options.project);

	if (running && !asked->stop)
		return error_set(
			err,
			"the loop %s is running in this project: ringfence abort %s, or --stop",
			running, running);
	if (running) {
		struct client_loop other;

		if (client_find(asked->place.state, running, NULL, &other, err) < 0)
			return -1;

		bool gone = client_ask(&other, "abort", false, err) == 0 || !other.alive;

		gone = gone && client_wait_gone(&other, MOST_MS);
		client_loop_release(&other);
		if (!gone)
			return error_set(err, "the loop %s could not be ended (ringfence status)",
					 running);
	}
	return client_hold(loop, err);
}

/* What cannot be brought back is said before anything is asked or ended. Returns 0, or -1 with err set. */
static int check_held(struct loops_options *asked, const char *number, const char *path,
		      struct error *err)
{
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	snapshot_begin(&work, "holds", asked->place.state, asked->loop.state.options.project,
		       asked->loop.id);
	snapshot_tell(&work, "from", number);
	snapshot_tell(&work, "path", path);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	json_decref(answer);
	return result;
}

static bool agreed(const char *question)
{
	char answer[16] = "";

	printf("%s [y/N] ", question);
	fflush(stdout);
	return fgets(answer, sizeof answer, stdin) &&
	       (strcmp(answer, "y\n") == 0 || strcmp(answer, "Y\n") == 0 ||
		strcmp(answer, "yes\n") == 0);
}

/* Of which loop, too, and from when that is: it is the newest where none was named. The caller frees. */
static char *question(const struct loops_options *asked, const char *number, const char *path)
{
	AUTO_FREE char *shown = text_escaped(path);
	AUTO_FREE char *what = *path ? mem_format("'%s'", shown) : mem_dup("the project");
	time_t begun = (time_t)(asked->loop.state.created_ms / 1000);
	char clock[64] = "";
	struct tm parts;

	if (localtime_r(&begun, &parts))
		strftime(clock, sizeof clock, "%Y-%m-%d %H:%M:%S", &parts);
	return mem_format("Bring %s back to checkpoint %s of the loop %s, begun %s?", what, number,
			  asked->loop.id, clock);
}

/* What will change, by names; then the question. Returns 0 to go on, 1 for no, or -1 with err set. */
static int ask(struct loops_options *asked, const char *number, const char *path, struct error *err)
{
	AUTO_FREE char *asks = question(asked, number, path);
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	if (asked->yes)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err,
				 "there is no terminal to ask on; --yes goes on without asking");
	snapshot_begin(&work, "diff", asked->place.state, asked->loop.state.options.project,
		       asked->loop.id);
	snapshot_tell(&work, "from", number);
	snapshot_tell(&work, "style", "stat");
	snapshot_tell_number(&work, "ignored", asked->loop.state.options.checkpoint_ignored);
	snapshot_tell_number(&work, "terminal", 1);
	if (*path)
		snapshot_tell(&work, "only", path);
	printf("since checkpoint %s:\n", number);
	fflush(stdout);
	result = snapshot_run(&work, STDOUT_FILENO, &answer, err);
	snapshot_release(&work);
	json_decref(answer);
	return result < 0 ? -1 : !agreed(asks);
}

static int perform(struct loops_options *asked, const char *number, const char *path,
		   json_t **ret_answer, struct error *err)
{
	struct snapshot_work work;
	int result;

	snapshot_begin(&work, *path ? "restore" : "rollback", asked->place.state,
		       asked->loop.state.options.project, asked->loop.id);
	snapshot_tell(&work, "from", number);
	snapshot_tell(&work, "path", path);
	snapshot_tell_number(&work, "ignored", asked->loop.state.options.checkpoint_ignored);
	result = snapshot_run(&work, -1, ret_answer, err);
	snapshot_release(&work);
	return result;
}

/* What was taken out because the host would execute it comes back if it is from before the loop. */
static void bring_back(struct loops_options *asked, const struct fence_found *found)
{
	const char *project = asked->loop.state.options.project;

	for (size_t i = 0; i < found->count; i++) {
		const char *path = found->items[i].path;
		json_t *answer = NULL;
		struct error ignored;

		if (path_within(path, project) && strcmp(path, project) != 0)
			perform(asked, "0", path + strlen(project) + 1, &answer, &ignored);
		json_decref(answer);
	}
}

/*
 * A checkpoint may hold what an agent had planted and the sweep has taken away since; only the one from before
 * the loop cannot. So what comes with the others is swept as after a run.
 */
static int perform_guarded(struct loops_options *asked, const char *number, const char *path,
			   json_t **ret_answer, struct error *err)
{
	struct fence_quarantine *guarded = NULL;
	struct fence_found found;
	struct error why;
	int result;

	if (strtol(number, NULL, 10) == 0)
		return perform(asked, number, path, ret_answer, err);
	if (fence_quarantine_begin(asked->loop.state.options.project, NULL, &guarded, err) < 0)
		return -1;
	result = perform(asked, number, path, ret_answer, err);
	if (fence_quarantine_end(guarded, &found, &why) < 0 && result == 0)
		result = error_set(err, "%s", why.text);
	notice_found(&found);
	bring_back(asked, &found);
	fence_found_release(&found);
	return result;
}

static int64_t number_of(const json_t *answer, const char *key)
{
	return (int64_t)json_integer_value(json_object_get(answer, key));
}

static int tell(struct loops_options *asked, const char *path, json_t *answer)
{
	AUTO_FREE char *shown = text_escaped(path);
	size_t index;
	json_t *kept;

	if (asked->json) {
		json_object_set_new(answer, "id", json_string(asked->loop.id));
		loops_print(json_incref(answer));
		return cli_printed();
	}
	if (*path)
		printf("'%s' is as in checkpoint %lld", shown,
		       (long long)number_of(answer, "number"));
	else
		printf("the project is as in checkpoint %lld",
		       (long long)number_of(answer, "number"));
	printf(": %lld written, %lld removed, %lld modes set\n",
	       (long long)number_of(answer, "written"), (long long)number_of(answer, "removed"),
	       (long long)number_of(answer, "adjusted"));
	json_array_foreach(json_object_get(answer, "kept"), index, kept)
	{
		AUTO_FREE char *name = text_escaped(json_string_value(kept));

		printf("  kept, because ignored or unreadable files are in it: %s\n", name);
	}
	printf("what was there before is checkpoint %lld (ringfence rollback %lld)\n",
	       (long long)number_of(answer, "saved"), (long long)number_of(answer, "saved"));
	return cli_printed();
}

static int go_back(struct loops_options *asked, const char *number, const char *path,
		   struct error *err)
{
	json_t *answer = NULL;
	int result;
	int code;

	if (checkpoints_number(number, err) < 0 || check_held(asked, number, path, err) < 0)
		return cli_fail(err);

	AUTO_FD lock = make_quiet(asked, err);

	if (lock < 0)
		return cli_fail(err);
	result = ask(asked, number, path, err);
	if (result > 0) {
		puts("nothing was changed");
		return 1;
	}
	if (result < 0 || perform_guarded(asked, number, path, &answer, err) < 0) {
		json_decref(answer);
		return cli_fail(err);
	}
	result = client_restored(&asked->loop,
				 json_pack("{s:I, s:I, s:o}", "number",
					   (json_int_t)number_of(answer, "number"), "saved",
					   (json_int_t)number_of(answer, "saved"), "path",
					   client_text(path)),
				 err);
	code = result < 0 ? cli_fail(err) : tell(asked, path, answer);
	json_decref(answer);
	return code;
}

static int rollback(struct loops_options *asked, struct error *err)
{
	struct snapshot_work unused = { 0 };
	int result = checkpoints_begin(asked, "list", &unused, err);

	snapshot_release(&unused);
	return result < 0 ? cli_fail(err)
			  : go_back(asked, asked->rest[0] ? asked->rest[0] : "0", "", err);
}

static int restore(struct loops_options *asked, struct error *err)
{
	struct snapshot_work unused = { 0 };
	AUTO_FREE char *path = NULL;
	int result;

	if (!asked->rest[0]) {
		error_set(err, "restore needs a path: ringfence restore src/main.c");
		return cli_fail(err);
	}
	result = checkpoints_begin(asked, "list", &unused, err);
	snapshot_release(&unused);
	if (result == 0)
		path = checkpoints_path(asked, asked->rest[0], err);
	if (path && !*path) {
		error_set(err, "all of the project is what ringfence rollback brings back");
		return cli_fail(err);
	}
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
