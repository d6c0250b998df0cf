/* Resource use of a run: see use.h. */
#include "fence/init/use.h"

#include "util/file/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Bytes written to disk by all reaped processes. */
static uint64_t written_by(int counters)
{
	static const char name[] = "\nwrite_bytes: ";
	char text[512];
	ssize_t n = pread(counters, text, sizeof text - 1, 0);
	const char *at;

	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, name);
	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* The last pid assigned, minus init's own: the number of processes ever started. */
static uint64_t processes_made(void)
{
	char text[128];
	AUTO_FD fd = getpid() == 1 ? open("/proc/loadavg", O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	const char *last;

	text[n > 0 ? n : 0] = '\0';
	last = strrchr(text, ' ');
	return last ? strtoull(last, NULL, 10) - 1 : 0;
}

uint64_t use_left(void)
{
	DIR *folder = getpid() == 1 ? opendir("/proc") : NULL;
	uint64_t count = 0;

	if (!folder)
		return 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		char path[64];
		struct stat status;

		snprintf(path, sizeof path, "/proc/%.16s/task", entry->d_name);
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    strcmp(entry->d_name, "1") != 0 && stat(path, &status) == 0)
			count += status.st_nlink - 2; /* a folder for each thread */
	}
	closedir(folder);
	return count;
}

/* CPU time and memory of all reaped processes. Outside, nobody is their parent if an engine started
 * this process. */
static void read_spent(struct wire_use *use)
{
	struct rusage spent;

	if (getrusage(RUSAGE_CHILDREN, &spent) < 0)
		return;
	use->cpu_ms = (uint64_t)(spent.ru_utime.tv_sec + spent.ru_stime.tv_sec) * 1000 +
		      (uint64_t)(spent.ru_utime.tv_usec + spent.ru_stime.tv_usec) / 1000;
	use->memory = (uint64_t)spent.ru_maxrss * 1024;
}

static bool tmp_full(const struct order *order)
{
	enum { LITTLE = 16384 };

	for (size_t i = 0; order->limits.tmp_size && i < order->scratch_count; i++) {
		struct statvfs status;

		if (statvfs(order->scratch[i], &status) == 0 &&
		    (status.f_bavail * status.f_bsize < LITTLE || status.f_favail == 0))
			return true;
	}
	return false;
}

void use_read(const struct order *order, int counters, struct wire_use *use)
{
	use->written = written_by(counters);
	use->processes = processes_made();
	use->tmp_full = tmp_full(order);
	read_spent(use);
}
