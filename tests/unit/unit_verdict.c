/* Which wall stands at a path, what it refuses, and how it is named. By text alone. */
#include "fence/fence_plan.h"
#include "unit.h"

#include "fence/watch/verdict.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

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
	{ .path = (char *)"/tmp/shared",
	  .access = WIRE_WRITE,
	  .origin = (char *)"--write",
	  .exact = true,
	  .asked = true },
	{ .path = (char *)"/srv/lib",
	  .access = WIRE_READ,
	  .origin = (char *)"ringfence.yml:12",
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
	CHECK("the project is open, and what a rule opens elsewhere",
	      wall("/h/u/p/src/x", VERDICT_OPEN) && wall("/tmp/shared/x", VERDICT_OPEN));
	CHECK("rules in it are known", wall("/h/u/p/.env", VERDICT_HIDDEN) &&
					       wall("/h/u/p/.git/hooks/x", VERDICT_READ_ONLY));
	CHECK("home, /tmp and /dev/shm are the fence's own",
	      wall("/h/u/x", VERDICT_PRIVATE) && wall("/tmp/x", VERDICT_PRIVATE) &&
		      wall("/dev/shm/x", VERDICT_PRIVATE));
	CHECK("a rule in a private place beats it", wall("/h/u/.tools/bin/x", VERDICT_READ_ONLY));
	CHECK("the system is read-only", wall("/usr/bin/x", VERDICT_READ_ONLY) &&
						 wall("/etc/passwd", VERDICT_READ_ONLY) &&
						 wall("/lib64", VERDICT_READ_ONLY) &&
						 wall("/run/ringfence/init", VERDICT_READ_ONLY));
	CHECK("so are the settings of the kernel, not all of /proc",
	      wall("/proc/sys/kernel/core_pattern", VERDICT_READ_ONLY) &&
		      wall("/proc/7/oom_score_adj", VERDICT_OPEN));
	CHECK("devices may be used, not made", wall("/dev/null", VERDICT_FIXED));
	CHECK("nothing else is there, whatever it begins with",
	      wall("/", VERDICT_OUTSIDE) && wall("/h/u2/x", VERDICT_OUTSIDE) &&
		      wall("/usrlocal", VERDICT_OUTSIDE) && wall("/tmpx", VERDICT_OUTSIDE) &&
		      wall("/var/run/x", VERDICT_OUTSIDE));
}

/* The folder: NOWHERE, INSIDE, or on the HOST only. */
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
	CHECK("where the fence is open, it refuses nothing", held);
	CHECK("writing to what is read-only, hidden or outside is refused",
	      refuses(VERDICT_READ_ONLY, VERDICT_CHANGE, true, true, INSIDE) &&
		      refuses(VERDICT_HIDDEN, VERDICT_WRITE, true, true, INSIDE) &&
		      refuses(VERDICT_OUTSIDE, VERDICT_CHANGE, false, true, NOWHERE));
	CHECK("what is nowhere cannot be written, removed or read, fence or not",
	      !refuses(VERDICT_READ_ONLY, VERDICT_CHANGE, false, false, INSIDE) &&
		      !refuses(VERDICT_OUTSIDE, VERDICT_REMOVE, false, false, NOWHERE) &&
		      !refuses(VERDICT_OUTSIDE, VERDICT_READ, false, false, INSIDE));
	CHECK("creating is refused where the folder is, inside or out",
	      refuses(VERDICT_READ_ONLY, VERDICT_CREATE, false, false, INSIDE) &&
		      refuses(VERDICT_OUTSIDE, VERDICT_WRITE, false, false, INSIDE) &&
		      refuses(VERDICT_OUTSIDE, VERDICT_CREATE, false, false, HOST) &&
		      !refuses(VERDICT_OUTSIDE, VERDICT_WRITE, false, false, NOWHERE));
	CHECK("creating what is there fails everywhere",
	      !refuses(VERDICT_READ_ONLY, VERDICT_CREATE, true, true, INSIDE));
	CHECK("a private place takes everything, and lacks what the host has there",
	      !refuses(VERDICT_PRIVATE, VERDICT_WRITE, false, true, INSIDE) &&
		      !refuses(VERDICT_PRIVATE, VERDICT_CREATE, false, true, INSIDE) &&
		      !refuses(VERDICT_PRIVATE, VERDICT_CHANGE, true, true, INSIDE) &&
		      refuses(VERDICT_PRIVATE, VERDICT_READ, false, true, INSIDE) &&
		      refuses(VERDICT_PRIVATE, VERDICT_CONNECT, false, true, INSIDE));
	CHECK("even a folder of the host's",
	      refuses(VERDICT_PRIVATE, VERDICT_WRITE, false, false, HOST) &&
		      !refuses(VERDICT_PRIVATE, VERDICT_CREATE, false, false, NOWHERE));
	CHECK("a device can be written, not made or removed",
	      !refuses(VERDICT_FIXED, VERDICT_WRITE, true, true, INSIDE) &&
		      refuses(VERDICT_FIXED, VERDICT_WRITE, false, false, INSIDE) &&
		      refuses(VERDICT_FIXED, VERDICT_REMOVE, true, true, INSIDE));
	CHECK("a hidden file can be looked at, not read",
	      refuses(VERDICT_HIDDEN, VERDICT_READ, true, true, INSIDE) &&
		      !refuses(VERDICT_HIDDEN, VERDICT_LOOK, true, true, INSIDE));
	CHECK("what is read-only can be read",
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
	CHECK("a person's rule is said as it was, and where",
	      named("/h/u/p/data/x", "hide data, --hide") &&
		      named("/srv/lib/x", "read /srv/lib, ringfence.yml:12"));
	CHECK("places without a rule have names",
	      named("/etc/x", "system, built-in") && named("/srv/x", "outside, built-in") &&
		      named("/h/u/x", "private home, built-in"));
	verdict_name(&plan, &closed, &rule, &origin);
	CHECK("a project that is read-only says by whom",
	      strcmp(rule, "project") == 0 && strcmp(origin, "ringfence.yml:4") == 0);
	free(rule);
	verdict_name(&plan, &hook, &rule, &origin);
	CHECK("what is protected anyway keeps its reason",
	      strcmp(rule, "executed by the host") == 0 && strcmp(origin, "built-in") == 0);
	CHECK("bytecode beside the system's modules is missed by nobody",
	      verdict_harmless(&system, "/usr/lib/python3/__pycache__/a.pyc") &&
		      verdict_harmless(&system, "/usr/lib/python3/__pycache__") &&
		      !verdict_harmless(&system, "/usr/lib/__pycache__x") &&
		      !verdict_harmless(&own, "/h/u/p/.git/__pycache__"));
	CHECK("a write to nothing is a creation",
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

	CHECK("a path through a process's root is one from the root",
	      passes("/proc/self/root/etc/x", "/etc/x", false) &&
		      passes("/proc/1/root", "/", false) &&
		      passes("/proc/self/root/proc/thread-self/root/x", "/x", false));
	CHECK("one through its own working directory starts there",
	      passes("/proc/self/cwd/../x", "../x", true) && passes("/proc/self/cwd", "", true));
	CHECK("other paths stay", passes("/proc/1/cwd/x", "/proc/1/cwd/x", false) &&
					  passes("/proc/self/rooted", "/proc/self/rooted", false) &&
					  passes("/proc/1x/root/y", "/proc/1x/root/y", false) &&
					  passes("/etc/x", "/etc/x", false));
	CHECK("the innermost number of a process counts",
	      verdict_inner_pid("Name:\tx\nNStgid:\t901\t34\t7\nNSpid:\t902\t35\t8\n") == 7 &&
		      verdict_inner_pid("Name:\tx\nNStgid:\t901\n") == 901);
	CHECK("a text without one has none",
	      verdict_inner_pid("") == 0 && verdict_inner_pid("Name:\tNStgid:\t7\n") == 0 &&
		      verdict_inner_pid("x\nNStgid:\tx\n") == 0 &&
		      verdict_inner_pid("x\nNStgid:") == 0);
	CHECK("a table of sockets says who listens where",
	      verdict_listens(sockets, 0x1f90) && !verdict_listens(sockets, 0x1f91) &&
		      !verdict_listens(sockets, 0) && !verdict_listens("", 0));
	CHECK("and which socket is between two ports",
	      verdict_socket(sockets, 0x1f91, 0xc350) == 48211 &&
		      verdict_socket(sockets, 0xc350, 0x1f91) == 0 &&
		      verdict_socket(sockets, 0x1f90, 0) == 0 && verdict_socket("", 1, 2) == 0);
	CHECK("arguments end in NUL, the last one perhaps not",
	      arguments("sh\0-c\0\0x\0", 9, "<sh><-c><><x>") &&
		      arguments("sh\0-c", 5, "<sh><-c>") && arguments("", 0, ""));
}

int main(void)
{
	walls();
	refusals();
	names();
	foreign();
	return unit_failures > 0;
}
