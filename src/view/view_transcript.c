/* Transcripts by windows: see view_transcript.h. */
#include "view/view_transcript.h"

#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A longer line is read in pieces of this size. After a jump of the log by more than JUMP bytes,
 * only its end is read; and no more than that is searched at a time for earlier entries. */
enum { LONGEST = AGENT_LINE_MAX + 1, JUMP = 4 * VIEW_TRANSCRIPT_READ };

/* A window grows by at most so many entries at a time: of many short lines, those in the middle of
 * the window must not be dropped together with those at its far end. */
enum { STEP = VIEW_TRANSCRIPT_MOST / 2 };

/* A part of the log. */
struct part {
	char *bytes;
	size_t size;
	uint64_t offset;
};

static void part_release(struct part *part)
{
	free(part->bytes);
}

#define AUTO_PART __attribute__((cleanup(part_release)))

static int open_log(const struct view_transcript *transcript, struct stat *ret_info)
{
	AUTO_FD fd = open(transcript->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, ret_info) < 0 || !S_ISREG(ret_info->st_mode))
		return -1;
	return fd_steal(&fd);
}

/* Reads at most so many bytes at an offset. */
static struct part read_part(const struct view_transcript *transcript, uint64_t offset, size_t most)
{
	struct stat info;
	AUTO_FD fd = open_log(transcript, &info);
	struct part part = { .bytes = mem_alloc(most + 1), .offset = offset };
	ssize_t n = 1;

	while (fd >= 0 && part.size < most && n > 0) {
		n = pread(fd, part.bytes + part.size, most - part.size,
			  (off_t)(offset + part.size));
		part.size += n > 0 ? (size_t)n : 0;
	}
	return part;
}

/* ---- lines ---- */

/* Adds the entries of the complete lines of a part, from `at` on, and of the piece of one that is
 * longer than all lines. Returns where the rest begins. */
static size_t take_lines(struct view_entries *entries, const struct agent_format *format,
			 const struct part *part, size_t at)
{
	const char *end;

	while (at < part->size && (end = memchr(part->bytes + at, '\n', part->size - at))) {
		size_t size = (size_t)(end - part->bytes) - at;

		view_entries_add(entries, format, part->bytes + at, size, part->offset + at);
		at += size + 1;
	}
	if (part->size - at >= LONGEST) {
		view_entries_add(entries, format, part->bytes + at, part->size - at,
				 part->offset + at);
		at = part->size;
	}
	return at;
}

/* Returns the offset at which the line with this byte begins, or its piece. */
static uint64_t line_begin(const struct view_transcript *transcript, uint64_t offset)
{
	uint64_t from = offset > LONGEST ? offset - LONGEST : 0;
	AUTO_PART struct part part = read_part(transcript, from, (size_t)(offset - from));
	const char *end = part.size ? memrchr(part.bytes, '\n', part.size) : NULL;

	return end ? from + (uint64_t)(end - part.bytes) + 1 : from;
}

/* Reads lines at an offset: about VIEW_TRANSCRIPT_READ bytes, or one longer line. *ret_part: the
 * bytes; *ret_rest: where the incomplete line at their end begins. */
static void read_lines(const struct view_transcript *transcript, uint64_t offset,
		       struct view_entries *entries, struct part *ret_part, size_t *ret_rest)
{
	size_t most = VIEW_TRANSCRIPT_READ;
	struct part part = read_part(transcript, offset, most);

	if (part.size == most && !memchr(part.bytes, '\n', part.size)) {
		part_release(&part);
		part = read_part(transcript, offset, LONGEST);
	}
	*ret_rest = take_lines(entries, transcript->format, &part, 0);
	*ret_part = part;
}

/* ---- the window ---- */

static bool is_over(const struct view_entries *window)
{
	return window->count > VIEW_TRANSCRIPT_MOST || window->bytes > VIEW_TRANSCRIPT_BYTES;
}

static void drop_open(struct view_transcript *transcript)
{
	struct view_entries *window = &transcript->window;

	if (window->count && window->items[window->count - 1].open)
		view_entries_drop_last(window, 1);
}

/* Drops whole lines at the beginning of a window that is too large. */
static void trim_begin(struct view_transcript *transcript)
{
	struct view_entries *window = &transcript->window;
	size_t bytes = window->bytes;
	size_t count = 0;

	while (count + 1 < window->count &&
	       (window->count - count > VIEW_TRANSCRIPT_MOST || bytes > VIEW_TRANSCRIPT_BYTES ||
		(count && window->items[count].ordinal))) {
		bytes -= view_entry_bytes(&window->items[count++]);
	}
	view_entries_drop_first(window, count);
	if (count)
		transcript->begin = window->items[0].offset;
}

/* The same at the end. */
static void trim_end(struct view_transcript *transcript)
{
	struct view_entries *window = &transcript->window;
	bool inside = false;

	while (window->count > 1 && (is_over(window) || inside)) {
		const struct view_entry *last = &window->items[window->count - 1];

		inside = last->ordinal > 0;
		transcript->end = last->offset;
		transcript->partial = 0;
		view_entries_drop_last(window, 1);
	}
}

/* Reads on after the window. Returns whether there was a complete line. */
static bool extend(struct view_transcript *transcript)
{
	AUTO_PART struct part part = { 0 };
	size_t rest;

	drop_open(transcript);
	read_lines(transcript, transcript->end, &transcript->window, &part, &rest);
	transcript->end += rest;
	transcript->partial = part.size - rest;
	if (transcript->end + transcript->partial > transcript->size)
		transcript->size = transcript->end + transcript->partial;
	if (!transcript->format && transcript->partial && view_transcript_at_end(transcript)) {
		view_entries_add(&transcript->window, NULL, part.bytes + rest, part.size - rest,
				 transcript->end);
		transcript->window.items[transcript->window.count - 1].open = true;
	}
	return rest > 0;
}

static void clear(struct view_transcript *transcript, uint64_t offset)
{
	view_entries_release(&transcript->window);
	transcript->begin = transcript->end = offset;
	transcript->partial = 0;
}

/* Notes the size of the log. Returns false if it is another log than before, or was cut. */
static bool look(struct view_transcript *transcript)
{
	struct stat info = { 0 };
	AUTO_FD fd = open_log(transcript, &info);
	bool same = fd >= 0 && info.st_dev == transcript->device &&
		    info.st_ino == transcript->inode && (uint64_t)info.st_size >= transcript->size;

	transcript->device = fd >= 0 ? info.st_dev : 0;
	transcript->inode = fd >= 0 ? info.st_ino : 0;
	transcript->size = fd >= 0 ? (uint64_t)info.st_size : 0;
	return same;
}

void view_transcript_open(struct view_transcript *transcript, const char *path,
			  const struct agent_format *format)
{
	bool plain = !format || strcmp(format->name, "plain") == 0;

	*transcript = (struct view_transcript){ .path = mem_dup(path),
						.format = plain ? NULL : format };
	look(transcript);
	view_transcript_to_end(transcript);
}

void view_transcript_close(struct view_transcript *transcript)
{
	view_entries_release(&transcript->window);
	free(transcript->path);
	*transcript = (struct view_transcript){ 0 };
}

bool view_transcript_at_end(const struct view_transcript *transcript)
{
	return transcript->end + transcript->partial >= transcript->size;
}

bool view_transcript_at_begin(const struct view_transcript *transcript)
{
	return transcript->begin == 0;
}

/* Reads all that was added since. */
static void catch_up(struct view_transcript *transcript)
{
	while (extend(transcript) && !view_transcript_at_end(transcript))
		trim_begin(transcript);
	trim_begin(transcript);
}

bool view_transcript_poll(struct view_transcript *transcript)
{
	bool at_end = view_transcript_at_end(transcript);
	uint64_t before = transcript->size;

	if (!look(transcript)) {
		bool any = transcript->window.count || transcript->size;

		view_transcript_to_end(transcript);
		return any;
	}
	if (!at_end || transcript->size == before)
		return false;
	if (transcript->size - transcript->end > JUMP)
		view_transcript_to_end(transcript);
	else
		catch_up(transcript);
	return true;
}

/* Drops whole lines at the beginning of entries until about so many are left. Returns whether there
 * were any. */
static bool keep_last(struct view_entries *entries, size_t most)
{
	size_t drop = entries->count > most ? entries->count - most : 0;

	while (drop && entries->items[drop].ordinal)
		drop--;
	view_entries_drop_first(entries, drop);
	return drop > 0;
}

/* The same at the end of the window. */
static void keep_first(struct view_transcript *transcript, size_t most)
{
	struct view_entries *window = &transcript->window;

	while (most < window->count && window->items[most].ordinal)
		most++;
	if (most >= window->count)
		return;
	transcript->end = window->items[most].offset;
	transcript->partial = 0;
	view_entries_drop_last(window, window->count - most);
}

bool view_transcript_earlier(struct view_transcript *transcript)
{
	struct view_entries window = { 0 };
	uint64_t begin = transcript->begin;

	while (begin && !window.count && transcript->begin - begin < JUMP) {
		uint64_t from = begin > VIEW_TRANSCRIPT_READ ? begin - VIEW_TRANSCRIPT_READ : 0;
		uint64_t start = line_begin(transcript, from);
		AUTO_PART struct part part = read_part(transcript, start, (size_t)(begin - start));
		size_t rest = take_lines(&window, transcript->format, &part, 0);

		if (rest < part.size) /* a piece of a long line */
			view_entries_add(&window, transcript->format, part.bytes + rest,
					 part.size - rest, start + rest);
		begin = start;
	}
	transcript->begin = begin;
	if (!window.count)
		return false;
	if (keep_last(&window, STEP))
		transcript->begin = window.items[0].offset;
	view_entries_append(&window, &transcript->window);
	transcript->window = window;
	trim_end(transcript);
	return true;
}

bool view_transcript_later(struct view_transcript *transcript)
{
	size_t before = transcript->window.count;
	bool read = !view_transcript_at_end(transcript) && extend(transcript);

	keep_first(transcript, before + STEP);
	trim_begin(transcript);
	return read;
}

void view_transcript_to_end(struct view_transcript *transcript)
{
	uint64_t size = transcript->size;

	clear(transcript, size > VIEW_TRANSCRIPT_READ
				  ? line_begin(transcript, size - VIEW_TRANSCRIPT_READ)
				  : 0);
	catch_up(transcript);
}

void view_transcript_to(struct view_transcript *transcript, uint64_t offset)
{
	clear(transcript,
	      line_begin(transcript, offset < transcript->size ? offset : transcript->size));
	extend(transcript);
	trim_end(transcript);
}

static bool is_before(uint64_t offset, uint32_t ordinal, uint64_t other, uint32_t other_ordinal)
{
	return offset < other || (offset == other && ordinal < other_ordinal);
}

size_t view_transcript_find(const struct view_transcript *transcript, uint64_t offset,
			    uint32_t ordinal)
{
	const struct view_entries *window = &transcript->window;
	size_t at = 0;

	while (at < window->count &&
	       is_before(window->items[at].offset, window->items[at].ordinal, offset, ordinal))
		at++;
	return at;
}

/* ---- search ---- */

/* Does an entry lie beyond the position, and have the text? Then the position moves to it. */
static bool is_found(struct view_search *search, const struct view_entry *entry)
{
	bool before = is_before(entry->offset, entry->ordinal, search->offset, search->ordinal);
	bool same = entry->offset == search->offset && entry->ordinal == search->ordinal;

	if (same || before != search->backwards || !view_entry_has(entry, search->text))
		return false;
	search->offset = entry->offset;
	search->ordinal = entry->ordinal;
	return true;
}

static bool search_entries(struct view_search *search, const struct view_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		if (is_found(search,
			     &entries->items[search->backwards ? entries->count - 1 - i : i]))
			return true;
	return false;
}

/* Searches the lines at *at, and moves it after them. Returns whether the text was found.
 * *ret_over: no complete line is left. */
static bool search_after(const struct view_transcript *transcript, struct view_search *search,
			 uint64_t *at, bool *ret_over)
{
	struct view_entries entries = { 0 };
	AUTO_PART struct part part = { 0 };
	size_t rest;
	bool found;

	read_lines(transcript, *at, &entries, &part, &rest);
	if (!transcript->format && rest < part.size && *at + part.size >= transcript->size)
		view_entries_add(&entries, NULL, part.bytes + rest, part.size - rest, *at + rest);
	found = search_entries(search, &entries);
	view_entries_release(&entries);
	*at += rest;
	*ret_over = rest == 0;
	return found;
}

static enum view_found search_on(const struct view_transcript *transcript,
				 struct view_search *search, uint64_t most_bytes)
{
	uint64_t first = search->offset;
	uint64_t at = line_begin(transcript, first);
	bool over = false;

	/* The line with the position is read again, but does not count: it may be long. */
	while (!over && (at <= first + 1 || at - first < most_bytes))
		if (search_after(transcript, search, &at, &over))
			return VIEW_FOUND;
	if (over)
		return VIEW_FOUND_NONE;
	search->offset = at - 1; /* before all entries of the next line */
	search->ordinal = UINT32_MAX;
	return VIEW_FOUND_MORE;
}

/* Searches the lines from `start` to `end`. */
static bool search_before(const struct view_transcript *transcript, struct view_search *search,
			  uint64_t start, uint64_t end)
{
	struct view_entries entries = { 0 };
	AUTO_PART struct part part = read_part(transcript, start, (size_t)(end - start));
	size_t rest = take_lines(&entries, transcript->format, &part, 0);
	bool found;

	if (rest < part.size)
		view_entries_add(&entries, transcript->format, part.bytes + rest, part.size - rest,
				 start + rest);
	found = search_entries(search, &entries);
	view_entries_release(&entries);
	return found;
}

/* Returns the offset after the line at this offset. */
static uint64_t line_end(const struct view_transcript *transcript, uint64_t offset)
{
	AUTO_PART struct part part = read_part(transcript, offset, LONGEST);
	const char *end = memchr(part.bytes, '\n', part.size);

	return offset + (end ? (uint64_t)(end - part.bytes) + 1 : part.size);
}

static enum view_found search_back(const struct view_transcript *transcript,
				   struct view_search *search, uint64_t most_bytes)
{
	uint64_t first = search->offset < transcript->size ? search->offset : transcript->size;
	uint64_t end = line_end(transcript, first);

	while (end) {
		uint64_t from = end > VIEW_TRANSCRIPT_READ ? end - VIEW_TRANSCRIPT_READ : 0;
		uint64_t start = line_begin(transcript, from);

		if (search_before(transcript, search, start, end))
			return VIEW_FOUND;
		end = start;
		if (end && first > end && first - end >= most_bytes) {
			search->offset = end;
			search->ordinal = 0;
			return VIEW_FOUND_MORE;
		}
	}
	return VIEW_FOUND_NONE;
}

enum view_found view_transcript_search(const struct view_transcript *transcript,
				       struct view_search *search, uint64_t most_bytes)
{
	return search->backwards ? search_back(transcript, search, most_bytes)
				 : search_on(transcript, search, most_bytes);
}
