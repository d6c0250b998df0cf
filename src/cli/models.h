/* From what is set to what a gateway is told about models. */
#ifndef CLI_MODELS_H
#define CLI_MODELS_H

#include "cli/apply.h"
#include "util/error.h"
#include "util/list.h"

/* Judges values of `model-key` and `upstream`. Returns 0, or -1 with a sentence that begins with the key. */
int models_judge(const struct setting *setting, const char *text, struct error *err);

/*
 * The texts of gateway/models.h, with sources for keys (gateway/keys.h); none, if nothing is set and no key is found.
 * Returns 0, or -1 with err set.
 */
int models_texts(const struct applied *applied, struct list *ret_texts, struct error *err);

#endif
