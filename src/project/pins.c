/* Pins: see pins.h. */
#include "project/pins.h"

#include "project/path_group.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/glob.h"
#include "util/text/shell.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Patterns as in .gitignore. Tests and lockfiles also have the names of path_group.c. */
static const char *const tests[] = { "*.golden",       "*.golden.*", "*.approved.*", "*.expected",
				     "*.ambr",         "golden/",    "goldens/",     "snapshots/",
				     "spec_helper.rb", NULL };

static const char *const runners[] = {
	/* JavaScript */
	"jest.config.*",
	"jest.setup.*",
	"vitest.config.*",
	"vitest.workspace.*",
	"vite.config.*",
	"karma.conf.*",
	".mocharc*",
	"ava.config.*",
	".taprc",
	".nycrc*",
	".c8rc*",
	"playwright.config.*",
	"cypress.config.*",
	"wdio.conf.*",
	".eslintrc*",
	"eslint.config.*",
	".eslintignore",
	"biome.json*",
	"tsconfig*.json",
	"deno.json*",
	".npmrc",
	".yarnrc*",
	"bunfig.toml",
	/* Python; the last ones would be imported in place of the runner */
	"pytest.ini",
	".pytest.ini",
	"conftest.py",
	"tox.ini",
	"noxfile.py",
	"setup.cfg",
	"pyproject.toml",
	".coveragerc",
	"mypy.ini",
	".mypy.ini",
	"ruff.toml",
	".ruff.toml",
	".flake8",
	".pylintrc",
	"pylintrc",
	"pyrightconfig.json",
	"sitecustomize.py",
	"usercustomize.py",
	"pytest.py",
	"pytest/",
	"_pytest/",
	"unittest.py",
	"unittest/",
	/* others */
	".cargo/config",
	".cargo/config.toml",
	"clippy.toml",
	"tarpaulin.toml",
	".golangci.y*ml",
	".rspec",
	".rubocop.y*ml",
	".simplecov",
	"phpunit.xml*",
	"phpstan.neon*",
	"checkstyle*.xml",
	".clang-tidy",
	".pre-commit-config.yaml",
	"codecov.y*ml",
	".codecov.y*ml",
	NULL,
};

static const char *const servers[] = {
	".github/workflows/", ".github/actions/",     ".circleci/",
	".gitlab-ci.y*ml",    ".buildkite/",          "Jenkinsfile",
	".travis.yml",        "azure-pipelines.y*ml", NULL,
};

static const char *const manifests[] = { "package.json", NULL };

static const char *const nothing[] = { NULL };

static const struct {
	const char *name, *says;
	const char *const *patterns;
} kinds[] = {
	[PINS_NOT] = { "none", "not pinned", nothing },
	[PINS_TEST] = { "test", "tests, fixtures and recorded results", tests },
	[PINS_RUNNER] = { "runner", "configuration of a test runner, linter or type checker",
			  runners },
	[PINS_SCRIPT] = { "script", "named by a check, or read by a program that it names",
			  nothing },
	[PINS_CI] = { "ci", "run in CI", servers },
	[PINS_LOCKFILE] = { "lockfile", "a lockfile whose manifest is unchanged", nothing },
	[PINS_MANIFEST] = { "manifest", "scripts and settings of test runners in a manifest",
			    manifests },
	[PINS_CHOSEN] = { "chosen", "named by --pin", nothing },
};

_Static_assert(sizeof kinds / sizeof *kinds == PINS_KINDS, "a kind has no name");

/* Programs that a check may name, and the files that they read. */
static const struct {
	const char *program;
	const char *patterns[5];
} readers[] = {
	{ "make", { "Makefile", "makefile", "GNUmakefile", "*.mk" } },
	{ "gmake", { "Makefile", "makefile", "GNUmakefile", "*.mk" } },
	{ "just", { "justfile", "Justfile", ".justfile" } },
	{ "task", { "Taskfile.y*ml", "taskfile.y*ml" } },
	{ "rake", { "Rakefile", "rakefile", "Rakefile.rb" } },
};

/* A file with such a name is a script that a check runs, and not what it checks. */
static const char *const script_names[] = { "*.sh",       "*.bash", "*check*", "*verify*",
					    "*verifies*", "*lint*", "*test*",  NULL };

const char *pins_kind_name(enum pins_kind kind)
{
	return kinds[kind].name;
}

const char *pins_kind_says(enum pins_kind kind)
{
	return kinds[kind].says;
}

const char *pins_pattern(enum pins_kind kind, size_t i)
{
	return kinds[kind].patterns[i];
}

bool pins_reconfigures(enum pins_kind kind)
{
	return kind == PINS_RUNNER || kind == PINS_SCRIPT;
}

void pins_release(struct pins *pins)
{
	list_release(&pins->chosen);
	list_release(&pins->unpinned);
	list_release(&pins->scripts);
	list_release(&pins->readers);
}

/* ---- patterns ---- */

/* Reports whether a pattern matches the file or one of its folders. */
static bool matches(const char *pattern, const char *path)
{
	uint64_t steps = UINT64_C(1) << 20;
	struct glob glob;
	bool found;

	if (glob_read(pattern, &glob) != GLOB_PATTERN)
		return false;
	found = glob_matches(&glob, path, false, &steps);
	for (const char *end = strchr(path, '/'); end && !found; end = strchr(end + 1, '/')) {
		AUTO_FREE char *folder = strndup(path, (size_t)(end - path));

		found = glob_matches(&glob, folder, true, &steps);
	}
	glob_release(&glob);
	return found && steps > 0;
}

static bool matches_any(const char *const *patterns, const char *path)
{
	for (; *patterns; patterns++)
		if (matches(*patterns, path))
			return true;
	return false;
}

static bool list_matches(const struct list *patterns, const char *path)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (matches(patterns->items[i], path))
			return true;
	return false;
}

/* ---- checks ---- */

/* Returns the path that a word names in the project, or NULL. */
static const char *path_in(const char *word)
{
	while (strncmp(word, "./", 2) == 0)
		word += 2;
	return *word && *word != '/' && *word != '-' && *word != '~' ? word : NULL;
}

static void add_word(struct pins *pins, const char *word)
{
	const char *path = path_in(word);

	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (strcmp(path_name(word), readers[i].program) == 0)
			list_add(&pins->readers, readers[i].program);
	if (path && matches_any(script_names, path_name(path)))
		list_add(&pins->scripts, path);
}

void pins_add_check(struct pins *pins, const char *command)
{
	AUTO_FREE char *program = shell_program(command, NULL);
	const char *path = program && strchr(program, '/') ? path_in(program) : NULL;
	struct list words = { 0 };

	if (path)
		list_add(&pins->scripts, path);
	shell_words(command, &words);
	for (size_t i = 0; i < words.count; i++)
		add_word(pins, words.items[i]);
	list_release(&words);
}

static bool is_read(const struct pins *pins, const char *path)
{
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (list_has(&pins->readers, readers[i].program) &&
		    matches_any(readers[i].patterns, path))
			return true;
	return false;
}

enum pins_kind pins_of(const struct pins *pins, const char *path)
{
	static const enum pins_kind by_pattern[] = { PINS_RUNNER, PINS_CI, PINS_MANIFEST,
						     PINS_TEST };

	if (list_matches(&pins->unpinned, path))
		return PINS_NOT;
	if (list_matches(&pins->chosen, path))
		return PINS_CHOSEN;
	if (list_has(&pins->scripts, path) || is_read(pins, path))
		return PINS_SCRIPT;
	if (path_group_manifest_of(path))
		return PINS_LOCKFILE;
	for (size_t i = 0; i < sizeof by_pattern / sizeof *by_pattern; i++)
		if (matches_any(kinds[by_pattern[i]].patterns, path))
			return by_pattern[i];
	return path_group_is_test(path) ? PINS_TEST : PINS_NOT;
}

/* ---- package.json ---- */

/* How checks run: the commands, and the settings of test runners and linters. */
static const char *const parts[] = { "scripts",  "jest",   "vitest",       "mocha",        "ava",
				     "tap",      "nyc",    "c8",           "cypress",      "xo",
				     "standard", "config", "eslintConfig", "eslintIgnore", NULL };

/* Restores the parts. Returns whether anything differed. */
static bool restore_parts(const json_t *base, json_t *now)
{
	bool differed = false;

	for (const char *const *part = parts; *part; part++) {
		json_t *wanted = json_object_get(base, *part);
		json_t *found = json_object_get(now, *part);

		if (wanted ? json_equal(wanted, found) : !found)
			continue;
		differed = true;
		if (wanted)
			json_object_set(now, *part, wanted);
		else
			json_object_del(now, *part);
	}
	return differed;
}

char *pins_manifest_merge(const char *base, size_t base_size, const char *now, size_t now_size)
{
	json_t *wanted = json_loadb(base, base_size, 0, NULL);
	json_t *found = json_loadb(now, now_size, 0, NULL);
	char *merged = NULL;

	if (!json_is_object(wanted) || !json_is_object(found))
		merged = strndup(base, base_size);
	else if (restore_parts(wanted, found))
		merged = json_dumps(found, JSON_INDENT(2));
	json_decref(wanted);
	json_decref(found);
	return merged;
}
