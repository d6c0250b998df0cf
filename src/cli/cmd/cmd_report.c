/* ringfence report: report what a loop or a batch did. */
#include "batch/batch_client.h"
#include "cli/loops.h"
#include "cli/output_file.h"
#include "cli/view/color.h"
#include "cli/view/document_text.h"
#include "cli/view/notice.h"
#include "cli/view/page.h"
#include "report/report.h"
#include "util/clock.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_BYTES = 256 << 20 };

static const struct cli_option options[] = {
	OPTION_FLAG("html", "write one HTML page that needs nothing else", struct loops_options,
		    html),
	OPTION_FLAG("md", "write Markdown", struct loops_options, markdown),
	LOOPS_JSON,
	OPTION_TEXT("output", "FILE", "write to this file (-o)", struct loops_options, output),
	LOOPS_PROJECT,
	{ 0 },
};

static const struct cli_alias aliases[] = { { "-o", "--output" }, { 0 } };

static const struct cli_section sections[] = {
	{ "EXAMPLES",
	  "  ringfence report\n"
	  "  ringfence report --html -o report.html\n"
	  "  ringfence report --md 20260102-030405-abcd\n"
	  "  ringfence report --json | jq '.iterations[] | [.iteration, .cost_nusd]'\n" },
	{ 0 },
};

/* Writes a report to the file, or prints it. Returns the exit status. */
static int put(const struct loops_options *opts, struct buffer *text, struct error *err)
{
	buffer_text(text);
	if (buffer_overflowed(text)) {
		error_set(err, "the report would have more than %d MiB", MOST_BYTES >> 20);
		return cli_fail(err);
	}
	if (!opts->output) {
		fwrite(text->data, 1, text->used, stdout);
		return cli_flush();
	}
	if (output_file_put("--output", opts->output, text, err) < 0)
		return cli_fail(err);
	notice_format("written: %s", opts->output);
	return 0;
}

static int put_json(const struct loops_options *opts, json_t *object, struct error *err)
{
	/* Escape control characters as \uNNNN, so that a terminal does not obey them. */
	AUTO_FREE char *text = json_dumps(object, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	AUTO_BUFFER struct buffer out = BUFFER_INIT(MOST_BYTES);

	json_decref(object);
	buffer_printf(&out, "%s\n", text ? text : "{}");
	return put(opts, &out, err);
}

static int put_html(const struct loops_options *opts, const struct document *document,
		    struct error *err)
{
	AUTO_HTML struct html html = HTML_INIT(MOST_BYTES);

	document_html(document, &html);
	return put(opts, &html.out, err);
}

static int put_document(const struct loops_options *opts, const struct document *document,
			struct error *err)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(MOST_BYTES);

	if (opts->html)
		return put_html(opts, document, err);
	if (opts->markdown)
		document_markdown(document, &out);
	else
		document_text_write(document, opts->output ? 0 : page_width(),
				    !opts->output && color_wanted(), &out);
	return put(opts, &out, err);
}

static int report_loop(struct loops_options *opts, struct error *err)
{
	struct report report;
	struct document document;
	int code;

	if (report_read(opts->place.state, &opts->loop, clock_wall_ms(), &report, err) < 0)
		return cli_fail(err);
	if (opts->json) {
		code = put_json(opts, report_json(&report), err);
	} else {
		report_document(&report, &document);
		code = put_document(opts, &document, err);
		document_release(&document);
	}
	report_release(&report);
	return code;
}

static int report_batch(const struct loops_options *opts, const struct batch_client *batch,
			struct error *err)
{
	const char *state = opts->place.state;
	struct document document;
	int code;

	if (batch->damaged) {
		error_set(err, "%s", batch->trouble);
		return cli_fail(err);
	}
	if (opts->json)
		return put_json(opts, report_batch_json(state, batch, clock_wall_ms()), err);
	report_batch_document(state, batch, clock_wall_ms(), &document);
	code = put_document(opts, &document, err);
	document_release(&document);
	return code;
}

/* An id is that of a loop or of a batch. */
static int report(struct loops_options *opts, struct error *err)
{
	struct batch_client batch;
	struct error ignored;
	int code;

	if (opts->html + opts->markdown + opts->json > 1) {
		error_set(err, "use one of --html, --md and --json");
		return cli_fail(err);
	}
	if (opts->rest[0] &&
	    batch_client_find(opts->place.state, opts->rest[0], NULL, &batch, &ignored) == 0) {
		code = report_batch(opts, &batch, err);
		batch_client_release(&batch);
		return code;
	}
	return loops_find_readable(opts, err) < 0 ? cli_fail(err) : report_loop(opts, err);
}

static int run_report(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, report);
}

const struct cli_command cmd_report = {
	.name = "report",
	.args = "[--html|--md|--json] [-o FILE] [LOOP|BATCH]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "report what a loop or a batch did",
	.description =
		"Reports the result, the checks, what was changed, each iteration with its cost and time, "
		"the models and tools that were used, the hosts, the denials and the findings. The HTML "
		"page runs no script and loads nothing, so it can be opened anywhere and sent by mail.",
	.options = options,
	.aliases = aliases,
	.sections = sections,
	.run = run_report,
};
