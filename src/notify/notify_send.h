/* Delivers one message to one target. This is the only place that does. */
#ifndef NOTIFY_NOTIFY_SEND_H
#define NOTIFY_NOTIFY_SEND_H

#include "notify/notify_message.h"
#include "notify/notify_target.h"

enum notify_send_result {
	NOTIFY_SEND_ARRIVED,
	NOTIFY_SEND_LATER, /* another try may do better */
	NOTIFY_SEND_NEVER,
};

/*
 * reach: what is not trusted, also in PATH (notify_target_check()). Waits for at most half a
 * minute.
 * *ret_wait_ms: what the server asks for, or 0. err is set unless it arrived, without secrets.
 */
enum notify_send_result notify_send(const struct notify_message *message,
				    const struct notify_target *target, const struct taint *taint,
				    int64_t *ret_wait_ms, struct error *err);

#endif
