/* The wall at a path, the acts that it refuses, and its name. From text alone. */
#include "fence/fence_plan.h"
#include "unit.h"

#include "fence/watch/harmless.h"
#include "fence/watch/verdict.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

/* Sorted, as ruleset_collapse() leaves them. */
static struct fence_rule rules[] = {
	{ .path = (char *)"/h/u/.tools", .access = WIRE_READ, .origin = (char *)"tool chains" },
	{ .path = (char *)"/h/u/p",
	  .access = WIRE_WRITE,
	  .origin = (char *)"built-in",
	  .exact = true,
	  .project = true },
	{ .path = (char *)"/h/u/p/.env",
	  .access = WIRE_HIDE,
	  .origin = (char *)"environment file" },
	{ .path = (char *)"/h/u/p/.git", .access = WIRE_READ, .origin = (char *)"git" },
	{ .path = (char *)"/h/u/p/data",
	  .access = WIRE_HIDE,
	  .origin = (char *)"--hide",
	  .exact = true,
	  .asked = true },
	{ .path = (char *)"/srv/lib",
	  .access = WIRE_READ,
	  .origin = (char *)"ringfence.yml:12",
	  .exact = true,
	  .asked = true },
	{ .path = (char *)"/tmp/shared",
	  .access = WIRE_WRITE,
	  .origin = (char *)"--write",
	  .exact = true,
	  .asked = true },
};
static const struct fence_spec spec = { 0 };
static const struct fence_plan plan = {
	.project = (char *)"/h/u/p",
	.home = (char *)"/h/u",
	.rules = rules,
	.rule_count = sizeof rules / sizeof *rules,
	.spec = &spec,
};

static bool wall(const char *path, enum verdict_wall wanted)
{
	return verdict_at(&plan, path).wall == wanted;
}

static void walls(void)
{
	CHECK("the project is open, and so are places that a rule opens",
	      wall("/h/u/p/src/x", VERDICT_OPEN) && wall("/tmp/shared/x", VERDICT_OPEN));
	CHECK("rules inside the project apply",
	      wall("/h/u/p/.env", VERDICT_HIDDEN) &&
		      wall("/h/u/p/.git/hooks/x", VERDICT_READ_ONLY));
	CHECK("home, /tmp and /dev/shm are the fence's own",
	      wall("/h/u/x", VERDICT_PRIVATE) && wall("/tmp/x", VERDICT_PRIVATE) &&
		      wall("/dev/shm/x", VERDICT_PRIVATE));
	CHECK("a rule in a private place beats it", wall("/h/u/.tools/bin/x", VERDICT_READ_ONLY));
	CHECK("the system is read-only", wall("/usr/bin/x", VERDICT_READ_ONLY) &&
						 wall("/etc/passwd", VERDICT_READ_ONLY) &&
						 wall("/lib64", VERDICT_READ_ONLY) &&
						 wall("/run/ringfence/init", VERDICT_READ_ONLY));
	CHECK("kernel settings are read-only, unlike the rest of /proc",
	      wall("/proc/sys/kernel/core_pattern", VERDICT_READ_ONLY) &&
		      wall("/proc/7/oom_score_adj", VERDICT_OPEN));
	CHECK("devices can be used but not created", wall("/dev/null", VERDICT_FIXED));
	CHECK("everything else is absent, even with a similar prefix",
	      wall("/", VERDICT_OUTSIDE) && wall("/h/u2/x", VERDICT_OUTSIDE) &&
		      wall("/usrlocal", VERDICT_OUTSIDE) && wall("/tmpx", VERDICT_OUTSIDE) &&
		      wall("/var/run/x", VERDICT_OUTSIDE));
}

/* The parent folder: NOWHERE, INSIDE, or only on the HOST. */
enum folder { NOWHERE, INSIDE, HOST };

static bool refuses(enum verdict_wall at, enum verdict_act act, bool inside, bool on_host,
		    enum folder folder)
{
	return verdict_refuses(at, act,
			       &(struct verdict_sight){ .inside = inside,
							.on_host = on_host,
							.folder = folder == INSIDE,
							.folder_on_host = folder == HOST });
}

static void refusals(void)
{
	bool held = true;

	for (int act = 0; act < VERDICT_ACTS; act++)
		for (unsigned int i = 0; i < 8; i++)
			held = held && !refuses(VERDICT_OPEN, (enum verdict_act)act, i & 1, i & 2,
						i & 4 ? INSIDE : HOST);
	CHECK("an open place refuses nothing", held);
	CHECK("writing to read-only, hidden or outside files is refused",
	      refuses(VERDICT_READ_ONLY, VERDICT_CHANGE, true, true, INSIDE) &&
		      refuses(VERDICT_HIDDEN, VERDICT_WRITE, true, true, INSIDE) &&
		      refuses(VERDICT_OUTSIDE, VERDICT_CHANGE, false, true, NOWHERE));
	CHECK("a missing file fails with or without the fence",
	      !refuses(VERDICT_READ_ONLY, VERDICT_CHANGE, false, false, INSIDE) &&
		      !refuses(VERDICT_OUTSIDE, VERDICT_REMOVE, false, false, NOWHERE) &&
		      !refuses(VERDICT_OUTSIDE, VERDICT_READ, false, false, INSIDE));
	CHECK("creating is refused if the folder exists, inside or outside",
	      refuses(VERDICT_READ_ONLY, VERDICT_CREATE, false, false, INSIDE) &&
		      refuses(VERDICT_OUTSIDE, VERDICT_WRITE, false, false, INSIDE) &&
		      refuses(VERDICT_OUTSIDE, VERDICT_CREATE, false, false, HOST) &&
		      !refuses(VERDICT_OUTSIDE, VERDICT_WRITE, false, false, NOWHERE));
	CHECK("creating an existing file fails everywhere",
	      !refuses(VERDICT_READ_ONLY, VERDICT_CREATE, true, true, INSIDE));
	CHECK("a private place accepts everything, and lacks the host's files",
	      !refuses(VERDICT_PRIVATE, VERDICT_WRITE, false, true, INSIDE) &&
		      !refuses(VERDICT_PRIVATE, VERDICT_CREATE, false, true, INSIDE) &&
		      !refuses(VERDICT_PRIVATE, VERDICT_CHANGE, true, true, INSIDE) &&
		      refuses(VERDICT_PRIVATE, VERDICT_READ, false, true, INSIDE) &&
		      refuses(VERDICT_PRIVATE, VERDICT_CONNECT, false, true, INSIDE));
	CHECK("a private place lacks the host's folders",
	      refuses(VERDICT_PRIVATE, VERDICT_WRITE, false, false, HOST) &&
		      !refuses(VERDICT_PRIVATE, VERDICT_CREATE, false, false, NOWHERE));
	CHECK("a device can be written but not created or removed",
	      !refuses(VERDICT_FIXED, VERDICT_WRITE, true, true, INSIDE) &&
		      refuses(VERDICT_FIXED, VERDICT_WRITE, false, false, INSIDE) &&
		      refuses(VERDICT_FIXED, VERDICT_REMOVE, true, true, INSIDE));
	CHECK("a hidden file can be looked up but not read",
	      refuses(VERDICT_HIDDEN, VERDICT_READ, true, true, INSIDE) &&
		      !refuses(VERDICT_HIDDEN, VERDICT_LOOK, true, true, INSIDE));
	CHECK("a read-only file can be read",
	      !refuses(VERDICT_READ_ONLY, VERDICT_READ, true, true, INSIDE));
}

static bool named(const char *path, const char *wanted)
{
	struct verdict verdict = verdict_at(&plan, path);
	AUTO_FREE char *rule = NULL;
	const char *origin = NULL;

	verdict_name(&plan, &verdict, &rule, &origin);

	AUTO_FREE char *seen = mem_format("%s, %s", rule, origin);

	return strcmp(seen, wanted) == 0;
}

static void names(void)
{
	const struct verdict system = verdict_at(&plan, "/usr/x");
	const struct verdict own = verdict_at(&plan, "/h/u/p/.git/x");
	struct fence_rule project = { .path = (char *)"/h/u/p",
				      .access = WIRE_READ,
				      .origin = (char *)"ringfence.yml:4",
				      .project = true };
	const struct verdict closed = { .wall = VERDICT_READ_ONLY,
					.by = &project,
					.path = "/h/u/p/x" };
	const struct verdict hook = { .wall = VERDICT_READ_ONLY,
				      .by = &project,
				      .path = "/h/u/p/.git/hooks/x" };
	AUTO_FREE char *rule = NULL;
	const char *origin = NULL;

	CHECK("a built-in rule has the name of its table",
	      named("/h/u/p/.env", "environment file, built-in") &&
		      named("/h/u/p/.git/config", "git, built-in"));
	CHECK("a user's rule is shown as written, with its origin",
	      named("/h/u/p/data/x", "hide data, --hide") &&
		      named("/srv/lib/x", "read /srv/lib, ringfence.yml:12"));
	CHECK("places without a rule have names",
	      named("/etc/x", "system, built-in") && named("/srv/x", "outside, built-in") &&
		      named("/h/u/x", "private home, built-in"));
	verdict_name(&plan, &closed, &rule, &origin);
	CHECK("a read-only project names the origin of that rule",
	      strcmp(rule, "project") == 0 && strcmp(origin, "ringfence.yml:4") == 0);
	free(rule);
	verdict_name(&plan, &hook, &rule, &origin);
	CHECK("a file that is always protected keeps its reason",
	      strcmp(rule, "executed by the host") == 0 && strcmp(origin, "built-in") == 0);
	CHECK("bytecode next to the system's modules is harmless",
	      verdict_harmless(&system, "/usr/lib/python3/__pycache__/a.pyc") &&
		      verdict_harmless(&system, "/usr/lib/python3/__pycache__") &&
		      !verdict_harmless(&system, "/usr/lib/__pycache__x") &&
		      !verdict_harmless(&own, "/h/u/p/.git/__pycache__"));
	CHECK("a write to a missing file is a creation",
	      strcmp(verdict_kind(VERDICT_WRITE, true), "write") == 0 &&
		      strcmp(verdict_kind(VERDICT_WRITE, false), "create") == 0);
}

static bool passes(const char *path, const char *wanted, bool wanted_cwd)
{
	bool from_cwd = !wanted_cwd;

	return strcmp(verdict_past_proc(path, &from_cwd), wanted) == 0 && from_cwd == wanted_cwd;
}

static bool arguments(const char *bytes, size_t size, const char *wanted)
{
	__attribute__((cleanup(list_release))) struct list list = { 0 };
	AUTO_BUFFER struct buffer seen = BUFFER_INIT(4096);

	verdict_arguments(bytes, size, &list);
	for (size_t i = 0; i < list.count; i++)
		buffer_printf(&seen, "<%s>", list.items[i]);
	return strcmp(buffer_text(&seen), wanted) == 0;
}

static void foreign(void)
{
	static const char sockets[] = "  sl  local_address rem_address   st tx_queue rx_queue\n"
				      "   0: 0100007F:1F91 0100007F:C350 01 00000000:00000000 "
				      "00:00000000 00000000  1000        0 48211 1 0\n"
				      "   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n";

	CHECK("a path through a process's root starts at the root",
	      passes("/proc/self/root/etc/x", "/etc/x", false) &&
		      passes("/proc/1/root", "/", false) &&
		      passes("/proc/self/root/proc/thread-self/root/x", "/x", false));
	CHECK("a path through its own working directory starts there",
	      passes("/proc/self/cwd/../x", "../x", true) && passes("/proc/self/cwd", "", true));
	CHECK("other paths are unchanged",
	      passes("/proc/1/cwd/x", "/proc/1/cwd/x", false) &&
		      passes("/proc/self/rooted", "/proc/self/rooted", false) &&
		      passes("/proc/1x/root/y", "/proc/1x/root/y", false) &&
		      passes("/etc/x", "/etc/x", false));
	CHECK("the innermost pid of a process counts",
	      verdict_inner_pid("Name:\tx\nNStgid:\t901\t34\t7\nNSpid:\t902\t35\t8\n") == 7 &&
		      verdict_inner_pid("Name:\tx\nNStgid:\t901\n") == 901);
	CHECK("a status text without pids yields none",
	      verdict_inner_pid("") == 0 && verdict_inner_pid("Name:\tNStgid:\t7\n") == 0 &&
		      verdict_inner_pid("x\nNStgid:\tx\n") == 0 &&
		      verdict_inner_pid("x\nNStgid:") == 0);
	CHECK("listeners are found in a socket table",
	      verdict_listens(sockets, 0x1f90) && !verdict_listens(sockets, 0x1f91) &&
		      !verdict_listens(sockets, 0) && !verdict_listens("", 0));
	CHECK("the socket between two ports is found in a socket table",
	      verdict_socket(sockets, 0x1f91, 0xc350) == 48211 &&
		      verdict_socket(sockets, 0xc350, 0x1f91) == 0 &&
		      verdict_socket(sockets, 0x1f90, 0) == 0 && verdict_socket("", 1, 2) == 0);
	CHECK("arguments end in NUL, except perhaps the last",
	      arguments("sh\0-c\0\0x\0", 9, "<sh><-c><><x>") &&
		      arguments("sh\0-c", 5, "<sh><-c>") && arguments("", 0, ""));
}

static bool is_harmless(const char *kind, const char *target, const char *program,
			const char *argument)
{
	struct fence_denial denial = { .kind = kind,
				       .target = (char *)target,
				       .program = (char *)program };
	bool harmless;

	list_add(&denial.argv, program);
	list_add(&denial.argv, argument);
	harmless = harmless_why(&denial);
	list_release(&denial.argv);
	return harmless;
}

static void probes(void)
{
	CHECK("the lock of git's index is harmless if git only shows something",
	      is_harmless("create", "/p/.git/index.lock", "git", "status") &&
		      !is_harmless("create", "/p/.git/index.lock", "git", "add") &&
		      !is_harmless("create", "/p/.git/index.lock", "sh", "status") &&
		      !is_harmless("create", "/p/.git/config", "git", "status"));
	CHECK("git may look for settings of the machine",
	      is_harmless("read", "/etc/gitconfig", "git", "log") &&
		      !is_harmless("read", "/etc/gitconfig", "sh", "log") &&
		      !is_harmless("read", "/etc/shadow", "git", "log"));
	CHECK("statistics for a tool's maker are harmless",
	      is_harmless("connect", "o1.ingest.sentry.io:443", "node", "x") &&
		      !is_harmless("connect", "sentry.io.example.com:443", "node", "x") &&
		      !is_harmless("connect", "example.com:443", "node", "x"));
	CHECK("a cache of fonts is harmless",
	      is_harmless("create", "/var/cache/fontconfig/x", "fc-cache", "") &&
		      is_harmless("create", "/var/cache", "fc-cache", "") &&
		      !is_harmless("create", "/var/cache/x", "fc-cache", ""));
	CHECK("probes of Chromium are harmless",
	      is_harmless("connect", "[2001:4860:4860::8888]:443", "chromium", "") &&
		      !is_harmless("connect", "[2001:4860:4860::8888]:53", "chromium", "") &&
		      is_harmless("socket", "AF_NETLINK", "chromium", "") &&
		      !is_harmless("socket", "AF_NETLINK", "ip", "") &&
		      is_harmless("create", "/usr/lib/chromium/extensions", "chromium", "") &&
		      is_harmless("write", "/h/.config/chromium/Crash Reports/settings.dat",
				  "chromium", "") &&
		      !is_harmless("write", "/h/.config/chromium/Local State", "chromium", ""));
}

int main(void)
{
	probes();
	walls();
	refusals();
	names();
	foreign();
	return unit_failures > 0;
}
