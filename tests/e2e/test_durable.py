"""Files survive a power cut: data comes before its name, and both before anything that relies on them."""

import hashlib
import os

from harness import equal, expect, kernel, needs
from harness.gitrepo import Private, Repository
from harness.loop import LoopInPlace as Loop
from harness.provider import Models, respond
from harness.snapshots import Snapshots
from harness.syncs import Syncs

ANY = "[^ ]*"


def logged(t):
    """From now on ringfence runs with a log of its calls."""
    syncs = Syncs(t, t.ringfence)
    t.ringfence = syncs.argv0
    return syncs


def test_the_copy_of_etc_is_on_disk_before_its_name(t):
    syncs = logged(t)
    t.works("true")
    etc = os.path.join(t.state, "etc")
    syncs.in_order(f"write {etc}/{ANY}/passwd", f"syncfs {etc}")
    syncs.at_once(f"syncfs {etc}", f"rename {etc}/{ANY} {etc}/{ANY}", f"sync {etc}")


def test_a_damaged_copy_of_etc_is_replaced_on_disk(t):
    syncs = logged(t)
    t.works("true")
    etc = os.path.join(t.state, "etc")
    os.truncate(os.path.join(etc, os.listdir(etc)[0], "passwd"), 0)
    t.works("true")
    syncs.at_once(f"syncfs {etc}", f"rename {etc}/{ANY} {etc}/{ANY}", f"rename {etc}/{ANY} {etc}/{ANY}", f"sync {etc}")


def test_the_record_of_a_run_is_on_disk_before_the_command_starts(t):
    syncs = logged(t)
    t.works("sh", "-c", "echo x > begun")
    runs = os.path.join(t.state, "runs")
    syncs.in_order(f"write {runs}/#{ANY} .deleted.", f"link {ANY} {runs}/{ANY}", f"sync {runs}/#{ANY} .deleted.",
                   f"write {t.path('begun')}")


def test_what_is_quarantined_is_on_disk_before_the_record_of_the_run_goes(t):
    syncs = logged(t)
    t.works("sh", "-c", "mkdir .vscode; echo x > .vscode/tasks.json")
    syncs.at_once(f"rename {t.path('.vscode')} {t.state}/quarantine/{ANY}", f"write {t.state}/quarantined/{ANY}",
                  f"syncfs {t.project}", f"remove {t.state}/runs/{ANY}")


def test_what_comes_back_from_quarantine_is_on_disk(t):
    syncs = logged(t)
    t.works("sh", "-c", "echo x > .envrc")
    equal(t.run([t.ringfence, "quarantine", "restore", ".envrc"]).code, 0, "exit status")
    syncs.at_once(f"rename {t.state}/quarantine/{ANY}/.envrc {t.path('.envrc')}", f"sync {t.project}")


def test_a_trust_is_on_disk_when_it_is_given_and_when_it_is_taken_back(t):
    syncs = logged(t)
    t.write("ringfence.yml", "env: [A]\n")
    trust = os.path.join(t.state, "trust")
    equal(t.run([t.ringfence, "trust", "--yes"]).code, 0, "trust")
    syncs.at_once(f"write {trust}/{ANY}", f"sync {trust}/{ANY}", f"rename {trust}/{ANY} {trust}/{ANY}", f"sync {trust}")
    equal(t.run([t.ringfence, "untrust"]).code, 0, "untrust")
    syncs.at_once(f"remove {trust}/{ANY}", f"sync {trust}")


def checkpoints(t, **options):
    """ringfence-snapshot on the project, with a log of its calls."""
    syncs = Syncs(t, os.path.join(t.build, "ringfence-snapshot"))
    return syncs, Snapshots(syncs.argv0, options.pop("folder", t.outside), t.project, env=t.env())


def test_a_checkpoint_is_on_disk_before_the_ref_that_names_it(t):
    syncs, program = checkpoints(t)
    t.write("x", "1")
    program.save()
    store, pack = program.store, f"{program.store}/objects/pack"
    syncs.at_once(f"sync {pack}/ringfence-temporary-pack", f"write {pack}/ringfence-temporary-idx", f"sync {pack}/ringfence-temporary-idx",
                  f"rename {pack}/ringfence-temporary-pack {pack}/pack-{ANY}.pack",
                  f"rename {pack}/ringfence-temporary-idx {pack}/pack-{ANY}.idx", f"sync {pack}")
    refs = f"{store}/refs/ringfence/loop"
    named = syncs.where(f"rename {store}/temporary {refs}/0")
    equal([call for _, call in syncs.calls[named - 1:named + 2]],
          [f"sync {store}/temporary", f"rename {store}/temporary {refs}/0", f"sync {refs}"], "the ref")
    expect(syncs.where(f"sync {pack}") < named, "the pack comes first")
    expect(syncs.where(f"syncfs {t.project}") < named, "and the project's own files, which it must match")


def test_a_state_on_another_disk_is_synced_with_the_project(t):
    t.own_mounts()
    folder = os.path.join(t.outside, "disk")
    t.tmpfs(folder, "16m")
    syncs, program = checkpoints(t, folder=folder)
    t.write("x", "1")
    program.save()
    syncs.at_once(f"syncfs {t.project}", f"syncfs {program.store}")


def test_a_rollback_is_on_disk_before_and_after_the_files_move(t):
    syncs, program = checkpoints(t)
    t.write("x", "1")
    program.save()
    t.write("x", "2")
    program.rollback(0)
    equal(t.read("x"), "1", "the file")
    stage, store = t.path(".ringfence-rollback"), program.store
    syncs.at_once(f"write {stage}/1", f"syncfs {stage}", f"write {store}/temporary", f"sync {store}/temporary",
                  f"rename {store}/temporary {store}/undo", f"sync {store}", f"rename {stage}/1 {t.path('x')}",
                  f"syncfs {stage}")
    expect(syncs.where(f"rename {stage}/1 {t.path('x')}") < syncs.where(f"remove {store}/undo"), "then the note goes")


def imported(t, **options):
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    private = Private(t, repo)
    syncs = Syncs(t, private.snapshots.program)
    private.snapshots.program = syncs.argv0
    private.open()
    folder = private.folder
    syncs.at_once(f"syncfs {folder}", f"rename {folder}/git.temporary {folder}/git", f"sync {folder}")
    private.commit("one")
    code, answer = private.ask("git-import", **options)
    equal((code, answer["refs"]), (0, 1), "the import", answer)
    return syncs, repo.folder, folder


@needs("git")
def test_an_import_is_on_disk_before_the_branch_and_the_branch_before_the_note(t):
    syncs, git, folder = imported(t)
    pack, own, branch = f"{git}/objects/pack", f"{folder}/git-own", f"{git}/refs/heads/ringfence/loop"
    syncs.at_once(f"sync {pack}/ringfence-loop-pack", f"write {pack}/ringfence-loop-idx", f"sync {pack}/ringfence-loop-idx",
                  f"write {own}/temporary", f"sync {own}/temporary", f"rename {own}/temporary {own}/pending", f"sync {own}")
    syncs.at_once(f"rename {pack}/ringfence-loop-pack {pack}/{ANY}.pack",
                  f"rename {pack}/ringfence-loop-idx {pack}/{ANY}.idx", f"sync {pack}",
                  f"write {branch}.ringfence.lock", f"sync {branch}.ringfence.lock",
                  f"link {branch}.ringfence.lock {branch}.lock", f"rename {branch}.lock {branch}",
                  f"remove {branch}.ringfence.lock", f"syncfs {git}", f"write {own}/temporary", f"sync {own}/temporary",
                  f"rename {own}/temporary {own}/imported", f"sync {own}", f"remove {own}/pending")


@needs("git")
def test_an_object_of_lfs_is_on_disk_before_its_name_and_before_the_commit_that_needs_it(t):
    repo = Repository(t, os.path.join(t.home, "repo")).filled()
    private = Private(t, repo)
    private.open()
    digest = hashlib.sha256(b"content").hexdigest()
    private.write(f"lfs/objects/{digest[:2]}/{digest[2:4]}/{digest}", "content")
    repo.write("x.bin", f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 7\n")
    private.git("add", "x.bin")
    repo.write(".gitattributes", "*.bin filter=lfs\n")
    private.git("add", ".gitattributes")
    private.git("commit", "-q", "-m", "a pointer")
    syncs = Syncs(t, private.snapshots.program)
    private.snapshots.program = syncs.argv0
    equal(private.bring()["refused"], [], "refusals")
    git, lfs = repo.folder, f"{repo.folder}/lfs"
    temporary, objects = f"{lfs}/tmp/ringfence-loop", f"{lfs}/objects"
    place = f"{objects}/{digest[:2]}/{digest[2:4]}"
    syncs.in_order(f"sync {git}", f"sync {lfs}", f"write {temporary}", f"sync {lfs}", f"sync {objects}", f"sync {objects}/{digest[:2]}",
                   f"sync {temporary}", f"rename {temporary} {place}/{digest}", f"sync {place}",
                   f"rename {git}/objects/pack/ringfence-loop-pack {ANY}")


@needs("git")
def test_without_hard_links_the_lock_of_a_branch_is_on_disk_before_its_name_too(t):
    syncs, git, _ = imported(t, begin=kernel.forbid_links)
    branch = f"{git}/refs/heads/ringfence/loop"
    syncs.at_once(f"link {branch}.ringfence.lock {branch}.lock", f"write {branch}.lock", f"sync {branch}.lock",
                  f"rename {branch}.lock {branch}")


@needs("git")
def test_an_apply_is_on_disk_before_its_note_goes(t):
    loop = Loop(t, scripts={"1": "edit done yes"})
    Repository(t, loop.project).commit()
    equal(loop.run("--worktree").code, 0, "the loop")
    syncs = logged(t)
    result = loop.ringfence("apply", "--yes")
    equal(result.code, 0, "exit status of apply", result)
    project = loop.project
    git, stage = f"{project}/.git", f"{project}/.ringfence-rollback"
    syncs.at_once(f"write {git}/ringfence-lock", f"sync {git}/ringfence-lock", f"rename {git}/ringfence-lock {git}/index.lock")
    syncs.in_order(f"write {stage}/1", f"syncfs {stage}", f"write {git}/ringfence-apply.temporary")
    syncs.at_once(f"write {git}/ringfence-apply.temporary", f"sync {git}/ringfence-apply.temporary",
                  f"rename {git}/ringfence-apply.temporary {git}/ringfence-apply", f"sync {git}")
    syncs.at_once(f"link {git}/.ringfence-index.{ANY} {git}/ringfence-index", f"sync {git}")
    syncs.in_order(f"write {git}/.ringfence-index.{ANY}", f"sync {git}/.ringfence-index.{ANY}",
                   f"link {git}/.ringfence-index.{ANY} {git}/ringfence-index")
    syncs.at_once(f"sync {git}/ringfence-index", f"rename {git}/ringfence-index {git}/index", f"sync {git}")
    syncs.at_once(f"syncfs {project}", f"syncfs {git}", f"remove {git}/ringfence-apply")


@needs("git")
def test_a_loop_is_on_disk_before_each_event_that_says_so(t):
    loop = Loop(t, scripts={"1": "edit done yes"})
    repo = Repository(t, loop.project)
    repo.commit()
    syncs = logged(t)
    result = loop.run("--worktree")
    equal(result.code, 0, "the loop", result)
    loops, git = os.path.join(t.state, "loops"), f"{repo.folder}/worktrees/{ANY}"
    syncs.in_order(f"sync {loops}", f"write {loops}/{ANY}/journal.db", f"sync {loops}/{ANY}/journal.db")
    journal = [(thread, call) for thread, call in syncs.calls if call.endswith("/journal.db-wal")]
    for writer in {thread for thread, _ in journal}:
        words = [call.split(" ")[0] for thread, call in journal if thread == writer]
        last = len(words) - words[::-1].index("write")
        equal(words[last], "sync", "what follows the last event of this process", words)
    syncs.in_order(f"link {repo.folder}/objects/{ANY} {repo.folder}/objects/{ANY}", f"syncfs {git}",
                   f"write {repo.folder}/logs/refs/heads/ringfence/{ANY}")


def test_costs_are_on_disk_before_they_count(t):
    syncs = logged(t)
    tape = os.path.join(t.outside, "tape")
    models = Models(t, lambda request, _: respond({"usage": {"input_tokens": 1, "output_tokens": 1}}), "--record", tape)
    models.ask()
    models.stop()
    day, folder = os.path.join(t.state, "day.spend"), os.path.join(t.state, "gateway")
    syncs.at_once(f"write {day}", f"sync {day}", f"sync {t.state}", f"write {folder}/spend", f"sync {folder}/spend",
                  f"sync {folder}", f"write {folder}/ledger.jsonl")
    line = syncs.where(f"write {folder}/ledger.jsonl")
    counted = syncs.where(f"write {folder}/spend", line)
    expect(line < syncs.where(f"sync {folder}/ledger.jsonl", line) < counted, "the line comes before the sum")
    end = syncs.where(f"sync {folder}/spend", counted)
    expect(end < syncs.where(f"sync {folder}/ledger.jsonl", end), "the lines are synced at the end")
    texts = [call for _, call in syncs.calls if call.endswith(tape)]
    equal(texts[-2:], [f"write {tape}", f"sync {tape}"], "and the tape")
