/*
 * The promise: what an agent says last when it believes that the work is done.
 *
 * Looked for in one place only, the end of the agent's final message. The prompt's echo, tool
 * output and earlier messages never get here: the adapter passes the final message and nothing
 * else.
 */
#ifndef DECISION_PROMISE_H
#define DECISION_PROMISE_H

#include <stdbool.h>
#include <stddef.h>

#define GUARD_PROMISE "<promise>COMPLETE</promise>"

/*
 * Is the promise the last word of the message? White space, asterisks and closing code fences may
 * follow it, nothing else; what stands before it must end (INCOMPLETE is no COMPLETE). A promise of
 * NULL is the default one. One that is empty, or nothing but white space, is never given.
 */
bool promise_found(const char *message, size_t size, const char *promise);

#endif
