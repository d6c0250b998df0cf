/* ringfence drafts and ringfence discard: list and remove drafts. */
#include "cli/drafts.h"

#include "ops/op_draft.h"
#include "util/clock.h"
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

static const char *state_of(const struct draft_record *record)
{
	if (draft_record_is_busy(record))
		return "running";
	return draft_record_is_interrupted(record) ? "interrupted" : "finished";
}

static json_t *record_json(const struct draft_record *record)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:s, s:o}", "id", record->id, "project",
			 record->project, "command", record->command, "began_ms",
			 (json_int_t)record->began_ms, "state", state_of(record), "exit",
			 record->code == DRAFT_RECORD_NONE ? json_null()
							   : json_integer(record->code));
}

static void print_record(const struct draft_record *record, bool all)
{
	AUTO_FREE char *command = text_escaped(record->command);
	AUTO_FREE char *project = text_escaped(record->project);

	printf("%s  %-11s  %s%s%s\n", record->id, state_of(record), command, all ? "  in " : "",
	       all ? project : "");
}

static void print_json(const struct loops_options *opts, const struct draft_records *records)
{
	json_t *list = json_array();

	for (size_t i = 0; i < records->count; i++)
		if (opts->all || strcmp(records->items[i].project, opts->place.project) == 0)
			json_array_append_new(list, record_json(&records->items[i]));
	loops_print(json_pack("{s:o}", "drafts", list));
}

static int print_list(struct loops_options *opts, struct error *err)
{
	struct draft_records records;
	size_t shown = 0;

	if (draft_record_list(opts->place.state, &records, err) < 0)
		return cli_fail(err);
	if (opts->json)
		print_json(opts, &records);
	for (size_t i = 0; !opts->json && i < records.count; i++) {
		if (!opts->all && strcmp(records.items[i].project, opts->place.project) != 0)
			continue;
		print_record(&records.items[i], opts->all);
		shown++;
	}
	if (!opts->json && !shown)
		printf("no drafts%s (make one: ringfence exec --draft -- COMMAND)\n",
		       opts->all ? "" : " of this project");
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
	.summary = "list drafts",
	.description =
		"Lists the drafts that ringfence exec --draft has made: changes that wait until "
		"you take them over (ringfence apply DRAFT) or drop them (ringfence discard "
		"DRAFT).",
	.options = options,
	.run = run_drafts,
};

/* ---- discard ---- */

static const struct cli_option discard_options[] = {
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_section discard_sections[] = {
	{ "EXAMPLES", "  ringfence discard 20260102-030405-abcd\n" },
	{ 0 },
};

static int discard(struct loops_options *opts, struct error *err)
{
	uint64_t bytes = 0;
	size_t count = 0;

	if (!opts->rest[0]) {
		error_set(err, "discard needs a draft (see: ringfence drafts)");
		return cli_fail(err);
	}
	for (; opts->rest[count]; count++)
		if (op_failed(op_draft_discard(opts->place.state, opts->rest[count], &bytes, err)))
			return cli_fail(err);
	printf("%zu draft%s removed, %llu %s freed\n", count, count == 1 ? "" : "s",
	       (unsigned long long)(bytes >> 20 ? bytes >> 20 : bytes >> 10),
	       bytes >> 20 ? "MiB" : "KiB");
	return cli_flush();
}

static int run_discard(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, discard);
}

const struct cli_command cmd_discard = {
	.name = "discard",
	.args = "DRAFT...",
	.max_args = CLI_ANY,
	.options_anywhere = true,
	.summary = "remove drafts with their changes",
	.description =
		"Removes drafts that ringfence exec --draft has made. The project is not changed.",
	.options = discard_options,
	.sections = discard_sections,
	.run = run_discard,
};
