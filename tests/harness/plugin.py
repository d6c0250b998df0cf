"""The pytest plugin for these tests; tests/run.py starts pytest with it.

A test function is one item for each of its cases and for each identity. The workers of xdist run
them, the long ones first, each in a process of its own (harness/isolated.py). Unit tests and source
checks are programs, and items as well (harness/programs.py).
"""

import gc
import itertools
import json
import os
import resource
import sys

import pytest

from . import fences, isolated, kernel, programs
from .case import cases_of
from .tally import Tally, durations_of

RUN_VARIABLE = "RINGFENCE_TEST_RUN"
QUEUED_PER_WORKER = 2  # xdist starts a test when it knows the next one
WAITS_S = 5


class Failed(Exception):
    """Carries the text of a failure out of the test's process."""


class CaseItem(pytest.Item):
    def __init__(self, *, case, identity, mechanism, run, **options):
        super().__init__(**options)
        self.case = case
        self.identity = identity
        self.mechanism = mechanism
        self.test_run = run
        self.timeout_s = case.timeout_s
        self.index = 0
        # -k also accepts words of the form e2e/exit:test_name.
        file = f"{self.path.parent.name}/{self.path.stem.removeprefix('test_')}"
        self.extra_keyword_matches.add(f"{file}:{case.function.__name__}")
        self.user_properties += [("sentence", case.sentence), ("outcome of", {
            "test": f"{self.parent.nodeid}::{case.name}", "sentence": case.sentence, "mechanism": mechanism, "identity": identity})]

    def runtest(self):
        outcome, text = isolated.run_case(self.case, self.identity, self.mechanism, self.index, self.test_run)
        # The channel to the controller accepts only valid UTF-8.
        text = text.encode(errors="backslashreplace").decode()
        if outcome == "weaker":
            self.user_properties.append(("weaker", text))
        if outcome in ("skipped", "weaker"):
            raise pytest.skip.Exception(text, _use_item_location=True)
        if outcome == "failed":
            raise Failed(text)
        if self.test_run["again"]:
            self.user_properties.append(("account", text))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, Failed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, self.case.function.__code__.co_firstlineno - 1, self.name


def _items_of(module, function, run):
    for case in cases_of(function):
        for mechanism, identity in itertools.product(case.mechanisms(run["fences"]), case.identities(run["identities"])):
            if identity not in fences.ONLY_AS.get(mechanism, (identity,)):
                continue
            label = "-".join(filter(None, (case.label, mechanism, identity)))
            yield CaseItem.from_parent(module, name=f"{function.__name__}[{label}]", case=case,
                                       identity=identity, mechanism=mechanism, run=run)


def expected_s(item, took):
    """How long an item will take: as the last time, or else a part of its time limit. The build comes first."""
    if item.timeout_s >= programs.BUILD_TIMEOUT_S:
        return item.timeout_s
    expected = took.get(item.nodeid, item.timeout_s / 20)
    # These wait for the build: the long ones of the others come before them.
    return min(expected, WAITS_S) if item.name == "unit-asan" else expected


def cpu_s():
    """CPU time of this process and of everything below it that has ended, in seconds."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class Collection:
    """Makes items of what it finds, in the controller's order for every worker."""

    def __init__(self, run):
        self.run = run

    def pytest_pycollect_makeitem(self, collector, name, obj):
        if name.startswith("test_") and callable(obj):
            return list(_items_of(collector, obj, self.run))
        return []

    def pytest_collect_file(self, file_path, parent):
        return programs.collect(file_path, parent, self.run)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config, items):
        took = durations_of(config)
        items.sort(key=lambda item: -expected_s(item, took))
        for index, item in enumerate(items):
            item.index = index
        if self.run["again"]:
            wanted = set(self.run["again"])
            config.hook.pytest_deselected(items=[i for i in items if i.nodeid not in wanted])
            items[:] = [i for i in items if i.nodeid in wanted]
        # A collection of garbage would touch all of this in each test's process, and so copy it.
        gc.collect()
        gc.freeze()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        before = cpu_s()
        yield
        item.user_properties.append(("cpu_s", cpu_s() - before))


def _one_by_one():
    from xdist.scheduler import LoadScheduling

    class OneByOne(LoadScheduling):
        """Hands out no more than a worker needs, so that the order is kept."""

        def _send_tests(self, node, num):
            room = QUEUED_PER_WORKER - len(self.node2pending[node])
            super()._send_tests(node, max(0, min(num, room)))

    return OneByOne


class Distribution:
    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config, log):
        return _one_by_one()(config, log)


def pytest_configure(config):
    text = os.environ.get(RUN_VARIABLE)
    if not text:
        raise pytest.UsageError("start tests/run.py: it takes pytest's options")
    run = json.loads(text)
    sys.dont_write_bytecode = True
    config.pluginmanager.register(Collection(run), "ringfence-collection")
    if hasattr(config, "workerinput"):
        kernel.become_subreaper()
        return
    config.pluginmanager.register(Distribution(), "ringfence-distribution")
    config.pluginmanager.register(Tally(config, run), "ringfence-tally")
