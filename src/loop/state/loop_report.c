/* Files of a loop: see loop_report.h. */
#include "loop/state/loop_report.h"

#include "fence/fence_spec.h"
#include "fence/fence_weaker.h"
#include "loop/state/loop_folder.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reserved space for the last message on a full disk. */
#define RESERVE ".reserve"
enum { RESERVE_BYTES = 8192, TROUBLE_BYTES = 4096, MOST_NAMED = 3, OBJECTIVE_BYTES = 1000 };

static json_t *limits_json(const struct loop_options *options)
{
	return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "iterations",
			 (int)options->limits.iterations, "time_s",
			 (json_int_t)options->limits.total_s, "cost_nusd",
			 (json_int_t)options->limits.cost_nusd, "warn_cost_nusd",
			 (json_int_t)options->limits.cost_warning_nusd, "timeout_ms",
			 (json_int_t)options->timeout_ms, "idle_ms", (json_int_t)options->idle_ms,
			 "check_timeout_ms", (json_int_t)options->check_timeout_ms, "budget_nusd",
			 (json_int_t)options->budget_nusd);
}

static json_t *weaker_json(const struct loop_state *state)
{
	const struct fence_weaker_entry *at;
	json_t *list = json_array();

	for (size_t i = 0; (at = fence_weaker_at(i)); i++)
		if (state->weaker & at->bit)
			json_array_append_new(list, json_string(at->name));
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++)
		if (state->weaker_limits & 1U << i)
			json_array_append_new(list,
					      json_string(fence_limit_name((enum fence_limit)i)));
	return list;
}

static json_t *trouble_of(const struct list *trouble)
{
	json_t *texts = json_array();

	for (size_t i = 0; i < trouble->count; i++)
		json_array_append_new(texts, loop_report_text(trouble->items[i]));
	return texts;
}

/* Lists all agents, and which of them are at the limit of their provider. */
static json_t *agents_json(const struct loop_state *state)
{
	const struct loop_options *options = &state->options;
	json_t *list = json_array();

	for (uint32_t i = 0; i < options->part_count; i++) {
		const struct loop_part *part = &options->agents[i];
		json_t *agent = json_pack("{s:s, s:s, s:s?, s:b, s:b}", "name",
					  loop_part_name(part), "agent", part->agent, "model",
					  part->model, "stronger",
					  i >= options->agent_count &&
						  i < options->agent_count + options->rung_count,
					  "works", i == state->agent);

		if (state->limited_ms[i])
			json_object_set_new(agent, "limited_until",
					    json_integer(state->limited_ms[i] / 1000));
		json_array_append_new(list, agent);
	}
	return list;
}

/* Lists the phases: what each has used, and which one is under way. */
static json_t *phases_json(const struct loop_state *state)
{
	bool completed = strcmp(loop_state_status(state, true), "completed") == 0;
	json_t *list = json_array();

	for (uint32_t i = 0; i < state->options.phase_count; i++) {
		const struct loop_phase *phase = &state->options.phases[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:i, s:I, s:i, s:I}", "name",
						phase->name, "state",
						i < state->phase.at || completed ? "over"
						: i == state->phase.at           ? "current"
										 : "later",
						"iterations", (int)state->phase.sums[i].iterations,
						"spent_nusd",
						(json_int_t)state->phase.sums[i].spent_nusd,
						"max_iterations", (int)phase->iterations,
						"max_cost_nusd", (json_int_t)phase->cost_nusd));
	}
	return list;
}

static json_t *review_json(const struct loop_state *state)
{
	const struct loop_state_review *review = &state->review;

	return json_pack("{s:s, s:I, s:i, s:i, s:I, s:O?}", "agent", state->options.reviewer.agent,
			 "spent_nusd", (json_int_t)review->spent_nusd, "rounds",
			 (int)review->rounds, "most_rounds", (int)state->options.review_rounds,
			 "budget_nusd", (json_int_t)state->options.review_nusd, "findings",
			 review->findings);
}

static json_t *mutants_json(const struct loop_state *state)
{
	const struct loop_state_mutants *mutants = &state->mutants;

	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:s?, s:o}", "most",
			 (int)state->options.mutants, "tried", (int)mutants->done, "noticed",
			 (int)mutants->noticed, "survived", (int)mutants->survived, "invalid",
			 (int)mutants->invalid, "why", mutants->why, "untested",
			 mutants->untested ? json_incref(mutants->untested) : json_array());
}

/* This is written often, and a long text is recognizable by its start. */
static json_t *start_of(const char *text)
{
	return loop_report_bytes(text, text_first(text, strlen(text), OBJECTIVE_BYTES));
}

/* Lists the alerts of this iteration, and those that still hold. */
static json_t *alerts_json(const struct loop_state *state)
{
	json_t *list = json_array();

	for (int i = 0; i < ALERT_COUNT; i++)
		if (state->alert_texts[i])
			json_array_append_new(list,
					      json_pack("{s:s, s:o}", "rule",
							alert_rule_name((enum alert_rule)i), "text",
							loop_report_text(state->alert_texts[i])));
	return list;
}

/* Lists the messages of the user, and whether the last agent that has begun had each. */
static json_t *told_json(const struct loop_state *state)
{
	json_t *list = json_array();

	for (size_t i = 0; i < state->told_count; i++)
		json_array_append_new(list,
				      json_pack("{s:o, s:b}", "text", start_of(state->told[i].text),
						"given", state->told[i].given));
	return list;
}

json_t *loop_report_loop(const char *id, const struct loop_state *state, bool alive,
			 int64_t heartbeat_ms)
{
	json_t *value = json_pack(
		"{s:s, s:s?, s:s?, s:s, s:s, s:i, s:i, s:I, s:o, s:i, s:i, s:s?, s:o, s:s?}", "id",
		id, "name", state->options.name, "project",
		state->options.origin ? state->options.origin : state->options.project, "status",
		loop_state_status(state, alive), "step", loop_event_step_name(state->step),
		"iteration", (int)state->iteration, "used", (int)state->used, "spent_nusd",
		(json_int_t)state->spent_nusd, "limits", limits_json(&state->options), "completion",
		(int)state->completion, "confidence", (int)state->confidence, "mechanism",
		*state->mechanism ? state->mechanism : NULL, "weaker", weaker_json(state), "reason",
		state->reason);
	json_object_set_new(value, "estimated_nusd",
			    json_integer((json_int_t)state->estimated_nusd));
	json_object_set_new(value, "checkpoint",
			    state->checkpoint < 0 ? json_null()
						  : json_integer((json_int_t)state->checkpoint));
	if (state->checkpoint_error)
		json_object_set_new(value, "checkpoint_error",
				    loop_report_text(state->checkpoint_error));

	json_object_set_new(value, "worktree",
			    state->options.work_tree ? loop_report_text(state->options.work_tree)
						     : json_null());
	json_object_set_new(value, "workspace",
			    json_string(state->options.draft       ? "draft"
					: state->options.work_tree ? "worktree"
								   : "in-place"));
	if (state->uncommitted)
		json_object_set_new(value, "uncommitted", loop_report_text(state->uncommitted));
	if (state->git_mode)
		json_object_set_new(value, "git",
				    json_pack("{s:s, s:s?, s:s?, s:s?, s:s?, s:o}", "mode",
					      state->git_mode, "why", state->git_why, "ref",
					      state->git_ref, "commit", state->git_commit, "error",
					      state->git_error, "trouble",
					      trouble_of(&state->git_trouble)));
	json_object_set_new(value, "agent",
			    state->options.agent_count
				    ? json_string(state->options.agents[state->agent].agent)
				    : json_null());
	if (state->options.part_count > 1)
		json_object_set_new(value, "agents", agents_json(state));
	if (state->options.phase_count) {
		json_object_set_new(value, "phase", json_string(loop_state_phase(state)->name));
		json_object_set_new(value, "phases", phases_json(state));
	}
	/* The risk is reported wherever the loop is shown. */
	if (state->options.agents[state->agent].login)
		json_object_set_new(value, "login_in_fence",
				    loop_report_text(state->options.agents[state->agent].login));
	if (state->options.record)
		json_object_set_new(value, "record", loop_report_text(state->options.record));
	if (state->not_recorded)
		json_object_set_new(value, "not_recorded", loop_report_text(state->not_recorded));
	if (state->options.replay)
		json_object_set_new(value, "replay", loop_report_text(state->options.replay));
	if (state->options.batch)
		json_object_update_new(value,
				       json_pack("{s:s, s:s?}", "batch", state->options.batch,
						 "task", state->options.task));
	json_object_set_new(value, "objective",
			    state->options.objective ? start_of(state->options.objective)
						     : json_null());
	if (state->options.reviewer.command)
		json_object_set_new(value, "review", review_json(state));
	if (state->options.mutants)
		json_object_set_new(value, "mutants", mutants_json(state));
	json_object_set_new(value, "created_at", json_integer(state->created_ms / 1000));
	if (state->step == LOOP_STEP_waiting)
		json_object_set_new(value, "waits_until",
				    json_integer(state->wait_until_ms / 1000));
	json_object_set_new(value, "told", told_json(state));
	json_object_set_new(value, "alerts", alerts_json(state));
	json_object_set_new(value, "blocked",
			    state->blocked ? loop_report_text(state->blocked) : json_null());
	json_object_set_new(value, "asked",
			    state->wish == LOOP_WISH_NONE    ? json_null()
			    : state->wish == LOOP_WISH_PAUSE ? json_string("pause")
							     : json_string("abort"));
	json_object_set_new(value, "supervisor_pid",
			    alive ? json_integer(state->supervisor) : json_null());
	json_object_set_new(value, "last_heartbeat",
			    heartbeat_ms ? json_integer(heartbeat_ms / 1000) : json_null());
	return value;
}

json_t *loop_report_text(const char *text)
{
	return loop_report_bytes(text, strlen(text));
}

json_t *loop_report_bytes(const char *bytes, size_t size)
{
	AUTO_BUFFER struct buffer quoted = BUFFER_INIT(8 << 20);

	text_json_bytes(&quoted, bytes, size);

	json_t *value = json_loads(buffer_text(&quoted), JSON_DECODE_ANY, NULL);

	return value ? value : json_string("");
}

int64_t loop_report_heartbeat_ms(const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "state.json");
	json_t *value = json_load_file(path, 0, NULL);
	json_int_t seconds = jsonget_number(value, "last_heartbeat");

	json_decref(value);
	return (int64_t)seconds * 1000;
}

int loop_report_json(const char *folder, const char *name, json_t *value, struct error *err)
{
	AUTO_FREE char *text = json_dumps(value, JSON_INDENT(2));

	if (!text)
		return error_set(err, "'%s' could not be written as JSON", name);
	return loop_folder_write(folder, name, text, strlen(text), err);
}

/* Returns the first few entries of a list, with only these keys. */
static json_t *first_of(const json_t *list, const char *const *keys)
{
	json_t *some = json_array();
	size_t index;
	json_t *entry;

	json_array_foreach(list, index, entry)
	{
		json_t *part = json_object();

		for (size_t i = 0; keys[i]; i++)
			json_object_set(part, keys[i], json_object_get(entry, keys[i]));
		json_array_append_new(some, part);
		if (index + 1 == MOST_NAMED)
			break;
	}
	return some;
}

/* Returns the first file that each tool obeys, and how many there are: {by, path, files}. */
static json_t *by_tool(const json_t *flagged)
{
	enum { MOST_TOOLS = 10 };
	json_t *tools = json_object();
	json_t *list = json_array();
	size_t index;
	json_t *entry;

	json_array_foreach(flagged, index, entry)
	{
		const char *by = jsonget_text(entry, "by");
		json_t *tool = json_object_get(tools, by);

		if (!tool && json_array_size(list) == MOST_TOOLS)
			continue;
		if (!tool) {
			tool = json_pack("{s:s, s:s, s:i}", "by", by, "path",
					 jsonget_text(entry, "path"), "files", 0);
			json_object_set(tools, by, tool);
			json_array_append_new(list, tool);
		}
		json_object_set_new(tool, "files", json_integer(jsonget_number(tool, "files") + 1));
	}
	json_decref(tools);
	return list;
}

/* Returns the name of a denial's sort in an event. */
static const char *sort_of(const json_t *denial)
{
	static const char *const writes[] = { "write", "create", "remove", "link" };
	const char *kind = jsonget_text(denial, "kind");
	const char *rule = jsonget_text(denial, "rule");

	if (json_object_get(denial, "harmless"))
		return "harmless";
	if (strcmp(rule, "secret") == 0 || strcmp(rule, "executed by the host") == 0 ||
	    text_after_prefix(rule, "hide "))
		return "protected";
	for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
		if (strcmp(kind, writes[i]) == 0)
			return strcmp(rule, "system") == 0 || strcmp(rule, "outside") == 0 ||
					       text_after_prefix(rule, "private ")
				       ? "outside"
				       : "inside";
	return strcmp(kind, "read") == 0 || strcmp(kind, "connect") == 0 ? kind : "call";
}

/* Adds the first denials, the first ones of protected files, and how many there are of each
 * sort. */
static void add_denials(const json_t *denials, json_t *data)
{
	static const char *const keys[] = { "kind", "target", "count", NULL };
	json_t *sorts = json_object();
	json_t *told = json_array();
	json_t *guarded = json_array();
	size_t index;
	json_t *denial;

	json_array_foreach(denials, index, denial)
	{
		const char *sort = sort_of(denial);

		json_object_set_new(sorts, sort, json_integer(jsonget_number(sorts, sort) + 1));
		if (strcmp(sort, "harmless") != 0)
			json_array_append(told, denial);
		if (strcmp(sort, "protected") == 0)
			json_array_append(guarded, denial);
	}
	if (json_array_size(told))
		json_object_set_new(data, "denied", first_of(told, keys));
	if (json_array_size(guarded))
		json_object_set_new(data, "denied_protected", first_of(guarded, keys));
	if (json_object_size(sorts))
		json_object_set_new(data, "denied_sorts", json_incref(sorts));
	json_decref(sorts);
	json_decref(told);
	json_decref(guarded);
}

void loop_report_add_found(const char *folder, const char *name, json_t *data)
{
	static const char *const kept[] = { "path", "reason", "kept", NULL };
	AUTO_FREE char *path = mem_format("%s/%sreport.json", folder, name);
	json_t *report = json_load_file(path, 0, NULL);
	json_t *total = json_object_get(report, "quarantined_total");
	json_t *flagged = json_object_get(report, "flagged");

	if (json_integer_value(total) > 0) {
		json_object_set(data, "quarantined", total);
		json_object_set_new(data, "put_aside",
				    first_of(json_object_get(report, "quarantined"), kept));
	}
	if (json_array_size(flagged))
		json_object_set_new(data, "flagged", by_tool(flagged));
	add_denials(json_object_get(report, "denials"), data);
	json_decref(report);
}

int loop_report_state(const char *folder, const struct loop_state *state, int64_t now_ms,
		      struct error *err)
{
	json_t *value = loop_report_loop(path_name(folder), state, true, now_ms);
	int result = loop_report_json(folder, "state.json", value, err);

	json_decref(value);
	return result;
}

int loop_report_survey(const char *folder, const char *name, const struct survey *survey,
		       struct error *err)
{
	json_t *value = json_pack("{s:I, s:I, s:I, s:s, s:o}", "files", (json_int_t)survey->files,
				  "bytes", (json_int_t)survey->bytes, "changed",
				  (json_int_t)survey->changed, "tree", survey->tree, "head",
				  loop_report_text(survey->head));
	int result = loop_report_json(folder, name, value, err);

	json_decref(value);
	return result;
}

void loop_report_trouble(const char *folder, const char *why)
{
	AUTO_FREE char *path = path_join(folder, "trouble.txt");
	AUTO_FREE char *reserve = path_join(folder, RESERVE);
	static const char room[RESERVE_BYTES];
	struct error ignored;

	if (!why) {
		unlink(path);
		if (access(reserve, F_OK) < 0)
			loop_folder_write(folder, RESERVE, room, sizeof room, &ignored);
	} else if (loop_folder_write(folder, "trouble.txt", why, strlen(why), &ignored) < 0) {
		unlink(reserve);
		loop_folder_write(folder, "trouble.txt", why, strlen(why), &ignored);
	}
}

char *loop_report_read_trouble(const char *folder)
{
	AUTO_FREE char *path = path_join(folder, "trouble.txt");
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(TROUBLE_BYTES);

	return fd >= 0 && fd_read_all(fd, &text) == 0 ? mem_dup(buffer_text(&text)) : NULL;
}
