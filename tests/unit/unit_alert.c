/* Alerts: each rule, each boundary, what changes them, and what a loop remembers of them. */
#include "unit.h"
#include "unit_script.h"

#include "alert/alert.h"
#include "loop/state/loop_state.h"
#include "util/mem.h"

#include <string.h>

#define USD    INT64_C(1000000000)
#define MINUTE INT64_C(60000)
#define GIB    (INT64_C(1) << 30)

/* The last value without an alert, the first one with it, and the sentence for the latter. */
static const struct {
	enum alert_rule rule;
	int64_t calm, alarming;
	const char *text;
} boundaries[] = {
	{ ALERT_errors, 20, 21, "more than 20 errors in this iteration (21 so far)" },
	{ ALERT_tool_calls, 500, 501, "more than 500 tool calls in this iteration (501 so far)" },
	{ ALERT_files, 100, 101, "more than 100 files were changed in this iteration (101)" },
	{ ALERT_no_progress, 2, 3, "no progress in 3 or more iterations in a row (3 so far)" },
	{ ALERT_cost, 10 * USD, 10 * USD + USD / 2,
	  "the loop has cost more than US$ 10.00 (US$ 10.50 so far)" },
	{ ALERT_finding, 0, 1,
	  "1 or more signs that the changes weaken the checks (1 so far; see: ringfence diff "
	  "--findings)" },
	{ ALERT_disk, GIB, GIB / 2, "less than 1.0 GiB of disk space is free (512 MiB)" },
	{ ALERT_time, 90 * MINUTE, 91 * MINUTE,
	  "this iteration has taken longer than 1h30m (1h31m so far)" },
	{ ALERT_heartbeat, 2 * MINUTE, 2 * MINUTE + 1000,
	  "the supervisor has given no sign of life for more than 2m (2m1s so far)" },
};

_Static_assert(sizeof boundaries / sizeof *boundaries == ALERT_COUNT, "every rule has a boundary");

static bool says(enum alert_rule rule, int64_t value, const char *wanted)
{
	struct alert_settings settings;

	alert_init(&settings);

	AUTO_FREE char *text = alert_text(&settings, rule, value);

	if (strcmp(text, wanted) != 0)
		printf("# %s\n", text);
	return strcmp(text, wanted) == 0;
}

static void check_boundaries(void)
{
	struct alert_settings settings;
	struct alert_facts facts;
	bool calm = true;
	bool alarming = true;
	bool alone = true;
	bool worded = true;

	alert_init(&settings);
	for (size_t i = 0; i < ALERT_COUNT; i++) {
		enum alert_rule rule = boundaries[i].rule;

		calm = calm && !alert_holds(&settings, rule, boundaries[i].calm);
		alarming = alarming && alert_holds(&settings, rule, boundaries[i].alarming);
		alert_facts_init(&facts);
		facts.values[rule] = boundaries[i].alarming;
		alone = alone && alert_judge(&settings, &facts) == 1U << rule;
		worded = worded && says(rule, boundaries[i].alarming, boundaries[i].text);
	}
	CHECK("no rule holds at its level", calm);
	CHECK("each rule holds beyond its level", alarming);
	CHECK("a value that is not known alerts about nothing", alone);
	CHECK("each alert names its level and the value", worded);
}

/* Returns "LEVEL ACTION" of a rule after a change, or the start of the error. */
static const char *changed(const char *text, enum alert_rule rule)
{
	static char said[300];
	struct alert_settings settings;
	struct error err;

	alert_init(&settings);
	if (alert_change(&settings, text, &err) < 0)
		snprintf(said, sizeof said, "%.290s", err.text);
	else
		snprintf(said, sizeof said, "%lld %s", (long long)settings.rules[rule].level,
			 alert_action_name(settings.rules[rule].action));
	return said;
}

static void check_changes(void)
{
	static const struct {
		const char *text;
		enum alert_rule rule;
		const char *wanted;
	} changes[] = {
		{ "errors 50", ALERT_errors, "50 notify" },
		{ "errors pause", ALERT_errors, "20 pause" },
		{ "tool-calls 900 abort", ALERT_tool_calls, "900 abort" },
		{ "files off", ALERT_files, "100 off" },
		{ "no-progress 2 ask", ALERT_no_progress, "2 ask" },
		{ "cost 7.50", ALERT_cost, "7500000000 notify" },
		{ "finding abort", ALERT_finding, "1 abort" },
		{ "disk 5G", ALERT_disk, "5368709120 notify" },
		{ "time 2h ask", ALERT_time, "7200000 ask" },
		{ "heartbeat 5m", ALERT_heartbeat, "300000 notify" },
		{ "heartbeat off", ALERT_heartbeat, "120000 off" },
		{ "all off", ALERT_heartbeat, "120000 off" },
		{ "all pause", ALERT_errors, "20 pause" },
		{ "all pause", ALERT_heartbeat, "120000 notify" },
	};
	static const struct {
		const char *text, *wanted;
	} wrong[] = {
		{ "", "'' is not a rule" },
		{ "error 5", "'error' is not a rule" },
		{ "errors", "use RULE [LEVEL] [ACTION], such as 'errors off'" },
		{ "errors 5 pause now", "use RULE [LEVEL] [ACTION]" },
		{ "errors 5m", "'5m' is neither a level of 'errors'" },
		{ "errors 0", "'0' is neither a level" },
		{ "errors pause 5", "'pause' is neither a level" },
		{ "errors 5 6", "'errors' has two levels" },
		{ "time 5x", "'5x' is neither a level of 'time' (a time such as 2h)" },
		{ "heartbeat pause", "'heartbeat' can only be off or notify" },
		{ "all", "'all' needs an action" },
		{ "all 5", "'all' needs an action" },
		{ "errors 5                                                                       "
		  "                                    ",
		  "an alert has at most" },
	};

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		const char *said = changed(changes[i].text, changes[i].rule);

		if (strcmp(said, changes[i].wanted) != 0)
			printf("# %s: %s\n", changes[i].text, said);
		CHECK("a change sets level and action", strcmp(said, changes[i].wanted) == 0);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const char *said = changed(wrong[i].text, ALERT_errors);

		if (strncmp(said, wrong[i].wanted, strlen(wrong[i].wanted)) != 0)
			printf("# '%s': %s\n", wrong[i].text, said);
		CHECK("a malformed change is refused with its reason",
		      strncmp(said, wrong[i].wanted, strlen(wrong[i].wanted)) == 0);
	}
}

static void check_off(void)
{
	struct alert_settings settings;
	struct alert_facts facts;
	struct error err;

	alert_init(&settings);
	alert_facts_init(&facts);
	for (size_t i = 0; i < ALERT_COUNT; i++)
		facts.values[boundaries[i].rule] = boundaries[i].alarming;
	CHECK("all rules hold together", alert_judge(&settings, &facts) == (1U << ALERT_COUNT) - 1);
	CHECK("all can be turned off",
	      alert_change(&settings, "all off", &err) == 0 && alert_judge(&settings, &facts) == 0);
}

/* ---- what a loop remembers ---- */

#define CONFIG                                                                                  \
	"{\"config\": {\"project\": \"/w/p\", \"objective\": \"o\", \"agent_command\": \"a\", " \
	"\"agent_format\": \"plain\", \"fence\": {}, \"checks\": []}}"

static void alerted(struct script *script, const char *rule, const char *action)
{
	AUTO_FREE char *data =
		mem_format("{\"rule\": \"%s\", \"then\": \"%s\", \"text\": \"TEXT\"}", rule,
			   action);

	happens(script, "alerted", data);
}

static void begin(struct script *script)
{
	loop_state_init(&script->state);
	happens(script, "created", CONFIG);
	happens(script, "baselined", "{}");
	happens(script, "begun", "{\"iteration\": 1, \"attempt\": 1}");
}

static void check_memory(void)
{
	struct script script = { 0 };

	begin(&script);
	alerted(&script, "errors", "notify");
	alerted(&script, "cost", "notify");
	CHECK("an alert is remembered",
	      script.state.alerted == (1U << ALERT_errors | 1U << ALERT_cost));
	CHECK("one that notifies wishes nothing", script.state.wish == LOOP_WISH_NONE);
	happens(&script, "interrupted", "{}");
	happens(&script, "begun", "{\"iteration\": 1, \"attempt\": 2}");
	CHECK("it is remembered while the iteration is repeated",
	      script.state.alerted & 1U << ALERT_errors);
	script.state.spent_nusd = 11 * USD;
	happens(&script, "ended", "{}");
	happens(&script, "continued", "{}");
	CHECK("the next iteration begins again, and what still holds is not reported again",
	      script.state.alerted == 1U << ALERT_cost);
	happens(&script, "changed", "{\"alert\": [\"cost 20\"]}");
	CHECK("a higher level is reported when it is reached", script.state.alerted == 0);
	if (script.refused)
		printf("# %s\n", script.err.text);
	CHECK("all events are legal", !script.refused);
	loop_state_release(&script.state);
}

static bool wishes(const char *action, enum loop_wish wish, bool asks, const char *reason)
{
	struct script script = { 0 };
	bool held;

	begin(&script);
	alerted(&script, "errors", action);
	held = !script.refused && script.state.wish == wish && script.state.wish_asks == asks &&
	       strcmp(loop_state_wish_reason(&script.state), reason) == 0;
	if (!held)
		printf("# %s: %s\n", action, loop_state_wish_reason(&script.state));
	loop_state_release(&script.state);
	return held;
}

static void check_wishes(void)
{
	struct script script = { 0 };

	CHECK("pause pauses and says how to go on",
	      wishes("pause", LOOP_WISH_PAUSE, false, "TEXT (to continue: ringfence resume)"));
	CHECK("ask pauses with a question",
	      wishes("ask", LOOP_WISH_PAUSE, true,
		     "TEXT; go on? (yes: ringfence resume; no: ringfence abort)"));
	CHECK("abort aborts", wishes("abort", LOOP_WISH_ABORT, false, "TEXT"));
	CHECK("an unknown action does nothing", wishes("dance", LOOP_WISH_NONE, false, "by you"));
	begin(&script);
	alerted(&script, "errors", "ask");
	happens(&script, "asked", "{\"wish\": \"abort\"}");
	alerted(&script, "time", "pause");
	CHECK("the user's own wish wins",
	      script.state.wish == LOOP_WISH_ABORT &&
		      strcmp(loop_state_wish_reason(&script.state), "by you") == 0);
	loop_state_release(&script.state);
}

int main(void)
{
	check_boundaries();
	check_changes();
	check_off();
	check_memory();
	check_wishes();
	return unit_failures != 0;
}
