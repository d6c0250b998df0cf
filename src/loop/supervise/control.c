/* The control protocol: see control.h. */
#include "loop/supervise/control.h"

#include "util/file/fd.h"
#include "util/file/local_socket.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ANSWER_MS = 10000 };

static const char *const names[] = {
#define CONTROL_REQUEST(name) [CONTROL_REQUEST_##name] = #name,
	CONTROL_REQUESTS(CONTROL_REQUEST)
#undef CONTROL_REQUEST
};

/* Requests not listed for a step are refused. */
#define STOPS                                                           \
	[CONTROL_REQUEST_pause] = true, [CONTROL_REQUEST_abort] = true, \
	[CONTROL_REQUEST_reset] = true
#define ALL                                                                          \
	{                                                                            \
		STOPS, [CONTROL_REQUEST_tell] = true, [CONTROL_REQUEST_limit] = true \
	}

static const bool legal[LOOP_STEP_COUNT][CONTROL_REQUEST_COUNT] = {
	[LOOP_STEP_baseline] = ALL,
	[LOOP_STEP_ready] = ALL,
	[LOOP_STEP_agent] = ALL,
	[LOOP_STEP_checks] = ALL,
	[LOOP_STEP_mutants] = ALL,
	[LOOP_STEP_review] = ALL,
	[LOOP_STEP_waiting] = ALL,
	[LOOP_STEP_paused] = ALL,
	[LOOP_STEP_closing] = { STOPS },
	[LOOP_STEP_finished] = { [CONTROL_REQUEST_reset] = true, [CONTROL_REQUEST_tell] = true },
};

const char *control_request_name(enum control_request request)
{
	return names[request];
}

int control_request_read(const json_t *object, enum control_request *ret_request)
{
	const char *name = jsonget_string(object, "do");

	for (int i = 0; name && i < CONTROL_REQUEST_COUNT; i++) {
		if (strcmp(names[i], name) == 0) {
			*ret_request = (enum control_request)i;
			return 0;
		}
	}
	return -1;
}

enum loop_event control_event(enum control_request request)
{
	if (request == CONTROL_REQUEST_limit)
		return LOOP_EVENT_changed;
	return request == CONTROL_REQUEST_tell ? LOOP_EVENT_told : LOOP_EVENT_asked;
}

bool control_is_legal(enum loop_step step, enum control_request request)
{
	return legal[step][request];
}

int control_listen(const char *folder, struct error *err)
{
	return local_socket_listen(folder, "control", SOCK_SEQPACKET, err);
}

json_t *control_read(int client)
{
	char packet[CONTROL_BYTES];
	ssize_t n = recv(client, packet, sizeof packet, MSG_DONTWAIT);
	json_t *request = n > 0 ? json_loadb(packet, (size_t)n, 0, NULL) : NULL;

	if (request && !json_is_object(request)) {
		json_decref(request);
		request = NULL;
	}
	return request;
}

void control_answer(int client, json_t *answer)
{
	AUTO_FREE char *text = json_dumps(answer, JSON_COMPACT);

	if (text && send(client, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		errno = 0;
}

/* Sends the request over a new connection. Returns the descriptor, or -1 with err set. */
static int send_request(const char *folder, const json_t *request, struct error *err)
{
	AUTO_FREE char *text = json_dumps(request, JSON_COMPACT);
	AUTO_FD fd = local_socket_connect(folder, "control", SOCK_SEQPACKET, err);

	if (fd < 0)
		return -1;
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return error_sys(err, "send a request to the supervisor");
	return fd_steal(&fd);
}

static int judge_answer(const json_t *answer, struct error *err)
{
	const json_t *ok = json_object_get(answer, "ok");
	const char *why = jsonget_string(answer, "error");

	if (json_is_true(ok))
		return 0;
	return json_is_false(ok) && why
		       ? error_with(err, ERROR_REFUSED, "%s", why)
		       : error_with(err, ERROR_PROTOCOL, "the supervisor sent an invalid answer");
}

int control_ask(const char *folder, json_t *request, struct error *err)
{
	AUTO_FD fd = send_request(folder, request, err);
	json_t *answer = NULL;
	int result;

	if (fd < 0)
		return -1;
	if (poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, ANSWER_MS) > 0)
		answer = control_read(fd);
	result = answer ? judge_answer(answer, err)
			: error_set(err, "the supervisor does not answer");
	json_decref(answer);
	return result;
}
