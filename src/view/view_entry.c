/* The entries of a transcript: see view_entry.h. */
#include "view/view_entry.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

/* A sum of texts that is longer has lost its beginning: AGENT_TEXT_MAX, less a character and white
 * space. */
enum { SUM_MAX = AGENT_TEXT_MAX / 2 };

/* A line that is being read. */
struct reading {
	struct view_entries *entries;
	const struct agent_format *format;
	const char *line;
	size_t size;
	uint64_t offset;
	uint32_t ordinal;
};

const char *view_entry_name(enum view_entry_kind kind)
{
	static const char *const names[] = {
#define VIEW_ENTRY(name) #name,
		VIEW_ENTRIES(VIEW_ENTRY)
#undef VIEW_ENTRY
	};

	return names[kind];
}

size_t view_entry_bytes(const struct view_entry *entry)
{
	return sizeof *entry + (entry->text ? strlen(entry->text) : 0) +
	       (entry->name ? strlen(entry->name) : 0) +
	       (entry->target ? strlen(entry->target) : 0);
}

static void release_entry(struct view_entry *entry)
{
	free(entry->text);
	free(entry->name);
	free(entry->target);
}

static void add(struct view_entries *entries, const struct view_entry *entry)
{
	entries->items = mem_extend(entries->items, entries->count, sizeof *entries->items);
	entries->items[entries->count++] = *entry;
	entries->bytes += view_entry_bytes(entry);
}

/* Returns a copy of a text without white space around it, or NULL if nothing is left. */
static char *trimmed(const char *text)
{
	size_t size;

	if (text)
		text += strspn(text, "\r\n");
	size = text ? strlen(text) : 0;
	while (size && strchr(" \t\r\n", text[size - 1]))
		size--;
	return size ? mem_format("%.*s", (int)size, text) : NULL;
}

/* Adds an entry of the line that is being read, and takes its texts. */
static void emit(struct reading *reading, struct view_entry entry)
{
	entry.offset = reading->offset;
	entry.ordinal = reading->ordinal++;
	if (!entry.size && entry.text)
		entry.size = strlen(entry.text);
	add(reading->entries, &entry);
}

/* Joins a piece of a message to the piece before it. Returns false if there is none, or it would
 * become too long. */
static bool join(struct reading *reading, const char *piece)
{
	struct view_entries *entries = reading->entries;
	struct view_entry *last = entries->count ? &entries->items[entries->count - 1] : NULL;
	size_t size = piece ? strlen(piece) : 0;

	if (!reading->format->pieces || !last || last->kind != VIEW_ENTRY_message || !last->text ||
	    strlen(last->text) + size > VIEW_ENTRY_TEXT)
		return false;
	last->text = mem_resize(last->text, strlen(last->text) + size + 1, 1);
	memcpy(last->text + strlen(last->text), piece ? piece : "", size + 1);
	last->size += size;
	entries->bytes += size;
	return true;
}

/* The blocks of a message in one line are told as they add up. Drops the sum so far. */
static void drop_sum(struct reading *reading, const char *text)
{
	struct view_entries *entries = reading->entries;
	const struct view_entry *last = entries->count ? &entries->items[entries->count - 1] : NULL;

	if (!reading->ordinal || !last || last->kind != VIEW_ENTRY_message ||
	    (!text_after_prefix(text, last->text) && strlen(text) < SUM_MAX))
		return;
	view_entries_drop_last(entries, 1);
	reading->ordinal--;
}

static void emit_message(struct reading *reading, const struct agent_event *event)
{
	char *text;

	if (join(reading, event->text))
		return;
	text = reading->format->pieces ? mem_copy(event->text) : trimmed(event->text);
	if (text)
		drop_sum(reading, text);
	if (text)
		emit(reading, (struct view_entry){ .kind = VIEW_ENTRY_message, .text = text });
}

static void emit_result(struct reading *reading, const struct agent_event *event)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4 * VIEW_ENTRY_TEXT);
	const char *text = event->text;

	agent_event_output(event, &out);
	if (out.used)
		text = buffer_text(&out) + text_last(buffer_text(&out), out.used, VIEW_ENTRY_TEXT);
	emit(reading, (struct view_entry){ .kind = VIEW_ENTRY_result,
					   .text = trimmed(text),
					   .size = event->output_size,
					   .ok = event->ok });
}

static void emit_trouble(struct reading *reading, const struct agent_event *event)
{
	char *name = event->kind == AGENT_EVENT_retry
			     ? mem_format("retry in %lld s", (long long)event->delay_ms / 1000)
			     : mem_format("error (%s)", failure_row(event->error)->stream_name);

	emit(reading, (struct view_entry){ .kind = VIEW_ENTRY_trouble,
					   .name = name,
					   .text = trimmed(event->text) });
}

/* The final message usually repeats the last one. */
static bool was_said(const struct view_entries *entries, const char *text)
{
	for (size_t i = entries->count; i-- > 0;) {
		const struct view_entry *entry = &entries->items[i];
		const char *end = entry->kind == VIEW_ENTRY_message && entry->text ? entry->text
										   : NULL;

		if (end && strlen(end) >= strlen(text))
			end += strlen(end) - strlen(text);
		if (end)
			return strcmp(end, text) == 0;
		if (entry->kind == VIEW_ENTRY_call)
			return false;
	}
	return false;
}

static void emit_final(struct reading *reading, const struct agent_event *event)
{
	char *text = trimmed(event->text);

	if (text && was_said(reading->entries, text)) {
		free(text);
		text = NULL;
	}
	emit(reading,
	     (struct view_entry){ .kind = VIEW_ENTRY_final, .text = text, .ok = event->ok });
}

static void emit_line(struct reading *reading)
{
	size_t size = text_first(reading->line, reading->size, VIEW_ENTRY_LINE);
	size_t nul = strnlen(reading->line, size);

	emit(reading, (struct view_entry){ .kind = VIEW_ENTRY_line,
					   .text = mem_format("%.*s", (int)nul, reading->line),
					   .size = reading->size });
}

static void take(void *context, const struct agent_event *event)
{
	struct reading *reading = context;

	switch (event->kind) {
	case AGENT_EVENT_started:
		emit(reading, (struct view_entry){ .kind = VIEW_ENTRY_started,
						   .name = mem_copy(event->name) });
		break;
	case AGENT_EVENT_text:
		emit_message(reading, event);
		break;
	case AGENT_EVENT_thinking:
		emit(reading, (struct view_entry){ .kind = VIEW_ENTRY_thinking,
						   .text = trimmed(event->text) });
		break;
	case AGENT_EVENT_tool_call:
		emit(reading, (struct view_entry){ .kind = VIEW_ENTRY_call,
						   .name = mem_copy(event->name),
						   .target = trimmed(event->target) });
		break;
	case AGENT_EVENT_tool_result:
		emit_result(reading, event);
		break;
	case AGENT_EVENT_file_changed:
		emit(reading, (struct view_entry){ .kind = VIEW_ENTRY_changed,
						   .target = trimmed(event->target) });
		break;
	case AGENT_EVENT_error:
	case AGENT_EVENT_retry:
		emit_trouble(reading, event);
		break;
	case AGENT_EVENT_rate_limit:
		if (event->error != FAILURE_NONE)
			emit_trouble(reading, event);
		break;
	case AGENT_EVENT_finished:
		emit_final(reading, event);
		break;
	case AGENT_EVENT_unknown:
		emit_line(reading);
		break;
	default:
		break;
	}
}

static void read_events(struct reading *reading)
{
	struct agent_reader *reader = agent_reader_new(reading->format, take, reading);

	agent_reader_feed(reader, reading->line, reading->size);
	agent_reader_end(reader);
	agent_reader_free(reader);
}

void view_entries_add(struct view_entries *entries, const struct agent_format *format,
		      const char *line, size_t size, uint64_t offset)
{
	struct reading reading = {
		.entries = entries, .format = format, .line = line, .size = size, .offset = offset
	};

	if (format && size)
		read_events(&reading);
	else if (!format)
		emit_line(&reading);
}

void view_entries_append(struct view_entries *entries, struct view_entries *others)
{
	for (size_t i = 0; i < others->count; i++)
		add(entries, &others->items[i]);
	free(others->items);
	*others = (struct view_entries){ 0 };
}

void view_entries_drop_first(struct view_entries *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		entries->bytes -= view_entry_bytes(&entries->items[i]);
		release_entry(&entries->items[i]);
	}
	if (count)
		memmove(entries->items, entries->items + count,
			(entries->count - count) * sizeof *entries->items);
	entries->count -= count;
}

void view_entries_drop_last(struct view_entries *entries, size_t count)
{
	for (; count > 0; count--) {
		struct view_entry *last = &entries->items[--entries->count];

		entries->bytes -= view_entry_bytes(last);
		release_entry(last);
	}
}

void view_entries_release(struct view_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		release_entry(&entries->items[i]);
	free(entries->items);
	*entries = (struct view_entries){ 0 };
}

bool view_entry_has(const struct view_entry *entry, const char *text)
{
	return (entry->text && strcasestr(entry->text, text)) ||
	       (entry->name && strcasestr(entry->name, text)) ||
	       (entry->target && strcasestr(entry->target, text));
}
