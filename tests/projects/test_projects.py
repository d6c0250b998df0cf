"""Real projects are built and tested in a draft, of both kinds, as outside.

In each of them a draft builds and tests the project, and does so again with nothing to do; the
user's folder stays as it was; `apply` brings the result, which works outside; and another draft of
the project that was built outside finds everything up to date.
"""

import os
import shutil
import zipfile

from harness import Skip, cases, equal, expect, needs, timeout, user_only
from harness.drafts import drafts
from harness.edits import difference, listing

KINDS = ("overlay", "copy")
GIT = "git -c user.name=T -c user.email=t@example.org -c protocol.file.allow=always"
NPM = os.environ.get("RINGFENCE_TEST_PROJECTS", "")
LIMIT_S = 300  # of one command

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


def outside(t, script, folder=None):
    return t.run(["sh", "-ec", script], cwd=folder or t.project, timeout=LIMIT_S)


def inside(t, script, *opts):
    return t.fence("sh", "-ec", script, opts=opts, timeout=LIMIT_S)


def set_up(t, script, folder=None):
    result = outside(t, script, folder)
    equal(result.code, 0, "exit status of the set-up", result)


def works_in_a_draft(t, kind, script):
    """Runs a script in a new draft, which leaves the project as it is. Returns the draft's id. If it
    fails, the control says whether it works outside."""
    before = listing(t.project, skip=())
    result = inside(t, script, "--draft", "--draft-kind", kind)
    if result.code:
        control = os.path.join(t.outside, "control")
        shutil.copytree(t.project, control, symlinks=True)
        if (failed := outside(t, script, control)).code:
            raise Skip(f"it does not work outside: {(failed.err + failed.out)[-300:]}")
    equal(result.code, 0, "exit status in a draft", result)
    equal(difference(before, listing(t.project, skip=())), "", "changes in the project")
    return drafts(t)[-1]["id"]


def apply(t, draft):
    result = t.run([t.ringfence, "apply", draft, "--yes"], timeout=LIMIT_S)
    equal(result.code, 0, "exit status of apply", result)


def builds_as_outside(t, kind, build, again, use):
    """build: builds and tests. again: fails unless everything is up to date. use: uses the result
    that was applied."""
    draft = works_in_a_draft(t, kind, build)
    result = inside(t, again, "--in", draft)
    equal(result.code, 0, "exit status of the second run in the draft", result)
    apply(t, draft)
    for script, what in ((use, "the use of the result"), (build, "the build, outside"), (again, "the second run, outside")):
        result = outside(t, script)
        equal(result.code, 0, f"exit status of {what}", result)
    result = inside(t, again, "--draft", "--draft-kind", kind)
    equal(result.code, 0, "exit status of the second run, in a new draft", result)


def unless(command, word):
    """A script that fails if the command fails, or prints the word."""
    return f"out=$({command} 2>&1) || {{ echo \"$out\"; exit 1; }}; case $out in *'{word}'*) echo \"$out\"; exit 1 ;; esac"


def only_if(command, word):
    """A script that fails if the command fails, or does not print the word."""
    return f"out=$({command} 2>&1) || {{ echo \"$out\"; exit 1; }}; case $out in *'{word}'*) ;; *) echo \"$out\"; exit 1 ;; esac"


@cases(*KINDS)
def test_links_modes_mappings_locks_and_watches(t, kind):
    t.write("old", "x" * 4096)
    t.write("folder/file", "x")
    t.write("script.py", FILES)
    works_in_a_draft(t, kind, "python3 script.py")


@cases(*KINDS)
def test_a_database_with_a_write_ahead_log(t, kind):
    t.write("script.py", SQLITE)
    set_up(t, "python3 -c \"import sqlite3; d = sqlite3.connect('data.db'); d.execute('create table t (x)'); "
           "d.execute('insert into t values (-1)'); d.commit()\"")
    works_in_a_draft(t, kind, "python3 script.py")


def write_wheel(t, path):
    """A package of Python, as pip installs it."""
    os.makedirs(os.path.dirname(t.path(path)))
    with zipfile.ZipFile(t.path(path), "w") as wheel:
        info = "twice-1.0.dist-info"
        wheel.writestr("twice.py", "def twice(x):\n    return 2 * x\n\ndef main():\n    print(twice(2))\n")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: twice\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/entry_points.txt", "[console_scripts]\ntwice = twice:main\n")
        wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in (
            "twice.py", f"{info}/METADATA", f"{info}/WHEEL", f"{info}/entry_points.txt", f"{info}/RECORD")))


@user_only
@cases(*KINDS)
@timeout(900)
def test_python_with_pip_in_a_virtual_environment(t, kind):
    write_wheel(t, "wheels/twice-1.0-py3-none-any.whl")
    t.write("tests/test_twice.py", "import unittest\nimport twice\n\nclass Test(unittest.TestCase):\n"
            "    def test_twice(self):\n        self.assertEqual(twice.twice(2), 4)\n")
    pip = "env PIP_DISABLE_PIP_VERSION_CHECK=1 .venv/bin/pip install --no-index --find-links wheels twice"
    builds_as_outside(t, kind, f"/usr/bin/python3 -m venv .venv; {pip}; .venv/bin/python -m unittest discover -s tests",
                      only_if(pip, "already satisfied"), only_if(".venv/bin/twice", "4"))


@needs("cmake", "cc")
@cases(*KINDS)
@timeout(900)
def test_c_with_cmake(t, kind):
    t.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nenable_testing()\n"
            "add_library(part part.c)\nadd_executable(main main.c)\ntarget_link_libraries(main part)\nadd_test(NAME main COMMAND main)\n")
    t.write("part.c", "int part(void) { return 0; }\n")
    t.write("main.c", "int part(void);\nint main(void) { return part(); }\n")
    builds_as_outside(t, kind, "cmake -S . -B build >/dev/null; cmake --build build >/dev/null; cd build; ctest --output-on-failure",
                      unless("cmake --build build", "Building"), "build/main")


@needs("go")
@user_only
@cases(*KINDS)
@timeout(900)
def test_go(t, kind):
    t.write("go.mod", "module example.org/p\n\ngo 1.19\n")
    t.write("p.go", "package main\n\nfunc Twice(x int) int { return 2 * x }\n\nfunc main() { println(Twice(2)) }\n")
    t.write("p_test.go", "package main\n\nimport \"testing\"\n\nfunc TestTwice(t *testing.T) {\n\tif Twice(2) != 4 {\n\t\tt.Fail()\n\t}\n}\n")
    env = "export GOCACHE=$PWD/.cache GOPROXY=off GOFLAGS=-mod=mod; "
    t.write(".gitignore", ".cache/\n")
    builds_as_outside(t, kind, f"{env} go vet .; go test .; go build -o program .", f"{env} {only_if('go test .', '(cached)')}",
                      only_if("./program", "4"))


@needs("/usr/bin/cargo")
@user_only
@cases(*KINDS)
@timeout(900)
def test_rust_with_cargo(t, kind):
    t.write("Cargo.toml", '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\ntwice = { path = "vendor/twice" }\n')
    t.write("src/main.rs", 'fn main() { println!("{}", twice::twice(2)); }\n')
    t.write("vendor/twice/Cargo.toml", '[package]\nname = "twice"\nversion = "0.1.0"\nedition = "2021"\n')
    t.write("vendor/twice/src/lib.rs", "pub fn twice(x: i32) -> i32 { 2 * x }\n\n#[test]\nfn doubles() { assert_eq!(twice(2), 4); }\n")
    cargo = "export CARGO_HOME=$PWD/.cargo-home; /usr/bin/cargo"
    builds_as_outside(t, kind, f"{cargo} test --offline -q --workspace; {cargo} build --offline -q",
                      unless(f"{cargo} build --offline -v", "Compiling"), only_if("cat Cargo.lock; target/debug/p", "4"))


POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>p</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency>
  </dependencies>
</project>
"""


@needs("mvn")
@user_only
@cases(*KINDS)
@timeout(1800)
def test_java_with_maven(t, kind):
    """Java with maven, whose plugins are those of Debian."""
    t.write("pom.xml", POM)
    t.write("settings.xml", "<settings><mirrors><mirror><id>debian</id><mirrorOf>*</mirrorOf>"
            "<url>file:///usr/share/maven-repo</url></mirror></mirrors></settings>\n")
    t.write("src/main/java/p/P.java", "package p;\n\npublic class P {\n\tpublic static int twice(int x) { return 2 * x; }\n"
            "\tpublic static void main(String[] words) { System.out.println(twice(2)); }\n}\n")
    t.write("src/test/java/p/PTest.java", "package p;\n\nimport static org.junit.Assert.assertEquals;\n\npublic class PTest {\n"
            "\t@org.junit.Test public void doubles() { assertEquals(4, P.twice(2)); }\n}\n")
    t.write(".gitignore", ".m2/\n")
    maven = "mvn -B -s settings.xml -Dmaven.repo.local=$PWD/.m2"
    builds_as_outside(t, kind, f"{maven} -q package", unless(f"{maven} compile", "Compiling"),
                      only_if("java -cp target/p-1.jar p.P", "4"))


def npm_project(t):
    if not NPM:
        raise Skip("the npm packages could not be downloaded (make test-projects)")
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(NPM, name), t.project)
    shutil.copytree(os.path.join(NPM, "cache"), t.path(".npm"))
    t.write(".gitignore", "node_modules/\n.npm/\n")


NPM_CI = "npm ci --offline --cache .npm --no-audit --no-fund"
NPM_AGAIN = only_if("npm install --offline --cache .npm --no-audit --no-fund", "up to date")


@needs("node", "npm")
@user_only
@cases(*KINDS)
@timeout(900)
def test_javascript_with_npm_vite_and_vitest(t, kind):
    npm_project(t)
    t.write("index.html", '<script type="module" src="/main.js"></script>\n')
    t.write("twice.js", "export const twice = (x) => 2 * x;\n")
    t.write("main.js", "import { twice } from './twice.js';\ndocument.body.textContent = twice(2);\n")
    t.write("twice.test.js", "import { expect, test } from 'vitest';\nimport { twice } from './twice.js';\n"
            "test('doubles', () => expect(twice(2)).toBe(4));\n")
    remove = "npm uninstall --offline --cache .npm --no-audit --no-fund vitest >&2; test ! -e node_modules/vitest"
    builds_as_outside(t, kind, f"{NPM_CI}; npx vite build --logLevel error; npx vitest run", NPM_AGAIN, "test -s dist/index.html")
    result = inside(t, f"{remove}; {NPM_CI}; npx vite build --logLevel error", "--draft", "--draft-kind", kind)
    equal(result.code, 0, "exit status with packages of the project removed and installed again", result)
    expect(t.exists("node_modules/vitest"), "the project's own packages are still there")


BROWSER = """import http from 'node:http';
import { chromium } from 'playwright-core';

const server = http.createServer((request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<button onclick="document.title = 2 * 2">twice</button>');
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium' });
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${server.address().port}/`);
await page.click('button');
console.log(`the title is ${await page.title()}`);
await page.screenshot({ path: 'picture.png' });
await browser.close();
server.close();
"""


@needs("node", "npm", "/usr/bin/chromium")
@cases(*KINDS)
@timeout(900)
def test_a_browser_with_playwright(t, kind):
    npm_project(t)
    set_up(t, NPM_CI)
    t.write("browser.mjs", BROWSER)
    draft = works_in_a_draft(t, kind, only_if("node browser.mjs", "the title is 4"))
    apply(t, draft)
    expect(t.read("picture.png").startswith("\udc89PNG"), "the picture was applied")


@needs("git", "git-lfs")
@cases(*KINDS)
def test_git_with_lfs(t, kind):
    t.write("picture.bin", "1" * 5000)
    t.write("text", "1\n")
    set_up(t, f"git init -q; git lfs install --local; git lfs track '*.bin'; git add .; {GIT} commit -qm one")
    whole = "test -z \"$(git status --porcelain)\"; git lfs fsck; git cat-file blob HEAD:picture.bin | grep -q oid"
    draft = works_in_a_draft(t, kind, f"printf 2 >>picture.bin; printf new >new.bin; {GIT} add -A; {GIT} commit -qm two; {whole}; "
                             "git checkout -q HEAD~1; test $(wc -c <picture.bin) = 5000; git checkout -q -; test $(wc -c <picture.bin) = 5001")
    apply(t, draft)
    equal((len(t.read("picture.bin")), t.read("new.bin")), (5001, "new"), "the files that were applied")
    result = outside(t, f"{GIT} add -A; {GIT} commit -qm two; {whole}; test $(git lfs ls-files | wc -l) = 2")
    equal(result.code, 0, "exit status of a commit of what was applied", result)


@needs("git")
@cases(*KINDS)
def test_git_with_submodules(t, kind):
    other = os.path.join(t.outside, "other")
    t.write(os.path.join(other, "file"), "1\n")
    set_up(t, f"git init -q; git add file; {GIT} commit -qm one", other)
    set_up(t, f"git init -q; {GIT} submodule add -q {other} sub; mkdir -p src; echo 1 >src/a; git add .; {GIT} commit -qm one")
    draft = works_in_a_draft(t, kind, f"git submodule status; git mv src lib; (cd sub; echo 2 >file; {GIT} commit -qam two); git add sub; "
                             f"{GIT} commit -qm two; git stash list; git checkout -q -b side HEAD~1; git checkout -q -; "
                             f"test -z \"$(git status --porcelain)\"; {GIT} gc -q; git fsck")
    apply(t, draft)
    equal((t.exists("src"), t.read("lib/a"), t.read("sub/file")), (False, "1\n", "2\n"), "what was applied")


@user_only
@cases(*KINDS)
@timeout(900)
def test_a_hundred_thousand_files(t, kind):
    for number in range(1000):
        folder = t.path(f"d{number // 100}/m{number}")
        os.makedirs(folder)
        for index in range(100):
            with open(os.path.join(folder, f"f{index}"), "w", encoding="ascii") as file:
                file.write("x\n")
    result = inside(t, "find . -name 'f*' | wc -l; rm -r d0; echo y >d1/m100/f0", "--draft", "--draft-kind", kind)
    equal((result.code, result.out.strip()), (0, "100000"), "exit status and files", result)
    expect("10001 paths changed" in result.err, "the changes", result.err[:300])
    expect(t.exists("d0/m0/f0"), "the project is as it was")
    apply(t, drafts(t)[-1]["id"])
    equal((t.exists("d0"), t.read("d1/m100/f0"), t.read("d9/m999/f99")), (False, "y\n", "x\n"), "what was applied")
