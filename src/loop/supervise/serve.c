/* Serving requests: see serve.h. */
#include "loop/supervise/serve.h"

#include "loop/run/work.h"
#include "loop/supervise/control.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns what is recorded of a request, or NULL with err set. The caller owns it. */
static json_t *data_of(const struct supervisor *sup, enum control_request request,
		       const json_t *object, struct error *err)
{
	const char *text = jsonget_text(object, "text");
	AUTO_FREE char *clean = NULL;

	if (request == CONTROL_REQUEST_limit && jsonget_number(object, "max_cost_nusd") <= 0) {
		error_with(err, ERROR_PROTOCOL, "a limit of cost must be positive");
		return NULL;
	}
	if (request == CONTROL_REQUEST_limit)
		return json_pack("{s:I}", "max_cost_nusd",
				 (json_int_t)jsonget_number(object, "max_cost_nusd"));
	if (request != CONTROL_REQUEST_tell)
		return json_pack("{s:s}", "wish", control_request_name(request));
	clean = told_clean(text, strlen(text), err);
	if (!clean || loop_state_permits_tell(&sup->state, err) < 0)
		return NULL;
	return json_pack("{s:s, s:b}", "text", clean, "now", jsonget_flag(object, "now"));
}

/* Carries out what cannot wait for the end of the step. A message does not stop an agent that has
 * ended or is being stopped for another reason. A gateway that runs knows only the limits that it
 * has begun with. */
static void act_at_once(struct supervisor *sup, enum control_request request, bool now)
{
	bool free = !sup->run.ended && sup->run.cut == SUPERVISOR_CUT_NOT;
	bool runs = sup->state.step == LOOP_STEP_agent && free;

	if (request == CONTROL_REQUEST_abort)
		work_stop(sup, SUPERVISOR_CUT_ABORT, now);
	else if (request == CONTROL_REQUEST_tell && now && runs)
		work_stop(sup, SUPERVISOR_CUT_TOLD, false);
	else if (request == CONTROL_REQUEST_limit && model_access_is_set(&sup->fence.models) &&
		 (runs || (sup->state.step == LOOP_STEP_review && free)))
		work_stop(sup, SUPERVISOR_CUT_LIMIT, false);
}

/*
 * Records a request, then carries it out. Returns 0, or -1 with err set; the status is
 * ERROR_PROTOCOL if the request is illegal.
 */
static int carry_out(struct supervisor *sup, const json_t *object, struct error *err)
{
	enum control_request request;
	json_t *data;

	if (control_request_read(object, &request) < 0)
		return error_with(err, ERROR_PROTOCOL, "unknown request");
	if (!control_is_legal(sup->state.step, request))
		return error_with(err, ERROR_PROTOCOL, "the loop is %s: it cannot %s",
				  loop_event_step_name(sup->state.step),
				  control_request_name(request));
	data = data_of(sup, request, object, err);
	if (!data || supervisor_append(sup, control_event(request), data, err) < 0)
		return -1;
	act_at_once(sup, request, jsonget_flag(object, "now"));
	return 0;
}

static void accept_client(void *context, bool readable)
{
	struct serve *serve = context;
	int fd = readable ? accept4(serve->control, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;

	for (int i = 0; fd >= 0 && i < SERVE_CLIENTS; i++) {
		if (serve->clients[i].fd < 0) {
			serve->clients[i].fd = fd;
			return;
		}
	}
	fd_close(&fd);
}

static void serve_client(void *context, bool readable)
{
	struct serve_client *client = context;
	json_t *request = readable ? control_read(client->fd) : NULL;
	json_t *answer;
	struct error err;
	int result;

	if (readable && !request)
		fd_close(&client->fd);
	if (!request)
		return;
	result = carry_out(client->serve->sup, request, &err);
	answer = result < 0 ? json_pack("{s:b, s:s}", "ok", 0, "error", err.text)
			    : json_pack("{s:b}", "ok", 1);
	control_answer(client->fd, answer);
	if (result < 0 && err.status == ERROR_PROTOCOL)
		fd_close(&client->fd);
	json_decref(answer);
	json_decref(request);
}

void serve_init(struct serve *serve)
{
	*serve = (struct serve){ .control = -1 };
	for (int i = 0; i < SERVE_CLIENTS; i++)
		serve->clients[i] = (struct serve_client){ .serve = serve, .fd = -1 };
}

int serve_open(struct serve *serve, struct supervisor *sup, struct error *err)
{
	serve->sup = sup;
	serve->control = control_listen(sup->folder, err);
	if (serve->control < 0)
		return -1;
	wait_set_add(&sup->waits, &(struct wait_set_watch){ .at = &serve->control,
							    .serve = accept_client,
							    .context = serve });
	for (int i = 0; i < SERVE_CLIENTS; i++)
		wait_set_add(&sup->waits,
			     &(struct wait_set_watch){ .at = &serve->clients[i].fd,
						       .serve = serve_client,
						       .context = &serve->clients[i] });
	return 0;
}

void serve_close(struct serve *serve)
{
	if (serve->control >= 0) {
		AUTO_FREE char *path = path_join(serve->sup->folder, "control");

		unlink(path);
	}
	fd_close(&serve->control);
	for (int i = 0; i < SERVE_CLIENTS; i++)
		fd_close(&serve->clients[i].fd);
}
