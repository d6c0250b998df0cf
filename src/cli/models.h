/* From what is set to what a gateway is told about models. */
#ifndef CLI_MODELS_H
#define CLI_MODELS_H

#include "cli/apply.h"
#include "gateway/books.h"
#include "util/error.h"
#include "util/list.h"

/* Judges values of `model-key` and `upstream`. Returns 0, or -1 with a sentence that begins with the key. */
int models_judge(const struct setting *setting, const char *text, struct error *err);

/* Do these texts lead to the provider whose key this variable has? */
bool models_lead(const struct list *texts, const char *variable);

/* Is a tape asked for? Then there is no run without models. */
bool models_taped(const struct config *config);

/* Says what a run cost, or would have. */
void models_tell_cost(uint64_t nusd, bool replay);

/* The folder and limits of the books for runs without a loop; *ret_folder and *ret_day are the caller's to free. */
int models_books(const struct applied *applied, struct books_options *ret_options,
		 char **ret_folder, char **ret_day, struct error *err);

/*
 * The texts of gateway/models.h, with sources for keys (gateway/keys.h); none, if nothing is set and no key is found.
 * Returns 0, or -1 with err set.
 */
int models_texts(const struct applied *applied, struct list *ret_texts, struct error *err);

#endif
