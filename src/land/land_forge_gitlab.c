/* GitLab's REST API: see land_forge.h. */
#include "land/land_forge.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DRAFT "Draft: "
#define NEW   "@/-/merge_requests/new?merge_request%5Bsource_branch%5D=>"

/* Returns the path of something in the project; the caller frees it. */
static char *in_project(const char *path, const char *rest)
{
	AUTO_FREE char *project = land_forge_encoded(path);

	return mem_format("/projects/%s%s", project, rest);
}

static void ask_repository(const char *path, struct land_call *ret_call)
{
	land_forge_get(ret_call, in_project(path, ""));
}

static void find(const char *path, const char *branch, struct land_call *ret_call)
{
	AUTO_FREE char *name = land_forge_encoded(branch);
	AUTO_FREE char *rest =
		mem_format("/merge_requests?state=opened&source_branch=%s&per_page=100&page=1",
			   name);

	land_forge_get(ret_call, in_project(path, rest));
}

static void look(const char *path, int64_t number, struct land_call *ret_call)
{
	AUTO_FREE char *rest = mem_format("/merge_requests/%" PRId64, number);

	land_forge_get(ret_call, in_project(path, rest));
}

static void open_request(const char *path, const struct land_proposal *proposal,
			 struct land_call *ret_call)
{
	AUTO_FREE char *title = land_forge_titled(&land_forge_gitlab, proposal);

	*ret_call = (struct land_call){
		.method = "POST",
		.path = in_project(path, "/merge_requests"),
		.body = json_pack("{s:s, s:s, s:s, s:s}", "title", title, "description",
				  proposal->body, "source_branch", proposal->branch,
				  "target_branch", proposal->into),
	};
}

/* Takes ownership of the body. */
static void change(const char *path, int64_t number, json_t *body, struct land_call *ret_call)
{
	look(path, number, ret_call);
	ret_call->method = "PUT";
	ret_call->body = body;
}

static void update(const char *path, const struct land_request *request, const char *body,
		   struct land_call *ret_call)
{
	change(path, request->number, json_pack("{s:s}", "description", body), ret_call);
}

static void make_ready(const char *path, const struct land_request *request,
		       struct land_call *ret_call)
{
	change(path, request->number, land_forge_ready(&land_forge_gitlab, request), ret_call);
}

/* The project's settings decide how. */
static void merge(const char *path, const struct land_request *request, const char *commit,
		  const char *how, struct land_call *ret_call)
{
	AUTO_FREE char *rest = mem_format("/merge_requests/%" PRId64 "/merge", request->number);

	(void)how;
	*ret_call = (struct land_call){ .method = "PUT",
					.path = in_project(path, rest),
					.body = json_pack("{s:s}", "sha", commit) };
}

static void ask_ci(const char *path, const char *commit, struct land_ci *ci)
{
	AUTO_FREE char *rest = mem_format("/pipelines?sha=%s&per_page=100&page=1", commit);
	AUTO_FREE char *whole = in_project(path, rest);

	list_add(&ci->ask, whole);
}

static enum land_request_state state_of(const json_t *request)
{
	const char *state = jsonget_text(request, "state");

	return strcmp(state, "opened") == 0   ? LAND_REQUEST_OPEN
	       : strcmp(state, "merged") == 0 ? LAND_REQUEST_MERGED
					      : LAND_REQUEST_CLOSED;
}

static int read_request(const json_t *answer, struct land_request *ret_request)
{
	if (jsonget_number(answer, "iid") <= 0 || !jsonget_string(answer, "web_url"))
		return -1;
	*ret_request = (struct land_request){ .number = jsonget_number(answer, "iid"),
					      .url = mem_copy(jsonget_string(answer, "web_url")),
					      .title = mem_dup(jsonget_text(answer, "title")),
					      .body = mem_dup(jsonget_text(answer, "description")),
					      .draft = jsonget_flag(answer, "draft"),
					      .state = state_of(answer) };
	return 0;
}

/* A request from a fork has another source project. */
static const char *branch_of(const char *path, const json_t *request)
{
	(void)path;
	return jsonget_number(request, "source_project_id") ==
			       jsonget_number(request, "target_project_id")
		       ? jsonget_string(request, "source_branch")
		       : NULL;
}

static enum land_ci_state state_of_job(const json_t *job)
{
	static const char *const good[] = { "success", "skipped", "manual" };
	static const char *const bad[] = { "failed", "canceled" };
	const char *state = jsonget_text(job, "status");

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (strcmp(state, good[i]) == 0)
			return LAND_CI_PASSED;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (strcmp(state, bad[i]) == 0)
			return jsonget_flag(job, "allow_failure") ? LAND_CI_PASSED : LAND_CI_FAILED;
	return LAND_CI_PENDING;
}

/* The pipeline decides; of its jobs, only those that failed are of interest. */
static void read_job(const char *path, const json_t *job, struct land_ci *ci)
{
	AUTO_FREE char *rest = mem_format("/jobs/%" PRId64 "/trace",
					  (int64_t)jsonget_number(job, "id"));
	AUTO_FREE char *log = in_project(path, rest);
	const struct land_job read = { .name = (char *)jsonget_text(job, "name"),
				       .url = (char *)jsonget_string(job, "web_url"),
				       .log = log,
				       .state = state_of_job(job) };

	if (read.state == LAND_CI_FAILED)
		land_ci_add(ci, &read);
}

/* Was there a newer pipeline of the same source? They are listed newest first. */
static bool is_outdated(const json_t *pipelines, size_t index)
{
	const char *source = jsonget_text(json_array_get(pipelines, index), "source");

	for (size_t i = 0; i < index; i++)
		if (strcmp(jsonget_text(json_array_get(pipelines, i), "source"), source) == 0)
			return true;
	return false;
}

/* A pipeline that was refused, because of its configuration, has no jobs. */
static void read_pipeline(const char *path, const json_t *pipeline, struct land_ci *ci)
{
	int64_t id = jsonget_number(pipeline, "id");
	AUTO_FREE char *rest = mem_format("/pipelines/%" PRId64 "/jobs?per_page=100&page=1", id);
	AUTO_FREE char *jobs = in_project(path, rest);
	AUTO_FREE char *name = mem_format("pipeline %" PRId64, id);
	const struct land_job whole = { .name = name,
					.url = (char *)jsonget_string(pipeline, "web_url"),
					.state = state_of_job(pipeline) };

	land_ci_add(ci, &whole);
	list_add(&ci->ask, jobs);
}

/* Jobs have a stage, pipelines have not. */
static int read_ci(const char *path, const json_t *answer, struct land_ci *ci)
{
	size_t index;
	const json_t *entry;

	if (!json_is_array(answer))
		return -1;
	json_array_foreach(answer, index, entry)
	{
		if (jsonget_string(entry, "stage"))
			read_job(path, entry, ci);
		else if (!is_outdated(answer, index))
			read_pipeline(path, entry, ci);
	}
	return 0;
}

static bool may_lack(const char *path, const char *asked, struct land_ci *ci)
{
	(void)path;
	(void)asked;
	(void)ci;
	return false;
}

const struct land_forge land_forge_gitlab = {
	.name = "gitlab",
	.title = "GitLab",
	.request = "merge request",
	.api = "/api/v4",
	.tokens = { "GITLAB_TOKEN" },
	.authority = "PRIVATE-TOKEN: ",
	.headers = { "Accept: application/json" },
	.draft = DRAFT,
	.page = 100,
	.compare = NEW,
	.compare_into = NEW "&merge_request%5Btarget_branch%5D=<",
	.repository = ask_repository,
	.find = find,
	.look = look,
	.open = open_request,
	.update = update,
	.ready = make_ready,
	.merge = merge,
	.ci = ask_ci,
	.read_repository = land_forge_read_repository,
	.read_request = read_request,
	.branch_of = branch_of,
	.read_ci = read_ci,
	.may_lack = may_lack,
};
