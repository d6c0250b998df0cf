/* How agents and checks ended: see event_run.h. */
#include "cli/view/event_run.h"

#include "cli/view/cost_text.h"
#include "cli/view/event_found.h"
#include "cli/view/page.h"
#include "util/buffer.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <string.h>

enum { LAST_LINE_INDENT = 4 };

/* Prints the gateway's count, and the agent's own if it differs: agents use their own prices and
 * leave out their subagents. */
void event_run_cost(struct event_text *view, const json_t *data)
{
	const json_t *metered = json_object_get(data, "metered");
	const struct cost_text_use use = {
		.requests = (uint64_t)jsonget_number(metered, "requests"),
		.free_requests = (uint64_t)jsonget_number(metered, "free_requests"),
		.input = (uint64_t)jsonget_number(metered, "input"),
		.output = (uint64_t)jsonget_number(metered, "output"),
		.cost_nusd = (uint64_t)jsonget_number(data, "cost_nusd"),
		.estimated_nusd = (uint64_t)jsonget_number(metered, "estimated_nusd"),
		.replay = jsonget_flag(metered, "replay")
	};
	AUTO_FREE char *words = metered ? cost_text(&use) : NULL;
	uint64_t reported = (uint64_t)jsonget_number(data, "agent_cost_nusd");

	if (words && reported && reported != use.cost_nusd)
		event_text_print(view, "  %s; the agent reports US$ %.4f", words,
				 (double)reported / 1e9);
	else if (words)
		event_text_print(view, "  %s", words);
	else if (!metered && use.cost_nusd)
		event_text_print(view, "  the agent reports a cost of US$ %.4f",
				 (double)use.cost_nusd / 1e9);
}

/* Returns the names of failed tests, or else the last line of the output. The caller frees it. */
static char *failure_line(const json_t *data)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);
	const json_t *failing = json_object_get(data, "failing");
	long long more = jsonget_number(data, "failing_count") -
			 (long long)json_array_size(failing);
	size_t index;
	const json_t *name;

	json_array_foreach(failing, index, name)
	{
		buffer_printf(&text, "%s%s", index ? ", " : "failing: ", json_string_value(name));
	}
	if (more > 0)
		buffer_printf(&text, " and %lld more", more);
	return mem_dup(text.used ? buffer_text(&text) : jsonget_text(data, "last_line"));
}

/* Prints the failed tests or the last line of a failed command, and once the command that shows the
 * full output. */
static void print_last_line(struct event_text *view, const json_t *data, const char *command,
			    bool *hinted)
{
	AUTO_FREE char *line = failure_line(data);
	int width = page_width();
	size_t size = width ? page_first(line, width - LAST_LINE_INDENT) : strlen(line);

	if (!*line)
		return;
	event_text_print(view, "%*s%.*s", LAST_LINE_INDENT, "", (int)size, line);
	if (!*hinted)
		event_text_print(view, "%*s(full output: %s)", LAST_LINE_INDENT, "", command);
	*hinted = true;
}

/* Prints the requests that the gateway refused, which the agent may not have reported. */
static void print_refused(struct event_text *view, const json_t *data)
{
	int refused = (int)jsonget_number(data, "policy_refused");

	if (refused)
		event_text_paint(view, COLOR_RED,
				 "  refused by the gateway: %d request%s to a model, and the agent "
				 "went on: %s",
				 refused, refused == 1 ? "" : "s",
				 jsonget_text(data, "policy_why"));
	if (strcmp(jsonget_text(data, "error"), failure_row(FAILURE_RUNAWAY)->stream_name) == 0)
		event_text_paint(view, COLOR_RED, "  %s", jsonget_text(data, "unreached"));
}

void event_run_ended(struct event_text *view, const json_t *data)
{
	double seconds = (double)jsonget_number(data, "duration_ms") / 1000;
	int signal = (int)jsonget_number(data, "signal");
	const char *error = jsonget_text(data, "error");
	const char *limit = jsonget_text(data, "limit");
	const char *refused = jsonget_text(data, "refused_why");
	bool printed = view->lines.open; /* its last line is already there */

	event_text_end_agent(view);
	event_run_cost(view, data);
	if (*error && strcmp(error, "none") != 0 && *jsonget_text(data, "message") &&
	    !*jsonget_text(data, "unreached") && /* reported with the decision */
	    !(*refused && strstr(jsonget_text(data, "message"), refused)))
		event_text_print(view, "  the agent reports (%s): %.300s", error,
				 jsonget_text(data, "message"));
	if (*refused)
		event_text_print(view, "  the agent exited after %.1f s: %s", seconds, refused);
	else if (jsonget_flag(data, "over_budget"))
		event_text_print(
			view,
			"  the agent was stopped after %.1f s: it had used up its budget (%s)",
			seconds, limit);
	else if (jsonget_flag(data, "timed_out"))
		event_text_print(view, "  the agent timed out after %.1f s (%s)", seconds, limit);
	else if (jsonget_flag(data, "idle"))
		event_text_print(
			view, "  the agent was stopped after %.1f s: no output for too long (%s)",
			seconds, limit);
	else if (signal)
		event_text_print(view, "  the agent was killed by signal %d after %.1f s", signal,
				 seconds);
	else
		event_text_print(view, "  the agent exited with status %d after %.1f s",
				 (int)jsonget_number(data, "code"), seconds);
	if (!printed && !*jsonget_text(data, "message")) /* the agent's own message is better */
		print_last_line(view, data, "ringfence logs", &view->hinted_logs);
	if (*jsonget_text(data, "not_recorded"))
		event_text_print(view, "  %s", jsonget_text(data, "not_recorded"));
	print_refused(view, data);
	event_found_print(view, data, "");
}

void event_run_checked(struct event_text *view, const json_t *data)
{
	const char *word = jsonget_flag(data, "vacuous")  ? "ran nothing, so it does not pass"
			   : jsonget_flag(data, "passed") ? "passes"
							  : "fails";
	AUTO_FREE char *name = mem_format("check-%d.", (int)jsonget_number(data, "index") + 1);

	if (*jsonget_text(data, "unproven"))
		event_text_paint(view, COLOR_RED, "  check '%s' exits 0, but does not pass: %s",
				 jsonget_text(data, "command"), jsonget_text(data, "unproven"));
	else if (jsonget_flag(data, "passed"))
		event_text_paint(view, COLOR_GREEN, "  check '%s' %s",
				 jsonget_text(data, "command"), word);
	else if (*jsonget_text(data, "limit"))
		event_text_print(view, "  check '%s' timed out (%s)", jsonget_text(data, "command"),
				 jsonget_text(data, "limit"));
	else
		event_text_paint(view, COLOR_RED, "  check '%s' %s (status %d)%s",
				 jsonget_text(data, "command"), word,
				 (int)jsonget_number(data, "code"),
				 jsonget_flag(data, "new")
					 ? "; it passed before the first iteration"
					 : "");
	if (json_object_get(data, "own"))
		event_text_print(view, "    with the agent's version of pinned files, it %s",
				 jsonget_flag(json_object_get(data, "own"), "passed") ? "passes"
										      : "fails");
	if (*jsonget_text(data, "unviewed") && !jsonget_number(data, "index"))
		event_text_print(view, "  the checks change the project, and nothing is pinned: %s",
				 jsonget_text(data, "unviewed"));
	print_last_line(view, data, "ringfence logs --checks", &view->hinted_checks);
	event_found_print(view, data, name);
}

void event_run_apart(struct event_text *view, const char *what, const json_t *data)
{
	bool passed = jsonget_flag(data, "passed") && !jsonget_flag(data, "vacuous");

	event_text_paint(view, passed ? COLOR_GREEN : COLOR_RED, "  %s '%s' %s", what,
			 jsonget_text(data, "command"), passed ? "passes" : "fails");
}
