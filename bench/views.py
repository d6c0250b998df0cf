#!/usr/bin/python3
"""The section `views`: what it costs a loop to be watched, and how fast the screen of 1,000 loops is there.

  bench/views.py [--quick]

A loop's agent prints a line every 50 ms. The CPU time of its supervisor is measured while nobody looks, while
`ringfence watch` shows it, and while the server of the web page streams it to a client, as to an open page.
"""

import argparse
import fcntl
import http.client
import json
import os
import pty
import re
import select
import shutil
import statistics
import struct
import subprocess
import tempfile
import termios
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RINGFENCE = os.path.join(ROOT, "build/ringfence")
AGENT = "while :; do echo \"a line of output at $(date +%N)\"; sleep 0.05; done"
GOAL_PERCENT = 1
LOOPS, GOAL_MS = 1000, 100


class Screen:
    """A terminal of 80x24 with `ringfence watch`, or `attach`."""

    def __init__(self, env, cwd, *words):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
            os.chdir(cwd)
            os.execve(RINGFENCE, [RINGFENCE, *words], env | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
        self.seen = b""

    def readline(self):
        """Reads what there is, for at most 0.1 s."""
        if select.select([self.terminal], [], [], 0.1)[0]:
            self.seen += os.read(self.terminal, 65536)
        return b""

    def wait_for(self, text):
        while text not in self.seen:
            self.readline()

    def close(self):
        os.write(self.terminal, b"q")
        while True:
            try:
                if not os.read(self.terminal, 65536):
                    break
            except OSError:
                break
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def cpu_s(pid):
    """The CPU time of a process with one thread."""
    with open(f"/proc/{pid}/schedstat", encoding="utf-8") as file:
        return int(file.read().split()[0]) / 1e9


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


def log_in(port, path):
    """Returns the headers of a page that is logged in."""
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


def opened_ms(env, project):
    """How long it takes from the start until the first line has the number of all loops."""
    start = time.perf_counter_ns()
    screen = Screen(env, project, "watch")
    screen.wait_for(str(LOOPS).encode())
    taken = time.perf_counter_ns() - start
    screen.close()
    return taken / 1e6


def measure_opening(top, rounds):
    """1,000 loops that have ended: a real one, and copies with other ids. They have a name, because an id may contain
    the number that is waited for."""
    env = os.environ | {"RINGFENCE_STATE_DIR": os.path.join(top, "many")}
    project = os.path.join(top, "ended")
    os.mkdir(project)
    subprocess.run([RINGFENCE, "run", "x", "--name", "many", "--agent-command", "true", "--check", "false", "-m", "1"], env=env, cwd=project,
                   check=False, capture_output=True)
    loops = os.path.join(top, "many/loops")
    (first,) = (name for name in os.listdir(loops) if not name.startswith("."))
    files = [entry.path for entry in os.scandir(os.path.join(loops, first)) if entry.is_file()]
    for number in range(LOOPS - 1):
        folder = os.path.join(loops, time.strftime("%Y%m%d-%H%M%S", time.gmtime(1700000000 + number * 977)) + "-copy")
        os.mkdir(folder)
        for path in files:
            shutil.copy2(path, folder)
    time.sleep(3)  # a journal that was written in the last seconds is read in the slower way
    cold = opened_ms(env, project)
    return cold, statistics.median(opened_ms(env, project) for _ in range(rounds))


def measure_watching(top, seconds):
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
    screen = Screen(env, project, "attach", loop)
    screen.wait_for(b"a line of output")
    screened, _ = percent([supervisor], seconds, screen)
    drawing, _ = percent([screen.pid, *children(screen.pid)], seconds, screen)
    screen.close()
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
    return {"alone": alone, "screen": screened, "page": watched, "drawing": drawing, "serving": serving, "rate": count / seconds}


def goal(met):
    return "as it should be" if met else "MISSED"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="5 seconds each, not 30, and fewer rounds")
    quick = parser.parse_args().quick
    seconds = 5 if quick else 30
    with tempfile.TemporaryDirectory() as top:
        found = measure_watching(top, seconds)
        cold, warm = measure_opening(top, 5 if quick else 21)
    print(f"a loop that is watched, {seconds} s each, CPU time in percent of a core")
    print(f"  supervisor, nobody looks     {found['alone']:6.2f}")
    for name, label in (("screen", "the screen"), ("page", "a page")):
        print(f"  supervisor, {label + ' looks':<17}{found[name]:6.2f}  (goal: less than {GOAL_PERCENT} more): "
              f"{goal(found[name] - found['alone'] < GOAL_PERCENT)}")
    print(f"  the screen                   {found['drawing']:6.2f}")
    print(f"  server and its reader        {found['serving']:6.2f}  ({found['rate']:.1f} events a second)")
    print(f"the screen of {LOOPS} loops that have ended, until all are listed")
    print(f"  the first time, without an index  {cold:6.1f} ms")
    print(f"  after that                        {warm:6.1f} ms  (goal: under {GOAL_MS} ms): {goal(warm < GOAL_MS)}")


if __name__ == "__main__":
    main()
