/* Signs in differences: see findings.h. */
#include "snapshot/undo/findings.h"

#include "detect/detect.h"
#include "snapshot/base/libgit.h"
#include "snapshot/undo/changes.h"
#include "util/mem.h"
#include "util/text/json.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

/* All files that differ, with their contents. */
struct files {
	struct detect_change *items;
	git_blob **blobs; /* two of each file */
	size_t count;
};

static void files_release(struct files *files)
{
	for (size_t i = 0; i < files->count * 2; i++)
		git_blob_free(files->blobs[i]);
	free(files->blobs);
	free(files->items);
}

/* Large files are stored in pieces; they are no source code. */
static int read_text(struct checkpoint_repo *repo, const struct node *node, git_blob **ret_blob,
		     struct detect_text *ret_text, struct error *err)
{
	if (!node || node->kind != NODE_FILE)
		return 0;
	*ret_text = (struct detect_text){ .data = "" };
	if (node->chunked)
		return 0;
	if (differ_blob(repo, node, ret_blob, err) < 0)
		return -1;
	if (git_blob_rawsize(*ret_blob) > 0)
		*ret_text = (struct detect_text){ git_blob_rawcontent(*ret_blob),
						  (size_t)git_blob_rawsize(*ret_blob) };
	return 0;
}

static int read_files(struct checkpoint_repo *repo, const struct changes *changes,
		      struct files *files, struct error *err)
{
	files->items = mem_zero((changes->count + 1) * sizeof *files->items);
	files->blobs = mem_zero((changes->count + 1) * 2 * sizeof *files->blobs);
	for (size_t i = 0; i < changes->count; i++) {
		const struct changes_item *item = &changes->items[i];
		struct detect_change *file = &files->items[files->count];
		git_blob **blobs = &files->blobs[files->count++ * 2];

		file->path = item->path;
		file->old_path = item->from ? item->from : item->path;
		if (read_text(repo, item->old, &blobs[0], &file->before, err) < 0 ||
		    read_text(repo, item->new, &blobs[1], &file->after, err) < 0)
			return -1;
	}
	return 0;
}

static void print_one(const struct detect_finding *finding, bool terminal, FILE *out)
{
	differ_show(out, finding->path, strlen(finding->path), terminal);
	if (finding->line)
		fprintf(out, ":%zu", finding->line);
	fprintf(out, ": %s (%s)\n    ", detect_kind_says(finding->kind),
		detect_kind_name(finding->kind));
	differ_show(out, finding->evidence, strlen(finding->evidence), terminal);
	fputc('\n', out);
}

static void print_json(const struct detect_findings *findings, FILE *out)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT((size_t)1 << 30);
	struct json json = JSON_INIT(&text);

	json_open(&json, NULL, '{');
	json_open(&json, "findings", '[');
	for (size_t i = 0; i < findings->count; i++) {
		const struct detect_finding *finding = &findings->items[i];

		json_open(&json, NULL, '{');
		json_text(&json, "kind", detect_kind_name(finding->kind));
		json_text(&json, "action", detect_action_name(detect_kind_action(finding->kind)));
		json_text(&json, "path", finding->path);
		json_number(&json, "line", finding->line);
		json_text(&json, "says", detect_kind_says(finding->kind));
		json_text(&json, "evidence", finding->evidence);
		json_close(&json);
	}
	json_close(&json);
	json_close(&json);
	fputs(buffer_text(&text), out);
}

static void print_all(const struct detect_findings *findings, const struct differ_options *options,
		      FILE *out)
{
	if (options->style == DIFFER_JSON) {
		print_json(findings, out);
		return;
	}
	for (size_t i = 0; i < findings->count; i++)
		print_one(&findings->items[i], options->terminal, out);
	if (!findings->count)
		fputs("no sign that the changes weaken the checks\n", out);
}

int findings_print(struct checkpoint_repo *repo, struct node *old, struct node *new,
		   const struct differ_options *options, FILE *out, struct error *err)
{
	struct changes changes;
	struct files files = { 0 };
	int result;

	changes_find(old, new, &options->paths, &changes);
	result = read_files(repo, &changes, &files, err);
	if (result == 0) {
		struct detect_findings findings;

		detect_run(files.items, files.count, &findings);
		print_all(&findings, options, out);
		detect_findings_release(&findings);
	}
	files_release(&files);
	changes_release(&changes);
	return result;
}
