#!/usr/bin/python3
"""The gateway beside tinyproxy, nginx and no proxy at all, in a network namespace of its own.

Started by bench/run.py --only gateway. Everything is on one loopback device, so the programs are
measured and not a network. Contenders take turns.
"""

import argparse
import base64
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
SERVER, TINYPROXY, NGINX = 18000, 18001, 18002
FULL = {"requests": 2000, "rounds": 7, "bytes": 1 << 30, "connections": 2000, "idle": 1000}
QUICK = {"requests": 300, "rounds": 3, "bytes": 1 << 27, "connections": 300, "idle": 1000}


def enter_namespace():
    """Runs this script again, as root of an empty network namespace."""
    if os.environ.get("RINGFENCE_BENCH_NET"):
        return
    unshare = [shutil.which("unshare", path=PATH) or "unshare", "--net"]
    if os.getuid() != 0:
        unshare += ["--user", "--map-root-user"]
    os.environ["RINGFENCE_BENCH_NET"] = "1"
    os.execv(unshare[0], [*unshare, "--", sys.executable, os.path.abspath(__file__), *sys.argv[1:]])


class Bench:
    def __init__(self, folder, size):
        self.folder = folder
        self.size = size
        self.running = []
        self.proxies = {"no proxy": (0, "-")}
        self.load = os.path.join(folder, "load")
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-pthread", "-o", self.load,
                        os.path.join(REPO, "bench/load.c")], check=True)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)

    def start(self, argv, **options):
        process = subprocess.Popen(argv, **options)
        self.running.append(process)
        return process

    def end(self):
        for process in reversed(self.running):
            process.terminate()
            process.wait()

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def wait_for(self, port):
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return True
            except ConnectionRefusedError:
                # The program is about to listen; no event announces it.
                subprocess.run(["sleep", "0.01"], check=True)
        return False

    def start_gateway(self):
        listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        programs = os.path.join(REPO, "build")
        self.owner = self.start([os.path.join(programs, "tests/gateway_owner"),
                                 os.path.join(programs, "ringfence-gateway"), "0", str(listener.fileno()),
                                 "host_connections=1024", "--", f"127.0.0.1:{SERVER}"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                pass_fds=(listener.fileno(),))
        word, pid, token, *_ = self.owner.stdout.readline().split("\t")
        assert word == "ready", (word, pid)
        self.gateway = int(pid)
        auth = "Basic " + base64.b64encode(f"ringfence:{token}".encode()).decode()
        self.proxies["ringfence-gateway"] = (listener.getsockname()[1], auth)
        listener.close()

    def start_others(self):
        tinyproxy = shutil.which("tinyproxy", path=PATH)
        nginx = shutil.which("nginx", path=PATH)
        if tinyproxy:
            config = self.write("tinyproxy.conf", f"Port {TINYPROXY}\nListen 127.0.0.1\nMaxClients 2000\n"
                                f"LogLevel Critical\nTimeout 600\nConnectPort {SERVER}\n")
            self.start([tinyproxy, "-d", "-c", config], stdout=subprocess.DEVNULL)
            if self.wait_for(TINYPROXY):
                self.proxies["tinyproxy"] = (TINYPROXY, "-")
        if nginx:
            config = self.write("nginx.conf", f"""daemon off; pid {self.folder}/nginx.pid; error_log /dev/null;
                worker_processes 1; user root;
                events {{ worker_connections 4096; }}
                http {{ access_log off; keepalive_requests 1000000;
                    client_body_temp_path {self.folder}/1; proxy_temp_path {self.folder}/2;
                    fastcgi_temp_path {self.folder}/3; uwsgi_temp_path {self.folder}/4; scgi_temp_path {self.folder}/5;
                    server {{ listen 127.0.0.1:{NGINX};
                        location / {{ proxy_http_version 1.1; proxy_set_header Host $http_host;
                            proxy_pass http://$http_host$request_uri; }} }} }}""")
            self.start([nginx, "-c", config, "-e", "/dev/null"], stderr=subprocess.DEVNULL)
            if self.wait_for(NGINX):
                self.proxies["nginx"] = (NGINX, "-")

    def client(self, act, proxy, amount):
        port, auth = self.proxies[proxy]
        done = subprocess.run([self.load, act, str(port), str(SERVER), str(amount), auth],
                              stdout=subprocess.PIPE, text=True, check=True)
        return [float(line) for line in done.stdout.split()]

    def in_turns(self, act, names, amount):
        names = [name for name in names if name in self.proxies]
        found = {name: [] for name in names}
        for name in names:
            self.client(act, name, 10)
        for i in range(self.size["rounds"]):
            for name in names[:: 1 if i % 2 == 0 else -1]:
                found[name] += self.client(act, name, amount)
        return found

    def latency(self):
        print(f"A request of plain HTTP on a connection that stays open, {self.size['rounds']} rounds of "
              f"{self.size['requests']}")
        times = self.in_turns("get", ("no proxy", "ringfence-gateway", "nginx"), self.size["requests"])
        show(times, "µs")
        added = statistics.median(times["ringfence-gateway"]) - statistics.median(times["no proxy"])
        goal("added by the gateway, medians", f"{added:.1f} µs", "under 100 µs", added < 100)
        if "nginx" in times:
            other = statistics.median(times["nginx"]) - statistics.median(times["no proxy"])
            print(f"  added by nginx, medians: {other:.1f} µs")

    def throughput(self):
        size = self.size["bytes"]
        print(f"{size >> 20} MiB through a tunnel, {self.size['rounds']} rounds")
        seconds = self.in_turns("pour", ("no proxy", "ringfence-gateway", "tinyproxy"), size)
        rates = {name: [size / (1 << 20) / value for value in values] for name, values in seconds.items()}
        show(rates, "MiB/s")
        versus(rates, "throughput")

    def connections(self):
        count = self.size["connections"]
        print(f"Tunnels one after the other, a request in each, {self.size['rounds']} rounds of {count}")
        times = self.in_turns("connect", ("no proxy", "ringfence-gateway", "tinyproxy"), count)
        show(times, "µs")
        rates = {name: [1e6 / statistics.median(values)] for name, values in times.items()}
        print("  a second, by medians: " + ", ".join(f"{name} {values[0]:.0f}" for name, values in rates.items()))
        versus(rates, "connections a second")

    def memory(self):
        count = self.size["idle"]
        print(f"Memory with {count} idle tunnels (PSS)")
        before = pss_kib(self.gateway)
        port, auth = self.proxies["ringfence-gateway"]
        client = self.start([self.load, "idle", str(port), str(SERVER), str(count), auth],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert client.stdout.readline() == "ready\n"
        after = pss_kib(self.gateway)
        goal("ringfence-gateway", f"{after} KiB, {before} KiB without", "at most 16 MiB", after <= 16384)
        client.stdin.close()
        client.wait()


def pss_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pss:"))


def show(values, unit):
    print(f"  {'':<34}{'min':>10}{'median':>10}{'p90':>10}   {unit}")
    for name, found in values.items():
        ranked = sorted(found)
        p90 = ranked[min(len(ranked) - 1, round(0.9 * (len(ranked) - 1)))]
        print(f"  {name:<34}{ranked[0]:>10.1f}{statistics.median(ranked):>10.1f}{p90:>10.1f}")


def goal(text, figure, wanted, met):
    print(f"  {text}: {figure}   goal: {wanted}   {'met' if met else 'missed'}")


def versus(rates, what):
    if "tinyproxy" not in rates:
        print("  tinyproxy is not installed (scripts/setup bench)")
        return
    ratio = statistics.median(rates["ringfence-gateway"]) / statistics.median(rates["tinyproxy"])
    goal(f"{what}, gateway / tinyproxy", f"{ratio:.2f}x", "at least 1x", ratio >= 1)


def main():
    parser = argparse.ArgumentParser(description="Measure the gateway beside other proxies.")
    parser.add_argument("--quick", action="store_true", help="a short, rough run")
    args = parser.parse_args()
    enter_namespace()
    folder = tempfile.mkdtemp(prefix="ringfence-bench-")
    bench = None
    try:
        bench = Bench(folder, QUICK if args.quick else FULL)
        server = bench.start([bench.load, "serve", str(SERVER)], stdout=subprocess.PIPE, text=True)
        assert server.stdout.readline() == "ready\n"
        bench.start_gateway()
        bench.start_others()
        for measure in (bench.latency, bench.throughput, bench.connections, bench.memory):
            measure()
            print(flush=True)
    finally:
        if bench:
            bench.end()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
