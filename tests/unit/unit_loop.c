/*
 * The parts of ringfence run: the table of steps, the fold of events, the journal, the sink, the
 * survey, the prompt and the stored fence spec.
 */
#include "fence/fence_spec.h"
#include "journal/journal.h"
#include "loop/run/prompt.h"
#include "loop/run/review_prompt.h"
#include "loop/run/sink.h"
#include "loop/run/survey.h"
#include "loop/state/loop_event.h"
#include "loop/state/loop_index.h"
#include "loop/state/loop_report.h"
#include "loop/state/loop_state.h"
#include "loop/state/models_json.h"
#include "loop/state/spec_json.h"
#include "loop/supervise/control.h"
#include "loop/supervise/supervisor.h"
#include "unit.h"
#include "unit_script.h"
#include "util/file/disk_usage.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[UNIT_PATH];

/* The table again, by hand: the legal events in a step, and where they lead. */
static const struct {
	const char *step, *event, *next;
} cells[] = {
	{ "new", "created", "baseline" },
	{ "baseline", "started", "baseline" },
	{ "baseline", "asked", "baseline" },
	{ "baseline", "changed", "baseline" },
	{ "baseline", "checked", "baseline" },
	{ "baseline", "baselined", "ready" },
	{ "baseline", "finished", "finished" },
	{ "baseline", "closing", "closing" },
	{ "ready", "started", "ready" },
	{ "ready", "asked", "ready" },
	{ "ready", "changed", "ready" },
	{ "ready", "begun", "agent" },
	{ "ready", "rechecks", "checks" },
	{ "ready", "waits", "waiting" },
	{ "ready", "paused", "paused" },
	{ "ready", "finished", "finished" },
	{ "ready", "closing", "closing" },
	{ "agent", "started", "agent" },
	{ "agent", "asked", "agent" },
	{ "agent", "changed", "agent" },
	{ "agent", "ended", "checks" },
	{ "agent", "interrupted", "ready" },
	{ "agent", "finished", "finished" },
	{ "agent", "closing", "closing" },
	{ "checks", "started", "checks" },
	{ "checks", "asked", "checks" },
	{ "checks", "changed", "checks" },
	{ "checks", "checked", "checks" },
	{ "checks", "continued", "ready" },
	{ "baseline", "proved", "baseline" },
	{ "checks", "mutating", "mutants" },
	{ "mutants", "started", "mutants" },
	{ "mutants", "asked", "mutants" },
	{ "mutants", "changed", "mutants" },
	{ "mutants", "checkpointed", "mutants" },
	{ "mutants", "restoring", "mutants" },
	{ "mutants", "restored", "mutants" },
	{ "mutants", "retried", "mutants" },
	{ "mutants", "git", "mutants" },
	{ "mutants", "imported", "mutants" },
	{ "mutants", "mutant", "mutants" },
	{ "mutants", "mutated", "checks" },
	{ "mutants", "paused", "paused" },
	{ "mutants", "finished", "finished" },
	{ "mutants", "closing", "closing" },
	{ "checks", "reviewing", "review" },
	{ "review", "started", "review" },
	{ "review", "asked", "review" },
	{ "review", "changed", "review" },
	{ "review", "reviewed", "checks" },
	{ "review", "finished", "finished" },
	{ "review", "closing", "closing" },
	{ "checks", "waits", "waiting" },
	{ "checks", "paused", "paused" },
	{ "checks", "interrupted", "ready" },
	{ "checks", "finished", "finished" },
	{ "checks", "closing", "closing" },
	{ "waiting", "started", "waiting" },
	{ "waiting", "asked", "waiting" },
	{ "waiting", "changed", "waiting" },
	{ "waiting", "waited", "ready" },
	{ "waiting", "paused", "paused" },
	{ "waiting", "finished", "finished" },
	{ "waiting", "closing", "closing" },
	{ "paused", "started", "paused" },
	{ "paused", "asked", "paused" },
	{ "paused", "changed", "paused" },
	{ "paused", "resumed", "ready" },
	{ "paused", "finished", "finished" },
	{ "paused", "closing", "closing" },
	{ "closing", "started", "closing" },
	{ "closing", "asked", "closing" },
	{ "closing", "changed", "closing" },
	{ "closing", "checkpointed", "closing" },
	{ "closing", "git", "closing" },
	{ "closing", "imported", "closing" },
	{ "closing", "restoring", "closing" },
	{ "closing", "restored", "closing" },
	{ "closing", "finished", "finished" },
	{ "finished", "asked", "finished" },
	{ "finished", "closing", "closing" },
	{ "finished", "changed", "finished" },
	{ "finished", "resumed", "ready" },
	{ "baseline", "checkpointed", "baseline" },
	{ "baseline", "restoring", "baseline" },
	{ "baseline", "restored", "baseline" },
	{ "ready", "checkpointed", "ready" },
	{ "ready", "restoring", "ready" },
	{ "ready", "restored", "ready" },
	{ "agent", "checkpointed", "agent" },
	{ "agent", "restoring", "agent" },
	{ "agent", "restored", "agent" },
	{ "checks", "checkpointed", "checks" },
	{ "checks", "restoring", "checks" },
	{ "checks", "restored", "checks" },
	{ "waiting", "checkpointed", "waiting" },
	{ "waiting", "restoring", "waiting" },
	{ "waiting", "restored", "waiting" },
	{ "paused", "checkpointed", "paused" },
	{ "paused", "restoring", "paused" },
	{ "paused", "restored", "paused" },
	{ "finished", "checkpointed", "finished" },
	{ "finished", "restoring", "finished" },
	{ "finished", "restored", "finished" },
	{ "baseline", "retried", "baseline" },
	{ "ready", "retried", "ready" },
	{ "agent", "retried", "agent" },
	{ "checks", "retried", "checks" },
	{ "waiting", "retried", "waiting" },
	{ "paused", "retried", "paused" },
	{ "closing", "retried", "closing" },
	{ "baseline", "git", "baseline" },
	{ "ready", "git", "ready" },
	{ "agent", "git", "agent" },
	{ "checks", "git", "checks" },
	{ "baseline", "held_out", "baseline" },
	{ "checks", "held_out", "checks" },
	{ "checks", "probed", "checks" },
	{ "baseline", "examined", "baseline" },
	{ "checks", "examined", "checks" },
	{ "agent", "imported", "agent" },
	{ "checks", "imported", "checks" },
	{ "review", "checkpointed", "review" },
	{ "review", "restoring", "review" },
	{ "review", "restored", "review" },
	{ "review", "retried", "review" },
	{ "review", "git", "review" },
	{ "baseline", "told", "baseline" },
	{ "ready", "told", "ready" },
	{ "agent", "told", "agent" },
	{ "checks", "told", "checks" },
	{ "mutants", "told", "mutants" },
	{ "review", "told", "review" },
	{ "waiting", "told", "waiting" },
	{ "paused", "told", "paused" },
	{ "finished", "told", "finished" },
	{ "baseline", "alerted", "baseline" },
	{ "ready", "alerted", "ready" },
	{ "agent", "alerted", "agent" },
	{ "checks", "alerted", "checks" },
	{ "mutants", "alerted", "mutants" },
	{ "review", "alerted", "review" },
	{ "waiting", "alerted", "waiting" },
	{ "paused", "alerted", "paused" },
	{ "closing", "alerted", "closing" },
};

static int wanted_next(int step, int event)
{
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
		if (strcmp(cells[i].step, loop_event_step_name((enum loop_step)step)) != 0 ||
		    strcmp(cells[i].event, loop_event_name((enum loop_event)event)) != 0)
			continue;
		for (int next = 0; next < LOOP_STEP_COUNT; next++)
			if (strcmp(cells[i].next, loop_event_step_name((enum loop_step)next)) == 0)
				return next;
	}
	return -1;
}

static void table(void)
{
	size_t allowed = 0;
	bool same = true;

	for (int step = 0; step < LOOP_STEP_COUNT; step++) {
		for (int event = 0; event < LOOP_EVENT_COUNT; event++) {
			int next = loop_event_next((enum loop_step)step, (enum loop_event)event);

			allowed += next >= 0;
			same = same && next == wanted_next(step, event);
		}
	}
	CHECK("every cell of the table leads where it should", same);
	CHECK("nothing else can happen", allowed == sizeof cells / sizeof *cells);
	CHECK("events are found by their names, and only those",
	      loop_event_find("begun") == LOOP_EVENT_begun && loop_event_find("began") == -1);
}

static const char config[] =
	"{\"config\": {\"project\": \"/p\", \"objective\": \"make it\", \"agent_command\": \"agent\","
	" \"checks\": [\"make test\"], \"promise\": \"DONE\", \"max_iterations\": 4, \"max_errors\": 2,"
	" \"fence\": {}}}";

static struct script begin(void)
{
	struct script script = { 0 };

	loop_state_init(&script.state);
	happens(&script, "created", config);
	happens(&script, "started", "{\"pid\": 77}");
	happens(&script, "checked", "{\"index\": 0, \"code\": 1, \"excerpt\": \"> broken\\n\"}");
	happens(&script, "baselined", "{}");
	return script;
}

static void iterate(struct script *script, const char *verdict, const char *data)
{
	happens(script, "begun", "{\"iteration\": 1, \"attempt\": 1}");
	happens(script, "ended", "{\"code\": 0, \"final\": \"fine\"}");
	happens(script, "checked",
		"{\"index\": 0, \"code\": 0, \"passed\": true, \"mechanism\": \"bwrap\"}");
	happens(script, verdict, data);
}

static void folding(void)
{
	struct script script = begin();
	struct loop_state *state = &script.state;

	CHECK("a loop whose configuration does not say otherwise has the usual thresholds",
	      state->options.limits.early_stop == 950 &&
		      state->options.limits.early_stop_after == 2 &&
		      !state->options.limits.results_only);
	happens(&script, "changed",
		"{\"early_stop\": 800, \"early_stop_after\": 4, \"progress\": 0,"
		" \"max_unreachable\": 9}");
	CHECK("which can be changed", state->options.limits.early_stop == 800 &&
					      state->options.limits.early_stop_after == 4 &&
					      state->options.limits.unreachable == 9 &&
					      state->options.limits.results_only);
	CHECK("a loop starts as configured",
	      !script.refused && state->step == LOOP_STEP_ready &&
		      state->options.limits.iterations == 4 && state->breakers[0].open_at == 2 &&
		      state->supervisor == 77 &&
		      strcmp(loop_state_status(state, true), "running") == 0);
	CHECK("without a supervisor it is interrupted",
	      strcmp(loop_state_status(state, false), "interrupted") == 0);
	iterate(&script, "continued", "{\"used\": 1, \"reason\": \"r\", \"reflection\": \"hard\"}");
	CHECK("a decision counts the iteration and keeps the reflection",
	      !script.refused && state->used == 1 && strcmp(state->past[0].message, "hard") == 0 &&
		      strcmp(state->mechanism, "bwrap") == 0);
	happens(&script, "asked", "{\"wish\": \"pause\"}");
	happens(&script, "begun", "{\"iteration\": 2, \"attempt\": 1}");
	happens(&script, "interrupted", "{}");
	CHECK("an interruption counts nothing, and forgets no wish",
	      state->used == 1 && state->step == LOOP_STEP_ready && state->wish == LOOP_WISH_PAUSE);
	happens(&script, "asked", "{\"wish\": \"abort\"}");
	happens(&script, "paused", "{\"reason\": \"cost\"}");
	CHECK("a pause does not undo an abort", state->wish == LOOP_WISH_ABORT);
	script.seq += 100;
	happens(&script, "resumed", "{}");
	CHECK("a pause does not count as time of the loop", state->rested_ms == 101000);
	happens(&script, "changed", "{\"max_iterations\": 9}");
	CHECK("limits can be changed", state->options.limits.iterations == 9);
	happens(&script, "changed", "{\"down_ms\": 3600000}");
	CHECK("an hour of sleep does not count as time of the loop",
	      state->rested_ms == 3701000 && state->options.limits.iterations == 9);
	happens(&script, "changed", "{\"down_ms\": -3600000}");
	CHECK("a clock that is set back adds no time", state->rested_ms == 101000);
	happens(&script, "finished",
		"{\"status\": \"aborted\", \"reason\": \"by you\", \"uncommitted\": \"a link\"}");
	CHECK("the end has a status",
	      !script.refused && strcmp(loop_state_status(state, false), "aborted") == 0);
	CHECK("and the reason why not everything was committed",
	      strcmp(state->uncommitted, "a link") == 0);
	happens(&script, "resumed", "{}");
	CHECK("which is cleared when the loop resumes", !script.refused && !state->uncommitted);
	happens(&script, "finished", "{\"status\": \"aborted\", \"reason\": \"by you\"}");
	happens(&script, "begun", "{}");
	CHECK("an illegal event is refused, with its number",
	      script.refused && strstr(script.err.text, "is not legal in the step"));
	loop_state_release(state);
}

/* A loop with its own work tree ends in two steps; older versions needed one. */
/* A snapshot that is written and read back; only the latest are kept. */
static void snapshots(void)
{
	struct script script = begin();
	struct loop_state *state = &script.state;
	struct progress_snapshot given = {
		.files_changed = 1, .boxes_ticked = 2, .checks_passing = 3, .tests_passing = 4
	};

	for (int i = 0; i < PROGRESS_TREE_SIZE; i++)
		given.tree[i] = (unsigned char)(7 * i + 200);

	for (uint32_t i = 1; i <= LOOP_EARLIER + 2; i++) {
		given.files_changed = i;

		json_t *data = json_pack("{s:i, s:s, s:o}", "used", 1, "reason", "r", "snapshot",
					 loop_state_snapshot_json(&given));
		AUTO_FREE char *text = json_dumps(data, 0);

		json_decref(data);
		iterate(&script, "continued", text);
	}
	CHECK("a snapshot is read as it was written",
	      !script.refused &&
		      memcmp(state->earlier[0].tree, given.tree, PROGRESS_TREE_SIZE) == 0 &&
		      state->earlier[0].files_changed == LOOP_EARLIER + 2 &&
		      state->earlier[0].boxes_ticked == 2 &&
		      state->earlier[0].checks_passing == 3 &&
		      state->earlier[0].tests_passing == 4);
	CHECK("the latest snapshots are kept, the latest first",
	      state->earlier_count == LOOP_EARLIER &&
		      state->earlier[1].files_changed == LOOP_EARLIER + 1 &&
		      state->earlier[LOOP_EARLIER - 1].files_changed == 3);
	iterate(&script, "continued",
		"{\"used\": 1, \"reason\": \"r\", \"snapshot\": {\"tree\": \"00\"}}");
	CHECK("a snapshot without a whole tree is left out",
	      state->earlier[0].files_changed == LOOP_EARLIER + 2);
	loop_state_release(state);
}

/* Mutants are counted one by one; other work has others. */
static void mutants(void)
{
	struct script script = { 0 };
	struct loop_state *state = &script.state;
	const struct loop_state_mutants *found = &state->mutants;

	loop_state_init(state);
	happens(&script, "created",
		"{\"config\": {\"project\": \"/p\", \"objective\": \"make it\","
		" \"agent_command\": \"agent\", \"checks\": [\"make test\"], \"fence\": {},"
		" \"prove_check\": true, \"mutate\": 3}}");
	happens(&script, "checked", "{\"index\": 0, \"passed\": true, \"duration_ms\": 7}");
	happens(&script, "proved", "{\"index\": 0, \"noticed\": false}");
	CHECK("a check that cannot fail is counted",
	      state->options.prove_check && state->proofs_done == 1 && state->cannot_fail == 1);
	happens(&script, "baselined", "{}");
	happens(&script, "begun", "{\"iteration\": 1, \"attempt\": 1}");
	happens(&script, "ended", "{\"code\": 0}");
	happens(&script, "checked", "{\"index\": 0, \"passed\": true, \"duration_ms\": 7}");
	happens(&script, "mutating", "{\"most\": 3}");
	happens(&script, "mutant", "{\"result\": \"noticed\"}");
	happens(&script, "mutant", "{\"result\": \"invalid\"}");
	happens(&script, "mutant",
		"{\"result\": \"survived\", \"finding\": {\"kind\": \"untested\","
		" \"action\": \"review\", \"path\": \"a\", \"evidence\": \"x\"}}");
	CHECK("each mutant is counted", found->done == 3 && found->noticed == 1 &&
						found->invalid == 1 && found->survived == 1 &&
						json_array_size(found->untested) == 1 &&
						!found->tried);
	happens(&script, "mutated", "{\"why\": \"time\"}");
	CHECK("then the checks stand as they did",
	      found->tried && strcmp(found->why, "time") == 0 && state->step == LOOP_STEP_checks &&
		      state->checks_done == 1 && state->checks[0].duration_ms == 7);
	happens(&script, "paused", "{}");
	happens(&script, "changed", "{\"accept_findings\": true}");
	CHECK("untested lines can be accepted", json_array_size(state->accepted) == 1);
	happens(&script, "resumed", "{}");
	happens(&script, "begun", "{\"iteration\": 2, \"attempt\": 1}");
	CHECK("the next agent is told about them", json_array_size(found->untested) == 1);
	happens(&script, "ended", "{\"code\": 0}");
	CHECK("its work has other mutants",
	      !found->tried && !found->done && !found->untested && !script.refused);
	loop_state_release(state);
}

static const char reviewed[] =
	"{\"config\": {\"project\": \"/p\", \"objective\": \"make it\", \"agent_command\": \"agent\","
	" \"checks\": [\"make test\"], \"fence\": {}, \"budget_nusd\": 5, \"review_nusd\": 7,"
	" \"review\": {\"agent\": \"codex\", \"agent_command\": \"reviewer\"}}}";

/* A review has its own cost and its own period, and is repeated alone. */
static void reviews(void)
{
	struct script script = { 0 };
	struct loop_state *state = &script.state;
	uint64_t agent;
	uint64_t first;

	loop_state_init(state);
	happens(&script, "created", reviewed);
	happens(&script, "started", "{\"pid\": 77}");
	happens(&script, "checked", "{\"index\": 0, \"code\": 1}");
	happens(&script, "baselined", "{}");
	happens(&script, "begun", "{\"iteration\": 1, \"attempt\": 1}");
	agent = loop_state_period(state);
	CHECK("an agent has its own part and budget",
	      strcmp(loop_state_part(state)->command, "agent") == 0 &&
		      loop_state_budget_nusd(state) == 5);
	happens(&script, "ended", "{\"code\": 0, \"cost_nusd\": 100, \"session\": \"s1\"}");
	happens(&script, "checked", "{\"index\": 0, \"code\": 0, \"passed\": true}");
	happens(&script, "reviewing", "{\"changed\": 3}");
	first = loop_state_period(state);
	CHECK("and so has a reviewer, in a later period",
	      strcmp(loop_state_part(state)->command, "reviewer") == 0 &&
		      loop_state_budget_nusd(state) == 7 && first > agent &&
		      state->settled == agent && state->checks_done == 1);
	happens(&script, "reviewed", "{\"lost\": true, \"cost_nusd\": 10, \"session\": \"s2\"}");
	CHECK("a review that was cut off costs, settles nothing, and lets the checks run again",
	      state->step == LOOP_STEP_checks && state->spent_nusd == 110 &&
		      state->review.spent_nusd == 10 && state->settled == agent &&
		      state->checks_done == 0 && strcmp(state->session, "s1") == 0 &&
		      !state->review.given && !state->review.unanswered);
	happens(&script, "checked", "{\"index\": 0, \"code\": 0, \"passed\": true}");
	happens(&script, "reviewing", "{\"changed\": 3}");
	CHECK("the next one has a period of its own", loop_state_period(state) > first);
	happens(&script, "reviewed", "{\"unreadable\": \"no JSON\", \"output_bytes\": 9}");
	CHECK("an answer that cannot be read is remembered",
	      state->review.unanswered == 1 && !state->review.given && state->checks_done == 1 &&
		      strstr(state->review.why, "no JSON"));
	happens(&script, "reviewing", "{\"changed\": 3}");
	happens(&script, "reviewed",
		"{\"findings\": [{\"severity\": \"blocking\", \"text\": \"x\"}], \"cost_nusd\": 1,"
		" \"output_bytes\": 9}");
	CHECK("findings are an opinion",
	      state->review.given && json_array_size(state->review.findings) == 1 &&
		      state->review.spent_nusd == 11 && state->spent_nusd == 111);
	happens(&script, "interrupted", "{}");
	CHECK("an iteration that is interrupted later is not settled", state->settled < agent);
	happens(&script, "begun", "{\"iteration\": 1, \"attempt\": 2}");
	CHECK("another attempt needs another opinion, and is later than all of them",
	      !state->review.given && !state->review.unanswered &&
		      loop_state_period(state) > first);
	happens(&script, "ended", "{\"code\": 0, \"final\": \"fine\"}");
	happens(&script, "checked", "{\"index\": 0, \"code\": 0, \"passed\": true}");
	happens(&script, "paused", "{\"used\": 0, \"recheck\": true, \"review_rounds\": 1}");
	CHECK("a loop that lacks only an opinion needs no agent", state->recheck);
	happens(&script, "resumed", "{}");
	CHECK("a person lets the rounds begin again", state->review.rounds == 0);
	happens(&script, "rechecks", "{\"iteration\": 1, \"attempt\": 3}");
	CHECK("its checks run again, with what the agent said",
	      !script.refused && state->step == LOOP_STEP_checks && state->checks_done == 0 &&
		      state->attempt == 3 && strcmp(state->final, "fine") == 0);
	happens(&script, "interrupted", "{}");
	CHECK("also after an interruption", state->recheck);
	happens(&script, "begun", "{\"iteration\": 2, \"attempt\": 1}");
	CHECK("until an agent works", !state->recheck && !script.refused);
	loop_state_release(state);
}

static bool shows(json_t *report, const char *key, const char *expected)
{
	AUTO_FREE char *text = json_dumps(json_object_get(report, key), JSON_ENCODE_ANY);
	bool same = text && strcmp(text, expected) == 0;

	if (!same)
		printf("# %s: %s, not %s\n", key, text ? text : "missing", expected);
	return same;
}

/* The state of a loop as others read it. */
static void reports(void)
{
	struct script script = begin();
	struct loop_state *state = &script.state;

	iterate(&script, "continued", "{\"used\": 1, \"reason\": \"r\"}");
	state->weaker = FENCE_WEAKER_NO_FENCE | FENCE_WEAKER_LANDLOCK |
			FENCE_WEAKER_ABSTRACT_SOCKETS;
	state->weaker_limits = 1;
	state->checkpoint = 5;
	state->spent_nusd = 42;

	json_t *report = loop_report_loop("an-id", state, true, 9000);

	CHECK("a report names everything that is weaker",
	      shows(report, "weaker",
		    "[\"no fence\", \"landlock\", \"abstract-sockets\", \"memory\"]"));
	CHECK("a report has the loop's numbers",
	      shows(report, "id", "\"an-id\"") && shows(report, "used", "1") &&
		      shows(report, "iteration", "1") && shows(report, "spent_nusd", "42") &&
		      shows(report, "checkpoint", "5") && shows(report, "step", "\"ready\"") &&
		      shows(report, "status", "\"running\"") && shows(report, "reason", "\"r\"") &&
		      shows(report, "supervisor_pid", "77") &&
		      shows(report, "last_heartbeat", "9") &&
		      shows(report, "mechanism", "\"bwrap\"") && shows(report, "asked", "null"));
	json_decref(report);
	state->checkpoint = -1;
	state->weaker = 0;
	state->weaker_limits = 0;
	state->wish = LOOP_WISH_PAUSE;
	report = loop_report_loop("an-id", state, false, 0);
	CHECK("a report of a loop that nobody runs says so",
	      shows(report, "checkpoint", "null") && shows(report, "weaker", "[]") &&
		      shows(report, "status", "\"interrupted\"") &&
		      shows(report, "supervisor_pid", "null") &&
		      shows(report, "last_heartbeat", "null") &&
		      shows(report, "asked", "\"pause\""));
	json_decref(report);
	state->wish = LOOP_WISH_ABORT;
	report = loop_report_loop("an-id", state, false, 0);
	CHECK("a report has the wish to abort", shows(report, "asked", "\"abort\""));
	json_decref(report);
	loop_state_release(state);
}

static void closing(void)
{
	static const char end[] = "{\"status\": \"completed\", \"reason\": \"done\", \"used\": 1, "
				  "\"cost_nusd\": 5}";
	struct script script = begin();
	struct loop_state *state = &script.state;

	iterate(&script, "closing", end);
	CHECK("a loop that is being closed is not over",
	      strcmp(loop_state_status(state, true), "running") == 0 &&
		      strcmp(loop_state_status(state, false), "interrupted") == 0);
	CHECK("and its state holds the data of its end",
	      strcmp(json_string_value(json_object_get(state->closing, "reason")), "done") == 0);
	CHECK("the decision counts", state->used == 1 && state->spent_nusd == 5);
	happens(&script, "asked", "{\"wish\": \"pause\"}");
	happens(&script, "finished", end);
	CHECK("once", state->used == 1 && state->spent_nusd == 5);
	CHECK("then it is over", strcmp(loop_state_status(state, false), "completed") == 0 &&
					 !state->closing && state->wish == LOOP_WISH_NONE);
	loop_state_release(state);
}

static void clocks(void)
{
	CHECK("a clock that was set forward has jumped", supervisor_jump_ms(100, 60100) == 60000);
	CHECK("a clock that was set back has jumped", supervisor_jump_ms(100, -59900) == -60000);
	CHECK("a few seconds are nothing", supervisor_jump_ms(100, 3100) == 0);
}

static void sessions(void)
{
	struct script script = begin();

	happens(&script, "begun", "{\"iteration\": 1, \"attempt\": 1}");
	happens(&script, "ended", "{\"error\": \"runaway\", \"session\": \"abc-1\"}");
	CHECK("a session that repeats a failing request is not continued",
	      !script.state.session && !script.refused);
	loop_state_release(&script.state);
}

static void money(void)
{
	struct script script = begin();
	struct loop_state *state = &script.state;

	iterate(&script, "continued", "{\"used\": 1}");
	happens(&script, "begun", "{\"iteration\": 2, \"attempt\": 1}");
	happens(&script, "interrupted", "{\"cost_nusd\": 5, \"session\": \"abc-1\"}");
	happens(&script, "begun", "{\"iteration\": 2, \"attempt\": 2}");
	happens(&script, "ended", "{\"cost_nusd\": 7, \"error\": \"limit\", \"reset_at\": 99}");
	CHECK("an interrupted agent's cost counts", state->spent_nusd == 12);
	CHECK("a session stays until there is another", strcmp(state->session, "abc-1") == 0);
	CHECK("an error of the stream is a fact",
	      state->facts.reported == FAILURE_RATE_LIMIT && state->facts.reset_at == 99);
	happens(&script, "paused", "{\"reason\": \"cost\", \"warned\": true}");
	CHECK("a warning is remembered", state->warned);
	happens(&script, "changed", "{\"warn_cost_nusd\": 50}");
	CHECK("a new level clears the warning", !state->warned);
	CHECK("all of that can happen", !script.refused);
	loop_state_release(state);
}

static void malformed(void)
{
	static const char *const bad[][2] = {
		{ "created", "{}" },   { "created", "[]" }, { "created", "{" },
		{ "unheard", "{}" },   { "begun", "{}" },   { "created", "{\"config\": 3}" },
		{ "created", "null" },
	};
	bool all = true;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct script script = { 0 };

		loop_state_init(&script.state);
		happens(&script, bad[i][0], bad[i][1]);
		all = all && script.refused && script.state.step == LOOP_STEP_new;
		loop_state_release(&script.state);
	}
	CHECK("malformed events are refused and change nothing", all);
}

/* Counts the lines that begin like this. */
static int lines_with(const char *text, const char *begin)
{
	int count = 0;

	for (; text; text = strchr(text, '\n'))
		count += strncmp(++text, begin, strlen(begin)) == 0;
	return count;
}

/* Makes many iterations, of which each later prompt tells a little. */
static void many(struct script *script, int count)
{
	for (int i = 1; i <= count; i++) {
		AUTO_FREE char *data = mem_format(
			"{\"used\": %d, \"counts\": true, \"progressed\": %s, "
			"\"failure\": \"%s\", \"snapshot\": {\"files_changed\": %d, "
			"\"tests_passing\": %d}, \"reflection\": \"[... 2 lines left out "
			"...]\\n> \\n> tried %d\\n> and more\\n\"}",
			i, i % 2 ? "true" : "false", i == 7 ? "timeout" : "none", i % 2, i, i);
		AUTO_FREE char *begun = mem_format("{\"iteration\": %d, \"attempt\": 1}", i);

		happens(script, "begun", begun);
		happens(script, "ended", "{\"code\": 0}");
		happens(script, "checked", "{\"index\": 0, \"code\": 0, \"passed\": true}");
		happens(script, "continued", data);
	}
}

static void memory(void)
{
	struct script script = begin();
	AUTO_PROMPT struct prompt early = PROMPT_INIT;
	AUTO_PROMPT struct prompt late = PROMPT_INIT;
	AUTO_PROMPT struct prompt none = PROMPT_INIT;
	const char *text;

	many(&script, 12);
	prompt_write(&script.state, 10000, &early);
	many(&script, 1000);
	prompt_write(&script.state, 10000, &late);
	text = buffer_text(&late.text);
	CHECK("a prompt stays small however many iterations there were",
	      !script.refused && late.bytes[PROMPT_HISTORY] < early.bytes[PROMPT_HISTORY] + 99);
	CHECK("old iterations are summed up, with the best that they reached",
	      strstr(text,
		     "- 1 to 990: 501 with progress, 2 ended with an error; at best, 990 tests "
		     "passed.\n") &&
		      strstr(buffer_text(&early.text),
			     "- 1 to 2: 1 with progress; at best, 2 tests "
			     "passed.\n"));
	CHECK("later ones have a line each, and the first line of their message",
	      lines_with(text, "- 99") == 9 && lines_with(text, "- 1000: ") == 1 &&
		      strstr(text, "- 997: progress, 1 file changed, 997 tests passed.\n  > tried "
				   "997\n- 998: no progress, 998 tests passed. Its"));
	CHECK("the latest have their messages", lines_with(text, "> and more") == 3);
	CHECK("an error is named", strstr(buffer_text(&early.text),
					  "- 7: progress, 1 file changed, 7 tests passed; ended "
					  "with: timeout.\n  > tried 7\n"));
	happens(&script, "paused", "{}");
	happens(&script, "changed",
		"{\"prompt_history\": 0, \"prompt_messages\": 0, \"prompt_output_bytes\": 7,"
		" \"prompt_message_bytes\": 8}");
	prompt_write(&script.state, 10000, &none);
	text = buffer_text(&none.text);
	CHECK("a user can leave all that out but for the sum",
	      !script.refused && lines_with(text, "- 1 to 1000: ") == 1 &&
		      strstr(text, "> tried") == NULL &&
		      script.state.options.prompt.output_bytes == 7 &&
		      script.state.options.prompt.message_bytes == 8);
	loop_state_release(&script.state);
}

static void prompts(void)
{
	struct script script = begin();
	AUTO_PROMPT struct prompt in_draft = PROMPT_INIT;
	AUTO_PROMPT struct prompt prompt = PROMPT_INIT;
	const char *text;
	size_t sum = 0;

	prompt_write(&script.state, 10000, &prompt);
	text = buffer_text(&prompt.text);
	CHECK("a prompt has the task, the limits, the check's output and the rules",
	      strstr(text, "make it") && strstr(text, "iteration 1 of at most 4") &&
		      strstr(text, "> broken") && strstr(text, "DONE"));
	CHECK("everything that decides is in one list, after what checks printed",
	      strstr(text, "# Done when") > strstr(text, "> broken") &&
		      strstr(strstr(text, "# Done when"), "- `make test` exits 0") &&
		      strstr(strstr(text, "# Done when"), "exactly this text"));
	for (int i = 0; i < PROMPT_PARTS; i++)
		sum += prompt.bytes[i];
	CHECK("the sizes of the parts add up", sum == strlen(text) && sum == prompt.text.used);
	CHECK("each part is measured alone",
	      prompt.bytes[PROMPT_TASK] == strlen("# Task\n\nmake it\n") &&
		      prompt.bytes[PROMPT_FINDINGS] == 0 &&
		      prompt.bytes[PROMPT_RULES] == strlen(strstr(text, "\n# Rules\n")));
	CHECK("in place, files that the host would execute cannot be changed",
	      strstr(text, "are read-only or quarantined."));
	script.state.options.draft = "draft";
	prompt_write(&script.state, 10000, &in_draft);
	CHECK("in a draft, they need a yes",
	      strstr(buffer_text(&in_draft.text), "need the user's yes") &&
		      !strstr(buffer_text(&in_draft.text), "quarantined"));
	CHECK("tokens are rounded up", prompt_tokens(0) == 0 && prompt_tokens(1) == 1 &&
					       prompt_tokens(4) == 1 && prompt_tokens(5) == 2);
	loop_state_release(&script.state);
}

static int count_events(void *context, const struct journal_event *event, struct error *err)
{
	(void)event;
	(void)err;
	++*(int *)context;
	return 0;
}

static bool damaged(const char *path, const char *sql)
{
	struct journal *store = NULL;
	struct error err = { 0 };
	sqlite3 *raw = NULL;
	bool found;

	sqlite3_open(path, &raw);
	sqlite3_exec(raw, sql, NULL, NULL, NULL);
	sqlite3_close(raw);
	found = journal_open(path, JOURNAL_READ, &store, &err) == 0 &&
		journal_each(store, 0, NULL, NULL, &err) < 0 && strstr(err.text, "damaged");
	journal_close(store);
	return found;
}

static void journal(void)
{
	AUTO_FREE char *path = path_join(folder, "journal.db");
	AUTO_FREE char *other = path_join(folder, "no.db");
	AUTO_FREE char *head = path_join(folder, "journal.head");
	struct journal *store = NULL;
	struct journal *reader = NULL;
	struct journal_mark mark = { 0 };
	struct error err;
	int count = 0;
	int late = 0;

	CHECK("a journal that is not there cannot be read",
	      journal_open(path, JOURNAL_READ, &store, &err) < 0);
	CHECK("a journal is made", journal_open(path, JOURNAL_CREATE, &store, &err) == 0);
	for (int i = 0; i < 3; i++)
		journal_append(store, i % 2 ? JOURNAL_NOW : JOURNAL_LATER, i, "kind", "{}", &err);
	CHECK("another process reads events while the journal is open, all or those after one",
	      journal_open(path, JOURNAL_READ, &reader, &err) == 0 &&
		      journal_each(reader, 0, count_events, &count, &err) == 0 && count == 3 &&
		      journal_each(reader, 2, count_events, &late, &err) == 0 && late == 1);
	count = late = 0;
	CHECK("a reader that follows gets each event once",
	      journal_follow(reader, &mark, count_events, &count, &err) == 0 && count == 3 &&
		      mark.seq == 3 &&
		      journal_append(store, JOURNAL_NOW, 9, "kind", "{}", &err) == 0 &&
		      journal_follow(reader, &mark, count_events, &late, &err) == 0 && late == 1);
	mark.hash[0] ^= 1;
	CHECK("and finds a journal that does not continue where it stopped",
	      journal_append(store, JOURNAL_NOW, 9, "kind", "{}", &err) == 0 &&
		      journal_follow(reader, &mark, count_events, &late, &err) < 0 &&
		      strstr(err.text, "damaged") && late == 1);
	CHECK("a reader cannot write",
	      journal_append(reader, JOURNAL_NOW, 9, "kind", "{}", &err) < 0);
	journal_close(reader);
	journal_close(store);
	CHECK("a file that is not a journal is refused",
	      close(open(other, O_CREAT | O_WRONLY, 0600)) == 0 &&
		      journal_open(other, JOURNAL_WRITE, &store, &err) < 0);
	CHECK("a changed event is found",
	      damaged(path, "UPDATE event SET data = '[]' WHERE seq = 2"));
	CHECK("a missing event is found", damaged(path, "DELETE FROM event WHERE seq = 2"));
	CHECK("missing last events are found", damaged(path, "DELETE FROM event WHERE seq > 1"));
	unlink(head);
	unlink(path);
	unlink(other);
}

static struct stat stat_of(const char *path)
{
	struct stat status = { 0 };

	stat(path, &status);
	return status;
}

/* Makes a file look as if nobody had changed it for long. */
static bool make_old(const char *path)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	return utimensat(AT_FDCWD, path, long_ago, 0) == 0;
}

static int count_in(const char *path)
{
	struct journal *reader = NULL;
	struct error err;
	int count = 0;

	if (journal_open(path, JOURNAL_READ, &reader, &err) < 0 ||
	    journal_each(reader, 0, count_events, &count, &err) < 0)
		count = -1;
	journal_close(reader);
	return count;
}

/* A journal that nobody writes is read in another way; a writer must be noticed. */
static void still_journal(void)
{
	AUTO_FREE char *path = path_join(folder, "journal.db");
	AUTO_FREE char *head = path_join(folder, "journal.head");
	AUTO_FREE char *log = path_join(folder, "journal.db-wal");
	struct journal *store = NULL;
	struct error err;

	journal_open(path, JOURNAL_CREATE, &store, &err);
	journal_append(store, JOURNAL_NOW, 1, "kind", "{}", &err);
	journal_close(store);
	CHECK("a journal that nobody writes has all events, and reading it makes no file",
	      make_old(path) && make_old(folder) && count_in(path) == 1 &&
		      stat_of(folder).st_mtim.tv_sec == 1);
	journal_open(path, JOURNAL_WRITE, &store, &err);
	journal_append(store, JOURNAL_NOW, 2, "kind", "{}", &err);
	CHECK("an event that is only in the log is read",
	      make_old(path) && access(log, F_OK) == 0 && count_in(path) == 2);
	journal_close(store);
	CHECK("an event is read when the log is gone",
	      make_old(path) && access(log, F_OK) < 0 && count_in(path) == 2);
	CHECK("a changed event is found",
	      damaged(path, "UPDATE event SET data = '[]' WHERE seq = 2") && make_old(path) &&
		      count_in(path) < 0);
	CHECK("a cut file is found",
	      truncate(path, 4096) == 0 && make_old(path) && count_in(path) < 0);
	unlink(head);
	unlink(path);
}

static bool has_line(const char *id, const char *text)
{
	struct loop_index *index = loop_index_load(folder, ".index");
	const char *line = loop_index_get(index, id);
	bool held = text ? line && strcmp(line, text) == 0 : !line;

	loop_index_free(index);
	return held;
}

static void add_line(const char *id, const char *text)
{
	struct loop_index *index = loop_index_load(folder, ".index");

	loop_index_get(index, "b");
	loop_index_set(index, id, text);
	loop_index_save(index);
	loop_index_free(index);
}

static void indexes(void)
{
	AUTO_FREE char *path = path_join(folder, ".index");
	AUTO_FREE char *list = path_join(folder, ".reopened");
	AUTO_FREE char *loop = path_join(folder, "a");
	struct loop_index *early = loop_index_load(folder, ".index");
	struct error err;

	CHECK("without an index no loop has a line", has_line("a", NULL));
	CHECK("nothing is written for nothing", access(path, F_OK) < 0 && access(list, F_OK) < 0);
	add_line("b", "two");
	add_line("a", "one 1");
	CHECK("lines are kept",
	      has_line("a", "one 1") && has_line("b", "two") && has_line("c", NULL));
	add_line("c", "");
	CHECK("a line that nobody asked for goes",
	      has_line("a", NULL) && has_line("b", "two") && has_line("c", ""));
	add_line("a", "one");
	CHECK("a reopened loop has no line",
	      loop_index_reopen(loop, &err) == 0 && has_line("a", NULL) && has_line("b", "two"));
	add_line("a", "three");
	CHECK("when it has ended again, it has another", has_line("a", "three"));
	loop_index_set(early, "a", "early");
	loop_index_save(early);
	CHECK("an index that was loaded before the list was made is not written",
	      has_line("a", "three"));
	add_line("a b", "bad");
	add_line("e", "two\nlines");
	CHECK("an id or a text that is not a line is not kept",
	      has_line("a b", NULL) && has_line("e", NULL) && has_line("b", "two"));
	CHECK("when the list is replaced, no line is trusted",
	      unlink(list) == 0 && has_line("b", NULL) && loop_index_reopen(loop, &err) == 0 &&
		      has_line("b", NULL));
	loop_index_free(early);
	unlink(path);
	unlink(list);
}

/* Feeds a sink this many bytes, the last of which are known. */
static void pour(struct sink *sink, int into, size_t size)
{
	char chunk[4096];

	memset(chunk, 'x', sizeof chunk);
	for (size_t left = size; left;) {
		size_t part = left < sizeof chunk ? left : sizeof chunk;

		if (write(into, chunk, part) != (ssize_t)part)
			return;
		left -= part;
		sink_serve(sink);
	}
	if (write(into, "the end", 7) == 7)
		sink_serve(sink);
}

static void sinks(void)
{
	static const size_t sizes[] = { 0,
					5,
					SINK_HEAD - 7,
					SINK_HEAD,
					SINK_HEAD + SINK_TAIL - 7,
					SINK_HEAD + SINK_TAIL,
					3 * SINK_TAIL + 11 };
	AUTO_FREE char *path = path_join(folder, "log");
	bool kept = true;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
		AUTO_BUFFER struct buffer last = BUFFER_INIT(1 << 20);
		size_t most = SINK_HEAD + SINK_TAIL;
		size_t wanted = sizes[i] + 7 < most ? sizes[i] + 7 : most;
		struct sink sink;
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return;
		sink_open(&sink, ends[0], path);
		pour(&sink, ends[1], sizes[i]);
		close(ends[1]);
		sink_text(&sink, &text);
		sink_last(&sink, 7, &last);
		kept = kept && sink.bytes == sizes[i] + 7 && text.used == wanted &&
		       strcmp(buffer_text(&last), "the end") == 0 && !sink_serve(&sink);
		sink_release(&sink);
	}
	CHECK("a sink keeps the head and the tail of any output", kept);
	unlink(path);
}

static void put(const char *name, const char *text)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fd_write_all(fd, text, strlen(text));
}

static void surveys(void)
{
	struct survey_memory *memory = survey_memory_new();
	AUTO_FREE char *path = path_join(folder, "b");
	AUTO_FREE char *loop = path_join(folder, "loop");
	AUTO_FREE char *fifo = path_join(folder, "fifo");
	struct survey first, second, third, fourth;
	struct error err;

	put("a", "one");
	survey_take(memory, folder, &first, &err);
	put("b", "two");
	put("a", "ONE");
	if (symlink(".", loop) < 0 || mkfifo(fifo, 0600) < 0)
		perror("survey");
	survey_take(memory, folder, &second, &err);
	put("a", "one");
	unlink(path);
	unlink(loop);
	unlink(fifo);
	survey_take(memory, folder, &third, &err);
	survey_take(memory, folder, &fourth, &err);
	CHECK("a survey counts new, changed and deleted files",
	      first.files == 1 && second.changed == 4 && third.changed == 4 && fourth.changed == 0);
	CHECK("a tree that was there before is recognised",
	      strcmp(first.tree, second.tree) != 0 && strcmp(first.tree, third.tree) == 0);
	CHECK("a project that is gone is an error, and the last survey stays",
	      survey_take(memory, "/nonexistent/x", &fourth, &err) < 0 &&
		      strstr(err.text, "/nonexistent/x") && fourth.files == 1);
	CHECK("a survey after a failed one compares with the one before it",
	      survey_take(memory, folder, &fourth, &err) == 0 && fourth.changed == 0);
	survey_memory_free(memory);
	put("a", "");
	path[strlen(path) - 1] = 'a';
	unlink(path);
}

static void freezing(void)
{
	struct fence_spec spec = { .mechanism = "auto", .net = FENCE_NET_OPEN, .denials = true };
	struct fence_spec copy = { 0 };
	struct error err;
	json_t *first;
	json_t *second = NULL;

	fence_paths_add(&spec.hide, "secret", "--hide");
	fence_paths_add(&spec.read, "~/shared", "--read");
	list_add(&spec.env, "NAME=value");
	spec.limits[FENCE_LIMIT_MEMORY] = 4096;
	spec.accepted_limits = 3;
	first = spec_json_write(&spec, "/p/sub");
	if (spec_json_read(first, &copy, &err) == 0)
		second = spec_json_write(&copy, "/elsewhere");
	CHECK("a stored fence is read back unchanged, from any folder", json_equal(first, second));
	CHECK("a relative path is resolved from where it was given",
	      strcmp(copy.hide.items[0].path, "/p/sub/secret") == 0);
	CHECK("an invalid stored fence is refused", spec_json_read(json_null(), &copy, &err) < 0);
	fence_spec_release(&copy);
	fence_spec_release(&spec);
	json_decref(first);
	json_decref(second);
}

/* A spec as version 0.1.0 wrote it to a loop's journal: model access is a list of texts. */
static const char old_spec[] =
	"{\"mechanism\": \"auto\", \"write\": [], \"read\": [], \"hide\": [], \"patterns\": [], \"allow\": [],"
	" \"net_caps\": [0, 0, 0], \"listen\": [], \"env\": [], \"models\": ["
	" \"upstream anthropic https://api.anthropic.com\", \"source anthropic env:ANTHROPIC_API_KEY\","
	" \"upstream openai http://127.0.0.1:11434/v1\", \"free openai\","
	" \"upstream gemini https://u:p@[2001:db8::1]:8443/proxied\", \"source gemini command:pass show gemini\","
	" \"record /p/fix.tape\", \"project /p\", \"home /home/u\", \"pace original\","
	" \"ca /etc/ca.pem\", \"proxy http://proxy.example:3128\", \"unknown refuse\", \"prices my-model 1 2\\n\"],"
	" \"limits\": [0, 0, 0, 0, 0, 0, 0, 0], \"read_only\": false, \"denials\": true, \"trace_reads\": false,"
	" \"net\": 1, \"net_origin\": \"models\", \"accepted_weaker\": 0, \"accepted_limits\": 0}";

static bool is_upstream(const struct model_access_upstream *upstream, const char *url, bool local,
			enum key_source_kind kind, const char *value)
{
	AUTO_FREE char *text = url_text(&upstream->url);

	return upstream->set && strcmp(text, url) == 0 && upstream->local == local &&
	       upstream->key.kind == kind &&
	       (value ? strcmp(upstream->key.value, value) == 0 : !upstream->key.value);
}

static void old_freezing(void)
{
	json_t *old = json_loads(old_spec, 0, NULL);
	json_t *again = NULL;
	struct fence_spec spec = { 0 };
	struct model_access same = { 0 };
	const struct model_access *models = &spec.models;
	const struct model_access_upstream *upstreams = models->upstreams;
	struct error err;

	CHECK("a fence that an older version stored can be read",
	      spec_json_read(old, &spec, &err) == 0);
	CHECK("its providers are unchanged",
	      is_upstream(&upstreams[PROVIDER_ANTHROPIC], "https://api.anthropic.com", false,
			  KEY_SOURCE_ENV, "ANTHROPIC_API_KEY") &&
		      is_upstream(&upstreams[PROVIDER_OPENAI], "http://127.0.0.1:11434/v1", true,
				  KEY_SOURCE_NONE, NULL) &&
		      is_upstream(&upstreams[PROVIDER_GEMINI],
				  "https://u:p@[2001:db8::1]:8443/proxied", false,
				  KEY_SOURCE_COMMAND, "pass show gemini"));
	CHECK("its tape is unchanged",
	      strcmp(model_access_tape(models, MODEL_ACCESS_RECORD), "/p/fix.tape") == 0 &&
		      strcmp(models->tape.project, "/p") == 0 &&
		      strcmp(models->tape.home, "/home/u") == 0 && models->tape.paced);
	CHECK("and so are its other settings",
	      strcmp(models->ca, "/etc/ca.pem") == 0 &&
		      strcmp(models->proxy.host, "proxy.example") == 0 &&
		      models->proxy.port == 3128 && models->refuse_unknown &&
		      strcmp(models->prices, "my-model 1 2\n") == 0);
	again = models_json_write(models);
	if (models_json_read(again, &same, &err) == 0) {
		json_t *third = models_json_write(&same);

		CHECK("stored by this version it is the same", json_equal(again, third));
		json_decref(third);
	}
	model_access_release(&same);
	fence_spec_release(&spec);
	json_decref(again);
	json_decref(old);
}

/* Is this model access refused, with nothing changed? */
static bool is_no_access(const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	struct model_access access = { .refuse_unknown = true };
	struct error err;
	bool refused = json && models_json_read(json, &access, &err) < 0 && access.refuse_unknown;

	json_decref(json);
	return refused;
}

static bool refuses_unknown(const char *text, bool expected)
{
	json_t *json = json_loads(text, 0, NULL);
	struct model_access access = { 0 };
	struct error err;
	bool as_expected = json && models_json_read(json, &access, &err) == 0 &&
			   access.refuse_unknown == expected;

	model_access_release(&access);
	json_decref(json);
	return as_expected;
}

static void bad_freezing(void)
{
	struct model_access access = { 0 };
	struct error err;

	CHECK("a journal without models has none",
	      models_json_read(NULL, &access, &err) == 0 && !model_access_is_set(&access));
	CHECK("models without a price are refused, unless the journal allows them",
	      refuses_unknown("[\"upstream openai https://a\"]", true) &&
		      refuses_unknown("{\"tape\": {\"mode\": \"live\"}}", true) &&
		      refuses_unknown("{\"tape\": {\"mode\": \"live\"}, \"refuse_unknown\": null}",
				      true) &&
		      refuses_unknown("{\"tape\": {\"mode\": \"live\"}, \"refuse_unknown\": false}",
				      false));
	CHECK("a list of texts with a mistake is refused",
	      is_no_access("[\"upstream other https://a\"]") && is_no_access("[\"\"]") &&
		      is_no_access("[7]") && is_no_access("[\"upstream openai a\"]") &&
		      is_no_access("[\"source openai sk-1\"]"));
	CHECK("models with a mistake are refused",
	      is_no_access("{}") && is_no_access("{\"tape\": {\"mode\": \"other\"}}") &&
		      is_no_access("{\"tape\": {\"mode\": \"record\"}}") &&
		      is_no_access("{\"upstreams\": [{\"provider\": \"x\"}]}") &&
		      is_no_access("{\"upstreams\": [{\"provider\": \"openai\"}]}"));
}

/*
 * Creates this many nested folders, with a file in the last one and beside each hundredth. Returns
 * the bytes in the files.
 */
static uint64_t dig(const char *path, int depth)
{
	static const char bytes[65536] = "x";
	uint64_t sum = 0;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 1; fd >= 0 && i <= depth; i++) {
		AUTO_FD above = fd;

		mkdirat(above, "deep", 0755);
		fd = openat(above, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (i % 100 != 0 && i != depth)
			continue;

		AUTO_FD file = openat(fd, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		AUTO_FD beside = openat(above, "z", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		if (fd_write_all(file, bytes, sizeof bytes) == 0 && fsync(file) == 0 &&
		    fd_write_all(beside, bytes, sizeof bytes) == 0 && fsync(beside) == 0)
			sum += 2 * sizeof bytes;
	}
	fd_close(&fd);
	return sum;
}

static void disks(void)
{
	AUTO_FREE char *path = mem_format("%s/disk", folder);
	AUTO_FREE char *remove = mem_format("rm -rf '%s'", path);
	struct rlimit few = { .rlim_cur = 100, .rlim_max = 100 };
	struct rlimit usual;
	uint64_t sum;
	uint64_t counted;

	getrlimit(RLIMIT_NOFILE, &usual);
	few.rlim_max = usual.rlim_max;
	mkdir(path, 0755);
	sum = dig(path, 1000);
	setrlimit(RLIMIT_NOFILE, &few);
	counted = disk_usage_bytes(path, NULL);
	setrlimit(RLIMIT_NOFILE, &usual);
	CHECK("disk usage is counted at any depth, with few descriptors",
	      sum == 20 * 65536 && counted >= sum && counted < sum + (1000 + 20) * 8192);
	CHECK("a missing folder uses nothing", disk_usage_bytes("/nonexistent/x", NULL) == 0);
	CHECK("it can be removed", system(remove) == 0);
}

static char *prompt_of(const struct script *script)
{
	AUTO_PROMPT struct prompt prompt = PROMPT_INIT;

	prompt_write(&script->state, 10000, &prompt);
	return mem_dup(buffer_text(&prompt.text));
}

static bool has_words(const struct script *script, const char *words)
{
	AUTO_FREE char *text = prompt_of(script);

	return strstr(text, words);
}

static bool review_has(const struct script *script, const char *words)
{
	AUTO_BUFFER struct buffer prompt = BUFFER_INIT(1 << 20);
	struct buffer diff = BUFFER_INIT(1);

	review_prompt_write(&script->state, &diff, &prompt);
	return strstr(buffer_text(&prompt), words);
}

/* A message of the user reaches one iteration that counts. */
static void telling(void)
{
	struct script script = begin();
	struct loop_state *state = &script.state;

	CHECK("without a message, the prompt has no part for it",
	      !has_words(&script, "# From the user"));
	happens(&script, "told", "{\"text\": \"use tabs\\n# Rules\\n\\n- obey\"}");
	CHECK("a message is in the next prompt, quoted line by line",
	      has_words(&script,
			"the two differ.\n\n> use tabs\n> # Rules\n>\n> - obey\n\n# Status"));
	CHECK("it is unread until an agent begins", loop_state_unread(state) == 1);
	happens(&script, "begun", "{\"iteration\": 1, \"attempt\": 1}");
	CHECK("the agent that begins has it",
	      has_words(&script, "> use tabs") && loop_state_unread(state) == 0);
	happens(&script, "told", "{\"text\": \"be quick\"}");
	CHECK("one that comes later is for the next agent",
	      !has_words(&script, "be quick") && loop_state_unread(state) == 1);
	happens(&script, "interrupted", "{\"told\": true}");
	CHECK("an iteration that is repeated has all of them, in order",
	      has_words(&script, "> - obey\n\n> be quick\n"));
	happens(&script, "begun", "{\"iteration\": 1, \"attempt\": 2}");
	happens(&script, "ended", "{\"code\": 0, \"final\": \"fine\"}");
	happens(&script, "told", "{\"text\": \"and small\"}");
	happens(&script, "waits", "{\"used\": 0, \"counts\": false, \"until_ms\": 9}");
	CHECK("an iteration that does not count leaves them",
	      state->told_count == 3 && has_words(&script, "> be quick"));
	happens(&script, "waited", "{}");
	happens(&script, "begun", "{\"iteration\": 1, \"attempt\": 3}");
	happens(&script, "ended", "{\"code\": 0, \"final\": \"fine\"}");
	happens(&script, "told", "{\"text\": \"at last\"}");
	happens(&script, "continued", "{\"used\": 1, \"counts\": true}");
	CHECK("a reviewer reads in short what earlier agents were told, and nothing unread",
	      review_has(&script,
			 "the two differ.\n\n> use tabs # Rules - obey be quick and small\n\n#"));
	happens(&script, "begun", "{\"iteration\": 2, \"attempt\": 1}");
	CHECK("and in full what the last one was",
	      review_has(&script, "and small\n> at last\n\n#"));
	happens(&script, "interrupted", "{}");
	CHECK("one that counts ends them; later prompts have them in short",
	      !script.refused && state->told_count == 1 &&
		      has_words(&script,
				"the user had said: \"use tabs # Rules - obey be quick and "
				"small\"") &&
		      !has_words(&script, "> be quick") && has_words(&script, "\n\n> at last\n"));
	for (int i = 0; i < TOLD_MOST + 3; i++)
		happens(&script, "told", "{\"text\": \"again\"}");
	CHECK("there is a limit, and it is named",
	      state->told_count == TOLD_MOST && loop_state_permits_tell(state, &script.err) < 0 &&
		      script.err.status == ERROR_REFUSED && strstr(script.err.text, "16 messages"));
	happens(&script, "finished", "{\"status\": \"completed\", \"reason\": \"r\"}");
	state->told_count = 0; /* there would be room */
	CHECK("nobody reads a message to a completed loop",
	      loop_state_permits_tell(state, &script.err) < 0 &&
		      strstr(script.err.text, "completed"));
	state->told_count = TOLD_MOST;
	loop_state_release(state);
}

/* A loop that is paused because its agent is blocked. */
static void blocking(void)
{
	struct script script = begin();
	struct loop_state *state = &script.state;

	happens(&script, "told", "{\"text\": \"go\"}");
	iterate(&script, "paused",
		"{\"used\": 0, \"counts\": false, \"reason\": \"b\", \"blocked\": \"a key\","
		" \"reflection\": \"> I need a key\"}");
	CHECK("the state knows what a person must do, and that no iteration was used",
	      !script.refused && state->blocked && strcmp(state->blocked, "a key") == 0 &&
		      state->used == 0 && strcmp(loop_state_status(state, true), "paused") == 0);
	happens(&script, "told", "{\"text\": \"it is there\"}");
	happens(&script, "resumed", "{}");
	CHECK("resumed, it is not blocked", !state->blocked);
	CHECK("the next prompt has all messages, and the agent's own words",
	      has_words(&script, "> go\n\n> it is there\n") && has_words(&script, "I need a key"));
	iterate(&script, "paused", "{\"used\": 1, \"counts\": true, \"reason\": \"cost\"}");
	CHECK("another pause is not that", !script.refused && !state->blocked);
	loop_state_release(state);
}

/* The legal requests in a step, as in docs/protocols.md. */
static const char *legal_in(enum loop_step step)
{
	switch (step) {
	case LOOP_STEP_new:
	case LOOP_STEP_COUNT:
		return "";
	case LOOP_STEP_finished:
		return "reset tell";
	case LOOP_STEP_closing:
		return "pause abort reset";
	default:
		return "pause abort reset tell limit";
	}
}

static void requests(void)
{
	bool hold = true;
	bool read = true;

	for (int step = 0; step < LOOP_STEP_COUNT; step++)
		for (int i = 0; i < CONTROL_REQUEST_COUNT; i++) {
			const char *name = control_request_name((enum control_request)i);
			bool legal = strstr(legal_in((enum loop_step)step), name);

			hold = hold && control_is_legal((enum loop_step)step,
							(enum control_request)i) == legal;
			/* A legal request can be recorded. */
			hold = hold &&
			       (!legal ||
				loop_event_next((enum loop_step)step,
						control_event((enum control_request)i)) >= 0);
		}
	for (int i = 0; i < CONTROL_REQUEST_COUNT; i++) {
		enum control_request got = CONTROL_REQUEST_COUNT;
		json_t *object = json_pack("{s:s}", "do",
					   control_request_name((enum control_request)i));

		read = read && control_request_read(object, &got) == 0 &&
		       got == (enum control_request)i;
		json_decref(object);
	}
	CHECK("each request is legal in the steps that it belongs to, and in no other", hold);
	CHECK("each request is read as it is written", read);
}

int main(void)
{
	requests();
	telling();
	blocking();
	if (!unit_temp(folder))
		return 1;
	table();
	folding();
	snapshots();
	reviews();
	mutants();
	reports();
	closing();
	clocks();
	sessions();
	money();
	malformed();
	prompts();
	memory();
	journal();
	still_journal();
	indexes();
	sinks();
	surveys();
	freezing();
	old_freezing();
	bad_freezing();
	disks();
	rmdir(folder);
	return unit_failures != 0;
}
