"""Phases: a loop that plans, works and verifies, each phase with its own terms; exact after a crash."""

import json
import os

from harness import cases, contains, equal, expect, lacks, user_only
from harness.loop import WORKSPACES, Loop, kill, until

EVENTS = ("--agent-format", "events")
THREE = """phases:
  - name: plan
    prompt: Think first.
    write: PLAN.md
    until: file PLAN.md
    max-iterations: 2
  - name: work
  - name: verify
    write: none
    until: iterations 1
"""
# The scripted agent acts by the phase that its prompt names.
BY_PHASE = "case $prompt in *'This is plan.'*) {plan};; *'This is work.'*) {work};; *) {verify};; esac"


def begin(t, phases=THREE, workspace="draft", name="project", check="test -f done", own=False, **scripts):
    """A loop with these phases, of the user's own file or of a trusted project."""
    todo = {"plan": "edit PLAN.md plan", "work": "edit done yes", "verify": "say fine", **scripts}
    loop = Loop(t, name, scripts={"all": BY_PHASE.format(**todo)}, workspace=workspace)
    loop.check = check
    if own:
        os.makedirs(os.path.join(t.home, ".config/ringfence"), exist_ok=True)
        with open(os.path.join(t.home, ".config/ringfence/config.yml"), "w", encoding="utf-8") as file:
            file.write(phases)
        return loop
    loop.write("ringfence.yml", phases)
    equal(loop.ringfence("trust", "--yes").code, 0, "exit status of trust")
    return loop


def walked(loop):
    """The phase of each iteration, and what followed."""
    return [(entry["phase"], entry["verdict"]) for entry in loop.history() if entry["verdict"] != "interrupted"]


DONE = [("plan", "go on"), ("work", "go on"), ("verify", "done")]


@cases(*WORKSPACES)
def test_three_phases_follow_one_another(t, workspace):
    loop = begin(t, workspace=workspace)
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    equal(walked(loop), DONE, "the phases")
    equal(loop.outcome("PLAN.md"), "plan\n", "the plan")
    contains(result.out, "1. plan, until file PLAN.md; may change only PLAN.md; at most 2 iterations", "the announcement")
    contains(result.out, "the phase 'plan' is over; next: 'work'", "the events")
    contains(loop.ringfence("history").out, "phase verify\n", "history")
    contains(loop.ringfence("status").out, "phase verify, 3 of 3: 1 iteration, US$ 0.00", "status")
    status = loop.status()
    equal(status["phase"], "verify", "the phase")
    equal([(one["name"], one["state"], one["iterations"]) for one in status["phases"]],
          [("plan", "over", 1), ("work", "over", 1), ("verify", "over", 1)], "the phases in JSON")


def test_the_users_own_file_needs_no_trust_and_a_project_does(t):
    loop = begin(t, own=True, verify="[ -e done ] || edit done yes; say fine")
    loop.write("ringfence.yml", "phases: [{name: theirs}]\n")
    result = loop.run()
    equal(result.code, 125, "exit status without trust", result)
    contains(result.err, "phases (ringfence.yml:1) is inactive: run ringfence trust, or go without: --phases none", "the refusal")
    equal(loop.run("--phases", "none").code, 0, "exit status without phases")
    expect("phase" not in loop.status(), "no phase", loop.status())
    os.unlink(loop.path("ringfence.yml"))
    equal(loop.run().code, 0, "exit status of the user's own")
    equal(walked(loop), DONE, "the phases")


def test_an_option_chooses_phases_by_their_names(t):
    loop = begin(t)
    equal(loop.run("--phases", "work").code, 0, "exit status")
    equal(walked(loop), [("work", "done")], "the phases")
    result = loop.run("--phases", "wrok")
    equal(result.code, 125, "exit status of an unknown one", result)
    contains(result.err, "no file has a phase 'wrok' (there are plan, work, verify)", "the refusal")


# Everything that a phase with `write` must not do. The control is the same in a phase without.
TRIES = "for f in other a.txt script/all sub/new; do echo x >$f && say WROTE $f; done; rm a.txt && say REMOVED; " \
        "mv PLAN.md plan-2 && say MOVED; mkdir new && say MADE; edit PLAN.md plan; :"


@cases(*((where, narrow) for where in WORKSPACES for narrow in (True, False)))
def test_a_plan_phase_changes_nothing_but_its_plan(t, where, narrow):
    phases = THREE if narrow else THREE.replace("    write: PLAN.md\n", "")
    loop = begin(t, phases, where, plan=TRIES)
    loop.write("a.txt", "a")
    os.mkdir(loop.path("sub"))
    loop.run("-m", "1")
    with open(os.path.join(loop.folder, "iterations/1/stdout.log"), encoding="utf-8") as file:
        said = file.read().split()
    equal(loop.outcome("PLAN.md"), "plan\n", "the plan")
    if narrow:
        equal(said, [], "what the agent could do")
        equal(loop.tree()["a.txt"], "a", "a file of the user")
        expect("other" not in loop.tree() and "sub/new" not in loop.tree(), "no new file", list(loop.tree()))
    else:
        equal([word for word in said if word in ("WROTE", "REMOVED", "MADE")], ["WROTE"] * 4 + ["REMOVED", "MADE"], "what it could do")


def test_a_phase_never_widens_what_the_loop_may_change(t):
    """It is refused where the project is read-only, and its path stays read-only if the user named others; a path that both name is writable."""
    result = begin(t).run("--read-only")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "phase 'plan': write: the project is read-only (--read-only)", "the refusal")
    loop = begin(t, THREE.replace("write: PLAN.md", "write: [PLAN.md, src/PLAN.md]"), name="named", plan="echo x >PLAN.md && say WROTE; edit src/PLAN.md x")
    os.mkdir(loop.path("src"))
    loop.write("src/a", "a")
    loop.write("PLAN.md", "mine")
    loop.write("src/PLAN.md", "old")
    loop.run("-m", "1", "--write", "src", "--write", "src/PLAN.md")
    with open(os.path.join(loop.folder, "iterations/1/stdout.log"), encoding="utf-8") as file:
        equal(file.read(), "", "what the agent could do")
    equal((loop.tree()["PLAN.md"], loop.tree()["src/PLAN.md"]), ("mine", "x\n"), "the files")


@cases(*WORKSPACES)
def test_a_phase_unlocks_no_secret_and_nothing_that_the_host_executes(t, workspace):
    """Naming such a file in a phase is not the user's word for it. The control is a file without a meaning."""
    names = [".env", ".vscode/tasks.json", "plain.txt"]
    tries = "for f in .env .vscode/tasks.json plain.txt; do echo x >$f && say WROTE $f; grep -q secret $f && say READ $f; done; :"
    loop = begin(t, THREE.replace("write: PLAN.md", f"write: {json.dumps(names)}"), workspace, plan=tries)
    os.mkdir(loop.path(".vscode"))
    for name in names:
        loop.write(name, "secret")
    loop.run("-m", "1")
    with open(os.path.join(loop.folder, "iterations/1/stdout.log"), encoding="utf-8") as file:
        said = file.read().splitlines()
    expect("WROTE plain.txt" in said, "the control", said)
    # In a draft, a file that the host would execute waits at the gate instead.
    expect(not [line for line in said if ".env" in line or (".vscode" in line and "WROTE" in line and workspace == "in-place")], "denied", said)


REFUSED = "'PLAN.md' has another name (a hard link), under which a phase that may write here would change it"


@cases("in-place", "draft", "copy")
def test_a_phase_does_not_write_through_a_hard_link(t, where):
    """In an overlay the plan becomes a file of its own. Elsewhere the phase is refused."""
    kind = ("--draft-kind", "copy") if where == "copy" else ()
    loop = begin(t, workspace="in-place" if where == "in-place" else "draft")
    loop.write("a.txt", "a")
    os.link(loop.path("a.txt"), loop.path("PLAN.md"))
    loop.run("-m", "1", *kind)
    reason = loop.status()["reason"]
    if where == "draft":
        equal(loop.outcome("PLAN.md"), "plan\n", "the plan")
    else:
        contains(reason, REFUSED, "the reason")
    with open(loop.path("a.txt"), encoding="utf-8") as file:
        equal(file.read(), "a", "the other file")
    expect(where != "draft" or not os.path.exists(loop.made("a.txt")), "it is not in the draft")


def test_a_phase_does_not_write_through_a_hard_link_that_another_phase_has_made(t):
    """The control is a file whose names are all in a folder that the phase may write."""
    phases = "phases:\n  - {name: plan, until: iterations 1}\n  - {name: work, write: [PLAN.md, docs]}\n"
    for name, links in (("control", "ln docs/a docs/b"), ("project", "ln a.txt PLAN.md")):
        loop = begin(t, phases, name=name, plan=f"edit a.txt x; mkdir docs; edit docs/a x; {links}",
                     work="edit PLAN.md plan; edit docs/b plan; edit done yes")
        loop.write("a.txt", "a")
        loop.run("-m", "2")
        equal(loop.outcome("a.txt"), "x\n", "the other file")
        if name == "control":
            equal((loop.outcome("PLAN.md"), loop.outcome("docs/a")), ("plan\n", "plan\n"), "what the phase may write")
        else:
            contains(loop.status()["reason"], REFUSED, "the reason")


def test_a_name_that_a_phase_may_write_twice_is_one_name(t):
    loop = begin(t, "phases:\n  - {name: plan, until: iterations 1}\n  - {name: work, write: [docs, docs/a]}\n",
                 plan="edit a.txt x; mkdir docs; ln a.txt docs/a", work="edit docs/a plan; edit done yes")
    loop.run("-m", "2")
    contains(loop.status()["reason"], "'docs/a' has another name", "the reason")
    equal(loop.outcome("a.txt"), "x\n", "the other file")


def test_a_phase_without_write_access_leaves_no_file_behind(t):
    """An empty plan file, which exists only so that the fence can show it, does not stay."""
    loop = begin(t, THREE.replace("write: PLAN.md", "write: [docs/PLAN.md, notes/]"), plan="say nothing")
    loop.run("-m", "1")
    expect(not [name for name in loop.tree() if name.startswith(("docs", "notes"))], "no file", list(loop.tree()))
    expect(not os.path.exists(loop.made("docs")) and not os.path.exists(loop.made("notes")), "no folder")


def test_a_phase_that_uses_up_its_iterations_pauses_and_can_be_left(t):
    loop = begin(t, plan="say nothing")
    result = loop.run()
    equal(result.code, 3, "exit status", result)
    equal(walked(loop), [("plan", "go on"), ("plan", "pause")], "the iterations")
    contains(loop.status()["reason"], "2 iterations of the phase 'plan' are used up (its max-iterations)", "the reason")
    loop.ringfence("resume", "--follow")
    equal([phase for phase, _ in walked(loop)], ["plan"] * 4, "resume gives it as many again")
    result = loop.ringfence("resume", "--follow", "--next-phase")
    equal(result.code, 0, "exit status of the next phase", result)
    equal(walked(loop)[4:], DONE[1:], "the rest")
    result = loop.ringfence("resume", "--next-phase")
    contains(result.err, "this is its last phase; there is no next one", "a phase that does not exist")


def test_a_phase_can_make_way_at_its_limit(t):
    loop = begin(t, THREE.replace("max-iterations: 2", "max-iterations: 1\n    on-limit: next"), plan="say nothing")
    equal(loop.run().code, 0, "exit status")
    equal(walked(loop), DONE, "the phases")
    contains(loop.history()[0]["reason"], "next phase: 'work'", "the reason")


def test_the_money_of_a_phase_ends_its_agent_and_the_phase(t):
    """0.05 of a phase's 0.08 are spent; the second iteration is stopped at what is left."""
    cost = "event cost '\"nusd\": 50000000'; event text '\"text\": \"x\"'; [ $N = 1 ] || hang"
    loop = begin(t, THREE.replace("max-iterations: 2", "max-cost: 0.08"), plan=cost)
    equal(loop.run(*EVENTS).code, 3, "exit status")
    entries = loop.history()
    equal([entry["verdict"] for entry in entries], ["go on", "pause"], "the verdicts")
    contains(entries[1]["limit"], "max-cost of the phase", "the limit that stopped the agent")
    contains(entries[1]["reason"], "US$ 0.10 of the phase 'plan' are spent (its max-cost is 0.08)", "the reason")


def test_a_phase_never_outvotes_a_check(t):
    """The last phase is over at once, but the check fails until its second iteration."""
    loop = begin(t, "phases: [{name: plan, until: promise}, {name: last, until: iterations 1}]\n",
                 plan="say '<promise>COMPLETE</promise>'", verify="[ $N -lt 3 ] || edit done yes; say '<promise>COMPLETE</promise>'")
    equal(loop.run().code, 0, "exit status")
    equal(walked(loop), [("plan", "go on"), ("last", "go on"), ("last", "done")], "the iterations")


def test_a_command_can_end_a_phase_and_its_failure_is_told(t):
    phases = "phases:\n  - {name: plan, until: [check grep -q step PLAN.md, file PLAN.md]}\n  - {name: work}\n"
    loop = begin(t, phases, plan="[ $N = 1 ] && edit PLAN.md nothing || edit PLAN.md a step")
    result = loop.run()
    equal(result.code, 0, "exit status", result)
    equal(walked(loop), [("plan", "go on"), ("plan", "go on"), ("work", "done")], "the iterations")
    equal([[check["passed"] for check in entry.get("phase_checks", [])] for entry in loop.history()], [[False], [True], []], "the checks")
    contains(result.out, "phase check 'grep -q step PLAN.md' fails", "the events")
    with open(os.path.join(loop.folder, "iterations/2/prompt.md"), encoding="utf-8") as file:
        contains(file.read(), "`grep -q step PLAN.md` failed.", "the next prompt")


def test_the_check_of_a_phase_runs_in_a_view_and_with_pinned_scripts(t):
    """Its files do not stay, also if the loop has no other check, and its script is as the loop found it."""
    phases = "phases:\n  - {name: plan, until: check sh ready.sh}\n  - {name: work}\n"
    loop = begin(t, phases, plan="edit ready.sh 'exit 0'; [ $N = 1 ] || edit plan x", work="say '<promise>COMPLETE</promise>'")
    loop.write("ready.sh", "echo x >stray; test -f plan")
    equal(loop.run(check=None).code, 0, "exit status")
    equal(walked(loop), [("plan", "go on"), ("plan", "go on"), ("work", "done")], "the iterations")
    expect("stray" not in loop.tree(), "what the check wrote", list(loop.tree()))


def test_the_prompt_and_the_dry_run_show_the_phase(t):
    loop = begin(t, plan="say nothing")
    shown = loop.run("--dry-run").out
    for words in ("phases: plan, work, verify. This is plan.", "Think first.", "only these paths: `PLAN.md`"):
        contains(shown, words, "the dry run")
    lacks(shown, "Done when", "the rules of the loop in a phase that they do not end")
    loop.run()
    prompt = json.loads(loop.ringfence("prompt", "--json").out)
    expect(prompt["parts"]["phase"]["bytes"] > 0 if isinstance(prompt["parts"], dict) else
           any(part["part"] == "phase" and part["bytes"] > 0 for part in prompt["parts"]), "the size of the part", prompt["parts"])


def test_phases_are_done_although_the_checks_pass_from_the_start(t):
    loop = begin(t)
    equal(loop.run(check="true").code, 0, "exit status")
    equal(walked(loop), DONE, "the phases")


def test_a_phase_has_its_own_timeout_and_never_a_longer_one(t):
    loop = begin(t, THREE.replace("max-iterations: 2", "max-iterations: 1\n    timeout: 1s"), plan="hang")
    loop.run("--timeout", "1h")
    equal((loop.history()[0]["timed_out"], loop.history()[0]["limit"]), (True, "timeout of the phase 1s"), "the limit of the phase")
    loop = begin(t, THREE.replace("max-iterations: 2", "max-iterations: 1\n    timeout: 1h"), name="other", plan="hang")
    loop.run("--timeout", "1s")
    equal((loop.history()[0]["timed_out"], loop.history()[0]["limit"]), (True, "--timeout 1s"), "the limit of the loop")


def test_prompts_from_files_and_models_of_a_phase_are_fixed_when_the_loop_starts(t):
    loop = begin(t, "phases:\n  - {name: plan, prompt-file: plan.md, model: small}\n  - {name: work}\n")
    loop.write("plan.md", "Think first.\n")
    plan, work = json.loads(loop.run("--dry-run", "--json").out)["config"]["phases"]
    equal((plan["prompt"], plan["agents"][0]["model"], plan["agents"][0]["agent_command"]), ("Think first.\n", "small", "sh agent.sh"), "the plan phase")
    equal((work["until"], "agents" in work), ([{"kind": "done", "text": "", "count": 0}], False), "the work phase")
    os.unlink(loop.path("plan.md"))
    contains(loop.run().err, "phase 'plan': read prompt-file", "a missing file")


@cases(("wirte: a", "2:5: a phase has no key 'wirte'; did you mean 'write'? (its keys: name, prompt, "), ("write: ../a", "write must be a path in the project"),
       ("until: soon", "until must be done, promise, 'file PATH'"), ("max-cost: much", "max-cost must be an amount"))
def test_a_wrong_phase_is_refused_with_its_place(t, line, why):
    loop = Loop(t)
    loop.write("ringfence.yml", f"phases:\n  - {line}\n    name: a\n")
    result = loop.run()
    equal(result.code, 125, "exit status", result)
    contains(result.err, "ringfence.yml:2:", "the place")
    contains(result.err, why, "the refusal")


def test_a_phase_names_its_agents_and_they_are_found(t):
    loop = begin(t, "phases: [{name: plan, agent: nobody}]\n")
    contains(loop.run().err, "phase 'plan': there is no agent 'nobody'", "the refusal")


# Agents of a phase: a stronger one when it is stalled, another one at a limit.

CLIMB = """phases:
  - name: plan
    until: file PLAN.md
    agent: "command:sh agent.sh"
    escalate: ["command:sh strong.sh"]
  - name: work
"""


def begin_climb(t, name="project"):
    """The agent of the plan phase cannot make the plan; a stronger one can. The next phase begins at the bottom."""
    loop = begin(t, CLIMB, name=name, plan="[ -e paid-$N ] || event cost '\"nusd\": 1000000'; edit paid-$N x",
                 work="[ -e paid-$N ] || event cost '\"nusd\": 1000000'; edit paid-$N x; edit done yes")
    with open(os.path.join(loop.project, "agent.sh"), encoding="utf-8") as file:
        loop.write("strong.sh", file.read().replace("script/", "strong/"))
    os.mkdir(loop.path("strong"))
    loop.write("strong/all", "[ -e strong-$N ] || event cost '\"nusd\": 7000000'; edit strong-$N x; edit PLAN.md plan")
    return loop


CLIMBING = (*EVENTS, "--escalate-after", "1", "--progress", "results")


def parts(loop):
    """The agents of the iterations that were not interrupted."""
    verdicts = [entry["verdict"] for entry in loop.history()]
    begun = [json.loads(data)["part"] for kind, data in loop.events() if kind == "begun"]
    return [part for part, verdict in zip(begun, verdicts) if verdict != "interrupted"]


def test_a_stalled_phase_climbs_and_the_next_one_begins_at_the_bottom(t):
    loop = begin_climb(t)
    result = loop.run(*CLIMBING)
    equal(result.code, 0, "exit status", result)
    equal(walked(loop), [("plan", "go on"), ("plan", "go on"), ("work", "done")], "the phases")
    equal(parts(loop), [1, 2, 0], "who worked")
    equal([one["spent_nusd"] for one in loop.status()["phases"]], [8000000, 1000000], "what each phase cost")
    equal([one["name"] for one in loop.status()["agents"]], ["command", "command", "command"], "all agents")


# Kills: at each event, before it is written, after, and together with the keeper.

def swept(t, number, start, words, end):
    """Kills the supervisor at an event of three equal loops, and compares how they end."""
    t.leftover_runs = True
    loops = {fault: start(t, name=f"fault-{number}-{place}") for place, fault in enumerate((f"{number}", f"{number}+", f"{number}b+"))}
    for fault, loop in loops.items():
        loop.detach(*words, env=t.env(RINGFENCE_FAULT=fault))
    both = loops[f"{number}b+"]
    until("the end of both", lambda: not both.status()["supervisor_pid"] and both.status()["status"] in ("interrupted", "completed"))
    if both.status()["status"] == "interrupted":
        equal(both.ringfence("resume").code, 0, "exit status of resume")
    for fault, loop in loops.items():
        status = loop.ended()
        equal((status["status"], status["used"], status["spent_nusd"], walked(loop), [one["iterations"] for one in status["phases"]]), end,
              f"the end at {fault}")
    t.all_gone()
    return loops


PAID = "[ -e paid-$N ] || event cost '\"nusd\": 3000000'; edit paid-$N x; "


def begin_paid(t, name="project"):
    phases = "phases:\n  - {name: plan, until: [file PLAN.md, check test -s PLAN.md]}\n  - {name: work}\n  - {name: verify, until: iterations 1}\n"
    return begin(t, phases, name=name, plan=PAID + "edit PLAN.md plan", work=PAID + "edit done yes", verify=PAID)


PAID_END = ("completed", 3, 9000000, DONE, [1, 1, 1])


def test_the_loop_of_the_sweep_over_phases_has_these_events(t):
    loop = begin_paid(t)
    loop.detach(*EVENTS)
    loop.ended("completed")
    kinds = [kind for kind, _ in loop.events()]
    equal(kinds[5:], ["baselined", "begun", "ended", "checkpointed", "checked", "probed", "continued", "begun", "ended", "checkpointed", "checked",
                      "continued", "begun", "ended", "checkpointed", "checked", "finished"], "the events")


@user_only
@cases(*range(6, 23))
def test_a_supervisor_killed_at_any_event_of_phases_changes_nothing(t, number):
    swept(t, number, begin_paid, EVENTS, PAID_END)


CLIMB_END = ("completed", 3, 9000000, [("plan", "go on"), ("plan", "go on"), ("work", "done")], [2, 1])


def test_the_loop_of_the_sweep_over_an_escalation_has_these_events(t):
    loop = begin_climb(t)
    loop.detach(*CLIMBING)
    loop.ended("completed")
    equal([kind for kind, _ in loop.events()][6:], [*["begun", "ended", "checkpointed", "checked", "continued"] * 2,
                                                    "begun", "ended", "checkpointed", "checked", "finished"], "the events")


@user_only
@cases(*range(6, 21))
def test_a_supervisor_killed_at_any_event_of_an_escalation_changes_nothing(t, number):
    for fault, loop in swept(t, number, begin_climb, CLIMBING, CLIMB_END).items():
        equal(parts(loop), [1, 2, 0], f"who worked at {fault}")


def test_a_runner_killed_in_any_phase_repeats_that_iteration_only(t):
    t.leftover_runs = True
    phases = "phases:\n  - {name: plan, until: file PLAN.md}\n  - {name: work}\n  - {name: verify, until: iterations 1}\n"
    once = "if [ ! -e tried-$N ]; then edit tried-$N x; hang; fi; "
    loop = begin(t, phases, plan=once + "edit PLAN.md plan", work=once + "edit done yes", verify=once + "say fine")
    loop.detach()
    for number in (1, 2, 3):
        loop.there(f"tried-{number}")
        until("its iteration", lambda: loop.said().get("iteration") == number)  # noqa: B023
        kill(loop.runner())
    status = loop.ended("completed")
    equal((status["used"], walked(loop), [one["iterations"] for one in status["phases"]]), (3, DONE, [1, 1, 1]), "the end")
    equal([(entry["iteration"], entry["phase"]) for entry in loop.history() if entry["verdict"] == "interrupted"],
          [(1, "plan"), (2, "work"), (3, "verify")], "what was interrupted")
    t.all_gone()


def test_a_runner_killed_in_the_check_of_a_phase_repeats_the_iteration(t):
    t.leftover_runs = True
    loop = begin(t, "phases:\n  - name: plan\n    until: check [ -e go ] || sleep 300\n  - {name: work}\n")
    loop.detach()
    log = os.path.join(loop.folder, "iterations/1/phase-1.stdout.log")
    until("the check of the phase", lambda: os.path.exists(log))
    loop.write("go")
    kill(loop.runner())
    status = loop.ended("completed")
    equal((status["used"], walked(loop)), (2, [("plan", "go on"), ("work", "done")]), "the end")
    t.all_gone()


def test_a_limit_of_a_provider_hands_over_within_a_phase(t):
    """The agents of the plan phase are its own; those of the loop work after it."""
    phases = "phases:\n  - name: plan\n    agent: \"command:sh agent.sh,command:sh second.sh\"\n    until: file PLAN.md\n  - {name: work}\n"
    loop = begin(t, phases, plan="event limit \"\\\"reset_at\\\": $(($(date +%s) + 7200))\"; exit 0")
    loop.write("second.sh", "cat >/dev/null; echo plan >PLAN.md")
    equal(loop.run(*EVENTS).code, 0, "exit status")
    equal(parts(loop), [1, 2, 0], "who worked")
    equal(walked(loop), [("plan", "go on"), ("plan", "go on"), ("work", "done")], "the phases")
    equal([one["iterations"] for one in loop.status()["phases"]], [1, 1], "a hand-over uses up no iteration of the phase")
