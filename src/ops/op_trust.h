/* Trusting a project: a person agrees to what its own file widens. */
#ifndef OPS_OP_TRUST_H
#define OPS_OP_TRUST_H

#include "config/config.h"
#include "ops/op.h"

/* Nobody reads more values than these before they agree. */
enum { OP_TRUST_MOST_VALUES = 50 };

struct op_trust_request {
	const char *state;           /* Ringfence's own folder */
	const char *project;         /* a real path */
	const struct config *config; /* of the project, as it was loaded */
	struct op_answer answer;
	int64_t now_s; /* since 1970 */
};

struct op_trust_result {
	bool widens;                 /* else there is nothing to trust */
	struct op_question question; /* the weightiest settings come last */
};

/* OP_UNCHANGED: nothing widens, or exactly this is trusted already. OP_REFUSED: nobody can be asked
 * about so many values. */
enum op_status op_trust(const struct op_trust_request *request, struct op_trust_result *ret_result,
			struct error *err);
void op_trust_release(struct op_trust_result *result);

/* Takes it back. OP_UNCHANGED: the project was not trusted. */
enum op_status op_trust_forget(const char *state, const char *project, struct error *err);

#endif
