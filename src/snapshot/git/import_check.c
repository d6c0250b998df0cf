/* Checks what the commits of an agent change. */
#include "snapshot/git/import_check.h"

#include "lfs/lfs_store.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ENTRIES = 200000000, MOST_FILES = 4096, SHORT_ID = 10, STEPS_OF_ENTRY = 100 };

static const unsigned char empty_blob[FSCK_ID] = { 0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6,
						   0x43, 0x4b, 0x8b, 0x29, 0xae, 0x77, 0x5a,
						   0xd8, 0xc2, 0xe4, 0x8c, 0x53, 0x91 };

/* ---- objects ---- */

static bool is_in_user(const struct import_check *check, const unsigned char id[FSCK_ID])
{
	git_oid oid;

	git_oid_fromraw(&oid, id);
	return git_odb_exists_ext(check->user, &oid, GIT_ODB_LOOKUP_NO_REFRESH);
}

static int read_of_user(const struct import_check *check, const unsigned char id[FSCK_ID],
			struct packread_object *ret_object)
{
	git_odb_object *found = NULL;
	git_oid oid;

	git_oid_fromraw(&oid, id);
	if (git_odb_read(&found, check->user, &oid) < 0)
		return 0;
	ret_object->type = (enum fsck_type)git_odb_object_type(found);
	ret_object->size = git_odb_object_size(found);
	ret_object->bytes = mem_zero(ret_object->size + 1);
	memcpy(ret_object->bytes, git_odb_object_data(found), ret_object->size);
	git_odb_object_free(found);
	return 1;
}

/* Reads an object of a type. The caller frees the bytes. Returns 0, or -1 with err set. */
static int read_object(struct import_check *check, const unsigned char id[FSCK_ID],
		       enum fsck_type type, struct packread_object *ret_object, struct error *err)
{
	int result = is_in_user(check, id) ? read_of_user(check, id, ret_object)
					   : object_source_read(check->source, id, ret_object, err);

	if (result < 0)
		return -1;
	if (result > 0 && (type == FSCK_ANY || ret_object->type == type))
		return 0;
	if (result > 0)
		free(ret_object->bytes);
	return error_set(err, "an object that is missing, or of the wrong type");
}

/* ---- attributes ---- */

/* Reads a .gitattributes, once. *ret_rules is not the caller's to free. */
static int read_rules(struct import_check *check, const unsigned char id[FSCK_ID],
		      const struct lfs_rules *root, const struct lfs_rules **ret_rules,
		      struct error *err)
{
	struct import_check_file file = { .root = root };
	struct packread_object object;

	for (size_t i = check->file_count; i-- > 0;)
		if (check->files[i].root == root && memcmp(check->files[i].id, id, FSCK_ID) == 0) {
			*ret_rules = check->files[i].rules;
			return 0;
		}
	if (check->file_count == MOST_FILES)
		return error_set(err, "more than %d versions of .gitattributes", MOST_FILES);
	if (read_object(check, id, FSCK_BLOB, &object, err) < 0)
		return -1;
	memcpy(file.id, id, FSCK_ID);
	file.rules = lfs_rules_read(object.bytes, object.size, root);
	free(object.bytes);
	check->files = mem_extend(check->files, check->file_count, sizeof *check->files);
	check->files[check->file_count++] = file;
	*ret_rules = file.rules;
	return 0;
}

static bool is_in_lfs(struct import_check *check)
{
	const char *path = buffer_text(&check->path);
	uint64_t steps = LFS_RULES_STEPS;
	enum lfs_rules_answer answer = LFS_RULES_SILENT;

	if (check->user_rules)
		answer = lfs_rules_match(check->user_rules, path, &steps);
	for (size_t i = check->scope_count; i-- > 0 && answer == LFS_RULES_SILENT;) {
		const struct import_check_scope *scope = &check->scopes[i];

		answer = lfs_rules_match(scope->rules, path + scope->base + (scope->base > 0),
					 &steps);
	}
	/* Many rules take as long as many entries. */
	check->entries += (LFS_RULES_STEPS - steps) / STEPS_OF_ENTRY;
	return answer == LFS_RULES_YES;
}

/* ---- files ---- */

static int copy_content(struct import_check *check, int from, const struct lfs_pointer *pointer,
			struct error *err)
{
	struct lfs_store_entry entry;

	if (pointer->size > check->left)
		return error_set(err, "it is larger than --git-size allows");
	if (lfs_store_begin(check->to, check->temporary, &entry, err) < 0)
		return -1;
	/* Whoever still writes to the object does not fill the disk. */
	if (lfs_store_add_file(&entry, from, pointer->size, err) < 0) {
		lfs_store_drop(&entry);
		return -1;
	}
	if (lfs_store_end(&entry, pointer, NULL, err) < 0)
		return -1;
	check->left -= pointer->size;
	return 0;
}

/* Is the content in the user's store? */
static bool has_content(const struct import_check *check, const struct lfs_pointer *pointer)
{
	AUTO_FD objects = check->to < 0 ? -1
					: openat(check->to, "objects",
						 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FD there = objects < 0 ? -1 : lfs_store_open(objects, pointer);

	return there >= 0;
}

/* Brings the content of a pointer into the user's store. */
static int bring_content(struct import_check *check, const struct lfs_pointer *pointer,
			 struct error *err)
{
	AUTO_FD from = -1;

	if (has_content(check, pointer))
		return 0;
	if (check->from >= 0)
		from = lfs_store_open(check->from, pointer);
	if (from < 0)
		return error_set(err, "the LFS object %s is missing", pointer->hex);
	return check->to < 0 ? error_set(err, "the repository has no LFS store")
			     : copy_content(check, from, pointer, err);
}

/* Prefixes the error with the path. */
static int at_path(struct import_check *check, struct error *err)
{
	AUTO_FREE char *what = mem_dup(err->text);

	return error_with(err, err->status, "'%.300s': %.400s", buffer_text(&check->path), what);
}

static int check_lfs(struct import_check *check, const unsigned char id[FSCK_ID], struct error *err)
{
	struct packread_object object;
	struct lfs_pointer pointer;
	int result = 0;

	if (is_in_user(check, id))
		return 0;
	if (read_object(check, id, FSCK_BLOB, &object, err) < 0)
		return -1;
	if (lfs_pointer_read(object.bytes, object.size, &pointer))
		result = bring_content(check, &pointer, err);
	else if (object.size)
		result = error_set(err, "a file in Git LFS was committed without its filter "
					"(git add --renormalize)");
	free(object.bytes);
	return result < 0 ? at_path(check, err) : 0;
}

/* A file was added or changed. */
static int check_file(struct import_check *check, uint32_t mode, const unsigned char id[FSCK_ID],
		      struct error *err)
{
	/* The user's own content is there if the agent merges or rebases. */
	if (hidden_paths_has(check->hidden, buffer_text(&check->path)) &&
	    (memcmp(id, empty_blob, FSCK_ID) == 0 || !is_in_user(check, id))) {
		error_set(err, "a file that the fence hides was changed");
		return at_path(check, err);
	}
	return S_ISREG(mode) && is_in_lfs(check) ? check_lfs(check, id, err) : 0;
}

static int check_deleted(struct import_check *check, struct error *err)
{
	if (!hidden_paths_has(check->hidden, buffer_text(&check->path)))
		return 0;
	error_set(err, "a file that the fence hides was deleted");
	return at_path(check, err);
}

/* ---- trees ---- */

/* An entry of a tree, and the entries after it. */
struct cursor {
	char *bytes; /* NULL if there is no tree */
	const char *at, *end;
	const char *name; /* NULL at the end */
	size_t length;
	uint32_t mode;
	const unsigned char *id;
};

static int advance(struct import_check *check, struct cursor *cursor, struct error *err)
{
	const char *space;
	const char *end;

	cursor->name = NULL;
	if (cursor->at == cursor->end)
		return 0;
	if (++check->entries > MOST_ENTRIES)
		return error_set(err, "more changes than can be checked");
	space = memchr(cursor->at, ' ', (size_t)(cursor->end - cursor->at));
	end = space ? memchr(space, '\0', (size_t)(cursor->end - space)) : NULL;
	if (!end || cursor->end - end <= FSCK_ID)
		return error_set(err, "a tree that cannot be read");
	cursor->mode = (uint32_t)strtoul(cursor->at, NULL, 8);
	cursor->name = space + 1;
	cursor->length = (size_t)(end - cursor->name);
	cursor->id = (const unsigned char *)end + 1;
	cursor->at = end + 1 + FSCK_ID;
	return 0;
}

/* Opens a tree; NULL stands for an empty one. The caller frees the bytes in both cases. */
static int open_tree(struct import_check *check, const unsigned char *id, struct cursor *ret_cursor,
		     struct error *err)
{
	struct packread_object object;

	*ret_cursor = (struct cursor){ 0 };
	if (!id)
		return 0;
	if (read_object(check, id, FSCK_TREE, &object, err) < 0)
		return -1;
	ret_cursor->bytes = object.bytes;
	ret_cursor->at = object.bytes;
	ret_cursor->end = object.bytes + object.size;
	return advance(check, ret_cursor, err);
}

/* Compares two entries in the order of trees, in which a folder's name ends with a slash. */
static int compare(const struct cursor *a, const struct cursor *b)
{
	size_t size = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->name, b->name, size);
	unsigned char left = a->length > size   ? (unsigned char)a->name[size]
			     : S_ISDIR(a->mode) ? '/'
						: '\0';
	unsigned char right = b->length > size   ? (unsigned char)b->name[size]
			      : S_ISDIR(b->mode) ? '/'
						 : '\0';

	return order ? order : (int)left - (int)right;
}

/* A tree beside those of the parents. */
struct trees {
	struct cursor own;
	struct cursor *parents;
	size_t count;
};

static int check_trees(struct import_check *check, const unsigned char *own,
		       const unsigned char *const *parents, size_t count, struct error *err);

/* Does the parent have the entry? Entries before it are skipped. */
static int find_in(struct import_check *check, struct cursor *parent, const struct cursor *entry,
		   bool *ret_has, struct error *err)
{
	int order = -1;

	while (parent->name && (order = compare(parent, entry)) < 0)
		if (advance(check, parent, err) < 0)
			return -1;
	*ret_has = parent->name && order == 0;
	return 0;
}

/* Checks one entry: of the tree itself, or one that only the parents have. */
static int check_entry(struct import_check *check, struct trees *trees, const struct cursor *entry,
		       bool deleted, struct error *err)
{
	AUTO_FREE const unsigned char **ids =
		mem_zero((trees->count + 1) * sizeof(const unsigned char *));
	bool everywhere = true;

	for (size_t i = 0; i < trees->count; i++) {
		const struct cursor *parent = &trees->parents[i];
		bool has;

		if (find_in(check, &trees->parents[i], entry, &has, err) < 0)
			return -1;
		everywhere = everywhere && has;
		ids[i] = has ? parent->id : NULL;
		if (has && !deleted && parent->mode == entry->mode &&
		    memcmp(parent->id, entry->id, FSCK_ID) == 0)
			return 0;
	}
	if (deleted && !everywhere) /* as in another parent of a merge */
		return 0;
	if (S_ISDIR(entry->mode))
		return deleted && !hidden_paths_is_near(check->hidden, buffer_text(&check->path))
			       ? 0
			       : check_trees(check, deleted ? NULL : entry->id, ids, trees->count,
					     err);
	return deleted ? check_deleted(check, err) : check_file(check, entry->mode, entry->id, err);
}

/* Checks an entry at its path. */
static int enter(struct import_check *check, struct trees *trees, const struct cursor *entry,
		 bool deleted, struct error *err)
{
	size_t used = check->path.used;
	int result;

	if (used)
		buffer_add_text(&check->path, "/");
	buffer_add(&check->path, entry->name, entry->length);
	result = buffer_overflowed(&check->path) ? error_set(err, "a path that is too long")
						 : check_entry(check, trees, entry, deleted, err);
	check->path.used = used;
	return result;
}

/* Goes through the entries of a tree, and through those that only the first parent has. */
static int check_entries(struct import_check *check, struct trees *trees, struct error *err)
{
	struct cursor *own = &trees->own;
	struct cursor *first = trees->parents; /* at its end if there is no parent */

	while (own->name || first->name) {
		int order = !own->name ? 1 : !first->name ? -1 : compare(own, first);
		struct cursor entry = order > 0 ? *first : *own;

		if (enter(check, trees, &entry, order > 0, err) < 0 ||
		    (order >= 0 && advance(check, first, err) < 0) ||
		    (order <= 0 && advance(check, own, err) < 0))
			return -1;
	}
	return 0;
}

/* Adds the attributes of a tree to those of the folders above. */
static int add_scope(struct import_check *check, struct cursor own, struct error *err)
{
	static const char name[] = ".gitattributes";
	const struct lfs_rules *root = check->scope_count && !check->scopes[0].base
					       ? check->scopes[0].rules
					       : NULL;

	while (own.name && (own.length != strlen(name) || memcmp(own.name, name, own.length) != 0 ||
			    !S_ISREG(own.mode)))
		if (advance(check, &own, err) < 0)
			return -1;
	if (!own.name)
		return 0;

	struct import_check_scope *scope = &check->scopes[check->scope_count];

	if (check->scope_count > FSCK_DEEPEST)
		return error_set(err, "a tree with more than %d levels of folders", FSCK_DEEPEST);
	scope->base = check->path.used;
	if (read_rules(check, own.id, root, &scope->rules, err) < 0)
		return -1;
	check->scope_count++;
	return 0;
}

/* Compares a tree with those of the parents. NULL is an empty tree. */
static int check_trees(struct import_check *check, const unsigned char *own,
		       const unsigned char *const *parents, size_t count, struct error *err)
{
	struct trees trees = { .count = count };
	size_t scopes = check->scope_count;
	int result = open_tree(check, own, &trees.own, err);

	trees.parents = mem_zero((count + 1) * sizeof *trees.parents);
	for (size_t i = 0; i < count && result == 0; i++)
		result = open_tree(check, parents[i], &trees.parents[i], err);
	if (result == 0)
		result = add_scope(check, trees.own, err);
	if (result == 0)
		result = check_entries(check, &trees, err);
	check->scope_count = scopes;
	free(trees.own.bytes);
	for (size_t i = 0; i < count; i++)
		free(trees.parents[i].bytes);
	free(trees.parents);
	return result;
}

/* ---- commits ---- */

enum { HEX = 2 * FSCK_ID };

/* The objects that a commit refers to. */
struct commit {
	git_oid tree;
	git_oid *parents;
	size_t count;
};

/* Reads a line such as "tree ID", and moves on to the next. */
static bool take_id(const char **text, const char *word, git_oid *ret_id)
{
	size_t size = strlen(word);

	if (strncmp(*text, word, size) != 0 || git_oid_fromstrn(ret_id, *text + size, HEX) < 0 ||
	    strlen(*text) <= size + HEX)
		return false;
	*text += size + HEX + 1;
	return true;
}

/* The caller frees the parents in both cases. */
static int read_commit(struct import_check *check, const git_oid *id, struct commit *ret_commit,
		       struct error *err)
{
	struct packread_object object;
	const char *text;
	git_oid parent;
	bool whole;

	*ret_commit = (struct commit){ 0 };
	if (read_object(check, id->id, FSCK_COMMIT, &object, err) < 0)
		return -1;
	text = object.bytes;
	whole = take_id(&text, "tree ", &ret_commit->tree);
	while (whole && take_id(&text, "parent ", &parent)) {
		ret_commit->parents = mem_extend(ret_commit->parents, ret_commit->count,
						 sizeof *ret_commit->parents);
		ret_commit->parents[ret_commit->count++] = parent;
	}
	free(object.bytes);
	return whole ? 0 : error_set(err, "a commit without a tree");
}

int import_check_tree(struct import_check *check, const git_oid *commit, git_oid *ret_tree,
		      struct error *err)
{
	struct commit found;
	int result = read_commit(check, commit, &found, err);

	if (result == 0)
		*ret_tree = found.tree;
	free(found.parents);
	return result;
}

/* Compares the tree of a commit with those of its parents. */
static int compare_trees(struct import_check *check, const struct commit *commit, struct error *err)
{
	AUTO_FREE git_oid *trees = mem_zero((commit->count + 1) * sizeof *trees);
	AUTO_FREE const unsigned char **ids =
		mem_zero((commit->count + 1) * sizeof(const unsigned char *));

	for (size_t i = 0; i < commit->count; i++) {
		if (import_check_tree(check, &commit->parents[i], &trees[i], err) < 0)
			return -1;
		ids[i] = trees[i].id;
	}
	check->path.used = 0;
	check->scope_count = 0;
	return check_trees(check, commit->tree.id, ids, commit->count, err);
}

/* Prefixes the error with the commit. */
static int in_commit(const git_oid *id, struct error *err)
{
	AUTO_FREE char *what = mem_dup(err->text);
	char hex[HEX + 1];

	return error_with(err, err->status, "commit %.*s: %.700s", SHORT_ID,
			  git_oid_tostr(hex, sizeof hex, id), what);
}

static bool is_done(const struct import_check *check, const git_oid *id)
{
	return is_in_user(check, id->id) || seen_type(&check->commits, id->id) != FSCK_ANY;
}

/* Commits that are still to be checked. */
struct queue {
	git_oid *items;
	size_t count;
};

static void queue_add(struct queue *queue, const git_oid *id)
{
	queue->items = mem_extend(queue->items, queue->count, sizeof *queue->items);
	queue->items[queue->count++] = *id;
}

static int check_commit(struct import_check *check, const git_oid *id, struct queue *queue,
			struct error *err)
{
	struct commit commit;
	int result = read_commit(check, id, &commit, err);

	if (result == 0)
		result = compare_trees(check, &commit, err);
	if (result == 0)
		seen_add(&check->commits, id->id, FSCK_COMMIT);
	for (size_t i = 0; i < commit.count && result == 0; i++)
		if (!is_done(check, &commit.parents[i]))
			queue_add(queue, &commit.parents[i]);
	free(commit.parents);
	return result < 0 ? in_commit(id, err) : 0;
}

/* Finds the commit that a tag leads to. *ret_found is not set for a tag of something else. */
static int follow_tags(struct import_check *check, git_oid *id, bool *ret_found, struct error *err)
{
	enum { MOST_TAGS = 100 };
	struct packread_object object;
	enum fsck_type type = FSCK_TAG;

	for (int i = 0; i < MOST_TAGS && type == FSCK_TAG; i++) {
		const char *text;

		if (read_object(check, id->id, FSCK_ANY, &object, err) < 0)
			return -1;
		type = object.type;
		text = object.bytes;
		if (type == FSCK_TAG && !take_id(&text, "object ", id))
			type = FSCK_ANY;
		free(object.bytes);
	}
	*ret_found = type == FSCK_COMMIT;
	return 0;
}

int import_check_tip(struct import_check *check, const unsigned char id[FSCK_ID], struct error *err)
{
	struct queue queue = { 0 };
	bool found;
	git_oid tip;
	int result;

	git_oid_fromraw(&tip, id);
	result = follow_tags(check, &tip, &found, err);
	if (result == 0 && found)
		queue_add(&queue, &tip);
	while (queue.count && result == 0) {
		git_oid next = queue.items[--queue.count];

		if (!is_done(check, &next))
			result = check_commit(check, &next, &queue, err);
	}
	free(queue.items);
	return result;
}

/* A walk through all files of a tree. */
struct each {
	struct import_check *check;
	import_check_fn *found;
	void *context;
	unsigned int depth;
};

static int each_of_tree(struct each *each, const unsigned char *id, struct error *err);

static int each_entry(struct each *each, const struct cursor *entry, struct error *err)
{
	struct buffer *path = &each->check->path;
	size_t used = path->used;
	int result;

	if (used)
		buffer_add_text(path, "/");
	buffer_add(path, entry->name, entry->length);
	if (buffer_overflowed(path) || each->depth > FSCK_DEEPEST)
		result = error_set(err, "a path that is too long");
	else if (S_ISDIR(entry->mode))
		result = each_of_tree(each, entry->id, err);
	else
		result = each->found(each->context, buffer_text(path), entry->mode, entry->id, err);
	path->used = used;
	return result;
}

static int each_of_tree(struct each *each, const unsigned char *id, struct error *err)
{
	struct cursor cursor;
	int result = open_tree(each->check, id, &cursor, err);

	each->depth++;
	while (result == 0 && cursor.name) {
		result = each_entry(each, &cursor, err);
		if (result == 0)
			result = advance(each->check, &cursor, err);
	}
	each->depth--;
	free(cursor.bytes);
	return result;
}

int import_check_each(struct import_check *check, const git_oid *tree, import_check_fn *found,
		      void *context, struct error *err)
{
	struct each each = { .check = check, .found = found, .context = context };

	check->path.used = 0;
	return each_of_tree(&each, tree->id, err);
}

void import_check_release(struct import_check *check)
{
	for (size_t i = 0; i < check->file_count; i++)
		lfs_rules_free(check->files[i].rules);
	free(check->files);
	free(check->temporary);
	lfs_rules_free(check->user_rules);
	seen_release(&check->commits);
	buffer_release(&check->path);
	fd_close(&check->from);
	fd_close(&check->to);
}
