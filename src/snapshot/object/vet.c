/* Checks whole trees. */
#include "snapshot/object/vet.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* An explicit stack: trees may be nested too deeply for recursion. */
struct vet_walk {
	struct vet *vet;
	struct pending {
		git_oid id;
		bool end; /* of a tree: everything below has been visited */
	} * stack;
	size_t depth;
	bool check;
	bool measure;
	bool deep;
	unsigned int below[FSCK_DEEPEST]; /* for each open tree: the height below it so far */
	unsigned int open;
};

static void push(struct vet_walk *walk, const unsigned char *id, bool end)
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
		return error_set(err, "a missing %s",
				 link->modules ? ".gitmodules" : ".gitattributes");
	if (size > FSCK_ATTRIBUTES_BYTES) /* the size alone is refused */
		return fsck_special(link, NULL, size, err);
	if (git_odb_read(&object, vet->objects, &id) < 0)
		return error_set(err, "an unreadable %s",
				 link->modules ? ".gitmodules" : ".gitattributes");
	result = fsck_special(link, git_odb_object_data(object), git_odb_object_size(object), err);
	git_odb_object_free(object);
	return result;
}

static int visit_link(void *context, const struct fsck_link *link, struct error *err)
{
	struct vet_walk *walk = context;

	if (link->type == FSCK_TREE)
		push(walk, link->id, false);
	if (link->type != FSCK_BLOB || !(link->modules || link->attributes))
		return 0;
	if (walk->check)
		return vet_special(walk->vet, link, err);
	if (seen_type(&walk->vet->specials, link->id) == FSCK_ANY)
		seen_add(&walk->vet->specials, link->id, FSCK_BLOB);
	return 0;
}

static int add_height(struct vet_walk *walk, unsigned int height, struct error *err)
{
	if (!walk->measure)
		return 0;
	walk->deep = walk->open + height > FSCK_DEEPEST;
	if (walk->deep)
		return error_set(err, "a tree with more than %d levels of folders", FSCK_DEEPEST);
	if (walk->open && walk->below[walk->open - 1] < height)
		walk->below[walk->open - 1] = height;
	return 0;
}

static int close_tree(struct vet_walk *walk, const git_oid *id, struct error *err)
{
	unsigned int height = walk->below[--walk->open] + 1;

	seen_set_height(&walk->vet->trees, id->id, height);
	return add_height(walk, height, err);
}

static int visit_tree(struct vet_walk *walk, const git_oid *id, struct error *err)
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
		return error_set(err, "an unreadable tree");
	result = fsck_object((enum fsck_type)git_odb_object_type(object),
			     git_odb_object_data(object), git_odb_object_size(object), visit_link,
			     walk, err);
	git_odb_object_free(object);
	return result;
}

static int walk_all(struct vet *vet, const git_oid *first, bool check, bool measure,
		    struct error *err)
{
	struct vet_walk walk = { .vet = vet, .check = check, .measure = measure };
	int result = 0;

	push(&walk, first->id, false);
	while (walk.depth > 0 && result == 0) {
		struct pending pending = walk.stack[--walk.depth];

		result = pending.end ? close_tree(&walk, &pending.id, err)
				     : visit_tree(&walk, &pending.id, err);
		if (!check && !walk.deep)
			result = 0;
	}
	free(walk.stack);
	return result;
}

/* The first line of a commit names its tree. */
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

void vet_accept(struct vet *vet, const git_oid *id)
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
