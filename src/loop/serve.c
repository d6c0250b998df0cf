/* Answering those who ask: see serve.h. */
#include "loop/serve.h"

#include "loop/control.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static json_t *obey(struct supervisor *sup, const json_t *request)
{
	const char *what = json_string_value(json_object_get(request, "do"));
	struct error err;
	bool known = what && (strcmp(what, "pause") == 0 || strcmp(what, "abort") == 0 ||
			      strcmp(what, "reset") == 0);

	if (!known)
		return json_pack("{s:b, s:s}", "ok", 0, "error", "no such request");
	if (supervisor_append(sup, LOOP_EVENT_asked, json_pack("{s:s}", "wish", what), &err) < 0)
		return json_pack("{s:b, s:s}", "ok", 0, "error", err.text);
	if (sup->run.working && strcmp(what, "abort") == 0) {
		sup->run.cut = SUPERVISOR_CUT_ABORT;
		if (json_is_true(json_object_get(request, "now")))
			fd_close(&sup->run.runner.lifeline);
		else
			runner_stop(&sup->run.runner);
	}
	return json_pack("{s:b}", "ok", 1);
}

static int control_fd(void *context)
{
	return ((const struct serve *)context)->control;
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

static int client_fd(void *context)
{
	return ((const struct serve_client *)context)->fd;
}

static void serve_client(void *context, bool readable)
{
	struct serve_client *client = context;
	json_t *request = readable ? control_read(client->fd) : NULL;
	json_t *answer;

	if (readable && !request)
		fd_close(&client->fd);
	if (!request)
		return;
	answer = obey(client->serve->sup, request);
	control_answer(client->fd, answer);
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
	wait_set_add(&sup->waits, &(struct wait_set_watch){ .fd = control_fd,
							    .serve = accept_client,
							    .context = serve });
	for (int i = 0; i < SERVE_CLIENTS; i++)
		wait_set_add(&sup->waits,
			     &(struct wait_set_watch){ .fd = client_fd,
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
