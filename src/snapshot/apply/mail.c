/* Prints commits as mails. */
#include "snapshot/apply/mail.h"

#include "snapshot/base/libgit.h"
#include "snapshot/undo/differ.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <git2/sys/email.h> /* where libgit2 1.9 declares git_email_create_from_diff() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MESSAGE_BYTES = 64 << 20 };

/*
 * Lists the commits of theirs that are not in ours, oldest first. Returns false if one is a merge.
 */
static bool list_commits(git_repository *repository, const git_oid *ours, const git_oid *theirs,
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
	plain = git_revwalk_push(walk, theirs) == 0 && (!ours || git_revwalk_hide(walk, ours) == 0);
	while (plain && git_revwalk_next(&id, walk) == 0) {
		git_commit *commit = NULL;

		plain = git_commit_lookup(&commit, repository, &id) == 0 &&
			git_commit_parentcount(commit) <= 1;
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

/* Adds the paths in the mail to a list. */
static int print_mail(git_repository *repository, const struct mail *mail, bool terminal,
		      struct list *paths, struct error *err)
{
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
	if (!commit || buffer_overflowed(&body) || git_commit_tree(&new, commit) < 0 ||
	    find_before(repository, mail, commit, &before) < 0 ||
	    (before && git_commit_tree(&old, before) < 0) ||
	    git_diff_tree_to_tree(&diff, repository, old, new, &diff_options) < 0 ||
	    git_email_create_from_diff(&text, diff, mail->number, mail->count, mail->id,
				       mail->subject ? mail->subject : git_commit_summary(commit),
				       mail->subject || !body.used ? NULL : buffer_text(&body),
				       git_commit_author(commit), &options) < 0)
		result = libgit_error("create a patch", err);
	if (result == 0) {
		differ_show(stdout, text.ptr, text.size, terminal);
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
	return result;
}

int mail_print(git_repository *repository, const struct mail_options *options, size_t *ret_commits,
	       struct list *paths, struct error *err)
{
	const git_oid *ours = options->ours;
	git_oid *ids = NULL;
	bool plain = list_commits(repository, ours, options->theirs, &ids, ret_commits);
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

		result = print_mail(repository, &one, options->terminal, paths, err);
	}
	if (!plain)
		result = print_mail(repository, &whole, options->terminal, paths, err);
	free(ids);
	return result;
}
