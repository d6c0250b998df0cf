/*
 * Alerts: rules about a running loop, each with a level and an action. A pure room: the values are
 * passed in, and nothing is done here.
 *
 * A rule is changed by a text, RULE [LEVEL] [ACTION]: "errors 50", "time 2h ask", "files off". The
 * rule `all` changes the actions of all rules.
 */
#ifndef ALERT_ALERT_H
#define ALERT_ALERT_H

#include "util/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The name in C, and in a setting. The table in alert.c has a row for each. */
#define ALERT_RULES(X)                                                                             \
	X(errors, "errors")           /* failed tools, and errors of the agent, in an iteration */ \
	X(tool_calls, "tool-calls")   /* in an iteration */                                        \
	X(files, "files")             /* changed in an iteration */                                \
	X(no_progress, "no-progress") /* iterations in a row */                                    \
	X(cost, "cost")               /* of the loop */                                            \
	X(finding, "finding")         /* signs that the changes weaken the checks */               \
	X(disk, "disk")               /* free space */                                             \
	X(time, "time")               /* of an iteration */                                        \
	X(heartbeat, "heartbeat")     /* the supervisor's last sign of life */

enum alert_rule {
#define ALERT_RULE(name, word) ALERT_##name,
	ALERT_RULES(ALERT_RULE)
#undef ALERT_RULE
		ALERT_COUNT
};

enum alert_action { ALERT_OFF, ALERT_NOTIFY, ALERT_ASK, ALERT_PAUSE, ALERT_ABORT };

struct alert_setting {
	int64_t level;
	enum alert_action action;
};

struct alert_settings {
	struct alert_setting rules[ALERT_COUNT];
};

/* The values that the rules compare, in the units of their levels; ALERT_UNKNOWN: not known now. */
enum { ALERT_UNKNOWN = -1 };
struct alert_facts {
	int64_t values[ALERT_COUNT];
};

/* Sets the defaults: every rule notifies. */
void alert_init(struct alert_settings *settings);

/* Changes a rule by a text. Returns 0, or -1 with err set and nothing changed. */
int alert_change(struct alert_settings *settings, const char *text, struct error *err);

/* Sets all values to unknown. */
void alert_facts_init(struct alert_facts *facts);

/* Is the rule on, and does it hold for this value? */
bool alert_holds(const struct alert_settings *settings, enum alert_rule rule, int64_t value);

/* Returns the rules that hold, as a set of bits (1 << rule). */
uint32_t alert_judge(const struct alert_settings *settings, const struct alert_facts *facts);

/* The rules that are about an iteration, as a set of bits: with the next one, they begin again. */
uint32_t alert_of_iteration(void);

/* Returns a sentence without a full stop; the caller frees it. */
char *alert_text(const struct alert_settings *settings, enum alert_rule rule, int64_t value);

const char *alert_rule_name(enum alert_rule rule);
const char *alert_action_name(enum alert_action action);

/* Returns the rule or action with this name, or -1. */
int alert_rule_find(const char *name);
int alert_action_find(const char *name);

#endif
