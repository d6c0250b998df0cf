/* Folders with a supervisor: see supervised.h. */
#include "loop/supervised.h"

#include "loop/supervise/keeper.h"
#include "util/clock.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <time.h>

enum { START_MS = 15000, STEP_MS = 10 };

void supervised_pause(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = STEP_MS * 1000000L }, NULL);
}

int supervised_follow(const char *folder, struct journal_mark *mark, journal_fn *take,
		      void *context, struct error *err)
{
	AUTO_FREE char *path = path_join(folder, "journal.db");
	struct journal *store = NULL;
	int result;

	if (journal_open(path, JOURNAL_READ, &store, err) < 0)
		return -1;
	result = journal_follow(store, mark, take, context, err);
	journal_close(store);
	return result;
}

int supervised_append(const char *folder, enum journal_mode mode, const char *kind, json_t *data,
		      struct error *err)
{
	AUTO_FREE char *path = path_join(folder, "journal.db");
	AUTO_FREE char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
	struct journal *store = NULL;
	int result;

	json_decref(data);
	if (!text)
		return error_with(err, ERROR_INVALID, SUPERVISED_NOT_UTF8);
	if (journal_open(path, mode, &store, err) < 0)
		return -1;
	result = journal_append(store, JOURNAL_NOW, clock_wall_ms(), kind, text, err);
	journal_close(store);
	return result;
}

int supervised_start(const char *folder, int64_t seq, supervised_look_fn *look, void *context,
		     struct error *err)
{
	int64_t until_ms = (int64_t)clock_steady_ms() + START_MS;
	struct supervised_view view;

	if (keeper_start(folder, 0, NULL, err) < 0)
		return -1;
	do {
		supervised_pause();
		view = look(context);
	} while (view.seq == seq && !view.trouble && (int64_t)clock_steady_ms() < until_ms);
	if (view.trouble && !view.alive)
		return error_set(err, "%s", view.trouble);
	return view.seq == seq
		       ? error_set(err, "the supervisor did not start (see %s/supervisor.log)",
				   folder)
		       : 0;
}
