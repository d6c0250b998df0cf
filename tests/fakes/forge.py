"""GitHub, GitLab and Gitea, as their API documents describe what `land` uses of them, each with a real git server.

A forge answers for harness.provider.Provider: its API below the path that the real one has, and one repository over
git's smart HTTP protocol, by `git http-backend` behind Basic auth. `ci` tells the jobs of a commit, and `trouble` has
what the next requests to the API get instead of an answer.
"""

import base64
import json
import os
import re
import subprocess
import urllib.parse

from harness.provider import Provider, respond

TOKEN = "tok-Zx81secret"
USER, PASSWORD = "pusher", "pw-Qm27secret"


class Job:
    """A job of CI: pending, passed or failed, and what it printed."""

    def __init__(self, name, state, log=b"", number=1):
        self.name, self.state, self.log, self.number = name, state, log, number


class Forge:
    api = ""
    path = "acme/widget"

    def __init__(self, folder, ci=None, page=None):
        self.requests = []  # pull requests, as the forge keeps them
        self.calls = []     # (method, path) of the API
        self.leaks = []     # where the token came although it must not
        self.trouble = []
        self.ci = ci or (lambda sha: [])
        self.merged = []
        self.page = page
        self.root = folder
        self.bare = os.path.join(folder, self.path + ".git")
        os.makedirs(self.bare)
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", "--template=", self.bare], check=True)
        subprocess.run(["git", "-C", self.bare, "config", "http.receivepack", "true"], check=True)
        self.server = Provider(self.answer)
        self.elsewhere = Provider(self.download)

    def close(self):
        self.server.close()
        self.elsewhere.close()

    @property
    def url(self):
        return f"{self.server.url}/{self.path}.git"

    def branch(self, name):
        found = subprocess.run(["git", "-C", self.bare, "rev-parse", "-q", "--verify", f"refs/heads/{name}"],
                               capture_output=True, text=True, check=False)
        return found.stdout.strip()

    # Requests

    def answer(self, request, connection):
        place, _, query = request.path.partition("?")
        if not place.startswith(self.api + "/"):
            return self.git(request, place, query)
        self.calls.append((request.method, request.path[len(self.api):]))
        if self.is_public(place[len(self.api):]):
            return self.public(place[len(self.api):])
        if self.trouble:
            answer = self.trouble.pop(0)
            return answer(request, connection) if callable(answer) else answer
        if self.token_of(request.headers) != TOKEN:
            return self.unauthorized()
        body = json.loads(request.body) if request.body else {}
        given = {key: values[0] for key, values in urllib.parse.parse_qs(query).items()}
        for method, pattern, name in self.routes:
            match = re.fullmatch(pattern, place[len(self.api):])
            if match and method == request.method:
                return getattr(self, name)(body, given, *match.groups())
        return self.missing()

    def is_public(self, place):
        return place in ("/version", "/meta")

    def public(self, _):
        return self.missing()

    def git(self, request, place, query):
        wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if TOKEN in request.head:
            self.leaks.append(request.head)
        if request.headers.get("authorization") != wanted:
            return respond(b"", "401 Unauthorized", "text/plain", 'WWW-Authenticate: Basic realm="git"')
        result = subprocess.run(["git", "http-backend"], input=request.body, capture_output=True, check=False, env={
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.root, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": place,
            "REQUEST_METHOD": request.method, "QUERY_STRING": query, "REMOTE_USER": USER,
            "CONTENT_TYPE": request.headers.get("content-type", ""), "CONTENT_LENGTH": str(len(request.body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": request.headers.get("git-protocol", "")})
        head, _, body = result.stdout.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        status = next((line.split(": ", 1)[1] for line in lines if line.startswith("Status: ")), "200 OK")
        kind = next((line.split(": ", 1)[1] for line in lines if line.startswith("Content-Type: ")), "text/plain")
        return respond(body, status, kind)

    def download(self, request, _):
        """The store of logs, on another host: who asks for a signed URL needs no token."""
        if TOKEN in request.head:
            self.leaks.append(request.head)
        sha, number = request.path.strip("/").split("/")
        return respond(self.job(sha, int(number)).log, kind="text/plain")

    def job(self, sha, number):
        return next(job for job in self.ci(sha) if job.number == number)

    def heads(self):
        """The commits of the branches of our requests."""
        return [self.branch(request["branch"]) for request in self.requests]

    def paged(self, entries, given, most=100):
        size = self.page or min(int(given.get("per_page", given.get("limit", 30))), most)
        number = int(given.get("page", 1))
        return entries[(number - 1) * size:number * size]

    def request(self, number):
        return next((entry for entry in self.requests if entry["number"] == int(number)), None)

    def add(self, **words):
        entry = {"number": len(self.requests) + 1, "state": "open", "draft": False, **words}
        self.requests.append(entry)
        return entry

    def merge_now(self, entry, commit):
        if commit != self.branch(entry["branch"]):
            return False
        entry["state"] = "merged"
        self.merged.append(entry["number"])
        return True


class GitHub(Forge):
    """docs.github.com/en/rest, version 2022-11-28, as a server of one's own has it."""

    name, api, word = "github", "/api/v3", "pull request"
    routes = [
        ("GET", "/repos/acme/widget", "repository"),
        ("GET", "/repos/acme/widget/pulls", "find"),
        ("POST", "/repos/acme/widget/pulls", "open"),
        ("GET", r"/repos/acme/widget/pulls/(\d+)", "look"),
        ("PATCH", r"/repos/acme/widget/pulls/(\d+)", "update"),
        ("PUT", r"/repos/acme/widget/pulls/(\d+)/merge", "merge"),
        ("GET", "/repos/acme/widget/commits/([0-9a-f]{40})/check-runs", "runs"),
        ("GET", "/repos/acme/widget/commits/([0-9a-f]{40})/check-suites", "suites"),
        ("GET", "/repos/acme/widget/commits/([0-9a-f]{40})/status", "status"),
        ("GET", "/repos/acme/widget/actions/runs", "workflow_runs"),
        ("GET", "/repos/acme/widget/actions/runs/9/jobs", "jobs"),
        ("GET", r"/repos/acme/widget/actions/jobs/(\d+)/logs", "logs"),
    ]
    fine_grained = False
    suite = "completed"

    @staticmethod
    def token_of(headers):
        kind, _, token = headers.get("authorization", "").partition(" ")
        return token if kind in ("Bearer", "token") else None

    @staticmethod
    def unauthorized():
        return respond({"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest",
                        "status": "401"}, "401 Unauthorized")

    @staticmethod
    def missing():
        return respond({"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"},
                       "404 Not Found")

    def answer(self, request, connection):
        if request.path == "/api/graphql":
            query = json.loads(request.body)
            self.calls.append(("POST", "/graphql"))
            entry = self.request(query["variables"]["id"].removeprefix("PR_"))
            if "markPullRequestReadyForReview" not in query["query"] or not entry:
                return respond({"errors": [{"type": "NOT_FOUND", "message": "Could not resolve to a node"}]})
            entry["draft"] = False
            return respond({"data": {"markPullRequestReadyForReview": {"clientMutationId": None}}})
        if request.path.startswith(self.api) and not request.headers.get("user-agent"):
            return respond(b"Request forbidden by administrative rules.", "403 Forbidden", "text/html")
        return super().answer(request, connection)

    def shown(self, entry):
        return {"number": entry["number"], "node_id": f"PR_{entry['number']}", "title": entry["title"],
                "body": entry["body"], "state": "open" if entry["state"] == "open" else "closed",
                "html_url": f"{self.server.url}/acme/widget/pull/{entry['number']}", "draft": entry["draft"],
                "merged_at": "2026-01-02T03:04:05Z" if entry["state"] == "merged" else None,
                "head": {"ref": entry["branch"], "label": f"acme:{entry['branch']}", "sha": self.branch(entry["branch"]),
                         "repo": {"full_name": entry.get("fork", "acme/widget")}},
                "base": {"ref": entry["into"], "repo": {"full_name": "acme/widget"}}}

    def repository(self, *_):
        return respond({"full_name": "acme/widget", "default_branch": "main", "allow_merge_commit": False,
                        "allow_squash_merge": True, "allow_rebase_merge": True})

    def find(self, _, given):
        found = [entry for entry in self.requests if entry["state"] == "open"
                 and given.get("head") in (None, f"acme:{entry['branch']}")]
        return respond([self.shown(entry) for entry in self.paged(found, given)])

    def open(self, body, _):
        if any(entry["branch"] == body["head"] and entry["state"] == "open" for entry in self.requests):
            return respond({"message": "Validation Failed", "errors": [
                {"resource": "PullRequest", "code": "custom",
                 "message": f"A pull request already exists for acme:{body['head']}."}], "status": "422"},
                "422 Unprocessable Entity")
        if not self.branch(body["head"]):
            return respond({"message": "Validation Failed", "errors": [
                {"resource": "PullRequest", "field": "head", "code": "invalid"}]}, "422 Unprocessable Entity")
        return respond(self.shown(self.add(branch=body["head"], into=body["base"], title=body["title"],
                                           body=body["body"], draft=body["draft"])), "201 Created")

    def look(self, _, __, number):
        entry = self.request(number)
        return respond(self.shown(entry)) if entry else self.missing()

    def update(self, body, _, number):
        self.request(number).update(body)
        return self.look(None, None, number)

    def merge(self, body, _, number):
        if body["merge_method"] == "merge":
            return respond({"message": "Merge commits are not allowed on this repository."}, "405 Method Not Allowed")
        if not self.merge_now(self.request(number), body["sha"]):
            return respond({"message": "Head branch was modified. Review and try the merge again."}, "409 Conflict")
        return respond({"sha": "0" * 40, "merged": True, "message": "Pull Request successfully merged"})

    def runs(self, _, given, sha):
        if self.fine_grained:
            return respond({"message": "Resource not accessible by personal access token", "status": "403"},
                           "403 Forbidden")
        jobs = self.ci(sha)
        ends = {"passed": "success", "failed": "failure", "pending": None}
        return respond({"total_count": len(jobs), "check_runs": self.paged([
            {"id": job.number, "name": job.name, "head_sha": sha, "conclusion": ends[job.state],
             "status": "in_progress" if job.state == "pending" else "completed",
             "html_url": f"{self.server.url}/acme/widget/actions/runs/9/job/{job.number}",
             "output": {"title": None, "summary": None, "text": None}, "app": {"slug": "github-actions"}}
            for job in jobs], given)})

    def suites(self, _, __, sha):
        if self.fine_grained:
            return self.runs(None, None, sha)
        return respond({"total_count": 2, "check_suites": [
            {"id": 1, "head_sha": sha, "status": self.suite, "conclusion": None, "latest_check_runs_count": 1,
             "app": {"slug": "github-actions", "name": "GitHub Actions"}},
            {"id": 2, "head_sha": sha, "status": "queued", "conclusion": None, "latest_check_runs_count": 0,
             "app": {"slug": "dependabot", "name": "Dependabot"}}] if self.ci(sha) else []})

    @staticmethod
    def status(_, __, sha):
        return respond({"state": "pending", "statuses": [], "sha": sha, "total_count": 0})

    def workflow_runs(self, _, given):
        jobs = self.ci(given["head_sha"])
        self.sha = given["head_sha"]
        return respond({"total_count": 1, "workflow_runs": [
            {"id": 9, "name": "ci", "head_sha": given["head_sha"], "status": self.suite}] if jobs else []})

    def jobs(self, *_):
        ends = {"passed": "success", "failed": "failure", "pending": None}
        return respond({"total_count": 1, "jobs": [
            {"id": job.number, "name": job.name, "conclusion": ends[job.state], "html_url": "https://x.invalid/1",
             "status": "in_progress" if job.state == "pending" else "completed"} for job in self.ci(self.sha)]})

    def logs(self, _, __, number):
        sha = next(sha for sha in self.heads() if any(job.number == int(number) for job in self.ci(sha)))
        return respond(b"", "302 Found", "text/plain", f"Location: {self.elsewhere.url}/{sha}/{number}")


class GitLab(Forge):
    """docs.gitlab.com/api, version 4."""

    name, api, word = "gitlab", "/api/v4", "merge request"
    project = "/projects/acme%2Fwidget"
    routes = [
        ("GET", project, "repository"),
        ("GET", project + "/merge_requests", "find"),
        ("POST", project + "/merge_requests", "open"),
        ("GET", project + r"/merge_requests/(\d+)", "look"),
        ("PUT", project + r"/merge_requests/(\d+)", "update"),
        ("PUT", project + r"/merge_requests/(\d+)/merge", "merge"),
        ("GET", project + "/pipelines", "pipelines"),
        ("GET", project + r"/pipelines/(\d+)/jobs", "jobs"),
        ("GET", project + r"/jobs/(\d+)/trace", "trace"),
    ]

    @staticmethod
    def token_of(headers):
        return headers.get("private-token")

    @staticmethod
    def unauthorized():
        return respond({"message": "401 Unauthorized"}, "401 Unauthorized")

    @staticmethod
    def missing():
        return respond({"message": "404 Project Not Found"}, "404 Not Found")

    def public(self, place):
        return self.unauthorized() if place == "/version" else self.missing()

    def shown(self, entry):
        return {"id": 1000 + entry["number"], "iid": entry["number"], "title": entry["title"],
                "description": entry["body"], "draft": entry["title"].startswith("Draft: "),
                "state": {"open": "opened"}.get(entry["state"], entry["state"]), "source_branch": entry["branch"],
                "target_branch": entry["into"], "sha": self.branch(entry["branch"]), "source_project_id": 7,
                "target_project_id": 7, "web_url": f"{self.server.url}/acme/widget/-/merge_requests/{entry['number']}"}

    def repository(self, *_):
        return respond({"id": 7, "path_with_namespace": "acme/widget", "default_branch": "main"})

    def find(self, _, given):
        found = [entry for entry in self.requests if entry["branch"] == given["source_branch"]
                 and (given["state"] != "opened" or entry["state"] == "open")]
        return respond([self.shown(entry) for entry in self.paged(found, given)])

    def open(self, body, _):
        if any(entry["branch"] == body["source_branch"] and entry["state"] == "open" for entry in self.requests):
            return respond({"message": ["Another open merge request already exists for this source branch: !1"]},
                           "409 Conflict")
        return respond(self.shown(self.add(branch=body["source_branch"], into=body["target_branch"],
                                           title=body["title"], body=body["description"])), "201 Created")

    def look(self, _, __, number):
        entry = self.request(number)
        return respond(self.shown(entry)) if entry else self.missing()

    def update(self, body, _, number):
        entry = self.request(number)
        entry["body"] = body.get("description", entry["body"])
        entry["title"] = body.get("title", entry["title"])
        return self.look(None, None, number)

    def merge(self, body, _, number):
        if not self.merge_now(self.request(number), body["sha"]):
            return respond({"message": "SHA does not match HEAD of source branch"}, "409 Conflict")
        return self.look(None, None, number)

    def pipelines(self, _, given):
        jobs = self.ci(given["sha"])
        states = {job.state for job in jobs}
        state = "running" if "pending" in states else "failed" if "failed" in states else "success"
        self.sha = given["sha"]
        return respond([{"id": 55, "iid": 5, "sha": given["sha"], "ref": "x", "status": state, "source": "push",
                         "web_url": f"{self.server.url}/acme/widget/-/pipelines/55"}] if jobs else [])

    def jobs(self, _, given, __):
        words = {"passed": "success", "failed": "failed", "pending": "running"}
        return respond(self.paged([{"id": job.number, "name": job.name, "stage": "test", "status": words[job.state],
                                    "allow_failure": False, "web_url": "https://x.invalid/1"}
                                   for job in self.ci(self.sha)], given))

    def trace(self, _, __, number):
        return respond(self.job(self.sha, int(number)).log, kind="text/plain")


class Gitea(Forge):
    """The swagger document of Gitea 1.24."""

    name, api, word = "gitea", "/api/v1", "pull request"
    routes = [
        ("GET", "/repos/acme/widget", "repository"),
        ("GET", "/repos/acme/widget/pulls", "find"),
        ("POST", "/repos/acme/widget/pulls", "open"),
        ("GET", r"/repos/acme/widget/pulls/(\d+)", "look"),
        ("PATCH", r"/repos/acme/widget/pulls/(\d+)", "update"),
        ("POST", r"/repos/acme/widget/pulls/(\d+)/merge", "merge"),
        ("GET", "/repos/acme/widget/commits/([0-9a-f]{40})/status", "status"),
        ("GET", "/repos/acme/widget/actions/runs", "runs"),
        ("GET", "/repos/acme/widget/actions/runs/9/jobs", "jobs"),
        ("GET", r"/repos/acme/widget/actions/jobs/(\d+)/logs", "logs"),
    ]
    old = False  # without the API of Actions

    @staticmethod
    def token_of(headers):
        kind, _, token = headers.get("authorization", "").partition(" ")
        return token if kind == "token" else None

    @staticmethod
    def unauthorized():
        return respond({"message": "user does not exist [uid: 0, name: ]", "url": "https://x.invalid/swagger"},
                       "401 Unauthorized")

    @staticmethod
    def missing():
        return respond({"errors": None, "message": "The target couldn't be found.", "url": "https://x.invalid/swagger"},
                       "404 Not Found")

    def public(self, place):
        return respond({"version": "1.24.0"}) if place == "/version" else self.missing()

    def shown(self, entry):
        return {"id": 500 + entry["number"], "number": entry["number"], "title": entry["title"], "body": entry["body"],
                "state": "open" if entry["state"] == "open" else "closed", "merged": entry["state"] == "merged",
                "draft": entry["title"].startswith("WIP: "), "merged_at": None,
                "html_url": f"{self.server.url}/acme/widget/pulls/{entry['number']}",
                "head": {"label": entry["branch"], "ref": entry["branch"], "sha": self.branch(entry["branch"]),
                         "repo": {"full_name": entry.get("fork", "acme/widget")}},
                "base": {"ref": entry["into"]}}

    def repository(self, *_):
        return respond({"full_name": "acme/widget", "default_branch": "main", "default_merge_style": "squash"})

    def find(self, _, given):
        found = [entry for entry in self.requests if entry["state"] == "open"]
        return respond([self.shown(entry) for entry in self.paged(found, given, 50)])

    def open(self, body, _):
        if any(entry["branch"] == body["head"] and entry["state"] == "open" for entry in self.requests):
            return respond({"message": "pull request already exists for these targets [id: 1]"}, "409 Conflict")
        return respond(self.shown(self.add(branch=body["head"], into=body["base"], title=body["title"],
                                           body=body["body"])), "201 Created")

    def look(self, _, __, number):
        entry = self.request(number)
        return respond(self.shown(entry)) if entry else self.missing()

    def update(self, body, _, number):
        self.request(number).update(body)
        return respond(self.shown(self.request(number)), "201 Created")

    def merge(self, body, _, number):
        assert body["Do"] == "squash", body
        if not self.merge_now(self.request(number), body["head_commit_id"]):
            return respond({"message": "head out of date"}, "409 Conflict")
        return respond(b"")

    def status(self, _, __, sha):
        words = {"passed": "success", "failed": "failure", "pending": "pending"}
        statuses = [{"id": job.number, "status": words[job.state], "context": f"ci / {job.name} (push)",
                     "target_url": f"/acme/widget/actions/runs/9/jobs/{at}", "description": "Failing after 2s"}
                    for at, job in enumerate(self.ci(sha))]
        return respond({"state": "", "sha": sha, "total_count": len(statuses), "statuses": statuses or None})

    def runs(self, _, given):
        if self.old:
            return self.missing()
        self.sha = given["head_sha"]
        return respond({"total_count": 1, "workflow_runs": [
            {"id": 9, "display_title": "x", "status": "completed"}] if self.ci(self.sha) else []})

    def jobs(self, *_):
        ends = {"passed": "success", "failed": "failure", "pending": ""}
        return respond({"total_count": 1, "jobs": [
            {"id": job.number, "name": job.name, "conclusion": ends[job.state], "html_url": "https://x.invalid/1",
             "status": "in_progress" if job.state == "pending" else "completed"} for job in self.ci(self.sha)]})

    def logs(self, _, __, number):
        return respond(self.job(self.sha, int(number)).log, kind="text/plain")


FORGES = {forge.name: forge for forge in (GitHub, GitLab, Gitea)}
