/* The API of Gitea and Forgejo: see land_forge.h. */
#include "land/land_pull.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WIP "WIP: "

/* The list cannot be narrowed to a branch. */
static void find(const char *path, const char *branch, struct land_call *ret_call)
{
	(void)branch;
	land_forge_get(ret_call,
		       mem_format("/repos/%s/pulls?state=open&sort=recentupdate&limit=50&page=1",
				  path));
}

static void open_request(const char *path, const struct land_proposal *proposal,
			 struct land_call *ret_call)
{
	AUTO_FREE char *title = land_forge_titled(&land_forge_gitea, proposal);

	*ret_call = (struct land_call){
		.method = "POST",
		.path = mem_format("/repos/%s/pulls", path),
		.body = json_pack("{s:s, s:s, s:s, s:s}", "title", title, "body", proposal->body,
				  "head", proposal->branch, "base", proposal->into),
	};
}

static void make_ready(const char *path, const struct land_request *request,
		       struct land_call *ret_call)
{
	land_pull_change(path, request->number, land_forge_ready(&land_forge_gitea, request),
			 ret_call);
}

static void merge(const char *path, const struct land_request *request, const char *commit,
		  const char *how, struct land_call *ret_call)
{
	*ret_call = (struct land_call){
		.method = "POST",
		.path = mem_format("/repos/%s/pulls/%" PRId64 "/merge", path, request->number),
		.body = json_pack("{s:s, s:s}", "Do", how ? how : "merge", "head_commit_id",
				  commit),
	};
}

/* A job of Actions also has a commit status, which land_ci_settle() drops. */
static void ask_ci(const char *path, const char *commit, struct land_ci *ci)
{
	list_printf(&ci->ask, "/repos/%s/actions/runs?head_sha=%s&limit=50&page=1", path, commit);
	list_printf(&ci->ask, "/repos/%s/commits/%s/status?limit=50&page=1", path, commit);
}

static int read_repository(const json_t *answer, struct land_repository *ret_repository)
{
	if (land_forge_read_repository(answer, ret_repository) < 0)
		return -1;
	ret_repository->merge = mem_copy(jsonget_string(answer, "default_merge_style"));
	return 0;
}

/* A title makes a draft; not every version has the member. */
static int read_request(const json_t *answer, struct land_request *ret_request)
{
	if (land_pull_read(answer, ret_request) < 0)
		return -1;
	ret_request->draft = ret_request->draft || text_after_prefix(ret_request->title, WIP);
	return 0;
}

static void read_status(const json_t *status, struct land_ci *ci)
{
	const struct land_job job = { .name = (char *)jsonget_text(status, "context"),
				      .url = (char *)jsonget_string(status, "target_url"),
				      .says = (char *)jsonget_string(status, "description"),
				      .state =
					      land_pull_job_state(jsonget_text(status, "status")) };

	land_ci_add(ci, &job);
}

static int read_ci(const char *path, const json_t *answer, struct land_ci *ci)
{
	const json_t *statuses = json_object_get(answer, "statuses");
	size_t index;
	const json_t *entry;

	if (!json_is_object(answer))
		return -1;
	land_pull_read_runs(path, answer, ci);
	json_array_foreach(statuses, index, entry)
	{
		read_status(entry, ci);
	}
	return 0;
}

/* Older versions, and Forgejo, do not list runs. */
static bool may_lack(const char *path, const char *asked, struct land_ci *ci)
{
	(void)path;
	(void)ci;
	return strstr(asked, "/actions/") != NULL;
}

const struct land_forge land_forge_gitea = {
	.name = "gitea",
	.title = "Gitea",
	.request = "pull request",
	.api = "/api/v1",
	.tokens = { "GITEA_TOKEN" },
	.authority = "Authorization: token ",
	.headers = { "Accept: application/json" },
	.draft = WIP,
	.page = 50,
	.compare = "@/compare/>",
	.compare_into = "@/compare/<...>",
	.repository = land_pull_repository,
	.find = find,
	.look = land_pull_look,
	.open = open_request,
	.update = land_pull_update,
	.ready = make_ready,
	.merge = merge,
	.ci = ask_ci,
	.read_repository = read_repository,
	.read_request = read_request,
	.branch_of = land_pull_branch_of,
	.read_ci = read_ci,
	.may_lack = may_lack,
};
