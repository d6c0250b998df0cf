/* The promise in a final message, and the checkboxes of a task list. */
#include "unit.h"

#include "decision/boxes.h"
#include "decision/promise.h"

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
	task_lists();
	large_lists();
	return unit_failures > 0;
}
