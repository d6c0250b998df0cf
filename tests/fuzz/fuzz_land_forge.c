// sources: src/land/land_forge.c src/land/land_forge_gitea.c src/land/land_forge_github.c
// sources: src/land/land_forge_gitlab.c src/land/land_pull.c src/land/land_remote.c -ljansson
/* Answers of forges: the first byte chooses the forge, the rest is JSON. */
#include "fuzz.h"

#include "land/land_forge.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

static const char path[] = "acme/widget";
static const char commit[] = "0123456789012345678901234567890123456789";

/* Whatever an answer says, the next questions are about this repository. */
static void check_path(const char *asked)
{
	if ((!strstr(asked, "acme/widget") && !strstr(asked, "acme%2Fwidget")) ||
	    strpbrk(asked, " \r\n#\\"))
		abort();
}

static void check_ci(const struct land_forge *forge, const json_t *answer)
{
	struct land_ci ci = { 0 };

	forge->ci(path, commit, &ci);
	forge->read_ci(path, answer, &ci);
	forge->may_lack(path, ci.ask.items[0], &ci);
	for (size_t i = 0; i < ci.ask.count; i++) {
		AUTO_FREE char *next = land_forge_next(forge, ci.ask.items[i], answer);

		check_path(ci.ask.items[i]);
		if (next)
			check_path(next);
	}
	land_ci_settle(&ci);
	for (size_t i = 0; i < ci.count; i++)
		if (ci.jobs[i].log)
			check_path(ci.jobs[i].log);
	if (ci.count > LAND_JOBS)
		abort();
	land_ci_state(&ci);
	land_ci_release(&ci);
}

/* A request that was read can be changed. */
static void check_request(const struct land_forge *forge, struct land_request *request)
{
	struct land_call calls[3];

	if (request->number <= 0 || !request->url || !request->title || !request->body)
		abort();
	forge->update(path, request, "body", &calls[0]);
	forge->ready(path, request, &calls[1]);
	forge->merge(path, request, commit, NULL, &calls[2]);
	for (size_t i = 0; i < 3; i++) {
		if (!calls[i].body)
			abort();
		if (!calls[i].graphql)
			check_path(calls[i].path);
		land_call_release(&calls[i]);
	}
	land_request_release(request);
}

void fuzz_land_forge(const uint8_t *data, size_t size)
{
	const struct land_forge *forge;
	struct land_repository repository;
	struct land_request request;
	json_t *answer;

	if (size == 0)
		return;
	forge = land_forge_of((enum land_kind)(LAND_KIND_github + data[0] % 3));
	answer = json_loadb((const char *)data + 1, size - 1, JSON_REJECT_DUPLICATES, NULL);
	if (!answer)
		return;
	if (forge->read_repository(answer, &repository) == 0)
		land_repository_release(&repository);
	if (forge->read_request(answer, &request) == 0)
		check_request(forge, &request);
	if (land_forge_find(forge, path, answer, "ringfence/x", &request) == 1)
		check_request(forge, &request);
	check_ci(forge, answer);
	json_decref(answer);
}

FUZZ_TARGET(fuzz_land_forge)
