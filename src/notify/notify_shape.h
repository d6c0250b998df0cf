/*
 * The shape of a message for each target. Pure functions.
 *
 * A message has text that an agent wrote, so each shape takes the meaning from everything that its
 * target would obey: mentions, markup, links, headers.
 */
#ifndef NOTIFY_NOTIFY_SHAPE_H
#define NOTIFY_NOTIFY_SHAPE_H

#include "notify/notify_message.h"
#include "notify/notify_target.h"
#include "util/buffer.h"
#include "util/list.h"

/* An HTTP request. The URL and `secrets` are secrets. */
struct notify_shape {
	char *url;
	struct list headers, secrets;
	struct buffer body;
};

/* Makes the request of a message to a target of HTTP. secret: its address or token, token: that of
 * `Authorization`, or NULL. */
void notify_shape_http(const struct notify_message *message, const struct notify_target *target,
		       const char *secret, const char *token, struct notify_shape *ret_shape);
void notify_shape_release(struct notify_shape *shape);

/* A mail, with its headers. */
void notify_shape_mail(const struct notify_message *message, const char *address,
		       struct buffer *out);

/* The arguments of notify-send. */
void notify_shape_desktop(const struct notify_message *message, struct list *arguments);

/* The object that webhooks and commands get. */
void notify_shape_json(const struct notify_message *message, struct buffer *out);

/*
 * Judges a response. Returns 0 if the message has arrived, -1 if it never will, or 1 if it may
 * later; *ret_wait_ms is then what the server asks for, or 0.
 */
int notify_shape_judge(unsigned int status, const char *retry_after, const char *body, size_t size,
		       int64_t *ret_wait_ms);

#endif
