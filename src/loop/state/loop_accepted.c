/* Accepted findings: see loop_accepted.h. */
#include "loop/state/loop_accepted.h"

#include "util/text/jsonget.h"

#include <string.h>

static bool is_same(const json_t *one, const json_t *other, const char *key)
{
	return json_equal(json_object_get(one, key), json_object_get(other, key));
}

bool loop_accepted_has(const json_t *accepted, const json_t *finding)
{
	size_t index;
	const json_t *each;

	json_array_foreach(accepted, index, each)
	{
		if (is_same(each, finding, "kind") && is_same(each, finding, "path") &&
		    is_same(each, finding, "evidence"))
			return true;
	}
	return false;
}

void loop_accepted_add(json_t **accepted, const json_t *findings)
{
	size_t index;
	json_t *each;

	if (!*accepted)
		*accepted = json_array();
	json_array_foreach(findings, index, each)
	{
		if (!loop_accepted_has(*accepted, each))
			json_array_append(*accepted, each);
	}
}

uint32_t loop_accepted_count_open(const json_t *accepted, const json_t *findings,
				  const char *action)
{
	uint32_t count = 0;
	size_t index;
	const json_t *each;

	json_array_foreach(findings, index, each)
	{
		const char *wanted = jsonget_string(each, "action");

		count += wanted && strcmp(wanted, action) == 0 &&
			 !loop_accepted_has(accepted, each);
	}
	return count;
}
