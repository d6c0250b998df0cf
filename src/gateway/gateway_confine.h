/*
 * The gateway's own walls: it reads foreign bytes, so it can reach as little as it can do without.
 *
 * No new privileges, no capabilities, the given user, no core files, no way to be traced; Landlock lets it read the
 * resolver's files and nothing else; a seccomp filter knows the calls that it makes, and sockets of the internet's families.
 */
#ifndef GATEWAY_GATEWAY_CONFINE_H
#define GATEWAY_GATEWAY_CONFINE_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdint.h>

/* How many descriptors it may have: fewer than asked for where the system allows no more. */
uint64_t gateway_confine_descriptors(uint64_t wanted);

/* Before it enters: a file or folder that stays readable. The text must last. */
void gateway_confine_readable(const char *path);

/* Enters. warnings: a line for each wall that this kernel has not. Returns 0, or -1 with err set. */
int gateway_confine(uint32_t uid, uint32_t gid, struct buffer *warnings, struct error *err);

#endif
