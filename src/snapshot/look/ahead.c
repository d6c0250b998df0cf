/* Stats files ahead of a scan. */
#include "snapshot/look/ahead.h"

#include "snapshot/look/content.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* With fewer files, starting a thread takes longer than it saves. */
enum { LEAST = 2000 };

struct ahead {
	pthread_t thread;
	int project;
	struct node *known;
	char stop;
};

static bool is_stopped(struct ahead *ahead)
{
	return __atomic_load_n(&ahead->stop, __ATOMIC_RELAXED) != 0;
}

static void check_file(int folder, struct node *known)
{
	struct node now = { .kind = known->kind };
	struct stat status;

	if (fstatat(folder, known->name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (status.st_mode & S_IFMT) != (known->kind == NODE_FILE ? S_IFREG : S_IFLNK))
		return;
	content_set_stat(&status, &now);
	if (content_looks_same(known, &now) && now.links == known->links &&
	    now.device == known->device)
		__atomic_store_n(&known->seen, 1, __ATOMIC_RELEASE);
}

static void check_folder(struct ahead *ahead, int folder, struct node *known, int depth)
{
	for (size_t i = known->count; i-- > 0 && !is_stopped(ahead);) {
		struct node *node = &known->inner[i];

		if (node->kind == NODE_FILE || node->kind == NODE_LINK) {
			check_file(folder, node);
		} else if (node->kind == NODE_FOLDER && depth < NODE_DEEPEST) {
			AUTO_FD inner = openat(folder, node->name,
					       O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			if (inner >= 0)
				check_folder(ahead, inner, node, depth + 1);
		}
	}
}

static void *run(void *argument)
{
	struct ahead *ahead = argument;

	check_folder(ahead, ahead->project, ahead->known, 0);
	return NULL;
}

static size_t count(const struct node *folder)
{
	size_t total = folder->count;

	for (size_t i = 0; i < folder->count && total < LEAST; i++)
		total += count(&folder->inner[i]);
	return total;
}

struct ahead *ahead_start(int project, struct node *known)
{
	struct ahead *ahead;
	cpu_set_t cpus;

	if (count(known) < LEAST || sched_getaffinity(0, sizeof cpus, &cpus) < 0 ||
	    CPU_COUNT(&cpus) < 2)
		return NULL;
	ahead = mem_zero(sizeof *ahead);
	ahead->project = project;
	ahead->known = known;
	if (pthread_create(&ahead->thread, NULL, run, ahead) == 0)
		return ahead;
	free(ahead);
	return NULL;
}

void ahead_stop(struct ahead *ahead)
{
	if (!ahead)
		return;
	__atomic_store_n(&ahead->stop, 1, __ATOMIC_RELAXED);
	pthread_join(ahead->thread, NULL);
	free(ahead);
}
