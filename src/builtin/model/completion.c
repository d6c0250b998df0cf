/* One question to a model: see completion.h. */
#include "builtin/model/completion.h"

#include "builtin/say.h"
#include "util/mem.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { MODELS_BYTES = 4 << 20 };

const char *completion_event(const struct completion_end *end)
{
	return end->failure == FAILURE_NONE || end->failure == FAILURE_OTHER
		       ? "error"
		       : failure_row(end->failure)->stream_name;
}

void completion_release(struct completion *ask)
{
	httpclient_release(&ask->link);
	if (ask->lines)
		explicit_bzero(ask->lines, strlen(ask->lines));
	free(ask->lines);
	free(ask->model);
}

/* What came of one try. */
struct
try {
	struct reply *answer;
	struct httpclient_head head;
	struct buffer body; /* where there is no stream */
};

static void keep(void *context, const struct httpclient_head *head, const char *bytes, size_t size)
{
	struct try *try = context;

	try->head = *head;
	buffer_add(&try->body, bytes, size);
}

static void take(void *context, const struct httpclient_head *head, const char *bytes, size_t size)
{
	struct try *try = context;

	if (head->status != 200 || !head->events) {
		keep(context, head, bytes, size);
		return;
	}
	try->head = *head;
	reply_feed(try->answer, bytes, size);
}

bool completion_is_too_long(unsigned int status, const char *body)
{
	static const char *const words[] = {
		"prompt is too long",   "context_length_exceeded", "maximum context length",
		"context window",       "exceed_context_size",     "exceeds the available context",
		"input is too long",    "too many tokens",         "request_too_large",
		"exceed context limit",
	};

	if (status != 400 && status != 413 && status != 422 && status != 500)
		return false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcasestr(body, words[i]))
			return true;
	return status == 413;
}

/* A sentence of the body of a refusal. */
static void explain(const struct try *try, const char *body, struct error *err)
{
	json_t *root = json_loads(body, 0, NULL);
	const json_t *error = json_object_get(root, "error");
	const char *message = json_string_value(json_object_get(error, "message"));

	if (!message)
		message = json_string_value(error);
	if (!message)
		message = json_string_value(json_object_get(root, "message"));

	AUTO_FREE char *shown = text_escaped(message ? message : body);

	error_set(err, "the model server answers %u: %.1000s", try->head.status, shown);
	json_decref(root);
}

/* The gateway's limits are the loop's; an account without money is for a person. */
static enum failure class_of(unsigned int status, const struct usage *usage, const char *text)
{
	enum failure failure = failure_from_http(status, usage->error, usage->message);

	return failure == FAILURE_BILLING && strstr(text, "ringfence:") ? FAILURE_BUDGET : failure;
}

/* Judges a refusal in place of an answer. */
static void judge_refusal(struct completion *ask, struct try *try, struct completion_end *end)
{
	struct usage_reader usage;
	const char *body = buffer_text(&try->body);

	usage_init(&usage, ask->dialect->reader.format, false);
	usage_feed(&usage, body, try->body.used);
	if (try->head.status == 200) {
		AUTO_FREE char *shown = text_escaped(body);

		end->failure = FAILURE_OTHER;
		error_set(&end->why,
			  "the model server does not stream: it sends no events, but %.300s",
			  shown);
		return;
	}
	explain(try, body, &end->why);
	end->too_long = completion_is_too_long(try->head.status, body);
	end->failure = end->too_long ? FAILURE_OTHER
				     : class_of(try->head.status, &usage.usage, body);
}

/* An error within a stream has no head of its own. */
static void judge_stream(struct try *try, struct completion_end *end)
{
	struct reply *answer = try->answer;
	const char *text = buffer_text(&answer->error);

	end->failure = FAILURE_NONE;
	if (answer->error.used) {
		AUTO_FREE char *shown = text_escaped(text);

		end->too_long = completion_is_too_long(400, text);
		end->failure = end->too_long ? FAILURE_OTHER
					     : class_of(500, &answer->usage.usage, text);
		error_set(&end->why, "the model server ends its answer with an error: %.1000s",
			  shown);
	} else if (!answer->ended) {
		end->failure = FAILURE_NETWORK;
		error_set(&end->why, "the answer was cut off before its end");
	}
}

static void ask_once(struct completion *ask, const char *body, size_t size, struct try *try,
		     struct completion_end *end)
{
	const struct httpclient_request request = { .method = "POST",
						    .path = ask->dialect->path,
						    .lines = ask->lines,
						    .body = body,
						    .size = size };
	unsigned int status;
	int result = httpclient_ask(&ask->link, &request, take, try, &status, &end->why);

	end->reset_at = 0;
	if (ask->link.garbled)
		end->failure = FAILURE_OTHER;
	else if (status == 200 && try->head.events)
		judge_stream(try, end);
	else if (result < 0)
		end->failure = FAILURE_NETWORK;
	else
		judge_refusal(ask, try, end);
}

static bool is_worth_a_try(const struct completion_end *end, const struct httpclient_head *head)
{
	if (head->retry >= 0)
		return head->retry;
	return failure_row(end->failure)->response == FAILURE_WAIT ||
	       end->failure == FAILURE_NETWORK;
}

/* Always the same: the loop and the provider have their own ways against crowds. What was cut off is there again soon, or
 * not at all. */
static int64_t usual_wait_ms(enum failure failure, int tries)
{
	int64_t first = failure == FAILURE_NETWORK ? 100 : 500;

	return first << (2 * (tries - 1));
}

static void wait_ms(int64_t ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

void completion_request(struct completion *ask, const char *body, size_t size, size_t calls,
			struct reply *answer, struct completion_end *ret_end)
{
	for (int tries = 1;; tries++) {
		struct try try = { .answer = answer,
				   .head = { .wait_ms = -1, .retry = -1 },
				   .body = BUFFER_INIT(REPLY_ERROR) };
		int64_t delay;

		reply_init(answer, &ask->dialect->reader);
		*ret_end = (struct completion_end){ 0 };
		ask_once(ask, body, size, &try, ret_end);
		buffer_release(&try.body);
		if (answer->usage.usage.has_input)
			say_tokens(ask->model, &answer->usage.usage);
		if (ret_end->failure == FAILURE_NONE) {
			reply_end(answer, calls);
			return;
		}
		delay = try.head.wait_ms >= 0 ? try.head.wait_ms
					      : usual_wait_ms(ret_end->failure, tries);
		if (try.head.wait_ms >= 0 && ret_end->failure == FAILURE_RATE_LIMIT)
			ret_end->reset_at = time(NULL) + (try.head.wait_ms + 999) / 1000;
		if (tries == COMPLETION_TRIES || !is_worth_a_try(ret_end, &try.head) ||
		    delay > COMPLETION_LONGEST_MS)
			return;
		reply_release(answer);
		say_retry(delay, ret_end->why.text);
		wait_ms(delay);
	}
}

/* Servers name it in different places; those that say nothing have one all the same. */
static uint64_t window_of(const json_t *model)
{
	const json_t *meta = json_object_get(model, "meta");
	const json_t *window = json_object_get(model, "max_model_len");

	if (!window)
		window = json_object_get(model, "max_context_length");
	if (!window)
		window = json_object_get(meta, "n_ctx");
	return json_is_integer(window) && json_integer_value(window) > 0
		       ? (uint64_t)json_integer_value(window)
		       : 0;
}

/* Judges what is no list of models: what passes is called what it is of a message, the rest has one remedy. */
static void judge_models(struct completion *ask, struct try *try, struct completion_end *end)
{
	if (try->head.status != 200)
		judge_refusal(ask, try, end);
	if (try->head.status != 200 && end->failure != FAILURE_OTHER &&
	    end->failure != FAILURE_MODEL_NOT_FOUND)
		return;
	end->failure = FAILURE_OTHER;
	error_set(&end->why,
		  "the model server does not tell which models it has (status %u): name one with "
		  "--model",
		  try->head.status);
}

int completion_first_model(struct completion *ask, char **ret_model, uint64_t *ret_window,
			   struct completion_end *ret_end)
{
	struct try try = { .body = BUFFER_INIT(MODELS_BYTES) };
	const struct httpclient_request request = { .method = "GET",
						    .path = ask->dialect->models_path,
						    .lines = ask->lines };
	unsigned int status;
	json_t *root;
	const json_t *first;
	const char *id;
	int result = httpclient_ask(&ask->link, &request, keep, &try, &status, &ret_end->why);

	if (result < 0) {
		ret_end->failure = ask->link.garbled ? FAILURE_OTHER : FAILURE_NETWORK;
		buffer_release(&try.body);
		return -1;
	}
	root = json_loadb(buffer_text(&try.body), try.body.used, 0, NULL);
	first = json_array_get(json_object_get(root, "data"), 0);
	id = json_string_value(json_object_get(first, "id"));
	if (status != 200 || !id || !*id) {
		judge_models(ask, &try, ret_end);
		result = -1;
	} else {
		*ret_model = mem_dup(id);
		*ret_window = window_of(first);
	}
	json_decref(root);
	buffer_release(&try.body);
	return result;
}
