/* Builds, lists and removes images for the fences that are containers, and records the user's
 * agreement to a project's own image. */
#ifndef OPS_OP_IMAGE_H
#define OPS_OP_IMAGE_H

#include "image/image_store.h"
#include "ops/op.h"
#include "util/container_engine.h"
#include "util/list.h"
#include "util/taint.h"

struct op_image_target {
	const char *engine;        /* "podman", "docker", or NULL: the first that is installed */
	const struct taint *taint; /* what an agent can change */
	/* Gets what programs print, as it comes; or NULL. */
	void (*heard)(void *context, const char *bytes, size_t size);
	void *context;
};

struct op_image_build_request {
	struct op_image_target target;
	const char *state;         /* Ringfence's state folder */
	const char *project;       /* a real path */
	const struct list *agents; /* names */
	const char *from;          /* "host", "debootstrap", the name of an image, or NULL */
	const char *mirror;        /* of Debian, for debootstrap; or NULL */
	const char *file;          /* the user's own Containerfile, or NULL */
	const char *name;          /* of the image; NULL: after the agents */
	bool devcontainer;         /* the project's own image */
	/* Options of `ringfence exec` for the fence in which npm installs the agents. */
	const struct list *fence_options;
};

struct op_image_build_result {
	char *name;           /* of the image */
	char *note;           /* why it is of another kind than usual, or NULL */
	const char *engine;   /* its name */
	const char *kind;     /* "host", "debootstrap", "image" or "file" */
	char *from;           /* the base image, or NULL */
	struct list honoured; /* of the project's own image, a line each */
	struct list ignored;
};

/* Returns OP_UNCHANGED if the image exists and its recipe is the same, or OP_REFUSED if the user
 * has not agreed to the project's own image, or if an image of this name is not ours. */
enum op_status op_image_build(const struct op_image_build_request *request,
			      struct op_image_build_result *ret_result, struct error *err);
void op_image_build_release(struct op_image_build_result *result);

/* Writes the Containerfile that op_image_build() would use for --from IMAGE, or the project's own.
 * Needs no engine. */
enum op_status op_image_print(const struct op_image_build_request *request,
			      struct buffer *containerfile, struct error *err);

struct op_image_list_result {
	const char *engine;
	struct image_list images; /* only ours */
};

enum op_status op_image_list(const struct op_image_target *target,
			     struct op_image_list_result *ret_result, struct error *err);
void op_image_list_release(struct op_image_list_result *result);

/* Removes one of our images. Returns OP_NOT_FOUND, or OP_REFUSED for an image that is not ours. */
enum op_status op_image_remove(const struct op_image_target *target, const char *name,
			       struct error *err);

struct op_image_trust_request {
	const char *state;
	const char *project;
	struct op_answer answer;
	int64_t now_s; /* since 1970 */
};

struct op_image_trust_result {
	struct op_question question; /* what is honoured, then the hash of the content */
	struct list ignored;
	char *file;
};

/* Agrees to the project's own image. Returns OP_UNCHANGED if exactly this is already trusted. */
enum op_status op_image_trust(const struct op_image_trust_request *request,
			      struct op_image_trust_result *ret_result, struct error *err);
void op_image_trust_release(struct op_image_trust_result *result);

/* Withdraws that for every file that could decide. Returns OP_UNCHANGED if none was trusted. */
enum op_status op_image_untrust(const char *state, const char *project, struct error *err);

#endif
