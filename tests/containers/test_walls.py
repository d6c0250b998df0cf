"""Parts of the host that only a container could show: the engine, namespaces, devices, mounts."""

import os
import re

from harness import (contains, equal, expect, kernel, lacks, needs, not_possible_inside, root_only)
from harness.container import Engine
from harness.loop import until

MECHANISMS = ("podman", "docker")
NAMESPACES = {"podman": ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts"),
              "docker": ("cgroup", "ipc", "mnt", "net", "pid", "uts")}


def socket_of(t):
    """A socket of the engine, which answers."""
    if t.mechanism == "docker":
        return t.engines["DOCKER_HOST"].removeprefix("unix://")
    path = os.path.join(t.outside, "podman.sock")
    t.start(["podman", "system", "service", "--time=0", f"unix://{path}"])
    until("the socket of podman", lambda: os.path.exists(path))
    return path


def unreachable(t, path, opts=()):
    """Neither as a socket nor as an engine; the control asks the engine the same question outside."""
    not_possible_inside(t, "unix", path, opts=opts)
    question = ["curl", "--silent", "--show-error", "--max-time", "20", "--unix-socket", path, "http://engine/_ping"]
    inside = t.fence(*question, opts=opts)
    expect(inside.code != 0, "the engine does not answer inside", inside)
    contains(inside.err, "curl: (7)", "what curl says")
    equal(t.run(question).out, "OK", "the control")


@needs("curl")
def test_the_socket_of_the_engine_cannot_be_reached(t):
    unreachable(t, socket_of(t))


@needs("curl")
def test_the_socket_of_the_engine_cannot_be_reached_although_its_folder_may_be_read(t):
    path = socket_of(t)
    unreachable(t, path, ("--read", os.path.dirname(path)))


@needs("curl")
def test_the_socket_of_the_engine_cannot_be_reached_by_a_link_in_the_project(t):
    path = socket_of(t)
    os.symlink(path, t.path("engine.sock"))
    unreachable(t, t.path("engine.sock"))


def test_the_command_gets_no_variable_that_leads_to_the_engine(t):
    names = {line.partition("=")[0] for line in t.works("env").splitlines()}
    expect("PATH" in names, "the environment is listed", names)
    equal(names & {"DOCKER_HOST", "DOCKER_CONFIG", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINER_HOST", "container"},
          set(), "variables of the engine")


def namespaces(text):
    return dict(re.findall(r"(\w+):\[(\d+)\]", text))


def test_the_namespaces_are_not_those_of_the_host(t):
    script = "for name in /proc/self/ns/*; do readlink $name; done"
    inside, outside = namespaces(t.works("sh", "-c", script)), namespaces(t.run(["sh", "-c", script]).out)
    wanted = set(NAMESPACES[t.mechanism])
    expect(wanted <= set(inside) and wanted <= set(outside), "both are listed", (inside, outside))
    equal({name for name in wanted if inside[name] == outside[name]}, set(), "namespaces of the host")


def test_no_process_of_the_host_is_seen(t):
    sleeper = t.sleeper()
    out = t.works("sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    contains(out, "/run/ringfence/init", "the processes inside")
    lacks(out, "sleep 600", "the processes inside")
    contains(kernel.command_line(sleeper.pid), "sleep 600", "the control")


DEVICES = "for file in /dev/* /dev/*/* /run/* /run/*/* /tmp/*; do [ ! -b $file ] && [ ! -c $file ] || stat -c '%n %t:%T' $file; done"


def test_there_are_no_other_device_nodes_than_with_bwrap(t):
    seen = t.works("sh", "-c", DEVICES)
    contains(seen, "/dev/null 1:3\n", "the devices")
    equal(seen, t.works("sh", "-c", DEVICES, opts=("--fence", "bwrap")), "the devices, compared with bwrap's")


def mounts(text):
    """(place, options, fields of propagation, type) of each line of mountinfo."""
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        yield fields[4], fields[5], fields[6:], after.split()[0]


def test_the_mounts_are_those_that_bwrap_makes(t):
    """Nothing of the image, of the engine or of its configuration is left."""
    def places(*opts):
        found = sorted(place for place, _, _, _ in mounts(t.works("cat", "/proc/self/mountinfo", opts=opts)))
        expect("/proc" in found and t.project in found, "the mounts are listed", found)
        return [place for place in found if not place.startswith("/proc/")]
    equal(places(), places("--fence", "bwrap"), "the mounts, compared with bwrap's")


def test_no_mount_is_shared_with_the_host(t):
    found = list(mounts(t.works("cat", "/proc/self/mountinfo")))
    expect(t.project in [place for place, _, _, _ in found], "the mounts are listed", found)
    equal([place for place, _, shared, _ in found if any(word.startswith("shared:") for word in shared)], [], "shared mounts")


@root_only
def test_a_mount_of_the_host_does_not_appear_inside_and_none_of_the_inside_outside(t):
    """In a project whose mounts are shared, as systemd has them."""
    t.own_mounts()
    kernel.mount(t.project, t.project, None, kernel.MS_BIND)
    kernel.mount(None, t.project, None, kernel.MS_SHARED)
    os.mkdir(t.path("late"))
    def places():
        return {place for place, _, _, _ in mounts(t.run(["cat", "/proc/self/mountinfo"]).out)}
    before = places()
    process = t.fence_start("sh", "-c", "echo ready; read go; ls late; echo end", stdin=-1)
    equal(process.stdout.readline(), b"ready\n", "the command")
    equal([place for place in places() if place.startswith(t.project)], [t.project], "mounts in the project while it runs")
    t.tmpfs(t.path("late"))
    t.write("late/of-the-host", "x")
    out, err = t.communicate(process, b"go\n")
    equal((process.returncode, out), (0, b"end\n"), "what the command sees in the folder", err)
    kernel.unmount(t.path("late"))
    equal(places() - before, set(), "new mounts of the host after the run")


def test_the_network_of_the_host_is_there_if_the_user_opens_it(t):
    """An engine refuses some options beside it."""
    def network(*opts):
        return namespaces(t.works("sh", "-c", "readlink /proc/self/ns/net", opts=opts))
    host = namespaces(t.run(["readlink", "/proc/self/ns/net"]).out)
    equal((network("--net", "open") == host, network() == host), (True, False), "whether it is the host's")
