/*
 * The agent's own files that outlive an iteration: its sessions. They are in a folder beside the state, because
 * nothing in the state may be written from inside a fence: STATE-sessions/ID. With fresh sessions they are
 * moved to the iteration's folder when it has ended; a session that goes on stays where it is.
 */
#ifndef LOOP_RUN_AGENT_SESSIONS_H
#define LOOP_RUN_AGENT_SESSIONS_H

#include "loop/supervise/supervisor.h"

/* The folder, made if need be; the caller frees. NULL: the loop has none. */
char *agent_sessions_open(const struct supervisor *sup);

/* Is there something in it? */
bool agent_sessions_has(const char *keep);

/* The iteration in this folder has ended. */
void agent_sessions_close(const struct supervisor *sup, const char *keep, const char *iteration);

/* What the agent's credential file holds, if the user wants it to have a copy; the caller frees. NULL with
 * err set, or NULL without *ret_wanted. */
char *agent_sessions_login(const struct supervisor *sup, bool *ret_wanted, struct error *err);

#endif
