/* Folders of packages: see packages.h. */
#include "project/packages.h"

#include "project/check_files.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const char *const packages_folders[] = { "node_modules/",   ".venv/",  "venv/",    ".tox/", ".nox/",
					 "__pypackages__/", "vendor/", ".bundle/", NULL };

/* Folders, and the names of the files that say what should be in them. */
static const struct {
	const char *folder;
	const char *manifests[10];
} rows[] = {
#define PYTHON                                                                                   \
	{                                                                                        \
		"requirements*.txt", "requirements*.in", "requirements/", "constraints*.txt",    \
			"Pipfile", "pyproject.toml", "setup.py", "setup.cfg", "environment.y*ml" \
	}
	{ "node_modules", { "package.json", "pnpm-workspace.yaml" } },
	{ ".venv", PYTHON },
	{ "venv", PYTHON },
	{ ".tox", PYTHON },
	{ ".nox", PYTHON },
	{ "__pypackages__", PYTHON },
	{ "vendor", { "composer.json", "Gemfile", "*.gemspec", "go.mod" } },
	{ ".bundle", { "Gemfile", "*.gemspec" } },
#undef PYTHON
};

_Static_assert(sizeof rows / sizeof *rows + 1 == sizeof packages_folders / sizeof *packages_folders,
	       "a folder has no manifests");

/* Parts of a package.json that ask for packages. */
static const char *const parts[] = {
	"dependencies",
	"devDependencies",
	"peerDependencies",
	"optionalDependencies",
	"bundledDependencies",
	"bundleDependencies",
	"overrides",
	"resolutions",
	"workspaces",
	"pnpm",
	NULL,
};

static const char *const caches[] = { "__pycache__/",       ".cache/", ".vite/", ".vitest/",
				      ".package-lock.json", NULL };

/* Returns the row of a folder's name, or -1. */
static int row_of(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strlen(rows[i].folder) == size && strncmp(rows[i].folder, name, size) == 0)
			return (int)i;
	return -1;
}

size_t packages_folder_of(const char *path)
{
	const char *at = path;

	for (const char *end; (end = strchr(at, '/')); at = end + 1)
		if (row_of(at, (size_t)(end - at)) >= 0)
			return (size_t)(end - path);
	return 0;
}

bool packages_is_folder(const char *path)
{
	return row_of(path_name(path), strlen(path_name(path))) >= 0 && !packages_folder_of(path);
}

bool packages_is_manifest(const char *folder, const char *path)
{
	int row = row_of(path_name(folder), strlen(path_name(folder)));

	return row >= 0 && !packages_folder_of(path) &&
	       check_files_matches_any(rows[row].manifests, path);
}

bool packages_are_same(const char *manifest, const char *base, size_t base_size, const char *now,
		       size_t now_size)
{
	json_t *old, *new;
	bool same;

	if (strcmp(path_name(manifest), "package.json") != 0)
		return base_size == now_size && memcmp(base, now, now_size) == 0;
	old = json_loadb(base, base_size, 0, NULL);
	new = json_loadb(now, now_size, 0, NULL);
	same = json_is_object(old) || !json_is_object(new);
	for (const char *const *part = parts; *part && same && json_is_object(new); part++) {
		json_t *one = json_object_get(old, *part), *other = json_object_get(new, *part);

		same = one && other ? json_equal(one, other) : one == other;
	}
	json_decref(old);
	json_decref(new);
	return same;
}

bool packages_is_cache(const char *path)
{
	return check_files_matches_any(caches, path);
}
