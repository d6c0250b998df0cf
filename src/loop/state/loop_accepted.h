/* Which findings of a loop still count: those that the user has not accepted. */
#ifndef LOOP_STATE_LOOP_ACCEPTED_H
#define LOOP_STATE_LOOP_ACCEPTED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Adds all findings to those that are accepted, which may be NULL at first. They are recognised by
 * kind, path and evidence, not by line. */
void loop_accepted_add(json_t **accepted, const json_t *findings);

/* Reports whether the finding is accepted. */
bool loop_accepted_has(const json_t *accepted, const json_t *finding);

/* Counts the findings with this action that are not accepted. */
uint32_t loop_accepted_count_open(const json_t *accepted, const json_t *findings,
				  const char *action);

#endif
