/* Reports and metrics of a loop, from a journal, a ledger and transcripts. */
#include "unit.h"

#include "journal/journal.h"
#include "report/metrics.h"
#include "report/report.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#define ID "20260102-030405-abcd"

enum { MANY = 10000 / UNIT_SLOWER, MINUTE = 60000, PAGE = 150 << 10 };

/* The loop of a state folder. */
struct made {
	char state[UNIT_PATH];
	char *folder;
	struct journal *journal;
	int64_t at_ms;
};

/* Writes a file below the folder of the loop. */
static void put(const struct made *made, const char *name, const char *text)
{
	AUTO_FREE char *path = path_join(made->folder, name);
	AUTO_FREE char *above = path_folder(path);
	AUTO_FD fd = -1;

	mkdir(above, 0700);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	fd_write_all(fd, text, strlen(text));
}

static __attribute__((format(printf, 3, 4))) void happens(struct made *made, const char *kind,
							  const char *format, ...)
{
	struct error err;
	va_list arguments;

	va_start(arguments, format);

	AUTO_FREE char *data = mem_format_list(format, arguments);

	va_end(arguments);
	made->at_ms += MINUTE;
	journal_append(made->journal, JOURNAL_LATER, made->at_ms, kind, data, &err);
}

static void begin(struct made *made)
{
	AUTO_FREE char *loops = NULL;
	AUTO_FREE char *path = NULL;
	struct error err;

	*made = (struct made){ .at_ms = 1767300000000 };
	unit_temp(made->state);
	loops = path_join(made->state, "loops");
	mkdir(loops, 0700);
	made->folder = path_join(loops, ID);
	mkdir(made->folder, 0700);
	put(made, "iterations/.keep", "");
	path = path_join(made->folder, "journal.db");
	CHECK("a journal is made", journal_open(path, JOURNAL_CREATE, &made->journal, &err) == 0);
	happens(made, "created",
		"{\"config\": {\"project\": \"/p\\\"q\", \"objective\": \"# <b>make</b> it\","
		" \"agent_command\": \"agent\", \"agent_format\": \"events\", \"checks\": [\"make test\"],"
		" \"max_iterations\": 20000, \"max_cost_nusd\": 2000000000, \"fence\": {}}}");
	happens(made, "started", "{\"pid\": 77}");
	happens(made, "checked",
		"{\"index\": 0, \"code\": 1, \"counted\": true,"
		" \"tests_passed\": 2, \"tests_failed\": 3}");
	happens(made, "baselined", "{}");
}

static void iterate(struct made *made, int number, bool last)
{
	happens(made, "begun", "{\"iteration\": %d, \"attempt\": 1}", number);
	happens(made, "ended",
		"{\"code\": 0, \"final\": \"<script>alert(1)</script> @all\", \"cost_nusd\": 1000000,"
		" \"tool_calls\": 3, \"tool_errors\": 1, \"denials\": 2, \"duration_ms\": 40000}");
	happens(made, "checked",
		"{\"index\": 0, \"code\": %d, \"passed\": %s, \"counted\": true, \"tests_passed\": %d,"
		" \"tests_failed\": 0, \"duration_ms\": 2000, \"mechanism\": \"bwrap\"}",
		last ? 0 : 1, last ? "true" : "false", last ? 5 : 3);
	happens(made, last ? "finished" : "continued",
		"{\"iteration\": %d, \"action\": \"%s\", \"status\": \"completed\", \"reason\": \"because\","
		" \"failure\": \"check failed\", \"used\": %d, \"counts\": true,"
		" \"snapshot\": {\"tree\": \"t\", \"files_changed\": 4}}",
		number, last ? "done" : "go on", number);
}

static void end(struct made *made)
{
	journal_close(made->journal);
	free(made->folder);
}

static struct client_loop find(const struct made *made)
{
	struct client_loop loop = { 0 };
	struct error err = { 0 };
	bool found = client_find(made->state, ID, NULL, &loop, &err) == 0 && !loop.damaged;

	CHECK("the loop is found", found);
	if (!found)
		printf("# %s %s\n", err.text, loop.trouble ? loop.trouble : "");
	return loop;
}

static const char transcript[] =
	"{\"type\": \"tool\", \"name\": \"shell\", \"target\": \"make \\u001b[1m\\u202e test\"}\n"
	"{\"type\": \"tool_result\", \"ok\": false}\n"
	"{\"type\": \"tool\", \"name\": \"shell\", \"target\": \"make \\u001b[1m\\u202e test\"}\n"
	"{\"type\": \"tool_result\", \"ok\": true}\n"
	"{\"type\": \"tool\", \"name\": \"</code><img src=x onerror=alert(1)>\", \"target\": \"a|b\"}\n"
	"{\"type\": \"file\", \"target\": \"a.c\"}\n";

static const char fence_report[] =
	"{\"hosts\": [{\"host\": \"example.com\", \"port\": 443, \"connections\": 2, \"refusals\": 1,"
	" \"bytes_in\": 10, \"bytes_out\": 20}], \"denials\": [{\"kind\": \"read\", \"target\": \"/x\","
	" \"rule\": \"secret\", \"count\": 7}], \"use\": {\"cpu_ms\": 5, \"memory_peak\": 100}}";

static const char ledger[] =
	"{\"at_ms\": 1767300300000, \"iteration\": 1, \"agent\": \"a\", \"model\": \"one\", \"input\": 10,"
	" \"output\": 2, \"read\": 5, \"cost_nusd\": 3000000, \"estimated\": false}\n"
	"{\"at_ms\": 1767300545000, \"iteration\": 2, \"agent\": \"a\", \"model\": \"two\", \"cost_nusd\": 7}\n"
	"{\"at_ms\": 1767300670000, \"iteration\": 2, \"agent\": \"a\", \"model\": \"two\", \"input\": 1,"
	" \"output\": 1, \"cost_nusd\": 500000000, \"estimated\": true}\n";

static struct made make_small(void)
{
	struct made made;

	begin(&made);
	iterate(&made, 1, false);
	happens(&made, "begun", "{\"iteration\": 2, \"attempt\": 1}");
	happens(&made, "interrupted", "{\"iteration\": 2, \"attempt\": 1, \"cost_nusd\": 1}");
	happens(&made, "begun", "{\"iteration\": 2, \"attempt\": 2}");
	happens(&made, "ended", "{\"code\": 1, \"timed_out\": true, \"duration_ms\": 1}");
	happens(&made, "checked",
		"{\"index\": 0, \"code\": 0, \"passed\": true, \"vacuous\": true}");
	happens(&made, "continued",
		"{\"iteration\": 2, \"action\": \"go on\", \"used\": 2,"
		" \"counts\": true, \"failure\": \"timeout\"}");
	iterate(&made, 3, true);
	put(&made, "ledger.jsonl", ledger);
	put(&made, "iterations/1/stdout.log", transcript);
	put(&made, "iterations/1/report.json", fence_report);
	put(&made, "iterations/1/check-1.report.json", fence_report);
	return made;
}

static void iterations(const struct client_loop *loop)
{
	struct view_iterations all = { 0 };
	struct error err;

	CHECK("the iterations are read", view_iterations_read(loop, &all, &err) == 0);
	CHECK("each attempt is an entry, and so is the baseline", all.count == 5);
	if (all.count != 5)
		return;
	CHECK("the baseline has the checks before the first agent",
	      all.items[0].iteration == 0 && strcmp(all.items[0].action, "baseline") == 0 &&
		      all.items[0].tests_passing == 2 && all.items[0].tests_failing == 3);
	CHECK("an iteration has its decision and its reason",
	      strcmp(all.items[1].action, "go on") == 0 &&
		      strcmp(all.items[1].reason, "because") == 0 && all.items[1].counts);
	CHECK("an iteration has its numbers",
	      all.items[1].tool_calls == 3 && all.items[1].tool_errors == 1 &&
		      all.items[1].denials == 2 && all.items[1].files_changed == 4 &&
		      all.items[1].agent_ms == 40000 && all.items[1].checks_ms == 2000);
	CHECK("the gateway's count replaces that of the agent",
	      all.items[1].cost_nusd == 3000000 && all.items[1].requests == 1 &&
		      all.items[1].tokens[PRICE_READ] == 5);
	CHECK("without one, the agent's own is used", all.items[4].cost_nusd == 1000000);
	CHECK("a request counts for the attempt in which it was made",
	      strcmp(all.items[2].action, "interrupted") == 0 && all.items[2].cost_nusd == 7 &&
		      all.items[3].attempt == 2 && all.items[3].use_count == 1 &&
		      all.items[3].estimated_nusd == 500000000);
	CHECK("the way an agent ended is told",
	      all.items[3].ended && strcmp(all.items[3].ended, "timeout") == 0 &&
		      !all.items[4].ended);
	CHECK("a check that ran nothing does not pass",
	      all.items[3].checks_passing == 0 && all.items[4].checks_passing == 1);
	CHECK("requests are summed up by model",
	      all.models.count == 2 && all.totals[0].requests == 1 &&
		      all.total.cost_nusd == 503000007 && all.metered);
	view_iterations_release(&all);
}

static void tools(const struct client_loop *loop)
{
	struct view_iterations all;
	struct view_tools tools;
	struct error err;

	if (view_iterations_read(loop, &all, &err) < 0)
		return;
	view_tools_read(loop, &all, 1 << 20, &tools);
	CHECK("tools are counted with their failures",
	      tools.tools.count == 2 && tools.tools.items[0].count == 2 && tools.errors[0] == 1 &&
		      tools.errors[1] == 0);
	CHECK("targets are counted for their tool", tools.targets.count == 2 &&
							    tools.targets.items[0].count == 2 &&
							    tools.targets.items[1].group == 1);
	CHECK("changed files are listed", tools.files.count == 1);
	CHECK("hosts of agents and checks are added up",
	      tools.hosts.count == 1 && tools.traffic[0].connections == 4 &&
		      tools.traffic[0].bytes_out == 40 &&
		      strcmp(tools.hosts.items[0].text, "example.com:443") == 0);
	CHECK("denials have their rule",
	      tools.denials.count == 1 && tools.denials.items[0].count == 14 &&
		      strcmp(tools.rules.items[tools.denials.items[0].group].text, "secret") == 0);
	view_tools_release(&tools);
	view_tools_read(loop, &all, 10, &tools);
	CHECK("a transcript beyond the limit is not read, and counted",
	      tools.tools.count == 0 && tools.unread == 1);
	view_tools_release(&tools);
	view_iterations_release(&all);
}

static void names(void)
{
	struct view_names names = VIEW_NAMES_INIT(2);

	CHECK("a new name is added", view_names_add(&names, 0, "a", 1) == 0);
	CHECK("the same text in another group is another name",
	      view_names_add(&names, 1, "a", 5) == 1);
	CHECK("a known name is counted",
	      view_names_add(&names, 0, "a", 2) == 0 && names.items[0].count == 3);
	CHECK("a name beyond the maximum is only counted",
	      view_names_add(&names, 0, "b", 4) == SIZE_MAX && names.unlisted == 4 &&
		      names.count == 2);

	AUTO_FREE size_t *order = view_names_order(&names);

	CHECK("the most frequent name is first", order[0] == 1 && order[1] == 0);
	view_names_release(&names);
}

/* An agent that knew the slots could choose names which all have the same one. */
static void name_slots(void)
{
	enum { MOST = 100 };
	struct view_names one = VIEW_NAMES_INIT(MOST);
	struct view_names other = VIEW_NAMES_INIT(MOST);

	for (int i = 0; i < MOST; i++) {
		AUTO_FREE char *name = mem_format("name %d", i);

		view_names_add(&one, 0, name, 1);
		view_names_add(&other, 0, name, 1);
	}
	CHECK("the slots of names are not the same in another table",
	      memcmp(one.slots, other.slots, one.slot_count * sizeof *one.slots) != 0);
	CHECK("the names are", strcmp(one.items[MOST - 1].text, other.items[MOST - 1].text) == 0);
	view_names_release(&one);
	view_names_release(&other);
}

/* Writes the page of a loop into html. */
static bool write_page(const struct made *made, const struct client_loop *loop, struct html *html)
{
	struct document document;
	struct report report;
	struct error err;

	if (report_read(made->state, loop, made->at_ms, &report, &err) < 0)
		return false;
	report_document(&report, &document);
	document_html(&document, html);
	document_release(&document);
	report_release(&report);
	return true;
}

static void pages(const struct made *made, const struct client_loop *loop)
{
	AUTO_HTML struct html html = HTML_INIT(16 << 20);
	const char *page;

	CHECK("the page is written", write_page(made, loop, &html));
	page = buffer_text(&html.out);
	CHECK("every tag is closed", html.depth == 0 && strstr(page, "</html>\n"));
	CHECK("the page has plots, and links to its sections",
	      strstr(page, "<svg") && strstr(page, "href=\"#iterations\"") &&
		      strstr(page, "id=\"iterations\""));
	CHECK("the words of an agent are text",
	      strstr(page, "&lt;script&gt;alert(1)&lt;/script&gt;") && !strstr(page, "<script"));
	CHECK("the name of a tool is text",
	      strstr(page, "&lt;/code&gt;&lt;img src=x") && !strstr(page, "<img"));
	CHECK("marks in a command are visible", strstr(page, "make \\u{1b}[1m\\u{202e} test"));
	CHECK("the page refers to nothing else",
	      !strstr(page, "src=\"") && !strstr(page, "http:") && !strstr(page, "https:") &&
		      !strstr(page, "url("));
	CHECK("and its policy forbids it", strstr(page, "default-src &#39;none&#39;"));
}

static void markdown(const struct made *made, const struct client_loop *loop)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct document document;
	struct report report;
	struct error err;

	if (report_read(made->state, loop, made->at_ms, &report, &err) < 0)
		return;
	report_document(&report, &document);
	document_markdown(&document, &out);
	CHECK("the title in Markdown is text",
	      strstr(buffer_text(&out), "# \\# &lt;b&gt;make&lt;/b&gt; it\n"));
	CHECK("nobody is mentioned",
	      strstr(buffer_text(&out), "\\@&#8203;all") && !strstr(buffer_text(&out), " @all"));
	CHECK("an iteration is a row",
	      strstr(buffer_text(&out),
		     "| 1 | go on | 0 of 1 | 3 | 3m | 0.0030 | 3 | 4 | 2 | because |"));
	document_release(&document);

	json_t *object = report_json(&report);

	CHECK("the report as JSON has every attempt",
	      json_array_size(json_object_get(object, "iterations")) == 5 &&
		      json_array_size(json_object_get(object, "tools")) == 2);
	json_decref(object);
	report_release(&report);
}

static bool label_is(const char *value, const char *expected)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1000);

	metrics_label(&out, value);
	return strcmp(buffer_text(&out), expected) == 0;
}

static void metrics(const struct made *made)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 20);
	struct error err;
	const char *text;

	CHECK("metrics are written", metrics_write(made->state, 5, made->at_ms, &out, &err) == 0);
	text = buffer_text(&out);
	CHECK("a loop has its status and its project, escaped",
	      strstr(text, "ringfence_loop_info{loop=\"" ID
			   "\",project=\"/p\\\"q\",status=\"completed\"} 1\n"));
	CHECK("loops are counted by status",
	      strstr(text, "ringfence_loops{status=\"completed\"} 1\n") &&
		      strstr(text, "ringfence_loops{status=\"paused\"} 0\n"));
	CHECK("a loop has its numbers",
	      strstr(text, "ringfence_loop_iterations_total{loop=\"" ID "\"} 4\n") &&
		      strstr(text, "ringfence_loop_failures_total{loop=\"" ID "\"} 1\n") &&
		      strstr(text, "ringfence_loop_interruptions_total{loop=\"" ID "\"} 1\n") &&
		      strstr(text, "ringfence_loop_denials_total{loop=\"" ID "\"} 4\n") &&
		      strstr(text, "ringfence_loop_checks_passing{loop=\"" ID "\"} 1\n"));
	CHECK("a loop without a supervisor has no heartbeat",
	      strstr(text, "# TYPE ringfence_loop_heartbeat_age_seconds gauge\n") &&
		      !strstr(text, "ringfence_loop_heartbeat_age_seconds{"));
	CHECK("labels are escaped", label_is("a\"b\\c\nd\xff\xe2\x80\xae",
					     "\"a\\\"b\\\\c\\\\u{a}d\xef\xbf\xbd\\\\u{202e}\""));
}

static void small(void)
{
	struct made made = make_small();
	struct client_loop loop = find(&made);

	if (loop.id && !loop.damaged) {
		iterations(&loop);
		tools(&loop);
		pages(&made, &loop);
		markdown(&made, &loop);
		metrics(&made);
	}
	client_loop_release(&loop);
	end(&made);
}

/* A loop whose changes have 30 findings. */
static struct made make_findings(void)
{
	AUTO_BUFFER struct buffer list = BUFFER_INIT(1 << 16);
	struct made made;

	for (int i = 0; i < 30; i++)
		buffer_printf(&list, "%s{\"action\": \"tell\", \"path\": \"t.c\", \"line\": %d}",
			      i ? ", " : "", i + 1);
	begin(&made);
	happens(&made, "begun", "{\"iteration\": 1, \"attempt\": 1}");
	happens(&made, "ended", "{\"code\": 0}");
	happens(&made, "examined", "{\"count\": 30, \"findings\": [%s]}", buffer_text(&list));
	return made;
}

static void findings(void)
{
	AUTO_HTML struct html html = HTML_INIT(1 << 20);
	struct made made = make_findings();
	struct client_loop loop = find(&made);

	CHECK("a loop with many findings has a page", write_page(&made, &loop, &html));
	CHECK("the first of them are shown", strstr(buffer_text(&html.out), "t.c:25<") &&
						     !strstr(buffer_text(&html.out), "t.c:26<"));
	CHECK("it says how many are left out",
	      strstr(buffer_text(&html.out), "5 more are not shown."));
	client_loop_release(&loop);
	end(&made);
}

static void large(void)
{
	AUTO_HTML struct html html = HTML_INIT(16 << 20);
	struct client_loop loop;
	struct made made;

	begin(&made);
	for (int i = 1; i <= MANY; i++)
		iterate(&made, i, i == MANY);
	loop = find(&made);
	CHECK("a long loop has a page", write_page(&made, &loop, &html));
	CHECK("the page of a long loop stays small", html.out.used < PAGE);
	CHECK("it says what it leaves out",
	      strstr(buffer_text(&html.out), "The first 10 and the last 90 of "));
	CHECK("its plots join iterations",
	      strstr(buffer_text(&html.out), "Each bar is the average of "));
	client_loop_release(&loop);
	end(&made);
}

int main(void)
{
	names();
	name_slots();
	small();
	findings();
	large();
	return unit_failures > 0;
}
