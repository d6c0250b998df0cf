/* Starting a loop: see op_start.h. */
#include "ops/op_start.h"

#include "fenced/fenced.h"
#include "ops/op_apply.h"
#include "util/file/path.h"
#include "util/file/state_folder.h"
#include "util/mem.h"
#include "util/text/jsonget.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- disk space, draft and work tree ---- */

/* A loop must not start on a disk that is nearly full. */
static int check_free_space(const struct op_start_request *request, struct error *err)
{
	AUTO_FREE char *here = client_room(request->place->project, request->min_free_bytes);
	AUTO_FREE char *there = client_room(request->place->state, request->min_free_bytes);

	if (!here && !there)
		return 0;
	return error_with(err, ERROR_NO_SPACE, "%.1500s", here ? here : there);
}

static enum op_status prepare_draft(const struct op_start_request *request,
				    struct op_start_result *result, struct error *err)
{
	const struct fence_place *place = request->place;

	return op_start_from_find(place->state, place->project, request->from, request->with,
				  &result->from, err) < 0 ||
			       op_start_draft_reserve(place->state, place->project,
						      request->loop_id, &result->draft, err) < 0
		       ? op_status_of(err)
		       : OP_DONE;
}

enum op_status op_start_prepare(const struct op_start_request *request,
				struct op_start_result *result, struct error *err)
{
	struct fence_place *place = request->place;
	const struct op_worktree_request tree = { .state = place->state,
						  .project = place->project };
	enum op_status status;

	if (check_free_space(request, err) < 0)
		return op_status_of(err);
	status = op_apply_finish(place->state, place->project, err);
	if (op_failed(status))
		return status;
	result->recovered = status == OP_DONE;
	if (request->workspace == OP_START_DRAFT)
		return prepare_draft(request, result, err);
	if (request->from || request->with || request->loop_id) {
		error_with(err, ERROR_INVALID,
			   "--from, --with and --loop-id are for loops on a draft: use them "
			   "without --workspace, or with --workspace draft");
		return op_status_of(err);
	}
	if (request->workspace == OP_START_IN_PLACE)
		return OP_DONE;
	status = op_worktree(&tree, &result->worktree, err);
	if (status == OP_DONE)
		op_worktree_enter(&result->worktree, request->here, request->spec, place);
	return status;
}

/* ---- the plan ---- */

static void set_text(json_t *config, const char *key, const char *text)
{
	if (text)
		json_object_set_new(config, key, json_string(text));
}

/* Status and events of a loop report its tapes. */
static void add_tape(json_t *config, const struct model_access *access)
{
	set_text(config, "replay", model_access_tape(access, MODEL_ACCESS_REPLAY));
	set_text(config, "record", model_access_tape(access, MODEL_ACCESS_RECORD));
}

/* Returns the part of an agent as stored in the journal, or NULL. */
static json_t *part_of(const struct op_start_agent *agent)
{
	return json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?}", "agent", agent->adapter->name,
			 "agent_command", agent->command, "agent_format", agent->format, "model",
			 agent->model, "login", agent->login, "name", agent->name);
}

/* Adds a list of agents, unless it is empty. Returns 0, or -1 if a text is not valid UTF-8. */
static int add_parts(json_t *config, const char *key, const struct op_start_agent *agents,
		     size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(list, part_of(&agents[i])) < 0) {
			json_decref(list);
			return -1;
		}
	if (count)
		json_object_set(config, key, list);
	json_decref(list);
	return 0;
}

/* Adds all agents: the first one is described by the configuration itself. */
static int add_agents(json_t *config, const struct op_start_request *request)
{
	json_t *first = part_of(&request->agents[0]);
	json_t *review = request->review.adapter ? part_of(&request->review) : NULL;
	bool whole = first && (review || !request->review.adapter);

	json_object_update(config, first);
	if (review)
		json_object_set(config, "review", review);
	json_decref(first);
	json_decref(review);
	if (!whole ||
	    add_parts(config, "hand_over", request->agents + 1, request->agent_count - 1) < 0)
		return -1;
	return add_parts(config, "escalate", request->agents + request->agent_count,
			 request->rung_count);
}

/* Adds the phases, each with the agents of its own. Returns 0, or -1 if a text is not valid
 * UTF-8. */
static int add_phases(json_t *config, const struct op_start_request *request)
{
	json_t *list = json_array();
	int result = 0;

	for (size_t i = 0; result == 0 && i < request->phase_count; i++) {
		const struct op_start_phase *phase = &request->phases[i];
		json_t *terms = json_deep_copy(phase->terms);

		if ((phase->own_agents &&
		     add_parts(terms, "agents", request->agents + phase->first_agent,
			       phase->agent_count) < 0) ||
		    (phase->own_rungs &&
		     add_parts(terms, "escalate", request->agents + phase->first_rung,
			       phase->rung_count) < 0))
			result = -1;
		json_array_append_new(list, terms);
	}
	if (request->phase_count)
		json_object_set(config, "phases", list);
	json_decref(list);
	return result;
}

/* Adds what is only known when the loop starts. */
static void set_place(json_t *config, const struct op_start_result *result)
{
	set_text(config, "origin", result->worktree.root ? result->worktree.origin : NULL);
	set_text(config, "work_tree", result->worktree.root);
	set_text(config, "draft", result->draft.folder);
	op_start_from_config(&result->from, config);
}

/* Fixes the loop's configuration once and for all. */
static int make_config(const struct op_start_request *request, struct op_start_result *result,
		       struct error *err)
{
	const struct op_start_goal *goal = &request->goal;
	json_t *config = json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:O, s:o}", "project",
				   request->place->project, "objective", request->objective,
				   "session", request->session, "promise", goal->promise, "tasks",
				   goal->tasks, "checks", goal->checks, "fence",
				   spec_json_write(request->spec, request->here));

	if (!config || add_agents(config, request) < 0 || add_phases(config, request) < 0) {
		json_decref(config);
		return error_with(
			err, ERROR_INVALID,
			"the journal cannot store a text or a path that is not valid UTF-8");
	}
	result->config = config;
	set_place(config, result);
	json_object_set(config, "findings", goal->findings);
	json_object_set(config, "alert", request->watch.alerts);
	json_object_set(config, "notify", request->watch.targets);
	json_object_set(config, "notify_on", request->watch.events);
	json_object_set(config, "final_checks", goal->final_checks);
	set_text(config, "hold_out", goal->hold_out);
	json_object_set(config, "check_cache", goal->check_cache);
	json_object_set(config, "pin", goal->pin);
	json_object_set(config, "unpin", goal->unpin);
	set_text(config, "loop_name", request->name);
	if (goal->found)
		json_object_set_new(config, "check_found", json_true());
	if (goal->prove_check)
		json_object_set_new(config, "prove_check", json_true());
	if (request->estimate)
		json_object_set(config, "estimate", request->estimate);
	add_tape(config, &request->spec->models);
	json_object_update(config, (json_t *)request->limits);
	if (*request->prices &&
	    json_object_set_new(config, "prices", json_string(request->prices)) < 0)
		return error_with(err, ERROR_INVALID, "your prices.txt is not valid UTF-8");
	return 0;
}

/* Plans the fence before anything is started, so that a refusal comes early. */
static int make_plan(const struct op_start_request *request, struct op_start_result *result,
		     struct error *err)
{
	static char *const nothing[] = { (char *)"true", NULL };

	request->spec->command = nothing;
	request->spec->draft = request->workspace == OP_START_DRAFT;
	if (fence_plan_make(request->spec, &result->plan, err) < 0)
		return -1;
	result->planned = true;
	return 0;
}

/* Sessions of the agent are stored beside the state folder, if the fence may write there. */
static int place_sessions(const struct op_start_request *request, struct op_start_result *result,
			  struct error *err)
{
	const struct fence_plan *plan = &result->plan;
	AUTO_FREE char *folder = mem_format("%s-sessions", plan->state);
	AUTO_FREE char *within = path_join(folder, ".");
	struct error why;

	if (!request->agents[0].adapter->resume || plan->weaker & FENCE_WEAKER_NO_FENCE)
		return 0;
	if (state_folder_make(folder, 0700) == 0 && access(within, W_OK) == 0 &&
	    fence_plan_permits(plan, true, folder, &why) == 0) {
		set_text(result->config, "sessions", folder);
		return 0;
	}
	if (strcmp(request->session, "continue") == 0)
		return error_set(
			err,
			"--session continue needs a folder for sessions, but '%s' cannot be used",
			folder);
	result->no_sessions = mem_dup(folder);
	return 0;
}

enum op_status op_start_plan(const struct op_start_request *request, struct op_start_result *result,
			     struct error *err)
{
	return make_config(request, result, err) < 0 || make_plan(request, result, err) < 0 ||
			       place_sessions(request, result, err) < 0
		       ? op_status_of(err)
		       : OP_DONE;
}

enum op_status op_start_plan_stored(const struct op_start_request *request, const json_t *config,
				    struct op_start_result *result, struct error *err)
{
	result->config = json_deep_copy(config);
	set_place(result->config, result);
	return make_plan(request, result, err) < 0 ? op_status_of(err) : OP_DONE;
}

/* ---- the start ---- */

/* Adds a list of texts to a configuration, unless it is empty. Returns 0, or -1 if a text is not
 * valid UTF-8. */
static int add_texts(json_t *config, const char *key, const struct list *texts)
{
	json_t *list = json_array();
	int added = 0;

	for (size_t i = 0; added == 0 && i < texts->count; i++)
		added = json_array_append_new(list, json_string(texts->items[i]));
	if (json_array_size(list))
		json_object_set(config, key, list);
	json_decref(list);
	return added;
}

/* Adds the conflicts of the loops that it begins with to the configuration. */
static int add_conflicts(struct op_start_result *result, struct error *err)
{
	const struct op_start_from_conflicts *conflicts = &result->made.conflicts;

	return add_texts(result->config, "conflicts", &conflicts->texts) < 0 ||
			       add_texts(result->config, "conflict_paths", &conflicts->paths) < 0
		       ? error_with(err, ERROR_INVALID,
				    "the journal cannot store a path that is not valid UTF-8")
		       : 0;
}

static int make_draft(const struct op_start_request *request, struct op_start_result *result,
		      struct error *err)
{
	struct op_start_draft_request making = { .state = request->place->state,
						 .draft = request->draft,
						 .from = &result->from,
						 .progress = request->progress };
	struct error why;

	if (!result->draft.id)
		return 0;
	making.checkpoint_ignored = jsonget_flag(result->config, "checkpoint_ignored");
	making.draft.view = fenced_view(request->place, NULL);
	making.draft.hides = fenced_hides;
	making.draft.hides_context = &result->plan;
	if (op_start_draft_make(&making, &result->draft, &result->made, &why) == 0)
		return add_conflicts(result, err);
	if (result->from.from.id || why.status == ERROR_DIED) {
		*err = why;
		return -1;
	}
	return error_with(err, ERROR_REFUSED,
			  "a draft of this project is not possible here: %.1000s (to work without "
			  "one: --workspace worktree, or --workspace in-place)",
			  why.text);
}

enum op_status op_start(const struct op_start_request *request, struct op_start_result *result,
			struct error *err)
{
	const char *id = result->draft.id ? result->draft.id : result->worktree.id;

	if (make_draft(request, result, err) < 0 ||
	    client_create(request->place->state, id, result->config, &result->loop, err) < 0)
		return op_status_of(err);
	op_worktree_release(&result->worktree); /* it belongs to the loop now */
	op_start_draft_release(request->place->state, request->place->project, &result->draft);
	return OP_DONE;
}

void op_start_release(const struct op_start_request *request, struct op_start_result *result)
{
	if (result->worktree.id)
		op_worktree_undo(request->place->state, &result->worktree);
	op_worktree_release(&result->worktree);
	if (result->draft.id)
		op_start_draft_release(request->place->state, request->place->project,
				       &result->draft);
	op_start_draft_result_release(&result->made);
	op_start_from_release(&result->from);
	client_loop_release(&result->loop);
	if (result->planned)
		fence_plan_release(&result->plan);
	json_decref(result->config);
	free(result->no_sessions);
	*result = OP_START_INIT;
}
