/* ringfence serve: show all loops in a web browser; and its internal processes. */
#include "cli/cli.h"
#include "cli/loops.h"
#include "fence/fence_place.h"
#include "serve/answer/web_answer.h"
#include "serve/answer/web_watch.h"
#include "serve/web_start.h"
#include "settings/effective.h"
#include "util/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct serve_options {
	const char *port, *host;
	const char *project;
	bool link, metrics_token;
};

static const struct cli_option options[] = {
	OPTION_TEXT("port", "N",
		    "listen on this port, 0: any free one (default: the last one, or 7433)",
		    struct serve_options, port),
	OPTION_TEXT("host", "HOST", "listen on localhost, 127.0.0.1 or ::1 (default: 127.0.0.1)",
		    struct serve_options, host),
	OPTION_FLAG("link", "print a new link to the server that is running", struct serve_options,
		    link),
	OPTION_FLAG("metrics-token", "print the token that reads /metrics, and nothing else",
		    struct serve_options, metrics_token),
	OPTION_PROJECT(struct serve_options, project),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXAMPLES",
	  "  ringfence serve\n"
	  "  xdg-open \"$(ringfence serve --link)\"\n"
	  "  ssh -L 7433:127.0.0.1:7433 HOST     then open the link in a browser here\n"
	  "  token=$(ringfence serve --metrics-token)\n"
	  "  curl -H \"Authorization: Bearer $token\" http://localhost:7433/metrics\n" },
	{ 0 },
};

static int read_port(const char *text, int *ret_port, struct error *err)
{
	uint64_t port = 0;

	*ret_port = WEB_START_ANY;
	if (!text)
		return 0;
	if (strcmp(text, "0") != 0 && (text_count(text, &port) < 0 || port > 65535))
		return error_set(err, "--port must be a number up to 65535, not '%.40s'", text);
	*ret_port = (int)port;
	return 0;
}

static int print_link(const char *state, struct error *err)
{
	char *link;

	if (web_start_link(state, &link, err) < 0)
		return -1;
	puts(link);
	free(link);
	return 0;
}

static int print_metrics_token(const char *state, struct error *err)
{
	char token[WEB_KEYS_TOKEN];

	if (web_start_metrics(state, token, err) < 0)
		return -1;
	puts(token);
	return 0;
}

/* A second server would show the same: the link of the first one is as good. */
static int show_running(const char *state, struct error *err)
{
	char *link;

	if (web_start_link(state, &link, err) < 0)
		return -1;
	printf("The server is running already. Open this link, which logs in once:\n\n  %s\n",
	       link);
	free(link);
	return 0;
}

static int serve(const struct serve_options *opts, const char *state, struct error *err)
{
	struct web_start_request request = { .state = state,
					     .host = opts->host ? opts->host : "127.0.0.1" };
	struct web_start start;

	if (read_port(opts->port, &request.port, err) < 0)
		return -1;
	if (web_start_prepare(&request, &start, err) < 0)
		return err->status == ERROR_EXISTS ? show_running(state, err) : -1;
	printf("Open this link in a browser on this machine; it logs in once:\n\n  %s\n\n"
	       "ringfence serve --link prints another one. Ctrl-C stops the page; loops go on.\n",
	       start.link);
	fflush(stdout);
	return web_start_run(&start, err);
}

static int act(const struct serve_options *opts, const char *state, struct error *err)
{
	if (opts->link)
		return print_link(state, err);
	if (opts->metrics_token)
		return print_metrics_token(state, err);
	return serve(opts, state, err);
}

static int run_serve(const struct cli_command *command, char **argv)
{
	struct serve_options opts = { 0 };
	struct fence_place place;
	struct error err;
	int code, result;

	if (!cli_parse(command, argv, &opts, &code))
		return code;
	if (effective_find(opts.project, &place, &err) < 0)
		return cli_fail(&err);
	result = act(&opts, place.state, &err);
	fence_place_release(&place);
	return result < 0 ? cli_fail(&err) : cli_flush();
}

const struct cli_command cmd_serve = {
	.name = "serve",
	.args = "[--port N] [--link]",
	.max_args = 0,
	.options_anywhere = true,
	.summary = "show all loops in a web browser",
	.description =
		"Serves a page to browsers on this machine: all loops and work lists, what they do now, "
		"their cost, transcripts, changes, and the actions of a person. It prints a link that logs "
		"in once. The server can be stopped at any time; loops do not notice it. See "
		"docs/serve.md.",
	.options = options,
	.sections = sections,
	.run = run_serve,
};

static const struct cli_option no_options[] = { { 0 } };

static int run_part(const struct cli_command *command, char **argv)
{
	const struct fence_place nowhere = { 0 };
	const struct web_answer_request request = { .state = argv[1] ? argv[2] : NULL,
						    .input = STDIN_FILENO,
						    .output = STDOUT_FILENO,
						    .before = loops_prepare,
						    .context = &nowhere };
	struct error err;
	int result;

	(void)command;
	if (argv[1] && argv[2] && strcmp(argv[1], "answer") == 0)
		result = web_answer_run(&request, &err);
	else if (argv[1] && argv[2] && strcmp(argv[1], "watch") == 0)
		result = web_watch_run(argv[2], STDIN_FILENO, STDOUT_FILENO, &err);
	else
		result = error_set(&err, "serve-part is an internal command; use ringfence serve");
	return result < 0 ? cli_fail(&err) : 0;
}

const struct cli_command cmd_serve_part = {
	.name = "serve-part",
	.args = "answer|watch STATE",
	.max_args = 2,
	.summary = "answer a request of the web page",
	.description = "An internal command that the server of the web page starts.",
	.options = no_options,
	.run = run_part,
};
