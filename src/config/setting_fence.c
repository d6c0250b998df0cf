/* Settings of the fence: see setting.h. */
#include "config/setting.h"

#include "draft/draft_kinds.h"
#include "fence/fence_mechanisms.h"

#include <unistd.h>

#define WORD(name)    #name,
#define OR_WORD(name) "|" #name

#define KIND_WORD(name, mark, layered) #name,

static const char *const net_choices[] = { "none", "list", "open", NULL };
static const char *const fence_choices[] = { "auto", FENCE_MECHANISMS(WORD) NULL };
static const char *const draft_choices[] = { "auto", DRAFT_KINDS(KIND_WORD) NULL };
static const char *const weaker_choices[] = { "landlock",  "abstract-sockets", "memory",
					      "cpus",      "processes",        "open-files",
					      "file-size", "tmp-size",         "disk",
					      NULL };

/* The fence always limits processes. */
static uint64_t most_processes(void)
{
	return 2048;
}

/* The kernel's default size of a tmpfs. */
static uint64_t half_of_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}

const struct setting setting_fence_rows[] = {
	[SETTING_WRITE] = {
		.id = SETTING_WRITE,
		.key = "write",
		.type = SETTING_PATHS,
		.trust = SETTING_TIGHTER,
		.value = "PATH",
		.help = "make a path writable, and nothing else in the project",
		.more = "A project's own file may name folders of the project, which narrows "
		        "what is writable. It cannot open protected paths (`.git`, editor and "
		        "agent settings, secrets), and it yields where your own file or an "
		        "option sets `write` or `read-only`.",
		.example = "[src, tests]",
		.widens = "the command may change",
	},
	[SETTING_READ] = {
		.id = SETTING_READ,
		.key = "read",
		.type = SETTING_PATHS,
		.trust = SETTING_TRUSTED,
		.value = "PATH",
		.help = "make a path readable, even outside the project or hidden",
		.more = "A named path beats the patterns that hide secrets: `read: "
		        ".env.example` shows that file.",
		.example = "[.env.example, ~/shared/fixtures]",
		.widens = "the command may read",
	},
	[SETTING_HIDE] = {
		.id = SETTING_HIDE,
		.key = "hide",
		.type = SETTING_PATHS,
		.trust = SETTING_FREE,
		.value = "PATH",
		.help = "hide a path",
		.more = "For patterns, use `.ringfenceignore`.",
		.example = "[fixtures/private]",
	},
	[SETTING_READ_ONLY] = {
		.id = SETTING_READ_ONLY,
		.key = "read-only",
		.type = SETTING_SWITCH,
		.trust = SETTING_TIGHTER,
		.fallback = "false",
		.value = "true|false",
		.help = "make the project read-only, except for write paths",
		.more = "Cancels the `write` of every lower layer.",
		.example = "true",
		.widens = "the project is writable although your own setting is read-only:",
	},
	[SETTING_ENV] = {
		.id = SETTING_ENV,
		.key = "env",
		.type = SETTING_WORDS,
		.trust = SETTING_TRUSTED,
		.value = "NAME[=VALUE]",
		.help = "pass a variable on, or set it",
		.more = "A variable that a file names but that is not set is skipped; one that "
		        "an option names must be set.",
		.example = "[OPENAI_API_KEY, DEBUG=1]",
		.widens = "the command gets the variable",
	},
	[SETTING_NET] = {
		.id = SETTING_NET,
		.key = "net",
		.type = SETTING_CHOICE,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.value = "none|list|open",
		.choices = net_choices,
		.help = "none, only the hosts that allow names, or the host's own",
		.more = "Naming a host with `allow` implies `list`, unless the same layer or a "
		        "higher one says otherwise. `open` is the host's network, with its "
		        "loopback and internal services.",
		.example = "open",
		.widens = "the command can reach this machine's network, including loopback:",
	},
	[SETTING_ALLOW] = {
		.id = SETTING_ALLOW,
		.key = "allow",
		.type = SETTING_WORDS,
		.trust = SETTING_TRUSTED,
		.value = "HOST",
		.help = "allow a host, or a set (npm, apt, pip, cargo ...)",
		.more = "The sets are `npm`, `pip`, `pypi`, `cargo`, `go`, `maven`, `gradle`, `gem`, "
		        "`composer`, `nuget`, `playwright`, `apt`, `git-remotes` and `github`; a set "
		        "means the hosts that your own configuration of that tool names, or else its "
		        "default. A host is written `host` or `host:port` (default: 443 and 80), `*.host` "
		        "(subdomains only), or as an address. Addresses that are not public are "
		        "refused even if an allowed name resolves to them, unless they are "
		        "named themselves.",
		.example = "[npm, \"*.example.org\", \"10.0.0.5:8080\"]",
		.widens = "the command can reach",
	},
	[SETTING_NET_CONNECTIONS] = {
		.id = SETTING_NET_CONNECTIONS,
		.key = "net-connections",
		.type = SETTING_COUNT,
		.trust = SETTING_TIGHTER,
		.fallback = "1024",
		.value = "N",
		.help = "limit concurrent connections to allowed hosts",
		.example = "64",
		.widens = "the command may have this many connections at once:",
	},
	[SETTING_NET_IN] = {
		.id = SETTING_NET_IN,
		.key = "net-in",
		.type = SETTING_SIZE,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.value = "SIZE",
		.help = "limit bytes received from each allowed host",
		.example = "2G",
		.widens = "the command may receive from each host",
	},
	[SETTING_NET_OUT] = {
		.id = SETTING_NET_OUT,
		.key = "net-out",
		.type = SETTING_SIZE,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.value = "SIZE",
		.help = "limit bytes sent to each allowed host",
		.more = "A command can send everything it can read to a host that it can reach; "
		        "this bounds how much.",
		.example = "10M",
		.widens = "the command may send to each host",
	},
	[SETTING_LISTEN] = {
		.id = SETTING_LISTEN,
		.key = "listen",
		.type = SETTING_WORDS,
		.trust = SETTING_TRUSTED,
		.value = "ADDR:PORT[=SOCKET]",
		.help = "forward a loopback port inside to a unix socket outside",
		.more = "Without a socket, Ringfence uses one of its own, named after the port.",
		.example = "[\"127.0.0.1:5432=/run/postgresql/.s.PGSQL.5432\"]",
		.widens = "connections inside reach this socket of the machine:",
	},
	[SETTING_TIMEOUT] = {
		.id = SETTING_TIMEOUT,
		.key = "timeout",
		.type = SETTING_TIME,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.in_loop = "60m",
		.value = "TIME",
		.help = "stop after 30s, 10m, 2h; a bare number is minutes",
		.more = "Sends TERM, and KILL five seconds later. In a loop it limits the agent "
		        "in one iteration.",
		.example = "30m",
		.widens = "the command may run for",
	},
	[SETTING_FENCE] = {
		.id = SETTING_FENCE,
		.key = "fence",
		.type = SETTING_CHOICE,
		.trust = SETTING_TRUSTED,
		.fallback = "auto",
		.value = "auto" FENCE_MECHANISMS(OR_WORD),
		.choices = fence_choices,
		.help = "choose the sandbox mechanism",
		.more = "`auto` is the first of `bwrap`, `podman` and `docker` that is installed, or "
			"with an `image` the first of the last two. `landlock` needs no namespaces "
			"and [is weaker](fence.md#without-namespaces).",
		.example = "bwrap",
		.widens = "the fence is made with",
	},
	[SETTING_IMAGE] = {
		.id = SETTING_IMAGE,
		.key = "image",
		.type = SETTING_TEXT,
		.trust = SETTING_TRUSTED,
		.fallback = "none",
		.value = "NAME",
		.help = "show the system folders of this container image",
		.more = "For `fence: podman` and `docker`; other fences refuse it. Without an image, "
			"a command sees the system folders of this machine. Nothing else of an image "
			"is used: its entry point, user, variables and volumes have no effect. "
			"[`ringfence image build`](containers.md#images) makes images.",
		.example = "ringfence/claude",
		.widens = "the system folders that the command sees, with its programs, come from",
	},
	[SETTING_ACCEPT_WEAKER] = {
		.id = SETTING_ACCEPT_WEAKER,
		.key = "accept-weaker",
		.type = SETTING_WORDS,
		.trust = SETTING_TRUSTED,
		.value = "WHAT",
		.choices = weaker_choices,
		.help = "run even without landlock, abstract-sockets or a limit",
		.more = "Otherwise a run is refused if this kernel or machine lacks a part of "
		        "the fence.",
		.example = "[memory, cpus]",
		.widens = "the command may run without this part of the fence:",
	},
	[SETTING_MEMORY] = {
		.id = SETTING_MEMORY,
		.key = "memory",
		.type = SETTING_SIZE,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.in_loop = "4G",
		.value = "SIZE",
		.help = "limit memory of all processes together: 512M, 4G",
		.example = "4G",
		.widens = "the command may use this much memory:",
	},
	[SETTING_CPU_COUNT] = {
		.id = SETTING_CPU_COUNT,
		.key = "cpus",
		.type = SETTING_CPUS,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.in_loop = "2",
		.value = "NUMBER",
		.help = "limit CPU time, in CPUs: 1.5",
		.example = "1.5",
		.widens = "the command may use this many CPUs:",
	},
	[SETTING_PROCESSES] = {
		.id = SETTING_PROCESSES,
		.key = "processes",
		.type = SETTING_COUNT,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.in_loop = "512",
		.value = "COUNT",
		.help = "limit processes and threads",
		.example = "500",
		.unset = most_processes,
		.widens = "the command may have this many processes:",
	},
	[SETTING_OPEN_FILES] = {
		.id = SETTING_OPEN_FILES,
		.key = "open-files",
		.type = SETTING_COUNT,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.value = "COUNT",
		.help = "limit open files of each process",
		.example = "1024",
		.widens = "each process may have this many open files:",
	},
	[SETTING_FILE_SIZE] = {
		.id = SETTING_FILE_SIZE,
		.key = "file-size",
		.type = SETTING_SIZE,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.value = "SIZE",
		.help = "limit the size of each written file",
		.example = "1G",
		.widens = "the command may write files of",
	},
	[SETTING_TMP_SIZE] = {
		.id = SETTING_TMP_SIZE,
		.key = "tmp-size",
		.type = SETTING_SIZE,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.value = "SIZE",
		.help = "limit the size of the private /tmp and home",
		.example = "2G",
		.unset = half_of_memory,
		.widens = "the private /tmp may hold",
	},
	[SETTING_DISK] = {
		.id = SETTING_DISK,
		.key = "disk",
		.type = SETTING_SIZE,
		.trust = SETTING_TIGHTER,
		.fallback = "none",
		.value = "SIZE",
		.help = "limit bytes written to disks",
		.example = "5G",
		.widens = "the project may grow by",
	},
	[SETTING_DENIALS] = {
		.id = SETTING_DENIALS,
		.key = "denials",
		.type = SETTING_SWITCH,
		.trust = SETTING_TIGHTER,
		.fallback = "true",
		.value = "true|false",
		.help = "report denials",
		.example = "false",
		.widens = "denials are not reported:",
	},
	[SETTING_TRACE_READS] = {
		.id = SETTING_TRACE_READS,
		.key = "trace-reads",
		.type = SETTING_SWITCH,
		.trust = SETTING_TIGHTER,
		.fallback = "false",
		.value = "true|false",
		.help = "also report denied reads",
		.example = "true",
		.widens = "denied reads are not reported although your own setting asks for it:",
	},
	[SETTING_RAW_TERMINAL] = {
		.id = SETTING_RAW_TERMINAL,
		.key = "raw-terminal",
		.type = SETTING_SWITCH,
		.trust = SETTING_OWN,
		.fallback = "false",
		.value = "true|false",
		.help = "do not filter what the command sends to your terminal",
		.more = "Otherwise a command can draw on the screen, but not use the clipboard, the "
		        "title, links, images or notifications, nor ask the terminal; see "
		        "[the fence](fence.md#the-terminal). Only for `ringfence exec`: a loop has no "
		        "terminal.",
		.example = "true",
		.widens = "the command's output reaches your terminal unfiltered:",
	},
	[SETTING_DRAFT_KIND] = {
		.id = SETTING_DRAFT_KIND,
		.key = "draft-kind",
		.type = SETTING_CHOICE,
		.trust = SETTING_TRUSTED,
		.fallback = "auto",
		.value = "KIND",
		.choices = draft_choices,
		.help = "make new drafts of this kind: auto, overlay or copy",
		.more = "`auto` takes an overlay if it works here (see `ringfence doctor`), and "
		        "copies the project otherwise; see [drafts](drafts.md#where-it-works).",
		.example = "copy",
		.widens = "new drafts are of this kind:",
	},
	[SETTING_DRAFT_SIZE] = {
		.id = SETTING_DRAFT_SIZE,
		.key = "draft-size",
		.type = SETTING_SIZE,
		.trust = SETTING_TIGHTER,
		.fallback = "20G",
		.value = "SIZE",
		.help = "limit the size of a draft that is a copy",
		.more = "A larger project is refused before anything is copied. Contents that the "
		        "file system can share (btrfs, xfs) do not count.",
		.example = "5G",
		.widens = "a draft may be a copy of as much as",
	},
	[SETTING_DRAFTS_SIZE] = {
		.id = SETTING_DRAFTS_SIZE,
		.key = "drafts-size",
		.type = SETTING_SIZE,
		.trust = SETTING_TIGHTER,
		.fallback = "20G",
		.value = "SIZE",
		.help = "limit the disk usage of all drafts of commands",
		.more = "Above the limit, `exec --draft` makes no new draft, and says how to make "
		        "room. It removes no draft.",
		.example = "5G",
		.widens = "drafts may use as much as",
	},
	[SETTING_DRAFTS_AGE] = {
		.id = SETTING_DRAFTS_AGE,
		.key = "drafts-age",
		.type = SETTING_TIME,
		.trust = SETTING_TRUSTED,
		.fallback = "30d",
		.value = "TIME",
		.help = "keep drafts that are applied this long",
		.more = "`exec --draft` removes drafts of any project that were used last before "
		        "that, if everything in them is applied, or they changed nothing. All "
		        "others stay until you discard them.",
		.example = "7d",
		.widens = "drafts that are applied are removed after",
	},
};

_Static_assert(sizeof setting_fence_rows / sizeof *setting_fence_rows == SETTING_CHECK,
	       "a row for each setting");
