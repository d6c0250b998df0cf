/*
 * The promise: the text with which an agent ends when it considers the work done.
 *
 * It is valid only at the end of the agent's final message. The echoed prompt, tool output and
 * earlier messages never reach this module: the adapter passes only the final message.
 */
#ifndef DECISION_PROMISE_H
#define DECISION_PROMISE_H

#include <stdbool.h>
#include <stddef.h>

#define PROMISE_DEFAULT "<promise>COMPLETE</promise>"

/*
 * Does the message end with the promise? Only white space, asterisks and closing code fences may
 * follow, and it must start at a word boundary (INCOMPLETE is not COMPLETE). A promise of NULL is
 * the default. An empty or blank promise is never given.
 */
bool promise_found(const char *message, size_t size, const char *promise);

/*
 * Returns the size of the message without its last white space, asterisk or closing code fence, or
 * the same size if it ends in something else: that is its last word.
 */
size_t promise_strip(const char *message, size_t size);

#endif
