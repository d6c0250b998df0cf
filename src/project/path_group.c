/* Groups of changed files: see path_group.h. */
#include "project/path_group.h"

#include "util/file/path.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name, *title;
	bool asks;
} groups[] = {
	[PATH_GROUP_EXECUTED] = { "executed", "executed by this machine", true },
	[PATH_GROUP_CI] = { "ci", "run in CI", true },
	[PATH_GROUP_PINNED] = { "pinned", "pinned, changed by the agent", true },
	[PATH_GROUP_SECRET] = { "secrets", "names of secrets", false },
	[PATH_GROUP_DEPENDENCIES] = { "dependencies", "dependencies and lockfiles", false },
	[PATH_GROUP_CONFIGURATION] = { "configuration", "configuration", false },
	[PATH_GROUP_TESTS] = { "tests", "tests", false },
	[PATH_GROUP_SOURCE] = { "source", "source and other files", false },
	[PATH_GROUP_BINARY] = { "binary", "binary files", false },
	[PATH_GROUP_LARGE] = { "large", "large files", false },
	[PATH_GROUP_IGNORED] = { "ignored", "ignored files", false },
};

_Static_assert(sizeof groups / sizeof *groups == PATH_GROUP_COUNT, "a group has no name");

/* The first row that matches decides. A pattern in lower case matches any case of letters, one with
 * a capital letter only its own. `*` stands for any characters. `folder/` matches everything in
 * such a folder, at any depth. */
static const struct row {
	enum path_group group;
	const char *pattern;
	const char *manifest; /* the one that a lockfile belongs to */
} rows[] = {
#define ROW(group, pattern)                       \
	{                                         \
		PATH_GROUP_##group, pattern, NULL \
	}
#define LOCKFILE(pattern, manifest)                        \
	{                                                  \
		PATH_GROUP_DEPENDENCIES, pattern, manifest \
	}
	/* JavaScript */
	ROW(DEPENDENCIES, "package.json"),
	LOCKFILE("package-lock.json", "package.json"),
	LOCKFILE("npm-shrinkwrap.json", "package.json"),
	LOCKFILE("yarn.lock", "package.json"),
	LOCKFILE("pnpm-lock.yaml", "package.json"),
	LOCKFILE("bun.lock", "package.json"),
	LOCKFILE("bun.lockb", "package.json"),
	ROW(DEPENDENCIES, "deno.lock"),
	ROW(DEPENDENCIES, "bower.json"),
	/* Python */
	ROW(DEPENDENCIES, "pyproject.toml"),
	ROW(DEPENDENCIES, "requirements*.txt"),
	ROW(DEPENDENCIES, "requirements*.in"),
	ROW(DEPENDENCIES, "requirements/"),
	ROW(DEPENDENCIES, "constraints*.txt"),
	ROW(DEPENDENCIES, "pipfile"),
	LOCKFILE("pipfile.lock", "Pipfile"),
	LOCKFILE("poetry.lock", "pyproject.toml"),
	LOCKFILE("pdm.lock", "pyproject.toml"),
	LOCKFILE("uv.lock", "pyproject.toml"),
	ROW(DEPENDENCIES, "pixi.toml"),
	ROW(DEPENDENCIES, "pixi.lock"),
	ROW(DEPENDENCIES, "environment.yml"),
	ROW(DEPENDENCIES, "environment.yaml"),
	ROW(DEPENDENCIES, "conda-lock.yml"),
	/* Rust, Go, Zig, Nim */
	ROW(DEPENDENCIES, "cargo.toml"),
	LOCKFILE("cargo.lock", "Cargo.toml"),
	ROW(DEPENDENCIES, "go.mod"),
	LOCKFILE("go.sum", "go.mod"),
	ROW(DEPENDENCIES, "go.work"),
	ROW(DEPENDENCIES, "go.work.sum"),
	ROW(DEPENDENCIES, "build.zig.zon"),
	ROW(DEPENDENCIES, "*.nimble"),
	/* Ruby, PHP, Perl, Elixir, Erlang, Dart, Swift */
	ROW(DEPENDENCIES, "gemfile"),
	LOCKFILE("gemfile.lock", "Gemfile"),
	ROW(DEPENDENCIES, "*.gemspec"),
	ROW(DEPENDENCIES, "composer.json"),
	LOCKFILE("composer.lock", "composer.json"),
	ROW(DEPENDENCIES, "cpanfile"),
	ROW(DEPENDENCIES, "cpanfile.snapshot"),
	ROW(DEPENDENCIES, "mix.exs"),
	ROW(DEPENDENCIES, "mix.lock"),
	ROW(DEPENDENCIES, "rebar.config"),
	ROW(DEPENDENCIES, "rebar.lock"),
	ROW(DEPENDENCIES, "pubspec.yaml"),
	ROW(DEPENDENCIES, "pubspec.lock"),
	ROW(DEPENDENCIES, "package.swift"),
	ROW(DEPENDENCIES, "package.resolved"),
	ROW(DEPENDENCIES, "podfile"),
	ROW(DEPENDENCIES, "podfile.lock"),
	ROW(DEPENDENCIES, "cartfile"),
	ROW(DEPENDENCIES, "cartfile.resolved"),
	/* the JVM, .NET, C and C++, Haskell, OCaml, R, Julia */
	ROW(DEPENDENCIES, "pom.xml"),
	ROW(DEPENDENCIES, "build.gradle"),
	ROW(DEPENDENCIES, "build.gradle.kts"),
	ROW(DEPENDENCIES, "settings.gradle"),
	ROW(DEPENDENCIES, "settings.gradle.kts"),
	ROW(DEPENDENCIES, "gradle.lockfile"),
	ROW(DEPENDENCIES, "libs.versions.toml"),
	ROW(DEPENDENCIES, "build.sbt"),
	ROW(DEPENDENCIES, "deps.edn"),
	ROW(DEPENDENCIES, "project.clj"),
	ROW(DEPENDENCIES, "*.csproj"),
	ROW(DEPENDENCIES, "*.fsproj"),
	ROW(DEPENDENCIES, "*.vbproj"),
	ROW(DEPENDENCIES, "packages.config"),
	ROW(DEPENDENCIES, "packages.lock.json"),
	ROW(DEPENDENCIES, "paket.dependencies"),
	ROW(DEPENDENCIES, "paket.lock"),
	ROW(DEPENDENCIES, "conanfile.*"),
	ROW(DEPENDENCIES, "conan.lock"),
	ROW(DEPENDENCIES, "vcpkg.json"),
	ROW(DEPENDENCIES, "vcpkg-configuration.json"),
	ROW(DEPENDENCIES, "*.cabal"),
	ROW(DEPENDENCIES, "stack.yaml"),
	ROW(DEPENDENCIES, "stack.yaml.lock"),
	ROW(DEPENDENCIES, "*.opam"),
	ROW(DEPENDENCIES, "renv.lock"),
	ROW(DEPENDENCIES, "manifest.toml"),
	ROW(DEPENDENCIES, "project.toml"),
	/* others */
	ROW(DEPENDENCIES, "flake.lock"),
	ROW(DEPENDENCIES, ".terraform.lock.hcl"),
	ROW(DEPENDENCIES, "chart.lock"),
	ROW(DEPENDENCIES, "chart.yaml"),
	ROW(DEPENDENCIES, "module.bazel"),
	ROW(DEPENDENCIES, "module.bazel.lock"),
	ROW(DEPENDENCIES, ".gitmodules"),
	ROW(DEPENDENCIES, "vendor/"),
	ROW(DEPENDENCIES, "node_modules/"),

	ROW(TESTS, "test/"),
	ROW(TESTS, "tests/"),
	ROW(TESTS, "testing/"),
	ROW(TESTS, "testdata/"),
	ROW(TESTS, "__tests__/"),
	ROW(TESTS, "__mocks__/"),
	ROW(TESTS, "__snapshots__/"),
	ROW(TESTS, "spec/"),
	ROW(TESTS, "specs/"),
	ROW(TESTS, "e2e/"),
	ROW(TESTS, "cypress/"),
	ROW(TESTS, "fixtures/"),
	ROW(TESTS, "androidtest/"),
	ROW(TESTS, "test_*"),
	ROW(TESTS, "*_test.*"),
	ROW(TESTS, "*_tests.*"),
	ROW(TESTS, "*_unittest.*"),
	ROW(TESTS, "*-test.*"),
	ROW(TESTS, "*.test.*"),
	ROW(TESTS, "*.tests.*"),
	ROW(TESTS, "*_spec.*"),
	ROW(TESTS, "*-spec.*"),
	ROW(TESTS, "*.spec.*"),
	ROW(TESTS, "*.feature"),
	ROW(TESTS, "*.snap"),
	ROW(TESTS, "*.bats"),
	ROW(TESTS, "*.cy.*"),
	ROW(TESTS, "*.e2e.*"),
	ROW(TESTS, "test.*"),
	ROW(TESTS, "tests.*"),
	ROW(TESTS, "check_*.c"),
	ROW(TESTS, "conftest.py"),
	ROW(TESTS, "Test*.java"),
	ROW(TESTS, "*Test.java"),
	ROW(TESTS, "*Tests.java"),
	ROW(TESTS, "*IT.java"),
	ROW(TESTS, "*Test.kt"),

	ROW(CONFIGURATION, ".config/"),
	ROW(CONFIGURATION, "*.toml"),
	ROW(CONFIGURATION, "*.yaml"),
	ROW(CONFIGURATION, "*.yml"),
	ROW(CONFIGURATION, "*.ini"),
	ROW(CONFIGURATION, "*.cfg"),
	ROW(CONFIGURATION, "*.cnf"),
	ROW(CONFIGURATION, "*.conf"),
	ROW(CONFIGURATION, "*.config"),
	ROW(CONFIGURATION, "*.config.*"),
	ROW(CONFIGURATION, "*.properties"),
	ROW(CONFIGURATION, "*.plist"),
	ROW(CONFIGURATION, "*.env"),
	ROW(CONFIGURATION, "*.tf"),
	ROW(CONFIGURATION, "*.tfvars"),
	ROW(CONFIGURATION, "*.hcl"),
	ROW(CONFIGURATION, "*.service"),
	ROW(CONFIGURATION, "*.props"),
	ROW(CONFIGURATION, "*.targets"),
	ROW(CONFIGURATION, "*.sln"),
	ROW(CONFIGURATION, "config.json"),
	ROW(CONFIGURATION, "settings.json"),
	ROW(CONFIGURATION, "appsettings*.json"),
	ROW(CONFIGURATION, "tsconfig*.json"),
	ROW(CONFIGURATION, "jsconfig*.json"),
	ROW(CONFIGURATION, "turbo.json"),
	ROW(CONFIGURATION, "nx.json"),
	ROW(CONFIGURATION, "lerna.json"),
	ROW(CONFIGURATION, "angular.json"),
	ROW(CONFIGURATION, "vercel.json"),
	ROW(CONFIGURATION, "deno.json*"),
	ROW(CONFIGURATION, "makefile"),
	ROW(CONFIGURATION, "gnumakefile"),
	ROW(CONFIGURATION, "*.mk"),
	ROW(CONFIGURATION, "cmakelists.txt"),
	ROW(CONFIGURATION, "*.cmake"),
	ROW(CONFIGURATION, "meson.build"),
	ROW(CONFIGURATION, "meson_options.txt"),
	ROW(CONFIGURATION, "meson.options"),
	ROW(CONFIGURATION, "configure.ac"),
	ROW(CONFIGURATION, "makefile.am"),
	ROW(CONFIGURATION, "build.bazel"),
	ROW(CONFIGURATION, "workspace.bazel"),
	ROW(CONFIGURATION, "sconstruct"),
	ROW(CONFIGURATION, "justfile"),
	ROW(CONFIGURATION, "rakefile"),
	ROW(CONFIGURATION, "procfile"),
	ROW(CONFIGURATION, "vagrantfile"),
	ROW(CONFIGURATION, "dockerfile*"),
	ROW(CONFIGURATION, "containerfile*"),
	ROW(CONFIGURATION, "*.dockerfile"),
	ROW(CONFIGURATION, ".*ignore"),
	ROW(CONFIGURATION, ".gitattributes"),
	ROW(CONFIGURATION, ".editorconfig"),
	ROW(CONFIGURATION, ".clang-*"),
	ROW(CONFIGURATION, ".*rc"),
	ROW(CONFIGURATION, ".*rc.*"),
	ROW(CONFIGURATION, "setup.py"),
	ROW(CONFIGURATION, "manifest.in"),
#undef ROW
#undef LOCKFILE
};

/* Returns whether one of the folders of a path has the name `folder/`. */
static bool is_in(const char *path, const char *folder)
{
	size_t size = strlen(folder);

	for (const char *end; (end = strchr(path, '/')); path = end + 1)
		if ((size_t)(end - path) + 1 == size && strncasecmp(path, folder, size) == 0)
			return true;
	return false;
}

static bool has_capital(const char *pattern)
{
	return strpbrk(pattern, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

static bool matches(const char *path, const char *pattern)
{
	int folding = has_capital(pattern) ? 0 : FNM_CASEFOLD;

	if (pattern[strlen(pattern) - 1] == '/')
		return is_in(path, pattern);
	return fnmatch(pattern, path_name(path), folding | FNM_NOESCAPE) == 0;
}

static const struct row *find_row(const char *path)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (matches(path, rows[i].pattern))
			return &rows[i];
	return NULL;
}

/* Returns the group that the name alone decides: dependencies, tests, configuration or source. */
static enum path_group group_of_name(const char *path)
{
	const struct row *row = find_row(path);

	return row ? row->group : PATH_GROUP_SOURCE;
}

bool path_group_is_test(const char *path)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].group == PATH_GROUP_TESTS && matches(path, rows[i].pattern))
			return true;
	return false;
}

const char *path_group_manifest_of(const char *lockfile)
{
	const struct row *row = find_row(lockfile);

	return row ? row->manifest : NULL;
}

const char *path_group_test_pattern(size_t i)
{
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (rows[k].group == PATH_GROUP_TESTS && i-- == 0)
			return rows[k].pattern;
	return NULL;
}

const char *path_group_lockfile_pattern(size_t i)
{
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		if (rows[k].manifest && i-- == 0)
			return rows[k].pattern;
	return NULL;
}

enum path_group path_group_of(const char *path, const struct path_group_facts *facts)
{
	enum path_group by_name;

	if (facts->executed)
		return PATH_GROUP_EXECUTED;
	if (facts->ci)
		return PATH_GROUP_CI;
	if (facts->pinned)
		return PATH_GROUP_PINNED;
	if (facts->secret)
		return PATH_GROUP_SECRET;
	if (facts->ignored)
		return PATH_GROUP_IGNORED;
	by_name = group_of_name(path);
	if (by_name == PATH_GROUP_DEPENDENCIES)
		return by_name;
	if (facts->bytes >= PATH_GROUP_LARGE_BYTES)
		return PATH_GROUP_LARGE;
	return facts->binary ? PATH_GROUP_BINARY : by_name;
}

const char *path_group_name(enum path_group group)
{
	return groups[group].name;
}

const char *path_group_title(enum path_group group)
{
	return groups[group].title;
}

bool path_group_asks(enum path_group group)
{
	return groups[group].asks;
}
