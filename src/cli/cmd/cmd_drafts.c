/* ringfence drafts and ringfence discard: list and remove drafts. */
#include "cli/drafts.h"

#include "draft/draft.h"
#include "ops/op_draft.h"
#include "ops/op_draft_applied.h"
#include "util/clock.h"
#include "util/file/disk_usage.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = {
	OPTION_FLAG("all", "list the drafts of every project", struct loops_options, all),
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "STATES",
	  "  running      a command runs in it\n"
	  "  interrupted  its command was killed; continue with ringfence exec --in DRAFT\n"
	  "  finished     waits until you apply or discard it\n"
	  "  applied      finished, and applied as a whole or in parts, or your branch has\n"
	  "               its commits\n" },
	{ "EXAMPLES", "  ringfence drafts --json | jq -r '.drafts[-1].id'   the newest one\n" },
	{ 0 },
};

enum { COMMAND_BYTES = 100 };

/* A draft as the list shows it. */
struct line {
	const struct draft_record *record;
	const char *state;
	const char *kind; /* NULL if its creation was interrupted */
	json_t *applied;  /* true, false, or null if that cannot be found out */
	uint64_t bytes;
};

static json_t *find_applied(const char *state, const struct draft_record *record)
{
	struct error ignored;
	enum op_draft_applied applied;

	if (op_draft_applied_find(state, record, &applied, &ignored) < 0)
		return json_null();
	return json_boolean(applied != OP_DRAFT_APPLIED_NOT);
}

static struct line line_of(const char *state, const struct draft_record *record)
{
	struct error ignored;
	struct line line = {
		.record = record,
		.kind = draft_kind_name(record->layers, &ignored),
		.applied = find_applied(state, record),
		.bytes = disk_usage_bytes(record->of_loop ? record->layers : record->folder, NULL)
	};

	line.state = draft_record_is_busy(record)          ? "running"
		     : draft_record_is_interrupted(record) ? "interrupted"
							   : "finished";
	return line;
}

static json_t *line_json(const struct line *line)
{
	const struct draft_record *record = line->record;

	return json_pack("{s:s, s:b, s:s, s:s, s:s?, s:I, s:s, s:o, s:O, s:I}", "id", record->id,
			 "loop", record->of_loop, "project", record->project, "command",
			 record->command, "kind", line->kind, "began_ms",
			 (json_int_t)record->began_ms, "state", line->state, "exit",
			 record->code == DRAFT_RECORD_NONE ? json_null()
							   : json_integer(record->code),
			 "applied", line->applied, "bytes", (json_int_t)line->bytes);
}

/* Returns a command, shortened between characters, with control characters escaped. */
static char *shorten(const char *command)
{
	size_t size = strlen(command);
	size_t shown = text_first(command, size, COMMAND_BYTES);
	AUTO_FREE char *cut = mem_format("%.*s", (int)shown, command);
	AUTO_FREE char *escaped = text_escaped(cut);

	return mem_format("%s%s", escaped, shown < size ? " ..." : "");
}

static void print_line(const struct line *line, bool all)
{
	const struct draft_record *record = line->record;
	bool applied = json_is_true(line->applied) && strcmp(line->state, "finished") == 0;
	AUTO_FREE char *age = text_age(clock_wall_ms() - record->began_ms);
	AUTO_FREE char *size = text_size(line->bytes);
	AUTO_FREE char *shortened = shorten(record->command);
	AUTO_FREE char *command = record->of_loop ? mem_format("loop: %s", shortened)
						  : mem_dup(shortened);
	AUTO_FREE char *project = text_escaped(record->project);

	printf("%s  %-11s  %-11s  %8s  %s%s%s\n", record->id, applied ? "applied" : line->state,
	       age, size, command, all ? "  in " : "", all ? project : "");
}

static bool is_listed(const struct loops_options *opts, const struct draft_record *record)
{
	return opts->all || strcmp(record->project, opts->place.project) == 0;
}

static void print_empty(const struct loops_options *opts, size_t others)
{
	printf("no drafts%s (make one: ringfence exec --draft -- COMMAND",
	       opts->all ? "" : " of this project");
	if (others)
		printf("; %zu of other projects: ringfence drafts --all", others);
	puts(")");
}

static int print_list(struct loops_options *opts, struct error *err)
{
	struct draft_records records;
	json_t *list = json_array();

	if (op_draft_list(opts->place.state, opts->all ? NULL : opts->place.project, &records,
			  err) < 0) {
		json_decref(list);
		return cli_fail(err);
	}
	for (size_t i = 0; i < records.count; i++) {
		if (!is_listed(opts, &records.items[i]))
			continue;

		struct line line = line_of(opts->place.state, &records.items[i]);

		json_array_append_new(list, line_json(&line));
		if (!opts->json)
			print_line(&line, opts->all);
		json_decref(line.applied);
	}
	if (!opts->json && !json_array_size(list))
		print_empty(opts, records.count);
	if (opts->json)
		loops_print(json_pack("{s:O}", "drafts", list));
	json_decref(list);
	draft_records_release(&records);
	return cli_flush();
}

static int run_drafts(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, print_list);
}

const struct cli_command cmd_drafts = {
	.name = "drafts",
	.args = "[--all] [--json]",
	.max_args = 0,
	.options_anywhere = true,
	.summary = "list drafts: changes that are not in the project yet",
	.description =
		"Lists the drafts of ringfence exec --draft and of loops (ringfence run): changes "
		"that wait until you take them over (ringfence apply DRAFT) or drop them (ringfence "
		"discard DRAFT, or ringfence clean LOOP). Each has a line: its id, state, age, size on disk, and last command, the "
		"oldest draft first.",
	.options = options,
	.sections = sections,
	.run = run_drafts,
};

/* ---- discard ---- */

static const struct cli_option discard_options[] = {
	LOOPS_JSON,
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section discard_sections[] = {
	{ "EXAMPLES",
	  "  ringfence discard 20260102-030405-abcd\n"
	  "  ringfence clean --older 7d     all drafts and loops of a week ago or more\n" },
	{ 0 },
};

static void print_discarded(const struct loops_options *opts, size_t count, uint64_t bytes)
{
	AUTO_FREE char *size = text_size(bytes);
	json_t *ids = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(ids, json_string(opts->rest[i]));
	if (opts->json)
		loops_print(
			json_pack("{s:O, s:I}", "removed", ids, "freed_bytes", (json_int_t)bytes));
	else
		printf("%zu draft%s removed, %s freed\n", count, count == 1 ? "" : "s", size);
	json_decref(ids);
}

/* Removes drafts until one fails. */
static int discard(struct loops_options *opts, struct error *err)
{
	enum op_status status = OP_DONE;
	uint64_t bytes = 0;
	size_t count = 0;

	if (!opts->rest[0]) {
		error_set(err, "discard needs a draft (see: ringfence drafts)");
		return cli_fail(err);
	}
	for (size_t i = 0; opts->rest[i]; i++)
		if (loops_resolve_argument(opts, i, err) < 0)
			return cli_fail(err);
	while (opts->rest[count]) {
		status = op_draft_discard(opts->place.state, opts->rest[count], &bytes, err);
		if (op_failed(status))
			break;
		count++;
	}
	if (count)
		print_discarded(opts, count, bytes);
	return op_failed(status) ? cli_fail(err) : cli_flush();
}

static int run_discard(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, discard);
}

const struct cli_command cmd_discard = {
	.name = "discard",
	.args = "[--json] DRAFT...",
	.max_args = CLI_ANY,
	.options_anywhere = true,
	.summary = "remove drafts with their changes",
	.description =
		"Removes drafts that ringfence exec --draft has made. The project is not changed.",
	.options = discard_options,
	.sections = discard_sections,
	.run = run_discard,
};
