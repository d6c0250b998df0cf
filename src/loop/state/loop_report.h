/* What a loop writes for people and other programs: small JSON files, each replaced as a whole. */
#ifndef LOOP_STATE_LOOP_REPORT_H
#define LOOP_STATE_LOOP_REPORT_H

#include "loop/run/survey.h"
#include "loop/state/loop_state.h"

#include <jansson.h>
#include <sys/types.h>

/* state.json. */
int loop_report_state(const char *folder, const struct loop_state *state, int64_t now_ms,
		      struct error *err);

/* The same as an object, for others; the caller owns it. heartbeat_ms: 0 if it is not known. */
json_t *loop_report_loop(const char *id, const struct loop_state *state, bool alive,
			 int64_t heartbeat_ms);

/* Foreign text as JSON: what is no UTF-8 is replaced. */
json_t *loop_report_text(const char *text);
json_t *loop_report_bytes(const char *bytes, size_t size);

/* When the supervisor last said that it is there, in ms since the epoch; 0: not known. */
int64_t loop_report_heartbeat_ms(const char *folder);

int loop_report_survey(const char *folder, const char *name, const struct survey *survey,
		       struct error *err);
int loop_report_json(const char *folder, const char *name, json_t *value, struct error *err);

/* Why a supervisor could not go on: trouble.txt, until the next one begins (NULL). For a full disk room is kept
 * aside from that beginning on. */
void loop_report_trouble(const char *folder, const char *why);

/* Adds to an event what the fence's own report of a run in FOLDER/NAMEreport.json says: how much was put aside
 * (`quarantined`), the first of it (`put_aside`), and the first acts that were denied (`denied`). */
void loop_report_add_found(const char *folder, const char *name, json_t *data);

#endif
