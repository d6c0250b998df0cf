"""A loop of thousands of iterations: the journal of a real one, with one of its iterations repeated."""

import contextlib
import hashlib
import json
import os
import sqlite3


def repeat_iteration(folder, count):
    """Writes the journal of a loop that has ended with three iterations as if it had had so many. The events of the
    second one are repeated; they differ in the number."""
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "journal.db"))) as store:
        events = store.execute("SELECT at_ms, kind, data FROM event ORDER BY seq").fetchall()
        second, third = [i for i, (_, kind, _) in enumerate(events) if kind == "begun"][1:3]
        more = [(at, kind, with_number(data, number))
                for number in range(3, count) for at, kind, data in events[second:third]]
        rest = [(at, kind, with_number(data, count)) for at, kind, data in events[third:]]
        store.execute("DELETE FROM event")
        seq, before = 0, ""
        for seq, (at, kind, data) in enumerate(events[:third] + more + rest, 1):
            before = hashlib.sha256(f"{before}\n{seq}\n{at}\n{kind}\n{data}".encode()).hexdigest()
            store.execute("INSERT INTO event VALUES (?, ?, ?, ?, ?)", (seq, at, kind, data, before))
        store.commit()
    with open(os.path.join(folder, "journal.head"), "w", encoding="ascii") as file:
        file.write(f"{seq:020} {before}\n")


def with_number(data, number):
    value = json.loads(data)
    if "iteration" in value:
        value["iteration"] = number
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
