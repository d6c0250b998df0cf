/* Requests a reply from a model: see completion.h. */
#include "builtin/model/completion.h"

#include "builtin/emit.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

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

void completion_release(struct completion *completion)
{
	httpclient_release(&completion->client);
	if (completion->lines)
		explicit_bzero(completion->lines, strlen(completion->lines));
	free(completion->lines);
	free(completion->model);
}

/* The result of one attempt. */
struct attempt {
	struct reply *answer;
	struct httpclient_head head;
	struct buffer body; /* if the response is not a stream */
};

static void keep(void *context, const struct httpclient_head *head, const char *bytes, size_t size)
{
	struct attempt *attempt = context;

	attempt->head = *head;
	buffer_add(&attempt->body, bytes, size);
}

static void on_body(void *context, const struct httpclient_head *head, const char *bytes,
		    size_t size)
{
	struct attempt *attempt = context;

	if (head->status != 200 || !head->events) {
		keep(context, head, bytes, size);
		return;
	}
	attempt->head = *head;
	reply_feed(attempt->answer, bytes, size);
}

/* Builds an error message from the body of a refusal. */
static void explain(const struct attempt *attempt, const char *body, struct error *err)
{
	json_t *root = json_loads(body, 0, NULL);
	const json_t *error = json_object_get(root, "error");
	const char *message = jsonget_string(error, "message");

	if (!message)
		message = json_string_value(error);
	if (!message)
		message = jsonget_string(root, "message");

	AUTO_FREE char *shown = text_escaped(message ? message : body);

	error_set(err, "the model server answered %u: %.1000s", attempt->head.status, shown);
	json_decref(root);
}

/* The gateway's own limits are the loop's budget; an empty account needs a person. */
static enum failure classify(unsigned int status, const struct usage *usage, const char *text)
{
	enum failure failure = failure_from_http(status, usage->error, text);

	return failure == FAILURE_BILLING && strstr(text, "ringfence:") ? FAILURE_BUDGET : failure;
}

/* Classifies a response that is not a stream. */
static void classify_refusal(struct completion *completion, struct attempt *attempt,
			     struct completion_end *end)
{
	struct usage_reader usage;
	const char *body = buffer_text(&attempt->body);

	usage_init(&usage, completion->dialect->reader.format, false);
	usage_feed(&usage, body, attempt->body.used);
	if (attempt->head.status == 200) {
		AUTO_FREE char *shown = text_escaped(body);

		end->failure = FAILURE_OTHER;
		error_set(&end->why,
			  "the model server does not stream: instead of events, it sent: %.300s",
			  shown);
		return;
	}
	explain(attempt, body, &end->why);
	end->failure = classify(attempt->head.status, &usage.usage, body);
}

/* An error inside a stream has no status of its own. */
static void classify_stream(struct attempt *attempt, struct completion_end *end)
{
	struct reply *answer = attempt->answer;
	const char *text = buffer_text(&answer->error);

	end->failure = FAILURE_NONE;
	if (answer->error.used) {
		AUTO_FREE char *shown = text_escaped(text);

		end->failure = classify(500, &answer->usage.usage, text);
		error_set(&end->why, "the model server ended its reply with an error: %.1000s",
			  shown);
	} else if (!answer->ended) {
		end->failure = FAILURE_NETWORK;
		error_set(&end->why, "the reply was cut off before its end");
	}
}

static void send_once(struct completion *completion, const char *body, size_t size,
		      struct attempt *attempt, struct completion_end *end)
{
	const struct httpclient_request request = { .method = "POST",
						    .path = completion->dialect->path,
						    .lines = completion->lines,
						    .body = body,
						    .size = size };
	unsigned int status;
	int result = httpclient_send(&completion->client, &request, on_body, attempt, &status,
				     &end->why);

	end->reset_at = 0;
	if (completion->client.garbled)
		end->failure = FAILURE_OTHER;
	else if (status == 200 && attempt->head.events)
		classify_stream(attempt, end);
	else if (result < 0)
		end->failure = FAILURE_NETWORK;
	else
		classify_refusal(completion, attempt, end);
}

static bool is_retryable(const struct completion_end *end, const struct httpclient_head *head)
{
	if (head->retry >= 0)
		return head->retry;
	return failure_row(end->failure)->response == FAILURE_WAIT ||
	       end->failure == FAILURE_NETWORK;
}

/*
 * Without jitter: the loop and the provider already spread the load. After a cut connection, the
 * server is back soon or not at all.
 */
static int64_t default_wait_ms(enum failure failure, int attempts)
{
	int64_t first = failure == FAILURE_NETWORK ? 100 : 500;

	return first << (2 * (attempts - 1));
}

static void wait_ms(int64_t ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

void completion_request(struct completion *completion, const char *body, size_t size, size_t calls,
			struct reply *answer, struct completion_end *ret_end)
{
	for (int attempts = 1;; attempts++) {
		struct attempt attempt = { .answer = answer,
					   .head = { .wait_ms = -1, .retry = -1 },
					   .body = BUFFER_INIT(REPLY_ERROR) };
		int64_t delay;

		reply_init(answer, &completion->dialect->reader);
		*ret_end = (struct completion_end){ 0 };
		send_once(completion, body, size, &attempt, ret_end);
		buffer_release(&attempt.body);
		if (answer->usage.usage.has_input)
			emit_tokens(completion->model, &answer->usage.usage);
		if (ret_end->failure == FAILURE_NONE) {
			reply_end(answer, calls);
			return;
		}
		delay = attempt.head.wait_ms >= 0 ? attempt.head.wait_ms
						  : default_wait_ms(ret_end->failure, attempts);
		if (attempt.head.wait_ms >= 0 && ret_end->failure == FAILURE_RATE_LIMIT)
			ret_end->reset_at = time(NULL) + (attempt.head.wait_ms + 999) / 1000;
		if (attempts == COMPLETION_TRIES || !is_retryable(ret_end, &attempt.head) ||
		    delay > COMPLETION_LONGEST_MS)
			return;
		reply_release(answer);
		emit_retry(delay, ret_end->why.text);
		wait_ms(delay);
	}
}

/* Servers name the window in different places; some do not report it. */
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

/*
 * Classifies a failed request for the list of models. Temporary failures keep their class; all
 * others have the same remedy.
 */
static void classify_models(struct completion *completion, struct attempt *attempt,
			    struct completion_end *end)
{
	if (attempt->head.status != 200)
		classify_refusal(completion, attempt, end);
	if (attempt->head.status != 200 && end->failure != FAILURE_OTHER &&
	    end->failure != FAILURE_MODEL_NOT_FOUND)
		return;
	end->failure = FAILURE_OTHER;
	error_set(&end->why,
		  "the model server does not list its models (status %u): name one with --model",
		  attempt->head.status);
}

int completion_first_model(struct completion *completion, char **ret_model, uint64_t *ret_window,
			   struct completion_end *ret_end)
{
	struct attempt attempt = { .body = BUFFER_INIT(MODELS_BYTES) };
	const struct httpclient_request request = { .method = "GET",
						    .path = completion->dialect->models_path,
						    .lines = completion->lines };
	unsigned int status;
	json_t *root;
	const json_t *first;
	const char *id;
	int result = httpclient_send(&completion->client, &request, keep, &attempt, &status,
				     &ret_end->why);

	if (result < 0) {
		ret_end->failure = completion->client.garbled ? FAILURE_OTHER : FAILURE_NETWORK;
		buffer_release(&attempt.body);
		return -1;
	}
	root = json_loadb(buffer_text(&attempt.body), attempt.body.used, 0, NULL);
	first = json_array_get(json_object_get(root, "data"), 0);
	id = jsonget_string(first, "id");
	if (status != 200 || !id || !*id) {
		classify_models(completion, &attempt, ret_end);
		result = -1;
	} else {
		*ret_model = mem_dup(id);
		*ret_window = window_of(first);
	}
	json_decref(root);
	buffer_release(&attempt.body);
	return result;
}
