/* ringfence clean: loops go, with their logs and checkpoints. */
#include "cli/checkpoints.h"
#include "cli/view/notice.h"
#include "cli/worktree.h"

#include "util/buffer.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct cli_option options[] = {
	OPTION_TEXT("older", "TIME", "loops of this project that began so long ago: 30d",
		    struct loops_options, from),
	OPTION_FLAG("all", "with --older: of every project", struct loops_options, all),
	OPTION_FLAG("branches",
		    "also branches ringfence/LOOP with commits that no other branch has",
		    struct loops_options, force),
	OPTION_FLAG("yes", "do not ask", struct loops_options, yes),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence clean 20260102-030405-abcd\n"
		      "  ringfence clean --older 30d --all --yes\n" },
	{ 0 },
};

static bool is_meant(const struct loops_options *asked, const struct client_loop *loop,
		     uint64_t older_ms)
{
	if (asked->rest[0])
		return strcmp(loop->id, asked->rest[0]) == 0;
	return !loop->alive && !loop->damaged &&
	       (asked->all || client_is_of(loop, asked->place.project)) &&
	       (int64_t)time(NULL) * 1000 - loop->state.created_ms >= (int64_t)older_ms;
}

/* What was freed, so far. */
struct cleaning {
	json_t *removed;
	uint64_t bytes;
};

/* Its work tree, and its branch if that is of no use any more. */
static int drop_branch(struct loops_options *asked, const struct client_loop *loop, uint64_t *bytes,
		       struct error *err)
{
	const struct loop_options *of = &loop->state.options;
	bool kept;
	int result = worktree_drop(asked->place.state, loop->id,
				   of->origin ? of->origin : of->project, asked->force, bytes,
				   &kept, err);

	if (result == 0 && of->origin) { /* nobody shares the checkpoints of a work tree */
		AUTO_FREE char *store = snapshot_place(asked->place.state, of->project);

		result = client_remove_folder(store, bytes, err);
	}
	if (kept)
		notice_format(
			"the branch ringfence/%s stays: no other branch has its commits (git branch -D "
			"ringfence/%s removes it; so does --branches)",
			loop->id, loop->id);
	return result;
}

static int clean_one(struct loops_options *asked, struct client_loop *loop,
		     struct cleaning *cleaning, struct error *err)
{
	AUTO_FD lock = client_hold(loop, err);
	struct snapshot_work work;
	json_t *answer = NULL;
	uint64_t bytes = 0;
	uint64_t own = 0;
	int result = 0;

	if (lock < 0)
		return -1;
	/* One that cannot be read does not say whose checkpoints it has. */
	if (!loop->damaged && !loop->state.options.origin) {
		snapshot_begin(&work, "prune", asked->place.state, loop->state.options.project,
			       loop->id);
		snapshot_tell(&work, "drop", loop->id);
		result = snapshot_run(&work, -1, &answer, err);
		snapshot_release(&work);
	}
	if (result == 0 && !loop->damaged)
		result = drop_branch(asked, loop, &bytes, err);
	if (result == 0) {
		result = client_remove(asked->place.state, loop, &own, err);
		bytes += own;
	}
	if (result == 0) {
		json_int_t before = json_integer_value(json_object_get(answer, "bytes_before"));
		json_int_t after = json_integer_value(json_object_get(answer, "bytes_after"));

		cleaning->bytes += bytes + (before > after ? (uint64_t)(before - after) : 0);
		json_array_append_new(cleaning->removed, json_string(loop->id));
	}
	json_decref(answer);
	return result;
}

static bool agreed(size_t count)
{
	char answer[16] = "";

	printf("Remove %zu loop%s, with logs and checkpoints? [y/N] ", count,
	       count == 1 ? "" : "s");
	fflush(stdout);
	return fgets(answer, sizeof answer, stdin) &&
	       (strcmp(answer, "y\n") == 0 || strcmp(answer, "Y\n") == 0 ||
		strcmp(answer, "yes\n") == 0);
}

/* Shows what is meant, and asks. Returns 0 to go on, 1 for no, or -1 with err set. */
static int ask(const struct loops_options *asked, const struct client_loops *all, uint64_t older_ms,
	       struct error *err)
{
	size_t count = 0;

	if (asked->yes)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(err,
				 "there is no terminal to ask on; --yes goes on without asking");
	for (size_t i = 0; i < all->count; i++) {
		const struct client_loop *loop = &all->items[i];
		AUTO_FREE char *project = text_escaped(
			loop->state.options.project ? loop->state.options.project : "?");

		if (!is_meant(asked, loop, older_ms))
			continue;
		count++;
		printf("%s  %-11s  %s\n", loop->id, client_status(loop), project);
	}
	return count == 0 || agreed(count) ? 0 : 1;
}

static int clean_all(struct loops_options *asked, struct client_loops *all, uint64_t older_ms,
		     struct cleaning *cleaning, struct error *err)
{
	for (size_t i = 0; i < all->count; i++)
		if (is_meant(asked, &all->items[i], older_ms) &&
		    clean_one(asked, &all->items[i], cleaning, err) < 0)
			return -1;
	if (asked->rest[0] && !json_array_size(cleaning->removed)) {
		return error_set(err, "there is no loop '%s' (ringfence status --all)",
				 asked->rest[0]);
	}
	return 0;
}

static int tell(const struct loops_options *asked, const struct cleaning *cleaning)
{
	AUTO_BUFFER struct buffer size = BUFFER_INIT(64);
	size_t count = json_array_size(cleaning->removed);

	if (asked->json) {
		loops_print(json_pack("{s:O, s:I}", "removed", cleaning->removed, "freed_bytes",
				      (json_int_t)cleaning->bytes));
		return cli_printed();
	}
	if (cleaning->bytes >> 20)
		buffer_printf(&size, "%llu MiB", (unsigned long long)cleaning->bytes >> 20);
	else
		buffer_printf(&size, "%llu KiB", (unsigned long long)cleaning->bytes >> 10);
	printf("%zu loop%s removed, %s freed\n", count, count == 1 ? "" : "s", buffer_text(&size));
	return cli_printed();
}

static int clean(struct loops_options *asked, struct error *err)
{
	struct cleaning cleaning = { .removed = json_array() };
	struct client_loops all = { 0 };
	uint64_t older_ms = 0;
	int result = 0;
	int code;

	if (!asked->rest[0] == !asked->from)
		result = error_set(err,
				   "clean needs a loop, or --older TIME (ringfence status lists "
				   "the loops)");
	else if (asked->from && text_duration_ms(asked->from, &older_ms) < 0)
		result = error_set(err, "--older needs a time such as 12h or 30d");
	else
		result = client_list(asked->place.state, &all, err);
	if (result == 0)
		worktree_sweep(asked->place.state);
	if (result == 0)
		result = ask(asked, &all, older_ms, err);
	if (result == 0)
		result = clean_all(asked, &all, older_ms, &cleaning, err);
	if (result > 0)
		puts("nothing was removed");
	code = result < 0 ? cli_fail(err) : result > 0 ? 1 : tell(asked, &cleaning);
	client_loops_release(&all);
	json_decref(cleaning.removed);
	return code;
}

static int run_clean(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, clean);
}

const struct cli_command cmd_clean = {
	.name = "clean",
	.args = "[--yes] [--branches] [LOOP | --older TIME [--all]]",
	.most = 1,
	.mixed = true,
	.help = "remove loops with their logs, checkpoints and work trees",
	.about =
		"Removes a loop that is not running, or all that began so long ago, with logs, checkpoints and work tree, and says how much "
		"that frees. After that nothing of them can be undone or looked at. A branch ringfence/LOOP goes if another branch has its "
		"commits. The project itself is not touched.",
	.options = options,
	.sections = sections,
	.run = run_clean,
};
