/*
 * The system calls that the fence's filters treat specially, by what is done about them; all other
 * known calls are allowed. For fence_filter_gen.c alone.
 */
#ifndef FENCE_INIT_FILTER_CALLS_H
#define FENCE_INIT_FILTER_CALLS_H

/* Refused with EPERM. */
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
	/* machine administration */
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

/* Refused calls that are not reported: programs probe for them and continue without. */
static const char *const unreported[] = {
	"io_uring_setup", "io_uring_enter",  "io_uring_register", "lookup_dcookie",   "modify_ldt",
	"vm86",           "vm86old",         "nfsservctl",        "uselib",           "_sysctl",
	"sysfs",          "ustat",           "vserver",           "remap_file_pages", "adjtimex",
	"clock_adjtime",  "clock_adjtime64", "vhangup",
};

/* Asked about whatever the arguments. See also `conditional`. */
static const char *const changing[] = {
	"mkdir",    "mkdirat",   "unlink", "unlinkat", "rmdir",   "rename",
	"renameat", "renameat2", "link",   "linkat",   "symlink", "symlinkat",
	"truncate", "chown",     "lchown", "fchownat", "connect", "bind",
};

/* Asked about when reads are traced. */
static const char *const reading[] = { "stat",       "lstat",    "access",     "faccessat",
				       "faccessat2", "readlink", "readlinkat", "execve",
				       "execveat",   "chdir" };

/* Also asked about when reads are traced, unless they look at a descriptor (AT_EMPTY_PATH), as
 * every fstat() does. */
static const struct {
	const char *name;
	unsigned int flags;
} looking[] = { { "newfstatat", 3 }, { "statx", 2 } };

/* Refused with ENOSYS, so that callers use the older call, whose arguments can be judged. */
static const char *const absent[] = { "clone3", "openat2" };

/* Allowed under conditions; see fence_filter_gen.c. */
static const char *const conditional[] = {
	"clone",  "unshare",  "personality", "socket", "socketpair", "ioctl", "chmod",
	"fchmod", "fchmodat", "creat",       "mknod",  "mknodat",    "open",  "openat",
};

/* Allowed in containers, whatever the arguments. */
static const char *const open_in_containers[] = { "socket", "socketpair", "ioctl" };

/* Allowed, and asked about under conditions; see fence_filter_gen.c. */
static const char *const sometimes_asked[] = { "newfstatat", "statx", "utimensat" };

/*
 * A command that shares the host's namespaces could otherwise reach, by number, what belongs to
 * other processes: shared memory, message queues, semaphores. Landlock knows no rights for them.
 */
static const char *const refused_shared[] = {
	"shmget",
	"shmat",
	"shmdt",
	"shmctl",
	"semget",
	"semop",
	"semtimedop",
	"semctl",
	"msgget",
	"msgsnd",
	"msgrcv",
	"msgctl",
	"mq_open",
	"mq_unlink",
	/* Landlock does not govern the metadata of files. Modes and times are set by the listener
	 * (chmod, utimensat); the rest is refused. */
	"chown",
	"fchown",
	"lchown",
	"fchownat",
	"utime",
	"utimes",
	"futimesat",
};

static const char *const attributes[] = { "setxattr",    "lsetxattr",    "fsetxattr",
					  "removexattr", "lremovexattr", "fremovexattr" };

/* Allowed, in such a fence, only for the calling process itself: argument number `pid` is 0. */
static const struct {
	const char *name;
	unsigned int pid;
} on_processes[] = { { "prlimit64", 0 },          { "sched_setaffinity", 0 },
		     { "sched_setscheduler", 0 }, { "sched_setparam", 0 },
		     { "sched_setattr", 0 },      { "migrate_pages", 0 },
		     { "setpriority", 1 },        { "ioprio_set", 1 } };

/* Calls that send, with the argument that has the flags. MSG_FASTOPEN would connect. */
static const struct {
	const char *name;
	unsigned int flags;
} sending[] = { { "sendto", 3 }, { "sendmsg", 2 }, { "sendmmsg", 3 } };

/* Performed or answered by the listener of such a fence, whatever the arguments. */
static const char *const asked_shared[] = { "listen", "fchmod" };

#endif
