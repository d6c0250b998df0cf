/* Finds files that have to be reviewed before a push: a forge runs what CI files say, with its
 * secrets, and others see every commit. */
#ifndef OPS_LAND_GATE_H
#define OPS_LAND_GATE_H

#include "ops/op_land.h"

/* Reviews every commit that the user's branch does not have. Returns OP_DONE if it may be pushed,
 * OP_ASKS with result->question, or OP_REFUSED with result->secrets. */
enum op_status land_gate(const struct op_land_request *request, struct op_land_result *result,
			 struct error *err);

#endif
