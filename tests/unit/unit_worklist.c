/* Lists of tasks: what is read, in every format, and what a tick changes. */
#include "unit.h"

#include "util/file/fd.h"
#include "util/mem.h"
#include "worklist/worklist.h"

#include <stdlib.h>
#include <string.h>

static struct worklist list;
static struct error err;

/* Reads one list. */
static bool read_list(const char *path, const char *text)
{
	worklist_model_release(&list);
	return worklist_add(&list, path, text, strlen(text), &err) == 0 &&
	       worklist_finish(&list, &err) == 0;
}

/* Describes the items: ID[+][<DEPENDS,...], one after another. */
static bool items_are(const char *wanted)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(4096);

	for (size_t i = 0; i < list.count; i++) {
		const struct worklist_item *item = &list.items[i];

		buffer_printf(&text, "%s%s%s", i ? " " : "", item->id, item->done ? "+" : "");
		for (size_t k = 0; k < item->depends.count; k++)
			buffer_printf(&text, "%s%s", k ? "," : "<", item->depends.items[k]);
	}
	if (strcmp(buffer_text(&text), wanted) != 0)
		printf("# saw: %s\n", buffer_text(&text));
	return strcmp(buffer_text(&text), wanted) == 0;
}

static bool notes_have(const char *words)
{
	for (size_t i = 0; i < list.notes.count; i++)
		if (strstr(list.notes.items[i], words))
			return true;
	return !words && !list.notes.count;
}

/* Does a tick make this of the text, and taking it back the same as before? */
static bool ticks(const char *path, const char *text, const char *id, const char *wanted)
{
	AUTO_BUFFER struct buffer there = BUFFER_INIT(1 << 16);
	AUTO_BUFFER struct buffer back = BUFFER_INIT(1 << 16);

	if (worklist_tick(path, text, strlen(text), id, true, &there, &err) != 1 ||
	    strcmp(buffer_text(&there), wanted) != 0) {
		printf("# saw: %s\n", buffer_text(&there));
		return false;
	}
	return worklist_tick(path, there.data, there.used, id, true, &back, &err) == 0 &&
	       worklist_tick(path, there.data, there.used, id, false, &back, &err) == 1;
}

static void test_markdown(void)
{
	CHECK("boxes are tasks, and ticked ones are done",
	      read_list("TASKS.md", "# A\n\n- [ ] Read it\n* [x] Print it\n1. [X] Round it\n") &&
		      items_are("read-it print-it+ round-it+") && notes_have(NULL));
	CHECK("nested boxes and text belong to the task above them",
	      read_list("TASKS.md",
			"- [ ] One\n  - [ ] inner\n  more\n\n  and more\n- [ ] Two\n") &&
		      items_are("one two") && strstr(list.items[0].prompt, "- [ ] inner\n") &&
		      strstr(list.items[0].prompt, "and more") &&
		      !strstr(list.items[1].prompt, "more"));
	CHECK("boxes in code are examples, unless the fence is never closed",
	      read_list("TASKS.md", "```\n- [ ] no\n```\n- [ ] yes\n") && items_are("yes") &&
		      read_list("TASKS.md", "```\n- [ ] yes\n") && items_are("yes"));
	CHECK("optional sections are left out, with a note, up to the next section",
	      read_list("TASKS.md", "- [ ] a1\n## Nice to have\n- [ ] b1\n### Inner\n- [ ] c1\n"
				    "## More\n- [ ] d1\n") &&
		      items_are("a1 d1") &&
		      notes_have("TASKS.md:2: 2 open tasks in an optional section: left out"));
	CHECK("a title may begin with an id, and equal titles get numbers",
	      read_list("TASKS.md", "- [ ] T1: same\n- [ ] same\n- [ ] same\n- [ ] !\n") &&
		      items_are("T1 same same-2 task"));
	CHECK("dependencies are numbers or ids, after the usual words",
	      read_list("TASKS.md",
			"- [ ] T1: a\n- [ ] T2: b (Depends on: #1)\n"
			"- [ ] T3: c, blocked by T1 and `T2`.\n- [ ] T4: requires care\n") &&
		      items_are("T1 T2<T1 T3<T1,T2 T4"));
	CHECK("a number that no task has is noted",
	      read_list("TASKS.md", "- [ ] a (depends on #9)\n") && items_are("a-depends-on-9") &&
		      notes_have("depends on #9, which is not in the list"));
	CHECK("a tick changes the box and those below it, and no other byte",
	      ticks("a.md", "\xef\xbb\xbf- [ ] a1\r\n\t* [ ] in\r\n- [ ] b1", "a1",
		    "\xef\xbb\xbf- [x] a1\r\n\t* [x] in\r\n- [ ] b1"));
	CHECK("an empty list is noted", read_list("x.md", "text\n") && items_are("") &&
						notes_have("no task was found (read as markdown)"));
}

static void test_plan(void)
{
	static const char text[] = "# P\n## Validation Commands\n- `make test`\n- make lint\n"
				   "## Tasks\n### Task 1: Read\n- [x] a\n### Task 2: Print\ntext\n"
				   "- [ ] b\n- [x] c\n### Iteration 3: Round\n";

	CHECK("sections of a plan are tasks that build on each other",
	      read_list("p.md", text) && items_are("task-1+ task-2<task-1 iteration-3<task-2") &&
		      strcmp(list.items[1].title, "Print") == 0 &&
		      strstr(list.items[1].prompt, "text\n- [ ] b\n"));
	CHECK("its validation commands are checks of all tasks",
	      list.items[2].checks.count == 2 &&
		      strcmp(list.items[2].checks.items[0], "make test") == 0 &&
		      strcmp(list.items[2].checks.items[1], "make lint") == 0);
	CHECK("a tick ticks the boxes of the section",
	      ticks("p.md", text, "task-2",
		    "# P\n## Validation Commands\n- `make test`\n- make lint\n"
		    "## Tasks\n### Task 1: Read\n- [x] a\n### Task 2: Print\ntext\n"
		    "- [x] b\n- [x] c\n### Iteration 3: Round\n"));
}

static void test_json(void)
{
	static const char prd[] =
		"{ \"name\": \"n\",\n \"userStories\": [\n  {\"id\": \"US-1\", \"title\": \"Read\",\n"
		"   \"description\": \"d\", \"acceptanceCriteria\": [\"x \\\" ]\", \"y\"],\n"
		"   \"priority\": 3, \"passes\" : false , \"notes\": \"n\"},\n"
		"  {\"id\": 2, \"title\": \"Print\", \"dependsOn\": [\"US-1\"]}, 7]}\n";
	static const char beads[] =
		"{\"id\":\"bd-1\",\"title\":\"Read\",\"status\":\"in_progress\",\"priority\":1}\n"
		"\n{\"id\":\"bd-2\",\"title\":\"Print\",\"status\":\"closed\",\"dependencies\":"
		"[{\"depends_on_id\":\"bd-1\",\"type\":\"blocks\"},"
		"{\"depends_on_id\":\"bd-9\",\"type\":\"related\"}]}\nbroken\n";

	CHECK("stories of a prd.json are tasks",
	      read_list("prd.json", prd) && items_are("US-1 2<US-1") &&
		      list.items[0].priority == 3 && list.items[1].line == 6 &&
		      strstr(list.items[0].prompt,
			     "d\n\nAcceptance criteria:\n- x \" ]\n- y\n\nNotes:\nn") &&
		      notes_have("prd.json:6: not an object: left out"));
	CHECK("a tick sets `passes`, and nothing else",
	      ticks("prd.json", prd, "US-1",
		    "{ \"name\": \"n\",\n \"userStories\": [\n  {\"id\": \"US-1\", \"title\": \"Read\",\n"
		    "   \"description\": \"d\", \"acceptanceCriteria\": [\"x \\\" ]\", \"y\"],\n"
		    "   \"priority\": 3, \"passes\" : true , \"notes\": \"n\"},\n"
		    "  {\"id\": 2, \"title\": \"Print\", \"dependsOn\": [\"US-1\"]}, 7]}\n"));
	CHECK("or adds it", ticks("prd.json", "{\"userStories\":[{\"title\":\"a\"}]}", "a",
				  "{\"userStories\":[{\"passes\": true, \"title\":\"a\"}]}"));
	CHECK("beads are tasks, and only blockers are dependencies",
	      read_list("issues.jsonl", beads) && items_are("bd-1 bd-2+<bd-1") &&
		      notes_have("issues.jsonl:4: invalid JSON: left out") &&
		      read_list("issues", beads) && list.formats[0] == WORKLIST_BEADS);
	CHECK("a tick closes one",
	      ticks("issues.jsonl", "{\"id\":\"b\",\"title\":\"t\",\"status\": \"open\"}\n", "b",
		    "{\"id\":\"b\",\"title\":\"t\",\"status\": \"closed\"}\n"));
	CHECK("issues of GitHub are tasks, which nothing ticks",
	      read_list("i.json", "[{\"number\": 7, \"title\": \"a\", \"body\": \"Blocked by #3, "
				  "#4\", \"state\": \"OPEN\"},\n {\"number\": 3, \"title\": \"b\", "
				  "\"state\": \"CLOSED\"}]") &&
		      items_are("issue-7<issue-3 issue-3+") &&
		      notes_have("'issue-7' depends on #4, which is not in the list: ignored") &&
		      !list.items[0].mark_count);
	CHECK("other JSON is refused, with the forms that are known",
	      !read_list("x.json", "{\"a\": 1}") && strstr(err.text, "neither a prd.json") &&
		      !read_list("x.json", "{\"a\": ") && strstr(err.text, "invalid JSON: line 1"));
}

static void test_yaml(void)
{
	static const char text[] =
		"checks: make test\ntasks:\n  - id: a\n    title: Read\n"
		"    budget: 2.50\n    priority: -1\n    checks: [make a, make test]\n"
		"  - prompt: |\n      Print it\n      well\n    depends: a\n"
		"    pins: [t/*]\n    agent: codex\n    model: m\n    colour: red\n"
		"  - {title: Last, done: false}\n";
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "- 1\n", "t.yml:1: a task must be a map" },
		{ "a: 1\n", "must be a list of tasks" },
		{ "- id: a\n", "t.yml:1: a task needs a title or a prompt" },
		{ "- title: a\n  depends: b\n", "'a' depends on 'b', which is not in the list" },
		{ "- title: a\n  budget: much\n", "t.yml:2: budget must be an amount" },
		{ "- title: a\n  done: maybe\n", "t.yml:2: done must be true or false" },
		{ "- title: a\n  priority: 1x\n", "t.yml:2: priority must be a whole number" },
		{ "- title: a\n  checks: {a: b}\n", "t.yml:2: checks must be a list of texts" },
		{ "- {id: a, title: a, depends: c}\n- {id: b, title: b, depends: a}\n"
		  "- {id: c, title: c, depends: b}\n",
		  "the dependencies form a circle: a -> c -> b -> a" },
		{ "- title: [\n", "t.yml:" },
	};

	CHECK("a list of ours has all keys",
	      read_list("t.yml", text) && items_are("a print-it<a last") &&
		      list.items[0].budget_nusd == 2500000000 && list.items[0].priority == -1 &&
		      list.items[0].checks.count == 2 && list.items[1].checks.count == 1 &&
		      strcmp(list.items[1].agent, "codex") == 0 &&
		      strcmp(list.items[1].model, "m") == 0 && list.items[1].pins.count == 1 &&
		      strstr(list.items[1].prompt, "Print it\nwell") &&
		      notes_have("t.yml:15: unknown key 'colour': ignored"));
	CHECK("a tick sets `done`", ticks("t.yml", "- {title: A, done: false}\n- title: B\n", "a",
					  "- {title: A, done: true}\n- title: B\n"));
	CHECK("or adds it to a map",
	      ticks("t.yml", "tasks:\n  - id: a\n    title: \xc3\xbc\n  - title: B\n", "b",
		    "tasks:\n  - id: a\n    title: \xc3\xbc\n  - done: true\n    title: B\n"));
	CHECK("also in one line",
	      ticks("t.yml", "- { title: A}\n", "a", "- { done: true, title: A}\n"));
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECK(wrong[i].why,
		      !read_list("t.yml", wrong[i].text) && strstr(err.text, wrong[i].why));
}

/* Ticks all open tasks of a list, or takes that back, as `work --apply` does. */
static bool tick_all(const char *path, const struct buffer *text, bool done,
		     struct buffer *ret_text)
{
	struct worklist_task tasks[10] = { 0 };
	struct list problems = { 0 };
	size_t count = 0;
	int ticked;

	for (size_t i = 0; i < list.count; i++)
		if (!list.items[i].done && list.items[i].mark_count)
			tasks[count++] = (struct worklist_task){ list.items[i].id,
								 list.items[i].title };
	ticked = worklist_tick_all(path, text->data, text->used, tasks, count, done, ret_text,
				   &problems, &err);
	list_release(&problems);
	return count && ticked == (int)count;
}

/* Is a list all done after ticks, and as it was, to the byte, after they were taken back? */
static bool comes_back(const char *path, struct buffer *text)
{
	AUTO_BUFFER struct buffer done = BUFFER_INIT(1 << 16);
	AUTO_BUFFER struct buffer back = BUFFER_INIT(1 << 16);
	struct worklist before = list;
	bool all;

	if (!tick_all(path, text, true, &done) || !tick_all(path, &done, false, &back))
		return false;
	list = (struct worklist){ 0 };
	all = read_list(path, buffer_text(&done));
	for (size_t i = 0; i < list.count; i++)
		all = all && list.items[i].done;
	worklist_model_release(&list);
	list = before;
	return all && done.used != 0 && strcmp(buffer_text(&done), buffer_text(text)) != 0 &&
	       strcmp(buffer_text(&back), buffer_text(text)) == 0;
}

/* The files are as the projects document them that made the formats. */
static void test_documented(void)
{
	static const struct {
		const char *name, *items;
		size_t checks; /* of the first task */
		bool ticked;
	} files[] = {
		{ "fix_plan.md",
		  "read-numbers-with-a-sign print-numbers+ round-half-to-even "
		  "set-up-the-project+",
		  0, true },
		{ "plan.md", "task-1+ task-2<task-1 task-3<task-2", 2, true },
		{ "prd.json", "US-001+ US-002", 0, true },
		{ "issues.jsonl", "bd-0088+ bd-02a4<bd-0088", 0, true },
		{ "gh.json", "issue-7<issue-3 issue-3+", 0, false },
		{ "tasks.yml", "parser print-numbers-all+<parser", 2, true },
		{ "completed.yaml", "create-user-model+ create-post-model add-relationships", 0,
		  true },
	};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		AUTO_FREE char *path = mem_format("%s/%s", WORKLISTS, files[i].name);
		AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 16);
		AUTO_FREE char *read = mem_format("%s is read", files[i].name);
		AUTO_FREE char *ticked =
			mem_format(files[i].ticked
					   ? "%s is ticked, and as before if that is taken back"
					   : "nothing ticks %s",
				   files[i].name);

		CHECK(read, fd_read_path(path, &text) == 0 &&
				    read_list(files[i].name, buffer_text(&text)) &&
				    items_are(files[i].items) &&
				    list.items[0].checks.count == files[i].checks);
		CHECK(ticked, comes_back(files[i].name, &text) == files[i].ticked);
	}
	worklist_model_release(&list);
}

static void test_all(void)
{
	const char *const nul = "- [ ] a\0b";
	AUTO_BUFFER struct buffer none = BUFFER_INIT(100);
	struct list problems = { 0 };

	worklist_model_release(&list);
	CHECK("two lists are one, and refer to each other by id",
	      worklist_add(&list, "a.md", "- [ ] T1: a\n", 12, &err) == 0 &&
		      worklist_add(&list, "b.yml", "- {title: b, depends: T1}\n", 26, &err) == 0 &&
		      worklist_finish(&list, &err) == 0 && items_are("T1 b<T1"));
	worklist_model_release(&list);
	CHECK("one id in two lists is refused",
	      worklist_add(&list, "a.md", "- [ ] a\n", 8, &err) == 0 &&
		      worklist_add(&list, "b.md", "\n- [ ] a\n", 9, &err) == 0 &&
		      worklist_finish(&list, &err) < 0 &&
		      strcmp(err.text, "a.md:1 and b.md:2 have the same id 'a'") == 0);
	CHECK("bytes that are not text are refused",
	      worklist_add(&list, "x.md", nul, 9, &err) < 0 &&
		      worklist_add(&list, "x.md", "\xff", 1, &err) < 0 &&
		      strcmp(err.text, "'x.md' is not a text in UTF-8") == 0);
	CHECK("a task whose id is that of another one by now is not ticked, and others are",
	      worklist_tick_all("a.md", "- [ ] T1: new\n- [ ] T2: two\n", 28,
				(const struct worklist_task[]){ { "T1", "T1: old" },
								{ "T2", "T2: two" } },
				2, true, &none, &problems, &err) == 1 &&
		      strcmp(buffer_text(&none), "- [ ] T1: new\n- [x] T2: two\n") == 0 &&
		      problems.count == 1 && strstr(problems.items[0], "another task now"));
	list_release(&problems);
	CHECK("a task that is gone cannot be ticked",
	      worklist_tick("a.md", "- [ ] a\n", 8, "b", true, &none, &err) < 0 &&
		      err.status == ERROR_NOT_FOUND);
	worklist_model_release(&list);
}

static void test_many(void)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(WORKLIST_BYTES_MAX);

	for (int i = 0; i < WORKLIST_ITEMS_MAX; i++)
		buffer_printf(&text, "- [ ] T%d: x%s%d\n", i, i ? ", depends on T" : " ",
			      i ? i - 1 : 0);
	CHECK("ten thousand tasks in one chain are read",
	      read_list("a.md", buffer_text(&text)) && list.count == WORKLIST_ITEMS_MAX);
	buffer_printf(&text, "- [ ] more\n");
	CHECK("and no more", !read_list("a.md", buffer_text(&text)) &&
				     strcmp(err.text, "there are more than 10000 tasks") == 0);
}

int main(void)
{
	test_markdown();
	test_plan();
	test_json();
	test_yaml();
	test_documented();
	test_all();
	test_many();
	worklist_model_release(&list);
	return unit_failures != 0;
}
