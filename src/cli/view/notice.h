/* Notices on stderr, one line each: "[ringfence] ...". */
#ifndef CLI_VIEW_NOTICE_H
#define CLI_VIEW_NOTICE_H

#include "config/config.h"
#include "fence/fence_quarantine.h"
#include "settings/effective.h"

void notice(const char *text);
void notice_all(const struct list *texts);
void notice_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports quarantined and flagged files of a project. */
void notice_found(const struct fence_found *found, const char *project);

/* Reports inactive settings of the project's file, if `applies` is NULL or returns true for them,
 * and the configuration's own notices. */
void notice_config(const struct config *config, bool (*applies)(const struct setting *setting));

/* Returns true for a setting that not only loops use. */
bool notice_is_general(const struct setting *setting);

/* Reports that the current directory, used as the project, is only a part of a repository. */
void notice_part(const struct effective *effective);

#endif
