/* Readers of agents' output: lines in pieces, typed events, and their summary. */
#include "agent/agent.h"
#include "unit.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

struct seen {
	struct agent_summary summary;
	unsigned int count[AGENT_EVENT_COUNT];
	size_t longest;
};

static void take(void *context, const struct agent_event *event)
{
	struct seen *seen = context;
	size_t size = event->text ? strlen(event->text) : 0;

	seen->count[event->kind]++;
	seen->longest = size > seen->longest ? size : seen->longest;
	agent_summary_add(&seen->summary, event);
}

static void read_as(const char *format, const char *data, size_t size, size_t piece,
		    struct seen *ret)
{
	struct agent_reader *reader = agent_reader_new(agent_format_find(format), take, ret);

	*ret = (struct seen){ 0 };
	agent_summary_init(&ret->summary);
	for (size_t at = 0; at < size; at += piece)
		agent_reader_feed(reader, data + at, size - at < piece ? size - at : piece);
	agent_reader_end(reader);
	agent_reader_free(reader);
}

static void read_text(const char *text, struct seen *ret)
{
	read_as("events", text, strlen(text), 3, ret);
}

static void test_formats(void)
{
	AUTO_FREE char *names = agent_format_names();
	struct seen seen;

	CHECK("an unknown format is not found", !agent_format_find("xml"));
	CHECK("the format names can be listed", strstr(names, "plain, events") != NULL);
	read_as("plain", "{\"type\":\"auth\"}\n", 16, 16, &seen);
	CHECK("plain output reports no error", seen.summary.error == FAILURE_NONE);
	CHECK("plain output has no events", seen.count[AGENT_EVENT_error] == 0);
	agent_summary_release(&seen.summary);
}

static void test_unknown(void)
{
	struct seen seen;

	read_text("", &seen);
	CHECK("a missing value is unknown, not zero",
	      seen.summary.cost_nusd == -1 && seen.summary.tokens.input == -1);
	agent_summary_release(&seen.summary);
	read_text("{\"type\":\"cost\",\"nusd\":-5}\n{\"type\":\"cost\",\"usd\":1e300}\n", &seen);
	CHECK("an impossible cost is unknown", seen.summary.cost_nusd == -1);
	agent_summary_release(&seen.summary);
	read_text("text\n[1]\n{\"type\":\"news\"}\n{\"type\":\"te", &seen);
	CHECK("unknown lines are counted", seen.summary.unknown == 4);
	agent_summary_release(&seen.summary);
}

static void test_sums(void)
{
	struct seen seen;

	read_text("{\"type\":\"cost\",\"usd\":0.25}\n{\"type\":\"cost\",\"nusd\":7}\n"
		  "{\"type\":\"final\",\"text\":\"so\",\"usd\":0.5,\"input\":4}",
		  &seen);
	CHECK("costs are added up, including that of an unterminated last line",
	      seen.summary.cost_nusd == 750000007);
	CHECK("reported tokens are counted",
	      seen.summary.tokens.input == 4 && seen.summary.tokens.output == -1);
	agent_summary_release(&seen.summary);
	read_text(
		"{\"type\":\"cost\",\"nusd\":9223372036854775807}\n{\"type\":\"cost\",\"nusd\":9}\n",
		&seen);
	CHECK("a total saturates", seen.summary.cost_nusd == INT64_MAX);
	agent_summary_release(&seen.summary);
}

static void test_errors(void)
{
	struct seen seen;

	read_text("{\"type\":\"limit\",\"reset_at\":1795004400,\"text\":\"later\"}\n", &seen);
	CHECK("a limit has its reset time and its message",
	      seen.summary.error == FAILURE_RATE_LIMIT && seen.summary.reset_at == 1795004400 &&
		      strcmp(seen.summary.message, "later") == 0);
	agent_summary_release(&seen.summary);
	read_text("{\"type\":\"limit\"}\n{\"type\":\"final\",\"text\":\"fine\"}\n", &seen);
	CHECK("success clears earlier errors",
	      seen.summary.error == FAILURE_NONE && seen.summary.ok && !seen.summary.message);
	agent_summary_release(&seen.summary);
	read_text("{\"type\":\"final\",\"text\":\"bad\",\"ok\":false}\n", &seen);
	CHECK("a failed turn is an error",
	      seen.summary.error == FAILURE_OTHER && seen.summary.finished && !seen.summary.ok);
	agent_summary_release(&seen.summary);
	read_text("{\"type\":\"text\",\"text\":\"rate limit 429, invalid api key\"}\n", &seen);
	CHECK("text alone is not an error", seen.summary.error == FAILURE_NONE);
	CHECK("without `finished`, the last text is the final message",
	      strcmp(seen.summary.final, "rate limit 429, invalid api key") == 0);
	agent_summary_release(&seen.summary);
}

static void test_bounds(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(8 << 20);
	struct seen seen;

	buffer_add_text(&text, "{\"type\":\"text\",\"text\":\"");
	for (int i = 0; i < 20000; i++)
		buffer_add_text(&text, "\xc3\xa9");
	buffer_add_text(&text, "x\"}\n");
	read_as("events", text.data, text.used, 1000, &seen);
	CHECK("a long text keeps its end, in whole characters",
	      seen.longest <= AGENT_TEXT_MAX && seen.longest >= AGENT_TEXT_MAX - 1 &&
		      (unsigned char)seen.summary.final[0] == 0xc3);
	agent_summary_release(&seen.summary);
	for (int i = 0; i < 3 << 20; i++)
		buffer_add(&text, "y", 1);
	buffer_add_text(&text, "\n{\"type\":\"cost\",\"nusd\":5}\n");
	read_as("events", text.data, text.used, 65536, &seen);
	CHECK("a line that is too long is skipped, and the next one is read",
	      seen.summary.unknown == 1 && seen.summary.cost_nusd == 5);
	agent_summary_release(&seen.summary);
}

/* Small values take much memory once parsed. */
static void test_dense(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(2 << 20);
	struct seen seen;

	buffer_add_text(&text, "{\"type\":\"cost\",\"nusd\":5,\"x\":[1");
	for (int i = 0; i < 100000; i++)
		buffer_add_text(&text, ",1");
	buffer_add_text(&text, "]}\n{\"type\":\"cost\",\"nusd\":7,\"x\":\"\\\"");
	for (int i = 0; i < 100000; i++)
		buffer_add_text(&text, ",[");
	buffer_add_text(&text, "\"}\n");
	read_as("events", text.data, text.used, 65536, &seen);
	CHECK("a line of a hundred thousand values is unknown, a text with as many commas is not",
	      seen.summary.unknown == 1 && seen.summary.cost_nusd == 7);
	agent_summary_release(&seen.summary);
}

static void test_names(void)
{
	CHECK("events have names",
	      strcmp(agent_event_name(AGENT_EVENT_tool_call), "tool_call") == 0);
}

int main(void)
{
	test_formats();
	test_unknown();
	test_sums();
	test_errors();
	test_bounds();
	test_dense();
	test_names();
	return unit_failures > 0;
}
