/* Words about the tasks of a batch, for a terminal and for a page. None of them is escaped. */
#ifndef BATCH_BATCH_WORDS_H
#define BATCH_BATCH_WORDS_H

#include "batch/batch_state.h"

/* Returns the title without the id that it may begin with. The caller frees it. */
char *batch_words_title(const char *id, const char *title);

/* Returns what has become of a task, in a word or two. */
const char *batch_words_step(const struct batch_task *task, bool cut_off);

/* Returns how long its loops have taken, or "" below a second. The caller frees it. */
char *batch_words_time(const struct batch_task *task);

/* Returns conflicts such as "f (with T1), g". The caller frees it. */
char *batch_words_conflicts(const json_t *conflicts);

#endif
