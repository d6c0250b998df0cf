/* The gateway's own sandbox: see gateway_confine.h. */
#include "gateway/gateway_confine.h"

#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gateway_filter.inc" /* gateway_filter, written by gateway_filter_gen.c */

/* Missing in the headers of Debian 12. */
#define RIGHT_TRUNCATE         (1ULL << 14)
#define RIGHT_IOCTL_DEVICE     (1ULL << 15)
#define SCOPE_ABSTRACT_SOCKETS (1ULL << 0)
#define SCOPE_SIGNALS          (1ULL << 1)

enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_IOCTL = 5, ABI_SCOPES = 6 };

uint64_t gateway_confine_descriptors(uint64_t wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 256;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < wanted)
		wanted = limit.rlim_max;
	limit.rlim_cur = limit.rlim_max = wanted;
	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? 256 : wanted;
}

static int become(uint32_t uid, uint32_t gid, struct error *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (geteuid() == 0 && (uid != 0 || gid != 0) &&
	    (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
	     setresuid(uid, uid, uid) < 0))
		return error_sys(err, "become user %u and group %u", uid, gid);
	if (syscall(SYS_capset, &header, none) < 0)
		return error_sys(err, "drop the capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return error_sys(err, "set no_new_privs");
	return 0;
}

static int allow_reading(int ruleset, const char *path, struct error *err)
{
	AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return 0; /* a missing file is not read */

	struct landlock_path_beneath_attr rule = {
		.parent_fd = fd,
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
	};

	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0)
		return error_sys(err, "Landlock: add a rule for '%s'", path);
	return 0;
}

/* The files that c-ares reads. resolv.conf is often a link to a file that is replaced when the
 * network changes, so allow the folder of that file, but never one as wide as /etc. */
static int allow_resolver(int ruleset, struct error *err)
{
	static const char *const files[] = { "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
					     "/etc/host.conf", "/dev/urandom" };
	AUTO_FREE char *real = realpath("/etc/resolv.conf", NULL);

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (allow_reading(ruleset, files[i], err) < 0)
			return -1;
	if (real && strncmp(real, "/run/", 5) == 0 && strchr(real + 5, '/')) {
		*strrchr(real, '/') = '\0';
		return allow_reading(ruleset, real, err);
	}
	return 0;
}

static const char *readable[8];
static size_t readable_count;

void gateway_confine_readable(const char *path)
{
	if (readable_count < sizeof readable / sizeof *readable)
		readable[readable_count++] = path;
}

static int enter_landlock(struct buffer *warnings, struct error *err)
{
	struct {
		uint64_t files, network, scopes;
	} attributes = { .files = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 };
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);

	if (abi < 1) {
		buffer_add_text(warnings,
				"the gateway runs without Landlock: this kernel does not support "
				"it\n");
		return 0;
	}
	if (abi >= ABI_REFER)
		attributes.files |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= ABI_TRUNCATE)
		attributes.files |= RIGHT_TRUNCATE;
	if (abi >= ABI_IOCTL)
		attributes.files |= RIGHT_IOCTL_DEVICE;
	if (abi >= ABI_SCOPES)
		attributes.scopes = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;

	AUTO_FD ruleset =
		(int)syscall(SYS_landlock_create_ruleset, &attributes,
			     abi >= ABI_SCOPES ? sizeof attributes : sizeof attributes.files, 0);

	if (ruleset < 0)
		return error_sys(err, "Landlock: create a ruleset");
	if (allow_resolver(ruleset, err) < 0)
		return -1;
	for (size_t i = 0; i < readable_count; i++)
		if (allow_reading(ruleset, readable[i], err) < 0)
			return -1;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return error_sys(err, "Landlock: enforce the ruleset");
	return 0;
}

int gateway_confine(uint32_t uid, uint32_t gid, struct buffer *warnings, struct error *err)
{
	const struct rlimit none = { 0, 0 };
	struct sock_fprog program = { sizeof gateway_filter / sizeof *gateway_filter,
				      gateway_filter };

	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return error_sys(err, "disable core dumps");
	if (become(uid, gid, err) < 0 || enter_landlock(warnings, err) < 0)
		return -1;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return error_sys(err, "install the seccomp filter");
	return 0;
}
