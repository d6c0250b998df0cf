"""The engines of the tests themselves: private, and nothing of them may be left."""

import os

from harness import engines, equal, expect, mechanisms, needs, root_only
from harness.container import Engine

MECHANISMS = ("podman", "docker")


@needs("busybox")
def test_an_image_of_a_folder_runs_with_overlay_in_the_storage_of_the_run(t):
    engine = Engine(t)
    image = engine.image("plain", lambda folder: t.write(os.path.join(folder, "etc/mark"), "of the image"))
    equal(engine.works("run", "--rm", "--network", "none", image, "cat", "/etc/mark"), "of the image", "what the container reads")
    info = engine.works("info", "--format", {"podman": "{{.Store.GraphDriverName}} {{.Store.GraphRoot}}",
                                             "docker": "{{.Driver}} {{.DockerRootDir}}"}[t.mechanism])
    driver, root = info.split()
    equal(driver, {"podman": "overlay", "docker": "overlay2"}[t.mechanism], "the storage driver")
    expect(root.startswith(os.path.dirname(os.path.dirname(t.folder)) + "/engines/"), "the storage is in the run's folder", root)


@needs("busybox")
def test_a_bystander_runs_and_is_gone_when_the_test_ends(t):
    engine = Engine(t)
    name = engine.bystander(engine.image("bystander"))
    equal(engine.containers(), [name], "the containers")
    equal(engine.inspect(name)["State"]["Running"], True, "its state")
    engine.remove(name)
    engine.empty()


@needs("busybox")
@root_only
@mechanisms("podman")
def test_what_is_left_of_a_container_is_noticed_at_the_end_of_a_run(t):
    """With folders of the test's own."""
    own = engines.Engines(t.folder, ["root"])
    own.group = "/ringfence-test-none"
    os.makedirs(own.folder)
    own.environments["root"].update(own._podman("root"))
    t.engines = own.environments["root"]
    engine = Engine(t)
    image = engine.image("left")
    equal(list(own.stop()), [], "what is left before")
    ident = engine.works("run", "--detach", "--network", "none", image, "sleep", "600").strip()
    found = list(own.stop())
    expect([claim for claim, evidence in found if claim.startswith("no container") and ident[:12] in evidence], "the container is noticed", found)
    expect([claim for claim, evidence in found if f"libpod-{ident}" in evidence], "its control groups are noticed", found)
    equal(engine.works("ps", "--all", "--quiet"), "", "it is removed")
    equal(list(own.stop()), [], "what is left in the end")
