#!/usr/bin/python3
"""Streams of models: through the gateway, through nginx as a TLS reverse proxy, and directly over TLS.

Started by bench/run.py --only models. Client, proxies and provider are on one loopback device; each event carries the time at which
the provider sent it. Contenders take turns. The provider's pace is an event each millisecond. The provider has a core of its own, as if it
were another machine, and client and proxies share another: where the scheduler wakes the provider decides about more time than a proxy takes.
Each is in a session of its own, as daemons are: time is shared out among sessions.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

REPO = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
PROVIDER, NGINX = 18100, 18101
FULL = {"requests": 60, "events": 100, "rounds": 5, "streams": 200}
QUICK = {"requests": 20, "events": 50, "rounds": 3, "streams": 200}
GOALS = {"first": (100, 1000), "event": (100, 1000)}  # microseconds that are added: median, 99th percentile


class Bench:
    def __init__(self, folder, size):
        self.folder = folder
        self.size = size
        self.running = []
        cores = sorted(os.sched_getaffinity(0))
        self.here, self.there = {cores[0]}, {cores[-1]}
        self.stream = os.path.join(folder, "stream")
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-pthread", "-o", self.stream, os.path.join(REPO, "bench/stream.c"),
                        "-lssl", "-lcrypto"], check=True)
        self.certificate, self.key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                        self.key, "-out", self.certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)

    def start(self, argv, cores=None, **options):
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.PIPE,
                                   preexec_fn=lambda: os.sched_setaffinity(0, cores or self.here), start_new_session=True, **options)
        self.running.append(process)
        return process

    def end(self):
        for process in reversed(self.running):
            process.stdin.close()
            process.terminate()
            process.wait()

    def provider(self):
        self.start([self.stream, "server", str(PROVIDER), self.certificate, self.key], cores=self.there).stdout.readline()

    def gateway(self):
        env = {"PATH": PATH, "HOME": self.folder, "RINGFENCE_STATE_DIR": os.path.join(self.folder, "state"), "BENCH_KEY": "sk-bench-0123456789"}
        os.makedirs(os.path.join(self.folder, "project"), exist_ok=True)
        process = self.start([os.path.join(REPO, "build/ringfence"), "gateway", "--port", "0", "--upstream",
                              f"anthropic=https://127.0.0.1:{PROVIDER}", "--model-key", "anthropic=env:BENCH_KEY",
                              "--upstream-ca", self.certificate, "--budget", "1000"], env=env,
                             cwd=os.path.join(self.folder, "project"))
        lines = dict(process.stdout.readline().decode().removeprefix("export ").strip().split("=", 1) for _ in range(6))
        self.owner = process.pid
        return lines["ANTHROPIC_BASE_URL"].rsplit(":", 1)[1], lines["ANTHROPIC_API_KEY"]

    def nginx(self):
        program = shutil.which("nginx", path=PATH)
        if not program:
            return None
        path = os.path.join(self.folder, "nginx.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write(f"""daemon off; worker_processes 1; pid {self.folder}/nginx.pid; error_log /dev/null;
events {{ worker_connections 2048; }}
http {{ access_log off; client_body_temp_path {self.folder}/b; proxy_temp_path {self.folder}/p; fastcgi_temp_path {self.folder}/f;
uwsgi_temp_path {self.folder}/u; scgi_temp_path {self.folder}/s;
upstream provider {{ server 127.0.0.1:{PROVIDER}; keepalive 32; }}
server {{ listen 127.0.0.1:{NGINX}; keepalive_requests 100000; location / {{ proxy_pass https://provider; proxy_http_version 1.1;
proxy_set_header Connection ""; proxy_buffering off; proxy_ssl_session_reuse on; tcp_nodelay on; }} }} }}
""")
        process = self.start([program, "-c", path, "-e", "/dev/null"], stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        return process if process.poll() is None else None

    def measure(self, port, kind, token):
        done = subprocess.run([self.stream, "client", str(port), kind, token, str(self.size["requests"]), str(self.size["events"])],
                              check=True, stdout=subprocess.PIPE, text=True, timeout=120,
                              preexec_fn=lambda: os.sched_setaffinity(0, self.here))
        return {line.split()[0]: tuple(map(float, line.split()[1:])) for line in done.stdout.splitlines()}

    def memory(self, port, token):
        holder = self.start([self.stream, "hold", str(port), token, str(self.size["streams"])])
        if holder.stdout.readline() != b"ready\n":
            return None
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.owner)], stdout=subprocess.PIPE, text=True, check=True)
        with open(f"/proc/{int(children.stdout.split()[0])}/status", encoding="ascii") as file:
            rss = int(next(line for line in file if line.startswith("VmRSS")).split()[1])
        holder.stdin.close()
        holder.wait()
        return rss


def table(bench):
    bench.provider()
    port, token = bench.gateway()
    contenders = {"directly, TLS": (PROVIDER, "tls", "-"), "ringfence": (port, "plain", token)}
    if bench.nginx():
        contenders["nginx"] = (NGINX, "plain", "-")
    results = {name: [] for name in contenders}
    for name, what in contenders.items():
        bench.measure(*what)
    for turn in range(bench.size["rounds"]):
        for name in list(contenders)[:: 1 if turn % 2 == 0 else -1]:
            results[name].append(bench.measure(*contenders[name]))
    print(f"{bench.size['rounds']} rounds of {bench.size['requests']} requests with {bench.size['events']} events, in turns; microseconds\n")
    print("| | first byte, median | p99 | event, median | p99 |\n|---|--:|--:|--:|--:|")
    middle = {}
    for name, rounds in results.items():
        middle[name] = {kind: [statistics.median(each[kind][i] for each in rounds) for i in (0, 1)] for kind in ("first", "event")}
        row = middle[name]
        print(f"| {name} | {row['first'][0]:.0f} | {row['first'][1]:.0f} | {row['event'][0]:.0f} | {row['event'][1]:.0f} |")
    base = middle["directly, TLS"]
    for name in contenders:
        if name == "directly, TLS":
            continue
        added = {kind: [middle[name][kind][i] - base[kind][i] for i in (0, 1)] for kind in base}
        print(f"| added by {name} | {added['first'][0]:.0f} | {added['first'][1]:.0f} | {added['event'][0]:.0f} | {added['event'][1]:.0f} |")
    rss = bench.memory(port, token)
    print(f"\n{bench.size['streams']} streams at once: ringfence-gateway has {rss / 1024:.1f} MiB (goal: at most 32)" if rss else
          "\nThe streams at once were not measured.")
    print("Goal: at most 100 us added at the median and 1 ms at p99; no slower than nginx.")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    if not shutil.which("openssl", path=PATH) or not os.path.exists(os.path.join(REPO, "build/ringfence-gateway")):
        sys.exit("not measured: openssl or build/ringfence-gateway is not here")
    with tempfile.TemporaryDirectory(prefix="ringfence-bench-") as folder:
        bench = Bench(folder, QUICK if args.quick else FULL)
        try:
            table(bench)
        finally:
            bench.end()


if __name__ == "__main__":
    main()
