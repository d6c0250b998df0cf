/* The reference of all settings on stdout: for a terminal, and as docs/configuration.md. */
#ifndef CLI_VIEW_REFERENCE_H
#define CLI_VIEW_REFERENCE_H

#include "config/setting.h"

/* Explains one setting. */
void reference_explain(const struct setting *setting);

/* Prints the whole document. */
void reference_print(void);

#endif
