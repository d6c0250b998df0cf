/*
 * One thread waits in one place: epoll, and delays.
 *
 * It is our own because it is small. A delay has one length for all who wait in it, so a list in the order of
 * arrival is sorted by itself: starting and stopping an alarm is a few pointers, and a tunnel can restart its own with
 * every byte. Sources are told what happened and change what they wait for; what they are part of is not
 * freed before the whole batch is through.
 */
#ifndef GATEWAY_LOOP_H
#define GATEWAY_LOOP_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOOP_DELAYS = 12 };

struct source {
	int fd;          /* -1: none */
	uint32_t events; /* that are waited for; 0: not in the set */
	void (*ready)(struct source *source, uint32_t events);
};

struct alarm {
	struct alarm *next, *prev; /* NULL: not set */
	uint64_t due_ms;
	void (*ring)(struct alarm *alarm);
};

struct delay {
	struct alarm list; /* its ends */
	uint64_t length_ms;
};

/* Called before each wait; says how long that may be (UINT64_MAX: any time). */
typedef uint64_t loop_settle_fn(void *context);

struct loop {
	int epoll;
	uint64_t now_ms; /* as of this batch */
	struct delay *delays[LOOP_DELAYS];
	size_t delay_count;
	loop_settle_fn *settle;
	void *context;
	bool over;
	void **garbage;
	size_t garbage_count;
};

int loop_init(struct loop *loop, loop_settle_fn *settle, void *context, struct error *err);
void loop_add_delay(struct loop *loop, struct delay *delay, uint64_t length_ms);

/* Waits for these events from now on; 0 takes it out of the set. */
void loop_watch(struct loop *loop, struct source *source, uint32_t events);

/* Takes it out of the set and closes it. */
void loop_close(struct loop *loop, struct source *source);

/* Frees it when nothing of this batch can point to it any more. */
void loop_free_later(struct loop *loop, void *memory);

/* (Re)starts an alarm; it rings once. */
void alarm_start(const struct loop *loop, struct delay *delay, struct alarm *alarm);
void alarm_stop(struct alarm *alarm);

/* Until loop->over. Returns 0, or -1 with err set. */
int loop_run(struct loop *loop, struct error *err);

#define LOOP_OWNER(pointer, type, member) \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
