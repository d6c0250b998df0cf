/* Shared state of the gateway: see engine.h. */
#include "gateway/engine.h"

#include <sys/epoll.h>

void engine_admit(struct engine *engine)
{
	for (size_t i = 0; i < engine->listener_count; i++)
		event_loop_watch(&engine->loop, &engine->listeners[i].source, EPOLLIN);
}
