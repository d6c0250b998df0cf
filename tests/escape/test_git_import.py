"""Items 11 to 19 for the private git directory: an agent plants something in it, and then the user uses git on the host."""

import hashlib
import os
import shutil
import struct
import zlib

from harness import cases, contains, each_identity, equal, expect, needs
from harness.gitrepo import Private, Repository
from harness.loop import LoopInPlace as Loop

ANY_IDENTITY = "Objects and refs are believed or not by their bytes; ringfence-snapshot reads them with the rights of its user."

HOOKS = ("pre-commit", "post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "post-index-change",
         "pre-push", "fsmonitor-watchman")


def both(t, name="repo"):
    """A user's repository, and a private directory that borrows from it."""
    repo = Repository(t, os.path.join(t.home, name)).filled()
    private = Private(t, repo)
    equal(private.open()["mode"], "private", "the mode")
    return repo, private.detached()


def refused(answer, what):
    contains(" ".join(answer["refused"]), what, "what was refused")


def nothing_came(repo, before):
    equal(repo.refs(), before, "the refs of the user's repository")
    repo.fsck()


def link_below(source, target):
    """Every file below the one folder is a symlink below the other."""
    for base, _, files in os.walk(source):
        inner = os.path.join(target, os.path.relpath(base, source))
        os.makedirs(inner, exist_ok=True)
        for file in files:
            os.symlink(os.path.join(base, file), os.path.join(inner, file))


# Programs, and links to other places

@needs("git")
@each_identity
def test_nothing_that_an_agent_plants_for_git_runs_on_the_host(t):
    mark = os.path.join(t.outside, "mark")
    plant = f"""
for hook in {' '.join(HOOKS)}; do printf '#!/bin/sh\\ntouch {mark}\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook; done
git config core.fsmonitor 'touch {mark}; :'; git config core.sshCommand 'touch {mark}; :'
git config core.pager 'touch {mark}; :'; git config core.editor 'touch {mark}; :'
git config diff.external 'touch {mark}; :'; git config filter.x.clean 'touch {mark}; cat'
git config filter.x.smudge 'touch {mark}; cat'; git config alias.st '!touch {mark}'
git config include.path ../planted; git config core.hooksPath {t.outside}; git config core.attributesFile {t.outside}/a
git config credential.helper '!touch {mark}; :'; git config gpg.program 'touch {mark}; :'
git config uploadpack.packObjectsHook 'touch {mark}; :'; git config merge.x.driver 'touch {mark}; :'
mkdir -p .git/info; echo '* filter=x diff=x merge=x' > .git/info/attributes
echo {t.outside} > .git/commondir.not; echo {t.outside}/x > .git/gitdir
"""
    loop = Loop(t, scripts={"1": f"edit new.txt x; git add new.txt; git -c core.hooksPath=/dev/null commit -qm x\n{plant}\n"
                                 "edit done yes"})
    repo = Repository(t, loop.project).filled()
    before = repo.state()
    equal(loop.run().code, 0, "exit status of run")
    expect(os.path.exists(os.path.join(loop.folder, "git/hooks/pre-commit")), "as a control, it was planted")
    name = f"ringfence/{loop.status()['id']}"
    equal(repo.state(), before, "all of the user's git directory but objects")
    if os.path.exists(mark):  # inside nothing of /outside is there
        os.unlink(mark)
    for words in (("status",), ("log", "--oneline", name), ("diff", f"main..{name}"), ("add", "-A"),
                  ("fetch", ".", name), ("worktree", "add", "-q", os.path.join(t.outside, "tree"), name),
                  ("merge", "-q", "--no-edit", name), ("gc", "-q"), ("fsck",)):
        result = repo.run(*words)
        equal(result.code, 0, f"git {words[0]} on the host", result)
        expect(not os.path.exists(mark), f"git {words[0]} runs nothing of it", result)
    control = t.run(["git", f"--git-dir={loop.folder}/git", f"--work-tree={loop.project}", "status"], cwd=t.home)
    expect(os.path.exists(mark), "as a control, git in the private directory would have run it", control)


@needs("git")
@cases("alternates", "a pack", "a loose object", "a folder of objects", "all objects", "the pack folder")
@each_identity
def test_objects_of_another_repository_do_not_come_in(t, how):
    other = Repository(t, os.path.join(t.home, "other"))
    other.write("secret.txt", "the secret\n")
    secret = other.commit("a secret")
    if how in ("a pack", "the pack folder"):
        other.git("gc", "-q")
    repo, private = both(t)
    before = repo.refs()
    objects, source = os.path.join(private.path, "objects"), os.path.join(other.folder, "objects")
    private.commit()
    if how == "alternates":
        private.write("objects/info/alternates", f"{source}\n")
    elif how == "a pack":
        for file in os.listdir(os.path.join(source, "pack")):
            os.symlink(os.path.join(source, "pack", file), os.path.join(objects, "pack", file))
    elif how == "a loose object":
        link_below(source, objects)
    elif how == "a folder of objects":
        for name in os.listdir(source):
            if os.path.exists(os.path.join(objects, name)):  # an id of the agent's begins like one of these
                link_below(os.path.join(source, name), os.path.join(objects, name))
            else:
                os.symlink(os.path.join(source, name), os.path.join(objects, name))
    elif how == "all objects":
        os.rename(objects, f"{objects}.old")
        os.symlink(source, objects)
    else:
        os.rmdir(os.path.join(objects, "pack"))
        os.symlink(os.path.join(source, "pack"), os.path.join(objects, "pack"))
    private.head(secret)
    equal(private.run("cat-file", "-p", f"{secret}:secret.txt").out, "the secret\n", "as a control, git finds it")
    answer = private.bring()
    if how != "all objects":  # then there is nothing at all
        refused(answer, "is missing")
    nothing_came(repo, before)
    expect(repo.run("cat-file", "-e", secret).code != 0, "it did not come in")


@needs("git")
@cases("packed-refs", "refs", "refs/heads", "refs/heads/x", "HEAD")
@each_identity
def test_no_symlink_of_an_agent_is_followed_for_refs(t, name):
    """Outside are valid refs, which would be imported if a link was followed."""
    repo, private = both(t)
    tip = private.commit()
    outside = os.path.join(t.outside, "refs-of-others")
    os.makedirs(os.path.join(outside, "heads"))
    for file, text in (("heads/x", f"{tip}\n"), ("x", f"{tip}\n"), ("HEAD", f"{tip}\n"),
                       ("packed-refs", f"{tip} refs/heads/x\n")):
        with open(os.path.join(outside, file), "w", encoding="utf-8") as stream:
            stream.write(text)
    target = {"refs": outside, "refs/heads": os.path.join(outside, "heads"),
              "refs/heads/x": os.path.join(outside, "x")}.get(name, os.path.join(outside, name))
    path = os.path.join(private.path, name)
    if os.path.lexists(path):
        os.rename(path, os.path.join(private.path, "old"))
    os.symlink(target, path)
    private.bring()
    wanted = [] if name == "HEAD" else [private.branch]
    equal([ref for ref in repo.refs() if "ringfence" in ref], wanted, "what came")
    repo.fsck()
    os.unlink(path)
    (shutil.copytree if os.path.isdir(target) else shutil.copy)(target, path)
    private.bring()
    extra = [private.branch] if name == "HEAD" else [private.branch, "refs/ringfence/loop/heads/x"]
    equal([ref for ref in repo.refs() if "ringfence" in ref], extra, "as a control, without the symlink")


# Objects that are not what they should be

BLOB = "blob of the agent"


def trees(private):
    """Trees that must be refused."""
    blob = private.put("blob", b"#!/bin/sh\n")
    inner = private.tree(("100755", b"pre-commit", blob))
    link = private.put("blob", b"/etc/passwd")
    bad = {name: private.tree(("40000", name, inner)) for name in (
        b".git", b".GIT", b".Git", b"git~1", b"GIT~1", b".git ", b".git.", b".git...", b".git::$INDEX_ALLOCATION",
        b".g\xe2\x80\x8cit", b"\xef\xbb\xbf.git", b".gi\xe2\x80\xaet", b"..", b".", b"", b"a/b", b"x\\.git",
        b".git\\hooks")}
    bad["a mode"] = private.tree(("100777", b"x", blob))
    bad["a padded mode"] = private.tree(("040000", b"x", inner))
    bad["an odd type"] = private.tree(("40000", b"x", blob))
    bad["a blob that is a tree"] = private.tree(("100644", b"x", inner))
    bad["two of one name"] = private.tree(("100644", b"x", blob), ("100644", b"x", blob))
    bad["a file and a folder"] = private.tree(("100644", b"x", blob), ("100644", b"x.y", blob), ("40000", b"x", inner))
    bad["an order"] = private.tree(("100644", b"b", blob), ("100644", b"a", blob))
    bad["nothing"] = private.tree(("100644", b"x", "0" * 40))
    bad["cut off"] = private.put("tree", b"100644 x\0abc")
    bad["no end"] = private.put("tree", b"100644 x")
    bad["a link as .gitmodules"] = private.tree(("120000", b".gitmodules", link))
    for number, text in enumerate((b'[submodule "x"]\n\tpath = -x\n\turl = x\n', b'[submodule "x"]\n\turl = --upload-pack=x\n',
                                   b'[submodule "../x"]\n\tpath = x\n\turl = y\n', b'[submodule "x"]\n\tupdate = !touch x\n',
                                   b'[submodule "x"]\n\turl = "a\\nb"\n', b'[submodule "x"]\n\turl = ext::sh\n',
                                   b"[submodule")):
        bad[f"modules {number}"] = private.tree(("100644", b".gitmodules", private.put("blob", text)))
    bad["modules elsewhere"] = private.tree(("100644", b"GITMOD~1", private.put("blob", b'[submodule "x"]\n\turl = -x\n')))
    return bad


@needs("git")
def test_no_tree_comes_in_that_git_would_not_check_out(t):
    repo, private = both(t)
    before = repo.refs()
    private.commit()
    good = private.git("rev-parse", "HEAD")
    for what, tree in trees(private).items():
        for nested in (tree, private.tree(("40000", b"deep", tree))):
            private.head(private.commit_of(nested, good))
            answer = private.bring()
            expect(answer["refused"], f"{what!r} is refused", answer)
            equal(repo.refs(), before, f"refs after {what!r}")
    repo.fsck()
    private.head(private.commit_of(private.tree(("100644", b"fine", private.put("blob", b"x"))), good))
    equal(private.bring()["refs"], 1, "as a control, a good tree comes in")
    repo.fsck()


@needs("git")
@cases("lies about its name", "is cut off", "is no object", "is longer than it says", "is shorter than it says",
       "says a type that there is not", "is missing", "is a bomb", "says to be a bomb")
def test_no_object_comes_in_that_is_not_what_it_says(t, how):
    repo, private = both(t)
    before = repo.refs()
    private.commit()
    good = private.git("rev-parse", "HEAD")
    blob = private.put("blob", b"something")
    bad = {"lies about its name": b"blob 9\0otherwise", "is longer than it says": b"blob 4\0something",
           "is shorter than it says": b"blob 90\0something", "says a type that there is not": b"blah 9\0something",
           "says to be a bomb": b"blob 99999999999\0x"}.get(how)
    path = os.path.join(private.path, "objects", blob[:2], blob[2:])
    if bad:
        private.put_as(blob, bad)
    elif how == "is cut off":
        os.truncate(path, 12)
    elif how == "is no object":
        private.write(f"objects/{blob[:2]}/{blob[2:]}", b"#!/bin/sh\n")
    elif how == "is a bomb":
        size = 300 << 20
        deflate = zlib.compressobj(9)
        with open(path, "wb") as file:
            file.write(deflate.compress(f"blob {size}".encode() + b"\0"))
            for _ in range(size >> 20):
                file.write(deflate.compress(bytes(1 << 20)))
            file.write(deflate.flush())
        expect(os.path.getsize(path) < 1 << 20, "it is small")
    else:
        os.unlink(path)
    private.head(private.commit_of(private.tree(("100644", b"x", blob)), good))
    expect(private.bring()["refused"], "it is refused")
    nothing_came(repo, before)


def pack(private, *objects):
    """A pack with an index, as somebody could make them by hand: (id, header and data, offset or None)."""
    body, places = b"", {}
    for ident, raw in objects:
        places[ident] = (12 + len(body), zlib.crc32(raw))
        body += raw
    data = b"PACK" + struct.pack(">II", 2, len(objects)) + body
    data += hashlib.sha1(data).digest()
    idents = sorted(places)
    index = b"\xfftOc" + struct.pack(">I", 2)
    index += b"".join(struct.pack(">I", sum(1 for i in idents if int(i[:2], 16) <= first)) for first in range(256))
    index += b"".join(bytes.fromhex(i) for i in idents)
    index += b"".join(struct.pack(">I", places[i][1]) for i in idents)
    index += b"".join(struct.pack(">I", places[i][0]) for i in idents)
    index += data[-20:]
    index += hashlib.sha1(index).digest()
    name = f"objects/pack/pack-{hashlib.sha1(data).hexdigest()}"
    private.write(f"{name}.pack", data)
    private.write(f"{name}.idx", index)


def entry(kind, data, size=None):
    """An object of a pack: type, size in sevens, deflated."""
    size = len(data) if size is None else size
    head, size = bytearray([kind << 4 | size & 15]), size >> 4
    while size:
        head[-1] |= 0x80
        head.append(size & 127)
        size >>= 7
    return bytes(head) + zlib.compress(data)


def ident_of(data):
    return hashlib.sha1(f"blob {len(data)}".encode() + b"\0" + data).hexdigest()


def varint(number):
    out = bytearray()
    while True:
        out.append(number & 127 | (128 if number > 127 else 0))
        number >>= 7
        if not number:
            return bytes(out)


@needs("git")
@cases("good", "a delta", "a lie", "a bomb", "a bomb below", "a huge size", "a circle", "a cut pack", "a cut index")
def test_packs_are_believed_nothing(t, how):
    repo, private = both(t)
    before = repo.refs()
    private.commit()
    good = private.git("rev-parse", "HEAD")
    wanted = ident_of(b"small")
    if how in ("good", "a cut pack", "a cut index"):
        pack(private, (wanted, entry(3, b"small")))
    elif how == "a lie":
        pack(private, (wanted, entry(3, b"large")))
    elif how == "a bomb":
        data = bytes(300 << 20)
        wanted = ident_of(data)
        pack(private, (wanted, entry(3, data)))
    elif how == "a bomb below":  # the requested object is small, its base is not
        change = varint(300 << 20) + varint(5) + b"\x05small"
        pack(private, ("1" * 40, entry(3, bytes(300 << 20))),
             (wanted, bytes([0x70 | len(change)]) + bytes.fromhex("1" * 40) + zlib.compress(change)))
    elif how == "a delta":
        base = ident_of(b"a large one")
        change = varint(11) + varint(5) + b"\x05small"
        pack(private, (base, entry(3, b"a large one")),
             (wanted, bytes([0x70 | len(change)]) + bytes.fromhex(base) + zlib.compress(change)))
    elif how == "a huge size":
        pack(private, (wanted, entry(3, b"small", 1 << 50)))
    else:  # two deltas that are based on each other
        other = ident_of(b"other")
        change = varint(5) + varint(5) + b"\x05small"
        head = bytes([0x70 | len(change)])
        pack(private, (wanted, head + bytes.fromhex(other) + zlib.compress(change)),
             (other, head + bytes.fromhex(wanted) + zlib.compress(change)))
    folder = os.path.join(private.path, "objects/pack")
    for file in os.listdir(folder):
        if how == "a cut pack" and file.endswith(".pack") or how == "a cut index" and file.endswith(".idx"):
            path = os.path.join(folder, file)
            os.truncate(path, os.path.getsize(path) - 25)
    private.head(private.commit_of(private.tree(("100644", b"x", wanted)), good))
    code, answer = private.ask("git-import")
    if how in ("good", "a delta"):
        equal((code, answer["refs"]), (0, 1), "as a control, a good pack is read")
    else:
        equal((code, bool(answer["refused"])), (0, True), "it is refused", answer)
        equal(repo.refs(), before, "the refs")
    repo.fsck()
    equal([file for file in os.listdir(os.path.join(repo.folder, "objects/pack")) if file.startswith("tmp")], [],
          "what is left of a pack")


# Names

ODD = ("-x", "--upload-pack=x", "a..b", "a b", "x.lock", "x.LOCK", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b",
       "@{x", ".x", "x.", "x\x01", "x\x7f", "x\u0085y", "x" * 300)


@needs("git")
def test_refs_with_odd_names_do_not_come_in(t):
    repo, private = both(t)
    before = repo.refs()
    tip = private.commit()
    packed = "".join(f"{tip} refs/heads/{name}\n" for name in ODD)
    for name in ("../../HEAD", "../tags/x", "a/../../../../hooks/x", "/etc/x", "a//b"):
        packed += f"{tip} refs/heads/{name}\n"
    packed += f"{tip} HEAD\n{tip} config\n{tip} refs/ringfence/loop/x\n{tip} refs/notes/x\n{tip} refs/replace/{tip}\n"
    private.write("packed-refs", packed.encode() + f"{tip} refs/heads/".encode() + b"\xff\xfe\n")
    for name in ("-x", "--x", "x.lock"):
        private.write(f"refs/heads/{name}", f"{tip}\n")
    answer = private.bring()
    refused(answer, "were not imported")
    after = repo.refs()
    equal({name: ident for name, ident in after.items() if name not in before}, {private.branch: tip}, "what came")
    equal(repo.git("rev-parse", private.branch), tip, "the branch")
    repo.fsck()


@needs("git")
def test_names_that_clash_come_in_once(t):
    repo, private = both(t)
    repo.git("branch", "Feature")
    tip = private.commit()
    private.write("packed-refs", "".join(f"{tip} refs/heads/{name}\n" for name in
                                         ("MAIN", "a", "a/b", "c/d", "C/D", "feature", "x", "X")))
    answer = private.bring()
    refused(answer, "clashing names")
    names = sorted(name for name in repo.refs("refs/ringfence"))
    equal(names, sorted(f"refs/ringfence/loop/heads/{name}" for name in ("MAIN", "a", "C/D", "X", "feature")), "what came")
    equal(repo.git("rev-parse", "Feature"), repo.git("rev-parse", "main"), "the user's own")
    repo.fsck()


@needs("git")
def test_there_is_a_limit_to_refs_objects_and_bytes(t):
    repo, private = both(t)
    tip = private.commit()
    private.write("packed-refs", "".join(f"{tip} refs/heads/b{number:05}\n" for number in range(20000)))
    answer = private.bring()
    refused(answer, "more than 1000")
    expect(len(repo.refs("refs/ringfence")) < 1000, "how many came", len(repo.refs()))
    private.write("packed-refs", "".join(f"{tip} refs/heads/b{number:06}\n" for number in range(250000)))
    code, answer = private.ask("git-import")
    expect(code == 1 and "more than 200000" in answer["error"], "too many to read", answer)
    private.write("packed-refs", "")
    large = private.put("blob", bytes(5000000))
    private.head(private.commit_of(private.tree(("100644", b"large", large)), tip))
    answer = private.bring(most_bytes=1 << 20)
    refused(answer, "it is larger than 1 MiB (see --git-size)")
    equal(repo.git("rev-parse", private.branch), tip, "the branch")
    equal(private.bring()["refs"], 1, "as a control, with more room it comes in")
    repo.fsck()
