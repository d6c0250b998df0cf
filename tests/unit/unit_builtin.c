/* The built-in agent: tools in a folder, patterns, the window, conversations, defaults. */
#include "unit.h"

#include "builtin/model/completion.h"
#include "builtin/model/dialect.h"
#include "builtin/model/httpclient.h"
#include "builtin/model/reply.h"
#include "builtin/model/window.h"
#include "builtin/tool/beneath.h"
#include "builtin/tool/child.h"
#include "builtin/tool/pattern.h"
#include "builtin/tool/tool.h"
#include "price/price.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tool_context bench;

static void put(const char *path, const char *text)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		abort();
}

/* Returns whether the call has this result and its output contains this text. */
static bool gives(const char *name, const char *arguments, bool ok, const char *part)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	bool went = tool_call(&bench, name, arguments, &out);

	if (went == ok && strstr(buffer_text(&out), part))
		return true;
	printf("# %s %s: %s\n%s\n", name, arguments, went ? "ok" : "failed", buffer_text(&out));
	return false;
}

static bool gives_exactly(const char *name, const char *arguments, const char *text)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);

	return tool_call(&bench, name, arguments, &out) && strcmp(buffer_text(&out), text) == 0
		       ? true
		       : (printf("# %s\n", buffer_text(&out)), false);
}

static bool holds(const char *path, const char *text)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(1 << 20);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && fd_read_all(fd, &bytes) == 0 && strcmp(buffer_text(&bytes), text) == 0;
}

static void reading(void)
{
	put("lines", "one\ntwo\nthree\nfour");
	CHECK("lines have numbers",
	      gives_exactly("read", "{\"path\":\"lines\"}", "1\tone\n2\ttwo\n3\tthree\n4\tfour\n"));
	CHECK("a range shows how to continue",
	      gives("read", "{\"path\":\"lines\",\"offset\":2,\"limit\":2}", true,
		    "2\ttwo\n3\tthree\n[lines 2 to 3 of 4; continue with offset 4]\n"));
	CHECK("a range after the end is an error",
	      gives("read", "{\"path\":\"lines\",\"offset\":9}", false, "only 4 lines"));
	put("empty", "");
	CHECK("an empty file is reported as empty",
	      gives_exactly("read", "{\"path\":\"empty\"}", "(the file is empty)\n"));
	CHECK("a folder cannot be read", gives("read", "{\"path\":\".\"}", false, "is a folder"));
	mkfifo("pipe", 0600);
	CHECK("a pipe does not block",
	      gives("read", "{\"path\":\"pipe\"}", false, "not a regular file"));
	CHECK("a missing file is reported",
	      gives("read", "{\"path\":\"no\"}", false, "there is no 'no'"));
	CHECK("numbers out of range are clamped",
	      gives("read", "{\"path\":\"lines\",\"offset\":-5,\"limit\":1e300}", true,
		    "1\tone\n"));
	CHECK("a string instead of a number is an error",
	      gives("read", "{\"path\":\"lines\",\"offset\":\"x\"}", false, "not a number"));
}

static void editing(void)
{
	put("code.c", "int a;\n\tif (x)\n\t\treturn 1;\nint b;\n");
	CHECK("one occurrence is replaced",
	      gives("edit", "{\"path\":\"code.c\",\"old\":\"int b\",\"new\":\"int c\"}", true,
		    "line 4") &&
		      holds("code.c", "int a;\n\tif (x)\n\t\treturn 1;\nint c;\n"));
	CHECK("two occurrences are an error that names their lines",
	      gives("edit", "{\"path\":\"code.c\",\"old\":\"int\",\"new\":\"x\"}", false,
		    "2 times (lines 1, 4)"));
	CHECK("a difference in white space is shown",
	      gives("edit",
		    "{\"path\":\"code.c\",\"old\":\"    if (x)\\n        return 1;\",\"new\":\"\"}",
		    false, "starts at line 2 and differs in line 2") &&
		      gives("edit",
			    "{\"path\":\"code.c\",\"old\":\"    if (x)\\n        return 1;\",\"new\":\"\"}",
			    false, "only white space differs"));
	CHECK("a difference in a later line is shown",
	      gives("edit",
		    "{\"path\":\"code.c\",\"old\":\"\\tif (x)\\n\\t\\treturn 2;\",\"new\":\"\"}",
		    false,
		    "differs in line 3, which reads\n\\x09\\x09return 1;\ninstead of\n\\x09\\x09return 2;"));
	CHECK("a misspelled text is compared with the most similar line",
	      gives("edit", "{\"path\":\"code.c\",\"old\":\"itn c;\",\"new\":\"\"}", false,
		    "The most similar line is 4"));
	CHECK("a text without a similar line is reported",
	      gives("edit", "{\"path\":\"code.c\",\"old\":\"zzzzzzzzzzzzzzzzzz\",\"new\":\"\"}",
		    false, "nor a line like"));
	CHECK("an empty text is refused",
	      gives("edit", "{\"path\":\"code.c\",\"old\":\"\",\"new\":\"x\"}", false,
		    "use write"));
	CHECK("a change without effect is refused",
	      gives("edit", "{\"path\":\"code.c\",\"old\":\"int\",\"new\":\"int\"}", false,
		    "identical"));
	put("dos.txt", "a\r\nb\r\n");
	CHECK("a file with CR LF keeps its line ends",
	      gives("edit", "{\"path\":\"dos.txt\",\"old\":\"a\\nb\",\"new\":\"a\\nc\"}", true,
		    "edited") &&
		      holds("dos.txt", "a\r\nc\r\n"));
	CHECK("changed files are recorded",
	      bench.files.count == 2 && strcmp(bench.files.items[1], "dos.txt") == 0);
	list_release(&bench.files);
}

static void finding(void)
{
	mkdir("tree", 0755);
	mkdir("tree/sub", 0755);
	mkdir("tree/built", 0755);
	put("tree/.gitignore", "/built/\n*.log\n!keep.log\n");
	put("tree/built/made", "needle\n");
	put("tree/a.log", "needle\n");
	put("tree/keep.log", "needle 42\n");
	put("tree/sub/b.log", "needle\n");
	put("tree/sub/b.c", "a Needle\n");
	symlink("/etc", "tree/out");
	CHECK("a listing is sorted and skips ignored files",
	      gives_exactly(
		      "list", "{\"path\":\"tree\",\"depth\":5}",
		      "tree/.gitignore\ntree/keep.log\ntree/out (symlink)\ntree/sub/\ntree/sub/b.c\n"));
	CHECK("depth is respected",
	      gives_exactly("list", "{\"path\":\"tree\",\"depth\":1}",
			    "tree/.gitignore\ntree/keep.log\ntree/out (symlink)\ntree/sub/\n"));
	CHECK("a parent folder's rules apply to its subfolders",
	      gives_exactly("list", "{\"path\":\"tree/sub\"}", "tree/sub/b.c\n"));
	CHECK("a search is by line and skips ignored files",
	      gives_exactly("search", "{\"pattern\":\"needle\",\"path\":\"tree\"}",
			    "tree/keep.log:1:needle 42\n"));
	CHECK("a search can ignore case and select files",
	      gives_exactly(
		      "search",
		      "{\"pattern\":\"NEEDLE\",\"path\":\"tree\",\"ignore_case\":true,\"files\":\"*.c\"}",
		      "tree/sub/b.c:1:a Needle\n"));
	CHECK("syntax of other regular expressions is understood",
	      gives_exactly("search", "{\"pattern\":\"(?:needle) \\\\d+?$\",\"path\":\"tree\"}",
			    "tree/keep.log:1:needle 42\n"));
	put("tree/main.c", "int main() {\n\treturn a-b;\n");
	CHECK("code is found literally",
	      gives_exactly("search", "{\"pattern\":\"main\\\\(\\\\) {\",\"path\":\"tree\"}",
			    "tree/main.c:1:int main() {\n") &&
		      gives_exactly(
			      "search",
			      "{\"pattern\":\"^\\\\s+return [\\\\w\\\\-]+;\",\"path\":\"tree\"}",
			      "tree/main.c:2:\treturn a-b;\n"));
	CHECK("a bracket in a class is literal",
	      gives("search", "{\"pattern\":\"[]x]needle\",\"path\":\"tree\"}", true,
		    "nothing found"));
	CHECK("literal text is found",
	      gives("search", "{\"pattern\":\"a.*\",\"path\":\"tree\",\"fixed\":true}", true,
		    "nothing found"));
	CHECK("an invalid pattern is an error",
	      gives("search", "{\"pattern\":\"(\",\"path\":\"tree\"}", false,
		    "invalid regular expression"));
#if !defined(__SANITIZE_ADDRESS__) /* which needs more address space than a search may have */
	CHECK("a pattern that needs too many resources is an error",
	      gives("search",
		    "{\"pattern\":\"(((((x{1,200}){1,200}){1,200}){1,200}){1,200}){1,200}\",\"path\":\"tree\"}",
		    false, ""));
#endif
	CHECK("a single file can be searched",
	      gives_exactly("search", "{\"pattern\":\"42\",\"path\":\"tree/keep.log\"}",
			    "tree/keep.log:1:needle 42\n"));
}

static bool becomes(const char *pattern, const char *wanted)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4096);

	pattern_translate(pattern, &out);
	if (strcmp(buffer_text(&out), wanted) == 0)
		return true;
	printf("# %s: %s\n", pattern, buffer_text(&out));
	return false;
}

static void patterns(void)
{
	CHECK("digits, in a class and outside", becomes("\\d+[\\d.]\\D", "[0-9]+[0-9.][^0-9]"));
	CHECK("words and blanks in a class",
	      becomes("[\\w.-]+[^\\s\\]\\-]", "[[:alnum:]_.-]+[^[:space:][.].][.-.]]"));
	CHECK("a POSIX class is unchanged", becomes("[[:alpha:]x]", "[[:alpha:]x]"));
	CHECK("a leading bracket is literal", becomes("[]a][^]]", "[]a][^]]"));
	CHECK("lazy quantifiers", becomes("a+?b*?c??d{2,3}?", "a+b*c?d{2,3}"));
	CHECK("non-capturing groups", becomes("(?:a|b)", "(a|b)"));
	CHECK("a literal brace", becomes("main() {", "main() \\{") && becomes("a{x}", "a\\{x}") &&
					 becomes("{2}", "\\{2}") && becomes("a{,3}", "a\\{,3}"));
	CHECK("escapes are unchanged", becomes("\\.\\{\\b", "\\.\\{\\b"));
	CHECK("incomplete constructs are unchanged",
	      becomes("a[b", "a[b") && becomes("a\\", "a\\") && becomes("[[:x", "[[:x"));
}

static bool opens(const char *path)
{
	struct error err;
	AUTO_FD fd = beneath_open(&bench, path, O_RDONLY, &err);

	return fd >= 0;
}

static void paths(void)
{
	AUTO_FREE char *inside = mem_format("%s/lines", bench.path);
	AUTO_FREE char *found = NULL;
	struct error err;

	symlink("loop", "loop");
	symlink("..", "up");
	symlink("tree/sub", "down");
	symlink(inside, "absolute");
	CHECK("a path with redundant parts", opens("lines") && opens("./tree//sub/../../lines"));
	CHECK("symlinks inside the project are followed, also absolute ones",
	      opens("down/b.c") && opens("absolute"));
	CHECK("\"..\" is relative to the target of a symlink",
	      opens("down/../keep.log") && !opens("down/../lines"));
	CHECK("paths that lead out are refused", !opens("..") && !opens("up") && !opens("up/etc") &&
							 !opens("tree/out/passwd") &&
							 !opens("tree/../../x"));
	CHECK("a symlink loop is refused", !opens("loop"));
	CHECK("a file is not a folder", !opens("lines/x"));
	CHECK("an absolute path inside the project is accepted",
	      beneath_path(&bench, inside, &found, &err) == 0 && strcmp(found, "lines") == 0);
	CHECK("a sibling with the same prefix is outside",
	      gives("read", "{\"path\":\"/etc/hostname\"}", false, "outside the project"));
}

static void commands(void)
{
	static char *environment[] = { (char *)"PATH=/usr/bin:/bin", NULL };

	bench.environment = environment;
	bench.secret = "secret-12345678";
	CHECK("a command's output and status",
	      gives("shell", "{\"command\":\"echo a; echo b >&2; exit 3\"}", false,
		    "a\nb\n[exit status 3]"));
	CHECK("a command that is killed",
	      gives("shell", "{\"command\":\"kill -9 $$\"}", false, "[killed by signal 9"));
	CHECK("no output", gives_exactly("shell", "{\"command\":\"true\"}", "(no output)"));
	CHECK("long output keeps its beginning and its end",
	      gives("shell", "{\"command\":\"seq 1 100000\"}", true, "1\n2\n3\n") &&
		      gives("shell", "{\"command\":\"seq 1 100000\"}", true, "bytes omitted") &&
		      gives("shell", "{\"command\":\"seq 1 100000\"}", true, "99999\n100000"));
	CHECK("stdin is empty", gives_exactly("shell", "{\"command\":\"cat\"}", "(no output)"));
	CHECK("a secret is masked",
	      gives_exactly("shell", "{\"command\":\"echo secret-123''45678\"}",
			    "xxxxxxxxxxxxxxx"));
	bench.secret = NULL;
}

static void defaults(void)
{
	struct price_table table;
	struct error err;

	CHECK("the price table loads", price_table_init(&table, &err) == 0);
	CHECK("the default models have a price", price_find(&table, dialect_anthropic.model) &&
							 price_find(&table, dialect_chat.model));
	price_table_release(&table);
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		json_t *schema = json_loads(tool_at(i)->schema, 0, NULL);

		CHECK("a tool's schema describes an object",
		      schema && strcmp(json_string_value(json_object_get(schema, "type")),
				       "object") == 0);
		json_decref(schema);
	}
}

static void add_turn(struct conversation *talk, const char *result)
{
	struct conversation_message call = { .model = true };
	struct conversation_message results = { 0 };
	struct conversation_block *block = conversation_message_add(&call, BLOCK_CALL);
	struct error err;

	block->id = mem_format("c%zu", talk->count);
	block->name = mem_dup("read");
	buffer_add_text(&block->text, "{\"path\":\"x\"}");
	block = conversation_message_add(&results, BLOCK_RESULT);
	block->id = mem_format("c%zu", talk->count);
	buffer_add_text(&block->text, result);
	conversation_add(talk, &call, &err);
	conversation_add(talk, &results, &err);
}

static void windows(void)
{
	AUTO_FREE char *large = mem_zero(10001);
	struct window window;
	struct conversation talk = { 0 };
	struct error err;
	uint64_t before;

	memset(large, 'x', 10000);
	window_init(&window, "claude-sonnet-5-5", 0);
	CHECK("the window of a known family", window.tokens == 200000 && window.output == 32000);
	window_init(&window, "org/some-local-model", 0);
	CHECK("an unknown model gets a small window", window.tokens == WINDOW_UNKNOWN);
	window_init(&window, "claude-sonnet-5-5", 1);
	CHECK("the user's setting is used, within bounds", window.tokens == WINDOW_LEAST);
	window_learn(&window, 1000, 900);
	CHECK("the ratio for dense text is learned",
	      window.permille > 900 && !window_fits(&window, 2000));
	before = window.permille;
	window_learn(&window, 1000, 100000);
	CHECK("an implausible ratio is ignored", window.permille == before);

	conversation_add_text(&talk, "the task", 8, &err);
	for (int i = 0; i < 6; i++)
		add_turn(&talk, large);
	CHECK("the oldest output is removed first",
	      window_drop(&talk, 15000) >= 15000 && talk.items[2].blocks[0].dropped &&
		      talk.items[4].blocks[0].dropped && !talk.items[6].blocks[0].dropped);
	CHECK("recent output is kept", window_drop(&talk, 1 << 30) > 0 &&
					       talk.items[6].blocks[0].dropped &&
					       !talk.items[8].blocks[0].dropped);
	CHECK("then recent output is removed, except the last",
	      window_drop(&talk, 1 << 30) > 0 && talk.items[10].blocks[0].dropped &&
		      !talk.items[12].blocks[0].dropped);
	CHECK("the last output always stays", window_drop(&talk, 1 << 30) == 0);
	CHECK("the older half is removed, calls with their results",
	      window_forget(&talk) && talk.items[1].model && talk.count == 7);
	CHECK("a summary replaces everything but the task",
	      window_summarize(&talk, "I did it", 8, &err) == 0 && talk.count == 1 &&
		      talk.items[0].count == 2);
	add_turn(&talk, "x");
	CHECK("and an earlier summary", window_summarize(&talk, "again", 5, &err) == 0 &&
						talk.count == 1 && talk.items[0].count == 2);
	CHECK("then nothing is left to remove", !window_forget(&talk));
	add_turn(&talk, large);
	add_turn(&talk, "small");
	window_init(&window, "x", 4000);
	for (size_t i = 1; i < talk.count; i++)
		if (!talk.items[i].model)
			window_trim(&window, &talk.items[i]);
	CHECK("large results are cut in the middle, small ones are not",
	      talk.items[2].blocks[0].text.used < 4000 &&
		      strstr(buffer_text(&talk.items[2].blocks[0].text), "omitted to save space") &&
		      strcmp(buffer_text(&talk.items[4].blocks[0].text), "small") == 0);
	conversation_release(&talk);
}

/*
 * Starts a process in its own session, which reports that it runs and continues until it is killed.
 */
static int leave_stray(void *context)
{
	const int *ends = context;

	if (fork() == 0) {
		setsid();
		if (write(ends[1], "x", 1) == 1)
			sleep(30);
		_exit(0);
	}
	close(ends[1]);
	for (;;)
		pause();
}

/*
 * Doubles the time limit until the stray process has started before it. The pipe's other end stays
 * open as long as that process lives.
 */
static bool ends_strays(void)
{
	struct child_end end = { 0 };

	for (uint64_t most_ms = 50; most_ms < 20000; most_ms *= 2) {
		int ends[2];
		char bytes[2];
		AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 10);
		struct child_work work = { .run = leave_stray,
					   .context = ends,
					   .most_ms = most_ms,
					   .most_bytes = 1 << 10,
					   .head = 100,
					   .tail = 100 };
		struct error err;

		if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0 ||
		    child_run(&work, &out, &end, &err) < 0)
			return false;

		AUTO_FD read_end = ends[0];

		fd_close(&ends[1]);
		if (read(read_end, bytes, sizeof bytes) == 1)
			return end.late && read(read_end, bytes, sizeof bytes) == 0;
	}
	return false;
}

int main(void)
{
	char folder[UNIT_PATH];
	struct error err;

	if (!unit_temp(folder) || chdir(folder) < 0 || tool_context_open(&bench, &err) < 0)
		return 2;
	reading();
	editing();
	finding();
	patterns();
	paths();
	commands();
	defaults();
	windows();
	CHECK("a command's time limit also kills processes that left its session", ends_strays());
	tool_context_release(&bench);

	AUTO_FREE char *remove = mem_format("rm -rf '%s'", folder);

	return system(remove) != 0 || unit_failures > 0;
}
