"""Items 1 to 3 and 27: what must not be read."""

import os

from harness import (cases, contains, denied_inside_allowed_outside, equal, expect, lacks,
                     not_possible_inside)
from harness.control import attack_inside, attack_outside
from harness.world import PATH

SECRET = "the secret of the host"


@cases(".ssh/id_ed25519", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".docker/config.json",
       ".kube/config", ".gnupg/private-keys-v1.d/k.key", ".bash_history", "other-project/main.c")
def test_01_a_file_of_the_home_cannot_be_read(t, name):
    path = t.at_home(name, SECRET)
    denied_inside_allowed_outside(t, "read", path)


def test_01_the_home_inside_is_empty_but_for_the_way_to_the_project(t):
    t.at_home(".ssh/id_ed25519", SECRET)
    outside = t.run(["ls", "-A", t.home]).out.split()
    inside = t.works("ls", "-A", t.home).split()
    expect(".ssh" in outside, "the control sees the key", outside)
    equal(inside, ["project"], "names in $HOME")


def test_01_the_state_of_ringfence_cannot_be_read(t):
    t.works("true")
    path = t.write(os.path.join(t.state, "quarantine/note"), SECRET)
    denied_inside_allowed_outside(t, "read", path)


SYSTEM = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh/sshd_config", "/etc/fstab",
          "/etc/crontab", "/root/.bashrc", "/var/log/dpkg.log", "/var/lib/dpkg/status", "/boot", "/sys",
          "/sys/kernel/notes", "/home", "/mnt", "/srv", "/etc/machine-id", "/var/cache", "/run/utmp")


def test_01_a_file_of_the_system_that_no_command_needs_cannot_be_read(t):
    paths = [path for path in SYSTEM if attack_outside(t, "read", path).code == 0]
    expect(len(paths) > 3, "as a control, some can be read outside", paths)
    inside = t.sh("".join(f"./attack read {path};" for path in paths))
    equal(inside.out.splitlines(), ["denied: ENOENT"] * len(paths), f"inside, for {paths}")


HIDDEN = (".env", ".env.local", ".env.production", "deep/in/the/tree/.env", "server.pem",
          "config/tls.key", "credentials/token", "secrets/db/password", "a/secrets/x", "id.key", "id_ed25519",
          "deploy_rsa", "store.p12", "a/.netrc", ".pypirc", ".ssh/config", "deep/.aws/credentials", ".docker/config.json",
          "terraform.tfstate.backup", ".cargo/credentials.toml")


@cases(*HIDDEN)
def test_01_a_secret_in_the_project_cannot_be_read(t, name):
    path = t.write(name, SECRET)
    denied_inside_allowed_outside(t, "read", name, errno="EACCES", unchanged=[path])


@cases(*HIDDEN)
def test_01_a_secret_in_the_project_cannot_be_written_removed_or_moved(t, name):
    path = t.write(name, SECRET)
    for act in (("write", name), ("unlink", name), ("rename", name, "taken"), ("truncate", name),
                ("link-write", name, "alias")):
        not_possible_inside(t, *act)
        equal(t.read(path), SECRET, "the secret")
    equal(attack_outside(t, "write", name).code, 0, "the control")


@cases(".ENV", ".Env.Local", "Server.PEM", "TLS.Key", "Credentials/token", "SECRETS/x",
       "deep/er/Secrets/x")
def test_27_a_secret_is_hidden_in_any_case_of_its_name(t, name):
    t.write(name, SECRET)
    denied_inside_allowed_outside(t, "read", name, errno="EACCES")


@cases("environment", "env", "envoy/config", "keys", "a.keys", "monkey", "pem", "secretsx/y",
       "credentials.md", "x.pem.txt", "id_rsa.pub", "docker/config.json", "aws/x", "state.tf", "tokenizer.json",
       ".cargo/config.toml")
def test_01_a_name_that_only_resembles_a_secret_stays_readable(t, name):
    t.write(name, "plain")
    contains(t.works("cat", name), "plain", "what cat shows")


def test_01_a_pem_of_certificates_alone_stays_readable(t):
    block = "-----BEGIN {0}-----\nMIIB\n-----END {0}-----\n"
    t.write("ca.pem", block.format("CERTIFICATE") * 2)
    t.write("both.pem", block.format("CERTIFICATE") + block.format("PRIVATE KEY"))
    contains(t.works("cat", "ca.pem"), "BEGIN CERTIFICATE", "the certificate")
    denied_inside_allowed_outside(t, "read", "both.pem", errno="EACCES")


def test_02_a_symlink_planted_before_the_run_leads_nowhere(t):
    secret = t.at_home(".ssh/id_ed25519", SECRET)
    os.symlink(secret, t.path("notes"))
    denied_inside_allowed_outside(t, "read", "notes")


def test_02_a_symlink_planted_in_the_run_leads_nowhere(t):
    secret = t.at_home(".ssh/id_ed25519", SECRET)
    script = (f"ln -sf {secret} notes; ln -sfn {t.home} home; ./attack read notes; "
              "./attack read home/.ssh/id_ed25519")
    inside = t.sh(script)
    equal(inside.out.count("denied: "), 2, "denials", inside)
    lacks(inside.out, SECRET, "what was read inside")
    contains(t.run(["sh", "-c", script]).out, SECRET, "what was read outside")


def test_02_a_symlink_to_a_hidden_file_of_the_project_shows_nothing(t):
    t.write(".env", SECRET)
    os.symlink(".env", t.path("notes"))
    denied_inside_allowed_outside(t, "read", "notes", errno="EACCES")


def test_02_a_symlinked_folder_to_the_home_shows_nothing(t):
    t.at_home(".ssh/id_ed25519", SECRET)
    os.symlink(t.home, t.path("up"))
    denied_inside_allowed_outside(t, "read", "up/.ssh/id_ed25519")


@cases("/proc/self/root{secret}", "/proc/{pid}/root{secret}", "/proc/self/cwd/../.ssh/key",
       "/proc/{pid}/cwd/../.ssh/key", "/proc/thread-self/root{secret}",
       "/proc/self/task/../root{secret}", "../.ssh/key", "/proc/self/cwd/../../home/.ssh/key")
def test_03_a_way_through_proc_or_dots_leads_nowhere(t, pattern):
    secret = t.at_home(".ssh/key", SECRET)
    # Inside, 1 is ringfence-init; outside, a process of the same user whose folder is the project.
    denied_inside_allowed_outside(
        t, "read", pattern.format(secret=secret, pid=1),
        control_args=("read", pattern.format(secret=secret, pid=t.sleeper().pid)))


def test_03_no_process_of_the_host_is_seen_in_proc(t):
    pid = t.sleeper().pid
    denied_inside_allowed_outside(t, "read", f"/proc/{pid}/environ", errno="ENOENT")


def test_03_the_environment_of_pid_1_holds_no_secret(t):
    env = t.env(TOKEN="hunter2-token", PATH=PATH)
    result = t.fence("sh", "-c", "cat /proc/*/environ | tr '\\0' '\\n'", env=env)
    contains(result.out, "RINGFENCE=1", "environments inside")
    lacks(result.out, "hunter2-token", "environments inside")
    contains(t.run(["sh", "-c", "tr '\\0' '\\n' </proc/self/environ"], env=env).out, "hunter2-token",
             "the control")


def test_03_the_command_line_of_pid_1_does_not_show_what_is_hidden(t):
    t.write("private-name-of-a-client", "x")
    result = attack_inside(t, "read", "/proc/1/cmdline", opts=("--hide", "private-name-of-a-client"))
    contains(result.out, "/run/ringfence/init", "the command line of pid 1")
    lacks(result.out, "private-name-of-a-client", "the command line of pid 1")
