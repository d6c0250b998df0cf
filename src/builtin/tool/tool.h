/*
 * The tools that a model is given: a table that does not compile with a hole.
 *
 * Paths are resolved beneath the project: what leads out of it, by "..", by a symlink or by its first slash, is refused. What a
 * tool gives back depends on its arguments and on the tree alone: listings are sorted, and no times, sizes of the
 * machine or process ids are in it.
 */
#ifndef BUILTIN_TOOL_TOOL_H
#define BUILTIN_TOOL_TOOL_H

#include "util/buffer.h"
#include "util/error.h"
#include "util/list.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	TOOL_OUTPUT = 48 << 10, /* bytes of what one gives back */
	TOOL_LINE = 500,        /* bytes of a line */
	TOOL_PATH = 4096,
};

/* Where tools work. */
struct tool_context {
	int root;           /* the project */
	char *path;         /* of it */
	char **environment; /* of commands: without keys */
	const char *secret; /* never in what a tool gives back; NULL: there is none */
	struct list files;  /* that were changed by a tool since the list was last emptied */
};

struct tool {
	const char *name;
	const char *about;  /* for the model */
	const char *schema; /* of its arguments, JSON */
	const char *target; /* the argument that says best what it is about */
	bool files;         /* are touched by it itself, not by a command */
	/*
	 * Returns 0; 1: it was done and went wrong, as the output says; -1 with err set: it could not be done.
	 */
	int (*run)(struct tool_context *bench, const json_t *arguments, struct buffer *out,
		   struct error *err);
};

#define TOOL_COMPLETE _Pragma("GCC diagnostic error \"-Wmissing-field-initializers\"")

#define TOOLS(X)  \
	X(read)   \
	X(write)  \
	X(edit)   \
	X(list)   \
	X(search) \
	X(shell)

enum tool_id {
#define TOOL(name) TOOL_##name,
	TOOLS(TOOL)
#undef TOOL
		TOOL_COUNT
};

#define TOOL(name) extern const struct tool tool_##name;
TOOLS(TOOL)
#undef TOOL

const struct tool *tool_at(size_t index);

/* Opens the current folder as the project. Returns 0, or -1 with err set. */
int tool_context_open(struct tool_context *bench, struct error *err);
void tool_context_release(struct tool_context *bench);

/*
 * Does a call: the name and arguments are as the model gave them. The output is bounded, says itself what went wrong, and
 * has no secret in it. Returns whether it went well.
 */
bool tool_call(struct tool_context *bench, const char *name, const char *arguments,
	       struct buffer *out);

/* What a call is about, for people: a path or a command. */
void tool_target(const char *name, const char *arguments, struct buffer *out);

/* For tools: arguments. A text that must be there; one that may be missing; a number within bounds, or else the usual one.
 * Return 0, or -1 with err set. */
int tool_text(const json_t *arguments, const char *key, const char **ret_text, struct error *err);
int tool_text_or(const json_t *arguments, const char *key, const char *usual, const char **ret_text,
		 struct error *err);
int tool_number(const json_t *arguments, const char *key, long usual, long least, long most,
		long *ret_number, struct error *err);
bool tool_flag(const json_t *arguments, const char *key);

#endif
