/*
 * A single-threaded event loop: epoll and timers.
 *
 * All alarms of a delay have the same length, so its list is always sorted: starting and stopping
 * an alarm only moves a few pointers, and a tunnel can restart its alarm with every read. Handlers
 * may change what their source waits for. Memory that belongs to a source is not freed before the
 * current batch of events has been handled.
 */
#ifndef GATEWAY_EVENT_LOOP_H
#define GATEWAY_EVENT_LOOP_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENT_LOOP_DELAYS = 12 };

struct event_loop_source {
	int fd;          /* or -1 */
	uint32_t events; /* events to wait for; 0: not registered */
	void (*ready)(struct event_loop_source *source, uint32_t events);
};

struct event_loop_alarm {
	struct event_loop_alarm *next, *prev; /* NULL: not set */
	uint64_t due_ms;
	void (*ring)(struct event_loop_alarm *alarm);
};

struct event_loop_delay {
	struct event_loop_alarm list; /* both ends of the list */
	uint64_t length_ms;
};

/* Called before each wait. Returns the longest time to wait, or UINT64_MAX. */
typedef uint64_t event_loop_settle_fn(void *context);

struct event_loop {
	int epoll;
	uint64_t now_ms; /* as of this batch */
	struct event_loop_delay *delays[EVENT_LOOP_DELAYS];
	size_t delay_count;
	event_loop_settle_fn *settle;
	void *context;
	bool over;
	void **garbage;
	size_t garbage_count;
};

int event_loop_init(struct event_loop *loop, event_loop_settle_fn *settle, void *context,
		    struct error *err);
void event_loop_add_delay(struct event_loop *loop, struct event_loop_delay *delay,
			  uint64_t length_ms);

/* Sets the events to wait for; 0 unregisters the source. */
void event_loop_watch(struct event_loop *loop, struct event_loop_source *source, uint32_t events);

/* Unregisters the source and closes its descriptor. */
void event_loop_close(struct event_loop *loop, struct event_loop_source *source);

/* Frees the memory once no event of this batch can refer to it. */
void event_loop_free_later(struct event_loop *loop, void *memory);

/* Starts or restarts an alarm, which fires once. */
void event_loop_alarm_start(const struct event_loop *loop, struct event_loop_delay *delay,
			    struct event_loop_alarm *alarm);
void event_loop_alarm_stop(struct event_loop_alarm *alarm);

/* Runs until loop->over is set. Returns 0, or -1 with err set. */
int event_loop_run(struct event_loop *loop, struct error *err);

#define EVENT_LOOP_OWNER(pointer, type, member) \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
