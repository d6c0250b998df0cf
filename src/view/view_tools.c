/* The tools of agents: see view_tools.h. */
#include "view/view_tools.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "view/activity.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PENDING = 64, CHUNK = 1 << 16, REPORT_BYTES = 16 << 20 };

/* A transcript that is being read. Results have no name, but come in the order of the calls. */
struct transcript {
	struct view_tools *into;
	size_t pending[PENDING]; /* tools without a result yet, oldest first */
	size_t pending_count;
};

void view_tools_release(struct view_tools *tools)
{
	view_names_release(&tools->tools);
	view_names_release(&tools->targets);
	view_names_release(&tools->files);
	view_names_release(&tools->hosts);
	view_names_release(&tools->denials);
	view_names_release(&tools->rules);
	free(tools->errors);
	free(tools->traffic);
	*tools = (struct view_tools){ 0 };
}

static void add_call(struct transcript *transcript, const struct agent_event *event)
{
	struct view_tools *into = transcript->into;
	size_t tool = view_names_add(&into->tools, 0, event->name ? event->name : "a tool", 1);

	if (transcript->pending_count < PENDING)
		transcript->pending[transcript->pending_count++] = tool;
	if (tool != SIZE_MAX && event->target && *event->target)
		view_names_add(&into->targets, (uint32_t)tool, event->target, 1);
}

static void add_result(struct transcript *transcript, bool ok)
{
	size_t tool = transcript->pending[0];

	if (!transcript->pending_count)
		return;
	transcript->pending_count--;
	memmove(transcript->pending, transcript->pending + 1,
		transcript->pending_count * sizeof *transcript->pending);
	if (!ok && tool != SIZE_MAX)
		transcript->into->errors[tool]++;
}

static void add_event(void *context, const struct agent_event *event)
{
	struct transcript *transcript = context;

	if (event->kind == AGENT_EVENT_tool_call)
		add_call(transcript, event);
	else if (event->kind == AGENT_EVENT_tool_result)
		add_result(transcript, event->ok);
	else if (event->kind == AGENT_EVENT_file_changed && event->target)
		view_names_add(&transcript->into->files, 0, event->target, 1);
}

/* Reads this many bytes: an agent may be writing more. */
static void read_events(int fd, uint64_t left, const struct agent_format *format,
			struct view_tools *into)
{
	struct transcript transcript = { .into = into };
	struct agent_reader *reader = agent_reader_new(format, add_event, &transcript);
	AUTO_FREE char *chunk = mem_alloc(CHUNK);
	ssize_t n;

	for (; left && (n = read(fd, chunk, left < CHUNK ? left : CHUNK)) > 0; left -= (uint64_t)n)
		agent_reader_feed(reader, chunk, (size_t)n);
	agent_reader_end(reader);
	agent_reader_free(reader);
}

/* Reads a transcript if it has no more bytes than are left. */
static void read_transcript(const char *path, const struct agent_format *format, uint64_t *left,
			    struct view_tools *into)
{
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0 || info.st_size == 0)
		return;
	if (!format || strcmp(format->name, "plain") == 0) {
		into->untold++;
		return;
	}
	if ((uint64_t)info.st_size > *left) {
		into->unread++;
		return;
	}
	*left -= (uint64_t)info.st_size;
	read_events(fd, (uint64_t)info.st_size, format, into);
}

static void add_host(const json_t *entry, struct view_tools *into)
{
	AUTO_FREE char *name = mem_format("%s:%d", jsonget_text(entry, "host"),
					  (int)jsonget_number(entry, "port"));
	uint64_t connections = (uint64_t)jsonget_number(entry, "connections");
	uint64_t refusals = (uint64_t)jsonget_number(entry, "refusals");
	size_t at = view_names_add(&into->hosts, 0, name, connections + refusals);

	if (at == SIZE_MAX)
		return;
	into->traffic[at].connections += connections;
	into->traffic[at].refusals += refusals;
	into->traffic[at].bytes_in += (uint64_t)jsonget_number(entry, "bytes_in");
	into->traffic[at].bytes_out += (uint64_t)jsonget_number(entry, "bytes_out");
}

static void add_denial(const json_t *entry, struct view_tools *into)
{
	AUTO_FREE char *name = mem_format("%s %s", jsonget_text(entry, "kind"),
					  jsonget_text(entry, "target"));
	uint64_t count = (uint64_t)jsonget_number(entry, "count");
	size_t rule = view_names_add(&into->rules, 0, jsonget_text(entry, "rule"), count);

	view_names_add(&into->denials, rule == SIZE_MAX ? 0 : (uint32_t)rule, name, count);
}

/* Adds the fence's report of one run: of an agent, a check or a reviewer. */
static void read_report(int folder, const char *name, struct view_tools *into)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(REPORT_BYTES);
	json_t *report;
	const json_t *entry;
	size_t i;

	if (fd_read_file(folder, name, &text) < 0)
		return;
	report = json_loadb(buffer_text(&text), text.used, 0, NULL);
	json_array_foreach(json_object_get(report, "hosts"), i, entry) add_host(entry, into);
	json_array_foreach(json_object_get(report, "denials"), i, entry) add_denial(entry, into);
	entry = json_object_get(report, "use");
	into->cpu_ms += (uint64_t)jsonget_number(entry, "cpu_ms");
	if ((uint64_t)jsonget_number(entry, "memory_peak") > into->peak_bytes)
		into->peak_bytes = (uint64_t)jsonget_number(entry, "memory_peak");
	json_decref(report);
}

static bool is_report(const char *name)
{
	static const char end[] = "report.json";
	size_t size = strlen(name);

	return size >= sizeof end - 1 && strcmp(name + size - (sizeof end - 1), end) == 0;
}

static void read_reports(const char *path, struct view_tools *into)
{
	DIR *folder = opendir(path);

	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (is_report(entry->d_name))
			read_report(dirfd(folder), entry->d_name, into);
	if (folder)
		closedir(folder);
}

static const struct agent_format *format_of(const struct loop_options *options,
					    const struct view_iteration *item)
{
	return item->part < DECISION_AGENTS_MAX ? options->agents[item->part].format : NULL;
}

void view_tools_read(const struct client_loop *loop, const struct view_iterations *iterations,
		     uint64_t most_bytes, struct view_tools *ret_tools)
{
	struct view_tools into = {
		.tools = VIEW_NAMES_INIT(VIEW_TOOLS_MOST),
		.targets = VIEW_NAMES_INIT(VIEW_TOOLS_TARGETS),
		.files = VIEW_NAMES_INIT(VIEW_TOOLS_TARGETS),
		.hosts = VIEW_NAMES_INIT(VIEW_TOOLS_HOSTS),
		.denials = VIEW_NAMES_INIT(VIEW_TOOLS_TARGETS),
		.rules = VIEW_NAMES_INIT(VIEW_TOOLS_MOST),
		.errors = mem_zero(VIEW_TOOLS_MOST * sizeof(uint64_t)),
		.traffic = mem_zero(VIEW_TOOLS_HOSTS * sizeof(struct view_host)),
	};

	for (size_t i = iterations->count; i-- > 0;) {
		const struct view_iteration *item = &iterations->items[i];
		AUTO_FREE char *log = activity_log(loop, item->iteration,
						   item->attempt ? item->attempt : 1);
		AUTO_FREE char *folder = path_folder(log);

		read_transcript(log, format_of(&loop->state.options, item), &most_bytes, &into);
		read_reports(folder, &into);
	}
	*ret_tools = into;
}
