"""ringfence policy: which rules apply here, and why."""

import json
import os

from harness import cases, contains, each_identity, equal, expect, lacks

ANY_IDENTITY = "Rules are explained, and nothing is started."


def policy(t, *opts, **options):
    return t.run([t.ringfence, "policy", *opts], **options)


def as_json(t, *opts, **options):
    result = policy(t, "--json", *opts, **options)
    equal(result.code, 0, "exit status", result)
    return json.loads(result.out)


def why(t, question, *opts, **options):
    return as_json(t, "--why", question, *opts, **options)


@each_identity
def test_every_rule_is_listed_with_its_origin(t):
    t.write(".env", "the secret")
    t.write(".git/config", "x")
    t.write("data/x", "x")
    t.write("ringfence.yml", "hide:\n  - data\n")
    report = as_json(t, "--read", t.outside)
    rules = {rule["path"]: rule for rule in report["rules"]}
    equal(rules[t.project]["access"], "writable", "the project")
    equal((rules[t.path(".env")]["access"], rules[t.path(".env")]["origin"]), ("hidden", "built-in"), ".env")
    equal((rules[t.path(".git")]["access"], rules[t.path(".git")]["origin"]), ("readable", "built-in"), ".git")
    equal((rules[t.path("data")]["access"], rules[t.path("data")]["origin"]), ("hidden", "ringfence.yml:2"),
          "the project's rule")
    equal((rules[t.outside]["access"], rules[t.outside]["origin"]), ("readable", "--read"), "the option's rule")
    equal(report["net"], {"mode": "none", "origin": "built-in", "allow": []}, "the network")
    expect("mount" in report["refused_syscalls"], "refused calls", report["refused_syscalls"])
    expect("/tmp" in report["private"] and t.home in report["private"], "private places", report)
    expect("PATH" in report["environment"], "the environment", report)


def test_the_text_says_the_same(t):
    t.write(".env", "the secret")
    result = policy(t, "--memory", "1G")
    equal(result.code, 0, "exit status", result)
    for text in (t.project, ".env", "hidden", "writable", "network", "none", "memory 1G", "--memory"):
        contains(result.out, text, "the policy")
    lacks(result.out, "the secret", "the policy")


def test_what_a_loop_gets_of_git_is_told_for_commands_and_for_loops(t):
    t.write(".git/HEAD", "ref: refs/heads/main\n")
    dry = ("run", "x", "--agent-command", "true", "--check", "true", "--dry-run")
    def said(text):
        return [line.split()[:2] for line in text.splitlines() if " .git " in f"{line} "]
    private, own = ["private", ".git"], ["readable", ".git"]
    equal(said(policy(t).out), [own, ["in", "a"]], "of a command, and of a loop beside it")
    contains(why(t, ".git/config")["note"], "in a loop, a private, writable git directory takes its place", "why")
    equal(as_json(t)["private_git"], True, "as JSON")
    loop = t.run([t.ringfence, *dry]).out
    contains(loop, ".git is private, and the user gets your commits", "the prompt of a loop")
    equal(said(loop.partition("# The policy")[2]), [private], "the policy of a loop")
    for words in (("--git", "read-only", "--workspace", "in-place"), ("--read", ".git")):
        equal(said(t.run([t.ringfence, *dry, *words]).out.partition("# The policy")[2]), [own], f"with {words}")
    t.write("ringfence.yml", "git: read-only\n")
    equal(said(policy(t).out), [own], "where loops have none of their own")
    equal(as_json(t)["private_git"], False, "the same as JSON")
    os.unlink(t.path(".git/HEAD"))
    os.unlink(t.path("ringfence.yml"))
    equal(said(policy(t).out), [own], "what is no repository")


def test_pins_are_listed_with_their_reasons(t):
    def pins():
        report = as_json(t)
        return {pin["pattern"]: (pin["kind"], pin["why"], pin["origin"])
                for pin in reversed(report["pins"])}, report["no_pins"]

    def words(result):
        return " ".join(result.out.split())

    equal(pins(), ({}, "there is no check"), "without a check")
    contains(policy(t).out, "nothing: there is no check", "the text without a check")
    t.write("Makefile", "test:\n\ttrue\n")
    found = pins()[0]
    equal(found["Makefile"], ("script", "read by make, which the check 'make test' names", "found in the project"),
          "what the check of the project reads")
    t.write("check.sh", "true")
    t.write("ringfence.yml", "pin: [data/]\nunpin: [spec/]\n")
    t.write(os.path.join(t.home, ".config/ringfence/config.yml"), "check: ./check.sh fast\nunpin: [e2e/]\n")
    listed, nothing = pins()
    equal(nothing, None, "pins there are")
    for pattern, expected in {
            "/check.sh": ("script", "named by the check './check.sh fast'", "~/.config/ringfence/config.yml:1"),
            "data/": ("chosen", "named by pin", "ringfence.yml:1"),
            "tests/": ("test", "tests, fixtures and recorded results", "built-in"),
            "conftest.py": ("runner", "configuration of a test runner, linter or type checker", "built-in"),
            "yarn.lock": ("lockfile", "a lockfile whose manifest is unchanged", "built-in"),
            "Makefile": None}.items():
        equal(listed.get(pattern), expected, pattern)
    for line in ("pinned named by pin, ringfence.yml:1: data/ pinned",
                 "pinned named by the check './check.sh fast', ~/.config/ringfence/config.yml:1: /check.sh pinned"):
        contains(words(policy(t)), line, "the text")
    loop = ("run", "x", "--agent-command", "true", "--check", "true", "--unpin", "e2e", "--dry-run")
    contains(words(t.run([t.ringfence, *loop])), "unpinned named by unpin, --unpin: e2e", "the policy of a loop")
    contains(t.run([t.ringfence, *loop, "--check-view=false"]).out, "nothing: check-view is false", "switched off")


def test_limits_have_values_and_origins(t):
    t.write("ringfence.yml", "processes: 100\n")
    report = as_json(t, "--memory", "512M", "--timeout", "30s")
    equal(report["limits"], {"memory": {"value": 512 << 20, "origin": "--memory"},
                             "processes": {"value": 100, "origin": "ringfence.yml:1"},
                             "time": {"value": 30000, "origin": "--timeout"}}, "limits")


def test_what_is_not_active_is_named(t):
    t.write("ringfence.yml", "net: open\n")
    report = as_json(t)
    equal(report["net"]["mode"], "none", "the network")
    contains(report["inactive"][0], "ringfence.yml:1", "what is not active")
    contains(policy(t).err, "inactive", "stderr")


@each_identity
def test_nothing_is_started_and_nothing_is_written(t):
    before = sorted(os.listdir(t.project))
    policy(t)
    policy(t, "--why", ".env")
    equal(sorted(os.listdir(t.project)), before, "the project")
    equal(t.runs(), [], "runs")


PATHS = {
    "src/x.c": ("writable", "hide"),
    ".env": ("hidden", "read"),
    ".git/config": ("readable", "write"),
    "/usr/bin/env": ("readable", None),
    "/etc/passwd": ("readable", None),
    "/tmp/no such file of a test": ("private", None),
    "~/.ssh/id_rsa": ("private", "read"),
    "~/.ssh": ("private", None),
    "/var/log": ("absent", None),
    "/etc/shadow": ("absent", "read"),
    "./calcc.py": ("writable", "hide"),
    "/var/lib/dpkg/status": ("absent", "read"),
}


@cases((".cargo/config.toml", "run or obeyed when its tool starts (Cargo), so a change is reported after the run"),
       (".mise.toml", "run or obeyed unasked (mise): it can be created, but is moved to quarantine after the run"),
       (".envrc", "run or obeyed unasked (direnv): it can be created, but is moved to quarantine after the run"),
       ("AGENTS.md", "run or obeyed when its tool starts (agents)"),
       (".github/workflows/x.yml", "run or obeyed after a push (GitHub Actions), so ringfence apply asks"),
       (".npmrc", "run or obeyed when its tool starts (npm)"), ("main.c", None))
def test_why_a_name_that_a_tool_obeys(t, name, note):
    answer = why(t, f"./{name}")
    equal(answer["verdict"], "writable", "the verdict", answer)
    expect(note in answer["note"] if note else answer["note"] is None, "the note", answer)


@cases(*PATHS)
@each_identity
def test_why_a_path(t, path):
    t.write("src/x.c", "x")
    t.write(".env", "x")
    t.write(".git/config", "x")
    t.at_home(".ssh/id_rsa", "x")
    verdict, key = PATHS[path]
    answer = why(t, path)
    equal((answer["about"], answer["verdict"]), ("path", verdict), "the verdict", answer)
    equal(answer["change"] and answer["change"]["key"], key, "what changes it", answer)
    expect(answer["rule"] and answer["origin"], "rule and origin", answer)


@cases(".env", ".git/config", "~/.ssh/id_rsa", "/etc/shadow")
def test_the_line_that_is_offered_changes_the_verdict(t, path):
    t.write(".env", "x")
    t.write(".git/config", "x")
    t.at_home(".ssh/id_rsa", "x")
    answer = why(t, path)
    change = answer["change"]
    t.write(os.path.join(t.home, ".config/ringfence/config.yml"),
            f"{change['key']}:\n  - {change['value']}\n", 0o600)
    after = why(t, path)
    expect(after["verdict"] != answer["verdict"], "another verdict", after)
    contains(after["origin"], "config.yml:2", "the origin")


@cases(("~/.ssh", "read '{home}/.ssh' is refused: it holds credentials; name only the file in it that the command needs"),
       ("~/.ssh/none", "there is no such file on the host"), ("/etc/shadow", "in ~/.config/ringfence/config.yml, or as --read /etc/shadow:"),
       ("/proc/version", "no setting changes this"))
def test_what_changes_a_verdict_is_said_once(t, path, change):
    t.at_home(".ssh/id_rsa", "x")
    lines = policy(t, "--why", path).out.split("\n  change   ")
    equal(len(lines), 2, "one line about it", lines)
    expect(" ".join(lines[1].split()).startswith(change.format(home=t.home)), "what it says", lines)
    lacks(lines[0], "read", "what stands before it")


def test_a_write_that_is_offered_keeps_the_project_writable(t):
    t.write(".vscode/tasks.json", "x")
    t.write("other", "x")
    change = why(t, ".vscode")["change"]
    equal((change["key"], change["value"], change["also"]), ("write", t.path(".vscode").replace(t.home, "~"), t.project.replace(t.home, "~")), "the change")
    words = ("--write", change["also"], "--write", change["value"])
    equal([why(t, name, *words)["verdict"] for name in (".vscode", "./other")], ["writable", "writable"], "with both")
    equal(why(t, "./other", *words[2:])["verdict"], "readable", "the control: with only the second")
    contains(policy(t, "--why", ".vscode").out, f"or as --write {change['also']} --write {change['value']}:\n", "the text")
    equal(why(t, "./other", "--read-only")["change"]["also"], None, "in a project that is read-only anyway")


def test_a_path_with_a_blank_is_quoted_for_a_shell(t):
    t.write("my file", "x")
    contains(policy(t, "--why", "my file").out, f"or as --hide '{t.path('my file').replace(t.home, '~')}':\n", "the text")


@cases("127.0.0.1:5432", "localhost:5432")
def test_a_loopback_port_is_offered_as_a_listener(t, question):
    answer = why(t, question)
    equal(answer["change"], {"key": "listen", "value": "127.0.0.1:5432=SOCKET", "also": None}, "the change")
    equal(why(t, "192.0.2.1:5432")["change"]["key"], "allow", "the control: another address")


@cases("CLAUDE.md", "lefthook.yml", "package.json", "server.key", "a.example/x")
def test_a_name_of_a_file_is_not_taken_for_a_host(t, name):
    equal(why(t, name)["about"], "path", "what it is about")
    equal(why(t, "example.com")["about"], "host", "the control: a host")


def test_a_name_that_is_no_file_is_taken_for_a_host_and_that_is_said(t):
    guess = "read as a host, because there is no such file; for a file, write ./calcc.py"
    answer = why(t, "calcc.py")
    equal(answer["about"], "host", "what it is about")
    contains(answer["note"], guess, "the note")
    contains(why(t, "calcc.py", "--allow", "calcc.py")["note"], guess, "the note where it is allowed")
    for sure in ("host:calcc.py", "https://calcc.py", "calcc.py:443"):
        lacks(why(t, sure)["note"], "read as a host", f"the note on {sure}")
    t.write("calcc.py", "x")
    equal(why(t, "calcc.py")["about"], "path", "what is there")


@cases(("mount", "refused"), ("read", "allowed"), ("clone", "conditional"), ("clone3", "refused"),
       ("syscall:nonsense", "refused"))
def test_why_a_system_call(t, name, verdict):
    answer = why(t, name)
    equal((answer["about"], answer["verdict"], answer["change"]), ("syscall", verdict, None), "the answer")


@cases("https://example.org/path", "example.org", "example.org:443", "10.0.0.1", "host:intranet")
def test_why_a_host(t, question):
    answer = why(t, question)
    equal((answer["about"], answer["verdict"], answer["rule"]), ("host", "refused", "net none"), "the answer")
    answer = why(t, question, "--net", "open")
    equal((answer["verdict"], answer["origin"]), ("allowed", "--net"), "with --net open")


def test_a_file_with_the_name_of_a_call_is_a_file(t):
    t.write("mount", "x")
    equal(why(t, "mount")["about"], "path", "a file that is there")
    equal(why(t, "syscall:mount")["about"], "syscall", "when it is said")


def test_an_argument_is_what_is_asked_about(t):
    t.write(".env", "x")
    equal(policy(t, ".env").out, policy(t, "--why", ".env").out, "the answer")
    equal(json.loads(policy(t, "--json", "mount").out)["verdict"], "refused", "the verdict on a call")


def test_the_text_fits_a_terminal_and_has_no_blanks_at_its_ends(t):
    t.write(".env", "x")
    t.write(".git/config", "x")
    for words in ([], ["--memory", "1G"], ["--why", "clone"], ["--why", "~/.ssh"], ["--why", "/etc/passwd"]):
        lines = policy(t, *words).out.splitlines()
        equal([line for line in lines if line != line.rstrip()], [], "lines with blanks at the end")
    notes = [line for line in policy(t, "--why", "clone").out.splitlines() if len(line) > 80]
    equal(notes, [], "lines that are too long")


def test_a_strange_name_is_shown_harmless(t):
    result = policy(t, "--why", "a\x1b[31m\nb")
    equal(result.code, 0, "exit status", result)
    lacks(result.out, "\x1b", "stdout")


@cases(("--why", ""), ("",), ("a", "b"), ("--why", "a", "b"), "--no-such", "--why", ("--project", "missing"))
def test_wrong_options_are_refused(t, *opts):
    result = policy(t, *opts)
    equal((result.code, result.out), (125, ""), "refused", result)
    contains(result.err, "ringfence: ", "the reason")


PARTLY = {
    "/etc/shadow": "absent",
    "/etc/ssh/ssh_host_rsa_key": "absent",
    "/etc/hosts": "readable",
    "/etc/ssl/certs/x": "readable",
    "/proc/1/mem": "private",
    "/dev/null": "readable",
    "/dev/sda": "absent",
    "/dev/shm/x": "private",
}


@cases(*PARTLY)
@each_identity
def test_why_says_what_is_really_there(t, path):
    answer = why(t, f"path:{path}")
    equal(answer["verdict"], PARTLY[path], "the verdict", answer)
    if answer["verdict"] == "absent":
        expect(t.fence("test", "-e", path).code == 1, "it is not there")


@cases("localhost:80", "intranet:8080", "127.0.0.1:53")
def test_a_name_with_a_port_is_a_host(t, question):
    equal(why(t, question)["about"], "host", "what it is")


@cases(".claude/settings.json", ".vscode/tasks.json", ".git/hooks/x")
def test_why_tells_of_the_quarantine(t, path):
    answer = why(t, path)
    equal(answer["verdict"], "writable", "the verdict", answer)
    contains(answer["note"], "quarantine", "the note")


def test_who_made_the_project_read_only_is_said(t):
    os.mkdir(t.path("src"))
    t.write("ringfence.yml", "# mine\nwrite:\n  - src\n")
    answer = why(t, "file")
    equal((answer["verdict"], answer["rule"], answer["origin"]), ("readable", "project", "ringfence.yml:3"),
          "why a file")
    answer = why(t, ".git/hooks/x")
    equal((answer["rule"], answer["origin"]), ("executed by the host", "built-in"), "why a hook")
    equal(why(t, "file", "--read-only")["origin"], "--read-only", "with an option")


def test_a_rule_with_a_strange_name_is_shown_harmless(t):
    t.write("a\x1b[31mRED", "x")
    t.write(".ringfenceignore", "a*\n")
    t.write("ringfence.yml", 'hide: ["c\\e[2Jx"]\n')
    result = policy(t)
    contains(result.out, "RED", "what is shown")
    lacks(result.out + result.err, "\x1b", "what is shown")
