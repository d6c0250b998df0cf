/* Batches: the table of events, the state that they add up to, and what is decided by it. */
#include "unit.h"

#include "batch/batch_fold.h"
#include "batch/batch_race.h"
#include "batch/batch_report.h"
#include "batch/batch_schedule.h"
#include "batch/batch_sums.h"
#include "util/buffer.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum { USD = 1000, SCHEDULES = 2000 / UNIT_SLOWER, TASKS = 12, STEPS = 4000 };

static struct batch_state state;
static struct error err;

static int fold(const char *kind, const char *data)
{
	const struct journal_event event = { .seq = state.last_seq + 1,
					     .at_ms = 1000 * (state.last_seq + 1),
					     .kind = kind,
					     .data = data };

	return batch_fold(&state, &event, &err);
}

static bool folds(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool folds(const char *kind, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);

	AUTO_FREE char *data = mem_format_list(format, arguments);

	va_end(arguments);
	return fold(kind, data) == 0;
}

/* Begins a batch with these tasks: members of JSON objects after the id, prompt and template. */
static bool create(const char *members, const char *tasks)
{
	batch_state_release(&state);
	return folds("created",
		     "{\"config\":{\"project\":\"/p\",\"templates\":[{}],%s,\"tasks\":[%s]}}",
		     members, tasks);
}

#define TASK(id, more) "{\"id\":\"" id "\",\"prompt\":\"p\",\"title\":\"t\",\"template\":0" more "}"

/* ---- the table ---- */

static void test_table(void)
{
	bool listed = true;
	int legal = 0;

	for (int kind = 0; kind < BATCH_EVENT_COUNT; kind++)
		listed = listed &&
			 batch_event_find(batch_event_name((enum batch_event)kind)) == kind;
	CHECK("every event has a name of its own, and no other name is one",
	      listed && batch_event_find("ending") < 0);
	for (int step = 0; step < BATCH_STEP_COUNT; step++)
		for (int kind = 0; kind < BATCH_EVENT_COUNT; kind++)
			legal += batch_event_next((enum batch_step)step, (enum batch_event)kind) >=
				 0;
	CHECK("the table has nineteen legal cells", legal == 19);
	CHECK("what has landed stays so",
	      batch_event_next(BATCH_STEP_landed, BATCH_EVENT_begun) < 0 &&
		      batch_event_next(BATCH_STEP_landed, BATCH_EVENT_retried) < 0);
}

/* ---- the state ---- */

static void test_fold(void)
{
	struct batch_sums sums;

	CHECK("a batch begins with its tasks, of which some are done",
	      create("\"jobs\":3,\"rounds\":4,\"max_cost_nusd\":7",
		     TASK("a", ",\"done\":true") "," TASK("b", ",\"depends\":[\"a\"]")) &&
		      state.count == 2 && state.jobs == 3 && state.rounds == 4 &&
		      state.most_nusd == 7 && state.tasks[0].step == BATCH_STEP_landed &&
		      state.tasks[1].depends[0] == 0 && !state.tip);
	CHECK("a task begins, is verified and lands",
	      folds("begun", "{\"task\":\"b\",\"loop\":\"L1\",\"grant_nusd\":5}") &&
		      state.tasks[1].grant_nusd == 5 && state.tasks[1].rounds == 1 &&
		      folds("ended",
			    "{\"task\":\"b\",\"status\":\"completed\",\"spent_nusd\":2}") &&
		      state.tasks[1].step == BATCH_STEP_verified && !state.tasks[1].grant_nusd &&
		      folds("landed", "{\"task\":\"b\"}") && strcmp(state.tip, "L1") == 0);
	batch_sums_count(&state, &sums);
	CHECK("and its cost is counted",
	      sums.spent_nusd == 2 && sums.steps[BATCH_STEP_landed] == 2);
	CHECK("an illegal event is refused",
	      !folds("landed", "{\"task\":\"b\"}") && !folds("ended", "{\"task\":\"x\"}") &&
		      fold("nothing", "{}") < 0 && fold("landed", "{") < 0 &&
		      fold("created", "{}") < 0);
	CHECK("a batch without tasks, or with a malformed one, is refused",
	      !create("\"jobs\":1", "") && !create("\"jobs\":1", "{\"id\":\"a\"}") &&
		      !create("\"jobs\":1", TASK("a", ",\"depends\":[\"b\"]")) &&
		      !create("\"jobs\":1",
			      TASK("a", ",\"depends\":[\"b\"]") "," TASK("b",
									 ",\"depends\":[\"a\"]")));
	CHECK("tasks that depend on a failed one are cut off, and no others",
	      create("\"jobs\":1",
		     TASK("c", ",\"depends\":[\"b\"]") "," TASK(
			     "b", ",\"depends\":[\"a\"]") "," TASK("a", "") "," TASK("d", "")) &&
		      folds("begun", "{\"task\":\"a\",\"loop\":\"L\"}") &&
		      folds("ended", "{\"task\":\"a\",\"status\":\"limit\"}"));

	AUTO_FREE bool *cut_off = batch_sums_cut_off(&state);

	CHECK("also indirectly", cut_off[0] && cut_off[1] && !cut_off[2] && !cut_off[3]);
}

static void test_report(void)
{
	json_t *json;

	create("\"jobs\":1", TASK("a", ""));
	folds("begun", "{\"task\":\"a\",\"loop\":\"L\"}");
	json = batch_report_json("B", "running", &state);
	CHECK("a batch is reported with its tasks",
	      json && json_array_size(json_object_get(json, "tasks")) == 1 &&
		      json_integer_value(json_object_get(json, "open")) == 1);
	json_decref(json);
}

/* ---- decisions ---- */

static struct batch_action decide(const bool *deciding)
{
	static const bool none[TASKS];
	struct batch_action action;

	batch_schedule(&state, deciding ? deciding : none, &action);
	return action;
}

static bool decides(enum batch_action_kind kind, size_t task)
{
	struct batch_action action = decide(NULL);

	return action.kind == kind && action.task == task;
}

static void test_schedule(void)
{
	const bool second[TASKS] = { false, true };

	create("\"jobs\":2,\"rounds\":5",
	       TASK("a", ",\"priority\":2") "," TASK("b", ",\"priority\":1") "," TASK(
		       "c", ",\"depends\":[\"a\"]"));
	CHECK("the lowest number begins", decides(BATCH_ACTION_BEGIN, 1));
	folds("begun", "{\"task\":\"b\",\"loop\":\"B1\"}");
	CHECK("then the next one", decides(BATCH_ACTION_BEGIN, 0));
	folds("begun", "{\"task\":\"a\",\"loop\":\"A1\"}");
	CHECK("and no more than the jobs", decide(NULL).kind == BATCH_ACTION_WAIT);
	folds("ended", "{\"task\":\"a\",\"status\":\"completed\"}");
	CHECK("a result that began with the tip lands", decides(BATCH_ACTION_LAND, 0));
	CHECK("but not while a merge may still land", decide(second).kind == BATCH_ACTION_WAIT);
	folds("landed", "{\"task\":\"a\"}");
	folds("ended", "{\"task\":\"b\",\"status\":\"completed\"}");
	CHECK("another one is merged into it", decides(BATCH_ACTION_MERGE, 1));
	folds("begun", "{\"task\":\"b\",\"loop\":\"B2\",\"base\":\"A1\",\"merges\":\"B1\"}");
	CHECK("meanwhile, a task begins whose dependency has landed",
	      decides(BATCH_ACTION_BEGIN, 2));
	folds("ended", "{\"task\":\"b\",\"status\":\"completed\"}");
	CHECK("the merge lands", decides(BATCH_ACTION_LAND, 1));
	folds("asked", "{\"wish\":\"pause\"}");
	CHECK("nothing begins or lands when the batch is to pause, and it pauses",
	      decide(NULL).kind == BATCH_ACTION_PAUSE);
	folds("paused", "{\"reason\":\"by you\"}");
	folds("resumed", "{}");
	folds("landed", "{\"task\":\"b\"}");
	folds("begun", "{\"task\":\"c\",\"loop\":\"C1\",\"base\":\"B2\"}");
	folds("held", "{\"task\":\"c\",\"reason\":\"why\"}");
	CHECK("a batch whose last task waits for a person pauses",
	      decide(NULL).kind == BATCH_ACTION_PAUSE &&
		      strcmp(decide(NULL).reason, "1 task waits for you") == 0);
	folds("asked", "{\"wish\":\"abort\"}");
	CHECK("an abort waits for its loops", decide(NULL).kind == BATCH_ACTION_WAIT);
	folds("ended", "{\"task\":\"c\",\"status\":\"aborted\"}");
	CHECK("and then ends the batch", decide(NULL).kind == BATCH_ACTION_FINISH &&
						 strcmp(decide(NULL).status, "aborted") == 0);
}

static void test_waiting_results(void)
{
	CHECK("three tasks begin with the same result, and one lands",
	      create("\"jobs\":3,\"rounds\":2",
		     TASK("a", "") "," TASK("b", "") "," TASK("c", "")) &&
		      folds("begun", "{\"task\":\"a\",\"loop\":\"L1\"}") &&
		      folds("begun", "{\"task\":\"b\",\"loop\":\"L2\"}") &&
		      folds("begun", "{\"task\":\"c\",\"loop\":\"L3\"}") &&
		      folds("ended", "{\"task\":\"a\",\"status\":\"completed\"}") &&
		      folds("ended", "{\"task\":\"b\",\"status\":\"completed\"}") &&
		      folds("ended", "{\"task\":\"c\",\"status\":\"completed\"}") &&
		      folds("landed", "{\"task\":\"a\"}"));
	CHECK("the one that was verified first is merged", decides(BATCH_ACTION_MERGE, 1));
	CHECK("and lands before the next one is merged",
	      folds("begun",
		    "{\"task\":\"b\",\"loop\":\"L4\",\"base\":\"L1\",\"merges\":\"L2\"}") &&
		      folds("ended", "{\"task\":\"b\",\"status\":\"completed\"}") &&
		      decides(BATCH_ACTION_LAND, 1) && folds("landed", "{\"task\":\"b\"}") &&
		      decides(BATCH_ACTION_MERGE, 2));
}

static void test_files(void)
{
	create("\"jobs\":9",
	       TASK("a", ",\"files\":[\"src/a\"]") "," TASK("b", ",\"files\":[\"src\"]") "," TASK(
		       "c", ",\"files\":[\"srca\"]"));
	folds("begun", "{\"task\":\"a\",\"loop\":\"A1\"}");
	CHECK("tasks with the same files do not run at once", decides(BATCH_ACTION_BEGIN, 2));
}

static void test_money(void)
{
	create("\"jobs\":9,\"max_cost_nusd\":10",
	       TASK("a", ",\"limit_nusd\":6") "," TASK("b", ",\"limit_nusd\":6") "," TASK("c", ""));
	CHECK("a task gets its own limit", decide(NULL).grant_nusd == 6);
	folds("begun", "{\"task\":\"a\",\"loop\":\"A\",\"grant_nusd\":6}");
	CHECK("or what others leave, and is then cut", decide(NULL).grant_nusd == 4);
	folds("begun", "{\"task\":\"b\",\"loop\":\"B\",\"grant_nusd\":4}");
	CHECK("and that is known",
	      !batch_schedule_is_cut(&state.tasks[0]) && batch_schedule_is_cut(&state.tasks[1]));
	CHECK("without money nothing begins", decide(NULL).kind == BATCH_ACTION_WAIT);
	folds("ended", "{\"task\":\"a\",\"status\":\"limit\",\"spent_nusd\":1}");
	CHECK("what is not spent is there for others", decide(NULL).grant_nusd == 5);
	folds("changed", "{\"max_cost_nusd\":0}");
	CHECK("without a limit, a loop has none", decide(NULL).grant_nusd == 0);
	create("\"jobs\":2,\"rounds\":2", TASK("a", ",\"limit_nusd\":3") "," TASK("b", ""));
	folds("begun", "{\"task\":\"a\",\"loop\":\"A\",\"grant_nusd\":3}");
	folds("begun", "{\"task\":\"b\",\"loop\":\"B\"}");
	folds("ended", "{\"task\":\"b\",\"status\":\"completed\"}");
	folds("landed", "{\"task\":\"b\"}");
	folds("ended", "{\"task\":\"a\",\"status\":\"completed\",\"spent_nusd\":5}");
	CHECK("a task whose money is spent gets the least, which is not 'unlimited'",
	      decides(BATCH_ACTION_MERGE, 0) && decide(NULL).grant_nusd == 1);
	folds("begun",
	      "{\"task\":\"a\",\"loop\":\"A2\",\"base\":\"B\",\"merges\":\"A\",\"grant_nusd\":1}");
	folds("ended", "{\"task\":\"a\",\"status\":\"limit\",\"spent_nusd\":1}");
	folds("retried", "{\"task\":\"a\"}");
	CHECK("when it is tried again, it has its limit again",
	      decides(BATCH_ACTION_BEGIN, 0) && decide(NULL).grant_nusd == 3);
}

static void test_limits_that_change(void)
{
	create("\"jobs\":9", TASK("a", "") "," TASK("b", "") "," TASK("c", ""));
	folds("begun", "{\"task\":\"a\",\"loop\":\"A\"}");
	folds("begun", "{\"task\":\"b\",\"loop\":\"B\"}");
	CHECK("loops without a limit stay so", batch_schedule_regrant(&state, 0) == 0);
	folds("changed", "{\"max_cost_nusd\":10}");
	CHECK("when there is one, they share it",
	      batch_schedule_regrant(&state, 0) == 5 &&
		      folds("granted", "{\"task\":\"a\",\"grant_nusd\":5}") &&
		      batch_schedule_regrant(&state, 1) == 5 &&
		      folds("granted", "{\"task\":\"b\",\"grant_nusd\":5}") &&
		      decide(NULL).kind == BATCH_ACTION_WAIT);
	folds("changed", "{\"max_cost_nusd\":20}");
	CHECK("a higher limit leaves them what they have", batch_schedule_regrant(&state, 0) == 5);
	folds("changed", "{\"max_cost_nusd\":7}");
	CHECK("a lower one is kept by the first",
	      batch_schedule_regrant(&state, 0) == 2 &&
		      folds("granted", "{\"task\":\"a\",\"grant_nusd\":2}"));
	CHECK("and the others then fit", batch_schedule_regrant(&state, 1) == 5);
	folds("changed", "{\"max_cost_nusd\":3}");
	CHECK("and without money, the least is not 'unlimited'",
	      batch_schedule_regrant(&state, 0) == 1);
}

static void test_race(void)
{
	static const char candidates[] = TASK("a#1", ",\"race\":\"a\"") "," TASK(
		"a#2", ",\"race\":\"a\"") "," TASK("b", ",\"depends\":[\"a\"]");

	create("\"jobs\":3", candidates);
	folds("begun", "{\"task\":\"a#1\",\"loop\":\"A1\"}");
	CHECK("candidates run at once", decides(BATCH_ACTION_BEGIN, 1));
	folds("begun", "{\"task\":\"a#2\",\"loop\":\"A2\"}");
	folds("ended", "{\"task\":\"a#2\",\"status\":\"completed\"}");
	CHECK("the first that is verified wins and lands, and the other one has lost",
	      decides(BATCH_ACTION_LAND, 1) && batch_race_is_lost(&state, 0));
	folds("ended", "{\"task\":\"a#1\",\"status\":\"completed\"}");
	folds("landed", "{\"task\":\"a#2\"}");
	CHECK("even if it is completed later",
	      state.tasks[0].step == BATCH_STEP_lost && decides(BATCH_ACTION_BEGIN, 2));
	create("\"jobs\":1", candidates);
	folds("begun", "{\"task\":\"a#1\",\"loop\":\"A1\"}");
	folds("ended", "{\"task\":\"a#1\",\"status\":\"completed\"}");
	CHECK("one that has not begun never does", decides(BATCH_ACTION_LOSE, 1));
	create("\"jobs\":3,\"compare\":true", candidates);
	folds("begun", "{\"task\":\"a#1\",\"loop\":\"A1\"}");
	folds("begun", "{\"task\":\"a#2\",\"loop\":\"A2\"}");
	folds("ended", "{\"task\":\"a#1\",\"status\":\"completed\"}");
	CHECK("to compare, all may end",
	      decide(NULL).kind == BATCH_ACTION_WAIT && !batch_race_is_lost(&state, 1));
	folds("ended", "{\"task\":\"a#2\",\"status\":\"completed\"}");
	CHECK("and then a person picks one",
	      decide(NULL).kind == BATCH_ACTION_PAUSE &&
		      strstr(decide(NULL).reason, "1 task waits for your choice"));
	folds("picked", "{\"task\":\"a#2\"}");
	CHECK("which wins", decides(BATCH_ACTION_LOSE, 0));
	folds("lost", "{\"task\":\"a#1\"}");
	CHECK("and lands", decides(BATCH_ACTION_LAND, 1));
	create("\"jobs\":3", candidates);
	for (int i = 1; i <= 2; i++) {
		folds("begun", "{\"task\":\"a#%d\",\"loop\":\"A\"}", i);
		folds("ended", "{\"task\":\"a#%d\",\"status\":\"limit\"}", i);
	}
	CHECK("a task has failed when all candidates have",
	      decide(NULL).kind == BATCH_ACTION_FINISH &&
		      strcmp(decide(NULL).reason, "1 task failed, and 1 depends on it") == 0);
}

/* ---- random schedules ---- */

static unsigned int chance;

static unsigned int draw(unsigned int below)
{
	chance = chance * 1103515245U + 12345U;
	return (chance >> 16) % below;
}

static void create_random(void)
{
	AUTO_BUFFER struct buffer tasks = BUFFER_INIT(1 << 16);
	AUTO_FREE char *members = mem_format("\"jobs\":%u,\"rounds\":%u,\"max_cost_nusd\":%u",
					     1 + draw(4), 1 + draw(4), draw(3) ? 30 * USD : 0);

	for (unsigned int i = 0; i < TASKS; i++) {
		buffer_printf(&tasks,
			      "%s{\"id\":\"%u\",\"prompt\":\"p\",\"template\":0,\"limit_nusd\":%u,"
			      "\"depends\":[",
			      i ? "," : "", i, draw(2) ? 5 * USD : 0);
		for (unsigned int k = 0, count = i ? draw(3) : 0; k < count; k++)
			buffer_printf(&tasks, "%s\"%u\"", k ? "," : "", draw(i));
		buffer_add_text(&tasks, "]}");
	}
	create(members, buffer_text(&tasks));
}

/* Adds up what was spent and may be spent. */
static int64_t committed(void)
{
	int64_t sum = 0;

	for (size_t i = 0; i < state.count; i++)
		sum += state.tasks[i].spent_nusd + state.tasks[i].grant_nusd;
	return sum;
}

static bool begins_well(const struct batch_action *action)
{
	const struct batch_task *task = &state.tasks[action->task];

	for (size_t i = 0; i < task->depend_count; i++)
		if (state.tasks[task->depends[i]].step != BATCH_STEP_landed)
			return false;
	return !state.most_nusd || action->grant_nusd > 0;
}

/* Carries a decision out. Returns false if it breaks a promise. */
static bool carry_out(const struct batch_action *action, unsigned int number)
{
	const struct batch_task *task = &state.tasks[action->task];
	const char *tip = state.tip ? state.tip : "";

	switch (action->kind) {
	case BATCH_ACTION_BEGIN:
	case BATCH_ACTION_MERGE:
		return begins_well(action) &&
		       folds("begun",
			     "{\"task\":\"%s\",\"loop\":\"L%u\"%s%s%s,\"grant_nusd\":%lld}",
			     task->id, number, *tip ? ",\"base\":\"" : "", tip, *tip ? "\"" : "",
			     (long long)action->grant_nusd) &&
		       (!state.most_nusd || committed() <= state.most_nusd);
	case BATCH_ACTION_LAND:
		return strcmp(task->base ? task->base : "", tip) == 0 &&
		       folds("landed", "{\"task\":\"%s\"}", task->id);
	case BATCH_ACTION_REFUSE:
		return folds("refused", "{\"task\":\"%s\"}", task->id);
	case BATCH_ACTION_PAUSE:
		return folds("paused", "{}") && folds("changed", "{\"max_cost_nusd\":0}") &&
		       folds("resumed", "{}");
	default:
		return true;
	}
}

/* Something happens to a loop: it ends, pauses or goes on. */
static bool happen(void)
{
	static const char *const ends[] = { "completed", "completed", "completed", "limit" };
	struct batch_task *task = &state.tasks[draw(TASKS)];
	long long spent = task->grant_nusd ? draw((unsigned int)task->grant_nusd + 1) : draw(USD);

	if (task->step == BATCH_STEP_running && draw(4) == 0)
		return folds("held", "{\"task\":\"%s\"}", task->id);
	if (task->step == BATCH_STEP_running)
		return folds("ended", "{\"task\":\"%s\",\"status\":\"%s\",\"spent_nusd\":%lld}",
			     task->id, ends[draw(4)], spent);
	if (task->step == BATCH_STEP_held)
		return folds("unheld", "{\"task\":\"%s\"}", task->id);
	if (task->step == BATCH_STEP_failed && draw(8) == 0)
		return folds("retried", "{\"task\":\"%s\"}", task->id);
	return true;
}

static bool run_random(unsigned int seed)
{
	static const bool deciding[TASKS];

	chance = seed;
	create_random();
	for (unsigned int i = 0; i < STEPS; i++) {
		struct batch_action action;

		batch_schedule(&state, deciding, &action);
		if (action.kind == BATCH_ACTION_FINISH)
			return true;
		if (!carry_out(&action, i) || !happen())
			return false;
	}
	return false;
}

static void test_random(void)
{
	unsigned int seed = 1;

	while (seed <= SCHEDULES && run_random(seed))
		seed++;
	if (seed <= SCHEDULES)
		printf("# seed %u: %s\n", seed, err.text);
	CHECK("random batches end, within their money, and every tip is made of the one before",
	      seed > SCHEDULES);
}

int main(void)
{
	batch_state_init(&state);
	test_table();
	test_fold();
	test_report();
	test_schedule();
	test_waiting_results();
	test_files();
	test_money();
	test_limits_that_change();
	test_race();
	test_random();
	batch_state_release(&state);
	return unit_failures != 0;
}
