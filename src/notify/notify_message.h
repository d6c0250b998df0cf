/* One message: a piece of news, or a digest of several. */
#ifndef NOTIFY_NOTIFY_MESSAGE_H
#define NOTIFY_NOTIFY_MESSAGE_H

#include "notify/notify_event.h"

enum { NOTIFY_MESSAGE_LINES = 5 };

/* The loop or batch that the news is about. */
struct notify_subject {
	const char *id;      /* of the loop or batch */
	const char *project; /* its path */
	bool batch;
};

/* All texts are clean: no controls, no marks that change the direction, valid UTF-8, bounded. */
struct notify_message {
	char *id; /* the same for each attempt to deliver it */
	enum notify_event event;
	char *title; /* one line */
	char *text;  /* a line for each piece of news, at most NOTIFY_MESSAGE_LINES, and one more */
	char *loop;  /* the id of the loop or batch */
	char *project;
	bool batch;
	size_t count;  /* pieces of news */
	int64_t at_ms; /* of the last one */
};

/* Makes a message of the news with seq > after and seq <= through whose event is in the set of
 * bits. Returns false if there is none. The caller releases it. */
bool notify_message_make(const struct notify_list *list, int64_t after, int64_t through,
			 unsigned int events, const struct notify_subject *subject,
			 struct notify_message *ret_message);

/* A message that only shows that messages arrive. */
void notify_message_test(int64_t now_ms, struct notify_message *ret_message);
void notify_message_release(struct notify_message *message);

#endif
