"""ringfence image with real engines: what is built, found again, replaced and removed, and what is left alone."""

import json
import os

from harness import contains, equal, expect, lacks, needs
from harness.container import Engine

MECHANISMS = ("podman", "docker")


class Images:
    """The images of a test, whose names end with the name of its folder."""

    def __init__(self, t):
        self.t = t
        self.engine = Engine(t)
        self.mark = os.path.basename(t.folder)

    def name(self, name):
        return f"ringfence-test/{name}-{self.mark}"

    def run(self, *words):
        return self.t.run([self.t.ringfence, "image", *words, "--engine", self.t.mechanism])

    def build(self, name, *words):
        self.t.cleanups.append(lambda: self.engine.run("rmi", "--force", self.name(name)))
        result = self.run("build", "--name", self.name(name), *words)
        equal(result.code, 0, "exit status", result)
        return result

    def listed(self):
        result = self.run("list", "--json")
        equal(result.code, 0, "exit status", result)
        images = json.loads(result.out)["images"]
        return [image for image in images if image["name"].endswith(f"-{self.mark}")]

    def has(self, name):
        return self.engine.run("image", "inspect", name).code == 0


def test_an_image_without_a_system_of_its_own_is_built_found_and_removed(t):
    images = Images(t)
    contains(images.build("host", "--from", "host").out, "the fence shows the system folders of this machine")
    contains(images.build("host", "--from", "host").out, "unchanged: ")
    found = images.listed()
    equal([(image["name"], image["kind"], image["agents"]) for image in found], [(images.name("host"), "host", "none")], "the list")
    config = json.loads(images.engine.works("image", "inspect", images.name("host")))[0]["Config"]
    equal((config["User"], config["WorkingDir"]), ("1000:1000", "/work"), "its user and folder")
    equal(images.run("remove", images.name("host")).code, 0, "exit status of remove")
    equal((images.listed(), images.has(images.name("host"))), ([], False), "what is left")


@needs("busybox")
def test_images_of_others_are_neither_listed_nor_replaced_nor_removed(t):
    images = Images(t)
    other = images.engine.image("other")
    images.build("host", "--from", "host")
    derived = f"derived-{images.mark}"
    folder = os.path.join(t.outside, "derived")
    t.write(f"{folder}/Dockerfile", f"FROM {images.name('host')}\nLABEL own=1\n")
    images.engine.works("build", "-t", derived, folder)
    t.cleanups.append(lambda: images.engine.run("rmi", "--force", derived))
    equal([image["name"] for image in images.listed()], [images.name("host")], "the list")
    for name in (other, derived):
        contains(images.run("remove", name).err, "was not built by ringfence image build")
        contains(images.run("build", "--from", "host", "--name", name).err, "that ringfence image build did not make")
        expect(images.has(name), "the image is still there", name)
    contains(images.run("remove", f"nothing-{images.mark}").err, "has no image")


@needs("busybox")
def test_the_image_of_a_project_is_built_from_the_copy_that_was_trusted(t):
    images = Images(t)
    base = images.engine.image("base")
    t.write(".devcontainer/devcontainer.json", '{"build": {"dockerfile": "Dockerfile", "args": {"NAME": "b"}}, "init": true}')
    t.write(".devcontainer/Dockerfile", f"FROM {base}\nARG NAME=a\nCOPY tool /opt/$NAME\n")
    t.write(".devcontainer/tool", "#!/bin/sh\necho of the project\n", 0o755)
    refused = images.run("build", "--devcontainer", "--name", images.name("own"))
    equal((refused.code, images.listed()), (125, []), "before trust")
    equal(t.run([t.ringfence, "trust", "--devcontainer", "--yes"]).code, 0, "exit status of trust")
    out = images.build("own", "--devcontainer").out
    contains(out, "build.args: NAME=b")
    contains(out, "init: ringfence-init is process 1")
    run = ("run", "--rm", "--network", "none", images.name("own"), "/opt/b")
    equal(images.engine.works(*run), "of the project\n", "what the tool of the image says")


@needs("busybox")
def test_a_new_image_replaces_the_old_one_of_its_name(t):
    images = Images(t)
    base = images.engine.image("base")
    file = os.path.join(t.outside, "own/Containerfile")
    t.write(file, f"FROM {base}\nCOPY text /opt/\n")
    for text in ("first", "second"):
        t.write(os.path.join(t.outside, "own/text"), text)
        contains(images.build("own", "--file", file).out, "built ")
        run = ("run", "--rm", "--network", "none", images.name("own"), "cat", "/opt/text")
        equal(images.engine.works(*run), text, "what the image has")
    equal(len(images.listed()), 1, "images of this name")
    contains(images.build("own", "--file", file).out, "unchanged: ")


def test_what_an_engine_refuses_is_quoted(t):
    images = Images(t)
    file = t.write(os.path.join(t.outside, "own/Containerfile"), "FROM scratch\nCOPY missing /\n")
    result = images.run("build", "--file", file, "--name", images.name("own"))
    equal((result.code, images.listed()), (125, []), "exit status and images", result)
    contains(result.err, f"{t.mechanism} could not build the image (exit status ")
    contains(result.err, "missing", "what the engine said")
    lacks(result.out, "built", "what is said")


# In the fence

def fenced(t, image, *command):
    result = t.fence(*command, opts=("--image", image))
    equal(result.code, 0, "exit status", result)
    return result.out


@needs("busybox")
def test_a_command_sees_the_programs_of_its_image_and_nothing_else_of_it(t):
    engine = Engine(t)

    def change(folder):
        t.write(f"{folder}/usr/mark", "of the image")
        t.write(f"{folder}/opt/ringfence/bin/tool", "#!/bin/sh\necho the tool; echo $SECRET-$USER; cat /srv/mark 2>&1; exit 0\n", 0o755)
        t.write(f"{folder}/srv/mark", "not shown")

    base = engine.image("plain", change)
    folder = os.path.join(t.outside, "configured")
    t.write(f"{folder}/Dockerfile", f'FROM {base}\nENV SECRET=leaked\nUSER 4242\nENTRYPOINT ["/bin/false"]\nVOLUME /usr\n')
    name = f"configured-{os.path.basename(t.folder)}"
    engine.works("build", "-t", name, folder)
    t.cleanups.append(lambda: engine.run("rmi", "--force", name))
    equal(fenced(t, name, "cat", "/usr/mark"), "of the image", "what the command reads")
    said = fenced(t, name, "tool").splitlines()
    equal(said[0], "the tool", "what the tool of the image says")
    expect(said[1].startswith("-") and said[1] != "-4242", "its environment is not the image's", said)
    contains(said[2], "/srv/mark", "another folder of the image")


def test_without_a_system_in_its_image_a_command_sees_that_of_the_host_with_the_agents_of_the_image(t):
    engine = Engine(t)
    images = Images(t)
    images.build("empty", "--from", "host")
    contains(fenced(t, images.name("empty"), "python3", "-c", "print('of the host')"), "of the host")
    folder = os.path.join(t.outside, "agents")
    t.write(f"{folder}/Dockerfile", f"FROM {images.name('empty')}\nCOPY tool /opt/ringfence/bin/\n")
    t.write(f"{folder}/tool", "#!/usr/bin/python3\nprint('of both')\n", 0o755)
    name = f"agents-{images.mark}"
    engine.works("build", "-t", name, folder)
    t.cleanups.append(lambda: engine.run("rmi", "--force", name))
    equal(fenced(t, name, "tool"), "of both\n", "what the tool says")


def test_a_loop_runs_the_agent_of_its_image(t):
    engine = Engine(t)
    images = Images(t)
    images.build("empty", "--from", "host")
    folder = os.path.join(t.outside, "agents")
    t.write(f"{folder}/Dockerfile", f"FROM {images.name('empty')}\nCOPY claude /opt/ringfence/bin/\n")
    t.write(f"{folder}/claude", "#!/bin/sh\necho work >made\n"
            "echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\",\"total_cost_usd\":0}'\n", 0o755)
    name = f"agents-{images.mark}"
    engine.works("build", "-t", name, folder)
    t.cleanups.append(lambda: engine.run("rmi", "--force", name))
    result = t.run([t.ringfence, "run", "make it", "--agent", "claude", "--check", "grep -q work made", "--image", name, "-m", "1"],
                   env=t.env(ANTHROPIC_API_KEY="sk-ant-a-key-for-nothing"))
    equal(result.code, 0, "exit status", result)
    contains(result.out + result.err, f"is the one of the image '{name}', whose version is not checked")
    engine.empty()
