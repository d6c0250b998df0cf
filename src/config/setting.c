/* The table of settings: see setting.h. */
#include "config/setting.h"

#include "util/mem.h"
#include "util/text.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

_Static_assert(SETTING_LONGEST < PATH_MAX, "a path that is accepted here must fit");

static const char *const net_choices[] = { "none", "list", "open", NULL };
static const char *const fence_choices[] = { "auto", "bwrap", NULL };
static const char *const login_choices[] = { "key", "file", NULL };
static const char *const models_choices[] = { "none", "auto", NULL };
static const char *const unknown_choices[] = { "refuse", "dearest", NULL };
static const char *const git_choices[] = { "read-only", "private", NULL };
static const char *const session_choices[] = { "fresh", "continue", NULL };
static const char *const weaker_choices[] = { "landlock",  "abstract-sockets", "memory",
					      "cpus",      "processes",        "open-files",
					      "file-size", "tmp-size",         "disk",
					      NULL };

/* The fence bounds processes in any case. */
static uint64_t most_processes(void)
{
	return 2048;
}

/* The kernel's own choice for a file system in memory. */
static uint64_t half_of_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}

const struct setting settings[] = {
	[SETTING_WRITE] = { .id = SETTING_WRITE,
			    .key = "write",
			    .type = SETTING_PATHS,
			    .trust = SETTING_TIGHTER,
			    .value = "PATH",
			    .help = "writable; in the project, nothing else of it is then",
			    .more = "A project's own file may name folders of the project, which narrows what is writable. It cannot "
				    "open what is protected there (`.git`, editor and agent settings, secrets), and it gives way where "
				    "your own file or an option says `write` or `read-only`.",
			    .example = "[src, tests]",
			    .widens = "the command may change" },
	[SETTING_READ] = { .id = SETTING_READ,
			   .key = "read",
			   .type = SETTING_PATHS,
			   .trust = SETTING_TRUSTED,
			   .value = "PATH",
			   .help = "readable, also if it is outside of the project or hidden",
			   .more = "A path that is named beats the patterns that hide secrets: `read: .env.example` shows that file.",
			   .example = "[.env.example, ~/shared/fixtures]",
			   .widens = "the command may read" },
	[SETTING_HIDE] = { .id = SETTING_HIDE,
			   .key = "hide",
			   .type = SETTING_PATHS,
			   .trust = SETTING_FREE,
			   .value = "PATH",
			   .help = "not readable",
			   .more = "For patterns there is `.ringfenceignore`.",
			   .example = "[fixtures/private]" },
	[SETTING_READ_ONLY] = { .id = SETTING_READ_ONLY,
				.key = "read-only",
				.type = SETTING_SWITCH,
				.trust = SETTING_TIGHTER,
				.fallback = "false",
				.value = "true|false",
				.help = "the project is read-only, except what write names",
				.more = "Cancels the `write` of every layer below the one that says it.",
				.example = "true",
				.widens =
					"the project is writable although your own setting is read-only:" },
	[SETTING_ENV] = { .id = SETTING_ENV,
			  .key = "env",
			  .type = SETTING_WORDS,
			  .trust = SETTING_TRUSTED,
			  .value = "NAME[=VALUE]",
			  .help = "pass a variable on, or set it",
			  .more = "A variable that a file names and that is not set is passed over; one that an option names must be "
				  "there.",
			  .example = "[OPENAI_API_KEY, DEBUG=1]",
			  .widens = "the command gets the variable" },
	[SETTING_NET] = { .id = SETTING_NET,
			  .key = "net",
			  .type = SETTING_CHOICE,
			  .trust = SETTING_TIGHTER,
			  .fallback = "none",
			  .value = "none|list|open",
			  .choices = net_choices,
			  .help = "no network, only what allow names, or the host's",
			  .more = "Naming a host with `allow` means `list`, unless the same layer or one above says otherwise. `open` is the "
				  "host's network with its loopback and internal services.",
			  .example = "open",
			  .widens =
				  "the command reaches the network of this machine, loopback included:" },
	[SETTING_ALLOW] = { .id = SETTING_ALLOW,
			    .key = "allow",
			    .type = SETTING_WORDS,
			    .trust = SETTING_TRUSTED,
			    .value = "HOST",
			    .help = "a host to reach, or a set (npm, apt, pip, cargo ...)",
			    .more = "The sets are `npm`, `apt`, `pip`, `cargo`, `go` and `git-remotes`. `host` and `host:port` (443 and 80 unless said), `*.host` (its subdomains only), addresses. A set means "
				    "the hosts that your own configuration of that tool names. Addresses that are not public are refused "
				    "even where an allowed name leads to them, unless they are named themselves.",
			    .example = "[npm, \"*.example.org\", \"10.0.0.5:8080\"]",
			    .widens = "the command reaches" },
	[SETTING_NET_CONNECTIONS] = { .id = SETTING_NET_CONNECTIONS,
				      .key = "net-connections",
				      .type = SETTING_COUNT,
				      .trust = SETTING_TIGHTER,
				      .fallback = "1024",
				      .value = "N",
				      .help = "connections at once to what allow names",
				      .example = "64",
				      .widens =
					      "the command may have so many connections at once:" },
	[SETTING_NET_IN] = { .id = SETTING_NET_IN,
			     .key = "net-in",
			     .type = SETTING_SIZE,
			     .trust = SETTING_TIGHTER,
			     .fallback = "none",
			     .value = "SIZE",
			     .help = "bytes from each host that allow names",
			     .example = "2G",
			     .widens = "from each host the command may get" },
	[SETTING_NET_OUT] = { .id = SETTING_NET_OUT,
			      .key = "net-out",
			      .type = SETTING_SIZE,
			      .trust = SETTING_TIGHTER,
			      .fallback = "none",
			      .value = "SIZE",
			      .help = "bytes to each host that allow names",
			      .more = "What a command can read it can send to a host that it reaches; this bounds how much.",
			      .example = "10M",
			      .widens = "to each host the command may send" },
	[SETTING_LISTEN] = { .id = SETTING_LISTEN,
			     .key = "listen",
			     .type = SETTING_WORDS,
			     .trust = SETTING_TRUSTED,
			     .value = "ADDR:PORT[=SOCKET]",
			     .help = "a loopback port inside leads to a unix socket outside",
			     .more = "Without a socket, a place of Ringfence's own is used, named by the port.",
			     .example = "[\"127.0.0.1:5432=/run/postgresql/.s.PGSQL.5432\"]",
			     .widens = "connections inside reach a socket of this machine:" },
	[SETTING_TIMEOUT] = { .id = SETTING_TIMEOUT,
			      .key = "timeout",
			      .type = SETTING_TIME,
			      .trust = SETTING_TIGHTER,
			      .fallback = "none",
			      .in_loop = "60m",
			      .value = "TIME",
			      .help = "end it after 30s, 10m, 2h; a bare number is minutes",
			      .more = "TERM first, and KILL after five seconds. In a loop it is the time of the agent in one iteration.",
			      .example = "30m",
			      .widens = "the command may run for" },
	[SETTING_FENCE] = { .id = SETTING_FENCE,
			    .key = "fence",
			    .type = SETTING_CHOICE,
			    .trust = SETTING_TRUSTED,
			    .fallback = "auto",
			    .value = "auto|bwrap",
			    .choices = fence_choices,
			    .help = "how the fence is made",
			    .more = "`auto` takes the best that works on this machine.",
			    .example = "bwrap",
			    .widens = "the fence is made with" },
	[SETTING_ACCEPT_WEAKER] = { .id = SETTING_ACCEPT_WEAKER,
				    .key = "accept-weaker",
				    .type = SETTING_WORDS,
				    .trust = SETTING_TRUSTED,
				    .value = "WHAT",
				    .choices = weaker_choices,
				    .help = "run without landlock, abstract-sockets or a limit",
				    .more = "Without it a run is refused where this kernel or machine lacks a part of the fence.",
				    .example = "[memory, cpus]",
				    .widens =
					    "the command may run without this part of the fence:" },
	[SETTING_MEMORY] = { .id = SETTING_MEMORY,
			     .key = "memory",
			     .type = SETTING_SIZE,
			     .trust = SETTING_TIGHTER,
			     .fallback = "none",
			     .in_loop = "4G",
			     .value = "SIZE",
			     .help = "memory of all processes together, as 512M or 4G",
			     .example = "4G",
			     .widens = "the command may use memory of" },
	[SETTING_CPU_COUNT] = { .id = SETTING_CPU_COUNT,
				.key = "cpus",
				.type = SETTING_CPUS,
				.trust = SETTING_TIGHTER,
				.fallback = "none",
				.in_loop = "2",
				.value = "NUMBER",
				.help = "processors' time, as 1.5",
				.example = "1.5",
				.widens = "the command may use so many processors:" },
	[SETTING_PROCESSES] = { .unset = most_processes,
				.id = SETTING_PROCESSES,
				.key = "processes",
				.type = SETTING_COUNT,
				.trust = SETTING_TIGHTER,
				.fallback = "none",
				.in_loop = "512",
				.value = "COUNT",
				.help = "processes and threads at a time",
				.example = "500",
				.widens = "the command may have so many processes:" },
	[SETTING_OPEN_FILES] = { .id = SETTING_OPEN_FILES,
				 .key = "open-files",
				 .type = SETTING_COUNT,
				 .trust = SETTING_TIGHTER,
				 .fallback = "none",
				 .value = "COUNT",
				 .help = "open files of each process",
				 .example = "1024",
				 .widens = "each process may have so many open files:" },
	[SETTING_FILE_SIZE] = { .id = SETTING_FILE_SIZE,
				.key = "file-size",
				.type = SETTING_SIZE,
				.trust = SETTING_TIGHTER,
				.fallback = "none",
				.value = "SIZE",
				.help = "size of each file that is written",
				.example = "1G",
				.widens = "the command may write files of" },
	[SETTING_TMP_SIZE] = { .unset = half_of_memory,
			       .id = SETTING_TMP_SIZE,
			       .key = "tmp-size",
			       .type = SETTING_SIZE,
			       .trust = SETTING_TIGHTER,
			       .fallback = "none",
			       .value = "SIZE",
			       .help = "size of the private /tmp and home",
			       .example = "2G",
			       .widens = "the private /tmp may hold" },
	[SETTING_DISK] = { .id = SETTING_DISK,
			   .key = "disk",
			   .type = SETTING_SIZE,
			   .trust = SETTING_TIGHTER,
			   .fallback = "none",
			   .value = "SIZE",
			   .help = "bytes that may be written to disks",
			   .example = "5G",
			   .widens = "the project may grow by" },
	[SETTING_DENIALS] = { .id = SETTING_DENIALS,
			      .key = "denials",
			      .type = SETTING_SWITCH,
			      .trust = SETTING_TIGHTER,
			      .fallback = "true",
			      .value = "true|false",
			      .help = "tell what was denied",
			      .example = "false",
			      .widens = "what is denied to the command is not told:" },
	[SETTING_TRACE_READS] = { .id = SETTING_TRACE_READS,
				  .key = "trace-reads",
				  .type = SETTING_SWITCH,
				  .trust = SETTING_TIGHTER,
				  .fallback = "false",
				  .value = "true|false",
				  .help = "tell which reads were denied, too",
				  .example = "true",
				  .widens =
					  "what the command reads is not told although your own setting says so:" },
	[SETTING_CHECK] = { .id = SETTING_CHECK,
			    .key = "check",
			    .loop_only = true,
			    .type = SETTING_WORDS,
			    .trust = SETTING_TRUSTED,
			    .value = "COMMAND",
			    .help = "a command that says if the work is good",
			    .more = "`ringfence run` runs it in the fence after each iteration. `ringfence exec` does not use it.",
			    .example = "[make test]",
			    .widens = "Ringfence runs this command to judge the work:" },
	[SETTING_AGENT] = { .id = SETTING_AGENT,
			    .key = "agent",
			    .type = SETTING_TEXT,
			    .trust = SETTING_TRUSTED,
			    .fallback = "none",
			    .loop_only = true,
			    .value = "NAME",
			    .help = "which agent works: auto, claude, codex, gemini, opencode, aider, patchpal, command",
			    .more = "`auto`, which also holds where nothing is set, is the first that is installed and can log in (`ringfence agents`). `command` is a command line of yours, and holds where `agent-command` is set. [agents.md](agents.md) tells more.",
			    .example = "claude",
			    .widens = "Ringfence starts this agent:" },
	[SETTING_AGENT_COMMAND] = { .id = SETTING_AGENT_COMMAND,
				    .key = "agent-command",
				    .type = SETTING_TEXT,
				    .trust = SETTING_TRUSTED,
				    .fallback = "none",
				    .loop_only = true,
				    .value = "COMMAND",
				    .help = "the agent: a command line that reads its prompt from stdin",
				    .more = "Started by `sh -c` in the fence, once an iteration.",
				    .example = "\"my-agent --print\"",
				    .widens = "Ringfence starts this command as the agent:" },
	[SETTING_AGENT_FORMAT] = { .id = SETTING_AGENT_FORMAT,
				   .key = "agent-format",
				   .type = SETTING_TEXT,
				   .trust = SETTING_TRUSTED,
				   .fallback = "plain",
				   .loop_only = true,
				   .value = "NAME",
				   .help = "how the agent's stdout is read (plain, events, claude ...)",
				   .more = "`plain` is text for people. With `events`, one JSON object a line, Ringfence learns of cost, limits and errors (docs/loop.md).",
				   .example = "events",
				   .widens = "the agent's output is read as" },
	[SETTING_AGENT_ARGS] = { .id = SETTING_AGENT_ARGS,
				 .key = "agent-args",
				 .type = SETTING_TEXT,
				 .trust = SETTING_TRUSTED,
				 .fallback = "none",
				 .loop_only = true,
				 .value = "WORDS",
				 .help = "more options for the agent, as one writes them for a shell",
				 .example = "\"--effort high\"",
				 .widens = "the agent gets these options:" },
	[SETTING_AGENT_LOGIN] = { .id = SETTING_AGENT_LOGIN,
				  .key = "agent-login",
				  .type = SETTING_CHOICE,
				  .trust = SETTING_TRUSTED,
				  .fallback = "key",
				  .loop_only = true,
				  .value = "key|file",
				  .choices = login_choices,
				  .help = "the agent logs in by a key (--env), or with a copy of your login",
				  .more = "`file` copies the agent's credential file into its private home: whatever runs in the fence can read it, and send it where the network allows. Every report repeats that.",
				  .example = "file",
				  .widens = "the agent gets a copy of your login:" },
	[SETTING_MODEL] = { .id = SETTING_MODEL,
			    .key = "model",
			    .type = SETTING_TEXT,
			    .trust = SETTING_TRUSTED,
			    .fallback = "none",
			    .loop_only = true,
			    .value = "NAME",
			    .help = "the model that the agent is to use",
			    .more = "`none` is the agent's own choice. `ringfence prices` knows what they cost.",
			    .example = "claude-sonnet-5-5",
			    .widens = "the agent uses the model" },
	[SETTING_MODELS] = { .id = SETTING_MODELS,
			     .key = "models",
			     .type = SETTING_CHOICE,
			     .trust = SETTING_TIGHTER,
			     .fallback = "none",
			     .in_loop = "auto",
			     .loop_only = true,
			     .value = "none|auto",
			     .choices = models_choices,
			     .help = "reach models through the gateway, which adds your key and counts",
			     .more = "`auto`: every provider whose key is found (`model-key`) or whose `upstream` is set. The command gets a token that is good for this run alone, and no key; what it spends is counted and kept within the budgets as it streams. Not with `net: open`.",
			     .example = "auto",
			     .widens = "the command reaches models at your cost:" },
	[SETTING_MODEL_KEY] = { .id = SETTING_MODEL_KEY,
				.key = "model-key",
				.type = SETTING_WORDS,
				.trust = SETTING_TRUSTED,
				.loop_only = true,
				.value = "PROVIDER=SOURCE",
				.help = "where the key of anthropic, openai or gemini is: env:NAME, file:PATH, command:LINE",
				.more = "Without it: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, and `GEMINI_API_KEY` or `GOOGLE_API_KEY`, where they are set. The key is read when a run begins, and is in the gateway alone.",
				.example = "[\"anthropic=command:pass show anthropic\"]",
				.widens = "the gateway uses the key of" },
	[SETTING_UPSTREAM] = { .id = SETTING_UPSTREAM,
			       .key = "upstream",
			       .type = SETTING_WORDS,
			       .trust = SETTING_TRUSTED,
			       .loop_only = true,
			       .value = "PROVIDER=URL",
			       .help = "another server for a provider's requests; local:URL is one that costs nothing",
			       .more = "`openai=local:http://127.0.0.1:11434` is an Ollama on this machine: its tokens are counted at no price, and it needs no key.",
			       .example = "[\"openai=local:http://127.0.0.1:11434\"]",
			       .widens = "requests to models, with your key, go to" },
	[SETTING_UPSTREAM_CA] = { .id = SETTING_UPSTREAM_CA,
				  .key = "upstream-ca",
				  .type = SETTING_TEXT,
				  .trust = SETTING_TRUSTED,
				  .fallback = "none",
				  .loop_only = true,
				  .value = "PATH",
				  .help = "certificates of authorities for those servers, instead of the system's",
				  .more = "An absolute path of a file or of a folder as `openssl rehash` makes it.",
				  .example = "/etc/corporate/ca.pem",
				  .widens =
					  "servers of models are believed with the certificates of" },
	[SETTING_UPSTREAM_PROXY] = { .id = SETTING_UPSTREAM_PROXY,
				     .key = "upstream-proxy",
				     .type = SETTING_TEXT,
				     .trust = SETTING_TRUSTED,
				     .fallback = "none",
				     .loop_only = true,
				     .value = "URL",
				     .help = "a proxy on the way to those servers (CONNECT): http://host:port",
				     .more = "Without it, `HTTPS_PROXY` is honoured where it is set.",
				     .example = "http://proxy.example:3128",
				     .widens = "requests to models go through" },
	[SETTING_UNKNOWN_MODEL] = { .id = SETTING_UNKNOWN_MODEL,
				    .key = "unknown-model",
				    .type = SETTING_CHOICE,
				    .trust = SETTING_TIGHTER,
				    .fallback = "dearest",
				    .loop_only = true,
				    .value = "refuse|dearest",
				    .choices = unknown_choices,
				    .help = "a model without a price is refused, or counts as the dearest one",
				    .more = "`ringfence prices` shows those that have one; `~/.config/ringfence/prices.txt` adds others.",
				    .example = "refuse",
				    .widens = "a model whose price is not known may be used:" },
	[SETTING_DAILY_BUDGET] = { .id = SETTING_DAILY_BUDGET,
				   .key = "daily-budget",
				   .type = SETTING_MONEY,
				   .trust = SETTING_TIGHTER,
				   .fallback = "none",
				   .loop_only = true,
				   .value = "DOLLARS",
				   .help = "money of all your runs in a day, in US$",
				   .more = "Counted by the gateway, from midnight to midnight by this machine's clock.",
				   .example = "50",
				   .widens = "all runs of a day may cost US$" },
	[SETTING_SESSION] = { .id = SETTING_SESSION,
			      .key = "session",
			      .type = SETTING_CHOICE,
			      .trust = SETTING_FREE,
			      .fallback = "fresh",
			      .loop_only = true,
			      .value = "fresh|continue",
			      .choices = session_choices,
			      .help = "each iteration begins anew, or goes on with the agent's session",
			      .more = "With `continue`, an agent command finds the session that the one before named in `RINGFENCE_SESSION`.",
			      .example = "continue" },
	[SETTING_PROMISE] = { .id = SETTING_PROMISE,
			      .key = "promise",
			      .type = SETTING_TEXT,
			      .trust = SETTING_FREE,
			      .fallback = "none",
			      .loop_only = true,
			      .value = "TEXT",
			      .help = "the work is done only when the agent ends with this text",
			      .more = "Where neither a check nor a task list is named, `<promise>COMPLETE</promise>` is asked for.",
			      .example = "\"<promise>COMPLETE</promise>\"" },
	[SETTING_TASKS] = { .id = SETTING_TASKS,
			    .key = "tasks",
			    .type = SETTING_TEXT,
			    .trust = SETTING_FREE,
			    .fallback = "none",
			    .loop_only = true,
			    .value = "FILE",
			    .help = "the work is done only when every box (`- [x]`) of this file is ticked",
			    .more = "A path in the project.",
			    .example = "TASKS.md" },
	[SETTING_MAX_ITERATIONS] = { .id = SETTING_MAX_ITERATIONS,
				     .key = "max-iterations",
				     .type = SETTING_COUNT,
				     .trust = SETTING_TIGHTER,
				     .fallback = "20",
				     .loop_only = true,
				     .value = "COUNT",
				     .help = "iterations of a loop",
				     .example = "10",
				     .widens = "a loop may have so many iterations:" },
	[SETTING_MAX_TIME] = { .id = SETTING_MAX_TIME,
			       .key = "max-time",
			       .type = SETTING_TIME,
			       .trust = SETTING_TIGHTER,
			       .fallback = "8h",
			       .loop_only = true,
			       .value = "TIME",
			       .help = "time of a loop as a whole, without pauses",
			       .example = "2h",
			       .widens = "a loop may last for" },
	[SETTING_IDLE_TIMEOUT] = { .id = SETTING_IDLE_TIMEOUT,
				   .key = "idle-timeout",
				   .type = SETTING_TIME,
				   .trust = SETTING_TIGHTER,
				   .fallback = "15m",
				   .loop_only = true,
				   .value = "TIME",
				   .help = "end an agent that prints nothing for so long",
				   .example = "5m",
				   .widens = "an agent may be silent for" },
	[SETTING_CHECK_TIMEOUT] = { .id = SETTING_CHECK_TIMEOUT,
				    .key = "check-timeout",
				    .type = SETTING_TIME,
				    .trust = SETTING_TIGHTER,
				    .fallback = "15m",
				    .loop_only = true,
				    .value = "TIME",
				    .help = "end a check after so long; it has failed then",
				    .example = "5m",
				    .widens = "a check may run for" },
	[SETTING_BUDGET] = { .id = SETTING_BUDGET,
			     .key = "budget",
			     .type = SETTING_MONEY,
			     .trust = SETTING_TIGHTER,
			     .fallback = "2",
			     .loop_only = true,
			     .value = "DOLLARS",
			     .help = "money of one iteration, in US$",
			     .more = "With `models` the gateway counts, and lets nothing pass that could exceed it. Else counted is what the agent's output says it cost (of `plain` output nothing is known), and an agent that reaches it is ended.",
			     .example = "2.50",
			     .widens = "an iteration may cost US$" },
	[SETTING_MAX_COST] = { .id = SETTING_MAX_COST,
			       .key = "max-cost",
			       .type = SETTING_MONEY,
			       .trust = SETTING_TIGHTER,
			       .fallback = "25",
			       .loop_only = true,
			       .value = "DOLLARS",
			       .help = "money of a loop as a whole, in US$",
			       .more = "With `models` the gateway counts, and lets nothing pass that could exceed it. Else counted is what the agent's output says it cost (of `plain` output nothing is known), and an agent that reaches it is ended.",
			       .example = "10",
			       .widens = "a loop may cost US$" },
	[SETTING_WARN_COST] = { .id = SETTING_WARN_COST,
				.key = "warn-cost",
				.type = SETTING_MONEY,
				.trust = SETTING_TIGHTER,
				.fallback = "15",
				.loop_only = true,
				.value = "DOLLARS",
				.help = "the cost of a loop at which a warning is due, in US$",
				.example = "8",
				.widens = "the warning comes only at US$" },
	[SETTING_PAUSE_ON_WARNING] = { .id = SETTING_PAUSE_ON_WARNING,
				       .key = "pause-on-warning",
				       .type = SETTING_SWITCH,
				       .trust = SETTING_TIGHTER,
				       .fallback = "true",
				       .loop_only = true,
				       .value = "true|false",
				       .help = "pause the loop when the cost warning comes",
				       .example = "false",
				       .widens = "a loop is not paused at the cost warning:" },
	[SETTING_MAX_ERRORS] = { .id = SETTING_MAX_ERRORS,
				 .key = "max-errors",
				 .type = SETTING_COUNT,
				 .trust = SETTING_TIGHTER,
				 .fallback = "5",
				 .loop_only = true,
				 .value = "COUNT",
				 .help = "errors in a row that end a loop",
				 .example = "3",
				 .widens = "errors in a row may be as many as" },
	[SETTING_MAX_SAME_ERROR] = { .id = SETTING_MAX_SAME_ERROR,
				     .key = "max-same-error",
				     .type = SETTING_COUNT,
				     .trust = SETTING_TIGHTER,
				     .fallback = "5",
				     .loop_only = true,
				     .value = "COUNT",
				     .help = "times in a row that the same error ends a loop",
				     .more = "The same error is a check, or an agent that fails, with the same output but for numbers, times and addresses. While more checks or tests pass than ever before it is not counted, and while each iteration leads to files that were not there before it ends the loop only at twice the number.",
				     .example = "3",
				     .widens = "the same error may come so often:" },
	[SETTING_MAX_NO_PROGRESS] = { .id = SETTING_MAX_NO_PROGRESS,
				      .key = "max-no-progress",
				      .type = SETTING_COUNT,
				      .trust = SETTING_TIGHTER,
				      .fallback = "5",
				      .loop_only = true,
				      .value = "COUNT",
				      .help = "iterations without progress in a row that end a loop",
				      .example = "3",
				      .widens = "iterations without progress may be as many as" },
	[SETTING_MAX_INTERRUPTED] = { .id = SETTING_MAX_INTERRUPTED,
				      .key = "max-interrupted",
				      .type = SETTING_COUNT,
				      .trust = SETTING_TIGHTER,
				      .fallback = "5",
				      .loop_only = true,
				      .value = "COUNT",
				      .help = "interruptions in a row that end a loop",
				      .example = "3",
				      .widens = "interruptions in a row may be as many as" },
	[SETTING_CHECKPOINTS] = { .id = SETTING_CHECKPOINTS,
				  .key = "checkpoints",
				  .type = SETTING_SWITCH,
				  .trust = SETTING_TIGHTER,
				  .fallback = "true",
				  .loop_only = true,
				  .value = "true|false",
				  .help = "take checkpoints around every iteration",
				  .more = "`ringfence rollback` needs them.",
				  .example = "false",
				  .widens = "what a loop does cannot be undone, with checkpoints" },
	[SETTING_CHECKPOINT_EVERY] = { .id = SETTING_CHECKPOINT_EVERY,
				       .key = "checkpoint-every",
				       .type = SETTING_TIME,
				       .trust = SETTING_TIGHTER,
				       .fallback = "15m",
				       .loop_only = true,
				       .value = "TIME",
				       .help = "take a checkpoint within an iteration so often",
				       .example = "5m",
				       .widens =
					       "within an iteration a checkpoint is taken only every" },
	[SETTING_CHECKPOINT_IGNORED] = { .id = SETTING_CHECKPOINT_IGNORED,
					 .key = "checkpoint-ignored",
					 .type = SETTING_SWITCH,
					 .trust = SETTING_TIGHTER,
					 .fallback = "false",
					 .loop_only = true,
					 .value = "true|false",
					 .help = "keep ignored files in checkpoints, too",
					 .more = "Ignored is what `.gitignore` files said when the loop began.",
					 .example = "true",
					 .widens = "ignored files cannot be brought back:" },
	[SETTING_CHECKPOINT_SIZE] = { .id = SETTING_CHECKPOINT_SIZE,
				      .key = "checkpoint-size",
				      .type = SETTING_SIZE,
				      .trust = SETTING_TRUSTED,
				      .fallback = "10G",
				      .loop_only = true,
				      .value = "SIZE",
				      .help = "what all checkpoints of a project may take",
				      .more = "Above it, checkpoints go: first those within iterations, the oldest first; "
					      "never the first and the latest one of a loop.",
				      .example = "2G",
				      .widens =
					      "checkpoints are removed when they take more than" },
	[SETTING_CHECKPOINT_AGE] = { .id = SETTING_CHECKPOINT_AGE,
				     .key = "checkpoint-age",
				     .type = SETTING_TIME,
				     .trust = SETTING_TRUSTED,
				     .fallback = "30d",
				     .loop_only = true,
				     .value = "TIME",
				     .help = "how long checkpoints of earlier loops are kept",
				     .example = "7d",
				     .widens = "checkpoints of earlier loops are removed after" },
	[SETTING_GIT] = { .id = SETTING_GIT,
			  .key = "git",
			  .type = SETTING_CHOICE,
			  .trust = SETTING_TIGHTER,
			  .fallback = "private",
			  .loop_only = true,
			  .value = "read-only|private",
			  .choices = git_choices,
			  .help = "git inside: it only reads, or commits privately",
			  .more = "With `private` the agent can commit, branch and stash; what it committed comes into your "
				  "repository as the branch `ringfence/ID`, and nothing else of it is touched.",
			  .example = "read-only",
			  .widens = "the agent can commit, and it comes into your repository:" },
	[SETTING_GIT_SIZE] = { .id = SETTING_GIT_SIZE,
			       .key = "git-size",
			       .type = SETTING_SIZE,
			       .trust = SETTING_TIGHTER,
			       .fallback = "1G",
			       .loop_only = true,
			       .value = "SIZE",
			       .help = "what an iteration may commit at most, unpacked",
			       .more = "What is larger stays in the loop's own git directory, and is named.",
			       .example = "100M",
			       .widens = "an iteration may commit as much as" },
	[SETTING_LOOP_DISK] = { .id = SETTING_LOOP_DISK,
				.key = "loop-disk",
				.type = SETTING_SIZE,
				.trust = SETTING_TIGHTER,
				.fallback = "20G",
				.loop_only = true,
				.value = "SIZE",
				.help = "what a loop may take of the disk",
				.more = "Counted are its own files, its checkpoints, and the work tree that `--worktree` gives it. "
					"Above it, what runs is ended and the loop pauses.",
				.example = "5G",
				.widens = "a loop may take" },
	[SETTING_MIN_FREE] = { .id = SETTING_MIN_FREE,
			       .key = "min-free",
			       .type = SETTING_SIZE,
			       .trust = SETTING_TRUSTED,
			       .fallback = "512M",
			       .loop_only = true,
			       .value = "SIZE",
			       .help = "what must stay free on the disks of project and loop",
			       .more = "Below it, what runs is ended and the loop pauses. The default means at most a hundredth "
				       "of a disk.",
			       .example = "10G",
			       .widens = "the loop goes on until there is left no more than" },
};

_Static_assert(sizeof settings / sizeof *settings == SETTING_ID_COUNT, "a row for each setting");

const struct setting *setting_find(const char *key, const char **ret_nearest)
{
	enum { LONGEST_KEY = 64 }; /* nothing longer is near to anything */
	const char *nearest = NULL;
	size_t distance = (size_t)-1;

	for (size_t i = 0; i < SETTING_ID_COUNT; i++) {
		const char *known = settings[i].key;
		size_t far;

		if (strcmp(known, key) == 0)
			return &settings[i];
		if (!ret_nearest || strlen(key) > LONGEST_KEY)
			continue;
		far = text_distance(key, known);
		if (far < distance && far * 3 <= strlen(known) + 1) {
			distance = far;
			nearest = known;
		}
	}
	if (ret_nearest)
		*ret_nearest = nearest;
	return NULL;
}

bool setting_is_list(const struct setting *setting)
{
	return setting->type == SETTING_PATHS || setting->type == SETTING_WORDS;
}

char *setting_allowed(const struct setting *setting)
{
	struct buffer text = BUFFER_INIT(4096);

	switch (setting->type) {
	case SETTING_SWITCH:
		return mem_dup("true or false");
	case SETTING_SIZE:
		return mem_dup(
			"a size such as 512M or 4G (K, M, G or T; a bare number is bytes), or none");
	case SETTING_COUNT:
		return mem_dup("a whole number above 0, or none");
	case SETTING_CPUS:
		return mem_dup("a number such as 2 or 1.5 (up to 1024), or none");
	case SETTING_TIME:
		return mem_dup(
			"a time such as 30s, 10m, 2h or 1h30m (a bare number is minutes), or none");
	case SETTING_MONEY:
		return mem_dup("an amount such as 2 or 2.50, or none");
	case SETTING_TEXT:
		return mem_format("a text (%s), or none", setting->value);
	case SETTING_PATHS:
		return mem_dup("a path or a list of paths");
	case SETTING_CHOICE:
	case SETTING_WORDS:
		break;
	}
	if (!setting->choices)
		buffer_printf(&text, "%s or a list of these", setting->value);
	for (size_t i = 0; setting->choices && setting->choices[i]; i++)
		buffer_printf(&text, "%s%s",
			      i == 0                    ? ""
			      : setting->choices[i + 1] ? ", "
							: " or ",
			      setting->choices[i]);
	buffer_text(&text);
	return text.data;
}

static int wrong(const struct setting *setting, const char *text, struct error *err)
{
	AUTO_FREE char *allowed = setting_allowed(setting);

	if (!*text)
		return error_set(err, "%s has an empty value; it is %s", setting->key, allowed);
	return error_set(err, "%s is %s, not '%.200s'", setting->key, allowed, text);
}

static int parse_choice(const struct setting *setting, const char *text, uint64_t *ret_number)
{
	for (size_t i = 0; setting->choices[i]; i++) {
		if (strcmp(setting->choices[i], text) == 0) {
			*ret_number = i;
			return 0;
		}
	}
	return -1;
}

static int parse_limit(const struct setting *setting, const char *text, uint64_t *ret_number)
{
	if (strcmp(text, "none") == 0) {
		*ret_number = 0;
		return 0;
	}
	switch (setting->type) {
	case SETTING_SIZE:
		return text_bytes(text, ret_number);
	case SETTING_COUNT:
		return text_count(text, ret_number);
	case SETTING_CPUS:
		return text_thousandths(text, ret_number) < 0 || *ret_number > 1024000 ? -1 : 0;
	case SETTING_MONEY:
		if (text_thousandths(text, ret_number) < 0)
			return -1;
		*ret_number *= 1000000;
		return 0;
	default:
		return text_duration_ms(text, ret_number);
	}
}

static int check_variable(const struct setting *setting, const char *text, struct error *err)
{
	size_t size = strcspn(text, "=");

	if (size == 0)
		return error_set(err, "%s '%.200s' has no name; it is NAME or NAME=VALUE",
				 setting->key, text);
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return error_set(
				err,
				"%s: '%.200s' is no name of a variable (letters, digits and _); it is NAME or NAME=VALUE",
				setting->key, text);
	return 0;
}

/* Lists hold any text, with a few exceptions. */
static int parse_entry(const struct setting *setting, const char *text, uint64_t *ret_number,
		       struct error *err)
{
	*ret_number = 0;
	if (!*text)
		return wrong(setting, text, err);
	if (strlen(text) > SETTING_LONGEST)
		return error_set(err, "%s has a value of %zu bytes; the longest is %d",
				 setting->key, strlen(text), (int)SETTING_LONGEST);
	if (setting->id == SETTING_ENV)
		return check_variable(setting, text, err);
	if (setting->choices)
		return parse_choice(setting, text, ret_number) < 0 ? wrong(setting, text, err) : 0;
	return 0;
}

/* A number that differs where texts differ (FNV-1a), so that a change is seen; 0 is none. */
static int parse_text(const struct setting *setting, const char *text, uint64_t *ret_number,
		      struct error *err)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	if (parse_entry(setting, text, ret_number, err) < 0)
		return -1;
	for (const char *at = text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	*ret_number = strcmp(text, "none") == 0 ? 0 : hash | 1;
	return 0;
}

int setting_parse(const struct setting *setting, const char *text, uint64_t *ret_number,
		  struct error *err)
{
	int result;

	switch (setting->type) {
	case SETTING_PATHS:
	case SETTING_WORDS:
		return parse_entry(setting, text, ret_number, err);
	case SETTING_TEXT:
		return parse_text(setting, text, ret_number, err);
	case SETTING_SWITCH:
		result = strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? 0 : -1;
		if (result == 0)
			*ret_number = text[0] == 't';
		break;
	case SETTING_CHOICE:
		result = parse_choice(setting, text, ret_number);
		break;
	default:
		result = parse_limit(setting, text, ret_number);
		break;
	}
	return result < 0 ? wrong(setting, text, err) : 0;
}

bool setting_widens(const struct setting *setting, uint64_t number, uint64_t before)
{
	if (setting->trust == SETTING_TRUSTED)
		return number != before;
	if (setting->trust == SETTING_FREE)
		return false;
	switch (setting->type) {
	case SETTING_SWITCH: /* true is the stricter one of all of them */
		return number < before;
	case SETTING_CHOICE: /* from strict to wide */
		return number > before;
	default:
		if (!before && setting->unset && number)
			before = setting->unset();
		return before != 0 && (number == 0 || number > before);
	}
}

const char *setting_trust_text(const struct setting *setting)
{
	switch (setting->trust) {
	case SETTING_FREE:
		return "A project's own file may set it: it can only tighten.";
	case SETTING_TIGHTER:
		return "A project's own file may tighten it; what widens needs `ringfence trust`.";
	default:
		return "In a project's own file it needs `ringfence trust`.";
	}
}
