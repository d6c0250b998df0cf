/*
 * The subset of YAML for configurations: one document of maps, lists and scalars.
 *
 * The surprising features are refused: anchors and aliases, tags, merge keys, directives, multiple
 * documents, keys that are not scalars, duplicate keys, tabs as indentation. There are no types: a
 * scalar is its text, and `no` is the word no.
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
	bool quoted; /* an empty scalar without quotes is a missing value */
	char *key;   /* in a map, else NULL; also NULL after a problem */
	struct problem_position key_at;
	struct yaml_node **items;
	size_t count;
};

/*
 * Parses a text; `file` is its name in the problems. *ret_root, which the caller frees, is NULL for
 * an empty text. Returns 0, or -1 with the mistakes added to the problems.
 */
int yaml_tree_read(const char *file, const char *text, size_t size, struct yaml_node **ret_root,
		   struct list *problems);
void yaml_tree_free(struct yaml_node *node);

const char *yaml_kind_name(enum yaml_kind kind);

#endif
