/* Pull requests and Actions: see land_pull.h. */
#include "land/land_pull.h"

#include "util/mem.h"
#include "util/text/jsonget.h"

#include <inttypes.h>
#include <string.h>

void land_pull_repository(const char *path, struct land_call *ret_call)
{
	land_forge_get(ret_call, mem_format("/repos/%s", path));
}

void land_pull_look(const char *path, int64_t number, struct land_call *ret_call)
{
	land_forge_get(ret_call, mem_format("/repos/%s/pulls/%" PRId64, path, number));
}

void land_pull_change(const char *path, int64_t number, json_t *body, struct land_call *ret_call)
{
	land_pull_look(path, number, ret_call);
	ret_call->method = "PATCH";
	ret_call->body = body;
}

void land_pull_update(const char *path, const struct land_request *request, const char *body,
		      struct land_call *ret_call)
{
	land_pull_change(path, request->number, json_pack("{s:s}", "body", body), ret_call);
}

static enum land_request_state pull_state(const json_t *pull)
{
	if (jsonget_flag(pull, "merged") || jsonget_string(pull, "merged_at"))
		return LAND_REQUEST_MERGED;
	return strcmp(jsonget_text(pull, "state"), "open") == 0 ? LAND_REQUEST_OPEN
								: LAND_REQUEST_CLOSED;
}

int land_pull_read(const json_t *answer, struct land_request *ret_request)
{
	if (jsonget_number(answer, "number") <= 0 || !jsonget_string(answer, "html_url"))
		return -1;
	*ret_request = (struct land_request){ .number = jsonget_number(answer, "number"),
					      .url = mem_copy(jsonget_string(answer, "html_url")),
					      .title = mem_dup(jsonget_text(answer, "title")),
					      .body = mem_dup(jsonget_text(answer, "body")),
					      .node = mem_copy(jsonget_string(answer, "node_id")),
					      .draft = jsonget_flag(answer, "draft"),
					      .state = pull_state(answer) };
	return 0;
}

/* Somebody else's fork may have a branch of the same name. */
const char *land_pull_branch_of(const char *path, const json_t *request)
{
	const json_t *head = json_object_get(request, "head");
	const char *from = jsonget_text(json_object_get(head, "repo"), "full_name");

	return strcasecmp(from, path) == 0 ? jsonget_string(head, "ref") : NULL;
}

enum land_ci_state land_pull_job_state(const char *conclusion)
{
	static const char *const good[] = { "success", "skipped", "neutral", "warning" };
	static const char *const bad[] = { "failure",   "error",           "cancelled",
					   "timed_out", "action_required", "startup_failure",
					   "stale" };

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (strcmp(conclusion, good[i]) == 0)
			return LAND_CI_PASSED;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (strcmp(conclusion, bad[i]) == 0)
			return LAND_CI_FAILED;
	return LAND_CI_PENDING;
}

static void read_job(const char *path, const json_t *job, struct land_ci *ci)
{
	AUTO_FREE char *log = mem_format("/repos/%s/actions/jobs/%" PRId64 "/logs", path,
					 (int64_t)jsonget_number(job, "id"));
	const struct land_job read = { .name = (char *)jsonget_text(job, "name"),
				       .url = (char *)jsonget_string(job, "html_url"),
				       .log = log,
				       .state = land_pull_job_state(
					       jsonget_text(job, "conclusion")) };

	land_ci_add(ci, &read);
}

/* A run has jobs to come until it has ended. */
static void read_run(const json_t *run, struct land_ci *ci)
{
	const struct land_job job = { .name = (char *)jsonget_text(run, "name"),
				      .url = (char *)jsonget_string(run, "html_url"),
				      .state = LAND_CI_PENDING };

	if (strcmp(jsonget_text(run, "status"), "completed") != 0)
		land_ci_add(ci, &job);
}

void land_pull_read_runs(const char *path, const json_t *answer, struct land_ci *ci)
{
	size_t index;
	const json_t *entry;

	json_array_foreach(json_object_get(answer, "workflow_runs"), index, entry)
	{
		read_run(entry, ci);
		list_printf(&ci->ask,
			    "/repos/%s/actions/runs/%" PRId64 "/jobs?per_page=100&limit=50&page=1",
			    path, (int64_t)jsonget_number(entry, "id"));
	}
	json_array_foreach(json_object_get(answer, "jobs"), index, entry)
	{
		read_job(path, entry, ci);
	}
}
