/* Prints differences between trees. */
#include "snapshot/undo/differ.h"

#include "snapshot/base/libgit.h"
#include "snapshot/store/tree_reader.h"
#include "snapshot/undo/changes.h"
#include "util/mem.h"
#include "util/text/json.h"
#include "util/text/text.h"

#include <errno.h>
#include <string.h>

struct differ {
	struct checkpoint_repo *repo;
	const struct differ_options *options;
	FILE *out;
	struct changes changes;
	struct error *err;
};

/* ---- text ---- */

/* Control characters and bidirectional formatting characters. */
static bool is_harmful(uint32_t point)
{
	return (point < 0x20 && point != '\t' && point != '\n') ||
	       (point >= 0x7f && point < 0xa0) || point == 0x200e || point == 0x200f ||
	       (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

void differ_show(FILE *out, const char *bytes, size_t size, bool terminal)
{
	if (!terminal) {
		fwrite(bytes, 1, size, out);
		return;
	}
	while (size > 0) {
		uint32_t point = 0;
		size_t length = text_utf8(bytes, size, &point);

		if (length && !is_harmful(point)) {
			fwrite(bytes, 1, length, out);
		} else {
			length = length ? length : 1;
			for (size_t i = 0; i < length; i++)
				fprintf(out, "\\x%02x", (unsigned char)bytes[i]);
		}
		bytes += length;
		size -= length;
	}
}

int differ_output_failed(struct error *err)
{
	return error_with(err, ERROR_OUTPUT, "write to stdout: %s", strerror(errno));
}

/* Quotes a name as git does: with special bytes as octal escapes in quotation marks. */
static void print_name(FILE *out, const char *side, const char *name)
{
	bool plain = true;

	for (const char *at = name; *at && plain; at++)
		plain = *at >= ' ' && *at < 0x7f && *at != '"' && *at != '\\';
	if (plain) {
		fprintf(out, "%s%s", side, name);
		return;
	}
	fprintf(out, "\"%s", side);
	for (const unsigned char *at = (const unsigned char *)name; *at; at++) {
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < ' ' || *at >= 0x7f)
			fprintf(out, "\\%03o", *at);
		else
			fputc(*at, out);
	}
	fputc('"', out);
}

static void paint(const struct differ *differ, const char *color)
{
	if (differ->options->color)
		fputs(color, differ->out);
}

#define BOLD  "\033[1m"
#define RED   "\033[31m"
#define GREEN "\033[32m"
#define CYAN  "\033[36m"
#define PLAIN "\033[m"

/* ---- contents ---- */

static int print_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
		      const git_diff_line *line, void *context)
{
	const struct differ *differ = context;
	char origin = line->origin;
	bool terminal = differ->options->terminal;

	(void)delta;
	(void)hunk;
	switch (origin) {
	case GIT_DIFF_LINE_HUNK_HDR:
		paint(differ, CYAN);
		break;
	case GIT_DIFF_LINE_ADDITION:
		paint(differ, GREEN);
		fputc(origin, differ->out);
		break;
	case GIT_DIFF_LINE_DELETION:
		paint(differ, RED);
		fputc(origin, differ->out);
		break;
	case GIT_DIFF_LINE_CONTEXT:
		fputc(origin, differ->out);
		break;
	case GIT_DIFF_LINE_CONTEXT_EOFNL:
	case GIT_DIFF_LINE_ADD_EOFNL:
	case GIT_DIFF_LINE_DEL_EOFNL:
		break;
	default:
		return 0;
	}

	size_t size = line->content_len;
	bool ended = size && line->content[size - 1] == '\n';

	differ_show(differ->out, line->content, size - ended, terminal);
	paint(differ, PLAIN);
	if (ended)
		fputc('\n', differ->out);
	return 0;
}

/* The patch of one file and its two versions. */
struct patch {
	git_blob *old, *new;
	git_patch *lines; /* NULL: nothing to show */
};

static void patch_release(struct patch *patch)
{
	git_patch_free(patch->lines);
	git_blob_free(patch->old);
	git_blob_free(patch->new);
}

int differ_blob(struct checkpoint_repo *repo, const struct node *node, git_blob **ret_blob,
		struct error *err)
{
	git_oid id;

	git_oid_fromraw(&id, node->id);
	if (git_blob_lookup(ret_blob, repo->repository, &id) < 0)
		return libgit_error("read a file from a checkpoint", err);
	return 0;
}

static int blob_of(struct differ *differ, const struct node *node, git_blob **ret_blob)
{
	if (!node || (node->kind != NODE_FILE && node->kind != NODE_LINK))
		return 0;
	return differ_blob(differ->repo, node, ret_blob, differ->err);
}

static const void *bytes_of(const git_blob *blob)
{
	return blob ? git_blob_rawcontent(blob) : NULL;
}

static size_t size_of(const git_blob *blob)
{
	return blob ? (size_t)git_blob_rawsize(blob) : 0;
}

/*
 * Compares raw bytes without a repository, so that no attributes apply. The caller releases the
 * patch in both cases.
 */
static int make_patch(struct differ *differ, struct changes_item *change, struct patch *patch)
{
	if (change->old && change->new &&node_same_content(change->old, change->new))
		return 0;
	change->binary = (change->old && change->old->chunked) ||
			 (change->new && change->new->chunked);
	if (change->binary)
		return 0;
	if (blob_of(differ, change->old, &patch->old) < 0 ||
	    blob_of(differ, change->new, &patch->new) < 0)
		return -1;
	if (git_patch_from_buffers(&patch->lines, bytes_of(patch->old), size_of(patch->old), "a",
				   bytes_of(patch->new), size_of(patch->new), "b", NULL) < 0)
		return libgit_error("compare two files", differ->err);
	change->binary = git_patch_get_delta(patch->lines)->flags & GIT_DIFF_FLAG_BINARY;
	git_patch_line_stats(NULL, &change->added, &change->removed, patch->lines);
	return 0;
}

static unsigned int git_mode(const struct node *node)
{
	if (node->kind == NODE_LINK)
		return 0120000;
	return node->mode & 0100 ? 0100755 : 0100644;
}

static bool is_file(const struct node *node)
{
	return node && (node->kind == NODE_FILE || node->kind == NODE_LINK);
}

static void print_sides(struct differ *differ, const char *one, const char *old, const char *other,
			const char *new)
{
	fputs(one, differ->out);
	if (old)
		print_name(differ->out, "a/", old);
	else
		fputs("/dev/null", differ->out);
	fputs(other, differ->out);
	if (new)
		print_name(differ->out, "b/", new);
	else
		fputs("/dev/null", differ->out);
}

/* Prints changes that a patch cannot express: folders, pipes, and modes that git does not store. */
static void print_remark(struct differ *differ, const struct changes_item *change)
{
	static const char *const kinds[] = {
		[NODE_FILE] = "file", [NODE_FOLDER] = "folder", [NODE_LINK] = "link",
		[NODE_FIFO] = "pipe", [NODE_SKIPPED] = "",      [NODE_IGNORED] = "",
	};
	const struct node *node = change->new ? change->new : change->old;

	paint(differ, BOLD);
	fprintf(differ->out, "ringfence: ");
	if (change->old && change->new)
		fprintf(differ->out, "mode %03o -> %03o", change->old->mode, change->new->mode);
	else
		fprintf(differ->out, "%s %s", change->new ? "new" : "removed", kinds[node->kind]);
	fprintf(differ->out, ": ");
	print_name(differ->out, "", change->path);
	paint(differ, PLAIN);
	fputc('\n', differ->out);
}

static void print_head(struct differ *differ, const struct changes_item *change, const char *from)
{
	const struct node *old = change->old;
	const struct node *new = change->new;

	paint(differ, BOLD);
	print_sides(differ, "diff --git ", from, " ", change->path);
	fputc('\n', differ->out);
	if (!old)
		fprintf(differ->out, "new file mode %o\n", git_mode(new));
	else if (!new)
		fprintf(differ->out, "deleted file mode %o\n", git_mode(old));
	else if (git_mode(old) != git_mode(new))
		fprintf(differ->out, "old mode %o\nnew mode %o\n", git_mode(old), git_mode(new));
	if (change->from) {
		if (node_same_content(old, new))
			fprintf(differ->out, "similarity index 100%%\n");
		fprintf(differ->out, "rename from ");
		print_name(differ->out, "", change->from);
		fprintf(differ->out, "\nrename to ");
		print_name(differ->out, "", change->path);
		fputc('\n', differ->out);
	}
	paint(differ, PLAIN);
}

static int print_patch(struct differ *differ, struct changes_item *change)
{
	const char *from = change->from ? change->from : change->path;
	__attribute__((cleanup(patch_release))) struct patch patch = { 0 };

	/* For git, a change of type is a removal and an addition. */
	if (is_file(change->old) && change->new && change->old->kind != change->new->kind) {
		struct changes_item gone = { .old = change->old, .path = change->path };
		struct changes_item came = { .new = change->new, .path = change->path };

		return print_patch(differ, &gone) < 0 ? -1 : print_patch(differ, &came);
	}
	if ((change->old && change->new && change->old->kind == change->new->kind &&
	     change->old->mode != change->new->mode &&
	     !(is_file(change->new) && git_mode(change->old) != git_mode(change->new))) ||
	    !(is_file(change->old) || is_file(change->new)))
		print_remark(differ, change);
	if (!is_file(change->old) && !is_file(change->new))
		return 0;
	if (make_patch(differ, change, &patch) < 0)
		return -1;
	if (change->from || !change->old || !change->new || patch.lines || change->binary ||
	    git_mode(change->old) != git_mode(change->new))
		print_head(differ, change, from);
	if (change->binary) {
		print_sides(differ, "Binary files ", change->old ? from : NULL, " and ",
			    change->new ? change->path : NULL);
		fprintf(differ->out, " differ\n");
	} else if (patch.lines && git_patch_num_hunks(patch.lines) > 0) {
		paint(differ, BOLD);
		print_sides(differ, "--- ", change->old ? from : NULL, "\n+++ ",
			    change->new ? change->path : NULL);
		fputc('\n', differ->out);
		paint(differ, PLAIN);
		git_patch_print(patch.lines, print_line, differ);
	}
	return 0;
}

/* ---- summaries ---- */

static const char *status_of(const struct changes_item *change)
{
	if (!change->old)
		return "added";
	if (!change->new)
		return "deleted";
	if (change->from)
		return "renamed";
	return node_same_content(change->old, change->new) ? "mode" : "modified";
}

static int count_bytes(struct differ *differ, struct changes_item *change)
{
	int64_t size = is_file(change->new) ? tree_reader_size(differ->repo, change->new) : 0;

	if (size < 0)
		return libgit_error("read a file from a checkpoint", differ->err);
	change->bytes = (uint64_t)size;
	return 0;
}

static int count_lines(struct differ *differ, struct changes_item *change)
{
	__attribute__((cleanup(patch_release))) struct patch patch = { 0 };

	if (!is_file(change->old) && !is_file(change->new))
		return 0;
	return make_patch(differ, change, &patch);
}

int differ_count(struct checkpoint_repo *repo, struct changes_item *change, struct error *err)
{
	struct differ differ = { .repo = repo, .err = err };

	return count_lines(&differ, change) < 0 ? -1 : count_bytes(&differ, change);
}

int differ_measure(struct checkpoint_repo *repo, struct changes_item *change, struct error *err)
{
	struct differ differ = { .repo = repo, .err = err };

	return count_bytes(&differ, change);
}

static void print_bar(const struct differ *differ, const struct changes_item *change)
{
	enum { WIDTH = 40 };
	size_t total = change->added + change->removed;
	size_t plus = total > WIDTH ? change->added * WIDTH / total : change->added;
	size_t minus = total > WIDTH ? change->removed * WIDTH / total : change->removed;

	paint(differ, GREEN);
	for (size_t i = 0; i < plus; i++)
		fputc('+', differ->out);
	paint(differ, RED);
	for (size_t i = 0; i < minus; i++)
		fputc('-', differ->out);
	paint(differ, PLAIN);
}

static int print_stat(struct differ *differ)
{
	size_t added = 0, removed = 0;

	for (size_t i = 0; i < differ->changes.count; i++) {
		struct changes_item *change = &differ->changes.items[i];

		if (count_lines(differ, change) < 0)
			return -1;
		added += change->added;
		removed += change->removed;
		fputc(' ', differ->out);
		if (change->from) {
			print_name(differ->out, "", change->from);
			fputs(" => ", differ->out);
		}
		print_name(differ->out, "", change->path);
		fputs(" | ", differ->out);
		if (change->binary)
			fputs("binary", differ->out);
		else if (change->added + change->removed == 0)
			fputs(status_of(change), differ->out);
		else
			fprintf(differ->out, "%zu ", change->added + change->removed);
		print_bar(differ, change);
		fputc('\n', differ->out);
	}
	fprintf(differ->out, " %zu changed, %zu insertions(+), %zu deletions(-)\n",
		differ->changes.count, added, removed);
	return 0;
}

static int print_json(struct differ *differ)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT((size_t)1 << 30);
	struct json json = JSON_INIT(&text);

	json_open(&json, NULL, '{');
	json_open(&json, "changes", '[');
	for (size_t i = 0; i < differ->changes.count; i++) {
		struct changes_item *change = &differ->changes.items[i];

		if (count_lines(differ, change) < 0 || count_bytes(differ, change) < 0)
			return -1;
		json_open(&json, NULL, '{');
		json_text(&json, "path", change->path);
		json_text(&json, "status", status_of(change));
		if (change->from)
			json_text(&json, "from", change->from);
		json_flag(&json, "binary", change->binary);
		json_number(&json, "added", change->added);
		json_number(&json, "removed", change->removed);
		json_number(&json, "bytes", change->bytes);
		json_close(&json);
	}
	json_close(&json);
	json_close(&json);
	fputs(buffer_text(&text), differ->out);
	return 0;
}

static bool is_enough(const struct differ *differ)
{
	return differ->options->most_bytes && ftello(differ->out) >= differ->options->most_bytes;
}

static int print_all(struct differ *differ)
{
	switch (differ->options->style) {
	case DIFFER_STAT:
		return print_stat(differ);
	case DIFFER_JSON:
		return print_json(differ);
	case DIFFER_NAMES:
		for (size_t i = 0; i < differ->changes.count; i++) {
			print_name(differ->out, "", differ->changes.items[i].path);
			fputc('\n', differ->out);
		}
		return 0;
	case DIFFER_PATCH:
		break;
	}
	for (size_t i = 0; i < differ->changes.count && !is_enough(differ); i++)
		if (print_patch(differ, &differ->changes.items[i]) < 0)
			return -1;
	return 0;
}

int differ_print(struct checkpoint_repo *repo, struct node *old, struct node *new,
		 const struct differ_options *options, FILE *out, struct error *err)
{
	struct differ differ = { .repo = repo, .options = options, .out = out, .err = err };
	int result;

	changes_find(old, new, &options->paths, &differ.changes);
	result = print_all(&differ);
	changes_release(&differ.changes);
	return result;
}
