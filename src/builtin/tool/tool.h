/*
 * The tools offered to the model: a table in which a missing field is a compile error.
 *
 * Paths are resolved below the project root; one that leads out, by "..", by a symlink or as an
 * absolute path, is refused. Results depend only on the arguments and the tree: listings are
 * sorted, and no times, machine details or process ids appear.
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
	TOOL_OUTPUT = 48 << 10, /* most bytes of a result */
	TOOL_LINE = 500,        /* most bytes of a line */
	TOOL_PATH = 4096,
};

/* The project and the settings that tools work with. */
struct tool_context {
	int root;           /* the project root, open */
	char *path;         /* its real path */
	char **environment; /* for commands: without keys */
	const char *secret; /* masked in all results, or NULL */
	struct list files;  /* changed by tools since the list was last cleared */
};

struct tool {
	const char *name;
	const char *about;  /* description for the model */
	const char *schema; /* of its arguments, JSON */
	const char *target; /* the argument that names its subject */
	bool files;         /* it accesses files itself, not through a command */
	/*
	 * Returns 0; 1 if it ran and failed, as the output explains; or -1 with err set if it could
	 * not run.
	 */
	int (*run)(struct tool_context *ctx, const json_t *arguments, struct buffer *out,
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
int tool_context_open(struct tool_context *ctx, struct error *err);
void tool_context_release(struct tool_context *ctx);

/*
 * Runs a call with the name and arguments that the model gave. The output is bounded, contains the
 * error if there is one, and never the secret. Returns whether the call succeeded.
 */
bool tool_call(struct tool_context *ctx, const char *name, const char *arguments,
	       struct buffer *out);

/* Appends the subject of a call, a path or a command, for people. */
void tool_target(const char *name, const char *arguments, struct buffer *out);

/*
 * Arguments of a call: a required text, an optional text, and a number that is clamped to its
 * bounds. Return 0, or -1 with err set.
 */
int tool_text(const json_t *arguments, const char *key, const char **ret_text, struct error *err);
int tool_text_or(const json_t *arguments, const char *key, const char *usual, const char **ret_text,
		 struct error *err);
int tool_number(const json_t *arguments, const char *key, long usual, long least, long most,
		long *ret_number, struct error *err);
bool tool_flag(const json_t *arguments, const char *key);

#endif
