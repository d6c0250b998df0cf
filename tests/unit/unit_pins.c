/* Pinned files, by their paths and by the commands of checks. */
#include "unit.h"

#include "draft/tree_pins.h"
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

	CHECK("they are moved", tree_pins_move("pins", tree, &err) == 0);
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
	a_users_patterns_win();
	a_manifest_keeps_its_scripts_and_may_get_dependencies();
	return unit_failures > 0;
}
