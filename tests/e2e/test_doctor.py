"""ringfence doctor: what works on this machine, and how to fix the rest."""

import json
import os
import shutil
import subprocess

from harness import cases, contains, equal, expect, lacks, root_only, user_only
from harness import kernel
from harness.drafts import on_overlay

NAMES = ["kernel", "user namespaces", "landlock", "fence", "limits", "agents", "git", "disk", "state", "drafts", "draft space", "time zone", "/proc",
         "/tmp", "surroundings"]


def doctor(t, *opts, **options):
    return t.run([t.ringfence, "doctor", *opts], **options)


def checks(t, **options):
    result = doctor(t, "--json", **options)
    report = json.loads(result.out)
    equal(result.code, 0 if report["ok"] else 1, "the exit status agrees", result)
    return report, {check["name"]: check for check in report["checks"]}


def test_the_checks_are_listed_with_state_detail_and_remedy(t):
    report, found = checks(t)
    expect(set(NAMES) <= set(found), "all checks", report)
    for check in report["checks"]:
        equal(sorted(check), ["detail", "name", "remedy", "state"], "the fields")
        expect(check["state"] in ("ok", "warn", "fail", "skip"), "a state", check)
        expect(check["detail"], "a detail", check)
        expect(check["state"] in ("ok", "skip") or check["remedy"], "trouble comes with its remedy", check)


def test_the_fence_is_tried_for_real(t):
    process = t.start([t.ringfence, "doctor", "--json"], stdout=subprocess.PIPE)
    report = json.loads(t.communicate(process)[0])
    fence = next(check for check in report["checks"] if check["name"] == "fence")
    equal((report["ok"], fence["state"]), (True, "ok"), "the fence", report)
    contains(fence["detail"], "canaries held", "the detail")
    equal([name for name in os.listdir("/tmp") if name.startswith(f"ringfence-doctor-{process.pid}-")],
          [], "folders left behind")


def test_it_says_what_keeps_each_limit(t):
    _, found = checks(t)
    for name in ("memory", "processes", "open-files, file-size; ", "rlimit: ", "tmpfs: tmp-size", "timer: time"):
        contains(found["limits"]["detail"], name, "the limits")


@user_only
def test_it_tries_which_kind_of_drafts_works(t):
    """The control: an overlay works, before the state is on an overlay itself."""
    _, found = checks(t)
    equal((found["drafts"]["state"], found["drafts"]["detail"]), ("ok", "overlay: works; only changes take space"), "the control")
    t.own_mounts()
    state = on_overlay(t, os.path.join(t.outside, "state"))
    report, found = checks(t, env=t.env(RINGFENCE_STATE_DIR=state))
    equal((report["ok"], found["drafts"]["state"]), (True, "warn"), "the drafts", report)
    contains(found["drafts"]["detail"], "copy: works", "the detail")
    contains(found["drafts"]["remedy"], "a state folder on ext4, xfs, btrfs", "the remedy")
    equal([name for name in os.listdir(state) if "draft" in name], [], "what the trial left behind")


def test_it_takes_less_than_a_second_of_cpu_time(t):
    doctor(t)
    before = t.spent()
    doctor(t)
    expect(t.spent() - before < 1, "CPU time in s", t.spent() - before)


def test_a_program_that_is_missing_is_no_fault_of_the_container(t):
    """The control: a fence was tried in one, and failed."""
    alone = os.path.join(t.outside, "ringfence")
    shutil.copy(t.ringfence, alone)
    binds = ("--tmpfs", "/run", "--ro-bind", "/dev/null", "/run/.containerenv", "--tmpfs", "/usr/local")
    for program, missing in ((alone, True), (t.ringfence, False)):
        result = t.run(t.bwrap_argv(program, "doctor", "--json", binds=binds), env=t.env(RINGFENCE_BWRAP="/bin/false"))
        found = {check["name"]: check for check in json.loads(result.out)["checks"]}
        equal((found["fence"]["state"], found["surroundings"]["detail"]), ("fail", "a container"), "what is seen", result)
        equal("ringfence-init is neither in" in found["fence"]["remedy"] and "make install PREFIX=" in found["fence"]["remedy"], missing,
              "the remedy of the fence", found["fence"])
        equal("--security-opt" in (found["surroundings"]["remedy"] or ""), not missing, "the remedy of the container", found)


def test_without_bwrap_it_fails_and_names_the_remedy(t):
    report, found = checks(t, env=t.env(RINGFENCE_BWRAP="/nonexistent/bwrap"))
    equal((report["ok"], found["fence"]["state"]), (False, "fail"), "the fence", report)
    contains(found["fence"]["remedy"], "bubblewrap", "the remedy")


def test_a_state_folder_that_is_refused_is_the_only_trouble(t):
    state = os.path.join(t.outside, "open")
    os.mkdir(state)
    os.chmod(state, 0o777)
    report, found = checks(t, env=t.env(RINGFENCE_STATE_DIR=state))
    equal((report["ok"], found["state"]["state"], found["state"]["detail"]), (False, "fail", "cannot be used"), "the state", report)
    contains(found["state"]["remedy"], f"run: chmod go-w '{state}'", "the remedy")
    for name, why in (("fence", "the state folder cannot be used"), ("disk", "the state folder cannot be used"),
                      ("limits", "the fence does not work")):
        equal((found[name]["state"], found[name]["detail"], found[name]["remedy"]), ("skip", f"not checked: {why}", None), name)
    os.chmod(state, 0o700)
    equal(checks(t, env=t.env(RINGFENCE_STATE_DIR=state))[0]["ok"], True, "the control: a folder that is private")


@root_only
def test_a_full_disk_of_the_state_is_named_by_the_doctor_and_by_exec(t):
    script = (f"mount -t tmpfs -o size=64k,mode=700 none {t.state} && head -c 1M /dev/zero >{t.state}/x 2>/dev/null; "
              f"{t.ringfence} exec -- true; {t.ringfence} doctor --json")
    os.makedirs(t.state, exist_ok=True)
    result = t.run(["unshare", "--mount", "sh", "-c", script], cwd=t.project)
    sentence = f"the disk of '{t.state}' is full: free some space; ringfence clean --older 7d --all removes old loops"
    contains(result.err, sentence, "exec")
    found = {check["name"]: check for check in json.loads(result.out)["checks"]}
    equal((found["state"]["state"], found["state"]["remedy"]), ("fail", sentence), "the state", found)
    equal((found["fence"]["state"], found["surroundings"]["remedy"]), ("skip", None), "what is no fault of the machine", found)


def test_without_user_namespaces_it_fails_and_names_the_setting(t):
    kernel.forbid_user_namespaces()
    report, found = checks(t)
    equal(report["ok"], False, "the verdict", report)
    contains(found["user namespaces"]["remedy"], "max_user_namespaces", "the remedy")


def test_where_parts_of_proc_are_covered_it_fails_and_names_the_options(t):
    """As in most containers. The control: the same mount namespace before anything is covered."""
    t.own_mounts()
    expect(checks(t)[0]["ok"], "the control")
    t.tmpfs("/proc/irq")
    report, found = checks(t)
    equal(report["ok"], False, "the verdict", report)
    for words in ("parts of /proc are covered", "--security-opt systempaths=unconfined", "--security-opt unmask=ALL"):
        contains(found["fence"]["remedy"], words, "the remedy")
    result = t.fence("true")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "parts of /proc are covered", "the reason")


@user_only
def test_root_of_a_user_namespace_has_a_fence(t):
    """As in a rootless container, which has its own /proc: the command is not root."""
    binds = ("--proc", "/proc", "--bind", t.home, t.home, "--chdir", t.project)
    result = t.run(t.bwrap_argv(t.ringfence, "exec", "--", "id", "-u", binds=binds))
    equal((result.code, result.out), (0, "1000\n"), "the user inside", result)


def test_an_agent_is_found_with_its_version_and_never_started(t):
    package = os.path.join(t.outside, "lib/node_modules/agent")
    mark = os.path.join(t.outside, "started")
    t.write(f"{package}/package.json", '{"name": "agent", "version": "2.1.3"}')
    t.write(f"{package}/cli.js", f"#!/bin/sh\ntouch {mark}\n", 0o755)
    os.makedirs(os.path.join(t.outside, "bin"))
    os.symlink(f"{package}/cli.js", os.path.join(t.outside, "bin/claude"))
    path = f"{t.outside}/bin:" + t.env()["PATH"]
    _, found = checks(t, env=t.env(PATH=path))
    contains(found["agents"]["detail"], "claude 2.1.3", "the agents")
    expect(not os.path.exists(mark), "it must not be started")


@cases("{", "[]", '{"version": 3}', "", "\xff" * 100)
def test_a_package_that_is_no_package_is_no_trouble(t, text):
    package = os.path.join(t.outside, "agent")
    t.write(f"{package}/package.json", text)
    t.write(f"{package}/bin/codex", "#!/bin/sh\n", 0o755)
    _, found = checks(t, env=t.env(PATH=f"{package}/bin:" + t.env()["PATH"]))
    contains(found["agents"]["detail"], "codex", "the agents")


def test_no_agent_is_no_trouble(t):
    _, found = checks(t, env=t.env(PATH="/usr/bin:/bin"))
    equal((found["agents"]["state"], found["agents"]["remedy"]), ("ok", None), "the agents", found["agents"])


def test_where_the_fence_works_its_surroundings_are_no_trouble(t):
    _, found = checks(t)
    equal(found["fence"]["state"], "ok", "the fence", found)
    equal(found["user namespaces"]["state"], "ok", "user namespaces", found)
    expect(found["surroundings"]["state"] == "ok" or "Windows" in found["surroundings"]["detail"],
           "the surroundings", found)


def test_the_disk_is_the_one_that_holds_the_state(t):
    _, found = checks(t)
    contains(found["disk"]["detail"], f"'{t.state}'", "the disk")


def test_it_speaks_only_of_what_it_looked_at(t):
    out = doctor(t, "--json", env=t.env(TZ="Nowhere/Atlantis", PATH="/usr/bin:/bin")).out
    contains(out, "Atlantis", "the findings")
    for word in ("loop", "checkpoint", "resets", "command line"):
        lacks(out, word, "the findings")


def test_a_git_that_somebody_put_into_the_path_is_not_started(t):
    mark = os.path.join(t.outside, "started")
    t.script("git", f"#!/bin/sh\ntouch {mark}\n", os.path.join(t.outside, "bin"))
    checks(t, env=t.env(PATH=f"{t.outside}/bin:" + t.env()["PATH"]))
    expect(not os.path.exists(mark), "it must not be started")


def test_a_package_that_is_a_pipe_does_not_make_it_wait(t):
    package = os.path.join(t.outside, "agent")
    t.write(f"{package}/bin/claude", "#!/bin/sh\n", 0o755)
    os.mkfifo(f"{package}/package.json")
    _, found = checks(t, env=t.env(PATH=f"{package}/bin:" + t.env()["PATH"]))
    contains(found["agents"]["detail"], "claude", "the agents")


def test_an_unknown_time_zone_is_named(t):
    _, found = checks(t, env=t.env(TZ="Nowhere/Atlantis"))
    equal(found["time zone"]["state"], "warn", "the time zone")
    contains(found["time zone"]["remedy"], "Atlantis", "the remedy")


def test_for_people_it_is_a_table(t):
    result = doctor(t)
    equal(result.code, 0, "exit status", result)
    for name in NAMES:
        contains(result.out, name, "the table")
    contains(result.out, "Ringfence works on this machine.", "the verdict")
    equal([line for line in result.out.splitlines() if len(line) > 80 and len(line.split()) > 1], [],
          "lines that are too long and could be broken")


def test_control_characters_are_not_shown(t):
    result = doctor(t, env=t.env(TZ="Evil\x1b[31m"))
    contains(result.out, "Evil", "stdout")
    lacks(result.out, "\x1b", "stdout")


@cases(["--no-such"], ["extra"], ["--json=yes"])
def test_wrong_options_are_refused(t, opts):
    result = doctor(t, *opts)
    equal((result.code, result.out), (125, ""), "refused", result)
    contains(result.err, "ringfence: ", "the reason")
