/* The reference of settings, for a terminal and as docs/configuration.md. On stdout. */
#ifndef CLI_VIEW_REFERENCE_H
#define CLI_VIEW_REFERENCE_H

#include "config/setting.h"

/* Explains one setting to a person. */
void reference_explain(const struct setting *setting);

/* The whole document. */
void reference_print(void);

#endif
