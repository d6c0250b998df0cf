/* The iterations of a loop: see view_iterations.h. */
#include "view/view_iterations.h"

#include "gateway/owner/ledger_sums.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>

/* The iterations while the journal is read. */
struct reading {
	struct view_iterations *into;
	const struct loop_state *state;
	struct view_iteration *open; /* has begun but not ended, or NULL */
	size_t next;                 /* for the ledger: the entry of the last line */
};

static void release_item(struct view_iteration *item)
{
	free(item->reason);
	free(item->ended);
	free(item->checks);
	free(item->uses);
}

void view_iterations_release(struct view_iterations *iterations)
{
	for (size_t i = 0; i < iterations->count; i++)
		release_item(&iterations->items[i]);
	free(iterations->items);
	list_release(&iterations->models);
	free(iterations->totals);
	free(iterations->trouble);
	*iterations = (struct view_iterations){ 0 };
}

/* Drops the older half when there are too many. */
static void make_room(struct view_iterations *into)
{
	size_t drop = into->count / 2;

	if (into->count < VIEW_ITERATIONS_MOST)
		return;
	for (size_t i = 0; i < drop; i++)
		release_item(&into->items[i]);
	into->count -= drop;
	into->dropped += drop;
	memmove(into->items, into->items + drop, into->count * sizeof *into->items);
}

static struct view_iteration *add_item(struct view_iterations *into, int64_t at_ms)
{
	struct view_iteration *item;

	make_room(into);
	into->items = mem_extend(into->items, into->count, sizeof *into->items);
	item = &into->items[into->count++];
	*item = (struct view_iteration){
		.action = "running",
		.began_ms = at_ms,
		.checks_passing = -1,
		.tests_passing = -1,
		.tests_failing = -1,
		.files_changed = -1,
		.tool_calls = -1,
		.tool_errors = -1,
		.findings = -1,
		.cost_nusd = -1,
	};
	return item;
}

static char *copy_text(const char *text)
{
	size_t size = text ? strlen(text) : 0;

	if (!size)
		return NULL;
	return mem_format("%.*s", (int)text_first(text, size, VIEW_ITERATIONS_TEXT), text);
}

/* Reads a number that may be unknown. */
static int64_t number_of(const json_t *data, const char *key)
{
	const json_t *value = json_object_get(data, key);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

/* Returns the name of a phase in the options, because texts of the journal are not kept. */
static const char *phase_of(const struct loop_state *state, const char *name)
{
	const struct loop_options *options = &state->options;

	for (uint32_t i = 0; name && i < options->phase_count; i++)
		if (strcmp(options->phases[i].name, name) == 0)
			return options->phases[i].name;
	return NULL;
}

static void begin(struct reading *reading, const json_t *data, int64_t at_ms, bool recheck)
{
	struct view_iteration *item = add_item(reading->into, at_ms);

	item->iteration = (uint32_t)jsonget_number(data, "iteration");
	item->attempt = (uint32_t)jsonget_number(data, "attempt");
	item->part = jsonget_index(data, "part", DECISION_AGENTS_MAX);
	item->phase = phase_of(reading->state, jsonget_string(data, "phase"));
	item->rechecked = recheck;
	reading->open = item;
}

/* Says how an agent ended, unless it ended well. The caller frees. */
static char *ended_text(const json_t *data)
{
	if (jsonget_flag(data, "over_budget"))
		return mem_dup("budget");
	if (jsonget_flag(data, "timed_out"))
		return mem_dup("timeout");
	if (jsonget_flag(data, "idle"))
		return mem_dup("silent");
	if (jsonget_string(data, "limit"))
		return copy_text(jsonget_string(data, "limit"));
	if (jsonget_number(data, "signal"))
		return mem_format("signal %d", (int)jsonget_number(data, "signal"));
	return jsonget_number(data, "code")
		       ? mem_format("exit %d", (int)jsonget_number(data, "code"))
		       : NULL;
}

/* Adds what an agent or a reviewer reports that it cost; the ledger is preferred later. */
static void add_cost(struct view_iteration *item, const json_t *data)
{
	int64_t cost_nusd = number_of(data, "cost_nusd");

	if (cost_nusd >= 0)
		item->cost_nusd = cost_nusd + (item->cost_nusd > 0 ? item->cost_nusd : 0);
	item->estimated_nusd += jsonget_number(data, "estimated_nusd");
}

/* Adds the tokens that an agent reports, which the gateway's count replaces later. */
static void add_tokens(struct view_iteration *item, const json_t *data)
{
	static const char *const keys[PRICE_KINDS] = {
		[PRICE_INPUT] = "input",
		[PRICE_OUTPUT] = "output",
		[PRICE_WRITE_5M] = "cache_write_5m",
		[PRICE_WRITE_1H] = "cache_write_1h",
		[PRICE_READ] = "cache_read",
	};
	const json_t *tokens = json_object_get(data, "tokens");

	for (int i = 0; i < PRICE_KINDS; i++)
		if (jsonget_number(tokens, keys[i]) > 0)
			item->tokens[i] += (uint64_t)jsonget_number(tokens, keys[i]);
}

static void end_agent(struct view_iteration *item, const json_t *data)
{
	add_cost(item, data);
	add_tokens(item, data);
	item->agent_ms += jsonget_number(data, "duration_ms");
	item->tool_calls = number_of(data, "tool_calls");
	item->tool_errors = number_of(data, "tool_errors");
	item->denials += jsonget_number(data, "denials");
	item->quarantined += jsonget_number(data, "quarantined");
	free(item->ended);
	item->ended = ended_text(data);
}

static struct view_check *find_check(struct view_iteration *item, enum view_check_kind kind,
				     uint32_t index)
{
	for (size_t i = 0; i < item->check_count; i++)
		if (item->checks[i].kind == kind && item->checks[i].index == index)
			return &item->checks[i];
	item->checks = mem_extend(item->checks, item->check_count, sizeof *item->checks);
	return &item->checks[item->check_count++];
}

/* Adds a check; if it has run before in this attempt, the new result replaces the old one. */
static void add_check(struct view_iteration *item, enum view_check_kind kind, const json_t *data)
{
	uint32_t index = (uint32_t)jsonget_number(data, "index");
	bool counted = jsonget_flag(data, "counted");

	item->checks_ms += jsonget_number(data, "duration_ms");
	item->quarantined += jsonget_number(data, "quarantined");
	*find_check(item, kind, index) = (struct view_check){
		.kind = kind,
		.index = index,
		.passed = jsonget_flag(data, "passed") && !jsonget_flag(data, "vacuous"),
		.code = (int)jsonget_number(data, "code"),
		.tests_passed = counted ? number_of(data, "tests_passed") : -1,
		.tests_failed = counted ? number_of(data, "tests_failed") : -1,
		.duration_ms = jsonget_number(data, "duration_ms"),
	};
}

static int64_t plus(int64_t sum, int64_t more)
{
	return more < 0 ? sum : more + (sum > 0 ? sum : 0);
}

static void sum_checks(struct view_iteration *item)
{
	item->checks_passing = item->check_count ? 0 : -1;
	item->tests_passing = item->tests_failing = -1;
	for (size_t i = 0; i < item->check_count; i++) {
		const struct view_check *check = &item->checks[i];

		item->checks_passing += check->passed;
		item->tests_passing = plus(item->tests_passing, check->tests_passed);
		item->tests_failing = plus(item->tests_failing, check->tests_failed);
	}
}

/* Returns the word of a decision as a constant. */
static const char *action_word(const char *action)
{
	for (int i = 0; i < DECISION_ACTIONS && action; i++)
		if (strcmp(decision_action_name((enum decision_action)i), action) == 0)
			return decision_action_name((enum decision_action)i);
	return "ended";
}

static void end(struct reading *reading, const json_t *data, const char *action, int64_t at_ms)
{
	struct view_iteration *item = reading->open;
	const json_t *snapshot = json_object_get(data, "snapshot");

	item->action = action;
	item->ended_ms = at_ms;
	item->reason = copy_text(jsonget_string(data, "reason"));
	item->progressed = jsonget_flag(data, "progressed");
	item->counts = jsonget_flag(data, "counts");
	failure_find(jsonget_text(data, "failure"), &item->failure);
	item->files_changed = number_of(snapshot, "files_changed");
	reading->open = NULL;
}

/* The checks before the first iteration. */
static void add_baseline(struct reading *reading, int kind, const json_t *data, int64_t at_ms)
{
	struct view_iterations *into = reading->into;

	if (kind == LOOP_EVENT_checked && into->count == 0)
		add_item(into, at_ms);
	if (into->count != 1 || into->items[0].iteration != 0)
		return;
	if (kind == LOOP_EVENT_checked)
		add_check(&into->items[0], VIEW_CHECK_OWN, data);
	if (kind != LOOP_EVENT_baselined)
		return;
	into->items[0].action = "baseline";
	into->items[0].ended_ms = at_ms;
}

static void add_to_open(struct reading *reading, int kind, const json_t *data, int64_t at_ms)
{
	struct view_iteration *item = reading->open;

	switch (kind) {
	case LOOP_EVENT_ended:
		end_agent(item, data);
		break;
	case LOOP_EVENT_checked:
		add_check(item, VIEW_CHECK_OWN, data);
		break;
	case LOOP_EVENT_held_out:
		add_check(item, VIEW_CHECK_FINAL, data);
		break;
	case LOOP_EVENT_probed:
		add_check(item, VIEW_CHECK_PHASE, data);
		break;
	case LOOP_EVENT_examined:
		item->findings = number_of(data, "count");
		break;
	case LOOP_EVENT_reviewed:
		add_cost(item, data);
		add_tokens(item, data);
		item->agent_ms += jsonget_number(data, "duration_ms");
		break;
	case LOOP_EVENT_interrupted:
		add_cost(item, data);
		end(reading, data, "interrupted", at_ms);
		break;
	case LOOP_EVENT_continued:
	case LOOP_EVENT_waits:
	case LOOP_EVENT_paused:
	case LOOP_EVENT_closing:
	case LOOP_EVENT_finished:
		end(reading, data, action_word(jsonget_string(data, "action")), at_ms);
		break;
	default:
		break;
	}
}

static int add_event(void *context, const struct journal_event *event, struct error *err)
{
	struct reading *reading = context;
	int kind = loop_event_find(event->kind);
	json_t *data;

	(void)err;
	if (kind == LOOP_EVENT_created || kind == LOOP_EVENT_checkpointed)
		return 0; /* large, and not shown */
	data = json_loads(event->data, 0, NULL);
	if (kind == LOOP_EVENT_begun || kind == LOOP_EVENT_rechecks)
		begin(reading, data, event->at_ms, kind == LOOP_EVENT_rechecks);
	else if (reading->open)
		add_to_open(reading, kind, data, event->at_ms);
	else
		add_baseline(reading, kind, data, event->at_ms);
	json_decref(data);
	return 0;
}

/* Returns the index of a model's name. */
static uint32_t find_model(struct view_iterations *into, const struct ledger_sums_item *line)
{
	const char *name = line->lost ? "(lost in a crash)" : *line->model ? line->model : "?";

	for (size_t i = 0; i < into->models.count; i++)
		if (strcmp(into->models.items[i], name) == 0)
			return (uint32_t)i;
	if (into->models.count == VIEW_ITERATIONS_MODELS)
		return VIEW_ITERATIONS_MODELS - 1;
	into->totals = mem_extend(into->totals, into->models.count, sizeof *into->totals);
	into->totals[into->models.count] =
		(struct view_use){ .model = (uint32_t)into->models.count };
	list_add(&into->models,
		 into->models.count == VIEW_ITERATIONS_MODELS - 1 ? "other models" : name);
	return (uint32_t)into->models.count - 1;
}

static void add_use(struct view_use *use, const struct ledger_sums_item *line)
{
	use->requests += line->requests;
	use->cost_nusd += (int64_t)line->cost_nusd;
	use->estimated_nusd += (int64_t)line->estimated_nusd;
	for (int i = 0; i < PRICE_KINDS; i++)
		use->tokens[i] += line->tokens[i];
}

/* Finds the attempt in which a request was made. Lines are almost in order. */
static struct view_iteration *find_attempt(struct reading *reading,
					   const struct ledger_sums_item *line)
{
	struct view_iterations *into = reading->into;
	size_t at = reading->next;
	struct view_iteration *found = NULL;

	if (line->first_iteration == 0)
		return NULL;
	while (at > 0 && at < into->count && into->items[at].iteration >= line->first_iteration)
		at--;
	for (; at < into->count && into->items[at].iteration <= line->first_iteration; at++) {
		struct view_iteration *item = &into->items[at];

		if (item->iteration != line->first_iteration ||
		    (found && item->began_ms > (int64_t)line->first_ms))
			continue;
		found = item;
		reading->next = at;
	}
	return found;
}

static struct view_use *use_of(struct view_iteration *item, uint32_t model)
{
	for (size_t i = 0; i < item->use_count; i++)
		if (item->uses[i].model == model)
			return &item->uses[i];
	item->uses = mem_extend(item->uses, item->use_count, sizeof *item->uses);
	item->uses[item->use_count] = (struct view_use){ .model = model };
	return &item->uses[item->use_count++];
}

static void add_line(void *context, const struct ledger_sums_item *line)
{
	struct reading *reading = context;
	struct view_iterations *into = reading->into;
	uint32_t model = find_model(into, line);
	struct view_iteration *item = find_attempt(reading, line);

	into->replay |= line->replay;
	into->metered = true;
	add_use(&into->totals[model], line);
	add_use(&into->total, line);
	if (item)
		add_use(use_of(item, model), line);
}

/* The gateway's own count replaces what agents report. */
static void sum_uses(struct view_iteration *item)
{
	if (!item->use_count)
		return;
	item->requests = 0;
	item->cost_nusd = item->estimated_nusd = 0;
	memset(item->tokens, 0, sizeof item->tokens);
	for (size_t i = 0; i < item->use_count; i++) {
		item->requests += item->uses[i].requests;
		item->cost_nusd += item->uses[i].cost_nusd;
		item->estimated_nusd += item->uses[i].estimated_nusd;
		for (int kind = 0; kind < PRICE_KINDS; kind++)
			item->tokens[kind] += item->uses[i].tokens[kind];
	}
}

/* Sums up what agents report, if there is no ledger. */
static void sum_reports(struct view_iterations *into)
{
	for (size_t i = 0; i < into->count; i++) {
		const struct view_iteration *item = &into->items[i];

		into->total.cost_nusd += item->cost_nusd > 0 ? item->cost_nusd : 0;
		into->total.estimated_nusd += item->estimated_nusd;
		for (int kind = 0; kind < PRICE_KINDS; kind++)
			into->total.tokens[kind] += item->tokens[kind];
	}
}

static void read_ledger(const struct client_loop *loop, struct reading *reading)
{
	struct view_iterations *into = reading->into;
	uint64_t found_nusd;
	struct error err;

	if (ledger_sums_read(loop->folder, add_line, reading, &found_nusd, &err) < 0)
		into->trouble = mem_dup(err.text);
	for (size_t i = 0; i < into->count; i++) {
		sum_uses(&into->items[i]);
		sum_checks(&into->items[i]);
	}
	if (!into->metered)
		sum_reports(into);
}

int view_iterations_read(const struct client_loop *loop, struct view_iterations *ret_iterations,
			 struct error *err)
{
	struct view_iterations into = { 0 };
	struct reading reading = { .into = &into, .state = &loop->state };

	if (client_events(loop, 0, add_event, &reading, err) < 0) {
		view_iterations_release(&into);
		return -1;
	}
	read_ledger(loop, &reading);
	*ret_iterations = into;
	return 0;
}

int64_t view_iterations_lasted_ms(const struct view_iteration *item, int64_t now_ms)
{
	int64_t lasted_ms = (item->ended_ms ? item->ended_ms : now_ms) - item->began_ms;

	return lasted_ms > 0 ? lasted_ms : 0;
}
