"""Notifications: what people are told about a loop or a batch, by which service, and what happens when it is away."""

import fcntl
import json
import os
import re
import signal

from fakes.chat import Chat
from harness import cases, contains, equal, expect, lacks
from harness.batch import Batch
from harness.loop import Loop, kill, until
from harness.provider import Provider

ANY_IDENTITY = "A notifier has the rights of the user who started the loop."

SERVICES = ("slack", "discord", "ntfy", "telegram", "hook")
DONE = {"1": "edit done yes"}


class Phone:
    """A server with every service, whose addresses are secrets, and the words that name them to a loop."""

    def __init__(self, t):
        self.t = t
        self.chat = Chat()
        self.server = Provider(self.chat.answer)
        t.cleanups.append(self.server.close)
        self.secret = "s3cret-" + os.path.basename(t.outside)
        self.extra = {"RINGFENCE_NOTIFY_BACKOFF_MS": "1", "NO_PROXY": "127.0.0.1"}

    @property
    def env(self):
        return self.t.env(**self.extra)

    def target(self, service):
        """Puts the address into a file, and one into a variable; returns the option."""
        path = f"/bot{self.secret}" if service == "telegram" else f"/{service}/{self.secret}"
        address = os.path.join(self.t.outside, f"{service}.url")
        with open(address, "w", encoding="utf-8") as file:
            file.write(self.server.url + path + "\n")
        os.chmod(address, 0o644)
        self.extra[f"URL_{service.upper()}"] = self.server.url + path
        kind = "webhook" if service == "hook" else service
        source = f"env:URL_{service.upper()}" if service in ("discord", "hook") else f"file:{address}"
        return "--notify", f"telegram -1001 {source}" if service == "telegram" else f"{kind} {source}"

    def targets(self, *services):
        return [word for service in services or SERVICES for word in self.target(service)]

    def got(self, service, count=1):
        return until(f"{count} messages for {service}",
                     lambda: (texts := self.chat.texts(service)) and len(texts) >= count and texts)


def record(folder):
    try:
        with open(os.path.join(folder, "notify.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def idle(folder):
    """Waits until the notifier has nothing more to do."""
    until("the end of the notifier", lambda: record(folder).get("pending") is False and is_free(folder))


def is_free(folder):
    """Whether the notifier has ended: it holds its lock a little longer than it says that it has something to do."""
    with open(os.path.join(folder, "notify.lock"), "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def log(folder):
    with open(os.path.join(folder, "notify.log"), encoding="utf-8") as file:
        return file.read()


def notifiers(t):
    return [pid for pid in pids() if "notifier" in cmdline(pid)[1:2] and cmdline(pid)[2].startswith(t.state)]


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def kill_all(there):
    """Kills processes, and waits until they have let go of their locks: they are zombies, or gone."""
    for pid in there:
        kill(pid)
    until("the end of the notifier", lambda: all(has_ended(pid) for pid in there))


def has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError:
        return True


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
            return file.read().split("\0")
    except OSError:
        return [""]


def test_the_end_of_a_loop_reaches_every_service_once(t):
    phone = Phone(t)
    loop = Loop(t, scripts=DONE)
    result = loop.run(*phone.targets(), env=phone.env)
    equal(result.code, 0, "exit status", result)
    idle(loop.folder)
    equal(sorted(name for name, _, _ in phone.chat.got), sorted(SERVICES), "messages")
    equal(phone.chat.wrong, [], "requests that a service would refuse")
    for service in SERVICES:
        contains(phone.chat.texts(service)[0], "project: done")
        contains(phone.chat.texts(service)[0], "completed: every rule holds")


def test_secrets_are_in_no_file_and_in_no_command_line(t):
    """While requests hang, so that every process is there to be looked at."""
    phone = Phone(t)
    phone.chat.trouble = ["hang"]
    loop = Loop(t, scripts=DONE)
    loop.detach(*phone.targets("slack"), "--alert", "heartbeat off", env=phone.env)
    until("a request that hangs", lambda: phone.chat.held)
    seen = " ".join(word for pid in pids() for word in cmdline(pid))
    contains(seen, "notifier", "the command lines")
    lacks(seen, phone.secret, "the command lines")
    loop.ended("completed")
    for place, _, names in os.walk(t.state):
        for name in names:
            path = os.path.join(place, name)
            if os.path.isfile(path) and os.access(path, os.R_OK):
                with open(path, "rb") as file:
                    lacks(file.read().decode("latin-1"), phone.secret, path)
    shown = loop.ringfence("notify", *phone.targets("slack"), env=phone.env)
    contains(shown.out, "slack file:/", "the targets")
    lacks(shown.out, phone.secret, "the targets")


def test_a_message_waits_for_a_server_that_is_away(t):
    """It comes with the same id, once."""
    phone = Phone(t)
    phone.chat.trouble = ["down", "limit", "down"]
    loop = Loop(t, scripts=DONE)
    equal(loop.run(*phone.targets("hook"), env=phone.env).code, 0, "exit status")
    idle(loop.folder)
    equal((phone.chat.tries, len(phone.chat.got)), (4, 1), "tries, and messages")
    equal(phone.chat.got[0][2].startswith(os.path.basename(loop.folder)), True, "the id of the delivery")
    contains(log(loop.folder), "is tried again: the server answered with HTTP status 503")
    contains(log(loop.folder), ": sent ")


@cases(("gone", "HTTP status 404", 1), ("down", "HTTP status 503", 15))
def test_what_cannot_be_delivered_is_given_up_with_a_warning(t, trouble, why, tries):
    phone = Phone(t)
    phone.chat.trouble = [trouble] * 20
    loop = Loop(t, scripts=DONE)
    equal(loop.run(*phone.targets("slack"), env=phone.env).code, 0, "exit status")
    idle(loop.folder)
    equal((phone.chat.tries, phone.chat.got), (tries, []), "tries, and messages")
    contains(log(loop.folder), "warning: slack ")
    contains(log(loop.folder), f"gave up {os.path.basename(loop.folder)}")
    contains(log(loop.folder), why)


def test_a_slow_server_does_not_delay_the_loop(t):
    phone = Phone(t)
    phone.chat.trouble = ["hang"] * 9
    loop = Loop(t, scripts={"1": "event tool; event tool; meet /tmp/hung", "2": "edit done yes"})
    loop.write("script/1", "event tool; event tool; edit told 1")
    result = loop.run("--agent-format", "events", "--alert", "tool-calls 1", *phone.targets("hook"), env=phone.env)
    equal(result.code, 0, "exit status", result)
    until("the request that hangs", lambda: phone.chat.held)
    equal(loop.status()["status"], "completed", "the loop")
    equal(phone.chat.got, [], "messages so far")


def test_a_notifier_that_is_killed_delivers_the_same_message_again(t):
    phone = Phone(t)
    phone.chat.trouble = ["hang"]
    loop = Loop(t, scripts=DONE)
    loop.detach(*phone.targets("hook"), env=phone.env)
    loop.ended("completed")
    until("the request that hangs", lambda: phone.chat.held)
    kill_all(notifiers(t))
    equal(record(loop.folder)["pending"], True, "something is pending")
    equal(loop.ringfence("notify", env=phone.env).code, 0, "exit status of notify")
    contains(phone.got("hook")[0], "completed: every rule holds")
    idle(loop.folder)
    equal(len(phone.chat.got), 1, "messages")


def test_a_supervisor_replaces_a_notifier_that_was_killed(t):
    phone = Phone(t)
    loop = Loop(t, scripts={"1": "meet go", "2": "edit done yes"}, workspace="in-place")
    loop.detach(*phone.targets("hook"), env=phone.env)
    until("the notifier", lambda: record(loop.folder).get("pending"))
    first = until("the notifier's process", lambda: notifiers(t))
    kill_all(first)
    loop.write("go")
    loop.ended("completed")
    contains(phone.got("hook")[0], "completed: every rule holds")


def test_a_log_that_is_too_long_begins_again(t):
    phone = Phone(t)
    loop = Loop(t, scripts=DONE)
    equal(loop.run(*phone.targets("hook"), env=phone.env).code, 0, "exit status")
    idle(loop.folder)
    with open(os.path.join(loop.folder, "notify.log"), "a", encoding="utf-8") as file:
        file.write("x" * (1 << 21) + "\n")
    os.unlink(os.path.join(loop.folder, "notify.json"))
    equal(loop.ringfence("notifier", loop.folder, env=phone.env).code, 0, "exit status of the notifier")
    contains(log(loop.folder), ": sent ")
    lacks(log(loop.folder), "x" * 100, "the log")


def test_only_the_wanted_events_are_told(t):
    phone = Phone(t)
    loop = Loop(t, scripts={"1": "event tool; event tool; edit done yes"})
    result = loop.run("--agent-format", "events", "--alert", "tool-calls 1", "--notify-on", "alert", *phone.targets("hook"), env=phone.env)
    equal(result.code, 0, "exit status", result)
    idle(loop.folder)
    equal(len(phone.chat.got), 1, "messages")
    contains(phone.chat.got[0][1], "more than 1 tool calls in this iteration")


def test_hostile_words_of_an_agent_mention_nobody(t):
    phone = Phone(t)
    words = "<!channel> @everyone [x](http://a.example) <b>bold</b>\\n Title: evil \\033[31m"
    loop = Loop(t, scripts={"1": f"printf '<blocked>{words}</blocked>\\n'"})
    equal(loop.run(*phone.targets(), env=phone.env).code, 3, "exit status")
    idle(loop.folder)
    equal((phone.chat.wrong, len(phone.chat.got)), ([], len(SERVICES)), "refused requests, and messages")
    for service, text, _ in phone.chat.got:
        contains(text, "@everyone", service)
        lacks(text, "\033", service)


def stand_in(t, name, script):
    """A program that stands in for one of the system; returns the folder for PATH."""
    folder = os.path.join(t.outside, "bin")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + script)
    os.chmod(os.path.join(folder, name), 0o755)
    return folder


def test_mail_desktop_and_a_command_get_the_news(t):
    out = os.path.join(t.outside, "out")
    os.mkdir(out)
    os.chmod(out, 0o777)
    for name in ("sendmail", "notify-send", "tell"):
        folder = stand_in(t, name, f'{{ printf "%s\\n" "$@"; cat; }} >{out}/{name}.new && mv {out}/{name}.new {out}/{name}\n')
    loop = Loop(t, scripts=DONE)
    env = t.env(PATH=folder + ":" + os.environ["PATH"], DBUS_SESSION_BUS_ADDRESS="unix:path=/nowhere")
    result = loop.run("--notify", "mail me@example.org", "--notify", "desktop", "--notify", "command tell now", env=env)
    equal(result.code, 0, "exit status", result)
    idle(loop.folder)
    def heard(name):
        with open(os.path.join(out, name), encoding="utf-8") as file:
            return file.read()
    contains(heard("sendmail"), "-i\n--\nme@example.org\nTo: me@example.org\nSubject: project: done\n")
    contains(heard("sendmail"), "completed: every rule holds")
    contains(heard("notify-send"), "--app-name=Ringfence\n--urgency=normal\n--\nproject: done\ncompleted: every rule holds")
    contains(heard("tell"), "now\n{")
    equal(json.loads(heard("tell").split("\n", 1)[1])["event"], "done", "what the command got")


def test_a_command_runs_in_the_root_folder_and_may_fail(t):
    """Also in a test from the project: a relative path must not lead to a file that an agent has made."""
    out = os.path.join(t.outside, "out")
    os.mkdir(out)
    os.chmod(out, 0o777)
    folder = stand_in(t, "where", f"pwd >{out}/where\n")
    stand_in(t, "dies", "kill -KILL $$\n")
    stand_in(t, "fails", "exit 3\n")
    env = t.env(PATH=folder + ":" + os.environ["PATH"])
    loop = Loop(t, scripts=DONE)
    result = loop.ringfence("notify", "--test", "--notify", "command where", "--notify", "command dies", "--notify", "command fails", env=env)
    equal(result.code, 1, "exit status", result)
    with open(os.path.join(out, "where"), encoding="utf-8") as file:
        equal(file.read(), "/\n", "where the command ran")
    contains(result.out, "'dies' was killed by a signal", "why the second has failed")
    contains(result.out, "'fails' ended with status 3", "why the third has failed")


def test_a_slow_target_does_not_hold_the_others_up(t):
    """The first target does not end before the second one has its message; one that waited in vain would fail."""
    meeting = os.path.join(t.outside, "meeting")
    os.mkfifo(meeting)
    os.chmod(meeting, 0o666)
    stand_in(t, "slow", f"cat {meeting}\n")
    folder = stand_in(t, "quick", f"echo >{meeting}\n")
    loop = Loop(t, scripts=DONE)
    env = t.env(PATH=folder + ":" + os.environ["PATH"])
    result = loop.run("--notify", "command slow", "--notify", "command quick", env=env)
    equal(result.code, 0, "exit status", result)
    idle(loop.folder)
    contains(log(loop.folder), "command slow: sent ", "the first one")
    contains(log(loop.folder), "command quick: sent ", "the second one")
    lacks(log(loop.folder), "is tried again", "and both at once")


def test_a_program_of_the_project_is_never_run(t):
    """An agent could change it, and it would run outside the fence."""
    loop = Loop(t, scripts=DONE)
    loop.write("tell.sh", "touch /tmp/escaped\n")
    for words in (f"command {loop.path('tell.sh')}", f"command sh {loop.path('tell.sh')}"):
        result = loop.run("--notify", words)
        equal(result.code, 125, "exit status", result)
        contains(result.err, "an agent can change '" + loop.path("tell.sh"))
    equal(loop.run("--notify", "command true").code, 0, "with a program elsewhere")


FORGERY = "#!/bin/sh\ntouch escaped\n"


def test_a_program_that_an_agent_puts_into_a_folder_of_path_is_never_run(t):
    """Neither instead of the user's, nor by a script of the user's that looks for another one."""
    told = os.path.join(t.outside, "told")
    open(told, "w", encoding="utf-8").close()
    os.chmod(told, 0o666)
    folder = stand_in(t, "tell", f"true && say >{told}\n")
    stand_in(t, "say", "echo news\n")
    loop = Loop(t, scripts={"1": "cp forgery bin/tell; cp forgery bin/say; edit done yes"}, workspace="in-place")
    loop.write("forgery", FORGERY.replace("escaped", loop.path("escaped")))
    os.chmod(loop.path("forgery"), 0o755)
    os.mkdir(loop.path("bin"))
    os.chmod(loop.path("bin"), 0o777)
    env = t.env(PATH=":".join([loop.path("bin"), folder, os.environ["PATH"]]))
    result = loop.run("--notify", "command tell", env=env)
    equal(result.code, 0, "exit status", result)
    idle(loop.folder)
    with open(told, encoding="utf-8") as file:
        equal(file.read(), "news\n", "what the user's program did")
    equal(os.access(loop.path("bin/tell"), os.X_OK), True, "the agent's program is there")
    equal(os.path.exists(loop.path("escaped")), False, "it ran")
    equal(loop.run("--notify", "command say", env=t.env(PATH=loop.path("bin") + ":/usr/bin:/bin")).code, 125, "a program of the project alone")


def test_a_program_in_another_folder_that_the_agent_may_write_to_is_refused(t):
    shared = os.path.join(t.outside, "shared")
    os.mkdir(shared)
    os.chmod(shared, 0o777)
    result = Loop(t, scripts=DONE).run("--write", shared, "--notify", f"command {shared}/tell")
    equal(result.code, 125, "exit status", result)
    contains(result.err, f"an agent can change '{shared}/tell'")


def test_a_project_cannot_notify_anybody_before_it_is_trusted(t):
    phone = Phone(t)
    loop = Loop(t, scripts=DONE)
    target = phone.targets("hook")[1]
    loop.write("ringfence.yml", f"notify: [\"{target}\"]\n")
    equal(loop.run(env=phone.env).code, 0, "exit status")
    equal(os.path.exists(os.path.join(loop.folder, "notify.json")), False, "a notifier")
    equal(loop.ringfence("trust", "--yes").code, 0, "exit status of trust")
    loop = Loop(t, scripts=DONE)
    equal(loop.run(env=phone.env).code, 0, "exit status after trust")
    contains(phone.got("hook")[0], "completed")


def test_a_test_message_shows_which_targets_work(t):
    phone = Phone(t)
    loop = Loop(t)
    words = [*phone.targets("slack", "hook"), "--notify", "ntfy file:/nowhere/ntfy"]
    result = loop.ringfence("notify", "--test", *words, env=phone.env)
    equal(result.code, 1, "exit status", result)
    expect(re.search(r"^slack file:\S+ +sent$", result.out, re.M), "slack got it", result)
    expect(re.search(r"^webhook env:URL_HOOK +sent$", result.out, re.M), "the webhook got it", result)
    expect(re.search(r"^ntfy file:/nowhere/ntfy +FAILED: read the key from '/nowhere/ntfy'", result.out, re.M), "ntfy failed", result)
    result = loop.ringfence("notify", "--test", "--json", *phone.targets("hook"), env=phone.env)
    equal(json.loads(result.out), {"targets": [{"target": "webhook env:URL_HOOK", "sent": True, "error": None}]}, "as JSON")
    equal(phone.chat.wrong, [], "requests that a service would refuse")
    contains(phone.chat.texts("slack")[0], "This is a test message")


def test_an_address_in_the_setting_itself_is_refused_and_not_shown(t):
    result = Loop(t).run("--notify", "slack https://hooks.example.org/s3cret")
    equal(result.code, 125, "exit status", result)
    contains(result.err, "takes its address or token from file:PATH or env:NAME")
    lacks(result.err, "s3cret")


def test_a_supervisor_that_gives_no_sign_of_life_is_told(t):
    phone = Phone(t)
    loop = Loop(t, scripts={"1": "meet go", "2": "edit done yes"}, workspace="in-place")
    loop.detach("--alert", "heartbeat 1s", *phone.targets("hook"), env=phone.env)
    pid = until("the agent at work", lambda: loop.said()["step"] == "agent" and loop.said()["supervisor_pid"])
    os.kill(pid, signal.SIGSTOP)
    contains(phone.got("hook")[0], "the supervisor has given no sign of life for more than 1s")
    os.kill(pid, signal.SIGCONT)
    loop.write("go")
    loop.ended("completed")


def test_a_work_list_tells_of_its_end_and_its_failures_but_not_of_each_task(t):
    phone = Phone(t)
    tasks = "".join(f"- [ ] Task {i} !(touch done{i})!\n" for i in range(6)) + "- [ ] Wrong !(exit 1)!\n"
    batch = Batch(t, tasks)
    batch.run("--jobs", "2", *phone.targets("hook"), code=1, env=phone.env)
    folder = os.path.join(t.state, "batches", batch.show()["id"])
    idle(folder)
    text = "\n".join(phone.chat.texts("hook"))
    contains(text, "6 of 7 tasks done, 1 failed")
    contains(text, "has failed: ")
    expect(len(phone.chat.got) <= 2, "two messages at most", phone.chat.got)
    equal([name for name in os.listdir(os.path.join(t.state, "loops")) if os.path.exists(os.path.join(t.state, "loops", name, "notify.json"))],
          [], "notifiers of single tasks")
