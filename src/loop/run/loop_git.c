/* Git for the agent: see loop_git.h. */
#include "loop/run/loop_git.h"

#include "fence/fence_hidden.h"
#include "loop/run/git_locks.h"
#include "loop/run/loop_checkpoint.h"
#include "loop/state/loop_report.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *loop_git_place(const struct supervisor *sup)
{
	return sup->git.covers.count ? path_join(sup->folder, "git")
				     : path_join(sup->state.options.project, ".git");
}

static void read_covers(struct supervisor *sup, const json_t *answer)
{
	size_t index;
	json_t *entry;

	fence_covers_release(&sup->git.covers);
	json_array_foreach(json_object_get(answer, "covers"), index, entry)
		fence_covers_add(&sup->git.covers, jsonget_text(entry, "path"),
				 jsonget_text(entry, "source"), jsonget_flag(entry, "writable"));
}

/* Records the mode if it has changed. */
static int record_mode(struct supervisor *sup, const char *mode, const char *why, bool submodules,
		       struct error *err)
{
	const struct loop_state *state = &sup->state;
	json_t *data;

	if (state->git_mode && strcmp(state->git_mode, mode) == 0 &&
	    strcmp(state->git_why ? state->git_why : "", why) == 0)
		return 0;
	data = json_pack("{s:s}", "mode", mode);
	if (*why)
		json_object_set_new(data, "why", loop_report_text(why));
	if (submodules)
		json_object_set_new(data, "submodules", json_true());
	return supervisor_append(sup, LOOP_EVENT_git, data, err);
}

/*
 * Returns why the private directory is no longer usable, or "". The agent owns it; it is not
 * created twice.
 */
static const char *why_gone(const struct supervisor *sup)
{
	AUTO_FREE char *head = path_join(sup->folder, "git/HEAD");

	return access(head, F_OK) < 0 && errno == ENOENT
		       ? "the agent emptied .git: git does not work in the fence for the rest of the loop"
		       : "";
}

/*
 * The mode is decided before anything runs in the project: a .git that appears later may be
 * anyone's, and objects that it borrows would be exposed in the fence.
 */
static bool is_decided(const struct supervisor *sup)
{
	const struct loop_state *state = &sup->state;

	return state->git_mode ? strcmp(state->git_mode, "private") != 0 : state->iteration > 0;
}

/* Did the user configure access to .git? That takes precedence. */
static bool is_configured(const struct supervisor *sup)
{
	const struct fence_paths *const lists[] = { &sup->fence.write, &sup->fence.read,
						    &sup->fence.hide, NULL };
	AUTO_FREE char *git = path_join(sup->state.options.project, ".git");

	for (const struct fence_paths *const *list = lists; *list; list++)
		for (size_t i = 0; i < (*list)->count; i++)
			if (path_within((*list)->items[i].path, git))
				return true;
	return false;
}

/*
 * Lists the paths in the project that the fence hides, for a new directory. Later a killed run may
 * have left something, which belongs into the report of the next run.
 */
static void list_hidden(const struct supervisor *sup, struct list *ret_paths)
{
	AUTO_FREE char *git = path_join(sup->folder, "git");
	struct fence_spec spec = sup->fence;

	spec.project = sup->state.options.project;
	if (access(git, F_OK) < 0)
		fence_hidden_list(&spec, ret_paths);
}

int loop_git_open(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *failed = NULL;
	struct list hidden = { 0 };
	json_t *answer = NULL;
	int result = 0;

	if (sup->git.open || !sup->state.options.git || is_decided(sup) || is_configured(sup) ||
	    sup->fence.accepted_weaker & FENCE_WEAKER_NO_FENCE)
		return 0;
	if (!fence_spec_has_mounts(&sup->fence))
		return record_mode(sup, "read-only", "this fence has no mounts", false, err);
	list_hidden(sup, &hidden);
	result = loop_checkpoint_ask(sup, "git-open", &hidden, &answer, &failed, err);
	list_release(&hidden);
	if (result == 0 && !sup->leaving) {
		const char *why = jsonget_text(answer, "why");

		read_covers(sup, answer);
		snprintf(sup->git.began, sizeof sup->git.began, "%s",
			 jsonget_text(answer, "began"));
		if (sup->git.covers.count && *why_gone(sup))
			why = why_gone(sup);
		result = record_mode(sup, failed ? "read-only" : jsonget_text(answer, "mode"),
				     failed ? failed : why, jsonget_flag(answer, "submodules"),
				     err);
		sup->git.open = true;
	}
	json_decref(answer);
	return result;
}

int loop_git_unlock(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *git = loop_git_place(sup);
	struct list removed = { 0 };
	int result = 0;

	if (sup->git.covers.count)
		git_locks_remove(git, &removed);
	if (removed.count) {
		json_t *data = json_pack("{s:s?, s:I, s:o}", "mode", sup->state.git_mode,
					 "unlocked", (json_int_t)removed.count, "lock",
					 loop_report_text(removed.items[0]));

		if (sup->state.git_why)
			json_object_set_new(data, "why", json_string(sup->state.git_why));
		result = supervisor_append(sup, LOOP_EVENT_git, data, err);
	}
	list_release(&removed);
	return result;
}

/* Did the agent write objects, or try to? Most iterations end here, without another process. */
static bool has_traces(const struct supervisor *sup)
{
	static const char *const folders[] = { "git/objects", "git/objects/pack" };
	AUTO_FREE char *lock = path_join(sup->folder, "git/index.lock");
	bool found = access(lock, F_OK) == 0;

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		AUTO_FREE char *path = path_join(sup->folder, folders[i]);
		DIR *dir = opendir(path);

		for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
			found = entry->d_name[0] != '.' && strcmp(entry->d_name, "info") != 0 &&
				strcmp(entry->d_name, "pack") != 0;
		if (dir)
			closedir(dir);
	}
	return found;
}

/* Is this something that the state does not know? A process that died may have imported it. */
static bool is_unknown(const struct loop_state *state, const json_t *answer)
{
	const char *commit = jsonget_string(answer, "commit");

	return state->git_error ||
	       (commit && (!state->git_commit || strcmp(commit, state->git_commit) != 0));
}

/* Is this what the state says? The same trouble is not reported twice. */
static bool is_same_trouble(const struct loop_state *state, const json_t *answer)
{
	const struct list *before = &state->git_trouble;
	struct list trouble;
	bool same;

	loop_state_git_trouble(answer, &trouble);
	same = trouble.count == before->count;
	for (size_t i = 0; same && i < trouble.count; i++)
		same = strcmp(trouble.items[i], before->items[i]) == 0;
	list_release(&trouble);
	return same;
}

static bool is_news(const struct loop_state *state, const json_t *answer)
{
	return jsonget_number(answer, "refs") > 0 || !is_same_trouble(state, answer) ||
	       is_unknown(state, answer);
}

int loop_git_import(struct supervisor *sup, struct error *err)
{
	AUTO_FREE char *failed = NULL;
	json_t *answer = NULL;
	json_t *data = NULL;
	int result = 0;

	if (!sup->git.covers.count)
		return 0;
	if (record_mode(sup, "private", why_gone(sup), false, err) < 0)
		return -1;
	if (!has_traces(sup))
		return 0;
	if (loop_checkpoint_ask(sup, "git-import", NULL, &answer, &failed, err) < 0)
		return -1;
	if (failed)
		data = json_pack("{s:o}", "error", loop_report_text(failed));
	else if (answer && is_news(&sup->state, answer))
		data = json_deep_copy(answer);
	if (data)
		result = supervisor_append(sup, LOOP_EVENT_imported, data, err);
	json_decref(answer);
	return result;
}
