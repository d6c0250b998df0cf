/* The models that views share: the overview of all loops, and transcripts. */
#include "unit.h"

#include "journal/journal.h"
#include "loop/client.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "view/view_overview.h"
#include "view/view_transcript.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

enum { MANY = 3 * VIEW_TRANSCRIPT_MOST }; /* lines: several windows */

static const int64_t began_ms = 1767300000000;

/* ---- transcripts ---- */

static void put(const char *path, const char *text)
{
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	fd_write_all(fd, text, strlen(text));
}

static const char *text_at(const struct view_transcript *transcript, size_t index)
{
	return index < transcript->window.count && transcript->window.items[index].text
		       ? transcript->window.items[index].text
		       : "";
}

static enum view_entry_kind kind_at(const struct view_transcript *transcript, size_t index)
{
	return index < transcript->window.count ? transcript->window.items[index].kind
						: VIEW_ENTRY_COUNT;
}

static const char claude[] =
	"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"model\":\"opus\"}\n"
	"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"thinking\",\"thinking\":"
	"\"why does it fail\"}]}}\n"
	"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"I look.\"},"
	"{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{\"command\":\"make test\"}}]}}\n"
	"{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"is_error\":true,"
	"\"content\":[{\"type\":\"text\",\"text\":\"2 failed\\nexit 1\"}]}]}}\n"
	"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}]}}\n"
	"{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"Done.\"}\n";

static void test_entries(void)
{
	struct view_transcript transcript;
	char folder[UNIT_PATH];
	AUTO_FREE char *path = path_join(unit_temp(folder), "stdout.log");

	put(path, claude);
	view_transcript_open(&transcript, path, agent_format_find("claude"));
	CHECK("reasoning is an entry",
	      kind_at(&transcript, 1) == VIEW_ENTRY_thinking &&
		      strcmp(text_at(&transcript, 1), "why does it fail") == 0);
	CHECK("a line can have several entries",
	      kind_at(&transcript, 2) == VIEW_ENTRY_message &&
		      kind_at(&transcript, 3) == VIEW_ENTRY_call &&
		      transcript.window.items[3].ordinal == 1 &&
		      strcmp(transcript.window.items[3].target, "make test") == 0);
	CHECK("the result of a tool has its output and its size",
	      kind_at(&transcript, 4) == VIEW_ENTRY_result && !transcript.window.items[4].ok &&
		      transcript.window.items[4].size > 20 &&
		      strcmp(text_at(&transcript, 4), "2 failed\nexit 1") == 0);
	CHECK("the final message is not repeated", kind_at(&transcript, 6) == VIEW_ENTRY_final &&
							   !transcript.window.items[6].text &&
							   transcript.window.count == 7);
	view_transcript_close(&transcript);
}

/* One line of 200 KB must not become a gigabyte. */
static void test_sums(void)
{
	enum { BLOCKS = 7000 };
	struct view_transcript transcript;
	char folder[UNIT_PATH];
	AUTO_FREE char *path = path_join(unit_temp(folder), "stdout.log");
	AUTO_BUFFER struct buffer line = BUFFER_INIT(1 << 20);

	buffer_add_text(&line, "{\"type\":\"assistant\",\"message\":{\"content\":[");
	for (int i = 0; i < BLOCKS; i++)
		buffer_add_text(&line, "{\"type\":\"text\",\"text\":\"word \"},");
	buffer_add_text(&line, "{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{}},"
			       "{\"type\":\"text\",\"text\":\"after\"}]}}\n");
	put(path, buffer_text(&line));
	view_transcript_open(&transcript, path, agent_format_find("claude"));
	CHECK("the blocks of a message are one entry until a tool is called",
	      transcript.window.count == 3 &&
		      strlen(text_at(&transcript, 0)) > AGENT_TEXT_MAX / 2 &&
		      kind_at(&transcript, 1) == VIEW_ENTRY_call &&
		      transcript.window.items[2].ordinal == 2 &&
		      strcmp(text_at(&transcript, 2), "after") == 0);
	view_transcript_close(&transcript);
}

/* Lines without entries do not hold a view up. */
static void test_silence(void)
{
	enum { BYTES = 8 << 20 };
	struct view_transcript transcript;
	char folder[UNIT_PATH];
	AUTO_FREE char *path = path_join(unit_temp(folder), "stdout.log");
	AUTO_FREE char *blank = mem_alloc(BYTES + 1);
	uint64_t begin;
	int calls = 0;

	memset(blank, '\n', BYTES);
	blank[BYTES] = '\0';
	put(path, claude);
	put(path, blank);
	view_transcript_open(&transcript, path, agent_format_find("claude"));
	begin = transcript.begin;
	CHECK("a step back reads a part of a long silence",
	      !view_transcript_earlier(&transcript) && transcript.begin < begin &&
		      !view_transcript_at_begin(&transcript));
	while (!view_transcript_at_begin(&transcript) && ++calls < 100)
		view_transcript_earlier(&transcript);
	CHECK("further steps reach what was before it", transcript.window.count == 7);
	view_transcript_close(&transcript);
}

static void test_pieces(void)
{
	struct view_transcript transcript;
	char folder[UNIT_PATH];
	AUTO_FREE char *path = path_join(unit_temp(folder), "stdout.log");

	put(path, "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Hello \"}\n"
		  "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"world\"}\n");
	view_transcript_open(&transcript, path, agent_format_find("gemini"));
	CHECK("the pieces of a message are one entry",
	      transcript.window.count == 1 && strcmp(text_at(&transcript, 0), "Hello world") == 0);
	view_transcript_close(&transcript);
}

static void test_growth(void)
{
	struct view_transcript transcript;
	char folder[UNIT_PATH];
	AUTO_FREE char *path = path_join(unit_temp(folder), "check-1.stdout.log");

	view_transcript_open(&transcript, path, NULL);
	CHECK("a log that does not exist is empty",
	      transcript.window.count == 0 && !view_transcript_poll(&transcript));
	put(path, "one\ntw");
	CHECK("a log that grows is read on", view_transcript_poll(&transcript) &&
						     transcript.window.count == 2 &&
						     strcmp(text_at(&transcript, 1), "tw") == 0);
	CHECK("its last line is open until it ends", transcript.window.items[1].open);
	put(path, "o\n");
	CHECK("the rest of a line completes it",
	      view_transcript_poll(&transcript) && transcript.window.count == 2 &&
		      strcmp(text_at(&transcript, 1), "two") == 0 &&
		      !transcript.window.items[1].open);
	CHECK("nothing changes without new bytes", !view_transcript_poll(&transcript));
	CHECK("the log can be cut", truncate(path, 0) == 0 && view_transcript_poll(&transcript) &&
					    transcript.window.count == 0);
	unlink(path);
	put(path, "three\n");
	CHECK("the log can be replaced",
	      view_transcript_poll(&transcript) && strcmp(text_at(&transcript, 0), "three") == 0);
	view_transcript_close(&transcript);
}

static char *many_lines(const char *folder)
{
	char *path = path_join(folder, "many.log");
	AUTO_BUFFER struct buffer lines = BUFFER_INIT(64 << 20);

	for (int i = 0; i < MANY; i++)
		buffer_printf(&lines, "line %d of a log that is longer than a window %060d\n", i,
			      i);
	put(path, buffer_text(&lines));
	return path;
}

static bool holds(const struct view_transcript *transcript)
{
	const struct view_entries *window = &transcript->window;
	size_t bytes = 0;

	for (size_t i = 0; i < window->count; i++)
		bytes += sizeof *window->items + strlen(window->items[i].text);
	return window->count && window->count <= VIEW_TRANSCRIPT_MOST && bytes == window->bytes &&
	       window->items[0].offset == transcript->begin;
}

static void test_windows(void)
{
	struct view_transcript transcript;
	char folder[UNIT_PATH];
	AUTO_FREE char *path = many_lines(unit_temp(folder));
	AUTO_FREE char *last = mem_format("line %d ", MANY - 1);
	bool held = true;
	int steps = 0;

	view_transcript_open(&transcript, path, NULL);
	CHECK("a long log opens at its end",
	      view_transcript_at_end(&transcript) && !view_transcript_at_begin(&transcript) &&
		      strncmp(text_at(&transcript, transcript.window.count - 1), last,
			      strlen(last)) == 0);
	for (; view_transcript_earlier(&transcript); steps++)
		held = held && holds(&transcript);
	CHECK("a window moves to the beginning without growing",
	      held && steps > 1 && view_transcript_at_begin(&transcript) &&
		      strncmp(text_at(&transcript, 0), "line 0 ", 7) == 0);
	CHECK("then it is not at the end", !view_transcript_at_end(&transcript));
	while (view_transcript_later(&transcript))
		held = held && holds(&transcript);
	CHECK("and moves to the end again",
	      held && view_transcript_at_end(&transcript) &&
		      strncmp(text_at(&transcript, transcript.window.count - 1), last,
			      strlen(last)) == 0);
	view_transcript_to(&transcript, 100000);
	CHECK("a window begins with the line at an offset",
	      transcript.begin <= 100000 && transcript.begin > 99000 && holds(&transcript) &&
		      strncmp(text_at(&transcript, 0), "line ", 5) == 0);
	view_transcript_close(&transcript);
}

static void test_search(void)
{
	struct view_transcript transcript;
	struct view_search search = { .text = "LINE 77 of" };
	char folder[UNIT_PATH];
	AUTO_FREE char *path = many_lines(unit_temp(folder));
	enum view_found found;
	int steps = 0;

	view_transcript_open(&transcript, path, NULL);
	CHECK("a search forward finds a line before the window",
	      view_transcript_search(&transcript, &search, UINT64_MAX) == VIEW_FOUND);
	view_transcript_to(&transcript, search.offset);
	CHECK("the window can move there",
	      view_transcript_find(&transcript, search.offset, search.ordinal) == 0 &&
		      strncmp(text_at(&transcript, 0), "line 77 ", 8) == 0);
	CHECK("there is no second one",
	      view_transcript_search(&transcript, &search, UINT64_MAX) == VIEW_FOUND_NONE);
	search = (struct view_search){ .text = "line 77 of",
				       .backwards = true,
				       .offset = transcript.size };
	do
		found = view_transcript_search(&transcript, &search, 1);
	while (found == VIEW_FOUND_MORE && ++steps < MANY);
	CHECK("a search goes on in steps", found == VIEW_FOUND && steps > 1);
	CHECK("backwards, there is no second one",
	      view_transcript_search(&transcript, &search, UINT64_MAX) == VIEW_FOUND_NONE);
	view_transcript_close(&transcript);
}

/* Targets of tools are texts as well. */
static void test_long_targets(void)
{
	struct view_transcript transcript;
	char folder[UNIT_PATH];
	AUTO_FREE char *path = path_join(unit_temp(folder), "stdout.log");
	AUTO_FREE char *target = mem_alloc(2001);
	AUTO_BUFFER struct buffer log = BUFFER_INIT(32 << 20);
	const struct agent_format *format = agent_format_find("events");
	size_t least = SIZE_MAX;

	memset(target, 'x', 2000);
	target[2000] = '\0';
	for (int i = 0; i < 4000; i++)
		buffer_printf(&log, "{\"type\": \"tool\", \"name\": \"%s\", \"target\": \"%s\"}\n",
			      target, target);
	put(path, buffer_text(&log));
	view_transcript_open(&transcript, path, format);
	while (view_transcript_earlier(&transcript))
		;
	while (view_transcript_later(&transcript))
		least = transcript.window.count < least ? transcript.window.count : least;
	CHECK("a window of long targets stays as large as it may be",
	      least > 1000 && transcript.window.bytes <= VIEW_TRANSCRIPT_BYTES);
	view_transcript_close(&transcript);
}

/* Each step is shorter than a line. */
static void test_search_beyond_long_lines(void)
{
	AUTO_FREE char *text = mem_format("first\n%0*d\n%0*d\nlast\n", VIEW_TRANSCRIPT_READ + 5000,
					  7, AGENT_LINE_MAX - 5000, 7);
	struct view_transcript transcript;
	struct view_search search = { .text = "last" };
	char folder[UNIT_PATH];
	AUTO_FREE char *path = path_join(unit_temp(folder), "stdout.log");
	enum view_found found;
	int steps = 0;

	put(path, text);
	view_transcript_open(&transcript, path, NULL);
	do
		found = view_transcript_search(&transcript, &search, 1000);
	while (found == VIEW_FOUND_MORE && ++steps < 100);
	CHECK("a search in short steps passes long lines", found == VIEW_FOUND);
	search = (struct view_search){ .text = "first",
				       .backwards = true,
				       .offset = transcript.size };
	for (steps = 0; steps < 100; steps++) {
		found = view_transcript_search(&transcript, &search, 1000);
		if (found != VIEW_FOUND_MORE)
			break;
	}
	CHECK("also backwards", found == VIEW_FOUND);
	view_transcript_close(&transcript);
}

static void test_long_lines(void)
{
	struct view_transcript transcript;
	char folder[UNIT_PATH];
	AUTO_FREE char *path = path_join(unit_temp(folder), "stdout.log");
	AUTO_FREE char *line = mem_alloc(5 << 20);

	memset(line, 'x', 5 << 20);
	line[(5 << 20) - 1] = '\0';
	put(path, "first\n");
	put(path, line);
	put(path, "\nlast\n");
	view_transcript_open(&transcript, path, NULL);
	CHECK("the end of a log with a long line is shown",
	      strcmp(text_at(&transcript, transcript.window.count - 1), "last") == 0);
	while (view_transcript_earlier(&transcript))
		;
	CHECK("a long line is read in pieces", strcmp(text_at(&transcript, 0), "first") == 0 &&
						       transcript.window.count > 3 &&
						       transcript.window.count < 40);

	for (int backwards = 0; backwards < 2; backwards++) {
		struct view_search search = { .text = "nowhere", .backwards = backwards };
		enum view_found found = VIEW_FOUND_MORE;
		int steps = 0;

		search.offset = backwards ? UINT64_MAX : 0;
		while (found == VIEW_FOUND_MORE && ++steps < 1000)
			found = view_transcript_search(&transcript, &search, 1);
		CHECK("a search in small steps passes a long line", found == VIEW_FOUND_NONE);
	}
	view_transcript_close(&transcript);
}

/* ---- the overview ---- */

struct made {
	char state[UNIT_PATH];
	int64_t at_ms;
};

static __attribute__((format(printf, 4, 5))) void happens(struct made *made, const char *id,
							  const char *kind, const char *format, ...)
{
	AUTO_FREE char *folder = mem_format("%s/loops/%s", made->state, id);
	AUTO_FREE char *path = path_join(folder, "journal.db");
	struct journal *journal = NULL;
	struct error err;
	va_list arguments;

	va_start(arguments, format);

	AUTO_FREE char *data = mem_format_list(format, arguments);

	va_end(arguments);
	mkdir(folder, 0700);
	journal_open(path, access(path, F_OK) < 0 ? JOURNAL_CREATE : JOURNAL_WRITE, &journal, &err);
	made->at_ms += 1000;
	journal_append(journal, JOURNAL_LATER, made->at_ms, kind, data, &err);
	journal_close(journal);
}

static void create(struct made *made, const char *id, const char *objective)
{
	AUTO_FREE char *folder = mem_format("%s/loops/%s", made->state, id);
	AUTO_FREE char *lock = path_join(folder, "lock");

	happens(made, id, "created",
		"{\"config\": {\"project\": \"/p\", \"objective\": \"%s\", \"agent_command\": \"a\","
		" \"agent_format\": \"events\", \"checks\": [\"make test\"], \"max_iterations\": 5,"
		" \"fence\": {}}}",
		objective);
	put(lock, "");
	happens(made, id, "started", "{\"pid\": 77}");
}

static struct made begin(void)
{
	struct made made = { .at_ms = began_ms };
	AUTO_FREE char *loops = path_join(unit_temp(made.state), "loops");

	mkdir(loops, 0700);
	return made;
}

static void finish(struct made *made, const char *id)
{
	happens(made, id, "finished", "{\"status\": \"aborted\", \"reason\": \"by you\"}");
}

static size_t refresh(struct view_overview *overview, size_t most)
{
	struct error err;

	return view_overview_refresh(overview, most, &err) == 0 ? overview->count : SIZE_MAX;
}

static void test_rows(void)
{
	struct made made = begin();
	struct view_overview overview;
	const struct view_row *row;

	create(&made, "20260101-000000-aaaa", "make it\\nwork");
	create(&made, "20260102-000000-bbbb", "more");
	finish(&made, "20260102-000000-bbbb");
	view_overview_open(&overview, made.state);
	CHECK("each loop has a row", refresh(&overview, SIZE_MAX) == 2);
	row = view_overview_find(&overview, "20260101-000000-aaaa");
	CHECK("a loop without a supervisor needs a person",
	      row && strcmp(row->status, "interrupted") == 0 && row->needs && !row->ended &&
		      strcmp(row->title, "make it ...") == 0 && row->iterations == 5);
	row = view_overview_find(&overview, "20260102-000000-bbbb");
	CHECK("a loop that has ended needs nobody", row && strcmp(row->status, "aborted") == 0 &&
							    row->ended && !row->needs &&
							    strcmp(row->now, "by you") == 0);
	view_overview_close(&overview);
	view_overview_open(&overview, made.state);
	CHECK("loops that have ended come from the index",
	      refresh(&overview, 0) == 1 && overview.unread == 1 && overview.rows[0]->ended);
	CHECK("the next refresh reads those left out",
	      refresh(&overview, 1) == 2 && overview.unread == 0);
	view_overview_close(&overview);
}

static void test_changes(void)
{
	struct made made = begin();
	struct view_overview overview;
	uint64_t version;

	create(&made, "20260101-000000-aaaa", "make it work");
	view_overview_open(&overview, made.state);
	refresh(&overview, SIZE_MAX);
	create(&made, "20260102-000000-bbbb", "more");
	CHECK("a new loop gets a row", refresh(&overview, SIZE_MAX) == 2);
	finish(&made, "20260101-000000-aaaa");
	CHECK("a change is read", refresh(&overview, SIZE_MAX) == 2 && overview.rows[0]->ended);
	version = overview.version;
	happens(&made, "20260102-000000-bbbb", "baselined", "{}");
	refresh(&overview, SIZE_MAX);
	CHECK("every change has a version", overview.version > version);

	AUTO_FREE char *folder = mem_format("%s/loops/20260102-000000-bbbb", made.state);
	uint64_t freed = 0;
	struct error err;

	client_remove_folder(folder, &freed, &err);
	CHECK("a loop that is removed has no row",
	      refresh(&overview, SIZE_MAX) == 1 && overview.rows[0]->ended);
	view_overview_close(&overview);
}

static void test_damage(void)
{
	struct made made = begin();
	struct view_overview overview;
	AUTO_FREE char *journal = mem_format("%s/loops/20260101-000000-aaaa/journal.db",
					     made.state);
	AUTO_FREE char *empty = mem_format("%s/loops/20260103-000000-cccc", made.state);

	create(&made, "20260101-000000-aaaa", "make it work");
	create(&made, "20260102-000000-bbbb", "more");
	unlink(journal);
	put(journal, "this is not a database");
	mkdir(empty, 0700);
	view_overview_open(&overview, made.state);
	CHECK("a damaged journal harms no other row", refresh(&overview, SIZE_MAX) == 2 &&
							      overview.rows[0]->needs &&
							      overview.rows[1]->title);
	create(&made, "20260103-000000-cccc", "late");
	CHECK("a folder becomes a row when its loop begins", refresh(&overview, SIZE_MAX) == 3);
	view_overview_close(&overview);
}

int main(void)
{
	test_entries();
	test_sums();
	test_silence();
	test_pieces();
	test_growth();
	test_windows();
	test_search();
	test_long_targets();
	test_search_beyond_long_lines();
	test_long_lines();
	test_rows();
	test_changes();
	test_damage();
	return unit_failures > 0;
}
