/* Runs in processes of their own: see runner.h. */
#include "loop/runner.h"

#include "fence/fence.h"
#include "fence/fence_report.h"
#include "gateway/owner/gateway_outlet.h"
#include "util/buffer.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIFELINE = 3, RESULT = 4, KEPT = 5, TRIES = 8 };

static void say_nothing(const char *text)
{
	(void)text;
}

static void fill(const struct fence_result *from, struct runner_result *ret)
{
	*ret = (struct runner_result){
		.kind = from->kind,
		.code = from->code,
		.tripped = from->tripped,
		.weaker = from->weaker,
		.weaker_limits = from->weaker_limits,
		.canaries_held = from->canaries_held,
		.canaries_total = from->canaries_total,
		.denials = (uint32_t)from->denials.count,
		.quarantined = (uint32_t)from->found.count,
		.use = from->use,
		.duration_ms = from->duration_ms,
	};
	snprintf(ret->mechanism, sizeof ret->mechanism, "%s", from->mechanism);
	snprintf(ret->why, sizeof ret->why, "%.1000s", from->why);
}

/* For people, and for whoever asks later who was denied what. Nothing depends on it. */
static void write_report(const char *path, const struct fence_plan *plan,
			 const struct fence_result *result)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64 << 20);
	AUTO_FREE char *above = strndup(path, (size_t)(path_name(path) - path));
	AUTO_FD folder = open(above ? above : "", O_PATH | O_DIRECTORY | O_CLOEXEC);

	fence_report_write(plan, result, &text);
	if (result->denials
		    .count) /* a check that is denied nothing does not make forget what the agent was */
		fence_report_keep(plan, result, &text);
	if (folder >= 0)
		fd_replace_file(folder, path_name(path), text.data, text.used, 0600);
}

/* The gateway, if one is needed. Returns 0, or -1 with err set. */
static int make_outlet(struct fence_spec *spec, const struct ledger_options *books,
		       struct error *err)
{
	if (spec->net != FENCE_NET_LIST)
		return 0;
	spec->outlet = gateway_outlet_new(err);
	if (!spec->outlet)
		return -1;
	if (spec->models.count == 0)
		return 0;
	if (gateway_outlet_models(spec->outlet, &spec->models, books, err) < 0)
		return -1;
	/* The agent may read a tape that is in the project, and not change it. */
	if (gateway_outlet_tape(spec->outlet) &&
	    path_within(gateway_outlet_tape(spec->outlet), spec->project))
		fence_paths_add(&spec->read, gateway_outlet_tape(spec->outlet), "the tape");
	return 0;
}

static void perform(struct fence_spec *spec, const struct ledger_options *books, const char *report,
		    struct runner_result *ret)
{
	struct fence_result result = { 0 };
	struct error err;

	*ret = (struct runner_result){ .kind = FENCE_SETUP, .code = FENCE_EXIT_NOT_SET_UP };
	if (make_outlet(spec, books, &err) < 0) {
		snprintf(ret->why, sizeof ret->why, "%.1000s", err.text);
		gateway_outlet_free(spec->outlet);
		return;
	}
	for (int i = 0; i == 0 || (result.changed && i < TRIES); i++) {
		struct fence_plan plan;

		fence_result_release(&result);
		result = (struct fence_result){ 0 };
		if (fence_plan_make(spec, &plan, &err) < 0) {
			snprintf(ret->why, sizeof ret->why, "%.1000s", err.text);
			break;
		}
		fence_run(&plan, say_nothing, &result);
		fill(&result, ret);
		write_report(report, &plan, &result);
		fence_plan_release(&plan);
	}
	fence_result_release(&result);
	ret->metered = gateway_outlet_news(spec->outlet, &ret->news);
	gateway_outlet_free(spec->outlet);
}

/* In the new process: the wired descriptors, and nothing else of the supervisor's but its lock, which is
 * held until this one is gone, too. */
static _Noreturn void become_runner(const struct fence_spec *asked,
				    const struct ledger_options *books, const int wanted[KEPT + 1],
				    const char *report)
{
	struct fence_spec spec = *asked;
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
	spec.lifeline = &lifeline;
	perform(&spec, books, report, &result);
	_exit(fd_write_all(RESULT, &result, sizeof result) < 0);
}

int runner_start(const struct fence_spec *spec, const struct ledger_options *books, int lock,
		 const char *input, size_t size, const char *report, struct runner *ret_runner,
		 struct error *err)
{
	AUTO_FD stdin_file = fd_memory("prompt", input, size);
	int pipes[4][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } };
	enum { OUTPUT, COMPLAINTS, LIFE, END };

	*ret_runner = RUNNER_INIT;
	if (stdin_file < 0)
		return error_sys(err, "hand over the prompt");
	for (int i = 0; i < 4; i++)
		if (pipe2(pipes[i], O_CLOEXEC) < 0)
			return error_sys(err, "make a pipe");

	const int wanted[KEPT + 1] = { stdin_file,     pipes[OUTPUT][1], pipes[COMPLAINTS][1],
				       pipes[LIFE][0], pipes[END][1],    [KEPT] = lock };
	pid_t child = fork();

	if (child == 0)
		become_runner(spec, books, wanted, report);
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
		errno = 0; /* it is gone already */
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
	/* What a killed runner leaves comes to this process, a subreaper. It ends by its own lifeline, but not
	 * if it had not got that far. */
	process_end_children();
}
