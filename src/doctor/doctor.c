/* The doctor: see doctor.h. */
#include "doctor/doctor.h"

#include "agent/adapter.h"
#include "doctor/probe.h"
#include "doctor/state_check.h"
#include "draft/draft.h"
#include "draft/draft_record.h"
#include "fence/fence_limit.h"
#include "fence/fence_weaker.h"
#include "util/buffer.h"
#include "util/container_engine.h"
#include "util/env.h"
#include "util/file/fd.h"
#include "util/file/state_folder.h"
#include "util/mem.h"
#include "util/process.h"
#include "util/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { GIT_MS = 2000 };

#define MAKE_ROOM "free some space; ringfence clean --older 7d --all removes old loops"

static const uint64_t little_space = 1ULL << 30;
static const uint64_t much_space = 10ULL << 30; /* of drafts */

/* Examines one aspect of the machine and fills in the check. */
typedef void check_fn(struct doctor_check *check, const struct probe *probe);

__attribute__((format(printf, 2, 3))) static void text(char **target, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	free(*target);
	*target = mem_format_list(format, arguments);
	va_end(arguments);
}

/* The first line of a small file; empty if it cannot be read. The caller frees. */
static char *read_first_line(const char *path)
{
	AUTO_BUFFER struct buffer bytes = BUFFER_INIT(4096);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		fd_read_all(fd, &bytes);
	return strndup(buffer_text(&bytes), strcspn(buffer_text(&bytes), "\n"));
}

static bool first_line_is(const char *path, const char *wanted)
{
	AUTO_FREE char *value = read_first_line(path);

	return strcmp(value, wanted) == 0;
}

/* Finds the state folder. The caller frees *ret_state. Returns 0, or -1 with err set. */
static int find_state(char **ret_state, struct error *err)
{
	const struct state_folder_owner owner = { .home = env_home(), .uid = geteuid() };

	return state_folder_find(&owner, ret_state, err);
}

/* Returns why the state folder cannot be used, which no fence works without, or NULL. The caller
 * frees it. */
static char *state_trouble(void)
{
	AUTO_FREE char *state = NULL;
	struct statvfs space;
	struct error err;

	if (find_state(&state, &err) < 0)
		return mem_dup(err.text);
	if (statvfs(state, &space) < 0)
		return mem_format("'%s': %s", state, strerror(errno));
	return space.f_bavail ? NULL : mem_format("the disk of '%s' is full: " MAKE_ROOM, state);
}

static void skip(struct doctor_check *check, const char *why)
{
	check->state = DOCTOR_NOT_CHECKED;
	text(&check->detail, "not checked: %s", why);
}

static void check_kernel(struct doctor_check *check, const struct probe *probe)
{
	struct utsname system;
	char *end = NULL;
	long major;
	long minor;

	(void)probe;
	uname(&system);
	major = strtol(system.release, &end, 10);
	minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	text(&check->detail, "%s %s, %s", system.sysname, system.release, system.machine);
	if (major < 5 || (major == 5 && minor < 19)) {
		check->state = DOCTOR_FAIL;
		text(&check->remedy, "upgrade to Linux 5.19 or newer, which Landlock needs");
	} else if (major < 6 || (major == 6 && minor < 12)) {
		check->state = DOCTOR_WARN;
		text(&check->remedy,
		     "from Linux 6.12 on, the fence can also block the host's abstract sockets with --net open");
	}
}

static void check_user_namespaces(struct doctor_check *check, const struct probe *probe)
{
	text(&check->detail, "available");
	if (probe->held) /* whatever the sysctls say: an AppArmor profile may allow them */
		return;
	check->state = DOCTOR_FAIL;
	if (first_line_is("/proc/sys/user/max_user_namespaces", "0"))
		text(&check->remedy, "sudo sysctl -w user.max_user_namespaces=15000");
	else if (first_line_is("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		text(&check->remedy, "sudo sysctl -w kernel.unprivileged_userns_clone=1");
	else if (first_line_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"))
		text(&check->remedy,
		     "give ringfence and bwrap an AppArmor profile with `userns`, or sudo sysctl -w "
		     "kernel.apparmor_restrict_unprivileged_userns=0");
	else
		check->state = DOCTOR_OK;
	text(&check->detail,
	     check->remedy ? "disabled or restricted on this machine" : "no setting forbids them");
}

static void check_landlock(struct doctor_check *check, const struct probe *probe)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* the version */);

	(void)probe;
	text(&check->detail, "ABI %ld", abi < 0 ? 0 : abi);
	if (abi < 2) {
		check->state = DOCTOR_FAIL;
		text(&check->remedy,
		     "boot with lsm=landlock,... (Linux 5.19 or newer), or use --accept-weaker landlock");
	}
}

/* Tries a mechanism that `auto` does not choose here. It cannot make the machine unfit. */
static void try_mechanism(struct doctor_check *check, const char *name)
{
	AUTO_BUFFER struct buffer lacks = BUFFER_INIT(4096);
	const struct fence_weaker_entry *at;
	struct probe probe;

	probe_fence(name, &probe);
	for (size_t i = 0; (at = fence_weaker_at(i)); i++)
		if (probe.weaker & at->bit)
			buffer_printf(&lacks, "%s%s: %s",
				      lacks.used ? "; " : "; weaker: ", at->name, at->meaning);
	if (probe.held) {
		text(&check->detail, "works, %u of %u canaries held, %lu ms%s", probe.canaries_held,
		     probe.canaries_total, (unsigned long)probe.duration_ms, buffer_text(&lacks));
		return;
	}
	check->state = DOCTOR_WARN;
	text(&check->detail, "--fence %s does not work", name);
	text(&check->remedy, "%s", probe.why);
}

static void try_engine(struct doctor_check *check, enum container_engine_kind kind)
{
	struct container_engine engine;
	struct error err;

	if (container_engine_find(kind, &engine, &err) < 0) {
		skip(check, err.text);
		return;
	}
	container_engine_release(&engine);
	try_mechanism(check, container_engine_name(kind));
}

static void check_podman(struct doctor_check *check, const struct probe *probe)
{
	(void)probe;
	try_engine(check, CONTAINER_ENGINE_PODMAN);
}

static void check_docker(struct doctor_check *check, const struct probe *probe)
{
	(void)probe;
	try_engine(check, CONTAINER_ENGINE_DOCKER);
}

static void check_landlock_fence(struct doctor_check *check, const struct probe *probe)
{
	(void)probe;
	try_mechanism(check, "landlock");
}

static void check_fence(struct doctor_check *check, const struct probe *probe)
{
	AUTO_FREE char *trouble = state_trouble();

	if (!probe->held && trouble) {
		skip(check, "the state folder cannot be used");
	} else if (probe->held) {
		text(&check->detail, "%s: works, %u of %u canaries held, %lu ms", probe->mechanism,
		     probe->canaries_held, probe->canaries_total,
		     (unsigned long)probe->duration_ms);
	} else {
		check->state = DOCTOR_FAIL;
		text(&check->detail, "does not work");
		text(&check->remedy, "%s", probe->why);
	}
}

/* Appends a mechanism and the limits that it enforces. */
static void add_enforced(struct buffer *out, const struct probe *probe, enum fence_how how)
{
	bool first = true;

	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		if (probe->limits[i] != how)
			continue;
		if (first)
			buffer_printf(out, "%s%s: ", out->used ? "; " : "", fence_how_name(how));
		buffer_printf(out, "%s%s", first ? "" : ", ",
			      fence_limit_name((enum fence_limit)i));
		first = false;
	}
}

static void check_limits(struct doctor_check *check, const struct probe *probe)
{
	AUTO_BUFFER struct buffer enforced = BUFFER_INIT(4096);
	AUTO_BUFFER struct buffer missing = BUFFER_INIT(4096);

	if (!probe->held) {
		skip(check, "the fence does not work");
		return;
	}
	for (int how = FENCE_HOW_NONE + 1; how <= FENCE_HOW_TIMER; how++)
		add_enforced(&enforced, probe, (enum fence_how)how);
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++)
		if (probe->limits[i] == FENCE_HOW_NONE)
			buffer_printf(&missing, "%s%s", missing.used ? ", " : "",
				      fence_limit_name((enum fence_limit)i));
	text(&check->detail, "%s", buffer_text(&enforced));
	if (!missing.used)
		return;
	check->state = DOCTOR_WARN;
	text(&check->remedy,
	     "cannot be enforced here: %s. Fractions of a CPU need a control group: use a systemd login session, or root",
	     buffer_text(&missing));
}

static void check_agents(struct doctor_check *check, const struct probe *probe)
{
	AUTO_BUFFER struct buffer names = BUFFER_INIT(4096);
	const struct adapter *agent;

	(void)probe;
	for (size_t i = 0; (agent = adapter_at(i)); i++) {
		struct adapter_found found;

		adapter_look(agent, "", &found);
		if (found.program)
			buffer_printf(&names, "%s%s%s%s", names.used ? ", " : "", agent->name,
				      found.version ? " " : "", found.version ? found.version : "");
		adapter_found_release(&found);
	}
	if (names.used)
		text(&check->detail, "%s (ringfence agents)", buffer_text(&names));
	else
		text(&check->detail, "no supported agent is in PATH (ringfence agents)");
}

/* The system's git, not one from PATH: it is executed outside the fence. */
static const char *find_git(void)
{
	static const char *const places[] = { "/usr/bin/git", "/usr/local/bin/git", "/bin/git",
					      "/run/current-system/sw/bin/git" };

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (access(places[i], X_OK) == 0)
			return places[i];
	return places[0];
}

static void check_git(struct doctor_check *check, const struct probe *probe)
{
	AUTO_BUFFER struct buffer output = BUFFER_INIT(4096);
	char *const arguments[] = { (char *)find_git(), (char *)"--version", NULL };

	(void)probe;
	if (process_output(arguments[0], arguments, env_all(), GIT_MS, &output) == 0 &&
	    output.used) {
		text(&check->detail, "%.*s", (int)strcspn(buffer_text(&output), "\n"),
		     buffer_text(&output));
	} else {
		check->state = DOCTOR_WARN;
		text(&check->detail, "not installed, or does not run");
		text(&check->remedy, "install git if your projects need it");
	}
}

static void check_state(struct doctor_check *check, const struct probe *probe)
{
	AUTO_FREE char *trouble = state_trouble();
	AUTO_FREE char *state = NULL;
	AUTO_FREE char *first = NULL;
	const char *remedy;
	struct error err;
	size_t count;

	if (trouble || find_state(&state, &err) < 0) {
		check->state = probe->held ? DOCTOR_WARN : DOCTOR_FAIL;
		text(&check->detail, "cannot be used");
		text(&check->remedy, "%s", trouble ? trouble : err.text);
		return;
	}
	text(&check->detail, "no damage found");
	count = state_check_find(state, &first, &remedy);
	if (!count)
		return;
	check->state = DOCTOR_FAIL;
	text(&check->detail, "damaged: %zu empty files, the first is '%s'", count, first);
	text(&check->remedy, "%s", remedy);
}

/* Checks the free space of the state folder. */
static void check_disk(struct doctor_check *check, const struct probe *probe)
{
	AUTO_FREE char *state = NULL;
	struct statvfs space;
	struct error err;
	uint64_t left;

	(void)probe;
	if (find_state(&state, &err) < 0 ||
	    (statvfs(state, &space) < 0 && error_sys(&err, "examine '%s'", state) < 0)) {
		skip(check, "the state folder cannot be used");
		return;
	}
	left = (uint64_t)space.f_bavail * space.f_frsize;
	text(&check->detail, "%.1f GiB free at '%s'", (double)left / (double)(1 << 30), state);
	if (left < little_space) {
		check->state = DOCTOR_WARN;
		text(&check->remedy, MAKE_ROOM);
	}
}

/* Tries the kinds of drafts, the best first. */
static void check_drafts(struct doctor_check *check, const struct probe *probe)
{
	AUTO_FREE char *state = NULL;
	struct error why, err;

	if (!probe->held || find_state(&state, &err) < 0) {
		skip(check, "the fence does not work");
		return;
	}
	text(&check->detail, "overlay: works; only changes take space");
	if (draft_try("overlay", state, &why) == 0)
		return;
	check->state = DOCTOR_WARN;
	text(&check->detail, "copy: works; a draft is a copy of the project");
	text(&check->remedy, "an overlay does not work here: %s", why.text);
	if (draft_try("copy", state, &err) == 0)
		return;
	text(&check->detail, "do not work");
	text(&check->remedy, "%s; nor does a copy: %s", why.text, err.text);
}

/* Drafts that nobody looks at again can fill a disk. */
static void check_draft_space(struct doctor_check *check, const struct probe *probe)
{
	AUTO_FREE char *state = NULL;
	AUTO_FREE char *size = NULL;
	struct draft_records all;
	struct error err;
	uint64_t bytes;

	(void)probe;
	if (find_state(&state, &err) < 0 || draft_record_list(state, &all, &err) < 0) {
		skip(check, err.text);
		return;
	}
	bytes = draft_records_bytes(&all);
	size = text_size(bytes);
	text(&check->detail, "%zu draft%s of commands, %s", all.count, all.count == 1 ? "" : "s",
	     size);
	draft_records_release(&all);
	if (bytes < much_space)
		return;
	check->state = DOCTOR_WARN;
	text(&check->remedy, "look at them: ringfence drafts --all; remove old ones: ringfence "
			     "clean --older 7d --all");
}

static void check_time_zone(struct doctor_check *check, const struct probe *probe)
{
	const char *chosen = env_get("TZ");
	time_t now = time(NULL);
	struct tm parts;
	char shown[64];

	(void)probe;
	env_local_time(NULL, now, &parts);
	strftime(shown, sizeof shown, "%Z, %H:%M", &parts);
	text(&check->detail, "%s", shown);
	/* The C library silently treats an unknown name as UTC. */
	if (chosen && chosen[0] && chosen[0] != ':' && strncmp(chosen, "UTC", 3) != 0 &&
	    strncmp(chosen, "GMT", 3) != 0 && timezone == 0 && !daylight) {
		check->state = DOCTOR_WARN;
		text(&check->remedy,
		     "correct TZ: '%s' is unknown on this machine and treated as UTC", chosen);
	}
}

static void check_proc(struct doctor_check *check, const struct probe *probe)
{
	AUTO_BUFFER struct buffer mounts = BUFFER_INIT(1 << 20);
	AUTO_FD fd = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
	const char *proc;

	(void)probe;
	if (fd < 0 || fd_read_all(fd, &mounts) < 0) {
		check->state = DOCTOR_FAIL;
		text(&check->detail, "not mounted");
		text(&check->remedy, "mount -t proc proc /proc");
		return;
	}
	proc = strstr(buffer_text(&mounts), " /proc proc ");
	text(&check->detail, "shows all processes");
	if (proc && memmem(proc, strcspn(proc, "\n"), "hidepid=", 8) &&
	    !memmem(proc, strcspn(proc, "\n"), "hidepid=0", 9) && geteuid() != 0) {
		check->state = DOCTOR_WARN;
		text(&check->detail, "hides other users' processes (hidepid)");
		text(&check->remedy, "needed only if the fence does not start: sudo mount -o "
				     "remount,hidepid=0 /proc");
	}
}

static void check_tmp(struct doctor_check *check, const struct probe *probe)
{
	struct statvfs status;

	(void)probe;
	text(&check->detail, "programs in /tmp can be executed");
	if (statvfs("/tmp", &status) < 0) {
		check->state = DOCTOR_WARN;
		text(&check->detail, "/tmp: %s", strerror(errno));
		text(&check->remedy, "create /tmp (mode 1777)");
	} else if (status.f_flag & ST_NOEXEC) {
		check->state = DOCTOR_WARN;
		text(&check->detail, "/tmp is mounted noexec");
		text(&check->remedy,
		     "commands in the fence have their own /tmp; only projects in /tmp cannot execute their "
		     "own programs");
	}
}

static void check_surroundings(struct doctor_check *check, const struct probe *probe)
{
	AUTO_FREE char *version = read_first_line("/proc/version");
	AUTO_FREE char *trouble = state_trouble();

	text(&check->detail, "neither a container nor WSL");
	if (strcasestr(version, "microsoft")) {
		check->state = DOCTOR_WARN;
		text(&check->detail, "Windows Subsystem for Linux");
		text(&check->remedy,
		     "keep projects in the Linux file system, not below /mnt/c: Windows "
		     "files have no Unix permissions");
	} else if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0) {
		text(&check->detail, "a container");
		if (probe->held || !probe->tried || trouble)
			return;
		check->state = DOCTOR_WARN;
		text(&check->remedy,
		     "start it with --security-opt seccomp=unconfined --security-opt "
		     "apparmor=unconfined --security-opt systempaths=unconfined (Podman: "
		     "unmask=ALL), or run Ringfence outside the container");
	}
}

static const struct {
	const char *name;
	check_fn *run;
} checks[] = {
	{ "kernel", check_kernel },
	{ "user namespaces", check_user_namespaces },
	{ "landlock", check_landlock },
	{ "fence", check_fence },
	{ "limits", check_limits },
	{ "podman", check_podman },
	{ "docker", check_docker },
	{ "landlock fence", check_landlock_fence },
	{ "agents", check_agents },
	{ "git", check_git },
	{ "disk", check_disk },
	{ "state", check_state },
	{ "drafts", check_drafts },
	{ "draft space", check_draft_space },
	{ "time zone", check_time_zone },
	{ "/proc", check_proc },
	{ "/tmp", check_tmp },
	{ "surroundings", check_surroundings },
};

const char *doctor_state_name(enum doctor_state state)
{
	static const char *const names[] = { "ok", "warn", "fail", "skip" };

	return names[state];
}

void doctor_examine(struct doctor_findings *ret_findings)
{
	size_t count = sizeof checks / sizeof *checks;
	struct probe probe;

	*ret_findings = (struct doctor_findings){
		.checks = mem_zero(count * sizeof *ret_findings->checks), .count = count, .ok = true
	};
	probe_enter_scope();
	probe_fence("auto", &probe);
	for (size_t i = 0; i < count; i++) {
		ret_findings->checks[i].name = checks[i].name;
		checks[i].run(&ret_findings->checks[i], &probe);
		if (ret_findings->checks[i].state == DOCTOR_FAIL)
			ret_findings->ok = false;
	}
}

void doctor_release(struct doctor_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->checks[i].detail);
		free(findings->checks[i].remedy);
	}
	free(findings->checks);
}
