/* Generated folders and files. */
#include "snapshot/generated.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
	".git",        "node_modules", "__pycache__",   ".venv",       "venv",  "target",
	"dist",        "build",        ".pytest_cache", ".mypy_cache", ".next", ".gradle",
	".ruff_cache", ".tox",         ".cache",        "coverage",
};

bool generated_is(const char *name)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (*name == *names[i] && strcmp(name, names[i]) == 0)
			return true;
	return false;
}
