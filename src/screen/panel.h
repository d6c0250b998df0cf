/* The tabs of a loop: each fills a sheet with lines from what is known of the loop. */
#ifndef SCREEN_PANEL_H
#define SCREEN_PANEL_H

#include "screen/watched.h"

typedef void panel_fn(struct watched *watched, struct sheet *sheet);

panel_fn panel_log;
panel_fn panel_iterations;
panel_fn panel_checks;
panel_fn panel_findings;
panel_fn panel_changes;
panel_fn panel_denials;
panel_fn panel_cost;
panel_fn panel_prompt;

/* The transcript: opens that of the iteration to be shown, and closes it. */
void panel_log_open(struct watched *watched);
void panel_log_close(struct watched *watched);

/* Opens or closes the entry with this mark. Returns whether it can be. */
bool panel_log_toggle(struct watched *watched, size_t mark);

/* The changes: begins a comparison in place of any other, unless the same is under way; ends it;
 * forgets everything. */
void panel_changes_start(struct watched *watched, enum view_changes_kind kind);
void panel_changes_end(struct watched *watched);
void panel_changes_close(struct watched *watched);

/* Returns the iteration with this mark, or NULL. */
const struct view_iteration *panel_iteration(const struct watched *watched, size_t mark);

#endif
