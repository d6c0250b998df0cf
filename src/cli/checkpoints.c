/* Shared by all commands for checkpoints: see checkpoints.h. */
#include "cli/checkpoints.h"

#include "cli/view/color.h"
#include "loop/state/loop_taint.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/taint.h"
#include "view/view_changes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int checkpoints_find(struct loops_options *opts, struct error *err)
{
	const struct op_target target = { .state = opts->place.state,
					  .project = opts->place.project,
					  .loop = opts->loop_id };

	return op_find(&target, &opts->loop, err) == OP_DONE ? 0 : -1;
}

int checkpoints_begin(struct loops_options *opts, const char *name, struct snapshot_work *ret_work,
		      struct error *err)
{
	if (checkpoints_find(opts, err) < 0)
		return -1;
	view_changes_begin(opts->place.state, &opts->loop, name, ret_work);
	return 0;
}

int checkpoints_check_number(const char *text, struct error *err)
{
	if (*text && strlen(text) < 10 && strspn(text, "0123456789") == strlen(text))
		return 0;
	return error_set(err, "'%s' is not the number of a checkpoint (see: ringfence checkpoints)",
			 text);
}

char *checkpoints_path(const struct loops_options *opts, const char *given, struct error *err)
{
	return checkpoints_path_in(opts->loop.state.options.project, given, err);
}

char *checkpoints_path_in(const char *project, const char *given, struct error *err)
{
	AUTO_FREE char *here = getcwd(NULL, 0);
	AUTO_FREE char *path = path_absolute(given,
					     here && path_within(here, project) ? here : project);

	if (path_within(path, project))
		return mem_dup(strcmp(path, project) == 0 ? "" : path + strlen(project) + 1);
	error_set(err, "'%s' is not in the project '%s'", given, project);
	return NULL;
}

/* In the child. */
static _Noreturn void exec_pager(const char *line, const struct taint *taint)
{
	char *const arguments[] = { (char *)"sh", (char *)"-c", (char *)line, NULL };
	struct list environment = { 0 };

	taint_environment(taint, &environment);
	if (!env_get("LESS"))
		env_put(&environment, "LESS=FRX");
	execve("/bin/sh", arguments, environment.items);
	_exit(127);
}

/* Returns the line of the pager, or NULL if there is none that is safe. */
static const char *find_pager(const struct taint *taint)
{
	const char *line = env_get("PAGER");
	AUTO_FREE char *less = line ? NULL : taint_find(taint, "less");
	struct error unsafe;

	if (!line)
		return less ? "less" : NULL;
	if (!*line || strcmp(line, "cat") == 0 || taint_check_line(taint, line, &unsafe) < 0)
		return NULL;
	return line;
}

/* Starts a pager. Returns a pipe to its stdin, or -1. */
static int start_line(const char *line, const struct taint *taint, pid_t *ret_pid)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	*ret_pid = fork();
	if (*ret_pid == 0) {
		fd_place(&ends[0], 1);
		signal(SIGPIPE, SIG_DFL);
		exec_pager(line, taint);
	}
	close(ends[0]);
	if (*ret_pid < 0)
		close(ends[1]);
	return *ret_pid < 0 ? -1 : ends[1];
}

/* Starts the pager. Returns a pipe to its stdin, or -1 if there is no pager. */
static int start_pager(const struct loops_options *opts, pid_t *ret_pid)
{
	struct taint taint;
	const char *line;
	int output = -1;

	taint_init(&taint, env_home());
	taint_add(&taint, opts->place.project);
	loop_taint_add(&opts->loop.state, &taint);
	line = find_pager(&taint);
	if (line)
		output = start_line(line, &taint, ret_pid);
	taint_release(&taint);
	return output;
}

int checkpoints_print(const struct loops_options *opts, struct snapshot_work *work, bool pager,
		      struct error *err)
{
	bool terminal = isatty(STDOUT_FILENO);
	struct snapshot_job job;
	json_t *answer = NULL;
	pid_t reader = 0;
	AUTO_FD output = terminal && pager ? start_pager(opts, &reader) : -1;
	int result;

	snapshot_tell_number(work, "terminal", terminal);
	snapshot_tell_number(work, "color", color_wanted());
	result = snapshot_start(work, output >= 0 ? output : STDOUT_FILENO, -1, &job, err);
	fd_close(&output);
	if (result == 0)
		result = snapshot_end(&job, &answer, err);
	json_decref(answer);
	while (reader > 0 && waitpid(reader, NULL, 0) < 0 && errno == EINTR)
		;
	/* It is not an error if the user quits the pager before the end of the text. */
	if (result < 0 && reader > 0 && err->status == ERROR_OUTPUT)
		return 0;
	return result < 0 ? cli_fail(err) : 0;
}
