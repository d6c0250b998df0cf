/* Phases: as a configuration has them, as the loop's state keeps them, and what ends one. */
#include "unit.h"
#include "unit_script.h"

#include "config/config.h"
#include "config/phase_text.h"
#include "decision/all.h"
#include "fenced/made_paths.h"
#include "loop/run/prompt.h"
#include "loop/state/loop_state.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW INT64_C(1795004400)
#define USD INT64_C(1000000000)

/* ---- in a file ---- */

static const struct config_place place = { .project = "/w/p", .home = "/w" };

static void read_layers(struct config *config, const char *user, const char *project,
			const char *agreed)
{
	config_init(config);
	config_add_text(config, CONFIG_USER, "u", "/w/.config/ringfence", &place, user,
			strlen(user));
	config_add_text(config, CONFIG_PROJECT, "p", "/w/p", &place, project, strlen(project));
	config_settle(config, &place, agreed);
}

/* The first problem of a text in the user's file, or "". */
static const char *mistake(const char *text)
{
	static char first[512];
	struct config config;

	read_layers(&config, text, "", NULL);
	snprintf(first, sizeof first, "%s", config.problems.count ? config.problems.items[0] : "");
	config_release(&config);
	return first;
}

static bool refused(const char *text, const char *words)
{
	const char *said = mistake(text);

	if (!strstr(said, words))
		printf("# %s\n", said);
	return *said && strstr(said, words);
}

/* The texts of the active phases, each in brackets. */
static char *active(const char *user, const char *project)
{
	struct buffer all = BUFFER_INIT(4096);
	struct config config;

	read_layers(&config, user, project, NULL);
	for (size_t i = 0; i < config.count; i++)
		if (config.values[i].setting->id == SETTING_PHASES &&
		    config.values[i].state == CONFIG_ACTIVE)
			buffer_printf(&all, "[%s]", config.values[i].text);
	config_release(&config);
	buffer_text(&all);
	return all.data;
}

static void written(void)
{
	AUTO_FREE char *whole =
		active("phases:\n  - name: plan\n    write: PLAN.md\n    until: [file "
		       "PLAN.md, promise]\n    prompt-file: a/plan.md\n    max-cost: "
		       "1.50\n  - {name: work}\n",
		       "");
	AUTO_FREE char *project = active("phases: [{name: mine}]\n", "phases: [{name: theirs}]\n");
	AUTO_FREE char *lower = active("phases: [{name: mine}]\n", "net: none\n");

	CHECK("phases are a list of maps, in their order",
	      strcmp(whole,
		     "[{\"name\":\"plan\",\"write\":[\"PLAN.md\"],\"until\":[\"file PLAN.md\","
		     "\"promise\"],\"prompt-file\":\"/w/.config/ringfence/a/plan.md\","
		     "\"max-cost\":\"1.50\"}][{\"name\":\"work\"}]") == 0);
	CHECK("those of a project are inactive until it is trusted",
	      strcmp(project, "[{\"name\":\"mine\"}]") == 0);
	CHECK("those of the user need no trust", strcmp(lower, "[{\"name\":\"mine\"}]") == 0);
}

/* The number of phases of a layer in a state, when the user has agreed to the project's. */
static size_t count(enum config_layer layer, enum config_state state)
{
	static const char user[] = "phases: [{name: mine}]\n";
	static const char project[] = "phases: [{name: theirs}]\n";
	struct config before, config;
	size_t found = 0;

	read_layers(&before, user, project, NULL);
	read_layers(&config, user, project, before.hash);
	for (size_t i = 0; i < config.count; i++)
		found += config.values[i].setting->id == SETTING_PHASES &&
			 config.values[i].layer == layer && config.values[i].state == state;
	config_release(&before);
	config_release(&config);
	return found;
}

static void replaced(void)
{
	CHECK("the phases of a trusted project replace the user's",
	      count(CONFIG_PROJECT, CONFIG_ACTIVE) == 1 &&
		      count(CONFIG_USER, CONFIG_REPLACED) == 1);
}

static void mistakes(void)
{
	CHECK("an unknown key is named, with the nearest one and its place",
	      refused("phases:\n  - name: a\n    wriet: b\n",
		      "u:3:5: a phase has no key 'wriet'; did you mean 'write'?"));
	CHECK("a phase needs a name",
	      refused("phases: [{write: a}]\n", "u:1:10: a phase needs a name"));
	CHECK("a name is a word", refused("phases: [{name: a b}]\n", "the name of a phase has") &&
					  refused("phases: [{name: none}]\n", "is not 'none'"));
	CHECK("two phases differ in their names",
	      refused("phases: [{name: a}, {name: a}]\n", "two phases have the name 'a'"));
	CHECK("phases are a list",
	      refused("phases: plan\n", "must be a list of phases") &&
		      refused("phases: [plan]\n", "must be a map with a name") &&
		      refused("phases: {name: a}\n", "must be a list of phases"));
	CHECK("a phase writes in the project only",
	      refused("phases: [{name: a, write: /etc}]\n", "must be a path in the project") &&
		      refused("phases: [{name: a, write: ../x}]\n", "a path in the project") &&
		      refused("phases: [{name: a, write: ~/x}]\n", "a path in the project") &&
		      refused("phases: [{name: a, write: .}]\n", "a path in the project") &&
		      refused("phases: [{name: a, write: .git/hooks/x}]\n", "a path in the") &&
		      refused("phases: [{name: a, write: sub/.GIT}]\n", "a path in the project") &&
		      refused("phases: [{name: a, write: [none, b]}]\n", "none stands alone"));
	CHECK("conditions are few words",
	      refused("phases: [{name: a, until: soon}]\n", "until must be done, promise, 'file") &&
		      refused("phases: [{name: a, until: file}]\n", "'file' needs an argument") &&
		      refused("phases: [{name: a, until: done now}]\n", "takes no argument") &&
		      refused("phases: [{name: a, until: file /x}]\n", "a path in the project") &&
		      refused("phases: [{name: a, until: iterations x}]\n", "whole number") &&
		      refused("phases: [{name: a, until: []}]\n", "empty list"));
	CHECK("a quoted command would not be found",
	      refused("phases:\n  - name: a\n    until: check \"make test\"\n",
		      "leave out the quotes"));
	CHECK("values are those of the settings",
	      refused("phases: [{name: a, max-iterations: two}]\n", "whole number above 0") &&
		      refused("phases: [{name: a, timeout: soon}]\n", "timeout must be a time") &&
		      refused("phases: [{name: a, on-limit: stop}]\n", "pause or next") &&
		      refused("phases: [{name: a, agent: []}]\n", "must be a single value"));
	CHECK("there is one prompt", refused("phases: [{name: a, prompt: b, prompt-file: c}]\n",
					     "a prompt or a prompt-file, not both"));
}

/* The example of docs/loop.md. */
static void example(void)
{
	AUTO_BUFFER struct buffer page = BUFFER_INIT(1 << 20);
	AUTO_FD file = open("docs/loop.md", O_RDONLY | O_CLOEXEC);
	const char *begin = file >= 0 && fd_read_all(file, &page) == 0
				    ? strstr(buffer_text(&page), "```yaml\nagent: claude\n")
				    : NULL;
	const char *end = begin ? strstr(begin + 8, "```") : NULL;
	AUTO_FREE char *text = end ? mem_format("%.*s", (int)(end - begin - 8), begin + 8) : NULL;
	AUTO_FREE char *phases = text ? active(text, "") : NULL;

	CHECK("the example of the documentation is valid",
	      text && !*mistake(text) && strstr(phases, "\"name\":\"plan\"") &&
		      strstr(phases, "\"name\":\"verify\""));
}

static void names(void)
{
	struct list found = { 0 };
	struct list none = { 0 };
	struct list bad = { 0 };
	struct error err;

	CHECK("as an option, phases are named", phase_text_names("plan,work", &found, &err) == 0 &&
							found.count == 2 &&
							strcmp(found.items[1], "work") == 0);
	CHECK("or there are none", phase_text_names("none", &none, &err) == 0 && !none.count);
	CHECK("an empty name is refused", phase_text_names("plan,", &bad, &err) < 0);
	list_release(&found);
	list_release(&none);
	list_release(&bad);
}

/* ---- what ends one ---- */

/* A loop whose only check passes, in the first of two phases. */
static struct decision_input usual(void)
{
	struct decision_input in = {
		.now = NOW,
		.started_at = NOW - 600,
		.iterations = 1,
		.limits = DECISION_LIMITS_DEFAULT,
		.rules = { .checks = true },
		.facts = { .has_result = true,
			   .output_bytes = 100,
			   .files_changed = 1,
			   .checks = 1,
			   .checks_passed = 1 },
		.snapshot = { .tree = { 'B' }, .files_changed = 1 },
		.agents = { .count = 1, .rungs = 1, .level = 1, .names = { "a", "b" } },
		.phase = { .name = "plan", .next = "work" },
	};

	for (int i = 0; i < BREAKER_COUNT; i++)
		breaker_init(&in.breakers[i], (enum breaker_kind)i);
	return in;
}

static bool decides(const struct decision_input *in, enum decision_action action, bool next,
		    const char *words)
{
	struct decision d;

	decision_make(in, &d);
	if (d.action == action && d.next_phase == next && strstr(d.reasons[0], words))
		return true;
	printf("# %s, %d: %s\n", decision_action_name(d.action), d.next_phase, d.reasons[0]);
	return false;
}

static void ends(void)
{
	struct decision_input in = usual();
	struct decision d;

	CHECK("a phase whose conditions do not hold goes on, although the loop's rules hold",
	      decides(&in, DECISION_GO_ON, false, "the phase is not over yet"));
	in.phase.held = true;
	CHECK("one whose conditions hold is followed by the next",
	      decides(&in, DECISION_GO_ON, true, "the phase 'plan' is over; next: 'work'"));
	in.breakers[BREAKER_NO_PROGRESS].count = 4;
	decision_make(&in, &d);
	CHECK("which starts afresh",
	      !d.level && !d.stalled && !d.breakers[BREAKER_NO_PROGRESS].count);
	in.phase.needs_rules = true;
	in.facts.checks_passed = 0;
	CHECK("a phase until `done` needs the rules of the loop",
	      decides(&in, DECISION_GO_ON, false, "the phase is not over yet"));
	in.facts.checks_passed = 1;
	in.limits.iterations = 2;
	CHECK("a limit of the loop holds, and the next phase is where it resumes",
	      decides(&in, DECISION_LIMIT, true, "iterations are used up"));
	in = usual();
	in.phase.held = true;
	in.findings_stop = 1;
	CHECK("changes that weaken the checks end no phase",
	      decides(&in, DECISION_GO_ON, false, ""));
	in = usual();
	in.facts.files_changed = 0;
	in.facts.reported = FAILURE_RATE_LIMIT;
	in.facts.has_result = false;
	in.phase.held = true;
	CHECK("nor does an agent that was kept from working",
	      decides(&in, DECISION_WAIT, false, ""));
}

static void last(void)
{
	struct decision_input in = usual();

	in.phase.next = NULL;
	CHECK("the loop is not done before its last phase is over",
	      decides(&in, DECISION_GO_ON, false, "the last phase is not over yet"));
	in.breakers[BREAKER_NO_PROGRESS].count = 3;
	in.earlier = &in.snapshot;
	in.earlier_count = 1;
	CHECK("an early stop says so as well",
	      decides(&in, DECISION_LIMIT, false, "stopped early") &&
		      decides(&in, DECISION_LIMIT, false, "the last phase is not over"));
	in = usual();
	in.phase.next = NULL;
	in.phase.held = true;
	CHECK("it is done when both hold", decides(&in, DECISION_DONE, false, "every rule holds"));
	in.facts.checks_passed = 0;
	CHECK("a phase never outvotes a check",
	      decides(&in, DECISION_GO_ON, false, "not done yet"));
}

static void limits(void)
{
	struct decision_input in = usual();
	struct decision d;

	in.phase.most_iterations = 2;
	CHECK("a limit that is not reached changes nothing",
	      decides(&in, DECISION_GO_ON, false, "not over yet"));
	in.phase.iterations = 1;
	CHECK("a phase that has used up its iterations needs a person",
	      decides(&in, DECISION_PAUSE, false,
		      "2 iterations of the phase 'plan' are used up (its max-iterations); for another "
		      "try: ringfence resume; for the next phase, 'work': ringfence resume "
		      "--next-phase"));
	in.phase.held = true;
	CHECK("unless it is over with the last one", decides(&in, DECISION_GO_ON, true, "is over"));
	in.phase.held = false;
	in.phase.skips = true;
	CHECK("or makes way for the next",
	      decides(&in, DECISION_GO_ON, true, "next phase: 'work'"));
	in.phase.next = NULL;
	CHECK("after the last there is none: the loop ends",
	      decides(&in, DECISION_LIMIT, false, "of the phase 'plan' are used up"));
	in = usual();
	in.phase.most_nusd = USD;
	in.phase.cost_nusd = USD;
	CHECK("the money of a phase is a limit as well",
	      decides(&in, DECISION_PAUSE, false, "US$ 1.00 of the phase 'plan' are spent"));
	decision_before(&in, &d);
	CHECK("also before an iteration", d.action == DECISION_PAUSE);
	in.phase.skips = true;
	decision_before(&in, &d);
	CHECK("where the next phase can follow", d.action == DECISION_GO_ON && d.next_phase);
}

/* ---- in the journal ---- */

static const char config[] =
	"{\"config\": {\"project\": \"/p\", \"objective\": \"make it\", \"agent_command\": \"agent\","
	" \"fence\": {}, \"budget_nusd\": 50,"
	" \"escalate\": [{\"agent_command\": \"strong\", \"name\": \"strong\"}], \"phases\": ["
	"{\"name\": \"plan\", \"prompt\": \"Think.\", \"write\": [\"PLAN.md\"], \"budget_nusd\": 90,"
	" \"max_cost_nusd\": 100, \"max_iterations\": 3, \"until\": [{\"kind\": \"file\", \"text\": "
	"\"PLAN.md\"}, {\"kind\": \"check\", \"text\": \"lint\"}]},"
	"{\"name\": \"work\", \"agents\": [{\"agent_command\": \"own\", \"name\": \"own\"}], \"escalate\": "
	"[{\"agent_command\": \"stronger\", \"name\": \"stronger\"}], \"until\": [{\"kind\": \"done\"}]}]}}";

static void iterate(struct script *script, const char *verdict, const char *data)
{
	happens(script, "begun", "{\"iteration\": 1, \"attempt\": 1, \"part\": 0}");
	happens(script, "ended", "{\"code\": 0, \"cost_nusd\": 30}");
	happens(script, "probed",
		"{\"command\": \"lint\", \"code\": 1, \"excerpt\": \"> line 3\", \"passed\": false}");
	happens(script, verdict, data);
}

static bool is_named(const struct loop_state *state, const char *of, const char *option,
		     int64_t whole_nusd)
{
	const struct loop_budget_name name = loop_state_budget_name(state);

	return strcmp(name.of, of) == 0 && strcmp(name.option, option) == 0 &&
	       name.whole_nusd == whole_nusd;
}

static void folding(void)
{
	struct script script = { 0 };
	struct loop_state *state = &script.state;
	AUTO_PROMPT struct prompt prompt = PROMPT_INIT;

	loop_state_init(state);
	happens(&script, "created", config);
	happens(&script, "started", "{}");
	happens(&script, "baselined", "{}");
	CHECK("a loop begins with its first phase",
	      !script.refused && strcmp(loop_state_phase(state)->name, "plan") == 0);
	CHECK("a phase tightens the budget of an iteration, and never widens it",
	      loop_state_budget_nusd(state) == 50 && !loop_state_budget_is_phase(state));
	CHECK("the budget has the name of what set it",
	      is_named(state, "this iteration", "--budget", 50));
	iterate(&script, "continued", "{\"used\": 1, \"counts\": true}");
	CHECK("iterations and cost count for the phase",
	      state->phase.used == 1 && state->phase.spent_nusd == 30);
	iterate(&script, "continued", "{\"used\": 1, \"counts\": false}");
	CHECK("what is left of its money limits the next iteration",
	      state->phase.used == 1 && loop_state_budget_nusd(state) == 40 &&
		      loop_state_budget_is_phase(state));
	CHECK("and is named by it", is_named(state, "this phase", "max-cost of the phase", 100));
	prompt_write(state, 9000, &prompt);
	CHECK("the prompt has the phase, what ends it, and what failed last",
	      strstr(buffer_text(&prompt.text), "phases: plan, work. This is plan.") &&
		      strstr(buffer_text(&prompt.text), "Think.") &&
		      strstr(buffer_text(&prompt.text), "There is a file `PLAN.md`") &&
		      strstr(buffer_text(&prompt.text), "`lint` failed.") &&
		      strstr(buffer_text(&prompt.text), "> line 3") &&
		      strstr(buffer_text(&prompt.text), "only these paths: `PLAN.md`"));
	iterate(&script, "paused", "{\"used\": 2, \"counts\": true}");
	happens(&script, "resumed", "{}");
	CHECK("a person who resumes it lets it count again",
	      !state->phase.used && !state->phase.spent_nusd &&
		      state->phase.sums[0].iterations == 2 &&
		      state->phase.sums[0].spent_nusd == 90);
	iterate(&script, "continued",
		"{\"used\": 3, \"counts\": true, \"next_phase\": true, \"level\": 1}");
	CHECK("a decision begins the next phase, at the bottom of its own ladder",
	      strcmp(loop_state_phase(state)->name, "work") == 0 && !state->phase.used &&
		      !state->level && !state->phase.failed &&
		      state->phase.sums[0].iterations == 3);

	struct decision_agents agents = loop_state_agents(state);

	CHECK("a phase has its own agents",
	      agents.count == 1 && agents.rungs == 1 && strcmp(agents.names[0], "own") == 0 &&
		      strcmp(agents.names[1], "stronger") == 0 &&
		      loop_state_agent_at(state, 0) == 2 && loop_state_agent_at(state, 1) == 3);
	iterate(&script, "continued", "{\"used\": 4, \"counts\": true, \"next_phase\": true}");
	CHECK("there is nothing after the last",
	      !script.refused && strcmp(loop_state_phase(state)->name, "work") == 0);
	loop_state_release(state);
}

static void by_hand(void)
{
	struct script script = { 0 };

	loop_state_init(&script.state);
	happens(&script, "created", config);
	happens(&script, "started", "{}");
	happens(&script, "baselined", "{}");
	happens(&script, "paused", "{}");
	happens(&script, "changed", "{\"next_phase\": true}");
	CHECK("a person can begin the next phase", !script.refused && script.state.phase.at == 1);
	loop_state_release(&script.state);
}

static void damaged(void)
{
	static const char *const bad[] = {
		"{\"name\": \"a\", \"until\": []}",
		"{\"until\": [{\"kind\": \"done\"}]}",
		"{\"name\": \"a\", \"until\": [{\"kind\": \"soon\"}]}",
		"{\"name\": \"a\", \"until\": [{\"kind\": \"done\"}], \"agents\": []}",
	};
	bool all = true;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		AUTO_FREE char *text = mem_format(
			"{\"config\": {\"project\": \"/p\", \"objective\": \"x\", \"agent_command\": "
			"\"agent\", \"fence\": {}, \"phases\": [%s]}}",
			bad[i]);
		struct script script = { 0 };

		loop_state_init(&script.state);
		happens(&script, "created", text);
		all = all && script.refused;
		loop_state_release(&script.state);
	}
	CHECK("a journal with a damaged phase is refused", all);
}

/* ---- paths that are made for a run ---- */

static void made(void)
{
	AUTO_FREE char *project = mem_format("%s/project", unit_folder);
	AUTO_FREE char *file = mem_format("%s/a/b/PLAN.md", project);
	AUTO_FREE char *folder = mem_format("%s/notes/", project);
	AUTO_FREE char *there = mem_format("%s/there", project);
	AUTO_FREE char *link = mem_format("%s/link", project);
	AUTO_FREE char *beyond = mem_format("%s/link/x", project);
	struct fence_paths paths = { 0 };
	struct fence_paths through = { 0 };
	struct list list = { 0 };
	struct stat status;
	struct error err;

	mkdir(project, 0700);
	mkdir(there, 0700);
	if (symlink("/tmp", link) < 0)
		abort();
	fence_paths_add(&paths, file, "phases");
	fence_paths_add(&paths, folder, "phases");
	fence_paths_add(&paths, there, "phases");
	for (size_t i = 0; i < paths.count; i++)
		paths.items[i].made = true;
	CHECK("missing files and folders are made",
	      made_paths_make(project, &paths, &list, &err) == 0 && list.count == 4 &&
		      stat(file, &status) == 0 && S_ISREG(status.st_mode) &&
		      stat(folder, &status) == 0 && S_ISDIR(status.st_mode));
	made_paths_drop(project, &list);
	CHECK("and removed if they are still empty",
	      access(file, F_OK) < 0 && access(folder, F_OK) < 0 && access(there, F_OK) == 0);
	list_release(&list);
	list = (struct list){ 0 };
	made_paths_make(project, &paths, &list, &err);
	if (truncate(file, 3) < 0)
		abort();
	made_paths_drop(project, &list);
	CHECK("but not if something was written", access(file, F_OK) == 0);
	fence_paths_add(&through, beyond, "phases");
	through.items[0].made = true;
	CHECK("no symlink is followed", made_paths_make(project, &through, &list, &err) < 0);
	list_release(&list);
	fence_paths_release(&paths);
	fence_paths_release(&through);
}

int main(void)
{
	written();
	replaced();
	mistakes();
	example();
	names();
	ends();
	last();
	limits();
	folding();
	by_hand();
	damaged();
	made();
	return unit_failures > 0;
}
