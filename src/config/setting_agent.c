/* Settings of agents and models: see setting.h. */
#include "config/setting.h"

static const char *const login_choices[] = { "key", "file", NULL };
static const char *const models_choices[] = { "none", "auto", NULL };
static const char *const pace_choices[] = { "fast", "original", NULL };
static const char *const unknown_choices[] = { "refuse", "most-expensive", NULL };
static const char *const tool_choices[] = { "web-search", "web-fetch", "mcp", "files",
					    "other",      "none",      NULL };

#define ROW(id) ((id)-SETTING_CHECK)

const struct setting setting_agent_rows[] = {
	[ROW(SETTING_CHECK)] = {
		.id = SETTING_CHECK,
		.key = "check",
		.loop_only = true,
		.type = SETTING_WORDS,
		.trust = SETTING_TRUSTED,
		.value = "COMMAND",
		.help = "a command that must exit 0",
		.more = "`ringfence run` runs it in the fence after each iteration. `ringfence "
		        "exec` ignores it.",
		.example = "[make test]",
		.widens = "Ringfence runs this command to judge the work:",
	},
	[ROW(SETTING_AGENT)] = {
		.id = SETTING_AGENT,
		.key = "agent",
		.loop_only = true,
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "none",
		.value = "NAME[,NAME...]",
		.help = "choose the agent: auto, claude, codex, gemini, opencode, aider, "
		        "patchpal, builtin, command",
		.more = "`auto`, the default, is the first agent that is installed and can log "
		        "in (`ringfence agents`). `command` is your own command line, and the "
		        "default if `agent-command` is set. `claude,codex:gpt-5` names another agent, "
		        "with its model, that works while the provider of the first one is [at its "
		        "limit](agents.md#several-agents). See [agents.md](agents.md).",
		.example = "claude",
		.widens = "Ringfence starts this agent:",
	},
	[ROW(SETTING_AGENT_COMMAND)] = {
		.id = SETTING_AGENT_COMMAND,
		.key = "agent-command",
		.loop_only = true,
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "none",
		.value = "COMMAND",
		.help = "the agent's command line; it reads its prompt from stdin",
		.more = "Started with `sh -c` in the fence, once per iteration.",
		.example = "\"my-agent --print\"",
		.widens = "Ringfence starts this command as the agent:",
	},
	[ROW(SETTING_AGENT_FORMAT)] = {
		.id = SETTING_AGENT_FORMAT,
		.key = "agent-format",
		.loop_only = true,
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "plain",
		.value = "NAME",
		.help = "how to read the agent's stdout (plain, events, claude ...)",
		.more = "`plain` is text for people. With `events`, one JSON object per line, "
		        "Ringfence learns about cost, limits and errors ([loop.md](loop.md)).",
		.example = "events",
		.widens = "the agent's output is read as",
	},
	[ROW(SETTING_AGENT_ARGS)] = {
		.id = SETTING_AGENT_ARGS,
		.key = "agent-args",
		.loop_only = true,
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "none",
		.value = "WORDS",
		.help = "more options for the agent, in shell syntax",
		.more = "For the first agent, if there are several.",
		.example = "\"--effort high\"",
		.widens = "the agent gets these options:",
	},
	[ROW(SETTING_AGENT_LOGIN)] = {
		.id = SETTING_AGENT_LOGIN,
		.key = "agent-login",
		.loop_only = true,
		.type = SETTING_CHOICE,
		.trust = SETTING_TRUSTED,
		.fallback = "key",
		.value = "key|file",
		.choices = login_choices,
		.help = "log in with a key (--env), or with a copy of your login file",
		.more = "`file` copies the agent's credential file into its private home: "
		        "everything that runs in the fence can read it, and send it wherever "
		        "the network allows. Every report repeats this.",
		.example = "file",
		.widens = "the agent gets a copy of your login:",
	},
	[ROW(SETTING_MODEL)] = {
		.id = SETTING_MODEL,
		.key = "model",
		.loop_only = true,
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "none",
		.value = "NAME",
		.help = "the model for the agent to use",
		.more = "`none` leaves the choice to the agent. `ringfence prices` lists what "
		        "models cost. For the first agent, if there are several.",
		.example = "claude-sonnet-5-5",
		.widens = "the agent uses the model",
	},
	[ROW(SETTING_REVIEW)] = {
		.id = SETTING_REVIEW,
		.key = "review",
		.loop_only = true,
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "none",
		.value = "AGENT[:MODEL]",
		.help = "ask another agent for a second opinion before the work is done",
		.more = "When every rule holds, this agent reads the task, the changes and the check "
		        "results in a read-only fence. Its blocking findings reopen the loop "
		        "([checks.md](checks.md#a-second-opinion)). `command:LINE` is your own "
		        "command line.",
		.example = "codex",
		.widens = "Ringfence starts this agent to review the work:",
	},
	[ROW(SETTING_ESCALATE)] = {
		.id = SETTING_ESCALATE,
		.key = "escalate",
		.loop_only = true,
		.type = SETTING_WORDS,
		.trust = SETTING_TRUSTED,
		.value = "AGENT[:MODEL]",
		.help = "a stronger agent to climb to when the work is stalled",
		.more = "The weakest first. The loop climbs after `escalate-after` iterations without "
		        "progress, and comes down a step after each iteration with progress "
		        "([agents.md](agents.md#several-agents)).",
		.example = "[\"claude:claude-opus-4-5\"]",
		.widens = "when the work is stalled, Ringfence starts this agent:",
	},
	[ROW(SETTING_PHASES)] = {
		.id = SETTING_PHASES,
		.key = "phases",
		.loop_only = true,
		.type = SETTING_MAPS,
		.trust = SETTING_TRUSTED,
		.value = "NAME[,NAME...]",
		.help = "run the loop in phases, such as plan, work and verify",
		.more = "In a file, a list of phases, one after another. Their keys, such as `prompt`, "
		        "`agent`, `write` and `until`, are in [loop.md](loop.md#phases). As an option, "
		        "the names of those to run, or `none`. The phases of a project's file replace "
		        "those of your own.",
		.example = "[{name: plan, until: file PLAN.md}, {name: work}]",
		.widens = "a loop runs this phase:",
	},
	[ROW(SETTING_MODELS)] = {
		.id = SETTING_MODELS,
		.key = "models",
		.loop_only = true,
		.type = SETTING_CHOICE,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.in_loop = "auto",
		.value = "none|auto",
		.choices = models_choices,
		.help = "reach models through the gateway, which adds your key and counts the "
		        "cost",
		.more = "`auto` means every provider whose key is found (`model-key`) or whose "
		        "`upstream` is set. The command gets a token that is valid for this run "
		        "only, and no key. The gateway meters the traffic as it streams and "
		        "keeps it within the budgets. Cannot be combined with `net: open`.",
		.example = "auto",
		.widens = "the command uses models at your cost:",
	},
	[ROW(SETTING_MODEL_KEY)] = {
		.id = SETTING_MODEL_KEY,
		.key = "model-key",
		.loop_only = true,
		.type = SETTING_WORDS,
		.trust = SETTING_TRUSTED,
		.value = "PROVIDER=SOURCE",
		.help = "where to find the key of anthropic, openai or gemini: env:NAME, "
		        "file:PATH, command:LINE",
		.more = "Default: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, and `GEMINI_API_KEY` "
		        "or `GOOGLE_API_KEY`, if set. The key is read when a run begins, and "
		        "only the gateway has it.",
		.example = "[\"anthropic=command:pass show anthropic\"]",
		.widens = "the gateway uses the key of",
	},
	[ROW(SETTING_UPSTREAM)] = {
		.id = SETTING_UPSTREAM,
		.key = "upstream",
		.loop_only = true,
		.type = SETTING_WORDS,
		.trust = SETTING_TRUSTED,
		.value = "PROVIDER=URL",
		.help = "send a provider's requests to another server; local:URL is free of "
		        "charge",
		.more = "`openai=local:http://127.0.0.1:11434` is an Ollama on this machine: "
		        "its tokens are counted but cost nothing, and it needs no key.",
		.example = "[\"openai=local:http://127.0.0.1:11434\"]",
		.widens = "model requests, with your key, go to",
	},
	[ROW(SETTING_UPSTREAM_CA)] = {
		.id = SETTING_UPSTREAM_CA,
		.key = "upstream-ca",
		.loop_only = true,
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "none",
		.value = "PATH",
		.help = "CA certificates for those servers, instead of the system's",
		.more = "An absolute path to a file, or to a folder made by `openssl rehash`.",
		.example = "/etc/corporate/ca.pem",
		.widens = "model servers are trusted with the certificates in",
	},
	[ROW(SETTING_UPSTREAM_PROXY)] = {
		.id = SETTING_UPSTREAM_PROXY,
		.key = "upstream-proxy",
		.loop_only = true,
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "none",
		.value = "URL",
		.help = "an HTTP proxy for those servers (CONNECT): http://host:port",
		.more = "Default: `HTTPS_PROXY`, if set.",
		.example = "http://proxy.example:3128",
		.widens = "model requests go through",
	},
	[ROW(SETTING_UNKNOWN_MODEL)] = {
		.id = SETTING_UNKNOWN_MODEL,
		.key = "unknown-model",
		.loop_only = true,
		.type = SETTING_CHOICE,
		.trust = SETTING_TIGHTER,
		.fallback = "refuse",
		.value = "refuse|most-expensive",
		.choices = unknown_choices,
		.former = "dearest", /* prose: keep */
		.help = "refuse a model without a price, or price it as the most expensive one",
		.more = "`ringfence prices` lists the known models; "
		        "`~/.config/ringfence/prices.txt` adds others. A new model can cost more "
		        "than all known ones, so with `most-expensive` a budget can be exceeded.",
		.example = "most-expensive",
		.widens = "a model without a known price may be used:",
	},
	[ROW(SETTING_PROVIDER_TOOLS)] = {
		.id = SETTING_PROVIDER_TOOLS,
		.key = "provider-tools",
		.loop_only = true,
		.type = SETTING_WORDS,
		.trust = SETTING_TRUSTED,
		.value = "KIND",
		.choices = tool_choices,
		.help = "let a model provider do this on its own: web-search, web-fetch, mcp, "
		        "files, other",
		.more = "A provider acts outside the fence, so requests "
		        "that make it act are refused by default. `web-search` searches the web. "
		        "`web-fetch` fetches pages, images and documents by URL, and `mcp` calls "
		        "MCP servers; their hosts must also be in `allow`. `files` reads files "
		        "that are stored at the provider. `other` passes on fields and tools that "
		        "this version does not know, unchecked and at an unknown price. `none` "
		        "removes the kinds before it, for example those of your own file. See "
		        "[models.md](models.md#tools-that-a-provider-runs).",
		.example = "[web-search]",
		.widens = "the model provider may do this outside the fence:",
	},
	[ROW(SETTING_RECORD)] = {
		.id = SETTING_RECORD,
		.key = "record",
		.loop_only = true,
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "none",
		.value = "FILE",
		.help = "record all model traffic to this tape",
		.more = "The tape is text that can be read and compared. It holds the whole "
		        "conversation, but no keys or tokens. New exchanges are appended.",
		.example = "fixtures/agent.tape",
		.widens = "all model traffic is written to",
	},
	[ROW(SETTING_REPLAY)] = {
		.id = SETTING_REPLAY,
		.key = "replay",
		.loop_only = true,
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "none",
		.value = "FILE",
		.help = "answer model requests from this tape: no key, no provider, no cost",
		.more = "A request gets the answer that was recorded after the same "
		        "conversation. A request that was not recorded ends the run and shows "
		        "the first difference.",
		.example = "fixtures/agent.tape",
		.widens = "models are replaced by the tape",
	},
	[ROW(SETTING_REPLAY_PACE)] = {
		.id = SETTING_REPLAY_PACE,
		.key = "replay-pace",
		.loop_only = true,
		.type = SETTING_CHOICE,
		.trust = SETTING_TRUSTED,
		.fallback = "fast",
		.value = "fast|original",
		.choices = pace_choices,
		.help = "replay answers at once, or at the recorded speed",
		.example = "original",
		.widens = "the tape is replayed",
	},
	[ROW(SETTING_DAILY_BUDGET)] = {
		.id = SETTING_DAILY_BUDGET,
		.key = "daily-budget",
		.loop_only = true,
		.type = SETTING_MONEY,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.value = "DOLLARS",
		.help = "limit the cost of all your runs in a day, in US$",
		.more = "The gateway counts from midnight to midnight of this machine's clock.",
		.example = "50",
		.widens = "all runs of a day may cost US$",
	},
};

_Static_assert(sizeof setting_agent_rows / sizeof *setting_agent_rows ==
		       SETTING_SESSION - SETTING_CHECK,
	       "a row for each setting");
