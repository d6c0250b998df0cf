/* Leftovers in a draft: see draft_leftovers.h. */
#include "loop/run/draft_leftovers.h"

#include "draft/draft.h"
#include "loop/run/leftovers.h"
#include "loop/run/loop_checkpoint.h"
#include "loop/run/loop_git.h"
#include "loop/run/work.h"
#include "loop/state/loop_folder.h"
#include "snapshot/snapshot.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/shell.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATHS_BYTES = 64 << 20, TIMEOUT_MS = 600000, COMPLAINT_BYTES = 500 };

bool draft_leftovers_wanted(const struct loop_state *state)
{
	return state->options.draft && (state->iteration > 0 || state->options.from) &&
	       state->git_mode && strcmp(state->git_mode, "private") == 0;
}

/* The paths that the loop changed, each with a null byte: those that are gone, and the others. */
struct paths {
	struct buffer gone, present;
};

static void add_path(struct buffer *out, const char *path)
{
	buffer_add(out, path, strlen(path) + 1);
}

/* Reports whether a changed path is a folder, for which git would add everything in it. */
static bool is_folder(int files, const char *path)
{
	AUTO_FD fd = fd_openat2(files, path, O_PATH | O_NOFOLLOW, 0,
				RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct stat status;

	return fd >= 0 && fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

static void sort_paths(int files, const json_t *changes, struct paths *paths)
{
	size_t index;
	const json_t *change;

	json_array_foreach(json_object_get(changes, "changes"), index, change)
	{
		const char *path = jsonget_text(change, "path");

		if (strcmp(jsonget_text(change, "status"), "deleted") == 0)
			add_path(&paths->gone, path);
		else if (!is_folder(files, path))
			add_path(&paths->present, path);
		if (jsonget_string(change, "from"))
			add_path(&paths->gone, jsonget_string(change, "from"));
	}
}

static int read_paths(const struct supervisor *sup, struct paths *paths, struct error *err)
{
	AUTO_FREE char *state = loop_folder_state(sup->folder);
	AUTO_FREE char *place = draft_files(sup->state.options.draft, err);
	AUTO_FD files = place ? open(place, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct snapshot_work work;
	json_t *changes;

	if (!place)
		return -1;

	snapshot_begin(&work, "diff", state, sup->state.options.project, path_name(sup->folder));
	snapshot_tell_number(&work, "from", 0);
	snapshot_tell_number(&work, "to", sup->state.checkpoint);
	snapshot_tell(&work, "style", "json");
	changes = snapshot_read(&work, err);
	snapshot_release(&work);
	if (!changes)
		return -1;
	sort_paths(files, changes, paths);
	json_decref(changes);
	return buffer_overflowed(&paths->gone) || buffer_overflowed(&paths->present)
		       ? error_set(err, "too many files were changed")
		       : 0;
}

/*
 * Commits the draft on top of HEAD. Files that the fence hides stay as they are in HEAD, and are
 * named. The index is a new one, from HEAD: what the user has staged is
 * not the agent's, and the agent's own index may be incomplete. Three lists of paths are staged in
 * it: those that are gone; those that the agent's commits changed, because it may have taken that
 * back in the files alone; and those that the loop changed, without ignored ones. Then the same is
 * staged in the agent's index, so that only the user's changes are left in git status.
 *
 * $0: how many bytes of the input are paths that are gone; $1: the commit or tree that the loop
 * began with, or empty; $2: the message.
 */
static const char script[] =
	"export GIT_LITERAL_PATHSPECS=1\n"
	"own=$(git rev-parse --absolute-git-dir)/ringfence-leftovers &&\n"
	"rm -rf \"$own\" && mkdir \"$own\" && head -c \"$0\" >\"$own/gone\" && cat >\"$own/changed\" &&\n"
	": >\"$own/again\" || exit 1\n"
	"if [ \"$1\" ] && git rev-parse -q --verify HEAD >\"$own/head\"; then\n"
	"	git diff-tree -r -z --no-renames --name-only \"$1\" HEAD |\n"
	"	xargs -0 sh -c 'for path; do at=$path\n"
	"	while [ ! -e \"$at\" ] && [ ! -L \"$at\" ]; do\n"
	"		case $at in */*) at=${at%/*};; *) at=.;; esac\n"
	"	done\n"
	"	if [ ! -r \"$at\" ] && [ ! -L \"$at\" ]; then continue; fi\n"
	"	if [ -f \"$path\" ] || [ -L \"$path\" ]; then list=again; else list=gone; fi\n"
	"	printf \"%s\\0\" \"$path\" >>\"$0/$list\"; done' \"$own\" || exit 1\n"
	"fi\n"
	"stage() {\n"
	"	git update-index --force-remove -z --stdin <\"$own/gone\" &&\n"
	"	git update-index --add --replace -z --stdin <\"$own/again\" &&\n"
	"	{ git add --ignore-errors --pathspec-from-file=\"$own/changed\" --pathspec-file-nul \\\n"
	"	2>\"$own/errors\" || :; }\n"
	"}\n"
	"(	export GIT_INDEX_FILE=\"$own/index\"\n"
	"	if [ -s \"$own/head\" ]; then git read-tree HEAD; else git read-tree --empty; fi &&\n"
	"	stage && { git diff --cached --quiet ||\n"
	"	git -c user.name=" LEFTOVERS_NAME " -c user.email=" LEFTOVERS_MAIL
	" -c commit.gpgSign=false -c core.hooksPath=/dev/null\\\n"
	"	commit -q --no-verify --author='" LEFTOVERS_NAME " <" LEFTOVERS_MAIL
	">' -m \"$2\"; }\n"
	") || exit 1\n"
	"stage >\"$own/log\" 2>&1\n"
	"hidden=$(sed -n 's/^error: open(\"\\(.*\\)\"): Permission denied$/\\1/p' \"$own/errors\")\n"
	"rm -rf \"$own\"\n"
	"[ -z \"$hidden\" ] || { echo the fence hides these files from git: $hidden >&2; exit 1; }";

static char *command_for(const struct supervisor *sup, size_t gone_bytes)
{
	AUTO_FREE char *message = leftovers_message(path_name(sup->folder), &sup->state);
	AUTO_FREE char *quoted = shell_quoted(message);
	AUTO_FREE char *quoted_script = shell_quoted(script);

	return mem_format("exec sh -c %s %zu '%s' %s", quoted_script, gone_bytes, sup->git.began,
			  quoted);
}

/* Runs git in the fence. Returns 0, with the reason in *ret_why if it failed, or -1 with err. */
static int run_git(struct supervisor *sup, const char *folder, struct paths *paths, char **ret_why,
		   struct error *err)
{
	AUTO_FREE char *command = command_for(sup, paths->gone.used);
	AUTO_BUFFER struct buffer complaint = BUFFER_INIT(2 * COMPLAINT_BYTES);
	struct runner_result result;
	size_t gone = paths->gone.used;

	buffer_add(&paths->gone, paths->present.data, paths->present.used);

	const struct work work = { .command = command,
				   .input = buffer_text(&paths->gone),
				   .size = gone + paths->present.used,
				   .timeout_ms = TIMEOUT_MS,
				   .folder = folder,
				   .name = "leftovers." };

	if (work_run(sup, &work, &result, err) < 0)
		return -1;
	sink_last(&sup->run.complaints, COMPLAINT_BYTES, &complaint);
	if (result.kind != FENCE_OK && !sup->leaving)
		*ret_why = mem_format("%s", result.kind == FENCE_SETUP ? result.why
					    : *buffer_text(&complaint) ? buffer_text(&complaint)
								       : "git was stopped");
	work_forget(sup);
	return 0;
}

static int commit(struct supervisor *sup, const char *folder, char **ret_why, struct error *err)
{
	struct paths paths = { BUFFER_INIT(2 * PATHS_BYTES), BUFFER_INIT(PATHS_BYTES) };
	struct error why;
	int result = 0;

	if (read_paths(sup, &paths, &why) < 0)
		*ret_why = mem_dup(why.text);
	else if (paths.gone.used + paths.present.used || sup->state.git_commit)
		result = run_git(sup, folder, &paths, ret_why, err);
	buffer_release(&paths.gone);
	buffer_release(&paths.present);
	return result;
}

int draft_leftovers_commit(struct supervisor *sup, const char *folder, char **ret_why,
			   struct error *err)
{
	AUTO_FREE char *failed = NULL;

	*ret_why = NULL;
	if (loop_checkpoint_take(sup, "after", sup->state.iteration, &failed, err) < 0 ||
	    loop_git_open(sup, err) < 0)
		return -1;
	if (sup->leaving || !sup->git.covers.count)
		return 0;
	if (failed)
		*ret_why = mem_dup(failed);
	else if (commit(sup, folder, ret_why, err) < 0)
		return -1;
	return sup->leaving ? 0 : loop_git_import(sup, err);
}
