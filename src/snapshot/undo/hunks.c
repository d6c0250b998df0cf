/* Parts of a changed text file: see hunks.h. */
#include "snapshot/undo/hunks.h"

#include "snapshot/base/libgit.h"
#include "util/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Compares raw bytes without a repository, so that no attributes apply. */
/* flags: of git_diff_options. */
static int compare(const struct hunks_side *old, const struct hunks_side *new, uint32_t flags,
		   git_patch **ret_patch, struct error *err)
{
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;

	options.flags = flags;
	if (git_patch_from_buffers(ret_patch, old->bytes, old->size, "a", new->bytes, new->size,
				   "b", &options) < 0)
		return libgit_error("compare two files", err);
	return 0;
}

static bool is_change(const git_diff_line *line)
{
	return line->origin == GIT_DIFF_LINE_ADDITION || line->origin == GIT_DIFF_LINE_DELETION;
}

/* ---- added lines ---- */

struct added {
	struct hunks_lines *items;
	size_t count;
};

static int add_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
		    const git_diff_line *line, void *context)
{
	struct added *added = context;
	struct hunks_lines *last = added->count ? &added->items[added->count - 1] : NULL;

	(void)delta;
	(void)hunk;
	if (line->origin != GIT_DIFF_LINE_ADDITION)
		return 0;
	if (last && last->first + last->count == (size_t)line->new_lineno) {
		last->count++;
		return 0;
	}
	added->items = mem_extend(added->items, added->count, sizeof *added->items);
	added->items[added->count++] = (struct hunks_lines){ (size_t)line->new_lineno, 1 };
	return 0;
}

int hunks_added(const struct hunks_side *old, const struct hunks_side *new,
		struct hunks_lines **ret_lines, size_t *ret_count, struct error *err)
{
	struct added added = { 0 };
	git_patch *patch = NULL;
	int result;

	/* Compilers accept code with a NUL byte. */
	if (compare(old, new, GIT_DIFF_FORCE_TEXT, &patch, err) < 0)
		return -1;
	result = git_patch_print(patch, add_line, &added);
	git_patch_free(patch);
	if (result < 0) {
		free(added.items);
		return libgit_error("compare two files", err);
	}
	*ret_lines = added.items;
	*ret_count = added.count;
	return 0;
}

/* ---- showing ---- */

/* A line is shown to its end, also after a NUL byte. */
static void write_text(struct json *json, const char *key, const char *before, const char *bytes,
		       size_t size)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	buffer_add_text(&text, before);
	buffer_add(&text, bytes, size && bytes[size - 1] == '\n' ? size - 1 : size);
	json_bytes(json, key, buffer_text(&text), text.used);
}

static void write_line(struct json *json, const git_diff_line *line)
{
	const char before[2] = { line->origin, '\0' };

	if (is_change(line) || line->origin == GIT_DIFF_LINE_CONTEXT)
		write_text(json, NULL, before, line->content, line->content_len);
	else
		json_text(json, NULL, "\\ No newline at end of file");
}

static int write_hunk(struct json *json, git_patch *patch, size_t index, struct error *err)
{
	const git_diff_hunk *hunk;
	const git_diff_line *line;
	size_t lines;
	int result = 0;

	if (git_patch_get_hunk(&hunk, &lines, patch, index) < 0)
		return libgit_error("read a hunk", err);
	json_open(json, NULL, '{');
	write_text(json, "header", "", hunk->header, hunk->header_len);
	json_open(json, "lines", '[');
	for (size_t i = 0; i < lines && result == 0; i++) {
		result = git_patch_get_line_in_hunk(&line, patch, index, i);
		if (result == 0)
			write_line(json, line);
	}
	json_close(json);
	json_close(json);
	return result < 0 ? libgit_error("read a hunk", err) : 0;
}

/* ---- choosing ---- */

struct picking {
	const char *old, *end; /* the rest of the old text */
	int line;              /* the number of its first line */
	const char *choice;    /* the rest of the choice; of the current run, if in one */
	bool in_run;
	struct buffer *out;
};

/* Copies the old text up to a line. */
static void copy_to(struct picking *at, int line)
{
	while (at->line < line && at->old < at->end) {
		const char *stop = memchr(at->old, '\n', (size_t)(at->end - at->old));
		size_t size = (size_t)((stop ? stop + 1 : at->end) - at->old);

		buffer_add(at->out, at->old, size);
		at->old += size;
		at->line++;
	}
}

static void end_run(struct picking *at)
{
	at->choice += at->in_run;
	at->in_run = false;
}

/* Returns 0, or -1 if the choice is too short. */
static int pick_line(struct picking *at, const git_diff_line *line)
{
	bool addition = line->origin == GIT_DIFF_LINE_ADDITION;
	bool taken;

	if (!is_change(line) && line->origin != GIT_DIFF_LINE_CONTEXT)
		return 0; /* about the end of the file */
	if (!is_change(line))
		end_run(at);
	else
		at->in_run = true;
	if (at->in_run && *at->choice != '0' && *at->choice != '1')
		return -1;
	taken = at->in_run && *at->choice == '1';
	if (addition == taken || !at->in_run)
		buffer_add(at->out, line->content, line->content_len);
	if (!addition) {
		at->old += line->content_len;
		at->line++;
	}
	return 0;
}

static int pick_hunk(struct picking *at, git_patch *patch, size_t index)
{
	const git_diff_hunk *hunk;
	const git_diff_line *line;
	size_t lines;
	int result = git_patch_get_hunk(&hunk, &lines, patch, index);

	if (result < 0)
		return -1;
	copy_to(at, hunk->old_lines ? hunk->old_start : hunk->old_start + 1);
	for (size_t i = 0; i < lines && result == 0; i++) {
		result = git_patch_get_line_in_hunk(&line, patch, index, i);
		if (result == 0)
			result = pick_line(at, line);
	}
	end_run(at);
	return result;
}

int hunks_pick(const struct hunks_side *old, const struct hunks_side *new, const char *choice,
	       struct buffer *out, struct error *err)
{
	const char *first = old->bytes ? old->bytes : "";
	struct picking at = {
		.old = first, .end = first + old->size, .line = 1, .choice = choice, .out = out
	};
	git_patch *patch = NULL;
	bool binary;
	int result = compare(old, new, GIT_DIFF_NORMAL, &patch, err);

	if (result < 0)
		return -1;
	binary = git_patch_get_delta(patch)->flags & GIT_DIFF_FLAG_BINARY;
	for (size_t i = 0; i < git_patch_num_hunks(patch) && result == 0; i++)
		result = pick_hunk(&at, patch, i);
	git_patch_free(patch);
	if (binary || result < 0 || *at.choice)
		return error_with(err, ERROR_INVALID,
				  "the choice of hunks does not match the file (try again)");
	buffer_add(out, at.old, (size_t)(at.end - at.old));
	return 0;
}

/* ---- files of checkpoints ---- */

/* Both sides of a change. */
struct sides {
	git_blob *blobs[2];
	struct hunks_side old, new;
};

static void sides_release(struct sides *sides)
{
	git_blob_free(sides->blobs[0]);
	git_blob_free(sides->blobs[1]);
}

static int load(struct checkpoint_repo *repo, const struct node *node, git_blob **ret_blob,
		struct hunks_side *ret_side, struct error *err)
{
	git_oid id;

	if (!node)
		return 0;
	git_oid_fromraw(&id, node->id);
	if (git_blob_lookup(ret_blob, repo->repository, &id) < 0)
		return libgit_error("read a file from a checkpoint", err);
	*ret_side = (struct hunks_side){ git_blob_rawcontent(*ret_blob),
					 (size_t)git_blob_rawsize(*ret_blob) };
	return 0;
}

/* The caller releases the sides in both cases. */
static int load_sides(struct checkpoint_repo *repo, const struct changes_item *change,
		      struct sides *sides, struct error *err)
{
	if (load(repo, change->old, &sides->blobs[0], &sides->old, err) < 0)
		return -1;
	return load(repo, change->new, &sides->blobs[1], &sides->new, err);
}

static bool is_small_file(const struct node *node)
{
	return node && node->kind == NODE_FILE && !node->chunked;
}

bool hunks_has(const struct changes_item *change)
{
	return is_small_file(change->old) && is_small_file(change->new) && !change->from &&
	       !change->binary;
}

static bool is_shown(const struct node *node)
{
	return !node || is_small_file(node) || node->kind == NODE_LINK;
}

bool hunks_shows(const struct changes_item *change)
{
	return is_shown(change->old) && is_shown(change->new) && !change->binary;
}

int hunks_write(struct checkpoint_repo *repo, const struct changes_item *change, struct json *json,
		struct error *err)
{
	__attribute__((cleanup(sides_release))) struct sides sides = { 0 };
	/* A renamed file is shown as a new one. */
	const struct changes_item shown = { .old = change->from ? NULL : change->old,
					    .new = change->new };
	git_patch *patch = NULL;
	int result = 0;

	if (load_sides(repo, &shown, &sides, err) < 0 ||
	    compare(&sides.old, &sides.new, GIT_DIFF_NORMAL, &patch, err) < 0)
		return -1;
	json_open(json, "hunks", '[');
	for (size_t i = 0; i < git_patch_num_hunks(patch) && result == 0; i++)
		result = write_hunk(json, patch, i, err);
	json_close(json);
	git_patch_free(patch);
	return result;
}

bool hunks_has_mode(const struct changes_item *change)
{
	return hunks_has(change) && change->old->mode != change->new->mode;
}

int hunks_pick_file(struct checkpoint_repo *repo, const struct changes_item *change,
		    const char *choice, struct pack *pack, struct node *node, struct error *err)
{
	__attribute__((cleanup(sides_release))) struct sides sides = { 0 };
	AUTO_BUFFER struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	if (*choice == HUNKS_OLD_MODE) {
		node->mode = change->old->mode;
		choice++;
	}
	if (load_sides(repo, change, &sides, err) < 0 ||
	    hunks_pick(&sides.old, &sides.new, choice, &text, err) < 0 ||
	    pack_add(pack, GIT_OBJECT_BLOB, buffer_text(&text), text.used, node->id, err) < 0)
		return -1;
	node->size = text.used;
	node->group = 0; /* the file is replaced */
	return 0;
}
