/*
 * Saved conversations: one file each in ~/.ringfence-agent, if that folder exists; a loop keeps the
 * folder between iterations (RINGFENCE_KEEP). Any process in the fence can write there, so the
 * contents are validated.
 */
#ifndef BUILTIN_MODEL_SESSION_FILE_H
#define BUILTIN_MODEL_SESSION_FILE_H

#include "builtin/model/conversation.h"

/* Returns 0, or -1 with err set. */
int session_file_load(const char *name, struct conversation *ret_conversation, struct error *err);

/* Returns 0, or -1 if the session was not saved. */
int session_file_save(const char *name, const struct conversation *conversation);

#endif
