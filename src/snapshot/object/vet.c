/* Trees as a whole: see vet.h. */
#include "snapshot/object/vet.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* What is left to look at: trees may be nested deeper than a stack of calls. */
struct look_walk {
	struct vet *vet;
	struct left {
		git_oid id;
		bool end; /* of a tree: all that is below was looked at */
	} * stack;
	size_t depth;
	bool judge;
	bool measure;
	bool deep;
	unsigned int below
		[FSCK_DEEPEST]; /* of each tree that is not at its end: the height of what is below it so far */
	unsigned int open;
};

static void push(struct look_walk *walk, const unsigned char *id, bool end)
{
	if ((walk->depth & (walk->depth - 1)) == 0)
		walk->stack = mem_resize(walk->stack, walk->depth ? 2 * walk->depth : 64,
					 sizeof *walk->stack);
	memcpy(walk->stack[walk->depth].id.id, id, FSCK_ID);
	walk->stack[walk->depth++].end = end;
}

int vet_special(const struct vet *vet, const struct fsck_link *link, struct error *err)
{
	git_odb_object *object = NULL;
	git_object_t type;
	git_oid id;
	size_t size;
	int result;

	if (seen_type(&vet->specials, link->id) != FSCK_ANY)
		return 0;
	memcpy(id.id, link->id, FSCK_ID);
	if (git_odb_read_header(&size, &type, vet->objects, &id) < 0)
		return error_set(err, "a %s that is missing",
				 link->modules ? ".gitmodules" : ".gitattributes");
	if (size > FSCK_ATTRIBUTES_BYTES) /* without its bytes */
		return fsck_special(link, NULL, size, err);
	if (git_odb_read(&object, vet->objects, &id) < 0)
		return error_set(err, "a %s that cannot be read",
				 link->modules ? ".gitmodules" : ".gitattributes");
	result = fsck_special(link, git_odb_object_data(object), git_odb_object_size(object), err);
	git_odb_object_free(object);
	return result;
}

static int found(void *context, const struct fsck_link *link, struct error *err)
{
	struct look_walk *walk = context;

	if (link->type == FSCK_TREE)
		push(walk, link->id, false);
	if (link->type != FSCK_BLOB || !(link->modules || link->attributes))
		return 0;
	if (walk->judge)
		return vet_special(walk->vet, link, err);
	if (seen_type(&walk->vet->specials, link->id) == FSCK_ANY)
		seen_add(&walk->vet->specials, link->id, FSCK_BLOB);
	return 0;
}

static int add_height(struct look_walk *walk, unsigned int height, struct error *err)
{
	if (!walk->measure)
		return 0;
	walk->deep = walk->open + height > FSCK_DEEPEST;
	if (walk->deep)
		return error_set(err, "a tree with more than %d folders below one another",
				 FSCK_DEEPEST);
	if (walk->open && walk->below[walk->open - 1] < height)
		walk->below[walk->open - 1] = height;
	return 0;
}

static int close_tree(struct look_walk *walk, const git_oid *id, struct error *err)
{
	unsigned int height = walk->below[--walk->open] + 1;

	seen_tell_height(&walk->vet->trees, id->id, height);
	return add_height(walk, height, err);
}

static int look(struct look_walk *walk, const git_oid *id, struct error *err)
{
	git_odb_object *object = NULL;
	int result;

	if (seen_type(&walk->vet->trees, id->id) != FSCK_ANY)
		return add_height(walk, seen_height(&walk->vet->trees, id->id), err);
	seen_add(&walk->vet->trees, id->id, FSCK_TREE);
	if (add_height(walk, 1, err) < 0)
		return -1;
	if (walk->measure) {
		push(walk, id->id, true);
		walk->below[walk->open++] = 0;
	}
	if (git_odb_read(&object, walk->vet->objects, id) < 0)
		return error_set(err, "a tree that cannot be read");
	result = fsck_object((enum fsck_type)git_odb_object_type(object),
			     git_odb_object_data(object), git_odb_object_size(object), found, walk,
			     err);
	git_odb_object_free(object);
	return result;
}

static int walk_all(struct vet *vet, const git_oid *first, bool judge, bool measure,
		    struct error *err)
{
	struct look_walk walk = { .vet = vet, .judge = judge, .measure = measure };
	int result = 0;

	push(&walk, first->id, false);
	while (walk.depth > 0 && result == 0) {
		struct left left = walk.stack[--walk.depth];

		result = left.end ? close_tree(&walk, &left.id, err) : look(&walk, &left.id, err);
		if (!judge && !walk.deep)
			result = 0;
	}
	free(walk.stack);
	return result;
}

/* The tree of a commit is named in its first line. */
static git_oid tree_of(const struct vet *vet, const git_oid *id)
{
	static const char word[] = "tree ";
	git_odb_object *object = NULL;
	git_oid tree = *id;

	if (git_odb_read(&object, vet->objects, id) == 0 &&
	    git_odb_object_type(object) == GIT_OBJECT_COMMIT &&
	    git_odb_object_size(object) > strlen(word) + GIT_OID_HEXSZ &&
	    memcmp(git_odb_object_data(object), word, strlen(word)) == 0)
		git_oid_fromstrn(&tree, (const char *)git_odb_object_data(object) + strlen(word),
				 GIT_OID_HEXSZ);
	git_odb_object_free(object);
	return tree;
}

void vet_learn(struct vet *vet, const git_oid *id)
{
	git_oid tree = tree_of(vet, id);
	struct error ignored;

	walk_all(vet, &tree, false, false, &ignored);
}

int vet_tree(struct vet *vet, const git_oid *tree, struct error *err)
{
	return walk_all(vet, tree, true, false, err);
}

int vet_depth(struct vet *vet, const git_oid *id, struct error *err)
{
	git_oid tree = tree_of(vet, id);

	return walk_all(vet, &tree, false, true, err);
}

void vet_release(struct vet *vet)
{
	seen_release(&vet->trees);
	seen_release(&vet->specials);
}
