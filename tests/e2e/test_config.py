"""ringfence config, trust, untrust and completions; what files set, and how options override it."""

import json
import os
import subprocess

from harness import cases, contains, equal, expect, lacks, needs
from harness.control import attack_inside


def ringfence(t, *words, **options):
    return t.run([t.ringfence, *words], **options)


def config(t, **options):
    """The output of `ringfence config --json`, by key: a list of (value, origin, state)."""
    result = ringfence(t, "config", "--json", **options)
    equal((result.code, result.err), (0, ""), "config --json", result)
    whole = json.loads(result.out)
    by_key = {}
    for value in whole["values"]:
        by_key.setdefault(value["key"], []).append((value["value"], value["origin"], value["state"]))
    return whole, by_key


def trust(t, *words):
    result = ringfence(t, "trust", "--yes", *words)
    equal(result.code, 0, "trust --yes", result)
    return result


def user_file(t, text):
    return t.at_home(".config/ringfence/config.yml", text)


def writable(t, name, *opts):
    path = t.path(f"{name}/made")
    attack_inside(t, "create", path, opts=opts)
    made = os.path.exists(path)
    if made:
        os.unlink(path)
    return made


def readable(t, name, *opts):
    return attack_inside(t, "read", t.path(name), opts=opts).code == 0


# Showing

def test_config_shows_every_value_with_its_origin(t):
    user_file(t, "# mine\ntimeout: 1h\nhide: [~/x]\n")
    t.write("ringfence.yml", "memory: 4G\nhide:\n  - a\n  - b\n")
    _, by_key = config(t)
    equal(by_key["timeout"], [("1h", "~/.config/ringfence/config.yml:2", "active")], "timeout")
    equal(by_key["memory"], [("4G", "ringfence.yml:1", "active")], "memory")
    equal(by_key["cpus"], [("none", "built-in", "active")], "cpus")
    equal(by_key["hide"], [("~/x", "~/.config/ringfence/config.yml:3", "active"),
                           ("a", "ringfence.yml:3", "active"), ("b", "ringfence.yml:4", "active")], "hide")


def test_the_table_is_aligned_and_names_every_setting(t):
    t.write("ringfence.yml", "net: open\nhide: [a, b]\n")
    t.write(".ringfenceignore", "*.log\n!x\n")
    out = ringfence(t, "config").out
    for key in ("write", "read", "hide", "read-only", "env", "net", "listen", "timeout", "fence",
                "accept-weaker", "memory", "cpus", "processes", "open-files", "file-size", "tmp-size",
                "disk", "denials", "trace-reads", "check"):
        contains("\n" + out, f"\n{key} ", "the table")
    contains(out, "NOT ACTIVE", "the value that widens")
    contains(out, ".ringfenceignore:1", "the origin of a pattern")
    contains(out, ".ringfenceignore:2", "the notice")
    columns = {line.index("built-in") for line in out.splitlines() if line.endswith("built-in")}
    equal(len(columns), 1, "columns of origins", out)


def test_without_files_all_is_built_in(t):
    whole, by_key = config(t)
    equal((whole["files"], whole["trust"]), ([], "nothing widens"), "files and trust")
    equal({origin for values in by_key.values() for _, origin, _ in values}, {"built-in"}, "origins")


@cases("", "# only a comment\n", "---\n", "\ufeff", "\ufeffnet: none\n", "{}\n", "hide: []\n")
def test_an_empty_file_is_an_empty_configuration(t, text):
    t.write("ringfence.yml", text)
    equal(config(t)[0]["trust"], "nothing widens", "trust")
    equal(t.fence("true").code, 0, "a run")


def test_xdg_config_home_is_honoured(t):
    t.write(os.path.join(t.outside, "ringfence/config.yml"), "cpus: 2\n", 0o600)
    _, by_key = config(t, env=t.env(XDG_CONFIG_HOME=t.outside))
    equal(by_key["cpus"], [("2", f"{t.outside}/ringfence/config.yml:1", "active")], "cpus")


def test_project_names_another_folder(t):
    other = os.path.join(t.home, "other")
    t.write(os.path.join(other, "ringfence.yml"), "cpus: 3\n")
    out = ringfence(t, "config", "--project", other).out
    contains(out, "ringfence.yml:1", "the table")


def test_explain_tells_about_one_or_all(t):
    one = ringfence(t, "config", "--explain", "net")
    equal(one.code, 0, "exit status", one)
    for word in ("none, list or open", "--net none|list|open", "default  none", "ringfence trust"):
        contains(one.out.replace("\n          ", ""), word, "the explanation")
    equal(ringfence(t, "config", "net").out, one.out, "with the key alone")
    every = ringfence(t, "config", "--explain").out
    equal([line for line in every.splitlines() if len(line) > 80 or line != line.rstrip()], [], "lines that are too long")
    for key in ("write", "denials", "check", "tmp-size"):
        contains("\n" + every, f"\n{key}: ", "all explanations")
    wrong = ringfence(t, "config", "--explain", "nett")
    equal(wrong.code, 125, "exit status", wrong)
    contains(wrong.err, "did you mean 'net'", "the nearest")


@cases(["config", "x"], ["config", "net", "x"], ["config", "--explain", "net", "x"], ["trust", "x"], ["untrust", "x"], ["config", "--jsn"],
       ["trust", "--json"], ["completions"], ["completions", "tcsh"], ["completions", "bash", "x"],
       ["config", "--project", "/nonexistent"], ["trust", "--project", "/nonexistent"])
def test_what_makes_no_sense_is_refused(t, *words):
    result = ringfence(t, *words)
    equal((result.code, result.out), (125, ""), "the refusal", result)
    equal(len(result.err.splitlines()), 1, "lines of the reason", result)


def test_the_reference_is_printed_whole(t):
    out = ringfence(t, "config", "--reference").out
    expect(out.startswith("# Configuration\n") and "### trace-reads" in out, "the document", out)


@cases("config", "trust", "untrust", "completions")
def test_each_command_has_help_and_a_man_page(t, command):
    result = ringfence(t, command, "--help")
    equal((result.code, result.err), (0, ""), "help", result)
    contains(result.out, f"usage: ringfence {command}", "help")
    contains(ringfence(t, "help", "--man", command).out, ".SH SYNOPSIS", "the man page")


def test_completions_say_where_the_script_goes(t):
    out = ringfence(t, "completions", "--help").out
    for place in ("bash-completion/completions/ringfence", "$fpath", "fish/completions/ringfence.fish"):
        contains(out, place, "help")


# Files

def test_the_projects_file_hides_and_narrows_at_once(t):
    for name in ("src/a", "doc/a", "private/a"):
        t.write(name, "text")
    t.write("ringfence.yml", "write: src\nhide: [private]\n")
    expect(writable(t, "src") and not writable(t, "doc"), "only src is writable")
    expect(readable(t, "doc/a") and not readable(t, "private/a"), "private is hidden")
    os.unlink(t.path("ringfence.yml"))
    expect(writable(t, "doc") and readable(t, "private/a"), "the control: without the file")


def test_paths_of_the_users_file_are_relative_to_it_and_know_home(t):
    t.at_home(".config/ringfence/shared/a", "text", 0o644)
    t.at_home("lib/b", "text", 0o644)
    user_file(t, "read: [shared, ~/lib]\n")
    config_folder = os.path.join(t.home, ".config/ringfence")
    out = t.works("cat", f"{config_folder}/shared/a", f"{t.home}/lib/b")
    equal(out, "texttext", "both files")


def test_options_win_over_files(t):
    t.write("doc/a", "text")
    t.write("src/a", "text")
    user_file(t, "timeout: 1s\nread-only: true\n")
    expect(not writable(t, "src"), "the user's file holds")
    expect(writable(t, "src", "--read-only=false"), "an option replaces it")
    t.write("ringfence.yml", "write: [src]\n")
    expect(not writable(t, "src", "--read-only"), "read-only cancels a write below it")
    expect(not writable(t, "src", "--read-only=false", "--write", "doc"), "an option's write is the only one")


def test_a_timeout_of_a_file_holds(t):
    t.write("ringfence.yml", "timeout: 1s\n")
    equal(t.fence("sleep", "20").code, 124, "exit status")


def test_a_variable_that_a_file_names_is_passed_on_if_it_is_there(t):
    user_file(t, "env: [TOKEN, MISSING, SET=1]\n")
    out = t.works("env", env=t.env(TOKEN="x")).splitlines()
    expect("TOKEN=x" in out and "SET=1" in out, "both are there", out)
    expect(not any(line.startswith("MISSING") for line in out), "the missing one is not", out)


def test_a_rule_of_a_file_is_named_by_its_line_when_it_is_refused(t):
    t.write("ringfence.yml", "\nhide: [.]\n")
    result = t.fence("true")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "ringfence.yml:2: hide", "the reason")


def test_listening_through_a_file_works_when_it_is_the_users(t):
    path = os.path.join(t.outside, "socket")
    t.serve(path)
    user_file(t, f"listen: [\"127.0.0.1:8080={path}\"]\n")
    code = "import socket; print(socket.create_connection(('127.0.0.1', 8080)).recv(100))"
    contains(t.works("python3", "-c", code), "hello from the host", "the answer")


# Patterns

def test_ignore_files_hide_by_pattern(t):
    for name in ("a.log", "deep/er/b.log", "keep.txt", "build/x", "deep/build/x", "fix/one/data", "fix/two/data"):
        t.write(name, "text")
    equal([readable(t, n) for n in ("a.log", "build/x")], [True, True], "the control")
    t.write(".ringfenceignore", "# logs\n*.log\n\n/build/\n")
    t.write(".claudeignore", "fix/**/data\n")
    equal([readable(t, n) for n in ("a.log", "deep/er/b.log", "build/x", "fix/one/data", "fix/two/data")],
          [False] * 5, "what is hidden")
    equal([readable(t, n) for n in ("keep.txt", "deep/build/x")], [True, True], "what is not")


def test_a_hidden_folder_of_a_pattern_is_left_alone_by_the_sweep(t):
    t.write("vendor/tool/.vscode/tasks.json", "mine")
    t.write(".ringfenceignore", "vendor/\n")
    result = t.fence("true")
    equal((result.code, result.err), (0, ""), "a run", result)
    equal(t.read("vendor/tool/.vscode/tasks.json"), "mine", "the file")
    equal(t.quarantined(), [], "the quarantine")


def test_a_pattern_cannot_show_what_is_hidden(t):
    t.write(".env", "A=1")
    t.write("a.log", "text")
    t.write(".ringfenceignore", "*.log\n!a.log\n!.env\n!/**\n")
    result = t.fence("cat", ".env", "a.log")
    equal(result.out, "", "what was read", result)
    contains(result.err, ".ringfenceignore:2: '!a.log' is skipped", "the notices")
    contains(result.err, ".ringfenceignore: 2 more such lines", "the notices")


# Trust

def test_a_check_that_nobody_agreed_to_is_no_news_in_a_run(t):
    t.write("ringfence.yml", "check: make test\n")
    result = t.fence("true")
    equal((result.code, result.err), (0, ""), "a run", result)
    t.write("ringfence.yml", "check: make test\nnet: open\n")
    contains(t.fence("true").err, "(net)", "the notice")


WIDE = "net: open\nread: [../../outside]\nenv: [TOKEN]\ntimeout: 5m\n"


def test_what_widens_is_inactive_and_said_until_it_is_trusted(t):
    t.write("ringfence.yml", WIDE)
    whole, by_key = config(t)
    equal(whole["trust"], "untrusted", "trust")
    equal(by_key["net"], [("none", "built-in", "active"), ("open", "ringfence.yml:1", "inactive")], "net")
    result = t.fence("env", env=t.env(TOKEN="secret"))
    equal(result.code, 0, "a run", result)
    lacks(result.out, "TOKEN", "the environment")
    equal(result.err, "[ringfence] ringfence.yml widens the fence (net, read, env), which is inactive until you run: ringfence trust\n",
          "the notice")
    trust(t)
    result = t.fence("env", env=t.env(TOKEN="secret"), opts=("--net", "none"))
    contains(result.out, "TOKEN=secret", "the environment")
    equal((result.code, result.err), (0, ""), "a run", result)
    equal(config(t)[1]["net"], [("open", "ringfence.yml:1", "active")], "net")


def test_trust_shows_what_each_value_means(t):
    t.write("ringfence.yml", WIDE + "write: [../other]\nmemory: none\n")
    out = trust(t).out
    for word in ("net: 'open'  (ringfence.yml:1)", "loopback", f"may read {t.outside}", "the variable TOKEN",
                 f"may change {t.home}/other"):
        contains(out, word, "the difference")
    lacks(out, "timeout", "the difference")
    lacks(out, "memory", "the difference")


def test_trust_shows_phases_and_values_of_several_lines_once_and_so_that_none_poses_as_another(t):
    t.write("ringfence.yml", "phases:\n  - {name: plan, prompt: \"Plan it.\\n  agent: none\\n\", agent: claude, until: [file PLAN.md, iterations 2], max-cost: 2}\n"
                             "  - name: work\ncheck: \"make\\n  net: none \\u001b[2J\"\n")
    contains(trust(t).out, r"""
  check: 'make\x0a  net: none \x1b[2J'  (ringfence.yml:4)
      Ringfence runs this command to judge the work:
          | make
          |   net: none \x1b[2J

  phases: 'plan'  (ringfence.yml:2)
      a loop runs this phase:
        prompt:
          | Plan it.
          |   agent: none
        agent: claude
        until:
          - file PLAN.md
          - iterations 2
        max-cost: 2

  phases: 'work'  (ringfence.yml:3)
      a loop runs this phase: nothing but its name is set

In total: 1 of check, 2 of phases.
""", "the difference")


def test_a_change_of_what_widens_needs_trust_again(t):
    t.write("ringfence.yml", "env: [TOKEN]\n")
    trust(t)
    t.write("ringfence.yml", "# moved\n\nhide: [x]\nenv: [TOKEN]\n")
    equal(config(t)[0]["trust"], "trusted", "after a comment")
    t.write("ringfence.yml", "env: [TOKEN, OTHER]\n")
    whole, by_key = config(t)
    equal(whole["trust"], "changed", "after one more")
    equal([state for _, _, state in by_key["env"]], ["inactive"] * 2, "both")
    result = t.fence("true")
    contains(result.err, "ringfence.yml has changed since you trusted it: run ringfence trust", "the notice")
    t.write("ringfence.yml", "env: [TOKEN]\n")
    equal(config(t)[0]["trust"], "trusted", "after it was changed back")


def test_untrust_takes_it_back(t):
    t.write("ringfence.yml", "env: [TOKEN]\n")
    trust(t)
    contains(ringfence(t, "untrust").out, "no longer trusted", "untrust")
    equal(config(t)[0]["trust"], "untrusted", "trust")
    contains(ringfence(t, "untrust").out, "was not trusted", "untrust again")


def test_trust_is_of_one_project(t):
    other = os.path.join(t.home, "copy")
    for folder in (t.project, other):
        t.write(os.path.join(folder, "ringfence.yml"), "env: [TOKEN]\n")
    trust(t)
    out = ringfence(t, "config", "--json", "--project", other).out
    equal(json.loads(out)["trust"], "untrusted", "the copy")


def test_trust_lists_projects(t):
    equal(json.loads(ringfence(t, "trust", "--list", "--json").out), [], "at first")
    t.write("ringfence.yml", "env: [TOKEN]\n")
    trust(t)
    contains(ringfence(t, "trust", "--list").out, t.project, "the list")
    listed = json.loads(ringfence(t, "trust", "--list", "--json").out)
    equal([entry["project"] for entry in listed], [t.project], "the list")
    equal(len(listed[0]["hash"]), 64, "the hash")


def test_without_a_terminal_trust_needs_yes(t):
    t.write("ringfence.yml", "env: [TOKEN]\n")
    result = ringfence(t, "trust", input="y\n")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "--yes", "the reason")
    equal(config(t)[0]["trust"], "untrusted", "trust")


@cases(("y", "trusted"), ("yes", "trusted"), ("n", "untrusted"), ("", "untrusted"), ("yikes", "untrusted"))
def test_on_a_terminal_it_asks(t, answer, state):
    t.write("ringfence.yml", "env: [TOKEN]\n")
    terminal = t.tty([t.ringfence, "trust"])
    terminal.expect(r"\[y/N\]")
    contains(terminal.text(), "the variable TOKEN", "what is asked about")
    terminal.send(answer + "\n")
    terminal.process.wait(600)
    equal(config(t)[0]["trust"], state, "trust")


def test_nothing_to_trust_is_said(t):
    t.write("ringfence.yml", "hide: [x]\n")
    contains(trust(t).out, "nothing to trust", "trust")


def test_the_state_folder_is_the_users_choice(t):
    state = os.path.join(t.outside, "state")
    t.write("ringfence.yml", "env: [TOKEN]\n")
    result = ringfence(t, "trust", "--yes", env=t.env(RINGFENCE_STATE_DIR=state))
    equal(result.code, 0, "trust", result)
    files = os.listdir(os.path.join(state, "trust"))
    equal([len(name) for name in files], [64], "records")
    equal(os.stat(os.path.join(state, "trust", files[0])).st_mode & 0o777, 0o600, "mode")


def test_odd_characters_in_what_is_shown_are_escaped(t):
    t.write("ringfence.yml", 'check: ["\\e[31mred\\u202e\\nline"]\n')
    for words in (("trust", "--yes"), ("config",)):
        result = ringfence(t, *words)
        expect(all(c.isprintable() or c == "\n" for c in result.out + result.err), "printable", result)
        contains(result.out, "\\x1b", "the escape")


# Completions

@cases("bash", "zsh", "fish")
def test_completions_know_commands_options_and_values(t, shell):
    result = ringfence(t, "completions", shell)
    equal((result.code, result.err), (0, ""), "completions", result)
    for word in ("exec", "untrust", "memory", "none list open", "accept-weaker", "explain"):
        contains(result.out, word, "the script")


@needs("bash")
def test_bash_completes(t):
    script = t.write("c.bash", ringfence(t, "completions", "bash").out)

    def complete(*words):
        line = f". {script}; COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; " \
               "compopt() { :; }; _ringfence; echo \"${COMPREPLY[@]}\""
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        equal(done.stderr, "", "stderr of bash")
        return done.stdout.split()

    equal(complete("ringfence", "unt"), ["untrust"], "a command")
    equal(complete("ringfence", "exec", "--trace"), ["--trace-reads"], "an option")
    equal(complete("ringfence", "exec", "--net", ""), ["none", "list", "open"], "a value")
    equal(complete("ringfence", "config", "--explain", "mem"), ["memory"], "a key")
    equal(complete("ringfence", "completions", "z"), ["zsh"], "a shell")


def test_a_place_elsewhere_in_the_own_file_does_not_open_a_project_that_narrows(t):
    other = os.path.join(t.outside, "other")
    os.makedirs(other)
    os.makedirs(t.path("src"))
    t.write(os.path.join(t.home, ".config/ringfence/config.yml"), f"write:\n  - {other}\n", 0o600)
    t.write("ringfence.yml", "write:\n  - src\n")
    result = t.sh("touch src/a && ! touch b 2>/dev/null")
    equal(result.code, 0, "what may be written", result)


def test_a_projects_word_that_is_not_used_is_named(t):
    os.makedirs(t.path("src"))
    os.makedirs(t.path("docs"))
    t.write("ringfence.yml", "write:\n  - src\n")
    result = t.fence("true", opts=("--write", "docs"))
    contains(result.err, "ringfence.yml:2 write: src is ignored: --write", "stderr")


def test_what_weighs_most_stands_next_to_the_question(t):
    t.write("ringfence.yml", "net: open\nenv:\n" + "".join(f"  - A{i}=1\n" for i in range(20)))
    out = t.run([t.ringfence, "trust", "--yes"]).out
    expect(out.index("net: 'open'") > out.index("A19=1"), "the order", out)
    contains(out, "In total: 20 of env, 1 of net.", "the sum")


def test_more_than_a_person_reads_cannot_be_trusted(t):
    t.write("ringfence.yml", "net: open\nenv:\n" + "".join(f"  - A{i}=1\n" for i in range(300)))
    result = t.run([t.ringfence, "trust", "--yes"])
    equal(result.code, 125, "exit status", result.err[:300])
    contains(result.err, "301 values", "the reason")


def test_what_holds_only_in_a_loop_is_shown_beside_what_holds_else(t):
    table = t.run([t.ringfence, "config"]).out
    contains(table, "built-in, in a loop", "the table")
    rows = {row["key"]: row for row in json.loads(t.run([t.ringfence, "config", "--json"]).out)["values"]}
    equal((rows["timeout"]["value"], rows["timeout"]["in_loop"]), ("none", "60m"), "as JSON")
    t.write("ringfence.yml", "timeout: 5m\n")
    rows = {row["key"]: row for row in json.loads(t.run([t.ringfence, "config", "--json"]).out)["values"]}
    equal(rows["timeout"].get("in_loop"), None, "of a value that somebody has set")
