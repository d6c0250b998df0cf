/* The engine of an operation on images: see op_image_engine.h. */
#include "ops/op_image_engine.h"

static int find_first(struct container_engine *ret_engine, struct error *err)
{
	struct error ignored;

	for (int kind = 0; kind < CONTAINER_ENGINE_COUNT; kind++)
		if (container_engine_find((enum container_engine_kind)kind, ret_engine, &ignored) ==
		    0)
			return 0;
	return error_with(err, ERROR_NOT_FOUND,
			  "neither podman nor docker is installed: run 'sudo apt install podman "
			  "uidmap'");
}

int op_image_engine_find(const struct op_image_target *target, struct container_engine *ret_engine,
			 struct image_run *ret_run, struct error *err)
{
	enum container_engine_kind kind;

	if (!target->engine) {
		if (find_first(ret_engine, err) < 0)
			return -1;
	} else {
		kind = container_engine_named(target->engine);
		if (kind == CONTAINER_ENGINE_COUNT)
			return error_with(err, ERROR_INVALID,
					  "--engine must be podman or docker, not '%.100s'",
					  target->engine);
		if (container_engine_find(kind, ret_engine, err) < 0)
			return -1;
	}
	if (container_engine_check(ret_engine, target->taint, err) < 0) {
		container_engine_release(ret_engine);
		return -1;
	}
	*ret_run = (struct image_run){ .engine = ret_engine,
				       .heard = target->heard,
				       .context = target->context };
	return 0;
}
