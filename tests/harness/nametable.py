"""The table of names that tools run or obey, and of those that hold secrets."""

import os

TABLE = os.path.join(os.path.dirname(__file__), "../../src/fence/plan/names.txt")
CLASSES = ("alone", "start", "ci", "secret", "secret-if-key", "secret-if-found", "secret-or-certificate")


def lines():
    with open(TABLE, encoding="ascii") as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


def patterns(*classes):
    return [line.split()[1] for line in lines() if line.split()[0] in classes]


def planted(*classes):
    """Paths that these classes match: one for each pattern, and one below it if it can be a folder."""
    found = []
    for number, pattern in enumerate(patterns(*classes)):
        name = pattern.replace("*", "x9")
        if not pattern.endswith("/"):
            found.append(f"f{number}/{name}")
        if not os.path.basename(pattern).startswith("*"):
            found.append(f"g{number}/{name.rstrip('/')}/inside")
    return found
