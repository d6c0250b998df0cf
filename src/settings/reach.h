/* The hosts that a command can reach, and the rules that would change that. */
#ifndef SETTINGS_REACH_H
#define SETTINGS_REACH_H

#include "fence/fence_explain.h"
#include "fence/fence_spec.h"

/* Completes the explanation of a host. */
void reach_explain(const struct fence_spec *spec, struct fence_explanation *explanation);

/* Whether the current settings allow a connection that was refused ("evil.com:443"). */
bool reach_allows(const struct fence_spec *spec, const char *target);

/* Whether this rule would allow it. */
bool reach_rule_allows(const char *rule, const char *target);

/* Offers the setting that would allow the target; `rule` is the one that refused it. Returns false,
 * with the reason as the risk, if there is nothing safe to offer. */
bool reach_offer(const char *target, const char *rule, struct fence_offer *ret_offer);

#endif
