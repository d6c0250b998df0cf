/*
 * The entries of a transcript, from its lines: messages, reasoning, tool calls with their results,
 * errors; for a log of plain text, its lines. Each line is read by itself, so that reading can
 * begin anywhere. Only two things depend on the entries before: a piece of a message is joined to
 * the piece before it, and a final message that repeats the last one has no text.
 *
 * The texts come from agents and checks: they are untrusted, and not escaped.
 */
#ifndef VIEW_VIEW_ENTRY_H
#define VIEW_VIEW_ENTRY_H

#include "agent/agent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VIEW_ENTRY_TEXT = AGENT_TEXT_MAX, /* bytes of a text; a longer one keeps its end */
	VIEW_ENTRY_LINE = 4096,           /* the same for a line of plain text: its beginning */
};

#define VIEW_ENTRIES(X)                                                                      \
	X(started)                                                                           \
	X(message)                                                                           \
	X(thinking)                                                                          \
	X(call)    /* name: the tool; target: its path or command */                         \
	X(result)  /* of the tool call before it; text: its output, or why it failed */      \
	X(changed) /* target: a file */                                                      \
	X(trouble) /* an error, a rate limit, a retry; name: what it is */                   \
	X(final)   /* the end of the turn; text: NULL if it repeats the message before it */ \
	X(line)    /* plain text, or what the agent printed beside its events */

enum view_entry_kind {
#define VIEW_ENTRY(name) VIEW_ENTRY_##name,
	VIEW_ENTRIES(VIEW_ENTRY)
#undef VIEW_ENTRY
		VIEW_ENTRY_COUNT
};

struct view_entry {
	enum view_entry_kind kind;
	uint64_t offset;            /* in the log, of the line that it was read from */
	uint32_t ordinal;           /* among the entries of that line */
	char *text, *name, *target; /* or NULL */
	uint64_t size;              /* bytes of the text in the log, of which it may be a part */
	bool ok;                    /* result, final */
	bool open;                  /* the last line of a log, which is not complete yet */
};

/* Texts have at most `bytes` together. */
struct view_entries {
	struct view_entry *items;
	size_t count;
	size_t bytes;
};

/* Returns the name of a kind, such as "message". */
const char *view_entry_name(enum view_entry_kind kind);

/* Appends the entries of a line, without its newline. The format is NULL for plain text. */
void view_entries_add(struct view_entries *entries, const struct agent_format *format,
		      const char *line, size_t size, uint64_t offset);

/* Moves all entries of another list to the end of this one. */
void view_entries_append(struct view_entries *entries, struct view_entries *others);

/* Returns what an entry counts for in `bytes`. */
size_t view_entry_bytes(const struct view_entry *entry);

/* Removes entries from the beginning or the end. */
void view_entries_drop_first(struct view_entries *entries, size_t count);
void view_entries_drop_last(struct view_entries *entries, size_t count);
void view_entries_release(struct view_entries *entries);

/* Does one of its texts contain the text? Small and capital ASCII letters are the same. */
bool view_entry_has(const struct view_entry *entry, const char *text);

#endif
