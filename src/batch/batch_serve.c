/* Serving requests to a batch: see batch_serve.h. */
#include "batch/batch_serve.h"

#include "batch/batch_request.h"
#include "batch/batch_tend.h"
#include "loop/supervise/control.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MS = 1000 };

static int carry_out(struct batch_run *run, const json_t *request, struct error *err)
{
	const char *wish = jsonget_text(request, "do");
	const char *task = jsonget_string(request, "task");
	enum batch_event event;
	int about = batch_request_read(&run->state, wish, task, &event, err);

	if (about)
		return about < 0 ? -1
				 : batch_run_append(run, event, json_pack("{s:s}", "task", task),
						    err);
	if (strcmp(wish, "resume") == 0)
		return batch_run_append(run, BATCH_EVENT_resumed, json_object(), err);
	if (strcmp(wish, "pause") != 0 && strcmp(wish, "abort") != 0)
		return error_with(err, ERROR_PROTOCOL, "unknown request");
	if (batch_run_append(run, BATCH_EVENT_asked, json_pack("{s:s}", "wish", wish), err) < 0)
		return -1;
	batch_tend_ask_again(run);
	return 0;
}

/* A client sends its request as soon as it has connected. */
static void serve_control(void *context, bool readable)
{
	struct batch_run *run = context;
	AUTO_FD client = readable ? accept4(run->control, NULL, NULL, SOCK_CLOEXEC) : -1;
	json_t *request = NULL;
	json_t *answer;
	struct error err;

	if (client >= 0 &&
	    poll(&(struct pollfd){ .fd = client, .events = POLLIN }, 1, REQUEST_MS) > 0)
		request = control_read(client);
	if (!request)
		return;
	answer = carry_out(run, request, &err) < 0
			 ? json_pack("{s:b, s:s}", "ok", 0, "error", err.text)
			 : json_pack("{s:b}", "ok", 1);
	control_answer(client, answer);
	json_decref(answer);
	json_decref(request);
}

int batch_serve_open(struct batch_run *run, struct error *err)
{
	run->control = control_listen(run->folder, err);
	if (run->control < 0)
		return -1;
	wait_set_add(&run->waits, &(struct wait_set_watch){ .at = &run->control,
							    .serve = serve_control,
							    .context = run });
	return 0;
}

void batch_serve_close(struct batch_run *run)
{
	if (run->control >= 0) {
		AUTO_FREE char *path = path_join(run->folder, "control");

		unlink(path);
	}
	fd_close(&run->control);
}
