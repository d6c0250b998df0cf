#!/usr/bin/python3
"""Changes the sources in small ways, one at a time, and shows which changes no test notices.

    tests/mutate/run.py fence/plan            some mutants of a room
    tests/mutate/run.py fence/plan/known.c    of one file
    tests/mutate/run.py --tables              delete each row of every table in rooms.py
    tests/mutate/run.py --tables prices       of one table

A mutant that does not compile does not count; one that hangs is noticed. Mutants that change nothing
a user could see are listed in equivalent.txt with the reason, and do not count either.
"""

import argparse
import os
import signal
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import operators  # noqa: E402
import rooms  # noqa: E402
import workshop  # noqa: E402

LIST = os.path.join(HERE, "equivalent.txt")


def read(path):
    with open(os.path.join(workshop.ROOT, path), encoding="utf-8") as file:
        return file.read()


def equivalents():
    """{identity of a mutant: reason} from blocks: the place, a line before, after, the reason."""
    with open(LIST, encoding="utf-8") as file:
        text = "".join(line for line in file if not line.startswith("#"))
    result = {}
    for block in text.split("\n\n"):
        lines = [line.strip() for line in block.strip().splitlines()]
        if not lines:
            continue
        if len(lines) < 4 or lines[1][:1] != "-" or lines[2][:1] != "+":
            sys.exit(f"{LIST}: a block is not a place, a line '-', a line '+' and a reason: "
                     f"{lines}")
        result[lines[0], lines[1][2:], lines[2][2:]] = " ".join(lines[3:])
    return result


class Score:
    def __init__(self, title):
        self.title = title
        self.counts = dict.fromkeys(("noticed", "survived", "equivalent", "broken"), 0)
        self.survivors = []

    def add(self, mutant, outcome, notice):
        self.counts[outcome] += 1
        before, after = mutant.change()
        print(f"{outcome}: {mutant.place()}:{mutant.line()} ({mutant.operator})\n"
              f"  - {before}\n  + {after}" + (f"\n  {notice}" if notice else ""), flush=True)
        if outcome == "survived":
            self.survivors.append(mutant)

    def tried(self):
        return self.counts["noticed"] + self.counts["survived"]

    def report(self):
        for mutant in self.survivors:
            before, after = mutant.change()
            print(f"survivor, line {mutant.line()} ({mutant.operator}):\n{mutant.place()}\n  - {before}\n  + {after}")
        share = 100 * self.counts["noticed"] / self.tried() if self.tried() else 100
        print("{0}: {noticed} of {1} noticed ({2:.0f} %); {equivalent} equivalent, {broken} do not "
              "compile".format(self.title, self.tried(), share, **self.counts), flush=True)


def judge(title, mutants, tests, listed, sample):
    """Tries mutants in this order until the sample is full."""
    score = Score(title)
    for mutant in mutants:
        if sample and score.tried() >= sample:
            break
        reason = listed.get(mutant.identity())
        if reason:
            score.add(mutant, "equivalent", reason)
        else:
            score.add(mutant, *tests.try_mutant(mutant))
    score.report()
    return score


def sources(part):
    """The C sources of a room, or of one of its parts."""
    top = os.path.join(workshop.ROOT, "src", part)
    if os.path.isfile(top):
        return [f"src/{part}"]
    return sorted(os.path.relpath(os.path.join(base, name), workshop.ROOT)
                  for base, _, files in os.walk(top) for name in files if name.endswith(".c"))


def mutants_of_room(part, seed):
    found = [mutant for path in sources(part)
             for mutant in operators.of_source(path, read(path), rooms.tables_in(path))]
    return sorted(found, key=lambda mutant: mutant.order(seed))


def mutants_of_table(name):
    table = rooms.TABLES[name]
    if table.rows[0] == "^":
        return list(operators.of_lines(table.path, read(table.path), table.rows))
    return list(operators.of_table(table.path, read(table.path), table.rows.split()))


def warn_of_stale(listed):
    """Names the entries of the list that no mutant matches any more."""
    paths = {place.split()[0] for place, _, _ in listed}
    known = {mutant.identity() for path in paths if os.path.isfile(os.path.join(workshop.ROOT, path))
             for mutant in operators.of_source(path, read(path))}
    for place, before, _ in listed.keys() - known:
        print(f"mutate: equivalent.txt has a mutant that no longer exists: {place}: {before}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="a room or a part of one, as in src/; with --tables, a table; all of "
                        "them without one")
    parser.add_argument("--tables", action="store_true", help="delete rows of tables")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample (%(default)s)")
    parser.add_argument("--sample", type=int, metavar="N",
                        help="try this many mutants of each room (20; all rows of a table); 0 for "
                        "all")
    parser.add_argument("--units-only", action="store_true",
                        help="run only the unit tests; quick, and a lower bound")
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    return parser.parse_args()


def jobs(options):
    """(title, mutants, tests of the room, sample) for each room or table that was asked for."""
    known = rooms.TABLES if options.tables else rooms.ROOMS
    for name in options.names or known:
        room = None if options.tables else rooms.of_path(name)
        if (name not in known) if options.tables else (not room or not sources(name)):
            sys.exit(f"mutate: no such {'table' if options.tables else 'room'} in "
                     f"tests/mutate/rooms.py: {name}; there are: {', '.join(known)}")
        if options.tables:
            found = sorted(mutants_of_table(name), key=lambda mutant: mutant.order(options.seed)) \
                if options.sample else mutants_of_table(name)
            yield name, found, rooms.of_table(name), options.sample or 0
        else:
            sample = 20 if options.sample is None else options.sample
            yield name, mutants_of_room(name, options.seed), rooms.ROOMS[room], sample


def run_job(options, listed, title, mutants, room, sample):
    print(f"-- {title}: {len(mutants)} mutants, seed {options.seed}", flush=True)
    if options.list:
        for mutant in mutants:
            before, after = mutant.change()
            print(f"{mutant.place()}:{mutant.line()} ({mutant.operator})\n  - {before}\n  + {after}")
        return
    tests = workshop.Tests(room, options.units_only)
    try:
        tests.prepare()
    except workshop.Failed as failed:
        sys.exit(f"mutate: {title}: {failed}")
    judge(title, mutants, tests, listed, sample)


def main():
    options = parse()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutate: ended"))
    listed = equivalents()
    warn_of_stale(listed)
    if not options.list:
        workshop.copy()
    for job in jobs(options):
        run_job(options, listed, *job)


if __name__ == "__main__":
    main()
