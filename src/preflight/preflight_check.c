/* Checks before a loop: see preflight_check.h. */
#include "preflight/preflight_check.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/list.h"
#include "util/mem.h"
#include "util/text/shell.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20 };

/* Commands that exit 0 whatever the work is like. */
static bool is_vacuous(const char *line)
{
	static const char *const always[] = { "true", ":", "exit", "echo", "printf" };
	AUTO_FREE char *first = mem_format("%.*s", (int)strcspn(line, " \t;&|"), line);

	if (strpbrk(line, ";&|") && strcmp(first, ":") != 0)
		return strstr(line, "|| true") || strstr(line, "|| :");
	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		if (strcmp(first, always[i]) == 0)
			return strcmp(first, "exit") != 0 || !strpbrk(line, "123456789");
	return false;
}

/* Reads a file in the root of the project, which is untrusted. Returns whether it could. */
static bool read_file(const char *project, const char *name, struct buffer *text)
{
	AUTO_FD folder = open(project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return folder >= 0 && fd_read_file(folder, name, text) == 0;
}

/* ---- package.json ---- */

/* Returns the script that a command names, such as `test` in `npm test` or `npm run test`, or NULL.
 */
static const char *script_of(const struct list *words)
{
	static const char *const managers[] = { "npm", "pnpm", "yarn", "bun" };
	bool manages = false;
	size_t at = 1;

	for (size_t i = 0; words->count > 1 && i < sizeof managers / sizeof *managers; i++)
		manages = manages || strcmp(words->items[0], managers[i]) == 0;
	while (at < words->count && *words->items[at] == '-')
		at++;
	if (!manages || at == words->count)
		return NULL;
	if (strcmp(words->items[at], "run") == 0)
		return at + 1 < words->count ? words->items[at + 1] : NULL;
	/* The test runner of bun needs no script. */
	return strcmp(words->items[at], "test") == 0 && strcmp(words->items[0], "bun") != 0 ? "test"
											    : NULL;
}

static char *judge_script(const char *name, const json_t *script)
{
	const char *text = json_string_value(script);

	if (!text)
		return mem_format(
			"package.json has no script '%.100s', and one that the agent adds "
			"does not count",
			name);
	if (strstr(text, "no test specified"))
		return mem_format("its script '%.100s' is npm's placeholder, and always fails",
				  name);
	return is_vacuous(text) ? mem_format("its script '%.100s' can never fail", name) : NULL;
}

static char *package_trouble(const char *project, const struct list *words, const char **ret_fix)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);
	const char *name = script_of(words);
	json_t *package;
	char *trouble;

	if (!name || !read_file(project, "package.json", &text))
		return NULL;
	package = json_loadb(buffer_text(&text), text.used, 0, NULL);
	trouble = json_is_object(package)
			  ? judge_script(name,
					 json_object_get(json_object_get(package, "scripts"), name))
			  : NULL;
	json_decref(package);
	*ret_fix = "a script in package.json, or --unpin package.json";
	return trouble;
}

/* ---- make ---- */

/* Returns the only target of a command, or NULL: options may say where the Makefile is. */
static const char *target_of(const struct list *words)
{
	if (words->count < 2 || strcmp(words->items[0], "make") != 0)
		return NULL;
	for (size_t i = 1; i + 1 < words->count; i++)
		if (strcmp(words->items[i], "-s") != 0 && strcmp(words->items[i], "-k") != 0)
			return NULL;
	return strpbrk(words->items[words->count - 1], "-=$") ? NULL
							      : words->items[words->count - 1];
}

/* Reports whether a Makefile has a target, or may have it: only make could tell. */
static bool may_have(const char *makefile, const char *target)
{
	if (strpbrk(makefile, "%$") || strstr(makefile, "include"))
		return true;
	for (const char *line = makefile; line; line = strchr(line, '\n')) {
		size_t size;

		line += *line == '\n';
		size = strcspn(line, ":\n");
		/* Several targets may share a rule. */
		if (line[size] == ':' && memmem(line, size, target, strlen(target)))
			return true;
	}
	return false;
}

static char *make_trouble(const char *project, const struct list *words, const char **ret_fix)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);
	const char *target = target_of(words);
	AUTO_FREE char *path = target ? path_join(project, target) : NULL;

	if (!target || access(path, F_OK) == 0 || !read_file(project, "Makefile", &text) ||
	    may_have(buffer_text(&text), target))
		return NULL;
	*ret_fix = "a target in the Makefile, or --unpin Makefile";
	return mem_format(
		"the Makefile has no target '%.100s', and one that the agent adds does not "
		"count",
		target);
}

char *preflight_check_trouble(const char *project, const char *line, const char **ret_fix)
{
	struct list words = { 0 };
	char *trouble = NULL;

	*ret_fix = "--check COMMAND that fails while the work is not done";
	if (is_vacuous(line))
		return mem_dup("it can never fail");
	if (strpbrk(line, ";&|<>()$`'\"\n"))
		return NULL;
	shell_words(line, &words);
	trouble = package_trouble(project, &words, ret_fix);
	if (!trouble)
		trouble = make_trouble(project, &words, ret_fix);
	list_release(&words);
	return trouble;
}
