/*
 * The files that a loop writes for people and other programs: small JSON files, each replaced
 * atomically.
 */
#ifndef LOOP_STATE_LOOP_REPORT_H
#define LOOP_STATE_LOOP_REPORT_H

#include "loop/run/survey.h"
#include "loop/state/loop_state.h"

#include <jansson.h>
#include <sys/types.h>

/* Writes state.json. Returns 0, or -1 with err set. */
int loop_report_state(const char *folder, const struct loop_state *state, int64_t now_ms,
		      struct error *err);

/* Returns the same as an object that the caller owns. heartbeat_ms: 0 if unknown. */
json_t *loop_report_loop(const char *id, const struct loop_state *state, bool alive,
			 int64_t heartbeat_ms);

/* Returns untrusted text as JSON, with invalid UTF-8 replaced. */
json_t *loop_report_text(const char *text);
json_t *loop_report_bytes(const char *bytes, size_t size);

/* Returns the supervisor's last heartbeat in ms since the epoch, or 0 if unknown. */
int64_t loop_report_heartbeat_ms(const char *folder);

int loop_report_survey(const char *folder, const char *name, const struct survey *survey,
		       struct error *err);
int loop_report_json(const char *folder, const char *name, json_t *value, struct error *err);

/*
 * Writes to trouble.txt why a supervisor could not continue, or removes the file when the next one
 * starts (NULL). The latter also reserves space for a message on a full disk.
 */
void loop_report_trouble(const char *folder, const char *why);

/* Returns why, or NULL if there is no such file. The caller frees it. */
char *loop_report_read_trouble(const char *folder);

/*
 * Adds findings from the fence's report of a run, FOLDER/NAMEreport.json, to an event: the number
 * of quarantined files (`quarantined`), the first few (`put_aside`), the first denials
 * (`denied`, `denied_protected`), how many there are of each sort (`denied_sorts`), and the new or
 * changed files that tools obey when they start (`flagged`).
 */
void loop_report_add_found(const char *folder, const char *name, json_t *data);

#endif
