/* Findings in the changes as text: see event_review.h. */
#include "cli/view/event_review.h"

#include "cli/loops.h"
#include "cli/view/event_run.h"
#include "cli/view/trial_text.h"
#include "failure/failure.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <string.h>

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

void event_review_examined(struct event_text *view, const json_t *data)
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

void event_review_begins(struct event_text *view, const json_t *data)
{
	event_text_print(view, "  every rule holds; asking for a second opinion (%s)",
			 jsonget_text(data, "agent"));
}

void event_review_ended(struct event_text *view, const json_t *data)
{
	const json_t *findings = json_object_get(data, "findings");
	AUTO_FREE char *found = loops_review_text(findings);
	size_t index;
	const json_t *finding;

	event_run_cost(view, data);
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
void event_review_trial(struct event_text *view, int kind, const json_t *data)
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
