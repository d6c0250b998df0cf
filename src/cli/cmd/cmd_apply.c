/* ringfence apply: what a loop has committed comes into the user's branch. */
#include "cli/checkpoints.h"
#include "cli/view/notice.h"

#include "fence/fence_quarantine.h"
#include "util/buffer.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHORT_ID = 10, SHOWN = 20, CONFLICT = 1 };

static const struct cli_option options[] = {
	OPTION_FLAG("merge",
		    "the branch moves forward, or gets a merge commit where it must (default)",
		    struct loops_options, merge),
	OPTION_FLAG("squash", "all of it as one commit on top of your branch", struct loops_options,
		    squash),
	OPTION_FLAG(
		"patch",
		"change nothing; print mails that git am and git apply take; name what your machine would execute by itself",
		struct loops_options, patch),
	OPTION_FLAG("dry-run", "change nothing; say what would change, and what conflicts",
		    struct loops_options, dry),
	OPTION_FLAG("yes", "also what your machine executes, or reads as settings, by itself",
		    struct loops_options, yes),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", "  0    it is there, or there is nothing that your branch does not have\n"
			 "  1    it conflicts, or you said no: nothing was changed\n"
			 "  125  refused; the reason is said, and nothing was changed\n" },
	{ "EXAMPLES", "  ringfence apply --dry-run\n"
		      "  ringfence apply\n"
		      "  ringfence apply 20260102-030405-abcd --squash\n"
		      "  ringfence apply --patch >loop.mbox; git am loop.mbox\n" },
	{ 0 },
};

static const char *text_of(const json_t *answer, const char *key)
{
	const char *text = json_string_value(json_object_get(answer, key));

	return text ? text : "";
}

static long long number_of(const json_t *answer, const char *key)
{
	return (long long)json_integer_value(json_object_get(answer, key));
}

static char *message(const struct loops_options *asked)
{
	AUTO_FREE char *line = client_subject(&asked->loop.state.options);

	if (asked->squash)
		return mem_format("%s\n\nBy the loop %s of Ringfence.\n", line, asked->loop.id);
	return mem_format("Merge branch 'ringfence/%s'\n\n%s\n", asked->loop.id, line);
}

static int perform(struct loops_options *asked, const char *work_name, bool dry, const char *tree,
		   json_t **ret_answer, struct error *err)
{
	AUTO_FREE char *branch = mem_format("refs/heads/ringfence/%s", asked->loop.id);
	AUTO_FREE char *log = mem_format("ringfence apply: %s", asked->loop.id);
	AUTO_FREE char *text = message(asked);
	struct snapshot_work work;
	int result;

	snapshot_begin(&work, work_name, asked->place.state, asked->place.project, asked->loop.id);
	snapshot_tell(&work, "branch", branch);
	snapshot_tell(&work, "message", text);
	snapshot_tell(&work, "log", log);
	snapshot_tell_number(&work, "squash", asked->squash);
	snapshot_tell_number(&work, "here", !asked->loop.state.options.work_tree);
	snapshot_tell_number(&work, "dry", dry);
	snapshot_tell_number(&work, "terminal", isatty(STDOUT_FILENO));
	if (tree)
		snapshot_tell(&work, "tree", tree);
	result = snapshot_run(&work, asked->patch ? STDOUT_FILENO : -1, ret_answer, err);
	snapshot_release(&work);
	return result;
}

/* ---- what is said ---- */

static void print_list(const json_t *list, const char *before, const char *key)
{
	size_t index;
	json_t *entry;

	json_array_foreach(list, index, entry)
	{
		AUTO_FREE char *shown = text_escaped(key ? text_of(entry, key)
							 : json_string_value(entry));

		printf("%s%s\n", before, shown);
	}
}

static void notice_lists(const json_t *answer)
{
	const json_t *filtered = json_object_get(answer, "filtered");
	size_t index;
	json_t *left;

	if (json_array_size(filtered))
		notice_format(
			"%zu file%s with a filter (LFS, say) %s written as stored; git checkout -- PATH "
			"runs the filter",
			json_array_size(filtered), json_array_size(filtered) == 1 ? "" : "s",
			json_array_size(filtered) == 1 ? "is" : "are");
	if (json_is_true(json_object_get(answer, "recovered")))
		notice("an apply that was cut off has been finished first");
	json_array_foreach(json_object_get(answer, "recovered_left"), index, left)
	{
		notice_format("left as you have changed it since: %s", json_string_value(left));
	}
	json_array_foreach(json_object_get(answer, "left"), index, left)
	{
		notice_format("left as it is in the work tree: %s", json_string_value(left));
	}
}

/* Is it one of those that the user's own configuration makes git run or read? */
static bool is_obeyed(const json_t *obeyed, const char *path)
{
	size_t index;
	json_t *entry;

	json_array_foreach(obeyed, index, entry)
	{
		const char *other = json_string_value(entry);
		size_t size = strlen(other);

		if ((strcmp(other, ".") == 0 && !strchr(path, '/')) ||
		    (strncmp(path, other, size) == 0 && (path[size] == '/' || !path[size])))
			return true;
	}
	return false;
}

/* Those of the changes that the host would execute, or read as settings, without being asked. */
static json_t *executed(const json_t *answer)
{
	json_t *found = json_array();
	size_t index;
	json_t *change;

	json_array_foreach(json_object_get(answer, "changes"), index, change)
	{
		const char *path = text_of(change, "path");
		const char *why = fence_quarantine_reason(path);

		if (!why && is_obeyed(json_object_get(answer, "obeyed"), path))
			why = "a hook, a program or settings, by your git configuration";
		if (!why && json_is_true(json_object_get(change, "git")))
			why = "a git directory of another name";
		if (why && strcmp(text_of(change, "status"), "deleted") != 0)
			json_array_append_new(found,
					      json_pack("{s:s, s:s}", "path", path, "why", why));
	}
	return found;
}

static void show_executed(const json_t *found)
{
	size_t index;
	json_t *entry;

	json_array_foreach(found, index, entry)
	{
		notice_format("%s: this machine runs it, or reads it as settings, by itself (%s)",
			      text_of(entry, "path"), text_of(entry, "why"));
	}
}

static bool agreed(void)
{
	char answer[16] = "";

	printf("Take these, too? [y/N] ");
	fflush(stdout);
	return fgets(answer, sizeof answer, stdin) &&
	       (strcmp(answer, "y\n") == 0 || strcmp(answer, "Y\n") == 0 ||
		strcmp(answer, "yes\n") == 0);
}

/* Returns 0 to go on, 1 for no, or -1 with err set. */
static int ask(const struct loops_options *asked, const json_t *found, struct error *err)
{
	if (!json_array_size(found))
		return 0;
	show_executed(found);
	if (asked->yes || asked->dry)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || asked->json)
		return error_set(
			err,
			"%zu of the files that come would be executed on this machine unseen: "
			"look at them (git diff HEAD...ringfence/%s), then --yes",
			json_array_size(found), asked->loop.id);
	return !agreed();
}

/* ---- what comes of it ---- */

static int tell_conflicts(const struct loops_options *asked, json_t *answer)
{
	long long count = number_of(answer, "conflict_count");

	if (asked->json) {
		loops_print(json_incref(answer));
		return cli_printed() ? LOOPS_REFUSED : CONFLICT;
	}
	printf("ringfence/%s conflicts with %s at %lld path%s:\n", asked->loop.id,
	       text_of(answer, "branch"), count, count == 1 ? "" : "s");
	print_list(json_object_get(answer, "conflicts"), "  ", "words");
	printf("nothing was changed; to resolve it by hand: git merge ringfence/%s\n",
	       asked->loop.id);
	return cli_printed() ? LOOPS_REFUSED : CONFLICT;
}

static int tell_own(const struct loops_options *asked, json_t *answer)
{
	const json_t *own = json_object_get(answer, "in_the_way");
	struct error err;

	if (asked->json)
		loops_print(json_incref(answer));
	else
		print_list(own, "  ", NULL);
	error_set(
		&err,
		"what you have not committed is in the way, so nothing was changed (git commit, or git "
		"stash)");
	return cli_fail(&err);
}

static void tell_dry(const json_t *answer)
{
	const json_t *changes = json_object_get(answer, "changes");
	size_t index;
	json_t *change;

	printf("%s would %s: %lld commit%s, %zu file%s\n", text_of(answer, "branch"),
	       strcmp(text_of(answer, "kind"), "forward") == 0 ? "move forward"
	       : strcmp(text_of(answer, "kind"), "merge") == 0 ? "get a merge commit"
							       : "get one commit",
	       number_of(answer, "commits"), number_of(answer, "commits") == 1 ? "" : "s",
	       json_array_size(changes), json_array_size(changes) == 1 ? "" : "s");
	json_array_foreach(changes, index, change)
	{
		AUTO_FREE char *shown = text_escaped(text_of(change, "path"));

		if (index < SHOWN)
			printf("  %-8s  %s\n", text_of(change, "status"), shown);
	}
	if (json_array_size(changes) > SHOWN)
		printf("  and %zu more\n", json_array_size(changes) - SHOWN);
}

static void tell_done(const struct loops_options *asked, const json_t *answer)
{
	const char *kind = text_of(answer, "kind");
	long long there = number_of(answer, "there");

	printf("%s %s: %lld commit%s of ringfence/%s, %lld file%s written, %lld removed",
	       text_of(answer, "branch"),
	       strcmp(kind, "forward") == 0 ? "has moved forward"
	       : strcmp(kind, "merge") == 0 ? "has a merge commit"
					    : "has one commit more",
	       number_of(answer, "commits"), number_of(answer, "commits") == 1 ? "" : "s",
	       asked->loop.id, number_of(answer, "written"),
	       number_of(answer, "written") == 1 ? "" : "s", number_of(answer, "removed"));
	if (there)
		printf(", %lld %s there already", there, there == 1 ? "was" : "were");
	printf("\n");
	if (*text_of(answer, "old"))
		printf("to undo it: git reset --keep %.*s\n", SHORT_ID, text_of(answer, "old"));
}

static int tell(const struct loops_options *asked, json_t *answer, json_t *found)
{
	notice_lists(answer);
	if (asked->json) {
		json_object_set_new(answer, "id", json_string(asked->loop.id));
		json_object_set(answer, "executed", found);
		loops_print(json_incref(answer));
	} else if (strcmp(text_of(answer, "kind"), "nothing") == 0) {
		printf("nothing to do: %s has all of ringfence/%s\n", text_of(answer, "branch"),
		       asked->loop.id);
	} else if (asked->dry) {
		tell_dry(answer);
	} else {
		tell_done(asked, answer);
	}
	return cli_printed();
}

/* First what would come of it, then, if nobody objects, exactly that. */
static int bring(struct loops_options *asked, struct error *err)
{
	json_t *found = NULL;
	json_t *first = NULL;
	json_t *answer = NULL;
	int result = perform(asked, "apply", true, NULL, &first, err);
	int code;

	if (result < 0)
		return cli_fail(err);
	if (strcmp(text_of(first, "kind"), "conflict") == 0) {
		notice_lists(first);
		code = tell_conflicts(asked, first);
	} else if (json_array_size(json_object_get(first, "in_the_way"))) {
		notice_lists(first);
		code = tell_own(asked, first);
	} else {
		found = executed(first);
		result = ask(asked, found, err);
		if (result == 0 && !asked->dry && strcmp(text_of(first, "kind"), "nothing") != 0)
			result = perform(asked, "apply", false, text_of(first, "tree"), &answer,
					 err);
		if (result > 0)
			puts("nothing was changed");
		code = result < 0   ? cli_fail(err)
		       : result > 0 ? CONFLICT
				    : tell(asked, answer ? answer : first, found);
	}
	json_decref(found);
	json_decref(first);
	json_decref(answer);
	return code;
}

static int print_patch(struct loops_options *asked, struct error *err)
{
	json_t *answer = NULL;
	int result = perform(asked, "patch", false, NULL, &answer, err);
	json_t *found = executed(answer);

	/* Nothing is changed here, so there is nothing to agree to. */
	show_executed(found);
	json_decref(found);
	json_decref(answer);
	return result < 0 ? cli_fail(err) : 0;
}

/* What a loop in a work tree of its own has left uncommitted belongs to its result. */
static int seal(struct loops_options *asked, struct error *err)
{
	AUTO_FREE char *git = NULL;
	AUTO_FD lock = -1;

	if (!asked->loop.state.options.work_tree)
		return 0;
	if (asked->loop.alive) {
		notice_format("the loop %s is still running: this is what it has committed so far",
			      asked->loop.id);
		return 0;
	}
	git = path_join(asked->loop.state.options.work_tree, ".git");
	if (access(git, F_OK) < 0 && errno == ENOENT) {
		notice_format("the work tree of the loop %s is gone: this is what was committed",
			      asked->loop.id);
		return 0;
	}
	lock = client_hold(&asked->loop, err);
	return lock < 0 ? -1 : client_seal(&asked->loop, err);
}

static int apply(struct loops_options *asked, struct error *err)
{
	AUTO_FREE char *running = NULL;

	if (asked->merge + asked->squash + asked->patch > 1 || (asked->patch && asked->json)) {
		error_set(err,
			  "apply takes one of --merge, --squash and --patch, and --json with the "
			  "first two only");
		return cli_fail(err);
	}
	if (loops_find_sound(asked, err) < 0)
		return cli_fail(err);
	if (seal(asked, err) < 0)
		return cli_fail(err);
	if (asked->patch)
		return print_patch(asked, err);
	running = client_running(asked->place.state, asked->place.project);
	if (running && !asked->dry) {
		error_set(err,
			  "the loop %s is running in this project: ringfence abort %s, or wait "
			  "until it has ended",
			  running, running);
		return cli_fail(err);
	}
	return bring(asked, err);
}

static int run_apply(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, apply);
}

const struct cli_command cmd_apply = {
	.name = "apply",
	.args = "[--merge | --squash | --patch] [--dry-run] [--yes] [LOOP]",
	.most = 1,
	.mixed = true,
	.help = "bring what a loop has committed into your branch",
	.about =
		"Merges the branch ringfence/LOOP into the branch that is checked out here. What conflicts is said in words, and then "
		"nothing is changed; so it is if files that you have changed and not committed would have to change. Everything else that is yours stays as "
		"it is. No hook, filter or merge driver is run. If it is cut off, the next one, or the next run, finishes it.",
	.options = options,
	.sections = sections,
	.run = run_apply,
};
