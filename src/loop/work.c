/* Runs in the fence: see work.h. */
#include "loop/work.h"

#include "util/mem.h"

#include <poll.h>

int work_run(struct supervisor *sup, const char *command, const char *input, size_t size,
	     int64_t timeout_ms, const char *folder, const char *name,
	     struct runner_result *ret_result, struct error *err)
{
	char *const arguments[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	AUTO_FREE char *out = mem_format("%s/%sstdout.log", folder, name);
	AUTO_FREE char *complaints = mem_format("%s/%sstderr.log", folder, name);
	struct fence_spec spec = sup->fence;

	spec.project = sup->state.options.project;
	spec.command = arguments;
	spec.limits[FENCE_LIMIT_TIME] = (uint64_t)timeout_ms;
	if (runner_start(&spec, sup->lock, input, size, &sup->runner, err) < 0)
		return -1;
	sink_open(&sup->output, sup->runner.output, out);
	sink_open(&sup->complaints, sup->runner.complaints, complaints);
	sup->working = true;
	sup->cut = sup->idle = false;
	sup->said_ms = attend_steady_ms();
	while (!attend(sup, INT64_MAX))
		;
	runner_end(&sup->runner, ret_result);
	while (sup->output.fd >= 0 && sink_serve(&sup->output) && sup->output.fd >= 0 &&
	       poll(&(struct pollfd){ .fd = sup->output.fd, .events = POLLIN }, 1, 0) > 0)
		;
	while (sup->complaints.fd >= 0 && sink_serve(&sup->complaints) && sup->complaints.fd >= 0 &&
	       poll(&(struct pollfd){ .fd = sup->complaints.fd, .events = POLLIN }, 1, 0) > 0)
		;
	sup->working = false;
	return 0;
}

void work_forget(struct supervisor *sup)
{
	sink_release(&sup->output);
	sink_release(&sup->complaints);
}
