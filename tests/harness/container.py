"""The engine of a test's mechanism: its containers, and images made of a folder.

Tests share the storage of their engine, so each looks only at containers that show something of its own folder.
"""

import json
import os
import shutil

from .expect import equal
from .loop import until

BUSYBOX = "/usr/bin/busybox"
FOLDERS = ("dev", "etc", "home", "mnt", "proc", "run", "sys", "tmp", "usr/bin", "usr/lib", "usr/lib64", "usr/sbin", "var")
LINKS = ("bin", "lib", "lib64", "sbin")
PROGRAMS = ("sh", "cat", "echo", "id", "ls", "mount", "sleep", "touch", "true")


class Engine:
    """Podman or docker, as a person would call it beside ringfence."""

    def __init__(self, t):
        self.t = t
        self.name = t.mechanism

    def run(self, *words, **options):
        return self.t.run([self.name, *words], **options)

    def works(self, *words, **options):
        result = self.run(*words, **options)
        equal(result.code, 0, f"exit status of {self.name}", result)
        return result.out

    def containers(self):
        """The names of this test's containers, also of those that have ended."""
        names = self.works("ps", "--all", "--format", "{{.Names}}").split()
        return [name for name in names if self.t.folder + "/" in self.run("inspect", name).out]

    def empty(self):
        """Waits until there is no container: an engine removes one some time after its process has ended."""
        until("the end of all containers", lambda: not self.containers())

    def started(self, *others):
        """Waits for a container that is not one of the others; returns its name."""
        return until("a container", lambda: [name for name in self.containers() if name not in others])[0]

    def inspect(self, name):
        return json.loads(self.works("inspect", name))[0]

    def image(self, name, change=lambda folder: None, changes=()):
        """Makes an image of busybox, after `change` was called with its folder. changes: lines of a Containerfile."""
        name = f"{name}-{os.path.basename(self.t.folder)}"
        folder = os.path.join(self.t.outside, name)
        for part in FOLDERS:
            os.makedirs(os.path.join(folder, part))
        for link in LINKS:
            os.symlink(f"usr/{link}", os.path.join(folder, link))
        shutil.copy(BUSYBOX, os.path.join(folder, "usr/bin/busybox"))
        for program in PROGRAMS:
            os.symlink("busybox", os.path.join(folder, "usr/bin", program))
        change(folder)
        tar = f"{folder}.tar"
        equal(self.t.run(["tar", "-C", folder, "--owner=0", "--group=0", "-cf", tar, "."]).code, 0, "exit status of tar")
        self.works("import", *(word for line in changes for word in ("--change", line)), tar, name)
        self.t.cleanups.append(lambda: self.run("rmi", "--force", name))
        return name

    def bystander(self, image):
        """A container that is not ringfence's. It runs until the test ends."""
        name = f"bystander-{os.path.basename(self.t.folder)}"
        self.works("run", "--detach", "--network", "none", "--name", name, "--volume", f"{self.t.outside}:/mnt", image, "sleep", "600")
        self.t.cleanups.append(lambda: self.remove(name))
        return name

    def remove(self, name):
        """At once, where the engine would wait for the container to obey TERM."""
        self.run("rm", "--force", *(("--time", "0") if self.name == "podman" else ()), name)
