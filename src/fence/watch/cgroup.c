/* Control groups: see cgroup.h. */
#include "fence/watch/cgroup.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The prefix of group names, and the suffix of the group that this process moves to. */
#define GROUP_NAME  "ringfence-"
#define GROUP_ASIDE ".outside"

/* The group of all processes outside of fences, in a group that was vacated for fences. */
#define GROUP_OUTSIDE "/" GROUP_NAME "outside"

enum { PERIOD_US = 100000, MOST_BYTES = 1 << 20 };

static const char *const controllers[CGROUP_CONTROLLERS] = { "memory", "cpu", "pids" };

/* The files of each version; NULL if there is no such file. */
static const struct {
	const char *limit;
	const char *peak;
	const char *events;
	const char *event; /* the counter's line in that file */
} files[CGROUP_CONTROLLERS][2] = {
	[CGROUP_MEMORY] = { { "memory.limit_in_bytes", "memory.max_usage_in_bytes",
			      "memory.oom_control", "oom_kill" },
			    { "memory.max", "memory.peak", "memory.events", "oom_kill" } },
	[CGROUP_CPU] = { { "cpu.cfs_quota_us", NULL, NULL, NULL },
			 { "cpu.max", NULL, NULL, NULL } },
	[CGROUP_PIDS] = { { "pids.max", "pids.peak", "pids.events", "max" },
			  { "pids.max", "pids.peak", "pids.events", "max" } },
};

static int read_file(const char *folder, const char *name, struct buffer *text)
{
	AUTO_FREE char *path = folder ? path_join(folder, name) : mem_dup(name);
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : fd_read_all(fd, text);
}

/* Creates missing files, which a cgroup file system refuses: this lets tests use a plain folder. */
static int write_file(const char *folder, const char *name, const char *text)
{
	AUTO_FREE char *path = path_join(folder, name);
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : fd_write_all(fd, text, strlen(text));
}

static bool has_word(const char *text, const char *separators, const char *word)
{
	size_t size = strlen(word);

	while (*text) {
		size_t length = strcspn(text, separators);

		if (length == size && strncmp(text, word, size) == 0)
			return true;
		text += length + (text[length] != '\0');
	}
	return false;
}

/* The path of this process in the hierarchy with this controller, or in version 2 (NULL). */
static char *membership_of(const char *membership, const char *controller)
{
	while (*membership) { /* id:controller,controller:path */
		size_t size = strcspn(membership, "\n");
		AUTO_FREE char *line = strndup(membership, size);
		char *rest = line;
		const char *id = strsep(&rest, ":");
		const char *names = strsep(&rest, ":");

		if (rest && (controller ? has_word(names, ",", controller)
					: strcmp(id, "0") == 0 && !*names))
			return mem_dup(rest);
		membership += size + (membership[size] == '\n');
	}
	return NULL;
}

/* The folder of the process's own group below a mount, or NULL if the mount does not show it. */
static char *folder_of(const char *mount, const char *root, const char *own)
{
	if (!path_within(own, root))
		return NULL;
	own += strcmp(root, "/") == 0 ? 0 : strlen(root);
	return mem_format("%s%s", mount, strcmp(own, "/") == 0 ? "" : own);
}

/* A vacated group is the one above the process's own. */
static void leave_outside(char *folder)
{
	size_t size = folder ? strlen(folder) : 0;
	size_t end = strlen(GROUP_OUTSIDE);

	if (size > end && strcmp(folder + size - end, GROUP_OUTSIDE) == 0)
		folder[size - end] = '\0';
}

static void parse_mount(char *line, const char *membership, struct cgroup_place *place)
{
	char *fields[5] = { 0 }; /* id parent major:minor root path ... - type source options */
	char *rest = strstr(line, " - ");
	const char *type;

	if (!rest)
		return;
	rest += 3;
	type = strsep(&rest, " ");
	strsep(&rest, " ");
	for (int i = 0; i < 5; i++)
		fields[i] = strsep(&line, " ");
	if (!rest || !fields[4])
		return;
	if (strcmp(type, "cgroup2") == 0 && !place->v2) {
		AUTO_FREE char *own = membership_of(membership, NULL);

		place->v2 = own ? folder_of(fields[4], fields[3], own) : NULL;
		leave_outside(place->v2);
	}
	for (int i = 0; strcmp(type, "cgroup") == 0 && i < CGROUP_CONTROLLERS; i++) {
		if (!place->v1[i] && has_word(rest, ",", controllers[i])) {
			AUTO_FREE char *own = membership_of(membership, controllers[i]);

			place->v1[i] = own ? folder_of(fields[4], fields[3], own) : NULL;
		}
	}
}

void cgroup_place_read(const char *mounts, const char *membership, struct cgroup_place *ret_place)
{
	*ret_place = (struct cgroup_place){ 0 };
	while (*mounts) {
		size_t size = strcspn(mounts, "\n");
		AUTO_FREE char *line = strndup(mounts, size);

		parse_mount(line, membership, ret_place);
		mounts += size + (mounts[size] == '\n');
	}
}

void cgroup_place_find(struct cgroup_place *ret_place)
{
	AUTO_BUFFER struct buffer mounts = BUFFER_INIT(16 * MOST_BYTES);
	AUTO_BUFFER struct buffer membership = BUFFER_INIT(MOST_BYTES);

	*ret_place = (struct cgroup_place){ 0 };
	if (read_file(NULL, "/proc/self/mountinfo", &mounts) == 0 &&
	    read_file(NULL, "/proc/self/cgroup", &membership) == 0)
		cgroup_place_read(buffer_text(&mounts), buffer_text(&membership), ret_place);
}

void cgroup_place_release(struct cgroup_place *place)
{
	free(place->v2);
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		free(place->v1[i]);
	*place = (struct cgroup_place){ 0 };
}

/* Makes and locks a new folder. A concurrent recovery may remove it before it is locked; then try
 * again. */
static char *make_folder(const char *parent, const char *end, int *ret_lock)
{
	for (int tries = 0; tries < 8; tries++) {
		unsigned int random[2] = { (unsigned int)getpid(), (unsigned int)tries };

		if (getrandom(random, sizeof random, GRND_NONBLOCK) < 0)
			random[1] ^= (unsigned int)getppid();

		AUTO_FREE char *path = mem_format("%s/" GROUP_NAME "%08x%08x%s", parent, random[0],
						  random[1], end);
		AUTO_FD lock = -1;

		if (mkdir(path, 0700) < 0)
			return NULL;
		lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 && access(path, F_OK) == 0) {
			char *made = path;

			path = NULL;
			*ret_lock = fd_steal(&lock);
			return made;
		}
	}
	return NULL;
}

static void kill_members(const char *folder)
{
	AUTO_BUFFER struct buffer members = BUFFER_INIT(MOST_BYTES);
	AUTO_FREE char *kill_file = path_join(folder, "cgroup.kill");

	if (access(kill_file, F_OK) == 0 && write_file(folder, "cgroup.kill", "1") == 0)
		return;
	if (read_file(folder, "cgroup.procs", &members) < 0)
		return;
	for (const char *at = buffer_text(&members); *at; at += strcspn(at, "\n") + 1) {
		pid_t member = (pid_t)strtol(at, NULL, 10);

		if (member > 1 && member != getpid())
			kill(member, SIGKILL);
	}
}

/* A group stays busy for a moment after its last process is gone. */
static void remove_folder(const char *folder)
{
	enum { TRIES = 50, PAUSE_MS = 10 };

	for (int i = 0; i < TRIES && rmdir(folder) < 0 && errno == EBUSY; i++) {
		kill_members(folder);
		poll(NULL, 0, PAUSE_MS);
	}
}

/* Matches "ringfence-" and 16 hexadecimal digits, as in make_folder(): no other group is
 * touched. */
static bool is_ours(const char *name)
{
	size_t prefix = strlen(GROUP_NAME);

	return strncmp(name, GROUP_NAME, prefix) == 0 &&
	       strspn(name + prefix, "0123456789abcdef") == 16 &&
	       (!name[prefix + 16] || strcmp(name + prefix + 16, ".outside") == 0);
}

static void recover_in(const char *parent)
{
	DIR *folder = parent ? opendir(parent) : NULL;

	if (!folder)
		return;
	for (struct dirent *entry; (entry = readdir(folder));) {
		AUTO_FREE char *path = path_join(parent, entry->d_name);
		AUTO_FD lock = -1;

		if (!is_ours(entry->d_name))
			continue;
		lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
			remove_folder(path);
	}
	closedir(folder);
}

void cgroup_recover(const struct cgroup_place *place)
{
	recover_in(place->v2);
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		recover_in(place->v1[i]);
}

bool cgroup_alone_in(const char *folder)
{
	AUTO_BUFFER struct buffer members = BUFFER_INIT(MOST_BYTES);
	char self[24];

	snprintf(self, sizeof self, "%d\n", getpid());
	return read_file(folder, "cgroup.procs", &members) == 0 &&
	       strcmp(buffer_text(&members), self) == 0;
}

static bool likely_v2(const char *own)
{
	AUTO_BUFFER struct buffer open = BUFFER_INIT(MOST_BYTES);
	AUTO_FREE char *control = own ? path_join(own, "cgroup.subtree_control") : NULL;
	AUTO_FREE char *type = own ? path_join(own, "cgroup.type")
				   : NULL; /* the root group has none */

	return own && access(own, W_OK) == 0 && access(control, W_OK) == 0 &&
	       (access(type, F_OK) < 0 || cgroup_alone_in(own) ||
		(read_file(NULL, control, &open) == 0 && open.used > 1));
}

bool cgroup_likely(const struct cgroup_place *place, const uint64_t values[CGROUP_CONTROLLERS])
{
	bool v2 = likely_v2(place->v2);

	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (values[i] && !v2 && (!place->v1[i] || access(place->v1[i], W_OK) < 0))
			return false;
	return true;
}

void cgroup_vacate(const struct cgroup_place *place)
{
	AUTO_BUFFER struct buffer there = BUFFER_INIT(MOST_BYTES);
	AUTO_BUFFER struct buffer wanted = BUFFER_INIT(MOST_BYTES);
	AUTO_FREE char *outside = place->v2 ? mem_format("%s" GROUP_OUTSIDE, place->v2) : NULL;

	if (!outside || !cgroup_alone_in(place->v2) || mkdir(outside, 0700) < 0)
		return;
	if (write_file(outside, "cgroup.procs", "0") < 0 ||
	    read_file(place->v2, "cgroup.controllers", &there) < 0) {
		rmdir(outside);
		return;
	}
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (has_word(buffer_text(&there), " \n", controllers[i]))
			buffer_printf(&wanted, "%s+%s", wanted.used ? " " : "", controllers[i]);
	write_file(place->v2, "cgroup.subtree_control", buffer_text(&wanted));
}

/*
 * A version 2 group has either processes or limited child groups (except the root). If this process
 * is alone in its group, it makes room by moving into a child group.
 */
static bool open_controllers(struct cgroup *group, const char *own, const char *wanted)
{
	if (write_file(own, "cgroup.subtree_control", wanted) == 0)
		return true;
	if (errno != EBUSY || !cgroup_alone_in(own))
		return false;
	group->aside = make_folder(own, GROUP_ASIDE, &group->aside_lock);
	if (!group->aside)
		return false;
	group->own = mem_dup(own);
	return write_file(group->aside, "cgroup.procs", "0") == 0 &&
	       write_file(own, "cgroup.subtree_control", wanted) == 0;
}

/* Returns the wanted controllers that the own group can delegate, as bits. */
static unsigned int offered_v2(const char *own, const uint64_t values[CGROUP_CONTROLLERS],
			       struct cgroup *group)
{
	AUTO_BUFFER struct buffer there = BUFFER_INIT(MOST_BYTES);
	AUTO_BUFFER struct buffer open = BUFFER_INIT(MOST_BYTES);
	AUTO_BUFFER struct buffer wanted = BUFFER_INIT(MOST_BYTES);
	unsigned int offered = 0;

	if (!own || read_file(own, "cgroup.controllers", &there) < 0 ||
	    read_file(own, "cgroup.subtree_control", &open) < 0)
		return 0;
	for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
		if (!values[i] || !has_word(buffer_text(&there), " \n", controllers[i]))
			continue;
		offered |= 1U << i;
		if (!has_word(buffer_text(&open), " \n", controllers[i]))
			buffer_printf(&wanted, "%s+%s", wanted.used ? " " : "", controllers[i]);
	}
	if (wanted.used && !open_controllers(group, own, buffer_text(&wanted)))
		return 0;
	return offered;
}

static void limit_text(enum cgroup_controller controller, int version, uint64_t value,
		       struct buffer *out)
{
	unsigned long long number = value;

	if (controller == CGROUP_CPU)
		number = value * PERIOD_US / 1000;
	buffer_printf(out, "%llu", number);
	if (controller == CGROUP_CPU && version == 2)
		buffer_printf(out, " %d", PERIOD_US);
}

static int set_limit(const struct cgroup_part *part, enum cgroup_controller controller)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);
	char period[16];

	snprintf(period, sizeof period, "%d", PERIOD_US);
	limit_text(controller, part->version, part->value, &text);
	if (controller == CGROUP_CPU && part->version == 1 &&
	    write_file(part->folder, "cpu.cfs_period_us", period) < 0)
		return -1;
	if (write_file(part->folder, files[controller][part->version - 1].limit,
		       buffer_text(&text)) < 0)
		return -1;
	/* Swap must not make up for memory. These files are absent without swap. */
	if (controller == CGROUP_MEMORY && part->version == 1)
		write_file(part->folder, "memory.memsw.limit_in_bytes", buffer_text(&text));
	if (controller == CGROUP_MEMORY &&
	    part->version == 1) /* TCP buffers are counted separately */
		write_file(part->folder, "memory.kmem.tcp.limit_in_bytes", buffer_text(&text));
	if (controller == CGROUP_MEMORY && part->version == 2)
		write_file(part->folder, "memory.swap.max", "0");
	return 0;
}

static void drop_part(struct cgroup_part *part, bool shared)
{
	fd_close(&part->procs);
	if (part->folder && !shared)
		remove_folder(part->folder);
	fd_close(&part->lock);
	free(part->folder);
	*part = (struct cgroup_part){ .lock = -1, .procs = -1 };
}

/* Sets up a part whose folder exists. */
static void set_up_part(struct cgroup_part *part, enum cgroup_controller controller, int version,
			uint64_t value, bool shared)
{
	AUTO_FREE char *procs = path_join(part->folder, "cgroup.procs");

	part->version = version;
	part->value = value;
	if (set_limit(part, controller) == 0)
		part->procs = open(procs, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (part->procs < 0)
		drop_part(part, shared);
}

void cgroup_make(const struct cgroup_place *place, const uint64_t values[CGROUP_CONTROLLERS],
		 struct cgroup *group)
{
	unsigned int offered;
	AUTO_FREE char *folder = NULL;
	AUTO_FD lock = -1;
	bool used = false;

	cgroup_recover(place);
	offered = offered_v2(place->v2, values, group);
	if (offered)
		folder = make_folder(place->v2, "", &lock);
	for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
		struct cgroup_part *part = &group->parts[i];

		if (folder && offered & 1U << i) {
			part->folder = mem_dup(folder);
			part->lock = used ? -1 : dup(lock);
			set_up_part(part, (enum cgroup_controller)i, 2, values[i], true);
			used = used || part->version;
		} else if (values[i] && place->v1[i]) {
			part->folder = make_folder(place->v1[i], "", &part->lock);
			if (part->folder)
				set_up_part(part, (enum cgroup_controller)i, 1, values[i], false);
		}
	}
	if (folder && !used)
		remove_folder(folder);
}

int cgroup_adopt(const struct cgroup *group, pid_t process, struct error *err)
{
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (group->parts[i].version && dprintf(group->parts[i].procs, "%d", process) < 0)
			return error_sys(err, "join the control group '%s'",
					 group->parts[i].folder);
	return 0;
}

/* The kernel rounds memory limits to whole pages. */
static bool same_value(enum cgroup_controller controller, const char *seen, const char *wanted)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t size = strcspn(seen, "\n");

	if (controller == CGROUP_MEMORY)
		return *seen >= '0' && *seen <= '9' &&
		       strtoull(seen, NULL, 10) / page == strtoull(wanted, NULL, 10) / page;
	return size == strlen(wanted) && strncmp(seen, wanted, size) == 0;
}

int cgroup_check(const struct cgroup *group, pid_t member, struct error *err)
{
	char pid[24];

	snprintf(pid, sizeof pid, "%d", member);
	for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
		const struct cgroup_part *part = &group->parts[i];
		AUTO_BUFFER struct buffer wanted = BUFFER_INIT(64);
		AUTO_BUFFER struct buffer seen = BUFFER_INIT(MOST_BYTES);
		AUTO_BUFFER struct buffer members = BUFFER_INIT(MOST_BYTES);

		if (!part->version)
			continue;
		limit_text((enum cgroup_controller)i, part->version, part->value, &wanted);
		if (read_file(part->folder, files[i][part->version - 1].limit, &seen) < 0 ||
		    read_file(part->folder, "cgroup.procs", &members) < 0)
			return error_sys(err, "read back the %s limit", controllers[i]);
		if (!same_value((enum cgroup_controller)i, buffer_text(&seen),
				buffer_text(&wanted)))
			return error_set(err, "the %s limit is %.*s, not %s", controllers[i],
					 (int)strcspn(seen.data, "\n"), seen.data, wanted.data);
		if (!has_word(buffer_text(&members), "\n", pid))
			return error_set(err, "the fence is not in the %s control group",
					 controllers[i]);
	}
	return 0;
}

uint64_t cgroup_peak(const struct cgroup *group, enum cgroup_controller controller)
{
	const struct cgroup_part *part = &group->parts[controller];
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);

	if (!part->version || !files[controller][part->version - 1].peak ||
	    read_file(part->folder, files[controller][part->version - 1].peak, &text) < 0)
		return 0;
	return strtoull(buffer_text(&text), NULL, 10);
}

uint64_t cgroup_trips(const struct cgroup *group, enum cgroup_controller controller)
{
	const struct cgroup_part *part = &group->parts[controller];
	AUTO_BUFFER struct buffer text = BUFFER_INIT(MOST_BYTES);
	const char *event;

	if (!part->version || !(event = files[controller][part->version - 1].event) ||
	    read_file(part->folder, files[controller][part->version - 1].events, &text) < 0)
		return 0;
	for (const char *at = buffer_text(&text); *at;) {
		size_t size = strlen(event);

		if (strncmp(at, event, size) == 0 && at[size] == ' ')
			return strtoull(at + size, NULL, 10);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return 0;
}

/* Moves this process back to its original group, which must stop delegating controllers first. */
static void move_back(struct cgroup *group)
{
	AUTO_BUFFER struct buffer open = BUFFER_INIT(MOST_BYTES);
	AUTO_BUFFER struct buffer closing = BUFFER_INIT(MOST_BYTES);

	if (!group->aside)
		return;
	read_file(group->own, "cgroup.subtree_control", &open);
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (has_word(buffer_text(&open), " \n", controllers[i]))
			buffer_printf(&closing, "%s-%s", closing.used ? " " : "", controllers[i]);
	if (closing.used)
		write_file(group->own, "cgroup.subtree_control", buffer_text(&closing));
	write_file(group->own, "cgroup.procs", "0");
	rmdir(group->aside);
	fd_close(&group->aside_lock);
	free(group->aside);
	free(group->own);
	group->aside = group->own = NULL;
}

void cgroup_remove(struct cgroup *group)
{
	for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
		bool shared = false;

		for (int k = i + 1; group->parts[i].folder && k < CGROUP_CONTROLLERS; k++)
			shared = shared ||
				 (group->parts[k].folder &&
				  strcmp(group->parts[k].folder, group->parts[i].folder) == 0);
		drop_part(&group->parts[i], shared);
	}
	move_back(group);
}
