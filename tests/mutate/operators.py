"""Finds mutants in C sources and in tables: small changes that some test should notice.

A mutant replaces one span of a file. It is known by its function and the lines that it changes,
before and after, and not by their numbers, so that a choice among mutants and the list of equivalent
ones outlive edits elsewhere in the file.
"""

import collections
import hashlib
import re

RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
LOGIC = {"&&": "||", "||": "&&"}
WORDS = {"true": "false", "false": "true"}
FLAGS = r"O_NOFOLLOW|O_CLOEXEC|O_EXCL|SOCK_CLOEXEC|AT_SYMLINK_NOFOLLOW|RESOLVE_\w+"
KEYWORDS = ("if", "while", "for", "switch", "return", "sizeof", "do", "else")
HIDDEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|'
                    r"^[ \t]*#(?:\\\n|[^\n])*", re.DOTALL | re.MULTILINE)
OPEN, CLOSE = "([{", ")]}"


class Mutant(collections.namedtuple("Mutant", "path operator start end text source")):
    """Replaces source[start:end] with text."""

    def mutated(self):
        return self.source[:self.start] + self.text + self.source[self.end:]

    def line(self):
        return self.source.count("\n", 0, self.start) + 1

    def change(self):
        """The lines that it changes, before and after, each as one line without indentation."""
        first = self.source.rfind("\n", 0, self.start) + 1
        last = self.source.find("\n", self.end)
        last = len(self.source) if last < 0 else last
        before = self.source[first:last]
        after = self.source[first:self.start] + self.text + self.source[self.end:last]
        return " ".join(before.split()), " ".join(after.split())

    def place(self):
        """The path, and the function or table."""
        heads = re.findall(r"^[a-z}][^\n;=]*?(\w+)[(\[]", self.source[:self.start], re.MULTILINE)
        return f"{self.path} {heads[-1]}" if heads and self.path.endswith(".c") else self.path

    def identity(self):
        return self.place(), *self.change()

    def order(self, seed):
        """A place in a random order that depends on nothing but the seed and the mutant."""
        text = "\0".join((str(seed), self.operator, *self.identity()))
        return hashlib.sha256(text.encode()).hexdigest()


def visible(text):
    """The text with blanks for comments, literals and directives, of the same length."""
    return HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def closing(code, at):
    """The place of the bracket that closes the one at this place, or -1."""
    depth = 0
    for place in range(at, len(code)):
        if code[place] in OPEN:
            depth += 1
        elif code[place] in CLOSE:
            depth -= 1
            if depth == 0:
                return place
    return -1


def replace_words(code, pattern, replacements):
    for match in re.finditer(pattern, code):
        yield match.start(1), match.end(1), replacements[match.group(1)]


def relations(code):
    """< for <=, == for !=, and so on; not for descriptors, because none of ours is 0."""
    held = set(re.findall(r"\bAUTO_FD (\w+)|\b(?:\w+(?:->|\.))*(\w*fd)\b|"
                          r"\bfd_(?:close|steal)\(&(?:\w+(?:->|\.))*(\w+)\)", code))
    names = {name for found in held for name in found if name}
    for match in re.finditer(r"(\w*)\s([<>]=?|[=!]=)(?=\s(0\b)?)", code):
        if not (match.group(3) and match.group(1) in names):
            yield match.start(2), match.end(2), RELATIONS[match.group(2)]


def logic(code):
    """&& for ||, and the reverse."""
    return replace_words(code, r"(?<=\s)(&&|\|\|)(?=\s)", LOGIC)


def booleans(code):
    """true for false, and the reverse."""
    return replace_words(code, r"\b(true|false)\b", WORDS)


def conditions(code):
    """A condition, negated."""
    for match in re.finditer(r"\b(?:if|while) \(", code):
        end = closing(code, match.end() - 1)
        if end > 0:
            yield match.end(), end, f"!({{{match.end()}:{end}}})"


def negations(code):
    """x for !x."""
    for match in re.finditer(r"(?<![\w)\]])!(?=[\w(*])", code):
        yield match.start(), match.end(), ""


def calls(code):
    """A call whose result nobody uses, dropped."""
    for match in re.finditer(r"^[ \t]+([a-z_]\w*)\(", code, re.MULTILINE):
        end = closing(code, match.end() - 1)
        if match.group(1) not in KEYWORDS and code[end + 1:end + 2] == ";":
            yield match.start(1), end + 1, ""


def swallowed(code):
    """Success where an error is returned."""
    for match in re.finditer(r"\breturn (-1);", code):
        yield match.start(1), match.end(1), "0"
    for match in re.finditer(r"\breturn (error_\w+)\(", code):
        end = closing(code, match.end() - 1)
        if code[end + 1:end + 2] == ";":
            yield match.start(1), end + 1, f"({{{match.start(1)}:{end + 1}}}, 0)"


def steps(code):
    """One less or one more."""
    for match in re.finditer(r"(?<=\w|\)|\]) ([+-] 1)\b(?![\w.])", code):
        yield match.start(1), match.end(1), match.group(1)[0] + " 0"
    for match in re.finditer(r"\bfor \([\w ]*= (0);", code):
        yield match.start(1), match.end(1), "1"


def flags(code):
    """A flag that protects an open or a lookup, dropped."""
    for match in re.finditer(rf"\b(?:{FLAGS})\b", code):
        yield match.start(), match.end(), "0"


def syncs(code):
    """A sync that does nothing and succeeds."""
    for match in re.finditer(r"\b(?:fsync|fdatasync|syncfs)\(", code):
        end = closing(code, match.end() - 1)
        yield match.start(), end + 1, "0"


def elements(code, at):
    """The spans of the elements between the braces that open at this place, with their commas."""
    end, start, depth = closing(code, at), at + 1, 0
    for place in range(at + 1, end + 1):
        if depth == 0 and (code[place] == "," or place == end):
            if code[start:place].strip():
                yield start + len(code[start:place]) - len(code[start:place].lstrip()), min(
                    place + 1, end)
            start = place + 1
        elif code[place] in OPEN:
            depth += 1
        elif code[place] in CLOSE:
            depth -= 1


def rows(code, names=r"\w+", source=None):
    """A row of a table, deleted."""
    for match in re.finditer(rf"\b(?:{names})\[\w*\] = (\{{)", code):
        # Blanked strings are elements as well; { 0 } is not a table.
        for start, end in elements(source_like(code, source), match.start(1)):
            if code[start:end].strip() != "0":
                yield start, end, ""


def source_like(code, source):
    """The visible code, with a letter in the place of each character of a string."""
    if source is None:
        return code
    return "".join("s" if c == " " and o not in " \t\n" else c for c, o in zip(code, source))


OPERATORS = (relations, logic, booleans, conditions, negations, calls, swallowed, steps, flags,
             syncs)


def expand(text, source):
    """Fills in {start:end}, a span of the source."""
    return re.sub(r"\{(\d+):(\d+)\}", lambda m: source[int(m[1]):int(m[2])], text)


def without_comments(source):
    """The source with blanks for comments, for tables of strings."""
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), source,
                  flags=re.DOTALL)


def of_source(path, source, tables=()):
    """All mutants of a C source, but none for rows of these tables."""
    code = visible(source)
    spans = [(operator.__name__, *span) for operator in OPERATORS for span in operator(code)]
    names = "".join(rf"(?!{table}\[)" for table in tables) + r"\w+"
    spans += [("rows", *span) for span in rows(code, names, without_comments(source))]
    seen = set()
    for operator, start, end, text in sorted(spans, key=lambda span: span[1:]):
        mutant = Mutant(path, operator, start, end, expand(text, source), source)
        if mutant.identity() not in seen:
            seen.add(mutant.identity())
            yield mutant


def of_table(path, source, names):
    """A mutant for each row of the tables of a C source that have one of these names."""
    for start, end, text in rows(visible(source), "|".join(names), without_comments(source)):
        yield Mutant(path, "rows", start, end, text, source)


def of_lines(path, source, pattern):
    """A mutant for each line of a text that matches, with the lines that continue it."""
    for match in re.finditer(pattern, source, re.MULTILINE):
        yield Mutant(path, "rows", match.start(), match.end(), "", source)
