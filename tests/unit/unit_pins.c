/* Pinned files, by their paths and by the commands of checks. */
#include "unit.h"

#include "draft/tree_pins.h"
#include "project/packages.h"
#include "project/pins.h"
#include "util/file/dirwalk.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Whether a file is pinned as expected, with a check and patterns of the user. */
static bool is(const char *check, const char *pin, const char *unpin, const char *path,
	       enum pins_kind expected)
{
	struct pins pins = { 0 };
	enum pins_kind kind;

	if (check)
		pins_add_check(&pins, "/p", check);
	if (pin)
		list_add(&pins.chosen, pin);
	if (unpin)
		list_add(&pins.unpinned, unpin);
	kind = pins_of(&pins, path);
	pins_release(&pins);
	if (kind != expected)
		fprintf(stderr, "'%s' is pinned as %s\n", path, pins_kind_name(kind));
	return kind == expected;
}

static void files_have_kinds_by_name(void)
{
	CHECK("a file is pinned by its name",
	      is(NULL, NULL, NULL, "tests/unit/test_tax.py", PINS_TEST));
	CHECK("a file is pinned by its name", is(NULL, NULL, NULL, "src/tax.test.ts", PINS_TEST));
	CHECK("a file is pinned by its name",
	      is(NULL, NULL, NULL, "tests/conftest.py", PINS_RUNNER));
	CHECK("a file is pinned by its name",
	      is(NULL, NULL, NULL, "pytest/__init__.py", PINS_RUNNER));
	CHECK("a file is pinned by its name",
	      is(NULL, NULL, NULL, ".cargo/config.toml", PINS_RUNNER));
	CHECK("so is a symlink that may be a folder", is(NULL, NULL, NULL, ".cargo", PINS_RUNNER));
	CHECK("so is a symlink that may be a folder", is(NULL, NULL, NULL, "pytest", PINS_RUNNER));
	CHECK("a file is pinned by its name",
	      is(NULL, NULL, NULL, ".github/workflows/test.yml", PINS_CI));
	CHECK("a file is pinned by its name",
	      is(NULL, NULL, NULL, "web/package.json", PINS_MANIFEST));
	CHECK("a file is pinned by its name",
	      is(NULL, NULL, NULL, "web/package-lock.json", PINS_LOCKFILE));
	CHECK("a file is pinned by its name", is(NULL, NULL, NULL, "src/tax.py", PINS_NOT));
	CHECK("a file is pinned by its name", is(NULL, NULL, NULL, "Cargo.toml", PINS_NOT));
	CHECK("a file is pinned by its name", is(NULL, NULL, NULL, "contest/latest.py", PINS_NOT));
}

static void a_check_pins_what_it_names(void)
{
	CHECK("a check pins what it names", is("./run.sh fast", NULL, NULL, "run.sh", PINS_SCRIPT));
	CHECK("a check pins what it names",
	      is("cd web && sh scripts/check.sh", NULL, NULL, "scripts/check.sh", PINS_SCRIPT));
	CHECK("a check pins what it names",
	      is("sh -c 'bin/verify'", NULL, NULL, "bin/verify", PINS_SCRIPT));
	CHECK("a check pins what it names",
	      is("python3 src/main.py", NULL, NULL, "src/main.py", PINS_NOT));
	CHECK("a check pins what it names",
	      is("make -C lib test", NULL, NULL, "lib/Makefile", PINS_SCRIPT));
	CHECK("a check pins what it names", is("npm test", NULL, NULL, "Makefile", PINS_NOT));
	CHECK("a check pins what it names",
	      is("cd web && sh scripts/check.sh", NULL, NULL, "web/scripts/check.sh", PINS_SCRIPT));
	CHECK("a check pins what it names",
	      is("(cd a; ./x); cd b/../c && ./y", NULL, NULL, "c/y", PINS_SCRIPT));
	CHECK("a check pins what it names", is("true && ./ci", NULL, NULL, "ci", PINS_SCRIPT));
	CHECK("a check pins what it names", is("timeout 9 ./ci", NULL, NULL, "ci", PINS_SCRIPT));
	CHECK("a check pins what it names", is("bash -eu ci", NULL, NULL, "ci", PINS_SCRIPT));
	CHECK("a check pins what it names", is("/p/bin//ci", NULL, NULL, "bin/ci", PINS_SCRIPT));
	CHECK("a check pins what it names", is("/q/ci ../ci", NULL, NULL, "ci", PINS_NOT));
	CHECK("a check pins what it names", is("mypy . a.py", NULL, NULL, "a.py", PINS_NOT));
	CHECK("a check pins what it names", is("node ./a.js", NULL, NULL, "a.js", PINS_NOT));
	CHECK("a check pins what it names",
	      is("/usr/bin/make test", NULL, NULL, "GNUmakefile", PINS_SCRIPT));
}

static void a_check_pins_what_it_compares_with(void)
{
	static const struct {
		const char *check, *path;
		enum pins_kind kind;
	} rows[] = {
		{ "./a | diff - expected.txt", "expected.txt", PINS_SCRIPT },
		{ "cmp out.txt data/Golden.bin", "data/Golden.bin", PINS_SCRIPT },
		{ "a --golden ref.json", "ref.json", PINS_SCRIPT },
		{ "a --golden=ref.json b.json", "ref.json", PINS_SCRIPT },
		{ "a --golden=ref.json b.json", "b.json", PINS_NOT },
		{ "a --out=expected.txt", "expected.txt", PINS_SCRIPT },
		{ "a --oracle o", "o", PINS_SCRIPT },
		{ "a --baseline o", "o", PINS_SCRIPT },
		{ "a --snapshot o", "o", PINS_SCRIPT },
		{ "a --approved o", "o", PINS_SCRIPT },
		{ "a --reference o", "o", PINS_SCRIPT },
		{ "a --golden", "o", PINS_NOT },
		{ "diff out.txt main.txt", "main.txt", PINS_NOT },
		{ "./a | diff - expected.txt", "src/expected.c", PINS_NOT },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		AUTO_FREE char *sentence = mem_format("'%s' pins what it compares with: %s",
						      rows[i].check, rows[i].path);

		CHECK(sentence, is(rows[i].check, NULL, NULL, rows[i].path, rows[i].kind));
	}
}

/* Whether a new file would loosen a linter that the check names. */
static bool loosens(const char *check, const char *unpin, const char *path)
{
	struct pins pins = { 0 };
	bool result;

	pins_add_check(&pins, "/p", check);
	if (unpin)
		list_add(&pins.unpinned, unpin);
	result = pins_loosens(&pins, path);
	pins_release(&pins);
	return result;
}

static void a_linter_has_files_that_loosen_it(void)
{
	static const char *const rows[][2] = {
		{ "ruff", "ruff.toml" },
		{ "ruff", "a/.ruff.toml" },
		{ "flake8", ".flake8" },
		{ "pylint", "pylintrc" },
		{ "pylint", ".pylintrc" },
		{ "mypy", "mypy.ini" },
		{ "mypy", ".mypy.ini" },
		{ "pyright", "pyrightconfig.json" },
		{ "bandit", ".bandit" },
		{ "isort", ".isort.cfg" },
		{ "golangci-lint", ".golangci.yml" },
		{ "staticcheck", "staticcheck.conf" },
		{ "rubocop", ".rubocop.yml" },
		{ "prettier", ".prettierrc.json" },
		{ "prettier", "prettier.config.js" },
		{ "prettier", ".prettierignore" },
		{ "biome", "biome.jsonc" },
		{ "oxlint", ".oxlintrc.json" },
		{ "shellcheck", ".shellcheckrc" },
		{ "clippy", "clippy.toml" },
		{ "clippy", ".clippy.toml" },
		{ "clang-format", ".clang-format" },
		{ "clang-tidy", ".clang-tidy" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		AUTO_FREE char *check = mem_format("cargo /usr/bin/%s x", rows[i][0]);
		AUTO_FREE char *sentence = mem_format("%s may loosen %s", rows[i][1], rows[i][0]);

		CHECK(sentence, loosens(check, NULL, rows[i][1]) &&
					!loosens("make", NULL, rows[i][1]) &&
					!loosens(check, rows[i][1], rows[i][1]));
	}
	CHECK("a manifest has other purposes", !loosens("ruff .", NULL, "pyproject.toml"));
}

static void packages_are_in_folders(void)
{
	static const char *const rows[][2] = {
		{ "node_modules", "package.json" },
		{ "node_modules", "pnpm-workspace.yaml" },
		{ "a/node_modules", "a/package.json" },
		{ ".venv", "requirements-dev.txt" },
		{ ".venv", "requirements.in" },
		{ ".venv", "requirements/dev.txt" },
		{ ".venv", "constraints.txt" },
		{ ".venv", "Pipfile" },
		{ ".venv", "pyproject.toml" },
		{ ".venv", "setup.py" },
		{ ".venv", "setup.cfg" },
		{ ".venv", "environment.yml" },
		{ "venv", "setup.py" },
		{ ".tox", "setup.py" },
		{ ".nox", "setup.py" },
		{ "__pypackages__", "setup.py" },
		{ "vendor", "composer.json" },
		{ "vendor", "Gemfile" },
		{ "vendor", "a.gemspec" },
		{ "vendor", "go.mod" },
		{ ".bundle", "Gemfile" },
		{ ".bundle", "a.gemspec" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		AUTO_FREE char *inside = mem_format("%s/bin/x", rows[i][0]);
		AUTO_FREE char *sentence = mem_format("%s has what %s says", rows[i][0],
						      rows[i][1]);

		CHECK(sentence, packages_is_folder(rows[i][0]) &&
					packages_folder_of(inside) == strlen(rows[i][0]) &&
					is(NULL, NULL, NULL, inside, PINS_PACKAGES) &&
					packages_is_manifest(rows[i][0], rows[i][1]) &&
					!packages_is_manifest(rows[i][0], "main.c"));
	}
	CHECK("a folder inside another is not one of its own",
	      !packages_is_folder("node_modules/a/node_modules") &&
		      packages_folder_of("node_modules/a/node_modules/b") == 12);
	CHECK("a manifest of a package says nothing",
	      !packages_is_manifest("node_modules", "node_modules/a/package.json"));
	CHECK("another folder has no packages",
	      !packages_is_folder("src") && !packages_folder_of("src/node_modules.c"));
	CHECK("caches are known", packages_is_cache(".venv/lib/__pycache__/a.pyc") &&
					  packages_is_cache("node_modules/.cache/x/y") &&
					  packages_is_cache("node_modules/.vite/x") &&
					  packages_is_cache("node_modules/.vitest/x") &&
					  packages_is_cache("node_modules/.package-lock.json") &&
					  !packages_is_cache("node_modules/.bin/jest"));
}

static bool same(const char *manifest, const char *base, const char *now)
{
	return packages_are_same(manifest, base, strlen(base), now, strlen(now));
}

static void a_manifest_asks_for_packages(void)
{
	static const char *const parts[] = { "dependencies",        "devDependencies",
					     "peerDependencies",    "optionalDependencies",
					     "bundledDependencies", "bundleDependencies",
					     "overrides",           "resolutions",
					     "workspaces",          "pnpm" };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		AUTO_FREE char *now = mem_format("{\"%s\": {\"a\": \"1\"}}", parts[i]);
		AUTO_FREE char *sentence = mem_format("a package.json asks by %s", parts[i]);

		CHECK(sentence, !same("a/package.json", "{}", now) &&
					same("package.json", now, now) &&
					!same("package.json", now, "{}"));
	}
	CHECK("its other parts do not ask",
	      same("package.json", "{\"scripts\": {}}", "{\"name\": \"x\"}"));
	CHECK("if it cannot be read, it does not ask",
	      same("package.json", "{\"dependencies\": {}}", "{") &&
		      !same("package.json", "{", "{\"dependencies\": {}}"));
	CHECK("another manifest asks by every change",
	      same("requirements.txt", "a", "a") && !same("requirements.txt", "a", "b"));
}

static void a_users_patterns_win(void)
{
	CHECK("a user's patterns win",
	      is(NULL, "data/expected", NULL, "data/expected/a.txt", PINS_CHOSEN));
	CHECK("a user's patterns win", is(NULL, NULL, "tests/", "tests/test_tax.py", PINS_NOT));
	CHECK("a user's patterns win",
	      is(NULL, NULL, "/tests", "other/tests/test_tax.py", PINS_TEST));
	CHECK("a user's patterns win", is("./run.sh", "run.sh", "run.sh", "run.sh", PINS_NOT));
}

/* Whether the merge of two manifests is as expected; NULL: nothing is restored. */
static bool merges(const char *base, const char *now, const char *expected)
{
	AUTO_FREE char *merged = pins_manifest_merge(base, strlen(base), now, strlen(now));

	if (merged)
		fprintf(stderr, "%s\n", merged);
	return merged && expected ? strcmp(merged, expected) == 0 : !merged && !expected;
}

static void a_manifest_keeps_its_scripts_and_may_get_dependencies(void)
{
	const char *base = "{\"scripts\": {\"test\": \"jest\"}}";

	CHECK("a manifest keeps its scripts, and may get dependencies",
	      merges(base, "{\"scripts\": {\"test\": \"jest\"}, \"dependencies\": {}}", NULL));
	CHECK("a manifest keeps its scripts, and may get dependencies",
	      merges(base, "{\"dependencies\": {}, \"scripts\": {\"test\": \"true\"}}",
		     "{\n  \"dependencies\": {},\n  \"scripts\": {\n    \"test\": \"jest\"\n  }\n}"));
	CHECK("a manifest keeps its scripts, and may get dependencies",
	      merges(base, "{\"scripts\": {\"test\": \"jest\"}, \"jest\": {\"testMatch\": []}}",
		     "{\n  \"scripts\": {\n    \"test\": \"jest\"\n  }\n}"));
	CHECK("a manifest keeps its scripts, and may get dependencies",
	      merges(base, "{\"scripts\": {\"test\": \"true\"}, \"scripts\": {\"test\": \"jest\"}}",
		     NULL));
	CHECK("a manifest keeps its scripts, and may get dependencies", merges(base, "[]", base));
	CHECK("a manifest keeps its scripts, and may get dependencies", merges(base, "", base));
	CHECK("a manifest keeps its scripts, and may get dependencies",
	      merges("not json", "{}", "not json"));
}

static bool run(const char *line)
{
	return system(line) == 0; /* NOLINT(cert-env33-c) */
}

static void pins_replace_what_is_in_a_copy(void)
{
	char place[] = "/tmp/unit-pins-XXXXXX";
	struct error err = { 0 };

	if (!mkdtemp(place) || chdir(place) < 0)
		return;
	CHECK("there is a copy, and pins for it",
	      run("mkdir -p tree/gone/inner tree/tests pins/a/b pins/tests && echo agent >tree/a &&"
		  " echo agent >tree/tests/changed && echo kept >tree/tests/new &&"
		  " ln -s /nowhere tree/link && mkdir pins/link && echo base >pins/link/file &&"
		  " echo base >pins/a/b/file && echo base >pins/tests/changed &&"
		  " chmod 750 pins/tests && chmod 0 tree/tests") &&
		      mknod("pins/gone", S_IFCHR, makedev(0, 0)) == 0);

	AUTO_FD tree = open("tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	CHECK("they are copied", tree_pins_copy("pins", tree, &err) == 0);
	CHECK("and replace files, folders and symlinks, but nothing beside them",
	      run("grep -q base tree/a/b/file && grep -q base tree/tests/changed &&"
		  " grep -q base tree/link/file && test ! -L tree/link && test ! -e tree/gone &&"
		  " grep -q kept tree/tests/new && test $(stat -c %a tree/tests) = 750"));
	CHECK("the place is removed",
	      chdir("/") == 0 && dirwalk_remove(AT_FDCWD, place, NULL) == 0);
}

int main(void)
{
	pins_replace_what_is_in_a_copy();
	files_have_kinds_by_name();
	a_check_pins_what_it_names();
	a_check_pins_what_it_compares_with();
	a_linter_has_files_that_loosen_it();
	packages_are_in_folders();
	a_manifest_asks_for_packages();
	a_users_patterns_win();
	a_manifest_keeps_its_scripts_and_may_get_dependencies();
	return unit_failures > 0;
}
