/* Processes that answer requests: see web_job.h. */
#include "serve/web_job.h"

#include "util/clock.h"
#include "util/env.h"
#include "util/file/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void web_job_init(struct web_job_list *jobs, int program, const char *state)
{
	*jobs = (struct web_job_list){ .program = program, .state = state };
}

static void release(struct web_job *job)
{
	fd_close(&job->request);
	fd_close(&job->answer);
	fd_close(&job->pidfd);
	*job = (struct web_job){ 0 };
}

void web_job_close(struct web_job_list *jobs)
{
	for (size_t i = 0; i < WEB_JOB_MOST; i++) {
		struct web_job *job = &jobs->jobs[i];

		if (!job->used)
			continue;
		if (job->pid && !job->acts) {
			kill(-job->pid, SIGKILL);
			waitpid(job->pid, NULL, 0);
		}
		release(job);
	}
}

/* ---- starting ---- */

/* Runs in the child. */
static _Noreturn void exec_part(const struct web_job_list *jobs, const char *name, int input,
				int output, pid_t parent, bool dies_with_us)
{
	enum { KEPT = 4 };
	const int wanted[KEPT] = { input, output, FD_UNTOUCHED, jobs->program };
	char *const arguments[] = { (char *)"ringfence", (char *)"serve-part", (char *)name,
				    (char *)jobs->state, NULL };
	sigset_t none;

	if (dies_with_us)
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (fd_place(wanted, KEPT) < 0 || syscall(SYS_close_range, KEPT, ~0U, 0) < 0)
		_exit(1);
	fcntl(KEPT - 1, F_SETFD, FD_CLOEXEC);
	syscall(SYS_execveat, KEPT - 1, "", arguments, env_all(), AT_EMPTY_PATH);
	_exit(1);
}

pid_t web_job_start(const struct web_job_list *jobs, const char *name, int input, int output,
		    bool dies_with_us)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child == 0)
		exec_part(jobs, name, input, output, parent, dies_with_us);
	if (child > 0)
		setpgid(child, child); /* here and in the child: one of the two is first */
	return child;
}

static void end(struct web_job *job, bool answered, bool timed_out)
{
	web_job_fn *done = job->done;
	void *context = job->context;
	int answer = answered ? fd_steal(&job->answer) : -1;

	release(job);
	if (done)
		done(context, answer, timed_out);
	else if (answer >= 0)
		close(answer);
}

static void start(const struct web_job_list *jobs, struct web_job *job)
{
	job->answer = memfd_create("answer", MFD_CLOEXEC);
	if (job->answer >= 0)
		job->pid = web_job_start(jobs, "answer", job->request, job->answer, !job->acts);
	if (job->answer < 0 || job->pid < 0) {
		job->pid = 0;
		end(job, false, false);
		return;
	}
	job->pidfd = (int)syscall(SYS_pidfd_open, job->pid, 0);
	job->until_ms = clock_steady_ms() + (job->acts ? WEB_JOB_ACT_MS : WEB_JOB_READ_MS);
	fd_close(&job->request);
}

struct web_job *web_job_add(struct web_job_list *jobs, bool acts, const char *request, size_t size,
			    web_job_fn *done, void *context, struct error *err)
{
	for (size_t i = 0; i < WEB_JOB_MOST; i++) {
		struct web_job *job = &jobs->jobs[i];

		if (job->used)
			continue;
		*job = (struct web_job){ .used = true,
					 .acts = acts,
					 .number = jobs->next++,
					 .request = fd_memory("request", request, size),
					 .answer = -1,
					 .pidfd = -1,
					 .done = done,
					 .context = context };
		if (job->request >= 0)
			return job;
		error_sys(err, "keep a request");
		*job = (struct web_job){ 0 };
		return NULL;
	}
	error_with(err, ERROR_BUSY, "the server has %d requests to answer (try again)",
		   WEB_JOB_MOST);
	return NULL;
}

void web_job_abandon(struct web_job *job)
{
	job->done = NULL;
	if (!job->pid && !job->acts)
		release(job);
	else if (!job->acts)
		kill(-job->pid, SIGKILL);
}

/* ---- waiting ---- */

size_t web_job_poll(const struct web_job_list *jobs, struct pollfd *fds, int *timeout_ms)
{
	uint64_t now = clock_steady_ms();
	size_t count = 0;

	for (size_t i = 0; i < WEB_JOB_MOST; i++) {
		const struct web_job *job = &jobs->jobs[i];
		int64_t left = (int64_t)(job->until_ms - now);

		if (!job->used || !job->pid)
			continue;
		fds[count++] = (struct pollfd){ .fd = job->pidfd, .events = POLLIN };
		if (job->done && (*timeout_ms < 0 || left < *timeout_ms))
			*timeout_ms = left > 0 ? (int)left : 0;
	}
	return count;
}

static void look(struct web_job *job, uint64_t now)
{
	int status;
	pid_t ended = waitpid(job->pid, &status, WNOHANG);

	if (ended == job->pid) {
		end(job, WIFEXITED(status) && WEXITSTATUS(status) == 0, false);
		return;
	}
	if (now < job->until_ms || !job->done)
		return;
	if (!job->acts)
		kill(-job->pid, SIGKILL);

	web_job_fn *done = job->done;

	job->done = NULL;
	done(job->context, -1, true);
}

static struct web_job *first_waiting(struct web_job_list *jobs, bool acts)
{
	struct web_job *first = NULL;

	for (size_t i = 0; i < WEB_JOB_MOST; i++) {
		struct web_job *job = &jobs->jobs[i];

		if (job->used && !job->pid && job->acts == acts &&
		    (!first || job->number < first->number))
			first = job;
	}
	return first;
}

/* Reading and acting have places of their own: an action may take minutes. */
static void start_waiting(struct web_job_list *jobs, bool acts, size_t places)
{
	struct web_job *next;
	size_t running = 0;

	for (size_t i = 0; i < WEB_JOB_MOST; i++)
		running += jobs->jobs[i].used && jobs->jobs[i].pid && jobs->jobs[i].acts == acts;
	for (; running < places && (next = first_waiting(jobs, acts)); running++)
		start(jobs, next);
}

void web_job_work(struct web_job_list *jobs)
{
	uint64_t now = clock_steady_ms();

	for (size_t i = 0; i < WEB_JOB_MOST; i++)
		if (jobs->jobs[i].used && jobs->jobs[i].pid)
			look(&jobs->jobs[i], now);
	start_waiting(jobs, false, WEB_JOB_READING);
	start_waiting(jobs, true, WEB_JOB_ACTING);
}
