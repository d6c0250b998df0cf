/* Committing leftovers: see leftovers.h. */
#include "loop/run/leftovers.h"

#include "loop/state/loop_folder.h"
#include "snapshot/snapshot.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { SUBJECT_BYTES = 72 };

char *leftovers_subject(const struct loop_options *options)
{
	const char *objective = options->objective;
	size_t size = strcspn(objective, "\r\n");
	size_t kept = text_first(objective, size, SUBJECT_BYTES);

	return mem_format("%.*s%s", (int)kept, objective, kept < size ? "..." : "");
}

char *leftovers_message(const char *id, const struct loop_state *state)
{
	AUTO_FREE char *subject = leftovers_subject(&state->options);

	if (state->restored)
		return mem_format("Ringfence %s: roll back to checkpoint %lld\n\n"
				  "You restored files from this checkpoint after the loop.\n",
				  id, (long long)state->restored_to);
	if (state->quarantined)
		return mem_format("Ringfence %s: %s\n\nWork that the agent left uncommitted, and "
				  "the removal of files that Ringfence quarantined.\n",
				  id, subject);
	if (state->options.with)
		return mem_format("Ringfence %s: %s\n\nThe work of %s, merged into that of %s.\n",
				  id, subject, state->options.with, state->options.from);
	return mem_format("Ringfence %s: %s\n\nWork that the agent left uncommitted.\n", id,
			  subject);
}

static int perform(const char *name, const char *folder, const struct loop_state *of,
		   struct error *err)
{
	const char *id = path_name(folder);
	AUTO_FREE char *state = loop_folder_state(folder);
	AUTO_FREE char *text = leftovers_message(id, of);
	struct snapshot_work work;
	json_t *answer = NULL;
	int result;

	if (!of->options.work_tree)
		return 0;
	snapshot_begin(&work, name, state, of->options.work_tree, id);
	snapshot_tell(&work, "message", text);
	result = snapshot_run(&work, -1, &answer, err);
	snapshot_release(&work);
	json_decref(answer);
	return result;
}

int leftovers_commit(const char *folder, const struct loop_state *state, struct error *err)
{
	return perform("seal", folder, state, err);
}

int leftovers_open(const char *folder, const struct loop_state *state, struct error *err)
{
	return perform("unseal", folder, state, err);
}
