/* Finds the engine of an operation on images. */
#ifndef OPS_OP_IMAGE_ENGINE_H
#define OPS_OP_IMAGE_ENGINE_H

#include "ops/op_image.h"

/* Finds the engine, and refuses one that an agent can change. *ret_run refers to *ret_engine, which
 * the caller releases. Returns 0, or -1 with err set. */
int op_image_engine_find(const struct op_image_target *target, struct container_engine *ret_engine,
			 struct image_run *ret_run, struct error *err);

#endif
