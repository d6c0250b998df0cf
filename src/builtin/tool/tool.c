/* The table of tools, and their shared helpers: see tool.h. */
#include "builtin/tool/tool.h"

#include "util/file/fd.h"
#include "util/mem.h"
#include "util/text/jsonget.h"
#include "util/text/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const struct tool *const tools[] = {
#define TOOL(name) [TOOL_##name] = &tool_##name,
	TOOLS(TOOL)
#undef TOOL
};

const struct tool *tool_at(size_t index)
{
	return tools[index];
}

int tool_context_open(struct tool_context *ctx, struct error *err)
{
	char *path = realpath(".", NULL);
	int root = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (!path || root < 0) {
		free(path);
		return error_sys(err, "open the current folder");
	}
	*ctx = (struct tool_context){ .root = root, .path = path };
	return 0;
}

void tool_context_release(struct tool_context *ctx)
{
	fd_close(&ctx->root);
	free(ctx->path);
	list_release(&ctx->files);
}

int tool_text(const json_t *arguments, const char *key, const char **ret_text, struct error *err)
{
	const json_t *value = json_object_get(arguments, key);

	if (!json_is_string(value))
		return error_set(err, "the argument '%s' is missing or not a string", key);
	*ret_text = json_string_value(value);
	return 0;
}

int tool_text_or(const json_t *arguments, const char *key, const char *usual, const char **ret_text,
		 struct error *err)
{
	const json_t *value = json_object_get(arguments, key);

	*ret_text = usual;
	return !value || json_is_null(value) ? 0 : tool_text(arguments, key, ret_text, err);
}

int tool_number(const json_t *arguments, const char *key, long usual, long least, long most,
		long *ret_number, struct error *err)
{
	const json_t *value = json_object_get(arguments, key);
	double number;

	*ret_number = usual;
	if (!value || json_is_null(value))
		return 0;
	if (!json_is_number(value))
		return error_set(err, "the argument '%s' is not a number", key);
	number = json_number_value(value);
	*ret_number = number < (double)least ? least : number > (double)most ? most : (long)number;
	return 0;
}

bool tool_flag(const json_t *arguments, const char *key)
{
	const json_t *value = json_object_get(arguments, key);

	return json_is_true(value) ||
	       (json_is_string(value) && strcmp(json_string_value(value), "true") == 0);
}

static const struct tool *find(const char *name)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (strcmp(tools[i]->name, name) == 0)
			return tools[i];
	return NULL;
}

static void hide_secret(const struct tool_context *ctx, struct buffer *out)
{
	size_t size = ctx->secret ? strlen(ctx->secret) : 0;
	char *at = out->data;

	/* A short secret would match unrelated text. */
	if (size < 8 || !out->used)
		return;
	while ((at = memmem(at, out->used - (size_t)(at - out->data), ctx->secret, size)))
		memset(at, 'x', size);
}

static int run(struct tool_context *ctx, const char *name, const char *arguments,
	       struct buffer *out, struct error *err)
{
	const struct tool *tool = find(name);
	AUTO_FREE char *shown = text_escaped(name);
	int before = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	json_t *object;
	int result;

	if (!tool) {
		error_format(err, ERROR_NOT_FOUND, "there is no tool '%.100s'; the tools are",
			     shown);
		for (size_t i = 0; i < TOOL_COUNT; i++)
			snprintf(err->text + strlen(err->text),
				 sizeof err->text - strlen(err->text), "%s %s", i ? "," : "",
				 tools[i]->name);
		return -1;
	}
	object = json_loads(arguments, 0, NULL);
	if (!json_is_object(object)) {
		json_decref(object);
		return error_set(err, "the arguments are not a JSON object");
	}
	/*
	 * The fence's monitor reads the path of a refused call from our memory, so allow that
	 * meanwhile.
	 */
	if (tool->files)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	result = tool->run(ctx, object, out, err);
	prctl(PR_SET_DUMPABLE, before, 0, 0, 0);
	json_decref(object);
	return result;
}

bool tool_call(struct tool_context *ctx, const char *name, const char *arguments,
	       struct buffer *out)
{
	struct error err;
	int result = run(ctx, name, arguments, out, &err);

	if (result < 0) {
		buffer_add_text(out, out->used ? "\n" : "");
		buffer_add_text(out, err.text);
	}
	hide_secret(ctx, out);
	return result == 0;
}

void tool_target(const char *name, const char *arguments, struct buffer *out)
{
	const struct tool *tool = find(name);
	json_t *object = json_loads(arguments, 0, NULL);
	const char *text = tool ? jsonget_string(object, tool->target) : NULL;

	if (text)
		buffer_printf(out, "%.2000s", text);
	json_decref(object);
}
