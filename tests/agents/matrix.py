#!/usr/bin/python3
"""The outcome of each failure of a provider with each agent: test_matrix.py checks it, docs/agents.md shows it.

  tests/agents/matrix.py           print the table in Markdown
  tests/agents/matrix.py --write   replace it in docs/agents.md
  tests/agents/matrix.py --in FILE print this document with the table in its place
"""
import datetime
import email.utils
import json
import os
import sys
import time

AGENTS = ("claude", "codex", "gemini", "opencode", "builtin", "command")
PROVIDERS = {"codex": "openai", "gemini": "gemini"}  # the others: anthropic
LATER_S = 3600  # when a limit ends, if the provider says so


def provider_of(agent):
    return PROVIDERS.get(agent, "anthropic")


# How providers say the same thing. Each is a turn of fakes/server.py.

def status(code, message, **kinds):
    """An error with the provider's own type."""
    return lambda provider: {"status": code, "message": message, "kind": kinds.get(provider)}


def limit(headers=None, **more):
    """A 429; headers: a function of the provider."""
    def turn(provider):
        kind = {"anthropic": "rate_limit_error", "openai": "rate_limit_exceeded"}.get(provider)
        return {"status": 429, "kind": kind, "message": "Too many requests.", "headers": headers(provider) if headers else {},
                **{name: value[provider] for name, value in more.items() if provider in value}}
    return turn


def always(**turn):
    return lambda _provider: turn


def resets(provider):
    if provider == "openai":
        return {"x-ratelimit-reset-requests": "1h0m0s", "x-ratelimit-remaining-requests": "0"}
    at = datetime.datetime.fromtimestamp(time.time() + LATER_S, datetime.timezone.utc)
    return {"anthropic-ratelimit-requests-reset": at.strftime("%Y-%m-%dT%H:%M:%SZ")}


def no_credit(provider):
    return {"anthropic": {"status": 400, "kind": "invalid_request_error", "message": "Your credit balance is too low to "
                          "access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},
            "openai": {"status": 429, "kind": "insufficient_quota",
                       "message": "You exceeded your current quota, please check your plan and billing details."},
            "gemini": {"status": 400, "raw": json.dumps({"error": {
                "code": 400, "status": "FAILED_PRECONDITION", "message": "Gemini API free tier is not available in your "
                "country. Please enable billing on your project in Google AI Studio."}})}}[provider]


def too_long(provider):
    return {"anthropic": {"status": 400, "kind": "invalid_request_error", "message": "prompt is too long: 1200000 tokens > 1000000 maximum"},
            "openai": {"status": 400, "kind": "context_length_exceeded",
                       "message": "Your input exceeds the context window of this model. Please adjust your input and try again."},
            "gemini": {"status": 400, "message": "The input token count (1200000) exceeds the maximum number of tokens "
                       "allowed (1048576)."}}[provider]


BODY_TIMES = {"message": {"anthropic": "This request would exceed your limit. Please try again in 1h0m0s.",
                          "openai": "Rate limit reached for requests. Please try again in 1h0m0s.",
                          "gemini": "You exceeded your current quota. Please retry in 3600s."},
              "kind": {"gemini": "retry:3600s", "anthropic": "rate_limit_error", "openai": "rate_limit_exceeded"}}
ANSWER = "I look at the code, and then I see what is wrong with it, and how it can be fixed."


class Row:
    """A failure, and its outcome unless EXCEPTIONS has the pair."""

    def __init__(self, failure, turn, kind, action, cost="0"):
        self.failure = failure
        self.turn = turn
        self.outcome = (kind, action, cost)


# Actions of the loop, and charges.
PAUSE, WAIT, UNTIL, ERROR = "pauses", "waits", "waits until the stated time", "continues, counts an error"
NOTHING, ESTIMATE = "0", "an estimate"

ROWS = {
    "401": Row("HTTP 401", status(401, "invalid key", openai="invalid_api_key"), "authentication", PAUSE),
    "402": Row("HTTP 402", status(402, "pay your bill"), "billing", PAUSE),
    "403": Row("HTTP 403", status(403, "your key may not use this"), "permission", PAUSE),
    "404": Row("HTTP 404, unknown model", status(404, "there is no such model", openai="model_not_found"), "model not found", PAUSE),
    "credit": Row("no credit: 400 (`credit balance`, Google's `FAILED_PRECONDITION`), OpenAI's 429 (`insufficient_quota`)",
                  no_credit, "billing", PAUSE),
    "413": Row("HTTP 413", status(413, "Request exceeds the maximum size"), "prompt too long", ERROR),
    "too long": Row("HTTP 400, the prompt is too long", too_long, "prompt too long", ERROR),
    "429 seconds": Row("HTTP 429, `retry-after` in seconds", limit(lambda _: {"retry-after": str(LATER_S)}), "provider limit", UNTIL),
    "429 date": Row("HTTP 429, `retry-after` as a date", limit(lambda _: {
        "retry-after": email.utils.formatdate(time.time() + LATER_S, usegmt=True)}), "provider limit", UNTIL),
    "429 resets": Row("HTTP 429, the provider's reset headers", limit(resets), "provider limit", UNTIL),
    "429 body": Row("HTTP 429, a time only in the body", limit(**BODY_TIMES), "provider limit", UNTIL),
    "429": Row("HTTP 429 without a time", limit(), "provider limit", WAIT),
    "500": Row("HTTP 500", status(500, "Internal server error", openai="server_error"), "server error", WAIT),
    "502": Row("HTTP 502, a proxy's page", always(status=502, raw="<html>Bad Gateway</html>", type="text/html"), "server error", WAIT),
    "503": Row("HTTP 503", status(503, "Service unavailable", openai="server_error"), "overloaded", WAIT),
    "529": Row("HTTP 529", status(529, "Overloaded"), "overloaded", WAIT),
    "reset": Row("connection reset before an answer", always(reset=True), "unreachable", WAIT),
    "hang": Row("no answer ever comes", always(silent=True), "hang", ERROR, ESTIMATE),
    "cut": Row("connection cut in mid-stream", always(text=ANSWER, cut=True), "unreachable", WAIT, ESTIMATE),
    "portal": Row("a captive portal: 200 with HTML", always(raw="<html>Log in to this network</html>", type="text/html"), "unreachable", WAIT),
    "empty": Row("200 with an empty body", always(raw=""), "unreachable", WAIT),
    "broken": Row("broken JSON in the stream", always(text=ANSWER, malformed=True), "unreachable", WAIT, ESTIMATE),
}

# Pairs that differ: their outcome (None: the pair does not exist), and why.
EXCEPTIONS = {
    ("429 resets", "gemini"): (None, "Google sends no such headers"),
    ("hang", "gemini"): (("crash", ERROR, ESTIMATE), "it gives up by itself after three tries"),
}


def expected(failure, agent):
    """The outcome: (class, action, cost), or None."""
    return EXCEPTIONS.get((failure, agent), (ROWS[failure].outcome,))[0]


# The pairs of a short run: all failures with agents that start at once, and one with each of the others.
SHORT = {"claude": "429 seconds", "codex": "credit", "gemini": "too long", "opencode": "403"}


def pairs(short):
    return [(failure, agent) for failure in ROWS for agent in AGENTS
            if expected(failure, agent) and (not short or SHORT.get(agent, failure) == failure)]


# The document

BEGIN, END = "<!-- failures: from tests/agents/matrix.py -->\n", "<!-- end of failures -->\n"
DOCUMENT = os.path.normpath(f"{os.path.dirname(os.path.abspath(__file__))}/../../docs/agents.md")


def differs(failure):
    """The exceptions of a failure in words."""
    found = []
    for agent in AGENTS:
        outcome, why = EXCEPTIONS.get((failure, agent), (0, ""))
        if why:
            new = [word for word, usual in zip(outcome or (), ROWS[failure].outcome) if word != usual]
            found.append(f"`{agent}`: {', '.join(new) + '; ' if new else ''}{why}")
    return "; ".join(found)


def table():
    lines = ["| failure | class | the loop | charged | other outcomes |", "| --- | --- | --- | --- | --- |"]
    for name, row in ROWS.items():
        lines.append(f"| {row.failure} | {' | '.join(row.outcome)} | {differs(name)} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n"


def with_table(path):
    """The document with the table in its place."""
    with open(path, encoding="utf-8") as file:
        before, begin, rest = file.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{path} has no place for the table: {BEGIN.strip()} ... {END.strip()}")
    return before + begin + table() + end + after


def main():
    words = sys.argv[1:]
    if not words:
        print(table(), end="")
    elif words == ["--write"]:
        text = with_table(DOCUMENT)
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(text)
    elif len(words) == 2 and words[0] == "--in":
        print(with_table(words[1]), end="")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
