/* Logs: see web_logs.h. */
#include "serve/answer/web_logs.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"
#include "view/activity.h"
#include "view/view_iterations.h"
#include "view/view_json.h"
#include "view/view_transcript.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	ENTRIES = 200,
	ENTRIES_MOST = 1000,
	TEXTS = 1 << 20,   /* bytes of the entries of one answer, about */
	SEARCH = 16 << 20, /* bytes that are searched for one answer */
	WORD = 1000,       /* bytes of a text that is searched */
	PROMPT = 1 << 20,
};

char *web_logs_folder(const struct client_loop *loop, uint32_t iteration, uint32_t attempt)
{
	AUTO_FREE char *log = activity_log(loop, iteration, attempt);

	return mem_format("%.*s", (int)(strrchr(log, '/') - log), log);
}

/* ---- which logs there are ---- */

/* Returns the length of the name of a log without ".log", or 0 for other files. */
static size_t log_length(const char *name)
{
	size_t size = strlen(name);
	size_t length = size > 4 && strcmp(name + size - 4, ".log") == 0 ? size - 4 : 0;

	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == size && name[0] != '.'
		       ? length
		       : 0;
}

/* Returns what a log is called: "agent", "check 1 (errors)". The caller frees it. */
static char *title_of(const char *name, size_t length)
{
	static const char out[] = "stdout", errors[] = "stderr";
	size_t stream = sizeof out - 1;
	bool is_errors = length >= stream && strncmp(name + length - stream, errors, stream) == 0;
	char *title;

	if (length < stream || (!is_errors && strncmp(name + length - stream, out, stream) != 0))
		return mem_format("%.*s", (int)length, name);
	length -= stream;
	title = length ? mem_format("%.*s%s", (int)length - 1, name, is_errors ? " (errors)" : "")
		       : mem_format("agent%s", is_errors ? " (errors)" : "");
	for (char *at = title; *at; at++)
		if (*at == '-' || *at == '.')
			*at = ' ';
	return title;
}

static json_t *log_json(int folder, const char *name)
{
	size_t length = log_length(name);
	struct stat info;

	if (!length || fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(info.st_mode))
		return NULL;

	AUTO_FREE char *title = title_of(name, length);
	AUTO_FREE char *log = mem_format("%.*s", (int)length, name);

	return json_pack("{s:s, s:s, s:I}", "log", log, "title", title, "size",
			 (json_int_t)info.st_size);
}

json_t *web_logs_list(const char *folder)
{
	struct dirent **names = NULL;
	int count = scandir(folder, &names, NULL, alphasort);
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_t *list = json_array();

	for (int i = 0; i < count; i++) {
		json_t *log = fd >= 0 ? log_json(fd, names[i]->d_name) : NULL;

		if (log)
			json_array_append_new(list, log);
		free(names[i]);
	}
	free(names);
	return list;
}

/* ---- one log ---- */

/* An opened log, with its loop. */
struct opened {
	struct client_loop loop;
	struct view_transcript transcript;
};

static void close_log(struct opened *opened)
{
	view_transcript_close(&opened->transcript);
	client_loop_release(&opened->loop);
}

/* Finds the agent of an attempt by the journal if the loop has several. */
static uint32_t part_of(const struct client_loop *loop, uint32_t iteration, uint32_t attempt)
{
	struct view_iterations all;
	struct error ignored;
	uint32_t part = 0;

	if (loop->state.options.part_count < 2 || view_iterations_read(loop, &all, &ignored) < 0)
		return 0;
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].iteration == iteration && all.items[i].attempt == attempt)
			part = all.items[i].part;
	view_iterations_release(&all);
	return part < DECISION_AGENTS_MAX ? part : 0;
}

/* Only the agent and the reviewer print events. */
static const struct agent_format *format_of(const struct client_loop *loop, const char *log,
					    uint32_t iteration, uint32_t attempt)
{
	const struct loop_options *options = &loop->state.options;

	if (strcmp(log, "stdout") == 0)
		return options->agents[part_of(loop, iteration, attempt)].format;
	if (text_after_prefix(log, "review-") && strstr(log, ".stdout"))
		return options->reviewer.format;
	return NULL;
}

static int read_place(const struct web_ask *ask, int64_t *ret_iteration, int64_t *ret_attempt,
		      struct error *err)
{
	if (web_ask_number(ask, "iteration", 0, UINT32_MAX, -1, ret_iteration, err) < 0 ||
	    web_ask_number(ask, "attempt", 1, UINT32_MAX, 1, ret_attempt, err) < 0)
		return -1;
	return 0;
}

static int open_log(const struct web_ask *ask, struct web_ask_answer *answer,
		    struct opened *ret_opened, struct error *err)
{
	const char *log = web_ask_text(ask, "log") ? web_ask_text(ask, "log") : "stdout";
	AUTO_FREE char *name = mem_format("%.100s.log", log);
	int64_t iteration, attempt;

	if (read_place(ask, &iteration, &attempt, err) < 0)
		return -1;
	if (iteration < 0)
		return error_with(err, ERROR_INVALID, "'iteration' is missing");
	if (!log_length(name))
		return error_with(err, ERROR_INVALID, "'log' is not the name of a log");
	if (web_ask_readable(ask, answer, &ret_opened->loop, err) < 0)
		return -1;

	AUTO_FREE char *folder = web_logs_folder(&ret_opened->loop, (uint32_t)iteration,
						 (uint32_t)attempt);
	AUTO_FREE char *path = path_join(folder, name);

	view_transcript_open(&ret_opened->transcript, path,
			     format_of(&ret_opened->loop, log, (uint32_t)iteration,
				       (uint32_t)attempt));
	return 0;
}

/* ---- positions ---- */

int web_logs_position(const char *text, uint64_t *ret_offset, uint32_t *ret_ordinal)
{
	static const char digits[] = "0123456789";
	size_t offset = strspn(text, digits);
	size_t ordinal = text[offset] == '.' ? strspn(text + offset + 1, digits) : 0;

	if (!offset || offset > 18 || !ordinal || ordinal > 10 || text[offset + 1 + ordinal])
		return -1;
	*ret_offset = strtoull(text, NULL, 10);
	*ret_ordinal = (uint32_t)strtoull(text + offset + 1, NULL, 10);
	return 0;
}

/* Reads a parameter that is a position. *ret_given: there is one. Returns 0, or -1 with err set. */
static int read_position(const struct web_ask *ask, const char *name, struct view_search *ret_at,
			 bool *ret_given, struct error *err)
{
	const char *text = web_ask_text(ask, name);

	*ret_given = text != NULL;
	if (text && web_logs_position(text, &ret_at->offset, &ret_at->ordinal) < 0)
		return error_with(err, ERROR_INVALID, "'%s' must be a position such as 4711.0",
				  name);
	return 0;
}

static json_t *position_json(uint64_t offset, uint32_t ordinal)
{
	return json_sprintf("%llu.%u", (unsigned long long)offset, ordinal);
}

/* ---- entries ---- */

static json_t *entry_json(const struct view_entry *entry)
{
	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:I, s:b, s:b}", "at",
			 position_json(entry->offset, entry->ordinal), "kind",
			 view_entry_name(entry->kind), "name", view_json_text(entry->name),
			 "target", view_json_text(entry->target), "text",
			 view_json_text(entry->text), "size", (json_int_t)entry->size, "ok",
			 entry->ok, "open", entry->open);
}

static size_t size_of(const struct view_entry *entry)
{
	return entry->text ? strlen(entry->text) : 0;
}

/* Where the entries of an answer begin in the window, and how many there are. */
struct range {
	size_t first, count;
};

/* Takes entries from `at` on, up to the limits. */
static struct range take_later(const struct view_entries *window, size_t at, size_t most)
{
	struct range range = { .first = at };
	size_t bytes = 0;

	while (at < window->count && range.count < most && bytes < TEXTS) {
		bytes += size_of(&window->items[at++]);
		range.count++;
	}
	return range;
}

/* Takes entries before `at`. */
static struct range take_earlier(const struct view_entries *window, size_t at, size_t most)
{
	struct range range = { .first = at };
	size_t bytes = 0;

	while (range.first > 0 && range.count < most && bytes < TEXTS) {
		bytes += size_of(&window->items[--range.first]);
		range.count++;
	}
	return range;
}

/* Reads on until so many entries follow a position, or there are no more; returns its index. The
 * window stays below its limits, so the position is not dropped. */
static size_t read_later(struct view_transcript *transcript, const struct view_search *at,
			 size_t most)
{
	size_t index = view_transcript_find(transcript, at->offset, at->ordinal);

	while (transcript->window.count - index < most && transcript->window.bytes < TEXTS &&
	       view_transcript_later(transcript))
		index = view_transcript_find(transcript, at->offset, at->ordinal);
	return index;
}

static size_t read_earlier(struct view_transcript *transcript, const struct view_search *at,
			   size_t most)
{
	size_t index = view_transcript_find(transcript, at->offset, at->ordinal);

	/* A step back may find nothing but lines without entries. */
	while (index < most && transcript->window.bytes < TEXTS &&
	       !view_transcript_at_begin(transcript)) {
		view_transcript_earlier(transcript);
		index = view_transcript_find(transcript, at->offset, at->ordinal);
	}
	return index;
}

static bool is_at(const struct view_entries *window, size_t index, const struct view_search *at)
{
	return index < window->count && window->items[index].offset == at->offset &&
	       window->items[index].ordinal == at->ordinal;
}

/* The entries at the end. */
static struct range find_last(struct view_transcript *transcript, size_t most)
{
	const struct view_search end = { .offset = UINT64_MAX };

	read_earlier(transcript, &end, most);
	return take_earlier(&transcript->window, transcript->window.count, most);
}

/* The position that a request names: at most one of these is given. */
struct wanted {
	struct view_search from, after, before, around;
	bool has_from, has_after, has_before, has_around;
	size_t most;
};

static struct range find_range(struct view_transcript *transcript, const struct wanted *wanted)
{
	const struct view_search *at = wanted->has_from     ? &wanted->from
				       : wanted->has_after  ? &wanted->after
				       : wanted->has_before ? &wanted->before
							    : &wanted->around;
	size_t index;

	if (!wanted->has_from && !wanted->has_after && !wanted->has_before && !wanted->has_around)
		return find_last(transcript, wanted->most);
	view_transcript_to(transcript, at->offset);
	if (wanted->has_before) {
		index = read_earlier(transcript, at, wanted->most);
		return take_earlier(&transcript->window, index, wanted->most);
	}
	if (wanted->has_around) {
		struct range before;

		index = read_earlier(transcript, at, wanted->most / 2);
		before = take_earlier(&transcript->window, index, wanted->most / 2);
		return take_later(&transcript->window, before.first, wanted->most);
	}
	index = read_later(transcript, at, wanted->most + 1);
	if (wanted->has_after && is_at(&transcript->window, index, at))
		index++;
	return take_later(&transcript->window, index, wanted->most);
}

static json_t *range_json(const struct view_transcript *transcript, struct range range)
{
	const struct view_entries *window = &transcript->window;
	json_t *entries = json_array();

	for (size_t i = range.first; i < range.first + range.count; i++)
		json_array_append_new(entries, entry_json(&window->items[i]));
	return json_pack("{s:I, s:b, s:b, s:o}", "size", (json_int_t)transcript->size, "begin",
			 range.first == 0 && view_transcript_at_begin(transcript), "end",
			 range.first + range.count == window->count &&
				 view_transcript_at_end(transcript),
			 "entries", entries);
}

static int read_wanted(const struct web_ask *ask, struct wanted *wanted, struct error *err)
{
	int64_t limit;

	if (web_ask_number(ask, "limit", 1, ENTRIES_MOST, ENTRIES, &limit, err) < 0 ||
	    read_position(ask, "from", &wanted->from, &wanted->has_from, err) < 0 ||
	    read_position(ask, "after", &wanted->after, &wanted->has_after, err) < 0 ||
	    read_position(ask, "before", &wanted->before, &wanted->has_before, err) < 0 ||
	    read_position(ask, "around", &wanted->around, &wanted->has_around, err) < 0)
		return -1;
	wanted->most = (size_t)limit;
	return 0;
}

int web_logs_transcript(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	struct wanted wanted = { 0 };
	struct opened opened;

	if (read_wanted(ask, &wanted, err) < 0 || open_log(ask, answer, &opened, err) < 0)
		return -1;
	answer->json = range_json(&opened.transcript, find_range(&opened.transcript, &wanted));
	close_log(&opened);
	return 0;
}

/* ---- search ---- */

/* Without a position, a search begins at the beginning, whose first entry counts. */
static int read_search(const struct web_ask *ask, struct view_search *search, struct error *err)
{
	bool after, before;

	search->text = web_ask_text(ask, "text");
	if (!search->text || !*search->text || strlen(search->text) > WORD)
		return error_with(err, ERROR_INVALID, "'text' must have 1 to %d bytes", WORD);
	search->ordinal = UINT32_MAX;
	if (read_position(ask, "after", search, &after, err) < 0 ||
	    read_position(ask, "before", search, &before, err) < 0)
		return -1;
	search->backwards = before;
	return 0;
}

static bool begins_with_it(struct view_transcript *transcript, struct view_search *search)
{
	view_transcript_to(transcript, 0);
	for (size_t i = 0; i < transcript->window.count; i++) {
		const struct view_entry *entry = &transcript->window.items[i];

		if (entry->offset > 0)
			break;
		if (!view_entry_has(entry, search->text))
			continue;
		search->ordinal = entry->ordinal;
		return true;
	}
	return false;
}

int web_logs_search(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	struct view_search search = { 0 };
	enum view_found found;
	struct opened opened;

	if (read_search(ask, &search, err) < 0 || open_log(ask, answer, &opened, err) < 0)
		return -1;
	if (search.offset == 0 && search.ordinal == UINT32_MAX && !search.backwards &&
	    begins_with_it(&opened.transcript, &search))
		found = VIEW_FOUND;
	else
		found = view_transcript_search(&opened.transcript, &search, SEARCH);
	answer->json = json_pack("{s:o, s:o}", "found",
				 found == VIEW_FOUND ? position_json(search.offset, search.ordinal)
						     : json_null(),
				 "next",
				 found == VIEW_FOUND_MORE
					 ? position_json(search.offset, search.ordinal)
					 : json_null());
	close_log(&opened);
	return 0;
}

/* ---- the prompt ---- */

static json_t *prompt_json(const char *text, size_t size)
{
	AUTO_FREE char *part = mem_format("%.*s", (int)text_first(text, size, PROMPT), text);

	return json_pack("{s:o, s:I, s:b}", "text", view_json_text(part), "size", (json_int_t)size,
			 "cut", size > PROMPT);
}

static int read_prompt(const struct client_loop *loop, uint32_t iteration, uint32_t attempt,
		       struct web_ask_answer *answer, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(PROMPT_MAX);
	AUTO_FREE char *folder = web_logs_folder(loop, iteration, attempt);
	AUTO_FD fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fd_read_file(fd, "prompt.md", &text) < 0)
		return error_with(err, ERROR_NOT_FOUND, "iteration %u of loop %s has no prompt",
				  iteration, loop->id);
	answer->json = prompt_json(buffer_text(&text), text.used);
	return 0;
}

int web_logs_prompt(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	AUTO_PROMPT struct prompt prompt = PROMPT_INIT;
	int64_t iteration, attempt;
	struct client_loop loop;
	int result = 0;

	if (read_place(ask, &iteration, &attempt, err) < 0 ||
	    web_ask_readable(ask, answer, &loop, err) < 0)
		return -1;
	if (iteration >= 0) {
		result = read_prompt(&loop, (uint32_t)iteration, (uint32_t)attempt, answer, err);
	} else {
		client_prompt(&loop, &prompt);
		answer->json = prompt_json(buffer_text(&prompt.text), prompt.text.used);
	}
	client_loop_release(&loop);
	return result;
}
