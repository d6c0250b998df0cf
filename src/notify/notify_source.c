/* Reading a journal for news: see notify_source.h. */
#include "notify/notify_source.h"

#include "batch/batch_fold.h"
#include "batch/batch_folder.h"
#include "loop/state/loop_taint.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

static int take(void *context, const struct journal_event *event, struct error *err)
{
	struct notify_source *source = context;

	return source->batch ? notify_source_fold_batch(source, event, err)
			     : notify_source_fold_loop(source, event, err);
}

int notify_source_open(const char *folder, struct notify_source *ret_source, struct error *err)
{
	AUTO_FREE char *journal = path_join(folder, "journal.db");
	struct notify_source source = { .folder = folder, .batch = batch_folder_is(folder) };

	if (journal_open(journal, JOURNAL_READ, &source.store, err) < 0)
		return -1;
	loop_state_init(&source.loop);
	batch_state_init(&source.batch_sums);
	*ret_source = source;
	return 0;
}

void notify_source_close(struct notify_source *source)
{
	journal_close(source->store);
	loop_state_release(&source->loop);
	batch_state_release(&source->batch_sums);
	notify_list_release(&source->news);
}

int notify_source_read(struct notify_source *source, struct error *err)
{
	return journal_follow(source->store, &source->mark, take, source, err);
}

bool notify_source_rests(const struct notify_source *source)
{
	if (source->batch)
		return source->batch_sums.paused || source->batch_sums.finished;
	return source->loop.step == LOOP_STEP_paused || source->loop.step == LOOP_STEP_finished;
}

const json_t *notify_source_config(const struct notify_source *source, const char *key)
{
	return json_object_get(source->batch ? source->batch_sums.config : source->loop.config,
			       key);
}

const char *notify_source_project(const struct notify_source *source)
{
	const struct loop_options *options = &source->loop.options;

	if (source->batch)
		return source->batch_sums.project ? source->batch_sums.project : "";
	return options->origin ? options->origin : options->project ? options->project : "";
}

void notify_source_taint(const struct notify_source *source, struct taint *taint)
{
	const json_t *templates = notify_source_config(source, "templates"); /* of a batch */
	size_t index;
	const json_t *config;

	taint_add(taint, notify_source_project(source));
	loop_taint_add(&source->loop, taint);
	json_array_foreach(templates, index, config) loop_taint_add_config(config, taint);
}

int64_t notify_source_heartbeat_ms(const struct notify_source *source)
{
	const struct alert_setting *setting = &source->loop.options.alerts.rules[ALERT_heartbeat];

	return source->batch || setting->action == ALERT_OFF ? 0 : setting->level;
}
