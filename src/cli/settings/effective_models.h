/* From settings to the way to models, and what is said about it. */
#ifndef CLI_SETTINGS_EFFECTIVE_MODELS_H
#define CLI_SETTINGS_EFFECTIVE_MODELS_H

#include "cli/settings/effective.h"
#include "gateway/owner/ledger.h"
#include "provider/model_access.h"
#include "util/buffer.h"
#include "util/error.h"

/* Judges values of `model-key` and `upstream`. Returns 0, or -1 with a sentence that begins with the key. */
int effective_models_judge(const struct setting *setting, const char *text, struct error *err);

/* Is the provider reached whose key this variable has? */
bool effective_models_lead(const struct model_access *access, const char *variable);

/* 0, or -1 with err set if all servers are local ones on which nobody listens. A loop would wait for
 * them. */
int effective_models_listen(const struct model_access *access, struct error *err);

/* Appends which models are reached, as a part of a sentence; nothing, if there are none. */
void effective_models_tell(const struct model_access *access, struct buffer *out);

/* Is a tape asked for? Then there is no run without models. */
bool effective_models_taped(const struct config *config);

/* What was asked of models, as the gateway has counted it. */
struct effective_models_use {
	uint64_t requests, free_requests; /* of which to local ones */
	uint64_t input, output;           /* tokens */
	uint64_t cost_nusd;
	bool replay;
};

/* In words: what it cost or, as a replay, would have cost. NULL: nothing was asked. The caller frees. */
char *effective_models_cost_words(const struct effective_models_use *use);

/* Says what a run asked of models, and what it cost or, as a replay, would have cost; nothing, if it asked for nothing. */
void effective_models_tell_cost(const struct ledger_news *news);

/* The folder and limits of the books for runs without a loop; *ret_folder and *ret_day are the caller's to free. */
int effective_models_books(const struct effective *effective, struct ledger_options *ret_options,
			   char **ret_folder, char **ret_day, struct error *err);

/* The way to models; none, if nothing is set and no key is found. Returns 0, or -1 with err set. */
int effective_models_access(const struct effective *effective, struct model_access *ret_access,
			    struct error *err);

#endif
