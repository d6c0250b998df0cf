/* Values of limits, and cgroups in a folder that looks like a cgroup file system. */
#include "fence/fence_spec.h"
#include "unit.h"

#include "fence/watch/cgroup.h"
#include "fence/watch/limit.h"
#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t parsed(enum fence_limit limit, const char *text)
{
	struct error err;
	uint64_t value = 0;

	return fence_limit_parse(limit, text, &value, &err) < 0 ? 0 : value;
}

static bool shows(enum fence_limit limit, uint64_t value, const char *expected)
{
	AUTO_FREE char *text = fence_limit_text(limit, value);

	return strcmp(text, expected) == 0;
}

static void values(void)
{
	struct fence_spec spec = { 0 };
	struct error err;
	uint64_t value = 7;
	bool found = true;

	for (int i = 0; i < FENCE_LIMIT_COUNT; i++)
		found = found && fence_limit_find(fence_limit_name((enum fence_limit)i)) ==
					 (enum fence_limit)i;
	CHECK("every limit is found by its name", found);
	CHECK("an unknown name is not found", fence_limit_find("everything") == FENCE_LIMIT_COUNT &&
						      fence_limit_find("") == FENCE_LIMIT_COUNT);
	CHECK("each limit parses its own kind of value",
	      parsed(FENCE_LIMIT_MEMORY, "64M") == 64 << 20 &&
		      parsed(FENCE_LIMIT_CPUS, "1.5") == 1500 &&
		      parsed(FENCE_LIMIT_PROCESSES, "64") == 64 &&
		      parsed(FENCE_LIMIT_TIME, "30s") == 30000);
	CHECK("a value too small to start a command is refused",
	      !parsed(FENCE_LIMIT_MEMORY, "1M") && !parsed(FENCE_LIMIT_OPEN_FILES, "3") &&
		      !parsed(FENCE_LIMIT_CPUS, "0.001"));
	CHECK("an error names the limit and leaves the value unchanged",
	      fence_limit_parse(FENCE_LIMIT_TMP_SIZE, "much", &value, &err) < 0 && value == 7 &&
		      strstr(err.text, "tmp-size") && strstr(err.text, "much"));
	CHECK("values are formatted as users write them",
	      shows(FENCE_LIMIT_MEMORY, 512 << 20, "512M") &&
		      shows(FENCE_LIMIT_CPUS, 1500, "1.5") &&
		      shows(FENCE_LIMIT_PROCESSES, 64, "64") &&
		      shows(FENCE_LIMIT_TIME, 90000, "1m30s"));
	CHECK("without a limit, the kernel chooses the size of /tmp", limit_tmp_size(&spec) == 0);
	spec.limits[FENCE_LIMIT_MEMORY] = 100;
	CHECK("the memory limit also bounds the size of /tmp", limit_tmp_size(&spec) == 100);
	spec.limits[FENCE_LIMIT_TMP_SIZE] = 50;
	CHECK("the smaller limit applies", limit_tmp_size(&spec) == 50);
}

static bool is(const char *folder, const char *expected)
{
	return folder && expected ? strcmp(folder, expected) == 0 : folder == expected;
}

static void places(void)
{
	struct cgroup_place place;

	cgroup_place_read("24 1 0:22 / /proc rw - proc proc rw\n"
			  "25 1 0:23 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
			  "0::/user.slice/session-1.scope\n", &place);
	CHECK("the process's own v2 cgroup is found",
	      is(place.v2, "/sys/fs/cgroup/user.slice/session-1.scope") &&
		      !place.v1[CGROUP_MEMORY]);
	cgroup_place_release(&place);

	cgroup_place_read("25 1 0:23 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
			  "0::/user.slice/run-1.scope/ringfence-outside\n", &place);
	CHECK("of a vacated v2 cgroup, the one above is found",
	      is(place.v2, "/sys/fs/cgroup/user.slice/run-1.scope"));
	cgroup_place_release(&place);

	cgroup_place_read("30 1 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
			  "31 1 0:31 / /cg/memory rw - cgroup cgroup rw,memory\n"
			  "32 1 0:32 / /cg/unified rw - cgroup2 none rw\n",
			  "4:memory:/a/b\n1:cpu,cpuacct:/\n0::/\n", &place);
	CHECK("v1 hierarchies are found by their controllers",
	      is(place.v1[CGROUP_MEMORY], "/cg/memory/a/b") &&
		      is(place.v1[CGROUP_CPU], "/cg/cpu") && is(place.v1[CGROUP_PIDS], NULL) &&
		      is(place.v2, "/cg/unified"));
	cgroup_place_release(&place);

	cgroup_place_read("31 1 0:31 /docker/x /cg/memory rw - cgroup cgroup rw,memory\n",
			  "4:memory:/docker/x/y\n", &place);
	CHECK("a mount may show only part of the hierarchy",
	      is(place.v1[CGROUP_MEMORY], "/cg/memory/y"));
	cgroup_place_release(&place);

	cgroup_place_read("31 1 0:31 /elsewhere /cg/memory rw - cgroup cgroup rw,memory\n"
			  "x\n - \n1 2 - cgroup2\n\n",
			  "4:memory:/docker/x\nbroken\n0:\n", &place);
	CHECK("a cgroup that is not mounted or not listed is not found",
	      !place.v1[CGROUP_MEMORY] && !place.v2);
	cgroup_place_release(&place);
}

static char top[UNIT_PATH];

static void put(const char *folder, const char *name, const char *text)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0)
		abort();
}

static bool holds(const char *folder, const char *name, const char *expected)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1000);
	AUTO_FD fd = open(path, O_RDONLY);

	return fd >= 0 && fd_read_all(fd, &text) == 0 && strcmp(buffer_text(&text), expected) == 0;
}

static char *folder(const char *name)
{
	char *path = path_join(top, name);

	if (mkdir(path, 0700) < 0)
		abort();
	return path;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	(void)status;
	(void)kind;
	(void)at;
	return remove(path);
}

static const uint64_t all[CGROUP_CONTROLLERS] = { 64 << 20, 1500, 66 };

static void version_2(void)
{
	AUTO_FREE char *own = folder("v2");
	struct cgroup_place place = { .v2 = own };
	struct cgroup group = CGROUP_INIT;
	struct error err;

	put(own, "cgroup.controllers", "cpuset cpu io memory pids\n");
	put(own, "cgroup.subtree_control", "memory\n");
	cgroup_make(&place, all, &group);

	const char *made = group.parts[CGROUP_MEMORY].folder;

	CHECK("a v2 cgroup has all three limits in one folder",
	      made && path_within(made, own) && is(group.parts[CGROUP_CPU].folder, made) &&
		      group.parts[CGROUP_PIDS].version == 2);
	CHECK("disabled controllers are enabled",
	      holds(own, "cgroup.subtree_control", "+cpu +pids"));
	CHECK("limits are written in the kernel's format",
	      holds(made, "memory.max", "67108864") && holds(made, "memory.swap.max", "0") &&
		      holds(made, "cpu.max", "150000 100000") && holds(made, "pids.max", "66"));
	CHECK("joining adds the calling process",
	      cgroup_adopt(&group, 0, &err) == 0 && holds(made, "cgroup.procs", "0"));
	CHECK("the check fails if the fence is not in the cgroup",
	      cgroup_check(&group, 4711, &err) < 0 &&
		      strstr(err.text, "not in the memory control group"));
	put(made, "cgroup.procs", "12\n4711\n");
	CHECK("the check succeeds if the limits read back as written",
	      cgroup_check(&group, 4711, &err) == 0);
	put(made, "cpu.max", "max 100000\n");
	CHECK("the check names a limit that reads back differently",
	      cgroup_check(&group, 4711, &err) < 0 && strstr(err.text, "cpu limit is max"));
	put(made, "cpu.max", "150000 100000\n");
	put(made, "memory.max", "max\n");
	CHECK("an unlimited value is not a limit of zero bytes",
	      cgroup_check(&group, 4711, &err) < 0);
	put(made, "memory.peak", "12345\n");
	put(made, "memory.events", "low 1\nmax 9\noom 2\noom_kill 3\noom_group_kill 4\n");
	put(made, "pids.events", "max 5\n");
	CHECK("peaks and events are read", cgroup_peak(&group, CGROUP_MEMORY) == 12345 &&
						   cgroup_trips(&group, CGROUP_MEMORY) == 3 &&
						   cgroup_trips(&group, CGROUP_PIDS) == 5 &&
						   cgroup_peak(&group, CGROUP_CPU) == 0 &&
						   cgroup_trips(&group, CGROUP_CPU) == 0);
	cgroup_remove(&group);
	CHECK("removing a cgroup clears its parts",
	      !group.parts[CGROUP_MEMORY].version && group.parts[CGROUP_MEMORY].lock < 0);
}

static void vacating(void)
{
	AUTO_FREE char *own = folder("scope");
	AUTO_FREE char *outside = path_join(own, "ringfence-outside");
	struct cgroup_place place = { .v2 = own };
	char pid[24];

	snprintf(pid, sizeof pid, "%d\n", getpid());
	put(own, "cgroup.controllers", "cpu pids\n");
	put(own, "cgroup.procs", "1\n2\n");
	cgroup_vacate(&place);
	CHECK("a cgroup with other processes is not vacated", access(outside, F_OK) < 0);
	put(own, "cgroup.procs", pid);
	cgroup_vacate(&place);
	CHECK("a process that is alone in its cgroup makes room there for limited ones",
	      holds(outside, "cgroup.procs", "0") &&
		      holds(own, "cgroup.subtree_control", "+cpu +pids"));
	cgroup_recover(&place);
	CHECK("the cgroup of the processes outside is never removed", access(outside, F_OK) == 0);
}

static void less_than_asked(void)
{
	AUTO_FREE char *own = folder("less");
	AUTO_FREE char *memory = folder("memory");
	struct cgroup_place place = { .v2 = own, .v1 = { [CGROUP_MEMORY] = memory } };
	struct cgroup group = CGROUP_INIT;

	put(own, "cgroup.controllers", "pids\n");
	put(own, "cgroup.subtree_control", "pids\n");
	cgroup_make(&place, all, &group);
	CHECK("a controller that v2 lacks is looked up in v1",
	      group.parts[CGROUP_PIDS].version == 2 && group.parts[CGROUP_MEMORY].version == 1 &&
		      group.parts[CGROUP_CPU].version == 0);
	CHECK("v1 uses different files",
	      holds(group.parts[CGROUP_MEMORY].folder, "memory.limit_in_bytes", "67108864"));
	cgroup_remove(&group);

	put(own, "cgroup.type", "domain\n");
	CHECK("a cgroup is likely if one can be created", cgroup_likely(&place, all));
	put(own, "cgroup.subtree_control", "");
	put(own, "cgroup.procs", "1\n2\n");
	CHECK("a cgroup is unlikely if other processes are in the parent and it delegates nothing",
	      !cgroup_likely(&place, all));
	chmod(memory, 0500);
	place.v2 = NULL;
	if (geteuid() != 0) {
		cgroup_make(&place, all, &group);
		CHECK("no cgroup is made without permission to create one",
		      !group.parts[CGROUP_MEMORY].version);
	}
	cgroup_remove(&group);
}

static void recovery(void)
{
	AUTO_FREE char *own = folder("recovery");
	AUTO_FREE char *dead = folder("recovery/ringfence-00000000deadbeef");
	AUTO_FREE char *alive = folder("recovery/ringfence-00000000a11e0a11");
	AUTO_FREE char *other = folder("recovery/ringfence-mine");
	struct cgroup_place place = { .v2 = own };
	AUTO_FD lock = open(alive, O_RDONLY | O_DIRECTORY);

	if (flock(lock, LOCK_EX) < 0)
		abort();
	cgroup_recover(&place);
	CHECK("a cgroup that no process holds is removed", access(dead, F_OK) < 0);
	CHECK("a cgroup that a ringfence process holds stays", access(alive, F_OK) == 0);
	CHECK("a cgroup of another program stays", access(other, F_OK) == 0);
}

int main(void)
{
	values();
	places();
	if (!unit_temp(top))
		return 1;
	version_2();
	vacating();
	less_than_asked();
	recovery();
	nftw(top, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return unit_failures > 0;
}
