/* Which hosts a command reaches, and what would change that: for policy and suggest. */
#ifndef CLI_SETTINGS_REACH_H
#define CLI_SETTINGS_REACH_H

#include "fence/fence_explain.h"
#include "fence/fence_spec.h"

/* Completes the explanation of a host. */
void reach_explain(const struct fence_spec *spec, struct fence_explanation *explanation);

/* Is a connection that was refused ("evil.com:443") allowed by what is set now? */
bool reach_allows(const struct fence_spec *spec, const char *target);

/* Would this rule allow it? */
bool reach_rule_allows(const char *rule, const char *target);

/* What could be set so that it were. rule: by which it was refused. Returns false, with the reason as the risk,
 * where nothing is offered. */
bool reach_offer(const char *target, const char *rule, struct fence_offer *ret_offer);

#endif
