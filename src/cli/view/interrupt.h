/* Ctrl-C while something is followed in the foreground. */
#ifndef CLI_VIEW_INTERRUPT_H
#define CLI_VIEW_INTERRUPT_H

#include <stdbool.h>

/* Catches SIGINT, SIGTERM and SIGHUP from now on, and Ctrl-Z. */
void interrupt_catch(void);

/* Lets them end or stop this process again. */
void interrupt_release(void);

/* Has one of them arrived? */
bool interrupt_is_pending(void);

/*
 * Asks what to do: 'd' (detach), 'p' (pause) or 'a' (abort). A second Ctrl-C aborts. Without a
 * terminal, or after SIGTERM or SIGHUP, the answer is 'd'. what: "the loop". fresh: the cursor is
 * on an empty line.
 */
char interrupt_ask(const char *what, bool quiet, bool fresh);

/* Was Ctrl-Z pressed? The caller cleans the terminal, and then stops this process. */
bool interrupt_is_stop_pending(void);
void interrupt_stop(void);

/* Was this process stopped and continued since the last call? */
bool interrupt_was_continued(void);

#endif
