/* Reading what is known of a loop that is open: see watched.h. */
#include "screen/panel.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void read_now(struct watched *watched)
{
	view_now_release(&watched->now);
	view_now_read(&watched->loop, &watched->now);
	view_limits_read(&watched->loop, watched->now_ms, &watched->limits);
}

static void read_iterations(struct watched *watched)
{
	struct view_iterations iterations;
	struct error ignored;

	if (view_iterations_read(&watched->loop, &iterations, &ignored) < 0)
		return;
	view_iterations_release(&watched->iterations);
	watched->iterations = iterations;
	watched->seq = watched->loop.state.last_seq;
}

int watched_open(struct watched *watched, const char *state, const char *id, struct error *err)
{
	struct client_loop loop;

	if (client_find(state, id, NULL, &loop, err) < 0)
		return -1;
	watched_close(watched);
	watched->state = state;
	watched->loop = loop;
	watched->open = true;
	watched->log.follow = true;
	watched->stale = true;
	return 0;
}

void watched_close(struct watched *watched)
{
	if (watched->open) {
		panel_log_close(watched);
		panel_changes_close(watched);
		view_now_release(&watched->now);
		view_iterations_release(&watched->iterations);
		client_loop_release(&watched->loop);
	}
	sheet_release(&watched->sheet);
	free(watched->sought);
	free(watched->needs);
	free(watched->doing);
	*watched = (struct watched){ .seq = -1,
				     .changes.job = VIEW_CHANGES_JOB_INIT,
				     .log.follow = true };
}

/* The tabs that show what changes with every event, or with the time. */
static bool is_live(enum watched_tab tab)
{
	return tab == WATCHED_ITERATIONS || tab == WATCHED_CHECKS || tab == WATCHED_COST;
}

void watched_refresh(struct watched *watched, const struct view_row *row, int64_t now_ms)
{
	bool news;

	watched->now_ms = now_ms;
	watched->gone = !row && access(watched->loop.folder, F_OK) < 0;
	if (watched->gone)
		return;
	if (row) {
		mem_replace(&watched->needs, row->needs);
		mem_replace(&watched->doing, row->now);
	}
	client_refresh(&watched->loop);
	if (watched->loop.damaged)
		return;
	read_now(watched);
	news = watched->seq != watched->loop.state.last_seq;
	if (news || (watched->loop.alive && is_live(watched->tab)))
		read_iterations(watched);
	if (news) {
		json_decref(watched->denials);
		watched->denials = NULL;
	}
	if ((news && watched->tab != WATCHED_CHANGES && watched->tab != WATCHED_FINDINGS) ||
	    (watched->loop.alive && is_live(watched->tab)))
		watched->stale = true;
	panel_log_open(watched);
}

bool watched_poll(struct watched *watched)
{
	if (!watched->open || watched->tab != WATCHED_LOG || !watched->log.open)
		return false;
	if (!view_transcript_poll(&watched->log.transcript))
		return false;
	watched->stale = true;
	return true;
}

int watched_fd(const struct watched *watched)
{
	return watched->open && watched->changes.job.work.pid > 0 ? watched->changes.job.work.answer
								  : -1;
}

void watched_read(struct watched *watched)
{
	panel_changes_end(watched);
}
