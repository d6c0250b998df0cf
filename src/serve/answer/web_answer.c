/* Answering a request: see web_answer.h. */
#include "serve/answer/web_answer.h"

#include "serve/answer/web_action.h"
#include "serve/answer/web_ask.h"
#include "serve/answer/web_iteration.h"
#include "serve/answer/web_iterations.h"
#include "serve/answer/web_logs.h"
#include "serve/answer/web_loop.h"
#include "serve/answer/web_overview.h"
#include "serve/answer/web_work.h"
#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "view/view_json.h"

#include <string.h>
#include <unistd.h>

enum { REQUEST = 2 << 20, HEADER = 200 };

/* Those that are missing here are answered by the server itself. */
static web_ask_fn *const answers[WEB_ROUTE_COUNT] = {
	[WEB_ROUTE_overview] = web_overview_answer,
	[WEB_ROUTE_loop] = web_loop_answer,
	[WEB_ROUTE_iterations] = web_iterations_answer,
	[WEB_ROUTE_iteration] = web_iteration_answer,
	[WEB_ROUTE_series] = web_iterations_series,
	[WEB_ROUTE_transcript] = web_logs_transcript,
	[WEB_ROUTE_search] = web_logs_search,
	[WEB_ROUTE_prompt] = web_logs_prompt,
	[WEB_ROUTE_tools] = web_work_tools,
	[WEB_ROUTE_changes] = web_work_changes,
	[WEB_ROUTE_diff] = web_work_diff,
	[WEB_ROUTE_checkpoints] = web_work_checkpoints,
	[WEB_ROUTE_report] = web_work_report,
	[WEB_ROUTE_action] = web_action_answer,
	[WEB_ROUTE_batch] = web_work_batch,
	[WEB_ROUTE_metrics] = web_work_metrics,
};

/* ---- failures ---- */

static const char *status_of(const struct error *err)
{
	switch (err->status) {
	case ERROR_INVALID:
		return "invalid";
	case ERROR_NOT_FOUND:
		return "not-found";
	case ERROR_REFUSED:
	case ERROR_DENIED:
		return "refused";
	case ERROR_BUSY:
		return "busy";
	default:
		return "failed";
	}
}

static unsigned int code_of(const char *status)
{
	static const struct {
		const char *status;
		unsigned int code;
	} codes[] = {
		{ "invalid", 400 },     { "not-found", 404 }, { "running", 409 },
		{ "not-running", 409 }, { "ended", 409 },     { "refused", 409 },
		{ "too-large", 413 },   { "damaged", 422 },   { "busy", 503 },
		{ "timed-out", 504 },
	};

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (strcmp(codes[i].status, status) == 0)
			return codes[i].code;
	return 500;
}

/* ---- writing ---- */

static int put(int output, unsigned int code, const char *type, const char *bytes, size_t size)
{
	AUTO_FREE char *line = mem_format("%u %s\n", code, type);

	return fd_write_all(output, line, strlen(line)) < 0 || fd_write_all(output, bytes, size) < 0
		       ? -1
		       : 0;
}

static int put_json(int output, unsigned int code, const json_t *json)
{
	AUTO_FREE char *text = json_dumps(json, JSON_COMPACT);

	return text ? put(output, code, "application/json", text, strlen(text)) : -1;
}

static int put_failure(int output, const char *status, const char *message, json_t *details)
{
	json_t *json = json_pack("{s:{s:s, s:o}}", "error", "status", status, "message",
				 view_json_text(message));
	int result;

	if (details)
		json_object_set(json, "details", details);
	result = put_json(output, code_of(status), json);
	json_decref(json);
	return result;
}

static int put_answer(int output, struct web_ask_answer *answer)
{
	if (answer->json)
		return put_json(output, 200, answer->json);
	if (buffer_overflowed(&answer->text))
		return put_failure(output, "too-large", "the answer would have more than 64 MiB",
				   NULL);
	buffer_text(&answer->text);
	return put(output, 200, answer->type, answer->text.data, answer->text.used);
}

static int answer_ask(const struct web_ask *ask, int output)
{
	web_ask_fn *run = ask->route < WEB_ROUTE_COUNT ? answers[ask->route] : NULL;
	struct web_ask_answer answer = { .text = BUFFER_INIT(0) };
	struct error err;
	int result;

	if (!run)
		result = put_failure(output, "not-found", "there is no such address", NULL);
	else if (run(ask, &answer, &err) == 0)
		result = put_answer(output, &answer);
	else
		result = put_failure(output, answer.status ? answer.status : status_of(&err),
				     err.text, answer.details);
	json_decref(answer.json);
	json_decref(answer.details);
	buffer_release(&answer.text);
	return result;
}

int web_answer_run(const struct web_answer_request *from, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(REQUEST);
	json_t *request, *words;
	int result;

	/* A process that was started again has read it before. */
	if (lseek(from->input, 0, SEEK_SET) < 0 || fd_read_all(from->input, &text) < 0)
		return error_sys(err, "read a request of the web page");
	request = json_loads(buffer_text(&text), 0, NULL);
	words = json_object_get(request, "words");

	const struct web_ask ask = { .state = from->state,
				     .route = web_route_named(jsonget_text(request, "route")),
				     .words = { json_string_value(json_array_get(words, 0)),
						json_string_value(json_array_get(words, 1)) },
				     .query = json_object_get(request, "query"),
				     .body = jsonget_text(request, "body"),
				     .before = from->before,
				     .context = from->context };

	if (!ask.words[0] || !ask.words[1])
		result = error_with(err, ERROR_PROTOCOL, "a request of the web page is malformed");
	else if ((result = answer_ask(&ask, from->output)) < 0)
		error_sys(err, "answer a request of the web page");
	json_decref(request);
	return result;
}
