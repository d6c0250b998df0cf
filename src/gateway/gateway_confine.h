/*
 * The gateway's own sandbox. The gateway parses untrusted input, so it keeps only the access it
 * needs.
 *
 * It has no new privileges, no capabilities, the given user, no core dumps, and cannot be traced.
 * Landlock allows reading the resolver's files and nothing else; a seccomp filter allows only the
 * system calls it makes, and only internet sockets.
 */
#ifndef GATEWAY_GATEWAY_CONFINE_H
#define GATEWAY_GATEWAY_CONFINE_H

#include "util/buffer.h"
#include "util/error.h"

#include <stdint.h>

/* Raises the limit of open descriptors. Returns the new limit, which may be lower than wanted. */
uint64_t gateway_confine_descriptors(uint64_t wanted);

/* Keeps a file or folder readable. Call it before gateway_confine(); the path is borrowed. */
void gateway_confine_readable(const char *path);

/* Enters the sandbox. Appends to `warnings` a line for each part that this kernel does not
 * support. Returns 0, or -1 with err set. */
int gateway_confine(uint32_t uid, uint32_t gid, struct buffer *warnings, struct error *err);

#endif
