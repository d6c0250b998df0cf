/* The sentences that explain a decision. */
#ifndef DECISION_DECISION_REASON_H
#define DECISION_DECISION_REASON_H

#include "decision/decision_input.h"

/* Parts of a sentence. */
struct decision_brief {
	char text[48];
};

struct decision_cause {
	char text[160];
};

struct decision_remark {
	char text[360];
};

/* Adds a reason, unless there are DECISION_REASONS_MAX. */
__attribute__((format(printf, 2, 3))) void decision_reason_add(struct decision *d,
							       const char *format, ...);

/* Appends a clause to the last reason. */
void decision_reason_append(struct decision *d, const char *text);

/* US$ 25.00 */
struct decision_brief decision_reason_money(int64_t nusd);

/* The cost of the loop: US$ 25.00 (partly estimated) */
struct decision_brief decision_reason_cost(const struct decision_input *in);

/* 8 h; 90 min; 45 s */
struct decision_brief decision_reason_duration(int64_t seconds);

/* 2026-11-20 17:00:00 UTC */
struct decision_brief decision_reason_time(int64_t time);

#endif
