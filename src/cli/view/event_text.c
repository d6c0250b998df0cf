/* Lines about a loop: see event_text.h. */
#include "cli/view/event_text.h"

#include "cli/loops.h"
#include "cli/view/page.h"
#include "util/mem.h"

#include <stdarg.h>
#include <string.h>

void event_text_object(struct event_text *view, json_t *object)
{
	loops_print_line(object);
	view->at = time(NULL);
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
	va_list arguments;

	va_start(arguments, format);

	AUTO_FREE char *text = mem_format_list(format, arguments);

	va_end(arguments);
	if (view->json)
		return;
	print_line(view, colour, text, (int)strspn(text, " ") + 2);
}

void event_text_begin_agent(struct event_text *view, unsigned int iteration, unsigned int attempt)
{
	view->iteration = iteration;
	view->attempt = attempt;
	agent_text_begin(&view->agent, view->loop, (int)iteration, (int)attempt);
	if (!view->agent.path)
		agent_lines_begin(&view->lines, view->loop, iteration, attempt);
}

static void skip(struct event_text *view)
{
	agent_text_skip(&view->agent);
	if (view->lines.open)
		agent_lines_skip(&view->lines);
}

void event_text_join(struct event_text *view)
{
	const struct loop_state *state = &view->loop->state;

	if (view->json || view->quiet || state->step != LOOP_STEP_agent)
		return;
	event_text_begin_agent(view, state->iteration, state->attempt);
	skip(view);
}

void event_text_leave(struct event_text *view)
{
	skip(view);
	event_text_end_agent(view);
}

void event_text_end_agent(struct event_text *view)
{
	agent_text_end(&view->agent);
	agent_lines_end(&view->lines);
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
	event_text_end_agent(view);
}
