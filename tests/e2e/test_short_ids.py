"""Loops and drafts called by a name, or by a part of their id."""

import json

from harness import cases, contains, equal, expect
from harness.loop import Loop

STEPS = {"all": "edit done yes; say done"}


def named(t, *names):
    """Returns a project with a completed loop for each name, and their ids."""
    loop = Loop(t, scripts=STEPS)
    idents = []
    for name in names:
        idents.append(loop.detach("--name", name))
        loop.ended("completed")
    return loop, idents


def shown(loop, word):
    result = loop.ringfence("status", "--json", word)
    equal(result.code, 0, "exit status", result)
    return json.loads(result.out)["loops"][0]


def test_a_loop_is_found_by_its_name_and_by_parts_of_its_id(t):
    loop, (first, second) = named(t, "login", "second.try")
    for word in ("login", first[:-1], first[-4:], first):
        found = shown(loop, word)
        equal((found["id"], found["name"]), (first, "login"), f"the loop that '{word}' stands for")
    equal(shown(loop, "second.try")["id"], second, "the other loop")
    contains(loop.ringfence("status").out, f"{first}  login  completed", "the status")


def test_a_loop_without_a_name_has_none(t):
    loop = Loop(t, scripts=STEPS)
    ident = loop.detach()
    loop.ended("completed")
    equal(shown(loop, ident)["name"], None, "its name")
    contains(loop.ringfence("status").out, f"{ident}  completed", "the status")


def test_every_command_takes_a_short_word(t):
    loop, (ident,) = named(t, "login")
    for words in (["history", "login"], ["logs", "login"], ["checkpoints", "login"], ["prompt", "login"], ["cost", "login"],
                  ["circuit", "show", "login"], ["diff", "--loop", "login"], ["diff", "--draft", ident[-4:]],
                  ["show", "--loop", "login", "1:done"], ["exec", "--in", "login", "--", "test", "-f", "done"],
                  ["apply", "--dry-run", "login"]):
        result = loop.ringfence(*words)
        equal(result.code, 0, f"{words}: exit status", result)
    contains(loop.ringfence("tell", "login").err, 'needs a text: ringfence tell login "TEXT"', "a message without a text")
    result = loop.ringfence("run", "more", "--agent-command", "true", "--check", "test -f done", "--from", "login")
    equal(result.code, 0, "exit status of a loop that begins with it", result)
    contains(loop.ringfence("apply", "login").out, f"draft {ident} applied", "applied")
    contains(loop.ringfence("clean", "--yes", "login").out, "1 loop", "removed")


def test_the_newest_of_equal_names_counts_and_only_in_its_project(t):
    loop, (first, second) = named(t, "nightly", "nightly")
    expect(first != second, "there are two loops", (first, second))
    equal(shown(loop, "nightly")["id"], second, "the loop of that name")
    other = Loop(t, name="other")
    result = other.ringfence("status", "nightly")
    equal(result.code, 125, "exit status elsewhere", result)
    contains(result.err, "there is no loop 'nightly'", "the refusal")
    equal(shown(other, second[-4:])["id"], second, "an id counts everywhere")


def test_a_word_that_stands_for_several_lists_them(t):
    loop, idents = named(t, "one", "two")
    result = loop.ringfence("abort", idents[0][:4])
    equal(result.code, 125, "exit status", result)
    contains(result.err, f"'{idents[0][:4]}' stands for 2 loops or drafts: {idents[0]}, {idents[1]}", "the candidates")


def test_a_draft_of_a_command_is_found_by_a_part_of_its_id(t):
    result = t.run([t.ringfence, "exec", "--draft", "--", "sh", "-c", "echo x >new"])
    equal(result.code, 0, "exit status", result)
    ident = json.loads(t.run([t.ringfence, "drafts", "--json"]).out)["drafts"][0]["id"]
    contains(t.run([t.ringfence, "diff", "--draft", ident[-4:]]).out, "+x", "the difference")
    equal(json.loads(t.run([t.ringfence, "discard", "--json", ident[:12]]).out)["removed"], [ident], "discarded")


@cases("2nd", "-x", "a b", "", "a/b", "x" * 41, "a\x1bb")
def test_a_name_that_could_be_misread_is_refused(t, name):
    loop = Loop(t, scripts=STEPS)
    result = loop.run(f"--name={name}")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "cannot be a name: it needs a letter", "the refusal")


def test_completions_offer_loops_drafts_checkpoints_and_agents(t):
    loop, (first, second) = named(t, "login", "login")
    loop.ringfence("exec", "--draft", "--", "true")
    draft = json.loads(loop.ringfence("drafts", "--json").out)["drafts"][-1]["id"]
    script = loop.path("c.bash")
    loop.write("c.bash", loop.ringfence("completions", "bash").out)

    def complete(*words):
        line = f". {script}; ringfence() {{ {t.ringfence} \"$@\"; }}; COMP_WORDS=({' '.join(map(repr, words))}); " \
               f"COMP_CWORD={len(words) - 1}; compopt() {{ :; }}; _ringfence; echo \"${{COMPREPLY[@]}}\""
        result = t.run(["bash", "-c", line], cwd=loop.project)
        equal(result.err, "", "stderr of bash")
        return result.out.split()

    equal(complete("ringfence", "logs", ""), ["login", second, first], "loops, the newest first")
    equal(complete("ringfence", "logs", "lo"), ["login"], "the beginning of a name")
    equal(complete("ringfence", "diff", "--loop", second[:-1]), [second], "the value of an option")
    equal(complete("ringfence", "discard", draft[:-1]), [draft], "a draft")
    equal(complete("ringfence", "rollback", ""), ["1", "0"], "checkpoints")
    equal(complete("ringfence", "run", "--agent", "cl"), ["claude"], "an agent")
    equal(complete("ringfence", "logs", "--fol"), ["--follow"], "an option, as before")


@cases([], ["nonsense"], ["status", "--nonsense"], ["status"])
def test_completions_say_nothing_when_there_is_nothing(t, *words):
    loop = Loop(t)
    result = loop.ringfence("complete", *words)
    equal((result.code, result.out, result.err), (0, "", ""), "status, stdout and stderr", result)
    t.write(f"{t.state}/loops/.index", "no index")
    result = loop.ringfence("complete", "status")
    equal((result.code, result.out, result.err), (0, "", ""), "with a damaged state folder", result)
