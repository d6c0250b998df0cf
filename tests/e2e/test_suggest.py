"""ringfence suggest: rules for what was denied, tried before they are offered."""

import json
import os

from harness import cases, contains, each_identity, equal, expect, lacks

ANY_IDENTITY = "Rules are derived from a report; who may do what in a fence is tested elsewhere."


def suggest(t, *opts, **options):
    return t.run([t.ringfence, "suggest", *opts], **options)


def offers(t, *opts):
    result = suggest(t, "--json", *opts)
    equal(result.code, 0, "exit status", result)
    answer = json.loads(result.out)
    return [(o["key"], o["value"]) for o in answer["offered"]], answer["withheld"]


def own_config(t, text=None):
    path = os.path.join(t.home, ".config/ringfence/config.yml")
    if text is not None:
        t.write(path, text, 0o600)
    return path


def shared(t):
    folder = os.path.join(t.outside, "shared")
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o777)
    return folder


def patch(t, diff):
    result = t.run(["patch", "-s", "-p0", "-d", "/"], input=diff)
    equal(result.code, 0, "exit status of patch", result)


@each_identity
def test_a_folder_that_was_written_to_is_offered(t):
    folder = shared(t)
    equal(t.sh(f"echo x > {folder}/file").code, 2, "denied")
    offered, withheld = offers(t)
    equal((offered, withheld), ([("write", folder)], []), "what is offered")


@each_identity
def test_the_diff_can_be_applied_and_then_it_works(t):
    folder = shared(t)
    script = f"echo x > {folder}/file"
    for before in ("", "net: none\n", "# mine\nwrite:\n    - src\nnet: none\n", "read:\n- /usr/share\n"):
        os.makedirs(t.path("src"), exist_ok=True)
        own_config(t, before.replace("src", t.path("src")))
        if not before:
            os.unlink(own_config(t))
        t.sh(script)
        diff = suggest(t).out
        contains(diff, f'- "{folder}"' if not folder.startswith(t.home) else "- \"~", "the diff")
        os.makedirs(os.path.dirname(own_config(t)), exist_ok=True)
        patch(t, diff)
        result = t.sh(script)
        equal(result.code, 0, f"allowed now (before: {before!r})", result)
        os.unlink(os.path.join(folder, "file"))


def test_the_project_stays_writable_when_a_place_outside_is(t):
    folder = shared(t)
    own_config(t, f"write:\n  - {folder}\n")
    equal(t.sh("echo x > file").code, 0, "writing the project")


def test_many_files_of_a_folder_are_offered_as_the_folder(t):
    folder = shared(t)
    for name in "abc":
        t.write(f"{folder}/{name}", "x")
        os.chmod(f"{folder}/{name}", 0o666)
    t.sh(f"for f in a b c; do echo y >> {folder}/$f; done")
    equal(offers(t)[0], [("write", folder)], "what is offered")


@cases(".git/hooks/pre-commit", ".vscode/tasks.json", ".claude/settings.json")
def test_what_the_host_executes_is_never_offered(t, path):
    t.write(path, "x")
    t.sh(f"echo evil >> {path}")
    offered, withheld = offers(t)
    equal(offered, [], "what is offered")
    expect(any(path in item["target"] for item in withheld), "it is said why", withheld)


@cases(".env", "key.pem")
def test_a_secret_is_never_offered(t, path):
    t.write(path, "-----BEGIN PRIVATE KEY-----\nx")
    t.sh(f"cat {path}", opts=("--trace-reads",))
    equal(offers(t)[0], [], "what is offered")


@cases("~/.ssh/id_rsa", "~/.aws/credentials", "~/.netrc")
def test_credentials_at_home_are_never_offered(t, path):
    full = t.at_home(path[2:], "x")
    t.sh(f"cat {full}; echo x >> {full}", opts=("--trace-reads",))
    equal(offers(t)[0], [], "what is offered")


@cases("echo x > /etc/x", "echo x > /usr/bin/x", "unshare -U true", "mount -t tmpfs x /tmp")
def test_the_system_is_never_offered(t, script):
    t.sh(script)
    equal(offers(t)[0], [], "what is offered")


def test_a_file_outside_that_was_read_is_offered_with_its_risk(t):
    file = t.write(os.path.join(t.outside, "notes.txt"), "x", 0o644)
    t.sh(f"cat {file}", opts=("--trace-reads",))
    result = suggest(t, "--json")
    offered = json.loads(result.out)["offered"]
    equal([(o["key"], o["value"]) for o in offered], [("read", file)], "what is offered")
    contains(offered[0]["risk"], "leak", "the risk")


def test_a_report_can_be_named(t):
    folder = shared(t)
    report = os.path.join(t.outside, "r.json")
    t.sh(f"echo x > {folder}/f", opts=("--report", report))
    t.works("true")
    contains(suggest(t).err, "the last run here has no recorded denials", "the last run")
    equal(offers(t, report)[0], [("write", folder)], "what is offered")


@cases("", "{}", "[]", "null", '{"denials": 3}', "\xff\xfe")
def test_a_file_that_is_not_a_report_is_refused(t, text):
    report = t.write(os.path.join(t.outside, "r.json"), text)
    result = suggest(t, "--json", report)
    equal((result.code, result.out), (125, ""), "the refusal", result)
    contains(result.err, "report", "the reason")


@cases('{"denials": [3, {}, {"kind": "write"}]}', '{"denials": [{"kind": "write", "target": "../../etc/passwd"}]}',
       '{"denials": [{"kind": "write", "target": "/"}, {"kind": "write", "target": "/etc/shadow"}]}')
def test_a_report_of_what_cannot_be_allowed_offers_nothing(t, text):
    report = t.write(os.path.join(t.outside, "r.json"), text)
    result = suggest(t, "--json", report)
    equal((result.code, json.loads(result.out)["offered"]), (0, []), "what is offered", result)


def test_a_report_that_lies_about_a_secret_gets_nothing(t):
    """It may come from anywhere; the rules that it would need are judged like any others."""
    t.write(".env", "x")
    denials = [{"kind": kind, "target": target} for kind in ("read", "write", "create")
               for target in (t.path(".env"), t.path(".git/hooks/x"), f"{t.home}/.bashrc", f"{t.home}/.ssh/x",
                              t.home, "/", t.state)]
    report = t.write(os.path.join(t.outside, "r.json"), json.dumps({"denials": denials}))
    equal(offers(t, report)[0], [], "what is offered")


@each_identity
def test_nothing_is_changed_by_it(t):
    folder = shared(t)
    t.sh(f"echo x > {folder}/file")
    suggest(t)
    expect(not os.path.exists(own_config(t)), "no file is made")
    equal(t.sh(f"echo x > {folder}/file").code, 2, "still denied")


def test_without_a_run_it_says_so(t):
    result = suggest(t)
    equal((result.code, result.out), (0, ""), "nothing to offer", result)
    contains(result.err, "the last run here has no recorded denials; denied reads are recorded only with: "
             "ringfence exec --trace-reads -- COMMAND", "what is said")
    equal(offers(t), ([], []), "as JSON")


def test_a_project_that_names_what_may_be_written_keeps_it(t):
    """The user's own list replaces the project's, so the suggestion includes the project's entries."""
    os.mkdir(t.path("src"))
    t.write("out.txt", "x")
    t.write("ringfence.yml", "write:\n  - src\n")
    t.sh("echo y >> out.txt")
    diff = suggest(t).out
    contains(diff, "all projects", "the risk")
    os.makedirs(os.path.dirname(own_config(t)))
    patch(t, diff)
    os.chmod(own_config(t), 0o600)
    result = t.sh("echo z >> out.txt && touch src/new && ! touch other 2>/dev/null")
    equal(result.code, 0, "what may be written now", result)


@cases("read: [/usr/share]\n", "read: []\n", "net: none", "write: /tmp/x\n")
def test_a_file_that_no_diff_can_extend_is_left_to_the_person(t, text):
    folder = shared(t)
    file = t.write(os.path.join(t.outside, "notes.txt"), "x", 0o644)
    own_config(t, text)
    t.sh(f"cat {file}; echo x > {folder}/f", opts=("--trace-reads",))
    result = suggest(t)
    if "+++" in result.out:
        patch(t, result.out)
        equal(t.run([t.ringfence, "config"]).code, 0, "the file can still be read", t.read(own_config(t)))
    else:
        contains(result.err, "by hand", "stderr")
        contains(result.out, folder, "what to add")


def test_names_from_a_report_are_shown_harmless(t):
    report = t.write(os.path.join(t.outside, "r.json"), json.dumps(
        {"denials": [{"kind": "read\x1b[31m", "target": "/x\x1b[2J"}, {"kind": "write", "target": "/srv/\u202e"}]}))
    result = suggest(t, report)
    contains(result.out + result.err, "/srv/", "what is shown")
    for text in ("\x1b", "\u202e"):
        lacks(result.out + result.err, text, "what is shown")
