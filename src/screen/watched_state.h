/* The structs of a loop that is open on the screen: see watched.h. */
#ifndef SCREEN_WATCHED_STATE_H
#define SCREEN_WATCHED_STATE_H

#include "screen/canvas.h"
#include "screen/scroll.h"
#include "screen/sheet.h"
#include "view/view_changes.h"
#include "view/view_iterations.h"
#include "view/view_limits.h"
#include "view/view_now.h"
#include "view/view_row.h"
#include "view/view_transcript.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum watched_tab {
	WATCHED_LOG,
	WATCHED_ITERATIONS,
	WATCHED_CHECKS,
	WATCHED_FINDINGS,
	WATCHED_CHANGES,
	WATCHED_DENIALS,
	WATCHED_COST,
	WATCHED_PROMPT,
	WATCHED_TABS
};

/* The place of an entry in a transcript. */
struct watched_place {
	uint64_t offset;
	uint32_t ordinal;
};

enum { WATCHED_TOGGLED = 1000 }; /* entries that are folded unlike the others */

/* The transcript of an agent. */
struct watched_log {
	bool open, follow;
	uint32_t iteration, attempt; /* of the transcript */
	struct view_transcript transcript;
	bool unfolded; /* all but the toggled ones */
	struct watched_place toggled[WATCHED_TOGGLED];
	size_t toggled_count;

	/* The cursor, while the window moves. */
	struct watched_place kept;
	size_t kept_line, kept_row; /* in the entry, and on the screen */
};

/* The results of comparisons. */
struct watched_changes {
	struct view_changes_job job;
	enum view_changes_kind kind; /* of the job */
	bool read;                   /* the list of files is known */
	struct view_changes files;
	struct view_diff diff;
	char *path;       /* of the file whose diff is open, or NULL */
	size_t file;      /* its index */
	bool found;       /* the findings are known */
	json_t *findings; /* or NULL */
	char *trouble;    /* why the comparison failed, or NULL */
};

struct watched {
	const char *state; /* Ringfence's state folder */
	struct client_loop loop;
	bool open;
	bool gone; /* the loop was removed */
	struct view_now now;
	char *needs, *doing; /* of its row in the overview; or NULL */
	struct view_limits limits;
	struct view_iterations iterations;
	int64_t seq; /* of the journal when the iterations were read */
	int64_t now_ms;
	enum watched_tab tab;
	struct sheet sheet;
	struct scroll scrolls[WATCHED_TABS];
	bool stale;   /* the sheet must be filled again */
	int width;    /* of the sheet */
	char *sought; /* the text of the last search, or NULL */
	struct watched_log log;
	struct watched_changes changes;
	json_t *denials; /* of the iteration that the log shows; or NULL */
};

#endif
