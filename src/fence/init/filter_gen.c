/*
 * Writes the fence's two seccomp filters as C tables. Runs when Ringfence is built, so that nothing
 * is compiled, and no library is needed, when a fence is started.
 *
 * The first filter knows the system calls that existed when it was written; a newer one does not
 * exist inside the fence (ENOSYS), and programs fall back as on an older kernel. The second names,
 * among the known ones, what gives a way out of the fence or into parts of the kernel that no build
 * or test needs. The kernel runs both; the stricter verdict counts.
 *
 * Foreign architectures (i386 and x32 on x86-64) are killed: their numbers mean other calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* The last system call that this list was checked against (set_mempolicy_home_node). */
enum { LAST_KNOWN = 450 };

/* Only the low half is compared: the kernel ignores the rest of an int argument, and so would an
 * attacker. */
#define INT_IS(arg, value) SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, 0xffffffffu, (value))
#define HAS_BIT(arg, bit)  SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, (bit), (bit))

static const char *const refused[] = {
	/* file systems and namespaces */
	"mount",
	"umount",
	"umount2",
	"pivot_root",
	"chroot",
	"fsopen",
	"fsconfig",
	"fsmount",
	"fspick",
	"move_mount",
	"open_tree",
	"mount_setattr",
	"setns",
	"open_by_handle_at",
	"swapon",
	"swapoff",
	"quotactl",
	"quotactl_fd",
	/* kernel interfaces with a history of escapes and no use in a build */
	"io_uring_setup",
	"io_uring_enter",
	"io_uring_register",
	"bpf",
	"perf_event_open",
	"userfaultfd",
	"add_key",
	"request_key",
	"keyctl",
	"lookup_dcookie",
	"modify_ldt",
	"vm86",
	"vm86old",
	"nfsservctl",
	"uselib",
	"_sysctl",
	"sysfs",
	"ustat",
	"vserver",
	"remap_file_pages",
	/* the machine */
	"init_module",
	"finit_module",
	"delete_module",
	"create_module",
	"query_module",
	"get_kernel_syms",
	"kexec_load",
	"kexec_file_load",
	"reboot",
	"acct",
	"syslog",
	"settimeofday",
	"stime",
	"clock_settime",
	"clock_settime64",
	"clock_adjtime",
	"clock_adjtime64",
	"adjtimex",
	"sethostname",
	"setdomainname",
	"iopl",
	"ioperm",
	"vhangup",
	"pciconfig_read",
	"pciconfig_write",
	"pciconfig_iobase",
	"s390_pci_mmio_read",
	"s390_pci_mmio_write",
};

/* Refused in a way that makes callers use the older call, whose arguments can be judged. */
static const char *const absent[] = { "clone3", "openat2" };

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
		fprintf(stderr, "filter_gen: %s: %s\n", what, strerror(-result));
		exit(1);
	}
}

static scmp_filter_ctx begin(uint32_t otherwise)
{
	scmp_filter_ctx filter = seccomp_init(otherwise);

	must(filter ? 0 : -ENOMEM, "init");
	must(seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS),
	     "bad architecture");
	must(seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2), "optimise");
	return filter;
}

static void rule(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned int count,
		 const struct scmp_arg_cmp *conditions)
{
	int number = seccomp_syscall_resolve_name(name);

	if (number >= 0) /* not every architecture has every call */
		must(seccomp_rule_add_exact_array(filter, action, number, count, conditions), name);
}

#define REFUSE_IF(filter, error, name, ...)                                                \
	rule(filter, SCMP_ACT_ERRNO(error), name,                                          \
	     sizeof((struct scmp_arg_cmp[]){ __VA_ARGS__ }) / sizeof(struct scmp_arg_cmp), \
	     (struct scmp_arg_cmp[]){ __VA_ARGS__ })

static scmp_filter_ctx known_calls(void)
{
	static const uint32_t personalities[] = {
		0x0,     0x8, 0x20000, 0x20008, 0xffffffff, 0x40000 /* ADDR_NO_RANDOMIZE: gdb */,
		0x40008,
	};
	scmp_filter_ctx filter = begin(SCMP_ACT_ERRNO(ENOSYS));

	for (int number = 0; number <= LAST_KNOWN; number++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

		if (name && !LISTED(absent, name) && strcmp(name, "personality") != 0)
			rule(filter, SCMP_ACT_ALLOW, name, 0, NULL);
		free(name);
	}
	for (size_t i = 0; i < sizeof personalities / sizeof *personalities; i++)
		rule(filter, SCMP_ACT_ALLOW, "personality", 1,
		     (struct scmp_arg_cmp[]){ INT_IS(0, personalities[i]) });
	return filter;
}

/* No file may become setuid or setgid: on the host it would run as the project's owner. */
static void refuse_setuid(scmp_filter_ctx filter)
{
	static const struct {
		const char *name;
		unsigned int mode;
	} calls[] = { { "chmod", 1 }, { "fchmod", 1 }, { "fchmodat", 2 },
		      { "creat", 1 }, { "mknod", 1 },  { "mknodat", 2 } };
	static const struct {
		const char *name;
		unsigned int flags, mode;
	} opens[] = { { "open", 1, 2 }, { "openat", 2, 3 } };
	static const mode_t bits[] = { S_ISUID, S_ISGID };
	const unsigned int tmpfile = O_TMPFILE & ~O_DIRECTORY;

	for (size_t bit = 0; bit < 2; bit++) {
		for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
			REFUSE_IF(filter, EPERM, calls[i].name, HAS_BIT(calls[i].mode, bits[bit]));
		for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
			REFUSE_IF(filter, EPERM, opens[i].name, HAS_BIT(opens[i].flags, O_CREAT),
				  HAS_BIT(opens[i].mode, bits[bit]));
			REFUSE_IF(filter, EPERM, opens[i].name, HAS_BIT(opens[i].flags, tmpfile),
				  HAS_BIT(opens[i].mode, bits[bit]));
		}
	}
}

/* Local, IPv4 and IPv6 sockets, and of netlink what lists interfaces and routes (Node asks for
 * that). */
static void refuse_sockets(scmp_filter_ctx filter)
{
	for (unsigned int family = 0; family < 64; family++)
		if (family != AF_UNIX && family != AF_INET && family != AF_INET6 &&
		    family != AF_NETLINK)
			REFUSE_IF(filter, EAFNOSUPPORT, "socket", INT_IS(0, family));
	for (unsigned int protocol = 1; protocol < 64; protocol++)
		REFUSE_IF(filter, EAFNOSUPPORT, "socket", INT_IS(0, AF_NETLINK),
			  INT_IS(2, protocol));
}

static scmp_filter_ctx refused_calls(void)
{
	static const unsigned int namespaces[] = {
		CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
		CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET, 0x80 /* CLONE_NEWTIME */,
	};
	scmp_filter_ctx filter = begin(SCMP_ACT_ALLOW);

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		rule(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0, NULL);
	for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
		REFUSE_IF(filter, EPERM, "unshare", HAS_BIT(0, namespaces[i]));
		if (namespaces[i] != 0x80) /* part of the exit signal in clone's flags */
			REFUSE_IF(filter, EPERM, "clone", HAS_BIT(0, namespaces[i]));
	}
	REFUSE_IF(filter, EPERM, "ioctl", INT_IS(1, TIOCSTI));
	REFUSE_IF(filter, EPERM, "ioctl", INT_IS(1, TIOCLINUX));
	refuse_setuid(filter);
	refuse_sockets(filter);
	return filter;
}

static void write_table(scmp_filter_ctx filter, const char *name)
{
	struct sock_filter step;
	int pipes[2];

	must(pipe(pipes) < 0 ? -errno : 0, "pipe"); /* a program is smaller than a pipe's buffer */
	must(seccomp_export_bpf(filter, pipes[1]), "export");
	close(pipes[1]);
	printf("static struct sock_filter %s[] = {\n", name);
	while (read(pipes[0], &step, sizeof step) == sizeof step)
		printf("\t{0x%x, %u, %u, 0x%x},\n", step.code, step.jt, step.jf, step.k);
	printf("};\n");
	close(pipes[0]);
	seccomp_release(filter);
}

int main(void)
{
	printf("/* Made by filter_gen.c. */\n");
	write_table(known_calls(), "known_calls");
	write_table(refused_calls(), "refused_calls");
	return 0;
}
