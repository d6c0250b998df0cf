/* Files by their paths: see detect_file.h. */
#include "detect/detect_file.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *ending;
	enum detect_language language;
} endings[] = {
	{ ".js", DETECT_JAVASCRIPT },
	{ ".jsx", DETECT_JAVASCRIPT },
	{ ".mjs", DETECT_JAVASCRIPT },
	{ ".cjs", DETECT_JAVASCRIPT },
	{ ".ts", DETECT_JAVASCRIPT },
	{ ".tsx", DETECT_JAVASCRIPT },
	{ ".mts", DETECT_JAVASCRIPT },
	{ ".cts", DETECT_JAVASCRIPT },
	{ ".vue", DETECT_JAVASCRIPT },
	{ ".py", DETECT_PYTHON },
	{ ".pyi", DETECT_PYTHON },
	{ ".go", DETECT_GO },
	{ ".rs", DETECT_RUST },
	{ ".java", DETECT_JAVA },
	{ ".kt", DETECT_JAVA },
	{ ".c", DETECT_C },
	{ ".h", DETECT_C },
	{ ".cc", DETECT_C },
	{ ".cpp", DETECT_C },
	{ ".cxx", DETECT_C },
	{ ".hh", DETECT_C },
	{ ".hpp", DETECT_C },
	{ ".rb", DETECT_RUBY },
};

/* Patterns of names. One with a slash is compared with the end of the path. */
static const char *const tests[] = {
	"*.test.*",   "*.spec.*",    "*_test.*", "*_tests.*", "test_*",      "*_spec.rb",
	"*Test.java", "*Tests.java", "*IT.java", "*Test.kt",  "conftest.py", "Test*.java",
	"*.cy.*",     "*.e2e.*",     "test.*",   "tests.*",   "check_*.c",   NULL,
};
static const char *const test_folders[] = { "test",      "tests",   "__tests__", "spec",
					    "specs",     "e2e",     "testdata",  "fixtures",
					    "__mocks__", "cypress", NULL };
static const char *const recorded[] = { "*.snap",     "*.snap.*",     "*.ambr",
					"*.golden",   "*.golden.*",   "*.approved.*",
					"*.expected", "*.expected.*", NULL };
static const char *const recorded_folders[] = { "__snapshots__", "snapshots",           "golden",
						"goldens",       "__image_snapshots__", NULL };
static const char *const scripts[] = {
	"*.sh",        "*.bash",
	"*.zsh",       "Makefile",
	"makefile",    "GNUmakefile",
	"*.mk",        "justfile",
	"Justfile",    "Taskfile.y*ml",
	"Jenkinsfile", ".gitlab-ci.y*ml",
	".travis.yml", "azure-pipelines.y*ml",
	"Rakefile",    "tox.ini",
	"noxfile.py",  "package.json",
	"Dockerfile",  "*.bat",
	"*.ps1",       ".pre-commit-config.yaml",
	NULL,
};
static const char *const script_folders[] = { ".github",    ".circleci", ".gitlab",
					      ".buildkite", ".husky",    NULL };
static const char *const settings[] = {
	"package.json",
	"jest.config.*",
	"vitest.config.*",
	"vite.config.*",
	"karma.conf.*",
	".mocharc*",
	".nycrc*",
	".c8rc*",
	"playwright.config.*",
	"cypress.config.*",
	".eslintrc*",
	"eslint.config.*",
	".eslintignore",
	"biome.json*",
	"tsconfig*.json",
	"pyproject.toml",
	"setup.cfg",
	"pytest.ini",
	"tox.ini",
	".coveragerc",
	"mypy.ini",
	".mypy.ini",
	"ruff.toml",
	".ruff.toml",
	".flake8",
	".pylintrc",
	"pylintrc",
	"pyrightconfig.json",
	"codecov.y*ml",
	".codecov.y*ml",
	".golangci.y*ml",
	"clippy.toml",
	"Cargo.toml",
	"tarpaulin.toml",
	"pom.xml",
	"build.gradle*",
	"checkstyle*.xml",
	".rubocop.y*ml",
	".rspec",
	".simplecov",
	"CMakeLists.txt",
	".clang-tidy",
	"conftest.py",
	"Makefile",
	"jacoco*.xml",
	NULL,
};
static const char *const manifests[] = {
	"package.json", "requirements*.txt", "pyproject.toml", "setup.py", "setup.cfg",
	"Pipfile",      "Cargo.toml",        "go.mod",         "pom.xml",  "build.gradle*",
	"Gemfile",      "*.gemspec",         "composer.json",  NULL
};

static const struct {
	const char *lockfile, *manifest;
} locks[] = {
	{ "package-lock.json", "package.json" }, { "npm-shrinkwrap.json", "package.json" },
	{ "yarn.lock", "package.json" },         { "pnpm-lock.yaml", "package.json" },
	{ "bun.lock", "package.json" },          { "bun.lockb", "package.json" },
	{ "poetry.lock", "pyproject.toml" },     { "uv.lock", "pyproject.toml" },
	{ "pdm.lock", "pyproject.toml" },        { "Pipfile.lock", "Pipfile" },
	{ "Cargo.lock", "Cargo.toml" },          { "go.sum", "go.mod" },
	{ "Gemfile.lock", "Gemfile" },           { "composer.lock", "composer.json" },
};

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool has_name(const char *path, const char *const *patterns)
{
	for (; *patterns; patterns++)
		if (fnmatch(*patterns, name_of(path), 0) == 0)
			return true;
	return false;
}

/* Reports whether one of the folders above the file has one of these names. */
static bool is_below(const char *path, const char *const *folders)
{
	for (; *folders; folders++) {
		size_t size = strlen(*folders);

		for (const char *at = path; strchr(at, '/'); at = strchr(at, '/') + 1)
			if (strncmp(at, *folders, size) == 0 && at[size] == '/')
				return true;
	}
	return false;
}

static enum detect_language language_of(const char *path)
{
	const char *dot = strrchr(name_of(path), '.');

	for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
		if (strcasecmp(dot, endings[i].ending) == 0)
			return endings[i].language;
	return DETECT_OTHER;
}

const char *detect_file_manifest_of(const char *lockfile)
{
	for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
		if (strcmp(name_of(lockfile), locks[i].lockfile) == 0)
			return locks[i].manifest;
	return NULL;
}

struct detect_file detect_file_of(const char *path)
{
	struct detect_file file = {
		.language = language_of(path),
		.recorded = has_name(path, recorded) || is_below(path, recorded_folders),
		.script = has_name(path, scripts) || is_below(path, script_folders),
		.settings = has_name(path, settings),
		.manifest = has_name(path, manifests),
		.lockfile = detect_file_manifest_of(path) != NULL,
	};

	file.test = !file.lockfile && (is_below(path, test_folders) ||
				       (file.language != DETECT_OTHER && has_name(path, tests)));
	return file;
}
