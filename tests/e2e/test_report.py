"""Reports and metrics of loops and batches."""

import html.parser
import json
import os
import shutil
import stat

from harness import cases, contains, equal, expect, lacks, needs
from harness.batch import Batch, task
from harness.gitrepo import Repository
from harness.loop import LoopInPlace as Loop

ANY_IDENTITY = "A report reads what a loop has left; who ran it makes no difference."

HERE = os.path.dirname(os.path.abspath(__file__))
MONITORING = os.path.join(HERE, "../../packaging/monitoring")
VOID = {"meta", "br"}
AGENT = r"""cat >/dev/null; n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n >n
printf '{"type":"tool","name":"shell","target":"<img src=x onerror=alert(1)>"}\n{"type":"tool_result","ok":false}\n'
touch /usr/x 2>/dev/null
printf '{"type":"cost","usd":0.5}\n{"type":"final","text":"</blockquote><script>alert(%d)</script>"}\n' $n
[ $n -lt 2 ] || touch done
"""


class Page(html.parser.HTMLParser):
    """A page whose tags are closed in order; what it refers to, and which tags it has."""

    def __init__(self, text):
        super().__init__()
        self.open = []
        self.tags = set()
        self.ids = set()
        self.links = []
        self.text = ""
        self.feed(text)
        equal(self.open, [], "tags that are left open")

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            expect(name not in ("src", "style") and not name.startswith("on"), "an attribute that loads or runs nothing", (tag, name, value))
            if name == "id":
                self.ids.add(value)
            if name == "href":
                self.links.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        equal(self.open.pop(), tag, "the tag that is closed")

    def handle_data(self, data):
        self.text += data


def finished(t):
    loop = Loop(t)
    loop.write("agent-2.sh", AGENT)
    result = loop.ringfence("run", "make <b>it</b>", "--workspace", "in-place", "--agent-command", "sh agent-2.sh", "--agent-format", "events",
                            "--check", "test -f done", "--max-cost", "10")
    equal(result.code, 0, "exit status", result)
    return loop


def test_a_report_tells_what_a_loop_did(t):
    loop = finished(t)
    shown = loop.ringfence("report")
    equal(shown.code, 0, "exit status", shown)
    for text in ("make <b>it</b>\n", "completed: every rule holds\n", "1.00 of 10.00", "test -f done  exit 1  passed", "/usr/x",
                 "  | make <b>it</b>"):
        contains(shown.out, text, "the report")
    report = json.loads(loop.ringfence("report", "--json").out)
    equal([(entry["iteration"], entry["action"]) for entry in report["iterations"]], [(0, "baseline"), (1, "go on"), (2, "done")], "iterations")
    equal([entry["cost_nusd"] for entry in report["iterations"][1:]], [500000000, 500000000], "their cost")
    equal((report["tools"][0]["tool"], report["tools"][0]["count"], report["tools"][0]["failed"]), ("shell", 2, 2), "a tool")
    equal({entry["path"] for entry in report["files"]}, {"done", "n"}, "files")
    expect(any(entry["denied"].endswith(" /usr/x") for entry in report["denials"]), "a denial", report["denials"])
    equal(loop.ringfence("report", "--md", "--html").code, 125, "two forms at once")


def test_the_page_shows_hostile_text_as_text_and_refers_to_nothing(t):
    loop = finished(t)
    written = loop.ringfence("report", "--html", "-o", "report.html")
    equal(written.code, 0, "exit status", written)
    with open(loop.path("report.html"), encoding="utf-8") as file:
        text = file.read()
    page = Page(text)
    contains(page.text, "</blockquote><script>alert(2)</script>", "the agent's words")
    contains(page.text, "<img src=x onerror=alert(1)>", "a command")
    contains(page.text, "make <b>it</b>", "the task")
    equal(page.tags & {"script", "img", "b", "link", "iframe", "object", "form"}, set(), "tags that nobody wrote")
    expect("svg" in page.tags, "plots", page.tags)
    expect(len(page.links) > 5, "a table of contents", page.links)
    equal([link for link in page.links if not link.startswith("#") or link[1:] not in page.ids], [], "links that lead nowhere")
    expect(len(text) < 150 << 10, "a small page", len(text))
    equal(loop.ringfence("report", "--html").out[:15], "<!DOCTYPE html>", "without a file")
    refused = loop.ringfence("report", "--html", "-o", "gone/report.html")
    equal(refused.code, 125, "exit status without a folder", refused)
    contains(refused.err, "--output 'gone/report.html': there is no folder 'gone/'", "the reason")
    for folder in (".", "..", "src/"):
        refused = loop.ringfence("report", "-o", folder)
        equal(refused.code, 125, f"exit status for {folder}", refused)
    contains(loop.ringfence("report", "-o", ".").err, "'.' is a folder; name a file", "the reason")


def test_a_report_is_not_written_through_a_symlink(t):
    loop = finished(t)
    os.makedirs(os.path.join(t.home, "keys"))
    os.symlink(os.path.join(t.home, "keys"), loop.path("out"))
    refused = loop.ringfence("report", "-o", "out/report.txt")
    equal(refused.code, 125, "exit status", refused)
    contains(refused.err, "is a symlink", "the reason")
    with open(os.path.join(t.home, "keys/a"), "w", encoding="utf-8") as file:
        file.write("mine")
    os.symlink(os.path.join(t.home, "keys/a"), loop.path("report.txt"))
    equal(loop.ringfence("report", "-o", "report.txt").code, 0, "exit status for a file that is a symlink")
    with open(loop.path("report.txt"), encoding="utf-8") as file:
        contains(file.read(), "completed", "the report")
    with open(os.path.join(t.home, "keys/a"), encoding="utf-8") as file:
        equal(file.read(), "mine", "the target of the symlink")


def test_the_report_of_a_batch_leads_to_each_task(t):
    batch = Batch(t, task("T1", "echo 1 >one") + task("T2", "false; echo '<b>no</b>'"))
    Repository(t, batch.project).filled()
    batch.work(batch.name, "--check", "test -f one", "--agent-command", "cat >/tmp/p; if grep -q T1 /tmp/p; then echo 1 >one; fi; echo '<i>fine</i>'",
               "--max-iterations", "1", "--rounds", "1")
    ident = batch.show()["id"]
    page = Page(batch.loop.ringfence("report", "--html", ident).out)
    equal({"#task-T1", "#task-T2"} - set(page.links), set(), "links to the tasks")
    equal({"task-T1", "task-T2"} - page.ids, set(), "their sections")
    contains(page.text, "<i>fine</i>", "the words of an agent")
    equal(page.tags & {"i", "b"} - {"i"}, set(), "tags that nobody wrote")
    report = json.loads(batch.loop.ringfence("report", "--json", ident).out)
    equal(len(report["loops"]), len([entry for entry in report["tasks"] if entry["loop"]]), "their loops")
    contains(batch.loop.ringfence("report", ident).out, "Work list\n", "as text")


@cases("-", "/dev/stdout")
def test_a_report_can_be_written_to_stdout(t, name):
    """The device itself is not replaced by a file."""
    loop = finished(t)
    before = os.readlink("/dev/stdout")
    written = loop.ringfence("report", "--md", "-o", name)
    equal(written.code, 0, "exit status", written)
    contains(written.out, "## Summary\n", "the report")
    equal(os.readlink("/dev/stdout"), before, "the device")


def test_metrics_are_written_at_once_and_readable_by_others(t):
    loop = finished(t)
    with open(loop.path("ringfence.prom"), "w", encoding="utf-8") as file:
        file.write("old")
    before = os.stat(loop.path("ringfence.prom")).st_ino
    written = loop.ringfence("metrics", "--textfile", "ringfence.prom")
    equal((written.code, written.out), (0, ""), "exit status and output", written)
    info = os.stat(loop.path("ringfence.prom"))
    expect(info.st_ino != before, "another file with the same name")
    equal(stat.S_IMODE(info.st_mode), 0o644, "mode")
    with open(loop.path("ringfence.prom"), encoding="utf-8") as file:
        text = file.read()
    contains(text, 'ringfence_loops{status="completed"} 1\n', "the metrics")
    expect(any(line.startswith("ringfence_loop_cost_usd_total{") and line.endswith("} 1") for line in text.splitlines()), "the cost", text)
    names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    equal(len(names), len(set(names)), "metrics with one head each")
    samples = [line.partition("{")[0].split()[0] for line in text.splitlines() if not line.startswith("#")]
    equal(set(samples) - set(names), set(), "samples without a head")
    equal([line for line in os.listdir(loop.project) if line.startswith(".ringfence.prom")], [], "temporary files")


@cases(("--newest", "0"), ("--newest", "x"))
def test_a_wrong_number_of_loops_is_refused(t, option, value):
    result = t.run([t.ringfence, "metrics", option, value])
    equal(result.code, 125, "exit status", result)
    contains(result.err, option, "the reason")


def test_the_dashboard_and_the_rules_use_metrics_that_exist(t):
    loop = finished(t)
    text = loop.ringfence("metrics").out
    names = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")}
    for file in ("grafana-dashboard.json", "alerts.yml"):
        with open(os.path.join(MONITORING, file), encoding="utf-8") as stream:
            content = stream.read()
        used = {word for word in "".join(letter if letter.isalnum() or letter == "_" else " " for letter in content).split()
                if word.startswith("ringfence_")}
        expect(used, "metrics", file)
        equal(used - names, set(), f"metrics that do not exist in {file}")
    with open(os.path.join(MONITORING, "grafana-dashboard.json"), encoding="utf-8") as stream:
        expect(json.load(stream)["panels"], "panels")


@needs("promtool")
def test_promtool_accepts_the_metrics_and_the_rules(t):
    loop = finished(t)
    loop.write("metrics.prom", loop.ringfence("metrics").out)
    for file in (os.path.join(MONITORING, "alerts.yml"), os.path.join(HERE, "alerts_test.yml")):
        shutil.copy(file, loop.project)
    checked = t.run(["sh", "-c", "promtool check metrics <metrics.prom"], cwd=loop.project)
    equal((checked.code, checked.err), (0, ""), "promtool check metrics", checked)
    for words in (["check", "rules", "alerts.yml"], ["test", "rules", "alerts_test.yml"]):
        checked = t.run(["promtool", *words], cwd=loop.project)
        equal(checked.code, 0, f"promtool {words[0]} rules", checked)
        contains(checked.out, "SUCCESS", "the answer")


@cases(("seq 1 100", "  | 71\n", "  | 70\n", "  | 100\n"),
       ("printf '%05000d' 0; printf '\\303\\244%03999d\\n' 7", "  | 000", "\ufffd", "0007\n"))
def test_the_last_words_of_a_script_that_prints_much_are_its_last_lines(t, script, first, before, last):
    loop = Loop(t, scripts={"1": f"{script}; edit done yes"})
    equal(loop.run().code, 0, "exit status")
    said = loop.ringfence("report").out.partition("The agent's last words:\n")[2].partition("  agent  ")[0]
    contains(said, first, "the first of them")
    contains(said, last, "the last of them")
    lacks(said, before, "what comes before")
