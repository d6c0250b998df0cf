/* ringfence work: run the tasks of a list, each in a loop of its own. */
#include "batch/batch_client.h"
#include "batch/batch_report.h"
#include "batch/batch_tick.h"
#include "cli/cli.h"
#include "cli/drafts.h"
#include "cli/intended.h"
#include "cli/lists.h"
#include "cli/loops.h"
#include "cli/view/announce.h"
#include "cli/view/batch_follow.h"
#include "cli/view/batch_text.h"
#include "cli/view/notice.h"
#include "cli/view/preflight_text.h"
#include "fence/fence.h"
#include "settings/effective.h"
#include "settings/loop_request.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOBS   "2"
#define ROUNDS "5"

#define TASK_COST "5"

enum { NUSD_PER_THOUSANDTH = 1000000, RACERS_MAX = 16 };

struct work_options {
	struct effective effective;
	const char *jobs, *rounds, *task_cost, *retry, *pick, *candidates, *agents;
	bool list, compare, show, pause, resume, abort, apply, yes, dry, detach, json;
	/* The agent of some tasks, in place of that of the settings; or NULL. */
	const char *agent, *model;
};

_Static_assert(offsetof(struct work_options, effective) == 0,
	       "effective_set() needs it to be the first member");

static const struct cli_option options[] = {
	OPTION_FLAG("list", "show the list as it is read; start nothing", struct work_options,
		    list),
	OPTION_TEXT("jobs", "N", "run this many loops at once (default: " JOBS ")",
		    struct work_options, jobs),
	OPTION_TEXT(
		"task-cost", "USD",
		"what each task may cost, with all its loops; none: no limit (default: " TASK_COST
		"; "
		"--max-cost limits all tasks together)",
		struct work_options, task_cost),
	OPTION_TEXT("rounds", "N",
		    "loops of a task at most, if others land first and it has to be merged "
		    "(default: " ROUNDS ")",
		    struct work_options, rounds),
	OPTION_TEXT("candidates", "N",
		    "have each task solved N times at once: the first result that is verified wins",
		    struct work_options, candidates),
	OPTION_TEXT("agents", "AGENT,...",
		    "the same, once by each of these agents: claude,codex:gpt-5.4",
		    struct work_options, agents),
	OPTION_FLAG("compare", "with these: let all end, and pick one yourself (--pick)",
		    struct work_options, compare),
	OPTION_FLAG("detach", "continue in the background; the last line printed is the id",
		    struct work_options, detach),
	OPTION_FLAG("show", "show a batch: its tasks, and what to do next", struct work_options,
		    show),
	OPTION_FLAG("pause", "pause a batch when the iterations under way end", struct work_options,
		    pause),
	OPTION_FLAG("resume",
		    "continue a batch, and the tasks that need you; with --max-cost, --jobs or "
		    "--rounds: with new limits",
		    struct work_options, resume),
	OPTION_FLAG("abort", "end a batch and all its loops", struct work_options, abort),
	OPTION_TEXT("retry", "TASK", "try a failed task of a batch again", struct work_options,
		    retry),
	OPTION_TEXT("pick", "CANDIDATE", "pick a candidate of a task, such as T1#2",
		    struct work_options, pick),
	OPTION_FLAG("apply", "take over what is done, and tick the list", struct work_options,
		    apply),
	OPTION_FLAG("yes", "with --apply: also files that run or are obeyed unasked",
		    struct work_options, yes),
	OPTION_FLAG("dry-run", "with --apply: show what would change", struct work_options, dry),
	OPTION_PROJECT(struct work_options, effective.spec.project),
	OPTION_JSON(struct work_options, json),
	{ 0 },
};

static const struct cli_section sections[] = {
	{ "EXIT STATUS", "  0    every task is done\n"
			 "  1    at least one task failed\n"
			 "  3    paused: a task needs you, or a limit is reached\n"
			 "  4    aborted by you\n"
			 "  5    interrupted, or continuing in the background\n"
			 "  125  refused; the reason is printed\n" },
	{ "EXAMPLES", "  ringfence work --list TASKS.md\n"
		      "  ringfence work TASKS.md --check \"npm test\" --agent claude --jobs 3\n"
		      "  ringfence work --apply\n" },
	{ 0 },
};

static int set(void *opts, const struct setting *setting, const char *value, struct error *err)
{
	const struct work_options *work = opts;

	/* A task's own agent replaces these. */
	if ((work->agent || work->model) && setting->id == SETTING_MODEL)
		return 0;
	if (work->agent && (setting->id == SETTING_AGENT || setting->id == SETTING_AGENT_COMMAND ||
			    setting->id == SETTING_ESCALATE))
		return 0;
	return effective_set(opts, setting, value, err);
}

/* ---- templates ---- */

/* The configuration of loops with the same agent. */
struct template
{
	struct work_options opts;
	struct loop_request request;
	struct op_start_result start;
	bool begun;
};

static void notice_all(const struct list *notices)
{
	for (size_t i = 0; i < notices->count; i++)
		notice(notices->items[i]);
}

/* The agent's own copy of the list is read-only: it is ticked outside, when the result is verified.
 */
static void protect_lists(struct effective *effective, const json_t *paths)
{
	size_t index;
	const json_t *list;

	json_array_foreach(paths, index, list)
	{
		const char *path = json_string_value(json_object_get(list, "path"));

		if (path_within(path, effective->place.project))
			fence_paths_add(&effective->spec.read, path, "the work list");
	}
}

static int check_settings(const struct loop_request *request, struct error *err)
{
	const struct config *config = &request->effective->config;

	if (request->start.workspace != OP_START_DRAFT)
		return error_set(err, "work needs drafts, from which results land: use it without "
				      "--workspace, or with --workspace draft");
	if (config_text(config, SETTING_TASKS))
		return error_set(err, "work has a list of its own: leave out --tasks");
	return 0;
}

/* Decides everything about these loops, but for what each task says. */
static int plan(struct template *template, const json_t *paths, struct error *err)
{
	struct effective *effective = &template->opts.effective;
	struct loop_request *request = &template->request;

	if (effective_loop(effective, err) < 0)
		return -1;
	protect_lists(effective, paths);
	loop_request_begin(request, effective);
	template->begun = true;
	if (check_settings(request, err) < 0)
		return -1;
	if (loop_request_choose(request, "", err) < 0 || loop_request_find_models(request, err) < 0)
		return -1;
	loop_request_want_promise(request);
	if (op_failed(op_start_plan(&request->start, &template->start, err)))
		return -1;
	return loop_request_check(request, &template->start.plan, err);
}

static void template_release(struct template *template)
{
	if (template->begun) {
		op_start_release(&template->request.start, &template->start);
		loop_request_release(&template->request);
	}
	effective_release(&template->opts.effective);
}

/* ---- the batch ---- */

static int number_of(const char *name, const char *text, uint64_t most, uint64_t *ret_number,
		     struct error *err)
{
	if (text_count(text, ret_number) < 0 || *ret_number < 1 || *ret_number > most)
		return error_with(err, ERROR_INVALID,
				  "--%s must be a number from 1 to %llu, not '%.100s'", name,
				  (unsigned long long)most, text);
	return 0;
}

/* Adds the limits that the options name. Returns 0, or -1 with err set. */
static int add_limits(const struct work_options *opts, json_t *config, struct error *err)
{
	uint64_t number;

	if (opts->jobs && number_of("jobs", opts->jobs, BATCH_JOBS_MAX, &number, err) < 0)
		return -1;
	if (opts->jobs)
		json_object_set_new(config, "jobs", json_integer((json_int_t)number));
	if (opts->rounds && number_of("rounds", opts->rounds, BATCH_ROUNDS_MAX, &number, err) < 0)
		return -1;
	if (opts->rounds)
		json_object_set_new(config, "rounds", json_integer((json_int_t)number));
	return 0;
}

static int read_task_cost(const struct work_options *opts, int64_t *ret_nusd, struct error *err)
{
	const char *text = opts->task_cost ? opts->task_cost : TASK_COST;
	uint64_t thousandths = 0;

	if (strcmp(text, "none") != 0 && text_thousandths(text, &thousandths) < 0)
		return error_with(
			err, ERROR_INVALID,
			"--task-cost must be an amount in US$, such as 2.50, or none, not "
			"'%.100s'",
			text);
	*ret_nusd = (int64_t)thousandths * NUSD_PER_THOUSANDTH;
	return 0;
}

/* Makes tasks, and the templates that they need. */
struct maker {
	const struct cli_command *command;
	char *const *argv;
	json_t *config;
	struct list keys;   /* agent and model of each template after the first */
	struct list racers; /* the agent of each candidate of a task; empty: that of the task */
	int64_t most_nusd;  /* what a task may cost that does not say it */
};

/* Makes the template for an agent other than that of the settings. */
static int add_template(const struct maker *maker, const char *agent, const char *model,
			struct error *err)
{
	struct template template = { .start = OP_START_INIT,
				     .opts = { .agent = agent, .model = model } };
	struct work_options *opts = &template.opts;
	size_t count = 0;
	int code = 0;
	int result = -1;

	while (maker->argv[count])
		count++;

	AUTO_FREE char **copy = mem_zero((count + 1) * sizeof *copy);

	memcpy(copy, maker->argv, count * sizeof *copy);
	effective_init(&opts->effective);
	if (cli_parse(maker->command, copy, opts, &code) &&
	    (!agent || effective_set(opts, setting_at(SETTING_AGENT), agent, err) == 0) &&
	    (!model || effective_set(opts, setting_at(SETTING_MODEL), model, err) == 0))
		result = plan(&template, json_object_get(maker->config, "lists"), err);
	if (result == 0)
		json_array_append(json_object_get(maker->config, "templates"),
				  template.start.config);
	template_release(&template);
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
static int add_task(struct maker *maker, const struct worklist *list,
		    const struct worklist_item *item, size_t candidate, struct error *err)
{
	const char *racer = maker->racers.count && !item->done ? maker->racers.items[candidate]
							       : "";
	int number = template_for(maker, *racer ? racer : item->agent, *racer ? NULL : item->model,
				  err);
	json_t *json = worklist_item_json(list, item);

	if (maker->racers.count > 1 && !item->done) {
		AUTO_FREE char *id = mem_format("%s#%zu", item->id, candidate + 1);

		json_object_set_new(json, "race", json_string(item->id));
		json_object_set_new(json, "id", json_string(id));
	}
	json_object_set_new(json, "template", json_integer(number));
	if (!json_object_get(json, "limit_nusd"))
		json_object_set_new(json, "limit_nusd", json_integer(maker->most_nusd));
	json_array_append_new(json_object_get(maker->config, "tasks"), json);
	return number < 0 ? -1 : 0;
}

/* Refuses an id such as T1#2 that a candidate of another task has. */
static int check_id(const struct maker *maker, const struct worklist *list,
		    const struct worklist_item *item, struct error *err)
{
	const char *end = maker->racers.count > 1 ? strrchr(item->id, '#') : NULL;
	AUTO_FREE char *task = end ? strndup(item->id, (size_t)(end - item->id)) : NULL;

	return task && worklist_model_find(list, task)
		       ? error_with(err, ERROR_INVALID,
				    "'%.200s' would also be the id of a candidate of '%.200s': "
				    "change it in the list",
				    item->id, task)
		       : 0;
}

static int add_tasks(struct maker *maker, const struct worklist *list, struct error *err)
{
	json_object_set_new(maker->config, "tasks", json_array());
	for (size_t i = 0; i < list->count; i++) {
		const struct worklist_item *item = &list->items[i];
		size_t candidates = item->done || !maker->racers.count ? 1 : maker->racers.count;

		if (check_id(maker, list, item, err) < 0)
			return -1;
		for (size_t k = 0; k < candidates; k++)
			if (add_task(maker, list, item, k, err) < 0)
				return -1;
	}
	return 0;
}

/* Reads who races for each task. */
static int read_racers(const struct work_options *opts, struct list *ret_racers, struct error *err)
{
	uint64_t count = 0;

	if (opts->candidates && opts->agents)
		return error_set(err, "use --candidates or --agents, not both");
	if (opts->candidates &&
	    number_of("candidates", opts->candidates, RACERS_MAX, &count, err) < 0)
		return -1;
	for (uint64_t i = 0; i < count; i++)
		list_add(ret_racers, "");
	for (const char *at = opts->agents; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		list_printf(ret_racers, "%.*s", (int)strcspn(at, ","), at);
	if (ret_racers->count > RACERS_MAX || list_has(ret_racers, "") != (count > 0))
		return error_set(err,
				 "--agents must be a list of at most %d agents, such as "
				 "claude,codex",
				 RACERS_MAX);
	return 0;
}

static json_t *make_config(const struct template *template, json_t *paths)
{
	const struct config *config = &template->opts.effective.config;
	const struct draft_request *draft = &template->request.start.draft;

	return json_pack("{s:s, s:O, s:[O], s:{s:s, s:I}, s:i, s:i, s:I}", "project",
			 template->opts.effective.place.project, "lists", paths, "templates",
			 template->start.config, "draft", "kind", draft->kind, "most_bytes",
			 (json_int_t)draft->most_bytes, "jobs", atoi(JOBS), "rounds", atoi(ROUNDS),
			 "max_cost_nusd",
			 (json_int_t)effective_loop_number(config, SETTING_MAX_COST));
}

static void announce(const struct template *template, const struct worklist *list, const char *id)
{
	size_t open = 0;

	for (size_t i = 0; i < list->count; i++)
		open += !list->items[i].done;
	printf("batch %s: %zu task%s\n", id, open, open == 1 ? "" : "s");
	announce_loop(&template->request, &template->start.plan);
}

static void examine(const struct template *template)
{
	const struct preflight_loop loop = { .effective = &template->opts.effective,
					     .request = &template->request,
					     .plan = &template->start.plan };
	struct preflight_items items = { 0 };

	preflight_loop_examine(&loop, &preflight_loop_quick, &items);
	preflight_text_notice(&items);
	preflight_items_release(&items);
}

static int begin(const struct template *template, const struct worklist *list, json_t *config,
		 struct error *err)
{
	const struct work_options *opts = &template->opts;
	struct batch_client batch;
	int code;

	examine(template);
	if (batch_client_create(opts->effective.place.state, config, &batch, err) < 0)
		return cli_fail(err);
	if (!opts->json && (!opts->detach || isatty(1)))
		announce(template, list, batch.id);
	if (!opts->detach) {
		code = batch_follow(&batch, 0, opts->json);
	} else {
		if (opts->json)
			loops_print_line(batch_report_json(batch.id, batch_client_status(&batch),
							   &batch.state));
		else
			printf("%s\n", batch.id);
		code = cli_flush();
	}
	batch_client_release(&batch);
	return code;
}

static int count_open(const struct worklist *list, struct error *err)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->items[i].done)
			return 0;
	return error_with(err, ERROR_INVALID,
			  list->count ? "every task of the list is done" : "the list has no tasks");
}

/* Adds limits and tasks, and starts the batch. */
static int complete_and_begin(const struct template *template, struct maker *maker,
			      const struct worklist *list, struct error *err)
{
	const struct work_options *opts = &template->opts;

	if (opts->compare)
		json_object_set_new(maker->config, "compare", json_true());
	return add_limits(opts, maker->config, err) < 0 || add_tasks(maker, list, err) < 0
		       ? cli_fail(err)
		       : begin(template, list, maker->config, err);
}

static int start(const struct cli_command *command, char *const *argv, struct template *template,
		 const struct worklist *list, json_t *paths)
{
	struct effective *effective = &template->opts.effective;
	struct maker maker = { .command = command, .argv = argv };
	struct error err;
	int code;

	for (size_t i = 0; i < list->notes.count; i++)
		notice(list->notes.items[i]);
	if (count_open(list, &err) < 0 ||
	    read_task_cost(&template->opts, &maker.most_nusd, &err) < 0 ||
	    read_racers(&template->opts, &maker.racers, &err) < 0) {
		list_release(&maker.racers);
		return cli_fail(&err);
	}
	if (plan(template, paths, &err) < 0) {
		list_release(&maker.racers);
		return cli_fail_config(&effective->config, &err);
	}
	notice_config(&effective->config, NULL);
	notice_part(effective);
	notice_all(&template->request.notices);
	notice_all(&template->start.plan.notices);
	maker.config = make_config(template, paths);
	code = maker.config ? complete_and_begin(template, &maker, list, &err)
			    : cli_fail(&(struct error){ .text = "a text or a path is not valid "
								"UTF-8" });
	list_release(&maker.keys);
	list_release(&maker.racers);
	json_decref(maker.config);
	return code;
}

static int read_and_start(const struct cli_command *command, char *const *argv,
			  struct template *template, char **files)
{
	struct worklist list;
	json_t *paths;
	struct error err;
	int code;

	if (!*files) {
		error_set(&err, "work needs a list: ringfence work TASKS.md --check \"make test\" "
				"(see: ringfence work --help)");
		return cli_fail(&err);
	}
	if (lists_read(files, &list, &paths, &err) < 0)
		return cli_fail(&err);
	if (template->opts.list) {
		if (template->opts.json) {
			json_t *tasks = json_array();
			json_t *notes = json_array();

			for (size_t i = 0; i < list.count; i++)
				json_array_append_new(tasks,
						      worklist_item_json(&list, &list.items[i]));
			for (size_t i = 0; i < list.notes.count; i++)
				json_array_append_new(notes, client_text(list.notes.items[i]));
			loops_print(json_pack("{s:o, s:o}", "tasks", tasks, "notes", notes));
		} else {
			batch_text_print_list(&list);
		}
		code = cli_flush();
	} else {
		code = start(command, argv, template, &list, paths);
	}
	worklist_model_release(&list);
	json_decref(paths);
	return code;
}

/* ---- an existing batch ---- */

static int show(const struct work_options *opts, struct batch_client *batch)
{
	batch_client_refresh(batch);
	if (opts->json)
		loops_print(
			batch_report_json(batch->id, batch_client_status(batch), &batch->state));
	else
		batch_text_print(batch);
	return cli_flush();
}

static int tick(const struct batch_client *batch)
{
	struct batch_tick_result result;
	bool whole;

	batch_tick(&batch->state, &result);
	notice_all(&result.notices);
	if (result.ticked)
		notice_format("ticked %zu task%s of the list", result.ticked,
			      result.ticked == 1 ? "" : "s");
	whole = !result.notices.count;
	batch_tick_release(&result);
	return whole ? 0 : LOOPS_FAILED;
}

/* Takes the tip over, which has everything that landed. The ticks follow: a list never says that
 * something is done which is not there. */
static int apply(const struct work_options *opts, const struct batch_client *batch,
		 struct error *err)
{
	char *rest[] = { batch->state.tip, NULL };
	struct loops_options draft = { .place = opts->effective.place,
				       .rest = rest,
				       .yes = opts->yes,
				       .dry = opts->dry,
				       .json = opts->json };
	int code;

	if (!batch->state.tip) {
		error_with(err, ERROR_REFUSED, "batch %s has nothing to apply: no task is done",
			   batch->id);
		return cli_fail(err);
	}
	code = drafts_apply(&draft, err);
	return code || opts->dry ? code : tick(batch);
}

static int resume(const struct work_options *opts, struct batch_client *batch, struct error *err)
{
	const struct config_value *cost = config_get(&opts->effective.config, SETTING_MAX_COST);
	int64_t seen = batch->state.last_seq;
	json_t *changes = json_object();
	int result = add_limits(opts, changes, err);

	if (cost->layer == CONFIG_FLAG)
		json_object_set_new(changes, "max_cost_nusd",
				    json_integer((json_int_t)cost->number));
	if (result == 0)
		result = batch_client_resume(batch, changes, err);
	json_decref(changes);
	if (result < 0)
		return cli_fail(err);
	if (!opts->detach)
		return batch_follow(batch, seen, opts->json);
	return show(opts, batch);
}

static int ask(const struct work_options *opts, struct batch_client *batch, const char *wish,
	       struct error *err)
{
	if (batch_client_ask(batch, wish, opts->retry ? opts->retry : opts->pick, err) < 0)
		return cli_fail(err);
	if (strcmp(wish, "abort") == 0)
		return batch_follow(batch, batch->state.last_seq, opts->json) == LOOPS_ABORTED
			       ? 0
			       : LOOPS_REFUSED;
	return show(opts, batch);
}

static int act(const struct work_options *opts, struct batch_client *batch, struct error *err)
{
	if (batch->damaged && !opts->show) {
		error_set(err, "batch %s cannot be read: %s", batch->id, batch->trouble);
		return cli_fail(err);
	}
	if (opts->show)
		return show(opts, batch);
	if (opts->apply)
		return apply(opts, batch, err);
	if (opts->resume)
		return resume(opts, batch, err);
	return ask(opts, batch,
		   opts->retry   ? "retry"
		   : opts->pick  ? "pick"
		   : opts->pause ? "pause"
				 : "abort",
		   err);
}

static int find_and_act(struct work_options *opts, char **rest)
{
	struct effective *effective = &opts->effective;
	struct batch_client batch;
	struct error err;
	int code;

	if (effective_loop(effective, &err) < 0)
		return cli_fail_config(&effective->config, &err);
	if (rest[0] && rest[1]) {
		error_set(&err, "unexpected argument '%s': name only one batch", rest[1]);
		return cli_fail(&err);
	}
	if (batch_client_find(effective->place.state, rest[0], effective->place.project, &batch,
			      &err) < 0)
		return cli_fail(&err);
	code = act(opts, &batch, &err);
	batch_client_release(&batch);
	return code;
}

static int run_work(const struct cli_command *command, char **argv)
{
	struct template template = { .start = OP_START_INIT };
	struct work_options *opts = &template.opts;
	size_t count = 0;
	int code;
	char **rest;

	while (argv[count])
		count++;

	AUTO_FREE char **copy = mem_zero((count + 1) * sizeof *copy);

	memcpy(copy, argv, count * sizeof *copy); /* cli_parse() rearranges the arguments */
	effective_init(&opts->effective);
	rest = cli_parse(command, argv, opts, &code);
	if (rest)
		code = opts->show || opts->pause || opts->resume || opts->abort || opts->retry ||
				       opts->pick || opts->apply
			       ? find_and_act(opts, rest)
			       : read_and_start(command, copy, &template, rest);
	template_release(&template);
	return code;
}

const struct cli_command cmd_work = {
	.name = "work",
	.args = "FILE... [--check COMMAND] [options]",
	.max_args = CLI_ANY,
	.options_anywhere = true,
	.summary = "run the tasks of a list, each in a loop of its own",
	.description =
		"Reads lists of tasks: Markdown boxes, plans, prd.json, beads, issues as gh prints them, "
		"or YAML. Each task runs as a loop on a draft. A verified result lands: it is merged into "
		"what is done already, and checked again there. Nothing changes in your folder until "
		"ringfence work --apply. With --show, --pause, --resume, --abort, --retry or --apply, the "
		"argument is the id of a batch, which is a list that was run (default: the newest one of "
		"the project).",
	.options = options,
	.aliases = intended_aliases,
	.set = set,
	.has_setting = intended_has_setting,
	.settings_of = "run",
	.sections = sections,
	.run = run_work,
};
