/* Access to models as the settings define it, and its description. */
#ifndef SETTINGS_EFFECTIVE_MODELS_H
#define SETTINGS_EFFECTIVE_MODELS_H

#include "gateway/owner/ledger.h"
#include "provider/model_access.h"
#include "settings/effective.h"
#include "util/buffer.h"
#include "util/error.h"

/* Validates a value of `model-key` or `upstream`. Returns 0, or -1 with an error that starts with
 * the key. */
int effective_models_validate(const struct setting *setting, const char *text, struct error *err);

/* Whether a setting concerns the access to models, such as `model-key`. `models` is not one. */
bool effective_models_uses(const struct setting *setting);

/* Sets err: there is no key for a provider. Returns -1. */
int effective_models_refuse(struct error *err);

/* Whether access includes the provider whose key this variable holds. */
bool effective_models_has_key(const struct model_access *access, const char *variable);

/* Returns 0, or -1 with err set if all servers are local and refuse connections. A loop would wait
 * for them in vain. */
int effective_models_check_listening(const struct model_access *access, struct error *err);

/* Appends the reachable models as part of a sentence, or nothing. */
void effective_models_describe(const struct model_access *access, struct buffer *out);

/* Whether --record or --replay is set. Such a run must have access to models. */
bool effective_models_taped(const struct config *config);

/* The ledger's folder and limits for runs without a loop. The caller frees *ret_folder and
 * *ret_day. */
int effective_models_ledger(const struct effective *effective, struct ledger_options *ret_options,
			    char **ret_folder, char **ret_day, struct error *err);

/* Access to models as configured; unset if nothing is configured and no key is found. Returns 0, or
 * -1 with err set. */
int effective_models_access(const struct effective *effective, struct model_access *ret_access,
			    struct error *err);

#endif
