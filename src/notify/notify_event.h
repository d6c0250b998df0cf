/* News of a loop or a batch, of which people are notified. */
#ifndef NOTIFY_NOTIFY_EVENT_H
#define NOTIFY_NOTIFY_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of weight: the heaviest one gives a digest its name. */
#define NOTIFY_EVENTS(X) X(done) X(warning) X(alert) X(paused) X(failed) X(blocked)

enum notify_event {
#define NOTIFY_EVENT(name) NOTIFY_EVENT_##name,
	NOTIFY_EVENTS(NOTIFY_EVENT)
#undef NOTIFY_EVENT
		NOTIFY_EVENT_COUNT
};

struct notify_news {
	int64_t seq, at_ms; /* of the event in the journal */
	enum notify_event event;
	char *text; /* a sentence; untrusted */
};

/* News in the order of the journal. */
struct notify_list {
	struct notify_news *items;
	size_t count;
};

const char *notify_event_name(enum notify_event event);

/* Returns the event with this name, or -1. */
int notify_event_find(const char *name);

/* Consumes the text. */
void notify_list_add(struct notify_list *list, int64_t seq, int64_t at_ms, enum notify_event event,
		     char *text);
void notify_list_release(struct notify_list *list);

/* Forgets the news up to this event. */
void notify_list_drop(struct notify_list *list, int64_t seq);

#endif
