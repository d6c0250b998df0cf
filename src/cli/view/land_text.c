/* The words of `land`: see land_text.h. */
#include "cli/view/land_text.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <string.h>

enum { SHORT = 10, MOST = 64 << 10, NAMED = 5 };

static const char *const pushes[] = {
	[OP_LAND_NOT_PUSHED] = "not pushed",
	[OP_LAND_UP_TO_DATE] = "up to date",
	[OP_LAND_PUSHED] = "pushed",
};

static const char *const openings[] = {
	[OP_LAND_NO_REQUEST] = "none",
	[OP_LAND_FOUND] = "up to date",
	[OP_LAND_UPDATED] = "updated",
	[OP_LAND_OPENED] = "opened",
};

static const char *const states[] = {
	[LAND_CI_PENDING] = "pending",
	[LAND_CI_PASSED] = "passed",
	[LAND_CI_FAILED] = "failed",
};

char *land_text_result(const struct op_land_result *result)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(MOST);
	const struct land_request *request = &result->request;

	buffer_printf(&out, "%s: %s (%.*s) to the remote '%s'\n", pushes[result->push],
		      result->branch, SHORT, result->commit, result->remote);
	if (request->url) {
		AUTO_FREE char *url = text_escaped(request->url);

		buffer_printf(&out, "%s: %s%s %s\n", openings[result->opened],
			      request->draft ? "draft " : "", result->client.forge->request, url);
	} else if (result->compare) {
		buffer_printf(&out,
			      "no token was found, so open the request yourself: %s\n"
			      "(a token: the setting forge-token, or: gh auth login)\n",
			      result->compare);
	} else {
		buffer_add_text(&out, "the remote is on no forge that is known (to name one: "
				      "--forge): open the request there\n");
	}
	return mem_dup(buffer_text(&out));
}

static void add_names(const struct land_ci *ci, enum land_ci_state state, struct buffer *out)
{
	size_t named = 0;

	for (size_t i = 0; i < ci->count; i++) {
		AUTO_FREE char *name = text_escaped(ci->jobs[i].name ? ci->jobs[i].name : "");

		if (ci->jobs[i].state == state && named < NAMED)
			buffer_printf(out, "%s%.200s", named ? ", " : ": ", name);
		named += ci->jobs[i].state == state;
	}
	if (named > NAMED)
		buffer_add_text(out, ", ...");
}

char *land_text_ci(const struct land_ci *ci)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(MOST);
	size_t counts[3] = { 0 };

	for (size_t i = 0; i < ci->count; i++)
		counts[ci->jobs[i].state]++;
	buffer_printf(&out, "CI: %zu of %zu passed", counts[LAND_CI_PASSED], ci->count);
	if (counts[LAND_CI_FAILED]) {
		buffer_printf(&out, "; %zu failed", counts[LAND_CI_FAILED]);
		add_names(ci, LAND_CI_FAILED, &out);
	}
	if (counts[LAND_CI_PENDING]) {
		buffer_printf(&out, "; %zu pending", counts[LAND_CI_PENDING]);
		add_names(ci, LAND_CI_PENDING, &out);
	}
	return mem_dup(buffer_text(&out));
}

char *land_text_preview(const struct op_land_result *result)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(4 * MOST);
	AUTO_BUFFER struct buffer body = BUFFER_INIT(4 * MOST);
	AUTO_FREE char *title = text_escaped(result->title);

	buffer_printf(&out,
		      "would push %s (%.*s) to the remote '%s', and open a request:\n\n%s\n\n",
		      result->branch, SHORT, result->commit, result->remote, title);
	for (const char *at = result->body; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		AUTO_FREE char *line = mem_format("%.*s", (int)strcspn(at, "\n"), at);

		/* Markdown has no control characters; its backslashes stay single. */
		buffer_printf(&body, "%s\n", line);
	}
	buffer_add_text(&out, buffer_text(&body));
	return mem_dup(buffer_text(&out));
}

json_t *land_text_json(const struct op_land_result *result)
{
	const struct land_request *request = &result->request;

	return json_pack("{s:s, s:s, s:s?, s:s, s:s?, s:s, s:s, s:s?, s:s?, s:o, s:b, s:b, s:s?}",
			 "event", "landed", "id", result->id, "branch", result->branch, "commit",
			 result->commit, "remote", result->remote, "push", pushes[result->push],
			 "request", openings[result->opened], "url", request->url, "forge",
			 result->client.forge ? result->client.forge->name : NULL, "number",
			 request->url ? json_integer((json_int_t)request->number) : json_null(),
			 "draft", request->draft, "merged",
			 request->url && request->state == LAND_REQUEST_MERGED, "open_at",
			 result->compare);
}

json_t *land_text_ci_json(const struct land_ci *ci)
{
	json_t *jobs = json_array();

	for (size_t i = 0; i < ci->count; i++)
		json_array_append_new(jobs,
				      json_pack("{s:s, s:s, s:s?}", "name",
						ci->jobs[i].name ? ci->jobs[i].name : "", "state",
						states[ci->jobs[i].state], "url", ci->jobs[i].url));
	return json_pack("{s:s, s:s, s:o}", "event", "ci", "state",
			 ci->count ? states[land_ci_state(ci)] : "none", "jobs", jobs);
}
