/*
 * Tapes: written exchanges are read back, volatile parts do not count, and differences are
 * described.
 */
#include "unit.h"

#include "tape/tape.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t unused[16];

static struct tape_talk hear(const char *body, const struct tape_names *names)
{
	struct tape_talk talk = { .route = "messages",
				  .provider = "anthropic",
				  .model = "claude-opus-5-5" };
	const struct tape_names none = { 0 };

	tape_talk_read(&talk, body, strlen(body), names ? names : &none);
	return talk;
}

/* Returns an exchange with this body and one burst for each text. */
static struct tape_exchange make(const char *body, const char *const *bursts)
{
	struct tape_exchange exchange = { .method = "POST",
					  .path = "/v1/messages",
					  .status = 200,
					  .whole = true,
					  .talk = hear(body, NULL),
					  .body = BUFFER_INIT(TAPE_BODY) };

	exchange.headers = mem_dup("content-type: text/event-stream\n");
	for (uint32_t i = 0; bursts[i]; i++)
		tape_exchange_add(&exchange, i * 100, bursts[i], strlen(bursts[i]));
	exchange.end_ms = 1000;
	return exchange;
}

static void add(struct buffer *text, struct tape *tape, const char *body, const char *const *bursts)
{
	struct tape_exchange exchange = make(body, bursts);

	CHECK("an exchange is written", tape_write(tape, &exchange, text) == 0);
	tape_exchange_release(&exchange);
}

static bool plain_is(const char *text, const char *expected)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);

	tape_normalize(&out, text, strlen(text));
	if (strcmp(buffer_text(&out), expected) == 0)
		return true;
	printf("# '%s' is '%s'\n", text, buffer_text(&out));
	return false;
}

static void plain(void)
{
	CHECK("dates are removed", plain_is("on 2026-11-17T05:34:02.5Z.", "on #.") &&
					   plain_is("2026-11-17 05:34", "#") &&
					   plain_is("Tue Nov 17 05:34:02 UTC 2026", "## # UTC #") &&
					   plain_is("Tuesday, November 17, 2026", "##, #") &&
					   plain_is("11/17/2026", "#"));
	CHECK("times and durations are removed",
	      plain_is("at 05:34:02", "at #") &&
		      plain_is("took 12ms, 0.03 s, 5 seconds", "took #, #, #") &&
		      plain_is("real 0m0.012s", "real #") &&
		      plain_is("Time left: 7h59m.", "Time left: #.") &&
		      plain_is("duration_ms 4.5", "duration_ms #") && plain_is("0.12345", "#"));
	CHECK("ids and process ids are removed",
	      plain_is("pid 7, PID: 31, PGID: 24", "pid #, PID: #, PGID: #") &&
		      plain_is("commit 3f2a9c11d0", "commit #") &&
		      plain_is("01a1e817-c61d-7e11-b6c8-7135793440ed", "#") &&
		      plain_is("ls_1794895244681_0", "#") &&
		      plain_is("toolu_01A09q90qw90lq917835lq9", "#") &&
		      plain_is("port 43127", "port #"));
	CHECK("temporary names and money are removed",
	      plain_is("/tmp/tmp.aB3x/file.c", "/tmp/#/file.c") &&
		      plain_is("Money left: US$ 24.99.", "Money left: US$ #."));
	CHECK("meaningful text stays",
	      plain_is("2 of 3 tests failed", "2 of 3 tests failed") &&
		      plain_is("exit status 1", "exit status 1") &&
		      plain_is("main.c:12:34: error", "main.c:12:34: error") &&
		      plain_is("You may see May flowers in the sun",
			       "You may see May flowers in the sun") &&
		      plain_is("v1.2.3 x86_64 feedback", "v1.2.3 x86_64 feedback"));
}

static const char first_body[] =
	"{\"system\":\"Be brief.\",\"messages\":[{\"role\":\"user\",\"content\":\"Fix it\\nnow, in /srv/a/work/x.c\"}]}";
static const char second_body[] =
	"{\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\"}],\"metadata\":{\"user_id\":\"u1\"},"
	"\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Fix it\\nnow, in /srv/a/work/x.c\",\"cache_control\":{\"type\":\"ephemeral\"}}]},"
	"{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\":\"make\"}}]},"
	"{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"2 failed\"}]}]}";

static void talks(void)
{
	struct tape_names names = { 0 };
	struct tape_talk one = hear(first_body, NULL);
	struct tape_talk two = hear(second_body, NULL);
	struct tape_talk broken = hear("{\"messages\": [", NULL);
	struct tape_talk chat = hear(
		"{\"messages\":[{\"role\":\"system\",\"content\":\"x\"},{\"role\":\"user\",\"content\":\"Hi\"}],"
		"\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"run\"}}]}",
		NULL);
	struct tape_talk named;

	CHECK("a text becomes its lines",
	      one.count == 1 &&
		      strcmp(one.turns[0].text, "Fix it\nnow, in /srv/a/work/x.c\n") == 0);
	CHECK("parts and cache marks make no difference",
	      two.count == 3 && strcmp(one.turns[0].key, two.turns[0].key) == 0 &&
		      strcmp(one.system, two.system) == 0);
	CHECK("tool calls are shown as lines",
	      strcmp(two.turns[1].text,
		     "- type: \"tool_use\"\n  id: \"t1\"\n  name: \"Bash\"\n  input:\n    command: \"make\"\n") ==
		      0);
	CHECK("a body that is not JSON is one message",
	      broken.count == 1 && strcmp(broken.turns[0].role, "raw") == 0);
	CHECK("the client's own prompt is not part of the conversation",
	      chat.count == 1 && strcmp(chat.turns[0].text, "Hi\n") == 0 && chat.system[0] &&
		      strcmp(chat.tools, "run") == 0);
	tape_names_add(&names, "/srv/a/work", "<project>", true);
	tape_names_add(&names, "/srv/a", "<home>", true);
	named = hear("{\"input\":\"/srv/a/work/x /srv/a/workshop /srv/a. /srv/ab\"}", &names);
	CHECK("folders get placeholders, their siblings do not",
	      named.count == 1 && strcmp(named.turns[0].text,
					 "<project>/x <home>/workshop <home>. /srv/ab\n") == 0);
	tape_talk_release(&one);
	tape_talk_release(&two);
	tape_talk_release(&broken);
	tape_talk_release(&chat);
	tape_talk_release(&named);
}

static const char *const words[] = { "data: {\"a\":\"\\n\"}\n\nda", "ta: \xff\x01\\ end\n", NULL };
static const char *const others[] = { "{}", NULL };

/* Writes a tape of two exchanges; the second continues the first. */
static void write_two(struct buffer *text)
{
	struct tape tape = { 0 };

	buffer_add_text(text, tape_first_line);
	add(text, &tape, first_body, words);
	add(text, &tape, second_body, others);
	tape_release(&tape);
}

static void round_trip(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TAPE_MOST);
	struct tape_talk one = hear(first_body, NULL);
	struct tape_talk two = hear(second_body, NULL);
	struct tape tape = { 0 };
	struct error err = { 0 };
	const char *bytes = "data: {\"a\":\"\\n\"}\n\ndata: \xff\x01\\ end\n";

	write_two(&text);
	CHECK("known messages are named, not repeated",
	      strstr(buffer_text(&text), "\nafter ") &&
		      !strstr(strstr(buffer_text(&text), "\nafter "), "Fix it"));
	CHECK("a tape is read", tape_read(buffer_text(&text), text.used, &tape, &err) == 0);
	CHECK("with all its exchanges", tape.count == 2 && !tape.torn && tape.size == text.used);
	CHECK("byte for byte",
	      tape.exchanges[0].body.used == strlen(bytes) &&
		      memcmp(tape.exchanges[0].body.data, bytes, strlen(bytes)) == 0);
	CHECK("in the bursts in which it arrived",
	      tape.exchanges[0].burst_count == 2 && tape.exchanges[0].bursts[1].at_ms == 100 &&
		      tape.exchanges[0].bursts[1].start == strlen(words[0]));
	CHECK("each conversation finds its answer",
	      tape_find(&tape, &one, unused, false) == 0 &&
		      tape_find(&tape, &two, unused, false) == 1);
	CHECK("an answer is used once",
	      tape_find(&tape, &one, (const uint64_t[]){ 1, 0 }, false) == SIZE_MAX);
	CHECK("or repeated, if that is allowed",
	      tape_find(&tape, &one, (const uint64_t[]){ 1, 0 }, true) == 0);
	snprintf(one.model, sizeof one.model, "another");
	CHECK("another model does not match", tape_find(&tape, &one, unused, false) == SIZE_MAX);
	tape_talk_release(&one);
	tape_talk_release(&two);
	tape_release(&tape);
}

static void twins(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TAPE_MOST);
	static const char *const a[] = { "a", NULL };
	static const char *const b[] = { "b", NULL };
	struct tape tape = { 0 };
	struct tape read;
	struct error err;
	struct tape_talk brief = hear(
		"{\"system\":\"Title!\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}",
		NULL);
	struct tape_talk plain_one = hear("{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}",
					  NULL);

	buffer_add_text(&text, tape_first_line);
	add(&text, &tape, "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}", a);
	add(&text, &tape,
	    "{\"system\":\"Title!\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}", b);
	tape_release(&tape);
	CHECK("twins are read", tape_read(buffer_text(&text), text.used, &read, &err) == 0);
	CHECK("the client's own prompt decides between twins",
	      tape_find(&read, &brief, unused, false) == 1 &&
		      tape_find(&read, &plain_one, unused, false) == 0);
	CHECK("and nothing else does",
	      tape_find(&read, &brief, (const uint64_t[]){ 0, 1 }, false) == 0);
	tape_talk_release(&brief);
	tape_talk_release(&plain_one);
	tape_release(&read);
}

/* Returns whether the description of a request that is not on the tape contains this text. */
static bool parts(const char *body, const uint64_t *used, const char *expected)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TAPE_MOST);
	struct tape_talk talk = hear(body, NULL);
	char difference[TAPE_DIFFERENCE];
	struct tape tape;
	struct error err;
	bool result;

	write_two(&text);
	if (tape_read(buffer_text(&text), text.used, &tape, &err) < 0)
		return false;
	tape_difference(&tape, &talk, used, difference);
	result = strstr(difference, expected) != NULL;
	if (!result)
		printf("# %s\n", difference);
	tape_talk_release(&talk);
	tape_release(&tape);
	return result;
}

static void differences(void)
{
	static const uint64_t first_used[] = { 1, 0 };
	static const uint64_t both[] = { 1, 1 };

	CHECK("the first message that differs is shown, with both sides",
	      parts("{\"messages\":[{\"role\":\"user\",\"content\":\"Fix it\\nlater\"}]}", unused,
		    "message 1 (user), line 2: recorded \"now, in /srv/a/work/x.c\", received \"later\" (line 3 of the tape)"));
	CHECK("also far into a conversation",
	      parts("{\"messages\":[{\"role\":\"user\",\"content\":\"Fix it\\nnow, in /srv/a/work/x.c\"},"
		    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\":\"make\"}}]},"
		    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"3 failed\"}]}]}",
		    unused,
		    "message 3 (user), line 3: recorded \"  content: \"2 failed\"\", received \"  content: \"3 failed\"\""));
	CHECK("a repeated request is reported",
	      parts(first_body, first_used,
		    "the tape has this request 1 time, but it was sent once more"));
	CHECK("a request after the end is reported",
	      parts("{\"messages\":[{\"role\":\"user\",\"content\":\"Other\"}]}", both,
		    "all exchanges on the tape are used, but another request was sent"));
	CHECK("a different role is shown",
	      parts("{\"messages\":[{\"role\":\"assistant\",\"content\":\"Fix it\"}]}", unused,
		    "message 1: recorded user \"Fix it\", received assistant \"Fix it\""));
	CHECK("a shorter conversation is shown",
	      parts("{\"messages\":[]}", unused,
		    "message 1 (user) was recorded but not received: \"Fix it\""));
}

static bool refused(const char *text, const char *why)
{
	struct tape tape;
	struct error err = { 0 };

	if (tape_read(text, strlen(text), &tape, &err) == 0) {
		tape_release(&tape);
		return false;
	}
	if (strstr(err.text, why))
		return true;
	printf("# %s\n", err.text);
	return false;
}

#define HEAD "ringfence tape 1\n"
#define ONE  HEAD "exchange POST /v1/messages\nroute messages anthropic\n"

static void wrong(void)
{
	CHECK("another file is not a tape", refused("#!/bin/sh\n", "line 1: this is not a tape"));
	CHECK("an unknown line is reported",
	      refused(HEAD "\nhello\n", "line 3: unknown kind of line"));
	CHECK("parts must be in order",
	      refused(ONE "answer 200\nmodel \"x\"\n", "line 5: this line is out of place") &&
		      refused(HEAD "route a b\n", "line 2: this line is out of place") &&
		      refused(ONE "at 5\n", "is out of place"));
	CHECK("only earlier messages can be named",
	      refused(ONE "after abc 1\n", "line 4: no earlier message has this name"));
	CHECK("invalid escapes are refused",
	      refused(ONE "answer 200\nat 1\n!|\\y\n", "line 6: a backslash must be followed"));
	CHECK("invalid numbers are refused",
	      refused(ONE "answer 1000\n", "a status") &&
		      refused(ONE "answer 200\nat -1\n", "milliseconds") &&
		      refused(ONE "answer 200\nat 99999999999\n", "milliseconds"));
	CHECK("time does not go back", refused(ONE "answer 200\nat 5\nat 4\n", "not fewer"));
	CHECK("a header cannot contain a line break",
	      refused(ONE "answer 200\nheader a: b\rc: d\n", "contains invalid characters"));
}

static void torn(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TAPE_MOST);
	struct error err;
	bool held = true;

	write_two(&text);
	/*
	 * Wherever the tape is cut, complete exchanges are read and the incomplete one is ignored.
	 */
	for (size_t size = 0; size < text.used; size++) {
		struct tape tape;

		if (tape_read(text.data, size, &tape, &err) < 0) {
			held = false;
			break;
		}
		held = held && tape.count < 2 && tape.size <= size &&
		       (tape.torn || tape.size == size);
		tape_release(&tape);
	}
	CHECK("a torn end is ignored, wherever it is torn", held);
}

int main(void)
{
	plain();
	talks();
	round_trip();
	twins();
	differences();
	wrong();
	torn();
	return unit_failures > 0;
}
