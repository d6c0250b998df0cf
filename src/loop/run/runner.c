/* Runs in separate processes: see runner.h. */
#include "loop/run/runner.h"

#include "failure/failure.h"
#include "fenced/fenced.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIFELINE = 3, RESULT, WATCH, INDEX, KEPT };

static uint32_t count_late(const struct fenced *run)
{
	const struct fence_result *result = &run->result;
	uint32_t late = 0;

	for (size_t i = 0; i < result->denials.count; i++)
		late += !result->denials.items[i].harmless &&
			failure_denial_explains(result->denials.items[i].last_ms,
						run->metered ? run->news.asked_ms : 0,
						result->ended_ms);
	return late;
}

static void fill(const struct fenced *run, struct runner_result *ret)
{
	const struct fence_result *from = &run->result;

	*ret = (struct runner_result){
		.kind = from->kind,
		.code = from->code,
		.tripped = from->tripped,
		.weaker = from->weaker,
		.weaker_limits = from->weaker_limits,
		.canaries_held = from->canaries_held,
		.canaries_total = from->canaries_total,
		.denials = (uint32_t)fence_denials_count(&from->denials),
		.denials_late = count_late(run),
		.quarantined = (uint32_t)from->found.count,
		.use = from->use,
		.duration_ms = from->duration_ms,
		.metered = run->metered,
		.news = run->news,
	};
	snprintf(ret->mechanism, sizeof ret->mechanism, "%s", run->planned ? from->mechanism : "");
	snprintf(ret->why, sizeof ret->why, "%.1000s", from->why);
}

/*
 * For people and `ringfence suggest`; nothing depends on it. A check without denials must not
 * replace those of the agent.
 */
static void write_report(const char *path, const struct fenced *run)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64 << 20);
	AUTO_FREE char *above = path_folder(path);
	AUTO_FD folder = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);

	fenced_report(run, false, &text);
	if (folder >= 0)
		fd_replace_file(folder, path_name(path), text.data, text.used, 0600);
}

/* Hands over the index that this process made. */
static enum runner_index return_index(const struct fence_index *index)
{
	if (!fence_index_is_watched(index))
		return RUNNER_INDEX_UNWATCHED;
	for (size_t i = 0; i < index->paths.count; i++)
		if (fd_write_all(INDEX, index->paths.items[i], strlen(index->paths.items[i]) + 1) <
		    0)
			return RUNNER_INDEX_NOT;
	return RUNNER_INDEX_MADE;
}

static void perform(const struct runner_request *request, const struct fence_spec *spec,
		    struct runner_result *ret)
{
	bool makes = request->index_file >= 0;
	struct fenced run;
	struct error err = { 0 };
	int result;

	result = fenced_run(&(struct fenced_request){ .spec = spec,
						      .ledger = request->ledger,
						      .draft = request->draft,
						      .over = request->over,
						      .front = request->front,
						      .index = request->index },
			    &run, &err);
	fill(&run, ret);
	ret->unviewed = result < 0 && err.status == ERROR_DIED;
	if (makes && request->index->complete)
		ret->index = return_index(request->index);
	if (run.planned)
		write_report(request->report, &run);
	fenced_release(&run);
}

/*
 * In the new process: keeps only the wired descriptors and the supervisor's lock, which stays held
 * until this process is gone.
 */
static _Noreturn void become_runner(const struct runner_request *request,
				    const int wanted[KEPT + 1])
{
	struct fence_spec spec = *request->spec;
	struct runner_result result;
	static const int lifeline = LIFELINE;
	sigset_t none;

	fd_place(wanted, KEPT + 1);
	for (int i = LIFELINE; i <= KEPT; i++)
		fcntl(i, F_SETFD, FD_CLOEXEC);
	syscall(SYS_close_range, KEPT + 1, ~0U, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	if (request->index && request->index->watch >= 0)
		request->index->watch = WATCH;
	spec.lifeline = &lifeline;
	perform(request, &spec, &result);
	_exit(fd_write_all(RESULT, &result, sizeof result) < 0);
}

int runner_start(const struct runner_request *request, struct runner *ret_runner, struct error *err)
{
	AUTO_FD stdin_file = fd_memory("prompt", request->input, request->size);
	int pipes[4][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	enum { OUTPUT, COMPLAINTS, LIFE, END };

	*ret_runner = RUNNER_INIT;
	if (stdin_file < 0)
		return error_sys(err, "pass the prompt");
	for (int i = 0; i < 4; i++)
		if (pipe2(pipes[i], O_CLOEXEC) < 0)
			return error_sys(err, "make a pipe");

	const int wanted[KEPT + 1] = {
		stdin_file,           pipes[OUTPUT][1],
		pipes[COMPLAINTS][1], pipes[LIFE][0],
		pipes[END][1],        request->index ? request->index->watch : FD_NULL,
		request->index_file,  request->lock
	};
	pid_t child = fork();

	if (child == 0)
		become_runner(request, wanted);
	close(pipes[OUTPUT][1]);
	close(pipes[COMPLAINTS][1]);
	close(pipes[LIFE][0]);
	close(pipes[END][1]);
	*ret_runner = (struct runner){ .pid = child,
				       .output = pipes[OUTPUT][0],
				       .complaints = pipes[COMPLAINTS][0],
				       .lifeline = pipes[LIFE][1],
				       .result = pipes[END][0] };
	return child < 0 ? error_sys(err, "start a process") : 0;
}

void runner_stop(const struct runner *runner)
{
	if (write(runner->lifeline, "t", 1) < 0)
		errno = 0; /* it is already gone */
}

void runner_end(struct runner *runner, struct runner_result *ret_result)
{
	ssize_t n;

	do
		n = read(runner->result, ret_result, sizeof *ret_result);
	while (n < 0 && errno == EINTR);
	if (n != sizeof *ret_result) {
		*ret_result = (struct runner_result){ .kind = FENCE_SETUP,
						      .lost = true,
						      .code = FENCE_EXIT_NOT_SET_UP,
						      .tripped = FENCE_LIMIT_COUNT };
		snprintf(ret_result->why, sizeof ret_result->why,
			 "the process that holds the fence was killed");
	}
	fd_close(&runner->lifeline);
	fd_close(&runner->result);
	waitpid(runner->pid, NULL, 0);
	runner->pid = 0;
	/*
	 * This process is a subreaper and inherits the children of a killed runner. They end by
	 * their own lifeline, unless they were killed too early to have one.
	 */
	process_end_children();
}
