/* Destroyed source code: see breakage.h. */
#include "mutant/breakage.h"

#include "detect/detect_file.h"
#include "util/file/path.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Languages without mutants. */
static const char *const endings[] = {
	".php", ".cs",  ".fs",  ".swift", ".scala", ".clj", ".ex",     ".exs",    ".erl", ".hs",
	".ml",  ".lua", ".pl",  ".pm",    ".r",     ".jl",  ".dart",   ".zig",    ".nim", ".cr",
	".m",   ".mm",  ".kts", ".asm",   ".s",     ".sql", ".groovy", ".svelte",
};
static const char *const scripts[] = { ".sh", ".bash", ".zsh", ".ps1", ".bat" };

static bool ends_with(const char *path, const char *const *list, size_t count)
{
	const char *dot = strrchr(path_name(path), '.');

	for (size_t i = 0; dot && i < count; i++)
		if (strcasecmp(dot, list[i]) == 0)
			return true;
	return false;
}

enum breakage breakage_of(const char *path)
{
	struct detect_file file = detect_file_of(path);

	if (file.test || file.recorded)
		return BREAKAGE_NONE;
	if (ends_with(path, scripts, sizeof scripts / sizeof *scripts))
		return BREAKAGE_SCRIPT;
	return !file.script && (file.language != DETECT_OTHER ||
				ends_with(path, endings, sizeof endings / sizeof *endings))
		       ? BREAKAGE_CODE
		       : BREAKAGE_NONE;
}

/* A closing bracket comes first: nothing can be open. */
const char *breakage_text(void)
{
	return ")]} broken on purpose by ringfence run --prove-check ((\n";
}
