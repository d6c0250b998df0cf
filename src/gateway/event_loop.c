/* The event loop: see event_loop.h. */
#include "gateway/event_loop.h"

#include "util/clock.h"
#include "util/mem.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

int event_loop_init(struct event_loop *loop, event_loop_settle_fn *settle, void *context,
		    struct error *err)
{
	*loop = (struct event_loop){ .settle = settle,
				     .context = context,
				     .now_ms = clock_steady_ms() };
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	return loop->epoll < 0 ? error_sys(err, "epoll") : 0;
}

void event_loop_add_delay(struct event_loop *loop, struct event_loop_delay *delay,
			  uint64_t length_ms)
{
	delay->list.next = delay->list.prev = &delay->list;
	delay->length_ms = length_ms;
	loop->delays[loop->delay_count++] = delay;
}

void event_loop_watch(struct event_loop *loop, struct event_loop_source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (events == source->events || source->fd < 0)
		return;
	epoll_ctl(loop->epoll,
		  !source->events ? EPOLL_CTL_ADD
		  : events        ? EPOLL_CTL_MOD
				  : EPOLL_CTL_DEL,
		  source->fd, &event);
	source->events = events;
}

void event_loop_close(struct event_loop *loop, struct event_loop_source *source)
{
	if (source->fd < 0)
		return;
	event_loop_watch(loop, source, 0);
	close(source->fd);
	source->fd = -1;
}

void event_loop_free_later(struct event_loop *loop, void *memory)
{
	loop->garbage = mem_resize(loop->garbage, loop->garbage_count + 1, sizeof *loop->garbage);
	loop->garbage[loop->garbage_count++] = memory;
}

static void sweep(struct event_loop *loop)
{
	if (loop->garbage_count == 0)
		return;
	for (size_t i = 0; i < loop->garbage_count; i++)
		free(loop->garbage[i]);
	free(loop->garbage);
	loop->garbage = NULL;
	loop->garbage_count = 0;
}

void event_loop_alarm_stop(struct event_loop_alarm *alarm)
{
	if (!alarm->next)
		return;
	alarm->next->prev = alarm->prev;
	alarm->prev->next = alarm->next;
	alarm->next = alarm->prev = NULL;
}

void event_loop_alarm_start(const struct event_loop *loop, struct event_loop_delay *delay,
			    struct event_loop_alarm *alarm)
{
	event_loop_alarm_stop(alarm);
	alarm->due_ms = loop->now_ms + delay->length_ms;
	alarm->prev = delay->list.prev;
	alarm->next = &delay->list;
	alarm->prev->next = alarm;
	delay->list.prev = alarm;
}

static void ring_alarms(struct event_loop *loop)
{
	for (size_t i = 0; i < loop->delay_count; i++) {
		struct event_loop_alarm *list = &loop->delays[i]->list;

		while (list->next != list && list->next->due_ms <= loop->now_ms) {
			struct event_loop_alarm *alarm = list->next;

			event_loop_alarm_stop(alarm);
			alarm->ring(alarm);
		}
	}
}

static int wait_ms(struct event_loop *loop)
{
	uint64_t wait = loop->settle(loop->context);

	sweep(loop);

	for (size_t i = 0; i < loop->delay_count; i++) {
		const struct event_loop_alarm *first = loop->delays[i]->list.next;

		if (first == &loop->delays[i]->list)
			continue;

		uint64_t left = first->due_ms > loop->now_ms ? first->due_ms - loop->now_ms : 0;

		if (left < wait)
			wait = left;
	}
	return wait > INT_MAX ? -1 : (int)wait;
}

int event_loop_run(struct event_loop *loop, struct error *err)
{
	enum { BATCH = 128 };
	struct epoll_event events[BATCH];

	while (!loop->over) {
		int count = epoll_wait(loop->epoll, events, BATCH, wait_ms(loop));

		if (count < 0 && errno != EINTR)
			return error_sys(err, "wait");
		loop->now_ms = clock_steady_ms();
		for (int i = 0; i < count; i++) {
			struct event_loop_source *source = events[i].data.ptr;

			/* An earlier source in this batch may have closed it. */
			if (source->fd >= 0 && source->events)
				source->ready(source, events[i].events);
		}
		ring_alarms(loop);
	}
	return 0;
}
