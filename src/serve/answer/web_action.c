/* Actions: see web_action.h. */
#include "serve/answer/web_action.h"

#include "ops/op_action.h"
#include "serve/answer/web_body.h"
#include "util/id.h"
#include "util/text/jsonget.h"
#include "view/view_json.h"

#include <string.h>

enum { MOST_ITEMS = 2000 };

/* ---- the answer ---- */

static json_t *question_json(const struct op_question *question)
{
	json_t *items = json_array();

	for (size_t i = 0; i < question->count && i < MOST_ITEMS; i++) {
		const struct op_item *item = &question->items[i];

		json_array_append_new(items, json_pack("{s:o, s:o, s:o, s:o}", "name",
						       view_json_text(item->name), "value",
						       view_json_text(item->value), "where",
						       view_json_text(item->where), "why",
						       view_json_text(item->why)));
	}
	return json_pack("{s:o, s:s, s:o, s:I}", "text", view_json_text(question->text), "token",
			 question->token, "items", items, "more",
			 (json_int_t)(question->count - json_array_size(items)));
}

static void add_titles(json_t *groups)
{
	size_t i;
	json_t *group;

	json_array_foreach(groups, i, group)
	{
		for (int each = 0; each < PATH_GROUP_COUNT; each++)
			if (strcmp(jsonget_text(group, "group"),
				   path_group_name((enum path_group)each)) == 0)
				json_object_set_new(group, "title",
						    json_string(path_group_title(
							    (enum path_group)each)));
	}
}

/* Returns the details with a bounded number of changes. */
static json_t *details_json(json_t *details)
{
	json_t *changes = json_object_get(details, "changes");
	size_t count = json_array_size(changes);

	add_titles(json_object_get(details, "groups"));
	for (size_t i = count; i > MOST_ITEMS; i--)
		json_array_remove(changes, i - 1);
	json_object_set_new(details, "more",
			    json_integer((json_int_t)(count - json_array_size(changes))));
	return json_incref(details);
}

static const char *status_name(enum op_status status)
{
	switch (status) {
	case OP_NOT_FOUND:
		return "not-found";
	case OP_DAMAGED:
		return "damaged";
	case OP_RUNNING:
		return "running";
	case OP_NOT_RUNNING:
		return "not-running";
	case OP_ENDED:
		return "ended";
	case OP_TIMED_OUT:
		return "timed-out";
	case OP_INVALID:
		return "invalid";
	case OP_REFUSED:
		return "refused";
	default:
		return NULL; /* by the error's status */
	}
}

static int tell(enum op_status status, const struct op_action_result *result,
		struct web_ask_answer *answer)
{
	json_t *details = result->details ? details_json(result->details) : NULL;

	if (op_failed(status)) {
		answer->status = status_name(status);
		answer->details = details;
		return -1;
	}
	answer->json = json_pack("{s:s, s:o, s:o}", "result",
				 status == OP_ASKS        ? "asks"
				 : status == OP_UNCHANGED ? "unchanged"
							  : "done",
				 "text", view_json_text(result->text), "details",
				 details ? details : json_null());
	if (status == OP_ASKS)
		json_object_set_new(answer->json, "question", question_json(&result->question));
	return 0;
}

static int run(const struct web_ask *ask, const json_t *body, enum op_action action,
	       struct web_ask_answer *answer, struct error *err)
{
	struct op_action_request request = { .state = ask->state,
					     .loop = ask->words[0],
					     .action = action,
					     .before = ask->before,
					     .context = ask->context };
	struct op_action_result result;
	int told;

	if (web_body_read(body, &request, err) < 0)
		return -1;
	told = tell(op_action_run(&request, &result, err), &result, answer);
	op_action_release(&result);
	return told;
}

int web_action_answer(const struct web_ask *ask, struct web_ask_answer *answer, struct error *err)
{
	enum op_action action;
	json_t *body;
	int result;

	if (!id_is_valid(ask->words[0]))
		return error_with(err, ERROR_NOT_FOUND, "'%.80s' is not the id of a loop",
				  ask->words[0]);
	if (op_action_find(ask->words[1], &action) < 0)
		return error_with(err, ERROR_NOT_FOUND, "there is no action '%.80s'",
				  ask->words[1]);
	body = json_loads(ask->body, JSON_REJECT_DUPLICATES, NULL);
	result = run(ask, body, action, answer, err);
	json_decref(body);
	return result;
}
