/* Forges: see land_forge.h. */
#include "land/land_forge.h"

#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct land_forge *const forges[] = {
	[LAND_KIND_UNKNOWN] = NULL,
	[LAND_KIND_github] = &land_forge_github,
	[LAND_KIND_gitlab] = &land_forge_gitlab,
	[LAND_KIND_gitea] = &land_forge_gitea,
};

const struct land_forge *land_forge_of(enum land_kind kind)
{
	return forges[kind];
}

enum land_kind land_forge_named(const char *name)
{
	for (int i = LAND_KIND_UNKNOWN + 1; i <= LAND_KIND_gitea; i++)
		if (strcmp(forges[i]->name, name) == 0)
			return (enum land_kind)i;
	return LAND_KIND_UNKNOWN;
}

/* ---- what is read ---- */

/* NOLINTNEXTLINE(readability-non-const-parameter): the call owns it */
void land_forge_get(struct land_call *ret_call, char *path)
{
	*ret_call = (struct land_call){ .method = "GET", .path = path };
}

void land_call_release(struct land_call *call)
{
	free(call->path);
	json_decref(call->body);
	*call = (struct land_call){ 0 };
}

void land_repository_release(struct land_repository *repository)
{
	free(repository->branch);
	free(repository->merge);
	*repository = (struct land_repository){ 0 };
}

void land_request_release(struct land_request *request)
{
	free(request->url);
	free(request->title);
	free(request->body);
	free(request->node);
	*request = (struct land_request){ 0 };
}

static void release_job(struct land_job *job)
{
	free(job->name);
	free(job->url);
	free(job->log);
	free(job->says);
}

void land_ci_release(struct land_ci *ci)
{
	for (size_t i = 0; i < ci->count; i++)
		release_job(&ci->jobs[i]);
	free(ci->jobs);
	list_release(&ci->ask);
	*ci = (struct land_ci){ 0 };
}

void land_ci_settle(struct land_ci *ci)
{
	bool known = false;
	size_t kept = 0;

	for (size_t i = 0; i < ci->count; i++)
		known = known || ci->jobs[i].log;
	for (size_t i = 0; i < ci->count; i++) {
		struct land_job *job = &ci->jobs[i];

		if (known && !job->log && job->url && strstr(job->url, "/actions/runs/"))
			release_job(job);
		else
			ci->jobs[kept++] = *job;
	}
	ci->count = kept;
}

void land_ci_add(struct land_ci *ci, const struct land_job *job)
{
	if (ci->count == LAND_JOBS)
		return;
	ci->jobs = mem_extend(ci->jobs, ci->count, sizeof *ci->jobs);
	ci->jobs[ci->count++] = (struct land_job){ .name = mem_copy(job->name),
						   .url = mem_copy(job->url),
						   .log = mem_copy(job->log),
						   .says = mem_copy(job->says),
						   .state = job->state };
}

enum land_ci_state land_ci_state(const struct land_ci *ci)
{
	enum land_ci_state state = LAND_CI_PASSED;

	for (size_t i = 0; i < ci->count; i++) {
		if (ci->jobs[i].state == LAND_CI_PENDING)
			return LAND_CI_PENDING;
		if (ci->jobs[i].state == LAND_CI_FAILED)
			state = LAND_CI_FAILED;
	}
	return state;
}

int land_forge_read_repository(const json_t *answer, struct land_repository *ret_repository)
{
	const char *branch = jsonget_string(answer, "default_branch");

	if (!branch || !*branch)
		return -1;
	*ret_repository = (struct land_repository){ .branch = mem_dup(branch) };
	return 0;
}

int land_forge_find(const struct land_forge *forge, const char *path, const json_t *answer,
		    const char *branch, struct land_request *ret_request)
{
	size_t index;
	const json_t *entry;

	if (!json_is_array(answer))
		return -1;
	json_array_foreach(answer, index, entry)
	{
		const char *of = forge->branch_of(path, entry);
		struct land_request request;

		if (!of || strcmp(of, branch) != 0 || forge->read_request(entry, &request) < 0)
			continue;
		if (request.state == LAND_REQUEST_OPEN) {
			*ret_request = request;
			return 1;
		}
		land_request_release(&request);
	}
	return 0;
}

char *land_forge_titled(const struct land_forge *forge, const struct land_proposal *proposal)
{
	return mem_format("%s%s", proposal->draft ? forge->draft : "", proposal->title);
}

json_t *land_forge_ready(const struct land_forge *forge, const struct land_request *request)
{
	const char *title = text_after_prefix(request->title, forge->draft);

	return json_pack("{s:s}", "title", title ? title : request->title);
}

/* ---- URLs ---- */

char *land_forge_encoded(const char *text)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(64 << 10);

	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("-_.~", *text))
			buffer_add(&out, text, 1);
		else
			buffer_printf(&out, "%%%02X", (unsigned int)(unsigned char)*text);
	return mem_dup(buffer_text(&out));
}

/* GitHub's own hosts have the API on a host of its own. */
char *land_forge_api(const struct land_forge *forge, const struct land_remote *remote)
{
	const char *host = remote->host;
	size_t size = strlen(host), tail = strlen(".ghe.com");

	if (forge == &land_forge_github &&
	    (strcmp(host, "github.com") == 0 ||
	     (size > tail && strcmp(host + size - tail, ".ghe.com") == 0)))
		return mem_format("https://api.%s", host);
	return mem_format("%s%s", remote->origin, forge->api);
}

char *land_forge_compare(const struct land_forge *forge, const struct land_remote *remote,
			 const char *into, const char *branch)
{
	AUTO_FREE char *page = mem_format("%s/%s", remote->origin, remote->path);
	AUTO_FREE char *to = land_forge_encoded(into ? into : "");
	AUTO_FREE char *from = land_forge_encoded(branch);
	AUTO_BUFFER struct buffer out = BUFFER_INIT(64 << 10);

	for (const char *at = into ? forge->compare_into : forge->compare; *at; at++) {
		const char *value = *at == '@' ? page : *at == '<' ? to : *at == '>' ? from : NULL;

		if (value)
			buffer_add_text(&out, value);
		else
			buffer_add(&out, at, 1);
	}
	return mem_dup(buffer_text(&out));
}

/* A list is the answer itself, or its only member that is one. */
static size_t entries_of(const json_t *answer)
{
	const char *key;
	json_t *value;

	if (json_is_array(answer))
		return json_array_size(answer);
	json_object_foreach((json_t *)answer, key,
			    value) if (json_is_array(value)) return json_array_size(value);
	return 0;
}

char *land_forge_next(const struct land_forge *forge, const char *path, const json_t *answer)
{
	static const char mark[] = "&page=";
	const char *page = strstr(path, mark);
	uint64_t number;

	if (!page || entries_of(answer) < forge->page ||
	    text_count(page + strlen(mark), &number) < 0 || number >= LAND_PAGES)
		return NULL;
	return mem_format("%.*s%s%" PRIu64, (int)(page - path), path, mark, number + 1);
}
