"""Counts results in pytest's controller, prints failures at once, writes a summary for run.py."""

import collections
import copy
import json
import time

import pytest

PROGRESS_EVERY = 500
CPU_FILES = 40  # with --cpu, this many files are listed


def printable(text):
    text = "\n    ".join(text.rstrip().splitlines())
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def verdict(counts):
    return "{passed} passed, {failed} failed, {skipped} skipped".format(**counts)


DURATIONS = "ringfence/durations"


def durations_of(config):
    """How long each item took the last time, in seconds."""
    return config.cache.get(DURATIONS, {})


def _properties(report):
    return dict(report.user_properties)


def _part(report, number, outcome, sentence, detail):
    """The report of one sentence of a program."""
    part = copy.copy(report)
    part.nodeid = f"{report.nodeid}::{number}"
    part.outcome = outcome
    part.duration = 0
    part.longrepr = detail if outcome == "failed" else None
    if outcome == "skipped":
        part.longrepr = (report.location[0], 0, detail)
    part.user_properties = [("sentence", sentence)]
    part.ringfence_item = report.nodeid
    return part


class Tally:
    def __init__(self, config, run):
        self.config = config
        self.file = run["results"]
        self.cpu_shown = run["cpu"]
        self.cpu = collections.Counter()
        self.items = collections.Counter()
        self.counts = {"passed": 0, "failed": 0, "skipped": 0, "weaker": 0}
        self.outcomes = []
        self.failures = []
        self.skips = {}
        self.accounts = {}
        self.durations = {}
        self.began = time.monotonic()

    def _write(self, text):
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        terminal.ensure_newline()
        terminal.write_line(text)

    def line(self):
        return verdict(self.counts)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        if report.when == "call" and not hasattr(report, "ringfence_item"):
            self._account(report)
        results = _properties(report).get("results")
        if report.when == "call" and results is not None:
            self.accounts[report.nodeid] = f"{len(results)} sentences"
            for number, result in enumerate(results):
                self.config.hook.pytest_runtest_logreport(report=_part(report, number, *result))
            if results or report.passed:
                return
        if report.when == "call" or not report.passed:
            self._count(report)

    def _account(self, report):
        self.durations[report.nodeid] = round(report.duration, 2)
        file = report.nodeid.partition("::")[0]
        self.cpu[file] += _properties(report).get("cpu_s", 0)
        self.items[file] += 1

    def _show_cpu(self, terminal):
        terminal.write_line(f"-- CPU time: {self.cpu.total():.1f} s")
        for file, spent_s in self.cpu.most_common(CPU_FILES):
            terminal.write_line(f"{spent_s:8.1f} s of {self.items[file]:4} in {file}")

    def pytest_report_teststatus(self, report):
        """A letter for each of 7000 tests says little; -v still names them."""
        if report.when == "call" and _properties(report).get("results") is not None:
            return "", "", ""
        if report.when == "call" and self.config.option.verbose < 1:
            return report.outcome, "", report.outcome.upper()
        return None

    def pytest_collectreport(self, report):
        if report.failed:
            self._fail(report.nodeid or "collection", "the tests can be collected",
                       str(report.longrepr), report.nodeid)

    def _count(self, report):
        properties = _properties(report)
        sentence = properties.get("sentence", "")
        outcome = "weaker" if "weaker" in properties else report.outcome
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr or "")
        self._keep(report, properties, outcome, reason.removeprefix("Skipped: "))
        if report.failed:
            self._fail(report.nodeid, sentence, str(report.longrepr),
                       getattr(report, "ringfence_item", report.nodeid))
            return
        self.counts[outcome] += 1
        if outcome == "skipped":
            name, _, label = report.nodeid.rpartition("[")
            who = label.rstrip("]").rpartition("-")[2]
            key = (name or label, reason.removeprefix("Skipped: "))
            self.skips.setdefault(key, []).append(who if name else "")
        elif outcome == "passed":
            self.accounts[report.nodeid] = properties.get("account", "")
        if sum(self.counts.values()) % PROGRESS_EVERY == 0:
            self._write(f"-- {self.line()} so far")

    def _keep(self, report, properties, outcome, reason):
        """What --results writes: only of tests that run as an identity."""
        if "outcome of" in properties:
            self.outcomes.append({**properties["outcome of"], "item": report.nodeid, "outcome": outcome, "reason": reason})

    def _fail(self, name, sentence, text, item):
        self.counts["failed"] += 1
        self.failures.append({"item": item, "name": name, "sentence": sentence, "text": text})
        self._write(f"FAILED {name}: {sentence}\n    {printable(text)}")

    def pytest_terminal_summary(self, terminalreporter):
        for (name, reason), who in self.skips.items():
            names = ", ".join(sorted({w for w in who if w}))
            terminalreporter.write_line(
                f"skipped {name}{' as ' + names if names else ''}: {reason}")
        if self.cpu_shown:
            self._show_cpu(terminalreporter)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self):
        self.config.cache.set(DURATIONS, {**durations_of(self.config), **self.durations})
        with open(self.file, "w", encoding="utf-8") as file:
            json.dump({"counts": self.counts, "failures": self.failures,
                       "accounts": self.accounts, "outcomes": self.outcomes}, file)
