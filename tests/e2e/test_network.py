"""net: list: named hosts can be reached, through the gateway, and nothing else."""

import json
import os
import signal
import threading

from harness import cases, contains, equal, expect, lacks, needs, refused_before_start
from harness.loop import LoopInPlace as Loop
from harness.loop import until
from harness.network import INTERNAL, METADATA, OTHER, PUBLIC, PUBLIC6, Network
from harness import kernel, web

CURL = ("curl", "-sS", "-m60")


def internet(t, handle=web.say, port=80):
    net = Network(t)
    net.names = {"allowed.com": [PUBLIC], "evil.com": [OTHER], "sub.allowed.com": [PUBLIC],
                 "inside.com": [INTERNAL], "metadata.com": [METADATA], "six.com": [PUBLIC6]}
    for host in (PUBLIC, OTHER, INTERNAL, METADATA, PUBLIC6):
        net.serve(port, handle, host)
    return net


def allow(*rules):
    return [word for rule in rules for word in ("--allow", rule)]


def host_of(report, name):
    return next((h for h in report["hosts"] if h["host"] == name), None)


@needs("curl")
def test_the_network_of_the_tests_works(t):
    """The control of all others: outside the fence, everything can be reached."""
    internet(t)
    for host in ("allowed.com", "evil.com", "inside.com", "six.com"):
        contains(t.run([*CURL, f"http://{host}/x"]).out, f"/x of {host}", "outside")


@needs("curl")
def test_a_host_that_is_named_is_reached_and_reported(t):
    internet(t)
    result, report = t.report(*CURL, "http://allowed.com/x", opts=allow("allowed.com"))
    equal((result.code, result.out), (0, "/x of allowed.com\n"), "what curl got", result)
    row = host_of(report, "allowed.com")
    equal((row["port"], row["connections"], row["verdict"]), (80, 1, "allowed"), "the host's row")
    expect(row["bytes_in"] > 20 and row["bytes_out"] > 20, "bytes are counted", row)
    equal(report["denials"], [], "denials")


@needs("curl")
def test_another_one_is_refused_with_what_would_help_and_who_asked(t):
    internet(t)
    result, report = t.report(*CURL, "-f", "http://evil.com/x", opts=allow("allowed.com"))
    expect(result.code != 0 and not result.out, "curl fails", result)
    denial = report["denials"][0]
    equal((denial["kind"], denial["target"]), ("connect", "evil.com:80"), "the denial")
    contains(denial["argv"][0], "curl", "who asked")
    expect(denial["pid"] > 1, "which process", denial)
    equal(report["exit"]["kind"], "denied", "the kind of the exit")
    equal(host_of(report, "evil.com")["verdict"], "refused", "the host's row")
    body = t.fence(*CURL, "http://evil.com/x", opts=allow("allowed.com")).out
    contains(body, "evil.com", "the answer")
    contains(body, "--allow evil.com", "the answer")


@needs("curl")
def test_an_empty_list_reaches_nothing(t):
    net = internet(t)
    for host in ("allowed.com", PUBLIC, INTERNAL):
        result = t.fence(*CURL, f"http://{host}/x", opts=("--net", "list"))
        contains(result.err, f"denied connect {host}:80", "the notice")
        lacks(result.out, " of ", "what curl got")
    equal(net.asked, [], "names that were asked for")
    contains(t.works(*CURL, "http://allowed.com/x", opts=allow("allowed.com")), " of ", "with a rule")


@needs("curl")
@cases(("allowed.com", "allowed.com", True), ("*.allowed.com", "sub.allowed.com", True),
       ("*.allowed.com", "allowed.com", False), ("allowed.com", "sub.allowed.com", False),
       ("ALLOWED.com.", "allowed.com", True), ("allowed.com:8080", "allowed.com", False),
       ("inside.com", "inside.com", False), ("metadata.com", "metadata.com", False),
       ("six.com", "six.com", True), (PUBLIC, PUBLIC, True), (INTERNAL, INTERNAL, True),
       ("allowed.com", PUBLIC, False), (f"[{PUBLIC6}]", f"[{PUBLIC6}]", True))
def test_a_rule_means_what_it_says(t, rule, host, reached):
    internet(t)
    result = t.fence(*CURL, f"http://{host}/x", opts=allow(rule))
    equal("/x of" in result.out, reached, "reached", result)
    equal("ringfence" in result.out, not reached, "the gateway's own answer", result)


@needs("curl")
def test_an_internal_address_is_reached_where_it_is_named_besides_the_name(t):
    internet(t)
    contains(t.works(*CURL, "http://inside.com/x", opts=allow("inside.com", INTERNAL)), "/x of inside.com",
             "what curl got")
    refused = t.fence(*CURL, "http://inside.com/x", opts=allow("inside.com"))
    for text in (refused.out, refused.err):
        contains(text, f"leads to {INTERNAL}: a private network; if it is meant, also: --allow {INTERNAL}", "the refusal")


@needs("curl", "openssl")
@cases("http", "socks5h")
def test_tls_passes_through_a_tunnel(t, proxy):
    pem = web.certificate(t.outside, "allowed.com", "evil.com")
    internet(t, web.tls(pem, web.say), 443)
    certificate = t.write("ca.crt", open(pem + ".crt", encoding="ascii").read())
    words = [*CURL, "--cacert", certificate]
    if proxy != "http":
        words += ["-x", f"{proxy}://127.0.0.1:61080"]
    contains(t.works(*words, "https://allowed.com/x", opts=allow("allowed.com")), "/x of allowed.com", "the answer")
    expect(t.fence(*words, "https://evil.com/x", opts=allow("allowed.com")).code != 0, "another host is refused", "")


def test_the_tools_are_told_by_their_environment(t):
    out = t.works("env", opts=allow("allowed.com"), env=t.env(HTTP_PROXY="http://elsewhere:1/", NO_PROXY="all"))
    values = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy",
                 "npm_config_proxy", "npm_config_https_proxy", "PIP_PROXY", "CARGO_HTTP_PROXY"):
        equal(values.get(name, ""), "http://127.0.0.1:61080", name)
    equal(values["NO_PROXY"], "localhost,127.0.0.1,::1", "NO_PROXY")
    lacks(out, "elsewhere", "the environment inside")
    lacks(t.works("env").lower(), "proxy", "the environment without a list")


@needs("curl")
def test_a_wrong_token_is_refused_and_none_is_needed_in_the_fences_own_network(t):
    internet(t)
    at = ("-x", "http://127.0.0.1:61080")
    contains(t.works(*CURL, *at, "http://allowed.com/x", opts=allow("allowed.com")), "/x of", "without a token")
    result = t.fence(*CURL, *at, "-U", "ringfence:wrong", "-w", "%{http_code}", "-o", "/dev/null",
                     "http://allowed.com/x", opts=allow("allowed.com"))
    equal(result.out, "407", "with a wrong one", result)


@needs("curl")
def test_a_websocket_is_refused(t):
    internet(t)
    result = t.fence(*CURL, "-i", "-H", "Connection: Upgrade", "-H", "Upgrade: websocket",
                     "http://allowed.com/x", opts=allow("allowed.com"))
    contains(result.out, "403", "the status")
    lacks(result.out, "/x of", "the answer")


@needs("curl")
def test_a_cap_is_kept_and_names_itself(t):
    internet(t)
    t.write("big", "x" * 200000)
    post = (*CURL, "--data-binary", "@big", "http://allowed.com/x")
    result, report = t.report(*post, opts=("--net-out", "20K", *allow("allowed.com")))
    lacks(result.out, "/x of", "what curl got")
    equal(host_of(report, "allowed.com")["verdict"], "capped", "the host's row")
    contains(report["denials"][0]["rule"], "20480 bytes to it", "the denial")
    equal(report["net"], {"mode": "list", "connections": 1024, "bytes_in": 0, "bytes_out": 20480}, "the caps")
    result = t.fence(*CURL, "http://allowed.com/x", opts=("--net-connections", "1", *allow("allowed.com")))
    contains(result.out, "/x of", "one connection")


# Real tools

@needs("npm")
def test_npm_installs_from_the_registry_of_the_users_own_configuration(t):
    internet(t, web.registry("leftpad", "module.exports = 'padded'", "http://allowed.com"))
    t.at_home(".npmrc", "registry=http://allowed.com/\n")
    t.write("package.json", json.dumps({"name": "x", "version": "1.0.0"}))
    t.works("npm", "install", "leftpad", "--no-audit", "--no-fund", "--no-update-notifier",
            "--registry=http://allowed.com/", opts=allow("npm"))
    contains(t.works("node", "-p", "require('leftpad')"), "padded", "the package")


def test_a_set_without_configuration_says_so(t):
    result = refused_before_start(t, *allow("git-remotes"))
    contains(result.err, "your configuration names no host", "why")
    contains(result.err, "--allow HOST", "what helps")


def allowed(t, name):
    return [r["rule"] for r in json.loads(t.run([t.ringfence, "policy", "--json", *allow(name)]).out)["net"]["allow"]]


@cases(("cargo", ".rustup/toolchains/a/bin/cargo", "\0sparse+https://index.one.com/\0", ["index.one.com", "static.one.com"]),
       ("playwright", ".npm/_npx/1/node_modules/playwright-core/lib/server/registry/index.js",
        'const PLAYWRIGHT_CDN_MIRRORS = [\n  "https://one.com/x",\n  "https://two.com/y"\n];\n', ["one.com", "two.com"]),
       ("maven", ".m2/settings.xml", "<!-- <url>https://evil.com/</url>\n<url>https://evil.com</url> -->\n<url>https://one.com/x</url>", ["one.com"]),
       ("nuget", ".nuget/NuGet/NuGet.Config", '<add key="a" value="https://one.com/v3/index.json" />', ["one.com"]),
       ("gem", ".gemrc", ":sources:\n- https://one.com/\n", ["one.com"]),
       ("gradle", ".gradle/init.d/a.gradle", "maven { url 'https://one.com/maven' }", ["one.com"]),
       ("composer", ".config/composer/config.json", '{"url": "https://one.com"}', ["one.com"]),
       ("pypi", ".config/pip/pip.conf", "index-url = https://one.com/simple", ["one.com"]))
def test_a_tool_of_the_user_names_its_hosts(t, name, path, text, hosts):
    t.at_home(path, text)
    equal(allowed(t, name), hosts, "the rules")


def test_pip_without_configuration_names_what_it_has_built_in(t):
    t.at_home(".local/lib/python3.9/site-packages/pip/_internal/models/index.py",
              'PyPI = PackageIndex("https://one.com/", file_storage_domain="two.com")')
    equal(allowed(t, "pip"), ["one.com", "two.com"], "the index, and where its files are")
    t.at_home(".config/pip/pip.conf", "index-url = https://three.com/simple")
    equal(allowed(t, "pip"), ["three.com"], "the configuration alone")


@cases("docker", "Docker", "my_host", "pypy-x")
def test_a_word_that_is_no_set_is_not_taken_for_a_host(t, word):
    result = refused_before_start(t, *allow(word))
    contains(result.err, f"--allow {word}: there is no set of this name, only npm, ", "why")
    contains(result.err, f"for a host of that name: {word}:443", "what helps")
    if "_" not in word:
        equal(allowed(t, f"{word}:443"), [f"{word}:443"], "what helps")


@needs("npm", "go")
@cases("project", "tools")
def test_a_tool_that_somebody_else_could_write_is_not_asked(t, folder):
    """Its folder may have been writable in another run."""
    place = os.path.join(t.home, folder, "bin")
    for name in ("npm", "go"):
        t.write(f"{place}/{name}", f"#!/bin/sh\ntouch {t.outside}/ran\necho https://evil.com\n", 0o755)
        result = t.run([t.ringfence, "policy", "--allow", name], env=t.env(PATH=f"{place}:/usr/bin:/bin"))
        contains(result.out, "allow", "the rules")
        lacks(result.out, "evil.com", "the rules")
    expect(not os.path.exists(f"{t.outside}/ran"), "the planted tool did not run", "")


def test_what_a_repositorys_submodules_name_is_no_remote(t):
    t.write(".git/config", '[submodule "s"]\n\turl = http://169.254.169.254/\n[remote "o"]\n\turl = https://allowed.com/x\n')
    net = json.loads(t.run([t.ringfence, "policy", "--json", *allow("git-remotes")]).out)["net"]
    equal([r["rule"] for r in net["allow"]], ["allowed.com"], "the rules")


@cases("http://127.0.0.1:2375/", "https://*.evil.com/")
def test_a_configuration_names_hosts_and_nothing_wider(t, url):
    t.at_home(".npmrc", f"registry={url}\n")
    result = refused_before_start(t, *allow("npm"))
    contains(result.err, "which is not a host name", "why")


@needs("git", "openssl")
@cases("http", "https")
def test_git_clones(t, scheme):
    source = os.path.join(t.outside, "repo")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", source)
    os.makedirs(source)
    t.run([*git, "init", "-q"])
    t.write(os.path.join(source, "file"), "from far away")
    t.run([*git, "add", "file"])
    t.run([*git, "commit", "-qm", "one"])
    t.run([*git, "update-server-info"])
    handle = web.files(os.path.join(source, ".git"))
    words = ["git"]
    if scheme == "https":
        pem = web.certificate(t.outside, "allowed.com")
        handle = web.tls(pem, handle)
        words += ["-c", "http.sslCAInfo=" + t.write("ca.crt", open(pem + ".crt", encoding="ascii").read())]
    internet(t, handle, 443 if scheme == "https" else 80)
    # In the private home: a repository in the project would be put into quarantine.
    out = t.works("sh", "-c", f"{' '.join(words)} clone -q {scheme}://allowed.com/ $HOME/copy && cat $HOME/copy/file",
                  opts=allow("allowed.com"))
    equal(out, "from far away", "the file")
    expect(t.fence(*words, "clone", "-q", f"{scheme}://evil.com/", "/tmp/copy",
                   opts=allow("allowed.com")).code != 0, "another host is refused", "")


@needs("apt-get", "dpkg-deb")
def test_apt_downloads(t):
    root = os.path.join(t.outside, "deb")
    t.write(f"{root}/pkg/DEBIAN/control", "Package: tiny\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\n"
            "Description: tiny\n")
    t.run(["dpkg-deb", "-b", f"{root}/pkg", f"{root}/tiny_1_all.deb"])
    size = os.path.getsize(f"{root}/tiny_1_all.deb")
    digest = t.run(["sha256sum", f"{root}/tiny_1_all.deb"]).out.split()[0]
    t.write(f"{root}/Packages", "Package: tiny\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\n"
            f"Filename: ./tiny_1_all.deb\nSize: {size}\nSHA256: {digest}\nDescription: tiny\n\n")
    internet(t, web.files(root))
    t.write("sources.list", "deb [trusted=yes] http://allowed.com/ ./\n")
    script = ("mkdir -p a/lists/partial a/cache/archives/partial; "
              "o=\"-o Dir::State=$PWD/a -o Dir::State::Lists=$PWD/a/lists -o Dir::Cache=$PWD/a/cache -o Dir::State::status=/dev/null "
              "-o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User= \"; "
              "apt-get $o -qq update && apt-get $o -qq download tiny && ls *.deb")
    contains(t.works("sh", "-c", script, opts=allow("allowed.com")), "tiny_1_all.deb", "the package")


def test_python_reads_a_simple_index(t):
    folder = os.path.join(t.outside, "simple")
    t.write(f"{folder}/simple/index.html", '<a href="/simple/tiny/">tiny</a>')
    internet(t, web.files(folder))
    script = "import urllib.request as u; print(u.urlopen('http://allowed.com/simple/index.html').read())"
    contains(t.works("python3", "-c", script, opts=allow("allowed.com")), "tiny", "the index")


# Attacks from inside

def inside(script, *words):
    return ("python3", "-c", "import socket, sys, os, threading\ndef to():\n    return socket.create_connection(('127.0.0.1', 61080), 60)\n"
            + script, *words)


def test_a_connect_behind_a_request_is_answered(t):
    internet(t)
    out = t.works(*inside("""
for i in range(3):
    s = to()
    s.sendall(b"GET http://allowed.com/x HTTP/1.1\\r\\nHost: allowed.com\\r\\n\\r\\n")
    while b" of " not in s.recv(65536):
        pass
    s.sendall(b"CONNECT allowed.com:80 HTTP/1.1\\r\\nHost: allowed.com:80\\r\\n\\r\\n")
    print(s.recv(100).split(b"\\r\\n")[0])
"""), opts=allow("allowed.com"))
    equal(out.count("200 Connection established"), 3, "tunnels", out)


@needs("curl")
def test_no_domain_is_searched(t):
    net = internet(t)
    net.names["allowed.com.corp.example"] = [OTHER]
    t.write(net.etc["resolv.conf"], open(net.etc["resolv.conf"], encoding="ascii").read() + "search corp.example\noptions ndots:5\n")
    contains(t.works(*CURL, "http://allowed.com/x", opts=allow("allowed.com")), " of allowed.com", "what curl got")
    equal({name for name, _ in net.asked}, {"allowed.com"}, "what the name server was asked")


def test_a_name_that_is_on_its_way_is_asked_for_once(t):
    net = internet(t)
    go = threading.Event()
    net.names["allowed.com"] = lambda kind: kind == 1 and go.wait(600) and [PUBLIC]
    process = t.fence_start(*inside("""
all = [to() for i in range(40)]
for s in all:
    s.sendall(b"GET http://allowed.com/x HTTP/1.0\\r\\nHost: allowed.com\\r\\n\\r\\n")
print("asked", flush=True)
print(sum(b" 200 " in s.recv(100) for s in all))
"""), opts=allow("allowed.com"))
    equal(process.stdout.readline(), b"asked\n", "all have asked")
    go.set()
    equal(t.finish(process).out, "40\n", "answers")
    expect(len(net.asked) <= 6, "questions to the name server", net.asked)


def test_every_refusal_is_in_the_report_or_counted(t):
    internet(t)
    result, report = t.report(*inside("""
all = [to() for i in range(500)]
for i, s in enumerate(all):
    s.sendall(b"CONNECT h%d.evil.com:443 HTTP/1.1\\r\\nHost: h%d.evil.com:443\\r\\n\\r\\n" % (i, i))
for s in all:
    s.recv(100)
"""), opts=allow("allowed.com"))
    equal(result.code, 0, "exit status", result)
    expect(report["denials_unlisted"] > 0, "not all were told", "")
    equal(sum(d["count"] for d in report["denials"]) + report["denials_unlisted"], 500, "refusals")


def test_refusals_do_not_hold_up_the_end_of_a_run(t):
    """The client is searched for among all processes inside, which may be many; the time limit of the run holds all the same."""
    internet(t)
    result = t.fence(*inside("""
for i in range(120):
    if os.fork() == 0:
        held = [os.dup(0) for k in range(400)]
        threading.Event().wait()
def ask(i):
    while True:
        s = to()
        s.sendall(b"CONNECT h%d.evil.com:443 HTTP/1.1\\r\\nHost: h%d.evil.com:443\\r\\n\\r\\n" % (i, i))
        s.close()
for i in range(20):
    threading.Thread(target=ask, args=(i,)).start()
print("up", flush=True)
"""), opts=("--timeout", "3s", *allow("allowed.com")))
    equal(result.code, 124, "exit status", result.err[-300:])


# When the gateway dies

def gateways(t):
    return [pid for pid, line in kernel.descendants_of(os.getpid()) if "ringfence-gateway" in line]


@needs("curl")
def test_a_gateway_that_is_killed_is_started_again(t):
    go = threading.Event()

    def slow(connection):
        head = web.read_head(connection)
        if head and " /slow" in head[0]:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome of it\n")
            go.wait(600)
        elif head:
            web.answer(connection, "again\n")

    internet(t, slow)
    report = os.path.join(t.outside, "report.json")
    process = t.fence_start("sh", "-c", "curl -sS -N http://allowed.com/slow; echo curl $?; curl -sS http://allowed.com/x",
                            opts=("--report", report, *allow("allowed.com")))
    equal(process.stdout.readline(), b"some of it\n", "the first part")
    before = gateways(t)
    equal(len(before), 1, "gateways", before)
    os.kill(before[0], signal.SIGKILL)
    result = t.finish(process)
    go.set()
    contains(result.out, "curl 18", "the transfer was cut")
    contains(result.out, "again", "the next one works")
    contains(result.err, "gateway", "the notice")
    equal(gateways(t), [], "gateways that are left")


def test_the_gateway_ends_with_ringfence(t):
    process = t.fence_start("sh", "-c", "echo here; sleep 60", opts=allow("allowed.com"))
    equal(process.stdout.readline(), b"here\n", "it runs")
    (gateway,) = gateways(t)
    t.leftover_runs = True
    process.kill()
    process.wait()
    until("the gateway's end", lambda: not os.path.exists(f"/proc/{gateway}") or
          kernel.command_line(gateway) in ("", "?", "ENOENT", "ESRCH"))
    t.all_gone()


# Loops, settings, explanations

@needs("curl")
def test_a_loop_reaches_what_is_named_and_reports_it(t):
    internet(t)
    loop = Loop(t, scripts={"all": "edit done yes"})
    agent = "curl -sS http://allowed.com/x; curl -sS http://evil.com/x; echo yes > done"
    result = t.run([t.ringfence, "run", "make it", "--agent-command", agent, "--check", "test -f done",
                    *allow("allowed.com")], cwd=loop.project)
    equal(result.code, 0, "exit status", result)
    loop_id = next(n for n in os.listdir(os.path.join(t.state, "loops")) if n[0] != ".")
    folder = os.path.join(t.state, "loops", loop_id, "iterations/1")
    with open(os.path.join(folder, "stdout.log"), encoding="utf-8") as file:
        contains(file.read(), "/x of allowed.com", "what the agent got")
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        report = json.load(file)
    equal(host_of(report, "allowed.com")["verdict"], "allowed", "the host's row")
    equal([d["target"] for d in report["denials"]], ["evil.com:80"], "denials")
    contains(result.out, "blocked: 1 connection (names: ringfence logs --denials; to allow them: ringfence suggest)", "what is told")
    contains(t.run([t.ringfence, "suggest"], cwd=loop.project).out, '- "evil.com"', "what is suggested")


def test_a_project_cannot_name_hosts_by_itself(t):
    t.write("ringfence.yml", "allow: [evil.com]\n")
    result = t.run([t.ringfence, "policy", "--json"])
    equal(json.loads(result.out)["net"]["mode"], "none", "the network")
    contains(t.run([t.ringfence, "trust"]).out, "evil.com", "what trust shows")


@cases(("", (), "none"), ("allow: [a.com]", (), "list"), ("net: none\nallow: [a.com]", (), "none"),
       ("net: none", ("--allow", "a.com"), "list"), ("net: open", ("--allow", "a.com"), "list"),
       ("allow: [a.com]", ("--net", "none"), "none"), ("allow: [a.com]", ("--net", "open"), "open"),
       ("net: none\nallow: [a.com]", ("--net", "list"), "list"))
def test_naming_a_host_means_the_list(t, text, opts, mode):
    t.at_home(".config/ringfence/config.yml", text)
    net = json.loads(t.run([t.ringfence, "policy", "--json", *opts]).out)["net"]
    equal(net["mode"], mode, "the network")
    equal([r["rule"] for r in net["allow"]] == ["a.com"], mode == "list", "the rules")


def test_words_without_effect_are_told(t):
    contains(t.fence("true", opts=("--net", "none", "--allow", "a.com")).err, "--allow a.com has no effect", "the notice")
    contains(refused_before_start(t, "--allow", "npn").err, "did you mean npm?", "the sentence")
    t.write("ringfence.yml", "hide: [x]\n")
    os.makedirs(t.path("below"))
    contains(t.run([t.ringfence, "exec", "--", "true"], cwd=t.path("below")).err, "does not apply in this folder", "the notice")
    lacks(t.fence("true").err, "does not hold", "the notice in the project itself")


@needs("curl")
def test_a_host_that_cannot_be_reached_is_told(t):
    internet(t)
    result = t.fence(*CURL, "http://nosuch.com/x", opts=allow("nosuch.com"))
    contains(result.err, "nosuch.com:80 is allowed, but could not be reached", "the notice")


@cases(("https://allowed.com/x", "allowed", "allow allowed.com"), ("allowed.com:80", "allowed", "allow allowed.com"),
       ("allowed.com:22", "refused", "net list"), ("https://evil.com", "refused", "net list"),
       ("http://127.0.0.1:8080/", "refused", "net list"), ("host:0x7f.1", "refused", "net list"))
def test_why_a_host(t, question, verdict, rule):
    result = t.run([t.ringfence, "policy", "--json", *allow("allowed.com"), "--why", question])
    about = json.loads(result.out)
    equal((about["about"], about["verdict"], about["rule"]), ("host", verdict, rule), "the answer", result)
    if question == "https://evil.com":
        equal(about["change"], {"key": "allow", "value": "evil.com", "also": None}, "what would change it")


@needs("curl")
def test_what_was_refused_is_suggested(t):
    internet(t)
    t.fence("sh", "-c", "curl -s http://evil.com/x; curl -s http://inside.com/", opts=allow("allowed.com", "inside.com"))
    result = t.run([t.ringfence, "suggest"])
    contains(result.out, "+allow:", "the diff")
    contains(result.out, '- "evil.com"', "the diff")
    lacks(result.out, "inside.com", "the diff")
    t.fence(*CURL, "http://npm/", opts=allow("allowed.com"))
    lacks(t.run([t.ringfence, "suggest"]).out, "npm", "what is offered for a host of that name")


@cases("*", "*.com", "http://a.com", "a b", "a.com:0", "a.com:99999", "a.com:x", "ä.com", "a..b", "-", "a.*.com", "0x7f.1",
       "2130706433", "user@a.com", "a.com/x")
def test_what_is_no_rule_is_refused_with_a_sentence(t, rule):
    result = refused_before_start(t, "--allow", rule)
    contains(result.err, "allow", "the sentence")


def test_without_a_fence_there_is_no_list(t):
    result = refused_before_start(t, "--i-accept-no-fence", "--allow", "a.com")
    contains(result.err, "needs a fence", "why")
