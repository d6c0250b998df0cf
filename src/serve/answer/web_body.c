/* Bodies: see web_body.h. */
#include "serve/answer/web_body.h"

#include "util/text/jsonget.h"

#include <string.h>

static int read_leaves(const json_t *leaves, struct op_action_request *request, struct error *err)
{
	size_t i;
	const json_t *name;

	json_array_foreach(leaves, i, name)
	{
		bool known = false;

		for (int group = 0; group < PATH_GROUP_COUNT && json_is_string(name); group++)
			if (strcmp(json_string_value(name),
				   path_group_name((enum path_group)group)) == 0)
				request->leaves[group] = known = true;
		if (!known)
			return error_with(err, ERROR_INVALID, "'leaves' must have names of groups");
	}
	return 0;
}

/* Is a member missing, null, or of this type? */
static bool fits(const json_t *body, const char *key, bool is_type)
{
	const json_t *value = json_object_get(body, key);

	return !value || json_is_null(value) || is_type;
}

int web_body_read(const json_t *body, struct op_action_request *request, struct error *err)
{
	const json_t *checkpoint = json_object_get(body, "checkpoint");
	const json_t *leaves = json_object_get(body, "leaves");

	if (!json_is_object(body))
		return error_with(err, ERROR_INVALID, "the body must be a JSON object");
	if (!fits(body, "text", jsonget_string(body, "text") != NULL) ||
	    !fits(body, "token", jsonget_string(body, "token") != NULL) ||
	    !fits(body, "now", json_is_boolean(json_object_get(body, "now"))) ||
	    !fits(body, "checkpoint", json_is_integer(checkpoint)) ||
	    !fits(body, "leaves", json_is_array(leaves)))
		return error_with(err, ERROR_INVALID,
				  "text and token must be strings, now a boolean, checkpoint a "
				  "number, leaves a list");
	request->text = jsonget_string(body, "text");
	request->token = jsonget_string(body, "token");
	request->now = jsonget_flag(body, "now");
	request->checkpoint = json_is_integer(checkpoint) ? json_integer_value(checkpoint) : -1;
	return read_leaves(leaves, request, err);
}
