/* Prints commits as mails. */
#include "snapshot/apply/mail.h"

#include "snapshot/base/libgit.h"
#include "snapshot/undo/differ.h"
#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <git2/sys/email.h> /* where libgit2 1.9 declares git_email_create_from_diff() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MESSAGE_BYTES = 64 << 20 };

/* Hides what a remote has. The branches of loops do not count: they may be what is looked at. */
static int hide_remote(git_repository *repository, const char *remote, git_revwalk *walk)
{
	AUTO_FREE char *pattern = mem_format("refs/remotes/%s/*", remote);
	AUTO_FREE char *loops = mem_format("refs/remotes/%s/ringfence/", remote);
	git_reference_iterator *refs = NULL;
	const char *name;
	int result = git_reference_iterator_glob_new(&refs, repository, pattern);

	while (result == 0 && git_reference_next_name(&name, refs) == 0)
		if (!text_after_prefix(name, loops))
			git_revwalk_hide_ref(walk, name); /* a broken one hides nothing */
	git_reference_iterator_free(refs);
	return result;
}

static bool has(git_repository *repository, const git_oid *ours, const git_oid *theirs)
{
	return git_oid_equal(ours, theirs) ||
	       git_graph_descendant_of(repository, ours, theirs) == 1;
}

static int hide(git_repository *repository, const struct mail_options *options, git_revwalk *walk)
{
	const git_oid *ours = options->ours;

	if (ours && options->remote && has(repository, ours, options->theirs))
		return hide_remote(repository, options->remote, walk);
	return ours ? git_revwalk_hide(walk, ours) : 0;
}

/*
 * Lists the commits of theirs that are not in ours, oldest first. Returns false if they cannot be a
 * series of mails, because one is a merge.
 */
static bool list_commits(git_repository *repository, const struct mail_options *options,
			 git_oid **ret_ids, size_t *ret_count)
{
	git_revwalk *walk = NULL;
	bool plain = true;
	git_oid id;

	*ret_ids = NULL;
	*ret_count = 0;
	if (git_revwalk_new(&walk, repository) < 0)
		return false;
	git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE);
	plain = git_revwalk_push(walk, options->theirs) == 0 &&
		hide(repository, options, walk) == 0;
	while (plain && git_revwalk_next(&id, walk) == 0) {
		git_commit *commit = NULL;

		plain = git_commit_lookup(&commit, repository, &id) == 0 &&
			(options->remote || git_commit_parentcount(commit) <= 1);
		git_commit_free(commit);
		*ret_ids = mem_resize(*ret_ids, *ret_count + 1, sizeof **ret_ids);
		(*ret_ids)[(*ret_count)++] = id;
	}
	git_revwalk_free(walk);
	return plain;
}

/* The changes of one commit; or, with a subject, all changes since the base. */
struct mail {
	const git_oid *id;
	size_t number, count;
	const char *subject;
	const git_oid *base; /* NULL: the empty tree */
};

static int find_before(git_repository *repository, const struct mail *mail,
		       const git_commit *commit, git_commit **ret_before)
{
	if (mail->subject)
		return mail->base ? git_commit_lookup(ret_before, repository, mail->base) : 0;
	return git_commit_parentcount(commit) ? git_commit_parent(ret_before, commit, 0) : 0;
}

/*
 * Reports whether git am or patch could mistake a line of a message for the start of a patch,
 * another mail or a header; such a message could add files that no commit has. patch also accepts
 * indented patches and mails within mails.
 */
static bool looks_like_mail(const char *line)
{
	static const char *const beginnings[] = { "diff ", "Index:", "---",     "+++",
						  "***",   "@@",     "From ",   ">From",
						  "From:", "Date:",  "Subject:" };

	while (*line == ' ' || *line == '\t' || *line == 'X' || strncmp(line, "- ", 2) == 0)
		line++;
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (strncasecmp(line, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

/* Prefixes such lines with a bar. */
static void guard_body(const char *body, struct buffer *out)
{
	while (body && *body) {
		size_t size = strcspn(body, "\n");

		if (looks_like_mail(body))
			buffer_add_text(out, "| ");
		buffer_add(out, body, size + (body[size] == '\n'));
		body += size + (body[size] == '\n');
	}
}

static void list_paths(git_diff *diff, struct list *paths)
{
	for (size_t i = 0; i < git_diff_num_deltas(diff); i++) {
		const git_diff_delta *delta = git_diff_get_delta(diff, i);

		if (delta->status != GIT_DELTA_DELETED)
			list_add(paths, delta->new_file.path);
	}
}

/* ---- merges ---- */

/* Lists the paths at which a tree differs from a parent's, if they are in a list; NULL: all. */
static int list_differing(git_repository *repository, git_commit *commit, unsigned int parent,
			  const struct list *wanted, struct list *ret_paths)
{
	git_commit *before = NULL;
	git_tree *old = NULL;
	git_tree *new = NULL;
	git_diff *diff = NULL;
	struct list paths = { 0 };
	int result = -1;

	if (git_commit_parent(&before, commit, parent) == 0 && git_commit_tree(&old, before) == 0 &&
	    git_commit_tree(&new, commit) == 0 &&
	    git_diff_tree_to_tree(&diff, repository, old, new, NULL) == 0) {
		list_paths(diff, &paths);
		for (size_t i = 0; i < paths.count; i++)
			if (!wanted || list_has(wanted, paths.items[i]))
				list_add(ret_paths, paths.items[i]);
		result = 0;
	}
	list_release(&paths);
	git_diff_free(diff);
	git_tree_free(old);
	git_tree_free(new);
	git_commit_free(before);
	return result;
}

/* Lists the paths at which a merge differs from all of its parents. */
static int list_merged(git_repository *repository, git_commit *commit, struct list *ret_paths)
{
	struct list wanted = { 0 };
	int result = list_differing(repository, commit, 0, NULL, &wanted);

	for (unsigned int i = 1; result == 0 && i < git_commit_parentcount(commit); i++) {
		struct list both = { 0 };

		result = list_differing(repository, commit, i, &wanted, &both);
		list_release(&wanted);
		wanted = both;
	}
	*ret_paths = wanted;
	return result;
}

/* Limits a diff to what a review has to show of a commit. */
static int limit_diff(git_repository *repository, git_commit *commit, struct list *paths,
		      git_diff_options *options)
{
	options->flags |= GIT_DIFF_FORCE_TEXT | GIT_DIFF_DISABLE_PATHSPEC_MATCH;
	if (git_commit_parentcount(commit) < 2)
		return 0;
	if (list_merged(repository, commit, paths) < 0)
		return -1;
	if (!paths->count)
		list_add(paths, "/"); /* matches nothing; an empty list would match everything */
	options->pathspec = (git_strarray){ paths->items, paths->count };
	return 0;
}

/* ---- printing ---- */

/* Adds the paths in the mail to a list. */
static int print_mail(git_repository *repository, const struct mail *mail,
		      const struct mail_options *wanted, struct list *paths, struct error *err)
{
	struct list limits = { 0 };
	git_email_create_options options = GIT_EMAIL_CREATE_OPTIONS_INIT;
	git_diff_options diff_options;
	git_commit *commit = NULL;
	git_commit *before = NULL;
	git_tree *old = NULL;
	git_tree *new = NULL;
	git_diff *diff = NULL;
	AUTO_BUFFER struct buffer body = BUFFER_INIT(MESSAGE_BYTES);
	git_buf text = { 0 };
	int result = 0;

	/* A rename is printed as a removal and an addition, which every git apply accepts. */
	options.flags = GIT_EMAIL_CREATE_NO_RENAMES;
	options.diff_opts.id_abbrev = GIT_OID_HEXSZ;
	diff_options = options.diff_opts;
	if (git_commit_lookup(&commit, repository, mail->id) == 0)
		guard_body(git_commit_body(commit), &body);
	if (!commit || buffer_overflowed(&body) ||
	    (wanted->remote && limit_diff(repository, commit, &limits, &diff_options) < 0) ||
	    git_commit_tree(&new, commit) < 0 ||
	    find_before(repository, mail, commit, &before) < 0 ||
	    (before && git_commit_tree(&old, before) < 0) ||
	    git_diff_tree_to_tree(&diff, repository, old, new, &diff_options) < 0 ||
	    git_email_create_from_diff(&text, diff, mail->number, mail->count, mail->id,
				       mail->subject ? mail->subject : git_commit_summary(commit),
				       mail->subject || !body.used ? NULL : buffer_text(&body),
				       git_commit_author(commit), &options) < 0)
		result = libgit_error("create a patch", err);
	if (result == 0) {
		differ_show(stdout, text.ptr, text.size, wanted->terminal);
		list_paths(diff, paths);
	}
	if (result == 0 && ferror(stdout))
		result = differ_output_failed(err);
	git_buf_dispose(&text);
	git_diff_free(diff);
	git_tree_free(old);
	git_tree_free(new);
	git_commit_free(before);
	git_commit_free(commit);
	list_release(&limits);
	return result;
}

int mail_print(git_repository *repository, const struct mail_options *options, size_t *ret_commits,
	       struct list *paths, struct error *err)
{
	const git_oid *ours = options->ours;
	git_oid *ids = NULL;
	bool plain = list_commits(repository, options, &ids, ret_commits);
	git_oid base;
	bool has_base = ours && git_merge_base(&base, repository, ours, options->theirs) == 0;
	/* A history with merges cannot be sent as a series: it becomes one mail. */
	struct mail whole = { .id = options->theirs,
			      .number = 1,
			      .count = 1,
			      .subject = options->subject,
			      .base = has_base ? &base : NULL };
	int result = 0;

	for (size_t i = 0; plain && result == 0 && i < *ret_commits; i++) {
		struct mail one = { .id = &ids[i], .number = i + 1, .count = *ret_commits };

		result = print_mail(repository, &one, options, paths, err);
	}
	if (!plain)
		result = print_mail(repository, &whole, options, paths, err);
	free(ids);
	return result;
}
