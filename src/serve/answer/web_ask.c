/* Requests and answers: see web_ask.h. */
#include "serve/answer/web_ask.h"

#include "util/id.h"
#include "util/text/jsonget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *web_ask_text(const struct web_ask *ask, const char *name)
{
	return jsonget_string(ask->query, name);
}

int web_ask_number(const struct web_ask *ask, const char *name, int64_t least, int64_t most,
		   int64_t fallback, int64_t *ret_number, struct error *err)
{
	const char *text = web_ask_text(ask, name);
	long long number;
	char *end;

	*ret_number = fallback;
	if (!text)
		return 0;
	errno = 0;
	number = strtoll(text, &end, 10);
	if (errno || *end || !*text || strspn(text, "0123456789") != strlen(text) ||
	    number < least || number > most)
		return error_with(err, ERROR_INVALID, "'%s' must be a number between %lld and %lld",
				  name, (long long)least, (long long)most);
	*ret_number = number;
	return 0;
}

int web_ask_loop(const struct web_ask *ask, struct client_loop *ret_loop, struct error *err)
{
	if (!id_is_valid(ask->words[0]))
		return error_with(err, ERROR_NOT_FOUND, "'%.80s' is not the id of a loop",
				  ask->words[0]);
	return client_find(ask->state, ask->words[0], NULL, ret_loop, err);
}

int web_ask_readable(const struct web_ask *ask, struct web_ask_answer *answer,
		     struct client_loop *ret_loop, struct error *err)
{
	if (web_ask_loop(ask, ret_loop, err) < 0)
		return -1;
	if (!ret_loop->damaged)
		return 0;
	answer->status = "damaged";
	error_set(err, "%s", ret_loop->trouble ? ret_loop->trouble : "the journal is damaged");
	client_loop_release(ret_loop);
	return -1;
}
