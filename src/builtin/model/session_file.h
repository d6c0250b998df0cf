/*
 * Conversations that are gone on with: a file each in ~/.ringfence-agent, if there is such a folder; a loop keeps it from
 * one iteration to the next (RINGFENCE_KEEP). Whatever runs in the fence can write there: what is read is judged.
 */
#ifndef BUILTIN_MODEL_SESSION_FILE_H
#define BUILTIN_MODEL_SESSION_FILE_H

#include "builtin/model/conversation.h"

/* Returns 0, or -1 with err set. */
int session_file_load(const char *name, struct conversation *ret_talk, struct error *err);

/* Returns 0, or -1 if it could not be kept. */
int session_file_save(const char *name, const struct conversation *talk);

#endif
