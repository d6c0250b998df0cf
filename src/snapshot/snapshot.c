/* The client of ringfence-snapshot. */
#include "snapshot/snapshot.h"

#include "util/buffer.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/text/jsonget.h"
#include "util/text/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's descriptors for the answer and the lock. */
enum {
	ANSWER = 3,
	LOCK = 4,
	KEPT = 5,
	ANSWER_BYTES = 64 << 20,
	OUTPUT_BYTES = 1 << 30,
	PROGRESS_MS = 3000
};

char *snapshot_place(const char *state, const char *project)
{
	char hash[SHA256_HEX];

	sha256_hex(project, strlen(project), hash);
	return mem_format("%s/snapshots/%.16s.git", state, hash);
}

void snapshot_begin(struct snapshot_work *work, const char *name, const char *state,
		    const char *project, const char *loop)
{
	AUTO_FREE char *store = snapshot_place(state, project);

	*work = (struct snapshot_work){ 0 };
	list_add(&work->arguments, "ringfence-snapshot");
	list_add(&work->arguments, name);
	snapshot_tell(work, "store", store);
	snapshot_tell(work, "project", project);
	snapshot_tell(work, "loop", loop);
}

void snapshot_tell(struct snapshot_work *work, const char *key, const char *value)
{
	list_printf(&work->arguments, "%s=%s", key, value);
}

void snapshot_tell_number(struct snapshot_work *work, const char *key, int64_t value)
{
	list_printf(&work->arguments, "%s=%lld", key, (long long)value);
}

void snapshot_release(struct snapshot_work *work)
{
	list_release(&work->arguments);
}

struct child {
	const char *program;
	char *const *arguments;
	int output, answer, lock; /* or FD_NULL */
	pid_t parent;
};

/* Runs in the child, which shares the parent's memory until it calls execve(). */
static int exec_child(void *argument)
{
	const struct child *child = argument;
	const int wanted[KEPT] = { FD_NULL, child->output,
				   FD_UNTOUCHED, [ANSWER] = child->answer, [LOCK] = child->lock };

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != child->parent)
		_exit(126);
	process_become(child->program, child->arguments, env_all(), wanted, KEPT);
	_exit(127);
}

int snapshot_start(const struct snapshot_work *work, int output, int lock,
		   struct snapshot_job *ret_job, struct error *err)
{
	AUTO_FREE char *program = NULL;
	int ends[2];

	if (process_beside("ringfence-snapshot", &program, err) < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "create a pipe");

	struct child child = { .program = program,
			       .arguments = work->arguments.items,
			       .output = output,
			       .answer = ends[1],
			       .lock = lock,
			       .parent = getpid() };
	pid_t pid = process_borrow(exec_child, &child, 0);

	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return error_sys(err, "start '%s'", program);
	}
	*ret_job = (struct snapshot_job){ .pid = pid, .answer = ends[0] };
	return 0;
}

static const char *describe_exit(int status)
{
	if (WIFSIGNALED(status))
		return strsignal(WTERMSIG(status));
	return "it did not start, or exited without an answer";
}

int snapshot_end(struct snapshot_job *job, json_t **ret_answer, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(ANSWER_BYTES);
	int status = 0;
	json_t *answer;
	int result = 0;

	if (fd_read_all(job->answer, &text) < 0)
		text.used = 0;
	fd_close(&job->answer);
	while (waitpid(job->pid, &status, 0) < 0 && errno == EINTR)
		;
	job->pid = 0;
	answer = json_loadb(buffer_text(&text), text.used, 0, NULL);

	const char *why = jsonget_string(answer, "error");
	const char *named = jsonget_string(answer, "status");

	if (why)
		result = error_with(err, error_status_named(named), "%s", why);
	else if (!json_is_object(answer))
		result = error_with(err, ERROR_DIED, "ringfence-snapshot: %s",
				    describe_exit(status));
	if (result == 0)
		*ret_answer = answer;
	else
		json_decref(answer);
	return result;
}

void snapshot_cancel(struct snapshot_job *job)
{
	if (job->pid) {
		kill(job->pid, SIGKILL);
		waitpid(job->pid, NULL, 0);
	}
	fd_close(&job->answer);
	*job = SNAPSHOT_JOB_INIT;
}

void snapshot_await(const struct snapshot_job *job, snapshot_progress_fn *progress,
		    const char *what)
{
	struct pollfd answer = { .fd = job->answer, .events = POLLIN };

	while (progress && poll(&answer, 1, PROGRESS_MS) == 0)
		progress(what);
}

int snapshot_run(const struct snapshot_work *work, int output, json_t **ret_answer,
		 struct error *err)
{
	struct snapshot_job job;

	if (snapshot_start(work, output, -1, &job, err) < 0)
		return -1;
	return snapshot_end(&job, ret_answer, err);
}

json_t *snapshot_read(const struct snapshot_work *work, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(OUTPUT_BYTES);
	AUTO_FD output = memfd_create("output", MFD_CLOEXEC);
	json_t *answer = NULL;
	json_t *parsed = NULL;
	int result = output < 0 ? error_sys(err, "create a file in memory")
				: snapshot_run(work, output, &answer, err);

	json_decref(answer);
	if (result < 0)
		return NULL;
	if (lseek(output, 0, SEEK_SET) < 0 || fd_read_all(output, &text) < 0)
		error_sys(err, "read the output of ringfence-snapshot");
	else if (!(parsed = json_loads(buffer_text(&text), 0, NULL)))
		error_with(err, ERROR_PROTOCOL, "the output of ringfence-snapshot is not JSON");
	return parsed;
}
