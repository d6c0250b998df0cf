#!/usr/bin/env python3
"""The table in docs/containers.md: the attacks of tests/escape that each mechanism has stopped.

  tests/containers/enforced.py                   print the table
  tests/containers/enforced.py --take FILE...    take over what `tests/run.py --fence NAME --results FILE` has written
  tests/containers/enforced.py --write           replace the table in docs/containers.md
  tests/containers/enforced.py --in DOCUMENT     print the document with the table
"""

import collections
import datetime
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENT = os.path.join(ROOT, "docs/containers.md")
OUTCOMES = os.path.join(ROOT, "tests/containers/outcomes.json")
BEGIN, END = "<!-- tests/containers/enforced.py -->\n", "<!-- end -->\n"
FOLDER = "tests/escape/test_"
OWN = "only with bwrap: "
ELSEWHERE = "not with "
# The attacks of a file, in the words of a reader.
TOPICS = {
    "files_read": "secrets and files elsewhere are not read",
    "files_write": "nothing outside the project is written, nor what the host executes",
    "files_special": "handles, setuid programs, devices and odd names",
    "files_git": "plants for git and editors",
    "git_obeys": "programs that git's configuration names",
    "git_import": "plants in the private git directory",
    "git_planted": "attacks in commits",
    "launder": "plants that pretend to be the user's own",
    "repository": "hostile repositories",
    "process": "terminals, other processes, descriptors, survivors",
    "terminal": "the caller's terminal",
    "ipc": "sockets and services of the host",
    "network": "the gateway is the only way out",
    "kernel": "interfaces of the kernel",
    "limits": "bombs of processes, memory, files and disk",
    "drafts": "nothing of a draft reaches the project",
    "draft_own": "files that a draft's commands made",
    "draft_rename": "renames in a draft",
    "state": "Ringfence's own state and settings",
    "start": "races with the start, and kills at any instant",
    "canary": "no fence, no command; exit statuses",
    "found": "holes that were found before",
}
COLUMNS = (("bwrap", "root"), ("bwrap", "user"), ("podman", "root"), ("podman", "user"), ("docker", "root"),
           ("landlock", "root"), ("landlock", "user"))


def load(path=OUTCOMES):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def _listed(results, outcome, prefix=""):
    return sorted({(one["sentence"], one["reason"].removeprefix(prefix)) for one in results
                   if one["outcome"] == outcome and one["reason"].startswith(prefix)})


def summary(results, mechanism):
    """Of the results of one mechanism and identity."""
    topics = collections.defaultdict(collections.Counter)
    for one in results:
        topics[one["test"].removeprefix(FOLDER).partition(".py")[0]][one["outcome"]] += 1
    return {"date": datetime.date.today().isoformat(), "topics": topics, "weaker": _listed(results, "weaker"),
            "untried": _listed(results, "skipped", f"{ELSEWHERE}{mechanism}: "),
            "failed": [sentence for sentence, _ in _listed(results, "failed")]}


def take(paths):
    """Each column is replaced by that of the last file that has it, as a whole."""
    outcomes = load()
    for path in paths:
        results = [one for one in load(path) if one["test"].startswith(FOLDER)]
        for column in sorted({(one["mechanism"], one["identity"]) for one in results}):
            mine = [one for one in results if (one["mechanism"], one["identity"]) == column]
            outcomes["/".join(column)] = summary(mine, column[0])
    with open(OUTCOMES, "w", encoding="utf-8") as file:
        json.dump(outcomes, file, indent=1, sort_keys=True)
        file.write("\n")


def _cell(counts):
    words = [f"{counts[kind]} {word}".strip() for kind, word in (("passed", ""), ("weaker", "weaker"), ("failed", "failed"))
             if counts.get(kind)]
    return ", ".join(words) or "not tried"


def _title(column):
    return f"{column[0]}, as {'root' if column[1] == 'root' else 'a user'}"


def _reasons(outcomes, columns, kind):
    """One line for each reason, with the columns it is about and the number of attacks."""
    found = collections.defaultdict(lambda: collections.defaultdict(int))
    for column in columns:
        for _, reason in outcomes["/".join(column)][kind]:
            found[reason][column] += 1
    for reason, where in sorted(found.items()):
        yield f"| {', '.join(_title(column) for column in where)} | {max(where.values())} | {reason} |\n"


def table(outcomes):
    columns = [column for column in COLUMNS if "/".join(column) in outcomes]
    lines = [f"| attacks | {' | '.join(map(_title, columns))} |\n", "| --- |" + " ---: |" * len(columns) + "\n"]
    for topic, title in TOPICS.items():
        cells = [_cell(outcomes["/".join(column)]["topics"].get(topic, {})) for column in columns]
        lines.append(f"| {title} | {' | '.join(cells)} |\n")
    for kind, title in (("weaker", "Weaker than bwrap"), ("untried", "Not tried, because the test's own means do not work there")):
        rows = list(_reasons(outcomes, columns, kind))
        if rows:
            lines += [f"\n{title}:\n\n", "| mechanism | attacks | reason |\n", "| --- | ---: | --- |\n", *rows]
    return "".join(lines)


def with_table(document):
    with open(document, encoding="utf-8") as file:
        before, begin, rest = file.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{document} has no lines {BEGIN.strip()} and {END.strip()}")
    return f"{before}{BEGIN}\n{table(load())}\n{END}{after}"


def main():
    words = sys.argv[1:]
    if not words:
        print(table(load()), end="")
    elif words[0] == "--take" and len(words) > 1:
        take(words[1:])
    elif words == ["--write"]:
        text = with_table(DOCUMENT)
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(text)
    elif len(words) == 2 and words[0] == "--in":
        print(with_table(words[1]), end="")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
