/* Shared by all commands for loops: see loops.h. */
#include "cli/loops.h"

#include "cli/batch_id.h"
#include "cli/short_id.h"
#include "cli/view/notice.h"
#include "cli/view/page.h"
#include "failure/failure.h"
#include "fence/fence.h"
#include "fence/fence_spec.h"
#include "ops/op_draft_applied.h"
#include "settings/effective.h"
#include "util/env.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char loops_exit_table[] = "  0    completed: every rule holds (with --detach: started)\n"
				"  1    failed: a breaker opened\n"
				"  2    a limit of the loop was reached; it is named\n"
				"  3    paused; continue with ringfence resume\n"
				"  4    aborted by you\n"
				"  5    interrupted, or continuing in the background\n"
				"  125  refused, or the fence failed; the reason is printed\n";

int loops_resolve(struct loops_options *opts, const char **word, struct error *err)
{
	const char *id = *word ? short_id_resolve(&opts->place, *word, &opts->words, err) : NULL;

	if (*word && !id)
		return -1;
	*word = id;
	return 0;
}

int loops_resolve_argument(struct loops_options *opts, size_t index, struct error *err)
{
	const char *word = opts->rest[index];

	if (loops_resolve(opts, &word, err) < 0)
		return -1;
	opts->rest[index] = (char *)word;
	return 0;
}

/* Resolves the loops and drafts that options name. */
static int resolve_options(const struct cli_command *command, struct loops_options *opts,
			   struct error *err)
{
	for (const struct cli_option *at = command->options; at->name; at++) {
		void *member = (char *)opts + at->offset;

		if (at->value &&
		    (strcmp(at->value, "LOOP") == 0 || strcmp(at->value, "DRAFT") == 0) &&
		    loops_resolve(opts, member, err) < 0)
			return -1;
	}
	return 0;
}

/* Does an argument name a batch, where a loop is meant? Then err says what to do. */
static bool is_refused(const struct cli_command *command, const struct loops_options *opts,
		       struct error *err)
{
	const char *state = opts->place.state;

	return !strstr(command->args, "BATCH") &&
	       (batch_id_refuse(state, command->name, opts->rest[0], err) ||
		batch_id_refuse(state, command->name, opts->loop_id, err));
}

int loops_run(const struct cli_command *command, char **argv, loops_fn *act)
{
	struct loops_options opts = { .changes = json_object() };
	struct error err;
	int code;

	opts.rest = cli_parse(command, argv, &opts, &code);
	if (opts.rest)
		code = effective_find(opts.project, &opts.place, &err) < 0 ||
				       is_refused(command, &opts, &err) ||
				       resolve_options(command, &opts, &err) < 0
			       ? cli_fail(&err)
			       : act(&opts, &err);
	client_loop_release(&opts.loop);
	fence_place_release(&opts.place);
	json_decref(opts.changes);
	list_release(&opts.words);
	return code;
}

int loops_target(struct loops_options *opts, struct op_target *ret_target, struct error *err)
{
	const char *id = opts->rest[0];

	if (id && opts->rest[1])
		return error_set(err, "unexpected argument '%s': name only one loop",
				 opts->rest[1]);
	if (loops_resolve(opts, &id, err) < 0)
		return -1;
	*ret_target = (struct op_target){ .state = opts->place.state,
					  .project = opts->place.project,
					  .loop = id };
	return 0;
}

void loops_notice(const struct client_loop *loop)
{
	if (loop->unwritable)
		notice_format("the state of loop %s in '%s' can only be read: %s", loop->id,
			      loop->folder, loop->unwritable);
}

int loops_find(struct loops_options *opts, struct error *err)
{
	struct op_target target;

	if (loops_target(opts, &target, err) < 0)
		return -1;
	if (client_find(target.state, target.loop, target.project, &opts->loop, err) < 0)
		return -1;
	loops_notice(&opts->loop);
	return 0;
}

int loops_find_readable(struct loops_options *opts, struct error *err)
{
	if (loops_find(opts, err) < 0)
		return -1;
	return opts->loop.damaged ? error_set(err, "%s", opts->loop.trouble) : 0;
}

static void print(json_t *object, size_t flags)
{
	/* Escape control characters as \uNNNN, so that a terminal does not obey them. */
	AUTO_FREE char *text = json_dumps(object, flags | JSON_ENSURE_ASCII);

	json_decref(object);
	puts(text ? text : "{}");
}

void loops_print(json_t *object)
{
	print(object, JSON_INDENT(2));
}

void loops_print_line(json_t *object)
{
	print(object, JSON_COMPACT);
	fflush(stdout);
}

void loops_add_outcome(json_t *object, const struct client_loop *loop)
{
	json_t *outcome = loop->id ? client_outcome(loop) : NULL;

	if (outcome)
		json_object_set_new(object, "outcome", outcome);
}

int loops_report(const struct loops_options *opts, struct client_loop *loop, const char *sentence)
{
	AUTO_FREE char *shown = text_escaped(sentence);

	if (opts->json) {
		client_refresh(loop);
		loops_print(client_json(loop));
	} else {
		page_print(shown, 0);
	}
	return cli_flush();
}

const char *loops_failure_text(const json_t *decision)
{
	const char *name = jsonget_string(decision, "failure");

	return failure_from_stream(name) == FAILURE_NO_OP ? failure_row(FAILURE_NO_OP)->what : NULL;
}

char *loops_review_text(const json_t *findings)
{
	uint32_t blocking = review_count(findings, "blocking");
	uint32_t advice = review_count(findings, "advice");

	if (!blocking && !advice)
		return mem_dup("no findings");
	return mem_format("%u blocking, %u advice", blocking, advice);
}

char *loops_finding_text(const json_t *finding)
{
	const char *file = jsonget_text(finding, "file");
	long long line = (long long)jsonget_number(finding, "line");
	AUTO_FREE char *place = line ? mem_format(":%lld", line) : mem_dup("");

	return mem_format("%s: %s%s%s%s", jsonget_text(finding, "severity"), file, place,
			  *file ? ": " : "", jsonget_text(finding, "text"));
}

int loops_exit_code(const struct client_loop *loop)
{
	static const struct {
		const char *status;
		int code;
	} codes[] = {
		{ "completed", LOOPS_COMPLETED }, { "failed", LOOPS_FAILED },
		{ "limit", LOOPS_LIMIT },         { "paused", LOOPS_PAUSED },
		{ "aborted", LOOPS_ABORTED },
	};
	const char *status = client_status(loop);

	if (loop->damaged || loop->state.fence_failed || loop->state.refused)
		return LOOPS_REFUSED;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (strcmp(codes[i].status, status) == 0)
			return codes[i].code;
	return LOOPS_INTERRUPTED;
}

char *loops_draft_text(const char *state, const struct client_loop *loop)
{
	if (loop->damaged || !loop->state.options.draft)
		return NULL;
	switch (op_draft_applied_loop(state, loop)) {
	case OP_DRAFT_APPLIED_FILES:
		return mem_format("its draft was applied (to undo this: ringfence apply --undo %s)",
				  loop->id);
	case OP_DRAFT_APPLIED_COMMITS:
		return mem_dup("its commits are in a branch of yours");
	case OP_DRAFT_APPLIED_NOT:
		break;
	}
	return loop->state.options.batch
		       ? mem_format("draft: for task %s of a batch; your project is unchanged "
				    "until ringfence work --apply %s",
				    loop->state.options.task, loop->state.options.batch)
		       : mem_format("draft: your project is unchanged until ringfence apply %s",
				    loop->id);
}

/* Names the providers that a loop of scripts has to do without (loop_state_is_scripted()). */
static void notice_keyless(const struct model_access *models)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct key_source *key = &models->upstreams[i].key;

		if (models->upstreams[i].set && key->kind == KEY_SOURCE_ENV && !env_has(key->value))
			notice_format("%s is not set, so the loop continues without access to %s",
				      key->value, provider_at(i)->name);
	}
}

void loops_prepare(const void *context, const struct client_loop *loop)
{
	const struct fence_place *place = context;
	struct fence_spec spec;
	struct error ignored;

	if (spec_json_read(loop->state.options.fence, &spec, &ignored) < 0)
		return;
	fence_enter_scope(place, &spec);
	if (loop_state_is_scripted(&loop->state))
		notice_keyless(&spec.models);
	fence_spec_release(&spec);
}
