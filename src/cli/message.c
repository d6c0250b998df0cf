/* Messages for agents: see message.h. */
#include "cli/message.h"

#include "util/file/fd.h"

#include <string.h>
#include <unistd.h>

enum { STDIN_BYTES = 1 << 20 };

/* Is the only argument a loop, whose message was forgotten? */
static bool is_loop(struct loops_options *opts, const char *word)
{
	struct client_loop loop;
	struct error ignored;
	bool found = loops_resolve(opts, &word, &ignored) == 0 &&
		     client_find(opts->place.state, word, NULL, &loop, &ignored) == 0;

	if (found)
		client_loop_release(&loop);
	return found;
}

static char *read_stdin(struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(STDIN_BYTES);

	if (fd_read_all(STDIN_FILENO, &text) < 0) {
		error_sys(err, "read the message from stdin");
		return NULL;
	}
	return told_clean(buffer_text(&text), text.used, err);
}

char *message_read(struct loops_options *opts, const char *command, struct op_target *ret_target,
		   struct error *err)
{
	const char *first = opts->rest[0];
	const char *text = first && opts->rest[1] ? opts->rest[1] : first;

	if (text != first && loops_resolve(opts, &first, err) < 0)
		return NULL;
	*ret_target = (struct op_target){ .state = opts->place.state,
					  .project = opts->place.project,
					  .loop = text == first ? NULL : first };
	if (text != first && opts->rest[2]) {
		error_set(err, "%s takes one text; put it in quotes: ringfence %s [LOOP] \"TEXT\"",
			  command, command);
		return NULL;
	}
	if (!first || (text == first && is_loop(opts, first))) {
		error_set(err, "%s needs a text: ringfence %s %s \"TEXT\"", command, command,
			  first ? first : "[LOOP]");
		return NULL;
	}
	return strcmp(text, "-") == 0 ? read_stdin(err) : told_clean(text, strlen(text), err);
}
