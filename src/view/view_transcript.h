/*
 * A transcript of any size, read by windows: of a log that an agent or a check writes, the entries
 * of a part are in memory, at most VIEW_TRANSCRIPT_MOST and VIEW_TRANSCRIPT_BYTES. A window at the
 * end follows the log while it grows. A position is that of an entry: its offset in the log and its
 * ordinal, which stay the same however often the window moves.
 *
 * The log may not exist yet, may be cut, and may be replaced; then reading begins again.
 */
#ifndef VIEW_VIEW_TRANSCRIPT_H
#define VIEW_VIEW_TRANSCRIPT_H

#include "view/view_entry.h"

#include <sys/types.h>

enum {
	VIEW_TRANSCRIPT_MOST = 4000,
	VIEW_TRANSCRIPT_BYTES = 4 << 20, /* of all texts */
	VIEW_TRANSCRIPT_READ = 1 << 18,  /* bytes of the log that are read at a time */
};

struct view_transcript {
	char *path;
	const struct agent_format *format; /* NULL: plain text */
	uint64_t begin, end;               /* the window: these bytes of the log */
	uint64_t partial; /* bytes after the window that end in the middle of a line */
	uint64_t size;    /* of the log, when it was last looked at */
	dev_t device;
	ino_t inode;
	struct view_entries window;
};

/* Opens the end of a log. A format that is NULL, or "plain", means lines of text. */
void view_transcript_open(struct view_transcript *transcript, const char *path,
			  const struct agent_format *format);
void view_transcript_close(struct view_transcript *transcript);

/* Looks whether the log has grown, and reads on if the window is at its end. Returns whether the
 * window has changed. */
bool view_transcript_poll(struct view_transcript *transcript);

/* Is the window at the end, or the beginning, of the log? */
bool view_transcript_at_end(const struct view_transcript *transcript);
bool view_transcript_at_begin(const struct view_transcript *transcript);

/* Adds entries before or after the window, and drops others at its far end. Returns whether there
 * were any: a long part of a log may have none, and the next call then goes on before it. */
bool view_transcript_earlier(struct view_transcript *transcript);
bool view_transcript_later(struct view_transcript *transcript);

/* Moves the window to the end of the log, or so that it begins with the line at this offset or
 * before it. */
void view_transcript_to_end(struct view_transcript *transcript);
void view_transcript_to(struct view_transcript *transcript, uint64_t offset);

/* Returns the index in the window of the entry at this position, or of the next one; the count if
 * there is none. */
size_t view_transcript_find(const struct view_transcript *transcript, uint64_t offset,
			    uint32_t ordinal);

/* A search, which goes on from where it is. */
struct view_search {
	const char *text;
	bool backwards;
	uint64_t offset; /* the position: entries after it, or before it, are searched */
	uint32_t ordinal;
};

enum view_found { VIEW_FOUND, VIEW_FOUND_MORE, VIEW_FOUND_NONE };

/*
 * Searches the log for the next entry that has the text (view_entry_has()), and moves the position
 * to it. VIEW_FOUND_MORE: so many bytes were searched, and there are more; call it again. The
 * window stays as it is.
 */
enum view_found view_transcript_search(const struct view_transcript *transcript,
				       struct view_search *search, uint64_t most_bytes);

#endif
