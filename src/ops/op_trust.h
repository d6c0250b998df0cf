/* Trusts a project: records that the user agrees to the values in the project's ringfence.yml that
 * widen the fence. */
#ifndef OPS_OP_TRUST_H
#define OPS_OP_TRUST_H

#include "config/config.h"
#include "ops/op.h"

/* More values than this are refused: nobody would read them all before agreeing. */
enum { OP_TRUST_MOST_VALUES = 50 };

struct op_trust_request {
	const char *state;           /* Ringfence's state folder */
	const char *project;         /* a real path */
	const struct config *config; /* the project's, as loaded */
	struct op_answer answer;
	int64_t now_s; /* since 1970 */
};

struct op_trust_result {
	bool widens;                 /* if false, there is nothing to trust */
	struct op_question question; /* items in order of risk, highest last */
};

/* Returns OP_UNCHANGED if nothing widens the fence or exactly these values are already trusted, or
 * OP_REFUSED if there are more than OP_TRUST_MOST_VALUES. */
enum op_status op_trust(const struct op_trust_request *request, struct op_trust_result *ret_result,
			struct error *err);
void op_trust_release(struct op_trust_result *result);

/* Withdraws the trust. Returns OP_UNCHANGED if the project was not trusted. */
enum op_status op_trust_forget(const char *state, const char *project, struct error *err);

#endif
