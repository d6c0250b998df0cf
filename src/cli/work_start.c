/* Starting the tasks of a list as a batch: see work_start.h. */
#include "cli/work_start.h"

#include "batch/batch_client.h"
#include "batch/batch_report.h"
#include "cli/batches.h"
#include "cli/loops.h"
#include "cli/view/announce.h"
#include "cli/view/batch_follow.h"
#include "cli/view/notice.h"
#include "cli/view/preflight_text.h"
#include "preflight/preflight_loop.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char **work_start_copy(char *const *argv)
{
	size_t count = 0;
	char **copy;

	while (argv[count])
		count++;
	copy = mem_zero((count + 1) * sizeof *copy);
	memcpy(copy, argv, count * sizeof *copy);
	return copy;
}

/* ---- the configuration ---- */

/* Makes tasks, and the templates that they need. */
struct maker {
	const struct work_start *work;
	json_t *config;
	struct list keys;   /* agent and model of each template after the first */
	struct list racers; /* the agent of each candidate of a task; empty: that of the task */
};

/* Adds a template. The batch notifies, not its loops: there may be many. */
static void add_config(json_t *batch, json_t *config)
{
	static const char *const keys[] = { "notify", "notify_on" };

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		json_object_set(batch, keys[i], json_object_get(config, keys[i]));
		json_object_del(config, keys[i]);
	}
	json_array_append(json_object_get(batch, "templates"), config);
}

/* Makes the template for an agent other than that of the settings. */
static int add_template(const struct maker *maker, const char *agent, const char *model,
			struct error *err)
{
	AUTO_FREE char **argv = work_start_copy(maker->work->argv);
	struct work_template template;
	struct work_options *opts = &template.opts;
	int code = 0;
	int result = -1;

	work_template_init(&template);
	opts->agent = agent;
	opts->model = model;
	if (cli_parse(maker->work->command, argv, opts, &code) &&
	    (!agent || effective_set(opts, setting_at(SETTING_AGENT), agent, err) == 0) &&
	    (!model || effective_set(opts, setting_at(SETTING_MODEL), model, err) == 0))
		result = work_template_plan(&template, maker->work->paths, err);
	if (result == 0)
		add_config(maker->config, template.start.config);
	work_template_release(&template);
	return result;
}

/* Returns the number of the template for an agent and a model, which may be NULL, or -1 with err
 * set. */
static int template_for(struct maker *maker, const char *agent, const char *model,
			struct error *err)
{
	AUTO_FREE char *key = mem_format("%s %s", agent ? agent : "", model ? model : "");

	if (!agent && !model)
		return 0;
	for (size_t i = 0; i < maker->keys.count; i++)
		if (strcmp(maker->keys.items[i], key) == 0)
			return (int)i + 1;
	if (add_template(maker, agent, model, err) < 0)
		return -1;
	list_add(&maker->keys, key);
	return (int)maker->keys.count;
}

/* Adds a task, or one of its candidates. */
static int add_task(struct maker *maker, const struct worklist_item *item, size_t candidate,
		    struct error *err)
{
	bool races = maker->racers.count && !item->done;
	const char *racer = races ? maker->racers.items[candidate] : "";
	int number = template_for(maker, *racer ? racer : item->agent, *racer ? NULL : item->model,
				  err);
	json_t *json = number < 0 ? NULL : worklist_item_json(maker->work->list, item);

	if (number < 0)
		return -1;
	if (races && maker->racers.count > 1) {
		AUTO_FREE char *id = mem_format("%s#%zu", item->id, candidate + 1);

		json_object_set_new(json, "race", json_string(item->id));
		json_object_set_new(json, "id", json_string(id));
	}
	json_object_set_new(json, "template", json_integer(number));
	json_array_append_new(json_object_get(maker->config, "tasks"), json);
	return 0;
}

/* Refuses an id such as T1#2 that a candidate of another task has. */
static int check_id(const struct maker *maker, const struct worklist_item *item, struct error *err)
{
	const char *end = maker->racers.count > 1 ? strrchr(item->id, '#') : NULL;
	AUTO_FREE char *task = end ? strndup(item->id, (size_t)(end - item->id)) : NULL;

	return task && worklist_model_find(maker->work->list, task)
		       ? error_with(err, ERROR_INVALID,
				    "'%.200s' would also be the id of a candidate of '%.200s': "
				    "change it in the list",
				    item->id, task)
		       : 0;
}

static int add_tasks(struct maker *maker, struct error *err)
{
	const struct worklist *list = maker->work->list;

	for (size_t i = 0; i < list->count; i++) {
		const struct worklist_item *item = &list->items[i];
		size_t candidates = item->done || !maker->racers.count ? 1 : maker->racers.count;

		if (check_id(maker, item, err) < 0)
			return -1;
		for (size_t k = 0; k < candidates; k++)
			if (add_task(maker, item, k, err) < 0)
				return -1;
	}
	return 0;
}

/* Makes the configuration of the batch (batch/batch_client.h). */
static int make_config(struct maker *maker, const struct work_template *template, struct error *err)
{
	static const struct work_options defaults = { .jobs = WORK_OPTIONS_JOBS,
						      .rounds = WORK_OPTIONS_ROUNDS,
						      .task_cost = WORK_OPTIONS_TASK_COST };
	const struct work_options *opts = &template->opts;
	const struct draft_request *draft = &template->request.start.draft;

	maker->config = json_pack("{s:s, s:O, s:[], s:[], s:b, s:b, s:{s:s, s:I}, s:I}", "project",
				  opts->effective.place.project, "lists", maker->work->paths,
				  "templates", "tasks", "compare", opts->compare, "keep_drafts",
				  opts->keep_drafts, "draft", "kind", draft->kind, "most_bytes",
				  (json_int_t)draft->most_bytes, "max_cost_nusd",
				  (json_int_t)effective_loop_number(&opts->effective.config,
								    SETTING_MAX_COST));
	if (!maker->config)
		return error_with(err, ERROR_INVALID, "a text or a path is not valid UTF-8");
	add_config(maker->config, template->start.config);
	if (work_options_add_limits(&defaults, maker->config, err) < 0 ||
	    work_options_add_limits(opts, maker->config, err) < 0)
		return -1;
	return add_tasks(maker, err);
}

/* ---- the start ---- */

static void announce(const struct work_template *template, const struct worklist *list,
		     const char *id)
{
	const struct work_options *opts = &template->opts;
	const char *jobs = opts->jobs ? opts->jobs : WORK_OPTIONS_JOBS;
	size_t open = 0;

	for (size_t i = 0; i < list->count; i++)
		open += !list->items[i].done;
	printf("batch %s: %zu task%s\n", id, open, open == 1 ? "" : "s");
	announce_loop(&template->request, &template->start.plan);
	if (model_access_is_free(&opts->effective.spec.models))
		printf("  tasks     %s at once (--jobs)\n", jobs);
	else
		printf("  tasks     %s at once; US$ %s each, and all together US$ %g (--jobs, "
		       "--task-cost, --max-cost)\n",
		       jobs, opts->task_cost ? opts->task_cost : WORK_OPTIONS_TASK_COST,
		       (double)effective_loop_number(&opts->effective.config, SETTING_MAX_COST) /
			       1e9);
}

static void examine(const struct work_template *template)
{
	const struct preflight_loop loop = { .effective = &template->opts.effective,
					     .request = &template->request,
					     .plan = &template->start.plan };
	struct preflight_items items = { 0 };

	preflight_loop_examine(&loop, &preflight_loop_quick, &items);
	preflight_text_notice(&items);
	preflight_items_release(&items);
}

/* Prints that the batch goes on in the background. */
static int detach(const struct work_options *opts, const struct batch_client *batch)
{
	if (opts->json)
		loops_print_line(
			batch_report_json(batch->id, batch_client_status(batch), &batch->state));
	else
		printf("%s\n", batch->id);
	return cli_flush();
}

static int begin(const struct maker *maker, const struct work_template *template, struct error *err)
{
	const struct work_options *opts = &template->opts;
	struct batch_client batch;
	int code;

	examine(template);
	if (batch_client_create(opts->effective.place.state, maker->config, &batch, err) < 0)
		return cli_fail(err);
	if (!opts->json && (!opts->detach || isatty(1)))
		announce(template, maker->work->list, batch.id);
	code = opts->detach ? detach(opts, &batch) : batch_follow(&batch, 0, opts->json);
	batch_client_release(&batch);
	return code;
}

/* ---- refusals ---- */

static bool is_finished(const struct worklist *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->items[i].done)
			return false;
	return list->count;
}

/* Counts the open tasks that a batch has done. */
static size_t count_done(const struct worklist *list, const struct batch_state *state)
{
	size_t count = 0;

	for (size_t i = 0; i < state->count; i++) {
		const struct batch_task *task = &state->tasks[i];
		const char *race = json_string_value(json_object_get(task->item, "race"));
		const struct worklist_item *item = worklist_model_find(list,
								       race ? race : task->id);

		count += task->step == BATCH_STEP_landed && item && !item->done;
	}
	return count;
}

/* Tasks that are done, and whose result waits to be applied, would be done and paid for twice. */
static int refuse_done(const struct maker *maker, const struct work_options *opts,
		       struct error *err)
{
	const struct fence_place *place = &opts->effective.place;
	struct batch_client batch;
	struct error none;
	size_t count;

	if (opts->again || batch_client_find(place->state, NULL, place->project, &batch, &none) < 0)
		return 0;
	count = batch.damaged || !batch.state.finished
			? 0
			: count_done(maker->work->list, &batch.state);
	if (count && batches_is_applied(place->state, &batch))
		count = 0;
	if (count)
		error_with(err, ERROR_REFUSED,
			   "%zu task%s of the list %s done in batch %s, which is not applied (to "
			   "take that over: ringfence work --apply; to run %s once more: --again)",
			   count, count == 1 ? "" : "s", count == 1 ? "is" : "are", batch.id,
			   count == 1 ? "it" : "them");
	batch_client_release(&batch);
	return count ? -1 : 0;
}

static void notice_plan(const struct work_template *template)
{
	const struct fence_plan *made = &template->start.plan;

	notice_config(&template->opts.effective.config, NULL);
	notice_part(&template->opts.effective);
	notice_all(&template->request.notices);
	notice_all(&made->notices);
	notice_found(&made->recovered, made->project);
}

static int plan_and_begin(struct maker *maker, struct work_template *template)
{
	const struct work_options *opts = &template->opts;
	struct error err;

	notice_all(&maker->work->list->notes);
	if (is_finished(maker->work->list)) {
		puts("every task of the list is done");
		return cli_flush();
	}
	if (!maker->work->list->count)
		return cli_fail(&(struct error){
			.text = "the list has no tasks (see: ringfence work --list FILE)" });
	if (work_options_racers(opts, &maker->racers, &err) < 0)
		return cli_fail(&err);
	if (work_template_plan(template, maker->work->paths, &err) < 0)
		return cli_fail_config(&opts->effective.config, &err);
	notice_plan(template);
	if (refuse_done(maker, opts, &err) < 0 || make_config(maker, template, &err) < 0)
		return cli_fail(&err);
	return begin(maker, template, &err);
}

int work_start(const struct work_start *work, struct work_template *template)
{
	struct maker maker = { .work = work };
	int code = plan_and_begin(&maker, template);

	list_release(&maker.keys);
	list_release(&maker.racers);
	json_decref(maker.config);
	return code;
}
