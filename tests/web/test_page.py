"""The web page in a real browser, with the real server and loops of the scripted agent."""

import contextlib
import json
import os
import sqlite3

from harness import cases, contains, equal, expect, timeout
from harness.batch import Batch, task
from harness.browser import DESKTOP, PHONE, Browser
from harness.forged import repeat_iteration
from harness.gitrepo import Repository
from harness.loop import Loop, LoopInPlace

ANY_IDENTITY = "A page is the same for every user, and Chromium's own sandbox works only for plain users."

EVENTS = ("--agent-format", "events")
WEIGHT = 150_000
FAR = "() => innerHeight + scrollY < document.documentElement.scrollHeight - 200"
AT_END = "() => innerHeight + scrollY > document.documentElement.scrollHeight - 100"
TABS = ("", "iterations", "iterations/1", "transcript", "changes", "work")
# A text in which everything is that a page could mistake for something else.
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> &lt;b&gt; \u202egnp.exe \u200b\ufeff {{7*7}} ${7*7} javascript:alert(3)"
SHOWN = "<script>alert(1)</script><img src=x onerror=alert(2)> &lt;b&gt; \\u{202e}gnp.exe \\u{200b}\\u{feff} {{7*7}} ${7*7} javascript:alert(3)"


def event(kind, **of):
    """A line of an agent's script that prints an event."""
    return "printf '%s\\n' '" + json.dumps({"type": kind, **of}, ensure_ascii=False).replace("'", "'\\''") + "'\n"


WORK = (event("thinking", text="The order of the operands matters.") + event("tool", name="shell", target="make check")
        + event("tool_result", ok=False, text="2 tests fail") + event("tool", name="edit", target="a.c")
        + event("tool_result", text="done") + event("file", target="a.c") + event("text", text="I fixed the operands."))


def place(loop, tab="", **query):
    words = "&".join(f"{name}={value}" for name, value in query.items())
    return f"#/loops/{loop.ident}{'/' + tab if tab else ''}{'?' + words if words else ''}"


def ended(t, *words, **files):
    """A loop that has ended, in a draft."""
    loop = Loop(t, scripts={"1": WORK + "edit a.c 'int a;'; edit done yes"}, **files)
    result = loop.run(*EVENTS, *words)
    equal(result.code, 0, "exit status of the loop", result)
    loop.ident = loop.status()["id"]
    return loop


def test_a_loop_appears_in_the_overview_and_its_page_follows_it_live(t):
    loop = LoopInPlace(t, scripts={"1": event("tool", name="shell", target="make check") + "meet go\nedit done yes"})
    with Browser(t) as page:
        page.see("h1", "No loops yet")
        loop.detach(*EVENTS)
        page.see("h1", "All is well")
        page.see(".loops .status-word", "running")
        page.click(".loops a", "make it")
        page.see("h1", "make it")
        page.see(".now-part code", "make check")
        page.see(".figures", "1 of 20")
        loop.write("go")
        page.see(".pill", "completed")
        page.see(".figures", "1 of 1")
        page.gone(".now-part")
        page.click(".brand")
        page.see(".loops .status-word", "completed")


def test_a_transcript_is_followed_at_its_end_and_stays_put_elsewhere(t):
    more = "".join(event("text", text=f"later {i}") for i in range(30))
    loop = LoopInPlace(t, scripts={"1": "for i in $(seq 700); do event text '\"text\": \"entry '$i'\"'; done\nmeet go\n"
                                   + more + "meet again\n" + event("text", text="the last one") + "meet end; edit done yes"})
    loop.detach(*EVENTS)
    with Browser(t) as page:
        loop.heard("entry 700")
        page.go(place(loop, "transcript"))
        page.see(".entry", "entry 700")
        page.until(AT_END)
        loop.write("go")
        page.see(".entry", "later 29")
        page.until(AT_END)
        expect(page.count(".entry") < 700, "only a part of the log is on the page", page.count(".entry"))
        page.run("() => scrollTo(0, document.documentElement.scrollHeight / 2)")
        page.until(FAR)
        top = page.run("() => [scrollY, document.elementFromPoint(200, 400).innerText]")
        loop.write("again")
        page.see("button", "New entries")
        equal(page.run("() => [scrollY, document.elementFromPoint(200, 400).innerText]"), top, "the position of the reader")
        page.press("g")
        page.see(".entry", "entry 1")
        page.press("G")
        page.see(".entry", "the last one")
        page.until(AT_END)
        loop.write("end")
        page.see("h1", "make it")
    loop.ended("completed")


def test_reading_up_loads_what_came_before(t):
    loop = LoopInPlace(t, scripts={"1": "for i in $(seq 1500); do event text '\"text\": \"entry '$i' of many\"'; done; edit done yes"})
    loop.run(*EVENTS)
    loop.ident = loop.status()["id"]
    with Browser(t) as page:
        page.go(place(loop, "transcript", iteration=1))
        page.see(".entry", "entry 1500 of many")
        for number in (1200, 800, 400, 1):
            page.until("""number => {
                const first = document.querySelector('.entry');
                scrollTo(0, Math.max(0, scrollY - 2000));
                return [...document.querySelectorAll('.entry')].some(each => each.innerText === `entry ${number} of many`);
            }""", number)
            expect(page.count(".entry") <= 800, "entries on the page", page.count(".entry"))
        page.until("""() => {
            scrollBy(0, 3000);
            return [...document.querySelectorAll('.entry')].some(each => each.innerText === 'entry 1500 of many');
        }""")
        numbers = page.run("() => [...document.querySelectorAll('.entry.message')].map(each => Number(each.innerText.split(' ')[1]))")
        equal(numbers, list(range(numbers[0], 1501)), "the entries, in order and without gaps")


def test_a_search_finds_text_that_is_not_on_the_page_and_unfolds_it(t):
    script = (event("tool", name="shell", target="ls") + event("tool_result", text="a needle in the haystack")
              + "for i in $(seq 900); do event text '\"text\": \"entry '$i'\"'; done; edit done yes")
    loop = LoopInPlace(t, scripts={"1": script})
    loop.run(*EVENTS)
    loop.ident = loop.status()["id"]
    with Browser(t) as page:
        page.go(place(loop, "transcript", iteration=1))
        page.see(".entry", "entry 900")
        page.press("/")
        page.fill("#search", "NEEDLE")
        page.click("[aria-label='Previous match']")
        page.see("mark", "needle")
        equal(page.text(".hit mark"), "needle", "the text that is marked")
        page.press("N")
        page.see(".found", "no more before this")
        page.fill("#search", "no such words")
        page.click("[aria-label='Next match']")
        page.see(".found", "not found")


def test_actions_ask_and_the_loop_obeys(t):
    loop = LoopInPlace(t, scripts={"1": "meet go", "2": "hang"})
    loop.detach()
    with Browser(t) as page:
        page.go(place(loop))
        page.click("button", "Tell")
        page.fill("#action-text", "Use the new\nfunctions <b>")
        page.click("dialog button", "Send")
        page.see("#notice", "gets the message")
        page.see(".told", "functions <b>")
        page.click("button", "Pause")
        page.see("dialog .question", "Pause loop")
        page.click("dialog button", "Cancel")
        page.gone("dialog")
        page.click("button", "Pause")
        page.click("dialog button.primary", "Pause")
        page.see("#notice", "will pause")
        page.see(".state", "pausing after this iteration")
        loop.write("go")
        page.see(".pill", "paused")
        page.click("button", "Resume")
        page.click("dialog button.primary", "Resume")
        page.see(".pill", "running")
        page.click("button", "Abort")
        page.see("dialog .question", "are ended")
        page.click("dialog label", "Kill all processes")
        page.see("dialog .question", "are killed")
        page.click("dialog button", "Abort")
        page.see(".pill", "aborted")
        page.click("button", "Remove")
        page.click("dialog button.danger", "Remove")
        page.see("h1", "This loop was removed")
    expect(not os.path.exists(loop.folder), "the loop is gone", loop.folder)


def test_a_loop_rolls_back_to_a_chosen_checkpoint(t):
    loop = LoopInPlace(t, scripts={"1": "edit a one", "2": "edit a two; edit done yes"})
    loop.run()
    loop.ident = loop.status()["id"]
    with Browser(t) as page:
        page.go(place(loop))
        page.click("button", "Roll back")
        page.see("#action-checkpoint")
        page.run("""() => {
            const box = document.getElementById('action-checkpoint');
            box.value = [...box.options].find(each => each.innerText.includes('iteration 1')).value;
            box.dispatchEvent(new Event('change', {bubbles: true}));
        }""")
        page.click("dialog button", "Continue")
        page.see("dialog .question")
        page.click("dialog button.danger", "Roll back")
        page.see("#notice", "rolled back")
    equal(loop.outcome("a"), "one\n", "the file")


def test_a_blocked_agent_is_answered(t):
    loop = LoopInPlace(t, scripts={"all": "if [ -e key ]; then edit done yes; else say '<blocked>Make a <i>key</i></blocked>'; fi"})
    loop.run()
    loop.ident = loop.status()["id"]
    with Browser(t) as page:
        page.see("h1", "One thing needs you")
        page.see(".loops .needs", "Make a <i>key</i>")
        page.press("j", "Enter")
        page.see(".needs-part blockquote", "Make a <i>key</i>")
        page.click(".needs-part button", "Answer")
        loop.write("key")
        page.fill("#action-text", "It is there now")
        page.press("Control+Enter")
        page.see("#notice", "continues")
        page.see(".pill", "completed")
    loop.ended("completed")


def test_findings_are_shown_and_accepted(t):
    loop = Loop(t, scripts={"1": "sed -i 's/== 19/== 20/' test_tax.py; edit done yes"})
    loop.write("test_tax.py", "def test_tax():\n    assert tax(100) == 19\n")
    equal(loop.run("-m", "1").code, 3, "exit status of a loop that pauses")
    loop.ident = loop.status()["id"]
    with Browser(t) as page:
        page.click(".loops .needs a")
        page.see(".findings li", "an expected value was changed")
        page.see(".findings code", "test_tax.py:2")
        page.click(".needs-part button", "Accept findings")
        page.see("dialog .items code", "test_tax.py")
        page.click("dialog button.primary", "Accept findings")
        page.see("#notice", "continues")
        page.see(".pill", "completed")
    loop.ended("completed")


def test_groups_of_files_are_applied_each_by_a_choice(t):
    loop = Loop(t, scripts={"1": "mkdir -p .github/workflows; edit .github/workflows/ci.yml 'on: push'; edit a.txt hello; edit done yes"})
    loop.run()
    loop.ident = loop.status()["id"]
    with Browser(t) as page:
        page.go(place(loop))
        page.see(".needs-part", "The result is ready")
        page.click(".needs-part button", "Apply")
        page.see(".group", "run in CI")
        page.see(".group.needs code", ".github/workflows/ci.yml")
        page.click(".group label", "run in CI")
        page.click("dialog button.primary", "Apply the chosen groups")
        page.see("#notice", "applied")
    equal(t.read(loop.path("a.txt")), "hello\n", "the file of the group that was chosen")
    expect(not os.path.exists(loop.path(".github")), "the file of the other group stays where it is")


def test_a_question_comes_again_if_its_subject_has_changed(t):
    loop = Loop(t, scripts={"1": "edit a.txt hello", "2": "edit a.txt more; edit done yes"})
    loop.run("-m", "1")
    loop.ident = loop.status()["id"]
    with Browser(t) as page:
        page.go(place(loop))
        page.click(".actions button", "Apply")
        page.see(".group")
        result = loop.ringfence("resume", "--follow", "--max-iterations", "2")
        equal(result.code, 0, "exit status of resume", result)
        page.click("dialog button.primary", "Apply")
        page.see("dialog [role=alert]", "Something has changed")
        expect(not os.path.exists(loop.path("a.txt")), "nothing was applied")
        page.click("dialog button.primary", "Apply")
        page.see("#notice", "applied")
    equal(t.read(loop.path("a.txt")), "more\n", "the file that was shown")


def test_a_conflict_with_an_edit_of_the_user_is_told(t):
    loop = Loop(t, scripts={"1": "edit a.txt hello; edit done yes"})
    loop.run()
    loop.ident = loop.status()["id"]
    loop.write("a.txt", "of the user\n")
    with Browser(t) as page:
        page.go(place(loop))
        page.click(".actions button", "Apply")
        page.see("dialog [role=alert] li", "a.txt")
        page.click("dialog button", "Close")
        page.gone("dialog")
    equal(t.read(loop.path("a.txt")), "of the user\n", "the user's file")


def test_a_page_reconnects_after_a_restart_of_the_server_and_shows_the_present(t):
    loop = LoopInPlace(t, scripts={"1": "meet go; edit done yes"})
    loop.detach()
    with Browser(t) as page:
        page.go(place(loop))
        page.see(".pill", "running")
        page.run("() => { window.sameDocument = true; }")
        page.away = True
        page.server.stop()
        page.see("#connection", "connection lost, retrying")
        loop.write("go")
        loop.ended("completed")
        page.server.start()
        page.see("#connection", "live")
        page.see(".pill", "completed")
        page.see(".figures", "1 of 1")
        expect(page.run("() => window.sameDocument"), "the page was not loaded again")


def test_ten_thousand_iterations_are_a_few_rows_and_a_hundred_bars(t):
    loop = Loop(t)
    loop.run("-m", "3", check="false")
    loop.ident = loop.status()["id"]
    repeat_iteration(loop.folder, 10000)
    with Browser(t) as page:
        page.go(place(loop))
        page.until("() => document.querySelectorAll('.plot g').length")
        expect(page.count(".plot g") <= 400, "bars of four plots", page.count(".plot g"))
        page.see(".plot .note", "average of")
        page.press("2")
        page.see("h2", "10,001")
        page.see(".iterations .stretch", "10,000")
        page.press("G")
        page.until("() => [...document.querySelectorAll('.iterations .stretch')].some(each => each.innerText === 'start')")
        for at in (0.2, 0.9, 0.5):
            page.run("at => scrollTo(0, document.documentElement.scrollHeight * at)", at)
            page.until("""() => [...document.querySelectorAll('.iterations .list-body .row')]
                .some(row => row.getBoundingClientRect().top > 300 && row.getBoundingClientRect().top < 600 && /go on/.test(row.innerText))""")
            expect(page.count(".iterations .row") < 100, "rows on the page", page.count(".iterations .row"))
        page.press("g")
        page.see(".iterations .stretch", "10,000")
        page.press("j", "Enter")
        page.see("h2", "Iteration 10000")


def test_hostile_texts_are_shown_and_do_nothing(t):
    name = HOSTILE.replace("/", "_")
    script = (event("thinking", text=HOSTILE) + event("text", text=HOSTILE) + event("tool", name=HOSTILE, target=HOSTILE)
              + event("tool_result", ok=False, text=HOSTILE) + event("file", target=HOSTILE) + event("error", text=HOSTILE)
              + event("text", text="x" * 50000) + "printf '\\033[31mred\\033[0m \\007\\n'\n"
              + f"cat >'{name}' <<'END'\n{HOSTILE}\n{'y' * 1000000}\nEND\nedit done yes\n")
    loop = Loop(t, name="project <i>", scripts={"1": script})
    result = loop.ringfence("run", HOSTILE, "--agent-command", "sh agent.sh", "--check", f"test -f done # {HOSTILE}", *EVENTS)
    equal(result.code, 0, "exit status of the loop", result)
    loop.ident = loop.status()["id"]
    with Browser(t) as page:
        page.see(".loops a", SHOWN)
        for tab in TABS:
            page.go(place(loop, tab))
            page.see("h1", SHOWN)
            page.gone("main", "Reading")
        page.go(place(loop, "changes"))
        page.see(".file-link", SHOWN.replace("/", "_"))
        page.see(".diff-line.add", SHOWN)
        page.see(".diff-line em", "more characters")
        page.go(place(loop, "transcript", iteration=1))
        page.see(".entry.message", SHOWN)
        for fold in range(page.count(".entry details")):
            page.run("at => { document.querySelectorAll('.entry details')[at].open = true; }", fold)
        page.see(".entry pre.log", SHOWN)
        page.see(".entry button", "Show all")
        text = page.text("main")
        expect(not set(text) & set("\x1b\x07\u202e\u200b\ufeff"), "no control character is on the page", text)
        equal(page.run("() => document.querySelectorAll('main script, main img, main b, main i:not(.swatch), [onerror]').length"), 0, "elements that the texts made")
        equal(page.run("() => document.documentElement.scrollWidth > innerWidth"), False, "the page is wider than its window")


def test_a_damaged_loop_says_so_and_is_removed(t):
    loop = ended(t)
    with contextlib.closing(sqlite3.connect(os.path.join(loop.folder, "journal.db"))) as store:
        store.execute("UPDATE event SET data = '{}' WHERE seq = 3")
        store.commit()
    with Browser(t) as page:
        page.see("h1", "One thing needs you")
        page.go(place(loop))
        page.see(".pill", "damaged")
        page.see(".reason", "the journal is damaged")
        page.click("button", "Remove")
        page.click("dialog button.danger", "Remove")
        page.see("#notice", "was removed")
    expect(not os.path.exists(loop.folder), "the loop is gone", loop.folder)


def test_everything_is_reached_by_keys_alone(t):
    loop = ended(t)
    with Browser(t) as page:
        page.see(".loops a")
        page.press("Tab")
        equal(page.run("() => document.activeElement.innerText"), "Skip to the content", "the first stop")
        page.press("Enter")
        equal(page.run("() => document.activeElement.id"), "main", "where it leads")
        page.press("?")
        page.see("dialog h2", "Keys")
        page.press("Escape")
        page.gone("dialog")
        page.press("/")
        equal(page.run("() => document.activeElement.id"), "filter", "the filter")
        page.press("z", "z")
        page.see("p", "No loop matches")
        page.press("Backspace", "Backspace", "Escape")
        page.see(".loops a")
        page.press("j", "Enter")
        page.see(".pill", "completed")
        for key, part in (("2", ".iterations .row"), ("3", ".entry"), ("4", ".file"), ("5", ".tools"), ("1", ".plots")):
            page.press(key)
            page.see(part)
        page.until("() => { document.querySelector('[data-action=apply]').focus(); return document.activeElement.matches('[data-action=apply]'); }")
        page.press("Enter")
        page.see(".group")
        page.until("() => document.activeElement.matches('dialog .primary')")
        page.press("Enter")
        page.see("#notice", "applied")
        page.press("o")
        page.see("h1", "Nothing is running")
    equal(t.read(loop.path("a.c")), "int a;\n", "the file that was applied")


def test_a_dialog_that_is_opened_again_at_once_is_not_emptied(t):
    with Browser(t) as page:
        page.see("h1", "No loops yet")
        page.press("?")
        page.see("dialog h2", "Keys")
        # The event of the first closing comes after the second opening.
        page.run("""() => {
            document.querySelector('dialog .primary').click();
            document.getElementById('keys').click();
        }""")
        page.run("() => new Promise((done) => setTimeout(() => requestAnimationFrame(done)))")
        equal(page.text("dialog h2"), "Keys", "the title of the dialog")


def test_reload_back_and_links_keep_the_place(t):
    loop = ended(t)
    with Browser(t) as page:
        page.click(".loops a")
        page.click(".tabs a", "Transcript")
        page.see(".entry", "I fixed the operands.")
        page.ask("reload")
        page.see(".entry", "I fixed the operands.")
        page.run("() => history.back()")
        page.see(".plots")
        page.run("() => history.back()")
        page.see(".loops a")
        page.go(place(loop, "transcript", iteration=1, log="check-1.stdout"))
        page.see("main", "This log is empty.")
        page.go("#/loops/20200101-000000-none")
        page.see("h1", "There is no such loop")
        page.go("#/nothing/here?%%%")
        page.see(".loops a")


def test_the_timeline_tells_the_tool_calls_of_an_iteration(t):
    loop = ended(t)
    with Browser(t) as page:
        page.go(place(loop, "iterations/1"))
        page.see(".timeline li")
        steps = page.run("() => [...document.querySelectorAll('.timeline li')].map(each => each.innerText.replace(/\\s+/g, ' ').trim())")
        equal([step for step in steps if step.startswith(("shell", "edit", "changed"))], ["shell make check failed", "edit a.c", "changed a.c"], "the steps")
        page.click(".timeline a", "shell")
        page.see(".entry.call code", "make check")


def test_a_work_list_shows_its_tasks_and_leads_to_their_loops(t):
    batch = Batch(t, task("Make <i>one</i>", "echo 1 >one") + task("Make two", "exit 1"))
    Repository(t, batch.project).commit()
    batch.run(code=1)
    with Browser(t) as page:
        page.see(".loops .under", "1 of 2 tasks landed")
        equal(page.count(".loops .list-body .row"), 1, "rows: the work list stands for its loops")
        page.click(".loops a", "Work list")
        page.see(".pill", "failed")
        page.see(".task", "landed")
        page.see(".task .warn")
        equal(page.count(".task .warn"), 1, "warnings: a task that has landed is none")
        equal(page.ask("axe"), [], "breaches of accessibility")
        page.click(".task a", "Make <i>one</i>")
        page.see(".pill", "completed")
        page.click(".sub a", "its work list")
        page.see(".tasks")


def test_a_large_difference_is_read_when_it_is_asked_for(t):
    loop = Loop(t, scripts={"1": "seq 5000 >large; edit small text; edit done yes"})
    loop.run()
    loop.ident = loop.status()["id"]
    with Browser(t) as page:
        page.go(place(loop, "changes"))
        page.see(".diff-line.add", "text")
        page.see(".file", "large")
        expect(not any("large" in each for each in page.ask("requests") if "/diff" in each), "the large one was not read")
        page.click("button", "Show 5,000 changed lines")
        page.see("button", "more lines")
        expect(page.count(".diff-line") < 1000, "lines on the page", page.count(".diff-line"))
        page.click("button", "more lines")
        page.see(".diff-line.add", "5000")


@cases("light", "dark")
@timeout(240)
def test_no_view_breaks_a_rule_of_accessibility(t, scheme):
    loop = ended(t)
    with Browser(t, dark=scheme == "dark") as page:
        page.see(".loops a")
        found = {"overview": page.ask("axe")}
        for tab in TABS:
            page.go(place(loop, tab))
            page.see(".tab > *")
            page.gone("main", "Reading")
            found[tab] = page.ask("axe")
        page.click("[data-action=apply]")
        page.see(".group")
        found["apply"] = page.ask("axe")
        page.press("Escape", "?")
        page.see("dialog h2", "Keys")
        found["keys"] = page.ask("axe")
    equal({view: rules for view, rules in found.items() if rules}, {}, "breaches, by view")


@cases(PHONE, DESKTOP)
def test_no_view_is_wider_than_its_window(t, *size):
    loop = ended(t, objective="x")
    with Browser(t, size=size) as page:
        for spot in ("#/", *(place(loop, tab) for tab in TABS)):
            page.go(spot)
            page.see("main .page")
            page.gone("main", "Reading")
            equal(page.run("() => document.documentElement.scrollWidth"), size[0], f"the width of {spot}")
        page.go(place(loop))
        page.click("[data-action=apply]")
        page.see(".group")
        equal(page.run("() => document.querySelector('dialog').scrollWidth <= innerWidth"), True, "the dialog fits")


def test_the_page_is_light_and_its_policy_is_strict(t):
    with Browser(t) as page:
        page.see("h1", "No loops yet")
        loaded = page.run("() => performance.getEntriesByType('resource').filter(each => !/api/.test(each.name)).map(each => [new URL(each.name).pathname, each.decodedBodySize])")
        names = {name for name, _ in loaded}
        expect({"/style.css", "/app.js", "/loop.js"} <= names, "the files of the page", names)
        total = sum(size for _, size in loaded) + page.run("() => performance.getEntriesByType('navigation')[0].decodedBodySize")
        expect(WEIGHT / 2 < total < WEIGHT, "the bytes of the page", total)
        refused = page.run("""() => {
            const answers = [];
            const attempt = (name, act) => { try { act(); } catch (error) { answers.push(name); } };
            attempt('eval', () => window['ev' + 'al']('1'));
            attempt('innerHTML', () => { document.createElement('p').innerHTML = '<b>'; });
            return answers;
        }""")
        contains(refused, "innerHTML", "what the policy refuses")
        page.ask("faults")


def test_a_browser_stays_signed_in_whatever_a_link_says(t):
    with Browser(t) as page:
        page.see("#connection", "live")
        equal(page.run("() => location.href"), f"{page.server.origin}#/", "the address, without the key of the link")
        page.away = True  # a wrong key gets 401
        page.ask("goto", url="about:blank")
        page.ask("goto", url=f"{page.server.origin}#key={'0' * 64}")
        page.see("#connection", "live")
        equal(page.run("() => location.href"), f"{page.server.origin}#/", "the address, without the key of another link")


def test_a_browser_that_has_the_cookie_alone_is_told_how_to_sign_in(t):
    """As every server of this host gets it."""
    with Browser(t) as page:
        page.see("#connection", "live")
        page.away = True
        page.run("() => localStorage.clear()")
        page.ask("goto", url="about:blank")
        page.ask("goto", url=page.server.origin)
        page.see("h1", "This browser is not signed in")


def test_a_browser_without_its_cookie_is_told_how_to_sign_in(t):
    with Browser(t) as page:
        page.see("#connection", "live")
        page.away = True
        page.ask("forget")
        page.server.stop()
        page.see("#connection", "connection lost")
        page.server.start()
        page.see("h1", "This browser is not signed in")
        page.see("pre", "ringfence serve --link")
        page.ask("faults")
