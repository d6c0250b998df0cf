/* Groups of changed files: see path_group.h. */
#include "ops/path_group.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name, *title;
	bool asks;
} groups[] = {
	[PATH_GROUP_EXECUTED] = { "executed", "executed by this machine", true },
	[PATH_GROUP_CI] = { "ci", "run in CI", true },
	[PATH_GROUP_DEPENDENCIES] = { "dependencies", "dependencies and lockfiles", false },
	[PATH_GROUP_CONFIGURATION] = { "configuration", "configuration", false },
	[PATH_GROUP_TESTS] = { "tests", "tests", false },
	[PATH_GROUP_SOURCE] = { "source", "source and other files", false },
	[PATH_GROUP_BINARY] = { "binary", "binary files", false },
	[PATH_GROUP_LARGE] = { "large", "large files", false },
};

_Static_assert(sizeof groups / sizeof *groups == PATH_GROUP_COUNT, "a group has no name");

/* Names in any case of letters; the first row that matches decides. `*` stands for any characters.
 * `folder/` matches everything in such a folder, at any depth. */
static const struct row {
	enum path_group group;
	const char *pattern;
} rows[] = {
#define ROW(group, pattern)                  \
	{                                    \
		PATH_GROUP_##group, pattern, \
	}
	/* JavaScript */
	ROW(DEPENDENCIES, "package.json"),
	ROW(DEPENDENCIES, "package-lock.json"),
	ROW(DEPENDENCIES, "npm-shrinkwrap.json"),
	ROW(DEPENDENCIES, "yarn.lock"),
	ROW(DEPENDENCIES, "pnpm-lock.yaml"),
	ROW(DEPENDENCIES, "bun.lock"),
	ROW(DEPENDENCIES, "bun.lockb"),
	ROW(DEPENDENCIES, "deno.lock"),
	ROW(DEPENDENCIES, "bower.json"),
	/* Python */
	ROW(DEPENDENCIES, "pyproject.toml"),
	ROW(DEPENDENCIES, "requirements*.txt"),
	ROW(DEPENDENCIES, "requirements*.in"),
	ROW(DEPENDENCIES, "requirements/"),
	ROW(DEPENDENCIES, "constraints*.txt"),
	ROW(DEPENDENCIES, "pipfile"),
	ROW(DEPENDENCIES, "pipfile.lock"),
	ROW(DEPENDENCIES, "poetry.lock"),
	ROW(DEPENDENCIES, "pdm.lock"),
	ROW(DEPENDENCIES, "uv.lock"),
	ROW(DEPENDENCIES, "pixi.toml"),
	ROW(DEPENDENCIES, "pixi.lock"),
	ROW(DEPENDENCIES, "environment.yml"),
	ROW(DEPENDENCIES, "environment.yaml"),
	ROW(DEPENDENCIES, "conda-lock.yml"),
	/* Rust, Go, Zig, Nim */
	ROW(DEPENDENCIES, "cargo.toml"),
	ROW(DEPENDENCIES, "cargo.lock"),
	ROW(DEPENDENCIES, "go.mod"),
	ROW(DEPENDENCIES, "go.sum"),
	ROW(DEPENDENCIES, "go.work"),
	ROW(DEPENDENCIES, "go.work.sum"),
	ROW(DEPENDENCIES, "build.zig.zon"),
	ROW(DEPENDENCIES, "*.nimble"),
	/* Ruby, PHP, Perl, Elixir, Erlang, Dart, Swift */
	ROW(DEPENDENCIES, "gemfile"),
	ROW(DEPENDENCIES, "gemfile.lock"),
	ROW(DEPENDENCIES, "*.gemspec"),
	ROW(DEPENDENCIES, "composer.json"),
	ROW(DEPENDENCIES, "composer.lock"),
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
	ROW(TESTS, "tests.py"),
	ROW(TESTS, "tests.rs"),
	ROW(TESTS, "test.*"),

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

static bool matches(const char *path, const char *pattern)
{
	const char *slash = strrchr(path, '/');

	if (pattern[strlen(pattern) - 1] == '/')
		return is_in(path, pattern);
	return fnmatch(pattern, slash ? slash + 1 : path, FNM_CASEFOLD | FNM_NOESCAPE) == 0;
}

enum path_group path_group_of_name(const char *path)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (matches(path, rows[i].pattern))
			return rows[i].group;
	return PATH_GROUP_SOURCE;
}

enum path_group path_group_of(const char *path, const struct path_group_facts *facts)
{
	enum path_group by_name;

	if (facts->executed)
		return PATH_GROUP_EXECUTED;
	if (facts->ci)
		return PATH_GROUP_CI;
	by_name = path_group_of_name(path);
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
