/* What the agent says to who started it: the event stream of docs/loop.md on stdout, one JSON object a line. */
#ifndef BUILTIN_SAY_H
#define BUILTIN_SAY_H

#include "meter/usage.h"
#include "util/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void say_started(const char *session, const char *model);
void say_text(const char *text, size_t size);
void say_tool(const char *name, const char *target);
/* Of what went wrong the last line is told, which says why. */
void say_result(bool ok, const char *text, size_t size);
void say_file(const char *path);
void say_tokens(const char *model, const struct usage *usage);

/* It lives: for who would else take silence for a hang. */
void say_alive(void);
void say_retry(int64_t delay_ms, const char *why);

/* What went wrong: "limit", "overloaded", "auth", "budget", "network" or "error". reset_at: seconds since the epoch; 0: not
 * known. */
void say_trouble(const char *kind, const char *text, int64_t reset_at);
void say_final(bool ok, const char *text, size_t size, const char *session);

#endif
