"""Makes a small, reproducible fixture of a transcript: no ids, times or paths of the run, no long lists."""
import json
import re

LONG = 12  # entries of a list that nobody looks at
IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:ses|prt|msg)_[0-9A-Za-z]{20,}")
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
MILLISECONDS = re.compile(r"(?<=[_:])17[0-9]{11}(?![0-9])")
SECONDS = re.compile(r"(?<=\":)17[0-9]{8}(?![0-9])")


HOMES = re.compile(r"/?tmp/rft\.[^/\"]+/\w+/\d+/home")
SLUGS = re.compile(r"-tmp-rft-[0-9a-z_-]+?-home-project")


def shorten(value):
    if isinstance(value, list):
        if len(value) > LONG or (len(value) > 3 and all(isinstance(entry, str) for entry in value)):
            return [shorten(entry) for entry in value[:3]]
        return [shorten(entry) for entry in value]
    if isinstance(value, dict):
        return {key: shorten(entry) for key, entry in value.items()}
    return value


def clean(text, project):
    ids = {}

    def steady(match):
        return ids.setdefault(match[0], f"id-{len(ids) + 1:04}")

    lines = []
    for line in text.splitlines():
        try:
            line = json.dumps(shorten(json.loads(line)), separators=(",", ":"), ensure_ascii=False)
        except ValueError:
            pass
        line = HOMES.sub("/srv/me", SLUGS.sub("-srv-project", line.replace(project, "/srv/project")))
        line = TIMES.sub("2026-11-17T03:00:00Z", IDS.sub(steady, line))
        lines.append(SECONDS.sub("1794880000", MILLISECONDS.sub("1794880000000", line)))
    return "\n".join(lines) + "\n"
