/* Runs in the fence: see work.h. */
#include "loop/run/work.h"

#include "loop/run/loop_checkpoint.h"
#include "loop/run/loop_cost.h"
#include "loop/run/loop_git.h"
#include "loop/run/project_watch.h"
#include "loop/run/retry.h"
#include "loop/state/loop_folder.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 65536 };

/* An agent that has finished is stopped after this long without output. */
enum { AFTER_END_MS = 60000 };

/* Stops an agent that has spent too much; what is spent cannot be undone. */
static void watch_cost(struct supervisor *sup)
{
	int64_t budget = loop_state_budget_nusd(&sup->state);
	int64_t cost = sup->run.heard.cost_nusd;
	int64_t most = sup->state.options.limits.cost_nusd;

	/* With models, the gateway counts and enforces the limit. */
	if (sup->run.cut != SUPERVISOR_CUT_NOT || cost <= 0 ||
	    model_access_is_set(&sup->fence.models))
		return;
	if ((budget && cost >= budget) || (most && cost >= most - sup->state.spent_nusd)) {
		sup->run.cut = SUPERVISOR_CUT_BUDGET;
		runner_stop(&sup->run.runner);
	}
}

static uint64_t count(int64_t tokens)
{
	return tokens > 0 ? (uint64_t)tokens : 0;
}

/*
 * Prices the tokens if the agent does not report a cost. Its report may add up many requests of
 * unknown size, so prices for large prompts do not apply. A model without a price leaves the cost
 * unknown.
 */
static int64_t price_tokens(const struct supervisor *sup, const struct agent_event *event)
{
	const char *name = *event->name ? event->name : loop_state_part(&sup->state)->model;
	const struct price_model *model = name ? price_find(&sup->prices, name) : NULL;
	const struct agent_tokens *tokens = &event->tokens;
	const struct price_use use = { .tokens = {
					       [PRICE_INPUT] = count(tokens->input),
					       [PRICE_OUTPUT] = count(tokens->output),
					       [PRICE_READ] = count(tokens->cache_read),
					       [PRICE_WRITE_5M] = count(tokens->cache_write_5m),
					       [PRICE_WRITE_1H] = count(tokens->cache_write_1h),
				       } };
	struct price_model usual;
	uint64_t cost;

	if (!model)
		return -1;
	usual = *model;
	usual.tier_count = 1;
	cost = price_cost(&sup->prices, &usual, &use, NULL);
	return cost > INT64_MAX ? INT64_MAX : (int64_t)cost;
}

static void add_event(const struct supervisor *sup, struct agent_summary *summary,
		      const struct agent_event *event)
{
	struct agent_event priced = *event;

	if (event->kind == AGENT_EVENT_tokens && event->cost_nusd < 0 && event->name)
		priced.cost_nusd = price_tokens(sup, event);
	agent_summary_add(summary, &priced);
}

static void on_event(void *context, const struct agent_event *event)
{
	struct supervisor *sup = context;

	add_event(sup, &sup->run.heard, event);
	watch_cost(sup);
}

static void tap(void *context, const char *bytes, size_t size)
{
	agent_reader_feed(context, bytes, size);
}

static int output_fd(void *context)
{
	const struct supervisor *sup = context;

	return sup->run.working ? sup->run.output.fd : -1;
}

static void serve_output(void *context, bool readable)
{
	struct supervisor *sup = context;

	if (!readable)
		return;
	sup->run.said_ms = wait_set_steady_ms();
	sink_serve(&sup->run.output);
}

static int complaints_fd(void *context)
{
	const struct supervisor *sup = context;

	return sup->run.working ? sup->run.complaints.fd : -1;
}

static void serve_complaints(void *context, bool readable)
{
	struct supervisor *sup = context;

	if (!readable)
		return;
	sup->run.said_ms = wait_set_steady_ms();
	sink_serve(&sup->run.complaints);
}

/* When is the agent stopped for lack of output? */
static int64_t silence_due_ms(void *context)
{
	const struct supervisor *sup = context;
	int64_t idle_ms = sup->state.options.idle_ms;

	/* Some agents never exit after their last message; others wait for background work. */
	if (sup->run.heard.finished && (!idle_ms || idle_ms > AFTER_END_MS))
		idle_ms = AFTER_END_MS;
	if (!sup->run.working || sup->run.cut || !idle_ms ||
	    (sup->state.step != LOOP_STEP_agent && sup->state.step != LOOP_STEP_review))
		return INT64_MAX;
	return sup->run.said_ms + idle_ms;
}

static void watch_silence(void *context, bool readable)
{
	struct supervisor *sup = context;

	(void)readable;
	if (silence_due_ms(sup) > wait_set_steady_ms())
		return;
	sup->run.cut = SUPERVISOR_CUT_IDLE;
	runner_stop(&sup->run.runner);
}

static int result_fd(void *context)
{
	const struct supervisor *sup = context;

	return sup->run.working ? sup->run.runner.result : -1;
}

static void serve_result(void *context, bool readable)
{
	struct supervisor *sup = context;

	sup->run.ended = sup->run.ended || readable;
}

void work_watch(struct supervisor *sup)
{
	const struct wait_set_watch watches[] = {
		{ .fd = output_fd, .serve = serve_output },
		{ .fd = complaints_fd, .serve = serve_complaints },
		{ .due_ms = silence_due_ms, .serve = watch_silence },
		{ .fd = result_fd, .serve = serve_result },
	};

	for (size_t i = 0; i < sizeof watches / sizeof *watches; i++) {
		struct wait_set_watch watch = watches[i];

		watch.context = sup;
		wait_set_add(&sup->waits, &watch);
	}
}

/* All writers are dead: reads what is left in the pipe. */
static void drain(struct sink *sink)
{
	while (sink->fd >= 0 && sink_serve(sink) &&
	       poll(&(struct pollfd){ .fd = sink->fd, .events = POLLIN }, 1, 0) > 0)
		;
}

static bool has_path(const struct fence_paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->count; i++)
		if (strcmp(paths->items[i].path, path) == 0)
			return true;
	return false;
}

static bool has_within(const struct fence_paths *paths, const char *folder)
{
	for (size_t i = 0; i < paths->count; i++)
		if (path_within(paths->items[i].path, folder))
			return true;
	return false;
}

/* A part that only reads sees what the others see, and can change nothing else than spec->write. */
static void make_read_only(struct fence_spec *spec, const struct supervisor *sup,
			   const char *origin)
{
	spec->read_only = true;
	spec->read_only_origin = origin;
	for (size_t i = 0; i < sup->fence.write.count; i++) {
		const struct fence_path *path = &sup->fence.write.items[i];

		if (has_path(&spec->write, path->path))
			continue;
		fence_paths_add(&spec->read, path->path, path->origin);
		spec->read.items[spec->read.count - 1].weak = has_within(&spec->write, path->path);
	}
	for (size_t i = 0; i < sup->git.covers.count; i++)
		fence_covers_add(&spec->covers, sup->git.covers.items[i].path,
				 sup->git.covers.items[i].source, false);
}

/* May the loop change this path of the project at all? A phase never widens what it may do. */
static bool may_change(const struct supervisor *sup, const char *path)
{
	const struct fence_paths *write = &sup->fence.write;
	const char *project = sup->state.options.project;
	bool named = false;

	for (size_t i = 0; i < write->count; i++) {
		if (path_within(path, write->items[i].path))
			return true;
		named = named || path_within(write->items[i].path, project);
	}
	return !named && !sup->fence.read_only;
}

/* Lets a phase change only what it names, in the project. A path that is missing is made, because
 * the fence can show only what exists. */
static void make_narrow(struct fence_spec *spec, const struct supervisor *sup,
			const struct loop_phase *phase)
{
	size_t index;
	const json_t *path;

	json_array_foreach(phase->write, index, path)
	{
		AUTO_FREE char *full = path_join(sup->state.options.project,
						 json_string_value(path));

		if (!may_change(sup, full))
			continue;
		fence_paths_add(&spec->write, full, "phases");
		spec->write.items[spec->write.count - 1].made = true;
		/* Protected files stay so, unless the user named this one. */
		spec->write.items[spec->write.count - 1].weak = !has_path(&sup->fence.write, full);
	}
	make_read_only(spec, sup, "phases: write");
}

static void make_writable(struct fence_spec *spec, const struct supervisor *sup)
{
	fence_paths_add_all(&spec->write, &sup->fence.write);
	for (size_t i = 0; i < sup->git.covers.count; i++)
		fence_covers_add(&spec->covers, sup->git.covers.items[i].path,
				 sup->git.covers.items[i].source,
				 sup->git.covers.items[i].writable);
}

/* In a draft the fence protects no git directory by itself. */
static void protect_git(struct fence_spec *spec, const struct supervisor *sup)
{
	if (loop_state_protects_git(&sup->state))
		fence_paths_add_git(&spec->read, sup->state.options.project);
}

/* Shows the folder that is held out to final checks, and hides it from everybody else. */
static void hold_out(const struct supervisor *sup, const struct work *work, struct fence_spec *spec)
{
	const char *folder = sup->state.options.hold_out;

	spec->read = spec->hide = (struct fence_paths){ 0 };
	fence_paths_add_all(&spec->read, &sup->fence.read);
	fence_paths_add_all(&spec->hide, &sup->fence.hide);
	if (!folder)
		return;
	fence_paths_add(work->final ? &spec->read : &spec->hide, folder, "--hold-out");
	if (work->final)
		list_printf(&spec->env, "RINGFENCE_HOLD_OUT=%s", folder);
}

static int start(struct supervisor *sup, const struct work *work, struct error *err)
{
	char *const arguments[] = { (char *)"sh", (char *)"-c", (char *)work->command, NULL };
	AUTO_FREE char *report = mem_format("%s/%sreport.json", work->folder, work->name);
	const struct work_view agents = { .folder = sup->state.options.draft };
	const struct work_view view = work->view ? *work->view : agents;
	const struct loop_phase *phase = loop_state_phase(&sup->state);
	struct fence_spec spec = sup->fence;
	struct ledger_options ledger;
	AUTO_FREE char *day = NULL;
	int result;

	spec.project = sup->state.options.project;
	spec.command = arguments;
	spec.limits[FENCE_LIMIT_TIME] = (uint64_t)work->timeout_ms;
	spec.env = (struct list){ 0 };
	for (size_t i = 0; i < sup->fence.env.count; i++)
		list_add(&spec.env, sup->fence.env.items[i]);
	if (work->session)
		list_printf(&spec.env, "RINGFENCE_SESSION=%s", work->session);
	if (work->login) {
		list_printf(&spec.env, "RINGFENCE_LOGIN=%s", work->login);
		spec.login = loop_state_part(&sup->state)->login; /* the risk is in every report */
	}
	spec.write = (struct fence_paths){ 0 };
	spec.covers = (struct fence_covers){ 0 };
	hold_out(sup, work, &spec);
	protect_git(&spec, sup);
	if (loop_state_part(&sup->state)->review)
		make_read_only(&spec, sup, "--review");
	else if (work->format && phase && phase->write)
		make_narrow(&spec, sup, phase);
	else
		make_writable(&spec, sup);
	if (work->keep) {
		list_printf(&spec.env, "RINGFENCE_KEEP=%s", work->keep);
		fence_paths_add(&spec.write, work->keep, "the agent's sessions");
	}
	if (!work->format) /* checks do not use models */
		spec.models = (struct model_access){ 0 };
	loop_cost_options(sup, &ledger, &day);
	project_watch_begin(sup);
	result = runner_start(&(struct runner_request){ .spec = &spec,
							.ledger = &ledger,
							.draft = view.folder,
							.over = view.over,
							.front = view.front,
							.index = sup->state.options.draft
									 ? &sup->watch.index
									 : NULL,
							.index_file = sup->watch.file,
							.input = work->input,
							.size = work->size,
							.report = report,
							.lock = sup->lock },
			      &sup->run.runner, err);
	list_release(&spec.env);
	fence_paths_release(&spec.write);
	fence_paths_release(&spec.read);
	fence_covers_release(&spec.covers);
	fence_paths_release(&spec.hide);
	return result;
}

/* Returns whether nothing was started because the view could not be mounted, and nobody has stopped
 * the run meanwhile. */
static bool is_unviewed(const struct supervisor *sup, const struct runner_result *result)
{
	return result->unviewed && sup->run.cut == SUPERVISOR_CUT_NOT && !sup->leaving;
}

static int run_once(struct supervisor *sup, const struct work *work,
		    struct runner_result *ret_result, struct error *err)
{
	AUTO_FREE char *out = mem_format("%s/%sstdout.log", work->folder, work->name);
	AUTO_FREE char *complaints = mem_format("%s/%sstderr.log", work->folder, work->name);
	struct agent_reader *reader = NULL;

	if (!work->view) /* nothing in a view changes the project */
		loop_checkpoint_run_begins(sup);
	if (start(sup, work, err) < 0)
		return -1;
	sink_open(&sup->run.output, sup->run.runner.output, out);
	sink_open(&sup->run.complaints, sup->run.runner.complaints, complaints);
	agent_summary_init(&sup->run.heard);
	if (work->format) {
		reader = agent_reader_new(work->format, on_event, sup);
		if (work->session)
			agent_reader_continue(reader, &sup->state.session_use);
		sup->run.output.tap = tap;
		sup->run.output.context = reader;
	}
	sup->run.working = true;
	sup->run.ended = false;
	sup->run.cut = SUPERVISOR_CUT_NOT;
	sup->run.said_ms = wait_set_steady_ms();
	while (!sup->run.ended)
		supervisor_wait(sup, INT64_MAX);
	loop_checkpoint_run_ended(sup);
	runner_end(&sup->run.runner, ret_result);
	project_watch_end(sup, ret_result);
	drain(&sup->run.output);
	drain(&sup->run.complaints);
	sup->run.working = false;
	if (reader)
		agent_reader_end(reader);
	agent_reader_free(reader);
	if (work->format)
		loop_cost_count(sup, &sup->run.heard);
	sup->run.output.tap = NULL;
	return 0;
}

int work_run(struct supervisor *sup, const struct work *work, struct runner_result *ret_result,
	     struct error *err)
{
	struct error why;
	int tries = 0;
	int again = 1;

	if (loop_git_unlock(sup, err) < 0)
		return -1;
	while (again > 0) {
		if (run_once(sup, work, ret_result, err) < 0)
			return -1;
		if (!is_unviewed(sup, ret_result))
			return 0;
		error_with(&why, ERROR_DIED, "%s", ret_result->why);
		again = retry_after(sup, RETRY_VIEW, &why, &tries, err);
		if (again != 0)
			work_forget(sup);
	}
	return again;
}

void work_stop(struct supervisor *sup, enum supervisor_cut cut, bool now)
{
	if (!sup->run.working)
		return;
	sup->run.cut = cut;
	if (now)
		fd_close(&sup->run.runner.lifeline);
	else
		runner_stop(&sup->run.runner);
}

void work_forget(struct supervisor *sup)
{
	sink_release(&sup->run.output);
	sink_release(&sup->run.complaints);
	agent_summary_release(&sup->run.heard);
}

char *work_name(const struct supervisor *sup)
{
	return loop_state_part(&sup->state)->review
		       ? mem_format("review-%u.", sup->state.review.runs)
		       : mem_dup("");
}

struct recollection {
	const struct supervisor *sup;
	struct agent_summary *summary;
};

static void recall(void *context, const struct agent_event *event)
{
	const struct recollection *recollection = context;

	add_event(recollection->sup, recollection->summary, event);
}

void work_recall(const struct supervisor *sup, struct agent_summary *ret_heard)
{
	const struct loop_state *state = &sup->state;
	AUTO_FREE char *folder = loop_folder_iteration(sup->folder, state->iteration,
						       state->attempt);
	AUTO_FREE char *name = work_name(sup);
	AUTO_FREE char *path = mem_format("%s/%sstdout.log", folder, name);
	AUTO_FD fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct recollection recollection = { sup, ret_heard };
	struct agent_reader *reader = agent_reader_new(loop_state_part(state)->format, recall,
						       &recollection);
	AUTO_FREE char *chunk = mem_alloc(CHUNK);
	ssize_t n;

	agent_summary_init(ret_heard);
	if (state->options.keep_session && state->session && !loop_state_part(state)->review)
		agent_reader_continue(reader, &state->session_use);
	while (fd >= 0 && (n = read(fd, chunk, CHUNK)) > 0)
		agent_reader_feed(reader, chunk, (size_t)n);
	agent_reader_end(reader);
	agent_reader_free(reader);
	loop_cost_count(sup, ret_heard);
}
