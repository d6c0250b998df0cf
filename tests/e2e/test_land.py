"""ringfence land: a branch pushed, a request opened, CI waited for, and what went wrong fed back."""

import json
import os

from fakes.forge import FORGES, PASSWORD, TOKEN, USER, Job
from harness import cases, contains, equal, expect, lacks, needs
from harness.gitrepo import Repository
from harness.loop import Loop

ANY_IDENTITY = "A push and an API do not depend on the identity."

FORGE = ("github", "gitlab", "gitea")
DONE = {"1": "edit done yes; edit new one"}


class Place:
    """A project whose remote is a forge, with a loop that is completed."""

    def __init__(self, t, forge="github", scripts=None, run=(), code=0, **files):
        self.t = t
        self.forge = FORGES[forge](os.path.join(t.outside, "server"))
        t.cleanups.append(self.forge.close)
        self.loop = Loop(t, scripts=scripts or DONE)
        for name, text in files.items():
            self.loop.write(name, text)
        self.repo = Repository(t, self.loop.project)
        self.repo.commit("the first")
        self.repo.git("remote", "add", "origin", self.forge.url)
        t.at_home(".git-credentials", f"http://{USER}:{PASSWORD}@127.0.0.1:{self.forge.server.port}\n")
        t.at_home(".gitconfig", "[credential]\n\thelper = store\n")
        self.repo.git("push", "-q", "origin", "main")
        result = self.loop.run(*run)
        equal(result.code, code, "the loop", result)
        self.id = self.loop.ident = self.loop.status()["id"]
        self.branch = f"ringfence/{self.id}"

    def land(self, *words, code=0, token=TOKEN, named=True, **options):
        forge = ["--forge", self.forge.name] if named else []
        env = {self.forge.name.upper() + "_TOKEN": token} if token else {}
        result = self.loop.ringfence("land", *forge, *words, env=self.t.env(**env), **options)
        equal(result.code, code, "exit status of land", result)
        return result

    @property
    def commit(self):
        return self.repo.git("rev-parse", self.branch)

    @property
    def request(self):
        equal(len(self.forge.requests), 1, "requests")
        return self.forge.requests[0]

    @property
    def record(self):
        with open(os.path.join(self.loop.folder, "land.json"), encoding="utf-8") as file:
            return json.load(file)


def passed(*_):
    return [Job("build", "passed", number=1), Job("test", "passed", number=2)]


@needs("git")
@cases(*FORGE)
def test_a_completed_loop_becomes_a_branch_and_a_request(t, forge):
    """The branch is pushed by the user's git, and the request says what was checked; CI passes; nothing is merged."""
    place = Place(t, forge)
    place.forge.ci = passed
    result = place.land()
    equal(place.forge.branch(place.branch), place.commit, "the branch at the forge")
    request = place.request
    equal((request["branch"], request["into"], request["title"]), (place.branch, "main", "make it"), "the request")
    contains(request["body"], "`test -f done`", "the check, in the request")
    contains(request["body"], "passed", "its result")
    contains(result.out, f"opened: {place.forge.word} http://127.0.0.1:", "what land says")
    contains(result.out, "CI: ", "the state of CI")
    equal((place.forge.merged, place.record["number"], place.record["pushed"]), ([], 1, place.commit), "the record")
