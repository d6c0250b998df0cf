/*
 * The words with which an agent says that it can go on only when a person has acted:
 * <blocked>what a person must do</blocked>.
 *
 * Like the promise (promise.h), they count only at the end of the agent's final message.
 */
#ifndef DECISION_BLOCKED_H
#define DECISION_BLOCKED_H

#include <stdbool.h>
#include <stddef.h>

#define BLOCKED_OPEN  "<blocked>"
#define BLOCKED_CLOSE "</blocked>"

enum { BLOCKED_MAX = 1000 }; /* bytes of the text, with the final NUL */

/*
 * Does the message end with these words? Only white space, asterisks and closing code fences may
 * follow. Writes what a person must do to out as one line, cleaned (see lines.h) and cut to fit the
 * room. Without a text, the agent has said nothing.
 */
bool blocked_read(const char *message, size_t size, char *out, size_t room);

#endif
