/* The walls that a process puts around itself, and the counters of init, on a kernel that the test
 * makes up. */
#include "unit.h"
#include "unit_bpf.h"

#include "fence/init/confine.h"
#include "fence/init/use.h"
#include "util/file/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

enum { FILES = RLIMIT_NOFILE, RULES = 16, LISTENER = 40, NEWEST = 6 };

static char project[UNIT_PATH];
static char file[UNIT_PATH + 8];
static char proc[UNIT_PATH];

struct allowed {
	dev_t device;
	ino_t inode;
	uint64_t rights;
};

static struct {
	struct rlimit limits[RLIM_NLIMITS];
	int unread, unset; /* limits that cannot be read or set, or -1 */
	bool dumpable, privileged, no_oom;
	int abi;
	uint64_t files, scopes;
	size_t size;
	struct allowed rules[RULES];
	size_t rule_count;
	bool no_rule, no_ruleset, entered, no_entering;
	bool no_filter, no_listener;
	struct sock_fprog filters[4];
	struct sock_filter steps[4];
	uint64_t flags[4];
	size_t filter_count;
	pid_t pid;
	struct statvfs disk;
	bool no_disk;
} k;

static struct order given;
static struct order_rule rules[2];
static const char *scratch[2];

static int fake_getrlimit(int resource, struct rlimit *ret_limit)
{
	*ret_limit = k.limits[resource];
	return resource == k.unread ? -1 : 0;
}

static int fake_setrlimit(int resource, const struct rlimit *limit)
{
	k.limits[resource] = *limit;
	return resource == k.unset ? -1 : 0;
}

static int fake_prctl(int option, unsigned long value)
{
	if (option == PR_SET_DUMPABLE)
		k.dumpable = value;
	if (option == PR_SET_NO_NEW_PRIVS)
		k.privileged = !value;
	return option == PR_SET_NO_NEW_PRIVS && k.pid == -1 ? -1 : 0;
}

static long add_filter(uint64_t flags, const struct sock_fprog *program)
{
	if (flags && k.no_listener)
		return -1;
	k.flags[k.filter_count] = flags;
	k.filters[k.filter_count++] = *program;
	if (program->len == 4)
		memcpy(k.steps, program->filter, sizeof k.steps);
	return k.no_filter ? -1 : flags ? LISTENER : 0;
}

static long add_rule(const struct landlock_path_beneath_attr *rule)
{
	struct stat status;

	if (k.no_rule || fstat(rule->parent_fd, &status) < 0)
		return -1;
	k.rules[k.rule_count++] = (struct allowed){ status.st_dev, status.st_ino,
						    rule->allowed_access };
	return 0;
}

static long make_ruleset(const uint64_t *attributes, size_t size)
{
	k.size = size;
	k.files = attributes[0];
	k.scopes = size > 2 * sizeof *attributes ? attributes[2] : 0;
	return k.no_ruleset ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static long fake_syscall(long number, ...)
{
	va_list rest;
	uint64_t arguments[3];

	va_start(rest, number);
	for (size_t i = 0; i < COUNT(arguments); i++)
		arguments[i] = va_arg(rest, uint64_t);
	va_end(rest);
	if (number == SYS_seccomp)
		return add_filter((uint32_t)arguments[1], (const struct sock_fprog *)arguments[2]);
	if (number == SYS_landlock_restrict_self) {
		k.entered = true;
		return k.no_entering ? -1 : 0;
	}
	if (number == SYS_landlock_add_rule)
		return add_rule((const struct landlock_path_beneath_attr *)arguments[2]);
	return arguments[0] ? make_ruleset((const uint64_t *)arguments[0], arguments[1]) : k.abi;
}

/* Files of the test in the place of those in /proc. */
static int fake_open(const char *path, int flags, ...)
{
	char own[2 * UNIT_PATH];

	if (strncmp(path, "/proc/", 6) != 0)
		return open(path, flags);
	if (k.no_oom)
		return -1;
	snprintf(own, sizeof own, "%s/%s", proc, strrchr(path, '/') + 1);
	return open(own, flags);
}

static int fake_stat(const char *path, struct stat *ret_status)
{
	char own[2 * UNIT_PATH];

	snprintf(own, sizeof own, "%s%s", proc, strncmp(path, "/proc", 5) == 0 ? path + 5 : "/x");
	return stat(own, ret_status);
}

static int fake_statvfs(const char *path, struct statvfs *ret_status)
{
	*ret_status = (struct statvfs){ .f_bavail = 100, .f_bsize = 4096, .f_favail = 1 };
	if (strcmp(path, scratch[1]) == 0)
		*ret_status = k.disk;
	return k.no_disk ? -1 : 0;
}

#define syscall(...)               fake_syscall(__VA_ARGS__)
#define getrlimit(resource, limit) fake_getrlimit(resource, limit)
#define setrlimit(resource, limit) fake_setrlimit(resource, limit)
#define prctl(option, value, ...)  fake_prctl(option, value)
#define open(path, ...)            fake_open(path, __VA_ARGS__)
#define stat(path, status)         fake_stat(path, status)
#define statvfs(path, status)      fake_statvfs(path, status)
#define opendir(path)              opendir(proc)
#define getpid()                   k.pid
#include "fence/init/confine.c"
#include "fence/init/confine_landlock.c"
#include "fence/init/use.c"
#undef open
#undef stat
#undef getpid

static void reset(void)
{
	memset(&k, 0, sizeof k);
	k.unread = k.unset = -1;
	k.privileged = true;
	k.abi = NEWEST;
	k.pid = 1;
	k.disk = (struct statvfs){ .f_bavail = 4, .f_bsize = 4096, .f_favail = 1 };
	for (size_t i = 0; i < RLIM_NLIMITS; i++)
		k.limits[i] = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	scratch[0] = proc;
	scratch[1] = project;
	rules[0] = (struct order_rule){ { .access = WIRE_WRITE }, project };
	rules[1] = (struct order_rule){ { .access = WIRE_READ }, file };
	given = (struct order){
		.scratch = scratch, .scratch_count = 1, .rules = rules, .rule_count = 2
	};
}

/* --- limits */

static bool is_limit(int resource, rlim_t soft, rlim_t hard)
{
	return k.limits[resource].rlim_cur == soft && k.limits[resource].rlim_max == hard;
}

static bool lowers(rlim_t soft, rlim_t hard, rlim_t most, rlim_t new_soft, rlim_t new_hard)
{
	struct error err;

	reset();
	given.limits.open_files = most;
	k.limits[FILES] = (struct rlimit){ soft, hard };
	return confine_limits(&given, &err) == 0 && is_limit(FILES, new_soft, new_hard);
}

static void limits(void)
{
	struct error err;

	CHECK("a limit is lowered", lowers(RLIM_INFINITY, RLIM_INFINITY, 9, 9, 9) &&
					    lowers(20, 30, 9, 9, 9) && lowers(5, 30, 9, 5, 9));
	CHECK("a lower one stays",
	      lowers(5, 8, 9, 5, 8) && lowers(9, 9, 9, 9, 9) && lowers(RLIM_INFINITY, 8, 9, 8, 8));
	reset();
	CHECK("without limits nothing is changed",
	      confine_limits(&given, &err) == 0 && !k.dumpable &&
		      is_limit(FILES, RLIM_INFINITY, RLIM_INFINITY) &&
		      is_limit(RLIMIT_FSIZE, RLIM_INFINITY, RLIM_INFINITY));
	given.limits.file_size = 7;
	CHECK("the size of files is limited",
	      confine_limits(&given, &err) == 0 && is_limit(RLIMIT_FSIZE, 7, 7));
	k.unread = RLIMIT_FSIZE;
	CHECK("a limit that cannot be read is an error",
	      confine_limits(&given, &err) < 0 && strstr(err.text, "read the file-size limit"));
	reset();
	given.limits.open_files = 7;
	k.unset = FILES;
	CHECK("a limit that cannot be set is an error",
	      confine_limits(&given, &err) < 0 && strstr(err.text, "set the open-files limit"));
}

static void memory(void)
{
	char path[2 * UNIT_PATH];
	char text[8] = "";
	struct error err;

	reset();
	given.limits.counters = 1;
	CHECK("counters make the process dumpable",
	      confine_limits(&given, &err) == 0 && k.dumpable);
	reset();
	given.limits.memory = 1;
	k.no_oom = true;
	CHECK("a preference that cannot be written is an error", confine_limits(&given, &err) < 0);
	k.no_oom = false;
	snprintf(path, sizeof path, "%s/oom_score_adj", proc);

	AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	CHECK("the command is the first to go when memory runs out",
	      confine_limits(&given, &err) == 0 && k.dumpable && read(fd, text, sizeof text) == 3 &&
		      strcmp(text, "500") == 0);
}

static void processes(void)
{
	struct error err;

	reset();
	given.limits.processes = 100;
	CHECK("builds get room for processes", confine_processes(&given) == 2048);
	given.limits.processes = 2047;
	CHECK("2047 with init are that room", confine_processes(&given) == 2048);
	given.limits.processes = 2048;
	CHECK("more are counted with init", confine_processes(&given) == 2049);
	given.limits.processes = 5;
	given.limits.processes_exact = 1;
	CHECK("an exact number is counted with init", confine_processes(&given) == 6);
	CHECK("core files, priorities and processes are always limited",
	      confine_always(&given, &err) == 0 && is_limit(RLIMIT_CORE, 0, 0) &&
		      is_limit(RLIMIT_RTPRIO, 0, 0) && is_limit(RLIMIT_NPROC, 6, 6) &&
		      k.filter_count == 0);
	for (size_t i = 0; i < 3; i++) {
		reset();
		k.unset = (int[]){ RLIMIT_CORE, RLIMIT_RTPRIO, RLIMIT_NPROC }[i];
		CHECK("one of these that cannot be set is an error",
		      confine_always(&given, &err) < 0);
	}
}

/* The answer of the added filter to a call. */
static uint32_t answer(int number)
{
	const struct seccomp_data data = { .nr = number };

	return RUN(k.steps, &data);
}

static void refused_calls(void)
{
	struct error err;

	reset();
	given.limits.cpus = 1;
	CHECK("with a limit on CPUs, the affinity cannot be changed",
	      confine_always(&given, &err) == 0 && k.filter_count == 1 && !k.privileged &&
		      answer(SYS_sched_setaffinity) == (SECCOMP_RET_ERRNO | EPERM) &&
		      answer(SYS_fallocate) == SECCOMP_RET_ALLOW);
	k.no_filter = true;
	CHECK("a filter that cannot be installed is an error", confine_always(&given, &err) < 0);
	reset();
	given.limits.counters = 1;
	CHECK("with counters, space cannot be reserved",
	      confine_always(&given, &err) == 0 && k.filter_count == 1 &&
		      answer(SYS_fallocate) == (SECCOMP_RET_ERRNO | EOPNOTSUPP) &&
		      answer(SYS_sched_setaffinity) == SECCOMP_RET_ALLOW);
	k.no_filter = true;
	CHECK("without that filter nothing starts either", confine_always(&given, &err) < 0);
	reset();
	given.limits.cpus = 1;
	k.pid = -1;
	CHECK("nor without no_new_privs", confine_always(&given, &err) < 0);
}

/* --- seccomp */

#define LENGTH(filter) (sizeof(filter) / sizeof *(filter))

static bool installs(enum confine_notice notice, size_t length, int listener)
{
	struct error err;
	int fd = -2;

	return confine_seccomp(&(struct confine_filter){ .notice = notice }, &fd, &err) == 0 &&
	       fd == listener && k.filter_count == 1 && k.filters[0].len == length;
}

static void seccomp(void)
{
	struct error err;
	int fd;

	reset();
	CHECK("a silent filter has no listener",
	      installs(CONFINE_SILENT, LENGTH(filter_plain), -1) && k.flags[0] == 0);
	reset();
	CHECK("a noticing filter has one, whose answers may be waited for",
	      installs(CONFINE_NOTICE, LENGTH(filter_noticing), LISTENER) &&
		      k.flags[0] == (SECCOMP_FILTER_FLAG_NEW_LISTENER |
				     SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV));
	reset();
	CHECK("a tracing filter has one",
	      installs(CONFINE_TRACE, LENGTH(filter_tracing), LISTENER));
	reset();
	k.no_listener = true;
	CHECK("without listeners in the kernel, the plain filter is installed",
	      installs(CONFINE_NOTICE, LENGTH(filter_plain), -1));
	reset();
	k.no_filter = true;
	CHECK("a filter that cannot be installed ends the start",
	      confine_seccomp(&(struct confine_filter){ .notice = CONFINE_SILENT }, &fd, &err) < 0);
}

/* --- Landlock */

static uint64_t rights_of(const char *path)
{
	struct stat status;
	uint64_t rights = 0;

	if (stat(path, &status) < 0)
		abort();
	for (size_t i = 0; i < k.rule_count; i++)
		if (k.rules[i].device == status.st_dev && k.rules[i].inode == status.st_ino)
			rights |= k.rules[i].rights;
	return rights;
}

static bool prepares(int abi)
{
	struct error err;
	int ruleset = -1;
	bool done;

	reset();
	k.abi = abi;
	done = confine_landlock_prepare(&given, &ruleset, &err) == 0 && ruleset >= 0;
	fd_close(&ruleset);
	return done;
}

static void landlock(void)
{
	const uint64_t all = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
			     LANDLOCK_ACCESS_FS_REFER;

	CHECK("version 2 handles files, without truncating",
	      prepares(2) && k.size == 8 && (k.files & all) == all && !(k.files & RIGHT_TRUNCATE) &&
		      !(k.files & LANDLOCK_ACCESS_FS_EXECUTE));
	CHECK("version 3 handles truncating",
	      prepares(3) && (k.files & RIGHT_TRUNCATE) && !(k.files & RIGHT_IOCTL_DEVICE));
	CHECK("version 5 handles devices",
	      prepares(5) && (k.files & RIGHT_IOCTL_DEVICE) && !k.scopes && k.size == 8);
	CHECK("version 6 handles sockets and signals", prepares(6) && k.scopes == 3);
	CHECK("the project can be changed, and the rest of the disk only read",
	      (rights_of(project) & all) == all && rights_of("/") == LANDLOCK_ACCESS_FS_READ_FILE);
	CHECK("private folders can be changed", (rights_of(proc) & all) == all);
	CHECK("files in /proc and /dev can be written, and none can be made there",
	      rights_of("/proc") == LANDLOCK_ACCESS_FS_WRITE_FILE &&
		      rights_of("/dev") == (LANDLOCK_ACCESS_FS_WRITE_FILE | RIGHT_TRUNCATE |
					    RIGHT_IOCTL_DEVICE));
	CHECK("a path that may only be read gets no rule", rights_of(file) == 0);
}

static void landlock_files(void)
{
	struct error err;
	int ruleset = -1;

	reset();
	rules[1].rule.access = WIRE_WRITE;
	CHECK("a file gets the rights that files have",
	      confine_landlock_prepare(&given, &ruleset, &err) == 0 &&
		      rights_of(file) ==
			      (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
			       RIGHT_TRUNCATE | RIGHT_IOCTL_DEVICE));
	fd_close(&ruleset);
	rules[1].path = "/nonexistent";
	CHECK("a path that is missing is an error",
	      confine_landlock_prepare(&given, &ruleset, &err) < 0 &&
		      strstr(err.text, "/nonexistent") && ruleset < 0);
	reset();
	scratch[0] = "/nonexistent";
	CHECK("so is a private folder that is missing",
	      confine_landlock_prepare(&given, &ruleset, &err) < 0 && ruleset < 0);
	reset();
	k.no_rule = true;
	CHECK("so is a rule that cannot be added",
	      confine_landlock_prepare(&given, &ruleset, &err) < 0 &&
		      strstr(err.text, "add a rule for '/'"));
	reset();
	k.no_ruleset = true;
	CHECK("so are rules that cannot be made",
	      confine_landlock_prepare(&given, &ruleset, &err) < 0 &&
		      strstr(err.text, "create the ruleset"));
}

static void landlock_missing(void)
{
	struct error err;
	int ruleset = 5;

	reset();
	k.abi = 1;
	CHECK("an old Landlock is left out if nobody requires it",
	      confine_landlock_prepare(&given, &ruleset, &err) == 0 && ruleset == -1);
	given.flags.landlock = 1;
	CHECK("and refused if somebody does",
	      confine_landlock_prepare(&given, &ruleset, &err) < 0 &&
		      strstr(err.text, "--accept-weaker landlock"));
	k.abi = 5;
	given.flags.scopes = 1;
	CHECK("scopes that are required need version 6",
	      confine_landlock_prepare(&given, &ruleset, &err) < 0 &&
		      strstr(err.text, "--accept-weaker abstract-sockets"));
	k.abi = 6;
	CHECK("which has them", confine_landlock_prepare(&given, &ruleset, &err) == 0);
	CHECK("rules are entered", confine_landlock_enter(ruleset, &err) == 0 && k.entered);
	CHECK("without privileges", !k.privileged);
	k.no_entering = true;
	CHECK("rules that cannot be entered are an error",
	      confine_landlock_enter(ruleset, &err) < 0);
	fd_close(&ruleset);
	reset();
	CHECK("without rules nothing is entered",
	      confine_landlock_enter(-1, &err) == 0 && !k.entered && !k.privileged);
	k.pid = -1;
	CHECK("privileges that stay are an error", confine_landlock_enter(-1, &err) < 0);
}

/* --- counts */

static void write_proc(const char *name, const char *text)
{
	char path[2 * UNIT_PATH];
	FILE *to;

	snprintf(path, sizeof path, "%s/%s", proc, name);
	to = fopen(path, "we");
	if (!to || fputs(text, to) < 0 || fclose(to) != 0)
		abort();
}

static void make_proc(const char *name)
{
	char path[2 * UNIT_PATH];

	snprintf(path, sizeof path, "%s/%s", proc, name);
	if (mkdir(path, 0700) < 0)
		abort();
}

static struct wire_use use_of(const char *counters)
{
	struct wire_use use = { 0 };
	char path[2 * UNIT_PATH];

	write_proc("io", counters);
	snprintf(path, sizeof path, "%s/io", proc);

	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	use_read(&given, fd, &use);
	return use;
}

static void counts(void)
{
	reset();
	write_proc("loadavg", "0.1 0.2 0.3 1/200 43\n");
	CHECK("bytes are counted", use_of("rchar: 5\nwrite_bytes: 4096\nx: 7\n").written == 4096);
	CHECK("without a counter there are none",
	      use_of("rchar: 5\n").written == 0 && use_of("").written == 0);
	CHECK("processes are those after init", use_of("").processes == 42);
	k.pid = 7;
	CHECK("outside of a fence they are not counted",
	      use_of("").processes == 0 && use_left() == 0);
	k.pid = 1;
	for (size_t i = 0; i < 9; i++)
		make_proc((const char *[]){ "1", "1/task", "2", "2/task", "2/task/2", "2/task/3",
					    "9", "9/task", "9/task/9" }[i]);
	make_proc("0");
	make_proc("self");
	make_proc("12"); /* it has just ended */
	CHECK("threads that are left are counted, without init's", use_left() == 3);
}

static void full(void)
{
	reset();
	given.scratch_count = 2;
	k.disk.f_bavail = 0;
	CHECK("without a limit no folder is full", !use_of("").tmp_full);
	given.limits.tmp_size = 1;
	CHECK("a private folder without space is full", use_of("").tmp_full);
	k.disk.f_bavail = 3;
	CHECK("one with less than 16 KiB as well", use_of("").tmp_full);
	k.disk.f_bavail = 4;
	CHECK("one with 16 KiB is not", !use_of("").tmp_full);
	k.disk.f_favail = 0;
	CHECK("one without names is", use_of("").tmp_full);
	k.no_disk = true;
	CHECK("one that cannot be looked at is not", !use_of("").tmp_full);
}

int main(void)
{
	if (!unit_temp(project) || !unit_temp(proc))
		return 1;
	snprintf(file, sizeof file, "%s/file", project);
	fclose(fopen(file, "we"));
	limits();
	memory();
	processes();
	refused_calls();
	seccomp();
	landlock();
	landlock_files();
	landlock_missing();
	counts();
	full();
	return unit_failures > 0;
}
