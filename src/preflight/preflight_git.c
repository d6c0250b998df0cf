/* Git before a loop: see preflight_git.h. */
#include "preflight/preflight_git.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <string.h>

void preflight_git_begin(const char *state, const char *project,
			 const struct preflight_budget *budget, struct snapshot_job *ret_job)
{
	struct snapshot_work work;
	struct error ignored;

	snapshot_begin(&work, "state", state, project, "preflight");
	snapshot_tell_number(&work, "most_files", (int64_t)budget->entries);
	snapshot_tell_number(&work, "most_commits", (int64_t)budget->commits);
	snapshot_tell_number(&work, "most_bytes", (int64_t)budget->bytes);
	snapshot_tell_number(&work, "most_ms", (int64_t)budget->ms);
	if (snapshot_start(&work, -1, -1, ret_job, &ignored) < 0)
		*ret_job = SNAPSHOT_JOB_INIT;
	snapshot_release(&work);
}

/* ---- the state ---- */

static void add_paths(const json_t *paths, size_t count, struct buffer *out)
{
	size_t index;
	const json_t *path;

	json_array_foreach(paths, index, path)
		buffer_printf(out, "%s%s", index ? ", " : "", json_string_value(path));
	if (count > json_array_size(paths))
		buffer_printf(out, " and %zu more", count - json_array_size(paths));
}

/* The effect of uncommitted changes depends on where the agent writes. */
static void judge_changes(const json_t *answer, enum op_start_workspace workspace,
			  struct buffer *text, enum preflight_state *ret_state,
			  const char **ret_fix)
{
	size_t count = (size_t)jsonget_number(answer, "changes");

	if (!jsonget_flag(answer, "changes_examined")) {
		buffer_add_text(text, "; too many files to look for uncommitted changes here");
		return;
	}
	if (!count) {
		buffer_add_text(text, ", no uncommitted changes");
		return;
	}
	buffer_add_text(text, "; uncommitted changes (");
	add_paths(json_object_get(answer, "changed"), count, text);
	if (workspace == OP_START_DRAFT) {
		buffer_add_text(text, ") are part of the draft");
		return;
	}
	*ret_state = PREFLIGHT_WARN;
	buffer_add_text(text, workspace == OP_START_WORKTREE
				      ? ") are not in the loop's work tree"
				      : ") and those of the agent will be mixed");
	*ret_fix = workspace == OP_START_WORKTREE ? "git commit"
						  : "git commit or git stash, or --workspace draft";
}

static void judge_state(const json_t *answer, enum op_start_workspace workspace,
			struct preflight_items *items)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 16);
	const char *branch = jsonget_string(answer, "branch");
	const char *name = branch ? text_after_prefix(branch, "refs/heads/") : NULL;
	const char *busy = jsonget_string(answer, "busy");
	enum preflight_state state = branch ? PREFLIGHT_PASS : PREFLIGHT_WARN;
	const char *fix = branch ? NULL : "git switch -c BRANCH";

	/* During a merge or a rebase, changed files and a detached HEAD are normal. */
	if (busy) {
		preflight_items_add(items, "git", PREFLIGHT_WARN, mem_dup(busy), NULL);
		return;
	}
	if (branch)
		buffer_printf(&text, "branch %s%s", name ? name : branch,
			      jsonget_flag(answer, "unborn") ? " without a commit" : "");
	else
		buffer_add_text(&text, "HEAD is detached: no branch keeps new commits");
	judge_changes(answer, workspace, &text, &state, &fix);
	preflight_items_add(items, "git", state, mem_dup(buffer_text(&text)), fix);
}

/* ---- history ---- */

static void add_secrets(const json_t *secrets, struct preflight_items *items)
{
	size_t index;
	const json_t *secret;

	json_array_foreach(secrets, index, secret) preflight_items_add_secret(
		items, &(struct preflight_secret){
			       .path = (char *)jsonget_text(secret, "path"),
			       .commit = (char *)jsonget_string(secret, "commit"),
			       .what = (char *)jsonget_text(secret, "what"),
			       .shown = (char *)jsonget_text(secret, "shown"),
			       .line = (unsigned long)jsonget_number(secret, "line"),
		       });
}

static void judge_history(const json_t *answer, struct preflight_items *items)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 16);
	const json_t *secrets = json_object_get(answer, "secrets");
	const json_t *first = json_array_get(secrets, 0);
	long long commits = jsonget_number(answer, "commits");
	size_t count = json_array_size(secrets);

	if (count)
		buffer_printf(&text, "the agent can read commit %.12s, %s:%lld: %s %s",
			      jsonget_text(first, "commit"), jsonget_text(first, "path"),
			      (long long)jsonget_number(first, "line"), jsonget_text(first, "what"),
			      jsonget_text(first, "shown"));
	else
		buffer_add_text(&text, "no secrets that the files no longer have");
	if (count > 1)
		buffer_printf(&text, ", and %zu more", count - 1);
	buffer_printf(&text,
		      jsonget_flag(answer, "history_cut") ? " (the newest %lld commit%s)"
							  : " (%lld commit%s)",
		      commits, commits == 1 ? "" : "s");
	add_secrets(secrets, items);
	preflight_items_add(items, "history", count ? PREFLIGHT_WARN : PREFLIGHT_PASS,
			    mem_dup(buffer_text(&text)),
			    count ? "revoke it: git keeps what a file had" : NULL);
}

void preflight_git_judge(const json_t *answer, enum op_start_workspace workspace,
			 struct preflight_items *items)
{
	if (!jsonget_flag(answer, "repository")) {
		preflight_items_add(items, "git", PREFLIGHT_PASS,
				    mem_dup("not a git repository; checkpoints need none"), NULL);
		return;
	}
	judge_state(answer, workspace, items);
	judge_history(answer, items);
}

void preflight_git_end(struct snapshot_job *job, enum op_start_workspace workspace,
		       struct preflight_items *items)
{
	json_t *answer = NULL;
	struct error err;

	if (!job->pid || snapshot_end(job, &answer, &err) < 0) {
		preflight_items_add(items, "git", PREFLIGHT_WARN,
				    mem_format("not examined: %s",
					       job->pid ? err.text
							: "ringfence-snapshot did not start"),
				    "git status");
		return;
	}
	preflight_git_judge(answer, workspace, items);
	json_decref(answer);
}
