"""Hostile images: nothing that an image says or does weakens the fence."""

import os
import stat

from harness import contains, equal, expect, mechanisms, needs
from harness.container import Engine

MECHANISMS = ("podman", "docker")


def ran_evil(folder):
    """Every program that an engine or a person would start without a second look."""
    text = "#!/usr/bin/busybox sh\n/usr/bin/busybox touch evil\n"
    for name in ("evil", "bash", "init", "ringfence-init"):
        path = os.path.join(folder, "usr/bin", name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, 0o755)


@needs("busybox")
def test_what_an_image_says_about_itself_has_no_effect(t):
    """Entry point, command, user, variables, folder, health check and volumes."""
    changes = ("ENTRYPOINT [\"/usr/bin/evil\"]", "CMD [\"evil\"]", "USER 0:0", "ENV LD_PRELOAD=/evil.so", "ENV BASH_ENV=/usr/bin/evil",
               "ENV PATH=/evil", "WORKDIR /evil", "VOLUME /home", "VOLUME /run/ringfence")
    image = Engine(t).image("liar", ran_evil, changes=changes)
    result, report = t.report("/usr/bin/busybox", "sh", "-c", "busybox id -u; busybox pwd; busybox env; busybox ls /usr/bin/evil", opts=("--image", image))
    equal(result.code, 0, "exit status", result)
    uid, folder, *variables, program = result.out.splitlines()
    equal((int(uid) != 0, folder, program), (True, t.project, "/usr/bin/evil"), "user, folder, and a program of the image")
    expect([line for line in variables if line.startswith("PATH=")], "the variables are listed", variables)
    equal([line for line in variables if "evil" in line], [], "variables of the image")
    expect(not t.exists("evil"), "no program of the image ran by itself", result)
    equal(report["canaries"]["passed"], report["canaries"]["total"], "the canaries")


@needs("busybox")
@mechanisms("docker")
def test_the_health_check_of_an_image_does_not_run(t):
    """The daemon would start it beside ringfence-init, again and again, without Landlock and limits."""
    engine = Engine(t)
    check = f'HEALTHCHECK --interval=1s CMD ["/usr/bin/busybox", "touch", "{t.path("evil")}"]'
    image = engine.image("ill", changes=(check,))
    equal(engine.inspect(image)["Config"]["Healthcheck"]["Test"][:2], ["CMD", "/usr/bin/busybox"], "the control: the image has one")
    process = t.fence_start("/usr/bin/busybox", "sh", "-c", "echo ready; read line", opts=("--image", image), stdin=-1)
    equal(process.stdout.readline(), b"ready\n", "the command")
    container = engine.inspect(engine.started())
    t.communicate(process, b"\n")
    equal(container["Config"]["Healthcheck"]["Test"], ["NONE"], "the health check of the container")


def lying_shell(folder):
    """A shell and a loader that claim to be what they are not."""
    for name in ("sh", "id", "true", "cat", "ls", "mount"):
        path = os.path.join(folder, "usr/bin", name)
        os.unlink(path)
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/usr/bin/busybox sh\necho uid=0; echo everything is fine; exit 0\n")
        os.chmod(path, 0o755)
    for name in ("usr/lib", "usr/lib64"):
        with open(os.path.join(folder, name, "ld-linux-x86-64.so.2"), "wb") as file:
            file.write(b"\x7fELF, but not really")
        for library in ("libc.so.6", "libseccomp.so.2"):
            os.symlink("/usr/bin/evil", os.path.join(folder, name, library))
    with open(os.path.join(folder, "etc/ld.so.preload"), "w", encoding="ascii") as file:
        file.write("/usr/bin/evil\n")


@needs("busybox")
def test_an_image_whose_shell_and_libc_lie_gains_nothing(t):
    """Whether the fence holds is not asked of programs of the image."""
    image = Engine(t).image("lying-libc", lying_shell)
    t.at_home(".ssh/id_rsa")
    opts = ("--image", image)
    result, report = t.report("sh", "-c", "anything", opts=opts)
    equal((result.code, "everything is fine" in result.out), (0, True), "what the image's shell says", result)
    equal(report["canaries"]["passed"], report["canaries"]["total"], "the canaries")
    result = t.fence(t.attack, "read", os.path.join(t.home, ".ssh/id_rsa"), opts=opts)
    equal(result.code, 1, "a secret is not read", result)
    contains(result.out, "denied: ", "what the attack says")


def setuid_programs(t):
    def change(folder):
        for name in ("gain", "attack"):
            path = os.path.join(folder, "usr/bin", name)
            with open(t.attack, "rb") as source, open(path, "wb") as file:
                file.write(source.read())
            os.chmod(path, 0o6755 if name == "gain" else 0o755)
        expect(os.stat(os.path.join(folder, "usr/bin/gain")).st_mode & stat.S_ISUID, "the bit is set", folder)
    return change


@needs("busybox")
def test_a_setuid_program_of_an_image_gains_nothing(t):
    engine = Engine(t)
    image = engine.image("setuid", setuid_programs(t))
    result = t.fence("/usr/bin/attack", "suid-gain", "/usr/bin/gain", "list-fds", opts=("--image", image))
    equal(result.code, 1, "exit status", result)
    contains(result.out, "denied: ", "what the attack says")
    control = engine.run("run", "--rm", "--network", "none", "--user", "1000", image, "/usr/bin/attack", "suid-gain", "/usr/bin/gain", "list-fds")
    contains(control.out, "euid: 0", "the control")
