/*
 * The images of a container engine, as far as they are ours.
 *
 * Our images carry labels. An image that is based on one of ours inherits them, so an image counts
 * as ours only if it also has the name that its label says, or none any more.
 */
#ifndef IMAGE_IMAGE_STORE_H
#define IMAGE_IMAGE_STORE_H

#include "util/buffer.h"
#include "util/container_engine.h"
#include "util/error.h"
#include "util/list.h"
#include "util/text/sha256.h"

#include <stdbool.h>
#include <stdint.h>

#define IMAGE_STORE_LABEL "org.ringfence."

struct image {
	char *id;
	char *name;    /* by its label */
	char *kind;    /* by its label: host, debootstrap, image or file; may be NULL */
	char *agents;  /* by its label: "claude 2.1.326, codex 0.169.0"; may be NULL */
	char *recipe;  /* by its label: the hash of what it was made of; may be NULL */
	char *created; /* as the engine says */
	uint64_t bytes;
	bool ours;
};

struct image_list {
	struct image *items;
	size_t count;
};

/* Labels that a build gives to an image. */
struct image_labels {
	const char *name, *kind, *agents, *recipe;
};

struct image_build {
	const char *containerfile; /* a full path */
	const char *context;       /* a full path */
	const char *target;        /* a stage, or NULL */
	const struct list *arguments;
	struct image_labels labels;
	bool quick; /* nothing is worth keeping between its steps */
};

/* The engine, and who gets what it prints as it comes. */
struct image_run {
	const struct container_engine *engine;
	void (*heard)(void *context, const char *bytes, size_t size); /* or NULL */
	void *context;
};

void image_release(struct image *image);
void image_list_release(struct image_list *list);

/* Parses the output of `image inspect`. Returns 0, or -1 with err set. */
int image_store_parse(const char *text, size_t size, struct image_list *ret_list,
		      struct error *err);

/* Lists all images that carry our label, also those of others that inherited it. */
int image_store_list(const struct image_run *run, struct image_list *ret_list, struct error *err);

/* Finds an image by a name or an id. Returns 0, or -1 with err set (ERROR_NOT_FOUND). The caller
 * releases the list, which has this image. */
int image_store_find(const struct image_run *run, const char *name, struct image_list *ret_list,
		     struct error *err);

int image_store_remove(const struct image_run *run, const char *name, struct error *err);
int image_store_pull(const struct image_run *run, const char *name, struct error *err);
int image_store_build(const struct image_run *run, const struct image_build *build,
		      struct error *err);

/* Makes an image of a tar file. */
int image_store_import(const struct image_run *run, const char *file,
		       const struct image_labels *labels, struct error *err);

#endif
