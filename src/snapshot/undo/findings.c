/* Signs in differences: see findings.h. */
#include "snapshot/undo/findings.h"

#include "detect/detect.h"
#include "detect/detect_policy.h"
#include "snapshot/base/libgit.h"
#include "snapshot/undo/changes.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* All files that differ, with their contents. */
struct files {
	struct detect_change *items;
	struct blobs {
		git_blob *before, *after;
	} * blobs;
	size_t count;
};

static void files_release(struct files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		git_blob_free(files->blobs[i].before);
		git_blob_free(files->blobs[i].after);
	}
	free(files->blobs);
	free(files->items);
}

/* Large files are stored in pieces, and not examined. */
static int read_text(struct checkpoint_repo *repo, const struct node *node, git_blob **ret_blob,
		     struct detect_text *ret_text, struct error *err)
{
	if (!node || node->kind != NODE_FILE)
		return 0;
	*ret_text = (struct detect_text){ .data = "", .large = node->chunked };
	if (node->chunked)
		return 0;
	if (differ_blob(repo, node, ret_blob, err) < 0)
		return -1;
	if (git_blob_rawsize(*ret_blob) > 0)
		*ret_text = (struct detect_text){ .data = git_blob_rawcontent(*ret_blob),
						  .size = (size_t)git_blob_rawsize(*ret_blob) };
	return 0;
}

static int read_files(struct checkpoint_repo *repo, const struct changes *changes,
		      struct files *files, struct error *err)
{
	files->items = mem_zero((changes->count + 1) * sizeof *files->items);
	files->blobs = mem_zero((changes->count + 1) * sizeof *files->blobs);
	for (size_t i = 0; i < changes->count; i++) {
		const struct changes_item *item = &changes->items[i];
		struct detect_change *file = &files->items[files->count];
		struct blobs *blobs = &files->blobs[files->count++];

		file->path = item->path;
		file->old_path = item->from ? item->from : item->path;
		if (read_text(repo, item->old, &blobs->before, &file->before, err) < 0 ||
		    read_text(repo, item->new, &blobs->after, &file->after, err) < 0)
			return -1;
	}
	return 0;
}

static void write_one(struct json *json, const struct detect_finding *finding,
		      enum detect_action action, bool pinned)
{
	json_open(json, NULL, '{');
	json_text(json, "kind", detect_kind_name(finding->kind));
	json_text(json, "action", detect_action_name(action));
	json_text(json, "path", finding->path);
	json_number(json, "line", finding->line);
	json_text(json, "says", detect_kind_says(finding->kind));
	json_text(json, "evidence", finding->evidence);
	if (pinned)
		json_flag(json, "pinned", true);
	json_close(json);
}

/* Writes the findings that the policy wants, at most `most` of them, and how many there are. The
 * strictest action comes first: many notes must not hide a finding that stops the loop. */
static void write_all(struct json *json, const struct detect_findings *findings,
		      const struct detect_policy *policy, const struct list *pinned, size_t most)
{
	size_t count = 0;

	json_open(json, "findings", '[');
	for (enum detect_action action = DETECT_STOP; action > DETECT_OFF; action--)
		for (size_t i = 0; i < findings->count; i++) {
			const struct detect_finding *finding = &findings->items[i];

			if (policy->actions[finding->kind] == action && ++count <= most)
				write_one(json, finding, action, list_has(pinned, finding->path));
		}
	json_close(json);
	json_number(json, "count", count);
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

static void print_json(const struct detect_findings *findings, const struct detect_policy *policy,
		       FILE *out)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT((size_t)1 << 30);
	struct json json = JSON_INIT(&text);

	json_open(&json, NULL, '{');
	write_all(&json, findings, policy, &(struct list){ 0 }, SIZE_MAX);
	json_close(&json);
	fputs(buffer_text(&text), out);
}

static void print_all(const struct detect_findings *findings, const struct detect_policy *policy,
		      const struct differ_options *options, FILE *out)
{
	size_t off = 0;

	if (options->style == DIFFER_JSON) {
		print_json(findings, policy, out);
		return;
	}
	for (size_t i = 0; i < findings->count; i++)
		if (policy->actions[findings->items[i].kind] == DETECT_OFF)
			off++;
		else
			print_one(&findings->items[i], options->terminal, out);
	if (!findings->count)
		fputs("no sign that the changes weaken the checks\n", out);
	if (off)
		fprintf(out, "%zu finding%s not shown: %s kind is off (see: --findings)\n", off,
			off == 1 ? " is" : "s are", off == 1 ? "its" : "their");
}

/* ---- finding ---- */

static int find(struct checkpoint_repo *repo, struct node *old, struct node *new,
		const struct list *paths, struct detect_findings *ret_findings, struct error *err)
{
	struct changes changes;
	struct files files = { 0 };
	int result;

	changes_find(old, new, paths, &changes);
	result = read_files(repo, &changes, &files, err);
	if (result == 0)
		detect_run(files.items, files.count, ret_findings);
	files_release(&files);
	changes_release(&changes);
	return result;
}

static int read_policy(const struct list *actions, struct detect_policy *ret_policy,
		       struct error *err)
{
	detect_policy_init(ret_policy);
	for (size_t i = 0; i < actions->count; i++)
		if (!detect_policy_change(ret_policy, actions->items[i]))
			return error_set(err, "malformed action of a finding: '%s'",
					 actions->items[i]);
	return 0;
}

int findings_print(struct checkpoint_repo *repo, struct node *old, struct node *new,
		   const struct list *actions, const struct differ_options *options, FILE *out,
		   struct error *err)
{
	struct detect_findings findings;
	struct detect_policy policy;

	if (read_policy(actions, &policy, err) < 0 ||
	    find(repo, old, new, &options->paths, &findings, err) < 0)
		return -1;
	print_all(&findings, &policy, options, out);
	detect_findings_release(&findings);
	return 0;
}

int findings_write(struct checkpoint_repo *repo, struct node *old, struct node *new,
		   const struct list *actions, const struct list *pinned, struct json *json,
		   struct error *err)
{
	enum { MOST = 50 };
	struct detect_findings findings;
	struct detect_policy policy;

	if (read_policy(actions, &policy, err) < 0 ||
	    find(repo, old, new, &(struct list){ 0 }, &findings, err) < 0)
		return -1;
	write_all(json, &findings, &policy, pinned, MOST);
	detect_findings_release(&findings);
	return 0;
}

int findings_write_untested(const struct list *actions, struct json *json, struct error *err)
{
	struct detect_policy policy;

	if (read_policy(actions, &policy, err) < 0)
		return -1;
	json_text(json, "action", detect_action_name(policy.actions[DETECT_UNTESTED]));
	json_text(json, "untested", detect_kind_says(DETECT_UNTESTED));
	return 0;
}
