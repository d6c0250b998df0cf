/* Usage is read from streams in every format, split at every byte, and never from prose. */
#include "unit.h"

#include "meter/usage.h"

#include "util/mem.h"

#include <string.h>
#include <time.h>

/* Reads a text whole and split at each of its bytes; all results must agree. */
static bool read_split(enum usage_format format, bool stream, const char *text, struct usage *ret)
{
	static struct usage_reader reader;
	size_t size = strlen(text);

	usage_init(&reader, format, stream);
	usage_feed(&reader, text, size);
	*ret = reader.usage;
	for (size_t at = 0; at <= size; at++) {
		usage_init(&reader, format, stream);
		usage_feed(&reader, text, at);
		usage_feed(&reader, text + at, size - at);
		if (memcmp(&reader.usage, ret, sizeof *ret) != 0)
			return false;
	}
	usage_init(&reader, format, stream);
	for (size_t at = 0; at < size; at++)
		usage_feed(&reader, text + at, 1);
	return memcmp(&reader.usage, ret, sizeof *ret) == 0;
}

static bool tokens(const struct usage *usage, uint64_t input, uint64_t output, uint64_t write_5m,
		   uint64_t write_1h, uint64_t read)
{
	const uint64_t *t = usage->use.tokens;

	return t[PRICE_INPUT] == input && t[PRICE_OUTPUT] == output &&
	       t[PRICE_WRITE_5M] == write_5m && t[PRICE_WRITE_1H] == write_1h &&
	       t[PRICE_READ] == read;
}

/* Reads an error whose message has this many bytes and then a word. Returns true if it is kept. */
static bool keeps_message(int bytes)
{
	static struct usage_reader reader;
	AUTO_FREE char *text = mem_format(
		"{\"error\":{\"message\":\"%*s\\u0020END\",\"type\":\"rate_limit_error\"}}", bytes,
		"x");

	usage_init(&reader, USAGE_ANTHROPIC, false);
	usage_feed(&reader, text, strlen(text));
	return strlen(reader.usage.message) == (size_t)bytes + 4 &&
	       strstr(reader.usage.message, " END") &&
	       strcmp(reader.usage.error, "rate_limit_error") == 0;
}

static const char messages[] =
	"event: message_start\n"
	"data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"model\":\"claude-opus-5-5\","
	"\"content\":[],\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":30,\"cache_read_input_tokens\":40,"
	"\"cache_creation\":{\"ephemeral_5m_input_tokens\":10,\"ephemeral_1h_input_tokens\":20},\"output_tokens\":1,"
	"\"service_tier\":\"standard\",\"inference_geo\":\"us\",\"speed\":\"fast\"}}}\n\n"
	"event: content_block_start\n"
	"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
	"event: ping\ndata: {\"type\": \"ping\"}\n\n"
	"event: content_block_delta\n"
	"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":"
	"\"say \\\"usage\\\":{\\\"output_tokens\\\":99999} and \\u00e4\"}}\n\n"
	"event: message_delta\n"
	"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":null},\"usage\":{\"output_tokens\":50,\"input_tokens\":null}}\n\n"
	"event: message_delta\n"
	"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"input_tokens\":12,"
	"\"cache_creation_input_tokens\":30,\"cache_read_input_tokens\":null,\"output_tokens\":77,"
	"\"server_tool_use\":{\"web_search_requests\":2}}}\n\n"
	"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

static void anthropic(void)
{
	struct usage usage;

	CHECK("a stream of messages is read the same, wherever it is split",
	      read_split(USAGE_ANTHROPIC, true, messages, &usage));
	CHECK("deltas replace and do not add; null changes nothing; the split of the cache is kept",
	      tokens(&usage, 12, 77, 10, 20, 40));
	CHECK("model, speed, region, searches and the end are read",
	      strcmp(usage.model, "claude-opus-5-5") == 0 && usage.use.fast &&
		      strcmp(usage.use.geo, "us") == 0 && usage.use.searches == 2 && usage.ended &&
		      usage.has_input && usage.has_output);
	CHECK("usage within a text counts as text", usage.text_bytes == 42 && usage.deltas == 1);
	CHECK("a message in one piece is read",
	      read_split(
		      USAGE_ANTHROPIC, false,
		      " {\"type\":\"message\",\"model\":\"x\",\"content\":[{\"type\":\"text\",\"text\":\"hello\"},"
		      "{\"type\":\"tool_use\",\"input\":{\"usage\":{\"output_tokens\":5000}}}],\"usage\":{\"input_tokens\":3,"
		      "\"output_tokens\":4,\"cache_creation_input_tokens\":7}} ",
		      &usage) &&
		      tokens(&usage, 3, 4, 7, 0, 0) && usage.ended && usage.text_bytes == 5);
	CHECK("the start alone gives no output",
	      read_split(
		      USAGE_ANTHROPIC, true,
		      "data: {\"message\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\r\n\r\n",
		      &usage) &&
		      usage.has_input && !usage.has_output && !usage.ended);
	CHECK("an error in the stream is read",
	      read_split(
		      USAGE_ANTHROPIC, true,
		      "event: error\rdata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\r\r",
		      &usage) &&
		      usage.ended && strcmp(usage.error, "overloaded_error") == 0 &&
		      strcmp(usage.message, "Overloaded") == 0);
	CHECK("a long error message is kept, up to 4 KiB",
	      keeps_message(300) && keeps_message(4000));
	CHECK("a longer one is cut", !keeps_message(5000));
	CHECK("writes without a split are those of five minutes, or of what was said",
	      read_split(
		      USAGE_ANTHROPIC, false,
		      "{\"usage\":{\"cache_creation_input_tokens\":9,\"cache_creation\":{\"ephemeral_1h_input_tokens\":4}}}",
		      &usage) &&
		      tokens(&usage, 0, 0, 0, 9, 0));
}

static void openai(void)
{
	struct usage usage;

	CHECK("a chat's last chunk counts; cached tokens are a part of the prompt",
	      read_split(
		      USAGE_CHAT, true,
		      "data: {\"model\":\"gpt-5.5\",\"choices\":[{\"delta\":{\"content\":\"abcd\"},\"finish_reason\":null}],\"usage\":null}\n\n"
		      "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}]}\n\n"
		      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":20,\"total_tokens\":120,"
		      "\"prompt_tokens_details\":{\"cached_tokens\":60},\"completion_tokens_details\":{\"reasoning_tokens\":9}}}\n\n"
		      "data: [DONE]\n\n",
		      &usage) &&
		      tokens(&usage, 40, 20, 0, 0, 60) && usage.ended && usage.text_bytes == 6);
	CHECK("a chat in one piece is read",
	      read_split(
		      USAGE_CHAT, false,
		      "{\"choices\":[{\"message\":{\"content\":\"\\\"usage\\\":{\\\"completion_tokens\\\":7}\"},\"finish_reason\":\"stop\"}],"
		      "\"usage\":{\"completion_tokens\":2,\"prompt_tokens\":8,\"prompt_tokens_details\":null},\"service_tier\":\"priority\"}",
		      &usage) &&
		      tokens(&usage, 8, 2, 0, 0, 0) && usage.use.fast);
	CHECK("an error names its code before its type",
	      read_split(
		      USAGE_CHAT, false,
		      "{\"error\":{\"message\":\"m\",\"type\":\"requests\",\"code\":\"rate_limit_exceeded\"}}",
		      &usage) &&
		      strcmp(usage.error, "rate_limit_exceeded") == 0);
	CHECK("a response is read when it is completed; padding counts nothing",
	      read_split(
		      USAGE_RESPONSES, true,
		      "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\",\"usage\":null}}\n\n"
		      "data: {\"type\":\"response.output_text.delta\",\"delta\":\"hey\",\"obfuscation\":\"aaaaaaaaaaaaaa\"}\n\n"
		      "data: {\"type\":\"response.completed\",\"response\":{\"model\":\"gpt-6-sol-2026-09-01\",\"output\":[{\"type\":\"web_search_call\"},"
		      "{\"type\":\"message\"}],\"usage\":{\"input_tokens\":50,\"input_tokens_details\":{\"cached_tokens\":10,\"cache_write_tokens\":5},"
		      "\"output_tokens\":6}}}\n\n",
		      &usage) &&
		      tokens(&usage, 35, 6, 5, 0, 10) && usage.ended && usage.use.searches == 1 &&
		      usage.text_bytes == 3);
	CHECK("an incomplete or failed response is read as well",
	      read_split(
		      USAGE_RESPONSES, true,
		      "data: {\"type\":\"response.incomplete\",\"response\":{\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}}\n\n",
		      &usage) &&
		      usage.ended && tokens(&usage, 1, 2, 0, 0, 0) &&
		      read_split(
			      USAGE_RESPONSES, true,
			      "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"m\"},\"usage\":null}}\n\n",
			      &usage) &&
		      usage.ended && strcmp(usage.error, "insufficient_quota") == 0);
	CHECK("a response in one piece is read",
	      read_split(
		      USAGE_RESPONSES, false,
		      "{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"usage\":{\"output_tokens\":9}}]}],"
		      "\"usage\":{\"input_tokens\":4,\"output_tokens\":5}}",
		      &usage) &&
		      usage.ended && tokens(&usage, 4, 5, 0, 0, 0));
}

static void gemini(void)
{
	struct usage usage;

	CHECK("Gemini's last numbers win; thoughts are output",
	      read_split(
		      USAGE_GEMINI, true,
		      "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ab\"}]}}],\"usageMetadata\":{\"promptTokenCount\":30,"
		      "\"cachedContentTokenCount\":10,\"candidatesTokenCount\":1,\"thoughtsTokenCount\":99}}\r\n\r\n"
		      "data: {\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":31,\"candidatesTokenCount\":7,"
		      "\"thoughtsTokenCount\":3,\"toolUsePromptTokenCount\":2},\"modelVersion\":\"gemini-2.5-pro\"}\r\n\r\n",
		      &usage) &&
		      tokens(&usage, 33, 10, 0, 0, 0) && usage.ended);
	CHECK("a list of answers is read as a stream",
	      read_split(
		      USAGE_GEMINI, false,
		      "[{\"usageMetadata\":{\"promptTokenCount\":1}},\n{\"usageMetadata\":{\"promptTokenCount\":5,"
		      "\"cachedContentTokenCount\":4,\"candidatesTokenCount\":6}}]",
		      &usage) &&
		      tokens(&usage, 1, 6, 0, 0, 4));
	CHECK("an error has a status",
	      read_split(
		      USAGE_GEMINI, false,
		      "{\"error\":{\"code\":429,\"message\":\"m\",\"status\":\"RESOURCE_EXHAUSTED\"}}",
		      &usage) &&
		      strcmp(usage.error, "RESOURCE_EXHAUSTED") == 0);
}

static bool is_whole(enum usage_format format, bool stream, const char *text)
{
	static struct usage_reader reader;

	usage_init(&reader, format, stream);
	usage_feed(&reader, text, strlen(text));
	return usage_whole(&reader);
}

static void whole(void)
{
	CHECK("a streamed answer is whole after its last event",
	      is_whole(USAGE_ANTHROPIC, true, messages) &&
		      !is_whole(USAGE_ANTHROPIC, true, "data: {\"type\":\"message_start\"}\n\n"));
	CHECK("other formats end with a reason",
	      is_whole(USAGE_CHAT, true,
		       "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n") &&
		      is_whole(USAGE_RESPONSES, true,
			       "data: {\"type\":\"response.incomplete\"}\n\n") &&
		      is_whole(USAGE_GEMINI, true,
			       "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"));
	CHECK("a prompt that Google blocks gets no answer, and nothing is missing",
	      is_whole(USAGE_GEMINI, false, "{\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}") &&
		      !is_whole(USAGE_GEMINI, false, "{\"promptFeedback\":{}}"));
	CHECK("an answer that is not streamed is whole after its last bracket",
	      is_whole(USAGE_ANTHROPIC, false, "{\"type\":\"message\",\"content\":[]}") &&
		      !is_whole(USAGE_ANTHROPIC, false, "{\"type\":\"message\",\"content\":["));
	CHECK("an error takes the place of an answer",
	      is_whole(USAGE_ANTHROPIC, true,
		       "data: {\"type\":\"error\",\"error\":{\"type\":\"api_error\"}}\n\n"));
}

static void odd(void)
{
	struct usage usage;
	static struct usage_reader reader;

	CHECK("broken JSON gives only what came before the error",
	      read_split(
		      USAGE_ANTHROPIC, false,
		      "{\"usage\":{\"input_tokens\":3,\"output_tokens\":}, \"usage\":{\"output_tokens\":9}}",
		      &usage) &&
		      tokens(&usage, 3, 0, 0, 0, 0) && !usage.has_output);
	CHECK("a broken event does not spoil the next one",
	      read_split(
		      USAGE_CHAT, true,
		      "data: {\"choices\":[{]\n\ndata: {\"usage\":{\"completion_tokens\":5}}\n\n",
		      &usage) &&
		      usage.has_output && tokens(&usage, 0, 5, 0, 0, 0));
	CHECK("a number that is cut off does not count",
	      read_split(USAGE_CHAT, true, "data: {\"usage\":{\"completion_tokens\":5", &usage) &&
		      !usage.has_output);
	CHECK("numbers of other forms are rounded up, and kept within bounds",
	      read_split(
		      USAGE_ANTHROPIC, false,
		      "{\"usage\":{\"input_tokens\":1.5e1,\"output_tokens\":-4,\"cache_read_input_tokens\":1e300}}",
		      &usage) &&
		      tokens(&usage, 15, 0, 0, 0, UINT64_C(1) << 53) &&
		      read_split(USAGE_ANTHROPIC, false, "{\"usage\":{\"input_tokens\":2.25}}",
				 &usage) &&
		      tokens(&usage, 3, 0, 0, 0, 0));
	CHECK("strings are not numbers",
	      read_split(USAGE_ANTHROPIC, false,
			 "{\"usage\":{\"input_tokens\":\"99\",\"output_tokens\":[5]}}", &usage) &&
		      !usage.has_input && !usage.has_output);
	CHECK("an escaped key is that key",
	      read_split(USAGE_ANTHROPIC, false, "{\"us\\u0061ge\":{\"output\\u005ftokens\":5}}",
			 &usage) &&
		      tokens(&usage, 0, 5, 0, 0, 0));
	CHECK("a byte order mark and comments are passed over; data may come in several lines",
	      read_split(USAGE_CHAT, true,
			 "\xef\xbb\xbf"
			 "data: {\"usage\":\n: comment\ndata:{\"completion_tokens\":6}}\nid: 5\n\n",
			 &usage) &&
		      usage.has_output);
	usage_init(&reader, USAGE_ANTHROPIC, false);
	usage_feed(&reader, "{\"content\":[{\"text\":\"0123456789", 31);
	CHECK("a text that is cut off counts in the estimate", usage_estimate(&reader) == 5);
	CHECK("brackets deeper than any answer are survived",
	      read_split(
		      USAGE_ANTHROPIC, false,
		      "{\"x\":[[[[[[[[[[[[[[[[[[[[{\"usage\":{\"output_tokens\":9}}]]]]]]]]]]]]]]]]]]]],\"usage\":{\"output_tokens\":1}}",
		      &usage) &&
		      tokens(&usage, 0, 1, 0, 0, 0));
}

static size_t extras;

static void count_extra(void *context, size_t at, bool extra)
{
	(void)context;
	(void)at;
	extras += extra;
}

static void extra_chunks(void)
{
	static const char text[] =
		"data: {\"choices\":[{\"delta\":{}}],\"usage\":null}\n\n"
		"data: {\"choices\":[],\"usage\":null}\n\n"
		"data: {\"choices\":[{\"delta\":{}}],\"usage\":{\"prompt_tokens\":1}}\n\n"
		"data: {\"usage\":{\"prompt_tokens\":1},\"choices\":[]}\n\n"
		"data: [DONE]\n\n";
	static struct usage_reader reader;

	usage_init(&reader, USAGE_CHAT, true);
	reader.event = count_extra;
	usage_feed(&reader, text, sizeof text - 1);
	CHECK("only a chunk with usage and without choices is the extra one", extras == 1);
}

/* The bound catches only gross mistakes, since sanitizers or other load may slow this down. */
static void speed(void)
{
	enum { ROUNDS = 8, SIZE = 4 << 20 };
	static struct usage_reader reader;
	AUTO_FREE char *text = mem_alloc(SIZE);
	static const char event[] =
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
		"\"text\":\"some words here\"}}\n\n";
	size_t used = 0;
	struct timespec start;
	struct timespec end;

	for (; used + sizeof event < SIZE; used += sizeof event - 1)
		memcpy(text + used, event, sizeof event - 1);
	usage_init(&reader, USAGE_ANTHROPIC, true);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (size_t i = 0; i < ROUNDS; i++)
		usage_feed(&reader, text, used);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);

	double seconds = (double)(end.tv_sec - start.tv_sec) +
			 (double)(end.tv_nsec - start.tv_nsec) / 1e9;

	printf("# events of %zu bytes: %.0f MB/s\n", sizeof event - 1,
	       (double)used * ROUNDS / seconds / 1e6);
	CHECK("a stream is read faster than 10 MB/s", (double)used * ROUNDS / seconds > 10e6);
	CHECK("every text was seen",
	      reader.usage.text_bytes == ROUNDS * (used / (sizeof event - 1)) * 15);
}

static void chat_errors(void)
{
	struct usage usage;

	CHECK("a chat's error has its code, or else its type, and its message",
	      read_split(USAGE_CHAT, false,
			 "{\"error\":{\"message\":\"too fast\",\"type\":\"t\",\"code\":\"c\"}}",
			 &usage) &&
		      strcmp(usage.error, "c") == 0 && strcmp(usage.message, "too fast") == 0 &&
		      read_split(USAGE_CHAT, false,
				 "{\"error\":{\"message\":\"m\",\"type\":\"t\",\"code\":null}}",
				 &usage) &&
		      strcmp(usage.error, "t") == 0 && strcmp(usage.message, "m") == 0);
}

int main(void)
{
	chat_errors();
	anthropic();
	openai();
	gemini();
	whole();
	odd();
	extra_chunks();
	speed();
	return unit_failures > 0;
}
