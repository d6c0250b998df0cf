/* One command in a fence: see fenced.h. */
#include "fenced/fenced.h"

#include "fence/fence_report.h"
#include "fenced/made_paths.h"
#include "fenced/other_names.h"
#include "gateway/owner/gateway_outlet.h"
#include "util/file/path.h"
#include "util/launcher.h"
#include "util/mem.h"

#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>

/* If the project keeps changing (an editor saves files, a log grows), give up after this many. */
enum { MOST_TRIES = 8 };

static void ignore_notice(const char *text)
{
	(void)text;
}

static void ignore_plan(const struct fence_plan *plan, bool first)
{
	(void)plan;
	(void)first;
}

/* ---- drafts ---- */

struct draft_view fenced_view(const struct fence_place *place, const char *draft)
{
	const struct fence_identity *identity = &place->identity;

	return (struct draft_view){ .project = place->project,
				    .folder = draft,
				    .writable = true,
				    .root = identity->mapped,
				    .foreign = identity->switched,
				    .lent_uid = identity->mapped ? identity->uid : 0,
				    .lent_gid = identity->mapped ? identity->gid : 0 };
}

bool fenced_hides(void *plan, const char *path, bool is_folder)
{
	const struct fence_rule *rule = fence_plan_decide(plan, path);

	return rule &&
	       (rule->access == WIRE_HIDE || (rule->access == WIRE_HIDE_AROUND && !is_folder));
}

int fenced_make_draft(const char *project, const struct draft_request *request,
		      struct draft_made *ret_made, struct error *err)
{
	struct draft_request whole = *request;
	struct fence_place place;
	int result;

	if (fence_place_find(project, &place, err) < 0)
		return -1;
	whole.view = fenced_view(&place, request->view.folder);
	whole.view.over = request->view.over;
	whole.view.front = request->view.front;
	result = draft_make(&whole, ret_made, err);
	fence_place_release(&place);
	return result;
}

/* The place is found outside the view, where everybody's files have their owners. */
static int find_place(struct fenced *run, struct error *err)
{
	if (run->spec.place)
		return 0;
	if (fence_place_find(run->spec.project, &run->place, err) < 0)
		return -1;
	run->placed = true;
	run->spec.place = &run->place;
	return 0;
}

static bool is_layered(const struct fenced_request *request, const char *draft)
{
	return draft_is_layered(draft) && (!request->over || draft_is_layered(request->over));
}

/* Makes the index of the view. Without one, the view is scanned as a whole. */
static void index_view(const struct fenced_request *request, struct fenced *run)
{
	const char *const drafts[] = { run->draft, request->over };
	struct list layers = { 0 };
	struct error ignored;

	for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++) {
		AUTO_FREE char *files = drafts[i] ? draft_files(drafts[i], &ignored) : NULL;

		if (files)
			list_add(&layers, files);
	}
	if (request->front)
		list_add(&layers, request->front);
	if (is_layered(request, run->draft) &&
	    fence_index_view(run->spec.index, &run->spec, &layers, &run->view_index, &ignored) == 0)
		run->spec.index = &run->view_index;
	else
		run->spec.index = NULL;
	list_release(&layers);
}

static bool is_own(const void *own, const char *path)
{
	return draft_own_has(own, path);
}

/* Plans for the project itself. making: begins before the scan, or NULL. */
static int plan_project(const struct fenced_request *request, struct fenced *run,
			const struct fenced_making *making, struct error *err)
{
	if (fence_plan_begin(&run->spec, &run->before, err) < 0)
		return -1;
	run->apart = true;
	if ((making && making->begin(making->context, err) < 0) ||
	    fence_plan_scan(&run->before, err) < 0)
		return -1;
	if (request->before)
		request->before(&run->before);
	return 0;
}

/* Plans once more if the project has changed: a new file may have the name of a secret. */
static int plan_again(const struct fenced_request *request, struct fenced *run, struct error *err)
{
	if (fence_index_is_current(&run->index, run->spec.place->project))
		return 0;
	fence_plan_release(&run->before);
	run->apart = false;
	fence_index_clear(&run->index);
	return plan_project(request, run, NULL, err);
}

/* Plans for the project itself, and makes a draft. */
static int make_draft(const struct fenced_request *request, struct fenced *run, struct error *err)
{
	const struct fenced_making *making = request->making;

	run->index.timed = true;
	return plan_project(request, run, making, err) < 0 ||
			       making->wait(making->context, err) < 0 ||
			       plan_again(request, run, err) < 0 ||
			       making->make(making->context, &run->before, &run->draft, err) < 0
		       ? -1
		       : 0;
}

/* Plans for the project itself. */
static int plan_before(const struct fenced_request *request, struct fenced *run, struct error *err)
{
	if (request->making)
		return make_draft(request, run, err);
	run->draft = request->draft;
	return draft_kind_name(run->draft, err) ? plan_project(request, run, NULL, err) : -1;
}

/* Leaves a process outside the view, if the mechanism needs one. */
static int stay_outside(struct fenced *run, struct error *err)
{
	if (!fence_plan_outside(&run->before))
		return 0;
	run->launcher = launcher_new(err);
	run->spec.launcher = run->launcher;
	return run->launcher ? 0 : -1;
}

static int show_draft(const struct fenced_request *request, struct fenced *run, struct error *err)
{
	struct draft_view view = fenced_view(run->spec.place, run->draft);

	view.writable = !request->draft_read_only;
	view.over = request->over;
	view.front = request->front;
	if (draft_own_open(&view, &run->own, err) < 0 || stay_outside(run, err) < 0 ||
	    draft_enter(&view, err) < 0)
		return -1;
	run->spec.before = &run->before;
	run->made_in_draft = (struct fence_made){ is_own, run->own };
	run->spec.made = &run->made_in_draft;
	run->spec.layers = draft_is_layered(run->draft) ? run->draft : NULL;
	return 0;
}

/* Plans for the project itself, then moves this process to the view. */
static int enter_draft(const struct fenced_request *request, struct fenced *run, struct error *err)
{
	if (!request->draft && !request->making)
		return 0;
	run->spec.draft = true;
	run->spec.index = request->index ? request->index : &run->index;
	run->spec.read_only = run->spec.read_only || request->draft_read_only;
	if (find_place(run, err) < 0 || plan_before(request, run, err) < 0)
		return -1;
	index_view(request, run);
	return show_draft(request, run, err);
}

/* ---- the run ---- */

/* Makes a tape inside the project read-only for the command. */
static void protect_tape(struct fence_spec *spec)
{
	const char *tape = gateway_outlet_tape(spec->outlet);
	const char *project = spec->place ? spec->place->project : spec->project;

	if (tape && project && path_within(tape, project))
		fence_paths_add(&spec->read, tape, "the tape");
}

static int open_models(struct fence_spec *spec, const struct ledger_options *ledger,
		       struct error *err)
{
	struct taint taint;
	int result;

	fence_spec_taint(spec, &taint);
	result = gateway_outlet_models(spec->outlet, &spec->models, &taint, ledger, err);
	taint_release(&taint);
	if (result == 0)
		protect_tape(spec);
	return result;
}

/* Starts the gateway if the spec needs one. Returns 0, or -1 with err set. */
static int make_outlet(struct fence_spec *spec, const struct ledger_options *ledger,
		       struct error *err)
{
	if (spec->net != FENCE_NET_LIST)
		return 0;
	spec->outlet = gateway_outlet_new(err);
	if (!spec->outlet)
		return -1;
	return model_access_is_set(&spec->models) ? open_models(spec, ledger, err) : 0;
}

static void drop_try(struct fenced *run)
{
	fence_result_release(&run->result);
	run->result = (struct fence_result){ 0 };
	if (run->planned)
		fence_plan_release(&run->plan);
	run->planned = false;
}

static int plan_and_run(const struct fenced_request *request, struct fenced *run, struct error *err)
{
	for (int try = 0; try == 0 || (run->result.changed && try < MOST_TRIES); try++) {
		if (run->result.changed)
			run->spec.index = NULL; /* it may be out of date */
		drop_try(run);
		if (fence_plan_make(&run->spec, &run->plan, err) < 0)
			return -1;
		run->planned = true;
		(request->planned ? request->planned : ignore_plan)(&run->plan, try == 0);
		fence_run(&run->plan, request->notice ? request->notice : ignore_notice,
			  &run->result);
	}
	return 0;
}

static void set_refused(struct fence_result *result, const struct error *err)
{
	*result = (struct fence_result){ .kind = FENCE_SETUP,
					 .code = FENCE_EXIT_NOT_SET_UP,
					 .mechanism = "none",
					 .tripped = FENCE_LIMIT_COUNT };
	snprintf(result->why, sizeof result->why, "%s", err->text);
}

/* The owner of files that this process makes. */
struct owner {
	uid_t uid;
	gid_t gid;
};

/* In the view of a draft, root's files belong to the user that they are lent to. Returns the owner
 * before. */
static struct owner become_lent(const struct fenced *run)
{
	const struct fence_identity *identity = &run->spec.place->identity;
	struct owner before = { (uid_t)setfsuid((uid_t)-1), (gid_t)setfsgid((gid_t)-1) };

	if (run->apart && identity->mapped) {
		setfsgid(identity->gid);
		setfsuid(identity->uid);
	}
	return before;
}

static void become(struct owner owner)
{
	setfsuid(owner.uid);
	setfsgid(owner.gid);
}

static bool makes_paths(const struct fenced *run)
{
	for (size_t i = 0; i < run->spec.write.count; i++)
		if (run->spec.write.items[i].made)
			return true;
	return false;
}

/* Refuses paths whose files are elsewhere as well. */
static int check_paths(const struct fenced_request *request, struct fenced *run, struct error *err)
{
	AUTO_FREE char *own = NULL;

	if (!makes_paths(run))
		return 0;
	if (find_place(run, err) < 0)
		return -1;
	own = request->draft ? draft_files(request->draft, err) : mem_dup(run->spec.place->project);
	return own ? other_names_refuse(own, run->spec.place->project, &run->spec.write, err) : -1;
}

/* Makes the paths that the spec asks for, in the view of the draft if there is one. */
static int make_paths(struct fenced *run, struct error *err)
{
	struct owner before;
	int result;

	if (!makes_paths(run))
		return 0;
	if (find_place(run, err) < 0)
		return -1;
	before = become_lent(run);
	result = made_paths_make(run->spec.place->project, &run->spec.write, &run->made, err);
	become(before);
	if (run->made.count)
		run->spec.index = NULL; /* made before these paths */
	return result;
}

static void drop_paths(struct fenced *run)
{
	struct owner before;

	if (!run->made.count)
		return;
	before = become_lent(run);
	made_paths_drop(run->spec.place->project, &run->made);
	become(before);
}

int fenced_run(const struct fenced_request *request, struct fenced *ret_run, struct error *err)
{
	int result;

	*ret_run = (struct fenced){ .spec = *request->spec,
				    .index = FENCE_INDEX_INIT,
				    .view_index = FENCE_INDEX_INIT };
	ret_run->spec.read = (struct fence_paths){ 0 }; /* a deep copy: a tape may be added */
	fence_paths_add_all(&ret_run->spec.read, &request->spec->read);
	/* A tape is the user's file, and not part of a draft. */
	result = make_outlet(&ret_run->spec, request->ledger, err);
	if (result == 0)
		result = check_paths(request, ret_run, err);
	if (result == 0)
		result = enter_draft(request, ret_run, err);
	if (result == 0)
		result = make_paths(ret_run, err);
	if (result == 0)
		result = plan_and_run(request, ret_run, err);
	drop_paths(ret_run);
	if (result < 0)
		set_refused(&ret_run->result, err);
	ret_run->metered = gateway_outlet_news(ret_run->spec.outlet, &ret_run->news);
	return result;
}

void fenced_release(struct fenced *run)
{
	drop_try(run);
	gateway_outlet_free(run->spec.outlet);
	fence_paths_release(&run->spec.read);
	list_release(&run->made);
	if (run->apart)
		fence_plan_release(&run->before);
	draft_own_free(run->own);
	launcher_free(run->launcher);
	fence_index_release(&run->index);
	fence_index_release(&run->view_index);
	if (run->placed)
		fence_place_release(&run->place);
}

void fenced_report(const struct fenced *run, bool forget, struct buffer *out)
{
	fence_report_write(run->planned ? &run->plan : NULL, &run->result, out);
	if (run->planned && (forget || fence_denials_count(&run->result.denials)))
		fence_report_keep(&run->plan, &run->result, out);
}
