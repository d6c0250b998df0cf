/* Looks for damage in the state folder. */
#ifndef DOCTOR_STATE_CHECK_H
#define DOCTOR_STATE_CHECK_H

#include <stddef.h>

/*
 * Finds files that Ringfence never leaves empty, and that are: a power cut empties files that were
 * not synced. Returns how many there are, the path of the first one, which the caller frees, and
 * what to do about that one.
 */
size_t state_check_find(const char *state, char **ret_first, const char **ret_remedy);

#endif
