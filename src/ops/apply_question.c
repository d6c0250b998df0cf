/* The question about files that this machine will execute unasked: see apply_question.h. */
#include "ops/apply_question.h"

#include "fence/fence_quarantine.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <string.h>

char *apply_question_why(const struct apply_targets *targets, const json_t *change, bool *ret_ci)
{
	const char *path = jsonget_text(change, "path");
	const char *why = targets ? apply_targets_reason(targets, path) : NULL;

	*ret_ci = false;
	if (strcmp(jsonget_text(change, "status"), "deleted") == 0)
		return NULL;
	if (!why && jsonget_flag(change, "git"))
		why = FENCE_QUARANTINE_UNASKED " (a git directory under another name)";
	return why ? mem_dup(why) : fence_quarantine_reason(path, ret_ci);
}

/* Adds those of a list of files. The token covers them in this result, or history, only. */
static void add_executed(const json_t *answer, const char *key, const char *where,
			 const struct apply_targets *targets, struct op_question *question)
{
	size_t index;
	json_t *change;

	json_array_foreach(json_object_get(answer, key), index, change)
	{
		bool ci;
		AUTO_FREE char *why = apply_question_why(targets, change, &ci);
		const struct op_item item = { .name = (char *)jsonget_text(change, "path"),
					      .value = (char *)json_string_value(
						      json_object_get(change, "commit")),
					      .where = (char *)jsonget_text(answer, where),
					      .why = why };

		if (item.why)
			op_question_add(question, &item);
	}
}

int apply_question_make(const json_t *answer, struct op_question *question, struct error *err)
{
	struct apply_targets *targets = NULL;

	if (apply_targets_new(answer, &targets, err) < 0)
		return -1;
	add_executed(answer, "changes", "tree", targets, question);
	add_executed(answer, "history", "theirs", targets, question);
	apply_targets_free(targets);
	op_question_set(question, OP_QUESTION_EXECUTED, mem_dup("Apply these files as well?"));
	return 0;
}
