"""Items 52 to 58 and 60: sockets of the host, socket families, the network."""

import os
import socket

from harness import (Skip, cases, contains, denied_inside_allowed_outside, equal, expect, lacks,
                     not_possible_inside, refused_by_rule)
from harness.control import attack_inside, attack_outside
from harness.world import GREETING

STREAM, DGRAM, RAW, SEQPACKET = 1, 2, 3, 5
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16


def runtime(t):
    return f"/run/user/{os.getuid()}"


def socket_of_the_host(t, path, **env):
    """A service at a path that only this test sees; it answers outside and cannot be reached inside."""
    t.own_mounts()
    t.tmpfs("/run")
    t.own_tmp()
    path = path.format(run=runtime(t), home=t.home)
    t.serve(path)
    env = t.env(**{name: value.format(path=path, run=runtime(t)) for name, value in env.items()})
    denied_inside_allowed_outside(t, "unix", path, env=env)
    if env.keys() - t.env().keys():
        out = t.works("env", env=env)
        for name in env.keys() - t.env().keys():
            lacks(out, f"{name}=", "the environment inside")


@cases("/run/docker.sock", "/run/podman/podman.sock", "{run}/podman/podman.sock",
       "{run}/docker.sock", "{home}/.docker/run/docker.sock", "/run/containerd/containerd.sock",
       "/run/systemd/private")
def test_52_a_container_engines_socket_cannot_be_reached(t, path):
    socket_of_the_host(t, path, DOCKER_HOST="unix://{path}", XDG_RUNTIME_DIR="{run}")


def test_52_a_socket_behind_var_run_cannot_be_reached(t):
    if os.path.realpath("/var/run") != "/run":
        raise Skip("/var/run is not /run here")
    t.own_mounts()
    t.tmpfs("/run")
    t.serve("/run/docker.sock")
    denied_inside_allowed_outside(t, "unix", "/var/run/docker.sock")


@cases("/run/dbus/system_bus_socket", "{run}/bus")
def test_53_dbus_cannot_be_reached(t, path):
    socket_of_the_host(t, path, DBUS_SESSION_BUS_ADDRESS="unix:path={path}",
                       DBUS_SYSTEM_BUS_ADDRESS="unix:path={path}")


def abstract(t):
    return f"ringfence-test-{os.getpid()}-{t.identity}"


@cases("none", "open")
def test_54_an_abstract_socket_of_the_host_cannot_be_reached(t, net):
    name = abstract(t)
    t.serve(b"\0" + name.encode())
    denied_inside_allowed_outside(t, "unix", f"@{name}", opts=("--net", net), told=net == "none")


@cases("@/tmp/dbus-{0}", "@/tmp/.X11-unix/X{0}", "@/tmp/.ICE-unix/{0}", "@/containerd-shim/{0}.sock")
def test_54_well_known_abstract_names_cannot_be_reached(t, pattern):
    name = pattern.format(os.getpid())
    t.serve(b"\0" + name[1:].encode())
    denied_inside_allowed_outside(t, "unix", name)


@cases("none", "open")
def test_54_abstract_sockets_work_among_the_commands_own_processes(t, net):
    script = ("import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0mine')\ns.listen()\n"
              "c = socket.socket(socket.AF_UNIX)\nc.connect('\\0mine')\nprint('met')\n")
    contains(t.works("python3", "-c", script, opts=("--net", net)), "met", "inside")


@cases(("{run}/wayland-0", "WAYLAND_DISPLAY"), ("/tmp/.X11-unix/X0", "DISPLAY"),
       ("{run}/pipewire-0", "PIPEWIRE_REMOTE"), ("{run}/pulse/native", "PULSE_SERVER"))
def test_55_the_desktop_cannot_be_reached(t, path, name):
    socket_of_the_host(t, path, **{name: "{path}"}, XAUTHORITY="{run}/auth")


@cases("{home}/.ssh/agent.sock", "{run}/ssh-agent", "/tmp/ssh-abc/agent.1", "{run}/keyring/ssh",
       "{home}/.gnupg/S.gpg-agent", "{run}/gnupg/S.gpg-agent", "{run}/gnupg/S.gpg-agent.ssh")
def test_56_an_agent_that_holds_keys_cannot_be_reached(t, path):
    socket_of_the_host(t, path, SSH_AUTH_SOCK="{path}", GPG_AGENT_INFO="{path}:0:1")


@cases(("AF_VSOCK", 40, STREAM, 0), ("AF_VSOCK datagram", 40, DGRAM, 0),
       ("AF_PACKET", 17, RAW, 768), ("AF_PACKET datagram", 17, DGRAM, 768), ("AF_XDP", 44, RAW, 0),
       ("NETLINK_SOCK_DIAG", NETLINK, RAW, 4), ("NETLINK_AUDIT", NETLINK, RAW, 9),
       ("NETLINK_XFRM", NETLINK, RAW, 6), ("NETLINK_NETFILTER", NETLINK, RAW, 12),
       ("NETLINK_KOBJECT_UEVENT", NETLINK, RAW, 15), ("NETLINK_GENERIC", NETLINK, RAW, 16),
       ("NETLINK_CONNECTOR", NETLINK, DGRAM, 11))
def test_57_a_socket_family_that_no_command_needs_is_denied(t, _, family, kind, protocol):
    act = ("socket", family, kind, protocol)
    control = t.run(t.bwrap_argv(t.attack, *map(str, act)))
    if control.code == 0:
        denied_inside_allowed_outside(t, *act, errno="EAFNOSUPPORT", control="bwrap")
    else:
        refused_by_rule(t, *act, errno="EAFNOSUPPORT")


RARE = {"AF_ALG": (38, SEQPACKET, 0), "AF_KEY": (15, RAW, 2), "AF_BLUETOOTH": (31, RAW, 1),
        "AF_TIPC": (30, DGRAM, 0), "AF_CAN": (29, RAW, 1), "AF_RDS": (21, SEQPACKET, 0),
        "AF_NFC": (39, SEQPACKET, 1), "AF_QIPCRTR": (42, DGRAM, 0), "AF_SMC": (43, STREAM, 0)}


def test_57_a_socket_family_that_few_kernels_have_is_denied(t):
    """AF_ALG and the like: all are denied, but only what this kernel has proves something."""
    there = 0
    for family in RARE.values():
        not_possible_inside(t, "socket", *family, errno="EAFNOSUPPORT")
        there += t.run(t.bwrap_argv(t.attack, "socket", *map(str, family))).code == 0
    if not there:
        raise Skip(f"this kernel has none of {', '.join(RARE)}, so there is no control")


@cases(("AF_INET", INET, STREAM, 0), ("AF_INET datagram", INET, DGRAM, 0), ("AF_INET6", INET6, STREAM, 0),
       ("AF_UNIX", UNIX, STREAM, 0), ("NETLINK_ROUTE", NETLINK, RAW, 0))
def test_57_a_socket_family_that_commands_need_works(t, _, family, kind, protocol):
    result = attack_inside(t, "socket", family, kind, protocol)
    equal(result.code, 0, "exit status", result)


def test_57_a_high_bit_in_the_family_changes_nothing(t):
    family = 40 | 1 << 32
    inside = attack_inside(t, "socket", family, STREAM, 0)
    contains(inside.out, "denied: ", "inside")
    equal(attack_outside(t, "socket", family, STREAM, 0).out,
          attack_outside(t, "socket", 40, STREAM, 0).out, "outside it is the same family")


@cases("none", "open")
def test_58_a_datagram_to_an_abstract_socket_of_the_host_does_not_arrive(t, net):
    name = abstract(t)
    server = t.serve(b"\0" + name.encode(), socket.SOCK_DGRAM)
    denied_inside_allowed_outside(t, "unix-datagram", f"@{name}", opts=("--net", net))
    server.setblocking(False)
    equal(server.recv(100), b"attacked", "the control arrived")
    try:
        expect(False, "only the control may arrive", server.recv(100))
    except BlockingIOError:
        pass


@cases("/run/systemd/journal/socket", "/run/log", "{home}/notify")
def test_58_a_datagram_to_a_socket_file_of_the_host_does_not_arrive(t, pattern):
    path = pattern.format(home=t.home)
    t.own_mounts()
    t.tmpfs("/run")
    t.serve(path, socket.SOCK_DGRAM)
    denied_inside_allowed_outside(t, "unix-datagram", path, env=t.env(NOTIFY_SOCKET=path))


PROXIES = {name: "http://127.0.0.1:1" for name in ("http_proxy", "https_proxy", "ALL_PROXY")}


def inet_server(t, ip, kind=socket.SOCK_STREAM, port=0):
    family = socket.AF_INET6 if ":" in ip else socket.AF_INET
    try:
        return t.serve((ip, port), kind, family).getsockname()[1]
    except OSError as error:
        raise Skip(f"no server at {ip} port {port}: {error.strerror}") from None


@cases("127.0.0.1", "127.9.9.9", "::1")
def test_60_a_tcp_service_of_the_host_cannot_be_reached(t, ip):
    port = inet_server(t, ip)
    denied_inside_allowed_outside(t, "tcp", ip, port)
    # The same fence without this rule.
    result = attack_inside(t, "tcp", ip, port, opts=("--net", "open"))
    contains(result.out, GREETING.decode(), "with --net open")


@cases("127.0.0.1", "::1")
def test_60_a_udp_service_of_the_host_cannot_be_reached(t, ip):
    port = inet_server(t, ip, socket.SOCK_DGRAM)
    denied_inside_allowed_outside(t, "udp", ip, port)


def test_60_a_resolver_of_the_host_cannot_be_reached(t):
    t.own_network()  # a machine has one such port, and another program may use it
    inet_server(t, "127.0.0.1", socket.SOCK_DGRAM, 53)
    denied_inside_allowed_outside(t, "udp", "127.0.0.1", 53)


def test_60_icmp_cannot_be_sent(t):
    denied_inside_allowed_outside(t, "icmp", "127.0.0.1", control="bwrap")


@cases("192.0.2.1", "169.254.169.254", "10.0.0.1", "2001:db8::1")
def test_60_no_route_leads_out(t, ip):
    """Nothing is sent for this: inside there is no route at all."""
    for act in (("tcp", ip, 443), ("udp", ip, 53)):
        inside = attack_inside(t, *act)
        expect("denied: ENETUNREACH" in inside.out or "denied: EADDRNOTAVAIL" in inside.out,
               "the network is unreachable", inside)


def test_60_only_loopback_is_there(t):
    names = t.works("sh", "-c", "tail -n +3 /proc/net/dev | cut -d: -f1").split()
    equal(names, ["lo"], "network devices inside")


def test_60_proxy_variables_do_not_get_inside(t):
    out = t.works("env", env=t.env(**PROXIES))
    lacks(out.lower(), "proxy", "the environment inside")


def test_60_names_are_not_resolved(t):
    not_possible_inside(t, "read", "/etc/resolv.conf")
    result = t.fence("python3", "-c", "import socket; socket.getaddrinfo('example.org', 80)")
    expect(result.code != 0, "no resolver answers", result)
    localhost = t.works("python3", "-c", "import socket; print(socket.gethostbyname('localhost'))")
    contains(localhost, "127.0.0.1", "localhost")
