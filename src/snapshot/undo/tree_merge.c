/* Merges trees: see tree_merge.h. */
#include "snapshot/undo/tree_merge.h"

#include "snapshot/base/libgit.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

struct merging {
	struct tree_merge *merge;
	struct checkpoint_repo *repo;
	struct pack *pack;
	struct buffer path;
	struct error *err;
};

/* The versions of an entry. Each may be NULL. */
struct versions {
	const struct node *base, *draft, *present;
};

static int merge_entry(struct merging *at, struct node *out, const struct versions *of);

/* ---- comparing ---- */

/* An ignored or skipped entry counts as missing. */
static const struct node *compared(const struct node *node)
{
	return node && node->kind != NODE_IGNORED && node->kind != NODE_SKIPPED ? node : NULL;
}

static bool is_folder(const struct node *node)
{
	return node && node->kind == NODE_FOLDER;
}

static bool is_same_entry(const struct node *a, const struct node *b)
{
	return node_same_content(a, b) && (a->kind == NODE_LINK || a->mode == b->mode);
}

/* Returns whether two entries are equal with everything below them. */
static bool is_same(const struct node *a, const struct node *b)
{
	size_t i = 0, j = 0;

	if (!a || !b)
		return a == b;
	if (!is_same_entry(a, b))
		return false;
	while (i < a->count || j < b->count) {
		const struct node *left = i < a->count ? &a->inner[i] : NULL;
		const struct node *right = j < b->count ? &b->inner[j] : NULL;
		int order = !left ? 1 : !right ? -1 : strcmp(left->name, right->name);

		i += order <= 0;
		j += order >= 0;
		if (!is_same(order <= 0 ? compared(left) : NULL,
			     order >= 0 ? compared(right) : NULL))
			return false;
	}
	return true;
}

/* ---- results ---- */

static void take(struct node *out, const struct node *from)
{
	struct node *taken = node_add(out);

	node_copy(from, taken);
	taken->name = from->name;
}

/* Names a conflict, and leaves the entry as it is. */
static void conflict(struct merging *at, struct node *out, const struct node *present,
		     const char *before, const char *after)
{
	list_printf(&at->merge->conflicts, "%s %s%s", before, buffer_text(&at->path), after);
	list_add(&at->merge->conflicting, buffer_text(&at->path));
	if (present)
		take(out, present);
}

/* ---- files that both sides changed ---- */

static int load(struct merging *at, const struct node *node, git_blob **ret_blob)
{
	git_oid id;

	memcpy(id.id, node->id, NODE_ID);
	if (git_blob_lookup(ret_blob, at->repo->repository, &id) < 0)
		return libgit_error("read a checkpoint", at->err);
	return 0;
}

/* Merges text by lines. *ret_done is false if that is impossible; the text then has marks, if they
 * are wanted. A version without a blob is empty. */
static int join_blobs(struct merging *at, git_blob *const blobs[3], struct node *joined,
		      bool *ret_done)
{
	git_merge_file_options options = GIT_MERGE_FILE_OPTIONS_INIT;
	git_merge_file_input inputs[3];
	git_merge_file_result result = { 0 };
	int outcome = 0;

	for (size_t i = 0; i < 3; i++) {
		inputs[i] = (git_merge_file_input)GIT_MERGE_FILE_INPUT_INIT;
		inputs[i].ptr = blobs[i] ? git_blob_rawcontent(blobs[i]) : "";
		inputs[i].size = blobs[i] ? (size_t)git_blob_rawsize(blobs[i]) : 0;
		if (blobs[i] && git_blob_is_binary(blobs[i]))
			return 0;
	}
	options.our_label = at->merge->ours;
	options.their_label = at->merge->theirs;
	if (git_merge_file(&result, &inputs[0], &inputs[1], &inputs[2], &options) < 0)
		return libgit_error("merge a file", at->err);
	*ret_done = result.automergeable;
	if (*ret_done || at->merge->ours) {
		outcome = pack_add(at->pack, GIT_OBJECT_BLOB, result.ptr, result.len, joined->id,
				   at->err);
		joined->size = result.len;
	}
	git_merge_file_result_free(&result);
	return outcome;
}

static int join_contents(struct merging *at, const struct versions *of, struct node *joined,
			 bool *ret_done)
{
	const struct node *const nodes[3] = { of->base, of->present, of->draft };
	git_blob *blobs[3] = { 0 };
	int result = 0;

	for (size_t i = 0; i < 3 && result == 0; i++)
		result = nodes[i] ? load(at, nodes[i], &blobs[i]) : 0;
	if (result == 0)
		result = join_blobs(at, blobs, joined, ret_done);
	for (size_t i = 0; i < 3; i++)
		git_blob_free(blobs[i]);
	return result;
}

static bool is_plain_file(const struct node *node)
{
	return node && node->kind == NODE_FILE && !node->chunked;
}

/* Returns whether both sides changed the mode, to different ones. */
static bool modes_conflict(const struct versions *of)
{
	return of->draft->mode != of->base->mode && of->present->mode != of->base->mode &&
	       of->draft->mode != of->present->mode;
}

static mode_t merged_mode(const struct versions *of)
{
	return of->base && of->draft->mode == of->base->mode ? of->present->mode : of->draft->mode;
}

/* Merges a file that both sides changed. */
static int join(struct merging *at, struct node *out, const struct versions *of)
{
	struct node joined = *of->present;
	bool done = false;

	if (modes_conflict(of)) {
		conflict(at, out, of->present, "both changed the mode of", "");
		return 0;
	}
	joined.mode = merged_mode(of);
	joined.group = 0; /* the file is replaced */
	if (node_same_content(of->base, of->draft))
		done = true;
	else if (node_same_content(of->base, of->present)) {
		memcpy(joined.id, of->draft->id, NODE_ID);
		joined.size = of->draft->size;
		done = true;
	} else if (join_contents(at, of, &joined, &done) < 0) {
		return -1;
	} else if (done) {
		list_add(&at->merge->joined, buffer_text(&at->path));
	}
	if (done)
		take(out, &joined);
	else
		conflict(at, out, at->merge->ours ? &joined : of->present, "both changed", "");
	return 0;
}

/* Marks the difference between two files with the same name. */
static int join_added(struct merging *at, struct node *out, const struct versions *of)
{
	struct node joined = *of->present;
	bool done = false;

	joined.group = 0;
	if (join_contents(at, of, &joined, &done) < 0)
		return -1;
	conflict(at, out, &joined, "both added", "");
	return 0;
}

/* Names a conflict that is not about lines. */
static void conflict_of(struct merging *at, struct node *out, const struct versions *of)
{
	const char *ours = at->merge->ours ? at->merge->ours : "you";
	const char *theirs = at->merge->theirs ? at->merge->theirs : "the draft";
	AUTO_FREE char *deleted = mem_format("%s deleted", of->present ? theirs : ours);
	AUTO_FREE char *changed = mem_format(", which %s changed", of->present ? ours : theirs);
	bool gone = of->base && (!of->present || !of->draft);

	conflict(at, out, of->present,
		 !of->base ? "both added"
		 : gone    ? deleted
			   : "both changed",
		 gone ? changed : "");
}

/* ---- entries ---- */

/* Returns whether the draft made another hard link to a file that nobody changed. */
static bool is_linked(const struct versions *of)
{
	return of->base && of->draft && of->draft->group && !of->base->group &&
	       is_same(of->base, of->draft) && is_same(of->draft, of->present);
}

static int settle(struct merging *at, struct node *out, const struct versions *of)
{
	if (is_linked(of)) {
		take(out, of->draft);
	} else if (is_same(of->base, of->draft) || is_same(of->draft, of->present)) {
		if (of->present)
			take(out, of->present);
	} else if (is_same(of->base, of->present)) {
		if (of->draft)
			take(out, of->draft);
	} else if (is_plain_file(of->base) && is_plain_file(of->draft) &&
		   is_plain_file(of->present)) {
		return join(at, out, of);
	} else if (at->merge->ours && !of->base && is_plain_file(of->draft) &&
		   is_plain_file(of->present)) {
		return join_added(at, out, of);
	} else {
		conflict_of(at, out, of);
	}
	return 0;
}

/* Returns the next entry of a sorted folder if it has this name, and steps over it. */
static const struct node *next_named(const struct node *folder, size_t *at, const char *name)
{
	if (!folder || *at >= folder->count || strcmp(folder->inner[*at].name, name) != 0)
		return NULL;
	return &folder->inner[(*at)++];
}

static const char *earlier(const char *name, const struct node *folder, size_t at)
{
	if (!folder || at >= folder->count)
		return name;
	return !name || strcmp(folder->inner[at].name, name) < 0 ? folder->inner[at].name : name;
}

/* Merges the entries of folders; each of them may be NULL. */
static int merge_entries(struct merging *at, struct node *out, const struct versions *of)
{
	size_t b = 0, d = 0, p = 0, used = at->path.used;
	const char *name;

	while ((name = earlier(earlier(earlier(NULL, of->base, b), of->draft, d), of->present,
			       p))) {
		const struct node *base = next_named(of->base, &b, name);
		const struct node *draft = next_named(of->draft, &d, name);
		const struct node *present = next_named(of->present, &p, name);
		const struct versions entry = { compared(base), compared(draft),
						compared(present) };

		node_path_add(&at->path, name);
		if (present && !entry.present) /* ignored or skipped: left alone */
			take(out, present);
		else if (merge_entry(at, out, &entry) < 0)
			return -1;
		node_path_cut(&at->path, used);
	}
	return 0;
}

static int merge_folder(struct merging *at, struct node *out, const struct versions *of,
			bool wanted)
{
	const struct versions inner = { is_folder(of->base) ? of->base : NULL,
					is_folder(of->draft) ? of->draft : NULL,
					is_folder(of->present) ? of->present : NULL };
	const struct node *model = of->present ? of->present : of->draft;
	struct node *folder = node_add(out);

	*folder = (struct node){ .name = model->name, .kind = NODE_FOLDER, .mode = model->mode };
	if (wanted && inner.base && inner.draft && inner.present && modes_conflict(of))
		conflict(at, out, NULL, "both changed the mode of", "");
	else if (wanted && of->present && of->draft)
		folder->mode = merged_mode(of);
	/* node_add() may move the entries of `out`, but nobody adds to it meanwhile. */
	if (merge_entries(at, folder, &inner) < 0)
		return -1;
	if (!wanted && !of->present && !folder->count)
		out->count--;
	return 0;
}

/* Returns whether an entry, or something below it, is to be merged. */
static bool is_wanted(const struct merging *at, bool *ret_below)
{
	const struct list *paths = at->merge->paths;
	bool wanted = paths->count == 0;

	*ret_below = wanted;
	for (size_t i = 0; i < paths->count; i++) {
		wanted = wanted ||
			 path_within(buffer_text((struct buffer *)&at->path), paths->items[i]);
		*ret_below = *ret_below ||
			     path_within(paths->items[i], buffer_text((struct buffer *)&at->path));
	}
	return wanted;
}

static int merge_entry(struct merging *at, struct node *out, const struct versions *of)
{
	bool below;
	bool wanted = is_wanted(at, &below);

	if (!wanted && !below) {
		if (of->present)
			take(out, of->present);
		return 0;
	}
	if (is_folder(of->draft) && (is_folder(of->present) || (!of->present && !of->base)))
		return merge_folder(at, out, of, wanted);
	if (!wanted && is_folder(of->present))
		return merge_folder(at, out, of, wanted);
	if (!wanted && is_folder(of->draft) && is_same(of->base, of->present)) {
		const struct versions added = { .draft = of->draft };

		return merge_folder(at, out, &added, wanted);
	}
	return settle(at, out, of);
}

/* ---- the whole ---- */

int tree_merge(struct tree_merge *merge, struct checkpoint_repo *repo, struct pack *pack,
	       struct error *err)
{
	struct merging at = { .merge = merge,
			      .repo = repo,
			      .pack = pack,
			      .path = BUFFER_INIT(NODE_PATH_MAX),
			      .err = err };
	const struct versions roots = { merge->base, merge->draft, merge->present };
	int result;

	if (checkpoint_repo_git(repo, err) < 0)
		return -1;
	node_part_groups(merge->draft, merge->present);
	merge->result = (struct node){ .name = "", .kind = NODE_FOLDER };
	merge->result.mode = merge->paths->count ? merge->present->mode : merged_mode(&roots);
	result = merge_entries(&at, &merge->result, &roots);
	node_tidy_groups(&merge->result);
	buffer_release(&at.path);
	return result;
}

void tree_merge_release(struct tree_merge *merge)
{
	node_release(&merge->result);
	list_release(&merge->conflicts);
	list_release(&merge->conflicting);
	list_release(&merge->joined);
}
