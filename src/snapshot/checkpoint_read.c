/* Operations that read checkpoints, or compare them with each other and with the project. */
#include "snapshot/checkpoint.h"
#include "snapshot/store/tree_reader.h"
#include "snapshot/undo/broken.h"
#include "snapshot/undo/findings.h"
#include "snapshot/undo/pinned.h"
#include "snapshot/undo/restore_stage.h"
#include "util/file/fd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A checkpoint, or the project as it is. */
struct side {
	struct tree_reader reader;
	struct node root;
};

/* Scans the project, or the draft, and reads the tree that the scan wrote. */
static int load_present(struct snapshot_request *request, struct side *side, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct look_options options = request->look;
	struct look look = { 0 };
	int result;

	options.sparse = true;
	result = checkpoint_begin(request, err) < 0 || look_scan(repo, &options, &look, err) < 0 ||
				 look_finish(repo, &look, err) < 0 ||
				 tree_reader_start(&side->reader, repo, &look.tree, &side->root,
						   err) < 0
			 ? -1
			 : 0;
	look_release(&look);
	fd_close(&repo->lock); /* the reader of the output may be slow */
	return result;
}

/* number: NULL for the project as it is. The caller releases the root in all cases. */
static int load_side(struct snapshot_request *request, const char *number, struct side *side,
		     struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct checkpoint_repo_item checkpoint;

	if (!number)
		return load_present(request, side, err);
	return checkpoint_repo_read(repo, request->look.loop, strtoll(number, NULL, 10),
				    &checkpoint, err) < 0
		       ? -1
		       : tree_reader_start(&side->reader, repo, &checkpoint.tree, &side->root, err);
}

static enum differ_style style_of(const char *word)
{
	word = word ? word : "";
	return strcmp(word, "stat") == 0    ? DIFFER_STAT
	       : strcmp(word, "names") == 0 ? DIFFER_NAMES
	       : strcmp(word, "json") == 0  ? DIFFER_JSON
					    : DIFFER_PATCH;
}

/* Compares two sides with one of the functions below. */
static int compare(struct snapshot_request *request,
		   int (*with)(struct snapshot_request *request, struct side *old, struct side *new,
			       struct error *err),
		   struct error *err)
{
	struct side old = { 0 }, new = { 0 };
	int result = load_side(request, request->to, &new, err) < 0 ||
				     load_side(request, request->from ? request->from : "0", &old,
					       err) < 0 ||
				     tree_reader_open_differing(&old.reader, &old.root, &new.reader,
								&new.root, err) < 0
			     ? -1
			     : with(request, &old, &new, err);

	node_release(&old.root);
	node_release(&new.root);
	return result;
}

static int print_diff(struct snapshot_request *request, struct side *old, struct side *new,
		      struct error *err)
{
	request->differ.style = style_of(request->style);
	if (request->findings)
		return findings_print(&request->repo, &old->root, &new->root, &request->actions,
				      &request->differ, stdout, err);
	return differ_print(&request->repo, &old->root, &new->root, &request->differ, stdout, err);
}

int checkpoint_diff(struct snapshot_request *request, struct error *err)
{
	return compare(request, print_diff, err);
}

static void add_checks(struct snapshot_request *request)
{
	for (size_t i = 0; i < request->checks.count; i++)
		pins_add_check(&request->pins, request->look.project, request->checks.items[i]);
}

static struct pinned_request pinned_request_of(struct snapshot_request *request, struct side *old,
					       struct side *new)
{
	add_checks(request);
	return (struct pinned_request){ .reader = &old->reader,
					.base = &old->root,
					.now = &new->root,
					.pins = &request->pins,
					.project = request->look.project,
					.draft = request->look.draft };
}

/* Writes the pinned files that differ, and adds their paths. */
static int write_pinned(struct snapshot_request *request, struct side *old, struct side *new,
			struct list *paths, struct error *err)
{
	const struct pinned_request pinned = pinned_request_of(request, old, new);

	return pinned_write(&pinned, request->pinned, &request->json, paths, err);
}

/* The same, for changes since a later checkpoint: files are pinned as the base has them. */
static int write_pinned_of_base(struct snapshot_request *request, struct side *old,
				struct side *new, struct list *paths, struct error *err)
{
	struct side base = { 0 };
	int result;

	if (!request->from || strcmp(request->from, "0") == 0)
		return write_pinned(request, old, new, paths, err);
	result = load_side(request, "0", &base, err) < 0 ||
				 tree_reader_open_differing(&base.reader, &base.root, &new->reader,
							    &new->root, err) < 0
			 ? -1
			 : write_pinned(request, &base, new, paths, err);
	node_release(&base.root);
	return result;
}

static int list_pinned(struct snapshot_request *request, struct side *old, struct side *new,
		       struct error *err)
{
	struct list paths = { 0 };
	int result = write_pinned_of_base(request, old, new, &paths, err);

	list_release(&paths);
	return result;
}

int checkpoint_pinned(struct snapshot_request *request, struct error *err)
{
	return compare(request, list_pinned, err);
}

static int write_findings(struct snapshot_request *request, struct side *old, struct side *new,
			  struct error *err)
{
	struct list paths = { 0 };
	int result = request->pinned ? write_pinned_of_base(request, old, new, &paths, err) : 0;

	if (result == 0)
		result = findings_write(&request->repo, &old->root, &new->root, &request->actions,
					&paths, &request->json, err);
	json_number(&request->json, "read_folders", old->reader.trees + new->reader.trees);
	list_release(&paths);
	return result;
}

int checkpoint_examine(struct snapshot_request *request, struct error *err)
{
	return compare(request, write_findings, err);
}

static int settle_views(struct snapshot_request *request, struct side *old, struct side *new,
			struct error *err)
{
	const struct pinned_request pinned = pinned_request_of(request, old, new);
	int result = pinned_settle(&pinned, request->pinned, err);

	json_number(&request->json, "read_folders", old->reader.trees + new->reader.trees);
	return result;
}

int checkpoint_settle(struct snapshot_request *request, struct error *err)
{
	return compare(request, settle_views, err);
}

int checkpoint_break(struct snapshot_request *request, struct error *err)
{
	struct side base = { 0 };
	int result = load_side(request, "0", &base, err) < 0 ||
				     tree_reader_open_all(&base.reader, &base.root, err) < 0
			     ? -1
			     : 0;

	add_checks(request);
	if (result == 0)
		result = broken_write_all(&base.root, &request->pins, request->pinned,
					  &request->json, err);
	node_release(&base.root);
	return result;
}

/* The checks see the pinned files of the base, as with the work itself. */
static int write_mutant(struct snapshot_request *request, struct side *old, struct side *new,
			struct error *err)
{
	const struct broken_choice choice = { (size_t)request->most, (size_t)request->index,
					      &request->actions };

	return list_pinned(request, old, new, err) < 0
		       ? -1
		       : broken_write_mutant(&request->repo, &old->root, &new->root, &request->pins,
					     &choice, request->pinned, &request->json, err);
}

int checkpoint_mutate(struct snapshot_request *request, struct error *err)
{
	return compare(request, write_mutant, err);
}

static int print_part(void *context, const void *bytes, size_t size, uint64_t offset,
		      struct error *err)
{
	const struct snapshot_request *request = context;

	(void)offset;
	(void)err;
	differ_show(stdout, bytes, size, request->differ.terminal);
	return 0;
}

static void print_entries(const struct node *folder, bool terminal)
{
	for (size_t i = 0; i < folder->count; i++) {
		const struct node *node = &folder->inner[i];

		differ_show(stdout, node->name, strlen(node->name), terminal);
		puts(node->kind == NODE_FOLDER ? "/" : "");
	}
}

/* Zero blocks of large files are not stored; they are printed here. */
struct filling {
	const struct snapshot_request *request;
	uint64_t at;
};

static int fill_to(struct filling *filling, uint64_t offset)
{
	static const char zeros[1 << 16];

	while (filling->at < offset) {
		size_t part = offset - filling->at < sizeof zeros ? (size_t)(offset - filling->at)
								  : sizeof zeros;

		if (fwrite(zeros, 1, part, stdout) != part)
			return -1;
		filling->at += part;
	}
	return 0;
}

static int print_piece(void *context, const void *bytes, size_t size, uint64_t offset,
		       struct error *err)
{
	struct filling *filling = context;

	if (fill_to(filling, offset) < 0)
		return differ_output_failed(err);
	filling->at += size;
	return print_part((void *)filling->request, bytes, size, offset, err);
}

/*
 * Finds the requested path in its checkpoint; a folder is open. Returns 0, or -1 with err set; the
 * caller releases the root in both cases.
 */
static int find_path(struct snapshot_request *request, struct node *root, struct node **ret_node,
		     struct error *err)
{
	struct side side = { 0 };
	struct node *node;

	if (load_side(request, request->from, &side, err) < 0)
		return -1;
	*root = side.root;
	if (tree_reader_at(&side.reader, root, request->path, &node, err) < 0)
		return -1;
	if (!node || node->kind == NODE_SKIPPED)
		return error_set(err, "checkpoint %s does not contain '%s'%s%s", request->from,
				 request->path, node ? ": " : "",
				 node ? node_why_text(node->why) : "");
	*ret_node = node;
	return tree_reader_open(&side.reader, node, err);
}

int checkpoint_contains(struct snapshot_request *request, struct error *err)
{
	struct node root = { 0 };
	struct node *node;
	int result = find_path(request, &root, &node, err);

	node_release(&root);
	return result;
}

int checkpoint_show(struct snapshot_request *request, struct error *err)
{
	struct checkpoint_repo *repo = &request->repo;
	struct node root = { 0 };
	struct filling filling = { .request = request };
	struct node *node = NULL;
	int result = find_path(request, &root, &node, err);

	if (result == 0 && node->kind == NODE_FOLDER)
		print_entries(node, request->differ.terminal);
	else if (result == 0 && node->kind != NODE_FIFO)
		result = restore_stage_read(repo, node, print_piece, &filling, err);
	if (result == 0 && node->chunked && fill_to(&filling, node->size) < 0)
		result = differ_output_failed(err);
	node_release(&root);
	return result;
}
