/* Whole steps at a forge: see land_drive.h. */
#include "land/land_drive.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static int refuse_answer(const struct land_client *client, const char *what, struct error *err)
{
	return error_with(err, ERROR_PROTOCOL,
			  "the answer of %s about the %s is not understood: is '%s' the URL of its "
			  "API?",
			  client->forge->title, what, client->api);
}

/* Sends a call whose answer is a request. */
static int call_request(struct land_client *client, struct land_call *call,
			struct land_request *ret_request, struct error *err)
{
	json_t *answer;
	int result;

	if (land_client_call(client, call, &answer, err) < 0)
		return -1;
	result = client->forge->read_request(answer, ret_request);
	json_decref(answer);
	return result < 0 ? refuse_answer(client, client->forge->request, err) : 0;
}

/* Sends a call whose answer does not matter. */
static int call_only(struct land_client *client, struct land_call *call, struct error *err)
{
	json_t *answer;

	if (land_client_call(client, call, &answer, err) < 0)
		return -1;
	json_decref(answer);
	return 0;
}

int land_drive_repository(struct land_client *client, const char *path,
			  struct land_repository *ret_repository, struct error *err)
{
	struct land_call call;
	json_t *answer;
	int result;

	client->forge->repository(path, &call);
	if (land_client_call(client, &call, &answer, err) < 0)
		return -1;
	result = client->forge->read_repository(answer, ret_repository);
	json_decref(answer);
	return result < 0 ? refuse_answer(client, "repository", err) : 0;
}

int land_drive_find(struct land_client *client, const char *path, const char *branch,
		    struct land_request *ret_request, struct error *err)
{
	struct land_call call;
	int found = 0;

	client->forge->find(path, branch, &call);
	while (call.path && found == 0) {
		AUTO_FREE char *asked = mem_dup(call.path);
		char *next;
		json_t *answer;

		if (land_client_call(client, &call, &answer, err) < 0)
			return -1;
		found = land_forge_find(client->forge, path, answer, branch, ret_request);
		next = found == 0 ? land_forge_next(client->forge, asked, answer) : NULL;
		json_decref(answer);
		call = (struct land_call){ .method = "GET", .path = next };
	}
	return found < 0 ? refuse_answer(client, client->forge->request, err) : found;
}

int land_drive_look(struct land_client *client, const char *path, int64_t number,
		    struct land_request *ret_request, struct error *err)
{
	struct land_call call;

	client->forge->look(path, number, &call);
	return call_request(client, &call, ret_request, err);
}

int land_drive_open(struct land_client *client, const char *path,
		    const struct land_proposal *proposal, struct land_request *ret_request,
		    struct error *err)
{
	struct land_call call;
	struct error none;

	client->forge->open(path, proposal, &call);
	if (call_request(client, &call, ret_request, err) == 0)
		return 0;
	/* It may have been opened in the meantime, or by a request whose answer was lost. */
	return land_drive_find(client, path, proposal->branch, ret_request, &none) == 1 ? 0 : -1;
}

int land_drive_update(struct land_client *client, const char *path,
		      const struct land_request *request, const char *body, struct error *err)
{
	struct land_call call;

	client->forge->update(path, request, body, &call);
	return call_only(client, &call, err);
}

int land_drive_ready(struct land_client *client, const char *path,
		     const struct land_request *request, struct error *err)
{
	struct land_call call;

	client->forge->ready(path, request, &call);
	return call_only(client, &call, err);
}

int land_drive_merge(struct land_client *client, const char *path,
		     const struct land_request *request, const char *commit, const char *how,
		     struct error *err)
{
	struct land_call call;

	client->forge->merge(path, request, commit, how, &call);
	return call_only(client, &call, err);
}

/* Asks one thing about CI. */
static int ask_ci(struct land_client *client, const char *path, const char *asked,
		  struct land_ci *ci, struct error *err)
{
	struct land_call call = { .method = "GET", .path = mem_dup(asked) };
	AUTO_FREE char *next = NULL;
	json_t *answer;
	int result;

	if (land_client_call(client, &call, &answer, err) < 0)
		/* Not every version has Actions, and not every token may see check runs. */
		return (err->status == ERROR_NOT_FOUND || err->status == ERROR_DENIED) &&
				       client->forge->may_lack(path, asked, ci)
			       ? 0
			       : -1;
	result = client->forge->read_ci(path, answer, ci);
	next = land_forge_next(client->forge, asked, answer);
	json_decref(answer);
	if (next)
		list_add(&ci->ask, next);
	return result < 0 ? refuse_answer(client, "jobs of CI", err) : 0;
}

int land_drive_ci(struct land_client *client, const char *path, const char *commit,
		  struct land_ci *ret_ci, struct error *err)
{
	struct land_ci ci = { 0 };

	client->forge->ci(path, commit, &ci);
	for (; ci.asked < ci.ask.count && ci.asked < LAND_PAGES; ci.asked++) {
		AUTO_FREE char *asked = mem_dup(ci.ask.items[ci.asked]);

		if (ask_ci(client, path, asked, &ci, err) < 0) {
			land_ci_release(&ci);
			return -1;
		}
	}
	/* A job that is not known might have failed. */
	if (ci.asked < ci.ask.count || ci.count == LAND_JOBS) {
		land_ci_release(&ci);
		return error_with(err, ERROR_NO_SPACE,
				  "the commit has more than %d jobs of CI, or %d lists of them",
				  LAND_JOBS, LAND_PAGES);
	}
	land_ci_settle(&ci);
	*ret_ci = ci;
	return 0;
}
