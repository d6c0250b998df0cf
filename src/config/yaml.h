/*
 * The part of YAML that a configuration needs: one document of maps, lists and scalars.
 *
 * What makes YAML surprising is refused: anchors and aliases, tags, merge keys, directives, several
 * documents, keys that are no plain words or come twice, tabs as indentation. There are no types:
 * a scalar is its text, and `no` is the word no.
 */
#ifndef CONFIG_YAML_H
#define CONFIG_YAML_H

#include "config/problem.h"
#include "util/list.h"

#include <stdbool.h>
#include <stddef.h>

enum { YAML_MOST_BYTES = 1 << 20, YAML_MOST_DEPTH = 8, YAML_MOST_NODES = 10000 };

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
	enum yaml_kind kind;
	struct problem_position at;
	char *text;  /* of a scalar */
	bool quoted; /* an empty scalar without quotes is no value at all */
	char *key;   /* if it is in a map; may be NULL after a problem */
	struct problem_position key_at;
	struct yaml_node **items;
	size_t count;
};

/*
 * Reads a text; file is what its problems are called by. *ret_root is NULL for a text without
 * content, and the caller frees it. Returns 0, or -1 with what is wrong added to the problems.
 */
int yaml_tree_read(const char *file, const char *text, size_t size, struct yaml_node **ret_root,
		   struct list *problems);
void yaml_tree_free(struct yaml_node *node);

const char *yaml_kind_name(enum yaml_kind kind);

#endif
