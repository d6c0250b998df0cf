/* Pins: see pins.h. */
#include "project/pins.h"

#include "project/check_files.h"
#include "project/packages.h"
#include "project/path_group.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/text/shell.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Patterns as in .gitignore. Tests and lockfiles also have the names of path_group.c. */
static const char *const manifests[] = { "package.json", NULL };

static const char *const nothing[] = { NULL };

static const struct {
	const char *name, *says;
	const char *const *patterns;
} kinds[] = {
	[PINS_NOT] = { "none", "named by unpin", nothing },
	[PINS_TEST] = { "test", "tests, fixtures and recorded results", check_files_recorded },
	[PINS_RUNNER] = { "runner", "configuration of a test runner, linter or type checker",
			  check_files_runners },
	[PINS_SCRIPT] = { "script", "named by a check, or read by a program that it names",
			  nothing },
	[PINS_CI] = { "ci", "run in CI", check_files_ci },
	[PINS_LOCKFILE] = { "lockfile", "a lockfile whose manifest is unchanged", nothing },
	[PINS_MANIFEST] = { "manifest", "scripts and settings of test runners in a manifest",
			    manifests },
	[PINS_PACKAGES] = { "packages", "installed before the loop, while the manifest is the same",
			    packages_folders },
	[PINS_CHOSEN] = { "chosen", "named by pin", nothing },
};

_Static_assert(sizeof kinds / sizeof *kinds == PINS_KINDS, "a kind has no name");

/* Kinds that names alone decide, the first that matches. */
static const enum pins_kind built_in[] = { PINS_PACKAGES, PINS_LOCKFILE, PINS_RUNNER,
					   PINS_CI,       PINS_MANIFEST, PINS_TEST };

/* Programs that a check may name, and the files that they read. */
static const struct {
	const char *program;
	const char *patterns[7];
} readers[] = {
	{ "make", { "Makefile", "makefile", "GNUmakefile", "*.mk", "*.mak", "*.make" } },
	{ "gmake", { "Makefile", "makefile", "GNUmakefile", "*.mk", "*.mak", "*.make" } },
	{ "just", { "justfile", "Justfile", ".justfile" } },
	{ "task", { "Taskfile.y*ml", "taskfile.y*ml" } },
	{ "rake", { "Rakefile", "rakefile", "Rakefile.rb", "*.rake" } },
	{ "doit", { "dodo.py" } },
	{ "invoke", { "tasks.py" } },
	{ "inv", { "tasks.py" } },
	{ "ant", { "build.xml" } },
	{ "composer", { "composer.json" } },
	{ "grunt", { "Gruntfile.*", "gruntfile.*" } },
	{ "gulp", { "gulpfile.*" } },
	{ "turbo", { "turbo.json" } },
	{ "nx", { "nx.json", "project.json" } },
	{ "mise", { "mise.toml", ".mise.toml" } },
};

/* Linters and formatters that need no configuration, and the files that would be theirs. A manifest
 * that may also have it, such as pyproject.toml, has other purposes. */
static const struct {
	const char *program;
	const char *patterns[4];
} linters[] = {
	{ "ruff", { "ruff.toml", ".ruff.toml" } },
	{ "flake8", { ".flake8" } },
	{ "pylint", { ".pylintrc", "pylintrc" } },
	{ "mypy", { "mypy.ini", ".mypy.ini" } },
	{ "pyright", { "pyrightconfig.json" } },
	{ "bandit", { ".bandit" } },
	{ "isort", { ".isort.cfg" } },
	{ "golangci-lint", { ".golangci.*" } },
	{ "staticcheck", { "staticcheck.conf" } },
	{ "rubocop", { ".rubocop.y*ml" } },
	{ "prettier", { ".prettierrc*", "prettier.config.*", ".prettierignore" } },
	{ "biome", { "biome.json*" } },
	{ "oxlint", { ".oxlintrc*" } },
	{ "shellcheck", { ".shellcheckrc" } },
	{ "clippy", { "clippy.toml", ".clippy.toml" } },
	{ "clang-format", { ".clang-format*" } },
	{ "clang-tidy", { ".clang-tidy" } },
};

/* Parts of the names of files that a check compares with, and of options that name them. */
static const char *const references[] = { "expected", "golden",   "reference", "oracle",
					  "baseline", "snapshot", "approved",  NULL };

/* A file with such a name is a script that a check runs, and not what it checks. */
static const char *const script_names[] = { "*.sh",       "*.bash", "*check*", "*verify*",
					    "*verifies*", "*lint*", "*test*",  NULL };

/* The first argument of these is a script, or a folder that the next commands run in. */
static const char *const shells[] = { "sh", "bash", "dash", "ksh", "zsh", "source", NULL };
static const char *const movers[] = { "cd", "pushd", NULL };

enum { MOST_FOLDERS = 16 };

/* Characters after which a command may begin. */
static const char separators[] = ";&|(\n";

const char *pins_kind_name(enum pins_kind kind)
{
	return kinds[kind].name;
}

const char *pins_kind_says(enum pins_kind kind)
{
	return kinds[kind].says;
}

enum pins_kind pins_built_in(size_t i)
{
	return i < sizeof built_in / sizeof *built_in ? built_in[i] : PINS_NOT;
}

const char *pins_pattern(enum pins_kind kind, size_t i)
{
	const char *const *patterns = kinds[kind].patterns;
	size_t own = 0;

	while (patterns[own])
		own++;
	if (i < own)
		return patterns[i];
	if (kind == PINS_LOCKFILE)
		return path_group_lockfile_pattern(i - own);
	return kind == PINS_TEST ? path_group_test_pattern(i - own) : NULL;
}

const char *pins_reader_pattern(const char *program, size_t i)
{
	for (size_t k = 0; k < sizeof readers / sizeof *readers; k++)
		if (strcmp(readers[k].program, program) == 0)
			return readers[k].patterns[i];
	return NULL;
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
	list_release(&pins->linters);
}

/* ---- patterns ---- */

static bool list_matches(const struct list *patterns, const char *path)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (check_files_matches(patterns->items[i], path))
			return true;
	return false;
}

/* ---- checks ---- */

/* The command line of a check. */
struct naming {
	struct pins *pins;
	const char *project;
	struct list folders; /* that a command of the line may run in */
};

static void add_once(struct list *list, const char *text)
{
	if (!list_has(list, text))
		list_add(list, text);
}

static void add_script(const struct naming *at, const char *word)
{
	for (size_t i = 0; i < at->folders.count; i++) {
		AUTO_FREE char *path = path_absolute(word, at->folders.items[i]);

		if (path_within(path, at->project) && strcmp(path, at->project) != 0)
			add_once(&at->pins->scripts, path + strlen(at->project) + 1);
	}
}

/* Adds the folders that a cd leads to. Which ones precede it, only a shell could tell. */
static void add_folders(struct naming *at, const char *word)
{
	size_t count = at->folders.count;

	for (size_t i = 0; i < count && at->folders.count < MOST_FOLDERS; i++) {
		AUTO_FREE char *folder = path_absolute(word, at->folders.items[i]);

		list_add(&at->folders, folder);
	}
}

static bool is_one_of(const char *const *names, const char *word)
{
	while (*names && strcmp(*names, path_name(word)) != 0)
		names++;
	return *names;
}

/* A file that a check compares with, or the option that names it: expected.txt, --golden. */
static bool is_reference(const char *word)
{
	for (const char *const *part = references; *part; part++)
		if (strcasestr(word, *part))
			return true;
	return false;
}

/* A word like ./ci, after timeout or env for example. */
static bool is_program(const char *word)
{
	return strncmp(word, "./", 2) == 0 && !strchr(path_name(word), '.');
}

/* `before` is the last word that is not an option, or "". */
static void add_word(const struct naming *at, const char *before, const char *word)
{
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (strcmp(path_name(word), readers[i].program) == 0)
			add_once(&at->pins->readers, readers[i].program);
	for (size_t i = 0; i < sizeof linters / sizeof *linters; i++)
		if (strcmp(path_name(word), linters[i].program) == 0)
			add_once(&at->pins->linters, linters[i].program);
	if (is_one_of(shells, before) || is_program(word) || is_reference(path_name(word)) ||
	    check_files_matches_any(script_names, path_name(word)))
		add_script(at, word);
}

/* Adds the file that an option names, as in --golden=FILE or --golden FILE. */
static void add_option(const struct naming *at, const char *option, const char *next)
{
	const char *value = strchr(option, '=');
	AUTO_FREE char *name = strndup(option, value ? (size_t)(value - option) : strlen(option));

	if (is_reference(value ? value : "") || is_reference(name))
		add_script(at, value ? value + 1 : next);
}

/* Adds the program of each command of a line, if it has a folder. */
static void add_programs(const struct naming *at, const char *command)
{
	for (; command; command = strpbrk(command, separators)) {
		AUTO_FREE char *program = NULL;

		command += strspn(command, separators);
		program = shell_program(command, NULL);
		if (program && strchr(program, '/'))
			add_script(at, program);
	}
}

static void add_words(struct naming *at, const struct list *words)
{
	const char *before = "";

	for (size_t i = 1; i < words->count; i++)
		if (is_one_of(movers, words->items[i - 1]))
			add_folders(at, words->items[i]);
	for (size_t i = 0; i < words->count; i++) {
		if (*words->items[i] == '-') {
			add_option(at, words->items[i],
				   i + 1 < words->count ? words->items[i + 1] : "");
			continue;
		}
		add_word(at, before, words->items[i]);
		before = words->items[i];
	}
}

void pins_add_check(struct pins *pins, const char *project, const char *command)
{
	struct naming at = { .pins = pins, .project = project };
	struct list words = { 0 };

	list_add(&at.folders, project);
	shell_words(command, &words);
	add_words(&at, &words);
	add_programs(&at, command);
	list_release(&words);
	list_release(&at.folders);
}

static bool is_read(const struct pins *pins, const char *path)
{
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (list_has(&pins->readers, readers[i].program) &&
		    check_files_matches_any(readers[i].patterns, path))
			return true;
	return false;
}

bool pins_loosens(const struct pins *pins, const char *path)
{
	for (size_t i = 0; i < sizeof linters / sizeof *linters; i++)
		if (list_has(&pins->linters, linters[i].program) &&
		    check_files_matches_any(linters[i].patterns, path))
			return pins_of(pins, path) != PINS_NOT;
	return false;
}

bool pins_awaits(const struct pins *pins, const char *path)
{
	return list_has(&pins->scripts, path) &&
	       !check_files_matches_any(kinds[PINS_RUNNER].patterns, path);
}

enum pins_kind pins_of(const struct pins *pins, const char *path)
{
	if (list_matches(&pins->unpinned, path))
		return PINS_NOT;
	if (list_matches(&pins->chosen, path))
		return PINS_CHOSEN;
	if (list_has(&pins->scripts, path) || is_read(pins, path))
		return PINS_SCRIPT;
	if (path_group_manifest_of(path))
		return PINS_LOCKFILE;
	for (size_t i = 0; i < sizeof built_in / sizeof *built_in; i++)
		if (check_files_matches_any(kinds[built_in[i]].patterns, path))
			return built_in[i];
	return path_group_is_test(path) ? PINS_TEST : PINS_NOT;
}

/* ---- package.json ---- */

/* How checks run: the commands, and the settings of test runners and linters. */
static const char *const parts[] = {
	"scripts",  "jest",      "vitest",       "mocha",          "ava",
	"tap",      "nyc",       "c8",           "cypress",        "xo",
	"standard", "config",    "eslintConfig", "eslintIgnore",   "babel",
	"prettier", "stylelint", "wireit",       "packageManager", NULL
};

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
