/* What a loop writes for people and other programs: small JSON files, each replaced as a whole. */
#ifndef LOOP_REPORT_H
#define LOOP_REPORT_H

#include "loop/state.h"
#include "loop/survey.h"

#include <jansson.h>
#include <sys/types.h>

/* state.json. */
int report_state(const char *folder, const struct loop_state *state, int64_t now_ms, pid_t pid,
		 struct error *err);

/* The same as an object, for others; the caller owns it. */
json_t *report_loop(const char *id, const struct loop_state *state, bool alive, int64_t now_ms);

int report_survey(const char *folder, const char *name, const struct survey *survey,
		  struct error *err);
int report_json(const char *folder, const char *name, json_t *value, struct error *err);

/* Why a supervisor could not go on: trouble.txt, until the next one begins. */
void report_trouble(const char *folder, const char *why);

#endif
