/* The tool shell: a command in the project, without keys in its environment. */
#include "builtin/say.h"
#include "builtin/tool/child.h"
#include "builtin/tool/tool.h"
#include "util/path.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	USUAL_S = 120,
	MOST_S = 600,
	HEAD = 12 << 10,
	TAIL = 20 << 10,
	FLOOD = 256 << 20,
};

struct command {
	const struct tool_context *bench;
	const char *text;
};

static int become(void *context)
{
	static const char *const shells[] = { "/bin/bash", "/usr/bin/bash", "/bin/sh" };
	const struct command *command = context;

	if (fchdir(command->bench->root) < 0)
		return 125;
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
		/* As sh, bash would leave out what makes it bash. */
		char *const arguments[] = { (char *)path_name(shells[i]), (char *)"-c",
					    (char *)command->text, NULL };

		execve(shells[i], arguments, command->bench->environment);
	}
	return 127;
}

static void trim_end(struct buffer *out)
{
	while (out->used && strchr("\r\n ", out->data[out->used - 1]) && out->data[out->used - 1])
		out->used--;
}

static int tell_end(const struct child_end *end, long timeout_s, struct buffer *out)
{
	const char *gap;

	trim_end(out);
	gap = out->used ? "\n" : "";
	if (end->late)
		buffer_printf(out, "%s[not finished after %ld s, and ended]", gap, timeout_s);
	else if (end->flooded)
		buffer_printf(out, "%s[printed more than %d MiB, and ended]", gap, FLOOD >> 20);
	else if (WIFSIGNALED(end->status))
		buffer_printf(out, "%s[ended by signal %d: %s]", gap, WTERMSIG(end->status),
			      strsignal(WTERMSIG(end->status)));
	else if (WEXITSTATUS(end->status))
		buffer_printf(out, "%s[exit status %d]", gap, WEXITSTATUS(end->status));
	else if (!out->used)
		buffer_add_text(out, "(no output)");
	return end->late || end->flooded || end->status != 0;
}

static int run_shell(struct tool_context *bench, const json_t *arguments, struct buffer *out,
		     struct error *err)
{
	struct command command = { .bench = bench };
	struct child_end end;
	long timeout_s;

	if (tool_text(arguments, "command", &command.text, err) < 0 ||
	    tool_number(arguments, "timeout_s", USUAL_S, 1, MOST_S, &timeout_s, err) < 0)
		return -1;

	const struct child_work work = { .run = become,
					 .context = &command,
					 .most_ms = (uint64_t)timeout_s * 1000,
					 .most_bytes = FLOOD,
					 .head = HEAD,
					 .tail = TAIL,
					 .tick = say_alive };

	if (child_do(&work, out, &end, err) < 0)
		return -1;
	return tell_end(&end, timeout_s, out);
}

TOOL_COMPLETE
const struct tool tool_shell = {
	/* name */ "shell",
	/* about */
	"Runs a command line with bash -c in the project's root, with nothing to read from. Gives back what it prints "
	"(of much the beginning and the end) and how it ended. After timeout_s seconds (120, at most 600) it is "
	"ended, and what it leaves in the background is ended with it.",
	/* schema */
	"{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\"},\"timeout_s\":{\"type\":\"integer\"}},"
	"\"required\":[\"command\"]}",
	/* target */ "command",
	/* files */ false,
	/* run */ run_shell,
};
