/* The shell tool: runs a command in the project, without keys in its environment. */
#include "builtin/emit.h"
#include "builtin/tool/child.h"
#include "builtin/tool/tool.h"
#include "util/file/path.h"

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
	const struct tool_context *ctx;
	const char *text;
};

static int exec_shell(void *context)
{
	static const char *const shells[] = { "/bin/bash", "/usr/bin/bash", "/bin/sh" };
	const struct command *command = context;

	if (fchdir(command->ctx->root) < 0)
		return 125;
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
		/* Named "sh", bash would turn off its own extensions. */
		char *const arguments[] = { (char *)path_name(shells[i]), (char *)"-c",
					    (char *)command->text, NULL };

		execve(shells[i], arguments, command->ctx->environment);
	}
	return 127;
}

static void trim_end(struct buffer *out)
{
	while (out->used && strchr("\r\n ", out->data[out->used - 1]) && out->data[out->used - 1])
		out->used--;
}

static int describe_end(const struct child_end *end, long timeout_s, struct buffer *out)
{
	const char *gap;

	trim_end(out);
	gap = out->used ? "\n" : "";
	if (end->late)
		buffer_printf(out, "%s[killed after %ld s: not finished]", gap, timeout_s);
	else if (end->flooded)
		buffer_printf(out, "%s[killed: printed more than %d MiB]", gap, FLOOD >> 20);
	else if (WIFSIGNALED(end->status))
		buffer_printf(out, "%s[killed by signal %d: %s]", gap, WTERMSIG(end->status),
			      strsignal(WTERMSIG(end->status)));
	else if (WEXITSTATUS(end->status))
		buffer_printf(out, "%s[exit status %d]", gap, WEXITSTATUS(end->status));
	else if (!out->used)
		buffer_add_text(out, "(no output)");
	return end->late || end->flooded || end->status != 0;
}

static int run_shell(struct tool_context *ctx, const json_t *arguments, struct buffer *out,
		     struct error *err)
{
	struct command command = { .ctx = ctx };
	struct child_end end;
	long timeout_s;

	if (tool_text(arguments, "command", &command.text, err) < 0 ||
	    tool_number(arguments, "timeout_s", USUAL_S, 1, MOST_S, &timeout_s, err) < 0)
		return -1;

	const struct child_work work = { .run = exec_shell,
					 .context = &command,
					 .most_ms = (uint64_t)timeout_s * 1000,
					 .most_bytes = FLOOD,
					 .head = HEAD,
					 .tail = TAIL,
					 .tick = emit_heartbeat };

	if (child_run(&work, out, &end, err) < 0)
		return -1;
	return describe_end(&end, timeout_s, out);
}

TOOL_COMPLETE
const struct tool tool_shell = {
	/* name */ "shell",
	/* about */
	"Runs a command line with bash -c in the project root, with empty stdin. Returns its output (the beginning and "
	"the end, if it is long) and its exit status. The command is killed after timeout_s seconds (default 120, at "
	"most 600). Background processes are killed when it ends.",
	/* schema */
	"{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\"},\"timeout_s\":{\"type\":\"integer\"}},"
	"\"required\":[\"command\"]}",
	/* target */ "command",
	/* files */ false,
	/* run */ run_shell,
};
