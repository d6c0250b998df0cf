// sources: src/loop/supervise/control.c -ljansson
/* Messages to a supervisor's socket: a JSON object, or refused. */
#include "fuzz.h"

#include "loop/supervise/control.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

void fuzz_control(const uint8_t *data, size_t size)
{
	int ends[2];
	enum control_request kind = CONTROL_REQUEST_COUNT;
	json_t *request;

	if (size == 0 || size > 2 * CONTROL_BYTES ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return;
	if (send(ends[0], data, size, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)size) {
		request = control_read(ends[1]);
		if (request && !json_is_object(request))
			abort();
		if (control_request_read(request, &kind) == 0 && kind >= CONTROL_REQUEST_COUNT)
			abort();
		json_decref(request);
	}
	close(ends[0]);
	close(ends[1]);
}

FUZZ_TARGET(fuzz_control)
