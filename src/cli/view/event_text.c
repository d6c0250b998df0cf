/* The events of a loop as text: see event_text.h. */
#include "cli/view/event_text.h"

#include "alert/alert.h"
#include "cli/loops.h"
#include "cli/view/cost_text.h"
#include "cli/view/edited_text.h"
#include "cli/view/page.h"
#include "cli/view/trial_text.h"
#include "failure/failure.h"
#include "settings/effective_models.h"
#include "util/buffer.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"
#include "view/view_denials.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LAST_LINE_INDENT = 4 };

void event_text_object(struct event_text *view, json_t *object)
{
	loops_print_line(object);
	view->at = time(NULL);
}

/* Prints an event as JSON. Takes ownership of the data. */
static void print_raw(struct event_text *view, const struct journal_event *event, json_t *data)
{
	static const char *const inner[] = { "breakers", "snapshot", "excerpt", "reflection" };
	json_t *line = json_pack("{s:s, s:I, s:I}", "event", event->kind, "seq",
				 (json_int_t)event->seq, "at_ms", (json_int_t)event->at_ms);

	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		json_object_del(data, inner[i]);
	if (json_object_get(data, "config")) { /* the caller knows its own request */
		json_object_clear(data);
		json_object_set_new(data, "id", json_string(view->loop->id));
		json_object_set_new(data, "project",
				    json_string(view->loop->state.options.project));
	}
	json_object_update_missing(line, data);
	json_decref(data);
	event_text_object(view, line);
}

static void print_line(struct event_text *view, enum color colour, const char *line, int indent)
{
	if (view->live)
		live_hide(view->live);
	page_print_line(colour, line, indent);
	view->printed++;
	view->at = time(NULL);
}

void event_text_paint(struct event_text *view, enum color colour, const char *format, ...)
{
	char text[4096];
	va_list arguments;

	if (view->json)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	print_line(view, colour, text, (int)strspn(text, " ") + 2);
}

static void begin_agent(struct event_text *view, unsigned int iteration, unsigned int attempt)
{
	view->iteration = iteration;
	view->attempt = attempt;
	agent_text_begin(&view->agent, view->loop, (int)iteration, (int)attempt);
	if (!view->agent.path)
		agent_lines_begin(&view->lines, view->loop, iteration, attempt);
}

void event_text_join(struct event_text *view)
{
	const struct loop_state *state = &view->loop->state;

	if (view->json || view->quiet || state->step != LOOP_STEP_agent)
		return;
	begin_agent(view, state->iteration, state->attempt);
	agent_text_skip(&view->agent);
	if (view->lines.open)
		agent_lines_skip(&view->lines);
}

static void print_begun(struct event_text *view, const json_t *data, int64_t at_ms)
{
	const struct loop_state *state = &view->loop->state;
	const struct decision_limits *limits = &state->options.limits;
	AUTO_BUFFER struct buffer left = BUFFER_INIT(256);
	int64_t left_ms = limits->total_s * 1000 - (at_ms - state->created_ms - state->rested_ms);

	if (limits->iterations)
		buffer_printf(&left, " of %u", limits->iterations);
	if ((int)jsonget_number(data, "attempt") > 1)
		buffer_printf(&left, ", attempt %d", (int)jsonget_number(data, "attempt"));
	if (limits->total_s && left_ms > 60000) {
		buffer_add_text(&left, ", time left ");
		text_add_duration(&left, (uint64_t)left_ms / 60000 * 60000);
	}
	if (state->spent_nusd)
		buffer_printf(&left, ", US$ %.2f", (double)state->spent_nusd / 1e9);
	if (state->spent_nusd && limits->cost_nusd)
		buffer_printf(&left, " of %.2f", (double)limits->cost_nusd / 1e9);
	if (state->spent_nusd)
		buffer_printf(&left, "%s%s", state->options.replay ? " replayed" : " spent",
			      cost_text_mark(state->spent_nusd, state->estimated_nusd));
	event_text_paint(view, COLOR_BOLD, "iteration %d%s%s%s: running %s",
			 (int)jsonget_number(data, "iteration"), buffer_text(&left),
			 json_object_get(data, "phase") ? ", phase " : "",
			 jsonget_text(data, "phase"),
			 json_object_get(data, "agent") ? jsonget_text(data, "agent")
							: "the agent");
	begin_agent(view, (unsigned int)jsonget_number(data, "iteration"),
		    (unsigned int)jsonget_number(data, "attempt"));
}

static void end_agent(struct event_text *view)
{
	agent_text_end(&view->agent);
	agent_lines_end(&view->lines);
}

static void print_interrupted(struct event_text *view, const json_t *data)
{
	end_agent(view);
	event_text_print(view, "  iteration %d was interrupted%s; it does not count",
			 (int)jsonget_number(data, "iteration"),
			 jsonget_flag(data, "told")    ? " by your message"
			 : jsonget_flag(data, "alert") ? " by an alert"
						       : "");
}

/* Returns what an alert does besides being reported, or NULL. */
static const char *alert_does(const json_t *data)
{
	static const char *const does[] = { [ALERT_ASK] = "the loop pauses, and asks",
					    [ALERT_PAUSE] = "the loop pauses",
					    [ALERT_ABORT] = "the loop is aborted" };
	int action = alert_action_find(jsonget_text(data, "then"));

	return action > ALERT_NOTIFY ? does[action] : NULL;
}

/* Prints the beginning of a message of the user. */
static void print_told(struct event_text *view, const json_t *data)
{
	char text[TOLD_SHORT];

	told_shorten(jsonget_text(data, "text"), text, sizeof text);
	event_text_print(view, "  you told the agent%s: %s",
			 jsonget_flag(data, "now") ? ", without delay" : "", text);
}

/* Prints the gateway's count, and the agent's own if it differs: agents use their own prices and
 * leave out their subagents. */
static void print_cost(struct event_text *view, const json_t *data)
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

/* Prints the new or changed files that tools obey when they start, the first of each tool. */
static void print_flagged(struct event_text *view, const json_t *data)
{
	const json_t *flagged = json_object_get(data, "flagged");
	size_t index;
	const json_t *tool;

	if (json_array_size(flagged))
		event_text_print(view, "  review: tools run or obey these when they start");
	json_array_foreach(flagged, index, tool)
	{
		int more = (int)jsonget_number(tool, "files") - 1;
		AUTO_FREE char *others = more > 0 ? mem_format(" and %d more", more) : mem_dup("");

		event_text_print(view, "    %.100s: %.300s%s", jsonget_text(tool, "by"),
				 jsonget_text(tool, "path"), others);
	}
}

/* Appends how many denials there are of each sort: "3 writes outside the project, 1 connection".
 * Protected files are named, and harmless denials are left out. */
static void add_sorts(const json_t *sorts, struct buffer *out)
{
	static const struct {
		const char *sort, *one, *more;
	} words[] = {
		{ "outside", "write outside the project", "writes outside the project" },
		{ "inside", "write in the project", "writes in the project" },
		{ "read", "read", "reads" },
		{ "connect", "connection", "connections" },
		{ "call", "system call", "system calls" },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		int count = (int)jsonget_number(sorts, words[i].sort);

		if (count)
			buffer_printf(out, "%s%d %s", out->used ? ", " : "", count,
				      count == 1 ? words[i].one : words[i].more);
	}
}

/* Names every denial of a run. */
static void print_every_denial(struct event_text *view, const json_t *data, const char *name)
{
	enum { MOST = 50 };
	json_t *denials = json_object_get(data, "denied_sorts")
				  ? view_denials_read(view->loop, view->iteration, view->attempt,
						      name)
				  : NULL;
	size_t index;
	const json_t *denial;

	json_array_foreach(denials, index, denial)
	{
		AUTO_FREE char *line = view_denials_line(denial);

		if (index < MOST)
			event_text_print(view, "    %s", line);
	}
	if (json_array_size(denials) > MOST)
		event_text_print(view, "    and %zu more (ringfence logs --denials)",
				 json_array_size(denials) - MOST);
	json_decref(denials);
}

/* A path as the user would write it in the project. */
static const char *in_project(const struct event_text *view, const char *path)
{
	const char *rest = text_after_prefix(path, view->loop->state.options.project);

	return rest && *rest == '/' ? rest + 1 : path;
}

/* Prints what the fence denied: protected files by name, the rest as one line. `name` begins the
 * name of the run's report. */
static void print_denied(struct event_text *view, const json_t *data, const char *name)
{
	const json_t *sorts = json_object_get(data, "denied_sorts");
	const json_t *guarded = json_object_get(data, "denied_protected");
	int more = (int)jsonget_number(sorts, "protected") - (int)json_array_size(guarded);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1024);
	size_t index;
	const json_t *entry;

	json_array_foreach(guarded, index, entry)
		event_text_paint(view, COLOR_RED, "  denied: %s %.300s (protected)",
				 jsonget_text(entry, "kind"),
				 in_project(view, jsonget_text(entry, "target")));
	if (more > 0)
		event_text_paint(view, COLOR_RED, "  denied: %d more protected files", more);
	add_sorts(sorts, &text);
	if (text.used)
		event_text_print(view, "  blocked: %s%s", buffer_text(&text),
				 view->hinted_denials || view->verbose
					 ? ""
					 : " (names: ringfence logs --denials; to allow them: "
					   "ringfence suggest)");
	view->hinted_denials |= text.used > 0;
	if (view->verbose)
		print_every_denial(view, data, name);
}

/* Prints what the fence denied, quarantined and flagged; the first of each by name. */
static void print_found(struct event_text *view, const json_t *data, const char *name)
{
	const json_t *aside = json_object_get(data, "put_aside");
	size_t index;
	const json_t *entry;

	print_denied(view, data, name);
	if (json_array_size(aside))
		event_text_print(view, "  quarantined because the host would execute it: %d",
				 (int)jsonget_number(data, "quarantined"));
	json_array_foreach(aside, index, entry)
	{
		if (*jsonget_text(entry, "kept"))
			event_text_print(view, "    %.300s -> %.500s", jsonget_text(entry, "path"),
					 jsonget_text(entry, "kept"));
		else
			event_text_print(
				view,
				"    COULD NOT quarantine %.300s: remove it before you use this folder",
				jsonget_text(entry, "path"));
	}
	print_flagged(view, data);
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

static void print_ended(struct event_text *view, const json_t *data)
{
	double seconds = (double)jsonget_number(data, "duration_ms") / 1000;
	int signal = (int)jsonget_number(data, "signal");
	const char *error = jsonget_text(data, "error");
	const char *limit = jsonget_text(data, "limit");
	const char *refused = jsonget_text(data, "refused_why");
	bool printed = view->lines.open; /* its last line is already there */

	end_agent(view);
	print_cost(view, data);
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
	print_found(view, data, "");
}

static void print_edited(struct event_text *view, const json_t *paths, json_int_t count)
{
	AUTO_FREE char *shown = edited_text_paths(paths, (size_t)count);

	event_text_print(
		view,
		"  you changed in the project, beside the draft: %s; ringfence apply keeps "
		"your changes, or names conflicts",
		shown);
}

/* Prints only problems and notices: checkpoints are routine. */
static void print_checkpointed(struct event_text *view, const json_t *data)
{
	const json_t *left = json_object_get(data, "not_kept");
	const json_t *first = json_array_get(left, 0);
	const json_t *repaired = json_object_get(data, "repaired");
	const json_t *edited = json_object_get(data, "edited");

	if (json_object_get(data, "error"))
		event_text_print(view, "  could not take a checkpoint: %s",
				 jsonget_text(data, "error"));
	if (json_object_get(data, "notice"))
		event_text_print(view, "  checkpoint: %s", jsonget_text(data, "notice"));
	if (jsonget_flag(data, "recovered"))
		event_text_print(view, "  finished an interrupted rollback first");
	if (json_array_size(edited))
		print_edited(view, edited, jsonget_number(data, "edited_count"));
	if (json_array_size(repaired))
		event_text_print(
			view,
			"  restored from the last checkpoint: %zu files that were empty after a reboot (first: %s)",
			json_array_size(repaired), json_string_value(json_array_get(repaired, 0)));
	if (first && (int)jsonget_number(data, "number") == 0)
		event_text_print(
			view,
			"  not in checkpoint 0: %zu (first: %s: %s); a rollback leaves them alone",
			json_array_size(left), jsonget_text(first, "path"),
			jsonget_text(first, "why"));
}

/* Line 0 stands for the whole file. */
static void print_finding(struct event_text *view, const json_t *finding)
{
	long long line = (long long)jsonget_number(finding, "line");
	AUTO_FREE char *place = line ? mem_format(":%lld", line) : mem_dup("");

	event_text_print(view, "  %s%s: %s: %s", jsonget_text(finding, "path"), place,
			 jsonget_text(finding, "says"), jsonget_text(finding, "evidence"));
}

/* Names the changes that the checks do not see. */
static void print_pinned(struct event_text *view, const json_t *pinned)
{
	enum { SHOWN = 5 };
	size_t index;
	const json_t *file;

	json_array_foreach(pinned, index, file)
	{
		if (index == SHOWN)
			break;
		event_text_print(view, "  pinned: the checks %s '%s'",
				 strcmp(jsonget_text(file, "shown"), "hidden") == 0
					 ? "do not see the new"
					 : "use the original",
				 jsonget_text(file, "path"));
	}
	if (json_array_size(pinned) > SHOWN)
		event_text_print(view, "  %zu pinned files in all", json_array_size(pinned));
}

static void print_examined(struct event_text *view, const json_t *data)
{
	enum { SHOWN = 5 };
	const json_t *findings = json_object_get(data, "findings");
	size_t index;
	const json_t *finding;

	if (json_object_get(data, "error"))
		event_text_print(view, "  could not examine the changes: %s",
				 jsonget_text(data, "error"));
	print_pinned(view, json_object_get(data, "pinned"));
	json_array_foreach(findings, index, finding)
	{
		if (index == SHOWN)
			break;
		print_finding(view, finding);
	}
	if (json_array_size(findings) > SHOWN)
		event_text_print(view, "  %lld findings in all (see: ringfence diff --findings)",
				 (long long)jsonget_number(data, "count"));
}

static void print_retried(struct event_text *view, const json_t *data)
{
	event_text_print(view, "  '%s' is tried again: %s", jsonget_text(data, "task"),
			 jsonget_text(data, "error"));
}

static void print_git(struct event_text *view, const json_t *data)
{
	int locks = (int)jsonget_number(data, "unlocked");

	if (locks)
		event_text_print(view,
				 "  removed %d lock file%s that a killed git left (first: %.300s)",
				 locks, locks == 1 ? "" : "s", jsonget_text(data, "lock"));
	else if (strcmp(jsonget_text(data, "mode"), "read-only") == 0)
		event_text_print(view, "  git is read-only inside the fence: %s",
				 jsonget_text(data, "why"));
	else if (strcmp(jsonget_text(data, "mode"), "private") == 0 && *jsonget_text(data, "why"))
		event_text_print(view, "  %s", jsonget_text(data, "why"));
	else if (jsonget_flag(data, "submodules"))
		event_text_print(view, "  git is read-only in submodules");
}

static void print_imported(struct event_text *view, const json_t *data)
{
	const char *ref = jsonget_text(data, "ref");
	const char *branch = text_after_prefix(ref, "refs/heads/");
	struct list trouble;

	if (json_object_get(data, "error"))
		event_text_print(view, "  could not import the commits: %s",
				 jsonget_text(data, "error"));
	if ((int)jsonget_number(data, "refs") > 0 && *ref)
		event_text_print(view, "  committed%s: %s is %.10s",
				 view->closes ? " what the agent left" : "", branch ? branch : ref,
				 jsonget_text(data, "commit"));
	loop_state_git_trouble(data, &trouble);
	for (size_t i = 0; i < trouble.count; i++)
		event_text_print(view, "  %s", trouble.items[i]);
	list_release(&trouble);
}

static void print_checked(struct event_text *view, const json_t *data)
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
	print_found(view, data, name);
}

static void print_reviewing(struct event_text *view, const json_t *data)
{
	event_text_print(view, "  every rule holds; asking for a second opinion (%s)",
			 jsonget_text(data, "agent"));
}

static void print_reviewed(struct event_text *view, const json_t *data)
{
	const json_t *findings = json_object_get(data, "findings");
	AUTO_FREE char *found = loops_review_text(findings);
	size_t index;
	const json_t *finding;

	print_cost(view, data);
	if (jsonget_flag(data, "lost"))
		event_text_print(view, "  the review was cut off, and is repeated");
	else if (findings)
		event_text_paint(view, review_count(findings, "blocking") ? COLOR_RED : COLOR_GREEN,
				 "  review: %s", found);
	else if (*jsonget_text(data, "unreadable"))
		event_text_print(view, "  the reviewer's answer could not be read: %s",
				 jsonget_text(data, "unreadable"));
	else
		event_text_print(view, "  the reviewer gave no opinion (%s)",
				 failure_row(loop_state_failure(data))->name);
	json_array_foreach(findings, index, finding)
	{
		AUTO_FREE char *line = loops_finding_text(finding);

		event_text_print(view, "    %s", line);
	}
}

/* Prints whether checks noticed that code was broken. */
static void print_trial(struct event_text *view, int kind, const json_t *data)
{
	bool proof = kind == LOOP_EVENT_proved;
	bool noticed = proof ? jsonget_flag(data, "noticed") : !jsonget_number(data, "survived");
	AUTO_FREE char *text = proof ? trial_text_proof(data) : trial_text_mutants(data);
	size_t index;
	const json_t *finding;

	event_text_paint(view, noticed ? COLOR_GREEN : COLOR_RED, "  %s", text);
	json_array_foreach(json_object_get(data, "findings"), index, finding)
	{
		AUTO_FREE char *line = trial_text_untested(finding);

		event_text_print(view, "    %s", line);
	}
}

static void print_apart(struct event_text *view, const char *what, const json_t *data)
{
	bool passed = jsonget_flag(data, "passed") && !jsonget_flag(data, "vacuous");

	event_text_paint(view, passed ? COLOR_GREEN : COLOR_RED, "  %s '%s' %s", what,
			 jsonget_text(data, "command"), passed ? "passes" : "fails");
}

static void print_wait(struct event_text *view, const json_t *data)
{
	AUTO_FREE char *until = clock_text(jsonget_number(data, "until_ms"), CLOCK_SECOND);

	event_text_print(view, "  waiting until %s: %s", until, jsonget_text(data, "reason"));
}

/* Prints "paused by you", but "paused: the disk is full". */
static void print_outcome(struct event_text *view, enum color colour, const char *outcome,
			  const json_t *data)
{
	const char *reason = jsonget_text(data, "reason");

	event_text_paint(view, colour, "%s%s %s", outcome,
			 text_after_prefix(reason, "by ") ? "" : ":", reason);
}

static void print_finished(struct event_text *view, const json_t *data)
{
	bool refused = jsonget_flag(data, "refused");

	if (*jsonget_text(data, "uncommitted"))
		event_text_print(view, "  %s", jsonget_text(data, "uncommitted"));
	print_outcome(view, COLOR_BOLD, refused ? "refused" : jsonget_text(data, "status"), data);
}

static void print_data(struct event_text *view, int kind, const json_t *data, int64_t at_ms)
{
	view->closes = kind == LOOP_EVENT_closing || (view->closes && kind != LOOP_EVENT_resumed);
	if (kind == LOOP_EVENT_closing) /* LOOP_EVENT_finished repeats it */
		return;
	if (loops_failure_text(data))
		event_text_print(view, "  %s", loops_failure_text(data));
	switch (kind) {
	case LOOP_EVENT_checked:
		print_checked(view, data);
		break;
	case LOOP_EVENT_held_out:
		print_apart(view, "final check", data);
		break;
	case LOOP_EVENT_probed:
		print_apart(view, "phase check", data);
		break;
	case LOOP_EVENT_changed:
		if (jsonget_flag(data, "next_phase") && json_object_get(data, "reason"))
			event_text_print(view, "  %s", jsonget_text(data, "reason"));
		break;
	case LOOP_EVENT_examined:
		print_examined(view, data);
		break;
	case LOOP_EVENT_proved:
	case LOOP_EVENT_mutated:
		print_trial(view, kind, data);
		break;
	case LOOP_EVENT_mutating:
		event_text_print(view,
				 "  every rule holds; changing lines of the agent, one by one, "
				 "to see which checks notice");
		break;
	case LOOP_EVENT_reviewing:
		print_reviewing(view, data);
		break;
	case LOOP_EVENT_reviewed:
		print_reviewed(view, data);
		break;
	case LOOP_EVENT_rechecks:
		event_text_paint(
			view, COLOR_BOLD,
			"iteration %d: the agent has done its part; only its end is missing",
			(int)jsonget_number(data, "iteration"));
		break;
	case LOOP_EVENT_checkpointed:
		print_checkpointed(view, data);
		break;
	case LOOP_EVENT_retried:
		print_retried(view, data);
		break;
	case LOOP_EVENT_git:
		print_git(view, data);
		break;
	case LOOP_EVENT_imported:
		print_imported(view, data);
		break;
	case LOOP_EVENT_begun:
		print_begun(view, data, at_ms);
		break;
	case LOOP_EVENT_ended:
		print_ended(view, data);
		break;
	case LOOP_EVENT_interrupted:
		print_interrupted(view, data);
		break;
	case LOOP_EVENT_continued:
		event_text_print(view, "  %s%s",
				 view->stops ? "" : "continuing: ", jsonget_text(data, "reason"));
		break;
	case LOOP_EVENT_asked:
		view->stops |= strcmp(jsonget_text(data, "wish"), "reset") != 0;
		break;
	case LOOP_EVENT_alerted:
		event_text_paint(view, COLOR_RED, "  ALERT: %s%s%s", jsonget_text(data, "text"),
				 alert_does(data) ? "; " : "",
				 alert_does(data) ? alert_does(data) : "");
		break;
	case LOOP_EVENT_told:
		print_told(view, data);
		break;
	case LOOP_EVENT_resumed:
		view->stops = false;
		break;
	case LOOP_EVENT_waits:
		print_wait(view, data);
		break;
	case LOOP_EVENT_paused:
		print_outcome(view, COLOR_PLAIN, "paused", data);
		break;
	case LOOP_EVENT_finished:
		print_finished(view, data);
		break;
	default:
		break;
	}
}

void event_text_event(struct event_text *view, const struct journal_event *event)
{
	json_t *data = json_loads(event->data, 0, NULL);

	int kind = loop_event_find(event->kind);

	if (view->json) {
		print_raw(view, event, data);
		return;
	}
	if (!view->quiet || kind == LOOP_EVENT_paused || kind == LOOP_EVENT_finished)
		print_data(view, kind, data, event->at_ms);
	json_decref(data);
}

static void print_agent_line(void *context, enum color colour, const char *line, int indent)
{
	struct event_text *view = context;

	if (!view->json)
		print_line(view, colour, line, indent);
}

void event_text_begin(struct event_text *view, struct client_loop *loop, bool json)
{
	*view = (struct event_text){ .loop = loop,
				     .json = json,
				     .at = time(NULL),
				     .stops = loop->state.wish != LOOP_WISH_NONE,
				     .agent = { .print = print_agent_line, .context = view },
				     .lines = { .print = print_agent_line, .context = view } };
}

bool event_text_poll(struct event_text *view)
{
	uint64_t before = view->printed;

	agent_text_poll(&view->agent);
	agent_lines_poll(&view->lines);
	return view->printed != before;
}

bool event_text_has_agent(const struct event_text *view)
{
	return view->agent.path || view->lines.open;
}

void event_text_end(struct event_text *view)
{
	end_agent(view);
}
