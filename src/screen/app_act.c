/* Actions on a loop: see app.h. */
#include "screen/app.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "view/activity.h"

#include <stdlib.h>
#include <string.h>

void app_act_tell(struct app *app, bool failed, const char *text)
{
	mem_replace(&app->notice, text);
	app->failed = failed;
}

const struct client_loop *app_act_loop(const struct app *app)
{
	const struct view_row *row;

	if (app->place == APP_LOOP)
		return app->watched.gone ? NULL : &app->watched.loop;
	row = app->place == APP_FLEET ? fleet_row(&app->fleet) : NULL;
	if (!row || row->loop)
		return row ? row->loop : NULL;
	return app->picked.id && strcmp(app->picked.id, row->id) == 0 ? &app->picked : NULL;
}

/* Returns the id of the loop that an action is for, or NULL. */
static const char *target_of(const struct app *app)
{
	const struct view_row *row;

	if (app->place == APP_LOOP)
		return app->watched.gone ? NULL : app->watched.loop.id;
	if (app->place == APP_TASKS)
		return tasks_loop(&app->tasks);
	row = fleet_row(&app->fleet);
	return row && !row->batch ? row->id : NULL;
}

static void begin_work(struct app *app, enum app_work work, enum op_action action,
		       const char *target)
{
	char *copy = mem_dup(target);

	free(app->target);
	app->target = copy;
	app->work = work;
	app->action = action;
}

/* Starts an action. The request may end with this function. */
static void start(struct app *app, const struct op_action_request *request)
{
	struct error err;
	AUTO_FREE char *text = NULL;

	if (job_start_action(&app->job, request, &err) < 0) {
		app_act_tell(app, true, err.text);
		return;
	}
	begin_work(app, APP_ACTION, request->action, request->loop);
	text = mem_format("%s ...", op_action_form(request->action)->title);
	app_act_tell(app, false, text);
}

static void start_command(struct app *app, enum app_work work, enum op_action action,
			  const char *target, const char *const *words)
{
	struct error err;

	if (job_start_command(&app->job, words, &err) < 0) {
		app_act_tell(app, true, err.text);
		return;
	}
	begin_work(app, work, action, target);
	app_act_tell(app, false, "reading ...");
}

/* Is the action refused at once, for a loop that is known? Then a notice tells so. */
static bool is_refused(struct app *app, enum op_action action, const char *target)
{
	const struct client_loop *loop = app_act_loop(app);
	AUTO_FREE char *text = NULL;

	if (app->work != APP_IDLE) {
		app_act_tell(app, true, "one thing at a time: wait for the last action");
		return true;
	}
	if (!target)
		text = mem_dup("this is for loops: open the work list, and choose one");
	else if (loop && !op_action_is_offered(action, loop))
		text = mem_format("%s: not for a loop that is %s", op_action_form(action)->title,
				  client_status(loop));
	if (text)
		app_act_tell(app, true, text);
	return text != NULL;
}

void app_act_begin(struct app *app, enum op_action action)
{
	const char *target = target_of(app);
	const struct op_action_request request = { .state = app->state,
						   .loop = target,
						   .action = action };
	const char *const words[] = { "checkpoints", "--json", target, NULL };

	if (is_refused(app, action, target))
		return;
	switch (op_action_form(action)->input) {
	case OP_ACTION_TEXT:
		dialog_text(&app->dialog, action, target);
		break;
	case OP_ACTION_CHECKPOINT:
		start_command(app, APP_CHECKPOINTS, action, target, words);
		break;
	case OP_ACTION_NOTHING:
		start(app, &request);
		break;
	}
}

/* ---- results ---- */

static void end_action(struct app *app)
{
	struct job_outcome outcome;
	AUTO_FREE char *target = mem_dup(app->target);

	job_end_action(&app->job, &outcome);
	app->work = APP_IDLE;
	app_act_tell(app, false, NULL);
	if (outcome.status == OP_ASKS)
		dialog_question(&app->dialog, app->action, target, &outcome.result);
	else if (op_failed(outcome.status))
		dialog_note(&app->dialog, op_action_form(app->action)->title, outcome.err.text);
	else
		app_act_tell(app, false, outcome.result.text ? outcome.result.text : "done");
	op_action_release(&outcome.result);
	app->news = true;
}

static void add_rule(struct buffer *out, const json_t *rule)
{
	buffer_printf(out, "%s: [\"%s\"]\n    %s\n\n", jsonget_text(rule, "key"),
		      jsonget_text(rule, "value"), jsonget_text(rule, "risk"));
}

/* Shows the rules that `ringfence suggest` found, and how to add them. */
static void show_rules(struct app *app, const json_t *rules)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 16);
	const json_t *offered = json_object_get(rules, "offered");
	size_t index;
	const json_t *rule;

	json_array_foreach(offered, index, rule) add_rule(&out, rule);
	json_array_foreach(json_object_get(rules, "withheld"), index, rule)
	{
		buffer_printf(&out, "not suggested: %s %s\n    %s\n\n", jsonget_text(rule, "kind"),
			      jsonget_text(rule, "target"), jsonget_text(rule, "why"));
	}
	if (json_array_size(offered))
		buffer_printf(
			&out,
			"To allow this from the next loop on, add the lines to your config.yml, "
			"or run:\n\n  ringfence suggest %s \\\n    | patch -p0 "
			"~/.config/ringfence/config.yml\n",
			app->target);
	else
		buffer_add_text(&out, "There is no rule to suggest.\n");
	dialog_note(&app->dialog, "Allow", buffer_text(&out));
}

static void end_command(struct app *app)
{
	struct error err;
	enum app_work work = app->work;
	json_t *json = job_end_command(&app->job, &err);
	AUTO_FREE char *target = mem_dup(app->target);

	app->work = APP_IDLE;
	app_act_tell(app, false, NULL);
	if (!json)
		dialog_note(&app->dialog, "It failed", err.text);
	else if (work == APP_CHECKPOINTS)
		dialog_choice(&app->dialog, app->action, target, json_incref(json));
	else
		show_rules(app, json);
	json_decref(json);
}

int app_act_fd(const struct app *app)
{
	return app->work != APP_IDLE ? app->job.fd : -1;
}

void app_act_read(struct app *app)
{
	if (app->work == APP_IDLE || !job_read(&app->job))
		return;
	/* A dialog that was opened meanwhile is closed by the one of the result. */
	if (app->work == APP_ACTION)
		end_action(app);
	else
		end_command(app);
}

/* ---- answers ---- */

void app_act_confirmed(struct app *app)
{
	struct dialog *dialog = &app->dialog;
	struct op_action_request request = { .state = app->state,
					     .loop = dialog->loop,
					     .action = dialog->action };

	if (dialog->kind == DIALOG_QUESTION || dialog->kind == DIALOG_CHOICE) {
		memcpy(request.leaves, dialog->leaves, sizeof request.leaves);
		request.token = dialog->kind == DIALOG_QUESTION ? dialog->token : NULL;
		request.checkpoint = dialog->kind == DIALOG_CHOICE ? dialog_checkpoint(dialog)
								   : app->checkpoint;
		app->checkpoint = request.checkpoint;
	} else if (dialog->kind == DIALOG_TEXT) {
		request.text = dialog->editor.text;
	}
	start(app, &request);
	dialog_close(dialog);
}

void app_act_allow(struct app *app)
{
	const struct watched_log *log = &app->watched.log;
	AUTO_FREE char *path = NULL;
	AUTO_FREE char *report = NULL;
	const char *words[] = { "suggest", "--json", NULL, NULL };

	if (app->work != APP_IDLE || !json_array_size(app->watched.denials))
		return;
	path = activity_log(&app->watched.loop, log->iteration, log->attempt);
	report = mem_format("%.*s/report.json", (int)(strrchr(path, '/') - path), path);
	words[2] = report;
	start_command(app, APP_RULES, OP_ACTION_pause, report, words);
}
