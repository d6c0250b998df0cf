"""The user's configuration of an engine is for the user's own containers: it widens no fence."""

import json
import os

from harness import cases, contains, equal, mechanisms

MECHANISMS = ("podman", "docker")

PODMAN = {
    "volumes": '[containers]\nvolumes = ["/etc:/smuggled"]\n',
    "devices": '[containers]\ndevices = ["/dev/zero:/dev/smuggled:rwm"]\n',
    "capabilities": '[containers]\ndefault_capabilities = ["SYS_ADMIN", "SYS_PTRACE", "DAC_OVERRIDE", "MKNOD"]\n',
    "privileged": "[containers]\nprivileged = true\n",
    "pidns": '[containers]\npidns = "host"\n',
    "ipcns": '[containers]\nipcns = "host"\n',
    "utsns": '[containers]\nutsns = "host"\n',
    "netns": '[containers]\nnetns = "host"\n',
    "userns": '[containers]\nuserns = "host"\n',
    "cgroupns": '[containers]\ncgroupns = "host"\n',
    "env": '[containers]\nenv = ["SMUGGLED=1", "LD_PRELOAD=/smuggled.so"]\n',
    "env_host": "[containers]\nenv_host = true\n",
    "init": "[containers]\ninit = true\n",
    "seccomp": '[containers]\nseccomp_profile = ""\n',
    "label": "[containers]\nlabel = false\n",
    "mounts": '[containers]\nmounts = ["type=bind,source=/etc,destination=/smuggled"]\n',
    "tz": '[containers]\ntz = "Asia/Tokyo"\n',
    "cgroups": '[containers]\ncgroups = "enabled"\n',
}
# Everything that such a setting could change, one line for each thing.
LOOK = r"""
grep -E '^(Uid|Gid|Groups|Cap[A-Z][a-z]*|NoNewPrivs|Seccomp):' /proc/self/status
awk '{ print "mount", $5, $6 }' /proc/self/mountinfo | sort
for file in /dev/*; do [ ! -c $file ] || stat -c "device %n %t:%T" $file; done
env | grep -v -E '^(_|SHLVL|RINGFENCE_TEST_MARK)=' | sort
cat /proc/self/uid_map /proc/1/cmdline | tr '\0' ' '
umask; hostname; date +%Z; ls -d /smuggled
for name in cgroup ipc mnt net pid user uts; do
	[ "$(readlink /proc/self/ns/$name)" = "$(readlink host/$name)" ] && echo "host's $name"
done
true
"""


def look(t, env=None):
    result = t.fence("sh", "-c", LOOK, env=env)
    equal(result.code, 0, "exit status", result)
    contains(result.out, "NoNewPrivs:\t1", "what is seen")
    return result.out


def smuggled(t, name):
    """The run's own configuration of podman, with more in it."""
    own = t.read(t.engines["CONTAINERS_CONF"])
    section, _, rest = PODMAN[name].partition("\n")
    path = t.write(os.path.join(t.outside, "containers.conf"), own.replace(section, f"{section}\n{rest}", 1))
    return t.env(CONTAINERS_CONF=path)


def link_namespaces(t):
    os.mkdir(t.path("host"))
    for name in os.listdir("/proc/self/ns"):
        os.symlink(os.readlink(f"/proc/self/ns/{name}"), t.path(f"host/{name}"))


def without_effect(t, env):
    link_namespaces(t)
    equal(look(t, env), look(t), "what a command sees with it, compared with the usual")


@mechanisms("podman")
@cases(*PODMAN)
def test_what_a_configuration_of_podman_adds_has_no_effect(t, name):
    without_effect(t, smuggled(t, name))


@mechanisms("podman")
@cases("volumes", "capabilities", "privileged")
def test_what_a_configuration_of_podman_at_home_adds_has_no_effect(t, name):
    env = smuggled(t, name)
    t.at_home(".config/containers/containers.conf", t.read(env["CONTAINERS_CONF"]))
    without_effect(t, t.env(CONTAINERS_CONF=None) if t.identity == "user" else env)


@mechanisms("docker")
def test_what_a_configuration_of_dockers_client_adds_has_no_effect(t):
    """Its proxies become variables of every container."""
    folder = os.path.join(t.outside, "client")
    proxy = {"httpProxy": "http://smuggled:1", "httpsProxy": "http://smuggled:1", "noProxy": "smuggled"}
    t.write(os.path.join(folder, "config.json"), json.dumps({"proxies": {"default": proxy}, "detachKeys": "a"}))
    without_effect(t, t.env(DOCKER_CONFIG=folder))
