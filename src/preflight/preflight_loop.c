/* The examination of a loop: see preflight_loop.h. */
#include "preflight/preflight_loop.h"

#include "doctor/probe.h"
#include "loop/client.h"
#include "preflight/preflight_check.h"
#include "preflight/preflight_files.h"
#include "preflight/preflight_git.h"
#include "settings/effective_models.h"
#include "settings/hint.h"
#include "settings/prices.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/text/shell.h"
#include "util/text/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* At a run, everything together stays below 300 ms. */
const struct preflight_budget preflight_loop_quick = {
	.entries = 20000, .files = 2000, .bytes = 4 << 20, .commits = 100, .ms = 60
};
const struct preflight_budget preflight_loop_thorough = {
	.entries = 2000000, .files = 200000, .bytes = 2ULL << 30, .commits = 10000, .ms = 20000
};

typedef void examine_fn(const struct preflight_loop *loop, struct preflight_items *items);

static void add_error(struct preflight_items *items, const char *name, const struct error *err,
		      const char *fix)
{
	preflight_items_add(items, name, PREFLIGHT_FAIL, mem_dup(err->text), fix);
}

/* ---- programs ---- */

/* Reports whether the shell itself understands a word, so that no program is needed. */
static bool is_shell_word(const char *word)
{
	static const char *const words[] = { "!",       ".",      "[",     "case",   "cd",
					     "command", "eval",   "exec",  "exit",   "export",
					     "for",     "if",     "set",   "source", "test",
					     "trap",    "ulimit", "umask", "unset",  "until",
					     "wait",    "while",  "{",     ":" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/* Returns why a command line cannot start, or NULL. The caller frees it. */
static char *missing_program(const struct preflight_loop *loop, const char *line)
{
	const char *home = loop->effective->place.identity.home;
	AUTO_FREE char *program = shell_program(line, home);
	AUTO_FREE char *found = NULL;

	/* Only a shell could tell, or it may be a file that is still to be made. */
	if (!program || is_shell_word(program) || strchr(program, '/'))
		return NULL;
	found = process_find(program);
	return found ? NULL : mem_format("there is no '%s' in PATH", program);
}

/* Returns the program that the fence hides, as an error; or NULL. The caller frees it. */
static char *hidden_program(const struct preflight_loop *loop, const char *line, char **ret_fix)
{
	AUTO_FREE char *program = loop->plan ? shell_program(line, loop->plan->home) : NULL;
	AUTO_FREE char *read = NULL;
	AUTO_FREE char *path = program ? hint_hidden(loop->plan, program, &read) : NULL;

	if (!path)
		return NULL;
	*ret_fix = mem_format("--read %s", read);
	return mem_format("%s is hidden in the fence", path);
}

/* ---- the items ---- */

static void examine_agent(const struct preflight_loop *loop, struct preflight_items *items)
{
	const struct choice *choice = &loop->request->agents.items[0];
	AUTO_FREE char *fix = NULL;
	char *why;

	if (loop->agent_error) {
		add_error(items, "agent", loop->agent_error, "ringfence agents");
		return;
	}
	why = missing_program(loop, choice->command);
	why = why ? why : hidden_program(loop, choice->command, &fix);
	if (why) {
		preflight_items_add(items, "agent", PREFLIGHT_FAIL, why,
				    fix ? fix : "--agent-command COMMAND, or ringfence agents");
		return;
	}
	preflight_items_add(items, "agent", PREFLIGHT_PASS,
			    choice->agent->program
				    ? mem_format("%s%s%s; it can log in%s", choice->agent->title,
						 choice->model ? " with " : "",
						 choice->model ? choice->model : "",
						 choice->login ? " with a copy of your login" : "")
				    : mem_format("the command '%.200s'", choice->command),
			    NULL);
}

static void examine_check(const struct preflight_loop *loop, const char *line,
			  struct preflight_items *items)
{
	AUTO_FREE char *quoted = shell_quoted(line);
	AUTO_FREE char *fix = NULL;
	AUTO_FREE char *trouble = NULL;
	const char *advice;
	char *why = missing_program(loop, line);

	why = why ? why : hidden_program(loop, line, &fix);
	trouble = preflight_check_trouble(loop->effective->place.project, line, &advice);
	if (why) {
		preflight_items_add(items, "check", PREFLIGHT_FAIL,
				    mem_format("'%.200s': %s", line, why), fix);
		free(why);
	} else if (trouble) {
		preflight_items_add(items, "check", PREFLIGHT_WARN,
				    mem_format("'%.200s': %s", line, trouble), advice);
	} else {
		AUTO_FREE char *try =
			mem_format("to see how it does now: ringfence exec -- sh -c %s", quoted);

		preflight_items_add(items, "check", PREFLIGHT_PASS,
				    mem_format("'%.200s'%s; %s", line,
					       loop->request->goal.found ? ", found in the project"
									 : "",
					       try),
				    NULL);
	}
}

static void examine_goal(const struct preflight_loop *loop, struct preflight_items *items)
{
	const struct goal *goal = &loop->request->goal;
	size_t index;
	json_t *check;

	if (loop->goal_error) {
		add_error(items, "check", loop->goal_error, NULL);
		return;
	}
	json_array_foreach(goal->checks, index, check)
		examine_check(loop, json_string_value(check), items);
	if (json_array_size(goal->checks))
		return;
	preflight_items_add(
		items, "check", PREFLIGHT_WARN,
		mem_format("none: only the agent's word%s decides when the work is done",
			   goal->tasks ? " and the task list" : ""),
		"--check COMMAND");
	preflight_items_mark_known(items);
}

static void examine_disk(const struct preflight_loop *loop, struct preflight_items *items)
{
	const struct fence_place *place = &loop->effective->place;
	int64_t least = loop->request->start.min_free_bytes;
	AUTO_FREE char *here = client_room(place->project, least);
	AUTO_FREE char *there = client_room(place->state, least);
	struct statvfs status = { 0 };
	AUTO_FREE char *free_space = NULL;

	if (here || there) {
		preflight_items_add(items, "disk", PREFLIGHT_FAIL, mem_dup(here ? here : there),
				    "ringfence clean --older 30d");
		return;
	}
	if (statvfs(place->project, &status) == 0)
		free_space = text_size((uint64_t)status.f_bavail * status.f_frsize);
	preflight_items_add(items, "disk", PREFLIGHT_PASS,
			    mem_format("%s free", free_space ? free_space : "enough"), NULL);
}

/* Tries the fence on an empty folder. */
static void probe(const struct preflight_loop *loop, struct preflight_items *items)
{
	const char *mechanism = fence_plan_mechanism(loop->plan);
	struct probe tried;

	probe_fence(mechanism, &tried);
	preflight_items_add(items, "fence", tried.held ? PREFLIGHT_PASS : PREFLIGHT_FAIL,
			    tried.held
				    ? mem_format("%s holds: %u of %u canaries, %llu ms", mechanism,
						 tried.canaries_held, tried.canaries_total,
						 (unsigned long long)tried.duration_ms)
				    : mem_format("%s: %s", mechanism, tried.why),
			    tried.held ? NULL : "ringfence doctor");
}

static void examine_fence(const struct preflight_loop *loop, struct preflight_items *items)
{
	if (loop->project_error) {
		add_error(items, "fence", loop->project_error, NULL);
	} else if (!loop->plan) {
		add_error(items, "fence", loop->plan_error, "ringfence doctor");
	} else if (loop->plan->weaker & FENCE_WEAKER_NO_FENCE) {
		preflight_items_add(items, "fence", PREFLIGHT_WARN,
				    mem_dup("NONE: the agent has all your rights"),
				    "leave --i-accept-no-fence out");
		preflight_items_mark_known(items);
	} else if (loop->effective->spec.net == FENCE_NET_OPEN) {
		preflight_items_add(items, "fence", PREFLIGHT_WARN,
				    mem_format("%s, but the network is open: the agent can send "
					       "what it reads anywhere",
					       fence_plan_mechanism(loop->plan)),
				    "--net none, with --allow HOST");
		preflight_items_mark_known(items);
	} else if (loop->probe) {
		probe(loop, items);
	}
}

/* Reports whether requests cost money: a provider's own server is reached. */
static bool costs_money(const struct model_access *access)
{
	for (size_t i = 0; i < PROVIDER_COUNT; i++)
		if (access->upstreams[i].set && !access->upstreams[i].local)
			return !model_access_tape(access, MODEL_ACCESS_REPLAY);
	return false;
}

static void examine_limits(const struct preflight_loop *loop, struct preflight_items *items)
{
	const struct config *config = &loop->effective->config;
	bool paid = costs_money(&loop->effective->spec.models);
	uint64_t cost = effective_loop_number(config, SETTING_MAX_COST);
	uint64_t ms = effective_loop_number(config, SETTING_MAX_TIME);
	uint64_t iterations = effective_loop_number(config, SETTING_MAX_ITERATIONS);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1024);

	if (!iterations && !ms) {
		preflight_items_add(items, "limits", PREFLIGHT_WARN,
				    mem_dup("neither iterations nor time are limited"),
				    "--max-iterations 20, or --max-time 8h");
	} else if (paid && !cost) {
		preflight_items_add(items, "limits", PREFLIGHT_WARN,
				    mem_dup("the cost is not limited"), "--max-cost 25");
	} else {
		if (iterations)
			buffer_printf(&text, "%llu iteration%s", (unsigned long long)iterations,
				      iterations == 1 ? "" : "s");
		if (ms) {
			buffer_add_text(&text, text.used ? ", " : "");
			text_add_duration(&text, ms);
		}
		if (cost)
			buffer_printf(&text, ", US$ %g", (double)cost / 1e9);
		preflight_items_add(items, "limits", PREFLIGHT_PASS, mem_dup(buffer_text(&text)),
				    NULL);
	}
}

/* Counts the running loops of the project, and returns one that writes to it. */
static size_t count_running(const struct client_loops *loops, const struct client_loop **ret_here)
{
	size_t count = 0;

	for (size_t i = 0; i < loops->count; i++) {
		const struct client_loop *loop = &loops->items[i];

		if (!loop->alive)
			continue;
		count++;
		if (!loop->state.options.draft && !loop->state.options.work_tree)
			*ret_here = loop;
	}
	return count;
}

static void examine_loops(const struct preflight_loop *loop, struct preflight_items *items)
{
	const struct fence_place *place = &loop->effective->place;
	const struct client_query query = { .project = place->project };
	const struct client_loop *here = NULL;
	struct client_loops loops = { 0 };
	struct error err;
	size_t count;

	if (client_list(place->state, &query, &loops, &err) < 0) {
		preflight_items_add(items, "loops", PREFLIGHT_WARN, mem_dup(err.text),
				    "ringfence doctor");
		return;
	}
	count = count_running(&loops, &here);
	if (here && loop->request->start.workspace == OP_START_IN_PLACE) {
		AUTO_FREE char *fix = mem_format("--workspace draft, or ringfence abort %s",
						 here->id);

		preflight_items_add(items, "loops", PREFLIGHT_FAIL,
				    mem_format("loop %s writes to this project", here->id), fix);
	} else {
		preflight_items_add(items, "loops", PREFLIGHT_PASS,
				    count ? mem_format("%zu other%s running on this project", count,
						       count == 1 ? " is" : "s are")
					  : mem_dup("no other is running on this project"),
				    NULL);
	}
	client_loops_release(&loops);
}

/* ---- what is sent where ---- */

/* Appends the servers of models, and returns their number. */
static size_t add_servers(const struct model_access *access, struct buffer *out)
{
	size_t count = 0;

	for (size_t i = 0; i < PROVIDER_COUNT; i++) {
		const struct model_access_upstream *upstream = &access->upstreams[i];

		if (upstream->set)
			buffer_printf(out, "%s%s (%s%s)", count++ ? ", " : "", upstream->url.host,
				      provider_at(i)->name, upstream->local ? ", yours" : "");
	}
	return count;
}

/* An agent with its own login sends to hosts that the fence allows. */
static void add_allowed(const struct preflight_loop *loop, struct buffer *out)
{
	const struct fence_paths *allow = &loop->effective->spec.allow;

	if (loop->effective->spec.net == FENCE_NET_OPEN) {
		buffer_add_text(out, "any host: the network is open");
		return;
	}
	for (size_t i = 0; i < allow->count; i++)
		buffer_printf(out, "%s%s", i ? ", " : "", allow->items[i].path);
}

/* Requests for a model without a price are refused, or charged as those of the most expensive one.
 */
static bool is_unpriced(const struct preflight_loop *loop)
{
	const char *model = loop->request->agents.items[0].model;
	struct price_table table;
	struct error ignored;
	bool unknown;

	if (!model || !costs_money(&loop->effective->spec.models) ||
	    prices_load(&loop->effective->place, &table, &ignored) < 0)
		return false;
	unknown = !price_find(&table, model);
	price_table_release(&table);
	return unknown;
}

static void examine_models(const struct preflight_loop *loop, struct preflight_items *items)
{
	const struct model_access *access = &loop->effective->spec.models;
	const char *tape = model_access_tape(access, MODEL_ACCESS_REPLAY);
	const char *model = loop->request->agents.items[0].model;
	bool is_open = loop->effective->spec.net == FENCE_NET_OPEN;
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 14);

	if (tape) {
		preflight_items_add(items, "sends", PREFLIGHT_PASS,
				    mem_format("nothing: answers come from the tape %s", tape),
				    NULL);
		return;
	}
	if (is_unpriced(loop)) {
		preflight_items_add(items, "sends",
				    access->refuse_unknown ? PREFLIGHT_FAIL : PREFLIGHT_WARN,
				    mem_format("the model %s has no known price, and %s", model,
					       access->refuse_unknown
						       ? "its requests are refused"
						       : "counts as the most expensive one"),
				    "--model of ringfence prices, or a line in your prices.txt "
				    "(ringfence prices --help)");
		return;
	}
	if (!model_access_is_set(access) && !is_open && !loop->effective->spec.allow.count) {
		preflight_items_add(items, "sends", PREFLIGHT_PASS,
				    mem_dup("nothing: the fence has neither models nor a network"),
				    NULL);
		return;
	}
	buffer_add_text(&text, "prompts, and what the agent reads, to ");
	if (!add_servers(access, &text))
		add_allowed(loop, &text);
	else if (model)
		buffer_printf(&text, ", for %s", model);
	preflight_items_add(items, "sends", PREFLIGHT_PASS, mem_dup(buffer_text(&text)), NULL);
}

void preflight_loop_examine(const struct preflight_loop *loop,
			    const struct preflight_budget *budget, struct preflight_items *items)
{
	static examine_fn *const all[] = { examine_agent, examine_goal,   examine_disk,
					   examine_fence, examine_limits, examine_loops,
					   examine_models };
	const struct fence_place *place = &loop->effective->place;
	struct snapshot_job job;

	/* Two processes read at the same time. */
	preflight_git_begin(place->state, place->project, budget, &job);
	if (loop->plan)
		preflight_files_examine(loop->plan, budget, items);
	preflight_git_end(&job, loop->request->start.workspace, items);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		all[i](loop, items);
}
