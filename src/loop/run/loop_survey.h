/* Surveys (survey.h) of the project that a loop works on. */
#ifndef LOOP_RUN_LOOP_SURVEY_H
#define LOOP_RUN_LOOP_SURVEY_H

#include "loop/supervise/supervisor.h"

/*
 * Surveys the project, and reads the agent's HEAD. Without a checkpoint, only a draft's own files
 * are surveyed, which suffices to recognise a state. Returns 0, or -1 with err set.
 */
int loop_survey_take(const struct supervisor *sup, struct survey *ret_survey, struct error *err);

/* Marks `before` as current, and the latest checkpoint as equal to it, if there is one. */
void loop_survey_is_current(struct supervisor *sup);

#endif
