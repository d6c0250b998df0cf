"""ringfence init: a first ringfence.yml, made for this kind of project."""

import os

from harness import cases, contains, each_identity, equal, expect, lacks

ANY_IDENTITY = "A file is written that depends on the names of others."


def init(t, *opts, **options):
    return t.run([t.ringfence, "init", *opts], **options)


def active_lines(t):
    return [line for line in t.read("ringfence.yml").splitlines() if line and not line.startswith("#")]


KINDS = {
    "node": ({"package.json": '{"scripts": {"test": "jest"}}'}, "npm test"),
    "node with pnpm": ({"package.json": '{"scripts": {"test": "x"}}', "pnpm-lock.yaml": ""}, "pnpm test"),
    "node with yarn": ({"package.json": '{"scripts": {"test": "x"}}', "yarn.lock": ""}, "yarn test"),
    "python": ({"pyproject.toml": ""}, "python3 -m pytest"),
    "python with uv": ({"pyproject.toml": "", "uv.lock": ""}, "uv run pytest"),
    "python by setup.py": ({"setup.py": ""}, "python3 -m pytest"),
    "python with unittest": ({"setup.py": "", "tests/test_a.py": "import unittest\n"},
                             "python3 -m unittest discover tests"),
    "python by its tests": ({"a.py": "", "test_a.py": "import unittest\n"}, "python3 -m unittest"),
    "python by tests for pytest": ({"tests/test_a.py": "def test_a(): pass\n"}, "python3 -m pytest"),
    "rust": ({"Cargo.toml": ""}, "cargo test"),
    "go": ({"go.mod": ""}, "go test ./..."),
    "java with maven": ({"pom.xml": ""}, "mvn -q test"),
    "java with a wrapper": ({"build.gradle": "", "gradlew": ""}, "./gradlew test"),
    "c with meson": ({"meson.build": ""}, "meson test -C build"),
    "c with a rule in make": ({"CMakeLists.txt": "", "Makefile": "test: all\n"}, "make test"),
    "make": ({"Makefile": "all:\n\ttrue\n\ncheck test2: all\n"}, "make check"),
}


@cases(*KINDS)
@each_identity
def test_a_project_is_known_by_its_files(t, name):
    files, check = KINDS[name]
    for file, text in files.items():
        t.write(file, text)
    equal(init(t).code, 0, "exit status")
    expect(f"  - {check}" in active_lines(t), f"the check is {check}", t.read("ringfence.yml"))
    contains(t.read("ringfence.yml"), f"# Found: {name.split()[0]} (", "the comment")


def test_several_kinds_give_several_checks(t):
    t.write("go.mod", "")
    t.write("package.json", '{"scripts": {"test": "x"}}')
    init(t)
    equal([line for line in active_lines(t) if line.startswith("  - ")],
          ["  - npm test", "  - go test ./..."], "the checks")


def test_an_empty_project_gets_a_file_without_settings(t):
    equal(init(t).code, 0, "exit status")
    equal(active_lines(t), [], "lines that say something")


@cases('{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}', "{}", "[1]", "{", "null")
def test_a_package_without_tests_gives_no_check(t, text):
    t.write("package.json", text)
    equal(init(t).code, 0, "exit status")
    lacks("\n".join(active_lines(t)), "check:", "the file")


@cases(("package.json", ".npm"), ("Cargo.toml", ".cargo/registry"))
def test_a_cache_stays_out_because_most_tools_write_to_theirs(t, file, cache):
    t.write(file, "{}")
    os.makedirs(os.path.join(t.home, cache))
    init(t)
    contains(t.read("ringfence.yml"), "# Found: ", "the file")
    lacks(t.read("ringfence.yml"), cache, "the file")
    lacks("\n".join(active_lines(t)), "read:", "the rules")


@cases("prod.tfvars", "terraform.tfstate", "wp-config.php", "config/master.key")
def test_a_file_that_often_holds_secrets_is_hidden(t, name):
    t.write(name, "the secret")
    init(t)
    expect("hide:" in active_lines(t) and f"  - {name}" in active_lines(t), "the rule",
           t.read("ringfence.yml"))


def test_a_name_that_means_something_in_yaml_is_quoted(t):
    t.write("a: b # c.tfvars", "x")
    init(t)
    expect('  - "a: b # c.tfvars"' in active_lines(t), "the rule", t.read("ringfence.yml"))


def test_a_file_that_is_there_is_kept_unless_forced(t):
    t.write("ringfence.yml", "net: none\n")
    result = init(t)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "--force", "the reason")
    equal(t.read("ringfence.yml"), "net: none\n", "the file")
    equal(init(t, "--force").code, 0, "exit status")
    contains(t.read("ringfence.yml"), "# Rules for commands", "the file")
    equal([name for name in os.listdir(t.project) if name.startswith(".ringfence")], [], "temporary files left")


@each_identity
def test_a_symlink_is_not_followed(t):
    target = os.path.join(t.outside, "target")
    os.symlink(target, t.path("ringfence.yml"))
    equal(init(t).code, 125, "exit status")
    expect(not os.path.exists(target), "nothing is written through it")
    equal(init(t, "--force").code, 0, "exit status")
    expect(not os.path.exists(target), "nothing is written through it")


def test_printing_writes_nothing(t):
    t.write("go.mod", "")
    result = init(t, "--print")
    contains(result.out, "  - go test ./...", "stdout")
    expect(not t.exists("ringfence.yml"), "no file")


@each_identity
def test_files_that_are_not_what_they_seem_do_no_harm(t):
    os.mkfifo(t.path("Makefile"))
    os.mkdir(t.path("package.json"))
    os.symlink("/etc/passwd", t.path("go.mod"))
    t.write("Cargo.toml", "x" * 100)
    result = init(t)
    equal(result.code, 0, "exit status", result)


@cases(("go.mod", 1), ("package.json", 0))
def test_it_speaks_of_trust_only_if_it_wrote_a_check(t, file, count):
    t.write(file, "{}")
    equal(init(t).out.count("\nto activate its checks: ringfence trust\n"), count, "stdout")


def test_where_nothing_needs_trust_it_does_not_speak_of_it(t):
    result = init(t)
    contains(result.out, "ringfence.yml", "stdout")
    lacks(result.out, "trust", "stdout")


def test_a_project_that_is_not_there_is_named(t):
    result = init(t, "--project", "missing")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "--project 'missing': there is no such folder", "the reason")


@cases("- x.tfstate", "y\x7f.tfvars", "z\x1b[31m.tfvars", "#c.tfvars")
def test_a_strange_name_does_not_break_the_file(t, name):
    t.write(name, "x")
    equal(init(t).code, 0, "exit status")
    equal(t.run([t.ringfence, "config"]).code, 0, "the file can be read", t.read("ringfence.yml"))
    lacks(t.read("ringfence.yml"), "\x1b", "the file")
