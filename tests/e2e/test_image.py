"""The setting `image`, and what `ringfence image` and `trust --devcontainer` say without an engine."""

import json
import os
import tarfile

from harness import cases, contains, equal, lacks, root_only, user_only

ANY_IDENTITY = "images are refused, listed and printed alike for every user"


def ringfence(t, *words, **options):
    return t.run([t.ringfence, *words], **options)


# The setting

def test_a_fence_without_a_container_refuses_an_image(t):
    bwrap = ("--fence", "bwrap")
    equal(t.fence("true", opts=bwrap).code, 0, "exit status without an image")
    result = t.fence("touch", "made", opts=(*bwrap, "--image", "ringfence/claude"))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "the image 'ringfence/claude' needs a container, and the fence is 'bwrap'")
    contains(result.err, "--fence podman or --fence docker", "the remedy")
    equal(t.exists("made"), False, "whether the command ran")


def test_without_a_fence_an_image_is_refused(t):
    result = t.fence("true", opts=("--i-accept-no-fence", "--image", "a"))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "the image 'a' needs a container, and the fence is 'none'")


@cases("--privileged", "a b", "a,b", "../a")
def test_what_is_not_the_name_of_an_image_is_refused(t, name):
    result = t.fence("true", opts=(f"--image={name}",))
    equal(result.code, 125, "exit status", result)
    contains(result.err, f"--image: '{name}' is not the name of an image")


def test_a_project_may_set_an_image_only_after_trust(t):
    t.write("ringfence.yml", "image: ringfence/claude\n")
    result = t.fence("true", opts=("--fence", "bwrap"))
    equal(result.code, 0, "exit status before trust", result)
    contains(result.err, "ringfence.yml widens the fence (image), which is inactive", "the notice")
    result = ringfence(t, "trust", "--yes")
    contains(result.out, "come from ringfence/claude", "what the value means")
    result = t.fence("true", opts=("--fence", "bwrap"))
    equal(result.code, 125, "exit status after trust", result)
    contains(result.err, "the image 'ringfence/claude' needs a container")


def test_the_image_none_takes_back_what_a_file_sets(t):
    t.at_home(".config/ringfence/config.yml", "image: ringfence/claude\n")
    bwrap = ("--fence", "bwrap")
    equal(t.fence("true", opts=bwrap).code, 125, "exit status with the file")
    equal(t.fence("true", opts=(*bwrap, "--image", "none")).code, 0, "exit status with --image none")


def test_a_report_names_no_image_without_one(t):
    _, report = t.report("true")
    equal((report["mechanism"], report["image"]), ("bwrap", None), "mechanism and image")
    policy = json.loads(ringfence(t, "policy", "--json").out)
    equal((policy["mechanism"], policy["image"]), ("bwrap", None), "mechanism and image of the policy")


# ringfence image, with a program in the place of the engine that records what it is asked for

ENGINE = """#!/bin/sh
printf '%s\\n' "$*" >>{log}
case "$1 $2" in
"image inspect") {inspect} ;;
"images -q") printf '{ids}' ;;
pull*) echo 'no network' >&2; exit 1 ;;
esac
"""
NONE = "echo 'no such image' >&2; exit 1"


def labelled(name, tags, recipe="0"):
    labels = {"image": "1", "name": name, "kind": "host", "agents": "none", "recipe": recipe}
    return {"Id": "ab12", "Created": "2026-01-01T00:00:00Z", "Size": 2048, "RepoTags": tags,
            "Config": {"Labels": {f"org.ringfence.{key}": value for key, value in labels.items()}}}


class Engine:
    """A podman that only writes down its arguments, and describes these images."""

    def __init__(self, t, *images):
        self.t = t
        self.folder = os.path.join(t.outside, "engine")
        self.log = os.path.join(self.folder, "log")
        answer = os.path.join(self.folder, "answer")
        t.write(answer, json.dumps(images))
        self.program = t.script("podman", ENGINE.format(log=self.log, ids="ab12\\n" if images else "",
                                                        inspect=f"cat {answer}" if images else NONE), self.folder)

    def run(self, *words):
        return ringfence(self.t, *words, env=self.t.env(RINGFENCE_PODMAN=self.program))

    def asked(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as log:
            return log.read().splitlines()


def test_the_template_can_be_printed_without_an_engine(t):
    t.write("go.mod", "module x\n")
    result = ringfence(t, "image", "build", "--print", "--agent", "claude,gemini", "--agent", "codex", "--from", "debian:12",
                       env=t.env(RINGFENCE_PODMAN="/nonexistent", RINGFENCE_DOCKER="/nonexistent"))
    equal((result.code, result.err), (0, ""), "exit status", result)
    for line in ("FROM debian:12\n", "@anthropic-ai/claude-code@", "@google/gemini-cli@", "@openai/codex@", " git \\", " jq \\", " python3 \\",
                 " golang-go", "USER 1000:1000", "WORKDIR /work"):
        contains(result.out, line, "the Containerfile")


@cases((("--agent", "nobody"), "an image cannot have the agent 'nobody'"),
       (("--from", "-v"), "'-v' is not the name of an image"),
       (("--name", "a b"), "'a b' is not the name of an image"),
       (("--from", "host", "--devcontainer"), "choose one of --from, --file and --devcontainer"),
       (("--engine", "lxc"), "--engine must be podman or docker"))
def test_an_unusable_request_is_refused(t, words, message):
    engine = Engine(t)
    result = engine.run("image", "build", *words)
    equal(result.code, 125, "exit status", result)
    contains(result.err, message)
    equal(engine.asked(), [], "what the engine was asked for")


def test_without_an_engine_the_remedy_is_named(t):
    result = ringfence(t, "image", "list", env=t.env(RINGFENCE_PODMAN="/nonexistent", RINGFENCE_DOCKER="/nonexistent"))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "neither podman nor docker is installed: run 'sudo apt install podman uidmap'")


def test_an_engine_that_an_agent_can_change_is_not_started(t):
    engine = Engine(t)
    inside = t.write("podman", t.read(engine.program), 0o755)
    result = ringfence(t, "image", "list", env=t.env(RINGFENCE_PODMAN=inside))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "podman cannot be used, because of its program")
    equal(engine.asked(), [], "what the engine was asked for")


def test_an_image_on_the_folders_of_the_host_is_built_and_labelled(t):
    engine = Engine(t)
    result = engine.run("image", "build", "--from", "host")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "built ringfence/base with podman: the fence shows the system folders of this machine")
    build = engine.asked()[-1]
    for words in ("-t ringfence/base ", "--label org.ringfence.image=1 ", "--label org.ringfence.kind=host ",
                  "--label org.ringfence.agents=none ", "--label org.ringfence.recipe="):
        contains(build, words, "the command of the engine")
    lacks(build, t.project, "the command of the engine")


def test_where_no_base_can_be_had_the_host_is_shown_and_that_is_said(t):
    engine = Engine(t)
    result = engine.run("image", "build")
    equal(result.code, 0, "exit status", result)
    contains("\n".join(engine.asked()), "pull node:22-bookworm-slim", "what the engine was asked for")
    contains(result.out, "the base image node:22-bookworm-slim is not available")
    contains(result.out, "the fence shows the system folders of this machine")


def test_an_image_that_was_made_of_the_same_is_not_built_again(t):
    engine = Engine(t)
    equal(engine.run("image", "build", "--from", "host").code, 0, "exit status")
    recipe = engine.asked()[-1].split("org.ringfence.recipe=")[1].split()[0]
    engine = Engine(t, labelled("ringfence/base", ["localhost/ringfence/base:latest"], recipe))
    os.unlink(engine.log)
    result = engine.run("image", "build", "--from", "host")
    contains(result.out, "unchanged: ringfence/base")
    equal([line.split()[0] for line in engine.asked()], ["image"], "what the engine was asked for")
    engine = Engine(t, labelled("ringfence/base", ["localhost/ringfence/base:latest"], "another"))
    contains(engine.run("image", "build", "--from", "host").out, "built ringfence/base")
    contains("\n".join(engine.asked()), "rmi ab12", "what the engine was asked for")


def test_an_image_of_somebody_else_is_neither_replaced_nor_removed_nor_listed(t):
    engine = Engine(t, labelled("ringfence/base", ["localhost/mine:latest"]))
    for words in (("build", "--from", "host", "--name", "mine"), ("remove", "mine")):
        result = engine.run("image", *words)
        equal(result.code, 125, "exit status", result)
    contains(result.err, "the image 'mine' was not built by ringfence image build")
    contains(engine.run("image", "list").out, "podman has no image that ringfence image build made")
    lacks("\n".join(engine.asked()), "rmi", "what the engine was asked for")
    lacks("\n".join(engine.asked()), "build", "what the engine was asked for")


def test_our_images_are_listed_and_removed(t):
    engine = Engine(t, labelled("ringfence/base", ["localhost/ringfence/base:latest"]))
    out = json.loads(engine.run("image", "list", "--json").out)
    equal(out, {"engine": "podman", "images": [{"name": "ringfence/base", "id": "ab12", "kind": "host", "agents": "none",
                                                "created": "2026-01-01T00:00:00Z", "bytes": 2048}]}, "the list")
    equal(engine.run("image", "remove", "ringfence/base").out, "removed ringfence/base\n", "what is said")
    equal(engine.asked()[-1], "rmi ringfence/base", "what the engine was asked for")


def test_a_list_survives_an_engine_that_fails_while_images_are_removed(t):
    engine = Engine(t, labelled("ringfence/base", ["localhost/ringfence/base:latest"]))
    t.write(engine.program, t.read(engine.program).replace(
        '"images -q")', f'"images -q") [ -e {engine.folder}/once ] || {{ touch {engine.folder}/once; echo "layer not known" >&2; exit 125; }};'))
    result = engine.run("image", "list")
    equal(result.code, 0, "exit status", result)
    contains(result.out, "ringfence/base ", "the list")
    equal(len([line for line in engine.asked() if line.startswith("images ")]), 2, "tries")


# The project's own image

DEVCONTAINER = '{"build": {"dockerfile": "Dockerfile", "args": {"A": "b"}}, "features": {}, // no\n}'


def devcontainer(t, text=DEVCONTAINER):
    t.write(".devcontainer/devcontainer.json", text)
    t.write(".devcontainer/Dockerfile", "FROM scratch\n")


def test_the_image_of_a_project_is_built_only_after_trust_of_exactly_its_content(t):
    devcontainer(t)
    engine = Engine(t)
    result = engine.run("image", "build", "--devcontainer")
    equal(result.code, 125, "exit status before trust", result)
    contains(result.err, "run 'ringfence trust --devcontainer'")
    shown = ringfence(t, "trust", "--devcontainer", "--yes").out
    for line in ("build.dockerfile: .devcontainer/Dockerfile", "build.args: A=b", "content: sha256 ",
                 "ignored: features: not installed", "trusted until"):
        contains(shown, line, "what is shown")
    result = engine.run("image", "build", "--devcontainer")
    equal(result.code, 0, "exit status after trust", result)
    contains(result.out, "honoured  build.dockerfile: .devcontainer/Dockerfile")
    contains(result.out, "ignored   features: not installed")
    contains(engine.asked()[-1], "--build-arg A=b", "the command of the engine")
    lacks(engine.asked()[-1], t.project, "the command of the engine")
    t.write(".devcontainer/more", "")
    equal(engine.run("image", "build", "--devcontainer").code, 125, "exit status after a change")


def test_trust_in_the_image_of_a_project_can_be_withdrawn(t):
    devcontainer(t)
    equal(ringfence(t, "trust", "--devcontainer", "--yes").code, 0, "exit status")
    contains(ringfence(t, "trust", "--list").out, ".devcontainer/devcontainer.json", "the list")
    contains(ringfence(t, "untrust", "--devcontainer").out, "no longer trusted")
    contains(ringfence(t, "untrust", "--devcontainer").out, "was not trusted")
    equal(Engine(t).run("image", "build", "--devcontainer").code, 125, "exit status")


def test_without_a_terminal_the_image_of_a_project_needs_yes(t):
    devcontainer(t)
    result = ringfence(t, "trust", "--devcontainer", input="y\n")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "trust --devcontainer --yes")


@cases('"privileged": true', '"mounts": ["source=/,target=/h,type=bind"]', '"capAdd": ["SYS_ADMIN"]',
       '"runArgs": ["--device=/dev/kvm"]')
def test_a_devcontainer_that_asks_for_privileges_or_mounts_is_refused(t, asked):
    devcontainer(t, '{"image": "debian:12"}')
    contains(ringfence(t, "trust", "--devcontainer", "--yes").out, "image: debian:12", "without that")
    devcontainer(t, f'{{"image": "debian:12", {asked}}}')
    for words in (("trust", "--devcontainer", "--yes"), ("image", "build", "--devcontainer")):
        result = Engine(t).run(*words)
        equal(result.code, 125, "exit status", result)
        contains(result.err, "it asks for what a fence does not give")
        contains(result.err, asked.split('"')[1], "what it asks for")


def test_a_containerfile_in_the_project_is_not_used_by_its_name(t):
    t.write("Containerfile", "FROM scratch\n")
    outside = t.write(os.path.join(t.outside, "own/Containerfile"), "FROM scratch\n")
    engine = Engine(t)
    result = engine.run("image", "build", "--file", "Containerfile")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "is in a folder that an agent can change")
    result = engine.run("image", "build", "--file", outside)
    equal(result.code, 0, "exit status with one elsewhere", result)


def test_a_project_without_an_image_says_so(t):
    result = Engine(t).run("image", "build", "--devcontainer")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "the project has no .devcontainer/devcontainer.json, Containerfile or Dockerfile")


DEBOOTSTRAP = """#!/bin/sh
for word; do case $word in /*) root=$word ;; esac; done
mkdir -p "$root/usr"
printf '%s\\n' "$*" >>{log}
echo made >"$root/usr/mark"
"""


@root_only
def test_a_debian_system_is_made_once_and_imported_once(t):
    engine = Engine(t)
    log = os.path.join(t.outside, "debootstrap.log")
    env = t.env(RINGFENCE_PODMAN=engine.program,
                RINGFENCE_DEBOOTSTRAP=t.script("debootstrap", DEBOOTSTRAP.format(log=log), engine.folder))
    words = ("image", "build", "--from", "debootstrap", "--mirror", "http://mirror.example.org/debian")
    for _ in range(2):
        result = ringfence(t, *words, env=env)
        equal(result.code, 0, "exit status", result)
        contains(result.out, "a Debian system, made by debootstrap (ringfence/bookworm-")
    with open(log) as file:
        runs = file.read().splitlines()
    equal(len(runs), 1, "runs of debootstrap")
    contains(runs[0], "--variant=minbase --include=ca-certificates,git,jq,")
    contains(runs[0], " bookworm /", "what debootstrap was asked for")
    contains(runs[0], " http://mirror.example.org/debian", "what debootstrap was asked for")
    imports = [line for line in engine.asked() if line.startswith("import ")]
    contains(imports[0], "-c LABEL org.ringfence.kind=debootstrap ")
    with tarfile.open(imports[0].split()[-2]) as tar:
        equal(tar.extractfile("./usr/mark").read(), b"made\n", "a file of the system")


@user_only
def test_only_root_makes_a_debian_system(t):
    engine = Engine(t)
    result = engine.run("image", "build", "--from", "debootstrap")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "only root can make a Debian system with debootstrap")
    equal(engine.asked(), [], "what the engine was asked for")
