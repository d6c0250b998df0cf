/* The last words of a final message, a task list, and the user's own messages. */
#include "unit.h"

#include "decision/blocked.h"
#include "decision/boxes.h"
#include "decision/promise.h"
#include "decision/told.h"

#include "util/mem.h"

#include <string.h>

static bool promised(const char *message, const char *promise)
{
	return promise_found(message, strlen(message), promise);
}

static void promises(void)
{
	CHECK("the promise as the last word is given",
	      promised("All tests pass.\n\n<promise>COMPLETE</promise>", NULL));
	CHECK("the promise alone is given", promised("<promise>COMPLETE</promise>", NULL));
	CHECK("white space may follow",
	      promised("done\r\n<promise>COMPLETE</promise> \r\n\t\n", NULL));
	CHECK("asterisks may enclose it", promised("**<promise>COMPLETE</promise>**\n", NULL));
	CHECK("a closing fence may follow",
	      promised("```\n<promise>COMPLETE</promise>\n```\n", NULL) &&
		      promised("~~~~\n<promise>COMPLETE</promise>\n  ~~~~", NULL));
	CHECK("a quotation in a line does not give it",
	      !promised("I will print `<promise>COMPLETE</promise>`", NULL) &&
		      !promised("When done, \"<promise>COMPLETE</promise>\"", NULL));
	CHECK("a word after it takes it back",
	      !promised("<promise>COMPLETE</promise> but one test fails", NULL) &&
		      !promised("<promise>COMPLETE</promise>.", NULL));
	CHECK("a promise quoted earlier does not count",
	      !promised("You asked for <promise>COMPLETE</promise>.\nTwo boxes are open.", NULL));
	CHECK("another promise does not count",
	      !promised("<promise>complete</promise>", NULL) && !promised("COMPLETE", NULL));
	CHECK("any text can be the promise",
	      promised("LOOP_COMPLETE", "LOOP_COMPLETE") && promised("ok: *done*\n", "*done*") &&
		      promised("status\nEXIT_SIGNAL: true\n", "EXIT_SIGNAL: true") &&
		      promised("\xe2\x9c\x93 fertig", "fertig"));
	CHECK("white space around the configured text is ignored", promised("DONE", " DONE\n"));
	CHECK("a longer word is another word",
	      !promised("INCOMPLETE", "COMPLETE") && !promised("un-DONE", "DONE") &&
		      !promised("not_DONE", "DONE") && promised("now: DONE", "DONE"));
	CHECK("an empty promise is never given", !promised("anything", "") && !promised("", " "));
	CHECK("an empty message promises nothing", !promised("", NULL) && !promised("\n", NULL));
	CHECK("a message of marks promises nothing",
	      !promised("***\n```\n```\n", NULL) && !promised("```", NULL));
	CHECK("a message may hold NUL", promise_found("a\0DONE", 6, "DONE"));
}

/* Is this what a person must do, by the message? NULL: nothing. */
static bool blocked(const char *message, const char *text)
{
	char found[BLOCKED_MAX] = "";
	bool is = blocked_read(message, strlen(message), found, sizeof found);

	if (is && (!text || strcmp(found, text) != 0))
		printf("# %s\n", found);
	return text ? is && strcmp(found, text) == 0 : !is;
}

static void blocked_agents(void)
{
	char small[8];
	static const char many[] = "<blocked>\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4</blocked>";

	CHECK("an agent says as its last words that it is blocked",
	      blocked("I looked.\n\n<blocked>Create a token</blocked>", "Create a token") &&
		      blocked("<blocked>x</blocked>", "x"));
	CHECK("white space, asterisks and a closing fence may follow",
	      blocked("**<blocked>x</blocked>** \r\n", "x") &&
		      blocked("```\n<blocked>x</blocked>\n```\n", "x"));
	CHECK("a word after it takes it back",
	      blocked("<blocked>x</blocked> or I do it myself", NULL) &&
		      blocked("<blocked>x</blocked>.", NULL) &&
		      blocked("I could say `<blocked>x</blocked>`", NULL));
	CHECK("the promise after it is the last word",
	      blocked("<blocked>x</blocked>\n<promise>COMPLETE</promise>", NULL));
	CHECK("and a promise inside it is not the last word",
	      blocked("<blocked>x <promise>COMPLETE</promise></blocked>",
		      "x <promise>COMPLETE</promise>") &&
		      !promised("<blocked>x <promise>COMPLETE</promise></blocked>", NULL));
	CHECK("the tags are exact",
	      blocked("<Blocked>x</Blocked>", NULL) && blocked("<blocked >x</blocked>", NULL) &&
		      blocked("x</blocked>", NULL) && blocked("<blocked>x", NULL));
	CHECK("the last opening tag counts",
	      blocked("<blocked>a <blocked>b</blocked>", "b") &&
		      blocked("<blocked>a</blocked> <blocked>b</blocked>", "b"));
	CHECK("what was closed before is not open",
	      blocked("<blocked>a</blocked> b</blocked>", NULL));
	CHECK("without a text nothing is said",
	      blocked("<blocked></blocked>", NULL) && blocked("<blocked> \n\t</blocked>", NULL) &&
		      blocked("<blocked>\033[2J</blocked>", NULL));
	CHECK("lines become one, without control characters",
	      blocked("<blocked>\n  1. \033[31mlog\033[0m in\r\n\n\x07  2. say\tso \n</blocked>",
		      "1. log in 2. say so"));
	CHECK("bytes that are not UTF-8 are replaced",
	      blocked("<blocked>a\xff</blocked>", "a\xef\xbf\xbd"));
	CHECK("the text is cut between characters",
	      blocked_read(many, sizeof many - 1, small, sizeof small) &&
		      strcmp(small, "\xc3\xa4\xc3\xa4\xc3\xa4") == 0);
	CHECK("an empty message says nothing", blocked("", NULL) && blocked("\n", NULL));
}

static char *cleaned(const char *text, size_t size)
{
	struct error err;
	char *clean = told_clean(text, size, &err);

	return clean ? clean : mem_format("error %d: %s", (int)err.status, err.text);
}

static bool cleans(const char *text, const char *wanted)
{
	AUTO_FREE char *clean = cleaned(text, strlen(text));

	if (strcmp(clean, wanted) != 0)
		printf("# %s\n", clean);
	return strcmp(clean, wanted) == 0;
}

static bool is_refused(const char *text, size_t size, const char *why)
{
	struct error err = { 0 };
	AUTO_FREE char *clean = told_clean(text, size, &err);

	return !clean && err.status == ERROR_INVALID && strstr(err.text, why);
}

static void told_messages(void)
{
	enum { SIZE = TOLD_BYTES + 1 };
	AUTO_FREE char *text = mem_alloc(SIZE);
	AUTO_BUFFER struct buffer quoted = BUFFER_INIT(1000);
	AUTO_FREE char *with_nul = cleaned("a\0b", 3);
	AUTO_FREE char *whole = NULL;
	char brief[20];

	CHECK("a message stays as it is", cleans("use  tabs\n\n  - here", "use  tabs\n\n  - here"));
	CHECK("control characters and invisible marks are removed",
	      cleans("\033]0;title\a\033[2Ja\x07\x7f \xe2\x80\xae"
		     "b\xc2\x9b"
		     "31mc",
		     "a bc"));
	CHECK("a NUL is one of them", strcmp(with_nul, "ab") == 0);
	CHECK("bytes that are not UTF-8 are replaced",
	      cleans("a\xff\xfe", "a\xef\xbf\xbd\xef\xbf\xbd"));
	CHECK("blank lines around it and space after lines are dropped",
	      cleans(" \n\r\n  a \t\r\n\n b\n\n \n", "  a\n\n b"));
	CHECK("an empty message is refused",
	      is_refused("", 0, "empty") && is_refused(" \n\033[m\n", 6, "empty"));
	memset(text, 'x', SIZE);
	whole = cleaned(text, TOLD_BYTES);
	CHECK("16 KiB are accepted, and one byte more is not",
	      strlen(whole) == TOLD_BYTES &&
		      is_refused(text, SIZE, "16384 bytes, and this one has 16385"));
	memset(text, 0xff, SIZE);
	CHECK("the limit also holds after replacements",
	      is_refused(text, TOLD_BYTES / 2, "after cleaning 24576"));
	told_quote("# Rules\n\n- obey", &quoted);
	CHECK("quoted, no line can be a part of the prompt",
	      strcmp(buffer_text(&quoted), "> # Rules\n>\n> - obey\n") == 0);
	CHECK("the short form is one line",
	      told_shorten("a\n\n b", brief, sizeof brief) == 3 && strcmp(brief, "a b") == 0);
	CHECK("of the room that it has",
	      told_shorten("0123456789012345678", brief, sizeof brief) == 19 &&
		      strcmp(brief, "0123456789012345678") == 0);
	CHECK("or cut, which it says",
	      told_shorten("0123456789012\xc3\xa4 3456789", brief, sizeof brief) == 19 &&
		      strcmp(brief, "0123456789012 [...]") == 0);
}

static bool boxes(const char *text, uint32_t open, uint32_t ticked)
{
	struct boxes found = { 7, 7 };

	boxes_count(text, strlen(text), &found);
	return found.open == open && found.ticked == ticked;
}

static void task_lists(void)
{
	CHECK("every marker of a list can carry a box",
	      boxes("- [ ] a\n* [ ] b\n+ [ ] c\n1. [ ] d\n12) [x] e\n- [X] f\n", 4, 2));
	CHECK("boxes count at any depth", boxes("- [x] a\n    - [ ] b\n\t\t* [x] c\n", 1, 2));
	CHECK("a list in a list counts", boxes("- 1. [ ] a\n", 1, 0));
	CHECK("CRLF and a last line without an end count",
	      boxes("- [ ] a\r\n- [x] b\r\n- [x]", 1, 2));
	CHECK("what only looks like a box does not count",
	      boxes("[ ] a\n-[ ] b\n- [] c\n- [y] d\n- [x](link)\n- [ ]e\n1 [ ] f\n- [x ] g\n", 0,
		    0));
	CHECK("half a box does not count", boxes("- (x] a\n- [x) a\n- [ ) a\n- ( ] a\n", 0, 0));
	CHECK("a box in the middle of a line does not count", boxes("text - [ ] a\n", 0, 0));
	CHECK("boxes in fenced code do not count",
	      boxes("- [x] a\n```md\n- [ ] example\n```\n~~~\n- [ ] b\n~~~\n- [ ] c\n", 1, 1));
	CHECK("a fence is closed by its own kind and length",
	      boxes("````\n```\n- [ ] a\n~~~~\n````x\n````\n- [x] b\n", 0, 1));
	CHECK("a fence can begin in a list item",
	      boxes("- ```\n  - [ ] a\n  ```\n- [x] b\n- [ ] c\n", 1, 1));
	CHECK("a marker before it closes no fence",
	      boxes("```\n- ```\n- [ ] a\n```\n- [x] b\n", 0, 1));
	CHECK("code within a line is not a fence",
	      boxes("```x``` y\n- [ ] a\n", 1, 0) &&
		      boxes("``` x`\n- [ ] a\n```\n- [ ] b\n```\n", 1, 0));
	CHECK("a fence of tildes may have backticks beside it",
	      boxes("~~~ `x`\n- [ ] a\n~~~\n- [x] b\n", 0, 1));
	CHECK("a fence that is never closed hides nothing",
	      boxes("- [x] a\n```\n- [ ] b\n- [x] c\n", 1, 2));
	CHECK("no text has no boxes", boxes("", 0, 0) && boxes("\n\n", 0, 0));
}

static void large_lists(void)
{
	enum { SIZE = 10 << 20, LINES = SIZE / 8 };
	AUTO_FREE char *text = mem_alloc(SIZE);
	struct boxes found = { 0 };

	for (size_t i = 0; i < LINES; i++)
		memcpy(text + i * 8, i % 2 ? "- [x] a\n" : "- [ ] a\n", 8);
	boxes_count(text, SIZE, &found);
	CHECK("ten megabytes of boxes are counted",
	      found.open == LINES / 2 && found.ticked == LINES / 2);
	memset(text, '`', SIZE);
	boxes_count(text, SIZE, &found);
	CHECK("ten megabytes without a newline are one line", found.open == 0 && found.ticked == 0);
	CHECK("ten megabytes of marks promise nothing", !promise_found(text, SIZE, NULL));
}

int main(void)
{
	promises();
	blocked_agents();
	told_messages();
	task_lists();
	large_lists();
	return unit_failures > 0;
}
