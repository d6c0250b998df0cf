/* How a loop ended, for people. */
#ifndef CLI_VIEW_OUTCOME_TEXT_H
#define CLI_VIEW_OUTCOME_TEXT_H

#include <jansson.h>

/* Returns a sentence such as "the loop ended at a limit; 1 of 2 checks fails", from
 * client_outcome(), or NULL if the loop is completed or goes on. The caller frees it. */
char *outcome_text_sentence(const json_t *outcome);

#endif
