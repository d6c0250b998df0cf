/*
 * Prints the agent's events on stdout, one JSON object per line: the stream that docs/loop.md
 * describes.
 */
#ifndef BUILTIN_EMIT_H
#define BUILTIN_EMIT_H

#include "meter/usage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void emit_started(const char *session, const char *model);
void emit_text(const char *text, size_t size);
void emit_tool(const char *name, const char *target);
/* Of a failed result, the last line of its text is printed: it has the reason. */
void emit_result(bool ok, const char *text, size_t size);
void emit_file(const char *path);
void emit_tokens(const char *model, const struct usage *usage);

/* Prints a line without content: something arrives that is not shown yet, so this is not a hang. */
void emit_heartbeat(void);
void emit_retry(int64_t delay_ms, const char *why);

/*
 * kind: "limit", "overloaded", "auth", "budget", "network" or "error". reset_at is in seconds since
 * the epoch; 0: unknown.
 */
void emit_error(const char *kind, const char *text, int64_t reset_at);
void emit_final(bool ok, const char *text, size_t size, const char *session);

#endif
