"""A test as data: where it is, what it says, with which arguments, for whom, for how long."""

import importlib.util
import os
import shutil
import sys

DEFAULT_TIMEOUT_S = 120


class Failure(Exception):
    """The claim of the test does not hold."""


class Skip(Exception):
    """The claim cannot be tried on this machine; the message is the reason."""


def _mark(name, value):
    def decorate(function):
        setattr(function, name, value)
        return function
    return decorate


def cases(*values):
    """One test for each value; a tuple gives several arguments."""
    return _mark("cases", values)


def timeout(seconds):
    return _mark("timeout_s", seconds)


def needs(*programs):
    """Skipped where one of the programs is not installed."""
    return _mark("programs", programs)


# What concerns only one of the two identities.
root_only = _mark("only", "root")
user_only = _mark("only", "user")


class Case:
    def __init__(self, module, function, args, label):
        self.module = module
        self.function = function
        self.args = args
        self.name = f"{module}:{function.__name__}" + (f"[{label}]" if label else "")
        doc = (function.__doc__ or function.__name__[5:].replace("_", " ")).strip()
        self.sentence = doc.split("\n")[0] + (f" [{label}]" if label else "")
        self.timeout_s = getattr(function, "timeout_s", DEFAULT_TIMEOUT_S)

    def concerns(self, identity):
        return getattr(self.function, "only", identity) == identity

    def check_needs(self):
        for program in getattr(self.function, "programs", ()):
            if not shutil.which(program, path=os.defpath + ":/usr/local/bin:/usr/sbin:/sbin"):
                raise Skip(f"{program} is not installed")


def _printable(value):
    text = " ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
    return text.encode("unicode_escape").decode()[:60]


def _cases_of(module_name, function):
    values = getattr(function, "cases", None)
    if values is None:
        yield Case(module_name, function, (), "")
        return
    for value in values:
        args = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        yield Case(module_name, function, args, _printable(value))


def load(tests_dir, suites=("escape", "e2e")):
    """Every case of the suites, in the order of the files."""
    found = []
    for suite in suites:
        folder = os.path.join(tests_dir, suite)
        for file in sorted(os.listdir(folder)):
            if not (file.startswith("test_") and file.endswith(".py")):
                continue
            name = f"{suite}/{file[5:-3]}"
            spec = importlib.util.spec_from_file_location(f"{suite}_{file[:-3]}",
                                                          os.path.join(folder, file))
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            for attribute, function in vars(module).items():
                if attribute.startswith("test_") and callable(function):
                    found.extend(_cases_of(name, function))
    return found
