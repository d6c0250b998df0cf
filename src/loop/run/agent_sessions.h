/*
 * The agent's own files that outlive an iteration: its sessions. They are stored beside the state,
 * in STATE-sessions/ID, because nothing in the state may be writable from inside a fence. With
 * fresh sessions, they are moved to the iteration's folder when it ends; a continued session stays
 * where it is.
 */
#ifndef LOOP_RUN_AGENT_SESSIONS_H
#define LOOP_RUN_AGENT_SESSIONS_H

#include "loop/supervise/supervisor.h"

/*
 * Returns the folder, which is created if needed, or NULL if the loop has none. The caller frees
 * it.
 */
char *agent_sessions_open(const struct supervisor *sup);

/* Does the folder contain anything? */
bool agent_sessions_has(const char *keep);

/* Stores or keeps the sessions after the iteration in this folder. */
void agent_sessions_close(const struct supervisor *sup, const char *keep, const char *iteration);

/*
 * Returns the contents of the agent's credential file, if the user wants it copied; the caller
 * frees them. Returns NULL with err set on failure. *ret_wanted: whether a copy is wanted.
 */
char *agent_sessions_login(const struct supervisor *sup, bool *ret_wanted, struct error *err);

#endif
