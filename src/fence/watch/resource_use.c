/* Resource use of a fence's processes: see resource_use.h. */
#include "fence/watch/resource_use.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PROCESSES = 65536 };

struct walk {
	pid_t *found;
	size_t count, room;
};

static void add_process(struct walk *walk, pid_t pid)
{
	if (pid <= 0 || walk->count == MOST_PROCESSES)
		return;
	if (walk->count == walk->room) {
		walk->room = walk->room ? walk->room * 2 : 64;
		walk->found = mem_resize(walk->found, walk->room, sizeof *walk->found);
	}
	walk->found[walk->count++] = pid;
}

/* Adds the children of one thread. */
static void add_children(struct walk *walk, pid_t pid, const char *thread)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(1 << 20);
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%.16s/children", pid, thread);

	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fd_read_all(fd, &text) < 0)
		return;
	for (const char *at = buffer_text(&text), *end; (end = strchr(at, ' ')); at = end + 1)
		add_process(walk, (pid_t)strtol(at, NULL, 10));
}

/* Adds the children of all threads of a process. Returns the number of threads. */
static uint64_t look_at_threads(struct walk *walk, pid_t pid)
{
	uint64_t threads = 0;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	folder = opendir(path);
	if (!folder)
		return 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (entry->d_name[0] == '.')
			continue;
		threads++;
		add_children(walk, pid, entry->d_name);
	}
	closedir(folder);
	return threads;
}

size_t resource_use_processes(pid_t first, size_t most, pid_t **ret_pids)
{
	struct walk walk = { 0 };

	look_at_threads(&walk, first);
	for (size_t i = 0; i < walk.count && walk.count < most; i++)
		look_at_threads(&walk, walk.found[i]);
	*ret_pids = walk.found;
	return walk.count < most ? walk.count : most;
}

/* Reads one of a process's small files in /proc. Returns the number of bytes, or -1 with errno. */
static ssize_t read_of(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/%s", pid, name);

	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	n = fd < 0 ? -1 : read(fd, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

static uint64_t field_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static uint64_t resident(pid_t pid)
{
	char text[128];
	const char *second;

	if (read_of(pid, "statm", text, sizeof text) <= 0 || !(second = strchr(text, ' ')))
		return 0;
	return strtoull(second + 1, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* If the proportional share is unreadable, counts all resident memory. */
static uint64_t fair_share(pid_t pid)
{
	char text[2048];

	if (read_of(pid, "smaps_rollup", text, sizeof text) <= 0)
		return resident(pid);
	return field_of(text, "\nPss:") * 1024;
}

/* An exiting process is also unreadable, but has no memory left. */
static uint64_t written_by(pid_t pid, pid_t *ret_hidden)
{
	char text[512];

	if (read_of(pid, "io", text, sizeof text) < 0 && (errno == EACCES || errno == EPERM) &&
	    resident(pid) > 0)
		*ret_hidden = pid;
	return field_of(text, "\nwrite_bytes: ");
}

/* Since Linux 6.2, the size of /proc/PID/fd is the number of open descriptors. */
static uint64_t open_files(pid_t pid)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	return stat(path, &status) < 0 ? 0 : (uint64_t)status.st_size;
}

bool resource_use_possible(void)
{
	char text[16];

	return read_of(getpid(), "statm", text, sizeof text) > 0 &&
	       access("/proc/thread-self/children", R_OK) == 0;
}

static uint64_t written_by_reaped(int counters)
{
	char text[512];
	ssize_t n = counters < 0 ? 0 : pread(counters, text, sizeof text - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return field_of(text, "\nwrite_bytes: ");
}

/* Parents are read before their children: bytes written by a child that is reaped in between may be
 * missed, but are never counted twice. */
void resource_use_look(const struct resource_use_wanted *wanted, struct resource_use *ret_usage)
{
	struct resource_use usage = { 0 };
	struct walk walk = { 0 };
	size_t outer = 1; /* index of the first process after the mechanism's and init */

	if (wanted->written)
		usage.written = written_by_reaped(wanted->counters);
	add_process(&walk, wanted->first);
	look_at_threads(&walk, wanted->first);
	if (!wanted->is_init)
		outer = walk.count;
	for (size_t i = 1; i < walk.count; i++) {
		uint64_t threads = look_at_threads(&walk, walk.found[i]);

		if (i < outer)
			continue;
		usage.tasks += threads;
		usage.memory += resident(walk.found[i]);
		if (wanted->written)
			usage.written += written_by(walk.found[i], &usage.hidden);
		if (wanted->files) {
			uint64_t files = open_files(walk.found[i]);

			usage.most_files = files > usage.most_files ? files : usage.most_files;
		}
	}
	usage.memory_fair = usage.memory;
	if (wanted->fair_from && usage.memory >= wanted->fair_from) {
		usage.memory_fair = 0;
		for (size_t i = outer; i < walk.count; i++)
			usage.memory_fair += fair_share(walk.found[i]);
	}
	free(walk.found);
	*ret_usage = usage;
}
