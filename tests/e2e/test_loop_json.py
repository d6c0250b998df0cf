"""The commands for loops, as programs use them: JSON, and nothing else, on stdout."""

import json
import os
import signal

from harness import cases, contains, each_identity, equal, expect
from harness.loop import LoopInPlace as Loop
from harness.loop import until

ANY_IDENTITY = "What is printed of a loop does not depend on who runs it."

STEPS = {"all": "say step $N; edit step-$N $N; [ $N -lt 2 ] || edit done yes"}
KEYS = {"id", "project", "status", "iteration", "supervisor_pid", "spent_nusd", "limits", "mechanism",
        "weaker", "last_heartbeat", "reason"}


def lines_of(result):
    return [json.loads(line) for line in result.out.splitlines()]


@each_identity
def test_run_streams_events_and_ends_with_the_result(t):
    loop = Loop(t, scripts=STEPS)
    result = loop.run("--json")
    equal(result.code, 0, "exit status", result)
    lines = lines_of(result)
    equal([line["event"] for line in lines],
          ["created", "started", "checkpointed", "git", "checked", "baselined", "begun", "ended", "checkpointed",
           "checked", "continued", "begun", "ended", "checkpointed", "checked", "finished", "result"],
          "the events")
    last = lines[-1]
    equal((last["exit_status"], last["status"], last["iteration"]), (0, "completed", 2), "the result")
    expect(KEYS <= set(last), "the result has what status has", last)
    equal((lines[0]["id"], lines[0]["project"]), (last["id"], loop.project), "the first line")
    equal(lines[9]["passed"], False, "a check")
    for line in lines:
        expect(not {"breakers", "snapshot", "config"} & set(line), "only what is of use", line)


def test_a_result_tells_the_exit_status(t):
    loop = Loop(t, scripts={"all": "edit a $N"})
    result = loop.run("--json", "-m", "1")
    last = lines_of(result)[-1]
    equal((result.code, last["exit_status"], last["status"]), (2, 2, "limit"), "the result")
    contains(last["reason"], "--max-iterations", "the reason")
    more = loop.ringfence("resume", "--follow", "--json", "-m", "2")
    equal([line["event"] for line in lines_of(more)][:2], ["changed", "resumed"], "the events of resume")
    equal(lines_of(more)[-1]["used"], 2, "iterations")


def test_a_signal_leaves_the_loop_and_the_result_says_so(t):
    loop = Loop(t, scripts={"all": "edit here x; meet go; edit done yes"})
    process = t.start([t.ringfence, *loop.run_words("--json")], cwd=loop.project, stdout=-1, stderr=-1)
    loop.there("here")
    os.kill(process.pid, signal.SIGINT)
    result = t.finish(process)
    last = lines_of(result)[-1]
    equal((result.code, last["exit_status"], last["status"]), (5, 5, "running"), "the result", result)
    loop.write("go")
    loop.ended("completed")


def test_detached_it_is_one_object_with_the_id(t):
    loop = Loop(t, scripts={"all": "edit here x; meet go; edit done yes"})
    result = loop.run("--json", "--detach")
    lines = lines_of(result)
    equal((result.code, len(lines)), (0, 1), "exit status and lines", result)
    loop.ident = lines[0]["id"]
    loop.there("here")
    equal(loop.status()["id"], loop.ident, "the loop")
    loop.write("go")
    loop.ended("completed")


def test_a_dry_run_is_one_object_and_starts_nothing(t):
    loop = Loop(t, scripts=STEPS)
    result = loop.run("--json", "--dry-run")
    shown = json.loads(result.out)
    contains(shown["prompt"], "make it", "the prompt")
    equal(shown["config"]["checks"], ["test -f done"], "the checks")
    equal(json.loads(loop.ringfence("status", "--json").out), {"loops": [], "batches": []}, "the loops")


def test_what_is_refused_prints_nothing_on_stdout(t):
    loop = Loop(t)
    result = loop.ringfence("run", "--json", "x", "--agent-command", "true", "--tasks", "/etc/passwd")
    equal((result.code, result.out), (125, ""), "the refusal", result)


def test_status_has_what_is_promised(t):
    loop = Loop(t, scripts={"all": "edit here x; meet go; edit done yes"})
    loop.detach()
    loop.there("here")
    status = loop.status()
    expect(KEYS <= set(status), "the keys", status)
    equal((status["spent_nusd"], status["limits"]["budget_nusd"]), (0, 2 * 10**9), "money")
    equal(status["supervisor_pid"], loop.said()["supervisor_pid"], "the supervisor")
    loop.write("go")
    loop.ended("completed")


def test_logs_are_lines_with_their_stream(t):
    loop = Loop(t, scripts={"1": "say one; echo oops >&2; printf 'no end'", "2": "say two; edit done yes"})
    equal(loop.run().code, 0, "exit status")
    equal(lines_of(loop.ringfence("logs", "--json", "--iteration", "1")),
          [{"iteration": 1, "stream": "stdout", "text": "one"},
           {"iteration": 1, "stream": "stderr", "text": "oops"},
           {"iteration": 1, "stream": "stdout", "text": "no end"}], "the lines")
    equal(lines_of(loop.ringfence("logs", "--json", "-f")),
          [{"iteration": 2, "stream": "stdout", "text": "two"}], "the last iteration")


def test_logs_follow_as_json(t):
    loop = Loop(t, scripts={"1": "say one; edit here x; meet go; say two", "2": "say three; edit done yes"})
    loop.detach()
    loop.there("here")
    process = t.start([t.ringfence, "logs", "-f", "--json"], cwd=loop.project, stdout=-1, stderr=-1)
    equal(json.loads(process.stdout.readline())["text"], "one", "the first line")
    loop.write("go")
    equal([(line["iteration"], line["text"]) for line in lines_of(t.finish(process))],
          [(1, "two"), (2, "three")], "the rest")
    loop.ended("completed")


HOSTILE = r"printf 'a\000b\033[31mc\377\302\233d\n'; head -c 200000 /dev/zero | tr '\0' y; edit done yes"


def test_hostile_output_is_data(t):
    """Escape sequences, NULs, invalid UTF-8, and a line without an end."""
    loop = Loop(t, scripts={"all": HOSTILE})
    result = loop.run("--json")
    equal(result.code, 0, "exit status", result)
    lines = lines_of(loop.ringfence("logs", "--json"))
    equal(lines[0]["text"], "a\ufffdb\x1b[31mc\ufffd\x9bd", "the first line")
    equal("".join(line["text"] for line in lines[1:]), "y" * 200000, "the long line")
    raw = loop.ringfence("logs", "--json").out
    expect("\x1b" not in raw and "\x9b" not in raw, "nothing for a terminal to obey", raw[:200])
    terminal = t.tty([t.ringfence, "logs"], cwd=loop.project)
    terminal.expect(r"a\\x00b\\x1b\[31mc\\xff\\xc2\\x9bd")
    terminal.wait()
    with open(os.path.join(loop.folder, "iterations/1/stdout.log"), "rb") as file:
        expect(file.read(9) == b"a\0b\x1b[31mc", "the log itself has every byte")


@cases("status", "history", "pause", "abort", "circuit", "logs")
def test_each_command_knows_json(t, command):
    loop = Loop(t, scripts={"all": "say x; edit here x; meet go; edit done yes"})
    loop.detach()
    loop.there("here")
    log = os.path.join(loop.folder, "iterations/1/stdout.log")
    until("what the agent says", lambda: os.path.getsize(log))
    result = loop.ringfence(command, "--json")
    equal(result.code, 0, "exit status", result)
    expect(isinstance(json.loads(result.out), dict), "an object", result)
    loop.write("go")
    loop.ended()


@cases((), ("--all",))
def test_resume_knows_json(t, *words):
    loop = Loop(t, scripts={"all": "edit a $N"})
    equal(loop.run("-m", "1").code, 2, "exit status")
    result = loop.ringfence("resume", "--json", "-m", "2", *words)
    equal(result.code, 0, "exit status of resume", result)
    shown = json.loads(result.out)
    equal(shown["loops"] if words else shown["id"], [] if words else loop.status()["id"], "the object")
    loop.ended("limit")
