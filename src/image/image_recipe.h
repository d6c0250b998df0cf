/*
 * The parts of an image, and the Containerfile that makes it.
 *
 * Agents are in IMAGE_RECIPE_FOLDER. With a base image of a registry, the Containerfile installs
 * everything. Otherwise the packages of npm are installed beforehand, in a fence, and copied: then
 * an engine needs no network to build it.
 */
#ifndef IMAGE_IMAGE_RECIPE_H
#define IMAGE_IMAGE_RECIPE_H

#include "util/buffer.h"
#include "util/list.h"
#include "util/text/sha256.h"

#define IMAGE_RECIPE_FOLDER "/opt/ringfence"
#define IMAGE_RECIPE_BASE   "node:22-bookworm-slim"
#define IMAGE_RECIPE_SUITE  "bookworm"

enum image_recipe_kind {
	IMAGE_RECIPE_HOST,        /* empty folders: the fence shows the host's */
	IMAGE_RECIPE_DEBOOTSTRAP, /* a Debian system, made here */
	IMAGE_RECIPE_IMAGE,       /* based on another image */
	IMAGE_RECIPE_FILE,        /* a Containerfile of the user or of the project */
	IMAGE_RECIPE_KIND_COUNT
};

struct image_recipe {
	enum image_recipe_kind kind;
	const char *from;   /* the base, unless it is the host */
	struct list agents; /* names */
	struct list tools;  /* Debian packages of the project's tool chain */
};

/* Returns "host", "debootstrap", "image" or "file". */
const char *image_recipe_kind_name(enum image_recipe_kind kind);

void image_recipe_release(struct image_recipe *recipe);

/* Adds the packages of the tool chains that a project's files tell of. */
void image_recipe_add_tools(const char *project, struct list *tools);

/* Adds the packages that a base of debootstrap has: those of every image, and the tools. */
void image_recipe_packages(const struct image_recipe *recipe, struct list *packages);

/* Writes the Containerfile. That of IMAGE_RECIPE_FILE adds the agents to an image that was built
 * from the user's file. */
void image_recipe_write(const struct image_recipe *recipe, struct buffer *containerfile);

/* Returns the name of the image unless the user chose one: "ringfence/claude". The caller frees. */
char *image_recipe_name(const struct image_recipe *recipe);

#endif
