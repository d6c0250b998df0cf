/*
 * A message on its way to a target, in a process of its own: a target that is slow does not hold
 * the others up.
 */
#ifndef NOTIFY_NOTIFY_DELIVERY_H
#define NOTIFY_NOTIFY_DELIVERY_H

#include "notify/notify_send.h"

#include <sys/types.h>

struct notify_delivery {
	pid_t pid;  /* 0 if nothing is on its way */
	int answer; /* becomes readable when it has arrived or failed */
};

/* Starts one. The process closes `lock`, so that only this one holds it, and ends with this one. If
 * it cannot be started, notify_delivery_end() says so. */
void notify_delivery_start(const struct notify_message *message, const struct notify_target *target,
			   const struct taint *taint, int lock,
			   struct notify_delivery *ret_delivery);

/* Waits for the end, and returns like notify_send(). */
enum notify_send_result notify_delivery_end(struct notify_delivery *delivery, int64_t *ret_wait_ms,
					    struct error *err);

#endif
