"""Item 13: programs that git's configuration names are run by the host, so they are read-only inside; and reading
configurations has an end, however many there are."""

import os

from harness import cases, contains, equal, expect, needs

KEYS = """alias.x annex.web-download-command annex.x-store-hook annex.youtube-dl-command branchless.test.alias.x browser.x.cmd browser.x.path core.alternateRefsCommand core.askPass core.attributesFile core.editor
core.excludesFile core.fsmonitor core.gitProxy core.hooksPath core.pager core.sshCommand credential.helper
credential.https://a.b.helper diff.external diff.x.command diff.x.textconv difftool.x.cmd difftool.x.path filter.x.clean
filter.x.process filter.x.smudge gc.recentObjectsHook gpg.program gpg.ssh.allowedSignersFile gpg.ssh.defaultKeyCommand
gpg.ssh.program gpg.ssh.revocationFile guitool.x.cmd hook.x.command imap.tunnel init.templateDir instaweb.browser
instaweb.httpd instaweb.modulePath interactive.diffFilter lfs.customtransfer.x.args lfs.customtransfer.x.path
lfs.extension.x.clean lfs.extension.x.smudge man.x.cmd man.x.path merge.x.driver mergetool.x.cmd
mergetool.x.path pager.log remote.x.annex-cost-command remote.x.annex-rsync-transport
remote.x.receivepack remote.x.uploadpack sendemail.ccCmd sendemail.headerCmd
sendemail.sendmailCmd sendemail.smtpServer sendemail.tocmd sendemail.x.tocmd sequence.editor submodule.x.update
svn.authors-prog tar.x.command trailer.x.cmd trailer.x.command uploadpack.packObjectsHook""".split()

# {} is a file in the project.
WORDS = ("python3 {}", "!{}", "! {} x", "{};true", "true&&{}|cat", "A=b {} %f", "A={} b", "x --config={}", "'{}' %O",
         '"{}" "$LOCAL"', "sh -c 'exec {} \"$1\"' -", "!f() { {} \"$@\"; }; f", "sh -c \"sh -c '{} x'\"",
         "~/project/{}", "$HOME/project/{}", '"$(git rev-parse --show-toplevel)/{}"',
         "$(git rev-parse --show-toplevel)/{} x", "${PWD}/{}", "$PWD/./{}", "-c core.pager={} log", "x<{}",
         "({}); cat", "true `{}`", "true $({})", 'true "$({})"', 'true "`{} x`"', "if true; then ({}); fi", "${X:-{}}",
         "sh -c '({})'", 'sh -c "true \\"\\$({} x)\\""', "x=$({})", "true \"$('{}' y)\"")

# <> is a file in the folder tools, which is a folder of the project.
BELOW = ("cd tools && ./<>", "cd tools; sh <> x", 'sh -c "cd tools && sh <>"', "(cd ./tools && exec ./<>)", "pushd tools; ./<>",
         "cd -P -- tools && sh <>", 'cd "$(git rev-parse --show-toplevel)/tools" && ./<>', "make -C tools -f <>",
         "cd ~/project && cd tools && ./<>", "cd src; (cd ../tools; ./<>)", "x=tools; $x/<>", "x=tools;sh \"${x}/<>\"")


def config(t, key, value):
    result = t.run(["git", "config", key, value])
    equal(result.code, 0, f"git config {key} {value}", result)


def none_can_be_written(t, names):
    """The control: the same outside the fence. A file that nothing names can be written inside."""
    for name in (*names, "free"):
        t.write(name, "# before", 0o755)
    script = "for f in " + " ".join(f"'{name}'" for name in (*names, "free")) + "; do ./attack write \"$f\"; done"
    inside = t.sh(script)
    equal([name for name in names if t.read(name) != "# before"], [], "files that were changed", inside)
    equal((inside.out.count("denied: "), inside.out.count("succeeded")), (len(names), 1), "denials", inside)
    equal(t.run(["sh", "-c", script]).out.count("succeeded"), len(names) + 1, "the controls")


@needs("git")
def test_13_a_program_that_git_runs_by_its_configuration_cannot_be_changed(t):
    t.run(["git", "init", "-q"])
    for key in KEYS:
        config(t, key, f"tools/{KEYS.index(key)}")
    none_can_be_written(t, [f"tools/{i}" for i in range(len(KEYS))])


@needs("git")
def test_13_a_program_is_found_among_the_words_of_a_command(t):
    t.run(["git", "init", "-q"])
    for i, words in enumerate(WORDS):
        config(t, f"filter.x{i}.clean", words.replace("{}", f"tools/{i}"))
    config(t, "filter.bare.clean", "python3 clean")
    config(t, "filter.blank.clean", "'my tools/clean' %f")
    none_can_be_written(t, [f"tools/{i}" for i in range(len(WORDS))] + ["clean", "my tools/clean"])


@needs("git")
def test_13_a_program_is_found_below_the_folder_that_a_command_enters(t):
    t.run(["git", "init", "-q"])
    for i, words in enumerate(BELOW):
        config(t, f"filter.x{i}.clean", words.replace("<>", f"p{i}"))
    none_can_be_written(t, [f"tools/p{i}" for i in range(len(BELOW))])


@needs("git")
def test_13_a_word_that_is_no_path_is_not_watched_below_a_folder(t):
    t.run(["git", "init", "-q"])
    config(t, "alias.t", "!cd src && make test")
    result = t.works("sh", "-c", "mkdir src && echo fine >src/test")
    expect(t.exists("src/test"), "the file must stay", result)


@needs("git")
def test_13_a_remote_names_a_program_only_if_it_runs_one(t):
    t.run(["git", "init", "-q"])
    config(t, "remote.a.url", "ext::tools/a %S")
    config(t, "remote.a.pushurl", "ext::sh tools/b")
    config(t, "remote.b.url", "tools/bundle")
    config(t, "branchless.core.mainBranch", "main")
    none_can_be_written(t, ["tools/a", "tools/b"])
    t.write("main")
    t.works("sh", "-c", "echo fine >tools/bundle; echo fine >main")


@needs("git")
def test_13_what_git_status_runs_is_what_it_was(t):
    t.run(["git", "init", "-q"])
    mark = os.path.join(t.outside, "mark")
    t.write("tools/fsm", "#!/bin/sh\n", 0o755)
    config(t, "core.fsmonitor", "tools/fsm")
    plant = f"printf '#!/bin/sh\\necho x >{mark}\\n' >tools/fsm"
    for script in (plant, f"mv tools away; mkdir tools; {plant}; chmod +x tools/fsm"):
        inside = t.sh(script)
        t.run(["git", "status"])
        expect(not os.path.exists(mark), "git must not run what was planted", inside)
    t.run(["sh", "-c", f"mkdir -p tools; {plant}; chmod +x tools/fsm; git status"])
    expect(os.path.exists(mark), "the control: git runs it")


@needs("git")
def test_13_a_program_that_is_not_there_yet_is_watched(t):
    """The control: files that nothing names, and words that only happen to be the name of one."""
    t.run(["git", "init", "-q"])
    config(t, "filter.x.clean", "python3 tools/new.py")
    config(t, "filter.y.clean", "python3 new.py")
    config(t, "filter.lfs.clean", "git-lfs clean -- %f")
    config(t, "alias.t", "!make -C src test")
    result = t.sh("mkdir tools src clean; for f in tools/new.py new.py tools/other.py src/x clean/x test; do echo evil >$f; done")
    equal([t.exists(name) for name in ("tools/new.py", "new.py")], [False, False], "what git would run", result)
    equal([t.exists(name) for name in ("tools/other.py", "src/x", "clean/x", "test")], [True] * 4, "other files", result)
    contains(result.err, "quarantined", "stderr")


@needs("git")
def test_13_a_folder_among_the_words_of_a_command_stays_writable(t):
    t.run(["git", "init", "-q"])
    t.write("src/x")
    config(t, "alias.t", "!cd src && make -C ./src test")
    t.works("sh", "-c", "echo fine >src/x; echo fine >src/new")


def repository(t, name, config):
    for entry in ("HEAD", "objects/x", "refs/x"):
        t.write(f"{name}/.git/{entry}", "ref: refs/heads/main\n")
    t.write(f"{name}/.git/config", config)


def test_13_a_configuration_that_many_repositories_include_is_read_once(t):
    t.write("inc", "[a]\n" + "b=c\n" * 250000)
    for i in range(10):
        repository(t, f"d{i}", "[include]\n" + "path = ../../inc\n" * 99)
    before = t.spent()
    t.works("true")
    expect(t.spent() - before < 2, "it must not take long", t.spent() - before)


TOO_MUCH = {
    "bytes": ("#" * (1 << 20) + "\n", "exceed 16 MB in total"),
    "files": ("[include]\n" + "".join(f"path = no/{i}\n" for i in range(20001)), "more than 20000 configuration files"),
    "words": ("[core]\npager = " + "a " * 300000 + "\n", "name more than 500000 paths and words"),
    "paths": ("[core]\npager = " + "".join(f"t/{i} " for i in range(20001)) + "\n", "more than 20000 paths to protect"),
    "words, again and again": ("[core]\npager = " + "a " * 45000 + "\n", "name more than 500000 paths and words"),
}


@cases(*TOO_MUCH)
def test_13_configurations_that_are_too_much_to_read_are_refused(t, what):
    text, words = TOO_MUCH[what]
    if what == "bytes":
        for i in range(17):
            t.write(f"inc{i}", text)
        repository(t, "d", "[include]\n" + "".join(f"path = ../../inc{i}\n" for i in range(17)))
    elif what == "words, again and again":
        t.write("inc", text)
        for i in range(11):
            repository(t, f"d{i}", "[include]\npath = ../../inc\n")
    else:
        repository(t, "d", text)
    before = t.spent()
    result = t.fence("touch", "ran")
    equal(result.code, 125, "exit status", result)
    contains(result.err, words, "stderr")
    expect(not t.exists("ran"), "nothing may be run")
    expect(t.spent() - before < 2, "it must not take long", t.spent() - before)
