/* ringfence work: run the tasks of a list, each in a loop of its own. */
#include "batch/batch_client.h"
#include "batch/batch_report.h"
#include "batch/batch_tick.h"
#include "cli/batches.h"
#include "cli/cli.h"
#include "cli/drafts.h"
#include "cli/intended.h"
#include "cli/lists.h"
#include "cli/loops.h"
#include "cli/output_file.h"
#include "cli/view/batch_follow.h"
#include "cli/view/batch_page.h"
#include "cli/view/batch_text.h"
#include "cli/view/notice.h"
#include "cli/work_start.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option options[] = {
	OPTION_FLAG("list", "show the list as it is read; start nothing", struct work_options,
		    list),
	OPTION_TEXT("jobs", "N", "run this many loops at once (default: " WORK_OPTIONS_JOBS ")",
		    struct work_options, jobs),
	OPTION_TEXT("task-cost", "USD",
		    "what each task may cost, with all its loops; none: no limit "
		    "(default: " WORK_OPTIONS_TASK_COST "; --max-cost limits all tasks together)",
		    struct work_options, task_cost),
	OPTION_TEXT("rounds", "N",
		    "run at most N loops of a task until it has landed: each one merges it again "
		    "(default: " WORK_OPTIONS_ROUNDS ")",
		    struct work_options, rounds),
	OPTION_TEXT("candidates", "N",
		    "have each task solved N times at once: the first result that is verified wins",
		    struct work_options, candidates),
	OPTION_TEXT("agents", "AGENT,...",
		    "the same, once by each of these agents: claude,codex:gpt-5.4",
		    struct work_options, agents),
	OPTION_FLAG("compare",
		    "with --candidates or --agents: let all of them end; you pick one (--pick)",
		    struct work_options, compare),
	OPTION_FLAG("again",
		    "also run tasks that an earlier batch has done, whose result is not applied",
		    struct work_options, again),
	OPTION_FLAG("keep-drafts", "keep the files of tasks that are done in drafts of their own",
		    struct work_options, keep_drafts),
	OPTION_FLAG("detach", "continue in the background; the last line printed is the id",
		    struct work_options, detach),
	OPTION_FLAG("batches", "list the batches of the project, with what is left to do",
		    struct work_options, batches),
	OPTION_FLAG("show", "show a batch: its tasks, and what to do next", struct work_options,
		    show),
	OPTION_TEXT("summary", "FILE",
		    "with --show, --resume or a list: write a summary as a web page when the batch "
		    "stops",
		    struct work_options, summary),
	OPTION_FLAG("pause", "pause a batch when the iterations under way end", struct work_options,
		    pause),
	OPTION_FLAG("resume",
		    "continue a batch, and the tasks that need you; with --max-cost, --task-cost, "
		    "--jobs or --rounds: with new limits; a running batch is followed",
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
			 "  3    paused: by you, a task needs you, or the money is used up\n"
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

/* ---- a list ---- */

static void print_list_json(const struct worklist *list)
{
	json_t *tasks = json_array();
	json_t *notes = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(tasks, worklist_item_json(list, &list->items[i]));
	for (size_t i = 0; i < list->notes.count; i++)
		json_array_append_new(notes, client_text(list->notes.items[i]));
	loops_print(json_pack("{s:o, s:o}", "tasks", tasks, "notes", notes));
}

static int show_list(const struct worklist *list, bool json)
{
	if (json)
		print_list_json(list);
	else
		batch_text_print_list(list);
	return cli_flush();
}

static int read_list(const struct cli_command *command, char *const *argv,
		     struct work_template *template, char **files)
{
	struct worklist list;
	struct work_start work = { .command = command, .argv = argv, .list = &list };
	struct error err;
	int code;

	if (!*files) {
		error_set(&err, "work needs a list: ringfence work TASKS.md --check \"make test\" "
				"(see: ringfence work --help)");
		return cli_fail(&err);
	}
	if (lists_read(files, &list, &work.paths, &err) < 0)
		return cli_fail(&err);
	code = template->opts.list ? show_list(&list, template->opts.json)
				   : work_start(&work, template);
	worklist_model_release(&list);
	json_decref(work.paths);
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
		batch_text_print(batch, batches_is_applied(opts->effective.place.state, batch));
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
				       .json = opts->json,
				       .batch = batch->id };
	int code;

	if (!batch->state.tip) {
		error_with(err, ERROR_REFUSED, "batch %s has nothing to apply: no task is done",
			   batch->id);
		return cli_fail(err);
	}
	/* Merged with git, conflicts may have been resolved in other ways. */
	if (!opts->dry && batches_has_commits(opts->effective.place.state, batch))
		return tick(batch);
	code = drafts_apply(&draft, err);
	return code || opts->dry ? code : tick(batch);
}

static int resume(const struct work_options *opts, struct batch_client *batch, struct error *err)
{
	const struct config_value *cost = config_get(&opts->effective.config, SETTING_MAX_COST);
	int64_t seen = batch->state.last_seq;
	json_t *changes = json_object();
	int result = work_options_add_limits(opts, changes, err);

	if (cost->layer == CONFIG_FLAG)
		json_object_set_new(changes, "max_cost_nusd",
				    json_integer((json_int_t)cost->number));
	/* A batch that is running is only followed. */
	if (result == 0 &&
	    (strcmp(batch_client_status(batch), "running") != 0 || json_object_size(changes)))
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
	if (show(opts, batch) != 0 || opts->json || strcmp(wish, "pause") == 0)
		return cli_flush();
	puts("it continues in the background (to watch it: ringfence work --resume)");
	return cli_flush();
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
	if (opts->batches && !rest[0])
		return batches_print(effective->place.state, effective->place.project, opts->json);
	if (rest[0] && (rest[1] || opts->batches)) {
		error_set(&err, "unexpected argument '%s': %s", rest[opts->batches ? 0 : 1],
			  opts->batches ? "--batches lists those of the project"
					: "name only one batch");
		return cli_fail(&err);
	}
	if (batch_client_find(effective->place.state, rest[0], effective->place.project, &batch,
			      &err) < 0)
		return cli_fail(&err);
	code = act(opts, &batch, &err);
	batch_client_release(&batch);
	return code;
}

/* Counts the options that are about batches which exist. */
static int count_wishes(const struct work_options *opts)
{
	return opts->batches + opts->show + opts->pause + opts->resume + opts->abort + opts->apply +
	       (opts->retry != NULL) + (opts->pick != NULL);
}

static int check_options(const struct work_options *opts, struct error *err)
{
	if (count_wishes(opts) + opts->list > 1)
		return error_with(
			err, ERROR_INVALID,
			"use only one of --list, --batches, --show, --pause, --resume, --abort, "
			"--retry, --pick and --apply");
	if ((opts->dry || opts->yes) && !opts->apply)
		return error_with(err, ERROR_INVALID,
				  "--%s is for --apply (to see how a list is read: ringfence work "
				  "--list FILE)",
				  opts->dry ? "dry-run" : "yes");
	if (opts->summary &&
	    (opts->detach || opts->list || (count_wishes(opts) && !opts->show && !opts->resume)))
		return error_with(err, ERROR_INVALID,
				  "--summary is for --show, and for --resume or a list in the "
				  "foreground");
	return 0;
}

static int act_or_start(const struct cli_command *command, char *const *argv,
			struct work_template *template, char **rest)
{
	return count_wishes(&template->opts) ? find_and_act(&template->opts, rest)
					     : read_list(command, argv, template, rest);
}

/* Writes the summary of the batch that was named, or is the newest of the project. */
static int write_summary(const struct work_options *opts, const char *id,
			 const struct output_file *file, struct error *err)
{
	const struct fence_place *place = &opts->effective.place;
	AUTO_HTML struct html page = HTML_INIT(BATCH_PAGE_BYTES);
	struct batch_client batch;
	int result;

	if (batch_client_find(place->state, id, place->project, &batch, err) < 0)
		return -1;
	if (batch.damaged) {
		result = error_set(err, "%s", batch.trouble);
	} else {
		batch_page_write(&batch, batches_is_applied(place->state, &batch), &page);
		result = page.out.overflow ? error_set(err, "the summary is too large")
					   : output_file_write(file, &page.out, err);
	}
	batch_client_release(&batch);
	return result;
}

static int act_and_summarize(const struct cli_command *command, char *const *argv,
			     struct work_template *template, char **rest)
{
	const struct work_options *opts = &template->opts;
	struct output_file file = OUTPUT_FILE_INIT;
	struct error err;
	int code;

	file.option = "--summary";
	if (check_options(opts, &err) < 0 ||
	    (opts->summary && output_file_open(&file, opts->summary, &err) < 0))
		return cli_fail(&err);
	code = act_or_start(command, argv, template, rest);
	if (opts->summary && code != LOOPS_REFUSED && opts->effective.place.state &&
	    write_summary(opts, count_wishes(opts) ? rest[0] : NULL, &file, &err) < 0)
		code = cli_fail(&err);
	output_file_release(&file);
	return code;
}

static int run_work(const struct cli_command *command, char **argv)
{
	AUTO_FREE char **copy = work_start_copy(argv);
	struct work_template template;
	int code;
	char **rest;

	work_template_init(&template);
	rest = cli_parse(command, argv, &template.opts, &code);
	if (rest)
		code = act_and_summarize(command, copy, &template, rest);
	work_template_release(&template);
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
		"ringfence work --apply. With --show, --pause, --resume, --abort, --retry, --pick or "
		"--apply, the argument is the id of a batch, which is a list that was run (default: the "
		"newest one of the project).",
	.options = options,
	.aliases = intended_aliases,
	.set = set,
	.has_setting = intended_has_setting,
	.settings_of = "run",
	.sections = sections,
	.run = run_work,
};
