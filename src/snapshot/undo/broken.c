/* Views in which the code does not work: see broken.h. */
#include "snapshot/undo/broken.h"

#include "mutant/breakage.h"
#include "mutant/mutant_find.h"
#include "snapshot/base/fault.h"
#include "snapshot/base/libgit.h"
#include "snapshot/undo/changes.h"
#include "snapshot/undo/differ.h"
#include "snapshot/undo/findings.h"
#include "snapshot/undo/hunks.h"
#include "snapshot/undo/view_layer.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* A check of a very large project notices this many as well. */
enum { MOST_BROKEN = 5000, MOST_EVIDENCE = 160 };

static int open_layer(const char *folder, struct node *modes, struct view_layer *ret_layer,
		      struct error *err)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*ret_layer = (struct view_layer){ fd, modes };
	return fd < 0 ? error_sys(err, "open '%s'", folder) : 0;
}

/* ---- all code ---- */

struct breaking {
	struct view_layer layer;
	const struct pins *pins;
	enum breakage wanted;
	size_t count;
	char *example;
	struct error *err;
};

static int break_one(void *context, struct node *node, const char *path)
{
	struct breaking *at = context;
	const char *text = breakage_text();

	if (node->kind != NODE_FILE || at->count >= MOST_BROKEN ||
	    breakage_of(path) != at->wanted || pins_of(at->pins, path) != PINS_NOT)
		return 0;
	fault_point();
	if (!at->count++)
		at->example = mem_dup(path);
	return view_layer_write(&at->layer, path, text, strlen(text), node->mode, at->err);
}

int broken_write_all(struct node *tree, const struct pins *pins, const char *folder,
		     struct json *json, struct error *err)
{
	struct breaking at = { .pins = pins, .wanted = BREAKAGE_CODE, .err = err };
	int result = open_layer(folder, tree, &at.layer, err);

	if (result == 0)
		result = node_each(tree, break_one, &at);
	at.wanted = BREAKAGE_SCRIPT;
	if (result == 0 && !at.count)
		result = node_each(tree, break_one, &at);
	json_number(json, "broken", at.count);
	if (at.example)
		json_text(json, "example", at.example);
	free(at.example);
	fd_close(&at.layer.folder);
	return result;
}

/* ---- one line ---- */

/* The two versions of a file. */
struct pair {
	git_blob *before, *after;
};

static void pair_release(struct pair *pair)
{
	git_blob_free(pair->before);
	git_blob_free(pair->after);
}

/* Large files are stored in pieces; they are not source code. */
static int read_pair(struct checkpoint_repo *repo, const struct changes_item *item,
		     struct pair *ret_pair, struct error *err)
{
	const struct node *old = item->old;

	*ret_pair = (struct pair){ 0 };
	if (old && old->kind == NODE_FILE && !old->chunked &&
	    differ_blob(repo, old, &ret_pair->before, err) < 0)
		return -1;
	return differ_blob(repo, item->new, &ret_pair->after, err);
}

static struct hunks_side side_of(git_blob *blob)
{
	return blob && git_blob_rawsize(blob)
		       ? (struct hunks_side){ git_blob_rawcontent(blob),
					      (size_t)git_blob_rawsize(blob) }
		       : (struct hunks_side){ "", 0 };
}

static struct mutant_text text_of(const char *path, git_blob *blob)
{
	struct hunks_side side = side_of(blob);

	return (struct mutant_text){ path, side.bytes, side.size };
}

static bool has_mutants(const struct changes_item *item, const struct pins *pins)
{
	return item->new && item->new->kind == NODE_FILE &&
	       !item->new->chunked &&breakage_of(item->path) ==
		       BREAKAGE_CODE &&pins_of(pins, item->path) == PINS_NOT;
}

static int find_in_pair(const char *path, const struct pair *pair, struct mutant_list *mutants,
			struct error *err)
{
	const struct hunks_side before = side_of(pair->before), after = side_of(pair->after);
	const struct mutant_text text = text_of(path, pair->after);
	AUTO_FREE struct hunks_lines *added = NULL;
	AUTO_FREE struct mutant_find_range *ranges = NULL;
	size_t count;

	if (hunks_added(&before, &after, &added, &count, err) < 0)
		return -1;
	ranges = mem_zero((count + 1) * sizeof *ranges);
	for (size_t i = 0; i < count; i++)
		ranges[i] = (struct mutant_find_range){ added[i].first, added[i].count };
	mutant_find_all(&text, ranges, count, mutants);
	return 0;
}

static int find_all(struct checkpoint_repo *repo, const struct changes *changes,
		    const struct pins *pins, struct mutant_list *mutants, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < changes->count && result == 0; i++) {
		struct pair pair = { 0 };

		if (!has_mutants(&changes->items[i], pins))
			continue;
		result = read_pair(repo, &changes->items[i], &pair, err);
		if (result == 0)
			result = find_in_pair(changes->items[i].path, &pair, mutants, err);
		pair_release(&pair);
	}
	return result;
}

/* Returns the line of a mutant, without blanks around it. The caller frees it. */
static char *line_of(const struct mutant *mutant, const struct mutant_text *text)
{
	const char *from = text->data + mutant->offset;
	const char *end = text->data + text->size;
	const char *stop = memchr(from, '\n', (size_t)(end - from));

	while (from > text->data && from[-1] != '\n')
		from--;
	stop = stop ? stop : end;
	while (from < stop && strchr(" \t", *from))
		from++;
	return mem_format("%.*s", (int)text_first(from, (size_t)(stop - from), MOST_EVIDENCE),
			  from);
}

static int describe(const struct mutant *mutant, const struct mutant_text *text,
		    const struct list *actions, struct json *json, struct error *err)
{
	AUTO_FREE char *evidence = line_of(mutant, text);

	json_open(json, "mutant", '{');
	json_text(json, "path", mutant->path);
	json_number(json, "line", mutant->line);
	json_text(json, "says", mutant->says);
	json_text(json, "before", mutant->before);
	json_text(json, "after", mutant->text);
	json_text(json, "evidence", evidence);
	if (findings_write_untested(actions, json, err) < 0)
		return -1;
	json_close(json);
	return 0;
}

static int write_mutant(struct checkpoint_repo *repo, struct node *now, const struct mutant *mutant,
			const struct list *actions, const char *folder, struct json *json,
			struct error *err)
{
	const struct node *node = node_at(now, mutant->path);
	struct view_layer layer;
	git_blob *blob = NULL;
	int result = open_layer(folder, now, &layer, err);

	if (result == 0)
		result = differ_blob(repo, node, &blob, err);
	if (result == 0) {
		const struct mutant_text text = text_of(mutant->path, blob);
		size_t size;
		AUTO_FREE char *changed = mutant_apply(mutant, &text, &size);

		result = describe(mutant, &text, actions, json, err) < 0
				 ? -1
				 : view_layer_write(&layer, mutant->path, changed, size, node->mode,
						    err);
	}
	git_blob_free(blob);
	fd_close(&layer.folder);
	return result;
}

int broken_write_mutant(struct checkpoint_repo *repo, struct node *base, struct node *now,
			const struct pins *pins, const struct broken_choice *choice,
			const char *folder, struct json *json, struct error *err)
{
	const struct list everything = { 0 };
	struct mutant_list mutants = { 0 };
	struct changes changes;
	int result;

	changes_find(base, now, &everything, &changes);
	result = find_all(repo, &changes, pins, &mutants, err);
	mutant_choose(&mutants, choice->most);
	json_number(json, "count", mutants.count);
	if (result == 0 && choice->index < mutants.count)
		result = write_mutant(repo, now, &mutants.items[choice->index], choice->actions,
				      folder, json, err);
	mutant_release(&mutants);
	changes_release(&changes);
	return result;
}
