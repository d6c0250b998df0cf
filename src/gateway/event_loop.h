/*
 * One thread waits in one place: epoll, and delays.
 *
 * It is our own because it is small. A delay has one length for all who wait in it, so a list in the order of
 * arrival is sorted by itself: starting and stopping an alarm is a few pointers, and a tunnel can restart its own with
 * every byte. Sources are told what happened and change what they wait for; what they are part of is not
 * freed before the whole batch is through.
 */
#ifndef GATEWAY_EVENT_LOOP_H
#define GATEWAY_EVENT_LOOP_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EVENT_LOOP_DELAYS = 12 };

struct event_loop_source {
	int fd;          /* -1: none */
	uint32_t events; /* that are waited for; 0: not in the set */
	void (*ready)(struct event_loop_source *source, uint32_t events);
};

struct event_loop_alarm {
	struct event_loop_alarm *next, *prev; /* NULL: not set */
	uint64_t due_ms;
	void (*ring)(struct event_loop_alarm *alarm);
};

struct event_loop_delay {
	struct event_loop_alarm list; /* its ends */
	uint64_t length_ms;
};

/* Called before each wait; says how long that may be (UINT64_MAX: any time). */
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

/* Waits for these events from now on; 0 takes it out of the set. */
void event_loop_watch(struct event_loop *loop, struct event_loop_source *source, uint32_t events);

/* Takes it out of the set and closes it. */
void event_loop_close(struct event_loop *loop, struct event_loop_source *source);

/* Frees it when nothing of this batch can point to it any more. */
void event_loop_free_later(struct event_loop *loop, void *memory);

/* (Re)starts an alarm; it rings once. */
void event_loop_alarm_start(const struct event_loop *loop, struct event_loop_delay *delay,
			    struct event_loop_alarm *alarm);
void event_loop_alarm_stop(struct event_loop_alarm *alarm);

/* Until loop->over. Returns 0, or -1 with err set. */
int event_loop_run(struct event_loop *loop, struct error *err);

#define EVENT_LOOP_OWNER(pointer, type, member) \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
