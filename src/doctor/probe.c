/* The trial run of the fence: see probe.h. */
#include "doctor/probe.h"

#include "fenced/fenced.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* High enough that the trial does not hit them, low enough to be limits on any machine. */
static const uint64_t trial[FENCE_LIMIT_COUNT] = {
	[FENCE_LIMIT_MEMORY] = 256 << 20,   [FENCE_LIMIT_CPUS] = 500,
	[FENCE_LIMIT_PROCESSES] = 64,       [FENCE_LIMIT_OPEN_FILES] = 256,
	[FENCE_LIMIT_FILE_SIZE] = 64 << 20, [FENCE_LIMIT_TMP_SIZE] = 16 << 20,
	[FENCE_LIMIT_DISK] = 64 << 20,      [FENCE_LIMIT_TIME] = 5000,
};

static void set_limits(struct fence_spec *spec)
{
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		spec->limits[i] = trial[i];
		spec->accepted_limits |= 1U << i;
	}
}

void probe_enter_scope(void)
{
	struct fence_spec spec = { 0 };

	set_limits(&spec);
	fence_try_scope(&spec);
}

/* Needs its own process: a run takes over signals, the terminal and, for root, the identity. */
static void run_trial(const char *mechanism, const char *project, struct probe *probe)
{
	char *const command[] = { (char *)"true", NULL };
	struct fence_spec spec = { .mechanism = mechanism, .project = project, .command = command };
	struct fenced run;
	struct error err;

	set_limits(&spec);
	fenced_run(&(struct fenced_request){ .spec = &spec }, &run, &err);

	const struct fence_result *result = &run.result;

	probe->tried = run.planned;
	probe->held = result->kind == FENCE_OK;
	if (run.planned)
		snprintf(probe->mechanism, sizeof probe->mechanism, "%s", result->mechanism);
	probe->weaker = result->weaker;
	probe->canaries_held = result->canaries_held;
	probe->canaries_total = result->canaries_total;
	probe->duration_ms = result->duration_ms;
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++)
		probe->limits[i] = result->limits[i].how;
	if (!probe->held)
		snprintf(probe->why, sizeof probe->why, "%s",
			 result->why[0] ? result->why : "the trial command did not run");
	fenced_release(&run);
}

static _Noreturn void report_trial(const char *mechanism, const char *project, int to)
{
	struct probe probe = { 0 };

	fd_place((const int[]){ FD_NULL, FD_NULL, FD_NULL }, 3);
	run_trial(mechanism, project, &probe);
	_exit(fd_write_all(to, &probe, sizeof probe) < 0);
}

void probe_fence(const char *mechanism, struct probe *ret_probe)
{
	AUTO_FREE char *project = mem_format("/tmp/ringfence-doctor-%d-XXXXXX", getpid());
	AUTO_BUFFER struct buffer answer = BUFFER_INIT(sizeof *ret_probe);
	int ends[2];

	*ret_probe = (struct probe){ 0 };
	snprintf(ret_probe->why, sizeof ret_probe->why, "the trial run ended without a result");
	if (!mkdtemp(project)) {
		snprintf(ret_probe->why, sizeof ret_probe->why, "create a folder in /tmp: %s",
			 strerror(errno));
		return;
	}
	if (pipe2(ends, O_CLOEXEC) == 0) {
		pid_t child = fork();

		if (child == 0)
			report_trial(mechanism, project, ends[1]);
		close(ends[1]);
		if (child > 0 && fd_read_all(ends[0], &answer) == 0 &&
		    answer.used == sizeof *ret_probe)
			memcpy(ret_probe, answer.data, sizeof *ret_probe);
		close(ends[0]);
		if (child > 0)
			waitpid(child, NULL, 0);
	}
	rmdir(project);
}
