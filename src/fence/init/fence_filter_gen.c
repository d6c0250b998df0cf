/*
 * Generates the fence's seccomp filters as C tables. Runs when Ringfence is built, so that starting
 * a fence compiles nothing and needs no library.
 *
 * The filter knows the system calls that existed when it was written. Newer calls do not exist
 * inside the fence (ENOSYS), and programs fall back as on an older kernel. Of the known calls it
 * refuses those that lead out of the fence, or into parts of the kernel that no build or test
 * needs. It is a single filter, because every filter costs every call. filter_pack.h makes it
 * small.
 *
 * Calls of foreign architectures (i386 and x32 on x86-64) are killed: their numbers mean other
 * calls.
 *
 * There are three variants. The plain one decides alone. The noticing one asks the listener outside
 * (src/fence/watch/denial.c) before calls that write, create or connect, which then continue to the
 * other walls, and about refused calls that the user should hear of. The listener refuses those
 * with the same errno as the plain filter. A wrong verdict cannot allow them, because the listener
 * decides by the number alone, and without a listener they are refused as well (ENOSYS). The
 * tracing one also asks before reads. `fence_filter_gen calls` writes the list of calls that are
 * asked about, for the listener; `fence_filter_gen fates` the fate of every call, for people;
 * `fence_filter_gen profile podman` (or docker) the profile of a container engine.
 *
 * A fence without namespaces of its own has stricter variants, because the command shares the
 * host's IPC, network and processes: see add_shared(). There the listener does more than explain
 * (src/fence/watch/perform.c), and without one the fence does not start.
 */
#include "fence/init/filter_calls.h"
#include "fence/init/filter_pack.h"
#include "util/arch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The last system call that this list covers (set_mempolicy_home_node). */
enum { LAST_KNOWN = 450 };

/* Compares only the low half: the kernel ignores the upper half of an int argument, and an attacker
 * could set it. */
#define INT_IS(arg, value)         SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, 0xffffffffu, (value))
#define BITS_ARE(arg, mask, value) SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, (mask), (value))

#define LISTED(list, name) listed(list, sizeof(list) / sizeof *(list), name)

static int listed(const char *const *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return 1;
	return 0;
}

static void must(int result, const char *what)
{
	if (result < 0) {
		fprintf(stderr, "fence_filter_gen: %s: %s\n", what, strerror(-result));
		exit(1);
	}
}

static scmp_filter_ctx filter;
/* Write rules for a container engine instead: */
static enum { NO_PROFILE, PODMAN, DOCKER } profile;
static enum { PLAIN, NOTICING, TRACING } mode;
static bool shared; /* the command shares the host's namespaces */
static bool opens;  /* asks about opens for reading */

static uint32_t notify_from(int least, uint32_t otherwise)
{
	return (int)mode >= least ? SCMP_ACT_NOTIFY : otherwise;
}

static uint32_t refusal(const char *name, int error)
{
	/* In a container, the filter below would keep ours from reporting the call. */
	if (profile)
		return LISTED(unreported, name) ? SCMP_ACT_ERRNO(error) : SCMP_ACT_ALLOW;
	return LISTED(unreported, name) ? SCMP_ACT_ERRNO(error)
					: notify_from(NOTICING, SCMP_ACT_ERRNO(error));
}

/* Writes a rule in the form of the OCI runtime specification. */
static void write_json(uint32_t action, const char *name, unsigned int count,
		       const struct scmp_arg_cmp *conditions)
{
	printf(",\n{\"names\":[\"%s\"],", name);
	if (action == SCMP_ACT_ALLOW)
		printf("\"action\":\"SCMP_ACT_ALLOW\"");
	else
		printf("\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":%u", action & 0xffff);
	for (unsigned int i = 0; i < count; i++)
		printf("%s{\"index\":%u,\"op\":\"SCMP_CMP_MASKED_EQ\",\"value\":%llu,"
		       "\"valueTwo\":%llu}",
		       i ? "," : ",\"args\":[", conditions[i].arg,
		       (unsigned long long)conditions[i].datum_a,
		       (unsigned long long)conditions[i].datum_b);
	printf("%s}", count ? "]" : "");
}

static void rule(uint32_t action, const char *name, unsigned int count,
		 const struct scmp_arg_cmp *conditions)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number >= 0 && profile)
		write_json(action, name, count, conditions);
	else if (number >= 0) /* not every architecture has every call */
		must(seccomp_rule_add_exact_array(filter, action, number, count, conditions), name);
}

#define RULE(action, name, ...)                                                            \
	rule(action, name,                                                                 \
	     sizeof((struct scmp_arg_cmp[]){ __VA_ARGS__ }) / sizeof(struct scmp_arg_cmp), \
	     (struct scmp_arg_cmp[]){ __VA_ARGS__ })
#define ALLOW_IF(name, ...)         RULE(SCMP_ACT_ALLOW, name, __VA_ARGS__)
#define REFUSE_IF(error, name, ...) RULE(SCMP_ACT_ERRNO(error), name, __VA_ARGS__)
#define NOTIFY_IF(error, name, ...) RULE(refusal(name, error), name, __VA_ARGS__)

static bool has_own_rules(const char *name)
{
	for (size_t i = 0; i < sizeof on_processes / sizeof *on_processes; i++)
		if (strcmp(on_processes[i].name, name) == 0)
			return true;
	for (size_t i = 0; i < sizeof sending / sizeof *sending; i++)
		if (strcmp(sending[i].name, name) == 0)
			return true;
	return LISTED(refused_shared, name) || LISTED(attributes, name) ||
	       LISTED(asked_shared, name);
}

static void add_known_calls(void)
{
	for (int number = 0; number <= LAST_KNOWN; number++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

		if (name && shared && has_own_rules(name)) {
			free(name);
			continue; /* see add_shared() */
		}
		if (name && LISTED(refused, name))
			rule(refusal(name, EPERM), name, 0, NULL);
		else if (name && LISTED(changing, name))
			rule(notify_from(NOTICING, SCMP_ACT_ALLOW), name, 0, NULL);
		else if (name && LISTED(reading, name))
			rule(notify_from(TRACING, SCMP_ACT_ALLOW), name, 0, NULL);
		else if (name && !LISTED(absent, name) && !LISTED(conditional, name) &&
			 !LISTED(sometimes_asked, name))
			rule(SCMP_ACT_ALLOW, name, 0, NULL);
		free(name);
	}
}

/* Allows processes and threads but no namespaces, and the personalities that gdb and build tools
 * use. */
static void add_processes(void)
{
	static const unsigned int namespaces[] = {
		CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
		CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET, 0x80 /* CLONE_NEWTIME */,
	};
	static const uint32_t personalities[] = {
		0x0,     0x8, 0x20000, 0x20008, 0xffffffff, 0x40000 /* ADDR_NO_RANDOMIZE: gdb */,
		0x40008,
	};
	unsigned int all = 0;

	for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
		NOTIFY_IF(EPERM, "unshare", BITS_ARE(0, namespaces[i], namespaces[i]));
		if (namespaces[i] != 0x80) /* part of the exit signal in clone's flags */
			NOTIFY_IF(EPERM, "clone", BITS_ARE(0, namespaces[i], namespaces[i]));
		all |= namespaces[i];
	}
	ALLOW_IF("unshare", BITS_ARE(0, all, 0));
	ALLOW_IF("clone", BITS_ARE(0, all & ~0x80u, 0));
	for (size_t i = 0; i < sizeof personalities / sizeof *personalities; i++)
		ALLOW_IF("personality", INT_IS(0, personalities[i]));
}

/* Forbids setuid and setgid bits: on the host such a file would run as the project's owner. */
static void add_modes(void)
{
	static const struct {
		const char *name;
		unsigned int mode;
	} calls[] = { { "chmod", 1 }, { "fchmod", 1 }, { "fchmodat", 2 },
		      { "creat", 1 }, { "mknod", 1 },  { "mknodat", 2 } };
	static const mode_t bits[] = { S_ISUID, S_ISGID };

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		bool by_path = strcmp(calls[i].name, "fchmod") != 0 || shared;

		RULE(by_path ? notify_from(NOTICING, SCMP_ACT_ALLOW) : SCMP_ACT_ALLOW,
		     calls[i].name, BITS_ARE(calls[i].mode, S_ISUID | S_ISGID, 0));
		for (size_t b = 0; b < 2; b++)
			REFUSE_IF(EPERM, calls[i].name, BITS_ARE(calls[i].mode, bits[b], bits[b]));
	}
}

/*
 * Opens for reading, for writing an existing file, or for creating one without setuid bits. The
 * conditions for different answers must not overlap, because the order of rules has no meaning.
 */
static void add_opens(void)
{
	static const struct {
		const char *name;
		unsigned int flags, mode;
	} calls[] = { { "open", 1, 2 }, { "openat", 2, 3 } };
	static const mode_t bits[] = { S_ISUID, S_ISGID };
	const unsigned int creating[] = { O_CREAT, O_TMPFILE & ~O_DIRECTORY };
	const unsigned int creates = creating[0] | creating[1];
	const unsigned int writing[] = { O_WRONLY, O_RDWR, O_TRUNC };
	const unsigned int writes = O_WRONLY | O_RDWR | O_TRUNC;

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		RULE(notify_from(opens ? NOTICING : TRACING, SCMP_ACT_ALLOW), calls[i].name,
		     BITS_ARE(calls[i].flags, writes | creates, 0));
		for (size_t w = 0; w < 3; w++)
			RULE(notify_from(NOTICING, SCMP_ACT_ALLOW), calls[i].name,
			     BITS_ARE(calls[i].flags, writing[w] | creates, writing[w]));
		for (size_t c = 0; c < 2; c++) {
			RULE(notify_from(NOTICING, SCMP_ACT_ALLOW), calls[i].name,
			     BITS_ARE(calls[i].flags, creating[c], creating[c]),
			     BITS_ARE(calls[i].mode, S_ISUID | S_ISGID, 0));
			for (size_t b = 0; b < 2; b++)
				REFUSE_IF(EPERM, calls[i].name,
					  BITS_ARE(calls[i].flags, creating[c], creating[c]),
					  BITS_ARE(calls[i].mode, bits[b], bits[b]));
		}
	}
}

/* A call without conditions is decided by its number alone, which the kernel does much faster. */
static void add_looks(void)
{
	for (size_t i = 0; i < sizeof looking / sizeof *looking; i++) {
		if (mode != TRACING) {
			rule(SCMP_ACT_ALLOW, looking[i].name, 0, NULL);
			continue;
		}
		ALLOW_IF(looking[i].name, BITS_ARE(looking[i].flags, AT_EMPTY_PATH, AT_EMPTY_PATH));
		RULE(SCMP_ACT_NOTIFY, looking[i].name,
		     BITS_ARE(looking[i].flags, AT_EMPTY_PATH, 0));
	}
}

/*
 * Asks about setting the times of a path to now, as git does to the objects that it uses again. See
 * attempt_freshens(). `touch` sets times by a descriptor, without a path.
 */
static void add_times(void)
{
	const struct scmp_arg_cmp now = SCMP_CMP(2, SCMP_CMP_EQ, 0);

	if (mode == PLAIN || shared) {
		rule(shared ? SCMP_ACT_NOTIFY : SCMP_ACT_ALLOW, "utimensat", 0, NULL);
		return;
	}
	ALLOW_IF("utimensat", SCMP_CMP(2, SCMP_CMP_NE, 0));
	ALLOW_IF("utimensat", now, SCMP_CMP(1, SCMP_CMP_EQ, 0));
	RULE(SCMP_ACT_NOTIFY, "utimensat", now, SCMP_CMP(1, SCMP_CMP_NE, 0));
}

#define TYPE_IS(type) BITS_ARE(1, 0xf, type)

/* Whether a type of socket can reach nothing before connect(), which the listener performs.
 * Datagrams can name their receiver in memory that no filter sees; the kernel makes a datagram
 * socket of a raw unix socket. */
static bool is_stream(unsigned int family, unsigned int type)
{
	return type == SOCK_STREAM || (family == AF_UNIX && type == SOCK_SEQPACKET);
}

/* In a fence that shares the host's network: streams by TCP, and datagrams by UDP, which
 * confine_shared() refuses unless the network is open. */
static void add_shared_family(unsigned int family)
{
	for (unsigned int type = 0; type < 16; type++) {
		bool datagram = family != AF_UNIX && type == SOCK_DGRAM;
		unsigned int protocol = datagram ? 17 : 6; /* UDP, TCP */

		if (!datagram && !is_stream(family, type)) {
			REFUSE_IF(EPERM, "socket", INT_IS(0, family), TYPE_IS(type));
			continue;
		}
		if (family == AF_UNIX) {
			ALLOW_IF("socket", INT_IS(0, family), TYPE_IS(type));
			continue;
		}
		for (unsigned int number = 0; number < 64; number++)
			RULE(number == 0 || number == protocol ? SCMP_ACT_ALLOW
							       : SCMP_ACT_ERRNO(EPERM),
			     "socket", INT_IS(0, family), TYPE_IS(type), INT_IS(2, number));
		for (unsigned int bit = 6; bit < 32; bit++) /* MPTCP, for example */
			REFUSE_IF(EPERM, "socket", INT_IS(0, family), TYPE_IS(type),
				  BITS_ARE(2, 1u << bit, 1u << bit));
	}
}

/* The rules of a fence that shares the host's namespaces. */
static void add_shared(void)
{
	enum { FAST_OPEN = 0x20000000 };

	for (size_t i = 0; i < sizeof refused_shared / sizeof *refused_shared; i++)
		rule(SCMP_ACT_ERRNO(EPERM), refused_shared[i], 0, NULL);
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		rule(SCMP_ACT_ERRNO(EOPNOTSUPP), attributes[i], 0, NULL);
	for (size_t i = 0; i < sizeof on_processes / sizeof *on_processes; i++) {
		unsigned int pid = on_processes[i].pid;

		REFUSE_IF(EPERM, on_processes[i].name, SCMP_CMP(pid, SCMP_CMP_NE, 0));
		if (pid == 0)
			ALLOW_IF(on_processes[i].name, SCMP_CMP(0, SCMP_CMP_EQ, 0));
	}
	/* 0 as a user would be all processes of this one. */
	for (unsigned int which = 0; which < 4; which++) {
		RULE(which < 2 ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), "setpriority",
		     SCMP_CMP(0, SCMP_CMP_EQ, which), SCMP_CMP(1, SCMP_CMP_EQ, 0));
		RULE(which < 3 ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), "ioprio_set",
		     SCMP_CMP(0, SCMP_CMP_EQ, which), SCMP_CMP(1, SCMP_CMP_EQ, 0));
	}
	for (size_t i = 0; i < sizeof sending / sizeof *sending; i++) {
		REFUSE_IF(EOPNOTSUPP, sending[i].name,
			  BITS_ARE(sending[i].flags, FAST_OPEN, FAST_OPEN));
		ALLOW_IF(sending[i].name, BITS_ARE(sending[i].flags, FAST_OPEN, 0));
	}
	rule(SCMP_ACT_NOTIFY, "listen", 0, NULL);
}

/* Allows unix, IPv4 and IPv6 sockets, and NETLINK_ROUTE, which lists interfaces and routes (Node
 * uses it). */
static void add_sockets(void)
{
	static const unsigned int families[] = { AF_UNIX, AF_INET, AF_INET6 };

	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (shared)
			add_shared_family(families[i]);
		else
			ALLOW_IF("socket", INT_IS(0, families[i]));
	ALLOW_IF("socket", INT_IS(0, AF_NETLINK), INT_IS(2, 0 /* NETLINK_ROUTE */));
	for (unsigned int family = 0; family < 64; family++)
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6 &&
		    family != AF_NETLINK)
			NOTIFY_IF(EAFNOSUPPORT, "socket", INT_IS(0, family));
	for (unsigned int protocol = 1; protocol < 64; protocol++)
		NOTIFY_IF(EAFNOSUPPORT, "socket", INT_IS(0, AF_NETLINK), INT_IS(2, protocol));
	for (unsigned int bit = 6; bit < 32; bit++) { /* numbers from 64 */
		NOTIFY_IF(EAFNOSUPPORT, "socket", BITS_ARE(0, 1u << bit, 1u << bit));
		NOTIFY_IF(EAFNOSUPPORT, "socket", INT_IS(0, AF_NETLINK),
			  BITS_ARE(2, 1u << bit, 1u << bit));
	}
	for (unsigned int type = 0; type < 16; type++)
		if (shared && !is_stream(AF_UNIX, type))
			REFUSE_IF(EPERM, "socketpair", INT_IS(0, AF_UNIX), TYPE_IS(type));
		else if (shared)
			ALLOW_IF("socketpair", INT_IS(0, AF_UNIX), TYPE_IS(type));
	if (!shared)
		ALLOW_IF("socketpair", INT_IS(0, AF_UNIX));
	for (unsigned int family = 0; family < 64; family++)
		if (family != AF_UNIX)
			REFUSE_IF(EAFNOSUPPORT, "socketpair", INT_IS(0, family));
}

/*
 * Allows every ioctl except the two that inject terminal input. A rule can require a bit to be set
 * or clear, but not a number to differ; a number differs if any of its bits does.
 */
static void add_ioctl(void)
{
	const uint32_t same = ~(uint32_t)(TIOCSTI ^ TIOCLINUX); /* bits with the same value in
								 * both */

	NOTIFY_IF(EPERM, "ioctl", INT_IS(1, TIOCSTI));
	NOTIFY_IF(EPERM, "ioctl", INT_IS(1, TIOCLINUX));
	for (unsigned int bit = 0; bit < 32; bit++)
		if (same & 1u << bit)
			ALLOW_IF("ioctl", BITS_ARE(1, 1u << bit, ~TIOCSTI & 1u << bit));
	for (uint32_t rest = ~same;;
	     rest = (rest - 1) & ~same) { /* each combination of the other bits */
		if (rest != (TIOCSTI & ~same) && rest != (TIOCLINUX & ~same))
			ALLOW_IF("ioctl", BITS_ARE(1, ~same, rest));
		if (rest == 0)
			break;
	}
}

static void write_filter(const char *name)
{
	static struct filter_pack made;
	static struct filter_pack packed;
	const uint32_t arch = ARCH_AUDIT;
	int pipes[2];
	ssize_t size;

	filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	must(filter ? 0 : -ENOMEM, "init");
	must(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
	     "architecture");
	must(seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimise");
	add_known_calls();
	add_processes();
	add_modes();
	add_opens();
	add_looks();
	add_times();
	add_sockets();
	add_ioctl();
	if (shared)
		add_shared();

	must(pipe(pipes) < 0 ? -errno : 0, "pipe"); /* the program fits into a pipe's buffer */
	must(seccomp_export_bpf(filter, pipes[1]), "export");
	close(pipes[1]);
	size = read(pipes[0], made.steps, sizeof made.steps);
	close(pipes[0]);
	must(size > 0 ? 0 : -EIO, "read");
	made.count = (size_t)size / sizeof *made.steps;
	must(filter_pack(&made, arch, LAST_KNOWN, &packed) < 0 ? -EINVAL : 0, "pack");
	must(filter_pack_compare(&made, &packed, arch, LAST_KNOWN) < 0 ? -EDOM : 0, "compare");

	printf("static struct sock_filter %s[] = {\n", name);
	for (size_t i = 0; i < packed.count; i++)
		printf("\t{0x%x, %u, %u, 0x%x},\n", packed.steps[i].code, packed.steps[i].jt,
		       packed.steps[i].jf, packed.steps[i].k);
	printf("};\n");
	seccomp_release(filter);
}

/* A user namespace would give every capability in it. Podman's containers have one of their own, in
 * which the fence forbids more (tree/graft.c); Docker's have not. */
static void add_container_processes(void)
{
	static const char *const calls[] = { "clone", "unshare" };

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		if (profile == PODMAN) {
			rule(SCMP_ACT_ALLOW, calls[i], 0, NULL);
			continue;
		}
		REFUSE_IF(EPERM, calls[i], BITS_ARE(0, CLONE_NEWUSER, CLONE_NEWUSER));
		ALLOW_IF(calls[i], BITS_ARE(0, CLONE_NEWUSER, 0));
	}
	rule(SCMP_ACT_ALLOW, "personality", 0, NULL);
}

/*
 * Writes the profile of a container engine: the calls that no process in a container may make,
 * ringfence-init included. The command also has our own filter, which reports what it refuses.
 * Both kill a process that makes calls of a foreign architecture.
 */
static void write_profile(void)
{
	printf("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":%d,"
	       "\"architectures\":[\"%s\"],\"syscalls\":[\n"
	       "{\"names\":[\"openat2\"],\"action\":\"SCMP_ACT_ALLOW\"}",
	       ENOSYS,
	       seccomp_arch_native() == SCMP_ARCH_X86_64 ? "SCMP_ARCH_X86_64"
							 : "SCMP_ARCH_AARCH64");
	add_known_calls();
	add_container_processes();
	add_modes();
	add_opens();
	add_looks();
	add_times();
	for (size_t i = 0; i < sizeof open_in_containers / sizeof *open_in_containers; i++)
		rule(SCMP_ACT_ALLOW, open_in_containers[i], 0, NULL);
	printf("]}\n");
}

static void write_call(const char *name, int error)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number >= 0 && number <= LAST_KNOWN)
		printf("\t{%d, %d, \"%s\"},\n", number, error, name);
}

static void write_list(const char *const *list, size_t count, int error)
{
	for (size_t i = 0; i < count; i++)
		write_call(list[i], error);
}

#define WRITE_ALL(list, error) write_list(list, sizeof(list) / sizeof *(list), error)

/* Writes the calls that a listener can be asked about: { number, errno or 0 to continue, name }. */
static void write_calls(void)
{
	static const char *const continued[] = { "chmod", "fchmodat", "creat",  "mknod", "mknodat",
						 "open",  "openat",   "listen", "fchmod" };
	static const char *const on_condition[] = { "clone", "unshare", "ioctl" };

	printf("static const struct call calls[] = {\n");
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (!LISTED(unreported, refused[i]))
			write_call(refused[i], EPERM);
	WRITE_ALL(on_condition, EPERM);
	write_call("socket", EAFNOSUPPORT);
	WRITE_ALL(changing, 0);
	WRITE_ALL(reading, 0);
	WRITE_ALL(continued, 0);
	WRITE_ALL(sometimes_asked, 0);
	printf("};\n");
}

/* Writes the fate of each call, for `ringfence policy --why`. */
static void write_fates(void)
{
	printf("static const struct call_fate fates[] = {\n");
	for (int number = 0; number <= LAST_KNOWN; number++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
		const char *fate = !name                       ? NULL
				   : LISTED(refused, name)     ? "CALL_REFUSED"
				   : LISTED(absent, name)      ? "CALL_ABSENT"
				   : LISTED(conditional, name) ? "CALL_CONDITIONAL"
							       : "CALL_ALLOWED";

		if (name)
			printf("\t{\"%s\", %s},\n", name, fate);
		free(name);
	}
	printf("};\n");
}

int main(int argc, char **argv)
{
	must(seccomp_api_set(6), "api"); /* independent of the build machine's kernel */
	must(seccomp_arch_native() == ARCH_AUDIT ? 0 : -EINVAL, "libseccomp's architecture");
	if (argc > 2 && strcmp(argv[1], "profile") == 0) {
		profile = strcmp(argv[2], "docker") == 0 ? DOCKER : PODMAN;
		write_profile();
		return 0;
	}
	printf("/* Generated by fence_filter_gen.c. */\n#include \"util/arch.h\"\n"
	       "_Static_assert(ARCH_AUDIT == 0x%xu, \"made for another architecture\");\n",
	       ARCH_AUDIT);
	if (argc > 1 && strcmp(argv[1], "calls") == 0) {
		write_calls();
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "fates") == 0) {
		write_fates();
		return 0;
	}
	write_filter("filter_plain");
	mode = NOTICING;
	write_filter("filter_noticing");
	mode = TRACING;
	write_filter("filter_tracing");
	shared = true;
	write_filter("filter_shared_tracing");
	mode = NOTICING;
	write_filter("filter_shared");
	opens = true;
	write_filter("filter_shared_opens");
	return 0;
}
