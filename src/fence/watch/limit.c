/* Limits of a run: see limit.h. */
#include "fence/watch/limit.h"

#include "fence/watch/resource_use.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* In the group, but not part of the command: the mechanism's process and init. */
enum { OUTER_PROCESSES = 2 };

/* The interval between samples. An excess is confirmed soon, because a process that is just
 * spawning another is counted twice. */
enum { LOOK_LEAST_MS = 10, LOOK_MOST_MS = 250, LOOK_NOTE_MS = 100 };

/* The assumed maximum rate of use, in bytes per millisecond. */
enum { FAST_BYTES = 2 << 20 };

/* The controller that enforces a limit, or CGROUP_CONTROLLERS if none does. */
static enum cgroup_controller controller_of(enum fence_limit limit)
{
	switch (limit) {
	case FENCE_LIMIT_MEMORY:
		return CGROUP_MEMORY;
	case FENCE_LIMIT_CPUS:
		return CGROUP_CPU;
	case FENCE_LIMIT_PROCESSES:
		return CGROUP_PIDS;
	default:
		return CGROUP_CONTROLLERS;
	}
}

static unsigned int bit(enum fence_limit limit)
{
	return 1U << limit;
}

static bool fenced(const struct limit_set *limiter)
{
	return !(limiter->plan->weaker & FENCE_WEAKER_NO_FENCE);
}

/* Only namespaces count the processes of the fence alone, and only mounts make a file system for
 * temporary files. */
static bool has_namespaces(const struct limit_set *limiter)
{
	return fenced(limiter) && !limiter->plan->own;
}

static uint64_t available_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) < 0 ? 1 : (uint64_t)CPU_COUNT(&set);
}

static uint64_t whole_cpus(uint64_t thousandths)
{
	return (thousandths + 999) / 1000;
}

/* Chooses the means that enforces a limit here. *ret_weak is set to the reason if it is not
 * enforced as requested. */
static enum fence_how choose(const struct limit_set *limiter, enum fence_limit limit,
			     const char **ret_weak)
{
	enum cgroup_controller controller = controller_of(limit);
	uint64_t value = limiter->limits[limit].value;
	int version = controller == CGROUP_CONTROLLERS ? 0
						       : limiter->group.parts[controller].version;

	if (version)
		return version == 2 ? FENCE_HOW_CGROUP_V2 : FENCE_HOW_CGROUP_V1;
	switch (limit) {
	case FENCE_LIMIT_MEMORY:
	case FENCE_LIMIT_DISK:
		if (resource_use_possible())
			return FENCE_HOW_WATCHED;
		*ret_weak = "this kernel does not list the children of processes";
		return FENCE_HOW_NONE;
	case FENCE_LIMIT_CPUS:
		if (!fenced(limiter))
			break;
		if (value % 1000 && value < available_cpus() * 1000)
			*ret_weak =
				"a fraction of a CPU needs a control group (version 2 with systemd, or "
				"version 1 as root)";
		return FENCE_HOW_AFFINITY;
	case FENCE_LIMIT_PROCESSES:
		if (!has_namespaces(limiter))
			break;
		return FENCE_HOW_RLIMIT;
	case FENCE_LIMIT_TMP_SIZE:
		if (!has_namespaces(limiter))
			break;
		return FENCE_HOW_TMPFS;
	case FENCE_LIMIT_OPEN_FILES:
	case FENCE_LIMIT_FILE_SIZE:
		return FENCE_HOW_RLIMIT;
	case FENCE_LIMIT_TIME:
		return FENCE_HOW_TIMER;
	case FENCE_LIMIT_COUNT:
		break;
	}
	*ret_weak = fenced(limiter) ? "this fence has no namespaces" : "there is no fence";
	return FENCE_HOW_NONE;
}

static int choose_or_refuse(struct limit_set *limiter, enum fence_limit limit,
			    struct fence_result *result, struct error *err)
{
	struct fence_limited *at = &limiter->limits[limit];
	AUTO_FREE char *shown = fence_limit_text(limit, at->value);
	const char *weak = NULL;

	at->how = choose(limiter, limit, &weak);
	if (!weak)
		return 0;
	if (!(limiter->plan->spec->accepted_limits & bit(limit)))
		return error_set(err,
				 "limit %s (%s) cannot be enforced here: %s; to run anyway: "
				 "--accept-weaker %s",
				 fence_limit_name(limit), shown, weak, fence_limit_name(limit));
	result->weaker_limits |= bit(limit);
	list_printf(&result->warnings, "limit %s (%s) is not enforced: %s", fence_limit_name(limit),
		    shown, weak);
	return 0;
}

static void make_groups(struct limit_set *limiter)
{
	uint64_t values[CGROUP_CONTROLLERS] = { 0 };
	struct cgroup_place place;
	bool any = false;

	for (int i = 0; i < FENCE_LIMIT_COUNT; i++) {
		if (controller_of(i) == CGROUP_CONTROLLERS || !limiter->limits[i].value)
			continue;
		values[controller_of(i)] = limiter->limits[i].value;
		if (i == FENCE_LIMIT_PROCESSES)
			values[CGROUP_PIDS] += OUTER_PROCESSES;
		any = true;
	}
	if (!any)
		return;
	cgroup_place_find(&place);
	cgroup_make(&place, values, &limiter->group);
	cgroup_place_release(&place);
}

int limit_begin(struct limit_set *limiter, const struct fence_plan *plan,
		struct fence_result *result, struct error *err)
{
	int status = 0;

	limiter->plan = plan;
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++)
		limiter->limits[i].value = plan->spec->limits[i];
	make_groups(limiter);
	for (int i = 0; i < FENCE_LIMIT_COUNT && status == 0; i++)
		if (limiter->limits[i].value)
			status = choose_or_refuse(limiter, (enum fence_limit)i, result, err);
	memcpy(result->limits, limiter->limits, sizeof result->limits);
	return status;
}

static uint64_t enforced_by(const struct limit_set *limiter, enum fence_limit limit,
			    enum fence_how how)
{
	return limiter->limits[limit].how == how ? limiter->limits[limit].value : 0;
}

void limit_describe(const struct limit_set *limiter, struct wire_limits *ret_limits)
{
	*ret_limits = (struct wire_limits){
		.memory = limiter->limits[FENCE_LIMIT_MEMORY].value,
		.processes = limiter->limits[FENCE_LIMIT_PROCESSES].value,
		.processes_exact = enforced_by(limiter, FENCE_LIMIT_PROCESSES, FENCE_HOW_RLIMIT) !=
				   0,
		.open_files = limiter->limits[FENCE_LIMIT_OPEN_FILES].value,
		.file_size = limiter->limits[FENCE_LIMIT_FILE_SIZE].value,
		.tmp_size = limit_tmp_size(limiter->plan->spec),
		.cpus = whole_cpus(enforced_by(limiter, FENCE_LIMIT_CPUS, FENCE_HOW_AFFINITY)),
		.counters = enforced_by(limiter, FENCE_LIMIT_DISK, FENCE_HOW_WATCHED) != 0,
	};
}

uint64_t limit_tmp_size(const struct fence_spec *spec)
{
	uint64_t memory = spec->limits[FENCE_LIMIT_MEMORY];
	uint64_t own = spec->limits[FENCE_LIMIT_TMP_SIZE];
	uint64_t otherwise = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) /
			     2;

	if (own)
		return memory && memory < own ? memory : own;
	return memory < otherwise ? memory : 0;
}

/* Restricts a process to the requested number of CPUs, starting at a random one. */
static int choose_cpus(pid_t process, uint64_t wanted, struct error *err)
{
	cpu_set_t all;
	cpu_set_t chosen;
	unsigned int start = (unsigned int)getpid();
	uint64_t count = 0;

	if (sched_getaffinity(0, sizeof all, &all) < 0)
		return error_sys(err, "read the available CPUs");
	if (getrandom(&start, sizeof start, GRND_NONBLOCK) < 0)
		start *= 7;
	CPU_ZERO(&chosen);
	for (unsigned int i = 0; i < CPU_SETSIZE && count < wanted; i++) {
		unsigned int cpu = (start + i) % CPU_SETSIZE;

		if (CPU_ISSET(cpu, &all)) {
			CPU_SET(cpu, &chosen);
			count++;
		}
	}
	return sched_setaffinity(process, sizeof chosen, &chosen) < 0
		       ? error_sys(err, "set the fence's CPU affinity")
		       : 0;
}

int limit_adopt(const struct limit_set *limiter, pid_t process, struct error *err)
{
	uint64_t cpus = whole_cpus(enforced_by(limiter, FENCE_LIMIT_CPUS, FENCE_HOW_AFFINITY));

	/* In this order: before Linux 6.2, a group with a cpuset resets the affinity. */
	if (cgroup_adopt(&limiter->group, process, err) < 0)
		return -1;
	return cpus ? choose_cpus(process, cpus, err) : 0;
}

int limit_enter(const struct limit_set *limiter, struct error *err)
{
	return limit_adopt(limiter, 0, err);
}

int limit_check(const struct limit_set *limiter, pid_t child, struct error *err)
{
	return cgroup_check(&limiter->group, child, err);
}

/* The limits that sampling can observe, as bits. */
static unsigned int observable(const struct limit_set *limiter)
{
	unsigned int set = 0;

	if (enforced_by(limiter, FENCE_LIMIT_MEMORY, FENCE_HOW_WATCHED))
		set |= bit(FENCE_LIMIT_MEMORY);
	if (enforced_by(limiter, FENCE_LIMIT_DISK, FENCE_HOW_WATCHED))
		set |= bit(FENCE_LIMIT_DISK);
	if (enforced_by(limiter, FENCE_LIMIT_PROCESSES, FENCE_HOW_RLIMIT))
		set |= bit(FENCE_LIMIT_PROCESSES);
	if (limiter->limits[FENCE_LIMIT_OPEN_FILES].value)
		set |= bit(FENCE_LIMIT_OPEN_FILES);
	return resource_use_possible() ? set : 0;
}

void limit_watch(struct limit_set *limiter, uint64_t now_ms)
{
	limiter->watched = observable(limiter);
	limiter->next_ms = limiter->watched ? now_ms + LOOK_LEAST_MS : 0;
}

/* The minimum time until a limit can be reached. */
static uint64_t patience_ms(uint64_t used, uint64_t limit)
{
	return used >= limit ? 0 : (limit - used) / FAST_BYTES;
}

static uint64_t next_look_ms(const struct limit_set *limiter, const struct resource_use *usage)
{
	uint64_t wait = LOOK_MOST_MS;
	uint64_t memory = enforced_by(limiter, FENCE_LIMIT_MEMORY, FENCE_HOW_WATCHED);
	uint64_t disk = enforced_by(limiter, FENCE_LIMIT_DISK, FENCE_HOW_WATCHED);

	if (limiter->suspects || limiter->suspect)
		return LOOK_LEAST_MS;
	if (memory && patience_ms(usage->memory_fair, memory) < wait)
		wait = patience_ms(usage->memory_fair, memory);
	if (disk && patience_ms(usage->written, disk) < wait)
		wait = patience_ms(usage->written, disk);
	if (limiter->watched & (bit(FENCE_LIMIT_PROCESSES) | bit(FENCE_LIMIT_OPEN_FILES)) &&
	    wait > LOOK_NOTE_MS)
		wait = LOOK_NOTE_MS;
	return wait < LOOK_LEAST_MS ? LOOK_LEAST_MS : wait;
}

static void remember(uint64_t *highest, uint64_t value)
{
	if (value > *highest)
		*highest = value;
}

static unsigned int exceeded(const struct limit_set *limiter, const struct resource_use *usage)
{
	uint64_t memory = enforced_by(limiter, FENCE_LIMIT_MEMORY, FENCE_HOW_WATCHED);
	uint64_t disk = enforced_by(limiter, FENCE_LIMIT_DISK, FENCE_HOW_WATCHED);
	unsigned int set = 0;

	if (memory && usage->memory_fair > memory)
		set |= bit(FENCE_LIMIT_MEMORY);
	if (disk && (usage->written > disk || (usage->hidden && usage->hidden == limiter->suspect)))
		set |= bit(FENCE_LIMIT_DISK);
	return set;
}

static void note(struct limit_set *limiter, const struct resource_use *usage)
{
	if (enforced_by(limiter, FENCE_LIMIT_MEMORY, FENCE_HOW_WATCHED))
		remember(&limiter->seen.memory_peak, usage->memory_fair);
	remember(&limiter->most_files, usage->most_files);
	remember(&limiter->seen.disk_written, usage->written);
	remember(&limiter->seen.processes_peak, usage->tasks);
}

enum fence_limit limit_look(struct limit_set *limiter, pid_t first, bool is_init, uint64_t now_ms)
{
	const struct resource_use_wanted wanted = {
		.first = first,
		.is_init = is_init || !has_namespaces(limiter),
		.counters = limiter->counters,
		.written = limiter->watched & bit(FENCE_LIMIT_DISK),
		.files = limiter->watched & bit(FENCE_LIMIT_OPEN_FILES),
		.fair_from = enforced_by(limiter, FENCE_LIMIT_MEMORY, FENCE_HOW_WATCHED),
	};
	struct resource_use usage;
	unsigned int over;
	unsigned int confirmed;

	resource_use_look(&wanted, &usage);
	note(limiter, &usage);
	over = exceeded(limiter, &usage);
	confirmed = over & limiter->suspects;
	limiter->suspects = over;
	limiter->suspect = usage.hidden;
	limiter->hidden = confirmed && usage.hidden &&
			  usage.written <= limiter->limits[FENCE_LIMIT_DISK].value;
	limiter->next_ms = now_ms + next_look_ms(limiter, &usage);
	for (int i = 0; i < FENCE_LIMIT_COUNT; i++)
		if (confirmed & bit((enum fence_limit)i))
			return (enum fence_limit)i;
	return FENCE_LIMIT_COUNT;
}

static uint64_t cpu_ms(const struct rusage *spent)
{
	return (uint64_t)(spent->ru_utime.tv_sec + spent->ru_stime.tv_sec) * 1000 +
	       (uint64_t)(spent->ru_utime.tv_usec + spent->ru_stime.tv_usec) / 1000;
}

/* The command's processes are the engine's, so the resources of our child, the engine's client, do
 * not count. */
static void fill_spent(const struct limit_set *limiter, const struct rusage *spent,
		       const struct wire_use *use, struct fence_use *ret_use)
{
	bool engine = limiter->plan && limiter->plan->outside; /* no plan: nothing was started */

	ret_use->cpu_ms = engine ? use->cpu_ms : cpu_ms(spent);
	remember(&ret_use->memory_peak, engine ? use->memory : (uint64_t)spent->ru_maxrss * 1024);
}

static void fill_use(const struct limit_set *limiter, const struct rusage *spent,
		     const struct wire_use *use, struct fence_use *ret_use)
{
	uint64_t memory = cgroup_peak(&limiter->group, CGROUP_MEMORY);
	uint64_t processes = cgroup_peak(&limiter->group, CGROUP_PIDS);
	uint64_t most = enforced_by(limiter, FENCE_LIMIT_PROCESSES, FENCE_HOW_RLIMIT);

	*ret_use = limiter->seen;
	fill_spent(limiter, spent, use, ret_use);
	remember(&ret_use->disk_written, use->written);
	remember(&ret_use->processes_peak, use->left);
	if (memory)
		ret_use->memory_peak = memory;
	if (processes > OUTER_PROCESSES)
		ret_use->processes_peak = processes - OUTER_PROCESSES;
	else if (!ret_use->processes_peak)
		ret_use->processes_peak = use->processes;
	if (most && ret_use->processes_peak > most)
		ret_use->processes_peak = most;
}

/* Without a group, refused processes are not counted. Assume refusals if the run failed while the
 * maximum was in use. */
static bool ran_out_of_processes(const struct limit_set *limiter, const struct wire_use *use,
				 const struct fence_result *result)
{
	uint64_t most = enforced_by(limiter, FENCE_LIMIT_PROCESSES, FENCE_HOW_RLIMIT);

	if (cgroup_trips(&limiter->group, CGROUP_PIDS))
		return true;
	return most && result->kind != FENCE_OK &&
	       (use->left >= most || limiter->seen.processes_peak >= most);
}

/* The limits that were hit, as far as that is known, as bits. */
static unsigned int tripped(const struct limit_set *limiter, const struct wire_use *use,
			    const struct fence_result *result)
{
	const struct fence_limited *limits = limiter->limits;
	uint64_t memory = enforced_by(limiter, FENCE_LIMIT_MEMORY, FENCE_HOW_WATCHED);
	unsigned int set = 0;

	if (cgroup_trips(&limiter->group, CGROUP_MEMORY) ||
	    (memory && result->use.memory_peak > memory))
		set |= bit(FENCE_LIMIT_MEMORY);
	if (ran_out_of_processes(limiter, use, result))
		set |= bit(FENCE_LIMIT_PROCESSES);
	if (limits[FENCE_LIMIT_OPEN_FILES].value &&
	    limiter->most_files >= limits[FENCE_LIMIT_OPEN_FILES].value)
		set |= bit(FENCE_LIMIT_OPEN_FILES);
	if (limits[FENCE_LIMIT_FILE_SIZE].value &&
	    (use->file_size || result->code == FENCE_EXIT_SIGNAL + SIGXFSZ))
		set |= bit(FENCE_LIMIT_FILE_SIZE);
	if (limits[FENCE_LIMIT_TMP_SIZE].value && use->tmp_full)
		set |= bit(FENCE_LIMIT_TMP_SIZE);
	if (limits[FENCE_LIMIT_DISK].value &&
	    result->use.disk_written > limits[FENCE_LIMIT_DISK].value)
		set |= bit(FENCE_LIMIT_DISK);
	return set;
}

bool limit_killed(const struct limit_set *limiter)
{
	return cgroup_trips(&limiter->group, CGROUP_MEMORY) > 0;
}

void limit_settle(const struct limit_set *limiter, const struct rusage *spent,
		  const struct wire_use *use, struct fence_result *result)
{
	unsigned int set;

	fill_use(limiter, spent, use, &result->use);
	if (limiter->hidden)
		list_add(
			&result->warnings,
			"a process did not show what it wrote (it is not dumpable), so the disk limit "
			"could not be watched and the run was ended");
	set = tripped(limiter, use, result);
	for (int i = 0; i < FENCE_LIMIT_COUNT && result->tripped == FENCE_LIMIT_COUNT; i++)
		if (set & bit((enum fence_limit)i))
			result->tripped = (enum fence_limit)i;
	if (result->tripped != FENCE_LIMIT_COUNT &&
	    (result->kind == FENCE_COMMAND || result->kind == FENCE_SIGNALLED) && !result->why[0]) {
		result->kind = FENCE_LIMITED;
		result->code = FENCE_EXIT_LIMIT;
	}
}

void limit_end(struct limit_set *limiter)
{
	cgroup_remove(&limiter->group);
	fd_close(&limiter->counters);
}
