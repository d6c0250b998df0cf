/* Before a push: see land_gate.h. */
#include "ops/land_gate.h"

#include "land/land_patch.h"
#include "ops/apply_changes.h"
#include "ops/apply_pins.h"
#include "ops/op_apply.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static int scan(int patch, struct op_land_result *result, struct error *err)
{
	struct land_patch found;

	if (land_patch_scan(patch, &found, err) < 0)
		return -1;
	land_patch_add(&found, "the text of the request", result->title);
	land_patch_add(&found, "the text of the request", result->body);
	for (size_t i = 0; i < found.count; i++) {
		const struct land_patch_finding *finding = &found.findings[i];
		AUTO_FREE char *why = mem_format("%s (%s)", finding->what, finding->shown);
		const struct op_item item = { .name = finding->path,
					      .where = result->commit,
					      .why = why };

		op_question_add(&result->secrets, &item);
	}
	land_patch_release(&found);
	op_question_set(&result->secrets, OP_QUESTION_EXECUTED,
			mem_dup("Push what looks like credentials?"));
	return 0;
}

static int ask(const struct op_land_request *request, const struct op_land_result *result,
	       const json_t *details, struct op_question *question, struct error *err)
{
	const struct client_loop *loop = &result->loop;
	struct apply_changes changes;
	json_t *pins = NULL;
	struct error why;

	if (request->answer.to_all)
		return 0;
	if (apply_pins_find(request->state, loop, loop->state.checkpoint, &pins, &why) < 0)
		return error_with(err, why.status,
				  "whether the agent changed pinned files is not known: %.1500s "
				  "(to land everything all the same: --yes)",
				  why.text);
	if (apply_changes_read(details, pins, &changes, err) < 0) {
		json_decref(pins);
		return -1;
	}
	for (size_t i = 0; i < changes.count; i++) {
		const struct apply_changes_item *item = &changes.items[i];
		const struct op_item asked = { .name = item->path,
					       .where = (char *)result->commit,
					       .why = item->why };

		if (path_group_asks(item->group) && !request->yes[item->group])
			op_question_add(question, &asked);
	}
	apply_changes_release(&changes);
	json_decref(pins);
	return 0;
}

/* Reads the commits as mails, which have everything that a push makes public. */
static enum op_status look(const struct op_land_request *request, int patch,
			   struct op_land_result *result, struct error *err)
{
	const struct op_apply_request read = { .target = { .state = request->state,
							   .project = request->project,
							   .loop = result->loop.id },
					       .remote = result->remote };
	struct op_apply_result mails;
	enum op_status status = op_apply_patch(&read, patch, false, &mails, err);

	/* Only this commit is pushed, whatever became of the branch since. */
	if (status == OP_DONE)
		snprintf(result->commit, sizeof result->commit, "%s",
			 jsonget_text(mails.details, "theirs"));
	if (status == OP_DONE && (scan(patch, result, err) < 0 ||
				  ask(request, result, mails.details, &result->question, err) < 0))
		status = op_status_of(err);
	op_apply_release(&mails);
	return status;
}

enum op_status land_gate(const struct op_land_request *request, struct op_land_result *result,
			 struct error *err)
{
	AUTO_FD patch = memfd_create("patch", MFD_CLOEXEC);
	enum op_status status;

	if (patch < 0) {
		error_sys(err, "create a file in memory");
		return OP_FAILED;
	}
	status = look(request, patch, result, err);
	if (status != OP_DONE || request->dry)
		return status;
	op_question_set(&result->question, OP_QUESTION_EXECUTED,
			mem_dup("Push these files? CI and other machines may run them."));
	if (result->secrets.count && !request->secrets) {
		error_with(err, ERROR_REFUSED,
			   "%zu place%s to be a credential, which everybody who can read the "
			   "remote would have: remove it from the commits, or use --yes-secrets",
			   result->secrets.count, result->secrets.count == 1 ? " seems" : "s seem");
		return OP_REFUSED;
	}
	return result->question.count && !op_agreed(&request->answer, &result->question) ? OP_ASKS
											 : OP_DONE;
}
