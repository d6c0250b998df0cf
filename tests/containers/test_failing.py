"""Engines that fail or could be led astray, and what is known of a run whose processes are theirs."""

import os
import shutil
import signal

from harness import cases, contains, equal, expect, mechanisms, timeout
from harness.container import Engine
from harness.loop import until

MECHANISMS = ("podman", "docker")
VARIABLES = {"podman": "RINGFENCE_PODMAN", "docker": "RINGFENCE_DOCKER"}


def folders(t):
    """The folders of containers in the state folder."""
    return [name for name in os.listdir(os.path.join(t.state, "containers")) if name.startswith("ringfence-")]


@timeout(300)
@cases("INT", "TERM")
def test_a_signal_ends_the_start_of_an_engine_that_hangs(t, name):
    engine, mark = Engine(t), os.path.join(t.outside, "mark")
    script = t.write(os.path.join(t.outside, "engine"), f"#!/bin/sh\necho >> {mark}\nexec sleep 600\n", 0o755)
    process = t.fence_start("true", env=t.env(**{VARIABLES[t.mechanism]: script}))
    until("the engine", lambda: os.path.exists(mark))
    number = getattr(signal, f"SIG{name}")
    process.send_signal(number)
    t.communicate(process)
    equal(process.returncode, 128 + number, "exit status")
    equal(len(folders(t)), 1, "records of containers that could not be removed")
    t.works("true")
    equal(folders(t), [], "records after a start with an engine that works")
    engine.empty()


@mechanisms("podman")
@timeout(300)
def test_a_start_that_fails_lets_the_engine_remove_the_container(t):
    """Its ringfence-init waits for descriptors that never come, until the socket is closed."""
    log = os.path.join(t.outside, "log")
    script = t.write(os.path.join(t.outside, "engine"), f'#!/bin/sh\n/usr/bin/podman "$@"\necho "$1 $?" >> {log}\n', 0o755)
    env = t.env(RINGFENCE_PODMAN=script)
    equal(t.fence("true", env=env).code, 0, "exit status before")
    shutil.rmtree(os.path.join(t.state, "etc"))
    t.write(os.path.join(t.state, "etc"))
    result = t.fence("true", env=env)
    equal(result.code, 125, "exit status", result)
    contains(result.err, os.path.join(t.state, "etc"))
    equal(t.read(log).splitlines()[:2], ["run 0", "run 125"], "the ends of the engine's clients, which nobody killed")
    equal(folders(t), [], "records of containers")


@mechanisms("podman")
@cases("CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF")
def test_a_configuration_of_podman_that_the_command_can_change_is_refused(t, variable):
    """It names programs that podman runs outside: the runtime, the monitor and hooks."""
    path = t.write("own/containers.conf", "")
    result = t.fence("true", env=t.env(**{variable: path}))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "podman cannot be used, because of its environment")


@mechanisms("docker")
@cases("DOCKER_CONFIG", "DOCKER_HOST")
def test_a_configuration_of_docker_that_the_command_can_change_is_refused(t, variable):
    os.mkdir(t.path("own"))
    value = {"DOCKER_CONFIG": t.path("own"), "DOCKER_HOST": f"unix://{t.path('own/socket')}"}[variable]
    result = t.fence("true", env=t.env(**{variable: value}))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "docker cannot be used, because of its environment")


BUSY = "import time\nwhile time.process_time() < 0.5: pass"


def test_the_report_has_the_cpu_time_of_the_command_not_of_the_engine(t):
    result, report = t.report("python3", "-c", BUSY)
    equal(result.code, 0, "exit status", result)
    expect(report["use"]["cpu_ms"] >= 500, "the command's CPU time", report["use"])


def test_the_memory_of_the_engine_is_not_that_of_the_command(t):
    """Its client has more than 16 MiB."""
    result, report = t.report("sh", "-c", "exit 3", opts=("--memory", "16M"))
    equal((result.code, report["exit"]["limit"]), (3, None), "exit status and limit", result)
    expect(report["use"]["memory_peak"] < 16 << 20, "the command's memory", report["use"])


def test_nobody_else_reaches_the_sockets_of_containers(t):
    t.works("true")
    equal(os.stat(os.path.join(t.state, "containers")).st_mode & 0o777, 0o700, "the mode of their folder")
