/* Saves checkpoints. */
#include "snapshot/look/save.h"

#include "util/clock.h"

#include <stdio.h>
#include <string.h>

static int write_commit(struct look *look, const struct checkpoint_repo_item *checkpoint,
			git_oid *ret_commit, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);
	char tree[GIT_OID_HEXSZ + 1];
	long long seconds = (long long)checkpoint->at_ms / 1000;

	git_oid_tostr(tree, sizeof tree, &look->tree);
	buffer_printf(&text,
		      "tree %s\nauthor Ringfence <ringfence@localhost> %lld +0000\n"
		      "committer Ringfence <ringfence@localhost> %lld +0000\n\n",
		      tree, seconds, seconds);
	buffer_printf(&text,
		      "kind: %s\niteration: %lld\nat_ms: %lld\nfiles: %llu\nbytes: %llu\n"
		      "skipped: %llu\n",
		      checkpoint->kind, (long long)checkpoint->iteration,
		      (long long)checkpoint->at_ms, (unsigned long long)checkpoint->files,
		      (unsigned long long)checkpoint->bytes,
		      (unsigned long long)checkpoint->skipped);
	return pack_add(look->pack, GIT_OBJECT_COMMIT, text.data, text.used, ret_commit->id, err);
}

int save_prepare(struct checkpoint_repo *repo, const struct look_options *options,
		 struct look *look, const struct save_options *save,
		 struct checkpoint_repo_item *ret_checkpoint, bool *ret_same, struct error *err)
{
	struct checkpoint_repo_item made = { .number = checkpoint_repo_next(repo, options->loop,
									    save->next),
					     .tree = look->tree,
					     .iteration = save->iteration,
					     .at_ms = clock_wall_ms(),
					     .files = look->walk.files,
					     .bytes = look->walk.bytes,
					     .skipped = look->walk.odd };
	struct checkpoint_repo_item last;

	snprintf(made.kind, sizeof made.kind, "%s", save->kind);
	*ret_same = made.number > 0 &&
		    checkpoint_repo_read(repo, options->loop, made.number - 1, &last, err) == 0 &&
		    git_oid_equal(&last.tree, &look->tree);
	if (!*ret_same && write_commit(look, &made, &made.commit, err) < 0)
		return -1;
	if (look_finish(repo, look, err) < 0)
		return -1;
	*ret_checkpoint = *ret_same ? last : made;
	return 0;
}

int save_checkpoint(struct checkpoint_repo *repo, const struct look_options *options,
		    struct look *look, const struct save_options *save,
		    struct checkpoint_repo_item *ret_checkpoint, bool *ret_same, struct error *err)
{
	struct checkpoint_repo_item made;

	if (save_prepare(repo, options, look, save, &made, ret_same, err) < 0)
		return -1;
	if (!*ret_same &&
	    checkpoint_repo_number(repo, options->loop, made.number, &made.commit, err) < 0)
		return -1;
	*ret_checkpoint = made;
	return 0;
}
