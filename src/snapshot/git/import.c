/* Imports an agent's commits. */
#include "snapshot/git/import.h"

#include "snapshot/base/libgit.h"
#include "snapshot/git/import_check.h"
#include "snapshot/git/publish.h"
#include "snapshot/git/unfinished.h"
#include "snapshot/object/fsck.h"
#include "snapshot/object/object_source.h"
#include "snapshot/object/seen.h"
#include "snapshot/object/vet.h"
#include "snapshot/store/pack.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
	MOST_OBJECTS = 2000000,
	MOST_TIPS = 1000,
	MOST_REFUSED = 8,
	BASE_BYTES = 128 << 20,
	PATH_BYTES = 1 << 20
};

static const uint64_t most_object = UINT64_C(256) << 20;

/* A ref to be imported. */
struct tip {
	char *name; /* in the user's repository */
	char *from; /* in the private directory, for messages */
	char hex[REFS_HEX + 1];
	enum fsck_type type; /* required type, or FSCK_ANY */
	bool refused;
};

struct wanted {
	git_oid id;
	enum fsck_type type;
	bool end; /* of a tree: everything below is done */
};

struct import {
	const struct import_options *options;
	const struct borrow *borrow;
	struct object_source source;
	git_odb *user;
	struct checkpoint_repo repo; /* the user's repository, for the pack */
	struct pack *pack;
	struct publish publish;
	struct tip *tips;
	size_t tip_count;
	const struct refs *base;
	struct vet vet; /* the user's objects from before the loop; filled on demand */
	struct import_check check;
	struct hidden_paths hidden;
	bool attributes; /* a tree has a .gitattributes */
	git_oid head;    /* zero if HEAD has no commit */
	size_t unnamed;  /* refs skipped because of their names or number */
	struct list refused;

	/* Of one walk. */
	struct seen seen;
	struct wanted *stack;
	size_t depth;
	unsigned int below[FSCK_DEEPEST]; /* for each open tree: the height below it so far */
	unsigned int open;
	uint64_t bytes;
};

static void push(struct import *import, const git_oid *id, enum fsck_type type)
{
	if ((import->depth & (import->depth - 1)) == 0)
		import->stack = mem_resize(import->stack, import->depth ? 2 * import->depth : 64,
					   sizeof *import->stack);
	import->stack[import->depth++] = (struct wanted){ *id, type, false };
}

static int open_tree(struct import *import, const git_oid *id, struct error *err)
{
	if (import->open == FSCK_DEEPEST)
		return error_set(err, "a tree with more than %d levels of folders", FSCK_DEEPEST);
	push(import, id, FSCK_TREE);
	import->stack[import->depth - 1].end = true;
	import->below[import->open++] = 0;
	return 0;
}

/* Accounts for a known tree below the current one. */
static int add_height(struct import *import, unsigned int height, struct error *err)
{
	unsigned int *below = import->open ? &import->below[import->open - 1] : NULL;

	if (import->open + height > FSCK_DEEPEST)
		return error_set(err, "a tree with more than %d levels of folders", FSCK_DEEPEST);
	if (below && *below < height)
		*below = height;
	return 0;
}

static int close_tree(struct import *import, const git_oid *id, struct error *err)
{
	unsigned int height = import->below[--import->open] + 1;

	seen_set_height(&import->seen, id->id, height);
	return add_height(import, height, err);
}

static int missing(const git_oid *id, struct error *err)
{
	char hex[GIT_OID_HEXSZ + 1];

	return error_set(err, "the object %s is missing", git_oid_tostr(hex, sizeof hex, id));
}

static int wrong_type(const git_oid *id, struct error *err)
{
	char hex[GIT_OID_HEXSZ + 1];

	return error_set(err, "the object %s does not have the expected type",
			 git_oid_tostr(hex, sizeof hex, id));
}

/* Prefixes the error with the object's id. Returns -1. */
static int in_object(const git_oid *id, struct error *err)
{
	char hex[GIT_OID_HEXSZ + 1];
	AUTO_FREE char *what = mem_dup(err->text);

	return error_with(err, err->status, "%s: %.500s", git_oid_tostr(hex, sizeof hex, id), what);
}

/*
 * Looks an object up in the user's repository. *ret_type is FSCK_ANY if it is not there. Returns 0,
 * or -1 with err set.
 */
static int find_in_user(struct import *import, const git_oid *id, enum fsck_type *ret_type,
			struct error *err)
{
	git_object_t found;
	size_t size;

	*ret_type = FSCK_ANY;
	if (!git_odb_exists_ext(import->user, id, GIT_ODB_LOOKUP_NO_REFRESH))
		return 0;
	if (git_odb_read_header(&size, &found, import->user, id) < 0)
		return missing(id, err);
	*ret_type = (enum fsck_type)found;
	return 0;
}

/* ---- objects ---- */

/*
 * A special file from before the loop is accepted. One that was imported since under another name
 * is not.
 */
static void learn_base(struct import *import)
{
	if (import->vet.objects)
		return;
	import->vet.objects = import->user;
	for (size_t i = 0; i < import->base->count; i++) {
		git_oid id;

		if (git_oid_fromstr(&id, import->base->items[i].hex) == 0)
			vet_accept(&import->vet, &id);
	}
}

/* Checks a file that git itself reads. */
static int check_special(struct import *import, const struct fsck_link *link, struct error *err)
{
	const struct vet plain = { .objects = import->user };
	struct packread_object object;
	enum fsck_type type;
	git_oid id;
	int result;

	memcpy(id.id, link->id, sizeof id.id);
	if (find_in_user(import, &id, &type, err) < 0)
		return -1;
	if (type != FSCK_ANY) {
		if (vet_special(&plain, link, err) == 0)
			return 0;
		learn_base(import);
		return vet_special(&import->vet, link, err);
	}
	result = object_source_read(&import->source, id.id, &object, err);
	if (result <= 0)
		return result < 0 ? -1 : missing(&id, err);
	result = fsck_special(link, object.bytes, object.size, err);
	free(object.bytes);
	return result;
}

static int found_link(void *context, const struct fsck_link *link, struct error *err)
{
	struct import *import = context;
	git_oid id;

	memcpy(id.id, link->id, sizeof id.id);
	import->attributes = import->attributes || link->attributes;
	if ((link->modules || link->attributes) && link->type == FSCK_BLOB &&
	    check_special(import, link, err) < 0)
		return -1;
	push(import, &id, link->type);
	return 0;
}

static int add_object(struct import *import, const git_oid *id,
		      const struct packread_object *object, struct error *err)
{
	unsigned char made[NODE_ID];

	import->bytes += object->size;
	if (import->bytes > import->options->most_bytes)
		return error_set(err, "it is larger than %llu MiB (see --git-size)",
				 (unsigned long long)(import->options->most_bytes >> 20));
	if (pack_count(import->pack) >= MOST_OBJECTS)
		return error_set(err, "it has more than %d objects", MOST_OBJECTS);
	if (pack_add(import->pack, (git_object_t)object->type, object->bytes, object->size, made,
		     err) < 0)
		return -1;
	if (memcmp(made, id->id, sizeof made) != 0) {
		error_set(err, "an object that does not match its id");
		return in_object(id, err);
	}
	return 0;
}

/* Reads an object from the private directory, checks it and adds it to the pack. */
static int import_object(struct import *import, const struct wanted *wanted,
			 enum fsck_type *ret_type, struct error *err)
{
	const git_oid *id = &wanted->id;
	struct packread_object object;
	int result = object_source_read(&import->source, id->id, &object, err);

	/* A git gc may have moved it since the lookup. */
	if (result == 0 && git_odb_refresh(import->user) == 0 &&
	    find_in_user(import, id, ret_type, err) == 0 && *ret_type != FSCK_ANY)
		return wanted->type != FSCK_ANY && wanted->type != *ret_type ? wrong_type(id, err)
									     : 0;
	if (result <= 0)
		return result < 0 ? in_object(id, err) : missing(id, err);
	*ret_type = object.type;
	if (wanted->type != FSCK_ANY && wanted->type != *ret_type)
		result = wrong_type(id, err);
	else if (*ret_type == FSCK_TREE && open_tree(import, id, err) < 0)
		result = in_object(id, err);
	else if (fsck_object(*ret_type, object.bytes, object.size, found_link, import, err) < 0)
		result = in_object(id, err);
	else
		result = add_object(import, id, &object, err);
	free(object.bytes);
	return result;
}

/*
 * Reports whether an object of the user's repository is there with everything it refers to. Objects
 * from before the loop are. One that was imported from the private directory may have lost some of
 * its objects to a prune, if no ref held them.
 */
static bool is_complete(const struct import *import, const git_oid *id, enum fsck_type type)
{
	char hex[GIT_OID_HEXSZ + 1];

	return type == FSCK_BLOB || !object_source_has(&import->source, id->id) ||
	       (type == FSCK_COMMIT &&
		publish_holds(&import->publish, git_oid_tostr(hex, sizeof hex, id)));
}

static int visit_object(struct import *import, const struct wanted *wanted, struct error *err)
{
	enum fsck_type type = seen_type(&import->seen, wanted->id.id);
	bool known = type != FSCK_ANY;

	if (!known && find_in_user(import, &wanted->id, &type, err) < 0)
		return -1;
	if (!known && type != FSCK_ANY && !is_complete(import, &wanted->id, type))
		type = FSCK_ANY;
	if (type == FSCK_ANY)
		return import_object(import, wanted, &type, err) < 0
			       ? -1
			       : (seen_add(&import->seen, wanted->id.id, type), 0);
	if (wanted->type != FSCK_ANY && wanted->type != type)
		return wrong_type(&wanted->id, err);
	if (!known)
		seen_add(&import->seen, wanted->id.id, type);
	return add_height(import, seen_height(&import->seen, wanted->id.id), err);
}

/* Imports everything that a tip needs. */
static int import_tip(struct import *import, const struct tip *tip, struct error *err)
{
	git_oid id;

	if (git_oid_fromstr(&id, tip->hex) < 0)
		return error_set(err, "'%s' is not an object id", tip->hex);
	import->depth = 0;
	import->open = 0;
	push(import, &id, tip->type);
	while (import->depth > 0) {
		struct wanted wanted = import->stack[--import->depth];

		if ((wanted.end ? close_tree(import, &wanted.id, err)
				: visit_object(import, &wanted, err)) < 0)
			return -1;
	}
	return import->attributes || import->hidden.paths.count || import->check.user_rules
		       ? import_check_tip(&import->check, id.id, err)
		       : 0;
}

/* git must not mistake it for one of its temporary files: git gc --prune=now would remove it. */
static char *temporary_name(const char *loop)
{
	return mem_format("ringfence-%s", loop);
}

void import_clean(int common, const char *loop)
{
	static const char *const ends[] = { "pack", "idx" };
	AUTO_FREE char *prefix = temporary_name(loop);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		AUTO_FREE char *path = mem_format("objects/pack/%s-%s", prefix, ends[i]);

		unlinkat(common, path, 0);
	}

	AUTO_FREE char *content = mem_format("lfs/tmp/%s", prefix);

	unlinkat(common, content, 0);
}

/*
 * Imports all tips into one pack. If one is refused, the others start again: objects that it
 * brought along may be incomplete.
 */
static int import_tips(struct import *import, struct error *err)
{
	AUTO_FREE char *prefix = temporary_name(import->options->loop);
	int refused = 0;
	bool again = true;

	while (again) {
		again = false;
		pack_free(import->pack);
		import->pack = pack_new(&import->repo, false, prefix);
		seen_release(&import->seen);
		import->bytes = 0;
		for (size_t i = 0; i < import->tip_count && !again; i++) {
			struct tip *tip = &import->tips[i];

			if (tip->refused || import_tip(import, tip, err) == 0)
				continue;
			tip->refused = again = true;
			list_printf(&import->refused, "%s: %s", tip->from, err->text);
			if (++refused == MOST_REFUSED)
				return error_set(err, "%s (and %d others)",
						 import->refused.items[0], refused - 1);
		}
	}
	return 0;
}

/* ---- tips ---- */

static void add_tip(struct import *import, const char *name, const char *from, const char *hex,
		    enum fsck_type type)
{
	struct tip *tip;

	import->tips = mem_resize(import->tips, import->tip_count + 1, sizeof *import->tips);
	tip = &import->tips[import->tip_count++];
	*tip = (struct tip){ .name = mem_dup(name), .from = mem_dup(from), .type = type };
	memcpy(tip->hex, hex, REFS_HEX);
}

/*
 * Names that differ only in case clash on some file systems; in git, a ref cannot be below another.
 */
static bool clashes(const struct import *import, const char *name)
{
	for (size_t i = 0; i < import->tip_count; i++) {
		const char *other = import->tips[i].name;
		size_t size = strlen(other) < strlen(name) ? strlen(other) : strlen(name);

		if (strncasecmp(other, name, size) == 0 && (!other[size] || other[size] == '/') &&
		    (!name[size] || name[size] == '/'))
			return true;
	}
	return false;
}

/* Adds a ref that the agent created or moved, if it can be imported. */
static void consider_ref(struct import *import, const struct refs *base,
			 const struct refs_entry *ref, const char *current)
{
	const struct refs_entry *before = refs_find(base, ref->name);
	AUTO_FREE char *name = mem_format("%s%s", import->publish.below, ref->name + 5);
	AUTO_FREE char *obstacle = NULL;

	if (ref->target || strncmp(ref->name, "refs/remotes/", 13) == 0 ||
	    (before && strcmp(before->hex, ref->hex) == 0) ||
	    (current && strcmp(ref->name, current) == 0))
		return;
	if (import->tip_count >= MOST_TIPS || !refs_name_is_sane(name) || clashes(import, name)) {
		import->unnamed++;
		return;
	}
	obstacle = publish_obstacle(&import->publish, name);
	if (obstacle) {
		list_printf(&import->refused, "%s: %s", name, obstacle);
		return;
	}
	add_tip(import, name, ref->name, ref->hex,
		strncmp(ref->name, "refs/tags/", 10) == 0 ? FSCK_ANY : FSCK_COMMIT);
}

/*
 * HEAD is first, because it is what users look for. If the branch cannot be written, HEAD goes
 * beside the other refs.
 */
static void add_head(struct import *import, const char *hex)
{
	AUTO_FREE char *obstacle = publish_obstacle(&import->publish, import->publish.branch);
	AUTO_FREE char *beside = mem_format("%sHEAD", import->publish.below);

	if (!obstacle) {
		add_tip(import, import->publish.branch, "HEAD", hex, FSCK_COMMIT);
		return;
	}
	list_printf(&import->refused,
		    "the branch %s was not updated (%s): the agent's commits are in %sHEAD",
		    import->publish.branch + strlen("refs/heads/"), obstacle,
		    import->publish.below);
	add_tip(import, beside, "HEAD", hex, FSCK_COMMIT);
}

static int collect_tips(struct import *import, int git, const struct refs *base, struct error *err)
{
	struct refs refs = { 0 };
	struct refs_entry head = { 0 };
	const char *hex = NULL;
	int result = refs_read(git, &refs, err);

	if (result == 0 && refs_head(git, &head))
		hex = refs_resolve(&refs, &head);
	if (hex && git_oid_fromstr(&import->head, hex) == 0)
		add_head(import, hex);
	for (size_t i = 0; result == 0 && i < refs.count; i++)
		consider_ref(import, base, &refs.items[i], hex ? head.target : NULL);
	import->unnamed += refs.odd;
	free(head.target);
	refs_release(&refs);
	return result;
}

/* ---- the whole import ---- */

/*
 * Without new objects nothing was committed, and no ref is created; unless an earlier import was
 * killed after it wrote the objects.
 */
static bool has_changes(const struct import *import)
{
	return pack_count(import->pack) > 0 || import->publish.imported.count > 0 ||
	       import->publish.pending.count > 0;
}

static int write_all(struct import *import, struct json *json, struct error *err)
{
	struct refs wanted = { 0 };
	const struct tip *head = NULL;
	int result = 0;

	for (size_t i = 0; i < import->tip_count && result == 0; i++) {
		const struct tip *tip = &import->tips[i];
		const struct refs_entry *there = refs_find(&import->publish.imported, tip->name);

		if (tip->refused)
			continue;
		if (strcmp(tip->from, "HEAD") == 0)
			head = tip;
		if (!there || strcmp(there->hex, tip->hex) != 0)
			result = refs_set(&wanted, tip->name, tip->hex, err);
	}
	if (result == 0 && (wanted.count > 0 || import->publish.pending.count > 0))
		result = pack_seal(import->pack, err) < 0 ||
					 publish_begin(&import->publish, &wanted,
						       pack_name(import->pack), err) < 0 ||
					 pack_finish(import->pack, err) < 0 ||
					 publish_end(&import->publish, &wanted, err) < 0
				 ? -1
				 : 0;
	if (result == 0) {
		json_number(json, "objects", wanted.count ? pack_count(import->pack) : 0);
		json_number(json, "bytes", wanted.count ? import->bytes : 0);
		json_number(json, "refs", wanted.count);
	}
	if (result == 0 && head) {
		json_text(json, "ref", head->name);
		json_text(json, "commit", head->hex);
	}
	refs_release(&wanted);
	return result;
}

static void write_refused(struct import *import, struct json *json)
{
	if (import->unnamed)
		list_printf(
			&import->refused,
			"%zu branches and tags were not imported: invalid or clashing names, or more than %d refs",
			import->unnamed, MOST_TIPS);
	json_open(json, "refused", '[');
	for (size_t i = 0; i < import->refused.count; i++) {
		AUTO_FREE char *shown = text_escaped(import->refused.items[i]);

		json_text(json, NULL, shown);
	}
	json_close(json);
}

/* Reports work of the agent's that is not in a commit. */
static void write_trouble(struct import *import, int git, struct json *json)
{
	struct list words = { 0 };

	unfinished_find(&import->check, git, import->publish.own,
			git_oid_is_zero(&import->head) ? NULL : &import->head, &words);
	json_open(json, "trouble", '[');
	for (size_t i = 0; i < words.count; i++) {
		AUTO_FREE char *shown = text_escaped(words.items[i]);

		json_text(json, NULL, shown);
	}
	json_close(json);
	list_release(&words);
}

static int read_base(const char *folder, struct refs *base, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(BASE_BYTES);
	AUTO_FREE char *path = path_join(folder, "git-own/base");

	if (fd_read_path(path, &text) < 0)
		return error_sys(err, "read the initial refs of the private git directory");
	if (refs_parse(buffer_text(&text), text.used, true, base, err) < 0)
		return -1;
	refs_sort(base);
	return 0;
}

static int open_folder(int above, const char *name)
{
	return openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Reads the attributes that the user keeps in the repository itself. */
static struct lfs_rules *read_user_rules(const char *common)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(FSCK_ATTRIBUTES_BYTES);
	AUTO_FREE char *path = path_join(common, "info/attributes");

	return fd_read_path(path, &text) < 0 || !text.used
		       ? NULL
		       : lfs_rules_read(text.data, text.used, NULL);
}

static int prepare_check(struct import *import, int git, struct error *err)
{
	struct import_check *check = &import->check;
	AUTO_FD lfs = open_folder(git, "lfs");
	struct list hidden = { 0 };
	int result = hidden_paths_read(import->publish.own, &hidden, err);

	hidden_paths_set(&hidden, &import->hidden);
	list_release(&hidden);
	check->source = &import->source;
	check->user = import->user;
	check->hidden = &import->hidden;
	check->path = BUFFER_INIT(PATH_BYTES);
	check->left = import->options->most_bytes;
	check->temporary = temporary_name(import->options->loop);
	check->from = lfs < 0 ? -1 : open_folder(lfs, "objects");
	check->to = open(import->borrow->lfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check->user_rules = read_user_rules(import->borrow->common);
	return result;
}

static int perform(struct import *import, const struct refs *base, int git, struct json *json,
		   struct error *err)
{
	AUTO_FREE char *objects = path_join(import->borrow->common, "objects");

	if (object_source_open(git, most_object, &import->source, err) < 0 ||
	    publish_open(import->borrow, import->options->folder, import->options->loop, base,
			 &import->publish, err) < 0)
		return -1;
	import_clean(import->publish.common, import->options->loop);
	if (git_odb_open(&import->user, objects) < 0)
		return libgit_error("open the repository", err);
	import->repo = (struct checkpoint_repo){
		.path = import->borrow->common, .folder = -1, .lock = -1, .odb = import->user
	};
	if (prepare_check(import, git, err) < 0 || collect_tips(import, git, base, err) < 0)
		return -1;
	write_trouble(import, git, json);
	if (import->source.empty && import->publish.imported.count == 0)
		return 0;
	if (import_tips(import, err) < 0 ||
	    (has_changes(import) && write_all(import, json, err) < 0))
		return -1;
	write_refused(import, json);
	return 0;
}

int import_run(const struct borrow *borrow, const struct import_options *options, struct json *json,
	       struct error *err)
{
	AUTO_FREE char *path = path_join(options->folder, "git");
	AUTO_FD git = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct refs base = { 0 };
	struct import import = { .options = options,
				 .borrow = borrow,
				 .base = &base,
				 .source = { .objects = -1 },
				 .check = { .from = -1, .to = -1 },
				 .publish = { .common = -1, .own = -1 } };
	int result = -1;

	if (git < 0)
		error_sys(err, "open '%s'", path);
	else if (read_base(options->folder, &base, err) == 0)
		result = perform(&import, &base, git, json, err);
	refs_release(&base);
	pack_free(import.pack);
	publish_close(&import.publish);
	object_source_close(&import.source);
	git_odb_free(import.user);
	for (size_t i = 0; i < import.tip_count; i++) {
		free(import.tips[i].name);
		free(import.tips[i].from);
	}
	free(import.tips);
	seen_release(&import.seen);
	vet_release(&import.vet);
	import_check_release(&import.check);
	hidden_paths_release(&import.hidden);
	free(import.stack);
	list_release(&import.refused);
	return result;
}
