"""The table of names: every line does what its class promises. A new line needs no new test."""

import fnmatch
import json
import os
import re

from harness import cases, contains, each_identity, equal, expect, lacks, needs, timeout
from harness.loop import LoopInPlace as Loop
from harness.nametable import CLASSES, lines, patterns, planted
from harness.repository import Repository

ANY_IDENTITY = "A name has its class for anybody; that the fence enforces each class is tested as each."

ROOT = os.path.join(os.path.dirname(__file__), "../..")
LINE = re.compile(r"([a-z-]+)  +([^ ]+)  +([^ ]+(?: [^ ]+)*)  +(https://[^ ]+|man:[^ ]+\([0-9]\)|docs/[^ ]+\.md)")
KEY = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


def append(paths, word="evil"):
    """A script that appends a word to files, and prints the names of those that it could not change."""
    folders = " ".join(f"./{os.path.dirname(path)}" for path in paths)
    return f"mkdir -p {folders} 2>/dev/null\n" + "".join(
        f"{{ echo {word} >>{path}; }} 2>/dev/null || echo {path}\n" for path in paths)


def same(seen, wanted, what):
    """The same paths; of many, only those that differ are shown."""
    equal((sorted(set(wanted) - set(seen)), sorted(set(seen) - set(wanted))), ([], []), f"missing and surplus: {what}")


def flagged(report):
    return [item["path"] for item in report["flagged"]]


def test_every_line_has_a_class_a_tool_and_a_source(t):
    wrong = [line for line in lines() if not (match := LINE.fullmatch(line)) or match[1] not in CLASSES]
    equal(wrong, [], "incomplete lines")
    keys = [tuple(line.lower().split()[:2]) for line in lines()]
    equal(sorted({key for key in keys if keys.count(key) > 1}), [], "lines that are there twice")


def test_no_line_was_lost(t):
    """Removing a line must change this number on purpose."""
    counts = {name: len(patterns(name)) for name in CLASSES}
    equal(counts, {"alone": 208, "start": 262, "ci": 77, "secret": 92, "secret-if-key": 11,
                   "secret-if-found": 69, "secret-or-certificate": 3}, "lines of each class")


def test_the_manual_agrees_with_the_table(t):
    rows = {"runs by itself": "alone", "runs when its tool starts": "start", "runs in CI": "ci", "secret": "secret",
            "secret, if it holds a credential": "secret-if-found", "secret, if it holds a private key": "secret-if-key",
            "secret, unless it holds only certificates": "secret-or-certificate"}
    with open(os.path.join(ROOT, "docs/fence.md"), encoding="utf-8") as file:
        cells = [line.split("|") for line in file if line.startswith("| ")]
    found = {name: cell[2] for name in rows for cell in cells if re.split(":| $", cell[1].strip())[0] == name}
    equal(sorted(found), sorted(rows), "rows of the manual")
    wrong = [(name, example) for name, text in found.items() for example in re.findall("`([^`]+)`", text)
             if not any(fnmatch.fnmatch(example.lower(), pattern.rstrip("/").lower()) for pattern in patterns(rows[name]))]
    equal(wrong, [], "examples that are not in the table")


@timeout(120)
@each_identity
def test_what_runs_by_itself_is_quarantined_when_it_is_new(t):
    paths = planted("alone")
    result = t.sh(append(paths))
    equal(result.out, "", "what could not be created", result.err[-2000:])
    equal([path for path in paths if t.exists(path)], [], "what stayed")
    kept = t.quarantined()
    equal(len(kept), len(paths), "what is in the quarantine")


@timeout(120)
@each_identity
def test_what_runs_by_itself_cannot_be_changed_when_it_exists(t):
    paths = planted("alone")
    for path in paths:
        t.write(path, "mine\n")
    result = t.sh(append(paths))
    same(result.out.split(), paths, "what was denied")
    equal([path for path in paths if t.read(path) != "mine\n"], [], "what was changed")
    equal(t.quarantined(), [], "the quarantine")
    equal(t.run(["sh", "-c", append(paths)]).out, "", "what is denied outside, the control")


@timeout(120)
@each_identity
def test_what_a_tool_obeys_when_it_starts_is_flagged_when_it_is_new_or_changed(t):
    paths = planted("start")
    result, report = t.report("sh", "-c", append(paths))
    equal(result.out, "", "what could not be created", result.err[-2000:])
    same(flagged(report), [t.path(path) for path in paths], "what is flagged as new")
    hidden = [path for path in paths if any(part.startswith((".env", "kubeconfig")) for part in path.split("/"))]
    changed = [path for path in paths if path not in hidden]
    result, report = t.report("true")
    equal((flagged(report), result.err), ([], ""), "what is flagged without a change")
    result, report = t.report("sh", "-c", append(changed))
    equal(result.out, "", "what could not be changed", result.err[-2000:])
    same(flagged(report), [t.path(path) for path in changed], "what is flagged as changed")


def test_the_notice_names_each_tool_once(t):
    """So that many files of one tool do not bury that of another."""
    result = t.sh("for i in 1 2 3 4 5 6 7 8 9; do mkdir $i; touch $i/conftest.py; done; touch .npmrc; mkdir .cargo; "
                  "touch .cargo/config.toml")
    notices = [line for line in result.err.splitlines() if "[ringfence]" in line]
    equal(len(notices), 1, "notices", result)
    text = " ".join(result.err.split())
    for part in ("review these new or changed files", "pytest: ", " and 8 more", "npm: ", "Cargo: "):
        contains(text, part, "the notice")


def test_a_loop_shows_files_that_tools_obey(t):
    loop = Loop(t, scripts={"all": "mkdir .cargo a; touch .cargo/config.toml conftest.py a/conftest.py; edit done yes"})
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    contains(result.out, "review: tools run or obey these when they start\n", "the progress")
    told = {item["by"]: (os.path.basename(item["path"]), item["files"]) for item in loop.history()[0]["flagged"]}
    equal(told, {"Cargo": ("config.toml", 1), "pytest": ("conftest.py", 2)}, "the history")


def test_a_file_that_gets_such_a_name_by_a_moved_folder_is_flagged(t):
    t.write("template/config.toml", "[build]\nrustc-wrapper = 'evil'\n")
    _, report = t.report("mv", "template", ".cargo")
    equal(flagged(report), [t.path(".cargo/config.toml")], "what is flagged")


def test_a_file_that_comes_into_effect_elsewhere_is_flagged(t):
    t.write("vendor/.cargo/config.toml", "[build]\nrustc-wrapper = 'evil'\n")
    _, report = t.report("mv", "vendor/.cargo", ".")
    equal(flagged(report), [t.path(".cargo/config.toml")], "what is flagged")


def test_a_symlink_whose_target_was_changed_is_flagged(t):
    t.write("config/npmrc", "registry=https://example.org/\n")
    os.symlink("config/npmrc", t.path(".npmrc"))
    equal(t.report("true")[1]["flagged"], [], "what is flagged without a change")
    _, report = t.report("sh", "-c", "echo script-shell=./evil >>config/npmrc")
    equal(flagged(report), [t.path(".npmrc")], "what is flagged")


def test_many_files_of_one_tool_do_not_bury_that_of_another(t):
    script = ("import os\nfor i in range(5100):\n    os.makedirs(f'a/{i}')\n    open(f'a/{i}/conftest.py', 'w').close()\n"
              "os.makedirs('a/0/x/y')\nopen('a/0/x/y/.bazelrc', 'w').close()\n")
    _, report = t.report("python3", "-c", script)
    expect(len(report["flagged"]) in (5000, 5001), "what is flagged", len(report["flagged"]))
    expect(t.path("a/0/x/y/.bazelrc") in flagged(report), "the other tool's file")


def test_a_symlink_in_place_of_a_folder_changes_nothing(t):
    result, report = t.report("sh", "-c", "mkdir -p x/mise y; echo evil >x/mise/config.toml; echo evil >y/config.toml; "
                              "ln -s x .config; ln -s y .cargo")
    expect(not os.path.lexists(t.path(".config")), "mise must not find its settings", result)
    equal(flagged(report), [t.path(".cargo")], "what is flagged")


@each_identity
def test_an_existing_symlink_in_place_of_a_folder_protects_its_target(t):
    t.write("x/other", "mine")
    os.symlink("x", t.path(".config"))
    result = t.sh("mkdir x/mise && echo evil >x/mise/config.toml")
    expect(not t.exists(".config/mise/config.toml"), "mise must not find its settings", result)


@timeout(120)
def test_a_name_that_only_resembles_one_is_left_alone(t):
    names = ("cargo/config.toml", "config", ".config/other", ".github/FUNDING.yml", "bin/pyth", "model.pth", "src/mise.rs",
             "lefthook", "bazelrc", "crush.jsonx", "workflows/x.yml", "main.py", ".gitignore", ".editorconfig")
    result, report = t.report("sh", "-c", append(names))
    equal((flagged(report), result.out, result.err), ([], "", ""), "the run")
    equal([name for name in names if not t.exists(name)], [], "what is gone")


@needs("git")
@timeout(180)
def test_apply_asks_about_every_line(t):
    paths = [path for path in planted("alone", "start", "ci") if "/.git/" not in path and not path.endswith("/.git")]
    loop = Loop(t, scripts={"1": "edit done yes"})
    repo = Repository(t, loop.project, {"a": "a\n", ".gitignore": "/script\n/agent.sh\n/done\n"})
    equal(loop.run().code, 0, "exit status of run")
    t.at_home(".gitconfig", "[user]\n\tname = At Home\n\temail = home@example.org\n")
    repo.commit(f"ringfence/{loop.status()['id']}", {**{path: "evil\n" for path in paths}, "a": "b\n", "src/c": "c\n"})
    result = loop.ringfence("apply", "--dry-run", "--json")
    asked = [item["path"] for item in json.loads(result.out)["executed"]]
    same(asked, paths, "what is asked about")
    result = loop.ringfence("apply")
    equal(result.code, 125, "exit status", result)
    lacks(result.err, "src/c", "what is asked about")


# Secrets

@timeout(120)
@each_identity
def test_secrets_are_hidden(t):
    found = {path: KEY for path in planted("secret")}
    found.update({path: KEY for path in planted("secret-or-certificate") if "/inside" not in path})
    found.update({path: KEY for path in planted("secret-if-key", "secret-if-found") if "/inside" not in path})
    paths = [f"{number}/{path}" for number, path in enumerate(found)]
    for path, text in zip(paths, found.values()):
        t.write(path, text)
    script = "".join(f"cat {path} >/dev/null 2>&1 && echo {path}\n" for path in paths) + "true"
    equal(t.sh(script).out.split(), [], "what can be read inside")
    equal(t.run(["sh", "-c", script]).out.split(), paths, "what can be read outside, the control")


@cases(".npmrc", "server.key", ".aws/credentials", "main-credentials.json")
@each_identity
def test_a_secret_that_the_user_names_can_be_read(t, name):
    t.write(name, "token = hunter2\n")
    equal(t.fence("cat", name).code, 1, "exit status without a rule")
    equal(t.works("cat", name, opts=("--read", name)), "token = hunter2\n", "what is read")


@cases("mkfifo .npmrc; mkfifo server.pem", "ln -s /dev/tty .npmrc; ln -s /dev/zero ca.pem", "ln -s .npmrc .npmrc",
       "mkdir .npmrc ca.pem")
@each_identity
def test_looking_at_content_never_blocks(t, script):
    t.run(["sh", "-c", script])
    equal(t.works("echo", "fine"), "fine\n", "the command")


def test_a_symlink_is_judged_by_its_target(t):
    t.write("config/public", "registry=https://example.org/\n")
    t.write("config/private", "//example.org/:_authToken=hunter2\n")
    os.symlink("config/public", t.path(".npmrc"))
    os.symlink("../config/private", t.write("sub/other").replace("other", ".npmrc"))
    equal(t.works("cat", ".npmrc"), "registry=https://example.org/\n", "without a token")
    for name in ("sub/.npmrc", "config/private"):
        equal(t.fence("cat", name).code, 1, "exit status with a token")
    contains(t.read("sub/.npmrc"), "hunter2", "the control")


@cases("x" * (300 << 10), "tokentoken" * (25 << 10))
@timeout(60)
def test_a_file_that_is_too_large_for_a_look_is_hidden_and_a_hard_one_is_quick(t, text):
    t.write(".npmrc", text)
    equal(t.fence("cat", ".npmrc").code, 1 if len(text) > 256 << 10 else 0, "exit status")


@timeout(120)
def test_a_file_that_could_be_a_secret_but_is_not_stays_readable(t):
    paths = {}
    for name, text in (("secret-if-key", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"), ("secret-or-certificate", CERTIFICATE),
                       ("secret-if-found", "registry=https://example.org/\ntoken=${TOKEN}\npassword =\nmax_tokens: 4096\n")):
        paths.update({path: text for path in planted(name) if not path.endswith("/inside")})
    for path, text in paths.items():
        t.write(path, text)
    result = t.sh("cat f*/* f*/.[a-z]* f*/.bundle/* 2>&1 >/dev/null | grep -v 'Is a directory'; "
                  + "".join(f"cmp -s {path} {path} || echo {path}\n" for path in paths))
    equal(result.out, "", "what cannot be read")
