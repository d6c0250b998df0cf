#!/usr/bin/python3
"""The section `agents`: how fast agents' streams are read, compared with jq, and how much memory that takes.

  bench/agents.py [--size MiB]

A stream is a real transcript (tests/agents/fixtures), repeated, with tool output as long as it
is in practice. jq reads the same bytes for the type of each line.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIXTURES = os.path.join(ROOT, "tests/agents/fixtures")
READER = os.path.join(ROOT, "build/tests/agent_read")
AGENTS = ("claude", "codex", "gemini", "opencode")
OUTPUT = 6000  # bytes that a tool prints, on average
ROUNDS = 5


def grow(value, key=None):
    """Makes tool outputs as long as real ones: lines of text, with quotes and newlines to escape."""
    if isinstance(value, dict):
        return {name: grow(entry, name) for name, entry in value.items()}
    if isinstance(value, list):
        return [grow(entry, key) for entry in value]
    if isinstance(value, str) and key in ("content", "aggregated_output", "output") and len(value) > 60:
        text = value + "\n" + 'tests/test_x.py::test_y PASSED "a\\b" ü\n' * (OUTPUT // 40)
        return text[:OUTPUT]
    return value


def make_stream(path, agent, size):
    with open(os.path.join(FIXTURES, f"{agent}-whole.jsonl"), encoding="utf-8") as file:
        lines = [json.dumps(grow(json.loads(line)), ensure_ascii=False, separators=(",", ":")) for line in file]
    block = ("\n".join(lines) + "\n").encode()
    block *= max(1, (1 << 20) // len(block))
    with open(path, "wb") as file:
        for _ in range(max(1, size // len(block))):
            file.write(block)
    return os.path.getsize(path)


def timed(argv, path):
    """Returns the CPU time in seconds, and the output."""
    with open(path, "rb") as stream:
        process = subprocess.Popen(argv, stdin=stream, stdout=subprocess.PIPE)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
    if process.returncode:
        raise RuntimeError(f"{argv[0]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, out.decode()


def measure(size=64 << 20):
    subprocess.run(["ninja", "-C", os.path.join(ROOT, "build"), "--quiet", "tests/agent_read"], check=True)
    print(f"{size >> 20} MiB of each, CPU time, the best of {ROUNDS} rounds\n", flush=True)
    print("| stream | MB/s | events/s | jq 'type' MB/s | ratio |\n| --- | --: | --: | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stream.jsonl")
        for agent in AGENTS:
            bytes_ = make_stream(path, agent, size)
            best, out = min((timed([READER, agent, "quiet"], path) for _ in range(ROUNDS)))
            events = int(out.rsplit("events=", 1)[1])
            jq = min(timed(["jq", "-c", ".type"], path)[0] for _ in range(2))
            print(f"| {agent} | {bytes_ / best / 1e6:.0f} | {events / best:,.0f} | {bytes_ / jq / 1e6:.0f} | "
                  f"{jq / best:.0f}x |", flush=True)
        peaks = []
        for amount in (16 << 20, 1 << 30):
            make_stream(path, "claude", amount)
            out = timed([READER, "claude", "quiet"], path)[1]
            peaks.append(out.rsplit("peak_kib=", 1)[1].split()[0])
        print(f"\nPeak of memory: {peaks[0]} KiB with 16 MiB, {peaks[1]} KiB with 1 GiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=64, metavar="MiB")
    measure(parser.parse_args().size << 20)
    return 0


if __name__ == "__main__":
    sys.exit(main())
