/* GitHub's REST API: see land_forge.h. */
#include "land/land_pull.h"

#include "util/mem.h"
#include "util/text/jsonget.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void find(const char *path, const char *branch, struct land_call *ret_call)
{
	AUTO_FREE char *name = land_forge_encoded(branch);

	land_forge_get(ret_call,
		       mem_format("/repos/%s/pulls?state=open&head=%.*s:%s&per_page=100&page=1",
				  path, (int)strcspn(path, "/"), path, name));
}

static void open_request(const char *path, const struct land_proposal *proposal,
			 struct land_call *ret_call)
{
	*ret_call = (struct land_call){
		.method = "POST",
		.path = mem_format("/repos/%s/pulls", path),
		.body = json_pack("{s:s, s:s, s:s, s:s, s:b}", "title", proposal->title, "body",
				  proposal->body, "head", proposal->branch, "base", proposal->into,
				  "draft", proposal->draft),
	};
}

/* REST cannot do this. */
static void make_ready(const char *path, const struct land_request *request,
		       struct land_call *ret_call)
{
	(void)path;
	*ret_call = (struct land_call){
		.method = "POST",
		.path = mem_dup("/graphql"),
		.graphql = true,
		.body = json_pack("{s:s, s:{s:s}}", "query",
				  "mutation($id: ID!) { markPullRequestReadyForReview(input: "
				  "{pullRequestId: $id}) { clientMutationId } }",
				  "variables", "id", request->node ? request->node : ""),
	};
}

static void merge(const char *path, const struct land_request *request, const char *commit,
		  const char *how, struct land_call *ret_call)
{
	*ret_call = (struct land_call){
		.method = "PUT",
		.path = mem_format("/repos/%s/pulls/%" PRId64 "/merge", path, request->number),
		.body = json_pack("{s:s, s:s}", "sha", commit, "merge_method", how ? how : "merge"),
	};
}

static void ask_ci(const char *path, const char *commit, struct land_ci *ci)
{
	list_printf(&ci->ask, "/repos/%s/commits/%s/check-runs?filter=latest&per_page=100&page=1",
		    path, commit);
	list_printf(&ci->ask, "/repos/%s/commits/%s/check-suites?per_page=100&page=1", path,
		    commit);
	list_printf(&ci->ask, "/repos/%s/commits/%s/status?per_page=100&page=1", path, commit);
}

/* A repository may forbid some ways to merge. */
static int read_repository(const json_t *answer, struct land_repository *ret_repository)
{
	static const struct {
		const char *key, *way;
	} ways[] = { { "allow_merge_commit", "merge" },
		     { "allow_squash_merge", "squash" },
		     { "allow_rebase_merge", "rebase" } };

	if (land_forge_read_repository(answer, ret_repository) < 0)
		return -1;
	for (size_t i = 0; i < sizeof ways / sizeof *ways && !ret_repository->merge; i++)
		if (jsonget_flag(answer, ways[i].key))
			ret_repository->merge = mem_dup(ways[i].way);
	return 0;
}

static enum land_ci_state state_of_run(const json_t *run)
{
	return strcmp(jsonget_text(run, "status"), "completed") == 0
		       ? land_pull_job_state(jsonget_text(run, "conclusion"))
		       : LAND_CI_PENDING;
}

/* The check run of a job of GitHub Actions has the job's id. */
static void read_run(const char *path, const json_t *run, struct land_ci *ci)
{
	bool actions = strcmp(jsonget_text(json_object_get(run, "app"), "slug"),
			      "github-actions") == 0;
	AUTO_FREE char *log = actions ? mem_format("/repos/%s/actions/jobs/%" PRId64 "/logs", path,
						   (int64_t)jsonget_number(run, "id"))
				      : NULL;
	const struct land_job job = { .name = (char *)jsonget_text(run, "name"),
				      .url = (char *)jsonget_string(run, "html_url"),
				      .log = log,
				      .says = (char *)jsonget_string(json_object_get(run, "output"),
								     "summary"),
				      .state = state_of_run(run) };

	land_ci_add(ci, &job);
}

/* A job that needs another one has no check run before that has ended; its suite is not over.
 * Suites without runs belong to apps that have nothing to say. */
static void read_suite(const json_t *suite, struct land_ci *ci)
{
	const json_t *app = json_object_get(suite, "app");
	const struct land_job job = { .name = (char *)jsonget_text(app, "name"),
				      .state = LAND_CI_PENDING };

	if (jsonget_number(suite, "latest_check_runs_count") > 0 &&
	    strcmp(jsonget_text(suite, "status"), "completed") != 0)
		land_ci_add(ci, &job);
}

static void read_status(const json_t *status, struct land_ci *ci)
{
	const char *state = jsonget_text(status, "state");
	const struct land_job job = { .name = (char *)jsonget_text(status, "context"),
				      .url = (char *)jsonget_string(status, "target_url"),
				      .says = (char *)jsonget_string(status, "description"),
				      .state = strcmp(state, "success") == 0   ? LAND_CI_PASSED
					       : strcmp(state, "pending") == 0 ? LAND_CI_PENDING
									       : LAND_CI_FAILED };

	land_ci_add(ci, &job);
}

static int read_ci(const char *path, const json_t *answer, struct land_ci *ci)
{
	const json_t *runs = json_object_get(answer, "check_runs");
	const json_t *statuses = json_object_get(answer, "statuses");
	size_t index;
	const json_t *entry;

	if (!json_is_object(answer))
		return -1;
	land_pull_read_runs(path, answer, ci);
	json_array_foreach(json_object_get(answer, "check_suites"), index, entry)
	{
		read_suite(entry, ci);
	}
	json_array_foreach(runs, index, entry)
	{
		read_run(path, entry, ci);
	}
	json_array_foreach(statuses, index, entry)
	{
		read_status(entry, ci);
	}
	return 0;
}

/* A token with chosen permissions cannot have the one for check runs; Actions tells their jobs. */
static bool may_lack(const char *path, const char *asked, struct land_ci *ci)
{
	const char *at = strstr(asked, "/check-runs?");
	size_t size = at ? (size_t)(at - asked) : 0;

	if (!at)
		return strstr(asked, "/check-suites?") != NULL;
	while (asked[size - 1] != '/')
		size--;
	list_printf(&ci->ask, "/repos/%s/actions/runs?head_sha=%.*s&per_page=100&page=1", path,
		    (int)(at - asked - (ptrdiff_t)size), asked + size);
	return true;
}

const struct land_forge land_forge_github = {
	.name = "github",
	.title = "GitHub",
	.request = "pull request",
	.api = "/api/v3",
	.tokens = { "GH_TOKEN", "GITHUB_TOKEN" },
	.authority = "Authorization: Bearer ",
	.headers = { "Accept: application/vnd.github+json", "X-GitHub-Api-Version: 2022-11-28" },
	.page = 100,
	.compare = "@/compare/>?expand=1",
	.compare_into = "@/compare/<...>?expand=1",
	.repository = land_pull_repository,
	.find = find,
	.look = land_pull_look,
	.open = open_request,
	.update = land_pull_update,
	.ready = make_ready,
	.merge = merge,
	.ci = ask_ci,
	.read_repository = read_repository,
	.read_request = land_pull_read,
	.branch_of = land_pull_branch_of,
	.read_ci = read_ci,
	.may_lack = may_lack,
};
