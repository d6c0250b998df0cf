"""Real projects are built and tested in a draft, of both kinds, as outside."""

import os
import shutil

from harness import Skip, cases, equal, expect, needs, timeout
from harness.edits import difference, listing

KINDS = ("overlay", "copy")
GIT = "git -c user.name=T -c user.email=t@example.org -c protocol.file.allow=always"
NPM = os.environ.get("RINGFENCE_TEST_PROJECTS", "")

FILES = r"""
import fcntl, mmap, os, select, ctypes, struct
open('old').read()
os.link('old', 'linked')
os.chmod('old', 0o600)
assert os.stat('linked').st_nlink == 2 and os.stat('linked').st_mode & 0o777 == 0o600
fd = os.open('old', os.O_RDWR)
mapped = mmap.mmap(fd, 4096)
mapped[0:3] = b'new'
mapped.flush()
assert open('linked').read(3) == 'new'
fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
child = os.fork()
if child == 0:
    try:
        fcntl.lockf(os.open('old', os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0, 'a lock is exclusive'
libc = ctypes.CDLL(None)
watch = libc.inotify_init1(0)
assert libc.inotify_add_watch(watch, b'folder', 0x100 | 0x2) >= 0
open('folder/made', 'w').write('x')
assert select.select([watch], [], [], 10)[0], 'inotify tells of a new file'
assert b'made' in os.read(watch, 4096)
os.rename('folder/made', 'moved')
os.truncate('moved', 1 << 20)
os.symlink('moved', 'symlink')
os.mkfifo('pipe')
"""

SQLITE = r"""
import os, sqlite3
data = sqlite3.connect('data.db')
assert data.execute('pragma journal_mode=wal').fetchone() == ('wal',)
with data:
    data.executemany('insert into t values (?)', [(i,) for i in range(1000)])
child = os.fork()
if child == 0:
    other = sqlite3.connect('data.db', timeout=30)
    with other:
        other.execute('insert into t values (1000)')
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert data.execute('select count(*) from t').fetchone() == (1002,)
assert data.execute('pragma wal_checkpoint(truncate)').fetchone()[0] == 0
"""


def works_in_a_draft(t, kind, script, opts=()):
    """The control: the same works outside, in a copy of the project."""
    control = os.path.join(t.outside, "control")
    shutil.copytree(t.project, control, symlinks=True)
    result = t.run(["sh", "-ec", script], cwd=control)
    if result.code:
        raise Skip(f"it does not work outside: {result.err[-300:]}")
    before = listing(t.project)
    result = t.fence("sh", "-ec", script, opts=("--draft", "--draft-kind", kind, *opts))
    equal(result.code, 0, "exit status in a draft", result)
    equal(difference(before, listing(t.project)), "", "changes in the project")
    return result


@cases(*KINDS)
def test_links_modes_mappings_locks_and_watches(t, kind):
    t.write("old", "x" * 4096)
    t.write("folder/file", "x")
    t.write("script.py", FILES)
    works_in_a_draft(t, kind, "python3 script.py")


@cases(*KINDS)
def test_a_database_with_a_write_ahead_log(t, kind):
    t.write("script.py", SQLITE)
    equal(t.run(["python3", "-c", "import sqlite3; d = sqlite3.connect('data.db'); d.execute('create table t (x)'); "
                 "d.execute('insert into t values (-1)'); d.commit()"]).code, 0, "exit status of the set-up")
    works_in_a_draft(t, kind, "python3 script.py")


@cases(*KINDS)
@timeout(300)
def test_python_with_a_virtual_environment(t, kind):
    t.write("package/__init__.py", "def double(x):\n    return 2 * x\n")
    t.write("tests/test_package.py", "import unittest\nimport package\n\nclass Test(unittest.TestCase):\n"
            "    def test_double(self):\n        self.assertEqual(package.double(2), 4)\n")
    works_in_a_draft(t, kind, "python3 -m venv --without-pip .venv; .venv/bin/python -m unittest discover -s tests -p 'test_*.py'; "
                     "python3 -m compileall -q package")


@needs("cmake", "cc")
@cases(*KINDS)
@timeout(300)
def test_c_with_cmake(t, kind):
    t.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nenable_testing()\n"
            "add_library(part part.c)\nadd_executable(main main.c)\ntarget_link_libraries(main part)\nadd_test(NAME main COMMAND main)\n")
    t.write("part.c", "int part(void) { return 0; }\n")
    t.write("main.c", "int part(void);\nint main(void) { return part(); }\n")
    works_in_a_draft(t, kind, "cmake -S . -B build >/dev/null; cmake --build build >/dev/null; cd build; ctest --output-on-failure")


@needs("go")
@cases(*KINDS)
@timeout(600)
def test_go(t, kind):
    t.write("go.mod", "module example.org/p\n\ngo 1.19\n")
    t.write("p.go", "package p\n\nfunc Double(x int) int { return 2 * x }\n")
    t.write("p_test.go", "package p\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fail()\n\t}\n}\n")
    works_in_a_draft(t, kind, "export GOCACHE=$PWD/.cache GOFLAGS=-mod=mod GOPROXY=off HOME=$PWD; go vet .; go test .")


@needs("/usr/bin/cargo")
@cases(*KINDS)
@timeout(600)
def test_rust_with_cargo(t, kind):
    t.write("Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n')
    t.write("src/lib.rs", "pub fn double(x: i32) -> i32 { 2 * x }\n\n#[test]\nfn doubles() { assert_eq!(double(2), 4); }\n")
    works_in_a_draft(t, kind, "export CARGO_HOME=$PWD/.cargo-home; /usr/bin/cargo test --offline -q; /usr/bin/cargo build --offline -q --release")


@needs("git")
@cases(*KINDS)
def test_git_with_submodules(t, kind):
    """In a copy also a folder can be renamed; see docs/drafts.md."""
    other = os.path.join(t.outside, "other")
    t.write(os.path.join(other, "file"), "1\n")
    for script, folder in ((f"git init -q; git add file; {GIT} commit -qm one", other),
                           (f"git init -q; {GIT} submodule add -q {other} sub; mkdir -p src; echo 1 >src/a; git add .; {GIT} commit -qm one", t.project)):
        result = t.run(["sh", "-ec", script], cwd=folder)
        equal(result.code, 0, "exit status of the set-up", result)
    rename = "git mv src/a src/b" if kind == "overlay" else "git mv src lib"
    works_in_a_draft(t, kind, f"git submodule status; {rename}; (cd sub; echo 2 >file; {GIT} commit -qam two); git add sub; {GIT} commit -qm two; "
                     f"git stash list; git checkout -q -b side HEAD~1; git checkout -q -; test -z \"$(git status --porcelain)\"; {GIT} gc -q; git fsck")


@cases(*KINDS)
@timeout(900)
def test_a_hundred_thousand_files(t, kind):
    for number in range(1000):
        folder = t.path(f"d{number // 100}/m{number}")
        os.makedirs(folder)
        for index in range(100):
            with open(os.path.join(folder, f"f{index}"), "w", encoding="ascii") as file:
                file.write("x\n")
    result = t.sh("find . -name 'f*' | wc -l; rm -r d0; echo y >d1/m100/f0", opts=("--draft", "--draft-kind", kind), timeout=800)
    equal((result.code, result.out.strip()), (0, "100000"), "exit status and files", result)
    expect("10001 paths changed" in result.err, "the changes", result.err[:300])


@needs("node")
@cases(*KINDS)
@timeout(600)
def test_javascript_with_vite_and_vitest(t, kind):
    if not NPM or not os.access(os.path.join(NPM, "node_modules"), os.R_OK | os.X_OK):
        raise Skip("the npm packages are not installed, or this user cannot read them (make test-projects)")
    shutil.copytree(os.path.join(NPM, "node_modules"), t.path("node_modules"), symlinks=True)
    t.write("package.json", '{"name": "p", "type": "module", "private": true}\n')
    t.write(".gitignore", "node_modules/\ndist/\n")
    t.write("index.html", '<script type="module" src="/main.js"></script>\n')
    t.write("double.js", "export const double = (x) => 2 * x;\n")
    t.write("main.js", "import { double } from './double.js';\ndocument.body.textContent = double(2);\n")
    t.write("double.test.js", "import { expect, test } from 'vitest';\nimport { double } from './double.js';\n"
            "test('doubles', () => expect(double(2)).toBe(4));\n")
    works_in_a_draft(t, kind, "node_modules/.bin/vite build --logLevel error; test -s dist/index.html; node_modules/.bin/vitest run")
