/* Read models as JSON: see view_json.h. */
#include "view/view_json.h"

#include "gateway/owner/ledger_sums.h"
#include "util/mem.h"

json_t *view_json_number(int64_t value)
{
	return value < 0 ? json_null() : json_integer((json_int_t)value);
}

static void set(json_t *object, const char *key, int64_t value)
{
	json_object_set_new(object, key, view_json_number(value));
}

json_t *view_json_text(const char *value)
{
	return value ? client_text(value) : json_null();
}

static json_t *tokens_json(const uint64_t *tokens)
{
	json_t *object = json_object();

	for (int i = 0; i < PRICE_KINDS; i++)
		set(object, ledger_sums_kinds[i], (int64_t)tokens[i]);
	return object;
}

static json_t *use_json(const struct view_iterations *all, const struct view_use *use)
{
	json_t *object = json_object();

	json_object_set_new(object, "model", view_json_text(all->models.items[use->model]));
	set(object, "requests", (int64_t)use->requests);
	set(object, "cost_nusd", use->cost_nusd);
	set(object, "estimated_nusd", use->estimated_nusd);
	json_object_set_new(object, "tokens", tokens_json(use->tokens));
	return object;
}

json_t *view_json_uses(const struct view_iterations *all, const struct view_use *uses, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, use_json(all, &uses[i]));
	return list;
}

static json_t *check_json(const struct view_check *check)
{
	static const char *const kinds[] = { "check", "final", "phase" };
	json_t *object = json_object();

	json_object_set_new(object, "kind", json_string(kinds[check->kind]));
	set(object, "index", check->index);
	json_object_set_new(object, "passed", json_boolean(check->passed));
	set(object, "code", check->code);
	set(object, "tests_passed", check->tests_passed);
	set(object, "tests_failed", check->tests_failed);
	set(object, "duration_ms", check->duration_ms);
	return object;
}

static void set_counts(json_t *object, const struct view_iteration *item)
{
	json_t *checks = json_array();

	for (size_t i = 0; i < item->check_count; i++)
		json_array_append_new(checks, check_json(&item->checks[i]));
	json_object_set_new(object, "checks", checks);
	set(object, "checks_passing", item->checks_passing);
	set(object, "tests_passing", item->tests_passing);
	set(object, "tests_failing", item->tests_failing);
	set(object, "files_changed", item->files_changed);
	set(object, "tool_calls", item->tool_calls);
	set(object, "tool_errors", item->tool_errors);
	set(object, "denials", item->denials);
	set(object, "quarantined", item->quarantined);
	set(object, "findings", item->findings);
}

json_t *view_json_iteration(const struct client_loop *loop, const struct view_iterations *all,
			    const struct view_iteration *item)
{
	json_t *object = json_object();

	set(object, "iteration", item->iteration);
	set(object, "attempt", item->attempt);
	json_object_set_new(object, "agent",
			    view_json_text(
				    loop_part_name(&loop->state.options.agents[item->part])));
	json_object_set_new(object, "phase", view_json_text(item->phase));
	json_object_set_new(object, "action", view_json_text(item->action));
	json_object_set_new(object, "reason", view_json_text(item->reason));
	json_object_set_new(object, "ended", view_json_text(item->ended));
	json_object_set_new(object, "failure", view_json_text(failure_row(item->failure)->name));
	json_object_set_new(object, "progressed", json_boolean(item->progressed));
	json_object_set_new(object, "counts", json_boolean(item->counts));
	set(object, "began_ms", item->began_ms);
	set(object, "ended_ms", item->ended_ms ? item->ended_ms : -1);
	set(object, "agent_ms", item->agent_ms);
	set(object, "checks_ms", item->checks_ms);
	set_counts(object, item);
	set(object, "cost_nusd", item->cost_nusd);
	set(object, "estimated_nusd", item->estimated_nusd);
	set(object, "requests", (int64_t)item->requests);
	json_object_set_new(object, "tokens", tokens_json(item->tokens));
	json_object_set_new(object, "models", view_json_uses(all, item->uses, item->use_count));
	return object;
}

json_t *view_json_names(const struct view_names *names, const char *key)
{
	AUTO_FREE size_t *order = view_names_order(names);
	json_t *list = json_array();

	for (size_t i = 0; i < names->count; i++) {
		json_t *object = json_object();

		json_object_set_new(object, key, view_json_text(names->items[order[i]].text));
		set(object, "count", (int64_t)names->items[order[i]].count);
		json_array_append_new(list, object);
	}
	return list;
}

json_t *view_json_tools(const struct view_tools *tools)
{
	AUTO_FREE size_t *order = view_names_order(&tools->tools);
	AUTO_FREE size_t *targets = view_names_order(&tools->targets);
	json_t *list = view_json_names(&tools->tools, "tool");

	for (size_t i = 0; i < tools->tools.count; i++) {
		json_t *tool = json_array_get(list, i);
		json_t *named = json_array();

		set(tool, "failed", (int64_t)tools->errors[order[i]]);
		for (size_t k = 0; k < tools->targets.count; k++) {
			const struct view_name *target = &tools->targets.items[targets[k]];

			if (target->group != order[i])
				continue;
			json_array_append_new(named, json_pack("{s:o, s:I}", "target",
							       view_json_text(target->text),
							       "count", (json_int_t)target->count));
		}
		json_object_set_new(tool, "targets", named);
	}
	return list;
}

json_t *view_json_hosts(const struct view_tools *tools)
{
	AUTO_FREE size_t *order = view_names_order(&tools->hosts);
	json_t *list = view_json_names(&tools->hosts, "host");

	for (size_t i = 0; i < tools->hosts.count; i++) {
		const struct view_host *host = &tools->traffic[order[i]];
		json_t *object = json_array_get(list, i);

		json_object_del(object, "count");
		set(object, "connections", (int64_t)host->connections);
		set(object, "refusals", (int64_t)host->refusals);
		set(object, "bytes_in", (int64_t)host->bytes_in);
		set(object, "bytes_out", (int64_t)host->bytes_out);
	}
	return list;
}

json_t *view_json_denials(const struct view_tools *tools)
{
	AUTO_FREE size_t *order = view_names_order(&tools->denials);
	json_t *list = view_json_names(&tools->denials, "denied");

	for (size_t i = 0; i < tools->denials.count; i++) {
		uint32_t rule = tools->denials.items[order[i]].group;

		json_object_set_new(json_array_get(list, i), "rule",
				    view_json_text(tools->rules.items[rule].text));
	}
	return list;
}
