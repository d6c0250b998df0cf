"""ringfence-snapshot by itself, without a loop: quicker, and it can be killed at each of its fault points."""

import json
import os
import signal
import subprocess
import tempfile


class Snapshots:
    """The checkpoints of one folder."""

    def __init__(self, program, folder, project, ignored=True, env=None):
        self.program, self.project = program, os.fsdecode(project)
        self.store = os.path.join(folder, "snapshots", "test.git")
        self.loop, self.ignored, self.env = "loop", ignored, env
        self.out = self.err = b""

    def ask(self, work, fault=None, meanwhile=None, begin=None, **words):
        """Returns the exit status (-9: killed) and the answer. meanwhile: called at the fault point, instead of a kill;
        begin: called in the child, before it executes the program."""
        given = {"store": self.store, "project": self.project, "loop": self.loop, "ignored": int(self.ignored)}
        given.update(words)
        ends = os.pipe()
        env = dict(self.env or os.environ)
        if fault:
            env["RINGFENCE_SNAPSHOT_FAULT"] = f"{fault},stop" if meanwhile else str(fault)
        # Not with sh, whose descriptors have one digit.
        argv = ["bash", "-c", f'exec "$@" 3>&{ends[1]} {ends[1]}>&-', "-", self.program, work,
                *(f"{key.rstrip('_')}={value}" for key, value in given.items())]
        with tempfile.TemporaryFile() as said, subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                                stderr=said, pass_fds=[ends[1]], preexec_fn=begin) as process:
            os.close(ends[1])
            if meanwhile and os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code == os.CLD_STOPPED:
                meanwhile()
                process.send_signal(signal.SIGCONT)
            with open(ends[0], "rb") as stream:
                self.out = process.stdout.read()
                text = stream.read()
            process.wait()
            said.seek(0)
            self.err = said.read()
        return process.returncode, json.loads(text) if text else None

    def save(self, **words):
        code, answer = self.ask("save", kind=words.pop("kind", "start"), **words)
        assert code == 0, (code, answer, self.err)
        return answer

    def rollback(self, number, **words):
        code, answer = self.ask("rollback", from_=number, **words)
        assert code == 0, (code, answer, self.err)
        return answer

    def numbers(self):
        return [entry["number"] for entry in self.ask("list")[1]["checkpoints"]]
