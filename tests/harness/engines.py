"""Podman and Docker for the tests: with storage, runtime folders and a daemon of the run's own, of which nothing is left.

    TEMP/engines/root    podman's folders as root
    TEMP/engines/user    podman's folders as the plain user
    TEMP/engines/docker  the folders and the socket of a Docker daemon

They are in the temporary folder of the run, so a run needs no configuration of the machine and changes none.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess

from . import kernel, rundir
from .patience import Patience

PLAIN_NAME = "ringfence-test"
CAP_SYS_RESOURCE = 24
LIMITS = ("nofile=20000:20000", "nproc=20000:20000")  # without CAP_SYS_RESOURCE no process may have more than its parent
DAEMON_S = 60
GROUPS = "/sys/fs/cgroup"
HYBRID = os.path.join(GROUPS, "unified")


class Unusable(Exception):
    """The message says what is missing."""


def _write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _read(path):
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""


def _may_raise_limits():
    line = next(line for line in _read("/proc/self/status").splitlines() if line.startswith("CapEff:"))
    return bool(int(line.split()[1], 16) >> CAP_SYS_RESOURCE & 1)


def _free_range():
    """The first of 65536 ids that nobody has."""
    ends = [100000]
    for path in ("/etc/subuid", "/etc/subgid"):
        for line in _read(path).splitlines():
            with contextlib.suppress(ValueError):
                _, first, count = line.split(":")
                ends.append(int(first) + int(count))
    return max(ends)


class Engines:
    def __init__(self, temp, identities):
        self.folder = os.path.join(temp, "engines")
        self.identities = identities
        self.environments = {identity: {} for identity in identities}
        self.group = f"/{os.path.basename(temp)}"  # the control groups of Docker's containers
        self.daemon = None
        self.before = set()
        self.left = []

    def path(self, *names):
        return os.path.join(self.folder, *names)

    # Podman

    def start(self):
        """Makes everything, and looks whether podman and docker work. May raise Unusable."""
        os.makedirs(self.folder)
        self.before = set(_groups_named("libpod_parent"))
        if os.getuid() == 0:
            self._prepare_machine()
        for identity in self.identities:
            if shutil.which("podman"):
                self.environments[identity].update(self._podman(identity))
                self._try_podman(identity)
        if os.getuid() == 0 and shutil.which("dockerd", path=rundir.ADMIN["PATH"]):
            self._start_daemon()

    def _prepare_machine(self):
        """Only this process and what it starts see this."""
        kernel.own_mounts()
        kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_SHARED)  # as systemd does; or podman warns a user
        if os.path.ismount(HYBRID):
            # crun refuses groups of version 1 with an empty tree of version 2 beside them. Without any mount there,
            # it would make folders in the machine's own /sys/fs/cgroup.
            kernel.mount("tmpfs", HYBRID, "tmpfs", 0, "mode=755,size=1m")
        first = _free_range()
        ids, user = f"{PLAIN_NAME}:{first}:65536", f"{PLAIN_NAME}:x:{rundir.PLAIN_UID}"
        lines = {"passwd": f"{user}:{rundir.PLAIN_UID}::/nonexistent:/usr/sbin/nologin", "group": f"{user}:", "subuid": ids, "subgid": ids}
        for name, line in lines.items():
            own = _write(self.path(name), f"{_read(f'/etc/{name}').rstrip()}\n{line}\n".lstrip())
            if os.path.exists(f"/etc/{name}"):
                kernel.mount(own, f"/etc/{name}", None, kernel.MS_BIND)

    def _podman(self, identity):
        """Makes podman's folders and configuration; returns the environment that names them."""
        folder = self.path(identity)
        places = {name: os.path.join(folder, name) for name in ("storage", "run", "tmp", "networks")}
        limits = [] if _may_raise_limits() else list(LIMITS)
        for place in (folder, *places.values()):
            os.mkdir(place, 0o700)
            os.chown(place, rundir.uid_of(identity), rundir.uid_of(identity))
        engine = _write(os.path.join(folder, "containers.conf"), "\n".join((
            "[containers]", f"default_ulimits = {json.dumps(limits)}",
            "[engine]", 'cgroup_manager = "cgroupfs"', 'events_logger = "file"', 'lock_type = "file"',
            f'tmp_dir = "{places["tmp"]}"',
            "[network]", f'network_config_dir = "{places["networks"]}"', "")))
        storage = _write(os.path.join(folder, "storage.conf"), "\n".join((
            "[storage]", 'driver = "overlay"', f'graphroot = "{places["storage"]}"',
            f'rootless_storage_path = "{places["storage"]}"', f'runroot = "{places["run"]}/containers"', "")))
        env = {"CONTAINERS_CONF": engine, "CONTAINERS_STORAGE_CONF": storage}
        return env if identity == "root" else {**env, "XDG_RUNTIME_DIR": places["run"]}

    def run(self, identity, *argv, **options):
        uid = rundir.uid_of(identity)
        who = {"user": uid, "group": uid, "extra_groups": []} if uid != os.getuid() else {}
        env = {"PATH": rundir.ADMIN["PATH"], "HOME": self.path(identity), **self.environments[identity]}
        return subprocess.run(argv, env=env, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False, **who, **options)

    def _try_podman(self, identity):
        """Also starts the process that keeps the namespaces of a user's containers, which would be left by the first test."""
        done = self.run(identity, "podman", "info", "--format", "{{.Store.GraphDriverName}}")
        if done.returncode or done.stdout.strip() != "overlay":
            raise Unusable(f"podman as {identity}: {done.stdout}{done.stderr}")

    # Docker

    def _start_daemon(self):
        folder = self.path("docker")
        socket = f"unix://{folder}/api/socket"
        os.mkdir(folder, 0o711)
        os.mkdir(f"{folder}/api", 0o711)
        _write(f"{folder}/config.json", "{}")  # podman also looks for it
        if os.path.isdir("/etc/docker"):  # the daemon writes a key there, and reads the machine's settings
            os.mkdir(f"{folder}/etc")
            kernel.mount(f"{folder}/etc", "/etc/docker", None, kernel.MS_BIND)
        with open(f"{folder}/log", "wb") as log:
            self.daemon = subprocess.Popen(
                ["dockerd", "--host", socket, "--group", str(rundir.PLAIN_UID), "--data-root", f"{folder}/data", "--exec-root", f"{folder}/run",
                 "--pidfile", f"{folder}/pid", "--storage-driver", "overlay2", "--bridge", "none", "--iptables=false", "--ip6tables=false",
                 "--ip-forward=false", "--ip-masq=false", "--cgroup-parent", self.group],
                env={**rundir.ADMIN, "HOME": folder, "TMPDIR": folder}, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        for identity in self.identities:
            self.environments[identity].update(DOCKER_HOST=socket, DOCKER_CONFIG=folder)
        self._await_daemon(f"{folder}/log")

    def _await_daemon(self, log):
        limit = Patience(DAEMON_S)
        while self.run("root" if "root" in self.identities else "user", "docker", "version").returncode:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.daemon.wait(0.1)
            if self.daemon.returncode is not None or limit.left() <= 0:
                raise Unusable(f"dockerd: {_read(log)[-2000:]}")

    # The end

    def stop(self):
        """Ends what start() has started; yields (claim, evidence) for everything of containers that is left."""
        if not os.path.isdir(self.folder):
            return
        for identity in self.identities:
            yield from self._containers(identity)
            for name in sorted(self._created(identity)):
                for path in filter(os.path.lexists, (f"/run/crun/{name}", *_groups_named(f"libpod-{name}"))):
                    yield "nothing of a container is left", path
        self._remove_left()
        for identity in self.identities:
            self._end_pause(identity)
        yield from self._stop_daemon()
        yield from self._groups()
        yield from self._mounts()

    def _containers(self, identity):
        for engine, wanted in (("podman", "CONTAINERS_CONF"), ("docker", "DOCKER_HOST")):
            if wanted in self.environments[identity]:
                left = self.run(identity, engine, "ps", "--all", "--format", "{{.ID}} {{.Names}} {{.Status}}")
                if left.returncode or left.stdout.strip():
                    yield f"no container is left ({engine} as {identity})", left.stdout + left.stderr
                    self.left.append((identity, engine, [line.split()[0] for line in left.stdout.splitlines()]))

    def _remove_left(self):
        """At once: podman would wait for a container to obey TERM."""
        for identity, engine, idents in self.left:
            self.run(identity, engine, "rm", "--force", *(("--time", "0") if engine == "podman" else ()), *idents)

    def _created(self, identity):
        """The ids of all containers that podman has made."""
        found = set()
        for line in _read(self.path(identity, "tmp/events/events.log")).splitlines():
            with contextlib.suppress(ValueError):
                event = json.loads(line)
                found |= {event["ID"]} if event.get("Type") == "container" else set()
        return found

    def _end_pause(self, identity):
        pid = _read(self.path(identity, "tmp/pause.pid")).strip()
        if pid.isdigit() and int(pid) in dict(kernel.children_of(os.getpid())):
            os.kill(int(pid), signal.SIGKILL)
            os.waitpid(int(pid), 0)

    def _stop_daemon(self):
        if not self.daemon:
            return
        self.daemon.terminate()
        try:
            self.daemon.wait(Patience(DAEMON_S).left())
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
            yield "dockerd ends", _read(self.path("docker/log"))[-2000:]

    def _groups(self):
        """The groups of Docker's containers, which have a parent of their own; and podman's parent, if it is ours."""
        for top in _groups_named(self.group.strip("/")):
            for name in os.listdir(top):
                if os.path.isdir(os.path.join(top, name)):
                    yield "no control group is left", os.path.join(top, name)
            with contextlib.suppress(OSError):
                os.rmdir(top)
        for top in set(_groups_named("libpod_parent")) - self.before:
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(top, "conmon"))
            with contextlib.suppress(OSError):
                os.rmdir(top)

    def _mounts(self):
        """Podman binds the folder of its layers to itself, once; Docker the network of the host."""
        own = {os.path.realpath(self.path(identity, "storage/overlay")) for identity in self.identities}
        own.add(os.path.realpath(self.path("docker/run/netns/default")))
        for line in _read("/proc/self/mountinfo").splitlines():
            place = line.split()[4]
            if place in own:
                kernel.unmount(place)
            elif place.startswith(self.folder + "/"):
                yield "no mount of a container is left", line


def _groups_named(name):
    """The control groups with this name at the top of each controller, or below podman's parent."""
    tops = [GROUPS, *(os.path.join(GROUPS, entry) for entry in os.listdir(GROUPS) if entry != "unified")] if os.path.isdir(GROUPS) else []
    places = (os.path.join(top, *below, name) for top in tops for below in ((), ("libpod_parent",)))
    return [place for place in places if os.path.isdir(place)]
