/* Texts about trials with broken code, for people: proofs that a check can fail, and mutants. The
 * caller frees them. */
#ifndef CLI_VIEW_TRIAL_TEXT_H
#define CLI_VIEW_TRIAL_TEXT_H

#include <jansson.h>

/* Whether a check can fail, from an event `proved`. */
char *trial_text_proof(const json_t *data);

/* How many mutants were noticed, from an event `mutated`, or the same fields of a status. */
char *trial_text_mutants(const json_t *data);

/* An untested line, from its finding. */
char *trial_text_untested(const json_t *finding);

#endif
