"""The server of the web page: who may ask, what it answers, and what its end leaves behind."""

import concurrent.futures
import contextlib
import json
import os
import signal
import socket
import stat

from harness import cases, contains, each_identity, equal, expect, kernel, lacks
from harness.forged import repeat_iteration
from harness.loop import Loop, LoopInPlace, at_work, until
from harness.serve import LINK, Client, Server

ANY_IDENTITY = "The server acts as whoever started it, on a state folder that is that user's own."

# A loop in two iterations, with events, a denial and a file that this machine would execute.
AGENT = r"""cat >/dev/null; n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n >n
printf '{"type":"tool","name":"shell","target":"<script>alert(1)</script>"}\n{"type":"tool_result","ok":false,"text":"it failed"}\n'
printf 'not UTF-8: \377, and a bell: \a\n'
touch /usr/x 2>/dev/null
printf '{"type":"cost","usd":0.5}\n{"type":"final","text":"round %d is over"}\n' $n
[ $n -lt 2 ] || { touch done; mkdir -p .github/workflows; echo 'on: push' >.github/workflows/ci.yml; }
"""

READING = ("", "/iterations", "/series", "/iterations/1", "/transcript?iteration=1", "/search?iteration=1&text=x", "/prompt", "/tools",
           "/changes", "/diff", "/checkpoints", "/report.html")


def finished(t):
    """A loop that has completed in its second iteration."""
    loop = Loop(t)
    loop.write("agent-2.sh", AGENT)
    result = loop.ringfence("run", "make <b>it</b>", "--agent-command", "sh agent-2.sh", "--agent-format", "events", "--check", "test -f done",
                            "--max-cost", "10")
    equal(result.code, 0, "exit status", result)
    loop.ident = loop.status()["id"]
    return loop


def served(t):
    server = Server(t)
    return server, server.client()


# ---- who may ask ----


@each_identity
def test_a_link_logs_in_once(t):
    server = Server(t)
    stranger = Client(server)
    first = stranger.ask(server.login)
    equal((first.code, first.headers["Location"][:6]), (303, "/#key="), "the answer to the link", first)
    cookie, *attributes = first.headers["Set-Cookie"].split("; ")
    equal(sorted(attributes), ["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Strict"], "attributes of the cookie")
    stranger.cookie = cookie
    equal(stranger.ask("/").code, 200, "the page, with the cookie")
    stranger.cookie = None
    again = stranger.ask(server.login)
    equal((again.code, again.headers["Set-Cookie"]), (401, None), "the same link again", again)


@cases("", "x", "0" * 32)
def test_a_token_that_was_not_given_out_is_refused(t, token):
    server = Server(t)
    answer = Client(server).ask(f"/login?token={token}")
    equal((answer.code, answer.headers["Set-Cookie"]), (401, None), "the answer", answer)
    equal(Client(server).ask(server.login).code, 303, "the answer to the right one")


@cases("/", "/style.css", "/app.js", "/api/session", "/api/overview", "/api/events", "/api/loops/20260102-030405-abcd",
       "/api/batches/20260102-030405-abcd", "/metrics", "/nowhere")
def test_nothing_is_answered_without_a_cookie(t, path):
    server, client = served(t)
    stranger = Client(server)
    for cookie in (None, "ringfence=1", client.cookie[:-1], client.cookie[:-1] + "x"):
        stranger.cookie = cookie
        answer = stranger.ask(path)
        equal(answer.code, 401, f"the answer to {cookie}", answer)
        contains(answer.body.decode(), "ringfence serve --link", "the answer")
    if path != "/api/events":  # which does not end
        expect(client.ask(path).code != 401, "with the cookie, the path is answered", path)


@cases("/api/session", "/api/overview", "/api/events", "/api/loops/20260102-030405-abcd", "/metrics")
def test_the_cookie_alone_reads_nothing(t, path):
    """A browser sends it to all servers of this host, as to one that an agent with --net open starts."""
    server, client = served(t)
    other = server.client()
    for token in (None, "", "0" * 64, other.csrf):
        answer = client.ask(path, X_Ringfence_Token=token)
        equal((answer.code, answer.error), (401, "unauthorized"), f"the answer to {token}", answer)
    for query in ("", "?key=", f"?key={other.csrf}"):
        equal(client.ask(path + query, X_Ringfence_Token=None).code, 401, f"the answer to {query}")
    equal(client.ask(path, Cookie=None).code, 401, "the answer to the token alone")
    equal(client.ask("/", X_Ringfence_Token=None).code, 200, "the page itself")


def test_what_a_browser_reads_by_itself_has_its_token_in_the_address(t):
    loop = finished(t)
    _, client = served(t)
    for path, code in ((f"/api/loops/{loop.ident}/report.html", 200), ("/api/overview", 401)):
        equal(client.ask(f"{path}?key={client.csrf}", X_Ringfence_Token=None).code, code, f"the answer to {path}")
    stream = client.stream(f"?key={client.csrf}", X_Ringfence_Token=None)
    stream.until("ready")
    stream.close()


def test_other_hosts_and_origins_are_refused(t):
    server, client = served(t)
    port = server.port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        equal(client.ask("/api/session", Host=host).code, 200, f"the answer for {host}")
    for host in ("127.0.0.1", "evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "", f"127.0.0.1:{port}0"):
        equal(client.ask("/api/session", Host=host).code, 421, f"the answer for '{host}'")
    for origin in (f"http://localhost:{port}", f"http://127.0.0.1:{port}"):
        equal(client.ask("/api/session", Origin=origin).code, 200, f"the answer to a page of {origin}")
    for origin in ("null", "http://evil.example", f"https://localhost:{port}", "http://localhost", f"http://localhost:{port}.evil.example"):
        equal(client.ask("/api/session", Origin=origin).code, 403, f"the answer to a page of {origin}")
    for site, code in (("same-origin", 200), ("none", 200), ("cross-site", 403), ("same-site", 403), ("x", 403)):
        equal(client.ask("/api/session", Sec_Fetch_Site=site).code, code, f"the answer to {site}")
    equal(client.ask("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate").code, 200, "a link that a person follows")
    equal(client.ask("/api/session", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate").code, 403, "a link to data")


def test_a_header_that_comes_twice_is_refused(t):
    server, client = served(t)
    head = f"GET /api/session HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nCookie: {client.cookie}\r\nX-Ringfence-Token: {client.csrf}\r\nConnection: close\r\n"
    for more, code in (("", 200), ("Origin: http://evil.example\r\nOrigin: null\r\n", 400), (f"Cookie: {client.cookie}\r\n", 400)):
        contains(raw(server, (head + more + "\r\n").encode()).split("\r\n")[0], f" {code} ", f"the answer with {more!r}")


def raw(server, data, ends=False):
    """Sends bytes, and the end of the stream if asked; returns everything that comes back until the server closes the connection."""
    answer = b""
    with server.connect() as connection:
        # The server may refuse the connection before it has read everything.
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(data)
        with contextlib.suppress(OSError):
            if ends:
                connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(65536):
                answer += part
    return answer.decode(errors="replace")


def test_an_action_needs_the_token_of_the_page(t):
    loop = finished(t)
    server, client = served(t)
    path = f"/api/loops/{loop.ident}/actions/clean"
    for headers, code in (({"X_Ringfence_Token": None}, 403), ({"X_Ringfence_Token": "0" * 64}, 403), ({"Content_Type": "text/plain"}, 415),
                          ({"Content_Type": None}, 415), ({"Origin": "http://evil.example"}, 403), ({"Cookie": None}, 401)):
        equal(client.post(path, {}, **headers).code, code, f"the answer with {headers}")
    other = server.client()
    equal(client.post(path, {}, X_Ringfence_Token=other.csrf).code, 403, "the answer to the token of another session")
    equal(client.ask(path).code, 405, "the answer to GET")
    equal(client.post("/api/overview", {}).code, 405, "the answer to POST where there is only GET")
    equal(client.post(path, {}).json["result"], "asks", "the answer to the right token")


def test_every_answer_keeps_scripts_and_other_sites_away(t):
    server, client = served(t)
    for path in ("/", "/api/session", "/nowhere", "/api/loops/x", "/metrics"):
        for asks in (client, Client(server)):
            headers = asks.ask(path).headers
            contains(headers["Content-Security-Policy"], "default-src 'none'; script-src 'self'", "the policy")
            lacks(headers["Content-Security-Policy"], "unsafe", "the policy")
            equal((headers["X-Content-Type-Options"], headers["Referrer-Policy"], headers["Cross-Origin-Resource-Policy"],
                   headers["Access-Control-Allow-Origin"]), ("nosniff", "no-referrer", "same-origin", None), "headers")
            expect(headers["Cache-Control"] in ("no-store", "no-cache"), "no cache keeps an answer", headers)


@each_identity
def test_a_session_outlives_the_server_but_not_its_key(t):
    server, client = served(t)
    key = os.path.join(t.state, "serve/key")
    equal(stat.S_IMODE(os.stat(key).st_mode), 0o600, "mode of the key")
    equal(stat.S_IMODE(os.stat(os.path.dirname(key)).st_mode), 0o700, "mode of its folder")
    equal(server.stop(), 0, "exit status")
    server.start()
    equal(client.ask("/api/session").code, 200, "the answer after a restart")
    server.stop()
    os.remove(key)
    server.start()
    equal(client.ask("/api/session").code, 401, "the answer after the key was removed")


def test_a_damaged_key_is_named(t):
    Server(t).stop()
    with open(os.path.join(t.state, "serve/key"), "w", encoding="utf-8") as file:
        file.write("x")
    result = t.run([t.ringfence, "serve"])
    equal(result.code, 125, "exit status", result)
    contains(result.err, "serve/key", "the message")


def test_no_secret_is_in_arguments_or_environment(t):
    server = Server(t)
    with open(os.path.join(t.state, "serve/key"), encoding="utf-8") as file:
        secrets = (file.read().strip(), server.login.partition("=")[2])
    seen = []
    # The link is printed before ringfence becomes ringfence-serve; an answer comes from the latter.
    equal(Client(server).ask("/").code, 401, "the answer to a stranger")
    for name in ("cmdline", "environ"):
        # The process is not dumpable, so only root can read its environment.
        if name == "cmdline" or os.geteuid() == 0:
            with open(f"/proc/{server.process.pid}/{name}", encoding="utf-8", errors="replace") as file:
                seen.append(file.read())
    contains(seen[0], "ringfence-serve", "arguments")
    for secret in secrets:
        lacks("".join(seen), secret, "what others may see")


def test_the_token_for_metrics_reads_nothing_else(t):
    server = Server(t)
    token = t.run([t.ringfence, "serve", "--metrics-token"], cwd=t.home).out.strip()
    stranger = Client(server)
    answer = stranger.ask("/metrics", Authorization=f"Bearer {token}")
    equal((answer.code, answer.headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"), "the metrics", answer)
    contains(answer.body.decode(), "ringfence_build_info", "the metrics")
    for path, credential in (("/metrics", "Bearer x"), ("/metrics", token), ("/api/overview", f"Bearer {token}"), ("/", f"Bearer {token}")):
        equal(stranger.ask(path, Authorization=credential).code, 401, f"{path} with {credential}")


def test_a_command_in_a_fence_does_not_reach_the_page(t):
    server = Server(t)
    connect = ("bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{server.port} && echo connected")
    equal(t.run(connect).out, "connected\n", "outside of the fence")
    inside = t.fence(*connect)
    expect(inside.code != 0 and "connected" not in inside.out, "inside, there is no connection", inside)


# ---- starting ----


def test_a_second_server_is_the_first_one(t):
    server = Server(t)
    second = t.run([t.ringfence, "serve"], cwd=t.home)
    equal(second.code, 0, "exit status", second)
    contains(second.out, "running already", "the message")
    found = LINK.search(second.out)
    equal(int(found.group(2)), server.port, "its port")
    equal(Client(server).ask(found.group(3)).code, 303, "the answer to its link")
    links = {server.link() for _ in range(3)}
    equal(len(links), 3, "links that differ")


def test_without_a_server_there_is_no_link(t):
    result = t.run([t.ringfence, "serve", "--link"], cwd=t.home)
    equal((result.code, result.out), (125, ""), "exit status and output", result)
    contains(result.err, "no server is running (start one with ringfence serve)", "the message")


@cases("0.0.0.0", "::", "192.168.1.1", "example.com", "*", "")
def test_it_listens_to_this_machine_alone(t, host):
    result = t.run([t.ringfence, "serve", "--host", host], cwd=t.home)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "ssh -L", "the message")


def test_it_listens_on_ipv6(t):
    server = Server(t, "--host", "::1", host="::1")
    equal(server.host, "[::1]", "its address")
    equal(server.client().get("/api/overview")["rows"], [], "rows")


def test_a_port_in_use_is_named(t):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        result = t.run([t.ringfence, "serve", "--port", str(port)], cwd=t.home)
        equal(result.code, 125, "exit status", result)
        contains(result.err, f"port {port} is in use", "the message")


@cases("x", "-1", "65536", "1.5")
def test_a_port_must_be_a_number(t, port):
    result = t.run([t.ringfence, "serve", "--port", port], cwd=t.home)
    equal(result.code, 125, "exit status", result)
    contains(result.err, "--port must be a number up to 65535", "the message")


# ---- what it answers ----


def test_the_page_is_sent_once(t):
    _, client = served(t)
    page = client.ask("/")
    contains(page.body.decode(), "<!DOCTYPE html>", "the page")
    equal(client.ask("/index.html").body, page.body, "the same by its name")
    tag = page.headers["ETag"]
    again = client.ask("/", If_None_Match=tag)
    equal((again.code, again.body), (304, b""), "the answer to who has it already", again)
    equal(client.ask("/", "HEAD").body, b"", "the body of an answer to HEAD")
    equal(client.ask("/", If_None_Match='"x"').code, 200, "the answer to who has another one")


def test_the_overview_has_a_row_for_each_loop(t):
    loop = finished(t)
    _, client = served(t)
    overview = client.get("/api/overview")
    equal([(row["id"], row["kind"], row["status"], row["title"], row["iteration"], row["cost_nusd"], row["ended"])
           for row in overview["rows"]],
          [(loop.ident, "loop", "completed", "make <b>it</b>", 2, 1000000000, True)], "rows")


def test_a_loop_tells_what_it_is_and_offers(t):
    loop = finished(t)
    _, client = served(t)
    told = client.get(f"/api/loops/{loop.ident}")
    equal((told["status"], told["now"]["step"], told["objective"]), ("completed", "finished", "make <b>it</b>"), "the loop")
    equal(told["loop"]["id"], loop.ident, "the object of status")
    equal([(check["kind"], check["command"]) for check in told["checks"]], [("check", "test -f done")], "checks")
    equal(told["limits"]["cost"], {"used": 1000000000, "total": 10000000000, "permille": 100}, "the limit of the cost")
    equal({action["name"] for action in told["actions"]}, {"roll-back", "apply", "clean"}, "actions")


def test_iterations_come_in_windows(t):
    loop = finished(t)
    _, client = served(t)
    whole = client.get(f"/api/loops/{loop.ident}/iterations")
    equal((whole["count"], whole["from"], [item["iteration"] for item in whole["items"]]), (3, 0, [0, 1, 2]), "all")
    equal([item["action"] for item in whole["items"]], ["baseline", "go on", "done"], "decisions")
    last = client.get(f"/api/loops/{loop.ident}/iterations?limit=1")
    equal((last["from"], last["items"]), (2, whole["items"][2:]), "the last one")
    middle = client.get(f"/api/loops/{loop.ident}/iterations?from=1&limit=1")
    equal(middle["items"], whole["items"][1:2], "one in the middle")
    equal(client.get(f"/api/loops/{loop.ident}/iterations?from=9")["items"], [], "after the end")


def test_a_series_is_bounded(t):
    loop = finished(t)
    _, client = served(t)
    series = client.get(f"/api/loops/{loop.ident}/series")
    equal((series["count"], series["buckets"], series["iteration"], series["checks_passing"]), (3, 3, [0, 1, 2], [0, 0, 1]), "all")
    equal((series["cost_nusd"], series["total_nusd"]), ([None, 500000000, 500000000], [0, 500000000, 1000000000]), "costs")
    two = client.get(f"/api/loops/{loop.ident}/series?buckets=2")
    equal((two["buckets"], two["first"], two["last"], two["cost_nusd"], two["checks_passing"]),
          (2, [0, 2], [1, 2], [500000000, 500000000], [0, 1]), "in two")


def test_ten_thousand_iterations_stay_small(t):
    loop = Loop(t, scripts={1: "edit a 1", 2: "edit a 2", 3: "touch done"})
    equal(loop.run().code, 0, "exit status")
    loop.ident = loop.status()["id"]
    repeat_iteration(loop.folder, 10000)
    _, client = served(t)
    series = client.ask(f"/api/loops/{loop.ident}/series")
    expect(len(series.body) < 100000, "the series is small", len(series.body))
    equal((series.json["count"], series.json["buckets"], series.json["iteration"][-1]), (10001, 385, 10000), "the series")
    equal(sum(series.json["attempts"]), 10001, "attempts of all entries")
    window = client.get(f"/api/loops/{loop.ident}/iterations?from=5000&limit=2")
    equal([item["iteration"] for item in window["items"]], [5000, 5001], "a window")
    equal(client.get(f"/api/loops/{loop.ident}/iterations/7000")["item"]["index"], 7000, "one of them")


def test_one_iteration_is_told_in_detail(t):
    loop = finished(t)
    _, client = served(t)
    told = client.get(f"/api/loops/{loop.ident}/iterations/2")
    equal((told["item"]["iteration"], told["item"]["index"], told["history"]["verdict"]), (2, 2, "done"), "the iteration")
    equal([(check["command"], check["passed"]) for check in told["checks"]], [("test -f done", True)], "checks")
    expect(any(denial["target"] == "/usr/x" and denial["run"] == "agent" for denial in told["denials"]), "a denial", told["denials"])
    titles = {log["log"]: log["title"] for log in told["logs"]}
    equal((titles["stdout"], titles["stderr"], titles["check-1.stdout"]), ("agent", "agent (errors)", "check 1"), "logs")
    prompt = client.get(f"/api/loops/{loop.ident}/prompt?iteration=2")
    equal(prompt["size"], told["prompt"]["size"], "size of the prompt")
    contains(prompt["text"], "make <b>it</b>", "the prompt")
    contains(client.get(f"/api/loops/{loop.ident}/prompt")["text"], "This is iteration 3", "the next prompt")


def test_hostile_words_arrive_as_text(t):
    loop = finished(t)
    _, client = served(t)
    entries = client.get(f"/api/loops/{loop.ident}/transcript?iteration=1")["entries"]
    call = next(entry for entry in entries if entry["kind"] == "call")
    equal(call["target"], "<script>alert(1)</script>", "the target of a call")
    line = next(entry for entry in entries if entry["kind"] == "line")
    equal(line["text"], "not UTF-8: \ufffd, and a bell: \a", "a line")
    answer = client.ask(f"/api/loops/{loop.ident}/transcript?iteration=1")
    equal(answer.headers["Content-Type"], "application/json", "the type")
    lacks(answer.body.decode("utf-8"), "\a", "the bytes")


LINES = 9000


def with_a_long_log(t):
    """A loop whose agent has printed many short lines."""
    loop = Loop(t, scripts={1: f"seq {LINES}; touch done"})
    equal(loop.run().code, 0, "exit status")
    loop.ident = loop.status()["id"]
    return loop


def test_a_long_transcript_is_read_in_both_directions(t):
    loop = with_a_long_log(t)
    _, client = served(t)
    path = f"/api/loops/{loop.ident}/transcript?iteration=1&limit=1000"
    wanted = [str(number) for number in range(1, LINES + 1)]

    last = client.get(path)
    equal((last["begin"], last["end"], [entry["text"] for entry in last["entries"]]), (False, True, wanted[-1000:]), "the end")
    seen = last["entries"]
    while not last["begin"]:
        last = client.get(f"{path}&before={seen[0]['at']}")
        expect(last["entries"], "there are entries before it", seen[0])
        seen = last["entries"] + seen
    equal([entry["text"] for entry in seen], wanted, "all lines, from the end")

    first = client.get(f"{path}&from=0.0")
    forward = first["entries"]
    while not first["end"]:
        first = client.get(f"{path}&after={forward[-1]['at']}")
        expect(first["entries"], "there are entries after it", forward[-1])
        forward += first["entries"]
    equal(forward, seen, "all lines, from the beginning")

    middle = client.get(f"{path}&around={seen[5000]['at']}")
    equal(middle["entries"], seen[4500:5500], "lines around one")


def test_a_transcript_is_searched(t):
    loop = with_a_long_log(t)
    _, client = served(t)
    path = f"/api/loops/{loop.ident}/search?iteration=1"

    def text_at(position):
        return client.get(f"/api/loops/{loop.ident}/transcript?iteration=1&limit=1&from={position}")["entries"][0]["text"]

    first = client.get(f"{path}&text=1")["found"]
    equal(text_at(first), "1", "the first line with a 1")
    second = client.get(f"{path}&text=1&after={first}")["found"]
    equal(text_at(second), "10", "the next one")
    equal(client.get(f"{path}&text=1&before={second}")["found"], first, "the one before it")
    equal(client.get(f"{path}&text=nowhere"), {"found": None, "next": None}, "what is not there")


def test_what_a_loop_has_done_can_be_read(t):
    loop = finished(t)
    _, client = served(t)
    base = f"/api/loops/{loop.ident}"
    tools = client.get(f"{base}/tools")
    equal([(tool["tool"], tool["count"], tool["failed"]) for tool in tools["tools"]], [("shell", 2, 2)], "tools")
    changes = {change["path"]: change["status"] for change in client.get(f"{base}/changes")["changes"]}
    equal(changes, {"done": "added", "n": "added", ".github/workflows/ci.yml": "added"}, "changes")
    contains(client.get(f"{base}/diff?path=n")["patch"], "+2", "the difference of a file")
    lacks(client.get(f"{base}/diff?path=n")["patch"], "ci.yml", "the difference of a file")
    contains(client.get(f"{base}/diff")["patch"], "+on: push", "the whole difference")
    kinds = [checkpoint["kind"] for checkpoint in client.get(f"{base}/checkpoints")["checkpoints"]]
    equal((kinds[0], kinds[-1]), ("start", "after"), "kinds of checkpoints")
    report = client.ask(f"{base}/report.html")
    equal((report.code, report.headers["Content-Disposition"]), (200, "attachment"), "the report")
    contains(report.body.decode(), "make &lt;b&gt;it&lt;/b&gt;", "the report")


@cases("/api/loops/x", "/api/loops/20260102-030405-abcd", "/api/loops/20260102-030405-abcd/iterations",
       "/api/loops/20260102-030405-abcd/diff", "/api/batches/20260102-030405-abcd", "/api/batches/x", "/api/loops", "/api/loops/",
       "/api/loops//iterations", "/api/loops/../session", "/api/loops/%2e%2e/x", "/nowhere", "/nowhere.js", "/../index.html", "//")
def test_what_is_not_there_is_not_found(t, path):
    _, client = served(t)
    answer = client.ask(path)
    equal((answer.code, answer.error), (404, "not-found"), "the answer", answer)


@cases("/iterations/9", "/iterations/x", "/iterations/1?attempt=9", "/prompt?iteration=9")
def test_an_iteration_that_is_not_there_is_not_found(t, path):
    loop = finished(t)
    _, client = served(t)
    answer = client.ask(f"/api/loops/{loop.ident}{path}")
    equal((answer.code, answer.error), (404, "not-found"), "the answer", answer)


def test_malformed_parameters_are_refused(t):
    loop = finished(t)
    _, client = served(t)
    for path in ("iterations?limit=0", "iterations?limit=1001", "iterations?from=x", "iterations?from=-1", "series?buckets=0",
                 "transcript", "transcript?iteration=x", "transcript?iteration=1&log=../../journal", "transcript?iteration=1&log=/etc/passwd",
                 "transcript?iteration=1&log=", "transcript?iteration=1&from=x", "transcript?iteration=1&after=1", "search?iteration=1",
                 "search?iteration=1&text=", "iterations?x=%0", "iterations?x=%zz", "iterations?x=%00",
                 "iterations?" + "&".join(f"a{number}=1" for number in range(17)), "x" * 4100):
        answer = client.ask(f"/api/loops/{loop.ident}/{path}")
        equal((answer.code, answer.error), (400, "invalid"), f"the answer to {path[:60]}", answer)
    equal(client.ask(f"/api/loops/{loop.ident}/iterations?limit=1000&from=0&x=%41").code, 200, "the answer to good ones")


def test_a_damaged_journal_is_told(t):
    loop = finished(t)
    with open(os.path.join(loop.folder, "journal.db"), "r+b") as file:
        file.write(b"x" * 200)
    _, client = served(t)
    told = client.get(f"/api/loops/{loop.ident}")
    equal((told["damaged"], told["now"], told["limits"]), (True, None, None), "the loop")
    answer = client.ask(f"/api/loops/{loop.ident}/iterations")
    equal((answer.code, answer.error), (422, "damaged"), "its iterations", answer)


def test_many_ask_at_once(t):
    loop = finished(t)
    _, client = served(t)
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        answers = list(pool.map(lambda number: client.ask(f"/api/loops/{loop.ident}/iterations"), range(40)))
    equal({(answer.code, answer.body) for answer in answers}, {(200, answers[0].body)}, "the answers")


# ---- events ----


def test_events_show_loops_that_come_and_go(t):
    server, client = served(t)
    stream = client.stream()
    expect(stream.until("hello")["reset"], "a new page begins from nothing")
    stream.until("ready")
    equal([event for event, _ in stream.passed], [], "events before it")
    loop = finished(t)
    stream.until("rows", over(loop.ident))
    equal(client.act(loop.ident, "clean").json["result"], "done", "the result of clean")
    stream.until("rows", lambda data: loop.ident in data["gone"])
    stream.close()
    equal(server.stop(), 0, "exit status")


def over(ident):
    """Does an event have the row of a loop that has ended? It does not change any more."""
    return lambda data: any(row["id"] == ident and row["ended"] for row in data["rows"])


def test_a_page_that_comes_back_gets_only_what_is_new(t):
    first = finished(t)
    _, client = served(t)
    stream = client.stream()
    stream.until("rows", over(first.ident))
    seen = stream.last
    stream.close()
    for query, headers in (("", {"Last_Event_ID": seen}), (f"?last={seen}", {})):
        again = client.stream(query, **headers)
        equal(again.until("hello")["reset"], False, "the page may keep its rows")
        again.until("ready")
        equal(again.passed, [], "events before it")
        again.close()
    second = Loop(t, "second", scripts={1: "touch done"})
    equal(second.run().code, 0, "exit status")
    again = client.stream(Last_Event_ID=seen)
    again.until("rows", over(second.status()["id"]))
    lacks(str(again.passed), first.ident, "what is new")
    again.close()
    for wrong in ("x", "0" * 16 + "-0", seen + "0" * 20, f"{seen}x"):
        other = client.stream(Last_Event_ID=wrong)
        expect(other.until("hello")["reset"], "what is not known cannot be resumed", wrong)
        equal(len(other.until("rows")["rows"]), 2, "rows")
        other.close()


def test_a_restarted_server_begins_again(t):
    loop = finished(t)
    server, client = served(t)
    stream = client.stream()
    stream.until("ready")
    server.stop()
    equal(stream.next(), None, "the end of the stream")
    server.start()
    again = client.stream(Last_Event_ID=stream.last)
    expect(again.until("hello")["reset"], "rows begin again")
    equal([row["id"] for row in again.until("rows")["rows"]], [loop.ident], "rows")
    again.close()


@each_identity
def test_a_loop_is_watched_live(t):
    loop = LoopInPlace(t, scripts={1: "say first; meet go; say second; meet on; touch done"})
    loop.detach()
    loop.heard("first")
    _, client = served(t)
    stream = client.stream(f"?loop={loop.ident}")
    begun = stream.until("loop", lambda data: data["transcript"]["size"] == len("first\n"))
    equal((begun["status"], begun["now"]["step"], begun["now"]["doing"], begun["ticks"]), ("running", "agent", "first", True), "the loop")
    expect({"pause", "abort", "tell"} <= {action["name"] for action in begun["actions"]}, "actions of a running loop", begun["actions"])
    loop.write("go")
    grown = stream.until("loop", lambda data: data["transcript"]["size"] == len("first\nsecond\n"))
    equal(grown["journal"], begun["journal"], "the journal, as long as only the log grows")
    loop.write("on")
    ended = stream.until("loop", lambda data: data["status"] == "completed")
    expect(ended["journal"] > begun["journal"], "the journal has grown", (begun, ended))
    equal(client.act(loop.ident, "clean").json["result"], "done", "the result of clean")
    equal(stream.until("gone"), {"id": loop.ident}, "the end of the loop")
    stream.close()


def test_a_page_watches_few_loops(t):
    _, client = served(t)
    ids = [f"20260102-030405-abc{letter}" for letter in "defgh"]
    stream = client.stream("?" + "&".join(f"loop={ident}" for ident in ids[:4]))
    equal({stream.until("gone")["id"] for _ in range(4)}, set(ids[:4]), "loops that do not exist")
    stream.close()
    answer = client.ask("/api/events?" + "&".join(f"loop={ident}" for ident in ids))
    equal((answer.code, answer.error), (400, "invalid"), "the answer to five", answer)
    equal(client.ask("/api/events?loop=..%2f").code, 400, "the answer to what is not an id")


def test_a_page_that_reads_nothing_delays_nobody(t):
    loop = finished(t)
    server, client = served(t)
    head = f"GET /api/events?loop={loop.ident} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nCookie: {client.cookie}\r\nX-Ringfence-Token: {client.csrf}\r\n\r\n"
    deaf = [server.connect() for _ in range(20)]
    for connection in deaf:
        connection.sendall(head.encode())
    half = server.connect()
    half.sendall(head.encode()[:40])
    stream = client.stream()
    stream.until("ready")
    equal(client.get("/api/overview")["rows"][0]["id"], loop.ident, "a row")
    equal(client.act(loop.ident, "clean").json["result"], "done", "the result of clean")
    stream.until("rows", lambda data: loop.ident in data["gone"])
    stream.close()
    for connection in (*deaf, half):
        connection.close()
    equal(client.get("/api/overview")["rows"], [], "rows")


def test_the_process_that_watches_is_replaced(t):
    server, client = served(t)
    stream = client.stream()
    stream.until("ready")
    watcher, = [pid for pid, _ in kernel.children_of(server.process.pid)]
    os.kill(watcher, signal.SIGKILL)
    expect(stream.until("hello")["reset"], "rows begin again")
    stream.until("ready")
    stream.close()


# ---- malformed requests ----


@cases(b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100,
       b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"x" * 100000, b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
       b"GET /\0 HTTP/1.1\r\n\r\n", b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n", b"CONNECT x:1 HTTP/1.1\r\n\r\n")
def test_malformed_requests_end_their_connection_only(t, data):
    server, client = served(t)
    answer = raw(server, data, ends=True)
    expect(not answer or answer.startswith(("HTTP/1.1 4", "HTTP/1.0 4", "HTTP/1.1 5")), "an error or nothing", answer)
    equal(client.get("/api/overview")["rows"], [], "the answer to a good request")


def test_large_bodies_are_refused(t):
    loop = finished(t)
    server, client = served(t)
    path = f"/api/loops/{loop.ident}/actions/tell"
    answer = client.post(path, {"text": "x" * 70000})
    equal((answer.code, answer.error), (413, "too-large"), "a body that says its size", answer)
    head = (f"POST {path} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nCookie: {client.cookie}\r\nContent-Type: application/json\r\n"
            f"X-Ringfence-Token: {client.csrf}\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
    chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
    with server.connect() as connection:
        try:
            connection.sendall(head + chunk * 8)
            answer = connection.recv(65536)
        except (ConnectionResetError, BrokenPipeError):
            answer = b""
    lacks(answer.decode(), " 200 ", "the answer to a body of unknown size")
    answer = client.post(path, {"text": "x" * 60000})
    equal((answer.code, answer.error), (400, "invalid"), "a text that is longer than a message may be", answer)
    equal(client.get("/api/overview")["rows"][0]["id"], loop.ident, "the answer to a good request")


@cases(b"", b"{", b"[]", b"null", b'"x"', b'{"text": 1}', b'{"token": {}}', b'{"now": 1}', b'{"checkpoint": "3"}', b'{"leaves": "ci"}',
       b'{"leaves": ["x"]}', b'{"leaves": [1]}', b'{"now": true, "now": true}', b"\xff\xfe", b"[" * 5000)
def test_malformed_bodies_are_refused(t, body):
    loop = finished(t)
    _, client = served(t)
    path = f"/api/loops/{loop.ident}/actions/clean"
    answer = client.ask(path, "POST", body, Content_Type="application/json")
    equal((answer.code, answer.error), (400, "invalid"), "the answer", answer)
    equal(client.post(path, {}).json["result"], "asks", "the answer to a good one")


# ---- actions ----


@each_identity
def test_a_running_loop_is_steered(t):
    loop = LoopInPlace(t, scripts={1: "meet go", 2: "touch done"})
    loop.detach()
    until("the agent", lambda: loop.said()["step"] == "agent")
    _, client = served(t)
    told = client.act(loop.ident, "tell", text="Use <b>tabs</b>")
    equal((told.code, told.json["result"]), (200, "done"), "the result of tell", told)
    equal(client.get(f"/api/loops/{loop.ident}")["told"], [{"text": "Use <b>tabs</b>", "given": False}], "what was told")
    path = f"/api/loops/{loop.ident}/actions/pause"
    question = client.post(path, {}).json["question"]
    contains(question["text"], "Pause loop", "the question")
    equal(client.post(path, {"token": "0" * 64}).json["question"], question, "the answer to a wrong token")
    equal(client.post(path, {"token": question["token"]}).json["result"], "done", "the result of pause")
    loop.write("go")
    loop.ended("paused")
    resumed = client.act(loop.ident, "resume")
    equal(resumed.json["result"], "done", "the result of resume", resumed)
    loop.ended("completed")
    answer = client.act(loop.ident, "pause")
    equal((answer.code, answer.error), (409, "not-running"), "to pause a loop that has ended", answer)


def test_a_loop_is_aborted(t):
    loop = Loop(t, scripts={1: "hang"})
    loop.detach()
    until("the agent", lambda: loop.said()["step"] == "agent")
    _, client = served(t)
    aborted = client.act(loop.ident, "abort", now=True)
    equal(aborted.json["result"], "done", "the result", aborted)
    loop.ended("aborted")


@each_identity
def test_a_result_is_applied_without_a_group(t):
    loop = finished(t)
    _, client = served(t)
    path = f"/api/loops/{loop.ident}/actions/apply"
    asked = client.post(path, {"leaves": ["ci"]}).json
    equal(asked["result"], "asks", "the result")
    groups = {group["group"]: (group["paths"], group["needs_yes"]) for group in asked["details"]["groups"]}
    equal(groups, {"ci": (1, True), "source": (2, False)}, "groups")
    expect(all(group["title"] for group in asked["details"]["groups"]), "every group has a title", asked["details"])
    equal({item["name"] for item in asked["question"]["items"]}, {"done", "n", ".github/workflows/ci.yml"}, "what is asked about")
    expect(not os.path.exists(loop.path("done")), "nothing has changed yet")
    done = client.post(path, {"leaves": ["ci"], "token": asked["question"]["token"]})
    equal((done.code, done.json["result"]), (200, "done"), "the result", done)
    expect(os.path.exists(loop.path("done")), "a file was applied")
    expect(not os.path.exists(loop.path(".github")), "the group was left out")


def test_a_conflict_is_told_with_its_paths(t):
    loop = finished(t)
    loop.write("n", "mine\n")
    _, client = served(t)
    answer = client.act(loop.ident, "apply")
    equal(answer.code, 409, "the answer", answer)
    contains(json.dumps(answer.json["details"]["conflicts"]), "n", "conflicts")
    with open(loop.path("n"), encoding="utf-8") as file:
        equal(file.read(), "mine\n", "the user's file")


@each_identity
def test_a_loop_is_rolled_back_and_removed(t):
    loop = finished(t)
    _, client = served(t)
    back = client.act(loop.ident, "roll-back", checkpoint=0)
    equal((back.code, back.json["result"]), (200, "done"), "the result of roll-back", back)
    expect(not os.path.exists(loop.made("done")), "the file is gone")
    missing = client.act(loop.ident, "roll-back", checkpoint=99)
    equal(missing.code, 404, "a checkpoint that does not exist", missing)
    equal(client.act(loop.ident, "clean").json["result"], "done", "the result of clean")
    equal(client.get("/api/overview")["rows"], [], "rows")
    equal(client.act(loop.ident, "clean").code, 404, "to remove it again")


@cases("nothing", "Pause", "roll_back")
def test_an_unknown_action_is_not_found(t, name):
    _, client = served(t)
    answer = client.act("20260102-030405-abcd", name)
    equal((answer.code, answer.error), (404, "not-found"), "the answer", answer)


# ---- the end ----


@cases(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
def test_it_ends_with_its_terminal(t, how):
    server, client = served(t)
    stream = client.stream()
    stream.until("ready")
    equal(server.stop(how), 0, "exit status")
    equal(stream.next(), None, "the end of the stream")
    until("nothing is at work", lambda: not at_work())


@each_identity
def test_its_death_leaves_nothing_behind_and_no_loop_notices(t):
    loop = LoopInPlace(t, scripts={1: "meet go; touch done"})
    loop.detach()
    until("the agent", lambda: loop.said()["step"] == "agent")
    supervisor = loop.supervisor()
    server, client = served(t)
    stream = client.stream(f"?loop={loop.ident}")
    stream.until("loop")
    helpers = [pid for pid, _ in kernel.children_of(server.process.pid)]
    equal(len(helpers), 1, "processes of the server")
    server.stop(signal.SIGKILL)
    until("its processes are gone", lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in helpers))
    equal(loop.supervisor(), supervisor, "the supervisor of the loop")
    server.start()
    equal(client.get(f"/api/loops/{loop.ident}")["status"], "running", "the loop, by the next server")
    loop.write("go")
    loop.ended("completed")


def test_a_loop_that_the_page_has_resumed_outlives_the_server(t):
    loop = LoopInPlace(t, scripts={1: "meet go", 2: "meet on; touch done"})
    loop.detach()
    until("the agent", lambda: loop.said()["step"] == "agent")
    server, client = served(t)
    client.act(loop.ident, "pause")
    loop.write("go")
    loop.ended("paused")
    equal(client.act(loop.ident, "resume").json["result"], "done", "the result of resume")
    server.stop(signal.SIGKILL)
    loop.write("on")
    loop.ended("completed")
