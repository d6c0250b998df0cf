"""Example prompts: each can be run as it is, and two of them are, by the built-in agent and from a tape."""

import json
import os

from fakes import Server
from harness import cases, contains, equal, expect, lacks, user_only
from harness.loop import Loop

KEY = "sk-ant-a-key-for-nothing"

CALC = '''\
import re
import sys


class Parser:
    def __init__(self, text):
        self.text = text
        self.at = 0
        self.skip()

    def skip(self):
        while self.text[self.at:self.at + 1].isspace():
            self.at += 1

    def take(self, marks):
        mark = self.text[self.at:self.at + 1]
        if not mark or mark not in marks:
            return None
        self.at += 1
        self.skip()
        return mark

    def fail(self, what):
        raise ValueError(f"{what} at position {self.at + 1}")

    def sum(self):
        value = self.product()
        while mark := self.take("+-"):
            right = self.product()
            value = value + right if mark == "+" else value - right
        return value

    def product(self):
        value = self.value()
        while mark := self.take("*/"):
            right = self.value()
            if mark == "/" and right == 0:
                self.fail("a division by zero")
            value = value * right if mark == "*" else value / right
        return value

    def value(self):
        if self.take("-"):
            return -self.value()
        if self.take("("):
            value = self.sum()
            if not self.take(")"):
                self.fail("a parenthesis is missing")
            return value
        found = re.compile(r"[0-9]+([.][0-9]+)?").match(self.text, self.at)
        if not found:
            self.fail("a number is missing")
        self.at = found.end()
        self.skip()
        return float(found[0]) if found[1] else int(found[0])


def calculate(text):
    parser = Parser(text)
    value = parser.sum()
    if parser.at < len(text):
        parser.fail("an operator is missing")
    return value


def main(words):
    try:
        value = calculate(" ".join(words))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(int(value) if value == int(value) else value)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''

TEST_CALC = '''\
import unittest
from calc import calculate


class Calculate(unittest.TestCase):
    def test_operators_and_their_order(self):
        for text, value in (("1+2", 3), ("2 - 3 - 4", -5), ("2*3.5", 7), ("7/2", 3.5), ("-(1 + 2) * 2", -6)):
            self.assertEqual(calculate(text), value)

    def test_errors(self):
        for text in ("", "1 +", "(1", "1 2", "1 / 0", "x"):
            self.assertRaises(ValueError, calculate, text)
'''

SERVICE = '''\
import http.server
import json
import sys

todos = {}
made = 0


def refuse(status, why):
    return status, {"error": why}


def read(body):
    try:
        value = json.loads(body or b"")
    except ValueError:
        return None, "The body is not valid JSON."
    if not isinstance(value, dict) or set(value) - {"title", "done"}:
        return None, "The body must be an object with title and done."
    title = value.get("title", "x")
    if not isinstance(title, str) or not title.strip() or len(title) > 200:
        return None, "The title must be a text of 1 to 200 characters."
    if not isinstance(value.get("done", False), bool):
        return None, "Done must be true or false."
    return value, None


def add(body):
    global made
    value, why = read(body)
    if value is not None and "title" not in value:
        why = "The title is missing."
    if why:
        return refuse(400, why)
    made += 1
    todos[made] = {"id": made, "title": value["title"], "done": value.get("done", False)}
    return 201, todos[made]


def change(todo, body):
    value, why = read(body)
    if why:
        return refuse(400, why)
    todo.update(value)
    return 200, todo


def handle(method, path, body):
    if path == "/todos":
        if method == "GET":
            return 200, list(todos.values())
        return add(body) if method == "POST" else refuse(405, "Use GET or POST.")
    name = path[len("/todos/"):] if path.startswith("/todos/") else ""
    todo = todos.get(int(name)) if name.isdecimal() else None
    if todo is None:
        return refuse(404, "There is no such todo.")
    if method == "GET":
        return 200, todo
    if method == "PUT":
        return change(todo, body)
    if method == "DELETE":
        del todos[todo["id"]]
        return 204, None
    return refuse(405, "Use GET, PUT or DELETE.")


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        size = int(self.headers.get("content-length") or 0)
        status, value = handle(self.command, self.path, self.rfile.read(size) if size else None)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.end_headers()
        if value is not None:
            self.wfile.write(json.dumps(value).encode())

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = answer


if __name__ == "__main__":
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
'''

TEST_SERVICE = '''\
import json
import unittest
import todo


def ask(method, path, value=None):
    return todo.handle(method, path, json.dumps(value).encode() if value is not None else None)


class Todos(unittest.TestCase):
    def setUp(self):
        todo.todos.clear()

    def test_a_todo_is_made_changed_and_removed(self):
        status, made = ask("POST", "/todos", {"title": "Buy milk"})
        self.assertEqual((status, made["done"]), (201, False))
        path = f"/todos/{made['id']}"
        self.assertEqual(ask("PUT", path, {"done": True}), (200, {**made, "done": True}))
        self.assertEqual(ask("GET", "/todos"), (200, [{**made, "done": True}]))
        self.assertEqual(ask("DELETE", path), (204, None))
        self.assertEqual(ask("GET", path)[0], 404)

    def test_errors(self):
        for value in ({}, {"title": " "}, {"title": "x" * 201}, {"title": "x", "done": 1}, {"title": "x", "more": 1}, []):
            self.assertEqual(ask("POST", "/todos", value)[0], 400, value)
        self.assertEqual(todo.handle("POST", "/todos", b"{")[0], 400)
        self.assertEqual(ask("PATCH", "/todos")[0], 405)
'''


def call(name, **arguments):
    return {"name": name, "input": arguments}


def turns(files, mistake):
    """A model that makes one mistake, which a check of the user finds, and corrects it in the second iteration. The correction
    changes the size: Python takes a file of the same size and second for the one that it has compiled."""
    name, right, wrong = mistake
    first = {path: text.replace(right, wrong) if path == name else text for path, text in files.items()}
    expect(first != files, "there is a mistake", mistake)
    return [{"tools": [call("write", path=path, content=text) for path, text in first.items()]},
            {"tools": [call("shell", command="python3 -m unittest")]},
            {"text": "The program and its tests are there."},
            {"tools": [call("edit", path=name, old=wrong, new=right)]},
            {"text": "A check of the user's failed; I fixed what it found."}]


def example(loop, name, *words, **options):
    """Runs the command that the page of an example shows, as a person would."""
    page = json.loads(loop.ringfence("prompts", name, "--json").out)["page"]
    command = page.split("```sh\n")[1].split("```")[0].replace("ringfence ", f"{loop.t.ringfence} ", 1).split("\n", 1)[1]
    return loop.t.run(["sh", "-c", f"{command.strip()} {' '.join(words)}"], cwd=loop.project, **options)


@user_only
@cases(("calculator", {"calc.py": CALC, "test_calc.py": TEST_CALC}, ("calc.py", "return 1\n", "return 1 + 2\n")),
       ("todo-api", {"todo.py": SERVICE, "test_todo.py": TEST_SERVICE, "README.md": "python3 todo.py 8080\n"},
        ("todo.py", "return refuse(404,", "return refuse(404 + 6,")))
def test_an_example_is_built_by_the_built_in_agent_and_again_from_a_tape(t, name, files, mistake):
    tape = os.path.join(t.outside, "tape")
    server = Server(turns(files, mistake))
    t.cleanups.append(server.close)
    for how, env in ((["--record", tape, "--upstream", f"anthropic={server.address}"], t.env(ANTHROPIC_API_KEY=KEY)),
                     (["--replay", tape], t.env())):
        loop = Loop(t, name=how[0].strip("-"))
        result = example(loop, name, "--agent", "builtin", "--workspace", "in-place", *how, env=env)
        equal(result.code, 0, "exit status", result)
        equal([(entry["verdict"], all(check["passed"] for check in entry["checks"])) for entry in loop.history()],
              [("go on", False), ("done", True)], "the verdicts, and whether all checks pass")
        with open(loop.path(mistake[0]), encoding="utf-8") as file:
            equal(file.read(), files[mistake[0]], "what was built")
        expect(loop.status()["spent_nusd"] > 0, "it is metered", loop.status())


def test_every_example_can_be_read_and_run(t):
    """The prompt alone is what a loop gets, with the user's objective; where one is needed, it is asked for."""
    loop = Loop(t)
    examples = json.loads(loop.ringfence("prompts", "--json").out)["prompts"]
    expect(len(examples) >= 8, "there are examples", examples)
    listed = loop.ringfence("prompts").out
    for one in examples:
        contains(listed, f"{one['name']:15} {one['title']}\n", "the list")
        contains(one["page"], f"ringfence run --example {one['name']} ", "how it is run")
        expect(one["page"].endswith("\n\n" + one["prompt"]) and len(one["prompt"]) > 300, "the prompt is at the end", one)
        lacks(one["prompt"], "ringfence", "the prompt")
        equal(loop.ringfence("prompts", one["name"], "--text").out, one["prompt"], "the prompt alone")
        words = ["run", "--example", one["name"], "--agent-command", "true", "--check", "true", "--dry-run"]
        shown = loop.ringfence(*words, "Only the bridge").out
        contains(shown, f"# Task\n\n{one['prompt']}\n## Details\n\nOnly the bridge\n", "what the agent gets")
        alone = loop.ringfence(*words)
        if "below" in one["prompt"] or "specification" in one["prompt"]:
            contains(alone.err, f"the example '{one['name']}' needs an objective that says ", "what is missing")
        else:
            contains(alone.out, f"# Task\n\n{one['prompt']}\n# Status\n", "what the agent gets")


@cases((["prompts", "nobody"], "there is no example 'nobody' (see: ringfence prompts)"),
       (["run", "--example", "nobody", "--agent-command", "true"], "there is no example 'nobody'"),
       (["run", "--example", "port", "-p", "agent.sh", "--agent-command", "true"], "not both"))
def test_what_is_no_example_is_refused(t, words, part):
    result = Loop(t).ringfence(*words)
    equal((result.code, result.out), (125, ""), "the refusal", result)
    contains(result.err, part, "the reason")
