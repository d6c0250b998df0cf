/* The agent's current activity: see activity.h. */
#include "view/activity.h"

#include "agent/agent.h"
#include "util/mem.h"
#include "view/view_tail.h"

#include <stdlib.h>
#include <string.h>

enum { END_BYTES = 65536 }; /* read from the end of the log */

static void note_event(void *context, const struct agent_event *event)
{
	char **doing = context;
	char *line = NULL;

	if (event->kind == AGENT_EVENT_tool_call)
		line = mem_format("%.100s %.300s", event->name ? event->name : "a tool",
				  event->target ? event->target : "");
	else if (event->kind == AGENT_EVENT_file_changed && event->target)
		line = mem_format("changed %.300s", event->target);
	else if (event->kind == AGENT_EVENT_retry)
		line = mem_format("retrying in %lld s", (long long)event->delay_ms / 1000);
	else if (event->text && event->kind != AGENT_EVENT_tool_result)
		line = view_tail_line(event->text, strlen(event->text));
	if (!line)
		return;
	free(*doing);
	*doing = line;
}

/* The bytes may start in the middle of a line; the reader treats that part as an unknown event. */
static char *read_events(const struct agent_format *format, const char *bytes, size_t size)
{
	char *doing = NULL;
	struct agent_reader *reader = agent_reader_new(format, note_event, &doing);

	agent_reader_feed(reader, bytes, size);
	agent_reader_free(reader);
	return doing;
}

char *activity_log(const struct client_loop *loop, unsigned int iteration, unsigned int attempt)
{
	AUTO_FREE char *number = attempt > 1 ? mem_format("%u.%u", iteration, attempt)
					     : mem_format("%u", iteration);

	return mem_format("%s/iterations/%s/stdout.log", loop->folder, number);
}

/* The path of the output of the present review; the caller frees. */
static char *review_log(const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;
	AUTO_FREE char *agent = activity_log(loop, state->iteration, state->attempt);

	return mem_format("%.*s/review-%u.stdout.log", (int)(strrchr(agent, '/') - agent), agent,
			  state->review.runs);
}

char *activity_now(const struct client_loop *loop)
{
	const struct loop_state *state = &loop->state;
	AUTO_FREE char *path = state->step == LOOP_STEP_review
				       ? review_log(loop)
				       : activity_log(loop, state->iteration, state->attempt);
	size_t size = 0;
	AUTO_FREE char *bytes = view_tail_read(path, END_BYTES, &size);

	if (!bytes)
		return NULL;
	if (strcmp(loop_state_part(state)->format->name, "plain") == 0)
		return view_tail_line(bytes, size);
	return read_events(loop_state_part(state)->format, bytes, size);
}
