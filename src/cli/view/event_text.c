/* What the events of a loop say: see event_text.h. */
#include "cli/view/event_text.h"

#include "cli/loops.h"
#include "cli/settings/effective_models.h"
#include "cli/view/page.h"
#include "util/buffer.h"
#include "util/jsonget.h"
#include "util/mem.h"
#include "util/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LAST_LINE_INDENT = 4 };

void event_text_object(struct event_text *tale, json_t *object)
{
	loops_print_line(object);
	tale->at = time(NULL);
}

/* An event of the journal, for programs. Takes the data over. */
static void tell_raw(struct event_text *tale, const struct journal_event *event, json_t *data)
{
	static const char *const inner[] = { "breakers", "snapshot", "excerpt", "reflection" };
	json_t *line = json_pack("{s:s, s:I, s:I}", "event", event->kind, "seq",
				 (json_int_t)event->seq, "at_ms", (json_int_t)event->at_ms);

	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
		json_object_del(data, inner[i]);
	if (json_object_get(data, "config")) { /* what was asked for is known to who asked */
		json_object_clear(data);
		json_object_set_new(data, "id", json_string(tale->loop->id));
		json_object_set_new(data, "project",
				    json_string(tale->loop->state.options.project));
	}
	json_object_update_missing(line, data);
	json_decref(data);
	event_text_object(tale, line);
}

void event_text_paint(struct event_text *tale, enum color colour, const char *format, ...)
{
	char text[4096];
	va_list arguments;

	if (tale->json)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	page_tell(colour, text, (int)strspn(text, " ") + 2);
	tale->at = time(NULL);
}

static void tell_begun(struct event_text *tale, const json_t *data, int64_t at_ms)
{
	const struct loop_state *state = &tale->loop->state;
	const struct decision_limits *limits = &state->options.limits;
	AUTO_BUFFER struct buffer left = BUFFER_INIT(256);
	int64_t left_ms = limits->total_s * 1000 - (at_ms - state->created_ms - state->rested_ms);

	if (limits->iterations)
		buffer_printf(&left, " of %u", limits->iterations);
	if ((int)jsonget_number(data, "attempt") > 1)
		buffer_printf(&left, ", try %d", (int)jsonget_number(data, "attempt"));
	if (limits->total_s && left_ms > 60000) {
		buffer_add_text(&left, ", time left ");
		text_add_duration(&left, (uint64_t)left_ms / 60000 * 60000);
	}
	if (state->spent_nusd)
		buffer_printf(&left, ", US$ %.2f %s", (double)state->spent_nusd / 1e9,
			      state->options.replay ? "replayed" : "spent");
	if (state->spent_nusd && limits->cost_nusd)
		buffer_printf(&left, " of %.2f", (double)limits->cost_nusd / 1e9);
	event_text_paint(tale, COLOR_BOLD, "iteration %d%s: the agent works",
			 (int)jsonget_number(data, "iteration"), buffer_text(&left));
}

/* Who counted, and what the other one says: agents have prices of their own, and forget their children. */
static void tell_cost(struct event_text *tale, const json_t *data)
{
	const json_t *metered = json_object_get(data, "metered");
	const struct effective_models_use use = {
		.requests = (uint64_t)jsonget_number(metered, "requests"),
		.free_requests = (uint64_t)jsonget_number(metered, "free_requests"),
		.input = (uint64_t)jsonget_number(metered, "input"),
		.output = (uint64_t)jsonget_number(metered, "output"),
		.cost_nusd = (uint64_t)jsonget_number(data, "cost_nusd"),
		.replay = json_is_true(json_object_get(metered, "replay"))
	};
	AUTO_FREE char *words = metered ? effective_models_cost_words(&use) : NULL;
	uint64_t said = (uint64_t)jsonget_number(data, "agent_cost_nusd");

	if (words && said && said != use.cost_nusd)
		event_text_tell(tale, "  %s; the agent says US$ %.4f", words, (double)said / 1e9);
	else if (words)
		event_text_tell(tale, "  %s", words);
	else if (!metered && use.cost_nusd)
		event_text_tell(tale, "  the agent says that this cost US$ %.4f",
				(double)use.cost_nusd / 1e9);
}

/* What the fence has refused, and what it has put aside; the first of each by name. */
static void tell_found(struct event_text *tale, const json_t *data)
{
	const json_t *denied = json_object_get(data, "denied");
	const json_t *aside = json_object_get(data, "put_aside");
	int denials = (int)jsonget_number(data, "denials") ? (int)jsonget_number(data, "denials")
							   : (int)json_array_size(denied);
	size_t index;
	const json_t *entry;

	if (denials)
		event_text_paint(tale, COLOR_RED, "  denied by the fence: %d (ringfence suggest)",
				 denials);
	json_array_foreach(denied, index, entry)
		event_text_paint(tale, COLOR_RED, "    %s %.300s", jsonget_text(entry, "kind"),
				 jsonget_text(entry, "target"));
	if (json_array_size(aside))
		event_text_tell(tale, "  put aside, because the host would execute it: %d",
				(int)jsonget_number(data, "quarantined"));
	json_array_foreach(aside, index, entry)
	{
		if (*jsonget_text(entry, "kept"))
			event_text_tell(tale, "    %.300s -> %.500s", jsonget_text(entry, "path"),
					jsonget_text(entry, "kept"));
		else
			event_text_tell(
				tale,
				"    COULD NOT put %.300s aside: do not use this folder before it is gone",
				jsonget_text(entry, "path"));
	}
}

/* What was printed last where something failed, in one line; the rest is found by the command, which is named once. */
static void tell_last_line(struct event_text *tale, const json_t *data, const char *rest,
			   bool *hinted)
{
	const char *line = jsonget_text(data, "last_line");
	int width = page_width();
	size_t size = width ? page_first(line, width - LAST_LINE_INDENT) : strlen(line);

	if (!*line)
		return;
	event_text_tell(tale, "%*s%.*s", LAST_LINE_INDENT, "", (int)size, line);
	if (!*hinted)
		event_text_tell(tale, "%*s(all of it: %s)", LAST_LINE_INDENT, "", rest);
	*hinted = true;
}

static void tell_ended(struct event_text *tale, const json_t *data)
{
	double seconds = (double)json_integer_value(json_object_get(data, "duration_ms")) / 1000;
	int signal = (int)jsonget_number(data, "signal");
	const char *error = jsonget_text(data, "error");
	const char *limit = jsonget_text(data, "limit");
	const char *refused = jsonget_text(data, "refused_why");

	tell_cost(tale, data);
	if (*error && strcmp(error, "none") != 0 && *jsonget_text(data, "message") &&
	    !*jsonget_text(data, "unreached") && /* that is told with what is done about it */
	    !(*refused && strstr(jsonget_text(data, "message"), refused)))
		event_text_tell(tale, "  the agent reports (%s): %.300s", error,
				jsonget_text(data, "message"));
	if (*refused)
		event_text_tell(tale, "  the agent ended after %.1f s: %s", seconds, refused);
	else if (json_is_true(json_object_get(data, "over_budget")))
		event_text_tell(tale,
				"  the agent was ended after %.1f s: it had spent what it may (%s)",
				seconds, limit);
	else if (json_is_true(json_object_get(data, "timed_out")))
		event_text_tell(tale, "  the agent ran out of time after %.1f s (%s)", seconds,
				limit);
	else if (json_is_true(json_object_get(data, "idle")))
		event_text_tell(
			tale,
			"  the agent was ended after %.1f s: it had printed nothing for too long (%s)",
			seconds, limit);
	else if (signal)
		event_text_tell(tale, "  the agent was killed by signal %d after %.1f s", signal,
				seconds);
	else
		event_text_tell(tale, "  the agent ended with status %d after %.1f s",
				(int)jsonget_number(data, "code"), seconds);
	if (!*jsonget_text(data, "message")) /* what it says of itself is better */
		tell_last_line(tale, data, "ringfence logs", &tale->hinted_logs);
	if (*jsonget_text(data, "not_recorded"))
		event_text_tell(tale, "  %s", jsonget_text(data, "not_recorded"));
	tell_found(tale, data);
}

/* Only what a person should know. */
static void tell_checkpointed(struct event_text *tale, const json_t *data)
{
	const json_t *left = json_object_get(data, "not_kept");
	const json_t *first = json_array_get(left, 0);

	if (json_object_get(data, "error"))
		event_text_tell(tale, "  a checkpoint could not be taken: %s",
				jsonget_text(data, "error"));
	if (json_object_get(data, "notice"))
		event_text_tell(tale, "  checkpoint: %s", jsonget_text(data, "notice"));
	if (json_is_true(json_object_get(data, "recovered")))
		event_text_tell(tale, "  a rollback that was cut off was finished first");
	if (first && (int)jsonget_number(data, "number") == 0)
		event_text_tell(tale,
				"  %zu not in checkpoint 0 (%s: %s); a rollback leaves them alone",
				json_array_size(left), jsonget_text(first, "path"),
				jsonget_text(first, "why"));
}

static void tell_git(struct event_text *tale, const json_t *data)
{
	if (strcmp(jsonget_text(data, "mode"), "read-only") == 0)
		event_text_tell(tale, "  git only reads inside: %s", jsonget_text(data, "why"));
	else if (*jsonget_text(data, "why"))
		event_text_tell(tale, "  %s", jsonget_text(data, "why"));
	else if (json_is_true(json_object_get(data, "submodules")))
		event_text_tell(tale, "  git of submodules only reads inside");
}

static void tell_imported(struct event_text *tale, const json_t *data)
{
	const char *ref = jsonget_text(data, "ref");
	const char *branch = text_after_prefix(ref, "refs/heads/");
	size_t index;
	json_t *entry;

	if (json_object_get(data, "error"))
		event_text_tell(tale, "  what was committed did not come in: %s",
				jsonget_text(data, "error"));
	if ((int)jsonget_number(data, "refs") > 0 && *ref)
		event_text_tell(tale, "  committed: %s is %.10s", branch ? branch : ref,
				jsonget_text(data, "commit"));
	json_array_foreach(json_object_get(data, "refused"), index, entry)
		event_text_tell(tale, "  not committed: %s", json_string_value(entry));
}

static void tell_checked(struct event_text *tale, const json_t *data)
{
	const char *word = json_is_true(json_object_get(data, "vacuous"))  ? "ran nothing: no pass"
			   : json_is_true(json_object_get(data, "passed")) ? "passes"
									   : "fails";

	if (json_is_true(json_object_get(data, "passed")))
		event_text_paint(tale, COLOR_GREEN, "  check '%s' %s",
				 jsonget_text(data, "command"), word);
	else if (*jsonget_text(data, "limit"))
		event_text_tell(tale, "  check '%s' ran out of time (%s)",
				jsonget_text(data, "command"), jsonget_text(data, "limit"));
	else
		event_text_paint(tale, COLOR_RED, "  check '%s' %s (status %d)%s",
				 jsonget_text(data, "command"), word,
				 (int)jsonget_number(data, "code"),
				 json_is_true(json_object_get(data, "new"))
					 ? "; before the first iteration it passed"
					 : "");
	tell_last_line(tale, data, "ringfence logs --checks", &tale->hinted_checks);
	tell_found(tale, data);
}

static void tell_waits(struct event_text *tale, const json_t *data)
{
	time_t until = (time_t)(json_integer_value(json_object_get(data, "until_ms")) / 1000);
	char clock[32] = "";
	struct tm parts;

	if (localtime_r(&until, &parts))
		strftime(clock, sizeof clock, "%Y-%m-%d %H:%M:%S", &parts);
	event_text_tell(tale, "  waits until %s: %s", clock, jsonget_text(data, "reason"));
}

static void tell_finished(struct event_text *tale, const json_t *data)
{
	bool refused = json_is_true(json_object_get(data, "refused"));

	if (*jsonget_text(data, "uncommitted"))
		event_text_tell(tale, "  %s", jsonget_text(data, "uncommitted"));
	event_text_paint(tale, COLOR_BOLD, "%s: %s",
			 refused ? "refused" : jsonget_text(data, "status"),
			 jsonget_text(data, "reason"));
}

static void tell_data(struct event_text *tale, int kind, const json_t *data, int64_t at_ms)
{
	if (kind == LOOP_EVENT_closing) /* its end says the same again */
		return;
	if (loops_failure_words(data))
		event_text_tell(tale, "  %s", loops_failure_words(data));
	switch (kind) {
	case LOOP_EVENT_checked:
		tell_checked(tale, data);
		break;
	case LOOP_EVENT_checkpointed:
		tell_checkpointed(tale, data);
		break;
	case LOOP_EVENT_git:
		tell_git(tale, data);
		break;
	case LOOP_EVENT_imported:
		tell_imported(tale, data);
		break;
	case LOOP_EVENT_begun:
		tell_begun(tale, data, at_ms);
		agent_text_begin(&tale->live, tale->loop, (int)jsonget_number(data, "iteration"),
				 (int)jsonget_number(data, "attempt"));
		break;
	case LOOP_EVENT_ended:
		agent_text_end(&tale->live);
		tell_ended(tale, data);
		break;
	case LOOP_EVENT_interrupted:
		agent_text_end(&tale->live);
		event_text_tell(tale, "  iteration %d was interrupted; it does not count",
				(int)jsonget_number(data, "iteration"));
		break;
	case LOOP_EVENT_continued:
		event_text_tell(tale, "  %s%s",
				tale->stops ? "" : "goes on: ", jsonget_text(data, "reason"));
		break;
	case LOOP_EVENT_asked:
		tale->stops |= strcmp(jsonget_text(data, "wish"), "reset") != 0;
		break;
	case LOOP_EVENT_resumed:
		tale->stops = false;
		break;
	case LOOP_EVENT_waits:
		tell_waits(tale, data);
		break;
	case LOOP_EVENT_paused:
		event_text_tell(tale, "paused: %s", jsonget_text(data, "reason"));
		break;
	case LOOP_EVENT_finished:
		tell_finished(tale, data);
		break;
	default:
		break;
	}
}

void event_text_event(struct event_text *tale, const struct journal_event *event)
{
	json_t *data = json_loads(event->data, 0, NULL);

	if (tale->json) {
		tell_raw(tale, event, data);
	} else {
		tell_data(tale, loop_event_find(event->kind), data, event->at_ms);
		json_decref(data);
	}
}

static void tell_line(void *context, enum color colour, const char *line, int indent)
{
	struct event_text *tale = context;

	if (tale->json)
		return;
	page_tell(colour, line, indent);
	tale->at = time(NULL);
}

void event_text_begin(struct event_text *tale, struct client_loop *loop, bool json)
{
	*tale = (struct event_text){ .loop = loop,
				     .json = json,
				     .at = time(NULL),
				     .stops = loop->state.wish != LOOP_WISH_NONE,
				     .live = { .tell = tell_line, .context = tale } };
}

void event_text_end(struct event_text *tale)
{
	agent_text_end(&tale->live);
}
