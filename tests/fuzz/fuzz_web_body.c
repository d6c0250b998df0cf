// sources: src/serve/answer/web_body.c src/project/path_group.c -ljansson
/* The body of an action, as the web page sends it. */
#include "fuzz.h"

#include "serve/answer/web_body.h"

#include <stdlib.h>

void fuzz_web_body(const uint8_t *data, size_t size)
{
	json_t *body = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	struct op_action_request request = { 0 };
	struct error err;

	if (web_body_read(body, &request, &err) == 0 && !json_is_object(body))
		abort();
	json_decref(body);
}

FUZZ_TARGET(fuzz_web_body)
