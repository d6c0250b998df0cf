/* Reads the body of a request to a model: see request.h. */
#include "meter/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Makes a client's text safe for logs and terminals. */
static void clean(char *text)
{
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			*text = '?';
}

/* Sets the reason of a refusal; the first one counts. Returns false if there is one already. */
static bool set_reason(struct request_body *body, const char *format, va_list args)
{
	if (body->why[0])
		return false;
	vsnprintf(body->why, sizeof body->why, format, args);
	clean(body->why);
	return true;
}

void request_body_refuse(struct request_body *body, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_reason(body, format, args);
	va_end(args);
}

void request_body_deny(struct request_body *body, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	body->denied |= set_reason(body, format, args);
	va_end(args);
}

static void read_limit(struct request_body *body, const struct jsonscan_value *value)
{
	struct request_spot *spot = body->limit[0].end ? &body->limit[1] : &body->limit[0];
	bool whole = value->kind == JSONSCAN_NUMBER &&
		     strspn(value->text, "0123456789") == value->kept;

	if (value->kind == JSONSCAN_END)
		return;
	/* A null is overwritten when a limit is set: a limit inserted before it would not take
	 * effect. Some servers take 0 for no limit. */
	if (value->kind == JSONSCAN_NULL || (whole && value->number == 0)) {
		*spot = (struct request_spot){ value->start, value->end, value->kind,
					       REQUEST_UNSAID, false };
		return;
	}
	if (!whole)
		request_body_refuse(body, "the maximum number of tokens must be a whole number");
	*spot = (struct request_spot){ value->start, value->end, value->kind, value->number,
				       false };
}

static void read_answers(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_NULL)
		return;
	if (value->kind != JSONSCAN_NUMBER || value->number == 0 || value->number > 128)
		request_body_refuse(body, "the number of answers must be between 1 and 128");
	else
		body->answers = value->number;
}

static void record_spot(struct request_spot *spot, const struct jsonscan_value *value)
{
	if (value->kind == JSONSCAN_END)
		spot->empty = value->number == 0;
	else
		*spot = (struct request_spot){ value->start, value->end, value->kind, 0, false };
}

/* Gemini's model is in the path; the body may only repeat it. */
static void repeat_model(struct request_body *body, const struct jsonscan_value *value)
{
	static const char prefix[] = "models/";
	const char *name = value->text;

	if (value->kind == JSONSCAN_NULL)
		return;
	if (value->kind == JSONSCAN_STRING && strncmp(name, prefix, sizeof prefix - 1) == 0)
		name += sizeof prefix - 1;
	if (value->kind != JSONSCAN_STRING || value->bytes != value->kept ||
	    strlen(value->text) != value->kept || strcmp(name, body->model) != 0)
		request_body_refuse(body, "the model in the body is not the one in the path");
}

static void read_model(struct request_body *body, const struct jsonscan_value *value)
{
	if (body->route->provider == PROVIDER_GEMINI) {
		repeat_model(body, value);
		return;
	}
	if (value->kind != JSONSCAN_STRING || value->bytes != value->kept || value->kept == 0 ||
	    value->kept >= REQUEST_MODEL || strlen(value->text) != value->kept) {
		request_body_refuse(body, "the model must be a name of at most 127 bytes");
		return;
	}
	memcpy(body->model, value->text, value->kept + 1);
}

static void read_config(struct request_body *body, const struct jsonscan_value *value)
{
	if (value->kind != JSONSCAN_OBJECT && value->kind != JSONSCAN_END &&
	    value->kind != JSONSCAN_NULL)
		request_body_refuse(body, "generationConfig must be an object");
	record_spot(&body->config, value);
}

static void read_value(struct request_body *body, const struct jsonscan_value *value)
{
	switch ((enum schema_role)body->schema->fields[value->node].role) {
	case SCHEMA_MODEL:
		read_model(body, value);
		break;
	case SCHEMA_STREAM:
		body->stream |= value->kind == JSONSCAN_TRUE;
		break;
	case SCHEMA_LIMIT:
		read_limit(body, value);
		break;
	case SCHEMA_ANSWERS:
		read_answers(body, value);
		break;
	case SCHEMA_OPTIONS:
		record_spot(&body->options, value);
		break;
	case SCHEMA_USAGE:
		record_spot(&body->usage, value);
		body->asks_usage |= value->kind == JSONSCAN_TRUE;
		break;
	case SCHEMA_THINKING:
		record_spot(&body->thinking, value);
		body->thinking.number = value->number;
		break;
	case SCHEMA_CONFIG:
		read_config(body, value);
		break;
	default:
		request_check_value(body, value);
		break;
	}
}

/* Keeps the name of the field that is the reason for the first refusal. */
static void note_field(struct request_body *body, size_t row, const char *key)
{
	if (body->why[0] && !body->field[0])
		request_check_name(body, row, key, body->field);
}

static void on_value(void *context, const struct jsonscan_value *value)
{
	read_value(context, value);
	note_field(context, value->node, "");
}

static void on_unknown(void *context, size_t parent, const char *key)
{
	request_check_unknown(context, parent, key);
	note_field(context, parent, key);
}

void request_body_init(struct request_body *body, const struct request_target *target,
		       const struct request_policy *policy)
{
	const struct schema *schema = schema_of(target->route->format);

	*body = (struct request_body){ .route = target->route, .schema = schema, .answers = 1 };
	if (policy)
		body->policy = *policy;
	body->stream = target->route->stream;
	memcpy(body->model, target->model, sizeof body->model);
	body->scan = (struct jsonscan){ .nodes = schema->nodes,
					.count = schema->count,
					.report = on_value,
					.unknown = on_unknown,
					.context = body };
}

void request_body_feed(struct request_body *body, const char *bytes, size_t size)
{
	for (size_t i = 0; !body->root && i < size; i++)
		if (bytes[i] == '{')
			body->root = body->scan.offset + i + 1;
	jsonscan_feed(&body->scan, bytes, size);
}

/* Refuses a body that two parsers could read differently, whatever else is wrong with it, and one
 * that was not read as a whole. */
static void refuse_doubt(struct request_body *body)
{
	bool differs = body->scan.folded || body->scan.twice;

	if (!differs && !body->scan.deep)
		return;
	if (differs) {
		body->why[0] = '\0';
		body->denied = false;
	}
	if (!body->why[0])
		snprintf(body->field, sizeof body->field, "%s", body->scan.odd);
	request_body_refuse(body, "the key '%s' %s", body->scan.odd,
			    body->scan.folded  ? "differs in case or letters from the provider's"
			    : body->scan.twice ? "occurs twice"
					       : "is nested too deeply to be checked");
}

static const char *check_form(const struct request_body *body)
{
	if (body->scan.wrong || !jsonscan_done(&body->scan))
		return "the body is not valid JSON";
	if (body->scan.members[0] == 0 || body->scan.list[0])
		return "the body must be a JSON object";
	if (!body->model[0] && body->route->billed)
		return "the body does not name a model";
	return NULL;
}

const char *request_body_end(struct request_body *body)
{
	uint64_t most = REQUEST_UNSAID;
	const char *wrong = check_form(body);

	if (body->scan.wrong)
		return wrong;
	refuse_doubt(body);
	if (wrong && !body->why[0])
		return wrong;
	request_check_model(body);
	if (body->why[0] && !body->field[0])
		snprintf(body->field, sizeof body->field, "model");
	if (body->why[0])
		return body->why;
	for (size_t i = 0; i < 2; i++)
		if (body->limit[i].end)
			most = i == 0 || body->limit[i].number > most ? body->limit[i].number
								      : most;
	body->most = most;
	return NULL;
}

uint64_t request_body_elsewhere(const struct request_body *body)
{
	uint64_t tokens = body->documents * REQUEST_ELSEWHERE + body->images * REQUEST_IMAGE +
			  (body->elsewhere ? REQUEST_ELSEWHERE : 0);

	return tokens < REQUEST_WINDOW ? tokens : REQUEST_WINDOW;
}

uint64_t request_body_floor(const struct request_body *body)
{
	return body->thinking.end ? REQUEST_THINKING : REQUEST_FLOOR;
}
