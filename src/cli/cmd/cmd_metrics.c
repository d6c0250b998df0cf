/* ringfence metrics: print the state of all loops and batches for Prometheus. */
#include "cli/cli.h"
#include "cli/output_file.h"
#include "fence/fence_place.h"
#include "report/metrics.h"
#include "settings/effective.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/text/text.h"

#include <stdio.h>

enum { MOST_BYTES = 64 << 20 };

struct metrics_options {
	const char *textfile, *newest;
	const char *project;
};

static const struct cli_option options[] = {
	OPTION_TEXT("textfile", "FILE", "write to this file, which is replaced atomically",
		    struct metrics_options, textfile),
	OPTION_TEXT(
		"newest", "N",
		"include this many loops and batches that have ended, besides all others (default: 20)",
		struct metrics_options, newest),
	OPTION_PROJECT(struct metrics_options, project),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES",
	  "  ringfence metrics | promtool check metrics\n"
	  "  ringfence metrics --textfile /var/lib/prometheus/node-exporter/ringfence.prom\n" },
	{ 0 },
};

static int show(const struct metrics_options *opts, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);
	uint64_t newest = METRICS_NEWEST;
	struct fence_place place;
	int result;

	if (opts->newest && text_count(opts->newest, &newest) < 0)
		return error_set(err, "--newest must be a number above 0, not '%.40s'",
				 opts->newest);
	if (effective_find(opts->project, &place, err) < 0)
		return -1;
	result = metrics_write(place.state, newest, clock_wall_ms(), &text, err);
	fence_place_release(&place);
	if (result < 0)
		return -1;
	buffer_text(&text);
	if (buffer_overflowed(&text))
		return error_set(err, "the metrics would have more than %d MiB", MOST_BYTES >> 20);
	if (opts->textfile)
		return output_file_put("--textfile", opts->textfile, &text, err);
	fwrite(text.data, 1, text.used, stdout);
	return 0;
}

static int run_metrics(const struct cli_command *command, char **argv)
{
	struct metrics_options opts = { 0 };
	struct error err;
	int code;

	if (!cli_parse(command, argv, &opts, &code))
		return code;
	return show(&opts, &err) < 0 ? cli_fail(&err) : cli_flush();
}

const struct cli_command cmd_metrics = {
	.name = "metrics",
	.args = "[--textfile FILE] [--newest N]",
	.max_args = 0,
	.options_anywhere = true,
	.summary = "print the state of all loops and batches for Prometheus",
	.description =
		"Prints a metric per line, for Prometheus or anything that reads its text format. With "
		"--textfile, a timer can write a file for the textfile collector of node_exporter. A "
		"dashboard and alert rules are in packaging/monitoring.",
	.options = options,
	.sections = sections,
	.run = run_metrics,
};
