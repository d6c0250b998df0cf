#!/usr/bin/python3
"""The section `serve`: the CPU time of a supervisor with and without a browser attached, and that of the server.

  bench/serve.py [--quick]

A loop's agent prints a line every 50 ms. The page's server streams the loop to a client, as to an open page; then the
client goes away, and the loop works on. Each phase lasts as many heartbeats of the clock as --quick says.
"""

import argparse
import http.client
import json
import os
import re
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RINGFENCE = os.path.join(ROOT, "build/ringfence")
AGENT = "while :; do echo \"a line of output at $(date +%N)\"; sleep 0.05; done"
GOAL_PERCENT = 1


def cpu_s(pid):
    """The CPU time of a process with one thread."""
    with open(f"/proc/{pid}/schedstat", encoding="utf-8") as file:
        return int(file.read().split()[0]) / 1e9


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


def log_in(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    headers = connection.getresponse().headers
    return {"Cookie": headers["Set-Cookie"].partition(";")[0], "X-Ringfence-Token": headers["Location"].partition("=")[2]}


def percent(pids, seconds, events=None):
    """The CPU time of processes over some seconds, in percent of a core; reads the events meanwhile."""
    before = sum(map(cpu_s, pids))
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        if events:
            count += events.readline().startswith(b"event: loop")
        else:
            time.sleep(0.1)
    return 100 * (sum(map(cpu_s, pids)) - before) / seconds, count


def measure(top, seconds):
    env = os.environ | {"RINGFENCE_STATE_DIR": os.path.join(top, "state")}
    project = os.path.join(top, "project")
    os.mkdir(project)

    def ringfence(*words):
        return subprocess.run([RINGFENCE, *words], env=env, cwd=project, check=True, capture_output=True, text=True).stdout

    loop = ringfence("run", "work", "--detach", "--agent-command", AGENT, "--check", "false").split()[-1]
    while json.loads(ringfence("status", "--json"))["loops"][0]["step"] != "agent":
        time.sleep(0.1)
    supervisor = json.loads(ringfence("status", "--json"))["loops"][0]["supervisor_pid"]
    alone, _ = percent([supervisor], seconds)
    with subprocess.Popen([RINGFENCE, "serve", "--port", "0"], env=env, cwd=project, stdout=subprocess.PIPE) as server:
        for line in iter(server.stdout.readline, b""):
            if found := re.search(rb"http://\S+:(\d+)(/login\S+)", line):
                break
        port = int(found.group(1))
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", f"/api/events?loop={loop}", headers=log_in(port, found.group(2).decode()))
        events = connection.getresponse()
        while not events.readline().startswith(b"event: loop"):
            pass
        watched, count = percent([supervisor], seconds, events)
        serving, _ = percent([server.pid, *children(server.pid)], seconds, events)
        events.close()
        connection.close()
        server.terminate()
    ringfence("abort", "--now", loop)
    return alone, watched, serving, count / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="for 5 seconds each, not 30")
    seconds = 5 if parser.parse_args().quick else 30
    with tempfile.TemporaryDirectory() as top:
        alone, watched, serving, rate = measure(top, seconds)
    more = watched - alone
    print(f"a loop and a page that shows it, {seconds} s each, CPU time in percent of a core")
    print(f"  supervisor, nobody looks   {alone:6.2f}")
    print(f"  supervisor, a page looks   {watched:6.2f}  (goal: less than {GOAL_PERCENT} more): "
          f"{'as it should be' if more < GOAL_PERCENT else 'MISSED'}")
    print(f"  server and its reader      {serving:6.2f}  ({rate:.1f} events a second)")


if __name__ == "__main__":
    main()
