/* ringfence history: list the iterations of a loop with verdict and reason. */
#include "cli/loops.h"
#include "cli/view/edited_text.h"
#include "cli/view/estimate_text.h"
#include "cli/view/page.h"
#include "cli/view/trial_text.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"
#include "view/view_history.h"

#include <stdio.h>
#include <string.h>

static const struct cli_option options[] = { LOOPS_JSON, LOOPS_PROJECT, { 0 } };

static const struct cli_section sections[] = {
	{ "EXAMPLES", "  ringfence history --json | jq '.iterations[].reasons'\n" },
	{ 0 },
};

/* Returns how the agent ended, in a word or two. The caller frees it. */
static char *agent_of(const json_t *entry)
{
	if (!json_object_get(entry, "code"))
		return mem_dup("-");
	if (jsonget_flag(entry, "over_budget"))
		return mem_dup("budget");
	if (jsonget_flag(entry, "timed_out"))
		return mem_dup("timeout");
	if (jsonget_flag(entry, "idle"))
		return mem_dup("silent");
	return jsonget_number(entry, "signal")
		       ? mem_format("signal %d", (int)jsonget_number(entry, "signal"))
		       : mem_format("exit %d", (int)jsonget_number(entry, "code"));
}

/* Returns how many checks passed, such as "1/2". The caller frees it. */
static char *checks_of(const json_t *entry)
{
	const json_t *checks = json_object_get(entry, "checks");
	size_t passed = 0;
	size_t index;
	const json_t *check;

	json_array_foreach(checks, index, check)
		passed += jsonget_flag(check, "passed") && !jsonget_flag(check, "vacuous");
	return json_array_size(checks) ? mem_format("%zu/%zu", passed, json_array_size(checks))
				       : mem_dup("-");
}

/* Returns the duration as text. The caller frees it. */
static char *time_of(const json_t *entry)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);
	json_int_t ms = jsonget_number(entry, "duration_ms");

	if (!ms && json_object_get(entry, "ended_ms"))
		ms = jsonget_number(entry, "ended_ms") - jsonget_number(entry, "began_ms");
	if (!ms)
		return mem_dup("-");
	if (ms < 60000)
		return mem_format("%.1fs", (double)ms / 1000);
	text_add_duration(&text, (uint64_t)ms / 1000 * 1000);
	return mem_dup(buffer_text(&text));
}

/* Returns the reason of the verdict, and that the agent did nothing if so. The caller frees it. */
static char *why_of(const json_t *entry)
{
	const char *reason = jsonget_string(entry, "reason");
	AUTO_FREE char *shown = text_escaped(reason ? reason : "");
	const char *idle = loops_failure_text(entry);

	return mem_format("%s%s%s", shown, *shown && idle ? "; " : "", idle ? idle : "");
}

/* Prints the reason beside the numbers if the terminal is wide enough, otherwise below them. */
static void print_why(const char *why)
{
	enum { COLUMN = 66, LEAST = 34, BELOW = 7 };
	bool beside = page_width() == 0 || page_width() >= COLUMN + LEAST;

	if (!beside)
		printf("\n");
	printf("%*s", beside ? 2 : BELOW, "");
	page_print(why, beside ? COLUMN : BELOW);
}

static bool is_estimated(const json_t *entry)
{
	return jsonget_number(entry, "estimated_nusd") > 0;
}

static void print_iteration(const json_t *entry)
{
	json_int_t attempt = jsonget_number(entry, "attempt");
	AUTO_FREE char *name =
		attempt > 1
			? mem_format("%d.%d", (int)jsonget_number(entry, "iteration"), (int)attempt)
			: mem_format("%d", (int)jsonget_number(entry, "iteration"));
	AUTO_FREE char *agent = agent_of(entry);
	AUTO_FREE char *checks = checks_of(entry);
	AUTO_FREE char *spent =
		json_object_get(entry, "cost_nusd")
			? mem_format("%.4f%s", (double)jsonget_number(entry, "cost_nusd") / 1e9,
				     is_estimated(entry) ? "~" : "")
			: mem_dup("-");
	AUTO_FREE char *lasted = time_of(entry);
	AUTO_FREE char *why = why_of(entry);

	printf("%-6s %-11s  %-9s  %6s  %7s  %6d  %8s", name, jsonget_string(entry, "verdict"),
	       agent, checks, lasted, (int)jsonget_number(entry, "denials"), spent);
	print_why(why);
}

/* Prints a line below an iteration. */
static void print_below(const char *text)
{
	enum { INDENT = 7 };
	AUTO_FREE char *shown = text_escaped(text);

	printf("%*s", INDENT, "");
	page_print(shown, INDENT);
}

/* Prints the beginning of each message or alert, after what it is. */
static void print_told(const json_t *messages, const char *what)
{
	size_t index;
	const json_t *message;

	json_array_foreach(messages, index, message)
	{
		char shown[TOLD_SHORT];

		told_shorten(json_string_value(message), shown, sizeof shown);

		AUTO_FREE char *text = mem_format("%s: %s", what, shown);

		print_below(text);
	}
}

/* Prints the agent's trouble with git. */
static void print_trouble(const json_t *entry)
{
	size_t index;
	const json_t *text;

	json_array_foreach(json_object_get(entry, "git"), index, text)
		print_below(json_string_value(text));
}

/* Prints what a reviewer found, or why it had no opinion. */
static void print_review(const json_t *review)
{
	const json_t *findings = json_object_get(review, "findings");
	const char *unreadable = jsonget_string(review, "unreadable");
	AUTO_FREE char *found = findings                       ? loops_review_text(findings)
				: jsonget_flag(review, "lost") ? mem_dup("cut off, and repeated")
				: unreadable ? mem_format("no opinion: %s", unreadable)
					     : mem_format("no opinion: %s",
							  jsonget_text(review, "error"));
	AUTO_FREE char *text = mem_format("review, US$ %.4f: %s",
					  (double)jsonget_number(review, "cost_nusd") / 1e9, found);
	size_t index;
	const json_t *finding;

	print_below(text);
	json_array_foreach(findings, index, finding)
	{
		AUTO_FREE char *line = loops_finding_text(finding);

		print_below(line);
	}
}

/* Prints the phase of the iteration, if the loop has phases, and its agent, if it has several. */
static void print_agent(const json_t *entry)
{
	bool both = json_object_get(entry, "phase") && json_object_get(entry, "agent");
	AUTO_FREE char *text = mem_format("%s%s%s%s%s",
					  json_object_get(entry, "phase") ? "phase " : "",
					  jsonget_text(entry, "phase"), both ? ", " : "",
					  json_object_get(entry, "agent") ? "by " : "",
					  jsonget_text(entry, "agent"));

	if (*text)
		print_below(text);
}

static void print_reviews(const json_t *entry)
{
	size_t index;
	const json_t *review;

	json_array_foreach(json_object_get(entry, "reviews"), index, review) print_review(review);
}

/* Prints how many mutants were noticed, and the lines that are untested. */
static void print_mutants(const json_t *entry)
{
	const json_t *mutants = json_object_get(entry, "mutants");
	AUTO_FREE char *text = trial_text_mutants(mutants);
	size_t index;
	const json_t *finding;

	if (!mutants)
		return;
	print_below(text);
	json_array_foreach(json_object_get(mutants, "untested"), index, finding)
	{
		AUTO_FREE char *line = trial_text_untested(finding);

		print_below(line);
	}
}

static void print_table(const json_t *list)
{
	size_t index;
	const json_t *entry;
	bool estimated = false;

	if (!json_array_size(list)) {
		puts("no iteration has begun yet");
		return;
	}
	printf("%-6s %-11s  %-9s  %6s  %7s  %6s  %8s", "", "verdict", "agent", "checks", "time",
	       "denied", "US$");
	print_why("why");
	json_array_foreach(list, index, entry)
	{
		print_iteration(entry);
		print_agent(entry);
		print_told(json_object_get(entry, "told"), "you told it");
		print_told(json_object_get(entry, "alerts"), "ALERT");
		print_trouble(entry);
		print_mutants(entry);
		print_reviews(entry);
		estimated |= is_estimated(entry);
	}
	if (estimated)
		puts("\n~ partly or wholly estimated: an answer was cut off or never came, or a "
		     "process was killed");
}

static void print_comparison(const struct client_loop *loop)
{
	AUTO_FREE char *line = estimate_text_compare(loop);

	if (line && loop->state.iteration) {
		puts("");
		page_print(line, 0);
	}
}

static int show(struct loops_options *opts, struct error *err)
{
	struct view_history history;

	if (loops_find(opts, err) < 0 || view_history_read(&opts->loop, &history, err) < 0)
		return cli_fail(err);
	if (opts->json) {
		loops_print(json_pack("{s:s, s:o, s:O, s:O?, s:I, s:I}", "id", opts->loop.id,
				      "iterations", history.list, "told", history.told, "estimate",
				      json_object_get(opts->loop.state.config, "estimate"),
				      "spent_nusd", (json_int_t)opts->loop.state.spent_nusd,
				      "worked_ms",
				      (json_int_t)estimate_text_worked_ms(&opts->loop)));
	} else {
		AUTO_FREE char *draft = loops_draft_text(opts->place.state, &opts->loop);
		AUTO_FREE char *edited = edited_text_sentence(opts->loop.state.edited);

		print_table(history.list);
		print_told(history.told, "you told the agent, for a prompt to come");
		print_comparison(&opts->loop);
		if (draft)
			printf("\n%s\n", draft);
		if (edited)
			printf("%s\n", edited);
		json_decref(history.list);
	}
	json_decref(history.told);
	return cli_flush();
}

static int run_history(const struct cli_command *command, char **argv)
{
	return loops_run(command, argv, show);
}

const struct cli_command cmd_history = {
	.name = "history",
	.args = "[--json] [LOOP]",
	.max_args = 1,
	.options_anywhere = true,
	.summary = "list the iterations of a loop with verdict and reason",
	.description =
		"Prints one line per iteration, and per interrupted attempt, which does not count: the "
		"verdict, how the agent ended, how many checks passed, how long the agent worked, how "
		"many denials it met, the cost, and the reason. For the output of the checks see "
		"ringfence logs --checks.",
	.options = options,
	.sections = sections,
	.run = run_history,
};
