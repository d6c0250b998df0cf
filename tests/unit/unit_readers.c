/* The streams of real agents: captured transcripts, and the traps in them. */
#include "agent/adapter.h"
#include "agent/jsonline.h"
#include "unit.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include "../agents/dump.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct seen {
	struct agent_summary summary;
	struct buffer *lines; /* or NULL */
	unsigned int count[AGENT_EVENT_COUNT];
};

static void take(void *context, const struct agent_event *event)
{
	struct seen *seen = context;

	seen->count[event->kind]++;
	agent_summary_add(&seen->summary, event);
	if (seen->lines)
		dump_event(seen->lines, event);
}

static void begin(struct seen *seen, struct buffer *lines)
{
	*seen = (struct seen){ .lines = lines };
	agent_summary_init(&seen->summary);
}

static void read_bytes(const char *format, const char *data, size_t size, size_t piece,
		       const struct agent_totals *before, struct buffer *lines, struct seen *ret)
{
	struct agent_reader *reader = agent_reader_new(agent_format_find(format), take, ret);

	begin(ret, lines);
	if (before)
		agent_reader_continue(reader, before);
	for (size_t at = 0; at < size; at += piece)
		agent_reader_feed(reader, data + at, size - at < piece ? size - at : piece);
	agent_reader_end(reader);
	agent_reader_free(reader);
	if (lines)
		dump_summary(lines, &ret->summary);
}

static void read_text(const char *format, const char *text, struct seen *ret)
{
	read_bytes(format, text, strlen(text), 7, NULL, NULL, ret);
}

static void load(const char *name, const char *end, struct buffer *ret)
{
	AUTO_FREE char *path = mem_format("%s/%s%s", FIXTURES, name, end);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		fd_read_all(fd, ret);
}

/*
 * Reads each fixture as its expectation states: whole, torn into pieces, and without its last
 * newline.
 */
static void test_fixture(const char *file)
{
	AUTO_FREE char *name = strndup(file, strlen(file) - strlen(".jsonl"));
	AUTO_FREE char *format = strndup(name, strcspn(name, "-"));
	AUTO_FREE char *sentence = mem_format("the transcript %s means what it should", name);
	AUTO_FREE char *torn = mem_format("the transcript %s means the same in pieces", name);
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(1 << 22), wanted = BUFFER_INIT(1 << 22);
	AUTO_BUFFER struct buffer whole = BUFFER_INIT(1 << 22), pieces = BUFFER_INIT(1 << 22);
	struct seen seen;

	load(name, ".jsonl", &bytes);
	load(name, ".events", &wanted);
	read_bytes(format, bytes.data, bytes.used, bytes.used, NULL, &whole, &seen);
	agent_summary_release(&seen.summary);
	read_bytes(format, bytes.data, bytes.used - 1, 11, NULL, &pieces, &seen);
	agent_summary_release(&seen.summary);
	CHECK(sentence, wanted.used && strcmp(buffer_text(&whole), buffer_text(&wanted)) == 0);
	CHECK(torn, strcmp(buffer_text(&pieces), buffer_text(&whole)) == 0);
}

static void test_fixtures(void)
{
	DIR *dir = opendir(FIXTURES);
	unsigned int count = 0;

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		const char *end = strrchr(entry->d_name, '.');

		if (!end || strcmp(end, ".jsonl") != 0)
			continue;
		test_fixture(entry->d_name);
		count++;
	}
	if (dir)
		closedir(dir);
	CHECK("there are transcripts of every agent", count >= 20);
}

static void test_claude(void)
{
	struct seen seen;

	read_text(
		"claude",
		"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":529,"
		"\"result\":\"API Error: 529\"}\n",
		&seen);
	CHECK("claude: a success that is an error is an error",
	      seen.summary.finished && !seen.summary.ok &&
		      seen.summary.error == FAILURE_OVERLOADED);
	CHECK("claude: an API error is not a final message", !seen.summary.final);
	agent_summary_release(&seen.summary);

	read_text(
		"claude",
		"{\"type\":\"assistant\",\"error\":\"billing_error\",\"message\":{\"content\":[]}}\n"
		"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":400,"
		"\"result\":\"Your account has run dry\"}\n",
		&seen);
	CHECK("claude: its own name for an error is clearer than the status 400",
	      seen.summary.error == FAILURE_BILLING);
	agent_summary_release(&seen.summary);

	read_text(
		"claude",
		"{\"type\":\"assistant\",\"error\":\"unknown\",\"message\":{\"content\":[]}}\n"
		"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":401,"
		"\"result\":\"no\"}\n",
		&seen);
	CHECK("claude: a clear status is clearer than an unknown error",
	      seen.summary.error == FAILURE_AUTHENTICATION);
	agent_summary_release(&seen.summary);

	read_text("claude",
		  "{\"type\":\"result\",\"subtype\":\"error_max_budget_usd\",\"is_error\":true}\n",
		  &seen);
	CHECK("claude: its own budget", seen.summary.error == FAILURE_BUDGET);
	agent_summary_release(&seen.summary);

	read_text(
		"claude",
		"{\"type\":\"assistant\",\"message\":{\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":"
		"\"You've hit your limit \\u00b7 resets 5pm (Europe/Vilnius)\"}]},\"parent_tool_use_id\":null,"
		"\"error\":\"rate_limit\"}\n"
		"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"You've hit your limit "
		"\\u00b7 resets 5pm (Europe/Vilnius)\"}\n",
		&seen);
	CHECK("claude: a limit that is reported as a success is a limit",
	      !seen.summary.ok && seen.summary.error == FAILURE_RATE_LIMIT);
	CHECK("claude: and its words are there to be read",
	      seen.summary.message && strstr(seen.summary.message, "resets 5pm (Europe/Vilnius)"));
	agent_summary_release(&seen.summary);

	read_text(
		"claude",
		"{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\",\"resetsAt\":1794887389}}\n"
		"{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":429,"
		"\"result\":\"You've hit your limit\"}\n",
		&seen);
	CHECK("claude: a limit keeps the time that was announced",
	      seen.summary.error == FAILURE_RATE_LIMIT && seen.summary.reset_at == 1794887389);
	agent_summary_release(&seen.summary);

	read_text(
		"claude",
		"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"content\":"
		"\"rate limit exceeded, resets 5pm <promise>COMPLETE</promise>\"}]}}\n",
		&seen);
	CHECK("claude: tool output is neither a limit nor a message",
	      seen.summary.error == FAILURE_NONE && !seen.summary.final &&
		      seen.count[AGENT_EVENT_tool_result] == 1);
	agent_summary_release(&seen.summary);

	read_text(
		"claude",
		"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"of the parent\"}]},"
		"\"parent_tool_use_id\":null}\n"
		"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"of a child\"}]},"
		"\"parent_tool_use_id\":\"toolu_1\"}\n",
		&seen);
	CHECK("claude: a subagent's message is not the agent's message",
	      seen.summary.final && strcmp(seen.summary.final, "of the parent") == 0);
	agent_summary_release(&seen.summary);
}

/* A trace that stops while the agent retries reports why it stopped. */
static void test_retries(void)
{
	static const char retry[] =
		"{\"type\":\"system\",\"subtype\":\"api_retry\",\"retry_delay_ms\":500,\"error_status\":529}\n";
	static const char text[] =
		"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"on\"}]}}\n";
	AUTO_FREE char *both = mem_format("%s%s", retry, text);
	struct seen seen;

	read_text("claude", retry, &seen);
	CHECK("an error that the agent still retries is reported",
	      seen.summary.error == FAILURE_OVERLOADED && seen.summary.retries == 1);
	agent_summary_release(&seen.summary);
	read_text("claude", both, &seen);
	CHECK("once the agent continues, the error is cleared", seen.summary.error == FAILURE_NONE);
	agent_summary_release(&seen.summary);
	read_text(
		"codex",
		"{\"type\":\"error\",\"message\":\"Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too "
		"Many Requests)\"}\n",
		&seen);
	CHECK("codex: a wait for an hour without a word is known to be a limit",
	      seen.summary.error == FAILURE_RATE_LIMIT && !seen.summary.finished);
	agent_summary_release(&seen.summary);
}

static void test_sums(void)
{
	static const char two[] =
		"{\"type\":\"result\",\"subtype\":\"success\",\"total_cost_usd\":0.0132,\"modelUsage\":{\"m\":{"
		"\"inputTokens\":3000,\"outputTokens\":60}}}\n"
		"{\"type\":\"result\",\"subtype\":\"success\",\"total_cost_usd\":0.0176,\"modelUsage\":{\"m\":{"
		"\"inputTokens\":4000,\"outputTokens\":80}}}\n";
	static const char codex[] = "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":3000,"
				    "\"cached_input_tokens\":1000,\"output_tokens\":60}}\n";
	const struct agent_totals before = { .tokens = { .input = 3000, .output = 60 },
					     .cost_nusd = 13200000 };
	const struct agent_totals more = { .tokens = { .input = 9000, .output = 900 },
					   .cost_nusd = 99000000 };
	struct seen seen;

	read_text("claude", two, &seen);
	CHECK("claude: each of several results adds only what is new",
	      seen.summary.cost_nusd == 17600000 && seen.summary.tokens.output == 80);
	agent_summary_release(&seen.summary);
	read_bytes("claude", two, strlen(two), 9, &before, NULL, &seen);
	CHECK("claude: the earlier cost of a session is not counted again",
	      seen.summary.cost_nusd == 4400000 && seen.summary.tokens.input == 1000);
	agent_summary_release(&seen.summary);
	read_bytes("claude", two, strlen(two), 9, &more, NULL, &seen);
	CHECK("claude: a version that begins at zero again is believed",
	      seen.summary.cost_nusd == 17600000);
	agent_summary_release(&seen.summary);
	read_text("codex", codex, &seen);
	CHECK("codex: cached input is not counted twice",
	      seen.summary.tokens.input == 2000 && seen.summary.tokens.cache_read == 1000);
	CHECK("codex: without a price the cost is unknown, not zero",
	      seen.summary.cost_nusd == -1 && seen.summary.unpriced);
	agent_summary_release(&seen.summary);
	read_text(
		"opencode",
		"{\"type\":\"step_finish\",\"part\":{\"reason\":\"stop\",\"cost\":0,\"tokens\":{\"input\":5,"
		"\"output\":2}}}\n",
		&seen);
	CHECK("opencode: a model without a price is not free",
	      seen.summary.cost_nusd == -1 && seen.summary.unpriced && seen.summary.finished);
	agent_summary_release(&seen.summary);
}

static void test_codex_and_others(void)
{
	struct seen seen;

	read_text(
		"codex",
		"{\"type\":\"turn.failed\",\"error\":{\"message\":\"You've hit your usage limit. Upgrade to Pro or "
		"try again at 3:05 PM.\"}}\n",
		&seen);
	CHECK("codex: a limit in words is one, because it is the turn that failed",
	      seen.summary.error == FAILURE_RATE_LIMIT &&
		      strstr(seen.summary.message, "try again at 3:05 PM"));
	agent_summary_release(&seen.summary);
	read_text(
		"codex",
		"{\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\",\"command\":\"x\","
		"\"aggregated_output\":\"You've hit your usage limit\",\"status\":\"completed\"}}\n",
		&seen);
	CHECK("codex: the same words printed by a command are not a limit",
	      seen.summary.error == FAILURE_NONE);
	agent_summary_release(&seen.summary);
	read_text(
		"gemini",
		"{\"type\":\"message\",\"role\":\"user\",\"content\":\"end with <promise>COMPLETE</promise>\"}\n"
		"{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Not \",\"delta\":true}\n"
		"{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"yet.\",\"delta\":true}\n",
		&seen);
	CHECK("gemini: the echoed prompt is not the agent's message, and pieces are joined",
	      seen.summary.final && strcmp(seen.summary.final, "Not yet.") == 0 &&
		      seen.count[AGENT_EVENT_text] == 1);
	agent_summary_release(&seen.summary);
	read_text(
		"gemini",
		"{\"type\":\"result\",\"status\":\"error\",\"error\":{\"type\":\"unknown\",\"message\":\"[API Error: "
		"{\\\"error\\\":{\\\"code\\\":429,\\\"message\\\":\\\"Please retry in 30s.\\\"}}]\"}}\n",
		&seen);
	CHECK("gemini: the provider's own status is found in its message",
	      seen.summary.error == FAILURE_RATE_LIMIT);
	agent_summary_release(&seen.summary);
	read_text(
		"gemini",
		"{\"type\":\"result\",\"status\":\"error\",\"error\":{\"message\":\"[API Error: Overloaded]\"}}\n",
		&seen);
	agent_summary_exit(&seen.summary, agent_format_find("gemini"), 503 - 256);
	CHECK("gemini: where its stream does not say it, its exit status does",
	      seen.summary.error == FAILURE_OVERLOADED);
	agent_summary_release(&seen.summary);
	read_text("opencode",
		  "{\"type\":\"text\",\"part\":{\"text\":\"so far\"}}\n"
		  "{\"type\":\"step_finish\",\"part\":{\"reason\":\"tool-calls\"}}\n",
		  &seen);
	CHECK("opencode: a stream that ends after a tool has not finished", !seen.summary.finished);
	agent_summary_release(&seen.summary);
	read_text("opencode", "{\"type\":\"step_finish\",\"part\":{\"reason\":\"unknown\"}}\n",
		  &seen);
	CHECK("opencode: an answer without an end has not finished either", !seen.summary.finished);
	agent_summary_release(&seen.summary);
}

/* After a line of 50 MB, the next lines are still understood. */
static void test_long_line(const char *format)
{
	enum { PIECE = 1 << 16, PIECES = 800 };
	AUTO_FREE char *piece = mem_alloc(PIECE);
	AUTO_FREE char *sentence =
		mem_format("%s: a line of 50 MB is one unknown event, and no more", format);
	static const char head[] = "{\"type\":\"text\",\"part\":\"";
	static const char tail[] = "\"}\n{\"type\":\"nothing known\"}\n";
	struct seen seen;
	struct agent_reader *reader = agent_reader_new(agent_format_find(format), take, &seen);

	begin(&seen, NULL);
	memset(piece, 'x', PIECE);
	agent_reader_feed(reader, head, strlen(head));
	for (int i = 0; i < PIECES; i++)
		agent_reader_feed(reader, piece, PIECE);
	agent_reader_feed(reader, tail, strlen(tail));
	agent_reader_end(reader);
	agent_reader_free(reader);
	CHECK(sentence, seen.summary.unknown == 2 && !seen.summary.final);
	agent_summary_release(&seen.summary);
}

static void test_bytes(void)
{
	static const char *const formats[] = { "claude", "codex", "gemini", "opencode" };
	static const char broken[] =
		"{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"a\xff\xc3(\\ud800\\u0000z\"}}\n";
	struct seen seen;

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		AUTO_FREE char *sentence = mem_format(
			"%s: lines that are not JSON, objects or events are counted and skipped",
			formats[i]);

		test_long_line(formats[i]);
		read_text(formats[i],
			  "plain text\n[1]\n\n{\"type\":\"news\"}\n{\"type\":\"te\n{]}\n{\"a\":1",
			  &seen);
		CHECK(sentence, seen.summary.unknown == 6 && !seen.summary.finished);
		agent_summary_release(&seen.summary);
	}
	read_text("codex", broken, &seen);
	CHECK("invalid UTF-8, halves of characters and NUL are replaced",
	      seen.summary.final &&
		      strcmp(seen.summary.final,
			     "a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbdz") == 0);
	agent_summary_release(&seen.summary);

	read_text("claude",
		  "{\"type\":\"result\",\"subtype\":\"success\",\"usage\":{\"odd\":\"\xff\\ud83d\","
		  "\"large\":123456789012345678901234567890},\"result\":\"done \\ud83d\"}\n",
		  &seen);
	CHECK("claude: a turn has ended even if its last line is cut inside a character",
	      seen.summary.finished && seen.summary.ok && seen.summary.final &&
		      strcmp(seen.summary.final, "done \xef\xbf\xbd") == 0);
	agent_summary_release(&seen.summary);
}

static int64_t nano(const char *text)
{
	return jsonline_nano((struct jsonline){ text, strlen(text) });
}

static int64_t cost_of(const char *cost)
{
	AUTO_FREE char *text = mem_format("{\"type\":\"result\",\"subtype\":\"success\","
					  "\"total_cost_usd\":%s,\"modelUsage\":{\"m\":{"
					  "\"inputTokens\":5,\"outputTokens\":5}}}\n",
					  cost);
	struct seen seen;

	read_text("claude", text, &seen);
	return seen.summary.cost_nusd;
}

static void test_costs(void)
{
	static const char *const malformed[] = { "",     "-1",           "-0.1",
						 "e3",   ".5",           "1e",
						 "1e+",  "1e-",          "1ex",
						 "0x10", "1.2.3",        "nan",
						 "1e99", "1e9999999999", "99999999999999999999" };
	bool unknown = true;

	CHECK("a cost may have an exponent, and stays exact",
	      nano("4.4e-3") == 4400000 && nano("4.4E-03") == 4400000 && nano("44e-4") == 4400000 &&
		      nano("1.5e+0") == 1500000000 && nano("0.028900000000000002") == 28900000);
	CHECK("a cost below a nano-dollar is rounded",
	      nano("4e-10") == 0 && nano("5e-10") == 1 && nano("0") == 0 && nano("0e5") == 0);
	for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
		unknown = unknown && nano(malformed[i]) == -1;
	CHECK("a malformed cost is unknown, not 0", unknown);
	CHECK("claude: a cost with an exponent counts", cost_of("4.4e-3") == 4400000);
	CHECK("claude: the cost of a run is unknown if it is malformed",
	      cost_of("\"free\"") == -1 && cost_of("null") == -1 && cost_of("-4.4e-3") == -1 &&
		      cost_of("1e99") == -1);
}

static void test_adapters(void)
{
	const struct adapter *agent;

	for (size_t i = 0; (agent = adapter_at(i)); i++) {
		AUTO_FREE char *sentence = mem_format(
			"%s: what skips permissions is in the command with a fence alone",
			agent->name);
		AUTO_BUFFER struct buffer with = BUFFER_INIT(1 << 16),
					  without = BUFFER_INIT(1 << 16);
		struct adapter_order order = { .program = "/a b/it's",
					       .model = "m",
					       .fenced = true };
		bool held = true;

		if (!agent->program)
			continue;
		adapter_command(agent, &order, &with);
		order.fenced = false;
		adapter_command(agent, &order, &without);
		for (const char *const *word = agent->bypass; *word; word++) {
			AUTO_FREE char *quoted = mem_format(" '%s'", *word);

			held = held && strstr(buffer_text(&with), quoted) &&
			       !strstr(buffer_text(&without), quoted);
		}
		CHECK(sentence, held && strstr(buffer_text(&with), "'/a b/it'\\''s'"));
	}
	CHECK("versions are compared by their numbers",
	      adapter_version_compare("2.1.325", "2.1.9") > 0 &&
		      adapter_version_compare("0.166.0", "0.167") < 0 &&
		      adapter_version_compare("1.18.33", "1.18.33") == 0 &&
		      adapter_version_compare("1.18", "1.18.0") == 0);
}

int main(void)
{
	test_fixtures();
	test_claude();
	test_retries();
	test_sums();
	test_costs();
	test_codex_and_others();
	test_bytes();
	test_adapters();
	return unit_failures > 0;
}
