/* What a person is told on stderr besides results: one line each, "[ringfence] ...". */
#ifndef CLI_VIEW_NOTICE_H
#define CLI_VIEW_NOTICE_H

#include "config/config.h"
#include "fence/fence_quarantine.h"

void notice(const char *text);
void notice_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What was moved to quarantine. */
void notice_found(const struct fence_found *found);

/* What a project's file asks for and does not get, and what else should be known before the run. What only
 * a loop asks for is named for a loop. */
void notice_config(const struct config *config, bool loop);

#endif
